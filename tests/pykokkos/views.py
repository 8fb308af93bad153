"""views.py: Views with values, for the tests."""

from __future__ import annotations

from typing import Any

import numpy

import frit.pykokkos as pk


def view(values: Any, dtype: Any = pk.double) -> pk.View:
    made = pk.View(list(numpy.shape(values)), dtype)
    made[:] = numpy.asarray(values)
    return made


def numbers(seed: int, *shape: int) -> Any:
    """Small whole numbers, as doubles."""
    return numpy.random.RandomState(seed).randint(-4, 5, shape).astype(float)
