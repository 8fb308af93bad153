"""_linear.py: products through BLAS."""

from __future__ import annotations

from typing import Any

from frit import _core
from frit.numpy._native import Unfit, native, one_step
from frit.numpy._shape import _own

_matmul = _core.ufuncs["matmul"]
_multiply = _core.ufuncs["multiply"]


@native
def vdot(a: Any, b: Any, /) -> Any:
    product = _core.shortcuts.vdot(_own(a), _own(b))
    if product is NotImplemented:
        raise Unfit("not the vectors of one type of number that BLAS takes")
    return product


@one_step
def inner(a: Any, b: Any, /) -> Any:
    a, b = _own(a), _own(b)
    if not a.ndim or not b.ndim:
        return _multiply(a, b)
    return a.dot(b if b.ndim == 1 else b.swapaxes(-1, -2))
