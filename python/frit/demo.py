"""demo.py: runs the example programs under plain Python and under Frit, and compares both.

    python -m frit.demo [--quick] [--output DIR] [PROGRAM ...]

Each program runs in fresh processes, one way and the other in turn. All arrays that it saves must
be the same: integers, bools and what comes from + - * / sqrt and sums bit for bit, the rest within
the tolerance below. Exits with 1 when a result differs or a program fails.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy

# Largest difference that is allowed, as a part of the largest value in the array. A transcendental
# function may differ from NumPy's by a few ulp (2.2e-16 each), and a matrix product belongs to the
# BLAS library; both grow through the sums and divisions that follow. An array that is not named in
# a program's `tolerances` must be the same bit for bit.
FUNCTIONS = 1e-13
FIT = 1e-11


@dataclass(frozen=True)
class Program:
    """An example: name, arguments of a quick run, and the arrays that may differ a little."""

    name: str
    quick: str
    tolerances: dict[str, float] = field(default_factory=dict)


PROGRAMS = (
    Program("gray_scott", "--size 96 --steps 300"),
    Program("heat2d", "--size 200 --steps 300"),
    Program(
        "black_scholes",
        "--size 100000",
        dict.fromkeys(("call", "put", "vega", "volatility"), FUNCTIONS),
    ),
    Program("nbody", "--size 200 --steps 10"),
    Program("kmeans", "--size 10000 --steps 10"),
    Program("mandelbrot", "--size 320 --steps 100", {"picture": FUNCTIONS}),
    Program(
        "image_pipeline",
        "--size 300 --steps 2",
        {"luminance": FUNCTIONS, "outline": FUNCTIONS},
    ),
    Program(
        "loglik_fit", "--size 50000 --steps 8", dict.fromkeys(("point", "error", "history"), FIT)
    ),
)


@dataclass
class Run:
    """One process: its wall time, and the time of each repetition of its computation."""

    seconds: float
    compute: list[float]


class ProgramFailed(Exception):
    """A program ended with an error; the text is the end of what it printed."""


def run(command: list[str], environment: dict[str, str]) -> Run:
    start = time.perf_counter()
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if ended.returncode != 0:
        last = "\n".join((ended.stdout + ended.stderr).splitlines()[-15:])
        raise ProgramFailed(f"{shlex.join(command)}: exit status {ended.returncode}\n{last}")
    marker = "compute_seconds:"
    lines = [line for line in ended.stdout.splitlines() if line.startswith(marker)]
    return Run(seconds, [float(line.removeprefix(marker)) for line in lines])


def with_empty_cache(folder: Path) -> dict[str, str]:
    """The environment of a process for which Frit has no compiled kernels on disk yet."""
    return os.environ | {"FRIT_CACHE_DIR": tempfile.mkdtemp(dir=folder)}


def compare(expected: Path, found: Path, tolerances: dict[str, float]) -> tuple[float, list[str]]:
    """The largest difference (see `relative_difference`), and what is not as it must be."""
    largest = 0.0
    wrong = []
    with numpy.load(expected) as left, numpy.load(found) as right:
        if sorted(left.files) != sorted(right.files):
            return numpy.inf, [f"arrays {sorted(left.files)} against {sorted(right.files)}"]
        for name in left.files:
            difference = relative_difference(left[name], right[name])
            allowed = tolerances.get(name, 0.0)
            largest = max(largest, difference)
            if not difference <= allowed:
                must = f"{allowed:.0e} is allowed" if allowed else "must be the same bit for bit"
                wrong.append(f"{name} differs by {difference:.1e}; {must}")
    return largest, wrong


def same_bits(left: numpy.ndarray, right: numpy.ndarray) -> bool:
    """Equal, with the signs of zeros; every NaN is as good as another."""
    if left.dtype.kind not in "fc":
        return numpy.array_equal(left, right)
    left, right = (x.view(x.real.dtype) if x.dtype.kind == "c" else x for x in (left, right))
    signs = (numpy.signbit(x) & ~numpy.isnan(x) for x in (left, right))
    return numpy.array_equal(left, right, equal_nan=True) and numpy.array_equal(*signs)


def relative_difference(left: numpy.ndarray, right: numpy.ndarray) -> float:
    """max |left - right| / max |left|; infinite where dtype, shape, NaNs or infinities differ."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return numpy.inf
    if same_bits(left, right):
        return 0.0
    if left.dtype.kind not in "fc":
        return numpy.inf
    ordinary = numpy.isfinite(left)
    if not numpy.array_equal(left[~ordinary], right[~ordinary], equal_nan=True):
        return numpy.inf
    if numpy.array_equal(left, right, equal_nan=True):
        return float(numpy.finfo(left.dtype).tiny)  # only signs of zeros differ
    distance = numpy.abs(left[ordinary] - right[ordinary]).max()
    return float(distance / max(numpy.abs(left[ordinary]).max(), numpy.finfo(float).tiny))


@dataclass
class Row:
    """What the table says of one program: times in seconds as (NumPy, Frit)."""

    name: str
    process: tuple[float, float] = (numpy.nan, numpy.nan)
    warm: tuple[float, float] = (numpy.nan, numpy.nan)
    difference: float = numpy.nan
    wrong: list[str] = field(default_factory=list)


class Demo:
    """Runs programs both ways: `ways` maps "numpy" and "frit" to the command before the script."""

    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self.options = options
        self.scratch = scratch
        self.ways = {"numpy": [sys.executable], "frit": shlex.split(options.runner)}

    def launch(self, program: Program, way: str, *, repeat: int, output: Path | None) -> Run:
        command = [*self.ways[way], str(self.options.programs / f"{program.name}.py")]
        command += shlex.split(program.quick) if self.options.quick else []
        command += ["--repeat", str(repeat)]
        command += ["--output", str(output)] if output else []
        return run(command, with_empty_cache(self.scratch))

    def measure(self, program: Program) -> Row:
        """Compares the results of a first and of a repeated computation, and takes the times."""
        row = Row(program.name)
        cold_count, warm_count = (1, 3) if self.options.quick else (3, 4)
        warm = {}
        for repeat, stage in ((1, "first"), (warm_count, "repeated")):
            results = {}
            for way in self.ways:
                folder = self.options.output / program.name / f"{way}_{stage}"
                warm[way] = self.launch(program, way, repeat=repeat, output=folder).compute[1:]
                results[way] = folder / "result.npz"
            difference, wrong = compare(results["numpy"], results["frit"], program.tolerances)
            row.difference = max(difference, numpy.nan_to_num(row.difference, nan=0.0))
            row.wrong += [f"{program.name}, {stage} computation, {text}" for text in wrong]
        cold = {way: [] for way in self.ways}
        for _ in range(cold_count):
            for way in self.ways:
                cold[way].append(self.launch(program, way, repeat=1, output=None).seconds)
        row.process = tuple(statistics.median(cold[way]) for way in self.ways)
        row.warm = tuple(statistics.median(warm[way]) for way in self.ways)
        return row


HEADING = (
    f"{'program':<16} {'whole process, first time':^27}   {'computation, warm':^27}   same result\n"
    f"{'':<16} {'NumPy':>8} {'Frit':>8} {'ratio':>9}   {'NumPy':>8} {'Frit':>8} {'ratio':>9}"
    "   (largest difference)"
)


def format_row(row: Row) -> str:
    def times(pair: tuple[float, float]) -> str:
        return f"{pair[0]:7.3f}s {pair[1]:7.3f}s {pair[0] / pair[1]:8.2f}x"

    exact = "bit for bit" if row.difference == 0 else f"{row.difference:.1e}"
    same = f"NO ({exact})" if row.wrong else f"yes ({exact})"
    return f"{row.name:<16} {times(row.process)}   {times(row.warm)}   {same}"


def geometric_mean(pairs: list[tuple[float, float]]) -> str:
    return f"{statistics.geometric_mean([left / right for left, right in pairs]):.2f}x"


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m frit.demo", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="PROGRAM", help="default: all of them")
    parser.add_argument("--quick", action="store_true", help="small sizes and fewer repetitions")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the pictures")
    parser.add_argument(
        "--programs",
        type=Path,
        default=Path(__file__).resolve().parents[2] / "examples" / "numpy",
        help="folder of the programs (default: examples/numpy of the source tree)",
    )
    parser.add_argument(
        "--runner",
        default=shlex.join([sys.executable, "-m", "frit"]),
        help="command that runs a program under Frit",
    )
    options = parser.parse_args(argv)
    known = {program.name for program in PROGRAMS}
    if unknown := set(options.names) - known:
        parser.error(
            f"no program {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}"
        )
    if not options.programs.is_dir():
        parser.error(f"{options.programs} is no folder: name the one of the examples by --programs")
    return options


def main(argv: list[str] | None = None) -> int:
    options = parse(argv)
    print(f"Python {platform.python_version()}, NumPy {numpy.__version__}, {os.cpu_count()} CPUs")
    print(f"Frit is: {options.runner}; its cache of compiled kernels is empty for each process\n")
    print(HEADING)
    rows, complaints = [], []
    with tempfile.TemporaryDirectory() as scratch:
        demo = Demo(options, Path(scratch))
        for program in PROGRAMS:
            if options.names and program.name not in options.names:
                continue
            try:
                row = demo.measure(program)
            except (ProgramFailed, OSError) as failure:
                print(f"{program.name:<16} FAILED")
                complaints.append(str(failure))
                continue
            print(format_row(row), flush=True)
            rows.append(row)
            complaints += row.wrong
    if rows:
        process = geometric_mean([row.process for row in rows])
        warm = geometric_mean([row.warm for row in rows])
        print(f"{'geometric mean':<16} {process:>27}   {warm:>27}")
    print(f"\nPictures and numbers: {options.output.resolve()}")
    if complaints:
        print("\nNot as it must be:\n" + "\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
