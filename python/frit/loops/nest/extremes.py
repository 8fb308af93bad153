"""extremes.py: variables that only grow, or only shrink: `e = max(e, x)`, `if x > e: e = x`.

Such a variable is Python's number that it began with until it gets an element of NumPy's, which is
greater: so its last value says which of them it is, and rounds need not say it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from typing import Any

from frit.loops.names import nodes_in

_COMPARISONS = {ast.Gt: "Greater", ast.Lt: "Less"}
_MIRRORED = {"Greater": "Less", "Less": "Greater"}
_FUNCTIONS = {"max": "Greater", "min": "Less"}


def extremes_in(
    node: ast.AST, names: Iterable[str], surroundings: Mapping[str, Any]
) -> dict[str, str]:
    """By variable: how what it gets compares with what it was, wherever it is assigned."""
    found: dict[str, set[str]] = {name: set() for name in names}
    known: dict[int, str] = {}  # by id() of the assignment
    nodes = nodes_in([node])
    for part in nodes:
        if isinstance(part, ast.If) and isinstance(part.test, ast.Compare):
            _note_branch(part, part.test, known)
    targets: set[int] = set()
    for part in nodes:
        target = part.targets[0] if isinstance(part, ast.Assign) else None
        if isinstance(part, ast.Assign) and isinstance(target, ast.Name) and target.id in found:
            if len(part.targets) == 1:
                targets.add(id(target))
                op = known.get(id(part)) or _of_value(target.id, part.value, surroundings)
                found[target.id].add(op)
    for part in nodes:
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load) and part.id in found:
            if id(part) not in targets:
                found[part.id].add("")
    return {name: ops.pop() for name, ops in found.items() if len(ops) == 1 and "" not in ops}


def _of_value(name: str, value: ast.expr, surroundings: Mapping[str, Any]) -> str:
    """x if x > name else name; max(name, x): it stays what it is unless x is greater."""
    if isinstance(value, ast.IfExp) and isinstance(value.test, ast.Compare):
        if isinstance(value.orelse, ast.Name) and value.orelse.id == name:
            return _of_test(name, value.body, value.test)
        return ""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return ""
    function = value.func.id
    is_plain = len(value.args) == 2 and not value.keywords and function in _FUNCTIONS
    if not is_plain or surroundings.get(function) is not getattr(builtins, function):
        return ""
    is_first = isinstance(value.args[0], ast.Name) and value.args[0].id == name
    return _FUNCTIONS[function] if is_first else ""


def _note_branch(branch: ast.If, test: ast.Compare, known: dict[int, str]) -> None:
    """if x > name: name = x. (Before it nothing of x may change.)"""
    for statement in branch.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            return
        op = _of_test(target.id, statement.value, test)
        if op:
            known[id(statement)] = op
        if any(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(test)):
            return
        if any(isinstance(n, ast.Call) for n in ast.walk(statement.value)):
            return  # which may store


def _of_test(name: str, value: ast.expr, test: ast.Compare) -> str:
    op = _COMPARISONS.get(type(test.ops[0])) if len(test.ops) == 1 else None
    sides = [test.left, test.comparators[0]]
    if op is None or any(isinstance(n, ast.Call) for n in ast.walk(value)):
        return ""
    for x, y, found in ((*sides, op), (*sides[::-1], _MIRRORED[op])):
        if isinstance(y, ast.Name) and y.id == name and ast.dump(x) == ast.dump(value):
            return found
    return ""
