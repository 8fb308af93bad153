"""reductions.py: sums, means, variances and extremes of rows and windows, as NumPy reduces them.

NumPy adds floats as a tree, over all elements of an expression or of a part of an array in the
order of memory. A window of few elements, `a[i - 1 : i + 2, j - 1 : j + 2]`, is written out.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from frit.loops.nest.forms import Form
from frit.loops.nest.values import COMPLEXES, FLOATS, INTEGERS, Refused, Row, Value, View
from frit.loops.nest.views import ZERO, number_itself
from frit.translate.record import replace

LEAF = 128  # of NumPy's tree of sums
_SUMS = {**dict.fromkeys("?bhil", "l"), **dict.fromkeys("BHIL", "L")}
# Sums of this many of them are exact as float64.
_SMALL_INTEGERS, _EXACT = "?bhiBHI", 2**20
MOST_SORTED = 64
# Sums of several axes, beyond a leaf, are worth it where NumPy's loops over rows are short; and
# NumPy adds up what fits its buffer.
LONGEST_ROW, _BITS_OF_BUFFER = 16, 13
_OPS = {"sum": "Add", "max": "Maximum", "min": "Minimum"}
_COUNT = "int" if type(numpy.count_nonzero([1])) is int else "l"  # by NumPy's version


class Reductions:
    """Mixed into NestWriter."""

    apply: Any
    as_0_or_1: Any
    elementwise: Any
    emit: Any
    forms: Any
    kind_of_binary: Any
    load: Any
    loops: list[Any]
    numpy_binary: Any
    numpy_floats: bool
    over: Any
    require: Any
    require_text: Any
    row_binary: Any
    row_of: Any
    shown: Any
    signs_now: Any
    truth_id: Any
    within: Any
    writer: Any

    def reduction(self, node: ast.AST, name: str, item: View | Row) -> Value:
        """Of all elements."""
        row = self.row_of(node, item)
        if row.kind in COMPLEXES:
            raise Refused(node, f"{name}() of a row of complex numbers")
        if name == "mean":
            return self.mean(node, row)
        if name == "median":
            return self.median(node, row)
        if name in ("argmax", "argmin"):
            return self.arg_extreme(node, "Greater" if name == "argmax" else "Less", row)
        if name in ("var", "std"):
            return self.variance(node, row, is_deviation=name == "std")
        if name == "sum" and row.kind in FLOATS:
            return self.float_sum(node, row)
        if name == "count_nonzero":
            return self.count_nonzero(node, row)
        if name in ("any", "all"):
            return self.any_or_all(node, name == "any", row)
        if name not in _OPS or (name != "sum" and row.kind == "?"):
            raise Refused(node, f"{name}() of a row")
        result = self.fold(node, name, row)
        if result.kind in INTEGERS and name != "sum" and isinstance(item, View):
            number = item.array.number
            ends = [self.forms.of_text(f"m{number}_{x}", None) for x in ("lo", "hi")]
            result.form = self.forms.between(*ends)
        return result

    def truths_of(self, row: Row) -> Row:
        def truth(indices: Sequence[Value]) -> Value:
            element = row.element(indices)
            if element.kind == "?":
                found: Value = self.as_0_or_1(element)
                return found
            return Value("?", self.truth_id(element))

        return Row("?", row.extents, truth, row.reads)

    def count_nonzero(self, node: ast.AST, row: Row) -> Value:
        count = self.fold(node, "sum", self.truths_of(row), "l")
        return Value(_COUNT, count.id, form=self.forms.between(Form(), self.size_of(row).form))

    def any_or_all(self, node: ast.AST, is_any: bool, row: Row) -> Value:
        op = "LogicalOr" if is_any else "LogicalAnd"
        truths = self.truths_of(row)
        elements = self.elements_of_window(truths, "?")
        if elements:
            id = elements[0]
            for other in elements[1:]:
                id = self.writer.apply(op, [id, other])
            return Value("?", id)
        place = self.writer.local("?")
        self.writer.write_local(place, self.writer.constant(not is_any, "?"))

        def body(indices: list[Value]) -> None:
            both = [self.writer.read_local(place), self.emit(truths.element(indices), "?")]
            self.writer.write_local(place, self.writer.apply(op, both))

        self.over(node, row.extents, body)
        return Value("?", self.writer.read_local(place))

    def fold(self, node: ast.AST, name: str, row: Row, kind: str = "") -> Value:
        """sum, max or min, where the order of the elements does not matter."""
        kind = kind or (_SUMS.get(row.kind, row.kind) if name == "sum" else row.kind)
        op = _OPS[name]
        elements = self.elements_of_window(row, kind)
        if elements is not None:
            id = elements[0]
            for other in elements[1:]:
                id = self.writer.apply(op, [id, other])
            return Value(kind, id)
        place = self.writer.local(kind)
        if name == "sum":
            self.writer.write_local(place, self.writer.constant(0, kind))
        else:
            for extent in row.extents:
                self.require(extent.form, 1, None)
            first = row.element([ZERO for _ in row.extents])
            self.writer.write_local(place, self.emit(first, kind))

        def body(indices: list[Value]) -> None:
            value = self.emit(row.element(indices), kind)
            result = self.writer.apply(op, [self.writer.read_local(place), value])
            self.writer.write_local(place, result)

        self.over(node, row.extents, body)
        return Value(kind, self.writer.read_local(place))

    def arg_extreme(self, node: ast.AST, op: str, row: Row) -> Value:
        """Which element is the first of the extreme ones, or the first NaN."""
        if len(row.extents) != 1:
            raise Refused(node, "argmax() or argmin() of several axes")
        if row.kind == "?":
            row = replace(self.truths_of(row), kind="B")
        [extent] = row.extents
        self.require(extent.form, 1, None)
        apply, read, write = self.writer.apply, self.writer.read_local, self.writer.write_local
        best, at = self.writer.local(row.kind), self.writer.local("l")
        write(best, self.emit(row.element([ZERO]), row.kind))
        write(at, self.writer.constant(0, "l"))

        def body(indices: list[Value]) -> None:
            x, y = self.emit(row.element(indices), row.kind), read(best)
            takes = apply(op, [x, y])
            if row.kind in FLOATS:
                is_first_nan = [apply("NotEqual", [x, x]), apply("Equal", [y, y])]
                takes = apply("LogicalOr", [takes, apply("LogicalAnd", is_first_nan)])
            write(best, apply("Select", [takes, x, y]))
            write(at, apply("Select", [takes, self.emit(indices[0], "l"), read(at)]))

        self.over(node, [extent], body)
        form = self.forms.between(Form(), extent.form - Form((), 1))
        return Value("l", read(at), form=form)

    def mean(self, node: ast.AST, row: Row) -> Value:
        if row.kind in FLOATS:
            total, kind, most = self.float_sum(node, row), row.kind, None
        elif row.kind in _SMALL_INTEGERS:
            total, kind, most = self.fold(node, "sum", row), "d", _EXACT
        else:
            raise Refused(node, "mean() of a row of such integers")
        return self.over_count(total, kind, row, most)

    def over_count(self, total: Value, kind: str, row: Row, most: int | None = None) -> Value:
        """total / the number of elements, of which there is one at least."""
        each = None if most is None else int(most ** (1 / len(row.extents)))
        for extent in row.extents:
            self.require(extent.form, 1, each)
        return self.quotient(total, kind, self.size_of(row))

    def quotient(self, total: Value, kind: str, count: Value) -> Value:
        self.numpy_floats = True
        return self.apply("TrueDivide", kind, (total, kind), (count, kind))

    def size_of(self, row: Row) -> Value:
        size, *others = row.extents
        for extent in others:
            form = self.forms.product(size.form, extent.form)
            size = self.apply("Multiply", "int", (size, "l"), (extent, "l"))
            size.form = form
        return size

    def variance(self, node: ast.AST, row: Row, *, is_deviation: bool) -> Value:
        """The mean of the squares of what is left of the row without its mean."""
        if row.kind not in FLOATS or row.kind == "e":
            raise Refused(node, "var() or std() of such a row")
        rest = self.row_binary(node, ast.Sub(), row, self.mean(node, row))
        squares = self.row_binary(node, ast.Mult(), rest, rest)
        result = self.over_count(self.float_sum(node, squares), row.kind, row)
        return self.apply("Sqrt", row.kind, (result, row.kind)) if is_deviation else result

    def median(self, node: ast.AST, row: Row) -> Value:
        """The mean of the one or two in the middle. NaN wins all comparisons."""
        if row.kind in "?e":
            raise Refused(node, "median() of such a row")
        elements = self.elements_of_window(row, row.kind)
        if elements is None or len(elements) > MOST_SORTED:
            raise Refused(node, f"median() of more than {MOST_SORTED}, or of a varying number")
        for low, high in comparisons(len(elements)):
            pair = elements[low], elements[high]
            elements[low] = self.writer.apply("Minimum", pair)
            elements[high] = self.writer.apply("Maximum", pair)
        middle = elements[(len(elements) - 1) // 2 : len(elements) // 2 + 1]
        kind = row.kind if row.kind in FLOATS else "d"
        if kind != row.kind:
            middle = [self.writer.cast(id, kind) for id in middle]
        total = self.tree_and_zero(kind, self.sum_of_elements(middle))
        return self.quotient(total, kind, number_itself(len(middle)))

    def dot(self, node: ast.AST, x: View | Row, y: View | Row) -> Value:
        """The sum of the products of two rows. (What order BLAS adds in is the processor's.)"""
        rows = [self.row_of(node, item) for item in (x, y)]
        if any(len(row.extents) != 1 for row in rows):
            raise Refused(node, "a product of matrices")
        product = self.row_binary(node, ast.Mult(), *rows)
        if product.kind in COMPLEXES or product.kind in "?e":
            raise Refused(node, "a product of such rows")
        if product.kind in FLOATS:
            return self.float_sum(node, product)
        return self.fold(node, "sum", product, product.kind)

    def dot_with_number(self, node: ast.AST, item: View | Row, number: Value) -> Row:
        """np.dot() of a row and a number."""
        row = self.row_of(node, item)
        if number.mixed:
            raise Refused(node, "a number that may be of two types")
        kind = numpy.result_type(row.kind, number.dtype).char  # the number is an array of its own
        if kind in COMPLEXES or kind == "e":
            raise Refused(node, "a product of such a row and a number")
        factor = Value(kind, self.emit(number, kind))
        is_by_blas = kind in FLOATS
        if is_by_blas:
            # It adds the products to zeros, and none where the number is 0. (Not of one element.)
            self.numpy_floats = True
            for extent in row.extents:
                self.require(extent.form, 2, None)
            zero = Value(kind, self.writer.constant(0.0, kind))
            is_zero = self.writer.apply("Equal", [factor.id, zero.id])

        def compute(values: Sequence[Value]) -> Value:
            id = self.emit(values[0], kind)
            if not is_by_blas:
                return self.apply("Multiply", kind, (Value(kind, id), kind), (factor, kind))
            id = self.writer.apply("Select", [is_zero, zero.id, id])
            product = self.apply("Multiply", kind, (Value(kind, id), kind), (factor, kind))
            return self.apply("Add", kind, (product, kind), (zero, kind))

        found: Row = self.elementwise(node, [row, factor], lambda _: kind, compute)
        return found

    def norm(self, node: ast.AST, item: View | Row, order: float) -> Value:
        """The root of a row's product with itself; of other orders the sum, or an extreme, of
        absolute values."""
        row = given = self.row_of(node, item)
        if order != 2 and (len(row.extents) != 1 or row.kind in "?e"):
            raise Refused(node, "such a norm of this")
        if row.kind in INTEGERS:
            row = replace(
                row, kind="d", element=lambda at: Value("d", self.emit(given.element(at), "d"))
            )
        if order != 2:
            kind = row.kind
            sizes = self.elementwise(
                node, [row], lambda _: kind, lambda v: self.apply("Absolute", kind, (v[0], kind))
            )
            return self.reduction(
                node, "sum" if order == 1 else "max" if order > 0 else "min", sizes
            )
        square = self.dot(node, row, row)
        return self.apply("Sqrt", square.kind, (square, square.kind))

    # ---- windows --------------------------------------------------------------------------------

    def elements_of_window(self, row: Row, kind: str) -> list[int] | None:
        """Its elements in C order, if it has few, and at each call like this one as many."""
        sizes = self.sizes_of_window(row)
        if sizes is None:
            return None
        for extent, size in zip(row.extents, sizes, strict=True):
            if extent.form.terms:
                self.require(extent.form, size, size)
        return [
            self.emit(row.element([number_itself(k) for k in indices]), kind)
            for indices in itertools.product(*map(range, sizes))
        ]

    def sizes_of_window(self, row: Row) -> list[int] | None:
        sizes: list[int] = []
        for extent in row.extents:
            assert extent.form is not None
            size: int | None = extent.form.constant
            if extent.form.terms:
                size = self.size_now(extent.form) if len(row.extents) > 1 else None
            if not size:
                return None
            sizes.append(size)
        return sizes if math.prod(sizes) <= LEAF else None

    def size_now(self, form: Form, low: int = 1) -> int | None:
        """The number that it is at this call throughout, from `low` to LEAF."""
        high = LEAF
        while low <= high:
            middle = (low + high) // 2
            signs = self.signs_now(form - Form((), middle))
            if signs is None or signs[0] != signs[1]:
                return None
            if signs[0] == 0:
                return middle
            low, high = (middle + 1, high) if signs[0] > 0 else (low, middle - 1)
        return None

    # ---- sums of floats -------------------------------------------------------------------------

    def float_sum(self, node: ast.AST, row: Row) -> Value:
        """In the order of NumPy's sum(): 0 and the tree of all elements."""
        kind = row.kind
        if kind == "e":
            raise Refused(node, "a sum of float16 in the order of NumPy's")
        self.numpy_floats = True
        if len(row.extents) > 1:
            self.require_c_order(node, row)
        elements = self.elements_of_window(row, kind)
        if elements is not None:
            return self.tree_and_zero(kind, self.sum_of_elements(elements))
        size = self.size_of(row)
        now = self.signs_now(size.form - Form(constant=LEAF))
        if now is not None and now[1] <= 0:
            self.require(size.form, None, LEAF)
            return self.tree_and_zero(kind, self.sum_of_a_leaf(node, row, size))
        if len(row.extents) > 1:
            self.require_short_rows(node, row, size)
        place = self.writer.local(kind)
        self.writer.write_local(place, self.writer.constant(0.0, kind))

        def body(indices: list[Value]) -> None:
            value = self.element_at(row, self.emit(indices[0], "l"))
            total = self.writer.apply("Add", [self.writer.read_local(place), value])
            self.writer.write_local(place, total)

        self.over(node, [size], body, tree=True)
        return Value(kind, self.writer.read_local(place))

    def tree_and_zero(self, kind: str, id: int) -> Value:
        return self.apply("Add", kind, (Value(kind, id), kind), (Value("float", literal=0.0), kind))

    def require_c_order(self, node: ast.AST, row: Row) -> None:
        """NumPy takes the axes by falling strides."""
        for view in row.reads:
            if len(view.spans) > 1:
                if any(span.step != 1 for span in view.spans):
                    raise Refused(node, "a sum of several axes of a part with steps")
                self.require_text(f"is_c_ordered(v{view.array.number})")

    def require_short_rows(self, node: ast.AST, row: Row, size: Value) -> None:
        along = row.extents[-1].form
        assert along is not None and size.form is not None
        for form, most in ((along, LONGEST_ROW), (size.form, 2**_BITS_OF_BUFFER)):
            now = self.signs_now(form - Form(constant=most))
            if now is None or now[1] > 0:
                raise Refused(
                    node, f"a sum of several axes, of more than {LEAF} elements in long rows"
                )
            self.require(form, 1, most)

    def sum_of_elements(self, ids: Sequence[int]) -> int:
        """As NumPy adds up to 128 floats: eight sums side by side, then what is left over."""

        def add(x: int, y: int) -> int:
            id: int = self.writer.apply("Add", [x, y])
            return id

        left = len(ids) % 8 if len(ids) >= 8 else len(ids) - 1
        sums, rest = [*ids[: len(ids) - left]], ids[len(ids) - left :]
        while len(sums) > 8:
            sums = [*map(add, sums[:8], sums[8:16]), *sums[16:]]
        while len(sums) > 1:
            sums = [*itertools.starmap(add, zip(sums[::2], sums[1::2], strict=True))]
        total = sums[0]
        for id in rest:
            total = add(total, id)
        return total

    def element_at(self, row: Row, id: int) -> int:
        """The id-th in C order, of no more than NumPy's buffer holds."""
        apply = self.writer.apply

        def number(value: int) -> int:
            return self.writer.constant(value, "l")

        indices: list[Value] = []
        for k, extent in reversed([*enumerate(row.extents)]):
            form = self.forms.between(Form(), extent.form - Form((), 1))
            index = id
            if k > 0:
                # id // along, as a product: whole numbers are not divided in lanes
                along = self.emit(extent, "l")
                inverse = apply("FloorDivide", [number(4**_BITS_OF_BUFFER), along])
                inverse = apply("Add", [inverse, number(1)])
                product = apply("Multiply", [id, inverse])
                id = apply("RightShift", [product, number(2 * _BITS_OF_BUFFER)])
                index = apply("Subtract", [index, apply("Multiply", [id, along])])
            indices.insert(0, Value("int", index, form=form))
        return self.emit(row.element(indices), row.kind)

    def sum_of_a_leaf(self, node: ast.AST, row: Row, count: Value) -> int:
        """As sum_of_elements, of as many as there are.

        The loops are Whiles, whose sums keep their order; so other loops may have the lanes.
        """
        kind = row.kind
        apply, read, write = self.writer.apply, self.writer.read_local, self.writer.write_local
        size = self.emit(count, "l")
        total, position = self.writer.local(kind), self.writer.local("l")
        sums = [self.writer.local(kind) for _ in range(8)]

        def number(value: int) -> int:
            return self.writer.constant(value, "l")

        def element(id: int) -> int:
            return self.element_at(row, id)

        def add(place: int, id: int) -> None:
            write(place, apply("Add", [read(place), element(id)]))

        def up_to(end: int, step: int, body: Callable[[int], None]) -> None:
            def once() -> None:
                at = read(position)
                body(at)
                write(position, apply("Add", [at, number(step)]))

            self.loops.append(self.shown(node))
            self.writer.repeat(lambda: apply("Less", [read(position), end]), once)

        def few() -> None:
            write(total, self.writer.constant(-0.0, kind))
            write(position, number(0))

        def many() -> None:
            for k, place in enumerate(sums):
                write(place, element(number(k)))
            write(position, number(8))

            def eight(at: int) -> None:
                for k, place in enumerate(sums):
                    add(place, apply("Add", [at, number(k)]))

            left = apply("Remainder", [size, number(8)])
            up_to(apply("Subtract", [size, left]), 8, eight)
            ids = [read(place) for place in sums]
            while len(ids) > 1:
                ids = [apply("Add", [x, y]) for x, y in zip(ids[::2], ids[1::2], strict=True)]
            write(total, ids[0])

        self.writer.branch(apply("Less", [size, number(8)]), few, many)
        up_to(size, 1, lambda at: add(total, at))
        result: int = read(total)
        return result

    def python_sum(self, node: ast.AST, view: View) -> Value:
        """Python's sum() of a row: 0 + its first element + .., as a loop would have it."""
        if len(view.spans) != 1:
            raise Refused(node, "sum() of rows")
        zero = Value("int", literal=0, form=Form())
        add = ast.Add()
        kind = self.kind_of_binary(node, add, zero, Value(view.array.dtype))
        self.require(view.spans[0].extent.form, 1, None)  # else it is Python's 0
        place = self.writer.local(kind)
        self.writer.write_local(place, self.emit(zero, kind))

        def body(indices: list[Value]) -> None:
            so_far = Value(kind, self.writer.read_local(place))
            element = self.load(node, self.within(view, indices))
            total = self.numpy_binary(node, add, so_far, element)
            self.writer.write_local(place, self.emit(total, kind))

        self.over(node, [view.spans[0].extent], body)
        return Value(kind, self.writer.read_local(place))


def comparisons(n: int) -> Iterator[tuple[int, int]]:
    """What to compare and exchange to sort n elements: Batcher's odd-even mergesort."""
    size = 1
    while size < n:
        step = size
        while step >= 1:
            for first in range(step % size, n - step, 2 * step):
                for low in range(first, min(first + step, n - step)):
                    if low // (2 * size) == (low + step) // (2 * size):
                        yield low, low + step
            step //= 2
        size *= 2
