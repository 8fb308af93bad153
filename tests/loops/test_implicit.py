"""test_implicit.py: loops without a decorator do what Python does, wherever they stand."""

from __future__ import annotations

import ast
import copy
import gc
import importlib.util
import inspect
import json
import math
import os
import subprocess
import sys
import textwrap
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import frit
from frit import _activity
from frit.loops.find import implicit
from frit.loops.find.peel import private_names
from frit.loops.names import nodes_in
from frit.loops.run import binding, patience, place, traits

from .fuzz import Program, same
from .kernels import KERNELS, arguments
from .written import code_of


@pytest.fixture
def eager(monkeypatch):
    """Every nest is taken at its first call, as if it were long, under install()."""
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "SHORT", -1.0)
    monkeypatch.setattr(place, "WORTH", -1.0)


def compiled(text: str, name: str, **options: bool) -> tuple[types.CodeType, types.CodeType]:
    """Python's code of a module, and ours."""
    text = textwrap.dedent(text)
    plain = code_of(text, name)
    return plain, implicit.code_of(text, plain, **options)


def run(code: types.CodeType, **names) -> dict[str, object]:
    space = {"__name__": "program", "np": np, "math": math, **names}
    exec(code, space)
    return space


def places_of(file: str) -> list[place.Place]:
    found = [p for p in place.places if p.file == file]
    return sorted(found, key=lambda p: p.node.lineno)


def was_taken(p: place.Place) -> bool:
    return p.binding is not None and p.binding.site is not None and p.binding.site.calls > 0


MODULE = """
    a = np.arange(12.0).reshape(3, 4)
    out = np.zeros((3, 4))
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t = a[i, j] * 2
            out[i, j] = t + 1
            total += t
"""


def test_a_modules_loop_leaves_its_variables(eager):
    plain, ours = compiled(MODULE, "<module>")
    assert ours is not plain
    expected, got = run(plain), run(ours)
    assert expected.keys() == got.keys()
    for name in ("i", "j", "t", "total"):
        assert same(expected[name], got[name]), name
    assert np.array_equal(expected["out"], got["out"])
    assert was_taken(places_of("<module>")[-2])


def test_functions_of_a_module_run_compiled(eager):
    text = """
        scale = 3.0
        def outer(n):
            shift = 1.0
            def inner(x):
                for i in range(len(x)):
                    x[i] = x[i] * scale + shift
                return i
            return inner
        class C:
            @staticmethod
            def method(x):
                for i in range(len(x)):
                    x[i] -= 1
        x = np.arange(5.0)
        k = outer(2)(x)
        C.method(x)
    """
    plain, ours = compiled(text, "<functions>")
    expected, got = run(plain), run(ours)
    assert got["k"] == 4
    assert np.array_equal(expected["x"], got["x"])
    assert all(was_taken(p) for p in places_of("<functions>"))
    assert len(places_of("<functions>")) == 2


@pytest.mark.parametrize(
    "text",
    [
        # del makes a variable come and go.
        "def f(c):\n x = np.ones(3)\n if c: del x\n for i in range(0): x[i] = 1\nf(True)",
        # A context manager may swallow an error.
        "import contextlib\ndef f():\n with contextlib.suppress(ZeroDivisionError):\n  y = 1 / 0\n"
        " for i in range(0):\n  a = y\nf()",
        # A cell may be empty.
        "def f():\n def g():\n  for i in range(0): b = c\n g()\n c = 1\nf()",
        # Somebody else's range.
        "range = lambda n: [5, 7]\ns = 0\nfor i in range(3): s += i",
        "s = 0\nfor i in range(3): s += missing if i > 5 else 1",
        "x = [1, 2]\nfor i in range(5): x[i] = 0",
        "x = np.ones(2)\nfor i in range(5): x[i] = 0",
        "for i in range(0): pass\nprint(i)",
        # More rounds than len() counts.
        "x = np.ones(2)\nfor i in range(10**20): x[i] = 0",
        "x = np.ones(2)\nk = 2**40\nfor i in range(k * k): x[i] = 0",
        "s = 0.0\nx = np.ones(4)\nfor i in range(4):\n s += 1 / (2.0 - i) + x[i]",
    ],
)
def test_errors_are_pythons(eager, text):
    plain, ours = compiled(text, "<errors>")
    seen = []
    for code in (plain, ours):
        space = {"__name__": "program", "np": np}
        lines = []
        try:
            exec(code, space)
        except Exception as error:
            at = error.__traceback__.tb_next
            while at is not None:
                lines.append((at.tb_frame.f_code.co_name, at.tb_lineno))
                at = at.tb_next
            lines.append((type(error), str(error)))
        values = {k: v for k, v in space.items() if isinstance(v, int | float | list)}
        seen.append((lines, values))
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "behind", ["[float(i) for i in total]", "sum(i for i in total)", "{i: 1 for i in total}"]
)
def test_the_variable_of_a_comprehension_is_its_own(eager, behind):
    """Neither the one before the loop gives i a value, nor does the one behind it read it."""
    plain, ours = compiled(
        f"""
        def table(n):
            m = [[0] * n for i in range(n)]
            total = np.zeros(n)
            for i in range(n):
                row = list(range(n))
                for j, item in enumerate(row):
                    m[i][j] += item
                for j in range(n):
                    total[j] += row[j]
            return m, {behind}
        """,
        f"<comprehensions {behind}>",
    )
    assert run(ours)["table"](4) == run(plain)["table"](4)


def test_loops_in_odd_places(eager):
    text = """
        def f(x):
            try:
                raise ValueError
            except ValueError:
                for i in range(len(x)):
                    x[i] = s = x[i] + 1
            return i, s
        async def g(x):
            async for y in x:
                if y: break
                for i in range(len(x)):
                    x[i] = 0
        def h(x, k):
            match k:
                case 1:
                    for i in range(len(x)):
                        x[i] = s = x[i] + 1
            return i, s
        def j(x):
            t = 0.0
            while True:
                try:
                    for i in range(len(x)):
                        t = x[i]
                    if t > 2: break
                    continue
                finally:
                    x += 1
            return t, i
        a = f(np.arange(3.0)), h(np.arange(4.0), 1), j(np.arange(2.0))
    """
    plain, ours = compiled(text, "<odd>")
    assert run(plain)["a"] == run(ours)["a"]
    assert sum(map(was_taken, places_of("<odd>"))) == 2


def outcome_of_module(code: types.CodeType, given: dict[str, object]) -> tuple[object, dict]:
    """The error, and the variables of the module behind it."""
    space: dict[str, object] = {"np": np, "math": math, "__name__": "program"}
    space.update(copy.deepcopy(given))
    error = None
    try:
        with np.errstate(all="ignore"):
            exec(code, space)
    except Exception as e:
        error = type(e), str(e), e.__traceback__.tb_next.tb_lineno
    del space["__builtins__"]
    return error, space


def same_module(x: dict, y: dict, but: set[str]) -> bool:
    if x.keys() - but != y.keys() - but:
        return False
    for name in x.keys() - but:
        if isinstance(x[name], np.ndarray):
            rtol = 1e-5 if x[name].dtype.itemsize == 4 else 1e-12
            if not np.allclose(x[name], y[name], rtol=rtol, atol=0, equal_nan=True):
                return False
        elif not isinstance(x[name], types.ModuleType | types.FunctionType) and not same(
            x[name], y[name]
        ):
            return False
    return True


ROOT = Path(__file__).parents[2]


def text_of_module(program: Program) -> str | None:
    """The function's lines as a module, whose variables are its arguments; None: it can't be."""
    lines = program.source.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("def f("))
    body = [line[4:] for line in lines[start + 1 : -1]]
    if any(line.lstrip().startswith("return") for line in body):
        return None
    return "\n".join([*lines[:start], *body]) + "\n"


PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "400")) // 2
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))


@pytest.mark.timeout(max(900, PROGRAMS))
@pytest.mark.parametrize("is_program", [False, True])
def test_random_loops_of_modules_do_what_python_does(eager, is_program):
    taken = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        program = Program(seed)
        text = text_of_module(program)
        if text is None:
            continue
        tree = ast.parse(text)
        private = private_names(tree, nodes_in([tree])) if is_program else set()
        name = f"<module {seed}>"
        plain = compile(text, name, "exec", dont_inherit=True)
        ours = implicit.code_of(text, plain, is_program=is_program)
        for call in range(2):
            given = program.arguments(call)
            expected = outcome_of_module(plain, given)
            got = outcome_of_module(ours, given)
            assert expected[0] == got[0] and same_module(expected[1], got[1], private), (
                f"seed {seed}, call {call}\n{text}\n{given}\nPython: {expected}\nFrit: {got}"
            )
        taken += sum(map(was_taken, places_of(name)))
    assert taken > PROGRAMS // 8  # else nothing was tested


def events(code: types.CodeType) -> list[tuple[str, str, int]]:
    """What a debugger sees."""
    seen = []

    def trace(frame, event, argument):
        seen.append((frame.f_code.co_filename, frame.f_code.co_name, event, frame.f_lineno))
        return trace

    space = {"__name__": "program", "np": np}
    gc.disable()  # others are called back by collections, and seen
    sys.settrace(trace)
    try:
        exec(code, space)
    finally:
        sys.settrace(None)
        gc.enable()
    return seen


def test_a_traced_program_shows_every_line(eager):
    text = (
        MODULE
        + """
    def f(x):
        for i in range(len(x)):
            x[i] = x[i] + 1
        else:
            pass
        for i in range(len(x)):
            x[i] = x[i] + 1
        return x
    f(np.ones(3))
    """
    )
    plain, ours = compiled(text, "<traced>")
    assert ours is not plain
    assert events(plain) == events(ours)


def test_a_function_that_was_rewritten_is_what_it_was(eager):
    text = """
        import functools
        def f(x, n=2, *, k: int = 3):
            "Doc."
            for i in range(len(x)):
                x[i] = x[i] + n * k
            return x
    """
    plain, ours = compiled(text, "<same>")
    f, g = run(plain)["f"], run(ours)["f"]
    assert g.__code__ is not f.__code__
    for name in ("co_name", "co_qualname", "co_argcount", "co_firstlineno", "co_freevars"):
        assert getattr(f.__code__, name) == getattr(g.__code__, name)
    assert (f.__doc__, f.__defaults__, f.__kwdefaults__, f.__annotations__) == (
        g.__doc__, g.__defaults__, g.__kwdefaults__, g.__annotations__
    )  # fmt: skip
    assert set(f.__code__.co_lines()).issuperset(set()) and {
        n for *_, n in f.__code__.co_lines()
    } == {n for *_, n in g.__code__.co_lines()}
    h = frit.parallelize(g)  # reads the source anew
    assert np.array_equal(h(np.ones(3)), np.full(3, 7.0))
    assert h.__frit__.sites[0].calls == 1


def test_unknown_decorators_see_pythons_own_code(eager):
    text = """
        from elsewhere import keep
        @keep
        def f(x):
            for i in range(len(x)):
                x[i] = 0
    """
    plain, ours = compiled(text, "<decorated>")
    assert ours is plain


CALLS = "def d(f):\n    @functools.wraps(f)\n    def w(*a):\n        return f(*a)\n    return w"
MADE = "def d(n):\n    def inner(f):\n        def w(*a):\n            return f(*a)\n"


@pytest.mark.parametrize(
    ("decorator", "use", "is_rewritten"),
    [
        ("def d(f):\n    return f", "d", True),
        (CALLS, "d", True),
        (CALLS, "d\n@functools.lru_cache", True),
        (MADE + "        return w\n    return inner", "d(3)", True),
        ("def d(f):\n    print(f.__name__)\n    return f", "d", True),
        (CALLS, "d(3)", False),
        (MADE + "        return compiled(f)\n    return inner", "d(3)", False),
        (CALLS + "\nd = compiled", "d", False),
        (CALLS + "\nfrom compilers import *", "d", False),
        ("def d(f):\n    print(f.__code__)\n    return f", "d", False),
        ("def d(f):\n    return compiled(f)", "d", False),
        ("def d(f):\n    def w():\n        return w.__wrapped__\n    return w", "d", False),
        ("def d(f):\n    known.append(f)\n    return f", "d", False),
        ("def d(f):\n    return eval('compiled(f)')", "d", False),
        ("class d:\n    def __init__(self, f):\n        self.f = f", "d", False),
        ("import d", "d.d", False),
    ],
)
def test_a_programs_own_decorators_are_read(decorator, use, is_rewritten):
    function = "def f(x):\n    for i in range(len(x)):\n        x[i] = i\n"
    plain, ours = compiled(f"import functools\n{decorator}\n@{use}\n{function}", "<own>")
    assert (ours is not plain) == is_rewritten


def test_a_decorated_function_is_explained_and_given_its_code_back(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(patience, "OFTEN", 3600.0)
    text = (
        "import functools\n"
        + CALLS
        + """
@d
@d
def f(x):
    for i in range(len(x)):
        x[i] = 0
    """
    )
    plain, ours = compiled(text, "<wrapped>")
    expected, got = (run(code)["f"] for code in (plain, ours))
    inner = got.__wrapped__.__wrapped__
    assert inner.__code__ != expected.__wrapped__.__wrapped__.__code__
    for _ in range(2 * patience.MANY):
        got({0: 1, 1: 2})
    assert inner.__code__ == expected.__wrapped__.__wrapped__.__code__
    assert "an argument is no array or number" in str(frit.explain(got))


def test_functions_that_look_at_their_variables_are_left_alone(eager):
    text = """
        def f(x):
            for i in range(len(x)):
                x[i] = 0
            return sorted(locals())
    """
    plain, ours = compiled(text, "<locals>")
    assert ours is plain


def test_a_variable_that_a_thread_may_change_is_read_at_every_round(eager):
    text = """
        import threading
        stop = 0
        def ask():
            global stop
            stop = 1
        def work(x):
            for i in range(len(x)):
                x[i] = stop
        work(np.ones(3))
    """
    _, ours = compiled(text, "<threads>")
    run(ours)
    assert not any(map(was_taken, places_of("<threads>")))


def test_a_function_that_reads_what_the_loop_assigns(eager):
    text = """
        s = 0.0
        def g(x):
            return x + s
        a = np.arange(5.0)
        for i in range(5):
            s = g(a[i])
    """
    plain, ours = compiled(text, "<reads>")
    assert same(run(plain)["s"], run(ours)["s"])


def sets_to_two(name):
    text = """
        def f(x):
            for i in range(len(x)):
                x[i] = 2
    """
    return run(compiled(text, name)[1])["f"]


def test_places_that_are_asked_in_vain_are_not_asked_again():
    f = sets_to_two("<vain>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_activity, "is_active", lambda: True)
        patch.setattr(patience, "OFTEN", 3600.0)  # however slow the machine is
        for _ in range(2 * patience.MANY):
            f({0: 1, 1: 2})
    assert not places_of("<vain>")[0].on


def test_places_whose_refusals_cost_much_are_asked_ever_more_seldom(eager):
    f = sets_to_two("<dear>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patience, "OFTEN", 0.0)  # else it is not asked again at all
        patch.setattr(patience, "DEAR", 0.0)
        for _ in range(patience.MANY + 1):
            f({0: 1, 1: 2})
        (found,) = places_of("<dear>")
        assert found.skipped == patience.MANY
        for _ in range(patience.MANY + 1):
            f({0: 1, 1: 2})
        assert found.skipped == 2 * patience.MANY
        x = np.zeros(3)
        for _ in range(2 * patience.MANY):
            f(x)
        assert found.on and not was_taken(found)
        f(x)
    assert [*x] == [2.0] * 3 and was_taken(found) and found.skipped == 0


def test_places_that_are_passed_over_are_not_asked_again_where_that_is_soon():
    f = sets_to_two("<soon>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_activity, "is_active", lambda: True)
        patch.setattr(patience, "DEAR", 0.0)
        patch.setattr(patience, "OFTEN", 0.0)  # as where the first refusals load the translator
        for _ in range(patience.MANY + 1):
            f({0: 1, 1: 2})
        (found,) = places_of("<soon>")
        assert found.on and found.skipped == patience.MANY
        patch.setattr(patience, "OFTEN", 3600.0)
        for _ in range(patience.MANY + 1):
            f({0: 1, 1: 2})
    assert not found.on


def test_the_variables_of_a_comprehension_are_its_own(eager):
    text = """
        def f(rows, a):
            for row in rows:
                near = sum([x - y for x in row if x for y in a])
                a = a + sum(v for (v, _) in zip(row, row)) + w + near
            return a
    """
    _, ours = compiled(text, "<comprehension>")
    f = run(ours, w=1)["f"]
    assert f([[1, 2], [0, 3]], np.zeros(1)) == [7.0]
    (loop,) = places_of("<comprehension>")
    assert (loop.passed, loop.outside) == (["a", "rows"], ["sum", "w", "zip"])


def test_a_variable_that_is_missing_is_found_out_before_the_rest(eager, monkeypatch):
    text = """
        def f(x, unknown):
            for i in range(len(x.values)):
                if unknown:
                    x.values[i] = nowhere
    """
    _, ours = compiled(text, "<missing>")
    space = run(ours)
    x = types.SimpleNamespace(values=np.zeros(3))
    with monkeypatch.context() as patch:
        patch.setattr(binding.Binding, "find_attributes", None)
        space["f"](x, False)
    with pytest.raises(NameError, match="nowhere"):
        space["f"](x, True)
    space["nowhere"] = 2.0
    space["f"](x, True)
    assert [*x.values] == [2.0] * 3 and was_taken(places_of("<missing>")[0])


def test_objects_are_looked_at_when_a_loop_is_worth_it(monkeypatch):
    text = """
        def f(x):
            for i in range(x.inner.n):
                for j in range(x.inner.values.shape[0]):
                    x.inner.values[j] += i
    """
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "WORTH", 1.0)
    monkeypatch.setattr(place, "FIRST_WORTH", 1.0)
    monkeypatch.delitem(sys.modules, "frit.pykokkos._views", raising=False)  # which has owners too
    looked: list[int] = []
    find = binding.Binding.find_attributes

    def note(self, *given):
        looked.append(len(self.place.inner))
        return find(self, *given)

    monkeypatch.setattr(binding.Binding, "find_attributes", note)
    _, ours = compiled(text, "<objects>")
    f = run(ours)["f"]
    x = types.SimpleNamespace(inner=types.SimpleNamespace(n=3, values=np.zeros(100)))
    f(x)
    assert looked == [] and [*x.inner.values] == [3.0] * 100
    (outer,) = (p for p in places_of("<objects>") if p.inner)
    assert (outer.traits.guess, outer.traits.early.names) == (
        None,
        ["x.inner.n", "x.inner.values"],
    )
    assert (
        outer.early is not None
        and outer.why == "it has not run long enough to be worth its translation"
    )
    x.inner.values, x.inner.n = np.zeros(10_000), 10_000
    f(x)  # some seconds of Python's
    assert looked == [1] and was_taken(outer) and outer.binding.gate is outer.early
    assert [*x.inner.values] == [10_000 * 9_999 / 2] * 10_000


def test_a_function_whose_loops_stay_python_gets_its_code_back(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(patience, "OFTEN", 3600.0)
    text = """
        class C:
            def f(self, x):
                for i in range(len(x)):
                    x[i] = 0
    """
    plain, ours = compiled(text, "<back>")
    expected, got = run(plain)["C"].f.__code__, run(ours)["C"]
    assert got.f.__code__ != expected
    for _ in range(2 * patience.MANY):
        got().f({0: 1, 1: 2})
    assert got.f.__code__ == expected
    assert "an argument is no array or number" in str(frit.explain(got.f))


def test_short_loops_stay_python(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "SHORT", traits.SHORT)
    text = """
        x = np.zeros(4)
        for i in range(4):
            x[i] = i
    """
    _, ours = compiled(text, "<short>")
    run(ours)
    assert places_of("<short>")[0].why == "it is too short"


def test_a_function_whose_loops_are_always_short_gets_its_code_back(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "SHORT", traits.SHORT)
    text = """
        def f(x):
            for i in range(3):
                x[i] += i
            return x
    """
    plain, ours = compiled(text, "<always>")
    expected, got = run(plain)["f"].__code__, run(ours)["f"]
    assert got.__code__ != expected
    assert list(got(np.ones(3))) == [1, 2, 3]
    assert got.__code__ == expected
    assert "it is too short" in str(frit.explain(got))


def test_loops_are_translated_when_they_have_run_for_long_enough(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    text = """
        def f(x):
            for i in range(len(x)):
                x[i] = x[i] + 1
    """
    _, ours = compiled(text, "<owed>")
    f, x = run(ours)["f"], np.zeros(500)
    calls = 0
    while not was_taken(places_of("<owed>")[0]):
        f(x)
        calls += 1
        assert calls < 1000
    assert calls > 1
    assert np.array_equal(x, np.full(500, float(calls)))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [2, 9, 24])
def test_sixteen_nests_as_modules(eager, name, n):
    function = KERNELS[name]
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()[1:]
    text = textwrap.dedent("\n".join(lines)) + "\n"
    plain, ours = compiled(text, f"<module {name}>", is_program=True)
    given = dict(
        zip(
            function.__code__.co_varnames[: function.__code__.co_argcount],
            arguments(name, n, np.random.default_rng(n)),
            strict=True,
        )
    )
    expected, got = run(plain, **copy.deepcopy(given)), run(ours, **copy.deepcopy(given))
    assert expected.keys() == got.keys()
    for key, value in expected.items():
        if isinstance(value, np.ndarray | float | int):
            assert type(value) is type(got[key]), key
            np.testing.assert_allclose(value, got[key], rtol=1e-10, atol=1e-12, err_msg=key)
    if n == 24:
        assert any(map(was_taken, places_of(f"<module {name}>")))


@pytest.mark.parametrize("state", ["errstate", "filter"])
def test_warnings_that_are_errors_come_at_their_round(eager, state):
    text = """
        x = np.array([1.0, 2.0, 0.0, 4.0, 0.0, 5.0])
        y = np.zeros(6)
        for i in range(6):
            y[i] = 1 / x[i]
    """
    ours = compiled(text, "<raise>")[1]
    space = {"__name__": "program", "np": np}
    with np.errstate(divide="raise" if state == "errstate" else "warn"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises((FloatingPointError, RuntimeWarning)) as caught:
                exec(ours, space)
    assert caught.traceback[-1].lineno == 4
    assert (space["i"], list(space["y"][:3])) == (2, [1.0, 0.5, 0.0])


def test_a_failure_in_the_last_round_leaves_what_python_leaves(eager):
    text = """
        x = np.array([4.0, 9.0, 16.0, -1.0])
        for i in range(4):
            t = i * 2
            u = math.sqrt(x[i])
            x[i] = u
    """
    plain, ours = compiled(text, "<last>")
    expected, got = outcome_of_module(plain, {}), outcome_of_module(ours, {})
    assert expected[0] == got[0]
    assert same_module(expected[1], got[1], set())
    assert got[1]["u"] == 4.0


def test_what_a_program_holds_ends_with_it(python, file):
    """Files that it has not closed are written, and `__del__` may run its loops."""
    program = file(
        "program.py",
        """
        import numpy as np

        class Sums:
            def __init__(self, name):
                self.values, self.file = np.zeros(9), open(name, "w")

            def add(self):
                for i in range(9):
                    for j in range(400):
                        self.values[i] += i * j
                self.file.write(f"{self.values.sum()}")

            def __del__(self):
                self.add()
                print("end", self.values)

        held, other = Sums("held"), Sums("other")
        for _ in range(3):
            held.add()
        for i in range(9):
            for j in range(400):
                other.values[i] += j
        other.itself = other
        """,
    )
    found = []
    for words in ((), ("-m", "frit")):
        done = python(*words, program)
        found.append(
            (done.stdout, [open(program.parent / name).read() for name in ("held", "other")])
        )
    assert found[0] == found[1] and all(found[0][1]) and found[0][0].count("end") == 2


def test_what_a_program_holds_ends_with_it_where_short_loops_were_not_asked(python, file):
    program = file(
        "program.py",
        """
        import numpy as np

        class Closed:
            def __del__(self):
                print("closed")

        def smooth(a, rounds):
            s = 0
            for r in range(rounds):
                for i in range(len(a)):
                    a[i] = (a[i] * 1103515245 + 12345) % 2147483648
                    s ^= int(a[i])
            return s

        big, small = np.arange(3000), np.arange(2)
        for k in range(6):
            smooth(big, 20)
        smooth(small, 1)
        closed = Closed()
        """,
    )
    assert python("-m", "frit", program).stdout == "closed\n"


def test_copies_of_the_code_need_no_frit(eager):
    pickle = pytest.importorskip("cloudpickle")
    text = """
        def f(x):
            for i in range(len(x)):
                x[i] = 1
            return x
    """
    _, ours = compiled(text, "<copies>")
    data = pickle.dumps(run(ours)["f"])
    assert b"frit" not in data.replace(b"frit nest", b"")
    assert np.array_equal(pickle.loads(data)(np.zeros(3)), np.ones(3))


def test_copies_of_a_while_need_no_frit():
    pickle = pytest.importorskip("cloudpickle")
    _, ours = compiled("def f(n):\n    while n > 1:\n        n -= 2\n    return n\n", "<copies>")
    assert pickle.loads(pickle.dumps(run(ours)["f"]))(5) == 1


def test_a_notebooks_cells_run_compiled(eager):
    space = {"np": np}
    cells = implicit.CellTransformer(space)

    def cell(text: str) -> None:
        tree = cells.visit(ast.parse(textwrap.dedent(text)))
        exec(compile(tree, "<cell>", "exec"), space)

    cell("x = np.arange(6.0)\nfor i in range(6):\n    x[i] = x[i] + i\n")
    cell("def f(y):\n    for k in range(len(y)):\n        y[k] = 2 * y[k]\nf(x)\n")
    assert np.array_equal(space["x"], np.arange(6.0) * 4)
    taken = [p for n, p in space.items() if n.startswith("_frit_nest")]
    assert len(taken) == 2
    assert all(map(was_taken, taken))
    assert "parallel" in str(frit.explain(space["f"]).marks)
    cell("await_ = 3\n")  # no loop: nothing is done
    assert len([n for n in space if n.startswith("_frit_nest")]) == 2


# ---- programs -----------------------------------------------------------------------------------

NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def cell(text):
    done = shell.run_cell(text, store_history=True)
    done.raise_error()
    return done.result
cell("%load_ext frit")
from frit.loops.run import patience, place
place.WORTH = 1e-3  # however fast the machine is
cell("import numpy as np\\nx = np.arange(100000.0)\\nfor i in range(100000):\\n    x[i] = x[i] + i")
cell("def f(y):\\n    for k in range(len(y)):\\n        y[k] = 2 * y[k]\\n    return y")
for _ in range(3): cell("f(x)")
print(cell("x[99999]"), cell("i"), len(shell.ast_transformers))
import frit
print("parallel" in str(frit.explain(shell.user_ns["f"])))
print("parallel" in frit.explain(shell.user_ns["f"])._repr_html_())
cell("%unload_ext frit")
print(cell("f(x)[1]"), len(shell.ast_transformers))
cell("import asyncio\\nfor j in range(3):\\n    await asyncio.sleep(0)")
"""


def test_a_notebooks_shell(python):
    pytest.importorskip("IPython")
    out = python("-c", NOTEBOOK).stdout.splitlines()
    out = [line for line in out if not line.startswith(("Out", " "))]
    assert out[-4:] == ["1599984.0 99999 1", "True", "True", "32.0 0"]


PROGRAM = """
import numpy as np
import helper
n = 500
a = np.zeros((n, n))
b = np.arange(n * 1.0)
total = 0.0
for i in range(n):
    for j in range(n):
        a[i, j] = b[i] * 2 + np.sqrt(b[j])
        total += b[j]
def main():
    return helper.double(a)
if __name__ == "__main__":
    print(main(), total, i, j, type(total).__name__, __name__)
"""
HELPER = """
def double(x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = 2 * x[i, j]
    return float(x.sum())
"""
EXPLAIN = """
import sys, frit
text = str(frit.explain(sys.modules["__main__"])) + str(frit.explain(helper.double))
print(text.count("Python"), "parallel" in text)
"""


def test_programs_give_what_python_gives(python, file):
    path = file("program.py", PROGRAM)
    file("helper.py", HELPER)
    plain = python(path).stdout
    assert python("-m", "frit", path).stdout == plain
    assert python("-m", "frit", "-m", "program").stdout == plain
    assert python("-m", "frit", "-c", PROGRAM).stdout == plain
    assert python("-m", "frit", "-", input=PROGRAM).stdout == plain
    shown = python("-m", "frit", "-c", PROGRAM + EXPLAIN).stdout.splitlines()[-1]
    assert shown == "0 True"
    off = python("-m", "frit", "-c", PROGRAM + EXPLAIN, FRIT_LOOPS="0", check=False)
    assert off.stdout.splitlines()[0] == plain.strip()


SIXTEEN = """
import copy
import sys
sys.path.insert(0, {root!r})
import numpy as np
from tests.loops import kernels
if "frit" in sys.modules:
    from frit.loops.run import place
    # So that the loops need not run for long before.
    place.WORTH, place.FIRST_WORTH = 0.05e-3, 3.0
SIZES = {{name: (300, 60) for name in ("vector_add", "saxpy", "black_scholes", "histogram")}}
SIZES |= {{"heat_3d": (8, 40), "gemver": (120, 110)}}
for name, f in kernels.KERNELS.items():
    n, rounds = SIZES.get(name, (16, 40))
    given = kernels.arguments(name, n, np.random.default_rng(1))
    fresh = copy.deepcopy(given)
    for _ in range(rounds):
        given = copy.deepcopy(fresh)
        f(*given)
    print(name, *(f"{{float(np.array(x).sum()):.9g}}" for x in given))
if "frit" in sys.modules:
    import frit
    for name, f in kernels.KERNELS.items():
        assert "Python" not in str(frit.explain(f)), frit.explain(f)
"""


def test_sixteen_functions_without_a_decorator(python, file):
    path = file("program.py", SIXTEEN.format(root=str(ROOT)))
    assert python("-m", "frit", path).stdout == python(path).stdout


def test_the_report_counts_nests(python, file):
    file("helper.py", HELPER)
    done = python("-m", "frit", "--report", file("program.py", PROGRAM))
    assert "loops      2 nests ran compiled, 0 as Python" in done.stderr


def test_the_first_nest_of_a_process_has_to_be_worth_the_loading_of_llvm(python, file, tmp_path):
    file("helper.py", HELPER)
    # However slow the machine is.
    worth = """
import sys
if "frit" in sys.modules:
    from frit.loops.run import place
    place.FIRST_WORTH = 1e6
"""
    program = file("program.py", worth + PROGRAM)
    done = python("-m", "frit", "--report", program, FRIT_CACHE_DIR=str(tmp_path / "none"))
    assert done.stdout == python(program).stdout
    assert "nests ran compiled" not in done.stderr


def test_the_traceback_names_the_line(python, file):
    text = (
        "import numpy as np\nx = np.ones(2000)\nfor i in range(2001):\n    x[i] = (\n        2)\n"
    )
    path = file("program.py", text)
    plain = python(path, check=False)
    ours = python("-m", "frit", path, check=False)
    assert plain.stderr == ours.stderr
    assert plain.returncode == ours.returncode == 1


def test_a_module_that_does_not_parse_is_named_as_python_does(python, file):
    file("helper.py", "for i in range(3):\n    x = = 1\n")
    path = file("program.py", "import helper\n")
    plain = python(path, check=False)
    assert python("-m", "frit", path, check=False).stderr == plain.stderr


def test_warnings_of_the_text_come_once(python, file):
    file("helper.py", "x = 1\nif x is 1:\n    s = '\\d'\nfor i in range(3):\n    x = x + i\n")
    path = file("program.py", "import helper\nfor i in range(3):\n    x = 2 is 2\n")
    # Python keeps no compiled helper, whose text would not be read again.
    always = {"PYTHONDONTWRITEBYTECODE": "1"}
    for _ in range(2):
        plain = python("-W", "always", path, **always)
        assert "SyntaxWarning" in plain.stderr and "helper.py" in plain.stderr
        assert python("-W", "always", "-m", "frit", path, **always).stderr == plain.stderr


def test_warnings_of_the_text_do_not_come_again_with_a_method_of_its_own(python, file):
    path = file(
        "program.py",
        """
        import numpy as np

        class Boids:
            def __init__(self):
                self.velocities = np.ones((4, 2))

            def limit(self, velocity):
                if velocity[0] > 8:
                    velocity[0] = 8

            def limit_all(self):
                for velocity in self.velocities:
                    self.limit(velocity)

            def press(self, button):
                return button is 1 or "\\d"

        boids = Boids()
        for i in range(30):
            boids.velocities *= 1.1
            boids.limit_all()
        print(boids.velocities)
        """,
    )
    plain = python("-W", "always", path)
    assert plain.stderr.count("Warning: ") == 2
    ours = python("-W", "always", "-m", "frit", path)
    assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr)


def test_a_program_without_numpy_never_loads_it(python):
    code = (
        "import sys\ns = 0\nfor i in range(100000):\n    s += i\nprint(s, 'numpy' in sys.modules)"
    )
    assert python("-m", "frit", "-c", code).stdout == "4999950000 False\n"


def test_numba_compiles_what_python_compiled(python):
    pytest.importorskip("numba")
    code = """
import numba
import numpy as np
def f(x):
    for i in range(len(x)):
        x[i] = 3
    return x
g = numba.njit(f)
print(f(np.zeros(4000)).sum(), g(np.zeros(3)).sum())
"""
    assert python("-m", "frit", "-c", code).stdout == "12000.0 9.0\n"


def test_numba_reads_the_variables_around_a_function_by_their_names(python):
    pytest.importorskip("numba")
    code = """
import numba
import numpy as np
def make(j, k, offset):
    def f(x, scale=2.0):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * k - j
        def last():
            return total * scale
        return last() + offset
    return f
f = make(100.0, 2.0, 0.5)
g = numba.njit(f)
x = np.arange(4000.0)
print(f(x), g(x), g(x, 3.0), g.py_func is f, f(x) == g(x))
"""
    ours, plain = python("-m", "frit", "-c", code), python("-c", code)
    assert ours.stdout == plain.stdout == "31192000.5 31192000.5 46788000.5 True True\n"


# ---- the study ----------------------------------------------------------------------------------

STUDIED = """
import numpy as np
def f(a, b, n, k):
    for i in range(n):
        for j in range(n):
            a[i, j] = np.sqrt(b[j])
    for i in range(1, n):
        b[i] = b[i - 1] * b[i] + 1
    s = 0.0
    for i in range(n):
        s += b[i]
    for i in range(n):
        print(i)
    for i in range(n):
        b[i] = b[i + k]
    for line in open(n):
        yield line
    for i in range(n):
        a.cells[i] = a.scale * b[i]
    return s
"""


def test_the_study_counts_loops_by_stage(file):
    spec = importlib.util.spec_from_file_location("loop_study", ROOT / "tools" / "loop_study.py")
    tool = importlib.util.module_from_spec(spec)
    sys.modules["loop_study"] = tool
    spec.loader.exec_module(tool)
    found = tool.study(file("studied.py", STUDIED))
    assert dict(found.counts) == {
        "loops": 8, "parallel": 3, "serial": 1, "reduction": 1, "at run time": 1, "Python": 2
    }  # fmt: skip
    cells = [
        {"cell_type": "markdown", "source": "for x in y"},
        {"cell_type": "code", "source": ["%matplotlib inline\n", STUDIED]},
    ]
    notebook = file("studied.ipynb", json.dumps({"cells": cells}))
    assert tool.study(notebook).counts == found.counts


def test_a_call_like_the_one_before_stays_python_where_frit_is_off(eager, monkeypatch):
    is_on = True
    monkeypatch.setattr(_activity, "is_active", lambda: is_on)
    text = """
        def f(x):
            for i in range(len(x)):
                x[i] += 1
    """
    f = run(compiled(text, "<off>")[1])["f"]
    x = np.zeros(50)
    for _ in range(3):
        f(x)
    (found,) = places_of("<off>")
    assert found.binding.gate.runs() == 2
    is_on = False
    f(x)
    assert found.binding.gate.runs() == 2 and (x == 4).all()


FAILING = """
    s = 0
    k = 0
    seen = None
    try:
        for i in range(len(x)):
            root = math.sqrt(x[i])
            s += root
            if x[i] > 2:
                out[k] = s
                k += 1
            y[i] = s
    except ValueError as error:
        seen = str(error), i
"""


@pytest.mark.parametrize("at", [0, 2, 7, 8, None])
def test_the_last_rounds_are_tried_behind_the_others(eager, at):
    found = []
    plain, ours = compiled(FAILING, f"<failing {at}>", is_program=True)
    for code in (plain, ours):
        x = np.arange(9.0)
        if at is not None:
            x[at] = -1.0
        names = {"x": x, "y": np.zeros(9), "out": np.zeros(9)}
        space = run(code, **names)
        found.append([repr(space.get(n)) for n in ("s", "k", "seen", "i", "root", "y", "out")])
    assert found[0] == found[1]
    (place,) = places_of(f"<failing {at}>")
    assert was_taken(place) == (at is None)


def test_a_loop_that_a_loop_in_it_breaks_leaves_its_last_rounds(eager):
    text = """
        for i in range(5):
            last = -1
            for j in range(9):
                if j > i:
                    break
                last = i * j
            y[i] = last
    """
    found = []
    plain, ours = compiled(text, "<broken inside>", is_program=True)
    for code in (plain, ours):
        space = run(code, y=np.zeros(5))
        found.append([repr(space[n]) for n in ("i", "j", "last", "y")])
    assert found[0] == found[1]
    assert places_of("<broken inside>")[0].is_peeled and was_taken(places_of("<broken inside>")[0])


def test_a_variable_that_only_an_outer_loop_reads_is_left_by_the_loop_in_it(eager):
    text = """
        a = [5, 4, 3, 2, 1, *range(10, 40)]
        n = len(a)
        for i in range(n):
            swapped = False
            for j in range(0, n - i - 1):
                if a[j] > a[j + 1]:
                    a[j], a[j + 1] = a[j + 1], a[j]
                    swapped = True
            if not swapped:
                break
    """
    plain, ours = compiled(text, "<swapped>", is_program=True)
    assert run(plain)["a"] == run(ours)["a"]
    assert any(map(was_taken, places_of("<swapped>")))


def test_only_a_place_that_is_on_leads_to_its_gate():
    text = """
        def f(x):
            for i in range(x.shape[0]):
                for j in range(x.shape[1]):
                    x[i, j] += 1.0
    """
    f = run(compiled(text, "<gates>")[1])["f"]
    outer, inner = places_of("<gates>")
    asked = []
    inner.put(types.SimpleNamespace(take=lambda *passed: asked.append(passed)))

    def times_asked():
        del asked[:]
        f(np.zeros((3, 2)))
        return len(asked)

    outer.turn_off()  # else it asks what is in it, or not
    assert times_asked() == 3
    outer.ask_inner(False)
    assert times_asked() == 0
    outer.ask_inner(True)
    assert times_asked() == 3
    inner.give_up()
    outer.ask_inner(False)
    outer.ask_inner(True)
    assert times_asked() == 0


def test_a_place_that_forgets_its_bindings_while_it_looks_for_one(eager):
    text = """
    for row in m:
        for i, v in enumerate(row):
            pass
            s = t
            if s is not None:
                t += v
    """
    plain, ours = compiled(text, "<forgets>")
    few, many = np.array([[True], [False], [True], [True]]), np.ones((2, 4), bool)
    for m, s in [(few, 1 << 40), (many, None), (few, None), (many, 1 << 40)]:
        given = {"m": m, "s": s, "t": np.int8(3)}
        expected, got = run(plain, **given), run(ours, **given)
        assert repr(got["s"]) == repr(expected["s"]) and repr(got["t"]) == repr(expected["t"])


def test_loops_of_the_programs_own_importer(python, file):
    program = file(
        "program.py",
        """
        import sys, typing

        class Finder:
            def find_spec(self, name, path=None, target=None):
                total = 0
                for i in range(len(name)):
                    total += i
                return None

        sys.meta_path.insert(0, Finder())
        real = typing._collect_parameters

        def collect(args):
            n = 0
            for t in args:
                n += 1
            return real(args)

        typing._collect_parameters = collect
        import numpy as np

        def weighted(a):
            total = 0.0
            for i in range(len(a)):
                for j in range(20):
                    total += a[i] * j
            return total

        print([weighted(np.arange(3000.0)) for _ in range(3)])
        """,
    )
    assert python("-m", "frit", program).stdout == python(program).stdout != ""


def test_explain_says_why_loops_without_a_decorator_stay_python(python, file):
    program = file(
        "program.py",
        """
        import numpy as np
        import frit

        def numbers(n):
            for i in range(n):
                yield i

        def f(a, k=0):
            for i in range(len(a)):
                j = np.argmax([x.real for x in a])
            for i in numbers(len(a)):
                k += i
            for row in a:
                d = {c: float(row) * c for c in (1, 2)}
            while k < 100:
                k += len({x for x in a}) + sum(x for x in (1, 2))
            for x in a:
                d.clear()
            for i in range(len(a)):
                a[i] = a[i] + 1
            return a

        class C:
            def method(self, a):
                while len(a) > 3:
                    with open("/dev/null") as file:
                        del a[0]

        def without_loops(a):
            return a + 1

        f(np.ones(4))
        for x in f, C().method, without_loops:
            for line in str(frit.explain(x)).splitlines():
                print(*line.partition("# Python: ")[2:])
        """,
    )
    assert [x for x in python("-m", "frit", program).stdout.splitlines() if x] == [
        "a list comprehension, line 11",
        "a loop over something else than numbers or arrays",
        "a dictionary comprehension, line 15",
        "a set comprehension, line 17",
        "what it does no nest can do",
        "it is too short",
        "a statement: With, line 27",
    ]


SHORT = "Python: it is too short"
EXPLAINED = """
    import numpy as np
    import frit

    def outer(a):
        def inner(b):
            for x in b:
                {y for y in (x, 1)}
            for i in range(len(b)):
                b[i] += 1
        for i in range(len(a)):
            a[i] = a[i] + 1
        inner(a)

    @frit.parallelize
    def decorated(a):
        def inner(b):
            for i in range(len(b)):
                b[i] += 1
        for i in range(len(a)):
            a[i] += 1
        inner(a)

    async def later(a):
        for x in a:
            a[0] += x

    def comprehension(a):
        return [x * 2 for x in a]

    def without_loops(a):
        return a + 1

    class WithLoops:
        @property
        def value(self):
            for x in (1, 2):
                {y for y in (x, 1)}
            return 1

        @frit.parallelize
        def decorated(self, a):
            while len(a) > 3:
                del a[0]

    class WithoutLoops:
        pass

    outer(np.ones(4))
    decorated(np.ones(4))
    pair = lambda a: [x for x in a], lambda a: a
    for x in (outer, decorated, later, comprehension, without_loops, WithLoops, WithoutLoops,
              np.sin, frit, *pair):
        for line in str(frit.explain(x)).splitlines():
            print(line.split("# ")[-1].strip() if "# " in line or line[2] != " " else "")
"""


def test_explain_has_a_sentence_for_whatever_may_have_loops(python, file):
    program = file("program.py", EXPLAINED)

    def told(*arguments):
        return [x for x in python(*arguments, program).stdout.splitlines() if x]

    decorated = ["Python: the function around it is not decorated, line 17", SHORT]
    rest = [
        "all of it runs as Python: loops of async functions are not looked at",
        "it has no loops but comprehensions, which run as Python",
        "it has no loops",
    ]
    ends = [
        "no method of WithoutLoops has loops that are looked at",
        "it is no function of Python's: it has no loops to look at",
        "no loops of frit are looked at",
        "it has no loops but comprehensions, which run as Python",
        "it has no loops",
    ]
    deleted = "Python: a statement: Delete, line 44"
    assert told("-m", "frit") == [
        "Python: a set comprehension, line 8",
        SHORT,
        SHORT,
        *decorated,
        *rest,
        "Python: a set comprehension, line 38",
        deleted,
        *ends,
    ]
    own = "its loops are looked at under `python -m frit` or with @frit.parallelize"
    assert told() == [own, *decorated, *rest, deleted, *ends]


AGAIN = {
    "a function": """
        import numpy as np
        def f(a):
            t = 0.0
            for r in range(20):
                for i in range(len(a)):
                    t += a[i] * {number}
            return t
    """,
    "a function that calls another one": """
        import numpy as np
        def g(x):
            return x * {number}
        def f(a):
            t = 0.0
            for r in range(20):
                for i in range(len(a)):
                    t += g(a[i])
            return t
    """,
    "a while": """
        import numpy as np
        def f(a):
            i = 0
            while i < len(a) * {number}:
                i += 1
            return i
    """,
    "a decorated function": """
        import frit
        @frit.parallelize
        def f(a):
            t = 0.0
            for i in range(len(a)):
                t += a[i] * {number}
            return t
    """,
    "its own code": """
        import numpy as np
        x = [0.0] * 20_000
        for r in range(20):
            for i in range(20_000):
                x[i] += i * {number}
        def f(a):
            return x[0]
    """,
}


@pytest.mark.parametrize("how", ["import", "reload"])
@pytest.mark.parametrize("name", AGAIN)
def test_a_module_that_is_imported_again_leaves_nothing_behind(tmp_path, name, how):
    program = f"""
import ast, collections, gc, importlib, os, sys, types
import numpy as np
import frit.loops.nest.nest, frit.loops.run.site  # else loaded by the first long nest

sys.path.insert(0, {str(tmp_path)!r})
sys.dont_write_bytecode = True
counts = []
for number in range(1, 51):
    with open({str(tmp_path / "again.py")!r}, "w") as file:
        file.write({textwrap.dedent(AGAIN[name])!r}.format(number=number))
    os.utime(file.name, (number, number))
    importlib.invalidate_caches()
    if {how!r} == "reload" and number > 1:
        importlib.reload(again)
    else:
        sys.modules.pop("again", None)
        import again
    for a in (np.zeros(20_000), np.ones(20_000), np.ones(20_000)):  # enough to be translated
        print(again.f(a), file=sys.stderr)
    if number in (20, 50):
        gc.collect(), gc.collect(), gc.collect()
        kinds = collections.Counter(map(type, gc.get_objects()))
        own = [k for k in kinds if issubclass(k, ast.AST) or k.__module__.startswith("frit.loops")]
        counts.append(sum(kinds[k] for k in (*own, types.FunctionType, types.ModuleType)))
print(counts[1] - counts[0])
"""
    ended = subprocess.run(
        [sys.executable, "-m", "frit", "-c", program], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) < 30  # less than one object a round
