"""test_correlation.py: convolve and correlate of few and many elements, to the bit."""

from __future__ import annotations

import numpy
import pytest
from core_compare import ours, same

import frit
import frit.numpy as np

COUNTS = [1, 2, 7, 11, 12, 13, 64, 333]


@pytest.mark.parametrize("dtype", "f8 f4 i8 c16".split())
@pytest.mark.parametrize("size", [5, 400, 40_000, 200_001])
def test_vectors(size, dtype):
    rng = numpy.random.default_rng(size)
    x = (rng.standard_normal(size) * 9).astype(dtype)
    for count in COUNTS:
        y = (rng.standard_normal(count) * 9).astype(dtype)
        for mode in ("full", "same", "valid"):
            same("convolve", x, y, mode)
            same("convolve", y, x, mode)
            same("correlate", x, y, mode)
            same("correlate", y, x, mode)


def test_a_product_of_many_elements():
    rng = numpy.random.default_rng(3)
    x, y = rng.standard_normal(9000), rng.standard_normal(8000)
    for mode in ("full", "same", "valid"):
        same("convolve", x, y, mode)
        same("correlate", x, y, mode)


def test_zeros_infinities_and_nans():
    rng = numpy.random.default_rng(4)
    x = rng.standard_normal(100_000)
    x[::7], x[5::1000], x[6::9000] = -0.0, numpy.inf, numpy.nan
    for y in ([-1.0, 0.0, -0.0], [0.0], [-0.0], [numpy.inf, 1.0]):
        same("convolve", x, numpy.array(y))
        same("correlate", x, numpy.array(y), "same")


def test_they_see_what_is_pending_and_what_has_steps():
    frit.report(reset=True)
    x, y = np.arange(300_000.0), np.arange(9.0)
    expected = numpy.convolve(numpy.arange(300_000.0)[::3] + 1, numpy.arange(9.0)[::-2] * 2)
    assert (np.convolve(x[::3] + 1, y[::-2] * 2) == expected).all()
    assert not frit.report().fallbacks
    real = numpy.arange(300_000.0)
    assert (np.correlate(ours(real), y) == numpy.correlate(real, numpy.arange(9.0))).all()
