# test_borders.py: steps over spaces that differ by a border are one kernel where they may be.
import random
import re
import subprocess
import sys

import numpy
import pytest

import frit
import frit.numpy as np

N = 20_000


@pytest.fixture(autouse=True)
def float_errors_may_come_late():
    """Under pytest's filters they are told at once: nothing would be fused."""
    with np.errstate(all="ignore"):
        yield


def line(dtype):
    return numpy.random.RandomState(1).uniform(-1, 1, N).astype(dtype)


def plane(dtype):
    return numpy.random.RandomState(2).uniform(-1, 1, (230, 210)).astype(dtype)


def tridiagonal(np, p):
    q = 2 * p
    q[1:] -= p[:-1]
    q[:-1] -= p[1:]
    return q


def five_points(np, p):
    q = 3 * p
    q[1:-1, 1:-1] += p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    q *= p
    return q


def grown_space(np, p):
    """The step over all elements comes last."""
    q = np.empty_like(p)
    q[:1] = q[-1:] = 1
    q[1:-1] = p[:-2] - p[2:]
    q *= 3
    return q


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize(
    ("program", "data"),
    [(tridiagonal, line), (five_points, plane), (grown_space, line)],
)
def test_a_border_does_not_part_kernels(program, data, dtype):
    p = (data("float64") * 100).astype(dtype)
    want = program(numpy, p)
    for _ in range(3):
        got = program(np, np.array(p))
        found = re.search(r"operations in (\d+) kernel", str(frit.explain(got)))
        assert numpy.array_equal(numpy.asarray(got), want)
    assert found is not None
    assert int(found.group(1)) == 1


def neighbour_of_what_is_written(np, p):
    q = 2.0 * p
    q[1:] -= q[:-1].copy()
    q[:-1] += q[1:] * 0.5
    return q


def read_before_it_is_written(np, p):
    q = p[1:] + p[:-1]
    p[:-1] *= 2.0
    p[1:] += q
    p[1:-1] = q[1:]
    return p - 1.0


def backwards(np, p):
    q = p[::-1] * 2.0
    q[1:] -= p[:-1]
    q[::-1][1:] += p[1:]
    return q


def rows_that_wrap(np, p):
    q = p.ravel()[: 230 * 210].reshape(230, 210) * 0.5
    flat = q.reshape(-1)
    flat[1:] += p.ravel()[:-1]
    q[1:, 3:] -= p[:-1, :-3]
    flat[:-209] *= 0.5
    q[:-1, 3:] += p[1:, 3:]
    return q


def into_sums(np, p):
    q = 2.01 * p
    q[1:] -= p[:-1]
    total = np.dot(p, q) + (p * q).sum()
    q[:-1] -= p[1:]
    return q * total + q[1:-1].max()


def temporaries_on_both_sides(np, p):
    left, right = p[1:] * 0.25, p[:-1] * 0.75
    q = p.copy()
    q[1:] -= right
    q[:-1] += left
    q[2:-2] = q[2:-2] * left[1:-2] + right[2:-1]
    return q


def counted_before_and_behind(np, p):
    x, y = np.arange(N) * 3.0, np.arange(N) * 0.5
    x[:-1] += y[1:] * p[1:]
    x[2:] -= y[:-2]
    return (x + y) * p


PROGRAMS = [
    (counted_before_and_behind, line),
    (neighbour_of_what_is_written, line),
    (read_before_it_is_written, line),
    (backwards, line),
    (rows_that_wrap, plane),
    (into_sums, line),
    (temporaries_on_both_sides, line),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("program", "data"), PROGRAMS)
def test_borders_give_numpys_values(program, data, dtype):
    want = program(numpy, data(dtype))
    for _ in range(3):
        assert numpy.array_equal(numpy.asarray(program(np, np.array(data(dtype)))), want)


OVERFLOW = """
import sys, numpy
import {module} as np
p, r = np.ones(200_000), np.full(200_000, 2.0)
p[0] = p[777] = 1e10
r[0] = r[777] = 1e308
q = r * p
q[1:] -= p[:-1]
q[:-1] /= p[1:]
if len(sys.argv) > 1:
    import frit
    assert "3 operations in 1 kernel" in str(frit.explain(q))
numpy.asarray(q)
"""


def test_a_warning_names_the_step_of_the_fused_ones_that_raised_it(tmp_path):
    found = []
    for module, arguments in (("numpy", []), ("frit.numpy", ["fused"])):
        program = tmp_path / "overflow.py"
        program.write_text(OVERFLOW.format(module=module))
        run = subprocess.run(
            [sys.executable, program, *arguments], capture_output=True, text=True, check=True
        )
        found.append(run.stderr)
    assert "overflow encountered in multiply" in found[0]
    assert found[1] == found[0]


def cut(cuts, begins):
    return [f"{b or ''}:{b - c or ''}" for c, b in zip(cuts, begins, strict=True)]


def random_program(choose):
    """Lines on arrays a, b, c and temporaries, each over a window that leaves a border out."""
    axes, temporaries, lines = choose.choice([1, 1, 2]), {}, []

    def window(name, cuts):
        return f"{name}[{', '.join(cut(cuts, [choose.randint(0, c) for c in cuts]))}]"

    def operand(cuts):
        known = [
            t for t, c in temporaries.items() if all(x <= y for x, y in zip(c, cuts, strict=True))
        ]
        if known and choose.random() < 0.3:
            name = choose.choice(known)
            return window(name, [y - x for x, y in zip(temporaries[name], cuts, strict=True)])
        return window(choose.choice("abc"), cuts)

    for number in range(choose.randint(4, 12)):
        cuts = [choose.choice([0, 0, 1, 1, 2]) for _ in range(axes)]
        value = f"{operand(cuts)} {choose.choice('+-*')} {operand(cuts)}"
        if choose.random() < 0.6:
            how = choose.choice(["+=", "-=", "*=", "="])
            lines.append(f"{window(choose.choice('abc'), cuts)} {how} {value}")
        else:
            temporaries[f"t{number}"] = cuts
            lines.append(f"t{number} = {value}")
    return (13_000,) if axes == 1 else (200, 190), "\n".join(lines)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_on_windows_give_numpys_values(seed):
    shape, text = random_program(random.Random(seed))
    data = [numpy.random.RandomState(k).uniform(-1, 1, shape) for k in range(3)]
    found = []
    for module in (numpy, np, np):
        names = dict(zip("abc", [module.array(x) for x in data], strict=True))
        exec(text, names)
        found.append({k: numpy.asarray(v) for k, v in names.items() if k != "__builtins__"})
    for got in found[1:]:
        assert [k for k in found[0] if not numpy.array_equal(found[0][k], got[k])] == [], text
