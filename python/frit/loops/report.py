"""report.py: frit.explain of a parallelized function: its source, with what each loop became."""

from __future__ import annotations

import ast
import html
import linecache
from typing import Any

from frit.loops import state_of

_KINDS = ("parallel", "reduction", "scan", "serial")
_REASONS = (
    "",
    "",
    "a variable carries a value from one iteration to the next",
    "two of the arrays share memory, or one does with itself",
    "the analysis gave up: too many operations",
    "nobody knows how many rounds a while takes",
    "nothing is known of dependences without isl: install libisl (libisl23 on Debian)",
)
_DEPENDENCES = ("reads what an earlier iteration wrote", "writes what an earlier iteration read")


class LoopExplanation:
    """Prints as text; notebooks show it as it is."""

    def __init__(self, function: Any) -> None:
        state = state_of(function)
        assert state is not None
        self.marks: dict[int, str] = {}
        for site in state.sites:
            self.add(site)
        code = state.function.__code__
        last = max((n for *_, n in code.co_lines() if n), default=code.co_firstlineno)
        for site in state.sites:
            last = max(last, site.node.end_lineno)
        lines = []
        for number in range(code.co_firstlineno, last + 1):
            text = linecache.getline(code.co_filename, number).rstrip()
            mark = self.marks.get(number)
            lines.append(f"{number:5}  {text}" + (f"    # {mark}" if mark else ""))
        if state.reason:
            lines.append(f"  all of it runs as Python: {state.reason}")
        self.text = "\n".join(lines)

    def add(self, site: Any) -> None:
        plan = site.latest
        if plan is None:
            reasons = [*site.refused.values()]
            if reasons:
                at = f", line {reasons[-1].line}" if reasons[-1].line else ""
                self.mark(site.node, f"Python: {reasons[-1].reason}{at}")
            elif site.plans:
                self.mark(site.node, "Python: an error is possible at this call")
            elif site.calls_as_python:
                self.mark(site.node, "Python: an argument is no array or number")
            return
        loops, verdicts = plan.translation.loops, plan.verdicts or []
        if len(loops) != len(verdicts):
            # The analysis has added or dropped loops: marks could stand at wrong ones.
            self.mark(site.node, "compiled")
            return
        for node, verdict in reversed(list(zip(loops, verdicts, strict=True))):
            # Of several loops of one line, the outermost.
            self.marks.pop(node.lineno, None)
            self.mark(node, words_of(verdict, plan.translation.positions))

    def mark(self, node: ast.AST, text: str) -> None:
        line = getattr(node, "lineno", 0)
        self.marks.setdefault(line, text)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def words_of(verdict: tuple[Any, ...], positions: list[tuple[int, int, str]]) -> str:
    """ "serial: u[i, j] (5:13) reads what an earlier iteration wrote: u[i, j-1] (5:24)" """
    _, kind, reason, at_run_time, source, sink, dependence, _ = verdict
    text = _KINDS[kind]
    if kind >= 2 and reason == 1 and 0 <= source < len(positions) and 0 <= sink < len(positions):
        first, second = (
            f"{t} ({line}:{col})" for line, col, t in (positions[source], positions[sink])
        )
        if dependence == 2:
            text += f": {second} writes what an earlier iteration wrote by {first}"
        else:
            text += f": {second} {_DEPENDENCES[dependence]} by {first}"
    elif kind >= 2 and _REASONS[reason]:
        text += f": {_REASONS[reason]}"
    return text + (" (decided at run time)" if at_run_time else "")
