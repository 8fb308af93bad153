"""series.py: what a For goes through: range, arrays, enumerate, zip, np.ndindex, np.linspace ..

Each is loops over numbers, and what their indices stand for.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from frit.loops.nest.forms import Form
from frit.loops.nest.values import (
    MOST_ITEMS,
    Counter,
    Flat,
    Item,
    Library,
    ListPart,
    Refused,
    Series,
    SmallArray,
    Value,
    View,
)
from frit.loops.nest.views import UNIT, ZERO
from frit.loops.run.list_runs import COUNT

MOST_NUMBERS = 2**30  # of a series that NumPy has in memory: of more, a MemoryError may be due
FIFTY = Value("int", literal=50, form=Form((), 50))  # of linspace, if nothing is said


class Serieses:
    """Mixed into NestWriter."""

    emit: Any
    first_of_list: Any
    assigned_inside: set[str]
    forms: Any
    note_holder: Any
    number: Any
    numpy_floats: bool
    operand: Any
    callee: Any
    integer: Any
    int_binary: Any
    integer_of: Any
    load: Any
    sum_of: Any
    element_of: Any
    difference_of: Any
    require: Any
    require_text: Any
    slice_of_list: Any
    sliced: set[str]
    require_value: Any
    signs_now: Any
    sign: Any
    to_float: Any
    within: Any
    writer: Any

    def series(self, node: ast.expr) -> Series:
        if isinstance(node, ast.Call):
            callee = self.callee(node.func)
            kind = _KINDS.get(id(callee.value)) if isinstance(callee, Library) else None
            if kind is not None:
                return getattr(self, "series_of_" + kind)(node)
        part = self.slice_of_list(node)
        if part is not None:
            self.sliced.add(part.view.array.name)
            return self.items_of_list(node, part)
        if isinstance(node, ast.List):  # nobody else has it
            node = ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)
        item = self.operand(node)
        if isinstance(item, View) and item.spans:
            return self.elements(node, item)
        if isinstance(item, Flat):
            flat = item.view
            counters = [Counter(ZERO, span.extent, UNIT) for span in flat.spans]
            load = lambda indices: self.load(node, self.within(flat, indices))  # noqa: E731
            return Series(counters, load, lambda indices: None)
        if isinstance(item, SmallArray) and len(item.shape) == 1:
            # The elements are those of now: nobody may change the array meanwhile.
            self.note_holder(node, f"for {node.lineno}.{node.col_offset}", item)
            return Series([Counter(ZERO, item.extents[0], UNIT)], item.element, lambda at: None)
        if isinstance(item, ListPart) and not self.grows(item):
            return self.items_of_list(node, item)
        if isinstance(item, tuple):
            return self.literals(node, item)
        raise Refused(node, "a loop over something else than numbers and arrays")

    def elements(self, node: ast.AST, view: View) -> Series:
        """The elements of the first axis."""

        def item(indices: Sequence[Value]) -> Item:
            part = self.first_of(view, indices[0])
            return part if part.spans else self.load(node, part)

        return Series([Counter(ZERO, view.spans[0].extent, UNIT)], item, lambda indices: None)

    def grows(self, part: ListPart) -> bool:
        """Whether the loop that begins appends to the list."""
        return part.view.array.name + COUNT in self.assigned_inside

    def items_of_list(self, node: ast.AST, part: ListPart) -> Series:
        def item(indices: Sequence[Value]) -> Item:
            found: Item = self.first_of_list(node, part, indices[0])
            return found

        counter = Counter(ZERO, part.view.spans[0].extent, UNIT)
        return Series([counter], item, lambda indices: None)

    def literals(self, node: ast.AST, items: tuple[Any, ...]) -> Series:
        """A few numbers, or tuples of them: whole ones at equal distances are a range."""
        numbers = [x.literal if isinstance(x, Value) and x.kind == "int" else None for x in items]
        steps = {y - x for x, y in itertools.pairwise(numbers)} if None not in numbers else {0}
        if not items or len(steps) > 1 or 0 in steps:
            return self.chosen(node, items)
        step = steps.pop() if steps else 1
        ends = (numbers[0], numbers[-1] + (1 if step > 0 else -1), step)
        begin, end, by = (Value("int", literal=x, form=Form((), x)) for x in ends)
        return of_indices([Counter(begin, end, by)], lambda indices: indices[0])

    def chosen(self, node: ast.AST, items: tuple[Any, ...]) -> Series:
        if not 0 < len(items) <= MOST_ITEMS:
            raise Refused(node, "a loop over these items")
        count = Value("int", literal=len(items), form=Form((), len(items)))
        is_tuple = isinstance(items[0], tuple)
        columns = [*zip(*items, strict=True)] if is_tuple and _are_even(items) else [items]

        def item(indices: Sequence[Value]) -> Item:
            found = tuple(self.one_of_literals(node, x, indices[0]) for x in columns)
            return found if is_tuple else found[0]

        return of_indices([Counter(ZERO, count, UNIT)], item)

    def one_of_literals(self, node: ast.AST, items: Sequence[Any], index: Value) -> Value:
        kinds = {x.kind if isinstance(x, Value) and x.literal is not None else "" for x in items}
        kind = kinds.pop()
        if kinds or kind not in ("int", "float"):
            raise Refused(node, "an item of these")
        dtype = "l" if kind == "int" else "d"
        apply, number = self.writer.apply, self.emit(index, "l")
        id = self.emit(items[0], dtype)
        for k, x in enumerate(items[1:], 1):
            is_it = apply("Equal", [number, self.writer.constant(k, "l")])
            id = apply("Select", [is_it, self.emit(x, dtype), id])
        form = None
        if kind == "int":
            form = self.forms.between(*(f(x.literal for x in items) for f in (min, max)))
        return Value(kind, id, form=form)

    def first_of(self, view: View, index: Value) -> View:
        """view[index], of an index that is inside."""
        first, *others = view.spans
        axes: list[Any] = list(view.axes)
        axes[next(k for k, axis in enumerate(axes) if axis is first)] = self.element_of(
            first, index
        )
        return View(view.array, tuple(axes))

    def series_of_range(self, node: ast.Call) -> Series:
        if node.keywords or not 1 <= len(node.args) <= 3:
            raise Refused(node, "these arguments of range()")
        bounds = [self.integer(x) for x in node.args]
        if len(bounds) == 1:
            bounds = [ZERO, bounds[0]]
        step = bounds[2] if len(bounds) == 3 else UNIT
        return of_indices([Counter(bounds[0], bounds[1], step)], lambda indices: indices[0])

    def series_of_arange(self, node: ast.Call) -> Series:
        """Of ints of Python's: NumPy's int64; of floats among them: float64."""
        if not node.keywords and 1 <= len(node.args) <= 3:
            ends = [self.number(x) for x in node.args]
            if any(x.kind == "float" for x in ends):
                return self.series_of_floats(node, ends)
        series = self.series_of_range(node)
        counter = series.counters[0]
        if any(x.kind != "int" for x in (counter.begin, counter.end, counter.step)):
            raise Refused(node, "arange() of numbers of NumPy's")
        reach = MOST_NUMBERS * abs(counter.step.literal or 1)
        self.require_value(self.difference_of(counter.end, counter.begin), -reach, reach)

        def item(indices: Sequence[Value]) -> Item:
            return Value("l", self.emit(indices[0], "l"), form=indices[0].form)

        return Series(series.counters, item, item)

    def series_of_floats(self, node: ast.Call, ends: list[Value]) -> Series:
        """arange() of floats: as many as ceil((stop - start) / step) says, made as NumPy's are."""
        texts = [_text_of(x) for x in ends]
        if None in texts or any(x.kind not in ("int", "float") for x in ends):
            raise Refused(node, "arange() of floats that are computed")
        zero, one = Value("float", literal=0.0), Value("float", literal=1.0)
        if len(ends) == 1:
            ends, texts = [zero, *ends], ["0.0", *texts]
        if len(ends) == 2:
            ends, texts = [*ends, one], [*texts, "1.0"]
        for x in ends:
            if x.kind == "int" and x.literal is None:
                self.require_value(x, -(2**53), 2**53)
        count = f"count_of({','.join(map(str, texts))})"
        self.require_text(f"{count} <= {MOST_NUMBERS}")
        apply, constant = self.writer.apply, self.writer.constant
        start, stop, step = (self.emit(x, "d") for x in ends)
        parts = apply("TrueDivide", [apply("Subtract", [stop, start]), step])
        rounds = apply("Ceil", [parts])
        small = apply("LessEqual", [rounds, constant(float(MOST_NUMBERS), "d")])
        above = apply("GreaterEqual", [rounds, constant(0.0, "d")])
        is_held = apply("LogicalAnd", [small, above])
        rounds = apply("Select", [is_held, rounds, constant(0.0, "d")])
        second = apply("Add", [start, step])
        distance = apply("Subtract", [second, start])

        def item(indices: Sequence[Value]) -> Item:
            index = self.emit(indices[0], "l")
            moved = apply("Multiply", [self.writer.cast(index, "d"), distance])
            is_second = apply("Equal", [index, constant(1, "l")])
            return Value("d", apply("Select", [is_second, second, apply("Add", [start, moved])]))

        form = self.forms.of_text(count, MOST_NUMBERS)
        end = Value("int", self.writer.cast(rounds, "l"), form=form)
        return Series([Counter(ZERO, end, UNIT)], item, lambda indices: None)

    def series_of_linspace(self, node: ast.Call) -> Series:
        given = {k.arg: k.value for k in node.keywords}
        if not 2 <= len(node.args) <= 3 or set(given) - {"num"} or len(node.args) + len(given) > 3:
            raise Refused(node, "these arguments of linspace()")
        ends = [self.number(x) for x in node.args[:2]]
        if any(x.kind not in ("int", "float", "d") for x in ends):
            raise Refused(node, "linspace() between numbers of this type")
        count_node = node.args[2] if len(node.args) == 3 else given.get("num")
        count = self.integer(count_node) if count_node is not None else FIFTY
        if count.kind != "int":
            raise Refused(node, "linspace() of a number of NumPy's")
        self.require_value(count, 0, MOST_NUMBERS)  # else an error
        self.numpy_floats = True
        apply, constant = self.writer.apply, self.writer.constant
        start, stop = (self.emit(self.to_float(node, x), "d") for x in ends)
        last = apply("Subtract", [self.emit(count, "l"), constant(1, "l")])
        parts = self.writer.cast(last, "d")
        width = apply("Subtract", [stop, start])
        # Of one number there are no parts: it is 0 times the width from the start.
        has_parts = apply("Greater", [last, constant(0, "l")])
        parts = apply("Select", [has_parts, parts, constant(1.0, "d")])
        step = apply("TrueDivide", [width, parts])
        is_nothing = apply("Equal", [step, constant(0.0, "d")])

        def item(indices: Sequence[Value]) -> Item:
            index = self.emit(indices[0], "l")
            number = self.writer.cast(index, "d")
            by_step = apply("Multiply", [number, step])
            by_part = apply("Multiply", [apply("TrueDivide", [number, parts]), width])
            distance = apply("Select", [is_nothing, by_part, by_step])
            is_last = apply("LogicalAnd", [has_parts, apply("Equal", [index, last])])
            between = apply("Add", [distance, start])
            return Value("d", apply("Select", [is_last, stop, between]))

        return Series([Counter(ZERO, count, UNIT)], item, lambda indices: None)

    def series_of_enumerate(self, node: ast.Call) -> Series:
        given = {k.arg: k.value for k in node.keywords}
        if not 1 <= len(node.args) <= 2 or set(given) - {"start"}:
            raise Refused(node, "these arguments of enumerate()")
        series = self.series(node.args[0])
        if len(series.counters) == 1:
            series = self.counted(node, series)
        start_node = node.args[1] if len(node.args) == 2 else given.get("start")
        start = self.integer(start_node) if start_node is not None else ZERO

        def number(indices: Sequence[Value]) -> Value:
            at = indices[0]
            for counter, index in zip(series.counters[1:], indices[1:], strict=True):
                rows = self.int_binary(node, ast.Mult(), at, counter.end)
                at = self.int_binary(node, ast.Add(), rows, index)
            return at

        return Series(
            series.counters,
            lambda indices: (self.sum_of(start, number(indices)), series.item(indices)),
            lambda indices: (self.sum_of(start, number(indices)), series.numbers(indices)),
        )

    def series_of_zip(self, node: ast.Call) -> Series:
        given = {k.arg: getattr(k.value, "value", None) for k in node.keywords}
        is_strict = given.pop("strict", False)
        if not node.args or given or type(is_strict) is not bool:
            raise Refused(node, "these arguments of zip()")
        parts = [self.series(x) for x in node.args]
        if len(parts[0].counters) > 1:
            return self.series_of_grids(node, parts)
        parts = [self.counted(node, part) for part in parts]
        counters = [part.counters[0] for part in parts]
        shortest = counters[0]
        for counter in counters[1:]:
            now = self.signs_now(self.surplus(counter, shortest))
            if now is not None and now[1] < 0:
                shortest = counter
        for counter in counters:
            if counter is not shortest:
                self.require(self.surplus(counter, shortest), 0, 0 if is_strict else None)
        return Series(
            [shortest],
            lambda indices: tuple(part.item(indices) for part in parts),
            lambda indices: tuple(part.numbers(indices) for part in parts),
        )

    def series_of_grids(self, node: ast.AST, parts: Sequence[Series]) -> Series:
        """zip() of what goes through the same axes."""
        counters = parts[0].counters
        for part in parts[1:]:
            if len(part.counters) != len(counters):
                raise Refused(node, "several loops beside another number of them")
            for x, y in zip(part.counters, counters, strict=True):
                self.require(self.surplus(x, y), 0, 0)
        return Series(
            counters,
            lambda indices: tuple(part.item(indices) for part in parts),
            lambda indices: tuple(part.numbers(indices) for part in parts),
        )

    @staticmethod
    def surplus(x: Counter, y: Counter) -> Form:
        assert x.end.form is not None and y.end.form is not None
        return x.end.form - y.end.form

    def series_of_reversed(self, node: ast.Call) -> Series:
        if node.keywords or len(node.args) != 1:
            raise Refused(node, "these arguments of reversed()")
        argument = node.args[0]
        callee = self.callee(argument.func) if isinstance(argument, ast.Call) else None
        if isinstance(argument, ast.Call) and not (
            isinstance(callee, Library) and callee.value is range
        ):
            raise Refused(node, "reversed() of this")  # of an iterator: an error
        series = self.counted(node, self.series(argument))
        counter = series.counters[0]
        # From the last one down to the first.
        last = self.difference_of(counter.end, UNIT)
        below = Value("int", literal=-1, form=Form((), -1))
        return Series([Counter(last, below, below)], series.item, series.numbers)

    def series_of_ndindex(self, node: ast.Call) -> Series:
        items: list[Any] = []
        for argument in node.args:
            is_tuple = isinstance(argument, ast.Starred)
            item = self.operand(argument.value if isinstance(argument, ast.Starred) else argument)
            is_tuple = is_tuple or (isinstance(item, tuple) and len(node.args) == 1)
            items += item if is_tuple and isinstance(item, tuple) else [item]
        if node.keywords or not items or not all(isinstance(x, Value) for x in items):
            raise Refused(node, "these arguments of ndindex()")
        counters = []
        for item in items:
            end = self.integer_of(node, item)
            if end.kind != "int":
                raise Refused(node, "ndindex() of a number of NumPy's")
            self.require(end.form, 0, None)  # else an error
            counters.append(Counter(ZERO, end, UNIT))
        return of_indices(counters, tuple)

    def series_of_ndenumerate(self, node: ast.Call) -> Series:
        view = self.operand(node.args[0]) if len(node.args) == 1 else None
        if node.keywords or not isinstance(view, View) or not view.spans:
            raise Refused(node, "ndenumerate() of this")
        array = view

        def item(indices: Sequence[Value]) -> Item:
            return tuple(indices), self.load(node, self.within(array, indices))

        counters = [Counter(ZERO, span.extent, UNIT) for span in array.spans]
        return Series(counters, item, lambda indices: (tuple(indices), None))

    def counted(self, node: ast.AST, series: Series) -> Series:
        """The same, by one loop whose index counts from 0."""
        counter = series.counters[0]
        if len(series.counters) != 1 or counter.step.literal not in (1, -1):
            raise Refused(node, "several loops, or a range with a step, in another")
        if counter.counts_rounds:
            return series
        begin, end = counter.begin, counter.end
        if counter.step.literal == 1:
            rounds = self.difference_of(end, begin)
            move = self.sum_of
        else:
            rounds = self.difference_of(begin, end)
            move = self.difference_of
        return Series(
            [Counter(ZERO, rounds, UNIT)],
            lambda indices: series.item([move(begin, indices[0])]),
            lambda indices: series.numbers([move(begin, indices[0])]),
        )


def _are_even(items: Sequence[Any]) -> bool:
    return all(isinstance(x, tuple) and len(x) == len(items[0]) for x in items)


def _text_of(value: Value) -> str | None:
    """In a guard."""
    if value.literal is not None:
        finite = value.literal - value.literal == 0
        return repr(value.literal) if finite else None
    return value.argument


def of_indices(counters: list[Counter], item: Callable[[Sequence[Value]], Item]) -> Series:
    return Series(counters, item, item)


_KINDS = {
    id(builtins.range): "range",
    id(builtins.enumerate): "enumerate",
    id(builtins.zip): "zip",
    id(builtins.reversed): "reversed",
    id(numpy.arange): "arange",
    id(numpy.linspace): "linspace",
    id(numpy.ndindex): "ndindex",
    id(numpy.ndenumerate): "ndenumerate",
}
