"""device.py: times the 14 workloads on a GPU: NumPy, Frit on the CPU, Frit on the GPU, CuPy.

    python bench/device.py [--devices cuda,auto] [--sizes 100000,largest] [--workloads triad,heat]
                           [--seconds S] [--cupy PYTHON]

The text of each workload is the same for all. Arrays are where the system has them: for a GPU they
are brought there by the first runs, which don't count, and results stay there; "back" are runs that
bring their results into the program's memory, too. Each system has a process of its own; times are
medians. Under CuPy, PYTHON is an interpreter that has it. Results go to bench/results/ as
device.json and device.md.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean, median

import numpy
from workloads import BY_NAME, WORKLOADS, Workload

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
SECONDS = 1.0  # a time is the median of as many runs as fit in here (--seconds), of 3 to 30
DTYPES = ("float64", "float32")


class Frit:
    """Frit, on one of its devices."""

    def __init__(self, device: str) -> None:
        import frit
        import frit.numpy

        self.frit = frit
        self.np = frit.numpy
        frit.set_device(device)
        self.name = f"frit {device}"
        # What is not told to pay has to be seen to.
        self.first_runs, self.first_seconds = 3, 1.0 if device == "auto" else 0.0

    @property
    def device(self) -> str:
        return self.frit._core.device_description()

    def array(self, x: numpy.ndarray) -> object:
        return self.np.asarray(x).copy()

    def wait(self) -> None:
        self.frit.synchronize()

    def back(self, results: tuple) -> list[numpy.ndarray]:
        return [numpy.asarray(r) for r in results]

    def settle(self) -> None:
        self.frit._core.wait_for_compiler()


class CuPy:
    """NumPy's functions on a GPU, one by one."""

    first_runs, first_seconds = 3, 0.0

    def __init__(self) -> None:
        self.np = importlib.import_module("cupy")
        self.name = "cupy"
        self.device = self.np.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def array(self, x: numpy.ndarray) -> object:
        return self.np.asarray(x)

    def wait(self) -> None:
        self.np.cuda.Device().synchronize()

    def back(self, results: tuple) -> list[numpy.ndarray]:
        return [self.np.asnumpy(r) for r in results]

    def settle(self) -> None:
        pass


class NumPy:
    """NumPy itself."""

    np = numpy
    first_runs, first_seconds = 0, 0.0
    name = "numpy"
    device = ""

    def array(self, x: numpy.ndarray) -> numpy.ndarray:
        return x.copy()

    def wait(self) -> None:
        pass

    def back(self, results: tuple) -> tuple:
        return results

    def settle(self) -> None:
        pass


SYSTEMS: dict[str, Callable] = {
    "numpy": NumPy,
    "cpu": lambda: Frit("cpu"),
    "cuda": lambda: Frit("cuda"),
    "auto": lambda: Frit("auto"),
    "emulated": lambda: Frit("emulated"),
    "cupy": CuPy,
}


def as_tuple(result: object) -> tuple:
    return result if isinstance(result, tuple) else (result,)


def timed(run: Callable[[], object], most: float) -> float:
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 3 or (len(times) < 30 and time.perf_counter() - begin < most):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return median(times)


def measure(system: object, workload: Workload, n: int, dtype: str, most: float) -> dict:
    data = [system.array(x) for x in workload.data(n, dtype)]

    def run() -> tuple:
        results = as_tuple(workload.function(system.np, *data))
        system.wait()
        return results

    start = time.perf_counter()
    if system.name != "numpy":
        run()
    first = time.perf_counter() - start
    begin = time.perf_counter()
    runs = 0
    while runs < system.first_runs or time.perf_counter() - begin < system.first_seconds:
        system.settle()
        run()
        runs += 1
    seconds = timed(run, most)
    back = seconds if system.name == "numpy" else timed(lambda: system.back(run()), most)
    sums = [float(numpy.asarray(r, dtype="float64").sum()) for r in system.back(run())]
    return dict(
        system=system.name,
        device=system.device,
        workload=workload.name,
        n=n,
        dtype=dtype,
        first=first,
        seconds=seconds,
        back=back,
        sums=sums,
    )


def cases(options: argparse.Namespace) -> list[tuple[Workload, int, str]]:
    return [
        (BY_NAME[name], BY_NAME[name].largest if size == "largest" else int(size), dtype)
        for name in options.workloads
        for size in options.sizes
        for dtype in options.dtypes
    ]


def measure_all(options: argparse.Namespace) -> None:
    system = SYSTEMS[options.system]()
    for case in cases(options):
        try:
            record = measure(system, *case, options.seconds)
        except Exception as error:  # a peer may lack what a workload uses
            workload, n, dtype = case
            record = dict(
                system=system.name, workload=workload.name, n=n, dtype=dtype, failure=repr(error)
            )
        print(json.dumps(record), flush=True)


def records_of(options: argparse.Namespace) -> list[dict]:
    records = []
    systems = ["numpy", "cpu", *options.devices, *(["cupy"] if options.cupy else [])]
    for name in systems:
        python = options.cupy if name == "cupy" else sys.executable
        variables = dict(os.environ)
        if name == "cupy":  # another interpreter, with packages of its own
            for variable in ("PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH"):
                variables.pop(variable, None)
        command = [python, str(HERE / "device.py"), "--system", name]
        for option in ("sizes", "workloads", "dtypes"):
            command += [f"--{option}", ",".join(getattr(options, option))]
        command += ["--seconds", str(options.seconds)]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=variables)
        records += [json.loads(line) for line in ended.stdout.splitlines() if line[:1] == "{"]
        if ended.returncode != 0:
            print(f"{name}: exit status {ended.returncode}", file=sys.stderr)
    return records


def table(records: list[dict]) -> str:
    """Times in ms, and how many times NumPy's speed that is."""
    found: dict[tuple, dict[str, dict]] = {}
    for r in records:
        found.setdefault((r["workload"], r["n"], r["dtype"]), {})[r["system"]] = r
    systems = sorted({r["system"] for r in records} - {"numpy"})
    device = next((r["device"] for r in records if r.get("device")), "no GPU")
    head = ["workload", "n", "dtype", "NumPy ms"]
    for s in systems:
        head += [f"{s} ms", "x", *(["back ms"] if s != "frit cpu" else [])]
    lines = [
        f"Device: {device}; CPU threads: {os.cpu_count()}.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
    ]
    ratios: dict[tuple[str, int], list[float]] = {}
    for (workload, n, dtype), by in found.items():
        base = by.get("numpy", {}).get("seconds")
        row = [workload, f"{n:,}", dtype, f"{1e3 * base:.3g}" if base else "-"]
        for s in systems:
            r = by.get(s, {})
            if "seconds" not in r or not base:
                row += ["-", "-", *(["-"] if s != "frit cpu" else [])]
                continue
            row += [f"{1e3 * r['seconds']:.3g}", f"{base / r['seconds']:.3g}"]
            if s != "frit cpu":
                row.append(f"{1e3 * r['back']:.3g}")
            size = 0 if n == BY_NAME[workload].largest else n
            ratios.setdefault((s, size), []).append(base / r["seconds"])
        lines.append("| " + " | ".join(row) + " |")
    lines.append("")
    for (s, size), all_of in sorted(ratios.items()):
        where = f"n = {size:,}" if size else "the largest n"
        lines.append(f"- {s}, {where}: {geometric_mean(all_of):.3g} times NumPy (geometric mean)")
    for r in records:
        if "failure" in r:
            lines.append(f"- {r['system']}, {r['workload']}, {r['n']:,}: {r['failure']}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    listed = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--sizes", type=listed, default=["100000", "largest"])
    parser.add_argument("--workloads", type=listed, default=[w.name for w in WORKLOADS])
    parser.add_argument("--dtypes", type=listed, default=list(DTYPES))
    parser.add_argument("--devices", type=listed, default=["cuda", "auto"])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--cupy", default="", help="a Python that has CuPy")
    parser.add_argument("--system", choices=SYSTEMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.system:
        return measure_all(options)
    records = records_of(options)
    text = table(records)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "device.json").write_text(json.dumps(records, indent=1) + "\n")
    (RESULTS / "device.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
