"""randoms.py: calls that draw random numbers: the very ones that Python's and NumPy's own give."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from typing import Any

from frit.loops.nest.doubt import as_numpys
from frit.loops.nest.forms import Form
from frit.loops.nest.library import item_at, place_by_chances
from frit.loops.nest.values import Character, ListPart, Refused, Value, View
from frit.loops.run.streams import (
    WORDS,
    NormalsStream,
    PcgStream,
    PythonsStream,
    Stream,
    StreamNeeded,
)

MOST_WIDTH = 2**31  # of the range that an integer is drawn from
MOST_CHOICES = 16
_TWIST, _UPPER, _LOWER, _SHIFT = 0x9908B0DF, 0x80000000, 0x7FFFFFFF, 397
_WORD, _UNIT = 0xFFFFFFFF, 1.0 / 9007199254740992.0
_TIMES_HIGH, _TIMES_LOW = 0x2360ED051FC65DA4, 0x4385DF649FCCF645  # of PCG64
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
    inlined_of: Any
    inputs: Any
    integer_of: Any
    is_loose: Any
    loops: list[Any]
    note_position: Any
    number: Any
    operand: Any
    parameter_of: Callable[[str], int]
    require: Any
    shown: Any
    to_float: Any
    writer: Any

    def draw(self, node: ast.Call, stream: Stream, name: str) -> Value:
        has_normals = name in ("randn", "standard_normal", "normal")
        for needed in (stream, *([NormalsStream(stream.owner)] if has_normals else [])):
            if needed.name not in self.inputs.names:
                raise StreamNeeded(needed)
        self.draws += 1
        is_numpys = not isinstance(stream, PythonsStream)
        chances = [x.value for x in node.keywords if name == "choice" and x.arg == "p"]
        if len(chances) < len(node.keywords):
            raise Refused(node, f"a keyword argument of {name}()")
        if name == "choice" and len(node.args) == 1:
            if chances:
                return self.choice_by_chances(node, stream, chances[0])
            return self.choice(node, stream, is_numpys)
        given = [self.number(x) for x in node.args]
        if name in ("random", "random_sample", "rand") and not given:
            return Value("float", self.double(node, stream))
        if name in ("randint", "randrange", "integers") and 1 <= len(given) <= 2:
            return self.whole_number(node, stream, name, given)
        if name == "uniform" and (len(given) == 2 or is_numpys and len(given) < 2):
            return (self.numpys_uniform if is_numpys else self.uniform)(node, stream, given)
        if name in ("randn", "standard_normal") and not given:
            return Value("float", self.normal(node, stream))
        if name == "normal" and len(given) <= 2:
            return self.scaled_normal(node, stream, given)
        if name == "binomial" and len(given) == 2:
            return self.binomial(node, stream, *given)
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
        if isinstance(stream, PcgStream):
            self.fail_where(apply("Signbit", [width]))
        part = apply("Multiply", [width, self.double(node, stream)])
        return Value("float", apply("Add", [low, part]))

    def whole_number(
        self, node: ast.AST, stream: Stream, name: str, given: Sequence[Value]
    ) -> Value:
        if name == "randint" and isinstance(stream, PythonsStream):
            if len(given) == 1:
                raise Refused(node, "these arguments of randint()")
            # Of NumPy's types, too: the largest int8 and 1 are the least one.
            one = Value("int", literal=1, form=Form((), 1))
            given = [given[0], self.binary(node, ast.Add(), given[1], one)]
        zero = Value("int", literal=0, form=Form())
        low, high = (self.integer_of(node, x) for x in [zero, *given][-2:])
        if self.is_loose(low.form, high.form):
            raise Refused(node, "a random number between bounds that only the loop knows")
        self.require(high.form - low.form, 1, MOST_WIDTH)
        width = self.writer.apply("Subtract", [self.emit(high, "l"), self.emit(low, "l")])
        id = self.writer.apply("Add", [self.emit(low, "l"), self.below(node, stream, width)])
        form = self.forms.between(low.form, high.form - Form((), 1))
        return Value("l" if name == "integers" else "int", id, form=form)

    def choice(self, node: ast.Call, stream: Stream, is_numpys: bool) -> Value | Character:
        """One of a few numbers in the text, or characters; of a row, or of so many."""
        items = _items_in(node.args[0])
        if items is None and not isinstance(node.args[0], (ast.List, ast.Tuple)):
            row, count = self.row_and_count(node)
            name = "randint" if is_numpys else "randrange"
            place = self.whole_number(node, stream, name, [count])
            return self.choice_of(node, row, place, is_numpys)
        if items is not None and type(items[0]) is str:
            if is_numpys:  # strings of NumPy's
                items = None
            else:
                found = self.one_of_items(node, stream, "I", [ord(c) for c in items])
                return Character(Value("I", found))
        if items is None or not 1 <= len(items) <= MOST_CHOICES:
            raise Refused(node, "choice() from something else than a few numbers")
        kind = {int: "l", float: "d"}[type(items[0])] if is_numpys else type(items[0]).__name__
        dtype = {"int": "l", "float": "d"}.get(kind, kind)
        id = self.one_of_items(node, stream, dtype, items)
        form = None
        if dtype == "l":
            form = self.forms.between(int(min(items)), int(max(items)))
        return Value(kind, id, form=form)

    def choice_by_chances(
        self, node: ast.Call, stream: Stream, chances: ast.expr
    ) -> Value | Character:
        row, count = self.row_and_count(node)
        given = self.operand(chances)
        if not isinstance(given, View) or len(given.spans) != 1 or given.array.dtype not in "fd":
            raise Refused(node, "choice() by chances that are no row of floats")
        drawn = Value("float", self.double(node, stream))
        place: Value = self.inlined_of(node, place_by_chances, [given, count, drawn])
        return self.choice_of(node, row, place, True)

    def row_and_count(self, node: ast.Call) -> tuple[View | ListPart | None, Value]:
        """What one is chosen from; None: from the whole numbers below the other one."""
        given = self.operand(node.args[0])
        view = given.view if isinstance(given, ListPart) else given
        if isinstance(view, View) and len(view.spans) == 1:
            return given, view.spans[0].extent
        if not isinstance(given, Value) or given.kind != "int":
            raise Refused(node, "choice() from something else than numbers")
        return None, given

    def choice_of(
        self, node: ast.Call, row: View | ListPart | None, place: Value, is_numpys: bool
    ) -> Value | Character:
        if row is None:
            if not is_numpys:
                raise Refused(node, "choice() from a number")
            return place
        item: Value | Character = self.inlined_of(node, item_at, [row, place])
        if not is_numpys:
            return item
        if isinstance(item, Character) or item.mixed:
            raise Refused(node, "choice() from texts or numbers of two types")
        return as_numpys(item)

    def one_of_items(
        self, node: ast.AST, stream: Stream, dtype: str, items: Sequence[float]
    ) -> int:
        count = self.writer.constant(len(items), "l")
        which = self.below(node, stream, count)
        id: int = self.writer.constant(items[-1], dtype)
        for k in range(len(items) - 2, -1, -1):
            is_it = self.writer.apply("Equal", [which, self.writer.constant(k, "l")])
            id = self.writer.apply("Select", [is_it, self.writer.constant(items[k], dtype), id])
        return id

    def scaled_normal(self, node: ast.AST, stream: Stream, given: Sequence[Value]) -> Value:
        apply = self.writer.apply
        given = [*given, *map(float_literal, [0.0, 1.0][len(given) :])]
        middle, scale = (self.emit(self.to_float(node, x), "d") for x in given)
        self.fail_where(apply("Signbit", [scale]))
        part = apply("Multiply", [scale, self.normal(node, stream)])
        return Value("float", apply("Add", [middle, part]))

    def binomial(self, node: ast.AST, stream: Stream, n: Value, p: Value) -> Value:
        """As NumPy draws where no more than 30 are expected."""
        w, apply = self.writer, self.writer.apply
        n = self.integer_of(node, n)
        self.require(n.form, 0, MOST_WIDTH)
        count, chance = self.emit(n, "l"), self.emit(self.to_float(node, p), "d")
        zero, half, one = (w.constant(x, "d") for x in (0.0, 0.5, 1.0))
        is_likely = apply("Greater", [chance, half])
        rare = apply("Select", [is_likely, apply("Subtract", [one, chance]), chance])
        trials = w.cast(count, "d")
        expected = apply("Multiply", [trials, rare])

        def all_of(*conditions: int) -> int:
            return functools.reduce(lambda x, y: apply("LogicalAnd", [x, y]), conditions)

        is_drawn = all_of(
            apply("GreaterEqual", [chance, zero]),
            apply("LessEqual", [chance, one]),
            apply("LessEqual", [expected, w.constant(30.0, "d")]),
        )
        # What is to be drawn otherwise is not drawn here at all: it might never end.
        self.fail_where(apply("LogicalNot", [is_drawn]))
        if isinstance(stream, PcgStream):  # a RandomState draws for nothing
            is_drawn = all_of(is_drawn, *(apply("NotEqual", [x, zero]) for x in (trials, chance)))
        found = w.local("l")
        w.write_local(found, w.constant(0, "l"))
        w.branch(is_drawn, lambda: self.invert(node, stream, found, trials, rare, expected))
        id = w.read_local(found)
        fewer = apply("Subtract", [count, id])
        id = apply("Select", [all_of(is_likely, is_drawn), fewer, id])
        return Value("int", id, form=self.forms.between(Form(), n.form))

    def invert(
        self, node: ast.AST, stream: Stream, found: int, trials: int, rare: int, expected: int
    ) -> None:
        """How many of the trials succeed: the first number that what was drawn does not exceed."""
        w, apply = self.writer, self.writer.apply
        one, whole = w.constant(1.0, "d"), w.constant(1, "l")
        other = apply("Subtract", [one, rare])
        log = apply("Log1p", [apply("Negative", [rare])], "C")
        none = apply("Exp", [apply("Multiply", [trials, log])], "C")
        spread = apply("Add", [apply("Multiply", [expected, other]), one])
        far = apply("Multiply", [w.constant(10.0, "d"), apply("Sqrt", [spread])])
        most = w.cast(apply("Minimum", [trials, apply("Add", [expected, far])]), "l")
        part, left = w.local("d"), w.local("d")

        def begin() -> None:
            w.write_local(found, w.constant(0, "l"))
            w.write_local(part, none)
            w.write_local(left, self.double(node, stream))

        def go_on() -> None:
            number, before = w.cast(w.read_local(found), "d"), w.read_local(part)
            w.write_local(left, apply("Subtract", [w.read_local(left), before]))
            here = apply("Add", [apply("Subtract", [trials, number]), one])
            here = apply("Multiply", [apply("Multiply", [here, rare]), before])
            w.write_local(part, apply("TrueDivide", [here, apply("Multiply", [number, other])]))

        def step() -> None:
            w.write_local(found, apply("Add", [w.read_local(found), whole]))
            w.branch(apply("Greater", [w.read_local(found), most]), begin, go_on)

        begin()
        self.repeat(
            node, lambda: apply("Greater", [w.read_local(left), w.read_local(part)]), step, 1
        )

    # ---- from words -------------------------------------------------------------------------

    def normal(self, node: ast.AST, stream: Stream) -> int:
        """By pairs, in Marsaglia's polar method."""
        w, kept = self.writer, self.parameter_of(NormalsStream(stream.owner).name)
        result, x, y, square = (w.local("d") for _ in range(4))
        no, yes = w.constant(0.0, "d"), w.constant(1.0, "d")
        at = [w.constant(k, "l") for k in range(2)]

        def load(k: int) -> int:
            return self.load_word(node, kept, at[k])

        def store(k: int, value: int) -> None:
            self.store_word(node, kept, at[k], value)

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
            self.repeat(node, goes_on, try_once, 1)
            log = w.apply("Log", [w.read_local(square)], "C")
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
        """One of 0 to width - 1, each as likely. Of one alone NumPy draws nothing."""
        if isinstance(stream, PcgStream):
            return self.below_by_product(node, stream, width)
        w = self.writer
        drawn, zero = w.local("l"), w.constant(0, "l")
        w.write_local(drawn, width)
        if isinstance(stream, PythonsStream):
            left = w.apply("Subtract", [w.constant(32, "l"), self.bits_of(node, width)])

            def cut(word: int) -> int:
                return w.apply("RightShift", [word, left])
        else:
            mask = last = w.apply("Subtract", [width, w.constant(1, "l")])
            for shift in (1, 2, 4, 8, 16):
                more = w.apply("RightShift", [mask, w.constant(shift, "l")])
                mask = w.apply("BitwiseOr", [mask, more])
            w.write_local(drawn, w.apply("Select", [w.apply("Equal", [last, zero]), zero, width]))

            def cut(word: int) -> int:
                return w.apply("BitwiseAnd", [word, mask])

        # Of enough bits, until it is one of these.
        self.repeat(
            node,
            lambda: w.apply("GreaterEqual", [w.read_local(drawn), width]),
            lambda: w.write_local(drawn, cut(w.cast(self.word(node, stream), "l"))),
            1,
        )
        id: int = w.read_local(drawn)
        return id

    def bits_of(self, node: ast.AST, width: int) -> int:
        """How many it has."""
        w = self.writer
        bits, zero, one = w.local("l"), w.constant(0, "l"), w.constant(1, "l")
        w.write_local(bits, zero)

        def is_more() -> int:
            rest = w.apply("RightShift", [width, w.read_local(bits)])
            id: int = w.apply("NotEqual", [rest, zero])
            return id

        self.repeat(
            node,
            is_more,
            lambda: w.write_local(bits, w.apply("Add", [w.read_local(bits), one])),
            6,
        )
        id: int = w.read_local(bits)
        return id

    def below_by_product(self, node: ast.AST, stream: Stream, width: int) -> int:
        """Lemire's method: the high half of a product, unless the low half is one too many."""
        w = self.writer
        product, least = w.local("L"), w.local("L")
        range_, one = w.cast(width, "L"), w.constant(1, "L")

        def low_half() -> int:
            id: int = w.apply("BitwiseAnd", [w.read_local(product), w.constant(_WORD, "L")])
            return id

        def draw() -> None:
            w.write_local(product, w.apply("Multiply", [self.half_word(node, stream), range_]))

        def several() -> None:
            draw()

            def bound() -> None:
                rest = w.apply("Subtract", [w.constant(_WORD + 1, "L"), range_])
                w.write_local(least, w.apply("Remainder", [rest, range_]))

            w.write_local(least, w.constant(0, "L"))
            w.branch(w.apply("Less", [low_half(), range_]), bound)
            self.repeat(node, lambda: w.apply("Less", [low_half(), w.read_local(least)]), draw, 1)

        w.write_local(product, w.constant(0, "L"))
        w.branch(w.apply("Greater", [range_, one]), several)
        high = w.apply("RightShift", [w.read_local(product), w.constant(32, "L")])
        id: int = w.cast(high, "l")
        return id

    def double(self, node: ast.AST, stream: Stream) -> int:
        """From 0 to 1, of 53 bits: of the Twister 27 of one word and 26 of the next."""
        w = self.writer
        if isinstance(stream, PcgStream):
            whole = w.apply("RightShift", [self.long_word(node, stream), w.constant(11, "L")])
            real = w.cast(w.cast(whole, "l"), "d")
            result: int = w.apply("Multiply", [real, w.constant(_UNIT, "d")])
            return result
        first, second, turn = w.local("I"), w.local("I"), w.local("l")
        w.write_local(turn, w.constant(0, "l"))
        w.write_local(second, w.constant(0, "I"))

        def draw() -> None:
            w.write_local(first, w.read_local(second))
            w.write_local(second, self.word(node, stream))
            w.write_local(turn, w.apply("Add", [w.read_local(turn), w.constant(1, "l")]))

        self.repeat(
            node, lambda: w.apply("Less", [w.read_local(turn), w.constant(2, "l")]), draw, 2
        )

        def part(place: int, shift: int) -> int:
            bits = w.apply("RightShift", [w.read_local(place), w.constant(shift, "I")])
            id: int = w.cast(bits, "d")
            return id

        high = w.apply("Multiply", [part(first, 5), w.constant(67108864.0, "d")])
        whole = w.apply("Add", [high, part(second, 6)])
        id: int = w.apply("Multiply", [whole, w.constant(_UNIT, "d")])
        return id

    def repeat(
        self, node: ast.AST, goes_on: Callable[[], int], body: Callable[[], None], rounds: int
    ) -> None:
        """A While; about how many rounds it has, on average over all draws."""
        self.loops.append(self.shown(node))
        self.writer.repeat(goes_on, body, rounds)

    # ---- the Mersenne Twister -------------------------------------------------------------------

    def word(self, node: ast.AST, stream: Stream) -> int:
        """The next one of 32 bits."""
        w, state = self.writer, self.parameter_of(stream.name)
        position = w.local("l")
        end = w.constant(WORDS, "l")

        def load(at: int) -> int:
            return self.load_word(node, state, at)

        def store(at: int, value: int) -> None:
            self.store_word(node, state, at, value)

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

                # All of them, for one word in so many.
                self.repeat(
                    node, lambda: w.apply("Less", [w.read_local(at), number(last)]), once, 1
                )

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

    # ---- PCG64 ----------------------------------------------------------------------------------

    def half_word(self, node: ast.AST, stream: Stream) -> int:
        """32 bits: half of a word, or the half that is left of the one before."""
        w, state = self.writer, self.parameter_of(stream.name)
        result = w.local("L")
        is_left, left = w.constant(4, "l"), w.constant(5, "l")

        def rest() -> None:
            w.write_local(result, self.load_word(node, state, left))
            self.store_word(node, state, is_left, w.constant(0, "L"))

        def another() -> None:
            word = self.long_word(node, stream)
            half = w.apply("RightShift", [word, w.constant(32, "L")])
            self.store_word(node, state, is_left, w.constant(1, "L"))
            self.store_word(node, state, left, half)
            w.write_local(result, w.apply("BitwiseAnd", [word, w.constant(_WORD, "L")]))

        has_one = w.apply("NotEqual", [self.load_word(node, state, is_left), w.constant(0, "L")])
        w.branch(has_one, rest, another)
        id: int = w.read_local(result)
        return id

    def long_word(self, node: ast.AST, stream: Stream) -> int:
        """64 bits. state = state * multiplier + increment, of 128 bits; its halves, mixed."""
        w, state = self.writer, self.parameter_of(stream.name)
        places = [w.constant(k, "l") for k in range(4)]
        high, low, more_high, more_low = (self.load_word(node, state, k) for k in places)

        def number(value: int) -> int:
            id: int = w.constant(value, "L")
            return id

        def op(name: str, x: int, y: int) -> int:
            id: int = w.apply(name, [x, y])
            return id

        def halves(x: int) -> tuple[int, int]:
            return op("RightShift", x, number(32)), op("BitwiseAnd", x, number(_WORD))

        up, down = halves(low)
        by_up, by_down = number(_TIMES_LOW >> 32), number(_TIMES_LOW & _WORD)
        crossed = [halves(op("Multiply", up, by_down)), halves(op("Multiply", down, by_up))]
        carried, _ = halves(op("Multiply", down, by_down))
        for _, part in crossed:
            carried = op("Add", carried, part)
        above = op("Add", op("Multiply", up, by_up), halves(carried)[0])
        for part, _ in crossed:
            above = op("Add", above, part)
        for x, factor in ((high, _TIMES_LOW), (low, _TIMES_HIGH)):
            above = op("Add", above, op("Multiply", x, number(factor)))
        product = op("Multiply", low, number(_TIMES_LOW))
        new_low = op("Add", product, more_low)
        new_high = op("Add", above, more_high)
        new_high = op("Add", new_high, w.cast(op("Less", new_low, product), "L"))
        self.store_word(node, state, places[0], new_high)
        self.store_word(node, state, places[1], new_low)
        mixed = op("BitwiseXor", new_high, new_low)
        turn = op("RightShift", new_high, number(58))
        back = op("BitwiseAnd", op("Subtract", number(64), turn), number(63))
        return op("BitwiseOr", op("RightShift", mixed, turn), op("LeftShift", mixed, back))

    def load_word(self, node: ast.AST, state: int, at: int) -> int:
        self.note_position(node)
        id: int = self.writer.load(state, [at], 0)
        return id

    def store_word(self, node: ast.AST, state: int, at: int, value: int) -> None:
        self.note_position(node)
        self.writer.store(state, [at], value, 0)


def float_literal(value: float) -> Value:
    return Value("float", literal=value)


def _items_in(node: ast.expr) -> list[Any] | None:
    """Of a list or tuple in the text, all of one type, numbers or characters; those of a string."""
    try:
        items = ast.literal_eval(node)
    except ValueError:
        return None
    kinds = {type(x) for x in items} if isinstance(items, (list, tuple, str)) else set()
    if kinds not in ({int}, {float}, {str}) or not all(
        len(x) == 1 for x in items if kinds == {str}
    ):
        return None
    return [*items]
