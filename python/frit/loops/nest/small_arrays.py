"""small_arrays.py: arrays of a few elements that a nest makes: np.array([x, y]), 2 * k, zeros(3).

Their elements are numbers of the nest, and have no memory. A variable that holds such an array is
as many variables, `k[0]`, `k[1]`, ..: so it may be given a new one in each round, or be changed in
place, where no other variable can hold the same array (each array that is made has a number).
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from frit.loops.nest.values import (
    COMPLEXES,
    DTYPES,
    FLOATS,
    INTEGERS,
    Again,
    Item,
    Library,
    Listed,
    Refused,
    Row,
    SmallArray,
    SmallPart,
    Span,
    Value,
    View,
)
from frit.loops.nest.views import ZERO, number_itself

MOST_ELEMENTS = 24

# What makes an array of these arguments.
_LIKE = {numpy.zeros_like: 0, numpy.ones_like: 1, numpy.empty_like: 0}
_FILLED = {numpy.zeros: 0, numpy.ones: 1, numpy.empty: 0}
_JOINING = (numpy.concatenate, numpy.hstack)
_OF_ITEMS = (numpy.array, numpy.asarray)
MAKERS = (*_LIKE, *_FILLED, *_JOINING, *_OF_ITEMS, numpy.copy, numpy.cross)
_TYPES = {float: "d", int: "l", bool: "?", complex: "D"}


class SmallArrays:
    """Mixed into NestWriter."""

    assign_variable: Any
    binary: Any
    bound: dict[str, Any]
    cast_for: Any
    count: Any
    counters: dict[str, int]
    creations: int
    dot: Any
    emit: Any
    env: dict[str, Any]
    given_others: set[str]
    index: Any
    integer: Any
    inputs: Any
    integer_of: Any
    kept_rows: set[int]
    knowledge: Any
    last_serial: int | None
    leaves_nest: Any
    makers_of: dict[str, set[int]]
    makers_changed: set[int]
    numpy_binary: Any
    of_parts: set[str]
    operand: Any
    parts: set[str]
    read_variable: Any
    require: Any
    require_rounds: Any
    row_binary: Any
    row_of: Any
    size_now: Any
    writer: Any

    # ---- what they are --------------------------------------------------------------------------

    def small(
        self,
        kind: str,
        shape: tuple[int, ...],
        items: Sequence[Value],
        makers: frozenset[int] | None = None,
        serial: Value | None = None,
    ) -> SmallArray:
        """makers: which arrays it may be; None: a new one."""
        if makers is None:
            self.creations += 1
            makers = frozenset({self.creations})
            serial = self.next_serial()
        held = [*items]

        def element(indices: Sequence[Value]) -> Value:
            return self.chosen_item(held, self.flat_index(indices, shape))

        extents = [number_itself(n) for n in shape]
        return SmallArray(kind, extents, element, [], held, shape, makers, serial)

    def next_serial(self) -> Value | None:
        """1, 2, .. as the nest goes on."""
        if not self.knowledge.numbers_arrays:
            return None
        if self.last_serial is None:
            self.last_serial = self.writer.local("l")
        one = self.writer.constant(1, "l")
        id = self.writer.apply("Add", [self.writer.read_local(self.last_serial), one])
        self.writer.write_local(self.last_serial, id)
        return Value("l", id)

    def flat_index(self, indices: Sequence[Value], shape: Sequence[int]) -> Value:
        """In C order, of indices that are inside."""
        if all(x.literal is not None for x in indices):
            return number_itself(int(numpy.ravel_multi_index([x.literal for x in indices], shape)))
        apply, constant = self.writer.apply, self.writer.constant
        id = constant(0, "l")
        for index, extent in zip(indices, shape, strict=True):
            id = apply("Multiply", [id, constant(extent, "l")])
            id = apply("Add", [id, self.emit(index, "l")])
        return Value("int", id)

    def chosen_item(self, items: Sequence[Value], index: Value) -> Value:
        if index.literal is not None:
            return items[index.literal]
        apply, number = self.writer.apply, self.emit(index, "l")
        dtype = items[0].dtype
        id = self.emit(items[-1], dtype)
        for k, item in enumerate(items[:-1]):
            is_it = apply("Equal", [number, self.writer.constant(k, "l")])
            id = apply("Select", [is_it, self.emit(item, dtype), id])
        return Value(items[0].kind, id)

    def as_small(self, node: ast.AST, item: View | Row) -> SmallArray | None:
        """Its elements as they are now; None: they may be many, or not as many at each call."""
        if isinstance(item, SmallArray):
            return item
        row = self.row_of(node, item)
        sizes = self.small_sizes(row.extents)
        if sizes is None or row.kind in COMPLEXES:
            return None
        items = [
            Value(row.kind, self.emit(row.element([number_itself(k) for k in at]), row.kind))
            for at in itertools.product(*map(range, sizes))
        ]
        return self.small(row.kind, sizes, items)

    def held_row(self, node: ast.AST, item: View | Row) -> SmallArray | None:
        """The same, of elements that the nest does not change."""
        small = self.as_small(node, item)
        if small is not None and isinstance(item, View):
            number = item.array.number
            self.kept_rows.add(number)
            small.makers, small.serial = frozenset({-1 - number}), None
        return small

    def small_sizes(self, extents: Sequence[Value]) -> tuple[int, ...] | None:
        sizes: list[int] = []
        for extent in extents:
            assert extent.form is not None
            size = extent.form.constant if not extent.form.terms else self.size_now(extent.form)
            if not size:
                return None
            sizes.append(size)
        if math.prod(sizes) > MOST_ELEMENTS:
            return None
        for extent, size in zip(extents, sizes, strict=True):
            assert extent.form is not None
            if extent.form.terms:
                self.require(extent.form, size, size)
        return tuple(sizes)

    # ---- expressions ----------------------------------------------------------------------------

    def of_smalls(
        self,
        inputs: Sequence[Value | Row],
        kind: str,
        compute: Callable[[Sequence[Value]], Value],
    ) -> SmallArray | None:
        """compute() of each element, if it is as many as a small array among the inputs has."""
        most = max(len(x.extents) for x in inputs if isinstance(x, Row))
        shapes = [x.shape for x in inputs if isinstance(x, SmallArray) and len(x.shape) == most]
        if not shapes:
            return None
        items = []
        for at in itertools.product(*map(range, shapes[0])):
            given = [
                x.element([number_itself(k) for k in at[len(at) - len(x.extents) :]])
                if isinstance(x, Row)
                else x
                for x in inputs
            ]
            value = compute(given)
            items.append(Value(kind, self.emit(value, DTYPES.get(kind, kind)), form=value.form))
        return self.small(kind, shapes[0], items)

    def of_List(self, node: ast.List) -> Listed:
        return Listed(self.operand(x) for x in node.elts)

    def made(self, node: ast.Call, function: Any) -> SmallArray:
        """A call of one of MAKERS."""
        arguments = [self.operand(x) for x in node.args]
        named = {keyword.arg: self.operand(keyword.value) for keyword in node.keywords}
        dtype = named.pop("dtype", arguments[1] if len(arguments) == 2 else None)
        found = None
        if named or not arguments or len(arguments) > 2:
            raise Refused(node, f"these arguments of {function.__name__}()")
        if function is numpy.cross and len(arguments) == 2 and "dtype" not in named:
            return self.cross(node, *arguments)
        kind = self.kind_of_dtype(node, dtype) if dtype is not None else None
        if function in _FILLED:
            shape = self.shape_of(node, arguments[0])
            found = self.filled(kind or "d", shape, _FILLED[function])
        elif function in _LIKE and isinstance(arguments[0], (View, Row)):
            like = self.row_of(node, arguments[0])
            sizes = self.small_sizes(like.extents)
            if sizes is not None:
                found = self.filled(kind or like.kind, sizes, _LIKE[function])
        elif function in _JOINING and len(arguments) == 1 and isinstance(arguments[0], tuple):
            found = self.joined_row(node, arguments[0])
        elif function in _OF_ITEMS and isinstance(arguments[0], tuple):
            found = self.of_items(node, arguments[0], kind)
        elif function is not numpy.asarray and isinstance(arguments[0], (View, Row)):
            found = self.copied_row(node, arguments[0], kind)
        if found is None:
            raise Refused(node, f"an array that {function.__name__}() makes")
        return found

    def kind_of_dtype(self, node: ast.AST, item: Item) -> str:
        value = item.value if isinstance(item, Library) else None
        if value in _TYPES:
            return _TYPES[value]
        if isinstance(value, type) and issubclass(value, numpy.generic):
            kind = numpy.dtype(value).char
            if kind in INTEGERS or kind in FLOATS or kind == "?":
                return kind
        raise Refused(node, "a type of elements")

    def shape_of(self, node: ast.AST, item: Item) -> tuple[int, ...]:
        numbers = item if isinstance(item, tuple) else (item,)
        if not all(isinstance(x, Value) and x.kind == "int" and x.form for x in numbers):
            raise Refused(node, "the shape of a new array")
        sizes = self.small_sizes(numbers)  # type: ignore[arg-type]
        if sizes is None:
            raise Refused(node, "a new array of many elements")
        return sizes

    def filled(self, kind: str, shape: tuple[int, ...], number: int) -> SmallArray:
        id = self.writer.constant(bool(number) if kind == "?" else number, kind)
        return self.small(kind, shape, [Value(kind, id)] * math.prod(shape))

    def copied_row(self, node: ast.AST, item: View | Row, kind: str | None = None) -> SmallArray:
        small = self.as_small(node, item)
        if small is None:
            raise Refused(node, "a copy of a row of many elements")
        kind = kind or small.kind
        items = [Value(kind, self.cast_for(node, x, kind)) for x in small.items]
        return self.small(kind, small.shape, items)

    def of_items(self, node: ast.AST, items: tuple[Any, ...], kind: str | None) -> SmallArray:
        """np.array([..]): of numbers, or of rows of one length."""
        values, shape = self.flattened(node, items)
        if not 0 < len(values) <= MOST_ELEMENTS:
            raise Refused(node, "an array of so many numbers")
        kinds = {k for x in values for k in (x.among or {x.kind})}
        certain = {x.dtype for x in values if len({*map(_dtype, x.among or [x.kind])}) == 1}
        if kind is None:
            kind = numpy.result_type(*(numpy.dtype(_dtype(k)) for k in kinds)).char
            kind = {"q": "l", "Q": "L"}.get(kind, kind)
            if len({*map(_dtype, kinds)}) > 1 and kind not in certain:
                raise Refused(node, "an array whose type depends on a number that may be of two")
        if kind not in INTEGERS and kind not in FLOATS and kind != "?":
            raise Refused(node, "an array of such numbers")
        made = [Value(kind, self.cast_for(node, x, kind)) for x in values]
        return self.small(kind, shape, made)

    def flattened(
        self, node: ast.AST, items: tuple[Any, ...]
    ) -> tuple[list[Value], tuple[int, ...]]:
        values: list[Value] = []
        shapes = set()
        for item in items:
            if isinstance(item, tuple):
                inner, shape = self.flattened(node, item)
            elif isinstance(item, (View, Row)):
                small = self.as_small(node, item)
                if small is None:
                    raise Refused(node, "an array of rows")
                inner, shape = small.items, small.shape
            elif isinstance(item, Value):
                inner, shape = [item], ()
            else:
                raise Refused(node, "an array of something else than numbers")
            values += inner
            shapes.add(shape)
        if len(shapes) != 1:
            raise Refused(node, "an array of rows of several lengths")
        return values, (len(items), *shapes.pop())

    def joined_row(self, node: ast.AST, parts: tuple[Any, ...]) -> SmallArray:
        """np.concatenate(): of rows."""
        smalls = [self.as_small(node, x) for x in parts if isinstance(x, (View, Row))]
        found = [x for x in smalls if x is not None and len(x.shape) == 1]
        if not found or len(found) != len(parts) or sum(x.shape[0] for x in found) > MOST_ELEMENTS:
            raise Refused(node, "these rows in one another's place")
        kind = numpy.result_type(*(numpy.dtype(x.kind) for x in found)).char
        items = [Value(kind, self.emit(x, kind)) for small in found for x in small.items]
        return self.small(kind, (len(items),), items)

    def cross(self, node: ast.AST, x: Item, y: Item) -> SmallArray:
        smalls = [self.as_small(node, z) for z in (x, y) if isinstance(z, (View, Row))]
        if len(smalls) != 2 or any(z is None or z.shape != (3,) for z in smalls):
            raise Refused(node, "a cross product of something else than two rows of 3")
        a, b = (z.items for z in smalls if z is not None)

        def product(i: int, j: int) -> Value:
            value: Value = self.numpy_binary(node, ast.Mult(), a[i], b[j])
            return value

        items = [
            self.numpy_binary(node, ast.Sub(), product(i, j), product(j, i))
            for i, j in ((1, 2), (2, 0), (0, 1))
        ]
        return self.small(items[0].kind, (3,), items)

    def matrix_product(self, node: ast.AST, x: SmallArray, y: SmallArray) -> SmallArray:
        """x @ y, of which one has two axes. (What order BLAS adds in is the processor's.)"""
        rows = [x.items[k : k + x.shape[-1]] for k in range(0, len(x.items), x.shape[-1])]
        wide = y.shape[-1] if len(y.shape) == 2 else 1
        columns = [y.items[k::wide] for k in range(wide)]
        if max(len(x.shape), len(y.shape)) > 2 or x.shape[-1] != y.shape[0]:
            raise Refused(node, "a product of these")
        items = [
            self.dot(node, self.row_of_items(x.kind, a), self.row_of_items(y.kind, b))
            for a in rows
            for b in columns
        ]
        return self.small(items[0].kind, (*x.shape[:-1], *y.shape[1:]), items)

    def row_of_items(self, kind: str, items: Sequence[Value]) -> SmallArray:
        return self.small(kind, (len(items),), items, frozenset())

    # ---- parts ----------------------------------------------------------------------------------

    def small_part(self, node: ast.Subscript, owner: SmallArray) -> SmallPart:
        """owner[..]: which elements."""
        written = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(written) > len(owner.shape):
            raise Refused(node, "so many indices of a small array")
        keys = [self.key_of(node, x, n) for x, n in zip(written, owner.shape, strict=False)]
        if all(isinstance(key, (int, slice)) for key in keys):
            numbers = numpy.arange(len(owner.items)).reshape(owner.shape)[tuple(keys)]
            return SmallPart(owner, numpy.shape(numbers), [*map(int, numpy.ravel(numbers))])
        if len(keys) != len(owner.shape) or any(isinstance(key, slice) for key in keys):
            raise Refused(node, "a part of a small array at a place that is computed")
        at = [number_itself(key) if isinstance(key, int) else key for key in keys]
        return SmallPart(owner, (), [], self.flat_index(at, owner.shape))

    def key_of(self, node: ast.AST, key: ast.expr, extent: int) -> int | slice | Value:
        if isinstance(key, ast.Slice):
            ends = (key.lower, key.upper, key.step)
            return slice(*(self.known_integer(x) if x is not None else None for x in ends))
        value = self.operand(key)
        if not isinstance(value, Value):
            raise Refused(node, "an index that is no integer")
        if _is_literal(value):
            assert value.literal is not None
            if not -extent <= value.literal < extent:
                raise Refused(node, "an index outside of a small array")
            return int(value.literal) % extent
        found: Value = self.index(Span(ZERO, number_itself(extent)), self.integer_of(node, value))
        return found

    def known_integer(self, node: ast.expr) -> int:
        """What it is at each call."""
        value = self.integer(node)
        if value.literal is not None:
            return int(value.literal)
        number: int | None = self.size_now(value.form, -MOST_ELEMENTS)
        if number is None:
            raise Refused(node, "a part of a small array that is not the same at each call")
        self.require(value.form, number, number)
        return number

    def item_of_small(self, part: SmallPart) -> Value | SmallArray:
        owner = part.owner
        if part.index is not None:
            return self.chosen_item(owner.items, part.index)
        items = [owner.items[k] for k in part.numbers]
        if part.shape == ():
            return items[0]
        return self.small(owner.kind, part.shape, items, owner.makers)

    # ---- variables ------------------------------------------------------------------------------

    def take_small(self, name: str, view: View) -> bool:
        """The variable, which the nest gives other arrays, begins as an array's few elements."""
        small = self.as_small(ast.Pass(), view)
        if small is None:
            return False
        number = view.array.number
        self.kept_rows.add(number)
        self.knowledge.small[name] = small.shape
        self.makers_of[name] = {-1 - number}
        for k, item in enumerate(small.items):
            self.env[element_name(name, k)] = item
        if self.knowledge.numbers_arrays:
            self.env[serial_name(name)] = Value("l", self.writer.constant(-1 - number, "l"))
        self.bind(name)
        return True

    def bind(self, name: str) -> None:
        """The variable has a value."""
        self.bound[name] = ()
        if name in self.knowledge.small:
            count = math.prod(self.knowledge.small[name])
            for part in (serial_name(name), *(element_name(name, k) for k in range(count))):
                self.bound[part] = ()

    def read_small(self, node: ast.AST, name: str) -> SmallArray:
        if name not in self.bound:
            raise Refused(node, f"{name} may have no value")
        self.require_rounds(self.bound[name])
        shape = self.knowledge.small[name]
        items = [self.read_variable(node, element_name(name, k)) for k in range(math.prod(shape))]
        kind = items[0].kind
        if any(x.mixed or x.kind != kind for x in items):
            raise Refused(node, f"{name}, an array that may be of two types")
        makers = frozenset(self.makers_of.get(name, ()))
        is_known = self.knowledge.numbers_arrays and name not in self.of_parts
        serial = self.read_variable(node, serial_name(name)) if is_known else None
        return self.small(kind, shape, items, makers, serial)

    def assign_small(self, node: ast.AST, name: str, small: SmallArray) -> None:
        known = self.knowledge.small.get(name)
        if name in self.knowledge.kinds or known not in (None, small.shape):
            raise Refused(node, f"{name} is of several shapes")
        if known is None:
            self.knowledge.small[name] = small.shape
            if name in self.parts:
                raise Again
        if min(small.makers) < 0:
            self.given_others.add(name)
        if self.knowledge.numbers_arrays:
            if small.serial is None:
                self.of_parts.add(name)
            else:
                self.assign_variable(node, serial_name(name), small.serial)
        self.note_holder(node, name, small)
        self.env.pop(name, None)  # what a parameter was given
        self.write_elements(node, name, [*enumerate(small.items)])
        self.bound[name] = ()
        if name in self.inputs.names and self.leaves_nest(name):
            self.count(self.counters.setdefault(name, -1), name)

    def note_holder(self, node: ast.AST, name: str, item: Item) -> None:
        """The variable, or the list, holds the arrays that there are in the item."""
        held = self.makers_of.setdefault(name, set())
        held |= makers_in(item)
        if held & self.makers_changed:
            self.require_alone(node, name)

    def write_elements(self, node: ast.AST, name: str, items: Sequence[tuple[int, Value]]) -> None:
        for k, item in items:
            self.assign_variable(node, element_name(name, k), item)

    def require_alone(self, node: ast.AST, name: str) -> None:
        """The array that is changed in place is nobody else's."""
        held = self.makers_of[name]
        self.makers_changed |= held
        if min(held) < 0 or any(held & x for n, x in self.makers_of.items() if n != name):
            raise Refused(node, f"{name} is changed in place, and may be another variable's array")

    def require_known(self, node: ast.AST, name: str, leaving: Sequence[str]) -> None:
        """It is known which of the arrays that leave the nest with it are the same one."""
        held = self.makers_of[name]
        others = (self.makers_of.get(n, set()) for n in leaving if n != name)
        if name not in self.given_others and not any(held & x for x in others):
            return
        if not self.knowledge.numbers_arrays:
            self.knowledge.numbers_arrays = True
            raise Again
        if name in self.of_parts:
            raise Refused(node, f"{name} may be a part of another array behind the loop")

    def change_small(self, node: ast.AST, target: ast.expr, part: SmallPart, item: Item) -> None:
        """target[..] = item, or all of it."""
        name = target.id if isinstance(target, ast.Name) else ""
        if self.knowledge.small.get(name) is None or name not in self.makers_of:
            raise Refused(node, "a change of an array that is another variable's")
        self.require_alone(node, name)
        kind, owner = part.owner.kind, part.owner
        if part.index is not None:
            if not isinstance(item, Value):
                raise Refused(node, "this into an element")
            id, number = self.cast_for(node, item, kind), self.emit(part.index, "l")
            apply = self.writer.apply
            for k, old in enumerate(owner.items):
                is_it = apply("Equal", [number, self.writer.constant(k, "l")])
                new = apply("Select", [is_it, id, self.emit(old, kind)])
                self.write_elements(node, name, [(k, Value(kind, new))])
            return
        if isinstance(item, tuple):
            item = self.of_items(node, item, None)
        if isinstance(item, (View, Row)):
            small = self.as_small(node, item)
            if small is None or small.shape != part.shape:
                raise Refused(node, "a row into a small array")
            items = small.items
        elif isinstance(item, Value) and not item.mixed:
            items = [item] * len(part.numbers)
        else:
            raise Refused(node, "this into a small array")
        made = [Value(kind, self.cast_for(node, x, kind)) for x in items]
        self.write_elements(node, name, [*zip(part.numbers, made, strict=True)])

    def update_small(self, node: ast.AugAssign, target: ast.expr, part: SmallPart) -> None:
        """In place: of the part's elements."""
        old, item = self.item_of_small(part), self.operand(node.value)
        if isinstance(old, Value):
            if not isinstance(item, Value):
                raise Refused(node, "a row as a number")
            self.change_small(node, target, part, self.binary(node, node.op, old, item))
            return
        if not isinstance(item, (Value, View, Row)):
            raise Refused(node, "this operator with a row")
        new = self.row_binary(node, node.op, old, item)
        if not numpy.can_cast(new.kind, old.kind, "same_kind"):
            raise Refused(node, "an operation in place whose result is of another kind")
        self.change_small(node, target, part, new)

    def forget_makers(self, path: str) -> None:
        """Variables of a function that has returned hold nothing."""
        for name in [n for n in self.makers_of if n.endswith(path)]:
            del self.makers_of[name]


def whole_of(small: SmallArray) -> SmallPart:
    return SmallPart(small, small.shape, [*range(len(small.items))])


def element_name(name: str, number: int) -> str:
    """Of the variable that is an element of a small array's."""
    return f"{name}[{number}]"


def makers_in(item: Item) -> set[int]:
    """Of the small arrays in a tuple, and the tuples in it."""
    if isinstance(item, tuple):
        return {k for x in item for k in makers_in(x)}
    return {*item.makers} if isinstance(item, SmallArray) else set()


def serial_name(name: str) -> str:
    """Of the variable that says which array it is."""
    return f"{name}[]"


def variable_of(name: str) -> str:
    """The variable of the text."""
    return name.partition("[")[0]


def _is_literal(item: Item) -> bool:
    return isinstance(item, Value) and item.kind == "int" and item.literal is not None


def _dtype(kind: str) -> str:
    return DTYPES.get(kind, kind)
