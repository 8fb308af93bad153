"""nest.py: the statements of a nest -> a Routine of rank 0, and the guard that a call must pass.

Scalars are Python's or NumPy's, and each follows its own rules. What could fail, or leave int64, in
Python's arithmetic or in an index becomes a condition of the guard, which is computed at the call,
before anything is stored; where it does not hold, the nest runs as Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from frit import _core
from frit.loops.expressions import Expressions
from frit.loops.forms import LARGEST, Form, Forms, Symbol, Unbounded
from frit.loops.names import assigned_names
from frit.loops.values import DTYPES, INTEGERS, LIMITS, Again, ArrayName, Library, Refused, Value

MANY_ROUNDS = 2**50  # no loop gets there in a week


@dataclass
class Knowledge:
    """What one translation tells the next."""

    kinds: dict[str, frozenset[str]] = field(default_factory=dict)  # of assigned variables
    places: set[str] = field(default_factory=set)  # variables that are read through a local


@dataclass
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


@dataclass
class Output:
    name: str
    kind: str  # as LoopNest wants it
    counter: int = -1  # result that counts assignments of NumPy's kind; -1: there was one


@dataclass
class Translation:
    kernel: Any
    results: list[str]
    outputs: list[Output]
    guard: Callable[..., bool]
    guard_text: str
    written: list[int]  # values that are stored to
    failures: int  # the result that counts failures, or -1
    numpy_floats: bool
    positions: list[tuple[int, int, str]]  # of the accesses: line, column, text
    loops: list[ast.For | ast.While]


class NestWriter(Expressions):
    """One translation."""

    def __init__(self, inputs: Inputs, knowledge: Knowledge) -> None:
        self.inputs = inputs
        self.knowledge = knowledge
        self.forms = Forms()
        self.writer = _core.KernelWriter(0)
        self.arrays: dict[str, ArrayName] = {}
        self.env: dict[str, Value] = {}
        self.bound: dict[str, tuple[tuple[Form, Form], ...]] = {}
        self.locals: dict[str, int] = {}
        self.assignments: dict[str, list[tuple[Form, Form | None, tuple[Any, ...]]]] = {}
        self.symbol_of: dict[int, str] = {}  # reads of variables
        self.conditions: list[Callable[[], list[str]]] = []
        self.open_loops: list[tuple[Form, Form] | None] = []
        self.positions: list[tuple[int, int, str]] = []
        self.loops: list[ast.For | ast.While] = []
        self.parameters: list[int] = []
        self.written: set[int] = set()
        self.scanned: set[int] = set()  # arrays whose least and largest elements bound an index
        self.failures: int | None = None
        self.numpy_floats = False
        self.depth = 0
        self.counters: dict[str, int] = {}
        self.assigned = assigned_names([inputs.node])

    # ---- the whole ------------------------------------------------------------------------------

    def translate(self) -> Translation:
        self.take_values()
        self.statement(self.inputs.node)
        results, outputs = self.give_results()
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
            guard=guard,
            guard_text=text,
            written=sorted(self.written),
            failures=failures,
            numpy_floats=self.numpy_floats,
            positions=self.positions,
            loops=self.loops,
        )

    def take_values(self) -> None:
        kinds = re.findall(r"[AR].\d|N.|[IFB]", self.inputs.key)
        for number, (name, kind) in enumerate(zip(self.inputs.names, kinds, strict=True)):
            if kind[0] in "AR":
                array = ArrayName(number, kind[1], int(kind[2]), kind[0] == "A", name)
                if array.dtype in "FD" or array.rank == 0:
                    raise Refused(None, f"{name} is an array of complex numbers, or of no axes")
                array.parameter = self.writer.parameter(array.dtype, array.rank)
                self.parameters.append(number)
                self.arrays[name] = array
                if name in self.assigned:
                    raise Refused(None, f"the array {name} is assigned to in the loop")
                continue
            value = self.argument(number, kind)
            self.env[name] = value
            self.bound[name] = ()
        for name in sorted(self.assigned):
            if name in self.env:
                self.note_kind(name, self.env[name])
            if name in self.knowledge.places and name in self.knowledge.kinds:
                kind, _ = self.kind_of(name)
                self.locals[name] = self.writer.local(DTYPES.get(kind, kind))
                if name in self.env:
                    self.write_place(None, name, self.env[name])

    def argument(self, number: int, kind: str) -> Value:
        text = f"v{number}"
        if kind == "I":
            form = self.forms.of_text(text)
            return Value("int", self.writer.argument(number, "l"), form=form, argument=text)
        if kind in "FB":
            word = {"F": "float", "B": "bool"}[kind]
            return Value(word, self.writer.argument(number, DTYPES[word]), argument=text)
        if kind[1] in "FD":
            raise Refused(None, "a complex number")
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
            value = self.read_variable(self.inputs.node, name)
            output = Output(name, self.result_kind(value))
            self.add_result(results, value, output.kind)
            outputs.append(output)
        for output in outputs:
            counter = self.counters.get(output.name)
            if output.name in self.env or not self.kind_of(output.name)[1]:
                continue
            if counter is None:
                raise Refused(self.inputs.node, f"{output.name} may be of two types behind it")
            output.counter = len(results)
            self.add_result(results, Value("int", self.writer.read_local(counter)), "Il")
        return results, outputs

    @staticmethod
    def result_kind(value: Value) -> str:
        return {"int": "Il", "float": "Fd", "bool": "B?"}.get(value.kind, "N" + value.kind)

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
        lines = self.prelude(" ".join(texts))
        space: dict[str, Any] = {f"v{k}": v for k, v in enumerate(self.inputs.values)}
        try:
            exec("\n".join(lines), {}, space)
            return eval(texts[0], {}, space), eval(texts[1], {}, space)
        except (ValueError, ZeroDivisionError):
            return None

    def prelude(self, text: str) -> list[str]:
        """What the names in the text are."""
        lines = []
        for array, axis in sorted(set(re.findall(r"\be(\d+)_(\d+)\b", text))):
            lines.append(f"e{array}_{axis} = v{array}.shape[{axis}]")
        for array in sorted(set(re.findall(r"\bm(\d+)_(?:lo|hi)\b", text)), key=int):
            lines.append(f"m{array}_lo, m{array}_hi = int(v{array}.min()), int(v{array}.max())")
        return lines

    def make_guard(self) -> tuple[str, Callable[..., bool]]:
        texts: list[str] = []
        try:
            for condition in self.conditions:
                texts += condition()
        except Unbounded:
            raise Refused(
                None, "an integer may become large, or an index may be anything"
            ) from None
        kept = []
        for text in dict.fromkeys(texts):
            if not re.search(r"[a-z]", text):
                if not eval(text):
                    raise Refused(None, f"it is not certain that {text}")
                continue
            kept.append(text)
        every = " ".join(kept)
        for array in sorted({int(m) for m in re.findall(r"\bm(\d+)_", every)}):
            if array in self.written:
                raise Refused(None, "an index is read from an array that the loop writes")
            kept[:0] = [f"not overlap(v{array}, v{w})" for w in sorted(self.written)]
        arguments = ", ".join(f"v{k}" for k in range(len(self.inputs.names)))
        lines = [f"def guard({arguments}):", *(f"    {x}" for x in self.prelude(every))]
        lines.append("    return " + (" and ".join(kept) or "True"))
        text = "\n".join(lines)
        import numpy

        space: dict[str, Any] = {"overlap": numpy.may_share_memory, "float32": numpy.float32}
        exec(text, space)
        return text, space["guard"]

    # ---- variables ------------------------------------------------------------------------------

    def note_kind(self, name: str, value: Value) -> None:
        if value.mixed:
            raise Refused(None, f"{name} may be a number of Python's or of NumPy's")
        known = self.knowledge.kinds.get(name, frozenset())
        if value.kind not in known:
            self.knowledge.kinds[name] = known | {value.kind}
            if name in self.locals:
                raise Again

    def kind_of(self, name: str) -> tuple[str, bool]:
        """A variable's kind, and whether it may still be Python's kind of number."""
        kinds = self.knowledge.kinds[name]
        if len(kinds) == 1:
            return next(iter(kinds)), False
        strong = [k for k in kinds if k not in ("int", "float", "bool")]
        if "bool" in kinds or "?" in kinds or len(strong) > 1:
            raise Refused(None, f"{name} is of several types: {', '.join(sorted(kinds))}")
        if not strong:
            return "float", True
        if strong[0] in INTEGERS and "float" in kinds:
            raise Refused(None, f"{name} is of several types: {', '.join(sorted(kinds))}")
        return strong[0], True

    def read_variable(self, node: ast.AST, name: str) -> Value:
        if name in self.env:
            return self.env[name]
        if name not in self.bound:
            raise Refused(node, f"{name} may have no value")
        self.require_rounds(self.bound[name])
        if name not in self.locals:
            self.knowledge.places.add(name)
            raise Again
        kind, mixed = self.kind_of(name)
        value = Value(kind, self.writer.read_local(self.locals[name]), mixed=mixed)
        if kind == "int":
            ends = lambda high: lambda: self.variable_ends(name, high)  # noqa: E731
            value.form = self.forms.symbol(Symbol(low=ends(False), high=ends(True)))
            symbol = self.forms.symbols[-1]
            symbol.widest_low = symbol.widest_high = True
            self.symbol_of[len(self.forms.symbols) - 1] = name
        return value

    def variable_ends(self, name: str, high: bool) -> list[Form]:
        """The variable's bound: that of what is assigned, and all that is added to it."""
        plain, sums = [], []
        for form, added, loops in self.assignments.get(name, []):
            if added is None:
                plain.append(self.forms.most(form) if high else self.forms.least(form))
                continue
            if None in loops:
                rounds = str(MANY_ROUNDS)
            else:
                rounds = "*".join(f"max(0,{self.forms.most(e - b)})" for b, e in loops) or "1"
            if high:
                sums.append(f"max(0,{self.forms.most(added)})*{rounds}")
            else:
                sums.append(f"min(0,{self.forms.least(added)})*{rounds}")
        if not plain:
            raise Unbounded
        start = plain[0] if len(plain) == 1 else f"{'max' if high else 'min'}({','.join(plain)})"
        return [self.forms.of_text("(" + "+".join([start, *sums]) + ")", None)]

    def assign_variable(self, node: ast.AST, name: str, value: Value) -> None:
        self.note_kind(name, value)
        self.env[name] = value
        self.bound[name] = ()
        if name in self.locals:
            self.write_place(node, name, value)

    def write_place(self, node: ast.AST | None, name: str, value: Value) -> None:
        kind, mixed = self.kind_of(name)
        if value.kind == "int" and value.form is not None:
            added = None
            for symbol, factor in value.form.terms:
                if factor == 1 and self.symbol_of.get(symbol) == name:
                    added = value.form - Form(((symbol, 1),))
            self.assignments.setdefault(name, []).append(
                (value.form, added, tuple(self.open_loops))
            )
        if mixed and value.kind != kind:
            self.require_same(node, value, kind)
            if node is not None and name in self.inputs.outputs:
                raise Refused(node, f"{name} may be of two types behind the loop")
        if mixed and value.kind == kind and name in self.inputs.outputs:
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

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        # A `continue` only stands at the end of what the rest of the loop's body does.
        for number, node in enumerate(nodes):
            if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Continue):
                # if c: ..; continue    -> the rest of the block is the other case.
                rest = [*node.orelse, *nodes[number + 1 :]]
                body: list[ast.stmt] = [*node.body[:-1], ast.Pass()]
                self.statement(ast.copy_location(ast.If(node.test, body, rest), node))
                return
            if isinstance(node, ast.Continue):
                return
            if number + 1 < len(nodes) and isinstance(node, ast.If) and _continues(node):
                raise Refused(node, "a 'continue' inside of a condition inside of another")
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            raise Refused(node, f"a statement: {type(node).__name__}")
        method(node)

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            raise Refused(node, "an expression whose value is not used")

    def do_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Tuple):
            values = [self.number(x) for x in node.value.elts]
            for target in node.targets:
                if not isinstance(target, ast.Tuple) or len(target.elts) != len(values):
                    raise Refused(node, "an assignment of a tuple")
                for part, value in zip(target.elts, values, strict=True):
                    self.assign(part, value)
            return
        value = self.number(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise Refused(node, "an annotation")
        self.assign(node.target, self.number(node.value))

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.assign_variable(target, target.id, value)
        elif isinstance(target, ast.Subscript):
            array, indices = self.element(target)
            self.store(target, array, indices, value)
        else:
            raise Refused(target, "an assignment to this")

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            old = self.read_variable(node.target, node.target.id)
            self.assign_variable(
                node, node.target.id, self.binary(node, node.op, old, self.number(node.value))
            )
            return
        if not isinstance(node.target, ast.Subscript):
            raise Refused(node, "an assignment to this")
        array, indices = self.element(node.target)
        old = self.load(node.target, array, indices)
        new = self.binary(node, node.op, old, self.number(node.value))
        self.store(node.target, array, indices, new)

    @contextmanager
    def block(self, assigned: set[str]) -> Any:
        """Variables that the block assigns are read from their places behind it."""
        env = dict(self.env)
        self.depth += 1
        yield
        self.depth -= 1
        self.env = {n: v for n, v in env.items() if n not in assigned}

    def do_If(self, node: ast.If) -> None:
        test = self.condition(node.test)
        assigned = assigned_names([*node.body, *node.orelse])
        before = dict(self.bound)
        after: list[dict[str, Any]] = []

        def run(body: list[ast.stmt], holds: bool) -> Callable[[], None]:
            def write() -> None:
                self.bound = dict(before)
                with self.block(set()):
                    self.refine(node.test, holds)
                    self.statements(body)
                after.append(self.bound)

            return write

        self.writer.branch(test, run(node.body, True), run(node.orelse, False))
        self.env = {n: v for n, v in self.env.items() if n not in assigned}
        self.bound = {
            n: tuple(dict.fromkeys((*after[0][n], *after[1][n]))) for n in after[0] if n in after[1]
        }

    def do_While(self, node: ast.While) -> None:
        assigned = assigned_names([node])
        before = dict(self.bound)
        self.loops.append(node)
        self.open_loops.append(None)
        self.env = {n: v for n, v in self.env.items() if n not in assigned}

        def test() -> int:
            with self.block(set()):
                return self.condition(node.test)

        def body() -> None:
            with self.block(assigned):
                self.refine(node.test, True)
                self.statements(node.body)

        self.writer.repeat(test, body)
        self.open_loops.pop()
        self.bound = before

    def do_For(self, node: ast.For) -> None:
        call = node.iter
        if not isinstance(call, ast.Call) or not isinstance(node.target, ast.Name):
            raise Refused(node, "a loop over something else than range(..)")
        callee = self.callee(call.func)
        if not isinstance(callee, Library) or callee.value is not range or call.keywords:
            raise Refused(node, "a loop over something else than range(..)")
        bounds = [self.integer(x) for x in call.args]
        if len(bounds) == 1:
            bounds = [Value("int", literal=0, form=Form()), bounds[0]]
        step = bounds[2] if len(bounds) == 3 else Value("int", literal=1, form=Form((), 1))
        name = node.target.id
        if name in assigned_names(node.body):
            raise Refused(node, f"the loop's index {name} is assigned to in the loop")
        assigned = assigned_names([node])
        begin, end = bounds[0], bounds[1]
        first, last = self.rounds(node, begin, end, step)
        if node is self.inputs.node and self.inputs.left:
            left = self.writer.constant(self.inputs.left, "l")
            last = self.writer.apply("Subtract", [last, left])
        self.loops.append(node)
        before = dict(self.bound)
        self.env = {n: v for n, v in self.env.items() if n not in assigned}
        b, e, s = begin.form, end.form, step.form
        assert b is not None and e is not None and s is not None
        limits = (b, e) if self.sign(s) > 0 else (e, b)

        def body(number: int) -> None:
            with self.block(assigned):
                self.open_loops.append(limits)
                index = self.index_of(number, begin, step, limits)
                self.assign_variable(node, name, index)
                self.statements(node.body)
                self.open_loops.pop()

        self.writer.loop(first, last, body)
        inside = self.bound
        self.bound = before
        for other, loops in inside.items():
            if other not in before:
                self.bound[other] = (*loops, limits)

    def sign(self, step: Form) -> int:
        if not step.terms:
            return 1 if step.constant > 0 else -1
        return 1

    def rounds(self, node: ast.AST, begin: Value, end: Value, step: Value) -> tuple[int, int]:
        if step.literal == 1:
            return self.emit(begin, "l"), self.emit(end, "l")
        if step.literal == 0:
            raise Refused(node, "a step of 0")
        assert step.form is not None
        if step.literal is None:
            self.require(step.form, 1, 2**31)
        # ceil((end - begin) / step)
        sign = self.sign(step.form)
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

    def index_of(self, number: int, begin: Value, step: Value, limits: tuple[Form, Form]) -> Value:
        b, s = begin.form, step.form
        assert b is not None and s is not None
        one = Form((), 1)
        if step.literal == 1:
            form = self.forms.symbol(Symbol(low=[limits[0]], high=[limits[1] - one]))
            return Value("int", number, form=form)
        id = self.writer.apply("Multiply", [number, self.emit(step, "l")])
        id = self.writer.apply("Add", [self.emit(begin, "l"), id])
        if self.sign(s) < 0:
            ends = [limits[0] + one], [b]
        else:
            ends = [b], [limits[1] - one]
        size = s if self.sign(s) > 0 else s.times(-1)
        span = limits[1] - limits[0] - one
        if self.forms.is_known(span) and self.forms.is_known(size):
            # The last index itself.
            whole = self.forms.product(self.forms.divided(span, size), size)
            if self.sign(s) > 0:
                ends[1].append(b + whole)
            else:
                ends[0].append(b - whole)
        form = self.forms.symbol(Symbol(low=ends[0], high=ends[1]))
        return Value("int", id, form=form)

    # ---- arrays ---------------------------------------------------------------------------------

    def extent(self, array: ArrayName, axis: int) -> Value:
        form = self.forms.of_text(f"e{array.number}_{axis}")
        return Value("int", self.writer.extent(array.parameter, axis), form=form)

    def element(self, node: ast.Subscript) -> tuple[ArrayName, list[int]]:
        """The array and the indices of an element; an index chain counts as one index."""
        keys: list[ast.expr] = []
        at: ast.expr = node
        while isinstance(at, ast.Subscript):
            part = at.slice
            keys[:0] = part.elts if isinstance(part, ast.Tuple) else [part]
            at = at.value
        array = self.arrays.get(at.id) if isinstance(at, ast.Name) else None
        if array is None:
            raise Refused(node, "an element of something else than an array")
        if len(keys) != array.rank:
            raise Refused(node, f"{len(keys)} indices for {array.rank} axes: a row, not an element")
        return array, [self.index(array, axis, key) for axis, key in enumerate(keys)]

    def index(self, array: ArrayName, axis: int, node: ast.expr) -> int:
        value = self.integer(node)
        form = value.form
        assert form is not None
        extent = self.extent(array, axis)
        size = f"e{array.number}_{axis}"
        assert extent.form is not None
        now = self.now(form)
        if now is None or now[0] >= 0 or now[0] > now[1]:
            self.require(form, 0, None)
            self.require(form - extent.form, None, -1)
            return self.emit(value, "l")
        self.require(form + extent.form, 0, None)
        wrapped = self.writer.apply("Add", [self.emit(value, "l"), extent.id])
        if now[1] < 0:
            self.require(form, None, -1)
            return wrapped
        self.require(form, None, f"{size}-1")
        below = self.writer.apply("Less", [self.emit(value, "l"), self.writer.constant(0, "l")])
        return self.writer.apply("Select", [below, wrapped, self.emit(value, "l")])

    def load(self, node: ast.Subscript, array: ArrayName, indices: list[int]) -> Value:
        self.positions.append((node.lineno, node.col_offset + 1, ast.unparse(node)))
        value = Value(array.dtype, self.writer.load(array.parameter, indices, node.lineno))
        if array.dtype in INTEGERS:
            least, most = (self.forms.of_text(f"m{array.number}_{x}", None) for x in ("lo", "hi"))
            value.form = self.forms.symbol(Symbol(low=[least], high=[most]))
        return value

    def store(
        self, node: ast.Subscript, array: ArrayName, indices: list[int], value: Value
    ) -> None:
        if not array.writable:
            raise Refused(node, f"the array {array.name} is read-only")
        dtype = array.dtype
        if value.kind == "int" and dtype in INTEGERS:
            assert value.form is not None
            low, high = LIMITS[dtype]
            if value.literal is None or not low <= value.literal <= high:
                self.require(value.form, low, min(high, LARGEST))
        elif value.kind == "int" and dtype in "efd":
            assert value.form is not None
            self.require(value.form, -(2**53), 2**53)
        elif value.dtype in "efd" and dtype in INTEGERS:
            raise Refused(node, "a float goes into an array of integers")  # NaN would raise
        self.positions.append((node.lineno, node.col_offset + 1, ast.unparse(node)))
        self.written.add(array.number)
        if value.dtype in "efd" and dtype != value.dtype:
            self.numpy_floats = True
        id = self.truth_id(value) if dtype == "?" else self.emit(value, dtype)
        self.writer.store(array.parameter, indices, id, node.lineno)


def _continues(node: ast.AST) -> bool:
    """Whether there is a `continue` in it that belongs to the loop around it."""
    if isinstance(node, (ast.For, ast.While)):
        return False
    return isinstance(node, ast.Continue) or any(map(_continues, ast.iter_child_nodes(node)))


def translate(inputs: Inputs) -> Translation:
    """Raises Refused where the nest must stay Python."""
    knowledge = Knowledge()
    for _ in range(24):
        writer = NestWriter(inputs, knowledge)
        try:
            return writer.translate()
        except Again:
            continue
        finally:
            writer.writer = None
    raise Refused(inputs.node, "its types do not settle")
