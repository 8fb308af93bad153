"""test_fallback.py: what NumPy does for us: wrapping, aliasing, mutation, and the report of it."""

# ruff: noqa: E501

import collections
import concurrent.futures
import itertools
import textwrap

import numpy
import pytest

import frit
import frit.numpy as np

HERE = __file__


@pytest.fixture(autouse=True)
def counted_anew():
    frit.report(reset=True)
    yield
    np._fallback.set_mode("silent")


def test_numeric_results_are_ours_and_others_are_as_they_are():
    x = np.arange(6.0)
    assert type(np.isin(x, 0)) is np.ndarray
    assert type(np.matrix([[1, 2]])) is numpy.matrix
    assert isinstance(np.ma.masked_less(x, 2), numpy.ma.MaskedArray)
    assert type(np.array(["a"])) is numpy.ndarray
    assert type(np.array([None])) is numpy.ndarray
    assert type(np.percentile(x, 50)) is numpy.float64


def test_a_line_is_counted_from_the_reset_on():
    x = np.arange(6.0)

    def fall_back():
        return np.isin(x, 0)

    for _ in range(3):
        frit.report(reset=True)
        for _ in range(5):
            fall_back()
        assert [site.count for site in np._fallback.sites()] == [5]


def test_calls_refused_again_and_again_stay_counted_right_and_apart():
    x, z = np.arange(1.0, 4.0), np.arange(1.0, 4.0) + 1j
    expected = numpy.log2(numpy.arange(1.0, 4.0) + 1j)

    def log2(a):
        return np.log2(a)

    for _ in range(300):  # more than are left to NumPy without another try
        assert np.array_equal(log2(z), expected)
    assert [site.count for site in np._fallback.sites()] == [300]
    log2(x)  # operands of another kind, at the same place
    assert [site.count for site in np._fallback.sites()] == [300]


def test_an_error_that_comes_again_and_again_is_numpys_each_time():
    flags = np.array([True, False])
    for _ in range(5):
        with pytest.raises(TypeError, match="numpy boolean subtract"):
            flags - flags
        with pytest.raises(ValueError, match="read-only"):
            np.broadcast_to(flags, (2, 2))[0] = True


def test_an_operation_that_was_refused_for_its_values_is_tried_again():
    x = np.arange(3, dtype="u1")

    def added(y):
        return x + y

    for k in range(20):
        assert added(7).tolist() == [7, 8, 9]
        with pytest.raises(OverflowError):
            added(700)
        assert added(np.ones(3) if k % 2 else np.ones((2, 3))).shape[-1] == 3


def test_operands_inside_of_containers_are_given_back():
    arrays = [np.arange(3.0) + k for k in range(20)]
    for several in (arrays, tuple(arrays), [arrays], ("x", (arrays[0],)), {"all": arrays}):
        kinds = np._fallback.run(lambda given: str(given), several)
        assert kinds == str(several)
        assert not any(frit._core.is_exported(a) for a in arrays)
    with pytest.raises(ZeroDivisionError):
        np._fallback.run(lambda *given, **named: 1 / 0, arrays, one=arrays[0], all={"x": arrays})
    assert not any(frit._core.is_exported(a) for a in arrays)


def test_real_arrays_of_ours_have_the_flags_of_numpys():
    for x in [
        np.zeros((2, 3)),
        np.zeros((2, 3)).T,
        np.zeros((0, 3)),
        np.zeros(9, "u1")[1:].view("i8"),
        np.zeros(17, "u1")[1:].view("D"),
        np.zeros(()),
        np.zeros((4, 4))[::2, ::-1],
    ]:
        real = numpy.asarray(x)
        again = real[...]  # NumPy works its flags out anew
        assert real.flags.num | 4 == again.flags.num | 4  # but for OWNDATA


def test_arrays_inside_of_results_are_ours():
    values, counts = np.unique(np.array([1, 1, 2]), return_counts=True)
    assert type(values) is type(counts) is np.ndarray
    svd = np.linalg.svd(np.eye(2))
    assert type(svd).__name__ == "SVDResult"
    assert type(svd.U) is np.ndarray
    assert isinstance(svd, collections.abc.Sequence) or isinstance(svd, tuple)
    parts = np.histogram(np.arange(4.0), 2)
    assert [type(p) for p in parts] == [np.ndarray, np.ndarray]


def test_a_result_that_aliases_an_argument_still_does():
    x = np.arange(6.0)
    window = np.lib.stride_tricks.sliding_window_view(x, 3)
    x[2] = 50
    assert window[0].tolist() == [0, 1, 50]
    y = np.arange(4.0)
    strided = np.lib.stride_tricks.as_strided(y, (2,), (16,))
    strided[1] = -1
    y += 1
    assert y.tolist() == [1, 2, 0, 4]
    assert strided.tolist() == [1, 0]


def test_writable_arguments_count_as_written():
    f = np.zeros(3)
    y = f + 1
    np.put(f, [0], 9)
    z = f + 1
    assert y.tolist() == [1, 1, 1]
    assert z.tolist() == [10, 1, 1]


def test_out_gives_the_callers_own_object():
    out = np.zeros(3)
    assert np.isin(np.arange(3.0), 0) is not out
    assert np.take_along_axis is not None
    assert np.cumsum([1.0, 2, 3], out=out) is out
    real = numpy.zeros(3)
    assert np.cumsum(np.arange(3.0), out=real) is real
    assert np.add(np.arange(3.0), 1, out=real) is real
    assert np.median(np.eye(3), axis=0, out=out) is out
    assert np.random.default_rng(0).standard_normal(out=out) is out


def test_real_arrays_as_operands_share_their_memory():
    real = numpy.arange(4.0)
    ours = np.asarray(real)
    ours += 1
    assert real.tolist() == [1, 2, 3, 4]
    real[0] = 70
    assert ours[0] == 70
    back = np.sqrt(real)
    assert type(back) is np.ndarray


def run(function, *args):
    """function(*args) with real arrays for ours, as NumPy's functions are called."""
    return np._fallback.run(function, *args)


def test_what_a_callee_keeps_of_an_array_stays_its_memory():
    x = np.arange(4.0)
    kept = []
    run(kept.append, x)
    y = x * 2  # recorded or not: it is of the values from before
    kept[0][1] = 50
    assert y.tolist() == [0, 2, 4, 6]
    assert (x + 0).tolist() == [0, 50, 2, 3]
    # The next calls' arrays are others.
    run(lambda a: a.fill(9), np.zeros(4))
    run(kept.append, x)
    kept[1][2] = 60
    assert kept[0].tolist() == x.tolist() == [0, 50, 60, 3]
    view = run(lambda a: a[::2], x)
    del kept[:]
    view[0] = -1
    x += 1
    assert view.tolist() == [0, 61]


def test_what_a_callee_does_to_the_form_of_its_array_is_gone_at_the_next_call():
    def form(a):
        return a.shape, a.strides, a.dtype, a.flags.writeable, a.flags.aligned, a.tolist()

    def deform(a):
        a.shape = a.shape[::-1]
        a.dtype = numpy.int64 if a.dtype == numpy.float64 else numpy.float64
        a.setflags(write=False, align=False)

    arrays = [
        np.arange(6.0).reshape(2, 3),
        np.arange(6).reshape(3, 2),
        np.arange(3.0),
        np.arange(5),
    ]
    for deformed in arrays:
        for x in arrays:
            run(deform, deformed)
            assert run(form, x) == (x.shape, x.strides, x.dtype, True, True, x.tolist())
            assert run(form, x[1:]) == (x[1:].shape, x.strides, x.dtype, True, True, x[1:].tolist())


def test_a_result_that_its_maker_keeps_is_no_copy():
    kept = []

    def make(a):
        kept.append(a + 1)
        return kept[-1]

    x = np.arange(3.0)
    result = run(make, x)
    kept[0][0] = 70
    assert result.tolist() == [70, 2, 3]
    result[1] = 80
    assert kept[0].tolist() == [70, 80, 3]
    pair = run(lambda a: (a, a), x)
    assert pair[0] is pair[1] is x
    one, other = run(lambda a: [numpy.zeros(2)] * 2, x)
    one[0] = 5
    assert other[0] == 5
    own, view = run(lambda a: (lambda b: (b, b[1:]))(a * 2), x)
    own[1] = 33
    assert view[0] == 33


@pytest.mark.parametrize(
    "shape", [(), (1,), (3,), (1, 1), (1, 3), (3, 1), (2, 3), (0,), (2, 0), (600,), (1, 2, 3)]
)
@pytest.mark.parametrize("order", "CF")
def test_small_results_have_the_form_that_numpy_gave_them(shape, order):
    made = numpy.arange(float(numpy.prod(shape)) + 1)[1:].reshape(shape)
    for dtype in (float, numpy.complex64, bool, ">f8", "U5"):
        real = made.astype(dtype).copy(order)
        result = run(made.astype(dtype).copy, order)
        assert (result.shape, result.strides, result.dtype) == (
            real.shape,
            real.strides,
            real.dtype,
        )
        assert numpy.array_equal(numpy.asarray(result), real)
        assert result.flags.owndata and result.flags.writeable and result.base is None
    fixed = run(lambda: (lambda a: (a.setflags(write=False), a)[1])(made.copy(order)))
    assert not fixed.flags.writeable and fixed.tolist() == made.tolist()


def test_arrays_may_die_during_the_call():
    owner = [np.arange(3.0)]

    def forget(a, items):
        owner.clear()
        gone = [numpy.full(3, 7.0) for _ in range(20)]
        return a * 2 + len(gone)

    assert run(forget, owner[0], [owner[0], owner[0]]).tolist() == [20, 22, 24]
    owner.append(np.arange(3.0))
    assert run(lambda items: (owner.clear(), items[0])[1], owner).tolist() == [0, 1, 2]
    owner.extend(np.full(2, float(k)) for k in range(30))
    assert run(lambda items: (owner.clear(), items[-1][:1])[1], owner).tolist() == [29]
    many = [np.full(3, float(k)) for k in range(30)]

    def total(*arrays):
        many.clear()
        return sum(arrays) + arrays[0] * 0

    assert run(total, *many).tolist() == [435.0] * 3
    assert (
        run(lambda arrays: sum(arrays), [np.full(2, float(k)) for k in range(30)]).tolist()
        == [435.0] * 2
    )


def test_threads_fall_back_side_by_side():
    def work(k):
        x, gone = np.full(5, float(k)), []
        for n in range(300):
            y = x + n
            if run(lambda a: (a.sum(), a.copy())[1], y).tolist() != [k + n] * 5:
                gone.append(n)
            if np.unique(y).tolist() != [k + n]:
                gone.append(n)
        return gone

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [[]] * 4


def test_a_change_of_mode_is_heeded_at_a_line_that_was_counted():
    x = np.arange(5.0)

    def line():
        return np.isin(x, 0)

    line(), line()
    np._fallback.set_mode("error")
    for _ in range(2):
        with pytest.raises(frit.FallbackError):
            line()
    np._fallback.set_mode("silent")
    line()
    assert [site.count for site in np._fallback.sites()] == [3]
    frit.report(reset=True)
    line()
    np._fallback.set_mode("warn")
    frit.report(reset=True)
    with pytest.warns(frit.FallbackWarning) as caught:
        line(), line()
    assert len(caught) == 1
    assert [site.count for site in np._fallback.sites()] == [2]


def test_the_report_names_each_line_once_with_its_count():
    x = np.arange(5.0)
    for _ in range(3):
        np.isin(x, 0)
    np.trim_zeros(x)
    sites = {(s.function, s.file): s for s in frit.report().fallbacks}
    assert sites["isin", HERE].count == 3
    assert sites["trim_zeros", HERE].count == 1
    assert sites["isin", HERE].line == sites["trim_zeros", HERE].line - 1
    assert f"{HERE}:{sites['isin', HERE].line}: isin x 3" in str(frit.report())
    frit.report(reset=True)
    assert frit.report().fallbacks == []


def test_a_fallback_inside_numpys_own_code_is_the_users_line():
    np.median(np.arange(5000.0), out=np.zeros(()))
    assert {s.file for s in frit.report().fallbacks} == {HERE}


def test_native_functions_and_questions_of_type_are_no_fallbacks():
    x = np.arange(12.0).reshape(3, 4)
    np.where(x > 1, x, 0).sum(axis=0).mean()
    np.concatenate([x, x]), np.gradient(x), np.pad(x, 1), np.linspace(0, 1, 5), np.tile(x, 2)
    np.result_type(x, 1), np.can_cast(x.dtype, int), np.testing.assert_allclose(x, x), repr(x)
    (
        np.linalg.norm(x),
        np.nanmean(x),
        np.isclose(x, x),
        np.diff(x),
        np.cov(x),
        np.cross(x[:, :3], x[:, :3]),
    )
    assert [s.function for s in frit.report().fallbacks] == []


def test_warn_tells_once_for_each_line():
    np._fallback.set_mode("warn")
    x = np.arange(5.0)
    with pytest.warns(frit.FallbackWarning, match="isin") as caught:
        for _ in range(3):
            np.isin(x, 0)
    assert len(caught) == 1
    assert caught[0].filename == HERE


def test_error_raises_at_the_line():
    np._fallback.set_mode("error")
    x = np.arange(5.0)
    with pytest.raises(frit.FallbackError, match="isin"):
        np.isin(x, 0)
    with pytest.raises(frit.FallbackError):
        np.linalg.qr(np.eye(2))
    assert np.sum(x + 1) == 15
    assert np.result_type(x) == numpy.dtype(float)
    np.testing.assert_array_equal(x, x)


def test_the_environment_chooses_the_mode(python):
    code = "import frit.numpy as np; np.isin(np.arange(3.0), 0)"
    assert "FallbackError" in python("-c", code, check=False, FRIT_FALLBACK="error").stderr
    assert "FallbackWarning" in python("-c", code, FRIT_FALLBACK="warn").stderr
    assert python("-c", code).stderr == ""
    assert "FRIT_FALLBACK" in python("-c", code, check=False, FRIT_FALLBACK="loud").stderr


def test_object_dtype_and_subclasses_work_through_everything():
    x = np.array([1, None, 2.5], dtype=object)
    assert np.where([True, False, True], x, 0).tolist() == [1, 0, 2.5]
    m = np.matrix([[1.0, 2.0], [3.0, 4.0]])
    for function in (
        np.sum,
        np.mean,
        np.cumsum,
        np.gradient,
        np.transpose,
        np.concatenate,
        np.flip,
    ):
        argument = [m, m] if function is np.concatenate else m
        ours, real = function(argument), getattr(numpy, function.__name__)(argument)
        assert type(ours) is type(real) or type(real) is list
    assert type(np.sin(m)) is numpy.matrix
    assert type(np.arange(2.0) + m) is numpy.matrix


def test_explain_and_report_print_and_draw(python):
    program = """
    import frit, frit.numpy as np, shutil
    x = np.arange(100_000.0)
    y = np.sqrt(x * 2 + 1)
    shown = frit.explain(y)
    print(bool(str(shown)), str(shown) == repr(shown), "<pre>" in shown._repr_html_())
    print(shown.svg() is None or "<svg" in shown._repr_svg_(), (shutil.which("dot") is None) == (shown.svg() is None))
    frit.eval(y); frit.eval()
    print(frit.statistics()["recorded"] >= 0, frit.get_num_threads() >= 1)
    frit.set_num_threads(1)
    print(frit.get_num_threads())
    """
    out = python("-c", textwrap.dedent(program)).stdout
    assert out == "True True True\nTrue True\nTrue True\n1\n"


def test_rounds_of_a_loop_are_planned_once_and_told_once(python):
    """Also where something else is pending before the loop, and the rounds are small."""
    program = """
    import frit, frit.numpy as np
    u = np.arange(10_000.0).reshape(100, 100) * 2 + 1
    v = np.sqrt(u)
    def made():
        s = frit.statistics()
        return s["plan_misses"], s["evals"]
    before = made()
    for _ in range(300):
        v[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] - u[:-2, 1:-1])
        u[0, :] = v[1, :]
    float(v[5, 5])
    after = made()
    print(after[0] - before[0] < 12, after[1] - before[1] > 8)
    w = np.zeros((40, 3000))
    for k in range(12):
        w[k] = v[k, 1] * 2.0
    print(str(frit.explain(w)))
    """
    out = python("-c", textwrap.dedent(program)).stdout
    assert out.startswith("True True\n")
    assert " times" in out


def test_kernels_of_a_loops_rounds_are_told_once(python):
    program = """
    import frit, frit.numpy as np
    u = np.zeros((300, 300))
    u[0] = 1
    for _ in range(10):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    shown = frit.explain(u)
    print(shown)
    """
    out = python("-c", textwrap.dedent(program)).stdout
    assert "pending: 52 operations in 22 kernels; moves " in out
    assert out.count("multiply float64(298, 298)") == 2, out  # the first, and one for the others
    assert "\nkernels 5 to 20: kernels 3 to 4 again, 8 times\n" in out


@pytest.mark.at_once
def test_joined_vectors_and_grids_are_numpys():
    reals = [numpy.arange(4.0), -numpy.arange(4.0), numpy.arange(3), numpy.arange(0.0)]
    reals += [numpy.arange(4.0)[::-1], numpy.arange(6.0).reshape(2, 3), numpy.float64(2.0)]
    ours = [np.array(real) for real in reals]
    ours[4] = np.arange(4.0)[::-1]
    calls = [
        lambda m, x, y: m.r_[x, y],
        lambda m, x, y: m.c_[x, y],
        lambda m, x, y: m.r_[x, 1.0, y],
        lambda m, x, y: m.r_["0,2", x, y],
        lambda m, x, y: m.r_[x],
        lambda m, x, y: m.c_[x],
        lambda m, x, y: m.meshgrid(x, y),
        lambda m, x, y: m.meshgrid(x, y, indexing="ij"),
        lambda m, x, y: m.meshgrid(x, y, sparse=True),
        lambda m, x, y: m.meshgrid(x, y, copy=False),
        lambda m, x, y: m.meshgrid(x, y, indexing="yx"),
        lambda m, x, y: m.meshgrid(x, y, x),
        lambda m, x, y: m.meshgrid(x),
    ]
    for call in calls:
        for i, j in itertools.product(range(len(reals)), repeat=2):
            theirs, mine = (
                answer(call, numpy, reals[i], reals[j]),
                answer(call, np, ours[i], ours[j]),
            )
            assert mine == theirs, (i, j)


def answer(call, module, x, y):
    """What the call gives, with how it lies in memory, or raises."""
    try:
        result = call(module, x, y)
    except Exception as error:
        return type(error), str(error)
    parts = result if isinstance(result, tuple) else (result,)
    reals = [numpy.asarray(part) for part in parts]
    said = [(r.dtype, r.shape, r.size and r.strides, r.tobytes(), r.flags.writeable) for r in reals]
    return type(result) is tuple, said, all(isinstance(part, module.ndarray) for part in parts)


def test_readers_of_buffers_see_what_numpy_shows():
    for dtype in "?bBhHiIlLefdFD":
        for shape in ((5,), (2, 3), (1,), (1, 3), (3, 1), (0,), (), (2, 0, 3)):
            real = numpy.ones(shape, dtype)
            for of in (
                lambda a: a,
                lambda a: a.T,
                lambda a: a[..., None],
                lambda a: a[None][..., ::-1],
            ):
                theirs, ours = of(real), of(np.array(real))
                for _ in range(2):  # the format is known the second time
                    view, seen = memoryview(theirs), memoryview(ours)
                    for name in ("format", "itemsize", "nbytes", "ndim", "shape", "strides"):
                        assert getattr(seen, name) == getattr(view, name), (dtype, shape, name)
                    for name in ("readonly", "c_contiguous", "f_contiguous", "contiguous"):
                        assert getattr(seen, name) == getattr(view, name), (dtype, shape, name)
                    assert seen.tobytes() == view.tobytes() and seen.obj is ours
    x = np.arange(4.0)
    view = memoryview(x)
    x += 1.0
    view[0] = 9.0
    assert x.tolist() == [9.0, 2.0, 3.0, 4.0] and view.tolist() == x.tolist()
    part = memoryview(x[1:3])
    del x
    assert part.tolist() == [2.0, 3.0]
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    assert memoryview(fixed).readonly


def test_calls_of_ufuncs_of_others_are_counted_by_their_names():
    total = np.frompyfunc(lambda a, b: a + b, 2, 1)
    frit.report(reset=True)
    x = np.arange(3.0)
    assert total(x, x).tolist() == [0.0, 2.0, 4.0] and total.reduce(x) == 3.0
    names = {site[0] for site in frit._core.fallbacks()}
    assert "<lambda> (vectorized)" in names


def test_small_results_lie_in_memory_as_numpys_do():
    real = numpy.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
    calls = [
        lambda m, x: m.linalg.eig(x),
        lambda m, x: m.linalg.eigh(x),
        lambda m, x: m.linalg.svd(x),
        lambda m, x: m.linalg.qr(x),
        lambda m, x: m.linalg.lstsq(x, x[:, :1], rcond=None)[0],
        lambda m, x: m.einsum("ij->ji", x),
        lambda m, x: m.einsum("ij,jk->ki", x, x),
        lambda m, x: m.sort_complex(x[:, :1]),
        lambda m, x: m.require(x, "f4", "F"),
        lambda m, x: m.require(x[:2], "i8", "F"),
    ]
    for call in calls:
        theirs, ours = call(numpy, real), call(np, np.array(real))
        if not isinstance(theirs, tuple):
            theirs, ours = (theirs,), (ours,)
        for one, two in zip(theirs, ours, strict=True):
            assert type(two) is np.ndarray
            assert (one.dtype, one.shape, one.strides) == (two.dtype, two.shape, two.strides)
            assert one.tobytes() == numpy.asarray(two).tobytes()
            for flag in ("c_contiguous", "f_contiguous", "writeable", "aligned"):
                assert getattr(one.flags, flag) == getattr(two.flags, flag)
            if one.flags.writeable:
                two += 1
                assert (numpy.asarray(two) == one + 1).all()


@pytest.mark.parametrize("call", ["int(x)", "float(x)", "divmod(x, 2)", "x.device"])
def test_a_frame_without_builtins(call):
    def outcome(module):
        space = {"__builtins__": {}, "int": int, "float": float, "divmod": divmod}
        try:
            return str(eval(call, space, {"x": module.array([5.0, 2.0])}))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    assert outcome(np) == outcome(numpy)


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.arange(-(2**63), 20, 3),
        lambda np: np.arange(-(2**63), 20, 3, dtype="f8"),
        lambda np: np.arange(1e300, 20, 3),
        lambda np: np.arange(-1e300, 20, 3),
        lambda np: np.power.accumulate(np.array([[2.0, -3.0, 2.0]]), axis=1, dtype="i4"),
        lambda np: np.stack([np.ones(3, "i4"), np.ones(3)], casting="no"),
    ],
)
def test_what_numpy_refuses_is_refused(call):
    with pytest.raises((TypeError, ValueError)) as expected:
        call(numpy)
    with pytest.raises(expected.type) as ours:
        call(np)
    assert str(ours.value) == str(expected.value)


def test_the_report_says_which_kernels_stay_interpreted_and_why():
    from frit import _core
    from frit.report.profile import Report

    counters = {**_core.statistics(), "kernels_failed": 2, "compile_failure": "too wide"}
    assert "2 stay interpreted: too wide" in str(Report(counters, []))
    assert "interpreted:" not in str(Report({**counters, "kernels_failed": 0}, []))
