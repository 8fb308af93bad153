"""kernels.py: programs of kernels (frit.pykokkos), fused against unfused, in one process.

    python bench/kernels.py [--size N] [--threads T] [--rounds R] [--only chain,dot]
    FRIT_DEVICE=cuda python bench/kernels.py --table-alone   # on a GPU

Each program runs by turns fused (on), delayed but not fused (trace) and launch by launch (off);
medians. `bound` is what fusing can gain where bytes decide: the bytes that the launches move one
by one (each view that a launch reads, and each that it writes) over those that a step must move
when it reads and writes each view once, or once a pass where a sum of all points comes between.
`of stream` compares the latter with the bandwidth of a copy-and-add, measured by the same turns.
Also: the time of one launch, and of a group of five that was seen before; and, in processes of
their own that have no kernels on the disk, the first result of kernels that were never seen, and
how long after the first launch its launches are compiled.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy

import frit
import frit.numpy as np
import frit.pykokkos as pk
from frit import _core


@dataclass
class Program:
    name: str
    step: Callable[[], object]  # records one step
    bytes: int  # that it must move; 0: not stated
    unfused: int  # that its launches move
    sizes: str


def views(n: int, count: int) -> list[pk.View]:
    made = [pk.View([n], pk.double) for _ in range(count)]
    for k, view in enumerate(made):
        view[:] = numpy.random.RandomState(k).random(n)
    return made


def example(name: str) -> types.ModuleType:
    """A program of examples/pykokkos, whose kernels and classes are measured here."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "pykokkos"))
    frit.install()  # it imports pykokkos
    module = importlib.import_module(name)
    frit.uninstall()
    del sys.path[0]
    return module


# ---- kernels ------------------------------------------------------------------------------------


@pk.workunit
def copy(i, x, y):
    y[i] = x[i]


@pk.workunit
def add(i, x, y, z):
    z[i] = x[i] + y[i]


@pk.workunit
def triad(i, x, y, z, a):
    z[i] = x[i] + a * y[i]


@pk.workunit
def dot(i, acc, x, y):
    acc += x[i] * y[i]


@pk.workunit
def total(i, acc, x):
    acc += x[i]


@pk.workunit
def square_distance(i, acc, x, mean):
    acc += (x[i] - mean) * (x[i] - mean)


@pk.workunit
def gather(i, x, place, y):
    y[i] = x[place[i]]


@pk.workunit
def gather_at(i, x, at, y):
    y[i] = x[int(at[i])]


@pk.workunit
def nstream(i, x, y, z, a):
    z[i] += x[i] + a * y[i]


@pk.workunit
def laplace(i, p, q):
    q[i] = 2.5 * p[i] - p[i - 1] - p[i + 1]


@pk.workunit
def advance_solution(i, x, r, p, q, alpha):
    x[i] += alpha * p[i]
    r[i] -= alpha * q[i]


@pk.workunit
def advance_direction(i, r, p, beta):
    p[i] = r[i] + beta * p[i]


# ---- programs -----------------------------------------------------------------------------------


def chain(n: int) -> Program:
    x, y, z, w = views(n, 4)
    kernels = example("chain")

    def step() -> None:
        pk.parallel_for(n, kernels.axpy, x=x, y=y, a=0.001)
        pk.parallel_for(n, kernels.scale, y=y, z=z, b=0.5)
        pk.parallel_for(n, kernels.multiply_add, x=x, y=y, z=z)
        pk.parallel_for(n, kernels.clip, z=z, w=w)
        pk.parallel_for(n, kernels.mix, y=y, w=w)

    return Program("chain of 5", step, 8 * n * 5, 8 * n * 14, f"n = {n:,}")


def stream(n: int) -> Program:
    a, b, c = views(n, 3)
    scale = example("chain").scale

    def step() -> object:
        pk.parallel_for(n, copy, x=a, y=c)
        pk.parallel_for(n, scale, y=c, z=b, b=0.4)
        pk.parallel_for(n, add, x=a, y=b, z=c)
        pk.parallel_for(n, triad, x=b, y=c, z=a, a=0.4)
        return pk.parallel_reduce(n, dot, x=a, y=b)

    return Program("STREAM's four + dot", step, 8 * n * 4, 8 * n * 12, f"n = {n:,}")


def nstream_dot(n: int) -> Program:
    a, b, c = views(n, 3)

    def step() -> object:
        pk.parallel_for(n, nstream, x=b, y=c, z=a, a=0.1)
        return pk.parallel_reduce(n, dot, x=a, y=b)

    return Program("nstream + dot", step, 8 * n * 4, 8 * n * 6, f"n = {n:,}")


def push(n: int) -> Program:
    x, speed, section, way = views(n, 4)
    table = views(32, 1)[0]
    pool = pk.Random_XorShift64_Pool(1, n)
    kernels = example("particle_push")
    # A particle keeps most of its speed: the thousandth step has as much to do as the first.
    chance = {"dt": 0.1, "keep": 0.999, "pool": pool}

    def step() -> None:
        pk.parallel_for(n, kernels.cross_section, speed=speed, table=table, section=section)
        pk.parallel_for(n, kernels.collide, speed=speed, section=section, **chance)
        pk.parallel_for(n, kernels.advance, x=x, speed=speed, way=way, dt=0.1)

    return Program("particle push", step, 8 * n * 7, 8 * n * 10, f"n = {n:,}")


def two_passes(n: int) -> Program:
    (x,) = views(n, 1)

    def step() -> object:
        mean = pk.parallel_reduce(n, total, x=x) / n
        return pk.parallel_reduce(n, square_distance, x=x, mean=mean)

    return Program("two-pass statistics", step, 16 * n, 16 * n, f"n = {n:,}")


def conjugate_gradients(n: int) -> Program:
    x, r, p, q = views(n, 4)
    inside = pk.RangePolicy(1, n - 1)

    def step() -> None:
        pk.parallel_for(inside, laplace, p=p, q=q)
        squares = pk.parallel_reduce(n, dot, x=r, y=r)
        alpha = 0.1 * squares / (pk.parallel_reduce(n, dot, x=p, y=q) + 1e-300)
        pk.parallel_for(n, advance_solution, x=x, r=r, p=p, q=q, alpha=alpha)
        beta = pk.parallel_reduce(n, dot, x=r, y=r) / (squares + 1e-300)
        pk.parallel_for(n, advance_direction, r=r, p=p, beta=beta * 0.1)

    return Program("CG iteration", step, 8 * n * 12, 8 * n * 15, f"n = {n:,}")


def stencil(n: int) -> Program:
    side = math.isqrt(n)
    planes = [pk.View([side, side], pk.double) for _ in range(2)]
    for plane in planes:
        plane[:] = numpy.random.RandomState(0).random((side, side))
    inside = pk.MDRangePolicy([1, 1], [side - 1, side - 1])
    heat = example("stencil").heat

    def step() -> None:
        pk.parallel_for(inside, heat, u=planes[0], v=planes[1], rate=0.2)
        planes.reverse()

    return Program("stencil", step, 16 * side * side, 16 * side * side, f"{side} x {side}")


def logistic(n: int) -> Program:
    x, y = views(n, 2)
    weight = [0.5, 0.1]

    def step() -> object:
        z = pk.add(pk.multiply(x, weight[0]), weight[1])
        error = pk.subtract(pk.reciprocal(pk.add(pk.exp(pk.negative(z)), 1.0)), y)
        return pk.mean(pk.multiply(error, x)) + pk.mean(error)

    return Program("logistic regression", step, 16 * n, 8 * n * 20, f"n = {n:,}")


def dynamics(n: int) -> Program:
    """A step of examples/pykokkos/molecular_dynamics.py; 256,000 atoms for the usual size."""
    molecular_dynamics = example("molecular_dynamics")
    size = max(6, round((n / 31.25 / 4) ** (1 / 3)))
    atoms = molecular_dynamics.Atoms(size)
    atoms.rebuild()
    atoms.find_forces()
    return Program("molecular dynamics", atoms.step, 0, 0, f"{atoms.n:,} atoms")


PROGRAMS = {
    f.__name__: f
    for f in (
        chain, stream, nstream_dot, push, two_passes, conjugate_gradients, stencil, logistic,
        dynamics,
    )
}  # fmt: skip


# ---- measuring ----------------------------------------------------------------------------------


def seconds(step: Callable[[], object], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        held = step()
        frit.synchronize()
        del held
    return (time.perf_counter() - start) / times


def bandwidth(n: int) -> float:
    """Bytes a second of z = x + y on arrays larger than the caches."""
    x, y, z = (np.ones(n) for _ in range(3))
    found = []
    _core.set_tier("compiled")  # the first runs would be the interpreter's
    for _ in range(9):
        start = time.perf_counter()
        np.add(x, y, out=z)
        frit.synchronize()
        found.append(24 * n / (time.perf_counter() - start))
    _core.set_tier("automatic")
    return statistics.median(found[2:])


def medians(program: Program, rounds: int) -> dict[str, float]:
    found: dict[str, list[float]] = {"on": [], "trace": [], "off": []}
    for mode in found:
        _core.set_fusion(mode)
        for _ in range(3):
            program.step()
            frit.synchronize()
            _core.wait_for_compiler()
    times = max(1, int(0.01 / max(seconds(program.step, 1), 1e-7)))
    for _ in range(rounds):
        for mode, samples in found.items():
            _core.set_fusion(mode)
            samples.append(seconds(program.step, times))
    _core.set_fusion("on")
    return {mode: statistics.median(samples) for mode, samples in found.items()}


def launch_time(launch: Callable[[], None]) -> float:
    best = math.inf
    for _ in range(200):
        start = time.perf_counter()
        for _ in range(50):
            launch()
        best = min(best, (time.perf_counter() - start) / 50)
        frit.eval()
    return best * 1e6


def launches() -> None:
    x, y, at = views(100, 3)
    place = pk.View([100], pk.int64)
    axpy = example("chain").axpy
    plain = launch_time(lambda: pk.parallel_for(100, axpy, x=x, y=y, a=0.1))
    by_array = launch_time(lambda: pk.parallel_for(100, gather, x=x, place=place, y=y))
    computed = launch_time(lambda: pk.parallel_for(100, gather_at, x=x, at=at, y=y))
    print(f"\na launch: {plain:.2f} us; with x[place[i]]: {by_array:.2f}", end="")
    print(f"; with x[int(at[i])]: {computed:.2f}")
    program = chain(100)
    print(f"a group of 5 seen before, n = 100: {medians(program, 9)['on'] * 1e6:.1f} us")


# In a process of its own: `name` is a program, and its kernels were never seen.
def first_result(name: str) -> None:
    program = PROGRAMS[name](1_000_000)
    frit.eval()
    start = time.perf_counter()
    program.step()
    frit.eval()
    found = time.perf_counter() - start
    # Until no step has had more compiled launches for a while; those on single numbers stay as
    # they are.
    most, since, compiled = 0, 0, found
    while since < 30:
        before = _core.statistics()["compiled_launches"]
        program.step()
        frit.eval()
        launches = _core.statistics()["compiled_launches"] - before
        since += 1
        if launches > most:
            most, since, compiled = launches, 0, time.perf_counter() - start
    print(found, compiled)


def first_results() -> None:
    print()
    for name in ("chain", "stream", "push", "conjugate_gradients", "dynamics"):
        rows = []
        for _ in range(5):
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "FRIT_CACHE_DIR": folder}
                command = [sys.executable, __file__, "--first", name]
                run = subprocess.run(
                    command, env=environment, check=True, capture_output=True, text=True
                )
                rows.append([float(number) * 1e3 for number in run.stdout.split()])
        result, compiled = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{name}: first result {result:.1f} ms, compiled after {compiled:.0f} ms")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--size", type=int, default=8_000_000)
    options.add_argument("--threads", type=int, default=0)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--only", default=",".join(PROGRAMS))
    options.add_argument("--table-alone", action="store_true", help="only the table")
    options.add_argument("--first", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.first:
        return first_result(given.first)
    if given.threads:
        frit.set_num_threads(given.threads)
    stream_bytes = bandwidth(given.size)
    if device := _core.device_description():
        print(f"On {device}.")
    print(f"z = x + y: {stream_bytes / 1e9:.1f} GB/s\n")
    print(
        f"{'':22}{'':>16}{'fused':>10}{'delayed':>10}{'unfused':>10}{'gain':>7}{'bound':>7}"
        f"{'of stream':>11}"
    )
    gains, bounds = [], []
    for name in given.only.split(","):
        program = PROGRAMS[name](given.size)
        found = medians(program, given.rounds)
        gains.append(found["off"] / found["on"])
        part = program.bytes / stream_bytes / found["on"]
        share = ""
        if program.bytes:
            bounds.append(program.unfused / program.bytes)
            share = f"{bounds[-1]:6.2f}x{part:10.0%}"
        print(
            f"{program.name:22}{program.sizes:>16}"
            + "".join(f"{found[mode] * 1e3:8.2f}ms" for mode in ("on", "trace", "off"))
            + f"{gains[-1]:6.2f}x{share}"
        )
    print(f"{'geometric mean':22}{'':46}{statistics.geometric_mean(gains):6.2f}x", end="")
    print(f"{statistics.geometric_mean(bounds):6.2f}x" if bounds else "")
    if given.table_alone:
        return
    launches()
    first_results()


if __name__ == "__main__":
    main()
