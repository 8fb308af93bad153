"""_decorators.py: the marks of workunits, functors, workloads and their parts.

They leave what they mark as it is: any function can be launched, and kernels are known by their
code.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_Marked = TypeVar("_Marked")


class Decorator(Enum):
    """The marks, by name."""

    Workload = "workload"
    Functor = "functor"
    WorkUnit = "workunit"
    KokkosClasstype = "classtype"
    KokkosFunction = "function"
    KokkosMain = "main"
    KokkosCallback = "callback"
    Space = "space"


def _marker(name: str) -> Callable[..., Any]:
    def mark(marked: Any = None, **view_types: Any) -> Any:
        if marked is None:
            return mark
        return marked

    mark.__name__ = mark.__qualname__ = name
    mark.__doc__ = f"Marks a {name}. ViewTypeInfo arguments are accepted; views know their own."
    return mark


workunit = _marker("workunit")
functor = _marker("functor")
workload = _marker("workload")
classtype = _marker("classtype")
function = _marker("function")


def main(method: _Marked) -> _Marked:
    """Marks the method of a workload that pk.execute runs."""
    method.__pk_role__ = "main"  # type: ignore[attr-defined]
    return method


def callback(method: _Marked) -> _Marked:
    """Marks a method of a workload that pk.execute runs after its main."""
    method.__pk_role__ = "callback"  # type: ignore[attr-defined]
    return method


class Acc(Generic[T]):
    """As an annotation: the accumulator of a reduction or scan. As an object: that of Debug."""

    def __init__(self, val: Any = 0) -> None:
        self.val = val

    def _update(self, value: Any) -> Acc[T]:
        self.val = value
        return self

    def __add__(self, other: Any) -> Acc[T]:
        return self._update(self.val + other)

    def __sub__(self, other: Any) -> Acc[T]:
        return self._update(self.val - other)

    def __mul__(self, other: Any) -> Acc[T]:
        return self._update(self.val * other)

    def __truediv__(self, other: Any) -> Acc[T]:
        return self._update(self.val / other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __float__(self) -> float:
        return float(self.val)

    def __int__(self) -> int:
        return int(self.val)

    __index__ = __int__

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        return numpy.asarray(self.val, dtype=dtype)

    def __lt__(self, other: Any) -> bool:
        return self.val < other

    def __le__(self, other: Any) -> bool:
        return self.val <= other

    def __gt__(self, other: Any) -> bool:
        return self.val > other

    def __ge__(self, other: Any) -> bool:
        return self.val >= other


class Reducer(Generic[T]):
    """As an annotation of an accumulator that starts, at each point, at the reducer's identity."""


class Prod(Reducer[T]):
    """`acc: pk.Prod[pk.double]`: the product of what the points make of acc."""


class Min(Reducer[T]):
    """`acc: pk.Min[pk.double]`: the least of what the points make of acc: acc = pk.min(acc, x)."""


class Max(Reducer[T]):
    """`acc: pk.Max[pk.double]`: the largest of what the points make of acc."""


class LAnd(Reducer[T]):
    """`acc: pk.LAnd[pk.int32]`: 1 where all points leave acc true, else 0."""


class LOr(Reducer[T]):
    """`acc: pk.LOr[pk.int32]`: 1 where a point leaves acc true, else 0."""


class BAnd(Reducer[T]):
    """`acc: pk.BAnd[pk.int32]`: the bits that all points leave set in acc."""


class BOr(Reducer[T]):
    """`acc: pk.BOr[pk.int32]`: the bits that any point leaves set in acc."""


class MinMax(Reducer[T]):
    """`acc: pk.MinMax[pk.double]`: the least acc.min_val and the largest acc.max_val."""


class MinLoc(Reducer[T]):
    """`acc: pk.MinLoc[pk.double]`: the least acc.val, and the acc.loc of the first point with it:
    `if x < acc.val: acc.val = x; acc.loc = i`.
    """


class MaxLoc(Reducer[T]):
    """`acc: pk.MaxLoc[pk.double]`: the largest acc.val, and the acc.loc of its first point."""


class MinMaxLoc(Reducer[T]):
    """`acc: pk.MinMaxLoc[pk.double]`: min_val, max_val, and their min_loc and max_loc."""
