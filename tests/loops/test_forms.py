"""test_forms.py: what a For goes through, whole rows, functions of the program, leaving loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

import frit
import frit.numpy

from .test_loops import NUMBERS, check, runs_compiled
from .written import function_of

MATRIX = np.arange(42.0).reshape(6, 7)


def total(a):
    s = 0.0
    for x in a:
        s += x
    return s


def scale_rows(a, f):
    for row in a:
        for j in range(len(row)):
            row[j] = row[j] * f + j


def numbered(a, out):
    for i, x in enumerate(a):
        out[i] = x * i


def numbered_from(a, out):
    for i, x in enumerate(a, start=2):
        out[i - 2] = x * i
    return i


def pairs(a, b, out):
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        out[i] = x * y
    return x


def with_range(a, out):
    for i, x in zip(range(1, len(out)), a, strict=False):
        out[i] = x


def index_pairs(m, out):
    for i, j in np.ndindex(m.shape):
        out[i, j] = m[i, j] * 2 + i - j
    return i, j


def index_tuples(m, out):
    for at in np.ndindex(*m.shape):
        out[at] = m[at] + at[0]


def by_numbers(m, n, k):
    for i, j in np.ndindex(n, k):
        m[i, j] += i


def elements_of_all(m, out):
    for (i, j), x in np.ndenumerate(m):
        out[i, j] = x + 1


def points(m, out):
    k = 0
    for x, y, z in m:
        out[k] = x * y + z
        k += 1


def backwards(a, out):
    for i in reversed(range(1, len(a))):
        out[i] = out[i - 1] + a[i]


def backwards_elements(a, out):
    k = 0
    for x in reversed(a):
        out[k] = x
        k += 1


def part_of_rows(m, out):
    for row, target in zip(m[1:], out, strict=False):
        for x in row[1:-1]:
            target[0] += x


def rows_by_number(m, out):
    for i in range(len(m)):
        row = m[i]
        for j in range(row.shape[0]):
            out[i, j] = row[j] - row[0]


def copy_rows(a, b):
    for x, y in zip(a, b, strict=True):
        y[:] = x


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (total, (NUMBERS.copy(),)),
        (scale_rows, (MATRIX.copy(), 0.5)),
        (numbered, (NUMBERS.copy(), NUMBERS * 0)),
        (numbered, (NUMBERS[::-2], NUMBERS * 0)),
        (numbered_from, (NUMBERS.copy(), NUMBERS * 0)),
        (pairs, (NUMBERS.copy(), NUMBERS[:7], NUMBERS * 0)),
        (pairs, (NUMBERS[:5], NUMBERS[:7], NUMBERS * 0)),
        (with_range, (NUMBERS.copy(), NUMBERS[:9] * 0)),
        (index_pairs, (MATRIX.copy(), MATRIX * 0)),
        (index_tuples, (MATRIX.T, MATRIX.T * 0)),
        (by_numbers, (MATRIX.copy(), 3, 4)),
        (elements_of_all, (MATRIX[:, ::2], MATRIX[:, ::2] * 0)),
        (points, (np.arange(30.0).reshape(10, 3), NUMBERS * 0)),
        (backwards, (NUMBERS.copy(), NUMBERS * 0)),
        (backwards_elements, (NUMBERS[:9], NUMBERS * 0)),
        (part_of_rows, (MATRIX.copy(), MATRIX * 0)),
        (rows_by_number, (MATRIX.copy(), MATRIX * 0)),
    ],
)
def test_loops_over_arrays_and_series_run_compiled(function, given):
    check(function, *given, compiled=True)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (total, (NUMBERS[:0],)),
        (total, ([1.0, 2.0],)),
        (copy_rows, (MATRIX.copy(), MATRIX[:3] * 0)),  # ValueError: strict
        (numbered, (NUMBERS.copy(), NUMBERS[:7] * 0)),  # IndexError
        (pairs, (NUMBERS[:0], NUMBERS, NUMBERS * 0)),  # UnboundLocalError
        (points, (MATRIX.copy(), NUMBERS * 0)),  # ValueError: too many values
        (by_numbers, (MATRIX.copy(), 9, 2)),  # IndexError
        (by_numbers, (MATRIX.copy(), -1, 2)),  # ValueError
    ],
)
def test_loops_over_arrays_and_series_fail_as_in_python(function, given):
    check(function, *given)


def test_a_row_is_seen_as_it_is_when_its_turn_comes():
    def f(a):
        for x in a:
            a[1] += x
            a[-1] = a[1]

    check(f, np.arange(5.0), compiled=True)


# ---- whole rows ---------------------------------------------------------------------------------


def add_rows(a, b, c):
    for i in range(len(a)):
        a[i, :] += b[i] * c


def eliminate(a):
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]


def fill(a):
    for i in range(len(a)):
        a[i] = i
        a[i, 1:-1] = -1


def mapped(a, out):
    for i in range(len(a)):
        out[i] = np.sqrt(abs(a[i])) + a[i] ** 2 / 2


def in_place(a):
    for row in a:
        row *= 2
        row[1:] -= row[0]


def of_previous(a):
    for i in range(1, len(a)):
        a[i] = a[i - 1] + 1


def shifted_row(a):
    for i in range(len(a)):
        a[i, 1:] = a[i, :-1]


def row_sums(a, out):
    for i in range(len(a)):
        out[i] = a[i].sum()


def row_extremes(a, out):
    for i, row in enumerate(a):
        out[i, 0] = row.max()
        out[i, 1] = np.min(row)


@pytest.mark.parametrize(
    ("function", "given", "compiled"),
    [
        (add_rows, (MATRIX.copy(), MATRIX + 1, 3), True),
        (add_rows, (MATRIX.copy(), np.arange(6.0), 0.5), True),
        (add_rows, (MATRIX.copy(), np.arange(6.0), np.arange(7.0)), True),
        (add_rows, (MATRIX.copy(), np.arange(6.0), np.arange(3.0)), None),  # ValueError
        (add_rows, (MATRIX.astype(int), np.arange(6), 2), True),
        (add_rows, (MATRIX.astype(int), np.arange(6.0), 2), None),  # UFuncTypeError
        (add_rows, (MATRIX.astype("f4"), MATRIX, 2), True),
        (add_rows, (MATRIX.astype("u1"), np.arange(6, dtype="u1"), 300), None),  # OverflowError
        (add_rows, (MATRIX[:0], MATRIX, 300), None),
        (eliminate, (np.cos(np.arange(36.0)).reshape(6, 6) + 9 * np.eye(6),), True),
        (fill, (MATRIX.copy(),), True),
        (fill, (MATRIX.astype("?"),), True),
        (mapped, (MATRIX - 9, MATRIX * 0), True),
        (mapped, (MATRIX.reshape(2, 3, 7), MATRIX.reshape(2, 3, 7) * 0), True),
        (in_place, (MATRIX.copy(),), None),
        (of_previous, (MATRIX.copy(),), True),
        (shifted_row, (MATRIX.copy(),), True),
        (row_sums, (MATRIX.astype("i4"), np.zeros(6, int)), True),
        (row_sums, (MATRIX.copy(), np.zeros(6)), True),
        (row_sums, (np.ones((3, 129)), np.zeros(3)), True),
        (row_sums, (np.ones((3, 129), np.float16), np.zeros(3)), False),
        (row_extremes, (MATRIX.copy(), np.zeros((6, 2))), True),
        (row_extremes, (MATRIX[:, :0], np.zeros((6, 2))), None),  # ValueError
        (copy_rows, (MATRIX.copy(), MATRIX * 0), True),
    ],
)
def test_whole_rows(function, given, compiled):
    check(function, *given, compiled=compiled)


def test_rows_that_share_memory_in_another_array_are_read_before_they_are_written():
    def f(a, b):
        for i in range(len(a)):
            a[i, 1:] = b[i, :-1] * 2

    memory = MATRIX.copy()
    check(f, memory, memory)
    check(f, memory[1:], memory[:-1])


def diffused(u, k):
    for _ in range(40):
        u[1:-1] += k * (u[:-2] - 2 * u[1:-1] + u[2:])
        u[0], u[-1] = u[-2], u[1]


def relaxed(u, k):
    for _ in range(20):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] * (1 - k) + 0.25 * k * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        )


def pushed(u, k):
    for step in range(9):
        u[k:] = u[:-k]
        u[:k] = step


def mirrored(u, k):
    for _ in range(3):
        u[:] = u[::-1] - k


PARTS = [
    lambda u: u,
    lambda u: u[::2],
    lambda u: u[::-1],
    lambda u: u.T,
    lambda u: u[:3],
    lambda u: u[:1],
]


@pytest.mark.parametrize("function", [diffused, relaxed, pushed, mirrored])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
def test_rows_that_are_read_where_they_are_written_are_computed_first(function, part, dtype):
    k = 2 if function is pushed else 3
    u = part(((np.arange(132.0).reshape(11, 12) * 7) % 31).astype(dtype))
    with np.errstate(all="ignore"):
        check(function, u, k if np.dtype(dtype).kind in "iu" or function is pushed else 0.25)


def test_rows_of_their_own_are_compiled_in_functions_and_in_modules(python, file):
    u = np.cos(np.arange(600.0))
    check(diffused, u, 0.2, compiled=True)
    check(relaxed, u.reshape(20, 30), 0.2, compiled=True)
    program = """
import numpy as np
u = np.cos(np.arange(60.0))
for step in range(200000):
    u[1:-1] += 0.25 * (u[:-2] - 2 * u[1:-1] + u[2:])
    u[0] = step % 7
print(u.tobytes().hex())
import sys
if "frit" in sys.modules:
    from frit.loops.run import place
    assert place.calls()[0] == 1, place.calls()
"""
    path = file("program.py", program)
    assert python("-m", "frit", path).stdout == python(path).stdout


def test_rows_swap_as_views_do():
    def f(a):
        for i in range(len(a) // 2):
            a[i], a[i + 3] = a[i + 3], a[i]

    check(f, MATRIX.copy())


def test_rows_of_an_array_that_overlaps_itself():
    def f(a):
        for i in range(len(a)):
            a[i] += a[i]

    memory = np.arange(20.0)
    check(f, np.lib.stride_tricks.as_strided(memory, (5, 6), (16, 8)))


# ---- functions of the program -------------------------------------------------------------------

FACTOR = 3.0


def square(x):
    return x * x


def clamp(x, low=0.0, high=10.0):
    """Between."""
    if x < low:
        return low
    if x > high:
        return high
    return x


def blend(x, y, *, weight=0.25):
    rest = 1 - weight
    first = weight * square(x)
    return first + rest * y


def polar(x, y):
    r = math.sqrt(x * x + y * y)
    return r, FACTOR * x


def sum_to(a, i):
    s = 0.0
    for k in range(i):
        s += a[k]
    return s


def first_above(a, level):
    for k in range(len(a)):
        if a[k] > level:
            return k
    return -1


def put(a, i, value):
    a[i] = value


def step(z, c):
    return z * z + c


def rounds(c, most):
    z = 0.0
    for n in range(most):
        if z > 4.0:
            return n
        z = step(z, c)
    return most


def use_square(a, b):
    for i in range(len(a)):
        b[i] = square(a[i]) + square(i)


def use_clamp(a, b):
    for i in range(len(a)):
        b[i] = clamp(a[i] - 5) + clamp(a[i], high=20.0) + clamp(high=3.5, x=a[i], low=0.5)


def use_blend(a, b):
    for i, x in enumerate(a):
        b[i] = blend(x, b[i]) - blend(i, x, weight=0.5)


def use_polar(a, b):
    for i in range(len(a)):
        r, x = polar(a[i], b[i])
        b[i] = r - x


def use_sum(a, b):
    for i in range(len(a)):
        b[i] = sum_to(a, i)


def use_first(a, out):
    for i in range(len(a)):
        out[i] = first_above(a, a[i] / 2)


def use_put(a, b):
    for i in range(len(a)):
        put(b, i, a[i] * 2)


def use_rounds(a, out):
    for i in range(len(a)):
        out[i] = rounds(a[i] / 40, 30)


def fact(n):
    return 1 if n < 2 else n * fact(n - 1)


def use_recursion(a):
    for i in range(len(a)):
        a[i] = fact(3)


@pytest.mark.parametrize(
    ("function", "given", "compiled"),
    [
        (use_square, (NUMBERS.copy(), NUMBERS * 0), True),
        (use_square, (NUMBERS.astype("i4"), NUMBERS.astype("i4")), True),
        (use_clamp, (NUMBERS.copy(), NUMBERS * 0), True),
        (use_blend, (NUMBERS.copy(), NUMBERS + 2), True),
        (use_polar, (NUMBERS.copy(), NUMBERS + 2), True),
        (use_sum, (NUMBERS.copy(), NUMBERS * 0), True),
        (use_first, (NUMBERS.copy(), np.zeros(40, int)), True),
        (use_put, (NUMBERS.copy(), NUMBERS * 0), True),
        (use_put, (NUMBERS.copy(), NUMBERS[:9] * 0), None),  # IndexError
        (use_rounds, (NUMBERS.copy(), np.zeros(40, int)), True),
        (use_recursion, (NUMBERS.copy(),), False),
    ],
)
def test_functions_of_the_program_are_part_of_the_loop(function, given, compiled):
    check(function, *given, compiled=compiled)


def test_a_function_that_is_given_another_meaning_is_seen():
    space = globals()
    parallel = check(use_square, NUMBERS.copy(), NUMBERS * 0, compiled=True)
    kept = square, FACTOR
    try:
        space["square"] = lambda x: x + 1
        out = NUMBERS * 0
        parallel(NUMBERS.copy(), out)
        assert np.array_equal(out, NUMBERS * 2 + 2)
        parallel = check(use_polar, NUMBERS.copy(), NUMBERS + 2, compiled=True)
        space["FACTOR"] = 0.5
        first, second = NUMBERS + 2, NUMBERS + 2
        parallel(NUMBERS.copy(), first)
        use_polar(NUMBERS.copy(), second)
        assert np.array_equal(first, second)
    finally:
        space["square"], space["FACTOR"] = kept


def test_a_function_with_other_defaults_is_seen():
    parallel = check(use_clamp, NUMBERS.copy(), NUMBERS * 0, compiled=True)
    kept = clamp.__defaults__
    try:
        clamp.__defaults__ = (1.0, 2.0)
        first, second = NUMBERS * 0, NUMBERS * 0
        parallel(NUMBERS.copy(), first)
        use_clamp(NUMBERS.copy(), second)
        assert np.array_equal(first, second)
    finally:
        clamp.__defaults__ = kept


# ---- leaving loops ------------------------------------------------------------------------------


def escape(c, out, most):
    for i in range(len(c)):
        z = 0.0
        for n in range(most):  # noqa: B007
            if z > 2.0:
                break
            z = z * z + c[i]
        out[i] = n


def find(a, x):
    at = -1
    for i in range(len(a)):
        if a[i] == x:
            at = i
            break
    return at, i


def find_or_else(a, x, out):
    for i in range(len(out)):
        for j in range(len(a)):
            if a[j] == x + i:
                out[i] = j
                break
        else:
            out[i] = -1


def skip_some(a, out):
    for i in range(len(a)):
        if a[i] > 3:
            if a[i] > 30:
                continue
            out[i] += 1
        if a[i] < 10:
            out[i] += 2
            if a[i] > 5:
                continue
        out[i] += 4


def leave_while(a, out):
    for i in range(len(a)):
        k = 0
        while k < 100:
            k += 1
            if k * k > a[i]:
                break
            if k % 2:
                continue
            out[i] += k
        else:
            out[i] = -1


def leave_two(m, out):
    for i in range(len(m)):
        for j, x in enumerate(m[i]):
            if x > 20:
                if j > 2:
                    break
                out[i] += 1
            out[i] += x
        out[i] += j


def stop_at_pair(m):
    count = 0
    for i, j in np.ndindex(m.shape):
        if m[i, j] == 17:
            break
        count += 1
    else:
        count = -1
    return count


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (escape, (NUMBERS / 20, np.zeros(40, int), 50)),
        (find, (NUMBERS.copy(), 7)),
        (find, (NUMBERS.copy(), 7.5)),
        (find_or_else, (NUMBERS.copy(), 36, np.zeros(9))),
        (skip_some, (NUMBERS.copy(), NUMBERS * 0)),
        (leave_while, (NUMBERS.copy(), np.zeros(40, int))),
        (leave_two, (MATRIX.copy(), np.zeros(6))),
        (stop_at_pair, (MATRIX.copy(),)),
        (stop_at_pair, (MATRIX + 50,)),
    ],
)
def test_loops_that_are_left_early_run_compiled(function, given):
    check(function, *given, compiled=True)


def test_explain_marks_the_lines_of_rows_and_calls():
    parallel = frit.parallelize(use_sum)
    parallel(NUMBERS.copy(), NUMBERS * 0)
    assert runs_compiled(parallel)
    assert "# parallel" in str(frit.explain(parallel))
    explained = frit.explain(check(row_sums, np.ones((3, 129), np.float16), np.zeros(3)))
    assert "a sum of float16" in str(explained)


# ---- elements of what is written out ------------------------------------------------------------


def weighted_by_place(a, out):
    for i in range(len(a)):
        for k in range(3):
            out[i] += a[i - k] * (0.25, 0.5, 0.25)[k] + [3, 5, 7, 9][(k * i) % 4]


def beyond_the_last(a, out):
    for i in range(len(a)):
        out[i] = a[i] * (1, 2, 3)[i]


def from_the_end_on(a, out):
    for i in range(3):
        out[i] = a[i] * (1, 2, 3)[-i - 1]


def of_two_types(a, out):
    for i in range(len(a)):
        out[i] = a[i] * (1, 2.5)[i % 2] + ((1, 2), (3, 4))[i % 2][1]


def test_elements_of_tuples_by_computed_indices():
    check(weighted_by_place, NUMBERS.copy(), NUMBERS * 0, compiled=True)
    for function in (beyond_the_last, from_the_end_on, of_two_types):
        check(function, NUMBERS.copy(), NUMBERS * 0)


# ---- numbers of two types -----------------------------------------------------------------------


def relu(a, out):
    for i in range(len(a)):
        out[i] = max(a[i] - 5, 0.0) + min(a[i], 30.0) * 2


def pick(a, out):
    for i in range(len(a)):
        x = 0.0
        if a[i] > 3:
            x = a[i]
        y = a[i - 1] / 2 if i > 0 else 1
        z = x * 2 - 1.5 * x
        out[i] = z + x if z > 2 else abs(-x) + y


def bins(a, out):
    for i in range(len(a)):
        out[min(a[i] // 2, 9)] += 1


def truncated(a, out):
    for i in range(len(a)):
        out[i] = a[i] / 2
        out[i] += 0.75


def from_whole_numbers(a, start, out):
    for i in range(len(a)):
        x, change = start, 1
        while np.abs(change) > 1e-3:
            change = (np.sqrt(x) - a[i] - 2) * 2 * np.sqrt(x)
            x -= change
        out[i] = x


def of_whole_or_not(a, out):
    for i in range(len(a)):
        x = 1
        if a[i] > 3:
            x = a[i] - 8
        y = np.abs(x)
        out[i] = y * 0.5 + np.sqrt(y) - a[i] / y + math.sqrt(y) + (y > a[i])


def whole_or_not_negated(a, out):
    for i in range(len(a)):
        x = 0
        if a[i] > 3:
            x = a[i]
        out[i] = math.copysign(1.0, -np.abs(x))


def whole_or_not_kept(a, k, out):
    for i in range(len(a)):
        x = 1
        if a[i] > 3:
            x = a[i]
        y = np.abs(x) * k[i]
        out[i] = y * 2**62 if a[i] < 3 else y


def not_below_zero(a, b, out):
    for i in range(len(a)):
        out[i] = (max(a[i], 0) + 1) * 2 - (i if i > 5 else b[i]) // 3 % 7


def least_of(a, b, out):
    for i in range(len(a)):
        x = min(a[i], b[i], 7)
        out[abs(x - 1) % 5] += (x if x > 2 else -x) & 6
        if b[i] != x:
            out[i] += max(x, i) / 4 + round(x) - int(x)


@pytest.mark.parametrize(
    ("function", "given", "compiled"),
    [
        (not_below_zero, (np.arange(-9, 9, dtype="b"), np.arange(18), np.zeros(18, "h")), True),
        (not_below_zero, (np.full(9, 127, "b"), np.arange(9), np.zeros(9, "h")), None),  # wraps
        (not_below_zero, (np.arange(9, dtype="B"), np.full(9, -9), np.zeros(9, "B")), None),
        (least_of, (np.arange(40, dtype="h"), np.arange(40)[::-1].copy(), NUMBERS * 0), True),
        (least_of, (np.arange(40, dtype="B"), np.arange(40, dtype="i"), np.zeros(40, "i")), None),
        (least_of, (np.arange(40), np.full(40, -(2**31), "i"), NUMBERS * 0), None),
        (least_of, (np.arange(40), np.arange(40, dtype="L"), NUMBERS * 0), None),
        (relu, (NUMBERS.copy(), NUMBERS * 0), True),
        (from_whole_numbers, (NUMBERS.copy(), 2, NUMBERS * 0), True),
        (from_whole_numbers, (NUMBERS.copy(), 2.5, NUMBERS * 0), True),
        (from_whole_numbers, (NUMBERS.copy(), -2, NUMBERS * 0), None),  # NaN, and a warning
        (of_whole_or_not, (NUMBERS + 0.5, NUMBERS * 0), True),
        (of_whole_or_not, (NUMBERS.copy(), NUMBERS * 0), None),  # divides by zero
        (whole_or_not_negated, (NUMBERS.copy(), NUMBERS * 0), None),
        (whole_or_not_kept, (NUMBERS.copy(), np.arange(40), NUMBERS * 0), None),
        (relu, (NUMBERS.astype("f4"), NUMBERS.astype("f4")), None),
        (relu, (NUMBERS.astype("i2"), NUMBERS.astype("f4")), None),
        (pick, (NUMBERS.copy(), NUMBERS * 0), True),
        (pick, (NUMBERS.astype("f4"), NUMBERS * 0), None),
        (pick, (NUMBERS.astype("i8"), NUMBERS * 0), None),
        (bins, (np.arange(40), np.zeros(10, int)), True),
        (truncated, (NUMBERS - 20, np.zeros(40, int)), True),
        (truncated, (NUMBERS * 0.25, np.zeros(40, "u1")), True),
        (truncated, (NUMBERS - 20, np.zeros(40, "u1")), None),  # wraps, and warns
        (truncated, (NUMBERS * 1e18, np.zeros(40, int)), None),
        (truncated, (NUMBERS * np.nan, np.zeros(40, int)), None),
    ],
)
def test_numbers_that_may_be_of_two_types(function, given, compiled):
    check(function, *given, compiled=compiled)


# ---- operators and functions --------------------------------------------------------------------


def powers(a, n, out):
    for i in range(len(a)):
        x = float(a[i])
        out[i] = x**3 + x**0.5 + x**-1 + i**4 % 1000 + 2**n + (i + 1) ** -1


def any_power(a, b, out):
    for i in range(len(a)):
        out[i] = float(a[i]) ** float(b[i])


def bits(a, n, out):
    for i in range(len(a)):
        out[i] = (i << 2) + (n >> 1) + (i | 5) - (i ^ n) + (a[i] << 1) - (a[i] >> 2) + (a[i] | 8)


def whole(a, out):
    for i in range(len(a)):
        out[i] = int(a[i]) + round(a[i]) * 2 + math.floor(a[i]) - math.ceil(a[i])


def histogram_of_reals(a, scale, out):
    for x in a:
        out[int(x * scale)] += 1


def of_two(a, b, out):
    for i in range(len(a)):
        out[i] = math.atan2(a[i], b[i]) + math.hypot(a[i], b[i]) + np.arctan2(b[i], a[i])
        if math.isnan(a[i]) or np.maximum(a[i], b[i]) > 7:
            out[i] = math.log10(b[i])


@pytest.mark.parametrize(
    ("function", "given", "compiled"),
    [
        (powers, (NUMBERS + 1, 10, NUMBERS * 0), True),
        (powers, (NUMBERS, 10, NUMBERS * 0), None),  # ZeroDivisionError
        (powers, (NUMBERS + 1, 70, NUMBERS * 0), None),
        (powers, (1 - NUMBERS, 3, NUMBERS * 0), None),  # a complex number
        (any_power, (NUMBERS + 1, NUMBERS / 4, NUMBERS * 0), True),
        (any_power, (NUMBERS - 9, NUMBERS, NUMBERS * 0), True),
        (any_power, (NUMBERS * 1e9, NUMBERS * 9, NUMBERS * 0), None),  # OverflowError
        (bits, (np.arange(40), 9, NUMBERS * 0), True),
        (bits, (np.arange(40, dtype="i2") - 7, 9, NUMBERS * 0), True),
        (bits, (np.arange(40), -9, NUMBERS * 0), None),
        (whole, (NUMBERS / 4 - 3, NUMBERS * 0), True),
        (whole, (NUMBERS.astype("f4") / 4 - 3, NUMBERS * 0), True),
        (whole, (NUMBERS * 1e300, NUMBERS * 0), None),
        (whole, (NUMBERS * np.nan, NUMBERS * 0), None),  # ValueError
        (histogram_of_reals, (NUMBERS / 40, 10, np.zeros(10, int)), True),
        (histogram_of_reals, (-NUMBERS / 40, 10, np.zeros(10, int)), True),
        (histogram_of_reals, (NUMBERS / 40, 20, np.zeros(10, int)), None),  # IndexError
        (histogram_of_reals, (NUMBERS / 40, 20, np.zeros(0, int)), None),
        (of_two, (NUMBERS, NUMBERS + 0.5, NUMBERS * 0), True),
        (of_two, (NUMBERS, NUMBERS - 9, NUMBERS * 0), None),  # ValueError
    ],
)
def test_operators_and_functions(function, given, compiled):
    check(function, *given, compiled=compiled)


# ---- counters -----------------------------------------------------------------------------------


def packed(m, out):
    k = 0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            out[k] = m[i, j]
            k += 1
    return k


def packed_late(m, out):
    k = 0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            k += 1
            out[k] = m[i, j]
    return k


def selected(a, out):
    k = 0
    for x in a:
        if x > 3:
            out[k] = x
            k += 1
    return k


def packed_twice(a, out):
    k = 0
    for x in a:
        out[k] = x
        k += 1
        out[k] = -x
        k += 1
    return k


@pytest.mark.parametrize(
    ("function", "given", "compiled"),
    [
        (packed, (MATRIX.copy(), np.zeros(42)), True),
        (packed, (MATRIX.copy(), np.zeros(41)), None),  # IndexError
        (packed, (MATRIX[:0], np.zeros(0)), None),
        (packed_late, (MATRIX.copy(), np.zeros(43)), True),
        (packed_late, (MATRIX.copy(), np.zeros(42)), None),  # IndexError
        (selected, (NUMBERS.copy(), NUMBERS * 0), True),
        (packed_twice, (NUMBERS[:9], np.zeros(18)), None),
        (packed_twice, (NUMBERS[:9], np.zeros(17)), None),  # IndexError
    ],
)
def test_indices_that_count(function, given, compiled):
    check(function, *given, compiled=compiled)


# ---- returns ------------------------------------------------------------------------------------


def position(a, x):
    for i in range(len(a)):
        if a[i] == x:
            return i
    return -1


def is_sorted(a):
    for i in range(1, len(a)):
        if a[i] < a[i - 1]:
            return False
    return True


def find_pair(m, x):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            m[i, j] += 1
            if m[i, j] == x:
                return i, j
            last = j
    return last, m[0, 0]


def several_kinds(a, x):
    for i, v in enumerate(a):
        if v == x:
            return i
        if v > 30:
            return v
    return None


def of_nothing(a, x):
    for i in range(len(a)):
        a[i] += 1
        if a[i] == x:
            return


def of_text(a, x):
    for i in range(len(a)):
        a[i] += 1
        if a[i] == x:
            return f"{i}"


@pytest.mark.parametrize(
    ("function", "given", "compiled"),
    [
        (position, (NUMBERS.copy(), 7), True),
        (position, (NUMBERS.copy(), 7.5), True),
        (position, (NUMBERS[:0], 7.5), None),
        (is_sorted, (NUMBERS.copy(),), True),
        (is_sorted, (NUMBERS[::-1],), True),
        (find_pair, (MATRIX.copy(), 17), True),
        (find_pair, (MATRIX.copy(), -3), True),
        (find_pair, (MATRIX[:, :0], -3), None),
        (several_kinds, (NUMBERS.copy(), 7), False),
        (of_nothing, (NUMBERS.copy(), 7), False),
        (of_text, (NUMBERS.copy(), 7), False),
    ],
)
def test_nests_that_return(function, given, compiled):
    check(function, *given, compiled=compiled)


# ---- integers into narrower ones ----------------------------------------------------------------


def narrowed(a, out):
    for i in range(len(a)):
        out[i] = a[i] * a[i]


def narrowed_rows(a, out):
    for i in range(len(a)):
        out[i] = a[i] * a[i]
        out[i, 1:] = a[i, 1]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u8"])
@pytest.mark.parametrize("source", ["i2", "i8", "u8", "u4"])
def test_integers_that_do_not_fit_raise_or_wrap_as_in_numpy(source, dtype):
    check(narrowed, np.arange(9, dtype=source), np.zeros(9, dtype), compiled=True)
    check(narrowed, np.arange(20, dtype=source), np.zeros(20, dtype))
    check(narrowed, -np.arange(20).astype(source), np.zeros(20, dtype))
    matrix = np.arange(12, dtype=source).reshape(3, 4)
    check(narrowed_rows, matrix, np.zeros((3, 4), dtype), compiled=True)
    check(narrowed_rows, matrix + 200, np.zeros((3, 4), dtype))


def with_frits_numpy(m, out):
    for i, j in frit.numpy.ndindex(m.shape):
        out[i, j] = frit.numpy.sqrt(m[i, j]) + frit.numpy.pi
    for row in out:
        row[:] = frit.numpy.maximum(row, 5)


def test_functions_of_frits_numpy_mean_numpys():
    check(with_frits_numpy, MATRIX.copy(), MATRIX * 0, compiled=True)
    given, out = frit.numpy.asarray(MATRIX.copy()), frit.numpy.zeros((6, 7))
    parallel = frit.parallelize(with_frits_numpy)
    parallel(given, out)
    expected = np.maximum(np.sqrt(MATRIX) + np.pi, 5)
    assert np.array_equal(np.asarray(out), expected)
    assert runs_compiled(parallel)


# ---- what stays parallel ------------------------------------------------------------------------


def nested(m, out, x):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            t = m[i, j] * 2
            out[i, j] = t + x
    return i, j, t


@pytest.mark.parametrize(
    ("function", "given", "line"),
    [
        (escape, (NUMBERS / 20, np.zeros(40, int), 50), 1),
        (use_first, (NUMBERS.copy(), np.zeros(40, int)), 1),
        (use_clamp, (NUMBERS.copy(), NUMBERS * 0), 1),
        (index_pairs, (MATRIX.copy(), MATRIX * 0), 1),
        (nested, (MATRIX.copy(), MATRIX * 0, 2.0), 1),
        (nested, (MATRIX.copy(), MATRIX * 0, 2.0), 2),
        (add_rows, (MATRIX.copy(), MATRIX + 1, 3), 1),
        (skip_some, (NUMBERS.copy(), NUMBERS * 0), 1),
    ],
)
def test_a_loop_stays_parallel(function, given, line):
    text = str(frit.explain(check(function, *given, compiled=True)))
    assert "# parallel" in text.splitlines()[line], text


# ---- programs -----------------------------------------------------------------------------------


def life(m, out):
    for i in range(1, m.shape[0] - 1):
        for j in range(1, m.shape[1] - 1):
            neighbours = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di or dj:
                        neighbours += m[i + di, j + dj]
            alive = neighbours == 3 or (m[i, j] == 1 and neighbours == 2)
            out[i, j] = 1 if alive else 0


def curve(x):
    return math.exp(-x * x) if x < 2 else 0.5 / x


def integral(n, low, high):
    h = (high - low) / n
    total = 0.0
    for i in range(n):
        total += curve(low + (i + 0.5) * h)
    return total * h


def bubble(a):
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break


def sieve(flags):
    n = len(flags)
    for p in range(2, n):
        if flags[p]:
            for k in range(p * p, n, p):
                flags[k] = False


def row_totals(m, out):
    for i, row in enumerate(m):
        out[i] = sum(row) / len(row)


def digits(a, out):
    for x in a:
        out[(x // 10) % 10] += 1


@pytest.mark.parametrize(
    ("function", "given", "compiled"),
    [
        (life, (np.arange(63).reshape(7, 9) % 3 % 2, np.zeros((7, 9), int)), True),
        (integral, (100, 0.0, 3.0), True),
        (bubble, (np.sin(NUMBERS),), True),
        (sieve, (np.ones(50, bool),), True),
        (row_totals, (MATRIX.copy(), np.zeros(6)), True),
        (row_totals, (MATRIX.astype("?"), np.zeros(6)), None),
        (row_totals, (MATRIX[:, :0], np.zeros(6)), None),  # ZeroDivisionError
        (digits, (np.arange(40), np.zeros(10, int)), True),
    ],
)
def test_programs_run_compiled(function, given, compiled):
    check(function, *given, compiled=compiled)


# ---- large integers -----------------------------------------------------------------------------


def sum_of_arguments(a, n, m):
    s = 0
    for i in range(len(a)):
        s = n + m + i
    return s


def fourfold(a, n):
    s = 0
    for i in range(len(a)):
        s = 4 * n - i
    return s


def numbered_far(a, n):
    s = 0
    for i, _ in enumerate(a, n):
        s = i + n
    return s


@pytest.mark.parametrize("n", [3, 2**39, 2**41, 2**61, 2**62 - 1, -(2**62)])
def test_large_arguments_do_not_wrap(n):
    check(sum_of_arguments, np.zeros(5), n, n)
    check(fourfold, np.zeros(5), n)
    check(numbered_far, np.zeros(5), n)
    check(sum_of_arguments, np.broadcast_to(np.zeros(1), (5,)), n, -n)


def sums_of_rows(m, c, out):
    for i in range(len(m)):
        out[i, 0] = m[i].sum()
        out[i, 1] = ((m[i] - c) ** 2).sum()
        out[i, 2] = np.mean(m[i])
        out[i, 3] = m[i, 1:].mean()


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("n", [2, 7, 8, 9, 15, 16, 17, 40, 127, 128])
def test_sums_of_short_rows_have_numpys_bits(n, dtype):
    numbers = np.random.default_rng(n)
    m, c = numbers.random((64, n)).astype(dtype), numbers.random(n).astype(dtype)
    for given in (m, m[::2], np.asfortranarray(m), m[:, ::-1]):
        expected, got = np.zeros((64, 4), dtype), np.zeros((64, 4), dtype)
        parallel = frit.parallelize(sums_of_rows)
        for _ in range(3):  # by both tiers
            parallel(given, c, got)
        sums_of_rows(given, c, expected)
        assert np.array_equal(expected, got)
        assert runs_compiled(parallel), frit.explain(parallel)


def nearest(points, centres, labels, distances):
    for i in range(len(points)):
        best = math.inf
        for k in range(len(centres)):
            d = points[i] - centres[k]
            distance = (d * d).sum()
            if distance < best:
                best = distance
                labels[i] = k
        distances[i] = best


def kept_row_of_what_is_written(m):
    for i in range(1, len(m)):
        d = m[i] - m[i - 1]
        m[i] = 0
        m[i] += d


def kept_row_changed(m, out):
    for i in range(len(m)):
        d = m[i] * 2
        d += 1
        out[i] = d


@pytest.mark.parametrize(
    ("function", "given", "compiled"),
    [
        (nearest, (MATRIX, MATRIX[::2] + 0.3, np.zeros(6, int), np.zeros(6)), True),
        (nearest, (MATRIX, MATRIX[:, :3], np.zeros(6, int), np.zeros(6)), None),  # ValueError
        (kept_row_of_what_is_written, (MATRIX.copy(),), True),
        (kept_row_of_what_is_written, (np.ones((9, 40)),), False),  # many elements
        (kept_row_changed, (MATRIX.copy(), MATRIX * 0), True),
    ],
)
def test_rows_that_variables_stand_for(function, given, compiled):
    check(function, *given, compiled=compiled)


# ---- more programs ------------------------------------------------------------------------------


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def use_fib(a):
    for i in range(len(a)):
        a[i] = fib(3)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def use_even(a):
    for i in range(len(a)):
        a[i] = even(3)


def g1(x, k):
    for _ in range(k):
        if x > 10:
            break
        x = x * 2
    else:
        x = -x
    return x


def use_g1(a, b):
    for i in range(len(a)):
        b[i] = g1(a[i], 3) + g1(b[i], i)


def swap(a, i, j):
    a[i], a[j] = a[j], a[i]


def rev(a):
    n = len(a)
    for i in range(n // 2):
        swap(a, i, n - 1 - i)


def norm(v):
    s = 0.0
    for x in v:
        s += x * x
    return math.sqrt(s)


def norms(m, out):
    for i, row in enumerate(m):
        out[i] = norm(row)


def apply2(f, x):
    return f(f(x))


def sq(x):
    return x * x


def use_apply(a):
    for i in range(len(a)):
        a[i] = apply2(sq, a[i])


def minmax(v):
    lo = v[0]
    hi = v[0]
    for x in v:
        if x < lo:
            lo = x
        elif x > hi:
            hi = x
    return lo, hi


def use_minmax(m, out):
    for i in range(len(m)):
        out[i, 0], out[i, 1] = minmax(m[i])


def gen_lambda(a):
    for i in range(len(a)):
        a[i] = LAM(a[i], y=2)


LAM = lambda x, y=3: x * y if x > 5 else y  # noqa: E731


def early_none(a, i):
    if a[i] < 0:
        return
    a[i] += 1


def use_early_none(a):
    for i in range(len(a)):
        early_none(a, i)


def binsearch(a, x):
    lo = 0
    hi = len(a) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if a[mid] == x:
            return mid
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1


def use_bin(a, q, out):
    for i in range(len(q)):
        out[i] = binsearch(a, q[i])


def collatz(out):
    for i in range(1, len(out)):
        n = i
        c = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            c += 1
        out[i] = c


def cumulative(m):
    for row in m:
        for j in range(1, len(row)):
            row[j] += row[j - 1]


def transpose(m, t):
    for i, row in enumerate(m):
        for j, x in enumerate(row):
            t[j, i] = x


def outer(a, b, m):
    for i, x in enumerate(a):
        m[i] = x * b


def matvec(m, v, out):
    for i in range(len(m)):
        out[i] = (m[i] * v).sum()


def gauss(a, b):
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            b[i] -= f * b[k]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - (a[i, i + 1 :] * b[i + 1 :]).sum()) / a[i, i]


def gcds(a, b, out):
    for i in range(len(a)):
        x = int(a[i])
        y = int(b[i])
        while y:
            x, y = y, x % y
        out[i] = x


def powers_of_three(out, steps):
    for i in range(len(out)):
        n = i + 1
        k = 0
        while k < steps:
            n = n * 3
            k += 1
        out[i] = n % 1000


def until_it_fails(a, out):
    for i in range(len(a)):
        k = 1
        while k != 0:
            k = k + out[k * 3] + 1
        a[i] = k


@pytest.mark.parametrize(
    ("function", "given", "compiled"),
    [
        (use_fib, (NUMBERS.copy(),), False),
        (use_even, (NUMBERS.copy(),), False),
        (use_g1, (NUMBERS.copy(), NUMBERS.copy()), True),
        (rev, (NUMBERS.copy(),), True),
        (norms, (MATRIX.copy(), np.zeros(6)), True),
        (use_apply, (NUMBERS.copy(),), True),
        (use_minmax, (MATRIX.copy(), np.zeros((6, 2))), True),
        (gen_lambda, (NUMBERS.copy(),), True),
        (use_early_none, (NUMBERS - 9,), True),
        (use_bin, (NUMBERS.copy(), NUMBERS * 2, np.zeros(40, int)), True),
        (use_bin, (NUMBERS[:0], NUMBERS * 2, np.zeros(40, int)), None),
        (collatz, (np.zeros(40, int),), True),
        (cumulative, (MATRIX.copy(),), True),
        (transpose, (MATRIX.copy(), np.zeros((7, 6))), True),
        (outer, (NUMBERS[:6], NUMBERS[:7], MATRIX.copy()), True),
        (matvec, (MATRIX.copy(), NUMBERS[:7], np.zeros(6)), True),
        (gauss, (np.cos(np.arange(36.0)).reshape(6, 6) + 9 * np.eye(6), NUMBERS[:6].copy()), True),
        (gcds, (np.arange(40), np.arange(40)[::-1] * 6, np.zeros(40, int)), True),
        (gcds, (-np.arange(40), np.arange(40)[::-1] * 6, np.zeros(40, int)), True),
        (gcds, (np.arange(40), -np.arange(40)[::-1] * 6, np.zeros(40, int)), None),
        (powers_of_three, (np.zeros(40, int), 30), True),
        (powers_of_three, (np.zeros(40, int), 100), None),  # beyond 64 bits
        (until_it_fails, (NUMBERS.copy(), np.ones(9, int)), None),  # IndexError
    ],
)
def test_more_programs(function, given, compiled):
    check(function, *given, compiled=compiled)


def test_many_variables_settle():
    names = [f"s{k}" for k in range(40)]
    lines = ["def many(a):", *(f"    {n} = 0" for n in names), "    for i in range(len(a)):"]
    lines += [f"        {n} += a[i] * {k}" for k, n in enumerate(names)]
    lines += ["    return " + " + ".join(names)]
    text = "\n".join(lines) + "\n"
    check(function_of(text, "<many>"), NUMBERS.copy(), compiled=True)


def even_and_odd(m, out):
    for i in range(len(m)):
        out[i, ::2] = m[i, ::2] * 2
        out[i, 1::2] -= m[i, 1::2]


def turned(m, out):
    for i in range(len(m)):
        out[i, ::-1] = m[i, :]
        m[i, 5:0:-2] *= out[i, 1:6:2]


def elements_of_slices(m, out):
    for i, row in enumerate(m[::2]):
        for j, x in enumerate(row[-2::-3]):
            out[i, j] = x + row[1::2][1] - row[::-1][0]


def parts_of_parts(m, out):
    for i in range(len(m)):
        out[i, :2] = m[i, 1::2][::-1][:2]
        out[i, 2] = m[i, ::3].sum() + m[i, ::-1][1:4].max() + len(m[i, 1:6:2])


def red_and_black(m):
    for i in range(1, len(m) - 1):
        m[i, 1:-1:2] = m[i, 0:-2:2] + m[i, 2::2]


def up_to(m, out, n):
    for i in range(len(m)):
        out[i, :n:2] = m[i, :n:2]


def slid(m):
    for i in range(len(m)):
        m[i, 2::2] = m[i, :-2:2]


def steps_of(m, s):
    for i in range(len(m)):
        m[i, ::s] = 0


@pytest.mark.parametrize(
    "function", [even_and_odd, turned, elements_of_slices, parts_of_parts, red_and_black, slid]
)
@pytest.mark.parametrize("view", [lambda m: m, lambda m: m[:, ::-1], lambda m: m[::2]])
def test_slices_with_steps(function, view):
    given = [view(MATRIX.copy()), view(MATRIX + 0.5)]
    check(function, *given[: function.__code__.co_argcount], compiled=True)


@pytest.mark.parametrize("n", range(9))
def test_slices_with_steps_up_to_a_number(n):
    # Python cuts a slice that is longer than the array.
    check(up_to, MATRIX.copy(), MATRIX * 0, n, compiled=n <= 7)


@pytest.mark.parametrize("columns", range(5))
def test_slices_with_steps_of_few_elements(columns):
    check(even_and_odd, np.ones((3, columns)), np.ones((3, columns)), compiled=columns > 0)
    check(turned, np.ones((3, columns)), np.ones((3, columns)))
    check(elements_of_slices, np.ones((3, columns)), np.zeros((3, 5)))


def test_slices_with_steps_that_stay_python():
    check(steps_of, MATRIX.copy(), 2, compiled=False)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        frit.parallelize(by_nothing)(MATRIX.copy())


def by_nothing(m):
    for i in range(len(m)):
        m[i, ::0] = 1


def same_slices_of_one_array(m, n):
    for i in range(len(m)):
        m[i, :n:2] = m[i, :n:2] * 2 + m[i, 1:n:2]


@pytest.mark.parametrize("n", [0, 1, 2, 4, 6, 7])
def test_slices_of_one_array_that_never_meet(n):
    check(same_slices_of_one_array, MATRIX.copy(), n)


def checksum(data, poly, out):
    crc = 0xFFFF
    for b in data:
        byte = 0xFF & b
        for _ in range(8):
            if (crc & 1) ^ (byte & 1):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            byte >>= 1
    out[0] = crc


def mixed_bits(a, out, x):
    for i in range(len(a)):
        x = (x ^ i) | (x & 7)
        x = x - (x & -4) // 2
        out[i] = (x & 255) + (x & i)


@pytest.mark.parametrize("poly", [0x8408, 0, -5, 2**35])
def test_bits_of_integers_that_only_the_loop_knows(poly):
    data = np.random.default_rng(3).integers(0, 256, 400).astype(np.uint8)
    check(checksum, data, poly, np.zeros(1, np.int64), compiled=True)


@pytest.mark.parametrize("x", [2**62 - 1, -(2**62), 2**61, -1, 2**62, 2**80])
def test_bits_at_the_limits(x):
    check(mixed_bits, np.zeros(50), np.zeros(50, np.int64), x)
    for poly in (x, -x - 1):
        check(checksum, np.arange(99, dtype=np.uint8), poly, np.zeros(1, np.int64))


@pytest.mark.parametrize("x", [0, 5, -9, 2**20 + 3, -(2**33)])
def test_bits_of_negative_integers(x):
    check(mixed_bits, np.zeros(50), np.zeros(50, np.int64), x)


def marks(a, out, least):
    for i in range(len(a)):
        if a[i] < least:
            out[i] = -2
        else:
            out[i] = i


@pytest.mark.parametrize("least", [-1.0, 0.5])
def test_a_constant_that_does_not_fit_its_element(least):
    """NumPy raises where it is stored, and nowhere else."""
    check(marks, np.linspace(0, 1, 9), np.zeros(9, np.uint8), least, compiled=False)
    called = frit.parallelize(marks)
    called(np.ones(9), np.zeros(9, np.uint8), least)
    reasons = [r.reason for site in called.__frit__.sites for r in site.refused.values()]
    assert reasons == ["-2 does not fit its element"]


def no_numbers(a, out):
    for i in range(len(a)):
        if a[i] > 2:
            out[i] = math.inf
        elif a[i] > 1:
            out[i] = math.nan


def test_constants_that_no_integer_holds():
    check(no_numbers, np.linspace(0, 3, 9), np.zeros(9), compiled=True)
    check(no_numbers, np.linspace(0, 1, 9), np.zeros(9, np.int32), compiled=False)
    called = frit.parallelize(no_numbers)
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        called(np.linspace(0, 3, 9), np.zeros(9, np.int32))
    reasons = [r.reason for site in called.__frit__.sites for r in site.refused.values()]
    assert reasons == ["inf does not fit its element"]


def truncated(a, out):
    for i in range(len(a)):
        out[i] = math.trunc(a[i]) + math.trunc(i + 0.5)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
def test_numbers_that_trunc_does_not_know(dtype):
    """NumPy's other numbers have no __trunc__, which floor() and ceil() do without."""
    check(truncated, np.zeros(9, dtype), np.zeros(9), compiled=dtype == "f8")


def few_numbers(a, b, k):
    n = 0
    for i in range(a.shape[0]):
        is_one = i % 5 in {0, 3}
        n += is_one
        if a[i] in (2, k):
            b[i] = 1
        elif a[i] not in [3, 4]:
            b[i] = 2
        else:
            b[i] = 3 + is_one
    return n


@pytest.mark.parametrize("dtype", "b h l B f d ? D".split())
@pytest.mark.parametrize("k", [5, 1, True])
def test_an_element_is_one_of_a_few_numbers(dtype, k):
    check(few_numbers, np.arange(14).astype(dtype), np.zeros(14), k, compiled=True)


def one_of_itself(a, b, x):
    for i in range(a.shape[0]):
        b[i] = x in (x, 2)


def test_a_nan_is_one_of_itself():
    check(one_of_itself, np.ones(5), np.zeros(5), math.nan, compiled=False)


def one_of_what_is_computed(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] in (1, a[99])


def test_what_is_not_asked_for_raises_no_error():
    check(one_of_what_is_computed, np.ones(5), np.zeros(5), compiled=False)


def emptied(a):
    rounds = 0
    while rounds < 20:
        for j in range(len(a)):
            if a[j] <= 0:
                break
            a[j] -= 1
        else:
            rounds += 1
            if rounds % 3:
                continue
            for j in range(len(a)):  # noqa: B007
                if a[j] < 2:
                    break
            else:
                continue
        break
    return rounds, j


@pytest.mark.parametrize("least", [0, 2, 5, 50])
def test_an_else_may_leave_the_loop_around_it(least):
    check(emptied, np.arange(9.0) + least, compiled=False)
    called = frit.parallelize(emptied)
    called(np.arange(9.0))
    reasons = {why for _, _, why in called.__frit__.refused}
    assert reasons == {"a statement that leaves a loop around it"}


def escape_time(c, most):
    z = n = 0.0
    while True:
        if abs(z) > 2 or n > most:
            return n
        z = z * z + c
        n += 1


def first_at_least(x, value):
    for k in range(len(x)):
        if x[k] >= value:
            return float(k)
    else:
        return -1.0


def down(value):
    if value > 0:
        while 1:
            value -= 1.0
            if value < 0:
                return value
    else:
        return 0.0


def calls_what_ends_in_loops(x, out):
    for i in range(len(x)):
        out[i] = escape_time(x[i], 50) + down(x[i])
        out[i] *= first_at_least(x, x[i] * 0.5)


def test_functions_whose_last_loop_always_returns():
    ours = frit.parallelize(calls_what_ends_in_loops)
    for x in (np.linspace(-2, 2, 41), np.linspace(5, 2, 7), np.zeros(0)):
        expected, got = np.zeros(len(x)), np.zeros(len(x))
        calls_what_ends_in_loops(x, expected)
        ours(x, got)
        assert np.array_equal(expected, got)
    (site,) = ours.__frit__.sites
    assert site.calls >= 2
    assert "a loop of the function may end early" in str(frit.explain(ours))


def distances(x, out):
    for i in range(len(x)):
        t = 0
        for j in range(len(x)):
            t += pow(x[i] - x[j], 2)
        out[i] = t if i < 3 else pow(x[i], 0.5) + pow(2, i % 5)


def test_pow_is_the_operator():
    ours = frit.parallelize(distances)
    x = np.arange(9.0)
    expected, got = np.zeros(9), np.zeros(9)
    distances(x, expected)
    ours(x, got)
    assert np.array_equal(expected, got)
    (site,) = ours.__frit__.sites
    assert site.calls == 1
