"""tuples.py: variables that a nest gives tuples, and does nothing else with.

    if a[i, j] > best:
        best, where = a[i, j], (i, j)

In the nest each of them is several variables, one an item, and one that says whether it was given
any; behind the nest they become a tuple again. Python's own loop is as it was.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from frit.loops.names import nodes_in

MOST_ITEMS = 8


def tuples_in(loop: ast.For | ast.While, names: set[str]) -> dict[str, int]:
    """Those of the names that are such variables, and how many items they have."""
    found: dict[str, int] = {}
    given = set()  # the names' own nodes
    for node in (n for n in nodes_in([loop]) if type(n) is ast.Assign):
        for target, value in _pairs(node):
            if isinstance(target, ast.Name) and target.id in names and _is_written_out(value):
                assert isinstance(value, ast.Tuple)
                found.setdefault(target.id, len(value.elts))
                if found[target.id] == len(value.elts):
                    given.add(id(target))
    if found:
        for node in ast.walk(loop):
            if isinstance(node, ast.Name) and id(node) not in given:
                found.pop(node.id, None)
    return found


def parts_of_tuple(name: str, count: int) -> list[str]:
    """The variables that stand for it: the items, and whether it was given any."""
    return [f"{name}${k}" for k in range(count + 1)]


def parts_of_all(tuples: dict[str, int]) -> list[str]:
    return [part for item in tuples.items() for part in parts_of_tuple(*item)]


def is_part(name: str) -> bool:
    """Of an output of a nest: before it is given any, it is nothing that somebody reads."""
    return "$" in name[1:-1]


def with_parts(loop: ast.For | ast.While, tuples: dict[str, int]) -> ast.For | ast.While:
    """The same loop: its own statements are changed."""
    for node in (n for n in nodes_in([loop]) if type(n) is ast.Assign):
        pairs = _pairs(node)
        if not any(isinstance(t, ast.Name) and t.id in tuples for t, _ in pairs):
            continue
        targets: list[ast.expr] = []
        values: list[ast.expr] = []
        for target, value in pairs:
            if not isinstance(target, ast.Name) or target.id not in tuples:
                targets.append(target)
                values.append(value)
                continue
            assert isinstance(value, ast.Tuple)
            names = parts_of_tuple(target.id, tuples[target.id])
            targets += [ast.copy_location(ast.Name(n, ast.Store()), target) for n in names]
            values += [*value.elts, ast.copy_location(ast.Constant(1), value)]
        node.targets = [ast.copy_location(ast.Tuple(targets, ast.Store()), node)]
        node.value = ast.copy_location(ast.Tuple(values, ast.Load()), node.value)
    return loop


def _pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """What gets which value. Of several targets, or of what is unpacked: nothing."""
    if len(node.targets) > 1:
        return []
    return [*_items(node.targets[0], node.value)]


def _items(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    is_written_out = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
    if is_written_out and not any(
        isinstance(x, ast.Starred)
        for x in (*target.elts, *value.elts)  # type: ignore[attr-defined]
    ):
        yield from zip(target.elts, value.elts, strict=True)  # type: ignore[attr-defined]


def _is_written_out(value: ast.expr) -> bool:
    if not isinstance(value, ast.Tuple) or not 1 <= len(value.elts) <= MOST_ITEMS:
        return False
    return not any(isinstance(x, (ast.Starred, ast.Tuple, ast.List)) for x in value.elts)
