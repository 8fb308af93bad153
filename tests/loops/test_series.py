"""test_series.py: loops over np.arange and np.linspace go through NumPy's own numbers."""

from __future__ import annotations

import numpy as np
import pytest

import frit

from .test_loops import check, runs_compiled


def numbers(out, a, b, n):
    for i, x in enumerate(np.linspace(a, b, n)):
        out[i] = x


def fifty(out, a, b, n):
    for x, i in zip(np.linspace(a, b), range(len(out)), strict=False):
        out[i] = x * n


def grid(out, a, b, n):
    for i, y in enumerate(np.linspace(a, b, num=n)):
        for j, x in enumerate(np.linspace(b, a, n)):
            z = complex(x, y)
            out[(i + j) % n] += abs(z * z) > 1
    return x, j


def whole(out, a, b, n):
    for i in np.arange(n):
        out[i] = i * a
    for i in np.arange(n - 1, 0, -2):
        out[i] += out[i - 1] / 3
    for i in np.arange(1, n):
        for j in np.arange(i):
            out[i] -= j // (i + 1) + j % i
    return i, i * 2**62 if n > 2 else 0


def outcome(function, *given):
    out = np.zeros(max(given[-1], 0) + 60)
    with np.errstate(all="ignore"):
        try:
            found = function(out, *given)
        except Exception as error:
            found = repr(error)
    return out.tobytes(), repr(found)


@pytest.mark.parametrize("function", [numbers, fifty, grid, whole])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 300, -1])
def test_numbers_of_numpys_series(function, n):
    ends = [(-1, 1), (0.3, 0.1), (2, 2), (np.float64(0.1), 5), (1e-320, 1.2e-320), (-1e308, 1e308)]
    for a, b in [*ends, (0, np.inf), (np.nan, 1.0), (-0.0, 0.0)]:
        ours = frit.parallelize(function)
        expected = outcome(function, a, b, n)
        assert outcome(ours, a, b, n) == expected or np.isnan(a + b), (a, b)
        assert outcome(ours, a, b, n) == expected or np.isnan(a + b), (a, b)
    if n > 2:
        assert runs_compiled(ours) or function is whole, frit.explain(ours)


def over_floats(out, start, stop, step):
    k = 0
    for t in np.arange(start, stop, step):
        out[k % 50] = t
        k += 1
    for t in np.arange(stop):
        out[k % 50] += t
    return k


def test_arange_of_floats_has_numpys_numbers():
    chosen = np.random.default_rng(5)
    compiled = 0
    cases = [(0, 1.0, 0.1), (0.0, 1, 0.1), (1.0, 0.0, -0.3), (0.5, 0.5, 1), (2.0, 1.0, 0.5)]
    cases += [(0.0, 1.0, 0.0), (0.0, np.inf, 1.0), (np.nan, 1.0, 1.0), (0.0, 1e300, 1e-300)]
    cases += [tuple(chosen.normal(size=2)) + (chosen.normal() / 20,) for _ in range(100)]
    ours = frit.parallelize(over_floats)
    for start, stop, step in cases:
        given = [x if isinstance(x, int) else float(x) for x in (start, stop, step)]
        seen = []
        for called in (over_floats, ours):
            out = np.zeros(50)
            try:
                seen.append((called(out, *given), out.tobytes()))
            except Exception as error:
                seen.append((type(error), str(error), out.tobytes()))
        assert seen[0] == seen[1], given
    compiled = sum(site.calls for site in frit.loops.state_of(ours).sites)
    assert compiled > 100, str(frit.explain(ours))


def without_the_last(out):
    for k, x in enumerate(np.linspace(0, 1, 10, endpoint=False)):
        out[k] = x


def of_float32(out):
    for k, x in enumerate(np.linspace(np.float32(0), np.float32(1), 10)):
        out[k] = x


@pytest.mark.parametrize("function", [without_the_last, of_float32])
def test_other_series_stay_python(function):
    ours = frit.parallelize(function)
    expected, got = np.zeros((2, 10))
    function(expected)
    ours(got)
    assert np.array_equal(expected, got)
    assert not runs_compiled(ours)


def first_of_whole(out, n):
    for i in np.arange(n):
        if i > 5:
            break
        out[i % 10] = i


def first_of_parts(out, n):
    for i, x in enumerate(np.linspace(0, 1, n)):
        if i > 5:
            break
        out[i] = x


@pytest.mark.parametrize("function", [first_of_whole, first_of_parts])
def test_series_that_the_memory_does_not_hold(function):
    ours = frit.parallelize(function)
    for called in (function, ours):
        out = np.zeros(10)
        with pytest.raises(MemoryError):
            called(out, 2**50)
        assert not out.any()
        called(out, 9)
    assert any(site.calls for site in frit.loops.state_of(ours).sites)


# ---- array.flat ---------------------------------------------------------------------------------


def by_one_index(a, b):
    for i in range(a.size):
        b.flat[i] += a.flat[i] * 2 - b.flat[-i - 1]


def with_numbers(a, b):
    total = 0
    for k, x in enumerate(a.flat):
        total += k * x
    for x, y in zip(a.flat, b.flat, strict=True):
        total += x * y
    for x in a[1:].flat:
        if x > 20:
            break
        total += x
    return total


def one_too_many(a, b):
    for i in range(a.size + 1):
        b.flat[i] = a.flat[i]


@pytest.mark.parametrize("function", [by_one_index, with_numbers, one_too_many])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4),
        np.arange(9),
        np.arange(24, dtype="h").reshape(2, 3, 4).T,
        np.zeros((3, 0)),
        np.arange(30.0).reshape(5, 6)[::-2, ::3],
    ],
)
def test_flat(function, array):
    is_certain = array.size > 0 and function is not one_too_many
    check(function, array, np.ones_like(array), compiled=is_certain or None)
