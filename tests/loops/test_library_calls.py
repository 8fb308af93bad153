"""test_library_calls.py: functions of NumPy and of bisect that nests have, of numbers and rows."""

from __future__ import annotations

import bisect
import math

import numpy as np
import pytest

from .test_loops import check

RNG = np.random.default_rng(5)
VALUES = RNG.random(60) * 40
ODD = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 2.675, 1.005, 0.5, 1.5, 2.5, -0.004, 1e-300])


def places(row, values, out):
    for i in range(len(values)):
        out[i] = np.searchsorted(row, values[i]) * 1000 - row.searchsorted(values[i], "right")
        out[i] += np.searchsorted(row, values[i], side="right") * 10_000_000


def bisected(row, values, out):
    for i in range(len(values)):
        out[i] = bisect.bisect(row, values[i]) * 100 + bisect.bisect_left(row, values[i])


def in_a_table(xs, ys, values, out):
    for i in range(len(values)):
        out[i] = np.interp(values[i], xs, ys)


def extremes(row, out):
    for i in range(1, len(row)):
        out[i] = np.argmax(row[:i]) * 100 + row[: i + 1].argmin() + row[np.argmin(row[i:])]
        out[i] += np.argmax(np.abs(row - row[i])) * 10_000 + (row[:i] > row[i]).argmax()


def clipped(values, low, out):
    for i in range(len(values)):
        out[i] = np.clip(values[i], low, 30) + values[np.clip(i + 2, 0, len(values) - 1)]


def rounded(values, out):
    for i in range(len(values)):
        out[i] = round(float(values[i]), 2) + round(values[i], 3) * 1000
        out[i] += np.round(values[i], 1) * 1e6 - np.round(values[i]) * 1e9 + round(i, 2)


def by_names(values, out):
    for i in range(len(values)):
        x = np.add(values[i], 1) * np.subtract(i, 2) + np.multiply(values[i], values[i])
        out[i] = np.divide(x, 7) + np.mod(x, 3) - np.floor_divide(x, 2) + np.arctanh(0.5)


@pytest.mark.parametrize("dtype", "dfilBh")
@pytest.mark.parametrize("order", ["sorted", "NaN", "none"])
def test_places_in_a_row(dtype, order):
    row = VALUES.astype(dtype)
    if order != "none":
        row.sort()
    if order == "NaN" and dtype in "df":
        row[50:] = np.nan
    values = np.r_[VALUES[::2], row[::7], [np.nan, np.inf, -1]]
    check(bisected, row, values, np.zeros(len(values)), compiled=True)
    if order == "none" and np.lib.NumpyVersion(np.__version__) >= "2.5.0":
        return  # what has no order is searched in another one
    check(places, row, values, np.zeros(len(values)), compiled=True)
    check(places, row, values.astype("f4"), np.zeros(len(values)))


def of_pythons_floats(row, out):
    for i in range(len(out)):
        out[i] = np.searchsorted(row, 0.1 * i) + np.searchsorted(row, 0.1, "right") * 100
        out[i] += row.searchsorted(2**24 + i) * 10_000


def test_places_of_pythons_numbers():
    for dtype in "fdil":
        row = (np.arange(40) * 0.1 * (10 if dtype in "il" else 1)).astype(dtype)
        check(of_pythons_floats, row, np.zeros(50), compiled=True)
    check(of_pythons_floats, np.full(9, 2.0**24, "f4"), np.zeros(9), compiled=True)


def test_places_in_a_list():
    check(bisected, sorted(VALUES.tolist()), VALUES, np.zeros(60), compiled=True)
    check(bisected, [*range(40)], VALUES, np.zeros(60), compiled=True)


@pytest.mark.parametrize("n", [1, 2, 4, 5, 12, 60])
def test_tables(n):
    xs = np.sort(VALUES[:n])
    values = np.r_[VALUES, xs, [np.nan, np.inf, -np.inf, -1]]
    out = np.zeros(len(values))
    check(in_a_table, xs, VALUES[::-1][:n], values, out, compiled=n > 1 or None)
    check(in_a_table, VALUES[:n], xs, values, out)  # without an order
    check(in_a_table, xs.astype(int), np.arange(n), values, out)
    with_steps = np.repeat(xs, 2)
    check(in_a_table, with_steps, np.r_[VALUES[:n], np.full(n, np.inf)], values, out)


def test_tables_that_fail():
    check(in_a_table, np.zeros(0), np.zeros(0), VALUES, np.zeros(60))
    check(in_a_table, np.arange(3.0), np.arange(4.0), VALUES, np.zeros(60))
    check(in_a_table, np.zeros((2, 2)), np.arange(2.0), VALUES, np.zeros(60))


@pytest.mark.parametrize("dtype", "dfilBh")
def test_where_extremes_are(dtype):
    row = VALUES.astype(dtype)
    check(extremes, row, np.zeros(60), compiled=dtype != "B" or None)
    if dtype in "df":
        row[[20, 40]] = np.nan
        check(extremes, row, np.zeros(60), compiled=True)


@pytest.mark.parametrize("low", [3, 2.5, -0.0, math.nan])
def test_clip(low):
    for dtype in "dfilb":
        check(clipped, VALUES.astype(dtype), low, np.zeros(60))
    check(clipped, ODD, low, np.zeros(12), compiled=True)


def test_round():
    check(rounded, VALUES, np.zeros(60), compiled=True)
    check(rounded, ODD, np.zeros(12))
    check(rounded, np.arange(-99, 99, 2) / 2000, np.zeros(99), compiled=True)
    check(rounded, VALUES.astype("f4"), np.zeros(60), compiled=True)
    check(rounded, VALUES.astype(int), np.zeros(60), compiled=True)
    check(rounded, VALUES * 1e15, np.zeros(60))


def test_operators_by_their_names():
    check(by_names, VALUES, np.zeros(60), compiled=True)
    check(by_names, VALUES.astype("f4"), np.zeros(60), compiled=True)
    check(by_names, VALUES.astype(int), np.zeros(60), compiled=True)


def of_truths(values, out):
    for i in range(len(values)):
        out[i] = np.add(values[i] > 9, i > 2) + np.multiply(i > 1, 3)


def differences_of_truths(values, out):
    for i in range(len(values)):
        out[i] = np.subtract(i > 1, i > 2)


def test_operators_of_truths():
    for function in (of_truths, differences_of_truths):
        check(function, VALUES, np.zeros(60))
