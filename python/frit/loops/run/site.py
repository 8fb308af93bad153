"""site.py: a nest that was called: its plans, one for each kind of values, and how they run."""

from __future__ import annotations

import atexit
import itertools
import math
import sys
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from frit import _core
from frit._quiet import without_collections
from frit._signals import is_from_handler
from frit.loops.find.tuples import is_part
from frit.loops.nest.asked import is_same_call
from frit.loops.nest.translation import ARRAY, TOLD, Inputs, Translation
from frit.loops.run.given import array_of
from frit.loops.run.kept_nests import question_of
from frit.loops.run.list_runs import (
    COUNT,
    ROOM,
    TAGS,
    ArraysOfRun,
    ListsOfRun,
    RoomNeeded,
    TagsNeeded,
    Watched,
)
from frit.loops.run.place import alive, gone
from frit.loops.run.streams import Draws, Stream, StreamNeeded
from frit.loops.run.texts import NONE
from frit.translate.record import replace

if TYPE_CHECKING:
    from frit.loops.run.binding import Binding

MOST_PLANS = 4  # of one kind of values: another guard each
MOST_REMEMBERED = 4  # signatures of calls
OURS = "an error of Frit's own: "
IN_THE_MIDDLE = "an error, or an int that grows too large, is possible in the middle of it"
SAVED_BYTES = 2**28  # what is kept of arrays while a nest runs that may fail
_FLAGS = ((1, "invalid", "invalid value"), (4, "divide", "divide by zero"), (8, "over", "overflow"))
_ERRORS = sum(bit for bit, *_ in _FLAGS)  # inexact is no error, and underflow Python's to tell


class Plan:
    """A translated nest."""

    def __init__(
        self,
        translation: Translation,
        names: list[str],
        streams: Sequence[Stream] = (),
        tags: Sequence[Any] = (),
        rooms: Sequence[RoomNeeded] = (),
        *,
        pauses: bool = False,
        array: Callable[..., Any] = numpy.array,
    ) -> None:
        """tags: arrays like those that tell which items of a list are floats; rooms: for rows.

        array: makes the arrays that the nest gives back.
        pauses: the last outputs are how many rounds were begun, as far as somebody asks, and how
        the nest was left: 0: it has ended; -1: it is to go on with the next round; else the exit.
        """
        self.translation = translation
        self.streams = streams  # of random numbers; their arrays stand behind the values
        arrays = (array for stream in streams for array in stream.samples)
        self.samples = (*arrays, *tags, *(room.sample() for room in rooms))
        self.tags = tuple(tags)
        self.rooms = rooms
        self.lists = translation.lists
        self.guard = translation.guard
        self.has_signature = translation.has_signature
        self.taken = translation.taken
        self.nest = _core.LoopNest(translation.kernel, translation.results)
        has_floats = any(fact.dtype in "efd" for fact in self.lists)
        self.may_fail = translation.failures >= 0 or bool(streams) or has_floats
        self.names = names
        self.pauses = pauses
        self.has_plain_outputs = all(
            o.kind != ARRAY
            and o.counter < 0
            and o.shape is None
            and not o.name.endswith((COUNT, NONE))
            for o in translation.outputs
        )
        firsts = itertools.accumulate((o.size for o in translation.outputs), initial=1)
        places = zip(translation.outputs, firsts, strict=False)
        self.flags = {o.name[:-1]: k for o, k in places if o.name.endswith(NONE)}  # of None
        self.array = array
        self.verdicts: list[Any] | None = None  # of the loops, at the first call
        # The last rounds, where they are left to Python and may fail: they are run and undone, so
        # that Python only gets rounds that do not fail; or else all rounds, before the others.
        self.rest: Plan | None = None
        self.whole: Plan | None = None
        self.make_whole: Callable[[], Plan | None] = lambda: None

    def holds(self) -> bool:
        """Whether what was taken from the program is what it was."""
        return self.taken is None or self.taken.hold()

    def saved(self, values: tuple[Any, ...]) -> list[tuple[Any, Any]] | None:
        if not self.translation.written:
            return []
        numbers = self.translation.written
        own = {k for k, name in enumerate(self.names) if name.endswith(ROOM)}
        if self.whole is None:  # the arrays of lists are nobody's behind a run
            own |= {fact.number for fact in self.lists}
        numbers = [k for k in numbers if k not in own]
        arrays = [values[k] for k in numbers]
        if sum(a.nbytes for a in arrays) > SAVED_BYTES:
            return None
        return [(a, numpy.array(a)) for a in arrays]

    def run(self, values: tuple[Any, ...], lists: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The outputs, then whether it returns, and what.

        lists: the values, with what arrays of them stand for. None: it has to be run as Python, and
        nothing is stored.
        """
        t = self.translation
        if (t.numpy_floats or t.numpy_integers) and _core.float_errors_may_stop():
            return None
        draws = Draws(self.streams) if self.streams else None
        if draws is not None:
            arrays = draws.arguments()
            if arrays is None:
                return None
            values += arrays
        changed, given = None, values
        values += self.tags
        if self.rooms:
            values += tuple(room.of(values[room.number]) for room in self.rooms)
        if self.lists:
            changed = ListsOfRun(self.lists, t.capacities, values, lists)
            if not changed.is_possible:
                return None
            values = tuple(changed.values)
        if not self.may_fail and not lists:
            found = self.nest.run(values, self.translation.numpy_floats)
            if found[0] & _ERRORS and self.translation.numpy_floats:
                warn(found[0])
            return self.outputs(found, values)
        kept = self.saved(values)
        if kept is None:
            return None
        watched = Watched(lists, given, values, t.written) if lists else None
        try:
            if self.whole is not None:
                found = self.whole.nest.run(values, t.numpy_floats)
                put_back(kept)
                if self.whole.has_failed(found):
                    return None
            found = self.nest.run(values, t.numpy_floats)
            fails = self.has_failed(found)
            if not fails and self.rest is not None:
                fails = self.rest_fails(found, values)
        except BaseException:  # of a signal's handler
            put_back(kept)
            raise
        if (
            fails
            or (watched is not None and watched.has_changed())
            or (changed is not None and not changed.may_be_told(self.counts(found)))
            or (draws is not None and not draws.end())
        ):
            put_back(kept)
            return None
        arrays = ArraysOfRun(self.array, values)
        if changed is not None:
            changed.store(self.counts(found), arrays)
        if found[0] & _ERRORS and t.numpy_floats:
            warn(found[0])
        return self.outputs(found, values, arrays)

    def rest_fails(self, found: tuple[Any, ...], values: tuple[Any, ...]) -> bool:
        """Whether the last rounds would, behind those that have run."""
        rest, given = self.rest, [*values]
        assert rest is not None
        results = iter(found[1:])
        for output in self.translation.outputs:  # of numbers alone, says inputs_of_rest
            if output.kind != ARRAY:
                given[self.number_of(output.name)] = next(results)
        if not Site.fits(rest, tuple(given[: len(given) - len(self.samples)])):
            self.rest, self.whole = None, self.make_whole()
            return True
        kept = self.saved(values)
        if kept is None:
            return True
        try:
            return rest.has_failed(rest.nest.run(tuple(given), self.translation.numpy_floats))
        finally:
            put_back(kept)

    def counts(self, found: tuple[Any, ...]) -> list[int]:
        """How many items the changed lists have now, if they may have got longer."""
        firsts = [*itertools.accumulate((o.size for o in self.translation.outputs), initial=1)]
        return [found[firsts[f.output]] if f.count >= 0 else 0 for f in self.lists]

    def has_failed(self, found: tuple[Any, ...]) -> bool:
        t = self.translation
        if not self.may_fail:
            return False
        count = found[1 + t.failures] if t.failures >= 0 else 0
        return bool(count or (found[0] & _ERRORS and t.numpy_floats))

    def outputs(
        self,
        found: tuple[Any, ...],
        values: tuple[Any, ...],
        arrays: ArraysOfRun | None = None,
    ) -> tuple[Any, ...]:
        if not self.translation.outputs and self.translation.returned is None and not self.pauses:
            return ()
        t = self.translation
        arrays = arrays or ArraysOfRun(self.array, values)
        if self.has_plain_outputs:
            given = [*found[1 : 1 + len(t.outputs)]]
        else:
            given = self.variables(found, values, arrays)
        returned = t.returned
        if returned is not None:
            parts = zip(returned.values, returned.shapes, strict=True)
            items = tuple(_result(found, 1 + k, shape, arrays) for k, shape in parts)
            given += [found[1 + returned.flag], items if returned.is_tuple else items[0]]
        if self.pauses:
            is_paused = t.paused >= 0 and found[1 + t.paused]
            given += (found[1 + t.rounds], found[1 + t.exit]) if t.exit >= 0 else (0, 0)
            given[-1] = -1 if is_paused else given[-1]
        return tuple(given)

    def variables(
        self, found: tuple[Any, ...], values: tuple[Any, ...], arrays: ArraysOfRun
    ) -> list[Any]:
        """Those that are read behind the nest."""
        given: list[Any] = []
        next_ = 1
        for output in self.translation.outputs:
            first, next_ = next_, next_ + output.size
            if output.name.endswith((COUNT, NONE)):
                continue
            if self.flags and (flag := self.flags.get(output.name)) and found[flag]:
                given.append(None)
                continue
            count = 1 if output.counter < 0 else found[1 + output.counter]
            if output.kind == ARRAY or not count:
                is_nothing = is_part(output.name)  # of a tuple that it was not given
                given.append(None if is_nothing else values[self.number_of(output.name)])
            elif count == TOLD["complex"]:
                given.append(complex(found[first]))
            elif count == TOLD["float"]:
                given.append(float(found[first].real))
            elif count == TOLD["int"]:
                given.append(int(found[first].real))
            elif count == TOLD["bool"]:
                given.append(bool(found[first]))
            else:
                given.append(_result(found, first, output.shape, arrays))
        return given

    def direct(self) -> tuple[Any, ...] | None:
        """What a gate needs to run it without Python: the nest, outputs, warn, guard, failures."""
        if self.taken is not None or self.streams or self.rooms or self.flags:
            return None
        t = self.translation
        has_outputs = t.outputs or t.returned is not None
        tell = warn if t.numpy_floats else tell_nobody if t.numpy_integers else None
        guard = self.guard if not self.has_signature else None
        failures = (1 + t.failures, t.numpy_floats, (*t.written,)) if self.may_fail else None
        return self.nest, self.outputs if has_outputs else None, tell, guard, failures

    def number_of(self, name: str) -> int:
        return self.names.index(name)


def _result(
    found: tuple[Any, ...], first: int, shape: tuple[int, ...] | None, arrays: ArraysOfRun
) -> Any:
    """A number, or the array of several and its number."""
    if shape is None:
        return found[first]
    behind = first + math.prod(shape)
    return arrays.of(found[behind], found[first:behind], shape)


class Refusal(Exception):
    """Why a nest stays Python, and which line of it."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


def put_back(kept: list[tuple[Any, Any]]) -> None:
    for array, copy in reversed(kept):
        array[...] = copy


def warn(flags: int) -> None:
    """As NumPy's scalars would have, but behind the loop."""
    state = numpy.geterr()
    for bit, kind, words in _FLAGS:
        if flags & bit and state[kind] != "ignore":  # type: ignore[literal-required]
            text = f"{words} encountered in a loop"
            if state[kind] == "raise":  # type: ignore[literal-required]
                raise FloatingPointError(text)
            warnings.warn(text, RuntimeWarning, stacklevel=_depth())


def tell_nobody(_flags: int) -> None:
    """Integers raise no flags: a gate only wants to know whether an overflow may stop the loop."""


def _depth() -> int:
    """The stacklevel, of a caller of this function, of the program's own frame."""
    depth, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("frit.loops"):
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    return depth


_sites: weakref.WeakSet[Site] = weakref.WeakSet()


@atexit.register
def _forget() -> None:
    """The engine's objects go before the interpreter's."""
    for site in alive(_sites):
        site.is_hopeless = True
        site.gate.remember()
        site.plans.clear()
        site.remembered.clear()
        site.latest = site.ran = None


class Site:
    """A nest, called with the values of its names."""

    def __init__(self, binding: Binding, is_unbound: frozenset[str], left: int) -> None:
        self.binding = binding
        self.is_unbound = is_unbound
        self.gate = binding.gate
        self.left = left
        self.plans: dict[str, list[Plan]] = {}
        self.attempts: dict[str, int] = {}
        self.refused: dict[str, Refusal] = {}
        self.latest: Plan | None = None
        self.ran: Plan | None = None  # by the latest call that ran
        self.remembered: dict[bytes, Plan] = {}  # by signature of the call, the oldest first
        self.is_hopeless = False
        self.doubt = ""  # why a plan did not run at a call
        self.calls_from_python = self.calls_as_python = 0
        _sites.add(self)

    def __del__(self, gone: list[int] = gone) -> None:  # the last may go behind the module
        gone[0] += self.calls
        gone[1] += self.calls_as_python

    @property
    def calls(self) -> int:
        """Those that ran compiled."""
        return self.calls_from_python + self.gate.runs()

    def __call__(
        self, key: str, values: tuple[Any, ...], lists: tuple[Any, ...] = ()
    ) -> tuple[Any, ...] | None:
        """key: what the values are, by loop_key or list_arrays; lists: them, before the latter."""
        if self.is_hopeless:
            return None
        for plan in self.plans.get(key, ()):
            if self.fits(plan, values):
                return self.start(plan, values, lists)
        plan = self.new_plan(key, values)
        if plan is not None:
            if self.fits(plan, values):
                return self.start(plan, values, lists)
            self.attempts[key] += 1  # what it was made for it can't run: another one hardly can
        self.calls_as_python += 1
        self.note_doubt(plan or next(reversed(self.plans.get(key, ())), None), values)
        return None

    def note_doubt(self, plan: Plan | None, values: tuple[Any, ...]) -> None:
        """Of the first such calls, and ever fewer: to find it out takes longer than to ask."""
        if plan is not None and self.calls_as_python.bit_count() == 1:
            from frit.loops.run.reasons import why_not

            self.doubt = why_not(plan.guard, (*values, *plan.samples), plan.names)

    def give_up(self) -> None:
        self.is_hopeless = True
        self.binding.place.give_up()

    @staticmethod
    def fits(plan: Plan, values: tuple[Any, ...]) -> bool:
        if not plan.holds():
            return False
        try:
            return plan.guard(*values, *plan.samples)
        except (ValueError, ArithmeticError):
            return False

    @staticmethod
    def is_in_vain(plan: Plan, values: tuple[Any, ...]) -> bool:
        """Whether a translation for a call that the plan's guard refuses would be that plan."""
        asked = plan.translation.asked
        values = (*values, *plan.samples)
        return asked is not None and plan.holds() and is_same_call(values, asked)

    def start(
        self, plan: Plan, values: tuple[Any, ...], lists: tuple[Any, ...] = ()
    ) -> tuple[Any, ...] | None:
        found = plan.run(values, lists)
        if found is None:
            self.calls_as_python += 1
            self.doubt = IN_THE_MIDDLE
            return None
        self.calls_from_python += 1
        self.ran = plan
        if plan.verdicts is None:
            plan.verdicts = plan.nest.verdicts((*values, *plan.samples), plan.translation.failing)
            self.latest = plan
        return found

    def remember(self, signature: bytes | None) -> Plan | None:
        """The plan that ran, which runs calls with this signature that its guard lets pass."""
        plan = self.ran
        if plan is None or signature is None:
            return None
        self.remembered.pop(signature, None)
        if len(self.remembered) >= MOST_REMEMBERED:
            for oldest in [*self.remembered][:1]:  # another thread may change it
                self.remembered.pop(oldest, None)
        self.remembered[signature] = plan
        return plan

    def plan_of(self, signature: bytes | None, values: tuple[Any, ...]) -> Plan | None:
        """What runs a call with this signature, if one like it ran."""
        plan = self.remembered.get(signature) if signature is not None else None
        return plan if plan is not None and self.suits(plan, values) else None

    def suits(self, plan: Plan, values: tuple[Any, ...]) -> bool:
        """Whether it runs a call with a signature that it is remembered for."""
        return plan.holds() if plan.has_signature else self.fits(plan, values)

    def new_plan(self, key: str, values: tuple[Any, ...]) -> Plan | None:
        attempts = self.attempts[key] = self.attempts.get(key, 0) + 1
        if key in self.refused or attempts > MOST_PLANS:
            return None
        if any(self.is_in_vain(plan, values) for plan in self.plans.get(key, ())):
            return None
        binding = self.binding
        binding.place.has_translated = True
        if self.makes_numbers_values(key):
            return None
        inputs = Inputs(
            None,
            binding.names,
            values,
            key,
            binding.outputs,
            binding.surroundings,
            self.is_unbound,
            binding.logs,
            self.left,
            binding.inputs_of_functions(),
            binding.choices.optional,
        )
        try:
            with without_collections():
                plan = self.plan_from(inputs)
                if plan.may_fail and self.left:
                    plan.make_whole = lambda: self.plan_from(replace(inputs, left=0))
                    rest = inputs_of_rest(inputs, plan.translation) if not plan.lists else None
                    if rest is not None:
                        plan.rest = self.plan_from(rest)
                    else:
                        plan.whole = plan.make_whole()
                    if any(x.names != plan.names for x in (plan.rest, plan.whole) if x is not None):
                        raise Refusal("its last rounds need other arrays", 0)
        except Exception as error:  # whatever is wrong with us, Python can run it
            if is_from_handler(error):
                raise
            # A new one: what an exception holds on to keeps the translation alive.
            reason = getattr(error, "reason", OURS + repr(error))
            self.refused[key] = Refusal(reason, getattr(error, "line", 0))
            if not self.plans and len(self.refused) > 3:
                self.give_up()
            return None
        self.plans.setdefault(key, []).append(plan)
        return plan

    def makes_numbers_values(self, key: str) -> bool:
        """Numbers that functions read, and that change again: the next call gives them."""
        gone = [p.taken for p in self.plans.get(key, ()) if p.taken is not None and not p.holds()]
        if len(gone) < 2:
            return False
        place = self.binding.place
        if not place.vary(x for taken in gone for x in taken.changed_numbers()):
            return False
        place.forget()
        return True

    def plan_from(self, inputs: Inputs) -> Plan:
        """The kept one, if it fits the call; else it is made and kept. Raises Refused."""
        binding, place = self.binding, self.binding.place
        # What attributes are is not in the text.
        node = binding.node if binding.attributes is not None else None
        question = question_of(place.origin, inputs, place.traits.attributes, node)
        kept = question.answer() if question is not None else None
        if kept is not None:
            plan = Plan(kept, binding.names, pauses=place.pauses, array=_array_of(kept, inputs))
            if self.fits(plan, inputs.values) or self.is_in_vain(plan, inputs.values):
                return plan
        if question is not None and (why := question.refusal()) is not None:
            raise Refusal(*why)
        from frit.loops.nest.values import Refused

        streams: list[Stream] = []
        tagged: list[TagsNeeded] = []
        rooms: list[RoomNeeded] = []
        try:
            plain = replace(inputs, node=binding.node)
            made, inputs = translated(plain, streams, tagged, rooms)
        except Refused as refused:
            is_kept = question is not None and not (streams or tagged or rooms)
            if is_kept and refused.asked is not None:
                question.keep_refusal(refused.reason, refused.line, refused.asked)
            elif question is None:
                place.note_try(in_vain=True)
            raise
        if question is None:
            place.note_try(in_vain=False)
        if question is not None and not (streams or tagged or rooms):
            question.keep(made)
        tags = [_tags_of(x) for x in tagged]
        return Plan(
            made,
            inputs.names,
            streams,
            tags,
            rooms,
            pauses=place.pauses,
            array=_array_of(made, inputs),
        )


def _array_of(made: Translation, inputs: Inputs) -> Callable[..., Any]:
    """What makes the arrays that the nest gives back."""
    return array_of(inputs.surroundings, inputs.values) if made.gives_arrays else numpy.array


def translated(
    plain: Inputs, streams: list[Stream], tagged: list[TagsNeeded], rooms: list[RoomNeeded]
) -> tuple[Translation, Inputs]:
    """With the streams, lists of mixed numbers and room that it needs. Raises Refused."""
    from frit.loops.nest.nest import translate

    while True:
        inputs = with_rooms(with_tags(plain, tagged), rooms)
        try:
            return translate(inputs), inputs
        except StreamNeeded as needed:
            streams.append(needed.stream)
            plain = with_stream(plain, needed.stream)
        except TagsNeeded as needed:
            tagged.append(needed)
        except RoomNeeded as needed:
            rooms.append(needed)


def inputs_of_rest(inputs: Inputs, t: Translation) -> Inputs | None:
    """Of the last rounds, behind a nest that leaves them out; None: it may give several types."""
    from frit.loops.nest.values import kinds_in

    words, values = kinds_in(inputs.key), [*inputs.values]
    if inputs.optional:
        return None
    for output in t.outputs:
        if output.kind == ARRAY:
            continue
        is_number = output.shape is None
        if output.counter >= 0 or output.name not in inputs.names or not is_number:
            return None
        number = inputs.names.index(output.name)
        word = output.kind if output.kind[0] == "N" else output.kind[0]
        if words[number] != word:
            words[number], values[number] = word, _SAMPLES.get(word) or numpy.ones(1, word[1])[0]
    return replace(inputs, key="".join(words), values=tuple(values), left=-inputs.left)


_SAMPLES = {"I": 1, "F": 1.0, "C": 1j, "B": True}


def with_stream(inputs: Inputs, stream: Stream) -> Inputs:
    """The same nest, which draws from the stream. Raises Refusal."""
    if stream.state() is None:
        raise Refusal("random numbers of another generator than the Mersenne Twister and PCG64", 0)
    return replace(
        inputs,
        names=[*inputs.names, stream.name],
        values=(*inputs.values, *stream.samples),
        key=inputs.key + stream.kinds,
    )


def with_tags(inputs: Inputs, lists: Sequence[TagsNeeded]) -> Inputs:
    """The same nest, which notes which items of these lists are floats."""
    return replace(
        inputs,
        names=[*inputs.names, *(x.name + TAGS for x in lists)],
        values=(*inputs.values, *map(_tags_of, lists)),
        key=inputs.key + "".join(f"A?{x.rank}" for x in lists),
    )


def with_rooms(inputs: Inputs, rooms: Sequence[RoomNeeded]) -> Inputs:
    """The same nest, with arrays for what rows are given."""
    return replace(
        inputs,
        names=[*inputs.names, *(x.name + ROOM for x in rooms)],
        values=(*inputs.values, *(x.sample() for x in rooms)),
        key=inputs.key + "".join(f"A{x.dtype}{x.rank}" for x in rooms),
    )


def _tags_of(needed: TagsNeeded) -> Any:
    return numpy.zeros([1] * needed.rank, bool)
