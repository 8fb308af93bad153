"""_receivers.py: what C code of NumPy's gets from the program's classes, and its arrays from us."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy

from frit import _core
from frit._importer import is_user_code


def _dress(kind: type) -> None:
    """Where a library asks an object of the program for its array, it is NumPy's."""
    method = vars(kind)["__array__"]
    if not is_user_code(method.__globals__):
        return

    @functools.wraps(method)
    def __array__(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = method(self, *args, **kwargs)
        if type(found) is _core.Array and not is_user_code(sys._getframe(1).f_globals):
            return _core.to_numpy(found)
        return found

    kind.__array__ = __array__  # type: ignore[attr-defined]


def watch() -> None:
    _core.watch_classes(_dress)
    # It takes an array for a mask, and what is none for something to make one of.
    compress = _core.Fallback("compress", numpy.ndarray.compress, foreign=True)
    _core.set_in_type(numpy.ndarray, "compress", compress)
