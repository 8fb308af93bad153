"""traits.py: what a binding asks of a nest's text; kept with it, so that no tree need be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from frit.translate.record import field, record

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast
    from typing import Any

# Seconds as Python: less is left alone, as a compiled call costs as much.
SHORT = 1e-6
# Seconds that are lost as Python before a nest that nobody asked for is translated: about what a
# translation takes; and as many times that before the first of a process, which loads modules and
# mostly LLVM: some 55 ms of CPU time.
WORTH, FIRST_WORTH = 10e-3, 6.0
KEPT_WORTH = 1e-3  # the same for a nest that an earlier process has translated
# What is done to a stack of numbers (loop_guess.h says what), and with what.
Step = tuple[str, float]


@record
class Guess:
    """Nanoseconds of a nest. steps: a program; names: what it reads, by number."""

    steps: list[Step] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def seconds(self, value_of: Callable[[str], Any]) -> float:
        """What loop_guess.h computes, of numbers and lists; 0: who knows."""
        stack: list[float] = []
        try:
            for word, number in self.steps:
                if word == "c":
                    stack.append(number)
                elif word in _OPERATIONS:
                    count = _OPERATIONS[word].__code__.co_argcount
                    stack[-count:] = [_OPERATIONS[word](*stack[-count:])]
                else:
                    stack.append(_read(word, value_of(self.names[int(number)])))
        except (TypeError, ArithmeticError, IndexError, ValueError):
            return 0.0
        return max(stack[0] * 1e-9, 0.0) if len(stack) == 1 else 0.0

    def is_always_below(self, seconds: float) -> bool:
        """Whatever the names are."""
        return len(self.steps) == 1 and self.steps[0][1] < seconds * 1e9


def _read(word: str, value: Any) -> float:
    if word == "v":
        return float(value)
    for _ in range(int(word)):  # ValueError: an extent of arrays alone
        value = value[0]
    return len(value)


_OPERATIONS: dict[str, Callable[..., float]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "d": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "p": lambda x, y: float(x**y),
    "n": lambda x, y: min(x, y),
    "x": lambda x, y: max(x, y),
    "l": lambda x: max(x, 0.0),
    "i": lambda x: float(int(x)),
    "r": lambda begin, end, step: max(0.0, -((begin - end) // step)),
}


@record
class Traits:
    owners: list[str]  # variables that are only there for their attributes
    attributes: list[str]  # names behind a dot
    callees: list[str]  # what it calls, where that is a name or stands behind dots
    guess: Guess | None  # where all of its variables are arrays and numbers
    early: Guess | None  # where owners are objects: by names with dots, before these are looked at
    has_computed_bounds: bool  # of the outermost loop, by calls


def traits_of(node: ast.For, variables: Iterable[str]) -> Traits:
    import ast

    from frit.loops.attributes import uses_of
    from frit.loops.names import callees_of, nodes_in
    from frit.loops.work import FUNCTIONS, guess_of

    nodes = nodes_in([node])
    bases, others = uses_of(nodes)
    attributes = {part.attr for part in nodes if isinstance(part, ast.Attribute)}
    names = [name for name in variables if name not in FUNCTIONS]
    owners = bases - others
    guess = early = guess_of(node, names, owners)
    if early is not None and not {*early.names} <= {*names}:
        guess = guess_of(node, names)
    if not owners:
        early = None
    bounds = node.iter.args if isinstance(node.iter, ast.Call) else []
    has_calls = any(isinstance(part, ast.Call) for part in nodes_in(bounds))
    return Traits(sorted(owners), sorted(attributes), callees_of(nodes), guess, early, has_calls)


def as_row(traits: Traits) -> tuple[Any, ...]:
    """What marshal can write."""
    guesses = [(g.steps, g.names) if g is not None else None for g in (traits.guess, traits.early)]
    return traits.owners, traits.attributes, traits.callees, *guesses, traits.has_computed_bounds


def from_row(row: tuple[Any, ...]) -> Traits:
    *names, guess, early, has_computed_bounds = row
    guesses = [Guess(*g) if g is not None else None for g in (guess, early)]
    return Traits(*names, *guesses, has_computed_bounds)
