"""test_grid.py: each kind of loop with each kind of body, for numbers of all types.

FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED: how many of the pairs, in random order, and the first seed.
"""

from __future__ import annotations

import copy
import itertools
import os
import random
import textwrap
import warnings

import numpy as np
import pytest

import frit
from frit.loops.find import implicit

from .fuzz import same
from .test_exits import calls_of
from .test_implicit import eager
from .written import code_of

__all__ = ["eager"]

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "300"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
pytestmark = pytest.mark.timeout(max(900, PROGRAMS))

# Each gives `i` and `v`; the body stands behind its last line.
LOOPS = [
    "for i in range(len(a)):\n    v = a[i]",
    "for i in range(1, len(a), 2):\n    v = a[i]",
    "for i in range(len(a) - 1, -1, -1):\n    v = a[i]",
    "for i in range(0, len(items), k):\n    v = items[i]",
    "for i in range(len(a)):\n    v = a[-i - 1]",
    "for i in range(len(a)):\n    v = a[i - 1]",
    "for i in range(len(a) + k - 3):\n    v = a[i]",
    "for i in range(k):\n    v = 0.5 * i",
    "for i in range(len(a)):\n    v = a[i].item()",
    "for i in range(len(a)):\n    v = float(a[i])",
    "for i in range(len(a)):\n    v = int(a[i])",
    "for i in range(len(a)):\n    v = np.float64(a[i])",
    "for i in range(len(a)):\n    v = increased(a[i])",
    "for i in range(len(a)):\n    v = a[i] if i % 3 else 0",
    "for i, v in enumerate(a):\n    pass",
    "for i, v in enumerate(a, 3):\n    pass",
    "for i, v in enumerate(a[1:-1]):\n    pass",
    "for i, v in enumerate(items):\n    pass",
    "for i, v in enumerate(items[::-1]):\n    pass",
    "for i, v in enumerate(a.tolist()):\n    pass",
    "for v, i in zip(a, range(5, 500)):\n    pass",
    "for v, i in zip(a[1:], a[:-1]):\n    pass",
    "for i, (v, u) in enumerate(zip(a, items)):\n    pass",
    "i = 0\nfor v in a:\n    i += 1",
    "for i in reversed(range(len(a))):\n    v = a[i]",
    "for i in range(len(m)):\n    for j in range(m.shape[1]):\n        v = m[i, j]",
    "for i in range(len(a)):\n    for j in range(i):\n        v = a[j]",
    "for i in range(len(a)):\n    for j in range(i + 1, len(a)):\n        v = a[i] - a[j]",
    "for i in range(len(rows)):\n    for j in range(len(rows[i])):\n        v = rows[i][j]",
    "for row in m:\n    for i, v in enumerate(row):\n        pass",
    "for i in range(len(m)):\n    v = m[i].sum()",
    "for i in range(len(m)):\n    v = np.dot(m[i], m[i])",
    "for i, j in np.ndindex(*m.shape):\n    v = m[i, j]",
    "for (i, j), v in np.ndenumerate(m):\n    pass",
    "i = -1\nwhile i < len(a) - 1:\n    i += 1\n    v = a[i]",
    "i = len(a)\nwhile i > 0:\n    i -= 1\n    v = a[i]",
    "i = 0\nwhile True:\n    if i >= len(a):\n        break\n    v = a[i]\n    i += 1",
]
BODIES = [
    "s += v",
    "s = v + s",
    "s = s * v + i",
    "s -= v\ns *= 2",
    "s = (s + v) / 2",
    "s = s // 2 + v",
    "s = (s * 3 + v) % 7",
    "s += (v - s) / (i + 1)",
    "s = s + v ** 3",
    "s = (v * 0.5) ** 2 + s",
    "s = s ^ (v > 1)",
    "s = s and v > 0",
    "s = not s if v > 1 else s",
    "s = bool(v)",
    "s += v > 1",
    "s += abs(v - s)",
    "s = round(s + v / 3)",
    "s = -v if v > s else +s",
    "s = max(s, v)",
    "s, t = min(s, v), max(t, v)",
    "s = min(v, s, i)",
    "s = np.maximum(s, v)",
    "s = np.where(v > 1, s, v)",
    "s = np.int64(s) + v",
    "s = np.float32(s + v)",
    "s = float(v) + s",
    "s = int(v) + s",
    "s = s * 0.9 + 0.1 * v",
    "s = doubled(s, v)",
    "s = first_of(s, v)",
    "s, t = t, s + v",
    "t, s = (s, v) if v > 1 else (v, s)",
    "t = s\ns = v\nout[i % 4] = t",
    "if v > s:\n    s = v",
    "if i == 0 or v > t:\n    t = v\n    s = i",
    "if v > 1:\n    s += 1",
    "if 0 < v <= 3:\n    s += i",
    "if i in (1, 2):\n    s = v",
    "if v > 3:\n    break\ns += v",
    "if v > 3:\n    continue\ns += v",
    "if v > 4:\n    log.append(str(s))\ns += v",
    "if v > 4:\n    raise ValueError('large')\ns += v",
    "assert v < 5, 'large'\ns += v",
    "s = v if s is None else max(s, v)",
    "if s is None or v < s:\n    s = v",
    "if s is None or v < s:\n    s = v\n    t = i",
    "if t is not None:\n    s = v - t\nt = v",
    "s = None if v > 3 else v",
    "if s is None:\n    s = i\nelse:\n    s = min(s, v)",
    "if v > 3:\n    s = None",
    "if v > 2:\n    t = s\n    s = None if t is None else v",
    "s = t\nt = v",
    "s = t\nif s is not None:\n    t += v",
    "if s is not None and s > v:\n    t = s\nelse:\n    s = v",
    "if t is None:\n    t = i\n    break",
    "if o.s is None or v > o.s:\n    o.s = v\n    o.n = i",
    "s = o.changed(v)",
    "t = None\nfor q in range(3):\n    if t is None or q * v > t:\n        t = q * v\ns = t",
    "out[i % 4] += v\ns = out[0]",
    "out[i] = v\ns += 1",
    "out[i % 4:] += v\ns = out[-1]",
    "o.s += v\ns = o.s",
    "o.n += 1\ns = o.n + v",
    "if v > o.s:\n    o.s = v\n    o.n = i",
    "kept[i % 3] = v\ns = kept[0]",
    "r.append(s)\ns = s + v",
    "for q in range(3):\n    s += v * q",
    "for q in range(5):\n    if q > v:\n        break\n    s += q",
    "for q in range(3):\n    if q == v:\n        break\nelse:\n    s += 1",
    "q = 0\nwhile q < 2:\n    q += 1\n    s = s + q * v",
]
STARTS = [0, 7, 2**40, 0.0, -0.0, np.nan, True, 1j, None, None, None]
STARTS += [np.float32(1), np.float64(2), np.int64(1), np.int8(3), np.uint8(250), np.bool_(False)]
DTYPES = ["f8", "f4", "f2", "i8", "i4", "i1", "u1", "u8", "?", "c16"]


class Thing:
    def __init__(self, s):
        self.s = s
        self.n = 0

    def changed(self, x):
        last, self.n = self.s, self.n + 1
        change = 0 if self.s is None else x - self.s
        self.s = x if x != 2 else None
        return change if last is not None else self.n


def increased(x):
    return x + 1


def doubled(x, y):
    z = x * 2
    if y > 2:
        z = y
    return z


def first_of(x, y):
    if y > 1:
        return x
    return x + y


FUNCTIONS = {"np": np, "increased": increased, "doubled": doubled, "first_of": first_of}


class Case:
    """A loop with a body, and what it may be given."""

    def __init__(self, seed: int, loop: str, body: str) -> None:
        self.random = random.Random(seed)
        last = loop.splitlines()[-1]
        depth = (len(last) - len(last.lstrip())) * " "
        ends = ["", "else:\n    t = s\n"] if loop.count("for") < 2 and "while" not in loop else [""]
        lines = f"{loop}\n{textwrap.indent(body, depth)}\n{self.random.choice(ends)}"
        self.module = "r = []\n" + lines
        self.function = (
            "def f(a, m, items, rows, out, s, t, o, k, kept, log):\n"
            + textwrap.indent(self.module, "    ")
            + f"    return s, t, r{self.random.choice(['', ' + [i]', ' + [v]'])}\n"
        )
        self.choose()

    def choose(self) -> None:
        choice = self.random.choice
        self.dtypes = choice(DTYPES), choice(DTYPES)
        self.start, self.second = choice(STARTS), choice(STARTS)
        self.size = choice([0, 1, 2, 3, 7, 20, 33])

    def given(self, seed: int) -> dict[str, object]:
        random_ = np.random.default_rng(seed)

        def array(shape, dtype):
            return random_.integers(0 if dtype in ("?", "u1", "u8") else -3, 6, shape).astype(dtype)

        a = array(self.size, self.dtypes[0])
        m = array(random_.integers(0, 5, 2), self.dtypes[1])
        return {
            "a": a,
            "m": m,
            "items": a.tolist(),
            "rows": m.tolist(),
            "out": array(4, self.dtypes[seed % 2]),
            "s": self.start,
            "t": self.second,
            "o": Thing(self.start),
            "k": int(random_.integers(1, 6)),
            "kept": [self.start, self.second, 0] if seed % 3 else [0, 0, 0],
            "log": [],
        }

    def others(self, count: int) -> list[dict[str, object]]:
        """Arguments of some calls; the starts differ from one to the next."""
        found = []
        for _ in range(count):
            found.append(self.given(self.random.randrange(10**9)))
            if self.random.random() < 0.3:
                self.start = self.random.choice(STARTS)
        return found


def cases():
    for number in range(FIRST, FIRST + PROGRAMS):
        pairs = [*itertools.product(LOOPS, BODIES)]
        random.Random(number // len(pairs)).shuffle(pairs)
        yield number, Case(number, *pairs[number % len(pairs)])


def state(given):
    o = given["o"]
    return [x for name, x in sorted(given.items()) if name != "o"] + [o.s, o.n]


def outcome(run, given):
    given = copy.deepcopy(given)
    with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = run(given)
        except Exception as error:
            result = repr(error)
    return result, state(given), sorted({f"{w.category} {w.message} {w.lineno}" for w in told})


def test_functions_do_what_they_do_as_python():
    compiled = 0
    for number, case in cases():
        space = dict(FUNCTIONS)
        exec(code_of(case.function, f"<function {number}>"), space)
        plain, parallel = space["f"], frit.parallelize(space["f"])
        for given in case.others(3):
            expected = outcome(lambda x: plain(**x), given)
            got = outcome(lambda x: parallel(**x), given)
            assert same(expected, got), (
                f"seed {number}\n{case.function}\n{given}\nPython: {expected}\nFrit: {got}"
            )
        compiled += calls_of(parallel)
    assert compiled > PROGRAMS  # of three calls


def test_modules_do_what_they_do_as_python(eager):
    def run(code):
        def run_with(given):
            space = {**FUNCTIONS, **given}
            exec(code, space)
            given.update(s=space["s"], t=space["t"])
            return [space.get(name) for name in ("r", "i", "v")]

        return run_with

    for number, case in cases():
        name = f"<module {number}>"
        plain = code_of(case.module, name)
        ours = implicit.code_of(case.module, plain)
        for given in case.others(2):
            expected, got = outcome(run(plain), given), outcome(run(ours), given)
            assert same(expected, got), (
                f"seed {number}\n{case.module}\n{given}\nPython: {expected}\nFrit: {got}"
            )
