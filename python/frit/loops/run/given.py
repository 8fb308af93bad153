"""given.py: what the names of a nest stand for at a call, told without NumPy or the engine."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Mapping

from frit.loops.run.generators import is_generator

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

LISTS = (list, tuple, str)  # that a nest gets as arrays
ITEM = 5e-9  # seconds that a list's item takes, there and back
LARGEST = 2**62 - 1  # int of a nest (forms.py)
Origin = tuple[bytes, bytes]  # what is kept is named by the one, and depends on the other


def name_of(origin: Origin, key: str, left: int) -> bytes:
    """Of what is kept of a nest. key: its values' kinds; left: rounds that are left to Python."""
    return b"%s %s %d" % (origin[0], key.encode(), left)


def of_vain_try(origin: Origin) -> Origin:
    """Whether a nest stayed Python in the process before, and nobody knows why in all others."""
    return origin[0] + b" in vain", origin[1]


def is_surrounding(value: Any) -> bool:
    return isinstance(value, types.ModuleType) or callable(value) or is_generator(value)


def key_of(values: tuple[Any, ...], core: Any) -> str | None:
    """What the values are; None: a nest does not take them."""
    if any(type(v) in LISTS for v in values):
        found = core.list_arrays(values)
        return found[1] if found is not None else None
    key: str | None = core.loop_key(values)
    return key


def may_be_items(value: Any) -> bool:
    """Whether it may be a number, a string, or a list of these, by its first and last items."""
    if type(value) in (list, tuple):
        return not value or (may_be_items(value[0]) and may_be_items(value[-1]))
    if type(value) is int:
        return abs(value) <= LARGEST
    return type(value) in (complex, bool, str) or isinstance(value, float)  # or NumPy's


def seconds_of_lists(values: Iterable[Any]) -> float:
    """What it takes to make arrays of those that are lists, and lists of these again."""
    count = 0
    for value in values:
        if type(value) in LISTS:
            count += _items_in(value)
    return ITEM * count


def _items_in(value: Any) -> int:
    count = 1
    while type(value) in LISTS and count < 2**40:
        count *= len(value)
        value = value[0] if value and type(value) is not str else None
    return count


def may_end(core: Any, value: Any) -> bool:
    """Whether it is no object whose attributes a nest asks for."""
    is_value = type(value) in (*LISTS, core.Scalar) or core.loop_key((value,)) is not None
    return is_value or is_surrounding(value)


def array_of(surroundings: Mapping[str, Any], values: Iterable[Any]) -> Callable[..., Any]:
    """array() of the NumPy whose arrays the program makes: Frit's or its own."""
    import numpy

    ours = sys.modules.get("frit.numpy")
    if ours is None:
        return numpy.array
    known = [*surroundings.values()]
    for function in [v for v in known if type(v) is types.FunctionType]:
        known += function.__globals__.values()
    is_ours = any(type(v) is ours.ndarray for v in values)
    is_ours = is_ours or any(is_surrounding(x) and real(x) is not x for x in known)
    found: Callable[..., Any] = (ours if is_ours else numpy).array
    return found


def real(value: Any) -> Any:
    """NumPy's own object for one of frit.numpy's."""
    if "frit.numpy" not in sys.modules:
        return value
    from frit import _adapters

    return _adapters.real_of(value)
