"""test_search.py: searchsorted, digitize and interp on our arrays, against NumPy's to the bit."""

from __future__ import annotations

import numpy
import pytest
from core_compare import ours, same

import frit
import frit.numpy as np

SIZES = [0, 1, 2, 3, 7, 64, 1000]


def vectors(rng, size):
    """Sorted ones, with repeats, infinities and NaNs behind; and some that are not sorted."""
    plain = numpy.sort(rng.standard_normal(size)).round(1)
    yield plain
    yield numpy.sort(rng.integers(-3, 4, size)).astype(float)
    if size > 3:
        yield numpy.concatenate([[-numpy.inf], plain[1:-1], [numpy.inf]])
        yield numpy.concatenate([plain[:-2], [numpy.nan, numpy.nan]])
        yield numpy.concatenate([plain[:-2], [numpy.inf, -numpy.nan]])
        yield numpy.full(size, numpy.nan)
        yield plain[::-1]


def asked(rng, size):
    """Values around them: at random, in order, at the points themselves, beyond, and no numbers."""
    values = rng.standard_normal(size).round(1) * 1.5
    yield values
    yield numpy.sort(values)
    yield numpy.sort(values)[::-1]
    odd = values.copy()
    odd[::3] = numpy.resize([numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0], odd[::3].shape)
    yield odd
    yield numpy.repeat(values, 2).reshape(-1, 2)[:, 0]
    yield values.reshape(2, -1) if size % 2 == 0 else values


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_places_in_sorted_vectors(size, side):
    rng = numpy.random.default_rng(size)
    for vector in vectors(rng, size):
        for count in (1, 6, 9, 200, 1001):
            for values in asked(rng, count):
                same("searchsorted", vector, values, side=side)
                expected = vector.searchsorted(values, side)
                assert (ours(vector).searchsorted(ours(values), side) == expected).all()


@pytest.mark.parametrize("left_type", "f8 f4 i8 i4 i2 u1 u8 f2 c16 ?".split())
@pytest.mark.parametrize("right_type", "f8 f4 i8 i4 i2 u1 u8 f2 c16 ?".split())
def test_places_of_other_types(left_type, right_type):
    rng = numpy.random.default_rng(5)
    vector = numpy.sort(rng.integers(0, 100, 50).astype(left_type))
    same("searchsorted", vector, rng.integers(0, 110, 300).astype(right_type))
    same("searchsorted", vector[::2], rng.integers(0, 110, 300).astype(right_type)[::3])


def test_a_sorter_and_a_vector_much_longer_than_what_is_asked_for():
    rng = numpy.random.default_rng(6)
    vector = rng.standard_normal(1000)
    same("searchsorted", vector, vector[:100], sorter=numpy.argsort(vector))
    same("searchsorted", numpy.sort(vector), vector[:7])
    same("searchsorted", numpy.sort(vector), vector[:700], side="middle")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("is_right", [False, True])
def test_bins(size, is_right):
    rng = numpy.random.default_rng(size)
    for vector in vectors(rng, size):
        for values in asked(rng, 100):
            same("digitize", values, vector, right=is_right)


@pytest.mark.parametrize("size", SIZES)
def test_values_between_those_of_a_table(size):
    rng = numpy.random.default_rng(size)
    for vector in vectors(rng, size):
        y = rng.standard_normal(size)
        steps = numpy.resize([1.0, numpy.inf, -numpy.inf, numpy.nan, 2.0, 2.0], size)
        for count in (1, 6, 64, 200, 5000 if size == 64 else 300):
            for values in asked(rng, count):
                for table in (y, steps):
                    same("interp", values, vector, table)
                same("interp", values, vector, y, left=-7.0, right=numpy.nan)
                same("interp", values, vector, y, left=3)


@pytest.mark.parametrize("dtype", "f8 f4 i8 i2 u1 f2 c16 ?".split())
def test_tables_of_other_types(dtype):
    rng = numpy.random.default_rng(7)
    x = numpy.arange(50)
    for types in ((dtype, "f8", "f8"), ("f8", dtype, "f8"), ("f8", "f8", dtype), (dtype,) * 3):
        at, xp, fp = (a.astype(t) for a, t in zip((x[::3] * 1.3, x, x**2), types, strict=True))
        if xp.dtype.kind != "b":
            same("interp", at, xp, fp)
    same("interp", rng.standard_normal(9), x, x[:-1])
    same("interp", rng.standard_normal(9), x, x, period=10)
    same("interp", rng.standard_normal(9), x, x, left="a")


def test_they_are_not_numpys_calls_and_see_what_is_pending():
    frit.report(reset=True)
    x, grid = np.linspace(-1.0, 11.0, 300_000), np.linspace(0.0, 10.0, 1001)
    found = np.interp(x * 1.0, grid + 0.0, np.sin(grid))
    places = np.searchsorted(grid * 1.0, x * 1.0)
    assert not frit.report().fallbacks
    real, points = numpy.linspace(-1.0, 11.0, 300_000), numpy.linspace(0.0, 10.0, 1001)
    assert numpy.array_equal(places, numpy.searchsorted(points, real))
    table = numpy.asarray(np.sin(grid))
    assert numpy.array_equal(found, numpy.interp(real, points, table))
