"""test_postponed.py: arrays made of numbers alone, which are not stored before they are read twice.

Random programs over such arrays, written to and read in parts, with looks at single numbers between
them: as NumPy, to the bit. FRIT_FUZZ_PROGRAMS: how many (2000). FRIT_FUZZ_SEED: which (0).
"""

# ruff: noqa: E501

from __future__ import annotations

import os
import random
from collections.abc import Callable

import numpy
import pytest

import frit.numpy as np

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "2000"))
SEED = int(os.environ.get("FRIT_FUZZ_SEED", "0"))
SHARDS = 8

MADE = [
    "np.linspace({a}, {b}, {n})", "np.arange({n}) * {a}", "np.ones({n})", "np.full({n}, {b})", "np.zeros({n})",
    "np.arange(float({n}))", "np.arange({n}, dtype=np.float32)", "np.linspace({a}, {b}, {n}, endpoint=False)",
]  # fmt: skip
STEPS = [
    "{x} = {y} + {a}", "{x} = {y} * {z}", "{x} = abs({y}) - {z}", "{x} += {a}", "{x} *= {y}", "{x}[1:] = {y}[:-1]",
    "{x}[{i}] = {a}", "{x}[::2] += {b}", "{x}[:] = {y}", "{x}[2:5] = {a}", "{x} = {y}[::-1]", "{x} = {y}.copy()",
    "np.add({y}, {z}, out={x})", "{x} = np.where({y} > {a}, {y}, {z})", "{x} = np.sqrt(abs({y}) + {z} * {z})",
    "{x}[3:] -= {x}[:-3]", "{x} = {y}", "{x} = {y}[:]", "del {x}; {x} = np.ones({n})", "{x}.fill({a})",
    "{x}[{y} < {a}] = {b}", "{x} = np.maximum({y}, {a}).astype({y}.dtype)", "{x} = np.cumsum({y})",
]  # fmt: skip
LOOKS = [
    "seen.append(float({x}.sum()))", "seen.append(bool(({x} > {a}).any()))", "seen.append(float({x}.max() - {y}.min()))",
    "seen.append(float({x}[{i}]))", "seen.append(({x} * {y}).mean().item())", "seen.append({x}.tolist())",
    "seen.append(float((2 * {x} + {a}).sum()))", "seen.append(int(np.argmax({x})))", "seen.append({x}[2:4].tolist())",
    "seen.append(np.shares_memory({x}, {y}))", "seen.append(float({x}.dot({y})))",
]  # fmt: skip


def program(r: random.Random) -> str:
    def filled(text: str) -> str:
        names = {name: r.choice("uvw") for name in "xyz"}
        numbers = {"a": r.choice((0.5, -1.25, 2, 3.75)), "b": r.choice((0.1, 7, -2.5))}
        return text.format(**names, **numbers, n=n, i=r.randrange(n))

    n = r.choice((7, 64, 300, 5000))
    lines = ["seen = []", *(f"{name} = {filled(r.choice(MADE))}" for name in "uvw")]
    for _ in range(r.randrange(3, 25)):
        lines.append(filled(r.choice(STEPS if r.random() < 0.6 else LOOKS)))
    return "\n".join([*lines, "seen += [u.tolist(), v.tolist(), w.tolist()]"])


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.usefixtures("lazy_tier")
def test_postponed_arrays_are_numpys(shard: int, outcome: Callable[..., str]) -> None:
    r = random.Random(SEED * SHARDS + shard)
    with numpy.errstate(all="ignore"), np.errstate(all="ignore"):
        for _ in range(max(1, PROGRAMS // SHARDS // 4)):
            text = program(r)
            assert outcome(text, np) == outcome(text, numpy), text
