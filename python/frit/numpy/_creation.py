"""_creation.py: functions that make arrays from shapes, values and other objects."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy

from frit import _core
from frit.numpy._native import Array, Unfit, native
from frit.numpy._transplant import transplant

_ORDERS = ("K", "C", "A", "F", "k", "c", "a", "f")
_CODES = frozenset("?bhilqBHILQefdFD")
_array = _core.array
_floor = _core.ufuncs["floor"]
_asarray = _core.own
_float64 = numpy.dtype(float)


@functools.lru_cache(256)
def _known(spec: Any) -> numpy.dtype | None:
    dtype = numpy.dtype(spec)
    return dtype if dtype.char in _CODES and dtype.isnative else None


def own_dtype(spec: Any) -> numpy.dtype:
    """The dtype meant by `dtype=`; Unfit where its arrays are NumPy's."""
    if type(spec) is Array:
        raise Unfit("dtype= is an array")  # numpy.dtype would take its dtype attribute
    try:
        dtype = _known(spec)
    except TypeError:
        raise Unfit(f"dtype={spec!r}") from None
    if dtype is None:
        raise Unfit(f"dtype={spec!r}")
    return dtype


def _on_cpu(device: Any, like: Any) -> None:
    if device is not None and device != "cpu" or like is not None:
        raise Unfit("device= or like= is given")


@native
def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    return _array(a, order=order, subok=subok, copy=True)


def _like(prototype: Any, dtype: Any, order: str, subok: bool, shape: Any, device: Any) -> Array:
    """An empty array with the layout of another, as NumPy's order= and shape= mean it."""
    _on_cpu(device, None)
    a = _asarray(prototype)
    if type(a) is not Array:
        raise Unfit("the prototype is NumPy's")
    if order not in _ORDERS:
        raise Unfit(f"order={order!r}")
    dtype = own_dtype(a.dtype if dtype is None else dtype)
    if shape is None:
        shape = a.shape
    elif order == "K" and type(shape) is tuple and len(shape) == a.ndim:
        # NumPy keeps the order of the axes even where their extents change.
        return _in_order_of(a, shape, dtype)
    flags = a.flags
    if order in ("K", "k"):
        if flags.c_contiguous or a.ndim < 2 or len(shape) != a.ndim:
            return _core.empty(shape, dtype, "C")
        return _in_order_of(a, shape, dtype)
    fortran = order in ("F", "f") or (
        order in ("A", "a") and flags.f_contiguous and not flags.c_contiguous
    )
    return _core.empty(shape, dtype, "F" if fortran else "C")


def _in_order_of(a: Any, shape: tuple, dtype: numpy.dtype) -> Array:
    axes = stride_order([a])
    result = _core.empty(tuple(shape[axis] for axis in axes), dtype, "C")
    back = [0] * len(axes)
    for position, axis in enumerate(axes):
        back[axis] = position
    return result.transpose(back) if back != sorted(back) else result


def stride_order(arrays: list[Any]) -> list[int]:
    """The axes from outermost to innermost in memory, where all arrays agree (order='K').

    The insertion sort is NumPy's: an axis moves outward only past axes of which no array says
    that they are further out.
    """
    ndim = arrays[0].ndim
    axes = list(range(ndim))
    strides = [[abs(s) for s in a.strides] for a in arrays]
    extents = [a.shape for a in arrays]
    for i in range(1, ndim):
        axis, place = axes[i], i
        for j in range(i - 1, -1, -1):
            other, ambiguous, outward = axes[j], True, False
            for stride, extent in zip(strides, extents, strict=True):
                if extent[axis] != 1 and extent[other] != 1:
                    if stride[axis] <= stride[other]:
                        outward = False
                    elif ambiguous:
                        outward = True
                    ambiguous = False
            if not ambiguous:
                if not outward:
                    break
                place = j
        axes.insert(place, axes.pop(i))
    return axes


@native
def empty_like(
    prototype: Any,
    /,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    return _like(prototype, dtype, order, subok, shape, device)


@native
def zeros_like(
    a: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    result = _like(a, dtype, order, subok, shape, device)
    result[...] = 0
    return result


@native
def ones_like(
    a: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    result = _like(a, dtype, order, subok, shape, device)
    result[...] = 1
    return result


@native
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    result = _like(a, dtype, order, subok, shape, device)
    _core.copyto(result, fill_value, "unsafe")
    return result


@native
def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Any:
    _on_cpu(None, like)
    return _eye(n, n, 0, own_dtype(dtype), "C")


@native
def eye(
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Any = float,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    _on_cpu(device, like)
    return _eye(N, N if M is None else M, k, own_dtype(dtype), order)


# Below this many elements one call of NumPy's is faster than recording three.
_FEW = 4096


def _eye(rows: Any, columns: Any, k: Any, dtype: numpy.dtype, order: str) -> Any:
    k = operator.index(k)
    if rows * columns <= _FEW:
        return _core.wrap_result(numpy.eye(rows, columns, k, dtype, order))
    if order in ("F", "f"):
        return _eye(columns, rows, -k, dtype, "C").T
    result = _core.zeros((rows, columns), dtype, order)
    rows, columns = result.shape
    down, right = max(-k, 0), max(k, 0)
    count = min(rows - down, columns - right)
    if count > 0:
        first = down * columns + right
        last = first + (count - 1) * (columns + 1)
        result.reshape(-1)[first : last + 1 : columns + 1] = 1
    return result


@native
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
    *,
    device: Any = None,
) -> Any:
    if axis != 0 or not (_is_float(start) and _is_float(stop)):
        return transplant(numpy.linspace)(
            start, stop, num, endpoint, retstep, dtype, axis, device=device
        )
    _on_cpu(device, None)
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    kind = own_dtype(dtype)
    pieces = num - 1 if endpoint else num
    # The arithmetic is NumPy's own, step by step: its last digits are part of the result.
    first, last = float(start), float(stop)
    delta = last - first
    step = delta / pieces if pieces > 0 else numpy.nan
    if num > _FEW and step != 0:
        y = _core.linspace(first, step, last if endpoint else first + (num - 1) * step, num)
    else:
        y = _core.arange(0.0, float(num))
        if pieces <= 0:
            y = y * delta
        elif step == 0:
            y = y / pieces * delta
        else:
            y = y * step
        y += first
        if endpoint and num > 1:
            y[-1] = last
    if kind.kind in "iu":
        y = _floor(y)
    y = y.astype(kind, copy=False)
    if kind == numpy.float64 and pieces > 0:
        y = y.view()  # as NumPy's, which is one of a column
    return (y, numpy.float64(step) if pieces > 0 else step) if retstep else y


def _is_float(x: Any) -> bool:
    """Whether NumPy computes with this number as the float64 of the same value."""
    return type(x) in (float, numpy.float64) or type(x) is int and abs(x) <= 2**53
