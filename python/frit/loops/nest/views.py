"""views.py: elements, rows and other parts of arrays: which ones, and that they are there."""

from __future__ import annotations

import ast
import math
from typing import Any

from frit.loops.nest.forms import LARGEST, Form, Symbol, Unbounded
from frit.loops.nest.guard import names_in
from frit.loops.nest.values import (
    INTEGERS,
    LIMITS,
    ArrayName,
    Refused,
    Span,
    Value,
    View,
)

MOST_STEP = 2**20  # of a slice
ZERO = Value("int", literal=0, form=Form())
UNIT = Value("int", literal=1, form=Form((), 1))


def number_itself(k: int) -> Value:
    """The int itself."""
    return Value("int", literal=k, form=Form((), k))


class Views:
    """Mixed into NestWriter."""

    writer: Any
    forms: Any
    knowledge: Any
    read_parts: dict[tuple[int, str, str], int]
    positions: list[tuple[int, int, ast.AST]]
    written: set[int]
    numpy_floats: bool
    operand: Any
    integer: Any
    integer_of: Any
    int_binary: Any
    emit: Any
    signs_now: Any
    require: Any
    truth_id: Any
    fail_where: Any
    index_sums: set[ast.AST]
    is_half_loose: Any
    is_wary: bool
    is_loose: Any
    require_value: Any
    shown: Any
    computed_truths: set[int]

    def extent(self, array: ArrayName, axis: int) -> Value:
        form = self.forms.of_text(f"e{array.number}_{axis}")
        return Value("int", self.writer.extent(array.parameter, axis), form=form)

    def whole(self, array: ArrayName) -> View:
        spans = [Span(ZERO, self.extent(array, axis)) for axis in range(array.rank)]
        return View(array, tuple(spans))

    def sum_of(self, x: Value, y: Value) -> Value:
        """x + y, or with a factor of -1 in y's form; bounds that are known to be in range."""
        assert x.form is not None and y.form is not None
        if x.literal is not None and y.literal is not None:
            total = x.literal + y.literal
            return Value("int", literal=total, form=Form((), total))
        if x.literal == 0 or y.literal == 0:
            return y if x.literal == 0 else x
        id = self.writer.apply("Add", [self.emit(x, "l"), self.emit(y, "l")])
        return Value("int", id, form=x.form + y.form)

    def difference_of(self, x: Value, y: Value) -> Value:
        assert x.form is not None and y.form is not None
        if y.literal is not None:
            return self.sum_of(x, Value("int", literal=-y.literal, form=y.form.times(-1)))
        id = self.writer.apply("Subtract", [self.emit(x, "l"), self.emit(y, "l")])
        return Value("int", id, form=x.form - y.form)

    def element_of(self, span: Span, index: Value) -> Value:
        """The index in the array of an index that is inside of the span."""
        return self.sum_of(span.start, self.scaled(index, span.step))

    def scaled(self, x: Value, factor: int) -> Value:
        assert x.form is not None
        if factor == 1:
            return x
        if x.literal is not None:
            total = x.literal * factor
            return Value("int", literal=total, form=Form((), total))
        id = self.writer.apply("Multiply", [self.emit(x, "l"), self.writer.constant(factor, "l")])
        return Value("int", id, form=x.form.times(factor))

    # ---- parts ----------------------------------------------------------------------------------

    def part(self, node: ast.Subscript, owner: View) -> View:
        """owner[..]: the guard makes sure that it is there."""
        written = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for key in written:
            self.index_sums |= _sums_in(key)
        keys = [key if isinstance(key, ast.Slice) else self.operand(key) for key in written]
        if type(keys[0]) is tuple and written[0] is node.slice:  # a list or a row picks several
            keys = [*keys[0]]
        spans = owner.spans
        if len(keys) > len(spans):
            raise Refused(node, f"{len(keys)} indices for {len(spans)} axes")
        axes: list[Value | Span] = []
        for span, key in zip(spans, [*keys, *[None] * (len(spans) - len(keys))], strict=True):
            if key is None:
                axes.append(span)
            elif isinstance(key, ast.Slice):
                axes.append(self.slice_of(span, key))
            elif isinstance(key, Value):
                axes.append(self.index(span, self.integer_of(node, key)))
            else:
                raise Refused(node, "an index that is no integer")
        given = iter(axes)
        return View(
            owner.array, tuple(next(given) if isinstance(x, Span) else x for x in owner.axes)
        )

    def index(self, span: Span, value: Value) -> Value:
        """The index of the array that `value` is of the span; below 0 it counts from the end."""
        form, size = value.form, span.extent.form
        assert form is not None and size is not None
        is_doubtful = self.is_half_loose(form) or self.is_half_loose(size)
        if self.is_loose(form) or (is_doubtful and self.may_miss(form, size)):
            return self.checked_index(span, value)
        now = self.signs_now(form)
        if now is None or now[0] >= 0:
            self.require(form, 0, None)
            self.require(form - size, None, -1)
            return self.element_of(span, Value("int", self.emit(value, "l"), form=form))
        self.require(form + size, 0, None)
        wrapped = self.sum_of(value, span.extent)
        if now[1] < 0:
            self.require(form, None, -1)
            return self.element_of(span, wrapped)
        self.require(form - size, None, -1)
        self.is_wary = True
        below = self.writer.apply("Less", [self.emit(value, "l"), self.writer.constant(0, "l")])
        id = self.writer.apply("Select", [below, self.emit(wrapped, "l"), self.emit(value, "l")])
        either = self.forms.widest([form, form + size])
        return self.element_of(span, Value("int", id, form=either))

    def may_miss(self, form: Form, size: Form) -> bool:
        """Whether its bounds at this call are not those of an index."""
        low, high = self.signs_now(form + size), self.signs_now(form - size)
        return low is None or high is None or low[0] < 0 or high[1] >= 0

    def checked_index(self, span: Span, value: Value) -> Value:
        """An index that only the nest knows: where it is outside, the nest is run as Python."""
        assert span.extent.form is not None
        self.is_wary = True
        if not self.is_half_loose(span.extent.form):  # else there is room for one (list_runs.py)
            self.require(span.extent.form, 1, None)
        apply, zero = self.writer.apply, self.writer.constant(0, "l")
        id, size = self.emit(value, "l"), self.emit(span.extent, "l")
        id = apply("Select", [apply("Less", [id, zero]), apply("Add", [id, size]), id])
        # One comparison, as what is below 0 is large without a sign.
        inside = apply("Less", [self.writer.cast(id, "L"), self.writer.cast(size, "L")])
        self.fail_where(apply("LogicalNot", [inside]))
        form = self.forms.between(Form(), span.extent.form - Form((), 1))
        id = apply("Select", [inside, id, zero])
        return self.element_of(span, Value("int", id, form=form))

    def slice_of(self, span: Span, node: ast.Slice) -> Span:
        """Slices that Python would cut to the array's size fail the guard."""
        step = self.step_of(node)
        if step > 0:
            first = self.end_of(span, node.lower, ZERO)
            behind = self.end_of(span, node.upper, span.extent)
            if first.literal == 0 and behind is span.extent and step == 1:
                return span
            length = self.difference_of(behind, first)
        else:
            # From the end down: what is missing means the last one, and the one below the first.
            last = self.difference_of(span.extent, UNIT)
            first = self.end_of(span, node.lower, last)
            if first is not last:
                self.require(first.form - span.extent.form, None, -1)
            below = Value("int", literal=-1, form=Form((), -1))
            length = self.difference_of(first, self.end_of(span, node.upper, below))
        self.require(length.form, 0, None)
        extent = self.rounded_up(length, abs(step))
        return Span(self.element_of(span, first), extent, span.step * step)

    def step_of(self, node: ast.Slice) -> int:
        if node.step is None:
            return 1
        try:
            step = ast.literal_eval(node.step)
        except (ValueError, TypeError):
            raise Refused(node, "a slice with a step that is no number of the text") from None
        if step is None:
            return 1
        if type(step) is not int or not 0 < abs(step) <= MOST_STEP:
            raise Refused(node, "a slice with this step")
        return step

    def rounded_up(self, length: Value, step: int) -> Value:
        """How many elements there are in a length that is not below 0."""
        if step == 1:
            return length
        more = self.sum_of(length, Value("int", literal=step - 1, form=Form((), step - 1)))
        if more.literal is not None:
            number = more.literal // step
            return Value("int", literal=number, form=Form((), number))
        assert more.form is not None
        divisor = self.writer.constant(step, "l")
        id = self.writer.apply("FloorDivide", [self.emit(more, "l"), divisor])
        return Value("int", id, form=self.forms.divided(more.form, Form((), step)))

    def end_of(self, span: Span, node: ast.expr | None, missing: Value) -> Value:
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return missing
        value = self.integer(node)
        form, size = value.form, span.extent.form
        now = self.signs_now(form)
        if now is not None and now[1] < 0:
            self.require(form + size, 0, None)
            self.require(form, None, -1)
            return self.sum_of(span.extent, value)
        self.require(form, 0, None)
        self.require(form - size, None, 0)
        return value

    def flat_part(self, node: ast.Subscript, view: View) -> View:
        """view.flat[..]: an index below 0 counts from the end, as those made of it do."""
        key = self.operand(node.slice)
        if not isinstance(key, Value):
            raise Refused(node, "an index that is no integer")
        number = self.integer_of(node, key)
        number = Value("int", number.id, number.literal, number.form)
        indices: list[Value] = []
        for span in reversed(view.spans[1:]):
            within = self.int_binary(node, ast.Mod(), number, span.extent)
            indices.insert(0, self.index(span, within))
            number = self.int_binary(node, ast.FloorDiv(), number, span.extent)
        return view.at([self.index(view.spans[0], number), *indices])

    # ---- elements -------------------------------------------------------------------------------

    def note_position(self, node: ast.AST) -> None:
        shown = self.shown(node)
        line, column = getattr(shown, "lineno", 0), getattr(shown, "col_offset", 0)
        self.positions.append((line, column + 1, node))

    def indices_of(self, view: View) -> list[int]:
        return [self.emit(axis, "l") for axis in view.axes if isinstance(axis, Value)]

    def load(self, node: ast.AST, view: View) -> Value:
        array = view.array
        self.note_position(node)
        line = getattr(node, "lineno", 0)
        id = self.writer.load(array.parameter, self.indices_of(view), line)
        value = Value(array.dtype, id)
        if array.dtype in INTEGERS and array.name not in self.knowledge.unscanned:
            part = self.part_read(view)
            least, most = (self.forms.of_text(f"{part}_{x}", None) for x in ("lo", "hi"))
            value.form = self.forms.symbol(Symbol(low=[least], high=[most]))
            self.of_elements |= {symbol for symbol, _ in value.form.terms}
        return value

    def part_read(self, view: View) -> str:
        """The name that the guard has for the elements among which this one is."""
        number, axis = view.array.number, view.axes[0] if len(view.axes) == 1 else None
        if view.array.name in self.knowledge.parted and isinstance(axis, Value) and axis.form:
            try:
                ends = self.forms.least(axis.form), self.forms.most(axis.form)
            except Unbounded:
                return f"m{number}"
            names = names_in(" ".join(ends)) - {"min", "max"}
            if all(name[0] in "ev" for name in names):
                return (
                    f"m{number}w{self.read_parts.setdefault((number, *ends), len(self.read_parts))}"
                )
        return f"m{number}"

    def store(self, node: ast.AST, view: View, value: Value) -> None:
        """array[..] = value. NumPy raises where an array of signed integers does not hold it."""
        low, high = LIMITS.get(view.array.dtype, (0, 0))
        if low < 0 and value.kind in INTEGERS and not value.mixed:
            least, most = LIMITS[value.kind]
            if least < low or most > high:
                self.fail_outside_of(value, low, high)
        if view.array.dtype == "?" == value.dtype:
            value = self.as_0_or_1(value)
        self.store_cast(node, view, value)

    def as_0_or_1(self, value: Value) -> Value:
        """A bool as NumPy's scalars have it: an element that it came from may be any byte."""
        if value.id is None or value.id in self.computed_truths:
            return value
        no = self.writer.constant(False, "?")
        return Value(value.kind, self.writer.apply("NotEqual", [value.id, no]))

    def store_cast(self, node: ast.AST, view: View, value: Value) -> None:
        """The same, of an element of a row: integers wrap."""
        array = view.array
        if not array.writable:
            raise Refused(node, f"the array {array.name} is read-only")
        id = self.cast_for(node, value, array.dtype)
        self.note_position(node)
        self.written.add(array.number)
        self.writer.store(array.parameter, self.indices_of(view), id, getattr(node, "lineno", 0))

    def cast_for(self, node: ast.AST, value: Value, dtype: str) -> int:
        """As an element of an array of the type."""
        if value.kind == "int" and dtype in INTEGERS:
            assert value.form is not None
            low, high = LIMITS[dtype]
            if value.literal is None or not low <= value.literal <= high:
                self.require_value(value, low, min(high, LARGEST))
        elif value.kind == "int" and dtype in "efdFD":
            assert value.form is not None
            self.require_value(value, -(2**53), 2**53)
        elif value.dtype in "efd" and dtype in INTEGERS:
            self.fail_unless_held(value, dtype)
        elif value.mixed and dtype in INTEGERS and dtype != value.kind:
            low, high = LIMITS[dtype]  # where it is Python's it raises
            self.fail_outside_of(value, low, min(high, LIMITS["l"][1]))
        if value.dtype in "efdFD" and dtype != value.dtype:
            self.numpy_floats = True
        id: int = self.truth_id(value) if dtype == "?" else self.emit(value, dtype)
        return id

    def fail_outside_of(self, value: Value, low: int, high: int) -> None:
        apply, wide = self.writer.apply, "L" if value.kind == "L" else "l"
        id = self.emit(value, wide)
        outside = []
        if high < LIMITS[wide][1]:
            outside.append(apply("Greater", [id, self.writer.constant(high, wide)]))
        if low > LIMITS[wide][0]:
            outside.append(apply("Less", [id, self.writer.constant(low, wide)]))
        if outside:
            self.fail_where(apply("LogicalOr", outside) if outside[1:] else outside[0])

    def fail_unless_held(self, value: Value, dtype: str) -> None:
        """Where a float's whole part is no number of the type, Python's number raises or wraps."""
        low, high = LIMITS[dtype]
        apply, real = self.writer.apply, self.emit(value, "d")
        if dtype == "l":  # as the conversion compares; -2**63 itself may be Python's
            limit = self.writer.constant(2.0**63, "d")
            self.fail_where(
                apply("LogicalNot", [apply("Less", [apply("Absolute", [real]), limit])])
            )
            return
        # -0.5 and 255.5 are held as 0 and 255. 2**63 - 1 is no float: 2**63 is.
        least = self.writer.constant(float(low - 1), "d")
        above = apply("Greater" if low > -(2**53) else "GreaterEqual", [real, least])
        below = apply("Less", [real, self.writer.constant(float(high + 1), "d")])
        inside = apply("LogicalAnd", [above, below])
        self.fail_where(apply("LogicalNot", [inside]))

    # ---- which share elements -------------------------------------------------------------------

    def same_elements(self, x: View, y: View) -> bool:
        """Of one array."""
        return all(map(_same_axis, x.axes, y.axes))

    def are_apart(self, x: View, y: View) -> bool:
        """Whether two parts of one array have no element in common, which the guard asks then."""
        for a, b in zip(x.axes, y.axes, strict=True):
            if _interleave(a, b):
                return True
            for first, second in ((a, b), (b, a)):
                gap = _start(second) - _end(first)
                now = self.signs_now(gap)
                if now is not None and now[0] >= 0:
                    self.require(gap, 0, None)
                    return True
        return False


def _ends(axis: Value | Span) -> tuple[Form, Form]:
    """The first and the last element; of no elements they mean nothing."""
    if isinstance(axis, Value):
        assert axis.form is not None
        return axis.form, axis.form
    assert axis.start.form is not None and axis.extent.form is not None
    return axis.start.form, axis.start.form + (axis.extent.form - Form((), 1)).times(axis.step)


def _start(axis: Value | Span) -> Form:
    first, last = _ends(axis)
    return last if isinstance(axis, Span) and axis.step < 0 else first


def _end(axis: Value | Span) -> Form:
    """Behind the last one."""
    first, last = _ends(axis)
    return (first if isinstance(axis, Span) and axis.step < 0 else last) + Form((), 1)


def _interleave(a: Value | Span, b: Value | Span) -> bool:
    """Whether the steps never meet: even and odd elements."""
    steps = [axis.step for axis in (a, b) if isinstance(axis, Span)]
    distance = _ends(a)[0] - _ends(b)[0]
    common = math.gcd(*steps)
    return common > 1 and not distance.terms and distance.constant % common != 0


def _same_axis(x: Value | Span, y: Value | Span) -> bool:
    if isinstance(x, Span) and isinstance(y, Span):
        ends = x.start.form == y.start.form and x.extent.form == y.extent.form
        return ends and x.step == y.step
    return isinstance(x, Value) and isinstance(y, Value) and x.form == y.form


def _sums_in(index: ast.expr) -> set[ast.AST]:
    """The sums and differences that an index of no more than three numbers is."""
    found: set[ast.AST] = set()
    numbers = 0
    left = [index]
    while left:
        node = left.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            found.add(node)
            left += node.left, node.right
        else:
            numbers += 1
    return found if numbers <= 3 else set()
