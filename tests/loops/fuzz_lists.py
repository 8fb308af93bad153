"""fuzz_lists.py: random small functions whose loops are over lists of Python's numbers."""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .fuzz import Program, same


class ListProgram(Program):
    """A function f(a, b, c, m, idx, n, k, x, out, text, words).

    a, b, c, m and out are lists, idx may be one; text is a string, words are such, or characters.
    All numbers are whole multiples of a power of two, so that sums are the same in any order: what
    divides is such a power, or zero, and what has a root is a square, or negative.
    """

    counts = ("2", "5", "3", "1", "(k & 1)")

    def write(self) -> None:
        self.lines.append("def f(a, b, c, m, idx, n, k, x, out, text, words):")
        self.line(1, f"s = {self.pick('0', '0.0', 'x', 'n', '1.5')}")
        self.line(1, f"t = {self.pick('0', '0.0', 'k', 'a[0]')}")
        self.line(1, f"q = {self.pick('0', '0', 'k', 'n')}")
        if self.chance(0.2):
            self.line(1, f"c = [{self.pick('0', '0.0', 'False', '1')}] * (n + 1)")
        if self.chance(0.2):
            self.line(1, f"m = [[{self.pick('0', '0.0')}] * (n + 1) for _ in range(n)]")
        for _ in range(self.pick(1, 1, 2)):
            self.loop(1)
        self.line(1, f"return {self.pick('s', 't', '(s, t)', 'c', '(s, m)', 's + t')}")

    def line(self, depth: int, text: str) -> None:
        text = text.replace("*=", "+=").replace("w * w + 1", "w * 3 + 1").replace("**", "*")
        text = text.replace("m.shape[0]", "len(m)").replace("m[0, 0]", "m[0][0]")
        super().line(depth, text.replace("*m.shape", "len(a), 2").replace("m.shape", "len(m), 2"))

    def element(self) -> str:
        if self.chance(0.3):
            return f"m[{self.index()}][{self.index()}]"
        if self.chance(0.08):
            return f"out[{self.pick('-1', '-1', '0', '-2', 'len(out) - 1', self.index())}]"
        return f"{self.pick('a', 'a', 'b', 'c')}[{self.index()}]"

    def value(self, depth: int) -> str:
        """No product of two items: ints would fill the memory."""
        if depth == 0 or self.chance(0.45):
            atoms = ["x", "n", "k", "2", "3", "0.5", *self.reads, *self.elements, *self.loops]
            return self.element() if self.chance(0.6) else self.pick(*atoms)
        less, few = self.value(depth - 1), self.pick("x", "2", "k", "0.5", "-1", *self.loops)
        i = self.pick("k", "n", *self.loops)
        power = self.pick("2", "0.5", "-1", "4.0", f"({i} & 1)", f"({i} & 2)", f"(1 << ({i} & 3))")
        if self.chance(0.1):
            over = self.pick("a", "c", f"m[{self.index()}]", "range(k)", "range(3)", "idx")
            self.elements.append("h")
            item = self.value(depth - 1)
            self.elements.pop()
            return f"sum({item} for h in {over}{self.pick('', '', '', ' if h > 0')})"
        return self.pick(
            *[f"({less} {self.pick('+', '-')} {self.value(depth - 1)})"] * 4,
            f"({less} {self.pick('*', '//', '%')} {few})",
            f"({few} {self.pick('-', '*', '//', '%')} {less})",
            f"({self.pick(less, few)} / {power})",
            f"{self.pick('min', 'max')}({less}, {self.value(depth - 1)})",
            f"{self.pick('abs', 'float', 'int', 'round', 'clip', 'twice', '-', 'bool')}({less})",
            f"math.sqrt({less} * abs({less}))",
            f"first(a, 2, {less})",
            f"({few} if {self.condition()} else {less})",
            f"({less} {self.pick('>> 1', '| 4', '& 3', '^ 3')})",
            f"{self.pick('sum', 'max', 'min')}({self.pick('a', 'c', f'm[{self.index()}]', 'out')})",
            f"{self.pick('sum', 'len', 'min')}({self.pick('a', 'c', 'out')}[{self.index()}:k + 3])",
            self.pick("len(out)", "len(m)", "len(a)", f"len(m[{self.index()}])"),
        )

    def condition(self) -> str:
        if not self.chance(0.1):
            return super().condition()
        i, other = (
            self.index(),
            self.pick("text[0]", "words[0]", "'a'", f"words[{self.index()}]", "text[-1]"),
        )
        return self.pick(
            f"text[{i}] {self.pick('==', '!=', '<', '>=')} {other}",
            f"text[{i}] in ('a', 'c')",
            f"ord(text[{i}]) > 97",
            f"words[{i}][0] == text[{i}]",
        )

    def row(self, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.4:
            self.line(depth, f"out.append({self.value(1)})")
        elif kind < 0.55:
            x, y = self.element(), self.element()
            self.line(depth, f"{x}, {y} = {y}, {x}")
        elif kind < 0.7:
            self.line(depth, f"g = m[{self.index()}]")
            self.line(depth, f"g[{self.index()}] {self.pick('=', '+=')} {self.value(1)}")
        elif kind < 0.75:
            self.line(depth, f"for ch in {self.pick('text', 'words', 'words[0]', 'text')}:")
            self.line(depth + 1, f"if ch == {self.pick('text[0]', repr('b'), 'words[0]')}:")
            self.line(depth + 2, f"{self.pick('s', 't')} += 1")
        elif kind < 0.85:
            few = self.pick("(2, 0, 1)", "[1, -1]", "(0.5, 2.0, 0.25)", "[(0, 1), (1, -2), (2, 0)]")
            names = "g, h" if few[1] == "(" else "g"
            self.line(depth, f"for {names} in {few}:")
            self.elements += ["g", names[-1]]
            self.line(depth + 1, f"{self.element()} = {self.value(1)}")
            self.elements = self.elements[:-2]
        elif kind < 0.9:
            self.line(depth, f"for g in {self.pick('a', 'm[0]', f'm[{self.index()}]', 'idx')}:")
            self.elements.append("g")
            self.line(depth + 1, f"{self.pick('s', 't')} += {self.pick('g', self.value(1))}")
            self.elements.pop()
        else:
            self.line(depth, f"{self.element()} = {self.pick('0', '1', '2.5', 'True', 'len(out)')}")

    def statement(self, depth: int) -> None:
        if self.chance(0.12):
            self.row(depth)
        else:
            super().statement(depth)

    def arguments(self, call: int) -> dict[str, Any]:
        chosen = random.Random(self.seed * 8 + call)
        n = chosen.choice([0, 1, 2, 5, 6, 7, 9])
        pad = chosen.choice([0, 0, 0, 1, 3])
        kinds = chosen.choice(["f", "f", "i", "i", "fi", "fim", "b", "fimb"])

        def number(kind: str) -> Any:
            if kind == "m":
                kind = chosen.choice("fi")
            if kind == "i" and chosen.random() < 0.005:
                return 2 ** chosen.choice([52, 53, 61, 62, 70])
            whole = chosen.randint(-3, 3)
            return {"f": whole / 2, "i": whole, "b": whole > 0}[kind]

        def items(count: int, kind: str = "") -> list[Any]:
            kind = kind or chosen.choice(kinds)
            if chosen.random() < 0.01:
                return [*(number(kind) for _ in range(count)), chosen.choice([None, "x", 1e300])]
            return [number(kind) for _ in range(count)]

        a = items(n + pad)
        b = chosen.choice(
            [*(items(n + pad) for _ in range(9)), a, tuple(a), np.arange(n + pad) / 2]
        )
        kind = chosen.choice(kinds)
        m = [items(n + 1, kind) for _ in range(n + chosen.choice([0, 1]))]
        if chosen.random() < 0.1 and m:
            m = chosen.choice([[m[0]] * len(m), [*m[:-1], m[0]], [*m[:-1], a], [*m, [1]]])
        idx: Any = [chosen.randint(0, max(n, 1)) for _ in range(n + pad)]
        if chosen.random() < 0.3:
            idx = [chosen.randint(-3, 9) for _ in range(n + pad)]
        if chosen.random() < 0.2:
            idx = np.array(idx, "i8")
        # A loop over what it appends to would never end.
        has_loops = any(f" in {x}a" in self.source for x in ("", "reversed(", "zip(", "enumerate("))
        same_list = [] if has_loops or "a)" in self.source else a
        return {
            "a": a,
            "b": b,
            "c": chosen.choice([*(items(n + pad + 1) for _ in range(9)), a]),
            "m": m,
            "idx": idx,
            "n": chosen.choice([n, n, n, n, np.int64(n)]),
            "k": chosen.choice([0, 1, 1, 2, 3, -1]),
            "x": chosen.choice([0.5, 2.0, 1, 0.0, np.float64(1.5), True]),
            "text": "".join(chosen.choices("abc\u0424\U0001f600", k=n + pad)),
            "words": [chosen.choice(["a", "b", "c"]) for _ in range(n + pad)]
            if chosen.random() < 0.7
            else [chosen.choice(["ab", "bc"]) for _ in range(n)],
            "out": chosen.choice([[], [], [], items(1), items(2), [0], [0.0], same_list]),
        }


def outcome_with_lists(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Everything that can be seen of a call. Lists that are one still are."""
    call = copy.deepcopy(arguments)
    numbers: dict[int, int] = {}
    lists: list[list[Any]] = []
    for value in call.values():
        if isinstance(value, list):
            lists += [value, *(item for item in value if isinstance(item, list))]
    for one in lists:
        numbers.setdefault(id(one), len(numbers))
    seen: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            seen["result"] = function(**call)
        except Exception as error:
            seen["error"] = (type(error), str(error))
    seen["arguments"] = call
    seen["which lists"] = [numbers[id(one)] for one in lists]
    return seen


def same_with_lists(x: Any, y: Any, depth: int = 0) -> bool:
    if type(x) is not type(y):
        return False
    if depth > 4:  # a list that was put into itself
        return repr(x) == repr(y)
    if isinstance(x, dict):
        return x.keys() == y.keys() and all(same_with_lists(x[k], y[k], depth + 1) for k in x)
    if isinstance(x, (list, tuple)):
        pairs = zip(x, y, strict=False)
        return len(x) == len(y) and all(same_with_lists(a, b, depth + 1) for a, b in pairs)
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and bool(np.array_equal(x, y, equal_nan=x.dtype.kind == "f"))
    return same(x, y)
