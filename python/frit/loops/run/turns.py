"""turns.py: when the place of a `while` is asked: behind some rounds of it that Python has run.

Nobody knows beforehand how long such a loop takes, and a program may have a single one, in which
it spends its time. So its place takes over in the middle of it: a `while` whose rounds have been
run up to some point is the same loop from there on.

                       left = <place>.rounds
    while test:        while test:
        body      ->       body
                           if left: left -= 1
                           else:
                               if <place>.on and .. (found := <place>.take(..)) is not None:
                                   (variables that are read behind it) = found
                                   break
                               left = <place>.rounds

In a module's own code `left` is an attribute of the place. A `for` with exits (find/exits.py) is
asked so too: for the rounds of its range that are left.
"""

from __future__ import annotations

import sys
import time

from frit.loops.run.traits import FIRST_WORTH, WORTH

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast
    from typing import Any

# Of a body, one behind the other: so to count adds little to a round. And nodes of a short one.
COPIES, MOST_COPIES, SHORT_BODY = 3, 16, 40
MOST = 1 << 14  # rounds of a turn, and so many times the copies
# Of a turn that is shorter than the loop mostly is, and times in a row that a loop ends before its
# place is asked, behind which its turns are a quarter as long.
LEAST_TURN, MOST_UNASKED = 1e-4, 64
NEVER = 1 << 60
TURN = 5e-3  # seconds that one takes, where that is known
FEW = 3  # turns: what they take is no time that passed between two loops
IN_VAIN = 5  # times that the place is asked; one at which its text is refused counts for more
REFUSED_COUNTS = 3
SOON = 15e-6  # seconds of a `for` with exits that is asked for behind its first round, if that pays
LONG_ROUND = 2e-4  # seconds: the loops in it are what takes the time
FIRST = 16  # rounds of a turn; of a body with loops in it one


def now() -> float:
    """Seconds, by a clock that no pending work runs for (frit/numpy/_clock.py)."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def copies_of(loop: ast.While) -> int:
    from frit.loops.names import nodes_in

    is_short = len(nodes_in([loop])) <= SHORT_BODY
    return MOST_COPIES if is_short else COPIES


FEW_EXITS = 8  # that tell whether it pays to go on behind them
AROUND = 1.3  # times what a call takes, what it takes with all that is around it


class Turns:
    """Of a `while`. spent: seconds as Python; each: of the rounds of a turn, divided by these.

    has_loops: in its body; appends: to lists, so that it may be left where one has no more room;
    exits: where branches begin at which it is left for Python (find/exits.py). due: of a `for`,
    variables that say which rounds are to be run. pauses: it may be left, to be asked again.
    """

    def __init__(
        self,
        *,
        has_loops: bool,
        appends: bool,
        exits: list[tuple[int, int]],
        due: list[str],
    ) -> None:
        self.has_loops = has_loops
        self.appends = appends
        self.exits = exits
        self.due = due
        self.pauses = appends or bool(exits)
        self.has_paused = False
        self.first = 1 if has_loops else FIRST
        self.spent = self.began = 0.0
        self.each = float("inf")
        self.count = self.fails = 0
        self.least = TURN
        self.sample = 4 if has_loops else 64
        self.is_measured = False
        self.exits_taken = self.rounds_compiled = 0
        self.compiled = 0.0
        self.is_paying = False  # to go on behind exits, as far as that has been judged
        self.is_at_once = False  # the place is asked again before Python runs another round
        self.entered: Any = None  # the iterator of a `for` for which it is so
        self.ahead = self.carried = 0  # rounds of a `for`: before it ends; of turns that ended so
        self.short_loops = 0  # one behind the other
        self.most = MOST  # rounds of a turn

    def end(self, now: float, rounds: int) -> float:
        """What the turn has taken."""
        took, self.began = now - self.began, now
        self.carried, carried = 0, self.carried
        if not rounds:  # the nest has run them
            return 0.0
        if rounds >= self.sample and self.count:
            self.is_measured = True
        self.count += 1
        if self.count == 1:  # nobody knows when it began
            return 0.0
        self.each = min(self.each, took / rounds)
        if self.count < FEW:
            return 0.0
        seconds = self.each * (rounds + carried)
        self.spent += seconds
        return seconds

    def is_worth_it(self, times: float = 1.0) -> bool:
        """times: what its translation takes, of another one's."""
        is_first = "frit.loops.nest.nest" not in sys.modules
        return self.spent > times * WORTH * (FIRST_WORTH if is_first else 1.0)

    def pays(self, seconds: float, rounds: int) -> bool:
        """Whether it pays to go on behind exits; False, too, where some rounds are not measured.

        seconds: of the latest call, with these rounds.
        """
        self.exits_taken += 1
        self.compiled += AROUND * seconds
        self.rounds_compiled += rounds
        if self.exits_taken < FEW_EXITS:
            return True
        if not self.is_measured:
            return False
        pays = self.rounds_compiled * self.each > self.compiled
        self.exits_taken = self.rounds_compiled = 0
        self.compiled = 0.0
        self.is_paying = pays
        if pays:
            self.succeed()
        return pays

    def succeed(self) -> None:
        self.fails, self.least = 0, TURN

    def following(self) -> int:
        """The rounds of the next one."""
        if self.count < FEW:
            return self.first
        return max(1, min(self.most, int(self.least / self.each)))

    def shorten(self, rounds: int) -> int | None:
        """The rounds of the next ones, where they have been too long; None: the loop is short."""
        fewer = rounds // 4
        if self.count < FEW or fewer * self.each < LEAST_TURN:
            return None
        self.most = fewer
        return fewer
