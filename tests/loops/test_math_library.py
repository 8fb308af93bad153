"""test_math_library.py: rounds one after another have the bits of the functions Python calls."""

from __future__ import annotations

import importlib.util
import math
import random

import numpy as np
import pytest

import frit

from .test_loops import runs_compiled

OF_MATH = """
sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 exp2 log log2 log10 log1p
cbrt erf
""".split()
OF_NUMPY = """
sin cos tan arcsin arccos arctan sinh cosh tanh exp expm1 exp2 log log2 log10 log1p cbrt
""".split()
SMALL = ("asin", "acos", "atanh", "arcsin", "arccos")  # of numbers below 1
LARGE = ("acosh",)  # of numbers above 1

EXPRESSIONS = [
    *(f"math.{name}({{}})" for name in OF_MATH),
    *(f"np.{name}({{}})" for name in OF_NUMPY),
    *(f"np.{name}(w[i % 3] + y)" for name in ("sin", "exp", "log", "tanh")),
    "math.atan2({}, 1.3)",
    "np.arctan2({}, x + 0.2)",
    "np.hypot({}, 0.7)",
    "math.hypot({}, 0.7)",
    "math.pow({}, 2.7)",
    "np.power({}, 2)",
    "np.power({}, 3)",
    "np.power({}, 0.5)",
    "np.power({}, -1.7)",
    "np.power({}, (0.5, 2.0, -1.0, 1.3)[i % 4])",
    "np.power(w[i % 3] + y, 3)",
    "{} ** 2",
    "{} ** 3",
    "{} ** 0.5",
    "{} ** -1.7",
    "1.7 ** {}",
    "({} + v[i % 3]) ** 2",
    "({} + v[i % 3]) ** 0.5",
    "(w[i % 3] + y) ** 1.5",
    "(v[i % 3] * {}) ** 2.5",
    "abs(complex({}, x))",
    "cmath.exp(complex({}, x)).real",
    "np.exp(complex({}, x)).imag",
    "cmath.phase(complex({}, x))",
]


def module_of(tmp_path, source):
    path = tmp_path / "program.py"
    path.write_text("import cmath\nimport math\nimport numpy as np\n\n" + source)
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sequence(expression):
    """Each number hangs on the one before, so that a bit that differs becomes a different one."""
    return (
        "def f(n, x, v, w, out):\n"
        "    y = w[0]\n"
        "    for i in range(n):\n"
        f"        y = {expression}\n"
        "        x = y * 97.25 % 1.0\n"
        "        y = w[1] * x\n"
        "        out[i] = x\n"
        "    return float(x)\n"
    )


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_sequence_has_pythons_bits(expression, tmp_path):
    name = expression.split("(")[0].split(".")[-1]
    number = "x" if name in SMALL else "(x + 1.01)" if name in LARGE else "(x * 3.7 + 0.01)"
    function = module_of(tmp_path, sequence(expression.format(number))).f
    v = np.array([0.3, 1.7, 2.9])
    w = v.astype("f4")
    found = {}
    for run in (function, ours := frit.parallelize(function)):
        out = np.zeros(5000)
        for x in (0.25, 0.71875, 0.123046875):
            last = run(len(out), x, v, w, out)
            found.setdefault(run, []).append((out.tobytes(), repr(last)))
    assert found[ours] == found[function]
    assert runs_compiled(ours), frit.explain(ours)


def powers(x, y, out):
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = np.power(x[i], y[j]) + np.power(x[i], 2) * np.power(x[i], 0.5)


def powers_of_rows(x, y, out):
    for i in range(len(x)):
        out[i] = np.power(x, 3) + np.power(2.0, i % 3) * np.power(x, y[i])


def powers_of_ints(x, y, out):
    for i in range(len(x)):
        out[i] = np.power(x[i], 3) + np.power(i, 2)


def powers_by_rows(x, y, out):
    for i in range(len(x)):
        out[i] = np.power(x, y)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", [powers, powers_of_rows])
def test_powers_of_numpys_function_are_its_own(function, dtype, recwarn):
    x = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 3.25], dtype)
    y = np.array([0.5, 2.0, -1.0, 0.0, 1.0, 3.0, -0.5, 1.7], dtype)
    expected, got = np.zeros((2, 8, 8), dtype)
    function(x, y, expected)
    kinds = {str(w.message).split(" encountered")[0] for w in recwarn}
    recwarn.clear()
    ours = frit.parallelize(function)
    ours(x, y, got)
    assert runs_compiled(ours), frit.explain(ours)
    assert {str(w.message).split(" encountered")[0] for w in recwarn} == kinds
    np.testing.assert_allclose(got, expected, rtol=8 * np.finfo(dtype).eps)
    signs = np.signbit(got) == np.signbit(expected)
    assert (signs | np.isnan(expected)).all()


def test_powers_of_integers_are_numpys():
    x, expected, got = np.arange(-4, 5, dtype="i4"), np.zeros(9, "l"), np.zeros(9, "l")
    powers_of_ints(x, x, expected)
    ours = frit.parallelize(powers_of_ints)
    ours(x, x, got)
    assert runs_compiled(ours), frit.explain(ours)
    assert np.array_equal(got, expected)
    by_rows = frit.parallelize(powers_by_rows)
    square, same = np.zeros((2, 9, 9))
    powers_by_rows(np.arange(1.0, 10.0), x * 0.5, square)
    by_rows(np.arange(1.0, 10.0), x * 0.5, same)
    assert np.array_equal(square, same) and not runs_compiled(by_rows)


def in_lanes_and_in_order(x, y, z):
    s = 0.0
    for i in range(len(x)):
        y[i] = math.sin(x[i]) ** 2
        s = 0.5 * s + math.sin(x[i]) ** 2
        z[i] = s
    return s


def test_what_two_parts_of_a_loop_compute_is_one_number():
    """The sines for y run side by side, those for z one after another: but they are the same."""
    x = np.random.default_rng(5).uniform(-9, 9, 20000)
    ours = frit.parallelize(in_lanes_and_in_order)
    y, z = np.zeros_like(x), np.zeros_like(x)
    ours(x, y, z)
    s, again = 0.0, np.zeros_like(z)
    for k, one in enumerate(y.tolist()):
        s = 0.5 * s + one
        again[k] = s
    assert again.tobytes() == z.tobytes()
    expected = np.sin(x) ** 2
    assert np.all(np.abs(y - expected) <= 8 * np.spacing(expected))


def test_squares_are_those_of_pow(tmp_path):
    """pow(x, 2) is x * x but for some x, whose squares lie nearly halfway between two numbers."""
    function = module_of(
        tmp_path,
        "def f(x, out):\n"
        "    t = 0.0\n"
        "    for i in range(len(x)):\n"
        "        t = x[i] ** 2 + t * 0.0\n"
        "        out[i] = t\n",
    ).f
    draw = random.Random(3)
    x = [draw.uniform(-10, 10) for _ in range(40000)]
    x += [draw.uniform(1, 2) * 2.0 ** draw.randrange(-540, 511) for _ in range(40000)]
    x += [math.sqrt(2.0**k) * (1 + j * 2.0**-52) for k in range(-20, 20) for j in range(-9, 9)]
    x += [float(k) for k in range(-3000, 3000)]
    x += [0.0, -0.0, 5e-324, 1e-170, -1e-160, 1e154, math.nan]
    x = np.array(x)
    expected, found = np.zeros_like(x), np.zeros_like(x)
    function(x, expected)
    ours = frit.parallelize(function)
    ours(x, found)
    assert found.tobytes() == expected.tobytes()
    assert sum(a != b for a, b in zip(expected, (x * x).tolist(), strict=True)) > 20
    assert runs_compiled(ours)


def test_errors_are_those_of_python(tmp_path):
    source = (
        "def f(n, x, out):\n"
        "    for i in range(n):\n"
        "        x = math.exp(x) * 1.5\n"
        "        out[i] = x\n"
        "def g(n, x, out):\n"
        "    for i in range(n):\n"
        "        x = (x - 0.3) ** 1.5\n"
        "        out[i] = abs(x)\n"
        "def h(n, x, out):\n"
        "    for i in range(n):\n"
        "        x = math.log(x)\n"
        "        out[i] = x\n"
    )
    module = module_of(tmp_path, source)
    for name in "fgh":
        function = getattr(module, name)
        outcomes = []
        for run in (function, frit.parallelize(function)):
            out = np.zeros(60)
            try:
                run(60, 1.25, out)
                outcomes.append(out.tobytes())
            except Exception as error:
                outcomes.append((repr(error), out.tobytes()))
        assert outcomes[0] == outcomes[1], name


def flags_and_functions(n, x, out):
    for i in range(n):
        x = np.tanh(x) * 3.0 + out[i] / 0.5
        out[i] = out[i] * 1e300 * 1e10
        x = np.tanh(x) + i
    return x


def test_functions_that_clear_the_flags_leave_warnings(recwarn):
    """NumPy's loop of tanh does, in the middle of what a nest has raised."""
    ours = frit.parallelize(flags_and_functions)
    for run in (flags_and_functions, ours):
        recwarn.clear()
        run(300, 0.25, np.full(300, 2.5))
        assert {str(w.message)[:8] for w in recwarn} == {"overflow"}
    assert runs_compiled(ours)
