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
from collections.abc import Iterable, Sequence
from typing import Any

from frit._quiet import without_collections, without_warnings
from frit.loops.find import parts
from frit.loops.find.codes import codes_by_place, compile_quietly, replaced, with_places
from frit.loops.find.decorators import is_harmless
from frit.loops.find.kept import content_of_module, note_origin
from frit.loops.find.peel import private_names
from frit.loops.find.rewrite import Rewriter
from frit.loops.find.trees import trees_of, trees_of_text
from frit.loops.names import copied, nodes_in
from frit.loops.run.place import Place

_FOR = re.compile(r"^[ \t]*(?:for\b.+\bin\b|while\b)", re.MULTILINE)
_FOR_BYTES = re.compile(_FOR.pattern.encode(), re.MULTILINE)
# A name that is private to a class: `__x`, but not `__x__`.
_PRIVATE = re.compile(rb"\b__(?!\w*__\b)\w")
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
            made, places = rewritten(text, original, is_program)
            return _with_places(made, places, original)
    except Exception:
        return original  # a program must not end because we could not read it


def code_and_content(
    text: bytes, original: types.CodeType, origin: tuple[bytes, bytes], is_program: bool
) -> tuple[types.CodeType, Any]:
    """As code_of; and what is kept of it, from which kept.module_of makes the same."""
    try:
        with without_collections(), without_warnings():
            made, places = rewritten(text, original, is_program)
            content = content_of_module(made, places, original)
            note_origin(places, origin)
            return _with_places(made, places, original), content
    except Exception:
        return original, None


Made = tuple[dict[int, types.CodeType], list[Place]]


def rewritten(text: str | bytes, original: types.CodeType, is_program: bool) -> Made:
    """Codes in which places are numbers, by id() of those that they stand for; and the places."""
    if isinstance(text, bytes):
        found = _functions_rewritten(text.replace(b"\r\n", b"\n"), original)
        if found is not None:
            return found
    tree = ast.parse(text, original.co_filename)
    nodes = nodes_in([tree])
    rewriter = _rewriter(text, original)
    if is_program and not (sys.flags.interactive or sys.flags.inspect):
        rewriter.private = private_names(tree, nodes)
    rewriter.module(tree, original, nodes)
    if not rewriter.places:
        return {}, []
    note(rewriter.places, original.co_filename, nodes)
    return {id(original): compile_quietly(tree, original.co_filename)}, rewriter.places


def _functions_rewritten(text: bytes, original: types.CodeType) -> Made | None:
    """The same, of functions alone; None: all of the text has to be read."""
    lines = parts.headers(text)
    units = parts.units_of(text, original, lines) if lines else []
    if not units:
        return None if units is None else ({}, [])
    found = parts.parts_of(text, units, parts.imported_names(original))
    if found is None:
        return None
    rewriter = _rewriter(text, original)
    changed, unchanged = [], []
    for unit, function in zip(units, found.functions, strict=True):
        known = len(rewriter.places)
        for decorator in function.decorator_list:
            if not is_harmless(decorator, frozenset()) and parts.may_be_own(decorator, text):
                return None
        rewriter.owner = unit.owners[-1] if unit.owners else ""
        rewriter.unit = unit.first
        if isinstance(function, ast.FunctionDef):
            rewriter.definition(function, set())
        if rewriter.places[known:]:
            changed.append(unit)
        else:
            unchanged.append(function)
    if not changed:
        return {}, []
    parts.leave_out(unchanged, found.tree)
    note(rewriter.places, original.co_filename, ())
    flags = original.co_flags & parts.ANNOTATIONS
    new = codes_by_place(compile_quietly(found.tree, original.co_filename, flags))
    return {id(u.code): new[u.first, u.code.co_name] for u in changed}, rewriter.places


def _rewriter(text: str | bytes, original: types.CodeType) -> Rewriter:
    rewriter = Rewriter(trees_of_text(text, original), codes_by_place(original))
    rewriter.explains = False
    pattern = _PRIVATE if isinstance(text, bytes) else _PRIVATE.pattern.decode()
    rewriter.has_private_names = re.search(pattern, text) is not None
    return rewriter


def _with_places(
    made: dict[int, types.CodeType], places: list[Place], original: types.CodeType
) -> types.CodeType:
    return with_places(replaced(original, made), places, original) if places else original


def note(places: list[Place], file: str, nodes: Sequence[ast.AST]) -> None:
    shared = variables_of_threads(nodes) if any(map(_makes_threads, nodes)) else frozenset()
    for place in places:
        place.file = file
        place.shared = shared


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
        if not any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(node)):
            return node
        try:
            return self.treated(copy.deepcopy(node))
        except Exception:
            return node

    def treated(self, node: ast.Module) -> ast.Module:
        original = compile_quietly(node, "<cell>")
        rewriter = Rewriter(trees_of(copied(node)), codes_by_place(original))
        rewriter.explains = False
        first = next(self.numbers)
        rewriter.refer = lambda number: ast.Name(f"_frit_nest_{first}_{number}", ast.Load())
        nodes = nodes_in([node])
        rewriter.module(node, original, nodes)
        note(rewriter.places, "<cell>", nodes)
        for number, place in enumerate(rewriter.places):
            self.space[f"_frit_nest_{first}_{number}"] = place
        return node
