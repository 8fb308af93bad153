"""test_array_type.py: Array's operators, attributes, methods and class, against NumPy."""

from __future__ import annotations

import collections.abc
import operator
import sys
import warnings

import numpy
import pytest
from core_compare import check, check_within, ours

from frit import _core

DTYPES = ["?", "b", "h", "i", "l", "B", "H", "I", "L", "e", "f", "d", "F", "D"]
BINARY = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "xor",
    "lt",
    "le",
    "eq",
    "ne",
    "gt",
    "ge",
]
INPLACE = [
    "iadd",
    "isub",
    "imul",
    "itruediv",
    "ifloordiv",
    "imod",
    "ipow",
    "ilshift",
    "irshift",
    "iand",
    "ior",
    "ixor",
]


def sample(code: str, n: int = 6) -> numpy.ndarray:
    return (numpy.arange(n) % 3 + 1).astype(code)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("left", DTYPES)
def test_operators_promote_and_compute_as_numpy(name, left):
    for right in DTYPES:
        check(getattr(operator, name), sample(left), sample(right))


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(
    "number",
    [
        0,
        1,
        -1,
        2,
        300,
        2**40,
        2**63,
        2**70,
        0.5,
        -2.0,
        1j,
        True,
        numpy.float32(2),
        numpy.int8(3),
        numpy.float64(0.5),
    ],
)
def test_operators_take_numbers_weakly_or_strongly_as_numpy(name, number):
    # Powers are within 4 ulp of the true value, and so is NumPy's.
    steps = 8 if name == "pow" else 0
    for code in ["?", "b", "B", "l", "L", "e", "f", "d", "D"]:
        check_within(steps, lambda x: getattr(operator, name)(x, number), sample(code))
        check_within(steps, lambda x: getattr(operator, name)(number, x), sample(code))


@pytest.mark.parametrize("name", ["lt", "le", "eq", "ne", "gt", "ge"])
def test_signed_and_unsigned_numbers_compare_as_numbers(name):
    compare = getattr(operator, name)
    signed = numpy.array([-(2**63), -1, 0, 1, 2**62, 2**63 - 1])
    unsigned = numpy.array([0, 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1], "u8")
    check(compare, signed[:, None], unsigned)
    check(compare, unsigned[:, None], signed)
    check(compare, signed.astype("i1"), unsigned)
    check(lambda x: compare(x, numpy.int64(-1)), unsigned)
    check(lambda x: compare(numpy.uint64(2**63), x), signed)


@pytest.mark.parametrize("name", INPLACE)
def test_in_place_operators_keep_the_object_and_its_dtype(name):
    steps = 8 if name == "ipow" else 0
    for left in DTYPES:
        for right in ["?", "b", "l", "f", "D"]:
            check_within(
                steps, lambda x, y: getattr(operator, name)(x, y), sample(left), sample(right)
            )
        check_within(steps, lambda x: getattr(operator, name)(x, 2), sample(left))
        check_within(steps, lambda x: getattr(operator, name)(x, 1.5), sample(left))
    x = ours(sample("l"))
    before = x
    x += 1
    assert x is before


@pytest.mark.parametrize(
    "action",
    [
        operator.neg,
        operator.pos,
        operator.abs,
        operator.invert,
        bool,
        int,
        float,
        complex,
        operator.index,
        len,
        hash,
        list,
        repr,
        str,
    ],
)
def test_unary_operators_and_conversions(action):
    for code in DTYPES:
        for shape in [(), (1,), (3,), (2, 3), (0,), (1, 1)]:
            check(action, numpy.ones(shape, code))


def test_operators_with_lists_strings_and_none():
    for other in [[1, 2, 3], (1.0, 2.0, 3.0), [[1], [2]], "abc", None, object, {}, [1, "a", None]]:
        for name in ["add", "mul", "eq", "ne", "lt", "and_"]:
            check(lambda x: repr(getattr(operator, name)(x, other)), sample("d", 3))
            check(lambda x: repr(getattr(operator, name)(other, x)), sample("d", 3))


def test_shapes_that_do_not_fit_raise_numpys_words():
    check(operator.add, numpy.ones(3), numpy.ones(4))
    check(operator.iadd, numpy.ones(3), numpy.ones((2, 3)))
    check(operator.matmul, numpy.ones((2, 3)), numpy.ones((2, 3)))
    check(operator.matmul, numpy.ones((2, 3)), 2.0)


def test_divmod_and_matmul():
    for code in ["b", "l", "L", "f", "d"]:
        check(divmod, sample(code), sample(code)[::-1])
    for a, b in [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 2)),
        ((0, 3), (3, 2)),
    ]:
        check(
            operator.matmul,
            numpy.arange(numpy.prod(a, dtype=int)).reshape(a) + 0.5,
            numpy.arange(numpy.prod(b, dtype=int)).reshape(b) - 1.0,
        )


class Defers:
    __array_ufunc__ = None

    def __radd__(self, other):
        return "mine", type(other)

    def __eq__(self, other):
        return "equal"

    __hash__ = None


class HasPriority:
    __array_priority__ = 10

    def __rmul__(self, other):
        return "mine too"


def test_other_classes_have_their_say():
    x = ours(numpy.ones(3))
    assert x + Defers() == ("mine", _core.Array)
    assert (x == Defers()) == "equal"
    assert x * HasPriority() == "mine too"
    with pytest.raises(TypeError):
        x -= Defers()


@pytest.mark.parametrize(
    "name",
    [
        "shape",
        "strides",
        "dtype",
        "ndim",
        "size",
        "itemsize",
        "nbytes",
        "T",
        "real",
        "imag",
        "flags",
        "mT",
    ],
)
def test_attributes(name):
    for x in [
        numpy.ones(()),
        numpy.arange(6.0),
        numpy.arange(6).reshape(2, 3),
        numpy.ones((2, 3), "F"),
    ]:
        check(
            lambda a: repr(getattr(a, name)) if name in ("flags", "dtype") else getattr(a, name), x
        )


def set_attribute(x, name, value):
    setattr(x, name, value)
    return x


def test_settable_attributes():
    x = numpy.arange(6.0)
    check(lambda a: set_attribute(a, "shape", (2, 3)), x)
    check(lambda a: set_attribute(a, "shape", (-1, 2)), x)
    check(lambda a: set_attribute(a, "shape", (4, 2)), x)
    check(lambda a: set_attribute(a.reshape(2, 3).T, "shape", 6), x)
    check(lambda a: set_attribute(a, "flat", [1, 2]), x)
    check(lambda a: set_attribute(a, "real", 5), x.astype(complex))
    check(lambda a: set_attribute(a, "imag", [1, 2, 3, 4, 5, 6]), x.astype(complex))
    check(lambda a: set_attribute(a, "imag", 1), x)


def test_views_share_memory_and_know_their_base():
    x = ours(numpy.arange(12.0))
    rows = x.reshape(3, 4)
    assert rows.base is x and rows[1].base is x and rows.T.base is x and x.base is None
    rows[1, 1] = 50
    assert x[5] == 50
    assert x.copy().base is None


def test_read_only_arrays_and_their_views_refuse_writes():
    def write(a):
        a.flags.writeable = False
        a[1:][0] = 3

    check(write, numpy.arange(4.0))
    check(lambda a: a.setflags(write=False) or operator.iadd(a, 1), numpy.arange(4.0))
    x = ours(numpy.arange(4.0))
    x.flags.writeable = False
    x.flags.writeable = True
    x[0] = 7
    assert x[0] == 7


METHODS = [
    "a.reshape(-1)",
    "a.reshape(2, -1)",
    "a.reshape((6, 2), order='F')",
    "a.reshape(5)",
    "a.reshape(-1, -1)",
    "a.ravel()",
    "a.ravel('F')",
    "a.ravel('K')",
    "a[::2].ravel()",
    "a.T.ravel()",
    "a[:, 1].ravel()",
    "a[1].ravel()",
    "a[1].ravel(1)",
    "a[1].ravel('x')",
    "a[1].ravel(order=a)",
    "a[:, 1].ravel().flags.owndata",
    "a[:, 1].ravel('F').flags.owndata",
    "a.T.ravel('F').flags.owndata",
    "a.flatten()",
    "a.flatten('F')",
    "a.transpose()",
    "a.transpose(1, 0)",
    "a.transpose((0, 0))",
    "a.swapaxes(0, 1)",
    "a.swapaxes(0, 5)",
    "a.squeeze()",
    "a.reshape(3, 1, 4).squeeze(1)",
    "a.squeeze(0)",
    "a.astype('f4')",
    "a.astype(int)",
    "a.astype('O').tolist()",
    "a.astype('U3')",
    "a.astype(bool, copy=False)",
    "a.copy()",
    "a.copy('F')",
    "a.T.copy()",
    "a.T.copy('K')",
    "a.fill(3)",
    "a.fill('x')",
    "a.item(3)",
    "a.item(1, 2)",
    "a.item()",
    "a.item(99)",
    "a.tolist()",
    "a.tobytes()",
    "a.view('i8')",
    "a.view('f4')",
    "a.sum()",
    "a.sum(0)",
    "a.sum(1, keepdims=True)",
    "a.sum((0, 1))",
    "a.sum(2)",
    "a.sum((0, 0))",
    "a.sum(dtype='f4')",
    "a.sum(initial=5)",
    "a.sum(where=a > 2)",
    "a.prod(0)",
    "a.min()",
    "a.max(1)",
    "a.min(initial=-5)",
    "a.any()",
    "a.all(0)",
    "a.mean()",
    "a.mean(0)",
    "a.mean(1, keepdims=True)",
    "a.var()",
    "a.var(0, ddof=1)",
    "a.var(ddof=20)",
    "a.std(1)",
    "a.argmin()",
    "a.argmax(1)",
    "a.argmax(axis=0, keepdims=True)",
    "a.cumsum()",
    "a.cumsum(1)",
    "a.cumprod(0)",
    "a.dot(a.T)",
    "a.dot(2.0)",
    "a.clip(2, 5)",
    "a.clip(None, 4)",
    "a.clip(3)",
    "a.clip()",
    "a.round()",
    "a.round(1)",
    "(a / 7).round(3)",
    "(a * 7).round(-1)",
    "a.round(25)",
    "a.var(ddof=1.0)",
    "a.std(0, ddof=0.5)",
    "a.take([0, 3])",
    "a.take([[0, 1]], axis=1)",
    "a.take(99)",
    "a.take(99, mode='wrap')",
    "a.repeat(2)",
    "a.repeat(3, axis=1)",
    "a.repeat([1, 2, 0], axis=0)",
    "a.conj()",
    "a.conjugate()",
    "a.sort(0)",
    "a.argsort(1)",
    "a.searchsorted(3)",
    "a.diagonal()",
    "a.diagonal(1)",
    "a.trace()",
    "a.ptp()",
    "a.nonsense",
    "a.partition(2)",
    "a.compress([True, False, True], axis=0)",
    "a.choose([a, a])",
    "a.byteswap()",
    "a.put([0, 1], 9)",
    "a.swapaxes(1, 0) + 1",
    "a.flat[3]",
    "list(a.flat)",
    "a.__array__()",
    "a.__array__('f4')",
    "len(a.data)",
    "3.0 in a",
    "99 in a",
    "a.sum(out=a[0])",
    "a.mean(out=a[0], axis=0)",
    "a.max(axis=0, out=a[1])",
]


@pytest.mark.parametrize("text", METHODS)
def test_methods(text):
    action = eval("lambda a: " + text)
    for code in ["d", "l", "f", "?", "F", "e", "B"]:
        check(action, numpy.arange(12).reshape(3, 4).astype(code))


@pytest.mark.parametrize(
    "action",
    [
        "a.sum()",
        "a.mean()",
        "a.max()",
        "a.min(0)",
        "a.argmax()",
        "a.var()",
        "a.prod(1)",
        "a.any()",
        "a.cumsum()",
    ],
)
def test_methods_of_empty_arrays(action):
    for shape in [(0,), (0, 3), (3, 0)]:
        check(eval("lambda a: " + action), numpy.ones(shape))


def test_resize_in_place():
    def grow(a):
        a.resize((3, 3), refcheck=False)
        return a

    check(grow, numpy.arange(4.0))
    check(lambda a: a[1:].resize(2), numpy.arange(4.0))
    for arguments, options in [
        (("hi",), {}),
        ((-1,), {}),
        ((2, 2), {"order": "C"}),
        ((2,), {"refcheck": "hi"}),
        ((2, 2), {"refcheck": False}),
    ]:
        check(lambda a, w=arguments, o=options: a.resize(*w, **o), numpy.arange(4.0))
    x = ours(numpy.arange(4.0))
    also_x = x
    real = also_real = numpy.arange(4.0)
    words = []
    for referenced in (x, real):
        with pytest.raises(ValueError) as raised:
            referenced.resize(9)
        words.append(str(raised.value))
    assert words[0] == words[1] and also_x.size == also_real.size == 4


def test_the_class_takes_types_of_shape_and_dtype():
    for key in ((tuple[int, ...], numpy.dtype[numpy.float64]), (int, float), int):
        assert _core.Array[key] == numpy.ndarray[key]


def test_arrays_have_no_hash_no_sum_of_lists_and_a_size():
    x = ours(numpy.arange(100.0))
    check(lambda a: operator.concat(a, a), numpy.arange(3.0))
    check(hash, numpy.arange(3.0))
    assert not isinstance(x, collections.abc.Hashable)
    for view in (lambda a: a, lambda a: a[1:], lambda a: a.reshape(4, 25).T, lambda a: a[3, ...]):
        assert sys.getsizeof(view(x)) == sys.getsizeof(view(numpy.arange(100.0)))


def test_strides_may_be_set_within_the_memory_of_the_base():
    def set_strides(a, strides):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            a.strides = strides
        return a

    x = ours(numpy.arange(10))
    assert set_strides(x[4:8], -8).tolist() == [4, 3, 2, 1]
    for strides in [-16, (8, 8), 1000]:
        with pytest.raises(ValueError, match="strid"):
            set_strides(x[4:8], strides)
    with pytest.raises(ValueError, match="unaligned"):
        set_strides(x, 3)
    with pytest.raises(AttributeError):
        del x.strides


def test_a_flat_iterator_that_is_indexed_begins_again():
    uses = [
        lambda f: f[3],
        lambda f: f[::2],
        lambda f: f[[1, 2]],
        lambda f: f.copy(),
        lambda f: f.__setitem__(3, 1),
        lambda f: f.__setitem__(slice(1, 3), 7),
        lambda f: f.__setitem__([1, 2], 5),
    ]
    for use in uses:
        seen = []
        real = numpy.arange(12).reshape(3, 4)
        for array in (real.copy(), ours(real)):
            flat = array.flat
            next(flat), next(flat)
            use(flat)
            seen.append((flat.index, [int(x) for x in flat]))
        assert seen[0] == seen[1]


def test_flat_takes_and_gives_our_arrays():
    def program(a, mask, index):
        part = a.flat[1:4]
        a.flat[mask] = 50
        a.flat[index] = part[:2]
        return part, a.flat[mask], a.flat[index], a.flat == 50, len(a.flat), list(a.flat), a.flat[3]

    check(
        program,
        numpy.arange(6.0).reshape(2, 3),
        numpy.array([True, False] * 3),
        numpy.array([5, 0]),
    )
    x = ours(numpy.arange(4.0))
    assert type(x.flat[1:]) is _core.Array and type(x.flat.copy()) is _core.Array
    assert isinstance(x.flat, numpy.flatiter) and x.flat.base is x
    assert numpy.asarray(x.flat).tolist() == [0, 1, 2, 3]


def test_a_write_to_a_broadcast_array_warns_once():
    def program(a):
        a.flags._warn_on_write = True
        seen = a.flags.writeable
        a[1] = 10
        a[2] = 10
        return seen, a.flags.writeable

    check(program, numpy.arange(4.0))


def test_products_and_reductions_refuse_what_numpy_refuses():
    check(operator.imatmul, numpy.ones((3, 3)), numpy.ones((3, 1)))
    check(lambda a, b: a.dot(a, b), numpy.eye(3), numpy.zeros((3, 3)))
    check(lambda a, b: a.dot(a, b), numpy.eye(3), numpy.zeros((3, 3), "f4"))
    check(lambda a, b: a.dot(a, out=b), numpy.eye(3), numpy.zeros(3))
    for shape, axis in [((0, 0), 1), ((0, 3), 1), ((3, 0), 1), ((0, 0), ()), ((2, 0, 2), (0, 1))]:
        check(lambda a, axis=axis: a.max(axis), numpy.zeros(shape))
    check(lambda a: type(a.any()), numpy.arange(3))


def test_the_class_stands_for_ndarray():
    x = ours(numpy.ones(3))
    assert (
        isinstance(x, _core.Array)
        and isinstance(numpy.ones(3), _core.Array)
        and not isinstance([1], _core.Array)
    )
    assert (
        issubclass(numpy.matrix, _core.Array)
        and issubclass(_core.Array, _core.Array)
        and not issubclass(int, _core.Array)
    )
    assert repr(_core.Array) == "<class 'numpy.ndarray'>"
    assert type(_core.Array((2, 3), "f4")) is _core.Array and _core.Array((2,), int).shape == (2,)
    check(lambda b: _core.Array((2,), buffer=b, offset=8), numpy.arange(4.0))


def test_a_class_statement_subclasses_the_real_ndarray():
    class Tagged(_core.Array):
        def __new__(cls, data, tag):
            self = numpy.asarray(data).view(cls)
            self.tag = tag
            return self

        def __array_finalize__(self, source):
            self.tag = getattr(source, "tag", None)

        def sum(self, *args, **kwargs):
            return "sum", super().sum(*args, **kwargs)

    t = Tagged([1.0, 2.0], "blue")
    assert (
        isinstance(t, numpy.ndarray)
        and isinstance(t, _core.Array)
        and Tagged.__mro__[1] is numpy.ndarray
    )
    assert (t + 1).tag == "blue" and t.sum() == ("sum", 3.0)
    assert isinstance(t.view(_core.Array), _core.Array) and not isinstance(
        t.view(_core.Array), Tagged
    )
    mixed = ours(numpy.ones(2)) + t
    assert type(mixed) is Tagged and mixed.tolist() == [2.0, 3.0]


def test_methods_of_the_class_serve_both_kinds_of_arrays():
    for x in [numpy.arange(3.0), ours(numpy.arange(3.0))]:
        assert _core.Array.sum(x) == 3.0
        assert _core.Array.__getitem__(x, 1) == 1.0
        assert _core.Array.tolist(x) == [0.0, 1.0, 2.0]


def test_arrays_are_unhashable_and_weakly_referable():
    import gc
    import weakref

    x = ours(numpy.ones(3))
    with pytest.raises(TypeError, match="unhashable type: 'numpy.ndarray'"):
        hash(x)
    reference = weakref.ref(x)
    assert reference() is x
    del x
    gc.collect()
    assert reference() is None


def test_iteration_gives_scalars_and_rows():
    check(list, numpy.arange(3.0))
    check(list, numpy.arange(6).reshape(2, 3))
    check(lambda x: list(iter(x)), numpy.ones(()))
    a, b = ours(numpy.arange(4.0).reshape(2, 2))
    a[0] = 9
    assert type(a) is _core.Array and b.tolist() == [2.0, 3.0]


def test_a_subclass_hands_its_data_to_the_ufunc_of_its_base():
    class Doubling(_core.Array):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            plain = [x.view(_core.Array) if isinstance(x, Doubling) else x for x in inputs]
            result = super().__array_ufunc__(ufunc, method, *plain, **kwargs)
            return result if result is NotImplemented else 2 * result

    x = ours(numpy.arange(3.0)).view(Doubling)
    assert (x + ours(numpy.ones(3))).tolist() == [2.0, 4.0, 6.0]
    assert _core.ufuncs["sin"](x).tolist() == (2 * numpy.sin(numpy.arange(3.0))).tolist()


def test_a_subclass_hands_arrays_of_ours_to_the_methods_of_its_base():
    class Plain(_core.Array):
        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
            inputs, out = ([plain(x) for x in given] for given in (inputs, out or ()))
            if out:
                kwargs["out"] = tuple(out)
            return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

        def __array_function__(self, function, types, arguments, keywords):
            arguments = tuple([plain(x) for x in each] for each in arguments)
            return super().__array_function__(function, types, arguments, keywords)

        def view(self, *words):
            return super().view(*words)

    def plain(x):
        return ours(numpy.asarray(x)) if isinstance(x, Plain) else x

    class Further(Plain):
        def __array_ufunc__(self, *words, **kwargs):
            return super().__array_ufunc__(*words, **kwargs)

    for kind in (Plain, Further):
        x = ours(numpy.arange(3.0)).view(kind)
        for result in (x + 1, 1 + x, ours(numpy.ones(3)) + x, _core.ufuncs["add"](x, 1)):
            assert type(result) is _core.Array and result.tolist() == [1.0, 2.0, 3.0]
        assert type(x.sum()) is numpy.float64
        assert numpy.concatenate([x, x]).tolist() == [0, 1, 2, 0, 1, 2]
        out = ours(numpy.zeros(3))
        assert _core.ufuncs["add"](x, x, out=out) is out and out.tolist() == [0.0, 2.0, 4.0]
        assert isinstance(x.view(_core.Array), _core.Array) and type(x.view("u1")) is kind


def test_a_method_that_is_replaced_in_the_class_is_another_from_then_on():
    x, before = ours(numpy.arange(3.0)), _core.Array.__dict__["cumsum"]
    for _ in range(3):
        assert _core.Array.cumsum(x).tolist() == [0.0, 1.0, 3.0]
    try:
        _core.Array.cumsum = lambda self: "replaced"
        assert _core.Array.cumsum(x) == "replaced"
    finally:
        _core.Array.cumsum = before
    assert _core.Array.cumsum(x).tolist() == [0.0, 1.0, 3.0]
