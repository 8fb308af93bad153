"""kernel_programs.py: random programs of kernels over overlapping views, and what runs them.

A program is a list of plain tuples; what they name is taken modulo what there is, so that a step
can be left out and the rest still makes a program, which is what shrinking needs. The oracle runs
the same workunits as the Python they are, point after point, on NumPy arrays.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

import frit
import frit.pykokkos as pk
from frit import _core

REACH = 2  # kernels read up to this far behind their own index
KERNELS, REDUCTIONS, PLANES, INDEXED = 10, 4, 4, 4
MANY = 150_000  # points of a scatter: enough for parts
SCATTERS = {"add": numpy.add, "sub": numpy.subtract, "min": numpy.minimum, "max": numpy.maximum}

# ---- random workunits ---------------------------------------------------------------------------


class _Body:
    """Source text of workunits of one or two indices."""

    def __init__(self, rng: random.Random, plane: bool) -> None:
        self.rng = rng
        self.plane = plane
        self.plain = rng.random() < 0.75  # its points are independent, where its views are
        self.locals: list[str] = []

    def index(self, stores: bool) -> str:
        rng = self.rng
        if self.plain and (stores or rng.random() < 0.96):
            return "[i][j]" if self.plane else "[i]"
        if self.plane:
            rows, columns = ("i", "j") if rng.random() < 0.85 else ("j", "i")
            if not stores and rng.random() < 0.4:
                rows += f" + {rng.randint(1, REACH)}"
            if rng.random() < 0.2:
                columns += " + 1"
            return f"[{rows}][{columns}]"
        draw = rng.random()
        if draw < 0.55:
            return "[i]"
        if draw < 0.8:
            return f"[i + {rng.randint(1, REACH)}]"
        if draw < 0.9:
            return "[k - i]"
        return rng.choice(["[0]", "[k]"]) if not stores or draw > 0.97 else "[i]"

    def view(self) -> str:
        return self.rng.choice("abc")

    def value(self, depth: int = 2) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.25:
            leaf = rng.random()
            if leaf < 0.6:
                return self.view() + self.index(False)
            if leaf < 0.7 and self.locals:
                return rng.choice(self.locals)
            return rng.choice(["x", "i", "2", "-3", "1"] + (["j"] if self.plane else []))
        left, right = self.value(depth - 1), self.value(depth - 1)
        draw = rng.random()
        if draw < 0.75:
            return f"({left} {rng.choice('++-*')} {right})"
        if draw < 0.9:
            return f"pk.{rng.choice(['min', 'max'])}({left}, {right})"
        return f"({left} if {self.condition()} else {right})"

    def condition(self) -> str:
        rng = self.rng
        place = rng.choice(["i", "j"]) if self.plane else "i"
        simple = f"{place} {rng.choice(['<', '>=', '=='])} {rng.randint(0, 9)}"
        return simple if rng.random() < 0.6 else f"{self.value(0)} < {self.value(0)}"

    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        draw = rng.random()
        if draw < 0.5 or depth == 0:
            update = rng.choice(["=", "=", "=", "+="])
            return [f"{self.view()}{self.index(True)} {update} {self.value()}"]
        if draw < 0.65:
            name = f"t{len(self.locals)}"
            text = [f"{name} = {self.value()}"]
            self.locals.append(name)
            return text
        known = list(self.locals)
        if draw < 0.85:
            text = [f"if {self.condition()}:"] + self.block(depth - 1)
            self.locals = list(known)
            if rng.random() < 0.4:
                text += ["else:"] + self.block(depth - 1)
        else:
            text = [f"for r in range({rng.choice(['2', '3', 'i % 3'])}):"] + self.block(depth - 1)
        self.locals = known
        return text

    def block(self, depth: int) -> list[str]:
        lines = [line for _ in range(self.rng.randint(1, 2)) for line in self.statement(depth)]
        return ["    " + line for line in lines]


class _IndexedBody(_Body):
    """Of workunits whose indices an array decides."""

    def index(self, stores: bool) -> str:
        return self.rng.choice(["[q[i]]", "[q[i]]", "[i]"])

    def view(self) -> str:
        return self.rng.choice("ab")

    def value(self, depth: int = 2) -> str:
        return "q[i]" if self.rng.random() < 0.08 else super().value(depth)


def _source(rng: random.Random) -> str:
    text = ["import frit.pykokkos as pk", ""]
    for n in range(KERNELS + PLANES):
        body = _Body(rng, n >= KERNELS)
        indices = "i, j" if body.plane else "i"
        text += ["@pk.workunit", f"def kernel{n}({indices}, a, b, c, x, k):"]
        for _ in range(rng.randint(1, 3)):
            text += ["    " + line for line in body.statement(2)]
        text += [""]
    for n in range(INDEXED):
        body = _IndexedBody(rng, False)
        text += ["@pk.workunit", f"def indexed{n}(i, a, b, q, x):"]
        for _ in range(rng.randint(1, 2)):
            text += ["    " + line for line in body.statement(1)]
        text += ["    b[i] += 1", ""]  # what stores nothing is not run
    for name in SCATTERS:
        text += ["@pk.workunit", f"def scatter_{name}(i, a, q, w, x):", "    if w[i] > x:"]
        text += [f"        pk.atomic_fetch_{name}(a, [q[i]], w[i])", ""]
    for n in range(REDUCTIONS):
        body = _Body(rng, False)
        text += ["@pk.workunit", f"def reduction{n}(i, acc, a, b, c, x, k):"]
        if rng.random() < 0.4:
            text += ["    " + line for line in body.statement(1)]
        text += [f"    acc += {body.value()}", ""]
    return "\n".join(text)


def workunits(seed: int, folder: Path) -> Any:
    """A module of random workunits."""
    path = folder / f"workunits_{seed}.py"
    path.write_text(_source(random.Random(seed)))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- programs -----------------------------------------------------------------------------------

Step = tuple[Any, ...]
_STEPS = {
    "for": 60, "plane": 8, "reduce": 12, "view": 10, "array": 1, "part": 7, "drop": 6, "read": 3,
    "item": 2, "fill": 3, "copy": 3, "numpy": 5, "number": 2, "indexed": 12, "index": 4,
    "scatter": 1,
}  # fmt: skip


def program(seed: int) -> tuple[int, str, list[Step]]:
    """The number of points, the type of the views, and the steps."""
    rng = random.Random(seed)
    n = rng.choice([1, 4, 9, 30])
    steps: list[Step] = [("view",)] * 5 + [("part", 0, 0, 1)]
    names, weights = list(_STEPS), list(_STEPS.values())
    for _ in range(rng.randint(5, 25)):
        name = rng.choices(names, weights)[0]
        steps.append((name, *(rng.randint(0, 999) for _ in range(8))))
    return n, rng.choice(["float64", "float64", "int64"]), steps


class Run:
    """Runs a program's steps; what it sees on the way is kept in `seen`."""

    def __init__(self, module: Any, n: int, dtype: str) -> None:
        self.module = module
        self.n = n
        self.length = n + REACH + 1  # of all views; windows lie in bases of three times that
        self.dtype = dtype
        self.views: list[Any] = []
        self.planes: list[Any] = []
        self.bases: list[Any] = []
        self.numbers: list[Any] = []
        self.places: list[Any] = []  # arrays of indices
        self.seen: list[Any] = []
        self.made = 0

    # What the oracle does in another way:

    def new(self, values: Any) -> Any:
        view = pk.View(values.shape, pk.double if self.dtype == "float64" else pk.int64)
        view[:] = values
        return view

    def launch(self, function: Callable[..., Any], ranges: Any, arguments: Any) -> None:
        if len(ranges) == 1:
            pk.parallel_for(pk.RangePolicy(*ranges[0]), function, **arguments)
        else:
            pk.parallel_for(
                pk.MDRangePolicy([r[0] for r in ranges], [r[1] for r in ranges]),
                function,
                **arguments,
            )

    def launch_indexed(self, function: Callable[..., Any], points: Any, arguments: Any) -> None:
        self.launch(function, [points], arguments)

    def scatter(self, name: str, arguments: Any) -> None:
        self.launch(getattr(self.module, f"scatter_{name}"), [(0, MANY)], arguments)

    def new_places(self, values: Any) -> Any:
        view = pk.View(values.shape, pk.int64)
        view[:] = values
        return view

    def reduce(self, function: Callable[..., Any], points: Any, arguments: Any) -> Any:
        return pk.parallel_reduce(pk.RangePolicy(*points), function, **arguments)

    def sum_of(self, a: Any, b: Any) -> Any:
        return pk.add(a, pk.multiply(b, 2))

    def values(self, view: Any) -> Any:
        return numpy.array(view.data if isinstance(view, pk.ViewType) else view)

    # ---- steps ----

    def fresh(self, shape: Any) -> Any:
        self.made += 1
        values = numpy.random.RandomState(self.made).randint(-4, 5, shape)
        return values.astype(self.dtype)

    def run(self, steps: list[Step]) -> list[Any]:
        with numpy.errstate(all="ignore"):
            for step in steps:
                getattr(self, "do_" + step[0])(*step[1:])
            self.seen.append([self.values(v) for v in self.bases + self.planes])
            self.seen.append([float(x) for x in self.numbers])
        return self.seen

    def view_number(self, k: int) -> Any:
        return self.views[k % len(self.views)]

    def points(self, a: int, b: int) -> tuple[int, int]:
        if a % 5:
            return 0, self.n
        low, high = sorted((a % (self.n + 1), b % (self.n + 1)))
        return low, high

    def number(self, k: int) -> Any:
        if self.numbers and k % 3 == 0 and self.dtype == "float64":
            return self.numbers[k % len(self.numbers)]
        return [0.5, -2.0, 3][k % 3] if self.dtype == "float64" else k % 5 - 2

    def arguments(self, pool: list[Any], a: int, b: int, c: int, x: int) -> dict[str, Any]:
        if b % 4:  # one another's neighbours: seldom the same memory
            b, c = a + 1 + b % 2, a + 3 + c % 2
        given = {name: pool[k % len(pool)] for name, k in zip("abc", (a, b, c), strict=True)}
        return {**given, "x": self.number(x), "k": self.n}

    def do_for(self, f: int, a: int, b: int, c: int, x: int, lo: int, hi: int, _: int) -> None:
        if self.views:
            function = getattr(self.module, f"kernel{f % KERNELS}")
            points = [self.points(lo, hi)]
            self.launch(function, points, self.arguments(self.views, a, b, c, x))

    def do_index(self, which: int, how: int, k: int, value: int, *_: int) -> None:
        """Makes an array of indices, or changes one: seldom to what is outside of the views."""
        if not self.places or how % 4 == 0 and len(self.places) < 3:
            self.made += 1
            draw = numpy.random.RandomState(self.made)
            self.places.append(self.new_places(draw.randint(0, self.length, self.n)))
            return
        places = self.places[which % len(self.places)]
        value = value % self.length if value % 7 else self.length * (-1) ** k
        if how % 4 == 1:
            places[k % self.n] = value
        elif how % 4 == 2:
            places[0 : 1 + k % self.n] = value
        else:
            places[:] = self.new_places(numpy.roll(self.values(places), k))

    def do_indexed(self, f: int, a: int, b: int, q: int, x: int, lo: int, hi: int, _: int) -> None:
        if not self.views:
            return
        if not self.places:
            self.do_index(0, 0, 0, 0)
        given = {"a": self.view_number(a), "b": self.view_number(b), "x": self.number(x)}
        given["q"] = self.places[q % len(self.places)]
        function = getattr(self.module, f"indexed{f % INDEXED}")
        try:
            self.launch_indexed(function, self.points(lo, hi), given)
        except IndexError:
            self.seen.append(["outside"])

    def do_scatter(self, which: int, a: int, x: int, *_: int) -> None:
        """Many points update few elements, in an order of Frit's choice: so the sums are exact."""
        if not self.views:
            return
        self.made += 1
        draw = numpy.random.RandomState(self.made)
        places = self.new_places(draw.randint(0, self.length, MANY))
        weights = self.new(draw.randint(-4, 5, MANY).astype(self.dtype))
        name = list(SCATTERS)[which % len(SCATTERS)]
        given = {"a": self.view_number(a), "q": places, "w": weights, "x": x % 9 - 5}
        given["a"][:] = x % 5 - 2  # small: exact
        self.scatter(name, given)

    def do_plane(self, f: int, a: int, b: int, c: int, x: int, lo: int, hi: int, _: int) -> None:
        if not self.planes or a % 4 == 0 and len(self.planes) < 3:
            self.planes.append(self.new(self.fresh((self.length, self.length))))
        function = getattr(self.module, f"kernel{KERNELS + f % PLANES}")
        ranges = [self.points(lo, hi), (0, self.n)]
        self.launch(function, ranges, self.arguments(self.planes, a, b, c, x))

    def do_reduce(self, f: int, a: int, b: int, c: int, x: int, lo: int, hi: int, _: int) -> None:
        if self.views:
            function = getattr(self.module, f"reduction{f % REDUCTIONS}")
            arguments = self.arguments(self.views, a, b, c, x)
            self.numbers.append(self.reduce(function, self.points(lo, hi), arguments))

    def do_view(self, *_: int) -> None:
        self.bases.append(self.new(self.fresh((3 * self.length,))))
        self.views.append(self.bases[-1][0 : self.length])

    def do_array(self, *_: int) -> None:
        """Memory that is NumPy's."""
        self.bases.append(self.fresh((3 * self.length,)))
        self.views.append(self.bases[-1][: self.length])

    def do_part(self, base: int, start: int, step: int, *_: int) -> None:
        if self.bases:
            base = base % len(self.bases)
            step = 1 + step % 2
            start = start % (3 * self.length - step * (self.length - 1))
            start = start % 4 if start % 3 else start  # close together: they overlap
            self.views.append(self.bases[base][start : start + step * (self.length - 1) + 1 : step])

    def do_drop(self, which: int, base: int, *_: int) -> None:
        if self.views:
            self.views.pop(which % len(self.views))
        if self.bases and base % 3 == 0:
            self.bases.pop(base % len(self.bases))  # its windows live on

    def do_read(self, which: int, *_: int) -> None:
        if self.views:
            self.seen.append(self.values(self.view_number(which)))

    def do_item(self, which: int, k: int, *_: int) -> None:
        if self.views:
            self.seen.append(float(self.view_number(which)[k % self.length]))

    def do_fill(self, which: int, x: int, *_: int) -> None:
        if self.views:
            self.view_number(which)[:] = x % 5 - 2

    def do_copy(self, a: int, b: int, *_: int) -> None:
        if self.views:
            target, source = self.view_number(a), self.view_number(b)
            if isinstance(target, numpy.ndarray) and isinstance(source, numpy.ndarray):
                source = source.copy()  # x[0:11:2] = x[0:6]: NumPy itself overwrites what it reads
            target[:] = source

    def do_numpy(self, a: int, b: int, *_: int) -> None:
        pairs = [v for v in self.views if isinstance(v, pk.ViewType)] or None
        if pairs and len(self.views) < 12:
            self.views.append(self.sum_of(pairs[a % len(pairs)], pairs[b % len(pairs)]))

    def do_number(self, k: int, *_: int) -> None:
        if self.numbers:
            self.seen.append(float(self.numbers[k % len(self.numbers)]))


class _Made(numpy.ndarray):
    """The oracle's arrays that stand for views."""


class _Strict:
    """An array that takes no index from the end."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @classmethod
    def of(cls, value: Any) -> Any:
        return cls(value.view(numpy.ndarray)) if isinstance(value, numpy.ndarray) else value

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            raise IndexError(index)
        return self.array[index]

    def __setitem__(self, index: int, value: Any) -> None:
        if index < 0:
            raise IndexError(index)
        self.array[index] = value


class Oracle(Run):
    """The same steps in plain Python."""

    def new(self, values: Any) -> Any:
        return values.view(_Made)

    def launch(self, function: Callable[..., Any], ranges: Any, arguments: Any) -> None:
        plain = {k: self.plain(v) for k, v in arguments.items()}
        inner = range(*ranges[1]) if len(ranges) > 1 else None
        for i in range(*ranges[0]):
            if inner is None:
                function(i, **plain)
            else:
                for j in inner:
                    function(i, j, **plain)

    def launch_indexed(self, function: Callable[..., Any], points: Any, arguments: Any) -> None:
        """All of it or, where an index is bad, nothing."""
        arrays = [v for v in arguments.values() if isinstance(v, numpy.ndarray)]
        before = [array.copy() for array in arrays]
        try:
            for i in range(*points):
                function(i, **{k: _Strict.of(v) for k, v in arguments.items()})
        except IndexError:
            for array, old in zip(arrays, before, strict=True):
                array[:] = old
            raise

    def scatter(self, name: str, arguments: Any) -> None:
        view, places, weights, least = (self.plain(v) for v in arguments.values())
        chosen = weights > least
        SCATTERS[name].at(view, places[chosen], weights[chosen])

    def new_places(self, values: Any) -> Any:
        return values.astype("int64")

    def reduce(self, function: Callable[..., Any], points: Any, arguments: Any) -> Any:
        plain = {k: self.plain(v) for k, v in arguments.items()}
        values = []
        for i in range(*points):
            acc = pk.Acc(0.0)
            function(i, acc, **plain)
            values.append(float(acc.val))
        return numpy.sum(numpy.array(values, "float64"))  # NumPy's order

    @staticmethod
    def plain(value: Any) -> Any:
        return value.view(numpy.ndarray) if isinstance(value, numpy.ndarray) else value

    def sum_of(self, a: Any, b: Any) -> Any:
        return a + b * 2

    def values(self, view: Any) -> Any:
        return numpy.array(view)

    def do_numpy(self, a: int, b: int, *_: int) -> None:
        pairs = [v for v in self.views if isinstance(v, _Made)]
        if pairs and len(self.views) < 12:
            self.views.append(self.sum_of(pairs[a % len(pairs)], pairs[b % len(pairs)]))


# ---- comparing ----------------------------------------------------------------------------------


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, str) or isinstance(b, str):
        return a is b
    return numpy.array_equal(a, b, equal_nan=True)


def outcome(run: Run, steps: list[Step], fusion: str, tier: str) -> list[Any]:
    """What a program sees under these settings."""
    frit.eval()
    _core.set_fusion(fusion)
    _core.set_tier(tier)
    try:
        return run.run(steps)
    finally:
        frit.eval()
        _core.set_fusion("on")
        _core.set_tier("automatic")


def differs(module: Any, drawn: tuple[int, str, list[Step]], modes: list[Any]) -> Any:
    """The first mode whose outcome is not the oracle's; None: all are."""
    n, dtype, steps = drawn
    expected = Oracle(module, n, dtype).run(steps)
    for mode in modes:
        if not _same(expected, outcome(Run(module, n, dtype), steps, *mode)):
            return mode
    return None


def shrunk(module: Any, drawn: tuple[int, str, list[Step]], mode: Any) -> list[Step]:
    """The steps without those that the difference does not need."""
    n, dtype, steps = drawn
    k = len(steps) - 1
    while k >= 0:
        fewer = steps[:k] + steps[k + 1 :]
        try:
            if differs(module, (n, dtype, fewer), [mode]):
                steps = fewer
        except Exception:  # noqa: BLE001  another failure is no smaller one of this
            pass
        k -= 1
    return steps
