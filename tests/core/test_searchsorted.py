"""test_searchsorted.py: places of values in any order, many and few, with NaNs, are NumPy's."""

from __future__ import annotations

import numpy
import pytest
from core_compare import ours

import frit.numpy as np


def values_in(rng, table, count, how):
    dtype = table.dtype
    values = (
        rng.normal(0, 100, count) if rng.random() < 0.6 else rng.integers(-25, 25, count)
    ).astype(dtype)
    if how == "of the table":
        values = rng.choice(table, count)
    if how != "random":
        values.sort()
    if how == "downwards":
        values = values[::-1].copy()
    if how == "beyond":
        values[...] = numpy.nanmax(table) + 1
    if dtype.kind == "f" and rng.random() < 0.4:
        values[rng.integers(0, count, max(1, count // 9))] = numpy.nan
    if dtype.kind == "f" and rng.random() < 0.3:
        values[rng.integers(0, count)] = rng.choice([numpy.inf, -numpy.inf, -0.0])
    return values


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4"])
@pytest.mark.parametrize("how", ["random", "upwards", "downwards", "of the table", "beyond"])
def test_values_in_any_order_have_numpys_places(how, dtype):
    rng = numpy.random.default_rng(7)
    for size in (1, 17, 31, 33, 40, 65, 1000):
        for count in (1, 8, 9, 64, 333):
            table = rng.integers(-20, 20, size) if rng.random() < 0.5 else rng.normal(0, 100, size)
            table = numpy.sort(table.astype(dtype))
            if dtype[0] == "f" and size > 3 and rng.random() < 0.4:
                table[-2:], table[0] = numpy.nan, -numpy.inf
            values = values_in(rng, table, count, how)
            for side in ("left", "right"):
                expected = numpy.searchsorted(table, values, side)
                found = np.searchsorted(ours(table), ours(values), side)
                numpy.testing.assert_array_equal(numpy.asarray(found), expected)
