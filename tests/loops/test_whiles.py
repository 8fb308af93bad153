"""test_whiles.py: a `while` that its place takes over in the middle does what Python does.

FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED: how many programs, and the first.
"""

from __future__ import annotations

import copy
import gc
import math
import os
import random
import sys
import textwrap

import numpy as np
import pytest

import frit
from frit import _activity
from frit.loops.find import implicit, rewrite
from frit.loops.nest import lists
from frit.loops.run import binding, place, traits, turn_place, turns
from frit.loops.run.site import OURS

from .written import code_of

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "300"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
pytestmark = pytest.mark.timeout(max(900, PROGRAMS))


@pytest.fixture
def at_once(monkeypatch):
    """Places are asked behind a round, and behind each that follows."""
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(turn_place.TurnPlace, "may_be_worth_it", lambda *_: True)
    monkeypatch.setattr(turns, "FIRST", 1)
    monkeypatch.setattr(turns.Turns, "following", lambda self: self.first)
    monkeypatch.setattr(rewrite, "copies_of", lambda _: 1)


TESTS = [
    "i < n",
    "i < n",
    "n > i and s < 50",
    "i * i <= n",
    "not i >= n",
    "xs[i % len(xs)] < 9 and i < n",
    "a[i] < 3",
    "i < n and o.k < 90",
    "True",
]
STEPS = [
    "s += i",
    "s = s * 2 + 1",
    "s = s * s % 1009 - 3",
    "s = s * 31 + 7",
    "t = t * 0.5 + i",
    "s, t = t, s",
    "xs[i % len(xs)] += 1",
    "xs[i] = s",
    "xs[-1] = i * 2",
    "a[i % 8] += t",
    "a[i] = s",
    "out.append(i)",
    "out.append(t)",
    "out.append(i); out.append(-i)",
    "if i % 3 == 0: continue",
    "if i == 7: break",
    "if s > 40: break",
    "s += xs[i - 1]",
    "t /= i - 5",
    "s += n // (i - 4)",
    "for j in range(3): s += j",
    "for j in range(i): xs[j % len(xs)] -= 1",
    "while 100 < s < 9000: s -= 7",
    "if a[i % 8] > 2: return i, s",
    "s = -s",
    "x = a[i % 8]",
    "x = float('inf')",
    "t = math.sqrt(abs(s))",
    "t = math.sqrt(s)",
    "u = i",
    "u = i * 0.5",
    "s += (-1) ** i",
    "s += 2 ** i",
    "k = i if s > 3 else n",
    "if s > 90: raise ValueError(f'{i}', s, xs)",
    "assert t != 5, 'no' * i",
    "o.k += i",
    "s += o.k",
    "o.k, s = s, o.k",
    "o.w[i % 4] += t",
    "t = o.w[s]",
]

# What is not read behind the loop, the loop itself still may.
RESULTS = ["i, s, t, x, out"] * 3 + ["out", "s, out", "t, x", "i"]


class Thing:
    """What has attributes."""

    def __init__(self, k: float) -> None:
        self.k, self.w = k, np.arange(4.0)


def body(numbers: random.Random, depth: int, is_module: bool) -> str:
    """A while, and what stands around it."""
    steps = [step for step in STEPS if not (is_module and "return" in step)]
    lines = [numbers.choice(steps) for _ in range(numbers.randint(1, 4))]
    lines.insert(0, numbers.choice(["i += 1", "i += 1", "i += 2"]))
    test = numbers.choice(TESTS)
    if test == "True":
        lines.insert(numbers.randint(0, 1), "if i >= n: break")
    if not any("continue" in line for line in lines):
        numbers.shuffle(lines)
    given = [
        f"i = {numbers.choice(['0', '0', '1'])}",
        f"s = {numbers.choice(['0', '0', '0.0', 'x', 'n', '1'])}",
        f"t = {numbers.choice(['1', 'x', '0.5'])}",
        "out = []",
        *(["u = k = 0"] if numbers.random() < 0.7 else []),
    ]
    whole = [*given, f"while {test}:", *("    " + line for line in lines)]
    return textwrap.indent("\n".join(whole), "    " * depth) + "\n"


def arguments_of(numbers: random.Random) -> dict[str, object]:
    kind = numbers.choice([int, int, float])
    return {
        "a": np.array([float(numbers.randint(-3, 3)) for _ in range(8)]),
        "xs": [kind(numbers.randint(-4, 12)) for _ in range(numbers.randint(1, 9))],
        "n": numbers.choice([0, 1, 5, 9, 30, 70]),
        "x": numbers.choice([0.5, -1.0, 3.0]),
        "o": Thing(kind(numbers.randint(-2, 5))),
    }


def words(x: object) -> str:
    if isinstance(x, Thing):
        return f"{x.k!r} {words(x.w)}"
    return f"{x.tolist()} {x.dtype}" if isinstance(x, np.ndarray) else repr(x)


def outcome(run, given: dict[str, object]) -> tuple[object, ...]:
    try:
        result = words(run(**given))
    except Exception as error:
        at = error.__traceback__
        while at.tb_next is not None:
            at = at.tb_next
        result = type(error), str(error), at.tb_lineno
    return result, [words(x) for x in given.values()]


def runs_of_function(seed: int, text: str, space: dict, calls: list, outcome=outcome) -> int:
    """Calls f as Python and as Frit, which do the same; how often its nests ran.

    calls: arguments by name.
    """
    space = {**space}
    exec(code_of(text, f"<function {seed}>"), space)
    parallel = frit.parallelize(space["f"])
    for given in calls:
        expected = outcome(space["f"], copy.deepcopy(given))
        got = outcome(parallel, copy.deepcopy(given))
        assert expected == got, f"seed {seed}\n{text}\n{given}"
    sites = parallel.__frit__.sites
    for refused in (x for site in sites for x in site.refused.values()):
        assert OURS not in refused.reason, f"seed {seed}\n{text}\n{refused.reason}"
    return sum(site.calls for site in sites)


def runs_of_module(seed: int, text: str, space: dict, given: dict, outcome=outcome) -> int:
    """The same of a module's own code. given: its variables."""
    name = f"<module {seed} {len(text)}>"
    plain = code_of(text, name)
    found = []
    for code in (plain, implicit.code_of(text, plain)):
        own = {**space, **copy.deepcopy(given)}

        def run(code=code, own=own, **_):
            exec(code, own)

        result = outcome(run, {})
        left = {k: words(v) for k, v in own.items() if k not in ("__builtins__", *space)}
        found.append((result, left))
    assert found[0] == found[1], f"seed {seed}\n{text}\n{given}"
    sites = [p.binding.site for p in place.places if p.file == name and p.binding]
    return sum(site.calls for site in sites if site is not None)


SPACE = {"math": math, "np": np, "__name__": "program"}


@np.errstate(all="ignore")
def test_random_whiles_in_functions_do_what_python_does(at_once, monkeypatch):
    ran = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        numbers = random.Random(seed)
        text = "def f(a, xs, n, x, o):\n" + body(numbers, 1, False)
        text += f"    return {numbers.choice(RESULTS)}\n"
        monkeypatch.setattr(lists, "MORE", numbers.choice([1 << 16, 3]))
        calls = [arguments_of(numbers) for _ in range(3)]
        ran += runs_of_function(seed, text, SPACE, calls)
    assert ran > PROGRAMS // 5  # else nothing was tested


@np.errstate(all="ignore")
def test_random_whiles_of_modules_do_what_python_does(at_once):
    ran = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        numbers = random.Random(-seed)
        text, given = body(numbers, 0, True), arguments_of(numbers)
        ran += runs_of_module(seed, text, SPACE, given)
    assert ran > PROGRAMS // 5  # else nothing was tested


def test_a_bound_that_divides_by_nothing_in_this_call_stays_python(at_once):
    def f(xs, n):
        i, s, t = 1, 1, 0.5
        while xs[i % len(xs)] < 9 and i < n:
            i += 1
            s += i
            t /= i - 5
            s += n // (i - 4)
        return i, s, t

    parallel = frit.parallelize(f)
    for xs, n in (([0, 9, -3], 5), ([0, 1, -3], 3), ([0, 1, 9], 5)):
        assert f(xs, n) == parallel(xs, n)
    for site in parallel.__frit__.sites:
        assert not any(OURS in refused.reason for refused in site.refused.values())


def test_a_list_that_is_appended_to_gets_room_as_often_as_it_needs_it(at_once, monkeypatch):
    monkeypatch.setattr(lists, "MORE", 5)

    def f(n):
        out, others, i = [], [1], 0
        while i < n:
            i += 1
            out.append(i * 0.5)
            if i % 3 == 0:
                others.append(i)
            if i > 900:
                break
        return out, others, i

    parallel = frit.parallelize(f)
    for n in (0, 1, 5, 6, 7, 100, 899, 950):
        assert f(n) == parallel(n)
    (site,) = parallel.__frit__.sites
    assert site.calls > 20


def test_what_only_the_loop_reads_is_kept_where_a_list_gets_room(at_once, monkeypatch):
    monkeypatch.setattr(lists, "MORE", 5)

    def f(t, end):
        out, x = [], 1.0
        while t < end:
            x = math.cos(x + t)
            out.append(x)
            t += t / 64
        return out

    parallel = frit.parallelize(f)
    assert f(0.25, 16.0) == parallel(0.25, 16.0)
    (site,) = parallel.__frit__.sites
    assert site.calls > 20


def test_a_while_of_a_method_reads_and_assigns_attributes(at_once):
    def plain(thing, n):
        x = 0
        while x < n:
            thing.w[x % 4] += thing.k
            thing.k += 1
            x += thing.k
        return x

    parallel = frit.parallelize(plain)
    given = Thing(1), Thing(1)
    assert plain(given[0], 500) == parallel(given[1], 500)
    assert words(given[0]) == words(given[1])
    (site,) = parallel.__frit__.sites
    assert site.calls > 0


def test_a_place_that_fails_stays_python(at_once, monkeypatch):
    def broken(*_):
        raise AssertionError("broken")

    monkeypatch.setattr(binding.Binding, "make_gate", broken)
    text = "i = 0\nwhile i < 9:\n    i += 1\n"
    code = implicit.code_of(text, code_of(text, "<broken>"))
    space = {"__name__": "program"}
    exec(code, space)
    assert space["i"] == 9
    (found,) = (p for p in place.places if p.file == "<broken>")
    assert found.told == OURS + "AssertionError('broken')"


def test_a_list_that_the_test_looks_at(at_once):
    def primes(m):
        found, n = [], 2
        while len(found) < m:
            for p in found:
                if n % p == 0:
                    break
            else:
                found.append(n)
            n += 1
        return found, n

    parallel = frit.parallelize(primes)
    assert primes(60) == parallel(60)
    assert any(site.calls for site in parallel.__frit__.sites)


def lines_seen(run) -> list[tuple[str, str, int]]:
    """Of all functions that run, as a tracer sees them."""
    seen = []

    def trace(frame, event, _):
        seen.append((event, frame.f_code.co_name, frame.f_lineno))
        return trace

    gc.disable()  # others are called back by collections, and seen
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(None)
        gc.enable()
    return seen


def assert_traced_alike(text: str, name: str, n: int) -> None:
    """A tracer sees the lines of f(n) that it would see without places."""
    plain = code_of(text, name)
    ours = implicit.code_of(text, plain)
    assert ours is not plain
    seen = []
    for code in (plain, ours):
        space = {}
        exec(code, space)
        seen.append(lines_seen(lambda space=space: space["f"](n)))
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "text",
    [
        "def f(n):\n    while n > 0:\n        n -= 1\n    return n\n",
        "def f(n):\n    while (\n        n\n        > 0\n    ):\n        n -= 1\n    return n\n",
        "def f(n):\n    while True:\n        n -= 1\n        if n < 0:\n            return n\n",
        "def f(n):\n    t = 0\n    for i in range(3):\n        while n > i:\n            n -= 1\n"
        "        while t < i:\n            t += 1\n    return n, t\n",
    ],
)
def test_a_tracer_sees_nothing_of_a_while_but_its_lines(monkeypatch, text):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(turn_place, "MOST_SHORT_WHILES", 2)
    assert_traced_alike(text, "<first while>", 3)


def test_a_tracer_sees_nothing_of_a_while_that_is_entered_often(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(turn_place, "MOST_SHORT_WHILES", 2)
    text = "def f(n):\n    while n > 0:\n        n -= 1\n    return n\n"
    plain = code_of(text, "<entered often>")
    spaces: list[dict] = [{}, {}]
    for space, code in zip(spaces, (plain, implicit.code_of(text, plain)), strict=True):
        exec(code, space)
    (found,) = [p for p in place.places if p.file == "<entered often>"]
    seen = [lines_seen(lambda f=space["f"]: [f(2) for _ in range(5)]) for space in spaces]
    assert seen[0] == seen[1] and found.on
    spaces[1]["f"](2)  # the next one is not traced
    assert not found.on


@pytest.mark.parametrize("test", ["i < n", "i < n and not i > 50", "True"])
@pytest.mark.parametrize(
    "step", ["s += i", "if i % 2: continue", "if i > 4: break", "if i > 9: return i"]
)
def test_a_traced_while_runs_line_by_line(monkeypatch, test, step):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    text = (
        f"def f(n):\n    i = s = 0\n    while {test}:\n        i += 1\n        {step}\n"
        "        if i > 70: break\n    return i, s\n"
    )
    assert_traced_alike(text, f"<traced while {test} {step}>", 67)


@pytest.mark.parametrize(
    ("head", "exits", "is_nest"),
    [
        ("while flags[0]:", "", False),
        ("while flags[0]:", "flags[0] -= 1", True),
        ("while True:", "if flags[0]: break", False),
        ("while True:", "if flags[0] > 3: raise ValueError", False),
        ("while 1:", "if state % 2:\n            if flags[0]: return 1", True),
        ("while True:", "if state > 9 or flags[0]: break", True),
        ("while True:", "if next_of(flags): break", True),
        ("while True:", "for k in range(3):\n            if k: break", True),
        ("while True:", "", True),
    ],
)
def test_a_while_that_somebody_else_may_end_stays_python(head, exits, is_nest):
    body = f"        state += 1\n        {exits}\n"
    text = f"def f(flags, state):\n    {head}\n{body}    return state\n"
    plain = code_of(text, "<waiting>")
    assert (implicit.code_of(text, plain) is not plain) == is_nest


def test_a_long_while_is_taken_and_short_ones_are_not(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    text = (
        "def f(n):\n    i, s = 0, 0.0\n    while i < n:\n        s += i * 0.25\n        i += 1\n"
        "    return s\n"
    )
    plain = code_of(text, "<long while>")
    space = {}
    exec(implicit.code_of(text, plain), space)
    (found,) = [p for p in place.places if p.file == "<long while>"]
    for _ in range(1000):
        space["f"](20)
    assert found.binding is None
    assert space["f"](3_000_000) == sum(k * 0.25 for k in range(3_000_000))
    assert found.binding.site.calls == 1


def test_a_while_that_is_always_short_gets_its_own_code_back(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(turn_place, "MOST_SHORT_WHILES", 100)
    text = "def f(n):\n    i = 0\n    while i < n:\n        i += 3\n    return i\n"
    plain = code_of(text, "<always short>")
    space = {}
    exec(implicit.code_of(text, plain), space)
    (own,) = [c for c in plain.co_consts if hasattr(c, "co_code")]
    assert [space["f"](20) for _ in range(100)] == [21] * 100
    assert space["f"].__code__.co_code != own.co_code
    assert [space["f"](20) for _ in range(2)] == [21] * 2
    assert space["f"].__code__.co_code == own.co_code


def test_a_short_while_of_a_module_is_not_taken_however_often_it_runs(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    text = (
        "for k in keys:\n    i, s = 0, 0.0\n    while i < k:\n        s += i * 0.25\n"
        "        i += 1\n    seen[k] = s\n"
    )
    plain = code_of(text, "<short while>")
    code = implicit.code_of(text, plain)
    (found,) = [p for p in place.places if p.file == "<short while>" and p.turns is not None]
    exec(code, {"keys": [20] * 20_000, "seen": {}})
    assert found.binding is None
    space = {"keys": [3_000_000], "seen": {}}
    exec(code, space)
    assert space["seen"] == {3_000_000: sum(k * 0.25 for k in range(3_000_000))}
    assert found.binding.site.calls == 1


def test_the_engine_is_not_loaded_for_values_that_no_nest_takes():
    found = place.Place(passed=["xs", "n"], outputs=[], outside=[])
    found._traits = traits.Traits([], [], [], None, None, False, [], [], [], [])
    for value in ([1, 2.5], [[1.0], [2.0]], "text", (), 2**62 - 1, [True]):
        assert found.may_be_taken({"xs": value, "n": 1}, {}), value
    for value in ([object()], {}, 2**63, [0, sys.maxsize], None):
        assert not found.may_be_taken({"xs": value, "n": 1}, {}), value
    found._traits = traits.Traits([], [], ["str"], None, None, False, [], [], [], [])
    found.outside = ["str"]
    assert not found.may_be_taken({"xs": [1], "n": 1}, {})
