"""nones.py: variables that a nest assigns, and that may be None: `if best is None or x < best:`.

The nest's copy has a second variable for each, `best?`, which says whether it is None: then the
first one has no value, and a round that uses it as a number is one in which Python raises.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeVar

from frit.loops.names import copied
from frit.loops.run.texts import NONE, NUMBER, is_of_none

Tree = TypeVar("Tree", bound=ast.AST)


def plainly_assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables that are assigned by `name = ..` and `name += ..` alone."""
    assigned: set[str] = set()
    others: dict[int, str] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            others[id(node)] = node.id
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AugAssign) else targets
        if len(targets) == 1 and (name := others.pop(id(targets[0]), None)) is not None:
            assigned.add(name)
    return assigned - {*others.values()}


def with_flags(tree: Tree, names: set[str]) -> Tree:
    made: Tree = ast.fix_missing_locations(_WithFlags(names).visit(copied(tree)))
    return made


class _WithFlags(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if not is_of_none(node) or getattr(node.left, "id", None) not in self.names:
            return self.generic_visit(node)  # type: ignore[return-value]
        flag: ast.expr = _flag(node.left.id)  # type: ignore[attr-defined]
        flag = ast.UnaryOp(ast.Not(), flag) if isinstance(node.ops[0], ast.IsNot) else flag
        return ast.copy_location(flag, node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names or not isinstance(node.ctx, ast.Load):
            return node
        function = ast.Name(NUMBER, ast.Load())
        return ast.copy_location(ast.Call(function, [node, _flag(node.id)], []), node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        target = node.targets[0]
        if not isinstance(target, ast.Name) or target.id not in self.names:
            return self.generic_visit(node)  # type: ignore[return-value]
        return self.assigned(node, target.id, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        name = getattr(node.target, "id", None)
        if name not in self.names:
            return self.generic_visit(node)  # type: ignore[return-value]
        old = ast.copy_location(ast.Name(name, ast.Load()), node.target)
        value = ast.BinOp(old, node.op, node.value)
        return self.assigned(node, name, ast.copy_location(value, node))

    def assigned(self, node: ast.stmt, name: str, value: ast.expr) -> list[ast.stmt]:
        if isinstance(value, ast.Constant) and value.value is None:
            return [_set(node, name, True)]
        if isinstance(value, ast.IfExp):
            parts = (self.assigned(node, name, x) for x in (value.body, value.orelse))
            return [ast.copy_location(ast.If(self.visit(value.test), *parts), node)]
        if isinstance(value, ast.Name) and value.id in self.names:
            given = _assign(node, name, value)
            branch = ast.If(
                _flag(value.id), [_set(node, name, True)], [given, _set(node, name, False)]
            )
            return [ast.copy_location(branch, node)] if value.id != name else [_pass(node)]
        return [_assign(node, name, self.visit(value)), _set(node, name, False)]


def _flag(name: str) -> ast.Name:
    return ast.Name(name + NONE, ast.Load())


def _set(node: ast.AST, name: str, is_none: bool) -> ast.stmt:
    return _assign(node, name + NONE, ast.Constant(is_none))


def _assign(node: ast.AST, name: str, value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)


def _pass(node: ast.AST) -> ast.stmt:
    return ast.copy_location(ast.Pass(), node)
