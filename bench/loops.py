"""loops.py: the sixteen nests of tests/loops/kernels.py: Frit against CPython and Numba.

Usage: loops.py [NAME..] [--rounds N]. Times are medians of rounds in which the tools take turns.
Numba runs with fastmath=False; `prange` stands at the outermost loop wherever that is right.
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
from pathlib import Path

import numba
import numpy as np

import frit

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.loops import kernels

# By kernel: the size for CPython, and for the compiled ones; the loops that prange may stand at
# (counted in the order of the text).
SIZES = {
    "vector_add": (20_000, 2_000_000, [0]),
    "saxpy": (20_000, 2_000_000, [0]),
    "matmul": (40, 400, [0]),
    "gemver": (100, 1500, [0, 2, 4, 5]),
    "atax": (150, 1500, []),
    "conv2d": (60, 1000, [0]),
    "jacobi_2d": (60, 600, [1, 3]),
    "heat_3d": (16, 90, [1, 4]),
    "mandelbrot": (40, 400, [0]),
    "black_scholes": (10_000, 400_000, [0]),
    "n_body": (100, 1500, [0]),
    "floyd_warshall": (40, 300, [1]),
    "histogram": (5_000, 500_000, []),
    "seidel_2d": (50, 400, []),
    "gram_schmidt": (40, 250, [3]),
    "lu": (40, 300, []),
}


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
    space = {**vars(kernels), "prange": numba.prange}
    exec(compile(tree, name, "exec"), space)
    return numba.njit(parallel=True)(space[name])


def seconds(function, arguments, repeats: int = 1) -> float:
    total = 0.0
    for _ in range(repeats):
        given = copy.deepcopy(arguments)
        start = time.perf_counter()
        function(*given)
        total += time.perf_counter() - start
    return total / repeats


def measure(name: str, rounds: int) -> list[float]:
    small, large, numbers = SIZES[name]
    plain = kernels.KERNELS[name]
    tools = [frit.parallelize(plain), numba.njit(plain), with_prange(name, numbers)]
    few = kernels.arguments(name, small, np.random.default_rng(1))
    many = kernels.arguments(name, large, np.random.default_rng(1))
    seconds(tools[0], few, 3)
    python = seconds(plain, few) / seconds(tools[0], few, 3)
    for tool in tools:
        seconds(tool, many, 3)
    frit.eval()
    time.sleep(0.3)  # code that is compiled in the background
    times = [[seconds(tool, many) for tool in tools] for _ in range(rounds)]
    ours, serial, parallel = (statistics.median(column) for column in zip(*times, strict=True))
    return [python, ours * 1e3, serial / ours, parallel / ours]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'kernel':16} {'x CPython':>10} {'ms':>9} {'x njit':>8} {'x njit parallel':>16}")
    rows = []
    for name in options.names or SIZES:
        row = measure(name, options.rounds)
        rows.append(row)
        print(f"{name:16} {row[0]:10.0f} {row[1]:9.3f} {row[2]:8.2f} {row[3]:16.2f}", flush=True)
    means = [statistics.geometric_mean(column) for column in zip(*rows, strict=True)]
    print(f"{'geometric mean':16} {means[0]:10.0f} {'':9} {means[2]:8.2f} {means[3]:16.2f}")


if __name__ == "__main__":
    main()
