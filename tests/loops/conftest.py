"""conftest.py: programs of their own process, as the NumPy door's tests run them."""

from tests.door.conftest import file, frit, python

__all__ = ["file", "frit", "python"]
