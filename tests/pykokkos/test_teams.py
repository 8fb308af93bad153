"""test_teams.py: teams of threads with numbers of their own, which meet at barriers."""

from __future__ import annotations

import importlib.util
import itertools
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import team_programs
from views import numbers, view

import frit
import frit.pykokkos as pk
from frit import _core
from frit.translate import TranslationError

PROGRAMS = max(40, int(os.environ.get("FRIT_FUZZ_PROGRAMS", "500")) // 10)
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
IMMEDIATE_BYTES = _core.set_immediate_bytes(0)
_core.set_immediate_bytes(IMMEDIATE_BYTES)


# ---- what such programs do ----------------------------------------------------------------------


@pk.workunit
def sum_by_halves(tm, x, out, n):
    tid: int = tm.team_rank()
    size: int = tm.team_size()
    i: int = tm.league_rank() * size + tid
    s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), size)
    s[tid] = x[i] if i < n else 0.0
    tm.team_barrier()
    stride: int = size // 2
    while stride > 0:
        if tid < stride:
            s[tid] += s[tid + stride]
        tm.team_barrier()
        stride = stride // 2
    if tid == 0:
        out[tm.league_rank()] = s[0]


def test_sums_by_halves(tier: str) -> None:
    n, size = 1000, 32
    league = -(-n // size)
    x, out = numbers(1, n), pk.View([league])
    pk.parallel_for(pk.TeamPolicy(league, size), sum_by_halves, x=view(x), out=out, n=n)
    padded = numpy.pad(x, (0, league * size - n)).reshape(league, size)
    assert numpy.array_equal(numpy.asarray(out), padded.sum(axis=1))


@pk.workunit
def mirror(tm, x, y, size):
    s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), size + 1)
    tid: int = tm.team_rank()
    first: int = tm.league_rank() * size
    kept: float = x[first + tid]
    if tm.league_rank() % 3 == 0:
        s[tid] = x[first + tid]
    tm.team_barrier()
    y[first + tid] = s[size - 1 - tid] + kept * s[size]


def test_scratch_memory_is_that_of_the_teams_which_run(tier: str) -> None:
    league, size = 900, 40
    x, y = numbers(4, league * size), pk.View([league * size])
    given = view(x)
    with numpy.errstate(all="ignore"):  # warnings that somebody records end the delay of zeros
        pk.parallel_for(pk.TeamPolicy(league, size), mirror, x=given, y=y, size=size)
        frit.eval()
    explained = str(frit.explain())
    assert "in 1 kernel;" in explained and "2 temporaries never stored" in explained
    expected = x.reshape(league, size)[:, ::-1].copy()
    expected[numpy.arange(league) % 3 > 0] = 0.0
    assert numpy.array_equal(numpy.asarray(y), expected.ravel())


@pk.workunit
def matmul_by_tiles(tm, a, b, c, tile):
    tid: int = tm.team_rank()
    tiles: int = a.extent(0) // tile
    row: int = tm.league_rank() // tiles * tile + tid // tile
    column: int = tm.league_rank() % tiles * tile + tid % tile
    ty: int = tid // tile
    tx: int = tid % tile
    s: pk.ScratchView2D[pk.double] = pk.ScratchView2D(tm.team_scratch(0), tile, tile)
    t: pk.ScratchView2D[pk.double] = pk.ScratchView2D(tm.team_scratch(0), tile, tile)
    total: float = 0
    for k in range(tiles):
        s[ty][tx] = a[row][k * tile + tx]
        t[ty][tx] = b[k * tile + ty][column]
        tm.team_barrier()
        for m in range(tile):
            total += s[ty][m] * t[m][tx]
        tm.team_barrier()
    c[row][column] = total


def test_a_matrix_product_by_tiles(tier: str) -> None:
    n, tile = 24, 8
    a, b, c = numbers(2, n, n), numbers(3, n, n), pk.View([n, n])
    policy = pk.TeamPolicy((n // tile) ** 2, tile * tile)
    pk.parallel_for(policy, matmul_by_tiles, a=view(a), b=view(b), c=c, tile=tile)
    assert numpy.array_equal(numpy.asarray(c), a @ b)


@pk.workunit
def three_points(tm, acc, x, y, n):
    tid: int = tm.team_rank()
    i: int = tm.league_rank() * tm.team_size() + tid
    s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), tm.team_size() + 2)
    if i < n:
        s[tid + 1] = x[i]
    if tid == 0:
        s[0] = x[i - 1] if i > 0 else 0.0
    if tid == tm.team_size() - 1:
        s[tid + 2] = x[i + 1] if i + 1 < n else 0.0
    tm.team_barrier()
    if i < n:
        v: float = s[tid] + s[tid + 1] + s[tid + 2]
        y[i] = v
        acc += v


def test_a_stencil_with_a_halo_and_a_sum(tier: str) -> None:
    n = 500
    x, y = numbers(4, n), pk.View([n])
    total = pk.parallel_reduce(pk.TeamPolicy(16, 32), three_points, x=view(x), y=y, n=n)
    padded = numpy.pad(x, 1)
    expected = padded[:-2] + padded[1:-1] + padded[2:]
    assert numpy.array_equal(numpy.asarray(y), expected)
    assert float(total) == expected.sum()


@pk.workunit
def sums_here_and_there(tm, acc, x, n):
    tid: int = tm.team_rank()
    size: int = tm.team_size()
    s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), size)
    s[tid] = x[tm.league_rank() * size + tid]
    if n > 1:
        tm.team_barrier()
        acc += s[size - 1 - tid]
    for k in range(n):
        tm.team_barrier()
        if tid % 2 == k % 2:
            acc += s[(tid + k) % size] * k
        tm.team_barrier()
    if tid == 0:
        acc += 0.5


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_threads_add_to_a_sum_wherever_they_are(tier: str, n: int) -> None:
    league, size = 3, 6
    x = numpy.arange(1.0, 1 + league * size).reshape(league, size)
    expected = 0.5 * league + (x.sum() if n > 1 else 0)
    for k in range(n):
        places = [t for t in range(size) if t % 2 == k % 2]
        expected += k * sum(x[:, (t + k) % size].sum() for t in places)
    policy = pk.TeamPolicy(league, size)
    total = pk.parallel_reduce(policy, sums_here_and_there, x=view(x.ravel()), n=n)
    assert float(total) == expected


@pk.workunit
def sum_under_a_condition(tm, acc, x, n):
    tid: int = tm.team_rank()
    s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), tm.team_size())
    s[tid] = x[tid]
    if n > 1:
        tm.team_barrier()
        acc += s[tid]


@pytest.mark.parametrize("n", [0, 2])
def test_a_sum_that_is_not_come_to_stays_zero(tier: str, n: int) -> None:
    for _ in range(3):  # memory that was in use
        x = view(numpy.full(4, 7.0))
        total = pk.parallel_reduce(pk.TeamPolicy(50, 4), sum_under_a_condition, x=x, n=n)
        assert float(total) == (50 * 28 if n else 0)


def pair_energies(tm, acc, x):
    tid: int = tm.team_rank()
    size: int = tm.team_size()
    s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), size)
    s[tid] = x[tm.league_rank() * size + tid]
    tm.team_barrier()
    for k in range(size):
        acc += 1.0 / (abs(s[tid] - s[k]) + 0.1)


def test_threads_that_add_to_a_sum_are_lanes(tier: str) -> None:
    league, size = 2, 50
    x = numbers(9, league * size)
    policy = pk.TeamPolicy(league, size)
    frit.eval()
    total = float(pk.parallel_reduce(policy, pk.workunit(pair_energies), x=view(x)))
    assert "with lanes along loops inside" in str(frit.explain())
    expected = 0.0
    for s in x.reshape(league, size):
        of_threads = [0.0] * size
        for t in range(size):
            for k in range(size):
                of_threads[t] += 1.0 / (abs(s[t] - s[k]) + 0.1)
        of_team = 0.0
        for value in of_threads:
            of_team += value
        expected += of_team
    assert total == expected


@pk.workunit
def scan_of_team(tm, x, out):
    size: int = tm.team_size()
    tid: int = tm.team_rank()
    i: int = tm.league_rank() * size + tid
    s: pk.ScratchView1D[pk.int32] = pk.ScratchView1D(tm.team_scratch(0), size)
    s[tid] = x[i]
    tm.team_barrier()
    reach: int = 1
    while reach < size:
        before: int = 0
        if tid >= reach:
            before = s[tid - reach]
        tm.team_barrier()
        s[tid] += before
        tm.team_barrier()
        reach = reach * 2
    out[i] = s[tid]


def test_a_scan_of_each_team(tier: str) -> None:
    x = numpy.random.RandomState(5).randint(-9, 9, (5, 8))
    out = pk.View([40], pk.int32)
    pk.parallel_for(pk.TeamPolicy(5, 8), scan_of_team, x=view(x.ravel(), pk.int32), out=out)
    assert numpy.array_equal(numpy.asarray(out).reshape(5, 8), x.cumsum(axis=1))


@pk.workunit
def histogram_of_team(tm, x, counts, each):
    tid: int = tm.team_rank()
    bins: int = counts.extent(0)
    s: pk.ScratchView1D[pk.int64] = pk.ScratchView1D(tm.team_scratch(0), bins)
    for bin in range(tid, bins, tm.team_size()):
        s[bin] = 0
    tm.team_barrier()
    first: int = tm.league_rank() * each
    for k in range(tid, each, tm.team_size()):
        pk.atomic_add(s, [x[first + k]], 1)
    tm.team_barrier()
    for bin in range(tid, bins, tm.team_size()):
        pk.atomic_add(counts, [bin], s[bin])


def test_a_histogram_in_scratch_memory(tier: str) -> None:
    x = numpy.random.RandomState(6).randint(0, 7, (6, 50))
    counts = view(numpy.zeros(7), pk.int64)
    given = view(x.ravel(), pk.int64)
    pk.parallel_for(pk.TeamPolicy(6, 4), histogram_of_team, x=given, counts=counts, each=50)
    assert numpy.asarray(counts).tolist() == numpy.bincount(x.ravel()).tolist()


def test_threads_that_do_the_same_do_it_each(tier: str) -> None:
    @pk.workunit
    def count(tm, acc, counts, once, out):
        s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), 1)
        n = 0
        for _ in range(3):
            n += 1
        pk.atomic_add(counts, [tm.league_rank()], n)
        acc += 1

        def first():
            once[tm.league_rank()] += 1

        pk.single(pk.PerTeam(tm), first)
        if tm.team_rank() == 0:
            s[0] = n
        tm.team_barrier()
        out[tm.league_rank() * tm.team_size() + tm.team_rank()] = s[0] + n

    counts, once, out = view(numpy.zeros(5)), view(numpy.zeros(5)), pk.View([20])
    arrays = {"counts": counts, "once": once, "out": out}
    assert pk.parallel_reduce(pk.TeamPolicy(5, 4), count, **arrays) == 20
    assert list(counts) == [12.0] * 5
    assert list(once) == [1.0] * 5
    assert list(out) == [6.0] * 20


@pk.workunit
def turned(tm, x, out):
    tid: int = tm.team_rank()
    n: int = tm.team_size()
    s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), n)
    s[tid] = x[tm.league_rank() * n + tid]
    tm.team_barrier()
    out[tm.league_rank() * n + tid] = s[n - 1 - tid]


@pk.workunit
def numbered(tm, out):
    out[tm.league_rank() * tm.team_size() + tm.team_rank()] = tm.team_rank()


def test_teams_of_each_size_have_a_kernel_that_fits(tier: str) -> None:
    x = numbers(10, 24)
    for size in (1, 4, pk.AUTO, 3, 1, 8):
        each = size if isinstance(size, int) else 1
        league = 24 // each
        out, ranks = pk.View([24]), pk.View([24])
        pk.parallel_for(pk.TeamPolicy(league, size), turned, x=view(x), out=out)
        pk.parallel_for(pk.TeamPolicy(league, size), numbered, out=ranks)
        assert numpy.array_equal(numpy.asarray(out), x.reshape(-1, each)[:, ::-1].ravel())
        assert numpy.asarray(ranks)[: league * each].tolist() == list(range(each)) * league


@pk.functor
class Turning:
    def __init__(self, n: int) -> None:
        self.n = n
        self.x: pk.View1D[pk.double] = pk.View([n], pk.double)
        self.out: pk.View1D[pk.double] = pk.View([n], pk.double)

    @pk.workunit
    def run(self, tm: pk.TeamMember):
        tid: int = tm.team_rank()
        s: pk.ScratchView1D[float] = pk.ScratchView1D(tm.team_scratch(0), tm.team_size())
        i: int = tm.league_rank() * tm.team_size() + tid
        if i < self.n:
            s[tid] = self.x[i]
        tm.team_barrier()
        if i < self.n:
            self.out[i] = s[tm.team_size() - 1 - tid]


def test_a_method_whose_threads_meet(tier: str) -> None:
    turning = Turning(12)
    turning.x[:] = numpy.arange(12.0)
    for league, size in ((3, 4), (2, 6), (0, 4)):
        turning.out.fill(0)
        pk.parallel_for(pk.TeamPolicy(league, size), turning.run)
        expected = numpy.arange(12.0).reshape(-1, size)[:, ::-1].ravel()
        assert numpy.array_equal(numpy.asarray(turning.out), expected if league else 0 * expected)


def test_a_variable_of_one_phase_lives_from_round_to_round(tier: str) -> None:
    @pk.workunit
    def carry(tm, x, out):
        tid: int = tm.team_rank()
        size: int = tm.team_size()
        s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), size)
        t: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), size)
        s[tid] = x[tid]
        tm.team_barrier()
        for r in range(3):
            if r == 0:
                w = x[tid] * 2
            w += s[(tid + 1) % size]
            t[tid] = w
            tm.team_barrier()
            s[tid] = t[tid]
            tm.team_barrier()
        out[tid] = s[tid]

    x, out = numbers(9, 4), pk.View([4])
    pk.parallel_for(pk.TeamPolicy(1, 4), carry, x=view(x), out=out)
    w, s = 2 * x, x
    for _ in range(3):
        w = w + numpy.roll(s, -1)
        s = w
    assert numpy.array_equal(numpy.asarray(out), w)


def test_teams_that_meet_fuse_with_nothing_wrongly(tier: str) -> None:
    @pk.workunit
    def fill(i, x):
        x[i] = i % 7 - 3

    @pk.workunit
    def double(i, out):
        out[i] *= 2

    x, out = pk.View([64]), pk.View([4])
    pk.parallel_for(64, fill, x=x)
    pk.parallel_for(pk.TeamPolicy(4, 16), sum_by_halves, x=x, out=out, n=64)
    pk.parallel_for(4, double, out=out)
    expected = 2 * (numpy.arange(64) % 7 - 3).reshape(4, 16).sum(axis=1)
    assert numpy.array_equal(numpy.asarray(out), expected)


def test_the_length_of_scratch_memory_is_the_kernels_own_variable(tier: str) -> None:
    @pk.workunit
    def keep(tm, out):
        LENGTH: int = tm.team_size() * 2 + out.extent(0) - tm.league_size()
        s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), LENGTH)
        s[LENGTH - 1] = tm.league_rank()
        tm.team_barrier()
        out[tm.league_rank()] = s[LENGTH - 1]

    out = pk.View([3])
    pk.parallel_for(pk.TeamPolicy(3, 4), keep, out=out)
    assert list(out) == [0.0, 1.0, 2.0]


LENGTH = 1  # no length of any scratch view: a kernel's own variable has this name


# ---- what is refused ----------------------------------------------------------------------------


@pk.workunit
def barrier_in_a_branch(tm, x):
    if tm.team_rank() < 2:
        tm.team_barrier()
    x[tm.team_rank()] = 1


@pk.workunit
def rounds_of_a_thread(tm, x):
    for _ in range(tm.team_rank()):
        tm.team_barrier()
    x[tm.team_rank()] = 1


@pk.workunit
def early_return(tm, x):
    if tm.team_rank() > 2:
        return
    tm.team_barrier()
    x[tm.team_rank()] = 1


@pk.workunit
def left_loop(tm, x):
    for k in range(4):
        tm.team_barrier()
        if k == 2:
            break
    x[tm.team_rank()] = 1


@pk.workunit
def row_across(tm, x, a):
    row = a[tm.team_rank()]
    row[0] = 1
    tm.team_barrier()
    row[1] = 2


@pk.workunit
def shared_list(tm, x):
    t = [0.0, 0.0]
    t[0] = x[tm.team_rank()]
    tm.team_barrier()
    x[tm.team_rank()] = t[0]


@pk.workunit
def changed_outside(tm, x):
    total = 0.0

    def first():
        nonlocal total
        total = 1.0

    pk.single(pk.PerTeam(tm), first)
    tm.team_barrier()
    x[tm.team_rank()] = total


@pk.workunit
def several_lengths(tm, x):
    n = 2
    n = n + 1
    s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), n)
    s[tm.team_rank()] = 1
    tm.team_barrier()
    x[tm.team_rank()] = s[0]


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (barrier_in_a_branch, "where threads of a team go different ways"),
        (rounds_of_a_thread, "where threads of a team go different ways"),
        (early_return, "return where threads of a team meet"),
        (left_loop, "break or continue around a team_barrier"),
        (row_across, "a view that depends on a condition|on both sides"),
        (shared_list, "a change of 't' by threads that meet"),
        (changed_outside, "nonlocal total where threads of a team meet"),
        (several_lengths, "the extent n of a scratch view"),
    ],
)
def test_what_threads_that_meet_cannot_do(kernel: Any, says: str) -> None:
    arguments = {"x": pk.View([4])}
    if kernel is row_across:
        arguments["a"] = pk.View([4, 4])
    with pytest.raises(TranslationError, match=says) as error:
        pk.parallel_for(pk.TeamPolicy(1, 4), kernel, **arguments)
    assert "test_teams.py, line" in str(error.value)
    assert list(arguments["x"]) == [0.0] * 4


def test_an_index_past_scratch_memory_is_an_error(tier: str) -> None:
    @pk.workunit
    def outside(tm, x):
        s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(tm.team_scratch(0), tm.team_size())
        s[tm.team_rank() + 1] = 1.0
        tm.team_barrier()
        x[tm.team_rank()] = s[tm.team_rank()]

    x = pk.View([4])
    with pytest.raises(IndexError, match="scratch"):
        pk.parallel_for(pk.TeamPolicy(1, 4), outside, x=x)
        frit.eval()
    assert list(x) == [0.0] * 4


# ---- the Debug space ----------------------------------------------------------------------------

DEBUG = pk.ExecutionSpace.Debug


def test_debug_runs_the_threads_of_a_team_by_turns() -> None:
    x, out, y = numbers(11, 16), pk.View([4]), pk.View([16])
    pk.parallel_for(pk.TeamPolicy(DEBUG, 4, 4), sum_by_halves, x=view(x), out=out, n=16)
    assert numpy.array_equal(numpy.asarray(out), x.reshape(4, 4).sum(axis=1))
    total = pk.parallel_reduce(pk.TeamPolicy(DEBUG, 4, 4), three_points, x=view(x), y=y, n=16)
    padded = numpy.pad(x, 1)
    assert numpy.array_equal(numpy.asarray(y), padded[:-2] + padded[1:-1] + padded[2:])
    assert float(total) == numpy.asarray(y).sum()
    a, b, c = numbers(2, 4, 4), numbers(3, 4, 4), pk.View([4, 4])
    policy = pk.TeamPolicy(DEBUG, 4, 4)
    pk.parallel_for(policy, matmul_by_tiles, a=view(a), b=view(b), c=c, tile=2)
    assert numpy.array_equal(numpy.asarray(c), a @ b)


def test_a_team_whose_threads_cannot_all_start_leaves_none_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start, left = threading.Thread.start, 2

    def start_two(thread: threading.Thread) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise RuntimeError("can't start new thread")
        start(thread)

    before, x, out = threading.active_count(), numbers(11, 16), pk.View([4])
    policy = pk.TeamPolicy(DEBUG, 4, 4)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start_two)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            pk.parallel_for(policy, sum_by_halves, x=view(x), out=out, n=16)
    assert threading.active_count() == before
    pk.parallel_for(policy, sum_by_halves, x=view(x), out=out, n=16)
    assert numpy.array_equal(numpy.asarray(out), x.reshape(4, 4).sum(axis=1))


def test_debug_shares_the_points_of_a_team_out(capsys: pytest.CaptureFixture[str]) -> None:
    @pk.workunit
    def nest(tm, acc, x, y, z):
        team: int = tm.league_rank()

        def rise(j: int):
            x[team * 5 + j] += 1

        def both(j: int, k: int):
            y[team * 5 + j, k] += 1

        def part(j: int, sum: pk.Acc[pk.double]):
            sum += x[team * 5 + j]

        def running(j: int, sum: pk.Acc[pk.double], last: bool):
            sum += x[team * 5 + j]
            if last:
                z[team * 5 + j] = sum

        def once():
            nonlocal acc
            acc += total
            pk.printf("%d", team)

        pk.parallel_for(pk.TeamThreadRange(tm, 5), rise)
        pk.parallel_for(pk.TeamThreadMDRange(tm, 5, 2), both)
        tm.team_barrier()
        total: float = pk.parallel_reduce(pk.TeamThreadRange(tm, 5), part)
        pk.parallel_scan(pk.TeamThreadRange(tm, 5), running)
        pk.single(pk.PerTeam(tm), once)

    for size in (1, 2, 3):
        x, y, z = view(numpy.arange(10.0)), pk.View([10, 2]), pk.View([10])
        policy = pk.TeamPolicy(DEBUG, 2, size)
        assert pk.parallel_reduce(policy, nest, x=x, y=y, z=z) == 55
        assert list(x) == list(range(1, 11))
        assert numpy.asarray(y).tolist() == [[1, 1]] * 10
        rows = numpy.arange(1.0, 11).reshape(2, 5)
        assert list(z) == rows.cumsum(axis=1).ravel().tolist()
    assert capsys.readouterr().out == "01" * 3


def test_debug_tells_what_a_thread_raised() -> None:
    @pk.workunit
    def fail(tm, x):
        tm.team_barrier()
        if tm.team_rank() == 1:
            raise KeyError("thread 1")
        tm.team_barrier()
        x[tm.team_rank()] = 1

    x = pk.View([4])
    with pytest.raises(KeyError, match="thread 1"):
        pk.parallel_for(pk.TeamPolicy(DEBUG, 1, 4), fail, x=x)
    assert list(x) == [0.0] * 4


# ---- random ones --------------------------------------------------------------------------------


def by_threads(function: Any, size: int, a: Any, b: Any, points: int) -> list[float]:
    out = numpy.zeros(points)
    total = team_programs.run_threads(
        function,
        team_programs.LEAGUE,
        size,
        function.__name__ == "reduction",
        {"a": a, "b": b, "out": out, "x": 2},
    )
    return [*out.tolist(), total]


def by_frit(
    function: Any, size: int, a: Any, b: Any, points: int, space: Any = pk.ExecutionSpace.OpenMP
) -> list[float]:
    out, policy = pk.View([points]), pk.TeamPolicy(space, team_programs.LEAGUE, size)
    arrays = {"a": view(a), "b": view(b), "out": out, "x": 2}
    if function.__name__ == "reduction":
        total = pk.parallel_reduce(policy, function, **arrays)
    else:
        total = 0.0
        pk.parallel_for(policy, function, **arrays)
    return [*numpy.asarray(out).tolist(), float(total)]


@pytest.fixture
def teams_on_threads() -> Iterator[None]:
    """Also the shortest launch is shared out."""
    cost, threads = _core.set_part_cost(1.0), _core.threads()
    frit.set_num_threads(2)
    yield
    frit.set_num_threads(threads)
    _core.set_part_cost(cost)
    _core.set_immediate_bytes(IMMEDIATE_BYTES)


# With 0 scratch memory is not filled before its kernel is recorded: it has a team's size.
@pytest.mark.usefixtures("teams_on_threads")
@pytest.mark.parametrize("part", range(4))
def test_random_kernels_give_what_threads_give(part: int, tmp_path: Path) -> None:
    for seed in range(FIRST + part, FIRST + PROGRAMS, 4):
        source = team_programs.source(seed)
        path = tmp_path / f"teams_{seed}.py"
        path.write_text("import frit.pykokkos as pk\n\n\n" + source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        surroundings = {"pk": team_programs.Threads}
        exec(compile(source, str(path), "exec"), surroundings)
        size = team_programs.SIZES[seed % len(team_programs.SIZES)]
        tiers = ["interpreter", "compiled"] if seed % 8 == 0 else ["interpreter"]
        for name in ("kernel", "reduction"):
            points = team_programs.LEAGUE * size
            a, b = numbers(7, points), numbers(8, points)
            expected = by_threads(surroundings[name], size, a, b, points)
            for tier, immediate_bytes in itertools.product(tiers, (IMMEDIATE_BYTES, 0)):
                _core.set_tier(tier)
                _core.set_immediate_bytes(immediate_bytes)
                with numpy.errstate(all="ignore"):  # warnings that somebody records end delays
                    found = by_frit(getattr(module, name), size, a, b, points)
                what = f"seed {seed}, {name}, size {size}, {tier}, {immediate_bytes}"
                assert found == expected, f"{what}\n{source}"
            if seed % 3 == 0:
                debug = pk.ExecutionSpace.Debug
                found = by_frit(getattr(module, name), size, a, b, points, debug)
                assert found == expected, f"seed {seed}, {name}, size {size}, Debug\n{source}"
