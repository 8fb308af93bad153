"""_reducers.py: what an accumulator's annotation makes of it: its fields, and how they are reduced.

At each point an accumulator starts at what changes nothing; what the points leave in it is reduced.
A field with a location goes to one of the points: the first that has the extreme.
"""

from __future__ import annotations

import ast
import math
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy

from frit import numpy as lazy
from frit.pykokkos import _decorators
from frit.translate import Environment

NOWHERE = -1  # the location where no point has set one


def _limits(dtype: str) -> tuple[Any, Any]:
    """The least and the largest number of a type."""
    if dtype in "efd":
        return -math.inf, math.inf
    limits = numpy.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _least(dtype: str) -> Any:
    return _limits(dtype)[0]


def _largest(dtype: str) -> Any:
    return _limits(dtype)[1]


def _all_bits(dtype: str) -> Any:
    return -1 if dtype in "bhil" else _largest(dtype)


@dataclass(frozen=True)
class Field:
    """A number of an accumulator."""

    name: str  # "": the accumulator is the number
    op: str
    begin: Callable[[str], Any]
    location: str = ""  # the field that says where the extreme is


_FIELDS: dict[Any, tuple[Field, ...]] = {
    _decorators.Acc: (Field("", "Add", lambda dtype: 0),),
    _decorators.Prod: (Field("", "Multiply", lambda dtype: 1),),
    _decorators.Min: (Field("", "Minimum", _largest),),
    _decorators.Max: (Field("", "Maximum", _least),),
    _decorators.LAnd: (Field("", "LogicalAnd", lambda dtype: 1),),
    _decorators.LOr: (Field("", "LogicalOr", lambda dtype: 0),),
    _decorators.BAnd: (Field("", "BitwiseAnd", _all_bits),),
    _decorators.BOr: (Field("", "BitwiseOr", lambda dtype: 0),),
    _decorators.MinLoc: (Field("val", "Minimum", _largest, "loc"),),
    _decorators.MaxLoc: (Field("val", "Maximum", _least, "loc"),),
    _decorators.MinMax: (
        Field("min_val", "Minimum", _largest),
        Field("max_val", "Maximum", _least),
    ),
    _decorators.MinMaxLoc: (
        Field("min_val", "Minimum", _largest, "min_loc"),
        Field("max_val", "Maximum", _least, "max_loc"),
    ),
}


@dataclass(frozen=True)
class Reducer:
    """An accumulator's annotation, and the type of its numbers."""

    annotation: Any
    dtype: str

    @property
    def fields(self) -> tuple[Field, ...]:
        return _FIELDS[self.annotation]

    @property
    def begin(self) -> Any:
        """What the number, or the first field, starts at."""
        return self.fields[0].begin(self.dtype)

    @property
    def is_one_number(self) -> bool:
        return self.fields[0].name == ""

    @property
    def has_location(self) -> bool:
        return self.fields[0].location != ""

    def begins(self) -> dict[str, tuple[Any, str]]:
        """What each number starts at, and its type."""
        found: dict[str, tuple[Any, str]] = {}
        for field in self.fields:
            found[field.name] = field.begin(self.dtype), self.dtype
            if field.location:
                found[field.location] = NOWHERE, "l"
        return found


SUM = Reducer(_decorators.Acc, "d")


def reducer_of(
    environment: Environment, function: types.FunctionType, node: ast.expr | None
) -> Reducer | None:
    """What an annotation like pk.Min[pk.double] says; None: it is no accumulator's."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    if not isinstance(node, ast.Subscript):
        return None
    found = environment.annotation(function, node.value)
    if not isinstance(found, type) or found not in _FIELDS:
        return None
    return Reducer(found, environment.number_type(function, node.slice) or "d")


class Extremes:
    """What a reduction by MinLoc, MaxLoc, MinMax or MinMaxLoc gives: numbers by name, computed when
    they are looked at.
    """

    def __init__(self, numbers: dict[str, Any]) -> None:
        self._numbers = numbers

    def __getattr__(self, name: str) -> Any:
        numbers = self.__dict__.get("_numbers", {})
        if name not in numbers:
            raise AttributeError(f"no {name!r}: there is " + ", ".join(numbers))
        if callable(numbers[name]):
            numbers[name] = numbers[name]()
        return numbers[name]

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in self._numbers)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._numbers)
        return f"Extremes({shown})"


class _Found:
    """The value and the location of the first point that has the extreme."""

    def __init__(self, field: Field, begin: Any, values: Any, places: Any) -> None:
        self.field, self.begin, self.arrays = field, begin, (values, places)
        self.numbers: tuple[Any, Any] | None = None

    def number(self, which: int) -> Any:
        if self.numbers is None:
            values, places = (array.reshape(-1) for array in self.arrays)
            if len(values) == 0:
                self.numbers = self.begin, NOWHERE
            else:
                extreme = lazy.argmin if self.field.op == "Minimum" else lazy.argmax
                first = int(extreme(values))
                self.numbers = values[first], int(places[first])
            self.arrays = ()
        return self.numbers[which]


def located(reducer: Reducer, arrays: list[Any]) -> Extremes:
    """From an array of values and one of locations for each field."""
    numbers: dict[str, Any] = {}
    begins = reducer.begins()
    for k, field in enumerate(reducer.fields):
        found = _Found(field, begins[field.name][0], arrays[2 * k], arrays[2 * k + 1])
        numbers[field.name] = lambda found=found: found.number(0)
        numbers[field.location] = lambda found=found: found.number(1)
    return Extremes(numbers)
