"""test_nest_fuzz.py: random nests of the forms that the planner knows, to the last bit.

Recurrences, statements that a loop may be cut or split into, reductions of variables and of
elements, products of matrices: of integers, of floats whose sums are exact, and (recurrences, which
add nothing up) of any floats; run as they are, and small ones as if they were large.

FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED: how many programs, and the first.
"""

from __future__ import annotations

import copy
import math
import os
import random
import warnings
from typing import Any

import numpy as np
import pytest

import frit
from frit import _activity
from frit.loops.find import implicit
from frit.loops.run import place

from .written import code_of, space_of

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "150"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
NAMES = ["a", "b", "c", "m", "w", "z", "idx", "n", "k", "s", "t", "p"]
pytestmark = pytest.mark.timeout(max(900, PROGRAMS))


class Writer:
    """The text of one or two nests, which are indented once."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 1
        forms = [self.recurrence, self.pieces, self.cut, self.product, self.elements, self.extremes]
        # Only what adds nothing up is exact for all floats.
        self.is_exact = self.chance(0.25)
        for _ in range(self.pick(1, 1, 2)):
            self.recurrence() if self.is_exact else self.pick(*forms)()
        self.text = "\n".join(self.lines) + "\n"

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def line(self, text: str, depth: int = 0) -> None:
        self.lines.append("    " * (self.depth + depth) + text)

    def loops(self, *ranges: str) -> None:
        for name, bounds in zip("ijl", ranges, strict=False):
            self.line(f"for {name} in range({bounds}):")
            self.depth += 1

    def moved(self, i: str, most: int) -> str:
        by = self.pick(0, 0, 0, *range(-most, most + 1))
        return i if by == 0 else f"{i} {'+' if by > 0 else '-'} {abs(by)}"

    def recurrence(self) -> None:
        """One or two loops; elements up to three away, and triangles."""
        first = self.pick("3, n - 3", "3, n - 3", "n - 4, 2, -1", "3, n - 3, 2", "k + 3, n - 3")
        inner = self.pick(
            "3, n - 3", "3, n - 3", "n - 4, 2, -1", "i, n - 3", "3, i + 1", "n - 4, i, -2"
        )
        is_one = self.chance(0.2)
        self.loops(first, *([] if is_one else [inner]))

        def element() -> str:
            i, j = self.moved("i", 3), self.moved("i" if is_one else "j", 3)
            if self.chance(0.1):
                i, j = self.pick((j, i), (i, i), (j, j), ("3", j), (i, "k"))
            return self.pick(f"m[{i}, {j}]", f"m[{i}, {j}]", f"w[{i}, {j}]", f"a[{i}]", f"b[{j}]")

        for _ in range(self.pick(1, 1, 2, 3)):
            value = f"{element()} {self.pick('+', '-', '*')} {element()}"
            value = self.pick(value, f"{value} - {element()}", f"max({element()}, {element()})")
            target = self.pick("m[i, i]" if is_one else "m[i, j]", element())
            # Without the element itself, which would make it a sum.
            statement = f"{target} = {value}"
            if target in value and self.is_exact:
                statement = f"{target} = {element()}"
            if self.chance(0.2):
                statement = f"if {element()} > {element()}: {statement}"
            elif self.chance(0.1):
                other = element()
                statement = f"{target}, {other} = {other}, {target}"
            self.line(statement)
        self.depth = 1

    def vector(self) -> str:
        i = self.moved("i", 2)
        index = self.pick(i, i, i, "0", "n - 1", "k", "n - 1 - i")
        return f"{self.pick('a', 'b', 'c')}[{index}]"

    def pieces(self) -> None:
        """Several statements, some of which another loop could do."""
        if self.chance(0.2):
            self.line("for r in range(k + 1):")
            self.depth += 1
        self.line(f"for i in range({self.pick('2, n - 2', '2, n - 2, 3', 'n - 3, 1, -1')}):")
        self.depth += 1
        known = ["i", "2"]
        for _ in range(self.pick(2, 3, 4, 5)):
            operand = lambda: self.pick(self.vector(), self.vector(), *known)  # noqa: E731
            value = f"{operand()} {self.pick('+', '-', '*')} {operand()}"
            kind = self.random.random()
            if kind < 0.5:
                self.line(f"{self.vector()} {self.pick('=', '=', '=', '+=')} {value}")
            elif kind < 0.6:
                self.line(f"p = {value}")
                known.append("p")
            elif kind < 0.7:
                self.line(self.pick(f"s += {self.vector()}", f"t = {self.vector()}"))
            elif kind < 0.85:
                self.line(f"if {self.vector()} > {operand()}:")
                self.line(f"{self.vector()} = {value}", 1)
            else:
                self.line(f"for j in range({self.pick('i', 'n', 'i, n', 'k')}):")
                inside = f"{self.vector()} += b[j]", f"b[j] = {self.vector()}"
                self.line(self.pick(*inside, f"m[i, j] = m[i - 1, j] + {self.vector()}"), 1)
        self.depth = 1

    def cut(self) -> None:
        """One round of a loop writes what the others read."""
        self.loops(self.pick("n", "1, n"), self.pick("n", "k, n"))
        index = lambda: self.pick("i", "j", "i", "j", "0", "n - 1", "k")  # noqa: E731
        element = lambda: self.pick(  # noqa: E731
            f"m[{index()}, {index()}]", f"w[{index()}, {index()}]", f"a[{index()}]"
        )
        for _ in range(self.pick(1, 1, 2)):
            target = self.pick("m[i, j]", "m[j, i]", "m[i, k]", "m[0, j]", "a[j]", "m[i, i]")
            self.line(
                self.pick(
                    f"{target} = {element()} - {element()}",
                    f"{target} += {element()} * {element()}",
                    f"if {self.pick('i != j', 'j > i', 'j != k')}: {target} = {element()}",
                    f"{target} = min({target}, {element()} + {element()})",
                )
            )
        self.depth = 1

    def product(self) -> None:
        order = self.pick("ijl", "ijl", "ilj", "lij", "jil")
        for number, name in enumerate(order):
            self.line(f"for {name} in range({self.pick('n', 'n', 'n', '1, n', 'n - 1')}):")
            self.depth += 1
            if number == 1 and order[2] == "l" and self.chance(0.4):
                self.line(f"z[i, j] = {self.pick('0', '0', 'a[i]')}")
        x, y = self.pick("m[i, l]", "m[l, i]", "m[n - 1 - i, l]"), self.pick("w[l, j]", "w[j, l]")
        target = self.pick("z[i, j]", "z[i, j]", "z[j, i]", "m[i, j]", "z[i, 0]")
        term = self.pick(f"{x} * {y}", f"{x} * {y}", f"k * {x} * {y}", f"{x} + {y}")
        self.line(f"{target} {self.pick('+=', '+=', '-=')} {term}")
        self.depth = 1

    def elements(self) -> None:
        """Sums and extremes in elements that the loop, or an array of integers, chooses."""
        self.loops(self.pick("n", "n - 1, -1, -1", "0, n, 2"), *self.pick((), ("n",), ("i",)))
        i, j = ("i", "j") if self.depth == 3 else ("i", "i")
        for _ in range(self.pick(1, 1, 2)):
            one = self.pick(
                f"a[idx[{i}]]", f"a[idx[{j}]]", f"a[{j}]", "a[i % 3]", "a[0]", "m[i, idx[i]]"
            )
            value = self.pick(f"c[{i}]", f"c[{j}]", "1", f"c[{j}] * b[i]", f"b[{j}]")
            statement = self.pick(
                f"{one} += {value}",
                f"{one} = {value} + {one}",
                f"{one} -= {value}",
                f"{one} = max({one}, {value})",
                f"{one} = {value}",
                f"if {value} < {one}: {one} = {value}",
            )
            if self.chance(0.2):
                statement = f"if c[{j}] > 0: {one} += {value}"
            self.line(statement)
        self.depth = 1

    def extremes(self) -> None:
        """Variables: sums, the best, where it is, the last of some, read in the loop or not."""
        self.line("s = t = c[0]")
        self.line("p = -1")
        self.loops(self.pick("n", "n - 1, -1, -1", "0, n, 2"), *self.pick((), ("n",), ("i",)))
        i = self.pick("i", "j") if self.depth == 3 else "i"
        for _ in range(self.pick(1, 2, 2, 3)):
            x, v = self.pick(f"a[{i}]", f"b[{i}]", f"m[i, {i}]"), self.pick("s", "t")
            kind = self.random.random()
            if kind < 0.4:
                self.line(f"if {x} {self.pick('<', '>', '<=', '>=')} {v}:")
                self.line(f"{v} = {x}", 1)
                for line in self.pick([], [f"p = {i}"], [f"p = {i}", "k = i + 1"], ["t = s"]):
                    self.line(line, 1)
            elif kind < 0.6:
                self.line(f"{v} = {self.pick('max', 'min')}({v}, {x})")
            elif kind < 0.75:
                self.line(f"{v} {self.pick('+=', '-=')} {x}")
            elif kind < 0.9:
                self.line(f"if {x} > 0:")
                self.line(self.pick(f"p = {i}", f"{v} += {x}", "k += 1"), 1)
            else:
                self.line(f"c[{i}] = {v}")
        self.depth = 1


def arguments(writer: Writer, seed: int, n: int) -> dict[str, Any]:
    """Arrays that may share memory."""
    chosen, numbers = random.Random(seed), np.random.default_rng(seed)
    dtype = chosen.choice(["f8", "f4"] if writer.is_exact else ["i8", "i8", "i4", "f8"])

    def array(*shape: int) -> np.ndarray:
        if writer.is_exact:
            values = numbers.standard_normal([2 * x for x in shape]).astype(dtype)
        else:
            values = numbers.integers(-1, 2, [2 * x for x in shape]).astype(dtype)
        cut = chosen.choice([slice(n), slice(n), slice(None, None, 2), slice(n - 1, None, -1)])
        return values[(cut,) * len(shape)][(slice(n),) * len(shape)]

    given: dict[str, Any] = {name: array(n) for name in "abc"}
    given |= {name: array(n, n) for name in "mwz"}
    if chosen.random() < 0.2:
        given["m"] = given["m"].T
    if chosen.random() < 0.2:
        given["b"] = chosen.choice([given["a"], given["a"][::-1], given["m"][0], given["m"][:, -1]])
    if chosen.random() < 0.2:
        given["w"] = chosen.choice([given["m"], given["m"].T, given["m"][::-1]])
    given |= {"idx": numbers.integers(0, n, n), "n": n, "k": chosen.choice([0, 1, 2, 3])}
    return given | {"s": 0, "t": 0, "p": 0}


def copied(given: dict[str, Any]) -> dict[str, Any]:
    """What shares memory still does."""
    bases: dict[int, np.ndarray] = {}
    made = dict(given)
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            base = value if value.base is None else value.base
            own = bases.setdefault(id(base), copy.deepcopy(base))
            place_in = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            made[name] = np.ndarray(value.shape, value.dtype, own, place_in, value.strides)
    return made


def outcome(run: Any, given: dict[str, Any]) -> list[Any]:
    """Types and values of all that is there behind it."""
    space = copied(given)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            space |= run(space) or {}
        except Exception as error:
            space["error"] = (type(error), str(error))
    found = [space[name] for name in [*NAMES, "error"] if name in space]
    # 0.0 is -0.0, as sums and extremes may be either.
    arrays = [np.asarray(x) + 0 for x in found if not isinstance(x, tuple)]
    kinds = [x if isinstance(x, tuple) else type(x) for x in found]
    return [kinds, [(x.dtype, x.shape, np.where(x == x, x, 7).tobytes()) for x in arrays]]


def function_of(text: str, file: str) -> Any:
    names = ", ".join(NAMES)
    text = f"def f({names}):\n{text}    return {names}\n"
    return space_of(text, file, np=np, math=math)["f"]


def of_function(function: Any) -> Any:
    return lambda space: dict(zip(NAMES, function(*(space[name] for name in NAMES)), strict=True))


def of_module(text: str, file: str, *, is_ours: bool) -> Any:
    text = "".join(line[4:] for line in text.splitlines(True))
    code = code_of(text, file)
    return lambda space: exec(implicit.code_of(text, code) if is_ours else code, space)


@pytest.fixture
def eager(monkeypatch):
    """Every loop of a module is taken at its first call."""
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "WORTH", -1.0)


def test_random_nests_do_what_python_does(eager, tuning):
    taken = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        writer = Writer(seed)
        file = f"<nest {seed}>"
        plain = of_function(function_of(writer.text, file))
        ours = [frit.parallelize(function_of(writer.text, file)) for _ in range(2)]
        large = [20_000.0, 1 + seed % 3, seed % 4, 2 + 6 * (seed % 2)]
        for call, n in enumerate((8, 1 + seed % 7, 18)):
            given = arguments(writer, 4 * seed + call, n)
            expected = outcome(plain, given)
            for function, tuning[:] in zip(ours, ([], large), strict=True):
                got = outcome(of_function(function), given)
                assert got == expected, f"seed {seed}, call {call}, {tuning}\n{writer.text}{given}"
        module = [of_module(writer.text, file, is_ours=x) for x in (False, True)]
        expected, got = (outcome(run, given) for run in module)
        assert got == expected, f"seed {seed}, module\n{writer.text}{given}"
        taken += any(site.calls for site in ours[1].__frit__.sites)
    assert taken > PROGRAMS // 2  # else nothing was tested
