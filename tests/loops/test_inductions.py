"""test_inductions.py: variables to which each round of a loop adds the same."""

from __future__ import annotations

import numpy as np
import pytest

import frit
from frit.loops.nest.asked import sum_of_rounds

from .test_loops import check


def rows_behind_one_another(n, m, x, out):
    k = 0
    for i in range(n):
        for j in range(m):
            out[k] = x[i] - j
            k += 1
    return k


def pairs(n, m, x, out):
    k = m
    for i in range(n):
        for j in range(i + 1, n):
            out[k] = (x[i] - x[j]) ** 2
            k += 1
    return k


def lower_triangle(n, m, x, out):
    k = -1
    for i in range(n):
        for j in range(i + 1):
            k += 1
            out[k] = x[j] + i
    return k


def shrinking(n, m, x, out):
    k = 0
    for i in range(n):
        for j in range(2, n - 2 * i - m):
            out[k] = x[j]
            k = k + 1
    return k


def from_the_end(n, m, x, out):
    k = len(out)
    for i in range(n):
        k -= m
        out[k] = x[i]
    return k


def steps_of_an_argument(n, m, x, out):
    k = 1
    for _i in range(n):
        for j in range(0, m, 2):
            out[k] += x[k] + j
            k += m
        k = 1 + k
    return k


def before_and_behind(n, m, x, out):
    k = 0
    for i in range(3, n + 3):
        out[k] = x[k]
        k += 2
        out[k + 1] = x[i] - k
    return k


def of_what_was_written(n, m, x, out):
    k = 1
    for i in range(n):
        out[k] = out[k - 1] + x[i]
        k += 1
    return k


ALL = [
    rows_behind_one_another,
    pairs,
    lower_triangle,
    shrinking,
    from_the_end,
    steps_of_an_argument,
    before_and_behind,
    of_what_was_written,
]


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize(("n", "m"), [(6, 3), (9, 1), (1, 1), (0, 4), (5, 0), (7, 2), (-2, 3)])
@pytest.mark.parametrize("size", [400, 18, 15])
def test_what_is_counted_on(function, n, m, size):
    x = np.random.default_rng(1).integers(0, 9, 400).astype(float)
    check(function, n, m, x, np.zeros(size))


@pytest.mark.parametrize(
    ("function", "marks"),
    [
        (rows_behind_one_another, ["parallel", "parallel"]),
        (pairs, ["serial", "parallel"]),
        (lower_triangle, ["serial", "parallel"]),
        (from_the_end, ["parallel"]),
        (of_what_was_written, ["serial"]),
    ],
)
def test_loops_that_count_are_parallel(function, marks):
    parallel = frit.parallelize(function)
    for _ in range(3):
        parallel(40, 7, np.arange(400.0), np.zeros(1000))
    text = str(frit.explain(parallel))
    assert [line.split("# ")[1].split(":")[0] for line in text.split("\n") if "# " in line] == marks


def test_the_rounds_of_a_triangle():
    rng = np.random.default_rng(2)
    for begin, end, rest in rng.integers(-12, 12, (2000, 3)).tolist():
        for factor in (-3, -2, -1, 1, 2, 5):
            counted = sum(max(0, factor * i + rest) for i in range(begin, end))
            assert sum_of_rounds(begin, end, factor, rest) == counted
