"""work.py: about how long a nest takes as Python, guessed from its bounds before it is translated.

This is the first half of the cost model: a nest of a few iterations is always better left alone,
and a few calls of a nest that is short cost less as Python than its translation does. So the guess
only decides when, never what. The second half, one core or all of them, is nest_cost.h's, which
knows the plan. Both are held against the best choice by `python bench/loops.py --oracle`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from frit.loops.names import nodes_in

# Seconds as Python: less is left alone, as a compiled call costs 3e-6, and a refused one 1e-6.
SHORT = 2e-6
# Seconds as Python, after which a nest that nobody asked for is translated: about what the first
# translation of a process takes, with its imports.
WORTH = 10e-3
# Nanoseconds that CPython takes, about: of NumPy's arrays and scalars, which loops here are over.
ACCESS, TUPLE, OPERATION, CALL, NAME, ROUND = 35, 25, 30, 40, 3, 20
# Many rather than few: a long nest that stays Python is worse than a short one that does not.
UNKNOWN_ROUNDS = "64"
_SIMPLE = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load)
_FUNCTIONS = ("len", "min", "max", "int", "range")


class _Unknown(Exception):
    """The bounds are no simple expressions of the names."""


class _Middle(ast.NodeTransformer):
    """Puts the middle of its range for the index of a loop around."""

    def __init__(self, middles: dict[str, ast.expr]) -> None:
        self.middles = middles

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.middles.get(node.id, node)


class _Writer:
    def __init__(self, names: Sequence[str]) -> None:
        self.names = set(names)
        if self.names & set(_FUNCTIONS):
            raise _Unknown
        self.middles: dict[str, ast.expr] = {}

    def check(self, node: ast.expr) -> None:
        """Only what has no effects, of arrays and numbers."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in ("shape", "size") and node.value.id in self.names:
                return
        elif isinstance(node, ast.Subscript):
            if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
                self.check(node.value)
                return self.check(node.slice)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            if node.func.id in _FUNCTIONS:
                for part in node.args:
                    self.check(part)
                return
        elif isinstance(node, ast.Name):
            if node.id in self.names:
                return
        elif isinstance(node, _SIMPLE) and not isinstance(node, ast.BinOp | ast.UnaryOp):
            return
        elif isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow | ast.LShift):
            self.check(node.left)
            return self.check(node.right)
        elif isinstance(node, ast.UnaryOp):
            return self.check(node.operand)
        raise _Unknown

    def rounds(self, node: ast.For) -> str:
        """How often the loop goes round; notes the middle of its index."""
        over = _Middle(self.middles).visit(_copy(node.iter))
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name):
            if over.func.id in ("enumerate", "zip") and over.args:
                over = over.args[0]
        if isinstance(over, ast.Call):
            self.check(over)
            ends = over.args[:2]
            if isinstance(node.target, ast.Name):
                total = ends[0] if len(ends) == 1 else ast.BinOp(ends[0], ast.Add(), ends[1])
                half = ast.BinOp(total, ast.FloorDiv(), ast.Constant(2))
                self.middles[node.target.id] = half
        elif not isinstance(over, ast.Name) or over.id not in self.names:
            raise _Unknown
        return f"len({ast.unparse(over)})"

    def body(self, nodes: Sequence[ast.stmt]) -> str:
        plain, parts = 0, []
        for node in nodes:
            if isinstance(node, ast.For):
                parts.append(self.loop(node))
            elif isinstance(node, ast.While):
                parts.append(f"{UNKNOWN_ROUNDS} * ({self.body(node.body)})")
            elif isinstance(node, ast.If):
                plain += _price(node.test)
                parts.append(self.body(node.body))
            else:
                plain += _price(node)
        return " + ".join([str(plain + ROUND), *parts])

    def loop(self, node: ast.For) -> str:
        try:
            rounds = self.rounds(node)
        except _Unknown:
            rounds = UNKNOWN_ROUNDS
        return f"{rounds} * ({self.body(node.body)})"


def is_simple(node: ast.expr, names: set[str]) -> bool:
    """Whether it has no effects, if the names are arrays and numbers."""
    try:
        _Writer(sorted(names - set(_FUNCTIONS))).check(node)
    except _Unknown:
        return False
    return True


def _copy(node: ast.expr) -> Any:
    return ast.parse(ast.unparse(node), mode="eval").body


def _price(node: ast.AST) -> int:
    return sum(map(_own_price, nodes_in([node])))


def _own_price(node: ast.AST) -> int:
    if isinstance(node, ast.Subscript):
        return ACCESS
    if isinstance(node, ast.Tuple):
        return TUPLE
    if isinstance(node, ast.AugAssign):  # reads its target, too
        return OPERATION + _price(node.target)
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare):
        return OPERATION
    if isinstance(node, ast.Call):
        return CALL
    return NAME if isinstance(node, ast.expr) else 0


def guess_of(node: ast.For, names: Sequence[str]) -> Callable[..., float] | None:
    """Seconds, as a function of the values of the names: arrays and numbers; None: who knows."""
    try:
        writer = _Writer(names)
        text = f"{writer.rounds(node)} * ({writer.body(node.body)})"
        made: Callable[..., float] = eval(f"lambda {', '.join(names)}: 1e-9 * ({text})")
        return made
    except (_Unknown, SyntaxError, ValueError, RecursionError):
        return None
