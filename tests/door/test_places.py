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


@pytest.mark.parametrize("kind", "bhld")
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
        for operation in ("add", "maximum", "multiply"):
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
