"""test_unread.py: named arrays of loops, which are not stored where nobody is foreseen to read them.

Random loops at the top of a program, with names that stay alive from round to round, updates in place of
what those were made of, and now and then somebody who does read them: as NumPy, to the bit.
FRIT_FUZZ_PROGRAMS: how many (2000). FRIT_FUZZ_SEED: which (0).
"""

# ruff: noqa: E501

from __future__ import annotations

import os
import random
from collections.abc import Callable

import numpy
import pytest

import frit.numpy as np
from frit import _core

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "2000"))
SEED = int(os.environ.get("FRIT_FUZZ_SEED", "0"))
SHARDS = 8

MAKES = [
    "{t} = {x} * {a} + {y}", "{t} = {x} - {s}", "{t} = abs({x}) + {s} * {s}", "{t} = np.sqrt(abs({x})) - {a}",
    "{t} = np.roll({x}, 1) - {x}", "{t} = {x} * (1 - {y})", "{t} = np.where({x} > {a}, {y}, {s})", "{t} = {x}.copy()",
    "{t} = ({x} - {x}.mean()) * {a}", "{t} = {x} * {x}.max()", "{t} = {s} + k", "{t} = np.zeros({n}); {t}[1:-1] = {x}[2:] - {x}[:-2]",
    "{t} = {x} * {a}; {t} *= {y}", "{t} = {t} * 0.5 + {x}", "{t} = half({x}) - half({y})", "{t} = half({x}); {s} = half({y})",
    "{t} = np.empty({n}); {t}[:] = {x}; {t}[0] = {a}", "{t} = {x}[::-1] + {y}", "{t} = np.maximum({x}, {y}) - np.minimum({x}, {s})",
    "{t} = np.cumsum({x}) * 0.001", "{t} = {x} / ({y} + {a})", "{t} = ({x} + {y}).astype(np.float32)", "{t} = lap({x})", "{t} = {x} @ {y} + {s}",
]  # fmt: skip
USES = [
    "{x} += {t} * 0.125", "{x}[1:-1] += 0.125 * ({x}[2:] - {t}[:-2])", "{x} = {x} * 0.5 + {t} * 0.25", "{x}[1:-1] = 0.25 * ({x}[2:] + {x}[:-2]) + {t}[1:-1] * 0.125",
    "{x} -= {t} - {s}", "{x}[:] = {t} * 0.5", "{x} = {t} * 0.5 - {y}", "seen.append(float(({t} + {x}).sum()))", "seen.append(float(({t} * {s} + 0.125).max()))",
    "seen.append(float(({t} - {x}).mean()))", "{x} *= 0.5; {x} += {t}", "{x}[0] = {x}[-1] = 0.5", "{x}[::2] += {t}[::2] * 0.125", "np.add({x}, {t}, out={x})",
    "u, v = v, u", "{x} += 0.25 * half({t})", "seen.append(bool(({t} > {x}).any()))", "{x}[1:-1] += 0.25 * lap({x})[1:-1] + 0.125 * {t}[1:-1]",
    "np.multiply({t}, 0.5, out={x}[:])", "{x} /= 1 + abs({t})", "old = {x}; {x} = {x} + {t}",
]  # fmt: skip
READS = [
    "seen.append({t}.tolist())", "seen.append(float({t}[{i}]))", "n_{t} = np.asarray({t}); seen.append(float(n_{t}[{i}]))", "seen.append(float({t}.sum()))",
    "{t}[{i}] = 0.25", "{t} += 1", "kept.append({t})", "del {t}; {t} = {x} + 1", "seen.append(float({t}.dot({x})))", "memoryview({t})[0]", "{x}.sort()",
    "np.copyto({x}, {t})", "np.put({x}, [{i}], 0.5)", "{t} = {x}", "{t} = {x}[:]", "{t} = {s}", "np.random.default_rng(k).shuffle({x})", "frit_eval()",
    "seen.append(pickle.loads(pickle.dumps({t})).tolist())", "{x} = {t}.copy()", "gc.collect()", "seen.append(float({s}[2:5].sum()))",
]  # fmt: skip
FUNCTIONS = """
import gc, pickle
def half(a):
    return a * 0.5
def lap(a):
    b = np.zeros_like(a)
    b[1:-1] = a[:-2] + a[2:] - 2 * a[1:-1]
    return b
"""


def program(r: random.Random) -> str:
    n = r.choice((8, 64, 300, 5000))

    def filled(text: str) -> str:
        x, y = r.choice(("uv", "vu", "uu"))
        t, s = r.sample(("p", "q", "r"), 2)
        numbers = {"a": r.choice((0.5, -1.25, 2, 3.75)), "i": r.randrange(n), "n": n}
        return text.format(x=x, y=y, t=t, s=s, **numbers)

    lines = [
        "seen = []; kept = []",
        f"u = np.linspace(-1, 2, {n}) + 0",
        f"v = (np.arange({n}) % 7 - 3) * 0.375",
        "p = u * 1; q = v * 2; r = u - v",
    ]
    for _ in range(r.choice((1, 1, 2))):
        body = [filled(r.choice(MAKES)) for _ in range(r.randrange(1, 4))]
        body += [filled(r.choice(USES)) for _ in range(r.randrange(1, 5))]
        if r.random() < 0.5:
            body.insert(r.randrange(len(body) + 1), filled(r.choice(MAKES)))
        if r.random() < 0.5:
            read = filled(r.choice(READS))
            body.insert(
                r.randrange(len(body) + 1),
                read if r.random() < 0.3 else f"if k == {r.randrange(6)}: {read}",
            )
        lines += [f"for k in range({r.randrange(2, 7)}):", *(f"    {line}" for line in body)]
    return "\n".join([FUNCTIONS, *lines, "seen += [a.tolist() for a in [u, v, p, q, r, *kept]]"])


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.usefixtures("lazy_tier")
def test_unread_arrays_are_numpys(shard: int, outcome: Callable[..., str]) -> None:
    r = random.Random(SEED * SHARDS + shard)
    with numpy.errstate(all="ignore"), np.errstate(all="ignore"):
        for _ in range(max(1, PROGRAMS // SHARDS // 4)):
            text = program(r)
            assert outcome(text, np, frit_eval=_core.eval) == outcome(text, numpy, frit_eval=int), (
                text
            )
