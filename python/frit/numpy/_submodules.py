"""_submodules.py: frit.numpy.linalg, .fft, .ma and the others, made from NumPy's when imported."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any

from frit._importer import unseen

_PREFIX = "frit.numpy."


def _made(name: str, real: types.ModuleType) -> types.ModuleType:
    """One of NumPy's submodules: its functions fall back or are transplanted."""
    module = types.ModuleType(name, real.__doc__)
    if "__all__" in vars(real):
        module.__all__ = list(real.__all__)  # type: ignore[attr-defined]
    module.__dir__ = functools.partial(dir, real)  # type: ignore[method-assign]
    return module


def _open(module: types.ModuleType, real: types.ModuleType) -> None:
    """Finds names from now on. NumPy says which it lacks, without a frame of ours."""
    from frit import _core
    from frit.numpy import _native

    @unseen
    def found(name: str) -> Any:
        value = getattr(real, name)
        if name.startswith("_"):
            return value
        value = _adapted(module.__name__.removeprefix(_PREFIX), name, value)
        if name in vars(real):  # what NumPy makes when asked for, it may warn of each time
            vars(module)[name] = value
        return value

    numpys = functools.partial(getattr, real)
    _core.find_names(module, _core.Native("__getattr__", found, numpys, _native.TAKES_ANYTHING))


def _adapted(path: str, name: str, value: Any) -> Any:
    from frit.numpy import _namespace, _native, _table
    from frit.numpy._transplant import transplant

    if isinstance(value, types.ModuleType):
        return _namespace.submodule(value)
    if name in _table.TRANSPLANTED_IN.get(path, ()):
        return _native.guard(f"{path}.{name}", transplant(value), value)
    return _namespace.with_shortcut(f"{path}.{name}", value)


class _Finder:
    """Finds frit.numpy.X where NumPy has numpy.X and Frit has no file of that name."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        if not name.startswith(_PREFIX) or self._enabled and _is_file_of_ours(name):
            return None
        real = _real_name(name)
        if real in sys.modules:
            return ModuleSpec(name, self, is_package=hasattr(sys.modules[real], "__path__"))
        import importlib.util

        try:
            found = importlib.util.find_spec(real)
        except ModuleNotFoundError:
            return None
        if found is None:
            return None
        package = found.submodule_search_locations is not None
        return ModuleSpec(name, self, is_package=package)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _made(spec.name, importlib.import_module(_real_name(spec.name)))

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        real = sys.modules[_real_name(name)]
        if not self._enabled or any(part.startswith("_") for part in name.split(".")):
            # The real module takes the place, with its own spec.
            sys.modules[name] = real
            return
        _open(module, real)
        if name == "frit.numpy.random.mtrand":
            from frit.numpy import random

            random.fill_mtrand(module.__dict__)
        elif name == "frit.numpy.ma":
            from frit import _core

            _core.give_readers_real_arrays("numpy.ma")


def _real_name(name: str) -> str:
    return name.removeprefix("frit.")


_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _is_file_of_ours(name: str) -> bool:
    path = name.removeprefix(_PREFIX)
    return "." not in path and os.path.exists(os.path.join(_FOLDER, f"{path}.py"))


def install_finder(enabled: bool) -> None:
    """Lets `import frit.numpy.X` work for every submodule of NumPy's."""
    # Before the folders are looked at: NumPy's must never be loaded a second time, as ours.
    sys.meta_path.insert(0, _Finder(enabled))
