"""_debug.py: the Debug space: workunits run as the Python they are, point after point.

Python does not see an assignment to a parameter (`low = pk.min(low, a[i])`). So a function whose
accumulators are assigned runs as a copy of itself that gives them back.
"""

from __future__ import annotations

import ast
import copy
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy

from frit._quiet import without_warnings
from frit.pykokkos import _decorators, _hierarchy, _kernels, _policies
from frit.pykokkos._reducers import Extremes, Reducer
from frit.pykokkos._views import ViewType
from frit.translate import source_of

NESTED = (_policies.TeamThreadRange, _policies.TeamThreadMDRange)  # and what derives from them


def _for_each(policy: Any, call: Callable[..., None]) -> None:
    """call(*point) for all points of the policy."""
    if isinstance(policy, _policies.TeamPolicy):
        for team, members in _hierarchy.teams(*_policies.extents(policy)):
            team.run(members, call)
        return
    if isinstance(policy, _policies.MDRangePolicy):
        ranges = [range(*pair) for pair in zip(policy.begin, policy.end, strict=True)]
    else:
        ranges = [range(policy.begin, policy.end)]
    for point in itertools.product(*ranges):
        call(*point)


# ---- accumulators -------------------------------------------------------------------------------


class _GivesBack(ast.NodeTransformer):
    """A function's statements, which end by giving back these variables."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def values(self, at: ast.AST) -> ast.Return:
        names: list[ast.expr] = [ast.Name(name, ast.Load()) for name in self.names]
        return ast.fix_missing_locations(
            ast.copy_location(ast.Return(ast.Tuple(names, ast.Load())), at)
        )

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return self.values(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # its returns are its own


def _giving_back(function: types.FunctionType, names: list[str]) -> types.FunctionType:
    """The function, which gives its accumulators back."""
    node = source_of(function).node
    assert isinstance(node, ast.FunctionDef)
    giver = _GivesBack(names)
    made = copy.deepcopy(node)
    made.decorator_list, made.returns = [], None
    made.body = [giver.visit(statement) for statement in made.body]
    made.body.append(giver.values(made.body[-1]))
    for argument in (*made.args.args, *made.args.kwonlyargs):
        argument.annotation = None
    made.args.defaults, made.args.kw_defaults = [], [None] * len(made.args.kwonlyargs)
    free = function.__code__.co_freevars
    # A function around it, whose variables are those that the kernel takes from around itself.
    around = ast.FunctionDef(
        name="around",
        args=ast.arguments(
            posonlyargs=[],
            args=[ast.arg(name) for name in free],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        ),
        body=[made],
        decorator_list=[],
    )
    module = ast.fix_missing_locations(ast.Module([around], []))
    with without_warnings():
        code = compile(module, function.__code__.co_filename, "exec", dont_inherit=True)
    outer = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    inner = next(c for c in outer.co_consts if isinstance(c, types.CodeType))
    cells = dict(zip(free, function.__closure__ or (), strict=True))
    result = types.FunctionType(
        inner,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in inner.co_freevars),
    )
    result.__kwdefaults__ = function.__kwdefaults__
    return result


def _converted(reducer: Reducer, value: Any) -> Any:
    """In the accumulator's type, which sums and products of integers outgrow."""
    grows = reducer.annotation in (_decorators.Acc, _decorators.Prod) and reducer.dtype not in "fd"
    if grows or not reducer.is_one_number:
        return value
    return numpy.asarray(value).astype(reducer.dtype)[()]


class _Accumulators:
    """What a reduction's points add up."""

    def __init__(self, workunit: Any, initial: Any) -> None:
        function, owner = _kernels.callee(workunit)
        found = _kernels.accumulators(function, owner)
        self.function = workunit
        self.are_assigned = any(
            reducer.is_one_number and reducer.annotation is not _decorators.Acc
            for _, reducer in found
        )
        if self.are_assigned:
            function = _giving_back(function, [name for name, _ in found])
            self.function = function if owner is None else types.MethodType(function, owner)
        self.reducers = [reducer for _, reducer in found]
        self.values = [self.begin(reducer, initial) for reducer in self.reducers]

    def begin(self, reducer: Reducer, initial: Any) -> Any:
        if not reducer.is_one_number:
            begins = reducer.begins().items()
            return types.SimpleNamespace(**{name: begin for name, (begin, _) in begins})
        value = reducer.begin if initial is None else initial
        return value if self.are_assigned else _decorators.Acc(value)

    def add(self, *point: Any, flag: tuple[Any, ...] = (), **keywords: Any) -> None:
        result = self.function(*point, *self.values, *flag, **keywords)
        if self.are_assigned:
            self.values[:] = map(_converted, self.reducers, result)
        elif isinstance(result, _decorators.Acc):  # a lambda's
            self.values[:] = [result]

    def result(self) -> Any:
        found = [
            Extremes(vars(value))
            if isinstance(value, types.SimpleNamespace)
            else value.val
            if isinstance(value, _decorators.Acc)
            else value
            for value in self.values
        ]
        return found[0] if len(found) == 1 else tuple(found)


# ---- launches -----------------------------------------------------------------------------------


def run(operation: int, policy: Any, workunit: Any, last: Any, keywords: Any) -> Any:
    """A launch, with what stands behind the workunit: a view to be filled, or an initial value."""
    if operation == _kernels.FOR:

        def call(*point: Any) -> None:
            value = workunit(*point, **keywords)
            if isinstance(last, ViewType):
                last[point if len(point) > 1 else point[0]] = value

        _for_each(policy, call)
        return None
    total = _Accumulators(workunit, last)
    flag = (True,) if operation == _kernels.SCAN else ()
    _for_each(policy, lambda *point: total.add(*point, flag=flag, **keywords))
    return total.result()


def run_nested(operation: int, policy: Any, function: Any, initial: Any) -> Any:
    """A launch inside of a kernel: each thread takes its share of what the team does."""
    member = policy.team_member
    is_shared = not isinstance(policy, _policies.ThreadVectorRange)
    first, step = (member.team_rank(), member.team_size()) if is_shared else (0, 1)
    if isinstance(policy, _policies.TeamThreadMDRange):
        outer, *inner = (range(count) for count in policy.counts)
    else:
        outer, inner = range(policy.begin, policy.end), []
    if operation == _kernels.FOR:
        for point in itertools.product(outer[first::step], *inner):
            function(*point)
        return None
    flag = (True,) if operation == _kernels.SCAN else ()
    share = outer[first::step]
    if flag and is_shared:
        share = outer if first == 0 else range(0)  # in order: by the first thread
    total = _Accumulators(function, initial)
    if is_shared:
        total.values = member.shared(lambda: total.values)
    for point in itertools.product(share, *inner):
        total.add(*point, flag=flag)
    if is_shared:
        member.team_barrier()
    return total.result()
