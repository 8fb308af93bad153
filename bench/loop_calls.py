"""loop_calls.py: what a call of a function with loops costs besides its work.

Three figures, each against its limit: a function whose loops stay Python, over plain Python (at
most 2 % more); a call whose plan is known (5 us); the first call in a fresh process, with an empty
kernel cache (100 ms) and with a full one (20 ms), of the sixteen nests of tests/loops/kernels.py.

Usage: loop_calls.py [--rounds N] [--out FILE]. Times of first calls are the processor's, of the
calling thread, and the least of the rounds: what else the machine does is not in them.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
LIMITS = {"stays Python": 1.02, "known plan, us": 5.0, "first, ms": 100.0, "second, ms": 20.0}
STAYS = {
    "list, 3 rounds": ("x[i] = i", 3, lambda: [0] * 3),
    "list, 100 rounds": ("x[i] = i", 100, lambda: [0] * 100),
    "array, 3 rounds": ("x[i] = i", 3, lambda: np.zeros(3)),
    "array, no nest": ("x[i] = np.cumsum(x)[i]", 100, lambda: np.zeros(100)),
    "dict": ("x[i] = x[i] + 1", 20, lambda: dict.fromkeys(range(20), 1)),
    "exits, 3 rounds": ("if x[i] < 0: print('none')", 3, lambda: [0] * 3),
    "exits, 40 rounds": ("if x[i] < 0: print('none')", 40, lambda: [0] * 40),
    "two loops": ("x[i] = 0\n  for j in range(3): x[j] = i", 3, lambda: np.zeros(3)),
}
# Seconds, until it is known that a loop stays Python: of one with exits that takes a microsecond
# after some 10,000 of its calls.
WARM_UP = 0.05

FIRST = """
import sys, time
sys.path.insert(0, {root!r})
import numpy as np
from frit import _core
import frit
from tests.loops import kernels
given = kernels.arguments({name!r}, {size}, np.random.default_rng(1))
function = frit.parallelize(kernels.KERNELS[{name!r}])
start = time.thread_time()
function(*given)
print(1e3 * (time.thread_time() - start))
for _ in range(3):
    function(*given)
"""


def mean_time(function: Callable[[], Any], seconds: float = 2e-3) -> float:
    start = time.perf_counter()
    function()
    count = max(1, int(seconds / (time.perf_counter() - start)))
    start = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - start) / count


def warm_up(function: Callable[[], Any]) -> None:
    end = time.perf_counter() + WARM_UP
    while time.perf_counter() < end:
        for _ in range(10):
            function()


def stays_python(rounds: int) -> dict[str, float]:
    """The rewritten function's time over the plain one's: each the least of many, by turns."""
    from frit import _importer
    from frit.loops.find import implicit

    _importer.install()
    found = {}
    for name, (body, count, make) in STAYS.items():
        text = f"def f(x):\n for i in range({count}):\n  {body}\n"
        ratios = []
        for _ in range(rounds):  # new code: where it lies in memory makes some per cent
            plain = compile(text, "<program>", "exec")
            functions = []
            for code in (plain, implicit.code_of(text, plain)):
                space: dict[str, Any] = {"np": np, "__name__": "program"}
                exec(code, space)
                functions.append(space["f"])
            x, best = make(), [float("inf")] * 2
            for f in functions:
                warm_up(functools.partial(f, x))
            for _ in range(250):  # short: between two of what else the machine does
                for k, f in enumerate(functions):
                    best[k] = min(best[k], mean_time(functools.partial(f, x), 1e-4))
            ratios.append(best[1] / best[0])
        found[name] = round(statistics.median(ratios), 4)
    _importer.uninstall()
    return found


def known_plans(rounds: int) -> dict[str, float]:
    """By nest: microseconds of a call with a few elements, what it does included."""
    import frit
    from frit.loops.run import place

    sys.path.insert(0, str(ROOT))
    from tests.loops import kernels

    found = {}
    before, place.SHORT = place.SHORT, -1.0
    for name, kernel in kernels.KERNELS.items():
        function = frit.parallelize(kernel)
        given = kernels.arguments(name, 4, np.random.default_rng(1))
        call = functools.partial(function, *given)
        call()
        nests = len(frit.loops.state_of(function).sites)
        best = min(mean_time(call, 5e-4) for _ in range(80 * rounds))
        found[name] = round(1e6 * best / nests, 2)
    place.SHORT = before
    return found


def first_calls(rounds: int) -> dict[str, list[float]]:
    """By nest: the first call with an empty cache, and with the one that it has left."""
    sys.path.insert(0, str(ROOT))
    from tests.loops import kernels

    found = {}
    for name in kernels.KERNELS:
        size = {"vector_add": 20_000, "saxpy": 20_000, "heat_3d": 20}.get(name, 100)
        program = FIRST.format(root=str(ROOT), name=name, size=size)
        best = [float("inf")] * 2
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                for k in range(2):
                    best[k] = min(best[k], run(program, folder))
        found[name] = [round(x, 1) for x in best]
        print(f"{name:16} {best[0]:6.1f} {best[1]:6.1f}", flush=True)
    return found


def run(program: str, folder: str) -> float:
    settings = {**os.environ, "FRIT_CACHE_DIR": folder}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    settings["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "loop_calls_pycache")
    words = [sys.executable, "-c", program]
    return float(subprocess.run(words, env=settings, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", default=str(ROOT / "bench" / "results" / "loop_calls.json"))
    options = parser.parse_args()
    python, plans = stays_python(options.rounds), known_plans(options.rounds)
    for name, ratio in python.items():
        print(f"{name:16} {ratio:6.3f} of plain Python")
    for name, microseconds in plans.items():
        print(f"{name:16} {microseconds:6.2f} us a nest, plan known")
    calls = first_calls(options.rounds)
    results = {
        "command": "python bench/loop_calls.py",
        "limits": LIMITS,
        "stays Python": python,
        "known plan, us": plans,
        "first and second process, ms": calls,
    }
    Path(options.out).write_text(json.dumps(results, indent=1) + "\n")
    worst = {
        "stays Python": max(python.values()),
        "known plan, us": max(plans.values()),
        "first, ms": max(first for first, _ in calls.values()),
        "second, ms": max(second for _, second in calls.values()),
    }
    for name, value in worst.items():
        print(f"{name}: {value:g}, limit {LIMITS[name]:g}")
    sys.exit(any(value > LIMITS[name] for name, value in worst.items()))


if __name__ == "__main__":
    main()
