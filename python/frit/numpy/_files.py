"""_files.py: reading arrays from files: what NumPy's archives hold is ours."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.lib.npyio import NpzFile

from frit import _core
from frit.numpy import _fallback


class _Archive(NpzFile):
    """An open .npz file whose arrays are ours."""

    __module__ = NpzFile.__module__
    __doc__ = NpzFile.__doc__

    def __getitem__(self, key: str) -> Any:
        return _core.wrap_result(super().__getitem__(key))


_Archive.__name__ = _Archive.__qualname__ = "NpzFile"


def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    *,
    max_header_size: int = 10000,
) -> Any:
    options = {"max_header_size": max_header_size}
    loaded = _fallback.run(
        numpy.load, file, mmap_mode, allow_pickle, fix_imports, encoding, **options
    )
    if type(loaded) is NpzFile:
        loaded.__class__ = _Archive
    return loaded


_fallback.dress(load, "load", numpy.load)
