"""traits.py: what a binding asks of a nest's text; kept with it, so that no tree need be read."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import add, mul
from weakref import WeakKeyDictionary

from frit.loops.run.methods import PlainMethod
from frit.translate.record import field, record, values_of

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
OF_ARRAYS_WORTH = 2.0  # times that, of a nest that makes arrays: it is written out by elements
KEPT_WORTH = 1e-3  # the same for a nest that an earlier process has translated
IN_VAIN_WORTH = 10.0  # times that, of one that it could not translate
# Nanoseconds of an instruction of CPython's, and of a call beside those; and how often a loop in a
# function goes round, of which nothing is known.
_INSTRUCTION, _CALL, _ROUNDS = 10.0, 40.0, 24
# What is done to a stack of numbers (loop_guess.h says what), and with what.
Step = tuple[str, float]


@record
class Guess:
    """Nanoseconds of a nest. steps: a program; names: what it reads, by number.

    calls: steps ("k", n) are what the call n takes; its name, and that if it is no function of the
    program.
    """

    steps: list[Step] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    calls: list[tuple[str, float]] = field(default_factory=list)
    makes_arrays: bool = False  # of a few numbers, which a translation writes out
    ends_early: bool = False  # by a break or return, if that comes: it may take less

    def priced(self, value_of: Callable[[str], Any], rounds: int = _ROUNDS) -> Guess:
        """With numbers for calls. rounds: of the loops in these."""
        if not self.calls:
            return self
        functions = [function_of(path, value_of) for path, _ in self.calls]
        makes_arrays = any(map(_makes_arrays, functions))
        scale = _OF_ARRAYS if makes_arrays else 1.0
        prices = [
            scale * price_of(f, rounds) if f is not None else default
            for f, (_, default) in zip(functions, self.calls, strict=True)
        ]
        steps = [("c", prices[int(n)]) if word == "k" else (word, n) for word, n in self.steps]
        makes_arrays = makes_arrays or self.makes_arrays
        return Guess(folded(steps), self.names, [], makes_arrays, self.ends_early)

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


_MOST_CALLS = 4  # in one another
# Functions that make arrays, in what is called with their results too: instructions take as many
# times as long, about, since these are small arrays, or large ones that take longer still.
_OF_ARRAYS = 5.0
# What makes arrays of numbers that stand there.
MAKERS = frozenset(
    "array asarray zeros ones empty zeros_like ones_like full concatenate hstack cross".split()
)


def function_of(path: str, value_of: Callable[[str], Any]) -> types.FunctionType | None:
    """One of the program's functions or methods; None: it is none."""
    first, *names = path.split(".")
    value = value_of(first)
    for name in names:
        if isinstance(value, types.ModuleType):
            value = vars(value).get(name)
        else:
            value = _of_type(value, name)
    return _plain(value)


def _of_type(value: Any, name: str) -> Any:
    found = (vars(c).get(name) for c in type(value).__mro__)
    return next((x for x in found if x is not None), None)


def _plain(value: Any) -> types.FunctionType | None:
    """What a call of the value calls."""
    if isinstance(value, (staticmethod, types.MethodType)):
        value = value.__func__
    elif isinstance(value, PlainMethod):
        value = value.function
    elif isinstance(value, partial):
        return _plain(value.func)
    elif not isinstance(value, (types.FunctionType, type)):
        value = _of_type(value, "__call__")
    return value if isinstance(value, types.FunctionType) else None


def price_of(function: types.FunctionType, rounds: int = _ROUNDS) -> float:
    """Nanoseconds of a call."""
    return _price_of_code(function, rounds, 0, {})


def _makes_arrays(function: types.FunctionType | None) -> bool:
    return function is not None and not MAKERS.isdisjoint(function.__code__.co_names)


def makes_arrays(callees: Iterable[str], value_of: Callable[[str], Any]) -> bool:
    """Whether a nest makes small arrays, as far as what it calls shows that."""
    if any(path.rpartition(".")[2] in MAKERS for path in callees):
        return True
    return any(_makes_arrays(function_of(path, value_of)) for path in callees)


_own_prices: WeakKeyDictionary[types.CodeType, dict[int, float]] = WeakKeyDictionary()


def _own_price(code: types.CodeType, rounds: int) -> float:
    """Without that of the functions it calls."""
    from opcode import opmap, opname

    known = _own_prices.setdefault(code, {})
    if rounds not in known:
        text, cache = code.co_code, opmap.get("CACHE", 0)
        weights = [1] * (len(text) // 2)
        for at in range(0, len(text), 2):
            if "JUMP_BACKWARD" in opname[text[at]]:
                begin = max(0, at // 2 + 1 - text[at + 1])
                weights[begin : at // 2] = [rounds * x for x in weights[begin : at // 2]]
        count = sum(w for k, w in enumerate(weights) if text[2 * k] != cache)
        known[rounds] = count * _INSTRUCTION + _CALL
    return known[rounds]


def _price_of_code(
    function: types.FunctionType,
    rounds: int,
    depth: int,
    known: dict[tuple[types.CodeType, int], float],
) -> float:
    """known: functions that call one another are met again and again."""
    code = function.__code__
    if (code, depth) not in known:
        total = _own_price(code, rounds)
        if depth < _MOST_CALLS:
            space = function.__globals__
            called = (space.get(name) for name in code.co_names)
            others = (f for f in called if isinstance(f, types.FunctionType) and f is not function)
            total += sum(_price_of_code(f, rounds, depth + 1, known) for f in others)
        known[code, depth] = total
    return known[code, depth]


_FOLDED: dict[str, Callable[[float, float], float]] = {"+": add, "*": mul}


def folded(steps: Sequence[Step]) -> list[Step]:
    """The same with fewer of them."""
    made: list[Step] = []
    for word, number in steps:
        before = [w for w, _ in made[-2:]]
        if word in _FOLDED and before == ["c", "c"]:
            made[-2:] = [("c", _FOLDED[word](made[-2][1], made[-1][1]))]
        elif word == "r" and [w for w, _ in made[-3:]] == ["c", "c", "c"]:
            ends = [int(n) for _, n in made[-3:]]
            if ends[2] == 0:
                raise ZeroDivisionError  # range() refuses it
            made[-3:] = [("c", len(range(*ends)))]
        elif (
            word == "r" and made[-1] == ("c", 1) and made[-3:-2] == [("c", 0)] and before[0] != "c"
        ):
            made[-3:] = [made[-2], ("l", 0)]
        else:
            made.append((word, number))
    return made


@record
class Traits:
    owners: list[str]  # variables that are only there for their attributes
    attributes: list[str]  # names behind a dot
    callees: list[str]  # what it calls, where that is a name or stands behind dots
    guess: Guess | None  # where all of its variables are arrays and numbers
    early: Guess | None  # where owners are objects: by names with dots, before these are looked at
    has_computed_bounds: bool  # of the outermost loop, by calls
    texts: list[str]  # variables that are only compared with texts
    nones: list[str]  # variables that are compared with None
    assigned: list[str]
    plain: list[str]  # those that are assigned by `name = ..` alone


def traits_of(node: ast.For | ast.While, variables: Iterable[str]) -> Traits:
    import ast

    from frit.loops.names import assigned_names, callees_of, nodes_in
    from frit.loops.run.attributes import uses_of
    from frit.loops.run.nones import plainly_assigned
    from frit.loops.run.texts import compared_names, names_that_may_be_none
    from frit.loops.run.work import FUNCTIONS, guess_of

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
    over = node.iter if isinstance(node, ast.For) else None
    bounds = over.args if isinstance(over, ast.Call) else []
    has_calls = any(isinstance(part, ast.Call) for part in nodes_in(bounds))
    texts, nones = sorted(compared_names(nodes)), sorted(names_that_may_be_none(nodes))
    names = sorted(owners), sorted(attributes), callees_of(nodes)
    assigned, plain = sorted(assigned_names([node])), sorted(plainly_assigned(nodes))
    return Traits(*names, guess, early, has_calls, texts, nones, assigned, plain)


def as_row(traits: Traits) -> tuple[Any, ...]:
    """What marshal can write."""
    found = traits.guess, traits.early
    guesses = [values_of(g) if g is not None else None for g in found]
    names = traits.owners, traits.attributes, traits.callees
    chosen = traits.texts, traits.nones, traits.assigned, traits.plain
    return *names, *guesses, traits.has_computed_bounds, *chosen


def from_row(row: tuple[Any, ...]) -> Traits:
    owners, attributes, callees, guess, early, has_computed_bounds, *chosen = row
    guesses = [Guess(*g) if g is not None else None for g in (guess, early)]
    return Traits(owners, attributes, callees, *guesses, has_computed_bounds, *chosen)
