"""raising.py: `raise` and `assert` in a nest: where one would raise, the nest is undone.

It is then run as Python, which makes the exception and its words: the nest needs neither.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

from frit.loops.names import nodes_in


def without_exceptions(nodes: Iterable[ast.AST]) -> None:
    """Takes the exceptions from these trees: `raise` alone is left, and a test for an assert."""
    for node in nodes_in(nodes):
        if type(node) is ast.Raise:
            node.exc = node.cause = None
        for block in (getattr(node, "body", ()), getattr(node, "orelse", ())):
            if type(block) is list:
                block[:] = map(_as_test, block)


def _as_test(node: ast.stmt) -> ast.stmt:
    if type(node) is not ast.Assert:
        return node
    if sys.flags.optimize:
        return ast.copy_location(ast.Pass(), node)
    failed = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
    raised = ast.copy_location(ast.Raise(None, None), node)
    return ast.copy_location(ast.If(failed, [raised], []), node)
