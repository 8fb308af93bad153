"""test_names.py: names that stay alive from round to round of a loop: what is stored, and when."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy
import pytest

import frit
import frit.numpy as np
from frit import _core


@pytest.fixture(autouse=True)
def small_arrays_count() -> Iterator[None]:
    before = _core.set_immediate_bytes(0), _core.set_unread_bytes(1)
    _core.set_tier("interpreter")
    _core.let_float_errors_come_late()  # whatever the filters of the tests are
    yield
    _core.forget_float_state()
    _core.set_tier("automatic")
    _core.set_immediate_bytes(before[0])
    _core.set_unread_bytes(before[1])


def waiting() -> int:
    """Operations that are in the trace though they have run."""
    text = str(frit.explain())
    line = next((line for line in text.splitlines() if " operations wait" in line), "0")
    return int(line.split()[0])


@pytest.mark.on_host
def test_what_nobody_reads_is_stored_in_the_first_round_alone() -> None:
    u = np.arange(100.0) + 0
    expected = numpy.arange(100.0)
    counts = []
    for _ in range(4):
        gap = u[2:] - 2 * u[1:-1] + u[:-2]
        flow = 0.25 * gap * gap
        u[1:-1] += gap - flow
        float(u[0] + u.sum())
        counts.append(waiting())
    assert counts[0] == 0
    assert all(counts[1:])
    for _ in range(4):
        wide = expected[2:] - 2 * expected[1:-1] + expected[:-2]
        last = 0.25 * wide * wide
        expected[1:-1] += wide - last
    numpy.testing.assert_array_equal(u, expected)
    numpy.testing.assert_array_equal(flow, last)  # from u as it was
    numpy.testing.assert_array_equal(gap, wide)


@pytest.mark.on_host
def test_what_somebody_reads_is_stored_from_then_on() -> None:
    x = np.arange(50.0) + 0
    counts = []
    for k in range(6):
        a = x * k
        float((a + 1).sum())
        counts.append(waiting())
        if k == 3:
            assert a.tolist() == (numpy.arange(50.0) * 3).tolist()
    assert counts[:1] == [0]
    assert all(counts[1:4])
    assert counts[4:] == [0, 0]


def test_what_the_next_round_reads_is_stored() -> None:
    x = np.arange(50.0) + 0
    total = np.zeros(50)
    counts = []
    for _ in range(6):
        x = x * 0.5 + 1
        total += x
        float(total[3])
        counts.append(waiting())
    assert counts[3:] == [0, 0, 0]


@pytest.mark.parametrize("drop", [True, False])
def test_a_collection_is_stored(drop: bool) -> None:
    x = np.arange(1000.0) + 0
    kept: list = []
    for k in range(40):
        a = x * k
        kept.append(a)
        float((a + 1).sum())
        if drop and len(kept) > 5:
            kept.pop(0)
    assert waiting() < 20
    for k, a in enumerate(kept, 40 - len(kept)):
        numpy.testing.assert_array_equal(a, numpy.arange(1000.0) * k)


def rounds(module: object, x: object, y: object) -> list[float]:
    sums = []
    for _ in range(5):
        t = x / y  # type: ignore[operator]
        sums.append(float(module.where(t > 3, t, 0).sum()))  # type: ignore[attr-defined]
    float(t[3])
    return sums


def test_warnings_come_once_a_round() -> None:
    y = numpy.arange(30.0)
    told = []
    for module in (numpy, np):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert rounds(module, module.asarray(y + 1) * 1, module.asarray(y) * 1)[0] == numpy.inf
        told.append([(str(w.message), w.lineno) for w in caught])
    assert told[0] == told[1]
    assert len(told[0]) == 5


def test_errors_are_raised_where_they_are_made() -> None:
    x = np.arange(30.0) + 0
    for k in range(4):
        try:
            with np.errstate(all="raise"):
                t = (x + 1) / (x - k)
                float(t.sum())
        except FloatingPointError as error:
            assert str(error) == "divide by zero encountered in divide"
            continue
        pytest.fail("nothing was raised")


def test_what_a_name_was_made_of_may_go_and_change() -> None:
    outcomes = []
    for module in (numpy, np):
        seen = []
        u = module.arange(40.0) * 0.5
        for k in range(5):
            t = u * 2 - 1
            u = u + t * 0.125  # the old one goes
            seen.append(float(u.sum()))
            if k == 4:
                u[3] = 7
                module.put(u, [5], 8)
                seen.append(t.tolist())
        outcomes.append(seen)
    assert outcomes[0] == outcomes[1]


def test_memory_that_others_see_is_never_behind() -> None:
    u = np.arange(20.0) + 0
    for k in range(4):
        t = u * k
        float((t + 1).sum())
        seen = numpy.asarray(u)
        seen[2] += 1
        del seen
    assert t[2] == (2 + 3) * 3
    view = memoryview(t)
    assert view[4] == 12


def test_what_nobody_has_written_may_be_read() -> None:
    for _ in range(4):
        a = np.empty(300)
        b = a * 0 + 1
        float((b + a).sum())
        a[:] = 2
        assert float((a + 1).sum()) == 900
