"""test_indices.py: indices that data decide: never outside of a view, and found once."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
from collections.abc import Iterator

import numpy
import pytest

import frit
import frit.numpy as np
import frit.pykokkos as pk
from frit import _core


@pk.workunit
def take(i, a, index, out):
    out[i] = a[index[i]]


@pk.workunit
def put(i, a, index, out):
    out[index[i]] = a[i]


@pk.workunit
def take_guarded(i, a, index, out):
    if index[i] >= 0:
        out[i] = a[index[i]]


@pk.workunit
def take_at(i, a, place, out):
    out[i] = a[int(place[i] * 4.0)]


@pk.workunit
def count(i, place, counts):
    pk.atomic_add(counts, [int(place[i])], 1)


@pk.workunit
def walk(i, next, out):
    at: int = i
    for _ in range(3):
        at = next[at]
    out[i] = at


@pk.workunit
def fill_bin(i, bin, counts, bins):
    place: int = pk.atomic_fetch_add(counts, [bin[i]], 1)
    bins[bin[i]][place] = i


@pk.workunit
def twice(i, a):
    a[i] *= 2


N = 1000


@pytest.fixture(params=["auto", "bounds"])
def check(request: pytest.FixtureRequest) -> Iterator[str]:
    _core.set_check(request.param)
    yield request.param
    _core.set_check("auto")


def ints(values: object) -> pk.View:
    values = numpy.asarray(values)
    view = pk.View([len(values)], pk.int64)
    view[:] = values
    return view


def doubles(values: object) -> pk.View:
    values = numpy.asarray(values, float)
    view = pk.View(list(values.shape), pk.double)
    view[:] = values
    return view


def evals() -> int:
    return _core.statistics()["evals"]


# ---- values -------------------------------------------------------------------------------------


def test_every_kind_of_index_finds_its_element(check: str, tier: str) -> None:
    rng = numpy.random.RandomState(1)
    index, a, place = rng.randint(0, N, N), rng.random(N), rng.random(N) * (N / 4 - 1)
    given = {"a": doubles(a), "index": ints(index)}
    out, spread, guarded, at = (doubles(numpy.zeros(N)) for _ in range(4))
    counts, walked = ints(numpy.zeros(N, int)), ints(numpy.zeros(N, int))
    pk.parallel_for(N, take, out=out, **given)
    pk.parallel_for(N, put, out=spread, **given)
    pk.parallel_for(N, take_guarded, a=given["a"], index=ints(index - 5), out=guarded)
    pk.parallel_for(N, take_at, a=given["a"], place=doubles(place), out=at)
    pk.parallel_for(N, count, place=doubles(place), counts=counts)
    pk.parallel_for(N, walk, next=given["index"], out=walked)
    expected = numpy.zeros(N)
    expected[index] = a
    assert numpy.array_equal(out, a[index])
    assert numpy.array_equal(spread, expected)
    assert numpy.array_equal(guarded, numpy.where(index >= 5, a[index - 5], 0.0))
    assert numpy.array_equal(at, a[(place * 4).astype(int)])
    assert numpy.array_equal(counts, numpy.bincount(place.astype(int), minlength=N))
    assert numpy.array_equal(walked, index[index[index]])


def test_an_index_from_what_the_kernel_writes(check: str) -> None:
    bin = numpy.arange(60) % 7
    counts = ints(numpy.zeros(7, int))
    bins = pk.View([7, 9], pk.int64)
    bins.fill(-1)
    pk.parallel_for(60, fill_bin, bin=ints(bin), counts=counts, bins=bins)
    assert numpy.array_equal(counts, numpy.bincount(bin))
    for b in range(7):
        assert list(numpy.array(bins)[b][: counts[b]]) == list(numpy.flatnonzero(bin == b))
    counts.fill(5)
    before = numpy.array(bins)
    with pytest.raises(IndexError, match=r"index 9 for axis 1 with size 9 of 'bins'"):
        pk.parallel_for(60, fill_bin, bin=ints(bin), counts=counts, bins=bins)
    assert numpy.array_equal(bins, before)
    assert numpy.array_equal(counts, numpy.full(7, 5))


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [N, -1, 2**40, -(2**62), 2**63 - 1])
def test_a_bad_index_is_told_and_nothing_is_written(check: str, tier: str, bad: int) -> None:
    index = numpy.arange(N)
    index[[700, 800]] = bad
    a, out = doubles(numpy.arange(N)), doubles(numpy.ones(N))
    for kernel, name in ((take, "a"), (put, "out")):
        with pytest.raises(
            IndexError, match=rf"index {bad} for axis 0 with size {N} of '{name}' \(.*test_indices"
        ):
            pk.parallel_for(N, kernel, a=a, index=ints(index), out=out)
        assert numpy.array_equal(out, numpy.ones(N))
    # Afterwards all is as before.
    pk.parallel_for(N, take, a=a, index=ints(numpy.arange(N)), out=out)
    assert numpy.array_equal(out, a)


@pytest.mark.parametrize("bad", [float(N), -1.0, numpy.nan, numpy.inf, -numpy.inf, 1e300])
def test_a_bad_computed_index_is_told(check: str, bad: float) -> None:
    place = numpy.linspace(0, 0.9, N)
    place[N // 2] = bad
    counts = ints(numpy.zeros(N, int))
    with pytest.raises(IndexError, match="of 'counts'.*nothing was written"):
        pk.parallel_for(N, count, place=doubles(place), counts=counts)
    assert not numpy.any(numpy.array(counts))


def test_a_bad_index_behind_a_bad_index(check: str) -> None:
    following = numpy.arange(N) + 1
    with pytest.raises(IndexError, match="index 1000 for axis 0 with size 1000 of 'next'"):
        pk.parallel_for(N, walk, next=ints(following), out=ints(numpy.zeros(N, int)))


def test_an_index_into_nothing(check: str) -> None:
    out = doubles(numpy.zeros(3))
    given = {"a": doubles(numpy.zeros(0)), "out": out}
    with pytest.raises(IndexError, match="index 0 for axis 0 with size 0 of 'a'"):
        pk.parallel_for(3, take, index=ints([0, 0, 0]), **given)
    # Where none is asked for there is nothing to complain of.
    pk.parallel_for(3, take_guarded, index=ints([-1, -1, -1]), **given)
    bins = pk.View([7, 0], pk.int64)
    counts = ints(numpy.zeros(7, int))

    @pk.workunit
    def fill_bin_with_room(i, bin, counts, bins):
        place: int = pk.atomic_fetch_add(counts, [bin[i]], 1)
        if place < bins.extent(1):
            bins[bin[i]][place] = i

    pk.parallel_for(9, fill_bin_with_room, bin=ints(numpy.arange(9) % 7), counts=counts, bins=bins)
    assert list(numpy.array(counts)) == [2, 2, 1, 1, 1, 1, 1]


def test_what_was_pending_is_written_in_spite_of_a_later_bad_index(check: str) -> None:
    a = doubles(numpy.ones(N))
    pk.parallel_for(N, twice, a=a)
    with pytest.raises(IndexError):
        pk.parallel_for(N, take, a=a, index=ints(numpy.arange(N) + 1), out=doubles(numpy.ones(N)))
    assert numpy.array_equal(a, numpy.full(N, 2.0))


# ---- what is known from the launch before -------------------------------------------------------


def test_a_launch_seen_before_looks_at_no_index() -> None:
    a, index, out = doubles(numpy.arange(N)), ints(numpy.arange(N)[::-1]), doubles(numpy.zeros(N))
    place = doubles(numpy.arange(N) / 8)
    for kernel, given in (
        (take, {"a": a, "index": index, "out": out}),
        (put, {"a": a, "index": index, "out": out}),
        (take_guarded, {"a": a, "index": ints(numpy.arange(N) - 1), "out": out}),
        (take_at, {"a": a, "place": place, "out": out}),
    ):
        pk.parallel_for(N, kernel, **given)
        frit.eval()
        before = evals()
        pk.parallel_for(N, twice, a=a)
        pk.parallel_for(N, kernel, **given)
        assert evals() == before
        assert _core.has_pending()
        frit.eval()


@pytest.mark.parametrize(
    "change",
    ["item", "slice", "fill", "kernel", "numpy", "where", "mask", "scatter", "export", "window"],
)
def test_a_changed_index_array_is_looked_at_again(change: str) -> None:
    index, out = ints(numpy.arange(N)), doubles(numpy.ones(N))
    a = doubles(numpy.arange(N))
    held = frit.pykokkos.View([N], pk.int64)
    held.fill(N)
    launch = {"a": a, "index": index, "out": out}
    for _ in range(2):
        pk.parallel_for(N, take, **launch)
    frit.eval()
    lazy = index._array
    if change == "item":
        index[5] = N
    elif change == "slice":
        index[3:9] = N
    elif change == "fill":
        index.fill(N)
    elif change == "kernel":
        pk.parallel_for(N, twice, a=index)
    elif change == "numpy":
        lazy += 1
    elif change == "where":
        np.add(lazy, 1, out=lazy, where=lazy > 10)
    elif change == "mask":
        lazy[lazy > 990] = N
    elif change == "scatter":
        lazy[np.array([4, 5])] = N
    elif change == "export":
        numpy.asarray(index)[7] = N
    elif change == "window":
        index[5:10].fill(N)
    with pytest.raises(IndexError):
        pk.parallel_for(N, take, **launch)
    assert numpy.array_equal(out, numpy.arange(N))


def test_memory_that_others_hold_is_looked_at_each_time() -> None:
    index, out = ints(numpy.arange(N)), doubles(numpy.ones(N))
    a = doubles(numpy.arange(N))
    seen = numpy.asarray(index)  # stays alive
    pk.parallel_for(N, take, a=a, index=index, out=out)
    seen[0] = N
    with pytest.raises(IndexError):
        pk.parallel_for(N, take, a=a, index=index, out=out)
    seen[0] = 0
    pk.parallel_for(N, take, a=a, index=index, out=out)
    theirs = numpy.arange(N)
    for bad in (False, True, False):
        theirs[1] = N if bad else 1
        if bad:
            with pytest.raises(IndexError):
                pk.parallel_for(N, take, a=a, index=theirs, out=out)
        else:
            pk.parallel_for(N, take, a=a, index=theirs, out=out)
    del seen
    pk.parallel_for(N, take, a=a, index=index, out=out)
    pk.parallel_for(N, take, a=a, index=index, out=out)
    assert numpy.array_equal(out, numpy.arange(N))


def test_an_array_in_the_memory_of_a_dead_one_is_another() -> None:
    a, out = doubles(numpy.arange(N)), doubles(numpy.ones(N))
    for k in range(20):
        index = ints(numpy.arange(N) + (N if k % 2 else 0))
        if k % 2:
            with pytest.raises(IndexError):
                pk.parallel_for(N, take, a=a, index=index, out=out)
        else:
            pk.parallel_for(N, take, a=a, index=index, out=out)
        del index


def test_windows_of_one_array_have_ranges_of_their_own() -> None:
    a, out = doubles(numpy.arange(10)), doubles(numpy.ones(5))
    index = ints([0, 1, 2, 3, 4, 10, 11, 12, 13, 14])
    pk.parallel_for(5, take, a=a, index=index[0:5], out=out)
    with pytest.raises(IndexError):
        pk.parallel_for(5, take, a=a, index=index[5:10], out=out)


def test_a_kernel_that_was_inspected_fuses() -> None:
    a, out = doubles(numpy.arange(N)), doubles(numpy.zeros(N))
    pk.parallel_for(N, take_at, a=a, place=doubles(numpy.arange(N) / 8), out=out)
    pk.parallel_for(N, twice, a=out)
    assert "2 operations in 1 kernel" in str(frit.explain())
    assert numpy.array_equal(out, 2 * (numpy.arange(N) // 2))


# ---- settings -----------------------------------------------------------------------------------


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("variable", "names"),
    [
        ("FRIT_FUSION", "'on', 'trace', 'off'"),
        ("FRIT_CHECK", "'auto', 'bounds'"),
        ("FRIT_TIER", "'automatic', 'eager', 'interpreter', 'compiled'"),
    ],
)
def test_an_unknown_setting_is_told_once(variable: str, names: str) -> None:
    code = "import frit.numpy as np; x = np.ones(9); x += 1; print(float(x.sum()))"
    done = run(code, **{variable: "perhaps"})
    told = [line for line in done.stderr.splitlines() if variable in line]
    assert len(told) == 1
    assert names in told[0]
    assert "'perhaps'" in told[0]
    assert done.stdout.strip() == "18.0"
    assert variable not in run(code, **{variable: ""}).stderr


def test_unknown_modes_are_refused() -> None:
    with pytest.raises(ValueError, match="set_check: 'auto' or 'bounds'"):
        _core.set_check("perhaps")


@pk.workunit
def row_times_vector(i, first, column, value, x, y):
    total = y[i]
    for k in range(first[i], first[i + 1]):
        total += value[k] * x[column[k]]
    y[i] = total


@pk.workunit
def distances(i, first, column, x, y):
    total = 0.0
    for k in range(first[i], first[i + 1]):
        d = x[column[k]] - x[i]
        if d > 0.25:
            total += pk.sqrt(d) / (1.0 + d * d) + d * d * d * (d - 1.0) * (d - 2.0)
    y[i] = total


@pytest.mark.usefixtures("tier")
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64", "int16"])
def test_rows_of_their_own_lengths(dtype: str) -> None:
    random = numpy.random.RandomState(3)
    lengths = random.randint(0, 20, 301)
    first = numpy.concatenate([[0], numpy.cumsum(lengths)])
    column = random.randint(0, len(lengths), first[-1])
    value, x, y = ((random.random(n) * 50).astype(dtype) for n in (first[-1], 301, 301))
    views = []
    for array in (value, x, y):
        views.append(pk.View(array.shape, getattr(pk, dtype)))
        views[-1][:] = array
    given = {"first": ints(first), "column": ints(column)}
    pk.parallel_for(301, row_times_vector, value=views[0], x=views[1], y=views[2], **given)
    for i in range(301):
        for k in range(first[i], first[i + 1]):
            y[i] += value[k] * x[column[k]]
    assert numpy.array_equal(views[2].data, y)


@pytest.mark.usefixtures("tier")
def test_loops_that_compute_more_than_they_load() -> None:
    random = numpy.random.RandomState(4)
    lengths = random.randint(0, 20, 301)
    first = numpy.concatenate([[0], numpy.cumsum(lengths)])
    column, x = random.randint(0, len(lengths), first[-1]), random.random(301)
    out = doubles(numpy.zeros(301))
    pk.parallel_for(301, distances, first=ints(first), column=ints(column), x=doubles(x), y=out)
    for i in range(301):
        total = 0.0
        for k in range(first[i], first[i + 1]):
            d = x[column[k]] - x[i]
            if d > 0.25:
                total += math.sqrt(d) / (1.0 + d * d) + d * d * d * (d - 1.0) * (d - 2.0)
        assert out[i] == total


def test_an_error_names_the_file_of_its_own_kernel(tmp_path):
    """Codes of one text at one line of two files are equal."""
    for name in ("first", "second"):
        file = tmp_path / f"{name}_of_two.py"
        file.write_text(
            "import frit.pykokkos as pk\n\n@pk.workunit\ndef ones(i, x):\n    x[i] = 1.0\n"
        )
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        with pytest.raises(IndexError, match=rf"{file.name}, line 5\)"):
            pk.parallel_for(4, module.ones, x=pk.View([3]))
