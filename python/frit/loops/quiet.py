"""quiet.py: text that Python has compiled before is compiled again without its warnings."""

from __future__ import annotations

import contextlib
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
