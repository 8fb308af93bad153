"""nest.py: the statements of a nest -> a Routine of rank 0, and the guard that a call must pass.

Scalars are Python's or NumPy's, and each follows its own rules. What could fail, or leave int64, in
Python's arithmetic or in an index becomes a condition of the guard, which is computed at the call,
before anything is stored; where it does not hold, the nest runs as Python (guard.py).

Here is what a translation is given, keeps and gives back. What it does with each part of the text
is mixed in: statements (control.py, assignments.py), variables.py, expressions.py and what those
have a file of their own for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from frit import _core
from frit.loops.find.exits import number_of_exit
from frit.loops.find.tuples import is_part
from frit.loops.names import nodes_in
from frit.loops.nest.asked import Asked
from frit.loops.nest.assignments import Assignments
from frit.loops.nest.calls import Calls
from frit.loops.nest.complexes import Complexes
from frit.loops.nest.conditions import Conditions
from frit.loops.nest.control import Control, Frame
from frit.loops.nest.doubt import Doubts
from frit.loops.nest.expressions import Expressions
from frit.loops.nest.extremes import extremes_in
from frit.loops.nest.forms import Form, Forms
from frit.loops.nest.generated import Generated
from frit.loops.nest.guard import Guards
from frit.loops.nest.inline import Inlining
from frit.loops.nest.library_calls import LibraryCalls
from frit.loops.nest.lists import Lists
from frit.loops.nest.randoms import Randoms
from frit.loops.nest.reductions import Reductions
from frit.loops.nest.rows import Rows
from frit.loops.nest.series import Serieses
from frit.loops.nest.small_arrays import SmallArrays, variable_of
from frit.loops.nest.translation import (
    ARRAY,
    TOLD,
    Inputs,
    Output,
    Returned,
    Text,
    Translation,
    names_of,
)
from frit.loops.nest.values import (
    DTYPES,
    INTEGERS,
    LIMITS,
    Again,
    ArrayName,
    Item,
    ListPart,
    Refused,
    SmallArray,
    Value,
    View,
    kinds_in,
)
from frit.loops.nest.variables import Assignment, Variables
from frit.loops.nest.views import Views
from frit.loops.run.attributes import DOT
from frit.loops.run.given import real
from frit.loops.run.methods import PlainMethod
from frit.loops.run.surroundings import Surroundings
from frit.loops.run.texts import NONE
from frit.translate.flow import may_leave
from frit.translate.record import field, record


@record
class Knowledge:
    """What one translation tells the next."""

    kinds: dict[str, frozenset[str]] = field(default_factory=dict)  # of assigned variables
    places: set[str] = field(default_factory=set)  # variables that are read through a local
    loose: set[str] = field(default_factory=set)  # integers whose bounds only the nest knows
    nonzero: set[str] = field(default_factory=set)  # complex ones of Python's that are not only 0
    whiles_fail: bool = False
    stored: set[str] = field(default_factory=set)  # lists whose items the nest assigns
    appended: dict[str, str] = field(default_factory=dict)  # what kind empty lists get
    # Of lists that get small arrays: the type of their elements, and their shape.
    rows: dict[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    records: dict[str, str] = field(default_factory=dict)  # of lists that get tuples or lists
    small: dict[str, tuple[int, ...]] = field(default_factory=dict)  # variables' small arrays
    # Arguments that have another type from the first round on, which is done by itself.
    peeled: frozenset[str] = frozenset()
    doubted: set[tuple[int, int]] = field(default_factory=set)  # where divisors may be 0
    # Arrays that the nest writes and that it reads indices from: nobody knows their bounds before.
    unscanned: set[str] = field(default_factory=set)
    # Of these what is read is within bounds, where all of it is not (indptr[:-1]).
    parted: set[str] = field(default_factory=set)
    # Variables that may become Python's kind again: the nest tells which kind they have.
    told: set[str] = field(default_factory=set)
    no_extremes: set[str] = field(default_factory=set)  # that get several kinds of numbers
    numbers_arrays: bool = False  # each small array that is made gets a number
    holds_rows: bool = False  # rows of arrays that the nest changes are computed where they stand


class NestWriter(
    Control,
    Assignments,
    Generated,
    Variables,
    Guards,
    Serieses,
    Views,
    Lists,
    Rows,
    SmallArrays,
    Reductions,
    Randoms,
    Inlining,
    Doubts,
    Complexes,
    Calls,
    LibraryCalls,
    Conditions,
    Expressions,
):
    """One translation."""

    def __init__(self, inputs: Inputs, knowledge: Knowledge, asked: Asked) -> None:
        self.inputs = inputs
        self.knowledge = knowledge
        self.forms = Forms(asked.long_texts)
        self.writer = _core.KernelWriter(0)
        self.arrays: dict[str, View] = {}
        self.lists: dict[str, ListPart] = {}
        self.sliced: set[str] = set()  # lists that a loop goes through a part of
        self.texts: set[str] = set()  # those that are strings
        self.pausing: dict[str, int] = {}  # lists that a round of the nest appends so much to
        self.paused: int | None = None  # a flag: there is no room for another round
        # Of a nest with exits: the one at which it was left, and how many rounds were begun.
        self.exit: int | None = None
        self.begun: int | None = None
        self.capacities: dict[int, list[Callable[[], str]]] = {}  # of lists that are appended to
        self.env: dict[str, Any] = {}
        self.beginnings: dict[str, Any] = {}  # what peeled variables are before the first round
        self.bound: dict[str, tuple[tuple[Form, Form], ...]] = {}
        self.locals: dict[str, int] = {}
        self.assignments: dict[str, list[Assignment]] = {}
        self.symbol_of: dict[int, str] = {}  # reads of variables
        self.loose: set[int] = set()  # symbols of numbers that only the nest computes
        self.half_loose: set[int] = set()  # of numbers that are made of those
        self.of_elements: set[int] = set()  # elements of arrays of integers
        self.narrowed: dict[int, str] = {}  # the same, where a condition bounds them
        self.conditions: list[Callable[[], list[str]]] = []
        self.read_parts: dict[tuple[int, str, str], int] = {}
        self.divisors: dict[int, tuple[int, int]] = {}
        self.variables: dict[int, set[str]] = {}
        self.open_loops: list[tuple[Form, Form] | None] = []
        self.positions: list[tuple[int, int, ast.AST]] = []
        self.loops: list[ast.AST] = []
        self.parameters: list[int] = []
        self.written: set[int] = set()
        self.scanned: set[int] = set()  # arrays whose least and largest elements bound an index
        self.computed_truths: set[int] = set()  # values that are 0 or 1, whatever arrays hold
        self.truths: dict[int, Form] = {}  # bools as ints
        self.failures: int | None = None
        self.numpy_floats = self.numpy_integers = False
        self.frames = [Frame()]
        self.taken = Surroundings()
        self.calls_inlined = 0
        self.surroundings = {n: real(v) for n, v in inputs.surroundings.items()}
        self.lasts: dict[str, Callable[[], Item]] = {}  # of loop variables
        self.truth_kinds: set[str] | None = None  # of the operands of an and or an or
        self.is_stale = False  # something was learnt that the beginning should have known
        self.boundless: set[str] = set()  # variables of which no bounds were found
        self.endless: set[str] = set()  # of which only a while's many rounds gave some
        self.while_flags: list[int | None] = []  # of the open Whiles: that something has failed
        self.index_sums: set[ast.AST] = set()  # whose value is used as an index alone
        self.kept_rows: set[int] = set()  # arrays that variables are computed from
        self.parts: set[str] = set()  # variables that are rows or tuples
        self.counters: dict[str, int] = {}
        # Variables that only grow or only shrink: how, what they are first, and what they get.
        self.extremes: dict[str, tuple[str, Value, set[str]]] = {}
        self.untold: set[str] = set()  # choices of which one can't be told
        self.first_kinds: dict[str, str] = {}  # of arguments that are assigned
        self.guessed: set[str] = set()  # variables that were None, of a kind not yet known
        self.creations = 0  # of small arrays
        self.makers_of: dict[str, set[int]] = {}  # which of them variables may hold
        self.makers_changed: set[int] = set()
        self.last_serial: int | None = None  # a local
        self.of_parts: set[str] = set()  # variables that may hold a part of a small array
        self.given_others: set[str] = set()  # variables that got an array that an argument was
        self.draws = 0  # calls that draw random numbers
        self.has_signature = False
        self.is_wary = False  # indices are looked at, which another call may not need
        # Methods that assign attributes of their object, which are variables.
        self.methods = {
            name: method
            for name, method in self.surroundings.items()
            if isinstance(method, PlainMethod) and method.stores
        }
        self.texts_of_nest = [
            inputs.node,
            *(statement for m in self.methods.values() for statement in m.definition.body),
        ]
        self.assigned = self.assigned_in(self.texts_of_nest)
        self.asked = asked

    def translate(self) -> Translation:
        self.take_values()
        frame = self.frames[0]
        if may_leave(self.inputs.node, (ast.Return,)):
            frame.is_early, frame.returned = True, self.flag()
        if any(map(number_of_exit, nodes_in([self.inputs.node]))):
            self.exit, self.begun = self.writer.local("l"), self.writer.local("l")
            for place in (self.exit, self.begun):
                self.writer.write_local(place, self.writer.constant(0, "l"))
        self.statement(self.inputs.node)
        if self.is_stale:
            raise Again
        results, outputs = self.give_results()
        returned = self.give_returned(results)
        if self.is_stale:
            raise Again
        failures = failing = -1
        if self.failures is not None:
            failing = self.failures
            failures = len(results)
            self.add_result(results, Value("int", self.writer.read_local(self.failures)), "Il")
        guard = self.make_guard()
        paused = -1
        if self.paused is not None:
            paused = len(results)
            self.add_result(results, Value("bool", self.writer.read_local(self.paused)), "B?")
        exit, rounds = self.give_exit(results)
        lists = self.list_facts()
        count = len(self.inputs.names)
        parameters = [*self.parameters, *range(count, count + len(results))]
        text = Text(self.positions, self.loops)
        return Translation(
            kernel=self.writer.finish(parameters, names_of(self.inputs, results), ""),
            parameters=parameters,
            results=results,
            outputs=outputs,
            returned=returned,
            guard=guard,
            has_signature=self.has_signature,
            written=sorted(self.written),
            lists=lists,
            capacities=self.make_capacities(lists),
            failures=failures,
            failing=failing,
            numpy_floats=self.numpy_floats,
            numpy_integers=self.numpy_integers,
            text=lambda: text,
            taken=self.taken.check(),
            paused=paused,
            exit=exit,
            rounds=rounds,
        )

    def take_values(self) -> None:
        self.words = kinds = kinds_in(self.inputs.key)
        for number, (name, kind) in enumerate(zip(self.inputs.names, kinds, strict=True)):
            if kind[0] in "LQ":
                self.take_list(number, name, kind)
                continue
            if kind[0] in "AR":
                array = ArrayName(number, kind[1], int(kind[2]), kind[0] == "A", name)
                if array.rank == 0:
                    raise Refused(None, f"{name} is an array of no axes")
                array.parameter = self.writer.parameter(array.dtype, array.rank)
                self.parameters.append(number)
                whole = self.whole(array)
                if name in self.assigned and not is_changed_in_place(name, self.texts_of_nest):
                    if not self.take_small(name, whole):
                        raise Refused(None, f"the array {name} is assigned to in the loop")
                    continue
                self.arrays[name] = whole
                continue
            value = self.argument(number, kind)
            self.env[name] = value
            self.bound[name] = ()
        for name, is_none in self.inputs.optional.items():
            self.bound.setdefault(name, ())
            if is_none or name in self.inputs.names:  # else it has no value yet
                self.env[name + NONE] = Value("bool", literal=is_none)
                self.bound[name + NONE] = ()
        # Not in the nest's text: of functions, and elements of small arrays.
        made = {name for name in self.knowledge.places if "@" in name or "[" in name}
        given = [name for name in self.inputs.outputs if isinstance(self.env.get(name), Value)]
        if given and not self.methods and not self.inputs.optional:
            ops = extremes_in(self.inputs.node, given, self.surroundings)
            self.extremes = {
                name: (op, self.env[name], set())
                for name, op in ops.items()
                if name not in self.knowledge.no_extremes and not self.env[name].mixed
            }
        for name in [n for n in self.env if variable_of(n) in self.knowledge.peeled]:
            self.beginnings[name] = self.env.pop(name)
            del self.bound[name]
        for name in sorted(self.assigned | made):
            if name in self.env:
                self.note_kind(name, self.env[name])
            if name in self.knowledge.places and name in self.knowledge.kinds:
                self.locals[name] = self.writer.local(self.kind_in_place(name))
                if name in self.env:
                    self.write_place(None, name, self.env[name])
        for name in filter(is_part, self.inputs.outputs):
            self.bound[name] = ()
            if name in self.locals:
                self.write_place(None, name, self.nothing_of(self.kind_of(name)[0]))

    def nothing_of(self, kind: str) -> Value:
        """A number of this kind that nobody reads."""
        if kind == "int":
            return self.literal(self.inputs.node, 0)
        dtype = DTYPES.get(kind, kind)
        if dtype in "FD":
            raise Refused(self.inputs.node, "a tuple with complex numbers")
        zero = False if dtype == "?" else 0 if dtype in INTEGERS else 0.0
        return Value(kind, self.writer.constant(zero, dtype))

    def parameter_of(self, name: str) -> int:
        """Of an array that the nest changes."""
        array = self.arrays[name].array
        self.written.add(array.number)
        return array.parameter

    def argument(self, number: int, kind: str) -> Value:
        text = f"v{number}"
        if kind == "I":
            form = self.forms.of_text(text)
            return Value("int", self.writer.argument(number, "l"), form=form, argument=text)
        if kind in "FCB":
            word = {"F": "float", "C": "complex", "B": "bool"}[kind]
            return Value(word, self.writer.argument(number, DTYPES[word]), argument=text)
        value = Value(kind[1], self.writer.argument(number, kind[1]), argument=text)
        if value.kind in INTEGERS:
            low, high = LIMITS[value.kind]
            reach = max(-low, high) if value.kind not in "lL" else None
            value.form = self.forms.of_text(f"int({text})", reach)
        return value

    def give_results(self) -> tuple[list[str], list[Output]]:
        results: list[str] = []
        outputs: list[Output] = []
        for name in self.inputs.outputs:
            if name in self.arrays or self.keeps_array(name):
                outputs.append(Output(name, ARRAY))
                continue
            value = self.last_value(name) or self.read_variable(self.inputs.node, name)
            if isinstance(value, SmallArray):
                self.require_known(self.inputs.node, name, self.inputs.outputs)
            elif not isinstance(value, Value):
                raise Refused(self.inputs.node, f"{name} is a row behind the loop")
            outputs.append(
                Output(name, self.result_kind(value), shape=self.add_item(results, value))
            )
        for output in outputs:
            counter = self.counters.get(output.name)
            kinds = self.knowledge.kinds.get(output.name, frozenset())
            if output.shape is not None:
                if counter is not None:
                    output.counter = len(results)
                    self.add_result(results, Value("int", self.writer.read_local(counter)), "Il")
                continue
            if output.kind == ARRAY:
                continue
            value = self.env.get(output.name)
            if not value.mixed if value is not None else len(kinds) < 2:
                continue
            if output.name in self.extremes:
                told = self.told_of_extreme(output.name)
            elif value is not None:
                told = self.told_of(value)
            else:
                told = None if counter is None else self.writer.read_local(counter)
            if told is None:
                raise Refused(self.inputs.node, f"{output.name} may be of two types behind it")
            output.counter = len(results)
            self.add_result(results, Value("int", told), "Il")
        return results, outputs

    def told_of_extreme(self, name: str) -> int:
        """What it is (TOLD) if it got another number; else 0: it is what it was."""
        op, first, kinds = self.extremes[name]
        last = self.read_variable(self.inputs.node, name)
        moved = self.writer.apply(op, [self.emit(x, last.dtype) for x in (last, first)])
        codes = [TOLD.get(min(kinds), 1), 0]
        told: int = self.writer.apply(
            "Select", [moved, *(self.writer.constant(c, "l") for c in codes)]
        )
        return told

    def keeps_array(self, name: str) -> bool:
        """Whether no assignment to an argument that is a small array is ever reached."""
        is_given = name in self.knowledge.small and name in self.inputs.names
        return is_given and name not in self.counters

    def last_value(self, name: str) -> Value | None:
        """Of a variable that only a loop gives its values, and that bounds alone tell."""
        stores = [
            n
            for n in ast.walk(self.inputs.node)
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        ]
        if name not in self.lasts or len(stores) != 1 or name not in self.bound:
            return None
        if name in self.inputs.names:  # without rounds it keeps the value that it has
            return None
        try:
            value = self.lasts[name]()
        except ValueError:  # the bounds are those of a loop around it
            return None
        if not isinstance(value, Value) or value.kind != "int":
            return None
        self.require_rounds(self.bound[name])
        return value

    def give_returned(self, results: list[str]) -> Returned | None:
        frame = self.frames[0]
        if frame.returned is None:
            return None
        flag = len(results)
        self.add_result(results, Value("bool", self.writer.read_local(frame.returned)), "B?")
        values, shapes = [], []
        for name in frame.result_names:
            self.bind(name)  # nobody asks for it if the flag is not set
            value = self.read_variable(self.inputs.node, name)
            if isinstance(value, SmallArray):
                self.require_known(self.inputs.node, name, frame.result_names)
            elif value.mixed:
                raise Refused(self.inputs.node, "a result that may be of two types")
            values.append(len(results))
            shapes.append(self.add_item(results, value))
        return Returned(flag, values, shapes, frame.is_tuple)

    def give_exit(self, results: list[str]) -> tuple[int, int]:
        if self.exit is None or self.begun is None:
            return -1, -1
        first = len(results)
        for place in (self.exit, self.begun):
            self.add_result(results, Value("int", self.writer.read_local(place)), "Il")
        return first, first + 1

    def add_item(self, results: list[str], item: Value | SmallArray) -> tuple[int, ...] | None:
        """A result, or one for each element and the array's number; the shape of these."""
        if isinstance(item, Value):
            self.add_result(results, item, self.result_kind(item))
            return None
        serial = item.serial or Value("int", literal=0)
        for value, kind in [*((x, self.result_kind(item)) for x in item.items), (serial, "Il")]:
            self.add_result(results, value, kind)
        return item.shape

    def doubtful_arguments(self) -> frozenset[str]:
        """Those that are of one type at first, and of another one from the first round on."""
        if not isinstance(self.inputs.node, ast.For):
            return frozenset()
        kinds = self.knowledge.kinds.items()
        names = {variable_of(name) for name, known in kinds if len(known) > 1}
        names &= {*self.inputs.names}
        if may_leave(self.inputs.node, (ast.Return,)):
            # What an object's attribute is matters where the function has returned, too.
            names = {n for n in names if DOT not in n}
        return frozenset(names)

    def leaves_nest(self, name: str) -> bool:
        is_result = name.startswith("return") and name.endswith("@")
        return is_result or variable_of(name) in self.inputs.outputs

    @staticmethod
    def result_kind(value: Value | SmallArray) -> str:
        return {"int": "Il", "float": "Fd", "complex": "CD", "bool": "B?"}.get(
            value.kind, "N" + value.kind
        )

    def add_result(self, results: list[str], value: Value, kind: str) -> None:
        results.append(kind)
        array = self.writer.parameter(kind[1], 1)
        zero = self.writer.constant(0, "l")
        self.writer.store(array, [zero], self.emit(value, kind[1]), 0)


def is_changed_in_place(name: str, nest: list[ast.AST]) -> bool:
    """Whether the nest assigns to an array's name by `name += ..` alone: it remains the array."""
    nodes = nodes_in(nest)
    stores = {id(n) for n in nodes if isinstance(n, ast.Name) and n.id == name and is_stored(n)}
    return stores <= {id(n.target) for n in nodes if isinstance(n, ast.AugAssign)}


def is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def translate(inputs: Inputs) -> Translation:
    """Raises Refused where the nest must stay Python."""
    knowledge, asked = Knowledge(), Asked(inputs.values)
    guessed: set[str] = set()
    reads_elements = False
    first: Refused | None = None
    for _ in range(24):
        writer = NestWriter(inputs, knowledge, asked)
        try:
            made = writer.translate()
            if not (reads_elements or writer.scanned):
                made.asked, made.is_wary = asked.as_kept(), writer.is_wary
            return made
        except Again:
            pass
        except Refused as refused:
            if not writer.is_stale:
                if not (reads_elements or writer.scanned):
                    refused.asked = asked
                if first is not None:
                    raise first from None
                doubtful = writer.doubtful_arguments()
                if not doubtful:
                    raise
                first, knowledge = refused, Knowledge(peeled=doubtful)
        finally:
            reads_elements = reads_elements or bool(writer.scanned)
            writer.writer = None
        if writer.guessed:
            # What else was learnt may follow from the guess.
            kinds = {n: knowledge.kinds.get(n, frozenset()) for n in writer.guessed}
            if guessed & writer.guessed or not all(kinds.values()):
                raise Refused(inputs.node, f"{min(writer.guessed)} is nothing but None")
            guessed |= writer.guessed
            knowledge = Knowledge(kinds=kinds, places={*kinds}, peeled=knowledge.peeled)
    raise Refused(inputs.node, "its types do not settle")
