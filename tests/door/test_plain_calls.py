"""test_plain_calls.py: calls with few options, for which the engine has ways of its own: they give
what NumPy gives, its errors and warnings included."""

from __future__ import annotations

import warnings

import numpy
import pytest

import frit.numpy as np

OF_ONE_ARRAY = """
    np.iterable(a)
    np.isfortran(a)
    np.isscalar(a)
    np.common_type(a, a)
    np.atleast_1d(a)
    np.atleast_2d(a)
    np.atleast_3d(a)
    np.flip(a)
    np.flip(a, -1)
    np.flip(a, (0,))
    np.flip(a, (0, 1))
    np.flipud(a)
    np.fliplr(a)
    np.rot90(a)
    np.rot90(a, -5)
    np.rot90(a, 0)
    np.rot90(a, 2)
    np.rot90(a, k=3)
    np.rot90(a, 1, (0, 1))
    np.rollaxis(a, 0)
    np.rollaxis(a, 1)
    np.rollaxis(a, -1)
    np.rollaxis(a, 1, 2)
    np.rollaxis(a, 0, -1)
    np.rollaxis(a, 0, 5)
    np.unstack(a)
    np.unstack(a, axis=-1)
    np.unstack(a, 1)
    np.from_dlpack(a)
    np.lib.stride_tricks.as_strided(a)
    np.lib.stride_tricks.as_strided(a, strides=a.strides)
    np.lib.stride_tricks.as_strided(a, (1,), (3,), writeable=False) if a.size else 0
    np.lib.stride_tricks.as_strided(a, (1, 1)) if a.size else 0
    np.lib.stride_tricks.sliding_window_view(a, 1)
    np.lib.stride_tricks.sliding_window_view(a, 2)
    np.lib.stride_tricks.sliding_window_view(a, (2, 2))
    np.lib.stride_tricks.sliding_window_view(a, 2, axis=-1)
    np.lib.stride_tricks.sliding_window_view(a, -1)
    np.lib.stride_tricks.sliding_window_view(a, 9)
    np.isneginf(a)
    np.isposinf(a)
    np.isneginf(a, None)
    np.argwhere(a)
    np.cumulative_sum(a)
    np.cumulative_prod(a)
    np.cumulative_sum(a, axis=0)
    np.nancumsum(a)
    np.nancumprod(a)
    np.fft.fftshift(a)
    np.fft.ifftshift(a)
    np.fft.fftshift(a, 0)
    np.fft.ifftshift(a, axes=-1)
    np.fft.fftshift(a, 1)
    np.fft.fftshift(a, (0,))
    np.array_equiv(a, a)
    np.array_equiv(a, a[:1])
    np.polyval(a, a)
    np.polyval(a, 2.0)
    np.polyval(np.array([1.0, 2.0, 3.0]), a)
    np.linalg.outer(a, a)
    np.linalg.vector_norm(a)
    np.linalg.matrix_norm(a)
    np.linalg.matrix_norm(a, ord=1)
    np.linalg.trace(a)
    np.linalg.trace(a, offset=1)
    np.linalg.trace(a, dtype=float)
    np.linalg.trace(a, 1)
    np.linalg.matrix_power(a, 2)
    np.linalg.matrix_power(a, 3)
    np.linalg.matrix_power(a, True)
    np.linalg.multi_dot([a, a.T, a])
    np.linalg.multi_dot((a, a, a))
    np.tensordot(a, a, 1)
    np.tensordot(a, a.T, axes=1)
    np.tensordot(a, b=a.T, axes=1)
    np.linalg.tensordot(a, a.T, axes=1)
    np.linalg.tensordot(a, a.T, 1)
    np.diagflat(a)
    np.diagflat(a, -2)
    np.block([a, a])
    np.block([[a, a], [a, a]])
    np.block([[a], [a]])
    np.block([[a, a], a])
    np.block((a, a))
    np.block([1.0, a])
    np.meshgrid(a)
    np.meshgrid(a, a)
    np.meshgrid(a, a, a, sparse=True)
    np.meshgrid(a, a, a, indexing="ij")
    np.meshgrid(a, a, indexing="yx")
    a.data.tobytes()
    a.data.shape
    a.data.readonly
    a.data.obj is a
    a.ctypes.shape[:]
    a.ctypes.data == a.__array_interface__["data"][0]
    a.__array_interface__["strides"]
    np.asarray(a, dtype=float) is a
    np.asarray(a, dtype=a.dtype) is a
    np.asanyarray(a, dtype=int)
    np.asfortranarray(a) is a
    np.asfortranarray(a, dtype=complex)
    np.ascontiguousarray(a, dtype=a.dtype) is a
    np.sort(a).searchsorted(1.5)
    np.sort(a).searchsorted(2)
    np.sort(a).searchsorted(float("nan"))
    np.sort(a).searchsorted(1.5, side="right")
    a.searchsorted(2, side="x")
    a.searchsorted(10**30)
    np.sort(a).searchsorted(True)
    np.searchsorted(np.sort(a), -0.0, side="right")
    np.searchsorted(np.sort(a), [1.0])
    np.select([a > 1], [a], 0.0)
    np.select([a > 1], [a])
    np.select([a > 1, a < 0], [a, a * 2], 7)
    np.select([a > 1, a < 0], [a, 3], 7)
    np.select([a > 1], [a], 10**30)
    np.select([a > 1], [a], np.float32(2.5))
    np.select([a], [a], 0)
    np.select([a > 1], [a, a], 0)
    np.select([], [], 0)
    np.r_[1.0, a, 2]
    np.r_[a, 2**60]
    np.r_[a, a]
    np.r_[a, 1j]
    np.r_["0,2", a, 1.0]
    np.r_[True, a]
    np.r_[a, float("nan")]
    np.setdiff1d(a, a)
    a[a > 99]
    np.vander(a)
    np.vander(a, 3)
    np.vander(a, 2, increasing=True)
    np.vander(a, 0)
    a.choose((a, a))
    np.arange(6).reshape(2, 3).choose(list(range(6)))
    np.array([0, 1]).choose((np.array([1.0, 2]), np.array([3.0, 4])))
    np.array([0, 2]).choose((np.array([1.0, 2]), np.array([3.0, 4])))
    np.array([0, 2]).choose((np.array([1.0, 2]), np.array([3.0, 4])), mode="clip")
    np.apply_along_axis(sum, 0, a)
    np.apply_along_axis(sum, -1, a)
    np.apply_along_axis(np.cumsum, 0, a)
    np.apply_along_axis(lambda v: v[:2], 0, a)
    np.apply_along_axis(lambda v: v[:, None] * [1, 2], 0, a)
    np.apply_along_axis(lambda v: [v[0], 3], -1, a)
    np.apply_along_axis(lambda v: 5, 0, a)
    np.apply_along_axis(lambda v: "s", 0, a)
    np.apply_along_axis(lambda v: None, 0, a)
    np.apply_along_axis(lambda v: v[: int(abs(v[0])) % 2 + 1], -1, a)
    np.apply_along_axis(lambda v, f: f"{v[0] > f}", 0, a, 2)
    np.apply_along_axis(lambda v, w=1: v * w, 0, a, w=2.5)
    np.apply_along_axis(lambda v: 1 if v[0] > 3 else 2.5, 0, a)
    np.apply_along_axis(lambda v: 1 / 0, 0, a)
    np.apply_along_axis(lambda v: v.nothing, 0, a)
    np.apply_along_axis(5, 0, a)
    np.apply_along_axis(sum, 3, a)
    np.apply_along_axis(lambda v: np.ma.masked_array(v, v > 3), 0, a)
    (lambda c: (np.apply_along_axis(lambda v: v.sort(), 0, c), c))(a.copy())
    np.unique(a)
    np.unique(a, True)
    np.unique(a, return_inverse=True)
    np.unique(a, return_counts=True)
    np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    np.unique(a, axis=0)
    np.unique(a, equal_nan=False)
    tuple(np.unique_all(a))
    type(np.unique_all(a)).__name__
    np.unique_counts(a).counts
    np.unique_inverse(a).inverse_indices
    np.unique_inverse(a, a)
    np.linalg.eig(a)
    np.linalg.eigvals(a)
    type(np.linalg.eig(a)).__name__
    np.linalg.svdvals(a)
    np.linalg.svd(a, compute_uv=False)
    np.linalg.norm(a, 2)
    np.linalg.norm(a, -2)
    np.linalg.lstsq(a, a)
    np.linalg.lstsq(a, a[..., 0])
    np.linalg.lstsq(a, a, 0.5)
    np.linalg.lstsq(a.T, np.arange(3.0), rcond=None)
    np.unravel_index(a, (3, 4))
    (lambda c: (np.place(c, c > 1, [2]), c))(a.copy())
    (lambda c: (np.place(c, c > 1, [2.5, 3]), c))(a.copy())
    (lambda c: (np.place(c, c > 1, []), c))(a.copy())
    (lambda c: (c.setflags(write=False), np.place(c, c > 1, [2])))(a.copy())
    np.diagonal(a)
    np.diagonal(a, 1)
    np.diagonal(a, -7)
    np.partition(a, 0)
    np.partition(a, 100)
    np.partition(a, (0, 1))
    np.argpartition(a, 1)
    a.argpartition(0)
    a.argpartition(1, axis=0)
    (lambda c: (c.sort(), c))(a.copy())
    (lambda c: (c.sort(axis=0), c))(a.copy())
    (lambda c: (c.sort(), c))(a.copy()[::2])
    (lambda c: (c.T.sort(), c))(a.copy())
    (lambda c: (c[1:].sort(), c))(a.copy())
    (lambda c: (c.setflags(write=False), c.sort()))(a.copy())
    (lambda c: (c.view("u1")[..., 1:].sort(), c))(a.copy())
    (lambda c: (c * 2, c.sort(), c))(a.copy() + 1)
    (lambda c, d: (c.sort(), d))(*(lambda c: (c, c * 2))(a.copy()))
    (lambda c: (c.partition(1), c))(a.copy())
    (lambda c: (c.partition(-1), c))(a.copy())
    (lambda c: (c.partition(77), c))(a.copy())
    (lambda c: (c.setflags(write=False), c.partition(0)))(a.copy())
    (lambda c: (c.setflags(write=False, align=False), c.fill(3), c))(a.copy())
    (lambda c: (c.setflags(0, 1), c.__setitem__(0, 3)))(a.copy())
    (lambda c: (c.setflags(write=False, uic=False), c.sort()))(a.copy())
    (lambda c: (c.setflags(write=False, uic=True), c.sort()))(a.copy())
    (lambda c: (c.sort(1, 2, 3, 4, 5, 6, 7, 8, 9), c))(a.copy())
"""

OF_OTHERS = """
    np.iterable([1])
    np.iterable(1)
    np.iterable(None)
    np.iterable("a")
    np.iterable(np.float64(1))
    np.isscalar(1)
    np.isscalar("a")
    np.isscalar(None)
    np.isscalar([1])
    np.isscalar(np.sum(np.ones(3)))
    np.isscalar(memoryview(b"a"))
    np.can_cast(int, complex, "no")
    np.can_cast("i4", "i8")
    np.can_cast(np.dtype("i4"), float)
    np.can_cast(np.dtype(">i4"), float)
    np.can_cast(float, "S10")
    np.can_cast(str, int)
    np.can_cast(object, int)
    np.can_cast(None, int)
    np.can_cast(1, float)
    np.isfortran(1)
    np.common_type()
    np.common_type(np.ones(2, "f2"), np.ones(2, "c8"))
    np.atleast_1d()
    np.atleast_1d(2.0)
    np.atleast_1d(2)
    np.atleast_1d(1, 2)
    np.mgrid[0:3, 0:2]
    np.mgrid[1:3, -2:2, :4]
    np.mgrid[0:3, 2:2]
    np.mgrid[0:3, 0:2.0]
    np.mgrid[0:4:2, 0:3]
    np.mgrid[0:3]
    np.mgrid[0:3, 0:2][0].base is not None
    np.ogrid[0:3, 0:2]
    np.ogrid[1:3, -2:2, :4]
    np.ogrid[0:3, 2:2]
    np.ogrid[0:3, 0:5j]
    np.ogrid[0:3]
    np.ogrid[:, 0:2]
    np.ogrid[()]
    np.ogrid[True:3, 0:2]
    np.r_[1.0, 2.0]
    np.r_[()]
    np.setdiff1d(np.arange(3), np.arange(3))
    np.tri(3)
    np.tri(3, 4, 1)
    np.tri(3, k=-10**18)
    np.tri(3, 2, 99)
    np.tri(0)
    np.tri(-1)
    np.tri(3, dtype=int)
    np.tri(2.0)
    np.vander(np.array([1e200, 2.0]), 3)
    np.vander(np.array([1, 2]), 3)
    np.frompyfunc(abs, 1, 1)(np.array([1.0, -2]))
    np.frompyfunc(divmod, 2, 2)(np.array([7.0, -2]), 2)
    np.frompyfunc(divmod, 2, 2).outer(np.array([7.0, -2]), [2, 3])
    np.frompyfunc(lambda x, y: x + y, 2, 1, identity=0).reduce(np.array([7.0, -2]))
    np.frompyfunc(abs, 1, 1)(nonsense=np.ones(2))
    np.frompyfunc(abs, 1)
    np.frompyfunc(lambda x: 1 / 0, 1, 1)(np.ones(2))
    np.random.default_rng(3).random(4)
    np.random.default_rng(np.array([1, 2])).integers(0, 9, 3)
    np.random.default_rng(np.random.default_rng(1)).random()
    np.random.default_rng("a")
    np.random.default_rng(-1)
    np.indices((3, 3))
    np.indices((2,))
    np.indices((0, 3))
    np.indices(())
    np.indices((2, 3, 4))
    np.indices((2, 3), sparse=True)
    np.indices((2, -1))
    np.meshgrid()
    np.block([])
    np.block([[], []])
    np.seterr(foo=1)
    np.asarray(2.0)
    np.frombuffer(b"12345678")
    np.frombuffer(b"123456789")
    np.frombuffer(b"")
    np.frombuffer(bytes(range(64)), np.int32, 3, 4)
    np.frombuffer(bytes(range(64)), np.int32, 3, 2)
    np.frombuffer(bytes(range(64)), dtype="u2", offset=10)
    np.frombuffer(bytes(range(64)), dtype=">u2", offset=10)
    np.frombuffer(bytes(range(64)), count=9)
    np.frombuffer(bytes(range(64)), count=0)
    np.frombuffer(bytes(range(64)), offset=-1)
    np.frombuffer(bytes(range(64)), offset=65)
    np.frombuffer(bytes(range(64)), count=1.5)
    np.frombuffer(bytearray(range(64)))
    np.frombuffer(buffer=bytes(range(64)))
    np.frombuffer(bytes(range(64)), np.float64, 1, 0, None)
    np.linalg.eig(np.array([[0.0, -1], [1, 0]]))
    np.linalg.eigvals(np.array([[0.0, -1], [1, 0]]))
    np.linalg.eig(np.array([[1.0, np.nan], [1, 0]]))
    np.linalg.lstsq(np.array([[1, 2], [3, 4], [5, 7]]), np.array([1, 2, 3]))
    np.linalg.lstsq(np.array([[1.0, 2], [2, 4], [3, 6]]), np.array([1.0, 2, 3]))
    np.unravel_index(np.array([2**33, 1]), (2**33, 2))
    np.unravel_index(np.array([2, 1]), (2, 1))
"""


def lines(text):
    return [line.strip() for line in text.strip().splitlines()]


def arrays(module):
    """Vectors and matrices, in several orders and types."""
    generator = numpy.random.default_rng(0)
    found = {}
    for n in (0, 1, 2, 5, 33):
        for dtype in ("f8", "f4", "f2", "i4", "i8", "u1", "?", "c8", "c16"):
            values = (generator.random(n) * 8 - 4).astype(dtype)
            if n > 2 and dtype in ("f8", "f4"):
                values[[0, 1, -1]] = -numpy.inf, numpy.nan, numpy.inf
            found[f"{n}{dtype}"] = module.array(values)
    for shape in ((1, 1), (1, 3), (3, 3), (4, 2), (2, 3, 4), (2, 2, 2), (0, 3)):
        for dtype in ("f8", "i8", "c16"):
            values = (generator.random(shape) * 10).astype(dtype)
            found[f"{shape}{dtype}"] = module.array(values)
            found[f"{shape}{dtype} T"] = module.array(values).T
            found[f"{shape}{dtype} ::2"] = module.array(numpy.repeat(values, 2, -1))[..., ::2]
    return found


def described(value):
    """All of a result that a program may look at."""
    if isinstance(value, tuple | list):
        return type(value), [described(each) for each in value]
    if isinstance(value, (numpy.ndarray, np.ndarray)):  # noqa: UP038
        real = numpy.asarray(value)
        is_float = real.dtype.kind in "fc"
        content = numpy.where(numpy.isnan(real), numpy.nan, real) if is_float else real
        is_plain = real.size > 1 and 0 not in real.shape
        return (
            "array",
            real.dtype,
            real.shape,
            value.strides if is_plain else None,
            value.flags.writeable,
            value.flags.owndata,
            repr(real.tolist()) if real.dtype == object else content.tobytes(),
        )
    return repr(value)


def outcome(statement, module, a):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = described(eval(statement, {"np": module, "a": a}))
        except Exception as error:
            value = type(error), str(error)
    return value, {(w.category, str(w.message)) for w in caught}


@pytest.mark.at_once
@pytest.mark.parametrize("statement", lines(OF_ONE_ARRAY))
def test_a_plain_call_of_an_array_gives_what_numpys_gives(statement):
    ours, theirs = arrays(np), arrays(numpy)
    for key in ours:
        assert outcome(statement, np, ours[key]) == outcome(statement, numpy, theirs[key]), key


@pytest.mark.parametrize("statement", lines(OF_OTHERS))
def test_a_plain_call_gives_what_numpys_gives(statement):
    assert outcome(statement, np, None) == outcome(statement, numpy, None)


@pytest.mark.parametrize(
    "number",
    [0, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63, 2**64]
    + [-1, -128, -129, -32768, -32769, -(2**31), -(2**31) - 1, -(2**63), -(2**63) - 1, True, 1.0],
)
def test_the_smallest_type_of_a_number(number):
    ours, theirs = np.min_scalar_type(number), numpy.min_scalar_type(number)
    assert ours == theirs and ours.char == theirs.char


def test_casts_of_all_types():
    types = [each for each in numpy.sctypeDict.values() if issubclass(each, numpy.generic)]
    for one in types:
        for two in types:
            assert np.can_cast(one, two) == numpy.can_cast(one, two)


@pytest.mark.parametrize("kind", ["sinc", "angle"])
def test_formulas_are_within_four_ulp(kind):
    x = numpy.linspace(-3, 3, 50)
    if kind == "angle":
        x = x + 1j * x[::-1] ** 2
    ours = numpy.asarray(getattr(np, kind)(np.array(x)))
    numpy.testing.assert_array_max_ulp(ours, getattr(numpy, kind)(x), 4)


def test_views_share_memory():
    for statement in (
        "np.atleast_3d(x)",
        "np.rot90(x)",
        "np.rollaxis(x, 1)",
        "np.from_dlpack(x)",
        "np.unstack(x)[0]",
        "np.lib.stride_tricks.as_strided(x, (2, 2), (24, 8))",
    ):
        x = np.zeros((2, 3))
        eval(statement, {"np": np, "x": x})[...] = 1
        assert x.any(), statement
    y = np.arange(4.0)
    windows = np.lib.stride_tricks.sliding_window_view(y, 2)
    y[1] = 9
    assert windows.tolist() == [[0, 9], [9, 2], [2, 3]]
    data = y.data
    y[0] = 7
    assert data[0] == 7


def test_a_buffers_memory_is_its_own():
    data = bytes(range(64))
    x = np.frombuffer(data, np.int32)
    y = np.frombuffer(data, np.int32, offset=4)
    assert x.base is data and not x.flags.writeable and np.shares_memory(x, y)
    expected = numpy.frombuffer(data, numpy.int32) + 1
    del data
    later = x + 1
    del x, y
    assert later.tolist() == expected.tolist()


def test_numpys_iterators_change_the_arrays_that_they_are_made_of():
    x = np.arange(6.0).reshape(2, 3)
    with np.nditer([x, np.ones(3)], op_flags=[["readwrite"], ["readonly"]]) as it:
        for element, one in it:
            element[...] += one
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert [(k, v) for k, v in np.ndenumerate(x[:, 1:])][-1] == ((1, 1), 6.0)
    assert np.broadcast(x, np.ones(3)).shape == (2, 3)
    assert list(np.broadcast(x[0], 2)) == [(1, 2), (2, 2), (3, 2)]
    masked = np.ma.masked_array(x, x > 4, copy=False)
    masked[0, 0] = 7
    assert x[0, 0] == 7 and masked.sum() == 16
    with pytest.raises(ValueError, match="mismatch"):
        np.broadcast(x, np.ones(2))
    later = x + 1
    with pytest.raises(TypeError):
        np.nditer(x, nonsense=1)
    assert later.sum() == x.sum() + 6


def test_a_vector_that_was_sorted_is_read_anew():
    x = np.array([3.0, 1.0, 2.0])
    larger = x > 1.5
    before = x[larger].copy()
    later = x + 1
    x.sort()
    assert later.tolist() == [4, 2, 3] and before.tolist() == [3, 2]
    assert x[larger].tolist() == [1, 3] and (x + 1).tolist() == [2, 3, 4]


def test_an_address_stays_that_of_an_array_whose_shape_changes():
    x = np.arange(6.0)
    interface = x.__array_interface__
    x.shape = (2, 3)
    assert x.__array_interface__["shape"] == (2, 3)
    assert x.__array_interface__["data"] == interface["data"]
    x.flags.writeable = False
    assert x.__array_interface__["data"] == (interface["data"][0], True)
