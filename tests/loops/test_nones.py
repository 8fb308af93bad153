"""test_nones.py: variables that a loop assigns and that are None at first, or become None."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import frit
from frit.loops.find import implicit

from .test_exits import calls_of
from .test_implicit import eager
from .written import code_of

__all__ = ["eager"]

M = np.random.default_rng(0).random((30, 20))


def least(m):
    best = at = None
    for k in range(len(m)):
        if best is None or m[k, 0] < best:
            best = m[k, 0]
            at = k
    return best, at


def steps(m):
    last = None
    s = 0.0
    for x in m[:, 0]:
        if last is not None:
            s += abs(x - last)
        last = x
    return s, last


def gaps(m):
    last, n = None, 0
    for i in range(len(m)):
        if m[i, 1] > 0.7:
            if last is not None:
                n += i - last
            last = i
        elif m[i, 1] < 0.05:
            last = None
    return n, last


def least_of_rows(m):
    out = np.zeros(len(m))
    for i in range(len(m)):
        best = None
        for j in range(m.shape[1]):
            if best is None or m[i, j] < best:
                best = m[i, j]
        if best is not None:
            out[i] = best
    return out.tolist()


def a_number_at_first(m):
    best = 5
    for i in range(len(m)):
        if i > 2:
            best = None
        for j in range(m.shape[1]):
            best = m[i, j] if best is None else min(best, m[i, j])
    return best


def found(m):
    best = k = None
    for i in range(len(m)):
        for j in range(m.shape[1]):
            if m[i, j] > 0.99 and k is None:
                best = float(m[i, j])
                k = i
        if k is not None:
            break
    return best, k


def copies(m):
    one = other = None
    s = 0.0
    for x in m[0]:
        other = one
        one = x if x > 0.3 else None
        if other is not None and one is not None:
            s += one - other
    return s, one, other


def added(m):
    s = None
    for x in m[0]:
        if s is None:
            s = x
        else:
            s += x
    return s


class Controller:
    def __init__(self):
        self.last = None
        self.sum = 0.0

    def of(self, error):
        self.sum += error
        change = 0.0 if self.last is None else error - self.last
        self.last = error
        return self.sum + 0.5 * change

    def run(self, m):
        x = 0.0
        for i in range(len(m)):
            x += self.of(m[i, 0] - x) * 0.25
        return x


COMPILED = [least, steps, gaps, least_of_rows, a_number_at_first, found, copies, added]


def result(function, *given):
    try:
        return repr(function(*given))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("function", COMPILED)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_what_is_none_at_first(function, dtype):
    parallel = frit.parallelize(function)
    for m in (M * 9, M[:1] * 9, M[:, :1] * 9, M[:0], M[::-1, ::-1] * 5, M * 9):
        given = m.astype(dtype)
        assert result(parallel, given) == result(function, given)
    assert calls_of(parallel) > 1


def test_attributes_that_are_none_at_first():
    class Fast(Controller):
        run = frit.parallelize(Controller.run)

    for _ in range(3):
        one, two = Controller(), Fast()
        for m in (M, M[:1], M[:0], M[::-1]):
            assert result(one.run, m) == result(two.run, m)
            assert repr(vars(one)) == repr(vars(two))
        one.last = two.last = None
        assert result(one.run, M) == result(two.run, M)
        one.last = two.last = "x"
        assert result(one.run, M) == result(two.run, M)
    assert calls_of(Fast.run) > 8


def used_as_a_number(m, s):
    for x in m[0]:
        if x > 0.5:
            s = s + x
        elif x < 0.1:
            s = None
    return s


def never_assigned(m):
    s = None
    for x in m[0]:
        if x > 2:
            s = x
        elif x > 3:
            s = 1
    return s


def only_none(m):
    s = None
    for x in m[0]:
        if x > 0.5:
            s = None
    return s


def read_too_early(m):
    for i in range(len(m)):
        if i > 100:
            last = None
        if last is not None:
            return i
    return None


def of_several(m):
    s = t = None
    for x in m[0]:
        s, t = x, s
    return s, t


@pytest.mark.parametrize("function", [never_assigned, only_none, read_too_early, of_several])
def test_what_python_alone_does_is_left_to_it(function):
    parallel = frit.parallelize(function)
    for m in (M, M[:1], M[:, :1], M[:, :0], M[:0]):
        assert result(parallel, m) == result(function, m)


def test_none_is_no_number():
    parallel = frit.parallelize(used_as_a_number)
    for s in (None, 0.0, 1, None, np.float32(2)):
        for m in (M, M[3:], M[:, :1] * 0.5, M[:, :0]):
            assert result(parallel, m, s) == result(used_as_a_number, m, s)


def test_nones_of_a_module(eager):
    text = textwrap.dedent("""
        best = at = last = None
        changes = 0
        for k in range(len(a)):
            if best is None or a[k] > best:
                best = a[k]
                at = k
            sign = a[k] > 0.5
            if last is not None and sign != last:
                changes += 1
            last = sign
            note = None
        for x in a:
            if x > 0.9:
                note = x
    """)
    plain = code_of(text, "<nones of a module>")
    ours = implicit.code_of(text, plain)
    for a in (M[0], M[1].tolist(), M[0, :1], M[0, :2]):
        ends = []
        for code in (plain, ours):
            space = {"__name__": "program", "a": a}
            exec(code, space)
            names = "best at last changes note k x sign".split()
            ends.append(repr([space.get(name) for name in names]))
        assert ends[0] == ends[1]
