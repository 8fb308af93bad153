"""test_index_updates.py: updates by index arrays, searches, counts and rolls, as NumPy does."""

import warnings

import numpy
import pytest

DTYPES = ["f8", "f4", "f2", "i8", "i4", "i1", "u8", "u1", "?", "c16"]


def outcome(module, statement, dtype, n):
    rng = numpy.random.default_rng(n)
    target = (rng.normal(size=n) * 20).astype(dtype)
    if n > 3 and numpy.dtype(dtype).kind == "f":
        target[:3] = numpy.inf, numpy.nan, 0
    names = {
        "np": module,
        "t": module.array(target),
        "m": module.array((rng.normal(size=(7, n)) * 20).astype(dtype)),
        "y": module.array((rng.normal(size=3 * n) * 3).astype(dtype)),
        "i": module.array(rng.integers(-n, n, 3 * n)),
        "k": module.array(rng.integers(0, 7, 3 * n).astype("u1")),
        "r": None,
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(statement, names)
            error = None
        except Exception as exception:
            error = type(exception), str(exception)
        arrays = [names["t"], names["m"], *([] if names["r"] is None else [names["r"]])]
        arrays = [numpy.asarray(array) for array in arrays]
    # Which NaN it is may differ.
    values = [numpy.where(a != a, a.dtype.type(7), a).tobytes() for a in arrays]
    return error, [(a.dtype, a.shape) for a in arrays], values, {str(w.message) for w in caught}


UPDATES = [
    "np.add.at(t, i, y)",
    "np.add.at(t, i, 1)",
    "np.add.at(t, i, t[i])",
    "np.add.at(t[::-1], i, y)",
    "np.add.at(m, (k, i), y)",
    "np.add.at(m, k[:20], 1)",
    "np.add.at(m.T, i[:20], 1)",
    "np.add.at(t, i + len(t), 1)",
    "np.subtract.at(t, i, y)",
    "np.multiply.at(t, i, y)",
    "np.divide.at(t, i, y)",
    "np.floor_divide.at(t, np.abs(i[:2]), 3)",
    "np.minimum.at(k, np.abs(i) % len(k), 3)",
    "np.logical_or.at(t, i, y)",
    "np.bitwise_and.at(t, i, y)",
    "np.hypot.at(t, i, y)",
]
READS = [
    "r = np.argmax(t)",
    "r = np.argmin(m, axis=1)",
    "r = np.argmax(m, axis=0)",
    "r = np.argmin(m.T, axis=0)",
    "r = np.count_nonzero(t > 0)",
    "r = np.nonzero(t > 1)[0]",
    "r = np.flatnonzero(m)",
    "r = np.cumsum(m, axis=0)",
    "r = np.maximum.accumulate(m, axis=0)",
    "r = np.subtract.accumulate(m, axis=0)",
    "r = np.roll(t, 3)",
    "r = np.roll(m, -2, axis=0)",
    "r = np.roll(m, 5, axis=1)",
    "r = np.roll(m, 1)",
    "r = np.roll(m.T, 1, axis=0)",
    "r = np.roll(m * 1, 1, axis=1) - m",
    "r = np.clip(t, -1, 2)",
    "r = np.clip(t, 2, -1)",
    "r = np.clip(m, -0.0, 1.5)",
    "r = np.clip(t, float('nan'), 2)",
    "r = m.max(axis=1)",
    "r = m.min(axis=1, keepdims=True)",
    "r = m.sum(axis=1)",
    "r = m.T.max(axis=0)",
]


@pytest.mark.parametrize("n", [1, 9, 130, 3000])
@pytest.mark.parametrize("statement", UPDATES + READS)
def test_as_numpy(statement, n):
    import frit.numpy

    for dtype in DTYPES:
        assert outcome(frit.numpy, statement, dtype, n) == outcome(numpy, statement, dtype, n), (
            dtype
        )


def test_a_roll_of_what_is_pending_is_recorded():
    import frit.numpy as np

    x = numpy.arange(400_000.0).reshape(500, 800)
    y = np.array(x) + 1
    assert np.roll(y, 2, axis=1).tolist() == numpy.roll(x + 1, 2, axis=1).tolist()


def test_rolls_and_what_reads_them_are_one_kernel():
    import frit
    import frit.numpy as np

    x = np.array(numpy.random.default_rng(3).normal(size=(400, 500)))
    x += 1
    frit.eval()
    with np.errstate(all="ignore"):  # pytest records warnings: what may warn runs at once
        y = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4 * x
        assert "in 1 kernel;" in str(frit.explain(y))


def steps_of_rolls(module, dtype, shape, seed):
    rng = numpy.random.default_rng(seed)
    x = module.array((rng.random(shape) * 100).astype(dtype)) + module.ones((), dtype)
    arrays = [x]
    for _ in range(6):
        a, b = (arrays[rng.integers(len(arrays))] for _ in range(2))
        axis = int(rng.integers(len(shape)))
        shift = [1, -1, 2, -3, shape[axis] // 2, shape[axis] - 1, 0][rng.integers(7)]
        step = rng.integers(5)
        if step == 0:
            arrays.append(module.roll(a, shift, axis))
        elif step == 1:
            arrays.append(module.roll(a, shift, axis) + module.roll(b, -shift, axis) - b)
        elif step == 2:
            b += module.roll(a, shift, axis)
        elif step == 3:
            b[1:] = module.roll(a, shift, axis)[:-1]
        else:
            arrays.append(module.roll(module.roll(a, shift, axis), 1, 0) * b)
        if rng.random() < 0.3 and len(arrays) > 1:
            arrays.pop(rng.integers(len(arrays)))
    return [numpy.asarray(a) for a in arrays]


@pytest.mark.parametrize("seed", range(40))
def test_steps_of_rolls_and_their_readers_are_numpys(seed):
    import frit.numpy as np

    dtype = ["f8", "f4", "i8", "c16", "u1"][seed % 5]
    points = (1 << 20) // numpy.dtype(dtype).itemsize + 7777
    shape = [(points,), (300, points // 300 + 1), (40, 50, points // 2000 + 1)][seed % 3]
    expected = steps_of_rolls(numpy, dtype, shape, seed)
    for wanted, found in zip(expected, steps_of_rolls(np, dtype, shape, seed), strict=True):
        assert wanted.tobytes() == found.tobytes()
