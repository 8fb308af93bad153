"""test_kernel_traps.py: programs on which lazy systems for kernels have been wrong."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator

import numpy
import pytest

import frit
import frit.pykokkos as pk
from frit import _core

N = 100
pytestmark = pytest.mark.usefixtures("tier")


def launches() -> int:
    frit.eval()
    s = _core.statistics()
    return s["interpreted_launches"] + s["compiled_launches"] + s["device_launches"]


@pk.workunit
def copy(i, a, b):
    b[i] = a[i]


@pk.workunit
def put(i, a, x):
    a[i] = x


@pk.workunit
def ramp(i, a):
    a[i] = i


@pk.workunit
def add_one(i, a):
    a[i] += 1


def ramped() -> pk.View:
    a = pk.View([N])
    pk.parallel_for(N, ramp, a=a)
    return a


def test_write_after_read_keeps_what_was_read() -> None:
    a, b = ramped(), pk.View([N])
    pk.parallel_for(N, copy, a=a, b=b)
    pk.parallel_for(N, put, a=a, x=2.0)
    assert [a[5], b[5], b[99]] == [2.0, 5.0, 99.0]


def test_partial_write_leaves_the_rest() -> None:
    @pk.workunit
    def upper(i, a):
        if i > 49:
            a[i] = 7

    a = pk.View([N])
    pk.parallel_for(N, put, a=a, x=1.0)
    pk.parallel_for(N, upper, a=a)
    assert [a[0], a[49], a[50], a[99]] == [1.0, 1.0, 7.0, 7.0]


def test_constant_index_reads_another_iteration() -> None:
    @pk.workunit
    def last(i, a, b):
        b[i] = a[99]

    a, b = pk.View([N]), pk.View([N])
    pk.parallel_for(N, ramp, a=a)
    pk.parallel_for(N, last, a=a, b=b)
    assert list(b) == [99.0] * N


def test_subview_is_on_the_same_memory() -> None:
    a = pk.View([N])
    s = a[1:]
    b = pk.View([N])
    pk.parallel_for(N, ramp, a=a)
    pk.parallel_for(N - 1, copy, a=s, b=b)
    pk.parallel_for(N - 1, put, a=s, x=-1.0)
    assert [b[0], b[98], a[0], a[1], a[99]] == [1.0, 99.0, 0.0, -1.0, -1.0]


def test_stencil_and_then_a_shifted_write() -> None:
    @pk.workunit
    def stencil(i, a, b):
        b[i] = a[i - 1] + a[i + 1]

    @pk.workunit
    def shifted(i, a):
        a[i + 1] = 100

    a, b = ramped(), pk.View([N])
    pk.parallel_for(pk.RangePolicy(1, N - 1), stencil, a=a, b=b)
    pk.parallel_for(N - 1, shifted, a=a)
    assert [b[1], b[50], b[98]] == [2.0, 100.0, 196.0]
    assert [a[0], a[1], a[99]] == [0.0, 100.0, 100.0]


def test_numpy_argument_is_read_afterwards() -> None:
    a = numpy.arange(N, dtype=float)
    pk.parallel_for(N, add_one, a=a)
    pk.parallel_for(N // 2, add_one, a=a[::-2])
    expected = numpy.arange(N) + 1.0
    expected[::-2] += 1
    assert (a == expected).all()


def test_numpy_windows_of_any_stride() -> None:
    a = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)

    @pk.workunit
    def scale(i, v):
        for j in range(v.extent(1)):
            v[i][j] *= 2

    expected = a.copy()
    expected.T[::-2] *= 2
    pk.parallel_for(3, scale, v=a.T[::-2])
    assert (a == expected).all()


def test_the_same_array_twice() -> None:
    @pk.workunit
    def both(i, a, b):
        a[i] = b[i] + 1
        a[i] = b[i] * 2

    a = numpy.ones(N)
    pk.parallel_for(N, both, a=a, b=a)
    assert (a == 4).all()
    v = ramped()
    pk.parallel_for(N, both, a=v, b=v)
    assert v[7] == 16.0


def test_two_views_on_one_buffer() -> None:
    memory = numpy.zeros(N)
    whole, part = pk.array(memory), pk.array(memory[10:])
    pk.parallel_for(N, ramp, a=whole)
    pk.parallel_for(N - 10, add_one, a=part)
    assert [whole[9], whole[10], part[0], memory[99]] == [9.0, 11.0, 11.0, 100.0]


def test_data_is_what_has_been_computed() -> None:
    a = ramped()
    assert a.data[3] == 3.0
    pk.parallel_for(N, add_one, a=a)
    assert a.data[0] == 1.0
    held = a.data
    pk.parallel_for(N, add_one, a=a)
    assert held[0] == 2.0


def test_kernel_and_then_fill() -> None:
    a, b = ramped(), pk.View([N])
    pk.parallel_for(N, copy, a=a, b=b)
    a.fill(5)
    pk.parallel_for(N, add_one, a=a)
    assert [a[3], b[3]] == [6.0, 3.0]


def test_functor() -> None:
    @pk.functor
    class Scale:
        def __init__(self, n: int, factor: float) -> None:
            self.factor: float = factor
            self.a: pk.View1D[pk.double] = pk.View([n])

        @pk.workunit
        def start(self, i: int):
            self.a[i] = i

        @pk.workunit
        def scale(self, i: int):
            self.a[i] *= self.factor

    f = Scale(N, 2)
    before = launches()
    pk.parallel_for(N, f.start)
    pk.parallel_for(N, f.scale)
    f.factor = 10
    pk.parallel_for(N, f.scale)
    assert f.a[3] == 60.0
    assert launches() == before + 1  # methods fuse


def test_execute_after_a_pending_kernel() -> None:
    @pk.workload
    class Total:
        def __init__(self, a: pk.View1D[pk.double]) -> None:
            self.a: pk.View1D[pk.double] = a
            self.total: float = 0.0
            self.seen = None

        @pk.main
        def run(self):
            self.total = pk.parallel_reduce(N, self.add)
            pk.parallel_for(N, self.clear)

        @pk.callback
        def results(self):
            self.seen = float(self.total)

        @pk.workunit
        def add(self, i: int, acc: pk.Acc[pk.double]):
            acc += self.a[i]

        @pk.workunit
        def clear(self, i: int):
            self.a[i] = 0

    a = ramped()
    pk.parallel_for(N, add_one, a=a)
    w = Total(a)
    pk.execute(pk.ExecutionSpace.OpenMP, w)
    assert [w.seen, a[5]] == [5050.0, 0.0]


def test_dead_temporaries_hold_no_memory() -> None:
    n = 100_000
    total = pk.View([n])
    frit.eval()
    gc.collect()
    _core.reset_statistics()
    before = _core.statistics()["bytes_live"]

    @pk.workunit
    def add(i, t, total):
        total[i] += t[i]

    for k in range(500):
        t = pk.View([n])
        pk.parallel_for(n, put, a=t, x=float(k))
        pk.parallel_for(n, add, t=t, total=total)
        del t
    assert total[n - 1] == 499 * 250.0
    assert _core.statistics()["bytes_peak"] - before < 50 * 800_000
    assert _core.statistics()["bytes_live"] - before < 2 * 800_000


def test_a_reductions_result_behaves_as_a_float() -> None:
    @pk.workunit
    def add(i, acc, a):
        acc += a[i]

    a = ramped()
    f = pk.parallel_reduce(N, add, a=a)
    assert _core.is_pending(f)
    pk.parallel_for(N, put, a=a, x=0.0)  # what comes later does not change it
    assert 1 + f == 4951 and f >= 1 and f"{f:.1f}" == "4950.0"
    assert bool(f) and numpy.sqrt(f) == numpy.sqrt(4950.0) and float(f) == 4950.0


def test_a_result_feeds_the_next_kernel_without_being_read() -> None:
    @pk.workunit
    def add(i, acc, a):
        acc += a[i]

    a, b = ramped(), pk.View([N])
    f = pk.parallel_reduce(N, add, a=a)
    pk.parallel_for(N, put, a=b, x=f)
    assert _core.is_pending(f)
    assert b[17] == 4950.0


def test_timer_and_fence_wait_for_the_work() -> None:
    a = ramped()
    timer = pk.Timer()
    assert not _core.has_pending()
    pk.parallel_for(N, add_one, a=a)
    timer.seconds()
    assert not _core.has_pending()
    pk.parallel_for(N, add_one, a=a)
    pk.fence()
    assert not _core.has_pending() and a[0] == 2.0


def test_independent_kernels_share_a_launch() -> None:
    a, b = pk.View([N]), pk.View([N])
    before = launches()
    pk.parallel_for(N, put, a=a, x=1.0)
    pk.parallel_for(N, put, a=b, x=2.0)
    assert launches() == before + 1
    assert [a[0], b[0]] == [1.0, 2.0]


def test_kernels_fuse_with_numpy_and_reductions() -> None:
    import frit.numpy as np

    @pk.workunit
    def add(i, acc, a):
        acc += a[i]

    n = 50_000
    x = np.linspace(0, 1, n)
    before = launches()
    with np.errstate(all="ignore"):  # a test runner's filter of warnings makes them immediate
        y = np.sqrt(x * 2)
        view = pk.array(y)
        pk.parallel_for(n, add_one, a=view)
        total = pk.parallel_reduce(n, add, a=view)
        value = float(total)
    assert value == float((numpy.sqrt(numpy.linspace(0, 1, n) * 2) + 1).sum())
    assert launches() == before + 1


@pk.workunit
def double(i, a, b):
    b[i] = 2.0 * a[i]


def test_a_run_whose_errors_are_ignored_decides_nothing_for_one_whose_errors_are_told() -> None:
    import frit.numpy as np

    def told(**checks):
        with warnings.catch_warnings(record=True) as caught, np.errstate(**checks):
            warnings.simplefilter("always")
            if not checks:
                _core.let_float_errors_come_late()
            a, b = np.array([1e308] * n), np.array([0.0] * n)
            pk.parallel_for(n, double, a=a, b=b)  # overflows, which a kernel doesn't tell
            b[1:] -= a[:-1]
            assert b[-1] == numpy.inf
        return [str(warning.message) for warning in caught]

    n = 50_000
    assert told(all="ignore") == []
    assert told() == []


@pytest.fixture
def fusion() -> Iterator[Callable[[str], None]]:
    yield _core.set_fusion
    _core.set_fusion("on")


@pk.workunit
def sum_of(i, acc, a):
    acc += a[i]


def test_fusion_can_be_switched_off(fusion: Callable[[str], None]) -> None:
    found = {}
    for mode in ("on", "trace", "off"):
        fusion(mode)
        a, b = pk.View([N]), pk.View([N])
        before = launches()
        pk.parallel_for(N, ramp, a=a)
        pk.parallel_for(N, copy, a=a, b=b)
        total = pk.parallel_reduce(N, sum_of, a=b)
        assert _core.has_pending() == (mode != "off")
        assert total == 4950.0
        found[mode] = launches() - before
    assert found == {"on": 1, "trace": 3, "off": 3}


def test_a_mode_that_is_none_is_refused(fusion: Callable[[str], None]) -> None:
    with pytest.raises(ValueError, match="'on', 'trace' or 'off'"):
        fusion("maybe")


def test_reduction_of_a_numpy_array_is_one_launch() -> None:
    a = numpy.arange(float(N))
    before = launches()
    assert pk.parallel_reduce(N, sum_of, a=a) == 4950.0
    assert launches() == before + 1


def test_launch_on_a_numpy_array_that_fails_leaves_nothing_behind() -> None:
    a, b = numpy.zeros(N), pk.View([N])
    with pytest.raises(IndexError):
        pk.parallel_for(N + 1, ramp, a=a)
    pk.parallel_for(N, ramp, a=b)
    assert _core.has_pending()  # launches on views wait as before
    assert not a.any() and b[3] == 3.0


def test_what_a_condition_changed_is_seen_behind_it_in_one_kernel() -> None:
    @pk.workunit
    def reflect(i, x, way):
        x[i] += way[i]
        if x[i] < 10.0:
            x[i] = -x[i]
            way[i] = 1.0
        elif x[i] > 90.0:
            x[i] = 2.0 - x[i]
            way[i] = -1.0

    @pk.workunit
    def halve(i, x, limit):
        if x[i] > limit:
            x[i] *= 0.5

    @pk.workunit
    def follow(i, x, way, out):
        out[i] = x[i] + 100 * way[i]

    x, way, out = ramped(), pk.View([N]), pk.View([N])
    way.fill(-2.0)
    before = launches()
    pk.parallel_for(N, reflect, x=x, way=way)
    pk.parallel_for(N, halve, x=x, limit=40.0)
    pk.parallel_for(N, follow, x=x, way=way, out=out)
    assert launches() == before + 1
    a = numpy.arange(N) - 2.0
    b = numpy.select([a < 10, a > 90], [-a, 2 - a], a)
    b = numpy.where(b > 40, b * 0.5, b)
    c = numpy.select([a < 10, a > 90], [1.0, -1.0], -2.0)
    assert x.data.tolist() == b.tolist()
    assert way.data.tolist() == c.tolist()
    assert out.data.tolist() == (b + 100 * c).tolist()


def test_elements_that_only_a_condition_reaches_are_never_touched() -> None:
    @pk.workunit
    def shift(i, a, b):
        if i < 50:
            a[i] = a[i] + b[i]
            b[i] = a[i] * 2.0

    a, b = pk.View([50]), pk.View([50])
    b.fill(3.0)
    pk.parallel_for(N, shift, a=a, b=b)
    assert a.data.tolist() == [3.0] * 50
    assert b.data.tolist() == [6.0] * 50


def test_dead_memory_behind_a_condition_keeps_no_value_from_the_other_branch() -> None:
    @pk.workunit
    def both(i, a, t, b):
        if i % 3 == 0:
            t[i] = a[i]
        else:
            if i % 3 == 1:
                t[i] = -a[i]
        b[i] = t[i]

    a, b = ramped(), pk.View([N])
    t = pk.View([N])
    t.fill(7.0)
    pk.parallel_for(N, both, a=a, t=t, b=b)
    expected = [(i, -i, 7)[i % 3] for i in range(N)]
    assert b.data.tolist() == expected
    assert t.data.tolist() == expected


def test_points_that_share_elements_of_a_flat_array_follow_one_another() -> None:
    @pk.workunit
    def move(i, y, x, a, b, c, d, e, f, m):
        for j in range(m):
            y[a * i + b * j + c] = y[d * i + e * j + f] * 0.5 + x[i] + j

    @pk.workunit
    def move_in_plane(i, k, y, a, b, c, d, e, f, m):
        for j in range(m):
            y[a * i + b * j + c * k + 200] = y[d * i + e * j + f * k + 200] * 0.5 + i + k

    random = numpy.random.RandomState(5)
    for _ in range(150):
        n, m, w = (int(k) for k in random.randint(1, (24, 6, 6)))
        a, b, d, e = (int(k) for k in random.randint(-7, 8, 4))
        if random.rand() < 0.5:
            d, e = a, b
        c, f = (int(k) for k in 300 + random.randint(-3, 4, 2) * random.randint(0, 2))
        start = random.random(600)
        numbers = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "m": m}
        x, y = pk.View([n]), pk.View([600])
        x[:] = start[:n]
        y[:] = start
        pk.parallel_for(n, move, y=y, x=x, **numbers)
        expected = start.copy()
        for i in range(n):
            for j in range(m):
                before = expected[d * i + e * j + f]
                expected[a * i + b * j + c] = before * 0.5 + start[i] + j
        assert numpy.array_equal(y.data, expected), (n, numbers)

        numbers.update(c=int(random.randint(-3, 30)), f=int(random.randint(-3, 30)))
        if random.rand() < 0.5:
            numbers.update(a=m, b=1, c=m * n, d=m, e=1, f=m * n)
        a, b, c, d, e, f = (numbers[name] for name in "abcdef")
        y = pk.View([1200])
        start = random.random(1200)
        y[:] = start
        pk.parallel_for(pk.MDRangePolicy([0, 0], [n, w]), move_in_plane, y=y, **numbers)
        expected = start.copy()
        for i in range(n):
            for k in range(w):
                for j in range(m):
                    before = expected[d * i + e * j + f * k + 200]
                    expected[a * i + b * j + c * k + 200] = before * 0.5 + i + k
        assert numpy.array_equal(y.data, expected), (n, w, numbers)


def test_rows_of_a_flat_array_run_at_the_same_time() -> None:
    @pk.workunit
    def fill_rows(i, y, m):
        for j in range(m):
            y[i * m + j] = i + 0.5 * j

    y, z = pk.View([N * 7]), pk.View([N])
    pk.parallel_for(N, fill_rows, y=y, m=7)
    pk.parallel_for(N, ramp, a=z)
    assert "in 1 kernel" in str(frit.explain())  # with points in order nothing runs together
    expected = numpy.arange(N)[:, None] + 0.5 * numpy.arange(7)
    assert y.data.tolist() == expected.ravel().tolist()


@pk.workunit
def long_inside(i, out, n):
    s: float = 0.0
    for k in range(n):
        for j in range(k, n):
            s += (k * j) % 7
    out[i] = s


def test_few_points_with_long_loops_wait_for_their_code():
    """The interpreter would take a hundred times what the compiler takes."""
    _core.set_tier("automatic")
    out, n = pk.View([2]), 3000
    frit.eval()
    before = _core.statistics()
    pk.parallel_for(2, long_inside, out=out, n=n)
    k = numpy.arange(n)
    assert out[1] == numpy.triu(numpy.multiply.outer(k, k) % 7).sum()
    assert _core.statistics()["interpreted_launches"] == before["interpreted_launches"]
