"""test_loops_of_calls.py: random loops over large arrays, whose rounds take milliseconds.

The other programs are over in microseconds. Here an evaluation begins in the middle of a loop,
rounds wait for one another, kernels are compiled while they run, and what begins a round may be a
matrix product, a sort or a scan.
FRIT_FUZZ_PROGRAMS: how many, times 50 (2000). FRIT_FUZZ_SEED: which (0).
"""

from __future__ import annotations

import os
import random
from typing import Any

import numpy
import pytest

import frit
from frit import numpy as np

COUNT = max(int(os.environ.get("FRIT_FUZZ_PROGRAMS", "2000")) // 50, 1)
SEED = int(os.environ.get("FRIT_FUZZ_SEED", "0"))
REPEATS = 4  # of a program: without a plan, with one, compiled
pytestmark = pytest.mark.timeout(max(300, COUNT * 30))

VECTORS = """\
x = 0.5 * x + 0.25 * np.sin(y)
y = np.sqrt(np.abs(x)) + 0.1 * y
x[1:-1] = (x[:-2] + x[2:] + x[1:-1]) / 3
y[::2] = x[::2] * 0.5
y += 0.1 * x
x *= 0.9
z = np.where(x > y, x, y * 0.5)
m = x > 0.3; x[m] = x[m] * 0.5 + 0.1
x = np.sort(x) * 0.9
x = np.cumsum(x) / np.arange(1, len(x) + 1)
s = s * 0.5 + x.mean()
s = s * 0.5 + float(np.max(y))
x = x - x.mean() * 0.5
y = y[::-1].copy()
z = np.minimum(z, x) + 0.01
x = np.roll(x, 3)
y = np.clip(x * 1.5, -1, 1)
x = x[np.argsort(y, kind="stable")]
z = z * 0.5 + (v * v).sum()
y = np.concatenate([x[5:], y[:5]])
t = x.reshape(-1, 50).sum(1); x = x - np.repeat(t, 50) * 0.001
np.add(x, y, out=z); z *= 0.4
del z; z = x * 0.3
x, y = y, x * 0.7
k = int(np.argmin(x)); y[k] = 0.125
np.multiply(x, 0.5, out=x, where=x > 1)
z = x.astype(np.float32).astype(float) * 0.5
z = np.maximum.reduce([x, y, z]) * 0.9
x.sort(); x = x * 0.9 + 0.01
u = x; u -= 0.01 * y
x = np.take(x, order)
y[order[:100]] += 0.5
y = 3.1 * y * (1 - y) * 0.9
x[7] *= 0.5; y[0] = x[7] + 0.25
e = x[-3]; x[5] = e; s = s * 0.5 + e
y[1:-1] += 0.1 * (y[2:] - y[:-2]); y[k + 40] += 0.125; y[0] = y[1]
w = np.abs(np.fft.rfft(x)); x = x * 0.99 + w[0] * 1e-9
""".splitlines()
MATRICES = """\
v = 0.85 * a @ v / len(v) + 0.15
v = a @ (v * 0.9) / len(v) + 0.01
a = 0.9 * a + 0.001 * np.outer(v, v)
b = a @ a.T; a = a * 0.99 + b * 1e-6
v = v / np.sqrt((v * v).sum() + 1e-9)
a = a - a.mean(0) * 0.01
a[0] = v
a = a.T.copy()
v = a.sum(1) * 0.01
v = np.dot(v, a) * 0.001 + 0.1
a = np.tanh(a)
a[:, 1] *= 0.5
v = np.sort(a, axis=1)[:, 0] * 0.1
a = a[::-1] * 0.99
a += 0.01 * v[:, None]
v = np.max(a, axis=0) * 0.5
a -= a.mean(axis=1, keepdims=True) * 0.1
v = (a * a).sum(0) * 0.01
a[3, 2] += 0.5; v[0] = a[3, 2] * 0.1
a[1:-1, 1:-1] += 0.1 * (a[2:, 1:-1] + a[:-2, 1:-1] - 2 * a[1:-1, 1:-1]); a[4, 4] *= 0.5
a = np.where(a > 0, a, a * 0.5)
c = np.cumsum(a, axis=0) * 0.001; a = a * 0.9 + c
""".splitlines()
READS = ["", "", "", "if k % 5 == 4: s += float(x[7])", "if k % 3 == 2: s = s * 0.5 + x.sum()"]


def program(r: random.Random) -> str:
    kinds = r.choice([[VECTORS], [MATRICES], [VECTORS, VECTORS, MATRICES]])
    body = [r.choice(r.choice(kinds)) for _ in range(r.randint(1, 5))] + [r.choice(READS)]
    lines = [f"    for k in range({r.choice([3, 12, 25])}):", *("        " + line for line in body)]
    return "\n".join(
        [
            "def run(np, x, y, z, v, a, order):",
            "    s = 0.0",
            *lines,
            "    return x, y, z, v, a, s\n",
        ]
    )


def arguments(np: Any, seed: int, n: int, m: int) -> list[Any]:
    numbers = numpy.random.default_rng(seed)
    shapes = (n, n, n, m, (m, m))
    return [*(np.array(numbers.random(s)) for s in shapes), np.array(numbers.permutation(n))]


# Bits where Frit promises them; BLAS may share a product of matrices otherwise between threads.
def is_same(expected: Any, found: Any) -> bool:
    expected, found = numpy.asarray(expected), numpy.asarray(found)
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return False
    return numpy.allclose(expected, found, rtol=1e-9, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("seed", range(SEED * COUNT, SEED * COUNT + COUNT))
def test_a_random_loop_over_large_arrays_does_what_numpy_does(seed: int) -> None:
    r = random.Random(seed)
    text, n, m = program(r), r.choice([50_000, 200_000, 600_000]), r.choice([100, 300, 500])
    space: dict[str, Any] = {}
    exec(compile(text, f"<seed {seed}>", "exec"), space)
    with numpy.errstate(all="ignore"), np.errstate(all="ignore"):
        expected = space["run"](numpy, *arguments(numpy, seed, n, m))
        for repeat in range(REPEATS):
            given = arguments(np, seed, n, m)
            frit.eval()
            found = space["run"](np, *given)
            same = [is_same(a, b) for a, b in zip(expected, found, strict=True)]
            assert all(same), f"repeat {repeat}: {same}\n{text}"
