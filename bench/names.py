"""names.py: loops at the top of a program, whose names stay alive, beside the same in a function.

    python bench/names.py [--rounds N]

Each program runs as its user may write it: steps in a function, whose names end with each call, or
the same lines in the loop itself. NumPy and Frit take turns, medians of a round. Columns:
milliseconds of NumPy's, of Frit's, and the ratio.
"""

from __future__ import annotations

import argparse
import statistics
import textwrap
import time
from typing import Any

import numpy

import frit.numpy

PROGRAMS = {
    "gray_scott": (
        "u = np.ones(({n}, {n})); v = np.zeros(({n}, {n}))\n"
        "u[9:40, 9:40] = 0.5; v[9:40, 9:40] = 0.25",
        """
        U = u[1:-1, 1:-1]; V = v[1:-1, 1:-1]
        lu = laplacian(u); lv = laplacian(v); uvv = U * V * V
        du = 0.16 * lu - uvv + 0.035 * (1 - U)
        dv = 0.08 * lv + uvv - 0.095 * V
        U += du; V += dv
        seen = float(v[20, 20])
        """,
        (200, 1000, 1700),
    ),
    "sum_of_products": (
        "x = np.arange({n} * {n}) * 1e-6",
        """
        a = x * 0.5; b = a + 1; c = b * a
        seen = float((c - x).sum())
        """,
        (300, 1000, 3000),
    ),
    "damped_waves": (
        "h = np.linspace(0, 1, {n} * {n}).reshape({n}, {n}); w = h * 0",
        """
        force = laplacian(h)
        friction = 0.01 * w[1:-1, 1:-1]
        w[1:-1, 1:-1] += 0.1 * force - friction
        h = h + 0.1 * w
        seen = float(h[5, 5])
        """,
        (300, 1000, 2000),
    ),
}
LAPLACIAN = """
def laplacian(a):
    return a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1]
"""


class Program:
    def __init__(self, np: Any, name: str, n: int, in_function: bool) -> None:
        start, step, _ = PROGRAMS[name]
        self.space: dict[str, Any] = {"np": np, "count": 1}
        exec(LAPLACIAN + start.format(n=n), self.space)
        body = textwrap.indent(textwrap.dedent(step), "    ")
        loop = f"for k in range(count):\n{body}"
        if in_function:
            names = "global h\n" if "h = h" in step else ""
            names = textwrap.indent(names, "    ")
            loop = f"def step():\n{names}{body}\nfor k in range(count): step()"
        self.code = compile(loop, name, "exec")

    def round(self, count: int) -> float:
        self.space["count"] = count
        start = time.perf_counter()
        exec(self.code, self.space)
        return (time.perf_counter() - start) / count


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Loops at the top of a program, beside the same in a function."
    )
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"{'':32}{'NumPy ms':>10}{'Frit ms':>10}{'ratio':>8}")
    for name, (_, _, sizes) in PROGRAMS.items():
        for n in sizes:
            for in_function in (True, False):
                sides = [Program(np, name, n, in_function) for np in (numpy, frit.numpy)]
                for side in sides:
                    side.round(8)
                times = [[side.round(8) for side in sides] for _ in range(rounds)]
                theirs, ours = (statistics.median(column) for column in zip(*times, strict=True))
                where = "in a function" if in_function else "at the top"
                label = f"{name} {n} {where}"
                print(f"{label:32}{1e3 * theirs:10.2f}{1e3 * ours:10.2f}{theirs / ours:8.2f}")


if __name__ == "__main__":
    main()
