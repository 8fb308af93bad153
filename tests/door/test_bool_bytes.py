"""test_bool_bytes.py: bool arrays on other memory, where any byte but 0 is true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import frit
import frit.loops
import frit.numpy
import frit.pykokkos as pk
from frit import _core

RANDOM = numpy.random.default_rng(9)
SIZES = (1, 7, 64, 1000, 50_021)
PROGRAMS = [
    "x + y",
    "x * y",
    "x ^ y",
    "~x",
    "x == y",
    "x < y",
    "x >= True",
    "np.logical_not(x)",
    "np.logical_xor(x, y)",
    "np.maximum(x, y)",
    "np.fmin(x, y)",
    "x + 1",
    "x * 2.5",
    "x / 2",
    "np.sqrt(x)",
    "x << 1",
    "x.astype(np.uint8)",
    "x.astype(np.float32) + y.astype(np.complex64)",
    "x.sum()",
    "x[::3].sum(dtype=np.int8)",
    "x.mean()",
    "x.any(), x.all(), x.max(), x.min(), x.argmax(), x.argmin()",
    "np.cumsum(x)",
    "np.logical_xor.reduce(x)",
    "np.count_nonzero(x), np.flatnonzero(x)",
    "w[x], w[x & ~y].sum()",
    "np.where(x, w, -w)",
    "np.add(w, 1, where=x, out=np.zeros(len(w)))",
    "np.sum(w, where=y)",
    "put(x)",
    "np.bincount(x), np.dot(x, w), np.unique(x)",
    "np.concatenate([x, np.arange(3)])",
    "x.tolist()[:9], bool(x[0]), x[0] + 1, str(x)",
]


def true_bytes(n: int) -> Any:
    numbers = RANDOM.integers(1, 256, n).astype(numpy.uint8)
    numbers[RANDOM.random(n) < 0.4] = 0
    return numbers


def meaning(result: Any) -> Any:
    if isinstance(result, tuple):
        return [meaning(part) for part in result]
    if not hasattr(result, "dtype"):
        return result
    array = numpy.asarray(result)  # truth is compared, not its byte
    return array.dtype, array.shape, (array != 0 if array.dtype == bool else array).tolist()


def run(program: str, np: Any, x: Any, y: Any) -> Any:
    def put(mask: Any) -> Any:
        w[mask] = w[mask] * 2 + 1
        return w

    w = np.arange(x.size) * 0.25
    return meaning(eval(program, {"np": np, "x": x, "y": y, "w": w, "put": put}))


@pytest.fixture(params=["automatic", "interpreter", "compiled"], autouse=True)
def tier(request: pytest.FixtureRequest) -> Iterator[None]:
    _core.set_tier(request.param)
    yield
    _core.set_tier("automatic")


@pytest.mark.parametrize("program", PROGRAMS)
def test_any_byte_but_zero_is_true(program: str) -> None:
    for n in SIZES:
        x, y = true_bytes(n), true_bytes(n)
        expected = run(program, numpy, x.view(bool), y.view(bool))
        ours = (frit.numpy.array(part).view(bool) for part in (x, y))
        assert run(program, frit.numpy, *ours) == expected
        foreign = (frit.numpy.frombuffer(part.tobytes(), dtype=bool) for part in (x, y))
        assert run(program, frit.numpy, *foreign) == expected


def test_a_loop_takes_any_byte_but_zero_for_true() -> None:
    def count(x: Any, y: Any, w: Any, out: Any) -> Any:
        found, total, last = 0, 0.0, -1
        for i in range(len(x)):
            if x[i]:
                found += 1
                last = i
            if not x[i] and y[i]:
                total += w[i]
            out[i] = x[i] & y[i]
            w[i] += x[i]
            k = 0
            while x[i] and k < 3:
                k += 1
            w[i] += k
        return found, total, last

    for n in (5, 20_011):
        x, y = true_bytes(n).view(bool), true_bytes(n).view(bool)
        results = []
        for function in (count, frit.parallelize(count)):
            w, out = numpy.arange(n) * 0.5, numpy.zeros(n, dtype=bool)
            results.append((function(x, y, w, out), w.tolist(), out.tolist()))
        assert results[0] == results[1]


def copy(x: Any, y: Any) -> None:
    for i in range(len(x)):
        y[i] = x[i]


def move_and_swap(x: Any, y: Any) -> None:
    for i in range(1, len(x)):
        moved = x[i] if i % 3 else y[i]
        y[i], x[i - 1] = moved, y[i - 1]


def choose(x: Any, y: Any) -> None:
    for i in range(len(x)):
        if y[i]:
            y[i] = x[len(x) - 1 - i]
        y[0] = x[i]


def copy_rows(x: Any, y: Any) -> None:
    for i in range(len(x) // 2):
        y[i:] = x[: len(x) - i]


@pytest.mark.parametrize("door", [numpy, frit.numpy])
@pytest.mark.parametrize("function", [copy, move_and_swap, choose, copy_rows])
def test_a_loop_stores_elements_as_0_and_1_and_rows_as_they_are(function: Any, door: Any) -> None:
    for n in (7, 5_000) if function is not copy_rows else (7, 300):
        data = true_bytes(n), true_bytes(n)
        expected = [part.copy() for part in data]
        function(*(part.view(bool) for part in expected))
        ours = [door.array(part) for part in data]
        frit.parallelize(function)(*(part.view(bool) for part in ours))
        assert [part.tolist() for part in ours] == [part.tolist() for part in expected]


@pytest.mark.parametrize("door", [numpy, frit.numpy])
def test_a_kernel_stores_elements_as_0_and_1(door: Any) -> None:
    for n in (7, 5_000):
        data = true_bytes(n)
        out = door.zeros(n, dtype=numpy.uint8)
        pk.parallel_for(n, copied, x=door.array(data).view(bool), y=out.view(bool))
        assert out.tolist() == (data != 0).tolist()


@pk.workunit
def copied(i: Any, x: Any, y: Any) -> None:
    y[i] = x[i]
