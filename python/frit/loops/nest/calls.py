"""calls.py: calls in a nest: of builtins, of math, of NumPy's functions, of the program's own."""

from __future__ import annotations

import ast
import builtins
import functools
import math
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy

from frit._adapters import real_of
from frit.loops.find.flow import text_in
from frit.loops.nest.complexes import is_complex
from frit.loops.nest.doubt import WHOLE, kinds_of, without_doubt
from frit.loops.nest.forms import LARGEST, LEAST, Form, Forms, Symbol
from frit.loops.nest.generated import generated_in
from frit.loops.nest.library import inlined_for
from frit.loops.nest.small_arrays import MAKERS
from frit.loops.nest.values import (
    FLOATS,
    INTEGERS,
    Character,
    Item,
    Library,
    ListPart,
    Method,
    Refused,
    Row,
    Value,
    View,
)
from frit.loops.run.methods import PlainMethod
from frit.loops.run.streams import stream_of
from frit.loops.run.texts import number_of
from frit.translate.rules import FUNCTIONS

# Functions of math that give a float, and the op of each. They raise where a flag is raised.
_MATH = {
    name: FUNCTIONS[name][0]
    for name in """
    sqrt exp log sin cos tan tanh atan fabs erf log2 log10 log1p expm1 exp2 cbrt asin acos
    sinh cosh asinh acosh atanh atan2 hypot pow fmod copysign
    """.split()
}
_OF_PYTHON = ("hypot", "sqrt")  # not of C's library; the root is exact
_TESTS = {"isnan": "Isnan", "isinf": "Isinf", "isfinite": "Isfinite"}
# Functions that give an int of a float, and the op before the cast.
_WHOLE = {int: None, round: "Rint", math.floor: "Floor", math.ceil: "Ceil", math.trunc: None}
MOST_WHOLE = 2**48  # that a float is made an int of
_INTEGER_TYPES = {numpy.dtype(code).type: code for code in INTEGERS}
_UFUNCS = {
    name: FUNCTIONS[name][0]
    for name in """
    sqrt exp log sin cos tan tanh fabs arctan log2 log10 log1p expm1 exp2 cbrt arcsin arccos
    sinh cosh floor ceil rint fmax fmin hypot arctan2 arcsinh arccosh arctanh
    """.split()
} | {
    "square": "Square",
    "conjugate": "Conjugate",
    "absolute": "Absolute",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "sign": "Sign",
    "trunc": "Trunc",
    "copysign": "Copysign",
    "signbit": "Signbit",
    "deg2rad": "Deg2rad",
    "radians": "Radians",
    "rad2deg": "Rad2deg",
    "degrees": "Degrees",
    **_TESTS,
}
_OPERATORS = {
    "add": ast.Add,
    "subtract": ast.Sub,
    "multiply": ast.Mult,
    "divide": ast.Div,
    "floor_divide": ast.FloorDiv,
    "remainder": ast.Mod,
    "bitwise_and": ast.BitAnd,
    "bitwise_or": ast.BitOr,
    "bitwise_xor": ast.BitXor,
}
# Of a number of NumPy's or of Python's a ufunc makes the same.
_ALIKE = ({"float", "d"}, {"complex", "D"})
_INEXACT = ({"int", "d"}, {"int", "float"}, {"int", "float", "d"}, {"l", "d"})
_COMPLEX_UFUNCS = ("absolute", "conjugate")
_REDUCTIONS = {
    "sum": "sum",
    "mean": "mean",
    "max": "max",
    "min": "min",
    "amax": "max",
    "amin": "min",
    "median": "median",
    "var": "var",
    "std": "std",
    "any": "any",
    "all": "all",
    "count_nonzero": "count_nonzero",
    "argmax": "argmax",
    "argmin": "argmin",
}
_OF_LISTS = (builtins.len, builtins.sum, builtins.min, builtins.max)
# By one number for all, NumPy's power may be a product or a root. C's pow(x, 2) is none of these:
_NO_SQUARES = (4.934655587374951, 5.771636744955078, 8.485694017422198)
_HAS_SHORTCUTS = all(numpy.power(x, 2.0) == x * x for x in _NO_SQUARES)
# Of two rows the same.
_PRODUCTS = (numpy.dot, numpy.inner, numpy.vdot, numpy.matmul)
_OF_NUMBERS = (numpy.dot, numpy.inner)


class Calls:
    """Mixed into NestWriter."""

    all_of_list: Any
    apply: Any
    as_small: Any
    callee: Any
    clipped: Any
    character: Any
    code_of: Any
    copied_row: Any
    complex_absolute: Any
    complex_exp: Any
    conjugate: Any
    dot: Any
    dot_with_number: Any
    draw: Any
    doubtful_unary: Any
    elementwise: Any
    emit: Any
    fail_outside: Any
    fail_outside_of: Any
    fail_where: Any
    is_loose: Any
    loosened: Any
    forms: Forms
    in_type: Any
    inlined: Any
    inlined_of: Any
    of_partial: Any
    integer_of: Any
    join: Any
    binary: Any
    literal: Any
    made: Any
    matrix_product: Any
    number_attribute: Any
    of_cmath: Any
    loose_form: Any
    numpy_floats: bool
    norm: Any
    numpy_binary: Any
    note_loose: Any
    one_of: Any
    operand: Any
    plain_int: Any
    python_sum: Any
    slice_of_list: Any
    sum_of_generated: Any
    to_complex: Any
    told_of: Any
    reduction: Any
    rounded: Any
    row_of: Any
    search: Any
    require: Any
    require_value: Any
    types_of: Any
    writer: Any

    def of_Call(self, node: ast.Call) -> Item:
        callee = self.callee(node.func)
        if isinstance(callee, Method) and not node.args and not node.keywords:
            if isinstance(callee.owner, Value):
                return self.conjugate(callee.owner)
            if callee.name == "copy":
                return self.copied_row(node, callee.owner)
            return self.reduction(node, callee.name, callee.owner)
        if isinstance(callee, Method) and callee.name == "searchsorted":
            return self.search(node, callee.owner, node.args, node.keywords)
        if isinstance(callee, Method) and callee.name == "dot" and _is_plain(node, 1):
            item = self.operand(node.args[0])
            return self.product(node, callee.owner, item, takes_numbers=True)
        if not isinstance(callee, Library):
            raise Refused(node, "a call of this")
        function = callee.value
        name = getattr(function, "__name__", "")
        if function is number_of:
            self.fail_where(self.condition(node.args[1]))
            return self.operand(node.args[0])
        if function is numpy.searchsorted and node.args:
            row = self.operand(node.args[0])
            return self.search(node, row, node.args[1:], node.keywords)
        if isinstance(function, types.FunctionType):
            return self.inlined(node, function)
        if (written := inlined_for(function)) is not None:
            if not _is_plain(node, written.__code__.co_argcount):
                raise Refused(node, f"these arguments of {name}()")
            return self.inlined_of(node, written, map(self.operand, node.args))
        if isinstance(function, PlainMethod):
            return self.inlined(node, function.function, function.definition)
        if type(function) is functools.partial:
            return self.of_partial(node, function)
        if function is builtins.float and (text := text_in(node)) is not None:
            return self.float_of(node, text)
        if function is builtins.pow and _is_plain(node, 2):
            power = ast.BinOp(node.args[0], ast.Pow(), node.args[1])
            return self.operand(ast.copy_location(power, node))
        drawn = stream_of(real_of(function))
        if drawn is not None:
            return self.draw(node, *drawn)
        generated = generated_in(node)
        if generated is not None and function is builtins.sum:
            return self.sum_of_generated(node, generated)
        if any(function is x for x in MAKERS):
            return self.made(node, function)
        is_of_one = len(node.args) == 1 and any(function is x for x in _OF_LISTS)
        part = self.slice_of_list(node.args[0]) if is_of_one else None
        items: list[Any] = [part] if part is not None else [self.operand(x) for x in node.args]
        if function is numpy.linalg.norm and items and isinstance(items[0], (View, Row)):
            return self.norm(node, items[0], self.order_of_norm(node, items[1:]))
        if node.keywords:
            raise Refused(node, f"a keyword argument of {name}()")
        if function in (builtins.round, numpy.round) and len(items) == 2:
            return self.rounded(node, function, *items)
        if function is builtins.len and len(items) == 1:
            return self.length(node, items[0])
        if function is builtins.ord and len(items) == 1:
            items = [self.character(node, items[0])]
            if isinstance(items[0], Character):
                return self.code_of(items[0])
        if len(items) == 1 and _are_numbers(items[0]):
            if function is builtins.min or function is builtins.max:
                if len(items[0]) == 1:
                    return items[0][0]
                items = [*items[0]]
            if function is builtins.sum:
                return self.sum_of_numbers(node, items[0])
        is_of_list = len(items) == 1 and isinstance(items[0], ListPart)
        if is_of_list and is_of_one:
            return self.all_of_list(node, function, items[0])
        if any(isinstance(x, (View, Row)) for x in items):
            if name in _REDUCTIONS and function is getattr(numpy, name) and len(items) == 1:
                return self.reduction(node, _REDUCTIONS[name], items[0])
            if function in _PRODUCTS and len(items) == 2:
                return self.product(node, *items, takes_numbers=function in _OF_NUMBERS)
            if function is builtins.abs:
                function = numpy.absolute
            if function is builtins.sum and len(items) == 1 and isinstance(items[0], View):
                return self.python_sum(node, items[0])
            is_by_row = function is numpy.power and not isinstance(items[-1], Value)
            if not isinstance(function, numpy.ufunc) or function.nin != len(items) or is_by_row:
                raise Refused(node, f"a call of {name}() with a row")
            return self.elementwise(
                node,
                items,
                lambda v: self.types_of(node, function, *v)[-1],
                lambda v: self.of_ufunc(node, function, v),
                has_complex=function is numpy.conjugate,
            )
        values = [x for x in items if isinstance(x, Value)]
        if len(values) != len(items):
            raise Refused(node, f"these arguments of {name}()")
        return self.of_function(node, function, name, values)

    def sum_of_numbers(self, node: ast.AST, numbers: tuple[Value, ...]) -> Value:
        total: Value = self.literal(node, 0)
        for number in numbers:
            total = self.binary(node, ast.Add(), total, number)
        if total.kind == "float" and sys.version_info >= (3, 12):
            raise Refused(node, "sum() of floats, which Python compensates")
        return total

    def float_of(self, node: ast.AST, text: str) -> Value:
        """float("inf")"""
        try:
            value: Value = self.literal(node, float(text))
        except ValueError:
            raise Refused(node, f"float({text!r})") from None
        return value

    def product(
        self, node: ast.AST, x: Item, y: Item, *, takes_numbers: bool = False
    ) -> Value | Row:
        """x @ y."""
        for item, other in ((x, y), (y, x)):
            if takes_numbers and isinstance(item, (View, Row)) and isinstance(other, Value):
                return self.dot_with_number(node, item, other)
        if not isinstance(x, (View, Row)) or not isinstance(y, (View, Row)):
            raise Refused(node, "a product with a number")
        rows = [self.row_of(node, item) for item in (x, y)]
        if any(len(row.extents) > 1 for row in rows):
            smalls = [self.as_small(node, row) for row in rows]
            if None not in smalls:
                return self.matrix_product(node, *smalls)
        return self.dot(node, *rows)

    def order_of_norm(self, node: ast.Call, items: Sequence[Item]) -> Any:
        """1, 2 or an infinity. Without one a row has the norm of the second order."""
        given = [*items, *(self.operand(word.value) for word in node.keywords)]
        if not given:
            return 2
        order = given[0].literal if isinstance(given[0], Value) else None
        is_order = len(given) == 1 and all(word.arg == "ord" for word in node.keywords)
        if not is_order or order not in (1, 2, math.inf, -math.inf):
            raise Refused(node, "these arguments of norm()")
        return order

    def power(self, node: ast.AST, x: Value, y: Value) -> Value:
        """np.power(), by one number. (`**` of NumPy's numbers is C's pow().)"""
        types_ = self.types_of(node, numpy.power, x, y)
        if types_[0] not in FLOATS:
            if x.dtype == "?" or types_[0] not in INTEGERS:
                raise Refused(node, "power() of such numbers")
            return self.numpy_binary(node, ast.Pow(), x, y)
        for value in (x, y):
            self.in_type(node, value, types_[0])
        self.numpy_floats = True
        base, by = (x, types_[0]), (y, types_[1])
        if not _HAS_SHORTCUTS or y.literal not in (None, 2, 0.5):
            return self.apply("Power", types_[2], base, by, math="NumPy")
        if y.literal == 2:
            return self.apply("Square", types_[2], base)
        if y.literal == 0.5:
            return self.apply("Sqrt", types_[2], base)
        # The root of -0.0, or of -inf, is no power.
        constant, apply = self.writer.constant, self.writer.apply
        is_root = apply("Equal", [self.emit(y, types_[1]), constant(0.5, types_[1])])
        one = constant(1.0, types_[0])
        rooted = apply("Sqrt", [apply("Select", [is_root, self.emit(x, types_[0]), one])])
        raised = apply("Select", [is_root, one, self.emit(x, types_[0])])
        power = self.apply(
            "Power", types_[2], (Value(types_[0], raised), types_[0]), by, math="NumPy"
        )
        return Value(types_[2], apply("Select", [is_root, rooted, power.id]))

    def length(self, node: ast.AST, item: Item) -> Value:
        if isinstance(item, (View, ListPart)):
            view = item.view if isinstance(item, ListPart) else item
            extent: Value = view.spans[0].extent
            return extent
        if isinstance(item, Row):
            return item.extents[0]
        if isinstance(item, tuple):
            return self.literal(node, len(item))
        raise Refused(node, "len() of this")

    def of_ufunc(self, node: ast.AST, function: numpy.ufunc, values: Sequence[Value]) -> Value:
        name = function.__name__
        if function is numpy.power:
            return self.power(node, *values)
        operator = _OPERATORS.get(name)
        is_numeric = not is_complex(*values) and all(v.dtype != "?" for v in values)
        if operator is not None and function is getattr(numpy, name) and is_numeric:
            result: Value = self.numpy_binary(node, operator(), *values)
            return result
        if name not in _UFUNCS or function is not getattr(numpy, name, None):
            raise Refused(node, f"a call of {name}()")
        types_ = self.types_of(node, function, *values)
        if "F" in types_[:-1] or "D" in types_[:-1]:
            if name not in _COMPLEX_UFUNCS or not is_complex(*values):
                raise Refused(node, f"{name}() of complex numbers")
        for value, dtype in zip(values, types_, strict=False):
            self.in_type(node, value, dtype)
        self.numpy_floats = True
        operands = zip(values, types_, strict=False)
        return self.apply(_UFUNCS[name], types_[-1], *operands, math="NumPy")

    def of_function(self, node: ast.AST, function: Any, name: str, values: list[Value]) -> Value:
        of_math = getattr(function, "__module__", "") == "math"
        is_math, is_test = of_math and name in _MATH, of_math and name in _TESTS
        makes_float = function is builtins.float or function in (numpy.float64, numpy.float32)
        if is_math or is_test or makes_float:
            # The same float comes of both kinds.
            values = [without_doubt(v) for v in values]
        of_cmath = getattr(function, "__module__", "") == "cmath"
        if isinstance(function, numpy.ufunc) or of_cmath:
            alike = _INEXACT if _makes_floats(function) else ()
            values = [without_doubt(v) if v.among in (*_ALIKE, *alike) else v for v in values]
        if function in _WHOLE:
            values = [without_doubt(v) if kinds_of(v) <= WHOLE else v for v in values]
        if function in (builtins.min, builtins.max) and len(values) >= 2:
            result = values[0]
            for value in values[1:]:
                result = self.extreme(node, name, result, value)
            first = node.args[0] if isinstance(node, ast.Call) else None
            if isinstance(first, ast.Name) and len(values) == 2:
                result.second = first.id, kinds_of(values[1])
            return result
        if function is builtins.complex:
            return self.to_complex(node, values)
        if function is numpy.clip and len(values) == 3:
            return self.clipped(node, *values)
        if function is numpy.round and len(values) == 1:
            return self.rounded(node, function, values[0], self.literal(node, 0))
        if function is builtins.abs and len(values) == 1 and is_complex(values[0]):
            return self.complex_absolute(node, values[0])
        if function is builtins.abs and len(values) == 1 and values[0].mixed:
            return self.doubtful_unary(node, "Absolute", values[0])
        if function is numpy.absolute and [v.among for v in values] == [{"int", "d"}]:
            self.numpy_floats = True
            value = self.doubtful_unary(node, "Absolute", values[0])
            value.among = frozenset({"l", "d"})
            return value
        if any(v.mixed for v in values):
            raise Refused(node, "a call with a number that may be of two types")
        if of_cmath:
            return self.of_cmath(node, name, values)
        if function is numpy.exp and len(values) == 1 and is_complex(values[0]):
            self.numpy_floats = True
            return self.complex_exp(node, values[0], "F" if values[0].kind == "F" else "D")
        if function in (numpy.real, numpy.imag) and len(values) == 1:
            return self.number_attribute(node, values[0], name)
        if function is builtins.abs and len(values) == 1:
            return self.absolute(node, values[0])
        if makes_float and len(values) == 1 and not is_complex(values[0]):
            value = self.to_float(node, values[0])
            if function is builtins.float:
                return value
            self.numpy_floats = True
            kind = numpy.dtype(function).char
            return Value(kind, self.emit(value, kind))
        if function is math.trunc and not all(v.is_python or v.kind == "d" for v in values):
            raise Refused(node, "a call of trunc() with a number that does not know it")
        if function is math.isqrt and len(values) == 1 and values[0].kind in ("int", *INTEGERS):
            return self.whole_root(node, values[0])
        if function in _INTEGER_TYPES and len(values) == 1:
            return self.sized_integer(node, values[0], _INTEGER_TYPES[function])
        if function in _WHOLE and len(values) == 1:
            return self.whole_part(node, values[0], _WHOLE[function])
        arity = 2 if name in ("atan2", "hypot", "pow", "fmod", "copysign") else 1
        if is_math and len(values) == arity:
            inputs = [self.to_float(node, x) for x in values]
            math_ = "" if name in _OF_PYTHON else "C"
            value = self.apply(_MATH[name], "float", *((x, "d") for x in inputs), math=math_)
            self.fail_outside(name, inputs, value)
            return value
        if is_test and len(values) == 1:
            return self.apply(_TESTS[name], "bool", (self.to_float(node, values[0]), "d"))
        if isinstance(function, numpy.ufunc) and function.nin == len(values):
            return self.of_ufunc(node, function, values)
        raise Refused(node, f"a call of {name or 'this'}()")

    def whole_part(self, node: ast.AST, x: Value, op: str | None) -> Value:
        """int() and the like: of a float that is not too large; else the nest is Python's."""
        if x.kind in ("int", "bool"):
            return self.plain_int(x)
        if x.kind == "?" and op is None:  # trunc() was refused
            return self.plain_int(Value("bool", self.emit(x, "?")))
        if x.kind in INTEGERS and not x.mixed:
            x = self.integer_of(node, x)
            return Value("int", x.id, form=x.form)
        if x.dtype not in FLOATS:
            raise Refused(node, "a whole number of this")
        real = self.emit(x, "d")
        if op is not None:
            real = self.writer.apply(op, [real])
        held = self.held_within(real, -MOST_WHOLE, MOST_WHOLE)
        return Value("int", held, form=self.loose_form(-MOST_WHOLE, MOST_WHOLE))

    def held_within(self, real: int, least: int, most: int) -> int:
        """The whole part of a float; where that leaves the bounds the nest is Python's."""
        apply, constant = self.writer.apply, self.writer.constant
        low = apply("LessEqual", [constant(float(least), "d"), real])
        high = apply("LessEqual", [real, constant(float(most), "d")])
        fits = apply("LogicalAnd", [low, high])
        self.fail_where(apply("LogicalNot", [fits]))
        held = apply("Select", [fits, real, constant(0.0, "d")])
        whole: int = self.writer.cast(held, "l")
        return whole

    def sized_integer(self, node: ast.AST, x: Value, code: str) -> Value:
        """np.int32() and the like: NumPy's integers wrap, others that do not fit are Python's."""
        limits = numpy.iinfo(code)
        if x.kind == "?" or x.kind in INTEGERS and not x.mixed:
            return Value(code, self.writer.cast(self.emit(x, x.dtype), code))
        if x.kind in ("int", "bool"):
            x = self.integer_of(node, self.plain_int(x))
            self.require_value(x, max(limits.min, LEAST), min(limits.max, LARGEST))
            return Value(code, self.writer.cast(self.emit(x, "l"), code))
        if x.dtype not in FLOATS:
            raise Refused(node, "an integer of this")
        real = self.writer.apply("Trunc", [self.emit(x, "d")])
        held = self.held_within(real, max(limits.min, -MOST_WHOLE), min(limits.max, MOST_WHOLE))
        return Value(code, self.writer.cast(held, code))

    def whole_root(self, node: ast.AST, x: Value) -> Value:
        """math.isqrt(): below 2**52 it is the whole part of the root, which is rounded to none."""
        x = self.integer_of(node, x)
        self.require_value(x, 0, 2**52 - 1)
        root = self.writer.apply("Sqrt", [self.emit(x, "d")], "C")
        return Value("int", self.writer.cast(root, "l"), form=self.loose_form(0, 2**26))

    def to_float(self, node: ast.AST, value: Value) -> Value:
        if value.kind in ("int", *INTEGERS) and value.literal is None:
            if value.kind not in "bBhHiI":
                if value.form is None and not value.mixed:
                    value = self.loosened(value)
                if value.form is None:
                    raise Refused(node, "an integer without bounds")
                if self.is_loose(value.form):
                    self.fail_outside_of(value, -(2**53), 2**53)
                    return Value("float", self.emit(value, "d"))
                for form, least, most in (*value.needs, (value.form, -(2**53), 2**53)):
                    self.require(form, least, most)
        return Value("float", self.emit(value, "d"))

    def absolute(self, node: ast.AST, x: Value) -> Value:
        x = self.plain_int(x)
        if x.literal is not None:
            return self.literal(node, abs(x.literal))
        if x.dtype == "?":
            raise Refused(node, "abs() of this type")
        value = self.apply("Absolute", x.kind, (x, x.dtype))
        if x.kind == "int" and x.form is not None:
            ends = [x.form, x.form.times(-1), Form()]
            value.form = self.forms.symbol(Symbol(low=[Form()], high=ends, widest_high=True))
        return value

    def extreme(self, node: ast.AST, name: str, x: Value, y: Value) -> Value:
        """min() and max(): the first one, unless the other one is smaller or greater."""
        kind, among = self.join(node, x, y)
        holder = Value(kind)
        if holder.dtype in "?FD":
            raise Refused(node, f"{name}() of booleans, or of complex numbers")
        if holder.dtype in INTEGERS:
            op = "Maximum" if name == "max" else "Minimum"
            value = self.apply(op, kind, (x, holder.dtype), (y, holder.dtype))
            value.among = among
            codes = (self.told_of(x), self.told_of(y)) if among else (None, None)
            if None not in codes:
                takes = "Greater" if name == "max" else "Less"
                second = self.writer.apply(takes, [self.emit(v, holder.dtype) for v in (y, x)])
                value.told = self.writer.apply("Select", [second, codes[1], codes[0]])
            if x.form is not None and y.form is not None:
                ends = self.forms.larger if name == "max" else self.forms.smaller
                value.form = ends([x.form, y.form])
                self.note_loose(value.form, x.form, y.form)
                value.needs = (*x.needs, *y.needs)
            return value
        a, b = self.emit(x, holder.dtype), self.emit(y, holder.dtype)
        takes = self.writer.apply("Greater" if name == "max" else "Less", [b, a])
        return self.one_of(node, takes, y, x)


def _makes_floats(function: Any) -> bool:
    """Whether a ufunc of one number makes of an integer what it makes of the float."""
    is_unary = isinstance(function, numpy.ufunc) and function.nin == 1
    return is_unary and not any(types_.startswith("l->") for types_ in function.types)


def _are_numbers(item: Any) -> bool:
    """Whether it is a tuple or list of numbers that is written out."""
    return isinstance(item, tuple) and bool(item) and all(isinstance(x, Value) for x in item)


def _is_plain(node: ast.Call, arguments: int) -> bool:
    return len(node.args) == arguments and not node.keywords
