"""test_iterables.py: loops over arrays and lists that are made for them: `for x in np.sort(a)`."""

from __future__ import annotations

import gc
import weakref

import numpy
import pytest

import frit

from .programs import assert_same_under_frit


def histogram(a):
    h = numpy.zeros(10, int)
    for p in a.flatten():
        h[int(p * 10)] += 1
    return h.tolist()


def shuffled(a):
    w = numpy.zeros(a.shape[1])
    for i in numpy.random.default_rng(1).permutation(len(a)):
        w += 0.1 * (a[i] - w)
    return w.tolist(), i


def differences(a):
    total = before = 0.0
    for x in numpy.sort(a.ravel()):
        total += (x - before) ** 2
        before = x
    return total, before, x


def masked(a):
    count = 0
    for x in a[a > 0.5]:
        if x * x < 0.4:
            count += 1
    return count


def neighbours(a):
    total = 0
    for i in range(len(a)):
        for j in numpy.flatnonzero(a[i] > 0.5):
            total += j
    return total


def of_where(a):
    v = a[0]
    out = numpy.zeros(len(v))
    for i in numpy.where(v > 0.3)[0]:
        out[i] = v[i] + i
    return out.tolist()


def of_a_list(a):
    total = 0.0
    for x in a.ravel().tolist():
        total += x * x
    return total


def into_itself(a):
    k = 0
    for x in a.ravel():  # a view
        a[0, (k * 7 + 1) % a.shape[1]] = x + 1
        k += 1
    return a.tolist()


def found(a):
    for x in a.ravel():
        if x > 0.99:
            return x
    return None


def ended(a):
    for x in a.ravel():
        if x > 2:
            break
    else:
        x = -1
    return x


def over_rows(a):
    total = 0.0
    for row in a.copy():
        for x in row:
            total += x
    return total


def over_nothing(a):
    total = 0
    for x in a[a > 5]:
        total += x
    try:
        return total, x
    except UnboundLocalError as error:
        return total, str(error)


def over_other_things(a):
    class Odd:
        def __init__(self, what):
            self.what = what

        def copy(self):
            return self.what

    found = []
    for what in ("text", {"a": 1}, (x for x in (1, 2.5)), [[1, 2], [3]], {3}, [None], [1, "a"]):
        try:
            n = 0
            for x in Odd(what).copy():
                n += x
            found.append(n)
        except TypeError as error:
            found.append(str(error))
    return found


def with_an_error(a):
    try:
        for x in a.reshape(7, 7, 7):
            a[0, 0] = x[0, 0]
    except ValueError as error:
        return str(error)


def again(a, depth=3):
    total = 0.0
    for x in a.ravel()[: 5 * depth]:
        total += x
    return total + (again(a, depth - 1) if depth else 0)


FUNCTIONS = [
    histogram,
    shuffled,
    differences,
    masked,
    neighbours,
    of_where,
    of_a_list,
    into_itself,
    found,
    ended,
    over_rows,
    over_nothing,
    over_other_things,
    with_an_error,
    again,
]


SUMS = {"differences", "of_a_list", "over_rows", "again"}


def outcome(function, a):
    found = function(a)
    kinds = [type(x) for x in found] if isinstance(found, tuple) else type(found)
    if function.__name__ in SUMS:
        return kinds, numpy.round(found, 9).tolist(), a.tolist()
    return kinds, found, a.tolist()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_are_pythons(function):
    fast = frit.parallelize(function)
    for _ in range(3):
        a = numpy.random.default_rng(4).random((20, 30))
        assert outcome(fast, a.copy()) == outcome(function, a.copy())


@pytest.mark.parametrize("function", FUNCTIONS[:7], ids=lambda f: f.__name__)
def test_they_run_compiled(function):
    fast = frit.parallelize(function)
    for _ in range(2):
        fast(numpy.random.default_rng(4).random((200, 300)))
    loops = [line for line in str(frit.explain(fast)).splitlines() if " for " in line]
    assert "#" in loops[-1] and "Python" not in loops[-1]


def test_nobody_holds_the_array_behind_the_loop():
    class Made(list):
        pass

    class Maker:
        def copy(self):
            made = Made([1, 2])
            held.append(weakref.ref(made))
            return made

    held = []

    @frit.parallelize
    def check(a):
        n = 0
        for x in a.copy():
            n += x
        gc.collect()
        return n, held[-1]()

    for _ in range(3):
        assert check(Maker()) == (3, None)


def test_handlers_find_it_let_go():
    class Source:
        def __init__(self):
            self.said = []

        def tolist(self):
            try:
                yield from (1, 2, 3)
            finally:
                self.said.append("closed")

    @frit.parallelize
    def check(source):
        try:
            for x in source.tolist():
                if x > 1:
                    raise ValueError(x)
        except ValueError:
            source.said.append("caught")
        return source.said

    assert check(Source()) == ["closed", "caught"]


MODULE = """
import numpy as np
image = np.random.default_rng(0).integers(0, 256, (700, 500))
for rounds in range(3):
    counts = np.zeros(256, int)
    for p in image.flatten():
        counts[p] += 1
    total = 0
    for i in np.random.default_rng(1).permutation(len(image)):
        total += int(image[i, 3]) * i
    print(counts[:9], total, i, p)
for x in np.sort(image[0]):
    last = x
print(last, x, sorted(name for name in globals() if "$" in name))
for word in "a b".split():
    print(word)
for k in {1: 2}.copy():
    print(k)
"""


def test_a_modules_own_loops():
    assert_same_under_frit(MODULE)
