"""_scans.py: scans whose points have much to do: all of it at once but the sum itself.

A scan runs point after point, so that its float sums are rounded as the plain program rounds them.
Where the body is long the sum is the least of it, and the launch becomes three: what each point
adds (independent points); the sums before each point, one after another; the rest of the body, with
the sum that its point has. Nothing is added in another order, so the bits are the same.

That holds where what is added follows from nothing that the scan has summed or stored: there is
one `acc += ..`, in no loop; else the sum is named under `if last_pass` only, where all stores
stand; and no array that the first launch reads shares memory with one that the last writes, but
where each point reads only its own element of it, and writes that only behind `acc += ..`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from frit import _core
from frit import numpy as lazy
from frit.pykokkos import _policies
from frit.translate import Scope, Walker
from frit.translate.values import Number, Place, ViewPart

# Functions that cost about what an addition does.
_CHEAP = frozenset(["abs", "fabs", "fmin", "fmax", "floor", "ceil", "trunc", "rint", "round"])
FEW_POINTS = 2048  # with no more three launches cost more than they save
WHOLE, FIRST, LAST = range(3)  # what of a scan a kernel does
HIDDEN = -1  # the slot of the array that is made for the launch


def update_of(node: ast.AST, total: str, flag: str) -> ast.AugAssign | None:
    """The one statement that adds to the sum; None: what is added may follow from the sum."""
    if not isinstance(node, ast.FunctionDef):
        return None
    found: list[ast.AugAssign] = []

    def is_plain(statement: ast.stmt, in_loop: bool) -> bool:
        if isinstance(statement, ast.If):
            if _asks_first(statement.test, flag):
                is_known = isinstance(statement.test, ast.Name)
                return (
                    total not in _stored_names(statement.body)
                    and (is_known or not statement.orelse)
                    and are_plain(statement.orelse, in_loop)
                )
            return (
                total not in _names(statement.test)
                and are_plain(statement.body, in_loop)
                and are_plain(statement.orelse, in_loop)
            )
        if isinstance(statement, (ast.For, ast.While)):
            head = statement.iter if isinstance(statement, ast.For) else statement.test
            return total not in _names(head) and are_plain(statement.body, True)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            if statement.target.id == total:
                found.append(statement)
                is_sum = isinstance(statement.op, ast.Add) and not in_loop
                return is_sum and not _names(statement.value) & {total, flag}
        return not _names(statement) & {total, flag}

    def are_plain(statements: list[ast.stmt], in_loop: bool) -> bool:
        return all(is_plain(statement, in_loop) for statement in statements)

    return found[0] if are_plain(node.body, False) and len(found) == 1 else None


def _asks_first(test: ast.expr, flag: str) -> bool:
    """Whether it is the flag, or `flag and ..`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        test = test.values[0]
    return isinstance(test, ast.Name) and test.id == flag


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _stored_names(statements: list[ast.stmt]) -> set[str]:
    return {
        inner.id
        for statement in statements
        for inner in ast.walk(statement)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    }


class ScanWalker(Walker):
    """Translates a scan's body for its first or its last launch."""

    phase: int
    update: ast.AugAssign
    total: Place
    hidden_parameter: int  # what each point adds; or the sums, one more than there are points
    points: Scope  # of the body
    index_name: str  # the variable with the point's index
    elsewhere: set[int]  # parameters touched at more than the point's element, or too early
    is_updated = False
    is_costly = False
    is_exact = True  # what is added needs no rounding before it is added

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        if node is not self.update:
            return super().do_AugAssign(node)
        self.is_updated = True
        if self.phase == LAST:
            return self.write(self.total, self.sum_of_point(1))
        added, total = self.number(self.expression(node.value), node.value), self.total
        whole = total.dtype in "bBhHiIlL" and added.dtype in "?bBhHiIlL"
        self.is_exact &= whole or total.dtype == "d" or total.dtype == added.dtype == "f"
        self.write(total, added)

    def sum_of_point(self, behind: int) -> Number:
        """What has been summed before this point (0), or with it (1)."""
        index = self.apply("Add", Number(0, "l"), self.constant(behind, "l"))
        return self.load(ViewPart(self.hidden_parameter, self.total.dtype, (index,)))

    def load(self, part: ViewPart) -> Number:
        if part.axes != (self.points.variables.get(self.index_name),):
            self.elsewhere.add(part.parameter)
        return super().load(part)

    def store(self, node: ast.AST, part: ViewPart, value: Any) -> None:
        if part.axes != (self.points.variables.get(self.index_name),) or not self.is_updated:
            self.elsewhere.add(part.parameter)
        super().store(node, part, value)

    def begin_points(self, total: Place, index: str) -> None:
        self.total, self.index_name = total, index
        self.points, self.elsewhere = self.scope, set()
        self.hidden_parameter = self.writer.parameter(total.dtype, 1)
        self.environment.parameters.append(HIDDEN)
        self.environment.names.append("the sums of a scan")
        if self.phase == LAST:
            self.write(total, self.sum_of_point(0))

    def end_points(self) -> Part:
        if self.phase == FIRST:
            self.writer.store(self.hidden_parameter, [0], self.read(self.total).id, self.line)
        return Part(self, self.environment.parameters, self.environment.names)

    def call_function(self, node: ast.Call, name: str) -> Number:
        self.is_costly |= name not in _CHEAP
        return super().call_function(node, name)

    def do_For(self, node: ast.For) -> None:
        self.is_costly = True
        super().do_For(node)

    def do_While(self, node: ast.While) -> None:
        self.is_costly = True
        super().do_While(node)


@dataclass
class Part:
    """One of the launches, translated."""

    walker: ScanWalker
    parameters: list[int]
    names: list[str]

    def slots(self, touched: set[int]) -> set[int]:
        return {self.parameters[p] for p in touched if self.parameters[p] >= 0}

    def kernel(self, slots: int) -> Any:
        """Its hidden array comes behind all slots."""
        parameters = [p if p >= 0 else slots for p in self.parameters]
        return self.walker.writer.finish(parameters, self.names, self.walker.file)


def sums_kernel(dtype: str) -> Any:
    """sums[i + 1] = sums[i] + added[i], one after another; gives the last."""
    writer = _core.KernelWriter(0)
    added, sums = writer.parameter(dtype, 1), writer.parameter(dtype, 1)
    total = writer.local(dtype)  # begins at 0

    def step(index: int) -> None:
        value = writer.apply("Add", [writer.read_local(total), writer.load(added, [index], 0)])
        writer.write_local(total, writer.cast(value, dtype))
        one = writer.constant(1, "l")
        writer.store(sums, [writer.apply("Add", [index, one])], writer.read_local(total), 0)

    writer.loop(writer.argument(0, "l"), writer.argument(1, "l"), step, False)
    wide = {"b": "l", "h": "l", "i": "l", "B": "l", "H": "l", "I": "L"}.get(dtype, dtype)
    writer.reduce("Add", writer.cast(writer.read_local(total), wide))
    return writer.finish([0, 1], ["added", "sums"], "")


def runner(
    whole: Any, first: Part, last: Part, slots: int
) -> Callable[[Any, tuple[Any, ...], Any], Any] | None:
    """Launches the three, or `whole`; None: they are not worth it, or would not give the same."""
    walkers = first.walker, last.walker
    if first.walker.effects or not first.walker.is_exact:
        return None
    if not any(walker.is_costly for walker in walkers):
        return None
    elsewhere = first.slots(first.walker.elsewhere) | last.slots(last.walker.elsewhere)
    pairs = [
        (r, w)
        for r in first.slots(first.walker.loaded)
        for w in last.slots(last.walker.stored)
        if r != w or r in elsewhere
    ]
    dtype = first.walker.total.dtype
    kernels = first.kernel(slots), sums_kernel(dtype), last.kernel(slots)

    def run(policy: Any, values: tuple[Any, ...], initial: Any) -> Any:
        policy = _policies.RangePolicy(0, policy) if isinstance(policy, int) else policy
        (points,) = _policies.extents(policy)[:1]
        if points < FEW_POINTS or any(_share(values[r], values[w]) for r, w in pairs):
            return _core.launch_kernel(whole, policy, values, initial)
        added, sums = lazy.empty(points, dtype), lazy.zeros(points + 1, dtype)
        _core.launch_kernel(kernels[0], policy, (*values, added), None)
        every = _policies.RangePolicy(0, points)
        total = _core.launch_kernel(kernels[1], every, (added, sums), initial)
        _core.launch_kernel(kernels[2], policy, (*values, sums), None)
        return total

    return run


def _share(a: Any, b: Any) -> bool:
    if isinstance(a, _core.Scalar):
        return False
    a, b = (x._array if isinstance(x, _core.ViewBase) else x for x in (a, b))
    if isinstance(a, numpy.ndarray) and isinstance(b, numpy.ndarray):
        return bool(numpy.may_share_memory(a, b))
    return bool(_core.may_share_memory(a, b))
