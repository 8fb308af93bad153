"""peel.py: a nest of a module's own code, but for its last rounds, which stay Python's.

Every variable that such a loop assigns lives on behind it, with the value and the type that the
last rounds gave it. So those rounds are left to Python, which gives them just these; what runs
compiled need only leave the variables that the last rounds read, or may leave alone (sums, for
one).
"""

from __future__ import annotations

import ast
from typing import Any

from frit.loops.find.flow import needed_names
from frit.loops.names import assigned_names, nodes_in
from frit.loops.run.work import is_simple

MOST_LEFT = 4  # rounds for Python
_NAMES = {"__builtins__": {}, "range": range, "len": len, "min": min, "max": max, "int": int}


class Peel:
    def __init__(self, node: ast.For) -> None:
        self.node = node
        self.assigned = assigned_names([node])
        self.inner: dict[int, list[ast.For]] = {}
        self.ranges: dict[int, Any] = {}  # their codes, where these were run
        self.find(node, set())

    def variables(self, private: set[str]) -> tuple[list[str], list[str]]:
        """Those that the rest leaves, and those whose values it needs.

        private: variables whose last value nobody reads, if it isn't of the last rounds.
        """
        certain = {id(self.node), *(id(n) for found in self.inner.values() for n in found)}
        behind = needed_names(self.node, self.assigned - private, certain)
        outputs = sorted(self.assigned & behind)
        return outputs, sorted(needed_names(self.node, set(outputs)))

    def find(self, node: ast.For, indices: set[str]) -> None:
        """The loops in its body that run at every round, if their range is not empty."""
        indices = indices | assigned_names([node.target])
        self.inner[id(node)] = []
        if leaves_early(node):
            return
        known = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - self.assigned | indices
        for part in node.body:
            if not isinstance(part, ast.For) or not isinstance(part.target, ast.Name):
                continue
            if isinstance(part.iter, ast.Call) and is_simple(part.iter, known):
                self.inner[id(node)].append(part)
                self.find(part, indices)

    def left(self, values: dict[str, Any], rounds: range) -> int:
        """How many rounds Python needs, so that each of the loops goes round; 0: too many."""
        name = self.node.target.id  # type: ignore[attr-defined]
        due = list(self.inner[id(self.node)])
        for count, index in enumerate(reversed(rounds[-MOST_LEFT:]), 1):
            due = [x for x in due if not self.goes_round(x, {**values, name: index})]
            if not due:
                return count
        return 0

    def goes_round(self, node: ast.For, values: dict[str, Any]) -> bool:
        if id(node) not in self.ranges:
            self.ranges[id(node)] = compile(ast.Expression(node.iter), "<range>", "eval")
        try:
            rounds = eval(self.ranges[id(node)], _NAMES, values)
        except Exception:  # a bound that Python will refuse too
            return False
        if type(rounds) is not range:
            return False
        due = self.inner[id(node)]
        if not due or not rounds:
            return bool(rounds)
        name = node.target.id  # type: ignore[attr-defined]
        return any(
            all(self.goes_round(x, {**values, name: index}) for x in due)
            for index in reversed(rounds[-MOST_LEFT:])
        )


def leaves_early(node: ast.For) -> bool:
    """Whether some of its rounds may not go through its body to the end."""
    early = (ast.Continue, ast.Break, ast.Return)
    return any(isinstance(n, early) for s in node.body for n in _outside_loops(s))


def _outside_loops(node: ast.AST) -> list[ast.AST]:
    """The node and what is in it, but not in a loop in it."""
    if isinstance(node, (ast.For, ast.While)):
        return []
    return [node, *(n for child in ast.iter_child_nodes(node) for n in _outside_loops(child))]


def private_names(tree: ast.Module, nodes: list[ast.AST]) -> set[str]:
    """Variables of a program that loops assign before they read them, and nothing else names.

    nodes: all of the tree's.
    """
    mentions: dict[str, int] = {}
    for node in nodes:
        for name in _names_in(node):
            mentions[name] = mentions.get(name, 0) + 1
    if _LOOKERS & mentions.keys():
        return set()
    for loop in _outermost_loops(tree.body):
        own = assigned_names([loop]) - needed_names(loop, set())
        for node in nodes_in([loop]):
            for name in _names_in(node):
                if name in own:
                    mentions[name] -= 1
    return {name for name, count in mentions.items() if count == 0}


_LOOKERS = {"locals", "vars", "eval", "exec", "globals", "dir", "__import__"}


def _names_in(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Global):
        return node.names
    return []


def _outermost_loops(nodes: list[ast.stmt]) -> list[ast.For]:
    found: list[ast.For] = []
    for node in nodes:
        if isinstance(node, ast.For):
            found.append(node)
        elif isinstance(node, (ast.If, ast.With, ast.While, ast.Try)):
            found += _outermost_loops(node.body)
    return found
