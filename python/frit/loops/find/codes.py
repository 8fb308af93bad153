"""codes.py: code objects, in which places are constants."""

from __future__ import annotations

import types
from collections.abc import Iterator
from opcode import opmap

from frit._quiet import without_warnings
from frit.loops.run.place import Place, originals

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast

KEY = "frit nest"  # (KEY, n) stands for place n until it is there
_FUTURE = 0x1000000  # annotations; the others are always on
# What only loops have; before 3.11 a `while` had none of its own.
_OF_LOOPS = {"FOR_ITER", "JUMP_BACKWARD", "POP_JUMP_IF_TRUE" if "CACHE" not in opmap else ""}
_LOOPS = [
    bytes([op])
    for name, op in opmap.items()
    if name in _OF_LOOPS or name.startswith("POP_JUMP_BACKWARD")
]
# By file: frit.explain asks for the places of a module whose code has run.
modules: dict[str, types.CodeType] = {}
_COMPREHENSIONS = frozenset(["<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"])


def compile_quietly(tree: ast.Module, file: str, flags: int = 0) -> types.CodeType:
    """Python has given its warnings of the text before."""
    with without_warnings():
        code: types.CodeType = compile(tree, file, "exec", flags, dont_inherit=True)
    return code


def with_places(
    code: types.CodeType, places: list[Place], original: types.CodeType | None = None
) -> types.CodeType:
    """The code with its places; notes what the original code of each function is."""
    inner = iter(codes_in(original) if original is not None else [])
    constants: list[object] = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            constants.append(with_places(constant, places, next(inner, None)))
        elif isinstance(constant, tuple) and len(constant) == 2 and constant[0] == KEY:
            constants.append(places[constant[1]])
        else:
            constants.append(constant)
    if all(a is b for a, b in zip(constants, code.co_consts, strict=True)):
        return code
    made = code.replace(co_consts=tuple(constants))
    if original is not None and original.co_name == made.co_name:
        originals[made] = original
    if made.co_name == "<module>":
        modules[made.co_filename] = made
    return made


def replaced(code: types.CodeType, others: dict[int, types.CodeType]) -> types.CodeType:
    """The code with others for some codes in it, by their id()."""
    if id(code) in others:
        return others[id(code)]
    constants = [
        replaced(part, others) if isinstance(part, types.CodeType) else part
        for part in code.co_consts
    ]
    if all(a is b for a, b in zip(constants, code.co_consts, strict=True)):
        return code
    return code.replace(co_consts=tuple(constants))


def all_codes(code: types.CodeType) -> list[types.CodeType]:
    """It and all in it."""
    found = [code]
    for part in found:
        found += codes_in(part)
    return found


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    return (c for c in code.co_consts if isinstance(c, types.CodeType))


def codes_by_place(module: types.CodeType) -> dict[tuple[int, str], types.CodeType]:
    """The functions' codes, by first line and name, where there is one."""
    found: dict[tuple[int, str], types.CodeType | None] = {}
    due = [module]
    for code in due:
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                due.append(inner)
                key = inner.co_firstlineno, inner.co_name
                found[key] = None if key in found else inner
    return {key: code for key, code in found.items() if code is not None}


def has_own_loops(code: types.CodeType) -> bool:
    """Whether there are loops in it, or comprehensions, where these are compiled as parts of it."""
    text = code.co_code[::2]
    return any(op in text for op in _LOOPS)


def has_loops(code: types.CodeType) -> bool:
    """The same of it and the functions in it."""
    return has_own_loops(code) or any(
        has_loops(part) for part in codes_in(code) if part.co_name not in _COMPREHENSIONS
    )


def compiled_function(code: types.CodeType, node: ast.FunctionDef) -> types.CodeType:
    """The rewritten function's; code: the one that Python compiles it to."""
    import ast

    node.decorator_list = []
    body: list[ast.stmt] = [node]
    if code.co_freevars:
        # The names of the closure must be variables around the function.
        arguments = ast.arguments([], [ast.arg(n) for n in code.co_freevars], None)
        arguments.kwonlyargs, arguments.kw_defaults, arguments.defaults = [], [], []
        outer = ast.FunctionDef("around", arguments, [node], [])
        body = [ast.copy_location(outer, node)]
    module = ast.fix_missing_locations(ast.Module(body, []))
    made = compile_quietly(module, code.co_filename, code.co_flags & _FUTURE)
    for _ in [0, 1] if code.co_freevars else [0]:
        made = [*codes_in(made)][-1]
    return made.replace(co_qualname=code.co_qualname)


def function_with(code: types.CodeType, function: types.FunctionType) -> types.FunctionType:
    """The function with other code."""
    f = function
    closure = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    cells = tuple(closure[n] for n in code.co_freevars)
    result = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, cells)
    result.__kwdefaults__ = f.__kwdefaults__
    return result
