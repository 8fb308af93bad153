"""peers.py: the systems that the benchmark compares: NumPy, Frit, and the peers that are installed.

A peer is a module `peers_<name>.py` with one function per workload that it has rewritten, `prepare`
(NumPy array -> its own array), `force` (waits until a result is there; None: it is) and VERSION.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from workloads import WORKLOADS

PEERS = ("numexpr", "numba", "jax", "torch")


@dataclass(frozen=True)
class System:
    """One way to run the workloads; `functions`: workload name -> function of its data."""

    name: str
    version: str
    functions: dict[str, Callable]
    prepare: Callable
    force: Callable | None  # None: results are there when the call returns


def installed_peers() -> list[str]:
    return [name for name in PEERS if importlib.util.find_spec(name)]


def load(name: str) -> System:
    """The system of that name: "numpy", "frit" or a peer; ImportError where it isn't installed."""
    if name == "numpy":
        return System(name, np.__version__, texts_with(np), np.array, None)
    if name == "frit":
        import frit
        import frit.numpy

        return System(name, frit.__version__, texts_with(frit.numpy), frit.numpy.array, frit.eval)
    module = importlib.import_module(f"peers_{name}")
    functions = {w.name: getattr(module, w.name) for w in WORKLOADS if hasattr(module, w.name)}
    return System(name, module.VERSION, functions, module.prepare, module.force)


def texts_with(module) -> dict[str, Callable]:
    """The workloads' plain text, under `module` as np."""
    return {workload.name: partial(workload.function, module) for workload in WORKLOADS}


def offers(name: str, workload: str) -> bool:
    """Whether a peer has rewritten a workload; found in its text, so that it need not be loaded."""
    text = (Path(__file__).parent / f"peers_{name}.py").read_text()
    return f"\ndef {workload}(" in text or f"\n{workload} = " in text
