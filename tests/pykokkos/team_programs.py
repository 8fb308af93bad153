"""team_programs.py: random kernels whose threads meet at barriers, and threads that run them.

A kernel takes turns: its threads read what all have written, meet, write what is their own, meet.
The oracle runs the same source as the Python it is, each thread of a team as a thread.
"""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy

import frit.pykokkos as pk

LEAGUE, SIZES = 3, (2, 4, 8, 12, 16)

# ---- random kernels -----------------------------------------------------------------------------


class _Body:
    """Source text. a, b, out: a number for each thread; s, t: scratch; v: a thread's; u: all's."""

    def __init__(self, rng: random.Random, reduces: bool) -> None:
        self.rng = rng
        self.reduces = reduces
        self.functions = 0

    def own(self) -> str:
        """A number that threads may differ in."""
        leaf = self.rng.choice(["v0", "v1", "v2", "tid", "i", "a[i]", "b[i]", "s[tid]", "t[tid]"])
        return f"({leaf} {self.rng.choice('+-')} {self.common()})"

    def common(self) -> str:
        return self.rng.choice(["u0", "u1", "team", "size", "2", "x"])

    def shared(self) -> str:
        place = self.rng.choice(
            ["(tid + 1) % size", "size - 1 - tid", "0", "size - 1", "(tid + team) % size"]
        )
        return f"{self.rng.choice('st')}[{place}]"

    def condition(self) -> str:
        return self.rng.choice(["tid == 0", "tid < size // 2", "tid % 2 == 1", "v0 > v1", "i > 3"])

    def reading(self) -> list[str]:
        if self.reduces and self.rng.random() < 0.1:
            add = f"acc += {self.own()}"
            return [add] if self.rng.random() < 0.6 else [f"if {self.condition()}:", "    " + add]
        draw, v, u = self.rng.random(), self.rng.choice("012"), self.rng.choice("01")
        if draw < 0.45:
            return [f"v{v} = {self.shared()} + {self.own()}"]
        if draw < 0.6:
            return [f"if {self.condition()}:", f"    v{v} += {self.shared()}"]
        if draw < 0.75:
            return ["for k in range(size):", f"    v{v} = pk.max(v{v}, s[k] - t[k])"]
        if draw < 0.87:
            return [f"u{u} = s[0] - {self.common()}"]
        return self.nested(
            "part += s[j] + " + self.common(),
            f"u{u} = pk.min(pk.parallel_reduce(pk.TeamThreadRange(tm, size), NAME), 99.0)",
            ", part: pk.Acc[pk.double]",
        )

    def writing(self) -> list[str]:
        draw, view = self.rng.random(), self.rng.choice("st")
        write = f"{view}[tid] = pk.max(pk.min({self.own()}, 99.0), -99.0)"
        if draw < 0.6:
            return [write]
        if draw < 0.8:
            return [f"if {self.condition()}:", "    " + write]
        if draw < 0.9:
            return [f"pk.atomic_add({view}, [tid], 1.0)"]
        return self.nested(
            f"{view}[j] = j - {self.common()}",
            "pk.parallel_for(pk.TeamThreadRange(tm, size), NAME)",
        )

    def nested(self, body: str, launch: str, accumulator: str = "") -> list[str]:
        """A function of an index j, and its launch over the team."""
        self.functions += 1
        name = f"f{self.functions}"
        return [
            f"def {name}(j: int{accumulator}):",
            "    " + body,
            launch.replace("NAME", name),
        ]

    def several(self, statement: Any) -> list[str]:
        return [line for _ in range(self.rng.randint(1, 3)) for line in statement()]

    def turn(self, depth: int) -> list[str]:
        draw = self.rng.random()
        if depth == 0 or draw < 0.55:
            meet = ["tm.team_barrier()"]
            return [*self.several(self.reading), *meet, *self.several(self.writing), *meet]
        inner = ["    " + line for _ in range(2) for line in self.turn(depth - 1)]
        if draw < 0.75:
            self.functions += 1
            r, w = f"r{self.functions}", f"w{self.functions}"
            carried = [f"    if {r} == 0:", f"        {w} = {self.own()}"]
            carried += [f"    {w} = {w} + {self.shared()}", f"    v0 += {w}"]
            if self.rng.random() < 0.5:
                inner = carried + inner
            return [f"for {r} in range({self.rng.choice(['2', '3', 'team'])}):", *inner]
        if draw < 0.9:
            h = f"h{depth}"
            return [f"{h}: int = size // 2", f"while {h} > 0:", *inner, f"    {h} = {h} // 2"]
        return [f"if {self.rng.choice(['team % 2 == 0', 'x > 1', 'size > 3'])}:", *inner]

    def text(self, name: str) -> list[str]:
        body = ["tid: int = tm.team_rank()", "size: int = tm.team_size()"]
        body += ["team: int = tm.league_rank()", "i: int = team * size + tid"]
        for view in "st":
            body += [f"{view}: pk.ScratchView1D[pk.double] = "
                     f"pk.ScratchView1D(tm.team_scratch(0), size)"]  # fmt: skip
        body += [f"{name}: float = {self.rng.randint(-2, 2)}" for name in ("v0", "v1", "v2")]
        body += [f"{name}: float = {self.rng.randint(-2, 2)}" for name in ("u0", "u1")]
        body += ["s[tid] = a[i]", "t[tid] = b[i]", "tm.team_barrier()"]
        for _ in range(self.rng.randint(1, 3)):
            body += self.turn(2)
        body += ["out[i] = v0 + v1 - v2 + s[tid] + t[tid] + u0 - u1"]
        if self.reduces:
            body += ["acc += v1 + tid"]
        head = f"def {name}(tm, {'acc, ' if self.reduces else ''}a, b, out, x):"
        return ["@pk.workunit", head, *("    " + line for line in body), ""]


def source(seed: int) -> str:
    rng = random.Random(seed)
    return "\n".join(
        [*_Body(rng, False).text("kernel"), "", *_Body(rng, True).text("reduction"), ""]
    )


# ---- the oracle ---------------------------------------------------------------------------------


class _Team:
    """What the threads of a team share."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.barrier = threading.Barrier(size, timeout=60)
        self.lock = threading.Lock()
        self.scratch: dict[int, Any] = {}


class _Member:
    """A thread as the kernel sees it."""

    def __init__(self, team: _Team, league_rank: int, rank: int) -> None:
        self.team, self.rank, self.views = team, rank, 0
        self.league_rank = lambda: league_rank
        self.team_rank = lambda: rank
        self.team_size = lambda: team.size
        self.team_barrier = team.barrier.wait

    def team_scratch(self, level: int) -> _Member:
        return self


class Threads:
    """pk for kernels whose threads are threads."""

    workunit = staticmethod(lambda function: function)
    min, max = staticmethod(min), staticmethod(max)
    Acc, double, float, int32 = pk.Acc, pk.double, pk.float, pk.int32

    @staticmethod
    def ScratchView1D(member: _Member, length: int) -> Any:
        member.views += 1
        with member.team.lock:
            return member.team.scratch.setdefault(member.views, numpy.zeros(length))

    @staticmethod
    def TeamThreadRange(member: _Member, count: int) -> Any:
        return member, count

    @staticmethod
    def parallel_for(points: Any, function: Any) -> None:
        member, count = points
        for j in range(member.rank, count, member.team.size):
            function(j)

    @staticmethod
    def parallel_reduce(points: Any, function: Any) -> Any:
        acc = pk.Acc(0.0)
        for j in range(points[1]):
            function(j, acc)
        return float(acc.val)

    @staticmethod
    def atomic_add(view: Any, place: list[int], value: Any) -> None:
        view[tuple(place)] += value


def run_threads(
    function: Any, league: int, size: int, reduces: bool, arguments: dict[str, Any]
) -> float:
    """A launch of a TeamPolicy(league, size); the sum. Threads that fail make it fail."""
    total = 0.0
    for league_rank in range(league):
        team = _Team(size)
        errors: list[BaseException] = []
        sums = [pk.Acc(0.0) for _ in range(size)]

        def thread(member: _Member, team: _Team, own: list[Any]) -> None:
            try:
                function(member, *own, **arguments)
            except BaseException as error:
                errors.append(error)  # noqa: B023  the threads end before the next team's begin
                team.barrier.abort()

        threads = [
            threading.Thread(
                target=thread,
                args=(_Member(team, league_rank, rank), team, [sums[rank]] if reduces else []),
            )
            for rank in range(size)
        ]
        for started in threads:
            started.start()
        for started in threads:
            started.join()
        if errors:
            raise errors[0]
        of_team = 0.0
        for acc in sums:  # sum() compensates from Python 3.12 on
            of_team += float(acc.val)
        total += of_team
    return total
