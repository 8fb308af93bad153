"""values.py: what an expression of a kernel can stand for while it is translated.

Numbers live in the kernel; everything else (views, functions, structs, modules) exists only while
translating.
"""

from __future__ import annotations

import ast
from typing import Any

from frit.translate.record import field, record


@record(frozen=True)
class Number:
    """A value of the kernel: its number and NumPy type character."""

    id: int
    dtype: str


@record(frozen=True)
class Literal:
    """A Python number that is known."""

    value: bool | int | float | complex


@record(frozen=True)
class Span:
    """The part of an axis that a subview has: from `start` (None: 0), `extent` elements."""

    start: Number | None
    extent: Any  # Number or Literal


@record(frozen=True)
class ViewPart:
    """A parameter, or a part of it: for each axis an index or the part of the axis that is left."""

    parameter: int
    dtype: str
    axes: tuple[Any, ...]  # Number | Literal (an index) or Span
    name: str = ""

    def free(self) -> list[int]:
        """The axes that are still to be indexed."""
        return [k for k, axis in enumerate(self.axes) if isinstance(axis, Span)]


@record(eq=False)
class Place:
    """A variable of the kernel."""

    local: int
    dtype: str


@record(eq=False)
class Struct:
    """An object made inside the kernel: its fields are variables."""

    cls: type
    fields: dict[str, Any] = field(default_factory=dict)
    is_assigned_again: bool = False  # its fields may become another object's
    has_name: bool = False


@record(eq=False)
class LocalArray:
    """A list of numbers made inside the kernel, of fixed length."""

    places: list[Place]


@record(frozen=True)
class TupleOf:
    items: tuple[Any, ...]


@record(frozen=True)
class Object:
    """Something of the Python program: where it comes from, and what it is now."""

    value: Any
    root: tuple[Any, ...] | None = None  # a slot's (root, name, attributes..); None: found by name


@record(eq=False)
class Inner:
    """A function defined inside the kernel, with the scope around it."""

    node: ast.FunctionDef | ast.Lambda
    scope: Any


@record(frozen=True)
class Method:
    """A function and the object that it is called on."""

    function: Any  # a Python function, or the name of an intrinsic method
    owner: Any


@record(frozen=True)
class Marker:
    """A thing of the language itself: a team, a range of a team, a scratch space."""

    kind: str
    data: tuple[Any, ...] = ()


class NoneValue:
    """What a call without a result gives."""


NONE = NoneValue()
