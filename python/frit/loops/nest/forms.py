"""forms.py: what is known of Python's integers before a nest runs: sums of symbols, with bounds.

A symbol stands for a number of the call (an argument, an extent: *known*, an expression of the
guard), for a loop's index, or for something whose bounds alone are known. The least and the largest
value of a form come by putting in the bounds of the symbols, the latest first: that is exact where
a bound names the index of an outer loop, as in a triangular nest. Facts are forms that are not
below 0 where the nest has got to, by the conditions and the loops (of a round at least) around:
they bound symbols as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from frit.translate.record import record

MOST_FACTS = 24  # at one place
# What an integer of a nest may reach. Bits of two, and shifts to the right, are such integers too.
LEAST, LARGEST = -(2**62), 2**62 - 1
LONG_TEXT = 64
# Bounds of variables that are asked for in a translation: each may follow from many others, so that
# the ways from one to the next are countless. A hundred are many; behind these nothing is known.
MOST_STEPS = 2000
ARGUMENT = 2**40  # what an integer argument may reach, where that matters: the guard asks


class Unbounded(Exception):
    """Nothing is known of a number."""


class Form:
    """The sum of terms (symbol number, coefficient) and a constant.

    No record: a translation makes hundreds.
    """

    __slots__ = ("constant", "terms")

    def __init__(self, terms: tuple[tuple[int, int], ...] = (), constant: int = 0) -> None:
        self.terms = terms
        self.constant = constant

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Form):
            return NotImplemented
        return self.terms == other.terms and self.constant == other.constant

    def __hash__(self) -> int:
        return hash((self.terms, self.constant))

    def __add__(self, other: Form) -> Form:
        if not self.terms or not other.terms:
            return Form(self.terms or other.terms, self.constant + other.constant)
        sums = dict(self.terms)
        for symbol, factor in other.terms:
            sums[symbol] = sums.get(symbol, 0) + factor
        kept = tuple(sorted((s, f) for s, f in sums.items() if f))
        return Form(kept, self.constant + other.constant)

    def times(self, factor: int) -> Form:
        if factor == 0:
            return Form()
        return Form(tuple((s, f * factor) for s, f in self.terms), self.constant * factor)

    def __sub__(self, other: Form) -> Form:
        return self + other.times(-1)


@record
class Symbol:
    """`low` and `high`: valid bounds each. `widest`: instead, one of them is the bound."""

    text: str | None = None  # of a known one: an expression of the guard
    low: Sequence[Form] | Callable[[], Sequence[Form]] = ()
    high: Sequence[Form] | Callable[[], Sequence[Form]] = ()
    widest_low: bool = False
    widest_high: bool = False
    reach: int | None = None  # its absolute value at most
    factors: tuple[Form, Form] | None = None  # of a product
    busy: bool = False

    def bounds(self, high: bool) -> tuple[Sequence[Form] | Callable[[], Sequence[Form]], bool]:
        """Above or below, and whether they are the widest."""
        return (self.high, self.widest_high) if high else (self.low, self.widest_low)


class Forms:
    """The symbols of a nest."""

    def __init__(self, long_texts: dict[str, str] | None = None) -> None:
        """long_texts: the names that long texts of the guard have, which would else be written out
        wherever a bound is made of another one."""
        self.long_texts = {} if long_texts is None else long_texts
        self.symbols: list[Symbol] = []
        self.known: dict[str, Form] = {}
        self.written: dict[str, Form] = {}  # known forms by their texts
        self.assumed: set[str] = set()  # known ones that are taken to be within ARGUMENT
        self.facts: tuple[Form, ...] = ()  # of the place that is being translated
        self.steps = 0

    def symbol(self, symbol: Symbol) -> Form:
        self.symbols.append(symbol)
        return Form(((len(self.symbols) - 1, 1),))

    def of_text(self, text: str, reach: int | None = ARGUMENT) -> Form:
        """A number that the guard can compute."""
        if text not in self.known:
            name = text
            if len(text) > LONG_TEXT and "<<" not in text:  # a shift may be too large to be made
                name = self.long_texts.setdefault(text, f"x{len(self.long_texts)}")
            self.known[text] = self.symbol(Symbol(text=name, reach=reach))
        return self.known[text]

    def between(self, low: Form | int, high: Form | int) -> Form:
        low, high = (Form((), x) if isinstance(x, int) else x for x in (low, high))
        return self.symbol(Symbol(low=[low], high=[high]))

    def is_known(self, form: Form) -> bool:
        return all(self.symbols[s].text is not None for s, _ in form.terms)

    def text(self, form: Form) -> str:
        parts = [f"{f}*{self.symbols[s].text}" for s, f in form.terms]
        text = "(" + "+".join([*parts, str(form.constant)]).replace("+-", "-") + ")"
        self.written[text] = form
        return text

    def reach(self, form: Form) -> int | None:
        """What its absolute value is at most, whatever the call; None: unknown."""
        total = abs(form.constant)
        for number, factor in form.terms:
            symbol = self.symbols[number]
            if symbol.reach is None and symbol.text is None and not symbol.busy:
                if callable(symbol.low) or callable(symbol.high):
                    return None
                bounds = [self.reach(x) for x in [*symbol.low, *symbol.high]]
                if bounds and symbol.low and symbol.high and None not in bounds:
                    symbol.reach = max(b for b in bounds if b is not None)
            if symbol.reach is None:
                return None
            if symbol.text is not None and symbol.reach == ARGUMENT:
                self.assumed.add(symbol.text)
            total += abs(factor) * symbol.reach
        return total

    def product(self, x: Form, y: Form) -> Form:
        if not x.terms or not y.terms:
            return y.times(x.constant) if not x.terms else x.times(y.constant)
        if self.is_known(x) and self.is_known(y):
            return self.of_text(f"({self.text(x)}*{self.text(y)})", None)

        facts = self.facts

        def corners() -> list[Form]:
            ends = self.ends(y, facts)
            return [self.product_of_ends(a, b) for a in self.ends(x, facts) for b in ends]

        made = Symbol(low=corners, high=corners, widest_low=True, widest_high=True)
        made.factors = (x, y)
        return self.symbol(made)

    def product_of_ends(self, a: str, b: str) -> Form:
        """Where one is a number it is a sum: of corners that differ by a constant one is left."""
        x, y = self.written.get(a), self.written.get(b)
        if x is not None and y is not None and not (x.terms and y.terms):
            return self.product(x, y)
        return self.of_text(f"({a}*{b})", None)

    def divided(self, x: Form, divisor: Form) -> Form:
        """x // divisor, of a divisor above 0."""
        if self.is_known(x) and self.is_known(divisor):
            return self.of_text(f"({self.text(x)}//{self.text(divisor)})", self.reach(x))

        facts = self.facts

        def ends() -> list[Form]:
            divisors = self.ends(divisor, facts)
            return [
                self.of_text(f"({a}//{b})", None) for a in self.ends(x, facts) for b in divisors
            ]

        made = Symbol(low=ends, high=ends, widest_low=True, widest_high=True)
        made.reach = self.reach(x)
        return self.symbol(made)

    def shifted(self, x: Form, by: Form, sign: str) -> Form:
        """x << by or x >> by, of a `by` not below 0."""
        if self.is_known(x) and self.is_known(by):
            return self.of_text(f"({self.text(x)}{sign}{self.text(by)})", None)

        facts = self.facts

        def ends() -> list[Form]:
            others = self.ends(by, facts)
            return [
                self.of_text(f"({a}{sign}{b})", None) for a in self.ends(x, facts) for b in others
            ]

        return self.symbol(Symbol(low=ends, high=ends, widest_low=True, widest_high=True))

    def remainder(self, x: Form, divisor: Form) -> Form:
        """x % divisor, of a divisor above 0."""
        if self.is_known(x) and self.is_known(divisor):
            return self.of_text(f"({self.text(x)}%{self.text(divisor)})", self.reach(divisor))
        return self.between(0, divisor - Form((), 1))

    def widest(self, forms: Sequence[Form]) -> Form:
        """One of these."""
        forms = list(dict.fromkeys(forms))
        if len(forms) == 1:
            return forms[0]
        return self.symbol(Symbol(low=forms, high=forms, widest_low=True, widest_high=True))

    def smaller(self, forms: Sequence[Form]) -> Form:
        return self.symbol(Symbol(low=forms, high=forms, widest_low=True))

    def larger(self, forms: Sequence[Form]) -> Form:
        return self.symbol(Symbol(low=forms, high=forms, widest_high=True))

    # ---- facts ----------------------------------------------------------------------------------

    def latest(self, form: Form) -> tuple[int, int] | None:
        """The term of the latest symbol that is not known."""
        for term in reversed(form.terms):
            if self.symbols[term[0]].text is None:
                return term
        return None

    def note(self, form: Form) -> None:
        """The form is not below 0; and so are those that follow, without its latest symbol."""
        due = [form]
        while due and len(self.facts) < MOST_FACTS:
            form = due.pop()
            if not form.terms or form in self.facts:
                continue
            found = self.latest(form)
            if found is not None:
                number, factor = found
                symbol = self.symbols[number]
                bounds, is_widest = symbol.bounds(factor > 0)
                follow = []
                if not callable(bounds) and not is_widest:
                    follow += [form + (end - Form(((number, 1),))).times(factor) for end in bounds]
                for fact in self.facts:
                    other = self.latest(fact)
                    if other is not None and other[0] == number and other[1] * factor < 0:
                        follow.append(form.times(abs(other[1])) + fact.times(abs(factor)))
                due += [x for x in follow if self.latest(x) is not None]
            self.facts = (*self.facts, form)

    def pinned(self, form: Form) -> Form:
        """The number, with the bounds that it has here."""
        if self.is_known(form) or not self.facts:
            return form
        facts = self.facts
        return self.symbol(
            Symbol(
                low=lambda: [self.of_text(self.least(form, facts), None)],
                high=lambda: [self.of_text(self.most(form, facts), None)],
            )
        )

    def ends_by_facts(self, number: int, upper: bool, facts: Sequence[Form]) -> list[Form]:
        """Bounds of a symbol."""
        found = []
        for fact in facts:
            latest = self.latest(fact)
            if latest is None or latest[0] != number or (latest[1] < 0) != upper:
                continue
            factor = abs(latest[1])
            rest = fact - Form((latest,))  # factor * symbol <= rest, or >= -rest
            if factor > 1:
                if not self.is_known(rest):
                    continue
                rest = self.divided(rest, Form((), factor))
            found.append(rest if upper else rest.times(-1))
        return found

    # ---- bounds: texts of the guard -------------------------------------------------------------

    def least(self, form: Form, facts: Sequence[Form] | None = None) -> str:
        return self._end(form, False, self.facts if facts is None else facts)

    def most(self, form: Form, facts: Sequence[Form] | None = None) -> str:
        return self._end(form, True, self.facts if facts is None else facts)

    def ends(self, form: Form, facts: Sequence[Form]) -> tuple[str, str]:
        return self.least(form, facts), self.most(form, facts)

    def _end(self, form: Form, upper: bool, facts: Sequence[Form]) -> str:
        without = self.without_products(form)
        if without is None:
            return self._bound(form, upper, facts)
        texts = []
        for same in (without, form):
            with suppress(Unbounded):
                texts.append(self._bound(same, upper, facts))
        if not texts:
            raise Unbounded
        return _tightest(texts, upper)

    def without_products(self, form: Form) -> Form | None:
        """The same number, if its products cancel out once they are multiplied out.

        So they do where a flag chooses: `f * x + (1 - f) * (x + 1)` is `x + 1 - f`.
        """
        products = [t for t in form.terms if self.symbols[t[0]].factors is not None]
        if len(products) < 2:
            return None
        rest = Form(tuple(t for t in form.terms if t not in products), form.constant)
        squares: dict[tuple[int, int], int] = {}
        for number, times in products:
            x, y = self.symbols[number].factors or (Form(), Form())
            rest += Form(x.terms).times(y.constant * times) + y.times(x.constant * times)
            for one, factor in x.terms:
                for other, by in y.terms:
                    pair = min(one, other), max(one, other)
                    squares[pair] = squares.get(pair, 0) + factor * by * times
        return rest if not any(squares.values()) else None

    def _bound(self, form: Form, upper: bool, facts: Sequence[Form]) -> str:
        latest = self.latest(form)
        if latest is None:
            text = self.text(form)
            return _tightest([text, *self._texts_by_facts(form, upper, facts)], upper)
        number, factor = latest
        high = upper == (factor > 0)
        rest = Form(tuple(t for t in form.terms if t is not latest), form.constant)

        def text_of(end: Form) -> str:
            if any(s >= number and self.symbols[s].text is None for s, _ in end.terms):
                raise Unbounded
            return self._bound(rest + end.times(factor), upper, facts)

        own, is_widest = self._own_ends(number, high)
        others = self.ends_by_facts(number, high, facts) if facts else []
        if len(own) == 1 and not others:
            return text_of(own[0])
        texts = []
        if own and is_widest:
            with suppress(Unbounded):
                ends = _tightest_forms(own, not high)
                texts.append(_tightest([text_of(end) for end in ends], not upper))
            own = []
        for end in _tightest_forms([*own, *others], high):
            with suppress(Unbounded):
                texts.append(text_of(end))
        if not texts:
            raise Unbounded
        return _tightest(texts, upper)

    def _own_ends(self, number: int, high: bool) -> tuple[Sequence[Form], bool]:
        symbol = self.symbols[number]
        bounds, is_widest = symbol.bounds(high)
        if not callable(bounds):
            return bounds, is_widest
        if symbol.busy or self.steps >= MOST_STEPS:
            return (), False
        self.steps += 1
        symbol.busy = True
        try:
            return bounds(), is_widest
        except Unbounded:
            return (), False
        finally:
            symbol.busy = False

    def _texts_by_facts(self, form: Form, upper: bool, facts: Sequence[Form]) -> list[str]:
        """Bounds of a known form: with a multiple of a fact, a symbol of it is gone."""
        if not facts or not form.terms:
            return []
        factors, found = dict(form.terms), []
        for fact in facts:
            if self.latest(fact) is not None:
                continue
            symbol, factor = fact.terms[-1]
            times, left = divmod(factors.get(symbol, 0), factor)
            if left == 0 and (times < 0 if upper else times > 0):
                found.append(self.text(form - fact.times(times)))
        return found


def _tightest(texts: Sequence[str], upper: bool) -> str:
    """Of bounds that all hold."""
    if len(texts) > 1:
        texts = list(dict.fromkeys(texts))
    return texts[0] if len(texts) == 1 else f"{'min' if upper else 'max'}({','.join(texts)})"


def _tightest_forms(ends: Sequence[Form], upper: bool) -> list[Form]:
    """Without those that are looser by a constant."""
    constants: dict[Any, int] = {}
    better = min if upper else max
    for end in ends:
        constants[end.terms] = better(end.constant, constants.get(end.terms, end.constant))
    return [Form(terms, constant) for terms, constant in constants.items()]
