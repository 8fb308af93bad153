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
        if type(found) is not _core.Array:
            return found
        caller = sys._getframe(1)
        # np.float64(thing): NumPy asks, of whom there is no frame.
        is_called = "__array__" in caller.f_code.co_names
        return found if is_called and is_user_code(caller.f_globals) else _core.to_numpy(found)

    kind.__array__ = __array__  # type: ignore[attr-defined]


# Of arrays that stay NumPy's, whose `out` may be one of ours. (compress takes an array for a mask,
# and what is none for something to make one of.)
_TAKING_OURS = (
    "argmax argmin choose compress cumprod cumsum dot mean round std take trace var".split()
)


def watch() -> None:
    _core.watch_classes(_dress)
    for name in _TAKING_OURS:
        method = _core.Fallback(name, getattr(numpy.ndarray, name), foreign=True)
        _core.set_in_type(numpy.ndarray, name, method)
