"""guard.py: what must hold at a call before a nest stores anything, as a function of its values.

Conditions are texts over the values (`v0`), extents of arrays (`e0_1`), and the least and largest
elements of arrays of indices (`m0_lo`).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from frit.loops.nest.asked import Asked
from frit.loops.nest.forms import ARGUMENT, Form, Forms, Unbounded
from frit.loops.nest.translation import guard_of
from frit.loops.nest.values import Again, Refused, kinds_in
from frit.loops.run.list_runs import ListFacts

_NO_NAMES = str.maketrans(dict.fromkeys("+-*/%()[],:.<=>!", " "))


def names_in(text: str) -> set[str]:
    """Of a condition, with its words. (A regular expression would first be compiled.)"""
    return {name for name in text.translate(_NO_NAMES).split() if not name[0].isdigit()}


def scanned_in(text: str) -> list[tuple[int, int]]:
    """Arrays whose least and largest elements the condition names, and which part (-1: all)."""
    return scanned_of(names_in(text)) if "_lo" in text or "_hi" in text else []


def scanned_of(names: Iterable[str]) -> list[tuple[int, int]]:
    found = set()
    for name in names:
        if name[0] == "m" and name[1:2].isdigit():
            array, _, part = name[1:-3].partition("w")
            found.add((int(array), int(part) if part else -1))
    return sorted(found)


class Guards:
    """Mixed into NestWriter."""

    inputs: Any
    knowledge: Any
    forms: Forms
    conditions: list[Callable[[], list[str]]]
    divisors: dict[int, tuple[int, int]]  # of conditions: where the number divides
    variables: dict[int, set[str]]  # of conditions: those that the number is made of
    symbol_of: dict[int, str]
    boundless: set[str]
    endless: set[str]
    written: set[int]
    hold_rows_if: Any
    kept_rows: set[int]
    has_signature: bool
    asked: Asked
    read_parts: dict[tuple[int, str, str], int]  # of arrays of indices: their first and last place
    capacities: dict[int, list[Callable[[], str]]]

    def require(self, form: Form, least: int | str | None, most: int | str | None) -> None:
        """The guard asks for least <= form <= most, as far as the nest gets here."""
        facts = self.forms.facts
        symbols = (symbol for symbol, _ in form.terms)
        if names := {self.symbol_of[symbol] for symbol in symbols if symbol in self.symbol_of}:
            self.variables[len(self.conditions)] = names

        def texts() -> list[str]:
            found = []
            if least is not None:
                found.append(f"{least} <= {self.forms.least(form, facts)}")
            if most is not None:
                found.append(f"{self.forms.most(form, facts)} <= {most}")
            return found

        self.conditions.append(texts)

    def require_rounds(self, loops: Sequence[tuple[Form, Form]]) -> None:
        for begin, end in loops:
            self.require(end - begin, 1, None)

    def require_text(self, text: str) -> None:
        self.conditions.append(lambda: [text])

    def signs_now(self, form: Form) -> tuple[int, int] | None:
        """Those of the form's bounds at this call, as far as they are known yet."""
        try:
            texts = self.forms.least(form), self.forms.most(form)
        except Unbounded:
            return None
        return self.asked.signs(texts, self.prelude(" ".join(texts)))

    def is_within_now(self, form: Form, least: int, most: int) -> bool:
        """Whether its bounds at this call are known, and within these."""
        low, high = (self.signs_now(form - Form((), end)) for end in (least, most))
        return low is not None and high is not None and low[0] >= 0 >= high[1]

    def holds_now(self, texts: Sequence[str]) -> bool:
        """Whether these conditions hold at this call."""
        every = " and ".join(texts) or "True"
        return self.asked.holds(every, self.prelude(every))

    def prelude(self, text: str) -> list[str]:
        """What the names in the text are."""
        lines = []
        used = names_in(self.in_full(text))
        scanned = scanned_of(used)
        parts = [place for place, part in self.read_parts.items() if (place[0], part) in scanned]
        for name in sorted(used.union(*(names_in(x) for part in parts for x in part[1:]))):
            if name[0] == "e" and name[1:2].isdigit():
                array, _, axis = name[1:].partition("_")
                lines.append(f"{name} = v{array}.shape[{axis}]")
        for array in (array for array, part in scanned if part < 0):
            lines.append(f"m{array}_lo, m{array}_hi = index_range(v{array})")
        for array, first, last in parts:
            name = f"m{array}w{self.read_parts[array, first, last]}"
            part = f"v{array}[max({first}, 0):{last} + 1]"
            lines.append(f"{name}_lo, {name}_hi = index_range({part})")
        lines += [
            f"{name} = {long}" for long, name in self.forms.long_texts.items() if name in used
        ]
        return lines

    def in_full(self, text: str) -> str:
        """With the long texts that it names, and that those name."""
        if not self.forms.long_texts:
            return text
        found, due = [text], names_in(text)
        for long, name in reversed(self.forms.long_texts.items()):  # one names those before it
            if name in due:
                found.append(long)
                due |= names_in(long)
        return " ".join(found)

    def note_parts(self, texts: Sequence[str]) -> None:
        """Of indices that do not hold at this call, those that are read may: without the last."""
        for text in texts:
            scanned = scanned_in(self.in_full(text))
            whole = {self.inputs.names[array] for array, part in scanned if part < 0}
            if whole - self.knowledge.parted and not self.holds_now([text]):
                self.knowledge.parted |= whole
                raise Again

    def make_guard(self) -> types.FunctionType:
        texts: list[str] = []
        beyond: set[str] = set()
        doubted: set[tuple[int, int]] = set()
        try:
            for number, condition in enumerate(self.conditions):
                self.endless.clear()
                found = condition()
                if number in self.divisors and not self.holds_now(found):
                    doubted.add(self.divisors[number])
                if number in self.variables and not beyond and not self.holds_now(found):
                    beyond |= self.variables[number]
                may_be_beyond = self.endless - self.knowledge.loose and not beyond
                if may_be_beyond and not self.holds_now(found):
                    beyond |= self.endless
                texts += found
            for known in sorted(self.forms.assumed):
                texts.append(f"{-ARGUMENT} <= {known} <= {ARGUMENT}")
        except Unbounded:
            without_bounds = self.boundless | self.endless
            if without_bounds - self.knowledge.loose:
                self.knowledge.loose |= without_bounds
                raise Again from None
            raise Refused(
                None, "an integer may become large, or an index may be anything"
            ) from None
        if beyond - self.knowledge.loose:  # their bounds are those of all the rounds of a while
            self.knowledge.loose |= beyond
            raise Again
        if doubted:
            self.knowledge.doubted |= doubted
            raise Again
        kept = []
        for text in dict.fromkeys(texts):
            if not names_in(text):
                if not eval(text):
                    raise Refused(None, f"it is not certain that {text}")
                continue
            kept.append(text)
        self.note_parts(kept)
        every = self.in_full(" ".join(kept))
        self.has_signature = all(map(self.is_in_signature, names_in(every)))
        for array in dict.fromkeys(array for array, _ in scanned_in(every)):
            if array in self.written:
                self.knowledge.unscanned.add(self.inputs.names[array])
                raise Again
            kept[:0] = [f"not overlap(v{array}, v{w})" for w in sorted(self.written)]
        for array in sorted(self.kept_rows):
            self.hold_rows_if(array in self.written)
            if array in self.written:
                raise Refused(None, "a row is computed from an array that the loop writes")
            kept[:0] = [f"not overlap(v{array}, v{w})" for w in sorted(self.written)]
        self.has_signature &= not any(text.startswith("not overlap") for text in kept)
        arguments = ", ".join(f"v{k}" for k in range(len(self.inputs.names)))
        prelude = self.prelude(every)
        words = "\n".join(prelude) + "\n\n" + "\n".join(kept)  # reasons.py reads it
        lines = [f"def guard({arguments}):", f"    {words!r}", *(f"    {x}" for x in prelude)]
        lines.append("    return " + (" and ".join(kept) or "True"))
        made = compile("\n".join(lines), "<guard>", "exec", dont_inherit=True)
        return guard_of(made.co_consts[0])

    def make_capacities(self, lists: Sequence[ListFacts]) -> types.FunctionType | None:
        """A function of the call's values: how long each list may get that is appended to."""
        grown = [fact.number for fact in lists if fact.count >= 0]
        if not grown:
            return None
        try:
            texts = [f"max(0,{','.join(t() for t in self.capacities[n])})" for n in grown]
        except Unbounded:
            raise Refused(None, "nobody knows how long a list will get") from None
        arguments = ", ".join(f"v{k}" for k in range(len(self.inputs.names)))
        lines = [f"def guard({arguments}):", *(f"    {x}" for x in self.prelude(" ".join(texts)))]
        lines.append(f"    return ({', '.join(texts)},)")
        made = compile("\n".join(lines), "<guard>", "exec", dont_inherit=True)
        return guard_of(made.co_consts[0])

    def is_in_signature(self, name: str) -> bool:
        """Whether it is an extent or a Python int: or a word of the guard's."""
        kind, number = name[0], name[1:]
        if kind == "v" and number.isdigit():
            return kinds_in(self.inputs.key)[int(number)] == "I"
        if kind == "x" and number.isdigit():  # a long text, whose own names are asked for, too
            return True
        if name in ("min", "max", "and", "sum_of_rounds"):
            return True
        return kind == "e" and number.replace("_", "").isdigit()
