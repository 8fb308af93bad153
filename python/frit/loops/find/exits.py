"""exits.py: loops with statements under an `if` that no nest has: those a nest leaves to Python.

    for i in range(n):
        x = step(x)
        if i % 100 == 0:
            print(f"{i}: {x}")        # an exit
        t += dt

The nest ends where it gets to an exit: Python runs that branch and the rest of the round, and the
nest goes on with the next round. So such a loop is asked in turns, as a `while` is (run/turns.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from frit.loops.find.flow import Flow, may_have_exits
from frit.loops.names import copied, nodes_in

MOST_COPIED = 4000  # nodes of the rest of the round, which is written out for each exit
# Variables of the nest: the rounds that are due.
FIRST, STOP, STEP = "$first", "$stop", "$step"
At = tuple[int, int]  # where the first statement of a branch stands: line and column
Branch = list[ast.stmt]


def exits_of(loop: ast.For | ast.While, flow: Flow) -> list[Branch]:
    """The branches that are left to Python, in the order of the text; []: there is no such nest."""
    if not may_have_exits(loop):
        return []
    if isinstance(loop, ast.For):  # its variable says which round it is
        stores = [n for n in nodes_in(loop.body) if isinstance(n, ast.Name) and _is_target(n, loop)]
        if stores:
            return []
    found = _branches(loop.body, flow) or []
    return found if len(found) * len(nodes_in(loop.body)) <= MOST_COPIED else []


def _is_target(name: ast.Name, loop: ast.For) -> bool:
    """Whether it assigns the loop's variable."""
    return not isinstance(name.ctx, ast.Load) and name.id == loop.target.id  # type: ignore[attr-defined]


def _branches(statements: list[ast.stmt], flow: Flow) -> list[Branch] | None:
    """None: a statement that no nest has stands under no `if`."""
    found: list[Branch] = []
    for node in statements:
        if not _is_python(node, flow):
            continue
        if not isinstance(node, ast.If) or not Flow([ast.Expr(node.test)]).whole.is_plain:
            return None
        for branch in (node.body, node.orelse):
            if any(_is_python(s, flow) for s in branch):
                inner = _branches(branch, flow)
                found += inner if inner is not None else [branch]
    return found


def _is_python(node: ast.stmt, flow: Flow) -> bool:
    """Whether it is a statement that no nest has, or has one in it."""
    if not flow.of[id(node)].is_plain:
        return True
    return any(isinstance(n, ast.Call) and _prints(n) for n in nodes_in([node]))


def _prints(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "print"


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


def as_nest(loop: ast.For | ast.While, exits: list[At]) -> ast.For | ast.While:
    """A copy that breaks at the exits, over what is left of its range."""
    made: ast.For | ast.While = copied(loop)
    for branch in _lists_in(made.body):
        if branch and place_of_branch(branch) in exits:
            node = ast.copy_location(ast.Break(), branch[0])
            node.exit = 1 + exits.index(place_of_branch(branch))  # type: ignore[attr-defined]
            branch[:] = [node]
    if isinstance(made, ast.For):
        assert isinstance(made.iter, ast.Call)
        step = [x if _is_literal(x) else ast.Name(STEP, ast.Load()) for x in made.iter.args[2:]]
        names = [ast.Name(FIRST, ast.Load()), ast.Name(STOP, ast.Load()), *step]
        for part in names:
            ast.copy_location(part, made.iter)
        made.iter.args = names
    return made


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


def _lists_in(statements: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Of the statements in branches."""
    for node in statements:
        for part in (node.body, node.orelse) if isinstance(node, ast.If) else ():
            yield part
            yield from _lists_in(part)
