"""test_bounds.py: an index is asked to be inside where it is reached: triangles, conditions."""

from __future__ import annotations

import copy
import math
import os
import random
import warnings

import numpy as np
import pytest

import frit

from .fuzz import Program as LoopProgram
from .fuzz import outcome, same_outcome
from .test_loops import check, runs_compiled
from .written import function_of

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "500")) // 5
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))


def nussinov(seq, t):
    n = len(seq)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                t[i, j] = max(t[i, j], t[i, j - 1])
            if i + 1 < n:
                t[i, j] = max(t[i, j], t[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    t[i, j] = max(t[i, j], t[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0))
                else:
                    t[i, j] = max(t[i, j], t[i + 1, j - 1])
            for k in range(i + 1, j):
                t[i, j] = max(t[i, j], t[i, k] + t[k + 1, j])


def differences(a, out):
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            out[i, j] = a[i + 1, j] - a[i, j - 1]


def three_deep(a, out):
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                out[i, k] += a[i + 2, j] * a[j + 1, k - 2]


def below_the_diagonal(a, out):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            row = i - 1
            out[row, j] = a[row, j + 1] - a[i, j]


def stencil_with_edges(a, out):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            s = a[i, j]
            if i > 0:
                s += a[i - 1, j]
            if i < n - 1:
                s += a[i + 1, j]
            if j != 0:
                s += a[i, j - 1]
            if j + 1 < a.shape[1]:
                s += a[i, j + 1]
            out[i, j] = s


def skipped_edges(a, out):
    n = len(a)
    for i in range(n):
        if i == 0 or i == n - 1:
            continue
        for j in range(a.shape[1]):
            out[i, j] = a[i - 1, j] - a[i + 1, j]


def sums_of_two_indices(a, out):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            if i + j < n:
                out[i, j] = a[i + j, 0]
            elif 2 * j < n:
                out[i, j] = a[2 * j, i]


def every_other_round(a, out):
    n = a.shape[0]
    for i in range(0, n, 2):
        for j in range(n - 1, i, -2):
            out[i, j] = a[i + 1, j - 1]


def periodic(a, out):
    n, m = a.shape
    for i in range(n):
        above = i - 1 if i > 0 else n - 1
        below = i + 1 if i < n - 1 else 0
        for j in range(m):
            if j == 0:
                left = m - 1
            else:
                left = j - 1
            out[i, j] = a[above, j] + a[below, j] - a[i, left]


def distances(a, out):
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            s = 0.0
            for k in range(a.shape[1]):
                s += (a[i, k] - a[j, k]) ** 2
            out[i, j] = s**0.5
            out[j, i] = out[i, j]


NESTS = [
    differences,
    three_deep,
    below_the_diagonal,
    stencil_with_edges,
    skipped_edges,
    sums_of_two_indices,
    every_other_round,
    periodic,
    distances,
]


def compare(function, parallel, given):
    expected, got = copy.deepcopy(given), copy.deepcopy(given)
    raised = []
    for call, arguments in ((function, expected), (parallel, got)):
        try:
            call(*arguments)
            raised.append(None)
        except IndexError as error:
            raised.append(str(error))
    assert raised[0] == raised[1]
    for x, y in zip(expected, got, strict=True):
        if x.dtype.kind == "f":
            np.testing.assert_array_max_ulp(x, y, 1)  # a power
        else:
            np.testing.assert_array_equal(x, y)
    return raised[0]


@pytest.mark.parametrize("function", NESTS)
@pytest.mark.parametrize("n", [3, 8, 35])
def test_an_index_counts_where_it_is_reached(function, n):
    numbers = np.random.default_rng(n)
    parallel = frit.parallelize(function)
    given = [numbers.integers(0, 9, (n, n)).astype(float), np.zeros((n, n))]
    assert compare(function, parallel, given) is None
    assert runs_compiled(parallel), frit.explain(parallel)


def test_nussinovs_table_is_one_nest():
    parallel = frit.parallelize(nussinov)
    seq = np.random.default_rng(1).integers(0, 4, 40)
    compare(nussinov, parallel, [seq, np.zeros((40, 40), int)])
    assert runs_compiled(parallel), frit.explain(parallel)


@pytest.mark.parametrize("function", NESTS)
@pytest.mark.parametrize("rows", [5, 6, 7])
@pytest.mark.parametrize("columns", [5, 6, 7])
def test_what_is_outside_raises_where_python_does(function, rows, columns):
    parallel = frit.parallelize(function)
    a = np.arange(49.0).reshape(7, 7) ** 2
    compare(function, parallel, [a, np.zeros((7, 7))])
    for given in ([a, np.zeros((rows, columns))], [a[:, :columns].copy(), np.zeros((7, 7))]):
        raised = compare(function, parallel, given)
        is_whole = given[0].shape == given[1].shape == (7, 7)
        assert (raised is None) or not is_whole


class Program:
    """A function f(a, b, c, n, m, w): loops whose bounds and conditions name others' indices."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["def f(a, b, c, n, m, w):", "    s = 0", "    t = 0"]
        self.open: list[str] = []
        for _ in range(self.pick(1, 1, 2)):
            self.loop(1)
        self.lines.append("    return s, t")
        self.source = "\n".join(self.lines) + "\n"
        name = f"<bounds {seed}>"
        self.function = function_of(self.source, name)

    def pick(self, *choices: str | int) -> str | int:
        return self.random.choice(choices)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def moved(self) -> str:
        return f"{self.pick(*self.open)} {self.pick('+', '-')} {self.pick(0, 0, 1, 1, 2)}"

    def begin(self) -> str:
        return self.moved() if self.open and self.chance(0.6) else str(self.pick(0, 0, 1, 2))

    def end(self) -> str:
        sizes = ["n", "m", "n - 1", "m - 1", "n + 1", "a.shape[0]", "len(c)", "b.shape[1] - 1"]
        if self.open and self.chance(0.4):
            return self.pick(self.moved(), f"n - {self.pick(*self.open)} - 1")
        limit = self.pick(*sizes)
        return f"min(w, {limit})" if self.chance(0.1) else limit

    def index(self) -> str:
        if not self.open or self.chance(0.1):
            return self.pick("0", "n - 1", "m - 1", "-1", "w")
        x, y = self.pick(*self.open), self.pick(*self.open)
        if self.chance(0.7):
            return self.moved()
        return self.pick(f"{x} + {y}", f"{x} - {y} - 1", f"n - {x} - 1", f"2 * {x}", f"{x} // 2")

    def element(self) -> str:
        one = f"{self.pick('a', 'c')}[{self.index()}]"
        return self.pick(one, f"b[{self.index()}, {self.index()}]")

    def comparison(self) -> str:
        x, y = self.pick(*self.open), self.pick(*self.open)
        left = self.pick(x, x, f"{x} + 1", f"{x} - 1", f"{x} + {y}", f"2 * {x}")
        sizes = ["0", "1", "n", "n - 1", "m - 1", "w", "a.shape[0]", "len(c)", "b.shape[0] - 1"]
        right = self.pick(*sizes, y, f"{y} + 1")
        text = f"{left} {self.pick('<', '<=', '>', '>=', '==', '!=')} {right}"
        return self.pick(text, text, text, f"not {text}", f"0 < {x} < {right}")

    def condition(self) -> str:
        word = self.pick("", "", "", "and", "or")
        return f"{self.comparison()} {word} {self.comparison()}" if word else self.comparison()

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def loop(self, depth: int) -> None:
        name, step = "ijkl"[len(self.open)], self.pick("", "", "", ", 2", ", -1")
        begin, end = self.begin(), self.end()
        if step == ", -1":
            begin, end = end, self.pick("-1", "0", *self.open)
        self.line(depth, f"for {name} in range({begin}, {end}{step}):")
        self.open.append(name)
        for _ in range(self.pick(1, 1, 2)):
            self.statement(depth + 1)
        self.open.pop()

    def statement(self, depth: int) -> None:
        if self.chance(0.35) and len(self.open) < 3:
            return self.loop(depth)
        if self.chance(0.35):
            self.line(depth, f"if {self.condition()}:")
            if self.chance(0.15):
                return self.line(depth + 1, "continue")
            self.statement(depth + 1)
            if self.chance(0.4):
                self.line(depth, "else:")
                self.statement(depth + 1)
            return None
        if self.chance(0.15):
            return self.line(depth, f"s += {self.element()} if {self.condition()} else 1")
        if self.chance(0.15):
            return self.line(depth, f"if {self.comparison()} and {self.element()} > 1: t += 1")
        if self.chance(0.15):
            other = self.pick("0", "n - 1", self.moved())
            self.line(depth, f"q = {self.moved()} if {self.condition()} else {other}")
            return self.line(depth, f"s += {self.pick('a', 'c')}[q]")
        target = self.pick(self.element(), "s", "t")
        return self.line(depth, f"{target} {self.pick('=', '+=')} {self.element()} + 1")

    def arguments(self, numbers: np.random.Generator) -> dict[str, object]:
        n, m = (int(numbers.integers(0, 9)) for _ in range(2))
        m = n if numbers.random() < 0.3 else m
        more = int(numbers.choice([0, 0, 0, 8]))
        sizes = [max(0, x + more + int(numbers.choice([0, 0, 1, -1]))) for x in (n, n, m, m)]
        return {
            "a": numbers.integers(0, 9, sizes[0]),
            "b": numbers.integers(0, 9, (sizes[1], sizes[2])),
            "c": numbers.integers(0, 9, sizes[3]),
            "n": n,
            "m": m,
            "w": int(numbers.integers(-1, 6)),
        }


def test_random_bounds_and_conditions_do_what_python_does():
    compiled = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        program, numbers = Program(seed), np.random.default_rng(seed)
        parallel = frit.parallelize(program.function)
        for call in range(6):
            arguments = program.arguments(numbers)
            expected = outcome(program.function, arguments)
            got = outcome(parallel, arguments)
            assert same_outcome(expected, got), (
                f"seed {seed}, call {call}\n{program.source}\n{arguments}\n"
                f"Python: {expected}\nFrit: {got}"
            )
        compiled += any(site.calls for site in parallel.__frit__.sites)
    assert compiled > PROGRAMS / 2


def enlarged(a, out):
    n, m = a.shape[0], out.shape[0]
    for i in range(m):
        for j in range(m):
            y, x = i * (n - 1) / (m - 1), j * (n - 1) / (m - 1)
            top, left = int(y), int(x)
            below, right = min(top + 1, n - 1), min(left + 1, n - 1)
            v, u = y - top, x - left
            out[i, j] = a[top, left] * (1 - v) * (1 - u) + a[top, right] * (1 - v) * u
            out[i, j] += a[below, left] * v * (1 - u) + a[below, right] * v * u


def computed(a, out):
    n = len(a)
    for i in range(len(out)):
        k = int(out[i])
        near = a[min(k, n - 1)] + a[k // 2] * a[-k if k > 0 else k]
        out[i] = near - a[max(k, -n)] + a[max(min(k, n - 1), 0)] + a[k % n]


def test_indices_that_are_made_of_computed_ones():
    rng = np.random.default_rng(9)
    a = rng.standard_normal((9, 9))
    for size in (2, 9, 30):
        ours = frit.parallelize(enlarged)
        expected, got = np.zeros((2, size, size))
        enlarged(a, expected)
        ours(a, got)
        assert np.array_equal(expected, got)
        assert runs_compiled(ours), frit.explain(ours)
    a = rng.standard_normal(9)
    for low, high, compiled in [
        (0, 8.9, True),
        (-8.9, 8.9, True),
        (0, 9.5, False),
        (-10.6, 3, False),
    ]:
        out = rng.uniform(low, high, 200)
        out[7] = low if abs(low) > abs(high) else high
        ours = frit.parallelize(computed)
        given = [{"a": a.copy(), "out": out.copy()} for _ in range(2)]
        assert same_outcome(outcome(computed, given[0]), outcome(ours, given[1]))
        assert runs_compiled(ours) == compiled


def around(a, index, n, out):
    for k in range(len(index)):
        i = index[k]
        out[k] = a[(i + 1) % n] - a[(i - 1) % n] + a[i // n]


@pytest.mark.parametrize("n", [7, 3, 1, 0, -1, -3, np.int64(7), np.int32(5), np.int64(0), True])
@pytest.mark.parametrize("dtype", ["i8", "i4", "u1", "i1"])
def test_an_index_of_numpys_may_go_around_a_variable_length(n, dtype):
    results = []
    parallel = frit.parallelize(around)
    for function in (around, parallel):
        out = np.zeros(8)
        with np.errstate(all="ignore"):
            try:
                function(np.arange(7.0), np.array([0, 3, 6, 5, 1, 1, 2, 4], dtype), n, out)
            except Exception as error:
                results.append((repr(error), out.tolist()))
            else:
                results.append(out.tolist())
    assert results[0] == results[1]
    if type(n) is int and n == 7 and dtype == "i8":
        assert runs_compiled(parallel)


def test_bounds_that_follow_from_one_another_come_to_an_end():
    """The integers of its whiles are bounded by one another in more ways than can be gone."""
    program = LoopProgram(6331)
    for call in range(2):
        arguments = program.arguments(call)
        expected = outcome(program.function(), arguments)
        got = outcome(frit.parallelize(program.function()), arguments)
        assert same_outcome(expected, got)


def first_of_rows(data, indices, pointers, x):
    for j in range(len(pointers) - 1):
        x[j] += data[pointers[j]]


def divided_rows(data, indices, pointers, x):
    for i in range(len(pointers) - 1):
        total = 0.0
        for q in range(pointers[i], pointers[i + 1]):
            total += data[q] * indices[q]
        x[i] = total / data[pointers[i]]


def solved_backwards(data, indices, pointers, x):
    n = len(x)
    for j in range(n - 1, -1, -1):
        x[j] /= data[pointers[j]]
        t = x[j]
        for i in range(pointers[j] + 1, pointers[j + 1]):
            x[indices[i]] -= data[i] * t


def some_of_rows(data, indices, pointers, x):
    for i in range(2, len(pointers) - 3, 2):
        x[i] += data[pointers[i + 1]] - data[pointers[i - 2] + 1]


@pytest.mark.parametrize("function", [first_of_rows, divided_rows, solved_backwards, some_of_rows])
def test_indices_that_no_round_reads_may_be_anything(function):
    """The last pointer of a sparse matrix is one past the data."""
    rng = np.random.default_rng(0)
    compiled = frit.parallelize(function)
    pointers = np.arange(0, 5 * 40 + 1, 5)
    wrong = pointers.copy()
    wrong[7] = 5 * 40
    far = pointers.copy()
    far[7], far[-1] = 5 * 40 + 3, 10**12
    negative = pointers - 3
    calls = [pointers, pointers, wrong, pointers, far, negative, pointers[:1], pointers[:2]]
    ran = []
    for given in [*calls, pointers.astype("i4"), pointers[::-1].copy(), pointers]:
        data, indices = rng.random(200) + 1, rng.integers(0, 40, 200)
        outcomes = []
        for run in (function, compiled):
            x = np.ones(max(len(given) - 1, 0))
            try:
                run(data, indices, given, x)
                error = None
            except Exception as raised:
                error = type(raised), str(raised)
            outcomes.append((error, x.tobytes()))
        assert outcomes[0] == outcomes[1]
        ran.append(str(frit.explain(compiled)))
    assert "an error is possible" not in ran[1] and "Python" not in ran[1]


def neighbours(dem, rows, columns, out):
    m, n = dem.shape
    for i in range(m):
        for j in range(n):
            for k in range(len(rows)):
                ii = i + rows[k]
                jj = j + columns[k]
                if ii < 0 or jj < 0 or ii >= m or jj >= n:
                    continue
                out[i, j] += dem[ii, jj] * (k + 1)


def neighbours_within(dem, rows, columns, out):
    m, n = dem.shape
    for i in range(m):
        for j in range(n):
            for k in range(len(rows)):
                ii, jj = i + rows[k] * 2 - 1, j - columns[k]
                if 0 <= ii < m and 0 <= jj < n and ii != jj:
                    out[i, j] += dem[ii, jj] + ii


def neighbours_below(dem, rows, columns, out):
    m, n = dem.shape
    for i in range(m):
        for k in range(len(rows)):
            ii = i + rows[k]
            if ii < m:
                out[i, 0] += dem[ii, columns[k]]


@pytest.mark.parametrize("function", [neighbours, neighbours_within, neighbours_below])
@pytest.mark.parametrize("kind", ["l", "i", "h", "b", "B"])
def test_conditions_bound_indices_of_numpys_integers(function, kind):
    compiled = frit.parallelize(function)
    rng = np.random.default_rng(1)
    for m, n, most in [(9, 12, 1), (9, 12, 1), (130, 140, 100), (3, 3, 120), (9, 12, 2), (0, 4, 1)]:
        dem = rng.random((m, n))
        offsets = rng.integers(0 if kind == "B" else -most, most + 1, (2, 8)).astype(kind)
        outcomes = []
        for run in (function, compiled):
            out = np.zeros((m, n))
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    run(dem, offsets[0], offsets[1], out)
                    error = None
                except Exception as raised:
                    error = type(raised), str(raised)
            outcomes.append((error, out.tobytes()))
        assert outcomes[0] == outcomes[1], f"{m} {n} {most}"
    if function is not neighbours_below and kind in "li":
        assert "# parallel" in str(frit.explain(compiled))


def chosen_by_a_flag(a, out):
    for x in range(1, a.shape[0]):
        for y in range(2, a.shape[1] - 2):
            up = (x + y) % 2 == 0
            down = 1 - up
            out[x, y] = sum(a[x - 1, (y - 1) * up + down * (y - 2) : (y + 2) * up + down * (y + 3)])
            out[x, y] += a[x, up * (y + 2) + (1 - up) * (y - 2)]


def chosen_too_far(a, out):
    for y in range(2, a.shape[1] - 2):
        up = y % 2 == 0
        out[0, y] = a[0, up * (y + 3) + (1 - up) * (y + 1)]


def products_that_differ(a, out):
    for x in range(3):
        for y in range(3):
            out[x, y] = a[0, (x + 1) * (y + 2) - (x + 2) * (y + 1) + 2]


@pytest.mark.parametrize(
    ("function", "compiled"),
    [(chosen_by_a_flag, True), (products_that_differ, True), (chosen_too_far, False)],
)
def test_products_that_cancel_out_bound_an_index(function, compiled):
    a = np.random.default_rng(1).integers(0, 9, (6, 11)).astype(float)
    check(function, a, np.zeros((6, 11)), compiled=compiled)
    check(function, a[:, :6], np.zeros((6, 11)))


def shifted_sums(row, i, j, k, out):
    for m in range(2):
        n = 0
        while n < 3:
            out[n] += row[i + j - k] + row[i - (j - n)] * m
            n += 1


@pytest.mark.usefixtures("tier")
def test_the_parts_of_an_index_may_be_larger_than_it():
    row, large = np.arange(40.0), 2**62 - 1
    check(shifted_sums, row, 7, 3, 5, np.zeros(3), compiled=True)
    for given in (
        (large, -large, -5),  # a sum of three that is an index
        (large, large, large),
        (-large, -large, large),
        (-large, 7 - large, -3),  # below -2^63, and 4 once it has wrapped
        (large, large, -4),
        (5, 3, 50),
        (5, 3, -38),
    ):
        check(shifted_sums, row, *given, np.zeros(3))


def searches_in_searches(rows, starts, limit, out):
    steps = 0
    k = 0
    while k < len(starts):
        place = starts[k]
        for j in range(3):
            while rows[j, place] < limit:
                steps += 1
                out[k] += rows[j, place]
                place = place + 2
            place -= 1
        k += 1
    return steps


@pytest.mark.usefixtures("tier")
def test_an_error_in_an_inner_while_is_pythons():
    """Each ends where it fails, the outer ones too, and arrays are as Python leaves them."""
    rows = np.tile(np.arange(50.0), (3, 1))
    check(searches_in_searches, rows, np.arange(9), 30.0, np.zeros(9), compiled=True)
    for limit in (49.0, 60.0, math.inf):
        check(searches_in_searches, rows, np.arange(9), limit, np.zeros(9))
    for starts in ([0, 3, 51], [0, -50, -51], [7]):
        check(searches_in_searches, rows, np.array(starts), 30.0, np.zeros(len(starts)))
    rows[1, 20:] = np.nan
    check(searches_in_searches, rows, np.arange(9), 30.0, np.zeros(9), compiled=True)


def places_of_cells(points, sizes, counts):
    cell, found = np.zeros(3, np.int32), 0
    for i in range(len(points)):
        is_outside = False
        for j in range(3):
            c = np.floor(points[i, j] / sizes[j])
            if c < 0 or c >= 4:
                is_outside = True
                break
            cell[2 - j] = c
        if is_outside:
            continue
        found += 1
        counts[cell[0], cell[1], cell[2]] += 1
    return found


@pytest.mark.usefixtures("tier")
def test_numbers_that_are_none_are_compared_without_a_failure():
    points = np.random.default_rng(3).normal(1.0, 1.0, (200, 3))
    check(places_of_cells, points, np.full(3, 0.5), np.zeros((4, 4, 4), int), compiled=True)
    points[::9, 1] = np.inf
    check(places_of_cells, points, np.full(3, 0.5), np.zeros((4, 4, 4), int), compiled=True)
    points[::7, 2] = np.nan  # a cell of NaN is an error
    check(places_of_cells, points, np.full(3, 0.5), np.zeros((4, 4, 4), int))
