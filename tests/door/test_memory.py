"""test_memory.py: memory of others is held only as long as it is used."""

# ruff: noqa: E501

from __future__ import annotations

import time
import weakref

import numpy
import pytest

import frit
import frit.numpy as np


@pytest.mark.parametrize(
    "expression",
    [
        "x + a", "a * x", "np.add(x, a, out=x)", "x.__setitem__(slice(None), a)", "x[a]", "x[a > 2]",
        "x.__setitem__(a, 1.0)", "np.where(a > 2, x, a)", "np.add(x, 1, out=x, where=a > 2)",
        "x.sum(where=a > 1)", "np.concatenate([x, a])", "x @ a", "np.add.at(x, a, 1.0)", "np.sort(a)",
        "np.interp(x, a, a)", "np.maximum(a[::2], x[::2])", "np.asarray(a).sum()", "np.multiply.outer(a[:9], x)",
    ],
)  # fmt: skip
def test_ndarrays_are_let_go_behind_their_use(expression):
    x = np.zeros(20_000)
    held = []
    for k in range(20):
        a = numpy.arange(20_000) % (k + 2)
        held.append(weakref.ref(a))
        eval(expression, {"np": np, "x": x, "a": a})
    del a
    frit.eval()
    # The last one may be held until something else is looked at.
    assert sum(ref() is not None for ref in held) <= 1


def private_mebibytes():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


@pytest.mark.parametrize(
    "zeros",
    [
        "np.zeros((8000, 8000))", "np.zeros((8000, 8000), order='F')", "np.zeros((16000, 16000), np.int16)",
        "np.zeros_like(np.empty((8000, 8000)))", "np.zeros((8000, 8000)).T", "np.zeros((4000, 4000), complex)",
    ],
)  # fmt: skip
@pytest.mark.on_host
def test_zeros_take_memory_where_they_are_touched(zeros):
    before = private_mebibytes()
    x = eval(zeros)
    x[17, 5] = 1
    x[3:9, 7:70] += 2
    assert x[17, 5] == 1 and x[3, 7] == 2 and x[2, 7] == 0 and x[-1, -1] == 0
    x[40, :10] = 3
    assert x[40:42, :20].sum() == 30
    assert private_mebibytes() < before + 128


def test_zeros_that_are_hardly_touched_hold_nothing_when_they_are_gone():
    for _ in range(20):
        before = private_mebibytes()
        x = np.zeros((8000, 8000))
        x[::1000, 0] = 1
        assert x[0, 0] == 1
        del x
        assert private_mebibytes() < before + 64


WRITES = [
    "x[5] = 1", "x[:, 3] = 2", "x[1:-1, 1:-1] += 1", "x[::2] = x[1::2] + 1", "x += 1", "x[:] = 4", "x.T[3] = 1",
    "x[2:4] = x[3:5] + 1", "x *= -1", "y = x + 1", "y = x[::-1]; y[0] = 7", "x[x == 0] = 2", "np.add(x, 1, out=x)",
    "x.fill(3)", "x[0, 0] = 5", "x.flat[7] = 2", "y = x.sum(0)", "x[-1] = np.arange(x.shape[1])", "x[3:] -= x[:-3] + 1",
    "y = np.asarray(x); y[1, 1] = 9", "x[[1, 2, 1]] = 3", "np.add.at(x, ([1, 1], [2, 2]), 1)", "x = x.copy(); x[1] = 1",
]  # fmt: skip


@pytest.mark.parametrize("first", WRITES)
@pytest.mark.parametrize("second", WRITES[:12])
def test_large_zeros_hold_what_is_written(first, second):
    def run(np):
        space = {"np": np, "x": np.zeros((700, 300))}
        exec(f"{first}\n{second}", space)
        x = space["x"]
        return x, np.signbit(x), x.sum(), space.get("y", 0)

    for own, expected in zip(run(np), run(numpy), strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(own), expected, strict=True)


def live_mebibytes():
    return frit._core.statistics()["bytes_live"] / 2**20


@pytest.fixture
def late_errors():
    with numpy.errstate(), np.errstate():
        frit._core.let_float_errors_come_late()
        yield
    frit._core.forget_float_state()


@pytest.mark.on_host
def test_what_numbers_make_is_stored_when_it_is_read_twice(late_errors):
    n = 2_000_000
    frit.eval()
    before = live_mebibytes()
    x = np.linspace(0.0, 1.0, n)
    y = x * 0.5
    expected = numpy.linspace(0.0, 1.0, n)
    assert float((x + y).sum()) == (expected + expected * 0.5).sum()
    assert live_mebibytes() < before + 1
    z = np.exp(y)  # costs more than to store it
    assert float(z.max()) == numpy.exp(expected * 0.5).max()
    assert before + 45 < live_mebibytes() < before + 48, "x and y, read again, and z"
    x[5] = 7
    assert float(x.sum()) != expected.sum()
    assert x.tolist() == [*expected[:5], 7, *expected[6:]]


@pytest.mark.on_host
def test_rounds_that_make_their_own_points_do_not_store_them(late_errors):
    frit.eval()
    before, most = live_mebibytes(), 0.0
    for k in range(1, 8):
        x = np.linspace(0.0, k, 2_000_000)
        assert float((x * x).max()) == k * k
        time.perf_counter()
        most = max(most, live_mebibytes())
    assert most < before + 1
    assert x[-1] == 7


@pytest.mark.on_host
def test_linspace_is_one_kernel(late_errors):
    x = np.linspace(0.0, 1.0, 20_000_000)
    assert float(x.sum()) == 1e7
    explained = str(frit.explain(x))
    assert explained.count("\nkernel ") == 1
    assert "operations wait: what they make" in explained
