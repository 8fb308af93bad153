"""test_mathematics.py: exp, log, pow, sin and their like against mpmath, and against themselves."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import mpmath
import numpy
import pytest

import frit
import frit.numpy as np
import frit.pykokkos as pk
from frit import _core

TIERS = ["eager", "interpreter", "compiled"]
COUNT = 700
BLOCK = 512  # of elements that loops look at together
INFINITY = float("inf")


@pytest.fixture(params=TIERS)
def tier(request):
    _core.set_tier(request.param)
    yield request.param
    _core.set_tier("automatic")


def exponents(dtype: str) -> tuple[int, int]:
    """Of the least and the greatest normal number."""
    return (-1022, 1023) if dtype == "float64" else (-126, 127)


def steps_beside(values: numpy.ndarray) -> numpy.ndarray:
    """Numbers and their neighbours."""
    infinity = values.dtype.type(numpy.inf)
    below, above = numpy.nextafter(values, -infinity), numpy.nextafter(values, infinity)
    return numpy.concatenate([below, values, above])


def edges(dtype: str) -> numpy.ndarray:
    """Positive numbers where formulas change: powers of two, sixteenths, 1, denormals, limits."""
    low, high = exponents(dtype)
    powers = 2.0 ** numpy.arange(low, high, 37 if dtype == "float64" else 9)
    sixteenths = 16 / numpy.arange(12, 24)
    # Where the nearest sixteenth, and the nearest power of two, is another.
    halves = 16 / (numpy.arange(11, 24) + 0.5)
    near = 1 + numpy.array([1, -1]) * 2.0 ** -numpy.arange(3.0, 50)[:, None]
    limits = numpy.array(
        [0.6875, 1.375, 2**0.5, 0.5**0.5, 20, 22, 25, 50, 87, 88.7, 126, 708, 1022]
    )
    info = numpy.finfo(dtype)
    denormal = info.smallest_subnormal * numpy.array([1, 2, 3, 1000.0])
    found = [powers, sixteenths, halves, near.ravel(), limits, denormal, [info.max, info.tiny]]
    with numpy.errstate(over="ignore"):
        found = steps_beside(numpy.concatenate(found).astype(dtype))
    return found[(found > 0) & numpy.isfinite(found)]


def everywhere(dtype: str, seed: int) -> numpy.ndarray:
    """Numbers of either sign and of all sizes, many of them of the usual ones."""
    random = numpy.random.RandomState(seed)
    low, high = exponents(dtype)
    parts = [
        random.choice([-1, 1], COUNT) * 2.0 ** random.uniform(low, high, COUNT),
        random.uniform(-1, 1, COUNT),
        random.uniform(-3, 3, COUNT),
        random.uniform(-100, 100, COUNT),
        1 + random.uniform(-1, 1, COUNT) * 2.0 ** -random.uniform(1, 50, COUNT),
    ]
    values = numpy.concatenate([numpy.concatenate(parts).astype(dtype), edges(dtype)])
    return numpy.concatenate([values, -edges(dtype)])


def difference_in_ulps(found: numpy.ndarray, truth: list, digits: int, least: int) -> numpy.ndarray:
    def one(number: float, true: mpmath.mpf) -> float:
        unit = mpmath.ldexp(1, max(mpmath.frexp(true)[1] - digits, least))
        return float(abs(mpmath.mpf(float(number)) - true) / unit)

    return numpy.array([one(*pair) for pair in zip(found, truth, strict=True)])


def check(name: str, arguments: list[numpy.ndarray], true: Callable, bound: float) -> None:
    """Where the true value is a normal number of the type, or nearly 0."""
    dtype = str(arguments[0].dtype)
    with numpy.errstate(all="ignore"):
        found = numpy.asarray(getattr(np, name)(*map(np.array, arguments)))
    info = numpy.finfo(dtype)
    with mpmath.workprec(200):
        truth = [true(*(mpmath.mpf(float(x)) for x in xs)) for xs in zip(*arguments, strict=True)]
        fits = [abs(value) <= mpmath.mpf(float(info.max)) for value in truth]
        assert numpy.isfinite(found[fits]).all()
        digits, least = (53, -1074) if dtype == "float64" else (24, -149)
        known = [value for value, inside in zip(truth, fits, strict=True) if inside]
        error = difference_in_ulps(found[fits], known, digits, least)
    worst = int(error.argmax())
    assert error[worst] <= bound, [float(x[fits][worst]).hex() for x in arguments]


def within(low: float, high: float) -> Callable[[numpy.ndarray], numpy.ndarray]:
    return lambda x: x[(x >= low) & (x <= high)]


def log_of(base: float) -> Callable:
    return lambda x: mpmath.log(x) / mpmath.log(base) if base else mpmath.log(x)


def with_precision(function: Callable) -> Callable:
    """For what loses digits where the argument is small or large."""

    def wrapped(*arguments: mpmath.mpf) -> mpmath.mpf:
        with mpmath.workprec(2400):
            return function(*arguments)

    return wrapped


# The name, the true function, the arguments that it takes, the most ulps.
UNARY = [
    ("exp", mpmath.exp, within(-760, 710), 1.1),
    ("exp2", lambda x: mpmath.mpf(2) ** x, within(-1080, 1024), 1.1),
    ("expm1", with_precision(mpmath.expm1), within(-760, 710), 1.5),
    ("log", log_of(0), within(0, INFINITY), 1.0),
    ("log2", log_of(2), within(0, INFINITY), 1.3),
    ("log10", log_of(10), within(0, INFINITY), 1.7),
    ("log1p", with_precision(lambda x: mpmath.log(1 + x)), within(-1 + 2**-24, INFINITY), 1.6),
    ("sin", with_precision(mpmath.sin), within(-1e30, 1e30), 1.6),
    ("cos", with_precision(mpmath.cos), within(-1e30, 1e30), 1.6),
    ("tan", with_precision(mpmath.tan), within(-1e30, 1e30), 1.8),
    ("arcsin", mpmath.asin, within(-1, 1), 2.0),
    ("arccos", mpmath.acos, within(-1, 1), 2.0),
    ("arctan", mpmath.atan, within(-INFINITY, INFINITY), 1.8),
    ("sinh", with_precision(mpmath.sinh), within(-711, 711), 1.8),
    ("cosh", mpmath.cosh, within(-711, 711), 1.8),
    ("tanh", with_precision(mpmath.tanh), within(-100, 100), 2.5),
    ("arcsinh", with_precision(mpmath.asinh), within(-INFINITY, INFINITY), 2.0),
    ("arccosh", mpmath.acosh, within(1, INFINITY), 2.5),
    ("arctanh", with_precision(mpmath.atanh), within(-1 + 2**-24, 1 - 2**-24), 2.0),
    ("cbrt", lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), within(-INFINITY, INFINITY), 1.0),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "true", "domain", "bound"), UNARY, ids=[row[0] for row in UNARY])
def test_values_are_near_the_truth_over_the_whole_range(name, true, domain, bound, dtype):
    check(name, [domain(everywhere(dtype, seed=1))], true, bound)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_powers_are_near_the_truth_over_the_whole_range(dtype):
    x = abs(everywhere(dtype, seed=2))
    x = x[x > 0]
    random = numpy.random.RandomState(3)
    with numpy.errstate(all="ignore"):
        room = exponents(dtype)[1] / abs(numpy.log2(x.astype("float64")))
    room[~(room < 2.0**40)] = 2.0**40
    y = (random.uniform(-1, 1, len(x)) * room).astype(dtype)
    some = random.uniform(-3, 3, len(x)).astype(dtype)
    check("power", [numpy.tile(x, 2), numpy.concatenate([y, some])], lambda x, y: x**y, 1.1)
    # Of numbers near 1 exponents are large, and tell the last bits of the logarithm.
    x = 1 + random.uniform(-1, 1, 4 * COUNT) * 2.0 ** -random.uniform(3, 20, 4 * COUNT)
    x = x.astype(dtype)
    x = x[x != 1]
    y = random.uniform(-1, 1, len(x)) * exponents(dtype)[1] / abs(numpy.log2(x.astype("float64")))
    bound = 1.2 if dtype == "float64" else 0.8
    check("power", [x, y.astype(dtype)], lambda x, y: x**y, bound)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seed", [4, 5])
def test_arctan2_and_hypot_are_near_the_truth(dtype, seed):
    y, x = everywhere(dtype, seed), everywhere(dtype, seed + 10)
    x = numpy.random.RandomState(seed).permutation(x)
    check("arctan2", [y, x], mpmath.atan2, 2.0)
    check("hypot", [y, x], mpmath.hypot, 1.0)


SPECIAL = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0]


def special(dtype: str) -> numpy.ndarray:
    info = numpy.finfo(dtype)
    extremes = [info.max, -info.max, info.tiny, info.smallest_subnormal, -info.smallest_subnormal]
    return numpy.array(SPECIAL + extremes, dtype)


def warnings_of(function: Callable, *arguments) -> tuple[numpy.ndarray, set[str]]:
    with warnings.catch_warnings(record=True) as caught, numpy.errstate(all="warn", under="ignore"):
        warnings.simplefilter("always")
        result = numpy.asarray(function(*arguments))
    return result, {str(warning.message) for warning in caught}


def same_special_values(ours: numpy.ndarray, theirs: numpy.ndarray) -> bool:
    rare = ~numpy.isfinite(theirs) | (theirs == 0)
    return (
        numpy.array_equal(ours[rare], theirs[rare], equal_nan=True)
        and bool(numpy.isfinite(ours[~rare]).all())
        and bool((numpy.signbit(ours) == numpy.signbit(theirs))[~numpy.isnan(theirs)].all())
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [row[0] for row in UNARY])
def test_special_values_and_warnings_are_numpys(name, dtype, tier):
    for value in special(dtype):
        given = numpy.full(BLOCK + 9, 0.75 if name != "arccosh" else 1.75, dtype)
        given[BLOCK // 2] = value
        theirs, expected = warnings_of(getattr(numpy, name), given)
        ours, found = warnings_of(getattr(np, name), np.array(given))
        assert same_special_values(ours, theirs), value
        assert found == expected, value


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["power", "arctan2"])
def test_special_values_of_two_are_numpys(name, dtype, tier):
    x, y = (side.ravel() for side in numpy.meshgrid(special(dtype), special(dtype)))
    theirs, expected = warnings_of(getattr(numpy, name), x, y)
    ours, found = warnings_of(getattr(np, name), np.array(x), np.array(y))
    rare = ~numpy.isfinite(theirs) | (theirs == 0)
    numpy.testing.assert_array_equal(ours[rare], theirs[rare])
    numpy.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert found == expected


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [row[0] for row in UNARY])
def test_an_element_does_not_depend_on_its_neighbours(name, dtype, tier):
    """Blocks of ordinary numbers, of others and of both give the same bits for the same number."""
    values = everywhere(dtype, seed=6)
    with numpy.errstate(all="ignore"):
        alone = numpy.concatenate(
            [getattr(np, name)(np.array(values[k : k + 1])) for k in range(200)]
        )
        mixed = numpy.asarray(getattr(np, name)(np.array(values)))
        for neighbour in (0.9, 1.5, numpy.nan, 0.0):
            among = numpy.full(2 * len(values), neighbour, dtype)
            among[::2] = values
            again = numpy.asarray(getattr(np, name)(np.array(among)))[::2]
            assert same_bits(again, mixed)
    assert same_bits(alone, mixed[:200])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_powers_of_zeros_are_the_same_beside_any_number(dtype, tier):
    """To a positive power they go the shorter way, but not beside numbers that can't."""
    values = numpy.random.default_rng(8).random(20_000).astype(dtype)
    values[::3] = 0
    odd = numpy.array([-0.0, numpy.nan, -1.5], dtype)
    with numpy.errstate(all="ignore"):
        for exponent in (0.5, 2.5, 3.0, 1e-30, 1e-300, 700.0, 0.0, -1.0, -0.0):
            y = numpy.dtype(dtype).type(exponent)
            alone = numpy.asarray(np.power(np.array(values), np.full(values.size, y)))
            among = numpy.insert(values, numpy.arange(values.size), odd[0])
            among[::2] = numpy.resize(odd, values.size)
            mixed = numpy.asarray(np.power(np.array(among), np.full(among.size, y)))[1::2]
            assert same_bits(alone, mixed), exponent
            assert same_bits(alone[::3], numpy.power(values[::3], y))


def same_bits(one: numpy.ndarray, other: numpy.ndarray) -> bool:
    """But for which NaN it is."""
    return numpy.array_equal(one, other, equal_nan=True) and bool(
        (numpy.signbit(one) == numpy.signbit(other))[~numpy.isnan(one)].all()
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [row[0] for row in UNARY])
def test_tiers_give_the_same_bits(name, dtype):
    values = everywhere(dtype, seed=7)
    results = []
    for tier in TIERS:
        _core.set_tier(tier)
        with numpy.errstate(all="ignore"):
            results.append(numpy.asarray(getattr(np, name)(np.array(values))))
    _core.set_tier("automatic")
    assert all(same_bits(result, results[0]) for result in results[1:])


@pytest.mark.parametrize("name", [row[0] for row in UNARY])
def test_of_all_halves_the_values_are_near_those_of_doubles(name, tier):
    """In order, where neighbours are alike, and in any order."""
    halves = numpy.arange(1 << 16).astype("u2").view("f2")
    for x in (halves, numpy.random.default_rng(5).permutation(halves)):
        with numpy.errstate(all="ignore"):
            truth = getattr(numpy, name)(x.astype(float)).astype("f2")
            found = numpy.asarray(getattr(np, name)(np.array(x)))
        numbers = ~numpy.isnan(truth)
        assert numpy.array_equal(numpy.isnan(found), ~numbers)
        apart = found[numbers].view("i2").astype(int) - truth[numbers].view("i2")
        assert abs(apart).max() <= 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_numbers_times_powers_of_two_are_rounded_once(dtype, tier):
    info = numpy.finfo(dtype)
    steps = [info.smallest_subnormal * k for k in (1, 3, 5, 1023, 1025)]
    sizes = [0.0, 1.0, numpy.pi, 1 + info.eps, info.tiny, info.max, INFINITY, numpy.nan, *steps]
    x = numpy.array([*sizes, *(-size for size in sizes)], dtype)
    far = 2 * (info.maxexp - info.minexp)
    exponents = [*range(-far, far, 7), *range(info.minexp - info.nmant - 3, info.minexp + 3)]
    exponents += [info.maxexp, -info.maxexp, 2**31 - 1, -(2**31), 0, 1, -1]
    pairs = [part.ravel() for part in numpy.meshgrid(x, numpy.array(exponents))]
    with numpy.errstate(all="ignore"):
        for left, right in [pairs, *((x, k) for k in exponents[::11])]:
            expected = numpy.ldexp(left, right)
            given = np.array(right) if isinstance(right, numpy.ndarray) else right
            assert same_bits(numpy.asarray(np.ldexp(np.array(left), given)), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("exponent", [2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**70])
def test_exponents_that_numpy_refuses_are_refused(exponent, dtype):
    x = numpy.array([1, 2]).astype(dtype)
    with numpy.errstate(all="ignore"):
        try:
            expected = numpy.ldexp(x, exponent)
        except OverflowError as error:
            with pytest.raises(OverflowError, match=str(error)):
                np.ldexp(np.array(x), exponent)
        else:
            assert same_bits(numpy.asarray(np.ldexp(np.array(x), exponent)), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_tiers_give_the_same_powers(dtype):
    values = everywhere(dtype, seed=8)
    exponent = numpy.random.RandomState(9).permutation(values)
    results = []
    for tier in TIERS:
        _core.set_tier(tier)
        with numpy.errstate(all="ignore"):
            x, y = np.array(values), np.array(exponent)
            several = [abs(x) ** 1.7, x**3.0, x**-2.5, 2.5**y, np.power(x, y), np.power(abs(x), y)]
            results.append(numpy.concatenate([numpy.asarray(made) for made in several]))
    _core.set_tier("automatic")
    assert all(same_bits(result, results[0]) for result in results[1:])


@pk.workunit
def only_of_positive_numbers(i, x, y):
    if x[i] > 0:
        y[i] = log(x[i]) + pow(x[i], 1.5) + log1p(x[i]) * exp(x[i])  # noqa: F821


def test_elements_that_a_condition_leaves_out_change_nothing(tier):
    x = numpy.random.RandomState(10).permutation(numpy.linspace(-3, 3, 1501))
    x[::7] = numpy.nan
    x[::11] = 0
    y = np.full(len(x), 7.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pk.parallel_for(len(x), only_of_positive_numbers, x=np.array(x), y=y)
        some = x[x > 0]
    parts = [numpy.log(some), some**1.5, numpy.log1p(some) * numpy.exp(some)]
    # Where the parts cancel, the sum is as exact as the largest of them.
    limits = 1e-14 * numpy.abs(parts).max(axis=0)
    assert (abs(numpy.asarray(y)[x > 0] - sum(parts)) <= limits).all()
    assert (numpy.asarray(y)[~(x > 0)] == 7).all()


@pytest.mark.parametrize("tier", ["interpreter", "compiled"])
def test_conversions_of_halves_are_no_errors_of_complex_products(tier):
    """The machine's conversions of halves raise flags at random; in place, results have to tell."""
    random = numpy.random.default_rng(0)
    values = random.standard_normal((6, 2, 5, 4)) + 1j * random.standard_normal((6, 2, 5, 4))
    halves = random.integers(0, 256, (5, 4)).astype("e")
    before = _core.set_immediate_bytes(0)
    _core.set_tier(tier)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            z = np.array(values)
            z *= np.array(halves)
            frit.eval()
        with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
            z = np.array(values * 1e308)
            z *= np.array(halves)
            frit.eval()
    finally:
        _core.set_tier("automatic")
        _core.set_immediate_bytes(before)
