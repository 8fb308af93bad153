"""test_interop.py: memory shared with NumPy and others: exports, protocols, pickles, fallbacks."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import weakref

import numpy
import pytest
from core_compare import check, ours

from frit import _core


def test_an_export_shares_memory_and_ends_with_the_last_real_array():
    x = ours(numpy.arange(5.0))
    real = numpy.asarray(x)
    assert type(real) is numpy.ndarray and _core.is_exported(x)
    real[0] = 9
    x[1] = 8
    assert x[0] == 9 and real[1] == 8
    part = real[2:]
    del real
    assert _core.is_exported(x)
    del part
    gc.collect()
    assert not _core.is_exported(x)


@pytest.mark.parametrize(
    "view", [lambda a: a, lambda a: a[2:5], lambda a: a.reshape(2, 4).T, lambda a: a[::-2]]
)
def test_an_op_recorded_before_an_export_sees_the_values_from_before(view):
    x = ours(numpy.arange(8.0))
    y = view(x) + 1
    expected = view(numpy.arange(8.0)) + 1
    real = numpy.asarray(view(x))
    real[...] = 100
    assert y.tolist() == expected.tolist()


def test_wraps_of_one_memory_share_it():
    real = numpy.arange(10.0)
    a, b = _core.own(real), _core.asarray(real[2:6])
    assert _core.may_share_memory(a, b)
    a += 1
    b *= 2
    assert real.tolist() == [1, 2, 6, 8, 10, 12, 7, 8, 9, 10] and a.tolist() == real.tolist()
    b[:] = a[1:5]  # overlapping, through two wraps
    assert real.tolist() == [1, 2, 2, 6, 8, 10, 7, 8, 9, 10]


def test_a_wrapped_array_dies_with_its_last_window():
    class Owner(numpy.ndarray):
        pass

    real = numpy.arange(1000.0)
    alive = weakref.ref(real)
    wrapped = _core.own(real)
    window = wrapped[10:]
    del real, wrapped
    gc.collect()
    assert alive() is not None and window[0] == 10
    del window
    gc.collect()
    assert alive() is None


def test_a_wrap_of_an_export_is_ours_again():
    x = ours(numpy.arange(6.0))
    back = _core.own(numpy.asarray(x)[1:4])
    back[0] = 50
    assert x[1] == 50 and _core.may_share_memory(x, back)
    gc.collect()
    assert not _core.is_exported(x)


def test_read_only_memory_stays_so():
    real = numpy.frombuffer(b"12345678", dtype="u1")
    x = _core.own(real)
    assert not x.flags.writeable
    for write in [
        lambda: x.__setitem__(0, 1),
        lambda: x.__iadd__(1),
        lambda: x.fill(0),
        lambda: _core.ufuncs["add"](x, 1, out=x),
        lambda: x.setflags(write=True),
    ]:
        with pytest.raises(ValueError):
            write()
    assert real.tobytes() == b"12345678"


def test_real_arrays_that_were_made_read_only_can_be_written_to_again():
    array = ours(numpy.arange(4.0))
    real = _core.to_numpy(array)
    for each in (real[1:], real):
        each.flags.writeable = False
        each.flags.writeable = True
        each[0] = 9.0
    assert array.tolist() == [9.0, 9.0, 2.0, 3.0]
    fixed = _core.own(numpy.frombuffer(bytes(16)))
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True of this array"):
        _core.to_numpy(fixed).flags.writeable = True


def test_other_dtypes_stay_real():
    for real in [
        numpy.array([object()]),
        numpy.array(["a"]),
        numpy.array(["2020"], "M8[Y]"),
        numpy.ones(2, ">f8"),
        numpy.zeros(2, [("a", int)]),
        numpy.ones(2, "g"),
    ]:
        assert _core.own(real) is real
    assert type(_core.own(numpy.ma.array([1.0]))) is numpy.ma.MaskedArray


def test_buffer_protocol_and_memoryview():
    x = ours(numpy.arange(6, dtype="i4").reshape(2, 3))
    view = memoryview(x)
    assert (view.format, view.shape, view.strides, view.readonly) == ("i", (2, 3), (12, 4), False)
    view[0, 0] = 7
    assert x[0, 0] == 7 and _core.is_exported(x)
    assert view.obj is x and numpy.asarray(view).base.obj is x
    with pytest.raises(TypeError, match="C-contiguous"):
        memoryview(x.T).cast("B")
    del view
    gc.collect()
    assert not _core.is_exported(x)


def test_dlpack_both_ways():
    x = ours(numpy.arange(4.0))
    real = numpy.from_dlpack(x)
    real[0] = 5
    assert x[0] == 5 and x.__dlpack_device__() == (1, 0)
    back = _core.wrap_result(numpy.from_dlpack(numpy.arange(3.0)))
    assert type(back) is _core.Array and back.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_numpys_bytes(protocol):
    for real in [
        numpy.arange(6.0).reshape(2, 3),
        numpy.ones((2, 3), "F", order="F"),
        numpy.zeros((0, 2), "i1"),
    ]:
        x = _core.own(real)
        assert pickle.dumps(x, protocol) == pickle.dumps(real, protocol)
        assert (pickle.loads(pickle.dumps(x, protocol)) == real).all()


def test_copies_are_independent():
    x = ours(numpy.arange(3.0))
    for made in [copy.copy(x), copy.deepcopy(x), x.copy(), copy.deepcopy([x])[0]]:
        made[0] = 99
        assert type(made) is _core.Array and x[0] == 0


def test_raw_addresses_stay_valid_as_long_as_the_owner():
    import ctypes

    x = ours(numpy.arange(4.0))
    address = x[1:].__array_interface__["data"][0]
    x += 1
    assert ctypes.cast(address, ctypes.POINTER(ctypes.c_double))[0] == 2.0
    assert x.ctypes.data + 8 == address


def test_a_fallback_computes_wraps_and_counts():
    _core.reset_fallbacks()
    x = ours(numpy.array([[2.0, 0.0], [0.0, 4.0]]))
    inverse = _core.call_numpy("inv", numpy.linalg.inv, x)
    assert (
        type(inverse) is _core.Array
        and inverse.tolist() == [[0.5, 0.0], [0.0, 0.25]]
        and not _core.is_exported(inverse)
    )
    (entry,) = [f for f in _core.fallbacks() if f[0] == "inv"]
    assert entry[1] == __file__ and entry[3] == 1
    _core.reset_fallbacks()


def test_a_fallback_returns_views_and_outputs_as_ours():
    x = ours(numpy.arange(6.0).reshape(2, 3))
    rolled = _core.call_numpy("moveaxis", numpy.moveaxis, x, 0, 1)
    rolled[0, 0] = 50
    assert type(rolled) is _core.Array and x[0, 0] == 50
    assert (
        _core.call_numpy(
            "cumsum", numpy.cumsum, ours(numpy.ones(2)), out=(out := ours(numpy.zeros(2)))
        )
        is out
    )
    assert out.tolist() == [1.0, 2.0]
    del rolled
    gc.collect()
    assert not _core.is_exported(x)


def test_fallbacks_look_into_lists_and_tuples():
    x = ours(numpy.arange(3.0))
    seen = []

    def function(*args, **kwargs):
        seen.append((args, kwargs))
        return {"a": numpy.ones(2)}, [numpy.zeros(1)]

    result = _core.call_numpy("f", function, [x, (x,)], key={"deep": x})
    (args, kwargs) = seen[0]
    assert (
        type(args[0][0]) is numpy.ndarray
        and type(args[0][1][0]) is numpy.ndarray
        and type(kwargs["key"]["deep"]) is numpy.ndarray
    )
    assert type(result[0]["a"]) is _core.Array and type(result[1][0]) is _core.Array
    _core.reset_fallbacks()


def test_refused_fallbacks_raise_and_say_why():
    _core.set_fallback_mode("error", LookupError)
    try:
        with pytest.raises(LookupError, match="inv"):
            _core.call_numpy("inv", numpy.linalg.inv, ours(numpy.eye(2)))
        with pytest.raises(
            ValueError, match="could not be broadcast"
        ):  # an error of the user's is no fallback
            ours(numpy.ones(2)) + ours(numpy.ones(3))
    finally:
        _core.set_fallback_mode("silent", RuntimeError)


def test_array_function_uses_the_registered_function():
    called = []
    _core_functions = {numpy.diff: lambda *args, **kwargs: called.append(args) or "ours"}
    before = dict(__import__("frit.numpy").numpy._native.functions)
    try:
        _core.set_hooks(functions=_core_functions)
        assert numpy.diff(ours(numpy.ones(3))) == "ours" and called
        assert type(numpy.trapezoid(ours(numpy.ones(3)))) in (numpy.float64, _core.Array)
    finally:
        _core.set_hooks(functions=__import__("frit.numpy").numpy._native.functions)
    assert before == __import__("frit.numpy").numpy._native.functions


class MakesOurs:
    """Its array is one of ours, which NumPy's C code would refuse."""

    def __init__(self, *values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return _core.array(_core.own(numpy.array(self.values, dtype)))


class WrapsToo(MakesOurs):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        return "wrapped", array.tolist()


def test_objects_may_give_our_arrays_as_theirs():
    import frit.numpy as np

    given = MakesOurs(1.0, 2.0)
    assert _core.array(given).tolist() == [1.0, 2.0] and np.asarray(given).tolist() == [1.0, 2.0]
    assert np.asarray([given, given]).shape == (2, 2)
    assert _core.ufuncs["add"](given, 1).tolist() == [2.0, 3.0]
    assert np.concatenate([given, ours(numpy.ones(1))]).tolist() == [1.0, 2.0, 1.0]
    assert np.sort(MakesOurs(2.0, 1.0)).tolist() == [1.0, 2.0]
    assert np.add(WrapsToo(1.0), 1) == ("wrapped", [2.0])
    with pytest.raises(ValueError, match="could not convert"):
        np.asarray(MakesOurs("a"), float)


def test_objects_that_give_our_arrays_are_asked_once_each_time():
    import frit.numpy as np

    class Counted:
        asked = 0

        def __array__(self, dtype=None, copy=None):
            Counted.asked += 1
            return np.arange(3.0) * 2

    given = Counted()
    np.asarray(given)  # NumPy's refusal tells us of the class
    double = numpy.frompyfunc(lambda x: 2 * x, 1, 1)
    uses = [
        lambda: np.array(given),
        lambda: np.asarray(given, "f4"),
        lambda: np.arange(3.0) + given,
        lambda: np.linalg.norm(given),
        lambda: numpy.float32(3) * given,
        lambda: double(given),
    ]
    for use in uses:
        before = Counted.asked
        use()
        assert Counted.asked == before + 1
    assert np.array([given, given]).tolist() == [[0.0, 2.0, 4.0]] * 2


def test_tables_of_numpys_functions_hold_for_ours():
    import frit.numpy as np

    for name in ("sum", "sort", "concatenate", "gradient", "sin", "where"):
        real, mine = getattr(numpy, name), getattr(np, name)
        assert real == mine and mine == real and hash(real) == hash(mine)
        assert {mine: 1}[real] == 1 and mine != numpy.diff and real in {mine}

    class Duck:
        handled = {np.sum: "summed"}

        def __array_function__(self, function, types, args, kwargs):
            return self.handled[function]

    assert np.sum(Duck()) == "summed"


def test_views_made_by_numpy_know_their_base():
    x = ours(numpy.arange(6.0).reshape(2, 3))
    rolled = _core.call_numpy("moveaxis", numpy.moveaxis, x, 0, 1)
    assert rolled.base is x
    row = numpy.asarray(x)[1]
    assert _core.own(row).base is not None
    assert x.__array_wrap__(numpy.ones(2)).tolist() == [1.0, 1.0]


def beside() -> dict[str, numpy.ndarray]:
    """Arrays that may stand beside one of ten by ten doubles."""
    x = numpy.linspace(-1, 1, 100).reshape(10, 10)
    unaligned = numpy.frombuffer(bytearray(801), "u1")[1:].view("f8").reshape(10, 10)
    unaligned[...] = x
    return {
        "alike": x.copy(),
        "float32": x.astype("f4"),
        "integers": numpy.arange(100).reshape(10, 10),
        "another byte order": x.astype(">f8"),
        "Fortran order": numpy.asfortranarray(x),
        "a window": numpy.zeros((20, 20))[::2, ::2] + x,
        "backwards": x[::-1],
        "a row": x[0].copy(),
        "a column": x[:, :1].copy(),
        "no dimensions": numpy.array(2.5),
        "unaligned": unaligned,
        "read-only": numpy.broadcast_to(x, (10, 10)),
        "another shape": numpy.ones(7),
        "zeros": numpy.zeros((10, 10)),
    }


@pytest.mark.parametrize("name", list(beside()))
@pytest.mark.parametrize("op", ["add", "sub", "truediv", "floordiv", "lt", "matmul", "and_"])
def test_an_operator_takes_an_ndarray_on_either_side(op, name):
    function, real = getattr(operator, op), beside()[name]
    x = numpy.linspace(-2, 3, 100).reshape(10, 10)
    check(lambda a: function(real, a), x)
    check(lambda a: function(a, real), x)
    check(lambda a: function(real.T, a.T), x)


def test_an_ndarray_is_read_when_the_operator_is_called():
    x, real = ours(numpy.arange(100.0)), numpy.arange(100.0)
    pending = (ours(numpy.zeros(100_000)) + 3)[:100]
    results = [real + x, x + real, real - pending, pending - real, numpy.fmax(real, x)]
    real[:] = -1
    x[:] = -1
    ramp = numpy.arange(100.0)
    expected = [2 * ramp, 2 * ramp, ramp - 3, 3 - ramp, ramp]
    for result, wanted in zip(results, expected, strict=True):
        assert numpy.array_equal(_core.to_numpy(result), wanted)


def test_copy_asks_objects_that_have_array_functions():
    import frit.numpy as np

    class Named:
        def __array_function__(self, function, types, args, kwargs):
            return function.__name__

    assert np.copy(Named()) == "copy"
