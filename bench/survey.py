"""survey.py: some eight hundred common calls on small arrays, under Frit and under NumPy in turn.

    python bench/survey.py [--n 1,100,1000] [--only TEXT;TEXT] [--below 0.95]

Prints what takes longer than NumPy, or is over Frit's limits: the ratio of speeds, both times and
the difference; and how much of it is over those limits. NumPy and Frit take samples by turns; each
figure is a median of them, and what looks slow is measured again and longer. A statement counts as
over its limit if the median of what it takes too long is above that median's own uncertainty.
"""

from __future__ import annotations

import argparse
import copy
import gc
import io
import math
import os
import pickle
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

os.environ.setdefault("FRIT_NUM_THREADS", "1")
import numpy  # noqa: E402
from statements import STATEMENTS  # noqa: E402

import frit  # noqa: E402
import frit.numpy  # noqa: E402

SAMPLE_SECONDS = 4e-4
SAMPLES = 11
AGAIN = 41  # for what looks slow
LONGER = 3  # its samples, too
SLOWEST = 0.95  # of NumPy's speed, where Frit computes
MOST_ADDED = 300e-9  # seconds, where NumPy is called


def names(module) -> dict[str, object]:
    """What the statements may use, but for what depends on n."""
    symmetric = numpy.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
    return dict(
        np=module,
        null=open(os.devnull, "w"),  # noqa: SIM115
        M=module.array(symmetric),
        P=module.array(symmetric),
        w=module.array(numpy.array([1.0, 2.0, 3.0])),
        v=numpy.float64(2.0),
        rng=module.random.default_rng(1),
        data=bytes(range(64)),
        bytes8=module.array(numpy.arange(3, dtype=numpy.uint8)),
        vectorized=module.vectorize(abs),
        ufunc=module.frompyfunc(abs, 1, 1),
        polynomial=module.poly1d([1.0, 2.0, 3.0]),
        series=module.polynomial.Polynomial([1.0, 2.0, 3.0]),
        words=module.array(["one", "two"]),
    )


def arrays(module, n: int) -> dict[str, object]:
    ramp = numpy.linspace(1.0, 2.0, n)
    saved = io.BytesIO()
    numpy.save(saved, ramp)
    return dict(
        n=n,
        values=ramp.tolist(),
        ints=list(range(n)),
        real=ramp.copy(),
        x=module.array(ramp),
        y=module.array(1.0 / ramp),
        u=module.array(ramp),
        c=module.array(ramp + 1j),
        i=module.array(numpy.arange(n) % min(n, 10)),
        i0=module.array(numpy.zeros(n, int)),
        mask=module.array(ramp > 1.3),
        A=module.array(numpy.ones((n, 3)) * ramp[:, None]),
        z=module.array(ramp / 4),
        masked=module.ma.masked_array(ramp, ramp > 1.3),
        saved=saved.getvalue(),
    )


def loop_of(statement: str, module, n: int) -> Callable[[int], None]:
    """A function that runs the statement so many times."""
    modules = {each.__name__: each for each in (copy, io, math, pickle)}
    space = names(module) | arrays(module, n) | modules
    scope: dict[str, Callable] = {}
    exec(f"def loop(count, {', '.join(space)}):\n for _ in range(count):\n  {statement}\n", scope)
    loop = scope["loop"]
    values = list(space.values())

    def run(count: int) -> None:
        loop(count, *values)
        frit.eval()  # work that is left pending belongs to this sample

    return run


def seconds_of(run: Callable[[int], None], count: int) -> float:
    start = time.perf_counter()
    run(count)
    return time.perf_counter() - start


def count_for(run: Callable[[int], None]) -> int:
    """So many rounds that a sample is long enough to be timed."""
    count = 1
    while True:
        seconds = min(seconds_of(run, count) for _ in range(3))  # a stall is no long run
        if seconds > SAMPLE_SECONDS / 2 or count > 100_000:
            return max(1, int(count * SAMPLE_SECONDS / seconds))
        count *= 4


@dataclass
class Case:
    statement: str
    n: int
    runs: tuple[Callable, Callable]
    counts: tuple[int, int]
    is_fallback: bool  # NumPy does it, on the arrays' memory
    pairs: list[tuple[float, float]] = field(default_factory=list)  # seconds of NumPy and of Frit

    def measure(self, samples: int, longer: int = 1) -> None:
        self.pairs.clear()
        gc.disable()
        for number in range(samples):
            pair = [0.0, 0.0]
            for k in (0, 1) if number % 2 else (1, 0):
                count = self.counts[k] * longer
                pair[k] = seconds_of(self.runs[k], count) / count
            self.pairs.append((pair[0], pair[1]))
        gc.enable()

    @property
    def medians(self) -> tuple[float, float]:
        """Seconds of NumPy and of Frit."""
        own, ours = (statistics.median(times) for times in zip(*self.pairs, strict=True))
        return own, ours

    @property
    def ratio(self) -> float:
        own, ours = self.medians
        return own / ours

    def too_long(self, own: float, ours: float) -> float:
        """Seconds above the limit."""
        return ours - own - MOST_ADDED if self.is_fallback else SLOWEST * ours - own

    @property
    def is_within_limits(self) -> bool:
        """0.95x of NumPy where Frit computes; 300 ns more than NumPy where it calls NumPy."""
        excess = [self.too_long(*pair) for pair in self.pairs]
        median = statistics.median(excess)
        # Of a median: 1.25 / sqrt(n) standard deviations, each 1.48 median deviations.
        deviation = statistics.median(abs(x - median) for x in excess)
        return median <= 2 * 1.25 * 1.48 * deviation / math.sqrt(len(excess))


def case_of(statement: str, n: int) -> Case | None:
    """Nothing where NumPy itself refuses the statement."""
    theirs = loop_of(statement, numpy, n)
    try:
        theirs(2)
    except (ValueError, IndexError, TypeError, numpy.linalg.LinAlgError):
        return None
    ours = loop_of(statement, frit.numpy, n)
    frit.report(reset=True)
    ours(2)
    # Draws are NumPy's by promise, and not reported.
    is_fallback = bool(frit._core.fallbacks()) or "rng." in statement or "np.random" in statement
    counts = (count_for(theirs), count_for(ours))
    return Case(statement, n, (theirs, ours), counts, is_fallback)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", default="1,10,100,1000", help="sizes")
    parser.add_argument("--only", default="", help="statements with one of these texts in them")
    parser.add_argument("--below", type=float, default=SLOWEST, help="print what is slower")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for least, text in STATEMENTS.items():
        for statement in map(str.strip, text.strip().splitlines()):
            if not any(part in statement for part in options.only.split(";")):
                continue
            for n in map(int, options.n.split(",")):
                case = case_of(statement, n) if n >= least else None
                if case is None:
                    continue
                case.measure(SAMPLES)
                if case.ratio < options.below or case.too_long(*case.medians) > 0:
                    case.measure(AGAIN, LONGER)
                found.append(case)
    slow = sorted(
        (c for c in found if c.ratio < options.below or not c.is_within_limits),
        key=lambda c: c.ratio,
    )
    for case in slow:
        own, ours = (seconds * 1e9 for seconds in case.medians)
        print(f"{case.ratio:5.2f} {own:10,.0f} {ours:10,.0f} {ours - own:+9,.0f} ns", end="  ")
        print(f"n = {case.n:<5} {case.statement}{'  (NumPy)' * case.is_fallback}", end="")
        print("" if case.is_within_limits else "  over its limit")
    below = sum(case.ratio < options.below for case in found)
    print(f"{below} of {len(found)} below {options.below}")
    for kind, limit in ((False, "computed by Frit, below 0.95x"), (True, "by NumPy, over +300 ns")):
        those = [case for case in found if case.is_fallback == kind]
        over = sum(not case.is_within_limits for case in those)
        print(f"{over} of {len(those)} {limit}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
