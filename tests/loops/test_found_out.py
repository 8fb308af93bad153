"""test_found_out.py: divisors and indices of which only the nest knows whether they will do."""

from __future__ import annotations

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
