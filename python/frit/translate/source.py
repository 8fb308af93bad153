"""source.py: the syntax tree of a function, checked against the code that is loaded.

A function's text comes from its file, which may have been edited since: the text counts only if it
compiles to the function's own code. So a redefinition (a reload, a notebook cell, exec) is seen by
its content, and a file that no longer fits gives an error instead of another program.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import types
import weakref
from typing import Any

from frit._quiet import without_warnings
from frit.translate.errors import TranslationError
from frit.translate.record import record

FunctionNode = ast.FunctionDef | ast.Lambda


@record
class FunctionSource:
    """A function's tree, with the line numbers of its file."""

    function: types.FunctionType
    code: types.CodeType
    node: FunctionNode

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def name(self) -> str:
        return self.function.__qualname__

    def arguments(self) -> list[ast.arg]:
        return [*self.node.args.posonlyargs, *self.node.args.args, *self.node.args.kwonlyargs]


# The code that Python compiles a text to, where it is another one, and the tree; by file, for codes
# of the same text at the same line of two files are equal. It goes with the code: a session that
# defines functions again and again does not grow.
_Found = tuple[types.CodeType | None, FunctionNode]
_known: weakref.WeakKeyDictionary[types.CodeType, dict[str, _Found]] = weakref.WeakKeyDictionary()


def source_of(function: types.FunctionType) -> FunctionSource:
    """The function's source; TranslationError where it cannot be had."""
    code = function.__code__
    known = _known.setdefault(code, {})
    found = known.get(code.co_filename)
    if found is None:
        original = original_code(function)
        other = original if original is not code else None
        found = known[code.co_filename] = other, _find(function, original)
    return FunctionSource(function, found[0] or code, found[1])


def original_code(function: types.FunctionType) -> types.CodeType:
    """A function's code before the loop door has rewritten it."""
    place = sys.modules.get("frit.loops.run.place")
    code: types.CodeType = place.original_code(function) if place else function.__code__
    return code


def _find(function: types.FunctionType, code: types.CodeType) -> FunctionNode:
    file = code.co_filename
    for attempt in range(2):
        node = _matching(function, code, _lines(function))
        if node is not None:
            return node
        if attempt == 0:
            linecache.checkcache(file)
    raise TranslationError(
        f"{file}, line {code.co_firstlineno}: the source of "
        f"{function.__qualname__} is not there, or not what is loaded: kernels are made from "
        "source; define it in a file or a notebook cell, and reload it after an edit"
    )


def _lines(function: types.FunctionType) -> list[str]:
    lines = linecache.getlines(function.__code__.co_filename, function.__globals__)
    if lines:
        return lines
    try:
        return inspect.findsource(function)[0]
    except (OSError, TypeError):
        return []


def _matching(
    function: types.FunctionType, code: types.CodeType, lines: list[str]
) -> FunctionNode | None:
    """The definition at the function's line whose compiled code is the function's."""
    alone = _alone(function, code, lines)
    if alone is not None:
        return alone
    text = "".join(lines)
    if _file.text != text or _file.name != code.co_filename:
        _file.read(code.co_filename, text)
    if not any(_equal(candidate, code) for candidate in _file.codes.get(_place(code), ())):
        return None
    found = [
        node
        for node in _file.nodes.get(code.co_firstlineno, ())
        if _name_of(node) == code.co_name and _parameters(node) == code.co_varnames[: _count(code)]
    ]
    if len(found) > 1:  # several lambdas of one line
        found = [node for node in found if _is_code_of(code, node)]
    return found[0] if len(found) == 1 else None


def _name_of(node: FunctionNode) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _is_code_of(code: types.CodeType, node: FunctionNode) -> bool:
    """Whether a lambda's code returns what stands there, by line and column.

    False, too, where code has no columns (before Python 3.11, and under -X no_debug_ranges).
    """
    if not isinstance(node, ast.Lambda) or not hasattr(code, "co_positions"):
        return False
    body = node.body
    return (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset) in {
        *code.co_positions()
    }


def _alone(
    function: types.FunctionType, code: types.CodeType, lines: list[str]
) -> FunctionNode | None:
    """The definition of a module's own function, without reading the rest of the file."""
    first = code.co_firstlineno
    if code.co_freevars or not lines[first - 1 :] or lines[first - 1][:1].isspace():
        return None
    last = max((n for *_, n in code.co_lines() if n), default=first)
    end = max(first, last)
    while end < len(lines) and (lines[end][:1].isspace() or not lines[end].strip()):
        end += 1
    # CPython compiles `math.sqrt(x)` in another way where the file imports `math`.
    space = function.__globals__
    imported = [n for n in code.co_names if isinstance(space.get(n), types.ModuleType)]
    imports = f"import {','.join(imported)}" if imported and first > 1 else ""
    text = imports + "\n" * (first - 1) + "".join(lines[first - 1 : end])
    try:
        with without_warnings():
            tree = ast.parse(text)
            found = compile(tree, code.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    node = tree.body[-1]
    if not isinstance(node, ast.FunctionDef) or len(tree.body) > 1 + bool(imports):
        return None
    inner = [c for c in _inner_codes(found) if _place(c) == _place(code)]
    return node if len(inner) == 1 and _equal(inner[0], code) else None


class _File:
    """The file that was read last: its definitions, and what they compile to."""

    name = text = ""
    nodes: dict[int, list[FunctionNode]] = {}
    codes: dict[tuple[int, str], list[types.CodeType]] = {}

    def read(self, name: str, text: str) -> None:
        self.name, self.text, self.nodes, self.codes = name, text, {}, {}
        try:
            with without_warnings():
                tree = ast.parse(text)
                module = compile(text, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                decorators = getattr(node, "decorator_list", [])
                first = min([node.lineno, *(d.lineno for d in decorators)])
                self.nodes.setdefault(first, []).append(node)
        found = [module]
        for code in found:
            found += _inner_codes(code)
            self.codes.setdefault(_place(code), []).append(code)


_file = _File()


def _place(code: types.CodeType) -> tuple[int, str]:
    return code.co_firstlineno, code.co_name


def _count(code: types.CodeType) -> int:
    return code.co_argcount + code.co_kwonlyargcount


def _parameters(node: FunctionNode) -> tuple[str, ...]:
    arguments = node.args
    return tuple(a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs])


def _inner_codes(code: types.CodeType) -> list[types.CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def _equal(a: types.CodeType, b: types.CodeType) -> bool:
    """The same program; an assertion that a test runner has rewritten makes another one."""
    return (
        a.co_code == b.co_code
        and (a.co_names, a.co_varnames, a.co_freevars) == (b.co_names, b.co_varnames, b.co_freevars)
        and len(a.co_consts) == len(b.co_consts)
        and all(map(_equal_constants, a.co_consts, b.co_consts))
    )


def _equal_constants(a: Any, b: Any) -> bool:
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return _equal(a, b)
    return type(a) is type(b) and repr(a) == repr(b)
