"""texts.py: variables that choose what a nest is: `if method == "heun":`, `if log is not None:`.

Those that are only compared with texts, and those that may be None, are no values of the nest: it
is translated for what they are, without the branches of others, and another text, or something
instead of None, is another binding (place.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast
    from typing import Any, TypeVar

    Tree = TypeVar("Tree", bound=ast.AST)

SOME = object()  # instead of what a variable is that is not None
NONE = "?"  # behind the name of a variable that a nest assigns: whether it is None (nones.py)
NUMBER = "not·None"  # names number_of() in a nest


def compared_names(nodes: Iterable[ast.AST]) -> set[str]:
    """nodes: all of a nest's."""
    import ast

    compared: set[str] = set()
    found: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, ast.Name):
            found[node.id] = found.get(node.id, 0) + 1
        elif is_comparison(node) and isinstance(node.left, ast.Name):  # type: ignore[attr-defined]
            name = node.left.id  # type: ignore[attr-defined]
            compared.add(name)
            found[name] = found.get(name, 0) - 1
    return {name for name in compared if found[name] == 0}


def number_of(value: object, is_none: object) -> object:
    """In a nest: the value, which is a number if the flag is not set."""
    raise NotImplementedError


def names_that_may_be_none(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables that are compared with None."""
    import ast

    of_none = (node.left for node in nodes if is_of_none(node))  # type: ignore[attr-defined]
    return {left.id for left in of_none if isinstance(left, ast.Name)}


def is_of_none(node: ast.AST) -> bool:
    """Whether something is compared with None: by `is` or `is not`."""
    import ast

    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return False
    right = node.comparators[0]
    is_none = isinstance(right, ast.Constant) and right.value is None
    return is_none and isinstance(node.ops[0], (ast.Is, ast.IsNot))


def is_comparison(node: ast.AST) -> bool:
    """Whether something is compared with a text: by == or !=."""
    import ast

    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return False
    right = node.comparators[0]
    is_text = isinstance(right, ast.Constant) and type(right.value) is str
    return is_text and isinstance(node.ops[0], (ast.Eq, ast.NotEq))


def settled(tree: Tree, known: Mapping[str, Any]) -> Tree:
    """A copy for variables that are these texts, None or SOME."""
    import ast

    from frit.loops.names import copied

    class Settling(ast.NodeTransformer):
        def visit_Compare(self, node: ast.Compare) -> ast.expr:
            name = getattr(node.left, "id", None)
            is_settled = is_of_none(node) or is_comparison(node) and known.get(name) is not SOME
            if not is_settled or name not in known:
                return self.generic_visit(node)  # type: ignore[return-value]
            is_equal = known[name] == node.comparators[0].value  # type: ignore[attr-defined]
            holds = is_equal == isinstance(node.ops[0], (ast.Eq, ast.Is))
            return ast.copy_location(ast.Constant(holds), node)

        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
            self.generic_visit(node)
            if isinstance(node.op, ast.Not) and _is_truth(node.operand):
                return ast.copy_location(ast.Constant(not node.operand.value), node)  # type: ignore[attr-defined]
            return node

        def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
            self.generic_visit(node)
            decides = isinstance(node.op, ast.Or)
            values: list[ast.expr] = []
            for value in node.values:
                if not _is_truth(value) or value is node.values[-1]:
                    values.append(value)
                elif value.value is decides:  # type: ignore[attr-defined]
                    values.append(value)
                    break
            node.values = values
            return values[0] if len(values) == 1 else node

        def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
            self.generic_visit(node)
            if not _is_truth(node.test):
                return node
            return node.body if node.test.value else node.orelse  # type: ignore[attr-defined]

        def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
            node.test = self.visit(node.test)
            if not _is_truth(node.test):
                return self.generic_visit(node)  # type: ignore[return-value]
            found: list[ast.stmt] = []
            for part in node.body if node.test.value else node.orelse:  # type: ignore[attr-defined]
                made = self.visit(part)
                found += made if isinstance(made, list) else [made]
            return found or ast.copy_location(ast.Pass(), node)

    made: Tree = Settling().visit(copied(tree))
    return made


def _is_truth(node: ast.expr) -> bool:
    import ast

    return isinstance(node, ast.Constant) and type(node.value) is bool
