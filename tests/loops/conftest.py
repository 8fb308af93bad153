"""conftest.py: programs of their own process, as the NumPy door's tests run them."""

import pytest
from tests.door.conftest import file, frit, python

from frit import _core
from frit.loops.run import place

__all__ = ["file", "frit", "python"]


@pytest.fixture(autouse=True)
def nothing_is_too_short(monkeypatch):
    """Decorated nests run compiled, however small the arrays of a test are."""
    monkeypatch.setattr(place, "SHORT", -1.0)


@pytest.fixture
def tuning(monkeypatch):
    """While this list has numbers, nests that are made run as large ones do (run_as_large)."""
    numbers = []
    nest_of = _core.LoopNest

    def made(kernel, results):
        nest = nest_of(kernel, results)
        if numbers:
            nest.run_as_large(*numbers)
        return nest

    monkeypatch.setattr(_core, "LoopNest", made)
    return numbers
