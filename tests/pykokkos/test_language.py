"""test_language.py: each construct of the kernel language against plain Python."""

from __future__ import annotations

import math

import numpy
import pytest

import frit.numpy
import frit.pykokkos as pk
from frit.translate import TranslationError

N = 37
pytestmark = pytest.mark.usefixtures("tier")


def check(kernel, dtype=pk.double, n: int = N, **arguments) -> None:
    """Runs kernel(i, out, ..) as a kernel and as Python, and compares."""
    out, expected = pk.View([n], dtype), numpy.zeros(n, pk.View([1], dtype).data.dtype)
    pk.parallel_for(n, kernel, out=out, **arguments)
    plain = {k: v.data.copy() if isinstance(v, pk.View) else v for k, v in arguments.items()}
    for i in range(n):
        kernel(i, expected, **plain)
    numpy.testing.assert_array_equal(out.data, expected)


def test_variables_take_the_wider_type() -> None:
    @pk.workunit
    def kernel(i, out):
        total = 0
        for k in range(i):
            total += k * 0.5
        out[i] = total

    check(kernel)


def test_break_continue_and_return() -> None:
    @pk.workunit
    def kernel(i, out):
        if i == 5:
            return
        total = 0
        for k in range(20):
            if k % 3 == 1:
                continue
            if k > i:
                break
            total += k
        n = 0
        while True:
            n += 1
            if n * n > i:
                break
        if i > 30:
            out[i] = -1
            return
        out[i] = total + 100 * n

    check(kernel, pk.int32)


def test_return_inside_loops() -> None:
    @pk.function
    def first_divisor(n: int) -> int:
        for k in range(2, 50):
            if n % k == 0:
                return k
        return 0

    @pk.workunit
    def kernel(i, out):
        out[i] = first_divisor(i + 2)

    check(kernel, pk.int64)


def test_loops_that_are_left_end() -> None:
    """Their other rounds would take years."""

    @pk.workunit
    def one_exit(i, out, most):
        for k in range(most):
            if k * k > 10 * i:
                out[i] = k
                break

    @pk.workunit
    def same_for_all(i, out, most):
        for k in range(3, most, 2):
            if k > 20:
                break
            out[i] += k

    @pk.workunit
    def two_loops(i, out, most):
        for j in range(most):
            for k in range(most):
                if j + k > i:
                    if j < 2:
                        break
                    out[i] = 100 * j + k
                    return
                out[i] += 1
            out[i] += 1000

    @pk.workunit
    def at_some_points(i, out, most):
        if i % 3 == 1:
            for k in range(most):
                if k > i:
                    break
                if k % 2 == 0:
                    continue
                out[i] += k
        out[i] -= 1

    @pk.workunit
    def bounds_of_its_own(i, out, most):
        for k in range(i % 3, most - i):
            if k * 5 > i:
                out[i] = k
                break
            out[i] += 100
        for k in range(0, most, 1 + i % 2):
            if k > i:
                return
            out[i] += 1

    @pk.workunit
    def read_behind(i, out, most):
        k = -1
        for k in range(most):
            if k * k > i:
                break
        out[i] = k
        j = 0
        for j in range(i, most):
            if j % 7 == 0:
                break
        out[i] += 1000 * j

    for kernel in (
        one_exit,
        same_for_all,
        two_loops,
        at_some_points,
        bounds_of_its_own,
        read_behind,
    ):
        check(kernel, pk.int64, most=2**60)
        check(kernel, pk.int64, n=1, most=2**60)
        check(kernel, pk.int64, most=4)


def test_values_carried_from_round_to_round() -> None:
    @pk.workunit
    def kernel(i, out):
        a = 0
        b = 1
        for _ in range(i):
            a, b = b, a + b
        out[i] = a
        for k in range(3):
            if k > 0:
                out[i] += last  # noqa: F821
            last = k * 10  # noqa: F841

    check(kernel, pk.int64, n=30)


def test_steps_of_ranges() -> None:
    @pk.workunit
    def kernel(i, out, step):
        for k in range(i, 0, -2):
            out[i] += k
        for k in range(-3, i, step):
            out[i] += 1000 * k
        for _ in range(i, 5, 3):
            out[i] += 7

    check(kernel, pk.int64, step=4)


def test_conditions() -> None:
    @pk.workunit
    def kernel(i, out, a):
        if i > 0 and a[i - 1] > 2 or i == 3:
            out[i] = 1
        elif not (0 < i < 10) and a[i] != 4:
            out[i] = 2
        out[i] += 10 if a[i] > 3 else 20
        out[i] += a[i - 1] if i > 0 else 0.5
        inside = i < 36 and a[i + 1] == 5
        if inside:
            out[i] += 0.25

    a = pk.View([N])
    a[:] = numpy.arange(N) % 7
    check(kernel, a=a)


def test_integers_divide_as_in_c() -> None:
    @pk.workunit
    def kernel(i, out, a):
        out[i][0] = a[i] // 3
        out[i][1] = a[i] % 3
        out[i][2] = a[i] // -3
        out[i][3] = a[i] % -3
        out[i][4] = a[i] / 4

    a = pk.View([21], pk.int32)
    a[:] = numpy.arange(-10, 11)
    out = pk.View([21, 5])
    pk.parallel_for(21, kernel, out=out, a=a)
    for k, x in enumerate(range(-10, 11)):
        quotient = int(x / 3)
        assert list(out[k]) == [quotient, x - 3 * quotient, -quotient, x - 3 * quotient, x / 4]


def test_int_is_32_bits_and_wraps() -> None:
    @pk.workunit
    def kernel(i, out, n):
        x: int = n
        x = x + 1
        out[i] = x

    out = pk.View([1], pk.int64)
    pk.parallel_for(1, kernel, out=out, n=2**31 - 1)
    assert out[0] == -(2**31)
    pk.parallel_for(1, kernel, out=out, n=numpy.int64(2**31 - 1))
    assert out[0] == -(2**31)  # the annotation says int


def test_wide_and_unsigned_arguments() -> None:
    @pk.workunit
    def kernel(i, out, n):
        out[i] = n + 1

    out = pk.View([1], pk.uint64)
    pk.parallel_for(1, kernel, out=out, n=2**40)
    assert out[0] == 2**40 + 1
    pk.parallel_for(1, kernel, out=out, n=numpy.uint64(2**64 - 2))
    assert out[0] == 2**64 - 1
    pk.parallel_for(1, kernel, out=out, n=numpy.uint32(2**32 - 1))
    assert out[0] == 0


def test_mathematics() -> None:
    @pk.workunit
    def kernel(i, out):
        x = i * 0.25
        out[i] = sqrt(x) + math.floor(x) + fabs(-x) + abs(-3) + pow(2, 3) + x**2  # noqa: F821
        out[i] += min(x, 4.5, 3) + max(i, 2) + math.pi + fmod(x, 2)  # noqa: F821

    out = pk.View([N])
    pk.parallel_for(N, kernel, out=out)
    for i in range(N):
        x = i * 0.25
        expected = math.sqrt(x) + math.floor(x) + x + 3 + 8.0 + x**2
        assert out[i] == expected + (min(x, 4.5, 3) + max(i, 2) + math.pi + math.fmod(x, 2))


def test_subviews_inside_kernels() -> None:
    @pk.workunit
    def kernel(i, out, a):
        row = a[i, :]
        part = a[i, 1:3]
        tail = a[i, 2:]
        out[i] = row[0] + 10 * part[1] + 100 * tail[0] + part.extent(0) + len(tail)

    a = pk.View([N, 4])
    a[:] = numpy.arange(4 * N).reshape(N, 4)
    out = pk.View([N])
    pk.parallel_for(N, kernel, out=out, a=a)
    assert [out[i] for i in range(N)] == [4 * i + 110 * (4 * i + 2) + 4 for i in range(N)]


def test_structs_and_helpers() -> None:
    @pk.classtype
    class Pair:
        def __init__(self, a: float, b: float) -> None:
            self.a: float = a
            self.b: float = b

        def total(self) -> float:
            return self.a + self.b

        def scale(self, by: float) -> None:
            self.a *= by
            self.b = self.b * by

    @pk.function
    def grow(p: Pair, by: float) -> None:
        p.scale(by)

    @pk.workunit
    def kernel(i, out):
        p: Pair = Pair(i, 2)
        if i > 3:
            grow(p, 3)
        out[i] = p.total()

    check(kernel)


def test_an_object_that_gets_another_name_is_copied() -> None:
    @pk.classtype
    class Pair:
        def __init__(self, a: float, b: float) -> None:
            self.a: float = a
            self.b: float = b

        def scale(self, by: float) -> None:
            self.a *= by
            self.b = self.b * by

    @pk.workunit
    def kernel(i, out):
        p: Pair = Pair(i, 2)
        q: Pair = p
        r = q
        p.scale(3)
        q.a = q.a + 100
        out[i] = p.a + 1000 * q.a + 1e6 * r.a + p.b + q.b + r.b

    out = pk.View([N])
    pk.parallel_for(N, kernel, out=out)
    assert [out[i] for i in range(N)] == [
        3 * i + 1000 * (i + 100) + 1e6 * i + 6 + 2 + 2 for i in range(N)
    ]


class Pair:
    def __init__(self, x: float):
        self.x: float = x
        self.n: int = 0


def test_an_object_that_a_condition_decides() -> None:
    @pk.workunit
    def choose(i, a, out):
        pair: Pair = Pair(0.5)
        other: Pair = pair
        if a[i] > 2.0:
            pair: Pair = Pair(a[i])
            pair.n = i
        elif a[i] > 1.0:
            pair = Pair(-a[i])
        pair.x += 1.0
        out[i] = pair.x + 100 * pair.n + 1000 * other.x

    a, out = pk.View([4]), pk.View([4])
    a[:] = [0.0, 1.5, 3.0, 4.0]
    pk.parallel_for(4, choose, a=a, out=out)
    assert list(out) == [501.5, 499.5, 704.0, 805.0]


def test_data_can_be_set() -> None:
    a = pk.View([3])
    a.fill(1)
    before = a.data
    a.data += 2
    assert list(a) == [3.0, 3.0, 3.0]
    assert before[0] == 3.0
    theirs = numpy.arange(4.0)
    a.data = theirs
    theirs[3] = 9
    assert list(a) == [0.0, 1.0, 2.0, 9.0]
    with pytest.raises(TypeError, match="1 dimensions and int64 for a view of 1 and float64"):
        a.data = numpy.arange(3)


def test_globals_and_closures_are_read_at_each_launch() -> None:
    factor = 2

    @pk.workunit
    def kernel(i, out):
        out[i] = factor * i + OFFSET

    global OFFSET
    OFFSET = 1
    check(kernel)
    factor = 2.5
    OFFSET = 100
    check(kernel)


def test_redefined_function_is_seen() -> None:
    def define(text: str):
        scope: dict = {}
        import linecache

        name = f"<kernel {text}>"
        source = f"def kernel(i, out):\n    out[i] = {text}\n"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        exec(compile(source, name, "exec"), scope)
        return scope["kernel"]

    out = pk.View([3])
    pk.parallel_for(3, define("i + 1"), out=out)
    assert out[2] == 3
    pk.parallel_for(3, define("i * 10"), out=out)
    assert out[2] == 20


def test_many_policies() -> None:
    @pk.workunit
    def kernel(i, j, a):
        a[i][j] += 10 * i + j

    a = pk.View([5, 7], pk.int32)
    pk.parallel_for(pk.MDRangePolicy([1, 2], [4, 7]), kernel, a=a)
    expected = numpy.zeros((5, 7), numpy.int32)
    for i in range(1, 4):
        for j in range(2, 7):
            expected[i, j] += 10 * i + j
    assert (a.data == expected).all()

    @pk.workunit
    def put(i, b):
        b[i] = 1

    b = pk.View([10])
    pk.parallel_for(pk.RangePolicy(pk.OpenMP, 3, 6), put, b=b)
    pk.parallel_for(0, put, b=b)
    pk.parallel_for(pk.RangePolicy(8, 2), put, b=b)
    assert list(b) == [0, 0, 0, 1, 1, 1, 0, 0, 0, 0]


def test_teams() -> None:
    @pk.workunit
    def rows(team, acc, n, y, x, a):
        j: int = team.league_rank()

        def inner(i: int, inner_acc: pk.Acc[pk.double]):
            inner_acc += a[j][i] * x[i]

        total: float = pk.parallel_reduce(pk.TeamThreadRange(team, n), inner)
        if team.team_rank() == 0:
            acc += y[j] * total

    a, x, y = pk.View([6, 5]), pk.View([5]), pk.View([6])
    a[:] = numpy.arange(30).reshape(6, 5)
    x[:] = numpy.arange(5)
    y[:] = numpy.arange(6)
    expected = float(y.data @ (a.data @ x.data))
    for size in (pk.AUTO, 1, 4):
        result = pk.parallel_reduce(pk.TeamPolicy(6, size), rows, n=5, y=y, x=x, a=a)
        assert result == expected


def test_threads_of_a_team_have_numbers() -> None:
    @pk.workunit
    def put(team, out):
        i = team.league_rank() * team.team_size() + team.team_rank()
        out[i] = 10 * team.league_rank() + team.team_rank()

    out = pk.View([12], pk.int32)
    pk.parallel_for(pk.TeamPolicy(3, 4), put, out=out)
    assert list(out) == [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]


def test_scans() -> None:
    @pk.workunit
    def inclusive(i, acc, last_pass, a, out):
        acc += a[i]
        if last_pass:
            out[i] = acc

    @pk.workunit
    def exclusive(i, acc: pk.Acc[pk.int32], last_pass: bool, a, out):
        if last_pass:
            out[i] = acc
        acc += a[i]

    a, out = pk.View([N], pk.int32), pk.View([N])
    a[:] = numpy.arange(N) % 5
    assert pk.parallel_scan(N, inclusive, a=a, out=out) == a.data.sum()
    assert (out.data == numpy.cumsum(a.data)).all()
    assert pk.parallel_scan(N, exclusive, a=a, out=out) == a.data.sum()
    assert (out.data == numpy.cumsum(a.data) - a.data).all()


@pytest.mark.parametrize(
    "name, update",
    [
        ("add", lambda a, b: a + b),
        ("sub", lambda a, b: a - b),
        ("mul", lambda a, b: a * b),
        ("div", lambda a, b: int(a / b)),
        ("mod", lambda a, b: int(math.fmod(a, b))),
        ("min", min),
        ("max", max),
        ("and", lambda a, b: a & b),
        ("or", lambda a, b: a | b),
        ("xor", lambda a, b: a ^ b),
        ("lshift", lambda a, b: a << b),
        ("rshift", lambda a, b: a >> b),
    ],
)
def test_atomics(name: str, update) -> None:
    operation = getattr(pk, f"atomic_fetch_{name}")

    @pk.workunit
    def kernel(i, count, before):
        before[i] = operation(count, [0], 1 + i % 2)

    count, before = pk.View([1], pk.int32), pk.View([6], pk.int32)
    count[0] = 97
    pk.parallel_for(6, kernel, count=count, before=before)
    value, seen = 97, []
    for i in range(6):
        seen.append(value)
        value = update(value, 1 + i % 2)
    assert list(before) == seen and count[0] == value


def test_histogram_by_atomics() -> None:
    @pk.workunit
    def kernel(i, bins, a):
        pk.atomic_add(bins, [a[i]], 1)
        pk.atomic_increment(bins, [7])

    a, bins = pk.View([1000], pk.int32), pk.View([8], pk.int64)
    a[:] = numpy.arange(1000) * 13 % 7
    pk.parallel_for(1000, kernel, bins=bins, a=a)
    assert list(bins) == [*numpy.bincount(a.data, minlength=7), 1000]


def test_compare_exchange() -> None:
    @pk.workunit
    def kernel(i, owner, won):
        won[i] = pk.atomic_compare_exchange(owner, [0], -1, i) == -1

    owner, won = pk.View([1], pk.int32), pk.View([5], pk.int32)
    owner[0] = -1
    pk.parallel_for(5, kernel, owner=owner, won=won)
    assert [*won, owner[0]] == [1, 0, 0, 0, 0, 0]


def test_scratch_memory() -> None:
    @pk.workunit
    def kernel(team, a, out, n):
        e: int = team.league_rank()
        s: pk.ScratchView1D[pk.double] = pk.ScratchView1D(team.team_scratch(0), n)

        def fill(i: int):
            s[i] = a[e][i] * 2

        pk.parallel_for(pk.ThreadVectorRange(team, n), fill)
        team.team_barrier()

        def total(i: int, acc: pk.Acc[pk.double]):
            acc += s[n - 1 - i] * (i + 1)

        out[e] = pk.parallel_reduce(pk.TeamThreadRange(team, n), total)

    a, out = pk.View([4, 5]), pk.View([4])
    a[:] = numpy.arange(20).reshape(4, 5)
    policy = pk.TeamPolicy(4, pk.AUTO).set_scratch_size(0, pk.PerTeam(40))
    pk.parallel_for(policy, kernel, a=a, out=out, n=5)
    assert list(out) == list((a.data[:, ::-1] * 2 * numpy.arange(1, 6)).sum(1))


def test_printf(capsys) -> None:
    @pk.workunit
    def kernel(i, a):
        if i % 2 == 0:
            pk.printf("%d: %.2lf\n", i, a[i])
        for k in range(2):
            pk.printf("<%03d>", k)

    a = pk.View([3])
    a[:] = [0.5, 1.5, 2.5]
    pk.parallel_for(3, kernel, a=a)
    assert capsys.readouterr().out == "0: 0.50\n<000><001><000><001>2: 2.50\n<000><001>"


def test_debug_space_runs_the_python() -> None:
    seen = []

    @pk.workunit
    def kernel(i, acc, a):
        seen.append(i)
        acc += a[i]

    a = pk.View([4])
    a.fill(2)
    policy = pk.RangePolicy(pk.ExecutionSpace.Debug, 0, 4)
    assert pk.parallel_reduce(policy, kernel, a=a) == 8 and seen == [0, 1, 2, 3]


def test_gpu_space_is_a_clear_error() -> None:
    with pytest.raises(RuntimeError, match="Cuda needs a GPU backend"):
        pk.RangePolicy(pk.ExecutionSpace.Cuda, 0, 4)


# ---- what the language does not have ------------------------------------------------------------


def refused(kernel, match: str) -> None:
    with pytest.raises(TranslationError, match=match) as caught:
        pk.parallel_for(3, kernel, a=pk.View([3]))
    assert "test_language.py, line" in str(caught.value)


def test_refusals_name_the_construct_and_a_way_out() -> None:
    def listing(i, a):
        x = [k for k in range(3)]
        a[i] = x[0]

    def trying(i, a):
        try:
            a[i] = 1
        except ValueError:
            pass

    def text(i, a):
        a[i] = "one"

    def printing(i, a):
        print(a[i])

    def looping(i, a):
        for x in a:
            a[i] = x

    def unknown(i, a):
        a[i] = nowhere  # noqa: F821

    def recursing(i, a):
        a[i] = down(3)

    def floating(i, a):
        a[i * 0.5] = 1

    def many(i, a):
        a[i, 0] = 1

    def early(i, a):
        a[i] = late  # noqa: F821
        late = 1.0  # noqa: F841

    def turning(i, a):
        a[i] = 1j

    refused(early, "'late' before it has a value.*assign it first")
    refused(turning, "a complex number as a real one")
    refused(listing, "ListComp.*write a loop")
    refused(trying, "try .*test for the case with if")
    refused(text, "'one' as a number")
    refused(printing, r"print\(\).*pk.printf")
    refused(looping, r"a loop over this.*range")
    refused(unknown, "'nowhere'")
    refused(recursing, "recursion.*loop")
    refused(floating, r"no integer.*int\(")
    refused(many, "2 indices for a view with 1 axes")


def down(n):
    return down(n - 1)


def test_bounds() -> None:
    @pk.workunit
    def past(i, a):
        a[i + 1] = 1

    @pk.workunit
    def gather(i, a, idx):
        a[i] = a[idx[i]]

    @pk.workunit
    def scatter(i, a, idx):
        k = 0
        while k < 2:
            a[idx[i] + k] += 1
            k += 1

    a, idx = pk.View([4]), pk.View([4], pk.int32)
    a.fill(3)
    with pytest.raises(IndexError, match=r"index 1 to 4 .* axis 0 with size 4 of 'a' .*line"):
        pk.parallel_for(4, past, a=a)
    idx[:] = [0, 1, 2, 9]
    with pytest.raises(IndexError, match=r"index 9 for axis 0 with size 4 of 'a'"):
        pk.parallel_for(4, gather, a=a, idx=idx)
    with pytest.raises(IndexError, match=r"index 9 for axis 0 with size 4 of 'a'"):
        pk.parallel_for(4, scatter, a=a, idx=idx)
    assert list(a) == [3, 3, 3, 3]
    idx[:] = [2, 1, 0, -1]
    with pytest.raises(IndexError, match=r"index -1 "):
        pk.parallel_for(4, gather, a=a, idx=idx)


def test_arguments_that_do_not_fit() -> None:
    @pk.workunit
    def kernel(i, a, x):
        a[i] = x

    @pk.workunit
    def copied(i, a, out):
        out[i] = a[i]

    a = pk.View([3])
    with pytest.raises(TypeError, match="missing the keyword argument 'x'"):
        pk.parallel_for(3, kernel, a=a)
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        pk.parallel_for(3, kernel, a=a, x=1, y=2)
    policy = pk.MDRangePolicy([0, 0], [2, 2])
    with pytest.raises(TypeError, match="'a' is an index or accumulator here"):
        pk.parallel_for(policy, kernel, a=a, x=1)
    with pytest.raises(TypeError, match="'a' is an index or accumulator here"):
        pk.parallel_reduce(3, kernel, a=a, x=1)
    with pytest.raises(TranslationError, match="a part of the number 'a' .* into views and arrays"):
        pk.parallel_for(3, kernel, a=3, x=1)
    with pytest.raises(TranslationError, match=r"a part of None \('a'\)"):
        pk.parallel_for(3, kernel, a=None, x=1)
    with pytest.raises(TranslationError, match="an index into the number 'a'"):
        pk.parallel_for(3, copied, a=2.5, out=a)
    with pytest.raises(TranslationError, match="argument 'x' of type str"):
        pk.parallel_for(3, kernel, a=a, x="1")
    with pytest.raises(ValueError, match="read-only"):
        b = numpy.zeros(3)
        b.flags.writeable = False
        pk.parallel_for(3, kernel, a=b, x=1)
    np = frit.numpy
    for window in (np.arange(3.0), np.arange(6.0)[::2], np.arange(3.0)[:]):
        window.flags.writeable = False
        for again in (window, numpy.asarray(window)):
            with pytest.raises(ValueError, match="'a' is written, but is read-only"):
                pk.parallel_for(3, kernel, a=again, x=1)
        out = pk.View([3])
        pk.parallel_for(3, copied, a=window, out=out)
        assert out[1] == window[1]
    with pytest.raises(TypeError, match="float64.*not aligned: give a copy"):
        odd = numpy.zeros(3, [("small", "i1"), ("value", "f8")])["value"]
        pk.parallel_for(3, kernel, a=odd, x=1)


def test_defaults_of_parameters() -> None:
    def made(c):
        @pk.workunit
        def kernel(i, a, x=c, *, y=0.5):
            a[i] = x + y

        return kernel

    a, kernel = pk.View([2]), made(3)
    found = []
    for given in ({}, {"x": 7}, {"y": 2}, {"x": 1, "y": 1}):
        pk.parallel_for(2, kernel, a=a, **given)
        found.append(float(a[1]))
    pk.parallel_for(2, made(20.0), a=a)  # the same code, another default
    found.append(float(a[1]))
    assert found == [3.5, 7.5, 5.0, 2.0, 20.5]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        pk.parallel_for(2, kernel, a=a, z=1)
    with pytest.raises(TypeError, match="missing the keyword argument 'a'"):
        pk.parallel_for(2, kernel, x=1)


def test_errors_of_the_language_show_no_inner_frames() -> None:
    def listing(i, a):
        a[i] = [i]

    with pytest.raises(TranslationError) as caught:
        pk.parallel_for(3, listing, a=pk.View([3]))
    assert len(caught.traceback) == 2  # the launch, and where it was translated
