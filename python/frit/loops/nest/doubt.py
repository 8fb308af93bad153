"""doubt.py: numbers of which only a call knows whether they are Python's or NumPy's.

`max(a[i], 0.0)` is an element of NumPy's or the float of Python's. Such a number has the kind that
holds either exactly, and says what it may be; it is used where all of that gives the same value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from frit.loops.nest.forms import LARGEST, LEAST
from frit.loops.nest.translation import TOLD
from frit.loops.nest.values import (
    COMPLEXES,
    DTYPES,
    FLOATS,
    INTEGERS,
    LIMITS,
    PYTHON_KINDS,
    Refused,
    Value,
)
from frit.loops.run.list_runs import TagsNeeded

_OPS = {ast.Add: "Add", ast.Sub: "Subtract", ast.Mult: "Multiply", ast.Div: "TrueDivide"}
_INTEGER_OPS = {
    ast.Add: "Add",
    ast.Sub: "Subtract",
    ast.Mult: "Multiply",
    ast.FloorDiv: "FloorDivide",
    ast.Mod: "Remainder",
    ast.BitAnd: "BitwiseAnd",
    ast.BitOr: "BitwiseOr",
    ast.BitXor: "BitwiseXor",
}
SIZED = frozenset(INTEGERS) - {"L"}  # NumPy's whose numbers int64 holds
WHOLE = SIZED | {"int"}
TWO = "a number that may be of two types"


def kinds_of(x: Value) -> frozenset[str]:
    return x.among or frozenset({x.kind})


def without_doubt(x: Value) -> Value:
    return Value(x.kind, x.id, x.literal, x.form, x.needs)


def as_numpys(x: Value) -> Value:
    """The number as an array of its own: of Python's kinds it is of NumPy's type."""
    return Value(x.dtype, x.id, x.literal, x.form, x.needs)


def joined_kind(kinds: frozenset[str]) -> str | None:
    """The kind that holds numbers of all these; None: there is none."""
    strong = kinds - {"int", "float"}
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds <= WHOLE and len(strong) > 1:
        return "l"
    if kinds & {*COMPLEXES}:
        strong = strong - {"complex"}
        return "complex" if not strong else "D" if strong == {"D"} else None
    if kinds == {"bool", "?"}:
        return "?"
    if len(strong) > 1 or strong & {"bool", "?"}:
        return None
    kind = next(iter(strong), "float")
    return None if kind in INTEGERS and "float" in kinds else kind


class Doubts:
    """Mixed into NestWriter."""

    writer: Any
    emit: Any
    fail_if_product_is_large: Any
    fail_outside_of: Any
    fail_where: Any
    float_binary: Any
    apply: Any
    in_type: Any
    kind_of_binary: Any
    require_moderate: Any
    require_value: Any
    require_same: Any
    require_nonzero: Any
    numpy_floats: bool
    knowledge: Any

    def told_of(self, x: Value) -> int | None:
        """What the number is, as an integer of the nest (TOLD); None: it does not tell."""
        if not self.knowledge.told or len(kinds_of(x) & SIZED) > 1:
            return None
        constant = self.writer.constant
        if not x.mixed:
            told = TOLD.get(x.kind, None if x.kind in DTYPES else 1)
            return None if told is None else int(constant(told, "l"))
        if x.told is None and x.tag is not None and x.among == {"int", "float"}:
            pair = [constant(TOLD[kind], "l") for kind in ("float", "int")]
            return int(self.writer.apply("Select", [x.tag, *pair]))
        return x.told

    def told_of_result(self, op: ast.operator, x: Value, y: Value) -> int | None:
        """A number of NumPy's makes the result NumPy's, and a float one."""
        codes = self.told_of(x), self.told_of(y)
        if codes[0] is None or codes[1] is None:
            return None
        told = self.writer.apply("Maximum", [*codes])
        if isinstance(op, ast.Div):
            told = self.writer.apply("Maximum", [told, self.writer.constant(TOLD["float"], "l")])
        return int(told)

    def join(self, node: ast.AST, x: Value, y: Value) -> tuple[str, frozenset[str]]:
        """The kind of one of these numbers, and what it may be."""
        kinds = kinds_of(x) | kinds_of(y)
        kind = joined_kind(kinds)
        if kind is None:
            raise Refused(node, "one of two numbers of different types")
        for value in (x, y):
            if value.kind != kind:
                self.require_same(node, value, kind)
        return kind, kinds if len(kinds) > 1 else frozenset()

    def settled(self, node: ast.AST, x: Value, y: Value) -> tuple[Value, Value]:
        """Without doubt, if one of them is NumPy's and makes the other one do the same."""
        for value, other in ((x, y), (y, x)):
            if not value.among or other.among or other.is_python:
                continue
            kind, dtype = value.kind, other.dtype
            if kind == "f":
                same = dtype in "fd"
            elif kind in INTEGERS:
                same = dtype in (kind, "d")
            else:
                may_be_whole = not value.among.isdisjoint({"int", "l"})
                same = dtype == "d" or (dtype in INTEGERS and not may_be_whole)
            if not same or kind in ("e", "?"):
                raise Refused(node, TWO)
            return without_doubt(x), without_doubt(y)
        return x, y

    def as_floats(self, node: ast.AST, *values: Value) -> None:
        """Both may be Python's: they are floats of 64 bits, or become such."""
        for value in values:
            if value.kind not in ("int", "float", "d", *SIZED):
                raise Refused(node, TWO)
            if value.kind == "int" and value.literal is None:
                self.require_value(value, -(2**53), 2**53)
            elif value.kind == "l":
                self.fail_outside_of(value, -(2**53), 2**53)

    def doubtful_binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> Value:
        pairs = [(a, b) for a in kinds_of(x) for b in kinds_of(y)]
        kinds = {self.kind_of_result(node, op, a, b) for a, b in pairs}
        if kinds <= WHOLE and type(op) in _INTEGER_OPS:
            return self.doubtful_integers(node, op, x, y, frozenset(kinds))
        self.as_floats(node, x, y)
        if kinds == {"int", "float"} and isinstance(op, (ast.Add, ast.Sub, ast.Mult)):
            return self.either(node, _OPS[type(op)], x, y)
        if type(op) not in (*_OPS, ast.Pow) or not kinds <= {"float", "d"}:
            raise Refused(node, TWO)
        if isinstance(op, ast.Div):
            self.require_nonzero(y)
        kind = "d" if "d" in kinds else "float"
        self.numpy_floats = self.numpy_floats or kind == "d"
        if isinstance(op, ast.Pow):
            value = Value(kind, self.float_binary(node, op, x, y).id)
        else:
            value = self.apply(_OPS[type(op)], kind, (x, "d"), (y, "d"))
        if len(kinds) > 1:
            value.among = frozenset(kinds)
            value.told = self.told_of_result(op, x, y)
        return value

    def kind_of_result(self, node: ast.AST, op: ast.operator, x: str, y: str) -> str:
        if "d" in (x, y):
            return "d"
        if x in PYTHON_KINDS and y in PYTHON_KINDS:
            return "float" if "float" in (x, y) or isinstance(op, ast.Div) else "int"
        if type(op) not in (*_INTEGER_OPS, ast.Div) or not {x, y} <= WHOLE | {"float"}:
            raise Refused(node, TWO)
        return str(self.kind_of_binary(node, op, Value(x), Value(y)))

    def doubtful_integers(
        self, node: ast.AST, op: ast.operator, x: Value, y: Value, kinds: frozenset[str]
    ) -> Value:
        """Python's ints or NumPy's: the same, as long as none leaves the least of these types."""
        for value, other in ((x, y), (y, x)):
            if "int" in kinds_of(value) and (types := kinds_of(other) & SIZED):
                self.keep_within(node, value, *limits_of(types))  # it becomes one of them
            elif value.kind == "int":
                self.require_moderate(value)
            elif value.kind == "l":
                self.fail_outside_of(value, LEAST, LARGEST)
        if isinstance(op, ast.Mult) and "l" in (x.kind, y.kind):
            self.fail_if_product_is_large(x, y)
        elif isinstance(op, (ast.FloorDiv, ast.Mod)):
            self.require_nonzero(y)
        value = self.apply(_INTEGER_OPS[type(op)], "l", (x, "l"), (y, "l"))
        self.fail_outside_of(value, *limits_of(kinds))
        kind = joined_kind(kinds)
        assert kind is not None
        result = Value(kind, self.emit(value, DTYPES.get(kind, kind)))
        if len(kinds) > 1:
            result.among = kinds
            result.told = self.told_of_result(op, x, y)
        return result

    def keep_within(self, node: ast.AST, value: Value, low: int, high: int) -> None:
        if value.literal is not None:
            if not low <= value.literal <= high:
                raise Refused(node, f"{value.literal} does not fit")
        elif value.kind == "int":
            self.require_value(value, low, high)
        else:
            self.fail_outside_of(value, low, high)

    def either(self, node: ast.AST, name: str, *inputs: Value) -> Value:
        """Of ints or floats of Python's: the same, as long as ints are exact as floats."""
        value = self.apply(name, "float", *((x, "d") for x in inputs))
        value.among = frozenset({"int", "float"})
        value.untagged = next((x.untagged for x in inputs if x.untagged), None)
        tags = [self.tag_of(x) for x in inputs]
        apply, constant = self.writer.apply, self.writer.constant
        large = apply("GreaterEqual", [apply("Absolute", [value.id]), constant(2.0**53, "d")])
        if None not in tags:
            value.tag = tags[0] if len(tags) == 1 else apply("LogicalOr", tags)
            is_int = apply("LogicalNot", [value.tag])
            large = apply("LogicalAnd", [large, is_int])
        if name in ("Multiply", "Negative"):
            # 0 * -1 is 0, and 0.0 * -1 is -0.0.
            if value.tag is None and value.untagged is not None:
                raise TagsNeeded(*value.untagged)
            if value.tag is None:
                raise Refused(node, TWO)
            positive = apply("Add", [value.id, constant(0.0, "d")])
            value.id = apply("Select", [is_int, positive, value.id])
        self.fail_where(large)
        return value

    def tag_of(self, x: Value) -> int | None:
        """Whether the number is a float; None: nobody knows."""
        if x.kind == "int" or not x.mixed:
            found: int = self.writer.constant(x.kind == "float", "?")
            return found
        return x.tag

    def doubtful_comparison(self, node: ast.AST, name: str, x: Value, y: Value) -> Value:
        kinds = {x.kind, y.kind} - {"int"}
        dtype = next(iter(kinds), "d")
        if kinds <= WHOLE:
            dtype = dtype if len(kinds) == 1 else "l"
            self.in_type(node, x, dtype)
            self.in_type(node, y, dtype)
        else:
            dtype = "d"
            self.as_floats(node, x, y)
        value = self.apply(name, "?", (x, dtype), (y, dtype))
        value.among = frozenset({"bool", "?"})
        return value

    def doubtful_unary(self, node: ast.AST, name: str, x: Value) -> Value:
        if kinds_of(x) <= WHOLE:
            value = self.apply(name, "l", (x, "l"))
            self.fail_outside_of(value, *limits_of(x.among))
            return Value(x.kind, self.emit(value, x.dtype), among=x.among, told=x.told)
        if x.dtype not in FLOATS:
            raise Refused(node, TWO)
        if not x.among.isdisjoint({"int", "l"}) and name == "Negative":
            if x.among != {"int", "float"}:
                raise Refused(node, TWO)  # -0 is 0
            return self.either(node, name, x)
        value = self.apply(name, x.kind, (x, x.dtype))
        value.among = x.among
        value.tag, value.untagged, value.told = x.tag, x.untagged, x.told
        return value

    def one_of(self, node: ast.AST, takes_x: int, x: Value, y: Value) -> Value:
        kind, among = self.join(node, x, y)
        if among and kind in COMPLEXES:
            raise Refused(node, TWO)
        holder = Value(kind)
        ids = [takes_x, self.emit(x, holder.dtype), self.emit(y, holder.dtype)]
        value = Value(kind, self.writer.apply("Select", ids), among=among)
        codes = (self.told_of(x), self.told_of(y)) if among else (None, None)
        if None not in codes:
            value.told = self.writer.apply("Select", [takes_x, *codes])
        if among == {"int", "float"}:
            tags = self.tag_of(x), self.tag_of(y)
            if None not in tags:
                value.tag = self.writer.apply("Select", [takes_x, *tags])
        return value


def limits_of(kinds: Iterable[str]) -> tuple[int, int]:
    """Of numbers that each of these types has, and the nest computes with."""
    limits = [LIMITS[kind] for kind in kinds if kind != "int"]
    low = max((least for least, _ in limits), default=LEAST)
    high = min((most for _, most in limits), default=LARGEST)
    return max(low, LEAST), min(high, LARGEST)
