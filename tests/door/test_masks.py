"""test_masks.py: elements taken by a mask, computed with, and put back by it, as NumPy does.

Arrays of this size are recorded (a smaller one is computed at once): `x[m] = f(x[m])` becomes f of
the whole array where that takes less, else the elements are packed.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy
import pytest

import frit.numpy
from frit import _core

N = 20_011
INPUTS = f"""
x = np.array(numbers(0, {N}))
y = np.array(numbers(1, {N}))
i = np.array(numbers(2, {N}).astype("int32"))
f = np.array(numbers(3, {N}).astype("float32"))
c = np.array(numbers(4, {N}) + 1j * numbers(5, {N}))
s = np.array(numbers(6, {2 * N}))[::2]
r = np.array(numbers(7, {N}))[::-1]
t = np.array(numbers(8, 20200).reshape(101, 200)[:, :190])
o = np.asfortranarray(numbers(9, 19190).reshape(190, 101)).T
m = np.array(numbers(10, {N}) > SHARE)
"""
PROGRAMS = {
    "escape times": """
count = np.zeros(len(x), dtype=np.int32)
m[...] = True
u, v = np.zeros_like(x), np.zeros_like(x)
for _ in range(12):
    a, b = u[m], v[m]
    u[m] = a * a - b * b + 0.3 * x[m]
    v[m] = 2.0 * a * b + 0.3 * y[m]
    m &= u * u + v * v <= 4.0
    count[m] += 1
""",
    "of every type": """
x[m] = i[m] + f[m]
f[m] = x[m] * 2
c[m] *= x[m] - 1j
i[m] += i[m] // 2
i[m] = f[m] * 3
""",
    "of windows": """
s[m] = r[m] - s[m]
r[m] += s[m]
m[:5000] = False
s[m] = x[m]
""",
    "a number for those of a mask": """
seen = [float(v.sum()) for v in (x, y, i, f, s, r)], int(m.sum()), complex(c[3])
x[m] = 2.5
i[m] = 7
f[m] = 1 / 3
c[m] = 1 - 2j
s[m] = -1
r[m] = 4
np.copyto(y, 0.5, where=m)
m[m] = False
x[m] = 9
last = float(x[-1]), float(r[0])
i[x > 2.0] = 3
w = x[:]
w[y == 0.5] = y[0]
""",
    "few numbers for each element of a mask": """
b = np.array((numbers(11, 3 * 90 * 70) * 60).astype("int64").astype("uint8").reshape(90, 70, 3))
p = np.array(numbers(12, 2 * 6300).reshape(90, 70, 2))
q = np.array(numbers(13, 12 * 6300).astype("float32").reshape(90, 70, 4, 3))[:, :, ::2]
k = np.array(numbers(14, 6300).reshape(90, 70) > SHARE)
seen = [float(v.sum()) for v in (b, p, q, k)]
b[k] = 0
b[b[..., 0] > 100] = [1, 2, 3]
p[k] = p[0, 0]
p[k] = -1
p[k, 1] = 7
q[k] = 2
of_b, of_p, of_q = b[k], p[k], q[k]
""",
    "of two axes": """
k = t > SHARE
t[k] = t[k] * o[k] + 1
o[k] -= t[k]
t[k.T.copy().T] = o[k]
""",
    "kept": """
a = x[m]
b = a * 2
x[m] = b + y[m]
a += 1
y[m] = a - b
x[m] = 0
kept = a.copy()
""",
    "other masks": """
k = ~m
a = x[m] + 1
x[k] = x[k] * 3
x[m] = a
y[m] = x[m]
m ^= True
y[m] = x[m] * 2
""",
    "the mask changes": """
a = x[m] * 2
m[:] = m[::-1].copy()
x[m] = a
b = y[m]
m[m] = b > 0
y[m] = y[m] + 1
""",
    "scalars of arrays": """
x[m] = (x[m] - x.min()) / (x.max() - x.min())
y[m] = y[m] / x[m].sum()
total = x[m].mean()
x[m] = np.where(y[m] > total, x[m], -1)
""",
    "parts": """
a = x[m]
a[3:9] = 5
x[m] = a
b = y[m]
b[1:] += b[:-1]
y[m] = b * 2
""",
    "warnings": """
y[~m] = 0
y[m] += 9
x[m] = x[m] / y[m]
q = x[m] / (y[m] - y[m])
y[m] = q
i[m] = np.sqrt(x[m] - 9)
""",
    "errors": """
seen = []
for text in ("x[m] = x[m][:-1]", "x[m] = c[m] * 2", "i[m] += x[m] / 2", "x[m] = t[:, 0][m]"):
    try:
        exec(text)
    except Exception as error:
        seen.append((type(error).__name__, str(error)))
""",
}


def numbers(seed: int, n: int) -> numpy.ndarray:
    return numpy.random.RandomState(seed).random_sample(n) * 4 - 1


def outcome(module: Any, program: str, share: float) -> tuple[dict[str, Any], list[str]]:
    scope: dict[str, Any] = {"np": module, "numbers": numbers, "SHARE": share}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(INPUTS.replace("SHARE", str(share)) + program, scope)
        values = {
            name: numpy.array(value) if hasattr(value, "dtype") else value
            for name, value in scope.items()
            if not (name.startswith("__") or name in ("np", "numbers", "error"))
        }
    return values, sorted({str(w.message) for w in caught})


def check(program: str, share: float) -> None:
    expected, expected_warnings = outcome(numpy, program, share)
    got, got_warnings = outcome(frit.numpy, program, share)
    assert got.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, numpy.ndarray):
            assert got[name].dtype == value.dtype and got[name].shape == value.shape, name
            numpy.testing.assert_array_equal(got[name], value, err_msg=name)
        else:
            assert got[name] == value, name
    assert got_warnings == expected_warnings


@pytest.fixture(params=["automatic", "interpreter", "eager", "compiled"])
def tier(request):
    _core.set_tier(request.param)
    yield
    _core.set_tier("automatic")


# Nearly all of the mask is true, half of it, a tenth, a hundredth, nothing.
@pytest.mark.parametrize("share", [-0.9, 1.0, 2.6, 2.96, 9.0])
@pytest.mark.parametrize("name", PROGRAMS)
def test_elements_of_a_mask(name, share, tier):
    check(PROGRAMS[name], share)


@pytest.mark.parametrize("seed", range(40))
def test_random_steps_through_masks(seed):
    r = random.Random(seed)
    names, kept = ["x", "y", "i", "f", "c", "s", "r"], []

    def part(depth: int = 0) -> str:
        if depth > 2 or r.random() < 0.4:
            return r.choice(
                [f"{r.choice(names)}[m]"] * 3 + ["2", "0.5", f"{r.choice(names)}.max()"] + kept
            )
        if r.random() < 0.8:
            return f"({part(depth + 1)} {r.choice('+-*')} {part(depth + 1)})"
        return f"np.{r.choice(['maximum', 'minimum'])}({part(depth + 1)}, {part(depth + 1)}).real"

    lines = []
    for k in range(12):
        way = r.random()
        if way < 0.2:
            lines.append(f"a{k} = {part()}")
            kept.append(f"a{k}")
        elif way < 0.3 and kept:
            lines.append(f"{r.choice(kept)} {r.choice(['+=', '*='])} 2")
        elif way < 0.4:
            lines.append(f"{r.choice(names)}[{r.choice(['m', '~m', 'x > 0'])}] = {r.randint(0, 5)}")
        elif way < 0.5:
            lines.append(f"m &= {r.choice('xysr')} > {r.choice([-0.5, 0, 0.2])}")
            kept.clear()
        else:
            target, values = r.choice(names), part()
            lines.append(f"{target}[m] {r.choice(['=', '=', '+='])} ({values}).real")
    guarded = [f"try: {line}\nexcept (TypeError, AttributeError): pass" for line in lines]
    check("\n".join(guarded), r.choice([-0.9, 1.0, 2.6]))


def few_masks(n: int) -> list[numpy.ndarray]:
    generator = numpy.random.default_rng(n)
    mask = generator.random(n) > 0.5
    bytes_of_others = generator.integers(0, 3, n).astype("u1").view(bool)
    return [mask, ~mask, mask & False, mask | True, bytes_of_others]


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 63, 64, 65])
def test_few_elements_are_chosen_and_found_as_by_numpy(n: int) -> None:
    base = numpy.random.default_rng(1).integers(-2, 3, 3 * n)
    for dtype in ("?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"):
        whole = base.astype(dtype)
        ours = frit.numpy.array(whole)
        for part in (slice(0, n), slice(None, None, 3), slice(None, None, -3)):
            a, x = whole[part], ours[part]
            for mask in few_masks(n):
                for m in (frit.numpy.array(mask), mask):  # NumPy's own array, too
                    assert numpy.asarray(x[m]).tobytes() == a[mask].tobytes()
                    assert x[m].shape == a[mask].shape and x[m].dtype == a.dtype
            (places,), (expected,) = x.nonzero(), a.nonzero()
            assert places.tolist() == expected.tolist()
            assert (places.dtype, places.strides) == (expected.dtype, expected.strides)
            assert places.base.shape == expected.base.shape
            assert numpy.asarray(frit.numpy.where(x)[0]).tolist() == expected.tolist()


def test_few_elements_of_others_memory_and_of_special_values_are_judged_as_by_numpy() -> None:
    special = numpy.array([0.0, -0.0, numpy.nan, numpy.inf, 5e-324, -1.0])
    bytes_of_others = numpy.array([0, 1, 2, 255, 0, 128], "u1").view(bool)
    x, mask = frit.numpy.array(special), frit.numpy.asarray(bytes_of_others)
    assert x.nonzero()[0].tolist() == special.nonzero()[0].tolist()
    assert mask.nonzero()[0].tolist() == bytes_of_others.nonzero()[0].tolist()
    assert numpy.asarray(x[mask]).tobytes() == special[bytes_of_others].tobytes()


def test_a_mask_of_another_length_is_refused_in_numpys_words() -> None:
    a, mask = numpy.arange(5.0), numpy.ones(4, bool)
    with pytest.raises(IndexError) as expected:
        a[mask]
    with pytest.raises(IndexError) as refused:
        frit.numpy.array(a)[frit.numpy.array(mask)]
    assert str(refused.value) == str(expected.value)
