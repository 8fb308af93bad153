"""test_differences.py: diff, gradient, cross and cov of our arrays, against NumPy's."""

from __future__ import annotations

import numpy
import pytest
from core_compare import same

TYPES = "f8 f4 i8 i4 u1 f2 c16 ?".split()


def arrays(dtype, shape):
    rng = numpy.random.default_rng(len(shape))
    x = (rng.standard_normal(shape) * 40).astype(dtype)
    yield x
    yield x.T
    if numpy.dtype(dtype).kind == "f" and x.size:
        for places in ([0], [-1], [0, 1], [2, 3]):
            for odd in (numpy.inf, numpy.nan, numpy.finfo(dtype).max):
                y = x.copy()
                y.flat[[k % max(y.size, 1) for k in places]] = odd
                yield y
                yield -y


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1,), (2,), (5,), (100,), (3, 4), (4, 1, 5), (3000,)])
def test_differences_of_neighbours(shape, dtype):
    for x in arrays(dtype, shape):
        for times in (0, 1, 2, 3, 16, 17, -1, 1.0, None):
            same("diff", x, times)
            same("diff", x, n=times, axis=0)
        same("gradient", x)
        for step in (0.1, 2, numpy.float64(0.3), numpy.float32(0.3), 0.0, [1.0, 2.0], 1j):
            same("gradient", x, step)
        same("gradient", x, 0.5, 0.25)
        same("gradient", x, 0.5, axis=0)
        same("gradient", x, axis=-1, edge_order=2)
        same("gradient", x, axis=(0,))
        same("gradient", x, axis=5)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(33, 3), (3, 3), (2, 4, 3), (1, 3), (0, 3), (5000, 3), (4, 2)])
def test_cross_products_of_rows(shape, dtype):
    for x, y in zip(arrays(dtype, shape), reversed(list(arrays(dtype, shape))), strict=True):
        for z in (y, y[:1], y[0] if y.size else y, y.astype("f8"), y.astype("i4")):
            if numpy.isfinite(z).all() or z.dtype == y.dtype:
                same("cross", x, z)
                same("cross", z, x)
        same("cross", x, y[::-1])
        same("cross", x, y, axis=0)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "shape", [(1,), (2,), (100,), (3, 50), (1, 7), (0, 4), (2, 3, 4), (20, 900)]
)
def test_covariances(shape, dtype):
    for x in arrays(dtype, shape):
        same("cov", x)
        same("cov", x, x[::-1])
        same("cov", x, x.ravel())
        same("cov", x, x.ravel()[: shape[-1]])
        same("cov", x, rowvar=False)
        same("cov", x, ddof=0)
        same("cov", x, None, True, True)
        same("corrcoef", x)
