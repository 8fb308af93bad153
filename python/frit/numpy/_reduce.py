"""_reduce.py: functions that fold axes away, and running sums."""

from __future__ import annotations

from typing import Any

import numpy
from numpy import _NoValue

from frit import _core
from frit.numpy._native import Array, Unfit, native, one_step

_asarray = _core.own
_ufuncs = _core.ufuncs
_add = _ufuncs["add"].reduce
_multiply = _ufuncs["multiply"].reduce
_minimum = _ufuncs["minimum"].reduce
_maximum = _ufuncs["maximum"].reduce
_logical_or = _ufuncs["logical_or"].reduce
_logical_and = _ufuncs["logical_and"].reduce


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not _NoValue}


def _some(a: Any) -> Any:
    """An array that has elements: of an empty one NumPy's own function warns."""
    array = _asarray(a)
    if array.size == 0:
        raise Unfit("an empty array")
    return array


@one_step
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = _NoValue,
    initial: Any = _NoValue,
    where: Any = _NoValue,
) -> Any:
    if keepdims is _NoValue and initial is _NoValue and where is _NoValue:
        return _add(a, axis, dtype, out)
    return _add(a, axis, dtype, out, **_given(keepdims=keepdims, initial=initial, where=where))


@one_step
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = _NoValue,
    initial: Any = _NoValue,
    where: Any = _NoValue,
) -> Any:
    given = _given(keepdims=keepdims, initial=initial, where=where)
    return _multiply(a, axis, dtype, out, **given)


@one_step
def min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = _NoValue,
    initial: Any = _NoValue,
    where: Any = _NoValue,
) -> Any:
    given = _given(keepdims=keepdims, initial=initial, where=where)
    return _minimum(a, axis, None, out, **given)


@one_step
def max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = _NoValue,
    initial: Any = _NoValue,
    where: Any = _NoValue,
) -> Any:
    given = _given(keepdims=keepdims, initial=initial, where=where)
    return _maximum(a, axis, None, out, **given)


@one_step
def amin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = _NoValue,
    initial: Any = _NoValue,
    where: Any = _NoValue,
) -> Any:
    given = _given(keepdims=keepdims, initial=initial, where=where)
    return _minimum(a, axis, None, out, **given)


@one_step
def amax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = _NoValue,
    initial: Any = _NoValue,
    where: Any = _NoValue,
) -> Any:
    given = _given(keepdims=keepdims, initial=initial, where=where)
    return _maximum(a, axis, None, out, **given)


@one_step
def any(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = _NoValue, *, where: Any = _NoValue
) -> Any:
    return _logical_or(a, axis, bool, out, **_given(keepdims=keepdims, where=where))


@one_step
def all(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = _NoValue, *, where: Any = _NoValue
) -> Any:
    return _logical_and(a, axis, bool, out, **_given(keepdims=keepdims, where=where))


@one_step
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = _NoValue,
    *,
    where: Any = _NoValue,
) -> Any:
    return _some(a).mean(axis, dtype, out, **_given(keepdims=keepdims, where=where))


def _spread(method: str, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, **options: Any) -> Any:
    correction = options.pop("correction")
    if correction is not _NoValue:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    return getattr(_some(a), method)(axis, dtype, out, ddof, **_given(**options))


@native
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = _NoValue,
    *,
    where: Any = _NoValue,
    mean: Any = _NoValue,
    correction: Any = _NoValue,
) -> Any:
    options = {"keepdims": keepdims, "where": where, "mean": mean, "correction": correction}
    return _spread("var", a, axis, dtype, out, ddof, **options)


@native
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = _NoValue,
    *,
    where: Any = _NoValue,
    mean: Any = _NoValue,
    correction: Any = _NoValue,
) -> Any:
    options = {"keepdims": keepdims, "where": where, "mean": mean, "correction": correction}
    return _spread("std", a, axis, dtype, out, ddof, **options)


@native
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = _NoValue) -> Any:
    return _asarray(a).argmin(axis, out, **_given(keepdims=keepdims))


@native
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = _NoValue) -> Any:
    return _asarray(a).argmax(axis, out, **_given(keepdims=keepdims))


@one_step
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _asarray(a).cumsum(axis, dtype, out)


@one_step
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _asarray(a).cumprod(axis, dtype, out)


@native
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    array = _asarray(a)
    if type(array) is not Array:
        return _core.wrap_result(numpy.count_nonzero(array, axis, keepdims=keepdims))
    if axis is None and not keepdims:
        return _core.count_nonzero(array)
    # NumPy counts in intp, whatever the dtype.
    nonzero = array if array.dtype == bool else array.astype(bool)
    return nonzero.sum(axis=axis, dtype=int, keepdims=keepdims)
