"""forms.py: what is known of Python's integers before a nest runs: sums of symbols, with bounds.

A symbol stands for a number of the call (an argument, an extent: *known*, an expression of the
guard), for a loop's index, or for something whose bounds alone are known. The least and the largest
value of a form come by putting in the bounds of the symbols, the latest first: that is exact where
a bound names the index of an outer loop, as in a triangular nest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from frit.translate.record import record

LARGEST = 2**62  # what an integer of a nest may reach
ARGUMENT = 2**40  # what an integer argument may reach, where that matters: the guard asks


class Unbounded(Exception):
    """Nothing is known of a number."""


@record(frozen=True)
class Form:
    """The sum of terms (symbol number, coefficient) and a constant."""

    terms: tuple[tuple[int, int], ...] = ()
    constant: int = 0

    def __add__(self, other: Form) -> Form:
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
    busy: bool = False


class Forms:
    """The symbols of a nest."""

    def __init__(self) -> None:
        self.symbols: list[Symbol] = []
        self.known: dict[str, Form] = {}
        self.assumed: set[str] = set()  # known ones that are taken to be within ARGUMENT

    def symbol(self, symbol: Symbol) -> Form:
        self.symbols.append(symbol)
        return Form(((len(self.symbols) - 1, 1),))

    def of_text(self, text: str, reach: int | None = ARGUMENT) -> Form:
        """A number that the guard can compute."""
        if text not in self.known:
            self.known[text] = self.symbol(Symbol(text=text, reach=reach))
        return self.known[text]

    def between(self, low: Form | int, high: Form | int) -> Form:
        low, high = (Form((), x) if isinstance(x, int) else x for x in (low, high))
        return self.symbol(Symbol(low=[low], high=[high]))

    def is_known(self, form: Form) -> bool:
        return all(self.symbols[s].text is not None for s, _ in form.terms)

    def text(self, form: Form) -> str:
        parts = [f"{f}*{self.symbols[s].text}" for s, f in form.terms]
        return "(" + "+".join([*parts, str(form.constant)]).replace("+-", "-") + ")"

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

        def corners() -> list[Form]:
            ends = [
                self.of_text(f"({a}*{b})", None)
                for a in (self.least(x), self.most(x))
                for b in (self.least(y), self.most(y))
            ]
            return ends

        made = Symbol(low=corners, high=corners, widest_low=True, widest_high=True)
        return self.symbol(made)

    def divided(self, x: Form, divisor: Form) -> Form:
        """x // divisor, of a divisor above 0."""
        if self.is_known(x) and self.is_known(divisor):
            return self.of_text(f"({self.text(x)}//{self.text(divisor)})", self.reach(x))

        def ends() -> list[Form]:
            return [
                self.of_text(f"({a}//{b})", None)
                for a in (self.least(x), self.most(x))
                for b in (self.least(divisor), self.most(divisor))
            ]

        made = Symbol(low=ends, high=ends, widest_low=True, widest_high=True)
        made.reach = self.reach(x)
        return self.symbol(made)

    def shifted(self, x: Form, by: Form, sign: str) -> Form:
        """x << by or x >> by, of a `by` not below 0."""
        if self.is_known(x) and self.is_known(by):
            return self.of_text(f"({self.text(x)}{sign}{self.text(by)})", None)

        def ends() -> list[Form]:
            return [
                self.of_text(f"({a}{sign}{b})", None)
                for a in (self.least(x), self.most(x))
                for b in (self.least(by), self.most(by))
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

    # ---- bounds: texts of the guard -------------------------------------------------------------

    def least(self, form: Form) -> str:
        return self._bound(form, False)

    def most(self, form: Form) -> str:
        return self._bound(form, True)

    def _bound(self, form: Form, upper: bool) -> str:
        unknown = [(s, f) for s, f in form.terms if self.symbols[s].text is None]
        if not unknown:
            return self.text(form)
        number, factor = max(unknown)
        symbol = self.symbols[number]
        if symbol.busy:
            raise Unbounded
        high = upper == (factor > 0)
        symbol.busy = True
        try:
            bounds = symbol.high if high else symbol.low
            ends = bounds() if callable(bounds) else bounds
        finally:
            symbol.busy = False
        if not ends:
            raise Unbounded
        rest = Form(tuple(t for t in form.terms if t[0] != number), form.constant)
        texts = []
        widest = symbol.widest_high if high else symbol.widest_low
        for end in dict.fromkeys(ends):
            try:
                if any(s >= number and self.symbols[s].text is None for s, _ in end.terms):
                    raise Unbounded
                texts.append(self._bound(rest + end.times(factor), upper))
            except Unbounded:
                if widest:
                    raise  # else the other bounds hold too
        texts = list(dict.fromkeys(texts))
        if not texts:
            raise Unbounded
        if len(texts) == 1:
            return texts[0]
        return f"{'max' if upper == widest else 'min'}({','.join(texts)})"
