"""test_scalar.py: lazy scalars are NumPy scalars to whoever looks."""

from __future__ import annotations

import collections
import copy
import datetime
import fractions
import math
import operator
import pickle
import sys

import numpy
import pytest
from core_compare import ours

from frit import _core

N = 100_000  # large enough to be recorded


@pytest.fixture(autouse=True)
def float_errors_may_come_late():
    """A test runner records warnings, so that everything would run at once: not what is tested."""
    _core.let_float_errors_come_late()


@pytest.fixture
def total():
    scalar = (ours(numpy.ones(N)) + 1).sum()
    assert isinstance(scalar, _core.Scalar) and _core.is_pending(scalar)
    return scalar


@pytest.fixture
def count():
    scalar = (ours(numpy.ones(N, "i4")) + 1).sum()
    assert isinstance(scalar, _core.Scalar)
    return scalar


def test_its_class_is_numpys_and_asking_for_it_computes_nothing(total):
    assert (
        isinstance(total, float)
        and isinstance(total, numpy.float64)
        and isinstance(total, numpy.floating)
    )
    assert not isinstance(total, int) and not isinstance(total, numpy.integer)
    assert (
        total.dtype == numpy.float64 and total.shape == () and total.ndim == 0 and total.size == 1
    )
    assert _core.is_pending(total)


def test_conversions(total, count):
    assert (
        float(total) == 2.0 * N
        and int(total) == 2 * N
        and complex(total) == 2.0 * N
        and bool(total)
    )
    assert operator.index(count) == 2 * N and list(range(10))[count - 2 * N + 3] == 3
    assert math.sqrt(total) == math.sqrt(2.0 * N) and round(total, -3) == round(
        numpy.float64(2.0 * N), -3
    )
    with pytest.raises(TypeError):
        operator.index(total)


def test_text_hash_and_equality(total):
    real = numpy.float64(2.0 * N)
    assert (repr(total), str(total), f"{total:.3e}", hash(total)) == (
        repr(real),
        str(real),
        f"{real:.3e}",
        hash(real),
    )
    assert (
        total == real
        and real == total
        and total < 1e9
        and not total > 1e9
        and {total: 1}[real] == 1
    )
    assert total != "x" and total is not None and (total == None) is False  # noqa: E711


def test_arithmetic_stays_lazy(total):
    for result in [
        total + 1,
        2.0 * total,
        total / total,
        -total,
        abs(total),
        total**2,
        total + total,
    ]:
        assert isinstance(result, _core.Scalar) and _core.is_pending(result)
    mean = total / N
    assert float(mean) == 2.0


def test_arithmetic_with_arrays_gives_arrays(total):
    x = ours(numpy.arange(3.0))
    for result, expected in [
        (x + total, numpy.arange(3.0) + 2.0 * N),
        (total - x, 2.0 * N - numpy.arange(3.0)),
        (x < total, [True] * 3),
    ]:
        assert type(result) is _core.Array and result.tolist() == list(expected)


def test_augmented_assignment_leaves_the_other_name(total):
    other = total
    total += 1
    assert float(other) == 2.0 * N and float(total) == 2.0 * N + 1


def test_a_later_write_does_not_change_it():
    x = ours(numpy.ones(N))
    scalar = x.sum()
    x[:] = 5
    assert scalar == N


def test_pickles_and_copies_are_numpys(total):
    real = numpy.float64(2.0 * N)
    assert pickle.dumps(total) == pickle.dumps(real)
    assert type(pickle.loads(pickle.dumps(total))) is numpy.float64
    assert copy.copy(total) == real and copy.deepcopy(total) == real


def test_attributes_and_methods_are_delegated(total):
    assert (
        total.item() == 2.0 * N
        and type(total.item()) is float
        and total.is_integer()
        and total.astype("i8") == 2 * N
    )
    with pytest.raises(AttributeError, match="numpy.float64"):
        total.nonsense  # noqa: B018


def test_numpy_takes_it(total):
    assert numpy.asarray(total).shape == () and numpy.asarray(total) == 2.0 * N
    assert float(numpy.sqrt(total)) == math.sqrt(2.0 * N)
    assert numpy.array([total, 1.0]).tolist() == [2.0 * N, 1.0]


def test_small_results_are_numpys_own():
    assert type(ours(numpy.ones(3)).sum()) is numpy.float64


def test_its_type_has_numpys_name_and_dtype_and_makes_numpys_scalars(total, count):
    """Python's messages name the types of objects, and programs ask np.issubdtype of them."""
    for scalar, kind in ((total, numpy.float64), (count, numpy.int64), (total > 3, numpy.bool)):
        own = type(scalar)
        assert repr(own) == repr(kind) and numpy.dtype(own) == numpy.dtype(kind)
        assert numpy.issubdtype(own, kind) and type(own(1)) is kind
        for wrong in (len, iter, lambda x: x(), lambda x: pow(x, 2, "a")):
            messages = []
            for each in (scalar, kind(1)):
                with pytest.raises(TypeError) as raised:
                    wrong(each)
                messages.append(str(raised.value))
            assert messages[0] == messages[1]


def test_only_integers_are_indices(total, count):
    assert isinstance(count, type(count)) and hasattr(type(count), "__index__")
    for scalar in (total, total > 3):
        with pytest.raises(TypeError, match=f"slices, not numpy.{type(scalar).__name__}"):
            [1, 2][scalar]
        assert not hasattr(type(scalar), "__index__")


@pytest.fixture
def three():
    scalar = (ours(numpy.full(N, 3)) + 0).max()
    assert isinstance(scalar, _core.Scalar) and _core.is_pending(scalar)
    return scalar


def test_sequences_are_repeated_by_integers(three):
    assert [0] * three == [0, 0, 0]
    assert three * (1, 2) == (1, 2, 1, 2, 1, 2)
    assert "ab" * three == "ababab" and collections.deque([1]) * three == collections.deque([1] * 3)
    assert operator.mul([[]], three) == [[], [], []] and three.__mul__([1]) is NotImplemented


def test_sequences_are_repeated_in_place(three):
    numbers = same = [1]
    same *= three
    assert same is numbers and numbers == [1, 1, 1]


def test_no_sequence_is_repeated_by_a_float_or_a_bool(total):
    for lazy in (total, (ours(numpy.ones(N)) > 2).any()):
        with pytest.raises(TypeError, match="can't multiply sequence by non-int of type 'numpy"):
            [1] * lazy


def test_other_operations_with_sequences_are_numpys(three):
    for result, expected in ((three + [1, 2], [4, 5]), ([5.0] - three, [2.0])):
        assert isinstance(result, _core.Array) and result.tolist() == expected


def test_beside_a_complex_number_it_is_a_float(total):
    value = float(total)
    for operation in (operator.mul, operator.add, operator.sub, operator.truediv, operator.pow):
        pending = (ours(numpy.ones(N)) + 1).sum()
        result = operation(1j, pending)
        assert type(result) is complex and result == operation(1j, value)
        assert type(operation(pending, 1j)[()]) is numpy.complex128


def test_fractions_and_spans_of_time_decide_for_themselves(total, three):
    half = fractions.Fraction(1, 2)
    assert half * three == fractions.Fraction(3, 2) and type(half * three) is fractions.Fraction
    assert type(half * total) is numpy.float64
    assert datetime.timedelta(1) * total == datetime.timedelta(2 * N)


def test_a_float_is_truncated(total):
    assert math.trunc(total) == 2 * N
    with pytest.raises(TypeError, match="type numpy.float32 doesn't define __trunc__ method"):
        math.trunc((ours(numpy.ones(N, "f4")) + 1).sum())


def test_numpys_types_are_made_from_it(three):
    assert numpy.timedelta64(three, "s") == numpy.timedelta64(3, "s")
    assert numpy.void((ours(numpy.full(N, 3)) + 0).max()) == numpy.void(3)
    assert numpy.dtype(("f4", (ours(numpy.full(N, 3)) + 0).max())).shape == (3,)


def test_its_size_is_numpys(total, count):
    for scalar in (total, count, total > 3, total * 1j):
        assert sys.getsizeof(scalar) == sys.getsizeof(_core.to_numpy(scalar))


@pytest.fixture
def everything_is_recorded():
    before = _core.set_immediate_bytes(0)
    yield
    _core.set_immediate_bytes(before)


@pytest.mark.usefixtures("everything_is_recorded")
@pytest.mark.parametrize("left", [*"DFdi", complex])
@pytest.mark.parametrize("right", [*"DFdi", complex])
def test_products_of_complex_scalars_are_rounded_as_numpys_scalars_round_them(left, right):
    _core.let_float_errors_come_late()  # the filters of a test's call are not those of its set-up
    generator = numpy.random.default_rng(1)

    def number(kind):
        value = complex(*generator.normal(0, 9, 2))
        if kind is complex:
            return value, value
        array = numpy.array([value if kind in "DF" else value.real]).astype(kind)
        return array.sum(), (ours(array) + ours(array) * 0).sum()

    for _ in range(20):
        (x, lazy_x), (y, lazy_y) = number(left), number(right)
        assert repr(complex(lazy_x * lazy_y)) == repr(complex(x * y))


@pytest.mark.parametrize("key", [0, (), ..., slice(None), "a", numpy.array([True]), [0]])
@pytest.mark.parametrize("change", [lambda x, k: operator.setitem(x, k, 1), operator.delitem])
def test_items_can_be_set_no_more_than_of_numpys(total, key, change):
    with pytest.raises(TypeError) as expected:
        change(numpy.float64(2 * N), key)
    with pytest.raises(TypeError) as found:
        change(total, key)
    assert str(found.value) == str(expected.value)
