"""test_trace.py: nests over arrays of ours join the trace: they wait, and fuse with NumPy's."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import frit
import frit.numpy as np
from frit import _core

from .written import space_of

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "500"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))


@pytest.fixture(autouse=True)
def nothing_is_too_small() -> Iterator[None]:
    before = _core.set_immediate_bytes(0)
    with numpy.errstate(all="ignore"):  # a test runner's filter of warnings lets nothing wait
        yield
    _core.set_immediate_bytes(before)


@frit.parallelize
def double(a, b):
    for i in range(a.shape[0]):
        b[i] = 2 * a[i]


@frit.parallelize
def five_points(u, v):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]


@frit.parallelize
def positive(a, b, floor):
    for i in range(len(a)):
        t = a[i] * 3.0
        b[i] = t if t > floor else floor


@frit.parallelize
def running_sum(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]


@frit.parallelize
def row_sums(a, b):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        b[i] = s


@frit.parallelize
def blur(image, weights, out):
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            s = 0.0
            for p in range(3):
                for q in range(weights.shape[1]):
                    s += weights[p, q] * image[i + p - 1, j + q - 1]
            out[i, j] = s


@frit.parallelize
def add_up(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s


def kernels(x: Any) -> list[str]:
    """What is pending: a line an operation, a kernel each."""
    text = str(frit.explain(x))
    assert text.startswith("pending")
    return text.split("\nkernel ")[1:]


def test_a_nest_with_a_few_rounds_in_each_point_joins_the_trace():
    image, weights = np.arange(400.0).reshape(20, 20) % 7, np.arange(9.0).reshape(3, 3)
    out = np.zeros((20, 20))
    frit.eval(image, weights, out)
    blur(image, weights, out)
    scaled = out[1:-1, 1:-1] * 0.5 + 1
    assert len(kernels(scaled)) == 1
    expected = numpy.zeros((20, 20))
    blur.__wrapped__(numpy.asarray(image), numpy.asarray(weights), expected)
    numpy.testing.assert_array_equal(numpy.asarray(scaled), expected[1:-1, 1:-1] * 0.5 + 1)


def test_numpys_work_a_nest_and_a_sum_are_one_kernel():
    x = np.arange(40.0)
    y = np.empty(40)
    frit.eval(x, y)
    a = x + 1
    double(a, y)
    total = (y - 3).sum()
    [kernel] = kernels(total)
    assert [line.split()[0] for line in kernel.splitlines()[1:5]] == [
        "add",
        "loop",
        "subtract",
        "add.reduce",
    ]
    assert total == (2 * (numpy.arange(40.0) + 1) - 3).sum()


def test_a_kernel_of_pykokkos_and_a_nest_are_one_kernel():
    import frit.pykokkos as pk

    @pk.workunit
    def halve(i, v):
        v[i] /= 2

    x, y = np.arange(40.0), np.zeros(40)
    frit.eval(x, y)
    double(x, y)
    pk.parallel_for(40, halve, v=y)
    z = y + 1
    [kernel] = kernels(z)
    assert kernel.count("user kernel") == kernel.count("loop nest") == 1
    assert z.tolist() == [i + 1.0 for i in range(40)]


def test_a_nest_waits_until_somebody_looks():
    u = np.arange(64.0).reshape(8, 8)
    v = np.zeros((8, 8))
    five_points(u, v)
    assert _core.is_pending(v)
    w = numpy.arange(64.0).reshape(8, 8)
    expected = numpy.zeros((8, 8))
    five_points.__wrapped__(w, expected)
    assert v[3, 3] == expected[3, 3]
    assert not _core.is_pending(v)
    assert (numpy.asarray(v) == expected).all()


def test_what_is_written_behind_a_nest_does_not_change_it():
    a, b = np.arange(50.0), np.zeros(50)
    double(a, b)
    a[:] = 0
    a += 1
    assert b.tolist() == [2.0 * i for i in range(50)]
    assert a.tolist() == [1.0] * 50


def test_what_was_written_before_a_nest_is_seen():
    a, b = np.zeros(50), np.zeros(50)
    a[10:20] = 3
    b -= 1
    double(a[5:], b[:45])
    b[0] = 7
    expected = numpy.full(50, -1.0)
    expected[:45] = 0
    expected[5:15] = 6
    expected[0] = 7
    assert b.tolist() == expected.tolist()


def test_an_array_that_dies_unseen_is_computed_where_it_is_needed():
    a = np.arange(50.0)
    b, c = np.zeros(50), np.zeros(50)
    double(a, b)
    double(b, c)
    del b
    assert c.tolist() == [4.0 * i for i in range(50)]


def test_the_same_array_twice():
    a = np.arange(50.0)
    double(a, a)
    assert _core.is_pending(a)
    double(a[:-1], a[1:])  # each element from the one before it, which is new by then
    assert a.tolist() == [0.0] * 50 or a.tolist() == _doubled(50)


def _doubled(n: int) -> list[float]:
    a = [2.0 * i for i in range(n)]
    for i in range(n - 1):
        a[i + 1] = 2 * a[i]
    return a


def test_conditions_temporaries_and_numbers():
    a, b = np.linspace(-1, 1, 50), np.zeros(50)
    for floor in (0.5, 0, -2.0):
        positive(a, b, floor)
        assert _core.is_pending(b)
        t = numpy.linspace(-1, 1, 50) * 3.0
        assert numpy.asarray(b).tolist() == numpy.where(t > floor, t, floor).tolist()


@pytest.mark.parametrize("case", ["order", "inner loop", "result", "NumPy's", "seen", "small"])
def test_other_nests_run_at_once(case):
    a, b = np.ones((9, 9)), np.zeros(9)
    frit.eval(a, b)
    if case == "order":
        running_sum(b)
    elif case == "inner loop":
        row_sums(a, b)
    elif case == "result":
        add_up(b)
    elif case == "NumPy's":
        double(a[0], numpy.zeros(9))
    elif case == "seen":
        view = numpy.asarray(b)
        double(a[0], b)
        assert view.tolist() == [2.0] * 9
    elif case == "small":
        _core.set_immediate_bytes(1000)
        double(a[0], b)
    assert not _core.has_pending()


@pytest.mark.parametrize("mode, waits", [("off", False), ("trace", True), ("on", True)])
def test_only_a_trace_waits(process, mode, waits):
    program = """
    import frit, frit.numpy as np
    from frit import _core
    @frit.parallelize
    def f(a):
        for i in range(len(a)):
            a[i] += 1
    a = np.zeros(100_000)
    f(a)
    print(_core.has_pending(), a[5])
    """
    assert process(program, FRIT_FUSION=mode).stdout == f"{waits} 1.0\n"


def test_overflow_is_told_when_the_value_is_there(process):
    program = """
    import frit, frit.numpy as np
    @frit.parallelize
    def grow(a, b):
        for i in range(len(a)):
            b[i] = a[i] * a[i]
    a, b = np.full(100_000, 1e200), np.zeros(100_000)
    grow(a, b)
    print("called")
    print(b[0])
    with np.errstate(all="ignore"):
        grow(a, b)
        print(b[1])
    """
    done = process(program)
    assert done.stdout == "called\ninf\ninf\n"
    assert done.stderr.count("RuntimeWarning: overflow encountered in a loop") == 1
    assert "program.py:5: RuntimeWarning" in done.stderr


@pytest.mark.parametrize("tier", ["interpreter", "compiled"])
def test_what_a_condition_keeps_away_warns_of_nothing(process, tier):
    program = """
    import frit, frit.numpy as np
    from frit import _core
    @frit.parallelize
    def divide(a, b, c):
        for i in range(len(a)):
            if b[i] != 0:
                c[i] = a[i] / b[i]
            else:
                c[i] = -1.0
    @frit.parallelize
    def whole(a, c):
        for i in range(len(a)):
            c[i] = int(a[i]) if a[i] < 100 else 7
    a = np.arange(5000.0)
    b, c, d = a - 5, np.zeros(5000), np.zeros(5000, int)
    divide(a, b, c)
    waits = _core.has_pending()
    a[9] = np.inf
    whole(a, d)  # runs at once: it may have to be undone
    print(waits, c[:7].tolist(), d[8:11].tolist())
    """
    done = process(program, FRIT_TIER=tier)
    quotients = [i / (i - 5) if i != 5 else -1.0 for i in range(7)]
    assert (done.stdout, done.stderr) == (f"True {quotients} [8, 7, 10]\n", "")


def test_the_state_of_errors_is_that_of_the_call(process):
    program = """
    import warnings
    import frit, frit.numpy as np
    @frit.parallelize
    def grow(a, b):
        for i in range(len(a)):
            b[i] = a[i] * a[i]
    a, b = np.full(100_000, 1e200), np.zeros(100_000)
    grow(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        print(b[0])
        try:
            grow(a, b)
        except RuntimeWarning as warning:
            print(warning)
    """
    done = process(program)
    assert done.stdout.splitlines()[0] == "inf"
    assert "overflow" in done.stdout.splitlines()[1]
    assert done.stderr.count("overflow encountered in a loop") == 1


def test_nests_that_nobody_reads_hold_no_more_and_more():
    u, v = np.random.default_rng(0).random((2, 60, 60))
    x, y = numpy.array(u), numpy.array(v)
    live = []
    for step in range(2000):
        five_points(u, v)
        v *= 0.2
        u, v = v, u
        if step % 500 == 0:
            live.append(_core.statistics()["bytes_live"])
    assert max(live) < live[0] + (8 << 20)
    for _ in range(2000):
        y[1:-1, 1:-1] = x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
        y *= 0.2
        x, y = y, x
    assert (numpy.asarray(u) == x).all()


@frit.parallelize
def shifted(a, b, k):
    for i in range(k, a.shape[0]):
        b[i] = a[i - k] * 2


@pytest.mark.on_host  # a device has no lazy zeros
@pytest.mark.parametrize(("n", "waits"), [(1 << 10, False), (1 << 16, True)])
def test_short_nests_that_are_new_each_time_run_at_once(n, waits):
    """With a number that is another at each call: each would be a plan of its own."""

    a = np.arange(float(n))

    def recorded(shifts):
        """How many of the nests; the other operations are the same for each."""
        before = _core.statistics()["recorded"]
        for k in shifts:
            b = np.zeros(n)
            shifted(a, b, k)
            expected = numpy.zeros(n)
            expected[k:] = 2.0 * numpy.arange(n - k)
            assert numpy.array_equal(b, expected), k
        return _core.statistics()["recorded"] - before - 3 * len(shifts)

    assert recorded([1] * 20) == 20  # one plan serves
    assert recorded(range(2, 300)) == (298 if waits else 9)  # the last one a new try
    assert recorded([1] * 300) == (300 if waits else 300 - 221)


# ---- random programs -----------------------------------------------------------------------------


class Steps:
    """A program of NumPy's calls and nests over four arrays and windows of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        for k in range(3):
            self.nest(k)
        self.lines.append("def program(np, A, B, C, D, note):")
        for _ in range(self.random.randint(2, 7)):
            self.step()
        self.lines.append("    return A, B, C, D")
        self.source = "\n".join(self.lines) + "\n"

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def index(self, name: str) -> str:
        text = self.pick(name, name, f"{name} + 1", f"{name} - 1", f"{name} + 2")
        return str(text)

    def element(self, array: str) -> str:
        i, j = self.index("i"), self.index("j")
        return f"{array}[{j}, {i}]" if self.random.random() < 0.15 else f"{array}[{i}, {j}]"

    def value(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return str(self.pick(self.element("a"), self.element("b"), "c", "0.5", "i", "2"))
        left, right = self.value(depth - 1), self.value(depth - 1)
        return str(
            self.pick(
                f"({left} + {right})",
                f"({left} - {right})",
                f"{left} * {right}",
                f"max({left}, {right})",
                f"({left} if {self.element('a')} > c else {right})",
                f"abs({left})",
            )
        )

    def nest(self, k: int) -> None:
        lines = self.lines
        lines.append(f"def nest{k}(a, b, c, n):")
        lines.append(f"    for i in range({self.pick(1, 1, 2)}, n - 2):")
        pad = " " * 8
        if self.random.random() < 0.3:
            lines.append(f"{pad}r = a[i, 1] + c")
        lines.append(f"{pad}for j in range({self.pick(1, 1, 3)}, {self.pick('n - 2', 'n - 3')}):")
        pad += "    "
        has_r = lines[-2].strip().startswith("r =")
        value = self.value(2) + (" + r" if has_r else "")
        target = "b[i, j]" if self.random.random() < 0.8 else self.element("b")
        kind = self.random.random()
        if kind < 0.4:
            lines.append(f"{pad}{target} = {value}")
        elif kind < 0.6:
            lines.append(f"{pad}{target} += {value}")
        elif kind < 0.8:
            lines.append(f"{pad}t = {value}")
            lines.append(f"{pad}{target} = t * t - t")
        else:
            lines.append(f"{pad}if {self.element('a')} > c:")
            lines.append(f"{pad}    {target} = {value}")

    def window(self) -> str:
        array = self.pick("A", "B", "C", "D")
        cut = self.pick("", "", "", ".T", "[::-1]", "[:, ::-1]", "[1:, :-1]", "[:-1, 1:]")
        return f"{array}{cut}"

    def step(self) -> None:
        kind = self.random.random()
        names = ["A", "B", "C", "D"]
        x, y = self.random.choice(names), self.random.choice(names)
        if kind < 0.45:
            c = self.pick("0.5", "1", "-2.0")
            self.line(f"nest{self.random.randrange(3)}({self.window()}, {self.window()}, {c}, 8)")
        elif kind < 0.6:
            self.line(f"{x} = {self.pick(f'{x} + {y}', f'{x} * 0.5', f'np.minimum({x}, {y})')}")
        elif kind < 0.7:
            self.line(f"{x} {self.pick('+=', '*=')} {self.pick('0.25', y)}")
        elif kind < 0.78:
            self.line(f"{x}[1:-1, 2:] = {y}[2:, 1:-1]")
        elif kind < 0.84:
            self.line(f"{x} = {y}.copy()")
        elif kind < 0.92:
            self.line(f"note(float({x}.sum() * 0 + {x}[2, 3]))")
        else:
            self.line(f"{x} = {y}")

    def line(self, text: str) -> None:
        self.lines.append("    " + text)

    def function(self, parallel: bool) -> Any:
        name = f"<trace fuzz {id(self)}>"
        space = space_of(self.source, name)
        if parallel:
            for k in range(3):
                space[f"nest{k}"] = frit.parallelize(space[f"nest{k}"])
        return space["program"]


def test_random_programs_do_what_numpy_and_python_do():
    waited = 0
    for seed in range(FIRST, FIRST + PROGRAMS // 2):
        steps = Steps(seed)
        plain, traced = steps.function(False), steps.function(True)
        for call in range(2):
            numbers = numpy.random.default_rng(seed * 8 + call)
            given = [numbers.integers(-3, 4, (10, 10)) / 2 for _ in range(4)]
            results = []
            for door, program in ((numpy, plain), (np, traced)):
                notes: list[float] = []
                arrays = [door.array(a) for a in given]
                with numpy.errstate(all="ignore"):
                    recorded = _core.statistics()["recorded"]
                    final = program(door, *arrays, notes.append)
                    waited += door is np and _core.statistics()["recorded"] > recorded
                    results.append([numpy.array(x) for x in (*final, *arrays)] + [notes])
            for found, expected in zip(results[1], results[0], strict=True):
                assert numpy.array_equal(found, expected, equal_nan=True), (
                    f"seed {seed}, call {call}\n{steps.source}\n{found}\n{expected}"
                )
    assert waited > PROGRAMS // 8


@pytest.mark.parametrize("n", [1, 2, 100])
def test_indices_are_summed_up_however_many_there_are(n):
    assert (np.arange(n) * 0.5).sum() == (numpy.arange(n) * 0.5).sum()
    assert (np.arange(n) + np.ones((3, n))).max() == n
