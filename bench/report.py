"""report.py: makes the table, the summary and the plot from the records of run.py.

python bench/report.py bench/results/run.json    (makes run.md and run.png anew)
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from pathlib import Path

from workloads import BY_NAME, WORKLOADS

OWN = ("numpy", "frit")
NEVER_BELOW = 0.95  # speed-up over NumPy, warm; the first call may take 1.1 of NumPy's
COLD_LIMIT = 1.1


def size_name(workload: str, n: int) -> str:
    return "largest" if n == BY_NAME[workload].largest else f"{n:,}"


class Table:
    """The records, by what was measured."""

    def __init__(self, records: list[dict]) -> None:
        self.warm, self.speedup, self.cold, self.shares = {}, {}, {}, {}
        for r in records:
            if "seconds" in r:
                key = r["threads"], r["dtype"], r["workload"], r["n"]
                self.warm.setdefault(key, {}).setdefault(r["system"], r["seconds"])
                self.speedup.setdefault(key, {}).setdefault(r["system"], r["speedup"])
                if "share" in r:
                    self.shares.setdefault(key, {}).setdefault(r["system"], r)
            elif "first" in r:
                self.cold.setdefault((r["workload"], r["n"]), {})[r["system"]] = r
        self.wrong = [r for r in records if "wrong" in r or "failure" in r]
        self.systems = sorted(
            {system for times in self.warm.values() for system in times} - {"numpy"},
            key=lambda name: (name != "frit", name),
        )
        self.threads = sorted({key[0] for key in self.warm})
        self.sizes = list(
            dict.fromkeys(
                size_name(key[2], key[3]) for key in sorted(self.warm, key=lambda k: k[3])
            )
        )
        if "largest" in self.sizes:
            self.sizes.sort(key=lambda name: name == "largest")

    def speedups(self, system: str, threads: int, size: str) -> list[float]:
        """Over NumPy, one for each workload and dtype that the system has."""
        return [
            speedup[system]
            for key, speedup in self.speedup.items()
            if key[0] == threads and size_name(*key[2:]) == size and system in speedup
        ]

    def best_peer(self, key: tuple) -> str | None:
        """The fastest of the systems that are neither NumPy nor Frit."""
        others = {name: s for name, s in self.speedup[key].items() if name not in OWN}
        return max(others, key=others.get) if others else None


def mean(values: list[float]) -> str:
    return f"{statistics.geometric_mean(values):.2f}" if values else "-"


def grid(heading: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(heading) + " |", "|" + "---|" * len(heading)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def duration(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def means_section(table: Table) -> str:
    rows = []
    for threads in table.threads:
        for system in table.systems:
            values = [table.speedups(system, threads, size) for size in table.sizes]
            count = max(map(len, values))
            rows.append([str(threads), f"{system} ({count})", *map(mean, values)])
        best = []
        for size in table.sizes:
            keys = [k for k in table.warm if k[0] == threads and size_name(*k[2:]) == size]
            best.append([table.speedup[k][table.best_peer(k)] for k in keys if table.best_peer(k)])
        if any(best):
            rows.append([str(threads), "best of all peers, each time", *map(mean, best)])
    text = "Warm, geometric mean over the workloads and dtypes that a system offers (how many).\n\n"
    return text + grid(["threads", "system", *(f"n = {size}" for size in table.sizes)], rows)


def workload_section(table: Table, threads: int, dtype: str) -> str:
    """NumPy's time, and the speed-ups over it, for each workload and size."""
    rows = []
    for key in sorted(table.warm, key=lambda k: (list(BY_NAME).index(k[2]), k[3])):
        if key[:2] != (threads, dtype):
            continue
        speedup = table.speedup[key]
        row = [key[2], f"{key[3]:,}", duration(table.warm[key]["numpy"])]
        row += [f"{speedup[name]:.2f}" if name in speedup else "" for name in table.systems]
        peer = table.best_peer(key)
        if "frit" in table.systems:
            known = peer and "frit" in speedup
            row.append(f"{speedup['frit'] / speedup[peer]:.2f} ({peer})" if known else "")
        rows.append(row)
    last = ["Frit over the best peer"] if "frit" in table.systems else []
    return grid(["workload", "n", "NumPy", *table.systems, *last], rows)


def slow_section(table: Table) -> str:
    """Every case in which Frit is slower than it may be, warm and cold."""
    lines = []
    for (threads, dtype, workload, n), speedup in table.speedup.items():
        ratio = speedup.get("frit", math.inf)
        if ratio < NEVER_BELOW:
            lines.append(
                f"- warm {workload}, {dtype}, n = {n:,}, {threads} thread(s): {ratio:.2f}x"
            )
    for (workload, n), runs in table.cold.items():
        if "frit" in runs and runs["frit"]["first"] > COLD_LIMIT * runs["numpy"]["first"]:
            ratio = runs["frit"]["first"] / runs["numpy"]["first"]
            lines.append(f"- first call of {workload}, n = {n:,}: {ratio:.2f} of NumPy's time")
    return "\n".join(lines) + "\n" if lines else "None.\n"


def cold_section(table: Table) -> str:
    names = ["numpy", *table.systems]
    rows = []
    for (workload, n), runs in sorted(table.cold.items(), key=lambda item: item[0][1]):
        cells = [duration(runs[name]["first"]) if name in runs else "" for name in names]
        rows.append([workload, f"{n:,}", *cells])
    imports = {
        name: statistics.median(
            runs[name]["imported"] for runs in table.cold.values() if name in runs
        )
        for name in table.systems
        if any(name in runs for runs in table.cold.values())
    }
    text = ", ".join(f"{name} {duration(seconds)}" for name, seconds in imports.items())
    text = f"Import, after NumPy's: {text}.\n\n" if text else ""
    return text + grid(["workload", "n", *names], rows)


def bandwidth_section(table: Table) -> str:
    """For workloads that memory bounds: bytes that must move, over time, over the stream's rate.

    Median of turns, in each of which a system and the stream are called some times in a row.
    """
    names = ["numpy", *table.systems]
    rows = []
    for (threads, dtype, workload, _), runs in table.shares.items():
        rate = statistics.median(run["rate"] for run in runs.values())
        shares = [f"{runs[name]['share']:.0%}" if name in runs else "" for name in names]
        rows.append([workload, dtype, str(threads), f"{rate:.1f}", *shares])
    heading = ["workload", "dtype", "threads", "stream GB/s", *names]
    return grid(heading, rows) if rows else "Not measured: no largest size.\n"


def markdown(about: dict, records: list[dict]) -> str:
    table = Table(records)
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    parts = [
        "# Speed of the workloads\n",
        f"`{about['command']}` on {about['processor']}, {about['cpus']} CPUs; "
        f"Python {about['python']}, {versions}.\n",
        "Numbers without a unit are speed-ups over NumPy on the same text: above 1 is faster.\n",
        "## Means\n",
        means_section(table),
        f"## Slower than NumPy (below {NEVER_BELOW} warm, above {COLD_LIMIT} of its first call)\n",
        slow_section(table) if "frit" in table.systems else "No right result of Frit was timed.\n",
        "## Share of the memory bandwidth, counting only bytes that must move\n",
        bandwidth_section(table),
    ]
    for threads in table.threads:
        for dtype in dict.fromkeys(key[1] for key in table.warm):
            parts += [f"## {dtype}, {threads} thread(s), warm\n"]
            parts += [workload_section(table, threads, dtype)]
    if table.cold:
        parts += ["## First call in a fresh process, float64\n", cold_section(table)]
    if table.wrong:
        lines = [f"- {json.dumps(record)}" for record in table.wrong]
        parts += ["## Wrong results and failures (not timed)\n", "\n".join(lines) + "\n"]
    return "\n".join(parts)


def plot(records: list[dict], path: Path) -> None:
    """Speed-up of each system by workload, one panel a size, at the largest number of threads."""
    from matplotlib import pyplot

    table = Table(records)
    threads = max(table.threads)
    names = [w.name for w in WORKLOADS if any(key[2] == w.name for key in table.warm)]
    figure, panels = pyplot.subplots(
        len(table.sizes), 1, figsize=(11, 2.6 * len(table.sizes)), sharex=True, squeeze=False
    )
    width = 0.8 / max(1, len(table.systems))
    for size, panel in zip(table.sizes, panels[:, 0], strict=True):
        for i, system in enumerate(table.systems):
            places, heights = [], []
            for j, name in enumerate(names):
                values = [
                    speedup[system]
                    for key, speedup in table.speedup.items()
                    if key[0] == threads and key[2] == name and system in speedup
                    if size_name(*key[2:]) == size
                ]
                if values:
                    places.append(j + (i - (len(table.systems) - 1) / 2) * width)
                    heights.append(statistics.geometric_mean(values))
            panel.bar(places, heights, width, bottom=0, label=system)
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set_yscale("log")
        panel.set_ylabel(f"n = {size}\nspeed-up over NumPy")
        panel.grid(axis="y", alpha=0.3)
    panels[0, 0].legend(ncols=len(table.systems))
    panels[0, 0].set_title(f"Warm, {threads} thread(s), geometric mean over dtypes")
    panels[-1, 0].set_xticks(range(len(names)), names, rotation=40, ha="right")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> None:
    path = Path(sys.argv[1])
    content = json.loads(path.read_text())
    text = markdown(content["about"], content["records"])
    path.with_suffix(".md").write_text(text)
    plot(content["records"], path.with_suffix(".png"))
    print(text)


if __name__ == "__main__":
    main()
