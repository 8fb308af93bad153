"""_native.py: how a function made of Frit's own operations takes NumPy's place.

The engine's `Native` looks at the operands: Frit arrays, NumPy and Python scalars and lists go
straight to our function; plain ndarrays are wrapped first; whatever else may have a say of its own
(subclasses, `__array_function__`) goes to NumPy's function of the same name. So does a call that
ours refuses by any error: NumPy raises it in its own words, or does what we could not.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy

from frit import _core
from frit.numpy import _fallback, _table

Array = _core.Array
# Raised by a native function, before any effect, where NumPy should do this call.
Unfit = _core.Unfit
CALLS_BACK = 1  # the function runs functions of the user's: an error is not tried again in NumPy
TAKES_ANYTHING = 2  # the function converts whatever it is given: no look at the operands
# The function takes several steps: NumPy does it where all operands are small; or where they are
# tiny, if the result may be much larger.
LEFT_IF_SMALL = 4
LEFT_IF_TINY = 8
GIVES_ARRAY_BACK = 16  # given one of Frit's arrays and nothing else
GIVES_DENSE_ARRAY_BACK = 32  # the same, where it lies in C order and has axes
GIVES_COLUMN_ARRAY_BACK = 64  # the same, where it lies in Fortran's order
# The function's only effect is one call of a method: what that leaves to NumPy, NumPy's function of
# this name does, whose warnings name the caller's line.
ONE_STEP = 128
TIMES = 1 << 8  # behind the flags: up to how many times as much counts as small

# FRIT_VERIFY=1: each call is done by NumPy too, and compared.
VERIFYING = os.environ.get("FRIT_VERIFY", "0") not in ("", "0")

_Dispatcher = type(numpy.sum)
_VERSION = tuple(map(int, numpy.__version__.split(".")[:2]))
_SHORTCUTS = {
    name: shortcut
    for name, shortcut in vars(_core.shortcuts).items()
    if _VERSION < _table.DEPRECATED.get(name, (math.inf,))
}
# NumPy's function -> ours, for calls that arrive by __array_function__.
functions: dict[Callable[..., Any], Callable[..., Any]] = {}

_GIVES_BACK = {
    "asarray": GIVES_ARRAY_BACK,
    "asanyarray": GIVES_ARRAY_BACK,
    "ascontiguousarray": GIVES_DENSE_ARRAY_BACK,
    "asfortranarray": GIVES_COLUMN_ARRAY_BACK,
}


def guard(name: str, ours: Callable[..., Any], function: Any, flags: int = 0) -> Callable[..., Any]:
    """`ours` behind the look at the operands; `function` is NumPy's; `name` is its dotted name."""
    if not flags:
        is_left = name in _table.FRESH or name in _table.VIEWS or name in _table.LEFT_UP_TO
        flags = LEFT_IF_SMALL * is_left + LEFT_IF_TINY * (name in _table.GROWING)
        flags += TIMES * _table.LEFT_UP_TO.get(name, 0)
    guarded = _core.Native(name, ours, function, flags, _SHORTCUTS.get(name))
    if VERIFYING and not flags & CALLS_BACK and not name.startswith("empty"):
        from frit.numpy import _verify

        guarded = _verify.VerifiedFunction(name.rpartition(".")[2], guarded, function)
    _fallback.dress(guarded, name, function)
    if type(function) is _Dispatcher:
        functions[function] = guarded
    return guarded


def native(ours: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: this function stands for NumPy's public function of the same name."""
    return guard(ours.__name__, ours, getattr(numpy, ours.__name__))


def one_step(ours: Callable[..., Any]) -> Callable[..., Any]:
    """As native, of one that calls a method and does no more."""
    return guard(ours.__name__, ours, getattr(numpy, ours.__name__), ONE_STEP)


def direct(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The engine's function, which does all that NumPy's does, under NumPy's name and text."""
    flags = TAKES_ANYTHING | _GIVES_BACK.get(name, 0)
    return guard(name, function, getattr(numpy, name), flags)
