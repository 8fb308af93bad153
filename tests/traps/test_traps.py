"""test_traps.py: programs that catch lazy systems: arrays mutate, are shared, and may fail.

Each trap is a function of the module `np` and a size; it is run with NumPy and with frit.numpy, at
sizes that are computed at once, recorded, and large, with each tier, and everything that it returns
must be the same bit for bit.
"""

from __future__ import annotations

import numpy
import pytest

TRAPS = []
SIZES = {"tiny": 10, "recorded": 3_600, "large": 250_000}


def trap(function):
    TRAPS.append(function)
    return function


def raised(function):
    """What a call raised: the type's name and the words."""
    try:
        function()
    except Exception as error:
        return type(error).__name__, str(error)
    return "nothing", ""


def ramp(np, n, dtype="float64"):
    return np.array((numpy.sin(numpy.arange(n)) * 8).astype(dtype))


def square(np, n, dtype="float64"):
    side = int(n**0.5)
    return ramp(np, side * side, dtype).reshape(side, side)


# ---- a read, a write, a read ---------------------------------------------------------------------


@trap
def write_after_an_evaluated_read(np, n):
    x = ramp(np, n)
    y = x + 1
    float(y[0])
    x[0] = 5
    z = x + 1
    return y, z, x


@trap
def write_after_a_pending_read(np, n):
    x = ramp(np, n)
    y = x + 1
    x[0] = 5
    return float(y[0]), y, x


@trap
def a_result_used_before_and_after_a_write(np, n):
    x = ramp(np, n)
    y = x * 2
    z = y + x
    x *= 3
    w = y + x
    y[:] = 0
    return z, w, x, y


@trap
def the_old_value_of_a_name_that_was_bound_again(np, n):
    x = ramp(np, n)
    old = x
    x = x + 1
    old -= 1
    return x, old


@trap
def in_place_is_seen_through_every_name(np, n):
    x = ramp(np, n)
    y = x
    x += 1
    y *= 2
    return x, y


# ---- windows -------------------------------------------------------------------------------------


@trap
def an_update_of_an_inner_window_is_an_update_of_the_whole(np, n):
    big = square(np, n)
    u = big[1:-1, 1:-1]
    u += 1
    return big, u


@trap
def a_row_in_place(np, n):
    a = square(np, n)
    row = a[1]
    row *= 2
    column = a[:, 0]
    column -= row
    return a


@trap
def a_window_of_a_window_of_a_transposed_reshape(np, n):
    a = ramp(np, n - n % 2)
    w = a.reshape(2, -1).T[1:-1:2, ::-1]
    w += 1
    v = w[0, :1]
    v[...] = 7
    return a, w, v


@trap
def the_tail_plus_the_head(np, n):
    a = ramp(np, n)
    a[1:] += a[:-1]
    b = ramp(np, n)
    b[:-1] += b[1:]
    return a, b


@trap
def the_even_plus_the_odd(np, n):
    a = ramp(np, n - n % 2)
    a[::2] += a[1::2]
    a[1::2] *= a[::2]
    return a


@trap
def a_reversed_window_of_itself(np, n):
    a = ramp(np, n)
    a += a[::-1]
    b = ramp(np, n)
    b[:] = b[::-1]
    return a, b


@trap
def a_matrix_plus_its_transpose_in_place(np, n):
    a = square(np, n)
    a = a.T
    a += a.T
    b = square(np, n)
    b += b.T
    return a, b


@trap
def copies_between_overlapping_windows(np, n):
    a = ramp(np, n)
    a[1:] = a[:-1]
    b = ramp(np, n)
    b[:-1] = b[1:]
    c = square(np, n)
    c[1:, 1:] = c[:-1, :-1]
    return a, b, c


@trap
def a_stencil_in_place_on_views(np, n):
    u = square(np, n)
    inner = u[1:-1, 1:-1]
    for _ in range(6):
        inner += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inner)
    return u


@trap
def two_fields_that_update_each_other_in_place(np, n):
    u, v = square(np, n), square(np, n) + 1
    for _ in range(5):
        reaction = u * v * v
        u[1:-1, 1:-1] += 0.16 * (u[:-2, 1:-1] + u[2:, 1:-1] - 2 * u[1:-1, 1:-1])
        v[1:-1, 1:-1] += 0.08 * (v[:-2, 1:-1] + v[2:, 1:-1] - 2 * v[1:-1, 1:-1])
        u += -reaction + 0.035 * (1 - u)
        v += reaction - 0.1 * v
        u /= abs(u).max()
        v /= abs(v).max()
    return u, v


@trap
def shifted_reads_of_what_was_just_written(np, n):
    a = ramp(np, n)
    b = a * 2
    c = b[1:] - b[:-1]
    b[1:] = c
    d = b[1:] + c
    return a, b, c, d


@trap
def a_running_window_over_a_loop(np, n):
    a = ramp(np, n)
    total = np.zeros(n - 4)
    for k in range(4):
        total += a[k : n - 4 + k]
        a[k : n - 4 + k] -= total
    return a, total


# ---- out= and where= -----------------------------------------------------------------------------


@trap
def out_is_another_array(np, n):
    a, b = ramp(np, n), np.zeros(n)
    c = np.add(a, 1, out=b)
    a[:] = 0
    return a, b, c is b


@trap
def out_is_an_input_and_a_window_of_an_input(np, n):
    a = ramp(np, n)
    np.multiply(a, a, out=a)
    np.add(a[1:], a[:-1], out=a[:-1])
    np.subtract(a[:-1], a[1:], out=a[1:])
    return a


@trap
def out_of_another_type(np, n):
    a = ramp(np, n)
    narrow = np.zeros(n, dtype="float32")
    np.multiply(a, 3, out=narrow)
    whole = np.zeros(n, dtype="int32")
    np.add(a, 1, out=whole, casting="unsafe")
    return narrow, whole, raised(lambda: np.add(a, 1, out=whole))


@trap
def a_mask_keeps_what_it_hides(np, n):
    a = ramp(np, n)
    out = np.full(n, -1.0)
    np.sqrt(abs(a), out=out, where=a > 0)
    np.add(a, 1, out=a, where=a < 0)
    a[a > 3] = 0
    a[a < -3] *= 2
    return a, out


@trap
def a_mask_made_from_what_it_changes(np, n):
    a = ramp(np, n)
    mask = a > 0
    a[mask] = -1
    a[mask] += 5
    mask[:] = True
    a[mask] -= 1
    return a, mask


# ---- types ---------------------------------------------------------------------------------------


@trap
def powers(np, n):
    x = ramp(np, n) + 9
    k = np.arange(n) % 7
    return (
        x**0,
        x**-1,
        x**0.5,
        x**2,
        np.rint(x) ** 3,
        x**1,
        k**2,
        k**0,
        raised(lambda: k**-1),
        x.astype("float32") ** 2,
    )


@trap
def mixed_types(np, n):
    single, double = ramp(np, n, "float32"), ramp(np, n)
    whole = np.arange(n, dtype="int32")
    return (
        single + double,
        single + 1,
        single + 1.5,
        single * np.float64(2),
        whole / 2,
        whole // 2,
        whole * 2.0,
        whole + single,
        whole + np.int8(3),
        whole > 2.5,
        single == double,
        whole % 3,
        -whole,
        whole.astype("uint8") + whole.astype("int8"),
    )


@trap
def comparisons_are_arrays(np, n):
    a, b = ramp(np, n), ramp(np, n)
    b[3] = 0
    return a == b, (a == b).sum(), (a != b).any(), bool((a == a).all()), a is not b


# ---- memory that others see ----------------------------------------------------------------------


@trap
def a_real_array_of_the_memory_written_behind_a_later_op(np, n):
    f = ramp(np, n)
    real = numpy.asarray(f)
    y = f + 1
    real[0] = 5
    return y, f, f + 1


@trap
def a_real_array_of_the_memory_written_behind_an_earlier_op(np, n):
    f = ramp(np, n)
    y = f + 1
    real = numpy.asarray(f)
    real[0] = 5
    return y, f


@trap
def a_real_array_of_a_slice(np, n):
    f = ramp(np, n)
    y = f + 1
    real = numpy.asarray(f[2:5])
    real[0] = 5
    z = f + 1
    real[1] = 6
    f[4] = 8
    return y, z, f, real.tolist()


@trap
def a_real_array_of_a_transpose(np, n):
    f = square(np, n)
    y = f + 1
    real = numpy.asarray(f.T)
    real[0, 1] = 5
    z = f + 1
    real[1, 0] = 6
    f[2, 2] = 7
    return y, z, f, float(real[2, 2])


@trap
def an_export_that_ends(np, n):
    f = ramp(np, n)
    real = numpy.asarray(f)
    real[0] = 5
    del real
    f += 1
    y = f * 2
    f[1] = 0
    return f, y


@trap
def a_buffer_that_is_held(np, n):
    f = ramp(np, n)
    y = f + 1
    with memoryview(f) as memory:
        memory[0] = 3.5
        z = f + 1
        memory[0] = 4.5
    f[0] += 1
    return y, z, f


@trap
def foreign_memory_is_never_late(np, n):
    real = numpy.sin(numpy.arange(n))
    f = np.asarray(real)
    y = f * 2
    real[0] = 9
    f[1] = 8
    g = np.asarray(real[1:])
    f[:-1] += g
    return y, f, g, real.tolist()[:5]


@trap
def put_writes_behind_recorded_reads(np, n):
    f = ramp(np, n)
    y = f + 1
    np.put(f, [0], 9)
    z = f + 1
    return y, z, f


@trap
def functions_that_write_their_argument(np, n):
    f = ramp(np, n)
    y = f + 1
    np.copyto(f, 3.0, where=f > 0)
    z = f + 1
    np.place(f, f < 0, [1.0, 2.0])
    w = f + 1
    f.sort()
    v = f + 1
    np.fill_diagonal(f[:9].reshape(3, 3), 7)
    f.fill(2)
    return y, z, w, v, f


# ---- indices -------------------------------------------------------------------------------------


@trap
def index_arrays_see_what_was_there(np, n):
    a = ramp(np, n)
    index = np.array([3, 1, 1, 0])
    b = a[index]
    a[index] = -1
    c = a[index]
    index[0] = 2
    a[index] += 10
    return a, b, c, a[index]


@trap
def the_last_of_equal_indices_wins_and_at_counts_all(np, n):
    a = np.zeros(n)
    a[[1, 1, 2]] = [5, 6, 7]
    a[[3, 3]] += 1
    np.add.at(a, [4, 4, 4], 2)
    return a


@trap
def masks_as_values(np, n):
    a = ramp(np, n)
    positive = a[a > 0]
    a[a > 0] = 0
    positive += 1
    return a, positive, positive.sum()


# ---- scalars -------------------------------------------------------------------------------------


@trap
def a_sum_that_is_bound_twice(np, n):
    x = ramp(np, n)
    s = x.sum()
    t = s
    s += 1
    return t, s, float(t)


@trap
def a_sum_before_its_input_changes(np, n):
    x = ramp(np, n)
    s = x.sum()
    m = x.max()
    x *= 0
    x += s
    return s, m, x, x.mean()


@trap
def scalars_in_expressions_and_conditions(np, n):
    x = ramp(np, n)
    s = x.sum()
    y = x - s / n
    if s > 0:
        y = -y
    return y, {s: 1}[s], hash(s) == hash(float(s)), [int(s), bool(s), f"{s:.3f}", repr(s)]


@trap
def normalising_in_place_by_a_pending_scalar(np, n):
    x = ramp(np, n)
    for _ in range(4):
        x /= x.max()
        x -= x.mean()
    return x


@trap
def reductions_of_windows_in_a_loop(np, n):
    a = square(np, n)
    sums = []
    for k in range(3):
        sums.append(a[k:].sum(axis=0))
        a[k] = sums[-1]
    return a, *sums


# ---- errors --------------------------------------------------------------------------------------


@trap
def an_error_in_a_half_recorded_statement(np, n):
    a, b = ramp(np, n), ramp(np, n)
    wrong = np.zeros(3)
    words = [
        raised(lambda: (a + 1) * (b + wrong)),
        raised(lambda: np.add(a, b, out=wrong)),
        raised(lambda: a.__setitem__(slice(1, None), a * 2 + wrong)),
        raised(lambda: a.reshape(7, -1, 0)),
        raised(lambda: np.concatenate([a, np.zeros((2, 2))])),
    ]
    try:
        a += 1
        b[:] = a * 2
        a[1:] += b + wrong
        a += 100
    except ValueError:
        b -= 1
    return a, b, wrong, words


@trap
def a_failed_update_leaves_its_target(np, n):
    k = np.arange(n)
    words = [
        raised(lambda: k.__itruediv__(2)),
        raised(lambda: k.__iadd__(0.5)),
        raised(lambda: k.__ipow__(-1)),
        raised(lambda: k.__setitem__([0, n], 5)),
        raised(lambda: k.__setitem__(n, 5)),
        raised(lambda: k.__setitem__(k > 2, [1, 2])),
        raised(lambda: np.add(k, 1, out=k, where=np.ones(3, dtype=bool))),
        raised(lambda: k[[n]]),
        raised(lambda: k[n]),
        raised(lambda: k.sum(axis=1)),
        raised(lambda: bool(k)),
        raised(lambda: float(k)),
    ]
    return k, words


@trap
def a_read_only_view_refuses(np, n):
    a = ramp(np, n)
    b = np.broadcast_to(a, (2, n))
    a.flags.writeable = False
    words = [
        raised(lambda: a.__iadd__(1)),
        raised(lambda: b.__setitem__(0, 1)),
        raised(lambda: np.add(a, 1, out=a)),
    ]
    a.flags.writeable = True
    a += 1
    return a, b, words


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("function", TRAPS, ids=lambda f: f.__name__)
def test_trap(function, size, tier, same):
    import frit.numpy

    with numpy.errstate(all="ignore"):
        expected = function(numpy, SIZES[size])
    with frit.numpy.errstate(all="ignore"):
        # Twice: the second time plans and kernels come from the caches.
        for _ in range(2):
            same(function(frit.numpy, SIZES[size]), expected, function.__name__)


# ---- limits --------------------------------------------------------------------------------------


def test_a_chain_of_a_million_ops_without_a_read(tier, same):
    import frit.numpy as np

    x = ramp(np, 3000)
    y = x
    for _ in range(500_000):
        y = y + 1
        y = y - 1
    same(float(y[7]), float(_two_steps(numpy.array(numpy.asarray(x)), 500_000)[7]))


def _two_steps(x, rounds):
    for _ in range(rounds):
        y = (x + 1) - 1
        if (y == x).all():  # a fixed point
            return y
        x = y
    return x


@pytest.mark.unsanitized
def test_100_000_updates_in_place_hold_constant_memory(tier):
    import frit.numpy as np
    from frit import _core

    x = np.zeros(20_000)
    float(x[0])
    _core.reset_statistics()
    before = _core.statistics()["bytes_live"]
    for _ in range(100_000):
        x += 1
    assert x[3] == 100_000 and (x == 100_000).all()
    assert _core.statistics()["bytes_peak"] - before <= 4 * x.nbytes


@pytest.mark.unsanitized
@pytest.mark.parametrize(
    "statement",
    ["y = y * 0.5 + x", "x[1:] = x[:-1] * 0.5", "y = x + 1; x = y * 0.5", "x[k % 9] = k"],
)
def test_loops_without_a_read_hold_constant_memory(statement, tier):
    import frit.numpy as np
    from frit import _core

    scope = {"np": np, "x": np.ones(20_000), "y": np.ones(20_000)}
    float(scope["x"][0] + scope["y"][0])
    _core.reset_statistics()
    before = _core.statistics()["bytes_live"]
    exec(f"for k in range(10_000):\n    {statement}", scope)
    assert _core.statistics()["bytes_peak"] - before <= 64 << 20
    expected = {"np": numpy, "x": numpy.ones(20_000), "y": numpy.ones(20_000)}
    exec(f"for k in range(10_000):\n    {statement}", expected)
    assert (numpy.asarray(scope["x"]) == expected["x"]).all() and (
        numpy.asarray(scope["y"]) == expected["y"]
    ).all()


@pytest.mark.unsanitized
@pytest.mark.on_host  # an emulated device's copies are in the same memory
def test_means_of_many_large_inputs_hold_few_of_them(process):
    """The peak of memory is NumPy's, though nothing is read before the end. (LLVM takes 60 MiB.)"""
    program = """
        import sys, numpy
        numpy.zeros((1000, 8000)).tofile("input.bin")
        if sys.argv[1] == "numpy":
            np = numpy
        else:
            import frit.numpy as np
        def peak():  # of this process; ru_maxrss has what it was before exec, too
            (line,) = [x for x in open("/proc/self/status") if x.startswith("VmHWM")]
            return int(line.split()[1]) // 1024
        def load(k):
            return np.fromfile("input.bin").reshape(1000, 8000) + k
        out = [load(0).mean(0)]
        float(out[0][0])
        out = []
        for k in range(12):
            out.append(load(k).mean(0))
        assert [float(m[5]) for m in out] == list(range(12))
        print(peak())
    """
    with_numpy = int(process(program, "numpy").stdout)
    with_frit = int(process(program, "frit", FRIT_TIER="interpreter").stdout)
    assert with_frit <= with_numpy + 24


@pytest.mark.unsanitized
def test_rounds_with_large_temporaries_do_not_wait_for_one_another(tier):
    import frit.numpy as np
    from frit import _core

    n = 3_000_000
    _core.reset_statistics()
    before = _core.statistics()["bytes_live"]
    means = []
    for k in range(40):
        big = np.arange(n, dtype=np.float64).reshape(-1, 100) + k
        means.append(big.mean(axis=0))
    assert [float(m[0]) for m in means] == [(n - 100) / 2 + k for k in range(40)]
    assert _core.statistics()["bytes_peak"] - before <= 4 * big.nbytes


# ---- clocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "clock",
    [
        "time.perf_counter()",
        "time.time()",
        "time.monotonic()",
        "time.process_time()",
        "time.perf_counter_ns()",
        "timeit.default_timer()",
    ],
)
def test_a_clock_sees_the_work_that_was_recorded_before_it(clock, process):
    program = f"""
        import time, timeit, datetime
        import numpy as np
        from frit import _core
        x = np.arange(300_000.0)
        float(x[0])
        y = np.sqrt(x) * 2 + 1
        assert _core.has_pending()
        {clock}
        assert not _core.has_pending()
    """
    import subprocess
    import sys
    import textwrap

    done = subprocess.run(
        [sys.executable, "-m", "frit", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_what_the_last_pass_over_a_row_stores_goes_past_the_caches(process):
    program = """
        import numpy, frit, frit.numpy as np

        x = np.array(numpy.random.default_rng(1).random((4000, 1000)))
        frit.eval()
        centred = x - x.mean(1, keepdims=True)
        scaled = centred / centred.max(1, keepdims=True)
        frit.eval()
    """
    lines = process(program, FRIT_DUMP="kernel").stderr.splitlines()
    stores = [line.strip() for line in lines if " store " in line and "[v1*n1 + " in line]
    assert len(stores) == 2, lines
    assert [store.startswith("store streaming") for store in stores] == [False, True]
