"""core.py: what all parts of the translator share: writing single instructions, and types."""

from __future__ import annotations

import ast
import types
from typing import Any

import numpy

from frit.translate.scope import Knowledge, Scope
from frit.translate.source import source_of
from frit.translate.values import Literal, Number, Object, Place, ViewPart


class Core:
    """One translation. `writer`, `rules` and `environment` come from outside."""

    def __init__(self, writer: Any, rules: Any, environment: Any, knowledge: Knowledge) -> None:
        self.writer = writer
        self.rules = rules
        self.environment = environment
        self.knowledge = knowledge
        self.scope: Scope = None  # type: ignore[assignment]
        self.loops: list[Any] = []
        self.line = 0
        self.file = ""
        self.functions: list[types.FunctionType] = []  # whose bodies are open
        self.fixed_places: set[tuple[Any, ...]] = set()
        self.effects = False
        self.loaded: set[int] = set()  # parameters
        self.stored: set[int] = set()
        self.pending_type: str | None = None  # of what an annotation declares

    def refuse(self, node: ast.AST, construct: str, hint: str = "") -> Exception:
        raise NotImplementedError

    def function_object(self) -> types.FunctionType:
        return self.functions[-1]

    # ---- numbers --------------------------------------------------------------------------------

    def constant(self, value: bool | int | float | complex, dtype: str) -> Number:
        if dtype in "efd" and not isinstance(value, complex):
            value = float(value)
        elif dtype in "bBhHiIlL":
            value = int(value)
            if value >= 2**63:  # a Python int is taken as a signed word
                value = numpy.uint64(value)
        return Number(self.writer.constant(value, dtype), dtype)

    def apply(self, op: str, *operands: Number) -> Number:
        id = self.writer.apply(op, [x.id for x in operands])
        return Number(id, self.writer.type_of(id))

    def convert(self, x: Number, dtype: str) -> Number:
        if x.dtype == dtype:
            return x
        if dtype == "?":
            return self.apply("NotEqual", x, self.constant(0, x.dtype))
        if x.dtype in "FD" and dtype not in "FD":
            raise self.refuse(
                ast.Pass(), "a complex number as a real one", "keep it in a complex view"
            )
        return Number(self.writer.cast(x.id, dtype), dtype)

    def number(self, value: Any, node: ast.AST | None = None) -> Number:
        """The value as a number of the kernel."""
        if isinstance(value, Number):
            return value
        if isinstance(value, Literal):
            dtype = self.rules.literal_type(value.value)
            if dtype is None:
                raise self.refuse(node or ast.Pass(), f"the number {value.value}, beyond 64 bits")
            return self.constant(value.value, dtype)
        if isinstance(value, ViewPart) and not value.free():
            return self.load(value)
        raise self.refuse(node or ast.Pass(), self.describe(value) + " as a number")

    def typed(self, value: Any, dtype: str) -> Number:
        if isinstance(value, Literal):
            return self.constant(value.value, dtype)
        return self.convert(self.number(value), dtype)

    @staticmethod
    def describe(value: Any) -> str:
        if isinstance(value, ViewPart):
            return f"a view with {len(value.free())} axes left to be indexed"
        if isinstance(value, Object):
            return f"{value.value!r}"[:60]
        return {
            "Struct": "an object",
            "Inner": "a function",
            "TupleOf": "a tuple",
            "LocalArray": "a list",
            "NoneValue": "a call without a result",
        }.get(type(value).__name__, "this")

    # ---- places ---------------------------------------------------------------------------------

    def read(self, place: Place) -> Number:
        return Number(self.writer.read_local(place.local), place.dtype)

    def write(self, place: Place, value: Number) -> None:
        self.writer.write_local(place.local, self.convert(value, place.dtype).id)

    def local_place(self, dtype: str) -> Place:
        return Place(self.writer.local(dtype), dtype)

    def flag(self) -> Place:
        place = self.local_place("?")
        self.write(place, self.constant(False, "?"))
        return place

    def load(self, part: ViewPart) -> Number:
        self.loaded.add(part.parameter)
        id = self.writer.load(part.parameter, self.indices(part), self.line)
        return Number(id, part.dtype)

    def store(self, node: ast.AST, part: ViewPart, value: Any) -> None:
        self.effects = True
        self.stored.add(part.parameter)
        given = self.number(value, node)
        number = self.convert(given, part.dtype)
        if part.dtype == "?" == given.dtype:  # an element that it came from may be any byte
            number = self.apply("NotEqual", number, self.constant(False, "?"))
        self.writer.store(part.parameter, self.indices(part), number.id, self.line)

    def indices(self, part: ViewPart) -> list[int]:
        return [self.typed(axis, "l").id for axis in part.axes]

    def extent(self, span: Any) -> Any:
        """The number of elements of a part of an axis."""
        if isinstance(span.extent, tuple):
            return Number(self.writer.extent(*span.extent), "l")
        return span.extent

    # ---- types of source ------------------------------------------------------------------------

    def annotated_type(self, node: ast.expr | None) -> str | None:
        """The type that an annotation names; None: it names none of a number."""
        return self.environment.number_type(self.function_object(), node)

    def field_types(self, cls: type) -> dict[str, str]:
        return self.environment.field_types(cls)

    def source(self, function: types.FunctionType) -> Any:
        return source_of(function)
