"""test_histogram.py: histogram and histogram2d of our arrays, against NumPy's to the bit."""

from __future__ import annotations

import warnings

import numpy
import pytest
from core_compare import ours, same

import frit
import frit.numpy as np

TYPES = "f8 f4 i8 i4 i2 u1 u8 f2 ?".split()


def numbers(rng, size, dtype):
    """Spread evenly, around 0, in few places, far from 0 and close together, and all alike."""
    wide = 100 if numpy.dtype(dtype).kind in "iu" else 1
    yield (rng.random(size) * wide).astype(dtype)
    yield rng.integers(0, 6, size).astype(dtype)
    yield numpy.full(size, 3, dtype)
    if numpy.dtype(dtype).kind == "f":
        yield rng.standard_normal(size).astype(dtype)
        yield (1000 + rng.random(size)).astype(dtype)
        yield (rng.random(size) * 1e-30).astype(dtype)
        yield rng.standard_normal(size).round(1).astype(dtype)
        yield numpy.resize([-0.0, 0.0, 0.5], size).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [0, 1, 2, 9, 100, 1500])
def test_bins_by_number(size, dtype):
    rng = numpy.random.default_rng(size)
    for x in numbers(rng, size, dtype):
        for bins in (1, 3, 10, 64, 1000):
            same("histogram", x, bins)
            same("histogram", x, bins=bins, range=(0, 6))
            same("histogram", x, bins=bins, range=(-0.5, 0.7))
            same("histogram", x, bins=bins, range=(0.1, 0.3), density=True)
        same("histogram", x)
        same("histogram", x, density=True)
        same("histogram", x, range=(2, 2))
        same("histogram", x, range=(50, 60), density=True)
        same("histogram", x, range=(numpy.float64(0.25), numpy.float64(3)))
        same("histogram", x, range=(numpy.float32(0.25), numpy.int64(3)))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [1, 9, 100, 1500])
def test_given_edges(size, dtype):
    rng = numpy.random.default_rng(size)
    edges = [
        numpy.linspace(-1, 2, 31),
        numpy.linspace(-1, 2, 7).astype("f4"),
        numpy.array([0, 1, 2, 3, 5, 8, 13]),
        numpy.array([0.0, 0.0, 1.0, 1.0, 1.0, 4.0, 4.0]),
        numpy.geomspace(1e-3, 1e3, 200),
        numpy.sort(rng.random(2)),
        [0, 1, 2, 4],
        [0.5, 1.0, 0.7],
        [0.5, numpy.nan, 0.7],
        [-numpy.inf, 0.0, numpy.inf],
        [1],
        [],
        [1, 1],
    ]
    for x in numbers(rng, size, dtype):
        for each in edges:
            same("histogram", x, each)
            same("histogram", x, bins=each, density=True)
        same("histogram", x, edges[0], weights=rng.random(size))
        same("histogram", x, edges[0][::2].copy())
        same("histogram", x, edges[0].reshape(1, -1))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("weight_type", "f8 f4 i8 i4 c16 ? f2".split())
def test_weights(weight_type, dtype):
    rng = numpy.random.default_rng(1)
    for size in (3, 500):
        weights = (rng.standard_normal(size) * 20).astype(weight_type)
        for x in numbers(rng, size, dtype):
            for bins in (3, 20):
                same("histogram", x, bins, weights=weights)
                same("histogram", x, bins, (0.25, 4), weights=weights, density=True)
            same("histogram", x, weights=weights[1:])
            same("histogram", x[::2], weights=weights[::2])


def test_numbers_that_are_none_and_other_arguments():
    rng = numpy.random.default_rng(2)
    x = rng.standard_normal(300)
    x[::7] = numpy.resize([numpy.nan, numpy.inf, -numpy.inf], x[::7].shape)
    for bins in (10, numpy.linspace(-2, 2, 9), numpy.geomspace(0.1, 2, 9), "auto", 0, -1, 2.5):
        same("histogram", x, bins)
        same("histogram", x, bins, (-1, 2))
        same("histogram", x, bins, (-1, numpy.inf))
        same("histogram", x, bins, (1, -1))
    same("histogram", x[1:7], 5, (-2, 2), None, None)
    same("histogram", x[1:7].reshape(2, 3), 5, (-2, 2), False)
    same("histogram", x[1:7] * 1e308, 5, (-1e308, 1e308))
    same("histogram", rng.integers(2**60, 2**61, 100), 7)
    same("histogram", rng.integers(2**60, 2**61, 100), 7, (2**60, 2**61))
    same("histogram", numpy.arange(5, dtype="u8") + 2**63, 7)
    same("histogram", x[1:7], 3, weights=numpy.full(6, numpy.inf), density=True)


def test_many_elements():
    rng = numpy.random.default_rng(3)
    for dtype in ("f8", "f4", "i8", "u1"):
        x = (rng.standard_normal(300_000) * 40 + 100).astype(dtype)
        weights = rng.random(x.size)
        for bins in (10, 5000, numpy.linspace(0, 200, 400), numpy.geomspace(1, 200, 40)):
            same("histogram", x, bins)
            same("histogram", x, bins, density=True)
            same("histogram", x, bins, weights=weights)
            same("histogram", x, bins, weights=weights.astype("f4"))
        same("histogram", x, 256, (0, 256))
        same("histogram", x.reshape(3, -1)[:, ::2], 16, (0, 256))


@pytest.mark.parametrize("types", ["f8 f8", "f4 f4", "i8 i8", "f8 i8", "f4 f8", "i4 f4", "u1 u1"])
def test_grids(types):
    rng = numpy.random.default_rng(4)
    for size in (1, 5, 200, 40_000):
        x, y = ((rng.standard_normal(size) * 20 + 50).astype(dtype) for dtype in types.split())
        for bins in (10, (3, 8), [5, numpy.linspace(20, 70, 11)], numpy.linspace(0, 99, 8)):
            same("histogram2d", x, y, bins)
            same("histogram2d", x, y, bins, density=True)
            same("histogram2d", x, y, bins=bins, weights=rng.random(size))
            same("histogram2d", x, y, bins, [[0, 60], [10.5, 70]])
            same("histogram2d", x, y, bins, [None, (10.5, 70)], True)
        same("histogram2d", x, y, [[0, 10, 20, 50], [1.5, 3, 60]])
        same("histogram2d", x, y, [0, 10, 20, 50])
        same("histogram2d", x, y[1:])
        same("histogram2d", x, y, [3])
        same("histogram2d", x, y, 0)
        same("histogram2d", x, y, range=[(5, 5), (7, 9)])


def test_a_grid_lies_in_memory_as_numpys_does():
    x = numpy.linspace(0, 1, 50)
    for density in (False, True):
        real = numpy.histogram2d(x, x, (3, 4), density=density)[0]
        mine = np.histogram2d(ours(x), ours(x), (3, 4), density=density)[0]
        assert mine.strides == real.strides and mine.flags.owndata == real.flags.owndata


def test_they_are_not_numpys_calls_and_see_what_is_pending():
    frit.report(reset=True)
    x = np.linspace(-1.0, 11.0, 300_000)
    found, edges = np.histogram(x * 1.0, 10, (0, 10))
    grid = np.histogram2d(x + 1, x * 2, 10)[0]
    bounds = np.linspace(0, 5, 6)
    assert np.histogram(x + 0, bounds + 0.0)[0].sum() == 125_000
    assert np.histogram(x, bounds)[1] is bounds
    assert not frit.report().fallbacks
    real = numpy.linspace(-1.0, 11.0, 300_000)
    assert numpy.array_equal(found, numpy.histogram(real, 10, (0, 10))[0])
    assert numpy.array_equal(edges, numpy.arange(11.0))
    assert numpy.array_equal(grid, numpy.histogram2d(real + 1, real * 2, 10)[0])


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize(
    "edges",
    [
        [-numpy.inf, -3.2, -2.1, -0.0, 1.5],
        [-2.0, 0, 1, numpy.inf],
        [-numpy.inf, numpy.inf],
        [-numpy.inf, 0, numpy.inf],
        [-1.7e308, 0, 1, 1.7e308],
        [-numpy.inf, -numpy.inf, 0],
        [0, 0, 0],
    ],
)
def test_infinite_edges(dtype, edges):
    given = numpy.array([-0.75, 1e30, -3.6, -3.2, 1.2, 0, -1.5, 7] * 5)
    x = given.astype(dtype) if dtype != "i4" else given.clip(-9, 9).astype(dtype)
    for weights in (None, numpy.arange(40.0)):
        real = numpy.histogram(x, numpy.array(edges), weights=weights)
        mine = np.histogram(
            ours(x), ours(numpy.array(edges)), weights=None if weights is None else ours(weights)
        )
        assert numpy.asarray(mine[0]).tolist() == real[0].tolist()
    ys = numpy.linspace(-4, 4, 40)
    real = numpy.histogram2d(x, ys, [numpy.array(edges), 4])[0]
    mine = np.histogram2d(ours(x), ours(ys), [ours(numpy.array(edges)), 4])[0]
    assert numpy.asarray(mine).tolist() == real.tolist()


@pytest.mark.parametrize("weight", [2**62, -(2**62), 3])
def test_sums_of_weights_that_no_integer_holds_warn(weight):
    a, weights = numpy.arange(40) % 7, numpy.full(40, weight)
    found = []
    for np_, of, with_ in ((numpy, a, weights), (np, ours(a), ours(weights))):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            counts = np_.histogram(of, weights=with_)[0]
            found.append((repr(numpy.asarray(counts)), [str(w.message) for w in caught]))
    assert found[0] == found[1]
