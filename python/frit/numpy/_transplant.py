"""_transplant.py: NumPy's own Python functions, bound to Frit's operations.

Much of NumPy is Python that calls a few primitives (`gradient`, `pad`, `median`). Such a function
becomes lazy when the same code runs with other globals: public names give Frit's functions, private
helpers are transplanted in turn, all else (dtypes, constants, the standard library) stays. So its
signature, its errors and their words are those of the installed NumPy.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from frit import _core

_Dispatcher = type(numpy.sum)
_transplanted: dict[int, Callable[..., Any]] = {}
_modules: dict[str, types.ModuleType] = {}


class ArrayConverter:
    """NumPy's private `_array_converter`, over Frit's arrays."""

    __slots__ = ("_arrays", "_given", "scalar_input")

    def __init__(self, *given: Any) -> None:
        self._given = given
        self._arrays = tuple(_core.own(x) for x in given)
        self.scalar_input = tuple(
            not hasattr(x, "__array__") and a.ndim == 0 or isinstance(x, numpy.generic)
            for x, a in zip(given, self._arrays, strict=True)
        )

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, item: Any) -> Any:
        return self._arrays[item]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._arrays)

    def as_arrays(self, subok: bool = True, pyscalars: str = "convert_if_no_array") -> tuple:
        if pyscalars not in ("convert", "preserve", "convert_if_no_array"):
            raise ValueError(
                "invalid pyscalar mode, must be 'convert', 'preserve', or 'convert_if_no_array'"
            )
        weak = [type(x) in (int, float, complex) for x in self._given]
        keep = pyscalars == "preserve" or pyscalars == "convert_if_no_array" and not all(weak)
        arrays = self._arrays if subok else tuple(_plain_array(a) for a in self._arrays)
        if not keep:
            return arrays
        return tuple(x if w else a for x, a, w in zip(self._given, arrays, weak, strict=True))

    def result_type(self, extra_dtype: Any = None, ensure_inexact: bool = False) -> numpy.dtype:
        operands = [
            x if type(x) in (int, float, complex) else a.dtype
            for x, a in zip(self._given, self._arrays, strict=True)
        ]
        if extra_dtype is not None:
            operands.append(extra_dtype)
        if ensure_inexact:
            operands.append(0.0)
        return numpy.result_type(*operands)

    def wrap(self, array: Any, /, to_scalar: bool | None = None) -> Any:
        if to_scalar is None:
            to_scalar = all(self.scalar_input)
        subclass = self._subclass()
        if subclass is not None and type(array) is not type(subclass):
            return subclass.__array_wrap__(_core.to_numpy(array), None, to_scalar)
        if to_scalar and getattr(array, "ndim", None) == 0 and not isinstance(array, numpy.generic):
            return array[()]
        if not to_scalar and isinstance(array, numpy.generic):
            return _core.own(array)
        return array

    def _subclass(self) -> Any:
        found = [
            a for a in self._arrays if isinstance(a, numpy.ndarray) and type(a) is not numpy.ndarray
        ]
        return max(found, key=lambda a: a.__array_priority__, default=None)


def _broadcast(*arrays: Any) -> Any:
    """numpy.broadcast, of which NumPy's functions want the shape alone: no elements are needed."""
    return types.SimpleNamespace(shape=numpy.broadcast_shapes(*map(numpy.shape, arrays)))


def _plain_array(array: Any) -> Any:
    if type(array) is _core.Array:
        return array
    return _core.own(numpy.asarray(array))


def _public_name(value: Any) -> str | None:
    """Under which name NumPy's users know an object of which Frit has its own version."""
    name = getattr(value, "__name__", None)
    if not isinstance(name, str) or name not in numpy.__all__:
        return None
    public = vars(numpy).get(name)  # getattr would import submodules that nobody asked for
    if not callable(public) or isinstance(public, type) and public is not numpy.ndarray:
        return None
    # NumPy's modules know a function by the dispatcher or by what is inside of it.
    is_same = public is value or getattr(public, "_implementation", None) is value
    return name if is_same else None


def translate(value: Any) -> Any:
    """What a transplanted function sees where NumPy's own sees `value`."""
    if isinstance(value, types.ModuleType):
        return _translated_module(value)
    if value is numpy._core._multiarray_umath._array_converter:
        return ArrayConverter
    if value is numpy.broadcast:
        return _broadcast
    if value is numpy._core.multiarray.c_einsum:
        from frit.numpy._namespace import with_shortcut

        return with_shortcut("einsum", value)
    name = _public_name(value)
    if name is not None:
        import frit.numpy

        return getattr(frit.numpy, name)
    module = getattr(value, "__module__", None) or ""
    if isinstance(value, types.FunctionType | _Dispatcher) and module.startswith("numpy"):
        return transplant(value)
    if isinstance(value, type(numpy.add)):
        return _core.ufuncs.get(value.__name__, value)
    return value


def _translated_module(module: types.ModuleType) -> Any:
    name = module.__name__
    if name == "numpy":
        import frit.numpy

        return frit.numpy
    if not name.startswith("numpy."):
        return module
    if name not in _modules:
        ours = _modules[name] = types.ModuleType(name)

        def found(wanted: str) -> Any:
            value = vars(ours)[wanted] = translate(getattr(module, wanted))
            return value

        _core.find_names(ours, found)
    return _modules[name]


class _Scope(dict[str, Any]):
    """The globals of a transplanted function: each is found when the function first asks for it.

    So functions may refer to one another, and an interrupt leaves none without its globals.
    """

    def __init__(self, source: types.FunctionType) -> None:
        super().__init__(__builtins__=builtins, __name__=source.__module__)
        self._globals = source.__globals__

    def __missing__(self, name: str) -> Any:
        # Builtins too: an error here, and Python's search behind it, take longer than most calls.
        own = name in self._globals
        value = self[name] = translate(self._globals[name]) if own else vars(builtins)[name]
        return value


def transplant(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same Python function with Frit's operations in the place of NumPy's."""
    source = getattr(function, "_implementation", function)
    known = _transplanted.get(id(source))
    if known is not None:
        return known
    if not isinstance(source, types.FunctionType) or source.__closure__:
        return function
    copy = types.FunctionType(source.__code__, _Scope(source), source.__name__, source.__defaults__)
    copy.__kwdefaults__ = source.__kwdefaults__
    copy.__doc__ = source.__doc__
    copy.__qualname__ = source.__qualname__
    copy.__module__ = source.__module__
    _transplanted[id(source)] = copy
    return copy
