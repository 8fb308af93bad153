"""test_functions.py: nests that are given functions: others, of one code, and made with numbers.

FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED: how many programs, and the first.
"""

from __future__ import annotations

import functools
import math
import os
import random
import textwrap
import types

import numpy as np
import pytest

import frit
from frit import _activity
from frit.loops.find import implicit
from frit.loops.run import place, traits

from .test_exits import calls_of
from .written import code_of

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "60"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
pytestmark = pytest.mark.timeout(max(900, PROGRAMS))


def iterate(f, x, n):
    total = 0.0
    for _ in range(n):
        x = f(x)
        total = total + x
    return x, total


def same(parallel, function, x, n):
    found = []
    for run in (iterate, parallel):
        try:
            found.append(repr(run(function, x, n)))
        except Exception as error:
            found.append(repr(error))
    assert found[0] == found[1]


def test_functions_by_turns():
    parallel = frit.parallelize(iterate)
    others = [lambda x: x * 0.5 + 1, lambda x: 1 - x * x * 0.25, abs, math.sin, np.cos]
    for _ in range(4):
        for f in others:
            same(parallel, f, 0.75, 40)
    assert calls_of(parallel) > 12


def made(a, b):
    def inner(x):
        return a * x + b

    return inner


def test_functions_of_one_code_share_a_nest():
    parallel = frit.parallelize(iterate)
    for k in range(30):
        same(parallel, made(k * 0.03, 1.0 - k), 0.5, 20)
    assert calls_of(parallel) > 25
    (site, *_) = parallel.__frit__.sites
    assert len(parallel.__frit__.places[0].others) == 1  # the first one's numbers were constants
    assert sum(len(plans) for plans in site.plans.values()) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda k: lambda x: x * 0.5 + k,
        lambda k: lambda x, k=k: x * 0.5 + k,
        lambda k: lambda x, *, k=k: x * 0.5 + k,
        lambda k: lambda x, a=0.25, k=k: x * a + k,
        lambda k: functools.partial(lambda k, x: x * 0.5 + k, k),
        lambda k: (lambda g: lambda x: g(x) * 0.5)(lambda x: x + k),
        lambda k: (lambda g, h: lambda x: g(x) + h(x))(math.sin, lambda x: x * k),
        lambda k: np.poly1d([0.5, k]),
        lambda k: made(k, 0.5),
    ],
)
@pytest.mark.parametrize(
    "numbers",
    [
        [0.5, 0.25, -1.0, 3.0, 0.5, float("nan"), float("inf"), -0.0, 0.0],
        [1, 2, 0, -1, 2**61, 2**70, 3],
        [np.float64(0.5), np.float64(0.75), np.float32(0.1), np.float64(1)],
        [True, False, True],
        [0.5, 1, np.float64(0.25), True, 0.125, 2, np.int64(3), 1j, "text", None, 0.5],
        [np.int64(2), np.int64(5), np.int32(7), np.uint8(200)],
    ],
)
def test_what_functions_are_made_with(make, numbers):
    parallel = frit.parallelize(iterate)
    with np.errstate(all="ignore"):
        for k in numbers * 2:
            same(parallel, make(k), 0.5, 12)


def test_a_cell_that_changes_between_calls():
    def counter():
        k = 0.5

        def f(x):
            return x * 0.25 + k

        def change(by):
            nonlocal k
            k = by

        return f, change

    parallel = frit.parallelize(iterate)
    (f, change_f), (g, change_g) = counter(), counter()
    for k in (0.5, 1.0, 1, 2, 0.25, np.float64(0.5), 0.75):
        for one in (f, g):
            same(parallel, one, 0.5, 15)
        change_f(k)
        same(parallel, f, 0.5, 15)
        same(parallel, g, 0.5, 15)
        change_g(k)
    assert calls_of(parallel) > 10


def test_a_cell_without_a_value():
    def maker():
        def f(x):
            return x + k

        if no:
            k = 1.0
        return f

    no = False
    parallel = frit.parallelize(iterate)
    for _ in range(3):
        same(parallel, maker(), 0.5, 10)
        same(parallel, made(0.5, 0.5), 0.5, 10)


def test_defaults_and_codes_that_change():
    def f(x, k=0.5):
        return x * 0.5 + k

    parallel = frit.parallelize(iterate)
    same(parallel, f, 0.5, 10)
    for defaults in ((0.25,), (0.75,), (1,), None, (0.5,), (0.5, 0.25)):
        f.__defaults__ = defaults
        same(parallel, f, 0.5, 10)
    f.__defaults__ = (0.5,)
    f.__code__ = (lambda x, k: x - k).__code__
    same(parallel, f, 0.5, 10)


def test_a_function_with_attributes_is_itself_alone():
    def f(x):
        return x * 0.5

    f.note = [1]
    parallel = frit.parallelize(iterate)
    for _ in range(3):
        same(parallel, f, 0.5, 10)
    assert calls_of(parallel) == 3


# fmt: off
LINE = [lambda x: x + 1, lambda x: x * 0.5, (lambda y: lambda x: x - y)(2), lambda x: (lambda x: -x)(x)]  # noqa: E501
# fmt: on


def test_several_functions_of_one_line():
    parallel = frit.parallelize(iterate)
    for f in [*LINE, *LINE]:
        same(parallel, f, 0.75, 10)


PARAMETER, SCALAR = 0.5, np.float64(0.25)


def reads_module(x):
    return x * PARAMETER + SCALAR


def test_numbers_of_the_module_that_change(monkeypatch):
    parallel = frit.parallelize(iterate)
    for k in range(20):
        monkeypatch.setitem(globals(), "PARAMETER", k * 0.04)
        monkeypatch.setitem(globals(), "SCALAR", np.float64(k))
        same(parallel, reads_module, 0.5, 10)
    for other in (1, np.float64(0.5), "text", 0.25, 2**80, True):
        monkeypatch.setitem(globals(), "PARAMETER", other)
        same(parallel, reads_module, 0.5, 10)
    assert calls_of(parallel) > 12


def test_many_functions_are_no_burden():
    parallel = frit.parallelize(iterate)
    for k in range(60):
        space = {}
        exec(code_of(f"def f(x): return x * 0.5 + {k}", f"<many {k}>"), space)
        same(parallel, space["f"], 0.5, 10)
    assert len(parallel.__frit__.places[0].others) <= place.MOST_OTHERS


PIECES = ["x * {0}", "x + {0}", "x - {1}", "({0} - x) * {1}", "math.sin(x) + {0}", "x * x * {1}"]


def function_text(numbers: random.Random) -> str:
    piece = numbers.choice(PIECES).format(*numbers.choice([("a", "b"), ("b", "m"), ("m", "a")]))
    form = numbers.randrange(4)
    if form == 0:
        return f"lambda a, b: lambda x: ({piece}) * 0.5"
    if form == 1:
        return f"lambda a, b: lambda x, a=a, b=b: ({piece}) * 0.5"
    if form == 2:
        return f"lambda a, b: (lambda g: lambda x, *, b=b: g(x) * 0.5 + b)(lambda x: {piece})"
    return f"lambda a, b: lambda x: outer(lambda y: ({piece.replace('x', 'y')}) * 0.5, x)"


@np.errstate(all="ignore")
def test_random_functions_do_what_python_does(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "WORTH", 0.0)
    monkeypatch.setattr(traits, "SHORT", -1.0)
    ran = 0
    values = [0.5, -0.25, 1, 2, np.float64(0.75), 0.0, 3, True, np.int64(2)]
    for seed in range(FIRST, FIRST + PROGRAMS):
        numbers = random.Random(seed)
        makers = [function_text(numbers) for _ in range(3)]
        text = textwrap.dedent(f"""
            import math
            m = 0.5
            def outer(g, x):
                return g(x) + m
            makers = [{", ".join(makers)}]
            def iterate(f, x, n):
                for k in range(n):
                    x = f(x)
                return x
            log = []
            for maker, a, b, new, n in steps:
                m = new
                try:
                    log.append(repr(iterate(makers[maker](a, b), 0.5, n)))
                except Exception as error:
                    log.append(repr(error))
        """)
        steps = [
            (
                numbers.randrange(3),
                numbers.choice(values),
                numbers.choice(values),
                numbers.choice([0.5, 0.5, 0.25, 1, np.float64(0.125)]),
                numbers.choice([5, 30]),
            )
            for _ in range(25)
        ]
        plain = code_of(text, f"<functions {seed}>")
        ours = implicit.code_of(text, plain)
        logs = []
        for code in (plain, ours):
            space = {"__name__": "program", "steps": steps}
            exec(code, space)
            logs.append(space["log"])
        assert logs[0] == logs[1], f"seed {seed}\n{text}\n{steps}"
        for one in place.places_of(space["iterate"].__code__, space):
            bindings = [b for b in (one.binding, *one.others) if b is not None]
            ran += sum(site.calls for b in bindings for site in b.sites.values())
    assert ran > PROGRAMS  # else nothing was tested


def reads_scalar(x):
    return x * SCALAR + 1


def test_a_function_that_reads_more_than_the_ones_before():
    parallel = frit.parallelize(iterate)
    for _ in range(3):
        for f in (made(0.5, 0.25), reads_scalar, made(0.25, 0.5), reads_module):
            same(parallel, f, 0.5, 12)
    assert calls_of(parallel) > 8


def test_a_function_that_no_nest_calls_leaves_the_others_alone(monkeypatch):
    monkeypatch.setattr(place, "REBOUND", 0.0)
    parallel = frit.parallelize(iterate)
    for f in (made(0.5, 0.25), open, made(0.25, 0.5), str, print, made(0.75, 0.5), open):
        same(parallel, f, 0.5, 5)
    assert calls_of(parallel) == 3


CLOSURES = """
def walk(n):
    x = y = 1
    def far():
        return x * x + y * y > 1000
    c = 0
    for i in range(n):
        if i % 2:
            x += 1
        else:
            y -= 1
        if far():
            x = y = 0
            c += 1
    return x, y, c

def decay(n):
    rate, total = 0.5, 0.0
    scaled = lambda v: rate * v
    for i in range(n):
        for j in range(3):
            total = total + scaled(i + j)
        rate = rate * 0.99
    return rate, total

def best_of(n):
    best, hits = 0, 0
    def is_better(v): return v > best
    for i in range(n):
        v = i * 7919 % 10007
        if is_better(v):
            best = v
            hits += 1
    return best, hits

def counted(n):
    x = s = 0
    def up():
        nonlocal x
        x += 1
    def times(v): return v * x
    for i in range(n):
        up()
        s += times(i)
    return x, s
"""


@pytest.mark.parametrize("name", ["walk", "decay", "best_of", "counted"])
def test_functions_that_read_what_the_loop_assigns(name, monkeypatch):
    """The first call makes their numbers values: no later one may take these for what they are."""
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(traits, "WORTH", 0.0)
    monkeypatch.setattr(place, "WORTH", 0.0)
    plain = code_of(CLOSURES, "<closures>")
    found = []
    for code in plain, implicit.code_of(CLOSURES, plain):
        space = {}
        exec(code, space)
        found.append([repr(space[name](n)) for n in (2000, 2001, 3000, 3000, 2000, 2000)])
    assert found[0] == found[1]


def chosen(x):
    return x + 1.0


def maps_by_name(a, out):
    for i in range(a.shape[0]):
        out[i] = chosen(a[i]) * 2.0


def counts_to_a_length(a, out):
    for i in range(len(a)):
        out[i] = a[i] + 0.5


@pytest.mark.parametrize(
    ("function", "name", "other"),
    [
        (maps_by_name, "chosen", lambda x: x - 1.0),
        (counts_to_a_length, "len", lambda x: 3),
    ],
)
def test_what_ran_before_a_function_was_another_does_not_run_behind_it(
    function, name, other, monkeypatch
):
    """Each kind of arrays has a plan of its own, all of them of the functions there were."""
    fast = frit.parallelize(function)

    def run_all(*dtypes):
        for dtype in dtypes:
            a = np.arange(1000).astype(dtype)
            found, expected = np.zeros(1000), np.zeros(1000)
            fast(a, found)
            function(a, expected)
            assert np.array_equal(found, expected)

    for _ in range(3):
        run_all("f8", "i4", "f4")
    monkeypatch.setitem(globals(), name, other)
    for _ in range(3):
        run_all("f8", "i4", "f4")
    monkeypatch.undo()
    for _ in range(3):
        run_all("f4", "i4", "f8")


scale = 4.0


def entropy(row):
    return -np.sum([scale * np.log(scale) for scale in row if scale > 0])


def doubled(row):
    return sum(scale * 2 for scale in row)


def doubled_and_scaled(row):
    return sum(scale * 2 for scale in row) + scale


def doubled_twice(row):
    x = 3.0
    total = sum(x * y for x in row for y in (x, 2.0))
    return total + x


def test_the_variables_of_a_comprehension_are_no_others():
    def each(function, a, out):
        for i in range(len(a)):
            out[i] = function(a[i])

    a = np.random.default_rng(1).integers(0, 5, (300, 5)).astype(float)
    for function in entropy, doubled, doubled_and_scaled, doubled_twice:
        out, expected = np.zeros(300), np.zeros(300)
        with np.errstate(all="ignore"):
            parallel = frit.parallelize(each)
            parallel(function, a, out)
            each(function, a, expected)
        assert out.tolist() == expected.tolist()
        if function is entropy:
            assert "Python: a list comprehension, line " in str(frit.explain(parallel))
        elif function is doubled:
            assert parallel.__frit__.sites[0].calls == 1


def scaled(x, k, *, off=1):
    return x * k + off


def emptied(n):
    def f(x):
        return x + n

    def drop():
        nonlocal n
        del n

    return f, drop


class Scale:
    def scaled(self, x, *, off=1):
        return x + off

    @staticmethod
    def shifted(x, *, off=1):
        return x - off


CHANGES = {
    "another value": lambda keywords: keywords.update(off=100),
    "nothing left": dict.clear,
    "one more": lambda keywords: keywords.update(k=0.5),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["function", "method", "static method", "partial", "lambda"])
def test_keywords_that_change_in_place_are_seen(kind, change):
    if kind == "function":
        function = functools.wraps(scaled)(lambda x, *, off=1: x * 3 + off)
    elif kind == "method":
        function = type("Own", (Scale,), {"scaled": copy_of(Scale.scaled)})().scaled
    elif kind == "static method":
        function = copy_of(Scale.shifted)
    elif kind == "partial":
        function = functools.partial(scaled, k=2)
    else:
        function = eval("lambda x, *, off=1, k=2: x * k + off")
    keywords = function.keywords if kind == "partial" else function.__kwdefaults__
    parallel = frit.parallelize(iterate)
    for _ in range(3):
        same(parallel, function, 0.75, 40)
    CHANGES[change](keywords)
    for _ in range(3):
        same(parallel, function, 0.75, 40)


def copy_of(f):
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = dict(f.__kwdefaults__)
    return made


def test_a_cell_that_is_emptied_is_pythons_error():
    function, drop = emptied(4.0)
    parallel = frit.parallelize(iterate)
    for _ in range(3):
        same(parallel, function, 0.75, 40)
    drop()
    for _ in range(3):
        same(parallel, function, 0.75, 40)


RECURSION = """
import sys
import numpy as np
def over_range(n, a):
    for i in range(len(a)):
        a[i] += n
    return over_range(n + 1, a) if n < MOST else n
def over_list(n, a):
    for i in range(len(a)):
        a[i] += n
    return over_list(n + 1, a) if n < MOST else n
def by_while(n, a):
    i = 0
    while i < len(a):
        a[i] += n
        i += 1
    return by_while(n + 1, a) if n < MOST else n
def with_exit(n, a):
    for i in range(len(a)):
        if a[i] < -5:
            break
        a[i] += n
    return with_exit(n + 1, a) if n < MOST else n
def depth_of(f):
    return 0 if f is None else 1 + depth_of(f.f_back)
sys.setrecursionlimit(400)
MOST = 400 - depth_of(sys._getframe()) - 3
for f in (over_range, over_list, by_while, with_exit):
    for r in range(12):
        a = [0.0] * 200 if f is over_list else np.zeros(200)
        print(f(0, a) == MOST, a[7] == sum(range(MOST + 1)))
"""


def test_the_last_frames_before_the_limit_are_the_programs(python, file):
    path = file("program.py", RECURSION)
    for arguments in ((), ("-m", "frit"), ("-m", "frit")):  # the last finds what is kept
        done = python(*arguments, path)
        assert (done.stdout, done.stderr) == ("True True\n" * 48, "")
