"""test_warnings.py: nests warn of what NumPy warns of, whatever formulas do on their way."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

from frit import _core, parallelize

from .written import function_of

SPECIAL = [0.0, -0.0, 0.5, -1.5, 1e300, -1e300, 1e-300, math.inf, -math.inf, math.nan, 800.0]
FUNCTIONS = "arccos arctan cbrt cos exp expm1 log log10 log1p log2 sin sqrt square tan tanh"
UNARY = [f"np.{name}(a[i])" for name in FUNCTIONS.split()]
BINARY = ["a[i] / b[i]", "a[i] // b[i]", "a[i] % b[i]", "a[i] ** b[i]", "np.hypot(a[i], b[i])"]


@pytest.fixture(params=["interpreter", "compiled"])
def tier(request):
    _core.set_tier(request.param)
    yield
    _core.set_tier("automatic")


def loop_over(statement, result="s"):
    """f(a, b, out), whose loop is the statement."""
    text = f"""
def f(a, b, out):
    s = 0.0
    for i in range(len(a)):
        {statement}
    return {result}
"""
    return function_of(text, f"<{statement}>", np=np)


def told(function, *arrays):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        function(*arrays)
    return {str(w.message).partition(" encountered")[0] for w in heard}


def compare(statement, dtype, pairs):
    function = loop_over(statement)
    parallel = parallelize(function)
    for x, y in pairs:
        a, b, out = np.full((3, 50), 0.75, dtype)
        with np.errstate(over="ignore"):
            a[37], b[37] = x, y
        expected = told(function, a.copy(), b.copy(), out.copy())
        assert told(parallel, a, b, out) == expected, (statement, x, y)
    assert sum(site.calls for site in parallel.__frit__.sites) == len(pairs), statement


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "statement", ["out[i] = {}", "out[i] += {}", "s += {}", "out[i] = {} if a[i] < 2 else 0"]
)
def test_formulas_warn_as_numpy_does(tier, dtype, statement):
    for term in UNARY:
        compare(statement.format(term), dtype, [(x, 1.0) for x in SPECIAL])
    for term in BINARY:
        compare(statement.format(term), dtype, [(x, y) for x in SPECIAL for y in SPECIAL])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_was_computed_in_place_is_told_by_what_is_left(tier, dtype):
    for term in UNARY:
        compare(f"a[i] = {term}", dtype, [(x, 1.0) for x in SPECIAL])
    finite = [x for x in SPECIAL if math.isfinite(x)]
    for target in "ab":
        compare(f"{target}[i] = a[i] ** b[i]", dtype, [(x, -1.5) for x in finite])
    compare("a[i] //= b[i]", dtype, [(1e300, 1e-300), (1.0, 0.0), (-1.5, 0.5)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nests_that_wait_warn_as_others_do(tier, dtype):
    import frit.numpy

    for term in [*UNARY, *BINARY, "np.log(a[i]) * b[i]", "max(a[i], b[i]) + 1"]:
        function = loop_over(f"out[i] = {term}", "")
        parallel = parallelize(function)
        for x, y in itertools.product(SPECIAL, SPECIAL if "b[i]" in term else [1.0]):
            few = np.full((3, 2), 0.75, dtype)
            with np.errstate(over="ignore"):
                few[0, 0], few[1, 0] = x, y
            arrays = [frit.numpy.array(np.repeat(row, 4096)) for row in few]
            assert told(parallel, *arrays) == told(function, *few), (term, x, y)
        assert sum(site.calls for site in parallel.__frit__.sites), term


def test_a_nest_that_waits_is_judged_beside_what_it_fuses_with(tier):
    import frit.numpy

    plain = loop_over("out[i] = np.log(a[i])", "")
    nest = parallelize(plain)

    def program(module, function, n):
        a, out = module.zeros(n), module.empty(n)
        b = a - 1.0
        function(b * b - 1.0, b, out)
        total = (module.sqrt(out) * module.exp(b)).sum()
        return float(total)

    assert told(program, frit.numpy, nest, 8192) == told(program, np, plain, 4)


def test_nans_of_arrays_that_are_stored_to_are_no_error(tier):
    for statement in [
        "if a[i] < 0.5: a[i] = a[i] * 2",
        "t = a[i] + 1.0; a[i] = t if t < b[i] else b[i]",
        "a[i] = max(a[i], b[i]) + 1.0",
    ]:
        compare(statement, np.float64, [(math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0)])


def test_a_long_nest_is_not_gone_through_at_every_call(tier):
    function = parallelize(loop_over("out[i] = np.log(a[i])"))
    a = np.full(400_000, 1e300)
    out = np.empty_like(a)
    for _ in range(6):
        assert not told(function, a, a, out)
    a[-1] = 0.0
    assert told(function, a, a, out) == {"divide by zero"}
    out[-1], a[-1] = 0.0, -1.0
    assert told(function, a, a, out) == {"invalid value"}


def quotients(out, x, y):
    for i in range(len(out)):
        out[i] = x / y + out[i] * x


def rows_of(out, x, y):
    for i in range(len(out)):
        out += x
        out[i : i + 2] = y


@pytest.mark.parametrize("function", [quotients, rows_of])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("size", [0, 1, 30])
def test_numbers_that_are_the_same_in_all_rounds(function, dtype, size):
    ours = parallelize(function)
    for x, y in itertools.product([np.float64(1.0), np.float64(0.0), np.float64(1e300)], repeat=2):
        expected, got = (told(f, np.ones(size, dtype), x, y) for f in (function, ours))
        assert got == expected, (x, y)


GUARDED = [
    "if d != 0: out[i] = a[i] / d",
    "if a[i] > 99: out[i] = 1.0 / d",
    "if z != 0: out[i] = k // z + i // z + a[i] % z",
    "if d > 99 or z > 99: out[i] += a[i] / d + b[i] // d",
    "if a[i] > 99: out[i] = k // z",
    "if a[i] > 99: out[i] = a[i] % d + k % z",
    "if a[i] > 99: out[i] = np.sqrt(d - 1) + np.log(d)",
    "out[i] += np.sqrt(-1) if a[i] > 99 else 3",
    "out[i] += np.sqrt(-4) * a[i] + np.log(0) if d > 99 else np.sqrt(2)",
    "if a[i] > 99: out[i] = np.int64(d * 1e300)",
    "if a[i] > 99: out[i] = np.float32(d) + np.float16(d)",
    "if a[i] < 99: out[i] = np.float32(a[i] * large[i])",
    "q = a[i] if a[i] > 99 else 0.0; out[i] = q / d if q > 99 else q",
    "for j in range(3): out[i] += 3 / d if a[i] > 99 else 1.0",
    "for j in range(int(a[i]) - 100): out[i] += 1.0 / d + k // z",
    "for j in range(2): out[i] += 1.0 / b[i] * a[j] if b[i] > 0 else 0.0",
]


@pytest.mark.parametrize("statement", GUARDED)
@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("is_while", [False, True])
def test_what_a_condition_rules_out_does_not_warn(tier, statement, in_order, is_while):
    """Nor where the same number is computed in all rounds, and might be before them."""
    lines = ["def loop(a, b, large, out, d, k, z):", " for i in range(len(a)):"]
    if in_order:
        lines.append("  out[i] = out[i - 1] * 0.5")
    if is_while:
        lines += ["  n = 0", "  while n < 2:", "   n += 1"]
    indent = "   " if is_while else "  "
    lines += [indent + part for part in statement.split("; ")]
    text = "\n".join(lines) + "\n"
    loop = function_of(text, f"<guarded {hash((statement, in_order, is_while))}>", np=np)
    ours = parallelize(loop)
    b = np.where(np.arange(300) % 3, 2.0, 0.0)
    for a in (np.ones(300), np.where(np.arange(300) % 7, 1.0, 100.0)):
        large = np.where(a > 99, 1e300, 1.0)
        for d in (np.float64(0), np.float64(-3), np.float64(1e300)):
            given = d, np.int64(5), np.int64(0)
            results = [np.zeros(300), np.zeros(300)]
            expected, got = (
                told(f, a, b, large, out, *given)
                for f, out in zip((loop, ours), results, strict=True)
            )
            assert got == expected, (statement, d)
            assert results[0].tobytes() == results[1].tobytes()


OF_PYTHONS_FLOATS = [
    "out[i] += x % x",
    "b[i] = a[i] + x * i",
    "out[i] = x // 2.0 + a[i] * 2",
    "y = x - x; out[i] = y * a[i]",
    "y = x * 1e300; s += y",
    "out[i] = a[i] + x - x * i",
    "out[i] = a[i] * x",
    "out[i] += (x - x) * a[i] + (a[i] - b[i])",
    "if i > 3: out[i] = np.sqrt(a[i] - 2) + x * i",
    "z = x * (1 + 2j); out[i] = z.real + a[i]",
]


@pytest.mark.parametrize("statement", OF_PYTHONS_FLOATS)
@pytest.mark.parametrize("in_order", [False, True])
def test_nobody_is_warned_of_pythons_own_floats(tier, statement, in_order):
    """They are NumPy's as soon as one of the two is."""
    before = "out[i] = out[i - 1] * 0.5" if in_order else "pass"
    body = "\n".join(f"  {part}" for part in statement.split("; "))
    text = f"""
def loop(a, b, out, x):
 s = 0.0
 for i in range(len(a)):
  {before}
{body}
 return s
"""
    loop = function_of(text, f"<of floats {hash(text)}>", np=np)
    ours = parallelize(loop)
    for x in (1.5, math.inf, -math.inf, math.nan, 1e300, np.float64(math.inf), np.float64(1e300)):
        for first in (1.0, 0.0, math.inf):
            numbers = [np.full((3, 40), first) for _ in range(2)]
            expected, got = (told(f, *n, x) for f, n in zip((loop, ours), numbers, strict=True))
            assert got == expected, (x, first)
            assert np.array_equal(*numbers, equal_nan=True)
    assert sum(site.calls for site in ours.__frit__.sites) > 0


SAME_IN_ALL_ROUNDS = [
    "for j in range(n[i]): out[i, j] = i // z",
    "for j in range(m): out[i, j] = i // z",
    "for j in range(n[i]): out[i, 0] += i // z + a[i] / d",
    "for j in range(n[i]): s += i // z",
    "for j in range(n[i]): out[i, j] = b[j] / a[i] + b[i] * d * 1e300 * 1e300",
    "q = a[i] + d\n  for j in range(n[i]): out[i, j] = np.float32(q * 1e300) + i % z",
    "for j in range(3):\n   for l in range(n[i]): out[i, j] += j // z",
    "if b[i] < 99:\n   for j in range(n[i]): out[i, j] = k // z + np.float32(b[i] * 1e300)",
]


@pytest.mark.parametrize("statement", SAME_IN_ALL_ROUNDS)
@pytest.mark.parametrize("in_order", [False, True])
def test_a_loop_of_no_rounds_does_not_warn(tier, statement, in_order):
    """Nor of what is the same in all of its rounds, and is computed in front of it."""
    before = "out[i, 0] = out[i - 1, 0] * 0.5" if in_order else "pass"
    text = f"""
def loop(a, b, n, m, out, d, k, z):
 s = 0
 for i in range(len(a)):
  {before}
  {statement}
 return s
"""
    loop = function_of(text, f"<of no rounds {hash(text)}>", np=np)
    ours = parallelize(loop)
    for rounds in (0, 2):
        n = np.full(40, rounds)
        given = n, rounds, np.zeros((40, 4)), np.float64(0), np.int64(5), np.int64(0)
        expected, got = (told(f, np.zeros(40), np.ones(40), *given) for f in (loop, ours))
        assert got == expected, rounds
    assert sum(site.calls for site in ours.__frit__.sites) == 2


def reads_in_vain(a, x):
    s = x
    for i in range(1, len(a)):
        if a[i] > 99:
            s -= a[i]
    return s


def test_a_guard_does_not_warn(tier):
    ours = parallelize(reads_in_vain)
    for x in (1.0, 1e300, -1e300, 1e39, math.inf, math.nan, 3.4028234663852886e38):
        a = np.ones(300, np.float32)
        assert not told(ours, a, x)
        assert repr(ours(a, x)) == repr(reads_in_vain(a, x))


@pytest.mark.parametrize("dtype", ["i8", "i4", "f8", "f4"])
@pytest.mark.parametrize("numbers", [range(30_000), [4221] * 1000, [1] * 500])
def test_halves_are_widened_without_a_warning(dtype, numbers, tier):
    """4221.0 has the bits of a signaling half in it."""

    def summed(x, y):
        for i in range(1, len(y)):
            x[i] = y[i] + x[i - 1]

    parallel = parallelize(summed)
    y = np.array(numbers, dtype)
    for first in (0, np.inf):
        found = []
        for function in (summed, parallel):
            x = np.zeros(len(y), "f2")
            x[0] = first
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                function(x, y)
            found.append(({str(w.message).partition(" encountered")[0] for w in caught}, x))
        assert found[0][0] == found[1][0]
        np.testing.assert_array_equal(found[0][1], found[1][1])
