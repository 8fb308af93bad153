"""test_unique.py: unique, isin and functions of two sets of our arrays, against NumPy's."""

from __future__ import annotations

import numpy
import pytest
from core_compare import same

import frit
import frit.numpy as np

TYPES = "i8 i4 i2 i1 u8 u4 u2 u1 f8 f4 f2 c16 ?".split()
PARTS = ["return_index", "return_inverse", "return_counts"]


def vectors(rng, size, dtype):
    """With many repeats, with few, far apart, negative, all alike, and what floats have besides."""
    kind = numpy.dtype(dtype).kind
    yield rng.integers(0, 9, size).astype(dtype)
    yield rng.integers(0, max(3 * size, 1), size).astype(dtype)
    yield numpy.full(size, 1, dtype)
    if kind == "i":
        yield (rng.integers(0, 60, size) - 30).astype(dtype)
    if kind in "iu" and size:
        info = numpy.iinfo(dtype)
        yield rng.integers(info.min, info.max, size, dtype, endpoint=True)
        yield numpy.resize(numpy.array([info.max, info.min, info.max - 1], dtype), size)
    if kind == "f":
        yield rng.standard_normal(size).astype(dtype)
        for odd in ([numpy.nan, -numpy.nan], [numpy.inf, -numpy.inf], [-0.0, 0.0], [-0.0, 1]):
            values = rng.standard_normal(size).round(1)
            values[::3] = numpy.resize(odd, values[::3].shape)
            yield values.astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [0, 1, 2, 60, 5000])
def test_values(size, dtype):
    rng = numpy.random.default_rng(size)
    for x in vectors(rng, size, dtype):
        for k in range(8):
            same("unique", x, **{name: True for j, name in enumerate(PARTS) if k & (1 << j)})
        same("unique", x, equal_nan=False)
        same("unique", x[::2])
        if size % 2 == 0:
            same("unique", x.reshape(2, -1), return_inverse=True, return_counts=True)
            same("unique", x.reshape(2, -1), axis=1)
        same("unique_counts", x)
        same("unique_all", x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("right", TYPES)
@pytest.mark.parametrize("left", TYPES)
def test_elements_among_others(left, right):
    rng = numpy.random.default_rng(1)
    for size, count in ((40, 0), (40, 1), (40, 5), (300, 60), (7, 300), (0, 3)):
        wanted = list(vectors(rng, count, right))
        for k, x in enumerate(vectors(rng, size, left)):
            for y in (wanted[k % len(wanted)], x[:count].astype(right)):
                same("isin", x, y)
                same("isin", x, y, invert=True)
        same("isin", x[::2], y[::2])
        same("isin", x.reshape(-1, 1), y.reshape(1, -1), True)


def test_lists_of_others_and_kinds():
    x = numpy.arange(30)
    for wanted in ([3, 5, 50], (1.0, 2.5), [], [[1, 2], [3, 4]], ["a"], 7, [None], {1, 2}, [2**70]):
        same("isin", x, wanted)
        same("isin", x / 2, wanted, invert=True)
    for kind in ("sort", "table", "other"):
        same("isin", x, [3, 5], kind=kind)
        same("isin", x / 2, [3, 5], kind=kind)
    same("isin", x[3], [3, 5])
    same("isin", numpy.arange(2**62, 2**62 + 9), [2.0**62])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["intersect1d", "union1d", "setdiff1d", "setxor1d"])
def test_two_sets(name, dtype):
    rng = numpy.random.default_rng(2)
    for size, count in ((0, 5), (5, 0), (60, 20), (3000, 500)):
        for x, y in zip(vectors(rng, size, dtype), vectors(rng, count, dtype), strict=False):
            same(name, x, y)
            same(name, x[::2], y[:1])
            same(name, x, y.astype("i8"))
            same(name, numpy.unique(x), numpy.unique(y), assume_unique=True)


@pytest.mark.parametrize("dtype", "i8 i4 i2 u8 u1 f8 f4".split())
def test_many_elements(dtype):
    rng = numpy.random.default_rng(3)
    for x in vectors(rng, 200_000, dtype):
        same("unique", x)
        same("unique", x, return_counts=True)
        same("unique", x, return_inverse=True, return_index=True)
        same("isin", x, x[:50])
        same("isin", x, x[::7])
        same("isin", x[:1000], x)
        same("setdiff1d", x, x[::3])


def test_they_are_not_numpys_calls_and_see_what_is_pending():
    frit.report(reset=True)
    i = np.arange(200_000) % 1000
    x = i * 1000.5
    assert (np.unique(i * 3) == np.arange(0, 3000, 3)).all()
    assert (np.unique(x + 0)[1:] == np.arange(1, 1000) * 1000.5).all()
    assert np.unique(i * 10**12, return_counts=True)[1].tolist() == [200] * 1000
    assert np.isin(i + 1, [1, 2, 5000]).sum() == 400
    assert np.isin(x + 1, x[:7] + 1.0).sum() == 1400
    assert np.setdiff1d(i + 0, i[5:900]).size == 105
    assert not frit.report().fallbacks
