"""test_single_calls.py: calls with a short way of their own answer, warn and refuse as NumPy."""

from __future__ import annotations

import warnings

import numpy
import pytest

import frit.numpy as np

DTYPES = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(), (0,), (1,), (7,), (3, 0), (3, 4), (4, 1), (40,), (3000,)]
ORDERS = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[::-1] if x.ndim else x,
    "every other": lambda x: x[..., ::2] if x.ndim else x,
}


def numbers(dtype, shape):
    generator = numpy.random.default_rng(len(shape))
    x = numpy.array(generator.integers(-5, 6, shape)).astype(dtype)
    if x.dtype.kind in "fc" and x.size > 3:
        x.reshape(-1)[1:4] = numpy.nan, numpy.inf, -0.0
    return x


def answer(module, call, *arrays):
    """What a call gives: the bits or the error, and all warnings."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            given = call(module, *map(module.array, arrays))
            parts = given if isinstance(given, tuple) else (given,)
            made = [(each.dtype, each.shape, each.tobytes()) for each in map(numpy.array, parts)]
        except Exception as error:
            made = type(error), str(error)
    return made, sorted((w.category.__name__, str(w.message)) for w in warned)


def same(call, *arrays):
    expected = answer(numpy, call, *arrays)
    for _ in range(3):  # refused twice, a call is NumPy's at once
        assert answer(np, call, *arrays) == expected


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers_lose_their_imaginary_part_with_numpys_warning(dtype, order):
    edges = numpy.array([1 + 2j, -0.0, 3e300 + 1j, -numpy.inf, 2.0**63, -3.7, 1e-310, 1e-42])
    with numpy.errstate(over="ignore"):
        edges = edges.astype(dtype)
    for to in "?bBhHiIlLefdFD":
        for x in (edges, edges.reshape(2, 4), edges[:0], edges[:1].reshape(())):
            same(lambda m, a: ORDERS[order](a).astype(to), x)  # noqa: B023
        same(lambda m, a: a.astype(to, casting="safe"), edges)  # noqa: B023
        same(lambda m, a: a.astype(to, order="Q"), edges)  # noqa: B023


def test_a_cast_that_may_not_warn_raises():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(numpy.exceptions.ComplexWarning, match="discards the imaginary part"):
            np.array([1j]).astype(float)


@pytest.mark.parametrize("order", ORDERS)
def test_views_with_another_item_size(order):
    for dtype in DTYPES:
        for shape in ((), (0,), (1,), (6,), (4, 8), (2, 3, 4), (8, 1), (3, 0)):
            x = numpy.zeros(shape, dtype)
            x.reshape(-1).view("u1")[::3] = 1
            for to in DTYPES:
                same(lambda m, a: ORDERS[order](a).view(to), x)  # noqa: B023
                same(lambda m, a: ORDERS[order](a[1:]).view(to), x)  # noqa: B023


def test_a_view_of_another_item_size_shares_its_memory():
    def program(m, x):
        y = x + 1
        words, bytes_ = y.view("u4"), y[2:].view("u1")
        words[1::2] += 1 << 20
        bytes_[::8] ^= 255
        y *= 2
        return y, words, bytes_, y[1:3].view("c16") * 1j

    same(program, numpy.linspace(0, 1, 9))
    large = numpy.linspace(0, 1, 90_000)
    same(lambda m, x: (x + 1).view("u4")[1::2] + (x * 2).view("u8"), large)


def test_squeezing_nothing_gives_the_array_itself():
    for shape in ((), (0,), (3,), (1,), (1, 0), (3, 1), (2, 3)):
        for call in (
            lambda m, x: x.squeeze() is x,
            lambda m, x: x.squeeze(()) is x,
            lambda m, x: m.squeeze(x) is x,
            lambda m, x: x.squeeze(0) is x,
            lambda m, x: x.squeeze(-1),
        ):
            same(call, numpy.ones(shape))


@pytest.mark.parametrize("order", ORDERS)
def test_elements_of_a_flat_iterator(order):
    for dtype in ("?", "i8", "f2", "f8", "c16"):
        for shape in ((), (0,), (6,), (2, 3)):
            for key in (0, 3, -1, 5, 6, -6, -7, 10**30, True, 1.5, numpy.int64(2), [1, 2]):
                same(lambda m, x: ORDERS[order](x).flat[key], numbers(dtype, shape))  # noqa: B023

    def program(m, x):
        elements = x.flat
        found = [next(elements), elements[3], next(elements), next(elements), elements[-1]]
        return m.array(found), elements.index

    same(program, numbers("f8", (2, 3)))


@pytest.mark.parametrize("function", ["partition", "argpartition"])
def test_partitions(function):
    for dtype in ("?", "i4", "f8", "c16"):
        for shape in ((), (0,), (10,), (4, 5), (3, 0)):
            for kth in (0, 2, -1, 10, (1, 3), [2, 0], 1.5, None):
                for options in (
                    {},
                    {"axis": 0},
                    {"axis": 1},
                    {"axis": None},
                    {"axis": 1.5},
                    {"kind": "introselect"},
                    {"kind": "none"},
                    {"order": "a"},
                ):
                    for order in ORDERS.values():
                        same(
                            lambda m, x: getattr(m, function)(order(x), kth, **options),  # noqa: B023
                            numbers(dtype, shape),
                        )
    same(lambda m, x: (m.partition(x, 1), x), numpy.array([3.0, 1.0, 2.0]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_peak_to_peak(dtype):
    for shape in SHAPES:
        for options in ({}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}, {"keepdims": True}):
            for order in ORDERS.values():
                same(lambda m, x: m.ptp(order(x), **options), numbers(dtype, shape))  # noqa: B023


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_of_extremes_along_an_axis(dtype):
    for shape in (*SHAPES, (2, 3, 4), (1000, 3), (3, 0, 2)):
        for name in ("argmax", "argmin"):
            for options in ({"axis": -1}, {"axis": 0}, {"axis": 1}, {"axis": -1, "keepdims": True}):
                for order in ORDERS.values():
                    same(
                        lambda m, x: (
                            getattr(order(x), name)(**options),
                            getattr(m, name)(order(x)),
                        ),  # noqa: B023
                        numbers(dtype, shape),
                    )


def test_rows_come_one_after_another():
    for dtype in DTYPES:
        for shape in ((0,), (7,), (3, 4)):
            for order in ORDERS.values():
                same(lambda m, x: tuple(order(x)), numbers(dtype, shape))  # noqa: B023
                same(lambda m, x: tuple(order(x + x)), numbers(dtype, shape))  # noqa: B023


def test_products_of_bools():
    generator = numpy.random.default_rng(1)
    for _ in range(60):
        rows, inner, columns = generator.integers(0, 40, 3)
        share = generator.choice([0, 0.05, 0.5, 1])
        a, b = generator.random((rows, inner)) < share, generator.random((inner, columns)) < share
        for order in ORDERS.values():
            same(lambda m, x, y: order(x.T).T @ y, a, b)  # noqa: B023
            same(lambda m, x, y: x @ order(y.T).T, a, b)  # noqa: B023
        same(lambda m, x, y: (m.dot(x, y), m.inner(x, y.T), m.tensordot(x, y, 1)), a, b)
        same(lambda m, x, y: m.stack([x, ~x]) @ y, a, b)
        same(lambda m, x, y: (x @ y.any(1), x.any(0) @ y), a, b)
    odd = numpy.arange(20, dtype="u1").reshape(4, 5)  # any byte but zero is true
    same(lambda m, x: x.view(bool) @ x.view(bool).T, odd)
    same(lambda m, x: (x > 3) @ (x < 3), numpy.arange(250_000).reshape(500, 500) % 7)


def test_masked_ufuncs_warn_of_what_the_mask_lets_pass():
    division = numpy.array([1.0, 0.0, numpy.nan, -1.0]), numpy.array([0.0, 0.0, 1.0, 2.0])
    for bits in range(16):
        mask = numpy.array([bits >> k & 1 for k in range(4)], bool)
        for name in ("divide", "floor_divide", "power", "maximum", "hypot", "less"):

            def program(m, x, y, mask):
                function = getattr(m, name)  # noqa: B023
                out = m.array([7.0, 7.0, 7.0, 7.0])
                function(x, y, out=out, where=mask, casting="unsafe")
                function(x[:-1], x[1:], out=x[1:], where=mask[1:], casting="unsafe")
                return out, x, function(2, y, out=m.array(out), where=mask, casting="unsafe")

            same(program, *division, mask)
        same(lambda m, x, mask: m.sqrt(x, out=x, where=mask), numpy.array([4.0, -1, -0.0, 9]), mask)
        same(lambda m, x, mask: m.add(x, 1e300, out=x, where=mask), numpy.ones(4, "f4"), mask)
        whole = numpy.array([1, 0, 7, -8]), numpy.array([0, 0, 2, -1])
        same(lambda m, x, y, mask: m.floor_divide(x, y, out=x, where=mask), *whole, mask)


@pytest.mark.parametrize("function", ["negative", "invert", "absolute", "square"])
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i4", "c16"])
def test_what_a_mask_leaves_out_is_not_converted_to_another_type(function, dtype):
    if (function, dtype) == ("invert", "c16"):
        pytest.skip("no such loop")
    for mask in ([False] * 3, [True, False, False]):
        for target in ("f2", "f4", "c16"):

            def program(m, x, out, mask):
                return getattr(m, function)(x, out=out, where=mask, casting="unsafe")

            x = numpy.array([1, 2, 3], dtype)
            same(program, x, numpy.full(3, 7, target), numpy.array(mask))


def test_clipping_what_is_broadcast_lies_in_memory_as_numpys():
    def operands(m):
        return m.broadcast_to(m.arange(5.0), (5, 5)), m.arange(25.0).reshape(5, 5).T

    for call in (
        lambda m, x, y: m.clip(x, 2, y),
        lambda m, x, y: m.clip(x, y, 9),
        lambda m, x, y: m.clip(y, x, 9),
        lambda m, x, y: x.clip(0, y),
    ):
        expected, got = call(numpy, *operands(numpy)), call(np, *operands(np))
        assert numpy.array_equal(expected, got) and expected.strides == got.strides


def test_pythons_integers_are_no_bools():
    for number in (300, 1, 0):
        for name in ("maximum", "add", "multiply", "logical_and"):
            same(lambda m, x, f=name, n=number: getattr(m, f)(x, n, dtype="?"), numpy.ones(3, bool))
            same(lambda m, x, f=name, n=number: getattr(m, f)(n, x, dtype="?"), numpy.ones(3, bool))


def test_where_without_out_is_warned_of():
    mask = numpy.array([True, False, True])
    x = numpy.array([1.0, 2.0, 3.0])
    for call in (
        lambda m, x, mask: m.add(x, x, where=mask)[mask],
        lambda m, x, mask: m.add(x, x, None, where=mask)[mask],
        lambda m, x, mask: m.add(x, x, where=mask, out=None)[mask],
        lambda m, x, mask: m.add(x, x, **{"wh" + "ere": mask})[mask],
        lambda m, x, mask: m.add(x, x, where=True),
        lambda m, x, mask: m.add(x, x, where=[True, True, True]),
        lambda m, x, mask: m.add(x, x, where=2.5),
        lambda m, x, mask: m.modf(x, where=mask)[0][mask],
        lambda m, x, mask: m.add(x, "a", where=mask),
    ):
        same(call, x, mask)


def test_methods_of_a_ufunc_are_found_again():
    add = np.add
    assert add.reduce(np.array([1, 2])) == 3 and add.reduce.__self__ is add
    assert add.reduceat.__name__ == "reduceat" and np.multiply.reduce.__self__ is np.multiply
    same(lambda m, x: m.add.reduceat(x, [0, 2, 1]), numbers("f8", (7,)))
    same(lambda m, x: m.maximum.reduceat(x, [0, 9]), numbers("f8", (7,)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_place(dtype):
    for shape in ((0,), (5,), (3, 4), (3000,)):
        x = numbers(dtype, shape)
        for values in (numpy.arange(3), numpy.arange(x.size + 1), 7, []):

            def program(m, x, mask):
                m.place(x, mask, values)  # noqa: B023
                return x

            same(program, x, numpy.arange(x.size).reshape(shape) % 3 > 0)


def test_tiles_of_no_elements_are_a_view_that_may_be_written_to_as_they_may():
    for repetitions in (0, 2, (0, 1), (3, 1, 2)):
        for module in (np, numpy):
            x = module.broadcast_to(module.zeros((2, 0)), (4, 2, 0))
            made = module.tile(x, repetitions), module.tile(module.zeros((2, 0)), repetitions)
            assert [each.flags.writeable for each in made] == [False, True]
        same(lambda m, a, r=repetitions: m.tile(a, r), numbers("f8", (3, 0)))


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 8, 9])
def test_copies_of_many_short_rows(dtype, columns):
    for rows in (0, 1, 3, 255, 256, 257, 700):
        x = numbers(dtype, (rows, columns))
        same(lambda m, a: m.repeat(a, 2, axis=0), x)
        same(lambda m, a: m.repeat(a, 3, axis=1), x)
        same(lambda m, a: m.tile(a, (2, 3)), x)
        same(lambda m, a: m.array(a[::-1, ::2], order="C"), x)
        same(lambda m, a: a.T[::-1].copy("C"), x)
        same(lambda m, a: m.broadcast_to(a, (2, *a.shape)).copy("F"), x)
        if rows:
            same(lambda m, a: a.reshape(rows, 1, columns)[:, :, :2].copy(), x)
        for index in ([0], [columns - 1, -1], [columns], [-columns - 1], []):
            index = numpy.array(index, int)
            same(lambda m, a, i: m.take(a, i, axis=1), x, index)
            same(lambda m, a, i: m.take(m.array([a, a]), i, axis=2), x, index)


@pytest.mark.parametrize("dtype", DTYPES)
def test_choices(dtype):
    for shape in ((), (0,), (1,), (7,), (3, 4), (300,)):
        x = numbers(dtype, shape)
        y = x[::-1] if shape else x + x
        for kind in ("i8", "i4", "?"):
            places = numpy.random.default_rng(1).integers(0, 2, shape).astype(kind)
            same(lambda m, k, a, b: m.choose(k, (a, b)), places, x, y)
            same(lambda m, k, a, b: m.choose(k, [a, b, a]), places, x, y.copy())
            same(lambda m, k, a, b: k.choose((a, b)), places, x, y)
            same(lambda m, k, a, b: m.choose(k, (a, 2)), places, x, y)
            same(lambda m, k, a: m.choose(k, a), places, x)
        same(lambda m, k, a, b: m.choose(k, (a, b)), places.astype("i8") + 1, x, y)
        same(lambda m, k, a, b: m.choose(k, (a, b)), places.astype("i8") - 1, x, y)
        same(lambda m, k, a, b: m.choose(k, (a, b), mode="wrap"), places.astype("i8") - 7, x, y)
        same(
            lambda m, k, a, b: m.choose(k, (a, b)), places.astype("i8"), x.real, y.real.astype("f8")
        )
    same(lambda m, k, a: m.choose(k, ()), numpy.arange(3), numpy.arange(3))


def test_indices_of_flat_and_of_many_axes():
    flat = numpy.array([0, 5, 23, 1, 22, 0, 7])
    wide = (2**40, 2**40)
    for extents in ((24,), (4, 6), (2, 3, 4), [4, 6], 24, (numpy.int64(4), 6), (0, 5), wide):
        table = flat[:6].reshape(2, 3)
        for places in (flat, flat[:0], flat[::2], table, flat[1], flat.astype("i4")):
            same(lambda m, i, e=extents: m.unravel_index(i, e), places)
            same(lambda m, i, e=extents: m.unravel_index(i, e, order="F"), places)
        for wrong in (flat + 2, flat - 1, flat * 1.5, -flat * 2**62):
            same(lambda m, i, e=extents: m.unravel_index(i, e), wrong)
    rows, columns = flat % 4, flat % 6
    for i, j in (
        (rows, columns),
        (rows[:0], columns[:0]),
        (rows[::2], columns[::2]),
        (rows.reshape(7, 1), columns.reshape(7, 1)),
        (rows.reshape(7, 1), columns),
        (rows.astype("i4"), columns),
        (rows - 1, columns),
        (rows, columns + 1),
        (rows * 2**61, columns * 2**61),
        (rows[0], columns[0]),
    ):
        same(lambda m, i, j: m.ravel_multi_index((i, j), (4, 6)), i, j)
        same(lambda m, i, j: m.ravel_multi_index([i, j], (4, 6)), i, j)
        same(lambda m, i, j: m.ravel_multi_index((i, j), (4, 6), mode="clip"), i, j)
        same(lambda m, i, j: m.ravel_multi_index((i, j, i), (4, 6)), i, j)
        same(lambda m, i, j: m.ravel_multi_index((i, j), wide), i, j)
        same(lambda m, i, j: m.ravel_multi_index((i, j), (0, 6)), i, j)
    theirs, ours = (m.unravel_index(m.array(flat), (4, 6)) for m in (numpy, np))
    assert [x.strides for x in ours] == [x.strides for x in theirs]
    assert ours[0].base is ours[1].base and ours[0].base.shape == (7, 2)
    ours[0][0] = 9
    assert ours[0].base[0, 0] == 9 and ours[1][0] == theirs[1][0]


def test_arrays_of_one_shape_are_broadcast_to_themselves():
    x, y = np.ones(3), np.zeros((3, 1))
    assert all(a is b for a, b in zip(np.broadcast_arrays(x, x, x), (x, x, x), strict=True))
    same(lambda m, a, b: m.broadcast_arrays(a, b), numpy.ones(3), numpy.zeros((3, 1)))
    same(lambda m, a, b: m.broadcast_arrays(a, b), numpy.ones(3), numpy.zeros(4))
    same(lambda m, a, b: m.broadcast_arrays(a, b, subok=True), numpy.ones(3), numpy.zeros(3))
    assert np.broadcast_arrays(x, y)[0].shape == (3, 3) and np.broadcast_arrays() == ()


@pytest.mark.parametrize("size", [3, 2000])
def test_a_view_of_memory_that_numpy_made_and_nobody_else_holds(size):
    x = numpy.arange(size) % 3
    for module in (numpy, np):
        places = module.argwhere(module.array(x))
        base = places.base
        assert base is not None and base.base is None and base.size == places.size
        places[0] = -5
        assert base.reshape(-1)[0] == -5 or places.size == 0
        assert places.flags.writeable and not places.flags.owndata
    same(lambda m, a: m.argwhere(a), x)

    def bases(m, a):
        made = (*a.nonzero(), *m.nonzero(a.reshape(1, -1)), m.flatnonzero(a), m.nonzero(a[:0])[0])
        made += (m.linspace(0, 1, size), m.linspace(1, 1, 3), m.linspace(0, 1, 1))
        made += tuple(m.linspace(0, 9, size, dtype=kind) for kind in ("f4", "i8", float))
        sizes = [e.base if e.base is None else e.base.size for e in made]
        return sizes, [(e.flags.owndata, e.strides) for e in made]

    assert bases(np, np.array(x)) == bases(numpy, x)
    same(lambda m, a: m.unique(a.reshape(-1, 1), return_inverse=True), x)
    same(lambda m, a: m.argwhere(a) + 1, x[:0])


def test_strides_of_axes_of_one_element():
    for shape in ((1, 5), (5, 1), (1, 1), (3, 5), (90, 90), (1, 9000)):
        for order in "CF":
            theirs, ours = (m.eye(*shape, order=order) for m in (numpy, np))
            assert ours.strides == theirs.strides and ours.tobytes() == theirs.tobytes()

    def sight(m, kind, call):
        x = m.arange(24.0)
        x = {"C": x.reshape(4, 6), "F": x.reshape(4, 6).T, "3d": x.reshape(2, 3, 4).T}[kind]
        made = eval(call, {"np": m, "x": x})
        return made.shape, made.strides, made.__array_interface__["strides"], made.tolist()

    for call in (
        "np.expand_dims(x, 0)",
        "np.expand_dims(x[::2], (1, -1))",
        "np.expand_dims(x.sum(), 0)",
        "x[:, None]",
        "x.sum(0, keepdims=True)",
        "x.max(-1, keepdims=True)",
        "x.min(keepdims=True)",
        "np.add.reduce(x[1:], (0, 1), keepdims=True)",
        "x - x.max(1, keepdims=True)",
    ):
        for kind in ("C", "F", "3d"):
            assert sight(np, kind, call) == sight(numpy, kind, call), (call, kind)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_along_an_axis(dtype):
    generator = numpy.random.default_rng(5)
    for shape, axis in (((7,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((2, 1, 4), -1)):
        x = numbers(dtype, shape)
        extent = shape[axis]
        for count in (0, 1, extent, 9):
            lines = list(shape)
            lines[axis] = count
            below = generator.integers(0, extent, lines)
            for places in (below, below - extent, below + (count > 1), below.astype("i4")):
                same(lambda m, a, i: m.take_along_axis(a, i, axis), x, places)  # noqa: B023

                def put(m, a, i, v):
                    m.put_along_axis(a, i, v, axis)  # noqa: B023
                    return a

                for value in (numbers(dtype, lines), numbers(dtype, (1,)), numpy.array(2)):
                    same(put, x, places, value)
                same(lambda m, a, i: put(m, a, i, 3), x, places)  # noqa: B023
                same(lambda m, a, i: put(m, a.T, i.T, 3), x, places)  # noqa: B023
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.put_along_axis(fixed, np.array([0]), 1.0, 0)


@pytest.mark.parametrize("order", ORDERS)
def test_parts_of_an_array(order):
    sections = [0, 1, 2, 3, [], [1], [2, 1], [-1, 9], (1, 2), numpy.array([1, 2]), [1.0], None]
    for shape in SHAPES:
        x = numbers("i8", shape)
        for given in sections:
            for name in ("split", "array_split"):
                for axis in (0, 1, -1, 2):
                    same(
                        lambda m, a: tuple(getattr(m, name)(ORDERS[order](a), given, axis)),  # noqa: B023
                        x,
                    )
            for name in ("vsplit", "hsplit", "dsplit"):
                same(lambda m, a: tuple(getattr(m, name)(ORDERS[order](a), given)), x)  # noqa: B023
    a = np.arange(6)
    first, _ = np.split(a, 2)
    first[0] = 9
    assert a[0] == 9 and first.base is a


@pytest.mark.parametrize("order", ORDERS)
def test_elements_left_out(order):
    masks = [numpy.arange(7) % 2 == 0, numpy.zeros(7, bool), numpy.ones(3, bool)]
    which = [0, -1, 6, 7, True, 2.0, slice(1, 3), slice(None, None, -2), slice(5, 1), slice(0, 9)]
    which += [[], [1], [0, 0, -1], [1, 99], [[1, 2]], (1, 2), numpy.array([2, -7]), *masks]
    for shape in [*SHAPES, (2, 7, 3)]:
        x = numbers("f4", shape)
        for each in which:
            for axis in (None, 0, 1, -1):

                def call(m, a):
                    obj = m.array(each) if isinstance(each, numpy.ndarray) else each  # noqa: B023
                    return m.delete(ORDERS[order](a), obj, axis)  # noqa: B023

                same(call, x)
    many = numpy.arange(100_000)
    same(lambda m, a: m.delete(a, [5, -1, 70_000]), many)
    same(lambda m, a: m.delete(a, m.arange(0, 100_000, 3)), many)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_and_places_by_a_condition(dtype):
    for shape in SHAPES:
        x = numbers(dtype, shape)
        same(lambda m, a: m.argwhere(a), x)
        for order in ORDERS.values():
            same(lambda m, a: (m.iscomplex(order(a)), m.isreal(order(a))), x)  # noqa: B023
        for condition in (x != 0, x.reshape(-1) != 0, x, numpy.array([True, False, True])):
            same(lambda m, c, a: m.extract(c, a), condition, x)
            for axis in (None, 0, 1):
                same(lambda m, c, a: m.compress(c, a, axis), condition, x)  # noqa: B023
                same(lambda m, c, a: a.compress(c, axis=axis), condition, x)  # noqa: B023
            same(lambda m, c, a: a.compress(c, out=m.zeros(2, a.dtype)), condition, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_counts(dtype):
    for shape in ((0,), (1,), (40,), (3000,), (3, 4)):
        x = abs(numbers("i8", shape)).astype(dtype)
        same(lambda m, a: m.bincount(a), x)
        same(lambda m, a: m.bincount(a[::2], minlength=12), x)
        same(lambda m, a: m.bincount(a, None, -1), x)
        for weights in map(numbers, DTYPES, [shape] * len(DTYPES)):
            same(lambda m, a, w: m.bincount(a, w), x, weights)
    same(lambda m, a: m.bincount(a), numpy.array([1, -1, 3]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_order_by_several_keys(dtype):
    for n in (1, 7, 40, 900):
        x, y = numbers(dtype, (n,)), numbers("i8", (n,)) % 3
        same(lambda m, a, b: m.lexsort((a, b)), x, y)
        same(lambda m, a, b: m.lexsort([b, a, b]), x, y)
        same(lambda m, a, b: m.lexsort((a[::2], b[::2])), x, y)
        same(lambda m, a, b: m.lexsort((a, b[1:])), x, y)
    same(lambda m, a: m.lexsort(a), numbers(dtype, (3, 4)))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_running_extremes_of_complex_numbers(dtype):
    x = numbers(dtype, (600,)) + numpy.array(1j).astype(dtype) * numbers("i4", (600,))
    for part in (x, x[4:], x[4:].reshape(4, 149)):
        part = part.copy()
        if part.ndim == 1:
            part[300:302] = 9 + 1j * numpy.nan, numpy.nan + 1j
        for axis in range(part.ndim):
            same(lambda m, a: m.maximum.accumulate(a, axis), part)  # noqa: B023
            same(lambda m, a: m.minimum.accumulate(a, axis), part)  # noqa: B023


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
def test_elements_that_move_within_their_array(dtype):
    keys = [
        (slice(1, None), slice(None, -1)),
        (slice(None, -1), slice(1, None)),
        (slice(None), slice(None, None, -1)),
        (slice(None, 3), slice(-3, None)),
        (slice(None, None, 2), slice(1, None, 2)),
        (0, -1),
        ((slice(None), 0), (slice(None), -1)),
        ((slice(None), slice(1, None)), (slice(None), slice(None, -1))),
        (slice(None), 0),
    ]
    for shape in ((6,), (6, 6), (300, 4), (30_000,)):
        for to, source in keys:

            def move(m, a):
                a[to] = a[source]  # noqa: B023
                return a

            same(move, numbers(dtype, shape))
    x = np.arange(1_000_000)  # a shift of many
    x[1:] = x[:-1]
    assert x[0] == 0 and (x[1:] == numpy.arange(999_999)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_number_everywhere(dtype):
    for number in (0, 1, 257, -1, 2.5):
        for n in (1, 7, 70, 3000):

            def fill(m, a):
                a[...] = number  # noqa: B023
                return a

            same(fill, numpy.zeros(n, dtype))
            same(lambda m, a: m.full_like(a, number), numpy.zeros((n, 2), dtype))  # noqa: B023
            same(lambda m, a: m.full_like(a.T, number, "f4"), numpy.zeros((n, 2), dtype))  # noqa: B023
    for shape in ((), (0,), (2, 3), (1, 2, 3, 4, 5), (True, 2), (-1, 2), (2.0,), [2, 3]):
        same(lambda m: m.zeros(shape, dtype))  # noqa: B023
        same(lambda m: m.ones(shape, dtype=dtype))  # noqa: B023
        same(lambda m: m.empty(shape).shape)  # noqa: B023


def test_the_imaginary_part_of_real_numbers_lies_as_they_do():
    x = np.ones((3, 4), order="F")
    assert x.imag.strides == x.strides and not x.imag.flags.writeable


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_of_extremes_along_the_first_of_many_columns(dtype):
    for shape in ((1, 16), (40, 16), (40, 300), (3, 50, 20), (2, 3, 17), (70, 1000)):
        x = numbers(dtype, shape)
        for axis in range(len(shape)):
            for order in ORDERS.values():
                same(lambda m, a: (order(a).argmax(axis), order(a).argmin(axis)), x)  # noqa: B023
        if x.dtype.kind in "fc":
            x[..., 1] = numpy.nan
            same(lambda m, a: (a.argmax(-2), a.argmin(-2)), x)


@pytest.mark.parametrize("dtype", ["?", "i4", "f8", "c16"])
def test_arrays_joined_along_any_axis(dtype):
    for shape in ((3,), (3, 4), (200, 3), (2, 3, 4), (120, 150)):
        x = numbers(dtype, shape)
        for order in ORDERS.values():
            same(lambda m, a: m.dstack((order(a), order(a))), x)  # noqa: B023
            same(lambda m, a: m.dstack([a, m.array(2.0)]), x)
            for axis in range(len(shape)):

                def join(m, a):
                    b = order(a)  # noqa: B023
                    joined = m.concatenate((b, b[..., ::-1], b), axis)  # noqa: B023
                    return joined, numpy.array(joined.strides)

                same(join, x)
                same(lambda m, a: m.repeat(order(a), 2, axis), x)  # noqa: B023
                same(lambda m, a: m.stack((order(a), order(a)), axis=axis), x)  # noqa: B023


def test_named_tuples_of_results():
    given = np.linalg.eig(np.array([[2.0, 1.0], [0.0, 3.0]]))
    assert type(given).__name__ == "EigResult"
    assert type(given.eigenvalues) is np.ndarray and given.eigenvectors is given[1]


def test_closeness_of_numbers():
    values = [0.0, -0.0, 1.0, 1 + 1e-9, 1.00001, 1e-8, 1e-9, -1.0, 1e308, -1e308, 5e-324]
    values += [numpy.nan, numpy.inf, -numpy.inf]
    pairs = numpy.array([(x, y) for x in values for y in values])
    options = [{}, {"rtol": 0}, {"atol": 0.0}, {"rtol": 1e300}, {"rtol": numpy.float64(0.1)}]
    options += [
        {"equal_nan": True},
        {"atol": numpy.inf},
        {"rtol": numpy.nan},
        {"atol": -1, "rtol": 1},
    ]
    tame = pairs[numpy.abs(pairs).max(axis=1) < 10]
    for given in options:
        for name in ("isclose", "allclose"):

            def call(m, a, b):
                return getattr(m, name)(a, b, **given)  # noqa: B023

            for both in (pairs, tame, tame[:1], tame[:0]):
                same(call, both[:, 0], both[:, 1])
                same(lambda m, a, b: call(m, a.copy(), b.copy()), both[:, 0], both[:, 1])  # noqa: B023
                same(lambda m, a: call(m, a.copy(), a.copy()), both[:, 0])  # noqa: B023
            for number in (1, 1.0, True, 2**60, 1j, numpy.float64(1.0), [1.0], numpy.nan):
                same(lambda m, a: call(m, a.copy(), number), tame[:, 0])  # noqa: B023
    with numpy.errstate(all="raise"):
        same(lambda m, a: m.allclose(a[0].copy(), a[1].copy()), pairs.T)
        same(lambda m, a: m.isclose(a[0].copy(), a[1].copy()), tame.T)
    many = numpy.linspace(0, 1, 100_000)
    assert np.allclose(np.array(many), np.array(many)) is True


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_number_put_in(dtype):
    for shape in ((0,), (1,), (7,), (3, 4)):
        x = numbers(dtype, shape)
        for place in (0, 1, -1, 7, 8, -9, True, [1], 1.0, slice(0, 2)):
            for value in (0, 2.5, -1, 300, 1j, True, numpy.nan, numpy.float32(1.5), [1], [1, 2]):
                same(lambda m, a: m.insert(a, place, value), x)  # noqa: B023
                same(lambda m, a: m.insert(a[::2], place, value, axis=0), x)  # noqa: B023


OF_MANY_AXES = """
x.choose([x, x])
np.choose(x, [x, x])
np.broadcast_arrays(x, x)
np.broadcast(x, x).shape
np.take_along_axis(x, x * 0, -1)
np.put_along_axis(x, x * 0, 5, 0)
x[x == 1]
x[(0,) * x.ndim]
np.where(x, x, x)
np.nonzero(x)
np.sort(x)
np.argsort(x, 0)
np.partition(x, 0)
np.diff(x)
np.cumsum(x, -1)
np.argmax(x, -1)
np.roll(x, 1)
np.repeat(x, 2, axis=0)
np.take(x, [0], axis=5)
np.compress([True], x, axis=0)
np.unique(x)
np.stack([x, x])
np.concatenate([x, x])
np.expand_dims(x, 0)
np.tile(x, 1)
np.pad(x, 1)
np.kron(x, x)
np.dot(x, x)
np.matmul(x, x)
np.einsum('...,...->...', x, x)
np.median(x)
np.histogram(x, 2)
np.interp(x, [1, 2], [1, 2])
np.digitize(x, [1])
np.searchsorted([1, 2], x)
np.isin(x, [1])
np.flip(x)
np.rot90(x)
np.trace(x)
np.diagonal(x)
np.tril(x)
np.gradient(x)
np.cross(x, x)
np.unravel_index(x * 0, (3,))
np.unravel_index(0, x.shape)
np.ravel_multi_index((0,) * x.ndim, x.shape)
np.lexsort((x,))
np.clip(x, 0, 1)
np.quantile(x, 0.5, axis=1)
np.mean(x, axis=(0, -1))
np.apply_along_axis(np.sum, 0, x)
np.moveaxis(x, 0, -1)
x.transpose()
x.ravel("K")
x.tolist()
x.flat[0]
np.array([x, x])
np.add.reduce(x, axis=None)
np.add.outer(x, x)
np.copyto(x, x)
""".strip().split("\n")


@pytest.mark.parametrize("axes", [32, 33, 63, 64])
@pytest.mark.parametrize("text", OF_MANY_AXES)
def test_an_array_of_many_axes_is_taken_or_refused(text, axes):
    x = numpy.ones((1,) * axes, numpy.int64)

    def call(module, x):
        given = eval(text, {"np": module, "x": x})
        return (x, *given) if isinstance(given, (tuple, list)) else (x, module.array(given))

    assert answer(np, call, x) == answer(numpy, call, x)
