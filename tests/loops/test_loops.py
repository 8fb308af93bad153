"""test_loops.py: well-known nests, what other tools get wrong, errors and their effects."""

from __future__ import annotations

import copy
import functools
import gc
import math
import traceback
import types
import warnings
import weakref

import numpy as np
import pytest

import frit
import frit.numpy
from frit.loops.run import place, traits

from .fuzz import outcome, same_outcome
from .kernels import KERNELS, arguments


def sites(function):
    return function.__frit__.sites


def runs_compiled(function) -> bool:
    """Every outermost nest of it has run compiled, and none as Python."""
    return sum(s.calls for s in sites(function)) > 0 and not any(
        s.calls_as_python for s in sites(function)
    )


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [1, 2, 9, 24])
def test_sixteen_nests_give_what_python_gives(name, n):
    function = frit.parallelize(
        types.FunctionType(KERNELS[name].__code__, KERNELS[name].__globals__)
    )
    given = arguments(name, n, np.random.default_rng(n))
    expected = copy.deepcopy(given)
    function(*given)
    KERNELS[name](*expected)
    for x, y in zip(given, expected, strict=True):
        if isinstance(x, np.ndarray) and x.dtype.kind == "f":
            # Sums in another order, and math functions: some units in the last place.
            np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)
        else:
            assert np.array_equal(x, y)
    assert runs_compiled(function), frit.explain(function)


def check(function, *given, compiled=None):
    """Compares a call with plain Python; returns the parallelized function."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    call = dict(zip(names, given, strict=True))
    parallel = frit.parallelize(function)
    expected, got = outcome(function, call), outcome(parallel, call)
    assert same_outcome(expected, got), (expected, got)
    if compiled is not None:
        assert runs_compiled(parallel) == compiled, frit.explain(parallel)
    return parallel


def two_stores(a, b, c):
    for i in range(len(a) - 1):
        a[i + 1] = b[i]
        a[i] = c[i]


def prefix(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]


def running_maximum(a, b):
    most = a[0]
    for i in range(len(a)):
        most = max(most, a[i])
        b[i] = most
    return most


def last_minimum_is_read(a, b):
    least = a[0]
    for i in range(len(a)):
        least = a[i] if a[i] < least else least
        if least < 0:
            b[i] += 1
    return least


def shifted(a, b):
    for i in range(len(b)):
        a[i] = b[i] + 1


def running(a, out):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
        out[i] = s
    return s


def last_value(a):
    t = 0.0
    for i in range(len(a)):
        t = a[i] * 2
    return t, i


def scatter(idx, a, out):
    for i in range(len(idx)):
        out[idx[i]] = a[i]


NUMBERS = np.arange(40.0)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (two_stores, (NUMBERS.copy(), NUMBERS + 0.5, -NUMBERS)),
        (prefix, (NUMBERS.copy(),)),
        (running_maximum, (np.sin(NUMBERS), NUMBERS.copy())),
        (last_minimum_is_read, (np.cos(NUMBERS), NUMBERS.copy())),
        (shifted, (NUMBERS[1:], NUMBERS[:-1])),
        (shifted, (NUMBERS[:-1], NUMBERS[1:])),
        (shifted, (NUMBERS[::-1], NUMBERS)),
        (running, (NUMBERS.copy(), NUMBERS * 0)),
        (last_value, (NUMBERS.copy(),)),
        (scatter, (np.arange(40) // 3, NUMBERS.copy(), NUMBERS * 0)),
    ],
)
def test_what_other_tools_get_wrong(function, given):
    check(function, *given, compiled=True)


def test_a_loop_without_rounds_leaves_its_variables():
    check(last_value, np.zeros(0))  # UnboundLocalError: i


def read_beside_the_sum(a, b, c, n, m):
    for v in range(n):
        a[v] = c[0]
        for j in range(m):
            c[0] += b[j]


def write_behind_the_sum(a, b, c, n, m):
    for _ in range(n):
        for j in range(m):
            c[0] += b[j]
        c[0] *= 2


def write_under_a_condition(a, b, c, n, m):
    for v in range(n):
        if a[v] > 2:
            c[0] = a[v]
        for j in range(m):
            for k in range(m - 1):
                c[0] += b[k]
            b[j] += c[0]


@pytest.mark.parametrize(
    "function", [read_beside_the_sum, write_behind_the_sum, write_under_a_condition]
)
@pytest.mark.parametrize("m", [0, 1, 3])
def test_an_element_is_its_own_beside_loops_without_rounds(function, m):
    check(function, np.arange(6.0), np.arange(1.0, 4), np.array([5.0, 7.0]), 6, m, compiled=True)


def test_an_index_outside_raises_where_python_does():
    def f(a, b):
        for i in range(len(a) + 1):
            a[i] = b[i] * 2

    check(f, NUMBERS.copy(), NUMBERS.copy())


def test_division_by_zero_keeps_the_partial_effects():
    def f(a, n):
        for i in range(n):
            a[i] = 1.0 / (5 - float(i))

    check(f, NUMBERS.copy(), 4, compiled=True)
    check(f, NUMBERS.copy(), 9)


def test_a_failing_math_function_is_undone():
    def f(a, b):
        for i in range(len(a)):
            b[i] = math.sqrt(a[i])
            a[i] = -1.0

    check(f, NUMBERS.copy(), NUMBERS * 0, compiled=True)
    check(f, 5 - NUMBERS, NUMBERS * 0)


def test_integers_of_python_do_not_wrap():
    def f(a, n):
        s = 1
        for i in range(n):
            s = s + i * n * n * n * n
            a[i] = s % 7
        return s

    check(f, np.zeros(40, int), 40)
    check(f, np.zeros(40, int), 2**33)


def test_integers_of_numpy_wrap():
    def f(a):
        s = a[0]
        for i in range(len(a)):
            s = s * a[i]
        return s

    check(f, np.full(40, 3, np.int8), compiled=True)


def test_float32_stays_float32():
    def f(a):
        s = 0.0
        for i in range(len(a)):
            s += a[i] * 0.1
        return s

    parallel = check(f, NUMBERS.astype("f4"), compiled=True)
    assert type(parallel(NUMBERS.astype("f4"))) is np.float32


def test_negative_indices_count_from_the_end():
    def f(a, b):
        for i in range(len(a)):
            b[i] = a[i - 1] + a[-1]

    check(f, NUMBERS.copy(), NUMBERS * 0, compiled=True)


def test_frit_arrays_are_changed_in_place():
    a = frit.numpy.arange(10.0) * 2
    parallel = frit.parallelize(prefix)
    parallel(a)
    assert np.array_equal(np.cumsum(np.arange(10.0) * 2), np.asarray(a))
    assert runs_compiled(parallel)


def test_read_only_arrays_raise_as_in_python():
    a = NUMBERS.copy()
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        frit.parallelize(prefix)(a)


def test_divisions_warn():
    def f(a, b):
        for i in range(len(a)):
            b[i] = 1 / a[i]

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        frit.parallelize(f)(NUMBERS.copy(), NUMBERS * 0)


@pytest.mark.parametrize("tier", ["compiled", "interpreter"])
def test_what_no_iteration_computes_does_not_warn(tier, recwarn):
    def f(a, b):
        for i in range(len(a)):
            t = a[i]
            if abs(t) < 1.0:
                b[i] = t * t + t * 3.0
            if t > 1e300:
                b[i] = 1.0 / (t - t)

    parallel = frit.parallelize(f)
    a, b = np.full(10_000, 1e200), np.zeros(10_000)
    frit._core.set_tier(tier)
    try:
        parallel(a, b)
    finally:
        frit._core.set_tier("automatic")
    assert runs_compiled(parallel)
    assert not recwarn.list
    assert not b.any()


def test_a_function_that_is_decorated_twice_is_decorated_once():
    def add_one(a):
        for i in range(len(a)):
            a[i] += 1

    once = frit.parallelize(add_one)
    assert frit.parallelize(once) is once
    a = NUMBERS.copy()
    frit.parallelize(once)(a)
    assert np.array_equal(a, NUMBERS + 1) and sum(s.calls for s in sites(once)) == 1

    @functools.wraps(once)  # has its attributes, and loops of its own
    def twice(a):
        for i in range(len(a)):
            a[i] *= 2
        once(a)

    frit.parallelize(twice)(a)
    assert np.array_equal(a, (NUMBERS + 1) * 2 + 1)


def test_functions_and_methods_keep_what_they_are():
    class Holder:
        @frit.parallelize
        def method(self, a, *, by=1.0):
            """Doc."""
            for i in range(len(a)):
                a[i] += by
            return self

    holder, a = Holder(), NUMBERS.copy()
    assert holder.method(a, by=2.0) is holder
    assert np.array_equal(a, NUMBERS + 2)
    assert Holder.method.__doc__ == "Doc."


def test_a_decorated_function_has_only_its_own_frame():
    """From its second call on: another one would double what a short call takes."""
    step = 1

    @frit.parallelize
    def f(a, n=3, *, by=2):
        for i in range(0, n, step):
            a[i] += by
        return a

    assert np.array_equal(f(np.zeros(4)), [2, 2, 2, 0])
    for a in (np.zeros(2), [0] * 2):
        with pytest.raises(IndexError) as caught:
            f(a, by=3)
        frames = [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]
        assert frames == [frames[0], "f"]
        assert list(a) == [3, 3]
    with pytest.raises(TypeError, match=r"f\(\) missing 1 required positional argument: 'a'"):
        f()


@pytest.mark.parametrize("calls", [0, 2])
def test_a_pickled_function_works_elsewhere(calls):
    cloudpickle = pytest.importorskip("cloudpickle")
    step = 2

    @frit.parallelize
    def f(a):
        for i in range(0, len(a), step):
            a[i] = 1
        return a

    for _ in range(calls):
        f(np.zeros(4))
    copied = cloudpickle.loads(cloudpickle.dumps(f))
    for _ in range(2):
        assert np.array_equal(copied(np.zeros(4)), [1, 0, 1, 0])


def test_closures_are_read_at_the_call():
    factor = 2.0

    @frit.parallelize
    def f(a):
        for i in range(len(a)):
            a[i] *= factor

    a = NUMBERS.copy()
    f(a)
    factor = 3.0
    f(a)
    assert np.array_equal(a, NUMBERS * 6)


def seen_behind(a):
    total = 0
    first = [a[i] for i in range(3)]
    for i in range(len(a)):
        total += i
        a[i] = a[i] * 2

    def look():
        return i, total

    for i in range(len(a) - 1):
        a[i] += first[0]
    return look(), i


def seen_late(a):
    later = (i for _ in range(2))  # noqa: F821
    for i in range(len(a)):
        a[i] = i
    return list(later)


def seen_inside(a):
    def look():
        return i

    for i in range(len(a)):
        a[i] = look()
    return look()


def seen_deep(a):
    def look():
        return i

    def outer(x):
        return x + look()

    for i in range(len(a)):
        a[i] = outer(a[i])
    return a.sum()


def seen_without_rounds(a):
    def look():
        return i

    for i in range(len(a) * 0):
        a[i] = i
    return look()


def seen_and_set(a):
    steps = 0

    def step():
        nonlocal steps
        steps += 1
        return steps

    for i in range(len(a)):
        a[i] = steps
        steps += 2
    return step(), i


@pytest.mark.parametrize(
    ("function", "compiled"),
    [
        (seen_behind, True),
        (seen_late, True),
        (seen_inside, False),
        (seen_deep, False),
        (seen_without_rounds, False),
        (seen_and_set, True),
    ],
)
def test_variables_that_inner_functions_see_have_their_values(function, compiled):
    parallel = check(function, np.arange(9.0))
    assert any(site.calls for site in sites(parallel)) == compiled


def test_lists_and_other_objects_stay_python():
    check(prefix, [1, 2, 3])
    parallel = frit.parallelize(prefix)
    numbers = [1, 2, 3]
    parallel(numbers)
    assert numbers == [1, 3, 6]


def test_explain_names_the_two_references():
    parallel = frit.parallelize(prefix)
    parallel(NUMBERS.copy())
    text = str(frit.explain(parallel))
    assert "scan" in text or ("serial" in text and "a[i - 1]" in text)
    parallel = frit.parallelize(shifted)
    parallel(NUMBERS.copy(), NUMBERS.copy())
    assert "# parallel" in str(frit.explain(parallel))


def sweep(a):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] = (a[i - 1, j + 1] + a[i - 1, j] + a[i, j - 1] + a[i + 1, j]) / 3.7


def common_subsequence(x, y, t):
    for i in range(len(x)):
        for j in range(len(y)):
            if x[i] == y[j]:
                t[i + 1, j + 1] = t[i, j] + 1
            else:
                t[i + 1, j + 1] = max(t[i, j + 1], t[i + 1, j])


def edits(x, y, t):
    for i in range(len(x)):
        for j in range(len(y)):
            cost = 0 if x[i] == y[j] else 1
            t[i + 1, j + 1] = min(t[i, j + 1] + 1, t[i + 1, j] + 1, t[i, j] + cost)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_wavefronts_give_pythons_bits_on_any_number_of_threads(threads):
    rng = np.random.default_rng(threads)
    before, cost = frit._core.threads(), frit._core.set_part_cost(1e-3)
    frit._core.set_threads(threads)
    try:
        for rows, columns in [(150, 151), (70, 400), (300, 40)]:
            a = rng.random((rows, columns))
            x, y = rng.integers(0, 3, rows), rng.integers(0, 3, columns)
            table = np.zeros((rows + 1, columns + 1), int)
            table[0], table[:, 0] = np.arange(columns + 1), np.arange(rows + 1)
            for function in (
                check(sweep, a, compiled=True),
                check(edits, x, y, table, compiled=True),
            ):
                assert str(frit.explain(function)).count("# wavefront: ") == 2
            # One after another its elements take less than side by side (test_tables.py).
            check(common_subsequence, x, y, table, compiled=True)
    finally:
        frit._core.set_part_cost(cost)
        frit._core.set_threads(before)


def row_sums(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i].sum() + np.sum(a[i, 1:] * b[i, :-1]) - b[i, ::-1].mean()


def column_sums(a, b, out):
    for j in range(a.shape[1]):
        if a[0, j] < 2:
            out[0] += a[:, j].sum() * b[::2, j].sum()


def centred(a, b, out):
    for i in range(a.shape[0]):
        mean = a[i].mean()
        d = a[i] - mean
        out[i] = (d * d).sum() / len(d)
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] - mean


def until_the_sum_is_small(a, b, out):
    for i in range(a.shape[0]):
        n = 0
        while b[i].sum() > 1e-3 and n < 5:
            b[i] *= a[i, 0] / 2
            n += 1
        out[i] = n


@pytest.mark.parametrize("columns", [1, 7, 129, 1000, 4999])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_sums_of_rows_have_numpys_bits(columns, dtype, layout):
    rng = np.random.default_rng(columns)

    def arrays(a, b):
        if layout == "strided":
            cut = (slice(None, None, 2), slice(None, None, -3))
            return [x.copy()[cut] for x in (a, b)]
        return [np.array(x[::2, ::3], order=layout) for x in (a, b)]

    for rows in (1, 40):
        a, b = rng.normal(size=(2, 2 * rows, 3 * columns)).astype(dtype)
        for function in (row_sums, column_sums, centred, until_the_sum_is_small):
            expected, got = ([*arrays(a, b), np.zeros(rows, dtype)] for _ in range(2))
            parallel = frit.parallelize(function)
            parallel(*got)
            function(*expected)
            assert runs_compiled(parallel), frit.explain(parallel)
            if function is column_sums:  # adds up sums, as a tree of its own
                rtol = 1e-4 if dtype == "f4" else 1e-11
                np.testing.assert_allclose(got[2], expected[2], rtol=rtol)
            else:
                assert all(map(np.array_equal, got, expected)), function.__name__


def test_the_sum_of_a_row_of_nothing_is_0_without_a_sign():
    for columns in (0, 1, 8, 300):
        got, a = np.ones(2), np.full((2, columns), -0.0)
        frit.parallelize(row_sums_alone)(a, got)
        assert np.array_equal(got, [0, 0])
        assert np.array_equal(np.signbit(got), np.signbit(a.sum(axis=1)))


def added_sums(a, b, out):
    total, signed, product = 0.0, -0.0, 1.0
    for i in range(a.shape[0]):
        row = (a[i] * b[i]).sum()
        total += row
        if row > 0:
            signed -= np.sqrt(row)
            product *= 1 + 1e-3 * row
    out[0], out[1], out[2] = total, signed, product


@pytest.mark.parametrize("rows", [1, 64, 65, 1000, 5000])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_terms_that_take_long_are_added_in_order(rows, dtype):
    a, b = np.random.default_rng(rows).normal(size=(2, rows, 30)).astype(dtype)
    expected, got = np.zeros((2, 3))
    parallel = frit.parallelize(added_sums)
    parallel(a, b, got)
    added_sums(a, b, expected)
    assert runs_compiled(parallel), frit.explain(parallel)
    assert "# reduction" in str(frit.explain(parallel))
    assert expected.tobytes() == got.tobytes()
    a[:] = -0.0
    b[:] = 0.0
    parallel(a, b, got)
    added_sums(a, b, expected)
    assert expected.tobytes() == got.tobytes()


def roots_of_positive_sums(a, out):
    total = 0.0
    for i in range(a.shape[0]):
        row = a[i].sum()
        if row > 0:
            out[i] = np.sqrt(row)
            total += np.log(row)
        elif row != 0:
            out[i] = a[0, 0] / row
    out[0] = total


def test_a_condition_keeps_its_branch_from_warning():
    a = np.random.default_rng(1).normal(size=(50, 3))
    a[7] = 0
    expected, got = np.zeros((2, 50))
    parallel = frit.parallelize(roots_of_positive_sums)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        roots_of_positive_sums(a, expected)
        parallel(a, got)
    assert runs_compiled(parallel), frit.explain(parallel)
    assert not heard
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_a_function_that_nobody_has_is_forgotten():
    parallel = frit.parallelize(types.FunctionType(row_sums_alone.__code__, globals()))
    parallel(np.ones((2, 3)), np.zeros(2))
    assert runs_compiled(parallel)
    kept = [weakref.ref(x) for x in (parallel.__frit__, *sites(parallel))]
    del parallel
    gc.collect()
    assert [ref() for ref in kept] == [None, None]


def row_sums_alone(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i].sum()


def until_a_large_one(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.9:
                break
            b[i] += a[i, j]


def first_large_one(a):
    for i in range(len(a)):
        for _ in range(2):
            pass
        if a[i] > 2.0:
            return i
    return -1


@pytest.mark.parametrize(
    ("function", "given", "words"),
    [
        (until_a_large_one, lambda: (np.ones((4, 5)) / 2, np.zeros(4)), "a break may end it"),
        (first_large_one, lambda: (np.arange(9.0),), "a return may end it"),
    ],
)
def test_explain_says_what_leaves_a_loop(function, given, words):
    parallel = frit.parallelize(function)
    parallel(*given())
    text = str(frit.explain(parallel))
    assert f"serial: {words}" in text
    assert "a while" not in text


def test_explain_says_why_a_loop_is_python():
    def f(a):
        for i in range(len(a)):
            a[i] = np.cumsum(a)[i]

    parallel = frit.parallelize(f)
    parallel(NUMBERS.copy())
    assert "Python" in str(frit.explain(parallel))


def gathered(a, b, index, n, k):
    for i in range(1, n):
        a[i - 1] = b[i + k] + b[index[i]]


def grown(a, n, x):
    total = 0
    for i in range(n):
        total += a[i] * x
        x += 1
    return total


@pytest.mark.parametrize(
    ("function", "given", "reason"),
    [
        (gathered, (99, 250), "an error is possible, k + n <= b.shape[0] does not hold"),
        (gathered, (101, 3), "an error is possible, n <= index.shape[0] does not hold"),
        (
            gathered,
            (99, 3, 201),
            "an error is possible, index[..].max() < b.shape[0] does not hold",
        ),
        (grown, (np.ones(60), 60, 2**60), "an int may grow too large, with x as given"),
    ],
)
def test_explain_says_which_condition_did_not_hold(function, given, reason):
    def arguments(given):
        if function is grown:
            return given
        a, index = np.zeros(100), np.arange(100)
        index[7] += sum(given[2:])
        return a, np.ones(200), index, *given[:2]

    parallel = frit.parallelize(function)
    names = function.__code__.co_varnames
    for _ in range(2):
        calls = [dict(zip(names, arguments(given), strict=False)) for _ in range(2)]
        assert same_outcome(outcome(function, calls[0]), outcome(parallel, calls[1]))
        assert f"Python: {reason}" in str(frit.explain(parallel))
    parallel(*arguments((99, 3)) if function is gathered else (np.ones(60), 60, 2))
    text = str(frit.explain(parallel))
    assert f"; of 3 calls 2 ran as Python: {reason}" in text


def test_explain_says_that_an_error_is_possible_in_the_middle():
    def f(a, b):
        for i in range(len(a)):
            a[i] = 100 // int(b[i])

    parallel = frit.parallelize(f)
    with pytest.raises(ZeroDivisionError):
        parallel(np.ones(50), np.arange(-20, 30))
    assert "Python: an error, or an int that grows too large, is possible in the middle" in str(
        frit.explain(parallel)
    )


def inner_without_rounds(b, n, m, last):
    for j in range(m, n):
        for last in range(n, 1, -2):
            b[last] = j
    return last


@pytest.mark.parametrize("m", [3, 9])
def test_a_variable_keeps_its_value_if_no_loop_sets_it(m):
    check(inner_without_rounds, np.ones(12), 9, m, -5)


def rows_of_sums(a, b):
    for i in range(a.shape[0]):
        b[i] = 0.0
        for j in range(a.shape[1]):
            b[i] += a[i, j]


def test_a_call_of_few_rounds_runs_as_python(monkeypatch):
    monkeypatch.setattr(place, "SHORT", 60.0)  # no machine is slower
    parallel = frit.parallelize(rows_of_sums)
    for a in (np.ones((2, 2)), np.ones((3, 2)), np.ones((1, 1))):
        for _ in range(20):
            b = np.full(len(a), -1.0)
            parallel(a, b)
            assert np.array_equal(b, a.sum(1))
    # The inner loop's place is not asked where the outer one's work is too short.
    assert not parallel.__frit__.sites
    assert [p.on for p in parallel.__frit__.places] == [False, True]


def test_what_is_too_short_says_so(monkeypatch):
    monkeypatch.setattr(place, "SHORT", traits.SHORT)
    parallel = frit.parallelize(rows_of_sums)
    parallel(np.ones((1, 1)), np.ones(1))
    assert "too short" in str(frit.explain(parallel))


def test_a_guess_that_fails_leaves_the_error_to_python(monkeypatch):
    monkeypatch.setattr(place, "SHORT", traits.SHORT)
    parallel = frit.parallelize(rows_of_sums)
    parallel(np.ones((1, 1)), np.ones(1))
    with pytest.raises(IndexError, match="tuple index out of range"):
        parallel(np.ones(3), np.ones(3))


def doubled_sum(a, b, c):
    for i in range(len(c)):
        c[i] = a[i] + b[i] + b[i]


def shifted_rows(a, b, c):
    for i in range(c.shape[0]):
        for j in range(1, c.shape[1]):
            c[i, j] = a[i, j - 1] + b[i, j]


def window_of(memory, shape, dtype, offset):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return memory[offset : offset + size].view(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1", "c16"])
@pytest.mark.parametrize("offset", [0, 1, 8, 16, 40, 63])
def test_what_is_stored_may_begin_anywhere(dtype, offset):
    frit._core.set_tier("compiled")
    numbers = np.random.default_rng(offset)
    try:
        for function, shapes in (
            (doubled_sum, [0, 1, 5, 63, 64, 127, 128, 129, 300, 2049]),
            (shifted_rows, [(3, 5), (2, 129), (5, 260), (3, 1031)]),
        ):
            parallel = frit.parallelize(function)
            for shape in shapes:
                memory = numbers.integers(0, 9, (3, 64 * 1024), dtype="u1")
                expected = memory.copy()
                # Each begins at another address; nothing beside the last is written.
                begins = (64, 64 + offset, 128 + offset)
                for call, whole in ((parallel, memory), (function, expected)):
                    pairs = zip(whole, begins, strict=True)
                    given = [window_of(part, shape, dtype, begin) for part, begin in pairs]
                    for array in given[:2]:
                        array[...] = np.arange(array.size).reshape(array.shape) % 50
                    call(*given)
                assert np.array_equal(memory, expected)
    finally:
        frit._core.set_tier("automatic")


# ---- calls like the one before ------------------------------------------------------------------


def direct_runs(function) -> int:
    return sum(site.gate.runs() for site in sites(function))


@pytest.mark.parametrize("tier", ["interpreter", "compiled"])
def test_to_compare_with_a_nan_is_no_error(tier):
    def nearest(x, y, out):
        for i in range(len(out)):
            best = math.inf
            for j in range(len(x)):
                d = (x[j] - y[i]) ** 2
                if d < best:
                    best = d
            out[i] = np.sqrt(y[i]) + best

    parallel = frit.parallelize(nearest)
    x, y = np.random.default_rng(1).random((2, 300))
    x[::7] = np.nan
    expected, out = np.empty((2, 300))
    nearest(x, y, expected)
    frit._core.set_tier(tier)
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            parallel(x, y, out)
        assert not told
        np.testing.assert_array_equal(out, expected)
        y[5] = -1.0
        with pytest.warns(RuntimeWarning, match="invalid value encountered in a loop"):
            parallel(np.nan_to_num(x), y, out)
    finally:
        frit._core.set_tier("automatic")
    assert [site.calls for site in parallel.__frit__.sites] == [2]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_square_is_a_product(dtype):
    @frit.parallelize
    def squares(x, out):
        for i in range(len(x)):
            out[i] = x[i] ** 2
            out[i] += x[i] ** 2.0

    x = np.random.default_rng(1).random(5000).astype(dtype)
    x[:4] = -0.0, np.inf, -3, np.nan
    out = np.zeros_like(x)
    squares(x, out)
    np.testing.assert_array_equal(out, x * x + x * x)
    assert sites(squares)[0].calls == 1


def test_a_number_that_a_type_has_not_is_no_error_of_ours():
    @frit.parallelize
    def clipped(a, out):
        for i in range(len(a)):
            s = max(a[i], -2)
            out[i] = 1 if s == 2 else s

    a, out = np.arange(100, dtype=np.uint8), np.zeros(100)
    clipped(a, out)
    np.testing.assert_array_equal(out[:4], [0, 1, 1, 3])
    (refused,) = sites(clipped)[0].refused.values()
    assert refused.reason == "a variable is a number of Python's first, and then of NumPy's"

    @frit.parallelize
    def scaled(x, out):
        for i in range(len(x)):
            out[i] = x[i] * 1e200

    x, out = np.ones((2, 100), np.float32)
    with pytest.warns(RuntimeWarning, match="overflow"):
        scaled(x, out)
    (refused,) = sites(scaled)[0].refused.values()
    assert refused.reason == "1e+200 does not fit its element"


def test_calls_like_the_one_before_run_without_python(monkeypatch):
    monkeypatch.setattr(place, "SHORT", -1.0)

    @frit.parallelize
    def quotients(a, b, c):
        total = 0.0
        for i in range(len(a)):
            c[i] = a[i] / b[i]
            total += c[i]
        return total

    a, b, c = np.arange(1.0, 41), np.full(40, 2.0), np.zeros(40)
    for _ in range(4):
        assert quotients(a, b, c) == 410.0
    assert (direct_runs(quotients), sum(s.calls for s in sites(quotients))) == (3, 4)
    # Errors of floats: told behind the loop, at once where the program may be stopped by them.
    b[5] = 0
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in a loop") as told:
        assert quotients(a, b, c) == math.inf
    assert told[0].filename == __file__
    c[:] = 7
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="scalar divide"):
        quotients(a, b, c)
    assert c[4] == 2.5 and (c[5:] == 7).all()
    c[:] = 7
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning, match="scalar divide"):
        warnings.simplefilter("error")
        quotients(a, b, c)
    assert c[4] == 2.5 and (c[5:] == 7).all()
    with np.errstate(all="ignore"):
        assert quotients(a, b, c) == math.inf
    # Other extents, then the first again.
    b[5] = 2
    with pytest.raises(IndexError, match="index 30 is out of bounds"):
        quotients(a, b, c[:30])
    before = direct_runs(quotients)
    for _ in range(3):
        assert quotients(a, b, c) == 410.0
    assert direct_runs(quotients) >= before + 2


@pytest.mark.parametrize("n", [1, 40, 9000])  # the last: more than the gate keeps by itself
def test_calls_that_may_fail_run_without_python_until_one_does(monkeypatch, n):
    monkeypatch.setattr(place, "SHORT", -1.0)

    def roots(a, b):
        for i in range(len(a)):
            b[i] = math.sqrt(a[i])
            a[i] = a[i] + 1.0

    ours = frit.parallelize(roots)
    a, b = np.arange(1.0, n + 1), np.zeros(n)
    for k in range(4):
        ours(a, b)
        assert np.array_equal(b, np.sqrt(np.arange(1.0, n + 1) + k))
    runs = direct_runs(ours)
    assert runs == (3 if n <= 4096 else 0)
    assert sum(s.calls for s in sites(ours)) == 4
    a[n // 2] = -1.0
    given = [(a.copy(), b.copy()) for _ in range(2)]
    for function, arrays in zip((ours, roots), given, strict=True):
        with pytest.raises(ValueError, match="math domain error|expected a nonnegative"):
            function(*arrays)
    for mine, pythons in zip(*given, strict=True):
        assert np.array_equal(mine, pythons)
    a[n // 2] = 1.0
    for _ in range(3):
        ours(a, b)
    assert b[n // 2] == math.sqrt(3.0)
    if n <= 4096:
        assert direct_runs(ours) > runs


def running_total(a):
    s = a[0]
    for i in range(1, len(a)):
        s = s + a[i]
        a[i] = s
    return s


@pytest.mark.parametrize("dtype", "bBhiIlL")
@pytest.mark.parametrize("calls", [0, 3])
def test_an_overflow_of_integers_stops_the_loop_where_it_is_an_error(dtype, calls):
    most = np.iinfo(dtype).max
    given = np.array([1, most - 5, 3, 2, 9, 4], dtype)
    expected = given.copy()
    expected[1:3] = most - 4, most - 1  # and 2 more are too many
    total = frit.parallelize(running_total)
    for _ in range(calls):
        assert total(np.ones(6, dtype)) == 6
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="scalar add"):
        total(a := given.copy())
    assert np.array_equal(a, expected)
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning, match="scalar add"):
        warnings.simplefilter("error")
        total(a := given.copy())
    assert np.array_equal(a, expected)
    with np.errstate(over="ignore"):
        assert total(given.copy()) == running_total(given.copy())


def test_four_kinds_of_calls_that_take_turns_run_without_python(monkeypatch):
    monkeypatch.setattr(place, "SHORT", -1.0)

    @frit.parallelize
    def total(a, k):
        s = 0.0
        for i in range(k, len(a)):
            a[i] += 1
            s += a[i]
        return s

    def calls(*kinds):
        for n, dtype, k in kinds:
            a = np.arange(n, dtype=dtype)
            assert total(a, k) == sum(range(k + 1, n + 1))
            assert np.array_equal(a, np.arange(n) + (np.arange(n) >= k)) and a.dtype == dtype

    kinds = [(40, "d", 0), (41, "d", 0), (40, "l", 0), (40, "d", 3)]
    calls(*kinds)
    calls(*kinds, *kinds[::-1], *kinds)
    assert direct_runs(total) == 12
    calls((50, "d", 0), *kinds[1:], (50, "d", 0))  # in the place of the oldest
    assert direct_runs(total) == 16
    with pytest.raises(IndexError, match="index -41 is out of bounds"):
        total(np.zeros(40), -41)
    calls(*kinds[1:])
    assert direct_runs(total) == 19


def test_calls_that_differ_only_in_how_arrays_share_memory(monkeypatch):
    monkeypatch.setattr(place, "SHORT", -1.0)

    def doubled(a, b, n):
        for i in range(n):
            a[i] = b[i] * 2 + 1

    function = frit.parallelize(doubled)
    one, other = np.arange(200.0), np.arange(200.0)
    pairs = [
        (one[1:41], other[:40]),
        (one[1:41], one[:40]),
        (one[:40], one[1:41]),
        (one[20:60], one[20:60]),
        (one[1:41], one[160:]),
        (one[::-1][:40], one[155:195]),
    ]
    for k in (0, 0, 1, 1, 2, 4, 2, 3, 0, 1, 5, 4, 5, 0, 3):
        for n in (40, 40, 23):
            one[:], other[:] = np.arange(200.0), np.arange(200.0)
            doubled(*pairs[k], n)
            expected = one.copy()
            one[:] = np.arange(200.0)
            function(*pairs[k], n)
            assert np.array_equal(one, expected), (k, n)
    assert direct_runs(function) >= 15


def many_accesses(a, b):
    for i in range(8, len(a) - 8):
        a[i] = a[i - 1] + b[i]
        a[i + 1] = a[i - 2] - a[i + 3]
        a[i + 2] = a[i] * 0.5
        a[i - 3] += a[i + 4]
        a[i - 4] = a[i + 5] - a[i - 5]
        a[i + 6] += 0.25 * a[i - 6]
        a[i - 7] = a[i + 7] + a[i - 8]
        a[i + 3] -= b[i - 1] * a[i + 8]
        a[i - 6] = b[i + 1] + a[i]
        b[i] = a[i] * 2


def test_arrays_with_many_accesses_are_taken_to_depend_on_themselves():
    rng = np.random.default_rng(4)
    for size in (16, 17, 40, 500):
        function = check(many_accesses, *rng.random((2, size)))
    assert runs_compiled(function) and "# serial" in str(frit.explain(function))


def velocities(v, f, u):
    for i in range(f.shape[0]):
        u[0, :, :] += v[i, 0] * f[i, :, :]
        u[1, :, :] += v[i, 1] * f[i, :, :]


def velocities_of_two(v, f, u):
    for i in range(f.shape[0]):
        w = v[i, 0] + v[i, 1]
        u[0] += w * f[i]
        for j in range(u.shape[1]):
            for k in range(u.shape[2]):
                u[1, j, k] -= w * f[i, j, k] + u[0, j, k] * 0.5


@pytest.mark.parametrize("shape", [(9, 260, 110), (3, 40, 500), (30, 20, 20), (9, 1000, 6)])
@pytest.mark.parametrize("function", [velocities, velocities_of_two])
def test_rows_that_are_added_up_are_added_in_pythons_order(function, shape):
    rng = np.random.default_rng(0)
    v, f, u = rng.random((shape[0], 2)) - 0.5, rng.random(shape), rng.random((2, *shape[1:]))
    expected = u.copy()
    if function is velocities:
        function(v, f, expected)
    else:
        for i in range(shape[0]):
            w = v[i, 0] + v[i, 1]
            expected[0] += w * f[i]
            expected[1] -= w * f[i] + expected[0] * 0.5
    compiled = frit.parallelize(function)
    for threads in (1, 2, 7):
        before, cost = frit._core.threads(), frit._core.set_part_cost(1e-3)
        frit._core.set_threads(threads)
        try:
            found = u.copy()
            compiled(v, f, found)
        finally:
            frit._core.set_part_cost(cost)
            frit._core.set_threads(before)
        assert found.tobytes() == expected.tobytes()


def takes_and_gives(v, a, b, steps):
    n, m = v.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] -= a[i - 1, j] * 0.3
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] += b[i, j + 1] * 0.7


@pytest.mark.parametrize("shape", [(5, 300), (40, 50), (300, 7), (200, 300)])
def test_elements_that_two_nests_of_each_step_add_to_are_pythons(shape):
    rng = np.random.default_rng(2)
    v, a, b = rng.normal(size=(3, *shape))
    for steps in (1, 2, 7, 30):
        expected = v.copy()
        for _ in range(steps):
            expected[1:-1, 1:-1] -= a[:-2, 1:-1] * 0.3
            expected[1:-1, 1:-1] += b[1:-1, 2:] * 0.7
        found = v.copy()
        frit.parallelize(takes_and_gives)(found, a, b, steps)
        assert found.tobytes() == expected.tobytes()
