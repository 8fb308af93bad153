"""rewrite.py: statements -> the same statements, whose nests of loops ask their places first.

    for i in range(n):            if ((found := <place>.gate) is not None
        ..                   ->         or <place>.on and <place>.traced() is None
                                           and (found := <place>.take))
                                      and (found := found(a, b, n)) is not None:
                                      (variables that are read behind it) = found
                                  else: the loop itself

So whatever a place does not take runs as the Python it is, at its lines, on untouched data. In a
module's own code the place reads and writes the variables itself. What stands around a short loop
of a function takes as long as a round or two of it, so each step of the way to a no counts.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from frit.loops.find.codes import KEY, has_loops
from frit.loops.find.decorators import harmless_of, is_harmless
from frit.loops.find.exits import (
    Branch,
    as_nest,
    branches_of,
    live_at,
    names_of_rounds,
    place_of_branch,
    rest_of_round,
)
from frit.loops.find.flow import Facts, Flow, leaving, may_be_series, text_in, what_is_summed
from frit.loops.find.places import module_place
from frit.loops.find.trees import Trees
from frit.loops.find.tuples import parts_of_all, parts_of_tuple, tuples_in
from frit.loops.names import assigned_names, copied, mangle, nodes_in, over_name, parts_of, words_of
from frit.loops.run.place import Place
from frit.loops.run.turn_place import new_place
from frit.loops.run.turns import Turns, copies_of
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
    ast.Raise,
    ast.Assert,
    ast.Expr,
)
_NO_EXPRESSIONS = (
    *(ast.Yield, ast.Await, ast.NamedExpr, ast.Lambda, ast.JoinedStr),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_ASSIGNMENTS = frozenset([ast.Assign, ast.AugAssign, ast.AnnAssign])
_LOOPS = (ast.For, ast.While, ast.GeneratorExp, ast.ListComp)
NO_NEST = "what it does no nest can do"
_UNSAFE = {"locals", "vars", "eval", "exec", "globals", "dir"}
_FOUND, _RETURNS, _RESULT = "$found", "$returns", "$result"
_ROUND, _LEFT = "$round", "$left"
_RANGE, _ITERATOR = "$range", "$iterator"  # of a `for` with exits, and its place's number
# Context managers that let every exception out.
_PLAIN_CONTEXTS = {"open", "errstate", "catch_warnings", "printoptions"}
_LOAD, _STORE, _AND, _OR = ast.Load(), ast.Store(), ast.And(), ast.Or()
_IS, _IS_NOT = ast.Is(), ast.IsNot()


@record
class Scope:
    """Where statements stand. code: of the function, or of the module (is_module)."""

    code: types.CodeType
    is_module: bool = False
    cells: set[str] = field(default_factory=set)  # variables of functions around, with values

    @property
    def locals(self) -> set[str]:
        return set(self.code.co_varnames) - set(self.code.co_cellvars)


class Rewriter:
    """A function, or a module with its functions.

    trees: which has them as they are in the text; codes: the functions', by line and name.
    """

    def __init__(
        self, trees: Trees, codes: dict[tuple[int, str], types.CodeType] | None = None
    ) -> None:
        self.trees = trees
        self.codes = codes or {}
        self.places: list[Place] = []
        self.iterables = 0  # that got names
        self.explains = True  # whether somebody may ask for what is refused
        self.refused: list[
            tuple[ast.For | ast.While, ast.AST, str]
        ] = []  # loop, what in it, and why
        self.private: set[str] = set()  # variables of the module's own code, as of peel.py
        self.has_private_names = True  # whether there may be some, as `__x` in a class
        self.harmless: frozenset[str] = frozenset()  # decorators of its own
        self.owner = ""  # the class that is looked at
        self.unit = 0  # the line of the function around, where a text is read in parts
        self.refer: Callable[[int], ast.expr] = lambda number: ast.Constant((KEY, number))

    def function(self, node: ast.FunctionDef, scope: Scope) -> None:
        """Rewrites its body."""
        code = scope.code
        if not has_loops(code):
            return None
        try:
            flow = Flow(node.body)
        except RecursionError:  # some hundred elifs, for one
            return self.leave(node, "the function's statements are too deep in one another")
        if not flow.has_nests and not flow.has_definitions:
            return self.refuse_all(node)
        if not _UNSAFE.isdisjoint(code.co_names):
            return self.leave(node, "the function looks at its variables")
        if self.has_private_names:
            nodes = nodes_in([node])
            if not mangle(nodes[1:], "" if flow.has_own_names else self.owner):
                return self.leave(node, "the function has a name that is private to a class")
            flow = Flow(node.body)
        parameters = flow.set_of(code.co_varnames[: _parameter_count(code)])
        body = _Body(self, scope, flow, flow.behind_loops(node.body, 0))
        body.body(node.body, parameters & ~flow.deleted)
        return None

    def module(self, node: ast.Module, code: types.CodeType, nodes: list[ast.AST]) -> None:
        """Rewrites the module's own code, and the functions in it. nodes: all of them."""
        self.harmless = harmless_of(node, nodes)
        _Body(self, Scope(code, is_module=True), None, {}).body(node.body, 0)

    def definition(self, node: ast.FunctionDef, cells: set[str]) -> None:
        """A function in what is rewritten."""
        if not all(is_harmless(d, self.harmless) for d in node.decorator_list):
            return self.leave(node, "the function's decorator may read its code")
        code = self.codes.get(place_of_definition(node))
        if code is None:
            # A decorator's rewriter knows no other function's.
            shares_line = "several functions stand in this line"
            is_inner = "the function around it is not decorated"
            return self.leave(node, shares_line if self.codes else is_inner)
        return self.function(node, Scope(code, cells=cells & set(code.co_freevars)))

    def leave(self, node: ast.FunctionDef, why: str) -> None:
        if self.explains:
            loops = (n for n in ast.walk(node) if isinstance(n, (ast.For, ast.While)))
            self.refused += [(_spot(n), _spot(node), why) for n in loops]

    def refuse_all(self, node: ast.FunctionDef) -> None:
        if self.explains:
            for loop in (n for n in nodes_in([node]) if isinstance(n, (ast.For, ast.While))):
                self.refuse(loop, *(why_not(loop) or (loop, NO_NEST)))

    def refuse(self, loop: ast.For | ast.While, part: ast.AST, why: str) -> None:
        self.refused.append((_spot(loop), _spot(part), why))

    def guarded(self, node: ast.For, place: Place, facts: Facts) -> list[ast.stmt]:
        number = len(self.places)
        self.places.append(place)
        at = _at_first_line(node)
        reference = at(self.refer(number))
        nothing = at(ast.Constant(None))

        def part(name: str) -> Any:
            return at(ast.Attribute(reference, name, _LOAD))

        is_on = part("on")
        is_free = at(ast.Compare(at(ast.Call(part("traced"), [], [])), [_IS], [nothing]))
        if place.is_peeled:
            # for i in range(n):   ->   for i in <place>.rest(range(n)):, if it is on
            rest = at(ast.Call(part("rest"), [node.iter], []))
            test = at(ast.BoolOp(_AND, [is_on, is_free]))
            node.iter = at(ast.IfExp(test, rest, copied(node.iter)))
            return [node, self.stop(number)]

        def found(name: str) -> Any:
            return at(ast.NamedExpr(at(ast.Name(_FOUND, _STORE)), part(name)))

        if place.is_module:
            take, is_free = part("take"), at(ast.BoolOp(_OR, [part("gate"), is_free]))
            first = [is_on, is_free]
        else:
            take = at(ast.Name(_FOUND, _LOAD))
            is_gated = at(ast.Compare(found("gate"), [_IS_NOT], [nothing]))
            is_taker = at(ast.BoolOp(_AND, [is_on, is_free, found("take")]))
            first = [at(ast.BoolOp(_OR, [is_gated, is_taker]))]
        others = [part("series")] if place.is_module and place.iterable else []
        is_found, taken = self.taking(place, facts, at, take, others)
        test = at(ast.BoolOp(_AND, [*first, is_found]))
        if facts.returns:
            for nodes in _lists_with_returns(node):
                nodes[:] = [
                    x for n in nodes for x in ([self.stop(number), n] if _returns(n) else [n])
                ]
        guarded = at(ast.If(test, taken, [node, self.stop(number)]))
        if not place.iterable:
            return [guarded]

        # for x in f(a):   ->   series = f(a); for x in series:, and nobody holds it behind that
        def series(context: ast.expr_context) -> Any:
            if place.is_module:
                return at(ast.Attribute(reference, "series", context))
            return at(ast.Name(place.iterable, context))

        begin = at(ast.Assign([series(_STORE)], node.iter))
        node.iter = series(_LOAD)
        end = ast.Assign([_at_no_line(series(_STORE))], _at_no_line(ast.Constant(None)))
        return [begin, guarded, _at_no_line(end)]

    @staticmethod
    def taking(
        place: Place, facts: Facts, at: Callable[[Any], Any], take: Any, others: Sequence[Any] = ()
    ) -> tuple[ast.expr, list[ast.stmt]]:
        """Whether the place runs the nest, and what follows where it has.

        others: what it is given beside variables of the program.
        """
        due = place.turns.due if place.turns is not None else []
        names = place.passed[: len(place.passed) - max(len(due), len(others))]
        arguments: list[ast.expr] = [at(ast.Name(n, _LOAD)) for n in names]
        found = at(ast.Call(take, [*arguments, *others], []))
        taken: list[ast.stmt] = []
        if (place.outputs or facts.returns or place.pauses) and not place.is_module:
            found = at(ast.NamedExpr(at(ast.Name(_FOUND, _STORE)), found))
            names = [*place.outputs, *([_RETURNS, _RESULT] if facts.returns else [])]
            names += [_LEFT] if place.pauses else []
            unpacked = at(ast.Tuple([at(ast.Name(n, _STORE)) for n in names], _STORE))
            taken.append(at(ast.Assign([unpacked], at(ast.Name(_FOUND, _LOAD)))))
            for name, count in place.tuples.items():
                *items, is_given = parts_of_tuple(name, count)
                made = at(ast.Tuple([at(ast.Name(x, _LOAD)) for x in items], _LOAD))
                given = at(ast.Assign([at(ast.Name(name, _STORE))], made))
                taken.append(at(ast.If(at(ast.Name(is_given, _LOAD)), [given], [])))
        else:
            taken.append(at(ast.Pass()))
        if facts.returns:
            result = at(ast.Return(at(ast.Name(_RESULT, _LOAD))))
            taken.append(at(ast.If(at(ast.Name(_RETURNS, _LOAD)), [result], [])))
        return at(ast.Compare(found, [_IS_NOT], [at(ast.Constant(None))])), taken

    def where_left(
        self, place: Place, number: int, exits: Sequence[list[ast.stmt]], again: list[ast.stmt]
    ) -> list[ast.stmt]:
        """Behind a nest that is to go on: what Python runs of a round that it has left.

        exits: that, by exit; again: what is done before the next round begins.
        """
        if not place.pauses:
            return []

        def left() -> Any:
            if place.is_module:
                return _at_no_line(ast.Attribute(_at_no_line(self.refer(number)), "left", _LOAD))
            return _at_no_line(ast.Name(_LEFT, _LOAD))

        chosen: list[ast.stmt] = []
        for k, nodes in reversed([*enumerate(exits, 1)]):
            test = ast.Compare(left(), [ast.Eq()], [_at_no_line(ast.Constant(k))])
            chosen = [_at_no_line(ast.If(_at_no_line(test), nodes, chosen))]
        goes_on = [*again, *chosen, _at_no_line(ast.Continue())]
        return [_at_no_line(ast.If(left(), goes_on, []))]

    def in_parts(
        self, node: ast.For, place: Place, facts: Facts, exits: Sequence[list[ast.stmt]]
    ) -> list[ast.stmt]:
        """A loop with exits: its place is asked behind some rounds, for those that are left.

        rounds = range(n)
        if <place>.on and ..:
            iterator = <place>.iter(rounds)
            while True:
                for i in <place>.turn(iterator):
                    body
                else:
                    if <place>.goes_on(iterator):
                        if <place>.on and .. (found := <place>.take(.., rounds, iterator)) ..:
                            (variables) = found
                            if it was left: the rest of that round; continue
                            break
                        continue
                break
        else: for i in rounds: body
        """
        number = len(self.places)
        self.places.append(place)
        at, here = _at_no_line, _at_first_line(node)

        def part(name: str, context: ast.expr_context = _LOAD) -> Any:
            return here(ast.Attribute(here(self.refer(number)), name, context))

        def own(name: str, context: ast.expr_context = _LOAD) -> Any:
            if place.is_module:
                return part(name.strip("$"), context)
            return here(ast.Name(f"{name}{number}", context))

        def is_on() -> list[ast.expr]:
            traced = here(ast.Call(part("traced"), [], []))
            is_free = here(ast.Compare(traced, [_IS], [here(ast.Constant(None))]))
            return [part("on"), is_free]

        others = [] if place.is_module else [own(_RANGE), own(_ITERATOR)]
        is_found, taken = self.taking(place, facts, here, part("take"), others)
        taken += self.where_left(place, number, exits, [])
        test = here(ast.BoolOp(_AND, [*is_on(), is_found]))
        ask = at(ast.If(test, [*taken, at(ast.Break())], []))
        goes_on = here(ast.Call(part("goes_on"), [own(_ITERATOR)], []))
        behind: list[ast.stmt] = [at(ast.If(goes_on, [ask, at(ast.Continue())], []))]
        plain: Any = ast.For(node.target, own(_RANGE), copied(node.body), [])
        ast.copy_location(plain, node)
        begin = here(ast.Assign([own(_RANGE, _STORE)], node.iter))
        iterator = here(ast.Call(part("iter"), [own(_RANGE)], []))
        turn = here(ast.Call(part("turn"), [own(_ITERATOR)], []))
        rounds: Any = ast.For(copied(node.target), turn, node.body, behind)
        ast.copy_location(rounds, node)
        turns: list[ast.stmt] = [
            here(ast.Assign([own(_ITERATOR, _STORE)], iterator)),
            at(ast.While(at(ast.Constant(True)), [rounds, at(ast.Break())], [])),
        ]
        return [begin, at(ast.If(here(ast.BoolOp(_AND, is_on())), turns, [plain]))]

    def in_turns(
        self, node: ast.While, place: Place, facts: Facts, exits: Sequence[list[ast.stmt]]
    ) -> list[ast.stmt]:
        """The loop, whose place is asked behind some rounds (turns.py)."""
        number = len(self.places)
        self.places.append(place)
        at, here = _at_no_line, _at_first_line(node)

        def part(name: str, context: ast.expr_context = _LOAD) -> Any:
            return at(ast.Attribute(at(self.refer(number)), name, context))

        is_free = at(ast.Call(part("traced"), [], []))
        is_free = at(ast.Compare(is_free, [_IS], [at(ast.Constant(None))]))
        is_found, taken = self.taking(place, facts, here, here(part("take")))
        test = at(ast.BoolOp(_AND, [part("on"), is_free, is_found]))
        assert place.turns is not None

        def left(context: ast.expr_context) -> Any:
            name = at(ast.Name(_ROUND, context))
            return part("round", context) if place.is_module else name

        begin = at(ast.Assign([left(_STORE)], part("rounds")))
        count = at(ast.AugAssign(left(_STORE), ast.Sub(), at(ast.Constant(1))))
        again: list[ast.stmt] = []
        if exits:
            again.append(at(ast.Assign([left(_STORE)], part("again"))))
        taken += self.where_left(place, number, exits, again)
        ask = at(ast.If(test, [*taken, at(ast.Break())], []))
        turn: list[ast.stmt] = [at(ast.If(left(_LOAD), [count], [ask, begin]))]
        rounds: list[ast.stmt] = []
        for copy in range(1 if place.turns.has_loops or exits else copies_of(node)):
            if copy and isinstance(node.test, ast.Constant) and node.test.value:
                rounds.append(here(ast.Pass()))  # what a tracer sees of it
            elif copy:
                is_over = at(ast.UnaryOp(ast.Not(), copied(node.test)))
                rounds.append(at(ast.If(is_over, [at(ast.Break())], [])))
            rounds += copied(node.body) if copy else node.body
        # Behind the rounds, it costs a loop of few rounds nothing.
        is_first = exits or any(isinstance(part, ast.Continue) for part in nodes_in(node.body))
        rounds = turn + rounds if is_first else rounds + turn
        node.body = rounds
        # Where it is the function's first statement, code of no line has that of the definition.
        begin = copied(begin)
        spot = {"lineno": node.test.lineno, "end_lineno": node.test.lineno}
        for made in nodes_in([begin]):
            made.__dict__.update(spot, col_offset=0, end_col_offset=0)
        return [begin, node]

    def stop(self, number: int) -> ast.stmt:
        """Where the loop ends its clock is stopped: by code of no line, which no tracer sees."""
        at = _at_no_line
        clock = at(ast.Attribute(at(self.refer(number)), "clock", _LOAD))
        runs = at(ast.Compare(clock, [_IS_NOT], [at(ast.Constant(None))]))
        stop = at(ast.Call(at(ast.Attribute(clock, "stop", _LOAD)), [], []))
        made: ast.stmt = at(ast.If(runs, [at(ast.Expr(stop))], []))
        return made


_NOWHERE = {"lineno": -1, "end_lineno": -1, "col_offset": -1, "end_col_offset": -1}


def _at_no_line(made: Any) -> Any:
    """Code that no tracer sees."""
    made.__dict__.update(_NOWHERE)
    return made


def _at_first_line(loop: ast.For | ast.While) -> Callable[[Any], Any]:
    """What puts code on the loop's first line, whose end is its own: a tracer sees no other."""
    word = "for" if isinstance(loop, ast.For) else "while"
    spot = {"lineno": loop.lineno, "end_lineno": loop.lineno, "col_offset": loop.col_offset}
    spot["end_col_offset"] = loop.col_offset + len(word)

    def at(made: Any) -> Any:
        made.__dict__.update(spot)
        return made

    return at


def place_of_definition(node: ast.FunctionDef) -> tuple[int, str]:
    """Its code's first line, and its name."""
    return min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.name


def _spot(node: Any) -> Any:
    """A node of this kind where it stands, without what is in it."""
    made = ast.Constant(None) if type(node) is ast.Constant else type(node)()
    return ast.copy_location(made, node)


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
    """The statements of one scope.

    flow: theirs, but for a module's own, which are looked at loop by loop; behind: what is read
    behind loops. Sets of variables are ints, as in flow.py.
    """

    def __init__(
        self, rewriter: Rewriter, scope: Scope, flow: Flow | None, behind: dict[int, int]
    ) -> None:
        self.rewriter = rewriter
        self.scope = scope
        self.flow = flow
        self.behind = behind
        self.locals = scope.locals
        self.cells = set(scope.code.co_cellvars)
        self.protected = 0  # statements around that see exceptions

    def body(self, nodes: list[ast.stmt], bound: int) -> int:
        """Rewrites the statements; what is bound behind them."""
        result: list[ast.stmt] = []
        for node in nodes:
            if type(node) is ast.For or type(node) is ast.While:
                result += self.loop(node, bound)
            else:
                bound = self.statement(node, bound)
                result.append(node)
            if self.flow is not None:
                bound &= ~self.flow.deleted  # they may lose their value
        nodes[:] = result
        return bound

    def loop(self, node: ast.For | ast.While, bound: int) -> list[ast.stmt]:
        """The loop with those in it, behind their places."""
        if self.flow is None:
            self.flow = Flow([node])
            made = self.loop(node, bound)
            self.flow = None
            return made
        known = len(self.rewriter.places)
        found = self.place_of(node, bound)
        private = self.rewriter.private
        if isinstance(node, ast.For):  # what stands around a loop in it may read them
            self.rewriter.private = set()
        self.body(node.body, bound | self.flow.loops[id(node)].target)
        self.body(node.orelse, bound)
        self.rewriter.private = private
        if found is None:
            return [node]
        place, facts, branches = found
        place.inner = self.rewriter.places[known:]
        exits = [copied(rest_of_round(node.body, branch) or []) for branch in branches]
        if isinstance(node, ast.While):
            return self.rewriter.in_turns(node, place, facts, exits)
        if exits:
            return self.rewriter.in_parts(node, place, facts, exits)
        return self.rewriter.guarded(node, place, facts)

    def statement(self, node: ast.stmt, bound: int) -> int:
        kind = type(node)
        if kind in _ASSIGNMENTS:
            is_none = getattr(node, "value", None) is None
            return bound if is_none or self.flow is None else bound | self.flow.of[id(node)].assigns
        if isinstance(node, ast.If):
            behind = self.body(node.body, bound)
            while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):  # elif
                node = node.orelse[0]
                behind &= self.body(node.body, bound)
            return behind & self.body(node.orelse, bound)
        if isinstance(node, ast.With):
            items = self.set_of(n for i in node.items for n in assigned_names([i]))
            self.protected += 1
            behind = self.body(node.body, bound | items)
            self.protected -= 1
            return behind if all(map(_is_plain_context, node.items)) else bound
        elif isinstance(node, ast.Try):
            self.protected += 1
            for part in (node.body, node.orelse, node.finalbody):
                self.body(part, bound)
            for handler in node.handlers:
                self.body(handler.body, bound)
            self.protected -= 1
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.definitions(node, bound)
            return bound | self.set_of([node.name])
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            return bound | self.set_of(a.asname or a.name.partition(".")[0] for a in node.names)
        return bound

    def set_of(self, names: Iterable[str]) -> int:
        return self.flow.set_of(names) if self.flow is not None else 0

    def definitions(self, node: ast.FunctionDef | ast.ClassDef, bound: int) -> None:
        if isinstance(node, ast.FunctionDef):
            names = self.flow.names(bound) if self.flow is not None else set()
            self.rewriter.definition(node, names | self.scope.cells)
            return
        outer, self.rewriter.owner = self.rewriter.owner, node.name
        due = [*node.body]
        for part in due:
            if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                self.definitions(part, bound)
            elif isinstance(part, ast.If):
                due += [*part.body, *part.orelse]
        self.rewriter.owner = outer

    def place_of(
        self, node: ast.For | ast.While, bound: int
    ) -> tuple[Place, Facts, list[Branch]] | None:
        """With what its nest reads and assigns, and the branches that it leaves to Python."""
        flow, rewriter = self.flow, self.rewriter
        assert flow is not None
        nest, of_nest, facts = node, flow, flow.of[id(node)]
        exits, fails = [], []
        if not facts.is_plain and facts.is_but_branches:
            exits, branches = branches_of(node, flow)
            fails = [place_of_branch(branch) for branch in branches]
            nest = as_nest(node, [place_of_branch(branch) for branch in exits], fails)
            of_nest = Flow([nest])
            facts = of_nest.of[id(nest)]
        iterable = ""
        # What catches an exception sees that nobody holds what the loop went over.
        if facts.is_named and not self.protected:
            assert isinstance(node, ast.For)
            rewriter.iterables += 1
            iterable = f"$in{rewriter.iterables}"
            nest = over_name(node, iterable)
            of_nest = Flow([nest])
            facts = of_nest.of[id(nest)]
        if not facts.is_nest:
            if rewriter.explains:
                rewriter.refuse(node, *(why_not(node) or (node, NO_NEST)))
            return None
        if self.scope.is_module:
            place = self.place_in_module(node, nest, of_nest, facts, exits, iterable)
        else:
            place = self.place_in_function(node, of_nest, facts, exits, bound, iterable)
        if place is None:
            return None
        place.fails, place.iterable = fails, iterable
        owner = rewriter.owner if rewriter.has_private_names else ""
        place.trees = rewriter.trees
        place.at = node.lineno, node.col_offset, owner, rewriter.unit
        return place, facts, exits

    def place_in_module(
        self,
        node: ast.For | ast.While,
        nest: ast.For | ast.While,
        of_nest: Flow,
        facts: Facts,
        exits: list[Branch],
        iterable: str,
    ) -> Place:
        """Every variable of it is left, and may be read later."""
        flow, private = self.flow, self.rewriter.private
        assert flow is not None
        outputs, turns = of_nest.names(facts.assigns), _turns_of(node, exits)
        if exits:
            outputs &= flow.names(live_at(exits, node, flow, 0)) | outputs - private
        needed = of_nest.names(facts.needed_by_nest(of_nest.set_of(outputs)))
        has_tuples = of_nest.has_tuples and turns is None
        tuples = tuples_in(nest, outputs) if has_tuples else {}
        place = module_place(nest, private, outputs, needed - {iterable}, turns, tuples)
        place.passed += [iterable] if iterable else []
        return place

    def place_in_function(
        self,
        node: ast.For | ast.While,
        of_nest: Flow,
        facts: Facts,
        exits: list[Branch],
        bound: int,
        iterable: str,
    ) -> Place | None:
        flow, code = self.flow, self.scope.code
        assert flow is not None
        assigned = of_nest.names(facts.assigns)
        if not assigned <= self.locals | self.cells:
            names = ", ".join(sorted(assigned - self.locals - self.cells))
            return self.refuse(node, f"{names}: another function's")
        behind, turns = self.behind.get(id(node), flow.of[id(node)].assigns), _turns_of(node, exits)
        due = turns.due if turns is not None else []
        if turns is not None and turns.pauses:  # Python goes on, or the nest is asked again
            behind = live_at(exits, node, flow, behind)
            loop = flow.loops[id(node)]  # of which a round has been run
            bound |= (loop.target | loop.body.kills & loop.body.continues) & ~flow.deleted
        outputs = assigned & (flow.names(behind) | self.cells)
        left = of_nest.set_of(outputs)
        passed: list[str] = []
        outside: list[str] = []
        for name in sorted(of_nest.names(facts.needed_by_nest(left)) - {*due}):
            if name == iterable:
                passed.append(name)
            elif name in self.locals or name in self.cells:
                if bound & flow.bits[name]:
                    passed.append(name)  # else it is only read where the nest has given it a value
            elif name in code.co_freevars:
                if name not in self.scope.cells:
                    return self.refuse(node, f"{name} may have no value")
                passed.append(name)
            else:
                outside.append(name)
        has_tuples = flow.has_tuples and turns is None
        tuples = tuples_in(node, outputs & self.locals) if has_tuples else {}
        outputs = outputs - tuples.keys() | {*parts_of_all(tuples)}
        passed = [name for name in passed if name not in tuples]
        place = new_place(
            passed=passed + due, outputs=sorted(outputs), outside=outside, turns=turns
        )
        place.tuples = tuples
        place.original = code
        return place

    def refuse(self, loop: ast.For | ast.While, why: str) -> None:
        self.rewriter.refuse(loop, loop, why)


def why_not(node: ast.For | ast.While) -> tuple[ast.AST, str] | None:
    """The part of a loop that no nest has, and what it is; None: it may be a nest."""
    part = leaving(node)
    if part is not None:
        return part, "a statement that leaves a loop around it"
    due: list[ast.AST] = [node]
    summed: set[int] = set()
    for part in due:
        if isinstance(part, ast.stmt) and not isinstance(part, _STATEMENTS):
            return part, f"a statement: {type(part).__name__}"
        if isinstance(part, ast.For) and not may_be_series(part.iter):
            return part, "a loop over something else than numbers or arrays"
        if type(part) is ast.Call:
            summed.add(id(what_is_summed(part)))
        if isinstance(part, _NO_EXPRESSIONS) and id(part) not in summed:
            return part, words_of(part)
        if type(part) is ast.Expr and type(part.value) is ast.Constant or type(part) is ast.Raise:
            continue
        if type(part) is ast.Assert:
            due.append(part.test)
            continue
        if type(part) is ast.Constant and _is_text(part.value):
            return part, f"the constant {part.value!r}"
        if type(part) is not ast.Name:
            due += parts_of(part)
            if text_in(part) is not None:
                due.pop()
    return None


def _is_text(value: object) -> bool:
    """Not a character, which a nest may compare."""
    return type(value) is bytes or type(value) is str and len(value) != 1


def _turns_of(node: ast.For | ast.While, exits: Sequence[Branch]) -> Turns | None:
    """Of a `while`, and of what has exits."""
    if isinstance(node, ast.For) and not exits:
        return None
    nodes = nodes_in(node.body)
    return Turns(
        has_loops=any(isinstance(part, _LOOPS) for part in nodes),
        appends=any(isinstance(part, ast.Attribute) and part.attr == "append" for part in nodes),
        exits=[place_of_branch(branch) for branch in exits],
        due=names_of_rounds(node),
    )


def _parameter_count(code: types.CodeType) -> int:
    stars = bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_argcount + code.co_kwonlyargcount + stars


def _is_plain_context(item: ast.withitem) -> bool:
    call = item.context_expr
    at = call.func if isinstance(call, ast.Call) else call
    name = at.attr if isinstance(at, ast.Attribute) else getattr(at, "id", "")
    return name in _PLAIN_CONTEXTS
