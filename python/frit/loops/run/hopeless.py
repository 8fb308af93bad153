"""hopeless.py: what a translation would only find out late: calls that no nest has.

A first translation loads a dozen modules. A loop that calls `os.getpid()` is known to stay
Python without them, from what its names are.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

from frit.loops.run.functions import is_programs
from frit.loops.run.generators import is_draw

_PLAIN_MODULES = ("_bisect", "builtins", "cmath", "math")
_OTHERS = frozenset(
    "bytearray bytes chr dict filter format frozenset getattr hasattr hash id input isinstance iter"
    " list map next object open print repr set setattr sorted str super tuple type vars".split()
)


def hopeless_call(callees: Iterable[str], surroundings: Mapping[str, Any]) -> str | None:
    """The call that is certainly not translated, in words; None: none is known."""
    for path in callees:
        callee = _value_of(path, surroundings)
        if callee is not None and _is_hopeless(callee):
            return f"a call of {path}()"
    return None


def _value_of(path: str, surroundings: Mapping[str, Any]) -> Any:
    """What a name is, or an attribute of a module."""
    first, *names = path.split(".")
    value = surroundings.get(first)
    for name in names:
        if type(value) is not types.ModuleType:
            return None
        value = vars(value).get(name)
    return value


def _is_hopeless(callee: Any) -> bool:
    if isinstance(callee, types.MethodType):
        return not _may_be_plain(callee.__func__) and not is_draw(callee)
    if isinstance(callee, types.FunctionType):
        return _calls_itself(callee)
    if isinstance(callee, types.BuiltinFunctionType):
        owner = callee.__self__
        if owner is not None and not isinstance(owner, types.ModuleType):
            return not is_draw(callee)
    elif not isinstance(callee, type):
        return False
    module = callee.__module__ or ""
    if module == "builtins":
        return callee.__name__ in _OTHERS
    return module not in _PLAIN_MODULES and module.partition(".")[0] not in ("numpy", "frit")


def _may_be_plain(method: Any) -> bool:
    """Whether it is a function of the program's, or of a library that is written as one."""
    home = str(getattr(method, "__module__", "")).partition(".")[0]
    return is_programs(method) and home not in sys.stdlib_module_names


def _calls_itself(function: types.FunctionType) -> bool:
    name = function.__name__
    return name in function.__code__.co_names and function.__globals__.get(name) is function
