"""conditions.py: comparisons, `and`, `or`, `x if c else y`, and what a condition says of bounds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from frit.loops.nest.complexes import is_complex
from frit.loops.nest.doubt import kinds_of
from frit.loops.nest.forms import Form, Forms, Symbol
from frit.loops.nest.values import INTEGERS, Character, Refused, Row, Value, View
from frit.translate.rules import COMPARISONS

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
}
ONE = Form((), 1)
MOST_CHARACTERS = 64  # of a text in which a character may be
_OPERANDS = (Value, View, Row)

_EXACT = "bBhHiIl"  # integers that are compared as Python's are


class Conditions:
    """Mixed into NestWriter."""

    apply: Any
    assigned_in: Any
    arrays: dict[str, Any]
    assign_variable: Any
    block: Any
    bound: dict[str, Any]
    character: Any
    choose: Any
    compare_characters: Any
    complex_compare: Any
    elementwise: Any
    doubtful_comparison: Any
    draws: int
    emit: Any
    env: dict[str, Any]
    forms: Forms
    frames: list[Any]
    in_type: Any
    is_loose: Any
    is_grown: Any
    lists: dict[str, Any]
    locals: dict[str, int]
    loose: set[int]
    narrowed: dict[int, str]
    signs_now: Any
    is_within_now: Any
    note_loose: Any
    number: Any
    one_of: Any
    operand: Any
    plain_int: Any
    read_variable: Any
    require: Any
    require_value: Any
    settled: Any
    surroundings: dict[str, Any]
    truth_kinds: set[str] | None
    types_of: Any
    writer: Any

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
            assigned = self.assigned_in(node.values[k:])  # by methods
            is_deep = any(isinstance(n, (ast.Subscript, ast.Call, ast.Div)) for n in ast.walk(part))
            if not is_deep and not assigned:
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

            def decide(
                others: ast.expr = others,
                k: int = k,
                place: int = place,
                assigned: set[str] = assigned,
            ) -> None:
                with self.block(assigned):
                    for known in node.values[:k]:
                        self.refine(known, is_and)
                    self.writer.write_local(place, self.condition(others))

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

    def of_Compare(self, node: ast.Compare) -> Value | Row:
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return self.membership(node, node.comparators[0])
        if self.assigned_in(node.comparators[1:]):
            raise Refused(node, "a chain of comparisons with a method that assigns attributes")
        left = self.character(node, self.operand(node.left))
        result: Value | None = None
        draws = self.draws
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.character(node, self.operand(right_node))
            if result is None:
                draws = self.draws
            elif self.draws > draws:
                raise Refused(node, "a random number that only some rounds draw, in a comparison")
            if isinstance(left, Character) and isinstance(right, Character):
                one = self.compare_characters(node, op, left, right)
            elif isinstance(left, Value) and isinstance(right, Value):
                one = self.compare(node, op, left, right)
            elif len(node.ops) == 1 and all(isinstance(x, _OPERANDS) for x in (left, right)):
                return self.compare_rows(node, op, left, right)
            else:
                raise Refused(node, "a comparison of something else than numbers")
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

    def compare_rows(self, node: ast.AST, op: ast.cmpop, x: Any, y: Any) -> Row:
        def compute(values: Sequence[Value]) -> Value:
            result = self.compare(node, op, *values)
            if result.kind != "?":
                raise Refused(node, "a comparison of a row with such numbers")
            return result

        row: Row = self.elementwise(node, [x, y], lambda _: "?", compute)
        return row

    def membership(self, node: ast.Compare, items: ast.expr) -> Value:
        """`x in (2, 3)`, `c in "aeiou"`: a bool of Python's, whatever x is."""
        left = self.character(node, self.operand(node.left))
        if isinstance(left, Character) and isinstance(items, ast.Constant):
            if type(items.value) is str and 0 < len(items.value) <= MOST_CHARACTERS:
                items = ast.Tuple([ast.Constant(c) for c in items.value], ast.Load())
        if not isinstance(items, (ast.Tuple, ast.List, ast.Set)) or not items.elts:
            raise Refused(node, "'in' something else than a few numbers")
        found = None
        for item in items.elts:
            if not isinstance(item, (ast.Constant, ast.Name, ast.UnaryOp)):
                raise Refused(item, "'in' of what is computed")
            right = self.character(node, self.operand(item))
            if isinstance(left, Character) and isinstance(right, Character):
                one = self.compare_characters(node, ast.Eq(), left, right)
                both = [(found or one, "?"), (one, "?")]
                found = self.apply("LogicalOr", "bool", *both)
                continue
            if not isinstance(left, Value) or not isinstance(right, Value):
                raise Refused(node, "'in' of something else than numbers")
            if right.literal is None and right.kind not in ("int", "bool", *INTEGERS):
                raise Refused(item, "'in' of a float")  # a NaN is in (x,) if it is x itself
            one = self.compare(node, ast.Eq(), left, right)
            both = [(found, "?"), (one, "?")] if found is not None else [(one, "?")] * 2
            found = self.apply("LogicalOr", "bool", *both)
        assert found is not None
        is_in = isinstance(node.ops[0], ast.In)
        return found if is_in else self.apply("LogicalNot", "bool", (found, "?"))

    def compare(self, node: ast.AST, op: ast.cmpop, x: Value, y: Value) -> Value:
        name = COMPARISONS.get(type(op))
        if name is None:
            raise Refused(node, "this comparison")
        if is_complex(x, y):
            return self.complex_compare(node, name, x, y)
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
                self.refine_by(left, kind, right)
            left = right

    def refine_by(self, left: ast.expr, kind: type[ast.cmpop], right: ast.expr) -> None:
        x, y = self.form_of(left), self.form_of(right)
        names = {n.id for side in (left, right) for n in ast.walk(side) if isinstance(n, ast.Name)}
        if x is None or y is None or self.is_loose(x, y) or names & self.locals.keys():
            if kind in _TURNED:
                self.refine_name(left, kind, right)
                self.refine_name(right, _TURNED[kind], left)
        elif kind is ast.NotEq:
            self.note_unequal(x - y)
        else:
            if kind in (ast.Lt, ast.LtE, ast.Eq):
                self.forms.note(y - x - ONE if kind is ast.Lt else y - x)
            if kind in (ast.Gt, ast.GtE, ast.Eq):
                self.forms.note(x - y - ONE if kind is ast.Gt else x - y)

    def note_unequal(self, gap: Form) -> None:
        """It is not 0: where 0 is its end at this call, it begins or ends a number further in."""
        now = self.signs_now(gap)
        if now is not None and now[0] == 0 < now[1]:
            self.require(gap, 0, None)
            self.forms.note(gap - ONE)
        elif now is not None and now[0] < 0 == now[1]:
            self.require(gap, None, 0)
            self.forms.note(gap.times(-1) - ONE)

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
            return self.form_as_int(value) if isinstance(value, Value) else None
        if isinstance(node, ast.Name) and type(self.surroundings.get(node.id)) is int:
            return Form((), self.surroundings[node.id])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            x = self.form_of(node.operand)
            return None if x is None else x.times(-1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            x, y = self.form_of(node.left), self.form_of(node.right)
            if x is None or y is None:
                return None
            if isinstance(node.op, ast.Mult):
                return None if x.terms and y.terms else self.forms.product(x, y)
            return x + y if isinstance(node.op, ast.Add) else x - y
        return self.form_of_extent(node)

    def form_where(self, test: ast.expr, holds: bool, form: Form) -> Form:
        """The number, where the condition (does not) hold."""
        with self.block(set()):
            self.refine(test, holds)
            return self.forms.pinned(form)

    def form_as_int(self, value: Value) -> Form | None:
        """Of a number of NumPy's the same, if at this call none of those it is made of wraps."""
        if value.kind == "int" and not value.needs:
            return value.form
        if value.form is None or value.mixed or value.kind not in ("int", *_EXACT):
            return None
        if not all(self.is_within_now(*need) for need in value.needs):
            return None
        for need in value.needs:
            self.require(*need)
        return value.form

    def form_of_extent(self, node: ast.expr) -> Form | None:
        """Of `a.shape[0]` and `len(a)`."""
        array, axis = None, 0
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            is_len = self.surroundings.get(node.func.id) is len and len(node.args) == 1
            array = node.args[0] if is_len else None
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            is_shape = node.value.attr == "shape" and isinstance(node.slice, ast.Constant)
            array, axis = (node.value.value, node.slice.value) if is_shape else (None, 0)
        view = self.arrays.get(array.id) if isinstance(array, ast.Name) else None
        if isinstance(array, ast.Name) and array.id in self.lists and not self.is_grown(array.id):
            view = self.lists[array.id].view
        if view is None or type(axis) is not int or not 0 <= axis < len(view.spans):
            return None
        return view.spans[axis].extent.form

    def of_IfExp(self, node: ast.IfExp) -> Value:
        test = self.condition(node.test)
        parts = (node.body, node.orelse)
        deep = (ast.Subscript, ast.Call, ast.Div, ast.FloorDiv, ast.Mod, ast.IfExp)
        assigned = self.assigned_in(parts)  # by methods
        if not assigned and not any(isinstance(n, deep) for p in parts for n in ast.walk(p)):
            x, y = self.number(node.body), self.number(node.orelse)
            value = self.one_of(node, test, x, y)
            if value.kind in ("int", *INTEGERS) and x.form is not None and y.form is not None:
                forms = [self.form_where(node.test, h, v.form) for h, v in ((True, x), (False, y))]
                value.form = self.forms.widest(forms)
                self.note_loose(value.form, x.form, y.form)
                value.needs = (*x.needs, *y.needs)
            return value
        # Only one of them is computed.
        name = f"if@{node.lineno}.{node.col_offset}{self.frames[-1].path}"

        def part(expression: ast.expr, holds: bool) -> Callable[[], None]:
            def write() -> None:
                self.refine(node.test, holds)
                self.assign_variable(node, name, self.number(expression))

            return write

        self.choose(test, part(node.body, True), part(node.orelse, False), assigned | {name})
        return self.read_variable(node, name)
