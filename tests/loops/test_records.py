"""test_records.py: tuples and lists of numbers that a loop appends to a list."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

import frit

from .test_loops import runs_compiled


def walk(n, w):
    x, y = 0.0, 0.0
    path, seen, rows = [(x, y)], [], [None]
    for i in range(n):
        x += math.sin(i)
        y = y * 0.5 + w[i % 3]
        path.append((x, y))
        seen.append([i, x > 0, i * 0.5])
        rows.append((i, i % 7 == 0))
    return path, seen, rows


def steps(n, w):
    found = []
    t = 0
    while t < n:
        t += 1
        found.append((t, float(w[t % 3]) + t))
    return found


def nested(n, w):
    found = []
    for i in range(n):
        for j in range(i):
            if (i * j) % 3:
                found.append((i, j, w[i % 3] * j, w[j % 3]))
    return found


def pair_of(x, y):
    return x + y, y * 2


def called(n, w):
    found = []
    for i in range(n):
        pair = pair_of(i, 0.5)
        found.append(pair)
        found.append((pair[1], 1.0))
    return found


def fails(n, w):
    found = [("begin", 0)]
    try:
        for i in range(n):
            found.append((i, 1 / (30 - i)))
    except ZeroDivisionError as error:
        found.append(repr(error))
    return found


def nans(n, w):
    found = []
    x = math.nan
    for i in range(n):
        found.append((x, i))
    return found, len({id(x) for x, _ in found})


def several_kinds(n, w):
    found = []
    for i in range(n):
        if i % 2:
            found.append((i, 0.5))
        else:
            found.append((0.5, i))
    return found


def looked_at(n, w):
    found = [(0, 1.0)]
    for i in range(n):
        found.append((i, found[-1][1] + w[i % 3]))
    return found


def large(n, w):
    found = []
    x = 2**52
    for _ in range(n):
        x += 2**51
        found.append((x, 0.5))
        found.append((x * 2, 1.5))
    return found


def bits(item):
    """All of it: types, and the bits of floats."""
    if isinstance(item, (list, tuple)):
        return type(item), [bits(x) for x in item]
    if isinstance(item, float):
        return type(item), struct.pack("d", item)
    return type(item), repr(item)


COMPILED = [walk, nested, called]


@pytest.mark.parametrize(
    "function", [*COMPILED, steps, fails, nans, several_kinds, looked_at, large]
)
@pytest.mark.parametrize("n", [0, 1, 2, 29, 31, 400])
def test_lists_have_what_python_appends(function, n):
    w = np.array([0.25, 1.5, -2])
    ours = frit.parallelize(function)
    expected = bits(function(n, w))
    for _ in range(2):
        assert bits(ours(n, w)) == expected
    if n == 400 and function in COMPILED:
        assert runs_compiled(ours), frit.explain(ours)


def test_each_item_is_an_object_of_its_own():
    _, seen, _ = frit.parallelize(walk)(50, np.ones(3))
    assert len({id(x) for x in seen}) == 50
    seen[0].append(1)
    assert len(seen[1]) == 3
