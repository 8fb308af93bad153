"""place.py: where a nest stands in a running program, and whether it pays to run it compiled.

The rewritten program asks its place first (rewrite.py). A place loads neither NumPy nor the engine:
a program without arrays never does. What answers depends on how far the place has come:

    ask(), which may skip calls   no engine: the loop is guessed and measured (loading.py)
    ask(), then bind()            what the names are is looked at, and the nest translated
    the binding's gate            in C: too short, known, or a call of start()
    nobody (`on` is false)        it has been asked in vain, or is over before a nest would begin

A `while`, and a `for` with exits, is asked behind some of its rounds (turn_place.py). When a place
is asked again that was asked in vain: patience.py.
"""

from __future__ import annotations

import atexit
import builtins
import functools
import sys
import types
import weakref
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator

from frit import _activity, _kept
from frit._quiet import without_collections
from frit._signals import is_from_handler, leave_out
from frit.loops import libraries
from frit.loops.run.given import (
    LISTS,
    is_surrounding,
    may_be_items,
    may_end,
    of_vain_try,
    seconds_of_lists,
)
from frit.loops.run.loading import engine, lost
from frit.loops.run.patience import Patience
from frit.loops.run.traits import (
    FIRST_WORTH,
    IN_VAIN_WORTH,
    KEPT_WORTH,
    OF_ARRAYS_WORTH,
    SHORT,
    WORTH,
    Guess,
    Traits,
    as_row,
    from_row,
    traits_of,
)
from frit.loops.run.turns import NEVER, now

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast
    from typing import Any

    from frit.loops.find.peel import Peel
    from frit.loops.find.trees import At, Trees
    from frit.loops.run.binding import Binding
    from frit.loops.run.given import Origin
    from frit.loops.run.turns import Turns

MOST_UNASKED = 5e-6  # seconds of lists that nobody asks about
MOST_OTHERS = 7  # bindings of a place beside the one that is used
REBOUND = 0.02  # seconds, before one of those makes room for another one
MOST_REBOUND = 20  # in vain
LITTLE = 1e-4  # seconds of a loop that counts, without NumPy
LONG_LISTS = "its lists are long, and it is short"
NOT_YET = "it has not run long enough to be worth it"
REFUSED = "it can't run so at this call"
# By the number of a gate's verdict (loop_pace.h).
VERDICTS = (
    "",
    "it is too short",
    "it takes less time as Python",
    "it has not run long enough to be worth its translation",
    NOT_YET,
)
_OTHERS = (0, 1, 3, 4)  # tools of sys.monitoring that see lines; 2 is for profilers
MONITORING: Any = getattr(sys, "monitoring", None)
_SOON_DONE = VERDICTS[1:4]
FRAMES = 25  # that it takes to ask, but for a translation
places: weakref.WeakSet[Place] = weakref.WeakSet()
gone = [0, 0]  # of what calls() counts, that of sites that are no more


def alive(found: weakref.WeakSet[Any]) -> list[Any]:
    """What is in it: to go over it raises where another thread adds to it meanwhile."""
    while True:
        try:
            return [*found]
        except RuntimeError:
            continue


def go_down(frames: int) -> None:
    """Raises RecursionError where so many more are too many: before anything has happened."""
    if frames:
        go_down(frames - 1)


@atexit.register
def _let_go() -> None:
    """What a module holds ends with the interpreter: files are flushed, `__del__` is called.

    Its dictionary, a function in it, the code, a place and the dictionary again are a cycle that
    the collector does not see: it does not look into code.
    """
    for place in alive(places):
        place.on = False
        place.let_go()


class Place(Patience):
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
        "at",
        "binding",
        "bindings",
        "bound_at",
        "clock",
        "early",
        "fails",
        "file",
        "has_translated",
        "inner",
        "is_bound_in_vain",
        "is_module",
        "is_peeled",
        "iterable",
        "kept_traits",
        "module",
        "note_hopeless",
        "origin",
        "original",
        "others",
        "outputs",
        "outside",
        "passed",
        "quiet",
        "rebound",
        "rest",
        "series",
        "shared",
        "space",
        "starts_in",
        "take",
        "told",
        "trees",
        "tuples",
        "varied",
    )

    turns: Turns | None = None  # of one that is asked behind some rounds
    pauses = False  # it may leave its nest in the middle, which is to go on then
    asks_behind_rounds = False  # turn_place.py

    def __init__(
        self,
        *,
        passed: list[str],
        outputs: list[str],
        outside: list[str],
        is_module: bool = False,
        is_peeled: bool = False,
    ) -> None:
        super().__init__()
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
        self.starts_in = 0  # the thread that does
        self.kept_traits: tuple[Any, ...] | None = None  # a row
        self.origin: Origin | None = None  # None: nothing that is made of it is kept
        self.passed = passed
        self.outputs = outputs
        self.outside = outside  # variables of the module
        self.is_module = is_module
        self.is_peeled = is_peeled  # its last rounds are left to Python
        self.shared: frozenset[str] = frozenset()  # variables that another thread may change
        self.file = ""
        self.space: dict[str, Any] | None = None  # of the module whose own code it stands in
        # That whose variables the bindings hold, which go with it.
        self.module: weakref.ref[types.ModuleType] | None = None
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
        # rest(range) runs the nest, if it can, but for its last rounds: what is left of the range.
        self.rest: Callable[[Any], Any] = self.ask_rest
        self.early: Any = None  # the gate, before the attributes of objects are looked at
        self.told = "it has not run yet"
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
        state = {"on": False, "gate": None, "clock": None, "rounds": NEVER}
        return functools.partial, (int,), (int, (), {}, state)

    def ask(self, *passed: Any) -> tuple[Any, ...] | None:
        """As take: the whole way."""
        try:
            go_down(FRAMES)
        except RecursionError:
            return None
        try:
            found, _ = self.start(passed, None, sys._getframe(1))
        except BaseException as error:
            leave_out(error)
            raise
        return found

    def ask_rest(self, rounds: Any) -> Any:
        """As rest: the whole way."""
        if type(rounds) is not range or not rounds[1:]:  # len() would raise, of 2**63 rounds
            return rounds
        try:
            go_down(FRAMES)
        except RecursionError:
            return rounds
        try:
            found, left = self.start((), rounds, sys._getframe(1))
        except BaseException as error:
            leave_out(error)
            raise
        return rounds if found is None else rounds[-left:]

    def start(
        self, passed: tuple[Any, ...], rounds: range | None, frame: types.FrameType
    ) -> tuple[tuple[Any, ...] | None, int]:
        space = frame.f_globals
        if not self.is_eager and not _activity.is_active():
            return None, 0
        if MONITORING is not None and _is_watched():
            return None, 0
        if self.is_module:
            if frame.f_locals is not space:
                return None, 0
            self.space = space
        thread = get_ident()
        if self.starts_in == thread:  # what it imports goes through the program's own importer
            return None, 0
        began, self.starts_in = now(), thread
        try:
            found, left = self.attempt(passed, rounds, space)
        finally:
            self.starts_in = 0
        if self.inner:
            # What is soon done is so with all its loops; where nobody knows, they are asked.
            self.ask_inner(found is not None or self.told not in _SOON_DONE)
        if found is None:
            self.note_refusal(frame, began)
            return None, 0
        self.succeed()
        lost.has_run = True
        if self.is_module:
            given = dict(zip(self.outputs, found, strict=not self.pauses))
            space.update(with_tuples(given, self.tuples) if self.tuples else given)
        return found, left

    def attempt(
        self, passed: tuple[Any, ...], rounds: range | None, space: dict[str, Any]
    ) -> tuple[tuple[Any, ...] | None, int]:
        core: Any = sys.modules.get("frit._core")
        core = core or engine()
        if core is None:
            core = self.engine_if_it_pays(passed, space)
        if core is None:
            return self.not_now(VERDICTS[3])  # nor are the loops in it
        if not libraries.hold(core):
            return self.not_now("the program has put another function into a library")
        binding, verdict = self.binding, None
        if binding is None:
            self.end_with_module(space)
            verdict = self.early_verdict(passed, space, core)
            if verdict:
                return self.not_now(VERDICTS[verdict])
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
            kinds = {*map(type, values)}
            if core.Scalar in kinds:
                values = tuple(core.to_numpy(v) if type(v) is core.Scalar else v for v in values)
            has_lists = not kinds.isdisjoint(LISTS)
            key = None if has_lists else core.loop_key(values)
            if key is None and not has_lists:
                if binding.site is not None:
                    binding.site.calls_as_python += 1
                return self.not_now("an argument is no array or number")
        is_asked = verdict is not None and binding.gate is self.early
        if not is_asked:
            verdict = self.verdict(binding, passed)
        if verdict:
            return self.not_now(VERDICTS[verdict])
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

    def end_with_module(self, space: dict[str, Any]) -> None:
        """What it knows of the module is let go with it (see _let_go).

        One that is imported again leaves nothing behind then.
        """
        name = space.get("__name__")
        module = sys.modules.get(name) if type(name) is str else None
        is_there = self.module is not None or not isinstance(module, types.ModuleType)
        # Without loading a module that waits to be.
        if not is_there and object.__getattribute__(module, "__dict__") is space:
            self.module = weakref.ref(module, self.let_go)

    def let_go(self, _: object = None) -> None:
        """A function that outlives its module is looked at anew."""
        self._node = self._peel = self._traits = None
        if self.trees is not None:
            self.trees.loops.clear()
        self.space = self.early = self.module = None
        self.quiet = []  # the gates of others
        self.varied.clear()
        self.forget()

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
            self.others = self.others[1:]  # another thread may go through them
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

    def verdict(self, binding: Binding, passed: tuple[Any, ...]) -> int:
        """The gate's: 0, or why it is not worth to be run compiled."""
        found: int = binding.gate.verdict(*passed)
        return found

    def expected(self, binding: Binding, passed: tuple[Any, ...], unknown: float) -> float:
        """Seconds that it takes as Python."""
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
            self.guessed_in_vain(is_short)
            return None
        if self.is_eager:
            return engine(is_asked_for=True)
        lost.guessed += seconds
        if lost.is_worth_engine():
            return engine()
        if not self.is_peeled:
            lost.follow(self)
        return None

    def may_be_taken(
        self, values: dict[str, Any], space: dict[str, Any], seconds: float = float("inf")
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
        elif self.was_in_vain():
            worth *= IN_VAIN_WORTH
        steps, ends_early = (guess.steps, guess.ends_early) if guess is not None else ([], False)
        limits = SHORT, worth, worth * FIRST_WORTH, self.is_eager, ends_early
        gate = core.LoopGate(self, space, steps, inputs, *limits)
        if guess is not None and guess.is_always_below(SHORT):
            self.told = VERDICTS[1]
            self.give_up()
        return gate

    def was_in_vain(self) -> bool:
        """Whether an earlier process has found that it stays Python."""
        if self.origin is None or self.is_eager:
            return False
        name, facts = of_vain_try(self.origin)
        return _kept.is_there(name) and _kept.load(name, facts) is True

    def note_try(self, *, in_vain: bool) -> None:
        """For the next process: of what it can't tell otherwise."""
        if self.origin is not None and in_vain != self.was_in_vain():
            _kept.store(*of_vain_try(self.origin), in_vain)

    def put(self, gate: Any) -> None:
        """The gate stands for `take` or `rest` from now on."""
        if self.is_peeled:
            self.rest = gate.rest
        else:
            self.take = self.gate = gate.take

    def ask_inner(self, asked: bool) -> None:
        if asked == (not self.quiet):
            return
        for place, gate in self.quiet:
            place.on, place.gate = True, gate
        # How long a `while` takes nobody knows.
        quiet = [] if asked else [p for p in self.inner if p.on and not p.asks_behind_rounds]
        self.quiet = [(place, place.gate) for place in quiet]
        for place, _ in self.quiet:
            place.turn_off()

    def bind(
        self,
        passed: tuple[Any, ...],
        space: dict[str, Any],
        core: Any,
        first: Binding | None = None,
    ) -> Binding | None:
        try:
            with without_collections():
                from frit.loops.run.binding import Binding

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
        return VERDICTS[latest] if latest else self.told

    def note_refusal(self, frame: types.FrameType, began: float) -> None:
        if not self.on:
            restore(frame.f_code, frame.f_globals)
        elif self.told not in VERDICTS:
            self.refuse(frame, began)
        elif self.gate is None and not self.is_eager:
            self.rest_a_while(frame, began)

    def is_all_in_vain(self) -> bool:
        return bool(self.inner) and not self.has_plans() and not any(p.on for p in self.inner)

    def forget(self) -> None:
        self.binding, self.clock, self.gate = None, None, None
        self.others = []
        self.take, self.rest, self.traced = self.ask, self.ask_rest, sys.gettrace

    def has_plans(self) -> bool:
        return self.binding is not None and any(s.plans for s in [*self.binding.sites.values()])

    def has_plans_of_arrays(self) -> bool:
        """And of no lists, which it would make arrays of at each call."""
        sites = [*self.binding.sites.values()] if self.binding is not None else []
        keys = [k for s in sites for k in [*s.plans]]
        return any("L" not in key and "Q" not in key for key in keys)

    def turn_off_in(self, frame: types.FrameType) -> None:
        self.turn_off()
        restore(frame.f_code, frame.f_globals)

    def end_asking(self) -> None:
        """As give_up. Called by its gate, which the loop's own frame has called."""
        self.give_up()
        self.turn_off_in(sys._getframe(1))

    def give_up(self) -> None:
        self.turn_off()
        note = self.note_hopeless() if self.note_hopeless is not None else None
        if note is not None:
            note()


def calls() -> tuple[int, int]:
    """How many calls of nests ran compiled, and as Python, where somebody had taken them."""
    bindings = [b for place in alive(places) for b in (place.binding, *place.others)]
    sites = [s for b in bindings if b is not None for s in [*b.sites.values()]]
    return gone[0] + sum(s.calls for s in sites), gone[1] + sum(s.calls_as_python for s in sites)


def _is_watched() -> bool:
    """Whether a debugger or a coverage tool wants to see lines without sys.settrace."""
    return any(map(MONITORING.get_tool, _OTHERS))


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


def places_of(code: types.CodeType, space: dict[str, Any]) -> Iterator[Place]:
    """The places of a function's code: constants, or in a notebook variables of its module."""
    for found in (*code.co_consts, *map(space.get, code.co_names)):
        if isinstance(found, Place):
            yield found


def restore(code: types.CodeType, space: dict[str, Any]) -> None:
    """Gives a function whose places are all off its own code back, if it stands in its module."""
    original = originals.get(code)
    found = [*places_of(code, {})]
    if original is None or any(place.on for place in found):
        return
    if sys.getprofile() is not None:
        return  # which counts calls by their code
    first, *rest = getattr(code, "co_qualname", code.co_name).split(".")
    at = space.get(first)
    for name in rest:
        at = vars(at).get(name) if isinstance(at, type) else None
    # Other objects may run code of the program when they are asked for an attribute.
    if type(at) in (staticmethod, classmethod):
        at = at.__func__
    elif type(at) is property:
        at = at.fget
    passed: list[types.FunctionType] = []
    while type(at) is types.FunctionType and at.__code__ is not code and at not in passed:
        passed.append(at)
        at = vars(at).get("__wrapped__")
    if type(at) is types.FunctionType and at.__code__ is code:
        at.__code__ = original
        without_places[at] = found


# The places that were in a function's code once.
without_places: weakref.WeakKeyDictionary[types.FunctionType, list[Place]]
without_places = weakref.WeakKeyDictionary()
# Of code that has places.
originals: weakref.WeakKeyDictionary[types.CodeType, types.CodeType] = weakref.WeakKeyDictionary()


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
