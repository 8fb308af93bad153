"""scope.py: the variables of a function: which of them are values, and which must be places.

A variable that is assigned in one list of statements only is bound to values, one by one. One that
is assigned in several (an initial value, and another in a loop or branch) is a place of the
kernel. What only turns out later (a use outside of the list, a wider type) is noted, and the
translation starts again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from frit.translate.errors import Restart
from frit.translate.values import Place


def _targets(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, (ast.Tuple, ast.List)):
        for item in node.elts:
            yield from _targets(item)
    elif isinstance(node, ast.Starred):
        yield from _targets(node.value)


def _assigned(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from _targets(target)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For)):
        yield from _targets(statement.target)
    elif isinstance(statement, ast.FunctionDef):
        yield statement.name


def several_lists(parameters: list[str], body: list[ast.stmt]) -> frozenset[str]:
    """The names that are assigned in more than one list of statements."""
    lists: dict[str, set[int]] = {name: {0} for name in parameters}
    count = 0

    def visit(statements: list[ast.stmt], number: int) -> None:
        nonlocal count
        for statement in statements:
            for name in _assigned(statement):
                # A loop's variable is bound at the start of its body.
                place = count + 1 if isinstance(statement, ast.For) else number
                lists.setdefault(name, set()).add(place)
            if isinstance(statement, ast.FunctionDef):
                for name in _nonlocals(statement):
                    lists.setdefault(name, set()).add(-1)
                continue
            for block in ("body", "orelse"):
                inner = getattr(statement, block, None)
                if inner:
                    count += 1
                    visit(inner, count)

    visit(body, 0)
    return frozenset(name for name, found in lists.items() if len(found) > 1 or found == {-1})


def assigned_names(body: list[ast.stmt]) -> set[str]:
    """The names that these statements assign, but for functions inside."""
    names: set[str] = set()
    for statement in body:
        names.update(_assigned(statement))
        if not isinstance(statement, ast.FunctionDef):
            for block in ("body", "orelse"):
                names |= assigned_names(getattr(statement, block, None) or [])
    return names


def _nonlocals(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Nonlocal):
            yield from node.names


class Knowledge:
    """What earlier beginnings of a translation have found out."""

    def __init__(self) -> None:
        self.places: dict[tuple[Any, ...], str] = {}  # key of a variable -> type

    def need_place(self, key: tuple[Any, ...], dtype: str) -> None:
        self.places[key] = dtype
        raise Restart


class Scope:
    """The variables of one call of a function."""

    def __init__(
        self, path: tuple[Any, ...], parent: Scope | None, names: list[str], body: list[ast.stmt]
    ) -> None:
        self.path = path
        self.parent = parent
        self.several = several_lists(names, body)
        self.assigned = assigned_names(body)
        self.variables: dict[str, Any] = {}
        self.declared: dict[str, str] = {}  # annotated types
        self.outer: dict[str, Scope] = {}  # names declared nonlocal
        self.result: Any = None
        self.result_place: Place | None = None
        self.returned: Place | None = None  # a flag, where a return may come early
        self.result_type: str | None = None

    def key(self, name: str) -> tuple[Any, ...]:
        return (*self.path, name)

    def owner(self, name: str) -> Scope | None:
        """The scope that has this variable by now."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope
            scope = scope.parent
        return None
