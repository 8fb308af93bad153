"""implicit.py: loops without a decorator: the text of a module -> its code, with places for nests.

Under install() the user's own modules get this code, `python -m frit` runs its program with it, and
notebook cells go through CellTransformer. FRIT_LOOPS=0 leaves all of them alone. A module's places
are the only difference: names, lines and tracebacks stay, and a traced program runs line by line.
"""

from __future__ import annotations

import ast
import copy
import itertools
import os
import re
import sys
import types
from collections.abc import Iterable
from typing import Any

from frit._quiet import without_collections, without_warnings
from frit.loops.names import nodes_in

_FOR = re.compile(r"^[ \t]*for\b.+\bin\b", re.MULTILINE)
_FOR_BYTES = re.compile(_FOR.pattern.encode(), re.MULTILINE)
_THREADS = {"threading", "_thread", "signal", "concurrent", "asyncio"}


def is_enabled() -> bool:
    """False under FRIT_LOOPS=0."""
    return os.environ.get("FRIT_LOOPS", "1") != "0"


def code_of(
    text: str | bytes, original: types.CodeType, *, is_program: bool = False
) -> types.CodeType:
    """The code of a module with its places; the original where there is no nest.

    is_program: nobody imports it, and it is not looked at when it has ended.
    """
    found = _FOR.search(text) if isinstance(text, str) else _FOR_BYTES.search(text)
    if found is None or not is_enabled():
        return original
    try:
        with without_collections(), without_warnings():  # Python has given them
            made, places = _rewritten(ast.parse(text, original.co_filename), original, is_program)
            return _with_places(made, places, original)
    except Exception:
        return original  # a program must not end because we could not read it


def _rewritten(
    tree: ast.Module, original: types.CodeType, is_program: bool
) -> tuple[types.CodeType, list[Any]]:
    """The code of a module, in which its places are numbers, and the places."""
    from frit.loops.codes import compile_quietly
    from frit.loops.peel import private_names
    from frit.loops.rewrite import Rewriter

    nodes = nodes_in([tree])
    rewriter = Rewriter(codes_by_place(original))
    if is_program and not (sys.flags.interactive or sys.flags.inspect):
        rewriter.private = private_names(tree, nodes)
    rewriter.module(tree, original, nodes)
    if not rewriter.places:
        return original, []
    note(rewriter.places, original.co_filename, nodes)
    return compile_quietly(tree, original.co_filename), rewriter.places


def _with_places(
    made: types.CodeType, places: list[Any], original: types.CodeType
) -> types.CodeType:
    from frit.loops.codes import with_places

    return with_places(made, places, original) if places else original


def code_and_content(
    text: bytes, original: types.CodeType, origin: tuple[bytes, bytes], is_program: bool
) -> tuple[types.CodeType, Any]:
    """As code_of; and what is kept of it, from which kept.code_of makes the same."""
    from frit.loops.kept import content_of, note_origin

    if _FOR_BYTES.search(text) is None:
        return original, ()
    try:
        with without_collections(), without_warnings():
            tree = ast.parse(text, original.co_filename)
            made, places = _rewritten(tree, original, is_program)
            note_origin(places, origin)
            content = content_of(made, places, original)
            return _with_places(made, places, original), content
    except Exception:
        return original, None


def note(places: list[Any], file: str, nodes: list[ast.AST]) -> None:
    shared = variables_of_threads(nodes) if any(map(_makes_threads, nodes)) else frozenset()
    for place in places:
        place.file = file
        place.shared = shared


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


def _makes_threads(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(a.name.partition(".")[0] in _THREADS for a in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _THREADS


def variables_of_threads(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Variables that a function of the module assigns, perhaps in a thread or signal handler.

    Attributes, with a dot before the name, too: but for those of `__init__`.
    """
    names: set[str] = set()
    made = {n for f in nodes if _is_init(f) for n in nodes_in([f])}
    for node in nodes:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if node not in made:
                names.add(f".{node.attr}")
    return frozenset(names)


def _is_init(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in ("__init__", "__post_init__")


class CellTransformer:
    """IPython's ast_transformers call it: the places are variables of the notebook, `_frit_nest_1`.

    A cell that cannot be treated (top-level await) stays what it is.
    """

    def __init__(self, space: dict[str, Any]) -> None:
        self.space = space
        self.numbers = itertools.count(1)

    def visit(self, node: ast.Module) -> ast.Module:
        if not is_enabled() or not isinstance(node, ast.Module):
            return node
        if not any(isinstance(n, ast.For) for n in ast.walk(node)):
            return node
        try:
            return self.treated(copy.deepcopy(node))
        except Exception:
            return node

    def treated(self, node: ast.Module) -> ast.Module:
        from frit.loops.codes import compile_quietly
        from frit.loops.rewrite import Rewriter

        original = compile_quietly(node, "<cell>")
        rewriter = Rewriter(codes_by_place(original))
        first = next(self.numbers)
        rewriter.refer = lambda number: ast.Name(f"_frit_nest_{first}_{number}", ast.Load())
        nodes = nodes_in([node])
        rewriter.module(node, original, nodes)
        note(rewriter.places, "<cell>", nodes)
        for number, place in enumerate(rewriter.places):
            self.space[f"_frit_nest_{first}_{number}"] = place
        return node
