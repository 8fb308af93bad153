"""binding.py: the names of a place, as its first call finds them, and what a call has for them."""

from __future__ import annotations

import builtins
import functools
import sys
from types import BuiltinFunctionType, ModuleType

from frit import _activity, _kept
from frit._quiet import without_collections
from frit._signals import leave_out
from frit.loops.run.choices import Choices
from frit.loops.run.functions import (
    PLAIN,
    is_number,
    is_same,
    numbers_of,
    part_at,
    variables_read,
)
from frit.loops.run.given import is_surrounding, key_of, may_end, name_of, real
from frit.loops.run.methods import NOT_CALLED, called_of
from frit.loops.run.place import REFUSED
from frit.loops.run.texts import NUMBER, number_of

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast
    from typing import Any

    from frit.loops.run.attributes import Attributes
    from frit.loops.run.bounds import Bounds
    from frit.loops.run.functions import Path
    from frit.loops.run.methods import Called
    from frit.loops.run.place import Place
    from frit.loops.run.site import Plan, Site
    from frit.loops.run.traits import Guess

VARIED = "$"  # behind the names of what functions were made with
MOST_BINDINGS = 4  # of a place whose objects are not what they may become
_missing = object()


class Binding:
    """The names of a place, as its first call finds them: numbers and arrays, or surroundings."""

    def __init__(
        self,
        place: Place,
        passed: tuple[Any, ...],
        space: dict[str, Any],
        core: Any,
        *,
        first: Binding | None = None,
    ) -> None:
        """first: one of the place, of which a function was another one; they share its gate."""
        self.place = place
        self.first = first
        self.lost = 0.0  # seconds as Python, if it is not the first
        self.has_changed = False  # what it stands for is not what it was, at the latest call
        self.outputs = place.outputs
        self.sites: dict[int, Site] = {}  # by the rounds that are left to Python
        self.site: Site | None = None  # the latest
        self.names: list[str] = []
        self.surroundings: dict[str, Any] = {}
        self.known_passed: list[tuple[int, Any]] = []
        self.known: list[tuple[str, Any]] = []
        self.absent: list[str] = []
        self.missing: list[str] = []  # variables of the module that may get a value later
        self.taken: list[int] = []
        self.read: list[str] = []
        self.choices = Choices(place.traits)
        self.is_whole = True
        for k, (name, value) in enumerate(zip(place.passed, passed, strict=True)):
            if self.is_value(name, value):
                self.taken.append(k)
            else:
                self.known_passed.append((k, value))
        for name in place.outside:
            value = space.get(name, _missing)
            if value is _missing:
                self.bind_absent(name)
            elif self.is_value(name, value):
                self.read.append(name)
            else:
                self.known.append((name, value))
        self.choices.add_own([*self.names, *self.surroundings])
        if not place.traits.texts and not place.traits.nones:  # else they choose what is called
            self.refuse_hopeless(place.traits.callees, BuiltinFunctionType, type)
        if not self.is_whole:
            return  # the next call binds anew
        self.grown: list[str] = []  # lists that the nest appends to, and their numbers
        self.grown_numbers: list[int] = []
        self.logs: frozenset[str] = frozenset()  # those that it does nothing else with
        self.called: dict[str, Called] = {}
        self.attributes = self.find_attributes(passed, space, core)
        self.find_varied([b for b in (first, place.binding, *place.others) if b is not None])
        self.bounds: Bounds | None = None
        if self.place.traits.callees:
            self.find_bounds()
        if "append" in place.traits.attributes:
            self.find_grown(passed, space)
        varied = self.varied or self.varied_variables
        reads_more = any((self.read, self.attributes, varied, self.grown, self.bounds))
        self.takes_all = len(self.taken) == len(place.passed) and not reads_more
        if {*self.read, *place.passed} & place.shared:
            self.refuse("another thread may change a variable that it reads")
        if place.is_module and (found := self.functions_read(space)):
            from frit.loops.names import assigned_names

            if found & assigned_names([place.node]):
                self.refuse("a function that it calls reads what it assigns")
        if place.traits.callees:
            callees = place.traits.callees
            if self.attributes is not None:
                from frit.loops.names import callees_of, nodes_in

                callees = callees_of(nodes_in([self.node]))
            self.refuse_hopeless(callees)
        self.choices.number(self.names)
        if self.choices.optional:
            self.takes_all = False
            self.surroundings[NUMBER] = number_of
            self.outputs = [*self.outputs, *self.choices.flags(self.outputs)]
        self.gate = self.make_gate(passed, space, core)

    def is_value(self, name: str, value: Any) -> bool:
        """Whether the nest gets it at each call; what is none is a surrounding."""
        is_value = self.choices.is_value(name, value)
        if is_value:
            self.names.append(name)
        elif not self.choices.is_none_at_first(name):
            self.surroundings[name] = real(value)
        return is_value

    def find_varied(self, others: list[Binding]) -> None:
        """Numbers that functions were made with, as far as those of others differ, or read."""
        self.varied: list[tuple[str, Path]] = []
        self.varied_functions: set[str] = set()  # of which all numbers are values
        found = self.attributes.methods if self.attributes is not None else {}
        for name, value in self.surroundings.items():
            if name in found:
                continue  # the same object at each call
            known = [b.surroundings.get(name) for b in others]
            known = [x for x in known if not is_same(x, value)]
            paths = numbers_of(value)
            is_partial = type(value) is functools.partial  # its arguments may be assigned
            if is_partial or any(is_same(x, value, but_numbers=True) for x in known):
                self.varied_functions.add(name)
            else:
                paths = [p for p in paths if type(part_at(value, p)) not in PLAIN]
            self.varied += ((name, path) for path in paths)
        self.place.vary(
            (space, name)
            for space, name in variables_read(self.surroundings.values())
            if is_number(x := space.get(name)) and type(x) not in PLAIN
        )
        self.varied_variables = [*self.place.varied]
        names = [".".join((name, *path)) for name, path in self.varied]
        names += [f"{k}.{name}" for k, (_, name) in enumerate(self.varied_variables)]
        self.names = [*self.names, *(name + VARIED for name in names)]

    def inputs_of_functions(self) -> dict[tuple[int, str], str]:
        """Of a function or a module's variables, and by name: the value that stands for it."""
        found = {}
        for name, path in self.varied:
            owner = part_at(self.surroundings[name], path[:-1])
            found[id(owner), path[-1]] = ".".join((name, *path)) + VARIED
        for k, (space, name) in enumerate(self.varied_variables):
            found[id(space), name] = f"{k}.{name}{VARIED}"
        return found

    def values_of_functions(
        self, passed: tuple[Any, ...], space: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Raises KeyError."""
        if not self.varied and not self.varied_variables:
            return ()
        given = dict(zip(self.place.passed, passed, strict=True))
        found = [part_at(given[n] if n in given else space[n], path) for n, path in self.varied]
        return (*found, *(own[name] for own, name in self.varied_variables))

    @property
    def node(self) -> ast.For | ast.While:
        """The loop, with variables for attributes, and for the lengths of lists."""
        if self.bounds is not None:
            node = self.bounds.node
        elif self.attributes is not None:
            node = self.choices.node(self.attributes.node)
        else:
            node = self.choices.node(self.choices.loop(self.place.node))
        if not self.grown:
            return node
        from frit.loops.run.list_runs import with_counts

        return with_counts(node, self.grown)

    def find_bounds(self) -> None:
        """Those of the outermost loop that Python computes."""
        if not self.place.traits.has_computed_bounds:
            return
        from frit.loops.run.bounds import bounds_of

        self.bounds = bounds_of(self.node, self.names, self.surroundings)
        if self.bounds is not None:
            self.names = [*self.names, *self.bounds.names]

    def find_grown(self, passed: tuple[Any, ...], space: dict[str, Any]) -> None:
        """Lists that the nest appends to: their lengths are variables of the nest."""
        from frit.loops.run.list_runs import COUNT, appended_names, only_appended

        names = appended_names(self.node)
        self.logs = only_appended(self.node, names)
        self.takes_all = False
        values = self.values_of(passed, space) or ()
        found = [k for k, v in enumerate(values) if self.names[k] in names and type(v) is list]
        self.grown_numbers, self.grown = found, [self.names[k] for k in found]
        counts = [name + COUNT for name in self.grown]
        self.names = [*self.names, *counts]
        self.outputs = [*self.outputs, *counts]

    def guess(self) -> Guess | None:
        found = self.place.traits.guess
        if self.attributes is None and (found is None or {*found.names} <= {*self.names}):
            return found
        from frit.loops.run.work import guess_of

        return guess_of(self.node, [*self.places_of_names()])

    def make_gate(self, passed: tuple[Any, ...], space: dict[str, Any], core: Any) -> Any:
        place = self.place
        if self.first is not None:
            return self.first.gate
        if self.is_whole and self.attributes is not None and place.early is not None:
            place.put(place.early)
            return place.early
        guess = self.guess()
        if guess is not None:
            guess = guess.priced(self.surroundings.get)
        inputs: list[tuple[Any, ...]] = []
        if guess is not None:
            where = self.places_of_names()
            inputs = [where[name] for name in guess.names]
        gate = place.new_gate(guess, inputs, self.is_kept(passed, space, core), space, core)
        if self.is_whole:
            place.put(gate)
        return gate

    def is_kept(self, passed: tuple[Any, ...], space: dict[str, Any], core: Any) -> bool:
        """Whether an earlier process has translated the nest for values of these kinds."""
        origin = self.place.origin
        if origin is None or self.place.is_eager:
            return False
        values = self.values_of(passed, space) if self.is_whole else None
        key = key_of(self.with_logs(values), core) if values is not None else None
        return key is not None and _kept.is_there(name_of(origin, key, self.place.is_peeled))

    def places_of_names(self) -> dict[str, tuple[Any, ...]]:
        """Where a call finds values: the number of what is passed or a variable, and a path."""
        where: dict[str, tuple[Any, ...]] = {}
        kept = [*zip(self.names, [*self.taken, *self.read], strict=False)]
        where.update((name, (root,)) for name, root in kept)
        found = self.attributes
        if found is not None:
            for name, (number, *path) in zip(found.names, found.paths, strict=True):
                root = found.roots[number]
                where[name] = (self.root_numbers.get(root, root), *path)
        return where

    def refuse(self, why: str) -> None:
        self.place.told, self.is_whole = why, False
        if self.first is None:
            self.place.give_up()

    def refuse_hopeless(self, callees: list[str], *kinds: type) -> None:
        """kinds: of what they are, if others are not looked at yet."""
        from frit.loops.run.hopeless import hopeless_call

        known = self.surroundings
        if kinds:
            known = {n: v for n, v in known.items() if isinstance(v, (*kinds, ModuleType))}
        hopeless = hopeless_call(callees, known)
        if hopeless is not None:
            self.refuse(hopeless)

    def find_attributes(
        self, passed: tuple[Any, ...], space: dict[str, Any], core: Any
    ) -> Attributes | None:
        """Objects that are only there for their attributes: these are the values instead."""
        values = [*(passed[k] for k in self.taken), *(space[name] for name in self.read)]
        given = dict(zip(self.names, values, strict=True))
        owners = (given[name] for name in self.place.traits.owners if name in given)
        is_end = functools.partial(may_end, core)
        may_be_called = any(type(v) not in NOT_CALLED for v in self.surroundings.values())
        has_none = all(map(is_end, owners)) and not may_be_called
        if has_none and "frit.pykokkos._views" not in sys.modules:
            return None
        from frit.loops.run.attributes import NotPlain, attributes_of

        callables = {name: called_of(core, v) for name, v in self.surroundings.items()}
        called = {name: x for name, x in callables.items() if x is not None}
        try:
            loop = self.choices.loop(self.place.node)
            found = attributes_of(core, loop, given, called, is_end)
        except NotPlain as error:
            self.place.told = f"{error} is no plain attribute"
            self.place.bindings += 1
            if self.place.bindings <= MOST_BINDINGS:
                self.is_whole = False  # it may be one later
            return None
        if found is None:
            return None
        roots = set(found.roots)
        if self.place.shared & {*roots, *(f".{n}" for path in found.paths for n in path[1:])}:
            self.refuse("another thread may change an attribute that it reads")
        passed_names = zip(self.names, self.taken, strict=False)
        self.root_numbers = {name: k for name, k in passed_names if name in roots}
        self.take_called({name: called[name] for name in called.keys() & roots})
        self.taken = [k for k in self.taken if k not in self.root_numbers.values()]
        self.read = [name for name in self.read if name not in roots]
        self.names = [name for name in self.names if name not in roots] + found.names
        self.outputs = [*self.outputs, *found.stored]
        self.surroundings |= found.methods
        now = found.values(self.roots(found, passed, space)) or ()
        self.surroundings |= self.choices.add_attributes(found, now)
        fixed = {found.names[number] for number in self.choices.fixed}
        self.names = [name for name in self.names if name not in fixed]
        return found

    def take_called(self, called: dict[str, Called]) -> None:
        """These are no surroundings: of the objects that they are called with are values."""
        self.called = called
        for name in called:
            del self.surroundings[name]
        numbers = [k for k, _ in self.known_passed if self.place.passed[k] in called]
        self.root_numbers.update((self.place.passed[k], k) for k in numbers)
        self.known_passed = [(k, v) for k, v in self.known_passed if k not in numbers]
        self.known = [(name, v) for name, v in self.known if name not in called]

    def roots(
        self, found: Attributes, passed: tuple[Any, ...], space: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Raises KeyError: a variable is not there, or something else is called."""
        numbers = self.root_numbers
        objects = [passed[numbers[n]] if n in numbers else space[n] for n in found.roots]
        for k, name in enumerate(found.roots if self.called else ()):
            if name in self.called:
                objects[k] = self.called[name].owner_of(found.core, objects[k])
                if objects[k] is None:
                    raise KeyError(name)
        return tuple(objects)

    def note(self, signature: bytes | None, site: Site) -> None:
        """The guess of this call holds for all with its signature, and so do most guards."""
        plan = site.remember(signature)
        if plan is None or not self.takes_all or self.place.turns is not None:
            return
        direct = None if self.place.is_module else plan.direct()
        if direct is not None:
            direct += (None if self.place.is_eager else _activity.is_active,)
        resume = functools.partial(self.resume, site, plan)
        self.gate.remember(signature, resume, tuple(self.known), tuple(self.absent), direct)

    def resume(self, site: Site, plan: Plan, *values: Any) -> tuple[Any, ...] | bool | None:
        """Runs a call like one that ran; False: the place has to be asked."""
        place = self.place
        if place.is_module or not site.suits(plan, values):
            return False
        if not place.is_eager and not _activity.is_active():
            return False
        place.told = REFUSED
        try:
            return site.start(plan, values)
        except BaseException as error:
            leave_out(error)
            raise

    def done(
        self,
        given: tuple[Any, ...] | None,
        passed: tuple[Any, ...],
        space: dict[str, Any],
        values: tuple[Any, ...] = (),
        lists: tuple[Any, ...] = (),
    ) -> tuple[Any, ...] | None:
        """Stores the attributes that the nest assigned; what is left of the outputs.

        lists: the values, in which others stand for lists that are only appended to.
        """
        found = self.attributes
        if given is not None:
            for own, standing in zip(values, lists, strict=True):
                if own is not standing and type(own) is list:
                    own += standing
        if given is None or found is None or not found.stored:
            return given
        begin = len(self.place.outputs)
        end = begin + len(found.stored)
        found.store(self.roots(found, passed, space), given[begin:end])
        return given[:begin] + given[end:]

    def bind_absent(self, name: str) -> None:
        value = getattr(builtins, name, _missing)
        if value is not _missing and is_surrounding(value):
            self.surroundings[name] = value
            self.absent.append(name)
        elif name in self.place.outputs:
            self.missing.append(name)
        else:
            self.place.told, self.is_whole = f"{name} has no value", False

    def functions_read(self, space: dict[str, Any]) -> set[str]:
        """The variables of the module that the functions in the surroundings may read."""
        methods = self.attributes.plain_methods if self.attributes is not None else []
        functions = [*self.surroundings.values(), *(m.function for m in methods)]
        return {name for own, name in variables_read(functions) if own is space}

    def values_of(self, passed: tuple[Any, ...], space: dict[str, Any]) -> tuple[Any, ...] | None:
        """The values; None where the names are not what they were."""
        if not self.is_whole:
            self.place.forget()  # names may have got values since
            return None
        for k, value in self.known_passed:
            name = self.place.passed[k]
            if passed[k] is not value and not self.is_same(name, value, passed[k]):
                return self.changed(name)
        for name, value in self.known:
            now = space.get(name)
            if now is not value and not self.is_same(name, value, now):
                return self.changed(name)
        for name in self.absent:
            if name in space:
                return self.changed(name)
        for name in self.missing:
            if name in space:
                self.place.forget()
                return self.changed(name)
        if self.takes_all:
            return self.without_none(passed)
        try:
            values = (*(passed[k] for k in self.taken), *(space[name] for name in self.read))
            found = self.attributes
            more = self.values_of_functions(passed, space)
            if found is None:
                return self.with_more(values + more)
            attributes = found.values(self.roots(found, passed, space))
        except KeyError as missing:
            return self.changed(str(missing.args[0]))
        if attributes is None:
            self.place.told, self.has_changed = "an attribute is not a plain one", True
            return None
        number = self.choices.changed(attributes)
        if number is not None:
            return self.changed(found.names[number])
        return self.with_more(values + self.choices.without_fixed(attributes) + more)

    def with_more(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """With bounds that Python computes, and the lengths of lists that the nest appends to."""
        if self.without_none(values) is None:
            return None
        if self.bounds is not None:
            found = self.bounds.values(dict(zip(self.names, values, strict=False)))
            if found is None:
                self.place.told = "a bound that is no int"
                return None
            values += found
        for name, number in zip(self.grown, self.grown_numbers, strict=True):
            if type(values[number]) is not list:
                return self.changed(name)
        return values + tuple(len(values[k]) for k in self.grown_numbers) if self.grown else values

    def without_none(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """None: one of them is, which was not."""
        for number in self.choices.some:
            if values[number] is None:
                return self.changed(self.names[number])
        return values

    def with_logs(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """With empty lists for those that are only appended to, which no other value can show."""
        if not self.logs:
            return values
        made = [*values]
        counts = len(values) - len(self.grown)
        for k, (name, number) in enumerate(zip(self.grown, self.grown_numbers, strict=True)):
            own = values[number]
            if name not in self.logs or any(
                _may_be_in(own, v) for j, v in enumerate(values) if j != number
            ):
                continue
            made[number], made[counts + k] = [], 0
        return tuple(made)

    def is_same(self, name: str, known: Any, value: Any) -> bool:
        return is_same(known, value, but_numbers=name in self.varied_functions)

    def changed(self, name: str) -> None:
        self.place.told, self.has_changed = f"{name} is not what it was", True

    def make_site(self, left: int) -> Site:
        self.gate.note_translated()
        with without_collections():
            from frit.loops.run.site import Site

        unbound = frozenset(o for o in self.outputs if o not in self.names)
        self.site = self.sites[left] = Site(self, unbound, left)
        return self.site


def _may_be_in(one: list[Any], value: Any) -> bool:
    """Whether a list is the value, or in it."""
    if value is one:
        return True
    if type(value) not in (list, tuple) or not value:
        return False
    return type(value[0]) in (list, tuple) and any(_may_be_in(one, x) for x in value)
