"""test_found_out.py: divisors and indices of which only the nest knows whether they will do."""

from __future__ import annotations

import math

import numpy
import pytest

import frit


def means(a, least, out):
    for i in range(a.shape[0]):
        total = count = 0
        for j in range(a.shape[1]):
            if a[i, j] >= least:
                total += int(a[i, j])
                count += 1
        out[i] = total / count


def parts(a, least, out):
    for i in range(a.shape[0]):
        count = 0
        for j in range(a.shape[1]):
            if a[i, j] >= least:
                count += 1
        out[i] = 100 // count + 100 % count


def evolve(a, least, out):
    rule = numpy.array([0, 1, 1, 1, 1, 0, 0, 0], dtype=a.dtype)
    cells = a[:, :40]
    cells[0] = 0
    cells[0, 20] = 1
    for s in range(1, cells.shape[0]):
        for i in range(cells.shape[1]):
            left, right = cells[s - 1, i - 1], cells[s - 1, (i + 1) % 40]
            cells[s, i] = rule[4 * left + 2 * cells[s - 1, i] + right - least]


def linked(a, least, out):
    first, following = a[0], a[1]
    for cell in range(len(first)):
        i = first[cell]
        while i >= 0:
            j = following[i]
            while j >= 0:
                out[i] += 1
                out[j] -= 2
                j = following[j]
            i = following[i]


def jumps(a, least, out):
    at = 0
    for k in range(len(out)):
        out[k] = at
        at = a[at, k] + least


def own(a, least, out):
    for k in range(1, a.shape[0]):
        a[k, a[k - 1, 0]] = k
        out[a[k, 1]] = int(a[k - 1, 2]) / 2


def chains(dtype):
    """Two rows: where the list of each cell begins, and what follows each; -1 ends it."""
    numbers = numpy.random.default_rng(3)
    cells = numbers.integers(0, 8, 60)
    a = numpy.full((2, 60), -1, dtype)
    for i, cell in enumerate(cells):
        a[1, i] = a[0, cell]
        a[0, cell] = i
    return a


def outcome(function, a, least, out):
    try:
        function(a, least, out)
    except (ArithmeticError, IndexError) as error:
        return type(error), str(error), a.tolist(), out.tolist()
    return a.tolist(), out.tolist()


NUMBERS = numpy.random.default_rng(2).integers(0, 50, (60, 60))
CALLS = {
    "means": (means, lambda t: NUMBERS.astype(t), 10),
    "a mean of nothing": (means, lambda t: NUMBERS.astype(t), 49),
    "parts": (parts, lambda t: NUMBERS.astype(t), 10),
    "a part of nothing": (parts, lambda t: NUMBERS.astype(t), 49),
    "cells": (evolve, lambda t: NUMBERS.astype(t), 0),
    "cells outside": (evolve, lambda t: NUMBERS.astype(t), -1),
    "links": (linked, chains, 0),
    "links outside": (linked, lambda t: chains(t) + 12 * (chains(t) == 50).astype(t), 0),
    "jumps": (jumps, lambda t: NUMBERS.astype(t), 0),
    "jumps outside": (jumps, lambda t: NUMBERS.astype(t), 30),
    "own": (own, lambda t: NUMBERS.astype(t), 0),
    "own, far outside": (own, lambda t: NUMBERS.astype(t) + numpy.iinfo(t).max // 2, 0),
}


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8"])
@pytest.mark.parametrize("name", CALLS)
def test_results_are_pythons(name, dtype):
    function, made, least = CALLS[name]
    if function is linked and dtype[0] == "u":
        return  # nothing is below 0
    fast = frit.parallelize(function)
    with numpy.errstate(all="ignore"):
        for _ in range(3):
            a, out = made(dtype), numpy.zeros(60)
            assert outcome(fast, a.copy(), least, out.copy()) == outcome(function, a, least, out)


@pytest.mark.parametrize("name", ["means", "parts", "cells", "links", "jumps"])
def test_they_run_compiled(name):
    function, made, least = CALLS[name]
    fast = frit.parallelize(function)
    for _ in range(2):
        fast(made("i8"), least, numpy.zeros(60))
    assert "Python" not in str(frit.explain(fast))


def is_prime(n):
    if n < 2:
        return False
    for i in range(2, int(n**0.5) + 1):
        if n % i == 0:
            return False
    return True


def primes(out):
    for n in range(len(out)):
        if is_prime(n):
            out[n] = 1


def primes_by_break(out):
    for n in range(2, len(out)):
        for i in range(2, math.isqrt(n) + 1):
            if n % i == 0:
                break
        else:
            out[n] = 1


def divisors(out):
    for n in range(1, len(out)):
        for i in range(int(math.sqrt(n)), 0, -1):
            if n % i == 0:
                out[n] += i
        for i in range(0, int(n**0.5) * 3, 3):
            out[n] -= i
        for i in range(int(out[n]) % 7):
            out[i] += 1


def beyond(out):
    for n in range(len(out)):
        for i in range(int(n**0.5) + 30 * (n == 299)):
            out[n + i - 40 * (n == 299)] += i + 1


def last_one(out):
    for n in range(4, len(out)):
        for i in range(2, int(n**0.5) + 1):
            j = i
        out[n] = i + j


def without_rounds(out):
    for n in range(len(out)):
        for i in range(int(n**0.5) - 1):
            j = i
        out[n] = j


def endless(out):
    for n in range(len(out)):
        for _ in range(int(1e18 * (n + 1))):
            out[n] += 1
            if out[n] > 5:
                break


def places(out):
    q = numpy.sort(numpy.cos(numpy.arange(50.0)))
    total = 0
    for k in range(len(out)):
        low, high = 0, len(q)
        while low < high:
            middle = (low + high) // 2
            if q[middle] < k / 150 - 1:
                low = middle + 1
            else:
                high = middle
        out[k] = low
        total += low * k
    out[0] = total


BOUNDS = [primes, primes_by_break, divisors, places, beyond, last_one, without_rounds, endless]


@pytest.mark.parametrize("function", BOUNDS, ids=lambda f: f.__name__)
def test_bounds_that_the_nest_computes(function):
    def outcome(run):
        out = numpy.zeros(300)
        try:
            run(out)
        except (IndexError, UnboundLocalError) as error:
            return type(error), str(error), out.tolist()
        return out.tolist()

    fast = frit.parallelize(function)
    for _ in range(3):
        assert outcome(fast) == outcome(function)


@pytest.mark.parametrize("function", BOUNDS[:4], ids=lambda f: f.__name__)
def test_loops_with_them_run_compiled(function):
    fast = frit.parallelize(function)
    fast(numpy.zeros(300))
    assert "Python" not in str(frit.explain(fast))
