"""expressions.py: expressions of a nest: Python's numbers by its rules, NumPy's by NumPy's."""

from __future__ import annotations

import ast
import builtins
import math
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from frit.loops.doubt import kinds_of, without_doubt
from frit.loops.forms import LARGEST, Form, Forms, Symbol
from frit.loops.inline import numpys_own
from frit.loops.values import (
    DTYPES,
    FLOATS,
    INTEGERS,
    LIMITS,
    Item,
    Library,
    Method,
    Refused,
    Row,
    Value,
    View,
)

_BINARY: dict[type[ast.operator], tuple[str, numpy.ufunc]] = {
    ast.Add: ("Add", numpy.add),
    ast.Sub: ("Subtract", numpy.subtract),
    ast.Mult: ("Multiply", numpy.multiply),
    ast.Div: ("TrueDivide", numpy.true_divide),
    ast.FloorDiv: ("FloorDivide", numpy.floor_divide),
    ast.Mod: ("Remainder", numpy.remainder),
    ast.Pow: ("Power", numpy.power),
    ast.BitAnd: ("BitwiseAnd", numpy.bitwise_and),
    ast.BitOr: ("BitwiseOr", numpy.bitwise_or),
    ast.BitXor: ("BitwiseXor", numpy.bitwise_xor),
    ast.LShift: ("LeftShift", numpy.left_shift),
    ast.RShift: ("RightShift", numpy.right_shift),
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "Equal",
    ast.NotEq: "NotEqual",
    ast.Lt: "Less",
    ast.LtE: "LessEqual",
    ast.Gt: "Greater",
    ast.GtE: "GreaterEqual",
}
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
}
# Functions of math that give a float, and the op of each. They raise where a flag is raised.
_MATH = {
    "sqrt": "Sqrt",
    "exp": "Exp",
    "log": "Log",
    "sin": "Sin",
    "cos": "Cos",
    "tan": "Tan",
    "tanh": "Tanh",
    "atan": "Arctan",
    "fabs": "Fabs",
    "erf": "Erf",
    "log2": "Log2",
    "log10": "Log10",
    "log1p": "Log1p",
    "expm1": "Expm1",
    "exp2": "Exp2",
    "cbrt": "Cbrt",
    "asin": "Arcsin",
    "acos": "Arccos",
    "sinh": "Sinh",
    "cosh": "Cosh",
    "asinh": "Arcsinh",
    "acosh": "Arccosh",
    "atanh": "Arctanh",
    "atan2": "Arctan2",
    "hypot": "Hypot",
    "pow": "Power",
    "fmod": "Fmod",
    "copysign": "Copysign",
}
_TESTS = {"isnan": "Isnan", "isinf": "Isinf", "isfinite": "Isfinite"}
# Functions that give an int of a float, and the op before the cast.
_WHOLE = {int: None, round: "Rint", math.floor: "Floor", math.ceil: "Ceil", math.trunc: None}
_UFUNCS = {
    **{n: _MATH[n] for n in ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "fabs")},
    "arctan": "Arctan",
    "log2": "Log2",
    "log10": "Log10",
    "log1p": "Log1p",
    "expm1": "Expm1",
    "exp2": "Exp2",
    "cbrt": "Cbrt",
    "arcsin": "Arcsin",
    "arccos": "Arccos",
    "sinh": "Sinh",
    "cosh": "Cosh",
    "square": "Square",
    "floor": "Floor",
    "ceil": "Ceil",
    "rint": "Rint",
    "absolute": "Absolute",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "fmax": "Fmax",
    "fmin": "Fmin",
    "hypot": "Hypot",
    "arctan2": "Arctan2",
}
_REDUCTIONS = {
    "sum": "sum",
    "mean": "mean",
    "max": "max",
    "min": "min",
    "amax": "max",
    "amin": "min",
}
NUMBERS = (int, float, bool)
ONE = Form((), 1)


class Expressions:
    """Mixed into NestWriter."""

    writer: Any
    forms: Forms
    arrays: dict[str, View]
    env: dict[str, Any]
    bound: dict[str, Any]
    locals: dict[str, int]
    narrowed: dict[int, str]
    loose: set[int]
    truth_kinds: set[str] | None
    surroundings: dict[str, Any]
    conditions: list[Callable[[], list[str]]]
    require: Any
    require_text: Any
    read_variable: Any
    part: Any
    load: Any
    elementwise: Any
    row_binary: Any
    reduction: Any
    fail_outside_of: Any
    end_whiles_where: Any
    python_sum: Any
    inlined: Any
    note_module: Any
    frames: list[Any]
    join: Any
    settled: Any
    one_of: Any
    doubtful_binary: Any
    doubtful_comparison: Any
    doubtful_unary: Any
    assign_variable: Any
    choose: Any
    failures: int | None
    numpy_floats: bool

    # ---- values ---------------------------------------------------------------------------------

    def emit(self, value: Value, dtype: str) -> int:
        """The writer's value, in the type."""
        if value.id is None:
            literal = value.literal
            plain: Any = int(literal) if dtype in INTEGERS else literal
            if dtype in FLOATS:
                plain = float(literal)
            return self.writer.constant(bool(literal) if dtype == "?" else plain, dtype)
        return value.id if value.dtype == dtype else self.writer.cast(value.id, dtype)

    def apply(self, op: str, kind: str, *operands: tuple[Value, str]) -> Value:
        id = self.writer.apply(op, [self.emit(value, dtype) for value, dtype in operands])
        if self.writer.type_of(id) != DTYPES.get(kind, kind):
            raise Refused(None, f"{op} of these types")
        return Value(kind, id)

    def literal(self, node: ast.AST, value: Any) -> Value:
        if type(value) is bool:
            return Value("bool", literal=value)
        if type(value) is int and abs(value) <= LARGEST:
            return Value("int", literal=value, form=Form((), value))
        if type(value) is float:
            return Value("float", literal=value)
        raise Refused(node, f"the constant {value!r}")

    def is_loose(self, *forms: Form | None) -> bool:
        """Whether only the nest knows the number."""
        return any(symbol in self.loose for form in forms if form for symbol, _ in form.terms)

    def require_value(self, value: Value, low: int, high: int) -> None:
        """The int is within these bounds: the guard asks, or else the nest fails where it isn't."""
        if value.literal is None and self.is_loose(value.form):
            self.fail_outside_of(value, low, high)
        else:
            self.require(value.form, low, high)

    def checked(self, value: Value, *operands: Value) -> Value:
        """An int that stays within 64 bits."""
        assert value.form is not None
        if self.is_loose(value.form, *(x.form for x in operands)):
            # The operands are within LARGEST, so that a sum does not wrap unseen.
            for operand in operands:
                self.require_moderate(operand)
            self.fail_outside_of(value, -LARGEST, LARGEST)
            value.form = self.loose_form(-LARGEST, LARGEST)
            return value
        reach = self.forms.reach(value.form)
        if reach is None or reach > LARGEST:
            self.require(value.form, -LARGEST, LARGEST)
        return value

    def require_moderate(self, value: Value) -> None:
        """Loose ones are within LARGEST; the guard asks of others where that is not certain."""
        if value.literal is None and value.form is not None and not self.is_loose(value.form):
            reach = self.forms.reach(value.form)
            if reach is None or reach > LARGEST:
                self.require(value.form, -LARGEST, LARGEST)

    def loose_form(self, low: int, high: int) -> Form:
        form = self.forms.between(low, high)
        self.loose.add(form.terms[0][0])
        return form

    def fail_if_product_is_large(self, x: Value, y: Value) -> None:
        apply = self.writer.apply
        product = apply("Multiply", [self.emit(x, "d"), self.emit(y, "d")])
        small = apply(
            "LessEqual", [apply("Absolute", [product]), self.writer.constant(2.0**61, "d")]
        )
        self.fail_where(apply("LogicalNot", [small]))

    def plain_int(self, value: Value) -> Value:
        if value.kind == "bool":
            form = self.forms.between(0, 1)
            if value.id is None:
                return self.literal(ast.Pass(), int(value.literal))
            return Value("int", self.writer.cast(value.id, "l"), form=form)
        return value

    def operand(self, node: ast.expr) -> Item:
        method = getattr(self, "of_" + type(node).__name__, None)
        if method is None:
            raise Refused(node, f"an expression: {type(node).__name__}")
        return method(node)

    def number(self, node: ast.expr) -> Value:
        value = self.operand(node)
        if not isinstance(value, Value):
            is_row = isinstance(value, (View, Row))
            raise Refused(node, "a row as a number" if is_row else "this as a number")
        return value

    def integer(self, node: ast.expr) -> Value:
        """An index or bound, which the guard can bound."""
        return self.integer_of(node, self.number(node))

    def integer_of(self, node: ast.AST, value: Value) -> Value:
        if value.form is None or value.kind not in ("int", *INTEGERS):
            raise Refused(node, "an index or bound that the guard can't bound")
        for form, least, most in value.needs:
            self.require(form, least, most)
        if value.kind == "L":
            self.require(value.form, 0, LARGEST)
        if value.kind != "int":
            id = self.emit(value, "l")
            return (
                Value(value.kind, id, form=value.form)
                if value.kind == "l"
                else Value("int", id, form=value.form)
            )
        return value

    # ---- names ----------------------------------------------------------------------------------

    def of_Constant(self, node: ast.Constant) -> Value:
        return self.literal(node, node.value)

    def of_Name(self, node: ast.Name) -> Any:
        if node.id in self.arrays:
            return self.arrays[node.id]
        if node.id in self.surroundings:
            value = self.surroundings[node.id]
            return self.literal(node, value) if type(value) in NUMBERS else Library(value)
        return self.read_variable(node, node.id)

    def of_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.operand(x) for x in node.elts)

    def of_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.operand(node.value)
        if isinstance(owner, (View, Row)):
            extents = owner.extents if isinstance(owner, Row) else [x.extent for x in owner.spans]
            if node.attr == "shape":
                return tuple(extents)
            if node.attr == "ndim":
                return self.literal(node, len(extents))
            if node.attr == "size":
                size = extents[0]
                for extent in extents[1:]:
                    size = self.python_binary(node, ast.Mult(), size, extent)
                return size
            return Method(owner, node.attr)
        if isinstance(owner, Library) and isinstance(owner.value, types.ModuleType):
            value = getattr(owner.value, node.attr, None)
            self.note_module(owner.value, node.attr, value)
            if type(value) in NUMBERS:
                return self.literal(node, value)
            if value is not None:
                return Library(numpys_own(value))
        raise Refused(node, f"the attribute {node.attr}")

    def callee(self, node: ast.expr) -> Any:
        return self.operand(node) if isinstance(node, (ast.Name, ast.Attribute)) else None

    def of_Subscript(self, node: ast.Subscript) -> Any:
        owner = self.operand(node.value)
        if isinstance(owner, tuple):
            number = self.number(node.slice).literal
            if type(number) is int and -len(owner) <= number < len(owner):
                return owner[number]
            raise Refused(node, "an element of a tuple")
        if not isinstance(owner, View) or not owner.spans:
            raise Refused(node, "an element of something else than an array")
        view = self.part(node, owner)
        return view if view.spans else self.load(node, view)

    # ---- operators ------------------------------------------------------------------------------

    def of_BinOp(self, node: ast.BinOp) -> Value | Row:
        x, y = self.operand(node.left), self.operand(node.right)
        if isinstance(x, Value) and isinstance(y, Value):
            return self.binary(node, node.op, x, y)
        for item in (x, y):
            if not isinstance(item, (Value, View, Row)):
                raise Refused(node, "this as a number")
        return self.row_binary(node, node.op, x, y)

    def binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> Value:
        if x.mixed or y.mixed:
            x, y = self.settled(node, x, y)
            if x.mixed or y.mixed:
                return self.doubtful_binary(node, op, x, y)
        if x.is_python and y.is_python:
            return self.python_binary(node, op, self.plain_int(x), self.plain_int(y))
        return self.numpy_binary(node, op, x, y)

    def python_binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> Value:
        if x.kind == "int" and y.kind == "int":
            return self.int_binary(node, op, x, y)
        return self.float_binary(node, op, x, y)

    def int_binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> Value:
        if x.form is None or y.form is None:
            raise Refused(node, "an integer without bounds")
        kind, forms = type(op), self.forms
        if x.literal is not None and y.literal is not None:
            return self.folded(node, op, x.literal, y.literal)
        pair = (x, "l"), (y, "l")
        if kind is ast.Add or kind is ast.Sub:
            value = self.apply(_BINARY[kind][0], "int", *pair)
            value.form = x.form + y.form if kind is ast.Add else x.form - y.form
        elif kind is ast.Mult:
            value = self.apply("Multiply", "int", *pair)
            if self.is_loose(x.form, y.form):
                self.fail_if_product_is_large(x, y)
            value.form = forms.product(x.form, y.form)
        elif kind is ast.FloorDiv or kind is ast.Mod:
            self.require_value(y, 1, LARGEST)
            value = self.apply(_BINARY[kind][0], "int", *pair)
            divided = forms.divided if kind is ast.FloorDiv else forms.remainder
            value.form = divided(x.form, y.form)
        elif kind is ast.Pow:
            return self.int_power(node, x, y)
        elif kind in (ast.BitAnd, ast.BitOr, ast.BitXor):
            self.require(x.form, 0, None)
            self.require(y.form, 0, None)
            value = self.apply(_BINARY[kind][0], "int", *pair)
            high = [x.form, y.form] if kind is ast.BitAnd else [x.form + y.form]
            value.form = forms.symbol(Symbol(low=[Form()], high=high))
        elif kind is ast.LShift or kind is ast.RShift:
            if kind is ast.LShift and self.is_loose(x.form, y.form):
                raise Refused(node, "a shift of an integer without bounds")
            self.require_value(y, 0, 62)
            value = self.apply(_BINARY[kind][0], "int", *pair)
            value.form = forms.shifted(x.form, y.form, "<<" if kind is ast.LShift else ">>")
        elif kind is ast.Div:
            self.require_value(y, 1, 2**53)
            self.require_value(x, -(2**53), 2**53)
            return self.apply("TrueDivide", "float", (x, "d"), (y, "d"))
        else:
            raise Refused(node, f"{kind.__name__} of integers of Python's")
        return self.checked(value, x, y)

    def int_power(self, node: ast.AST, x: Value, y: Value) -> Value:
        if x.literal == 2 and y.literal is None:
            return self.int_binary(node, ast.LShift(), self.literal(node, 1), y)
        if y.literal is None or y.literal > 64:
            raise Refused(node, "a power of integers that is no small constant")
        if y.literal < 0:
            return self.float_binary(node, ast.Pow(), x, y)
        value = self.literal(node, 1)
        for _ in range(y.literal):
            value = x if value.literal == 1 else self.int_binary(node, ast.Mult(), value, x)
        return value

    def folded(self, node: ast.AST, op: ast.operator, x: Any, y: Any) -> Value:
        tree = ast.Expression(ast.BinOp(ast.Constant(x), op, ast.Constant(y)))
        if isinstance(op, (ast.LShift, ast.Pow)) and not (abs(x) < 2**16 and 0 <= y < 64):
            raise Refused(node, "a large constant")
        try:
            code = compile(ast.fix_missing_locations(tree), "<constant>", "eval")
            return self.literal(node, eval(code))
        except (ArithmeticError, ValueError, TypeError):
            raise Refused(node, "an operation that fails") from None

    def float_binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> Value:
        if x.literal is not None and y.literal is not None:
            return self.folded(node, op, x.literal, y.literal)
        for value in (x, y):
            if value.kind == "int" and value.literal is None:
                self.require_value(value, -(2**53), 2**53)
        kind = type(op)
        pair = (x, "d"), (y, "d")
        if kind in (ast.Add, ast.Sub, ast.Mult):
            return self.apply(_BINARY[kind][0], "float", *pair)
        if kind in (ast.Div, ast.FloorDiv, ast.Mod):
            self.require_nonzero(y)
            return self.apply(_BINARY[kind][0], "float", *pair)
        if kind is ast.Pow:
            value = self.apply("Power", "float", *pair)
            base, power = self.emit(x, "d"), self.emit(y, "d")
            self.fail_if_new(value, x, y)
            if y.literal is None or y.literal != int(y.literal):
                # A negative number to a power that is not whole is complex.
                negative = self.writer.apply("Less", [base, self.writer.constant(0.0, "d")])
                whole = self.writer.apply("Equal", [self.writer.apply("Floor", [power]), power])
                broken = self.writer.apply("LogicalNot", [whole])
                self.fail_where(self.writer.apply("LogicalAnd", [negative, broken]))
            return value
        raise Refused(node, f"{kind.__name__} of floats of Python's")

    def require_nonzero(self, value: Value) -> None:
        """ZeroDivisionError, where the guard can't tell, is found while the nest runs."""
        if value.literal is not None and value.literal != 0:
            return
        if value.argument is not None:
            self.require_text(f"{value.argument} != 0")
            return
        zero = self.writer.constant(0.0, "d")
        self.fail_where(self.writer.apply("Equal", [self.emit(value, "d"), zero]))

    def fail_where(self, condition: int) -> None:
        """Python raises an error there: the nest is undone, and run as Python.

        Until then it goes on with any numbers, so the Whiles around it end.
        """
        self.end_whiles_where(condition)
        if self.failures is None:
            self.failures = self.writer.local("l")
        old = self.writer.read_local(self.failures)
        sum_ = self.writer.apply("Add", [old, self.writer.cast(condition, "l")])
        self.writer.write_local(self.failures, sum_)

    def fail_if_new(self, result: Value, *inputs: Value) -> None:
        """Python raises an error where NaN comes of numbers, or infinity of finite numbers."""
        apply = self.writer.apply
        ids = [self.emit(x, "d") for x in inputs if x.literal is None]
        if not ids:
            return
        id = self.emit(result, "d")
        was_nan, was_finite = apply("Isnan", [ids[0]]), apply("Isfinite", [ids[0]])
        for other in ids[1:]:
            was_nan = apply("LogicalOr", [was_nan, apply("Isnan", [other])])
            was_finite = apply("LogicalAnd", [was_finite, apply("Isfinite", [other])])
        new_nan = apply("LogicalAnd", [apply("Isnan", [id]), apply("LogicalNot", [was_nan])])
        new_infinity = apply("LogicalAnd", [apply("Isinf", [id]), was_finite])
        self.fail_where(apply("LogicalOr", [new_nan, new_infinity]))

    def fail_outside(self, name: str, inputs: Sequence[Value], result: Value) -> None:
        """math.name(..) raises ValueError or OverflowError."""
        apply, zero = self.writer.apply, self.writer.constant(0.0, "d")
        x = self.emit(inputs[0], "d")
        if name == "sqrt":
            self.fail_where(apply("Less", [x, zero]))
        elif name == "log":
            self.fail_where(apply("LessEqual", [x, zero]))
        elif name in ("sin", "cos", "tan"):
            self.fail_where(apply("Isinf", [x]))
        elif name == "exp":
            finite = apply("Isfinite", [x])
            infinite = apply("Isinf", [self.emit(result, "d")])
            self.fail_where(apply("LogicalAnd", [finite, infinite]))
        elif name not in ("fabs", "atan", "tanh", "erf", "atan2", "copysign", "cbrt", "asinh"):
            self.fail_if_new(result, *inputs)

    def weak(self, value: Value) -> Any:
        """What NumPy's rules of promotion take."""
        return {"int": int, "float": float}.get(value.kind) or numpy.dtype(value.dtype)

    def types_of(self, node: ast.AST, ufunc: numpy.ufunc, *values: Value) -> list[str]:
        try:
            found = ufunc.resolve_dtypes((*(self.weak(v) for v in values), None))
        except TypeError:
            raise Refused(node, f"{ufunc.__name__} of these types") from None
        return [{"q": "l", "Q": "L"}.get(d.char, d.char) for d in found]

    def in_type(self, node: ast.AST, value: Value, dtype: str) -> None:
        """A Python integer must fit the NumPy type that it becomes."""
        if value.kind != "int":
            return
        if dtype in INTEGERS:
            low, high = LIMITS[dtype]
            if value.literal is not None:
                if not low <= value.literal <= high:
                    raise Refused(node, f"{value.literal} does not fit")
            elif dtype != "l":
                self.require(value.form, low, min(high, LARGEST))
        elif value.literal is None:
            self.require_value(value, -(2**53), 2**53)

    def types_of_binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> list[str]:
        kind = type(op)
        if kind not in _BINARY:
            raise Refused(node, f"{kind.__name__} of NumPy's numbers")
        if x.dtype == "?" and y.dtype in "?l" and (x.dtype == y.dtype or y.kind == "int"):
            if kind not in (ast.BitAnd, ast.BitOr, ast.BitXor):
                raise Refused(node, "arithmetic of booleans of NumPy's")
        return self.types_of(node, _BINARY[kind][1], x, y)

    def kind_of_binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> str:
        return self.types_of_binary(node, op, x, y)[2]

    def numpy_binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> Value:
        types_ = self.types_of_binary(node, op, x, y)
        kind, name = type(op), _BINARY[type(op)][0]
        self.in_type(node, x, types_[0])
        self.in_type(node, y, types_[1])
        self.numpy_floats = (
            self.numpy_floats
            or types_[0] in FLOATS
            or name
            in (
                "FloorDivide",
                "Remainder",
            )
        )
        if kind is ast.Pow:
            if types_[0] in INTEGERS and not (y.kind == "int" and y.literal in range(64)):
                raise Refused(node, "an integer to a power that is no constant")
            if y.literal == 2 and types_[0] in INTEGERS:
                return self.apply("Multiply", types_[2], (x, types_[0]), (x, types_[0]))
        value = self.apply(name, types_[2], (x, types_[0]), (y, types_[1]))
        if types_[2] in INTEGERS and x.form is not None and y.form is not None:
            form = None
            if kind is ast.Add or kind is ast.Sub:
                form = x.form + y.form if kind is ast.Add else x.form - y.form
            elif kind is ast.Mult:
                form = self.forms.product(x.form, y.form)
            elif kind in (ast.FloorDiv, ast.Mod) and y.literal is not None and y.literal > 0:
                divided = self.forms.divided if kind is ast.FloorDiv else self.forms.remainder
                form = divided(x.form, y.form)
            if form is not None:
                value.form = form
                value.needs = (*x.needs, *y.needs, (form, *LIMITS[types_[2]]))
        return value

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value | Row:
        if isinstance(node.op, ast.Not):
            return Value("bool", self.writer.apply("LogicalNot", [self.condition(node.operand)]))
        x = self.operand(node.operand)
        if isinstance(x, (View, Row)):
            return self.elementwise(
                node, [x], lambda v: v[0].kind, lambda v: self.unary(node, node.op, v[0])
            )
        if not isinstance(x, Value):
            raise Refused(node, "this as a number")
        return self.unary(node, node.op, x)

    def unary(self, node: ast.AST, op: ast.unaryop, x: Value) -> Value:
        if x.mixed and isinstance(op, ast.USub):
            return self.doubtful_unary(node, "Negative", x)
        if isinstance(op, ast.USub):
            x = self.plain_int(x)
            if x.literal is not None:
                return self.literal(node, -x.literal)
            if x.dtype == "?" or x.kind in "BHIL":
                raise Refused(node, "- of this type")
            value = self.apply("Negative", x.kind, (x, x.dtype))
            if x.form is not None:
                value.form = x.form.times(-1)
                limits = LIMITS.get(x.kind)
                value.needs = (*x.needs, *([(value.form, *limits)] if limits else []))
            return value
        if isinstance(op, ast.UAdd) and x.dtype != "?":
            return x
        raise Refused(node, "this operator")

    # ---- conditions -----------------------------------------------------------------------------

    def truth_id(self, value: Value) -> int:
        if value.dtype == "?":
            return self.emit(value, "?")
        zero = Value("int", literal=0, form=Form())
        return self.writer.apply(
            "NotEqual", [self.emit(value, value.dtype), self.emit(zero, value.dtype)]
        )

    def condition(self, node: ast.expr) -> int:
        """The truth of an expression."""
        if isinstance(node, ast.BoolOp):
            return self.all_or_any(node)
        kinds, self.truth_kinds = self.truth_kinds, None
        value = self.number(node)
        self.truth_kinds = kinds
        if kinds is not None:
            kinds |= kinds_of(value)
        return self.truth_id(value)

    def all_or_any(self, node: ast.BoolOp) -> int:
        is_and = isinstance(node.op, ast.And)
        result = self.condition(node.values[0])
        for k, part in enumerate(node.values[1:], 1):
            if not any(isinstance(n, (ast.Subscript, ast.Call, ast.Div)) for n in ast.walk(part)):
                name = "LogicalAnd" if is_and else "LogicalOr"
                result = self.writer.apply(name, [result, self.condition(part)])
                continue
            # The rest is only computed where it decides.
            place = self.writer.local("?")
            self.writer.write_local(place, result)
            rest = node.values[k:]
            others = (
                rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(node.op, rest), part)
            )
            decides = result if is_and else self.writer.apply("LogicalNot", [result])

            def decide(others: ast.expr = others, k: int = k, place: int = place) -> None:
                env = dict(self.env)
                for known in node.values[:k]:
                    self.refine(known, is_and)
                self.writer.write_local(place, self.condition(others))
                self.env = env

            self.writer.branch(decides, decide, None)
            return self.writer.read_local(place)
        return result

    def of_BoolOp(self, node: ast.BoolOp) -> Value:
        kinds: set[str] = set()
        outer, self.truth_kinds = self.truth_kinds, kinds
        id = self.all_or_any(node)
        self.truth_kinds = outer
        if kinds - {"bool", "?"}:
            raise Refused(node, "the value of 'and' or 'or' of numbers")
        among = frozenset(kinds) if len(kinds) > 1 else frozenset()
        return Value("?" if "?" in kinds else "bool", id, among=among)

    def of_Compare(self, node: ast.Compare) -> Value:
        left = self.number(node.left)
        result: Value | None = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.number(right_node)
            one = self.compare(node, op, left, right)
            if result is None:
                result = one
            elif result.kind != one.kind:
                raise Refused(node, "a chain of comparisons of several types")
            else:
                among = result.among | one.among
                result = self.apply("LogicalAnd", one.kind, (result, "?"), (one, "?"))
                result.among = among
            left = right
        assert result is not None
        return result

    def compare(self, node: ast.AST, op: ast.cmpop, x: Value, y: Value) -> Value:
        name = _COMPARE.get(type(op))
        if name is None:
            raise Refused(node, "this comparison")
        if x.mixed or y.mixed:
            x, y = self.settled(node, x, y)
            if x.mixed or y.mixed:
                return self.doubtful_comparison(node, name, x, y)
        if x.is_python and y.is_python:
            x, y = self.plain_int(x), self.plain_int(y)
            if x.kind == y.kind == "int":
                return self.apply(name, "bool", (x, "l"), (y, "l"))
            for value in (x, y):
                if value.kind == "int" and value.literal is None:
                    self.require_value(value, -(2**53), 2**53)
            return self.apply(name, "bool", (x, "d"), (y, "d"))
        if {x.dtype, y.dtype} & {"L"} and x.kind != y.kind:
            raise Refused(node, "a comparison of uint64 with another type")
        types_ = self.types_of(node, numpy.less, x, y)
        self.in_type(node, x, types_[0])
        self.in_type(node, y, types_[1])
        return self.apply(name, "?", (x, types_[0]), (y, types_[1]))

    def refine(self, node: ast.expr, holds: bool) -> None:
        """What a condition says of the indices that it names holds inside of its branch."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) == holds:
            for part in node.values:
                self.refine(part, holds)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.refine(node.operand, not holds)
        if not isinstance(node, ast.Compare) or (len(node.ops) > 1 and not holds):
            return
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            kind = type(op) if holds else _OPPOSITE.get(type(op))
            if kind is not None:
                self.refine_name(left, kind, right)
                if kind in _TURNED:
                    self.refine_name(right, _TURNED[kind], left)
            left = right

    def refine_name(self, node: ast.expr, kind: type[ast.cmpop], other: ast.expr) -> None:
        value = self.env.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Name) and value is None and node.id in self.locals:
            if node.id in self.bound:
                value = self.read_variable(node, node.id)
        if (
            not isinstance(value, Value)
            or value.kind != "int"
            or value.form is None
            or value.id is None
        ):
            return
        bound = self.form_of(other)
        if bound is None:
            return
        low, high = [value.form], [value.form]
        if kind in (ast.Lt, ast.LtE, ast.Eq):
            high.append(bound - ONE if kind is ast.Lt else bound)
        if kind in (ast.Gt, ast.GtE, ast.Eq):
            low.append(bound + ONE if kind is ast.Gt else bound)
        form = self.forms.symbol(Symbol(low=low, high=high))
        assert isinstance(node, ast.Name)
        if self.is_loose(value.form, bound):
            self.loose.add(form.terms[0][0])
        if node.id in self.locals:
            self.narrowed[form.terms[0][0]] = node.id
        self.env[node.id] = Value("int", value.id, form=form)

    def form_of(self, node: ast.expr) -> Form | None:
        """The form of a simple expression of Python's integers, without writing anything."""
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return Form((), node.value)
        if isinstance(node, ast.Name) and node.id in self.env:
            value = self.env[node.id]
            is_int = isinstance(value, Value) and value.kind == "int"
            return value.form if is_int else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            x, y = self.form_of(node.left), self.form_of(node.right)
            if x is None or y is None:
                return None
            return x + y if isinstance(node.op, ast.Add) else x - y
        return None

    def of_IfExp(self, node: ast.IfExp) -> Value:
        test = self.condition(node.test)
        parts = (node.body, node.orelse)
        deep = (ast.Subscript, ast.Call, ast.Div, ast.FloorDiv, ast.Mod, ast.IfExp)
        if not any(isinstance(n, deep) for p in parts for n in ast.walk(p)):
            x, y = self.number(node.body), self.number(node.orelse)
            value = self.one_of(node, test, x, y)
            if value.kind in ("int", *INTEGERS) and x.form is not None and y.form is not None:
                value.form = self.forms.widest([x.form, y.form])
                value.needs = (*x.needs, *y.needs)
            return value
        # Only one of them is computed.
        name = f"if@{node.lineno}.{node.col_offset}{self.frames[-1].path}"

        def part(expression: ast.expr, holds: bool) -> Callable[[], None]:
            def write() -> None:
                self.refine(node.test, holds)
                self.assign_variable(node, name, self.number(expression))

            return write

        self.choose(test, part(node.body, True), part(node.orelse, False), {name})
        return self.read_variable(node, name)

    # ---- calls ----------------------------------------------------------------------------------

    def of_Call(self, node: ast.Call) -> Item:
        callee = self.callee(node.func)
        if isinstance(callee, Method) and not node.args and not node.keywords:
            return self.reduction(node, callee.name, callee.owner)
        if not isinstance(callee, Library):
            raise Refused(node, "a call of this")
        function = callee.value
        name = getattr(function, "__name__", "")
        if isinstance(function, types.FunctionType):
            return self.inlined(node, function)
        items = [self.operand(x) for x in node.args]
        if node.keywords:
            raise Refused(node, f"a keyword argument of {name}()")
        if function is builtins.len and len(items) == 1:
            return self.length(node, items[0])
        if any(isinstance(x, (View, Row)) for x in items):
            if name in _REDUCTIONS and function is getattr(numpy, name) and len(items) == 1:
                return self.reduction(node, _REDUCTIONS[name], items[0])
            if function is builtins.abs:
                function = numpy.absolute
            if function is builtins.sum and len(items) == 1 and isinstance(items[0], View):
                return self.python_sum(node, items[0])
            if not isinstance(function, numpy.ufunc) or function.nin != len(items):
                raise Refused(node, f"a call of {name}() with a row")
            return self.elementwise(
                node,
                items,
                lambda v: self.types_of(node, function, *v)[-1],
                lambda v: self.of_ufunc(node, function, v),
            )
        values = [x for x in items if isinstance(x, Value)]
        if len(values) != len(items):
            raise Refused(node, f"these arguments of {name}()")
        return self.of_function(node, function, name, values)

    def length(self, node: ast.AST, item: Item) -> Value:
        if isinstance(item, View):
            return item.spans[0].extent
        if isinstance(item, Row):
            return item.extents[0]
        if isinstance(item, tuple):
            return self.literal(node, len(item))
        raise Refused(node, "len() of this")

    def of_ufunc(self, node: ast.AST, function: numpy.ufunc, values: Sequence[Value]) -> Value:
        name = function.__name__
        if name not in _UFUNCS or function is not getattr(numpy, name, None):
            raise Refused(node, f"a call of {name}()")
        types_ = self.types_of(node, function, *values)
        for value, dtype in zip(values, types_, strict=False):
            self.in_type(node, value, dtype)
        self.numpy_floats = True
        return self.apply(_UFUNCS[name], types_[-1], *zip(values, types_, strict=False))

    def of_function(self, node: ast.AST, function: Any, name: str, values: list[Value]) -> Value:
        of_math = getattr(function, "__module__", "") == "math"
        is_math, is_test = of_math and name in _MATH, of_math and name in _TESTS
        if is_math or is_test or function is builtins.float:
            # A float of Python's comes of both kinds.
            values = [without_doubt(v) for v in values]
        if isinstance(function, numpy.ufunc):
            values = [without_doubt(v) if v.among <= {"float", "d"} else v for v in values]
        if function in (builtins.min, builtins.max) and len(values) >= 2:
            result = values[0]
            for value in values[1:]:
                result = self.extreme(node, name, result, value)
            return result
        if function is builtins.abs and len(values) == 1 and values[0].mixed:
            return self.doubtful_unary(node, "Absolute", values[0])
        if any(v.mixed for v in values):
            raise Refused(node, "a call with a number that may be of two types")
        if function is builtins.abs and len(values) == 1:
            return self.absolute(node, values[0])
        if function is builtins.float and len(values) == 1:
            return self.to_float(node, values[0])
        if function in _WHOLE and len(values) == 1:
            return self.whole_part(node, values[0], _WHOLE[function])
        arity = 2 if name in ("atan2", "hypot", "pow", "fmod", "copysign") else 1
        if is_math and len(values) == arity:
            inputs = [self.to_float(node, x) for x in values]
            value = self.apply(_MATH[name], "float", *((x, "d") for x in inputs))
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
        if x.kind in INTEGERS and x.form is not None:
            x = self.integer_of(node, x)
            return Value("int", x.id, form=x.form)
        if x.dtype not in FLOATS:
            raise Refused(node, "a whole number of this")
        real = self.emit(x, "d")
        if op is not None:
            real = self.writer.apply(op, [real])
        most = 2**48
        size = self.writer.apply("Absolute", [real])
        small = self.writer.apply("LessEqual", [size, self.writer.constant(float(most), "d")])
        self.fail_where(self.writer.apply("LogicalNot", [small]))
        held = self.writer.apply("Select", [small, real, self.writer.constant(0.0, "d")])
        return Value("int", self.writer.cast(held, "l"), form=self.loose_form(-most, most))

    def to_float(self, node: ast.AST, value: Value) -> Value:
        if value.kind in ("int", *INTEGERS) and value.literal is None:
            if value.kind not in "bBhHiI":
                if value.form is None:
                    raise Refused(node, "an integer without bounds")
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
        if holder.dtype == "?":
            raise Refused(node, f"{name}() of booleans")
        if holder.dtype in INTEGERS:
            op = "Maximum" if name == "max" else "Minimum"
            value = self.apply(op, kind, (x, holder.dtype), (y, holder.dtype))
            value.among = among
            if x.form is not None and y.form is not None:
                ends = self.forms.larger if name == "max" else self.forms.smaller
                value.form = ends([x.form, y.form])
                value.needs = (*x.needs, *y.needs)
            return value
        a, b = self.emit(x, holder.dtype), self.emit(y, holder.dtype)
        takes = self.writer.apply("Greater" if name == "max" else "Less", [b, a])
        return self.one_of(node, takes, y, x)
