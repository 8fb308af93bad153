"""test_tables.py: tables of dynamic programming, whose elements wait for those beside and above."""

from __future__ import annotations

import numpy as np
import pytest

import frit


def longest_common(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            if a[i - 1] == b[j - 1]:
                t[i, j] = t[i - 1, j - 1] + 1
            else:
                t[i, j] = max(t[i - 1, j], t[i, j - 1])


def edited(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            t[i, j] = min(t[i - 1, j] + 1, t[i, j - 1] + 1, t[i - 1, j - 1] + cost)


def paths(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            t[i, j] = t[i - 1, j] + t[i, j - 1]


def paths_from_the_end(a, b, t):
    for i in range(t.shape[0] - 2, -1, -1):
        for j in range(t.shape[1] - 2, -1, -1):
            t[i, j] = t[i + 1, j] - t[i, j + 1]


def paths_by_knights(a, b, t):
    for i in range(2, t.shape[0]):
        for j in range(1, t.shape[1] - 2):
            t[i, j] = t[i - 1, j + 2] + t[i - 2, j + 1] + t[i, j - 1] - t[i, j + 1]


def warped(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            t[i, j] = abs(a[i - 1] - b[j - 1]) + min(t[i - 1, j], t[i, j - 1], t[i - 1, j - 1])


def skipping(a, b, t):
    for i in range(1, t.shape[0]):
        weight = a[i - 1]
        for j in range(1, t.shape[1]):
            if b[j - 1] > 0:
                t[i, j] = t[i, j - 1] + t[i - 1, j] + weight


TABLES = [longest_common, edited, paths, paths_from_the_end, paths_by_knights, warped, skipping]


def arguments(kind: str, rows: int, columns: int) -> list:
    make = np.random.default_rng(rows * 1000 + columns)
    a, b = (make.integers(-2, 3, n).astype(kind) for n in (rows, columns))
    return [a, b, make.integers(-9, 9, (rows + 1, columns + 1)).astype(kind)]


@pytest.mark.parametrize("tile", [None, 3, 16])
@pytest.mark.parametrize("kind", ["l", "i", "d"])
@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_what_python_makes_of_it(table, kind, tile, tuning):
    if tile:
        tuning[:] = [20000, 2, tile, 0]
    compiled = frit.parallelize(table)
    for rows, columns in [(0, 0), (1, 5), (17, 16), (33, 20), (90, 130)]:
        with np.errstate(all="ignore"):
            expected = arguments(kind, rows, columns)
            table(*expected)
            for _ in range(2):
                found = arguments(kind, rows, columns)
                compiled(*found)
                assert found[2].tobytes() == expected[2].tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_a_large_table_runs_in_tiles_row_by_row(threads):
    before, cost = frit._core.threads(), frit._core.set_part_cost(1e-3)
    frit._core.set_threads(threads)
    try:
        compiled = frit.parallelize(longest_common)
        expected, found = arguments("l", 500, 700), arguments("l", 500, 700)
        longest_common(*expected)
        compiled(*found)
        assert found[2].tobytes() == expected[2].tobytes()
        assert str(frit.explain(compiled)).count("# wavefront: ") == 2
    finally:
        frit._core.set_part_cost(cost)
        frit._core.set_threads(before)
