"""test_windows.py: sums, means, variances, medians and extremes of windows have NumPy's bits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import frit
from frit.loops.nest.reductions import comparisons

from .test_loops import runs_compiled


def convolve(a, k, out):
    rows, columns = k.shape
    for i in range(a.shape[0] - rows + 1):
        for j in range(a.shape[1] - columns + 1):
            out[i, j] = np.sum(a[i : i + rows, j : j + columns] * k)


def neighbours(a, k, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            window = a[i - 1 : i + 2, j - 1 : j + 2]
            out[i, j] = window.sum() + window.mean() * np.max(window) - window.min()


def deviations(a, k, out):
    n = k.shape[0]
    for i in range(a.shape[0] - n):
        for j in range(a.shape[1] - 3):
            out[i, j] = a[i : i + n, j : j + 3].std() + np.var(a[i : i + n, j] - k[0, 0])


def medians(a, k, out):
    for i in range(a.shape[0] - 4):
        for j in range(a.shape[1] - 4):
            out[i, j] = np.median(a[i : i + 3, j : j + 5]) - np.median(a[i : i + 4, j])


def in_place(a, k, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] = a[i - 1 : i + 2, j - 1 : j + 2].mean()


def volumes(a, k, out):
    for i in range(a.shape[0] - 1):
        for j in range(a.shape[1] - 2):
            out[i, j] = (a[i : i + 2, j : j + 3, None] * k[:2, 0]).sum() if i > j else 0.0


def like(x):
    """The same elements, as far apart in memory."""
    ends = np.lib.array_utils.byte_bounds(x)
    memory = np.empty(ends[1] - ends[0], "u1")
    first = x.__array_interface__["data"][0] - ends[0]
    made = np.ndarray(x.shape, x.dtype, memory, first, x.strides)
    made[...] = x
    return made


def outcome(function, *arrays):
    given = [like(x) for x in arrays]
    with np.errstate(all="ignore"):
        function(*given)
    return [x.tobytes() for x in given]


def check(function, a, k, out, *, compiled=True):
    ours = frit.parallelize(function)
    expected = outcome(function, a, k, out)
    for _ in range(2):
        assert outcome(ours, a, k, out) == expected, function.__name__
    assert runs_compiled(ours) == compiled, frit.explain(ours)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5), (7, 1), (8, 8), (11, 11), (2, 64)])
def test_sums_of_windows_of_floats(shape, dtype):
    rng = np.random.default_rng(1)
    a = (rng.standard_normal((20, 80)) * 1e3).astype(dtype)
    k = rng.standard_normal(shape).astype(dtype)
    check(convolve, a, k, np.zeros((20, 80), dtype))


def channels(a, k, out):
    _, rows, columns = k.shape
    for i in range(a.shape[1] - rows + 1):
        for j in range(a.shape[2] - columns + 1):
            part = a[:, i : i + rows, j : j + columns]
            out[i, j] = np.sum(part * k) + part.mean()


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(
    ("shape", "compiled"),
    [
        ((16, 3, 3), True),
        ((43, 1, 3), True),
        ((7, 25, 16), True),
        ((150, 9, 1), True),
        ((512, 4, 4), True),
        ((9, 2, 17), False),  # rows of some length are no slower in NumPy
        ((546, 5, 3), True),
        ((547, 5, 3), False),  # 8,205 elements are more than NumPy's buffer holds
    ],
)
def test_sums_of_windows_of_three_axes(shape, dtype, compiled):
    rng = np.random.default_rng(8)
    a = (rng.standard_normal((shape[0], 27, 19)) * 1e3).astype(dtype)
    k = rng.standard_normal(shape).astype(dtype)
    check(channels, a, k, np.zeros((27, 19), dtype), compiled=compiled)


@pytest.mark.parametrize("function", [neighbours, deviations, medians, in_place])
@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "i2", "i4", "u4"])
def test_windows_of_each_type(function, dtype):
    rng = np.random.default_rng(2)
    a = (rng.standard_normal((23, 31)) * 100).astype("i4").astype(dtype)
    if dtype[0] == "f":
        a += rng.random(a.shape).astype(dtype)
    compiled = function is not deviations or dtype[0] == "f"
    check(function, a, np.ones((5, 1), dtype), np.zeros(a.shape), compiled=compiled)


@pytest.mark.parametrize("function", [neighbours, medians, convolve, deviations])
def test_windows_with_nans_infinities_and_zeros(function):
    rng = np.random.default_rng(3)
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0]
    for _ in range(5):
        a = rng.choice(special, (15, 17), p=[0.02, 0.02, 0.02, 0.3, 0.3, 0.17, 0.17])
        given = [a, np.ones((3, 2)), np.zeros(a.shape)]
        expected, got = ([x.copy() for x in given] for _ in range(2))
        with np.errstate(all="ignore"):
            function(*expected)
            ours = frit.parallelize(function)
            ours(*got)
        assert runs_compiled(ours)
        np.testing.assert_array_equal(got[2], expected[2])
        is_number = ~np.isnan(expected[2])
        assert (np.signbit(got[2]) == np.signbit(expected[2]))[is_number].all()


def test_other_orders_of_memory_stay_python():
    rng = np.random.default_rng(4)
    a = rng.standard_normal((40, 60))
    k, out = rng.standard_normal((3, 3)), np.zeros((60, 60))
    for view, compiled in [
        (a[::2, 1::3], True),
        (a.T, False),
        (a[::-1], False),
        (a[:, ::-1], False),
        (np.asfortranarray(a), False),
        (np.broadcast_to(a[0], (30, 60)), False),
        (np.lib.stride_tricks.sliding_window_view(a[0], 9), False),
    ]:
        check(convolve, view, k, out, compiled=compiled)
    check(convolve, a, k.T, out, compiled=False)


def clipped(a, k, out):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            part = a[max(i - 1, 0) : min(i + 2, n), max(j - 1, 0) : min(j + 2, n)]
            out[i, j] = part.sum()


def clipped_means(a, k, out):
    r, (rows, columns) = k.shape[0], a.shape
    for i in range(rows):
        for j in range(columns):
            part = a[max(i - r, 0) : min(i + r + 1, rows), max(j - r, 0) : min(j + r + 1, columns)]
            out[i, j] = part.mean() - (part * 2 + 1).var()


def with_steps(a, k, out):
    for i in range(a.shape[0] - 4):
        out[i, 0] = a[i : i + 4 : 2, 1:4].sum()


def test_windows_of_varying_size_or_with_steps_do_what_python_does():
    a = np.random.default_rng(5).standard_normal((20, 20))
    check(with_steps, a, a, np.zeros((20, 20)), compiled=False)
    check(clipped, a, a, np.zeros((20, 20)))
    whole = (a * 1000).astype(int)
    check(clipped, whole, whole, np.zeros((20, 20)))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("radius", [0, 1, 2, 3, 5, 6])
def test_windows_that_the_edges_cut(radius, dtype):
    a = np.random.default_rng(radius).standard_normal((17, 21)).astype(dtype)
    k, out = np.zeros((radius, 1)), np.zeros(a.shape, dtype)
    check(clipped_means, a, k, out)
    check(clipped_means, a[:4, :3].copy(), k, out[:4, :3].copy())


def test_a_kernel_of_another_size_is_another_translation():
    rng = np.random.default_rng(6)
    a, out = rng.standard_normal((30, 30)), np.zeros((30, 30))
    ours = frit.parallelize(convolve)
    for n in (3, 5, 3, 2, 3):
        k = rng.standard_normal((n, n))
        expected, got = out.copy(), out.copy()
        convolve(a, k, expected)
        ours(a, k, got)
        assert expected.tobytes() == got.tobytes(), n
    assert runs_compiled(ours)


def test_windows_with_an_axis_that_is_repeated():
    a = np.random.default_rng(7).standard_normal((12, 12))
    check(volumes, a, a, np.zeros((12, 12)), compiled=False)


@pytest.mark.parametrize("n", range(1, 14))
def test_the_comparisons_sort(n):
    for ones in itertools.product([0, 1], repeat=n):
        values = [*ones]
        for low, high in comparisons(n):
            values[low], values[high] = sorted((values[low], values[high]))
        assert values == sorted(ones)
