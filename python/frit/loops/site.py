"""site.py: a nest in its function: what its calls give it, its plans, and how one runs."""

from __future__ import annotations

import ast
import atexit
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy

from frit import _core
from frit.loops.nest import Inputs, Translation, translate
from frit.loops.values import Refused

MOST_PLANS = 4  # of one kind of values: another guard each
OURS = "an error of Frit's own: "
MOST_IN_VAIN = 1000  # calls with values that no nest takes
SAVED_BYTES = 2**28  # what is kept of arrays while a nest runs that may fail
_FLAGS = ((1, "invalid", "invalid value"), (4, "divide", "divide by zero"), (8, "over", "overflow"))
_ERRORS = sum(bit for bit, *_ in _FLAGS)  # the other flags (inexact, underflow) are no errors


class Plan:
    """A translated nest."""

    def __init__(self, translation: Translation, names: list[str]) -> None:
        self.translation = translation
        self.guard = translation.guard
        self.still_holds = translation.still_holds
        self.nest = _core.LoopNest(translation.kernel, translation.results)
        self.may_fail = translation.failures >= 0
        self.names = names
        self.verdicts: list[Any] | None = None  # of the loops, at the first call

    def saved(self, values: tuple[Any, ...]) -> list[tuple[Any, Any]] | None:
        arrays = [values[k] for k in self.translation.written]
        if sum(a.nbytes for a in arrays) > SAVED_BYTES:
            return None
        return [(a, numpy.array(a)) for a in arrays]

    def run(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The outputs, then whether it returns, and what.

        None: it has to be run as Python, and nothing is stored.
        """
        if not self.may_fail:
            found = self.nest.run(values)
            if found[0] & _ERRORS and self.translation.numpy_floats:
                warn(found[0])
            return self.outputs(found, values)
        kept = self.saved(values)
        if kept is None:
            return None
        found = self.nest.run(values)
        t = self.translation
        if found[1 + t.failures] or (found[0] & _ERRORS and t.numpy_floats):
            for array, copy in reversed(kept):
                array[...] = copy
            return None
        return self.outputs(found, values)

    def outputs(self, found: tuple[Any, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
        given = []
        for k, output in enumerate(self.translation.outputs):
            is_set = output.counter < 0 or found[1 + output.counter]
            given.append(found[1 + k] if is_set else values[self.number_of(output.name)])
        returned = self.translation.returned
        if returned is not None:
            items = tuple(found[1 + k] for k in returned.values)
            given += [found[1 + returned.flag], items if returned.is_tuple else items[0]]
        return tuple(given)

    def number_of(self, name: str) -> int:
        return self.names.index(name)


def warn(flags: int) -> None:
    """As NumPy's scalars would have, but behind the loop."""
    state = numpy.geterr()
    for bit, kind, words in _FLAGS:
        if flags & bit and state[kind] != "ignore":  # type: ignore[literal-required]
            text = f"{words} encountered in a loop"
            if state[kind] == "raise":  # type: ignore[literal-required]
                raise FloatingPointError(text)
            warnings.warn(text, RuntimeWarning, stacklevel=4)


_sites: weakref.WeakSet[Site] = weakref.WeakSet()


@atexit.register
def _forget() -> None:
    """The engine's objects go before the interpreter's."""
    for site in _sites:
        site.is_hopeless = True
        site.plans.clear()
        site.latest = None


class Site:
    """A For of a function, called with the values of its names."""

    def __init__(
        self,
        node: ast.For,
        names: list[str],
        outputs: list[str],
        is_unbound: frozenset[str],
        surroundings: dict[str, Any],
        still_holds: Callable[[], bool],
        note_hopeless: Callable[[], None],
    ) -> None:
        self.node = node
        self.names = names
        self.names_of_outputs = outputs
        self.is_unbound = is_unbound
        self.surroundings = surroundings
        self.still_holds = still_holds
        self.note_hopeless = note_hopeless
        self.plans: dict[str, list[Plan]] = {}
        self.attempts: dict[str, int] = {}
        self.refused: dict[str, Refused] = {}
        self.latest: Plan | None = None
        self.is_hopeless = False
        self.calls = self.calls_as_python = 0
        _sites.add(self)

    def __call__(self, *values: Any) -> tuple[Any, ...] | None:
        if self.is_hopeless or not self.still_holds():
            return None
        key = _core.loop_key(values)
        if key is None:
            self.calls_as_python += 1
            if self.calls_as_python > MOST_IN_VAIN and not self.plans:
                self.give_up()
            return None
        for plan in self.plans.get(key, ()):
            if self.fits(plan, values):
                return self.start(plan, values)
        plan = self.new_plan(key, values)
        if plan is not None and self.fits(plan, values):
            return self.start(plan, values)
        self.calls_as_python += 1
        return None

    def give_up(self) -> None:
        self.is_hopeless = True
        self.note_hopeless()

    @staticmethod
    def fits(plan: Plan, values: tuple[Any, ...]) -> bool:
        if plan.still_holds is not None and not plan.still_holds():
            return False
        try:
            return plan.guard(*values)
        except (ValueError, ArithmeticError):
            return False

    def start(self, plan: Plan, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        found = plan.run(values)
        if found is None:
            self.calls_as_python += 1
            return None
        self.calls += 1
        if plan.verdicts is None:
            plan.verdicts = plan.nest.verdicts(values)
            self.latest = plan
        return found

    def new_plan(self, key: str, values: tuple[Any, ...]) -> Plan | None:
        attempts = self.attempts[key] = self.attempts.get(key, 0) + 1
        if key in self.refused or attempts > MOST_PLANS:
            return None
        inputs = Inputs(
            self.node,
            self.names,
            values,
            key,
            self.names_of_outputs,
            self.surroundings,
            self.is_unbound,
        )
        try:
            plan = Plan(translate(inputs), self.names)
        except Exception as error:  # whatever is wrong with us, Python can run it
            # A new one: what an exception holds on to keeps the translation alive.
            refused = Refused(None, getattr(error, "reason", OURS + repr(error)))
            refused.line = getattr(error, "line", 0)
            self.refused[key] = refused
            if not self.plans and len(self.refused) > 3:
                self.give_up()
            return None
        self.plans.setdefault(key, []).append(plan)
        return plan
