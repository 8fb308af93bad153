"""conftest.py: programs of their own process, as the NumPy door's tests run them."""

import pytest
from tests.door.conftest import file, frit, python

from frit.loops import place

__all__ = ["file", "frit", "python"]


@pytest.fixture(autouse=True)
def nothing_is_too_short(monkeypatch):
    """Decorated nests run compiled, however small the arrays of a test are."""
    monkeypatch.setattr(place, "SHORT", -1.0)
