"""texts.py: variables that a nest only compares with texts: `if method == "heun":`.

They choose what the nest is. So they are no values of it: it is translated for the texts that they
are, without the branches of others, and another text is another binding (place.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast


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


def is_comparison(node: ast.AST) -> bool:
    """Whether something is compared with a text: by == or !=."""
    import ast

    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return False
    right = node.comparators[0]
    is_text = isinstance(right, ast.Constant) and type(right.value) is str
    return is_text and isinstance(node.ops[0], (ast.Eq, ast.NotEq))


def settled(loop: ast.For | ast.While, texts: Mapping[str, str]) -> ast.For | ast.While:
    """A copy for variables that are these texts."""
    import ast

    from frit.loops.names import copied

    class Settling(ast.NodeTransformer):
        def visit_Compare(self, node: ast.Compare) -> ast.expr:
            if not is_comparison(node) or getattr(node.left, "id", None) not in texts:
                return self.generic_visit(node)  # type: ignore[return-value]
            is_equal = texts[node.left.id] == node.comparators[0].value  # type: ignore[attr-defined]
            holds = is_equal == isinstance(node.ops[0], ast.Eq)
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

    made: ast.For | ast.While = Settling().visit(copied(loop))
    return made


def _is_truth(node: ast.expr) -> bool:
    import ast

    return isinstance(node, ast.Constant) and type(node.value) is bool
