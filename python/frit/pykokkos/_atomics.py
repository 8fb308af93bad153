"""_atomics.py: atomic operations on single elements: atomic_fetch_add(view, [i, j], value).

In kernels they are part of the translation (_intrinsics.py). Called from Python (the Debug space)
they do the same at once. The fetching ones give the value from before.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy


def _quotient(a: Any, b: Any) -> Any:
    if isinstance(a, numpy.integer):
        return type(a)(math.trunc(int(a) / int(b))) if b else type(a)(0)
    return a / b


def _rest(a: Any, b: Any) -> Any:
    return numpy.fmod(a, b)


UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _quotient,
    "mod": _rest,
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}


def _place(view: Any, indices: Sequence[int]) -> tuple[Any, Any]:
    data = view.data if hasattr(view, "_array") else view
    keys = tuple(indices) if isinstance(indices, (list, tuple)) else (indices,)
    return data, keys


def _fetching(name: str) -> Callable[..., Any]:
    update = UPDATES[name]

    def fetch(view: Any, indices: Sequence[int], value: Any) -> Any:
        data, keys = _place(view, indices)
        before = data[keys]
        data[keys] = update(before, value)
        return before

    fetch.__name__ = fetch.__qualname__ = f"atomic_fetch_{name}"
    fetch.__doc__ = f"view[indices] = view[indices] {name} value; gives the value from before."
    return fetch


FETCHING = {name: _fetching(name) for name in UPDATES}


def atomic_add(view: Any, indices: Sequence[int], value: Any) -> None:
    """view[indices] += value."""
    FETCHING["add"](view, indices, value)


def atomic_increment(view: Any, indices: Sequence[int]) -> None:
    """view[indices] += 1."""
    FETCHING["add"](view, indices, 1)


def atomic_compare_exchange(view: Any, indices: Sequence[int], compare: Any, value: Any) -> Any:
    """view[indices] = value where it is `compare`; gives the value from before."""
    data, keys = _place(view, indices)
    before = data[keys]
    if before == compare:
        data[keys] = value
    return before
