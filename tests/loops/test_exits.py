"""test_exits.py: nests that leave rounds to Python, and go on behind them, do what Python does.

FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED: how many programs, and the first.
"""

from __future__ import annotations

import contextlib
import copy
import io
import os
import random
import textwrap

import numpy as np
import pytest

import frit
from frit import _activity, _kept
from frit.loops.find import implicit
from frit.loops.run import place, turn_place, turns

from . import test_whiles
from .test_loops import runs_compiled
from .test_whiles import (
    STEPS,
    Thing,
    arguments_of,
    assert_traced_alike,
    runs_of_function,
    runs_of_module,
    words,
)
from .written import code_of

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "300"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
pytestmark = pytest.mark.timeout(max(900, PROGRAMS))


@pytest.fixture
def at_once(monkeypatch):
    """Places are asked behind a round or two, and behind each exit, whatever that costs."""
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(turn_place.TurnPlace, "may_be_worth_it", lambda *_: True)
    monkeypatch.setattr(turns, "FIRST", 2)
    monkeypatch.setattr(turns.Turns, "following", lambda self: self.first)
    monkeypatch.setattr(turns.Turns, "pays", lambda *_: True)


RANGES = [
    "range(n)",
    "range(n)",
    "range(2, n)",
    "range(n, 0, -1)",
    "range(-3, n, 2)",
    "range(n, -2, -3)",
    "range(0, n, abs(k) + 1)",
    "range(i, n + i)",
]
CONDITIONS = [
    "r % 3 == 0",
    "r % 7 == 1",
    "r % 20 == 2",
    "r == 11",
    "s > 40",
    "t < x",
    "a[r % 8] > 1",
    "xs[r % len(xs)] < 2 or r > 50",
    "o.k > 3",
    "w",
]
PYTHONS = [
    "print(r, s, t)",
    "log.append(f'{s!r} {t!r}')",
    "notes[r] = 'at ' + repr(s)",
    "w = not w; print(w)",
    "s = 0; print('s')",
    "t = 0.5; log.append('t')",
    "o.k += 1; print(o.k)",
    "a[r % 8] += 1; print('a')",
    "xs.append(r); print(len(xs))",
    "n = n - 1; print(n)",
    "log.append(str(s // (r - 9)))",
    "a = a.copy(); print('copy')",
    "u = 'text'",
    "print(u)",
    "with contextlib.suppress(ZeroDivisionError): t = 1 / (r - 4)",
    "log.append([str(q) for q in range(r % 3)])",
    "print('k'); continue",
    "print('b'); break",
    "log.append('ret'); return r, s, log",
    "if r % 2: print('odd', r)",
    "out.clear()",
    "log.extend(xs)",
]


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def exit_of(numbers: random.Random, steps: list[str], pythons: list[str]) -> list[str]:
    """An `if` with something that only Python can do."""
    python = [numbers.choice(pythons) for _ in range(numbers.choice([1, 1, 2]))]
    other, test = [numbers.choice(steps)], numbers.choice(CONDITIONS)
    form = numbers.randrange(5)
    if form == 0:
        return [f"if {test}:", *indented(other), "else:", *indented(python)]
    if form == 1:
        inner = [f"if {numbers.choice(CONDITIONS)}:", *indented(python)]
        return [f"if {test}:", *indented(other + inner + [numbers.choice(steps)])]
    if form == 2:
        second = f"elif {numbers.choice(CONDITIONS)}:"
        return [f"if {test}:", *indented(other), second, *indented(python)]
    return [f"if {test}:", *indented(python)]


def body(numbers: random.Random, is_module: bool) -> str:
    """A loop with exits, and what stands around it."""
    steps = [step for step in STEPS if not (is_module and "return" in step)]
    pythons = [p for p in PYTHONS if not (is_module and "return" in p)]
    lines = [[numbers.choice(steps)] for _ in range(numbers.randint(1, 4))]
    lines += [exit_of(numbers, steps, pythons) for _ in range(numbers.choice([1, 1, 2]))]
    numbers.shuffle(lines)
    flat = [line for part in lines for line in part]
    if numbers.random() < 0.6:
        loop = [f"for r in {numbers.choice(RANGES)}:", *indented(["i += 1", *flat])]
    else:
        test = numbers.choice(["r < n", "r < n and s < 900", "True"])
        end = ["if r >= n: break"] if test == "True" else []
        loop = [f"while {test}:", *indented(["r += 1", "i += 1", *end, *flat])]
    if numbers.random() < 0.2:
        loop = ["for again in range(2):", *indented(["r = -1", *loop])]
    given = [
        "i = 0; r = -1; w = False; log = []; notes = {}",
        f"s = {numbers.choice(['0', '0', '0.0', 'x', 'n', '1'])}",
        f"t = {numbers.choice(['1', 'x', '0.5'])}",
        f"k = {numbers.choice(['0', '1', '-2'])}",
        "out = []",
        *(["u = 0"] if numbers.random() < 0.7 else []),
    ]
    return "\n".join([*given, *loop]) + "\n"


def outcome(run, given: dict[str, object]) -> tuple[object, ...]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        found = test_whiles.outcome(run, given)
    return *found, printed.getvalue()


SPACE = {**test_whiles.SPACE, "contextlib": contextlib}


@np.errstate(all="ignore")
def test_random_loops_with_exits_in_functions_do_what_python_does(at_once):
    ran = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        numbers = random.Random(seed)
        inner = textwrap.indent(body(numbers, False), "    ")
        text = f"def f(a, xs, n, x, o):\n{inner}    return i, r, s, t, w, log, notes, out\n"
        calls = [arguments_of(numbers) for _ in range(3)]
        ran += runs_of_function(seed, text, SPACE, calls, outcome)
    assert ran > PROGRAMS // 2  # else nothing was tested


@np.errstate(all="ignore")
def test_random_loops_with_exits_in_modules_do_what_python_does(at_once):
    ran = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        numbers = random.Random(-seed)
        text, given = body(numbers, True), arguments_of(numbers)
        ran += runs_of_module(seed, text, SPACE, given, outcome)
    assert ran > PROGRAMS // 2  # else nothing was tested


def calls_of(function) -> int:
    return sum(site.calls for site in function.__frit__.sites)


def logistic(n, m):
    x, total, log = 0.5, 0.0, []
    for i in range(n):
        x = 3.9 * x * (1 - x)
        if i % m == 0:
            log.append(f"{i}: {x!r}")
        elif x > 0.9749:
            log.append("high")
            continue
        total += x
    return x, total, i, log


def test_the_nest_goes_on_behind_an_exit(at_once):
    parallel = frit.parallelize(logistic)
    for n, m in ((1, 1), (2, 1), (3, 1), (1000, 100), (1000, 999), (5000, 7)):
        assert logistic(n, m) == parallel(n, m)
    assert calls_of(parallel) > 700
    with pytest.raises(UnboundLocalError, match="'i'"):
        parallel(0, 1)


def test_explain_says_which_lines_are_left_to_python(at_once):
    parallel = frit.parallelize(logistic)
    parallel(500, 100)
    first = logistic.__code__.co_firstlineno
    words = f"serial: Python runs lines {first + 5} and {first + 7}"
    assert words in str(frit.explain(parallel))

    def search(n):
        k = 0
        while k < n:
            k += 1
            if k == 90:
                print("ninety")
        return k

    parallel = frit.parallelize(search)
    parallel(100)
    words = f"nobody knows how many rounds a while takes; Python runs line {first_of(search) + 5}"
    assert words in str(frit.explain(parallel))


def first_of(function) -> int:
    return function.__code__.co_firstlineno


def test_exits_that_come_too_often_are_left_to_python():
    parallel = frit.parallelize(logistic)
    for _ in range(3):
        assert logistic(20_000, 2) == parallel(20_000, 2)
    assert calls_of(parallel) < 200


def test_exits_that_are_rare_pay(monkeypatch):
    parallel = frit.parallelize(logistic)
    assert logistic(30_000, 10_000) == parallel(30_000, 10_000)
    loops = [p for p in parallel.__frit__.places if p.turns is not None]
    assert [p.turns.exits for p in loops] == [
        [(first_of(logistic) + 5, 12), (first_of(logistic) + 7, 12)]
    ]


def test_a_range_is_what_python_says_it_is(at_once):
    def f(of, n):
        range = of
        x = []
        for i in range(n):
            if i > 2:
                x.append(f"{i}")
            if i > 30:
                break
        return x, i

    parallel = frit.parallelize(f)
    for of in (range, iter, lambda n: [1, 4], lambda n: (k for k in (5, 6, 40, 7)), list):
        for n in (40, 2**80, 2**63 - 1, -1, [3, 9]):
            try:
                expected = f(of, n)
            except Exception as error:
                with pytest.raises(type(error)) as caught:
                    parallel(of, n)
                assert str(caught.value) == str(error)
            else:
                assert parallel(of, n) == expected


def test_a_range_of_what_is_unpacked(at_once):
    def f(bounds, step):
        log = []
        for i in range(*bounds):
            if i % 7 == 3:
                log.append(f"{i}")
        for i in range(40, *bounds[1:]):
            if i % 7 == 3:
                log.append(f"{i}")
        for i in range(0, 90, step):
            if i % 7 == 3:
                log.append(f"{i}")
        return log, i

    parallel = frit.parallelize(f)
    for bounds in ((60,), (5, 70), (0, 90, 2), (90, 0, -3)):
        for step in (1, 2, 3, True, np.int64(2)):
            assert f(bounds, step) == parallel(bounds, step)


def test_a_generator_is_left_at_its_exits(at_once):
    def f(n):
        x = 0.5
        for i in range(n):
            x = 3.9 * x * (1 - x)
            if i % 50 == 3:
                got = yield i, x
                if got:
                    x = got
        return x

    def all_of(generator):
        found = [next(generator)]
        try:
            while True:
                found.append(generator.send(0.25 if len(found) % 3 == 0 else None))
        except StopIteration as end:
            found.append(end.value)
        return found

    parallel = frit.parallelize(f)
    assert all_of(f(900)) == all_of(parallel(900))
    first, second = parallel(300), parallel(400)  # two of them, by turns
    one, two = f(300), f(400)
    for _ in range(5):
        assert (next(first), next(second)) == (next(one), next(two))
    assert calls_of(parallel) > 10


def test_a_recursive_function(at_once):
    def f(depth, n):
        total, log = 0.0, []
        for i in range(n):
            total += i * 0.5
            if i % 9 == 4:
                log.append(f"{depth} {i} {total}")
                if depth:
                    log += parallel(depth - 1, n - 1) if is_parallel else f(depth - 1, n - 1)
        return [*log, str(total)]

    is_parallel = False
    expected = f(2, 40)
    is_parallel = True
    parallel = frit.parallelize(f)
    assert parallel(2, 40) == expected
    assert calls_of(parallel) > 10


def test_a_variable_of_a_function_around_it(at_once):
    def f(n):
        x = 0.0

        def show():
            return f"{x:.3f}"

        log = []
        for i in range(n):
            x += i * 0.25
            if i % 10 == 9:
                log.append(f"{i} {show()}")
        return log, show()

    parallel = frit.parallelize(f)
    assert f(200) == parallel(200)
    assert calls_of(parallel) > 10


def test_attributes_are_stored_at_exits(at_once):
    def f(thing, n):
        log = []
        for i in range(n):
            thing.k += i * 0.5
            thing.w[i % 4] += thing.k
            if i % 20 == 11:
                log.append(f"{thing.k} {thing.w.tolist()}")
                thing.k = 0.0
        return log

    parallel = frit.parallelize(f)
    given = Thing(1.0), Thing(1.0)
    assert f(given[0], 300) == parallel(given[1], 300)
    assert words(given[0]) == words(given[1])
    assert calls_of(parallel) > 10


def test_random_numbers_come_in_their_order(at_once):
    def f(n):
        inside, log = 0, []
        for i in range(n):
            x, y = np.random.rand(), np.random.rand()
            if x * x + y * y < 1.0:
                inside += 1
            if i % 40 == 7:
                log.append(f"{i} {4 * inside / (i + 1)} {np.random.rand()}")
            if np.random.random() < 0.02:
                log.append(f"rare {i}")
        return log, inside, np.random.rand()

    parallel = frit.parallelize(f)
    np.random.seed(5)
    expected = f(2000)
    np.random.seed(5)
    assert parallel(2000) == expected
    assert calls_of(parallel) > 10


def test_an_error_in_a_branch_has_its_line_and_its_effects(at_once):
    def f(a, n):
        s = 0
        for i in range(n):
            s += i
            a[i] = s
            if s > 300:
                print(f"{a[i + 900]}")
        return s

    parallel = frit.parallelize(f)
    first, second = np.zeros(500), np.zeros(500)
    with pytest.raises(IndexError) as expected:
        f(first, 400)
    with pytest.raises(IndexError) as got:
        parallel(second, 400)
    assert str(expected.value) == str(got.value)
    assert expected.traceback[-1].lineno == got.traceback[-1].lineno
    assert first.tolist() == second.tolist()


def test_an_error_in_the_nest_comes_where_python_raises_it(at_once):
    def f(a, n):
        log = []
        for i in range(n):
            a[i] = i * 0.5
            if i % 50 == 0:
                log.append(f"{i}")
        return log

    parallel = frit.parallelize(f)
    for n in (200, 300, 200):
        first, second = np.zeros(260), np.zeros(260)
        found = []
        for function, array in ((f, first), (parallel, second)):
            try:
                found.append(function(array, n))
            except IndexError as error:
                found.append(str(error))
        assert found[0] == found[1]
        assert first.tolist() == second.tolist()


LOOPS = ["for i in range(n):", "for i in range(n, 0, -2):", "while i < n:"]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("step", ["s += i", "if i % 2: continue", "if i > 4: break"])
def test_a_traced_loop_with_exits_runs_line_by_line(monkeypatch, loop, step):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    count = "i += 1" if "while" in loop else "s += 2"
    text = (
        f"def f(n):\n    i = s = 0\n    {loop}\n        {count}\n        {step}\n"
        "        if i % 3 == 0:\n            str('three')\n        s += 1\n    return i, s\n"
    )
    assert_traced_alike(text, f"<traced {loop} {step}>", 27)


def test_a_place_of_short_loops_is_not_asked_for_ever(at_once):
    def f(n):
        log = []
        for i in range(n):
            if i > 5:
                log.append("many")
        return log

    parallel = frit.parallelize(f)
    for _ in range(turn_place.MOST_SHORT + 10):
        parallel(1)
    assert not any(p.on for p in parallel.__frit__.places)
    assert parallel(8) == ["many", "many"]


def test_a_module_variable_that_gets_its_value_late(at_once):
    text = textwrap.dedent("""
        import numpy
        total = 0.0
        for i in range(400):
            total += i * 0.5
            if i == 300:
                print("late")
            if i > 200:
                late = total * 2
    """)
    plain = code_of(text, "<late>")
    ours = implicit.code_of(text, plain)
    first, second = {"__name__": "program"}, {"__name__": "program"}
    exec(plain, first)
    exec(ours, second)
    for name in ("total", "i", "late"):
        assert first[name] == second[name]


def test_what_was_kept_has_the_exits(at_once, monkeypatch, tmp_path):
    monkeypatch.delenv("FRIT_CACHE", raising=False)
    monkeypatch.setenv("FRIT_CACHE_DIR", str(tmp_path))
    text = textwrap.dedent("""
        def f(n):
            x, log = 0.5, []
            for i in range(n):
                x = 3.9 * x * (1 - x)
                if i % 50 == 3:
                    log.append(f"{i} {x}")
            return x, log
    """)
    plain = compile(text, "/some/exits.py", "exec", dont_inherit=True)
    found = []
    for _ in range(2):
        code = _kept.code_of(text, plain)
        space = {"__name__": "program"}
        exec(code, space)
        found.append(space["f"](500))
        (loop,) = (p for p in place.places_of(space["f"].__code__, space) if p.turns is not None)
        assert loop.binding.site.calls > 5
    assert found[0] == found[1]


# ---- branches at which a nest fails -------------------------------------------------------------


def both(function, *arguments):
    """What Python and Frit give and print, of calls one after the other; how many ran compiled."""
    parallel = frit.parallelize(function)
    found = []
    for run in (function, parallel):
        printed = io.StringIO()
        given = copy.deepcopy(arguments)
        with contextlib.redirect_stdout(printed):
            results = [run(*one) for one in given]
        found.append((words(results), printed.getvalue(), [words(x) for x in given]))
    assert found[0] == found[1]
    return calls_of(parallel)


def test_a_branch_in_a_loop_in_the_nest_is_not_expected():
    def f(a, n):
        total = 0.0
        for i in range(n):
            for j in range(n):
                if a[i, j] < 0:
                    print("negative", i, j)
                    continue
                a[i, j] *= 2
                total += a[i, j]
        return total

    rare = np.arange(100.0).reshape(10, 10)
    reached = rare.copy()
    reached[3, 4] = -1
    assert both(f, (rare, 10), (reached, 10), (reached, 3)) == 2


def test_a_branch_of_a_loop_over_elements_is_not_expected():
    def f(a):
        total = 0.0
        for x in a:
            if x > 90:
                print(f"large: {x}")
                break
            total += x
        return total

    assert both(f, (np.arange(50.0),), (np.arange(100.0),), (np.arange(91.0),)) == 2


def checked(x, verbose=False):
    """What a function says."""
    if verbose:
        print(f"x = {x}")
    if x > 80:
        return "too large"
    return x * 0.5


def test_branches_of_functions_are_not_expected():
    def f(n, verbose):
        total = 0.0
        for i in range(n):
            y = checked(i * 1.0, verbose)
            if y == "too large":
                break
            total += y
        return total, i

    def g(n, verbose):
        total = 0.0
        for i in range(n):
            total += checked(i * 1.0, verbose)
        return total, i

    both(f, (50, False), (90, False))
    assert both(g, (50, False), (60, True), (70, False)) == 2
    with pytest.raises(TypeError, match="unsupported operand"):
        frit.parallelize(g)(90, False)


class Counter:
    def __init__(self) -> None:
        self.n, self.log = 0, []

    def step(self, by):
        self.n += by
        if self.n > 1000:
            self.log.append(f"at {self.n}")
            self.n = 0


def test_branches_of_methods_are_not_expected():
    def f(counter, n):
        for k in range(n):
            counter.step(k)
        return counter.n, counter.log

    parallel = frit.parallelize(f)
    first, second = Counter(), Counter()
    for n in (20, 30, 60, 10):
        assert f(first, n) == parallel(second, n)
    assert calls_of(parallel) > 1


def test_a_module_whose_branch_is_reached(at_once):
    text = textwrap.dedent("""
        total = 0
        for i in range(30):
            for j in range(i):
                if i * j == limit:
                    message = f"{i} {j}"
                total += i * j
    """)
    plain = code_of(text, "<reached>")
    ours = implicit.code_of(text, plain)
    for limit in (-1, 77, 10_000):
        spaces = [{"__name__": "program", "limit": limit} for _ in range(2)]
        for code, space in zip((plain, ours), spaces, strict=True):
            exec(code, space)
            del space["__builtins__"]
        assert spaces[0] == spaces[1]


def test_explain_says_which_branch_was_reached(at_once):
    def f(a):
        total = 0.0
        for x in a:
            if x > 90:
                print(f"large: {x}")
            total += x
        return total

    parallel = frit.parallelize(f)
    parallel(np.arange(100.0))
    line = first_of(f) + 4
    assert f"is possible in the middle of it, or it gets to line {line}" in str(
        frit.explain(parallel)
    )


def test_loops_that_are_too_short_for_a_nest_stay_python():
    def f(n):
        x = 0.5
        for _ in range(n):
            x = 3.9 * x * (1 - x)
            if x < 0:
                print("negative")
        return x

    parallel = frit.parallelize(f)
    for _ in range(4000):
        parallel(20)
    assert calls_of(parallel) < 1000


def test_a_function_of_brief_loops_has_its_own_code_back(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    text = """
def f(x):
    for i in range(10):
        if x[i] < 0:
            print("negative")
    return i
"""
    plain = code_of(text, "<brief>")
    space = {"np": np}
    exec(implicit.code_of(text, plain), space)
    f, x = space["f"], np.ones(10)
    rewritten = f.__code__
    for _ in range(turn_place.MOST_SHORT + 100):
        assert f(x) == 9
    assert f.__code__ is not rewritten
    assert f.__code__ in plain.co_consts


# ---- results that are no numbers ----------------------------------------------------------------


def none_if_found(a, x):
    for i in range(len(a)):
        if a[i] == x:
            return None
    return len(a)


def nothing_if_found(a, x):
    for i in range(len(a)):
        if a[i] == x:
            return


def part_if_found(a, x):
    for i in range(len(a)):
        if a[i] > x + 100:
            return i, None
        if a[i] == x:
            return a[:i]
    return []


@pytest.mark.parametrize("function", [none_if_found, nothing_if_found, part_if_found])
@pytest.mark.parametrize("x", [-200, -1, 0, 70])
def test_results_that_are_no_numbers(function, x):
    parallel = frit.parallelize(function)
    for _ in range(3):
        assert repr(parallel(np.arange(90), x)) == repr(function(np.arange(90), x))
    assert runs_compiled(parallel) or x in (-200, 0)  # they end the first round
