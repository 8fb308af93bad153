"""bounds.py: bounds of a nest's outermost loop that Python computes: `range(2, int(n**0.5) + 1)`.

Such a bound is a number before the loop begins. A translation would only know that it is an int: so
it is computed at the call, by Python, and the nest gets it as another variable.
"""

from __future__ import annotations

import ast
import builtins
import math
import types
from collections.abc import Mapping
from typing import Any

from frit.loops.names import copied, nodes_in

BOUND = "bound#"  # and a number: a variable of the nest's own
_PARTS = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.Call, ast.Attribute)
_FUNCTIONS = (int, round, abs, min, max, len, float, math)
_KNOWN = (len, min, max, abs)
_NUMBERS = (int, float)


class Bounds:
    """names: of the nest's new variables; node: the loop that reads them."""

    def __init__(self, node: ast.For, parts: list[tuple[int, ast.expr]], space: Any) -> None:
        self.node = copied(node)
        self.names = [f"{BOUND}{number}" for number, _ in parts]
        self.space = space
        self.codes = []
        self.read: set[str] = set()
        for name, (number, part) in zip(self.names, parts, strict=True):
            self.codes.append(compile(ast.Expression(part), "<bound>", "eval"))
            self.read |= {n.id for n in nodes_in([part]) if isinstance(n, ast.Name)}
            made = ast.copy_location(ast.Name(name, ast.Load()), part)
            self.node.iter.args[number] = made
        self.read -= space.keys()

    def values(self, given: Mapping[str, Any]) -> tuple[int, ...] | None:
        """None: these are no ints, or an exception is due."""
        known = {name: given[name] for name in self.read if name in given}
        if len(known) < len(self.read) or not all(map(_is_plain, known.values())):
            return None
        try:
            found = tuple(eval(code, self.space, known) for code in self.codes)
        except Exception:  # Python will raise it
            return None
        return found if all(type(x) is int and abs(x) < 2**62 for x in found) else None


def bounds_of(node: ast.For, names: list[str], surroundings: Mapping[str, Any]) -> Bounds | None:
    """names: of numbers and arrays. None: there are none that are computed so."""
    call = node.iter
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        return None
    if surroundings.get(call.func.id) is not range:
        return None
    found = []
    used: dict[str, Any] = {}
    for number, part in enumerate(call.args):
        parts = nodes_in([part])
        calls = [x.func for x in parts if isinstance(x, ast.Call)]
        callees = [_value_of(x, surroundings) for x in calls]
        if all(any(x is known for known in _KNOWN) for x in callees):
            continue  # none, or what a translation knows
        functions = {id(x) for f in calls for x in nodes_in([f])}
        is_plain = all(map(_is_known, callees)) and all(
            isinstance(x, _PARTS) and (not isinstance(x, ast.Attribute) or id(x) in functions)
            for x in parts
        )
        read = {x.id for x in parts if isinstance(x, ast.Name) and id(x) not in functions}
        if not is_plain or not read <= {*names} or any(x.keywords for x in parts if _is_call(x)):
            continue
        for x in parts:
            if isinstance(x, ast.Name) and id(x) in functions:
                used[x.id] = surroundings[x.id]
        found.append((number, part))
    return Bounds(node, found, {"__builtins__": {}, **used}) if found else None


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call)


def _value_of(callee: ast.expr, surroundings: Mapping[str, Any]) -> Any:
    if isinstance(callee, ast.Name):
        return surroundings.get(callee.id)
    if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
        owner = surroundings.get(callee.value.id)
        return getattr(owner, callee.attr, None) if owner is math else None
    return None


def _is_known(callee: Any) -> bool:
    if isinstance(callee, types.BuiltinFunctionType):
        if callee.__self__ is math:
            return True
        return callee.__self__ is builtins and callee in _FUNCTIONS
    return callee in (int, float)


def _is_plain(value: Any) -> bool:
    """Whether what is computed of it has no effects: of numbers, lists and arrays."""
    if type(value) in _NUMBERS:
        return type(value) is float or abs(value) < 2**62
    return type(value) in (list, tuple) or hasattr(value, "dtype")
