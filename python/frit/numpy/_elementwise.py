"""_elementwise.py: element by element what is no ufunc, and the choice and change of elements."""

from __future__ import annotations

from typing import Any

import numpy
from numpy import _NoValue

from frit import _core
from frit.numpy._native import Array, Unfit, native, one_step
from frit.numpy._shape import _own

_asarray = _core.own


@native
def clip(
    a: Any,
    a_min: Any = _NoValue,
    a_max: Any = _NoValue,
    out: Any = None,
    *,
    min: Any = _NoValue,
    max: Any = _NoValue,
    **kwargs: Any,
) -> Any:
    if a_min is _NoValue and a_max is _NoValue:
        a_min = None if min is _NoValue else min
        a_max = None if max is _NoValue else max
    elif a_min is _NoValue or a_max is _NoValue or min is not _NoValue or max is not _NoValue:
        raise Unfit("a mixture of a_min, a_max, min and max")
    return _own(a).clip(a_min, a_max, out=out, **kwargs)


@one_step
def round(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    return _asarray(a).round(decimals, out)


@one_step
def around(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    return _asarray(a).round(decimals, out)


@native
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    return _own(a).take(indices, axis, out, mode)


@native
def nonzero(a: Any) -> Any:
    return _own(a).nonzero()


@native
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    return _own(a).compress(condition, axis, out)


@native
def place(arr: Any, mask: Any, vals: Any) -> None:
    if type(arr) is not Array or type(mask) is not Array:
        raise Unfit("an operand is NumPy's")
    values = _own(vals)
    if mask.dtype.char != "?" or mask.shape != arr.shape or values.dtype != arr.dtype:
        raise Unfit("a mask of another type or shape, or values of another type")
    if _core.may_share_memory(arr, values):
        raise Unfit("values that change while they are read")
    values = values.ravel()
    count = int(_core.ufuncs["add"].reduce(mask, axis=None)) if values.size > 1 else 1
    if values.size < count:
        raise Unfit("values that are repeated")
    arr[mask] = values[:count]


def _type_of(x: Any) -> Any:
    """What stands for x where types are asked for: no elements are computed."""
    return x.dtype if type(x) is Array or isinstance(x, _core.Scalar) else x


@native
def result_type(*arrays_and_dtypes: Any) -> numpy.dtype:
    return numpy.result_type(*map(_type_of, arrays_and_dtypes))


@native
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return numpy.can_cast(_type_of(from_), to, casting)


@native
def shape(a: Any) -> tuple[int, ...]:
    return a.shape if type(a) is Array else numpy.shape(_core.to_numpy_deep(a))


@native
def ndim(a: Any) -> int:
    return a.ndim if type(a) is Array else numpy.ndim(_core.to_numpy_deep(a))


@native
def size(a: Any, axis: Any = None) -> int:
    if type(a) is Array and axis is None:
        return a.size
    return numpy.size(_core.to_numpy_deep(a), axis)
