"""test_division.py: integers divided by arrays and by numbers, which is by their reciprocals."""

from __future__ import annotations

import numpy
import pytest

KINDS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def dividends(kind: str, random: numpy.random.Generator) -> numpy.ndarray:
    """What lies at the borders of the type and of powers of two, and numbers of all lengths."""
    limits = numpy.iinfo(kind)
    near = [2**k + d for k in range(limits.bits) for d in (-1, 0, 1)]
    near += [-x for x in near] + [limits.min, limits.min + 1, limits.max]
    borders = numpy.array([x for x in near if limits.min <= x <= limits.max], kind)
    some = random.integers(limits.min, limits.max, 4000, kind, endpoint=True)
    lengths = random.integers(0, limits.bits, some.size).astype(kind)
    return numpy.concatenate([borders, some >> lengths])


def divided(module, x, y):
    with numpy.errstate(all="ignore"):
        results = [x // y, x % y, module.fmod(x, y), *module.divmod(x, y)]
        return [numpy.asarray(r) for r in results]


@pytest.mark.parametrize("kind", KINDS)
def test_quotients_and_rests_of_integers_are_exact(kind, tier):
    import frit.numpy as np

    random = numpy.random.default_rng(1)
    x = dividends(kind, random)
    y = random.permutation(dividends(kind, random))
    multiples = x // numpy.where(y == 0, 1, y) * y  # and what stands beside them
    random_divisors = random.choice(y, 20).tolist()
    for left in (x, multiples, multiples - numpy.array(1).astype(kind), x[:100]):
        for right in (y[: left.size], *x[:9], *random_divisors, 0, 1, 7):
            ours = np.array(right) if isinstance(right, numpy.ndarray) else right
            for a, b, c, d in (
                (left, right, np.array(left), ours),
                (right, left, ours, np.array(left)),
            ):
                for expected, found in zip(divided(numpy, a, b), divided(np, c, d), strict=True):
                    assert expected.dtype == found.dtype
                    assert numpy.array_equal(expected, found), (kind, right)


@pytest.mark.parametrize("kind", ["i1", "u1"])
def test_all_quotients_of_bytes_are_exact(kind):
    import frit.numpy as np

    x = numpy.arange(256).astype(kind)
    for y in x:
        for expected, found in zip(divided(numpy, x, y), divided(np, np.array(x), y), strict=True):
            assert numpy.array_equal(expected, found), y


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
@pytest.mark.parametrize("times", [1, 100, 5000])
def test_rests_of_floats_have_numpys_bytes(kind, times, tier):
    import frit.numpy as np

    numbers = [0.0, 1.0, 2.5, 1e-3, 7.0, numpy.inf, numpy.nan]
    values = numpy.array(numbers + [-x for x in numbers], kind)
    x, y = (numpy.tile(a.ravel(), times) for a in numpy.meshgrid(values, values))
    with numpy.errstate(all="ignore"):
        expected, found = numpy.fmod(x, y), np.fmod(np.array(x), np.array(y))
        assert numpy.asarray(found).tobytes() == expected.tobytes()
        for a, b in zip(x[: values.size**2], y, strict=False):
            assert np.fmod(a, b).tobytes() == numpy.fmod(a, b).tobytes(), (a, b)


@pytest.mark.parametrize("n", [1, 100, 5000])
def test_doubles_become_halves_in_one_rounding(n, tier):
    import frit.numpy as np

    random = numpy.random.default_rng(n)
    halves = random.integers(0, 1 << 16, n).astype("u2").view("f2").astype(float)
    with numpy.errstate(all="ignore"):
        apart = numpy.spacing(halves.astype("f2")).astype(float) / 2
        for x in (halves + apart, halves + apart * (1 + 2**-40), halves + apart * (1 - 2**-40)):
            expected, found = x.astype("f2"), numpy.asarray(np.array(x).astype("f2"))
            assert numpy.array_equal(expected, found, equal_nan=True)


def test_a_quotient_that_is_the_same_in_all_rounds(tier):
    """It is computed in front of the loop, where nothing may branch."""
    import frit
    import frit.numpy as np

    with np.errstate(all="ignore"):
        for kind in KINDS:
            values = numpy.array([7, 3, 0, 1], kind)
            x = np.array(numpy.tile(values, 5000))
            frit.eval()
            largest, least = x.max(), x.min()
            found = np.asarray(x + largest // largest + (largest + x[1]) // largest)
            assert numpy.array_equal(found, numpy.asarray(x) + numpy.array([2], kind)), kind
            assert least // largest == 0, kind
        truth = np.any(np.array(numpy.arange(2761) > 0))
        assert np.sum(truth // truth) == 1
