"""test_indexing.py: every kind of key, read and written, against NumPy."""

from __future__ import annotations

import numpy
import pytest
from core_compare import check

KEYS = [
    "0",
    "-1",
    "3",
    "-4",
    "1, 2",
    "1, -1",
    "5, 0",
    "1, 2, 3",
    "1, 2, 3, 4",
    "...",
    "()",
    "None",
    "..., 0",
    "0, ...",
    "..., ...",
    "None, 0, ..., None",
    ":",
    "::2",
    "::-1",
    "1:1",
    "5:2:-1",
    ":, 1",
    ":, None",
    "1:, ::2, -1",
    "[0, 2]",
    "[0, -1], 1",
    "[0, 1], [1, 2]",
    "[0, 1], [1, 2], [0, 0]",
    ":, [0, 2]",
    ":, [0, 2], 1",
    "[0, 1], :, [1, 0]",
    "0, :, [1, 0]",
    "[[0], [1]], [0, 1]",
    "..., [1, 0]",
    "[], 0",
    "[]",
    "[9]",
    "[0.5]",
    "1.0",
    "'a'",
    "True",
    "False",
    "None, [0, 1]",
    "[True, False, True]",
    "[True, False]",
    ":, [True, False, True, True]",
    "[True, False, True], 1",
    "[True, False, True], [0, 1]",
    "np.array([0, 1])",
    "np.array(1)",
    "np.array([True, False, True])",
    "np.int64(1)",
    "np.int8(1), np.uint8(2)",
    "np.array([[0, 1], [2, 0]])",
    "slice(None, 2)",
    "np.array([0, 1], dtype='u1')",
    "np.array([1.0])",
    "np.asfortranarray([[0, 1], [2, 0]])",
    "np.asfortranarray([[0, 1], [2, 0]]), 1",
    "[0, 1], None",
    "None, [0, 1], :, [0, 1]",
    "[0], ..., [0]",
    "slice(0.5)",
    "10**30",
    "2**62",
]


def key_of(text: str):
    return eval(
        f"K[{text}]", {"K": type("K", (), {"__getitem__": lambda self, key: key})(), "np": numpy}
    )


@pytest.mark.parametrize("text", KEYS)
def test_reading(text):
    key = key_of(text)
    for x in [
        numpy.arange(60.0).reshape(3, 4, 5),
        numpy.arange(60, dtype="i4").reshape(5, 4, 3).T,
        numpy.arange(3),
        numpy.ones(()),
    ]:
        check(lambda a: a[key], x)


@pytest.mark.parametrize("text", KEYS)
@pytest.mark.parametrize(
    "value",
    [
        7,
        2.5,
        [1],
        "x",
        None,
        numpy.float32(3),
        300,
        numpy.arange(5.0),
        numpy.ones((1, 1, 5)),
        numpy.ones((7, 7)),
        1j,
    ],
)
def test_writing(text, value):
    key = key_of(text)
    for x in [
        numpy.arange(60.0).reshape(3, 4, 5),
        numpy.arange(60, dtype="i1").reshape(5, 4, 3).T,
        numpy.arange(3),
    ]:
        check(lambda a: a.__setitem__(key, value), x)


def test_masks_that_are_arrays():
    x = numpy.arange(12.0).reshape(3, 4)
    for mask in [x > 5, x[:, 0] > 3, x > 99, x[0] > 1]:
        check(lambda a, m: a[m], x, mask)
        for value in [
            0,
            numpy.nan,
            [1.0, 2.0],
            numpy.arange(6.0),
            numpy.arange(4.0),
            numpy.ones(0),
        ]:
            check(lambda a, m: a.__setitem__(m, value), x, mask)
            check(lambda a, m: a.__setitem__((m, ...), value), x, mask)


@pytest.mark.parametrize(
    "value",
    [
        numpy.nan,
        numpy.inf,
        1e300,
        -1,
        2**31,
        2**63,
        1.9,
        -1.9,
        True,
        1 + 2j,
        numpy.float64(1e300),
        numpy.int64(300),
        numpy.float32("nan"),
        65519.0,
        65520.0,
        1e-45,
        5e-324,
    ],
)
def test_an_element_takes_a_number_as_numpy_converts_it(value):
    for code in ["?", "b", "B", "i", "l", "L", "e", "f", "d", "F", "D"]:
        check(lambda a: a.__setitem__(0, value), numpy.zeros(2, code))
        check(lambda a: a.__setitem__(slice(None), value), numpy.zeros(2, code))


@pytest.mark.parametrize("code", ["?", "b", "H", "e", "f", "d", "F", "D"])
def test_windows_of_every_type_take_values_of_every_shape(code):
    table = numpy.arange(30).reshape(5, 6).astype(code)
    keys = [(slice(None), 0), (slice(None, None, -2), slice(1, 5)), (2,), (slice(4, 0, -1), -1)]
    for key in keys:
        shape = table[key].shape
        values = [numpy.arange(numpy.prod(shape)).reshape(shape), numpy.ones(shape[-1:])]
        values += [numpy.zeros((1,) * len(shape)), numpy.ones((1, 1, *shape)), numpy.full((), 3)]
        for value in values:
            for a in (table, table.T.copy().T, table[:, ::-1]):
                check(lambda x, v, key=key: x.__setitem__(key, v), a, value.astype(code))
                check(lambda x, v, key=key: x.__setitem__(key, v), a, value)
    check(lambda x: x.__setitem__((slice(1, None), 0), x[:-1, 0]), table)
    check(lambda x: x.__setitem__(slice(None), x[::-1]), table)
    check(lambda x: x[:, :0].__setitem__(slice(None), 1), table)


def test_bounds_of_slices():
    big = 2**70
    bounds = [None, 0, 2, -1, -9, 9, big, -big, True, numpy.int64(1), 1.0, "1"]
    for start in bounds:
        for stop in bounds:
            for step in (None, 1, 2, -1, 0, big):
                key = slice(start, stop, step)
                check(lambda x, key=key: x[key], numpy.arange(5.0))
                check(lambda x, key=key: x.__setitem__(key, 7), numpy.arange(5.0))


def test_duplicate_indices_keep_the_last_value():
    check(lambda a: a.__setitem__([0, 0, 1], [1, 2, 3]), numpy.zeros(3))


def test_deletion_is_refused():
    check(lambda a: a.__delitem__(0), numpy.zeros(3))


def test_pending_readers_see_the_element_from_before_a_write():
    from core_compare import ours

    x = ours(numpy.arange(100_000.0))
    y = x + 1
    x[0] = 50
    assert y[0] == 1.0 and x[0] == 50.0


def test_what_is_taken_lies_in_the_order_of_the_indices():
    from core_compare import ours

    for shape in ((10,), (10, 1)):
        a = numpy.arange(10.0).reshape(shape)
        for b in (numpy.arange(10).reshape(5, 2).T, numpy.arange(10).reshape(2, 5)):
            key = b if a.ndim == 1 else (b, 0)
            mine = ours(a)[ours(b) if a.ndim == 1 else (ours(b), 0)]
            assert mine.strides == a[key].strides


LISTS = [
    [float("nan")],
    (1e300, 1.0),
    [300, 2],
    [-1, 1],
    [1.5, True],
    [2**70, 1],
    [[1e300], [1]],
    [numpy.float64(1e300), 1],
    [numpy.int64(300), 1],
    [numpy.float32(1.5), numpy.int8(-1)],
    [1j, 1],
    [None, 1],
    ["3", 1],
    [numpy.array(1e300), 1],
    [[1, 2], [3]],
    ([], [1, 2]),
]


@pytest.mark.parametrize("code", ["?", "b", "B", "i", "L", "e", "f", "d", "F"])
@pytest.mark.parametrize("value", LISTS)
def test_a_list_is_converted_item_by_item(code, value):
    for key in (slice(0, len(value)), [0, 1][: len(value)], slice(0, 0), ..., (slice(None), None)):
        check(lambda a, key=key: a.__setitem__(key, value), numpy.zeros(3, code))
    check(lambda a: a.flat.__setitem__(slice(0, 2), value), numpy.zeros(3, code))
    check(lambda a: a.flat.__setitem__(slice(0, 2), value[0]), numpy.zeros(3, code))


@pytest.mark.parametrize("code", ["?", "b", "B", "i", "q", "f", "D", "O"])
@pytest.mark.parametrize(
    "number", ["big.sum()", "-big.max()", "(big * 1.5).sum()", "(big > 0).any()"]
)
@pytest.mark.parametrize("value", ["s", "[s]", "(1, s, [s][0])"])
@pytest.mark.parametrize("key", ["0", "...", "slice(0, 2)", "[0, 1]", "slice(None)"])
def test_numpys_own_arrays_take_numbers_still_to_be_computed(code, number, value, key):
    import frit.numpy

    def outcome(module):
        x = numpy.zeros(3, code)
        big = module.arange(20_000)
        s = eval(number, {"big": big})
        try:
            x[eval(key)] = eval(value, {"s": s})
        except Exception as error:
            return type(error), str(error)
        return x.tobytes() if code != "O" else [(type(e), e) for e in x]

    assert outcome(frit.numpy) == outcome(numpy)


def test_an_array_of_objects_holds_the_arrays_and_lists_that_it_is_given():
    import frit.numpy as np

    x, total = np.arange(4.0), (np.ones(100_000) + 1).sum()
    items = [x, 1]
    for value in (x, items, (x, 2), {"x": x}):
        cells = numpy.empty(3, dtype=object)
        cells[0] = value
        cells[1:] = [value, value] if type(value) is dict else [x, value]
        assert cells[0] is value and cells[2] is value
    cells = numpy.empty(2, dtype=object)
    cells[0] = total
    cells[1:] = [(total, x)]
    assert type(cells[0]) is numpy.float64 and type(cells[1]) is tuple
    assert type(cells[1][0]) is numpy.float64 and cells[1][1] is x
    cells = numpy.empty(4, dtype=object)
    cells[:] = x
    assert cells.tolist() == [0.0, 1.0, 2.0, 3.0] and type(cells[0]) is float


def test_subclasses_of_numpys_arrays_take_numbers_still_to_be_computed(tmp_path):
    import frit.numpy

    class Later(numpy.ndarray):
        pass

    total = frit.numpy.arange(20_000).sum()
    memory = numpy.memmap(tmp_path / "x", "i1", "w+", shape=3)
    for x in (memory, numpy.zeros(3, "i1").view(Later), numpy.zeros(3, "i1").view(numpy.matrix)):
        with pytest.raises(OverflowError):
            x[...] = total


@pytest.mark.parametrize("values", ["x, x", "1, x", "x > 1, 2.0", "x.T.copy().T, 3"])
@pytest.mark.parametrize(
    "x",
    [
        "np.broadcast_to(np.arange(700.0), (2, 3, 700))",
        "np.broadcast_to(np.arange(700.0), (2, 3, 700))[::-1]",
        "np.arange(12.0).reshape(3, 4).T",
        "np.arange(12.0).reshape(3, 4)[::-1]",
        "np.arange(12.0).reshape(3, 4)[:, ::-1].T",
        "np.arange(24_000.0).reshape(20, 30, 40).transpose(1, 2, 0)",
    ],
)
def test_where_lays_its_result_out_as_its_operands_lie(x, values):
    import frit.numpy

    def where(module):
        names = {"np": module}
        names["x"] = eval(x, names)
        made = eval(f"np.where(x, {values})", names)
        return made.strides, numpy.asarray(made).tobytes()

    assert where(frit.numpy) == where(numpy)
