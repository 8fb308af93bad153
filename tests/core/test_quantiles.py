"""test_quantiles.py: median, percentile and quantile of our arrays, against NumPy's to the bit."""

from __future__ import annotations

import numpy
import pytest
from core_compare import ours, same

import frit
import frit.numpy as np

METHODS = """linear interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased midpoint
averaged_inverted_cdf lower higher nearest inverted_cdf closest_observation none""".split()
TYPES = "f8 f4 i8 i4 u1 u2 i2 u8 f2 c16 ?".split()


def arrays(rng, shape, dtype):
    """In no order, with repeats, in order, with NaNs, infinities, zeros of two signs."""
    values = rng.standard_normal(shape) * 50
    yield values.astype(dtype)
    yield rng.integers(0, 6, shape).astype(dtype)
    yield numpy.sort(values, axis=None).reshape(shape).astype(dtype)[..., ::-1]
    if numpy.dtype(dtype).kind == "f":
        for odd in ([numpy.nan], [numpy.inf, -numpy.inf], [-0.0, 0.0], [-0.0], [numpy.nan, 1e300]):
            mixed = values.copy()
            mixed.ravel()[::3] = numpy.resize(odd, mixed.ravel()[::3].shape)
            yield mixed.astype(dtype)
        yield numpy.full(shape, -0.0, dtype)
        yield numpy.full(shape, numpy.nan, dtype)


def each_call(x, axes):
    for axis in axes:
        for keepdims in (False, True):
            same("median", x, axis=axis, keepdims=keepdims)
            same("percentile", x, 37, axis=axis, keepdims=keepdims)
            same("percentile", x, [0, 25, 50.5, 100], axis=axis, keepdims=keepdims)
            same("quantile", x, numpy.array([0.9, 0.1]), axis=axis, keepdims=keepdims)
        for method in METHODS:
            same("quantile", x, 0.6, axis, method=method)
            same("percentile", x, [100, 0, 1, 99, 50, 33.5], axis, method=method)
        same("nanmedian", x, axis=axis)
        same("quantile", x, 0.25, axis)
        same("quantile", x, numpy.float64(0.75), axis)
        for whole in (0, 1, True, [0, 1]):  # may give elements in their own type
            same("quantile", x, whole, axis)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 10, 101, 5000])
def test_vectors(size, dtype):
    rng = numpy.random.default_rng(size)
    for x in arrays(rng, size, dtype):
        each_call(x, [None, 0, -1])
        same("median", x, 1)
        each_call(x[::2], [None])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(3, 4), (1, 7), (7, 1), (40, 130), (2, 3, 5), (3, 0)])
def test_axes(shape, dtype):
    rng = numpy.random.default_rng(len(shape))
    for x in arrays(rng, shape, dtype):
        each_call(x, [None, *range(len(shape)), -1])
        each_call(x.T, [None, 0])
        same("median", x, (0, 1))
        same("quantile", x, 0.5, (0, 1))


def test_results_lie_in_memory_as_numpys_do():
    for shape in ((4, 5), (2, 3, 5)):
        x = numpy.random.default_rng(0).random(shape)
        for axis in range(len(shape)):
            for name, q in (("median", ()), ("quantile", (0.3,)), ("quantile", ([0.3, 0.7],))):
                real = getattr(numpy, name)(x, *q, axis=axis)
                mine = getattr(np, name)(ours(x), *q, axis=axis)
                assert mine.strides == real.strides, (shape, axis, name, q)


@pytest.mark.parametrize("dtype", "f8 f4 i8 i4 u1".split())
def test_long_vectors(dtype):
    rng = numpy.random.default_rng(8)
    for size in (2048, 70_000, 400_001):
        values = rng.standard_normal(size) * 50
        patterns = [
            values,
            numpy.sort(values),
            rng.integers(0, 3, size),
            numpy.where(rng.random(size) < 0.6, 7, values),
            numpy.arange(size) % 1000,
            numpy.exp(values),
        ]
        for pattern in patterns:
            with numpy.errstate(all="ignore"):
                x = pattern.astype(dtype)
            same("median", x)
            same("percentile", x, [0, 0.001, 1, 49, 50, 51, 99.999, 100])
            same("quantile", x, numpy.linspace(0, 1, 40))
        if dtype[0] == "f":
            for share in (1e-5, 0.3, 0.7):
                x = numpy.where(rng.random(size) < share, numpy.nan, values).astype(dtype)
                same("median", x)
                same("percentile", x, [5, 95])
            same("median", numpy.where(rng.random(size) < 0.9, 0.0, values).astype(dtype))


def test_long_rows_and_columns():
    rng = numpy.random.default_rng(9)
    for shape in ((3, 300_000), (300, 4000), (4000, 300), (50_000, 3)):
        x = rng.standard_normal(shape)
        for axis in (0, 1):
            same("median", x, axis)
            same("percentile", x, [25, 75], axis)


def test_other_arguments():
    x = numpy.random.default_rng(10).random(30)
    same("median", x, out=numpy.zeros(()))
    same("median", x, None, None, True)
    same("percentile", x, 30, method="lower")
    same("percentile", x, 30, method="linear")
    same("percentile", x, 30, method="inverted_cdf", weights=x)
    for q in (-1, 101, numpy.nan, [50, 200], "a", numpy.float32(3.3), [[1, 2]], [], True, [1, 2]):
        same("percentile", x, q)
        same("percentile", x.astype("f4"), q)
    same("quantile", x, 1.5)
    same("quantile", x, numpy.array([0, 1]))
    same("quantile", numpy.array([-(2**62), 2**62, 2**62]), 0.3)


def test_they_are_not_numpys_calls_and_see_what_is_pending():
    frit.report(reset=True)
    x = np.linspace(-1.0, 11.0, 300_001)
    assert np.median(x.round(3) * 2) == 10 and type(np.median(x)) is numpy.float64
    assert np.percentile(x + 1, [0, 100]).tolist() == [0, 12]
    assert np.quantile(x.round(3), 0.5) == 5
    assert not frit.report().fallbacks
