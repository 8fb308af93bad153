"""_classes.py: NumPy's classes and index objects whose results are arrays, giving ours."""

from __future__ import annotations

import contextlib
import copyreg
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy
from numpy.lib import _index_tricks_impl

from frit import _core
from frit.numpy import _fallback, _pickles
from frit.numpy._native import Array

_float64 = numpy.dtype(float)
_EXACT = 2**53  # so far a float is each integer
_FEW = 8  # arrays
_FEW_ELEMENTS = 4096  # beyond, they are NumPy's to make

_INDEX_OBJECTS = (_index_tricks_impl.AxisConcatenator, _index_tricks_impl.nd_grid)


def stand_in(given: Any) -> Any:
    """An object that NumPy takes for `given`, and whose __array__ gives a real array.

    NumPy refuses an __array__ that gives one of Frit's arrays. The class is told to give real ones
    from now on, so that it is asked but once each time; objects of a class that can't be told get
    one that stands for them.
    """
    kind = type(given)
    owner = next((each for each in kind.__mro__ if "__array__" in vars(each)), kind)
    method = vars(owner).get("__array__")
    if isinstance(method, types.FunctionType) and not hasattr(method, "_gives_real_arrays"):
        from frit import _adapters

        with contextlib.suppress(TypeError):
            _adapters.replace(owner, "__array__", _giving_real(method))
            return given

    def __array__(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _core.to_numpy(given.__array__(*args, **kwargs))

    names: dict[str, Any] = {"__array__": __array__, "__module__": kind.__module__}
    if hasattr(kind, "__array_wrap__"):
        names["__array_wrap__"] = lambda self, *args: given.__array_wrap__(*args)
    if hasattr(kind, "__array_priority__"):
        names["__array_priority__"] = property(lambda self: given.__array_priority__)
    return type(kind.__name__, (), names)()


def _giving_real(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def __array__(*args: Any, **kwargs: Any) -> Any:
        return _core.to_numpy(method(*args, **kwargs))

    __array__._gives_real_arrays = True  # type: ignore[attr-defined]
    return __array__


def taking_pointers(ndpointer: Callable[..., type]) -> Callable[..., type]:
    """NumPy's ndpointer, whose types for the arguments of C functions take Frit's arrays, too."""

    @functools.cache
    def taking_ours(kind: type) -> type:
        def from_param(cls: type, obj: Any) -> Any:
            return kind.from_param(_core.to_numpy(obj))  # type: ignore[attr-defined]

        names = {"from_param": classmethod(from_param), "__module__": kind.__module__}
        return type(kind.__name__, (kind,), names)

    @functools.wraps(ndpointer)
    def made(*args: Any, **kwargs: Any) -> type:
        return taking_ours(ndpointer(*args, **kwargs))

    return made


def adapted(name: str, value: Any) -> Any:
    """NumPy's object `value`, or its subclass that takes and gives Frit's arrays."""
    if isinstance(value, _INDEX_OBJECTS):
        return _indexed(name, value)
    if isinstance(value, type):
        methods = _METHODS.get(f"{value.__module__}.{value.__qualname__}")
        if methods is None and _is_polynomial(value):
            methods = _POLYNOMIAL
        if methods:
            return _converting_subclass(name, value, methods)
    return value


def _indexed(name: str, value: Any) -> Any:
    """np.r_, np.c_, np.mgrid, np.ogrid: `[]` by NumPy, the result ours."""
    kind = type(value)
    getitem: Any = _core.Fallback(name, kind.__getitem__, method=True)
    join = {"r_": "concatenate", "c_": "column_stack"}.get(name)
    if join:
        getitem = _joining(join, getitem)
    if isinstance(value, _index_tricks_impl.nd_grid):
        getitem = _ranging(value.sparse, getitem)
    names = {"__getitem__": getitem, "__doc__": kind.__doc__, "__slots__": ()}
    return type(kind.__name__, (kind,), names)()


def _joining(name: str, numpys: Callable[..., Any]) -> Callable[..., Any]:
    """np.r_[x, y] or np.c_[x, y], which of vectors alike is the function of this name."""
    import frit.numpy

    join = getattr(frit.numpy, name)

    def with_numbers(key: tuple) -> list | None:
        """What concatenate joins for r_, of vectors of floats and Python's numbers."""
        parts: list = []
        for each in key:
            if type(each) is Array and each.ndim == 1 and each.dtype is _float64:
                parts.append(each)
            elif type(each) is float or type(each) is int and -_EXACT <= each <= _EXACT:
                parts.append([float(each)])
            else:
                return None
        return parts

    def __getitem__(self: Any, key: Any) -> Any:
        if name == "concatenate" and type(key) is tuple and len(key) <= _FEW:
            parts = with_numbers(key)
            if parts and any(type(each) is Array for each in parts):
                return join(parts)
        if type(key) is tuple and key and type(key[0]) is Array and key[0].ndim == 1:
            layout, dtype = key[0].shape, key[0].dtype
            for each in key:
                if type(each) is not Array or each.shape != layout or each.dtype is not dtype:
                    return numpys(self, key)
            return join(key)
        return numpys(self, key)

    return __getitem__


def _ranging(is_sparse: bool, numpys: Callable[..., Any]) -> Callable[..., Any]:
    """np.mgrid[a:b, c:d] or np.ogrid[a:b, c:d] of integers, and few elements."""
    import frit.numpy

    arange, indices = frit.numpy.arange, frit.numpy.indices

    def __getitem__(self: Any, key: Any) -> Any:
        if type(key) is not tuple or not 0 < len(key) <= _FEW:
            return numpys(self, key)
        ranges, count = [], 1
        for each in key:
            if type(each) is not slice or each.step is not None or type(each.stop) is not int:
                return numpys(self, key)
            start = each.start or 0
            if type(start) is not int or not start < each.stop:
                return numpys(self, key)
            ranges.append((start, each.stop))
            count *= each.stop - start
        if count > _FEW_ELEMENTS:
            return numpys(self, key)
        if not is_sparse:
            grid = indices(tuple(stop - start for start, stop in ranges))
            for k, (start, _) in enumerate(ranges):
                if start:
                    grid[k] += start
            return grid
        axes = len(ranges)
        return tuple(
            arange(start, stop)[(None,) * k + (slice(None),) + (None,) * (axes - 1 - k)]
            for k, (start, stop) in enumerate(ranges)
        )

    return __getitem__


def _is_polynomial(kind: type) -> bool:
    if not kind.__module__.startswith("numpy.polynomial"):
        return False
    from numpy.polynomial._polybase import ABCPolyBase

    return issubclass(kind, ABCPolyBase)


_METHODS = {
    "numpy.vectorize": ("_vectorize_call",),  # what is excluded is the function's, as it is
    "numpy.poly1d": ("__init__", "__call__"),
}
_POLYNOMIAL = ("__init__", "__call__", "linspace", "roots", "fit", "fromroots")


def _converting_subclass(name: str, kind: type, methods: tuple[str, ...]) -> type:
    """The subclass whose methods take Frit's arrays and give them.

    What NumPy makes of `kind` itself counts as its instance; what is pickled is of NumPy's class.
    """
    if kind in _converting_subclasses:
        return _converting_subclasses[kind]

    def __reduce__(self: Any) -> Any:
        own = kind if type(self) is converting else type(self)
        return copyreg._reconstructor, (own, object, None), self.__dict__  # type: ignore[attr-defined]

    names: dict[str, Any] = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "__reduce__": __reduce__,
    }
    for method in methods:
        given = kind.__dict__.get(method)
        if given is None:
            given = _inherited(kind, method)
        if isinstance(given, classmethod):
            names[method] = classmethod(_fallback.method(given.__func__))
        else:
            names[method] = _fallback.method(given)
    names |= {"_real": kind, "_base": type(kind)(kind.__name__, (kind,), dict(names))}
    meta = type(type(kind).__name__, (_core.StandIn, type(kind)), {})
    converting = _converting_subclasses[kind] = meta(kind.__name__, (kind,), names)
    _pickles.by_name(converting, name)
    return converting


_converting_subclasses: dict[type, type] = {}  # one, by whichever of its names it is asked for


def _inherited(kind: type, method: str) -> Any:
    for base in kind.__mro__:
        if method in base.__dict__:
            return base.__dict__[method]
    raise AttributeError(method)
