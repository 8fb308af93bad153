"""report.py: frit.explain of a function, class or module: the source, with what loops became."""

from __future__ import annotations

import ast
import functools
import html
import inspect
import linecache
import re
import textwrap
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from frit import _activity
from frit._importer import is_user_code
from frit.loops import Parallelized, filled_cells, state_of
from frit.loops.find.codes import all_codes
from frit.loops.find.exits import number_of_exit
from frit.loops.find.implicit import is_enabled
from frit.loops.names import nodes_in, path_of
from frit.loops.run.attributes import DOT
from frit.loops.run.generators import FUNCTIONS
from frit.loops.run.list_runs import COUNT
from frit.loops.run.place import Place, alive, places, places_of, without_places
from frit.loops.run.reasons import MAYBE
from frit.loops.run.site import Site
from frit.translate.errors import TranslationError
from frit.translate.flow import may_leave
from frit.translate.source import source_of

_KINDS = ("parallel", "reduction", "scan", "serial", "wavefront")
_REASONS = (
    "",
    "",
    "a variable carries a value from one iteration to the next",
    "two of the arrays share memory, or one does with itself",
    "the analysis gave up: too many operations",
    "nobody knows how many rounds a while takes",
    "nothing is known of dependences without isl: install libisl (libisl23 on Debian)",
)
_WHILE = 5  # in _REASONS
_COLOURS = {
    "parallel": "#2e7d32",
    "reduction": "#2e7d32",
    "scan": "#558b2f",
    "serial": "#ef6c00",
    "wavefront": "#558b2f",
    "python": "#9e9e9e",
}
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_IN_ORDER = ("sum", "mean", "var", "std")  # NumPy's, whose terms have an order
_DEPENDENCES = ("reads what an earlier iteration wrote", "writes what an earlier iteration read")


@dataclass(frozen=True)
class Line:
    """A line of the source. kind: what stands behind its mark, "" where there is none."""

    number: int
    text: str
    mark: str = ""
    kind: str = ""


IN_TURN = "random numbers are drawn one after another"


def function_in(x: Any) -> Any:
    """Of a method, a property or a partial() the function that is called."""
    while True:
        if isinstance(x, property):
            x = x.fget
        elif isinstance(x, functools.cached_property | functools.partial):
            x = x.func
        elif isinstance(x, types.MethodType | staticmethod | classmethod):
            x = x.__func__
        else:
            return x


class LoopExplanation:
    """What each loop became. Prints as text; notebooks show the source with the loops coloured."""

    def __init__(
        self,
        places: Sequence[Place],
        file: str,
        first: int,
        reason: str = "",
        refused: Sequence[tuple[ast.For, ast.AST, str]] = (),
        note: str = "",
    ) -> None:
        self.marks: dict[int, tuple[str, str]] = {}
        self.note = f"all of it runs as Python: {reason}" if reason else note
        self.lines: list[Line] = []
        for place in places:
            self.add(place)
        for loop, part, why in refused:
            line = getattr(part, "lineno", loop.lineno)
            at = f", line {line}" if line != loop.lineno else ""
            self.mark(loop, f"Python: {why}{at}", "python")
        loops = [*(p.node for p in places), *(loop for loop, *_ in refused)]
        last = max((x.end_lineno or 0 for x in loops), default=first)
        for number in range(first, last + 1):
            text = linecache.getline(file, number).rstrip()
            if number > 0:
                self.lines.append(Line(number, text, *self.marks.get(number, ())))

    @classmethod
    def of(cls, x: Any) -> LoopExplanation:
        """Of a function, property, class or module."""
        if not isinstance(x, type):
            x = function_in(x)
        state = state_of(x)
        if state is not None:
            state.prepare()
            code = state.code
            return cls(
                state.places, code.co_filename, code.co_firstlineno, state.reason, state.refused
            )
        if isinstance(x, types.ModuleType):
            found = [p for p in alive(places) if p.space is vars(x) or p.file == _file_of(x)]
            if not found:
                return cls([], "", 0, note=f"no loops of {x.__name__} are looked at")
            return cls(sorted(found, key=_line), _file_of(x), 1)
        if isinstance(x, type):
            return cls.of_class(x)
        code = getattr(x, "__code__", None)
        if not isinstance(code, types.CodeType):
            return cls([], "", 0, note="it is no function of Python's: it has no loops to look at")
        found, refused = _loops_of(x)
        if not (found or refused) and hasattr(x, "__wrapped__"):
            return cls.of(x.__wrapped__)
        note = "" if found or refused else _note_on(x)
        return cls(found, code.co_filename, code.co_firstlineno, refused=refused, note=note)

    @classmethod
    def of_class(cls, x: type) -> LoopExplanation:
        """All its methods, from the first one on that has loops."""
        codes: list[types.CodeType] = []
        found: list[Place] = []
        refused: list[Any] = []
        for member in vars(x).values():
            method = function_in(member)
            state = state_of(method)
            if state is not None:
                state.prepare()
                loops = [*state.places], [*state.refused]
            elif isinstance(method, types.FunctionType):
                loops = _loops_of(method)
            else:
                continue
            if any(loops):
                codes.append(state.code if state is not None else method.__code__)
                found += loops[0]
                refused += loops[1]
        if not codes:
            return cls([], "", 0, note=f"no method of {x.__name__} has loops that are looked at")
        first = min(codes, key=lambda code: code.co_firstlineno)
        return cls(found, first.co_filename, first.co_firstlineno, refused=refused)

    def add(self, place: Place) -> None:
        site = place.binding.site if place.binding is not None else None
        plan = site.latest if site is not None else None
        if site is None or plan is None:
            reason = place.why
            if site is not None and site.refused:
                refused = [*site.refused.values()][-1]
                reason = refused.reason + (f", line {refused.line}" if refused.line else "")
            elif site is not None and site.plans:
                reason = site.doubt or MAYBE
                if place.fails:
                    lines = _listed([line for line, _ in place.fails])
                    reason += f", or it gets to line {lines}"
            self.mark(place.node, f"Python: {reason.replace(DOT, '.')}", "python")
            return
        text, verdicts = plan.translation.text(), plan.verdicts or []
        loops = text.loops
        if len(loops) != len(verdicts):
            # The analysis has added or dropped loops: marks could stand at wrong ones.
            self.mark(place.node, "compiled", "parallel")
            return
        for node, verdict in reversed(list(zip(loops, verdicts, strict=True))):
            # Of several loops of one line, the outermost.
            self.marks.pop(node.lineno, None)
            words = words_of(verdict, text.positions)
            if verdict[2] == _WHILE and not isinstance(node, ast.While):
                words = words.replace(_REASONS[_WHILE], while_words(node))
            if isinstance(node, ast.While) and (left := exit_words(node)):
                words += f"; {left}"
            if node is loops[0]:
                words += others_of(site)
            self.mark(node, words, _KINDS[verdict[1]])

    def mark(self, node: ast.AST, text: str, kind: str) -> None:
        self.marks.setdefault(getattr(node, "lineno", 0), (text, kind))

    @property
    def text(self) -> str:
        lines = [
            f"{x.number:5}  {x.text}" + (f"    # {x.mark}" if x.mark else "") for x in self.lines
        ]
        if self.note:
            lines.append(f"  {self.note}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = []
        for line in self.lines:
            colour = _COLOURS.get(line.kind)
            style = f' style="border-left: 4px solid {colour}; padding-left: 6px"' if colour else ""
            style = style or ' style="padding-left: 10px"'
            mark = html.escape(f"    # {line.mark}") if line.mark else ""
            rows.append(
                f'<div{style}><span style="color: #888">{line.number:5}  </span>'
                f'{html.escape(line.text)}<span style="color: {colour or "inherit"}">'
                f"{mark}</span></div>"
            )
        if self.note:
            rows.append(f"<div>{html.escape(self.note)}</div>")
        return f'<pre style="line-height: 1.3">{"".join(rows)}</pre>'


def _loops_of(function: Any) -> tuple[list[Place], list[Any]]:
    """The places of a function without a decorator, and its loops that are no nests."""
    found = [*without_places.get(function, ())]
    for code in all_codes(function.__code__):
        found += places_of(code, function.__globals__)
    return found, _refused_in(function)


def _is_looked_at(function: Any) -> bool:
    is_on = _activity.is_active() and is_enabled() and type(function) is types.FunctionType
    return is_on and is_user_code(function.__globals__)


def _refused_in(function: Any) -> list[Any]:
    """Nobody has noted them."""
    if not _is_looked_at(function):
        return []
    state = Parallelized(function)
    try:
        state.made_anew(filled_cells(function), looks_inside=True)
    except (TranslationError, RecursionError):
        return []
    for place in state.places:
        places.discard(place)
    return state.refused


def _tree_of(function: Any) -> ast.AST:
    """An async function's, too."""
    try:
        return source_of(function).node
    except TranslationError:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))


def _note_on(function: Any) -> str:
    """Why nothing is said of its loops."""
    try:
        kinds = {*map(type, ast.walk(_tree_of(function)))}
    except (OSError, SyntaxError, RecursionError):
        return "its source is not there"
    if kinds.isdisjoint(_LOOPS):
        if kinds.isdisjoint(_COMPREHENSIONS):
            return "it has no loops"
        return "it has no loops but comprehensions, which run as Python"
    if ast.AsyncFunctionDef in kinds:
        return "all of it runs as Python: loops of async functions are not looked at"
    if not _is_looked_at(function):
        return "its loops are looked at under `python -m frit` or with @frit.parallelize"
    return "its loops are not looked at"


def _file_of(module: types.ModuleType) -> str:
    return getattr(module, "__file__", None) or ""


def _line(place: Place) -> int:
    return place.node.lineno


def while_words(loop: ast.AST) -> str:
    """What makes the number of a loop's rounds unknown: its break, say, or a return in it."""
    if is_draw(loop):
        return IN_TURN
    if isinstance(loop, ast.Call) and path_of(loop.func).split(".")[-1] not in _IN_ORDER:
        return "a loop of the function may end early"
    if not isinstance(loop, ast.For):
        return "NumPy's sum() has this order"
    if left := exit_words(loop):
        return left
    for kind, word in ((ast.Break, "break"), (ast.Return, "return")):
        if any(may_leave(s, (kind,)) for s in loop.body):
            return f"a {word} may end it"
    return "only the nest knows how many rounds it takes"


def exit_words(loop: ast.AST) -> str:
    """Where it leaves a round to Python."""
    exits = [n for n in nodes_in([loop]) if number_of_exit(n)]
    lines = [n.lineno for n in exits if isinstance(n, ast.Break)]
    return f"Python runs line{'s' * (len(lines) > 1)} {_listed(lines)}" if lines else ""


def _listed(lines: Sequence[int]) -> str:
    return " and ".join(map(str, lines))


def is_draw(node: ast.AST) -> bool:
    """Whether it is a call that draws random numbers."""
    callee = node.func if isinstance(node, ast.Call) else None
    return getattr(callee, "attr", getattr(callee, "id", None)) in FUNCTIONS


def written(node: ast.AST) -> str:
    """As in the program: variables of functions in place of their calls have longer names."""
    text = re.sub(rf"\[[^\[\]]+{COUNT}\]", ".append()", ast.unparse(node))
    return re.sub(r"@[\d.:]+", "", text)


def others_of(site: Site) -> str:
    """Of the calls that did not run compiled."""
    if not site.doubt:
        return ""
    count, doubt = site.calls_as_python, site.doubt.replace(DOT, ".")
    return f"; of {site.calls + count} calls {count} ran as Python: {doubt}"


def words_of(verdict: tuple[Any, ...], positions: list[tuple[int, int, ast.AST]]) -> str:
    """ "serial: u[i, j] (5:13) reads what an earlier iteration wrote: u[i, j-1] (5:24)" """
    _, kind, reason, at_run_time, source, sink, dependence, _, is_swept = verdict
    text = _KINDS[kind]
    if kind >= 2 and reason == 1 and 0 <= source < len(positions) and 0 <= sink < len(positions):
        if all(is_draw(positions[k][2]) for k in (source, sink)):
            return f"{text}: {IN_TURN}"
        first, second = (
            f"{written(node)} ({line}:{column})"
            for line, column, node in (positions[source], positions[sink])
        )
        if dependence == 2:
            text += f": {second} writes what an earlier iteration wrote by {first}"
        else:
            text += f": {second} {_DEPENDENCES[dependence]} by {first}"
    elif kind >= 2 and _REASONS[reason]:
        text += f": {_REASONS[reason]}"
    text += " (decided at run time)" if at_run_time else ""
    return text + ("; where the arrays are large, several rounds in one sweep" if is_swept else "")
