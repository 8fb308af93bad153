"""fuzz_small_arrays.py: random loops over arrays of two or three elements that they make.

All numbers are exact, so that the order of sums is not seen.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from .written import space_of

ROUNDS = 12


class SmallArrayProgram:
    """`f(m, n, h)`: the loop, which two functions help; f gives arrays, and which are the same."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.size = self.random.choice([2, 3])
        self.appends_numbers = self.random.random() < 0.4
        self.lines: list[str] = []
        self.source = self.text()

    def function(self) -> Callable[..., Any]:
        return space_of(self.source, f"<small arrays {self.seed}>", np=np)["f"]

    def array(self) -> np.ndarray:
        rng = np.random.default_rng(self.seed)
        return rng.integers(-4, 5, (ROUNDS, self.size)) / 2.0

    # ---- text -----------------------------------------------------------------------------------

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def several(self, number: str) -> str:
        return ", ".join([number] * self.size)

    def vector(self) -> str:
        return self.pick("a", "b", "c")

    def number(self) -> str:
        elements = ("a[0]", "b[1]", "c[-1]", "m[i, 0]")
        return self.pick("s", "i", "0.5", "2", "-1", "1.5", "s * 0.5", "len(a)", "h", *elements)

    def row(self, depth: int = 0) -> str:
        kind = self.random.randrange(13 if depth < 2 else 4)
        if kind < 2:
            return self.vector()
        if kind == 2:
            return f"np.array([{', '.join(self.number() for _ in range(self.size))}])"
        if kind == 3:
            new = f"np.zeros({self.size})", "np.ones_like(a)"
            return self.pick("m[i]", "m[i - 1]", f"m[0, :{self.size}]", *new)
        if kind < 8:
            other = self.pick(self.row(depth + 1), self.number())
            return f"({self.row(depth + 1)} {self.pick('+', '-', '*')} {other})"
        if kind == 8:
            return f"{self.vector()}.copy()"
        if kind == 9:
            return f"first({self.row(depth + 1)}, {self.number()})"
        if kind == 10:
            return f"second({self.row(depth + 1)})"
        return f"-{self.row(depth + 1)}" if kind == 11 else f"{self.row(depth + 1)} / 4"

    def statement(self, indent: int, depth: int) -> None:
        kind, row = self.random.randrange(18), self.vector()
        place = self.pick("0", "1", "-1", f"i % {self.size}")
        numbers = "s * 0.5 + a[0]", "float(i)", "c[1]", "s + 1.0", "np.sum(b)", "a[0] * b[1]"
        if kind < 5:
            self.write(indent, f"{row} = {self.row()}")
        elif kind == 5:
            other = self.pick(self.row(1), self.number())
            self.write(indent, f"{row} {self.pick('+', '-', '*')}= {other}")
        elif kind == 6:
            self.write(indent, f"{row}[{place}] = {self.number()}")
        elif kind == 7:
            self.write(indent, f"{row}[{place}] += {self.number()}")
        elif kind == 8:
            self.write(indent, f"s = {self.pick(*numbers)}")
        elif kind == 9:
            self.write(indent, f"m[i] = {self.row()}")
        elif kind == 10 and depth < 2:
            self.write(indent, f"if {self.number()} {self.pick('<', '>', '==')} {self.number()}:")
            self.block(indent + 1, depth + 1)
            if self.random.random() < 0.5:
                self.write(indent, "else:")
                self.block(indent + 1, depth + 1)
        elif kind == 11 and depth < 2:
            self.write(indent, f"for j in range({self.pick('2', '3', 'i', str(self.size))}):")
            self.block(indent + 1, depth + 1)
        elif kind == 12 and depth > 0 and self.random.random() < 0.4:
            self.write(indent, self.pick("continue", "break"))
        elif kind == 13:
            self.write(indent, f"{row}, {self.vector()} = {self.vector()}, {self.row(1)}")
        elif kind >= 16:
            self.write(indent, f"{self.pick('out', 'out', 'xs')}.append({self.item()})")
        elif kind == 14:
            self.write(indent, f"{row}[:] = {self.row(1)}")
        else:
            self.write(indent, f"m[i - 1, 1] = {self.number()}")

    def item(self) -> str:
        """Of a list: most programs append but one kind."""
        if self.appends_numbers or self.random.random() < 0.05:
            return self.number()
        return self.pick(f"{self.vector()}.copy()", self.vector(), self.row(1))

    def block(self, indent: int, depth: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.statement(indent, depth)

    def write(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def beginning(self, name: str) -> str:
        wholes = [str(self.random.randrange(-2, 3)) for _ in range(self.size)]
        halves = [whole + ".5" for whole in wholes]
        other = "m[0]" if name == "c" else f"np.ones({self.size})"
        arrays = [f"np.array([{', '.join(x)}])" for x in (halves, wholes)]
        return f"{name} = {self.pick(*arrays, f'np.zeros({self.size})', other)}"

    def text(self) -> str:
        self.write(0, "def first(u, x):")
        self.write(1, "w = u * x")
        self.write(1, self.pick("w[0] = x", "w += 1", "pass", "w[1] -= u[0]", "u = w", "w = u"))
        self.write(1, "return w")
        self.write(0, "def second(u):")
        early = f"if u[1] < 0: return np.array([{self.several('0.25')}])"
        self.write(1, self.pick("if u[0] > 1: return u", "u = u * 0.5", "pass", early))
        self.write(1, "return u + 1")
        self.write(0, "def f(m, n, h):")
        for name in "abc":
            self.write(1, self.beginning(name))
        if self.random.random() < 0.2:
            self.write(1, "b = a")
        self.write(1, f"s = {self.pick('0', '0.0', '1.5')}")
        self.write(1, f"out = {self.pick('[]', '[a]', '[1.5]', '[c, b]')}")
        self.write(1, f"xs = {self.pick('[]', '[]', 'out', '[out]')}")
        self.write(1, "for i in range(1, n):")
        for _ in range(self.random.randrange(2, 7)):
            self.statement(2, 0)
        self.write(1, self.pick("a[0] += 7", "b[1] = 3", "pass"))
        whose = "[[x is y for y in (a, b, c, *out)] for x in out if np.ndim(x)]"
        self.write(1, f"held = out, xs[:9], {whose}")
        results = "a, b, c, s, a is b, b is c", "a, s", "b, c", "s"
        self.write(1, f"return held, {self.pick(*results)}")
        return "\n".join(self.lines) + "\n"
