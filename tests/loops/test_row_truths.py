"""test_row_truths.py: comparisons of rows and windows, and any() and all() of them."""

from __future__ import annotations

import numpy
import pytest

import frit


def erode(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            if (a[i - 1 : i + 2, j - 1 : j + 2] > 1).all():
                out[i, j] = 1


def dilate(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            if numpy.any(a[i - 1 : i + 2, j - 1 : j + 2]):
                out[i, j] = 1


def rows(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            if (a[i] == a[j]).all() or (a[i] < a[j]).any():
                out[i, j % a.shape[1]] += numpy.sum(a[i] != a[j])
            if (a[i] >= 2).any() and numpy.all(a[j, :i] <= 3):
                out[j, i % a.shape[1]] += (a[i] > 1).mean()


def counts(a, out):
    total = 0
    for i in range(a.shape[0]):
        n = numpy.count_nonzero(a[i])
        for j in range(n):
            out[i, j] = 1
        total += numpy.count_nonzero(a[i:, :i] > 1) * n
    out[0, 0] = total
    return total


def masks(a, out):
    for i in range(a.shape[0]):
        low, high = a[i] > 1, a[i] < 3
        out[i, 0] = (low & high).sum()
        out[i, 1] = (low | high).all()
        out[i, 2] = (low ^ high).any()


def held(a, out):
    for i in range(a.shape[0]):
        was = a[i] > 1
        a[i] = 0
        out[i, 0] = was.sum()


def of_nothing(a, out):
    for i in range(a.shape[0]):
        out[i, 0] = (a[i, :i] > 1).all()
        out[i, 1] = (a[i, 1:1] > 1).any()


def as_a_truth(a, out):
    for i in range(a.shape[0]):
        if a[i] > 1:
            out[i] = 1


def chained(a, out):
    for i in range(a.shape[0]):
        if (1 < a[i, 0] < 3) and (0 < a[i, :1] < 5):
            out[i] = 1


COMPILED = [erode, dilate, rows, counts, masks, of_nothing]
PYTHON = [held, as_a_truth, chained]


def outcome(function, a, out):
    try:
        found = function(a, out)
    except (ValueError, OverflowError) as error:
        return str(error), a.tobytes(), out.tobytes()
    return type(found), found, a.tobytes(), out.tobytes()


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "i8", "u8", "f2", "f4", "f8"])
@pytest.mark.parametrize("function", COMPILED + PYTHON, ids=lambda f: f.__name__)
def test_results_are_pythons(function, dtype):
    fast = frit.parallelize(function)
    numbers = numpy.random.default_rng(5)
    for size in (12, 12, 7):
        a = numbers.integers(0, 5, (size, size)).astype(dtype)
        if a.dtype.kind == "f":
            a[2, 3] = numpy.nan
            a[4] = -0.0
        for view in (a, a.T, a[::-1, ::-1]):
            before = a.copy()
            expected = outcome(function, view, numpy.zeros((size, size)))
            a[:] = before
            assert outcome(fast, view, numpy.zeros((size, size))) == expected
            a[:] = before


@pytest.mark.parametrize("function", COMPILED, ids=lambda f: f.__name__)
def test_they_run_compiled(function):
    fast = frit.parallelize(function)
    a = numpy.random.default_rng(5).integers(0, 5, (40, 40))
    fast(a, numpy.zeros((40, 40)))
    assert "Python" not in str(frit.explain(fast))
