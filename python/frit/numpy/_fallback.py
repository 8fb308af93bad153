"""_fallback.py: what Frit doesn't know, NumPy does: with operands evaluated and results wrapped.

Each call is counted for the user's line. FRIT_FALLBACK=silent (the default) only counts; `warn`
gives a FallbackWarning at each new line; `error` raises FallbackError. The work is done in the
engine's `Fallback` and `call_numpy`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from frit import FallbackError, FallbackWarning, _core

# Code in these folders is not the user's: his line is the first frame outside of them.
PACKAGE_FOLDERS = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    os.path.dirname(os.path.abspath(numpy.__file__)) + os.sep,
)


class Site(NamedTuple):
    """One line that fell back to NumPy."""

    function: str
    file: str
    line: int
    count: int
    reason: str


def set_mode(mode: str) -> None:
    """silent, warn or error: what a fallback does from now on."""
    _core.set_fallback_mode(mode, FallbackError, FallbackWarning)


set_mode(os.environ.get("FRIT_FALLBACK", "silent"))
_core.set_package_folders(PACKAGE_FOLDERS)

# call(name, function, *args, **kwargs): function in NumPy, counted for the user's line.
call = _core.call_numpy


def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """function(*args, **kwargs) in NumPy: operands as ndarrays, results as ours, not counted."""
    return call(None, function, *args, **kwargs)


def fallback(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of Frit's namespace that lets NumPy do `function`."""
    return dress(_core.Fallback(name, function), name, function)


def uncounted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """As fallback(), for what is NumPy's by nature: printing, files, questions of type."""
    return dress(_core.Fallback(name, function, counted=False), name, function)


def method(function: Callable[..., Any]) -> Any:
    """NumPy's method that takes and gives our arrays, without a frame for tracebacks to show."""
    return _core.Fallback(function.__name__, function, counted=False, method=True)


def dress(ours: Any, name: str, function: Callable[..., Any]) -> Any:
    """Gives our function the names, the text and the signature of NumPy's."""
    module, _, plain = name.rpartition(".")
    ours.__module__ = f"frit.numpy.{module}" if module else "frit.numpy"
    if type(ours) in _ASK_NUMPYS:
        ours.__module__ = getattr(function, "__module__", None) or ours.__module__
        ours._path = name
        if getattr(function, "__qualname__", None) != plain:
            ours.__name__ = ours.__qualname__ = plain
        return ours
    ours.__name__ = plain
    ours.__qualname__ = plain
    ours.__doc__ = getattr(function, "__doc__", None)
    ours.__wrapped__ = function
    signature = getattr(function, "__signature__", None)
    if signature is not None:
        ours.__signature__ = signature
    return ours


# Their names, texts and signatures are those of NumPy's functions.
_ASK_NUMPYS = (_core.Native, _core.Fallback)


def sites() -> list[Site]:
    """Every line that fell back, most frequent first."""
    merged: dict[tuple[str, str, int], Site] = {}
    for name, file, line, count, reason in _core.fallbacks():
        key = (name, file, line)
        before = merged[key].count if key in merged else 0
        merged[key] = Site(name, file, line, before + count, reason)
    return sorted(merged.values(), key=lambda s: (-s.count, s.file, s.line, s.function))


def reset() -> None:
    """Forgets all counts."""
    _core.reset_fallbacks()
