"""_dispatch.py: launches that are not plain: other spaces, callables and forms of a call."""

from __future__ import annotations

from typing import Any

import numpy

from frit import _core
from frit.pykokkos import _debug, _kernels, _policies, _spaces
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
    if isinstance(given[0], _debug.NESTED):
        return _debug.run_nested(operation, given[0], given[1], last)
    policy, workunit = _policy(given[0]), given[1]
    if isinstance(workunit, (list, tuple)):
        return _several(operation, policy, workunit, keywords)
    function, owner = _kernels.callee(workunit)
    keywords = _converted(keywords)
    if policy._code < 0:
        return _debug.run(operation, policy, workunit, last, keywords)
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
        function, owner = _kernels.callee(workunit)
        result = slow(operation, (policy, workunit), dict(keywords.get(f"args_{k}", {})))
    return result


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
