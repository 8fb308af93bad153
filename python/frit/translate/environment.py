"""environment.py: what a kernel takes from the program around it, as numbered slots.

A slot says where a value comes from: a keyword argument, an attribute of self, a global, a variable
of an enclosing function. Each launch reads its slots anew; the types of their values are the key of
the translation, and so are the identities of functions and classes.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable
from typing import Any

import numpy

from frit import _core
from frit.translate.source import source_of
from frit.translate.values import Number, Object, Span, ViewPart

KEYWORD, SELF, GLOBAL, CELL, DICTIONARY, CELL_OBJECT = range(6)
_TYPE_OF_CODE = {"q": "l", "Q": "L"}


def number_type_of(value: Any) -> str | None:
    """The type character of an object that stands for a type of numbers."""
    if value is bool:
        return "?"
    numpy_type = getattr(value, "np_equiv", None)
    if isinstance(value, type) and issubclass(value, numpy.generic):
        numpy_type = value
    if numpy_type is None:
        return None
    code = numpy.dtype(numpy_type).char
    code = _TYPE_OF_CODE.get(code, code)
    return code if code in "?bBhHiIlLefdFD" else None


def _same(a: Any, b: Any) -> bool:
    """Of rows of slots: dictionaries and cells by identity."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, (str, int)) and a == b


class Environment:
    """The surroundings of one kernel function, with the values of one launch."""

    def __init__(
        self,
        function: types.FunctionType,
        owner: Any,
        rules: Any,
        rows: list[tuple[Any, ...]],
        values: list[Any],
        intrinsics: dict[int, Callable[..., Any]],
    ) -> None:
        self.function = function
        self.owner = owner
        self.rules = rules
        self.rows = rows  # grows with what the body names
        self.values = values
        self.intrinsics = intrinsics
        self.first_slot = 0  # of the numbers of a launch, those of its policy come first
        self.begin()

    def begin(self) -> None:
        """A translation begins (again): the kernel has no parameters and arguments yet."""
        self.parameters: list[int] = []  # by parameter: its slot
        self.names: list[str] = []
        self._views: dict[int, ViewPart] = {}
        self._numbers: dict[int, Number] = {}

    # ---- slots ----------------------------------------------------------------------------------

    def slot(self, row: tuple[Any, ...], value: Any) -> int:
        for k, known in enumerate(self.rows):
            if _same(known, row):
                return k
        self.rows.append(row)
        self.values.append(value)
        return len(self.rows) - 1

    def outside(self, function: types.FunctionType, name: str) -> Object | None:
        """A free variable of the function, or a global: with where it comes from."""
        free = function.__code__.co_freevars
        if name in free and function.__closure__ is not None:
            number = free.index(name)
            cell = function.__closure__[number]
            own = function is self.function
            try:
                return Object(cell.cell_contents, (CELL, number) if own else (CELL_OBJECT, cell))
            except ValueError:
                return None
        if name in function.__globals__:
            value = function.__globals__[name]
            if isinstance(value, types.ModuleType):
                return Object(value)
            same = function.__globals__ is self.function.__globals__
            place = (GLOBAL, name) if same else (DICTIONARY, (function.__globals__, name))
            return Object(value, place)
        if hasattr(builtins, name):
            return Object(getattr(builtins, name))
        return None

    def guard_class(self, owner: Object) -> None:
        """The kernel holds only for owners of this class."""
        if owner.root is not None:
            self.slot((*owner.root, "__class__"), type(owner.value))

    def value_of(self, walker: Any, found: Object, dtype: str | None) -> Any:
        """A view or number as the kernel's; functions and classes are noted, the rest stays."""
        value = found.value
        if isinstance(value, (types.FunctionType, type, str)) or value is None:
            self.slot(found.root, value)
            return found
        kind, code, ndim = _core.value_type(value)
        if kind == "object":
            return found
        slot = self.slot(found.root, value)
        if kind == "number":
            number = self.argument(walker, slot, code)
            return walker.convert(number, dtype) if dtype else number
        part = self.view(walker, slot, code, ndim, self._name(found.root))
        return part if ndim else walker.load(part)

    @staticmethod
    def _name(root: tuple[Any, ...]) -> str:
        return str(root[-1])

    def argument(self, walker: Any, slot: int, code: str) -> Number:
        """The number in a slot."""
        known = self._numbers.get(slot)
        if known is None:
            known = self._numbers[slot] = Number(
                walker.writer.argument(self.first_slot + slot, code), code
            )
        return known

    def view(self, walker: Any, slot: int, code: str, ndim: int, name: str) -> ViewPart:
        """The array in a slot."""
        known = self._views.get(slot)
        if known is None:
            parameter = walker.writer.parameter(code, ndim)
            self.parameters.append(slot)
            self.names.append(name)
            axes = tuple(Span(None, (parameter, axis)) for axis in range(ndim))
            known = self._views[slot] = ViewPart(parameter, code, axes, name)
        return known

    # ---- types ----------------------------------------------------------------------------------

    def annotation(self, function: types.FunctionType, node: ast.expr | None) -> Any:
        """The object that an annotation names; None: there is none, or it cannot be found."""
        if isinstance(node, ast.Name):
            found = self.outside(function, node.id)
            return found.value if found is not None else None
        if isinstance(node, ast.Attribute):
            owner = self.annotation(function, node.value)
            return getattr(owner, node.attr, None)
        return None

    def number_type(self, function: types.FunctionType, node: ast.expr | None) -> str | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                return None
        if isinstance(node, ast.Name) and node.id in self.rules.type_names:
            value = self.annotation(function, node)
            if value is None or value is getattr(builtins, node.id, None):
                return self.rules.type_names[node.id]
        return number_type_of(self.annotation(function, node))

    def field_types(self, cls: type) -> dict[str, str]:
        """The types that `self.x: T` in the class's __init__ gives."""
        known = _fields.get(cls)
        if known is None:
            known = {}
            for base in reversed(cls.__mro__):
                init = base.__dict__.get("__init__")
                if isinstance(init, types.FunctionType):
                    known.update(self._annotated_fields(init))
            if len(_fields) > 4096:
                _fields.clear()
            _fields[cls] = known
        return known

    def _annotated_fields(self, init: types.FunctionType) -> dict[str, str]:
        try:
            node = source_of(init).node
        except TypeError:
            return {}
        fields = {}
        for inner in ast.walk(node):
            if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Attribute):
                dtype = self.number_type(init, inner.annotation)
                if dtype:
                    fields[inner.target.attr] = dtype
        return fields


_fields: dict[type, dict[str, str]] = {}
