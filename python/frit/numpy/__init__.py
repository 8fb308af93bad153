"""frit.numpy: NumPy's namespace, lazy.

The names are those of the installed NumPy. dtypes, scalar types, exceptions, constants and print
options are NumPy's own objects; `_table.py` says which functions are Frit's. With FRIT=0 in the
environment every name is NumPy's own.
"""

from __future__ import annotations

import os
import sys as _sys
import types as _types
from typing import Any

from frit import _blas

_blas.load_numpy()
import numpy  # noqa: E402

if int(numpy.__version__.split(".")[0]) < 2:
    raise ImportError(
        "frit needs NumPy 2.0 or later and found "
        f"{numpy.__version__}, whose rules of promotion differ"
    )

__version__ = numpy.__version__
__all__ = list(numpy.__all__)
enabled = os.environ.get("FRIT", "1") != "0"


def __dir__() -> list[str]:
    added = (name for name in globals().keys() - _own_names if not name.startswith("_"))
    return sorted({*dir(numpy), *added})


if enabled:
    from frit import _core
    from frit import _quiet as _quiet  # forks wait for what it says
    from frit._importer import unseen as _unseen
    from frit.numpy import _namespace, _native

    @_unseen
    def _found(name: str) -> Any:
        if name in globals():  # the function is called by hand: what it lacks is NumPy's to say
            if isinstance(globals()[name], _types.ModuleType):
                return _namespace.submodule(numpy.__getattr__(name))  # type: ignore[attr-defined]
            raise AttributeError(name)
        value = globals()[name] = _namespace.resolve(name)
        return value

    # NumPy says which name it lacks, and no frame of ours is in the traceback.
    _core.find_names(
        _sys.modules[__name__],
        _core.Native(
            "__getattr__",
            _found,
            numpy.__getattr__,  # type: ignore[attr-defined]
            _native.TAKES_ANYTHING,
        ),
    )

    _namespace.fill(globals())
    _namespace.watch()
else:

    def __getattr__(name: str) -> Any:
        return getattr(numpy, name)


from frit.numpy import _submodules  # noqa: E402

_submodules.install_finder(enabled)

if enabled:
    from frit._importer import adapt_libraries as _adapt_libraries
    from frit.loops.libraries import watch as _watch
    from frit.numpy import _receivers, _touch

    _receivers.watch()
    _namespace.fill_rest(globals())
    _touch.touch(_sys.modules[__name__])
    _adapt_libraries()
    _watch(numpy)
    _watch(_sys.modules[__name__])

_own_names = frozenset(globals())  # others are the program's
