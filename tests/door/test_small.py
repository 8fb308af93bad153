"""test_small.py: Small arrays take ways of their own: what they give is NumPy's."""

from __future__ import annotations

import warnings

import numpy
import pytest

import frit.numpy as np
from frit import _core

DTYPES = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
SIZES = [1, 2, 3, 7, 8, 9, 31, 100, 1000, 3000]


def values(dtype, n, seed=0):
    generator = numpy.random.default_rng(seed + n)
    ints = generator.integers(-5, 6, n)
    if numpy.dtype(dtype).kind in "fc":
        x = (ints / 2).astype(dtype)
        x[generator.random(n) < 0.1] = numpy.nan
        x[generator.random(n) < 0.1] = -0.0
        return x
    return ints.astype(dtype)


def same(ours, theirs):
    ours = numpy.asarray(ours)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.at_once
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorting_and_extremes(dtype):
    for n in SIZES:
        real = values(dtype, n)
        x = np.array(real)
        for name in ("sort", "argsort"):
            same(getattr(np, name)(x), getattr(numpy, name)(real))
            same(getattr(np, name)(x[::-1]), getattr(numpy, name)(real[::-1]))
        same(x.argsort(), real.argsort())
        for name in ("argmax", "argmin"):
            ours, theirs = getattr(x, name)(), getattr(real, name)()
            assert ours == theirs and type(ours) is type(theirs)
            same(getattr(np, name)(x[::-1]), getattr(numpy, name)(real[::-1]))
        same(x, real)  # nothing was sorted in place


def test_sorting_with_options_and_axes():
    real = values("f8", 60).reshape(3, 4, 5)
    x = np.array(real)
    for axis in (-1, 0, 1, None):
        same(np.sort(x, axis=axis), numpy.sort(real, axis=axis))
        same(np.argsort(x, axis=axis, kind="stable"), numpy.argsort(real, axis=axis, kind="stable"))
    same(np.sort([3, 1, 2]), numpy.sort([3, 1, 2]))
    same(np.sort(real), numpy.sort(real))
    for wrong in (lambda m, a: m.sort(a, axis=7), lambda m, a: m.sort(a, kind="none")):
        with pytest.raises(Exception) as ours:
            wrong(np, x)
        with pytest.raises(Exception) as theirs:
            wrong(numpy, real)
        assert (type(ours.value), str(ours.value)) == (type(theirs.value), str(theirs.value))
    with pytest.raises(ValueError, match="empty"):
        np.array([]).argmax()
    assert numpy.asarray(np.sort(np.array([]))).size == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_few_elements_sorted_and_searched(dtype):
    for n in (1, 5, 9, 33, 70):
        real = values(dtype, 7 * n).reshape(7, n)
        for theirs in (real, real.T):
            x = np.array(real) if theirs is real else np.array(real).T
            for axis in (0, 1, -1, -2):
                for name in ("argmax", "argmin"):
                    same(getattr(np, name)(x, axis=axis), getattr(numpy, name)(theirs, axis=axis))
                for kind in (None, "stable", "mergesort", "quicksort"):
                    for name in ("sort", "argsort"):
                        given = {"axis": axis, "kind": kind}
                        same(getattr(np, name)(x, **given), getattr(numpy, name)(theirs, **given))


@pytest.mark.parametrize("dtype", DTYPES)
def test_triangles_and_diagonals(dtype):
    for shape in [(0, 3), (3, 0), (1, 1), (3, 4), (4, 3), (2, 3, 5), (40, 50)]:
        real = values(dtype, int(numpy.prod(shape))).reshape(shape)
        x = np.array(real)
        for k in (0, 1, -1, 3, -7, 2**31 - 1, 1 - 2**31):
            for name in ("tril", "triu"):
                same(getattr(np, name)(x, k), getattr(numpy, name)(real, k))
                same(getattr(np, name)(x.T, k), getattr(numpy, name)(real.T, k))
            if len(shape) == 2:
                same(np.diag(x, k), numpy.diag(real, k))
        same(np.flipud(x), numpy.flipud(real))
        same(np.fliplr(x), numpy.fliplr(real))
    row = values(dtype, 9)
    for k in (0, 2, -3):
        same(np.diag(np.array(row), k), numpy.diag(row, k))
        same(np.eye(3, 5, k, dtype), numpy.eye(3, 5, k, dtype))
    same(np.identity(4, dtype), numpy.identity(4, dtype))


def test_a_diagonal_is_a_view_that_must_not_be_written():
    x = np.zeros((3, 3))
    diagonal = np.diag(x, 1)
    x[0, 1] = 5
    assert diagonal.tolist() == [5, 0]
    with pytest.raises(ValueError, match="read-only"):
        diagonal[0] = 1
    with pytest.raises(OverflowError):
        np.diag(x, 2**31)


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.bincount(x),
        lambda m, x: m.bincount(x, minlength=20),
        lambda m, x: m.bincount(x, m.linspace(0, 1, x.size) * m.nan),
        lambda m, x: m.bincount(x[::-1], x / 3, 4),
        lambda m, x: m.bincount(x, x),
        lambda m, x: m.bincount(x + 1),
        lambda m, x: m.bincount(x.astype("u1")),
        lambda m, x: m.bincount(x - 5),
        lambda m, x: m.bincount(x[:0]),
        lambda m, x: m.bincount(x, m.ones(3)),
        lambda m, x: m.bincount(x, minlength=-1),
        lambda m, x: m.bincount(x, minlength=None),
        lambda m, x: m.convolve(x, x[:3] + 0.5),
        lambda m, x: m.convolve(x[:3], x, "same"),
        lambda m, x: m.convolve(x * 1j, x[::2], "valid"),
        lambda m, x: m.convolve(x, x[:0]),
        lambda m, x: m.convolve(x, x, "none"),
        lambda m, x: m.correlate(x * 1j, x[::-2] * 1j, "full"),
        lambda m, x: m.correlate(x, v=x[:2]),
        lambda m, x: m.fix(x / 2 - 1.3),
        lambda m, x: m.fix(x),
        lambda m, x: m.fix(m.array([-0.0, -0.5, m.nan, -m.inf, 1e300])),
    ],
)
def test_functions_of_vectors_in_one_step(call):
    def outcome(module, x):
        try:
            result = call(module, x)
        except Exception as error:
            return type(error), str(error)
        return result.dtype, result.shape, result.tobytes()

    real = numpy.random.default_rng(3).integers(0, 9, 50)
    assert outcome(np, np.array(real)) == outcome(numpy, real)


def test_a_pending_array_is_sorted_as_it_will_be():
    x = np.arange(100_000.0) % 7
    y = (x * 2)[:20]
    same(np.sort(y), numpy.sort((numpy.arange(100_000.0) % 7 * 2)[:20]))
    same(y.argsort(), numpy.argsort((numpy.arange(100_000.0) % 7 * 2)[:20]))


VIEWS = """
np.flip(v)
np.flip(m)
np.flip(m, 0)
np.flip(m, (0, -1))
np.flip(m, 5)
np.flip(m, (0, 0))
np.flip(np.array(2.0))
np.fliplr(m)
np.rot90(m)
np.atleast_1d(v)
np.atleast_2d(v)
np.atleast_2d(v[::2])
np.atleast_3d(m)
np.atleast_2d(np.array(2.0))
np.atleast_1d(v, m)
np.moveaxis(m, 0, 1)
np.diag(m)
np.diag(v)
np.diag(v, 1)
np.split(v, 2)[1]
np.split(m, [1], axis=1)[0]
np.array_split(v, 3)[2]
np.hsplit(m, 2)[0]
np.meshgrid(v, v[:2])[1]
np.flatnonzero(v)
np.flatnonzero(m)
np.flatnonzero(m.T)
v.ravel()
v[::2].ravel()
m.ravel()
""".strip().splitlines()


def state(module, code):
    v = module.arange(6.0)
    m = module.array([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 4.0, 5.0]])
    try:
        result = eval(code, {"np": module, "v": v, "m": m})
    except Exception as error:
        return type(error), str(error)
    if isinstance(result, tuple):
        return [numpy.asarray(r).tolist() for r in result]
    found = [result.shape, result.dtype, result.tolist(), result.flags.writeable]
    found += [result.base is v, result.base is m, result is v, result is m]
    if result.size > 0 and result.flags.writeable:
        found += [result.strides]
        result[...] = 9
        found += [v.tolist(), m.tolist()]
    return found


@pytest.mark.parametrize("code", VIEWS)
def test_views_of_small_arrays(code):
    assert state(np, code) == state(numpy, code)


@pytest.mark.parametrize("dtype", DTYPES)
def test_indexing_a_vector_by_an_array(dtype):
    for n in (1, 7, 100, 5000):
        real = values(dtype, n)
        index = numpy.random.default_rng(n).integers(-n, n, 2 * n)
        for kind in ("i8", "i4", "u1"):
            where = index if kind == "i8" else (index % min(n, 100)).astype(kind)
            x, i = np.array(real), np.array(where)
            same(x[i], real[where])
            same(x[::-1][i], real[::-1][where])
            same(x.take(i), real.take(where))
            given = values(dtype, 2 * n, seed=5)
            for value in (real.dtype.type(1), given, given[::-1], given[:1], True):
                ours, theirs = np.array(real), real.copy()
                theirs[where] = value
                ours[i] = value
                same(ours, theirs)
                backwards = np.array(real)
                backwards[::-1][i] = np.array(value)
                theirs = real.copy()
                theirs[::-1][where] = value
                same(backwards, theirs)


def test_indexing_a_vector_refuses_what_numpy_refuses():
    real = numpy.arange(5.0)
    x = np.array(real)
    for index in ([0, 5], [-6], [2**40]):
        i, j = np.array(index), numpy.array(index)
        for call in (lambda a, k: a[k], lambda a, k: a.__setitem__(k, 1.0), lambda a, k: a.take(k)):
            with pytest.raises(IndexError) as ours:
                call(x, i)
            with pytest.raises(IndexError) as theirs:
                call(real, j)
            assert str(ours.value) == str(theirs.value)
    same(x, real)
    with pytest.raises(ValueError) as ours:
        x[np.array([0, 1])] = [1.0, 2.0, 3.0]
    with pytest.raises(ValueError) as theirs:
        real[numpy.array([0, 1])] = [1.0, 2.0, 3.0]
    assert str(ours.value) == str(theirs.value)
    x[np.array([0, 1])] = x[np.array([1, 0])]
    i = np.array([4, 3, 2, 1, 0])
    i[i] = i  # the indices are written while they are read
    assert i.tolist() == [0, 1, 2, 3, 4]
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x[np.array([0])] = 1.0


def test_masks_of_other_bytes_than_zero_and_one():
    for n in (3, 8, 29, 1000):
        mask = (numpy.arange(n) % 5).astype("u1") * 37
        real = numpy.arange(float(n))
        x, m = np.array(real), np.array(mask).view(bool)
        chosen = mask != 0
        same(x[m], real[chosen])
        assert np.count_nonzero(m) == numpy.count_nonzero(chosen)
        same(m.nonzero()[0], chosen.nonzero()[0])
        x[m] = -1.0
        real[chosen] = -1.0
        same(x, real)
        x[m] = numpy.arange(float(chosen.sum()))
        real[chosen] = numpy.arange(float(chosen.sum()))
        same(x, real)


@pytest.mark.parametrize("dtype", DTYPES)
def test_items_and_bytes(dtype):
    real = values(dtype, 12).reshape(3, 4)
    x = np.array(real)
    for array, other in ((x, real), (x.T, real.T), (x[1:, ::2], real[1:, ::2])):
        assert array.tobytes() == other.tobytes()
        assert array.tobytes("F") == other.tobytes("F")
        ours, theirs = array.item(1, 1), other.item(1, 1)
        assert type(ours) is type(theirs) and repr(ours) == repr(theirs)
        ours, theirs = array[:1, :1].item(), other[:1, :1].item()
        assert type(ours) is type(theirs) and repr(ours) == repr(theirs)


def test_a_real_array_that_a_callee_keeps_stays_valid():
    kept = []
    x = np.array([1.0, 2.0, 3.0])
    np.apply_along_axis(lambda row: kept.append(numpy.asarray(row)) or 0.0, 0, x)
    views = [memoryview(np.array([float(k)] * 3)) for k in range(20)]
    real = [numpy.asarray(np.array([float(k)] * 3)) for k in range(20)]
    for _ in range(20):
        np.interp(2.0, x, np.array([9.0, 9.0, 9.0]))
    assert [v[0] for v in views] == [r[2] for r in real] == [float(k) for k in range(20)]
    assert kept[0].tolist() == [1.0, 2.0, 3.0]


def test_what_a_callback_does_with_its_array_is_undone_for_the_next():
    def spoil(array):
        array.shape = (3, 1)
        return array.sum()

    for _ in range(5):
        x = np.array([1.0, 2.0, 3.0])
        assert np.fromiter(map(float, [np.interp(1.5, x, x)]), float)[0] == 1.5
        real = numpy.asarray(x)
        assert spoil(real) == 6.0
        assert np.interp(2.5, x, x) == 2.5


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%", "<", "=="])
def test_numpy_scalars_and_ndarrays_on_the_left(operator):
    real = numpy.arange(1.0, 6.0)
    for left in (
        numpy.float64(2.5),
        numpy.int64(3),
        numpy.float32(0.5),
        real[::-1].copy(),
        real[1],
    ):
        theirs = eval(f"left {operator} real")
        ours = eval(f"left {operator} x", {"left": left, "x": np.array(real)})
        assert type(ours) is np.ndarray
        same(ours, theirs)
    with pytest.raises(ValueError) as ours:
        real[:3] + np.array(real)
    with pytest.raises(ValueError) as theirs:
        real[:3] + real
    assert str(ours.value) == str(theirs.value)


LEFT_OPERATORS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "<=", "==", "!=", ">", ">="]


def outcome(operator, left, right):
    """What an operation gives or raises, and the warnings that it gives, with their lines."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = eval(f"left {operator} right", {"left": left, "right": right})
            result = numpy.array(result)
            if result.dtype.kind in "fc":
                result[numpy.isnan(result)] = numpy.nan  # of which the sign is nobody's
        except Exception as error:
            result = error
    said = [(w.category, str(w.message), w.filename, w.lineno) for w in told]
    if isinstance(result, Exception):
        return type(result), str(result).replace("frit.numpy", "numpy"), said
    elements = repr(result.tolist()) if result.dtype.hasobject else result.tobytes()
    return result.dtype, result.shape, elements, said


@pytest.mark.parametrize("operator", LEFT_OPERATORS)
@pytest.mark.parametrize("dtype", [*DTYPES, "O", "U1", "M8[s]"])
def test_every_ndarray_on_the_left_of_our_arrays(dtype, operator):
    for n, shape in ((5, (5,)), (6, (2, 3)), (1, (1,)), (1, ()), (0, (0,))):
        if dtype in ("O", "U1", "M8[s]"):
            left = numpy.arange(n).astype(dtype).reshape(shape)
        else:
            left = values(dtype, n).reshape(shape)
        for other in DTYPES:
            right = values(other, n, seed=1).reshape(shape)
            for real in (left, left[::-1] if shape and shape[0] == 5 else left.T):
                expected = outcome(operator, real, right)
                assert outcome(operator, real, np.array(right)) == expected, (other, shape)


def test_ndarrays_methods_and_subclasses_do_as_before_beside_our_arrays():
    class Sub(numpy.ndarray):
        pass

    real = numpy.arange(1.0, 6.0)
    x = np.array(real)
    assert type(real.__mul__(x)) is np.ndarray and type(real.__lt__(x)) is np.ndarray
    sub = real.view(Sub)
    assert type(sub * x) is type(sub * real) is Sub and type(sub < x) is Sub
    same((sub * x).view(numpy.ndarray), real * real)
    kept = real.copy()
    kept *= x
    assert type(kept) is numpy.ndarray
    same(kept, real * real)
    # A view of memory of ours, and what is pending there.
    y = np.arange(5.0)
    view = numpy.asarray(y)
    y += 1.0
    same(view * y, (real * real))
    with numpy.errstate(divide="raise"), pytest.raises(FloatingPointError):
        real / np.zeros(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            real / np.zeros(5)


def test_types_and_sharing():
    for one in DTYPES:
        for two in DTYPES:
            x, y = np.zeros(2, one), np.zeros(3, two)
            assert np.result_type(x, y) is numpy.result_type(numpy.dtype(one), numpy.dtype(two))
        assert np.result_type(x) == numpy.dtype(one)
    x = np.arange(10.0)
    assert np.may_share_memory(x, x[::2]) and not np.may_share_memory(x, x.copy())
    assert np.shares_memory(x, x[3:]) and not np.shares_memory(x[::2], x[1::2])
    assert np.may_share_memory(x[::2], x[1::2])  # NumPy looks at the bounds
    real = numpy.arange(10.0)
    one, two = np.asarray(real[::2]), np.asarray(real[1::2])
    assert np.may_share_memory(one, two) and not np.shares_memory(one, two)
    assert not np.may_share_memory(x, 2.0) and np.may_share_memory(real, one)


def test_a_real_operand_is_read_when_it_is_given():
    real = numpy.ones(4)
    big = np.zeros((3000, 4))
    lazy = big + real
    shared = np.asarray(real)
    real[0] = 7.0
    assert lazy[2, 0] == 1.0
    shared += real
    assert real.tolist() == [14.0, 2.0, 2.0, 2.0]


@pytest.mark.parametrize("join", ["concatenate", "stack", "vstack", "hstack", "array"])
def test_joining_small_arrays(join):
    def pieces(module):
        line = module.arange(4.0)
        table = module.arange(12.0).reshape(3, 4)
        return [
            [line, line * 2],
            [line, module.arange(4)],
            [line[::2], line[1::2]],
            [table, table + 1],
            [table, table[:1]],
            [table.T, table.T],
            [table[:, :1], table[:, 1:2]],
            [module.zeros((0, 4)), table],
            [module.zeros(0), line],
            [module.array(2.0), module.array(3.0)],
            [module.arange(900.0), module.arange(900.0)],
            [line],
            [line, table],
        ]

    for ours, theirs in zip(pieces(np), pieces(numpy), strict=True):
        try:
            expected = getattr(numpy, join)(theirs)
        except ValueError as error:
            with pytest.raises(ValueError) as caught:
                getattr(np, join)(ours)
            assert str(caught.value) == str(error)
            continue
        found = getattr(np, join)(ours)
        same(found, expected)
        assert found.flags.c_contiguous == expected.flags.c_contiguous
        assert found.size == 0 or found.strides == expected.strides
        assert not any(np.may_share_memory(found, part) for part in ours)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i4"])
def test_products_of_small_matrices(dtype):
    generator = numpy.random.default_rng(5)
    shapes = [(3,), (3, 3), (3, 1), (1, 3), (4, 3), (3, 4), (3, 50), (50, 3), (1, 1), (0, 3)]
    for one in shapes:
        for two in shapes:
            x = generator.integers(-9, 9, one).astype(dtype) / numpy.array(8, dtype)
            y = generator.integers(-9, 9, two).astype(dtype) / numpy.array(8, dtype)
            x, y = x.astype(dtype), y.astype(dtype)
            for left, right in ((x, y), (x.T, y), (x, y.T)):
                for name in ("matmul", "dot"):
                    try:
                        expected = getattr(numpy, name)(left, right)
                    except ValueError:
                        with pytest.raises(ValueError, match="shapes|mismatch"):
                            getattr(np, name)(np.array(left), np.array(right))
                        continue
                    same(getattr(np, name)(np.array(left), np.array(right)), expected)
    with pytest.warns(RuntimeWarning, match="overflow encountered in"):
        print(np.full((2, 2), 1e300) @ np.full((2, 2), 1e300))


def long_chain(m, x, y):
    t = x * y
    for _ in range(3):
        t = t + 1.0
        t = m.abs(t)
        t = t - x
        t = m.maximum(t, y)
    return t


def in_place(m, x, y):
    t = x.copy()
    for _ in range(5):
        t += y
        t[1:] -= t[:-1]
        t *= 0.5
    return t


def some_rows(m, x, y):
    t = m.stack([x, y, x + y, x - y])
    t = t - t.max(axis=0)
    t = m.exp(t * 0.125)
    return (t / t.sum(axis=0)).ravel()


@pytest.mark.parametrize("text", [long_chain, in_place, some_rows])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_arrays_of_some_kb_again_and_again(text, dtype):
    """From some time on they are recorded, and looked at in between."""
    if dtype == "i8" and text is in_place:
        pytest.skip("NumPy refuses to store halves in integers")
    for n in (300, 520, 1000, 2000, 2100):
        x, y = numpy.arange(n, dtype=dtype), numpy.arange(n, dtype=dtype)[::-1].copy()
        ours = np.array(x), np.array(y)
        expected = text(numpy, x, y)
        tolerance = 8 * numpy.finfo(expected.dtype).eps if text is some_rows else 0
        for round in range(300):
            result = text(np, *ours)
            if round % 3 == 1:
                assert float(result[n // 2]) == pytest.approx(float(expected[n // 2]), rel=1e-6)
            if round % 4 == 2:
                ours[0][:] = x
            if round % 5 == 4:
                result = result + 0
            assert result.dtype == expected.dtype
            numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=tolerance, atol=0)
            same(ours[0], x)


SHORT_ROWS = [(8, 1), (9, 3), (100, 2), (600, 3), (1000, 7), (100, 8), (5, 20, 3), (3, 50, 1, 4)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHORT_ROWS, ids=str)
def test_many_short_rows(dtype, shape):
    """They are folded side by side: each row from its first element to its last."""
    real = values(dtype, int(numpy.prod(shape))).reshape(shape)
    if real.dtype.kind in "fc":
        real[numpy.isnan(real)] = 0.25
        real.flat[3], real.flat[7] = numpy.inf, numpy.nan
    views = [
        lambda a: a,
        lambda a: a[::-1],
        lambda a: a[..., ::-1],
        lambda a: a[::2],
        lambda a: a.swapaxes(0, -1),
    ]
    for view in views:
        theirs, ours = view(real), view(np.array(real))
        for name in ("sum", "prod", "max", "min", "mean", "any", "all"):
            for options in ({"axis": -1}, {"axis": -1, "keepdims": True}, {"axis": 0}):
                with numpy.errstate(all="ignore"):
                    expected = numpy.asarray(getattr(theirs, name)(**options))
                    found = numpy.asarray(getattr(ours, name)(**options))
                assert found.dtype == expected.dtype
                numpy.testing.assert_array_equal(found, expected)


COLUMNS = [
    lambda m, a: a.sum(),
    lambda m, a: m.mean(a),
    lambda m, a: a.max(),
    lambda m, a: m.add.reduce(a, dtype="f8", initial=3),
    lambda m, a: a.sum(dtype="f4"),
    lambda m, a: m.any(a),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", COLUMNS)
def test_columns_of_each_length(text, dtype):
    """Beyond NumPy's buffer of 8,192 elements conversions are added up in parts."""
    real = values(dtype, 3 * 20_000).reshape(-1, 3)
    ours = np.array(real)
    for n in (100, 2047, 2050, 5000, 8191, 8192, 8193, 16_390, 20_000):
        for view in (lambda a, n=n: a[:n, 1], lambda a, n=n: a[n - 1 :: -1, 2]):
            for _ in range(2):
                with numpy.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    expected, found = text(numpy, view(real)), text(np, view(ours))
                assert numpy.asarray(found).dtype == expected.dtype
                numpy.testing.assert_array_equal(found, expected)


@pytest.mark.at_once
@pytest.mark.parametrize("text", COLUMNS[:4])
def test_columns_of_new_lengths_need_no_plans(text):
    x = np.arange(30_000).reshape(-1, 3)

    def plans(lengths):
        before = _core.statistics()["plan_misses"]
        total = 0.0
        for n in lengths:
            total += float(text(np, x[:n, 1]))
        return _core.statistics()["plan_misses"] - before

    plans(range(3000, 3010))
    assert plans(range(3010, 3200)) <= 1
    assert plans(range(9000, 9200)) <= 1


@pytest.mark.parametrize("dtype", ["i1", "i4", "f4", "f8", "c16"])
@pytest.mark.parametrize(
    "text",
    [
        lambda m, a: a[:, None, :] - a[:8],
        lambda m, a: a - a[3],
        lambda m, a: a[:, :1] * a,
        lambda m, a: m.add(a[:, None], a[None, :5]),
        lambda m, a: a[:, None, 1:] * a[None, :7, :2],
        lambda m, a: a.T[:, :, None] + a[:3].T[:, None, :],
        lambda m, a: m.add(a[::2, ::-1], a[1::2]),
        lambda m, a: m.where(a[:, None].real > 0, a[:, None], a[:4]),
        lambda m, a: m.add.reduce(a, axis=1, initial=3),
        lambda m, a: m.multiply.reduce(a[:, :2], axis=1, initial=2),
    ],
)
def test_what_is_broadcast_along_short_rows(text, dtype):
    real = values("i4", 120).astype(dtype).reshape(40, 3)
    same(text(np, np.array(real)), text(numpy, real))
