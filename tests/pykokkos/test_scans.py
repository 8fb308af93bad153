"""test_scans.py: scans in one launch and in three give what plain Python gives, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import frit.pykokkos as pk
from frit.pykokkos import _kernels

N = 3000
pytestmark = pytest.mark.usefixtures("tier")


def is_in_three(kernel: Any, *values: Any, owner: Any = None) -> bool:
    """Whether a scan of these arguments can be launched as three kernels."""
    return _kernels.translate(_kernels.SCAN, N, kernel, owner, values)[2] is not None


def numbers(seed: int, count: int = N) -> Any:
    return numpy.random.RandomState(seed).random(count) * 3


def check(kernel: Any, begin: int = 0, end: int = N, start: Any = 0.0, **given: Any) -> None:
    """Launches the scan on views, runs it as Python on arrays, and compares all of it."""
    views: dict[int, Any] = {}
    for value in given.values():
        if isinstance(value, numpy.ndarray) and id(value) not in views:
            views[id(value)] = view = pk.View(value.shape, getattr(pk, value.dtype.name))
            view[:] = value
    arguments = {k: views.get(id(v), v) for k, v in given.items()}
    total = pk.parallel_scan(pk.RangePolicy(begin, end), kernel, **arguments)
    kind = type(start)
    sum_ = start
    body = _python(kernel)
    for i in range(begin, end):
        sum_ = kind(body(i, sum_, given))
    assert kind(total) == sum_
    for value in given.values():
        if isinstance(value, numpy.ndarray):
            numpy.testing.assert_array_equal(views[id(value)].data, value)


def _python(kernel: Any) -> Callable[[int, Any, dict[str, Any]], Any]:
    """kernel.plain(i, total, arrays): the same by hand; gives the total."""
    return kernel.plain


@pk.workunit
def inclusive(i, acc, last, a, out):
    acc += pk.sqrt(a[i])
    if last:
        out[i] = pk.sqrt(acc) + a[i]


def plain_inclusive(i, total, given):
    total += math.sqrt(given["a"][i])
    given["out"][i] = math.sqrt(total) + given["a"][i]
    return total


@pk.workunit
def exclusive(i, acc, last, a, out):
    if last:
        out[i] = acc
    acc += pk.sqrt(a[i])


def plain_exclusive(i, total, given):
    given["out"][i] = total
    return total + math.sqrt(given["a"][i])


@pk.workunit
def around(i, acc, last, a, out):
    if last:
        out[i] = acc
    if a[i] > 1.0:
        step = pk.sqrt(a[i])
        acc += step - 0.25
    if last:
        out[i] += 2 * acc


def plain_around(i, total, given):
    given["out"][i] = total
    if given["a"][i] > 1.0:
        total += math.sqrt(given["a"][i]) - 0.25
    given["out"][i] += 2 * total
    return total


@pk.workunit
def returning(i, acc, last, a, out):
    if a[i] < 0.5:
        return
    acc += pk.sqrt(a[i])
    if last:
        out[i] = acc


def plain_returning(i, total, given):
    if given["a"][i] < 0.5:
        return total
    total += math.sqrt(given["a"][i])
    given["out"][i] = total
    return total


@pk.workunit
def rows(i, acc, last, a, out):
    part = 0.0
    for k in range(5):
        part += a[(i + k) % a.extent(0)] * k
    acc += part
    if last:
        out[i] = acc


def plain_rows(i, total, given):
    part = 0.0
    for k in range(5):
        part += given["a"][(i + k) % len(given["a"])] * k
    given["out"][i] = total + part
    return total + part


@pk.workunit
def kept(i, acc: pk.Acc[pk.int32], last, a, out):
    if pk.sqrt(a[i]) > 1.0:
        acc += 1
        if last:
            out[acc - 1] = a[i]


def plain_kept(i, total, given):
    if math.sqrt(given["a"][i]) > 1.0:
        given["out"][total] = given["a"][i]
        return total + 1
    return total


@pk.workunit
def chosen(i, acc, last, a, out):
    acc += pk.sqrt(a[i])
    if last and acc > 100.0 and a[i] < 2.0:
        out[i] = acc


def plain_chosen(i, total, given):
    total += math.sqrt(given["a"][i])
    if total > 100.0 and given["a"][i] < 2.0:
        given["out"][i] = total
    return total


PAIRS = [
    (chosen, plain_chosen),
    (inclusive, plain_inclusive),
    (exclusive, plain_exclusive),
    (around, plain_around),
    (returning, plain_returning),
    (rows, plain_rows),
]
for _kernel, _plain in [*PAIRS, (kept, plain_kept)]:
    _kernel.plain = _plain


@pytest.mark.parametrize("kernel", [pair[0] for pair in PAIRS], ids=lambda k: k.__name__)
@pytest.mark.parametrize("begin, end", [(0, N), (7, N - 5), (0, 100), (4, 4)])
def test_three_launches_give_what_one_gives(kernel, begin, end) -> None:
    check(kernel, begin, end, a=numbers(1), out=numpy.zeros(N))


def test_long_bodies_are_launched_in_three() -> None:
    def fresh(i, acc, last, a, out):
        acc += pk.sqrt(a[i]) * 2
        if last:
            out[i] = acc

    def cheap(i, acc, last, a, out):
        acc += a[i] * 2
        if last:
            out[i] = acc

    a, out = pk.View([N]), pk.View([N])
    assert is_in_three(fresh, a, out)
    assert is_in_three(chosen, a, out)
    assert not is_in_three(cheap, a, out)


@pytest.mark.parametrize("kernel", [inclusive, around], ids=lambda k: k.__name__)
def test_a_scan_in_place_runs_point_after_point(kernel) -> None:
    a = numbers(3)
    check(kernel, a=a, out=a)


@pk.workunit
def in_place(i, acc, last, a):
    acc += pk.sqrt(a[i])
    if last:
        a[i] = acc + a[i]


def plain_in_place(i, total, given):
    total += math.sqrt(given["a"][i])
    given["a"][i] = total + given["a"][i]
    return total


@pk.workunit
def too_early(i, acc, last, a):
    if last:
        a[i] = acc
    acc += pk.sqrt(a[i]) + 1.0


def plain_too_early(i, total, given):
    given["a"][i] = total
    return total + (math.sqrt(given["a"][i]) + 1.0)


@pk.workunit
def next_one(i, acc, last, a):
    acc += pk.sqrt(a[i])
    if last:
        a[i + 1] = acc


def plain_next_one(i, total, given):
    total += math.sqrt(given["a"][i])
    given["a"][i + 1] = total
    return total


@pk.workunit
def own_or_first(i, acc, last, a):
    acc += pk.sqrt(a[i] + a[0])
    if last:
        a[i] = acc


def plain_own_or_first(i, total, given):
    total += math.sqrt(given["a"][i] + given["a"][0])
    given["a"][i] = total
    return total


IN_PLACE = [
    (in_place, plain_in_place),
    (too_early, plain_too_early),
    (next_one, plain_next_one),
    (own_or_first, plain_own_or_first),
]
for _kernel, _plain in IN_PLACE:
    _kernel.plain = _plain


@pytest.mark.parametrize("kernel", [pair[0] for pair in IN_PLACE], ids=lambda k: k.__name__)
@pytest.mark.parametrize("begin", [0, 11])
def test_scans_of_one_view(kernel, begin: int) -> None:
    check(kernel, begin, N - 1, a=numbers(9))


def test_overlapping_views_run_point_after_point() -> None:
    whole, expected = pk.View([N + 1]), numbers(4, N + 1)
    whole[:] = expected
    total = 0.0
    for i in range(N):
        total = plain_inclusive(i, total, {"a": expected[:N], "out": expected[1:]})
    found = pk.parallel_scan(N, inclusive, a=whole[:N], out=whole[1:])
    assert float(found) == total
    numpy.testing.assert_array_equal(whole.data, expected)


def test_what_is_kept_is_packed() -> None:
    a = numbers(5)
    check(kept, start=0, a=a, out=numpy.zeros(N))
    few = pk.View([3])
    with pytest.raises(IndexError, match="of 'out'"):
        pk.parallel_scan(N, kept, a=a, out=few)
    assert list(few) == [0, 0, 0]


def test_types_of_sums() -> None:
    def narrow(i, acc: pk.Acc[pk.float], last, a, out):
        part = a[i]
        for _ in range(2):
            part = part * a[i]
        acc += part
        if last:
            out[i] = acc

    def mixed(i, acc: pk.Acc[pk.float], last, a, out):  # added in double, then rounded
        acc += pk.sqrt(a[i]) * 1.0
        if last:
            out[i] = acc

    def small(i, acc: pk.Acc[pk.int8], last, a, out):  # wraps
        acc += int(pk.sqrt(a[i]) * 20)
        if last:
            out[i] = acc

    a = numbers(6) + 0.1
    for kernel, dtype, can in ((narrow, "f4", True), (mixed, "f8", False), (small, "f8", True)):
        given, out = a.astype(dtype), pk.View([N])
        total = pk.parallel_scan(N, kernel, a=given, out=out)
        expected, sum_ = [], numpy.float32(0)
        for x in given:
            if kernel is narrow:
                sum_ = sum_ + x * x * x
            elif kernel is mixed:
                sum_ = numpy.float32(numpy.float64(sum_) + numpy.sqrt(x))
            else:
                sum_ = (int(sum_) + int(numpy.sqrt(x) * 20) + 128) % 256 - 128
            expected.append(float(sum_))
        assert list(out) == expected
        assert float(total) == expected[-1]
        assert is_in_three(kernel, given, out) is can


def test_what_is_added_may_not_follow_from_the_sum() -> None:
    def growing(i, acc, last, a, out):
        acc += pk.sqrt(acc + a[i])
        if last:
            out[i] = acc

    def twice(i, acc, last, a, out):
        acc += pk.sqrt(a[i])
        acc += 1.0
        if last:
            out[i] = acc

    def looping(i, acc, last, a, out):
        for k in range(3):
            acc += pk.sqrt(a[i]) * k
        if last:
            out[i] = acc

    def storing(i, acc, last, a, out):
        out[i] = pk.sqrt(a[i])
        acc += out[i]

    def otherwise(i, acc, last, a, out):
        acc += pk.sqrt(a[i])
        if last and a[i] > 1.0:
            out[i] = acc
        else:
            out[i] = acc

    steps = {growing: 0, twice: 1, looping: 2, storing: 3, otherwise: 4}
    a = numbers(7)
    for kernel, which in steps.items():
        out, total, expected = pk.View([N]), 0.0, []
        pk.parallel_scan(N, kernel, a=a, out=out)
        for x in a:
            if which == 0:
                total += math.sqrt(total + x)
            elif which == 1:
                total = (total + math.sqrt(x)) + 1.0
            elif which == 2:
                for k in range(3):
                    total += math.sqrt(x) * k
            elif which == 4:
                total += math.sqrt(x)
            expected.append(math.sqrt(x) if which == 3 else total)
        assert list(out) == expected, kernel.__name__
        assert not is_in_three(kernel, a, out)


def test_a_lambda_is_no_scan() -> None:
    with pytest.raises(TypeError, match="a lambda as a scan .*a function with def"):
        pk.parallel_scan(N, lambda i, acc, last, a: acc + a[i], a=pk.View([N]))


def test_scans_of_functors_and_numbers_of_the_program() -> None:
    @pk.functor
    class Held:
        def __init__(self) -> None:
            self.a = pk.View([N])
            self.out = pk.View([N])
            self.scale = 2.0

        @pk.workunit
        def run(self, i, acc, last):
            acc += pk.sqrt(self.a[i]) * self.scale
            if last:
                self.out[i] = acc

    held = Held()
    held.a[:] = numbers(8)
    for scale in (2.0, 3.0):
        held.scale = scale
        total = pk.parallel_scan(N, held.run)
        expected = numpy.cumsum(numpy.sqrt(held.a.data) * scale)
        assert list(held.out) == list(expected)
        assert float(total) == expected[-1]
    assert is_in_three(Held.run, owner=held)
