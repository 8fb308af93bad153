"""rules.py: what operators mean and how numbers are typed: the rules of a language.

The walk over statements knows no types; it asks the rules. PyKokkos is C: int is 32 bits, float is
double, `//` and `%` truncate, small integers are promoted.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from frit.translate.values import Literal, Number

BOOL = "?"
SMALL = "?bBhH"
INTEGERS = "?bBhHiIlL"
SIGNED = "bhil"
FLOATS = "efd"
COMPLEX = "FD"

Emit = Any  # the walker: constant(), convert(), apply()

COMPARISONS = {
    ast.Eq: "Equal",
    ast.NotEq: "NotEqual",
    ast.Lt: "Less",
    ast.LtE: "LessEqual",
    ast.Gt: "Greater",
    ast.GtE: "GreaterEqual",
}
_BITS = {ast.BitAnd: "BitwiseAnd", ast.BitOr: "BitwiseOr", ast.BitXor: "BitwiseXor"}
_ARITHMETIC = {ast.Add: "Add", ast.Sub: "Subtract", ast.Mult: "Multiply"}

# C's and Python's names of functions of one or two floats, and the op that computes them.
FUNCTIONS: dict[str, tuple[str, int]] = {
    "acos": ("Arccos", 1),
    "arccos": ("Arccos", 1),
    "acosh": ("Arccosh", 1),
    "arccosh": ("Arccosh", 1),
    "asin": ("Arcsin", 1),
    "arcsin": ("Arcsin", 1),
    "asinh": ("Arcsinh", 1),
    "arcsinh": ("Arcsinh", 1),
    "atan": ("Arctan", 1),
    "arctan": ("Arctan", 1),
    "atan2": ("Arctan2", 2),
    "arctan2": ("Arctan2", 2),
    "atanh": ("Arctanh", 1),
    "arctanh": ("Arctanh", 1),
    "cbrt": ("Cbrt", 1),
    "ceil": ("Ceil", 1),
    "copysign": ("Copysign", 2),
    "cos": ("Cos", 1),
    "cosh": ("Cosh", 1),
    "degrees": ("Degrees", 1),
    "erf": ("Erf", 1),
    "exp": ("Exp", 1),
    "exp2": ("Exp2", 1),
    "expm1": ("Expm1", 1),
    "fabs": ("Fabs", 1),
    "floor": ("Floor", 1),
    "fmax": ("Fmax", 2),
    "fmin": ("Fmin", 2),
    "fmod": ("Fmod", 2),
    "hypot": ("Hypot", 2),
    "isfinite": ("Isfinite", 1),
    "isinf": ("Isinf", 1),
    "isnan": ("Isnan", 1),
    "log": ("Log", 1),
    "log10": ("Log10", 1),
    "log1p": ("Log1p", 1),
    "log2": ("Log2", 1),
    "pow": ("Power", 2),
    "radians": ("Radians", 1),
    "rint": ("Rint", 1),
    "sin": ("Sin", 1),
    "sinh": ("Sinh", 1),
    "sqrt": ("Sqrt", 1),
    "tan": ("Tan", 1),
    "tanh": ("Tanh", 1),
    "trunc": ("Trunc", 1),
}
_HALF_BELOW = 0.49999999999999994  # the largest double below 0.5


class CRules:
    """PyKokkos: expressions are C++'s."""

    index_type = "i"
    # Bare names of C's functions are these, whatever the program calls by the same name.
    bare_functions = frozenset(FUNCTIONS) | {"abs", "round", "rsqrt", "remainder"}
    type_names = {
        "int": "i",
        "float": "d",
        "double": "d",
        "bool": "?",
    }

    # ---- types ----------------------------------------------------------------------------------

    def literal_type(self, value: bool | int | float | complex) -> str | None:
        if isinstance(value, bool):
            return BOOL
        if isinstance(value, int):
            if -(2**31) <= value < 2**31:
                return "i"
            if -(2**63) <= value < 2**63:
                return "l"
            return "L" if 0 <= value < 2**64 else None
        return "d" if isinstance(value, float) else "D"

    def promote(self, a: str, b: str) -> str:
        """C's usual arithmetic conversions."""
        if a in COMPLEX or b in COMPLEX:
            return "F" if a in "Fef" and b in "Fef" else "D"
        if a in FLOATS or b in FLOATS:
            if "d" in (a, b):
                return "d"
            return "e" if a == b == "e" else "f"
        a, b = ("i" if t in SMALL else t for t in (a, b))
        return max(a, b, key="iIlL".index)

    def join(self, a: str, b: str) -> str:
        """The type of a variable that is given values of both."""
        return a if a == b else self.promote(a, b)

    def truth(self, emit: Emit, x: Number) -> Number:
        if x.dtype == BOOL:
            return x
        return emit.apply("NotEqual", x, emit.constant(0, x.dtype))

    # ---- operators ------------------------------------------------------------------------------

    def binary(self, emit: Emit, op: ast.operator, x: Number, y: Number) -> Number | None:
        """None: there is no such operator for these operands."""
        kind = type(op)
        dtype = self.promote(x.dtype, y.dtype)
        if kind in _ARITHMETIC:
            return self._apply(emit, _ARITHMETIC[kind], dtype, x, y)
        if kind is ast.Div:
            if dtype not in COMPLEX:
                dtype = "d"
            return self._apply(emit, "TrueDivide", dtype, x, y)
        if kind is ast.Pow:
            return self.power(emit, x, y)
        if dtype in COMPLEX:
            return None
        if kind is ast.FloorDiv:
            if dtype in INTEGERS:
                return self._apply(emit, "TruncateDivide", dtype, x, y)
            return emit.convert(self._apply(emit, "TrueDivide", dtype, x, y), "l")
        if kind is ast.Mod:
            return self._apply(emit, "Fmod", dtype, x, y)
        if dtype in FLOATS:
            return None
        if kind in _BITS:
            if x.dtype == y.dtype == BOOL:
                dtype = BOOL
            return self._apply(emit, _BITS[kind], dtype, x, y)
        if kind in (ast.LShift, ast.RShift):
            dtype = self.promote(x.dtype, x.dtype)  # C's: that of the left operand
            name = "LeftShift" if kind is ast.LShift else "RightShift"
            return self._apply(emit, name, dtype, x, y)
        return None

    def power(self, emit: Emit, x: Number, y: Number) -> Number:
        dtype = self.promote(x.dtype, y.dtype)
        if dtype in INTEGERS:
            dtype = "d"
        return self._apply(emit, "Power", dtype, x, y)

    def square(self, emit: Emit, x: Number) -> Number:
        """x ** 2."""
        dtype = "d" if x.dtype in INTEGERS else x.dtype
        wide = emit.convert(x, dtype)
        return emit.apply("Multiply", wide, wide)

    def compare(self, emit: Emit, op: ast.cmpop, x: Number, y: Number) -> Number | None:
        name = COMPARISONS.get(type(op))
        dtype = x.dtype if x.dtype == y.dtype == BOOL else self.promote(x.dtype, y.dtype)
        if name is None or dtype in COMPLEX and name not in ("Equal", "NotEqual"):
            return None
        return self._apply(emit, name, dtype, x, y)

    def negative(self, emit: Emit, x: Number) -> Number:
        return self._apply(emit, "Negative", self.promote(x.dtype, x.dtype), x)

    def positive(self, emit: Emit, x: Number) -> Number:
        return emit.convert(x, self.promote(x.dtype, x.dtype))

    def invert(self, emit: Emit, x: Number) -> Number | None:
        if x.dtype not in INTEGERS:
            return None
        return self._apply(emit, "Invert", self.promote(x.dtype, x.dtype), x)

    # ---- functions ------------------------------------------------------------------------------

    def function(self, emit: Emit, name: str, arguments: list[Number]) -> Number | None:
        """A function of mathematics; None: there is none of that name and number of arguments."""
        special = getattr(self, "_call_" + name, None)
        if special is not None:
            return (
                special(emit, *arguments)
                if len(arguments) == special.__code__.co_argcount - 2
                else None
            )
        if FUNCTIONS.get(name, ("", 0))[1] != len(arguments) or not arguments:
            return None
        return self._apply(emit, FUNCTIONS[name][0], self._float_type(arguments), *arguments)

    def _float_type(self, arguments: list[Number]) -> str:
        dtype = arguments[0].dtype
        for argument in arguments[1:]:
            dtype = self.promote(dtype, argument.dtype)
        return "d" if dtype in INTEGERS else dtype

    def _call_abs(self, emit: Emit, x: Number) -> Number:
        return self._apply(emit, "Absolute", self.promote(x.dtype, x.dtype), x)

    def _call_pow(self, emit: Emit, x: Number, y: Number) -> Number:
        return self.power(emit, x, y)

    def _call_rsqrt(self, emit: Emit, x: Number) -> Number:
        dtype = self._float_type([x])
        root = self._apply(emit, "Sqrt", dtype, x)
        return emit.apply("TrueDivide", emit.constant(1.0, dtype), root)

    def _call_round(self, emit: Emit, x: Number) -> Number:
        """Halves away from zero."""
        dtype = self._float_type([x])
        wide = emit.convert(x, dtype)
        below = float.fromhex("0x1.fffffep-2") if dtype == "f" else _HALF_BELOW
        half = emit.apply("Copysign", emit.constant(below, dtype), wide)
        return emit.apply("Trunc", emit.apply("Add", wide, half))

    def _call_remainder(self, emit: Emit, x: Number, y: Number) -> Number | None:
        return None

    def extreme(self, emit: Emit, name: str, arguments: list[Number]) -> Number:
        """min and max of two or more numbers: C++'s, a comparison."""
        result = arguments[0]
        for other in arguments[1:]:
            dtype = self.promote(result.dtype, other.dtype)
            x, y = emit.convert(result, dtype), emit.convert(other, dtype)
            if dtype in INTEGERS:  # one operation, which is known to be free of order
                result = emit.apply("Minimum" if name == "min" else "Maximum", x, y)
                continue
            less = emit.apply("Less", y, x) if name == "min" else emit.apply("Less", x, y)
            result = emit.apply("Select", less, y, x)
        return result

    @staticmethod
    def _apply(emit: Emit, op: str, dtype: str, *operands: Number) -> Number:
        return emit.apply(op, *(emit.convert(x, dtype) for x in operands))


Function = Callable[..., Any]
__all__ = ["BOOL", "COMPLEX", "FLOATS", "INTEGERS", "CRules", "Literal"]
