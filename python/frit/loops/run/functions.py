"""functions.py: functions of the program that differ in the numbers they were made with, or not.

    for k in rates:
        solve(lambda y, t: -k * y)          # of one code, but another function at each call

The nest in solve() is translated for the function that it is called with first. One of the same
code does the same, if it was made with the same things: its closure and its defaults. Where only
numbers differ these become values of the nest, which it is given at each call. The same holds for
`functools.partial(decay, k=k)`.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from functools import partial

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

PLAIN = (int, float, bool)  # constants of a translation, as long as they are what they were
_SCALARS = frozenset(
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64"
    " complex128".split()
)
MOST_DEPTH = 4  # functions in the closures of others
_MADE = (types.FunctionType, partial)  # with numbers, and other functions
Path = tuple[str, ...]  # names of variables of closures, or parameters with defaults


def is_number(value: Any) -> bool:
    kind = type(value)
    is_scalar = kind.__module__ == "numpy" and kind.__name__ in _SCALARS
    return is_scalar or kind is complex or kind in PLAIN


def is_same(one: Any, other: Any, *, but_numbers: bool = False, depth: int = 0) -> bool:
    """Whether a call of either does the same; but_numbers: but for numbers it was made with."""
    if one is other:
        return True
    if type(one) is str and type(other) is str:
        return one == other
    if type(one) is types.MethodType and type(other) is types.MethodType:
        return one.__self__ is other.__self__ and one.__func__ is other.__func__
    if type(one) is type(other) and is_number(one):
        return but_numbers or type(one) not in PLAIN or one == other
    if type(one) is not type(other) or type(one) not in _MADE or depth > MOST_DEPTH:
        return False
    if type(one) is partial:
        return _have_same_parts(one, other, but_numbers, depth)
    if one.__code__ is not other.__code__ or one.__globals__ is not other.__globals__:
        return False
    if one.__dict__ or other.__dict__:  # a decorator's, for one
        return False
    if (
        one.__closure__ is other.__closure__
        and one.__defaults__ is other.__defaults__
        and one.__kwdefaults__ is other.__kwdefaults__
    ):
        return True
    return _have_same_parts(one, other, but_numbers, depth)


def _have_same_parts(one: Any, other: Any, but_numbers: bool, depth: int) -> bool:
    try:
        pairs = zip(parts_of(one), parts_of(other), strict=True)
        return all(
            name == same and is_same(x, y, but_numbers=but_numbers, depth=depth + 1)
            for (name, x), (same, y) in pairs
        )
    except ValueError:  # a cell without a value, or fewer defaults
        return False


def numbers_of(function: Any, depth: int = 0) -> list[Path]:
    """Where the numbers are that it was made with."""
    found: list[Path] = []
    if type(function) in _MADE and depth <= MOST_DEPTH:
        try:
            parts = [*parts_of(function)]
        except ValueError:
            return []
        for name, part in parts:
            if is_number(part):
                found.append((name,))
            found += ((name, *path) for path in numbers_of(part, depth + 1))
    return found


def part_at(function: Any, path: Path) -> Any:
    """Raises KeyError."""
    for name in path:
        try:
            function = dict(parts_of(function))[name]
        except ValueError:  # a cell without a value
            raise KeyError(name) from None
    return function


def parts_of(function: types.FunctionType | partial[Any]) -> Iterator[tuple[str, Any]]:
    """Raises ValueError."""
    if type(function) is partial:
        yield "func", function.func
        yield from ((str(k), argument) for k, argument in enumerate(function.args))
        yield from sorted(function.keywords.items())
        return
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    defaults = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    yield from zip(names, defaults, strict=True)
    yield from sorted((function.__kwdefaults__ or {}).items())


Variable = tuple[dict[str, "Any"], str]  # of a module


def variables_read(functions: Iterable[Any]) -> list[Variable]:
    """Those that these functions may read, and functions that they name."""
    found: list[Variable] = []
    plain = (f.func if type(f) is partial else f for f in functions)
    codes = [(f.__code__, f.__globals__) for f in plain if is_programs(f)]
    seen: set[types.CodeType] = set()
    for code, space in codes:
        if code in seen:
            continue
        seen.add(code)
        found += ((space, name) for name in code.co_names)
        codes += ((c, space) for c in code.co_consts if isinstance(c, types.CodeType))
        called = (space.get(name) for name in code.co_names)
        codes += ((f.__code__, f.__globals__) for f in called if is_programs(f))
    return found


def is_programs(function: Any) -> bool:
    """Whether it is no library's that a nest knows."""
    if type(function) is not types.FunctionType:
        return False
    return str(function.__globals__.get("__name__")).partition(".")[0] not in ("numpy", "frit")
