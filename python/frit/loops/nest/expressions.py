"""expressions.py: expressions of a nest: Python's numbers by its rules, NumPy's by NumPy's."""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from typing import Any

import numpy

from frit.loops.names import words_of
from frit.loops.nest.complexes import is_complex
from frit.loops.nest.forms import LARGEST, LEAST, Form, Forms, Symbol
from frit.loops.nest.values import (
    COMPLEXES,
    DTYPES,
    FLOATS,
    INTEGERS,
    LIMITS,
    MOST_ITEMS,
    Character,
    Flat,
    Item,
    Library,
    ListPart,
    Method,
    Refused,
    Row,
    SmallArray,
    Value,
    View,
)
from frit.loops.run.generators import is_generator
from frit.loops.run.given import real

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
_MAY_OVERFLOW = ("Absolute", "Add", "Multiply", "Negative", "Power", "Subtract")
NUMBERS = (int, float, complex, bool)


class Expressions:
    """Mixed into NestWriter."""

    arrays: dict[str, View]
    complex_binary: Any
    computed_truths: set[int]
    conditions: list[Any]
    divisors: dict[int, tuple[int, int]]
    knowledge: Any
    condition: Any
    doubtful_binary: Any
    doubtful_unary: Any
    elementwise: Any
    end_while_where: Any
    fail_outside_of: Any
    flat_part: Any
    failures: int | None
    forms: Forms
    item_of: Any
    item_of_small: Any
    list_named: Any
    lists: dict[str, ListPart]
    load: Any
    half_loose: set[int]
    index_sums: set[ast.AST]
    loose: set[int]
    note_module: Any
    number_attribute: Any
    one_of_literals: Any
    product: Any
    numpy_floats: bool
    numpy_integers: bool
    part: Any
    read_variable: Any
    require: Any
    require_text: Any
    row_binary: Any
    settled: Any
    is_within_now: Any
    small_part: Any
    surroundings: dict[str, Any]
    truths: dict[int, Form]
    while_flags: list[int | None]
    writer: Any

    # ---- values ---------------------------------------------------------------------------------

    def emit(self, value: Value, dtype: str) -> int:
        """The writer's value, in the type."""
        if value.dtype in "FD" and dtype not in "FD":
            raise Refused(None, "a complex number where a real one is wanted")
        if value.id is None:
            literal = value.literal
            if dtype in INTEGERS and literal - literal != 0:  # NaN or infinity
                raise Refused(None, f"{literal} does not fit its element")
            plain: Any = int(literal) if dtype in INTEGERS else literal
            if dtype in FLOATS:
                plain = float(literal)
            if dtype in INTEGERS and not LIMITS[dtype][0] <= plain <= LIMITS[dtype][1]:
                raise Refused(None, f"{literal} does not fit its element")
            try:
                return self.writer.constant(bool(literal) if dtype == "?" else plain, dtype)
            except ValueError:  # a float that is too large
                raise Refused(None, f"{literal} does not fit its element") from None
        return value.id if value.dtype == dtype else self.writer.cast(value.id, dtype)

    def apply(self, op: str, kind: str, *operands: tuple[Value, str], math: str = "") -> Value:
        """math: "C" or "NumPy", whose function Python would call.

        Of its own numbers Python never warns: it raises an error, or says nothing.
        """
        ids = [self.emit(value, dtype) for value, dtype in operands]
        id = self.writer.apply(op, ids, math, kind in ("float", "complex"))
        if self.writer.type_of(id) != DTYPES.get(kind, kind):
            raise Refused(None, f"{op} of these types")
        if op in _MAY_OVERFLOW and kind in INTEGERS:
            self.numpy_integers = True
        if kind in ("?", "bool"):
            self.computed_truths.add(id)
        return Value(kind, id)

    def literal(self, node: ast.AST, value: Any) -> Value:
        if type(value) is bool:
            return Value("bool", literal=value)
        if type(value) is int and abs(value) <= LARGEST:
            return Value("int", literal=value, form=Form((), value))
        if type(value) is float:
            return Value("float", literal=value)
        if type(value) is complex:
            return Value("complex", literal=value)
        raise Refused(node, f"the constant {value!r}")

    def is_loose(self, *forms: Form | None) -> bool:
        """Whether only the nest knows the number."""
        return any(symbol in self.loose for form in forms if form for symbol, _ in form.terms)

    def note_loose(self, form: Form | None, *inputs: Form | None) -> None:
        """Of a number of a loose one's: bounds it has, but perhaps none that an index needs."""
        known = self.loose | self.half_loose
        if any(symbol in known for x in inputs if x for symbol, _ in x.terms) and form is not None:
            self.half_loose |= {symbol for symbol, _ in form.terms} - self.loose

    def is_half_loose(self, form: Form) -> bool:
        return any(symbol in self.half_loose for symbol, _ in form.terms)

    def require_value(self, value: Value, low: int, high: int) -> None:
        """The int is within these bounds: the guard asks, or else the nest fails where it isn't."""
        if value.literal is None and self.is_loose(value.form):
            self.fail_outside_of(value, low, high)
        else:
            self.require(value.form, low, high)

    def checked(self, value: Value, *operands: Value) -> Value:
        """An int that stays within 64 bits."""
        assert value.form is not None
        is_loose = self.is_loose(value.form, *(x.form for x in operands))
        if is_loose or (
            self.is_half_loose(value.form) and not self.is_within_now(value.form, LEAST, LARGEST)
        ):
            # The operands are within LARGEST, so that a sum does not wrap unseen.
            for operand in operands:
                self.require_moderate(operand)
            self.fail_outside_of(value, LEAST, LARGEST)
            value.form = self.loose_form(LEAST, LARGEST)
            return value
        reach = self.forms.reach(value.form)
        if reach is None or reach > LARGEST:
            self.require(value.form, LEAST, LARGEST)
        return value

    def require_moderate(self, value: Value) -> None:
        """Loose ones are within LARGEST; the guard asks of others where that is not certain."""
        if value.literal is None and value.form is not None and not self.is_loose(value.form):
            reach = self.forms.reach(value.form)
            if reach is None or reach > LARGEST:
                self.require(value.form, LEAST, LARGEST)

    def loose_form(self, low: int, high: int) -> Form:
        form = self.forms.between(low, high)
        self.loose.add(form.terms[0][0])
        return form

    def loosened(self, value: Value) -> Value:
        """An integer of NumPy's as one whose bounds only the nest knows."""
        low, high = (max(LEAST, min(end, LARGEST)) for end in LIMITS[value.kind])
        if LIMITS[value.kind] != (low, high):
            self.fail_outside_of(value, low, high)
        return Value(value.kind, value.id, form=self.loose_form(low, high))

    def fail_if_product_is_large(self, x: Value, y: Value) -> None:
        apply = self.writer.apply
        product = apply("Multiply", [self.emit(x, "d"), self.emit(y, "d")])
        small = apply(
            "LessEqual", [apply("Absolute", [product]), self.writer.constant(2.0**61, "d")]
        )
        self.fail_where(apply("LogicalNot", [small]))

    def plain_int(self, value: Value) -> Value:
        if value.kind == "bool":
            if value.id is None:
                return self.literal(ast.Pass(), int(value.literal))
            form = self.truths.get(value.id)
            if form is None:  # else it is the number that it was: `f * x + (1 - f) * y`
                form = self.truths[value.id] = self.forms.between(0, 1)
            return Value("int", self.writer.cast(value.id, "l"), form=form)
        return value

    def operand(self, node: ast.expr) -> Item:
        method = getattr(self, "of_" + type(node).__name__, None)
        if method is None:
            raise Refused(node, words_of(node))
        return method(node)

    def number(self, node: ast.expr) -> Value:
        value = self.operand(node)
        if not isinstance(value, Value):
            is_row = isinstance(value, (View, Row, ListPart))
            raise Refused(node, "a row as a number" if is_row else "this as a number")
        return value

    def integer(self, node: ast.expr) -> Value:
        """An index or bound, which the guard can bound."""
        return self.integer_of(node, self.number(node))

    def integer_of(self, node: ast.AST, value: Value) -> Value:
        if value.form is None and value.kind in INTEGERS:
            value = self.loosened(value)
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

    def of_Constant(self, node: ast.Constant) -> Value | Character:
        if type(node.value) is str and len(node.value) == 1:
            return Character(Value("I", self.writer.constant(ord(node.value), "I")))
        return self.literal(node, node.value)

    def of_Name(self, node: ast.Name) -> Any:
        if node.id in self.lists:
            return self.list_named(node.id)
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
            if node.attr == "T" and len(extents) == 1 and not isinstance(owner, SmallArray):
                return owner
            if node.attr == "flat" and isinstance(owner, View):
                return Flat(owner)
            if node.attr == "size":
                size = extents[0]
                for extent in extents[1:]:
                    size = self.python_binary(node, ast.Mult(), size, extent)
                return size
            return Method(owner, node.attr)
        if isinstance(owner, Value):
            return self.number_attribute(node, owner, node.attr)
        if isinstance(owner, Library) and isinstance(owner.value, types.ModuleType):
            value = getattr(owner.value, node.attr, None)
            self.note_module(owner.value, node.attr, value)
            if type(value) in NUMBERS:
                return self.literal(node, value)
            if value is not None:
                return Library(real(value))
        if isinstance(owner, Library) and is_generator(owner.value):
            return Library(getattr(owner.value, node.attr, None))
        raise Refused(node, f"the attribute {node.attr}")

    def callee(self, node: ast.expr) -> Any:
        return self.operand(node) if isinstance(node, (ast.Name, ast.Attribute)) else None

    def of_Subscript(self, node: ast.Subscript) -> Any:
        part_of_element = self.part_of_element(node)
        if part_of_element is not None:
            return part_of_element
        owner = self.operand(node.value)
        if isinstance(owner, tuple):
            number = self.number(node.slice)
            if type(number.literal) is int and -len(owner) <= number.literal < len(owner):
                return owner[number.literal]
            if number.literal is not None or not 0 < len(owner) <= MOST_ITEMS:
                raise Refused(node, "an element of a tuple")
            index = self.integer_of(node, number)
            self.require_value(index, 0, len(owner) - 1)
            return self.one_of_literals(node, owner, index)
        if isinstance(owner, ListPart):
            return self.item_of(node, owner)
        if isinstance(owner, SmallArray):
            return self.item_of_small(self.small_part(node, owner))
        if isinstance(owner, Flat):
            return self.load(node, self.flat_part(node, owner.view))
        if not isinstance(owner, View) or not owner.spans:
            raise Refused(node, "an element of something else than an array")
        view = self.part(node, owner)
        return view if view.spans else self.load(node, view)

    def part_of_element(self, node: ast.Subscript) -> Any:
        """z.real[i] of an array z, as z[i].real; None: it is something else."""
        whole = node.value
        if not isinstance(whole, ast.Attribute) or whole.attr not in ("real", "imag"):
            return None
        # A name: what is computed would be computed twice where it is something else.
        array = self.operand(whole.value) if isinstance(whole.value, ast.Name) else None
        if not isinstance(array, View) or not array.spans:
            return None
        view = self.part(node, array)
        return (
            None if view.spans else self.number_attribute(node, self.load(node, view), whole.attr)
        )

    # ---- operators ------------------------------------------------------------------------------

    def of_BinOp(self, node: ast.BinOp) -> Value | Row:
        x, y = self.operand(node.left), self.operand(node.right)
        if isinstance(x, Value) and isinstance(y, Value):
            return self.binary(node, node.op, x, y)
        for item in (x, y):
            if not isinstance(item, (Value, View, Row)):
                raise Refused(node, "this as a number")
        if isinstance(node.op, ast.MatMult):
            return self.product(node, x, y)
        return self.row_binary(node, node.op, x, y)

    def binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> Value:
        if is_complex(x, y):
            return self.complex_binary(node, op, x, y)
        if x.mixed or y.mixed:
            x, y = self.settled(node, x, y)
            if x.mixed or y.mixed:
                return self.doubtful_binary(node, op, x, y)
        if x.kind == y.kind == "bool" and isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            return self.apply(_BINARY[type(op)][0], "bool", (x, "?"), (y, "?"))
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
            if node in self.index_sums and self.is_loose(x.form, y.form):
                # Where three such numbers wrap, what comes out is no index.
                self.require_moderate(x)
                self.require_moderate(y)
                value.form = self.loose_form(LEAST, LARGEST)
                return value
        elif kind is ast.Mult:
            value = self.apply("Multiply", "int", *pair)
            if self.is_loose(x.form, y.form):
                self.fail_if_product_is_large(x, y)
            value.form = forms.product(x.form, y.form)
        elif kind is ast.FloorDiv or kind is ast.Mod:
            y = self.require_divisor(node, y, LARGEST)
            value = self.apply(_BINARY[kind][0], "int", *pair)
            divided = forms.divided if kind is ast.FloorDiv else forms.remainder
            value.form = divided(x.form, y.form)
            self.note_loose(value.form, x.form, y.form)
        elif kind is ast.Pow:
            return self.int_power(node, x, y)
        elif kind in (ast.BitAnd, ast.BitOr, ast.BitXor):
            value = self.apply(_BINARY[kind][0], "int", *pair)
            mask = self.least_mask(x, y) if kind is ast.BitAnd else None
            if mask is not None:
                value.form = forms.between(0, mask)
                return value
            value.form = self.form_of_bits(kind, x, y)
            if self.is_loose(value.form):
                return value
        elif kind is ast.LShift or kind is ast.RShift:
            if kind is ast.LShift and self.is_loose(x.form, y.form):
                raise Refused(node, "a shift of an integer without bounds")
            self.require_value(y, 0, 62)
            value = self.apply(_BINARY[kind][0], "int", *pair)
            value.form = forms.shifted(x.form, y.form, "<<" if kind is ast.LShift else ">>")
            if kind is ast.RShift and self.is_loose(x.form):
                value.form = self.loose_form(LEAST, LARGEST)
                return value
        elif kind is ast.Div:
            y = self.require_divisor(node, y, 2**53)
            self.require_value(x, -(2**53), 2**53)
            return self.apply("TrueDivide", "float", (x, "d"), (y, "d"))
        else:
            raise Refused(node, f"{kind.__name__} of integers of Python's")
        return self.checked(value, x, y)

    @staticmethod
    def least_mask(*operands: Value) -> int | None:
        """Literals from 0 on: `and` with one gives no less than 0, and no more than it."""
        masks = [v.literal for v in operands if v.literal is not None and v.literal >= 0]
        return min(masks, default=None)

    def form_of_bits(self, kind: type[ast.operator], x: Value, y: Value) -> Form:
        assert x.form is not None and y.form is not None
        if self.is_loose(x.form, y.form):
            for value in (x, y):
                self.require_moderate(value)
            return self.loose_form(LEAST, LARGEST)
        self.require(x.form, 0, None)
        self.require(y.form, 0, None)
        high = [x.form, y.form] if kind is ast.BitAnd else [x.form + y.form]
        return self.forms.symbol(Symbol(low=[Form()], high=high))

    def int_power(self, node: ast.AST, x: Value, y: Value) -> Value:
        if x.literal == 2 and y.literal is None:
            return self.int_binary(node, ast.LShift(), self.literal(node, 1), y)
        if x.literal == -1 and y.literal is None:
            return self.sign_of_power(y)
        if y.literal is None or y.literal > 64:
            raise Refused(node, "a power of integers that is no small constant")
        if y.literal < 0:
            return self.float_binary(node, ast.Pow(), x, y)
        value = self.literal(node, 1)
        for _ in range(y.literal):
            value = x if value.literal == 1 else self.int_binary(node, ast.Mult(), value, x)
        return value

    def sign_of_power(self, y: Value) -> Value:
        """(-1) ** y: of a y below 0 a float."""
        self.require_value(y, 0, LARGEST)
        apply, constant = self.writer.apply, self.writer.constant
        is_odd = apply("BitwiseAnd", [self.emit(y, "l"), constant(1, "l")])
        twice = apply("Multiply", [is_odd, constant(2, "l")])
        id = apply("Subtract", [constant(1, "l"), twice])
        return Value("int", id, form=self.forms.between(-1, 1))

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
            if y.literal == 0.5:
                # The root of -0.0 as a power is 0.0; of -inf the nest fails below.
                zero = Value("float", literal=0.0)
                base = self.apply("Add", "float", pair[0], (zero, "d"))
                value = self.apply("Sqrt", "float", (base, "d"), math="C")
            elif y.literal == 2:
                value = self.apply("Square", "float", pair[0], math="C")
            else:
                value = self.apply("Power", "float", *pair, math="C")
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

    def require_divisor(self, node: ast.AST, value: Value, most: int) -> Value:
        """1 <= value <= most: where the guard can't tell at this call, the nest finds out."""
        place = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        if value.literal is None and place in self.knowledge.doubted and value.form is not None:
            self.fail_outside_of(value, 1, most)
            return Value(value.kind, value.id, form=self.loose_form(1, most))
        first = len(self.conditions)
        self.require_value(value, 1, most)
        self.divisors.update(dict.fromkeys(range(first, len(self.conditions)), place))
        return value

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
        if self.while_flags:
            return self.end_while_where(condition)
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
        return {"int": int, "float": float, "complex": complex}.get(value.kind) or numpy.dtype(
            value.dtype
        )

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
            or types_[0] in COMPLEXES
            or name
            in (
                "FloorDivide",
                "Remainder",
            )
        )
        if kind is ast.Pow:
            if types_[0] in INTEGERS and not (y.kind == "int" and y.literal in range(64)):
                raise Refused(node, "an integer to a power that is no constant")
            if y.literal == 2 and types_[0] in INTEGERS + FLOATS:
                return self.apply("Square", types_[2], (x, types_[0]), math="C")
        math = "C" if kind is ast.Pow else ""
        value = self.apply(name, types_[2], (x, types_[0]), (y, types_[1]), math=math)
        if types_[2] in INTEGERS and x.form is not None and y.form is not None:
            form, needs = None, (*x.needs, *y.needs)
            if kind is ast.Add or kind is ast.Sub:
                form = x.form + y.form if kind is ast.Add else x.form - y.form
            elif kind is ast.Mult:
                form = self.forms.product(x.form, y.form)
            elif kind in (ast.FloorDiv, ast.Mod) and (y.literal is None or y.literal > 0):
                divided = self.forms.divided if kind is ast.FloorDiv else self.forms.remainder
                form = divided(x.form, y.form)
                needs = (*needs, (y.form, 1, LIMITS["l"][1]))
            if form is not None:
                value.form = form
                value.needs = (*needs, (form, *LIMITS[types_[2]]))
        return value

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value | Row:
        if isinstance(node.op, ast.Not):
            return Value("bool", self.writer.apply("LogicalNot", [self.condition(node.operand)]))
        x = self.operand(node.operand)
        if isinstance(x, (View, Row)):
            return self.elementwise(
                node,
                [x],
                lambda v: self.unary_kind(node, node.op, v[0]),
                lambda v: self.unary(node, node.op, v[0]),
                has_complex=isinstance(node.op, ast.USub),
            )
        if not isinstance(x, Value):
            raise Refused(node, "this as a number")
        return self.unary(node, node.op, x)

    @staticmethod
    def unary_kind(node: ast.AST, op: ast.unaryop, x: Any) -> str:
        """Refused at once: a row of which nobody reads an element raises its TypeError too."""
        if isinstance(op, ast.USub) and (x.dtype == "?" or x.kind in "BHIL"):
            raise Refused(node, "- of this type")
        if not isinstance(op, ast.USub | ast.UAdd) or x.dtype == "?":
            raise Refused(node, "this operator")
        kind: str = x.kind
        return kind

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
