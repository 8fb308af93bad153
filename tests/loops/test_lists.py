"""test_lists.py: loops over Python's lists and strings do compiled what they do as Python."""

from __future__ import annotations

import copy
import math
import os
import random
import re
import sys
import threading

import numpy as np
import pytest

import frit
from frit.loops.run import place, site, traits
from frit.loops.run.list_runs import MOST_EXACT, Watched

from .fuzz import calls_of
from .fuzz_lists import ListProgram, outcome_with_lists, same_with_lists

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "500"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
numbers = random.Random(7)
# From Python 3.12 on it compensates, and nests that add floats of Python's by it stay Python.
SUM_ADDS_FLOATS = sys.version_info < (3, 12)


def ints(count, most=50):
    return [numbers.randint(1, most) for _ in range(count)]


def floats(count):
    return [numbers.random() for _ in range(count)]


def letters(count):
    return "".join(numbers.choices("acgt", k=count))


def knapsack(weights, values, capacity):
    best = [0] * (capacity + 1)
    for i in range(len(weights)):
        for j in range(capacity, weights[i] - 1, -1):
            best[j] = max(best[j], best[j - weights[i]] + values[i])
    return best


def sieve(n):
    is_prime = [True] * (n + 1)
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            for j in range(i * i, n + 1, i):
                is_prime[j] = False
    found = []
    for i in range(2, n + 1):
        if is_prime[i]:
            found.append(i)
    return is_prime, found


def product(a, b):
    c = [[0] * len(b[0]) for _ in range(len(a))]
    for i in range(len(a)):
        for j in range(len(b[0])):
            for k in range(len(b)):
                c[i][j] += a[i][k] * b[k][j]
    return c


def bubble_sort(a):
    for i in range(len(a)):
        for j in range(len(a) - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]


def insertion_sort(a):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and key < a[j]:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key


def prefix_sums(a):
    sums = [0]
    for x in a:
        sums.append(sums[-1] + x)
    return sums


def euler(n, dt):
    t, y = [0], [1]
    for i in range(n):
        y.append(y[i] + dt * (t[i] - 2 * y[-1]))
        t.append(t[-1] + dt)
    return t, y


def shortest_paths(d):
    for k in range(len(d)):
        for i in range(len(d)):
            for j in range(len(d)):
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]


def life(cells):
    n, m = len(cells), len(cells[0])
    new = [[0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            around = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di != 0 or dj != 0:
                        around += cells[(i + di) % n][(j + dj) % m]
            if around == 3 or (cells[i][j] == 1 and around == 2):
                new[i][j] = 1
    return new


def edit_distance(s, t):
    d = [[0] * (len(t) + 1) for _ in range(len(s) + 1)]
    for i in range(len(s) + 1):
        for j in range(len(t) + 1):
            if i == 0 or j == 0:
                d[i][j] = i + j
            elif s[i - 1] == t[j - 1]:
                d[i][j] = d[i - 1][j - 1]
            else:
                d[i][j] = 1 + min(d[i - 1][j], d[i][j - 1], d[i - 1][j - 1])
    return d


def primes(n):
    found = [2]
    for i in range(3, n):
        is_prime = True
        for p in found:
            if p * p > i:
                break
            if i % p == 0:
                is_prime = False
                break
        if is_prime:
            found.append(i)
    return found


def counts(text):
    a = b = 0
    for letter in text:
        if letter == "a":
            a += ord(letter)
        elif letter in ("c", "g"):
            b += 1
    return a, b


def nearest(points):
    best = 1e9
    for i in range(len(points)):
        x, y = points[i]
        for j in range(i + 1, len(points)):
            u, v = points[j]
            best = min(best, (x - u) ** 2 + (y - v) ** 2)
    return best


def heat(n, steps):
    u = [0.0] * n
    u[n // 2] = 100
    new = list(u)
    for _ in range(steps):
        for i in range(1, n - 1):
            new[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1])
        u[:] = new
    return u


def halves(a):
    found = []
    for i in range(len(a)):
        found.append(a[i] * 0.5)
    return found


TEXTBOOK = [
    (knapsack, (ints(20), ints(20), 300)),
    (knapsack, ([500, 3, 4], [1, 2, 3], 100)),
    (sieve, (500,)),
    (product, ([floats(7) for _ in range(5)], [floats(4) for _ in range(7)])),
    (product, ([ints(7) for _ in range(5)], [ints(4) for _ in range(7)])),
    (bubble_sort, (ints(40),)),
    (bubble_sort, ([3, 1.5, 2, -7, 0.25, 2.0],)),
    (bubble_sort, (["c", "a", "b"],)),
    (insertion_sort, (floats(40),)),
    (prefix_sums, (ints(50),)),
    (prefix_sums, (floats(50),)),
    (prefix_sums, ([1, 2.5, 3],)),
    (prefix_sums, ([2**61, 2**61, 2**61],)),
    (euler, (50, 0.01)),
    (shortest_paths, ([ints(12) for _ in range(12)],)),
    (life, ([[numbers.randint(0, 1) for _ in range(12)] for _ in range(9)],)),
    (edit_distance, (letters(20), letters(25))),
    (edit_distance, (ints(20, 4), ints(15, 4))),
    (edit_distance, (["ab", "cd"], ["cd", "ab", "ab"])),
    (primes, (300,)),
    (counts, (letters(60),)),
    (counts, (list(letters(60)),)),
    (nearest, ([(numbers.random(), numbers.random()) for _ in range(30)],)),
    (heat, (30, 20)),
    (halves, (np.arange(5.0),)),
    (halves, ([1, 2.5],)),
]


@pytest.mark.parametrize(("function", "arguments"), TEXTBOOK)
def test_textbook_programs_over_lists_do_what_python_does(function, arguments):
    parallel = frit.parallelize(function)
    for _ in range(2):
        expected, got = copy.deepcopy(arguments), copy.deepcopy(arguments)
        results = function(*expected), parallel(*got)
        assert repr(results[0]) == repr(results[1])
        assert repr(expected) == repr(got)
    sites = parallel.__frit__.sites
    is_pythons = any(isinstance(x, list) and x[:1] in (["c"], ["ab"], [2**61]) for x in arguments)
    assert is_pythons or any(one.calls for one in sites), str(frit.explain(parallel))


def same(function, *arguments, compiled=None):
    """What a decorated function does, compared with Python; compiled: whether it ran so."""
    parallel = frit.parallelize(function)
    seen = []
    for one in (function, parallel):
        given = copy.deepcopy(arguments)
        try:
            result = one(*given)
        except Exception as error:
            result = type(error), str(error), error.__traceback__.tb_next is not None
        seen.append(repr((result, given)))
    assert seen[0] == seen[1]
    if compiled is not None:
        calls = sum(one.calls for one in parallel.__frit__.sites)
        assert bool(calls) is compiled, str(frit.explain(parallel))
    return parallel


def add_one(a):
    for i in range(len(a)):
        a[i] += 1


def test_numbers_keep_their_types():
    same(add_one, [1, 2], compiled=True)
    same(add_one, [1.0, 2.0], compiled=True)
    same(add_one, [1, 2.5, 3], compiled=True)
    same(add_one, [True, False], compiled=False)
    same(add_one, [1, True], compiled=False)
    same(add_one, [np.float64(1.0)], compiled=False)
    same(add_one, [1, "x"], compiled=False)
    same(add_one, [2**62 - 2], compiled=True)
    same(add_one, [2**62 - 1], compiled=False)
    same(add_one, [2**62], compiled=False)
    same(add_one, [2**80, 1], compiled=False)
    same(add_one, (1, 2), compiled=False)
    same(add_one, "ab", compiled=False)


def weighted(x, weights):
    total = 0.0
    for i in range(len(x)):
        for k in range(len(weights)):
            total = total + weights[k] * x[i]
        if weights[-1] > x[i]:
            total = weights[0]
    return total, type(total)


@pytest.mark.parametrize("kind", [list, tuple])
def test_numpys_floats_in_lists_are_read_as_such(kind):
    x, weights = np.arange(8.0), kind(np.linspace(0.5, 3.5, 3))
    same(weighted, x, weights, compiled=True)
    same(weighted, list(x), weights, compiled=True)
    same(weighted, x, kind([*weights, 1.0]), compiled=False)
    same(weighted, x, kind(np.float32(w) for w in weights), compiled=False)


def test_ints_beside_floats_are_exact():
    same(add_one, [0.5, int(MOST_EXACT) + 1], compiled=False)
    same(add_one, [0.5, int(MOST_EXACT)], compiled=False)
    same(add_one, [0.5, int(MOST_EXACT) - 2], compiled=True)


def test_rows_that_are_one_list_are_not_changed_compiled():
    def fill(m):
        for i in range(len(m)):
            for j in range(len(m[0])):
                m[i][j] += i + j

    same(fill, [[0] * 3] * 3, compiled=False)
    same(fill, [[0] * 3 for _ in range(3)], compiled=True)
    same(fill, [[0] * 3, (0, 0, 0)], compiled=False)
    same(fill, [[0, 1], [2]], compiled=False)


def test_two_names_of_one_list():
    def shift(a, b):
        for i in range(1, len(a)):
            a[i] = b[i - 1] + 1

    one = [1, 2, 3, 4]
    same(shift, one, one, compiled=False)
    same(shift, one, [5, 6, 7, 8], compiled=True)


def test_lists_stay_the_objects_that_they_are():
    @frit.parallelize
    def fill(m):
        for i in range(len(m)):
            for j in range(len(m[i])):
                m[i][j] = i * 1000 + j

    row = [5000, 2, 3]
    m = [row, [4, 5, 6]]
    fill(m)
    assert m == [[0, 1, 2], [1000, 1001, 1002]]
    assert m[0] is row

    @frit.parallelize
    def keep(a):
        for i in range(len(a)):
            if i == 1:
                a[i] = 2.5

    kept = float("nan")
    a = [kept, 1.0, 7.25]
    last = a[2]
    keep(a)
    assert a[0] is kept and a[1] == 2.5 and a[2] is last


def test_which_nan_it_is_stays_pythons():
    def copied(a, b):
        for i in range(len(a)):
            b[i] = a[i]
        return a == b

    nan = float("nan")
    assert frit.parallelize(copied)([1.0, nan], [0.0, 0.0])
    same(copied, [1.0, nan], [0.0, 0.0], compiled=False)


def test_exceptions_come_at_their_rounds():
    def inverse(a):
        for i in range(len(a)):
            a[i] = 1 / a[i]

    same(inverse, [1.0, 0.5, 0.0, 4.0], compiled=False)
    same(inverse, [1, 2, 4], compiled=True)
    same(inverse, [1, 0, 4], compiled=False)

    def behind(a, out):
        for i in range(len(a) + 1):
            out.append(a[i])

    same(behind, [1.0, 2.0], [])
    same(behind, [1, 2], [7])

    def by_items(a, idx):
        for i in range(len(idx)):
            a[idx[i]] += i

    same(by_items, [1, 2, 3], [0, -1, 2, -3], compiled=True)
    same(by_items, [1, 2, 3], [0, -1, 3], compiled=False)


def test_lists_that_are_appended_to():
    def squares(n, out):
        for i in range(n):
            if i % 3:
                out.append(i * i)
        return len(out)

    same(squares, 10, [], compiled=True)
    same(squares, 10, [5, 6], compiled=True)
    same(squares, 10, [0.5], compiled=True)
    same(squares, 10, ["x"], compiled=True)
    same(squares, 0, [], compiled=True)

    def types(a, out):
        for x in a:
            out.append(x * 2)

    same(types, np.arange(3.0), [], compiled=True)
    same(types, np.arange(3, dtype=np.float32), [], compiled=True)
    same(types, [True, False], [], compiled=True)
    same(types, [0.5], [1.5], compiled=True)

    def fibonacci(n):
        f = []
        for i in range(n):
            if i < 2:
                f.append(i)
            else:
                f.append(f[i - 1] + f[-2])
        return f

    same(fibonacci, 30, compiled=True)
    same(fibonacci, 120, compiled=False)

    def twice(a, out):
        for x in a:
            out.append(x)
            out.append(out[0] + x)
            out[0] = -x

    same(twice, [1, 2, 3], [], compiled=True)
    same(twice, [1, 2, 3], [4], compiled=True)

    def endless(out):
        for x in out:
            if len(out) < 9:
                out.append(x + 1)

    same(endless, [1], compiled=False)


def padded(rows, width):
    for i in range(width):
        if i < len(rows):
            for _ in range(len(rows[i]), width):
                rows[i].append(0)
        else:
            rows.append([0] * width)
    return rows


class Cipher:
    def letter(self, code):
        return chr(code)

    def decode(self, words):
        text = ""
        for k in range(int(len(words) / 2)):
            text = text + self.letter(int(words[2 * k]) + int(words[2 * k + 1]))
        return text


def test_what_stays_python_says_why():
    for function, given in ((padded, ([[1, 2], [3, 4]], 4)), (Cipher.decode, (Cipher(), "123456"))):
        ours = frit.parallelize(function)
        for _ in range(2):
            assert function(*copy.deepcopy(given)) == ours(*copy.deepcopy(given))
        assert not any(place.why.startswith(site.OURS) for place in ours.__frit__.places)
        assert site.OURS not in str(frit.explain(ours))


def test_what_a_list_makes_serial_is_explained():
    parallel = frit.parallelize(prefix_sums)
    parallel([1, 2, 3])
    words = "sums[-1] (76:21) reads what an earlier iteration wrote by sums.append() (76:9)"
    assert words in re.sub(r"\(\d+:", "(76:", str(frit.explain(parallel)))


def test_bounds_that_python_computes():
    def add(a, n):
        for i in range(int(n)):
            a[i] += i
        for i in range(math.ceil(len(a) / 2), min(len(a), 9)):
            a[i] *= 2
        for i in range(round(n), int(n**0.5) - 3, -1):
            a[i] += 1

    for a in ([1.0] * 9, [1] * 9, np.ones(9)):
        for n in (4, 4.0, np.int64(4), np.float64(4.25), 2.5):
            same(add, a, n, compiled=True)
    same(add, [1.0] * 9, 2**70)
    same(add, [1.0] * 9, float("inf"))
    same(add, [1.0] * 9, -1)
    same(add, [1.0] * 9, "x")


def test_sums_of_generators():
    def products(a, b):
        c = [[0] * len(b[0]) for _ in a]
        for i in range(len(a)):
            for j in range(len(b[0])):
                c[i][j] = sum(a[i][k] * b[k][j] for k in range(len(b)))
        return c

    same(products, [[1, 2], [3, 4]], [[5, 6, 7], [7, 8, 9]], compiled=True)
    same(products, [[1.5, 2], [3, 4]], [[5.0, 6.0], [0.25, 8.0]], compiled=SUM_ADDS_FLOATS)
    same(products, [[1.5, 2.0]], [[5, 6], [7, 8]], compiled=SUM_ADDS_FLOATS)

    def counts(m, out):
        x = 7
        for row in m:
            out.append(sum(1 for x in row if x > 0) + x)
        return x

    same(counts, [[0.5, -1.0], [2.0, 3.0]], [], compiled=True)

    def heads(a):
        out = []
        for i in range(len(a)):
            out.append(sum([abs(x) for x in a]) + sum(a[j] for j in range(i)))
        return out

    same(heads, [1, -2, 3], compiled=True)
    # Of no floats the sum is 0: 1.5 + 0.
    same(heads, [1.5, -2.0, 3.0], compiled=SUM_ADDS_FLOATS)
    same(heads, [1, -2.5, 3], compiled=False)

    def of_arrays(a, out):
        for i in range(len(a)):
            out[i] = sum(x * y for x, y in zip(a, a[::-1], strict=True)) + sum(a)

    same(of_arrays, np.arange(6.0), np.zeros(6), compiled=True)


def test_sum_min_and_max_of_lists():
    def ends(m, out):
        for row in m:
            out.append(max(row) - min(row) + sum(row))

    same(ends, [[1, 5, 3], [4, 2, 6]], [], compiled=True)
    same(ends, [[0.1, 0.5, -0.0], [4.0, 2.0, 6.5]], [], compiled=SUM_ADDS_FLOATS)
    same(ends, [[2**61, 2**61 + 1, 2**61]], [], compiled=False)
    same(ends, [[]], [], compiled=False)
    same(ends, [[float("nan"), 1.0]], [], compiled=False)


def test_parts_of_lists_that_are_only_read():
    def averages(a, n):
        out = []
        for i in range(len(a) - n + 1):
            out.append(sum(a[i : i + n]) / len(a[i : i + n]))
        return out

    same(averages, [1, 2, 4, 8], 2, compiled=True)
    same(averages, [0.5, 0.25, 8.0], 3, compiled=SUM_ADDS_FLOATS)

    def differences(a):
        total = 0
        for i in range(3):
            for x, y in zip(a, a[1:], strict=False):
                total += (y - x) * i
            for x in a[-2:]:
                total += x
        return total

    same(differences, [1, 3, 9], compiled=True)
    same(differences, [1])

    def changed(a):
        for i in range(3):
            for x in a[1:]:
                a[i] += x

    same(changed, [1, 2, 3], compiled=False)


def test_loops_over_a_few_numbers_of_the_text():
    def around(m):
        out = []
        for i in range(len(m)):
            for j in range(len(m)):
                total = 0
                for di, dj in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
                    if 0 <= i + di < len(m) and 0 <= j + dj < len(m):
                        total += m[i + di][j + dj]
                out.append(total)
        return out

    same(around, [[1, 2, 3], [4, 5, 6], [7, 8, 9]], compiled=True)

    def weighted(a):
        for i in range(len(a)):
            for c in (0.25, 0.5, 0.125):
                a[i] += c
            for k in [1, 4, 9]:
                a[k % 3] += k
        return c, k, i

    same(weighted, [0.5, 1.5, 2.5], compiled=True)
    same(weighted, np.zeros(3), compiled=True)

    def of_two_types(a):
        for i in range(len(a)):
            for c in (0.25, 1):
                a[i] += c

    same(of_two_types, [0.5, 1.5], compiled=False)


def test_an_inner_loop_with_long_lists_is_left_to_python():
    def touch(a, n):
        for i in range(n):
            a[i] += 1

    parallel = frit.parallelize(touch)
    a = [0] * 100_000
    for _ in range(3):
        parallel(a, 3)
    assert a[:4] == [3, 3, 3, 0]
    assert "its lists are long" in str(frit.explain(parallel))


def test_what_another_thread_changes_meanwhile_is_not_lost(monkeypatch):
    done, a, b = threading.Event(), [1, 2, 3], np.zeros(3)
    other = threading.Thread(target=done.wait)
    other.start()

    @frit.parallelize
    def add(a, b):
        for i in range(len(a)):
            a[i] += 1
            b[i] += a[i]

    add(a, b)
    assert a == [2, 3, 4] and b.tolist() == [2, 3, 4]
    assert add.__frit__.sites[0].calls == 1

    class Changed(Watched):
        def has_changed(self):
            a[1] = 10  # as another thread would have
            return super().has_changed()

    monkeypatch.setattr(site, "Watched", Changed)
    add(a, b)
    done.set()
    other.join()
    assert a == [3, 11, 5] and b.tolist() == [5, 14, 9]
    assert add.__frit__.sites[0].calls == 1


def test_lists_as_attributes():
    class Grid:
        def __init__(self):
            self.cells = [[i * j for j in range(5)] for i in range(4)]
            self.sums = []

        def add(self):
            for i in range(len(self.cells)):
                for j in range(5):
                    self.cells[i][j] += i

        def sum_up(self):
            for i in range(4):
                self.sums.append(self.cells[i][0] + self.cells[i][-1])

    expected, got = Grid(), Grid()
    for name in ("add", "sum_up"):
        getattr(Grid, name)(expected)
        method = frit.parallelize(getattr(Grid, name))
        method(got)
        assert vars(got) == vars(expected)
        assert sum(one.calls for one in method.__frit__.sites) == 1, str(frit.explain(method))


MODULE = """
import sys
n = 600
table = [[0] * n for _ in range(n)]
weights = [(i * 7) % 11 for i in range(n)]
out = []
for step in range(9):
    for i in range(1, n):
        for j in range(1, n):
            table[i][j] = max(table[i - 1][j], table[i][j - 1]) + weights[i] * (j % 3)
    for i in range(n):
        row_sum = 0
        for j in range(n):
            row_sum += table[i][j]
        out.append(row_sum)
print(table[-1][-1], len(out), sum(out), i, j, row_sum, type(out[-1]))
print("engine", "frit._core" in sys.modules)
"""


def test_a_program_without_numpy_gets_the_engine_where_its_loops_are_long(python, file):
    path = file("program.py", MODULE)
    expected = python(path).stdout.replace("engine False", "engine True")
    assert python("-m", "frit", path).stdout == expected
    assert python("-m", "frit", path).stdout == expected  # with what is kept


def test_a_short_program_without_numpy_does_not_get_the_engine(python, file):
    path = file("program.py", MODULE.replace("600", "20"))
    assert python("-m", "frit", path).stdout == python(path).stdout


IN_VAIN = """
import sys
def longest(n):
    best = [0, 0, 0]
    for a in range(n):
        for b in range(n):
            count = 0
            while (a * b + count) % 7:
                count += 1
            if count > best[0]:
                best = [count, a, b]
            if a * n + b > 50_000:
                return best
    return best
print(longest(100_000))
print("engine", "frit._core" in sys.modules)
"""


def test_a_program_that_has_loaded_the_engine_in_vain_does_so_once(python, file, tmp_path):
    path = file("program.py", IN_VAIN)
    settings = {"FRIT_CACHE_DIR": str(tmp_path / "cache")}
    plain = python(path).stdout
    loaded = plain.replace("engine False", "engine True")
    assert loaded != plain
    assert python("-m", "frit", path, FRIT_CACHE="0").stdout == loaded
    assert python("-m", "frit", path, FRIT_CACHE="0").stdout == loaded
    assert python("-m", "frit", path, **settings).stdout == loaded
    assert python("-m", "frit", path, **settings).stdout == plain
    assert python("-m", "frit", path, **settings).stdout == plain
    # Of another text nobody knows.
    file("program.py", IN_VAIN.replace("50_000", "50_001"))
    assert python("-m", "frit", path, **settings).stdout == loaded


OBJECTS = """
import sys
if "frit" in sys.modules:
    from frit.loops.run.place import Place
    asked = 0
    def counted(self, *given, start=Place.start):
        global asked
        asked += 1
        return start(self, *given)
    Place.start = counted
class Square:
    def __init__(self, number):
        self.number, self.near = number, []
    def larger(self):
        count = 0
        for other in self.near:
            if other.number > self.number:
                count += 1
        return count
squares = [Square(k) for k in range(81)]
for square in squares:
    square.near = [squares[(square.number + d) % 81] for d in (1, 80, 9, 72)]
def total(of):
    found = 0
    for square in squares:
        for _ in range(3):
            found += of(square)
    return found
print([total(Square.larger) for _ in range(200)][-1])
if "frit" in sys.modules:  # of 48,000 loops
    assert asked < 1000, asked
    assert "numpy" not in sys.modules
"""


def test_short_loops_of_a_program_without_numpy_are_asked_for_ever_more_seldom(python, file):
    path = file("program.py", OBJECTS)
    assert python("-m", "frit", path).stdout == python(path).stdout == "486\n"


def test_loops_that_were_skipped_are_asked_for_once_they_are_long(python, file):
    text = """
import sys
def f(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s
for k in range(300):
    a = f(400)
for k in range(100):
    a += f(500_000)
print(a, "frit._core" in sys.modules)
"""
    path = file("program.py", text)
    expected = python(path).stdout.replace("False", "True")
    assert python("-m", "frit", path).stdout == expected


def test_lists_at_the_level_of_a_module(python, file):
    path = file("program.py", "import numpy\n" + MODULE)
    expected = python(path).stdout.replace("engine False", "engine True")
    assert python("-m", "frit", path).stdout == expected


@pytest.mark.timeout(max(900, PROGRAMS))
def test_random_loops_over_lists_do_what_python_does(monkeypatch, tuning):
    monkeypatch.setattr(place, "MOST_UNASKED", 1.0)
    compiled = python = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        program = ListProgram(seed)
        tuning[:] = [2_000.0, 1 + seed % 3, seed % 4, 2] if seed % 3 == 0 else []
        plain, parallel = program.function(), frit.parallelize(program.function())
        for call in (0, 1, 2, 2):
            arguments = program.arguments(call)
            expected = outcome_with_lists(plain, arguments)
            got = outcome_with_lists(parallel, arguments)
            assert same_with_lists(expected, got), (
                f"seed {seed}, call {call}\n{program.source}\n{arguments}\n"
                f"Python: {expected}\nFrit: {got}"
            )
        as_kernels, as_python = calls_of(parallel, f"seed {seed}")
        compiled, python = compiled + as_kernels, python + as_python
    print(f"{compiled} nests ran compiled, {python} as Python")
    assert compiled > PROGRAMS // 4  # else nothing was tested


def vowels(s):
    k = 0
    for c in s:
        if c in "aeiou" and c not in "ou":
            k += 1
    return k


def none_at_all(s):
    k = 0
    for c in s:
        if c in "":
            k -= 1
    return k


def distance(row, t, c):
    out = [row[0] + 1]
    for j, d in enumerate(t):
        out.append(min(row[j + 1] + 1, out[j] + 1, row[j] + (c != d)))
    return out


def nearest_item(xs, ys):
    total = 0.0
    for x in xs:
        best, low = float("inf"), float("-inf")
        for y in ys:
            if low < abs(x - y) < best:
                best = abs(x - y)
        total += best
    return total


def alternating(n, first):
    s = 0
    for k in range(first, n):
        s += (-1) ** k * k
    return s


def decomposed(a):
    n = len(a)
    lower = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for k in range(i + 1):
            part = sum(lower[i][j] * lower[k][j] for j in range(k))
            if i == k:
                lower[i][k] = math.sqrt(a[i][i] - part)
            else:
                lower[i][k] = (a[i][k] - part) / lower[k][k]
    return lower


def test_texts_of_several_characters_in_nests():
    same(vowels, "an ounce of prevention", compiled=True)
    same(vowels, "", compiled=None)
    same(none_at_all, "an ounce of prevention", compiled=False)
    same(nearest_item, [1.0, 2.5, -3.0], [0.5, 7.0], compiled=True)
    same(nearest_item, [1.0, 2.5, -3.0], [], compiled=True)


def test_a_string_of_one_character_is_compared_as_one():
    same(distance, [0, 1, 2, 3], "abc", "b", compiled=True)
    same(distance, [0, 1, 2, 3], "abc", "bc", compiled=False)
    same(distance, [0, 1, 2, 3], "abc", ["b"], compiled=False)
    same(distance, [0, 1, 2, 3], ["a", "b", "c"], "b", compiled=True)


def test_powers_of_minus_one():
    same(alternating, 20, 0, compiled=True)
    same(alternating, 20, -3, compiled=False)  # (-1) ** -3 is a float


def test_sums_of_generators_that_may_be_empty():
    matrix = [[4.0, 2.0, 0.4], [2.0, 5.0, 1.5], [0.4, 1.5, 6.0]]
    same(decomposed, matrix, compiled=SUM_ADDS_FLOATS)
    same(decomposed, [[4, 2], [2, 5]], compiled=SUM_ADDS_FLOATS)
    same(decomposed, [[1.0, 2.0], [2.0, 1.0]])  # sqrt(-3.0)


def test_a_long_list_is_not_converted_again_and_again_for_a_few_items_of_it(monkeypatch):
    monkeypatch.setattr(place, "SHORT", traits.SHORT)

    def f(squares, n):
        for p in squares:
            if p > n:
                break
            if n % p == 7:
                return False
        return True

    parallel, squares = frit.parallelize(f), [p * p for p in range(1, 300_000)]
    for n in range(100_000, 100_800):
        assert parallel(squares, n) == f(squares, n)
    (found,) = parallel.__frit__.places
    assert found.binding.site.calls < 400
