"""npbench.py: the NumPy programs of NPBench, unchanged, under plain Python and under Frit in turn.

    python bench/npbench.py FOLDER [--preset S] [--rounds 3] [--seconds 0.5] [--only a,b] [--save F]

FOLDER: a clone of https://github.com/spcl/npbench (BSD-3-Clause; Ziogas et al., ICS 2021). Each
program runs in a process of its own, called again and again on fresh copies of its data; a round is
one such process of each kind. Printed are the least times of all rounds: of the first call of a
process (with all that Frit translates, plans and compiles meanwhile) and of later ones; and the
largest difference of the results, relative to the largest number of each.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

MOST_CALLS = 200
# Names of the programs, and why their results can't be compared.
UNSEEDED = ("mlp",)  # draws its data anew in each process
SYSTEMS = {"numpy": [], "frit": ["-m", "frit"]}


def load(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def plain(value: Any) -> list[Any]:
    """The arrays and numbers of a result, as NumPy's."""
    if isinstance(value, (tuple, list)):
        return [x for part in value for x in plain(part)]
    return [] if value is None else [np.array(value)]


def run_program(folder: Path, name: str, preset: str, seconds: float, output: str) -> None:
    """One process of one kind: its times and the results of its first call."""
    info = json.loads((folder / "bench_info" / f"{name}.json").read_text())["benchmark"]
    at = folder / "npbench" / "benchmarks" / info["relative_path"]
    sys.path.insert(0, str(folder))
    data = dict(info["parameters"][preset])
    if info.get("init"):
        init = info["init"]
        make = getattr(
            load(at / f"{info['module_name']}.py", info["module_name"]), init["func_name"]
        )
        made = make(*(data[k] for k in init["input_args"]))
        names = init["output_args"]
        data.update(zip(names, made if len(names) > 1 else [made], strict=True))
    name = f"{info['module_name']}_numpy"
    kernel = getattr(load(at / f"{name}.py", name), info["func_name"])
    times: list[float] = []
    results: list[Any] = []
    end = time.perf_counter() + seconds
    while not times or (time.perf_counter() < end and len(times) < MOST_CALLS):
        given = {k: data[k] for k in info["input_args"]}
        given.update({k: copy.deepcopy(data[k]) for k in info["array_args"] if k in given})
        start = time.perf_counter()  # Frit computes what is pending when a program reads the clock
        found = kernel(*given.values())
        times.append(time.perf_counter() - start)
        if len(times) == 1:
            results = plain(found) + [
                x for k in info["array_args"] if k in given for x in plain(given[k])
            ]
    with open(output, "wb") as file:
        pickle.dump((times, results), file)


def processes(folder: Path, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """By system: the least first and later times, and the results; or what went wrong."""
    found: dict[str, Any] = {}
    for _ in range(options.rounds):
        for system, start in SYSTEMS.items():
            with tempfile.TemporaryDirectory() as scratch:
                output = os.path.join(scratch, "result")
                command = [sys.executable, *start, __file__, str(folder), "--run", name]
                command += ["--preset", options.preset, "--seconds", str(options.seconds)]
                done = subprocess.run([*command, "--save", output], capture_output=True, text=True)
                if done.returncode:
                    return {"failed": f"{system}: {done.stderr.strip().splitlines()[-1:]}"}
                with open(output, "rb") as file:
                    times, results = pickle.load(file)
            first, later = times[0], min(times[1:] or times)
            old = found.get(system, (math.inf, math.inf))
            found[system] = min(first, old[0]), min(later, old[1]), results
    return found


def difference(left: list[Any], right: list[Any]) -> float:
    """inf: other shapes or types, or NaN elsewhere."""
    if [(x.shape, x.dtype) for x in left] != [(x.shape, x.dtype) for x in right]:
        return math.inf
    worst = 0.0
    for x, y in zip(left, right, strict=True):
        if x.dtype.kind not in "fc":
            worst = worst if np.array_equal(x, y) else math.inf
        elif not np.array_equal(np.isfinite(x), np.isfinite(y)):
            worst = math.inf
        elif np.isfinite(x).any():
            kept = np.isfinite(x)
            scale = float(np.abs(x[kept]).max()) or 1.0
            worst = max(worst, float(np.abs(x[kept] - y[kept]).max()) / scale)
    return worst


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a clone of NPBench")
    parser.add_argument("--preset", default="S", choices=["S", "M", "L", "paper"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of calls, in each process")
    parser.add_argument("--only", default="", help="programs, separated by commas")
    parser.add_argument("--save", help="where the table is written, too")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        return run_program(
            options.folder, options.run, options.preset, options.seconds, options.save
        )
    names = sorted(path.stem for path in (options.folder / "bench_info").glob("*.json"))
    if not names:
        parser.error(f"{options.folder} holds no bench_info: is it a clone of NPBench?")
    if options.only:
        names = [name for name in names if name in options.only.split(",")]
    lines = [
        "| program | NumPy, ms | Frit, ms | later calls | first call | largest difference |",
        "|---|---|---|---|---|---|",
    ]
    print(*lines, sep="\n", flush=True)
    later, first = [], []
    for name in names:
        found = processes(options.folder, name, options)
        if "failed" in found:
            lines.append(f"| {name} | {found['failed']} |")
            print(lines[-1], flush=True)
            continue
        (n_first, n_later, expected), (f_first, f_later, got) = found["numpy"], found["frit"]
        later.append(n_later / f_later)
        first.append(n_first / f_first)
        off = "random data" if name in UNSEEDED else f"{difference(expected, got):.1e}"
        lines.append(
            f"| {name} | {n_later * 1e3:.2f} | {f_later * 1e3:.2f} | {later[-1]:.2f}x"
            f" | {first[-1]:.2f}x | {off} |"
        )
        print(lines[-1], flush=True)
    if later:
        lines += [
            "",
            f"{len(later)} programs, preset {options.preset}, {options.rounds} rounds; speed over"
            f" NumPy, geometric mean: {mean(later):.2f}x later, {mean(first):.2f}x in the first"
            f" call of a process. Below 0.95x: {sum(x < 0.95 for x in later)} later,"
            f" {sum(x < 0.95 for x in first)} in the first call.",
        ]
        print(*lines[-2:], sep="\n")
    if options.save:
        Path(options.save).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
