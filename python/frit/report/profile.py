"""profile.py: the report of a run: counts, tiers, and the lines that NumPy had to do."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Report:
    """What happened so far.

    statistics: the engine's counters. fallbacks: one entry (function, file, line, count, reason)
    for each line and function that NumPy did, most frequent first. loops: how many calls of nests
    of plain loops ran compiled, and as Python.
    """

    statistics: dict[str, Any]
    fallbacks: list[Any]
    loops: tuple[int, int] = (0, 0)

    @classmethod
    def now(cls) -> Report:
        """The report up to this moment; computes nothing."""
        core = sys.modules.get("frit._core")
        place = sys.modules.get("frit.loops.run.place")
        loops = place.calls() if core is not None and place is not None else (0, 0)
        fallback = sys.modules.get("frit.numpy._fallback")
        if core is None or (fallback is None and not any(loops)):
            return cls({}, [])
        return cls(core.statistics(), fallback.sites() if fallback is not None else [], loops)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def text(self, lines: int | None = None) -> str:
        """As text; `lines` bounds how many fallbacks are listed."""
        if not self.statistics:
            return "frit: nothing was recorded (frit.numpy was not imported)"
        s = self.statistics
        on_device = s["device_launches"]
        launches = s["interpreted_launches"] + s["compiled_launches"] + on_device
        shown = self.fallbacks[:lines]
        text = [
            f"recorded   {s['recorded']:,} operations, {s['immediate']:,} computed at once",
            f"evals      {s['evals']:,} in {s['eval_seconds']:.3f} s, "
            f"{s['eager']:,} op by op; plans: {s['plan_hits']:,} reused, {s['plan_misses']:,} made "
            f"in {s['plan_seconds']:.3f} s",
            f"launches   {launches:,}: {s['interpreted_launches']:,} interpreted, "
            f"{s['compiled_launches']:,} compiled, {s['swept_launches']:,} of them in sweeps, "
            f"{s['calls']:,} library calls",
            *_device(s),
            f"compiler   {s['kernels_compiled']:,} kernels in {s['compile_seconds']:.3f} s, "
            f"{s['kernels_loaded']:,} from the disk cache",
            *_failures(s),
            f"memory     {_mib(s['bytes_peak'])} at most, {_mib(s['bytes_live'])} now, "
            f"{_mib(s['bytes_cached'])} kept for reuse",
            f"fallbacks  {sum(f.count for f in self.fallbacks):,} calls done by NumPy, "
            f"from {len(self.fallbacks)} places",
        ]
        if any(self.loops):
            compiled, python = self.loops
            text.insert(-1, f"loops      {compiled:,} nests ran compiled, {python:,} as Python")
        text += [_line(f) for f in shown]
        if len(shown) < len(self.fallbacks):
            text.append(f"  ... and {len(self.fallbacks) - len(shown)} more: frit.report()")
        return "\n".join(text)


def _failures(statistics: dict[str, Any]) -> list[str]:
    count = statistics["kernels_failed"]
    if not count:
        return []
    return [f"           {count:,} stay interpreted: {statistics['compile_failure']}"]


def _line(site: Any) -> str:
    reason = f" ({site.reason})" if site.reason else ""
    return f"  {site.file}:{site.line}: {site.function} x {site.count:,}{reason}"


def _device(s: dict[str, Any]) -> list[str]:
    if not s["device_launches"]:
        return []
    return [
        f"device     {s['device_launches']:,} of the launches; "
        f"{_mib(s['bytes_uploaded'])} brought there, {_mib(s['bytes_downloaded'])} back"
    ]


def _mib(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB"


def reset() -> None:
    """Counting starts anew."""
    core = sys.modules.get("frit._core")
    if core is not None:
        core.reset_statistics()
    if "frit.numpy" in sys.modules:
        from frit.numpy import _fallback

        _fallback.reset()


def print_at_exit() -> None:
    """`python -m frit --report`: ten lines on standard error when the program has ended."""
    core = sys.modules.get("frit._core")
    if core is not None:
        core.eval()
    print("--- frit", "-" * 60, file=sys.stderr)
    print(Report.now().text(lines=4), file=sys.stderr)
