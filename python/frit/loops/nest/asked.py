"""asked.py: what a translation has asked about the extents and ints of its call."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from frit import _core

Signs = tuple[int, int]
Kept = tuple[list[tuple[str, bool]], list[tuple[tuple[str, str], Signs | None]]]


def count_of(start: float, stop: float, step: float) -> int:
    """How many numbers np.arange() gives; ValueError: nobody knows."""
    return max(0, math.ceil((float(stop) - float(start)) / float(step)))


def sum_of_rounds(begin: int, end: int, factor: int, rest: int) -> int:
    """The rounds of a loop of factor * i + rest of them (none below 0), for i from begin to end."""
    if factor > 0:
        begin = max(begin, -rest // factor + 1)
    else:
        end = min(end, (rest - 1) // -factor + 1)
    count = max(0, end - begin)
    return factor * (count * (begin + end - 1) // 2) + rest * count


FUNCTIONS = {"count_of": count_of, "sum_of_rounds": sum_of_rounds}


class Asked:
    """Signs of bounds, whose texts are over the guard's names; lines: what those are (guard.py).

    Only signs: a loop around the nest has other numbers at each call, and the same answers.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        self.space: dict[str, Any] = {f"v{k}": v for k, v in enumerate(values)}
        self.long_texts: dict[str, str] = {}  # their names, in all translations of this call
        self.lines: dict[str, bool] = {}  # whether it could be run
        self.answers: dict[tuple[str, str], Signs | None] = {}

    def signs(self, bounds: tuple[str, str], lines: Iterable[str]) -> Signs | None:
        """None: there are no such numbers: nothing comes here, or a text divides by 0."""
        if bounds not in self.answers:
            is_known = all(self.run(line) for line in lines)
            self.answers[bounds] = self.evaluate(bounds) if is_known else None
        return self.answers[bounds]

    def holds(self, condition: str, lines: Iterable[str]) -> bool:
        return self.signs((condition, condition), lines) == (1, 1)

    def run(self, line: str) -> bool:
        """What stands behind a line that cannot be run may need its name: it isn't asked."""
        if line not in self.lines:
            try:
                exec(line, {"index_range": _core.index_range, **FUNCTIONS}, self.space)
            except (ValueError, ArithmeticError, MemoryError):  # no elements, or it divides by 0
                self.lines[line] = False
            else:
                self.lines[line] = True
        return self.lines[line]

    def evaluate(self, bounds: tuple[str, str]) -> Signs | None:
        try:
            least, most = (eval(text, FUNCTIONS, self.space) for text in bounds)
        except (ValueError, ArithmeticError, MemoryError, NameError):  # of a line that wasn't run
            return None
        return (_sign(least), _sign(most)) if least <= most else None

    def as_kept(self) -> Kept:
        return [*self.lines.items()], [*self.answers.items()]


def is_same_call(values: Iterable[Any], kept: Kept) -> bool:
    """Whether a call with these values gives the same answers."""
    lines, answers = kept
    asked = Asked(values)
    return all(asked.run(line) == could_be for line, could_be in lines) and all(
        asked.evaluate(bounds) == signs for bounds, signs in answers
    )


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
