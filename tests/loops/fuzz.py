"""fuzz.py: random small functions with loops; what they do as Python is what they must do."""

from __future__ import annotations

import ast
import cmath
import copy
import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from frit.loops.run.site import OURS

from .written import space_of

_COMPARISONS = ["<", ">", "==", "!=", ">="]
DTYPES = ["f8", "f8", "f8", "f4", "i8", "i8", "i4", "u1", "i2", "?"]


HELPERS = """
def clip(u, v=2):
    if u > v:
        return u - v
    return v


def twice(u):
    w = u * 2
    return w + 1


def put(z, q, u):
    z[q] = u


def first(z, q, u):
    for e in range(q):
        if z[e] > u:
            return e
    return 0


"""


class Program:
    """A function f(a, b, c, m, idx, n, k, x) and the arguments of some calls."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []
        self.loops: list[str] = []
        self.elements: list[str] = []
        self.reads = ["s", "t"]
        self.lines += HELPERS.splitlines()
        self.write()
        self.source = "\n".join(self.lines) + "\n"

    # ---- text -----------------------------------------------------------------------------------

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def write(self) -> None:
        self.lines.append("def f(a, b, c, m, idx, n, k, x):")
        self.line(1, f"s = {self.pick('0', '0.0', 'x', 'n', '1.5')}")
        self.line(1, f"t = {self.pick('0', '0.0', 'k', 'a[0]')}")
        self.line(1, f"q = {self.pick('0', '0', 'k', 'n')}")
        for _ in range(self.pick(1, 1, 2)):
            self.loop(1)
        self.line(1, f"return {self.pick('s', 't', '(s, t)', 'None', 's + t')}")

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def loop(self, depth: int) -> None:
        elements = list(self.elements)
        if self.chance(0.3):
            self.series_loop(depth)
        else:
            self.range_loop(depth)
        self.elements = elements

    def rounds(self, depth: int, *names: str) -> None:
        self.loops += names
        self.block(depth + 1)
        del self.loops[len(self.loops) - len(names) :]
        if self.chance(0.05):
            self.line(depth, "else:")
            self.line(depth + 1, f"s = {self.pick('1', 'x', 'n')}")

    def series_loop(self, depth: int) -> None:
        name, element = "ijlp"[len(self.loops)], "uvyz"[len(self.loops)]
        array, other = self.pick("a", "b", "c"), self.pick("a", "b", "c", "idx")
        kind = self.random.random()
        if kind < 0.15 and len(self.loops) < 3:
            second = "ijlp"[len(self.loops) + 1]
            shape = self.pick("m.shape", "n, 3", "2, n", "*m.shape")
            self.line(depth, f"for {name}, {second} in np.ndindex({shape}):")
            self.rounds(depth, name, second)
            return
        if kind < 0.3 and self.loops:
            self.line(depth, f"for {element} in {array}:")
            self.elements.append(element)
            self.rounds(depth)
            return
        if kind < 0.4:
            self.line(depth, f"for {name} in reversed(range({self.pick('n', '1, n', '5')})):")
            self.rounds(depth, name)
            return
        if kind < 0.45:
            ends = f"{self.pick('0', '-1', 'x', 'k')}, {self.pick('n', '1', '0.5')}"
            over = f"np.linspace({ends}, {self.pick(*self.counts)})"
            self.line(depth, f"for {name}, {element} in enumerate({over}):")
            self.elements.append(element)
            self.rounds(depth, name)
            return
        row = f"m[{self.index()}]" if self.loops else "m[0]"
        over = self.pick(array, array, f"{array}[1:]", row, f"{array}[:-1]", f"reversed({array})")
        if self.chance(0.4):
            self.line(depth, f"for {name}, {element} in enumerate({over}):")
            self.elements.append(element)
        elif self.chance(0.5):
            self.line(
                depth, f"for {name}, {element} in zip(range({self.pick('n', '1, n')}), {over}):"
            )
            self.elements.append(element)
        else:
            self.line(depth, f"for {name}, ({element}, g) in enumerate(zip({over}, {other})):")
            self.elements += [element, "g"]
        self.rounds(depth, name)

    def range_loop(self, depth: int) -> None:
        name = "ijlp"[len(self.loops)]
        outer = self.loops[-1] if self.loops else None
        ends = ["n", "n - 1", "len(a)", "m.shape[0]", "5", "k", "n // 2"]
        bounds = self.pick(
            self.pick(*ends),
            f"{self.pick('0', '1', '2', 'k')}, {self.pick(*ends)}",
            f"{self.pick('0', '1', 'k')}, {self.pick(*ends)}, {self.pick('1', '2', '3', 'k')}",
            f"{self.pick('n - 1', 'n', '5')}, {self.pick('-1', '0', '1')}, {self.pick('-1', '-2')}",
        )
        if outer and self.chance(0.3):
            bounds = self.pick(
                outer, f"{outer} + 1", f"{outer}, n", f"{outer} + 1, n", f"n - {outer}"
            )
        kind = "np.arange" if self.chance(0.1) else "range"
        self.line(depth, f"for {name} in {kind}({bounds}):")
        self.rounds(depth, name)

    def block(self, depth: int) -> None:
        for _ in range(self.pick(1, 1, 2, 3)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.22 and len(self.loops) < 3:
            self.loop(depth)
        elif kind < 0.34:
            self.line(depth, f"if {self.condition()}:")
            self.block(depth + 1)
            if self.chance(0.3):
                self.line(depth, "else:")
                self.block(depth + 1)
        elif kind < 0.37:
            self.line(depth, f"if {self.condition()}:")
            if self.chance(0.2):
                self.block(depth + 1)
            raised = 'raise LookupError(f"{k} {s}", a)' if self.chance(0.3) else "break"
            self.line(depth + 1, self.pick("continue", "continue", raised))
        elif kind < 0.40:
            self.line(depth, "w = 0")
            self.line(depth, f"while w < 3 and ({self.condition()}):")
            self.line(depth + 1, f"{self.element()} {self.pick('=', '+=')} {self.value(1)}")
            self.line(depth + 1, "w += 1")
        elif kind < 0.415:
            self.line(depth, f"w = {self.pick('k', 'n', f'int({self.element()})', *self.loops)}")
            most, grown = self.pick(("50", "w * 3 - 1"), ("10**20", "w * w + 1"), ("n", "w + 2"))
            self.line(depth, f"while 0 < w < {most}:")
            self.line(depth + 1, f"{self.pick('a', 'c')}[{self.pick('w % 3', 'w', '0')}] += 1")
            self.line(depth + 1, f"w = {grown}")
        elif kind < 0.44:
            self.row(depth)
        elif kind < 0.46:
            array, more = self.pick("a", "c", "m[0]"), f"q {self.pick('+=', '+=', '-=')} 1"
            lines = [f"{array}[q] = {self.value(1)}", more, f"{array}[q] += 1"]
            if self.chance(0.2):
                more = f"q = {self.pick('0', '2', self.loops[-1])}"
            for line in self.pick(lines[:2], lines[1:], lines, [more]):
                self.line(depth, line)
        elif kind < 0.47:
            self.line(depth, f"put({self.pick('a', 'b')}, {self.index()}, {self.value(1)})")
        elif kind < 0.48:
            i = self.pick(*self.loops)
            self.line(depth, f"if {self.condition()}:")
            self.line(
                depth + 1, f"return {self.pick(i, 'True', self.element(), f'{i}, {i}', '1.5')}"
            )
        elif kind < 0.56:
            name = self.pick("s", "t", "r")
            # No scalar grows by itself: Python's integers would fill the memory.
            self.reads = []
            if name == "r" or self.chance(0.3):
                self.line(depth, f"{name} = {self.value(2)}")
            else:
                self.line(depth, f"{name} {self.pick('+=', '+=', '-=')} {self.value(1)}")
            self.reads = ["s", "t"]
        elif kind < 0.58:
            # Carried by the loop, and read in it.
            name = self.pick("s", "t")
            chosen = f"{self.pick('max', 'min')}({name}, {self.element()})"
            self.line(depth, f"{name} = {chosen}")
            self.line(depth, f"{self.element()} {self.pick('=', '+=')} {name}")
        elif kind < 0.60 and len(self.loops) < 4:
            # One element, of which a loop inside adds up more.
            one, i = self.pick("a[0]", "c[k]", "m[0, 0]"), "ijlp"[len(self.loops)]
            lines = [f"{one} += {self.value(1)}", f"{self.element()} = {one}", f"{one} *= 2"]
            for line in self.pick(lines[:1], lines[1:2], lines[:2]):
                self.line(depth, line)
            self.line(depth, f"for {i} in range({self.pick('k', 'n', '0')}):")
            self.line(depth + 1, f"{one} += {self.pick('b', 'c')}[{i}]")
            if self.chance(0.3):
                self.line(depth, lines[2])
        elif kind < 0.78:
            self.line(depth, f"{self.element()} = {self.value(2)}")
        elif kind < 0.785:
            self.line(depth, f"assert not ({self.condition()}), f'{{n}} {{t}}'")
        else:
            self.line(depth, f"{self.element()} {self.pick('+=', '-=', '*=')} {self.value(1)}")

    def row(self, depth: int) -> None:
        cut = self.pick("", "", "", "1:", ":-1", f"{self.pick(*self.loops)}:")
        if self.chance(0.2):
            cut = self.pick(
                "::2", "1::2", "::-1", ":-1:3", f":{self.pick(*self.loops)}:-2", "-2::-1"
            )
        part = lambda: f"m[{self.index()}{', ' + cut if cut else ''}]"  # noqa: E731
        line = f"c[{cut}]" if cut else "c"
        one = lambda: self.pick(part(), line, line, "x", "2")  # noqa: E731
        target = self.pick(part(), part(), part(), f"c[{cut or ':'}]")
        value = self.pick(
            one(),
            f"{one()} {self.pick('+', '-', '*', '/')} {one()}",
            f"-{line}",
            f"abs({part()})",
            f"{part()} ** 2",
            f"np.maximum({line}, {one()})",
            f"{self.element()} * {line}",
        )
        if self.chance(0.15):
            self.line(depth, f"v = {value}")
            value = self.pick("v", "v", "v * 2", "v + v")
        if self.chance(0.1):  # what it writes is read at another place
            whole = self.pick("c", f"m[{self.index()}]", f"m[{self.index()}]")
            target, one, two = self.pick(
                ("1:", ":-1", "1:"), ("1:-1", ":-2", "2:"), (":", "::-1", ":"), (":-1", "1:", "1:")
            )
            target, one, two = (
                f"{whole[:-1]}, {x}]" if whole != "c" else f"c[{x}]" for x in (target, one, two)
            )
            value = self.pick(one, f"{one} * 2", f"{one} + {two}", f"({one} - {two}) * 0.5")
        elif self.chance(0.1):
            target, value = "s", f"{part()}.{self.pick('max', 'sum', 'min', 'mean', 'std')}()"
        self.line(depth, f"{target} {self.pick('=', '=', '+=', '-=', '*=')} {value}")

    def index(self) -> str:
        i = self.pick(*self.loops)
        kind = self.random.random()
        if kind < 0.5:
            return i
        if kind < 0.7:
            return f"{i} {self.pick('+', '-')} {self.pick('1', '2', 'k')}"
        if kind < 0.78:
            return f"{self.pick('n - 1', 'n', '4')} - {i}"
        if kind < 0.84:
            return f"{i} {self.pick('%', '//')} {self.pick('2', '3', 'n', 'k')}"
        if kind < 0.88:
            return f"{self.pick('2', 'k')} * {i}"
        if kind < 0.92:
            return self.pick(f"idx[{i}]", f"idx[{i}]", f"int({self.element()})")
        if kind < 0.95:
            return f"{i} + {self.pick(*self.loops)}"
        return self.pick("0", "-1", "1", "n - 1", "k", f"min({i} + 1, n - 1)", f"max({i} - 1, 0)")

    def element(self) -> str:
        if self.chance(0.25):
            return f"m[{self.index()}, {self.index()}]"
        return f"{self.pick('a', 'a', 'b', 'c')}[{self.index()}]"

    def value(self, depth: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.45:
            atoms = ["x", "n", "k", "2", "3", "0.5", *self.reads, *self.elements, *self.loops]
            return self.element() if self.chance(0.6) else self.pick(*atoms)
        if kind < 0.85:
            op = self.pick("+", "+", "-", "-", "*", "*", "/", "//", "%")
            if self.chance(0.08):
                power = self.pick("** 2", "** 3", "** 0.5", "** -1", "<< 1", ">> 1", "| 4", "^ 3")
                return f"({self.value(depth - 1)} {power})"
            return f"({self.value(depth - 1)} {op} {self.value(depth - 1)})"
        if kind < 0.90:
            return f"{self.pick('min', 'max')}({self.value(depth - 1)}, {self.value(depth - 1)})"
        if kind < 0.92:
            return f"abs({self.value(depth - 1)})"
        if kind < 0.94:
            x, y = self.value(depth - 1), self.pick("v=x", "1", "0.5")
            return self.pick(f"clip({x})", f"clip({x}, {y})", f"twice({x})", f"first(a, 2, {x})")
        if kind < 0.96:
            return f"{self.pick('float', 'int', 'round', 'math.floor')}({self.value(depth - 1)})"
        if kind < 0.98:
            return f"{self.pick('math.sqrt', 'np.sqrt', '-')}({self.value(depth - 1)})"
        x = self.pick("x", "2", "0.5", self.element())
        y = self.pick("x", "2", "1.5", self.element())
        return f"({x} if {self.condition()} else {y})"

    def condition(self) -> str:
        i = self.pick(*self.loops)
        one = self.pick(
            f"{i} {self.pick(*_COMPARISONS)} {self.pick('0', '1', '2', 'n - 1', 'k')}",
            f"{i} % 2 == {self.pick('0', '1')}",
            f"{self.element()} {self.pick('<', '>', '==')} {self.pick('1', 'x', self.element())}",
        )
        if self.chance(0.1):
            few = self.pick("(1, 2)", "[0, k]", "{3, -1}", "(k, n, 2.5)")
            one = f"{self.pick(i, self.element())} {self.pick('in', 'not in')} {few}"
        if self.chance(0.2):
            return f"{one} {self.pick('and', 'or')} {self.condition()}"
        return f"not ({one})" if self.chance(0.05) else one

    # ---- arguments ------------------------------------------------------------------------------

    dtypes: tuple[list[str], ...] = (["f8"], ["f4"], ["f8", "i8"], DTYPES, ["i8"], ["f4", "f8"])
    numbers: tuple[Any, ...] = (0.5, 2.0, 1, 0.0, np.float64(1.5), np.float32(0.5), True)
    counts = ("n", "5", "3", "len(a)", "k")  # of linspace

    def function(self, name: str = "") -> Callable[..., Any]:
        """name: of its file."""
        name = name or f"<loop fuzz {self.seed}>"
        return space_of(self.source, name, np=np, math=math, cmath=cmath)["f"]

    def arguments(self, call: int) -> dict[str, Any]:
        """Arrays of small numbers, whose sums are exact in any order."""
        numbers = np.random.default_rng(self.seed * 8 + call)
        n = self.pick(0, 1, 2, 5, 6, 7, 9)
        pad = self.pick(0, 0, 0, 1, 3)
        dtypes = self.pick(*self.dtypes)

        def array(shape: tuple[int, ...], dtype: str | None = None) -> np.ndarray:
            dtype = dtype or self.pick(*dtypes)
            low = 0 if dtype in ("u1", "?") else -3
            full = tuple(2 * s + 1 for s in shape)
            values = numbers.integers(low, 4, full)
            data = (values / (2 if np.dtype(dtype).kind in "fc" else 1)).astype(dtype)
            if data.dtype.kind == "c":
                data.imag = numbers.integers(low, 4, full) / 2
            if data.dtype.kind == "b":  # any byte but 0 is true
                data.view("u1")[data] = numbers.integers(1, 256, np.count_nonzero(data))
            cut = self.pick(slice(None), slice(None, None, 2), slice(None, None, -1))
            part = data[tuple(cut for _ in shape)]
            return part[tuple(slice(0, s) for s in shape)]

        a = array((n + pad,))
        b = self.pick(array((n + pad,)), array((n + pad,)), a, a[::-1], a[1:], a[:-1])
        c = array((n + pad + 1,))
        m = array((n + self.pick(0, 1), n + 1))
        m = m.T if self.chance(0.2) else m
        idx = array((n + pad,), "i8")
        if self.chance(0.7):
            idx = np.abs(idx)
        return {
            "a": a,
            "b": b,
            "c": c,
            "m": m,
            "idx": idx,
            "n": self.pick(n, n, n, n, np.int64(n)),
            "k": self.pick(0, 1, 1, 2, 3, -1),
            "x": self.pick(*self.numbers),
        }


class ComplexProgram(Program):
    """The same with complex numbers, which are seldom in the other programs' places."""

    dtypes = (["c16"], ["c16"], ["c8"], ["c16", "f8"], ["c16", "c8"], ["c16", "i8"])
    numbers = (1j, 0.5 - 2j, 0j, 0, 2.0, np.complex128(1 - 1j), np.complex64(2j), np.float64(1.5))

    def element(self) -> str:
        element = super().element()
        return f"{element}.{self.pick('real', 'imag')}" if self.reads_parts else element

    reads_parts = False

    def statement(self, depth: int) -> None:
        if not self.chance(0.15):
            return super().statement(depth)
        step = self.pick("z * z", "z ** 2", "z * x", "z * 0.5", "z - 0", "z.conjugate()", "-z")
        part = self.pick("z", "abs(z)", "z.real", "z.imag * 2", "z == x", "z != 0")
        self.line(depth, f"z = {self.pick('0', '0.0', '0j', 'x', '1 - 2j', self.element())}")
        self.line(depth, "w = 0")
        self.line(depth, f"while {self.pick('abs(z) < 9 and ', 'z != 3 and ', '')}w < 3:")
        self.line(depth + 1, f"z = {step} {self.pick('+', '+', '-', '/')} {self.value(1)}")
        self.line(depth + 1, "w += 1")
        self.line(depth, f"{self.element()} = {part}")

    def value(self, depth: int) -> str:
        if depth == 0 or self.chance(0.6):
            return super().value(depth)
        x, y = super().value(depth - 1), self.element()
        return self.pick(
            f"({x} {self.pick('+', '-', '*', '*', '/')} {y})",
            f"({y}.conjugate() * {x})",
            f"({y} ** 2)",
            f"abs({y})",
            f"({y}.real - {y}.imag)",
            f"np.{self.pick('conj', 'abs', 'square')}({y})",
            f"{self.pick('np.exp', 'cmath.exp', 'np.real')}({y} * 0.5)",
            f"({self.pick('x', '(1 - 2j)', 'k * 1j', '2.5')} / {self.pick('n', '4', '2j', y)})",
            f"({x} * {self.pick('1j', '(0.5 - 2j)', '-1j')})",
            f"complex({self.pick('n', '0.5', y + '.real', 'k')}, {self.pick('1', y + '.imag')})",
        )

    def condition(self) -> str:
        # Python has no order of complex numbers.
        self.reads_parts = not self.chance(0.1)
        condition = super().condition()
        self.reads_parts = False
        return condition


class WindowProgram(Program):
    """The same with sums and the like of windows of the matrix."""

    dtypes = (["f8"], ["f8"], ["f4"], ["f8", "i8"], ["f4", "u1"], ["i4"])

    def statement(self, depth: int) -> None:
        if not self.chance(0.4):
            return super().statement(depth)
        target = self.pick("c[{0}]", "a[{0}]", "c[{0}]", "m[{0}, 0]", "s").format(self.index())
        self.line(depth, f"{target} {self.pick('=', '=', '+=')} {self.window()}")

    def window(self) -> str:
        i, j = self.pick(*self.loops), self.pick(*self.loops)
        first, second, third = (self.part(i, j) for _ in range(3))
        reduced = self.pick("sum", "sum", "mean", "max", "min", "std", "var")
        return self.pick(
            f"{first}.{reduced}()",
            f"np.{reduced}({first} * {self.pick('x', second)})",
            f"({first} - {second}).{reduced}()",
            f"np.median({first})",
            f"({first} * {second} + {third}).{reduced}()",
        )

    def part(self, i: str, j: str) -> str:
        def cut(i: str) -> str:
            inside = f"max({i} - 1, 0):min({i} + 2, n)"
            return self.pick(f"{i}:{i} + 2", inside, inside, f"{i}:{i} + k", "1:", ":k", f"{i}:")

        if self.chance(0.5):
            return f"m[{i} - 1:{i} + 2, {j} - 1:{j} + 2]"
        return f"m[{cut(i)}, {cut(j)}]"


class Holder:
    """An object with attributes."""


class ObjectProgram(Program):
    """The same with some of the arguments and variables in an object `o`."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.held = {name for name in "a b c m idx n k x s t q".split() if self.chance(0.4)}
        tree = ast.parse(self.source)
        function = next(n for n in tree.body if getattr(n, "name", "") == "f")
        function.args.args = [a for a in function.args.args if a.arg not in self.held]
        function.args.args.append(ast.arg("o"))
        function.body = [_Held(self.held).visit(n) for n in function.body]
        self.source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"

    def arguments(self, call: int) -> dict[str, Any]:
        found = super().arguments(call)
        held = {name: found.pop(name) for name in sorted(self.held & found.keys())}
        return {**found, "o": held}


class _Held(ast.NodeTransformer):
    def __init__(self, held: set[str]) -> None:
        self.held = held

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.held:
            return node
        return ast.Attribute(ast.Name("o", ast.Load()), node.id, node.ctx)


def outcome(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Everything that can be seen of a call. Arrays that share memory still do.

    A dict becomes an object.
    """
    held = arguments.get("o")
    if held is not None:
        arguments = {k: v for k, v in arguments.items() if k != "o"} | held
    given = copy.deepcopy(list(_bases(arguments).values()))
    own = dict(zip(_bases(arguments), given, strict=True))
    call: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            base = _base(value)
            offset = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            buffer = own[id(base)]
            call[name] = np.ndarray(value.shape, value.dtype, buffer, offset, value.strides)
        else:
            call[name] = value
    it = Holder()
    if held is not None:
        vars(it).update((name, call.pop(name)) for name in held)
        call["o"] = it
    seen: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            seen["result"] = function(**call)
        except Exception as error:
            seen["error"] = (type(error), str(error), error.__traceback__.tb_next and _line(error))
    seen["arrays"] = given
    numbers = {k: v for k, v in vars(it).items() if not isinstance(v, np.ndarray)}
    seen["attributes"] = (*numbers, *numbers.values())
    return seen


def calls_of(parallel: Any, where: str) -> tuple[int, int]:
    """How many nests of a function ran compiled, and as Python, none for a fault of Frit's own."""
    sites = parallel.__frit__.sites
    for refused in (refused for site in sites for refused in site.refused.values()):
        assert OURS not in refused.reason, f"{where}: {refused.reason}"
    return sum(site.calls for site in sites), sum(site.calls_as_python for site in sites)


def _line(error: BaseException) -> int:
    """The line in the function itself."""
    at = error.__traceback__
    line = 0
    while at is not None:
        if at.tb_frame.f_code.co_name == "f":
            line = at.tb_lineno
        at = at.tb_next
    return line


def _base(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _bases(arguments: dict[str, Any]) -> dict[int, np.ndarray]:
    found = [_base(v) for v in arguments.values() if isinstance(v, np.ndarray)]
    return {id(base): base for base in found}


def same(x: Any, y: Any, single: bool = False) -> bool:
    """The same value and type; 0.0 is -0.0, since sums may start at either."""
    if type(x) is not type(y):
        return False
    if isinstance(x, (tuple, list)):
        return len(x) == len(y) and all(same(*z, single) for z in zip(x, y, strict=True))
    if isinstance(x, np.ndarray):
        is_single = single or x.dtype.char in "fF"
        return x.dtype == y.dtype and same(x.tolist(), y.tolist(), is_single)
    if isinstance(x, (float, complex, np.inexact)):
        return bool(x == y or (x != x and y != y) or _close(x, y, single))
    return bool(x == y)


def _close(x: Any, y: Any, single: bool) -> bool:
    """Sums of quotients may be rounded in another order."""
    single = single or isinstance(x, (np.float32, np.complex64))
    return bool(np.isclose(x, y, rtol=1e-5 if single else 1e-12, atol=0))


def same_outcome(x: dict[str, Any], y: dict[str, Any], single: bool = False) -> bool:
    """single: numbers of any type may be as inexact as functions of float32's are."""
    if x.keys() != y.keys() or x.get("error") != y.get("error"):
        return False
    if not same(x["attributes"], y["attributes"], single):
        return False
    if "result" in x and not same(x["result"], y["result"], single):
        return False
    for a, b in zip(x["arrays"], y["arrays"], strict=True):
        if a.dtype.kind in "fc":
            rtol = 1e-5 if single or a.dtype.char in "fF" else 1e-12
            if not np.allclose(a, b, rtol=rtol, atol=0, equal_nan=True):
                return False
        elif a.tobytes() != b.tobytes():
            return False
    return True


def as_near_to_exact(x: dict[str, Any], y: dict[str, Any], exact: dict[str, Any]) -> bool:
    """Whether arrays of y that differ from x's are no farther from exact ones than twice x's are.

    102 complex64 products by exp, 2.2 + 2 roundings of 6e-8 each, are 3e-5 from the exact product,
    in Python as in Frit. exact: of the program with widened arguments.
    """
    if not x.keys() == y.keys() == exact.keys() or x.get("error") != y.get("error"):
        return False
    if x.get("result") != y.get("result") or x["attributes"] != y["attributes"]:
        return False
    for a, b, e in zip(x["arrays"], y["arrays"], exact["arrays"], strict=True):
        near = np.abs(a - e) <= 1e-3 * np.abs(e)  # else Python took another way than the exact one
        better = near & (np.abs(b - e) <= 2 * np.abs(a - e))
        if not np.all(np.isclose(a, b, rtol=1e-5, atol=0, equal_nan=True) | better):
            return False
    return True


def widened(arguments: dict[str, Any]) -> dict[str, Any]:
    """With arrays of long doubles, which share memory as the given ones do."""
    wide: dict[int, np.ndarray] = {}
    made = dict(arguments)
    for name, value in arguments.items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
            base = _base(value)
            dtype = np.longdouble if value.dtype.kind == "f" else np.clongdouble
            own = wide.setdefault(id(base), base.astype(dtype))
            times = own.itemsize // base.itemsize
            place = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            strides = [times * stride for stride in value.strides]
            made[name] = np.ndarray(value.shape, dtype, own, times * place, strides)
    return made
