"""_blas.py: loads NumPy, without idle threads of its OpenBLAS and searches for garbage."""

from __future__ import annotations

import gc
import os
import sys

# A thread of OpenBLAS without work spins for 2^26 cycles before it sleeps, from its start on: 20
# ms of a core for each program and after each matrix product. 2^18 keeps it awake between products
# that follow one another.
_TIMEOUT = "OPENBLAS_THREAD_TIMEOUT"
_CYCLES = "18"


def load_numpy() -> None:
    """Imports NumPy, if nobody has; the variable that OpenBLAS reads then is the user's if set."""
    if "numpy" in sys.modules:
        return
    is_ours = _TIMEOUT not in os.environ
    try:
        if is_ours:
            os.environ[_TIMEOUT] = _CYCLES
        _import_without_search()
    finally:
        if is_ours:
            os.environ.pop(_TIMEOUT, None)


def _import_without_search() -> None:
    """All that an import makes stays; to look through it for garbage took 3 ms of 85."""
    if not gc.isenabled():
        import numpy  # noqa: F401

        return
    gc.disable()
    try:
        import numpy  # noqa: F401
    finally:
        if not gc.get_freeze_count():
            gc.freeze()  # the one way to make objects old without looking at them
            gc.unfreeze()
        gc.enable()
