"""test_method_fuzz.py: random classes, whose loops call their methods, do what Python does.

FRIT_FUZZ_PROGRAMS: how many, 5,000 at most; FRIT_FUZZ_SEED: the first one. A failure prints the
class.
"""

from __future__ import annotations

import os
import random
import warnings

import numpy as np

import frit

from .fuzz import same
from .written import space_of

PROGRAMS = min(int(os.environ.get("FRIT_FUZZ_PROGRAMS", "100")), 5_000)
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "0"))
ARRAYS, INDICES, NUMBERS = ["a", "b", "w"], ["places", "counts"], ["k", "s", "n", "limit"]


class Writer:
    """The text of a class: methods and properties, each may call those before it, and a loop."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.methods: list[
            tuple[str, int | None]
        ] = []  # a name, and how many arguments; a property
        lines = ["class C:"]
        for number in range(self.one_of([1, 2, 3])):
            name = self.one_of(["f", "__private"]) + str(number)
            count = self.one_of([None, 1, 1, 2])
            lines += self.method(name, count)
            self.methods.append((name, count))
        self.text = "\n".join([*lines, *self.loop(), ""])

    def one_of(self, what):
        return self.random.choice(what)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def method(self, name: str, count: int | None) -> list[str]:
        names = ["p", "q"][: count or 0]
        lines = [f"    def {name}({', '.join(['self', *names])}):"]
        if count is None:
            lines.insert(0, "    @property")
        names = names or ["1"]
        if self.chance(0.4):
            lines += [f"        if {self.test(names)}:", f"            return {self.value(names)}"]
        if self.chance(0.3):
            inner = self.value([*names, "r"], 1)
            lines += [
                "        z = 0.0",
                "        for r in range(3):",
                f"            z = z + {inner}",
            ]
            names = [*names, "z"]
        if self.chance(0.3):
            more = f"self.{self.one_of(['s', 'a[0]', 'k'])} += 1"
            lines += ["        " + self.one_of([more, more, f"self.s = {self.value(names)}"])]
        return [*lines, f"        return {self.value(names)}"]

    def loop(self) -> list[str]:
        rounds = self.one_of(["self.n", "1, self.n - 1", "len(self.a)"])
        lines = ["    def go(self):", "        t = 0.0", f"        for i in range({rounds}):"]
        names, indent = ["i", "t"], " " * 12
        if self.chance(0.4):
            lines.append(f"{indent}for j in range(self.k % 5 + 2):")  # rounds may add to k
            names, indent = ["i", "t", "j"], " " * 16
        for _ in range(self.one_of([1, 2, 3])):
            if self.chance(0.25):
                lines.append(f"{indent}if {self.test(names)}:")
                lines.append(f"{indent}    {self.store(names)}")
            else:
                lines.append(indent + self.store(names))
        return [*lines, "        return t"]

    def store(self, names: list[str]) -> str:
        number = f"self.{self.one_of([*ARRAYS, *INDICES])}[{self.index(names)}]"
        target = self.one_of([number, number, f"self.m[{self.index(names)}, 1]", "self.s", "t"])
        return f"{target} {self.one_of(['=', '+='])} {self.value(names)}"

    def test(self, names: list[str]) -> str:
        compared = self.one_of(["<", ">", "==", "!=", "<="])
        return f"{self.value(names, 1)} {compared} {self.value(names, 1)}"

    def index(self, names: list[str]) -> str:
        known = [name for name in names if name in "ijr"] or ["0"]
        index = self.one_of(known)
        return self.one_of([index, index, index, f"{index} - 1", "0", "-1", "self.k"])

    def value(self, names: list[str], depth: int = 2) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.25:
            numbers = ["0", "2", "-1", "0.5", f"self.{self.one_of(NUMBERS)}"]
            element = f"self.{self.one_of([*ARRAYS, *INDICES])}[{self.index(names)}]"
            return self.one_of([*names, *numbers, element, element])
        if kind < 0.65:
            x, y = self.value(names, depth - 1), self.value(names, depth - 1)
            return f"({x} {self.one_of('+-*+-*/')} {y})"
        if kind < 0.85 and self.methods:
            name, count = self.one_of(self.methods)
            if count is None:
                return f"self.{name}"
            return f"self.{name}({', '.join(self.value(names, depth - 1) for _ in range(count))})"
        if kind < 0.95:
            x, y = self.value(names, depth - 1), self.value(names, depth - 1)
            return f"({x} if {self.test(names) if depth > 1 else x} else {y})"
        return f"abs({self.value(names, depth - 1)})"


def made(kind: type, seed: int):
    numbers = np.random.default_rng(seed)
    one = kind()
    one.n, one.k, one.limit = 9, int(numbers.integers(0, 4)), 0.5
    one.s = (0, 0.0, 1.5)[seed % 3]
    one.a = numbers.random(9) * 4 - 2
    one.b = np.zeros(9, np.float32) if seed % 7 == 0 else numbers.random(9)
    one.w = one.a[::-1] if seed % 5 == 0 else numbers.random(9)
    one.places, one.counts = numbers.integers(0, 9, 9), np.zeros(9, int)
    one.m = numbers.random((9, 9))
    return one


def outcome(function, one):
    try:
        result = function(one)
    except Exception as error:
        result = [type(error).__name__, str(error)]
    return [result, [*vars(one)], [*vars(one).values()]]


def alike(x, y) -> bool:
    """Sums are added in another order."""
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(alike, x, y))
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return x.dtype == y.dtype and np.allclose(x, y, rtol=1e-12, atol=1e-12, equal_nan=True)
    return same(x, y)


def test_random_classes_do_what_python_does():
    taken = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in range(FIRST, FIRST + PROGRAMS):
            text, file = Writer(seed).text, f"<class {seed}>"
            space = space_of(text, file)
            plain, given = made(space["C"], seed), made(space["C"], seed)
            ours = frit.parallelize(space["C"].go)
            for _ in range(2):
                expected, got = outcome(space["C"].go, plain), outcome(ours, given)
                if not alike(expected, got):
                    raise AssertionError(f"seed {seed}:\n{text}\n{expected}\n{got}")
            taken += any(site.calls for site in ours.__frit__.sites)
    assert taken > PROGRAMS // 5
