"""decorators.py: which decorators call a function as it is; others may read its code: compilers do.

Known are the standard library's by name, and those that the program itself defines, if all that
they do with the function is to call it, to name it, and to give it back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from frit.loops.names import nodes_in

_STANDARD = frozenset(
    "cache cached_property classmethod contextmanager final lru_cache override property setter"
    " staticmethod wraps".split()
)
_NAMES = ("__doc__", "__module__", "__name__", "__qualname__")
_LOOKS_INSIDE = {"__code__", "__wrapped__", "_getframe", "eval", "exec", "locals", "vars"}


def is_harmless(node: ast.expr, own: frozenset[str]) -> bool:
    """own: the program's harmless ones, with () where they are called first."""
    if isinstance(node, ast.Name) and node.id in own:
        return True
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and f"{node.func.id}()" in own
    ):
        return True
    return _name_of(node) in _STANDARD


def _name_of(decorator: ast.expr) -> str:
    """Its last word."""
    at = decorator.func if isinstance(decorator, ast.Call) else decorator
    return at.attr if isinstance(at, ast.Attribute) else getattr(at, "id", "")


def harmless_of(tree: ast.Module, nodes: list[ast.AST]) -> frozenset[str]:
    """Those that the module defines, as is_harmless wants them. nodes: all of the module's."""
    used = {_name_of(d) for node in nodes for d in getattr(node, "decorator_list", ())}
    found = set()
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.name not in used or node.decorator_list:
            continue
        if _only_calls(node):
            found.add(node.name)
        inner = [x for x in node.body if isinstance(x, ast.FunctionDef) and _only_calls(x)]
        returned = [x.value for x in node.body if isinstance(x, ast.Return)]
        if len(inner) == 1 and len(returned) == 1 and _is_name(returned[0], inner[0].name):
            if not inner[0].decorator_list and _bindings(nodes_in(node.body), inner[0].name) == 1:
                found.add(f"{node.name}()")
    return frozenset(name for name in found if _bindings(nodes, name.removesuffix("()")) == 1)


def _only_calls(definition: ast.FunctionDef) -> bool:
    """Whether a decorator does nothing to its function that shows what code it has."""
    arguments = [*definition.args.posonlyargs, *definition.args.args]
    if not arguments:
        return False
    function = arguments[0].arg
    nodes = nodes_in(definition.body)
    allowed: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Call):
            allowed.add(id(node.func))
            name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
            if name in ("wraps", "update_wrapper"):
                allowed.update(map(id, node.args))
        elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
            allowed.add(id(node.value))
        elif isinstance(node, ast.Return):
            allowed.add(id(node.value))
        if {getattr(node, "attr", None), getattr(node, "id", None)} & _LOOKS_INSIDE:
            return False
    used = [node for node in nodes if _is_name(node, function)]
    return all(id(node) in allowed for node in used) and _bindings(nodes, function) == 0


def _is_name(node: ast.AST | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _bindings(nodes: Iterable[ast.AST], name: str) -> int:
    """How often the name is given a meaning."""
    count = 0
    for node in nodes:
        if isinstance(node, ast.Name):
            count += node.id == name and not isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.alias):
            count += (node.asname or node.name.partition(".")[0]) in (name, "*")
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            count += name in node.names
        else:  # definitions, parameters, handlers and patterns
            count += name in [getattr(node, field, None) for field in ("name", "arg", "rest")]
    return count
