"""place.py: where a nest stands in a running program, and whether it pays to run it compiled.

The rewritten program asks its place first (rewrite.py). A place loads neither NumPy nor the engine:
a program without arrays never does. What answers depends on how far the place has come:

    ask(), which may skip calls   no engine: the loop is guessed and measured (loading.py)
    ask(), then bind()            what the names are is looked at, and the nest translated
    the binding's gate            in C: too short, known, or a call of start()
    nobody (`on` is false)        it has been asked in vain, or is over before a nest would begin

A `while`, and a `for` with exits, is asked behind some rounds (turns.py): end_of_turn().
"""

from __future__ import annotations

import atexit
import builtins
import functools
import itertools
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator

from frit import _activity, _importer
from frit._quiet import without_collections
from frit._signals import is_from_handler
from frit.loops import libraries
from frit.loops.run.given import LISTS, is_surrounding, may_be_items, may_end, seconds_of_lists
from frit.loops.run.loading import engine, lost
from frit.loops.run.traits import (
    FIRST_WORTH,
    KEPT_WORTH,
    OF_ARRAYS_WORTH,
    SHORT,
    WORTH,
    Guess,
    Traits,
    as_row,
    from_row,
    makes_arrays,
    traits_of,
)
from frit.loops.run.turns import IN_VAIN, LONG_ROUND, NEVER, REFUSED_COUNTS, SOON, Turns, now

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast
    from typing import Any

    from frit.loops.find.peel import Peel
    from frit.loops.find.trees import At, Trees
    from frit.loops.run.binding import Binding
    from frit.loops.run.given import Origin

MANY = 100  # refusals, after which a place ..
MOST_OUTER = 50  # refusals of one in which no loop is asked for
MOST_IN_VAIN = 1000  # refusals of a place that is tried whatever it costs
OFTEN = 200e-6  # .. that is asked more often than that is not asked again
INFINITY = float("inf")
RANGE_ITERATOR = type(iter(range(0)))
MOST_SHORT = 1000  # loops with exits, one behind the other, that are not worth to be asked for
MOST_BRIEF = 8  # measured ones that are over before a nest would begin
MOST_SHORT_WHILES = 10_000  # that end before their place is asked
MOST_UNASKED = 5e-6  # .. of lists that nobody asks about
DEAR = 0.02  # of the time: one whose refusals cost more is asked ever more seldom
MOST_PASSED_OVER, FEWEST_SKIPPED = 10_000, 8
MOST_OTHERS = 7  # bindings of a place beside the one that is used
REBOUND = 0.02  # seconds, before one of those makes room for another one
MOST_REBOUND = 20  # in vain
LITTLE = 1e-4  # seconds of a loop that counts, without NumPy
LONG_LISTS = "its lists are long, and it is short"
NOT_YET = "it has not run long enough to be worth it"
REFUSED = "it can't run so at this call"
# By the number of a gate's verdict (loop_pace.h).
_VERDICTS = (
    "",
    "it is too short",
    "it takes less time as Python",
    "it has not run long enough to be worth its translation",
    NOT_YET,
)
_OTHERS = (0, 1, 3, 4)  # tools of sys.monitoring that see lines; 2 is for profilers
MONITORING: Any = getattr(sys, "monitoring", None)
_SOON_DONE = _VERDICTS[1:4]
places: weakref.WeakSet[Place] = weakref.WeakSet()


@atexit.register
def _let_go() -> None:
    """What a module holds ends with the interpreter: files are flushed, `__del__` is called.

    Its dictionary, a function in it, the code, a place and the dictionary again are a cycle that
    the collector does not see: it does not look into code.
    """
    for place in places:
        place.on, place.space, place.early = False, None, None
        place.quiet = []  # the gates of others
        place.varied.clear()
        place.forget()


class Place:
    """A nest in the text of a program.

    passed: its variables that the call gives; outputs: those that it leaves. In a module's own
    code both are the module's variables, which the place reads and writes itself; its last rounds
    stay Python's there (peel.py).
    """

    __slots__ = (
        "__weakref__",
        "_node",
        "_peel",
        "_traits",
        "again",
        "asked_at",
        "at",
        "binding",
        "bindings",
        "bound_at",
        "brief",
        "clock",
        "early",
        "fails",
        "file",
        "gate",
        "has_translated",
        "in_vain",
        "inner",
        "is_bound_in_vain",
        "is_eager",
        "is_module",
        "is_peeled",
        "iterable",
        "iterator",
        "kept_traits",
        "left",
        "note_hopeless",
        "on",
        "origin",
        "original",
        "others",
        "outputs",
        "outside",
        "pass_over",
        "passed",
        "passed_over",
        "quiet",
        "range",
        "rebound",
        "refusals",
        "rest",
        "round",
        "rounds",
        "series",
        "shared",
        "since",
        "skipped",
        "space",
        "spent",
        "take",
        "told",
        "traced",
        "trees",
        "tuples",
        "turns",
        "varied",
    )

    def __init__(
        self,
        *,
        passed: list[str],
        outputs: list[str],
        outside: list[str],
        is_module: bool = False,
        is_peeled: bool = False,
        turns: Turns | None = None,
    ) -> None:
        self.on = True
        # Ask for `traced()` before `take`: a program that is being traced runs line by line.
        self.traced: Callable[[], Any] = sys.gettrace
        self.trees: Trees | None = None  # of the text,
        self.at: At = (0, 0, "", 0)  # and where the loop stands in it
        self.fails: list[tuple[int, int]] = []  # where branches begin at which the nest fails
        # Variables that it gives tuples, and of how many items: in the nest they are several.
        self.tuples: dict[str, int] = {}
        self.iterable = ""  # the name of what it goes over, if that had none
        self.series: Any = None  # that, of a module's own
        # None: nobody has asked for these.
        self._node: ast.For | ast.While | None = None
        self._peel: Peel | None = None
        self._traits: Traits | None = None
        self.kept_traits: tuple[Any, ...] | None = None  # a row
        self.origin: Origin | None = None  # None: nothing that is made of it is kept
        self.passed = passed
        self.outputs = outputs
        self.outside = outside  # variables of the module
        self.is_module = is_module
        self.is_peeled = is_peeled  # its last rounds are left to Python
        self.is_eager = False  # translated at its first call that is not too short
        self.shared: frozenset[str] = frozenset()  # variables that another thread may change
        self.file = ""
        self.space: dict[str, Any] | None = None  # of the module whose own code it stands in
        # The decorated function's, whose code holds this place: a reference would be a cycle that
        # is not seen by the collector, for it does not look into code.
        self.note_hopeless: weakref.WeakMethod[Callable[[], None]] | None = None
        self.original: types.CodeType | None = None  # of the function, as Python compiles it
        self.binding: Binding | None = None
        self.others: list[Binding] = []  # of other functions
        # Numbers of modules that functions read, and that have changed.
        self.varied: list[tuple[dict[str, Any], str]] = []
        self.bound_at, self.is_bound_in_vain = 0.0, False
        self.rebound = 0  # how often, since one of them ran
        self.has_translated = False  # in the latest call
        self.bindings = 0  # in vain, where attributes were not plain
        self.inner: list[Place] = []  # of the loops in it
        # Those that are not asked, since all of it is too short, with their gates.
        self.quiet: list[tuple[Place, Any]] = []
        # take(*passed) runs the nest, if it can: the outputs; None: it has to be run as Python. It
        # is the binding's gate, once there; so is the clock, which is stopped behind the loop,
        # while that runs as Python and is timed.
        self.take: Callable[..., tuple[Any, ...] | None] = self.ask
        self.clock: Any = None
        # Of a `while` (turns.py): the rounds of a turn, and those that are left of a module's own.
        self.turns = turns
        self.rounds = self.round = turns.first if turns is not None else 0
        self.again = 0  # those behind an exit
        # Of a module's own `for` with exits: its range, an iterator over it, and how it was left.
        self.range: Any = None
        self.iterator: Any = None
        self.left = 0
        if turns is not None:
            self.take = self.end_of_turn
        # rest(range) runs the nest, if it can, but for its last rounds: what is left of the range.
        self.rest: Callable[[Any], Any] = self.ask_rest
        self.early: Any = None  # the gate, before the attributes of objects are looked at
        self.gate: Any = None  # `take`, where that is a gate's: it looks whether it is traced
        self.refusals = self.in_vain = 0  # the latter all of them
        self.since = 0.0  # the first refusal of those that are counted
        self.spent = 0.0  # seconds in these
        self.pass_over = 0  # calls that are refused unseen, where a gate hears of them
        self.passed_over = 0  # how many were, the last time
        self.asked_at = 0.0  # the latest time without a gate; and how many calls go by unseen
        self.skipped = 0
        self.brief = 0  # measured calls, one behind the other, that gain nothing
        self.told = "it has not run yet" if turns is None else "it has not gone round often yet"
        if turns is not None and not turns.due and not is_module:
            self.__class__ = UnaskedWhile
        places.add(self)

    @property
    def loop(self) -> ast.For | ast.While:
        """As it stands in the text."""
        assert self.trees is not None
        return self.trees.loop(self.at)

    @property
    def node(self) -> ast.For | ast.While:
        """The nest: the loop, but for what it leaves to Python."""
        if self._node is None:
            self._node = self.loop
            exits = self.turns.exits if self.turns is not None else []
            if exits or self.fails:
                from frit.loops.find.exits import as_nest

                self._node = as_nest(self._node, exits, self.fails)
            if self.tuples:
                from frit.loops.find.tuples import with_parts
                from frit.loops.names import copied

                self._node = with_parts(copied(self._node), self.tuples)
            if self.iterable:
                from frit.loops.names import over_name

                self._node = over_name(self._node, self.iterable)  # type: ignore[arg-type]
        return self._node

    @property
    def peel(self) -> Peel:
        if self._peel is None:
            from frit.loops.find.peel import Peel

            self._peel = Peel(self.node)
        return self._peel

    @property
    def traits(self) -> Traits:
        if self._traits is None:
            self._traits = self.find_traits()
        return self._traits

    def find_traits(self) -> Traits:
        assert self.trees is not None
        row = self.kept_traits or self.trees.row(self.at)
        if row is not None:
            return from_row(row)
        with without_collections():
            made = traits_of(self.node, [*self.passed, *self.outside])
        self.trees.keep_row(self.at, as_row(made))
        return made

    def __reduce__(self) -> Any:
        # A copy of the code elsewhere runs as Python, and needs no Frit.
        state = {"on": False, "gate": None, "clock": None}
        return functools.partial, (int,), (int, (), {}, state)

    def ask(self, *passed: Any) -> tuple[Any, ...] | None:
        """As take: the whole way."""
        found, _ = self.start(passed, None, sys._getframe(1))
        return found

    def end_of_turn(self, *passed: Any) -> tuple[Any, ...] | None:
        """As take, behind some rounds as Python; of a loop that may be left, then how it was."""
        turns = self.turns
        assert turns is not None
        self.__class__ = Place  # no UnaskedWhile
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
            return None
        found, _ = self.start(passed, None, sys._getframe(1))
        if found is not None:
            return self.end_of_nest(turns, found, now() - began, rounds, iterator)
        turns.has_paused = self.has_translated = False
        if self.told in _VERDICTS:
            self.rounds = turns.following()
            return None
        if self.told is not LONG_LISTS:
            site = self.binding.site if self.binding is not None else None
            turns.fails += REFUSED_COUNTS if site is not None and site.refused else 1
        self.wait_longer(turns)
        return None

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
            iterator.__setstate__(index + 1)
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
        assert turns is not None
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
        assert turns is not None
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

    def is_pausing(self) -> bool:
        return self.turns is not None and self.turns.pauses

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

    def ask_rest(self, rounds: Any) -> Any:
        """As rest: the whole way."""
        if type(rounds) is not range or not rounds[1:]:  # len() would raise, of 2**63 rounds
            return rounds
        found, left = self.start((), rounds, sys._getframe(1))
        return rounds if found is None else rounds[-left:]

    def start(
        self, passed: tuple[Any, ...], rounds: range | None, frame: types.FrameType
    ) -> tuple[tuple[Any, ...] | None, int]:
        if self.pass_over:
            self.pass_over -= 1
            return None, 0
        space = frame.f_globals
        if not self.is_eager and not _activity.is_active():
            return None, 0
        if MONITORING is not None and _is_watched():
            return None, 0
        if self.is_module:
            if frame.f_locals is not space:
                return None, 0
            self.space = space
        began = now()
        found, left = self.attempt(passed, rounds, space)
        if self.inner:
            # What is soon done is so with all its loops; where nobody knows, they are asked.
            self.ask_inner(found is not None or self.told not in _SOON_DONE)
        if found is None:
            self.refuse(frame, began)
            return None, 0
        self.refusals = self.passed_over = self.skipped = 0
        if self.is_module:
            given = dict(zip(self.outputs, found, strict=not self.is_pausing()))
            space.update(with_tuples(given, self.tuples) if self.tuples else given)
        return found, left

    def attempt(
        self, passed: tuple[Any, ...], rounds: range | None, space: dict[str, Any]
    ) -> tuple[tuple[Any, ...] | None, int]:
        core: Any = sys.modules.get("frit._core")
        if core is None and self.turns is not None and "numpy" not in sys.modules:
            values = dict(zip(self.passed, passed, strict=True))
            if not self.may_be_taken(values, space):
                return self.not_now("its values are no numbers, arrays or lists")
        core = core or engine()
        if core is None:
            core = self.engine_if_it_pays(passed, space)
        if core is None:
            return self.not_now(_VERDICTS[3])  # nor are the loops in it
        if not libraries.hold(core):
            return self.not_now("the program has put another function into a library")
        binding, verdict = self.binding, None
        if binding is None:
            verdict = self.early_verdict(passed, space, core)
            if verdict:
                return self.not_now(_VERDICTS[verdict])
            binding = self.binding = self.bind(passed, space, core)
            if binding is None:
                return None, 0
        values = binding.values_of(passed, space)
        if values is None and binding.has_changed:
            binding, values = self.other_binding(binding, passed, space, core)
        if values is None:
            return None, 0
        signature = core.loop_signature(values) if rounds is None else None
        key: str | None = ""
        if signature is None:
            values = tuple(core.to_numpy(v) if isinstance(v, core.Scalar) else v for v in values)
            has_lists = any(type(v) in LISTS for v in values)
            key = None if has_lists else core.loop_key(values)
            if key is None and not has_lists:
                if binding.site is not None:
                    binding.site.calls_as_python += 1
                return self.not_now("an argument is no array or number")
        is_asked = verdict is not None and binding.gate is self.early
        if self.turns is None and not is_asked:  # a `while` was judged by its rounds
            verdict = binding.gate.verdict(*passed)
        if verdict:
            return self.not_now(_VERDICTS[verdict])
        originals: tuple[Any, ...] = ()
        lists: tuple[Any, ...] = ()
        if key is None:
            originals, lists = values, binding.with_logs(values)
            values = lists
            seconds = seconds_of_lists(values)
            if seconds > MOST_UNASKED and seconds > self.expected(binding, passed, seconds):
                return self.not_now(LONG_LISTS)
            found = self.arrays_of(lists, core)
            if found is None:
                if binding.site is not None:
                    binding.site.calls_as_python += 1
                return None, 0
            values, key = found
        plan = binding.sites[0].plan_of(signature, values) if 0 in binding.sites else None
        if plan is not None:
            self.told = REFUSED
            site = binding.sites[0]
            found = binding.done(site.start(plan, values), passed, space)
            if found is not None and binding.takes_all:
                binding.note(signature, site)  # the gate had forgotten it
            return found, 0
        if binding.first is not None and not binding.sites and not self.is_eager:
            binding.lost += self.expected(binding, passed, 0.0)
            if binding.lost < WORTH:
                return self.not_now(NOT_YET)
        left = 0
        if self.is_peeled and rounds is not None:
            known = dict(zip(binding.names, values, strict=True))
            for name in binding.grown:  # its length is not what it will be
                del known[name]
            left = self.peel.left(known, rounds)
            if left == 0 or not rounds[left:]:
                return self.not_now("its last rounds leave loops in it out")
        self.told = REFUSED
        site = binding.sites.get(left) or binding.make_site(left)
        found = site(key or core.loop_key(values), values, lists)
        found = binding.done(found, passed, space, originals, lists)
        if found is not None:
            self.rebound = 0
            binding.note(signature, site)
        return found, left

    def other_binding(
        self, binding: Binding, passed: tuple[Any, ...], space: dict[str, Any], core: Any
    ) -> tuple[Binding, tuple[Any, ...] | None]:
        """That of the functions that this call is given, and its values."""
        binding.has_changed = False
        others = self.others  # one that looks at its names may have this place forget them all
        for number, other in enumerate(others):
            values = other.values_of(passed, space)
            if values is not None:
                others[number], self.binding = binding, other
                return other, values
            other.has_changed = False
        is_late = now() - self.bound_at >= REBOUND
        if (
            not binding.is_whole
            or self.rebound > MOST_REBOUND
            or (self.is_bound_in_vain and not is_late)
        ):
            return binding, None
        if len(self.others) >= MOST_OTHERS:
            if not is_late:
                return binding, None
            del self.others[0]
        self.rebound += 1
        made = self.bind(passed, space, core, binding.first or binding)
        values = made.values_of(passed, space) if made is not None and made.is_whole else None
        self.bound_at, self.is_bound_in_vain = now(), values is None
        if made is None or values is None:
            return binding, None
        self.others.append(binding)
        self.binding = made
        return made, values

    def vary(self, variables: Iterable[tuple[dict[str, Any], str]]) -> bool:
        """Makes these numbers of modules values of the nest; False: they all are."""
        known, count = {(id(space), name) for space, name in self.varied}, len(self.varied)
        for space, name in variables:
            if (id(space), name) not in known:
                known.add((id(space), name))
                self.varied.append((space, name))
        return len(self.varied) > count

    def expected(self, binding: Binding, passed: tuple[Any, ...], unknown: float) -> float:
        """Seconds that it takes as Python; of a `while`, that what is left of it takes at least."""
        if self.turns is not None:
            return INFINITY if self.turns.has_paused else self.turns.each * self.rounds
        found: float | None = binding.gate.guess(*passed)
        return found or unknown

    def engine_if_it_pays(self, passed: tuple[Any, ...], space: dict[str, Any]) -> Any:
        """The engine, for a program without NumPy whose loops take long."""
        guess = self.traits.guess
        values = dict(zip(self.passed, passed, strict=True))

        def value_of(name: str) -> Any:
            return values.get(name, space.get(name))

        seconds = LITTLE
        if guess is not None:
            # Loops in functions are asked for by themselves, and measured.
            seconds = guess.priced(value_of, 1).seconds(value_of)
        is_short = seconds < LITTLE
        if is_short or not self.may_be_taken(values, space, seconds):
            self.refusals += 1
            if self.refusals > MANY:
                self.refusals = 0
                is_often = now() - self.asked_at < OFTEN * (1 + self.skipped)
                if not _importer.may_have_arrays() or (is_often and not is_short):
                    self.brief = NEVER  # nobody asks again
                elif not is_short:
                    self.skipped = MOST_PASSED_OVER
            return None
        lost.guessed += seconds
        if lost.is_worth_engine():
            return engine()
        if not self.is_peeled:
            lost.follow(self)
        return None

    def may_be_taken(
        self, values: dict[str, Any], space: dict[str, Any], seconds: float = INFINITY
    ) -> bool:
        """False: its values show that it stays Python. Asked before the engine is loaded."""
        from frit.loops.run.hopeless import hopeless_call

        traits, found = self.traits, {**values}
        for name in self.outside:
            value = space.get(name, getattr(builtins, name, None))
            if value is not None:
                found[name] = value
        if hopeless_call(traits.callees, found) is not None:
            return False
        may_be_none = {*traits.plain, *traits.nones}
        others = [
            value
            for name, value in found.items()
            if name not in traits.owners and not (value is None and name in may_be_none)
        ]
        if seconds_of_lists(others) > seconds:
            return False
        return all(may_be_items(v) or is_surrounding(v) for v in others)

    def arrays_of(self, values: tuple[Any, ...], core: Any) -> tuple[tuple[Any, ...], str] | None:
        """The values with arrays for lists, and their key."""
        found: tuple[tuple[Any, ...], str] | None = core.list_arrays(values)
        if found is None:
            self.told = "an argument is no array, number or list of numbers"
        return found

    def early_verdict(
        self, passed: tuple[Any, ...], space: dict[str, Any], core: Any
    ) -> int | None:
        """The gate's, for a nest with attributes of objects: to look at these takes milliseconds.

        None: it has none, or nobody can tell.
        """
        guess = self.traits.early
        if guess is None or self.is_eager or "frit.pykokkos._views" in sys.modules:
            return None
        if self.early is None:
            values = dict(zip(self.passed, passed, strict=True))
            owners = (values.get(name, space.get(name)) for name in self.traits.owners)
            if all(value is None or may_end(core, value) for value in owners):
                return None
            numbers = {name: k for k, name in enumerate(self.passed)}
            split = (name.split(".") for name in guess.names)
            inputs = [(numbers.get(root, root), *path) for root, *path in split]
            guess = guess.priced(lambda n: values.get(n, space.get(n)))
            self.early = self.new_gate(guess, inputs, False, space, core)
            self.put(self.early)
        verdict: int = self.early.verdict(*passed)
        return verdict

    def new_gate(
        self,
        guess: Guess | None,
        inputs: list[tuple[Any, ...]],
        is_kept: bool,
        space: dict[str, Any],
        core: Any,
    ) -> Any:
        """inputs: where a call finds what the guess reads; is_kept: it has been translated."""
        worth = WORTH * (OF_ARRAYS_WORTH if guess is not None and guess.makes_arrays else 1.0)
        if is_kept:
            worth = min(worth, KEPT_WORTH)
        steps = guess.steps if guess is not None else []
        gate = core.LoopGate(
            self, space, steps, inputs, SHORT, worth, worth * FIRST_WORTH, self.is_eager
        )
        if guess is not None and guess.is_always_below(SHORT):
            self.told = _VERDICTS[1]
            self.give_up()
        return gate

    def put(self, gate: Any) -> None:
        """The gate stands for `take` or `rest` from now on."""
        if self.is_peeled:
            self.rest = gate.rest
        elif self.turns is None:
            self.take = self.gate = gate.take

    def ask_inner(self, asked: bool) -> None:
        if asked == (not self.quiet):
            return
        for place, gate in self.quiet:
            place.on, place.gate = True, gate
        self.quiet = [] if asked else [(place, place.gate) for place in self.inner if place.on]
        for place, _ in self.quiet:
            place.turn_off()

    def bind(
        self,
        passed: tuple[Any, ...],
        space: dict[str, Any],
        core: Any,
        first: Binding | None = None,
    ) -> Binding | None:
        from frit.loops.run.binding import Binding

        try:
            with without_collections():
                return Binding(self, passed, space, core, first=first)
        except Exception as error:  # whatever is wrong with us, Python can run it
            if is_from_handler(error):
                raise
            from frit.loops.run.site import OURS

            self.told = OURS + repr(error)
            self.give_up()
            return None

    def not_now(self, why: str) -> tuple[None, int]:
        self.told = why
        return None, 0

    @property
    def why(self) -> str:
        """Why its latest call was run as Python."""
        binding, gate = self.binding, self.early
        if binding is not None:
            gate = binding.gate if binding.is_whole else None
        latest = gate.latest() if gate is not None else 0
        return _VERDICTS[latest] if latest else self.told

    def refuse(self, frame: types.FrameType, began: float) -> None:
        """A place that is asked often, and in vain, is not asked again, or more seldom."""
        if not self.on:
            return restore(frame.f_code, frame.f_globals)
        if self.is_eager:
            self.refusals += self.told not in _VERDICTS
            if self.refusals > MOST_IN_VAIN and not self.has_plans():
                self.give_up()
            return
        if self.told in _VERDICTS:
            if self.gate is None and self.turns is None:
                self.rest_a_while(frame, began)
            return
        self.in_vain += 1
        if self.in_vain > MOST_OUTER and self.is_all_in_vain():
            return self.turn_off_in(frame)
        if self.refusals == 0 and not self.passed_over:
            self.since, self.spent = began, 0.0
        self.refusals += 1
        ended = now()
        self.spent += ended - began
        if self.refusals <= MANY and not self.passed_over:
            return
        calls, self.refusals = max(MANY, self.passed_over), 0
        if ended - self.since < calls * OFTEN:
            self.turn_off_in(frame)
        elif self.passed_over or self.spent > DEAR * (ended - self.since):
            longer = max(MANY, 2 * self.passed_over)
            self.passed_over = min(longer, MOST_PASSED_OVER)
            self.skip(self.passed_over)
            self.since = ended

    def rest_a_while(self, frame: types.FrameType, began: float) -> None:
        """Short loops are asked for ever more seldom, until that takes little of the time."""
        if self.brief > MOST_BRIEF:
            return self.turn_off_in(frame)
        ended = now()
        if ended - began > DEAR * (ended - self.asked_at):
            self.skipped = min(max(FEWEST_SKIPPED, 2 * self.skipped), MOST_PASSED_OVER)
        else:
            self.skipped //= 2
        self.asked_at = ended
        self.skip(self.skipped)
        if self.clock is lost:
            lost.start()  # the last of all

    def skip(self, calls: int) -> None:
        """So many calls go by as Python; where there is no gate, at the price of a `next`."""
        if self.gate is not None:
            self.pass_over = calls
        elif calls:
            goes_by = itertools.chain(itertools.repeat(True, calls), map(self.wake, (None,)))
            # Threads that come meanwhile, or too late, are told what the others were.
            self.traced = functools.partial(next, goes_by, True)

    def wake(self, _: None) -> Any:
        self.traced = sys.gettrace
        return sys.gettrace()

    def is_all_in_vain(self) -> bool:
        """Nor do the loops in it run as nests: only what asks for them costs time."""
        return bool(self.inner) and not self.has_plans() and not any(p.on for p in self.inner)

    def forget(self) -> None:
        self.binding, self.clock, self.gate = None, None, None
        self.others = []
        self.rest = self.ask_rest
        self.take = self.ask if self.turns is None else self.end_of_turn

    def has_plans(self) -> bool:
        return self.binding is not None and any(s.plans for s in self.binding.sites.values())

    def has_plans_of_arrays(self) -> bool:
        """And of no lists, which it would make arrays of at each call."""
        keys = [k for s in self.binding.sites.values() for k in s.plans] if self.binding else []
        return any("L" not in key and "Q" not in key for key in keys)

    def turn_off(self) -> None:
        self.on, self.gate = False, None

    def turn_off_in(self, frame: types.FrameType) -> None:
        """For good: the frame's function may then get its own code back."""
        self.turn_off()
        restore(frame.f_code, frame.f_globals)

    def give_up(self) -> None:
        self.turn_off()
        note = self.note_hopeless() if self.note_hopeless is not None else None
        if note is not None:
            note()


class UnaskedWhile(Place):
    """A `while` of a function, whose place nobody has been asked for yet.

    One that is entered often, and each time left before its place is asked, is too short for a
    nest: to count its rounds costs some per cent.
    """

    __slots__ = ()

    @property
    def rounds(self) -> int:  # type: ignore[override]
        turns = self.turns
        assert turns is not None
        turns.short_loops += 1
        if turns.short_loops > MOST_SHORT_WHILES:
            self.__class__ = Place
            if not self.is_eager:
                self.turn_off_in(sys._getframe(1))
        return _rounds.__get__(self)

    @rounds.setter
    def rounds(self, rounds: int) -> None:
        _rounds.__set__(self, rounds)


_rounds: Any = vars(Place)["rounds"]


def due_of(rounds: range, iterator: Any) -> tuple[int, int, int]:
    """What is left of a range: its first, where it stops, and the step."""
    index = len(rounds) - iterator.__length_hint__()
    return rounds[index], rounds.stop, rounds.step


def calls() -> tuple[int, int]:
    """How many calls of nests ran compiled, and as Python, where somebody had taken them."""
    bindings = [b for place in places for b in (place.binding, *place.others)]
    sites = [s for b in bindings if b is not None for s in b.sites.values()]
    return sum(s.calls for s in sites), sum(s.calls_as_python for s in sites)


def _is_watched() -> bool:
    """Whether a debugger or a coverage tool wants to see lines without sys.settrace."""
    return any(map(MONITORING.get_tool, _OTHERS))


def module_place(
    node: ast.For | ast.While,
    private: set[str],
    assigned: set[str],
    needed: set[str],
    turns: Turns | None,
    tuples: dict[str, int],
) -> Place:
    """A nest of a module's own code: every variable of it is left, and may be read later.

    needed: variables whose values before the loop matter; tuples: as of a Place.
    """
    nest: Any = node
    parts: set[str] = set()
    if tuples:
        from frit.loops.find.tuples import parts_of_all, with_parts
        from frit.loops.names import copied

        nest, parts = with_parts(copied(node), tuples), {*parts_of_all(tuples)}
    # The last rounds are Python's only where every round is run, and nothing is run behind them.
    if turns is None and (peel := _peel_of(nest)) is not None:
        outputs, outside = peel.variables(private)
        outside = [name for name in outside if name not in parts]
        place = Place(passed=[], outputs=outputs, outside=outside, is_module=True, is_peeled=True)
    else:
        due = turns.due if turns is not None else []
        place = Place(
            passed=[*due],
            outputs=sorted(assigned - tuples.keys() | parts),
            outside=sorted(needed - {*due} - tuples.keys()),
            is_module=True,
            turns=turns,
        )
    place.tuples = tuples
    return place


def with_tuples(given: dict[str, Any], tuples: dict[str, int]) -> dict[str, Any]:
    """Variables' new values, of which some were given tuples, which stand there by their parts."""
    from frit.loops.find.tuples import parts_of_tuple

    for name, count in tuples.items():
        *items, is_given = parts_of_tuple(name, count)
        if is_given in given:  # else Python gives it one in its last rounds
            made = tuple(given.pop(item) for item in items)
            if given.pop(is_given):
                given[name] = made
    return given


def _peel_of(node: Any) -> Peel | None:
    import ast

    from frit.loops.find.flow import is_over_range
    from frit.loops.find.peel import Peel
    from frit.translate.flow import may_leave

    if node.orelse or not is_over_range(node) or any(may_leave(s, (ast.Break,)) for s in node.body):
        return None
    return Peel(node)


def places_of(code: types.CodeType, space: dict[str, Any]) -> Iterator[Place]:
    """The places of a function's code: constants, or in a notebook variables of its module."""
    yield from without_places.get(code, ())
    for found in (*code.co_consts, *map(space.get, code.co_names)):
        if isinstance(found, Place):
            yield found


def restore(code: types.CodeType, space: dict[str, Any]) -> None:
    """Gives a function whose places are all off its own code back, if it stands in its module."""
    original = originals.get(code)
    found = [*places_of(code, {})]
    if original is None or any(place.on for place in found):
        return
    first, *rest = getattr(code, "co_qualname", code.co_name).split(".")
    at = space.get(first)
    for name in rest:
        at = vars(at).get(name) if isinstance(at, type) else None
    at = getattr(at, "__func__", getattr(at, "fget", at))
    while isinstance(at, types.FunctionType) and at.__code__ is not code:
        at = vars(at).get("__wrapped__")
    if isinstance(at, types.FunctionType):
        at.__code__ = original
        without_places[original] = found


without_places: dict[types.CodeType, list[Place]] = {}  # the places that were in it once
originals: dict[types.CodeType, types.CodeType] = {}  # of code that has places


def original_code(function: types.FunctionType) -> types.CodeType:
    """What Python compiles the function's text to."""
    code = function.__code__
    known = originals.get(code)
    if known is not None:
        return known
    for place in places_of(code, function.__globals__):
        if place.original is not None:
            return place.original.replace(co_filename=code.co_filename)
    return code
