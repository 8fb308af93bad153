"""test_last_bits.py: programs whose last bit, or whose sharing of memory, was not NumPy's."""

from __future__ import annotations

import warnings

import numpy
import pytest

SETUP = """
r = numpy.random.RandomState(5)
x = np.array(r.randn(60, 50))
c = np.array(r.randn(60, 50) + 1j * r.randn(60, 50))
v, w = x[0], np.array(r.randn(50))
whole = np.array(r.randint(-2**62, 2**62, 20_000))
half = np.array(r.randn(20_000).astype("e"))
zeros = np.array([0.0, -0.0] * 40)
"""

PROGRAMS = [
    # sums of what NumPy copies to a buffer first
    "x[1:-1, 1:-1].sum()",
    "x[::2, ::-1].mean()",
    "x[1:, 1:].var()",
    "np.broadcast_to(v, (7, 50)).sum()",
    "x.reshape(10, 6, 50)[:, 1:, 1:].sum((1, 2))",
    "x.reshape(10, 6, 50)[:, 1:, 1:].sum((0, 2))",
    "whole.mean()",
    "half.mean()",
    # two leaves of NumPy's tree at once, and rows that end in any place of one
    *(f"np.array(r.randn(300, {n})).sum(1)" for n in (7, 8, 58, 129, 135, 255, 256, 257, 1000)),
    "(np.array(r.randn(300, 141))[1:] + 1).mean(1)",
    "np.array(r.randn(300, 141))[:, ::-3].sum(1)",
    "np.array(r.randn(70_001))[::-1].sum()",
    "np.array(r.randn(70_001))[::2].sum()",
    # positive powers of bools are the bools
    *(f"np.array(r.rand(5_000) < 0.5) ** {p}" for p in (0.5, 2.5, 0.0, "np.inf", "np.nan")),
    "np.power(np.array(r.rand(5_000) < 0.5), 0.5)",
    "half.sum(dtype='f4')",
    "half[:5000].sum(dtype='f8')",
    "x.sum(dtype='f2')",
    "x.sum(dtype='D')",
    "c[:, :5].sum(1)",
    "c[:, :3].mean(1)",
    # products
    "x.prod(initial=3)",
    "x[:, :4].prod(1, initial=2.5)",
    "c.prod()",
    "c.prod(0)",
    "c.prod(1)",
    "c[1:, 1:].prod()",
    "np.cumprod(c[0, :2])",
    "np.cumprod(c[0])",
    "half[:9].prod()",
    "whole[:40].prod(dtype='f4', initial=0)",
    "np.hypot.accumulate(np.array([-3.0, 4.0, 12.0]))",
    "np.array([2.5 + 1.5j]) * np.array([0.3 - 0.7j])",
    "np.multiply(c[0, :1], c[1, :1], out=c[0, :1])",
    "np.square(c[:1, 0], out=c[:1, 0])",
    "np.outer(c[0, :1], c[1, :1])",
    "np.multiply.outer(c[0, :1], c[1, :1])",
    "(lambda a: (np.multiply.at(a, [0, 2, 0], c[0, :3]), a)[1])(c[1].copy())",
    "(lambda a: (np.multiply.at(a, [0, 2, 0], c[:3]), a)[1])(c.copy())",
    "(lambda a: (np.multiply.at(a, np.arange(50), c[1, 1]), a)[1])(c[1].astype('F'))",
    "np.einsum('i,j->ij', c[0], c[1])",
    "np.einsum('ij,ij->ij', c, c[::-1])",
    "np.einsum('i,i,i->i', c[0], c[1], c[2])",
    # zeros of either sign, and complex numbers
    "np.maximum(zeros, -zeros)",
    "np.minimum(zeros, zeros[::-1])",
    "np.maximum(zeros.astype('f4'), -0.0)",
    "np.maximum(zeros.astype('f2'), 0.0)",
    "np.maximum.accumulate(zeros)",
    "np.array([complex(np.nan, 1), complex(2, np.nan), 3] * 9).max()",
    "(zeros - 1j * zeros).max()",
    "(zeros[1:] - 1j * zeros[:-1]).min(initial=5)",
    "np.where(whole == whole[300], complex(1, np.nan), whole + 1j * half.astype('f8')).max()",
    "c.max(1)",
    "np.min(c[:, :3], axis=1)",
    "np.argsort(x)",
    "np.argsort(c, axis=1)",
    "np.argsort(zeros.reshape(8, 10), -1)",
    "np.argsort(np.array([np.nan, 1, -np.inf, np.nan, 0, -0.0]).reshape(2, 3).astype('e'))",
    "np.arange(-5, 2000, 7)",
    "np.arange(0.1, 100, 0.3)",
    "np.arange(2**62, 2**62 + 2**55, 2**50)",
    "abs(c)",
    "abs(c.astype('F'))",
    "np.cumsum(x.T, axis=-1).sum()",
    "np.multiply(c[0, :-1], c[0, 1:], out=c[0, :-1])",
    "np.multiply(c[0, 1:], c[0, :-1], out=c[0, 1:])",
    "np.multiply(c[0], c[0], out=c[0])",
    "np.zeros(3, 'i2').__setitem__(slice(None), whole[:9].astype('u8').sum())",
    # a mean of float16 beside the middle of two: rounded once, or to float32 first
    "np.array([9, 1 + 2**-9] + [1] * 16_385, 'e').mean()",
    "np.array([9, 1 + 2**-9] + [1] * 16_385, 'e').mean(keepdims=True)",
    "np.array([[9, 1 + 2**-9] + [1] * 16_385], 'e').mean(1)",
    # BLAS
    "v @ w",
    "v.dot(w)",
    "np.dot(v, w[::-1])",
    "np.dot(v[::2], w[::2])",
    "np.dot(x.T[3:40, 5:55], w)",
    "np.dot(w[:37], x.T[3:40, 5:55])",
    "np.dot(x.T[3:40, 5:50], x[5:50, ::2])",
    "np.dot(c.T[3:40, 5:55], c[0])",
    "x[2:, 3] @ x[2:, 4]",
    "x[::-1, 3].dot(x[:, 4])",
    "c[::2, 3] @ c[1::2, ::7]",
    "x @ w",
    "x.T @ x[:, 0]",
    "x[:, 0] @ x",
    "x @ x.T",
    "x.T @ x",
    "c @ c.T",
    "x[::2, ::2] @ x[::2, ::2].T",
    "np.matmul(x.reshape(6, 10, 50), w)",
    "x[:, :1] @ x[:1]",
    "x[:, :1] @ x[:1, ::2]",
    "np.dot(x[::-1, :1], w[None, ::-1])",
    "c[:, :1] @ c[:1]",
    "np.array([[0.0], [-0.0], [-1], [np.inf]]) @ np.array([[0.0, -0.0, 1, np.nan] * 5])",
    "x[:1, ::-1] @ np.broadcast_to(x[:, :1], (60, 40))",
    "np.linalg.norm(v)",
    "np.linalg.norm(x)",
    "np.linalg.norm(c)",
    # short innermost axes: lanes run along another one
    "((x[:, None, :3] - x[:7, :3]) ** 2).sum(axis=2)",
    "((x[:, None, :7] - x[:7, :7]) * x[:, None, :7]).sum(axis=-1, keepdims=True)",
    "(x[:, None, :9] - x[:7, :9]).max(2)",
    "(c[:, None, :3] * c[:7, :3]).sum(2)",
    "(x[:, :5] - x[:, :5].mean(0)) / x[:, :5].std(0)",
    "x[:, None, None, :2] * x[:5, None, :2] + x[:3, :2]",
    "x[:, None, :3] - x[None, :, :3] * 2 + w[:3]",
    "x[:4, None, :3] - x[:5, :3]",
    "(x[:4, None, :3] - x[:5, :3]).sum(-1)",
    # rows of a few elements, in phases
    "(lambda e: e / e.sum(1, keepdims=True))((x[:, :10] - x[:, :10].max(1, keepdims=True)) ** 2)",
    "(x[:, :3] - x[:, :3].mean(1, keepdims=True)) ** 2 / x[:, :3].var(1, keepdims=True)",
    "(lambda o: (1 / (o ** 2).sum(2) + 1)[:, :, None] * o)(x[:, None, :3] - x[None, :, :3])",
    "(x[:, :9] * w[:9]).sum(1)",
    "(x[:, :31] * w[:31]).sum(1)",
    "(x[:, :16] * w[:16]).prod(1)",
    "(c[:, :5] * c[0, :5]).sum(1)",
    "(c[:, :11] - c[:, :11].mean(1)[:, None])",
    "(x[:, :8] > 0).sum(1) + (x[:, :8] * 2).sum(1, initial=0.5)",
    "x[:, None, :9] - (x[:, None, :9] + w[:9]).sum(-1, keepdims=True)",
    # errors
    "np.var(x[0, 0], axis=0)",
    "np.std(np.array(2.0), axis=-1)",
    "np.zeros((3, 0)).max(1)",
    "np.zeros((0, 3, 0)).max(2)",
    "np.zeros((0, 3)).max(1)",
    "len(x.sum(0))",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_last_bit_is_numpys(program, tier, same):
    import frit.numpy

    results = []
    for module in (numpy, frit.numpy):
        scope = {"np": module, "numpy": numpy}
        exec(SETUP, scope)
        try:
            results.append(eval(program, scope))
        except Exception as error:
            results.append((type(error).__name__, str(error)))
    same(results[1], results[0], program)


@pytest.mark.parametrize(
    "program",
    ["np.roll(x, 1)", "np.roll(x, 1, 0)", "np.tile(x, 2)", "x[:, [0, 2]]", "x[[0, 2]]"],
)
def test_results_own_their_memory_where_numpys_do(program):
    import frit.numpy

    def owner(np):
        result = eval(program, {"np": np, "x": np.array(numpy.arange(12.0).reshape(3, 4))})
        return result.flags.owndata, result.base is None

    assert owner(frit.numpy) == owner(numpy)


# Of 256 KiB; `p` and `q` have names, what is computed from them has none.
PRODUCTS = [
    "p * q",
    "p * np.conj(q)",
    "np.conj(q) * p",
    "np.conj(p) * np.conj(q)",
    "p * (q + 1) * (p - 1)",
    "p * q[::-1]",
    "p * np.conj(q)[::-1]",
    "p * (q + 1).reshape(128, 128).ravel()",
    "p[:1] * np.conj(q)",
    "p[3] * np.conj(q)",
    "p[3:4].sum() * np.conj(q)",
    "p.sum() * np.conj(q)",
    "p.sum() * (q + 1)",
    "(0.3 + 0.7j) * np.conj(q)",
    "p.real.copy() * np.conj(q)",
    "(p.real + 1) * np.conj(q)",
    "p * np.conj(q).astype('F')",
    "p.astype('F') * np.conj(q)",
    "p * np.fft.fft(q)",
    "p.reshape(128, 128) * np.fft.fft2(q.reshape(128, 128))",
    "p[:-1] * np.conj(q[:-1])",
    "np.multiply(p, np.conj(q))",
    "p * np.roll(q, 1)",
    "p.reshape(2, -1) * np.roll(q.reshape(2, -1), 1, 1)",
    "p * np.tile(q[:8192], 2)",
    "p.reshape(128, -1) * q.reshape(128, -1)[:, np.arange(128)]",
    "p.reshape(128, -1) * q.reshape(128, -1)[np.arange(128)]",
    "p.reshape(2, -1) * np.conj(q[:8192])",
]


# NumPy turns them round where it finds who called it, which it does not among a sanitizer's frames.
@pytest.mark.unsanitized
@pytest.mark.parametrize("product", PRODUCTS)
def test_products_of_complex_numbers_are_turned_round_where_numpy_does(product, tier, same):
    import frit.numpy

    results = []
    for module in (numpy, frit.numpy):
        scope = {"np": module}
        exec(
            "r = np.random.RandomState(3)\n"
            "p, q = (np.array(r.randn(16384) + 1j * r.randn(16384)) for _ in range(2))",
            scope,
        )
        results.append(eval(product, scope))
    same(results[1], results[0], product)


# Whose square is fused or not, by the bits of its real part.
ONE = 5.357224645987893 * (1 + 1j)
SINGLES = [
    lambda np, rank: np.array([ONE] * 9)[4:5].reshape((1,) * rank),
    lambda np, rank: np.array([ONE] * 9)[7::-3][:1].reshape((1,) * rank),
    lambda np, rank: np.broadcast_to(np.array(ONE), (1,) * rank),
    lambda np, rank: np.array([[[ONE] * 2] * 3] * 2)[(slice(1, 2),) * rank + (1,) * (3 - rank)],
]


@pytest.mark.parametrize("left", range(4))
@pytest.mark.parametrize("right", range(4))
@pytest.mark.parametrize("dtype", ["F", "D"])
@pytest.mark.parametrize("how", ["plain", "out", "larger out", "masked", "converted", "in place"])
def test_one_product_of_complex_numbers_is_rounded_as_numpy_rounds_it(how, dtype, left, right):
    import frit.numpy

    def bits(np, make_x, make_y):
        x, y = (m(np, k).astype(dtype, copy=False) for m, k in ((make_x, left), (make_y, right)))
        out = np.zeros((1,) * (max(left, right) + (how == "larger out")), dtype)
        if how == "converted":
            x = x.astype("F" if dtype == "D" else "D")
        if how == "in place" and left >= right:
            x = x.copy()
            x *= y
            return numpy.asarray(x).tobytes()
        keywords = {} if how in ("plain", "converted", "in place") else {"out": out}
        if how == "masked":
            keywords["where"] = np.ones(out.shape, bool)
        return numpy.asarray(np.multiply(x, y, **keywords)).tobytes()

    for make_x in SINGLES:
        for make_y in SINGLES:
            assert bits(frit.numpy, make_x, make_y) == bits(numpy, make_x, make_y)


@pytest.mark.parametrize("method", ["ravel()", "ravel('F')", "ravel('A')", "reshape(-1)"])
@pytest.mark.parametrize("window", ["", "[::-1]", "[::2]", ".T", "[:, ::-1]", "[:1]", "[:0]"])
def test_flattening_shares_memory_where_numpy_does(method, window):
    import frit.numpy as np

    answers = []
    for module in (numpy, np):
        x = module.arange(3000).reshape(60, 50)
        flat = eval(f"x{window}.{method}")
        answers.append(bool(numpy.shares_memory(numpy.asarray(flat), numpy.asarray(x))))
    assert answers[0] == answers[1]


EDGES = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 1e-300, -1e300, 710.0, -745.0, 1e17, 5e-324]
EDGES += [numpy.inf, -numpy.inf, numpy.nan]


@pytest.mark.parametrize("dtype", ["D", "F"])
@pytest.mark.parametrize(
    "program",
    ["np.exp(z)", "np.sqrt(z)", "np.sin(z)", "np.cos(z)"]
    + [f"z ** {power}" for power in (0, 2, 3, 4, -1, -3, 0.5, 2.5, 1 + 2j)]
    + ["np.power(z, z[::-1])", "np.exp(-1j * z) * z", "np.power.accumulate(z[:3])"],
)
def test_functions_of_complex_numbers_are_within_four_ulp_of_numpys(program, dtype, tier):
    import frit.numpy

    r = numpy.random.RandomState(7)
    with numpy.errstate(all="ignore"):
        edges = numpy.array([complex(a, b) for a in EDGES for b in EDGES]).astype(dtype)
    some = (r.randn(20_000) * 3 + 1j * r.randn(20_000) * 300).astype(dtype)
    for values in (edges, some, numpy.zeros(20_000, dtype)):
        answers, warned = [], []
        for module in (numpy, frit.numpy):
            with warnings.catch_warnings(record=True) as record:
                warnings.simplefilter("always")
                z = module.array(values)
                answers.append(numpy.asarray(eval(program, {"np": module, "z": z})))
            warned.append({str(w.message) for w in record})
        theirs, ours = answers
        assert ours.dtype == theirs.dtype
        if "z[" not in program and "*" not in program:
            assert warned[1] == warned[0]
        for a, b in ((ours.real, theirs.real), (ours.imag, theirs.imag)):
            with numpy.errstate(all="ignore"):
                near = numpy.abs(a - b) <= 4 * numpy.spacing(numpy.maximum(abs(a), abs(b)))
                # A part of a product may be a small difference.
                if "z) * z" in program:
                    near |= numpy.abs(a - b) <= 8 * numpy.spacing(abs(theirs))
            assert numpy.all((a == b) | numpy.isnan(a) & numpy.isnan(b) | near)
            assert numpy.all((numpy.signbit(a) == numpy.signbit(b)) | (a != 0) | numpy.isnan(b))


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
@pytest.mark.parametrize("bounds", [(0, 7), (-0.0, 2.0), (-5, 0), (-5, -0.0)])
def test_an_element_that_equals_its_bound_stays(kind, bounds):
    import frit.numpy as np

    for repeats in (1, 1000):
        x = numpy.tile(numpy.array([-0.0, 0.0, -1, 3, numpy.nan], kind), repeats)
        expected = numpy.clip(x, *bounds)
        assert numpy.asarray(np.clip(np.array(x), *bounds)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("exponent", [3, 4, 3.0, 4.0])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_cubes_and_fourth_powers_are_exact_where_they_can_be_and_near_elsewhere(dtype, exponent):
    import frit.numpy as np

    whole = (
        numpy.arange(-1200, 1200).astype(dtype)
        if dtype == "f8"
        else numpy.arange(-63.0, 64, dtype=dtype)
    )
    assert (np.array(whole) ** exponent).tolist() == (whole**exponent).tolist()
    special = numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1, -1], dtype)
    powers = np.power(np.array(special), exponent)
    assert numpy.asarray(powers).tobytes() == (special**exponent).tobytes()
    x = (numpy.random.default_rng(1).normal(size=50_000) * 3).astype(dtype)
    wide = x.astype(numpy.longdouble) ** int(exponent)
    for got in (np.array(x) ** exponent, np.power(np.array(x), exponent)):
        far = numpy.abs(numpy.asarray(got) - wide) / numpy.spacing(numpy.abs(wide.astype(dtype)))
        assert far.max() <= 3


def test_a_cube_that_overflows_is_told_as_a_power():
    import frit.numpy as np

    x = np.array([1e200, 2.0, 3.0])
    with pytest.warns(RuntimeWarning) as told:
        assert (x**3).tolist() == [numpy.inf, 8.0, 27.0]
        assert (x**4).tolist() == [numpy.inf, 16.0, 81.0]
    assert [str(w.message) for w in told] == ["overflow encountered in power"] * 2


@pytest.mark.parametrize(
    "power", ["s ** 2", "s**2.0", "s**0.5", "s ** -1", "2.5**s", "s**s", "t**s"]
)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_powers_of_numbers_still_to_be_computed_are_the_c_librarys(power, dtype):
    import frit.numpy

    numbers = abs(numpy.random.RandomState(3).randn(6000)).astype(dtype)

    def powers(np):
        t, found = numpy.dtype(dtype).type(1.7), []
        for x in numbers:
            s = np.full(20_000, x).max()
            found.append(float(eval(power, {"s": s, "t": t})))
        return found

    assert powers(frit.numpy) == powers(numpy)


SIGNED = ["-(z * 3)", "-(z / 3)", "-(3 / z)", "-z + w", "w - (-z)", "(-z) * (-w)", "-(z * -2)"]


@pytest.mark.parametrize("program", [*SIGNED, "np.square(-z)", "np.reciprocal(-z)"])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_a_changed_sign_is_a_nans_too(kind, program, tier):
    import frit.numpy as np

    z = numpy.array([numpy.nan, -numpy.nan, 1.5, -0.0] * 3000, kind)
    w = numpy.array([1.0, 2.0, -3.0, 0.0] * 3000, kind)
    with numpy.errstate(all="ignore"):
        expected = eval(program, {"np": numpy, "z": z, "w": w})
        ours = eval(program, {"np": np, "z": np.array(z), "w": np.array(w)})
    assert numpy.asarray(ours).tobytes() == expected.tobytes()
