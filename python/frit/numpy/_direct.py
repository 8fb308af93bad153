"""_direct.py: NumPy's functions in C that its functions in Python are about, called at once.

`np.searchsorted(a, v)` looks a method up and calls it, which for a few elements is half of its
time. Where the arguments are not the plain ones, NumPy's function in Python is called.
"""

from __future__ import annotations

from typing import Any

import numpy

from frit.numpy._fallback import call
from frit.numpy._native import Array, native

_multiarray = numpy._core.multiarray
_interp = _multiarray.interp
_searchsorted = numpy.ndarray.searchsorted


@native
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    if period is not None or type(fp) is not Array or fp.dtype.kind == "c":
        return call("interp", numpy.interp, x, xp, fp, left, right, period)
    return call("interp", _interp, x, xp, fp, left, right)


@native
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    if type(a) is not Array:
        return call("searchsorted", numpy.searchsorted, a, v, side, sorter)
    return call("searchsorted", _searchsorted, a, v, side, sorter)


@native
def partition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    return call("partition", numpy.partition, a, kth, axis, kind, order)


@native
def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    return call("argpartition", numpy.argpartition, a, kth, axis, kind, order)
