"""test_conversion.py: Numbers and lists of numbers become the arrays that NumPy makes of them."""

from __future__ import annotations

import itertools
import math
import operator
import warnings

import numpy
import pytest

import frit.numpy as np

NUMBERS = [
    0,
    -3,
    2**62,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64 - 1,
    2**70,
    True,
    1.5,
    -0.0,
    math.nan,
    math.inf,
    1e300,
    1e-310,
    2 + 1j,
    numpy.float64(0.1),
    numpy.float32(0.1),
    numpy.int64(-7),
    numpy.uint64(2**63),
    numpy.bool_(True),
    numpy.int8(5),
    numpy.datetime64("2020-01-01"),
    "text",
    None,
]
DTYPES = [
    None,
    float,
    int,
    bool,
    "f4",
    "f2",
    "u1",
    "i8",
    "u8",
    "c8",
    numpy.complex128,
    object,
    "S3",
]
NESTED = [
    [],
    (),
    [[]],
    [[], []],
    [[[]], [[]]],
    [[], [1]],
    [[1], []],
    [1, [2]],
    [[1], 2],
    [[1, 2], [3]],
    [(1, 2), [3.5, True]],
    ((1, 2, 3), (4, 5, 6)),
    [[[1.0, 2.0]], [[3.0, 4.0]]],
    [[[1, 2], [3, 4]], [[5, 6], [7]]],
    [1, 2.5, True],
    [True, False],
    [True, 3],
    [2**53 + 1, 0.5],
    [1, "a"],
    [None, 1.0],
    [range(3), [1, 2, 3]],
    [[[[[[[[[1.0]]]]]]]]],
]


def outcome(function, *args, **kwargs):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = numpy.asarray(function(*args, **kwargs))
        except Exception as error:
            return type(error), str(error)
    said = sorted(str(w.message) for w in found)
    if result.dtype == object:
        return result.dtype, result.shape, repr(result), said
    return result.dtype, result.shape, result.tobytes(), said


def agree(name, value, *args, **kwargs):
    ours = outcome(getattr(np, name), value, *args, **kwargs)
    theirs = outcome(getattr(numpy, name), value, *args, **kwargs)
    assert ours == theirs, (name, value, args, kwargs)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers_alone_and_in_lists(dtype):
    for number in NUMBERS:
        for value in (number, [number], (number, number), [[number], [number]]):
            agree("array", value, dtype)
            agree("asarray", value, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_lists_of_two_kinds_of_numbers(dtype):
    for pair in itertools.product(NUMBERS, repeat=2):
        agree("array", list(pair), dtype=dtype)


@pytest.mark.parametrize("value", NESTED, ids=str)
def test_nested_lists(value):
    for name in ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"):
        for dtype in DTYPES:
            agree(name, value, dtype=dtype)
    agree("atleast_1d", value)
    agree("atleast_2d", value)
    agree("sum", value)


@pytest.mark.parametrize("name", ["asarray", "asanyarray", "ascontiguousarray", "asfortranarray"])
def test_what_is_an_array_already(name):
    convert = getattr(np, name)
    square = np.array([[1.0, 2.0], [3.0, 4.0]])
    turned = square.T
    assert (convert(square) is square) == (name != "asfortranarray")
    assert (convert(turned) is turned) == (name != "ascontiguousarray")
    assert convert(square, dtype=float).dtype == float
    assert convert(square, dtype=numpy.float32).dtype == numpy.float32
    assert convert(square, dtype=object).dtype == object
    real = numpy.arange(3.0)
    shared = convert(real)
    shared[0] = 7
    assert real[0] == 7
    zero = np.array(2.0)
    assert convert(zero).ndim == (0 if name.startswith("asa") and "y" in name[3:] else 1)


def test_options_of_asarray():
    x = np.arange(4)
    assert np.asarray(x, order="K", copy=False) is x
    assert np.asarray(x, copy=True) is not x
    for value, options in [
        ([1, 2], dict(copy=False)),
        ([1, 2], dict(copy=0)),
        (2.0, dict(copy=1)),
        (x, dict(dtype=float, copy=False)),
        ([1, 2], dict(order="Q")),
        ([1, 2], dict(device="gpu")),
        ([1, 2], dict(device="cpu")),
        ([[1, 2], [3, 4]], dict(order="F")),
        ([1, 2], dict(copy=None, like=None)),
    ]:
        agree("asarray", value, **options)
    with pytest.raises(TypeError):
        np.asarray()
    with pytest.raises(TypeError):
        np.asarray([1], None, None, None)


def test_a_list_is_not_shared():
    numbers = [1.0, 2.0]
    x = np.asarray(numbers)
    numbers[0] = 5.0
    assert x[0] == 1.0
    assert x.flags.owndata and x.flags.writeable and x.base is None


def test_lists_of_floats_become_float32_as_numpy_rounds_and_warns():
    edges = [0.0, -0.0, 1.1e-38, 1.2e-38, 1e-45, 1e-60, 3.3e38, 3.5e38, 1e300, 0.1, 1 + 2**-24]
    for value in [*edges, *(-edge for edge in edges), float("inf"), float("nan")]:
        with warnings.catch_warnings(record=True) as theirs:
            warnings.simplefilter("always")
            expected = numpy.array([1.0, value], dtype=numpy.float32)
        with warnings.catch_warnings(record=True) as ours:
            warnings.simplefilter("always")
            found = np.array([1.0, value], dtype=np.float32)
        assert numpy.asarray(found).tobytes() == expected.tobytes()
        assert [str(w.message) for w in ours] == [str(w.message) for w in theirs]


def test_strings_of_any_length_have_a_dtype():
    from numpy.dtypes import StringDType

    import frit.numpy as np

    words = ["a", "b" * 50, "a", "ß" * 30]
    for dtype in (StringDType(), StringDType(na_object=None), "T"):
        x = np.array(words, dtype=dtype)
        assert sorted(np.unique(x).tolist()) == sorted(set(words)) and x.dtype.char == "T"


def test_an_empty_array_stands_where_its_buffer_begins():
    import frit.numpy as np

    whole = np.empty(20, np.uint8)
    part = whole[5:6][:-1]
    empty = np.ndarray((0,), "f8", part)
    begin, at = (x.__array_interface__["data"][0] for x in (whole, empty))
    assert at == begin + 5
    assert empty.base is not None and (empty + 1).size == 0 and empty.sum() == 0


def test_what_is_no_index_is_refused_in_numpys_words_and_has_bytes():
    for value in (1.5, [1.5, 2.0], [3], [[True]], True, 2j, 7, numpy.uint8(7), []):
        real, ours = numpy.array(value), np.array(value)
        results = []
        for x in (real, ours, real + 0, ours + 0):
            try:
                results.append(operator.index(x))
            except TypeError as error:
                results.append(str(error))
        assert results[1::2] == results[::2], value
        if real.ndim:
            assert bytes(ours) == bytes(real) and bytearray(ours) == bytearray(real), value
    with pytest.raises(TypeError) as ours, np.errstate(all="ignore"):
        operator.index(np.ones(3).sum())
    with pytest.raises(TypeError) as theirs:
        operator.index(numpy.ones(3).sum())
    assert str(ours.value) == str(theirs.value)


def test_a_window_made_by_hand_is_one_on_the_array_that_owns_the_memory():
    x = np.arange(6.0)
    view = x[1:]
    view.setflags(write=False)
    ours = np.ndarray((2, 2), buffer=x), np.ndarray(buffer=view, dtype=float, shape=3, offset=8)
    assert [window.base is x for window in ours] == [True, True]
    assert [window.flags.writeable for window in ours] == [True, False]
    ours[0][1, 0] = 7
    assert ours[1].tolist() == [7.0, 3.0, 4.0] and x[2] == 7
    held = bytearray(16)
    assert np.ndarray(2, buffer=held).base is held and np.ndarray(3, "i4", buffer=x).base is x
