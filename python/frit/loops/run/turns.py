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

In a module's own code `left` is an attribute of the place.
"""

from __future__ import annotations

import sys
import time

from frit.loops.run.traits import FIRST_WORTH, WORTH

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast

# Of a body, one behind the other: so to count adds little to a round. And nodes of a short one.
COPIES, MOST_COPIES, SHORT_BODY = 3, 8, 40
MOST = 1 << 14  # rounds of a turn, and so many times the copies
NEVER = 1 << 60
TURN = 5e-3  # seconds that one takes, where that is known
FEW = 3  # turns: what they take is no time that passed between two loops
IN_VAIN = 5  # times that the place is asked; one at which its text is refused counts for more
REFUSED_COUNTS = 3
LONG_ROUND = 2e-4  # seconds: the loops in it are what takes the time
FIRST = 16  # rounds of a turn; of a body with loops in it one


def now() -> float:
    """Seconds, by a clock that no pending work runs for (frit/numpy/_clock.py)."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def copies_of(loop: ast.While) -> int:
    from frit.loops.names import nodes_in

    is_short = len(nodes_in([loop])) <= SHORT_BODY
    return MOST_COPIES if is_short else COPIES


class Turns:
    """Of a `while`. spent: seconds as Python; each: of the rounds of a turn, divided by these.

    has_loops: in its body; pauses: it appends to lists, so that it may be left where one has no
    more room, to be asked again.
    """

    def __init__(self, *, has_loops: bool, pauses: bool) -> None:
        self.has_loops = has_loops
        self.pauses = pauses
        self.has_paused = False
        self.first = 1 if has_loops else FIRST
        self.spent = self.began = 0.0
        self.each = float("inf")
        self.count = self.fails = 0
        self.least = TURN

    def end(self, now: float, rounds: int) -> float:
        """What the turn has taken."""
        took, self.began = now - self.began, now
        self.count += 1
        if self.count == 1:  # nobody knows when it began
            return 0.0
        self.each = min(self.each, took / rounds)
        if self.count < FEW:
            return 0.0
        self.spent += self.each * rounds
        return self.each * rounds

    def is_worth_it(self, times: float = 1.0) -> bool:
        """times: what its translation takes, of another one's."""
        is_first = "frit.loops.nest.nest" not in sys.modules
        return self.spent > times * WORTH * (FIRST_WORTH if is_first else 1.0)

    def following(self) -> int:
        """The rounds of the next one."""
        if self.count < FEW:
            return self.first
        return max(1, min(MOST, int(self.least / self.each)))
