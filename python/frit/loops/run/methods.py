"""methods.py: methods of plain objects that a nest calls: `self.weight(x)`, written into it.

A method whose object stands in the nest under a name is a function of its other parameters: what it
reads and assigns of the object are variables of the nest (attributes.py). One that does anything
else with its object stays Python's.
"""

from __future__ import annotations

import abc
import operator
import types
from collections.abc import Callable
from functools import partial

from frit.loops.run.functions import is_programs, parts_of
from frit.translate.record import record

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast
    from typing import Any

_missing = object()


@record
class PlainMethod:
    """definition: the function's own, with variables for its object's attributes.

    codes: what it was made from, also before the loop door rewrote it.
    """

    function: types.FunctionType
    definition: ast.FunctionDef
    codes: tuple[types.CodeType, ...]
    stores: frozenset[str] = frozenset()  # the nest's variables that it may assign

    def is_what_it_was(self) -> bool:
        code = self.function.__code__
        for known in self.codes:
            if code is known:
                return True
        return False


@record
class Lookup:
    """Where a method was found, and what: each call finds the same, or runs as Python."""

    root: str
    path: tuple[str, ...]  # to the object
    name: str
    found: Any

    def holds(self, core: Any, number: int, objects: tuple[Any, ...]) -> bool:
        owner = core.plain_attributes(objects, ((number, *self.path),))
        return owner is not None and attribute_of_type(core, owner[0], self.name) is self.found


@record
class SameObject:
    """An attribute that each call finds to be the same object, or runs as Python."""

    root: str
    path: tuple[str, ...]
    found: Any
    arguments: Any = None  # of a partial(), as they were

    def holds(self, core: Any, number: int, objects: tuple[Any, ...]) -> bool:
        now = core.plain_attributes(objects, ((number, *self.path),))
        if now is None or now[0] is not self.found:
            return False
        return self.arguments is None or are_same(arguments_of(self.found), self.arguments)


@record
class Called:
    """What a nest is given to call: the object, and the function that gets it."""

    owner: Any
    function: types.FunctionType

    def owner_of(self, core: Any, value: Any) -> Any:
        """That of what is given now; None: something else would be called."""
        if type(value) is types.MethodType:
            return value.__self__ if value.__func__ is self.function else None
        is_same = attribute_of_type(core, value, "__call__") is self.function
        return value if is_same else None


_NO_OWNERS = (type, types.ModuleType)
# What no object is that a nest calls a method of.
NOT_CALLED = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, str)
CALLED = "()"  # the name of that function, which no attribute has


def called_of(core: Any, value: Any) -> Called | None:
    """Of a method of an object, or an object that may be called; None: it is neither."""
    kind = type(value)
    if kind is types.MethodType:
        owner, function = value.__self__, value.__func__
    elif kind in NOT_CALLED:
        return None
    else:
        owner, function = value, attribute_of_type(core, value, "__call__")
    is_plain = is_programs(function) and core.loop_key((owner,)) is None
    return Called(owner, function) if is_plain and not isinstance(owner, _NO_OWNERS) else None


def arguments_of(function: partial[Any]) -> list[Any]:
    return [part for named in parts_of(function) for part in named]


def are_same(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))


def attribute_of_type(core: Any, owner: Any, name: str) -> Any:
    """What `owner.name` is found as in its type, without running code of a class; None: nothing."""
    kind = type(owner)
    if type(kind) not in (type, abc.ABCMeta) or hasattr(kind, "__getattr__"):
        return None
    if kind.__getattribute__ is not object.__getattribute__:
        return None
    if core.plain_attributes((owner,), ((0, name),)) is not None:
        return None  # the object has one of its own
    for base in kind.__mro__:
        found = base.__dict__.get(name, _missing)
        if found is not _missing:
            return found
    return None


def plain_method(
    function: types.FunctionType,
    with_attributes: Callable[[list[ast.stmt], str], list[ast.stmt]],
) -> PlainMethod | None:
    """The function, less its first parameter; None: it does more than a nest can.

    with_attributes: a body, whose attributes of this variable become the nest's.
    """
    import ast

    from frit.loops.find.exits import without_branches
    from frit.loops.find.raising import RaisedInCall, without_exceptions
    from frit.loops.names import copied, mangle, nodes_in, owner_of
    from frit.translate.errors import TranslationError
    from frit.translate.source import source_of

    code = function.__code__
    try:
        source = source_of(function)
    except TranslationError:
        return None
    node = source.node
    if not isinstance(node, ast.FunctionDef):
        return None
    made: ast.FunctionDef = copied(node)
    first = (made.args.posonlyargs or made.args.args or [None]).pop(0)
    if first is None or not mangle(nodes_in([made.args, *made.body]), owner_of(function)):
        return None
    without_branches(made.body, RaisedInCall)
    without_exceptions(made.body, RaisedInCall)
    made.body = with_attributes(made.body, first.arg) or [ast.copy_location(ast.Pass(), made)]
    for part in (part for statement in made.body for part in ast.walk(statement)):
        if isinstance(part, ast.Name) and part.id == first.arg:
            return None
    return PlainMethod(function, made, (code, source.code))
