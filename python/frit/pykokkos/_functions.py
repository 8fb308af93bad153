"""_functions.py: the NumPy-like functions on views: one table of names onto frit.numpy.

They are lazy and fuse with kernels, as all of frit.numpy. Results are views; a reduction's result
is a number, lazy as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from frit import _core
from frit import numpy as lazy
from frit.pykokkos import _types, _views
from frit.pykokkos._views import View, ViewType, bare, wrap

# PyKokkos' name -> NumPy's.
NAMES: dict[str, str] = {
    name: name
    for name in """
    absolute add all any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin
    bitwise_and bitwise_or bitwise_xor cbrt ceil conjugate copysign cos cosh cumsum degrees divide
    equal exp exp2 expand_dims expm1 fabs floor floor_divide fmax fmin fmod greater greater_equal
    hypot isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and
    logical_not logical_or logical_xor maximum mean minimum multiply negative not_equal positive
    power prod radians ravel reciprocal remainder rint searchsorted sign sin sinh sqrt square std
    subtract tan tanh transpose true_divide trunc unique var
    """.split()
} | {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "find_max": "max",
    "in1d": "isin",
    "index": "take",
    "pow": "power",
    "round": "round",
    "sum": "sum",
}

# Names of the first two parameters in PyKokkos' signatures.
_FIRST = ("view", "viewA", "view1", "x", "x1")
_SECOND = ("viewB", "valB", "view2", "x2", "ele")


def _positional(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any]:
    """The arguments in their order; those that were named are taken out of the keywords."""
    given = list(arguments)
    for place, names in enumerate((_FIRST, _SECOND)):
        for name in names:
            if len(given) == place and name in keywords:
                given.append(keywords.pop(name))
    return given


def _result(value: Any) -> Any:
    if isinstance(value, _core.Scalar):
        return value
    return wrap(value)


def _named(name: str, numpy_name: str) -> Callable[..., Any]:
    compute = getattr(lazy, numpy_name)

    def function(*arguments: Any, profiler_name: str | None = None, **keywords: Any) -> Any:
        given = [bare(x) for x in _positional(arguments, keywords)]
        return _result(compute(*given, **{k: bare(x) for k, x in keywords.items()}))

    function.__name__ = function.__qualname__ = name
    function.__module__ = "frit.pykokkos"
    function.__doc__ = f"numpy.{numpy_name} of views (and numbers): a new view, or a lazy number."
    return function


# ---- those whose rules are not NumPy's ----------------------------------------------------------


def matmul(viewA: Any, viewB: Any, profiler_name: str | None = None) -> Any:
    """The product of a vector and a vector or matrix. RuntimeError where they do not fit."""
    if len(viewA.shape) != 1 or viewA.shape[0] != viewB.shape[0]:
        raise RuntimeError(
            "Input operand 1 has a mismatch in its core dimension "
            f"(Size {viewA.shape[0]} is different from {viewB.shape[0]})"
        )
    return _result(lazy.matmul(bare(viewA), bare(viewB)))


def np_matmul(viewA: Any, viewB: Any, profiler_name: str | None = None) -> Any:
    """numpy.matmul of vectors and matrices. RuntimeError where they do not fit."""
    if viewA.shape[-1] != viewB.shape[-2 if len(viewB.shape) > 1 else 0]:
        raise RuntimeError(
            "Matrix dimensions are not compatible for multiplication: "
            f"{viewA.shape} and {viewB.shape}"
        )
    return _result(lazy.matmul(bare(viewA), bare(viewB)))


def dot(viewA: Any, viewB: Any) -> Any:
    """The sum of the products of two vectors' elements. RuntimeError where they do not fit."""
    if len(viewA.shape) == len(viewB.shape) == 0:
        return 0
    if len(viewA.shape) != 1 or viewA.shape != viewB.shape:
        raise RuntimeError(f"dot: two vectors of one length, not {viewA.shape} and {viewB.shape}")
    return _result(lazy.sum(lazy.multiply(bare(viewA), bare(viewB))))


def dgemm(alpha: float, view_a: Any, view_b: Any, beta: float = 0.0, view_c: Any = None) -> View:
    """alpha * a @ b + beta * c, as BLAS's. ValueError where a and b do not fit."""
    if view_a.shape[1] != view_b.shape[0]:
        raise ValueError(
            f"Second dimensions shape of a is {view_a.shape[1]} which does not match first "
            f"dimension shape of b, {view_b.shape[0]}."
        )
    product = lazy.matmul(bare(view_a), bare(view_b)) * alpha
    return wrap(product if view_c is None else product + bare(view_c) * beta)


def copyto(viewA: Any, viewB: Any, profiler_name: str | None = None) -> None:
    """viewA[...] = viewB, which is broadcast. ValueError for what is no view, or does not fit."""
    for view, side in ((viewA, "to"), (viewB, "from")):
        if not isinstance(view, ViewType):
            raise ValueError(f"copyto: Cannot copy {side} a non-view type")
    lazy.copyto(bare(viewA), bare(viewB), casting="unsafe")


def broadcast_view(val: Any, viewB: Any) -> View:
    """A new view of viewB's shape, with val's elements repeated."""
    return wrap(lazy.array(lazy.broadcast_to(bare(val), viewB.shape)))


def col(view: Any, col: int) -> View:
    """A copy of a column of a matrix. RuntimeError for what is no matrix."""
    if view.rank() != 2:
        raise RuntimeError("Only 2d views are supported for col")
    return wrap(lazy.array(bare(view)[:, col]))


def hstack(*views: Any) -> View:
    """numpy.hstack of views."""
    parts = views[0] if len(views) == 1 and isinstance(views[0], (list, tuple)) else views
    return wrap(lazy.hstack([bare(view) for view in parts]))


def reshape(x: Any, /, shape: Any, *, order: str = "C", copy: Any = None) -> View:
    """The elements in another shape: a copy."""
    return wrap(lazy.array(lazy.reshape(bare(x), tuple(numpy.atleast_1d(shape)), order=order)))


# ---- new views ----------------------------------------------------------------------------------


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> View:
    """A view of zeros; double, unless a type is given."""
    return View(shape, _types.float64 if dtype is None else dtype)


empty = zeros


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> View:
    """A view of one value; of its type, unless another is given."""
    if dtype is None:
        dtype = numpy.asarray(bare(fill_value)).dtype
    view = View(shape, dtype)
    view._array.fill(bare(fill_value))
    return view


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> View:
    """A view of ones; double, unless a type is given."""
    return full(shape, 1, dtype=_types.float64 if dtype is None else dtype)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> View:
    """A view of one value, of the shape and type of x."""
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> View:
    """A view of zeros, of the shape and type of x."""
    return zeros(x.shape, dtype=x.dtype if dtype is None else dtype)


empty_like = zeros_like


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> View:
    """A view of ones, of the shape and type of x."""
    return full_like(x, 1, dtype=dtype)


def linspace(start: Any, stop: Any, num: int = 50) -> View:
    """numpy.linspace."""
    return wrap(lazy.linspace(bare(start), bare(stop), num))


def logspace(start: Any, stop: Any, num: int = 50, base: float = 10) -> View:
    """numpy.logspace."""
    return wrap(lazy.logspace(bare(start), bare(stop), num, base=base))


def arange(start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None) -> View:
    """numpy.arange."""
    begin, end = (0, start) if stop is None else (start, stop)
    kind = None if dtype is None else _types.numpy_type(dtype)
    return wrap(lazy.arange(begin, end, step, dtype=kind))


def iinfo(type_or_view: Any) -> numpy.iinfo:
    """Limits of an integer type, or of a view's."""
    return numpy.iinfo(_types.numpy_type(getattr(type_or_view, "dtype", type_or_view)))


def finfo(type_or_view: Any) -> numpy.finfo:
    """Limits of a type of floats, or of a view's."""
    return numpy.finfo(_types.numpy_type(getattr(type_or_view, "dtype", type_or_view)))


_OWN = (
    arange, broadcast_view, col, copyto, dgemm, dot, empty, empty_like, finfo, full, full_like,
    hstack, iinfo, linspace, logspace, matmul, np_matmul, ones, ones_like, reshape, zeros,
    zeros_like,
)  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _named(name, numpy_name) for name, numpy_name in NAMES.items()
} | {
    "empty": empty,
    "empty_like": empty_like,
    **{function.__name__: function for function in _OWN},
}
astype = _views.astype
