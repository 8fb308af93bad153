"""test_kept_nests.py: what a process keeps of functions and nests is right in the next, or unused.

Another process is a function made anew of the same text; some tests start real ones.
"""

from __future__ import annotations

import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

import frit
from frit import _activity, _core, _kept
from frit.loops.find import rewrite
from frit.loops.nest import nest, reductions
from frit.loops.run import place

from . import kernels
from .fuzz import ComplexProgram, ObjectProgram, Program, outcome, same_outcome

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "500")) // 5
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FRIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("FRIT_CACHE", raising=False)
    return tmp_path / "cache" / "nests"


@pytest.fixture
def made(monkeypatch):
    """What is rewritten and translated from now on."""
    names: list[str] = []
    translate, function = nest.translate, rewrite.Rewriter.function

    def noted_translate(inputs):
        names.append("nest")
        return translate(inputs)

    def noted_function(self, node, scope):
        names.append("function")
        return function(self, node, scope)

    monkeypatch.setattr(nest, "translate", noted_translate)
    monkeypatch.setattr(rewrite.Rewriter, "function", noted_function)
    return names


def loaded(path: Path, text: str, **values):
    """A module of this text, as the next process has it."""
    path.write_text(textwrap.dedent(text))
    linecache.checkcache(str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    vars(module).update(values)
    exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), vars(module))
    return module


@pytest.mark.parametrize("name", kernels.KERNELS)
def test_the_next_process_translates_none_of_the_kernels(name, made, tmp_path):
    text = Path(kernels.__file__).read_text()
    explanations = []
    for _ in range(2):
        kernel = loaded(tmp_path / "module.py", text).KERNELS[name]
        given, expected = (kernels.arguments(name, 9, np.random.default_rng(1)) for _ in "12")
        function = frit.parallelize(kernel)
        function(*given)
        kernel(*expected)
        for a, b in zip(given, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        explanations.append(str(frit.explain(function)))
        made.append("then")
    assert made.index("then") > 0 and made[-1] == made[made.index("then") + 1] == "then"
    assert explanations[0] == explanations[1]
    assert "function" in made and "nest" in made


FUNCTION = """
    import math
    import numpy as np
    import frit

    OFFSET = 0.5
    SCALE = 2

    def weight(x, factor=3.0):
        return factor * x + OFFSET

    def maker(shift):
        @frit.parallelize
        def f(x, y, n):
            total = 0
            for i in range(n):
                y[i] = weight(x[i]) * SCALE + shift + math.sqrt(abs(x[i])) + np.exp(0.0)
                total += i
            return total
        return f

    f = maker(1.0)
"""


def result(module):
    x, y = np.arange(40.0), np.zeros(40)
    total = module.f(x, y, 40)
    expected = np.zeros(40)
    assert module.f.__frit__.function(x, expected, 40) == total
    np.testing.assert_array_equal(y, expected)
    return y


def calls(module) -> int:
    return sum(site.calls for site in module.f.__frit__.sites)


@pytest.mark.parametrize(
    "old, new",
    [
        ("OFFSET = 0.5", "OFFSET = 0.25"),
        ("OFFSET = 0.5", "OFFSET = 1"),
        ("OFFSET = 0.5", "OFFSET = -0.0"),
        ("OFFSET = 0.5", "OFFSET = True"),
        ("SCALE = 2", "SCALE = 2.0"),
        ("SCALE = 2", "SCALE = np.float32(2)"),
        ("factor=3.0", "factor=4.0"),
        ("factor * x", "factor + x"),
        ("maker(1.0)", "maker(7)"),
        ("* SCALE", "- SCALE"),
        ("f = maker(1.0)", "f = maker(1.0)\n    math = type('M', (), dict(sqrt=lambda x: 5.0))"),
        ("f = maker(1.0)", "f = maker(1.0)\n    def abs(x): return x * 3"),
        ("f = maker(1.0)", "f = maker(1.0)\n    weight = lambda x: 0 * x"),
        ("f = maker(1.0)", "f = maker(1.0)\n    weight.__defaults__ = (9,)"),
    ],
)
def test_what_has_changed_since_is_seen(old, new, tmp_path, made):
    before = result(loaded(tmp_path / "module.py", FUNCTION))
    count = len(made)
    np.testing.assert_array_equal(result(loaded(tmp_path / "module.py", FUNCTION)), before)
    assert count == len(made) == 2
    changed = loaded(tmp_path / "module.py", FUNCTION.replace(old, new))
    after = result(changed)
    assert not np.array_equal(before, after) or new == "SCALE = 2.0" or "float32" in new
    again = loaded(tmp_path / "module.py", FUNCTION.replace(old, new))
    np.testing.assert_array_equal(result(again), after)
    np.testing.assert_array_equal(result(loaded(tmp_path / "module.py", FUNCTION)), before)


def test_a_kept_nest_is_left_when_what_it_took_changes(tmp_path, made):
    result(loaded(tmp_path / "module.py", FUNCTION))
    module = loaded(tmp_path / "module.py", FUNCTION)
    first = result(module)
    assert made == ["function", "nest"] and calls(module) == 1
    module.OFFSET = 5.0
    np.testing.assert_array_equal(result(module), first + 9.0)


@pytest.mark.parametrize("name, patch", [("math", "sqrt"), ("numpy", "exp")])
def test_a_library_that_the_program_has_patched_is_another_one(
    tmp_path, monkeypatch, made, name, patch
):
    plain = result(loaded(tmp_path / "module.py", FUNCTION))

    def patched(x):
        return x * 0 + 11.0

    patched.__name__ = patch
    with monkeypatch.context() as change:
        change.setattr(sys.modules[name], patch, patched)
        other = result(loaded(tmp_path / "module.py", FUNCTION))
        assert not np.array_equal(plain, other)
    np.testing.assert_array_equal(result(loaded(tmp_path / "module.py", FUNCTION)), plain)


def test_other_values_get_translations_of_their_own(tmp_path, made):
    text = (
        "import frit\n@frit.parallelize\ndef f(x, y):\n for i in range(len(x)): y[i] = x[i] * 3\n"
    )
    for kind in (float, np.float32, int, np.uint8, float):
        module = loaded(tmp_path / "module.py", text)
        x = np.arange(30).astype(kind)
        y = np.zeros(30, kind)
        module.f(x, y)
        np.testing.assert_array_equal(y, x * kind(3))
        assert y.dtype == kind
    assert made == ["function", *["nest"] * 4]


def test_a_call_that_a_kept_guard_refuses_is_translated_anew(tmp_path, made):
    text = """
        import frit
        @frit.parallelize
        def f(x, y, n, k):
            for i in range(n):
                y[i] = x[i - k]
    """
    for k, new in ((0, True), (3, True), (3, False)):
        module = loaded(tmp_path / "module.py", text)
        made.clear()
        x, y, expected = np.arange(30.0), np.zeros(30), np.zeros(30)
        module.f(x, y, 20, k)
        module.f.__frit__.function(x, expected, 20, k)
        np.testing.assert_array_equal(y, expected)
        if not new:
            assert not made
    with pytest.raises(IndexError, match="index 30 is out of bounds for axis 0 with size 30"):
        loaded(tmp_path / "module.py", text).f(x, np.zeros(99), 99, 0)


def test_a_guard_that_refuses_the_calls_that_it_was_made_for_is_made_once(tmp_path, made):
    text = """
        import frit
        @frit.parallelize
        def f(x, y, flags, n):
            for i in range(n):
                if flags[i]:
                    y[i] = x[i + 1]
    """
    for is_new in (True, False):
        module = loaded(tmp_path / "module.py", text)
        made.clear()
        for n in (30, 29, 28):
            x, y, expected = np.arange(30.0)[:n], np.zeros(30), np.zeros(30)
            flags = np.arange(30) < n - 1
            module.f(x, y, flags, n)
            module.f.__frit__.function(x, expected, flags, n)
            np.testing.assert_array_equal(y, expected)
        assert made.count("nest") == is_new
        x, y = np.arange(30.0), np.zeros(30)
        module.f(x, y, flags, 20)
        assert y[19] == 20 and module.f.__frit__.sites[0].calls == 1


def test_a_refusal_is_kept_until_what_it_follows_from_changes(tmp_path, made):
    text = """
        import frit
        K = {k}
        def other(x):
            return {body}
        @frit.parallelize
        def f(x, y):
            for i in range(len(x)):
                y[i] = other(x[i]) * K
    """

    def run(body: str, k: int = 2):
        module = loaded(tmp_path / "module.py", text.format(body=body, k=k))
        made.clear()
        x, y, expected = np.arange(30.0), np.zeros(30), np.zeros(30)
        module.f(x, y)
        module.f.__frit__.function(x, expected)
        np.testing.assert_array_equal(y, expected)
        (site,) = module.f.__frit__.sites
        return [(refused.reason, refused.line) for refused in site.refused.values()]

    with_list = "[x, x + 1].pop(0)"
    first = run(with_list)
    assert first and "nest" in made
    assert run(with_list) == first and "nest" not in made
    assert run(with_list, 3) == first and "nest" not in made  # it does not follow from K
    assert run("x + 1") == [] and "nest" in made
    assert run("x + 1") == [] and "nest" not in made
    assert run(with_list) == first and "nest" not in made  # both are kept
    assert run("[x, x + 2].pop(0)") == first and "nest" in made


def test_a_refusal_is_kept_for_the_signs_that_it_follows_from(tmp_path, made):
    text = """
        import frit
        @frit.parallelize
        def f(x, i, k):
            for j in range(i, len(x)):
                x[j, 0, 0] += x[j, 0:k, 0:17].sum()
    """
    for i, k, is_refused, is_new in (
        (3, 8, True, True),
        (4, 8, True, False),
        (7, 8, True, False),
        (7, 7, False, True),
        (5, 7, False, False),
        (5, 8, True, False),
    ):
        module = loaded(tmp_path / "module.py", text)
        made.clear()
        x, expected = np.arange(3400.0).reshape(10, 20, 17)[None].repeat(2, axis=0)
        module.f(x, i, k)
        module.f.__frit__.function(expected, i, k)
        (site,) = module.f.__frit__.sites
        assert [r.reason for r in site.refused.values()] == is_refused * [
            "a sum of several axes, of more than 128 elements in long rows"
        ]
        assert ("nest" in made) is is_new, (i, k)


def test_a_refusal_of_one_call_is_not_kept(tmp_path, made):
    text = """
        import frit
        @frit.parallelize
        def f(x, y, k):
            for i in range(len(x)):
                y[i] = x[i - k]
    """
    for k, is_refused in ((10**6, None), (1, False)):
        module = loaded(tmp_path / "module.py", text)
        x, y = np.arange(30.0), np.zeros(30)
        outcome(module.f, {"x": x, "y": y, "k": k})
        if is_refused is not None:
            (site,) = module.f.__frit__.sites
            assert not site.refused and site.calls == 1


def test_damaged_files_are_made_anew(tmp_path, folder, made):
    first = result(loaded(tmp_path / "module.py", FUNCTION))
    files = sorted(folder.iterdir())
    assert len(files) == 2
    for file in files:
        good = file.read_bytes()
        damages = [
            good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :] for at in range(0, len(good), 61)
        ]
        damages += [b"", good[:20], good[: len(good) // 2], good + b"x"]
        for damage in damages:
            file.write_bytes(damage)
            made.clear()
            np.testing.assert_array_equal(result(loaded(tmp_path / "module.py", FUNCTION)), first)
            assert len(made) == 1 and file.read_bytes() == good


def test_another_build_takes_nothing(tmp_path, made, monkeypatch):
    result(loaded(tmp_path / "module.py", FUNCTION))
    monkeypatch.setattr(_kept, "_identity", lambda: [b"another"])
    result(loaded(tmp_path / "module.py", FUNCTION))
    assert made == ["function", "nest"] * 2


@pytest.mark.parametrize("setting", ["", "/proc/nowhere", "relative"])
def test_without_a_folder_functions_run_all_the_same(tmp_path, made, monkeypatch, setting):
    monkeypatch.setenv("FRIT_CACHE_DIR", setting)
    if not setting:
        monkeypatch.setenv("FRIT_CACHE", "0")
    for _ in range(2):
        result(loaded(tmp_path / "module.py", FUNCTION))
    assert made == ["function", "nest"] * 2


OBJECTS = """
    import math
    import frit

    OFFSET = 1

    class Shape:
        factor = 3.0
        def __init__(self, k):
            self.k = k
            self.function = math.sqrt
        def weight(self, x):
            return self.k * x + OFFSET
        def changed(self, x):
            return self.weight(x) * 2
        @property
        def double(self):
            return 2 * self.k

    class Grid: pass

    @frit.parallelize
    def f(grid, shape, g, n):
        for i in range(n):
            grid.u[i] = shape.changed(grid.u[i]) + shape.double + g(i) + shape.function(4.0)

    grid = Grid()
    other = Shape(3)
"""


def result_of_objects(module):
    found = []
    for function in (module.f, module.f.__frit__.function):
        grid = module.Grid()
        grid.u = np.arange(30.0)
        function(grid, module.Shape(2), module.other.weight, 30)
        found.append(grid.u)
    np.testing.assert_array_equal(*found)
    return found[0]


def test_nests_on_objects_are_kept(tmp_path, made):
    before = result_of_objects(loaded(tmp_path / "module.py", OBJECTS))
    again = loaded(tmp_path / "module.py", OBJECTS)
    np.testing.assert_array_equal(result_of_objects(again), before)
    assert made == ["function", "nest"] and calls(again) == 1


@pytest.mark.parametrize(
    "old, new",
    [
        ("OFFSET = 1", "OFFSET = 2"),
        ("self.k * x + OFFSET", "self.k * x - OFFSET"),
        ("self.weight(x) * 2", "self.weight(x) * 3"),
        ("return 2 * self.k", "return 3 * self.k"),
        ("math.sqrt", "math.exp"),
        ("math.sqrt", "abs"),
        ("other = Shape(3)", "other = Shape(4.5)"),
        (
            "other = Shape(3)",
            "class Other(Shape):\n        def weight(self, x): return x\n    other = Other(3)",
        ),
        ("self.k = k", "self.k = k\n            self.weight = abs"),
        ("    grid = Grid()", "    Shape.weight = lambda self, x: 3 * x"),
        ("    grid = Grid()", "    Shape.double = 7.0"),
    ],
)
def test_what_has_changed_of_objects_is_seen(old, new, tmp_path):
    before = result_of_objects(loaded(tmp_path / "module.py", OBJECTS))
    for _ in range(2):
        changed = OBJECTS.replace(old, new)
        after = result_of_objects(loaded(tmp_path / "module.py", changed))
        assert not np.array_equal(before, after)
        np.testing.assert_array_equal(
            result_of_objects(loaded(tmp_path / "module.py", OBJECTS)), before
        )


def test_what_is_too_deep_to_be_kept_runs_all_the_same(tmp_path, made):
    terms = " + ".join(["x[i]"] * 400)
    text = f"def f(x, y):\n    for i in range(len(x)):\n        y[i] = {terms}\n"
    for _ in range(2):
        function = frit.parallelize(loaded(tmp_path / "module.py", text).f)
        y = np.zeros(30)
        function(np.arange(30.0), y)
        np.testing.assert_array_equal(y, 400 * np.arange(30.0))
        assert [site.calls for site in function.__frit__.sites] == [1]


@pytest.mark.parametrize("function", [True, False])
def test_a_nest_that_was_worth_it_is_taken_at_once_by_the_next_process(
    tmp_path, monkeypatch, function
):
    loop = "for i in range(n):\n    y[i] = 2 * x[i]\n"
    text = f"def f(x, y, n):\n{textwrap.indent(loop, '    ')}f(x, y, 50)" if function else loop

    def is_taken() -> bool:
        code = _kept.code_of(text, compile(text, str(tmp_path / "module.py"), "exec"))
        space = {"__name__": "module", "x": np.arange(50.0), "y": np.zeros(50), "n": 50}
        exec(code, space)
        np.testing.assert_array_equal(space["y"], 2 * space["x"])
        codes = [code, *(c for c in code.co_consts if isinstance(c, types.CodeType))]
        (found,) = (p for c in codes for p in c.co_consts if isinstance(p, place.Place))
        return found.binding.site is not None

    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "WORTH", 1e9)
    monkeypatch.setattr(place, "KEPT_WORTH", -1.0)
    assert not is_taken()
    with monkeypatch.context() as change:
        change.setattr(place, "WORTH", -1.0)
        assert is_taken()
    assert is_taken()
    monkeypatch.setenv("FRIT_CACHE", "0")
    assert not is_taken()


def test_a_nest_that_was_tried_in_vain_is_tried_later_by_the_next_process(tmp_path, monkeypatch):
    text = """
import json

def g(x):
    return {body}

def f(x, y, n):
    for i in range(n):
        y[i] = g(x[i])

f(x, y, 50)
"""

    def is_tried(body: str) -> bool:
        source = text.format(body=body)
        code = _kept.code_of(source, compile(source, str(tmp_path / "module.py"), "exec"))
        space = {"__name__": "module", "x": np.arange(50.0), "y": np.zeros(50)}
        exec(code, space)
        np.testing.assert_array_equal(space["y"], space["x"])
        (found,) = (p for p in space["f"].__code__.co_consts if isinstance(p, place.Place))
        return found.binding.site is not None

    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "WORTH", 1e-9)
    monkeypatch.setattr(place, "IN_VAIN_WORTH", 1e18)
    in_json = "json.loads(json.dumps(float(x)))"  # a module that has no words
    assert is_tried(in_json)
    assert not is_tried(in_json)
    assert is_tried("x if json else x")  # another text
    monkeypatch.setenv("FRIT_CACHE", "0")
    assert is_tried(in_json)


def test_bytes_that_are_no_kernel_are_refused():
    for bytes_ in (b"", b"abc", bytes(400), bytes(range(256))):
        with pytest.raises(ValueError, match="no kernel"):
            _core.Kernel.from_bytes(bytes_, [], [])


@pytest.mark.parametrize("kind", [Program, ComplexProgram, ObjectProgram])
def test_random_loops_do_the_same_when_they_were_kept(kind, monkeypatch, tmp_path, made):
    """Each call is made twice, by functions that know nothing of each other."""
    taken = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        program = kind(seed)
        name = str(tmp_path / f"fuzz {seed}.py")
        monkeypatch.setattr(reductions, "LEAF", 128)
        for call in range(2):
            arguments = program.arguments(call)
            expected = outcome(frit.parallelize(program.function(name)), arguments)
            made.clear()
            again = frit.parallelize(program.function(name))
            got = outcome(again, arguments)
            taken += "nest" not in made and sum(site.calls for site in again.__frit__.sites)
            assert same_outcome(expected, got), f"seed {seed}, call {call}\n{program.source}"
    assert taken > PROGRAMS // 4


PROGRAM = """
import math
import sys
import numpy as np
import frit

def length(a, b):
    return math.sqrt(a * a + b * b)

@frit.parallelize
def f(x, y, z):
    for i in range(len(x)):
        z[i] = length(x[i], y[i])

x = np.arange(3000.0)
z = np.zeros(3000)
f(x, x[::-1], z)
np.testing.assert_array_equal(z, np.sqrt(x * x + x[::-1] ** 2))
print("frit.loops.nest.nest" in sys.modules)
"""


def test_processes_at_once_and_one_after_them(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [sys.executable, "program.py"]
    settings = os.environ | {"FRIT_CACHE_DIR": str(tmp_path / "cache")}
    several = [
        subprocess.Popen(words, cwd=tmp_path, env=settings, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert all(p.communicate()[0] in ("True\n", "False\n") and p.returncode == 0 for p in several)
    done = subprocess.run(words, cwd=tmp_path, env=settings, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
    names = [p.name for p in (tmp_path / "cache" / "nests").iterdir()]
    assert len(names) == 2 and all(name.endswith(".nests") for name in names)


@pytest.mark.parametrize(
    "homes",
    [
        {},
        {"FRIT_CACHE_DIR": "/a"},
        {"FRIT_CACHE_DIR": "b"},
        {"XDG_CACHE_HOME": "/x"},
        {"HOME": "/tmp"},
        {"HOME": "/no/such"},
        {"FRIT_CACHE": "0"},
    ],
)
def test_all_that_is_kept_is_in_one_folder(monkeypatch, homes):
    for name in ("FRIT_CACHE", "FRIT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in homes.items():
        monkeypatch.setenv(name, value)
    assert _core.kernel_folder() == (_kept.cache_folder() and _kept.cache_folder() + "/kernels")
