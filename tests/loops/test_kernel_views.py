"""test_kernel_views.py: plain loops over PyKokkos' views do what Python does."""

from __future__ import annotations

import numpy as np
import pytest

import frit
import frit.pykokkos as pk

from .fuzz import same


class Force(pk.View):
    def __init__(self, n, m):
        super().__init__([n, m], pk.double)


class Loud(pk.View):
    """Elements are stored twice as large."""

    def __setitem__(self, key, value):
        super().__setitem__(key, 2 * value)


class System:
    def __init__(self, n=6, m=3):
        self.f = Force(n, m)
        self.x = pk.View([n], pk.float32)
        self.k = pk.View([n], pk.int32)
        for i in range(n):
            self.x[i] = i + 0.25
            self.k[i] = (i * i) % n
        self.total = 0.0


class Owner:
    def __init__(self):
        self.system = System()
        self.part = self.system.f[1:4, :]


def zeroes(o):
    for i in range(o.system.f.extent(0)):
        for j in range(o.system.f.extent(1)):
            o.system.f[i][j] = i - j


def by_pairs(o):
    f = o.system.f
    for i in range(f.shape[0]):
        for j in range(f.extent(1)):
            f[i, j] += o.system.x[o.system.k[i]] * j


def of_one_rank(o):
    x = o.system.x
    for i in range(len(x)):
        x[i] = x[i] / 3
    for i in range(x.size):
        x[i] *= x.rank() + x.ndim


def adds_up(o):
    s = o.system
    for i in range(s.x.extent(0)):
        s.total += float(s.x[i])
    return s.total


def last_row(o):
    for i in range(o.system.f.extent(0)):
        o.system.f[i] = i + 0.5


def through_a_part(o):
    f = o.system.f
    for i in range(o.part.extent(0)):
        for j in range(o.part.extent(1)):
            o.part[i][j] = f[i][j] + 1


def too_far(o):
    for i in range(o.system.f.extent(0) + 1):
        o.system.f[i][0] = i


def too_few_indices(o):
    f = o.system.f
    for i in range(3):
        f[i, ] = i  # fmt: skip


def slices(o):
    f = o.system.f
    for i in range(3):
        f[i, :] = i
        f[i, 1:].fill(7)


def another_view(o):
    for i in range(3):
        o.system.x[i] = i
        o.system.x = o.system.x


def whole(o):
    for i in range(3):
        o.system.x[i] = o.system.x.data.sum()


def no_such_axis(o):
    for i in range(o.system.x.extent(1)):
        o.system.x[i] = 0


def looked_at(o):
    s = o.system
    return [np.array(v.data) for v in (s.f, s.x, s.k)], s.total


def outcome(function, given):
    try:
        result = function(given)
    except Exception as error:
        result = type(error).__name__, str(error)
    arrays, total = looked_at(given)
    return [(a.dtype, a.tobytes()) for a in arrays], total, result


def is_taken(function):
    return any(site.calls for site in frit.loops.state_of(function).sites)


TAKEN = zeroes, by_pairs, of_one_rank, adds_up, last_row, through_a_part
PYTHON = too_far, too_few_indices, slices, another_view, whole, no_such_axis


@pytest.mark.parametrize("function", [*TAKEN, *PYTHON], ids=lambda f: f.__name__)
def test_loops_over_views_do_what_python_does(function):
    ours, plain, given = frit.parallelize(function), Owner(), Owner()
    for _ in range(3):
        assert same(outcome(function, plain)[1:], outcome(ours, given)[1:])
        assert outcome(function, plain)[0] == outcome(ours, given)[0]
    assert is_taken(ours) == (function in TAKEN)


def test_a_class_that_stores_otherwise_stays_pythons():
    ours, given = frit.parallelize(last_row), Owner()
    ours(given)
    assert is_taken(ours)
    given.system.f = Loud([6, 3], pk.double)
    ours(given)
    assert given.system.f[5, 1] == 11 and given.system.f[0, 2] == 1


def test_views_may_change_from_call_to_call():
    ours, plain, given = frit.parallelize(by_pairs), Owner(), Owner()
    changes = (
        lambda s: s.f.resize(0, 5),
        lambda s: setattr(s, "f", pk.View([4, 2], pk.float32)),
        lambda s: setattr(s, "f", pk.View([4, 2, 2], pk.double)),  # too few indices
        lambda s: setattr(s, "x", np.arange(9.0)),
        lambda s: setattr(s, "f", np.ones((4, 4, 2))),
        lambda s: setattr(s, "f", None),
        lambda s: setattr(s, "f", pk.View([4, 2], pk.int32)),
    )
    for change in changes:
        for o in (plain, given):
            change(o.system)
        expected = error_of(by_pairs, plain)
        assert error_of(ours, given) == expected
        if plain.system.f is not None:
            assert np.array_equal(np.asarray(plain.system.f), np.asarray(given.system.f))


def error_of(function, given):
    try:
        function(given)
    except Exception as error:
        return type(error).__name__, str(error)
    return None


@pk.workunit
def doubles(i, f):
    f[i][0] *= 2


def test_loops_and_kernels_follow_one_another():
    ours, given = frit.parallelize(zeroes), Owner()
    for _ in range(3):
        ours(given)
        pk.parallel_for(6, doubles, f=given.system.f)
        ours(given)
        pk.parallel_for(6, doubles, f=given.system.f)
    assert given.system.f.data[:, 0].tolist() == [0, 2, 4, 6, 8, 10]
    assert given.system.f.data[:, 2].tolist() == [-2, -1, 0, 1, 2, 3]


def test_a_programs_loops_over_views(frit):
    program = """
        import pykokkos as pk

        class System:
            def __init__(self):
                self.f = pk.View([300, 3], pk.double)

        def set_all(s, value):
            for i in range(s.f.extent(0)):
                for j in range(s.f.extent(1)):
                    s.f[i][j] = value + i * j

        s = System()
        for step in range(400):
            set_all(s, step)
        v = pk.View([100000], pk.int64)
        for i in range(100000):
            v[i] = 3 * i
        import frit
        print(s.f[299, 2], v[99999], str(frit.explain(set_all)).count("# parallel"))
        """
    assert frit(program) == "997.0 299997 2\n"
