"""library_calls.py: searchsorted, interp, clip and round of numbers, and bisect.

What is a loop is inlined (library.py).
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import Any

import numpy

from frit.loops.nest.complexes import is_complex
from frit.loops.nest.doubt import as_numpys
from frit.loops.nest.library import SEARCHES
from frit.loops.nest.values import FLOATS, INTEGERS, Item, Refused, Value, View

MOST_DIGITS = 22  # 10**22 is a float
_SPLIT = 2.0**27 + 1  # Dekker's: of 53 bits the upper and the lower half
_WHOLE = 2.0**51  # up to it halves are floats


class LibraryCalls:
    """Mixed into NestWriter."""

    apply: Any
    bound: dict[str, Any]
    emit: Any
    env: dict[str, Any]
    fail_where: Any
    forms: Any
    frames: list[Any]
    in_type: Any
    inlined: Any
    numpy_binary: Any
    numpy_floats: bool
    number: Any
    types_of: Any
    writer: Any

    def search(
        self, node: ast.Call, row: Item, others: list[ast.expr], named: list[ast.keyword]
    ) -> Value:
        """np.searchsorted(row, a number)."""
        sides = [*others[1:], *(word.value for word in named)]
        side = getattr(sides[0], "value", None) if sides else "left"
        is_plain = bool(others) and len(sides) <= 1 and all(word.arg == "side" for word in named)
        if not is_plain or side not in SEARCHES:
            raise Refused(node, "these arguments of searchsorted()")
        if not isinstance(row, View) or len(row.spans) != 1:
            raise Refused(node, "searchsorted() in something else than a row")
        number = self.number(others[0])
        if number.mixed:
            raise Refused(node, "searchsorted() of a number that may be of two types")
        if is_complex(number) or {row.array.dtype, number.dtype} & {"L", "D", "F", "e"}:
            raise Refused(node, "searchsorted() of such numbers")
        # So a row of float32 is compared with a number of Python's as float64.
        found: Value = self.inlined_of(node, SEARCHES[side], [row, as_numpys(number)])
        return found

    def inlined_of(self, node: ast.Call, function: Any, items: Iterable[Item]) -> Item:
        """A call of this function of ours (library.py) with these arguments."""
        path = f"@{node.lineno}.{node.col_offset}{self.frames[-1].path}"
        names = []
        for k, item in enumerate(items):
            names.append(ast.copy_location(ast.Name(f"argument{k}{path}", ast.Load()), node))
            self.env[names[-1].id], self.bound[names[-1].id] = item, ()
        call = ast.Call(ast.Name(function.__name__, ast.Load()), names, [])
        try:
            item: Item = self.inlined(ast.copy_location(call, node), function)
        except Refused as refused:  # the program's line, not ours
            refused.line = node.lineno
            raise
        return item

    def clipped(self, node: ast.AST, x: Value, low: Value, high: Value) -> Value:
        """np.clip() of a number, which is an array of its own."""
        x = as_numpys(x)
        kind = self.types_of(node, numpy.maximum, x, low)[-1]
        kind = self.types_of(node, numpy.minimum, Value(kind), high)[-1]
        if kind not in INTEGERS + FLOATS:
            raise Refused(node, "clip() of such numbers")
        for value in (x, low, high):
            self.in_type(node, value, kind)
        if kind in INTEGERS:
            pair = self.apply("Maximum", kind, (x, kind), (low, kind))
            result = self.apply("Minimum", kind, (pair, kind), (high, kind))
            if x.form is not None and low.form is not None and high.form is not None:
                least = self.forms.larger([x.form, low.form])
                result.form = self.forms.smaller([least, high.form])
                result.needs = (*x.needs, *low.needs, *high.needs)
            return result
        apply = self.writer.apply
        ids = [self.emit(value, kind) for value in (x, low, high)]
        id = apply("Select", [apply("Less", ids[:2]), ids[1], ids[0]])
        id = apply("Select", [apply("Greater", [id, ids[2]]), ids[2], id])
        for bound, bound_id in ((high, ids[2]), (low, ids[1])):
            if bound.literal is None and bound.dtype in FLOATS:
                id = apply("Select", [apply("Isnan", [bound_id]), bound_id, id])
        return Value(kind, id)

    def rounded(self, node: ast.AST, function: Any, x: Item, digits: Item) -> Value:
        """round() and np.round() to some digits behind the point."""
        count = digits.literal if isinstance(digits, Value) else None
        if not isinstance(x, Value) or type(count) is not int or not 0 <= count <= MOST_DIGITS:
            raise Refused(node, "a rounding to such digits")
        if x.mixed or x.kind not in ("int", "float", "f", "d", *INTEGERS):
            raise Refused(node, "a rounding of such a number")
        is_pythons = function is builtins.round and x.is_python
        x = x if is_pythons else as_numpys(x)
        if x.dtype in INTEGERS:
            return x
        if is_pythons and count > 0:
            return self.rounded_by_digits(x, count)
        power = Value("float", literal=10.0**count)
        self.numpy_floats |= not is_pythons
        if count > 0:
            x = self.numpy_binary(node, ast.Mult(), x, power)
        x = self.apply("Rint", x.kind, (x, x.dtype))
        return x if count == 0 else self.numpy_binary(node, ast.Div(), x, power)

    def rounded_by_digits(self, x: Value, count: int) -> Value:
        """Of a float of Python's: the float next to the decimal number next to it."""

        def op(name: str, *ids: int) -> int:
            found: int = self.writer.apply(name, [*ids])
            return found

        def number(value: float) -> int:
            found: int = self.writer.constant(value, "d")
            return found

        def upper_half(id: int) -> int:
            far = op("Multiply", id, number(_SPLIT))
            return op("Subtract", far, op("Subtract", far, id))

        real, power = self.emit(x, "d"), 10.0**count
        moved = op("Multiply", real, number(power))
        is_large = op("Greater", op("Absolute", moved), number(_WHOLE))
        self.fail_where(op("LogicalAnd", is_large, op("Isfinite", real)))
        # What the product is more than its float is.
        far = power * _SPLIT
        power_high = far - (far - power)
        high, power_low = upper_half(real), power - power_high
        low = op("Subtract", real, high)
        error = op("Subtract", op("Multiply", high, number(power_high)), moved)
        for part, factor in ((high, power_low), (low, power_high), (low, power_low)):
            error = op("Add", error, op("Multiply", part, number(factor)))
        whole = op("Rint", moved)
        rest = op("Subtract", moved, whole)
        is_half = op("Equal", op("Absolute", rest), number(0.5))
        goes_on = op("Greater", op("Multiply", rest, error), number(0.0))
        one_more = op("Add", whole, op("Copysign", number(1.0), rest))
        whole = op("Select", op("LogicalAnd", is_half, goes_on), one_more, whole)
        result = op("TrueDivide", whole, number(power))
        return Value("float", op("Select", op("Isfinite", real), result, real))
