"""test_rows.py: kernels with loops inside of their points, which run as lanes where that is right.

The oracle is the kernel's own function, called as the Python it is, point after point.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import row_programs
from views import numbers, view

import frit
import frit.pykokkos as pk
from frit import _core

PROGRAMS = max(120, int(os.environ.get("FRIT_FUZZ_PROGRAMS", "500")) // 4)
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
LANES = "with lanes along loops inside"


def run(function: Callable[..., None], points: int, **arguments: Any) -> bool:
    """Compares with Python; whether the kernel had lanes along its loops."""
    expected = {k: v.copy() if isinstance(v, numpy.ndarray) else v for k, v in arguments.items()}
    for i in range(points):
        function(i, **expected)
    given = {
        k: view(v, pk.int32 if v.dtype == numpy.int32 else pk.double)
        if isinstance(v, numpy.ndarray)
        else v
        for k, v in arguments.items()
    }
    frit.eval()
    pk.parallel_for(points, pk.workunit(function), **given)
    frit.eval()
    explained = str(frit.explain())
    for name, value in expected.items():
        if isinstance(value, numpy.ndarray):
            found = numpy.asarray(given[name])
            assert numpy.array_equal(found, value), (name, found, value)
    return LANES in explained


# ---- rounds that are independent ----------------------------------------------------------------


def rows(i, a, b, m):
    for j in range(m):
        b[i][j] = 2 * a[i][j]


@pytest.mark.parametrize("m", [1, 7, 8, 9, 17, 64, 100])
@pytest.mark.parametrize("points", [1, 3, 40])
def test_rows_of_each_length(tier: str, m: int, points: int) -> None:
    assert run(rows, points, a=numbers(1, 40, 100), b=numbers(2, 40, 100), m=m) == (m >= 8)


def halves(i, a, m):
    for j in range(m // 2):
        a[i][j] = a[i][j + m // 2]


def by_quotient(i, a, b, n):
    for t in range(64):
        b[i][t // n][t % n] = a[i][t] + b[i][t // n][t % n]


def turned(i, a, b, n):
    for t in range(n * n):
        b[i][t % n][t // n] = a[i][t]


def three_axes(i, a, b):
    for t in range(128):
        b[i][t // 32][(t // 8) % 4][t % 8] = a[i][t]


def under_conditions(i, a, b, m):
    for j in range(m):
        v: float = a[i][j]
        if v > 0:
            v = v * 3
            if j % 3 == 0:
                v = v - 1
        elif i > 2:
            b[i][j] = 7
        n: int = 0
        while n < 5 and v > n:
            n += 1
        b[i][j] = b[i][j] + v + n


def by_halves(i, a, m):
    h: int = m // 2
    while h > 0:
        for t in range(m):
            if t < h:
                a[i][t] += a[i][t + h]
        h = h // 2


def table(i, a, b, at, m):
    for j in range(m):
        b[i][j] = a[i][at[j]]


def by_twos(i, a, b, m):
    for j in range(m):  # pairs are independent, and each in order
        b[i][j // 2] = a[i][j] - b[i][j // 2]


def test_rounds_that_are_independent(tier: str) -> None:
    a, b = numbers(1, 12, 64), numbers(2, 12, 64)
    assert run(halves, 12, a=a, m=64)
    assert run(by_quotient, 12, a=a, b=numbers(3, 12, 8, 8), n=8)
    assert run(three_axes, 12, a=numbers(1, 12, 128), b=numbers(3, 12, 4, 4, 8))
    assert run(under_conditions, 12, a=a, b=b, m=64)
    assert run(by_halves, 12, a=a, m=64)
    assert run(by_twos, 12, a=a, b=b, m=64)
    at = numpy.random.RandomState(4).randint(0, 64, 64).astype(numpy.int32)
    assert run(table, 12, a=a, b=b, at=at, m=64)


def test_quotients_whose_divisor_does_not_divide_the_length(tier: str) -> None:
    run(by_quotient, 5, a=numbers(1, 5, 64), b=numbers(3, 5, 10, 7), n=7)
    run(turned, 5, a=numbers(1, 5, 81), b=numbers(3, 5, 9, 9), n=9)


def tiles(i, c, n):
    row: int = i // n
    column: int = i % n
    for t in range(16):
        c[row * 4 + t // 4][column * 4 + t % 4] += i + t


def test_points_with_tiles_of_a_matrix_are_apart(tier: str) -> None:
    run(tiles, 12, c=numbers(1, 12, 16), n=4)
    assert "one thread" not in str(frit.explain())


def shared_tiles(i, c, n):
    row: int = i // n
    for t in range(16):
        c[row * 4 + t // 4][t % 4] = 2 * c[row * 4 + t // 4][t % 4] + i


def test_points_that_share_a_tile_run_in_order(tier: str) -> None:
    run(shared_tiles, 12, c=numbers(1, 12, 4), n=4)
    assert "one thread" in str(frit.explain())


# ---- rounds that are not ------------------------------------------------------------------------


def shifted(i, a, m):
    for j in range(m - 1):
        a[i][j + 1] = a[i][j] + 1


def turned_round(i, a, m):
    for j in range(m):
        a[i][j] = a[i][m - 1 - j]


def nearly_halves(i, a, m):
    for j in range(m // 2 + 1):
        a[i][j] = a[i][j + m // 2 - 1]


def running_sum(i, a, b, m):
    total: float = 0
    for j in range(m):
        total += a[i][j]
        b[i][j] = total


def last_of_row(i, a, b, m):
    last: float = 0
    for j in range(m):
        last = a[i][j]
        b[i][j] = last
    a[i][0] = last


def kept_under_a_condition(i, a, b, m):
    kept: float = 0
    for j in range(m):
        if a[i][j] > 0:
            kept = a[i][j]
        b[i][j] = kept


def halves_and_one(i, a, m):
    h: int = m // 2
    while h > 1:
        for t in range(m):
            if t < h + 1:
                a[i][t] += a[i][t + h - 1]
        h = h // 2


def other_array(i, a, b, m):
    for j in range(m - 1):
        b[i][j] = a[i][j + 1]
        a[i][j] = b[i][j] + 1
        b[i][j + 1] = a[i][j]


def scattered(i, a, at, m):
    for j in range(m):
        a[i][at[j]] = a[i][at[j]] * 2 + j


def from_round_to_round(i, a, b, m):
    for k in range(2):
        for j in range(m):
            if k == 0:
                v: float = a[i][j]
            b[i][j] += v


def counter(i, a, b, m):
    n: int = 0
    for j in range(m):
        if a[i][j] > 0:
            b[i][n] = a[i][j]
            n += 1


def one_place(i, a, b, m):
    for j in range(m):
        b[i][0] = a[i][j]


def test_rounds_that_depend_on_one_another_run_in_order(tier: str) -> None:
    a, b = numbers(1, 12, 64), numbers(2, 12, 64)
    at = numpy.random.RandomState(4).randint(0, 64, 64).astype(numpy.int32)
    for function in (shifted, turned_round, nearly_halves, halves_and_one):
        assert not run(function, 12, a=a, m=64), function.__name__
    for function in (running_sum, last_of_row, kept_under_a_condition, other_array,
                     from_round_to_round, counter, one_place):  # fmt: skip
        assert not run(function, 12, a=a, b=b, m=64), function.__name__
    assert not run(scattered, 12, a=a, at=at, m=64)


def test_one_array_given_twice(tier: str) -> None:
    a = numbers(1, 12, 65)
    expected = a.copy()
    for i in range(12):
        rows(i, expected[:, :-1], expected[:, 1:], 64)
    pk.parallel_for(12, pk.workunit(rows), a=a[:, :-1], b=a[:, 1:], m=64)
    assert numpy.array_equal(a, expected)
    x = view(numbers(1, 12, 65))
    pk.parallel_for(12, pk.workunit(rows), a=x[:, :-1], b=x[:, 1:], m=64)
    assert numpy.array_equal(numpy.asarray(x), expected)


def test_rows_with_other_strides(tier: str) -> None:
    for make in (lambda a: a.T.copy().T, lambda a: a.repeat(2, axis=1)[:, ::2], numpy.fliplr):
        a, b = make(numbers(1, 12, 64)), make(numbers(2, 12, 64))
        pk.parallel_for(12, pk.workunit(rows), a=a, b=b, m=64)
        assert numpy.array_equal(b, 2 * a)


# ---- with other kernels -------------------------------------------------------------------------


@pk.workunit
def double_point(i, x):
    x[i] = 2 * x[i]


@pk.workunit
def fill_row(i, x, b):
    for j in range(64):
        b[i][j] = x[i] + j


@pk.workunit
def first_of_row(i, acc, x, b):
    for j in range(64):
        b[i][j] = b[i][j] * x[i]
    acc += 0.1 * b[i][3] + x[i]


@pytest.mark.parametrize("points", [3, 1000, 40_000])
def test_rows_fuse_with_points_and_sums(tier: str, points: int) -> None:
    found = []
    for fusion in ("off", "trace", "on"):
        _core.set_fusion(fusion)
        x, b = view(numpy.linspace(0.1, 0.7, points)), pk.View([points, 64])
        pk.parallel_for(points, double_point, x=x)
        pk.parallel_for(points, fill_row, x=x, b=b)
        total = pk.parallel_reduce(points, first_of_row, x=x, b=b)
        found.append((float(total), numpy.asarray(x).tobytes(), numpy.asarray(b).tobytes()))
    _core.set_fusion("on")
    assert found[0] == found[1] == found[2]
    x = 2 * numpy.linspace(0.1, 0.7, points)
    rows_of = (x[:, None] + numpy.arange(64)) * x[:, None]
    assert numpy.array_equal(numpy.frombuffer(found[0][2]).reshape(points, 64), rows_of)
    assert found[0][0] == (0.1 * rows_of[:, 3] + x).sum()


# ---- random ones --------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(4))
def test_random_loops_give_what_python_gives(part: int, tmp_path: Path) -> None:
    lanes = 0
    for seed in range(FIRST + part, FIRST + PROGRAMS, 4):
        source = row_programs.source(seed)
        path = tmp_path / f"rows_{seed}.py"
        path.write_text("import frit.pykokkos as pk\n\n\n" + source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        n = row_programs.N
        for tier in ("interpreter", "compiled") if seed % 3 == 0 else ("interpreter",):
            _core.set_tier(tier)
            arrays = {"a": numbers(7, 9, n), "b": numbers(8, 9, n), "c": numbers(9, 9, 4, 4)}
            try:
                with_lanes = run(module.kernel, 9, out=numpy.zeros(9), x=2.0, N=n, **arrays)
            except AssertionError as difference:
                raise AssertionError(f"seed {seed}, {tier}\n{source}") from difference
            lanes += with_lanes
    assert lanes >= PROGRAMS // 40  # what is tested here does happen
