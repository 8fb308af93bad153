"""generated.py: sum(x for x in ..): the loop that it is, with variables of its own."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import Any

from frit.loops.names import assigned_names, copied
from frit.loops.nest.forms import Form
from frit.loops.nest.values import Refused, Value


class Generated:
    """Mixed into NestWriter."""

    assign_variable: Any
    bound: dict[str, Any]
    frames: list[Any]
    knowledge: Any
    literal: Any
    read_variable: Any
    require_rounds: Any
    signs_now: Any
    statement: Any

    def sum_of_generated(self, node: ast.Call, made: ast.GeneratorExp | ast.ListComp) -> Value:
        """A list in the place of the generator gives the same: nothing looks at it."""
        path = f"@{node.lineno}.{node.col_offset}{self.frames[-1].path}"
        total, one = "sum" + path, "one" + path
        own = {n for part in made.generators for n in assigned_names([part.target])}
        rename = _Renaming(own, path)
        item = ast.Assign([ast.Name(one, ast.Store())], rename.visit(copied(made.elt)))
        add = ast.AugAssign(ast.Name(total, ast.Store()), ast.Add(), ast.Name(one, ast.Load()))
        body: list[ast.stmt] = [item, add]
        for number, part in reversed([*enumerate(made.generators)]):
            if part.is_async:
                raise Refused(node, "an asynchronous generator")
            for test in reversed(part.ifs):
                body = [ast.If(rename.visit(copied(test)), body, [])]
            over = copied(part.iter)
            if number:  # the first one is read outside
                over = rename.visit(over)
            body = [ast.For(rename.visit(copied(part.target)), over, body, [])]
        loop: Any = body[0]
        for part in ast.walk(loop):
            if "lineno" not in part.__dict__:
                ast.copy_location(part, node)
        self.assign_variable(node, total, self.literal(node, 0))
        self.statement(loop)
        value: Value = self.read_variable(node, total)
        if value.kind == "float" and sys.version_info >= (3, 12):
            raise Refused(node, "sum() of floats, which Python compensates")
        if not value.mixed:
            return value
        # Of no numbers it is 0, of Python's.
        rounds = self.bound[next(iter(assigned_names([loop.target])))]
        is_plain = len(made.generators) == 1 and not made.generators[0].ifs
        if not is_plain or len(self.knowledge.kinds[one]) > 1 or not self.go_round_now(rounds):
            return value
        self.require_rounds(rounds)
        return Value(value.kind, value.id)

    def go_round_now(self, loops: Sequence[tuple[Form, Form]]) -> bool:
        """Whether these ranges are not empty at this call."""
        signs = [self.signs_now(end - begin) for begin, end in loops]
        return all(found is not None and found[0] > 0 for found in signs)


def generated_in(node: ast.Call) -> ast.GeneratorExp | ast.ListComp | None:
    """What a call has as its one argument."""
    argument = node.args[0] if len(node.args) == 1 and not node.keywords else None
    return argument if isinstance(argument, (ast.GeneratorExp, ast.ListComp)) else None


class _Renaming(ast.NodeTransformer):
    def __init__(self, own: set[str], path: str) -> None:
        self.own, self.path = own, path

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id not in self.own:
            return node
        return ast.copy_location(ast.Name(node.id + self.path, node.ctx), node)
