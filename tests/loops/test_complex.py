"""test_complex.py: complex numbers in nests: Python's and NumPy's, to the bit."""

from __future__ import annotations

import cmath
import itertools
import sys
import warnings

import numpy as np
import pytest

import frit

from .test_loops import check, runs_compiled

SPECIAL = [0.0, -0.0, 1.0, -2.5, 1e-200, 3e200, np.inf, -np.inf, np.nan]
annex_g = pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="Python's own complex numbers stay Python there"
)


def sums(z, w, out):
    for i in range(len(z)):
        out[i] = z[i] + w[i]


def differences(z, w, out):
    for i in range(len(z)):
        out[i] = z[i] - w[i]


def products(z, w, out):
    for i in range(len(z)):
        out[i] = z[i] * w[i]


def quotients(z, w, out):
    for i in range(len(z)):
        out[i] = z[i] / w[i]


def squares(z, w, out):
    for i in range(len(z)):
        out[i] = z[i] ** 2


def cubes(z, w, out):
    for i in range(len(z)):
        out[i] = z[i] ** 3 + w[i] * 0


def fifth_powers(z, w, out):
    for i in range(len(z)):
        out[i] = z[i] ** 5


def twelfth_powers(z, w, out):
    for i in range(len(z)):
        out[i] = z[i] ** 12.0


POWERS = [squares, cubes, fifth_powers, twelfth_powers]


def with_numbers(z, w, out):
    for i in range(len(z)):
        out[i] = (-z[i] * 2.5 + (1 - 2j) * w[i]).conjugate() - 3 + z[i].imag


def with_reals(z, w, out):
    for i in range(len(z)):
        out[i] = z[i] * w[i].real + w[i].imag / z[i]


def same_bits(x, y):
    """NaN is NaN, whatever its sign; 0.0 is not -0.0."""
    x, y = (v.view(v.real.dtype) for v in (x, y))
    return np.array_equal(x, y, equal_nan=True) and np.array_equal(
        np.signbit(x[x == x]), np.signbit(y[y == y])
    )


@pytest.mark.parametrize("dtype", ["D", "F"])
@pytest.mark.parametrize(
    "function", [sums, differences, products, quotients, *POWERS, with_numbers, with_reals]
)
def test_numpys_complex_numbers_have_numpys_bits(function, dtype):
    random = np.random.default_rng(5)
    parts = random.normal(size=(4, 40))
    with np.errstate(all="ignore"):
        numbers = np.array([complex(*p) for p in itertools.product(SPECIAL, repeat=2)], dtype)
        z, w = (x.ravel() for x in np.meshgrid(numbers, numbers))
        z = np.concatenate([z, (parts[0] + 1j * parts[1]).astype(dtype)])
        w = np.concatenate([w, (parts[2] + 1j * parts[3]).astype(dtype)])
        expected, got = np.zeros_like(z), np.zeros_like(z)
        function(z, w, expected)
        parallel = frit.parallelize(function)
        parallel(z, w, got)
    assert runs_compiled(parallel), frit.explain(parallel)
    assert same_bits(expected, got), [
        (a, b, x, y) for a, b, x, y in zip(z, w, expected, got, strict=True) if str(x) != str(y)
    ][:5]


def of_python(x, y, p, q, out):
    for i in range(1):
        z = complex(x[0], y[0])
        out[0] = z
        out[1] = z * p + q
        out[2] = p - z * 2
        out[3] = -z - q * p
        out[4] = z.conjugate() + x[0]
        out[5] = p * y[0] + 1 - i
        out[6] = q / 3 - z / -2.5


@annex_g
def test_pythons_complex_numbers_have_pythons_bits():
    parallel = frit.parallelize(of_python)
    numbers = [complex(*p) for p in itertools.product(SPECIAL, repeat=2)]
    for p, q in zip(numbers, reversed(numbers), strict=True):
        for real, imaginary in [(-0.0, 0.0), (1.5, -np.inf), (2.0, -0.0)]:
            expected, got = np.zeros((2, 7), complex)
            given = np.array([real]), np.array([imaginary]), p, q
            with np.errstate(all="ignore"):
                of_python(*given, expected)
                parallel(*given, got)
            assert same_bits(expected, got), (*given, expected, got)
    assert runs_compiled(parallel), frit.explain(parallel)


def divided(p, q, out):
    for i in range(1):
        out[i] = p / (q + i)


@annex_g
def test_python_divides_by_the_larger_part():
    parallel = frit.parallelize(divided)
    random = np.random.default_rng(2)
    numbers = [complex(*p) for p in itertools.product(SPECIAL, repeat=2)]
    numbers += [complex(*p) for p in random.normal(size=(10, 2))]
    for p, q in itertools.product(numbers, repeat=2):
        expected, got = np.zeros((2, 1), complex)
        try:
            divided(p, q, expected)
        except ZeroDivisionError:
            continue
        parallel(p, q, got)
        assert same_bits(expected, got), (p, q, expected, got)
    assert sum(s.calls for s in parallel.__frit__.sites) == 91 * 87


def escapes(c, out, most):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z = 0j
            n = 0
            while n < most and abs(z) <= 2:
                z = z * z + c[i, j]
                n += 1
            out[i, j] = n


def escapes_by_squares(c, out, most):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z = 0
            for n in range(most):  # noqa: B007
                z = z**2 + c[i, j]
                if z.real * z.real + z.imag * z.imag > 4:
                    break
            out[i, j] = n


def test_a_variable_may_begin_as_pythons_0():
    c = np.linspace(-2, 0.5, 40) + 1j * np.linspace(-1.2, 1.2, 31)[:, None]
    for function in (escapes, escapes_by_squares):
        check(function, c, np.zeros(c.shape, int), 30, compiled=True)


def not_zero(c, out, start):
    for i in range(len(c)):
        z = start
        for _ in range(2):
            z = z * z + c[i]
        out[i] = z


@annex_g
def test_a_variable_may_be_pythons_first_and_then_numpys():
    c = np.array([1 + 1j, -0.0 - 0j, 0.5 - 2j])
    for start, compiled in [(1.5 - 1j, True), (0, True), (0.0, True), (1, False), (-0.0, False)]:
        check(not_zero, c, np.zeros(3, complex), start, compiled=compiled)


def transform(x, out):
    n = len(x)
    for k in range(n):
        s = 0j
        for j in range(n):
            s += x[j] * cmath.exp(-2j * cmath.pi * j * k / n)
        out[k] = s


def transform_by_numpy(x, out):
    n = len(x)
    for k in range(n):
        s = 0
        for j in range(n):
            s = s + x[j] * np.exp(-2j * np.pi * k * j / n)
        out[k] = s


def polar(x, out):
    for i in range(len(x)):
        w = cmath.rect(abs(x[i]), cmath.phase(x[i]))
        out[i] = w * np.exp(x[i]) + np.real(x[i]) - np.imag(w)


@annex_g
def test_transforms_and_polar_coordinates():
    random = np.random.default_rng(3)
    x = random.normal(size=24) + 1j * random.normal(size=24)
    for function in (transform, transform_by_numpy, polar):
        expected, got = np.zeros((2, 24), complex)
        function(x, expected)
        parallel = frit.parallelize(function)
        parallel(x, got)
        np.testing.assert_allclose(got, expected, rtol=1e-12)
        assert runs_compiled(parallel), frit.explain(parallel)
    # What is not finite has rules of its own, and Python's errors.
    for number in (800 + 1j, np.inf + 0j, np.nan + 0j, -np.inf + 1j, 1 + 1j * np.inf, 0j, -0j):
        check(polar, np.array([1j, number]), np.zeros(2, complex))
        check(transform_by_numpy, np.array([1j, number]), np.zeros(2, complex))


def total(z):
    s = 0j
    for i in range(len(z)):
        s += z[i]
    return s


def test_sums_of_complex_numbers_keep_their_type():
    z = np.arange(1000) - 1j * np.arange(1000)[::-1]
    check(total, z, compiled=True)
    check(total, z[:0], compiled=True)
    assert type(frit.parallelize(total)(z)) is np.complex128
    assert type(frit.parallelize(total)(z[:0])) is complex


def parts_by_attributes(z, t, out):
    count = 0
    for i in range(z.shape[0]):
        for j in range(3):
            out[i] += z.real[i, j] * 2 - z.imag[i, -1]
            if z.imag[i, j] > t:
                count += 1
    return count


@pytest.mark.parametrize("dtype", ["D", "F", "d", "f", "l"])
def test_parts_of_whole_arrays_are_indexed(dtype):
    z = (np.arange(600.0) * (0.5 - 0.25j)).real.astype(dtype).reshape(200, 3)
    if dtype in "DF":
        z += 1j * np.arange(200)[::-1, None]
    for given in (z, z[::-2], np.asfortranarray(z)):
        check(parts_by_attributes, given, 20, np.zeros(len(given)), compiled=dtype != "l")
    check(parts_by_attributes, z[:, :2], 20, np.zeros(200))  # IndexError


def into(z, out):
    for i in range(len(z)):
        out[i] = z[i]


def largest(z, out):
    for i in range(len(z)):
        if z[i] > out[0]:
            out[0] = z[i]


def sizes(z, out):
    for i in range(len(z)):
        w = complex(z[i].real, z[i].imag)
        out[i] = abs(w)


def python_squares(z, out):
    for i in range(len(z)):
        w = complex(z[i].real, z[i].imag)
        out[i] = w**2


def python_powers(z, out):
    for i in range(len(z)):
        w = complex(z[i].real, z[i].imag)
        out[i] = w**3 - w**4 + (w**3.0 - 1) / (3 * w**2.0) + w**11 * 1e-9


def python_cubes(z, out):
    for i in range(len(z)):
        out[i] = complex(z[i].real, z[i].imag) ** 3


def python_quotients(z, out):
    for i in range(len(z)):
        w = complex(z[i].real, z[i].imag)
        out[i] = 1 / w


def quotients_by_elements(x, p, out):
    for i in range(len(x)):
        out[i] = p / x[i]


def quotients_of_elements(x, p, out):
    for i in range(len(x)):
        out[i] = x[i] / p


@annex_g
def test_powers_of_pythons_complex_numbers():
    parts = np.random.default_rng(6).normal(size=(2, 300))
    z = parts[0] + 1j * parts[1]
    z[:4] = 1, 1j, -1, 2 - 0j
    check(python_powers, z, np.zeros(300, complex), compiled=True)
    check(python_cubes, np.append(z, [0j, -0.0 + 0j]), np.zeros(302, complex), compiled=True)


def scaled_row(z, out):
    for i in range(z.shape[0]):
        out[i] = z[i] * z[i]


def test_what_fails_or_is_not_translated_does_what_python_does():
    z = np.array([1 + 2j, 3 - 4j, 0j])
    check(into, z, np.zeros(3), compiled=False)  # complex into real: a warning of NumPy's
    check(largest, z, np.zeros(3, complex), compiled=False)
    check(sizes, z, np.zeros(3), compiled=True)
    huge = np.array([1 + 2j, 1e308 + 1.7e308j, 0j])
    check(sizes, huge, np.zeros(3))  # OverflowError
    check(python_squares, huge, np.zeros(3, complex))  # OverflowError
    check(python_cubes, np.array([1e103 + 0j]), np.zeros(1, complex))  # OverflowError
    check(python_quotients, z, np.zeros(3, complex))  # ZeroDivisionError
    check(python_quotients, z[:2], np.zeros(2, complex), compiled=True)
    # A complex number of Python's takes a float64 for a float of its own.
    check(quotients_by_elements, np.ones(3), 1j, np.zeros(3, complex), compiled=True)
    check(quotients_by_elements, np.zeros(3), 1j, np.zeros(3, complex))
    check(quotients_of_elements, np.ones(3), 1j, np.zeros(3, complex), compiled=True)
    check(quotients_of_elements, np.ones(3), 0j, np.zeros(3, complex))
    check(scaled_row, np.ones((3, 4)) * 1j, np.zeros((3, 4), complex))


def test_overflow_warns_once_behind_the_nest():
    z = np.full(10, 1e200 + 1e200j)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frit.parallelize(products)(z, z, np.zeros(10, complex))
    assert {str(w.message) for w in caught} == {
        "overflow encountered in a loop",
        "invalid value encountered in a loop",
    }


def add_rows(a, b, c, x):
    for i in range(a.shape[0]):
        a[i, :] += b[i] + c
        a[i, 1:] = a[i, 1:] - (x - c[1:])


def turn_rows(a, b, c, x):
    for i in range(a.shape[0]):
        a[i] = np.conj(c) - (-a[i])
        a[i, ::2] -= x + b[i]


def copy_rows(a, b, c, x):
    for i in range(a.shape[0]):
        a[i] = c
        a[i, :1] = x


@pytest.mark.parametrize("function", [add_rows, turn_rows, copy_rows])
@pytest.mark.parametrize("types", ["DDD", "FFF", "DdF", "FFf", "Ddd", "FdF"])
@pytest.mark.parametrize("x", [2, 0.5, 1j, np.complex64(1 - 2j), np.float32(3)])
def test_rows_of_complex_numbers(function, types, x):
    numbers = np.random.default_rng(5)

    def given(dtype, *shape):
        values = numbers.standard_normal(shape) + 1j * numbers.standard_normal(shape)
        return (values if dtype in "FD" else values.real).astype(dtype)

    for size in (1, 2, 3, 7, 8, 9, 33):
        for step in (1, 2, -1):
            shapes = [(3, size * abs(step)), (3,), (size * abs(step),)]
            parts = [given(t, *s) for t, s in zip(types, shapes, strict=True)]
            check_rows(function, parts, step, x)


def check_rows(function, parts, step, x):
    """With the rows' elements `step` apart."""

    def arguments():
        a, b, c = (part.copy() for part in parts)
        return a[:, ::step], b, c[::step], x

    expected, got = arguments(), arguments()
    function(*expected)
    called = frit.parallelize(function)
    called(*got)
    assert [s.calls for s in called.__frit__.sites] == [1], called.__frit__.sites[0].refused
    np.testing.assert_array_equal(expected[0], got[0])


def row_total(a, out):
    for i in range(len(a)):
        out[i] = a[i].sum()


def scaled_rows(a, out):
    for i in range(len(a)):
        out[i] = a[i] * 2.0


def to_reals(a, out):
    for i in range(len(a)):
        out[i] = a[i] + 1


@pytest.mark.parametrize(
    ("function", "dtype"), [(row_total, "D"), (scaled_rows, "D"), (to_reals, "d"), (to_reals, "l")]
)
def test_rows_of_complex_numbers_that_stay_python(function, dtype):
    """NumPy's products may be fused, or not; its casts to real numbers warn."""
    a = np.arange(12).reshape(3, 4) * (1 - 1j)
    out = np.zeros(3 if function is row_total else (3, 4), dtype)
    expected = out.copy()
    called = frit.parallelize(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        function(a, expected)
        called(a, out)
    assert not any(s.calls for s in called.__frit__.sites)
    np.testing.assert_array_equal(expected, out)
