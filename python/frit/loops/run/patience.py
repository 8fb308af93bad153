"""patience.py: when a place is asked again that has been asked in vain."""

from __future__ import annotations

import functools
import itertools
import sys
import types
from collections.abc import Callable

from frit import _importer
from frit.loops.run.loading import lost
from frit.loops.run.turns import now

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

MANY = 100  # refusals, after which a place ..
OFTEN = 200e-6  # .. that is asked more often than that is not asked again
MOST_OUTER = 50  # refusals of one in which no loop is asked for
MOST_IN_VAIN = 1000  # refusals of a place that is tried whatever it costs
MOST_BRIEF = 8  # measured ones that are over before a nest would begin
DEAR = 0.02  # of the time: one whose refusals cost more is asked ever more seldom
MOST_SKIPPED, FEWEST_SKIPPED = 10_000, 8
MOST_UNSEEN = 0.02  # seconds of calls that are skipped for being short: a machine is busy at times


class Patience:
    """A place is asked ever more seldom, until what that costs is little of the time; or never.

    To be told no costs microseconds, and the loop may take less. A call that goes by unasked is
    counted by the question whether the program is traced, which each call has to ask.
    """

    __slots__ = (
        "brief",
        "gate",
        "in_vain",
        "is_eager",
        "on",
        "refusals",
        "since",
        "skipped",
        "spent",
        "traced",
    )

    def __init__(self) -> None:
        self.on = True
        # Ask for `traced()` before `take`: a program that is being traced runs line by line.
        self.traced: Callable[[], Any] = sys.gettrace
        self.gate: Any = None  # of a place's `take`, if that is a gate's: it looks for itself
        self.is_eager = False  # translated at its first call that is not too short
        self.refusals = 0  # one behind the other, but for those of loops that are too short
        self.in_vain = 0  # all of them
        self.since = 0.0  # when the first of them, or the latest stretch of calls, began
        self.spent = 0.0  # seconds in these
        self.skipped = 0  # calls that go by before the place is asked again
        self.brief = 0  # measured calls, one behind the other, that gain nothing

    def succeed(self) -> None:
        self.refusals = self.skipped = 0

    def rest_a_while(self, frame: types.FrameType, began: float) -> None:
        """It has been asked since then for a loop that is too short."""
        if self.brief > MOST_BRIEF:
            return self.turn_off_in(frame)
        ended = now()
        took = ended - self.since  # of all calls since
        if ended - began > DEAR * took:
            few = int(MOST_UNSEEN * (1 + self.skipped) / took)
            self.skipped = min(max(FEWEST_SKIPPED, 2 * self.skipped), MOST_SKIPPED, few)
        else:
            self.skipped //= 2
        self.since, self.refusals = ended, 0
        self.skip(self.skipped)
        if lost.place is self:
            lost.start()  # the last of all

    def refuse(self, frame: types.FrameType, began: float) -> None:
        """It has been asked since then for a loop that it can't run."""
        self.in_vain += 1
        if self.is_eager:
            if self.in_vain > MOST_IN_VAIN and not self.has_plans():
                self.give_up()
            return
        if self.in_vain > MOST_OUTER and self.is_all_in_vain():
            return self.turn_off_in(frame)
        if self.refusals == 0 and not self.skipped:
            self.since, self.spent = began, 0.0
        self.refusals += 1 + self.skipped
        ended = now()
        self.spent += ended - began
        if self.refusals <= MANY:
            return
        if ended - self.since < self.refusals * OFTEN:
            return self.turn_off_in(frame)
        if self.skipped or self.spent > DEAR * (ended - self.since):
            self.skipped = min(max(MANY, 2 * self.skipped), MOST_SKIPPED)
            self.skip(self.skipped)
            self.since, self.spent = ended, 0.0
        self.refusals = 0

    def guessed_in_vain(self, is_short: bool) -> None:
        """As refuse, where there is no engine, by what the loop is guessed to take."""
        self.in_vain += 1
        if self.in_vain <= MANY:
            return
        self.in_vain = 0
        is_often = now() - self.since < OFTEN * (1 + self.skipped)
        if not _importer.may_have_arrays() or (is_often and not is_short):
            self.brief = MOST_BRIEF + 1  # nobody asks again
        elif not is_short:
            self.skipped = MOST_SKIPPED

    def skip(self, calls: int) -> None:
        """So many calls go by as Python, at the price of a `next`."""
        if calls:
            gate, self.gate = self.gate, None
            # What is traced sees no code of ours.
            traced = iter(sys.gettrace, None)
            wakes = map(self.wake, (gate,))
            goes_by = itertools.chain(itertools.repeat(True, calls), traced, wakes)
            # Threads that come meanwhile, or too late, are told what the others were.
            self.traced = functools.partial(next, goes_by, True)

    def wake(self, gate: Any) -> Any:
        self.traced = sys.gettrace
        if self.on:
            self.gate = gate
        return sys.gettrace()

    def turn_off(self) -> None:
        self.on, self.gate = False, None

    def turn_off_in(self, frame: types.FrameType) -> None:
        """For good: the frame's function may then get its own code back."""
        raise NotImplementedError

    def give_up(self) -> None:
        """As turn_off, and whoever has decorated the function hears of it."""
        raise NotImplementedError

    def has_plans(self) -> bool:
        raise NotImplementedError

    def is_all_in_vain(self) -> bool:
        """Nor do the loops in it run as nests: only what asks for them costs time."""
        raise NotImplementedError
