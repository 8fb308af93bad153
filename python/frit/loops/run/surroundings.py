"""surroundings.py: what a translation takes from the program: functions, and what those take.

In one process it is compared by identity at each call. What is kept on the disk was made of equal
surroundings: the same library functions, functions of the same code, equal numbers.
"""

from __future__ import annotations

import builtins
import marshal
import sys
import types
from collections.abc import Container, Iterable
from typing import Any

from frit.loops.run.functions import PLAIN, is_number
from frit.loops.run.given import real
from frit.loops.run.methods import PlainMethod
from frit.loops.run.place import original_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

MISSING = object()
_VARIED = object()  # a number of which each call has the value
_LIBRARIES = ("builtins", "math", "cmath", "numpy", "bisect")


def contents_of(cell: types.CellType) -> Any:
    """MISSING: it is empty."""
    try:
        return cell.cell_contents
    except ValueError:  # `del` has emptied it
        return MISSING


class Surroundings:
    """What a translation took from the program for granted."""

    def __init__(self) -> None:
        self.spaces: list[tuple[dict[str, Any], str, Any]] = []
        self.cells: list[tuple[types.CellType, Any]] = []
        self.functions: list[tuple[types.FunctionType, Any, Any, Any]] = []
        # Dictionaries that may be changed in place, of functions and of partial() objects.
        self.keywords: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def take_function(self, function: types.FunctionType) -> None:
        code, few, keywords = function.__code__, function.__defaults__, function.__kwdefaults__
        self.functions.append((function, code, few, keywords))
        if keywords is not None:
            self.take_keywords(keywords)

    def take_keywords(self, keywords: dict[str, Any], varied: Container[str] = ()) -> None:
        """varied: those of which each call has the value; only that they are there is taken."""
        self.keywords.append(
            (keywords, {k: _VARIED if k in varied else v for k, v in keywords.items()})
        )

    def changed_numbers(self) -> list[tuple[dict[str, Any], str]]:
        """Variables of modules that are other numbers now."""
        return [
            (space, name)
            for space, name, value in self.spaces
            if is_number(value) and is_number(now := space.get(name)) and now is not value
        ]

    def check(self) -> Surroundings | None:
        """None: there is nothing to check."""
        return self if self.spaces or self.cells or self.functions or self.keywords else None

    def hold(self) -> bool:
        """At each call: so without generators, which take longer than what they look at."""
        for space, name, value in self.spaces:
            if space.get(name, MISSING) is not value:
                return False
        for cell, value in self.cells:
            if contents_of(cell) is not value:
                return False
        for function, code, few, keywords in self.functions:
            is_same = function.__code__ is code and function.__defaults__ is few
            if not is_same or function.__kwdefaults__ is not keywords:
                return False
        for keywords, known in self.keywords:
            if len(keywords) != len(known):
                return False
            for name, value in known.items():
                now = keywords.get(name, MISSING)
                if now is not value and (value is not _VARIED or now is MISSING):
                    return False
        return True


class Unlike(Exception):
    """Of an object that no other process can have."""


class Description:
    """In words, which are equal where a translation would be; taken: what they say.

    attributes: the names behind a dot in the nest.
    """

    def __init__(
        self,
        surroundings: dict[str, Any],
        attributes: Iterable[str],
        varied: Container[tuple[int, str]] = (),
    ) -> None:
        """varied: what functions were made with that is no part of it. Raises Unlike."""
        self.varied = varied
        self.taken = Surroundings()
        self.words: list[Any] = []
        self.due: list[types.FunctionType] = []
        self.modules: set[str] = set()
        names = set(attributes)
        for name, value in sorted(surroundings.items()):
            self.words += name, self.word(value)
        for function in self.due:  # which grows
            self.words.append(self.words_of(function))
            names |= _names_in(function.__code__)
        for module in sorted(self.modules):  # a program may have put something else there
            space = vars(sys.modules[module])
            for name in sorted(names & space.keys()):
                self.words += module, name, self.word_or_none(space[name])

    def word(self, value: Any) -> Any:
        value = real(value)
        kind = type(value)
        if kind is str or value is None or kind in PLAIN and value == value:
            return kind.__name__, value
        if kind is PlainMethod:
            return "method", self.number_of(value.function), text_of_tree(value.definition)
        if kind is types.FunctionType and not _is_numpys(value):
            return self.number_of(value)
        name = getattr(value, "__name__", None)
        if kind is types.ModuleType and name in _LIBRARIES and sys.modules.get(name) is value:
            self.modules.add(name)
            return name
        home = value.__module__ if kind is type else kind.__module__
        for library in _LIBRARIES if home in ("builtins", "numpy") else ():
            space = getattr(sys.modules.get(library), "__dict__", {})
            if space.get(name, MISSING) is value:
                return library, name
        raise Unlike

    def number_of(self, value: types.FunctionType) -> int:
        function = getattr(getattr(value, "__frit__", None), "function", value)
        if not any(function is known for known in self.due):
            self.due.append(function)
        return [known is function for known in self.due].index(True)

    def words_of(self, function: types.FunctionType) -> tuple[Any, ...]:
        code, few, keywords = function.__code__, function.__defaults__, function.__kwdefaults__
        self.taken.take_function(function)
        try:
            text = marshal.dumps(original_code(function), 2)  # the same for equal code
        except ValueError:
            raise Unlike from None
        found = []
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            if (id(function), name) in self.varied:
                found += name, "varied"
                continue
            value = contents_of(cell)
            self.taken.cells.append((cell, value))
            if value is MISSING:
                continue
            found += name, self.word_or_none(value)
        for name in sorted(_names_in(code)):
            if (id(function.__globals__), name) in self.varied:
                found += name, "varied"
                continue
            value = function.__globals__.get(name, MISSING)
            self.taken.spaces.append((function.__globals__, name, value))
            if value is MISSING:
                value = getattr(builtins, name, None)
            found += name, self.word_or_none(value)
        named = sorted((keywords or {}).items())
        last = code.co_varnames[: code.co_argcount][-len(few) :] if few else ()
        defaults = [
            (name, "varied" if (id(function), name) in self.varied else self.word_or_none(value))
            for name, value in (*zip(last, few or (), strict=True), *named)
        ]
        return text, found, defaults

    def word_or_none(self, value: Any) -> Any:
        """None: an object that no translation takes (Inlining.taken_from)."""
        is_taken = type(value) in PLAIN or callable(value) or type(value) is types.ModuleType
        return self.word(value) if is_taken else None


def text_of_tree(node: ast.AST) -> str:
    import ast

    return ast.dump(node)


def _is_numpys(function: types.FunctionType) -> bool:
    return str(function.__globals__.get("__name__")).partition(".")[0] == "numpy"


def _names_in(code: types.CodeType) -> set[str]:
    """Of the module's variables that it may read, among others."""
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return set(code.co_names).union(*map(_names_in, inner))
