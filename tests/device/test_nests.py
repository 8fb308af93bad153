"""test_nests.py: loop nests on a device: which arrays go there and back, and when."""

from __future__ import annotations

import copy
import importlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import frit
from frit import _core

N = 300
BYTES = N * N * 8


@pytest.fixture(autouse=True)
def emulated() -> Iterator[None]:
    before = frit.get_device()
    frit.set_device("emulated")
    cost = _core.set_device_cost(-1.0)  # whatever can go there
    tier = _core.tier()
    _core.set_tier("compiled")
    yield
    _core.set_tier(tier)
    _core.set_device_cost(cost)
    frit.set_device(before)


def moved(function: Callable[..., Any], *arrays: Any) -> tuple[int, int, int]:
    """Bytes that go there and come back in a call that is as one before, and its launches."""
    fast = frit.parallelize(function)
    expected, given = copy.deepcopy(arrays), copy.deepcopy(arrays)
    assert fast(*given) == function(*expected)
    before = frit.statistics()
    fast(*arrays)
    after = frit.statistics()
    for ours, theirs in zip(arrays, expected, strict=True):
        assert np.array_equal(ours, theirs)
    return tuple(
        after[name] - before[name]
        for name in ("bytes_uploaded", "bytes_downloaded", "device_launches")
    )


def squares(a: np.ndarray, out: np.ndarray) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] * a[i, j]


def inner_squares(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = a[i, j] * a[i, j]


def some_squares(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                out[i, j] = a[i, j] * a[i, j]


def no_squares(a, out, times):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for _ in range(times):
                out[i, j] = a[i, j] * a[i, j]


def added_squares(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] += a[i, j] * a[i, j]


def shifted_squares(a, out):
    for i in range(1, a.shape[0] + 1):
        for j in range(a.shape[1]):
            out[i - 1, j] = a[i - 1, j] * 2


def transposed(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j, i] = a[i, j]


def escapes(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            x, n = a[i, j], 0
            while x < 2.0 and n < 50:
                x = x * x + a[i, j]
                n += 1
            out[i, j] = n


def steps(a, b, times):
    for _ in range(times):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.25 * (b[i - 1, j] + b[i + 1, j] + b[i, j - 1] + b[i, j + 1])


def steps_with_a_number(a, b, times):
    for t in range(times):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j] + t
        b[0, 0] = a[1, 1]
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = b[i, j] * 0.5


def roots(a):
    total, least, where = 0.0, math.inf, 0
    for i in range(a.shape[0]):
        total += math.sqrt(a[i, 0])
        if a[i, 1] < least:
            least, where = a[i, 1], i
    return total, least, where


@pytest.fixture
def a():
    return np.random.default_rng(0).random((N, N))


@pytest.mark.parametrize(
    ("function", "is_whole"),
    [
        (squares, True),
        (shifted_squares, True),
        (transposed, True),
        (escapes, True),
        (inner_squares, False),
        (some_squares, False),
        (added_squares, False),
    ],
)
def test_what_is_stored_as_a_whole_is_not_brought(function, is_whole, a):
    uploaded, downloaded, launches = moved(function, a, np.full((N, N), 7.0))
    assert uploaded == (BYTES if is_whole else 2 * BYTES)
    assert (downloaded, launches) == (BYTES, 1)


@pytest.mark.parametrize("times", [0, 1, 3])
def test_loops_without_rounds_store_nothing(times, a):
    moved(no_squares, a, np.full((N, N), 7.0), times)


def test_parts_of_arrays_keep_what_lies_between(a):
    for out in (np.full((N, N), 7.0)[:, ::2], np.full((N + 2, N + 2), 7.0)[1:-1, 1:-1]):
        around = out.base
        moved(squares, a[: out.shape[0], : out.shape[1]], out)
        inside = around[1:-1, 1:-1] if around.shape != (N, N) else around[:, ::2]
        assert np.shares_memory(inside, out)
        outside = around.copy()
        (outside[1:-1, 1:-1] if around.shape != (N, N) else outside[:, ::2])[...] = 7.0
        assert (outside == 7.0).all()


@pytest.mark.parametrize("function", [squares, added_squares, inner_squares])
@pytest.mark.parametrize(
    "views",
    [
        lambda x: (x[:-1], x[1:]),
        lambda x: (x[1:], x[:-1]),
        lambda x: (x[::-1], x),
        lambda x: (x.T, x),
        lambda x: (x, x),
        lambda x: (x[::2], x[1::2]),
    ],
)
def test_overlapping_arrays_are_one_there(function, views, a):
    ours, theirs = a.copy(), a.copy()
    with np.errstate(over="ignore"):
        function(*views(theirs))
        frit.parallelize(function)(*views(ours))
    assert np.array_equal(ours, theirs)


def test_time_steps_bring_each_array_once(a):
    uploaded, downloaded, launches = moved(steps, a, np.zeros((N, N)), 10)
    assert (uploaded, downloaded, launches) == (2 * BYTES, 2 * BYTES, 20)


def test_what_the_host_stores_between_is_seen(a):
    moved(steps_with_a_number, a, np.zeros((N, N)), 5)


def test_sums_and_places(a):
    assert frit.parallelize(roots)(a)[1:] == roots(a)[1:]
    assert math.isclose(frit.parallelize(roots)(a)[0], roots(a)[0])


def test_errors_are_told_as_without_one(a):
    b = np.full((N, N), 2.0)
    b[7, 9] = 0

    def quotients(a, b, out):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j] / b[i, j]

    with pytest.warns(RuntimeWarning, match="^divide by zero encountered"):
        frit.parallelize(quotients)(a, b, np.zeros((N, N)))


def test_what_runs_took_decides():
    """A device that is slower than the host by far is not asked for long."""
    _core.set_device_cost(5e4)
    frit.set_device("emulated-auto")
    program = frit.parallelize(escapes)
    a, out = np.full((N, N), 0.1), np.zeros((N, N))
    went = []
    while sum(went[:-50]) == 0:
        assert len(went) < 2000
        before = frit.statistics()["device_launches"]
        program(a, out)
        went.append(frit.statistics()["device_launches"] - before)
    assert (out == 50).all()
    assert sum(went) < 6


# ---- arrays of ours stay where they are ----------------------------------------------------------


def first_and_inner_squares(a, out):
    out[0, 0] = a[0, 1] + 1.0  # by the host
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = a[i, j] * a[i, j]
    out[0, 1] = out[1, 1]


@pytest.mark.filterwarnings("ignore")  # where they are errors, nothing waits
@pytest.mark.parametrize("function", [steps, first_and_inner_squares])
def test_arrays_of_ours_move_only_where_the_host_needs_them(function):
    ours = importlib.import_module("frit.numpy")
    x = np.random.default_rng(3).random((N, N))
    times = (3,) if function is steps else ()
    fast = frit.parallelize(function)
    a, b = ours.array(x), ours.array(x)
    expected, expected_b = x.copy(), x.copy()
    for _ in range(4):
        before = frit.statistics()
        a *= 0.5  # there, by a kernel of NumPy's door
        fast(a, b, *times)
        c = a + b
        frit.synchronize()
        after = frit.statistics()
        expected *= 0.5
        function(expected, expected_b, *times)
    moved = {n: after[n] - before[n] for n in ("bytes_uploaded", "bytes_downloaded")}
    assert after["device_launches"] > before["device_launches"]
    if function is steps:
        assert moved == {"bytes_uploaded": 0, "bytes_downloaded": 0}
    assert np.array_equal(np.asarray(c), expected + expected_b)
    assert np.array_equal(np.asarray(a), expected)
    assert np.array_equal(np.asarray(b), expected_b)


def test_an_array_of_ours_that_others_see_comes_back():
    ours = importlib.import_module("frit.numpy")
    x = np.random.default_rng(4).random((N, N))
    fast = frit.parallelize(steps)
    a, b = ours.array(x), ours.array(x)
    seen = np.asarray(b)
    expected, expected_b = x.copy(), x.copy()
    for _ in range(3):
        fast(a, b, 2)
        steps(expected, expected_b, 2)
        assert np.array_equal(seen, expected_b)
        seen[5, 5] = expected_b[5, 5] = 9.0
    assert np.array_equal(np.asarray(a), expected)


def divide(a, b, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] / b[i, j]


def test_warnings_of_arrays_that_are_there():
    ours = importlib.import_module("frit.numpy")
    x = np.ones((N, N))
    fast = frit.parallelize(divide)
    a, b, out = ours.array(x), ours.array(x), ours.array(x)
    fast(a, b, out)
    b -= 1.0
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in"):
        fast(a, b, out)
        frit.synchronize()
    assert np.isinf(np.asarray(out)).all()
