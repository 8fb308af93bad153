"""rows.py: whole rows: NumPy's expressions over parts of arrays, as loops over their elements.

A statement such as `a[i, :] += b[i] * c` becomes a loop that computes and stores one element after
another. That is what NumPy does if no element is read after it is written: every part that the
expression reads is the very one that is written, or has no element in common with it. Where others
are read, as in `u[1:-1] += u[2:] - u[:-2]`, all elements are computed first, into an array of the
nest's own, and then copied.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from frit.loops.nest.complexes import is_complex
from frit.loops.nest.forms import Form
from frit.loops.nest.values import Item, Refused, Row, SmallArray, Value, View
from frit.loops.nest.views import ZERO, number_itself
from frit.loops.run.list_runs import ROOM, RoomNeeded

_WITHOUT_EFFECTS = {"abs", "int", "len", "max", "min"}


class Rows:
    """Mixed into NestWriter."""

    writer: Any
    forms: Any
    loops: list[Any]
    of_smalls: Any
    open_loops: list[Any]
    load: Any
    store: Any
    store: Any
    store_cast: Any
    emit: Any
    require: Any
    require_text: Any
    are_apart: Any
    arrays: dict[str, View]
    inputs: Any
    same_elements: Any
    types_of_binary: Any
    in_type: Any
    numpy_binary: Any
    plain_int: Any
    shown: Any
    element_of: Any
    operand: Any
    place: Any
    kind_of_binary: Any
    numpy_floats: bool

    def row_of(self, node: ast.AST, item: View | Row) -> Row:
        if isinstance(item, Row):
            return item
        return Row(
            item.array.dtype,
            [span.extent for span in item.spans],
            lambda indices: self.load(node, self.within(item, indices)),
            [item],
        )

    def within(self, view: View, indices: Sequence[Value]) -> View:
        """The element of the view; the indices are inside of it."""
        pairs = zip(view.spans, indices, strict=True)
        return view.at([self.element_of(span, index) for span, index in pairs])

    def elementwise(
        self,
        node: ast.AST,
        inputs: Sequence[Value | View | Row],
        kind_of: Callable[[Sequence[Value]], str],
        compute: Callable[[Sequence[Value]], Value],
        *,
        has_complex: bool = False,
    ) -> Row:
        """The row of compute() of each element of the inputs, broadcast as NumPy does.

        has_complex: whether compute() is what NumPy's loops over complex numbers do.
        """
        parts = [self.row_of(node, x) if isinstance(x, View) else x for x in inputs]
        rows = [x for x in parts if isinstance(x, Row)]
        extents = max((row.extents for row in rows), key=len)
        for row in rows:
            self.require_extents(row.extents, extents)
        samples = [Value(x.kind) if isinstance(x, Row) else x for x in parts]
        if is_complex(*samples) and not has_complex:
            raise Refused(node, "this of a row of complex numbers")
        kind = kind_of(samples)
        small: Row | None = self.of_smalls(parts, kind, compute)
        if small is not None:
            return small

        def element(indices: Sequence[Value]) -> Value:
            values = [
                x.element(indices[len(indices) - len(x.extents) :]) if isinstance(x, Row) else x
                for x in parts
            ]
            return compute(values)

        return Row(kind, list(extents), element, [view for row in rows for view in row.reads])

    def require_extents(self, few: Sequence[Value], many: Sequence[Value]) -> None:
        """Equal from the end on; axes of one element that NumPy would repeat fail the guard."""
        for x, y in zip(reversed(few), reversed(many), strict=False):
            assert x.form is not None and y.form is not None
            if x.form != y.form:
                self.require(x.form - y.form, 0, 0)

    def row_binary(
        self, node: ast.AST, op: ast.operator, x: Value | View | Row, y: Value | View | Row
    ) -> Row:
        if any(isinstance(v, Value) and v.mixed for v in (x, y)):
            raise Refused(node, "a number that may be of two types")
        if isinstance(op, ast.Pow):
            return self.row_power(node, x, y)
        plain = [self.plain_int(v) if isinstance(v, Value) and v.is_python else v for v in (x, y)]

        def compute(values: Sequence[Value]) -> Value:
            return self.numpy_binary(node, op, *values)

        # Whether NumPy's products of complex numbers are fused depends on their strides.
        has_complex = isinstance(op, (ast.Add, ast.Sub))
        row = self.elementwise(
            node,
            plain,
            lambda v: self.kind_of_binary(node, op, *v),
            compute,
            has_complex=has_complex,
        )
        samples = [x if isinstance(x, Value) else Value(_kind_of(x)) for x in plain]
        types_ = self.types_of_binary(node, op, *samples)
        for sample, dtype in zip(samples, types_, strict=False):
            self.in_type(node, sample, dtype)  # also of a row that nobody uses
        return row

    def row_power(self, node: ast.AST, x: Value | View | Row, y: Value | View | Row) -> Row:
        if not isinstance(y, Value) or y.literal not in (2, 3, 4) or isinstance(x, Value):
            raise Refused(node, "a power of a row")
        if y.literal == 2:
            # NumPy squares.
            multiply = ast.Mult()
            return self.elementwise(
                node,
                [x],
                lambda v: self.kind_of_binary(node, multiply, v[0], v[0]),
                lambda v: self.numpy_binary(node, multiply, v[0], v[0]),
            )
        power = ast.Pow()
        return self.elementwise(
            node,
            [x, y],
            lambda v: self.kind_of_binary(node, power, *v),
            lambda v: self.numpy_binary(node, power, *v),
        )

    # ---- statements -----------------------------------------------------------------------------

    def store_row(self, node: ast.AST, target: View, item: Item) -> None:
        """target[...] = item."""
        if isinstance(item, View):
            item = self.row_of(node, item) if item.spans else self.load(node, item)
        if isinstance(item, tuple):
            self.store_numbers(node, target, item)
            return
        if not isinstance(item, (Value, Row)):
            raise Refused(node, "this into a row")
        extents = [span.extent for span in target.spans]
        if isinstance(item, Row):
            if len(item.extents) > len(extents):
                raise Refused(node, "a row into one with fewer axes")
            self.require_extents(item.extents, extents)
            if not self.reads_as_written(node, target, item.reads):
                room = self.room_of(target)
                self.store_elements(node, room, item)
                item = self.row_of(node, room)
        elif item.mixed:
            raise Refused(node, "a number that may be of two types")
        if isinstance(item, SmallArray) and len(item.shape) == len(extents):
            for at in itertools.product(*map(range, item.shape)):
                numbers = [number_itself(k) for k in at]
                self.store_cast(node, self.within(target, numbers), item.element(numbers))
            return
        self.store_elements(node, target, item)

    def store_numbers(self, node: ast.AST, target: View, numbers: tuple[Item, ...]) -> None:
        """target[..] = x, y: NumPy stores each for itself."""
        if len(target.spans) != 1 or not all(isinstance(x, Value) for x in numbers):
            raise Refused(node, "this into a row")
        extent = target.spans[0].extent
        self.require(extent.form, len(numbers), len(numbers))
        for k, number in enumerate(numbers):
            self.store(node, self.within(target, [number_itself(k)]), number)

    def store_elements(self, node: ast.AST, target: View, source: Value | Row) -> None:
        def body(indices: list[Value]) -> None:
            at = self.within(target, indices)
            if isinstance(source, Row):
                few = indices[len(indices) - len(source.extents) :]
                self.store_cast(node, at, source.element(few))
            else:
                self.store(node, at, source)

        self.over(node, [span.extent for span in target.spans], body)

    def room_of(self, target: View) -> View:
        """The same elements of an array of the nest's own."""
        array = target.array
        if array.name + ROOM not in self.inputs.names:
            raise RoomNeeded(array.name, array.number, array.dtype, array.rank)
        return View(self.arrays[array.name + ROOM].array, target.axes)

    def exchange(self, node: ast.Assign) -> bool:
        """A[[i, j]] = A[[j, i]] and A[:, [i, j]] = A[:, [j, i]]: one element of each row after
        another, all read before any is written. False: it is something else."""
        target, source = node.targets[0], node.value
        if not isinstance(target, ast.Subscript) or not isinstance(source, ast.Subscript):
            return False
        to, read = _picked(target), _picked(source)
        if len(node.targets) > 1 or not to or not read or len(to) != len(read):
            return False
        same = _without_lists(target)
        if ast.dump(same) != ast.dump(_without_lists(source)):
            return False
        if any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in ast.walk(same)):
            return False
        indices = [k for part in (*read, *to) for k in part.slice.elts]  # type: ignore[attr-defined]
        calls = [part for k in indices for part in ast.walk(k) if isinstance(part, ast.Call)]
        if any(getattr(call.func, "id", "") not in _WITHOUT_EFFECTS for call in calls):
            return False
        numbers = [self.operand(k) for k in indices if not isinstance(k, ast.Slice)]
        kinds = [getattr(number, "kind", "") for number in numbers]
        if "L" in kinds:  # with other integers NumPy makes floats of them
            return False
        views = [self.place(part) for part in (*read, *to)]
        first = views[0]
        if not all(isinstance(view, View) for view in views):
            return False
        if len(first.spans) > 0:
            self.require_text(f"is_plain(v{first.array.number})")

        def body(indices: list[Value]) -> None:
            elements = [self.within(view, indices) for view in views]
            values = [self.load(source, element) for element in elements[: len(read)]]
            for element, value in zip(elements[len(read) :], values, strict=True):
                self.store_cast(target, element, value)

        self.over(node, [span.extent for span in first.spans], body)
        return True

    def update_row(self, node: ast.AST, op: ast.operator, target: View, item: Item) -> None:
        if not isinstance(item, (Value, View, Row)):
            raise Refused(node, "this operator with a row")
        new = self.row_binary(node, op, target, item)
        if not numpy.can_cast(new.kind, target.array.dtype, "same_kind"):
            raise Refused(node, "an operation in place whose result is of another kind")
        if len(new.extents) != len(target.spans):
            raise Refused(node, "a row with more axes than the one that is changed")
        self.store_row(node, target, new)

    def reads_as_written(self, node: ast.AST, target: View, reads: Sequence[View]) -> bool:
        """Whether it reads no element of the target but the one that it then writes."""
        found = True
        for read in reads:
            if read.array.number != target.array.number:
                self.require_text(f"not overlap(v{read.array.number}, v{target.array.number})")
                continue
            self.require_text(f"is_plain(v{target.array.number})")
            if not self.same_elements(read, target):
                found = self.are_apart(target, read) and found
        return found

    def over(
        self,
        node: ast.AST,
        extents: Sequence[Value],
        body: Callable[[list[Value]], None],
        *,
        tree: bool = False,
    ) -> None:
        """Loops over all elements. tree: one axis, whose sums are NumPy's tree."""

        def level(indices: list[Value]) -> None:
            if len(indices) == len(extents):
                body(indices)
                return
            extent = extents[len(indices)]
            assert extent.form is not None
            self.loops.append(self.shown(node))

            def inside(number: int) -> None:
                form = self.forms.between(Form(), extent.form - Form((), 1))
                self.open_loops.append((Form(), extent.form))
                level([*indices, Value("int", number, form=form)])
                self.open_loops.pop()

            self.writer.loop(self.emit(ZERO, "l"), self.emit(extent, "l"), inside, tree=tree)

        level([])


def _picked(node: ast.Subscript) -> list[ast.Subscript]:
    """a[i, :], a[j, :] for a[[i, j], :]; empty: it has no list, or something else beside it."""
    keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    lists = [k for k, key in enumerate(keys) if isinstance(key, ast.List)]
    if len(lists) != 1 or not all(isinstance(key, (ast.List, ast.Slice)) for key in keys):
        return []
    at = lists[0]
    parts = []
    for index in keys[at].elts:
        indices = ast.Tuple([*keys[:at], index, *keys[at + 1 :]], ast.Load())
        parts.append(ast.copy_location(ast.Subscript(node.value, indices, node.ctx), node))
    return parts


def _without_lists(node: ast.Subscript) -> ast.Tuple:
    """What is the same on both sides of an exchange: the array, and the other indices."""
    keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    others = [ast.List([], ast.Load()) if isinstance(key, ast.List) else key for key in keys]
    array = ast.parse(ast.unparse(node.value), mode="eval").body  # as something that is read
    return ast.Tuple([array, *others], ast.Load())


def _kind_of(x: View | Row) -> str:
    return x.kind if isinstance(x, Row) else x.array.dtype
