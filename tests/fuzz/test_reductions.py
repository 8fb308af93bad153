"""test_reductions.py: random reductions and scans give NumPy's bits, in both tiers.

What varies is what the order of a sum depends on: shape, layout, axes, element types, sizes around
the edges of NumPy's leaves and buffers, and whether the array is there or still to be computed.
FRIT_FUZZ_REDUCTIONS: how many (3000). FRIT_FUZZ_SEED: which (0).
"""

from __future__ import annotations

import os
import random
import warnings
from typing import Any

import numpy
import pytest

COUNT = int(os.environ.get("FRIT_FUZZ_REDUCTIONS", "3000"))
SEED = int(os.environ.get("FRIT_FUZZ_SEED", "0"))
SHARDS = 6
EDGES = [1, 2, 3, 4, 7, 8, 9, 15, 16, 127, 128, 129, 136, 1000, 4095, 4096, 4097, 8192, 8193]
MOST = 150_000  # elements


def shape_of(r: random.Random) -> tuple[int, ...]:
    ndim = r.choice([1, 1, 2, 2, 2, 3, 3, 4])
    longest = {1: [10, 300, 20_000, 70_000], 2: [6, 40, 260], 3: [4, 12, 40], 4: [3, 7, 15]}[ndim]
    shape = [r.randint(1, r.choice(longest)) for _ in range(ndim)]
    if r.random() < 0.3:
        shape[r.randrange(ndim)] = r.choice(EDGES)
    while numpy.prod(shape) > MOST:
        shape[shape.index(max(shape))] //= 2
    return tuple(shape)


def data(r: random.Random, shape: tuple[int, ...], code: str) -> numpy.ndarray:
    kind = r.choice(["usual", "usual", "special", "zeros"])
    n = numpy.random.RandomState(r.randrange(2**31))
    size, dtype = int(numpy.prod(shape)), numpy.dtype(code)
    if dtype.kind == "b":
        x = n.rand(size) < 0.5
    elif dtype.kind in "iu":
        info = numpy.iinfo(dtype)
        x = n.randint(info.min // 2, info.max // 2, size, dtype=dtype)
    else:
        x = n.randn(size) * (10.0 ** n.randint(-2, 3, size) if code != "e" else 1)
        if kind == "special":
            special = n.choice([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan], size)
            x = numpy.where(n.rand(size) < 3 / (size + 1), special, x)
        if kind == "zeros":
            x = numpy.where(n.rand(size) < 0.5, -0.0, 0.0)
        if dtype.kind == "c":
            x = x + 1j * n.permutation(x)
    return x.astype(dtype).reshape(shape)


def window_of(r: random.Random, ndim: int) -> str:
    slices = "[" + ",".join(r.choice([":", "::-1", "1:", "::2", ":-1"]) for _ in range(ndim)) + "]"
    axes = r.sample(range(ndim), ndim)
    ways = ["", "", slices, slices, f".transpose({axes})", f".transpose({axes}){slices}"]
    return r.choice([*ways, "[" + ",".join(r.choice([":", "None,:"]) for _ in range(ndim)) + "]"])


def expression(r: random.Random, x: numpy.ndarray, code: str) -> str:
    text = "x" + window_of(r, x.ndim) + r.choice(["", "", "", "*2" if code != "?" else ""])
    shape = eval(text, {"x": x}).shape
    if r.random() < 0.1:
        shape = (3, *shape)
        text = f"np.broadcast_to({text}, {shape})"
    function = r.choice(
        ["sum"] * 5
        + ["mean", "mean", "prod", "var", "std", "min", "max", "cumsum", "cumprod", "any"]
    )
    ndim = len(shape)
    axis: Any = r.choice([None, 0, -1, r.randrange(ndim)])
    if function.startswith("cum"):
        return f"({text}).{function}(axis={axis})"
    if code == "F" and function == "prod" and "-1" in text:
        function = "sum"  # NumPy rounds products of complex64 otherwise when it walks backwards
    if r.random() < 0.3:
        axis = tuple(r.sample(range(ndim), r.randint(1, ndim)))
    words = [f"axis={axis}"]
    if r.random() < 0.2:
        words.append("keepdims=True")
    if function in ("sum", "mean", "prod") and r.random() < 0.3:
        words.append(f"dtype='{r.choice('efdFD' if code not in 'FD' else 'FD')}'")
    if function in ("sum", "prod", "min", "max") and r.random() < 0.2:
        words.append(f"initial={r.choice(['0', '1', '2'] + ['-0.0', '2.5'] * (code in 'efdFD'))}")
    call = f"({text}).{function}({', '.join(words)})"
    # Which zero is the least is a matter of chance.
    return f"{call} + 0" if function in ("min", "max") else call


def value(text: str, scope: dict[str, Any]) -> Any:
    try:
        return eval(text, scope)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_random_reduction_has_numpys_bits(shard: int, tier: str, same: Any) -> None:
    import frit.numpy as np

    r = random.Random(SEED * SHARDS + shard)
    with numpy.errstate(all="ignore"), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(COUNT // SHARDS):
            code = r.choice("effddddFDDBilL?")
            x = data(r, shape_of(r), code)
            text = expression(r, x, code)
            expected = value(text, {"np": numpy, "x": x})
            got = value(text, {"np": np, "x": np.array(x)})
            same(got, expected, f"{text}, x = {x.dtype}{x.shape}")


# Bodies as long as these have more lanes than NumPy's tree has accumulators.
LONG_BODIES = [
    "(np.exp(x) - 0.5).sum(axis=-1)",
    "(np.sqrt(np.exp(-x * x)) / (1 + x * x)).mean(axis=-1)",
    "np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True) + x",
]


@pytest.mark.parametrize("code", "efd")
def test_sums_of_long_bodies_have_the_same_bits_in_both_tiers(code: str) -> None:
    import frit.numpy as np
    from frit import _core

    lengths = [*range(1, 42), *EDGES, 5_003, 20_011]
    before = _core.set_immediate_bytes(0)
    try:
        for n in lengths:
            x = np.array(numpy.random.RandomState(n).randn(n if n > 1000 else 3 * n).astype(code))
            x = x.reshape(-1, n)
            for text in LONG_BODIES:
                _core.set_tier("interpreter")
                expected = numpy.array(eval(text))
                _core.set_tier("compiled")
                got = numpy.array(eval(text))
                assert got.tobytes() == expected.tobytes(), (text, n)
    finally:
        _core.set_tier("automatic")
        _core.set_immediate_bytes(before)
