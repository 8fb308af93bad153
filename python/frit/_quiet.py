"""_quiet.py: a text is read and compiled a second time: without warnings or garbage collections."""

from __future__ import annotations

import _frozen_importlib
import atexit
import contextlib
import gc
import os
import warnings
from _thread import RLock
from collections.abc import Iterator

_ALL = ("ignore", None, Warning, None, 0)

# A fork waits for another thread's translation, and for its imports of our modules: that thread is
# gone in the child, where those would stay locked, and collections disabled.
_is_translating = RLock()


def _wait_for_others() -> None:
    _is_translating.acquire()
    for name in list(getattr(_frozen_importlib, "_module_locks", ())):
        if name.startswith("frit"):
            _frozen_importlib._lock_unlock_module(name)  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_wait_for_others,
        after_in_parent=_is_translating.release,
        after_in_child=_is_translating.release,
    )
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
