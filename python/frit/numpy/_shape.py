"""_shape.py: functions that rearrange, join and repeat."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from frit import _core
from frit.numpy import _creation
from frit.numpy._native import Array, Unfit, native, one_step

_asarray = _core.own


def _own(a: Any) -> Array:
    array = _asarray(a)
    if type(array) is not Array:
        raise Unfit(f"an operand of dtype {getattr(array, 'dtype', '?')}")
    return array


@native
def reshape(a: Any, /, shape: Any, order: Any = "C", *, copy: Any = None) -> Any:
    if copy is None:
        return _asarray(a).reshape(shape, order=order)
    return _asarray(a).reshape(shape, order=order, copy=copy)


@native
def ravel(a: Any, order: Any = "C") -> Any:
    return _asarray(a).ravel(order)


@native
def transpose(a: Any, axes: Any = None) -> Any:
    if isinstance(a, numpy.generic):
        return a.transpose(axes)  # a scalar
    return _asarray(a).transpose(axes)


@native
def matrix_transpose(x: Any, /) -> Any:
    return _own(x).mT


@native
def swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    return _asarray(a).swapaxes(axis1, axis2)


@native
def squeeze(a: Any, axis: Any = None) -> Any:
    if isinstance(a, numpy.generic):
        return a.squeeze(axis)
    return _asarray(a).squeeze(axis)


@native
def expand_dims(a: Any, axis: Any) -> Any:
    array = _own(a)
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    ndim = array.ndim + len(axes)
    places = {operator.index(place) % ndim for place in axes if -ndim <= place < ndim}
    if len(places) != len(axes):
        raise Unfit("an axis is out of bounds or repeated")
    extents = iter(array.shape)
    return array.reshape(tuple(1 if place in places else next(extents) for place in range(ndim)))


@native
def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    return _own(a).diagonal(offset, axis1, axis2)


@one_step
def trace(
    a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    return _own(a).trace(offset, axis1, axis2, dtype, out)


@native
def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    arrays = [_own(a) for a in args]
    shape = numpy.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(a if a.shape == shape else _broadcast(a, shape) for a in arrays)


def _broadcast(a: Array, shape: tuple[int, ...]) -> Array:
    """A window that NumPy still lets programs write to, with a warning."""
    result = _core.broadcast_to(a, shape)
    if a.flags.writeable:
        result.flags._warn_on_write = True
    return result


@native
def stack(
    arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    parts = [_asarray(a) for a in arrays]
    shape = parts[0].shape
    for part in parts:
        if part.shape != shape:
            raise ValueError("all input arrays must have the same shape")
    ndim = len(shape) + 1
    if not -ndim <= axis < ndim:
        raise Unfit("the axis is out of bounds")
    key = (slice(None),) * (axis % ndim) + (None,)
    parts = [part[key] for part in parts]
    if out is None and dtype is None and casting == "same_kind":
        return _core.concatenate(parts, axis % ndim)
    return _core.concatenate(parts, axis % ndim, out, dtype=dtype, casting=casting)


@native
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return _asarray(a).repeat(repeats, axis)


@native
def resize(a: Any, new_shape: Any) -> Any:
    if isinstance(new_shape, int | numpy.integer):
        new_shape = (new_shape,)
    flat = _own(a).ravel()
    size = 1
    for extent in map(operator.index, new_shape):
        size *= extent
        if extent < 0:
            raise Unfit("all elements of `new_shape` must be non-negative")
    if not flat.size or not size:
        return _creation.zeros_like(flat, shape=tuple(new_shape))
    times = -(-size // flat.size)
    return _core.concatenate([flat] * times)[:size].reshape(new_shape)
