"""rewrite.py: statements -> the same statements, whose nests of loops ask their places first.

    for i in range(n):            if <place>.on and (<place>.is_gated or <place>.traced() is None)
        ..                   ->      and (found := <place>.take(a, b, n)) is not None:
                                      (variables that are read behind it) = found
                                  else: the loop itself

So whatever a place does not take runs as the Python it is, at its lines, on untouched data. In a
module's own code the place reads and writes the variables itself.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Container, Iterable, Iterator
from typing import TypeVar

from frit.loops.codes import KEY
from frit.loops.decorators import harmless_of, is_harmless
from frit.loops.names import (
    Liveness,
    assigned_names,
    copied,
    mangle,
    needed_names,
    nodes_in,
    parts_of,
)
from frit.loops.place import Place, module_place
from frit.translate.record import field, record

_STATEMENTS = (
    ast.For,
    ast.While,
    ast.If,
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.Pass,
    ast.Continue,
    ast.Break,
    ast.Return,
    ast.Expr,
)
Made = TypeVar("Made", ast.stmt, ast.expr)
_UNSAFE = {"locals", "vars", "eval", "exec", "globals", "dir"}
_FOUND, _RETURNS, _RESULT = "$found", "$returns", "$result"
# Context managers that let every exception out.
_PLAIN_CONTEXTS = {"open", "errstate", "catch_warnings", "printoptions"}
_SERIES = {"range", "enumerate", "zip", "reversed", "ndindex", "ndenumerate"}


@record
class Scope:
    """Where statements stand. code: of the function, or of the module (is_module)."""

    code: types.CodeType
    is_module: bool = False
    cells: set[str] = field(default_factory=set)  # variables of functions around, with values
    deleted: set[str] = field(default_factory=set)  # variables that may lose their value

    @property
    def locals(self) -> set[str]:
        return set(self.code.co_varnames) - set(self.code.co_cellvars)


class Rewriter:
    """A function, or a module with its functions (codes: theirs, by line and name)."""

    def __init__(self, codes: dict[tuple[int, str], types.CodeType] | None = None) -> None:
        self.codes = codes or {}
        self.places: list[Place] = []
        self.refused: list[tuple[ast.For, ast.AST, str]] = []  # loop, what in it, and why
        self.private: set[str] = set()  # variables of the module's own code, as of peel.py
        self.harmless: frozenset[str] = frozenset()  # decorators of its own
        self.owner = ""  # the class that is looked at
        self.refer: Callable[[int], ast.expr] = lambda number: ast.Constant((KEY, number))

    def function(self, node: ast.FunctionDef, scope: Scope) -> None:
        """Rewrites its body."""
        code = scope.code
        nodes = nodes_in([node])
        loops = [n for n in nodes if isinstance(n, ast.For)]
        refused, fine = [], set()
        for loop in reversed(loops):  # those that stand deepest first: once each
            why = why_not(loop, fine)
            if why is None:
                fine.add(id(loop))
            else:
                refused.insert(0, (loop, *why))
        if not fine:
            self.refused += refused
            return
        if _UNSAFE & set(code.co_names):
            return self.leave(node, "the function looks at its variables")
        has_class = any(isinstance(n, (ast.ClassDef, ast.Global, ast.Nonlocal)) for n in nodes)
        if not mangle(nodes[1:], "" if has_class else self.owner):
            return self.leave(node, "the function has a name that is private to a class")
        scope.deleted = deleted_names(nodes)
        liveness = Liveness()
        liveness.of_body(node.body, set())
        parameters = set(code.co_varnames[: _parameter_count(code)])
        _Body(self, scope, liveness).body(node.body, parameters - scope.deleted)

    def module(self, node: ast.Module, code: types.CodeType, nodes: list[ast.AST]) -> None:
        """Rewrites the module's own code, and the functions in it. nodes: all of them."""
        self.harmless = harmless_of(node, nodes)
        _Body(self, Scope(code, is_module=True), Liveness()).body(node.body, set())

    def definition(self, node: ast.FunctionDef, cells: set[str]) -> None:
        """A function in what is rewritten."""
        if not all(is_harmless(d, self.harmless) for d in node.decorator_list):
            return self.leave(node, "the function's decorator may read its code")
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        code = self.codes.get((first, node.name))
        if code is None:
            return self.leave(node, "several functions stand in this line")
        self.function(node, Scope(code, cells=cells & set(code.co_freevars)))

    def leave(self, node: ast.FunctionDef, why: str) -> None:
        self.refused += [(n, node, why) for n in ast.walk(node) if isinstance(n, ast.For)]

    def guarded(self, node: ast.For, place: Place) -> ast.stmt:
        number = len(self.places)
        self.places.append(place)
        refer = self.refer

        def part(name: str) -> ast.expr:
            return ast.Attribute(refer(number), name, ast.Load())

        # A gate looks by itself whether the program is traced.
        is_free = ast.Compare(ast.Call(part("traced"), [], []), [ast.Is()], [ast.Constant(None)])
        is_free = ast.BoolOp(ast.Or(), [part("is_gated"), is_free])
        if place.is_peeled:
            # for i in range(n):   ->   for i in <place>.rest(range(n)):, if it is on
            rest = ast.Call(part("rest"), [node.iter], [])
            test = ast.BoolOp(ast.And(), [part("on"), is_free])
            node.iter = self.on_first_line(ast.IfExp(test, rest, copied(node.iter)), node)
            return node
        arguments: list[ast.expr] = [ast.Name(n, ast.Load()) for n in place.passed]
        take = part("take")
        if not place.is_module:
            # Python is slow to look for a method of this name, so it must not look like one.
            take = ast.NamedExpr(ast.Name(_FOUND, ast.Store()), take)
        found: ast.expr = ast.Call(take, arguments, [])
        taken: list[ast.stmt] = [ast.Pass()]
        returns = any(isinstance(part, ast.Return) for part in nodes_in([place.node]))
        if (place.outputs or returns) and not place.is_module:
            found = ast.NamedExpr(ast.Name(_FOUND, ast.Store()), found)
            names = [*place.outputs, *([_RETURNS, _RESULT] if returns else [])]
            targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in names]
            unpacked = ast.Tuple(targets, ast.Store())
            taken = [ast.Assign([unpacked], ast.Name(_FOUND, ast.Load()))]
        if returns:
            result = ast.Return(ast.Name(_RESULT, ast.Load()))
            taken.append(ast.If(ast.Name(_RETURNS, ast.Load()), [result], []))
        is_found = ast.Compare(found, [ast.IsNot()], [ast.Constant(None)])
        test = ast.BoolOp(ast.And(), [part("on"), is_free, is_found])
        made = self.on_first_line(ast.If(test, taken, []), node)
        for nodes in _lists_with_returns(node):
            nodes[:] = [x for n in nodes for x in ([self.stop(part), n] if _returns(n) else [n])]
        made.orelse = [node, self.stop(part)]
        return made

    @staticmethod
    def stop(part: Callable[[str], ast.expr]) -> ast.stmt:
        """Where the loop ends its clock is stopped: by code of no line, which no tracer sees."""
        runs = ast.Compare(part("clock"), [ast.IsNot()], [ast.Constant(None)])
        stop = ast.Call(ast.Attribute(part("clock"), "stop", ast.Load()), [], [])
        made = ast.If(runs, [ast.Expr(stop)], [])
        for node in ast.walk(made):
            if isinstance(node, (ast.stmt, ast.expr)):
                node.lineno = node.end_lineno = node.col_offset = node.end_col_offset = -1
        return made

    @staticmethod
    def on_first_line(made: Made, node: ast.For) -> Made:
        """All on the loop's first line, whose end is its own: a tracer must see no other."""
        made.lineno = made.end_lineno = node.lineno
        made.col_offset, made.end_col_offset = node.col_offset, node.col_offset + len("for")
        return ast.fix_missing_locations(made)


def _returns(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return)


def _lists_with_returns(loop: ast.For) -> Iterator[list[ast.stmt]]:
    """Of the statements in it."""
    due: list[ast.AST] = [loop]
    for node in due:
        for nodes in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(nodes, list):
                due += nodes
                if any(map(_returns, nodes)):
                    yield nodes


class _Body:
    """The statements of one scope."""

    def __init__(self, rewriter: Rewriter, scope: Scope, liveness: Liveness) -> None:
        self.rewriter = rewriter
        self.scope = scope
        self.liveness = liveness
        self.locals = scope.locals
        # By id() of what copied() has copied; assigned: of loops that may be nests.
        self.loaded: dict[int, set[str]] = {}
        self.assigned: dict[int, set[str]] = {}

    def body(self, nodes: list[ast.stmt], bound: set[str]) -> set[str]:
        """Rewrites the statements; what is bound behind them."""
        result: list[ast.stmt] = []
        for node in nodes:
            known = len(self.rewriter.places)
            after = self.statement(node, bound)
            place = self.place_of(node, bound) if isinstance(node, ast.For) else None
            if place is not None and isinstance(node, ast.For):
                place.inner = self.rewriter.places[known:]
                result.append(self.rewriter.guarded(node, place))
            else:
                result.append(node)
            bound = after - self.scope.deleted
        nodes[:] = result
        return bound

    def statement(self, node: ast.stmt, bound: set[str]) -> set[str]:
        if isinstance(node, ast.If):
            return self.body(node.body, set(bound)) & self.body(node.orelse, set(bound))
        if isinstance(node, (ast.For, ast.While)):
            if not hasattr(node, "_original"):
                copied(node, for_loops=True)
            inside = bound | (assigned_names([node.target]) if isinstance(node, ast.For) else set())
            self.body(node.body, inside)
            self.body(node.orelse, set(bound))
            return bound
        if isinstance(node, ast.With):
            items = {n for i in node.items for n in assigned_names([i])}
            behind = self.body(node.body, bound | items)
            return behind if all(map(_is_plain_context, node.items)) else bound
        if isinstance(node, ast.Try):
            for part in (node.body, node.orelse, node.finalbody):
                self.body(part, set(bound))
            for handler in node.handlers:
                self.body(handler.body, set(bound))
            return bound
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            if isinstance(node, ast.AnnAssign) and node.value is None:
                return bound
            return bound | assigned_names([node])
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return bound | {a.asname or a.name.partition(".")[0] for a in node.names}
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.definitions(node, bound)
            return bound | {node.name}
        return bound

    def definitions(self, node: ast.FunctionDef | ast.ClassDef, bound: set[str]) -> None:
        if isinstance(node, ast.FunctionDef):
            self.rewriter.definition(node, bound | self.scope.cells)
            return
        outer, self.rewriter.owner = self.rewriter.owner, node.name
        for part in node.body:
            if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                self.definitions(part, bound)
        self.rewriter.owner = outer

    def place_of(self, node: ast.For, bound: set[str]) -> Place | None:
        original: ast.For = node._original  # type: ignore[attr-defined]
        why = why_not(original, self.assigned.keys())
        if why is not None:
            return self.refuse(original, *why)
        assigned = self.assigned[id(original)] = assigned_names([original], self.assigned)
        if self.scope.is_module:
            return module_place(original, self.rewriter.private, _is_range(original.iter))
        cells = set(self.scope.code.co_cellvars)
        if not assigned <= self.locals | cells:
            names = ", ".join(sorted(assigned - self.locals - cells))
            return self.refuse(original, original, f"{names}: another function's")
        outputs = sorted(assigned & (self.liveness.behind.get(id(node), assigned) | cells))
        passed: list[str] = []
        outside: list[str] = []
        code = self.scope.code
        for name in sorted(needed_names(original, set(outputs), self.loaded)):
            if name in self.locals or name in code.co_cellvars:
                if name in bound:
                    passed.append(name)  # else it is only read where the nest has given it a value
            elif name in code.co_freevars:
                if name not in self.scope.cells:
                    return self.refuse(original, original, f"{name} may have no value")
                passed.append(name)
            else:
                outside.append(name)
        place = Place(original, passed=passed, outputs=outputs, outside=outside)
        place.original = code
        return place

    def refuse(self, loop: ast.For, part: ast.AST, why: str) -> None:
        self.rewriter.refused.append((loop, part, why))


def why_not(node: ast.For, known: Container[int] = ()) -> tuple[ast.AST, str] | None:
    """The part of a loop that no nest has, and what it is; None: it may be a nest.

    known: loops that may be, by id().
    """
    leaving = _leaving(node)
    if leaving is not None:
        return leaving, "a statement that leaves a loop around it"
    due: list[ast.AST] = [node]
    for part in due:
        if id(part) in known:
            continue
        if isinstance(part, ast.stmt) and not isinstance(part, _STATEMENTS):
            return part, f"a statement: {type(part).__name__}"
        if isinstance(part, ast.For) and not _may_be_series(part.iter):
            return part, "a loop over something else than numbers or arrays"
        if isinstance(part, (ast.Yield, ast.Await, ast.NamedExpr, ast.Lambda, ast.JoinedStr)):
            return part, f"an expression: {type(part).__name__}"
        if type(part) is ast.Expr and type(part.value) is ast.Constant:
            continue
        if type(part) is ast.Constant and type(part.value) in (str, bytes):
            return part, f"the constant {part.value!r}"
        if type(part) is not ast.Name:
            due += parts_of(part)
    return None


def _leaving(loop: ast.For) -> ast.AST | None:
    """A break or continue behind the loop's else: of a loop around it."""
    due: list[ast.AST] = [*loop.orelse]
    for part in due:
        if isinstance(part, (ast.Break, ast.Continue)):
            return part
        if isinstance(part, (ast.For, ast.While)):
            due += part.orelse
        elif isinstance(part, ast.stmt):
            due += ast.iter_child_nodes(part)
    return None


def deleted_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables of these nodes that a `del` names."""
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)}


def _parameter_count(code: types.CodeType) -> int:
    stars = bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_argcount + code.co_kwonlyargcount + stars


def _is_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    )


def _is_plain_context(item: ast.withitem) -> bool:
    call = item.context_expr
    at = call.func if isinstance(call, ast.Call) else call
    name = at.attr if isinstance(at, ast.Attribute) else getattr(at, "id", "")
    return name in _PLAIN_CONTEXTS


def _may_be_series(node: ast.expr) -> bool:
    """Whether a loop over it may be one over numbers or arrays."""
    if not isinstance(node, ast.Call):
        return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List))
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _SERIES
