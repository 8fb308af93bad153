"""values.py: what an expression of a nest gives, and why a nest is not translated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from frit.loops.nest.forms import Form
from frit.translate.record import field, record

if TYPE_CHECKING:
    from frit.loops.nest.asked import Asked

PYTHON_KINDS = ("int", "float", "complex", "bool")
INTEGERS = "bBhHiIlL"
MOST_ITEMS = 32  # of what is written out, and of which a computed index chooses one
FLOATS = "efd"
COMPLEXES = ("complex", "F", "D")
DTYPES = {"int": "l", "float": "d", "complex": "D", "bool": "?"}
LIMITS = {
    **{c: (-(2**b), 2**b - 1) for c, b in zip("bhil", (7, 15, 31, 63), strict=True)},
    **{c: (0, 2**b - 1) for c, b in zip("BHIL", (8, 16, 32, 64), strict=True)},
}


class Refused(Exception):
    """The nest stays Python."""

    # All that it follows from at its call; None: nobody knows, or elements of arrays.
    asked: Asked | None = None

    def __init__(self, node: ast.AST | None, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = getattr(node, "lineno", 0)


class Again(Exception):
    """Something was learnt that the translation must begin with."""


@record
class Value:
    """A number. Its kind is one of Python's (PYTHON_KINDS) or a NumPy type character."""

    kind: str
    id: int | None = None  # the writer's; None: a literal
    literal: Any = None
    form: Form | None = None
    # What must hold for the form to be its value: (form, least, most) each.
    needs: tuple[tuple[Form, int, int], ...] = ()
    # Several kinds: it is of one of these, and all of them have its value in `kind` (doubt.py).
    among: frozenset[str] = frozenset()
    argument: str | None = None  # the guard's name of it
    zero: bool = False  # mixed: what it may be of Python's is 0 (complexes.py)
    # Of a list of ints and floats (lists.py): whether it is a float, or the list that knows it.
    tag: int | None = None
    untagged: tuple[str, int] | None = None
    told: int | None = None  # mixed: which it is (TOLD), if the nest tells that
    second: tuple[str, frozenset[str]] | None = None  # of max(name, y): what kinds y may be of

    @property
    def is_python(self) -> bool:
        return self.kind in PYTHON_KINDS

    @property
    def mixed(self) -> bool:
        return bool(self.among)

    @property
    def dtype(self) -> str:
        return DTYPES.get(self.kind, self.kind)


@record
class ArrayName:
    """An array argument: value `number` of the call."""

    number: int
    dtype: str
    rank: int
    writable: bool
    name: str
    parameter: int = -1


@record(frozen=True)
class Span:
    """Elements start, start + step, .. of an axis."""

    start: Value
    extent: Value
    step: int = 1


@record(frozen=True)
class View:
    """Some elements of an array: of each axis one, at an index inside of it, or a span."""

    array: ArrayName
    axes: tuple[Value | Span, ...]

    @property
    def spans(self) -> list[Span]:
        return [axis for axis in self.axes if isinstance(axis, Span)]

    def at(self, indices: Sequence[Value]) -> View:
        """With these in place of the spans."""
        given = iter(indices)
        return View(self.array, tuple(next(given) if isinstance(x, Span) else x for x in self.axes))


@record(frozen=True)
class Flat:
    """The elements of an array by one index: array.flat."""

    view: View


@record(frozen=True)
class ListPart:
    """A list of Python's, or one in it. kind: of its items; "mixed": int or float."""

    view: View
    kind: str


@record(frozen=True)
class Character:
    """A string of one character. code: its code point, as NumPy's uint32."""

    code: Value


@record
class Row:
    """An expression over arrays, whose elements are computed where they are wanted."""

    kind: str  # as of a Value
    extents: list[Value]
    element: Callable[[Sequence[Value]], Value]
    reads: list[View] = field(default_factory=list)


@record
class SmallArray(Row):
    """An array of a few elements that the nest has made (small_arrays.py)."""

    kind: str
    extents: list[Value]
    element: Callable[[Sequence[Value]], Value]
    reads: list[View]
    items: list[Value]  # in C order
    shape: tuple[int, ...]
    makers: frozenset[int]  # which arrays it may be
    serial: Value | None = None  # which one it is; None: nobody asks, or it is a part of one


@record
class SmallPart:
    """Elements of a small array: those with these numbers, or one whose number is computed."""

    owner: SmallArray
    shape: tuple[int, ...]
    numbers: list[int]
    index: Value | None = None


class Listed(tuple[Any, ...]):
    """A list that is written out, and that nothing changes."""


@record
class Library:
    """A module, function or type of the program's surroundings."""

    value: Any


@record
class Method:
    """A method of an array, or of a number."""

    owner: View | Row | Value
    name: str


# What an expression gives; a tuple holds the like. None is Python's.
Item = Value | View | Flat | ListPart | Character | Row | Library | Method | tuple[Any, ...] | None


@record
class Counter:
    """The indices of one loop: a range."""

    begin: Value
    end: Value
    step: Value

    @property
    def counts_rounds(self) -> bool:
        """Whether its indices are 0, 1, .."""
        return self.begin.literal == 0 and self.step.literal == 1


@record
class Series:
    """What a For goes through: loops, the outermost first, and what their indices stand for."""

    counters: list[Counter]
    item: Callable[[Sequence[Value]], Item]
    # The same, with None for elements: what does not depend on when it is asked.
    numbers: Callable[[Sequence[Value]], Item]


def kinds_in(key: str) -> list[str]:
    """What its key says of each value: A, R, L or Q, a type and a rank; N and a type; a letter."""
    kinds, k = [], 0
    while k < len(key):
        size = {"A": 3, "R": 3, "L": 3, "Q": 3, "N": 2}.get(key[k], 1)
        kinds.append(key[k : k + size])
        k += size
    return kinds
