"""_intrinsics.py: what pk's names mean inside kernels: teams, atomics, printf, scratch."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from frit import _core
from frit import numpy as lazy
from frit.pykokkos import _atomics, _functions, _hierarchy, _policies, _views
from frit.pykokkos._reducers import SUM, Reducer, reducer_of
from frit.translate.rules import FUNCTIONS
from frit.translate.values import (
    NONE,
    Inner,
    Literal,
    Marker,
    Method,
    Number,
    Object,
    Place,
    Span,
    Struct,
    ViewPart,
)

# By id of an object, or by "method name".
TABLE: dict[Any, Callable[..., Any]] = {}
Walker = Any


# ---- what a launch makes for itself -------------------------------------------------------------


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel that takes hidden arrays."""

    walker: Walker
    policy: Any
    values: tuple[Any, ...]


def hidden_parameter(
    walker: Walker, dtype: str, rank: int, name: str, make: Callable[[Launch], Any]
) -> int:
    """The number of an array parameter that no argument gives: each launch makes it."""
    parameter = walker.writer.parameter(dtype, rank)
    walker.hidden.append(make)
    walker.environment.parameters.append(-len(walker.hidden))
    walker.environment.names.append(name)
    return parameter


def store_at_point(walker: Walker, node: ast.AST, rank: int, value: Number) -> None:
    """Keeps a number of each point in a hidden array of the launch's shape."""

    def make(launch: Launch) -> Any:
        return lazy.empty(_policies.extents(launch.policy)[:rank], value.dtype)

    parameter = hidden_parameter(walker, value.dtype, rank, "reduction", make)
    axes = tuple(Number(axis, "l") for axis in range(rank))
    walker.store(node, ViewPart(parameter, value.dtype, axes), value)


def intrinsic(*objects: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Marks what a call of these objects (or, for strings, methods of a team) means."""

    def mark(handler: Callable[..., Any]) -> Callable[..., Any]:
        for found in objects:
            TABLE["method " + found if isinstance(found, str) else id(found)] = handler
        return handler

    return mark


# ---- teams --------------------------------------------------------------------------------------


def needs_threads(node: ast.AST, accumulators: list[str]) -> bool:
    """Whether a team of several threads differs from a team of one.

    So it is where the body asks for its thread's number (but to compare it with 0) or for the size
    of the team, or adds to an accumulator outside of single(..) and `if team_rank() == 0`.
    """
    guarded = {
        id(inner)
        for outer in ast.walk(node)
        if isinstance(outer, ast.If)
        and _is_first_thread(outer.test)
        or isinstance(outer, ast.FunctionDef)
        and outer is not node
        for inner in ast.walk(outer)
    }
    first = {
        id(inner)
        for outer in ast.walk(node)
        if isinstance(outer, ast.expr) and _is_first_thread(outer)
        for inner in ast.walk(outer)
    }
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and id(inner) not in first:
            if inner.attr in ("team_rank", "team_size"):
                return True
        if isinstance(inner, ast.AugAssign) and id(inner) not in guarded:
            if isinstance(inner.target, ast.Name) and inner.target.id in accumulators:
                return True
    return False


def _is_first_thread(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Call)
        and isinstance(node.left.func, ast.Attribute)
        and node.left.func.attr == "team_rank"
        and len(node.ops) == 1
        and isinstance(node.ops[0], ast.Eq)
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value == 0
    )


@intrinsic("league_rank")
def _league_rank(walker: Walker, node: ast.Call, team: Marker) -> Any:
    return team.data[0]


@intrinsic("team_rank")
def _team_rank(walker: Walker, node: ast.Call, team: Marker) -> Any:
    return team.data[1]


@intrinsic("team_size")
def _team_size(walker: Walker, node: ast.Call, team: Marker) -> Any:
    return team.data[2]


@intrinsic("league_size")
def _league_size(walker: Walker, node: ast.Call, team: Marker) -> Any:
    return team.data[3]


@intrinsic("team_barrier")
def _team_barrier(walker: Walker, node: ast.Call, team: Marker) -> Any:
    if isinstance(team.data[1], Number):
        raise walker.refuse(
            node,
            "team_barrier() where each thread has its own number",
            "use TeamThreadRange, or a launch for each side of the barrier",
        )
    return NONE


@intrinsic("team_scratch", "thread_scratch")
def _team_scratch(walker: Walker, node: ast.Call, team: Marker) -> Any:
    return Marker("scratch", (team,))


def _team_of(walker: Walker, node: ast.Call) -> tuple[Marker, list[Any]]:
    values = walker.arguments(node)
    if not values or not isinstance(values[0], Marker) or values[0].kind != "team":
        raise walker.refuse(node, "a range without a team member", "give the team member first")
    return values[0], values[1:]


def _range(walker: Walker, node: ast.Call, kind: str) -> Marker:
    team, bounds = _team_of(walker, node)
    if len(bounds) == 1:
        bounds = [Literal(0), bounds[0]]
    if len(bounds) != 2:
        raise walker.refuse(node, f"a range with {len(bounds)} bounds")
    return Marker("range", (kind, team, [tuple(bounds)]))


@intrinsic(_policies.TeamThreadRange, _policies.TeamVectorRange)
def _team_thread_range(walker: Walker, node: ast.Call) -> Marker:
    return _range(walker, node, "threads")


@intrinsic(_policies.ThreadVectorRange)
def _thread_vector_range(walker: Walker, node: ast.Call) -> Marker:
    return _range(walker, node, "lanes")


@intrinsic(_policies.TeamThreadMDRange)
def _team_thread_md_range(walker: Walker, node: ast.Call) -> Marker:
    team, counts = _team_of(walker, node)
    return Marker("range", ("threads", team, [(Literal(0), count) for count in counts]))


@intrinsic(_hierarchy.PerTeam)
def _per_team(walker: Walker, node: ast.Call) -> Marker:
    return Marker("once", ("team", _team_of(walker, node)[0]))


@intrinsic(_hierarchy.PerThread)
def _per_thread(walker: Walker, node: ast.Call) -> Marker:
    return Marker("once", ("thread", _team_of(walker, node)[0]))


@intrinsic(_hierarchy.single)
def _single(walker: Walker, node: ast.Call) -> Any:
    if len(node.args) != 2:
        raise walker.refuse(node, f"single() with {len(node.args)} arguments")
    once = walker.expression(node.args[0])
    if not isinstance(once, Marker) or once.kind != "once":
        raise walker.refuse(node, "single() of this", "give PerTeam(..) or PerThread(..)")
    function = _function(walker, node.args[1])
    rank = once.data[1].data[1]
    if once.data[0] == "team" and isinstance(rank, Number):
        first = walker.apply("Equal", rank, walker.constant(0, rank.dtype))
        walker.branch(first, lambda: _call(walker, node, function, []), None)
    else:
        _call(walker, node, function, [])
    return NONE


# ---- nested launches ----------------------------------------------------------------------------


def _function(walker: Walker, node: ast.expr) -> Any:
    if isinstance(node, ast.Lambda):
        return Inner(node, walker.scope)
    found = walker.expression(node)
    if isinstance(found, (Inner, Method)) or isinstance(found, Object) and callable(found.value):
        return found
    raise walker.refuse(node, "this as a function", "define it with def inside the kernel")


def _call(walker: Walker, node: ast.Call, function: Any, values: list[Any]) -> Any:
    if isinstance(function, Inner):
        return walker.call_inner(node, function, values)
    bare = ast.copy_location(ast.Call(func=node.func, args=[], keywords=[]), node)
    if isinstance(function, Method):
        return walker.call_python(bare, function.function, values, function.owner)
    return walker.call_python(bare, function.value, values, None)


def _nest(walker: Walker, node: ast.Call) -> tuple[Marker, Any, list[Any]]:
    arguments = [
        a
        for a in node.args
        if not (isinstance(a, ast.Constant) and isinstance(a.value, (str, type(None))))
    ]
    if len(arguments) < 2 or node.keywords:
        raise walker.refuse(node, "this nested launch", "give a range and a function")
    range_ = walker.expression(arguments[0])
    if not isinstance(range_, Marker) or range_.kind != "range":
        raise walker.refuse(
            node, "a nested launch over this", "give TeamThreadRange(..) or ThreadVectorRange(..)"
        )
    rest = [walker.expression(a) for a in arguments[2:]]
    return range_, _function(walker, arguments[1]), rest


def _loop(walker: Walker, range_: Marker, body: Callable[[list[Number]], None]) -> None:
    """body(indices) for all points of the range, nested in their order."""
    kind, team, bounds = range_.data
    rank, size = team.data[1], team.data[2]

    def axis(k: int, indices: list[Number]) -> None:
        if k == len(bounds):
            body(indices)
            return
        begin, end = bounds[k]
        step: Any = Literal(1)
        if k == 0 and kind == "threads" and isinstance(rank, Number):
            # Each thread takes its share.
            begin = walker.apply("Add", walker.typed(begin, "i"), rank)
            step = size
        walker.count(begin, end, step, lambda index: axis(k + 1, [*indices, index]))

    axis(0, [])


def _nested_for(walker: Walker, node: ast.Call) -> Any:
    range_, function, _ = _nest(walker, node)
    _loop(walker, range_, lambda indices: _call(walker, node, function, list(indices)))
    return NONE


def _whole(walker: Walker, node: ast.Call, range_: Marker) -> Marker:
    """Of a reduction each thread wants the total: it computes all of it."""
    kind, team, bounds = range_.data
    return Marker("range", ("lanes", team, bounds))


def accumulator(walker: Walker, reducer: Reducer) -> tuple[Place | Struct, dict[str, Place]]:
    """The variable, and its numbers, which start at what changes nothing."""
    places = {}
    for name, (begin, dtype) in reducer.begins().items():
        places[name] = walker.local_place(dtype)
        walker.write(places[name], walker.constant(begin, dtype))
    if reducer.is_one_number:
        return places[""], places
    return Struct(reducer.annotation, dict(places)), places


def _nested_accumulator(walker: Walker, node: ast.Call, function: Any, rest: list[Any]) -> Any:
    reducer = SUM
    if isinstance(function, Inner) and len(function.node.args.args) > 1:
        annotation = function.node.args.args[-1].annotation
        reducer = reducer_of(walker.environment, walker.function_object(), annotation) or SUM
    variable, _ = accumulator(walker, reducer)
    if isinstance(variable, Struct):
        if rest:
            raise walker.refuse(node, "an initial value of this reducer")
        return variable
    start = walker.number(rest[0]) if rest else walker.constant(reducer.begin, reducer.dtype)
    walker.write(variable, start)
    return variable


def _nested_reduce(walker: Walker, node: ast.Call) -> Any:
    range_, function, rest = _nest(walker, node)
    place = _nested_accumulator(walker, node, function, rest)
    before, walker.effects = walker.effects, False

    def body(indices: list[Number]) -> None:
        result = _call(walker, node, function, [*indices, place])
        if isinstance(function, Inner) and isinstance(function.node, ast.Lambda):
            walker.write(place, walker.number(result, node))  # annotates nothing: a sum

    _loop(walker, _whole(walker, node, range_), body)
    if (
        walker.effects
        and range_.data[0] == "threads"
        and isinstance(range_.data[1].data[1], Number)
    ):
        raise walker.refuse(
            node,
            "a team's reduction that stores, where each thread has its own number",
            "store in a parallel_for",
        )
    walker.effects |= before
    return place if isinstance(place, Struct) else walker.read(place)


def _nested_scan(walker: Walker, node: ast.Call) -> Any:
    range_, function, rest = _nest(walker, node)
    place = Place(walker.writer.local("d"), "d")
    walker.write(place, walker.number(rest[0]) if rest else walker.constant(0, "d"))
    _loop(
        walker,
        _whole(walker, node, range_),
        lambda indices: _call(walker, node, function, [*indices, place, Literal(True)]),
    )
    return walker.read(place)


TABLE[id(_core.parallel_for)] = _nested_for
TABLE[id(_core.parallel_reduce)] = _nested_reduce
TABLE[id(_core.parallel_scan)] = _nested_scan


# ---- atomics ------------------------------------------------------------------------------------


def _element(walker: Walker, node: ast.Call) -> ViewPart:
    view = walker.expression(node.args[0])
    if not isinstance(view, ViewPart):
        raise walker.refuse(node, "an atomic operation on this", "give a view and its indices")
    indices = node.args[1]
    keys = indices.elts if isinstance(indices, (ast.List, ast.Tuple)) else [indices]
    part = walker.index_by(node, view, keys)
    if part.free():
        raise walker.refuse(node, f"{len(keys)} indices for {len(view.free())} axes")
    return part


def _updated(walker: Walker, name: str, x: Number, y: Number) -> Number:
    if name in ("min", "max"):
        return walker.rules.extreme(walker, name, [x, y])
    whole = x.dtype in "bBhHiIlL"
    ops = {
        "add": "Add",
        "sub": "Subtract",
        "mul": "Multiply",
        "mod": "Fmod",
        "div": "TruncateDivide" if whole else "TrueDivide",
        "and": "BitwiseAnd",
        "or": "BitwiseOr",
        "xor": "BitwiseXor",
        "lshift": "LeftShift",
        "rshift": "RightShift",
    }
    return walker.apply(ops[name], x, y)


def _atomic(name: str, count: int) -> Callable[..., Any]:
    def handler(walker: Walker, node: ast.Call) -> Any:
        if len(node.args) != count or node.keywords:
            raise walker.refuse(node, f"an atomic operation with {len(node.args)} arguments")
        part = _element(walker, node)
        bits = ("and", "or", "xor", "lshift", "rshift")
        if part.dtype not in "bBhHiIlL" and name in bits:
            raise walker.refuse(node, f"atomic {name} on a view of floats")
        value = walker.constant(1, part.dtype)
        if count == 3:
            value = walker.convert(walker.number(walker.expression(node.args[2])), part.dtype)
        before = walker.load(part)
        walker.store(node, part, _updated(walker, name, before, value))
        return before

    return handler


for _name, _fetch in _atomics.FETCHING.items():
    TABLE[id(_fetch)] = _atomic(_name, 3)
TABLE[id(_atomics.atomic_add)] = _atomic("add", 3)
TABLE[id(_atomics.atomic_increment)] = _atomic("add", 2)


@intrinsic(_atomics.atomic_compare_exchange)
def _compare_exchange(walker: Walker, node: ast.Call) -> Any:
    if len(node.args) != 4:
        raise walker.refuse(node, f"atomic_compare_exchange with {len(node.args)} arguments")
    part = _element(walker, node)
    compare, value = (
        walker.convert(walker.number(walker.expression(a)), part.dtype) for a in node.args[2:]
    )
    before = walker.load(part)
    same = walker.apply("Equal", before, compare)
    walker.store(node, part, walker.apply("Select", same, value, before))
    return before


# ---- printf -------------------------------------------------------------------------------------

MOST_LINES = 1 << 14
_LENGTHS = re.compile(r"(%[-+ #0]*\d*(?:\.\d+)?)(?:hh|h|ll|l|z|j|t|L)(?=[diouxXeEfFgG])")


def printf(format: str, *args: Any) -> None:
    """Prints as C's printf: in kernels and outside."""
    sys.stdout.write(
        _LENGTHS.sub(r"\1", format)
        % tuple(a.item() if isinstance(a, (numpy.generic, _core.Scalar)) else a for a in args)
    )


class Log:
    """The lines that a kernel prints: kept in arrays while it runs, printed behind it."""

    def __init__(self) -> None:
        self.formats: list[tuple[str, str]] = []  # and the kinds of its arguments: i, f
        self.parameters: tuple[int, int, int] | None = None
        self.first = 0  # of its hidden arrays

    width = 12


@intrinsic(printf)
def _printf(walker: Walker, node: ast.Call) -> Any:
    if not node.args or not isinstance(node.args[0], ast.Constant):
        raise walker.refuse(node, "printf() of a computed format", "write the format as a literal")
    format = node.args[0].value
    numbers = [walker.number(walker.expression(a), a) for a in node.args[1:]]
    log = walker.log
    if len(numbers) > log.width:
        raise walker.refuse(node, f"printf() of {len(numbers)} numbers", "print fewer at a time")
    if log.parameters is None:
        width = log.width
        log.first = len(walker.hidden)
        log.parameters = (
            hidden_parameter(walker, "l", 1, "printf", lambda _: lazy.zeros(1, numpy.int64)),
            hidden_parameter(
                walker, "l", 2, "printf", lambda _: lazy.zeros((MOST_LINES, width + 1), numpy.int64)
            ),
            hidden_parameter(
                walker, "d", 2, "printf", lambda _: lazy.zeros((MOST_LINES, width), numpy.float64)
            ),
        )
        walker.afterwards.append(lambda result, made: _print_lines(log, result, made))
    counter, integers, floats = log.parameters
    kinds = "".join("f" if n.dtype in "efd" else "i" for n in numbers)
    site = len(log.formats)
    log.formats.append((format, kinds))
    zero = walker.constant(0, "l")
    head = ViewPart(counter, "l", (zero,))
    line = walker.load(head)
    walker.store(node, head, walker.apply("Add", line, walker.constant(1, "l")))
    fits = walker.apply(
        "LogicalAnd",
        walker.apply("GreaterEqual", line, zero),
        walker.apply("Less", line, walker.constant(MOST_LINES, "l")),
    )

    def write() -> None:
        walker.store(
            node,
            ViewPart(integers, "l", (line, walker.constant(0, "l"))),
            walker.constant(site, "l"),
        )
        for k, (kind, number) in enumerate(zip(kinds, numbers, strict=True)):
            at = walker.constant(k + 1 if kind == "i" else k, "l")
            part = (
                ViewPart(integers, "l", (line, at))
                if kind == "i"
                else (ViewPart(floats, "d", (line, at)))
            )
            walker.store(node, part, number)

    walker.branch(fits, write, None)
    return NONE


def _print_lines(log: Log, result: Any, made: list[Any]) -> Any:
    counter, integers, floats = made[log.first : log.first + 3]
    count = int(counter[0])
    whole, broken = numpy.asarray(integers), numpy.asarray(floats)
    for line in range(min(count, MOST_LINES)):
        format, kinds = log.formats[int(whole[line, 0])]
        values = [
            int(whole[line, k + 1]) if kind == "i" else float(broken[line, k])
            for k, kind in enumerate(kinds)
        ]
        printf(format, *values)
    if count > MOST_LINES:
        sys.stdout.write(f"... {count - MOST_LINES} more lines of pk.printf were not kept\n")
    return result


# ---- scratch ------------------------------------------------------------------------------------


def _scratch_memory(launch: Launch, dtype: str, extents: list[ast.expr]) -> Any:
    """Memory of (league, extents..)."""
    host = _Host(launch)
    try:
        sizes = [int(host.value(e)) for e in extents]
    except LookupError as missing:
        raise launch.walker.refuse(
            extents[0],
            f"the extent {missing} of a scratch view",
            "compute it from the arguments of the launch",
        ) from None
    return lazy.zeros((launch.policy.league_size, *sizes), dtype)


def _scratch_view(walker: Walker, node: ast.Call) -> Any:
    callee = walker.expression(node.func)
    rank = _views.SCRATCH_VIEWS[callee.value]
    extents = list(node.args[1:])
    if len(extents) > rank or not node.args:
        raise walker.refuse(node, f"a scratch view with {len(extents)} extents for {rank} axes")
    extents += [ast.Constant(0)] * (rank - len(extents))
    space = walker.expression(node.args[0])
    if not isinstance(space, Marker) or space.kind != "scratch":
        raise walker.refuse(node, "a scratch view of this", "give team_member.team_scratch(0)")
    team = space.data[0]
    if isinstance(team.data[1], Number):
        raise walker.refuse(
            node, "scratch memory where each thread has its own number", "use TeamThreadRange"
        )
    dtype = walker.pending_type or "d"
    parameter = hidden_parameter(
        walker, dtype, rank + 1, "scratch", lambda launch: _scratch_memory(launch, dtype, extents)
    )
    league = walker.convert(team.data[0], "l")
    axes = tuple(Span(None, (parameter, k + 1)) for k in range(rank))
    return ViewPart(parameter, dtype, (league, *axes), "scratch")


for _scratch in _views.SCRATCH_VIEWS:
    TABLE[id(_scratch)] = _scratch_view


class _Host:
    """Computes extents of scratch views from the values of a launch."""

    def __init__(self, launch: Launch) -> None:
        self.environment = launch.walker.environment
        self.policy = launch.policy
        self.rows = self.environment.rows
        self.values = launch.values
        self.source = launch.walker.source(self.environment.function)

    def value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.Attribute):
            return getattr(self.value(node.value), node.attr)
        if isinstance(node, ast.BinOp) and type(node.op) in _HOST_OPS:
            return _HOST_OPS[type(node.op)](self.value(node.left), self.value(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name == "extent":
                return self.value(node.func.value).extent(*(self.value(a) for a in node.args))
            if name == "team_size" and isinstance(self.policy, _policies.TeamPolicy):
                return _policies.extents(self.policy)[1]
            if name == "league_size" and isinstance(self.policy, _policies.TeamPolicy):
                return self.policy.league_size
        raise LookupError(ast.unparse(node))

    def assigned(self, name: str) -> ast.expr | None:
        """What the function assigns to a variable of its own; None: it has no such variable."""
        found = [
            (node, getattr(node, "value", None))
            for node in ast.walk(self.source.node)
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For))
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(target))
            and not isinstance(target, (ast.Subscript, ast.Attribute))
        ]
        if not found:
            return None
        statement, value = found[0]
        plain = isinstance(statement, (ast.Assign, ast.AnnAssign)) and value is not None
        is_given = any(argument.arg == name for argument in self.source.arguments())
        if len(found) > 1 or not plain or is_given:
            raise LookupError(name)  # it has several values, one after another
        return value

    def name(self, node: ast.Name) -> Any:
        own = self.assigned(node.id)
        if own is not None:
            return self.value(own)
        for row, value in zip(self.rows, self.values, strict=False):
            if row[0] == 0 and row[1] == node.id and len(row) == 2:
                return value
        if node.id == "self" and self.environment.owner is not None:
            return self.environment.owner
        found = self.environment.outside(self.environment.function, node.id)
        if found is None:
            raise LookupError(node.id)
        return found.value


_HOST_OPS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
}


# ---- mathematics ------------------------------------------------------------------------------


def _mathematics(name: str) -> Callable[..., Any]:
    return lambda walker, node: walker.call_function(node, name)


for _name in FUNCTIONS.keys() & _functions.FUNCTIONS.keys():
    TABLE[id(_functions.FUNCTIONS[_name])] = _mathematics(_name)


# ---- the rest -----------------------------------------------------------------------------------


def minimum(*values: Any) -> Any:
    """The least of two or more numbers; in kernels as well."""
    return min(*values)


def maximum(*values: Any) -> Any:
    """The largest of two or more numbers; in kernels as well."""
    return max(*values)


@intrinsic(minimum)
def _minimum(walker: Walker, node: ast.Call) -> Any:
    return walker.extreme(node, "min")


@intrinsic(maximum)
def _maximum(walker: Walker, node: ast.Call) -> Any:
    return walker.extreme(node, "max")


def finish(walker: Walker) -> tuple[Any, Any]:
    """The kernel, and how it is run where a launch needs more than its values."""
    environment = walker.environment
    extra = len(environment.rows)
    parameters = [p if p >= 0 else extra - 1 - p for p in environment.parameters]
    kernel = walker.writer.finish(parameters, environment.names, walker.file)
    hidden, afterwards = list(walker.hidden), list(walker.afterwards)
    has_location = "reduction" in environment.names
    if not hidden and not afterwards:
        return kernel, None

    def run(policy: Any, values: tuple[Any, ...], initial: Any) -> Any:
        policy = _policies.RangePolicy(0, policy) if isinstance(policy, int) else policy
        if initial is not None and has_location:
            raise TypeError("parallel_reduce: an initial value of a reduction with a location")
        made = [make(Launch(walker, policy, values)) for make in hidden]
        result = _core.launch_kernel(kernel, policy, (*values, *made), initial)
        for finish in afterwards:
            result = finish(result, made)
        return result

    return kernel, run
