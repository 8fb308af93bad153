"""test_large.py: nests over more memory than the caches hold, whose stores bypass them."""

from __future__ import annotations

import numpy as np
import pytest

import frit

from .test_loops import runs_compiled

N = 1_500_001
RANDOM = np.random.default_rng(5)
X, Y = RANDOM.normal(size=N), RANDOM.normal(size=N)


def added(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i] * 0.5


def chosen(a, b, c):
    for i in range(a.shape[0]):
        if a[i] > b[i]:
            c[i] = a[i]


def stencil(a, b, c):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            c[i, j] = a[i - 1, j] + a[i + 1, j] - b[i, j]


def row_sums(a, b, c):
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] - b[i, j]
            c[i, j] = total


def run(function, a, b, c):
    parallel = frit.parallelize(function)
    parallel(a, b, c)
    assert runs_compiled(parallel), frit.explain(parallel)


@pytest.mark.parametrize("begin", [0, 1, 3])
@pytest.mark.parametrize("step", [1, -1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_elements(begin, step, dtype):
    whole = np.zeros((2 if step == 2 else 1) * N + 8, dtype)
    a, b = X.astype(dtype), Y.astype(dtype)
    c = whole[::step][begin : begin + N]
    assert len(c) == N
    run(added, a, b, c)
    assert np.array_equal(c, a + b * dtype(0.5))
    c[...] = 0
    assert not whole.any()  # nothing was stored beside it


def test_some_elements():
    c = np.full(N, 7.0)
    run(chosen, X, Y, c)
    assert np.array_equal(c, np.where(X > Y, X, 7.0))


def test_an_argument_that_is_another_one_shifted():
    c = X.copy()
    expected = c.copy()
    for i in range(N - 1):
        expected[i + 1] = expected[i] + Y[i] * 0.5
    run(added, c[:-1], Y, c[1:])
    assert np.array_equal(c, expected)


@pytest.mark.parametrize("columns", [1_000, 1_001, 7])
def test_rows(columns):
    rows = N // columns
    a, b = X[: rows * columns].reshape(rows, columns), Y[: rows * columns].reshape(rows, columns)
    c = np.zeros_like(a)
    run(stencil, a, b, c)
    expected = np.zeros_like(a)
    expected[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1] - b[1:-1, 1:-1]
    assert np.array_equal(c, expected)
    run(row_sums, a, b, c)
    assert np.array_equal(c, np.cumsum(a - b, axis=1))
