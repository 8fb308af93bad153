"""randoms.py: calls that draw random numbers: the very ones that Python's and NumPy's own give."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from frit.loops.forms import Form
from frit.loops.streams import NORMALS, WORDS, NumpysStream, Stream, StreamNeeded
from frit.loops.values import Refused, Value

MOST_WIDTH = 2**31  # of the range that an integer is drawn from
MOST_CHOICES = 16
_TWIST, _UPPER, _LOWER, _SHIFT = 0x9908B0DF, 0x80000000, 0x7FFFFFFF, 397
_TEMPER = (
    ("RightShift", 11, None),
    ("LeftShift", 7, 0x9D2C5680),
    ("LeftShift", 15, 0xEFC60000),
    ("RightShift", 18, None),
)


class Randoms:
    """Mixed into NestWriter."""

    binary: Any
    draws: int
    emit: Any
    fail_where: Any
    forms: Any
    inputs: Any
    integer_of: Any
    is_loose: Any
    loops: list[Any]
    note_position: Any
    number: Any
    parameter_of: Callable[[str], int]
    require: Any
    shown: Any
    to_float: Any
    writer: Any

    def draw(self, node: ast.Call, stream: Stream, name: str) -> Value:
        normals = [NORMALS] if name in ("randn", "standard_normal", "normal") else []
        for needed in (stream, *normals):
            if needed.names[0] not in self.inputs.names:
                raise StreamNeeded(needed)
        self.draws += 1
        if node.keywords:
            raise Refused(node, f"a keyword argument of {name}()")
        is_numpys = isinstance(stream, NumpysStream)
        if name == "choice":
            return self.choice(node, stream, is_numpys)
        given = [self.number(x) for x in node.args]
        if name in ("random", "random_sample", "rand") and not given:
            return Value("float", self.double(node, stream))
        if name in ("randint", "randrange") and 1 <= len(given) <= 2:
            return self.whole_number(node, stream, name, given)
        if name == "uniform" and (len(given) == 2 or is_numpys and len(given) < 2):
            return (self.numpys_uniform if is_numpys else self.uniform)(node, stream, given)
        if name in ("randn", "standard_normal") and not given:
            return Value("float", self.normal(node, stream))
        if name == "normal" and len(given) <= 2:
            return self.scaled_normal(node, stream, given)
        raise Refused(node, f"these arguments of {name}()")

    # ---- numbers --------------------------------------------------------------------------------

    def uniform(self, node: ast.AST, stream: Stream, given: Sequence[Value]) -> Value:
        low, high = given
        width = self.binary(node, ast.Sub(), high, low)
        part = self.binary(node, ast.Mult(), width, Value("float", self.double(node, stream)))
        result: Value = self.binary(node, ast.Add(), low, part)
        return result

    def numpys_uniform(self, node: ast.AST, stream: Stream, given: Sequence[Value]) -> Value:
        apply = self.writer.apply
        ends = [*given, *map(float_literal, [0.0, 1.0][len(given) :])]
        low, high = (self.emit(self.to_float(node, x), "d") for x in ends)
        width = apply("Subtract", [high, low])
        self.fail_where(apply("LogicalNot", [apply("Isfinite", [width])]))
        part = apply("Multiply", [width, self.double(node, stream)])
        return Value("float", apply("Add", [low, part]))

    def whole_number(
        self, node: ast.AST, stream: Stream, name: str, given: Sequence[Value]
    ) -> Value:
        is_numpys = isinstance(stream, NumpysStream)
        ends = [self.integer_of(node, x) for x in given]
        if len(ends) == 1:
            if name == "randint" and not is_numpys:
                raise Refused(node, "these arguments of randint()")
            ends.insert(0, Value("int", literal=0, form=Form()))
        low, high = ends
        if name == "randint" and not is_numpys:
            one = Value("int", literal=1, form=Form((), 1))
            high = self.binary(node, ast.Add(), high, one)
        if self.is_loose(low.form, high.form):
            raise Refused(node, "a random number between bounds that only the loop knows")
        self.require(high.form - low.form, 1, MOST_WIDTH)
        width = self.writer.apply("Subtract", [self.emit(high, "l"), self.emit(low, "l")])
        id = self.writer.apply("Add", [self.emit(low, "l"), self.below(node, stream, width)])
        form = self.forms.between(low.form, high.form - Form((), 1))
        return Value("int", id, form=form)

    def choice(self, node: ast.Call, stream: Stream, is_numpys: bool) -> Value:
        """One of a few numbers in the text."""
        items = _numbers_in(node.args[0]) if len(node.args) == 1 else None
        if items is None or not 1 <= len(items) <= MOST_CHOICES:
            raise Refused(node, "choice() from something else than a few numbers")
        kind = {int: "l", float: "d"}[type(items[0])] if is_numpys else type(items[0]).__name__
        count = self.writer.constant(len(items), "l")
        which = self.below(node, stream, count)
        dtype = {"int": "l", "float": "d"}.get(kind, kind)
        id = self.writer.constant(items[-1], dtype)
        for k in range(len(items) - 2, -1, -1):
            is_it = self.writer.apply("Equal", [which, self.writer.constant(k, "l")])
            id = self.writer.apply("Select", [is_it, self.writer.constant(items[k], dtype), id])
        form = None
        if dtype == "l":
            form = self.forms.between(int(min(items)), int(max(items)))
        return Value(kind, id, form=form)

    def scaled_normal(self, node: ast.AST, stream: Stream, given: Sequence[Value]) -> Value:
        apply = self.writer.apply
        given = [*given, *map(float_literal, [0.0, 1.0][len(given) :])]
        middle, scale = (self.emit(self.to_float(node, x), "d") for x in given)
        self.fail_where(apply("Signbit", [scale]))
        part = apply("Multiply", [scale, self.normal(node, stream)])
        return Value("float", apply("Add", [middle, part]))

    # ---- the generators -------------------------------------------------------------------------

    def normal(self, node: ast.AST, stream: Stream) -> int:
        """By pairs, in Marsaglia's polar method."""
        w, kept = self.writer, self.parameter_of(NORMALS.names[0])
        result, x, y, square = (w.local("d") for _ in range(4))
        no, yes = w.constant(0.0, "d"), w.constant(1.0, "d")
        at = [w.constant(k, "l") for k in range(2)]

        def load(k: int) -> int:
            self.note_position(node)
            id: int = w.load(kept, [at[k]], 0)
            return id

        def store(k: int, value: int) -> None:
            self.note_position(node)
            w.store(kept, [at[k]], value, 0)

        def from_before() -> None:
            w.write_local(result, load(1))
            store(0, no)
            store(1, no)

        def goes_on() -> int:
            is_outside = w.apply("GreaterEqual", [w.read_local(square), yes])
            id: int = w.apply(
                "LogicalOr", [is_outside, w.apply("Equal", [w.read_local(square), no])]
            )
            return id

        def try_once() -> None:
            for place in (x, y):
                twice = w.apply("Multiply", [w.constant(2.0, "d"), self.double(node, stream)])
                w.write_local(place, w.apply("Subtract", [twice, yes]))
            squares = [w.apply("Multiply", [w.read_local(p)] * 2) for p in (x, y)]
            w.write_local(square, w.apply("Add", squares))

        def pair() -> None:
            w.write_local(square, w.constant(2.0, "d"))
            self.repeat(node, goes_on, try_once)
            log = w.apply("Log", [w.read_local(square)])
            ratio = w.apply(
                "TrueDivide",
                [w.apply("Multiply", [w.constant(-2.0, "d"), log]), w.read_local(square)],
            )
            factor = w.apply("Sqrt", [ratio])
            store(0, yes)
            store(1, w.apply("Multiply", [factor, w.read_local(x)]))
            w.write_local(result, w.apply("Multiply", [factor, w.read_local(y)]))

        w.branch(w.apply("NotEqual", [load(0), no]), from_before, pair)
        id: int = w.read_local(result)
        return id

    def below(self, node: ast.AST, stream: Stream, width: int) -> int:
        """One of 0 to width - 1, each as likely: of enough bits, drawn until it is one of these."""
        w = self.writer
        drawn, bits = w.local("l"), w.local("l")
        one, zero = w.constant(1, "l"), w.constant(0, "l")
        last = w.apply("Subtract", [width, one])
        if isinstance(stream, NumpysStream):
            mask = last
            for shift in (1, 2, 4, 8, 16):
                more = w.apply("RightShift", [mask, w.constant(shift, "l")])
                mask = w.apply("BitwiseOr", [mask, more])

            def draw() -> None:
                word = w.cast(self.word(node, stream), "l")
                w.write_local(drawn, w.apply("BitwiseAnd", [word, mask]))

            # Of one number alone nothing is drawn.
            w.write_local(drawn, w.apply("Select", [w.apply("Equal", [last, zero]), zero, width]))
        else:
            w.write_local(bits, zero)

            def is_more() -> int:
                rest = w.apply("RightShift", [width, w.read_local(bits)])
                id: int = w.apply("NotEqual", [rest, zero])
                return id

            def count() -> None:
                w.write_local(bits, w.apply("Add", [w.read_local(bits), one]))

            self.repeat(node, is_more, count)
            left = w.apply("Subtract", [w.constant(32, "l"), w.read_local(bits)])

            def draw() -> None:
                word = w.cast(self.word(node, stream), "l")
                w.write_local(drawn, w.apply("RightShift", [word, left]))

            w.write_local(drawn, width)
        self.repeat(node, lambda: w.apply("GreaterEqual", [w.read_local(drawn), width]), draw)
        id: int = w.read_local(drawn)
        return id

    def double(self, node: ast.AST, stream: Stream) -> int:
        """From 0 to 1, of 53 bits: 27 of one word and 26 of the next."""
        w = self.writer
        first, second, turn = w.local("I"), w.local("I"), w.local("l")
        w.write_local(turn, w.constant(0, "l"))
        w.write_local(second, w.constant(0, "I"))

        def draw() -> None:
            w.write_local(first, w.read_local(second))
            w.write_local(second, self.word(node, stream))
            w.write_local(turn, w.apply("Add", [w.read_local(turn), w.constant(1, "l")]))

        self.repeat(node, lambda: w.apply("Less", [w.read_local(turn), w.constant(2, "l")]), draw)

        def part(place: int, shift: int) -> int:
            bits = w.apply("RightShift", [w.read_local(place), w.constant(shift, "I")])
            id: int = w.cast(bits, "d")
            return id

        high = w.apply("Multiply", [part(first, 5), w.constant(67108864.0, "d")])
        whole = w.apply("Add", [high, part(second, 6)])
        id: int = w.apply("Multiply", [whole, w.constant(1.0 / 9007199254740992.0, "d")])
        return id

    def repeat(self, node: ast.AST, goes_on: Callable[[], int], body: Callable[[], None]) -> None:
        """A While."""
        self.loops.append(self.shown(node))
        self.writer.repeat(goes_on, body)

    def word(self, node: ast.AST, stream: Stream) -> int:
        """The next one of 32 bits."""
        w, state = self.writer, self.parameter_of(stream.names[0])
        position = w.local("l")
        end = w.constant(WORDS, "l")

        def load(at: int) -> int:
            self.note_position(node)
            id: int = w.load(state, [at], 0)
            return id

        def store(at: int, value: int) -> None:
            self.note_position(node)
            w.store(state, [at], value, 0)

        def number(k: int) -> int:
            id: int = w.constant(k, "l")
            return id

        def bits(op: str, x: int, y: int) -> int:
            id: int = w.apply(op, [x, w.constant(y, "I")])
            return id

        def twist_all() -> None:
            at, here = w.local("l"), w.local("I")
            w.write_local(at, number(0))
            w.write_local(here, load(number(0)))

            def twist(there: int, following: int) -> None:
                upper = bits("BitwiseAnd", w.read_local(here), _UPPER)
                both = w.apply("BitwiseOr", [upper, bits("BitwiseAnd", following, _LOWER)])
                odd = bits("Multiply", bits("BitwiseAnd", both, 1), _TWIST)
                new = w.apply("BitwiseXor", [load(there), bits("RightShift", both, 1)])
                store(w.read_local(at), w.apply("BitwiseXor", [new, odd]))

            def up_to(last: int, distance: int) -> None:
                def once() -> None:
                    index = w.read_local(at)
                    next_index = w.apply("Add", [index, number(1)])
                    following = load(next_index)
                    twist(w.apply("Add", [index, number(distance)]), following)
                    w.write_local(here, following)
                    w.write_local(at, next_index)

                self.repeat(node, lambda: w.apply("Less", [w.read_local(at), number(last)]), once)

            up_to(WORDS - _SHIFT, _SHIFT)
            up_to(WORDS - 1, _SHIFT - WORDS)
            twist(number(_SHIFT - 1), load(number(0)))
            w.write_local(position, number(0))

        w.write_local(position, w.cast(load(end), "l"))
        w.branch(w.apply("GreaterEqual", [w.read_local(position), end]), twist_all)
        here = w.read_local(position)
        word = load(here)
        store(end, w.cast(w.apply("Add", [here, w.constant(1, "l")]), "I"))
        for op, shift, mask in _TEMPER:
            part = bits(op, word, shift)
            if mask is not None:
                part = bits("BitwiseAnd", part, mask)
            word = w.apply("BitwiseXor", [word, part])
        return word


def float_literal(value: float) -> Value:
    return Value("float", literal=value)


def _numbers_in(node: ast.expr) -> list[int] | list[float] | None:
    """Of a list or tuple in the text, all of one type."""
    try:
        items = ast.literal_eval(node)
    except ValueError:
        return None
    if not isinstance(items, (list, tuple)) or {type(x) for x in items} not in ({int}, {float}):
        return None
    return [*items]
