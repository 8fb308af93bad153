"""test_tuples.py: variables that a loop gives tuples, and lists of numbers that are written out."""

from __future__ import annotations

import numpy
import pytest

import frit

from .programs import assert_same_under_frit


def largest(a):
    best, where = -1.0, None
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > best:
                best = a[i, j]
                where = (i, j)
    return best, where


def ends(a):
    low = high = None
    least, most = 9.0, -9.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] < least:
                least, low = a[i, j], (i, j)
            if a[i, j] > most:
                most, high = a[i, j], (a[i, j], i, j * 0.5, j > 2, a[i, j] > 0.5)
    return low, high, least, most


def kept(a):
    where = "nowhere"
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 2:
                where = (i, j)
    return where


def of_two_kinds(a):
    where, total = "nowhere", 0.0
    for i in range(a.shape[0]):
        total += 1.0
        if a[i, 0] > 0.3:
            if a[i, -1] > 0.5:
                total += a[i, -1]
            else:
                where = (i, total)
    return where, total


def without_value(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 2:
                where = (i, j)
    return where


def always(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            where = (i, a[i, j])
    return where


def of_two_sizes(a):
    where = ()
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.9:
                where = (i, j)
            elif a[i, j] > 0.5:
                where = (i,)
    return where


def read(a):
    where = (0, 0)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > a[where]:
                where = (i, j)
    return where


def with_an_error(a):
    where = None
    try:
        for i in range(a.shape[0] + 1):
            for j in range(a.shape[1]):
                where = (i, j)
                a[i, j] += 1
    except IndexError as error:
        return where, str(error)


def of_an_inner_function(a):
    def show():
        return where

    where = None
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                where = (i, j)
    return show()


def scores(a):
    d = numpy.zeros_like(a)
    total = 0
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            d[i, j] = max([d[i - 1, j - 1] + a[i, j], d[i - 1, j] - 1, d[i, j - 1] - 1])
            d[i, j] = min((d[i, j], 5.0)) + max([j])
            total += sum([i, j, 1])
    return d.tolist(), total


COMPILED = [largest, ends, kept, always, scores]
OTHERS = [of_two_kinds, without_value, of_two_sizes, read, with_an_error, of_an_inner_function]


def outcome(function, a):
    try:
        found = function(a)
    except UnboundLocalError as error:
        return str(error)
    return found, [type(x) for x in found] if isinstance(found, tuple) else None, a.tolist()


@pytest.mark.parametrize("function", COMPILED + OTHERS, ids=lambda f: f.__name__)
def test_results_are_pythons(function):
    fast = frit.parallelize(function)
    for size in (0, 1, 2, 30, 30):
        a = numpy.random.default_rng(size).random((size, size))
        assert outcome(fast, a.copy()) == outcome(function, a.copy())


@pytest.mark.parametrize("function", COMPILED, ids=lambda f: f.__name__)
def test_they_run_compiled(function):
    fast = frit.parallelize(function)
    fast(numpy.random.default_rng(0).random((30, 30)))
    assert "Python" not in str(frit.explain(fast))


MODULE = """
import numpy as np
a = np.random.default_rng(1).random((900, 900))
for rounds in range(3):
    where, low, best, least = None, (), -1, 5.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > best:
                best, where = a[i, j], (i, j)
            if a[i, j] < least:
                least = a[i, j]
                low = (i, j, a[i, j], i > j)
    print(where, low, best, least, [type(x) for x in low])
    a += 0.5 * a[::-1]
for i in range(a.shape[0]):
    for j in range(a.shape[1]):
        last = (i, j * 0.5)
        if a[i, j] > 50:
            never = (i, j)
print(last, "never" in globals(), sorted(name for name in globals() if "$" in name))
"""


def test_a_modules_own_loops():
    assert_same_under_frit(MODULE)
