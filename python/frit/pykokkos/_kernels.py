"""_kernels.py: from a function and the values of one launch to a kernel."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import Any

from frit import _core
from frit.pykokkos import _decorators, _intrinsics, _policies, _random, _scans, _teams
from frit.pykokkos._reducers import SUM, Extremes, Reducer, located, reducer_of
from frit.translate import (
    CRules,
    Environment,
    Knowledge,
    Restart,
    Scope,
    TranslationError,
    Walker,
    source_of,
)
from frit.translate.environment import KEYWORD, SELF
from frit.translate.values import Literal, Marker, Number, Object, Place

FOR, REDUCE, SCAN, FILL = range(4)  # FILL: a function of the index, into a view
RULES = CRules()
_VIEW = "view"  # FILL's argument

_LOGICAL = ("LogicalAnd", "LogicalOr")
_SUMS = ("Add", "Multiply")  # of integers: in 64 bits

_rows: dict[tuple[types.CodeType, str, int, int], list[tuple[Any, ...]]] = {}


def _indices(policy: Any) -> int:
    """How many leading parameters are indices."""
    if policy is None or isinstance(policy, int):
        return 1
    return policy._axes if policy._code >= _policies.MULTIDIMENSIONAL else 1


def _code(policy: Any) -> int:
    return 0 if isinstance(policy, int) else policy._code


def _parameters(function: types.FunctionType, owner: Any) -> list[ast.arg]:
    arguments = source_of(function).arguments()
    return arguments[1:] if owner is not None else arguments


def _reducer(environment: Environment, argument: ast.arg) -> Reducer | None:
    """What a parameter that is annotated as an accumulator is."""
    reducer = reducer_of(environment, environment.function, argument.annotation)
    if reducer and reducer.fields[0].op.startswith("Bitwise") and reducer.dtype in "efd":
        name = reducer.annotation.__name__
        raise TypeError(f"{argument.arg}: pk.{name} of floats: give an integer type")
    return reducer


def callee(value: Any) -> tuple[types.FunctionType, Any]:
    """The function that is launched, and the object that it is a method of."""
    if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
        return value.__func__, value.__self__
    if isinstance(value, types.FunctionType):
        return value, None
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType):
        return wrapped, None
    raise TypeError(f"ERROR: {value} is not a valid workunit: give a Python function")


def accumulators(function: types.FunctionType, owner: Any) -> list[tuple[str, Reducer]]:
    """The accumulators' names, and what their annotations say; without any: one sum."""
    environment = Environment(function, owner, RULES, [], [], {})
    found = [(a.arg, _reducer(environment, a)) for a in _parameters(function, owner)]
    return [(name, reducer) for name, reducer in found if reducer] or [("", SUM)]


def _split(
    operation: int, policy: Any, function: types.FunctionType, owner: Any
) -> tuple[list[ast.arg], list[ast.arg], list[ast.arg]]:
    """Indices, accumulators (and a scan's flag), and what is given by keyword."""
    arguments = _parameters(function, owner)
    count = _indices(policy)
    if len(arguments) < count + {FOR: 0, REDUCE: 1, SCAN: 2, FILL: 0}[operation]:
        source = source_of(function)
        raise TypeError(
            f"{source.file}, line {source.node.lineno}: {source.name} has {len(arguments)} "
            f"parameters; this launch gives it {count} indices"
            + {
                FOR: "",
                REDUCE: " and an accumulator",
                SCAN: ", an accumulator and a flag",
                FILL: "",
            }[operation]
        )
    indices, rest = arguments[:count], arguments[count:]
    special = {FOR: 0, REDUCE: 1, SCAN: 2, FILL: 0}[operation]
    if operation == REDUCE:
        environment = Environment(function, owner, RULES, [], [], {})
        while special < len(rest) and _reducer(environment, rest[special]):
            special += 1
    return indices, rest[:special], rest[special:]


def prepare(
    operation: int, policy: Any, function: types.FunctionType, owner: Any
) -> list[tuple[Any, ...]]:
    """The slots of a function that is launched for the first time: its keyword arguments."""
    _, _, keywords = _split(operation, policy, function, owner)
    rows: list[tuple[Any, ...]] = [(KEYWORD, argument.arg) for argument in keywords]
    if operation == FILL:
        rows.append((KEYWORD, _VIEW))
    _rows[_key(operation, policy, function)] = rows
    return list(rows)


def _key(
    operation: int, policy: Any, function: types.FunctionType
) -> tuple[types.CodeType, str, int, int]:
    # Codes of the same text at the same line of two files are equal.
    return function.__code__, function.__code__.co_filename, operation, _code(policy)


def translate(
    operation: int, policy: Any, function: types.FunctionType, owner: Any, values: tuple[Any, ...]
) -> tuple[Any, list[tuple[Any, ...]], Any]:
    """The kernel for these values; the slots, of which there may be more now; how it is run."""
    key = _key(operation, policy, function)
    rows = list(_rows.get(key) or prepare(operation, policy, function, owner))
    rows = rows[: len(values)]
    environment = Environment(function, owner, RULES, rows, list(values), _intrinsics.TABLE)
    try:
        kernel, runner = _settled(operation, policy, environment).run_whole()
        if operation == SCAN and runner is None:
            runner = _scan_in_phases(policy, environment, kernel)
    except TranslationError as error:
        raise error.with_traceback(None) from None  # the way to it is ours, not the user's
    _rows[key] = environment.rows
    return kernel, list(environment.rows), runner


def _settled(
    operation: int, policy: Any, environment: Environment, phase: int = _scans.WHOLE
) -> _Translation:
    """A translation whose types are settled."""
    knowledge = Knowledge()
    for _ in range(500):
        environment.begin()
        try:
            made = _Translation(operation, policy, environment, knowledge, phase)
            made.run()
        except Restart:
            continue
        return made
    raise TranslationError(f"{environment.function.__qualname__}: its types could not be settled")


def _scan_in_phases(policy: Any, environment: Environment, whole: Any) -> Any:
    """What launches the scan as several kernels, where that gives the same, faster."""
    arguments = _parameters(environment.function, environment.owner)
    source = source_of(environment.function).node
    update = _scans.update_of(source, arguments[1].arg, arguments[2].arg)
    if update is None or _random.has_pool(environment, [a.arg for a in arguments]):
        return None
    try:
        phases = (_scans.FIRST, _scans.LAST)
        parts = [_settled(SCAN, policy, environment, phase).part for phase in phases]
    except TranslationError:
        return None  # what there is of the body in one phase alone is no kernel
    return _scans.runner(whole, *parts, len(environment.rows))


class _Translation:
    """One attempt."""

    def __init__(
        self,
        operation: int,
        policy: Any,
        environment: Environment,
        knowledge: Knowledge,
        phase: int,
    ) -> None:
        self.operation = operation
        self.phase = phase  # of a scan
        self.environment = environment
        self.function = environment.function
        self.policy = policy
        axes = 1 if isinstance(policy, int) else policy._axes
        environment.first_slot = 2 * axes
        self.indices, self.special, self.keywords = _split(
            operation, policy, self.function, environment.owner
        )
        self.source = source_of(self.function)
        self.is_team = _code(policy) in (_policies.TEAM, _policies.TEAM_OF_SEVERAL)
        self.spmd = _code(policy) == _policies.TEAM_OF_SEVERAL and _intrinsics.needs_threads(
            self.source.node, [a.arg for a in self.special]
        )
        # One accumulator for all points, which follow one another.
        self.runs_on = (operation == SCAN and phase == _scans.WHOLE) or (
            operation == REDUCE and _code(policy) == _policies.RANGE and self.reads_a_sum()
        )
        # Threads that wait for one another: a point is a team.
        self.meets = self.spmd and _teams.meets(self.source.node)
        threads = 2 if self.spmd and not self.meets else 1
        self.rank = 0 if self.runs_on else (threads if self.is_team else axes)
        self.writer = _core.KernelWriter(self.rank)
        walker: type[Walker] = Walker
        if self.meets:
            walker = _teams.TeamWalker
        elif phase != _scans.WHOLE:
            walker = _scans.ScanWalker
        self.walker = walker(self.writer, RULES, environment, knowledge)
        self.walker.functions.append(self.function)
        self.walker.file = self.source.file
        self.walker.line = self.source.node.lineno
        self.walker.log = _intrinsics.Log()
        self.walker.hidden = []
        self.walker.afterwards = []

    def run(self) -> None:
        names = [a.arg for a in self.source.arguments()]
        body = [] if isinstance(self.source.node, ast.Lambda) else self.source.node.body
        self.scope = Scope((), None, names, body)
        self.walker.scope = self.scope
        self.bind_keywords()
        self.accumulators = self.bind_accumulators()
        if self.phase != _scans.WHOLE:
            self.run_phase()
        elif self.runs_on:
            self.run_in_order()
        else:
            self.run_points(self.accumulators)

    def run_phase(self) -> None:
        walker, (total, flag) = self.walker, (a.arg for a in self.special)
        walker.phase = self.phase
        walker.update = _scans.update_of(self.source.node, total, flag)
        walker.begin_points(self.accumulators[0][1][""], self.indices[0].arg)
        self.run_points([])
        self.part = walker.end_points()

    def run_whole(self) -> tuple[Any, Any]:
        """The kernel, and how it is run."""
        accumulators = self.accumulators
        parts = [(reducer, self.keep(reducer, places)) for reducer, places in accumulators]
        for reducer, places in accumulators:  # their parameters are the last
            for field in reducer.fields:
                if not field.location:
                    value = self.walker.read(places[field.name])
                    self.reduce_number(field.op, value, reducer.dtype)
        if any(not reducer.is_one_number for reducer, _ in accumulators):
            self.walker.afterwards.append(lambda result, made: _assembled(parts, result, made))
        return _intrinsics.finish(self.walker)

    def keep(self, reducer: Reducer, places: dict[str, Place]) -> list[int]:
        """The hidden arrays of the points' values and locations."""
        hidden = []
        for field in reducer.fields:
            for name in (field.name, field.location) if field.location else ():
                hidden.append(len(self.walker.hidden))
                number = self.walker.read(places[name])
                _intrinsics.store_at_point(self.walker, self.source.node, self.rank, number)
        return hidden

    def reduce_number(self, op: str, value: Number, dtype: str) -> None:
        if op in _LOGICAL:
            value = RULES.truth(self.walker, value)
        elif op not in _SUMS:
            pass  # its result is of its type
        elif dtype in "?bBhHi":
            value = self.walker.convert(value, "l")
        elif dtype == "I":
            value = self.walker.convert(value, "L")
        self.writer.reduce(op, value.id)

    # ---- parameters -----------------------------------------------------------------------------

    def bind(self, argument: ast.arg, value: Any) -> None:
        self.walker.bind(argument, self.scope, [argument], [value])

    def bind_keywords(self) -> None:
        environment, walker = self.environment, self.walker
        if environment.owner is not None:
            first = self.source.arguments()[0].arg
            self.scope.variables[first] = Object(environment.owner, (SELF, "self"))
        for k, argument in enumerate(self.keywords):
            dtype = environment.number_type(self.function, argument.annotation)
            found = Object(environment.values[k], (KEYWORD, argument.arg))
            walker.line = argument.lineno
            value = environment.value_of(walker, found, dtype)
            if value is found and environment.values[k] is not None:
                kind = type(environment.values[k])
                if kind.__module__ in ("builtins", "numpy"):
                    raise walker.refuse(
                        argument,
                        f"the argument '{argument.arg}' of type {kind.__name__}",
                        "pass views, arrays and numbers",
                    )
            self.bind(argument, value)

    def bind_accumulators(self) -> list[tuple[Reducer, dict[str, Place]]]:
        found = []
        special = self.special[:1] if self.operation == SCAN else self.special
        for argument in special:
            reducer = _reducer(self.environment, argument) or SUM
            if self.operation == SCAN and reducer.annotation is not _decorators.Acc:
                raise self.walker.refuse(
                    argument, f"a scan by pk.{reducer.annotation.__name__}", "scan sums: pk.Acc"
                )
            variable, places = _intrinsics.accumulator(self.walker, reducer)
            self.scope.variables[argument.arg] = variable
            if reducer.is_one_number:
                self.scope.declared[argument.arg] = reducer.dtype
            found.append((reducer, places))
        if self.operation == SCAN:
            self.scope.variables[self.special[1].arg] = Literal(self.phase != _scans.FIRST)
        return found

    def reads_a_sum(self) -> bool:
        """Whether the body asks what a sum has come to, as in `x[acc] = i; acc += 1`."""
        sums = {
            argument.arg
            for argument in self.special
            if (_reducer(self.environment, argument) or SUM).annotation is _decorators.Acc
        }
        body = self.source.node.body
        return any(
            isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in sums
            for statement in (body if isinstance(body, list) else [])
            for inner in _without_updates(statement, sums)
        )

    # ---- points ---------------------------------------------------------------------------------

    def index(self, axis: int, value: Number) -> Number:
        policy = self.policy
        if isinstance(policy, int):
            wide = policy > 2**31 - 1
        else:
            wide = _core.policy_is_wide(policy)
        return value if wide else self.walker.convert(value, "i")

    def argument(self, number: int) -> Number:
        return Number(self.writer.argument(number, "l"), "l")

    def run_points(self, accumulators: list[Any]) -> None:
        walker = self.walker
        axes = [Number(axis, "l") for axis in range(self.rank)]
        _random.begin(walker, [a.arg for a in self.keywords], axes)
        if self.is_team:
            self.bind_team()
        else:
            for axis, argument in enumerate(self.indices):
                place = walker.apply("Add", Number(axis, "l"), self.argument(2 * axis))
                self.bind(argument, self.index(axis, place))
        result = walker.run_body(self.source.node, self.scope)
        if self.meets:
            walker.end_team()
        if self.operation == FILL:
            self.fill(result)
        elif isinstance(self.source.node, ast.Lambda) and accumulators:
            # `lambda i, acc: acc + f(i)`
            place = self.scope.variables[self.special[0].arg]
            if not isinstance(place, Place):
                raise walker.refuse(
                    self.source.node, "a lambda with this accumulator", "write a function with def"
                )
            walker.write(place, walker.number(result, self.source.node))

    def bind_team(self) -> None:
        walker = self.walker
        league = self.index(0, Number(0, "l"))
        size: Any = Literal(1)
        rank: Any = Literal(0)
        if self.spmd:
            size = walker.convert(self.argument(3), "i")
        if self.spmd and not self.meets:
            rank = walker.convert(Number(1, "l"), "i")
        league_size = walker.convert(self.argument(1), "i")
        team = Marker("team", (league, rank, size, league_size))
        name = self.indices[0].arg
        if self.meets:
            accumulators = {
                argument.arg: places[""] if reducer.annotation is _decorators.Acc else None
                for argument, (reducer, places) in zip(
                    self.special, self.accumulators, strict=False
                )
            }
            walker.begin_team(self.source.node, self.scope, name, team, accumulators)
        else:
            self.scope.variables[name] = team

    def fill(self, result: Any) -> None:
        walker = self.walker
        slot = self.environment.rows.index((KEYWORD, _VIEW))
        found = Object(self.environment.values[slot], (KEYWORD, _VIEW))
        view = self.environment.value_of(walker, found, None)
        index = self.scope.variables[self.indices[0].arg]
        part = type(view)(view.parameter, view.dtype, (index,), view.name)
        walker.store(self.source.node, part, result)

    def run_in_order(self) -> None:
        walker = self.walker
        if isinstance(self.source.node, ast.Lambda):
            raise walker.refuse(self.source.node, "a lambda as a scan", "write a function with def")

        def body(index: int) -> None:
            self.bind(self.indices[0], self.index(0, Number(index, "l")))
            walker.run_body(self.source.node, self.scope)

        _random.begin(walker, [a.arg for a in self.keywords], [])
        self.writer.loop(self.argument(0).id, self.argument(1).id, walker.wrapped(body))


def _assembled(parts: list[tuple[Reducer, list[int]]], result: Any, made: list[Any]) -> Any:
    """The accumulators' results, from the reductions' numbers and the hidden arrays."""
    numbers = iter(result if isinstance(result, tuple) else [result])
    found: list[Any] = []
    for reducer, hidden in parts:
        if reducer.has_location:
            found.append(located(reducer, [made[k] for k in hidden]))
        elif reducer.is_one_number:
            found.append(next(numbers))
        else:
            found.append(Extremes({field.name: next(numbers) for field in reducer.fields}))
    return found[0] if len(found) == 1 else tuple(found)


def _without_updates(node: ast.AST, names: set[str]) -> Iterator[ast.AST]:
    """All that is in a statement, but for the values of `name = name + ..`."""
    is_update = isinstance(node, ast.Assign) and all(
        isinstance(target, ast.Name) and target.id in names for target in node.targets
    )
    if is_update:
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _without_updates(child, names)
