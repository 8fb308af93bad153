"""run.py: times the 14 workloads under NumPy, Frit and the peers that are installed.

    python bench/run.py [--quick] [--threads 1,2] [--sizes 1000,largest] [--workloads triad,heat]

Warm times are medians, taken in turn with NumPy's in one process for each number of threads and
system: the thread pool of one system would slow its neighbours down. Cold times come from a fresh
process each, the fastest of three, with an empty cache of compiled kernels. Threads are set by each
system's own environment variable; NumPy's memory allocation stays as a user has it. Results go to
bench/results/ as run.json, run.md and run.png.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import peers
import report
from workloads import SMALL_SIZES, WORKLOADS

HERE = Path(__file__).resolve().parent
MEASURE = str(HERE / "measure.py")
COLD_REPEATS = 3
COLD_PEER_SIZE = "100000"  # compilers take as long at every size


def environment(threads: int) -> dict[str, str]:
    names = (
        "FRIT_NUM_THREADS OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS "
        "NUMBA_NUM_THREADS NUMEXPR_NUM_THREADS NUMEXPR_MAX_THREADS NPROC"  # NPROC: JAX
    )
    return os.environ | dict.fromkeys(names.split(), str(threads))


def measure(kind: str, threads: int, **lists: list[str]) -> list[dict]:
    """Runs measure.py and returns its records; a process that dies is told, not hidden."""
    command = [sys.executable, MEASURE, kind]
    for name, values in lists.items():
        command += [f"--{name}", ",".join(values)]
    with tempfile.TemporaryDirectory() as cache:
        variables = environment(threads) | {"FRIT_CACHE_DIR": cache}
        ended = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True)
    records = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    if ended.returncode != 0:
        status = f"exit status {ended.returncode}: {shlex.join(command)}"
        print(status, file=sys.stderr)
        records.append(dict(failure=status))
    return [record | dict(kind=kind, threads=threads) for record in records]


def measure_warm(options: argparse.Namespace) -> list[dict]:
    records = []
    for threads in options.threads:
        for workload in options.workloads:
            print(f"warm, {threads} thread(s): {workload}", file=sys.stderr, flush=True)
            for name in options.systems[1:]:
                if name == "frit" or peers.offers(name, workload):
                    records += measure(
                        "warm",
                        threads,
                        systems=["numpy", name],
                        workloads=[workload],
                        sizes=options.sizes,
                        dtypes=options.dtypes,
                        budget=["0.05" if options.quick else "0.25"],
                    )
    return records


def measure_cold(options: argparse.Namespace) -> list[dict]:
    """First calls: NumPy and Frit in turn, several times and at every size; peers once."""
    threads = max(options.threads)
    peer_names = [name for name in options.systems if name not in ("numpy", "frit")]
    own = [name for name in options.systems if name in ("numpy", "frit")]
    records = []
    for workload in options.workloads:
        print(f"cold, {threads} thread(s): {workload}", file=sys.stderr, flush=True)
        runs = []
        for k in range(1 if options.quick else COLD_REPEATS):
            runs += [(n, name) for n in options.sizes for name in (own[::-1] if k % 2 else own)]
        runs += [(COLD_PEER_SIZE, name) for name in peer_names if peers.offers(name, workload)]
        for n, name in runs:
            lists = dict(systems=[name], workloads=[workload], sizes=[n])
            if n == "largest":
                # A virtual machine gives free memory back to its host; getting 100 MB again takes
                # half a second. So each process follows one of its own kind, and finds its pages.
                measure("cold", threads, **lists)
            records += measure("cold", threads, **lists)
    return best_of_repeats(records)


def best_of_repeats(records: list[dict]) -> list[dict]:
    """One record for each set of cold runs: the fastest, the one that the host disturbed least."""
    groups: dict[tuple, list[dict]] = {}
    for record in records:
        key = tuple(record.get(name) for name in ("workload", "n", "system", "failure"))
        groups.setdefault(key, []).append(record)
    merged = []
    for group in groups.values():
        record = dict(group[0])
        if "failure" not in record:
            for name in ("first", "imported"):
                record[name] = min(one[name] for one in group)
        merged.append(record)
    return merged


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(x.split(":")[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "of the source tree"


def parse() -> argparse.Namespace:
    def words(text: str) -> list[str]:
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=words, default=["1", "2"])
    parser.add_argument("--sizes", type=words, default=[*map(str, SMALL_SIZES), "largest"])
    parser.add_argument("--workloads", type=words, default=[w.name for w in WORKLOADS])
    parser.add_argument("--dtypes", type=words, default=["float64", "float32"])
    parser.add_argument(
        "--frit", choices=("numpy", "none"), default="numpy", help="none: peers only"
    )
    parser.add_argument("--peers", type=words, help="default: those installed; none: no peers")
    parser.add_argument("--no-cold", action="store_true", help="leave out the first calls")
    parser.add_argument("--quick", action="store_true", help="float64, fewer sizes and repetitions")
    parser.add_argument("--output", type=Path, default=HERE / "results")
    options = parser.parse_args()
    options.threads = [int(text) for text in options.threads]
    if options.quick:
        options.dtypes = ["float64"]
        options.sizes = [size for size in options.sizes if size in ("1", "1000", "100000")]
    names = peers.installed_peers() if options.peers is None else options.peers
    options.systems = ["numpy"] + (["frit"] if options.frit == "numpy" else [])
    options.systems += [name for name in names if name != "none"]
    return options


def main() -> int:
    options = parse()
    command = shlex.join(["python", "bench/run.py", *sys.argv[1:]])
    print(f"reproduce: {command}")
    about = dict(
        command=command,
        processor=processor(),
        cpus=os.cpu_count(),
        python=platform.python_version(),
        versions={name: version(name) for name in options.systems},
    )
    records = measure_warm(options)
    if not options.no_cold:
        records += measure_cold(options)
    options.output.mkdir(parents=True, exist_ok=True)
    stem = options.output / ("quick" if options.quick else "run")
    stem.with_suffix(".json").write_text(json.dumps(dict(about=about, records=records), indent=1))
    text = report.markdown(about, records)
    stem.with_suffix(".md").write_text(text)
    report.plot(records, stem.with_suffix(".png"))
    print(text)
    return 1 if any("wrong" in r or "failure" in r for r in records) else 0


if __name__ == "__main__":
    sys.exit(main())
