"""_teams.py: teams of several threads that meet: kernels with team_barrier() or scratch memory.

A point of such a kernel is a team. Its statements are cut into *phases*: what all threads do in the
same way (a number that is the same for all, a scratch view, a nested launch over the team, a loop
with a barrier inside) is done once; all else is done thread after thread, in a loop over their
numbers. A cut is one more barrier, which a program whose threads meet at all of them cannot notice.
What a thread keeps in a variable from phase to phase is held in an array of (team, thread), or
computed anew where it follows from the thread's number. So is what it adds to an accumulator: the
team's sum is that of its threads' sums, in their order.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from frit import numpy as lazy
from frit.pykokkos import _intrinsics, _policies
from frit.translate import Scope, Walker
from frit.translate.flow import may_leave
from frit.translate.rules import INTEGERS
from frit.translate.scope import assigned_names
from frit.translate.values import LocalArray, Marker, Number, Place, Struct, ViewPart

_BARRIER = "team_barrier"
_SCRATCH = ("team_scratch", "thread_scratch")
# What each thread does by itself, though nothing in it differs between them.
_OWN = ("team_rank", "ThreadVectorRange", "PerThread", "printf", "rand")
_NESTED = ("parallel_for", "parallel_reduce", "parallel_scan", "single")
_NUMBERS = ("team_rank", "team_size", "league_rank", "league_size", "extent", "int")


def meets(node: ast.AST) -> bool:
    """Whether the threads of a team share more than the launch's views."""
    return any(_called(inner) in (_BARRIER, *_SCRATCH) for inner in ast.walk(node))


def _called(node: ast.AST) -> str:
    """The last name of what is called; "": it is no call."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_barrier(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and _called(statement.value) == _BARRIER


def _has_barrier(statement: ast.stmt) -> bool:
    return any(_called(inner) == _BARRIER for inner in ast.walk(statement))


def _names(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id


def _assignment(statement: ast.stmt) -> tuple[list[str], ast.expr] | None:
    """The variables that a plain assignment gives one value, and the value."""
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
        targets = [statement.target]
    else:
        return None
    if not all(isinstance(target, ast.Name) for target in targets):
        return None
    return [target.id for target in targets if isinstance(target, ast.Name)], statement.value


class _Phases:
    """What of a kernel's body is the team's, and what is each thread's."""

    def __init__(self, body: Sequence[ast.stmt], parameters: set[str], own: set[str]) -> None:
        self.parameters = parameters
        self.accumulators = own
        self.functions = {s.name: s for s in body if isinstance(s, ast.FunctionDef)}
        self.varying: set[str] = set()
        self.ranks: set[str] = set()  # names of the thread's number
        self.counts: dict[str, int] = {}  # assignments, of each name
        for inner in (inner for s in body for inner in ast.walk(s)):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                self.counts[inner.id] = self.counts.get(inner.id, 0) + 1
        for statement in body:
            found = _assignment(statement)
            if found and len(found[0]) == 1 and self.counts[found[0][0]] == 1:
                self.ranks |= {name for name in found[0] if _called(found[1]) == "team_rank"}
        known = -1
        while known != len(self.varying):
            known = len(self.varying)
            for group in self.groups(body):
                self.varying |= assigned_names(group) - self.accumulators
        self.recomputed: dict[str, ast.stmt] = {}
        for statement in body:
            self.find_recomputed(statement)
        self.kept = self.find_kept(body)

    def names(self, node: ast.AST) -> set[str]:
        """The names in it, and in the functions that it names."""
        found, todo = set(), [node]
        while todo:
            for name in _names(todo.pop()):
                if name not in found and name in self.functions:
                    todo.append(self.functions[name])
                found.add(name)
        return found

    def varies(self, node: ast.AST) -> bool:
        """Whether threads differ in it, or each of them does it by itself."""
        names = self.names(node)
        if names & self.varying:
            return True
        nodes = [node, *(self.functions[name] for name in names & self.functions.keys())]
        return any(
            attribute in _OWN or attribute.startswith("atomic_")
            for outer in nodes
            for inner in ast.walk(outer)
            for attribute in [getattr(inner, "attr", getattr(inner, "id", ""))]
            if isinstance(attribute, str)
        )

    def is_of_team(self, statement: ast.stmt) -> bool:
        """Whether it is done once for the team. (Of a statement with a barrier: its control.)"""
        if isinstance(statement, ast.FunctionDef) or _is_barrier(statement):
            return True
        if _has_barrier(statement):
            return True
        if isinstance(statement, ast.Expr):
            if isinstance(statement.value, ast.Constant):
                return True
            return self.is_launch(statement.value)
        assignment = _assignment(statement)
        if assignment is None:
            return isinstance(statement, (ast.Pass, ast.AnnAssign, ast.Return))
        names, value = assignment
        return not set(names) & (self.varying | self.accumulators) and (
            not self.varies(value) or self.is_launch(value)
        )

    def is_launch(self, value: ast.expr) -> bool:
        """A launch over the team, whose points are shared out and not repeated."""
        if _called(value) not in _NESTED or self.names(value) & self.varying:
            return False
        inside = [value, *(self.functions[n] for n in self.names(value) & self.functions.keys())]
        return not any(
            getattr(inner, "attr", getattr(inner, "id", "")) in _OWN
            for outer in inside
            for inner in ast.walk(outer)
        )

    def one_thread(self, statement: ast.stmt) -> ast.expr | None:
        """The number of the one thread that does it: `if team_rank() == number`."""
        if not isinstance(statement, ast.If) or statement.orelse:
            return None
        test = statement.test
        if not isinstance(test, ast.Compare) or [type(op) for op in test.ops] != [ast.Eq]:
            return None
        for rank, number in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            is_rank = isinstance(rank, ast.Name) and rank.id in self.ranks
            if (is_rank or _called(rank) == "team_rank") and not self.varies(number):
                return number
        return None

    def groups(self, body: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
        """The lists of statements that threads do one after another, or that one thread does."""
        group: list[ast.stmt] = []
        for statement in body:
            if not self.is_of_team(statement):
                if self.one_thread(statement) is not None:
                    if group:
                        yield group
                    yield [statement]
                    group = []
                    continue
                group.append(statement)
                continue
            if group:
                yield group
                group = []
            if _has_barrier(statement) and not isinstance(statement, ast.FunctionDef):
                for block in ("body", "orelse"):
                    yield from self.groups(getattr(statement, block, ()))
        if group:
            yield group

    def find_recomputed(self, statement: ast.stmt) -> None:
        """A variable that follows from the thread's number and what never changes."""
        assignment = _assignment(statement)
        if assignment is None or isinstance(statement, ast.AugAssign):
            return
        names, value = assignment
        if len(names) != 1 or names[0] not in self.varying or self.counts[names[0]] != 1:
            return
        for inner in ast.walk(value):
            if isinstance(inner, ast.Call):
                if _called(inner) not in _NUMBERS:
                    return
            elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
                changes = self.counts.get(inner.id, 0)
                fixed = changes == 0 or (changes == 1 and inner.id not in self.parameters)
                if not fixed or inner.id in self.varying and inner.id not in self.recomputed:
                    return
            elif not isinstance(
                inner,
                (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Attribute,
                 ast.expr_context),
            ):  # fmt: skip
                return
        self.recomputed[names[0]] = statement

    def find_kept(self, body: Sequence[ast.stmt]) -> set[str]:
        """The variables of a thread that live from one phase to another."""
        groups = list(self.groups(body))
        uses: dict[str, int] = {}
        for group in groups:
            for name in {name for statement in group for name in self.names(statement)}:
                uses[name] = uses.get(name, 0) + 1
        self.once = {name for name, count in uses.items() if count == 1}
        several = uses.keys() - self.once
        # A phase inside of a loop may find what it has left there the round before.
        for statement in body:
            if isinstance(statement, (ast.For, ast.While, ast.If)) and _has_barrier(statement):
                for group in self.groups([statement]):
                    several |= {name for name in uses if not self.begins_with(group, name)}
        return (several & self.varying) - self.recomputed.keys()

    def begins_with(self, group: list[ast.stmt], name: str) -> bool:
        """Whether its first use in the group, if there is one, gives it a value."""
        for statement in group:
            if name in self.names(statement):
                if isinstance(statement, ast.For):
                    target = statement.target
                    return isinstance(target, ast.Name) and target.id == name
                found = _assignment(statement)
                return bool(
                    found
                    and not isinstance(statement, ast.AugAssign)
                    and name in found[0]
                    and name not in self.names(found[1])
                )
        return True


class TeamWalker(Walker):
    """Translates the body of a kernel whose threads meet; functions inside as Walker does."""

    hidden: list[Any]
    phases: _Phases
    team_scope: Scope
    team_name: str
    team: Marker  # of the whole team: what its thread's number is, is not asked
    arrays: dict[str, int]  # by kept variable or accumulator: its hidden parameter
    sums: dict[str, Place]  # the accumulators that are sums
    writes_first: set[str]  # those of which each thread's number is written before it is read
    is_thread = False
    rounds = 0  # loops around, that threads go through together
    depth = 0  # statements around

    def begin_team(
        self,
        node: ast.FunctionDef,
        scope: Scope,
        name: str,
        team: Marker,
        accumulators: dict[str, Place | None],
    ) -> None:
        """accumulators: the variables of those that are sums."""
        parameters = {argument.arg for argument in node.args.args}
        self.phases = _Phases(node.body, parameters, set(accumulators))
        scope.several |= self.phases.kept
        self.team_scope, self.team_name, self.team, self.arrays = scope, name, team, {}
        scope.variables[name] = team
        self.writes_first = set()
        self.sums = {n: place for n, place in accumulators.items() if place is not None}
        last = node.body[-1]
        for inner in ast.walk(node):
            if isinstance(inner, ast.Nonlocal) and not accumulators.keys() >= set(inner.names):
                raise self.refuse(
                    inner,
                    f"nonlocal {inner.names[0]} where threads of a team meet",
                    "store into a scratch view",
                )
        for statement in node.body:
            ends = statement is last and isinstance(last, ast.Return) and last.value is None
            if may_leave(statement, (ast.Return,)) and not ends:
                raise self.refuse(
                    statement, "return where threads of a team meet", "put the rest into an if"
                )

    def statements(self, body: list[ast.stmt]) -> None:
        if self.is_thread or self.scope is not self.team_scope:
            super().statements(body)
            return
        group: list[ast.stmt] = []
        for statement in body:
            if not self.phases.is_of_team(statement):
                if (number := self.phases.one_thread(statement)) is not None:
                    self.threads(group)
                    self.one_thread(statement, number)
                    group = []
                    continue
                group.append(statement)
                continue
            self.threads(group)
            group = []
            self.check_control(statement)
            self.depth += 1
            self.rounds += isinstance(statement, (ast.For, ast.While))
            self.statement(statement)
            self.rounds -= isinstance(statement, (ast.For, ast.While))
            self.depth -= 1
        self.threads(group)

    def check_control(self, statement: ast.stmt) -> None:
        """All threads must come to a barrier, or none."""
        alone = isinstance(statement, ast.FunctionDef) or _is_barrier(statement)
        if alone or not _has_barrier(statement):
            return
        if isinstance(statement, (ast.If, ast.While)):
            control: ast.expr = statement.test
        elif isinstance(statement, ast.For):
            control = statement.iter
        else:
            raise self.refuse(statement, "team_barrier() in this statement", "let it stand alone")
        if self.phases.varies(control):
            raise self.refuse(
                statement,
                "team_barrier() where threads of a team go different ways",
                "put it behind the if, or give the loop the same rounds in all threads",
            )
        for inner in statement.body:
            if may_leave(inner, (ast.Break, ast.Continue)):
                raise self.refuse(inner, "break or continue around a team_barrier()", "use an if")

    def threads(self, group: list[ast.stmt]) -> None:
        """These statements, thread after thread."""
        if not group:
            return
        self.check_objects(group)
        self.over_threads(lambda index: self.thread_with_sums(group, index))

    def over_threads(self, body: Callable[[int], None]) -> None:
        size = self.convert(self.team.data[2], "l")
        self.writer.loop(self.constant(0, "l").id, size.id, self.wrapped(body))

    def thread_with_sums(self, group: list[ast.stmt], index: int) -> None:
        """What the thread does; what it adds to accumulators is its own."""
        used = {name for statement in group for name in self.phases.names(statement)}
        variables = self.team_scope.variables
        totals = {name: self.sums[name] for name in sorted(used & self.sums.keys())}
        for name, total in totals.items():
            variables[name] = own = self.local_place(total.dtype)
            if name in self.phases.once and not self.depth:
                self.writes_first.add(name)
                self.write(own, self.constant(0, total.dtype))
            else:
                self.write(own, self.load(self.element(name, total.dtype, index)))
        self.thread(group, index)
        for name, total in totals.items():
            own = variables[name]
            self.store(group[0], self.element(name, total.dtype, index), self.read(own))
            variables[name] = total

    def end_team(self) -> None:
        """Adds up the threads' sums."""
        for name, total in self.sums.items():
            if name in self.arrays:
                self.over_threads(
                    lambda index, name=name, total=total: self.add(name, total, index)
                )

    def add(self, name: str, total: Place, index: int) -> None:
        own = self.load(self.element(name, total.dtype, index))
        self.write(total, self.apply("Add", self.read(total), own))

    def one_thread(self, statement: ast.stmt, number: ast.expr) -> None:
        """This statement, in the thread with the number, if there is one."""
        found = self.number(self.expression(number), number)
        if found.dtype not in INTEGERS:
            self.threads([statement])
            return
        self.check_objects([statement])
        rank = self.convert(found, "l")
        first = self.apply("GreaterEqual", rank, self.constant(0, "l"))
        last = self.apply("Less", rank, self.convert(self.team.data[2], "l"))
        there = self.apply("LogicalAnd", first, last)
        self.branch(there, lambda: self.thread([statement], rank.id), None)

    def thread(self, group: list[ast.stmt], index: int) -> None:
        """What the thread with this number does."""
        used = {name for statement in group for name in self.phases.names(statement)}
        league, _, size, league_size = self.team.data
        rank = self.convert(Number(index, "l"), "i")
        self.is_thread = True
        self.team_scope.variables[self.team_name] = Marker(
            "team", (league, rank, size, league_size)
        )
        for statement in self.recomputed(used):
            if statement not in group:
                self.statement(statement)
        kept = sorted(used & self.phases.kept)
        known = {name for name in kept if self.held_place(name) is not None}
        for name in kept:
            place = self.held_place(name)
            if isinstance(place, Place):
                self.write(place, self.load(self.element(name, place.dtype, index)))
        Walker.statements(self, group)
        for name in kept:
            place = self.team_scope.variables.get(name)
            if not isinstance(place, Place):
                raise self.refuse(
                    group[0],
                    f"'{name}' of a thread on both sides of a team_barrier()",
                    "keep numbers only, or make it again behind the barrier",
                )
            if name not in known and self.rounds:
                # The next round of the loop begins with what this one leaves.
                self.knowledge.need_place(self.team_scope.key(name), place.dtype)
            self.store(group[0], self.element(name, place.dtype, index), self.read(place))
        self.is_thread = False
        self.team_scope.variables[self.team_name] = self.team

    def held_place(self, name: str) -> Any:
        scope = self.team_scope
        dtype = self.knowledge.places.get(scope.key(name))
        if name not in scope.variables and dtype and self.rounds:
            scope.variables[name] = self.local_place(dtype)
        return scope.variables.get(name)

    def check_objects(self, group: list[ast.stmt]) -> None:
        """What threads change of an object must be an object of their own."""
        for statement in group:
            for inner in ast.walk(statement):
                owner = getattr(inner, "value", None)
                if not isinstance(inner, (ast.Attribute, ast.Subscript)):
                    continue
                held = (
                    self.team_scope.variables.get(owner.id) if isinstance(owner, ast.Name) else None
                )
                changes = isinstance(inner.ctx, ast.Store) or isinstance(inner, ast.Attribute)
                if isinstance(held, (Struct, LocalArray)) and changes:
                    raise self.refuse(
                        inner,
                        f"a change of '{ast.unparse(owner)}' by threads that meet",
                        "make it where it is used, or use a scratch view",
                    )

    def recomputed(self, used: set[str]) -> list[ast.stmt]:
        """What the names follow from, in the order of the body."""
        wanted = set(used)
        for name, statement in reversed(self.phases.recomputed.items()):
            if name in wanted:
                wanted |= set(_names(statement))
        return [s for name, s in self.phases.recomputed.items() if name in wanted]

    def element(self, name: str, dtype: str, index: int) -> ViewPart:
        if name not in self.arrays:
            made = lazy.empty if name in self.writes_first else lazy.zeros
            self.arrays[name] = _intrinsics.hidden_parameter(
                self, dtype, 2, name, lambda launch: _own_numbers(launch, dtype, made)
            )
        league = self.convert(self.team.data[0], "l")
        return ViewPart(self.arrays[name], dtype, (league, Number(index, "l")), name)


def _own_numbers(launch: _intrinsics.Launch, dtype: str, made: Callable[..., Any]) -> Any:
    return made(_policies.extents(launch.policy), dtype)
