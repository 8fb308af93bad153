"""test_warnings.py: which operations warn, and in which words, on few and on many elements."""

from __future__ import annotations

import operator
import warnings

import numpy
import pytest

import frit.numpy
from frit import _core

SETUP = """
x = np.array(np.arange(n) * 1.0)
x[0], x[1] = np.nan, np.inf
zero, one, whole = np.zeros(n), np.ones(n), np.zeros(n, "i8")
large, huge, long = one * 3e9, one * 1e300, np.full(n, 1e308)
complex_huge = huge * (1 + 2j)
lowest, lowest_1 = np.full(n, -(2**63)), np.full(n, -128, "i1")
even = np.arange(n) % 2 == 0
i8, i1, f4, f2 = (np.zeros(n, t) for t in ("i8", "i1", "f4", "f2"))
"""

STATEMENTS = [
    # conversions
    "x.astype(int)",
    "x.astype('i1')",
    "x.astype('u8')",
    "(-x).astype('u8')",
    "x.astype('u4')",
    "x.astype(bool)",
    "x.astype('f4')",
    "x.astype('f4').astype(int)",
    "x.astype('f2').astype('u1')",
    "x.astype('f2').astype('u4')",
    "large.astype('i4')",
    "large.astype('i1')",
    "large.astype('u4')",
    "(one * 300).astype('u1')",
    "(one * 1e19).astype('u8')",
    "(one * 2e19).astype('u8')",
    "(one * -1e19).astype('u8')",
    "huge.astype('f4')",
    # what is made of numbers alone
    "np.arange(n) * 1e308 * 10",
    "1.0 / np.arange(n)",
    "np.log(np.arange(n) - 1.0).sum()",
    "(np.linspace(0, 1e308, n) * 1e3).max()",
    "(np.arange(n) * 1e19).astype('i4')",
    "huge.astype('f2')",
    "huge.astype('F')",
    "complex_huge.astype('F')",
    "(whole + 100_000).astype('f2')",
    "(one * 1e-300).astype('f4')",
    "i8[...] = x",
    "i8[1:] = x[:-1]",
    "i1[:] = x",
    "i8[even] = x[even]",
    "i8[[0, 1]] = x[:2]",
    "f4[...] = huge",
    "f4[1] = 1e300",
    "np.copyto(i8, x, casting='unsafe')",
    "np.array(x, dtype=int)",
    "np.where(even, x, 0).astype(int)",
    "np.floor(x).astype('i8')",
    "f4 + 1e300",
    "np.add(f4, 1e300)",
    "f2 + 70000.0",
    # conversions inside an operation
    "np.add(huge, huge, out=f4, casting='same_kind')",
    "np.multiply(x, 2, out=i8, casting='unsafe')",
    "np.maximum(huge, 0, out=f4)",
    "f4 += huge",
    "f2 += huge",
    "huge.sum(dtype='f4')",
    # what follows a reduction in the same kernel
    "np.var(x[:2].reshape(1, 2), axis=-1, ddof=1)",
    "np.var(np.stack([x, -x, one]), axis=0)",
    "np.std(np.stack([x, -x, one]), axis=0)",
    "np.std(np.stack([x, -x, one]) * 1.0, axis=1)",
    "np.var(np.stack([huge, -huge, one]), axis=0)",
    "np.var(np.stack([long, long, one]), axis=(0, 1))",
    "(lambda e: e / e.sum(axis=1, keepdims=True))(np.exp(np.stack([large, x])))",
    "np.stack([x, zero]) - np.stack([x, zero]).mean(axis=1, keepdims=True)",
    # division
    "np.remainder(x, 0.0)",
    "np.remainder(huge, 0.0)",
    "huge % 0.0",
    "zero % 0.0",
    "x % x",
    "np.fmod(huge, 0.0)",
    "x %= zero",
    "x %= (one * np.inf)",
    "one //= x",
    "huge %= zero",
    "huge //= zero",
    "x //= one",
    "x *= np.inf; x //= zero",
    "x *= np.inf; x //= one",
    "np.floor_divide(x, 0.0)",
    "huge // 0.0",
    "zero // 0.0",
    "huge // 1e-300",
    "x // 1.0",
    "divmod(huge, 0.0)",
    "divmod(x, 1.0)",
    "np.divmod(huge, 0.0)",
    "whole // 0",
    "whole % 0",
    "divmod(whole, 0)",
    "np.fmod(whole, 0)",
    "i1 // i1",
    "i1 % i1",
    "i1 //= (i1 > 0)",
    "i1 %= i1",
    "whole //= 0",
    "lowest // -1",
    "lowest // (whole - 1)",
    "lowest // (even * 1 - 1)",
    "lowest_1 // np.int8(-1)",
    "lowest_1 // lowest_1",
    "lowest // 7",
    "(lowest + 1) // -1",
    "np.fmod(lowest, -1)",
    "lowest % -1",
    "divmod(lowest, -1)",
    "lowest //= -1; whole //= 0",
    "np.floor_divide(lowest, -1, out=whole, where=whole > 0)",
    "np.floor_divide.reduce(np.array([-128, -1], 'i1'))",
    "np.reciprocal(whole)",
    "np.reciprocal(i1)",
    "np.reciprocal(zero)",
    "whole / 0",
    "whole / whole",
    "1 / zero",
    "complex_huge / 0",
    "1 / complex_huge",
    "c = np.full(n, 1 + 2j, 'F')[1:]; c /= zero[1:].astype('F')",
    "c = np.full(n, 1 + 2j, 'F')[1:]; c /= one[1:].astype('F')",
    "c = np.full(n, 1 + 2j, 'F')[1:]; c /= even[1:]",
    "c = np.full(n, 1 + 2j)[1:]; c /= zero[1:]",
    "c = np.full(n, 1 + 2j)[1:]; c /= even[1:]",
    "c = np.full(n, 1 + 2j)[1:]; c /= 1j * even[1:]",
    "c = np.full(n, 1e300j)[1:]; c /= one[1:] + 1e-300j",
    # what errs in another way at the end
    "np.log(-one * (np.arange(n) < n - 1)) * np.sqrt(-one)",
    "(one - 2) ** 0.5 + 1 / (np.arange(n) < n - 1)",
    "np.sqrt(-one) * (huge * (np.arange(n) == n - 1)) * huge",
    # only what is chosen warns
    "np.divide(one, even, out=np.zeros(n), where=even)",
    "np.divide(one, even, out=one, where=even)",
    "np.divide(one, f4, out=np.zeros(n), where=f4 > 0)",
    "np.divide(one, zero, out=np.zeros(n), where=even)",
    "np.subtract(x, x, out=np.zeros(n), where=x < 9)",
    "np.multiply(x, 0.0, out=np.zeros(n), where=x < 9)",
    "np.multiply(long, 10, out=np.zeros(n), where=x > n)",
    "np.divide(zero + 1j, zero, out=np.zeros(n, 'D'), where=~even & even)",
    "np.log(zero, out=np.ones(n), where=zero > 0)",
    "np.arctanh(one / 2, out=np.zeros(n), where=even)",
    "np.arctanh(f4, out=np.zeros(n, 'f4'), where=even)",
    "np.reciprocal(zero, out=np.zeros(n), where=one < 0)",
    "np.power(zero, -1.0, out=np.ones(n), where=zero > 0)",
    "np.floor_divide(one, zero, out=np.zeros(n), where=zero > 0)",
    "np.where(even, 1 / np.where(even, one, 0 * one), 0)",
    "np.where(even, 1 / np.where(even, 0 * one + even, one), 0)",
    # the rest
    "np.sign(x)",
    "np.sign(complex_huge * np.inf)",
    "np.sign(x + 1j)",
    "np.spacing(x)",
    "np.spacing(f4 + np.float32(np.inf))",
    "np.log(zero)",
    "np.log(zero - 1)",
    "np.power(zero, -1.0)",
    "zero ** -1",
    "huge ** 2",
    "huge ** 3",
    "(zero - 1) ** 0.5",
    "np.arctanh(one)",
    "np.exp(huge)",
    "np.sin(x)",
    "np.hypot(long, long)",
    "np.maximum(x, zero)",
    "x < zero",
    "np.isnan(x)",
    "np.rint(x)",
    "np.clip(x, 0, 1)",
    "np.nextafter(one * np.finfo('f8').max, np.inf)",
    "np.modf(x)",
    "np.abs(long * (1 + 1j))",
    "(x + 0j) < 2",
    "(1j * x + 2) >= 2",
    "(1j * x + 3) > 2",
    "(x + 1j * x) == 2",
    "np.maximum(x + 1j * x, 0)",
    "np.frexp(x)",
    "np.logaddexp(x, one)",
    "np.logaddexp2(f4, x)",
    "np.nextafter(one, x)",
    "np.power(zero, -np.inf)",
    "np.power(f4, np.float32(-np.inf))",
    "np.logaddexp(1.7 * long, -1.7 * long)",
    "np.logaddexp2(f4 + 3e38, f4 - 3e38)",
    "np.reciprocal(np.full(n, complex(0, np.nan)))",
    "np.reciprocal(np.full(n, complex(1.7e308, 1.7e308)))",
    "np.sign(np.full(n, complex(1.7e308, 1.7e308)))",
    "np.spacing(np.full(n, np.nan, 'f2'))",
    "divmod(f4 + 1, 1e300)",
    "(1 + f2) // np.float16(6e-8)",
    # reductions and scans
    "long.sum()",
    "long.mean()",
    "huge.prod()",
    "np.add.reduce(long)",
    "x.sum()",
    "(x - x).sum()",
    "np.array([np.inf, -np.inf] * n).sum()",
    "(f4 + np.float32(3e38)).sum()",
    "(np.float32(3e38) * (np.arange(16) == 11)).sum()",
    "np.cumsum(long)",
    "np.hypot.accumulate(x)",
    "np.fmod.accumulate(huge)",
    "np.floor_divide.accumulate(i1)",
    "np.floor_divide.accumulate(np.stack([one, huge * 1e8, zero]), axis=0)",
    "np.power.accumulate(np.stack([zero, -one, x]), axis=0)",
    "np.power.accumulate(one)",
    "np.cumprod(huge)",
    "np.add.accumulate(long)",
    "np.dot(huge, huge)",
    "huge @ huge",
    "np.vdot(huge, huge)",
    "np.vdot(x, zero)",
    "np.vdot(huge.reshape(1, n), complex_huge.reshape(n, 1))",
    "np.vdot(f2 + 60000, f2 + 60000)",
]

# What overwrites its inputs, so that only the results tell what was raised.
IN_PLACE = [
    "whole[::2] //= 0",
    "np.log(zero, out=zero)",
    "np.log1p(-one, out=one)",
    "np.arctanh(one, out=one)",
    "np.arccos(long, out=long)",
    "np.cos(long, out=long)",
    "np.floor_divide(zero, long, out=zero)",
    "one[1] = 0; x[...] = 3; x[:2] = 0, 1.7e308; np.floor_divide(one, x, out=one)",
    "one[0] = np.inf; x[...] = 1.7e308; np.floor_divide(one, x, out=one, where=one < 9)",
    "np.reciprocal(i1, out=i1)",
    "x *= 2; np.log(zero, out=one, where=even)",
    "np.exp(x, out=zero, where=even)",
    "np.exp(huge, out=zero, where=even)",
    "np.divide(one, zero, out=one); np.sqrt(x, out=x)",
    "x[...] = 1; x /= zero; x *= 2",
    "x[...] = 1; x /= x > 5; x += 2; x = x - 1",
    "np.exp(x, out=x)",
    "np.exp2(x, out=x)",
    "np.sinh(x, out=x)",
    "np.cosh(x, out=x)",
    "np.hypot(x, one, out=x)",
    "np.nextafter(x, one, out=x)",
    "np.nextafter(one, x, out=one)",
    "np.spacing(x, out=x)",
    "f2[...] = x; np.nextafter(f2, f2 + 1, out=f2)",
    "f2[...] = x; np.exp2(f2, out=f2)",
    "f2[...] = x; np.sin(f2, out=f2)",
    "f2 -= 1; np.log2(f2, out=f2)",
    "f2[...] = x; f2 += one",
    "f2[...] = 70000 * one; f2 *= one",
    "zero **= -1.0",
    "np.power(zero, -one, out=zero)",
    "np.power(zero, -one, out=one)",
    "f4 **= np.float32(-2)",
    "np.float_power(zero, -one, out=zero)",
    "huge **= 2 * one",
    "huge[0] = 0; huge **= -one",
    "x **= one",
    "np.logaddexp(long * 1.7, -1.7 * one * 1e308, out=one)",
    "long *= 1.7; np.logaddexp(long, -long, out=long)",
    "c = np.full(n, 1.7e308 + 0j); np.sqrt(c, out=c)",
    "c = np.zeros(n, 'D'); np.sign(c, out=c)",
    "c = np.full(n, 1e-300j); c **= 1e300 + 1e300j",
    "c = np.full(n, 1e20j, 'F'); c *= c; c += 0.5 - 0.5j",
    "c = np.full(n, 1e200 + 1e200j); c *= c; c = 1 - c",
    "c = np.full(n, 1e300 + 1j); np.exp(c, out=c); c += 1",
    "huge *= huge; huge += 1; huge -= 2",
    "huge *= 1; huge += 1e308",
    "f4 += 3e38; f4 *= f4; f4 -= 7",
    "f2[...] = 300; f2 *= f2; f2 += 15",
    "c = np.full(n, 0.5 + 0j); c[1] = 1; np.square(c, out=c); c += -1; result = np.abs(c)",
    "c = np.full(n, 0.5j, 'F'); c[1] = 1; c *= c; c -= 1; result = np.abs(c)",
    "one[1] = np.nan; one *= 0.5; result = one < x",
    "one[1] = np.nan; one += 1; one /= 3; result = np.maximum(one, x)",
    "one[1] = np.nan; one -= one * 0.5; np.square(one, out=one); result = one > 0.5",
    "one[1] = np.inf; one *= 0.0; result = one < x",
    "one[1] = np.inf; one -= np.inf; result = one < x",
    "f4[1] = np.inf; f4 *= np.float32(1e-30); f4 *= np.float32(1e-50); result = f4 < 1",
    "f2[...] = 65504; np.add(f2, 1000, out=f2, dtype='f4', casting='unsafe')",
]


def warned(module, statement, n):
    scope = {"np": module, "n": n}
    exec(SETUP, scope)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(f"result = ({statement})" if _is_value(statement) else statement, scope)
        for name in ("result", "i8", "i1", "f4", "f2", "x", "c", "huge", "whole", "lowest"):
            value = scope.get(name)
            for part in value if isinstance(value, tuple) else [value]:
                numpy.asarray(part)
    return [str(w.message) for w in caught]


def _is_value(statement):
    try:
        compile(statement, "", "eval")
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("n", [3, 5000])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_same_operations_warn_in_the_same_words(statement, n, tier):
    import frit.numpy

    assert set(warned(frit.numpy, statement, n)) == set(warned(numpy, statement, n))


@pytest.mark.parametrize("n", [5, 70_000])
@pytest.mark.parametrize("statement", IN_PLACE)
def test_operations_in_place_warn_in_the_same_words_and_order(statement, n, tier):
    import frit.numpy

    assert warned(frit.numpy, statement, n) == warned(numpy, statement, n)


@pytest.mark.parametrize("statement", ["x / zero", "np.multiply(f4 + 1e38, x * 1e300, out=f4)"])
def test_the_warnings_of_one_operation_come_in_numpys_order(statement, tier):
    import frit.numpy

    assert warned(frit.numpy, statement, 4) == warned(numpy, statement, 4)


# A result that does not fit the narrower output: of elements that a mask may leave out.
MASKED = [
    "np.multiply(x + 1, 1e300, out=f4, where={})",
    "np.rint((x + 1) * 1e300, out=f4, where={})",
    "np.true_divide(x, zero, out=f4, where={})",
    "np.multiply(x + 1, 1e300, out=i8, casting='unsafe', where={})",
    "np.power(x + 1, 200.0, out=f4, where={})",
    "np.copyto(f4, x * 1e300 + 1e300, where={})",
    "np.copyto(i8, x / zero, where={}, casting='unsafe')",
    "np.copyto(i8, x[:1] / zero[:1], where={}, casting='unsafe')",
    "f4[np.broadcast_to({}, f4.shape)] = np.array([1e300])",
]


@pytest.mark.parametrize("n", [4, 20_000])
@pytest.mark.parametrize("mask", ["x < 0", "x < 1", "[True]"])
@pytest.mark.parametrize("statement", MASKED)
def test_elements_that_a_mask_leaves_out_are_not_converted(statement, mask, n, tier):
    import frit.numpy

    statement = statement.format(mask)
    assert warned(frit.numpy, statement, n) == warned(numpy, statement, n)


CONVERTED = [
    "np.add(x, x, {})",
    "np.add(x, 1, {})",
    "np.add(y, x.ravel()[:1], {})",
    "np.sqrt(x, {})",
]


@pytest.mark.parametrize("shape", [(4,), (3, 4), (1, 1), (8192,), (8193,), (100, 100), (2, 1, 3)])
@pytest.mark.parametrize("call", CONVERTED)
def test_operands_of_several_axes_are_converted_inside_the_loop(call, shape, recorded):
    import frit.numpy

    seen = []
    for np in (numpy, frit.numpy):
        x, y = np.array(numpy.full(shape, 1e300)), np.array(numpy.ones(shape))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            numpy.asarray(eval(call.format("dtype='f4'"), {"np": np, "x": x, "y": y}))
        seen.append({str(w.message) for w in caught})
    assert seen[0] == seen[1]


def test_a_raised_error_is_that_of_the_conversion():
    import frit.numpy as np

    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="invalid value.*cast"):
        np.array([1.0, np.nan]).astype(int)
    with np.errstate(over="ignore"):
        assert numpy.isinf(numpy.asarray(np.array([1e300]).astype("f4")))[0]


@pytest.mark.parametrize("n", [1, 3, 5000])
@pytest.mark.parametrize("dtype", ["F", "D"])
@pytest.mark.parametrize(
    "divisor", [1, 0, complex(numpy.nan, 0), complex(0, numpy.nan), 1j, -1e308]
)
def test_complex_divisions_warn_as_numpys_steps_do(divisor, dtype, n, tier):
    import frit.numpy

    def warned(np, number):
        with numpy.errstate(all="ignore"):
            x, y = (np.array(numpy.full(n, value).astype(dtype)) for value in (number, divisor))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            str((x / y)[0])
        return sorted(str(w.message) for w in seen)

    infinity, nan = numpy.inf, numpy.nan
    for number in (1, 0, nan, 1j * nan, infinity, complex(infinity, nan), 1e308 + 1e308j, 1e-300):
        assert warned(frit.numpy, number) == warned(numpy, number), number


DIVISIONS = [
    "x / np.nan",
    "x / complex(1, np.nan)",
    "x / x",
    "x /= x",
    "x /= 2",
    "np.reciprocal(x)",
]


@pytest.mark.parametrize("statement", DIVISIONS)
@pytest.mark.parametrize("number", [2, complex(numpy.nan, 1), complex(1, numpy.nan)])
@pytest.mark.parametrize("dtype", ["F", "D"])
@pytest.mark.parametrize("n", [1, 3, 5000])
def test_a_complex_divisor_that_is_no_number_is_invalid(n, dtype, number, statement, recorded):
    import frit.numpy

    seen = []
    for np in (numpy, frit.numpy):
        x = np.array(numpy.full(n, number).astype(dtype))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            exec(f"r = {statement}" if _is_value(statement) else statement, {"np": np, "x": x})
        seen.append([str(w.message) for w in caught])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("form", ["x ** y", "x ** y[0]", "np.power(x, y, out=x)"])
@pytest.mark.parametrize("n", [1, 5000])
@pytest.mark.parametrize("dtype", ["F", "D"])
def test_a_complex_power_that_is_no_number_is_compared(dtype, n, form, tier):
    import frit.numpy

    def warned(np, number, exponent):
        x, y = (np.array(numpy.full(n, value).astype(dtype)) for value in (number, exponent))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            result = str(eval(form, {"np": np, "x": x, "y": y})[0])
        return result, [str(w.message) for w in seen]

    nan = numpy.nan
    for number in (2, 1j, nan, complex(nan, 1), 0, numpy.inf):
        for exponent in (nan, complex(nan, 1), complex(1, nan), complex(nan, nan)):
            expected = warned(numpy, number, exponent)
            assert warned(frit.numpy, number, exponent) == expected, (number, exponent)


def outcome(np, program):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        _core.let_float_errors_come_late()  # as they do where nobody asks for them
        space = {"np": np}
        try:
            exec(program, space)
            result = repr(numpy.asarray(space["r"]).tolist())
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    return result, [str(w.message) for w in seen]


NUMBERS = ["np.zeros(3, '{}').max()", "(np.arange(3) * 50).astype('{}').max()"]
TYPES = ["b", "h", "i", "l", "B", "H", "I", "L", "e", "f", "d"]


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%"])
def test_numbers_still_to_be_computed_warn_as_numpys_scalars(op, recorded):
    import frit.numpy

    scalars = [text.format(t) for text in NUMBERS for t in TYPES]
    others = [*scalars, "(np.zeros(3) > 1).any()", "True", "-7", "0", "2.5", "0.0"]
    for left in scalars:
        for right in others:
            for a, b in ((left, right), (right, left)):
                program = f"a = {a}; b = {b}; r = a {op} b"
                assert outcome(frit.numpy, program) == outcome(numpy, program), program


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**", "divmod"])
def test_numpys_own_scalars_beside_such_numbers_warn_as_numpys_do(op, recorded):
    import frit.numpy

    form = "divmod({}, {})" if op == "divmod" else "{} " + op + " {}"
    for left in (f"np.dtype('{t}').type({number})" for t in TYPES for number in (0, 1, 100)):
        for right in (text.format(t) for text in NUMBERS for t in TYPES):
            pair = (right, left) if op != "**" else (left, right)
            for program in ("r = " + form.format(left, right), "r = " + form.format(*pair)):
                assert outcome(frit.numpy, program) == outcome(numpy, program), program


@pytest.mark.parametrize("op", ["+", "*", "//", "%"])
def test_errors_of_numpys_own_scalars_beside_such_numbers_are_theirs(op, recorded):
    import frit.numpy

    for number in ("np.int64(0)", "np.float32(1e38)", "np.int8(100)", "np.float64(1e308)"):
        for right in (text.format(t) for text in NUMBERS for t in TYPES):
            program = f"b = {right}\nwith np.errstate(all='raise'): r = {number} {op} b"
            assert outcome(frit.numpy, program) == outcome(numpy, program), program


# What they were given is gone when they have run.
OVERWRITTEN = [
    "a = np.full((), 0.1); a %= big.min(); a -= a**2; r = a",
    "a = np.array([1.0, 0, 3]); a /= big.min(); a -= a * 2; r = a",
    "a = np.array([1.0, 0, 3]); a *= big.min(); a /= a; a += a; r = a",
    "a = np.array([1.0, 0, 3]); a /= big.min(); a -= a[::-1]; r = a",
    "a = np.array([1e300, 0, 3]); a *= big.max() * 1e305; a -= a; a /= 2; r = a",
    "a = np.array([1.0, 0, 3]); a //= big.min(); a *= 2; np.sqrt(a, out=a); r = a",
    "a = np.array([1.0, 0, 3], 'f'); a /= big.min(); a %= a; a -= a; r = a",
]


OVERWRITTEN_LARGE = [
    "r = np.zeros((131, 130), 'i8'); r[:, 106:114] = (r[:, 76:84] // r[:, :16:2]) % (3 - r[:, :8])",
    "r = np.zeros((70, 90)); r[:, :8] = (r[:, 8:16] / r[:, 16:24]) + r[:, 24:32] ** 2.5",
    "r = np.zeros((70, 90)); r[:, :8] = 1 / r[:, 9:17].sum(1, keepdims=True) - np.inf",
    "b = big - 0; b -= b**2; c = 1 / (b * 1.0); c -= b**0; r = c",
    "b = big - 0; b -= b**2; c = 1 / (b * 1.0); c *= abs(b) ** 2.5; r = np.isnan(c)",
    "r = np.arange(4270.0).reshape(70, 61); r %= (r // -1) // np.reciprocal(r * 1.0)",
    "r = np.arange(9_000.0); r /= r[0]; r -= r; r *= 1e200; r *= 1e200",
    "r = np.arange(9_000.0); r -= np.inf; r += 1 / (r * 0); r %= 3",
]


@pytest.mark.parametrize("program", OVERWRITTEN + OVERWRITTEN_LARGE)
def test_arrays_that_were_overwritten_name_the_operation(program, tier, recorded):
    import frit.numpy

    program = f"big = np.arange(20_000.0); {program}"
    expected, seen = outcome(numpy, program)
    result, heard = outcome(frit.numpy, program)
    assert (result, set(heard)) == (expected, set(seen))


# Arrays z, c of n elements, of which NumPy compares NaNs without a word unless they are complex.
NANS_OVERWRITTEN = [
    """for _ in range(6):
    z = np.add(np.multiply(z, z), c)
    far = np.absolute(z) >= 1.5
    count[far] = 2
    z[np.absolute(z) >= 1.5] = np.nan
r = z""",
    "z += c; z[np.absolute(z) > 1.5] = np.nan; z *= z; near = np.absolute(z) < 1; z -= c; r = near",
    "z += c; z[3:9] = np.nan; z *= c; m = np.absolute(z) <= 1; z -= np.where(m, c, 1); r = z",
    "z += c; z[3:9] = np.nan; z *= c; m = np.absolute(z.imag) > z.real; z[m] = 0; z -= c; r = z",
    "z[5:7] = np.nan; z -= 1; z = np.maximum(z, c); z -= c; r = z",
    "z[5] = np.nan; m = z == c; z *= c; z += np.isnan(z); r = [m, z]",
]
# Which operation was invalid is known of arrays that are kept until the flags are read.
NANS_COMPARED_WITH_A_WORD = [
    "z[5] = np.nan; m = z < c; z *= c; r = [m.sum(), z]",
    "z[5] = np.nan; z *= c; m = c >= z; z += 1; r = [m.sum(), z]",
    "z[5] = np.nan; z *= c; m = (c > z) & (z <= c); z += 1; r = [m, z]",
    "z[5] = np.inf; z -= z.real.max(); m = np.absolute(z) > 1; z *= c; r = [m, z]",
]


@pytest.mark.parametrize("t", "efdFD")
@pytest.mark.parametrize(
    "program, n",
    [
        *((program, n) for program in NANS_OVERWRITTEN for n in (9, 20_000, 150_000)),
        *((program, n) for program in NANS_COMPARED_WITH_A_WORD for n in (9, 20_000)),
    ],
)
def test_nans_that_are_compared_beside_what_overwrites_them(program, n, t, tier, recorded):
    import frit.numpy

    setup = f"""z, count = np.zeros({n}, "{t}"), np.ones({n})
c = np.linspace(-2, 1, {n}).astype("{t}")
if "{t}" in "FD": c += np.linspace(-1.5, 1.5, {n}, dtype="{t}") * 1j
"""
    expected, seen = outcome(numpy, setup + program)
    result, heard = outcome(frit.numpy, setup + program)
    assert (result, set(heard)) == (expected, set(seen))


@pytest.mark.parametrize("t", TYPES)
def test_signs_of_numbers_still_to_be_computed_warn_as_numpys_scalars(t, recorded):
    import frit.numpy

    for text in (*NUMBERS, "np.full(3, np.iinfo('{}').min).max()" if t in "bhiBHIL" else "0"):
        for sign in ("-", "abs"):
            program = f"x = {text.format(t)}; r = {sign}(x)"
            assert outcome(frit.numpy, program) == outcome(numpy, program), program


NANS = "x = np.ones(n, t); x[n // 2] = np.nan; y = x * 2; "
COMPARED = [
    "y.min()",
    "y.max()",
    "(y < 3)",
    "np.fmin(y, 3)",
    "np.maximum(y, 3)",
    "np.clip(y, 0, 1)",
]
SUMMED = ["y.sum()", "y.prod()", "y.mean()", "y.var()", "y.reshape(1, n).sum(0)", "(y * 3).sum()"]


@pytest.mark.parametrize("n", [1, 5, 20_000])
@pytest.mark.parametrize("t", ["f", "d"])
def test_a_sum_of_nans_is_valid_beside_comparisons_of_them(t, n, tier, recorded):
    import frit.numpy

    setup = f"n, t = {n}, '{t}'; {NANS}"
    for compared in COMPARED:
        for summed in SUMMED:
            for first, second in ((compared, summed), (summed, compared)):
                program = f"{setup}p = {first}; q = {second}; r = p + q"
                assert outcome(frit.numpy, program) == outcome(numpy, program), program
    program = f"{setup}y[:] = np.inf; y[0] = -np.inf; p = y.min(); q = y.sum(); r = p + q"
    assert outcome(frit.numpy, program) == outcome(numpy, program)


@pytest.mark.parametrize(
    "program",
    [
        "c = 1 / a; b = np.ones(9); s = float(b.sum()); r = c.sum()",
        "c = a / a; b = np.full((3, 3), 2)[np.array([2, 0])]; r = c",
        "c = 1 / a; r = [c.sum() + 1, c.max() * 2, (c * 3).min()]",
        "c = 1 / a; r = [float(c.sum()), float(c.max()), c.tolist()]",
        "c = a - np.inf; d = c + np.inf; r = [float((d + c).sum()), float(d.sum())]",
        "c = np.arange(9) * 1e308; s = float(np.ones(9).sum()); r = (c * 2).sum()",
        "a = np.linspace(-1, 3, 481); np.floor(a, out=a); r = (a // a) * (a * a)",
    ],
)
def test_what_is_not_stored_at_once_warns_once_by_its_own_name(program, tier, recorded):
    import frit.numpy

    before = _core.set_postponed_bytes(1)
    program = f"a = np.zeros(9); {program}"
    try:
        for _ in range(6):
            assert outcome(frit.numpy, program) == outcome(numpy, program)
    finally:
        _core.set_postponed_bytes(before)


DIVIDED = ["i // {}", "i % {}", "np.fmod(i, {})", "np.divmod(i, {})[0]", "(i > 2) // {}"]
DIVIDED += ["i.astype('i1') // {}", "i.astype('u2') % {}", "z // {}", "z / {}"]
DIVIDED += ["1 // {}", "1.0 / {}"]


@pytest.mark.parametrize("n", [9, 30_000])
@pytest.mark.parametrize("divisor", ["(i > i[::-1])", "(i != 1).astype(int)", "(z > 1) * 1"])
def test_a_division_by_a_condition_warns(divisor, n, tier, recorded):
    import frit.numpy

    for text in DIVIDED:
        program = f"i = np.arange({n}); z = np.zeros({n}); r = {text.format(divisor)}"
        assert outcome(frit.numpy, program) == outcome(numpy, program), program


# NumPy has loops for vectors and values of their type; else it speaks of "at".
@pytest.mark.parametrize("f", ["add", "multiply", "divide", "floor_divide", "power"])
@pytest.mark.parametrize("t", ["e", "f", "d", "F", "b", "l"])
def test_ufunc_at_warns_in_numpys_name(f, t):
    import frit.numpy

    for array in ("np.array([3, 1, 2], '{}')", "np.array([[3], [1], [2]], '{}')"):
        for value in ("0", "0.0", "True", "np.zeros((), '{}')", "np.zeros(2, '{}')"):
            program = f"r = {array.format(t)}; np.{f}.at(r, [0, 1], {value.format(t)})"
            if t in "efdF" and f in ("add", "multiply"):
                program = program.replace("[3", "[np.inf").replace(
                    "zeros", "float64(-np.inf) * np.ones"
                )
            assert outcome(frit.numpy, program) == outcome(numpy, program), program


def told(python, *words):
    """The texts of a program's warnings."""
    errors = python(*words).stderr.splitlines()
    return [line.partition("Warning: ")[2] for line in errors if "Warning: " in line]


@pytest.mark.parametrize("n", [50, 100_001])
@pytest.mark.parametrize(
    "statement",
    [
        "np.nansum(np.log(x) * x)",
        "np.nansum(np.arctanh(abs(x)) + 1)",
        "np.nansum(np.fmod(x, x - x) * 2)",
        "np.nansum(x % (x - x) * 2)",
        "np.sum(np.where(x > 0, i8 // (i8 - i8), 1))",
        "np.sum(np.where(x > 0, 1 / (x - x), 1))",
        "np.sum(x * x * 1e308 + np.sqrt(x))",
    ],
)
def test_a_kernels_warnings_are_its_operations(statement, n, python, file):
    program = f"""
    import numpy as np
    x = np.linspace(-1, 1, {n} | 1)
    i8 = np.arange(x.size)
    print({statement} > 0)
    """
    path = file("program.py", program)
    assert set(told(python, "-m", "frit", path)) == set(told(python, path))


@pytest.mark.parametrize(
    "line",
    [
        "a = y.sum(); b = np.fmin.reduce(x)",
        "a = y.mean(); b = np.nanmax(y)",
        "a = (y * 2).prod(); b = np.fmax.reduce(y)",
        "a = y.sum(); b = np.sign(x).max()",
        "a = (x > 0.5).sum() + y.sum(); b = np.fmax(x, y).max()",
        "a = (x > 0.5).sum(); b = (x * y < y).any()",
        "a = np.where(x > 0.5, 1, 2).sum(); b = (np.fmax(x, 2) > y).sum()",
        "y[7], y[n // 2] = np.inf, -np.inf; a = y.sum(); b = np.fmin.reduce(x)",
    ],
)
def test_a_sum_is_not_blamed_for_the_nans_that_an_extreme_beside_it_compares(line, python, file):
    program = f"""
    import numpy as np
    n = 50_000
    x, y = np.linspace(0, 1, n), np.linspace(1, 2, n)
    x[5] = np.nan
    {line}
    print(a, b)
    """
    path = file("program.py", program)
    assert told(python, "-m", "frit", path) == told(python, path)


@pytest.mark.parametrize("dtype", ["f8", "f4", "D", "f2"])
@pytest.mark.parametrize("far", [2, 60_000, 99_999])
@pytest.mark.parametrize("kind", ["invalid", "overflow"])
def test_what_happens_between_the_parts_of_a_sum_is_told(kind, far, dtype, python, file):
    program = f"""
    import numpy as np
    x = np.ones(100_000, {dtype!r})
    large = np.inf if {kind!r} == "invalid" else np.finfo(x.dtype).max
    x[1], x[{far}] = large, -large if {kind!r} == "invalid" else large
    print(x.sum())
    print(np.add.reduce(x[3:]))
    try:
        with np.errstate(all="raise"):
            print(x.sum())
    except FloatingPointError as error:
        print(error)
    """
    path = file("program.py", program)
    assert told(python, "-m", "frit", path) == told(python, path)
    assert python("-m", "frit", path).stdout == python(path).stdout


@pytest.mark.parametrize("n", [50, 20_000])
@pytest.mark.parametrize(
    "line",
    [
        "y = y + np.log(x) * 0.5; y = y + 1 / x",
        "y = y + np.sqrt(x - 1) * np.sqrt(x - 1)",
        "y = y + (x + 1e200 * 1e200).sum() * np.sqrt(x - 1) + (x - 1e300).prod()",
        "y[1:-1] = y[2:] + np.sqrt(y[:-2] - 9)",
    ],
)
def test_a_line_warns_as_often_as_it_runs(line, n, python, file):
    program = f"""
    import warnings
    import numpy as np
    warnings.simplefilter("always")
    x = np.zeros({n})
    y = np.ones({n})
    for k in range(3):
        {line}
    print(y[:3])
    """
    path = file("program.py", program)
    assert sorted(told(python, "-m", "frit", path)) == sorted(told(python, path))


@pytest.mark.parametrize("message", ["", "numpy.dtype size changed"])
def test_what_filters_ignore_throughout_waits_even_where_warnings_are_recorded(message):
    import frit
    import frit.numpy as np

    x = np.zeros(50_000)
    frit.eval()
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("ignore")
        warnings.filterwarnings("ignore", message)
        y = np.log(x) + 1
        assert str(frit.explain(y)).startswith("pending: 2 operations")
        warnings.filterwarnings("always", "divide")
        y = np.log(x) + 1
        assert str(frit.explain(y)).startswith("evaluated")


@pytest.mark.parametrize("n", [4, 5_000, 100_000])
def test_a_complex_product_is_invalid_whatever_nans_it_meets(n):
    import frit.numpy as np

    x = numpy.ones((2, n), complex)
    x[0, 0] = complex(numpy.inf, 1)
    x[1, 0] = complex(numpy.nan, numpy.inf)
    a = np.array(x)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in reduce"):
        np.prod(a - 1, axis=0)[:2].tolist()


@pytest.mark.parametrize("immediate", [0, 16384])
@pytest.mark.parametrize("t", "efdFD")
def test_means_and_variances_of_infinities_warn_in_the_same_words(t, immediate, tier):
    import frit.numpy

    arrays = [
        "np.array([np.inf, 1, -np.inf, 2], t)",
        "np.array([np.inf, 1, -np.inf, 2], t).reshape(2, 2)",
        "np.array([np.inf] + [3] * 19_999, t)",
        "np.array([np.inf] + [3] * 19_999, t).reshape(100, 200)",
        "np.full(20_000, np.finfo(t).max)",
    ]
    before = _core.set_immediate_bytes(immediate)
    try:
        for array in arrays:
            for call in ("mean", "var", "std", "sum"):
                for axis in (None, 0, -1):
                    program = f"t = '{t}'; r = {array}.{call}(axis={axis})"
                    assert outcome(frit.numpy, program) == outcome(numpy, program), program
    finally:
        _core.set_immediate_bytes(before)


# A number is converted before anybody looks how many elements take it, a list item by item, and an
# array where it is stored.
VALUES = [
    "big.sum() * 1e300",
    "[big.sum() * 1e300]",
    "[1e300]",
    "np.float64(1e300)",
    "big[3:4] * 1e300",
]
EMPTY_TARGETS = [
    "x[3:] = v",
    "x[...] = v",
    "x[[]] = v",
    "x[x < -5] = v",
    "x[:0, None] = v",
    "np.copyto(x[:0], v)",
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("statement", EMPTY_TARGETS)
@pytest.mark.parametrize("t", ["f4", "f2", "i4", "u1", "F", "d"])
@pytest.mark.parametrize("n", [0, 3])
def test_values_that_no_element_takes_warn_as_numpys_do(value, statement, t, n, recorded):
    import frit.numpy

    program = f"big = np.arange(20_000.0); r = x = np.zeros({n}, '{t}'); v = {value}; {statement}"
    assert outcome(frit.numpy, program) == outcome(numpy, program)


# `where=` with an output that doesn't fit: an error, and no warning of what is not computed.
@pytest.mark.parametrize("where", ["[True]", "np.array([True])", "a == a", "[[True]]"])
@pytest.mark.parametrize("call", ["true_divide(a, 0", "add(a * 1e300, 1e300", "log(a - 5"])
@pytest.mark.parametrize("t", ["i1", "f4", "f8"])
def test_a_call_that_fails_warns_of_nothing(where, call, t, recorded):
    import frit.numpy

    program = f"a = np.array(5, 'u1'); r = np.array(1, '{t}')\n"
    program += f"np.{call}, out=r, where={where}, casting='unsafe')"
    assert outcome(frit.numpy, program) == outcome(numpy, program)


@pytest.mark.parametrize("axis", ["0", "1", "None"])
@pytest.mark.parametrize("form", ["np.multiply.reduce(a, {}, out=r[:1])", "np.sum(a, {}, out=r)"])
def test_a_reduction_that_fails_warns_of_nothing(form, axis, recorded):
    import frit.numpy

    program = f"a = np.full((3, 2), 1e308); r = np.zeros((3, 2)); {form.format(axis)}"
    assert outcome(frit.numpy, program) == outcome(numpy, program)


@pytest.mark.parametrize("key", ["[0, -1]", "slice(0, 2)", "...", "x[:, 0] > 0"])
@pytest.mark.parametrize("value", ["a * (1 + 1j)", "a * 1e300", "[a.sum(), a[0]]", "a[:2]"])
@pytest.mark.parametrize("t", ["i2", ">f4", "f4"])
def test_numpys_own_arrays_take_arrays_and_warn_in_the_same_words(key, value, t, recorded):
    import frit.numpy

    program = f"import numpy; x = r = numpy.zeros((3, 2), '{t}'); x[0] = 1\n"
    program += f"a = np.arange(5.0); x[{key}] = {value}"
    assert outcome(frit.numpy, program) == outcome(numpy, program)


@pytest.mark.parametrize("x", ["np.nan", "[1e300]", "[[1e300, 2]]", "[]"])
@pytest.mark.parametrize("t", ["i4", "f4", "f2", "u1", "F"])
@pytest.mark.parametrize(
    "call", ["sum(x, dtype=t)", "multiply.reduce(x, dtype=t)", "mean(x, -1, t)"]
)
def test_conversions_of_what_is_reduced_warn_in_the_same_words(x, t, call, recorded):
    import frit.numpy

    program = f"x, t = np.array({x}), '{t}'; r = np.{call}"
    assert outcome(frit.numpy, program) == outcome(numpy, program)


@pytest.mark.parametrize("change", ["shape = (2, 3)", "shape = 5", "dtype = 'i8'", "strides = 8"])
@pytest.mark.parametrize("filters", ["always", "error"])
def test_what_is_set_on_an_array_warns_as_numpys_does(change, filters, recorded):
    import frit.numpy

    program = f"import warnings; warnings.simplefilter('{filters}')\n"
    program += f"r = x = np.arange(6.0)\ntry:\n    x.{change}\n"
    program += "except Exception as error:\n    r = [type(error).__name__, str(error)]"
    assert outcome(frit.numpy, program) == outcome(numpy, program)


def test_sums_warn_at_the_programs_lines(python, file):
    """NumPy's own Python code is what warns there: once for all sums of a program."""
    program = file(
        "program.py",
        """
        import numpy as np
        x = np.array([np.inf, -np.inf, 1.0])
        x.sum()
        np.sum(x)
        x.mean()
        """,
    )
    lines = python("-m", "frit", program).stderr.splitlines()
    places = [line.split(": ")[0].rpartition(":")[2] for line in lines if "Warning: " in line]
    assert places == ["4", "5", "6"]


IN_PLACE = {
    "remainder": operator.imod,
    "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv,
}
S = numpy.s_
PAIRS = [
    (S[::3, 29:59:3], S[:48:2, 0:10]),  # apart, which NumPy doesn't find out
    (S[:24, 1::2], S[:24, 0:-1:2]),
    (S[:35], S[35:]),
    (S[:35], S[1:36]),
    (S[::2], S[1::2]),
    (S[:], S[:]),
    (S[:], S[::-1]),
    (S[5], S[60::-1, 5]),
]


@pytest.mark.parametrize(("written", "read"), PAIRS)
@pytest.mark.parametrize("operation", ["remainder", "divide", "floor_divide"])
@pytest.mark.parametrize("how", ["in place", "out", "out of a real array"])
def test_an_error_leaves_an_output_as_numpy_leaves_it(how, operation, written, read):
    left = []
    for np in (numpy, frit.numpy):
        a = np.array(numpy.random.RandomState(585).randint(-9, 10, (70, 61)).astype("f8"))
        target = a[written]
        operand = (numpy.asarray(a) if how == "out of a real array" else a)[read]
        with np.errstate(all="raise"), pytest.raises(FloatingPointError) as error:
            if how == "in place":
                IN_PLACE[operation](target, operand)
            else:
                getattr(np, operation)(target, operand, out=target)
        left.append((str(error.value), numpy.asarray(a).tobytes()))
    assert left[0] == left[1]


@pytest.mark.parametrize(
    "expression",
    [
        "np.inner(f2, f2)",
        "np.prod(large, where=large > 0)",
        "np.sum(f2, where=f2 > 0)",
        "np.mean(large * 1e8, where=large > 0)",
        "np.cumprod(f2)",
        "np.around(large, 30)",
        "np.round(f2, 5)",
        "np.trace(np.full((3, 3), 6e4, 'f2'))",
        "np.var(large * np.arange(len(large)))",
        "np.linalg.norm(large)",
    ],
)
@pytest.mark.parametrize("n", [5, 4000])
def test_no_warning_names_a_file_of_ours(n, expression, python, file):
    program = f"""
import os, warnings
import frit
import numpy as np
f2, large = np.full({n}, 6e4, "f2"), np.full({n}, 1e300)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(repr({expression}))
print(sorted({{str(w.message) for w in caught}}))
print([w.filename for w in caught if w.filename.startswith(os.path.dirname(frit.__file__))])
"""
    path = file("program.py", program)
    ours = python("-m", "frit", path).stdout
    assert ours == python(path).stdout
    assert ours.endswith("[]\n") and "encountered" in ours


@pytest.mark.parametrize("dtype", ["f2", "f4"])
@pytest.mark.parametrize("form", ["a %= s", "a[::-1] %= s", "np.remainder(a, s, out=a)"])
@pytest.mark.parametrize("n", [30, 15_000])
def test_a_remainder_that_its_own_memory_does_not_hold_overflows(n, form, dtype):
    left = []
    for np in (numpy, frit.numpy):
        a = np.array(numpy.random.RandomState(1).randn(n).astype(dtype))
        with np.errstate(over="raise"), pytest.raises(FloatingPointError) as error:
            exec(form, {"np": np, "a": a, "s": numpy.float64(-1e300)})
        with np.errstate(over="raise"):
            exec(form, {"np": np, "a": a, "s": numpy.float64(2)})
        left.append((str(error.value), numpy.asarray(a).tobytes()))
    assert left[0] == left[1]
