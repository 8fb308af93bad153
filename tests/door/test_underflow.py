# test_underflow.py: underflow, which NumPy ignores unless it is told otherwise.

import threading
import warnings

import numpy
import pytest

import frit
import frit.numpy as np

TINY = 1e-200
EXPRESSIONS = {
    "product": "x * x",
    "product with a number": "x * 1e-200",
    "number on the left": "1e-200 * x",
    "quotient": "x / 1e200",
    "power": "x ** 2",
    "function": "np.exp(-y)",
    "ufunc": "np.multiply(x, x)",
    "out": "np.multiply(x, x, out=np.empty_like(x))",
    "in place": "x.__imul__(x)",
    "outer": "np.multiply.outer(x, x)",
    "reduce": "np.multiply.reduce(x)",
    "prod": "x.prod()",
    "cumprod": "x.cumprod()",
    "var": "(0.5 * x[::2] - [0.0, 1e-200]).var()",
    "conversion": "x.astype(np.float32)",
    "large": "big * big",
    "window": "big[::2] * big[1::2]",
    "none": "y + y",
    "integers": "n * n",
}


def outcome(module, expression, under):
    """The result, or the error's type and words, and the warnings."""
    space = {
        "np": module,
        "x": module.array([TINY, 1.0, TINY]),
        "y": module.array([1.0, 2000.0]),
        "n": module.arange(5),
        "big": module.full(100_000, TINY),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with module.errstate(under=under):
            try:
                result = numpy.asarray(eval(expression, space)).tolist()
            except FloatingPointError as error:
                result = str(error)
    return result, [str(w.message) for w in caught]


@pytest.mark.parametrize("under", ["ignore", "warn", "raise"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_is_told_as_by_numpy(name, under):
    expected = outcome(numpy, EXPRESSIONS[name], under)
    assert outcome(np, EXPRESSIONS[name], under) == expected
    if name not in ("none", "integers") and under != "ignore":
        assert "underflow" in str(expected)


def test_is_ignored_again_behind_errstate():
    x = np.array([TINY])
    with np.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow"):
        x * x
    assert (x * x)[0] == 0


def test_other_threads_go_on():
    told = []

    def listen():
        with np.errstate(under="raise"):
            with pytest.raises(FloatingPointError):
                np.array([TINY]) * TINY
            told.append(True)

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert told == [True]
    assert (np.array([TINY]) * TINY)[0] == 0


def test_in_loops():
    @frit.parallelize
    def squares(x, y):
        for i in range(len(x)):
            y[i] = x[i] * x[i]

    x, y = numpy.full(1000, TINY), numpy.ones(1000)
    squares(x, y)
    assert not y.any()
    with numpy.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow"):
        squares(x, y)
