"""test_sweeps.py: time loops over arrays larger than the caches, against NumPy's slices."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import frit
from frit import _core

pytestmark = pytest.mark.on_host  # a device has no caches to sweep over

SIDE, STEPS = 2300, 7  # 42 MB an array: more than the caches of the cores


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = frit.get_num_threads()
    frit.set_num_threads(2)  # whose caches are smaller than the arrays
    yield
    frit.set_num_threads(before)
    _core.set_tier("automatic")


def wave(old, now, new, c, steps):
    n, m = old.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] = (
                    2 * now[i, j]
                    - old[i, j]
                    + c
                    * (
                        now[i + 1, j]
                        + now[i - 1, j]
                        + now[i, j + 1]
                        + now[i, j - 1]
                        - 4 * now[i, j]
                    )
                )
        for j in range(m):
            new[0, j] = new[1, j]
            new[n - 1, j] = new[n - 2, j]
        for i in range(n):
            new[i, 0] = 0.0
            new[i, m - 1] = new[i, m - 3]
        for i in range(n):
            for j in range(m):
                old[i, j] = now[i, j]
                now[i, j] = new[i, j]


def wave_by_slices(old, now, new, c, steps):
    for _ in range(steps):
        new[1:-1, 1:-1] = (
            2 * now[1:-1, 1:-1]
            - old[1:-1, 1:-1]
            + c
            * (
                now[2:, 1:-1]
                + now[:-2, 1:-1]
                + now[1:-1, 2:]
                + now[1:-1, :-2]
                - 4 * now[1:-1, 1:-1]
            )
        )
        new[0] = new[1]
        new[-1] = new[-2]
        new[:, 0] = 0.0
        new[:, -1] = new[:, -3]
        old[:] = now
        now[:] = new


def line(a, b, rate, steps):
    n = len(a)
    for t in range(steps):
        for i in range(1, n - 1):
            b[i] = a[i] + rate[t] * (a[i + 1] - 2 * a[i] + a[i - 1])
        for i in range(1, n - 1):
            a[i] = b[i]
        a[0] = a[1]


def line_by_slices(a, b, rate, steps):
    for t in range(steps):
        b[1:-1] = a[1:-1] + rate[t] * (a[2:] - 2 * a[1:-1] + a[:-2])
        a[1:-1] = b[1:-1]
        a[0] = a[1]


def swept(function: Callable, arguments: tuple) -> int:
    before = _core.statistics()["swept_launches"]
    function(*arguments)
    return _core.statistics()["swept_launches"] - before


@pytest.mark.parametrize("tier", ["interpreter", "compiled"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_steps_of_a_wave_are_numpys(tier: str, dtype: str) -> None:
    numbers = np.random.default_rng(3)
    arrays = [numbers.random((SIDE, SIDE)).astype(dtype) for _ in range(3)]
    # A view with a margin, and one whose rows are the other's columns backwards.
    wide = np.zeros((SIDE, SIDE + 5), dtype)
    wide[:, 2:-3] = arrays[1]
    expected = [arrays[0].copy(), arrays[1].copy(), arrays[2].copy()]
    given = [arrays[0].copy(), wide[:, 2:-3], arrays[2][::-1].copy()[::-1]]
    c = np.dtype(dtype).type(0.1)
    wave_by_slices(*expected, c, STEPS)
    step = frit.parallelize(wave)
    _core.set_tier(tier)
    assert swept(step, (*given, c, STEPS)) > 2 * STEPS
    for left, right in zip(expected, given, strict=True):
        assert np.array_equal(left, right)
    assert not wide[:, :2].any() and not wide[:, -3:].any()
    text = frit.explain(step).text.splitlines()
    (mark,) = [row for row in text if "in range(steps)" in row]
    assert "several rounds in one sweep" in mark


def test_what_the_host_stores_is_there_in_time() -> None:
    numbers = np.random.default_rng(4)
    a, rate = numbers.random(3_000_000), numbers.random(STEPS)
    expected, given = [a.copy(), a.copy()], [a.copy(), a.copy()]
    line_by_slices(*expected, rate, STEPS)
    assert swept(frit.parallelize(line), (*given, rate, STEPS)) > STEPS
    for left, right in zip(expected, given, strict=True):
        assert np.array_equal(left, right)
