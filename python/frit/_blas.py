"""_blas.py: loads NumPy so that the idle threads of its OpenBLAS leave the cores to others."""

from __future__ import annotations

import os
import sys

# A thread of OpenBLAS without work spins for 2^26 cycles before it sleeps, from its start on: 20
# ms of a core for each program and after each matrix product. 2^18 keeps it awake between products
# that follow one another.
_TIMEOUT = "OPENBLAS_THREAD_TIMEOUT"
_CYCLES = "18"


def load_numpy() -> None:
    """Imports NumPy, if nobody has; the variable that OpenBLAS reads then is the user's if set."""
    if "numpy" in sys.modules or _TIMEOUT in os.environ:
        return
    os.environ[_TIMEOUT] = _CYCLES
    try:
        import numpy  # noqa: F401
    finally:
        del os.environ[_TIMEOUT]
