"""nest.py: the statements of a nest -> a Routine of rank 0, and the guard that a call must pass.

Scalars are Python's or NumPy's, and each follows its own rules. What could fail, or leave int64, in
Python's arithmetic or in an index becomes a condition of the guard, which is computed at the call,
before anything is stored; where it does not hold, the nest runs as Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from frit import _core
from frit.loops.calls import Calls
from frit.loops.complexes import Complexes, is_zero
from frit.loops.conditions import Conditions
from frit.loops.control import Control, Frame
from frit.loops.doubt import Doubts, joined_kind, kinds_of
from frit.loops.expressions import Expressions
from frit.loops.forms import ARGUMENT, LARGEST, Form, Forms, Symbol, Unbounded
from frit.loops.inline import Inlining, Surroundings, numpys_own
from frit.loops.names import assigned_names
from frit.loops.rows import Rows
from frit.loops.series import Serieses
from frit.loops.values import (
    COMPLEXES,
    DTYPES,
    INTEGERS,
    LIMITS,
    Again,
    ArrayName,
    Item,
    Refused,
    Row,
    Value,
    View,
)
from frit.loops.views import Views
from frit.translate.flow import may_leave
from frit.translate.record import field, record

MANY_ROUNDS = 2**50  # no loop gets there in a week


@record
class Knowledge:
    """What one translation tells the next."""

    kinds: dict[str, frozenset[str]] = field(default_factory=dict)  # of assigned variables
    places: set[str] = field(default_factory=set)  # variables that are read through a local
    loose: set[str] = field(default_factory=set)  # integers whose bounds only the nest knows
    nonzero: set[str] = field(default_factory=set)  # complex ones of Python's that are not only 0
    whiles_fail: bool = False


@record
class Inputs:
    """A nest, and what a call gives it."""

    node: ast.For
    names: list[str]  # of the values
    values: tuple[Any, ...]
    key: str
    outputs: list[str]  # variables that are read behind the nest
    surroundings: dict[str, Any]  # names of modules, functions and types
    is_unbound: frozenset[str]  # outputs that may have no value before the nest
    left: int = 0  # last rounds that are not run; the guard holds for them too


@record
class Output:
    name: str
    kind: str  # as LoopNest wants it
    counter: int = -1  # result that counts assignments of NumPy's kind; -1: there was one


@record
class Returned:
    """Results: a flag, whether the function has returned, and what it gives."""

    flag: int
    values: list[int]
    is_tuple: bool


@record
class Translation:
    kernel: Any
    results: list[str]
    outputs: list[Output]
    returned: Returned | None
    guard: Callable[..., bool]
    guard_text: str
    has_signature: bool  # the guard follows from loop_signature
    written: list[int]  # values that are stored to
    failures: int  # the result that counts failures, or -1
    numpy_floats: bool
    positions: list[tuple[int, int, ast.AST]]  # of the accesses: line, column, text
    loops: list[ast.AST]
    still_holds: Callable[[], bool] | None  # what was taken from the program


_NO_NAMES = str.maketrans(dict.fromkeys("+-*/%()[],:.<=>!", " "))


def names_in(text: str) -> set[str]:
    """Of a condition, with its words. (A regular expression would first be compiled.)"""
    return {name for name in text.translate(_NO_NAMES).split() if not name[0].isdigit()}


def scanned_in(text: str) -> list[int]:
    """Numbers of the arrays whose least and largest elements the condition names."""
    return sorted({int(n[1:-3]) for n in names_in(text) if n[0] == "m" and n[1:2].isdigit()})


def kinds_in(key: str) -> list[str]:
    """What loop_key says of each value: A or R, a type and a rank; N and a type; or a letter."""
    kinds, k = [], 0
    while k < len(key):
        size = {"A": 3, "R": 3, "N": 2}.get(key[k], 1)
        kinds.append(key[k : k + size])
        k += size
    return kinds


class NestWriter(
    Control, Serieses, Views, Rows, Inlining, Doubts, Complexes, Calls, Conditions, Expressions
):
    """One translation."""

    def __init__(self, inputs: Inputs, knowledge: Knowledge) -> None:
        self.inputs = inputs
        self.knowledge = knowledge
        self.forms = Forms()
        self.writer = _core.KernelWriter(0)
        self.arrays: dict[str, View] = {}
        self.env: dict[str, Any] = {}
        self.bound: dict[str, tuple[tuple[Form, Form], ...]] = {}
        self.locals: dict[str, int] = {}
        self.assignments: dict[str, list[tuple[Form, Form | None, tuple[Any, ...]]]] = {}
        self.symbol_of: dict[int, str] = {}  # reads of variables
        self.loose: set[int] = set()  # symbols of numbers that only the nest computes
        self.narrowed: dict[int, str] = {}  # the same, where a condition bounds them
        self.conditions: list[Callable[[], list[str]]] = []
        self.open_loops: list[tuple[Form, Form] | None] = []
        self.positions: list[tuple[int, int, ast.AST]] = []
        self.loops: list[ast.AST] = []
        self.parameters: list[int] = []
        self.written: set[int] = set()
        self.scanned: set[int] = set()  # arrays whose least and largest elements bound an index
        self.failures: int | None = None
        self.numpy_floats = False
        self.frames = [Frame()]
        self.taken = Surroundings()
        self.calls_inlined = 0
        self.surroundings = {n: numpys_own(v) for n, v in inputs.surroundings.items()}
        self.lasts: dict[str, Callable[[], Item]] = {}  # of loop variables
        self.truth_kinds: set[str] | None = None  # of the operands of an and or an or
        self.is_stale = False  # something was learnt that the beginning should have known
        self.boundless: set[str] = set()  # variables of which no bounds were found
        self.while_flags: list[int | None] = []  # of the open Whiles: that something has failed
        self.kept_rows: set[int] = set()  # arrays that variables are computed from
        self.parts: set[str] = set()  # variables that are rows or tuples
        self.counters: dict[str, int] = {}
        self.has_signature = False
        self.assigned = assigned_names([inputs.node])
        # Of this call, as far as it was asked for: the guard's names, lines and bounds.
        self.space_now: dict[str, Any] = {f"v{k}": v for k, v in enumerate(inputs.values)}
        self.lines_now: set[str] = set()
        self.numbers_now: dict[str, int] = {}

    # ---- the whole ------------------------------------------------------------------------------

    def translate(self) -> Translation:
        self.take_values()
        frame = self.frames[0]
        if may_leave(self.inputs.node, (ast.Return,)):
            frame.is_early, frame.returned = True, self.flag()
        self.statement(self.inputs.node)
        if self.is_stale:
            raise Again
        results, outputs = self.give_results()
        returned = self.give_returned(results)
        if self.is_stale:
            raise Again
        failures = -1
        if self.failures is not None:
            failures = len(results)
            self.add_result(results, Value("int", self.writer.read_local(self.failures)), "Il")
        text, guard = self.make_guard()
        names = [*self.inputs.names, *(f"result {k}" for k in range(len(results)))]
        count = len(self.inputs.names)
        order = [*self.parameters, *range(count, count + len(results))]
        kernel = self.writer.finish(order, names, "")
        return Translation(
            kernel=kernel,
            results=results,
            outputs=outputs,
            returned=returned,
            guard=guard,
            guard_text=text,
            has_signature=self.has_signature,
            written=sorted(self.written),
            failures=failures,
            numpy_floats=self.numpy_floats,
            positions=self.positions,
            loops=self.loops,
            still_holds=self.taken.check(),
        )

    def take_values(self) -> None:
        kinds = kinds_in(self.inputs.key)
        for number, (name, kind) in enumerate(zip(self.inputs.names, kinds, strict=True)):
            if kind[0] in "AR":
                array = ArrayName(number, kind[1], int(kind[2]), kind[0] == "A", name)
                if array.rank == 0:
                    raise Refused(None, f"{name} is an array of no axes")
                array.parameter = self.writer.parameter(array.dtype, array.rank)
                self.parameters.append(number)
                self.arrays[name] = self.whole(array)
                if name in self.assigned:
                    raise Refused(None, f"the array {name} is assigned to in the loop")
                continue
            value = self.argument(number, kind)
            self.env[name] = value
            self.bound[name] = ()
        made = {name for name in self.knowledge.places if "@" in name}  # not in the nest's text
        for name in sorted(self.assigned | made):
            if name in self.env:
                self.note_kind(name, self.env[name])
            if name in self.knowledge.places and name in self.knowledge.kinds:
                self.locals[name] = self.writer.local(self.kind_in_place(name))
                if name in self.env:
                    self.write_place(None, name, self.env[name])

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
            value = self.last_value(name) or self.read_variable(self.inputs.node, name)
            if not isinstance(value, Value):
                raise Refused(self.inputs.node, f"{name} is a row behind the loop")
            output = Output(name, self.result_kind(value))
            self.add_result(results, value, output.kind)
            outputs.append(output)
        for output in outputs:
            counter = self.counters.get(output.name)
            kinds = self.knowledge.kinds.get(output.name, frozenset())
            if output.name in self.env or len(kinds) < 2:
                continue
            if counter is None:
                raise Refused(self.inputs.node, f"{output.name} may be of two types behind it")
            output.counter = len(results)
            self.add_result(results, Value("int", self.writer.read_local(counter)), "Il")
        return results, outputs

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
        values = []
        for name in frame.result_names:
            self.bound[name] = ()  # nobody asks for it if the flag is not set
            value = self.read_variable(self.inputs.node, name)
            if value.mixed:
                raise Refused(self.inputs.node, "a result that may be of two types")
            values.append(len(results))
            self.add_result(results, value, self.result_kind(value))
        return Returned(flag, values, frame.is_tuple)

    def leaves_nest(self, name: str) -> bool:
        is_result = name.startswith("return") and name.endswith("@")
        return is_result or name in self.inputs.outputs

    @staticmethod
    def result_kind(value: Value) -> str:
        return {"int": "Il", "float": "Fd", "complex": "CD", "bool": "B?"}.get(
            value.kind, "N" + value.kind
        )

    def add_result(self, results: list[str], value: Value, kind: str) -> None:
        results.append(kind)
        array = self.writer.parameter(kind[1], 1)
        zero = self.writer.constant(0, "l")
        self.writer.store(array, [zero], self.emit(value, kind[1]), 0)

    # ---- conditions -----------------------------------------------------------------------------

    def require(self, form: Form, least: int | str | None, most: int | str | None) -> None:
        """The guard asks for least <= form <= most."""

        def texts() -> list[str]:
            found = []
            if least is not None:
                found.append(f"{least} <= {self.forms.least(form)}")
            if most is not None:
                found.append(f"{self.forms.most(form)} <= {most}")
            return found

        self.conditions.append(texts)

    def require_needs(self, value: Value) -> None:
        for form, least, most in value.needs:
            self.require(form, least, most)

    def require_rounds(self, loops: Sequence[tuple[Form, Form]]) -> None:
        for begin, end in loops:
            self.require(end - begin, 1, None)

    def require_text(self, text: str) -> None:
        self.conditions.append(lambda: [text])

    def now(self, form: Form) -> tuple[int, int] | None:
        """The form's bounds at this call, as far as they are known yet."""
        try:
            texts = self.forms.least(form), self.forms.most(form)
        except Unbounded:
            return None
        try:
            return self.number_now(texts[0]), self.number_now(texts[1])
        except (ValueError, ZeroDivisionError):
            return None

    def number_now(self, text: str) -> int:
        if text not in self.numbers_now:
            for line in self.prelude(text):
                if line not in self.lines_now:
                    exec(line, {"index_range": _core.index_range}, self.space_now)
                    self.lines_now.add(line)
            self.numbers_now[text] = eval(text, {}, self.space_now)
        return self.numbers_now[text]

    def prelude(self, text: str) -> list[str]:
        """What the names in the text are."""
        lines = []
        for name in sorted(names_in(text)):
            if name[0] == "e" and name[1:2].isdigit():
                array, _, axis = name[1:].partition("_")
                lines.append(f"{name} = v{array}.shape[{axis}]")
        for array in scanned_in(text):
            lines.append(f"m{array}_lo, m{array}_hi = index_range(v{array})")
        return lines

    def make_guard(self) -> tuple[str, Callable[..., bool]]:
        texts: list[str] = []
        try:
            for condition in self.conditions:
                texts += condition()
            for known in sorted(self.forms.assumed):
                texts.append(f"{-ARGUMENT} <= {known} <= {ARGUMENT}")
        except Unbounded:
            if self.boundless - self.knowledge.loose:
                self.knowledge.loose |= self.boundless
                raise Again from None
            raise Refused(
                None, "an integer may become large, or an index may be anything"
            ) from None
        kept = []
        for text in dict.fromkeys(texts):
            if not names_in(text):
                if not eval(text):
                    raise Refused(None, f"it is not certain that {text}")
                continue
            kept.append(text)
        every = " ".join(kept)
        self.has_signature = all(map(self.is_in_signature, names_in(every)))
        for array in scanned_in(every):
            if array in self.written:
                raise Refused(None, "an index is read from an array that the loop writes")
            kept[:0] = [f"not overlap(v{array}, v{w})" for w in sorted(self.written)]
        for array in sorted(self.kept_rows):
            if array in self.written:
                raise Refused(None, "a row is computed from an array that the loop writes")
            kept[:0] = [f"not overlap(v{array}, v{w})" for w in sorted(self.written)]
        self.has_signature &= not any(text.startswith("not overlap") for text in kept)
        arguments = ", ".join(f"v{k}" for k in range(len(self.inputs.names)))
        lines = [f"def guard({arguments}):", *(f"    {x}" for x in self.prelude(every))]
        lines.append("    return " + (" and ".join(kept) or "True"))
        text = "\n".join(lines)
        import numpy

        space: dict[str, Any] = {
            "overlap": numpy.may_share_memory,
            "index_range": _core.index_range,
            "is_plain": is_plain,
            "float32": numpy.float32,
        }
        exec(text, space)
        return text, space["guard"]

    def is_in_signature(self, name: str) -> bool:
        """Whether it is an extent or a Python int: or a word of the guard's."""
        kind, number = name[0], name[1:]
        if kind == "v" and number.isdigit():
            return kinds_in(self.inputs.key)[int(number)] == "I"
        return name in ("min", "max", "and") or (kind == "e" and number.replace("_", "").isdigit())

    # ---- variables ------------------------------------------------------------------------------

    def note_kind(self, name: str, value: Value) -> None:
        if value.mixed and self.leaves_nest(name):
            raise Refused(None, f"{name} may be a number of Python's or of NumPy's")
        if name in self.parts:
            raise Refused(None, f"{name} is a number and a row")
        known = self.knowledge.kinds.get(name, frozenset())
        kinds = known | kinds_of(value)
        if kinds != known:
            self.knowledge.kinds[name] = kinds
            if name in self.locals:
                self.learn(name)

    def learn(self, name: str) -> None:
        """The translation goes on, to learn more, with a place that fits; it is done again."""
        self.is_stale = True
        self.locals[name] = self.writer.local(self.kind_in_place(name))

    def kind_of(self, name: str) -> tuple[str, bool]:
        """A variable's kind, and whether it may still be Python's kind of number."""
        kinds = self.knowledge.kinds[name]
        kind = joined_kind(kinds)
        if kind is None:
            raise Refused(None, f"{name} is of several types: {', '.join(sorted(kinds))}")
        return kind, len(kinds) > 1

    def kind_in_place(self, name: str) -> str:
        kind, _ = self.kind_of(name)
        return DTYPES.get(kind, kind)

    def read_variable(self, node: ast.AST, name: str) -> Any:
        if name in self.env:
            return self.env[name]
        if name in self.parts:
            raise Refused(node, f"{name}, which may be one of several rows")
        if name not in self.bound:
            raise Refused(node, f"{name} may have no value")
        self.require_rounds(self.bound[name])
        if name not in self.locals:
            self.knowledge.places.add(name)
            if name not in self.knowledge.kinds:
                raise Again
            self.learn(name)
        kind, mixed = self.kind_of(name)
        value = Value(kind, self.writer.read_local(self.locals[name]))
        value.among = self.knowledge.kinds[name] if mixed else frozenset()
        value.zero = mixed and name not in self.knowledge.nonzero
        if kind == "int" and name in self.knowledge.loose:
            value.form = self.loose_form(-LARGEST, LARGEST)
        elif kind == "int":
            seen = len(self.assignments.get(name, ())), tuple(self.open_loops)
            ends = lambda high: lambda: self.variable_ends(name, high, *seen)  # noqa: E731
            value.form = self.forms.symbol(Symbol(low=ends(False), high=ends(True)))
            symbol = self.forms.symbols[-1]
            symbol.widest_low = symbol.widest_high = True
            self.symbol_of[len(self.forms.symbols) - 1] = name
        return value

    def variable_ends(
        self, name: str, high: bool, assigned: int, around: tuple[Any, ...]
    ) -> list[Form]:
        """The variable's bound: that of what is assigned, and all that is added to it.

        For a read in the loops `around`, with so many assignments before it in the text.
        """
        plain, sums = [], []
        for number, (form, added, loops) in enumerate(self.assignments.get(name, [])):
            if added is None:
                try:
                    plain.append(self.forms.most(form) if high else self.forms.least(form))
                except Unbounded:
                    self.boundless.add(name)
                    raise
                continue
            if any(symbol in self.narrowed for symbol, _ in form.terms):
                with suppress(Unbounded):
                    plain.append(self.forms.most(form) if high else self.forms.least(form))
                    continue
            if None in loops:
                rounds = str(MANY_ROUNDS)
            else:
                rounds = "*".join(f"max(0,{self.forms.most(e - b)})" for b, e in loops) or "1"
                if number >= assigned and loops and all(map(_is, loops, around)):
                    # The round that reads it has not added to it yet.
                    rounds = f"max(0,{rounds}-1)" if len(loops) <= len(around) else rounds
            if high:
                sums.append(f"max(0,{self.forms.most(added)})*{rounds}")
            else:
                sums.append(f"min(0,{self.forms.least(added)})*{rounds}")
        if not plain:
            self.boundless.add(name)
            raise Unbounded
        start = plain[0] if len(plain) == 1 else f"{'max' if high else 'min'}({','.join(plain)})"
        return [self.forms.of_text("(" + "+".join([start, *sums]) + ")", None)]

    def assign_variable(self, node: ast.AST, name: str, value: Value) -> None:
        self.note_kind(name, value)
        self.env[name] = value
        self.bound[name] = ()
        if name in self.locals:
            self.write_place(node, name, value)

    def assign_part(self, node: ast.AST, name: str, item: Item) -> None:
        """The variable stands for a row, or for several things."""
        if isinstance(item, Row):
            # It is computed where it is used, from elements that stay what they are.
            self.kept_rows.update(view.array.number for view in item.reads)
        elif not isinstance(item, (View, tuple)):
            raise Refused(node, "a variable that is no number and no row")
        if name in self.knowledge.kinds:
            raise Refused(node, f"{name} is a number and a row")
        self.parts.add(name)
        self.env[name] = item
        self.bound[name] = ()

    def write_place(self, node: ast.AST | None, name: str, value: Value) -> None:
        kind, mixed = self.kind_of(name)
        if name in self.knowledge.loose:
            self.require_moderate(value)
        if value.kind == "int" and value.form is not None:
            added = None
            for symbol, factor in value.form.terms:
                read = self.symbol_of.get(symbol) or self.narrowed.get(symbol)
                if factor == 1 and read == name:
                    added = value.form - Form(((symbol, 1),))
            self.assignments.setdefault(name, []).append(
                (value.form, added, tuple(self.open_loops))
            )
        if mixed and kind in COMPLEXES:
            if "complex" in kinds_of(value) and name not in self.knowledge.nonzero:
                if not is_zero(value):
                    self.knowledge.nonzero.add(name)
                    self.is_stale = True
        if mixed and value.kind != kind:
            self.require_same(node, value, kind)
            if node is not None and self.leaves_nest(name):
                raise Refused(node, f"{name} may be of two types behind the loop")
        if mixed and value.kind == kind and self.leaves_nest(name):
            self.count(self.counters.setdefault(name, -1), name)
        self.writer.write_local(self.locals[name], self.emit(value, DTYPES.get(kind, kind)))

    def count(self, counter: int, name: str) -> None:
        if counter < 0:
            counter = self.counters[name] = self.writer.local("l")
        one = self.writer.constant(1, "l")
        sum_ = self.writer.apply("Add", [self.writer.read_local(counter), one])
        self.writer.write_local(counter, sum_)

    def require_same(self, node: ast.AST | None, value: Value, kind: str) -> None:
        """The number is the same in the type."""
        if kind in COMPLEXES:
            return self.require_complex(node, value, kind)
        if value.dtype == "?" == kind:
            return
        if value.literal is not None:
            import numpy

            if numpy.dtype(DTYPES.get(kind, kind)).type(value.literal) == value.literal:
                return
        elif value.kind == "int" and value.form is not None:
            bits = {"e": 11, "f": 24, "d": 53, "float": 53}.get(kind)
            low, high = (-(2**bits), 2**bits) if bits else LIMITS[kind]
            self.require(value.form, low, high)
            return
        elif value.kind == "float" and kind == "d":
            return
        elif value.kind == "float" and kind == "f" and value.argument:
            self.require_text(f"float(float32({value.argument})) == {value.argument}")
            return
        raise Refused(node, "a variable is a number of Python's first, and then of NumPy's")

    # ---- statements -----------------------------------------------------------------------------

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.operand(node.value)
        elif not isinstance(node.value, ast.Constant):
            raise Refused(node, "an expression whose value is not used")

    def do_Assign(self, node: ast.Assign) -> None:
        item = self.operand(node.value)
        for target in node.targets:
            self.assign_item(target, item)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise Refused(node, "an annotation")
        self.assign_item(node.target, self.operand(node.value))

    def assign_item(self, target: ast.expr, item: Item) -> None:
        if isinstance(target, ast.Name):
            if isinstance(item, Value):
                self.assign_variable(target, target.id, item)
            else:
                self.assign_part(target, target.id, item)
        elif isinstance(target, ast.Subscript):
            view = self.place(target)
            if view.spans:
                self.store_row(target, view, item)
            elif isinstance(item, Value):
                self.store(target, view, item)
            else:
                raise Refused(target, "this into an element")
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = self.items_of(target, item, len(target.elts))
            for one, part in zip(target.elts, parts, strict=True):
                self.assign_item(one, part)
        else:
            raise Refused(target, "an assignment to this")

    def items_of(self, node: ast.expr, item: Item, count: int) -> Sequence[Item]:
        """What is unpacked."""
        if isinstance(item, View) and item.spans:
            extent = item.spans[0].extent
            self.require(extent.form, count, count)
            parts = []
            for number in range(count):
                index = Value("int", literal=number, form=Form((), number))
                part = self.first_of(item, index)
                parts.append(part if part.spans else self.load(node, part))
            return parts
        if not isinstance(item, tuple) or len(item) != count:
            raise Refused(node, f"{count} variables for this")
        return item

    def place(self, node: ast.Subscript) -> View:
        owner = self.operand(node.value)
        if not isinstance(owner, View) or not owner.spans:
            raise Refused(node, "an element of something else than an array")
        return self.part(node, owner)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            old = self.read_variable(node.target, node.target.id)
            if isinstance(old, View):
                self.update_row(node, node.op, old, self.operand(node.value))
                return
            if not isinstance(old, Value):
                raise Refused(node, "this operator")
            new = self.binary(node, node.op, old, self.number(node.value))
            self.assign_variable(node, node.target.id, new)
            return
        if not isinstance(node.target, ast.Subscript):
            raise Refused(node, "an assignment to this")
        view = self.place(node.target)
        if view.spans:
            self.update_row(node, node.op, view, self.operand(node.value))
            return
        old = self.load(node.target, view)
        new = self.binary(node, node.op, old, self.number(node.value))
        self.store(node.target, view, new)


def _is(x: Any, y: Any) -> bool:
    return x is y


def is_plain(array: Any) -> bool:
    """Whether no two elements of the array share memory."""
    reach = array.itemsize
    for stride, extent in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if extent > 1:
            if stride < reach:
                return False
            reach += stride * (extent - 1)
    return True


def translate(inputs: Inputs) -> Translation:
    """Raises Refused where the nest must stay Python."""
    knowledge = Knowledge()
    for _ in range(24):
        writer = NestWriter(inputs, knowledge)
        try:
            return writer.translate()
        except Again:
            continue
        except Refused:
            if not writer.is_stale:
                raise
        finally:
            writer.writer = None
    raise Refused(inputs.node, "its types do not settle")
