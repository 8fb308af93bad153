"""loops.py: the sixteen nests of tests/loops/kernels.py: Frit against CPython and Numba.

Usage: loops.py [NAME..] [--rounds N] [--oracle [--device cuda] | --large]. Times are lower
quartiles of rounds in which the tools take turns, of code that is compiled before. Numba runs with
fastmath=False; `prange` stands at the outermost loop wherever that is right.

--large: twenty steps of time loops on arrays that no cache holds.

--oracle: how far Frit's choice (Python, one core, all cores) is from the best of the three, from
tiny to large sizes: the least of the rounds each, in processes whose kernels are all compiled.
Three that take the same time have a least one all the same, by noise. So which of them is the best
is found by every other round, and it is compared with what is chosen by the rest, both ways round;
then noise is as often for the choice as against it, and the mean of many ratios is without it.
--device: the GPU is a fourth choice, with the way of NumPy's arrays there and back.
"""

from __future__ import annotations

import argparse
import ast
import copy
import inspect
import statistics
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import frit
from frit import _core
from frit.loops.run import place, traits

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.loops import kernels

ALL_CORES, PART_COST = frit.get_num_threads(), _core.set_part_cost(0)
_core.set_part_cost(PART_COST)
DEVICE_COST = _core.set_device_cost(0)
_core.set_device_cost(DEVICE_COST)

# By kernel: three sizes, the first for CPython too; the loops that prange may stand at (counted in
# the order of the text).
SIZES = {
    "vector_add": ((20_000, 200_000, 2_000_000), [0]),
    "saxpy": ((20_000, 200_000, 2_000_000), [0]),
    "matmul": ((40, 150, 400), [0]),
    "gemver": ((100, 400, 1500), [0, 2, 4, 5]),
    "atax": ((150, 500, 1500), []),
    "conv2d": ((60, 300, 1000), [0]),
    "jacobi_2d": ((60, 250, 600), [1, 3]),
    "heat_3d": ((16, 40, 90), [1, 4]),
    "mandelbrot": ((40, 120, 400), [0]),
    "black_scholes": ((10_000, 60_000, 400_000), [0]),
    "n_body": ((100, 400, 1500), [0]),
    "floyd_warshall": ((40, 120, 300), [1]),
    "histogram": ((5_000, 50_000, 500_000), []),
    "seidel_2d": ((50, 150, 400), []),
    "gram_schmidt": ((40, 100, 250), [3]),
    "lu": ((40, 120, 300), []),
}
LEAST = 0.95  # of parallel Numba's speed: what is slower is listed


class _Prange(ast.NodeTransformer):
    def __init__(self, numbers: list[int]) -> None:
        self.numbers, self.seen = numbers, -1

    def visit_For(self, node: ast.For) -> ast.For:
        self.seen += 1
        if self.seen in self.numbers:
            node.iter.func.id = "prange"  # type: ignore[attr-defined]
        self.generic_visit(node)
        return node


def with_prange(name: str, numbers: list[int]):
    tree = ast.parse(textwrap.dedent(inspect.getsource(kernels.KERNELS[name])))
    tree = ast.fix_missing_locations(_Prange(numbers).visit(tree))
    import numba

    space = {**vars(kernels), "prange": numba.prange}
    exec(compile(tree, name, "exec"), space)
    return numba.njit(parallel=True)(space[name])


BEFORE, WARM = 8, 4e-3  # calls, and seconds, that go before the one that is measured


def seconds(function, arguments, repeats: int = 1) -> float:
    """Of a call behind others, when what was measured before has gone to sleep.

    The threads of OpenMP spin for milliseconds after a call, on the core that the next one wants;
    and a virtual machine takes some to give a core back that slept. So short calls go on for a
    while: what joins them late, in either tool, is there when one is measured.
    """
    total = 0.0
    for _ in range(repeats):
        before = [copy.deepcopy(arguments) for _ in range(BEFORE)]
        given = copy.deepcopy(arguments)
        time.sleep(0.03)
        end = time.perf_counter() + WARM
        while True:
            for others in before:
                function(*others)
            if time.perf_counter() > end:
                break
            for others in before:  # what is changed in place stays what it was
                renew(others, arguments)
        start = time.perf_counter()
        function(*given)
        total += time.perf_counter() - start
    return total / repeats


def renew(others, arguments) -> None:
    for array, value in zip(others, arguments, strict=True):
        if isinstance(array, np.ndarray):
            array[...] = value


def quartile(times: Sequence[float]) -> float:
    """The lower one: what else the machine does only adds."""
    return statistics.quantiles(times, n=4)[0] if len(times) > 1 else times[0]


def measure(name: str, rounds: int) -> list[tuple[int, list[float]]]:
    """By size: times CPython's speed (0: not measured), milliseconds, times that of Numba's two."""
    import numba

    sizes, numbers = SIZES[name]
    plain = kernels.KERNELS[name]
    tools = [frit.parallelize(plain), numba.njit(plain), with_prange(name, numbers)]
    rows = []
    for size in sizes:
        given = kernels.arguments(name, size, np.random.default_rng(1))
        _core.set_tier("compiled")  # as Numba's are: else short calls would be those of a first run
        for tool in tools:
            seconds(tool, given, 3)
        _core.set_tier("automatic")
        times = [[seconds(tool, given) for tool in tools] for _ in range(rounds)]
        ours, serial, parallel = map(quartile, zip(*times, strict=True))
        python = 0.0
        if size == sizes[0]:
            start = time.perf_counter()
            plain(*copy.deepcopy(given))
            python = (time.perf_counter() - start) / ours
        rows.append((size, [python, ours * 1e3, serial / ours, parallel / ours]))
    return rows


def table(names: list[str], rounds: int) -> None:
    print(f"{'kernel':16} {'size':>8} {'x CPython':>10} {'ms':>9} {'x njit':>8} {'x parallel':>11}")
    rows, slower = [], []
    for name in names:
        for size, row in measure(name, rounds):
            rows.append(row)
            python = f"{row[0]:10.0f}" if row[0] else " " * 10
            mark = ""
            if row[3] < LEAST:
                slower.append(f"{name} {size}: {row[3]:.2f}")
                mark = "  *"
            print(
                f"{name:16} {size:8} {python} {row[1]:9.3f} {row[2]:8.2f} {row[3]:11.2f}{mark}",
                flush=True,
            )
    python = statistics.geometric_mean(row[0] for row in rows if row[0])
    serial, parallel = (statistics.geometric_mean(row[k] for row in rows) for k in (2, 3))
    print(f"{'geometric mean':25} {python:10.0f} {'':9} {serial:8.2f} {parallel:11.2f}")
    print(f"below {LEAST} of parallel Numba: {', '.join(slower) or 'none'}")


# ---- large arrays -------------------------------------------------------------------------------

LARGE = {"jacobi_2d": (1000, 2000, 4000), "heat_3d": (120, 200)}
LARGE_STEPS = 20


def large(names: list[str], rounds: int) -> None:
    import numba

    print(f"{'kernel':16} {'size':>8} {'ms':>9} {'x njit':>8} {'x parallel':>11}")
    for name in names:
        plain = kernels.KERNELS[name]
        tools = [frit.parallelize(plain), numba.njit(plain), with_prange(name, SIZES[name][1])]
        for size in LARGE[name]:
            _, *arrays = kernels.arguments(name, size, np.random.default_rng(1))
            times: list[list[float]] = [[], [], []]
            for round_ in range(-1, rounds):  # the first is of compilers and new pages
                for tool, own in zip(tools, times, strict=True):
                    given = copy.deepcopy(arrays)
                    time.sleep(0.03)
                    start = time.perf_counter()
                    tool(LARGE_STEPS, *given)
                    if round_ >= 0:
                        own.append(time.perf_counter() - start)
            ours, serial, parallel = map(quartile, times)
            row = f"{serial / ours:8.2f} {parallel / ours:11.2f}"
            print(f"{name:16} {size:8} {ours * 1e3:9.2f} {row}", flush=True)


# ---- the choice ---------------------------------------------------------------------------------

ORACLE_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576)
ASKING = 10e-6  # seconds: below, a choice costs as much as it brings
CHOICES = ("Python", "one core", "all cores", "GPU", "chosen")
ALWAYS = -1.0  # a cost that each launch has
SHORT_ROUNDS = 0.3  # seconds: as many rounds as that, where they are short
# Seconds: larger sizes are not run as Python, or not at all.
LONG_PYTHON, LONG, LONG_WITH_GPU = 1e-3, 10e-3, 100e-3


def set_choice(choice: str, device: str) -> None:
    """Lets Frit choose, or only do one of them."""
    if device != "cpu":
        frit.set_device(device if choice in ("GPU", "chosen") else "cpu")
        _core.set_device_cost(ALWAYS if choice == "GPU" else DEVICE_COST)
    place.SHORT = {"chosen": traits.SHORT}.get(choice, -1.0)
    frit.set_num_threads(1 if choice == "one core" else ALL_CORES)
    _core.set_part_cost({"all cores": 100.0}.get(choice, PART_COST))


def time_of(choice: str, function, arguments, device: str) -> float:
    """Seconds of a call, a mean of some; by itself, the first call after a change pays for it."""
    set_choice(choice, device)
    function(*copy.deepcopy(arguments))
    given = [copy.deepcopy(arguments) for _ in range(4)]
    start = time.perf_counter()
    for each in given:
        function(*each)
    return (time.perf_counter() - start) / len(given)


def oracle_times(
    name: str, size: int, rounds: int, with_python: bool, device: str
) -> dict[str, list[float]]:
    """Seconds of each choice, and of what is chosen, by round."""
    plain = kernels.KERNELS[name]
    ours = frit.parallelize(plain)
    arguments = kernels.arguments(name, size, np.random.default_rng(1))
    # What is chosen is remembered for calls that are alike: it has a function of its own.
    chosen = frit.parallelize(plain)
    choices = {"Python": plain, "one core": ours, "all cores": ours, "chosen": chosen}
    if device != "cpu":
        choices["GPU"] = ours
    if not with_python:
        del choices["Python"]
    times: dict[str, list[float]] = {choice: [] for choice in choices}
    end = time.perf_counter() + SHORT_ROUNDS
    while len(times["chosen"]) < rounds or time.perf_counter() < end:
        # Each comes behind each: what one leaves in the caches is there for all.
        for choice in np.random.default_rng().permutation([*choices]):
            times[choice].append(time_of(choice, choices[choice], arguments, device))
    return times


def excess(times: dict[str, list[float]]) -> float:
    """What is chosen takes, over the best of the others: see above."""
    ratios = []
    for half in (0, 1):
        least = {choice: min(seconds[half::2]) for choice, seconds in times.items()}
        best = min((choice for choice in times if choice != "chosen"), key=least.__getitem__)
        ratios.append(min(times["chosen"][1 - half :: 2]) / min(times[best][1 - half :: 2]))
    return statistics.mean(ratios)


def oracle(names: list[str], rounds: int, device: str) -> None:
    _core.set_tier("compiled")
    every, long = [], []
    shown = [choice for choice in CHOICES if choice != "GPU" or device != "cpu"]
    print(f"{'kernel':16} {'size':>8}  {' '.join(f'{choice:>9}' for choice in shown)}  us")
    for name in names:
        own = []
        least = {"Python": 0.0, "one core": 0.0}
        for size in ORACLE_SIZES:
            if least["one core"] > (LONG if device == "cpu" else LONG_WITH_GPU):
                break
            with_python = least.get("Python", LONG_PYTHON) < LONG_PYTHON
            times = oracle_times(name, size, max(rounds, 2), with_python, device)
            least = {choice: min(seconds) for choice, seconds in times.items()}
            own.append(excess(times))
            if min(least.values()) > ASKING:
                long.append(own[-1])
            microseconds = " ".join(f"{1e6 * least.get(c, float('inf')):9.1f}" for c in shown)
            print(f"{name:16} {size:8}  {microseconds}  {own[-1]:.2f} of the best", flush=True)
        every += own
        print(f"{name:16} {'mean':>8}  {statistics.mean(own):.3f} of the best", flush=True)
    print(f"{'all':16} {'mean':>8}  {statistics.mean(every):.3f} of the best")
    if long:
        print(f"where that takes more than 10 us  {statistics.mean(long):.3f} of the best")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--oracle", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--device", default="cpu", help="for --oracle: cuda")
    options = parser.parse_args()
    if options.oracle:
        return oracle(options.names or list(SIZES), options.rounds, options.device)
    if options.large:
        return large(options.names or list(LARGE), options.rounds)
    table(options.names or list(SIZES), options.rounds)


if __name__ == "__main__":
    main()
