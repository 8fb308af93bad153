"""test_searches.py: loops that look for an element, which vectors do, find what Python finds."""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np
import pytest

from .test_loops import check

pytestmark = pytest.mark.usefixtures("tier")
RNG = np.random.default_rng(7)
LENGTHS = (0, 1, 15, 16, 17, 127, 143, 144, 145, 272, 273, 700)


def place_of(row, number):
    for i in range(len(row)):
        if row[i] == number:
            return i
    return -1


def is_same(a, b):
    for i in range(len(a)):
        if a[i] != b[i]:
            return False
    return True


def first_below(rows, limit, out):
    for i in range(rows.shape[0]):
        out[i] = -1
        for j in range(1, rows.shape[1]):
            if abs(rows[i, j] - rows[i, j - 1]) < limit:
                out[i] = j
                break


def above_a_maximum(row, least):
    """The condition follows from what the loop changes."""
    best, count = least, 0
    for i in range(len(row)):
        if row[i] > best:
            best = row[i]
            count += i
            if count > 900:
                break
    return best, count


@pytest.mark.parametrize("dtype", "?bBhilfdF")
@pytest.mark.parametrize("step", [1, 2, -1])
def test_elements_of_each_type_are_found(dtype, step):
    for n in LENGTHS:
        row = (RNG.random(2 * n) * 0.99).astype(dtype)[::step][:n] * 0
        for place in {n - 1, n // 2, n // 3, min(n - 1, 16)} & set(range(n)):
            row = row.copy() if step == 1 else row
            row[place] = 1
            check(place_of, row, row.dtype.type(1))
            row[place] = 0
        check(place_of, row, row.dtype.type(1))


@pytest.mark.parametrize("n", LENGTHS)
def test_rows_are_compared(n):
    a = RNG.random(n)
    check(is_same, a, a.copy(), compiled=n > 0 or None)
    for place in (0, n // 2, n - 1):
        b = a.copy()
        b[place : place + 1] = np.nan
        check(is_same, a, b)
        check(is_same, b, b)
        check(is_same, a, b[:place])  # too short: an error only where Python comes to the end


@pytest.mark.parametrize("columns", LENGTHS[1:])
def test_each_row_is_searched_for_itself(columns):
    rows = RNG.random((40, columns))
    for limit in (1e-4, 1e-2, 0.3):
        check(first_below, rows, limit, np.zeros(40), compiled=True)
    rows[::3, columns // 2 :] = np.inf  # inf - inf behind what is found is nobody's concern
    check(first_below, rows, 0.3, np.zeros(40))


def test_a_condition_may_follow_from_what_is_found():
    for n in LENGTHS:
        check(above_a_maximum, RNG.random(n), 0.5)
        check(above_a_maximum, np.sort(RNG.random(n)), 0.5)


@pytest.mark.skipif(sys.platform != "linux", reason="mprotect of Linux")
def test_nothing_behind_an_array_is_read():
    """It ends where memory ends that may be read."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 4 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(start + 3 * page), ctypes.c_size_t(page), 0) == 0
    for n in LENGTHS:
        row = np.frombuffer(memory, "f8", n, 3 * page - 8 * n)
        row[:] = 0.5
        check(place_of, row, 3.0)
        check(is_same, row, row)
        if n:
            row[n - 1] = 3.0
            check(place_of, row, 3.0)
