"""_namespace.py: puts frit.numpy's names together: ours first, the rest of NumPy's by resolve()."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

import numpy

from frit import _core
from frit._importer import unseen
from frit.numpy import (
    _clock,
    _creation,
    _direct,
    _elementwise,
    _fallback,
    _files,
    _linear,
    _native,
    _pickles,
    _reduce,
    _shape,
    _state,
    _table,
)
from frit.numpy._transplant import transplant


def _stand_in(given: Any) -> Any:
    from frit.numpy import _classes

    return _classes.stand_in(given)


_core.set_hooks(
    functions=_native.functions,
    namespace=sys.modules["frit.numpy"],
    float_handler=_state.handle_float_error,
    stand_in=_stand_in,
)

_OURS = (_creation, _direct, _elementwise, _files, _linear, _reduce, _shape, _state)
_Dispatcher = type(numpy.sum)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, _Dispatcher)


def fill(names: dict[str, Any]) -> None:
    """Puts Frit's own functions, ufuncs and ndarray into a namespace."""
    names["ndarray"] = _core.Array
    _pickles.by_name(_core.Array, "ndarray")
    names["ufunc"] = _core.UFunc
    _pickles.by_name(_core.UFunc, "ufunc")
    for name in map(sys.intern, _table.DIRECT):  # as the names that programs read are
        names[name] = _native.direct(name, getattr(_core, name))
    # Not by getattr: some submodules are only imported when asked for.
    public = vars(numpy)
    for module in _OURS:
        for name, value in list(vars(module).items()):
            is_numpys = name in public and value is not public[name]
            if is_numpys and getattr(value, "__module__", "") in ("numpy", "frit.numpy"):
                names[name] = value
    for name, value in list(public.items()):
        if type(value) is numpy.ufunc and value.__name__ in _core.ufuncs:
            names[name] = _core.ufuncs[value.__name__]
    if _native.VERIFYING:
        from frit.numpy import _verify

        _verify.activate(names)


def fill_rest(names: dict[str, Any]) -> None:
    """Puts the other names of NumPy's into the namespace, and those of numpy.linalg into its own.

    Where it waits for the first use of a name it takes ten times as long as the function that is
    asked for: half a millisecond all together where the caches are warm, which the import has.
    What NumPy itself makes when it is asked for waits.
    """
    for name, value in list(vars(numpy).items()):
        if name not in names and not name.startswith("_") and type(value) is not types.ModuleType:
            names[name] = resolved(name, value)
    linalg = names["linalg"] = submodule(numpy.linalg)
    for name in numpy.linalg.__all__:
        getattr(linalg, name)


def watch() -> None:
    """Sees changes of the floating-point state, clocks that are read, and NumPy's operators.

    And what the program adds to its `np` (`np.int = int`) libraries find in theirs.
    """
    _state.watch()
    _clock.watch()
    _core.watch_ndarray_operators()
    numpy.__getattr__ = _added_by_program  # type: ignore[attr-defined]


def unwatch() -> None:
    """Undoes watch()."""
    _core.unwatch_ndarray_operators()
    numpy.__getattr__ = _numpys_getattr  # type: ignore[attr-defined]
    _clock.unwatch()
    _state.unwatch()


_numpys_getattr = numpy.__getattr__  # type: ignore[attr-defined]


@unseen
def _added_by_program(name: str) -> Any:
    ours = vars(sys.modules["frit.numpy"])
    if name.startswith("_") or name not in ours or name in ours.get("_own_names", ours):
        return _numpys_getattr(name)
    from frit._adapters import real_of

    return real_of(ours[name])


@unseen
def resolve(name: str) -> Any:
    """A name of frit.numpy that was not there yet."""
    return resolved(name, getattr(numpy, name))


@unseen
def resolved(name: str, value: Any) -> Any:
    """What frit.numpy has under the name of NumPy's object `value`."""
    if isinstance(value, types.ModuleType):
        return submodule(value)
    if type(value) is _Dispatcher and value in _native.functions:  # another name of NumPy's for it
        return _native.functions[value]
    if name.startswith("_") or name in _table.OWN:
        return value
    if name in _table.TRANSPLANTED:
        return _native.guard(name, transplant(value), value)
    if name in _table.CALLING_BACK:
        return _native.guard(name, transplant(value), value, _native.CALLS_BACK)
    return with_shortcut(name, value)


def complete(module: str) -> None:
    """Finds every name that NumPy's module has, for a program that reads our dictionary."""
    for name in list(vars(sys.modules[module])):
        getattr(sys.modules[f"frit.{module}"], name)


def with_shortcut(name: str, value: Any) -> Any:
    """NumPy's function `value`, before which the engine's shortcut is tried, where there is one."""
    ours = adapted(name, value)
    if name not in vars(_core.shortcuts):
        return ours
    return _native.guard(name, ours, value, _native.CALLS_BACK | _native.TAKES_ANYTHING)


def submodule(real: types.ModuleType) -> types.ModuleType:
    """Frit's module for one of NumPy's public modules; other modules as they are."""
    if real.__name__.startswith("numpy.") and "._" not in real.__name__:
        return importlib.import_module(f"frit.{real.__name__}")
    return real


def adapted(name: str, value: Any) -> Any:
    """NumPy's object `value` for a program that uses Frit's arrays; `name` is its dotted name."""
    if name == "ctypeslib.ndpointer":
        from frit.numpy import _classes

        return _classes.taking_pointers(value)
    if isinstance(value, _FUNCTIONS) and not isinstance(getattr(value, "__self__", None), type):
        if name in _table.UNCOUNTED_NAMES or name.partition(".")[0] in _table.UNCOUNTED:
            return _fallback.uncounted(name, value)
        return _fallback.fallback(name, value)
    if type(value) is numpy.ufunc:
        return _core.ufuncs.get(value.__name__, value)
    if isinstance(value, float) or (isinstance(value, type) and issubclass(value, numpy.generic)):
        return value
    if isinstance(value, types.GenericAlias) and value.__origin__ is numpy.ndarray:  # NDArray
        return types.GenericAlias(_core.Array, value.__args__)
    if type(value).__name__ == "TypeAliasType":  # NDArray from NumPy 2.5 on
        return _type_alias(name, value)
    from frit.numpy import _classes

    return _classes.adapted(name, value)


def _type_alias(name: str, value: Any) -> Any:
    """NumPy's type statement, saying the same of our arrays."""
    ours = adapted(name, value.__value__)
    if ours is value.__value__:
        return value
    alias = type(value)(value.__name__, ours, type_params=value.__type_params__)
    _pickles.alias_by_name(alias, name)
    return alias
