"""overhead.py: what one small operation costs under Frit and under NumPy, against Frit's limits.

    python bench/overhead.py [--frit none]

Each line: the median over many samples, NumPy and Frit in turn, in one process on one thread.
Imports are timed in fresh processes.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SAMPLES = 41
SAMPLE_SECONDS = 1e-3
CHAIN = 20
CHAIN_LENGTH = 20_000  # past the size that is computed at once, far from the limit of pending bytes
CLOCK = time.perf_counter  # as it is before Frit's, which waits for pending work, takes its place
IMPORT_RUNS = 15


@dataclass(frozen=True)
class Case:
    """A statement, timed in a namespace with np, x and y (arrays of n), real (an ndarray) and v."""

    name: str
    statement: str
    n: int
    limit: str  # "0.8x": times NumPy's time; "80 ns"; "+300 ns": more than NumPy
    divide: int = 1  # the operations in the statement
    then: str = ""  # behind each statement, not timed


def cases() -> list[Case]:
    found = []
    for n in (1, 10, 100):
        found += [
            Case(f"x + y, not read, n = {n}", "x + y", n, "0.8x"),
            Case(f"x + y, read, n = {n}", "(x + y)[0]", n, "0.8x"),
            Case(f"x * 2.0, not read, n = {n}", "x * 2.0", n, "0.8x"),
        ]

    def chain(operation: str) -> Case:
        """What it costs to record an op; it is computed behind the clock's back."""
        statement = "t = x" + f"\nt = {operation}" * CHAIN
        name = f"record {operation.replace('t', 'x')}, n = {CHAIN_LENGTH}"
        return Case(name, statement, CHAIN_LENGTH, "80 ns", CHAIN, then="evaluate(t)")

    return [
        *found,
        Case("np.float64 * x, n = 100", "v * x", 100, "1.3x"),
        Case("ndarray * x, n = 100", "real * x", 100, "1.3x"),
        Case("float(x[3]), n = 100", "float(x[3])", 100, "1x"),
        Case("x[3] = v, n = 100", "x[3] = v", 100, "1x"),
        Case("x[1:-1], n = 100", "x[1:-1]", 100, "1x"),
        Case("x += y, n = 100", "x += y", 100, "0.8x"),
        Case("x.sum(), read, n = 100", "float(x.sum())", 100, "1x"),
        Case("np.sin(x), read, n = 100", "np.sin(x)[0]", 100, "1x"),
        Case("fallback: np.fft.rfft(x), n = 100", "np.fft.rfft(x)", 100, "+300 ns"),
        *map(chain, ("t + y", "t + 1.0", "2.0 * t", "t * 3")),
    ]


def timer(case: Case, module, evaluate: Callable) -> Callable[[int], float]:
    """A function that runs the statement so many times and gives the time of one operation."""
    ramp = np.linspace(1.0, 2.0, case.n)
    space = dict(np=module, evaluate=evaluate, real=ramp.copy(), v=np.float64(2.0))
    space |= dict(x=module.array(ramp), y=module.array(1.0 / ramp))
    body = [" for _ in range(count):", *("  " + line for line in case.statement.splitlines())]
    if case.then:
        body[1:] = ["  start = clock()", *body[1:], "  total += clock() - start", "  " + case.then]
    head = ["def loop(count, clock, np, evaluate, real, v, x, y):", " total = 0.0"]
    exec("\n".join([*head, *body, " return total"]), space)
    arguments = [CLOCK, *(space[name] for name in ("np", "evaluate", "real", "v", "x", "y"))]

    def run(count: int) -> float:
        start = CLOCK()
        timed = space["loop"](count, *arguments)
        evaluate(space["x"])  # work that is left pending belongs to this sample
        return (timed if case.then else CLOCK() - start) / count / case.divide

    return run


def medians(runs: dict[str, Callable[[int], float]]) -> dict[str, float]:
    """Median seconds of each, sampled in turn."""
    counts = {}
    for name, run in runs.items():
        run(1000)
        counts[name] = max(10, int(SAMPLE_SECONDS / (run(100) + 1e-9)))
    samples = {name: [] for name in runs}
    gc.disable()
    for _ in range(SAMPLES):
        for name, run in runs.items():
            samples[name].append(run(counts[name]))
    gc.enable()
    return {name: statistics.median(values) for name, values in samples.items()}


def within(limit: str, numpy_seconds: float, frit_seconds: float) -> bool:
    if limit.endswith("x"):
        return frit_seconds <= float(limit[:-1]) * numpy_seconds
    number = float(limit.removesuffix(" ns")) * 1e-9
    return frit_seconds <= (numpy_seconds + number if limit.startswith("+") else number)


def import_times(modules: dict[str, str]) -> dict[str, float]:
    """Median seconds of whole processes that import a module and nothing else, in turn."""
    samples = {name: [] for name in modules}
    for _ in range(IMPORT_RUNS):
        for name, module in modules.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
            samples[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in samples.items()}


def loads_llvm() -> bool:
    """Whether importing Frit maps the compiler, which only a program worth compiling may do."""
    program = "import frit.numpy; print(open('/proc/self/maps').read())"
    maps = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return "LLVM" in maps.stdout or "frit_jit" in maps.stdout


def print_row(name: str, own: float, frit: float | None, limit: str, *, ok: bool | None) -> None:
    def nanoseconds(seconds: float | None) -> str:
        return "-" if seconds is None else f"{seconds * 1e9:,.0f}"

    verdict = {None: "", True: "ok", False: "OVER"}[ok]
    ratio = "-" if frit is None else f"{frit / own:.2f}"
    print(
        f"{name:<40} {nanoseconds(own):>14} {nanoseconds(frit):>14} {ratio:>7} {limit:>9} {verdict}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--frit", choices=("numpy", "none"), default="numpy")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    print(f"reproduce: {shlex.join(['python', 'bench/overhead.py', *sys.argv[1:]])}\n")
    os.environ["FRIT_NUM_THREADS"] = "1"
    systems = {"numpy": (np, lambda *arrays: None)}
    modules = {"numpy": "numpy"}
    if options.frit == "numpy":
        import frit.numpy

        systems["frit"] = (frit.numpy, frit.eval)
        modules["frit"] = "frit.numpy"

    print(f"{'':<40} {'NumPy ns':>14} {'Frit ns':>14} {'ratio':>7} {'limit':>9}")
    records = []

    def add(name: str, limit: str, seconds: dict[str, float]) -> None:
        frit_seconds = seconds.get("frit")
        ok = None if frit_seconds is None else within(limit, seconds["numpy"], frit_seconds)
        records.append(dict(name=name, limit=limit, ok=ok, seconds=seconds))
        print_row(name, seconds["numpy"], frit_seconds, limit, ok=ok)

    for case in cases():
        runs = {name: timer(case, *system) for name, system in systems.items()}
        add(case.name, case.limit, medians(runs))
    add("import, whole process", "+60000000 ns", import_times(modules))
    if options.frit == "numpy":
        records.append(dict(name="import loads LLVM", limit="no", ok=not loads_llvm()))
        print(f"import loads LLVM: {'no' if records[-1]['ok'] else 'YES'}")
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "overhead.json").write_text(json.dumps(records, indent=1))
    return 1 if any(record["ok"] is False for record in records) else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FRIT_CACHE_DIR"] = cache
        sys.exit(main())
