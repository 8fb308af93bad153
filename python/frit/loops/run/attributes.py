"""attributes.py: attributes of plain objects as variables of a nest: `self.n`, `self.grid.u[i]`.

Nothing in a nest runs code of the program's, so an attribute that is found as Python's own objects
find theirs (no property, no __getattr__) has one value unless the nest assigns it. It is read
before the nest and stored behind it. The nest's copy has a variable for it, named `self·n`.

A nest that is given a method of an object, or an object to call, has the attributes that it reads.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from frit.loops.names import assigned_names, attribute_chain, copied, nodes_in
from frit.loops.run.generators import is_generator
from frit.loops.run.given import real
from frit.loops.run.kernel_views import ViewUse, with_arrays
from frit.loops.run.methods import (
    CALLED,
    Called,
    Lookup,
    PlainMethod,
    SameObject,
    arguments_of,
    attribute_of_type,
    called_of,
    plain_method,
)
from frit.loops.run.texts import is_of_none

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, partial)
DOT = "·"  # a letter of Python's names that no program has
Path = tuple[str, tuple[str, ...]]  # a variable and the attributes behind it


class Attributes:
    """Of the objects that some variables of a nest are.

    node: the nest with variables in their places; paths: what those are; stored: whose variables
    the nest assigns, all of them right below one object, which no other variable is; methods: what
    the nest calls, and the generators that it draws from; views: those whose arrays are among the
    variables.
    """

    def __init__(
        self,
        core: Any,
        node: ast.For,
        paths: dict[str, Path],
        stored: list[str],
        methods: dict[str, Any],
        lookups: list[Lookup | SameObject],
        views: list[ViewUse],
    ) -> None:
        self.core = core
        self.node = node
        self.names = [*paths]
        checked = [*lookups, *views]
        roots = [*(root for root, _ in paths.values()), *(x.root for x in checked)]
        self.roots = [*dict.fromkeys(roots)]
        self.paths = tuple((self.roots.index(root), *path) for root, path in paths.values())
        # Objects on the way to others' attributes, none of which may be the one that is changed.
        ways = {path[:k] for path in self.paths for k in range(2, len(path))}
        self.ways = (*sorted(ways),) if stored else ()
        self.stored = stored
        self.stored_names = tuple(paths[name][1][0] for name in stored)
        self.changed = self.roots.index(paths[stored[0]][0]) if stored else -1
        self.methods = methods
        self.plain_methods = [m for m in methods.values() if isinstance(m, PlainMethod)]
        self.checked = [(x, self.roots.index(x.root)) for x in checked]

    def values(self, objects: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Of the objects, one a root; None: one is no plain attribute now."""
        for name in self.stored_names:
            if not self.core.is_plain_store(objects[self.changed], name):
                return None
        if self.stored and sum(x is objects[self.changed] for x in objects) > 1:
            return None
        if self.ways:
            others = self.core.plain_attributes(objects, self.ways)
            if others is None or any(x is objects[self.changed] for x in others):
                return None
        for found, number in self.checked:
            if not found.holds(self.core, number, objects):
                return None
        for method in self.plain_methods:
            if not method.is_what_it_was():
                return None
        values: tuple[Any, ...] | None = self.core.plain_attributes(objects, self.paths)
        return values

    def store(self, objects: tuple[Any, ...], values: tuple[Any, ...]) -> None:
        for name, value in zip(self.stored_names, values, strict=True):
            setattr(objects[self.changed], name, value)


def attributes_of(
    core: Any,
    node: ast.For,
    given: dict[str, Any],
    called: dict[str, Called],
    may_end: Callable[[Any], bool],
) -> Attributes | None:
    """Those of the given variables that are objects, if they are only there for their attributes.

    called: methods and objects that may be called. may_end: whether a value is no object whose
    attributes are asked for. Raises NotPlain.
    """
    node, views = with_arrays(core, node, given)
    bases, others = uses_of(nodes_in([node]))
    roots = {n: v for n, v in given.items() if n in bases - others and not may_end(v)}
    called = {n: x for n, x in called.items() if n not in bases}
    if not roots and not called:
        return None
    replace = _Replace(
        core, {name: (value, name, ()) for name, value in roots.items()}, called, may_end
    )
    made = replace.visit(copied(node))
    note_stores(replace.methods)
    in_methods = (m.stores for m in replace.methods.values() if isinstance(m, PlainMethod))
    stored = sorted(assigned_names([made]).union(*in_methods) & replace.paths.keys())
    places = {(root, path[:-1]) for root, path in map(replace.paths.__getitem__, stored)}
    if stored and (len(places) > 1 or places.pop()[1]):
        return None  # one object's, right below a variable
    return Attributes(
        core, made, replace.paths, stored, replace.methods, replace.lookups, [*views.values()]
    )


def note_stores(methods: dict[str, Any]) -> None:
    """What methods assign of their object, and those that they call."""
    plain = [m for m in methods.values() if isinstance(m, PlainMethod)]
    called = {}
    for method in plain:
        body = method.definition.body
        method.stores = frozenset(name for name in assigned_names(body) if DOT in name)
        names = {part.id for part in nodes_in(body) if isinstance(part, ast.Name)}
        found = (methods[name] for name in names & methods.keys())
        called[id(method)] = [m for m in found if isinstance(m, PlainMethod)]
    for _ in plain:
        for method in plain:
            method.stores = method.stores.union(*(m.stores for m in called[id(method)]))


class NotPlain(Exception):
    """An attribute that is not found as those of Python's own objects: its name."""


def uses_of(nodes: list[ast.AST]) -> tuple[set[str], set[str]]:
    """Variables that stand before a dot, and those that stand anywhere else, but before `is None`.

    nodes: those that stand less deep first.
    """
    bases: set[str] = set()
    below: set[int] = set()
    others: set[str] = set()
    for part in nodes:
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            bases.add(part.value.id)
            below.add(id(part.value))
        elif is_of_none(part):
            below.add(id(part.left))  # type: ignore[attr-defined]
        elif isinstance(part, ast.Name) and id(part) not in below:
            others.add(part.id)
    return bases, others


class _Replace(ast.NodeTransformer):
    """roots: objects by the variable that they are: each with its root in the nest, and a path."""

    def __init__(
        self,
        core: Any,
        roots: dict[str, tuple[Any, str, tuple[str, ...]]],
        called: dict[str, Called],
        may_end: Callable[[Any], bool],
    ) -> None:
        self.core = core
        self.roots = roots
        self.called = called
        self.may_end = may_end
        self.paths: dict[str, Path] = {}
        self.methods: dict[str, Any] = {}
        self.lookups: list[Lookup | SameObject] = []

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id not in self.called or not isinstance(node.ctx, ast.Load):
            return node
        root, variable = node.id, node.id + DOT + CALLED
        if variable not in self.methods:
            found = self.called[root]
            self.take_method(variable, found.function, found.owner, root, ())
        return ast.copy_location(ast.Name(variable, ast.Load()), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        base, nodes = attribute_chain(node)
        if not isinstance(base, ast.Name) or base.id not in self.roots:
            self.generic_visit(node)
            return node
        value, root, begin = self.roots[base.id]
        path: list[str] = []
        for part in nodes:
            found = self.core.plain_attributes((value,), ((0, part.attr),))
            if found is None and isinstance(part.ctx, ast.Load):
                method = self.variable_of(value, root, (*begin, *path), part.attr, property)
                if method is not None:
                    return self.with_call(node, part, method)
                if part is node:  # to be called by a function that is given it
                    kinds = types.FunctionType, staticmethod
                    method = self.variable_of(value, root, (*begin, *path), part.attr, *kinds)
                if method is not None:
                    return ast.copy_location(ast.Name(method, ast.Load()), node)
            if found is None:
                raise NotPlain(".".join([base.id, *path, part.attr]))
            value = found[0]
            path.append(part.attr)
            if self.may_end(value):
                break
        name = DOT.join([root, *begin, *path])
        last = nodes[len(path) - 1]
        if last is node and isinstance(node.ctx, ast.Load):
            method = self.called_variable(value, root, (*begin, *path))
            name = method if method is not None else name
        if is_generator(value) or isinstance(value, _FUNCTIONS):
            self.methods[name] = real(value)
            given = arguments_of(value) if isinstance(value, partial) else None
            self.lookups.append(SameObject(root, (*begin, *path), value, given))
        elif name not in self.methods:
            self.paths[name] = root, (*begin, *path)
        made = ast.copy_location(ast.Name(name, last.ctx), last)
        if last is node:
            return made
        nodes[len(path)].value = made
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        base, nodes = attribute_chain(node.func)
        if nodes and isinstance(base, ast.Name) and base.id in self.roots:
            value, root, begin = self.roots[base.id]
            path = tuple(part.attr for part in nodes[:-1])
            owner = self.core.plain_attributes((value,), ((0, *path),))
            if owner is not None and not self.may_end(owner[0]):
                path = (*begin, *path)
                kinds = types.FunctionType, staticmethod
                method = self.variable_of(owner[0], root, path, nodes[-1].attr, *kinds)
                if method is not None:
                    node.func = ast.copy_location(ast.Name(method, ast.Load()), node.func)
        self.generic_visit(node)
        return node

    def variable_of(
        self, owner: Any, root: str, path: tuple[str, ...], name: str, *kinds: type
    ) -> str | None:
        """Of a method or property, if it is a plain one of these kinds."""
        variable = DOT.join([root, *path, name])
        found = attribute_of_type(self.core, owner, name)
        if type(found) not in kinds:
            return None
        if variable not in self.methods:
            function = {property: "fget", staticmethod: "__func__"}.get(type(found))
            made = getattr(found, function) if function is not None else found
            if not isinstance(made, types.FunctionType):
                return None
            self.lookups.append(Lookup(root, path, name, found))
            if type(found) is staticmethod:
                self.methods[variable] = made
            else:
                self.take_method(variable, made, owner, root, path)
        return variable

    def take_method(
        self,
        variable: str,
        function: types.FunctionType,
        owner: Any,
        root: str,
        path: tuple[str, ...],
    ) -> None:
        """Raises NotPlain."""
        self.methods[variable] = function  # also where it calls itself
        method = self.method_of(function, owner, root, path)
        if method is None:
            raise NotPlain(variable.replace(DOT, "."))
        self.methods[variable] = method

    def called_variable(self, value: Any, root: str, path: tuple[str, ...]) -> str | None:
        """Of what is called where this attribute is: a method, or an object that may be called."""
        called = called_of(self.core, value)
        if called is None:
            return None
        if called.owner is value:
            return self.variable_of(value, root, path, "__call__", types.FunctionType)
        variable = DOT.join([root, *path, CALLED])
        if variable not in self.methods:
            self.lookups.append(SameObject(root, (*path, "__func__"), called.function))
            path = (*path, "__self__")
            self.take_method(variable, called.function, called.owner, root, path)
        return variable

    @staticmethod
    def with_call(node: ast.Attribute, part: ast.Attribute, method: str) -> ast.expr:
        """The chain of attributes, with the call of a property for one of them."""
        made = ast.copy_location(ast.Call(ast.Name(method, ast.Load()), [], []), part)
        ast.copy_location(made.func, part)
        outer: ast.expr = node
        if outer is part:
            return made
        while isinstance(outer, ast.Attribute) and outer.value is not part:
            outer = outer.value
        outer.value = made  # type: ignore[attr-defined]
        return node

    def alias_in(
        self, statement: ast.stmt, body: list[ast.stmt], number: int
    ) -> dict[str, tuple[Any, str, tuple[str, ...]]] | None:
        """What a variable is that stands for an object from here on: `p = self.parameters`."""
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            return None
        name = statement.targets[0].id
        base, nodes = attribute_chain(statement.value)
        if not nodes or not isinstance(base, ast.Name) or base.id not in self.roots:
            return None
        every, before = nodes_in(body), nodes_in(body[:number])
        uses = [n for n in every if isinstance(n, ast.Name) and n.id == name]
        is_once = sum(not isinstance(n.ctx, ast.Load) for n in uses) == 1
        is_once &= not any(isinstance(n, ast.arg) and n.arg == name for n in every)
        if not is_once or len(statement.targets) > 1 or any(n in before for n in uses):
            return None
        value, root, begin = self.roots[base.id]
        path = tuple(part.attr for part in nodes)
        found = self.core.plain_attributes((value,), ((0, *path),))
        if found is None or self.may_end(found[0]):
            return None
        return {name: (found[0], root, (*begin, *path))}

    def method_of(
        self, function: types.FunctionType, owner: Any, root: str, path: tuple[str, ...]
    ) -> PlainMethod | None:
        outer = self.roots, self.called

        def with_attributes(body: list[ast.stmt], name: str) -> list[ast.stmt]:
            self.roots, self.called = {name: (owner, root, path)}, {}
            made = []
            for number, statement in enumerate(body):
                if (alias := self.alias_in(statement, body, number)) is not None:
                    self.roots |= alias
                else:
                    made.append(self.visit(statement))
            return made

        try:
            return plain_method(function, with_attributes)
        except NotPlain:
            return None
        finally:
            self.roots, self.called = outer
