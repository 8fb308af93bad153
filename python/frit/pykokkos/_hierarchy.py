"""_hierarchy.py: teams as the Debug space runs them: threads that take turns.

One thread of a team runs at a time: the first one up to its next barrier, then the second, and so
on. So what they print and add up comes in one order, and a debugger sees one of them at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy


class AUTO:
    """As a team's size: Frit chooses."""


class _Stopped(BaseException):
    """Another thread of the team has failed."""


class Team:
    """What the threads of a team share."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.shared: dict[int, Any] = {}
        self.failure: BaseException | None = None
        self._turn = 0
        self._running = set(range(size))
        self._change = threading.Condition()

    def run(self, members: list[TeamMember], call: Callable[[TeamMember], None]) -> None:
        """call(member) of all members, by turns."""
        if self.size == 1:
            call(members[0])
            return
        threads = [threading.Thread(target=self._thread, args=(m, call)) for m in members]
        started = []
        try:
            for thread in threads:
                thread.start()
                started.append(thread)
        except RuntimeError as failure:  # there are no more: nobody may wait for those
            with self._change:
                self.failure = failure
                self._change.notify_all()
        for thread in started:
            thread.join()
        if self.failure is not None:
            raise self.failure

    def _thread(self, member: TeamMember, call: Callable[[TeamMember], None]) -> None:
        rank = member.team_rank()
        try:
            self._await_turn(rank)
            call(member)
        except _Stopped:
            pass
        except BaseException as failure:
            self.failure = failure
        finally:
            with self._change:
                self._running.discard(rank)
                self._give_turn(rank)

    def meet(self, rank: int) -> None:
        """All threads have come here before one goes on."""
        if self.size == 1:
            return
        with self._change:
            self._give_turn(rank)
        self._await_turn(rank)

    def _give_turn(self, rank: int) -> None:
        if self._running:
            behind = [other for other in self._running if other > rank]
            self._turn = min(behind or self._running)
        self._change.notify_all()

    def _await_turn(self, rank: int) -> None:
        with self._change:
            self._change.wait_for(lambda: self.failure is not None or self._turn == rank)
        if self.failure is not None:
            raise _Stopped


class TeamMember:
    """One thread of a team."""

    def __init__(
        self,
        league_rank: int,
        team_rank: int,
        team_size: int = 1,
        league_size: int = 0,
        team: Team | None = None,
    ) -> None:
        self._league_rank = league_rank
        self._team_rank = team_rank
        self._team_size = team_size
        self._league_size = league_size
        self._team = team or Team(1)
        self._asked = 0

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

    def team_scratch(self, level: int) -> Scratch:
        """The scratch memory of a level, for ScratchView1D and its like."""
        return Scratch(self, True)

    def thread_scratch(self, level: int) -> Scratch:
        """The thread's own scratch memory."""
        return Scratch(self, False)

    def team_barrier(self) -> None:
        """Waits for the other threads of the team."""
        self._team.meet(self._team_rank)

    def shared(self, make: Callable[[], Any]) -> Any:
        """What the first thread that comes here makes: threads ask for it in one order."""
        self._asked += 1
        shared = self._team.shared
        if self._asked not in shared:
            shared[self._asked] = make()
        return shared[self._asked]

    def __index__(self) -> int:
        return self._league_rank


def teams(league_size: int, team_size: int) -> Iterator[tuple[Team, list[TeamMember]]]:
    """The teams of a policy, one after another."""
    for league_rank in range(league_size):
        team = Team(team_size)
        yield (
            team,
            [
                TeamMember(league_rank, rank, team_size, league_size, team)
                for rank in range(team_size)
            ],
        )


class _Elements(numpy.ndarray):
    """Scratch memory: Python's numbers, as they were stored."""

    def extent(self, axis: int) -> int:
        return self.shape[axis]

    def rank(self) -> int:
        return self.ndim


class Scratch:
    """Scratch memory of a team, or of one of its threads."""

    def __init__(self, member: TeamMember, is_shared: bool) -> None:
        self.member = member
        self.is_shared = is_shared

    def view(self, extents: tuple[int, ...]) -> Any:
        def make() -> Any:
            return numpy.full(extents, 0, dtype=object).view(_Elements)

        return self.member.shared(make) if self.is_shared else make()


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
    if isinstance(policy, PerThread) or policy.team_member.team_rank() == 0:
        functor()
