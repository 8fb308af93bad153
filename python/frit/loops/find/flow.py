"""flow.py: what the statements of a function read and assign, and which loops may be nests.

All of it comes from one walk, in which a statement is the sum of its parts: a loop's facts are made
of those of the loops in it. Sets of variables are ints, a bit for each name.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from frit.loops.find.raising import RaisedInRound
from frit.loops.names import add_parts, nodes_in

_COMPREHENSIONS = frozenset([ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp])
_LOOPS = frozenset([ast.For, ast.AsyncFor, ast.While])
_SIMPLE = frozenset(
    [ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Pass, ast.Continue, ast.Break, ast.Return]
)
_DEFINITIONS = frozenset([ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef])
_NOT_IN_NESTS = frozenset([ast.Yield, ast.Await, ast.NamedExpr, ast.Lambda, ast.JoinedStr])
_SERIES = frozenset("range enumerate zip reversed ndindex ndenumerate arange linspace".split())
_WITH_TEXTS = frozenset([ast.Call, ast.Compare])
_WITH_TEXT = (ast.In, ast.NotIn, ast.Eq, ast.NotEq)
# Of lists, files and plots.
_METHODS_OF_PYTHON = frozenset(
    "clear extend write writelines writerow flush close plot scatter imshow clf cla pause draw_idle"
    " savefig show".split()
)
_NEVER = -1  # of a way out that no path takes: whatever is read behind it is "assigned" before


class Facts:
    """Of a statement with all that is in it.

    reads, assigns: variables that occur so; told: those that an exception is made of. is_plain: a
    nest may have such a statement; is_but_branches: it may, but for branches of an `if` in it;
    is_nest: it is a loop that may be one; is_named: it would be, if what it goes over had a name.
    The others say what is read before it is assigned (needs): by the statement itself, and of what
    is read behind it, all but `kills`. A break or continue is a way out of its own: of what is read
    where those lead to, all but `breaks` and `continues`.
    """

    __slots__ = (
        "assigns",
        "breaks",
        "continues",
        "is_but_branches",
        "is_named",
        "is_nest",
        "is_plain",
        "kills",
        "needs",
        "reads",
        "returns",
        "told",
    )

    def __init__(self) -> None:
        self.reads = self.told = self.assigns = self.needs = self.kills = 0
        self.breaks = self.continues = _NEVER
        self.is_plain = self.is_but_branches = True
        self.is_nest = self.is_named = self.returns = False

    def needed_by_nest(self, behind: int) -> int:
        """As needed(), of a loop: a nest makes no exceptions (raising.py)."""
        return self.needed(behind, behind, behind) & (self.reads | self.assigns | behind)

    def needed(self, behind: int, at_break: int, at_continue: int) -> int:
        """What is read before it is assigned, from here on."""
        return (
            self.needs
            | behind & ~self.kills
            | at_break & ~self.breaks
            | at_continue & ~self.continues
        )


class Loop(NamedTuple):
    """each: what is read whenever it goes round, by itself; behind: the else."""

    each: int
    target: int
    body: Facts
    behind: Facts


class Flow:
    """Of some statements. certain: loops that go round at least once, by id(); is_called: they are
    those of a function that a nest calls."""

    def __init__(
        self, body: Sequence[ast.stmt], certain: Container[int] = (), *, is_called: bool = False
    ) -> None:
        self.bits: dict[str, int] = {}
        self.certain = certain
        self.is_called = is_called
        self.of: dict[int, Facts] = {}  # by id() of the statement
        self.loops: dict[int, Loop] = {}  # by id()
        self.children: dict[int, list[ast.stmt]] = {}  # of statements of other kinds, by id()
        self.deleted = 0
        self.has_nests = self.has_definitions = self.has_own_names = False
        self.has_tuples = False  # that are written out
        self.whole = self.body(body)

    def names(self, bits: int) -> set[str]:
        return {name for name, bit in self.bits.items() if bits & bit}

    def set_of(self, names: Iterable[str]) -> int:
        found = 0
        for name in names:
            found |= self.bit(name)
        return found

    def bit(self, name: str) -> int:
        return self.bits.setdefault(name, 1 << len(self.bits))

    # ---- one walk -------------------------------------------------------------------------------

    def body(self, statements: Sequence[ast.stmt]) -> Facts:
        """One statement behind the other."""
        facts = Facts()
        for statement in statements:
            part = self.statement(statement)
            facts.reads |= part.reads
            facts.told |= part.told
            facts.assigns |= part.assigns
            facts.is_plain &= part.is_plain
            facts.is_but_branches &= part.is_but_branches
            facts.returns |= part.returns
            facts.needs |= part.needs & ~facts.kills
            facts.breaks &= facts.kills | part.breaks
            facts.continues &= facts.kills | part.continues
            facts.kills |= part.kills
        return facts

    def statement(self, node: ast.stmt) -> Facts:
        kind = type(node)
        if kind in _LOOPS:
            facts = self.loop(node)  # type: ignore[arg-type]
        elif kind is ast.If:
            facts = self.branches(node)  # type: ignore[arg-type]
        elif kind is ast.Expr:
            facts = Facts()
            if type(node.value) is not ast.Constant:  # type: ignore[attr-defined]
                self.scan([node], facts)
                facts.is_plain &= not _is_pythons(node.value)  # type: ignore[attr-defined]
            facts.needs = facts.reads
        elif kind in _SIMPLE:
            facts = self.simple(node, kind)
        elif kind is RaisedInRound:
            facts = self.simple(node, ast.Continue)
        elif kind is ast.Raise or kind is ast.Assert:
            facts = self.raising(node)  # type: ignore[arg-type]
        else:
            facts = self.other(node, kind)
        if kind not in _LOOPS and kind is not ast.If:
            facts.is_but_branches = facts.is_plain
        self.of[id(node)] = facts
        return facts

    def loop(self, node: ast.For | ast.AsyncFor | ast.While) -> Facts:
        facts = Facts()
        target = 0
        if isinstance(node, ast.While):
            head = each = self.scan([node.test], facts)
        else:
            each = self.scan([node.target], facts)  # a[i], for one
            target = facts.assigns
            is_plain = facts.is_plain
            head = each | self.scan([node.iter], facts)
            facts.is_named = is_plain and type(node) is ast.For and is_made_for_it(node.iter)
            facts.is_plain &= type(node) is ast.For and may_be_series(node.iter)
            facts.is_plain &= not facts.is_named
        facts.is_but_branches = facts.is_plain
        body, behind = self.body(node.body), self.body(node.orelse)
        self.loops[id(node)] = Loop(each, target, body, behind)
        facts.reads |= body.reads | behind.reads
        facts.told = body.told | behind.told
        facts.assigns |= body.assigns | behind.assigns
        facts.is_plain &= body.is_plain and behind.is_plain
        facts.is_but_branches &= body.is_but_branches and behind.is_but_branches
        facts.returns = body.returns or behind.returns
        if facts.is_plain and type(node) is ast.For:
            facts.is_nest = not node.orelse or leaving(node) is None
        elif facts.is_plain and type(node) is ast.While:
            facts.is_nest = not node.orelse and (bool(head & body.assigns) or may_end(node))
        if facts.is_named:
            facts.is_named = body.is_plain and behind.is_plain
            facts.is_named &= not node.orelse or leaving(node) is None  # type: ignore[arg-type]
        self.has_nests |= facts.is_nest or facts.is_but_branches or facts.is_named
        # Where the loop begins again, what its body needs is needed, and what is needed behind it.
        facts.needs = head | behind.needs | body.needs & ~target
        facts.breaks, facts.continues = behind.breaks, behind.continues
        facts.kills = behind.kills & (body.breaks | target)
        if id(node) in self.certain:
            kills = body.kills & body.continues | target
            facts.needs = head | body.needs & ~target | behind.needs & ~kills
            facts.kills = (behind.kills | kills) & (body.breaks | target)
            facts.breaks |= kills
            facts.continues |= kills
        return facts

    def branches(self, node: ast.If) -> Facts:
        chain = [node]  # of elifs, which may be hundreds
        while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            chain.append(node)
        facts = self.body(node.orelse)
        for part in reversed(chain):
            facts = self.of[id(part)] = self.branch(part, facts)
        return facts

    def branch(self, node: ast.If, second: Facts) -> Facts:
        """second: of what is behind the else."""
        facts = Facts()
        test = self.scan([node.test], facts)
        facts.is_but_branches = facts.is_plain
        first = self.body(node.body)
        facts.reads |= first.reads | second.reads
        facts.told = first.told | second.told
        facts.assigns |= first.assigns | second.assigns
        facts.is_plain &= first.is_plain and second.is_plain
        facts.returns = first.returns or second.returns
        facts.needs = test | first.needs | second.needs
        facts.kills = first.kills & second.kills
        facts.breaks = first.breaks & second.breaks
        facts.continues = first.continues & second.continues
        return facts

    def simple(self, node: ast.stmt, kind: type[ast.stmt]) -> Facts:
        facts = Facts()
        self.scan([node], facts)
        facts.needs = facts.reads
        if kind is ast.Return:
            facts.kills, facts.returns = _NEVER, True
            facts.is_plain &= not _is_no_number(node.value, self.is_called)  # type: ignore[attr-defined]
        elif kind is ast.Break:
            facts.kills, facts.breaks = _NEVER, 0
        elif kind is ast.Continue:
            facts.kills, facts.continues = _NEVER, 0
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                parts = target.elts if type(target) is ast.Tuple else [target]
                for part in parts:
                    if type(part) is ast.Name:
                        facts.kills |= self.bits[part.id]
        elif isinstance(node, ast.AnnAssign) and type(node.target) is ast.Name:
            facts.kills = self.bits[node.target.id]
        return facts

    def raising(self, node: ast.Raise | ast.Assert) -> Facts:
        facts, words = Facts(), Facts()
        if isinstance(node, ast.Assert):
            self.scan([node.test], facts)
            parts = [node.msg]
        else:
            parts, facts.kills = [node.exc, node.cause], _NEVER
        self.scan([part for part in parts if part is not None], words)
        facts.told = words.reads
        facts.needs = facts.reads | words.reads
        facts.assigns |= words.assigns
        facts.is_plain &= not words.assigns
        return facts

    def other(self, node: ast.stmt, kind: type[ast.stmt]) -> Facts:
        """Whatever such a statement holds may be run next, from anywhere in it."""
        facts = Facts()
        if kind in _DEFINITIONS:
            self.has_definitions = True
            self.has_own_names |= kind is ast.ClassDef
            self.scan([node], facts)
        else:
            self.has_own_names |= kind is ast.Global or kind is ast.Nonlocal
            expressions: list[ast.AST] = []
            children = self.children[id(node)] = []
            for part in _parts_between(node):
                if isinstance(part, ast.stmt):
                    children.append(part)
                else:
                    expressions.append(part)
            self.scan(expressions, facts)
            for child in children:
                part = self.statement(child)
                facts.reads |= part.reads | part.told
                facts.assigns |= part.assigns
                facts.returns |= part.returns
        facts.needs = facts.reads
        facts.is_plain = False
        return facts

    def scan(self, nodes: list[ast.AST], facts: Facts) -> int:
        """Adds what these nodes read and assign, in whatever order; what they read.

        The variables of a comprehension are its own.
        """
        bits = self.bits
        reads = assigns = 0
        summed = set()  # comprehensions
        for node in nodes:
            kind = type(node)
            if kind is ast.Name:
                name = node.id  # type: ignore[attr-defined]
                bit = bits.get(name) or self.bit(name)
                context = type(node.ctx)  # type: ignore[attr-defined]
                if context is ast.Load:
                    reads |= bit
                else:
                    assigns |= bit
                    if context is ast.Del:
                        reads |= bit
                        self.deleted |= bit
            elif kind is ast.Constant:
                value = node.value  # type: ignore[attr-defined]
                if type(value) is bytes or type(value) is str and len(value) != 1:
                    facts.is_plain = False
            elif kind in _COMPREHENSIONS:
                inner, first = self.comprehension(node, facts)  # type: ignore[arg-type]
                reads |= inner.reads
                assigns |= inner.assigns
                nodes.append(first)
                facts.is_plain &= id(node) in summed
            else:
                if kind in _NOT_IN_NESTS:
                    facts.is_plain = False
                elif kind is ast.AugAssign:
                    target = node.target  # type: ignore[attr-defined]
                    if type(target) is ast.Name:
                        reads |= self.bit(target.id)
                elif kind is ast.Tuple:
                    self.has_tuples |= type(node.ctx) is ast.Load  # type: ignore[attr-defined]
                elif kind is ast.ClassDef or kind is ast.Global or kind is ast.Nonlocal:
                    self.has_own_names = True
                add_parts(node, kind, nodes)
                if kind is ast.Call:
                    summed.add(id(what_is_summed(node)))
                if kind in _WITH_TEXTS and text_in(node) is not None:
                    nodes.pop()
        facts.reads |= reads
        facts.assigns |= assigns
        return reads

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, facts: Facts
    ) -> tuple[Facts, ast.expr]:
        """What it takes from around it; and the expression that is read outside of it."""
        first, *others = node.generators
        due: list[ast.AST] = [part.iter for part in others]
        due += [test for part in node.generators for test in part.ifs]
        due += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        inner, own = Facts(), Facts()
        self.scan(due, inner)
        self.scan([part.target for part in node.generators], own)
        inner.reads = (inner.reads | own.reads) & ~own.assigns
        facts.is_plain &= inner.is_plain and own.is_plain
        return inner, first.iter

    # ---- what is read behind each loop ----------------------------------------------------------

    def behind_loops(self, body: Sequence[ast.stmt], behind: int) -> dict[int, int]:
        """By id() of the loop. behind: what is read behind the body."""
        found: dict[int, int] = {}
        due = [(body, behind, behind, behind)]
        for statements, live, at_break, at_continue in due:
            for node in reversed(statements):
                facts, kind = self.of[id(node)], type(node)
                if kind is ast.If:
                    due.append((node.body, live, at_break, at_continue))  # type: ignore[attr-defined]
                    due.append((node.orelse, live, at_break, at_continue))  # type: ignore[attr-defined]
                elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
                    found[id(node)] = live
                    due.append((node.orelse, live, at_break, at_continue))
                    again = self.again(node, live, at_break, at_continue)
                    due.append((node.body, again, live, again))
                for child in self.children.get(id(node), ()):
                    due.append(([child], live | facts.reads, at_break, at_continue))
                live = facts.needed(live, at_break, at_continue)
        return found

    def again(
        self, node: ast.For | ast.AsyncFor | ast.While, live: int, at_break: int, at_continue: int
    ) -> int:
        """What is needed where a loop goes round again or ends."""
        loop = self.loops[id(node)]
        found = loop.each | loop.behind.needed(live, at_break, at_continue)
        return found | (loop.body.needs | live & ~loop.body.breaks) & ~loop.target


def _parts_between(node: ast.AST) -> Iterator[ast.AST]:
    """What stands right below it: statements also where handlers or cases are between."""
    found: list[ast.AST] = []
    add_parts(node, type(node), found)
    for part in found:
        if isinstance(part, (ast.ExceptHandler, ast.match_case)):
            yield from _parts_between(part)
        else:
            yield part


def needed_names(node: ast.For, outputs: Iterable[str], certain: Container[int] = ()) -> set[str]:
    """Variables whose values before the loop matter."""
    flow = Flow([node], certain)
    behind = flow.set_of(outputs)
    return flow.names(flow.whole.needed_by_nest(behind))


def may_end(loop: ast.While) -> bool:
    """Whether it ends by itself: not what another thread, or the handler of a signal, may end."""
    parts = nodes_in(loop.body)
    stored = (
        part.value
        for part in parts
        if isinstance(part, (ast.Subscript, ast.Attribute))
        and (type(part.ctx) is not ast.Load or getattr(part, "attr", "") == "append")
    )
    bases = (part for target in stored for part in nodes_in([target]))
    changed = {part.id for part in bases if isinstance(part, ast.Name)}
    if not isinstance(loop.test, ast.Constant):
        return not changed.isdisjoint(_names_read([loop.test]))
    changed |= {
        part.id for part in parts if isinstance(part, ast.Name) and type(part.ctx) is ast.Store
    }
    exits = [*_tests_of_exits(loop.body, [], False)]
    return not exits or any(
        not tests
        or any(isinstance(part, ast.Call) for part in nodes_in(tests))
        or not changed.isdisjoint(_names_read(tests))
        for tests in exits
    )


def _names_read(nodes: Sequence[ast.AST]) -> set[str]:
    return {part.id for part in nodes_in(nodes) if isinstance(part, ast.Name)}


def _tests_of_exits(
    body: Sequence[ast.stmt], tests: list[ast.expr], is_inner: bool
) -> Iterator[list[ast.expr]]:
    """Of each break, return and raise what it hangs on. is_inner: a break leaves another loop."""
    for node in body:
        if isinstance(node, (ast.Return, ast.Raise)) or (
            isinstance(node, ast.Break) and not is_inner
        ):
            yield tests
        elif isinstance(node, ast.If):
            yield from _tests_of_exits([*node.body, *node.orelse], [*tests, node.test], is_inner)
        elif isinstance(node, (ast.For, ast.While)):
            head = node.test if isinstance(node, ast.While) else node.iter
            yield from _tests_of_exits(node.body, [*tests, head], True)
            yield from _tests_of_exits(node.orelse, tests, is_inner)


def what_is_summed(node: ast.AST) -> ast.expr | None:
    """The comprehension in `sum(a[k] for k in ..)`: nests have no other."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    argument = node.args[0] if node.func.id == "sum" and len(node.args) == 1 else None
    return argument if isinstance(argument, (ast.GeneratorExp, ast.ListComp)) else None


def leaving(loop: ast.For) -> ast.AST | None:
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


def text_in(node: ast.AST) -> str | None:
    """That of float("inf"), choice("ACGT"), c in "aeiou", method == "heun", or side="right".

    Other texts in nests are characters. It is the last of the node's parts.
    """
    part = None
    if isinstance(node, ast.Compare):
        if len(node.ops) == 1 and isinstance(node.ops[0], _WITH_TEXT):
            part = node.comparators[0]
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in ("choice", "float") and len(node.args) == 1 and not node.keywords:
            part = node.args[0]
        elif name == "searchsorted" and (node.args or node.keywords):
            part = node.keywords[-1].value if node.keywords else node.args[-1]
    is_text = isinstance(part, ast.Constant) and type(part.value) is str
    return part.value if is_text else None


def _is_pythons(node: ast.expr) -> bool:
    """Whether it is a call of what no nest calls, by its name."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr in _METHODS_OF_PYTHON
    return isinstance(function, ast.Name) and function.id == "print"


def _is_no_number(result: ast.expr | None, is_called: bool) -> bool:
    """Whether it certainly is no number and no tuple of them; a call gives other things, too."""
    if isinstance(result, ast.Tuple):
        return any(_is_no_number(part, is_called) for part in result.elts)
    if isinstance(result, ast.Constant):
        return result.value is None
    is_row = isinstance(result, ast.Subscript) and isinstance(result.slice, ast.Slice)
    return not is_called and (result is None or is_row or isinstance(result, ast.List))


def is_over_range(loop: ast.For) -> bool:
    """Whether it is `for i in range(..)`."""
    over = loop.iter
    is_range = isinstance(over, ast.Call) and getattr(over.func, "id", "") == "range"
    return is_range and isinstance(loop.target, ast.Name)


# Methods and functions that give arrays, or lists of their elements.
_ARRAYS = frozenset(
    """argsort astype choice copy cumsum diff flatnonzero flatten integers normal permutation rand
    randint randn random ravel reshape sort standard_normal tolist uniform unique""".split()
)


def is_made_for_it(node: ast.expr) -> bool:
    """Whether a loop goes over an array or a list that is made for it: `for x in np.sort(a)`,
    `for x in a[a > 0]`. Behind a name it may be one over an array."""
    if isinstance(node, ast.Subscript):
        is_masked = any(isinstance(part, ast.Compare) for part in ast.walk(node.slice))
        return is_masked or isinstance(node.value, ast.Call)
    if not isinstance(node, ast.Call) or may_be_series(node):
        return False
    function = node.func
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value
    is_numpys = isinstance(owner, ast.Name) and owner.id in ("np", "numpy")
    return is_numpys or function.attr in _ARRAYS


def may_be_series(node: ast.expr) -> bool:
    """Whether a loop over it may be one over numbers or arrays."""
    if not isinstance(node, ast.Call):
        return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List))
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _SERIES
