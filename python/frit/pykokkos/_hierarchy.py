"""_hierarchy.py: teams as the Debug space sees them: a team of one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class AUTO:
    """As a team's size: Frit chooses."""


class TeamMember:
    """One thread of a team."""

    def __init__(self, league_rank: int, team_rank: int, team_size: int = 1, league_size: int = 0):
        self._league_rank = league_rank
        self._team_rank = team_rank
        self._team_size = team_size
        self._league_size = league_size

    def league_rank(self) -> int:
        """The number of the team."""
        return self._league_rank

    def league_size(self) -> int:
        """How many teams there are."""
        return self._league_size

    def team_rank(self) -> int:
        """The number of the thread in its team."""
        return self._team_rank

    def team_size(self) -> int:
        """How many threads the team has."""
        return self._team_size

    def team_scratch(self, level: int) -> int:
        """The scratch memory of a level, for ScratchView1D and its like."""
        return level

    thread_scratch = team_scratch

    def team_barrier(self) -> None:
        """Waits for the other threads of the team."""

    def __index__(self) -> int:
        return self._league_rank


class PerTeam:
    """Once for each team; of a scratch size: bytes for each team."""

    def __init__(self, team_member: Any) -> None:
        self.team_member = team_member


class PerThread:
    """Once for each thread; of a scratch size: bytes for each thread."""

    def __init__(self, team_member: Any) -> None:
        self.team_member = team_member


def single(policy: PerTeam | PerThread, functor: Callable[[], None]) -> None:
    """Runs the function once for the team or the thread."""
    functor()
