"""test_alone.py: Steps that are looked at one by one, on arrays of any size: at once or recorded.

Each statement runs several times from one place of the program, as what follows a step the first
time decides what is done the next time.
"""

from __future__ import annotations

import warnings

import numpy
import pytest

import frit.numpy
from frit import _core

SIZES = [0, 1, 7, 2100, 5000, 30_000, 33_000]
DTYPES = ["f8", "f4", "i8", "i1", "u2", "?", "c16"]
STATEMENTS = """
r = x + y
r = x * x
r = x == y
r = x[::-1] * 2
r = np.sqrt(abs(x))
x += y
x *= x
x[:] = y
x[:] = 3
x[1:-1] = y[1:-1]
x[1:] = x[:-1]
x[:-1] = x[1:]
x[::-1] = x
x[1:] += x[:-1]
x[::2] = y[::2]
np.add(x, y, out=x)
np.multiply(x, y, out=m[0])
m[0] = x
m[:, 0] = m[:, 1]
m += m
m.T[:] = m[::-1].T
r = m.T + m.T
r = m.T * 2
r = m + m[0]
r = np.minimum(m.T, f.T)
f += m
f *= f
f[:] = m
r = f + f
r = f.copy()
r = np.array(f[::-1])
r = m.T.copy()
r = x.copy()
r = np.full(len(x), 2.5)
r = np.zeros(len(x))
r = np.repeat(x, 2)
r = np.repeat(m, 2, axis=1)
r = np.repeat(m, 3, axis=0)
r = np.stack((x, y), axis=1)
r = np.column_stack((x, y, x))
r = np.tile(x, 3)
r = np.tile(x, (2, 1))
r = np.tile(m, (2, 2))
r = np.tile(f, (2, 1, 3))
r = np.tile(m.T, 2)
r = np.tile(m, 1)
r = np.tile(m, [0, 2])
r = np.tile(x, -1)
r = np.tile(x, 1.5)
r = np.tile(x[::-1], np.array([2, 2]))
r = np.tile(np.array(5), (2, 3))
r = np.concatenate((m, m), axis=1)
r = np.diff(x)
r = np.diff(m, axis=0)
r = np.diff(m, 1, 1)
r = np.diff(m, axis=-2)
r = np.diff(m, n=2, axis=0)
r = np.diff(m, axis=2)
r = np.diff(x, prepend=x[:1])
r = np.ediff1d(x)
r = np.ediff1d(m.T)
r = np.ediff1d(x, to_end=x[:1])
r = np.ediff1d(np.array(5))
r = np.gradient(m, axis=0)
r = np.sort(m)
r = np.sort(m, axis=1)
r = np.sort(m, axis=0)
r = np.sort(m, axis=None)
r = np.sort(f)
r = np.sort(m.reshape(-1, 1, 1))
r = np.sort(m, axis=2)
r = np.pad(x, 2)
r = np.pad(m, ((1, 0), (0, 2)), mode='edge')
r = np.insert(x, 1, 5)
r = np.delete(x, 0)
r = np.delete(m, [0, 1], axis=0)
r = np.take_along_axis(m, np.argsort(m, axis=1), axis=1)
r = np.add.reduceat(x, [0, 3, 1])
r = np.add.reduceat(m, [0], axis=1)
r = np.argmax(x)
r = np.argmin(m, axis=1)
r = np.dot(x, y)
r = x[x > y]
r = x[x == x] + 1
x[x > y] = y[x > y]
x[x > y] += 1
r = np.add(x, y).max()
r = x.sum() + y.sum()
r = m.min()
t = x + y; r = t * t
t = x + y; t += x; r = t
t = x * y; r = t.sum()
t = x[1:] - x[:-1]; x[1:] = t
""".strip().splitlines()


def inputs(np, dtype, n):
    rng = numpy.random.default_rng(n)
    x, y = (rng.integers(0, 100, (2, n)) / 2).astype(dtype)
    if n > 10 and numpy.dtype(dtype).kind in "fc":
        x[3:6] = numpy.nan, -0.0, numpy.inf
    m = x[: n // 50 * 50].reshape(-1, 50)
    rows = max(len(m), 1)
    m = numpy.resize(m, (rows, n // rows)).astype(dtype)
    return dict(
        np=np,
        x=np.array(x),
        y=np.array(y),
        m=np.array(m),
        f=np.asfortranarray(np.array(m)),
        r=None,
    )


def outcome(np, code, names):
    """What a statement did: its error, its warnings and all arrays."""
    names = dict(names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(code, names)
            error = None
        except Exception as exception:
            error = type(exception), str(exception)
        arrays = [numpy.asarray(names[name]) for name in ("r", "x", "m", "f")]
    bits = [
        numpy.where(a != a, 7, a).tobytes() if a.dtype.kind in "fc" else a.tobytes() for a in arrays
    ]
    return error, [str(w.message) for w in caught], [(a.dtype, a.shape) for a in arrays], bits


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_step_alone_does_what_numpy_does(statement, dtype):
    code = compile(statement, "<step>", "exec")
    for n in SIZES:
        theirs, ours = inputs(numpy, dtype, n), inputs(frit.numpy, dtype, n)
        for _ in range(4):
            expected = outcome(numpy, code, theirs)
            assert outcome(frit.numpy, code, ours) == expected, n


@pytest.mark.at_once
def test_a_large_step_that_nothing_followed_is_computed_at_once():
    x = frit.numpy.linspace(0.0, 1.0, 5000)
    code = compile("y = x * 2.0\nvalue = y[1]", "<step>", "exec")
    counts = []
    for _ in range(4):
        before = _core.statistics()
        with numpy.errstate(
            all="ignore"
        ):  # a test runner's filter of warnings makes them immediate
            exec(code, {"x": x})
        after = _core.statistics()
        counts.append(
            (after["recorded"] - before["recorded"], after["immediate"] - before["immediate"])
        )
    assert counts[0] == (1, 0) and counts[-2:] == [(0, 1)] * 2


def test_two_large_steps_are_one_kernel_each_time():
    x = frit.numpy.linspace(0.0, 1.0, 5000)
    code = compile("y = x * 2.0 + 1.0\nvalue = y[1]", "<step>", "exec")
    for round in range(6):
        before = _core.statistics()
        with numpy.errstate(
            all="ignore"
        ):  # a test runner's filter of warnings makes them immediate
            exec(code, {"x": x})
        assert round < 2 or _core.statistics()["recorded"] - before["recorded"] == 2
