"""_quiet.py: a text is read and compiled a second time: without warnings or garbage collections."""

from __future__ import annotations

import _frozen_importlib
import atexit
import contextlib
import gc
import os
import sys
import warnings
from _thread import RLock
from collections.abc import Iterator

_ALL = ("ignore", None, Warning, None, 0)

# A fork waits for another thread's translation, and for its imports of our modules: that thread is
# gone in the child, where those would stay locked, and collections disabled.
_is_translating = RLock()


# Later Pythons hold a lock of theirs while the process forks, for which a thread that ends waits
# with the interpreter's lock in its hands: whoever waits for the engine then, letting others run,
# never gets that lock again. So the engine is held before. (In the child its lock is a new one.)
_HOLDS_ENGINE = sys.version_info >= (3, 12)
_held: list = []


def _wait_for_others() -> None:
    _is_translating.acquire()
    for name in list(getattr(_frozen_importlib, "_module_locks", ())):
        if name.startswith("frit"):
            _frozen_importlib._lock_unlock_module(name)  # type: ignore[attr-defined]
    core = sys.modules.get("frit._core")
    if _HOLDS_ENGINE and hasattr(core, "hold_engine"):
        core.hold_engine()
        _held.append(core)


def _go_on() -> None:
    if _held:
        _held.pop().let_engine_go()
    _is_translating.release()


def _begin_anew() -> None:
    _held.clear()
    _is_translating.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_others, after_in_parent=_go_on, after_in_child=_begin_anew)
# So does the end of the program, behind which none begins: Python ends daemon threads by unwinding
# their stacks, in which the translator's C++ can't take part.
atexit.register(_is_translating.acquire)


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """As catch_warnings and simplefilter("ignore"), but nobody sees that it was there.

    Those make Python forget which warnings it has shown, and the NumPy door compute what is
    pending.
    """
    filters: list = warnings.filters  # type: ignore[assignment]
    filters.insert(0, _ALL)
    try:
        yield
    finally:
        filters.remove(_ALL)


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Trees of a text are thousands of objects, none of which is garbage yet.

    Each would count towards the next collection, which goes through all of NumPy's modules.
    """
    with _is_translating:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if was_enabled:
                gc.enable()
