"""test_places.py: where extremes and true elements are, and elements at places that are given."""

from __future__ import annotations

import numpy
import pytest

KINDS = "?bBhHiIlLefdFD"


def elements(kind: str, shape: tuple[int, ...], turn: int) -> numpy.ndarray:
    """Ties, rising and falling ones, NaN, infinities, zeros of both signs."""
    random = numpy.random.default_rng(turn)
    n = int(numpy.prod(shape))
    if kind == "?":
        return (random.random(n) < [0, 1e-3, 0.5, 0.999, 1][turn % 5]).reshape(shape)
    x = random.integers(0, [3, 100][turn % 2], n).astype(kind)
    if kind in "efdFD":
        x -= numpy.array(1, kind)
        if turn == 0:
            x[random.integers(0, n, 2)] = numpy.nan
        elif turn == 1:
            x[random.integers(0, n, 3)] = -numpy.inf
        elif turn == 2:
            x = numpy.where(random.random(n) < 0.5, -0.0, 0.0).astype(kind)
    if turn >= 3:
        x = numpy.sort(x)[:: [1, -1][turn % 2]]
    return numpy.ascontiguousarray(x).reshape(shape)


def same(expected, found):
    expected, found = numpy.asarray(expected), numpy.asarray(found)
    assert (expected.dtype, expected.shape) == (found.dtype, found.shape)
    assert numpy.array_equal(expected, found, equal_nan=expected.dtype.kind in "fc")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "shape",
    [(1,), (7,), (8,), (9,), (127,), (129,), (5000,), (40, 8), (40, 17), (20, 300), (4, 5, 6)],
)
def test_the_first_extreme_of_each_lane_is_found(kind, shape):
    check_extremes(kind, shape)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(150_001,), (300, 400), (2, 300, 200), (1, 3, 50_000)])
def test_the_first_extreme_is_found_by_several_threads(kind, shape):
    import frit

    threads = frit.get_num_threads()
    frit.set_num_threads(3)
    try:
        check_extremes(kind, shape)
    finally:
        frit.set_num_threads(threads)


def check_extremes(kind, shape):
    import frit.numpy as np

    for turn in range(5):
        x = elements(kind, shape, turn)
        y = np.array(x)
        for a, b in ((x, y), (x.T, y.T), (x[::-1], y[::-1]), (x[..., ::2], y[..., ::2])):
            for axis in (None, *range(a.ndim)):
                for name in ("argmax", "argmin"):
                    same(getattr(numpy, name)(a, axis), getattr(np, name)(b, axis))
                if kind not in "FD":  # fmax may take a zero of either sign
                    for name in ("fmax", "fmin"):
                        same(
                            getattr(numpy, name).reduce(a, axis=axis),
                            getattr(np, name).reduce(b, axis=axis),
                        )


@pytest.mark.parametrize("n", [1, 70, 5000, 600_000])
def test_any_and_all_stop_where_it_is_decided(n):
    import frit.numpy as np

    nothing, late = numpy.zeros(n, bool), numpy.arange(n) == n - 1
    odd = numpy.frombuffer(bytes([0, 2, 255, 1]) * n, bool)[1 : n + 1]  # any byte is true
    for x in (nothing, ~nothing, late, ~late, odd, odd[::2]):
        y = np.array(x)
        for call in (
            lambda m, a: a.any(),
            lambda m, a: a.all(),
            lambda m, a: m.any(a, keepdims=True),
            lambda m, a: m.logical_or.reduce(a, initial=True),
            lambda m, a: m.nonzero(a)[0],
            lambda m, a: a.argmax(),
        ):
            same(call(numpy, x), call(np, y))


@pytest.mark.parametrize("kind", "bhldFD")
@pytest.mark.parametrize("index_kind", "il")
@pytest.mark.parametrize("n, count", [(10, 5), (1000, 3000), (5000, 20_000)])
def test_elements_are_taken_put_and_updated_at_places(kind, index_kind, n, count):
    import frit.numpy as np

    random = numpy.random.default_rng(n)
    x = random.integers(0, 100, n).astype(kind)
    values = random.integers(0, 9, count).astype(kind)
    for low, step in ((0, 1), (-n, 1), (0, -1), (-n // 2, 2)):
        a, b = x.copy()[::step], np.array(x)[::step]
        at = random.integers(low, a.size, count).astype(index_kind)
        there, given = np.array(at), np.array(values)
        same(a[at], b[there])
        same(numpy.take(a, at), np.take(b, there))
        a[at] = values
        b[there] = given
        same(a, b)
        for operation in ("add", "subtract", "maximum", "multiply"):
            getattr(numpy, operation).at(a, at, values)
            getattr(np, operation).at(b, there, given)
            getattr(numpy, operation).at(a, at, 2)
            getattr(np, operation).at(b, there, 2)
            same(a, b)
        for wrong in (a.size, -a.size - 1):
            at[count // 2] = wrong
            there = np.array(at)
            for call in (
                lambda m, a, at: a[at],
                lambda m, a, at: a.__setitem__(at, 1),
                lambda m, a, at: m.add.at(a, at, 1),
            ):
                with pytest.raises(IndexError) as expected:
                    call(numpy, a, at)
                with pytest.raises(IndexError) as found:
                    call(np, b, there)
                assert str(expected.value) == str(found.value)
            same(a, b)


@pytest.mark.parametrize("kind", "?bhldD")
@pytest.mark.parametrize("shape", [(3, 5), (40, 30), (2, 3, 4), (3, 40, 17)])
def test_elements_are_taken_and_rolled_along_axes(kind, shape):
    import frit.numpy as np

    random = numpy.random.default_rng(len(shape))
    x = elements(kind, shape, 1)
    y = np.array(x)
    for axis, extent in enumerate(shape):
        for at in (
            random.integers(-extent, extent, 7),
            random.integers(0, extent, (2, 3)),
            numpy.array(extent - 1),
            numpy.array([], int),
        ):
            same(numpy.take(x, at, axis), np.take(y, np.array(at), axis))
            same(x.T.take(at, -1 - axis), y.T.take(np.array(at), -1 - axis))
        for call in (
            lambda m, a, axis=axis, extent=extent: m.take(a, m.array([0, extent]), axis),
            lambda m, a, axis=axis, extent=extent: m.take(a, m.array([-extent - 1]), axis),
        ):
            with pytest.raises(IndexError) as expected:
                call(numpy, x)
            with pytest.raises(IndexError) as found:
                call(np, y)
            assert str(expected.value) == str(found.value)
    for shift, axes in (
        ((1, -2), (0, 1)),
        (3, (0, -1)),
        ((1, 2, 3), (1, 0, 1)),
        ((0, 99), (-1, 0)),
    ):
        same(numpy.roll(x, shift, axes), np.roll(y, shift, axes))
        same(numpy.roll(x.T, shift, axes), np.roll(y.T, shift, axes))
    for shift, axes in (((1, 2), (0, 9)), ((1, 2, 3), (0, 1)), (1, (0, 1.5))):
        with pytest.raises((ValueError, TypeError)) as expected:
            numpy.roll(x, shift, axes)
        with pytest.raises(expected.type) as found:
            np.roll(y, shift, axes)
        assert str(expected.value) == str(found.value)


@pytest.mark.parametrize("kind", "?bhldD")
def test_elements_are_repeated_by_counts(kind):
    import frit.numpy as np

    x = elements(kind, (6, 50), 1)
    y = np.array(x)
    random = numpy.random.default_rng(3)
    for n, a, b in ((300, x, y), (50, x[1], y[1]), (150, x[:, ::2], y[:, ::2])):
        counts = random.integers(0, 4, n)
        same(numpy.repeat(a, counts), np.repeat(b, np.array(counts)))
        same(numpy.repeat(a, counts * 0), np.repeat(b, np.array(counts * 0)))
        same(numpy.repeat(a, counts.astype("i")), np.repeat(b, np.array(counts.astype("i"))))
        same(numpy.repeat(a, counts[:1] + 1), np.repeat(b, np.array(counts[:1] + 1)))
        for wrong in (counts - 1, counts[:7], counts * 0.5):
            with pytest.raises((ValueError, TypeError)) as expected:
                numpy.repeat(a, wrong)
            with pytest.raises(expected.type) as found:
                np.repeat(b, np.array(wrong))
            assert str(expected.value) == str(found.value)
    counts = random.integers(0, 4, 6)
    same(numpy.repeat(x, counts, 0), np.repeat(y, np.array(counts), 0))


@pytest.mark.parametrize("kind", "?bhldD")
def test_rows_are_put_at_places(kind):
    import frit.numpy as np

    random = numpy.random.default_rng(4)
    at = random.integers(0, 40, 60)  # some of them twice: the last one stays
    there = np.array(at)
    for turn in range(5):
        a, b = elements(kind, (40, 17), turn), np.array(elements(kind, (40, 17), turn))
        rows = elements(kind, (60, 17), 3 - turn // 2)
        a[at] = rows
        b[there] = np.array(rows)
        a[at] = a[at[::-1]]
        b[there] = b[there[::-1]]
        a[:, at % 17] = rows[:40, :1]
        b[:, there % 17] = np.array(rows[:40, :1])
        a.T[at % 17] = a.T[at % 17]
        b.T[there % 17] = b.T[there % 17]
        a[at % 9, at % 7] = a[at % 5, at % 3]
        b[there % 9, there % 7] = b[there % 5, there % 3]
        same(a, b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(3, 4), (9, 17), (40, 30), (5, 6, 7), (21, 21, 21), (4, 1, 33)])
def test_elements_are_copied_into_other_orders(kind, shape):
    import frit.numpy as np

    x = elements(kind, shape, 1)
    y = np.array(x)
    for order in ((1, 0, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)):
        axes = [k for k in order if k < x.ndim]
        a, b = x.transpose(axes), y.transpose(axes)
        same(a.copy(), b.copy())
        same(a[::-1, 1:].copy(), b[::-1, 1:].copy())
        into, back = numpy.zeros_like(x), np.zeros(x.shape, x.dtype)
        into.transpose(axes)[...] = a[:, ::-1]
        back.transpose(axes)[...] = b[:, ::-1]
        same(into, back)
        into, back = numpy.zeros(a.shape, x.dtype), np.zeros(a.shape, x.dtype)
        into.T[...] = a.T
        back.T[...] = b.T
        same(into, back)
        into, back = numpy.zeros_like(x), np.zeros(x.shape, x.dtype)
        into.transpose(axes)[...] = a[:1]  # broadcast
        back.transpose(axes)[...] = b[:1]
        same(into, back)
