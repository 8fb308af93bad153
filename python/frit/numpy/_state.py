"""_state.py: tells the engine of NumPy's floating-point state and of Python's warning filters.

NumPy's own state (a context variable) is the truth. Whenever it or the filters change, pending work
is computed first, under the state it was recorded in; the engine looks the new state up when the
next operation needs it. When that state could raise, call, print, log or record, operations that
may warn run at once.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from frit import _core
from frit.numpy import _fallback

_KINDS = ("divide", "over", "under", "invalid")
_MODES = {"ignore": 0, "warn": 1, "raise": 2, "call": 3, "print": 4, "log": 5}
_WORDS = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}


def handle_float_error(kind: str, operation: str, mode: int, flags: int) -> None:
    """What NumPy does in the modes call, print and log (the engine does the others itself).

    `flags` holds NumPy's bits of all errors of the call that this one is of.
    """
    message = f"{_WORDS[kind]} encountered in {operation}"
    handler = numpy.geterrcall()
    if mode == _MODES["call"]:
        if handler is None:
            raise NameError(
                f"python callback specified for {_WORDS[kind]} (in  {operation}) "
                "but no function found."
            )
        handler(_WORDS[kind], flags)
    elif mode == _MODES["print"]:
        print(f"Warning: {message}", file=sys.stderr)
    elif mode == _MODES["log"]:
        if handler is None:
            raise NameError(
                f"log specified for {_WORDS[kind]} (in  {operation}) but no object with write "
                "method found."
            )
        handler.write(f"Warning: {message}\n")


def _changing(name: str) -> Any:
    original = getattr(numpy, name)
    return _fallback.dress(_core.StateChange(original), name, original)


seterr = _changing("seterr")
seterrcall = _changing("seterrcall")

_patched: list[tuple[Any, str, Any]] = []


def _patch(owner: Any, name: str, make: Callable[[Callable], Any]) -> None:
    original = getattr(owner, name)
    ours = make(original)
    for attribute in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(ours, attribute, getattr(original, attribute))
    ours.__wrapped__ = original
    _patched.append((owner, name, original))
    setattr(owner, name, ours)


def _leaving(original: Callable) -> Any:
    return _core.StateChange(original, leaving=True)


def _decorating(original: Callable) -> Callable:
    """`@np.errstate(...)`: the function runs inside the state, without __enter__ and __exit__."""

    def decorate(self: Any, function: Callable) -> Callable:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            _core.forget_float_state()
            result = function(*args, **kwargs)
            _core.eval()
            return result

        changed = _core.StateChange(original(self, inside))

        @functools.wraps(function)
        def outside(*args: Any, **kwargs: Any) -> Any:
            return changed(*args, **kwargs)

        return outside

    return decorate


def watch() -> None:
    """From now on every change of the state is seen."""
    if _patched:
        return
    for owner in (numpy.errstate, warnings.catch_warnings):
        _patch(owner, "__enter__", _core.StateChange)
        _patch(owner, "__exit__", _leaving)
    _patch(numpy.errstate, "__call__", _decorating)
    for name in ("simplefilter", "filterwarnings", "resetwarnings"):
        _patch(warnings, name, _core.StateChange)
    _core.forget_float_state()


def unwatch() -> None:
    """Undoes watch()."""
    while _patched:
        owner, name, original = _patched.pop()
        setattr(owner, name, original)
