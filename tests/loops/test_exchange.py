"""test_exchange.py: rows and columns that change places, and lists of indices in general."""

from __future__ import annotations

import numpy
import pytest

import frit


def rows(a, pairs):
    for m in range(len(pairs)):
        i, j = pairs[m, 0], pairs[m, 1]
        a[[i, j]] = a[[j, i]]


def columns(a, pairs):
    for m in range(len(pairs)):
        i, j = pairs[m, 0], pairs[m, 1]
        a[:, [i, j]] = a[:, [j, i]]


def parts(a, pairs):
    for m in range(len(pairs)):
        i, j = pairs[m, 0], pairs[m, 1]
        a[[i, j], m % 3 :: 2] = a[[j, i], m % 3 :: 2]


def three(a, pairs):
    for m in range(len(pairs)):
        i, j = pairs[m, 0], pairs[m, 1]
        a[[i, j, m % len(a)]] = a[[j, m % len(a), i]]
        a[[i, i]] = a[[j, -1]]


def elements(a, pairs):
    v = a[0]
    for m in range(len(pairs)):
        i, j = pairs[m, 0], pairs[m, 1]
        v[[i, j]] = v[[j, i]]


def eliminate(a, pairs):
    n = len(a)
    for k in range(n - 1):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            a[[k, p]] = a[[p, k]]
        for i in range(k + 1, n):
            for j in range(k, n):
                a[i, j] -= a[k, j]


def constant(a, pairs):
    for k in range(len(a) - 1):
        a[[k, k + 1]] = -1


def increased(a, pairs):
    for i in range(3):
        for j in range(3):
            a[[i, j]] += 1


def of_a_tuple(a, pairs):
    for k in range(len(a) - 1):
        where = (k, k + 1)
        a[where, 0] = 5
        a[where] = 7
        a[where,] += 1


def masked(a, pairs):
    for m in range(len(pairs)):
        i, j = pairs[m, 0], pairs[m, 1]
        a[[i > j, j > i, True, True, False]] = a[[i > j, j > i, True, True, False]]


def outside(a, pairs):
    for m in range(len(pairs)):
        i, j = pairs[m, 0], pairs[m, 1]
        a[[i, j + (m == len(pairs) - 1) * 9]] = a[[j, i]]


def with_another(a, pairs):
    b = a.copy()
    for m in range(len(pairs)):
        i, j = pairs[m, 0], pairs[m, 1]
        a[[i, j]] = b[[j, i]]


COMPILED = [rows, columns, parts, three, elements, eliminate]
PYTHON = [constant, increased, of_a_tuple, masked, outside, with_another]
LAYOUTS = {
    "rows": lambda a: a,
    "columns": lambda a: a.T.copy().T,
    "from the end": lambda a: a[::-1].copy()[::-1],
    "every second": lambda a: numpy.repeat(a, 2, 1)[:, ::2],
    "broadcast": lambda a: numpy.lib.stride_tricks.as_strided(a, a.shape, (0, a.strides[1])),
}


def outcome(function, a, pairs):
    try:
        function(a, pairs)
    except (IndexError, OverflowError, TypeError) as error:
        return a.tolist(), str(error)
    return a.tolist(), None


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f8", "i4", "c16", "u1", "?", "f2"])
@pytest.mark.parametrize("function", COMPILED + PYTHON, ids=lambda f: f.__name__)
def test_lists_of_indices(function, dtype, layout):
    if dtype == "?" and function is eliminate:
        return  # NumPy subtracts no bools
    numbers = numpy.random.default_rng(1)
    start = (numbers.random((5, 5)) * 50).astype(dtype)
    pairs = numbers.integers(-5, 5, (60, 2))
    fast = frit.parallelize(function)
    with numpy.errstate(all="ignore"):
        for _ in range(3):
            expected = outcome(function, LAYOUTS[layout](start.copy()), pairs)
            assert outcome(fast, LAYOUTS[layout](start.copy()), pairs) == expected


@pytest.mark.parametrize("function", COMPILED, ids=lambda f: f.__name__)
def test_exchanges_run_compiled(function):
    fast = frit.parallelize(function)
    numbers = numpy.random.default_rng(1)
    fast(numbers.random((5, 5)), numbers.integers(-5, 5, (60, 2)))
    assert "Python" not in str(frit.explain(fast))
