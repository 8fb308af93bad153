"""raising.py: `raise` and `assert` in a nest: where one would raise, the nest is undone.

It is then run as Python, which makes the exception and its words: the nest needs neither. Until
it ends it goes on as if the round, or the function that is called, had been left there.
"""

from __future__ import annotations

import ast
import sys


class RaisedInRound(ast.Continue):
    """In the body of a loop."""


class RaisedInCall(ast.Return):
    """In a function, and in no loop of it."""


Raised = type[RaisedInRound] | type[RaisedInCall]


def without_exceptions(block: list[ast.stmt], raised: Raised) -> None:
    """Puts these nodes in place of all that may raise by a statement."""
    for number, node in enumerate(block):
        if isinstance(node, ast.Raise):
            block[number] = ast.copy_location(raised(), node)
        elif isinstance(node, ast.Assert):
            block[number] = _test_of(node, raised)
        elif isinstance(node, ast.If):
            without_exceptions(node.body, raised)
            without_exceptions(node.orelse, raised)
        elif isinstance(node, (ast.For, ast.While)):
            without_exceptions(node.body, RaisedInRound)
            without_exceptions(node.orelse, raised)


def _test_of(node: ast.Assert, raised: Raised) -> ast.stmt:
    if sys.flags.optimize:
        return ast.copy_location(ast.Pass(), node)
    fails = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
    ends = ast.copy_location(raised(), node)
    return ast.copy_location(ast.If(fails, [ends], []), node)
