"""measure.py: the process that times workloads; run.py starts it and reads its JSON lines.

    measure.py warm --systems numpy,frit --workloads triad,chain --sizes 1000,largest
    measure.py cold --systems frit --workloads triad --sizes 1000

warm: NumPy first, then the others: in one process, in turn, medians after a warm-up; `speedup` is
over the NumPy of the same process. `share` of what memory bounds: see share_of_stream.
cold: one system, one workload: the time of its import and of its very first call.
No result is timed that differs from NumPy's.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import peers
from stream import BYTES, Stream
from workloads import BY_NAME, EXACT, Workload

SAMPLE_SECONDS = 2e-3  # a sample repeats short calls until it takes about as long
WARM_UP_SECONDS = 0.15  # long enough for a compiler in the background to hand its code over
MOST_SAMPLES = 40
SERIES = 5  # calls that follow one another, where bandwidth is measured
PEER_TOLERANCE = {"float64": 1e-9, "float32": 1e-3}  # their dtypes and orders of sums are their own
PEER_OTHER_COUNTS = 1e-3  # part of integer results that rounding at a border may change


def as_arrays(result) -> list[np.ndarray]:
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]


def complaint(workload: Workload, dtype: str, system: str, expected, found) -> str | None:
    """What is wrong with a result, or None. A mutated plate is copied: expected stays as it was."""
    if len(expected) != len(found):
        return f"{len(found)} results, expected {len(expected)}"
    for left, right in zip(expected, found, strict=True):
        if left.shape != right.shape:
            return f"shape {right.shape}, expected {left.shape}"
        if system == "frit":
            text = complaint_about_frit(workload, left, right)
        else:
            text = complaint_about_peer(dtype, left, right)
        if text:
            return text
    return None


def complaint_about_frit(workload: Workload, left: np.ndarray, right: np.ndarray) -> str | None:
    if left.dtype != right.dtype:
        return f"dtype {right.dtype}, expected {left.dtype}"
    if workload.tolerance_in_eps == EXACT or left.dtype.kind in "bi":
        same = np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
        return None if same else f"not bit for bit: {np.mean(left != right):.1%} of elements differ"
    units = largest_difference(left, right) / np.finfo(left.dtype).eps
    allowed = workload.tolerance_in_eps
    return None if units <= allowed else f"differs by {units:.0f} eps, allowed {allowed:.0f}"


def complaint_about_peer(dtype: str, left: np.ndarray, right: np.ndarray) -> str | None:
    if left.dtype.kind in "bi":
        share = np.mean(left != right)
        return None if share <= PEER_OTHER_COUNTS else f"{share:.1%} of elements differ"
    difference = largest_difference(left, right)
    return None if difference <= PEER_TOLERANCE[dtype] else f"differs by {difference:.1e}"


def largest_difference(left: np.ndarray, right: np.ndarray) -> float:
    """max |left - right| / max |left|; NaN, which no bound accepts, where one of them has a NaN."""
    left, right = left.astype(np.float64), right.astype(np.float64)
    return float(np.abs(left - right).max() / max(np.abs(left).max(), 1e-300))


def calls_until(call: Callable, seconds: float, at_least: int) -> float:
    """Calls until both are reached; the time of the last call."""
    begin = time.perf_counter()
    count = 0
    while True:
        start = time.perf_counter()
        call()
        end = time.perf_counter()
        count += 1
        if count >= at_least and end - begin >= seconds:
            return end - start


def sample(call: Callable, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def bound(system: peers.System, workload: Workload, data: list[np.ndarray]) -> Callable:
    """A call on the system's own copy of the data, which ends when the result is there."""
    function, force = system.functions[workload.name], system.force
    own = [system.prepare(x) for x in data]
    if force is None:
        return lambda: function(*own)
    return lambda: force(function(*own))


def checked(system: peers.System, workload: Workload, dtype: str, n: int, expected) -> str | None:
    if system.name == "numpy":
        return None
    data = workload.data(n, dtype)
    try:
        found = as_arrays(system.functions[workload.name](*map(system.prepare, data)))
    except Exception as error:  # a peer that can't do it is a row of the table, not the end of it
        return f"{type(error).__name__}: {error}"
    return complaint(workload, dtype, system.name, expected, found)


def warm(
    workload: Workload, dtype: str, n: int, systems: list[peers.System], budget: float
) -> list[dict]:
    """One record per system: median, quartiles (seconds) and speed-up, or what was wrong."""
    data = workload.data(n, dtype)
    expected = as_arrays(workload.function(np, *(x.copy() for x in data)))
    calls, counts, wrong = {}, {}, {}
    for system in (s for s in systems if workload.name in s.functions):
        # The check comes twice: at first sight, and again with whatever warming up brought.
        wrong[system.name] = checked(system, workload, dtype, n, expected)
        if not wrong[system.name]:
            call = bound(system, workload, data)
            seconds = calls_until(call, WARM_UP_SECONDS, at_least=4 if system.name == "frit" else 1)
            wrong[system.name] = checked(system, workload, dtype, n, expected)
        if not wrong[system.name]:
            calls[system.name] = call
            counts[system.name] = max(1, int(SAMPLE_SECONDS / max(seconds, 1e-9)))
    samples = alternate(calls, counts, budget * len(calls))
    shares = {}
    if workload.must_move is not None and n == workload.largest:
        moved = workload.must_move * n * np.dtype(dtype).itemsize
        shares = {name: share_of_stream(call, moved, budget) for name, call in calls.items()}
    records = []
    for system, text in wrong.items():
        record = dict(workload=workload.name, dtype=dtype, n=n, system=system)
        if text:
            record |= dict(wrong=text)
        else:
            low, middle, high = statistics.quantiles(samples[system], n=4)
            speedup = statistics.median(samples["numpy"]) / middle
            record |= dict(seconds=middle, quartiles=[low, high], speedup=speedup)
            record |= shares.get(system, {})
        records.append(record)
    return records


def alternate(calls: dict, counts: dict, budget: float) -> dict[str, list[float]]:
    """Samples of all systems in turn, in changing order: a slow minute hits all of them alike."""
    samples = {name: [] for name in calls}
    begin = time.perf_counter()
    gc.collect()
    gc.disable()
    for taken in range(MOST_SAMPLES):
        if taken >= 3 and time.perf_counter() - begin > budget:
            break
        for name in reversed(calls) if taken % 2 else calls:
            samples[name].append(sample(calls[name], counts[name]))
    gc.enable()
    return samples


@functools.cache
def stream() -> Stream:
    return Stream(int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count()))


def share_of_stream(call: Callable, moved: int, budget: float) -> dict[str, float]:
    """Bytes a second over the stream's, median of turns; `rate`: the stream's, GB/s.

    Both are called some times in a row in each turn: neither has to wake its threads each time, and
    a host that gives its memory to others for a while takes it from both.
    """
    shares, rates = [], []
    begin = time.perf_counter()
    for taken in range(MOST_SAMPLES):
        if taken >= 3 and time.perf_counter() - begin > 4 * budget:
            break
        rate = BYTES / sample(stream(), SERIES)
        shares.append(moved / sample(call, SERIES) / rate)
        rates.append(1e-9 * rate)
    return dict(share=statistics.median(shares), rate=statistics.median(rates))


def cold(workload: Workload, dtype: str, n: int, name: str) -> dict:
    start = time.perf_counter()
    system = peers.load(name)
    imported = time.perf_counter() - start
    data = workload.data(n, dtype)
    call = bound(system, workload, data)
    first = sample(call, 1)
    return dict(
        workload=workload.name, dtype=dtype, n=n, system=name, first=first, imported=imported
    )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=("warm", "cold"))
    parser.add_argument("--systems", type=lambda text: text.split(","), required=True)
    parser.add_argument("--workloads", type=lambda text: text.split(","), required=True)
    parser.add_argument("--sizes", type=lambda text: text.split(","), required=True)
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=["float64"])
    parser.add_argument("--budget", type=float, default=0.25, help="seconds for each median")
    return parser.parse_args()


def main() -> None:
    options = parse()
    warnings.simplefilter("ignore")
    systems = [] if options.kind == "cold" else [peers.load(name) for name in options.systems]
    for workload in (BY_NAME[name] for name in options.workloads):
        for dtype in options.dtypes:
            for n in (workload.largest if s == "largest" else int(s) for s in options.sizes):
                if options.kind == "cold":
                    records = [cold(workload, dtype, n, name) for name in options.systems]
                else:
                    records = warm(workload, dtype, n, systems, options.budget)
                for record in records:
                    print(json.dumps(record), flush=True)


if __name__ == "__main__":
    sys.exit(main())
