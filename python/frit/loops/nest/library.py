"""library.py: functions of NumPy and of the standard library that are loops, as nests inline them.

Each does what the library's does, step by step: of unordered numbers and of NaN it gives the same.
Errors are the library's own: where one is due, these fail, and Python calls the library.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import types


def search_left(row: Any, number: Any) -> Any:
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        # NaN is behind all others.
        if row[middle] < number or (number != number and row[middle] == row[middle]):
            low = middle + 1
        else:
            high = middle
    return np.int64(low)


def search_right(row: Any, number: Any) -> Any:
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        if number < row[middle] or (row[middle] != row[middle] and number == number):
            high = middle
        else:
            low = middle + 1
    return np.int64(low)


def bisect_left(row: Any, number: Any) -> Any:
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        if row[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(row: Any, number: Any) -> Any:
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        if number < row[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def interpolated(at: Any, xs: Any, ys: Any) -> Any:
    """np.interp() of a number."""
    n = len(xs)
    if n == 0 or n != len(ys):
        raise ValueError
    x = float(at)
    if x != x:
        return np.float64(x if n > 1 else ys[0])
    if x > xs[n - 1]:
        return np.float64(ys[n - 1])
    if x < xs[0]:
        return np.float64(ys[0])
    j = place_in(x, xs, n)
    y = float(ys[j])
    if j == n - 1 or xs[j] == x:
        return np.float64(y)
    behind = float(ys[j + 1])
    slope = (behind - y) / (float(xs[j + 1]) - float(xs[j]))
    result = slope * (x - float(xs[j])) + y
    if result != result:
        result = slope * (x - float(xs[j + 1])) + behind
        if result != result and y == behind:
            result = y
    return np.float64(result)


def place_in(x: Any, xs: Any, n: Any) -> Any:
    """Where the last element not above x is: as NumPy searches, also in what has no order."""
    low, high = 0, n
    if n <= 4:
        low = 1
        while low < n and x >= xs[low]:
            low += 1
        return low - 1
    if x < xs[1]:
        return 0
    if x < xs[2]:
        return 1
    if x < xs[3]:
        return 2
    low = 3
    if n > 10 and x < xs[9]:
        high = 9
    while low < high:
        middle = (low + high) // 2
        if x >= xs[middle]:
            low = middle + 1
        else:
            high = middle
    return low - 1


def item_at(row: Any, place: Any) -> Any:
    return row[place]


def place_by_chances(chances: Any, count: Any, drawn: Any) -> Any:
    """Where np.random.choice() comes to with a number that it has drawn."""
    if len(chances) != count:
        raise ValueError
    total = 0.0
    for chance in chances:
        if not chance >= 0:
            raise ValueError
        total += float(chance)
    if not abs(total - 1.0) < 1e-8:
        raise ValueError
    place, so_far = 0, 0.0
    for chance in chances:
        so_far += float(chance)
        if so_far / total <= drawn:
            place += 1
    return place


SEARCHES = {"left": search_left, "right": search_right}


_INLINED = (
    (bisect.bisect_left, bisect_left),
    (bisect.bisect_right, bisect_right),
    (np.interp, interpolated),
)


def inlined_for(function: Any) -> types.FunctionType | None:
    """What a nest inlines in its place."""
    return next((ours for theirs, ours in _INLINED if theirs is function), None)
