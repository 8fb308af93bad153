"""_pickles.py: classes that stand for NumPy's: their pickles, and that they are equal to those."""

from __future__ import annotations

import copyreg
import operator
import sys
from typing import Any

import numpy

from frit import _core


class StandIn(type):
    """The type of a class that stands for NumPy's `_real`: equal to it, and the same key.

    So a program's questions and tables by class hold for the objects that libraries make. Classes
    that derive from it are themselves. (Those of the engine are so by theirs.)
    """

    def __eq__(cls, other: object) -> bool:
        if cls is other or other is None or vars(cls).get("_real") is not other:
            return cls is other
        asker = sys._getframe(1)  # a cache of typing's keeps what it has made for each of them
        return asker.f_code.co_name != "inner" or asker.f_globals.get("__name__") != "typing"

    def __hash__(cls) -> int:
        return type.__hash__(vars(cls).get("_real", cls))


# Each class, by its id() -> its dotted name in frit.numpy. (As keys ours are NumPy's own.)
_paths: dict[int, str] = {}


def named(path: str) -> Any:
    """What such a pickle gives when it is read."""
    return operator.attrgetter(path)(sys.modules["frit.numpy"])


def is_named(kind: type) -> bool:
    """Whether it is one of ours, and pickled so."""
    return id(kind) in _paths


def reduced(kind: type) -> Any:
    """What pickle writes; the program's own classes that derive from ours have a name."""
    path = _paths.get(id(kind))
    return kind.__qualname__ if path is None else (named, (path,))


def by_name(kind: type, path: str) -> None:
    """NumPy's module, whose name the class has, holds another one: pickle is told where ours is."""
    _paths[id(kind)] = path
    # For classes derived from it that are pickled whole.
    _paths[id(type(kind))] = f"{path}.__class__"
    copyreg.pickle(type(kind), reduced)  # type: ignore[arg-type]


_reduce_numpys = copyreg.dispatch_table[numpy.ufunc]


def _reduce_ufunc(ufunc: Any) -> Any:
    return ufunc.__reduce__() if type(ufunc) is _core.UFunc else _reduce_numpys(ufunc)


copyreg.pickle(numpy.ufunc, _reduce_ufunc)  # the one key for both
