"""complexes.py: complex numbers in a nest: Python's and NumPy's, each by its own rules.

Both multiply alike, without fused operations. Python divides in another way, and fails where NumPy
gives infinity. A variable may hold one kind in its first round and another one later (`z = 0`, then
`z = z * z + c[i]`): as with all doubtful numbers (doubt.py) it is used where all of that gives the
same value. What such a number may be besides complex is the 0 that it began with.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy

from frit.loops.nest.doubt import TWO, joined_kind, kinds_of
from frit.loops.nest.values import COMPLEXES, FLOATS, INTEGERS, Method, Refused, Value

_OPS: dict[type[ast.operator], tuple[str, numpy.ufunc]] = {
    ast.Add: ("Add", numpy.add),
    ast.Sub: ("Subtract", numpy.subtract),
    ast.Mult: ("MultiplyUnfused", numpy.multiply),
    ast.Div: ("TrueDivide", numpy.true_divide),
}
MOST_POWER = 16
_REALS = {"int", "float"}
_PYTHONS = _REALS | {"complex"}
_PARTS = {"int": "int", "float": "float", "complex": "float", "F": "f", "D": "d"}
# Since 3.14 Python keeps real operands real, and mends products that are NaN.
_IS_ANNEX_G = sys.version_info >= (3, 14)


def is_complex(*values: Value) -> bool:
    return any(x.kind in COMPLEXES for x in values)


def is_of_python(left: str, right: str) -> bool:
    """Whether Python computes: it takes NumPy's float64, which is a float, for its own complex."""
    return {left, right} <= _PYTHONS or (left, right) == ("complex", "d")


def is_zero(x: Value) -> bool:
    """Whether all that it may be of Python's is 0, without a sign."""
    if x.literal is not None:
        return str(x.literal) in ("0", "0.0", "0j")
    return x.mixed and x.zero


def keeps_zero(op: ast.operator, x: Value) -> bool:
    """By which a 0 stays what it is: another one, or a factor above 0 in the text."""
    is_positive = type(x.literal) in (int, float) and math.copysign(1, x.literal) > 0
    return is_zero(x) or (isinstance(op, ast.Mult) and is_positive)


class Complexes:
    """Mixed into NestWriter."""

    apply: Any
    emit: Any
    fail_where: Any
    folded: Any
    literal: Any
    numpy_floats: bool
    plain_int: Any
    require: Any
    require_nonzero: Any
    require_text: Any
    require_value: Any
    to_float: Any
    types_of: Any
    writer: Any

    def complex_binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> Value:
        x, y = (self.plain_int(v) if v.kind == "bool" else v for v in (x, y))
        if x.literal is not None and y.literal is not None:
            return self.folded(node, op, x.literal, y.literal)
        if isinstance(op, ast.Pow):
            return self.complex_power(node, x, y)
        if type(op) not in _OPS:
            raise Refused(node, f"{type(op).__name__} of complex numbers")
        of_python = {is_of_python(a, b) for a in kinds_of(x) for b in kinds_of(y)}
        if isinstance(op, ast.Div) and of_python == {True} and not (x.mixed or y.mixed):
            return self.python_quotient(node, x, y)
        name, ufunc = _OPS[type(op)]
        kinds = {self.kind_of_pair(node, op, ufunc, a, b) for a in kinds_of(x) for b in kinds_of(y)}
        if kinds & _REALS:
            self.require_zeros(node, op, x, y)
        among = frozenset(kinds)
        kind = joined_kind(among)
        if kind is None:
            raise Refused(node, TWO)
        dtype = "F" if kind == "F" else "D"
        for value in (x, y):
            self.require_exact(node, value, dtype)
        self.numpy_floats = self.numpy_floats or kind != "complex"
        value = self.apply(name, kind, (x, dtype), (y, dtype))
        if len(among) > 1:
            value.among = among
            value.zero = all(keeps_zero(op, v) for v in (x, y))
        return value

    def kind_of_pair(
        self, node: ast.AST, op: ast.operator, ufunc: numpy.ufunc, a: str, b: str
    ) -> str:
        if is_of_python(a, b):
            if "complex" not in (a, b):
                return "float" if "float" in (a, b) else "int"
            if isinstance(op, ast.Div):
                raise Refused(node, TWO)
            if _IS_ANNEX_G and (a != b or isinstance(op, ast.Mult)):
                raise Refused(node, "complex numbers of this Python's")
            return "complex"
        kind = self.types_of(node, ufunc, Value(a), Value(b))[2]
        if kind not in "FD":
            raise Refused(node, TWO)
        return kind

    def require_zeros(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> None:
        """Of two numbers that may both be real, the result is 0 again where they are."""
        for value in (x, y):
            if is_complex(value):
                continue
            if not keeps_zero(op, value):
                raise Refused(node, TWO)
        if isinstance(op, ast.Div):
            raise Refused(node, TWO)

    def require_exact(self, node: ast.AST, value: Value, dtype: str) -> None:
        """An int that becomes a float on the way is one."""
        if value.mixed and value.kind in INTEGERS:
            raise Refused(node, TWO)
        if value.kind == "int" and value.literal is None:
            bits = 53 if dtype == "D" else 24
            self.require_value(value, -(2**bits), 2**bits)

    def python_quotient(self, node: ast.AST, x: Value, y: Value) -> Value:
        """By the larger part of the divisor, as Python divides; NumPy takes its reciprocal."""
        if _IS_ANNEX_G:
            raise Refused(node, "complex numbers of this Python's")
        for value in (x, y):
            self.require_exact(node, value, "D")
        apply, zero = self.writer.apply, self.writer.constant(0.0, "d")
        real, imaginary = self.parts_of(Value("complex", self.emit(x, "D")))
        if is_complex(y):
            low, high = self.parts_of(Value("complex", self.emit(y, "D")))
            by_real = apply("GreaterEqual", [apply("Absolute", [p]) for p in (low, high)])
            self.fail_where(apply("LogicalAnd", [by_real, apply("Equal", [low, zero])]))
            low, high = (apply("Select", [by_real, *p]) for p in ((low, high), (high, low)))
            first = apply("Select", [by_real, real, imaginary])
            second = apply("Select", [by_real, imaginary, real])
            ratio = apply("TrueDivide", [high, low])
            divisor = apply("Add", [low, apply("Multiply", [high, ratio])])
        else:
            self.require_nonzero(y)
            by_real, first, second = None, real, imaginary
            divisor = self.emit(y, "d")
            ratio = apply("TrueDivide", [zero, divisor])
        sum_ = apply("Add", [first, apply("Multiply", [second, ratio])])
        less = apply("Multiply", [first, ratio])
        difference = apply("Subtract", [second, less])
        if by_real is not None:
            turned = apply("Subtract", [less, second])
            difference = apply("Select", [by_real, difference, turned])
        parts = [apply("TrueDivide", [p, divisor]) for p in (sum_, difference)]
        return Value("complex", apply("ComplexOf", [self.writer.cast(p, "D") for p in parts]))

    def complex_power(self, node: ast.AST, x: Value, y: Value) -> Value:
        """By products, as Python's and NumPy's own are of small whole powers."""
        is_small = y.kind in _REALS and y.literal in range(2, MOST_POWER + 1)  # 3.0 is 3 to both
        if not is_small or x.kind not in COMPLEXES:
            raise Refused(node, "a power of complex numbers")
        kinds = kinds_of(x)
        of_python = "complex" in kinds and not (x.mixed and x.zero and x.kind == "D")
        if of_python and (x.kind != "complex" or _IS_ANNEX_G):
            raise Refused(node, TWO)
        self.numpy_floats = self.numpy_floats or x.kind != "complex"

        def product(a: Value, b: Value) -> Value:
            result: Value = self.apply("MultiplyUnfused", x.kind, (a, x.dtype), (b, x.dtype))
            return result

        power = int(y.literal)
        if not of_python and power <= 3:
            value = product(x, x) if power == 2 else product(x, product(x, x))
        else:
            value, square = Value("complex", literal=1 + 0j), x
            for bit in range(power.bit_length()):
                square = product(square, square) if bit > 0 else x
                value = product(value, square) if power >> bit & 1 else value
        if of_python:
            # OverflowError where it is infinite.
            for part in self.parts_of(value):
                self.fail_where(self.writer.apply("Isinf", [part]))
        else:
            # Of NumPy's scalars the power of 0 has no sign.
            zero = self.emit(Value("complex", literal=0j), x.dtype)
            is_zero = self.writer.apply("Equal", [self.emit(x, x.dtype), zero])
            ids = [is_zero, zero, self.emit(value, x.dtype)]
            value = Value(x.kind, self.writer.apply("Select", ids))
        value.among, value.zero = x.among, x.zero
        return value

    def parts_of(self, x: Value) -> tuple[int, int]:
        id = self.emit(x, x.dtype)
        real = self.writer.cast(id, "f" if x.dtype == "F" else "d")
        return real, self.writer.apply("ImaginaryPart", [id])

    # ---- comparisons ----------------------------------------------------------------------------

    def complex_compare(self, node: ast.AST, name: str, x: Value, y: Value) -> Value:
        if name not in ("Equal", "NotEqual"):
            raise Refused(node, "an order of complex numbers")
        x, y = (self.plain_int(v) if v.kind == "bool" else v for v in (x, y))
        of_python = {is_of_python(a, b) for a in kinds_of(x) for b in kinds_of(y)}
        dtype = "D"
        if x.mixed or y.mixed:
            if not kinds_of(x) | kinds_of(y) <= _PYTHONS | {"d", "D"}:
                raise Refused(node, TWO)
        elif of_python == {False}:
            dtype = self.types_of(node, numpy.equal, x, y)[0]
        for value in (x, y):
            self.require_exact(node, value, dtype)
        result = self.apply(name, "?" if False in of_python else "bool", (x, dtype), (y, dtype))
        result.among = frozenset({"bool", "?"}) if len(of_python) > 1 else frozenset()
        return result

    # ---- parts ----------------------------------------------------------------------------------

    def number_attribute(self, node: ast.AST, x: Value, name: str) -> Any:
        if name == "conjugate" and not x.mixed and x.dtype != "?":
            return Method(x, name)
        if name not in ("real", "imag"):
            raise Refused(node, f"the attribute {name}")
        if x.literal is not None:
            return self.literal(node, getattr(x.literal, name))
        if is_complex(x):
            real, imaginary = self.parts_of(x)
            kinds = frozenset(_PARTS[k] for k in kinds_of(x))
            kind = joined_kind(kinds)
            assert kind is not None
            among = kinds if len(kinds) > 1 else frozenset()
            return Value(kind, real if name == "real" else imaginary, among=among)
        if x.kind in ("int", "float", *FLOATS) and not x.mixed:
            if name == "real":
                return x
            if x.is_python:
                return self.literal(node, 0 if x.kind == "int" else 0.0)
            return Value(x.kind, self.writer.constant(0.0, x.kind))
        raise Refused(node, f"the attribute {name} of this")

    def conjugate(self, x: Value) -> Value:
        if not is_complex(x):
            return x
        return self.apply("Conjugate", x.kind, (x, x.dtype))

    def complex_absolute(self, node: ast.AST, x: Value) -> Value:
        if x.literal is not None:
            return self.literal(node, abs(x.literal))
        kinds = frozenset(_PARTS[k] for k in kinds_of(x))
        kind = joined_kind(kinds)
        if kind is None:
            raise Refused(node, TWO)
        # Of numbers it is hypot; NumPy's ufunc has a way of its own.
        apply = self.writer.apply
        real, imaginary = self.parts_of(x)
        value = Value(kind, apply("Hypot", [real, imaginary], "C"))
        value.among = kinds if len(kinds) > 1 else frozenset()
        if "complex" in kinds_of(x) and not is_zero(x):
            infinite = apply("LogicalOr", [apply("Isinf", [real]), apply("Isinf", [imaginary])])
            new = apply("LogicalNot", [infinite])
            self.fail_where(apply("LogicalAnd", [new, apply("Isinf", [self.emit(value, "d")])]))
        self.numpy_floats = self.numpy_floats or x.kind != "complex"
        return value

    def to_complex(self, node: ast.AST, values: Sequence[Value]) -> Value:
        """complex(x) and complex(x, y)"""
        if any(v.mixed for v in values):
            raise Refused(node, "a call with a number that may be of two types")
        if len(values) == 1 and is_complex(values[0]):
            return Value("complex", self.emit(values[0], "D"))
        if len(values) > 2 or is_complex(*values):
            raise Refused(node, "these arguments of complex()")
        parts = [self.to_float(node, v) for v in values]
        if len(parts) < 2:
            parts += [Value("float", literal=0.0)] * (2 - len(parts))
        return self.apply("ComplexOf", "complex", *((x, "D") for x in parts))

    def complex_exp(self, node: ast.AST, x: Value, kind: str) -> Value:
        """np.exp and cmath.exp: e^real by the cosine and sine of the imaginary part."""
        dtype = "F" if kind == "F" else "D"
        self.require_exact(node, x, dtype)
        real, imaginary = self.parts_of(Value(kind, self.emit(x, dtype)))
        return self.polar(self.writer.apply("Exp", [real], "C"), imaginary, kind)

    def polar(self, size: int, angle: int, kind: str) -> Value:
        """Infinite numbers and NaN, which have rules of their own, are left to Python."""
        apply, dtype = self.writer.apply, "F" if kind == "F" else "D"
        finite = apply("LogicalAnd", [apply("Isfinite", [size]), apply("Isfinite", [angle])])
        self.fail_where(apply("LogicalNot", [finite]))
        parts = [apply("Multiply", [size, apply(op, [angle], "C")]) for op in ("Cos", "Sin")]
        return Value(kind, apply("ComplexOf", [self.writer.cast(p, dtype) for p in parts]))

    def of_cmath(self, node: ast.AST, name: str, values: Sequence[Value]) -> Value:
        if name == "exp" and len(values) == 1:
            return self.complex_exp(node, values[0], "complex")
        if name == "rect" and len(values) == 2:
            size, angle = (self.emit(self.to_float(node, v), "d") for v in values)
            return self.polar(size, angle, "complex")
        if name == "phase" and len(values) == 1 and is_complex(values[0]):
            real, imaginary = self.parts_of(Value("complex", self.emit(values[0], "D")))
            return Value("float", self.writer.apply("Arctan2", [imaginary, real], "C"))
        raise Refused(node, f"a call of {name}()")

    # ---- variables ------------------------------------------------------------------------------

    def require_complex(self, node: ast.AST | None, value: Value, kind: str) -> None:
        """A number in a place of complex numbers: one of them, or 0."""
        if value.kind in ("complex", kind) or is_zero(value):
            return
        if value.argument is not None and value.kind in _REALS:
            self.require_text(f"str({value.argument}) in ('0', '0.0')")
            return
        raise Refused(node, "a variable that is a real number first, and then a complex one")
