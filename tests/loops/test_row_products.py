"""test_row_products.py: products and norms of rows, and arrays that a loop changes by `+=`."""

from __future__ import annotations

import numpy as np
import pytest

import frit

from .test_loops import runs_compiled


def products(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = np.dot(a[i], b[j])


def by_methods(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            row = a[i] + a[j]
            out[i, j] = row.dot(b[j, ::-1]) - row @ row + np.inner(b[i], b[j])


def columns(a, b, out):
    for i in range(min(a.shape[1], 7)):
        for j in range(min(a.shape[1], 7)):
            out[i, j] = a[1:, i] @ b[:-1, j]


def norms(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = np.linalg.norm(a[i] - b[j])


def other_norms(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            d = a[i].T - b[j]
            out[i, j] = np.linalg.norm(d, 1) + np.linalg.norm(d, ord=2)
            out[i, j] += np.linalg.norm(d, np.inf) + np.linalg.norm(d, ord=-np.inf)


def norms_of_matrices(a, b, out):
    for i in range(2):
        out[i, 0] = np.linalg.norm(a[i : i + 2, :3], 1) + np.linalg.norm(a[:2, :2], ord=2)


def both(function, *given):
    """What Python and what Frit makes of the same; Frit's function."""
    ours = frit.parallelize(function)
    results = []
    for called in (function, ours):
        own = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
        try:
            found = called(*own)
        except Exception as error:
            found = type(error), str(error)
        results.append((*own, found))
    return *results, ours


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("function", [products, by_methods, columns, norms, other_norms])
@pytest.mark.parametrize("size", [0, 1, 3, 8, 100, 129, 1000])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
def test_products_of_rows(function, size, dtype):
    rng = np.random.default_rng(size)
    a, b = (rng.standard_normal((2, 7, size)) * 50).astype(dtype)
    is_norm = function in (norms, other_norms)
    expected, got, ours = both(function, a, b, np.zeros((7, 7), "f8" if is_norm else dtype))
    assert runs_compiled(ours) or size == 0, frit.explain(ours)
    if dtype[0] in "iu" and not is_norm:
        assert np.array_equal(expected[2], got[2])
    else:  # BLAS has an order of its own
        bound = np.finfo("f4" if dtype == "f4" else "f8").eps * 4 * max(size, 1)
        scale = 1e3 if is_norm else 1e5
        np.testing.assert_allclose(got[2], expected[2], rtol=bound, atol=bound * scale)


def test_rows_of_different_lengths_are_an_error_as_in_numpy():
    expected, got, _ = both(products, np.ones((3, 4)), np.ones((3, 5)), np.zeros((3, 3)))
    assert expected[-1] == got[-1]
    assert expected[-1][0] is ValueError
    expected, got, _ = both(products, np.ones((3, 4)), np.ones((3, 1)), np.zeros((3, 3)))
    assert expected[-1] == got[-1]


def matrices(a, b, out):
    for i in range(2):
        out[i] += (a @ b)[i]


def with_a_number(a, b, out):
    for i in range(2):
        out[i] += np.matmul(a[i], b[0, 0])


def numbers_of_an_array(a, b, out):
    for i in range(len(b)):
        out[i] = np.dot(a, b[i])
        out[i] -= 2 * np.inner(b[i], a) - a.dot(b[i])


def numbers_of_pythons(a, b, out):
    for i in range(len(out)):
        out[i] = np.dot(i - 1, a) * 0.5
        out[i] += np.dot(a, 0.25 * i)


@pytest.mark.filterwarnings("ignore:invalid", "ignore:overflow")
@pytest.mark.parametrize("function", [numbers_of_an_array, numbers_of_pythons])
@pytest.mark.parametrize("size", [1, 2, 3, 50])
@pytest.mark.parametrize(
    "types", ["dd", "ff", "df", "fd", "dl", "fl", "ib", "Bl", "ld", "FF", "ee"]
)
def test_rows_times_numbers(function, size, types):
    special = [1.5, np.inf, -0.0, 0.0, np.nan, -3.0, 5e-324, -np.inf, 7.0]
    for begin in range(9 if types[0] in "fd" else 1):
        numbers = np.roll(special, begin) if types[0] in "fd" else np.arange(9.0)
        a = np.resize(numbers, size).astype(types[0])
        b = np.array([2.0, 0.0, -0.0, -1.0, 3.0, *special[begin % 3 :: 4]])[:7]
        b = b.astype(types[1]) if types[1] in "fd" else np.arange(-3, 4).astype(types[1])
        common = np.result_type(a, b if function is numbers_of_an_array else np.float64(1.5))
        expected, got, ours = both(function, a, b, np.zeros((7, size), common))
        assert expected[3] == got[3]
        assert np.array_equal(expected[2], got[2], equal_nan=common.kind != "i")
        assert np.array_equal(np.signbit(expected[2].real), np.signbit(got[2].real)) or (
            np.isnan(expected[2]).any()
        )
        is_compiled = common.char not in "eFD" and (size > 1 or common.kind == "i")
        assert runs_compiled(ours) == is_compiled, frit.explain(ours)


@pytest.mark.parametrize("function", [matrices, with_a_number, norms_of_matrices])
def test_other_products_stay_python(function):
    a = np.arange(16.0).reshape(4, 4)
    expected, got, ours = both(function, a, a, a)
    assert all(map(np.array_equal, expected[:3], got[:3]))
    assert not runs_compiled(ours)


def perceptron(x, y, w, rate):
    errors = 0
    for i in range(x.shape[0]):
        guess = 1 if np.dot(x[i], w) > 0 else 0
        if guess != y[i]:
            w += rate * (y[i] - guess) * x[i]
            errors += 1
    return w, errors


def halved(x, w):
    for row in x:
        w *= 0.5
        w -= row
    return w


def test_an_array_that_is_changed_in_place_remains_itself():
    rng = np.random.default_rng(8)
    x = rng.integers(-3, 4, (200, 6)) / 2
    y = (x.sum(1) > 0).astype(int)
    expected, got, ours = both(perceptron, x, y, np.zeros(6), 0.5)
    assert np.array_equal(expected[2], got[2])
    assert expected[-1][1] == got[-1][1]
    assert got[-1][0] is got[2]
    assert runs_compiled(ours)
    expected, got, ours = both(halved, x, np.ones(6))
    assert np.array_equal(expected[1], got[1])
    assert got[-1] is got[1]
    assert runs_compiled(ours)


def named_anew(x, w):
    for row in x:
        w = w * 0.5
        w -= row
    return w


def test_a_name_that_is_given_another_array_stays_python():
    expected, got, ours = both(named_anew, np.ones((5, 3)), np.ones(3))
    assert np.array_equal(expected[-1], got[-1])
    assert np.array_equal(got[1], np.ones(3))
    assert not runs_compiled(ours)


def test_errors_of_changes_in_place_are_numpys():
    whole = np.zeros(3, int)  # no float goes into it
    assert _same_error(halved, np.ones((4, 3)), whole)
    locked = np.zeros(3)
    locked.flags.writeable = False
    ours = frit.parallelize(halved)
    with pytest.raises(ValueError, match="read-only"):
        ours(np.ones((4, 3)), locked)
    assert _same_error(halved, np.ones((4, 3)), np.zeros(2))
    assert _same_error(halved, np.ones((4, 3)), np.zeros(1))


def _same_error(function, *given):
    expected, got, _ = both(function, *given)
    return expected[-1] == got[-1] and np.array_equal(expected[1], got[1])


def test_changes_in_place_of_what_the_rows_read():
    for cut in (lambda x: x[0], lambda x: x[2], lambda x: x.ravel()[1:7], lambda x: x[:, 0][:6]):
        x, y = (np.arange(36.0).reshape(6, 6) for _ in range(2))
        halved(x, cut(x))
        frit.parallelize(halved)(y, cut(y))
        assert np.array_equal(x, y)


def test_a_list_that_is_extended_in_place_stays_python():
    def grown(rows, w):
        for row in rows:
            w += [row.sum()]
        return w

    assert frit.parallelize(grown)(np.ones((3, 2)), []) == [2.0, 2.0, 2.0]
