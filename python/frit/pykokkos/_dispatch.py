"""_dispatch.py: launches that are not plain: other spaces, callables and forms of a call."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy

from frit import _core
from frit.pykokkos import _decorators, _hierarchy, _kernels, _policies, _spaces
from frit.pykokkos._reducers import Extremes
from frit.pykokkos._spaces import ExecutionSpace
from frit.pykokkos._views import ViewType, array

_NAMES = {
    _kernels.FOR: "parallel_for",
    _kernels.REDUCE: "parallel_reduce",
    _kernels.SCAN: "parallel_scan",
}


def _policy(value: Any) -> Any:
    if isinstance(value, (int, numpy.integer)) and not isinstance(value, bool):
        return _policies.RangePolicy(ExecutionSpace.Default, 0, int(value))
    if not isinstance(value, _core.PolicyBase):
        raise TypeError(f"ERROR: {value} is not a valid execution policy")
    return value


def _callee(value: Any) -> tuple[types.FunctionType, Any]:
    if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
        return value.__func__, value.__self__
    if isinstance(value, types.FunctionType):
        return value, None
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType):
        return wrapped, None
    raise TypeError(f"ERROR: {value} is not a valid workunit: give a Python function")


def _converted(keywords: dict[str, Any]) -> dict[str, Any]:
    """Tensors and other arrays as views on their memory."""
    return {
        name: array(value)
        if hasattr(value, "__dlpack__")
        and not isinstance(
            value, (numpy.ndarray, numpy.generic, ViewType, _core.Array, _core.Scalar)
        )
        else value
        for name, value in keywords.items()
    }


def slow(operation: int, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Any call of parallel_for, parallel_reduce or parallel_scan."""
    name = _NAMES[operation]
    given = list(args)
    if given and (isinstance(given[0], str) or given[0] is None):
        given.pop(0)
    if not 2 <= len(given) <= 3:
        raise ValueError(f"ERROR: incorrect number of arguments {len(args)} for {name}")
    last = given[2] if len(given) == 3 else None
    if isinstance(given[0], _NESTED):
        return _nested(operation, given[0], given[1], last)
    policy, workunit = _policy(given[0]), given[1]
    if isinstance(workunit, (list, tuple)):
        return _several(operation, policy, workunit, keywords)
    function, owner = _callee(workunit)
    keywords = _converted(keywords)
    if policy._code < 0:
        return _debug(operation, policy, workunit, last, keywords)
    if isinstance(last, ViewType) and operation == _kernels.FOR:
        keywords = {**keywords, "view": last}
        return _core.launch_function(_kernels.FILL, policy, function, owner, keywords, None)
    if last is not None and not isinstance(last, (int, float, numpy.number)):
        raise TypeError(f"ERROR: wrong arguments {args} for {name}")
    return _core.launch_function(operation, policy, function, owner, keywords, last)


def _several(operation: int, policy: Any, workunits: Any, keywords: dict[str, Any]) -> Any:
    """A list of workunits over one policy, with arguments args_0, args_1, ..: in their order."""
    result = None
    for k, workunit in enumerate(workunits):
        function, owner = _callee(workunit)
        result = slow(operation, (policy, workunit), dict(keywords.get(f"args_{k}", {})))
    return result


# ---- the Debug space ----------------------------------------------------------------------------


_NESTED = (_policies.TeamThreadRange, _policies.TeamThreadMDRange)  # and what derives from them


def _for_each(policy: Any, call: Callable[..., None]) -> None:
    """call(*point) for all points of the policy."""
    if isinstance(policy, _policies.TeamPolicy):
        size = max(policy.team_size, 1)
        for team, members in _hierarchy.teams(policy.league_size, size):
            team.run(members, call)
        return
    if isinstance(policy, _policies.MDRangePolicy):
        ranges = [range(*pair) for pair in zip(policy.begin, policy.end, strict=True)]
    else:
        ranges = [range(policy.begin, policy.end)]
    for point in itertools.product(*ranges):
        call(*point)


def _totals(workunit: Any, initial: Any) -> list[Any]:
    """An accumulator for each that the function has."""
    reducers = _kernels.accumulators(*_callee(workunit))
    if any(r.is_one_number and r.annotation is not _decorators.Acc for r in reducers):
        raise TypeError(
            "a reducer other than pk.Acc in the Debug space: Python does not see an assignment to "
            "an accumulator; use a sum, or another space"
        )
    return [
        _decorators.Acc(0 if initial is None else initial)
        if reducer.is_one_number
        else types.SimpleNamespace(**{name: begin for name, (begin, _) in reducer.begins().items()})
        for reducer in reducers
    ]


def _result(totals: list[Any]) -> Any:
    found = [t.val if isinstance(t, _decorators.Acc) else Extremes(vars(t)) for t in totals]
    return found[0] if len(found) == 1 else tuple(found)


def _debug(operation: int, policy: Any, workunit: Any, last: Any, keywords: Any) -> Any:
    """Runs the function in Python, point after point."""
    if operation == _kernels.FOR:

        def call(*point: Any) -> None:
            value = workunit(*point, **keywords)
            if isinstance(last, ViewType):
                last[point if len(point) > 1 else point[0]] = value

        _for_each(policy, call)
        return None
    totals = _totals(workunit, last)
    flag = (True,) if operation == _kernels.SCAN else ()

    def add(*point: Any) -> None:
        result = workunit(*point, *totals, *flag, **keywords)
        if isinstance(result, _decorators.Acc):
            totals[:] = [result]

    _for_each(policy, add)
    return _result(totals)


def _nested(operation: int, policy: Any, function: Any, initial: Any) -> Any:
    """A launch inside of a kernel that runs as Python: each thread takes its share of a team's."""
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
    # The threads add to one accumulator, by turns; a scan is its first thread's.
    totals = _totals(function, initial)
    if is_shared:
        own = totals
        totals = member.shared(lambda: own)
    flag = (True,) if operation == _kernels.SCAN else ()
    mine = outer[first::step]
    if flag and is_shared:
        mine = outer if first == 0 else range(0)
    for point in itertools.product(mine, *inner):
        result = function(*point, *totals, *flag)
        if isinstance(result, _decorators.Acc):
            totals[:] = [result]
    if is_shared:
        member.team_barrier()
    return _result(totals)


# ---- workloads ----------------------------------------------------------------------------------


def execute(space: ExecutionSpace, workload: Any) -> None:
    """Runs a workload: its main methods, then its callbacks; launches go to `space`."""
    if not isinstance(space, (ExecutionSpace, _spaces.ExecutionSpaceInstance)):
        raise TypeError(f"execute: {space!r} is no execution space")
    before = _spaces._default
    if space is not ExecutionSpace.Default:
        _spaces.set_default_space(_spaces.resolve(space))
    try:
        for role in ("main", "callback"):
            for name in _methods(type(workload), role):
                getattr(workload, name)()
    finally:
        _spaces.set_default_space(before)


def _methods(cls: type, role: str) -> list[str]:
    found: list[str] = []
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if getattr(value, "__pk_role__", None) == role and name not in found:
                found.append(name)
    return found


def fence(*label: str) -> None:
    """Computes all that is pending."""
    _core.eval()


def flush() -> None:
    """Computes all that is pending."""
    _core.eval()


_core.set_kernel_hooks(slow, _kernels.prepare, _kernels.translate)
