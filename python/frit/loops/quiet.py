"""quiet.py: a text is read and compiled a second time: without warnings or garbage collections."""

from __future__ import annotations

import contextlib
import gc
import warnings
from collections.abc import Iterator

_ALL = ("ignore", None, Warning, None, 0)


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """As catch_warnings and simplefilter("ignore"), but nobody sees that it was there.

    Those make Python forget which warnings it has shown, and the NumPy door compute what is
    pending.
    """
    filters: list = warnings.filters  # type: ignore[assignment]
    filters.insert(0, _ALL)
    try:
        yield
    finally:
        filters.remove(_ALL)


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Trees of a text are thousands of objects, none of which is garbage yet.

    Each would count towards the next collection, which goes through all of NumPy's modules.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
