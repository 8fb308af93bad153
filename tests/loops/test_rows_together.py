"""test_rows_together.py: stencils, whose rows run side by side in one vector loop.

Random ones: which elements they load, in what order loops run, how arrays lie in memory. All
numbers are small multiples of 1/8, so that sums are exact in any order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import frit
from frit import _core
from frit.loops.run import place, traits

from .written import function_of

PROGRAMS = 60
DTYPES = ["f8", "f8", "f8", "f4", "i4", "i2", "c16", "i8", "u1"]


@pytest.fixture(autouse=True)
def as_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(place, "SHORT", -1.0)
    monkeypatch.setattr(traits, "SHORT", -1.0)
    before = _core.set_part_cost(100.0)
    yield
    _core.set_part_cost(before)
    _core.set_tier("automatic")


def text_of(choose: random.Random, dims: int) -> str:
    names = "ijk"[:dims]

    def place_of() -> str:
        shifts = [choose.choice([-2, -1, 0, 0, 1, 2]) for _ in names]
        return ", ".join(f"{name} + {d}" for name, d in zip(names, shifts, strict=True))

    def term() -> str:
        element = f"{choose.choice('aab')}[{place_of()}]"
        return choose.choice(["{}", "{}", "{}", "0.5 * {}", "2 * {}", "abs({})"]).format(element)

    def bounds(extent: str, is_last: bool) -> str:
        if is_last and choose.random() < 0.1:
            return "range(2, i)"
        return choose.choice(
            [
                *[f"range(2, {extent} - 2)"] * 4,
                f"range({extent} - 3, 1, -1)",
                f"range(2, {extent} - 2, 2)",
                f"range(2, {extent} // 2)",
            ]
        )

    lines = ["def stencil(a, b, o, p, w, r, n, m):", "    s = 0"]
    for depth, name in enumerate(names):
        ranges = bounds("nmm"[depth], depth == dims - 1)
        lines.append("    " * (depth + 1) + f"for {name} in {ranges}:")
        if depth == dims - 2:
            lines.append("    " * (depth + 2) + "c = r[i] * 2")
    body = []
    kind = choose.random()
    if kind < 0.4:
        body.append("s = " + " + ".join(term() for _ in range(choose.randint(3, 10))) + " - c")
    elif kind < 0.8:
        low, high = choose.choice([(-1, 2), (-2, 3), (0, 2)])
        inner = ", ".join(["i + u", *names[1:-1], f"{names[-1]} + v"])
        body += [
            "s = 0.0",
            f"for u in range({low}, {high}):",
            f"    for v in range({low}, {high}):",
            f"        s += w[u - {low}, v - {low}] * a[{inner}]",
        ]
    else:
        body += [f"x = {term()} + {term()}", f"s = x * {term()} + {term()}", "s = max(s, x)"]
    here = ", ".join(names)
    body += choose.choice(
        [
            [f"o[{here}] = s"],
            [f"p[{here}] += s"],
            [f"o[{here}] = s", f"p[{here}] = s + a[{place_of()}]"],
            [f"o[{here}] = s", f"p[{place_of()}] = o[{here}]"],
        ]
    )
    lines += ["    " * (dims + 1) + line for line in body]
    return "\n".join([*lines, f"    return {choose.choice(['None', 's', 'i'])}", ""])


def array(choose: random.Random, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    numbers = np.random.default_rng(choose.randrange(1 << 30))

    def dense(wanted: tuple[int, ...]) -> np.ndarray:
        return (numbers.integers(-20, 20, wanted) / (1 if dtype[0] in "iu" else 8)).astype(dtype)

    every_other = tuple(slice(None, None, 2) for _ in shape)
    inner = tuple(slice(1, 1 + extent) for extent in shape)
    lies = choose.randrange(6)
    if lies == 0:
        return np.asfortranarray(dense(shape))
    if lies == 1:
        return dense(shape)[::-1]
    if lies == 2:
        return dense(tuple(2 * extent for extent in shape))[every_other]
    if lies == 3:
        return dense(tuple(3 + extent for extent in shape))[inner]
    return dense(shape)


def copy_of(x: np.ndarray) -> np.ndarray:
    """With the strides of x."""
    if x.base is None:
        return x.copy(order="K")
    base = x.base.copy(order="K")
    first, start = x.__array_interface__["data"][0], x.base.__array_interface__["data"][0]
    return np.ndarray(x.shape, x.dtype, base, first - start, x.strides)


def outcome(function: Callable[..., Any], arguments: list[Any]) -> str:
    try:
        return repr(function(*arguments))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_stencil_gives_what_python_gives(seed: int) -> None:
    choose = random.Random(seed)
    dims = choose.choice([2, 2, 3])
    text = text_of(choose, dims)
    n, m = choose.choice([4, 9, 17, 40, 66]), choose.choice([1, 5, 12, 21, 37])
    if dims == 3:
        n, m = min(n, 17), min(m, 12)
    shape = (n, m, m)[:dims]
    dtype, other = choose.choice(DTYPES), choose.choice(DTYPES)
    a, b = array(choose, shape, dtype), array(choose, shape, choose.choice([dtype, other]))
    o, p = array(choose, shape, choose.choice([dtype, other])), array(choose, shape, dtype)
    if choose.random() < 0.1:
        o = a
    weights = np.array([[choose.randint(-8, 8) / 4 for _ in range(5)] for _ in range(5)])
    row = np.array([choose.randint(-8, 8) / 4 for _ in range(n + 1)])

    def arguments() -> list[Any]:
        first = copy_of(a)
        return [first, copy_of(b), first if o is a else copy_of(o), copy_of(p), weights, row, n, m]

    expected = arguments()
    result = outcome(function_of(text, f"<plain {seed}>", np=np), expected)
    for tier in ("interpreter", "compiled"):
        _core.set_tier(tier)
        fast = frit.parallelize(function_of(text, f"<{tier} {seed}>", np=np))
        for _ in range(2):
            given = arguments()
            assert outcome(fast, given) == result, text
            for x, y in zip(given[:4], expected[:4], strict=True):
                assert np.array_equal(x, y, equal_nan=x.dtype.kind in "fc"), text


@pytest.mark.parametrize("expression", ["-c", "+c", "-c[1:3]", "-c[i]", "c - c"])
def test_rows_that_nobody_reads_raise_what_numpy_raises(expression: str) -> None:
    lines = ["def f(a, c, n):", " for i in range(n):", "  a[i] = 0.5", f"  v = {expression}", ""]
    source, name = "\n".join(lines), f"<rows {expression}>"
    f = function_of(source, name)
    errors, arrays = [], []
    for function in (f, frit.parallelize(f)):
        a = np.zeros(8)
        with pytest.raises(TypeError) as error:
            function(a, np.zeros(8, bool), 8)
        errors.append(str(error.value))
        arrays.append(a)
    assert errors[0] == errors[1]
    assert np.array_equal(*arrays)
