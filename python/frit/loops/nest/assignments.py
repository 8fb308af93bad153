"""assignments.py: statements that give variables and elements of arrays their values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from frit.loops.nest.small_arrays import whole_of
from frit.loops.nest.values import (
    Flat,
    Item,
    ListPart,
    Refused,
    Row,
    SmallArray,
    SmallPart,
    Value,
    View,
)
from frit.loops.nest.views import number_itself


def _as_statement(node: ast.Assign) -> ast.If | None:
    """s = x if test else s: an `if` whose other part is empty. So s keeps what type it has."""
    value, target = node.value, node.targets[0]
    if not isinstance(value, ast.IfExp) or len(node.targets) > 1:
        return None
    parts: list[list[ast.stmt]] = []
    for arm in (value.body, value.orelse):
        is_kept = isinstance(target, ast.Name) and isinstance(arm, ast.Name) and arm.id == target.id
        part = ast.Pass() if is_kept else ast.Assign([target], arm)
        parts.append([ast.copy_location(part, node)])
    if not any(isinstance(part, ast.Pass) for [part] in parts):
        return None
    return ast.copy_location(ast.If(value.test, *parts), node)


class Assignments:
    """Mixed into NestWriter."""

    change_small: Any
    do_If: Any
    hold_rows_if: Any
    small_part: Any
    update_small: Any
    arrays: dict[str, View]
    assign_part: Any
    assign_variable: Any
    binary: Any
    first_of: Any
    flat_part: Any
    first_of_list: Any
    load: Any
    load_item: Any
    part_of_list: Any
    store_item: Any
    number: Any
    operand: Any
    part: Any
    read_variable: Any
    require: Any
    store: Any
    store_row: Any
    exchange: Any
    update_row: Any

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.operand(node.value)
        elif not isinstance(node.value, ast.Constant):
            raise Refused(node, "an expression whose value is not used")

    def do_Assign(self, node: ast.Assign) -> None:
        choice = _as_statement(node)
        if choice is not None:
            self.read_variable(node, node.targets[0].id)  # it has a value
            self.do_If(choice)
            return
        if self.exchange(node):
            return
        item = self.operand(node.value)
        for target in node.targets:
            self.assign_item(target, item)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise Refused(node, "an annotation")
        self.assign_item(node.target, self.operand(node.value))

    def assign_item(self, target: ast.expr, item: Item) -> None:
        if isinstance(target, ast.Name):
            if isinstance(item, Value):
                self.assign_variable(target, target.id, item)
            else:
                self.assign_part(target, target.id, item)
        elif isinstance(target, ast.Subscript):
            view = self.place(target)
            if isinstance(view, SmallPart):
                self.change_small(target, target.value, view, item)
            elif isinstance(view, ListPart):
                self.store_item(target, view, item)
            elif view.spans:
                self.store_row(target, view, item)
            elif isinstance(item, Value):
                self.store(target, view, item)
            else:
                raise Refused(target, "this into an element")
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = self.items_of(target, item, len(target.elts))
            for one, part in zip(target.elts, parts, strict=True):
                self.assign_item(one, part)
        else:
            raise Refused(target, "an assignment to this")

    def items_of(self, node: ast.expr, item: Item, count: int) -> Sequence[Item]:
        """What is unpacked."""
        if isinstance(item, ListPart):
            extent = item.view.spans[0].extent
            self.require(extent.form, count, count)
            numbers = map(number_itself, range(count))
            return [self.first_of_list(node, item, number) for number in numbers]
        if isinstance(item, View) and item.spans:
            extent = item.spans[0].extent
            self.require(extent.form, count, count)
            parts: list[Item] = []
            for number in range(count):
                part = self.first_of(item, number_itself(number))
                parts.append(part if part.spans else self.load(node, part))
            return parts
        if isinstance(item, SmallArray) and item.shape == (count,):
            return item.items
        if not isinstance(item, tuple) or len(item) != count:
            raise Refused(node, f"{count} variables for this")
        return item

    def place(self, node: ast.Subscript) -> View | ListPart | SmallPart:
        owner = self.operand(node.value)
        if isinstance(owner, SmallArray):
            found: SmallPart = self.small_part(node, owner)
            return found
        self.hold_rows_if(isinstance(owner, Row))
        if isinstance(owner, ListPart):
            part: ListPart = self.part_of_list(node, owner)
            return part
        if isinstance(owner, Flat):
            element: View = self.flat_part(node, owner.view)
            return element
        if not isinstance(owner, View) or not owner.spans:
            raise Refused(node, "an element of something else than an array")
        view: View = self.part(node, owner)
        return view

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            name = node.target.id
            old = self.arrays.get(name) or self.read_variable(node.target, name)
            if isinstance(old, View):
                self.update_row(node, node.op, old, self.operand(node.value))
                return
            if isinstance(old, SmallArray):
                self.update_small(node, node.target, whole_of(old))
                return
            self.hold_rows_if(isinstance(old, Row))
            if not isinstance(old, Value):
                raise Refused(node, "this operator")
            new = self.binary(node, node.op, old, self.number(node.value))
            self.assign_variable(node, name, new)
            return
        if not isinstance(node.target, ast.Subscript):
            raise Refused(node, "an assignment to this")
        view = self.place(node.target)
        if isinstance(view, SmallPart):
            self.update_small(node, node.target.value, view)
            return
        if isinstance(view, ListPart):
            if view.view.spans:
                raise Refused(node, "this operator")
            old = self.load_item(node.target, view)
            if not isinstance(old, Value):
                raise Refused(node, "this operator")
            new = self.binary(node, node.op, old, self.number(node.value))
            self.store_item(node.target, view, new)
            return
        if view.spans:
            self.update_row(node, node.op, view, self.operand(node.value))
            return
        old = self.load(node.target, view)
        new = self.binary(node, node.op, old, self.number(node.value))
        self.store(node.target, view, new)
