"""_policies.py: execution policies: which points a launch has, and where it runs."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from enum import Enum
from typing import Any

from frit import _core
from frit.pykokkos._hierarchy import TeamMember
from frit.pykokkos._spaces import (
    ExecutionSpace,
    ExecutionSpaceInstance,
    resolve,
)

# Codes of policies, each of which has kernels of its own; a launch in Python has none.
PYTHON, RANGE, TEAM, TEAM_OF_SEVERAL, MULTIDIMENSIONAL = -1, 0, 1, 2, 3


class ExecutionPolicy:
    """The base of all policies."""

    space: Any


def _code(space: ExecutionSpace, code: int) -> int:
    return PYTHON if space is ExecutionSpace.Debug else code


def _whole(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"Invalid argument {value}: an integer is wanted") from None


def _is_space(value: Any) -> bool:
    return isinstance(value, (ExecutionSpace, ExecutionSpaceInstance))


class RangePolicy(_core.PolicyBase, ExecutionPolicy):
    """RangePolicy([space,] begin, end): the integers from begin up to, not including, end."""

    def __init__(self, *args: Any) -> None:
        space: Any = ExecutionSpace.Default
        if len(args) == 3:
            space, *args = args
        if len(args) != 2:
            raise ValueError(f"RangePolicy: {len(args)} arguments; give ([space,] begin, end)")
        self.space = resolve(space)
        self.begin, self.end = _whole(args[0]), _whole(args[1])
        super().__init__(_code(self.space, RANGE), ((self.begin, self.end),))


class Iterate(Enum):
    """The order of iteration that a program asks for. Frit chooses its own."""

    Left = "Kokkos::Iterate::Left"
    Right = "Kokkos::Iterate::Right"
    Default = "Kokkos::Iterate::Default"


class Rank:
    """The number of dimensions of an MDRangePolicy, and its orders of iteration."""

    def __init__(
        self, n: int, iter_outer: Iterate = Iterate.Default, iter_inner: Iterate = Iterate.Default
    ) -> None:
        self.n = n
        self.iter_outer = iter_outer
        self.iter_inner = iter_inner


class MDRangePolicy(_core.PolicyBase, ExecutionPolicy):
    """All points from begin up to, not including, end. Tiles are a hint that Frit does not need."""

    def __init__(
        self,
        begin: Sequence[int],
        end: Sequence[int],
        tiling: Sequence[int] | None = None,
        space: ExecutionSpace = ExecutionSpace.Default,
        iter_outer: Iterate = Iterate.Default,
        iter_inner: Iterate = Iterate.Default,
        rank: Rank | None = None,
    ) -> None:
        self.space = resolve(space)
        self.begin = [_whole(x) for x in begin]
        self.end = [_whole(x) for x in end]
        self.tiling = tiling
        if rank is not None and rank.n != len(self.begin):
            raise ValueError(f"RangePolicy dimension mismatch: {rank.n} != {len(self.begin)}")
        if len(self.begin) != len(self.end):
            raise ValueError(
                f"RangePolicy dimension mismatch: {len(self.begin)} != {len(self.end)}"
            )
        if not self.begin:
            raise ValueError("MDRangePolicy: no dimensions")
        self.iter_outer = rank.iter_outer if rank else iter_outer
        self.iter_inner = rank.iter_inner if rank else iter_inner
        self.rank = len(self.begin)
        pairs = tuple(zip(self.begin, self.end, strict=True))
        super().__init__(_code(self.space, MULTIDIMENSIONAL + self.rank), pairs)


class TeamPolicy(_core.PolicyBase, ExecutionPolicy):
    """TeamPolicy([space,] league_size, team_size or AUTO[, vector_length])."""

    def __init__(self, *args: Any) -> None:
        space: Any = ExecutionSpace.Default
        if args and _is_space(args[0]):
            space, *args = args
        if len(args) not in (2, 3):
            raise ValueError(
                f"TeamPolicy: {len(args)} arguments; give ([space,] league_size, team_size"
                "[, vector_length])"
            )
        self.space = resolve(space)
        self.league_size = _whole(args[0])
        # What is no number is AUTO.
        self.team_size = args[1] if isinstance(args[1], int) else -1
        self.vector_length = args[2] if len(args) == 3 and isinstance(args[2], int) else -1
        self.scratch: dict[int, tuple[Any, ...]] = {}
        team = max(self.team_size, 1)
        code = TEAM if team == 1 else TEAM_OF_SEVERAL
        super().__init__(_code(self.space, code), ((0, self.league_size), (0, team)))

    def set_scratch_size(self, level: int, *sizes: Any) -> TeamPolicy:
        """Scratch memory takes what its views need: the size is only noted."""
        self.scratch[level] = sizes
        return self


def extents(policy: Any) -> tuple[int, ...]:
    """How many points there are along each axis of a launch."""
    if isinstance(policy, TeamPolicy):
        return policy.league_size, max(policy.team_size, 1)
    if isinstance(policy, MDRangePolicy):
        return tuple(max(e - b, 0) for b, e in zip(policy.begin, policy.end, strict=True))
    return (max(policy.end - policy.begin, 0),)


class TeamThreadRange(ExecutionPolicy):
    """The iterations that the threads of a team share."""

    def __init__(self, team_member: TeamMember, count: int, end: int | None = None) -> None:
        self.team_member = team_member
        self.begin, self.end = (0, count) if end is None else (count, end)
        self.count = self.end - self.begin
        self.space = ExecutionSpace.Debug


class ThreadVectorRange(TeamThreadRange):
    """The iterations that the lanes of a thread share."""


class TeamVectorRange(TeamThreadRange):
    """The iterations that all lanes of a team share."""


class TeamThreadMDRange(ExecutionPolicy):
    """TeamThreadMDRange(team_member, n0, n1, ..): all combinations of indices."""

    def __init__(self, team_member: TeamMember, *counts: int) -> None:
        self.team_member = team_member
        self.counts = counts
        self.space = ExecutionSpace.Debug
