"""list_runs.py: the lists of one call of a nest: arrays while it runs, lists again behind it.

And what else a nest has for itself in a call: room for rows.
"""

from __future__ import annotations

import ast
import math
import types
from _thread import _count as other_threads
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy

from frit import _core
from frit.loops.names import copied, nodes_in
from frit.loops.run.turns import now
from frit.translate.record import record

# Behind a list's name: variables of a nest's own, that no program has.
COUNT = "#count"  # how many items a list has that is appended to
TAGS = "#tags"  # which of its items are floats
ROOM = "#room"  # for what a statement gives a row, where it reads elements that it writes
MOST_APPENDED = 2**24
MOST_EXACT = 2.0**53
SOON = 0.02  # seconds in which no handler is run (_signals.py)


class TagsNeeded(Exception):
    """A translation must begin anew, with an array that tells floats from ints in a list."""

    def __init__(self, name: str, rank: int) -> None:
        super().__init__()
        self.name, self.rank = name, rank


class RoomNeeded(Exception):
    """A translation must begin anew, with an array like this one for what its rows are given."""

    def __init__(self, name: str, number: int, dtype: str, rank: int) -> None:
        super().__init__()
        self.name, self.number, self.dtype, self.rank = name, number, dtype, rank

    def sample(self) -> Any:
        return numpy.empty([1] * self.rank, self.dtype)

    def of(self, array: Any) -> Any:
        return numpy.empty(array.shape, self.dtype)


@record
class ListFacts:
    """A list that a nest changes, or one with tags. Numbers are of values; -1: there is none."""

    number: int
    dtype: str  # of the array
    kind: str  # of its items, as of results: F, I, B, N; M: floats and ints
    tags: int
    is_stored: bool  # its items are
    count: int
    output: int  # the one that is the count
    # Items are arrays of this shape: an item's elements and the array's number follow one another.
    shape: tuple[int, ...] | None = None
    # Items are tuples "(" or lists "[" of numbers, whose kinds follow (F, I and B of Python's, d
    # and l of NumPy's): an item's numbers follow one another.
    record: str = ""


class ArraysOfRun:
    """The arrays that a nest has made, by their numbers; -1 - k is value k of the call."""

    def __init__(self, make: Callable[..., Any], values: Sequence[Any]) -> None:
        """make: array() of the program's NumPy."""
        self.make = make
        self.values = values
        self.known: dict[int, Any] = {}

    def of(self, serial: int, elements: Any, shape: tuple[int, ...]) -> Any:
        """serial 0: one that nobody else has."""
        if serial < 0:
            return self.values[-1 - serial]
        if serial not in self.known or serial == 0:
            self.known[serial] = self.make(elements, elements[0].dtype).reshape(shape)
        return self.known[serial]

    def of_rows(self, array: Any, count: int, shape: tuple[int, ...]) -> list[Any]:
        """Of the items of a list that the nest has appended arrays to."""
        width = math.prod(shape) + 1
        rows = array[: count * width].reshape(count, width)
        serials = rows[:, -1].tolist()
        elements = rows[:, :-1].reshape(count, *shape)
        if serials and min(serials) > 0 and len({*serials}) == count:
            made = [*map(self.make, elements)]
            self.known.update(zip(map(int, serials), made, strict=True))
            return made
        return [self.of(int(k), x.ravel(), shape) for k, x in zip(serials, elements, strict=True)]


class ListsOfRun:
    """values: with arrays for the lists that the nest changes."""

    def __init__(
        self,
        facts: Sequence[ListFacts],
        capacities: types.FunctionType | None,
        values: tuple[Any, ...],
        lists: tuple[Any, ...],
    ) -> None:
        self.facts = facts
        self.lists = lists
        self.is_possible = True
        made = [*values]
        # A handler that makes one longer meanwhile must not confuse what is stored.
        self.sizes = [len(lists[fact.number]) for fact in facts]
        self.values: Sequence[Any] = made
        given = capacities(*values) if capacities is not None else ()
        room = iter(given)
        for fact in facts:
            array = values[fact.number]
            array = self.in_type(array, fact)
            if fact.tags >= 0:
                made[fact.tags] = self.tags_of(fact, array, values[fact.number])
            if fact.count >= 0:
                size = max(next(room), array.size + 1)
                if size > MOST_APPENDED + array.size:
                    self.is_possible = False
                    return
                array = _longer(array, size)
                if fact.tags >= 0:
                    made[fact.tags] = _longer(made[fact.tags], size)
            made[fact.number] = array

    def in_type(self, array: Any, fact: ListFacts) -> Any:
        if array.dtype.char == fact.dtype:
            return array
        made = array.astype(fact.dtype)
        if array.size and fact.dtype == "d":
            self.is_possible = bool(numpy.abs(made).max() < MOST_EXACT)
        return made

    def tags_of(self, fact: ListFacts, array: Any, given: Any) -> Any:
        if given.dtype.char == "l":
            return numpy.zeros(array.shape, bool)
        return _core.list_tags(self.lists[fact.number], array)

    def may_be_told(self, counts: Sequence[int]) -> bool:
        """Whether all numbers can be put into the lists: which NaN one is, nobody knows."""
        for fact, count, length in zip(self.facts, counts, self.sizes, strict=True):
            array = self.values[fact.number]
            if array.dtype.char != "d" or not fact.is_stored:
                continue
            given = self.lists[fact.number]
            size = array.shape[0] if fact.count < 0 else length
            if fact.record:
                if any(k == "F" and numpy.isnan(x).any() for k, x in columns(fact, array, count)):
                    return False
                continue
            if _core.has_new_nans(given, array[:size]):
                return False
            if fact.count >= 0 and fact.kind != "N" and numpy.isnan(array[size:count]).any():
                return False
        return True

    def store(self, counts: Sequence[int], arrays: ArraysOfRun) -> None:
        for fact, count, size in zip(self.facts, counts, self.sizes, strict=True):
            if not fact.is_stored:
                continue
            array, given = self.values[fact.number], self.lists[fact.number]
            tags = self.values[fact.tags] if fact.tags >= 0 else None
            if fact.count < 0:
                _core.store_list(given, array, tags)
                continue
            if fact.shape is not None:
                given += arrays.of_rows(array, count, fact.shape)
                continue
            if fact.record:
                items = zip(*(objects(x, k) for k, x in columns(fact, array, count)), strict=True)
                given += map(list, items) if fact.record[0] == "[" else items
                continue
            if size and array.dtype.char in "dl?" and fact.kind != "N":
                old = tags[:size] if tags is not None else None
                _core.store_list(given, array[:size], old)
            if tags is not None:
                pairs = zip(array[size:count].tolist(), tags[size:count].tolist(), strict=True)
                given += [x if is_float else int(x) for x, is_float in pairs]
            else:
                _core.extend_list(given, array, size, count, fact.kind)


class Watched:
    """Lists that another thread or a signal's handler may change while a nest runs on arrays.

    values: those arrays; used: what the nest gets in their place, or the same.
    """

    def __init__(
        self, lists: Sequence[Any], values: Sequence[Any], used: Sequence[Any], written: list[int]
    ) -> None:
        numbers = [k for k, x in enumerate(lists) if isinstance(x, (list, tuple))]
        self.lists = tuple([lists[k] for k in numbers])
        self.arrays = [values[k] for k in numbers]
        for j, k in enumerate(numbers if written else ()):
            if k in written and used[k] is values[k]:
                self.arrays[j] = values[k].copy()
        self.began = now()

    def has_changed(self) -> bool:
        """Looks where somebody may have had the time for it."""
        if not other_threads() and now() - self.began < SOON:
            return False
        found = _core.list_arrays(self.lists)
        return found is None or not all(map(_is_same, found[0], self.arrays))


def columns(fact: ListFacts, array: Any, count: int) -> Iterable[tuple[str, Any]]:
    """The kinds of the numbers in a list's tuples or lists, and all numbers of each place."""
    width = len(fact.record) - 1
    rows = array[: count * width].reshape(count, width)
    return zip(fact.record[1:], rows.T, strict=True)


def objects(numbers: Any, kind: str) -> list[Any]:
    made = numbers.astype({"F": "d", "I": "l", "B": "?"}.get(kind, kind))
    return [*made] if kind in "dl" else made.tolist()  # type: ignore


def _is_same(x: Any, y: Any) -> bool:
    return bool(x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes())


def _longer(array: Any, size: int) -> Any:
    made = numpy.empty(size, array.dtype)
    made[: array.size] = array
    return made


# ---- append -------------------------------------------------------------------------------------


def appended_names(node: ast.AST) -> set[str]:
    """Variables with a statement `name.append(x)`."""
    found = (_appended(part) for part in nodes_in([node]) if type(part) is ast.Expr)
    return {name for name in found if name}


def only_appended(node: ast.AST, names: Iterable[str]) -> frozenset[str]:
    """Those of which the loop does nothing else with the list."""
    nodes = nodes_in([node])
    appends = [name for part in nodes if type(part) is ast.Expr and (name := _appended(part))]
    uses = [part.id for part in nodes if type(part) is ast.Name]
    return frozenset(name for name in names if uses.count(name) == appends.count(name))


def _appended(node: ast.Expr) -> str:
    call = node.value
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return ""
    method = call.func
    if not isinstance(method, ast.Attribute) or method.attr != "append":
        return ""
    if isinstance(call.args[0], ast.Starred) or not isinstance(method.value, ast.Name):
        return ""
    return method.value.id


class _Appends(ast.NodeTransformer):
    def __init__(self, names: Iterable[str]) -> None:
        self.names = names

    def visit_Expr(self, node: ast.Expr) -> Any:
        """out.append(x)   ->   out[out#count] = x; out#count += 1"""
        name = _appended(node)
        if name not in self.names:
            return node
        call: Any = node.value

        def at(made: Any) -> Any:
            return ast.copy_location(made, node)

        index = at(ast.Name(name + COUNT, ast.Load()))
        place = at(ast.Subscript(call.func.value, index, ast.Store()))
        counter = at(ast.Name(name + COUNT, ast.Store()))
        return [
            at(ast.Assign([place], call.args[0])),
            at(ast.AugAssign(counter, ast.Add(), at(ast.Constant(1)))),
        ]


def with_counts(node: ast.For, names: Iterable[str]) -> ast.For:
    """The loop, with stores in the place of what is appended to these lists."""
    made: ast.For = _Appends(names).visit(copied(node))
    return made
