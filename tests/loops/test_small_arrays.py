"""test_small_arrays.py: arrays of a few elements that loops make: np.array([x, y]), zeros(3).

Integrators with functions that return such arrays, states that are rebound or changed in place,
and who holds which array behind the loop.
"""

from __future__ import annotations

import copy
import math
import os

import numpy as np
import pytest

import frit
import frit.numpy

from .fuzz import calls_of
from .fuzz_small_arrays import ROUNDS, SmallArrayProgram
from .test_loops import runs_compiled

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "120"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
pytestmark = pytest.mark.timeout(max(900, PROGRAMS))


def pend(t, y):
    return np.array([y[1], -np.sin(y[0])])


def rk4_rows(n, h):
    y = np.zeros((n, 2))
    y[0] = [1, 0]
    t = 0.0
    for i in range(n - 1):
        k1 = pend(t, y[i])
        k2 = pend(t + h / 2, y[i] + h / 2 * k1)
        k3 = pend(t + h / 2, y[i] + h / 2 * k2)
        k4 = pend(t + h, y[i] + h * k3)
        y[i + 1] = y[i] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y


def zeros_stores(t, y):
    d = np.zeros(2)
    d[0] = y[1]
    d[1] = -y[0] - 0.1 * y[1] + np.cos(t)
    return d


def rebinding(n, h):
    y = np.array([1.0, 0.0])
    out = np.zeros((n, 2))
    for i in range(n):
        y = y + h * zeros_stores(i * h, y)
        out[i] = y
    return y, out


def orbit(n, dt):
    r = np.array([1.0, 0.0, 0.2])
    v = np.array([0.0, 1.0, 0.1])
    xs = np.empty(n)
    e = 0.0
    for i in range(n):
        a = -r / np.linalg.norm(r) ** 3
        v = v + a * dt
        r = r + v * dt
        xs[i] = r[0]
        e += 0.5 * np.dot(v, v) - 1 / np.sqrt(np.sum(r**2))
    return r, v, xs, e


def in_place(n, dt):
    r = np.array([1.0, 0.0])
    v = np.array([0.0, 1.0])
    for _ in range(n):
        a = -r / np.linalg.norm(r) ** 3
        v += a * dt
        r += v * dt
    return r, v


def newman_f(r, t):
    x = r[0]
    y = r[1]
    fx = x * y - x
    fy = y - x * y + math.sin(t) ** 2
    return np.array([fx, fy], float)


def newman(n):
    h = 10 / n
    tpoints = np.arange(0, 10, h)
    xpoints = []
    ypoints = []
    r = np.array([1.0, 1.0], float)
    for t in tpoints:
        xpoints.append(r[0])
        ypoints.append(r[1])
        k1 = h * newman_f(r, t)
        k2 = h * newman_f(r + 0.5 * k1, t + 0.5 * h)
        k3 = h * newman_f(r + 0.5 * k2, t + 0.5 * h)
        k4 = h * newman_f(r + k3, t + h)
        r += (k1 + 2 * k2 + 2 * k3 + k4) / 6
    return xpoints, ypoints, r


def nbody(n, steps):
    rng = np.random.default_rng(0)
    pos = rng.normal(size=(n, 3))
    vel = np.zeros((n, 3))
    m = rng.random(n)
    for _ in range(steps):
        acc = np.zeros((n, 3))
        for i in range(n):
            total = np.zeros(3)
            for j in range(n):
                if i != j:
                    d = pos[j] - pos[i]
                    total += m[j] * d / (np.sqrt(d @ d) + 0.1) ** 3
            acc[i] = total
        vel += acc * 0.01
        pos += vel * 0.01
    return pos, vel


def magnetic(n, dt):
    r = np.zeros(3)
    v = np.array([1.0, 0.0, 0.5])
    B = np.array([0.0, 0.0, 2.0])
    traj = np.zeros((n, 3))
    for i in range(n):
        F = np.cross(v, B)
        v = v + F * dt
        r = r + v * dt
        traj[i, :] = r
    return traj, r


def deriv_state(state, mu):
    r = state[:3]
    v = state[3:]
    a = -mu * r / np.linalg.norm(r) ** 3
    return np.concatenate((v, a))


def two_body(n, dt):
    state = np.array([7000.0, 0, 0, 0, 7.5, 1.0])
    hist = np.zeros((n, 6))
    for k in range(n):
        hist[k] = state
        k1 = deriv_state(state, 398600.0)
        k2 = deriv_state(state + dt / 2 * k1, 398600.0)
        state = state + dt * k2
    return hist, state


def while_loop(tmax, h):
    t = 0.0
    y = np.array([0.0, 1.0])
    while t < tmax:
        k = pend(t, y)
        y = y + h * pend(t + h / 2, y + h / 2 * k)
        t += h
    return t, y


def best_of(a):
    best = np.array([0.0, 0.0])
    for i in range(a.shape[0]):
        p = np.array([a[i, 0] ** 2, a[i, 1]])
        if p[0] > best[0]:
            best = p
    return best


def aliased(n):
    y = np.array([1.0, 2.0])
    old = y
    for _ in range(n):
        old = y
        y = y * 0.5 + 1
        old += 1
    return y, old


def swapped(n):
    a = np.array([1.0, 2.0])
    b = np.array([3.0, 4.0])
    for _ in range(n):
        a, b = b, a + b * 0.1
    return a, b


def zero_rounds(n):
    y = np.array([1.0, 2.0])
    z = y
    for _ in range(n):
        y = y + 1.0
    z[0] = 7
    return y, z, y is z


def loops_inside(n):
    y = np.array([1.0, 2.0, 3.0])
    for _ in range(n):
        d = np.zeros(3)
        for j in range(3):
            d[j] = -y[j] + y[(j + 1) % 3]
        for j in range(3):
            d[j] *= 0.1
        y = y + d
    return y


def matrices(n, th):
    p = np.array([1.0, 0.5])
    A = np.array([[1.0, 0.1], [0.0, 0.9]])
    out = np.zeros((n, 2))
    for i in range(n):
        R = np.array([[np.cos(th), -np.sin(th)], [np.sin(th), np.cos(th)]])
        p = R @ p
        q = A.dot(p)
        out[i] = q
    return out, p


def class_like(n):
    s = np.array([0.0, 0.0])
    for i in range(n):
        u = math.sin(i)
        s = np.array([s[1], -s[0] + u])
        if abs(s[0]) > 3:
            s = np.zeros(2)
    return s


def f32(n):
    y = np.array([1, 2], dtype=np.float32)
    for _ in range(n):
        y = y * 1.01 + np.array([0.5, 1.5], dtype=np.float32)
    return y


def ints(n):
    y = np.array([1, 2])
    for _ in range(n):
        y = (y * 3 + 1) % 101
    return y


def int_first(n):
    y = np.array([1, 0])
    for _ in range(n):
        y = y + 0.1 * np.array([y[1], -y[0]])
    return y


def unpacked(n):
    s = np.array([1.0, 0.5, 0.2])
    for _ in range(n):
        x, y, z = s
        dx = 10 * (y - x)
        dy = x * (28 - z) - y
        dz = x * y - 8 / 3 * z
        s = s + 0.001 * np.array([dx, dy, dz])
    return s


def ret_in_loop(n):
    x = np.array([2.0, 1.0])
    for i in range(n):
        new = x - 0.5 * np.array([x[0] - 1, x[1] - 3])
        if np.linalg.norm(new - x) < 1e-9:
            return new, i
        x = new
    return x, n


def list_return(t, y):
    return [y[1], -y[0]]


def euler_list(n, h):
    y = np.zeros((n, 2))
    y[0] = 1.0, 0.0
    for i in range(1, n):
        y[i] = y[i - 1] + h * np.array(list_return(i * h, y[i - 1]))
    return y


def rows_held(n):
    y = np.zeros((n, 2))
    y[0] = 1.0
    for i in range(n - 1):
        k = -0.5 * y[i]
        y[i + 1] = y[i] + 0.1 * k
        y[i + 1] += 0.01 * k
    return y


def clipped(p):
    if p[0] > 2:
        return np.array([2.0, p[1]])
    return p * 1.1


def early2(n):
    q = np.array([0.1, 0.2])
    for _ in range(n):
        q = clipped(q)
    return q


def scalar_int_first(n):
    x = 0
    s = []
    for _ in range(n):
        x = x * x * 0.25 + 0.5
        s.append(x)
    return x, s


def scalar_neg(n):
    x = 0
    y = 0
    for _ in range(n):
        y = -x
        x = y * 0.5 - 0.25
    return x, y


def int_first_break(n):
    y = np.array([1, 0])
    for i in range(n):
        y = y + 0.1 * np.array([y[1], -y[0]])
        if y[0] < 0 and i > 2:
            break
    return y, i


def random_rows():
    return np.random.default_rng(3).normal(size=(500, 2))


def iterates(n):
    y, total = np.array([1.0, 2.0, 0.5]), 0.0
    for i in range(n):
        y = y * 0.9 + 0.1 * i
        for k, v in enumerate(y):
            total += v * k
        for v in y:
            total -= v
    return y, total


def iterates_over_what_changes(n):
    y, total = np.array([1.0, 2.0, 0.5]), 0.0
    for _ in range(n):
        y = y * 0.9
        for k, v in enumerate(y):
            y[2 - k] += v
            total += v
    return y, total


def chain_of_masses(r, t):
    half = len(r) // 2
    x, v = r[:half], r[half:]
    d = np.empty(r.shape, float)
    d[:half] = v
    d[half] = x[1] - x[0] + t
    d[-1] = x[-2] - x[-1]
    for i in range(1, half - 1):
        d[i + half] = (x[i + 1] - x[i]) + (x[i - 1] - x[i])
    return np.array(d, float)


def masses(n):
    r = np.zeros(6)
    r[0] = 1.0
    out, times = np.empty((n, 6)), np.arange(n) * 0.125
    for i, t in enumerate(times):
        out[i] = r
        k = 0.125 * chain_of_masses(r, t)
        r += 0.125 * chain_of_masses(r + 0.5 * k, t + 0.0625)
    return out, r


def trajectory(n):
    s = np.array([1.0, 0.5, 0.25])
    path, speeds, copies = [s], [[]], []
    for _ in range(n):
        s = s + 0.125 * np.array([s[1], -s[0], 0.5])
        path.append(s)
        speeds.append(s[1])
        copies.append(s.copy())
    s[0] = 100.0
    return np.array(path), speeds, copies, path[-1] is s


CASES = [
    (rk4_rows, 300, 1e-2),
    (rebinding, 300, 1e-2),
    (orbit, 300, 1e-2),
    (in_place, 300, 1e-2),
    (newman, 400),
    (magnetic, 300, 0.01),
    (two_body, 200, 10.0),
    (best_of, random_rows()),
    (swapped, 100),
    (loops_inside, 200),
    (matrices, 100, 0.3),
    (class_like, 300),
    (f32, 50),
    (ints, 100),
    (int_first, 50),
    (int_first_break, 100),
    (scalar_int_first, 50),
    (unpacked, 300),
    (ret_in_loop, 100),
    (euler_list, 300, 0.01),
    (rows_held, 200),
    (early2, 100),
    (iterates, 40),
    (masses, 50),
    (trajectory, 40),
]


def both(function, *given):
    ours = frit.parallelize(function)
    found = [called(*copy.deepcopy(given)) for called in (function, ours, ours)]
    assert alike(*found[:2]), found
    assert alike(*found[1:])
    return ours


def alike(x, y, exactly: bool = False) -> bool:
    if type(x) is not type(y):
        return False
    if isinstance(x, (list, tuple)):
        return len(x) == len(y) and all(alike(a, b, exactly) for a, b in zip(x, y, strict=True))
    if isinstance(x, np.ndarray) and (x.dtype != y.dtype or x.shape != y.shape):
        return False
    if exactly and not isinstance(x, np.ndarray):
        return x == y or (x != x and y != y)
    if exactly:
        return np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
    # Products by BLAS and sin() may differ in the last bits, which an orbit makes larger.
    return bool(np.allclose(x, y, rtol=1e-10, atol=1e-12))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_loops_with_small_arrays_run_compiled(case):
    assert runs_compiled(both(*case))


def test_a_while_with_small_arrays():
    both(while_loop, 3.0, 0.01)


@pytest.mark.parametrize("n", [0, 1, 2, 50])
@pytest.mark.parametrize("function", [zero_rounds, aliased, int_first, scalar_neg, swapped])
def test_few_rounds_and_arrays_with_two_names(function, n):
    both(function, n)


@pytest.mark.parametrize("tier", ["interpreter", "compiled"])
def test_random_loops_with_small_arrays(tier, monkeypatch):
    frit._core.set_tier(tier)
    count = PROGRAMS if tier == "interpreter" else PROGRAMS // 8
    compiled = 0
    try:
        for seed in range(FIRST, FIRST + count):
            program = SmallArrayProgram(seed)
            plain, ours = program.function(), frit.parallelize(program.function())
            for n in (ROUNDS, 1, 2, ROUNDS):
                expected, got = (outcome(f, program.array(), n) for f in (plain, ours))
                assert alike(expected, got, True), f"seed {seed}\n{program.source}{expected}\n{got}"
            compiled += calls_of(ours, f"seed {seed}")[0] > 0
    finally:
        frit._core.set_tier("automatic")
    assert compiled > count // 6  # else nothing was tested


@np.errstate(all="ignore")
def outcome(function, m, n):
    try:
        return (*function(m, n, 0.25), m)
    except Exception as error:
        return type(error).__name__, str(error), m


# ---- what is made behind the loop ----------------------------------------------------------------


def two_names(n):
    last = y = np.array([1.0, 2.0])
    for _ in range(n):
        last = y
        y = 0.5 * y + np.array([0.0, 1.0])
    return last, y


def one_array_with_two_names(n):
    y = np.array([1.0, 2.0])
    first = np.array([0.0, 0.0])
    for _ in range(n):
        y = y + 1.0
        first = y
    first[0] = -5.0
    return first, y, first is y


def the_argument_itself(n):
    y = np.array([1.0, 2.0])
    best = np.array([9.0, 9.0])
    held = y
    for i in range(n):
        best = y
        if i > 100:
            y = y + 1.0
    best[1] = 33.0
    return held, best, best is y


@pytest.mark.parametrize("function", [two_names, one_array_with_two_names, the_argument_itself])
def test_which_array_a_variable_holds_behind_the_loop(function):
    assert runs_compiled(both(function, 7))


def test_arrays_are_those_of_the_programs_numpy(frit, python, file):
    text = """
        import numpy as np
        y = np.array([1.0, 0.0])
        for i in range(20000):
            k = np.array([y[1], -y[0]])
            y = y + 1e-3 * k
        print(type(y) is type(np.zeros(1)), type(k) is type(y), y, k, i)
        """
    assert frit(text) == python(file("plain.py", text)).stdout


def part_of_the_array(n):
    s = np.array([1.0, 2.0, 3.0])
    v = s[1:]
    for _ in range(n):
        s = s * 1.5
        v = s[1:]
    s[1] = -1.0
    return s, v


def held_in_a_tuple(n):
    a, total = np.array([1.0, 2.0]), 0.0
    for _ in range(n):
        a = a * 0.5
        pair = (a, a + 1)
        a += 1
        total += pair[0][0]
    return total


def changed_by_the_function(n):
    def moved(p):
        p += 1.0
        return p

    q, total = np.array([0.0, 1.0]), 0.0
    for _ in range(n):
        q = q * 0.5
        r = moved(q)
        total += q[0] + r[1]
    return total


def lists_in_one_another(n):
    y = np.array([1.0, 2.0])
    path = [1.5]
    others = [path]
    for _ in range(n):
        y = y * 0.5
        path.append(y)
        others.append(y)
    return path, others


def one_list_with_two_names(n):
    y = np.array([1.0, 2.0])
    first = second = []
    for _ in range(n):
        y = y * 0.5
        first.append(y)
        second.append(y[0])
    return first, second is first


@pytest.mark.parametrize(
    "function",
    [
        lists_in_one_another,
        one_list_with_two_names,
        iterates_over_what_changes,
        part_of_the_array,
        held_in_a_tuple,
        changed_by_the_function,
    ],
)
def test_arrays_that_share_elements(function):
    both(function, 9)


# ---- the else of a loop -------------------------------------------------------------------------


def value_of_an_else(a, out):
    for k in range(len(a)):
        for i in range(a.shape[1]):
            if a[k, i] > 3:
                break
        else:
            t = 5.0
        out[k] = t


def test_what_an_else_assigns_is_not_assigned_behind_a_break():
    a, ours = np.zeros((4, 5)), frit.parallelize(value_of_an_else)
    a[2, 1] = 7.0
    out = np.zeros(4)
    ours(a, out)
    assert out.tolist() == [5.0] * 4  # the third one is of the round before
    a[0, 0] = 9.0
    with pytest.raises(UnboundLocalError):
        ours(a, out)
