"""exits.py: loops with statements under an `if` that no nest has: those a nest leaves to Python.

    for i in range(n):
        x = step(x)
        if i % 100 == 0:
            print(f"{i}: {x}")        # an exit
        t += dt

The nest ends where it gets to an exit: Python runs that branch and the rest of the round, and the
nest goes on with the next round. So such a loop is asked in turns, as a `while` is (run/turns.py).

Where it can't be left so (a branch in a loop in it, or in a function that it calls) the nest fails
at such a branch, as where Python would raise: it is undone, and Python runs all of it (raising.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from frit.loops.find.flow import Flow, is_over_range
from frit.loops.find.raising import Raised, RaisedInRound
from frit.loops.names import copied, nodes_in

MOST_COPIED = 4000  # nodes of the rest of the round, which is written out for each exit
# Variables of the nest: the rounds that are due.
FIRST, STOP, STEP = "$first", "$stop", "$step"
At = tuple[int, int]  # where the first statement of a branch stands: line and column
Branch = list[ast.stmt]


def branches_of(loop: ast.For | ast.While, flow: Flow) -> tuple[list[Branch], list[Branch]]:
    """Branches that no nest has of a loop that may be one but for these: exits, and those at
    which its nest fails.
    """
    exits: list[Branch] = []
    fails: list[Branch] = []
    _find(loop.body, flow, exits, fails)
    _find(loop.orelse, flow, fails, fails)
    if exits and not _may_be_left(loop, len(exits)):
        exits, fails = [], exits + fails
    return exits, fails


def _find(
    statements: Sequence[ast.stmt], flow: Flow, own: list[Branch], inner: list[Branch]
) -> None:
    """inner: those in loops."""
    for node in statements:
        if flow.of[id(node)].is_plain:
            continue
        if not isinstance(node, ast.If):  # a loop
            for part in (node.body, node.orelse):  # type: ignore[attr-defined]
                _find(part, flow, inner, inner)
            continue
        for branch in (node.body, node.orelse):
            facts = [flow.of[id(s)] for s in branch]
            if all(x.is_but_branches for x in facts):
                _find(branch, flow, own, inner)
            else:
                own.append(branch)


def _may_be_left(loop: ast.For | ast.While, exits: int) -> bool:
    if loop.orelse or exits * len(nodes_in(loop.body)) > MOST_COPIED:
        return False
    if isinstance(loop, ast.While):
        return True
    if not is_over_range(loop) or any(isinstance(x, ast.Starred) for x in loop.iter.args):  # type: ignore[attr-defined]
        return False
    # Its variable says which round it is.
    names = (n for n in nodes_in(loop.body) if isinstance(n, ast.Name))
    return not any(_is_target(n, loop) for n in names)


def _is_target(name: ast.Name, loop: ast.For) -> bool:
    """Whether it assigns the loop's variable."""
    return not isinstance(name.ctx, ast.Load) and name.id == loop.target.id  # type: ignore[attr-defined]


def live_at(branches: list[Branch], loop: ast.For | ast.While, flow: Flow, behind: int) -> int:
    """What is read from the exits on, and the variable that says which round it was.

    behind: what is read behind the loop.
    """
    again = flow.again(loop, behind, 0, 0)
    live = again | behind | flow.loops[id(loop)].target
    for branch in branches:
        live |= _live(rest_of_round(loop.body, branch) or [], flow, again, behind)
    return live


def _live(nodes: list[ast.stmt], flow: Flow, again: int, behind: int) -> int:
    live = again
    for node in reversed(nodes):
        live = flow.of[id(node)].needed(live, behind, again)
    return live


def rest_of_round(statements: list[ast.stmt], branch: Branch) -> list[ast.stmt] | None:
    """The branch, and what is run behind it until the round ends."""
    for number, node in enumerate(statements):
        for part in (node.body, node.orelse) if isinstance(node, ast.If) else ():
            found = [*part] if part is branch else rest_of_round(part, branch)
            if found is not None:
                return found + statements[number + 1 :]
    return None


def place_of_branch(branch: Branch) -> At:
    return branch[0].lineno, branch[0].col_offset


def as_nest(loop: ast.For | ast.While, exits: list[At], fails: list[At]) -> ast.For | ast.While:
    """A copy that breaks at the exits, over what is left of its range."""
    made: ast.For | ast.While = copied(loop)
    for branch in _branches_in([made]):
        at = place_of_branch(branch) if branch else None
        if at in exits:
            node = ast.copy_location(ast.Break(), branch[0])
            node.exit = 1 + exits.index(at)  # type: ignore[attr-defined, arg-type]
            branch[:] = [node]
        elif at in fails:
            branch[:] = [ast.copy_location(RaisedInRound(), branch[0])]
    if exits and isinstance(made, ast.For):
        assert isinstance(made.iter, ast.Call)
        step = [x if _is_literal(x) else ast.Name(STEP, ast.Load()) for x in made.iter.args[2:]]
        names = [ast.Name(FIRST, ast.Load()), ast.Name(STOP, ast.Load()), *step]
        for part in names:
            ast.copy_location(part, made.iter)
        made.iter.args = names
    return made


def without_branches(statements: list[ast.stmt], raised: Raised) -> None:
    """Of a function: it fails at branches that no nest has."""
    flow = Flow(statements, is_called=True)
    own: list[Branch] = []
    inner: list[Branch] = []
    if flow.whole.is_but_branches and not flow.whole.is_plain:
        _find(statements, flow, own, inner)
    for branches, node in ((own, raised), (inner, RaisedInRound)):
        for branch in branches:
            branch[:] = [ast.copy_location(node(), branch[0])]


def names_of_rounds(loop: ast.For | ast.While) -> list[str]:
    """The variables of the nest that say which rounds are due."""
    if isinstance(loop, ast.While):
        return []
    assert isinstance(loop.iter, ast.Call)
    steps = loop.iter.args[2:]
    return [FIRST, STOP, *([STEP] if steps and not _is_literal(steps[0]) else [])]


def number_of_exit(node: ast.AST) -> int:
    """0: it is none."""
    found: int = getattr(node, "exit", 0)
    return found


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def _branches_in(statements: Sequence[ast.stmt]) -> Iterator[Branch]:
    for node in statements:
        for part in (getattr(node, "body", []), getattr(node, "orelse", [])):
            if isinstance(node, ast.If):
                yield part
            yield from _branches_in(part)
