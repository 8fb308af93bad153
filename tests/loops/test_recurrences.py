"""test_recurrences.py: loops in order whose rounds read what the rounds before them have stored.

FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED: how many programs, and the first.
"""

from __future__ import annotations

import itertools
import os
import random
import warnings

import numpy as np
import pytest

import frit

from .written import function_of, space_of

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "400"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
pytestmark = pytest.mark.timeout(max(900, PROGRAMS))

HEADS = [
    "for i in range({m}, n):",
    "for i in range(n - 1 - {m}, -1, -1):",
    "for i in range({m}, n, 2):",
    "for i in range({m}, k):",
]
TERMS = ["x[i]", "x[i - 1]", "0.5", "c", "z[i]", "i", "x[k]"]
OPERATIONS = [
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "max({}, {})",
    "min({}, {})",
    "({} if {} > 0 else 1)",
]


class Program:
    """A function of y, z, x, c, k whose loops store y[i] from its neighbours."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["def f(y, z, x, c, k):", "    n = len(y)"]
        self.rows = self.random.random() < 0.25
        for _ in range(self.random.choice([1, 1, 2])):
            self.loop()
        self.text = "\n".join(self.lines) + "\n"
        self.function = function_of(self.text, f"<recurrences {seed}>")

    def loop(self) -> None:
        pick = self.random.choice
        head, self.most = pick(HEADS), pick([1, 1, 2, 3, 5])
        self.sign = "+" if "-1, -1" in head else "-"
        indent = "    "
        if self.rows:
            self.lines.append(indent + "for r in range(x.shape[0]):")
            indent += "    "
        self.lines.append(indent + head.format(m=self.most))
        indent += "    "
        for _ in range(pick([1, 1, 2, 3])):
            self.statement(indent)

    def near(self, name: str) -> str:
        distance = self.random.choice([1, 1, 1, 2, self.most])
        distance = min(distance, self.most)
        return f"{name}[i {self.sign} {distance}]"

    def term(self) -> str:
        return self.random.choice([self.near("y"), self.near("y"), *TERMS])

    def statement(self, indent: str) -> None:
        pick = self.random.choice
        value = pick(OPERATIONS).format(self.near("y"), self.term())
        if self.random.random() < 0.5:
            value = pick(OPERATIONS[:3]).format(value, self.term())
        target = pick(["y[i]", "y[i]", "y[i]", "z[i]", "y[i - 1]", "y[k]"])
        kind = self.random.random()
        if kind < 0.15:
            self.lines.append(f"{indent}if x[i] > 0:")
            indent += "    "
        self.lines.append(f"{indent}{target} {pick(['=', '=', '=', '+=', '*='])} {value}")
        if 0.15 <= kind < 0.25:
            self.lines.append(f"{indent}c = c + {self.near('y')}")

    def arguments(self, kind: str, n: int) -> list:
        make = np.random.default_rng(n)

        def array() -> np.ndarray:
            numbers = make.integers(-2, 3, n + 6)
            return (numbers * (0.5 if kind in "efdD" else 1)).astype(kind)

        base = array()
        y, z, x = base[:n], array()[:n], array()[:n]
        how = make.integers(0, 6)
        if how == 0:
            x = base[3 : n + 3]
        elif how == 1:
            z = base[1 : n + 1]
        elif how == 2:
            y = np.repeat(base[:n], 2)[::2]
        elif how == 3:
            y = y[::-1]
        return [y, z, x, 2 if kind in "bl" else 0.75, max(n // 2, 0)]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + PROGRAMS))
def test_a_random_recurrence_gives_what_python_gives(seed):
    program = Program(seed)
    compiled = frit.parallelize(program.function)
    for kind in random.Random(seed).sample(["d", "d", "l", "f", "e", "b", "D"], 2):
        for n in (0, 1, 2, 3, 6, 9, 40):
            outcomes = []
            for run in (program.function, compiled):
                given = program.arguments(kind, n)
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    try:
                        run(*given)
                        error = None
                    except Exception as raised:
                        error = type(raised), str(raised)
                outcomes.append((error, [a.tobytes() for a in given[:3]]))
            assert outcomes[0] == outcomes[1], f"{program.text}\n{kind} {n}"


def fibonacci(y, a, b):
    for i in range(2, len(y)):
        y[i] = a * y[i - 1] + b * y[i - 2]


def filtered(y, a, b):
    for r in range(y.shape[0]):
        for i in range(2, y.shape[1]):
            y[r, i] = a * y[r, i] + b * y[r, i - 1] - y[r, i - 2] * 0.5


def solved(y, a, b):
    for i in range(len(y) - 2, -1, -1):
        y[i] = (y[i] - a * y[i + 1]) / b


def congruent(y, a, b):
    for i in range(1, len(y)):
        y[i] = (y[i - 1] * 1103515245 + 12345) % 2147483648
        y[i] = y[i] // 7 % 1000 if i % 3 else y[i]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 9, 10, 11, 17, 1000])
@pytest.mark.parametrize("kind", ["d", "f", "l"])
@pytest.mark.parametrize("function", [fibonacci, filtered, solved, congruent])
def test_recurrences_that_people_write(function, kind, n):
    shape = (3, n) if function is filtered else (n,)
    a, b = (1, 1) if kind == "l" else (0.75, 1.25)
    start = np.random.default_rng(n).integers(-9, 9, shape).astype(kind)
    with np.errstate(all="ignore"):
        expected, found = start.copy(), start.copy()
        function(expected, a, b)
        compiled = frit.parallelize(function)
        compiled(found, a, b)
    assert found.tobytes() == expected.tobytes()
    # Nothing is read in front of the array or behind it.
    whole = np.full(shape[:-1] + (n + 8,), 5, kind)
    whole[..., 4 : n + 4] = start
    with np.errstate(all="ignore"):
        compiled(whole[..., 4 : n + 4], a, b)
    assert whole[..., 4 : n + 4].tobytes() == expected.tobytes()
    assert (whole[..., :4] == 5).all() and (whole[..., n + 4 :] == 5).all()


@pytest.mark.parametrize("divisor", [1, -1, 2, -2, 3, 7, -7, 1000, 2**31, 2**62, -(2**63), 0])
@pytest.mark.parametrize("kind", ["l", "L"])
def test_numbers_one_by_one_are_divided_as_vectors_are(divisor, kind):
    if kind == "L" and divisor < 0:
        pytest.skip("no number of this type")
    text = f"""
def divide(x, q, r, d):
    for i in range(1, len(x)):
        q[i] = x[i] // {divisor if divisor else "d[0]"} + q[i - 1] * 0
        r[i] = x[i] % {divisor if divisor else "d[0]"} + r[i - 1] * 0
        q[i] += x[i] // d[i]
        r[i] += x[i] % d[i]
"""
    name = f"<divide {divisor} {kind}>"
    scope = space_of(text, name)
    info = np.iinfo(kind)
    numbers = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 5, 6, 999, 1000, 2**53 + 1]
    if kind == "l":
        numbers += [-1, -5, -7, -1000, -(2**53) - 1, -(2**31)]
    x = np.repeat(np.array(numbers, kind), len(numbers))
    d = np.tile(np.array(numbers, kind), len(numbers))
    d[0] = 0
    outcomes = []
    for function in (scope["divide"], frit.parallelize(scope["divide"])):
        q, r = np.zeros_like(x), np.zeros_like(x)
        with warnings.catch_warnings(record=True) as told, np.errstate(all="warn"):
            warnings.simplefilter("always")
            function(x, q, r, d)
        words = {str(w.message).partition(" encountered")[0] for w in told} & {"divide by zero"}
        outcomes.append((q.tolist(), r.tolist(), words))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("around", ["", "for step in range(2):"])
@pytest.mark.parametrize("down", ["", "i", "j", "k", "ij", "jk", "ik", "ijk"])
@pytest.mark.parametrize("order", map("".join, itertools.permutations("ijk")))
def test_nests_that_carry_over_two_of_three_loops(order, down, around):
    head, before = {}, {}
    for axis, name in enumerate("ijk"):
        n = f"u.shape[{axis}]"
        bounds = f"{n} - 2, 0, -1" if name in down else f"1, {n} - 1"
        head[name] = f"for {name} in range({bounds}):"
        before[name] = f"{name} + 1" if name in down else f"{name} - 1"
    lines = [around] if around else []
    lines += [head[name] for name in order]
    lines.append(f"u[i, j, k] = 0.5 * u[i, {before['j']}, k] + u[i, j, {before['k']}]")
    text = "def f(u):\n" + "".join(f"{' ' * (k + 1)}{line}\n" for k, line in enumerate(lines))
    function = function_of(text, f"<carried {order} {down} {around}>")
    ours = frit.parallelize(function)
    start = np.random.default_rng(1).integers(-8, 8, (18, 19, 20)) / 8
    expected = start.copy()
    function(expected)
    for _ in range(2):
        u = start.copy()
        ours(u)
        assert u.tobytes() == expected.tobytes(), text
