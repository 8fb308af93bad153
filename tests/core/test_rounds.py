"""test_rounds.py: loops whose rounds wait for one another give NumPy's results."""

from __future__ import annotations

import numpy
import pytest

import frit
from frit import _core
from frit import numpy as np

N = 1_000_000


def logistic(np, x, y):
    for _ in range(21):
        x = 3.7 * x * (1 - x)
        y += x
    return x, y


def escape(np, x, y):
    a, b, count = np.zeros_like(x), np.zeros_like(y), np.zeros(x.shape, np.int32)
    for _ in range(21):
        inside = a * a + b * b <= 4.0
        a, b = np.where(inside, a * a - b * b + x, a), np.where(inside, 2.0 * a * b + y, b)
        count = count + inside
    return a, b, count


def kicked(np, x, y):
    numbers = numpy.random.default_rng(5)
    for _ in range(21):
        kick = np.array(numbers.random(N))
        x = x + y * kick
        y = 0.5 * y - x * kick
    return x, y


def smoothed(np, x, y):
    for _ in range(21):
        x[1:-1] = 0.5 * x[1:-1] + 0.25 * (x[:-2] + x[2:])
        y = y + x
    return x, y


def driven(np, x, y):
    """A field with a source and a receiver, by slices and elements."""
    u, v = x.reshape(1000, 1000), y.reshape(1000, 1000)
    seen, last = [], np.zeros(21)
    for k in range(21):
        v[1:] += 0.5 * (u[1:] - u[:-1])
        u[1:-1, 1:-1] += 0.25 * (v[2:, 1:-1] - v[1:-1, 1:-1] + u[1:-1, 2:] - u[1:-1, :-2])
        u[500, 500] += 0.1 * k
        u[0, 3] = u[1, 3]
        v[k, 7] = 1 / 3
        seen.append(u[480, 500])
        last[k] = v[501, 500]
    return x, np.array(seen), last


def summed(np, x, y):
    for _ in range(21):
        x = x / (1 + x.sum())
        y = y - x.mean()
    return x, y


def multiplied(np, x, y):
    """A product of matrices begins its rounds."""
    a = x[:250_000].reshape(500, 500) / 250
    a = a / np.maximum(a.sum(0), 1)
    v = np.ones(500) / 500
    for _ in range(100):
        v = 0.85 * a @ v + 0.15 / 500
    return v, x * y


@pytest.mark.parametrize(
    "function", [logistic, escape, kicked, smoothed, driven, summed, multiplied]
)
def test_rounds_that_wait_give_the_same_bits(function):
    numbers = numpy.random.default_rng(3)
    data = numbers.random(N), numbers.random(N)
    expected = function(numpy, *(a.copy() for a in data))
    for _ in range(9):
        found = function(np, *(np.array(a) for a in data))
        for a, b in zip(expected, found, strict=True):
            assert a.tobytes() == numpy.asarray(b).tobytes()
        del found, b


@pytest.mark.on_host
def test_steps_that_read_neighbours_go_over_the_arrays_together():
    data = [numpy.random.default_rng(4).random(N) for _ in range(2)]
    _core.flush_caches()
    before = _core.set_sweep_shift(24)  # whatever the caches hold here
    try:
        with np.errstate(all="ignore"):
            for _ in range(24):
                evals_of_a_call(driven, data)
                _core.wait_for_compiler()
            swept = _core.statistics()["swept_launches"]
            evals = evals_of_a_call(driven, data)
    finally:
        _core.set_sweep_shift(before)
        _core.flush_caches()
    assert _core.statistics()["swept_launches"] - swept > 21
    assert evals < 12  # several rounds in each, though they read and write elements


def evals_of_a_call(function, data):
    before = _core.statistics()["evals"]
    function(np, *(np.array(a) for a in data))
    frit.eval()
    return _core.statistics()["evals"] - before


def test_elementwise_rounds_wait_and_others_do_not():
    data = numpy.full(N, 0.25), numpy.zeros(N)
    with np.errstate(all="ignore"):
        for _ in range(9):  # while kernels are made, and rounds tried together, it may take fewer
            evals_of_a_call(summed, data)
            _core.wait_for_compiler()
        first = {f: evals_of_a_call(f, data) for f in (logistic, summed)}
        for _ in range(20):
            evals_of_a_call(logistic, data)
            evals_of_a_call(summed, data)
        _core.wait_for_compiler()
        evals_of_a_call(logistic, data)
        assert evals_of_a_call(logistic, data) <= first[logistic] / 2
        assert evals_of_a_call(summed, data) == first[summed]
