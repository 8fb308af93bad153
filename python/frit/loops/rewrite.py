"""rewrite.py: a function -> the same function, whose nests of loops ask their sites first.

    for i in range(n):            found = <site>(a, b, n)
        ..                   ->   if found is None: the loop itself
                                  else: (variables that are read behind it) = found

So whatever a site does not take runs as the Python it is, at its place, on untouched data.
"""

from __future__ import annotations

import ast
import builtins
import copy
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from frit.loops.names import Liveness, assigned_names, needed_names
from frit.loops.site import Site
from frit.translate.source import source_of

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
_SERIES = {"range", "enumerate", "zip", "reversed", "ndindex", "ndenumerate"}
_UNSAFE = {"locals", "vars", "eval", "exec", "globals", "dir"}
_FOUND, _RETURNS, _RESULT = "$found", "$returns", "$result"


class NothingToDo(Exception):
    """The function has no loop that could be taken."""


class Rewriter:
    """One function."""

    def __init__(self, function: types.FunctionType, note_hopeless: Callable[[], None]) -> None:
        self.function = function
        self.note_hopeless = note_hopeless
        self.code = function.__code__
        self.sites: list[Site] = []
        closure = function.__closure__ or ()
        self.cells = dict(zip(self.code.co_freevars, closure, strict=True))

    def run(self) -> types.FunctionType:
        source = source_of(self.function)
        if not isinstance(source.node, ast.FunctionDef):
            raise NothingToDo
        node = copy.deepcopy(source.node)
        node.decorator_list = []
        if _UNSAFE & set(self.code.co_names) or any(map(_is_private, ast.walk(node))):
            raise NothingToDo
        self.locals = set(self.code.co_varnames) - set(self.code.co_cellvars)
        self.liveness = Liveness()
        self.liveness.of_body(node.body, set())
        parameters = set(self.code.co_varnames[: _parameter_count(self.code)])
        self.body(node.body, parameters)
        if not self.sites:
            raise NothingToDo
        return self.function_of(node, source.file)

    # ---- finding nests --------------------------------------------------------------------------

    def body(self, nodes: list[ast.stmt], bound: set[str]) -> set[str]:
        """Rewrites the statements; what is bound behind them."""
        result: list[ast.stmt] = []
        for node in nodes:
            after = self.statement(node, bound)
            site = self.site_of(node, bound) if isinstance(node, ast.For) else None
            if site is not None and isinstance(node, ast.For):
                result += self.guarded(node, site)
            else:
                result.append(node)
            bound = after
        nodes[:] = result
        return bound

    def statement(self, node: ast.stmt, bound: set[str]) -> set[str]:
        if isinstance(node, ast.If):
            return self.body(node.body, set(bound)) & self.body(node.orelse, set(bound))
        if isinstance(node, (ast.For, ast.While)):
            node._original = copy.deepcopy(node)  # type: ignore[union-attr]
            inside = bound | (assigned_names([node.target]) if isinstance(node, ast.For) else set())
            self.body(node.body, inside)
            self.body(node.orelse, set(bound))
            return bound
        if isinstance(node, ast.With):
            items = {n for i in node.items for n in assigned_names([i])}
            return self.body(node.body, bound | items)
        if isinstance(node, ast.Try):
            self.body(node.body, set(bound))
            return bound
        if isinstance(node, ast.Delete):
            return bound - assigned_names([node])
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            if isinstance(node, ast.AnnAssign) and node.value is None:
                return bound
            return bound | assigned_names([node])
        return bound

    def site_of(self, node: ast.For, bound: set[str]) -> Site | None:
        original: ast.For = node._original  # type: ignore[attr-defined]
        for part in ast.walk(original):
            if isinstance(part, ast.stmt) and not isinstance(part, _STATEMENTS):
                return None
            if isinstance(part, ast.For) and not _may_be_series(part.iter):
                return None
            if isinstance(part, (ast.Yield, ast.Await, ast.NamedExpr, ast.Lambda)):
                return None
        assigned = assigned_names([original])
        if not assigned <= self.locals:
            return None
        behind = self.liveness.behind.get(id(node), set())
        outputs = sorted(assigned & behind)
        names: list[str] = []
        surroundings: dict[str, Any] = {}
        checks: list[tuple[Any, str, Any]] = []
        for name in sorted(needed_names(original, set(outputs))):
            if name in self.locals or name in self.code.co_cellvars:
                if name in bound:
                    names.append(name)  # else it is only read where the nest has given it a value
                continue
            where, value = self.outside(name)
            if value is _missing:
                return None
            if isinstance(value, (types.ModuleType, type, numpy.ufunc)) or callable(value):
                surroundings[name] = value
                checks.append((where, name, value))
            else:
                names.append(name)
        unbound = frozenset(o for o in outputs if o not in names)
        site = Site(
            original,
            names,
            outputs,
            unbound,
            surroundings,
            self.checker(checks),
            self.note_hopeless,
        )
        self.sites.append(site)
        return site

    def outside(self, name: str) -> tuple[Any, Any]:
        if name in self.cells:
            cell = self.cells[name]
            try:
                return cell, cell.cell_contents
            except ValueError:
                return cell, _missing
        space = self.function.__globals__
        if name in space:
            return space, space[name]
        return None, getattr(builtins, name, _missing)

    def checker(self, checks: list[tuple[Any, str, Any]]) -> Callable[[], bool]:
        """Whether the names of modules and functions are what they were."""
        space = self.function.__globals__
        get = space.get
        cells = [(where, value) for where, _, value in checks if isinstance(where, types.CellType)]
        named = [(n, v) for where, n, v in checks if isinstance(where, dict)]
        absent = [n for where, n, _ in checks if where is None]

        def holds() -> bool:
            for name, value in named:
                if get(name) is not value:
                    return False
            for name in absent:
                if name in space:
                    return False
            return all(cell.cell_contents is value for cell, value in cells)

        return holds

    # ---- writing --------------------------------------------------------------------------------

    def guarded(self, node: ast.For, site: Site) -> list[ast.stmt]:
        number = self.sites.index(site)
        arguments: list[ast.expr] = [ast.Name(n, ast.Load()) for n in site.names]
        call = ast.Call(ast.Constant(("frit nest", number)), arguments, [])
        found = ast.Assign([ast.Name(_FOUND, ast.Store())], call)
        is_none = ast.Compare(ast.Name(_FOUND, ast.Load()), [ast.Is()], [ast.Constant(None)])
        taken: list[ast.stmt] = []
        targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in site.names_of_outputs]
        returns = any(isinstance(part, ast.Return) for part in ast.walk(site.node))
        if returns:
            targets += [ast.Name(n, ast.Store()) for n in (_RETURNS, _RESULT)]
        if targets:
            unpacked = ast.Tuple(targets, ast.Store())
            taken = [ast.Assign([unpacked], ast.Name(_FOUND, ast.Load()))]
        if returns:
            result = ast.Return(ast.Name(_RESULT, ast.Load()))
            taken.append(ast.If(ast.Name(_RETURNS, ast.Load()), [result], []))
        made: list[ast.stmt] = [found, ast.If(is_none, [node], taken)]
        for statement in made:
            ast.copy_location(statement, node)
            ast.fix_missing_locations(statement)
        return made

    def function_of(self, node: ast.FunctionDef, file: str) -> types.FunctionType:
        body: list[ast.stmt] = [node]
        if self.code.co_freevars:
            # The names of the closure must be variables around the function.
            arguments = ast.arguments([], [ast.arg(n) for n in self.code.co_freevars], None)
            arguments.kwonlyargs, arguments.kw_defaults, arguments.defaults = [], [], []
            outer = ast.FunctionDef("around", arguments, [node], [])
            body = [ast.copy_location(outer, node)]
        module = ast.fix_missing_locations(ast.Module(body, []))
        future = self.code.co_flags & _FUTURE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            code: types.CodeType = compile(module, file, "exec", future, dont_inherit=True)
        for _ in body[0].body if not self.code.co_freevars else [0, 1]:  # type: ignore[attr-defined]
            inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
            code = inner[-1]
            if code.co_name == node.name:
                break
        places = {("frit nest", k): site for k, site in enumerate(self.sites)}
        constants = tuple(
            places.get(c, c) if isinstance(c, tuple) and len(c) == 2 else c for c in code.co_consts
        )
        code = code.replace(co_consts=constants, co_qualname=self.code.co_qualname)
        f = self.function
        closure = tuple(self.cells[n] for n in code.co_freevars)
        made = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, closure)
        made.__kwdefaults__ = f.__kwdefaults__
        return made


_missing = object()
_FUTURE = 0x1000000  # annotations; the others are always on


def _parameter_count(code: types.CodeType) -> int:
    stars = bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_argcount + code.co_kwonlyargcount + stars


def _is_private(node: ast.AST) -> bool:
    name = getattr(node, "attr", None) or getattr(node, "id", None) or ""
    return isinstance(name, str) and name.startswith("__") and not name.endswith("__")


def _may_be_series(node: ast.expr) -> bool:
    """Whether a loop over it may be one over numbers or arrays."""
    if not isinstance(node, ast.Call):
        return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List))
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _SERIES
