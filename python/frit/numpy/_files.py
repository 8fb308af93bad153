"""_files.py: reading arrays from files: what NumPy's archives hold is ours."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy
from numpy.lib.npyio import NpzFile

from frit import _core
from frit.numpy import _fallback


class _Archive(NpzFile):
    """An open .npz file whose arrays are ours."""

    __module__ = NpzFile.__module__
    __doc__ = NpzFile.__doc__
    __getitem__ = _fallback.method(NpzFile.__getitem__)


_Archive.__name__ = _Archive.__qualname__ = "NpzFile"


def _giving_archives(load: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function, whose archives are ours: so its errors show no frame but its own."""
    assert isinstance(load, types.FunctionType)
    scope = {**load.__globals__, "NpzFile": _Archive}
    copy = types.FunctionType(load.__code__, scope, load.__name__, load.__defaults__)
    copy.__kwdefaults__ = load.__kwdefaults__
    copy.__doc__ = load.__doc__
    return copy


_load = _core.Fallback("load", _giving_archives(numpy.load), counted=False)
load = _fallback.dress(_load, "load", numpy.load)
