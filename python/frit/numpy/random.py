"""random.py: NumPy's generators and streams, seed for seed; their arrays are ours.

The streams are NumPy's by promise, so a draw is no fallback to be reported.
"""

from __future__ import annotations

import copy as _copy
import sys as _sys
import types as _types
from collections.abc import Callable as _Callable
from importlib import import_module as _import_module
from typing import Any as _Any

from numpy import random as _numpy

from frit import _core
from frit.numpy import _fallback, _pickles

_to_numpy = _core.to_numpy_deep

__all__ = list(_numpy.__all__)


def _drawing(kind: type, name: str, method: _Callable) -> _Callable:
    # On NumPy's own object: inside, its methods call one another and expect NumPy's arrays.
    full_name = f"{kind.__qualname__}.{name}"
    draw = _core.Fallback(
        name,
        method,
        counted=False,
        through="_numpy",
        draw=full_name,
        in_place=name == "shuffle",
    )
    draw.__qualname__ = full_name
    return draw


def _draws(kind: type) -> dict[str, _Any]:
    return {
        name: _drawing(kind, name, method)
        for name, method in vars(kind).items()
        if not name.startswith("_") and name != "spawn" and callable(method)
    }


class Generator(_numpy.Generator, metaclass=_core.StandIn):
    __doc__ = _numpy.Generator.__doc__
    __module__ = _numpy.Generator.__module__
    __slots__ = ("_numpy",)
    _real = _numpy.Generator

    vars().update(_draws(_numpy.Generator))

    def __init__(self, bit_generator: _Any) -> None:
        _initialize(self, bit_generator)
        self._numpy = _numpy.Generator(bit_generator)

    def spawn(self, n_children: int) -> list[Generator]:
        return [type(self)(child.bit_generator) for child in self._numpy.spawn(n_children)]

    def __reduce__(self) -> _Any:
        # As NumPy's: whoever reads the pickle needs no Frit.
        return self._numpy.__reduce__()

    def __copy__(self) -> Generator:
        return Generator(_copy.copy(self._numpy).bit_generator)

    def __deepcopy__(self, memo: dict) -> Generator:
        return Generator(_copy.deepcopy(self._numpy, memo).bit_generator)


_new_state = _numpy.RandomState
_initialize_state = _numpy.RandomState.__init__


class RandomState(_numpy.RandomState, metaclass=_core.StandIn):
    __doc__ = _numpy.RandomState.__doc__
    __module__ = _numpy.RandomState.__module__
    __slots__ = ("_numpy",)
    _real = _numpy.RandomState

    vars().update(_draws(_numpy.RandomState))

    def __init__(self, seed: _Any = None) -> None:
        if seed is not None and type(seed) is not int:
            seed = _to_numpy(seed)
        self._numpy = _new_state(seed)
        _initialize_state(self, self._numpy._bit_generator)

    @classmethod
    def _around(cls, real: _numpy.RandomState) -> RandomState:
        ours = cls(real._bit_generator)
        ours._numpy = real
        return ours

    def __getstate__(self) -> _Any:
        return self._numpy.__getstate__()

    def __setstate__(self, state: _Any) -> None:
        self._numpy.__setstate__(state)

    def __reduce__(self) -> _Any:
        return self._numpy.__reduce__()

    def __copy__(self) -> RandomState:
        return self._around(_copy.copy(self._numpy))

    def __deepcopy__(self, memo: dict) -> RandomState:
        return self._around(_copy.deepcopy(self._numpy, memo))


def _base(kind: type) -> type:
    """The same without a metaclass: what derives from `kind` and has one of its own."""
    names = {
        name: value
        for name, value in vars(kind).items()
        if name != "_real" and not isinstance(value, _types.MemberDescriptorType)
    }
    return type(kind.__name__, kind.__bases__, names)


for _kind in (Generator, RandomState):
    _kind._base = _base(_kind)  # type: ignore[attr-defined]

_initialize = _numpy.Generator.__init__
_new_generator = _numpy.default_rng


def default_rng(seed: _Any = None) -> Generator:
    if seed is not None and type(seed) is not int:
        if isinstance(seed, Generator):
            return seed if hasattr(seed, "_numpy") else Generator(seed.bit_generator)
        seed = _to_numpy(seed)
    real = _new_generator(seed)
    ours = Generator.__new__(Generator)
    _initialize(ours, real.bit_generator)
    ours._numpy = real
    return ours


_fallback.dress(default_rng, "random.default_rng", _numpy.default_rng)
_core.set_generators((Generator, RandomState))


class _Made(_core.StandIn):
    """The type of a stand-in for a class of NumPy's: its constructor also takes our arrays."""

    def __new__(mcls, name: str, bases: tuple, names: dict) -> type:
        if any(isinstance(base, _Made) for base in bases):
            # A subclass made by the user is one of NumPy's class.
            real = tuple(base._real if isinstance(base, _Made) else base for base in bases)
            return type(real[0])(name, real, names)
        return super().__new__(mcls, name, bases, names)

    def __call__(cls, *args: _Any, **kwargs: _Any) -> _Any:
        return cls._real(*_to_numpy(args), **_to_numpy(kwargs))

    def __getattr__(cls, name: str) -> _Any:
        return getattr(type.__getattribute__(cls, "_real"), name)


def _seeded(kind: type) -> type:
    names: dict[str, _Any] = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    names |= {"_real": kind, "_base": kind}
    return _Made(kind.__name__, (), names)


_SEEDED = ("BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence")
for _name in _SEEDED:
    globals()[_name] = _seeded(getattr(_numpy, _name))
for _name in ("Generator", "RandomState", *_SEEDED):
    _pickles.by_name(globals()[_name], f"random.{_name}")


def fill_mtrand(names: dict[str, _Any]) -> None:
    """Puts ours into the module of the older interface, `numpy.random.mtrand`."""
    names["_rand"] = RandomState._around(_numpy.mtrand._rand)
    for name in _numpy.mtrand.__all__:
        names[name] = globals()[name] if name in globals() else _found(name)


def _found(name: str) -> _Any:
    value = getattr(_numpy, name)
    if name == "mtrand":
        return _import_module("frit.numpy.random.mtrand")
    if not name.startswith("_"):
        if name == "shuffle":
            value = _core.Fallback(name, _shuffle, in_place=True)
            _fallback.dress(value, "random.shuffle", _shuffle)
        elif isinstance(value, _types.MethodType | _types.BuiltinFunctionType):
            # Methods of NumPy's one RandomState.
            ours = _core.Fallback(name, value, counted=False, draw=f"RandomState.{name}")
            value = _fallback.dress(ours, f"random.{name}", value)
        globals()[name] = value
    return value


_core.find_names(_sys.modules[__name__], _found)


def __dir__() -> list[str]:
    return dir(_numpy)


# Generators of libraries, and those that pickles give, are NumPy's own. What they write to they
# know by its C type: an array of ours they would refuse, or shuffle by swapping views of its rows.
_STANDARD = ("standard_exponential", "standard_gamma", "standard_normal")
_WRITING = {
    _numpy.Generator: ("permuted", "random", "shuffle", *_STANDARD),
    _numpy.RandomState: ("shuffle",),
}


def _give_real_arrays() -> None:
    """From now on real generators write to ours. With all else nothing changes: no way back."""
    for kind, names in _WRITING.items():
        for name in names:
            writing = _core.Fallback(name, vars(kind)[name], foreign=True, in_place=True)
            _core.set_in_type(kind, name, writing)
    for module in (_numpy, _numpy.mtrand):
        module.shuffle = _core.Fallback("shuffle", _shuffle, in_place=True)
        if libraries := _sys.modules.get("frit.loops.libraries"):
            libraries.adopt(module, "shuffle")


_shuffle = _numpy.shuffle
_give_real_arrays()
