"""turn_place.py: the place of a loop that is asked behind some of its rounds (turns.py)."""

from __future__ import annotations

import functools
import itertools
import sys
import types
from operator import itemgetter, methodcaller

from frit._signals import leave_out
from frit.loops.run.loading import lost
from frit.loops.run.place import FRAMES, LONG_LISTS, VERDICTS, Place, go_down
from frit.loops.run.traits import OF_ARRAYS_WORTH, makes_arrays
from frit.loops.run.turns import (
    IN_VAIN,
    LONG_ROUND,
    MOST_UNASKED,
    NEVER,
    REFUSED_COUNTS,
    SOON,
    Turns,
    now,
)

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

    from frit.loops.run.binding import Binding

INFINITY = float("inf")
RANGE_ITERATOR = type(iter(range(0)))
MOST_SHORT = 1000  # loops with exits, one behind the other, that are not worth to be asked for
MOST_SHORT_WHILES = 10_000  # that end before their place is asked


class TurnPlace(Place):
    """Of a `while`, or of a `for` with exits: what is asked about is what is left of the loop."""

    __slots__ = ("again", "enter", "iterator", "left", "range", "round", "rounds", "turns")

    turns: Turns
    asks_behind_rounds = True

    def __init__(
        self,
        *,
        passed: list[str],
        outputs: list[str],
        outside: list[str],
        turns: Turns,
        is_module: bool = False,
    ) -> None:
        super().__init__(passed=passed, outputs=outputs, outside=outside, is_module=is_module)
        self.turns = turns
        # The rounds of a turn, and those that are left of a module's own.
        self.rounds = self.round = turns.first
        self.again = 0  # those behind an exit
        # Of a module's own `for` with exits: its range, an iterator over it, and how it was left.
        self.range: Any = None
        self.iterator: Any = None
        self.left = 0
        self.told = "it has not gone round often yet"
        if not turns.due and not is_module:
            self.__class__ = UnaskedWhile
            self.watch()

    @property
    def pauses(self) -> bool:  # type: ignore[override]
        return self.turns.pauses

    def ask(self, *passed: Any) -> tuple[Any, ...] | None:
        """As take, behind some rounds as Python; of a loop that may be left, then how it was."""
        try:
            go_down(FRAMES)
        except RecursionError:
            self.rounds = self.turns.first
            return None
        try:
            turns = self.turns
            is_watched = self.__class__ is not TurnPlace
            self.__class__ = TurnPlace
            began = now()
            rounds, iterator = self.range, self.iterator  # of a module's own loop
            if turns.due:
                if not self.is_module:
                    *passed, rounds, iterator = passed  # type: ignore[assignment]
                passed = (*passed, *due_of(rounds, iterator)[: len(turns.due)])
            done = turns.ahead - iterator.__length_hint__() if turns.due else self.rounds
            seconds = turns.end(began, 0 if turns.is_at_once else done)
            turns.is_at_once, turns.entered = False, None
            if not self.may_be_worth_it(turns, seconds, passed):
                self.rounds = turns.following()
                if is_watched:
                    self.__class__ = AskedWhile
                    self.watch()
                return None
            found, _ = self.start(passed, None, sys._getframe(1))
            if found is not None:
                return self.end_of_nest(turns, found, now() - began, rounds, iterator)
            turns.has_paused = self.has_translated = False
            if self.told in VERDICTS:
                self.rounds = turns.following()
                return None
            if self.told is not LONG_LISTS:
                site = self.binding.site if self.binding is not None else None
                turns.fails += REFUSED_COUNTS if site is not None and site.refused else 1
            self.wait_longer(turns)
            return None
        except BaseException as error:
            leave_out(error)
            raise

    def end_of_nest(
        self,
        turns: Turns,
        found: tuple[Any, ...],
        seconds: float,
        rounds: range,
        iterator: Any,
    ) -> tuple[Any, ...] | None:
        """What it gives, once it is settled how the loop goes on."""
        self.rounds = turns.first
        if not turns.pauses:
            turns.succeed()
            return found
        *found, count, left = found
        self.left = left
        pays = self.pays(turns, seconds, count)
        turns.has_paused = left != 0 and (pays or not turns.is_measured)
        if turns.due and left > 0:
            index = rounds.index(found[self.outputs.index(self.node.target.id)])
            go_on_behind(index, rounds, iterator)
        # A module's own that has paused goes on as behind any other turn.
        turns.is_at_once = left != 0 and pays and not (left < 0 and self.is_module)
        turns.entered = iterator if turns.is_at_once else None
        self.again = 0 if turns.is_at_once else self.rounds
        turns.began = now()
        return (*found, left) if left >= 0 or not self.is_module else None

    def pays(self, turns: Turns, seconds: float, count: int) -> bool:
        """Whether it is asked again at once behind a nest; if not, first how many rounds go by."""
        is_new, self.has_translated = self.has_translated, False
        if not turns.exits:
            turns.succeed()
            return True
        if is_new or turns.pays(seconds, count):
            return True
        if turns.is_measured:
            turns.fails += 1
            self.wait_longer(turns)
        else:
            self.rounds = turns.sample
        return False

    def wait_longer(self, turns: Turns) -> None:
        turns.least *= 4
        turns.is_paying = False
        self.rounds = turns.following()
        if turns.fails > IN_VAIN:
            self.on, self.rounds = False, NEVER

    # Of a `for` with exits.
    iter = staticmethod(iter)

    def turn(self, iterator: Any) -> Any:
        """The rounds that Python runs before the place is asked."""
        turns = self.turns
        if type(iterator) is not RANGE_ITERATOR:
            return iterator
        if turns.entered is iterator:
            return ()
        turns.ahead, turns.began = iterator.__length_hint__(), now()
        rounds = max(turns.first, self.rounds - turns.carried)
        if turns.is_paying and self.rounds == turns.first and turns.ahead * turns.each > SOON:
            rounds = 1  # its variable has a value then
        return itertools.islice(iterator, rounds)

    def goes_on(self, iterator: Any) -> bool:
        """Whether there are rounds left."""
        turns = self.turns
        if type(iterator) is RANGE_ITERATOR and iterator.__length_hint__():
            return True
        turns.carried += turns.ahead
        if turns.ahead >= turns.first:
            turns.short_loops, turns.is_measured = 0, True
            turns.each = min(turns.each, max(now() - turns.began, 1e-9) / turns.ahead)
            return False
        turns.short_loops += 1
        if turns.short_loops > MOST_SHORT:
            self.turn_off_in(sys._getframe(1))
        return False

    def may_be_worth_it(self, turns: Turns, seconds: float, passed: tuple[Any, ...]) -> bool:
        if self.is_eager or turns.has_paused:
            return True
        if turns.each > LONG_ROUND and any(place.has_plans_of_arrays() for place in self.inner):
            return False
        if "frit._core" not in sys.modules and "numpy" not in sys.modules:
            if not turns.has_loops:  # those count by themselves
                lost.measure(seconds)
            return lost.is_worth_engine()
        if self.binding is not None and turns.is_paying:  # asked before
            return True
        if not turns.is_worth_it():
            return False
        space = self.space if self.space is not None else sys._getframe(2).f_globals
        values = dict(zip(self.passed, passed, strict=True))

        def value_of(name: str) -> Any:
            return values.get(name, space.get(name))

        is_large = makes_arrays(self.traits.callees, value_of)
        return not is_large or turns.is_worth_it(OF_ARRAYS_WORTH)

    # What is asked of another place is known of this one by its rounds.

    def attempt(
        self, passed: tuple[Any, ...], rounds: range | None, space: dict[str, Any]
    ) -> tuple[tuple[Any, ...] | None, int]:
        if "frit._core" not in sys.modules and "numpy" not in sys.modules:
            values = dict(zip(self.passed, passed, strict=True))
            if not self.may_be_taken(values, space):
                return self.not_now("its values are no numbers, arrays or lists")
        return super().attempt(passed, rounds, space)

    def verdict(self, binding: Binding, passed: tuple[Any, ...]) -> int:
        return 0

    def expected(self, binding: Binding, passed: tuple[Any, ...], unknown: float) -> float:
        """Seconds that what is left of it takes at least."""
        return INFINITY if self.turns.has_paused else self.turns.each * self.rounds

    def put(self, gate: Any) -> None:
        """It has none."""

    def rest_a_while(self, frame: types.FrameType, began: float) -> None:
        """Its turns get longer instead."""


_rounds: Any = vars(TurnPlace)["rounds"]


def _set_rounds(place: WatchedWhile, rounds: int) -> None:
    _rounds.__set__(place, rounds)
    place.watch()


class WatchedWhile(TurnPlace):
    """A `while` of a function that may end, each time, before its place is asked.

    Whoever begins it reads `rounds`, which counts that without any code that a tracer could see.
    """

    __slots__ = ()

    rounds: Any = property(methodcaller("enter"), _set_rounds)  # type: ignore[assignment]

    def watch(self) -> None:
        """Calls end_watch behind so many entries, the next time that the program isn't traced."""
        rounds = _rounds.__get__(self)
        traced = zip(itertools.repeat(rounds), iter(sys.gettrace, None), strict=False)
        entries = itertools.chain(
            itertools.repeat(rounds, self.most_entries()),
            map(itemgetter(0), traced),
            map(self.end_watch, (rounds,)),
        )
        # Threads that come meanwhile are told what the others were.
        self.enter = functools.partial(next, entries, rounds)

    def most_entries(self) -> int:
        raise NotImplementedError

    def end_watch(self, rounds: int) -> int:
        """It was entered so often: the rounds of its next turn. Called by the loop's own frame."""
        raise NotImplementedError


class UnaskedWhile(WatchedWhile):
    """One whose place nobody has been asked for yet.

    If it is entered often, it is too short for a nest: to count its rounds costs some per cent.
    """

    __slots__ = ()

    def most_entries(self) -> int:
        return MOST_SHORT_WHILES

    def end_watch(self, rounds: int) -> int:
        self.__class__ = TurnPlace
        if not self.is_eager:
            self.turn_off_in(sys._getframe(1))
        return rounds


class AskedWhile(WatchedWhile):
    """One whose place has been asked: it may take long, and end before a turn of it does."""

    __slots__ = ()

    def most_entries(self) -> int:
        return MOST_UNASKED

    def end_watch(self, rounds: int) -> int:
        fewer = self.turns.shorten(rounds)
        if fewer is None:
            self.__class__ = TurnPlace
            return rounds
        self.rounds = fewer
        return fewer


def _counts_from_here() -> bool:
    """Whether the state of a range's iterator is a number of rounds to skip (Python 3.12)."""
    iterator: Any = iter(range(3))
    next(iterator)
    iterator.__setstate__(1)
    return next(iterator) == 2


_IS_RELATIVE = _counts_from_here()


def go_on_behind(index: int, rounds: range, iterator: Any) -> None:
    """Its next number is the one behind this one of the range."""
    done = len(rounds) - iterator.__length_hint__() if _IS_RELATIVE else 0
    iterator.__setstate__(index + 1 - done)


def due_of(rounds: range, iterator: Any) -> tuple[int, int, int]:
    """What is left of a range: its first, where it stops, and the step."""
    index = len(rounds) - iterator.__length_hint__()
    return rounds[index], rounds.stop, rounds.step


def new_place(*, turns: Turns | None = None, is_peeled: bool = False, **names: Any) -> Place:
    if turns is not None:
        return TurnPlace(turns=turns, **names)
    return Place(is_peeled=is_peeled, **names)
