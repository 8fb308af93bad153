"""attributes.py: attributes of plain objects as variables of a nest: `self.n`, `self.grid.u[i]`.

Nothing in a nest runs code of the program's, so an attribute that is found as Python's own objects
find theirs (no property, no __getattr__) has one value unless the nest assigns it. It is read
before the nest and stored behind it. The nest's copy has a variable for it, named `self·n`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from frit.loops.names import assigned_names, copied, nodes_in

DOT = "·"  # a letter of Python's names that no program has
Path = tuple[str, tuple[str, ...]]  # a variable and the attributes behind it


class Attributes:
    """Of the objects that some variables of a nest are.

    node: the nest with variables in their places; paths: what those are; stored: whose variables
    the nest assigns, all of them right below the one object.
    """

    def __init__(self, core: Any, node: ast.For, paths: dict[str, Path], stored: list[str]) -> None:
        self.core = core
        self.node = node
        self.names = [*paths]
        self.roots = [*dict.fromkeys(root for root, _ in paths.values())]
        self.paths = tuple((self.roots.index(root), *path) for root, path in paths.values())
        self.stored = stored
        self.stored_names = tuple(paths[name][1][0] for name in stored)

    def values(self, objects: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Of the objects, one a root; None: one is no plain attribute now."""
        for name in self.stored_names:
            if not self.core.is_plain_store(objects[0], name):
                return None
        found: tuple[Any, ...] | None = self.core.plain_attributes(objects, self.paths)
        return found

    def store(self, objects: tuple[Any, ...], values: tuple[Any, ...]) -> None:
        for name, value in zip(self.stored_names, values, strict=True):
            setattr(objects[0], name, value)


def attributes_of(
    core: Any, node: ast.For, given: dict[str, Any], may_end: Callable[[Any], bool]
) -> Attributes | None:
    """Those of the given variables that are objects, if they are only there for their attributes.

    may_end: whether a value is no object whose attributes are asked for. Raises NotPlain.
    """
    bases, others = uses_of(node)
    roots = {n: v for n, v in given.items() if n in bases - others and not may_end(v)}
    if not roots:
        return None
    replace = _Replace(core, roots, may_end)
    made = replace.visit(copied(node))
    stored = sorted(assigned_names([made]) & replace.paths.keys())
    one_object = len(roots) == 1 and all(len(path) == 1 for _, path in replace.paths.values())
    if stored and not one_object:
        return None  # another path may lead to what is stored
    return Attributes(core, made, replace.paths, stored)


class NotPlain(Exception):
    """An attribute that is not found as those of Python's own objects: its name."""


def uses_of(node: ast.For) -> tuple[set[str], set[str]]:
    """Variables that stand before a dot, and those that stand anywhere else."""
    bases: set[str] = set()
    below: set[int] = set()
    others: set[str] = set()
    for part in nodes_in([node]):  # those that stand less deep first
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            bases.add(part.value.id)
            below.add(id(part.value))
        elif isinstance(part, ast.Name) and id(part) not in below:
            others.add(part.id)
    return bases, others


class _Replace(ast.NodeTransformer):
    def __init__(self, core: Any, roots: dict[str, Any], may_end: Callable[[Any], bool]) -> None:
        self.core = core
        self.roots = roots
        self.may_end = may_end
        self.paths: dict[str, Path] = {}

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        nodes: list[ast.Attribute] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            nodes.insert(0, base)
            base = base.value
        if not isinstance(base, ast.Name) or base.id not in self.roots:
            self.generic_visit(node)
            return node
        value, path = self.roots[base.id], []
        for part in nodes:
            found = self.core.plain_attributes((value,), ((0, part.attr),))
            if found is None:
                raise NotPlain(".".join([base.id, *path, part.attr]))
            value = found[0]
            path.append(part.attr)
            if self.may_end(value):
                break
        name = DOT.join([base.id, *path])
        self.paths[name] = base.id, tuple(path)
        last = nodes[len(path) - 1]
        made = ast.copy_location(ast.Name(name, last.ctx), last)
        if last is node:
            return made
        nodes[len(path)].value = made
        return node
