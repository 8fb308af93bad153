"""control.py: the order of a nest's statements: blocks, conditions, loops, and leaving them."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Container, Sequence
from contextlib import contextmanager
from typing import Any

from frit.loops.find.exits import number_of_exit
from frit.loops.find.raising import RaisedInRound
from frit.loops.names import assigned_names, nodes_in
from frit.loops.nest.forms import LARGEST, LEAST, Form, Symbol
from frit.loops.nest.small_arrays import variable_of
from frit.loops.nest.values import Again, Counter, Item, Refused, Value
from frit.loops.run.methods import PlainMethod
from frit.translate.flow import LEAVING, leaves, leaves_first, may_leave, needs_flag
from frit.translate.record import field, record

LONG_LOOP = 2**31  # rounds, from which on a loop may have to be stopped

# What surely has a value, if loops with these limits have gone round.
Bound = dict[str, tuple[tuple[Form, Form], ...]]


@record
class Leaving:
    """Flags of an open loop: locals, where one is needed. left: what had values (Control.bound)
    where its rounds are left.
    """

    broken: int | None = None
    skipped: int | None = None
    left: list[Bound] = field(default_factory=list)


@record
class Frame:
    """The nest itself, or the body of a function that is written in its place."""

    call: ast.Call | None = None  # in the text of the nest
    path: str = ""
    code: types.CodeType | None = None
    loops: list[Leaving] = field(default_factory=list)
    result: Item = None
    # Of a function with several returns: variables for what they give, and a flag if it is needed.
    is_early: bool = False
    is_tuple: bool = False
    gives_nothing: bool = False
    result_names: list[str] = field(default_factory=list)
    returned: int | None = None


class Control:
    """Mixed into NestWriter."""

    writer: Any
    inputs: Any
    forms: Any
    env: dict[str, Any]
    beginnings: dict[str, Any]
    bound: Bound
    frames: list[Frame]
    loops: list[Any]
    open_loops: list[tuple[Form, Form] | None]
    appends_of: Any
    condition: Any
    goes_on: Any
    begun: int | None
    exit: int | None
    paused: int | None
    pausing: dict[str, int]
    refine: Any
    emit: Any
    require: Any
    series: Any
    is_loose: Any
    loose_form: Any
    of_elements: set[int]
    require_value: Any
    knowledge: Any
    while_flags: list[Any]
    lasts: dict[str, Callable[[], Item]]
    locals: dict[str, int]
    methods: dict[str, PlainMethod]
    kind_in_place: Any
    assign_item: Any
    assigned_inside: set[str]
    operand: Any

    def shown(self, node: ast.AST) -> ast.AST:
        """Where it stands in the text of the nest."""
        return self.frames[-1].call or node

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        for number, node in enumerate(nodes):
            rest = nodes[number + 1 :]
            if isinstance(node, ast.If) and rest and leaves_first(node):
                other = [*node.orelse, *rest]
                self.statement(ast.copy_location(ast.If(node.test, node.body, other), node))
                return
            self.statement(node)
            if isinstance(node, LEAVING):
                return
            if rest and may_leave(node):
                self.unless(self.flags_of(node), rest)
                return

    def statement(self, node: ast.stmt) -> None:
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            raise Refused(node, f"a statement: {type(node).__name__}")
        method(node)

    @contextmanager
    def block(self, assigned: set[str]) -> Any:
        """Variables that the block assigns are read from their places behind it."""
        env, facts = dict(self.env), self.forms.facts
        yield
        self.env = _without(env, assigned)
        self.forms.facts = facts

    def assigned_in(self, nodes: Sequence[ast.AST]) -> set[str]:
        """Variables that may get another value: names, small arrays, an object's attributes."""
        names = assigned_names(nodes)
        small, methods = self.knowledge.small, self.methods
        parts = nodes_in(nodes) if small or methods else []
        for part in parts:
            if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
                names |= {part.value.id} & small.keys()
            elif isinstance(part, ast.Name) and part.id in methods:
                names |= methods[part.id].stores
        return names

    def do_If(self, node: ast.If) -> None:
        def run(body: Sequence[ast.stmt], holds: bool) -> Callable[[], None]:
            def write() -> None:
                self.refine(node.test, holds)
                self.statements(body)

            return write

        assigned = self.assigned_in([*node.body, *node.orelse])
        test = self.condition(node.test)
        ends = [number for number, part in enumerate((node.body, node.orelse)) if leaves(part)]
        self.choose(test, run(node.body, True), run(node.orelse, False), assigned, ends)

    def choose(
        self,
        test: int,
        body: Callable[[], None],
        other: Callable[[], None],
        assigned: set[str],
        ends: Sequence[int] = (),
    ) -> None:
        """`ends`: the parts (0 and 1) that leave what stands around: nothing is run behind them."""
        before = dict(self.bound)
        after: list[Bound] = []

        def run(part: Callable[[], None]) -> Callable[[], None]:
            def write() -> None:
                self.bound = dict(before)
                with self.block(set()):
                    part()
                after.append(self.bound)

            return write

        self.writer.branch(test, run(body), run(other))
        self.env = _without(self.env, assigned)
        first, second = (after[1 - k if k in ends else k] for k in (0, 1))
        self.bound = _joined(first, second)

    # ---- leaving --------------------------------------------------------------------------------

    def flag(self) -> int:
        place = self.writer.local("?")
        self.set_flag(place, False)
        return place

    def set_flag(self, place: int, value: bool) -> None:
        self.writer.write_local(place, self.writer.constant(value, "?"))

    def flags_of(self, node: ast.stmt) -> list[int]:
        """Of what may have happened in the statement."""
        frame = self.frames[-1]
        flags = [frame.returned] if may_leave(node, (ast.Return,)) else []
        if frame.loops:
            loop = frame.loops[-1]
            flags += [loop.broken] if may_leave(node, (ast.Break,)) else []
            flags += [loop.skipped] if may_leave(node, (ast.Continue,)) else []
        return [flag for flag in flags if flag is not None]

    def none_of(self, flags: Sequence[int]) -> int:
        any_ = self.writer.read_local(flags[0])
        for flag in flags[1:]:
            any_ = self.writer.apply("LogicalOr", [any_, self.writer.read_local(flag)])
        return self.writer.apply("LogicalNot", [any_])

    def unless(
        self, flags: Sequence[int], nodes: Sequence[ast.stmt], ends: Sequence[int] = (1,)
    ) -> None:
        """ends: (), if what stands behind the nodes is run all the same."""
        if not flags:
            self.statements(nodes)
            return
        test = self.none_of(flags)
        self.choose(
            test, lambda: self.statements(nodes), lambda: None, self.assigned_in(nodes), ends
        )

    def do_Break(self, node: ast.Break) -> None:
        loop = self.frames[-1].loops[-1]
        loop.left.append(dict(self.bound))
        assert loop.broken is not None
        self.set_flag(loop.broken, True)
        if number := number_of_exit(node):
            self.writer.write_local(self.exit, self.writer.constant(number, "l"))

    def do_Continue(self, node: ast.Continue) -> None:
        loop = self.frames[-1].loops[-1]
        loop.left.append(dict(self.bound))
        if loop.skipped is not None:
            self.set_flag(loop.skipped, True)

    def do_RaisedInRound(self, node: RaisedInRound) -> None:
        self.fail_where(self.writer.constant(True, "?"))
        if self.frames[-1].loops:  # none: behind the else of the nest
            self.do_Continue(node)

    def leaving(self, node: ast.For | ast.While) -> Leaving:
        loop = Leaving()
        if any(may_leave(s, (ast.Break,)) for s in node.body):
            loop.broken = self.flag()
        if needs_flag(node.body) and any(may_leave(s, (ast.Continue,)) for s in node.body):
            loop.skipped = self.flag()
        return loop

    def stopping(self, node: ast.For | ast.While, loop: Leaving) -> list[int]:
        """Flags that end the loop."""
        flags = [loop.broken] if loop.broken is not None else []
        returned = self.frames[-1].returned
        if returned is not None and any(may_leave(s, (ast.Return,)) for s in node.body):
            flags.append(returned)
        return flags

    # ---- loops ----------------------------------------------------------------------------------

    def do_While(self, node: ast.While) -> None:
        assigned = self.assigned_in([node])
        before = dict(self.bound)
        loop = self.leaving(node)
        stops = self.stopping(node, loop)
        if node is self.inputs.node and (appends := self.appends_of(node)):
            self.pausing, self.paused = appends, self.flag()
        is_pausing = self.paused is not None and node is self.inputs.node
        self.loops.append(self.shown(node))
        self.open_loops.append(None)
        self.clear_unbound(assigned)
        self.env = _without(self.env, assigned)

        failed = self.open_while()

        def holds() -> int:
            if not stops:
                return self.condition(node.test)
            goes_on = self.flag()

            def ask() -> None:
                self.writer.write_local(goes_on, self.condition(node.test))

            self.writer.branch(self.none_of(stops), ask, None)
            return self.writer.read_local(goes_on)

        def test() -> int:
            with self.block(set()):
                result = holds()
                if is_pausing:
                    result = self.goes_on(node, result)
            if failed is None:
                return result
            return self.writer.apply("LogicalAnd", [result, self.none_of([failed])])

        def body() -> None:
            with self.block(assigned):
                self.refine(node.test, True)
                self.round(node, loop)

        self.writer.repeat(test, body)
        self.close_while()
        self.open_loops.pop()
        self.bound = before
        self.end_of_loop(node, loop, stops)

    def open_while(self) -> int | None:
        """The flag that ends it where something fails; None: nothing does in this nest."""
        failed = self.flag() if self.knowledge.whiles_fail else None
        if failed is not None and self.while_flags:
            self.writer.write_local(failed, self.writer.read_local(self.while_flags[-1]))
        self.while_flags.append(failed)
        return failed

    def end_while_where(self, condition: int) -> None:
        """By a branch that is hardly ever taken, so nothing waits for it."""
        place = self.while_flags[-1]
        if place is None:
            self.knowledge.whiles_fail = True
            raise Again
        self.writer.branch(condition, lambda: self.set_flag(place, True), fails=True)

    def close_while(self) -> None:
        failed = self.while_flags.pop()
        if failed is not None:
            self.fail_where(self.writer.read_local(failed))

    def round(self, node: ast.For | ast.While, loop: Leaving) -> None:
        if loop.skipped is not None:
            self.set_flag(loop.skipped, False)
        if node is self.inputs.node and self.begun is not None:
            one = [self.writer.read_local(self.begun), self.writer.constant(1, "l")]
            self.writer.write_local(self.begun, self.writer.apply("Add", one))
        self.frames[-1].loops.append(loop)
        self.statements(node.body)
        for bound in loop.left:
            self.bound = _joined(self.bound, bound)
        self.frames[-1].loops.pop()

    def end_of_loop(self, node: ast.For | ast.While, loop: Leaving, stops: Sequence[int]) -> None:
        if node.orelse:
            self.unless(stops, node.orelse, () if loop.broken is not None else (1,))

    def do_For(self, node: ast.For) -> None:
        assigned = self.assigned_in([node])
        self.assigned_inside = assigned_names(node.body)
        series = self.series(node.iter)
        if node is self.inputs.node and self.knowledge.peeled and len(series.counters) > 1:
            raise Refused(node, "types that change in the first round of several loops")
        before = dict(self.bound)
        loop = self.leaving(node)
        stops = self.stopping(node, loop)
        self.clear_unbound(assigned)
        self.env = _without(self.env, assigned)
        rounds: list[tuple[Form, Form]] = []
        is_loose = any(self.may_go_on(node, counter) for counter in series.counters)

        def level(given: list[Value]) -> None:
            if len(given) < len(series.counters):
                counter = series.counters[len(given)]
                rounds.append(_limits(counter))
                self.loop_over(node, counter, stops, lambda index: level([*given, index]))
                return
            self.assign_item(node.target, series.item(given))
            self.round(node, loop)

        level([])
        inside = self.bound
        self.bound = before
        for other, loops in inside.items():
            if other not in before and not is_loose:
                self.bound[other] = (*loops, *rounds)
        self.env = _without(self.env, assigned)
        if not stops and not is_loose and len(self.frames) == 1:
            self.note_last(node.target, series.counters, series.numbers)
        self.end_of_loop(node, loop, stops)

    def clear_unbound(self, assigned: set[str]) -> None:
        """Variables that have no value before a loop keep nothing of the loops around it."""
        for name in sorted(self.locals):
            if variable_of(name) in assigned and name not in self.bound:
                self.clear_place(name)

    def clear_place(self, name: str) -> None:
        zero = self.writer.constant(0, self.kind_in_place(name))
        self.writer.write_local(self.locals[name], zero)

    def note_last(
        self, target: ast.expr, counters: list[Counter], item: Callable[[Sequence[Value]], Item]
    ) -> None:
        """What the loop leaves in its variables, as far as bounds alone say that."""
        if isinstance(target, ast.Name):
            self.lasts[target.id] = lambda: item([self.last_of(c) for c in counters])
        elif isinstance(target, (ast.Tuple, ast.List)):
            for number, part in enumerate(target.elts):

                def of_part(indices: Sequence[Value], number: int = number) -> Item:
                    items = item(indices)
                    return items[number] if isinstance(items, tuple) else None

                self.note_last(part, counters, of_part)

    def last_of(self, counter: Counter) -> Value:
        first, behind = self.rounds(ast.Pass(), counter)
        del first
        one = self.writer.constant(1, "l")
        return self.index_of(self.writer.apply("Subtract", [behind, one]), counter)

    def loop_over(
        self, node: ast.For, counter: Counter, stops: Sequence[int], body: Callable[[Value], None]
    ) -> None:
        """for index in range(..): body(index), as long as no flag is set."""
        first, last = self.rounds(node, counter)
        if node is self.inputs.node and self.inputs.left:
            left = self.writer.constant(abs(self.inputs.left), "l")
            behind = self.writer.apply("Subtract", [last, left])
            first, last = (first, behind) if self.inputs.left > 0 else (behind, last)
        limits = _limits(counter)
        if self.may_go_on(node, counter):
            return self.loop_as_while(node, counter, stops, body)
        if self.reads_elements(counter):
            self.require(limits[1] - limits[0], None, LONG_LOOP)
        assigned = self.assigned_in([node])
        self.loops.append(self.shown(node))

        def one(number: int) -> None:
            with self.block(assigned):
                self.open_loops.append(limits)
                if not self.forms.is_known(limits[1] - limits[0]):
                    self.forms.note(limits[1] - limits[0] - Form((), 1))
                body(self.index_of(number, counter))
                self.open_loops.pop()

        if node is self.inputs.node and self.knowledge.peeled:
            first = self.first_round(first, last, one)
        if not stops:
            self.writer.loop(first, last, one)
            return
        apply, read, write = self.writer.apply, self.writer.read_local, self.writer.write_local
        place = self.writer.local("l")
        write(place, first)

        def test() -> int:
            below = apply("Less", [read(place), last])
            return apply("LogicalAnd", [below, self.none_of(stops)])

        def once() -> None:
            number = read(place)
            write(place, apply("Add", [number, self.writer.constant(1, "l")]))
            one(number)

        self.writer.repeat(test, once)

    def may_go_on(self, node: ast.For, counter: Counter) -> bool:
        """Whether nobody knows before how many rounds there are, or elements say that they are
        many: it may have to be stopped."""
        low, high = _limits(counter)
        if self.is_loose(low, high):
            return True
        if node is self.inputs.node or not self.reads_elements(counter):
            return False
        now = self.signs_now(high - low - Form((), LONG_LOOP))
        return now is None or now[1] > 0

    def reads_elements(self, counter: Counter) -> bool:
        """Whether it goes round as often as elements of arrays say."""
        low, high = _limits(counter)
        return any(symbol in self.of_elements for symbol, _ in (high - low).terms)

    def loop_as_while(
        self, node: ast.For, counter: Counter, stops: Sequence[int], body: Callable[[Value], None]
    ) -> None:
        """The same where only the nest knows how many rounds there are."""
        if node is self.inputs.node or counter.step.literal is None:
            raise Refused(node, "a loop whose bounds only the nest computes")
        if counter.step.literal != 1:
            for end in (counter.begin, counter.end):
                self.require_value(end, -(2**61), 2**61)
        first, last = self.rounds(node, counter)
        assigned = self.assigned_in([node])
        self.loops.append(self.shown(node))
        self.open_loops.append(None)
        failed = self.open_while()
        apply, read, write = self.writer.apply, self.writer.read_local, self.writer.write_local
        place = self.writer.local("l")
        write(place, first)
        flags = [*stops, *([failed] if failed is not None else [])]

        def test() -> int:
            below = apply("Less", [read(place), last])
            return apply("LogicalAnd", [below, self.none_of(flags)]) if flags else below

        def once() -> None:
            number = read(place)
            write(place, apply("Add", [number, self.writer.constant(1, "l")]))
            index = number
            if counter.step.literal != 1:
                index = apply("Multiply", [number, self.emit(counter.step, "l")])
                index = apply("Add", [self.emit(counter.begin, "l"), index])
            with self.block(assigned):
                body(Value("int", index, form=self.loose_form(LEAST, LARGEST)))

        self.writer.repeat(test, once)
        self.close_while()
        self.open_loops.pop()

    def first_round(self, first: int, last: int, one: Callable[[int], None]) -> int:
        """The first round by itself, in which variables have the types that they begin with.

        In the loop, whose first number is the result, those have a value that this round has given.
        """

        def write() -> None:
            self.env.update(self.beginnings)
            one(first)

        bound = self.bound
        self.bound = dict(bound)
        self.writer.branch(self.writer.apply("Less", [first, last]), write, None)
        peeled = self.knowledge.peeled
        new = {n: x for n, x in self.bound.items() if variable_of(n) in peeled}
        self.bound = {**bound, **new}
        return self.writer.apply("Add", [first, self.writer.constant(1, "l")])

    def rounds(self, node: ast.AST, counter: Counter) -> tuple[int, int]:
        begin, end, step = counter.begin, counter.end, counter.step
        if step.literal == 1:
            return self.emit(begin, "l"), self.emit(end, "l")
        if step.literal == 0:
            raise Refused(node, "a step of 0")
        assert step.form is not None
        if step.literal is None:
            self.require(step.form, 1, 2**31)
        # ceil((end - begin) / step)
        sign = _sign(step.form)
        pair = (end, begin) if sign > 0 else (begin, end)
        distance = self.writer.apply("Subtract", [self.emit(x, "l") for x in pair])
        if step.literal != -1:
            size = self.emit(step, "l")
            if sign < 0:
                size = self.writer.constant(-step.literal, "l")
            less = self.writer.apply("Subtract", [size, self.writer.constant(1, "l")])
            distance = self.writer.apply("Add", [distance, less])
            distance = self.writer.apply("FloorDivide", [distance, size])
        return self.writer.constant(0, "l"), distance

    def index_of(self, number: int, counter: Counter) -> Value:
        begin, step = counter.begin, counter.step
        limits = _limits(counter)
        b, s = begin.form, step.form
        assert b is not None and s is not None
        one = Form((), 1)
        if step.literal == 1:
            form = self.forms.symbol(Symbol(low=[limits[0]], high=[limits[1] - one]))
            return Value("int", number, form=form)
        id = self.writer.apply("Multiply", [number, self.emit(step, "l")])
        id = self.writer.apply("Add", [self.emit(begin, "l"), id])
        ends = ([limits[0] + one], [b]) if _sign(s) < 0 else ([b], [limits[1] - one])
        size = s if _sign(s) > 0 else s.times(-1)
        span = limits[1] - limits[0] - one
        if self.forms.is_known(span) and self.forms.is_known(size):
            # The last index itself.
            whole = self.forms.product(self.forms.divided(span, size), size)
            if _sign(s) > 0:
                ends[1].append(b + whole)
            else:
                ends[0].append(b - whole)
        form = self.forms.symbol(Symbol(low=ends[0], high=ends[1]))
        return Value("int", id, form=form)


def _without(env: dict[str, Any], assigned: Container[str]) -> dict[str, Any]:
    return {name: item for name, item in env.items() if variable_of(name) not in assigned}


def _joined(first: Bound, second: Bound) -> Bound:
    """Behind one of two ways."""
    return {n: tuple(dict.fromkeys((*first[n], *second[n]))) for n in first if n in second}


def _sign(step: Form) -> int:
    if not step.terms:
        return 1 if step.constant > 0 else -1
    return 1


def _limits(counter: Counter) -> tuple[Form, Form]:
    """The indices lie between, the first limit or the last one left out."""
    assert counter.begin.form is not None and counter.end.form is not None
    assert counter.step.form is not None
    ends = counter.begin.form, counter.end.form
    return ends if _sign(counter.step.form) > 0 else (ends[1], ends[0])
