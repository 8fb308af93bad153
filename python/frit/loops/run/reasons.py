"""reasons.py: why a nest could not run at a call, in the program's words.

A guard keeps its conditions as its docstring (nest/guard.py): what its names are, an empty line,
and a condition a line. Which of them did not hold is looked for once a call has failed.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Callable, Sequence
from typing import Any

LARGE = 1 << 40  # bounds beyond are there for ints that grow, not for indices
LONGEST = 120  # letters of a condition that is told
MAYBE = "an error is possible at this call"
_NOTHING = re.compile(r"(?<![\w*])1\*|\+0(?=\))")
_NAME = re.compile(r"\b(?:v(\d+)|e(\d+)_(\d+)|m(\d+)(w\d+)?_(lo|hi))\b")


def why_not(guard: types.FunctionType, values: Sequence[Any], names: Sequence[str]) -> str:
    """The first of the guard's conditions that does not hold for the values."""
    prelude, _, conditions = (guard.__doc__ or "").partition("\n\n")
    space = {**guard.__globals__, **{f"v{k}": value for k, value in enumerate(values)}}
    try:
        exec(prelude.strip(), space)
        failed = next((x for x in conditions.splitlines() if not eval(x, space)), None)
        return in_words(failed, names) if failed is not None else MAYBE
    except (ValueError, ArithmeticError, LookupError):
        return MAYBE


def in_words(condition: str, names: Sequence[str]) -> str:
    def named(found: re.Match[str]) -> str:
        value, array, axis, scanned, part, end = found.groups()
        if value is not None:
            return names[int(value)]
        if array is not None:
            return f"{names[int(array)]}.shape[{axis}]"
        read = "[..]" if part else ""  # not all of it
        return f"{names[int(scanned)]}{read}.{'min' if end == 'lo' else 'max'}()"

    if condition.startswith("not overlap("):
        first, second = (names[int(k)] for k in re.findall(r"\bv(\d+)", condition))
        return f"{first} and {second} may share memory"
    if any(int(number) >= LARGE for number in re.findall(r"\d+", condition)):
        found = [named(match) for match in _NAME.finditer(condition)]
        return f"an int may grow too large, with {', '.join(dict.fromkeys(found))} as given"
    plain = _NOTHING.sub("", condition)
    text = sides(plain, lambda name: _NAME.sub(named, name)) or _NAME.sub(named, plain)
    return f"an error is possible, {text} does not hold" if len(text) <= LONGEST else MAYBE


def sides(condition: str, named: Callable[[str], str]) -> str | None:
    """A comparison of two sums of names times numbers, with what is positive on either side."""
    node = ast.parse(condition, mode="eval").body
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    if not isinstance(node.ops[0], ast.LtE):
        return None
    first, second = sum_of(node.left), sum_of(node.comparators[0])
    if first is None or second is None:
        return None
    for name, number in second.items():
        first[name] = first.get(name, 0) - number
    constant = first.pop("", 0)
    left = {name: number for name, number in first.items() if number > 0}
    right = {name: -number for name, number in first.items() if number < 0}
    sign = "<="
    if constant > 0 and right:  # a <= b - 1
        constant, sign = constant - 1, "<"
    shown = [_shown(part, named) for part in (left, right)]
    for side, number in ((0, constant), (1, -constant)):
        if number > 0:
            shown[side] = f"{shown[side]} + {number}" if shown[side] else str(number)
    return f"{shown[0] or 0} {sign} {shown[1] or 0}"


def _shown(part: dict[str, int], named: Callable[[str], str]) -> str:
    return " + ".join(named(x) if n == 1 else f"{n} * {named(x)}" for x, n in part.items())


def sum_of(node: ast.expr) -> dict[str, int] | None:
    """By name, how often it is added; of "" the constant."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return {"": node.value}
    if isinstance(node, ast.Name):
        return {node.id: 1}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = sum_of(node.operand)
        return {x: -n for x, n in found.items()} if found is not None else None
    if not isinstance(node, ast.BinOp):
        return None
    first, second = sum_of(node.left), sum_of(node.right)
    if first is None or second is None:
        return None
    if isinstance(node.op, ast.Add | ast.Sub):
        sign = 1 if isinstance(node.op, ast.Add) else -1
        return {x: first.get(x, 0) + sign * second.get(x, 0) for x in {**first, **second}}
    if isinstance(node.op, ast.Mult) and {*first} <= {""}:
        return {x: first.get("", 0) * n for x, n in second.items()}
    return None
