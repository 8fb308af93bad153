"""test_streams.py: results larger than the caches go past them, also what later kernels read."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import frit.pykokkos as pk

N = 1_100_001


@pk.workunit
def scale(i, x, y, at):
    y[i + at] = 3.0 * x[i]


@pk.workunit
def add(i, x, y, z, at):
    z[i] = x[i] + y[i + at]


@pk.workunit
def double_positive(i, y, at):
    if y[i + at] > 0.0:
        y[i + at] = 2.0 * y[i + at]


@pk.workunit
def total(i, acc, z):
    acc += z[i]


@pytest.mark.usefixtures("tier")
@pytest.mark.parametrize("at", [0, 1, 5])
def test_chain_through_large_views_gives_numpys_numbers(at: int) -> None:
    numbers = numpy.random.RandomState(at).standard_normal(N)
    x, y, z = pk.View([N]), pk.View([N + 9]), pk.View([N])
    x[:], y[:] = numbers, -1.0
    pk.parallel_for(N, scale, x=x, y=y, at=at)
    pk.parallel_for(N, add, x=x, y=y, z=z, at=at)
    pk.parallel_for(N, double_positive, y=y, at=at)
    found = float(pk.parallel_reduce(N, total, z=z))
    scaled = 3.0 * numbers
    expected = numpy.full(N + 9, -1.0)
    expected[at : at + N] = numpy.where(scaled > 0.0, 2.0 * scaled, scaled)
    assert numpy.array_equal(numpy.asarray(y), expected)
    assert numpy.array_equal(numpy.asarray(z), numbers + scaled)
    assert found == (numbers + scaled).sum()


def test_what_a_later_kernel_has_from_a_register_is_streamed(process: Any) -> None:
    done = process(
        """
        import frit, frit.pykokkos as pk

        @pk.workunit
        def scale(i, x, y):
            y[i] = 3.0 * x[i]

        @pk.workunit
        def add(i, x, y):
            x[i] = x[i] + y[i]

        n = 2_000_000
        x, y = pk.View([n]), pk.View([n])
        frit.eval()
        pk.parallel_for(n, scale, x=x, y=y)
        pk.parallel_for(n, add, x=x, y=y)
        frit.eval()
        """,
        FRIT_DUMP="kernel",
    )
    stores = [line.split()[:2] for line in done.stderr.splitlines() if " store " in line][-2:]
    assert [what for _, what in stores].count("streaming") == 1
