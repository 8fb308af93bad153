"""libraries.py: what nests take for granted of Python's and NumPy's libraries.

A program may put its own functions there: `np.exp = mine`, `mock.patch("math.sqrt")`. While they
are there, all loops run as the Python they are. Whether a dictionary has changed at all the engine
sees in a nanosecond (src/python/libraries.cpp); which names, is looked at here.
"""

from __future__ import annotations

import builtins
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What programs do replace, and no nest calls.
_LEFT_OUT = frozenset(
    """_ breakpoint copyright credits display exec exit get_ipython help input license open print
    quit array2string array_repr array_str fromfile genfromtxt get_printoptions info load loadtxt
    printoptions save savetxt savez savez_compressed set_printoptions set_string_function seterr
    show_config test""".split()
)


class _Library:
    """A module as it was: what else it has had by now, was first met as it is."""

    def __init__(self, module: types.ModuleType) -> None:
        self.space = vars(module)
        self.known = {**self.space}

    def holds(self) -> bool:
        known, missing = self.known, object()
        for name, value in known.copy().items():  # another thread may add to it
            now = self.space.get(name, missing)
            is_taken = callable(value) or type(value) is float
            if now is not value and is_taken and not _is_left_out(name):
                return False
        for name in self.space.keys() - known.keys():
            known.setdefault(name, self.space.get(name))
        return True


def _is_left_out(name: str) -> bool:
    return name in _LEFT_OUT or name.startswith("__")


_libraries: dict[str, _Library] = {}
_LATE = ("math", "cmath", "numpy", "numpy.random", "frit.numpy.random")  # where nobody has told


def watch(module: types.ModuleType) -> None:
    """From now on, what this module has by now is what nests take it for."""
    _libraries[module.__name__] = _Library(module)


def adopt(module: types.ModuleType, name: str) -> None:
    """What Frit itself has put into a module is as good as what was there."""
    library = _libraries.get(module.__name__)
    if library is not None:
        library.known[name] = library.space[name]


def hold(core: Any) -> bool:
    """Whether the libraries are what they were. core: the engine's module, frit._core."""
    if not core.libraries_changed():
        return True
    for name in _LATE:
        if name not in _libraries and name in sys.modules:
            watch(sys.modules[name])
    if not all([library.holds() for library in [*_libraries.values()]]):
        return False
    core.watch_libraries([library.space for library in [*_libraries.values()]])
    return True


watch(builtins)
