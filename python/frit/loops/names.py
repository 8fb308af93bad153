"""names.py: which variables statements assign, need and leave behind."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Sequence
from typing import Any

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


# What is no part of its own of an expression: contexts and operators.


def nodes_in(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """These and all below them, those that stand less deep first, without contexts and operators.

    Much faster than ast.walk: this is where a translation spends much of its time.
    """
    found = [*nodes]
    for node in found:
        kind = type(node)
        if kind is not ast.Name and kind is not ast.Constant:
            _add_parts(node, kind, found)
    return found


def parts_of(node: ast.AST) -> list[ast.AST]:
    """Those right below it."""
    found: list[ast.AST] = []
    _add_parts(node, type(node), found)
    return found


def _add_parts(node: ast.AST, kind: type[ast.AST], found: list[ast.AST]) -> None:
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


# Contexts, operators and words.
_NO_PARTS = {"arg", "attr", "conversion", "ctx", "id", "kind", "op", "ops", "type_comment"}
_MIXED = {"keys", "kw_defaults", "kwd_attrs", "names"}  # lists with other things than nodes
_fields: dict[type, tuple[str, ...]] = {}  # of a kind of node, those that may hold others


def assigned_names(nodes: Iterable[ast.AST], known: dict[int, set[str]] | None = None) -> set[str]:
    """Variables that these statements may give a value. known: those of some, by id().

    Those of a comprehension are its own.
    """
    found: set[str] = set()
    due = [*nodes]
    for node in due:
        if type(node) is ast.Name:
            if type(node.ctx) is not ast.Load:
                found.add(node.id)
        elif known is not None and id(node) in known:
            found |= known[id(node)]
        elif type(node) is ast.comprehension:
            due += [node.iter, *node.ifs]
        elif type(node) is not ast.Constant:
            due += parts_of(node)
    return found


def loaded_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables that these statements may read. Those of a comprehension are its own."""
    found = set()
    due = [*nodes]
    for node in due:
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is not ast.Store:
                found.add(node.id)
        elif kind in _COMPREHENSIONS:
            own = assigned_names([part.target for part in node.generators])
            found |= loaded_names(parts_of(node)) - own
            due.append(node.generators[0].iter)  # which is read outside of it
        elif kind is not ast.Constant:
            if kind is ast.AugAssign and type(node.target) is ast.Name:
                found.add(node.target.id)
            due += parts_of(node)
    return found


class Liveness:
    """Which variables may be read behind each For, before they are given another value."""

    def __init__(self, certain: set[int] | None = None) -> None:
        self.certain = certain or set()  # loops that go round once at least, by id() of the node
        self.behind: dict[int, set[str]] = {}  # by id() of the node
        self.loaded: dict[int, set[str]] = {}  # by id() of the node
        self.leaving: list[tuple[set[str], set[str]]] = []  # of the open loops: break, continue

    def loads(self, node: ast.AST) -> set[str]:
        found = self.loaded.get(id(node))
        if found is None:
            found = self.loaded[id(node)] = loaded_names([node])
        return found

    def of_body(self, body: Sequence[ast.stmt], behind: set[str]) -> set[str]:
        """What is read before it is assigned, by the statements and behind them."""
        live = set(behind)
        for node in reversed(body):
            live = self.of_statement(node, live)
        return live

    def of_statement(self, node: ast.stmt, behind: set[str]) -> set[str]:
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self.of_loop(node, behind)
        if isinstance(node, ast.If):
            taken = self.of_body(node.body, behind) | self.of_body(node.orelse, behind)
            return taken | self.loads(node.test)
        if isinstance(node, ast.Return):
            return self.loads(node)
        if isinstance(node, (ast.Break, ast.Continue)) and not self.leaving:
            return behind  # of a loop around what is looked at
        if isinstance(node, ast.Break):
            return set(self.leaving[-1][0])
        if isinstance(node, ast.Continue):
            return set(self.leaving[-1][1])
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            killed = set()
            if not isinstance(node, ast.AugAssign):
                for target in targets:
                    parts = target.elts if isinstance(target, ast.Tuple) else [target]
                    killed |= {t.id for t in parts if isinstance(t, ast.Name)}
            return (behind - killed) | self.loads(node)
        for child in _statements_in(node):
            # Whatever such a statement holds may be run next, from anywhere in it.
            self.of_statement(child, behind | self.loads(node))
        return behind | self.loads(node)

    def of_loop(self, node: ast.For | ast.AsyncFor | ast.While, behind: set[str]) -> set[str]:
        after = self.of_body(node.orelse, behind)
        head = self.loads(node.test if isinstance(node, ast.While) else node.iter)
        target = set() if isinstance(node, ast.While) else assigned_names([node.target])
        again = set(after)
        while True:
            self.leaving.append((behind, again))
            inside = self.of_body(node.body, again) - target
            self.leaving.pop()
            grown = again | inside | (head if isinstance(node, ast.While) else set())
            if grown == again:
                break
            again = grown
        self.behind[id(node)] = self.behind.get(id(node), set()) | behind
        return (inside if id(node) in self.certain else again) | head


def _statements_in(node: ast.AST) -> list[ast.stmt]:
    """Those of its bodies, handlers and cases."""
    found: list[ast.stmt] = []
    if isinstance(node, (ast.expr, ast.Expr)):
        return found
    for child in ast.iter_child_nodes(node):
        found += [child] if isinstance(child, ast.stmt) else _statements_in(child)
    return found


def needed_names(
    node: ast.For, outputs: set[str], loaded: dict[int, set[str]] | None = None
) -> set[str]:
    """Variables whose values before the loop matter. loaded: what earlier calls have found out."""
    liveness = Liveness()
    if loaded is not None:
        liveness.loaded = loaded
    return liveness.of_statement(node, outputs)


def attribute_chain(node: ast.expr) -> tuple[ast.expr, list[ast.Attribute]]:
    """What stands before the first dot, and the attributes behind it."""
    nodes: list[ast.Attribute] = []
    while isinstance(node, ast.Attribute):
        nodes.insert(0, node)
        node = node.value
    return node, nodes


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


def copied(x: Any, *, for_loops: bool = False) -> Any:
    """A copy of a tree. for_loops: each loop in it gets its own copy as `_original`."""
    if isinstance(x, list):
        return [copied(y, for_loops=for_loops) if isinstance(y, ast.AST) else y for y in x]
    if not x._fields and not x.__dict__:
        return x  # a context or an operator: one for all
    made = type(x)()
    own = made.__dict__
    for name, value in x.__dict__.items():
        if name != "_original":
            is_tree = isinstance(value, (ast.AST, list))
            own[name] = copied(value, for_loops=for_loops) if is_tree else value
    if for_loops and isinstance(x, (ast.For, ast.While)):
        x._original = made  # type: ignore[union-attr]
    return made
