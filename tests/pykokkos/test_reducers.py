"""test_reducers.py: reductions other than sums, alone and together."""

from __future__ import annotations

import numpy
import pytest

import frit.pykokkos as pk
from frit import _core
from frit.translate import TranslationError


@pk.workunit
def least(i, low: pk.MinLoc[pk.double], a):
    if a[i] < low.val:
        low.val = a[i]
        low.loc = i


@pk.workunit
def largest(i, high: pk.MaxLoc[pk.int32], a):
    if a[i] > high.val:
        high.val = a[i]
        high.loc = i


@pk.workunit
def ends(i, both: pk.MinMax[pk.double], a):
    both.min_val = pk.min(both.min_val, a[i])
    both.max_val = pk.max(both.max_val, a[i])


@pk.workunit
def found_ends(i, both: pk.MinMaxLoc[pk.double], a):
    if a[i] < both.min_val:
        both.min_val = a[i]
        both.min_loc = i
    if a[i] > both.max_val:
        both.max_val = a[i]
        both.max_loc = i


@pk.workunit
def several(i, total: pk.Acc[pk.double], low: pk.MinLoc[pk.double], high: pk.Max[pk.double], a):
    total += a[i]
    if a[i] < low.val:
        low.val = a[i]
        low.loc = i
    high = pk.max(high, a[i])


@pk.workunit
def least_of_plane(i, j, low: pk.MinLoc[pk.double], a):
    if a[i][j] < low.val:
        low.val = a[i][j]
        low.loc = i * 100 + j


@pk.workunit
def double_values(i, a):
    a[i] *= 2


def doubles(values: object) -> pk.View:
    values = numpy.asarray(values, float)
    view = pk.View(list(values.shape), pk.double)
    view[:] = values
    return view


@pytest.fixture(params=["on", "off"], autouse=True)
def fusion(request: pytest.FixtureRequest):
    _core.set_fusion(request.param)
    yield
    _core.set_fusion("on")


@pytest.mark.parametrize("n", [1, 7, 1000, 100_003])
def test_locations_are_those_of_the_first_extreme(n: int, tier: str) -> None:
    a = numpy.random.RandomState(n).randint(0, max(n // 3, 2), n).astype(float)
    view = doubles(a)
    pk.parallel_for(n, double_values, a=view)
    low = pk.parallel_reduce(n, least, a=view)
    both = pk.parallel_reduce(n, found_ends, a=view)
    pk.parallel_for(n, double_values, a=view)  # what the reductions saw stays
    assert (low.val, low.loc) == (2 * a.min(), a.argmin())
    assert tuple(both) == (2 * a.min(), a.argmin(), 2 * a.max(), a.argmax())
    plain = pk.parallel_reduce(n, ends, a=view)
    assert (plain.min_val, plain.max_val) == (4 * a.min(), 4 * a.max())


def test_integers_and_ranges_that_begin_later() -> None:
    a = numpy.array([9, -3, 5, 8, 8, -7], "int32")
    view = pk.View([6], pk.int32)
    view[:] = a
    value, place = pk.parallel_reduce(pk.RangePolicy(1, 5), largest, a=view)
    assert (value, place) == (8, 3)
    assert isinstance(place, int)


def test_two_dimensions() -> None:
    a = numpy.random.RandomState(3).random((40, 50))
    low = pk.parallel_reduce(pk.MDRangePolicy([0, 0], [40, 50]), least_of_plane, a=doubles(a))
    i, j = numpy.unravel_index(a.argmin(), a.shape)
    assert (low.val, low.loc) == (a.min(), i * 100 + j)


def test_several_accumulators_of_all_kinds() -> None:
    a = numpy.random.RandomState(4).random(1000)
    total, low, high = pk.parallel_reduce(1000, several, a=doubles(a))
    assert (float(total), float(high)) == (a.sum(), a.max())
    assert (low.val, low.loc) == (a.min(), a.argmin())


def test_a_sum_over_no_points_is_zero() -> None:
    @pk.workunit
    def count(i, j, acc):
        acc += 1

    for policy in (pk.MDRangePolicy([0, 0], [0, 5]), pk.MDRangePolicy([2, 5], [2, 2])):
        assert repr(float(pk.parallel_reduce(policy, count))) == "0.0"  # not -0.0


def test_no_point_and_no_number() -> None:
    low = pk.parallel_reduce(0, least, a=doubles([1.0]))
    assert (low.val, low.loc) == (numpy.inf, -1)
    low = pk.parallel_reduce(2, least, a=doubles([numpy.nan, numpy.nan]))
    assert (low.val, low.loc) == (numpy.inf, -1)
    high = pk.parallel_reduce(3, found_ends, a=doubles([numpy.nan, 2.0, numpy.nan]))
    assert tuple(high) == (2.0, 1, 2.0, 1)
    assert repr(high) == "Extremes(min_val=2.0, min_loc=1, max_val=2.0, max_loc=1)"
    with pytest.raises(AttributeError, match="there is min_val, min_loc, max_val, max_loc"):
        high.loc  # noqa: B018


def test_a_sum_that_is_read_has_come_to_what_the_points_before_have_added() -> None:
    @pk.workunit
    def collect(i, n: pk.Acc[pk.int32], a, out):
        if a[i] > 0.5:
            out[n] = a[i]
            n += 1

    @pk.workunit
    def limited(i, total: pk.Acc[pk.double], a):
        if total < 2.0:
            total = total + a[i]

    a = numpy.random.RandomState(7).random(500)
    out = doubles(numpy.zeros(500))
    for space in (pk.ExecutionSpace.Serial, pk.ExecutionSpace.OpenMP):
        found = pk.parallel_reduce(pk.RangePolicy(space, 1, 500), collect, a=doubles(a), out=out)
        kept = a[1:][a[1:] > 0.5]
        assert int(found) == len(kept)
        assert numpy.array_equal(numpy.array(out)[: len(kept)], kept)

    @pk.workunit
    def plain(i, total, a):
        total = total + a[i]

    assert pk.parallel_reduce(500, plain, a=doubles(a)) == a.sum()  # NumPy's order: in parallel
    expected = 0.0
    for x in a:
        expected = expected + x if expected < 2.0 else expected
    assert pk.parallel_reduce(500, limited, a=doubles(a)) == expected


def test_debug_space_gives_the_same() -> None:
    a = numpy.random.RandomState(5).randint(0, 9, 60).astype(float)
    points = pk.RangePolicy(pk.ExecutionSpace.Debug, 0, 60)
    for kernel in (least, ends, found_ends):
        seen = tuple(pk.parallel_reduce(points, kernel, a=doubles(a)))
        assert seen == tuple(pk.parallel_reduce(60, kernel, a=doubles(a)))


def test_debug_gives_back_what_a_kernel_assigns() -> None:
    bound = 5.0

    @pk.functor
    class Bounded:
        def __init__(self) -> None:
            self.scale = 2.0

        @pk.workunit
        def find(self, i: int, low: pk.Min[pk.double], high: pk.Max[pk.int32], a):
            if a[i] > bound:
                return

            def raised(x: float) -> float:
                return x * self.scale

            low = pk.min(low, raised(a[i]))
            high = pk.max(high, i)

    a = doubles(numpy.random.RandomState(8).randint(-9, 9, 40).astype(float))
    points = pk.RangePolicy(pk.ExecutionSpace.Debug, 0, 40)
    seen = pk.parallel_reduce(points, Bounded().find, a=a)
    assert seen == tuple(pk.parallel_reduce(40, Bounded().find, a=a))


def test_nested_reductions_start_at_what_changes_nothing() -> None:
    @pk.workunit
    def rows(team: pk.TeamMember, a, out, places):
        row = team.league_rank()

        def high(j: int, best: pk.Max[pk.double]):
            best = pk.max(best, a[row][j])

        def low(j: int, best: pk.MinLoc[pk.double]):
            if a[row][j] < best.val:
                best.val = a[row][j]
                best.loc = j

        for _ in range(2):  # each time anew
            out[row] = pk.parallel_reduce(pk.TeamThreadRange(team, a.extent(1)), high)
            found = pk.parallel_reduce(pk.TeamThreadRange(team, a.extent(1)), low)
            places[row] = found.loc

    a = -numpy.random.RandomState(6).random((5, 30)) - 1
    out, places = doubles(numpy.zeros(5)), doubles(numpy.zeros(5))
    for space, size in ((pk.ExecutionSpace.OpenMP, pk.AUTO), (pk.ExecutionSpace.Debug, 3)):
        policy = pk.TeamPolicy(space, 5, size)
        out.fill(0)
        pk.parallel_for(policy, rows, a=doubles(a), out=out, places=places)
        assert numpy.array_equal(out, a.max(axis=1))
        assert numpy.array_equal(places, a.argmin(axis=1))


def test_what_cannot_be_is_refused() -> None:
    @pk.workunit
    def scan(i, low: pk.MinLoc[pk.double], last, a):
        low.val = a[i]

    with pytest.raises(TranslationError, match=r"a scan by pk.MinLoc.*scan sums"):
        pk.parallel_scan(3, scan, a=doubles([1, 2, 3]))
    with pytest.raises(TypeError, match="initial"):
        pk.parallel_reduce(3, least, 5.0, a=doubles([1, 2, 3]))


def test_an_initial_value_and_printf(capfd: pytest.CaptureFixture[str]) -> None:
    @pk.workunit
    def loud(i, acc, a):
        pk.printf("%d\n", i)
        acc += a[i]

    assert pk.parallel_reduce(2, loud, 10.0, a=doubles([1, 2])) == 13.0
    assert capfd.readouterr().out.split() == ["0", "1"]
