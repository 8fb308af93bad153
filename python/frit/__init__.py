"""frit/__init__.py: Frit's own functions; the doors are frit.numpy, frit.pykokkos, frit.loops.

Importing this package loads neither NumPy nor the engine: both come with the first use.
"""

from __future__ import annotations

import contextlib
import importlib
import types
from collections.abc import Iterator

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

    from frit._core import eval
    from frit.loops import parallelize

__version__ = "0.1.0"
__all__ = [
    "FallbackError",
    "FallbackWarning",
    "device",
    "eval",
    "explain",
    "get_device",
    "get_num_threads",
    "install",
    "off",
    "parallelize",
    "report",
    "set_device",
    "set_num_threads",
    "statistics",
    "synchronize",
    "uninstall",
]

# What comes with its first use: submodules; functions of other modules.
_LAZY = {"loops", "numpy", "pykokkos", "report"}
_ELSEWHERE = {"eval": "frit._core", "parallelize": "frit.loops"}


class FallbackWarning(UserWarning):
    """A call that NumPy had to do, under FRIT_FALLBACK=warn."""


class FallbackError(RuntimeError):
    """A call that NumPy would have had to do, under FRIT_FALLBACK=error."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"frit.{name}")
    if name in _ELSEWHERE:
        found = getattr(importlib.import_module(_ELSEWHERE[name]), name)
        globals()[name] = found  # from now on without this function
        return found
    raise AttributeError(f"module 'frit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_ELSEWHERE})


def explain(x: Any = None) -> Any:
    """What would run (pending work) or has run (the last eval) as which kernels, and why not fewer.

    Prints as text; in a notebook it draws the graph if Graphviz is installed. Of a function,
    property, class or module: its source, with what each loop became.
    """
    # An attribute of a pending number would compute it.
    kind = type(x)
    is_property = issubclass(kind, (property, classmethod)) or kind.__name__ == "cached_property"
    if callable(x) or is_property or issubclass(kind, types.ModuleType):
        from frit.loops.report import LoopExplanation

        return LoopExplanation.of(x)
    from frit.report.explain import Explanation

    return Explanation(x)


def statistics() -> dict[str, Any]:
    """The engine's counters since the start or the last frit.report(reset=True)."""
    from frit import _core

    return _core.statistics()


def set_num_threads(n: int) -> None:
    """Sets how many threads kernels may use (at the start: FRIT_NUM_THREADS, else all we may)."""
    from frit import _core

    _core.set_threads(n)


def get_num_threads() -> int:
    """How many threads kernels may use."""
    from frit import _core

    return _core.threads()


def set_device(name: str) -> None:
    """Sets where kernels run: "cpu", "cuda", an NVIDIA GPU, or "auto" (at the start: FRIT_DEVICE).

    Kernels that are worth it then run there, and arrays stay in its memory until somebody needs
    them elsewhere; all else runs on the CPU. RuntimeError where there is no such device.

    "auto" takes a GPU if there is one, and sends a kernel there only once what it saves, or would
    have saved so far, pays for bringing its arrays; before a program has worked for 0.3 s it isn't
    even opened. Where there is none it becomes "cpu".
    """
    from frit import _core

    _core.set_device(name)


def get_device() -> str:
    """Where kernels run: "cpu", "cuda" or "auto"."""
    from frit import _core

    return _core.device()


@contextlib.contextmanager
def device(name: str) -> Iterator[None]:
    """Within this block kernels run on another device, as with set_device()."""
    before = get_device()
    set_device(name)
    try:
        yield
    finally:
        set_device(before)


def synchronize() -> None:
    """Computes what is pending and waits until it is done; results may stay on a device.

    eval() brings them into memory, too.
    """
    from frit import _core

    _core.synchronize()


def install() -> None:
    """From now on `import numpy` in the user's own code gives frit.numpy, `pykokkos` our own.

    Installed libraries and the standard library keep real NumPy. FRIT_INCLUDE and FRIT_EXCLUDE
    (module patterns or folders, separated by commas) change who counts as user code.
    """
    from frit import _importer

    _importer.install()


def uninstall() -> None:
    """Undoes install(): computes what is pending and gives every importer real NumPy again."""
    from frit import _importer

    _importer.uninstall()


@contextlib.contextmanager
def off() -> Iterator[None]:
    """Within this block nothing is delayed, and `import numpy` gives real NumPy."""
    from frit import _importer

    with _importer.suspended():
        yield


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext frit`: as install()."""
    install()


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext frit`: as uninstall()."""
    uninstall()
