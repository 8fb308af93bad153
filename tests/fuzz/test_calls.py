"""test_calls.py: single calls with random operands, layouts and options: the same result, error, warnings and operands as
NumPy's.

FRIT_FUZZ_PROGRAMS: how many (4000). FRIT_FUZZ_SEED: which (0).
"""

# ruff: noqa: E501

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import numpy
import programs
import pytest

import frit.numpy

sys.path.insert(0, str(Path(__file__).parents[1] / "door"))
import compare  # noqa: E402

SHARDS = 4
CALLS = max(int(os.environ.get("FRIT_FUZZ_PROGRAMS", "4000")) // SHARDS, 1)  # of each
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "0"))
DTYPES = "f8 f8 f4 f2 i8 i8 i4 i1 u1 u2 u8 ? c16 c8".split()
UNARY = "negative absolute rint sign square sqrt floor isnan signbit conjugate logical_not".split()
BINARY = "add subtract multiply true_divide maximum fmin greater equal less logical_and bitwise_or copysign".split()
OPERATORS = "+= -= *= /= //= %= &= |= @=".split()
NUMBERS = ["2", "0", "-1", "1.5", "True", "2j", "np.nan", "np.float32(2.5)", "np.int8(3)", "300"]
PLACES = ["", "[...]", "[0]", "[1:]", "[::-1]", "[None]", "[a > 1]", "[[0, 0]]"]


def array(draw: random.Random, shape: tuple[int, ...], dtype: str | None = None) -> str:
    dtype = dtype or draw.choice(DTYPES)

    def made(shape: tuple[int, ...]) -> str:
        return f"data({draw.randrange(10**6)}, {shape}, {dtype!r})"

    if not shape:
        return made(shape)
    last = shape[-1]
    return draw.choice(
        [
            made(shape),
            made(shape),
            made(shape[::-1]) + ".T",
            made(shape) + "[::-1]",
            made((*shape[:-1], 2 * last)) + "[..., ::2]",
            f"np.broadcast_to({made(shape[1:])}, {shape})",
        ]
    )


def options(draw: random.Random) -> str:
    found = ["out=o"] if draw.random() < 0.6 else []
    if found and draw.random() < 0.4:
        found.append("where=" + draw.choice(["w", "True", "False", "[True]"]))
    if draw.random() < 0.25:
        found.append(f"dtype={draw.choice(DTYPES)!r}")
    if draw.random() < 0.3:
        found.append(f"casting={draw.choice(['no', 'equiv', 'safe', 'same_kind', 'unsafe'])!r}")
    if draw.random() < 0.1:
        found.append(f"order={draw.choice('CFKAX')!r}")
    return "".join(", " + text for text in found)


def program(draw: random.Random) -> str:
    shape = tuple(draw.choice([1, 2, 3, 5, 0]) for _ in range(draw.choice([0, 1, 1, 2, 2, 3])))
    part = shape[draw.randrange(len(shape) + 1) :]
    other = draw.choice([array(draw, part), draw.choice(NUMBERS)])
    third = draw.choice([array(draw, part), draw.choice(NUMBERS), "None"])
    call = draw.choice(
        [
            f"r = np.{draw.choice(UNARY)}(a{options(draw)})",
            f"r = np.{draw.choice(BINARY)}({draw.choice(['a, b', 'b, a'])}{options(draw)})",
            f"a{draw.choice(PLACES)} {draw.choice(OPERATORS)} b; r = a",
            f"a{draw.choice(PLACES)} = b; r = a",
            "r = np.clip(a, b, c)",
            "r = a.clip(b, c)",
            "np.copyto(a, b, where=w, casting='unsafe'); r = a",
            f"r = np.round(a, {draw.choice([0, 1, -1, 3])})",
            f"r = a.copy({draw.choice('CFKA')!r}), a.astype({draw.choice(DTYPES)!r})",
        ]
    )
    if other == "300" and "where=" in call:
        other = "30"  # comparing int8 with it by a mask NumPy crashes
    lines = [f"a = {array(draw, shape)}", f"b = {other}", f"c = {third}"]
    lines += [f"o = {array(draw, shape)}", f"w = {array(draw, part, '?')}", call]
    return "\n".join(lines)


def outcome(text: str, module: object) -> tuple:
    def data(seed: int, shape: tuple[int, ...], dtype: str) -> object:
        return module.array(programs.numbers(seed, shape, dtype, "small"))

    return compare.outcome(text, module, {"data": data})


@pytest.mark.timeout(max(900, CALLS // 4))
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_random_call_does_what_numpy_does(shard):
    for seed in range(FIRST + shard * CALLS, FIRST + (shard + 1) * CALLS):
        text = program(random.Random(seed))
        value, warnings, after = outcome(text, numpy)
        mine = outcome(text, frit.numpy)
        assert mine[0] == value, text
        assert set(mine[1]) == set(warnings), text
        assert {name: mine[2].get(name) for name in after} == after, text
