"""test_vector_edges.py: loops whose vectors end within a row, over values at the edges."""

from __future__ import annotations

import numpy
import pytest

import frit.numpy as np

EDGES = [0.0, -0.0, 1.0, -1.5, numpy.inf, -numpy.inf, numpy.nan, 1e-310, 5e-324, 1e300, 3.7]


def same_bits(expected: numpy.ndarray, found: numpy.ndarray) -> bool:
    """As -0.0 and 0.0 are told apart; one NaN is as good as another."""
    if expected.dtype.kind == "c":
        return same_bits(expected.real, found.real) and same_bits(expected.imag, found.imag)
    numbers = numpy.where(numpy.isnan(expected), 0, expected)
    ours = numpy.where(numpy.isnan(found), 0, found)
    return (
        expected.dtype == found.dtype
        and numpy.array_equal(numpy.isnan(expected), numpy.isnan(found))
        and numbers.tobytes() == ours.tobytes()
    )


@pytest.mark.parametrize("kind", "?bBhHiIlLfd")
@pytest.mark.parametrize("shape", [(1, 16), (40, 17), (300, 31), (7, 300), (100, 15), (3, 5, 40)])
def test_the_first_extreme_of_each_column(kind, shape, tier):
    random = numpy.random.default_rng(1)
    for values in (3, 100):  # many are equal; few are
        a = random.integers(0, values, shape).astype(kind)
        if kind in "fd":
            a[random.random(shape) < 0.1] = -0.0
            a[random.random(shape) < 0.02] = numpy.nan
        if kind == "?":  # any byte but 0 is true
            a = random.integers(0, 3, shape).astype("u1").view("?")
        for axis in range(len(shape)):
            for name in ("argmax", "argmin"):
                expected = getattr(a, name)(axis)
                found = numpy.asarray(getattr(np.array(a), name)(axis))
                assert numpy.array_equal(expected, found), (axis, name)


@pytest.mark.parametrize("kind", "bBhHiIlL")
@pytest.mark.parametrize("n", [1, 63, 64, 65, 5000, 70_000, 200_001])
def test_products_of_integers_are_added_up_modulo_their_width(kind, n):
    random = numpy.random.default_rng(2)
    limits = numpy.iinfo(kind)
    x, y = (random.integers(limits.min, limits.max, n, kind, endpoint=True) for _ in range(2))
    for a, b in ((x, y), (x[::-1], y), (x[::2], y[::2])):
        expected, found = numpy.dot(a, b), np.dot(np.array(a, copy=False), np.array(b, copy=False))
        assert expected == found and expected.dtype == found.dtype


@pytest.mark.parametrize("kind", "FD")
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 33, 5000])
def test_complex_numbers_at_the_edges(kind, n, tier):
    random = numpy.random.default_rng(3)
    x, y = numpy.empty(n, kind), numpy.empty(n, kind)
    with numpy.errstate(all="ignore"):
        for part in (x.real, x.imag, y.real, y.imag):
            part[:] = random.choice(EDGES, n)
        for a, b in ((x, y), (x, x), (x, y[0]), (y[0], x)):
            ours = [np.array(each) if each.ndim else each for each in (a, b)]
            assert same_bits(a * b, numpy.asarray(ours[0] * ours[1]))
        assert same_bits(numpy.square(x), numpy.asarray(np.square(np.array(x))))
        for other in "FD":
            assert same_bits(x.astype(other), numpy.asarray(np.array(x).astype(other)))
