"""test_view_functions.py: the NumPy-like functions, random pools, BinSort and reducers."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap

import numpy
import pytest

import frit
import frit.pykokkos as pk
from frit import _core
from frit.pykokkos._functions import NAMES
from frit.translate import TranslationError

N = 1000


def view_of(values, dtype=None) -> pk.View:
    array = numpy.asarray(values)
    view = pk.View(array.shape, array.dtype if dtype is None else dtype)
    view[:] = array
    return view


# ---- the table ----------------------------------------------------------------------------------

_INTEGERS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert"}
_SHIFTS = {"bitwise_left_shift", "bitwise_right_shift"}


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_function_is_numpys(name: str, dtype: str) -> None:
    numpys = getattr(numpy, NAMES[name])
    integral = name in _INTEGERS | _SHIFTS
    if integral and dtype != "int32":
        pytest.skip("of integers only")
    rng = numpy.random.default_rng(3)
    a, b = rng.uniform(0.1, 0.9, (2, 5, 7)).astype(dtype)
    if dtype == "int32":
        a, b = rng.integers(1, 9, (2, 5, 7)).astype(dtype)
    if name in ("arccosh", "acosh"):
        a = a + numpy.asarray(1, dtype)
    elif dtype == "int32" and name in ("arccos", "arcsin", "arctanh", "acos", "asin", "atanh"):
        a = numpy.zeros_like(a)
    if name == "searchsorted":
        a = numpy.sort(a.ravel())
    elif name == "index":
        a, b = a.ravel(), numpy.array([3, 0, 34, 3], "int32")
    arguments = [a, b] if _takes_two(numpys, name) else [a]
    if name == "expand_dims":
        arguments = [a, 0]
    expected = numpys(*arguments)
    views = [view_of(x) if isinstance(x, numpy.ndarray) else x for x in arguments]
    found = getattr(pk, name)(*views)
    if isinstance(found, pk.ViewType):
        assert found.shape == numpy.shape(expected)
    numpy.testing.assert_allclose(
        numpy.asarray(found), expected, rtol=2e-6 if dtype == "float32" else 1e-13
    )


def _takes_two(numpys, name: str) -> bool:
    if isinstance(numpys, numpy.ufunc):
        return numpys.nin == 2
    return name in ("in1d", "index", "searchsorted")


def launches() -> int:
    s = _core.statistics()
    return s["interpreted_launches"] + s["compiled_launches"] + s["device_launches"]


def test_functions_are_lazy_and_fuse_with_kernels() -> None:
    @pk.workunit
    def double(i, a):
        a[i] *= 2

    with numpy.errstate(all="ignore"):  # a test runner's filter of warnings makes them immediate
        a = view_of(numpy.arange(50_000.0))
        gc.collect()  # what other tests have left, and work on memory of theirs
        frit.eval()
        before = launches()
        b = pk.sqrt(pk.add(a, 1))
        pk.parallel_for(50_000, double, a=b)
        total = pk.sum(b)
        assert _core.is_pending(total)
        text = str(frit.explain(total))
        value = float(total)
    assert launches() == before + 1, text
    assert value == float((numpy.sqrt(numpy.arange(50_000.0) + 1) * 2).sum())


def test_arguments_have_pykokkos_names() -> None:
    a = view_of([1.0, 4.0])
    assert list(pk.sqrt(view=a)) == [1.0, 2.0]
    assert list(pk.add(viewA=a, viewB=a, profiler_name="add")) == [2.0, 8.0]
    assert list(pk.subtract(a, valB=1)) == [0.0, 3.0]
    assert pk.all(a, axis=0, keepdims=True)[0] == 1


def test_products() -> None:
    rng = numpy.random.default_rng(0)
    a, b, c = rng.random((3, 4)), rng.random((4, 5)), rng.random((3, 5))
    numpy.testing.assert_allclose(pk.np_matmul(view_of(a), view_of(b)).data, a @ b)
    numpy.testing.assert_allclose(pk.matmul(view_of(a[0]), view_of(b)).data, a[0] @ b)
    assert float(pk.dot(view_of(a[0]), view_of(a[1]))) == pytest.approx(a[0] @ a[1])
    found = pk.dgemm(2.0, view_of(a), view_of(b), 0.5, view_of(c))
    numpy.testing.assert_allclose(found.data, 2 * a @ b + 0.5 * c)
    with pytest.raises(RuntimeError, match="core dimension .Size 3 is different from 4"):
        pk.matmul(view_of(c[:, 0]), view_of(b))
    with pytest.raises(RuntimeError, match="not compatible for multiplication"):
        pk.np_matmul(view_of(b), view_of(a))
    with pytest.raises(RuntimeError, match="two vectors of one length"):
        pk.dot(view_of(a[0]), view_of(b[0]))
    with pytest.raises(ValueError, match="does not match first"):
        pk.dgemm(1.0, view_of(b), view_of(a))


def test_new_views() -> None:
    a = view_of(numpy.ones((2, 3), "int16"))
    for made, expected in (
        (pk.zeros(4), numpy.zeros(4)),
        (pk.zeros([2, 2], dtype=pk.int8), numpy.zeros((2, 2), "int8")),
        (pk.ones([3]), numpy.ones(3)),
        (pk.full([3], 7), numpy.full(3, 7)),
        (pk.full(2, 1.5, dtype=pk.float), numpy.full(2, 1.5, "float32")),
        (pk.ones_like(a), numpy.ones((2, 3), "int16")),
        (pk.zeros_like(a, dtype=pk.double), numpy.zeros((2, 3))),
        (pk.full_like(a, 9), numpy.full((2, 3), 9, "int16")),
        (pk.linspace(0, 1, 5), numpy.linspace(0, 1, 5)),
        (pk.logspace(0, 2, 3), numpy.logspace(0, 2, 3)),
        (pk.arange(2, 9, 3), numpy.arange(2, 9, 3)),
        (pk.reshape(a, (3, 2)), numpy.ones((3, 2), "int16")),
        (pk.col(a, 1), numpy.ones(2, "int16")),
        (pk.hstack(a, a), numpy.ones((2, 6), "int16")),
        (pk.broadcast_view(3, a), numpy.full((2, 3), 3)),
    ):
        assert isinstance(made, pk.View) and made.shape == expected.shape
        assert made.data.dtype == expected.dtype
        numpy.testing.assert_array_equal(made.data, expected)
    assert pk.iinfo(pk.int16).max == 32767 and pk.finfo(pk.float).bits == 32


def test_copies_share_no_memory() -> None:
    a = view_of(numpy.arange(6.0).reshape(2, 3))
    for copy in (pk.reshape(a, (3, 2)), pk.col(a, 0), pk.broadcast_view(a, a)):
        copy[:] = -1
    assert float(pk.sum(a)) == 15.0


def test_copyto() -> None:
    a, b = view_of(numpy.zeros((2, 3))), view_of([1.0, 2.0, 3.0])
    pk.copyto(a, b)
    assert list(a[1, :]) == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="Cannot copy from a non-view"):
        pk.copyto(a, 3)
    with pytest.raises(ValueError):
        pk.copyto(b, a)


@pytest.mark.usefixtures("tier")
def test_functions_of_one_element_in_kernels() -> None:
    @pk.workunit
    def kernel(i, a, out):
        out[i] = pk.sqrt(a[i]) + pk.sin(a[i]) + pk.fmod(a[i], 2.5) + pk.pow(a[i], 2)

    a, out = view_of(numpy.arange(20.0)), pk.View([20])
    pk.parallel_for(20, kernel, a=a, out=out)
    x = numpy.arange(20.0)
    numpy.testing.assert_allclose(
        out.data, numpy.sqrt(x) + numpy.sin(x) + numpy.fmod(x, 2.5) + x**2, rtol=1e-14
    )


# ---- random numbers -----------------------------------------------------------------------------


@pk.workunit
def draw(i, a, pool):
    a[i] = pk.rand(pk.double)


def test_random_numbers_are_uniform_and_differ() -> None:
    pool, a = pk.Random_XorShift64_Pool(1234, 100), pk.View([200_000])
    pk.parallel_for(200_000, draw, a=a, pool=pool)
    first = a.data.copy()
    assert 0 <= first.min() and first.max() < 1
    assert len(numpy.unique(first)) == len(first)
    counts = numpy.histogram(first, 64, (0, 1))[0]
    expected = len(first) / 64
    assert ((counts - expected) ** 2 / expected).sum() < 120  # chi squared, 63 degrees: 1e-5
    assert abs(numpy.corrcoef(first[:-1], first[1:])[0, 1]) < 0.012  # 5 standard deviations
    pk.parallel_for(200_000, draw, a=a, pool=pool)
    assert not (a.data == first).any()
    assert abs(numpy.corrcoef(first, a.data)[0, 1]) < 0.012


def test_pools_of_one_seed_repeat_whatever_runs_them() -> None:
    found = []
    for tier, n in (("interpreter", 3000), ("compiled", 3000), ("compiled", 10_000)):
        _core.set_tier(tier)
        pool, a = pk.Random_XorShift1024_Pool(7, 1), pk.View([n])
        for _ in range(2):
            pk.parallel_for(n, draw, a=a, pool=pool)
        found.append(a.data[:3000].copy())
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()
    other = pk.View([3000])
    pk.parallel_for(3000, draw, a=other, pool=pk.Random_XorShift64_Pool(8, 1))
    assert not (other.data == found[0]).any()


@pytest.mark.usefixtures("tier")
def test_types_and_several_draws() -> None:
    @pk.functor
    class Draws:
        def __init__(self) -> None:
            self.pool = pk.Random_XorShift64_Pool(99, 10)
            self.whole = pk.View([N, 3], pk.int32)
            self.single = pk.View([N], pk.float)

        @pk.workunit
        def run(self, i, j):
            for k in range(3):
                self.whole[i][k] = pk.rand(pk.int32)
            if j == 0:
                self.single[i] = pk.rand(pk.float)

    f = Draws()
    pk.parallel_for(pk.MDRangePolicy([0, 0], [N, 1]), f.run)
    whole, single = f.whole.data, f.single.data
    assert whole.min() >= 0 and whole.max() > 2**30 and len(numpy.unique(whole)) > 3 * N - 5
    assert 0 <= single.min() and single.max() < 1 and abs(single.mean() - 0.5) < 0.05


def test_rand_needs_one_pool() -> None:
    @pk.workunit
    def none(i, a):
        a[i] = pk.rand(pk.double)

    @pk.workunit
    def two(i, a, p, q):
        a[i] = pk.rand(pk.double)

    a = pk.View([3])
    with pytest.raises(TranslationError, match="give the launch one pk.Random"):
        pk.parallel_for(3, none, a=a)
    pool = pk.Random_XorShift64_Pool(1, 1)
    with pytest.raises(TranslationError, match="or with several"):
        pk.parallel_for(3, two, a=a, p=pool, q=pool)


# ---- BinSort ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [pk.double, pk.float, pk.int32])
@pytest.mark.parametrize("within", [False, True])
def test_bin_sort_in_one_dimension(dtype, within: bool) -> None:
    keys = (numpy.random.default_rng(1).random(N) * 100).astype(numpy.dtype(dtype.np_equiv))
    view, values = view_of(keys), view_of(numpy.arange(N))
    sorter = pk.BinSort(view, pk.BinOp1D(view, 7, 0, 100), within)
    sorter.create_permute_vector()
    bins = ((keys.astype(float) - 0) * (7 / 100)).astype(int)
    order = numpy.lexsort([keys, bins] if within else [bins])
    assert sorter.get_bin_count().shape == (8,)
    assert list(sorter.get_bin_count()) == list(numpy.bincount(bins, minlength=8))
    assert list(sorter.get_bin_offsets()) == list(numpy.searchsorted(bins[order], range(8)))
    assert (sorter.get_permute_vector().data == order).all()
    sorter.sort(values)
    sorter.sort(view)
    assert (values.data == order).all() and (view.data == keys[order]).all()


def test_bin_sort_in_three_dimensions() -> None:
    keys = numpy.random.default_rng(2).random((N, 3)) * [2, 3, 4]
    view, ids = view_of(keys), view_of(numpy.arange(N, dtype="int32"))
    sorter = pk.BinSort(view, pk.BinOp3D(view, [2, 3, 4], [0, 0, 0], [2, 3, 4]))
    sorter.create_permute_vector()
    x, y, z = keys.astype(int).T
    bins = (x * 3 + y) * 4 + z
    order = numpy.argsort(bins, kind="stable")
    assert list(sorter.get_bin_count()) == list(numpy.bincount(bins, minlength=24))
    sorter.sort(ids)
    sorter.sort(view)
    assert (ids.data == order).all() and (view.data == keys[order]).all()


def test_bin_sort_refuses() -> None:
    keys = view_of([0.5, 7.0, 0.2])
    sorter = pk.BinSort(keys, pk.BinOp1D(keys, 4, 0, 1))
    with pytest.raises(ValueError, match="create_permute_vector.. first"):
        sorter.sort(keys)
    with pytest.raises(ValueError, match="the key 7.0 is in no bin"):
        sorter.create_permute_vector()
    nan = view_of([0.5, numpy.nan])
    with pytest.raises(ValueError, match="the key nan is in no bin"):
        pk.BinSort(nan, pk.BinOp1D(nan, 4, 0, 1)).create_permute_vector()
    with pytest.raises(ValueError, match="is not above the least"):
        pk.BinOp1D(keys, 4, 1, 1)
    good = view_of([0.5, 0.1])
    sorter = pk.BinSort(good, pk.BinOp1D(good, 4, 0, 1))
    sorter.create_permute_vector()
    with pytest.raises(ValueError, match="1 values for 2 keys"):
        sorter.sort(keys[0:1])
    longer = view_of([5.0, 6.0, 7.0])
    sorter.sort(longer)  # what is behind the keys' number stays
    assert list(longer) == [6.0, 5.0, 7.0]


# ---- reducers -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("tier")
@pytest.mark.parametrize("space", [pk.ExecutionSpace.OpenMP, pk.ExecutionSpace.Debug])
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_reducers(n: int, space: pk.ExecutionSpace) -> None:
    points = pk.RangePolicy(space, 0, n)

    @pk.workunit
    def extremes(i, lo: pk.Min[pk.double], hi: pk.Max[pk.int32], total: pk.Acc[pk.double], a):
        lo = pk.min(lo, a[i])
        if a[i] * 10 > hi:
            hi = a[i] * 10
        total += a[i]

    @pk.workunit
    def product(i, acc: pk.Prod[pk.double], a):
        acc *= 1 + a[i] * 1e-3

    @pk.workunit
    def every(i, acc: pk.LAnd[pk.int32], a, below):
        acc = acc and a[i] < below

    @pk.workunit
    def some(i, acc: pk.LOr[pk.int32], a, below):
        acc = acc or a[i] < below

    @pk.workunit
    def bits(i, both: pk.BAnd[pk.int32], any: pk.BOr[pk.int32], b):
        both &= b[i]
        any |= b[i]

    values = numpy.random.default_rng(n).uniform(-50, 50, n)
    b = numpy.random.default_rng(n).integers(0, 2**30, n).astype("int32") | 5
    a, whole = view_of(values), view_of(b)
    lo, hi, total = pk.parallel_reduce(points, extremes, a=a)
    assert lo == (values.min() if n else numpy.inf)
    assert hi == (int((values * 10).astype("int32").max()) if n else -(2**31))
    assert float(total) == pytest.approx(values.sum())
    assert float(pk.parallel_reduce(points, product, a=a)) == pytest.approx(
        (1 + values * 1e-3).prod()
    )
    for limit in (-60.0, 0.0, 60.0):
        assert pk.parallel_reduce(points, every, a=a, below=limit) == int((values < limit).all())
        assert pk.parallel_reduce(points, some, a=a, below=limit) == int((values < limit).any())
    both, some_bits = pk.parallel_reduce(points, bits, b=whole)
    assert both == int(numpy.bitwise_and.reduce(b)) and some_bits == int(numpy.bitwise_or.reduce(b))


def test_reducers_that_cannot_be() -> None:
    @pk.workunit
    def bits(i, acc: pk.BAnd[pk.double], a):
        acc &= a[i]

    with pytest.raises(TypeError, match="pk.BAnd of floats"):
        pk.parallel_reduce(3, bits, a=pk.View([3]))


# ---- under its own name -------------------------------------------------------------------------


def test_program_that_imports_pykokkos_runs_under_frit(tmp_path) -> None:
    program = tmp_path / "prog.py"
    program.write_text(
        textwrap.dedent("""
        import numpy as np
        import pykokkos as pk
        from pykokkos.linalg.l3_blas import dgemm
        import pykokkos.interface as interface

        @pk.workload
        class Squares:
            def __init__(self, n):
                self.n: int = n
                self.a: pk.View1D[pk.double] = pk.View([n], pk.double)
                self.total: float = 0

            @pk.main
            def run(self):
                pk.parallel_for("fill", self.n, lambda i: i * i, self.a)
                self.total = pk.parallel_reduce(self.n, self.add)

            @pk.callback
            def results(self):
                print("total", self.total)

            @pk.workunit
            def add(self, i: int, acc: pk.Acc[pk.double]):
                acc += self.a[i]

        if __name__ == "__main__":
            w = Squares(10)
            pk.execute(pk.ExecutionSpace.OpenMP, w)
            print(np.sqrt(np.asarray(w.a)).sum(), interface is pk)
            print(dgemm(1.0, pk.ones([1, 2]), pk.ones([2, 1])))
        """)
    )
    done = subprocess.run(
        [sys.executable, "-m", "frit", str(program)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "total 285.0\n45.0 True\n[[2.]]\n"


@pytest.mark.parametrize("make", [pk.array, pk.asarray, pk.from_numpy])
def test_views_of_frits_arrays_stay_lazy(make) -> None:
    import frit.numpy as np

    with numpy.errstate(all="ignore"):  # a test runner's filter of warnings makes them immediate
        a = np.arange(50_000.0) + 1
        v = make(a)
        assert _core.is_pending(a)
        b = pk.multiply(v, 2)
        assert _core.is_pending(a)
        a[0] = 9
        v[1] = 8
    assert (v[0], a[1], b[0], b[1]) == (9, 8, 2, 4)
    assert pk.asarray(np.arange(3), dtype=pk.float32).data.dtype == numpy.float32
