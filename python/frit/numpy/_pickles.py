"""_pickles.py: pickles of classes that stand for NumPy's: by their place in frit.numpy."""

from __future__ import annotations

import copyreg
import operator
import sys
from typing import Any

paths: dict[type, str] = {}  # the class -> its dotted name in frit.numpy


def named(path: str) -> Any:
    """What such a pickle gives when it is read."""
    return operator.attrgetter(path)(sys.modules["frit.numpy"])


def reduced(kind: type) -> Any:
    """What pickle writes; the program's own classes that derive from ours have a name."""
    path = paths.get(kind)
    return kind.__qualname__ if path is None else (named, (path,))


def by_name(kind: type, path: str) -> None:
    """NumPy's module, whose name the class has, holds another one: pickle is told where ours is."""
    paths[kind] = path
    paths[type(kind)] = f"{path}.__class__"  # for classes derived from it that are pickled whole
    copyreg.pickle(type(kind), reduced)  # type: ignore[arg-type]
