"""test_vector_products.py: matvec, vecmat and vecdot of our arrays, against NumPy's."""

from __future__ import annotations

import numpy
import pytest
from core_compare import described, ours, outcome

import frit.numpy as np

SHAPES = {
    "matvec": [
        ((3, 4), (4,)),
        ((5, 3, 4), (4,)),
        ((5, 3, 4), (5, 4)),
        ((2, 1, 3, 4), (5, 4)),
        ((1, 1), (1,)),
        ((3, 0), (0,)),
        ((0, 3), (3,)),
        ((200, 300), (300,)),
        ((4,), (4,)),
        ((3, 4), (5,)),
    ],
    "vecmat": [
        ((3,), (3, 4)),
        ((5, 3), (5, 3, 4)),
        ((5, 3), (3, 4)),
        ((300,), (300, 200)),
        ((0,), (0, 4)),
        ((3,), (3,)),
        ((3,), (4, 3)),
    ],
    "vecdot": [
        ((3,), (3,)),
        ((5, 3), (3,)),
        ((1000, 3), (1000, 3)),
        ((5, 1, 3), (2, 3)),
        ((0,), (0,)),
        ((3, 0), (0,)),
        ((4000,), (4000,)),
        ((3,), (4,)),
        ((), (3,)),
    ],
}


@pytest.mark.parametrize("dtype", "f8 f4 f2 i8 i2 u1 ? c16".split())
@pytest.mark.parametrize("name", SHAPES)
def test_they_give_numpys_bits_and_errors(name, dtype):
    rng = numpy.random.default_rng(3)
    for shapes in SHAPES[name]:
        given = tuple((rng.standard_normal(shape) * 5).astype(dtype) for shape in shapes)
        expected = outcome(getattr(numpy, name), given)
        assert outcome(getattr(np, name), tuple(map(ours, given))) == expected, shapes


@pytest.mark.parametrize("name", SHAPES)
def test_operands_that_blas_cannot_read(name):
    rng = numpy.random.default_rng(4)
    for shapes in SHAPES[name][:4]:
        given = [rng.integers(-9, 9, shape).astype(float) for shape in shapes]
        turned = [numpy.asfortranarray(a) for a in given]
        spread = [numpy.repeat(a, 2, -1)[..., ::2] for a in given]
        reverse = [a[..., ::-1] for a in given]
        for a, b in (turned, spread, reverse):
            expected = described(getattr(numpy, name)(a, b))
            assert described(getattr(np, name)(np.asarray(a), np.asarray(b))) == expected


@pytest.mark.parametrize("name", SHAPES)
def test_into_an_array_that_is_given(name):
    a, b = (numpy.arange(float(numpy.prod(shape))).reshape(shape) for shape in SHAPES[name][1])
    function, real = getattr(np, name), getattr(numpy, name)
    expected = real(a, b)
    out = np.empty(expected.shape)
    assert function(ours(a), ours(b), out=out) is out
    assert described(out) == described(expected)
    for wrong in (numpy.empty((7, 7)), numpy.empty(expected.shape, int)):
        kept = ours(wrong)
        found = outcome(lambda o: function(ours(a), ours(b), out=o), (kept,))  # noqa: B023
        assert found[0] == outcome(lambda o: real(a, b, out=o), (wrong,))[0]


def test_an_axis_of_the_vectors():
    a, b = (numpy.arange(12.0).reshape(3, 4) + k for k in (0, 1))
    for axis in (-1, 0, 1, 2, None):
        for real, mine in ((numpy.vecdot, np.vecdot), (numpy.linalg.vecdot, np.linalg.vecdot)):
            expected = outcome(lambda x, y: real(x, y, axis=axis), (a, b))  # noqa: B023
            found = outcome(lambda x, y: mine(x, y, axis=axis), (ours(a), ours(b)))  # noqa: B023
            assert found == expected
    assert described(np.linalg.vecdot(ours(a), ours(b))) == described(numpy.linalg.vecdot(a, b))


@pytest.mark.parametrize("name", [*SHAPES, "matmul"])
@pytest.mark.parametrize("size", [3, 400])
def test_warnings_name_the_product_that_was_asked_for(name, size):
    square, vector = numpy.full((size, size), 1e308), numpy.full(size, 1e308)
    operands = {"matvec": (square, vector), "vecmat": (vector, square), "vecdot": (square, vector)}
    given = operands.get(name, (square, square))
    expected = outcome(getattr(numpy, name), given)
    assert [f"overflow encountered in {name}"] == [words for _, words in expected[2]]
    assert outcome(getattr(np, name), tuple(map(ours, given))) == expected
