"""variables.py: the variables of a nest: what they hold, and bounds of what they may hold.

A variable that is assigned is what was assigned, until a block or a round ends; from then on it is
read from a place, a local of the kernel.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Any

from frit.loops.nest.complexes import is_zero
from frit.loops.nest.doubt import SIZED, joined_kind, kinds_of
from frit.loops.nest.forms import LARGEST, LEAST, Form, Forms, Symbol, Unbounded
from frit.loops.nest.small_arrays import makers_in
from frit.loops.nest.translation import TOLD
from frit.loops.nest.values import (
    COMPLEXES,
    DTYPES,
    LIMITS,
    Again,
    Character,
    Item,
    ListPart,
    Refused,
    Row,
    SmallArray,
    Value,
    View,
)
from frit.translate.record import record

LARGEST_FLOAT32 = 2.0**128 - 2.0**104
MANY_ROUNDS = 2**50  # no loop gets there in a week


@record
class Assignment:
    """Of an int to a variable that has a place; added: what it adds to the variable itself."""

    form: Form
    added: Form | None
    loops: tuple[tuple[Form, Form] | None, ...]  # open ones
    facts: tuple[Form, ...]


class Variables:
    """Mixed into NestWriter."""

    guessed: set[str]
    inputs: Any
    knowledge: Any
    extremes: dict[str, Any]
    writer: Any
    assign_small: Any
    held_row: Any
    note_holder: Any
    read_small: Any
    forms: Forms
    env: dict[str, Any]
    bound: dict[str, tuple[tuple[Form, Form], ...]]
    locals: dict[str, int]
    assignments: dict[str, list[Assignment]]
    symbol_of: dict[int, str]
    narrowed: dict[int, str]
    open_loops: list[tuple[Form, Form] | None]
    boundless: set[str]
    endless: set[str]
    kept_rows: set[int]
    parts: set[str]
    counters: dict[str, int]
    first_kinds: dict[str, str]
    untold: set[str]
    told_of: Any
    is_stale: bool
    emit: Any
    leaves_nest: Any
    loose_form: Any
    require: Any
    require_complex: Any
    require_moderate: Any
    require_rounds: Any
    require_text: Any
    require_value: Any

    def note_kind(self, name: str, value: Value) -> None:
        if name in self.extremes:
            self.note_extreme(name, value)
        elif value.mixed and self.leaves_nest(name):
            self.tell(name, value)
        if name in self.parts or name in self.knowledge.small:
            raise Refused(None, f"{name} is a number and a row")
        known = self.knowledge.kinds.get(name, frozenset())
        kinds = known | kinds_of(value)
        if len(kinds & SIZED) > 1 and self.leaves_nest(name):
            raise Refused(None, f"{name} may be of two types behind the loop")
        if kinds != known:
            self.knowledge.kinds[name] = kinds
            if name in self.locals:
                self.learn(name)

    def note_extreme(self, name: str, value: Value) -> None:
        """What it gets is of one kind; else its last value does not say what it is."""
        _, first, kinds = self.extremes[name]
        if value is not first:
            is_greatest = value.second is not None and value.second[0] == name
            kinds |= value.second[1] if is_greatest else kinds_of(value)
            if len(kinds) > 1:
                self.knowledge.no_extremes.add(name)
                raise Again

    def tell(self, name: str, value: Value) -> None:
        """The nest tells which of its kinds a variable has that is read behind it."""
        if name in self.inputs.outputs and name not in self.knowledge.told:
            self.knowledge.told.add(name)
            raise Again
        if name not in self.knowledge.told or self.told_of(value) is None:
            raise Refused(None, f"{name} may be a number of Python's or of NumPy's")

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
        if name in self.knowledge.small:
            return self.read_small(node, name)
        if name in self.parts:
            raise Refused(node, f"{name}, which may be one of several rows")
        if name not in self.bound:
            raise Refused(node, f"{name} may have no value")
        self.require_rounds(self.bound[name])
        if name not in self.locals:
            self.knowledge.places.add(name)
            if name not in self.knowledge.kinds and name in self.inputs.optional:
                self.is_stale = True
                self.guessed.add(name)
                return Value("float", self.writer.constant(0.0, "d"))
            if name not in self.knowledge.kinds:
                raise Again
            self.learn(name)
        kind, mixed = self.kind_of(name)
        value = Value(kind, self.writer.read_local(self.locals[name]))
        value.among = self.knowledge.kinds[name] if mixed else frozenset()
        if mixed and self.tells(name):
            self.read_told(name, value)
        value.zero = mixed and name not in self.knowledge.nonzero
        if kind == "int" and name in self.knowledge.loose:
            value.form = self.loose_form(LEAST, LARGEST)
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
        bound = self.forms.most if high else self.forms.least
        for number, assignment in enumerate(self.assignments.get(name, [])):
            form, loops, facts = assignment.form, assignment.loops, assignment.facts
            if assignment.added is None:
                try:
                    plain.append(bound(form, facts))
                except Unbounded:
                    self.boundless.add(name)
                    raise
                continue
            if any(symbol in self.narrowed for symbol, _ in form.terms):
                with suppress(Unbounded):
                    plain.append(bound(form, facts))
                    continue
            if None in loops:
                rounds = str(MANY_ROUNDS)
                self.endless.add(name)
            else:
                rounds = self.rounds_of([x for x in loops if x is not None], facts)
                if number >= assigned and loops and all(map(_is, loops, around)):
                    # The round that reads it has not added to it yet.
                    rounds = f"max(0,{rounds}-1)" if len(loops) <= len(around) else rounds
            sums.append(f"{'max' if high else 'min'}(0,{bound(assignment.added, facts)})*{rounds}")
        if not plain:
            self.boundless.add(name)
            raise Unbounded
        start = plain[0] if len(plain) == 1 else f"{'max' if high else 'min'}({','.join(plain)})"
        return [self.forms.of_text("(" + "+".join([start, *sums]) + ")", None)]

    def rounds_of(self, loops: list[tuple[Form, Form]], facts: tuple[Form, ...]) -> str:
        """How often the innermost of these loops goes round, at most."""
        forms = self.forms
        factors, summed = [], set()
        for k, (begin, end) in reversed([*enumerate(loops)]):
            if k in summed:
                continue
            extent = end - begin
            found = forms.latest(extent)
            if found is not None:
                symbol, rest = forms.symbols[found[0]], extent - Form((found,))
                for j in range(k):  # a triangle: one index says how many there are of the other
                    first, behind = loops[j]
                    is_index = symbol.low == [first] and symbol.high == [behind - Form((), 1)]
                    if is_index and all(map(forms.is_known, (first, behind, rest))):
                        ends = f"{forms.text(first)},{forms.text(behind)}"
                        factors.append(f"sum_of_rounds({ends},{found[1]},{forms.text(rest)})")
                        summed |= {j, k}
            if k not in summed:
                factors.append(f"max(0,{forms.most(extent, facts)})")
        return "*".join(reversed(factors)) or "1"

    def assign_variable(self, node: ast.AST, name: str, value: Value) -> None:
        self.note_kind(name, value)
        self.env[name] = value
        self.bound[name] = ()
        if name in self.locals:
            self.write_place(node, name, value)

    def assign_part(self, node: ast.AST, name: str, item: Item) -> None:
        """The variable stands for a row, or for several things."""
        if isinstance(item, (View, Row)) and (small := self.row_to_hold(node, name, item)):
            self.assign_small(node, name, small)
            return
        if isinstance(item, Row):
            # It is computed where it is used, from elements that stay what they are.
            self.kept_rows.update(view.array.number for view in item.reads)
        elif not isinstance(item, (View, ListPart, Character, tuple)):
            raise Refused(node, "a variable that is no number and no row")
        if name in self.knowledge.kinds or name in self.knowledge.small:
            raise Refused(node, f"{name} is a number and a row")
        if makers_in(item):
            self.note_holder(node, name, item)
        self.parts.add(name)
        self.env[name] = item
        self.bound[name] = ()

    def hold_rows_if(self, is_needed: bool) -> None:
        """Variables for rows are to hold their elements, if they are few."""
        if is_needed and not self.knowledge.holds_rows:
            self.knowledge.holds_rows = True
            raise Again

    def row_to_hold(self, node: ast.AST, name: str, item: View | Row) -> SmallArray | None:
        """Its elements, where the variable is to hold them rather than be computed anew."""
        if isinstance(item, SmallArray):
            return item
        is_small = name in self.knowledge.small
        if not is_small and not (isinstance(item, Row) and self.knowledge.holds_rows):
            return None
        small: SmallArray | None = self.held_row(node, item)
        if small is None and is_small:
            raise Refused(node, f"{name} is a small array, and one that may be large")
        return small

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
            made = Assignment(value.form, added, tuple(self.open_loops), self.forms.facts)
            self.assignments.setdefault(name, []).append(made)
        if mixed and kind in COMPLEXES:
            if "complex" in kinds_of(value) and name not in self.knowledge.nonzero:
                if not is_zero(value):
                    self.knowledge.nonzero.add(name)
                    self.is_stale = True
        if mixed and value.kind != kind:
            self.require_same(node, value, kind)
        if node is None:
            self.first_kinds[name] = value.kind
        elif mixed and name not in self.extremes and (self.leaves_nest(name) or self.tells(name)):
            self.tell_kind(node, name, kind, value)
        self.writer.write_local(self.locals[name], self.emit(value, DTYPES.get(kind, kind)))

    def tell_kind(self, node: ast.AST, name: str, kind: str, value: Value) -> None:
        """Notes, for the code behind the nest, of which kind the variable is now.

        Where it can only become NumPy's, its assignments are counted, in any order; else a local
        has the kind of the last one.
        """
        if self.tells(name):
            told = self.told_of(value)
            if told is not None:
                self.writer.write_local(self.told_local(name), told)
            elif self.leaves_nest(name):
                raise Refused(node, f"{name} may be of two types behind the loop")
            else:
                self.untold.add(name)
        elif value.kind == kind:
            self.count(self.counters.setdefault(name, -1), name)
        elif value.kind in TOLD and kind not in COMPLEXES and name in self.inputs.outputs:
            self.knowledge.told.add(name)
            raise Again
        else:
            raise Refused(node, f"{name} may be of two types behind the loop")

    def tells(self, name: str) -> bool:
        """Whether the nest notes which kind it has: others may be made of what `if` gives."""
        is_choice = name.startswith("if@") and self.knowledge.told
        return bool(is_choice and name not in self.untold) or name in self.knowledge.told

    def told_local(self, name: str) -> int:
        if name not in self.counters:
            self.counters[name] = self.writer.local("l")
        return self.counters[name]

    def read_told(self, name: str, value: Value) -> None:
        """Of the variable as it is here; before its first assignment the local is 0."""
        apply, constant = self.writer.apply, self.writer.constant
        told = self.writer.read_local(self.told_local(name))
        if name in self.first_kinds:
            first = constant(TOLD.get(self.first_kinds[name], 1), "l")
            is_first = apply("Equal", [told, constant(0, "l")])
            told = apply("Select", [is_first, first, told])
        value.told = told
        if value.among == {"int", "float"}:
            value.tag = apply("Equal", [told, constant(TOLD["float"], "l")])

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
            if _has(DTYPES.get(kind, kind), value.literal):
                return
        elif value.kind == "int" and value.form is not None:
            bits = {"e": 11, "f": 24, "d": 53, "float": 53}.get(kind)
            low, high = (-(2**bits), 2**bits) if bits else LIMITS[kind]
            self.require_value(value, low, high)
            return
        elif value.kind in SIZED and kind == "l":
            return
        elif value.kind == "float" and kind == "d":
            return
        elif value.kind == "float" and kind == "f" and value.argument:
            x = value.argument
            is_small = f"(abs({x}) <= {LARGEST_FLOAT32!r} or abs({x}) == 1e999)"  # others warn
            self.require_text(f"{is_small} and float(float32({x})) == {x}")
            return
        raise Refused(node, "a variable is a number of Python's first, and then of NumPy's")


def _has(dtype: str, literal: complex) -> bool:
    """Whether one of the type's numbers is the literal."""
    import numpy

    try:
        return bool(numpy.dtype(dtype).type(literal) == literal)
    except (OverflowError, ValueError):  # -2 as uint8; NaN as an integer
        return False


def _is(x: Any, y: Any) -> bool:
    return x is y
