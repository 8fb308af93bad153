"""inline.py: calls of the program's own functions: their statements, in the place of the call.

A function's variables get names of their own (`name@line.column`), so they are variables of the
nest as any other. What the function takes from its module must be what it was when the nest was
translated: each call checks that (surroundings.py).
"""

from __future__ import annotations

import ast
import builtins
import math
import types
from functools import partial
from typing import Any

import numpy

from frit.loops.find.exits import without_branches
from frit.loops.find.raising import RaisedInCall, without_exceptions
from frit.loops.names import assigned_names, copied
from frit.loops.nest.control import Frame
from frit.loops.nest.small_arrays import variable_of
from frit.loops.nest.values import (
    Again,
    Item,
    Library,
    Listed,
    Refused,
    Row,
    SmallArray,
    Value,
    View,
)
from frit.loops.run.attributes import DOT
from frit.loops.run.functions import PLAIN
from frit.loops.run.generators import is_generator
from frit.loops.run.given import real
from frit.loops.run.methods import PlainMethod
from frit.loops.run.surroundings import MISSING, Surroundings, contents_of
from frit.translate.errors import TranslationError
from frit.translate.flow import may_leave, needs_flag
from frit.translate.source import FunctionNode, source_of

_ODD = 0x04 | 0x08 | 0x20 | 0x80 | 0x200  # *args, **kwargs, generators and coroutines
MOST_DEPTH, MOST_CALLS = 8, 100


class Inlining:
    """Mixed into NestWriter."""

    env: dict[str, Any]
    inputs: Any
    bind: Any
    bound: dict[str, Any]
    assigned: set[str]
    surroundings: dict[str, Any]
    taken: Surroundings
    frames: list[Frame]
    calls_inlined: int
    operand: Any
    statements: Any
    flag: Any
    set_flag: Any
    assign_small: Any
    assign_variable: Any
    forget_makers: Any
    locals: dict[str, int]
    clear_place: Any
    read_variable: Any
    fail_where: Any
    held_row: Any
    kind_of: Any
    knowledge: Any

    def note_module(self, module: types.ModuleType, name: str, value: Any) -> None:
        is_drawn_from = is_generator(getattr(value, "__self__", None))
        is_noted = is_drawn_from or isinstance(value, (types.FunctionType, *PLAIN))
        if is_noted and module not in (math, numpy):
            self.taken.spaces.append((vars(module), name, value))

    def inlined(
        self,
        node: ast.Call,
        function: types.FunctionType,
        definition: FunctionNode | None = None,
    ) -> Item:
        """definition: the function's, where it is not as its source has it."""
        plain = getattr(function, "__frit__", None)
        if plain is not None and isinstance(getattr(plain, "function", None), types.FunctionType):
            function = plain.function
        code = function.__code__
        name = function.__name__
        if code.co_flags & _ODD or code.co_cellvars:
            raise Refused(node, f"a call of {name}(), which is no plain function")
        if any(frame.code is code for frame in self.frames):
            raise Refused(node, f"a call of {name}() in itself")
        self.calls_inlined += 1
        if len(self.frames) > MOST_DEPTH or self.calls_inlined > MOST_CALLS:
            raise Refused(node, f"a call of {name}() among many others")
        try:
            source = definition or source_of(function).node
        except TranslationError:
            raise Refused(node, f"a call of {name}(), whose source is not there") from None
        path = f"{self.frames[-1].path}@{node.lineno}.{node.col_offset}"
        given = self.given(node, function, source.args)
        if any(isinstance(x, Library) and _stores(x.value) for x in given.values()):
            raise Refused(node, "a method that assigns attributes, given to a function")
        self.taken.take_function(function)
        body: list[ast.stmt]
        if isinstance(source, ast.Lambda):
            body = [ast.copy_location(ast.Return(source.body), source)]
        else:
            body = source.body
        renaming = _Renaming(set(code.co_varnames), path)
        body = [copied(statement) for statement in body]
        without_branches(body, RaisedInCall)
        without_exceptions(body, RaisedInCall)
        body = [renaming.visit(statement) for statement in body]
        for outside in sorted(renaming.outside):
            is_cell = outside in code.co_freevars
            if is_cell and outside in self.assigned:
                raise Refused(node, f"{name}() reads {outside}, which the loop assigns")
            owner = id(function) if is_cell else id(function.__globals__)
            if (varied := self.inputs.varied.get((owner, outside))) is not None:
                self.env[outside + path], self.bound[outside + path] = self.env[varied], ()
            else:
                self.surroundings[outside + path] = self.taken_from(node, function, outside)
        frame = Frame(self.frames[-1].call or node, path, code)
        assigned = assigned_names(body)
        self.frames.append(frame)
        self.clear_places(path)
        try:
            for parameter, item in given.items():
                variable = parameter + path
                if variable in assigned and isinstance(item, Value):
                    self.assign_variable(node, variable, item)
                elif variable in assigned and isinstance(item, SmallArray):
                    self.assign_small(node, variable, item)
                else:
                    self.env[variable] = item
                    self.bound[variable] = ()
            return self.run_body(node, frame, body, name)
        finally:
            self.frames.pop()
            self.forget_makers(path)

    def of_partial(self, node: ast.Call, function: partial[Any]) -> Item:
        """A call with the arguments that the function was given before."""
        prefix = f"partial{self.frames[-1].path}@{node.lineno}.{node.col_offset}."

        def argument(name: str, value: Any) -> ast.expr:
            made: ast.expr
            if (varied := self.inputs.varied.get((id(function), name))) is not None:
                made = ast.Name(varied, ast.Load())
            elif type(value) in PLAIN:
                made = ast.Constant(value)
            elif callable(value):
                self.surroundings[prefix + name] = real(value)
                made = ast.Name(prefix + name, ast.Load())
            else:
                raise Refused(node, "a partial() of something else than numbers and functions")
            return ast.copy_location(made, node)

        varied = [name for owner, name in self.inputs.varied if owner == id(function)]
        self.taken.take_keywords(function.keywords, varied)
        named = {word.arg for word in node.keywords}
        call = ast.Call(
            argument("func", function.func),
            [*(argument(str(k), x) for k, x in enumerate(function.args)), *node.args],
            [
                *(
                    ast.keyword(name, argument(name, value))
                    for name, value in function.keywords.items()
                    if name not in named
                ),
                *node.keywords,
            ],
        )
        return self.operand(ast.copy_location(call, node))

    def clear_places(self, path: str) -> None:
        """Nothing of an earlier call is left in the function's variables."""
        for name in self.locals:
            if variable_of(name).endswith(path):
                self.clear_place(name)

    def run_body(self, node: ast.Call, frame: Frame, body: list[ast.stmt], name: str) -> Item:
        returns = (ast.Return,)
        frame.is_early = any(may_leave(s, returns) for s in body[:-1]) or (
            not isinstance(body[-1], ast.Return) and may_leave(body[-1], returns)
        )
        if not frame.is_early:
            self.statements(body)
            return frame.result
        ends = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Return)]
        frame.gives_nothing = not any(end.value for end in ends)
        if not frame.gives_nothing and not _always_returns(body):
            raise Refused(node, f"a call of {name}(), which may end without a return")
        loops = [n for s in body for n in ast.walk(s) if isinstance(n, (ast.For, ast.While))]
        if needs_flag(body) or any(may_leave(loop, returns) for loop in loops):
            frame.returned = self.flag()
        self.statements(body)
        if frame.gives_nothing:
            return None
        values = []
        for variable in frame.result_names:
            self.bind(variable)  # one of the returns was reached
            values.append(self.read_variable(node, variable))
            if any(isinstance(end, RaisedInCall) for end in ends):
                if isinstance(values[-1], SmallArray):
                    raise Refused(node, f"a row of {name}(), which may raise")
                self.let_be_any_int(variable)
        return tuple(values) if frame.is_tuple else values[0]

    def do_RaisedInCall(self, node: RaisedInCall) -> None:
        self.fail_where(self.writer.constant(True, "?"))
        frame = self.frames[-1]
        if not frame.is_early:
            raise Refused(node, "a function that always raises")
        if frame.returned is not None:
            self.set_flag(frame.returned, True)

    def do_Return(self, node: ast.Return) -> None:
        frame = self.frames[-1]
        item = self.operand(node.value) if node.value is not None else None
        if len(self.frames) == 1 and isinstance(item, Listed):
            raise Refused(node, "a list as a result")
        if not frame.is_early:
            frame.result = item
            return
        if frame.gives_nothing:
            if frame.returned is not None:
                self.set_flag(frame.returned, True)
            return
        is_tuple = isinstance(item, tuple)
        parts = item if isinstance(item, tuple) else (item,)
        held = [self.held_row(node, x) if isinstance(x, (Row, View)) else x for x in parts]
        parts = tuple(held)
        names = [f"return{k if is_tuple else ''}@{frame.path}" for k in range(len(parts))]
        if not parts or not all(isinstance(x, (SmallArray, Value)) for x in parts):
            raise Refused(node, "a result that is not always a number")
        if frame.result_names not in ([], names):
            raise Refused(node, "results of several lengths")
        frame.is_tuple, frame.result_names = is_tuple, names
        for variable, part in zip(names, parts, strict=True):
            if isinstance(part, SmallArray):
                self.assign_small(node, variable, part)
            else:
                self.assign_variable(node, variable, part)
        if frame.returned is not None:
            self.set_flag(frame.returned, True)

    def let_be_any_int(self, variable: str) -> None:
        """It may hold what was never assigned: an index of it is checked where it is used."""
        kind, _ = self.kind_of(variable)
        if kind == "int" and variable not in self.knowledge.loose:
            self.knowledge.loose.add(variable)
            raise Again

    # ---- what a function takes ------------------------------------------------------------------

    def given(
        self, node: ast.Call, function: types.FunctionType, arguments: ast.arguments
    ) -> dict[str, Item]:
        """The parameters' values, in the order of the call."""
        positional = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
        only_named = [a.arg for a in arguments.kwonlyargs]
        no_names = {a.arg for a in arguments.posonlyargs}
        name = function.__name__
        given: dict[str, Item] = {}
        if len(node.args) > len(positional) or any(isinstance(a, ast.Starred) for a in node.args):
            raise Refused(node, f"these arguments of {name}()")
        for parameter, argument in zip(positional, node.args, strict=False):
            given[parameter] = self.operand(argument)
        for keyword in node.keywords:
            known = keyword.arg in positional or keyword.arg in only_named
            if keyword.arg is None or not known or keyword.arg in {*given, *no_names}:
                raise Refused(node, f"these arguments of {name}()")
            given[keyword.arg] = self.operand(keyword.value)
        few = function.__defaults__ or ()
        defaults = dict(zip(reversed(positional), reversed(few), strict=False))
        defaults.update(function.__kwdefaults__ or {})
        for parameter in [*positional, *only_named]:
            if parameter in given:
                continue
            if (varied := self.inputs.varied.get((id(function), parameter))) is not None:
                given[parameter] = self.env[varied]
                continue
            if type(defaults.get(parameter)) not in PLAIN:
                raise Refused(node, f"these arguments of {name}()")
            given[parameter] = self.operand(ast.Constant(defaults[parameter]))
        return given

    def taken_from(self, node: ast.AST, function: types.FunctionType, name: str) -> Any:
        """What a name that is no variable of the function means in it."""
        if name in function.__code__.co_freevars:
            cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
            value = contents_of(cell)
            if value is MISSING:
                raise Refused(node, f"{name} has no value in {function.__name__}()")
            self.taken.cells.append((cell, value))
        elif name in function.__globals__:
            value = function.__globals__[name]
            self.taken.spaces.append((function.__globals__, name, value))
        else:
            value = getattr(builtins, name, MISSING)
            self.taken.spaces.append((function.__globals__, name, MISSING))
        is_known = isinstance(value, (types.ModuleType, type)) or callable(value)
        if value is MISSING or not (is_known or type(value) in PLAIN):
            raise Refused(node, f"{function.__name__}() uses {name}")
        return real(value)


class _Renaming(ast.NodeTransformer):
    """Gives a function's variables names of their own; attributes of objects are the nest's."""

    def __init__(self, own: set[str], path: str) -> None:
        self.own, self.path = own, path
        self.outside: set[str] = set()

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if DOT in node.id:
            return node
        if node.id not in self.own:
            self.outside.add(node.id)
        return ast.copy_location(ast.Name(node.id + self.path, node.ctx), node)

    def visit_GeneratorExp(self, node: Any) -> Any:
        """Its variables are its own; what it goes over first is read outside."""
        first = node.generators[0]
        over, first.iter = self.visit(first.iter), ast.Constant(None)
        before = self.own
        self.own = before | assigned_names([part.target for part in node.generators])
        self.generic_visit(node)
        self.own, first.iter = before, over
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp


def _stores(value: Any) -> bool:
    """Whether it is a method that assigns what the nest has variables for."""
    return isinstance(value, PlainMethod) and bool(value.stores)


def _always_returns(body: list[ast.stmt]) -> bool:
    """Whether a function with this body has no other end."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    if isinstance(last, (ast.For, ast.While)):
        if any(may_leave(s, (ast.Break,)) for s in last.body):
            return False
        is_endless = (
            isinstance(last, ast.While)
            and isinstance(last.test, ast.Constant)
            and bool(last.test.value)
        )
        return is_endless or _always_returns(last.orelse)
    return isinstance(last, ast.Return)
