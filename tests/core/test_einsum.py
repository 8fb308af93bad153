"""test_einsum.py: numpy.einsum on our arrays, against NumPy's; random formulas among them.

Elements are small integers, whatever their type: so each order of additions gives the same bits.
FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED: how many formulas, and the first.
"""

from __future__ import annotations

import os
import random

import numpy
import pytest
from core_compare import described, ours, outcome

import frit
import frit.numpy as np
from frit import _core

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "1500"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "0"))
TYPES = "f8 f4 i8 i4 i1 u2 c16 c8 ?".split()


def elements(rng, shape, dtype):
    signed = numpy.dtype(dtype).kind in "ifc"
    made = rng.integers(-5 if signed else 0, 6, shape).astype(dtype)
    if made.dtype.kind == "c":
        made = made + 1j * rng.integers(-3, 4, shape).astype(made.real.dtype)
    return made.astype(dtype)


def without_signs_of_zeros(x):
    """Some processors' BLAS gives -0 where terms cancel (complex64 with AVX-512)."""
    x += x.dtype.type(0)
    return x


def laid_out(choose, a):
    """The same elements in other places: transposed, strided, reversed."""
    how = choose.random()
    if how < 0.25 and a.ndim > 1:
        axes = list(range(a.ndim))
        choose.shuffle(axes)
        return numpy.ascontiguousarray(a.transpose(axes)).transpose(numpy.argsort(axes))
    if how < 0.4 and a.ndim:
        wide = numpy.zeros([2 * n + 1 for n in a.shape], a.dtype)
        window = wide[tuple(slice(0, 2 * n, 2) for n in a.shape)]
        window[...] = a
        return window
    if how < 0.5 and a.ndim:
        return numpy.ascontiguousarray(a[::-1])[::-1]
    return a


def in_our_memory(a):
    """An array of ours with the elements, and the strides, of `a`."""
    if a.size == 0 or a.ndim == 0:
        return ours(a)
    low = sum(min(0, s * (n - 1)) for s, n in zip(a.strides, a.shape, strict=True))
    high = sum(max(0, s * (n - 1)) for s, n in zip(a.strides, a.shape, strict=True)) + a.itemsize
    base = np.zeros((high - low) // a.itemsize, a.dtype)
    window = np.lib.stride_tricks.as_strided(base[-low // a.itemsize :], a.shape, a.strides)
    window[...] = a
    return window


def random_formula(choose):
    """Subscripts, and the shapes of their operands: most of them fit, some are refused."""
    letters = choose.sample("abcdefgXYZ", choose.randint(1, 5))
    extents = {c: choose.choice([1, 2, 3, 4, 7, 19]) for c in letters}
    if choose.random() < 0.1:
        extents[letters[0]] = choose.choice([0, 40])
    dots = [choose.randint(1, 3) for _ in range(choose.choice([0, 0, 0, 1, 2]))]
    subscripts, shapes = [], []
    for _ in range(choose.choice([1, 2, 2, 2, 3])):
        labels = [choose.choice(letters) for _ in range(choose.randint(0, 4))]
        shape = [extents[c] if choose.random() < 0.93 else 1 for c in labels]
        part = "".join(labels)
        if dots and choose.random() < 0.8:
            at, count = choose.randint(0, len(labels)), choose.randint(0, len(dots))
            behind = [n if choose.random() < 0.8 else 1 for n in dots[len(dots) - count :]]
            part = part[:at] + "..." + part[at:]
            shape = shape[:at] + behind + shape[at:]
        if numpy.prod([max(n, 1) for n in shape]) > 3000:
            shape = [min(n, 2) for n in shape]
        subscripts.append(part)
        shapes.append(shape)
    text = ",".join(subscripts)
    if choose.random() < 0.7:
        used = sorted({c for part in subscripts for c in part if c != "."})
        output = "".join(choose.sample(used, choose.randint(0, len(used))))
        if "..." in text and choose.random() < 0.9:
            at = choose.randint(0, len(output))
            output = output[:at] + "..." + output[at:]
        text += "->" + output
    return text, shapes


def is_undefined(text, shapes):
    """Where a label stands for none and for one element of an operand, NumPy computes nothing."""
    terms = text.replace(" ", "").replace(".", "").split("->")[0].split(",")
    pairs = zip(terms, shapes, strict=True)
    return any({0, 1} <= {*shape} and len({*term}) < len(term) for term, shape in pairs)


@pytest.mark.timeout(max(900, PROGRAMS // 10))
def test_random_formulas_give_numpys_results_layouts_and_errors():
    computed = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        choose, rng = random.Random(seed), numpy.random.default_rng(seed)
        text, shapes = random_formula(choose)
        if is_undefined(text, shapes):
            continue
        one_type = choose.choice(TYPES) if choose.random() < 0.6 else None
        given = tuple(
            laid_out(choose, elements(rng, shape, one_type or choose.choice(TYPES)))
            for shape in shapes
        )
        # NumPy has strides of its own for empty arrays, and what comes of them.
        order = "C" if any(0 in shape for shape in shapes) else "K"
        expected = outcome(lambda *x: numpy.einsum(text, *x).copy(order), given)  # noqa: B023
        found = outcome(
            lambda *x: np.einsum(text, *x).copy(order), tuple(map(in_our_memory, given))
        )  # noqa: B023
        assert found[0] == expected[0], (seed, text, [a.shape for a in given])
        assert found[1:] == expected[1:], (seed, text)
        computed += expected[0][0] not in ("ValueError", "IndexError")
    assert computed > PROGRAMS // 2  # else nothing was tested


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("ij,jk->ik", [(30, 40), (40, 50)]),
        ("ij,jk->ki", [(30, 40), (40, 50)]),
        ("ij,kj->ik", [(30, 40), (50, 40)]),
        ("aib,jb->aji", [(5, 30, 40), (50, 40)]),
        ("bij,bjk->bik", [(6, 30, 40), (6, 40, 50)]),
        ("bij,jk->kbi", [(6, 30, 40), (40, 50)]),
        ("bqhd,bkhd->bhqk", [(2, 20, 3, 16), (2, 20, 3, 16)]),
        ("abcd,cdef->abef", [(4, 5, 6, 7), (6, 7, 3, 2)]),
        ("abcd,edcf->aebf", [(4, 5, 6, 7), (8, 7, 6, 3)]),
        ("ij,j->i", [(300, 200), (200,)]),
        ("ij,i->j", [(300, 200), (300,)]),
        ("bij,bj->bi", [(200, 3, 3), (200, 3)]),
        ("ij,bj->bi", [(3, 3), (2000, 3)]),
        ("ij,ij->", [(200, 300)] * 2),
        ("ij,ji->", [(200, 200)] * 2),
        ("bi,ij,bj->b", [(500, 3), (3, 3), (500, 3)]),
        ("ij,jk,kl->il", [(20, 30), (30, 10), (10, 20)]),
        ("i,j,k->ijk", [(20,), (30,), (10,)]),
    ],
)
@pytest.mark.parametrize("dtype", TYPES)
def test_each_way_of_computing_gives_numpys_result(text, shapes, dtype):
    rng = numpy.random.default_rng(1)
    given = [elements(rng, shape, dtype) for shape in shapes]
    expected = described(without_signs_of_zeros(numpy.einsum(text, *given)))
    found = np.einsum(text, *map(ours, given))
    assert described(without_signs_of_zeros(found)) == expected


def test_it_is_recorded_and_fuses_with_what_is_around_it():
    _core.let_float_errors_come_late()
    frit.report(reset=True)
    x, y = np.ones((20_000, 30)), np.ones((20_000, 30))
    product = np.einsum("ij,ij->i", x + 1.0, y) * 2.0
    assert _core.is_pending(product)
    assert float(product[7]) == 120.0
    assert not frit.report().fallbacks


def test_products_of_several_operands_need_no_memory_of_their_own():
    frit.report(reset=True)
    a, b, c = (np.ones((80, 80)) for _ in range(3))  # all their products together: 312 MiB
    assert float(np.einsum("ij,jk,kl->il", a, b, c)[3, 4]) == 6400.0
    assert frit.report().statistics["bytes_peak"] < 32 << 20


def test_named_axes_of_one_operand_are_a_view():
    a = np.arange(12.0).reshape(3, 4)
    turned = np.einsum("ij->ji", a)
    turned[1, 2] = -1.0
    assert a[2, 1] == -1.0
    assert turned.base is a.base or turned.base is a
    square = np.zeros((3, 3))
    np.einsum("ii->i", square)[:] = 5.0
    assert square.tolist() == [[5, 0, 0], [0, 5, 0], [0, 0, 5]]
    with pytest.raises(ValueError, match="read-only"):
        np.einsum("ij->ji", np.broadcast_to(np.ones(3), (2, 3)))[0, 0] = 1.0
    real = numpy.arange(6.0).reshape(2, 3)
    np.einsum("ij->ji", real)[2, 1] = 7.0
    assert real[1, 2] == 7.0


def test_a_number_is_a_scalar():
    x = np.arange(5.0)
    assert described(np.einsum("i,i", x, x)) == described(numpy.float64(30.0))
    assert described(np.einsum("", np.array(2))) == described(numpy.int64(2))
    assert described(np.einsum("ii", np.eye(3))) == described(numpy.float64(3.0))


def test_it_writes_into_an_array_that_is_given():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    out = np.zeros((2, 4))
    assert np.einsum("ij,jk->ik", a, b, out=out) is out
    assert numpy.array_equal(out, numpy.asarray(a) @ numpy.asarray(b))
    for bad in (np.zeros((4, 2)), np.zeros((2, 4), int)):
        real = numpy.asarray(bad).copy()
        expected = outcome(
            lambda o: numpy.einsum("ij,jk->ik", numpy.asarray(a), numpy.asarray(b), out=o), (real,)
        )
        found = outcome(lambda o: np.einsum("ij,jk->ik", a, b, out=o), (bad,))
        assert found == expected


def test_overflow_is_silent_as_in_numpy():
    big = np.full((50, 50), 1e308)
    with numpy.errstate(all="raise"):
        assert np.isinf(np.einsum("ij,jk->ik", big, big)).all()
        assert np.isinf(np.einsum("ij,ij->i", big, big)).all()


def test_operands_of_three_types_have_the_type_of_all_at_once():
    given = [numpy.ones(3, t) for t in ("i1", "u2", "f4")]
    found = np.einsum("i,i,i->i", *map(ours, given))
    assert found.dtype == numpy.einsum("i,i,i->i", *given).dtype == numpy.float32
    assert np.concatenate([ours(a) for a in given]).dtype == numpy.concatenate(given).dtype


@pytest.mark.parametrize("optimize", [True, "greedy", "optimal", ["einsum_path", (0, 1), (0, 1)]])
def test_an_optimised_order_is_numpys(optimize):
    rng = numpy.random.default_rng(2)
    given = [elements(rng, shape, "f8") for shape in ((60, 70), (70, 50), (50, 40))]
    mine = list(map(ours, given))
    expected = numpy.einsum("ij,jk,kl->il", *given, optimize=optimize)
    frit.report(reset=True)
    assert described(np.einsum("ij,jk,kl->il", *mine, optimize=optimize)) == described(expected)
    assert not frit.report().fallbacks
    assert np.einsum_path("ij,jk,kl->il", *mine, optimize=optimize) == numpy.einsum_path(
        "ij,jk,kl->il", *given, optimize=optimize
    )


@pytest.mark.parametrize("optimize", [True, False, None, "greedy", "foo", 1, ("greedy", 10.0)])
@pytest.mark.parametrize("text", ["ij,jk->ik", "ij,jk->ki", "ij->ji", "i,j->ji", "ij,ij->j"])
def test_options_of_two_operands(text, optimize):
    shapes = {"ij": (4, 5), "jk": (5, 6), "i": (4,), "j": (5,)}
    given = tuple(numpy.ones(shapes[part]) for part in text.partition("->")[0].split(","))
    expected = outcome(lambda *x: numpy.einsum(text, *x, optimize=optimize), given)
    found = outcome(lambda *x: np.einsum(text, *x, optimize=optimize), tuple(map(ours, given)))
    assert found == expected


@pytest.mark.parametrize(
    "arguments",
    [
        ("ij,jk",),
        ("ij",),
        ("ij,jk", numpy.ones((2, 3))),
        ("iq,zz", numpy.ones((2, 3)), numpy.ones((2, 3))),
        ("ij->ijkk", numpy.ones((2, 3))),
        ("i->j", numpy.ones(3)),
        ("i..j", numpy.ones((2, 3))),
        ("i&j", numpy.ones((2, 3))),
        ("ij,jk->ik", numpy.ones((2, 3), "f2"), numpy.ones((3, 2), "f2")),
        (numpy.ones((2, 3)), [0, 1], numpy.ones((3, 2)), [1, 2], [0, 2]),
        ("i,", [1, 2], 3),
    ],
)
def test_what_is_numpys_is_left_to_numpy(arguments):
    mine = tuple(ours(a) if isinstance(a, numpy.ndarray) else a for a in arguments)
    given = tuple(arguments)
    expected, found = (outcome(m.einsum, a) for m, a in ((numpy, given), (np, mine)))
    assert found[0] == expected[0] and found[2] == expected[2]


def test_products_are_not_stored_where_operands_are_held_or_much_waits():
    a, b, c = (np.ones((80, 80)) for _ in range(3))  # all their products together: 312 MiB
    held = numpy.asarray(a)
    _core.let_float_errors_come_late()
    frit.report(reset=True)
    assert float(np.einsum("ij,jk,kl->il", a, b, c)[3, 4]) == 6400.0
    real = numpy.ones((80, 80))
    assert float(np.einsum("ij,jk,kl->il", real, real, real)[3, 4]) == 6400.0
    del held
    total = np.zeros((80, 80))
    for k in range(5):
        total = total + np.einsum("ij,jk,kl->il", a, b, c) * float(k)
    for k in range(1000):  # many operations wait, and one of einsum's is where they are too many
        total = total + np.einsum("ij,jk->ik", a[:9].astype(int), b[:, :9].astype(int)).sum() * k
    assert float(total[0, 0]) == 6400.0 * 10 + 6480.0 * sum(range(1000))
    with frit.off():
        assert float(np.einsum("ij,jk,kl->il", a, b, c)[3, 4]) == 6400.0
    assert frit.report().statistics["bytes_peak"] < 64 << 20
