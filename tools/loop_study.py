"""loop_study.py: how many `for` loops of Python programs could run in parallel, and why not more.

Usage: loop_study.py [--reasons N] [NAME=]PATH..       a file, a notebook or a folder each
       loop_study.py --installed                        the standard library, and each package

Each loop goes through the loop door's own stages: what a nest may hold (rewrite.py), its
translation (nest.py) and the dependence analysis. What an array is can't be seen in a text, so
whatever a loop indexes counts as an array, with as many axes as it has indices there, of integers
where its elements are indices themselves, else of floats; other names are numbers.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import collections
import json
import math
import site
import sys
import sysconfig
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from frit import _core
from frit.loops.find.implicit import codes_by_place
from frit.loops.find.rewrite import Rewriter
from frit.loops.find.trees import trees_of_text
from frit.loops.names import assigned_names, copied, nodes_in
from frit.loops.nest.translation import Inputs
from frit.loops.nest.values import Refused
from frit.loops.run.attributes import DOT, uses_of
from frit.loops.run.place import Place
from frit.loops.run.site import Refusal, translated

KINDS = ("parallel", "reduction", "scan", "serial", "serial")  # a wavefront has serial loops
COLUMNS = ("loops", "parallel", "at run time", "reduction", "scan", "serial", "Python")
EXTENT = 8
ARRAY_ATTRIBUTES = ("shape", "size", "ndim")
MODULES = {"numpy": np, "math": math}


@dataclass
class Study:
    """Counts of loops, by what became of them."""

    files: int = 0
    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    reasons: collections.Counter[str] = field(default_factory=collections.Counter)
    serial: collections.Counter[str] = field(default_factory=collections.Counter)

    def add(self, other: Study) -> None:
        self.files += other.files
        self.counts.update(other.counts)
        self.reasons.update(other.reasons)
        self.serial.update(other.serial)

    def row(self, name: str) -> str:
        return f"| {name} | {self.files:,} | " + " | ".join(
            f"{self.counts[c]:,}" for c in COLUMNS
        ) + " |"  # fmt: skip


class Names(ast.NodeVisitor):
    """How a nest uses its names."""

    def __init__(self, node: ast.For) -> None:
        self.ranks: dict[str, int] = {}
        self.integers: set[str] = set()
        self.called: set[str] = set()
        self.owners: set[str] = set()  # of attributes that no array has
        self.visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        count, at = 0, node
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            count += len(base.slice.elts) if isinstance(base.slice, ast.Tuple) else 1
            at, base = base, base.value
            self.note_integers(at.slice)
            self.visit(at.slice)
        if isinstance(base, ast.Name):
            self.ranks[base.id] = max(count, self.ranks.get(base.id, 0))
        else:
            self.visit(base)

    def note_integers(self, node: ast.AST) -> None:
        if isinstance(node, ast.Attribute) or _is_len(node):
            return
        if isinstance(node, ast.Name):
            self.integers.add(node.id)
        for part in ast.iter_child_nodes(node):
            self.note_integers(part)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.attr in ARRAY_ATTRIBUTES:
            self.ranks.setdefault(node.value.id, 1)
        elif isinstance(node.value, ast.Name):
            self.owners.add(node.value.id)
        else:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name):
            self.called.add(node.func.id)
            if node.func.id == "range":
                for part in node.args:
                    self.note_integers(part)
            if node.func.id == "len" and node.args and isinstance(node.args[0], ast.Name):
                self.ranks.setdefault(node.args[0].id, 1)
        else:
            self.visit(node.func)
        for part in [*node.args, *(k.value for k in node.keywords)]:
            self.visit(part)

    def visit_For(self, node: ast.For) -> None:
        over = node.iter
        arguments = over.args if isinstance(over, ast.Call) else [over]
        if not isinstance(over, ast.Call) or getattr(over.func, "id", "") != "range":
            for part in arguments:
                if isinstance(part, ast.Name):
                    self.ranks.setdefault(part.id, 1)
        self.generic_visit(node)


class Objects(ast.NodeTransformer):
    """Attributes of what must be objects, as variables; methods are refused."""

    def __init__(self, owners: set[str]) -> None:
        self.owners = owners
        self.names: dict[str, None] = {}

    @property
    def own(self) -> list[str]:
        """Right below the one object."""
        return [n for n in self.names if n.count(DOT) == 1 and len(self.owners) == 1]

    def visit_Call(self, node: ast.Call) -> ast.Call:
        base: ast.expr = node.func
        while isinstance(base, ast.Attribute):
            base = base.value
        if base is not node.func and isinstance(base, ast.Name) and base.id in self.owners:
            raise Refused(node, "a method of an object")
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        names: list[str] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            names.insert(0, base.attr)
            base = base.value
        if not isinstance(base, ast.Name) or base.id not in self.owners:
            self.generic_visit(node)
            return node
        of_array = names.pop() if names[-1] in ARRAY_ATTRIBUTES and len(names) > 1 else ""
        name = DOT.join([base.id, *names])
        self.names[name] = None
        if of_array:
            return ast.copy_location(
                ast.Attribute(ast.Name(name, ast.Load()), of_array, node.ctx), node
            )
        return ast.copy_location(ast.Name(name, node.ctx), node)


def _is_len(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len"


def imported(tree: ast.Module) -> dict[str, Any]:
    """Names of NumPy, math, and what is taken from them."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in MODULES:
                    found[alias.asname or alias.name] = MODULES[alias.name]
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES and not node.level:
            for alias in node.names:
                value = getattr(MODULES[node.module], alias.name, None)
                if callable(value):
                    found[alias.asname or alias.name] = value
    return found


class FileStudy:
    """The loops of a text."""

    def __init__(self, text: str, name: str) -> None:
        self.found = Study(files=1)
        tree = ast.parse(text, name)
        code = compile(text, name, "exec", dont_inherit=True)
        self.surroundings = imported(tree)
        loops = [n for n in ast.walk(tree) if isinstance(n, ast.For)]
        every = {_key(n): n for n in loops}
        self.results: dict[tuple[int, int], tuple[str, str]] = {}
        rewriter = Rewriter(trees_of_text(text, code), codes_by_place(code))
        rewriter.module(tree, code, nodes_in([tree]))
        for loop, _, why in rewriter.refused:
            self.results[_key(loop)] = "Python", why
        for place in sorted(rewriter.places, key=lambda p: _key(p.node)):
            if _key(place.node) not in self.results:
                self.judge(place)
        for key in every:
            kind, why = self.results.get(
                key, ("Python", "it stands in a class, a case or an async statement")
            )
            self.count(kind, why)

    def count(self, kind: str, why: str) -> None:
        self.found.counts["loops"] += 1
        self.found.counts[kind] += 1
        if kind == "Python":
            self.found.reasons[generally(why)] += 1
        elif kind == "serial":
            self.found.serial[why] += 1

    def judge(self, place: Place) -> None:
        try:
            translation, verdicts = self.analysed(place)
        except Refused as refused:
            self.results[_key(place.node)] = "Python", refused.reason
            return
        loops = translation.text().loops
        same = len(verdicts) == len(loops)
        for k, loop in enumerate(loops):
            if not isinstance(loop, ast.For):
                continue
            verdict = verdicts[k] if same else verdicts[0]
            kind = KINDS[verdict[1]]
            if kind == "parallel" and verdict[3]:
                kind = "at run time"
            reason = _SERIAL[verdict[2]] if kind == "serial" else ""
            self.results[_key(loop)] = kind, reason

    def analysed(self, place: Place) -> tuple[Any, list[Any]]:
        """Translates the nest for values as its text suggests them, and has it judged."""
        node, given_names, outputs = place.node, [*place.passed, *place.outside], place.outputs
        owners = Names(node).owners - self.surroundings.keys()
        if owners:
            objects = Objects(owners - uses_of(nodes_in([node]))[1])
            node = objects.visit(copied(node))
            stored = assigned_names([node]) & objects.names.keys()
            if stored and len(objects.names) > len(objects.own):
                raise Refused(node, "an object that another one may be")
            given_names = [n for n in given_names if n not in objects.owners] + [*objects.names]
            outputs = [*outputs, *sorted(stored)]
        use = Names(node)
        names, values, surroundings = [], [], {}
        for name in given_names:
            if name in self.surroundings:
                surroundings[name] = self.surroundings[name]
            elif name in use.called:
                value = getattr(builtins, name, None)
                if value is None:
                    raise Refused(place.node, "a call of the program's own function")
                surroundings[name] = value
            elif name in use.owners:
                raise Refused(place.node, "an object, or an attribute of something else")
            else:
                names.append(name)
                values.append(self.value(name, use))
        given = tuple(values)
        inputs = Inputs(
            node,
            names,
            given,
            _core.loop_key(given),
            outputs,
            surroundings,
            frozenset(o for o in outputs if o not in names),
        )
        try:
            translation, inputs = translated(inputs, [], [], [])
        except Refusal as refused:
            raise Refused(place.node, refused.reason) from None
        nest = _core.LoopNest(translation.kernel, translation.results)
        return translation, nest.verdicts(inputs.values, translation.failing)

    @staticmethod
    def value(name: str, use: Names) -> Any:
        rank = use.ranks.get(name, 0)
        if rank:
            return np.ones((EXTENT,) * min(rank, 8), int if name in use.integers else float)
        return EXTENT if name in use.integers else 1.5


_SERIAL = (
    "",
    "an iteration reads or writes what another one writes",
    "a variable carries a value from one iteration to the next",
    "memory may be shared",
    "the analysis gave up",
    "nobody knows how many rounds it takes",
)


def _key(node: ast.For) -> tuple[int, int]:
    return node.lineno, node.col_offset


def generally(why: str) -> str:
    """A reason without the names in it."""
    for start, words in _GENERAL.items():
        if start in why:
            return words
    return why


_GENERAL = {
    "another function's": "a variable of another function",
    "may have no value": "a variable that may have no value",
    "a call of": "a call of a function that is not translated",
    "the attribute": "an object, or an attribute of something else",
    "of several types": "a variable of several types",
    "of two types": "a variable of several types",
    "the constant": "a constant that is no number",
    "indices for": "a whole row where an element is wanted, or the reverse",
    "it is not certain": "what the guard asks for does not hold",
}


def text_of(path: Path) -> str:
    """The program; a notebook's cells one after another."""
    if path.suffix != ".ipynb":
        with tokenize.open(path) as file:
            return file.read()
    cells = json.loads(path.read_text())["cells"]
    lines = [
        line.rstrip("\n")
        for cell in cells
        if cell["cell_type"] == "code"
        for line in [*_lines(cell["source"]), ""]
    ]
    return "\n".join("" if line.lstrip()[:1] in ("%", "!") else line for line in lines)


def _lines(source: str | list[str]) -> list[str]:
    return source.splitlines() if isinstance(source, str) else source


def files_of(path: Path, skip: frozenset[str] = frozenset()) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for found in sorted(path.rglob("*")):
        if found.suffix in (".py", ".ipynb") and not skip & set(found.relative_to(path).parts):
            yield found


def study(path: Path, skip: frozenset[str] = frozenset()) -> Study:
    total = Study()
    for file in files_of(path, skip):
        try:
            total.add(FileStudy(text_of(file), str(file)).found)
        except (SyntaxError, ValueError, KeyError, RecursionError, UnicodeDecodeError):
            print(f"{file}: not read", file=sys.stderr)
    return total


def installed() -> Iterator[tuple[str, Path, frozenset[str]]]:
    standard = Path(sysconfig.get_paths()["stdlib"])
    yield "standard library", standard, frozenset(["site-packages", "test", "tests"])
    for folder in map(Path, site.getsitepackages()):
        for package in sorted(folder.iterdir()):
            if (package / "__init__.py").exists() and package.name != "frit":
                yield package.name, package, frozenset()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--installed", action="store_true")
    parser.add_argument("--least", type=int, default=1, help="loops of a row that aren't Python")
    parser.add_argument("--reasons", type=int, default=15, help="how many reasons are listed")
    options = parser.parse_args()
    asked = []
    for word in options.paths:
        name, _, path = word.rpartition("=")
        asked.append((name or path, Path(path), frozenset()))
    named = len(asked)
    if options.installed:
        asked += installed()
    warnings.simplefilter("ignore")
    total, rest = Study(), Study()
    print(f"| where | files | {' | '.join(COLUMNS)} |")
    print("|---|" + "--:|" * (len(COLUMNS) + 1))
    for number, (name, path, skip) in enumerate(asked):
        found = study(path, skip)
        total.add(found)
        if number >= named and found.counts["loops"] - found.counts["Python"] < options.least:
            rest.add(found)
        else:
            print(found.row(name), flush=True)
    if rest.files:
        print(rest.row("others"))
    if len(asked) > 1:
        print(total.row("all"))
    for title, counts in (("Python", total.reasons), ("serial", total.serial)):
        print(f"\n| why a loop stays {title} | loops |\n|---|--:|")
        for why, count in counts.most_common(options.reasons):
            print(f"| {why} | {count:,} |")


if __name__ == "__main__":
    main()
