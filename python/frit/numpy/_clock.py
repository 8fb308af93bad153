"""_clock.py: whoever reads a clock has waited for the work he asked for: so timings are honest.

But for a callback of the garbage collector: it times the collector, at moments of chance.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

from frit import _core

_NAMES = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
_original: dict[str, Callable[[], Any]] = {}


class _Clock:
    """Stands for one of C's: as these it gets no object, where a class has it as an attribute."""

    def __init__(self, clock: Callable[[], Any]) -> None:
        self._read, self._has_pending = clock, _core.has_pending
        self.__name__ = self.__qualname__ = clock.__name__
        self.__module__ = "time"
        self.__doc__ = clock.__doc__

    def __call__(self) -> Any:
        if self._has_pending() and not (gc.callbacks and _times_the_collector()):
            _core.run_pending()
        return self._read()

    def __reduce__(self) -> str:
        return self.__qualname__  # pickled by name, as a function is

    def __repr__(self) -> str:
        return repr(self._read)


def _times_the_collector() -> bool:
    reader = sys._getframe(2).f_code
    return any(getattr(callback, "__code__", None) is reader for callback in gc.callbacks)


def watch() -> None:
    """Replaces the clocks of `time`, and timeit's, by ones that compute pending work first."""
    if _original:
        return
    for name in (*_NAMES, *(f"{name}_ns" for name in _NAMES)):
        clock = getattr(time, name, None)
        if clock is not None:
            _original[name] = clock
            setattr(time, name, _Clock(clock))
    timeit = sys.modules.get("timeit")
    if timeit is not None:
        _retime(timeit, _original["perf_counter"], time.perf_counter)


def unwatch() -> None:
    """Undoes watch()."""
    timeit = sys.modules.get("timeit")
    if timeit is not None and _original:
        _retime(timeit, time.perf_counter, _original["perf_counter"])
    while _original:
        name, clock = _original.popitem()
        setattr(time, name, clock)


def _retime(timeit: Any, old: Callable, new: Callable) -> None:
    """timeit has bound its clock as a default argument when it was imported."""
    if timeit.default_timer is old:
        timeit.default_timer = new
    for function in (timeit.Timer.__init__, timeit.timeit, timeit.repeat):
        defaults = function.__defaults__
        function.__defaults__ = tuple(new if value is old else value for value in defaults)
