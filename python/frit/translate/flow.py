"""flow.py: statements that leave a block early: return, break and continue."""

from __future__ import annotations

import ast
from collections.abc import Sequence

LEAVING = (ast.Return, ast.Break, ast.Continue)


def leaves(statements: Sequence[ast.stmt]) -> bool:
    """Whether these statements certainly end in return, break or continue."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, LEAVING):
        return True
    return isinstance(last, ast.If) and leaves(last.body) and leaves(last.orelse)


def may_leave(statement: ast.stmt, kinds: tuple[type, ...] = LEAVING) -> bool:
    """Whether a return (or a break or continue of the loop around) stands inside."""
    if isinstance(statement, kinds):
        return True
    if isinstance(statement, ast.FunctionDef):
        return False
    if isinstance(statement, (ast.For, ast.While)):
        inside = tuple(kind for kind in kinds if kind is ast.Return)
        body_leaves = bool(inside) and any(may_leave(inner, inside) for inner in statement.body)
        return body_leaves or any(may_leave(inner, kinds) for inner in statement.orelse)
    blocks = (*getattr(statement, "body", ()), *getattr(statement, "orelse", ()))
    return any(may_leave(inner, kinds) for inner in blocks)


def may_leave_but_at_end(statement: ast.If) -> bool:
    """Whether something leaves from inside of the branches, before their ends."""
    inner = [*statement.body[:-1], *statement.orelse]
    if statement.body and isinstance(statement.body[-1], ast.If):
        inner.append(statement.body[-1])
    return any(may_leave(s) for s in inner)


def leaves_first(statement: ast.stmt) -> bool:
    """`if c: .. leave`, so that what stands behind it is the other case."""
    return (
        isinstance(statement, ast.If)
        and leaves(statement.body)
        and not leaves(statement.orelse)
        and not may_leave_but_at_end(statement)
    )


def needs_flag(body: Sequence[ast.stmt]) -> bool:
    """Whether statements stand behind one that may have left, and no other case holds them."""
    for number, statement in enumerate(body):
        rest = body[number + 1 :]
        if rest and leaves_first(statement):
            assert isinstance(statement, ast.If)
            return needs_flag([*statement.orelse, *rest])
        if isinstance(statement, ast.If):
            if needs_flag(statement.body) or needs_flag(statement.orelse):
                return True
        if rest and not isinstance(statement, LEAVING) and may_leave(statement):
            return True
    return False
