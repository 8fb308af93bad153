"""test_sort.py: sort, argsort and lexsort of few and many elements, against NumPy's to the bit."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy
import pytest
from core_compare import check, ours, same

import frit
import frit.numpy as np

TYPES = "f8 f4 i8 i4 u8 u4 i2 u1 f2 c16 ?".split()


def vectors(rng, size, dtype):
    """Without equal elements, with few, with many; in order and in runs; zeros, NaNs, outliers."""
    kind = numpy.dtype(dtype).kind
    if kind in "iu":
        info = numpy.iinfo(dtype)
        whole = rng.integers(info.min, info.max, size, dtype, endpoint=True)
        yield whole
        far = rng.permutation(size).astype(dtype)
        far[:: size // 2 + 1] = info.max
        yield far
    else:
        whole = rng.standard_normal(size).astype(dtype)
        yield whole
        yield (whole * 10.0 ** rng.integers(-300, 300, size)).astype(dtype)
        for odd in ([numpy.nan], [numpy.nan, -numpy.nan], [-0.0], [-0.0, 0.0], [numpy.inf] * 2):
            x = whole.copy()
            x[size // 3 : size // 3 + len(odd)] = odd[: size - size // 3]
            yield x
        yield numpy.full(size, numpy.nan, dtype)
    yield rng.integers(0, 9, size).astype(dtype)
    yield rng.integers(0, 3 * size, size).astype(dtype)
    yield numpy.full(size, 1, dtype)
    yield numpy.sort(whole)
    yield numpy.sort(whole)[::-1].copy()
    yield numpy.concatenate([numpy.sort(whole[: size // 2]), numpy.sort(whole[size // 2 :])])
    one_more = whole.copy()
    one_more[-1] = one_more[size // 2]
    yield one_more


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [1, 2, 63, 64, 1000, 70_000])
def test_vectors(size, dtype):
    rng = numpy.random.default_rng(size)
    for x in vectors(rng, size, dtype):
        for kind in (None, "stable"):
            same("sort", x, kind=kind)
            same("argsort", x, kind=kind)
        check(lambda y: y.sort(), x)
        check(lambda y: y.argsort(kind="stable"), x)
        same("lexsort", [x, x[::-1].copy()])
        same("lexsort", [x, x.astype("i8"), x[::-1].copy()])


@pytest.mark.parametrize("dtype", "f8 f4 i8 u4".split())
def test_more_elements_than_the_caches_hold(dtype):
    rng = numpy.random.default_rng(5)
    for x in vectors(rng, 600_000, dtype):
        for kind in (None, "stable"):
            same("sort", x, kind=kind)
            same("argsort", x, kind=kind)
        check(lambda y: y.sort(), x)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(3, 5), (300, 70), (2, 70_000), (5, 70_000), (3, 4, 90)])
def test_rows_and_columns(shape, dtype):
    rng = numpy.random.default_rng(7)
    x = next(vectors(rng, int(numpy.prod(shape)), dtype)).reshape(shape)
    for axis in range(-len(shape), len(shape)):
        for kind in (None, "stable", "heapsort"):
            same("sort", x, axis=axis, kind=kind)
            same("argsort", x, axis=axis, kind=kind)
    check(lambda y: y.sort(), x)
    check(lambda y: y.argsort(0), x)


def test_few_equal_elements_are_in_numpys_order_time_and_again():
    rng = numpy.random.default_rng(9)
    for _ in range(60):
        x = rng.random(200_000)
        x[rng.integers(0, x.size, 6)] = x[:6]
        assert (np.argsort(ours(x)) == numpy.argsort(x)).all()
        assert (np.argsort(ours(x[:900].copy())) == numpy.argsort(x[:900])).all()


def test_they_are_not_numpys_calls_and_see_what_is_pending():
    frit.report(reset=True)
    x = np.arange(100_000) * 7 % 100_003
    assert (np.argsort(x + 1)[:3] == np.argsort(x)[:3]).all()
    y = x * 0.5
    y.sort()
    assert (y[1:] >= y[:-1]).all()
    assert (np.sort(x * 2)[:2] == np.sort(x)[:2] * 2).all()
    assert (np.lexsort((x, x // 1000)) == np.argsort(x, kind="stable")).all()
    assert not frit.report().fallbacks


SORTS = """
import numpy
import frit.numpy as np

rng = numpy.random.default_rng(1)
for size in (200_000, 333_333):
    for dtype in "f8 f4 i8 u4".split():
        whole = (rng.standard_normal(size) * 1e6).astype(dtype)
        odd = whole.copy()
        if odd.dtype.kind == "f":
            odd[rng.integers(0, size, size // 3)] = numpy.nan
        for x in (whole, odd, numpy.sort(whole)[::-1].copy(), whole % 7, numpy.ones(size, dtype)):
            y = np.array(x)
            for kind in (None, "stable"):
                real = numpy.sort(x, kind=kind)
                assert numpy.array_equal(np.sort(y, kind=kind), real, equal_nan=True)
                assert (numpy.signbit(np.sort(y, kind=kind)) == numpy.signbit(real)).all()
            y.sort()
            assert numpy.array_equal(y, numpy.sort(x), equal_nan=True)
"""


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_any_number_of_threads(threads):
    environment = {**os.environ, "FRIT_NUM_THREADS": str(threads)}
    subprocess.run([sys.executable, "-c", SORTS], env=environment, check=True)
