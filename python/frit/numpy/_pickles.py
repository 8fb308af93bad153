"""_pickles.py: pickles of classes that stand for NumPy's: by their place in frit.numpy."""

from __future__ import annotations

import copyreg
import operator
import sys
from typing import Any

import numpy

from frit import _core

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


def alias_by_name(alias: Any, path: str) -> None:
    """The same for what a type statement makes, as NumPy's NDArray."""
    _paths[id(alias)] = path
    copyreg.pickle(type(alias), _reduced_alias)


def _reduced_alias(alias: Any) -> Any:
    path = _paths.get(id(alias))
    return alias.__reduce__() if path is None else (named, (path,))


_reduce_numpys = copyreg.dispatch_table[numpy.ufunc]


def _reduce_ufunc(ufunc: Any) -> Any:
    return ufunc.__reduce__() if type(ufunc) is _core.UFunc else _reduce_numpys(ufunc)


copyreg.pickle(numpy.ufunc, _reduce_ufunc)  # the one key for both
