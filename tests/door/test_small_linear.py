"""test_small_linear.py: linalg of small matrices gives NumPy's bits, warnings and words."""

from __future__ import annotations

import warnings

import numpy
import pytest

import frit.numpy as np
from frit import _core

CALLS = {
    "inv": [{}],
    "det": [{}],
    "cholesky": [{}, {"upper": True}],
    "eigh": [{}, {"UPLO": "U"}],
    "eigvalsh": [{}],
    "svd": [{}, {"full_matrices": False}, {"compute_uv": False}, {"hermitian": False}],
}
NORMS = [
    {},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"ord": 1},
    {"ord": 2, "axis": 0},
    {"ord": True, "axis": 0},
    {"ord": 1, "axis": 0},
    {"ord": numpy.inf},
    {"axis": (0,)},
    {"axis": 7},
    {"axis": "text"},
    {"keepdims": True},
    {"ord": "fro"},
    {"ord": "none"},
]


def bits(result):
    if isinstance(result, tuple):
        return (type(result).__name__, *map(bits, result))
    array = numpy.asarray(result)
    array = numpy.where(numpy.isnan(array), numpy.nan, array)  # NaN compares as NaN
    strides = array.strides if array.size else None
    return array.dtype, array.shape, strides, array.tobytes()


def outcome(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = bits(function(*arguments, **options))
        except Exception as error:
            result = type(error), str(error)
    return result, [(w.category, str(w.message)) for w in caught]


def matrices():
    generator = numpy.random.default_rng(7)
    for n in (1, 2, 3, 5, 8, 33, 64, 65):
        a = generator.standard_normal((n, n))
        wide = generator.standard_normal((2 * n, 3 * n))
        yield from (a, a @ a.T + n * numpy.eye(n), a[::-1], a[:, ::-1], a.T)
        yield from (wide, wide[::2, ::3], wide[:n, :n], wide.T)
        yield from (numpy.zeros((n, n)), numpy.ones((n, n)), a * 1e200, a * 1e-200)
        yield from (generator.integers(-5, 6, (n, n)), a > 0, a.astype("f4"), a.astype("f2"))
        yield from (a + 1j, generator.integers(0, 250, (n, n)).astype("u1"))
        yield numpy.broadcast_to(a[0], (n, n))
        a = a.copy()
        a[0, -1] = numpy.nan
        yield a
    yield from (numpy.zeros((0, 0)), numpy.zeros(3), numpy.zeros((2, 3, 3)), numpy.zeros((2, 3)))


def both(real):
    """The matrix under Frit and NumPy, of one layout."""
    yield np.array(real), numpy.array(real)
    yield np.array(real.T).T, numpy.array(real.T).T


@pytest.mark.parametrize("name", CALLS)
def test_functions_of_one_matrix(name):
    for matrix in matrices():
        if name == "svd" and numpy.isnan(matrix).any():
            continue  # LAPACK writes of it to the terminal
        for ours, real in both(matrix):
            for options in CALLS[name]:
                expected = outcome(getattr(numpy.linalg, name), real, **options)
                assert outcome(getattr(np.linalg, name), ours, **options) == expected


@pytest.mark.at_once
@pytest.mark.parametrize("options", NORMS, ids=str)
def test_norms(options):
    for matrix in (*matrices(), numpy.arange(5.0)[::-1], numpy.arange(3), numpy.array(2.0)):
        if options.get("axis") == 7 and matrix.shape[0:1] in ((64,), (65,)):
            continue  # NumPy's function runs twice where it raises, and warns twice
        for ours, real in both(matrix):
            expected = outcome(numpy.linalg.norm, real, **options)
            assert outcome(np.linalg.norm, ours, **options) == expected


def test_solving():
    generator = numpy.random.default_rng(3)
    for matrix in matrices():
        n = matrix.shape[0] if matrix.ndim else 1
        for right in (
            generator.standard_normal(n),
            generator.standard_normal((n, 3)),
            generator.standard_normal((3, n)).T,
            numpy.arange(n),
            numpy.arange(2.0 * n)[::-2],
            numpy.ones(n + 1),
            numpy.array(2.0),
        ):
            for ours, real in both(matrix):
                expected = outcome(numpy.linalg.solve, real, right)
                assert outcome(np.linalg.solve, ours, np.array(right)) == expected
                assert outcome(np.linalg.solve, ours, right) == expected


def test_a_pending_matrix_is_computed_first():
    _core.let_float_errors_come_late()
    before = _core.set_immediate_bytes(0)
    try:
        real = numpy.array([[4.0, 1.0], [1.0, 3.0]])
        ours = np.array(real) * 2.0 + np.eye(2)
        assert _core.is_pending(ours)
        assert bits(np.linalg.inv(ours)) == bits(numpy.linalg.inv(real * 2.0 + numpy.eye(2)))
    finally:
        _core.set_immediate_bytes(before)


def test_what_is_given_is_left_alone():
    real = numpy.array([[4.0, 1.0], [1.0, 3.0]])
    ours, right = np.array(real), np.ones(2)
    for name in CALLS:
        getattr(np.linalg, name)(ours)
    np.linalg.solve(ours, right)
    assert bits(ours) == bits(real) and bits(right) == bits(numpy.ones(2))


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x, xp, fp: m.interp(x, xp, fp),
        lambda m, x, xp, fp: m.interp(2.5, xp, fp, left=-1, right=7.0),
        lambda m, x, xp, fp: m.interp(x, xp, fp, period=3),
        lambda m, x, xp, fp: m.interp(x, xp, fp + 1j),
        lambda m, x, xp, fp: m.interp([1, 2.5], [0, 1, 2], [5, 6, 7j]),
        lambda m, x, xp, fp: m.interp([1, 2.5], [0, 1, 2], [5, 6, 7]),
        lambda m, x, xp, fp: m.interp(x, xp[:-1], fp),
        lambda m, x, xp, fp: m.interp(x, xp[:0], fp[:0]),
        lambda m, x, xp, fp: m.interp(x.reshape(2, -1), xp, fp),
        lambda m, x, xp, fp: m.interp(x, xp, fp, period=0),
        lambda m, x, xp, fp: m.interp(x, xp),
        lambda m, x, xp, fp: m.interp(),
        lambda m, x, xp, fp: m.searchsorted(xp, x),
        lambda m, x, xp, fp: m.searchsorted(xp, 2.5, "right"),
        lambda m, x, xp, fp: m.searchsorted(xp, x, side="right", sorter=m.arange(len(xp))),
        lambda m, x, xp, fp: m.searchsorted([1, 2, 3], 2),
        lambda m, x, xp, fp: m.searchsorted(xp, x, side="middle"),
        lambda m, x, xp, fp: m.searchsorted(xp.reshape(2, -1), x),
        lambda m, x, xp, fp: m.searchsorted(xp, x.sum()),
        lambda m, x, xp, fp: m.searchsorted(a=xp, v=x),
        lambda m, x, xp, fp: m.correlate(x, xp),
        lambda m, x, xp, fp: m.correlate(x, [1, 2j], "full"),
        lambda m, x, xp, fp: m.correlate(x, xp, mode="same"),
        lambda m, x, xp, fp: m.correlate(x, xp[:0]),
        lambda m, x, xp, fp: m.correlate(x, xp, mode="none"),
        lambda m, x, xp, fp: m.correlate(a=x, v=xp),
    ],
)
def test_functions_that_are_called_at_once(call):
    real = [numpy.linspace(-1, 9, 8), numpy.linspace(0, 5, 6), numpy.linspace(3, 1, 6) ** 2]
    ours = [np.array(each) for each in real]
    assert outcome(call, np, *ours) == outcome(call, numpy, *real)


VECTORS = [
    numpy.array([1.5, -2.25, 1e-3]),
    numpy.array([3, -(2**62), 7]),
    numpy.array([0.1, 1e200, -3.0]),
    numpy.array([-1e200, 1e200, 1e-200]),
    numpy.array([numpy.inf, 1.0, 0.0]),
    numpy.array([numpy.nan, -0.0, 2.0]),
    numpy.array([1.1, 2.2, 3.3], "f4"),
    numpy.array([3e38, 3e38, -3e38], "f4"),
    numpy.array([1, 2, 3], "f2"),
    numpy.array([1, -2, 3], "i1"),
    numpy.array([True, False, True]),
    numpy.array([1j, 2, 3]),
    numpy.arange(6.0)[::2],
    numpy.arange(9.0)[::-3],
    numpy.arange(9.0).reshape(3, 3),
    numpy.array([1.0, 2.0]),
    numpy.array([1.0, 2.0, 3.0, 4.0]),
    numpy.array(2.0),
]


@pytest.mark.parametrize("name", ["cross", "linalg.cross"])
@pytest.mark.parametrize("under", ["warn", "ignore"])
def test_cross_products_of_vectors_are_numpys(name, under):
    def function(module):
        return module.linalg.cross if "." in name else module.cross

    for a in VECTORS:
        for b in VECTORS:
            with np.errstate(under=under):
                ours = outcome(function(np), np.array(a), np.array(b))
            with numpy.errstate(under=under):
                expected = outcome(function(numpy), a, b)
            assert ours == expected, (a, b)


@pytest.mark.parametrize("t", ["f8", "f4", "f2", "c16", "c8", "i4", "?"])
@pytest.mark.parametrize("number", ["-1", "0", "2.5", "np.nan", "np.float32(-2)", "np.array(0.0)"])
@pytest.mark.parametrize("form", ["np.dot(x, s)", "np.dot(s, x)", "x.dot(s)", "np.dot(x[:0], s)"])
def test_dot_with_a_number_is_the_librarys(t, number, form, recorded):
    def outcome(module):
        names = {"np": module}
        elements = [0.0, -0.0, numpy.nan, numpy.inf, 3.0, -1.5]
        names["x"] = module.array(elements if t != "i4" else [0, 5, -7, 3, 2, 1]).astype(t)
        results = []
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            names["s"] = eval(number, names)
            for shape in ((6,), (2, 3), (1, 2, 3)):
                names["x"] = names["x"].reshape(shape)
                made = numpy.asarray(eval(form, names))
                results.append((made.dtype, repr(made.tolist())))
        return results, {str(w.message) for w in seen}

    assert outcome(np) == outcome(numpy)


@pytest.mark.parametrize("keepdims", [None, 1, 0, 1.5, "a", numpy.True_, numpy.int64(1), True])
@pytest.mark.parametrize("name", ["sum", "max", "mean", "argmax", "any", "count_nonzero", "std"])
def test_keepdims_takes_what_numpys_takes(name, keepdims):
    def outcome(module):
        try:
            found = getattr(module, name)(module.ones((2, 3)), axis=0, keepdims=keepdims)
            return numpy.asarray(found).tolist()
        except Exception as error:
            return type(error), str(error)

    assert outcome(np) == outcome(numpy)
