"""test_pace.py: which calls of a loop run compiled; what asks it changes nothing else."""

from __future__ import annotations

import ast
import contextlib
import sys
import time
import traceback
import types

import numpy as np
import pytest

import frit
import frit.numpy
from frit import _activity, _core
from frit.loops.find import implicit
from frit.loops.run import place, traits, work

from .written import code_of

NANOSECOND = 1e-9
# Stands for a place.
OWNER = types.SimpleNamespace(ask=lambda *_: None, is_peeled=False, clock=None)


def gate_of(text: str, names: list[str], space: dict | None = None, inputs=None):
    """Of a loop whose names are passed in this order, or found at these places."""
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.For)
    guess = work.guess_of(node, names)
    if guess is None:
        return None
    where = inputs or {name: (k,) for k, name in enumerate(names)}
    paths = [where[name] for name in guess.names]
    return _core.LoopGate(OWNER, space or {}, guess.steps, paths, 0.0, 1.0, 1.0, False)


def rounds(gate, *passed) -> float | None:
    """That the guess has found, if all of them are `a[i] = 0`."""
    seconds = gate.guess(*passed)
    return None if seconds is None else seconds / NANOSECOND / price_of_a_round()


def price_of_a_round() -> float:
    return gate_of("for i in range(1):\n a[i] = 0", ["a"]).guess([]) / NANOSECOND


A = np.zeros((3, 4, 5))


@pytest.mark.parametrize(
    ("body", "ends_early"),
    [
        ("a[i] = 0", False),
        ("if a[i]: break", True),
        ("for j in range(9):\n  if a[j]: break", True),
        ("if a[i]: continue", False),
    ],
)
def test_a_guess_knows_whether_a_loop_may_end_early(body, ends_early):
    node = ast.parse(f"for i in range(n):\n {body}").body[0]
    assert work.guess_of(node, ["a", "n"]).ends_early == ends_early


@pytest.mark.parametrize(
    ("series", "passed", "expected"),
    [
        ("range(7)", (), 7),
        ("range(3, 9, 2)", (), 3),
        ("range(n)", (12,), 12),
        ("range(n)", (-3,), 0),
        ("range(n)", (np.int16(12),), 12),
        ("range(n)", (2.0,), None),
        ("range(n)", (2**70,), 2.0**70),
        ("range(n - 1, 0, -1)", (12,), 11),
        ("range(n // 3, n % 7 + n * 2)", (12,), 25),
        ("range(min(n, 5), max(n, 8))", (12,), 7),
        ("range(int(n / 5))", (12,), 2),
        ("range(0, 10, n)", (0,), None),
        ("range(10 // n)", (0,), None),
        ("range(len(n))", ([1, 2, 3],), 3),
        ("range(len(n) - 1)", ("four",), 3),
        ("range(len(n))", ({1: 2},), None),
        ("range(n.shape[1])", (A,), 4),
        ("range(n.shape[-1])", (frit.numpy.zeros((3, 4)),), 4),
        ("range(n.shape[5])", (A,), None),
        ("range(n.shape[-4])", (A,), None),
        ("range(n.size)", (A,), 60),
        ("n", (A,), 3),
        ("enumerate(n)", (A,), 3),
        ("(1, 2)", (), 2),
    ],
)
def test_a_guess_knows_the_rounds(series, passed, expected):
    gate = gate_of(f"for i in {series}:\n a[i] = 0", ["n", "a"])
    found = rounds(gate, *passed, A) if passed else rounds(gate, 0, A)
    assert found == (pytest.approx(expected) if expected is not None else None)


def test_a_guess_is_made_anew_where_what_it_reads_has_changed():
    gate = gate_of("for i in range(n):\n for j in range(len(a)):\n  a[j] = 0", ["n", "a"])
    own, one = work.ROUND, price_of_a_round()
    for n, size in ((3, 4), (3, 4), (3, 5), (2, 5), (0, 5), (2.0, 5), (2, 5), (2, 1)):
        expected = None if isinstance(n, float) else n * (own + size * one) * NANOSECOND
        found = gate.guess(n, np.zeros(size))
        assert found == (None if expected is None else pytest.approx(expected))


def test_a_guess_of_a_triangle_takes_the_middle():
    gate = gate_of("for i in range(n):\n for j in range(i):\n  a[j] = 0", ["n", "a"])
    own = work.ROUND * NANOSECOND
    assert gate.guess(10, A) == pytest.approx(10 * (own + 5 * price_of_a_round() * NANOSECOND))


def test_a_guess_reads_variables_and_attributes_without_running_code():
    class Plain:
        def __init__(self):
            self.n = 6

    class Asked:
        @property
        def n(self):
            raise AssertionError("a property is run")

    text = "for i in range(n):\n a[i] = 0"
    of_module = gate_of(text, ["n", "a"], {"n": 4}, {"n": ("n",)})
    assert rounds(of_module, A) == 4
    of_object = gate_of(text, ["n", "a"], None, {"n": (0, "n")})
    assert rounds(of_object, Plain()) == 6
    assert rounds(of_object, Asked()) is None
    assert rounds(of_object) is None


@pytest.mark.parametrize("steps", [[("+", 0.0)], [("c", 1.0), ("r", 0.0)], [("v", 3.0)]])
def test_a_program_that_is_none_is_refused(steps):
    with pytest.raises((RuntimeError, SystemError)):
        gate = _core.LoopGate(OWNER, {}, steps, [], 0.0, 1.0, 1.0, False)
        gate.guess()


@pytest.mark.parametrize(("compiled", "most", "least"), [(300e-6, 60, 2), (0.0, 400, 300)])
def test_a_loop_of_a_module_does_what_took_less_time(compiled, most, least):
    class Owner:
        """A place whose nest takes so long, and leaves the last round."""

        is_peeled, clock, runs = True, None, 0

        def ask_rest(self, rounds):
            if gate.verdict():
                return rounds
            self.runs += 1
            until = time.perf_counter() + compiled
            while time.perf_counter() < until:
                pass
            return rounds[-1:]

    owner, node = Owner(), ast.parse("for i in range(500):\n a[i] = 0").body[0]
    steps = work.guess_of(node, ["a"]).steps
    gate = _core.LoopGate(owner, {}, steps, [], 0.0, 0.0, 0.0, False)
    gate.note_translated()
    for _ in range(400):
        for _ in gate.rest(range(500)):
            pass
        if owner.clock is not None:
            owner.clock.stop()
    assert least <= owner.runs <= most


def first_of(a, n, x):
    for i in range(n):
        if a[i] == x:
            return i
    return -1


def tree_sum(a, depth):
    total = 0.0
    for k in range(len(a)):
        if depth > 0 and k == 1:
            total += branch_sum(a, depth - 1)
        total += a[k]
    return total


def branch_sum(a, depth):
    return tree_sum(a, depth)  # a loop that calls its own function is known to stay Python


def divided(a):
    for i in range(len(a)):
        a[i] = 1 / (len(a) - 3 - i)
    return a


TIMED = [
    (first_of, lambda: (np.arange(9), 9, 5)),
    (first_of, lambda: (np.arange(9), 9, 50)),
    (first_of, lambda: (np.arange(9), 12, 50)),
    (tree_sum, lambda: (np.arange(4.0), 3)),
    (divided, lambda: (np.ones(2),)),
    (divided, lambda: (np.ones(6),)),
]


@pytest.mark.parametrize(("function", "arguments"), TIMED)
def test_a_loop_that_is_timed_does_what_it_did(monkeypatch, function, arguments):
    monkeypatch.setattr(place, "SHORT", 1.0)  # all of them are
    parallel = frit.parallelize(function)
    # A function that calls itself calls what is timed.
    monkeypatch.setitem(globals(), function.__name__, parallel)

    def outcome(f):
        given = arguments()
        try:
            return repr(f(*given)), repr(given)
        except (IndexError, ZeroDivisionError) as error:
            return repr(error), repr(given), traceback.extract_tb(error.__traceback__)[-1].lineno

    def plain(*given):
        return function(*given)

    monkeypatch.setitem(globals(), function.__name__, plain)
    expected = outcome(plain)
    monkeypatch.setitem(globals(), function.__name__, parallel)
    for _ in range(200):
        got = outcome(parallel)
        assert got == expected
    for one in parallel.__frit__.places:
        assert one.why in ("it is too short", "it has not run yet")


@pytest.mark.parametrize(("function", "arguments"), TIMED)
def test_a_tracer_sees_the_lines_of_the_text(monkeypatch, function, arguments):
    monkeypatch.setattr(place, "SHORT", 1.0)
    parallel = frit.parallelize(function)
    for _ in range(3):
        with contextlib.suppress(IndexError, ZeroDivisionError):
            parallel(*arguments())

    def lines_of(f):
        seen = []

        def trace(frame: types.FrameType, event: str, _):
            if frame.f_code.co_name != function.__name__:
                return None
            seen.append((event, frame.f_lineno))
            return trace

        sys.settrace(trace)
        try:
            f(*arguments())
        except (IndexError, ZeroDivisionError):
            pass
        finally:
            sys.settrace(None)
        return seen

    assert lines_of(parallel) == lines_of(function)


def test_a_call_like_the_latest_sees_what_has_changed(monkeypatch):
    parallel = frit.parallelize(changed)

    def doubled(x):
        return 2 * x

    def halved(x):
        return x / 2

    for function, expected in ((doubled, 2.0), (halved, 0.5), (doubled, 2.0)):
        monkeypatch.setitem(globals(), "change", function)
        for _ in range(5):
            a = np.ones(40)
            parallel(a)
            assert np.array_equal(a, np.full(40, expected))
    monkeypatch.setitem(globals(), "range", lambda n: [0])  # from now on it is a variable
    a = np.ones(40)
    parallel(a)
    assert a.sum() == 41.0


def change(x):
    return x


def changed(a):
    for i in range(len(a)):
        a[i] = change(a[i])


HOPELESS = """
import random, sys
import numpy as np
words = []
def walk(path):
    x = 0
    for k in range(len(path)):
        x += random.gauss(0, 1)
        path[k] = x
    return path
def pick(path):
    for k in range(len(path)):
        path[k] = 1.0 if "ab"[k % 2] == "a" else 0.0
    return path
random.seed(1)
for _ in range(40):
    path = walk(np.zeros(2000))
print(path[-1], pick(np.zeros(9)).sum())
if "frit" in sys.modules:
    assert "frit.loops.nest.nest" not in sys.modules
    import frit
    print("random.gauss()" in str(frit.explain(walk)), file=sys.stderr)
"""


HOPELESS_CLASS = """
import sys
import numpy as np
def mirrored(n):
    for number in range(n - 1, 9999, -1):
        if str(number) == str(number)[::-1]:
            for divisor in range(999, 99, -1):
                if number % divisor == 0 and number // divisor < 1000:
                    return number
for n in range(20000, 21000, 100):  # of no more, the inner loop would be worth it
    found = mirrored(n)
print(found)
if "frit" in sys.modules:
    assert "frit.loops.nest.nest" not in sys.modules
    import frit
    print("str()" in str(frit.explain(mirrored)), file=sys.stderr)
"""


@pytest.mark.parametrize("program", [HOPELESS, HOPELESS_CLASS])
def test_what_is_known_to_stay_python_loads_no_translator(python, file, program):
    path = file("program.py", program)
    ours = python("-m", "frit", path)
    assert ours.stdout == python(path).stdout
    assert ours.stderr.strip() == "True"


NAMED_AS_LOST = """
import numpy as np
def digits(x):
    return len(str(x))
def counted(a):
    for i in range(len(a)):
        a[i] = digits(i)
    return a
print(counted(np.ones(400000)).sum())
"""


def test_a_call_that_stays_python_is_warned_of_by_nobody(python, file):
    done = python("-W", "error", "-m", "frit", file("program.py", NAMED_AS_LOST))
    assert (done.stdout, done.stderr) == ("2288890.0\n", "")
    done = python("-W", "always", "-m", "frit", file("program.py", NAMED_AS_LOST))
    assert done.stderr == ""


def test_a_loop_that_stays_python_thousands_of_times_is_not_asked_for_again(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    text = "def f(x):\n    for i in range(10):\n        x[i] = i\n    return x\n"
    plain = code_of(text, "<settled>")
    space = {}
    exec(implicit.code_of(text, plain), space)
    f = space["f"]
    for _ in range(6000):
        assert f([0] * 10) == [*range(10)]
    assert f.__code__ in plain.co_consts


class Named:
    """Stands under a function's name."""

    def __init__(self, function):
        self.function = function

    def __getattr__(self, name):
        raise KeyError(name)


@pytest.mark.parametrize("kind", ["object", "circle", "profiled"])
def test_whoever_has_the_name_of_a_loops_function_is_left_alone(monkeypatch, kind):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    text = "def f(x):\n    for i in range(10):\n        x[i] = i\n    return x\n"
    space = {}
    exec(implicit.code_of(text, code_of(text, f"<named {kind}>")), space)
    f = space["f"]
    rewritten = f.__code__
    if kind == "object":
        space["f"] = Named(f)
    elif kind == "circle":
        space["f"] = lambda x: x
        space["f"].__wrapped__ = space["f"]
    else:
        sys.setprofile(lambda *_: None)
    try:
        for _ in range(6000):
            assert f([0] * 10) == [*range(10)]
    finally:
        sys.setprofile(None)
    assert f.__code__ is rewritten


def counted(idx, w, hist):
    for i in range(len(idx)):
        hist[idx[i]] += w[i]


def test_calls_of_one_kind_are_asked_what_their_elements_are():
    """Each is like the first to the gate: types, extents and strides."""
    indices = np.arange(20) % 7

    def call(idx):
        return idx, np.ones(20), np.zeros(20)

    def shared(begin):
        memory = np.zeros(40)
        idx = memory.view(np.int64)[:20]
        idx[:] = indices
        return idx, np.ones(20), memory[begin : begin + 20]

    calls = [
        lambda: call(indices.copy()),
        lambda: call(indices[::-1].copy()),
        lambda: call(np.where(indices == 3, 20, indices)),  # IndexError half-way
        lambda: call(indices - 20),  # from the end
        lambda: call(indices - 21),
        lambda: shared(0),  # the loop writes its indices
        lambda: shared(20),
        lambda: call(indices.copy()),
    ]
    function = frit.parallelize(counted)
    for make in [*calls, *calls]:
        got, expected = make(), make()
        errors = []
        for f, given in ((function, got), (counted, expected)):
            try:
                f(*given)
            except IndexError as error:
                errors.append(str(error))
        assert len(errors) in (0, 2) and len({*errors}) < 2
        for x, y in zip(got, expected, strict=True):
            np.testing.assert_array_equal(x, y)
    (site,) = function.__frit__.sites
    assert site.gate.runs() >= 4


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8])
def test_a_call_without_elements_or_of_huge_ones_follows_others(dtype):
    function = frit.parallelize(counted)
    for _ in range(2):
        for idx in ([], [1, 2, 2], [np.iinfo(dtype).max, 0, 0], [2, 1, 0]):
            hists = []
            for f in (function, counted):
                hists.append(np.zeros(3))
                with contextlib.suppress(IndexError, OverflowError):
                    f(np.array(idx, dtype), np.ones(len(idx)), hists[-1])
            np.testing.assert_array_equal(*hists)


def functions(bodies: list[str]) -> dict:
    space: dict = {}
    exec("\n".join(f"def f{k}(x):\n    {body}" for k, body in enumerate(bodies)), space)
    return space


@pytest.mark.timeout(60)
def test_functions_that_all_call_one_another_are_priced():
    """There are 40**4 ways through them."""
    calls = [f"f{k}(x)" for k in range(40)]
    space = functions(["return " + " + ".join({*calls} - {own}) for own in calls])
    alone = functions(["return " + "x + " * 39 + "x"] * 40)
    assert traits.price_of(space["f0"]) > 1000 * traits.price_of(alone["f0"])
