"""test_kinds.py: numbers of Python and of NumPy: conversions, variables that keep a kind."""

from __future__ import annotations

import types
import warnings

import numpy as np
import pytest

import frit

from .test_loops import runs_compiled


def conversions(n, w, out):
    s = np.float64(0)
    t = np.float32(n)
    for i in range(n):
        s = np.float64(i) / 3 + np.float64(w[i % 3]) + np.float64(i > 5)
        t = np.float32(s) * 2 + np.float32(i) + np.float32(0.1)
        out[i] = t / np.float64(i + 0.5)
    return s, t


def largest(n, w, out):
    m = 0.0
    for i in range(n):
        m = w[i % 3] if w[i % 3] > m else m
        out[i] = m
    return m


def kept_first(n, w, out):
    s = 0.0
    for i in range(n):
        s = s if i < 3 else s * 0.9 + w[i % 3] ** 2
        out[i] = s
    return s


def never(n, w, out):
    s = 1
    for i in range(n):
        s = s if i < n else w[0]
        out[i] = s
    return s


def without_value(n, w, out):
    for i in range(n):
        z = w[1] if i > 3 else z  # noqa: F821
        out[i] = z
    return z


def check(function, n, w, dtype):
    """Gives the function that was decorated."""
    with np.errstate(all="ignore"):
        array = np.array(w).astype(dtype)
    ours = frit.parallelize(function)
    expected = outcome(function, n, array)
    for _ in range(2):
        assert outcome(ours, n, array) == expected
    return ours


def outcome(function, n, w):
    out = np.zeros(50)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = repr(function(n, w, out))
        except Exception as error:
            found = repr(error)
    return found, out.tobytes(), {s.category for s in seen}


@pytest.mark.parametrize("function", [conversions, largest, kept_first, never, without_value])
@pytest.mark.parametrize("n", [0, 1, 4, 50])
@pytest.mark.parametrize("w", [[0.3, 1.7, 2.9], [-1, 1e300, 0.5], [np.nan, -0.0, 0.0]])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_kinds_are_those_of_python(function, n, w, dtype):
    ours = check(function, n, w, dtype)
    if n == 50 and dtype == "f8" and function not in (never, without_value):
        assert runs_compiled(ours), frit.explain(ours)


def clipped(n, w, out):
    v = 0.3
    for i in range(n):
        v = v * 0.5 + w[i % 3]
        if v > 1:
            v = 0.25
        elif v < 0:
            v = 0
        out[i] = v
    return v


def falls_back(n, w, out):
    best, where, level = None, -1, 7
    best = w[0]
    for i in range(n):
        if w[i % 3] > best:
            best = w[i % 3]
            level = i
        elif i % 5 == 4:
            best = 0.0
            where = i
        out[i] = best + where
    return best, where, level


def whole_numbers(n, w, out):
    count = 3
    for i in range(n):
        if w[i % 3] > 0.5:
            count = w[i % 3]
        elif i % 2:
            count = 1
        out[i] = count
    return count


def unbound(n, w, out):
    for i in range(n):
        v = w[i % 3]
        if v > 1:
            v = 1.0
        out[i] = v
    return v


def bounded(n, w, out):
    v = 0.5
    for i in range(n):
        v = min(max(v * 0.75 + w[i % 3], -1.0), 2.0)
        out[i] = v
    return v


def doubtful_sums(n, w, out):
    s, t = 0, 0.5
    for i in range(n):
        s = s + (1 if i % 3 else 0.5)
        if i == 7:
            s = 0
        t = -t if i % 2 else max(w[i % 3], t) / 2
        out[i] = s * t
    return s, t


def truth(n, w, out):
    seen = False
    for i in range(n):
        seen = seen
        if w[i % 3] > 1:
            seen = w[i % 3] < 2
        out[i] = seen
    return seen


def truths(n, w, out):
    seen = small = False
    for i in range(n):
        seen = seen
        if w[i % 3] > 1:
            seen = w[i % 3] < 2
        if w[i % 3] < 0.5:
            small = i % 2 == 0
        elif i % 5 == 4:
            small = w[i % 3] > 2
        out[i] = seen or small
    return seen, small


MAY_RETURN = [clipped, falls_back, whole_numbers, unbound, bounded, doubtful_sums, truth, truths]


@pytest.mark.parametrize("function", MAY_RETURN)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 6, 49, 50])
@pytest.mark.parametrize(
    "w", [[0.25, 1.75, 2.5], [-1, 1e300, 0.5], [np.nan, -0.0, 0.0], [2, -3, 1]]
)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
def test_a_variable_may_become_pythons_kind_again(function, n, w, dtype):
    ours = check(function, n, w, dtype)
    if n == 50 and dtype == "f8" and w[0] == 0.25:
        assert runs_compiled(ours), frit.explain(ours)


def total_by_index(a, s):
    for i, j in np.ndindex(*a.shape):
        s += a[i, j]
    return s


def total_of_elements(a, s):
    for (_, j), x in np.ndenumerate(a):
        s += x if j else float(x)
    return s


def total_until(a, s):
    for i, j in np.ndindex(a.shape):
        for _ in range(2):
            s = s + a[i, j]
        if i == 2 and j == 1:
            break
    return s


@pytest.mark.parametrize("function", [total_by_index, total_of_elements, total_until])
@pytest.mark.parametrize("start", [0, 0.0, True, np.float32(1), np.int64(1), np.int8(3)])
@pytest.mark.parametrize("shape", [(4, 3), (0, 3), (4, 0), (1, 1), (1, 3), (4, 1)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i1", "?"])
def test_a_variable_may_change_its_kind_in_a_loop_of_several_indices(function, start, shape, dtype):
    a = (np.arange(shape[0] * shape[1]).reshape(shape) % 5).astype(dtype)
    expected = function(a, start)
    got = frit.parallelize(function)(a, start)
    assert type(got) is type(expected) and got == expected


def copied_behind(items, s, t):
    for x in items:
        if x > s:
            s = x
    else:
        t = s
    return s, t


def copied_of_last(items, s, t):
    for x in items:
        t = s
        s = x
    else:
        t = s
    return s, t


@pytest.mark.parametrize("function", [copied_behind, copied_of_last])
@pytest.mark.parametrize("start", [np.int64(1), 0.5, np.float64(0), np.float64(9), 2])
@pytest.mark.parametrize("items", [[1, 5, 2, 7], [3], [], [1.5, 0.5], np.arange(4.0)])
@pytest.mark.parametrize("before", [np.float32(1), 0, None])
def test_a_copy_has_the_kind_of_what_it_copies(function, start, items, before):
    expected = function(items, start, before)
    assert repr(frit.parallelize(function)(items, start, before)) == repr(expected)


def handed_on(m, s, t):
    for i, j in np.ndindex(*m.shape):
        v = m[i, j]
        s = t
        t = v
    else:
        t = s
    return s, t


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("s", [0.0, 0, 0j, 2.5, True])
@pytest.mark.parametrize("t", [1j, 0.0, 0, 3])
@pytest.mark.parametrize("m", [[[2 + 1j]], [[0j]], [[2 + 1j, 3]], [[2.0]]])
def test_a_number_that_is_handed_on_keeps_its_kind(s, t, m):
    expected = handed_on(np.array(m), s, t)
    assert repr(frit.parallelize(handed_on)(np.array(m), s, t)) == repr(expected)


def bits(items, op, s):
    if op == "^":
        for x in items:
            s = s ^ (x > 1)
    elif op == "|":
        for x in items:
            s |= x > 1
    else:
        for x in items:
            s &= x > 1
    return s


@pytest.mark.parametrize("op", ["^", "|", "&"])
@pytest.mark.parametrize("start", [True, False, 1, 2, np.bool_(True), np.int64(3)])
@pytest.mark.parametrize("items", [[1, 5, 2], [0, 1], [], [1.0, 2.5], np.array([1, 5, 2, 2])])
def test_bits_of_booleans_are_booleans(op, start, items):
    assert repr(frit.parallelize(bits)(items, op, start)) == repr(bits(items, op, start))


KIND = np.int32


def sized(x, o, g):
    n = 0
    for i in range(len(x)):
        o[i] = KIND(x[i])
        n += int(x[i] > g)
        o[i] += KIND(i) - KIND(g)
    return n


@pytest.mark.parametrize("kind", ["b", "B", "h", "H", "i", "I", "l", "L"])
def test_integers_of_a_size_are_numpys(kind):
    function = types.FunctionType(sized.__code__, {"KIND": np.dtype(kind).type, "int": int})
    compiled = frit.parallelize(function)
    rng = np.random.default_rng(0)
    for top in (100, 100_000, 1e19):
        numbers = rng.standard_normal(60) * top
        for dtype in "dfelB?L":
            with np.errstate(all="ignore"):
                x = (abs(numbers) if dtype in "BL?" else numbers).astype(dtype)
            for g in (1, 2.5, np.float32(2), np.int16(3), -1):
                outcomes = []
                for run in (function, compiled):
                    o = np.zeros(60, kind)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        try:
                            result = run(x, o, g)
                        except Exception as error:
                            result = repr(error)
                    outcomes.append((str(result), o.tobytes()))
                assert outcomes[0] == outcomes[1], f"{dtype} {top} {g}"


def asked(x, o, b, g):
    n = 0
    for i in range(len(x)):
        if np.isnan(x[i]) or np.isinf(x[i]):
            n += 1
            continue
        o[i] = np.sign(x[i]) + np.trunc(x[i]) + np.copysign(2.0, x[i])
        o[i] += np.deg2rad(x[i]) + np.degrees(x[i]) - np.radians(x[i]) * np.rad2deg(x[i])
        b[i] = np.isfinite(x[i] * g)
        if np.signbit(x[i]):
            n += 10
        if np.isnan(g):
            n += 1000
        if not np.isfinite(i):
            n += 100
    return n


@pytest.mark.parametrize("dtype", ["d", "f", "e", "l", "i"])
def test_numbers_are_asked_by_numpys_functions(dtype):
    compiled = frit.parallelize(asked)
    numbers = np.random.default_rng(0).standard_normal(500) * 100
    x = numbers.astype(dtype)
    if dtype in "dfe":
        x[::7], x[1::11], x[2::13] = np.nan, np.inf, -0.0
    for g in (1.0, np.float32(2), 3, float("nan")):
        outcomes = []
        for run in (asked, compiled):
            o, b = np.zeros(500), np.zeros(500, bool)
            outcomes.append((run(x, o, b, g), o.tobytes(), b.tobytes()))
        assert outcomes[0] == outcomes[1]
    assert "# reduction" in str(frit.explain(compiled))


# ---- variables that only grow -------------------------------------------------------------------


def grows(a, e):
    for i in range(len(a)):
        e = max(e, a[i])
    return e


def shrinks(a, e):
    for i in range(len(a)):
        e = a[i] if a[i] < e else e
    return e


def grows_by_branch(a, e):
    k = -1
    for i in range(len(a)):
        x = abs(a[i])
        if x > e:
            k = i
            e = x
    return e, k


def grows_of_element(a, e):
    for i in range(len(a)):
        if e < a[i]:
            e = a[i]
    return e


def takes_equals(a, e):
    for i in range(len(a)):
        e = max(a[i], e)
    return e


def takes_equals_by_branch(a, e):
    for i in range(len(a)):
        if a[i] >= e:
            e = a[i]
    return e


def stores_before(a, e):
    for i in range(len(a)):
        if a[i] > e:
            k = stored(a, i, 1)
            e = a[i]
            a[i] = k
    return e


def stored(a, i, x):
    a[i] = x
    return x


def of_another_maximum(a, e):
    for i in range(len(a)):
        d = max(a[i], 0.0)
        if d > e:
            e = d
    return e


def of_another_way_round(a, e):
    for i in range(len(a)):
        d = max(0.0, a[i])
        if d > e:
            e = d
    return e


def both_ways(a, e):
    for i in range(len(a)):
        e = max(e, a[i])
        e = min(e, a[i] + 3)
    return e


def is_made_smaller(a, e):
    for i in range(len(a)):
        if a[i] > e:
            a[i] = 1
            e = a[i]
    return e


def gets_numbers_of_two_kinds(a, e):
    for i in range(len(a)):
        e = max(e, a[i] if i % 2 else 0.5)
        e = max(e, max(a[i], 3))
    return e


def gets_ints(a, e):
    for i in range(len(a)):
        x = int(max(min(a[i], 9), 0)) if a[i] == a[i] else 0
        if x > e:
            e = x
    return e


GROWING = [grows, shrinks, grows_by_branch, grows_of_element]
OTHERS = [
    takes_equals,
    takes_equals_by_branch,
    both_ways,
    is_made_smaller,
    stores_before,
    of_another_maximum,
    of_another_way_round,
    gets_numbers_of_two_kinds,
    gets_ints,
]


@pytest.mark.parametrize("function", GROWING + OTHERS)
@pytest.mark.parametrize("dtype", "dfilBe")
@pytest.mark.parametrize(
    "start", [0.0, 0, -0.0, 7, 7.5, float("nan"), -float("inf"), 2.0**70, True]
)
def test_variables_that_only_grow(function, dtype, start):
    rng = np.random.default_rng(1)
    for array in (rng.integers(0, 8, 50), np.zeros(40), np.full(30, 7), np.zeros(0)):
        a = array.astype(dtype)
        if dtype in "df" and len(a) > 40:
            a[::7] = [np.nan, -3, np.inf, -np.inf, 7.5, 6, 1, 2]
        parallel = frit.parallelize(function)
        for first in (start, np.float64(start), np.float32(start)):
            expected = function(a.copy(), first)
            for _ in range(3):
                got = parallel(a.copy(), first)
                assert repr(got) == repr(expected)
                assert type(got) is type(expected)


def test_a_greatest_difference_is_a_reduction():
    for function in GROWING:
        parallel = frit.parallelize(function)
        for _ in range(2):
            parallel(np.arange(1000.0), 0.5)
        assert "# reduction" in str(frit.explain(parallel))


def numpys_and_pythons(idx, a, b):
    for i in range(len(b)):
        q = idx[i]
        for _ in range(3):
            q = int(a[i])
        b[i] = q


@pytest.mark.parametrize("dtype", "bBhHiIlL?")
def test_an_integer_may_be_pythons_from_some_round_on(dtype):
    parallel = frit.parallelize(numpys_and_pythons)
    expected, got = np.zeros(40), np.zeros(40)
    given = np.ones(40, dtype), np.full(40, 3.5)
    numpys_and_pythons(*given, expected)
    parallel(*given, got)
    assert expected.tolist() == got.tolist()
    assert "of Frit's own" not in str(frit.explain(parallel))
