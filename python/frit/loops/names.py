"""names.py: the parts of a tree, and the names in it."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable
from typing import Any


def nodes_in(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """These and all below them, those that stand less deep first, without contexts and operators.

    Much faster than ast.walk: this is where a translation spends much of its time.
    """
    found = [*nodes]
    for node in found:
        kind = type(node)
        if kind is not ast.Name and kind is not ast.Constant:
            add_parts(node, kind, found)
    return found


def parts_of(node: ast.AST) -> list[ast.AST]:
    """Those right below it."""
    found: list[ast.AST] = []
    add_parts(node, type(node), found)
    return found


def add_parts(node: ast.AST, kind: type[ast.AST], found: list[ast.AST]) -> None:
    """Those right below a node of this kind."""
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields[kind] = tuple(f for f in kind._fields if f not in _NO_PARTS)
    for name in fields:
        value = getattr(node, name, None)
        if type(value) is not list:
            if isinstance(value, ast.AST):
                found.append(value)
        elif name in _MIXED:
            found += [x for x in value if isinstance(x, ast.AST)]
        else:
            found += value


_EXPRESSIONS: dict[type[ast.AST], str] = {
    ast.ListComp: "a list comprehension",
    ast.SetComp: "a set comprehension",
    ast.DictComp: "a dictionary comprehension",
    ast.GeneratorExp: "a generator expression",
}


def words_of(node: ast.AST) -> str:
    """What kind of expression it is."""
    return _EXPRESSIONS.get(type(node), f"an expression: {type(node).__name__}")


# Contexts, operators and words.
_NO_PARTS = {"arg", "attr", "conversion", "ctx", "id", "kind", "op", "ops", "type_comment"}
_MIXED = {"keys", "kw_defaults", "kwd_attrs", "names"}  # lists with other things than nodes
_fields: dict[type, tuple[str, ...]] = {}  # of a kind of node, those that may hold others


def assigned_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables that these statements may give a value. Those of a comprehension are its own."""
    found: set[str] = set()
    due = [*nodes]
    for node in due:
        if type(node) is ast.Name:
            if type(node.ctx) is not ast.Load:
                found.add(node.id)
        elif type(node) is ast.comprehension:
            due += [node.iter, *node.ifs]
        elif type(node) is not ast.Constant:
            add_parts(node, type(node), due)
    return found


def attribute_chain(node: ast.expr) -> tuple[ast.expr, list[ast.Attribute]]:
    """What stands before the first dot, and the attributes behind it."""
    nodes: list[ast.Attribute] = []
    while isinstance(node, ast.Attribute):
        nodes.insert(0, node)
        node = node.value
    return node, nodes


def over_name(node: ast.For, name: str) -> ast.For:
    """The same loop over what has this name. Its statements are those of the other."""
    iterable = ast.copy_location(ast.Name(name, ast.Load()), node.iter)
    return ast.copy_location(ast.For(node.target, iterable, node.body, node.orelse), node)


def callees_of(nodes: Iterable[ast.AST]) -> list[str]:
    """What these nodes of a nest call by a name, or by names with dots between."""
    calls = (part.func for part in nodes if isinstance(part, ast.Call))
    return [*dict.fromkeys(path for callee in calls if (path := path_of(callee)))]


def path_of(node: ast.expr) -> str:
    """A name, or names with dots between; "": something else."""
    if isinstance(node, ast.Attribute):
        owner = path_of(node.value)
        return owner and f"{owner}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


# Where a node has a name.
_NAMED: dict[type, str] = {
    ast.Attribute: "attr",
    ast.Name: "id",
    ast.arg: "arg",
    ast.keyword: "arg",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.ExceptHandler: "name",
    ast.alias: "name",
}


def mangle(nodes: Iterable[ast.AST], owner: str) -> bool:
    """Gives private names (`__x`) what their class makes of them (`_C__x`).

    owner: the class. False: there are some, and it is not known what they are.
    """
    private = [(node, field) for node in nodes if (field := _private_field(node))]
    owner = owner.lstrip("_")
    if private and not owner or any(field == "name" for _, field in private):
        return False
    for node, field in private:
        setattr(node, field, f"_{owner}{getattr(node, field)}")
    return True


def _private_field(node: ast.AST) -> str | None:
    field = _NAMED.get(type(node))
    name = getattr(node, field) if field is not None else None
    is_private = name is not None and name.startswith("__") and not name.endswith("__")
    return field if is_private else None


def owner_of(function: types.FunctionType) -> str:
    """The class in whose body a function stands; "": none."""
    names = function.__qualname__.split(".")
    return names[-2] if len(names) > 1 and names[-2] != "<locals>" else ""


def copied(x: Any) -> Any:
    """A copy of a tree."""
    if isinstance(x, list):
        return [copied(y) if isinstance(y, ast.AST) else y for y in x]
    if not x._fields and not x.__dict__:
        return x  # a context or an operator: one for all
    made = ast.AST.__new__(type(x))  # without __init__, which asks for all fields from 3.13 on
    own = made.__dict__
    for name, value in x.__dict__.items():
        own[name] = copied(value) if isinstance(value, (ast.AST, list)) else value
    return made
