"""kernel_views.py: PyKokkos' views in a nest: their elements are those of the arrays behind them.

`v[i][j]`, `v[i, j]` and `v.extent(1)` become `v._array[i][j]`, `v._array[i, j]` and
`v._array.shape[1]`: attributes, as those of any object (attributes.py). A view that is used as
anything else leaves the nest to Python.
"""

from __future__ import annotations

import ast
import sys
from typing import Any

from frit.loops.names import attribute_chain, copied, nodes_in
from frit.translate.record import record

ARRAY = "_array"
_SIZES = ("shape", "size", "ndim")
# What a class of the program's must not have changed.
_USED = ("__getitem__", "__setitem__", "__len__", "__getattribute__", "extent", "rank", *_SIZES)


@record
class ViewUse:
    """Where a view was found. rank: what it must have, as it is indexed by that many; -1: any."""

    root: str
    path: tuple[str, ...]
    rank: int

    def holds(self, core: Any, number: int, objects: tuple[Any, ...]) -> bool:
        found = core.plain_attributes(objects, ((number, *self.path),))
        if found is None or not _is_view(found[0]):
            return False
        return self.rank < 0 or found[0].ndim == self.rank


def with_arrays(
    core: Any, node: ast.For, given: dict[str, Any]
) -> tuple[ast.For, dict[str, ViewUse]]:
    """The nest with arrays for the views among the given variables and their attributes."""
    if "frit.pykokkos._views" not in sys.modules:
        return node, {}
    rewriter = _Rewriter(core, given)
    try:
        made = rewriter.visit(copied(node))
    except _NotElements:
        return node, {}
    stored = {
        part.attr
        for part in nodes_in([node])
        if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load)
    }
    if any(stored & {*use.path} for use in rewriter.uses.values()):
        return node, {}  # it may be another view at the next round
    return (made, rewriter.uses) if rewriter.uses else (node, {})


class _NotElements(Exception):
    """A view is used as more than its elements and extents."""


class _Rewriter(ast.NodeTransformer):
    def __init__(self, core: Any, given: dict[str, Any]) -> None:
        self.core = core
        self.given = given
        self.uses: dict[str, ViewUse] = {}

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        view = self.view_at(node.value)
        if view is None:
            self.generic_visit(node)
            return node
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(_is_no_index(index) for index in indices):
            raise _NotElements
        if isinstance(node.slice, ast.Tuple):
            if len(indices) != view.ndim:
                raise _NotElements  # of a view it is an error, of an array a row
            self.uses[ast.unparse(node.value)].rank = view.ndim
        node.value = self.array_of(node.value)
        node.slice = self.visit(node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = node.func
        if isinstance(function, ast.Attribute) and self.view_at(function.value) is not None:
            return self.extent(node, function)
        if isinstance(function, ast.Name) and function.id == "len" and len(node.args) == 1:
            if not node.keywords and self.view_at(node.args[0]) is not None:
                node.args = [self.array_of(node.args[0])]
                return node
        self.generic_visit(node)
        return node

    def extent(self, node: ast.Call, method: ast.Attribute) -> ast.expr:
        """`v.rank()` and `v.extent(1)` as attributes of the array."""
        array, arguments = self.array_of(method.value), [*node.args, *node.keywords]
        if method.attr == "rank" and not arguments:
            return ast.copy_location(ast.Attribute(array, "ndim", ast.Load()), node)
        if method.attr != "extent" or len(arguments) != 1:
            raise _NotElements
        axis = arguments[0]
        if not isinstance(axis, ast.Constant) or type(axis.value) is not int or axis.value < 0:
            raise _NotElements
        shape = ast.copy_location(ast.Attribute(array, "shape", ast.Load()), node)
        return ast.copy_location(ast.Subscript(shape, axis, ast.Load()), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if self.view_at(node) is not None:
            raise _NotElements
        if self.view_at(node.value) is None:
            self.generic_visit(node)
        elif node.attr in _SIZES and isinstance(node.ctx, ast.Load):
            node.value = self.array_of(node.value)
        else:
            raise _NotElements
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if _is_view(self.given.get(node.id)):
            raise _NotElements
        return node

    def view_at(self, node: ast.expr) -> Any:
        """The view that a variable, or an attribute of one, is; None: it is none."""
        base, parts = attribute_chain(node)
        if not isinstance(base, ast.Name) or base.id not in self.given:
            return None
        path = tuple(part.attr for part in parts)
        found = self.core.plain_attributes((self.given[base.id],), ((0, *path),))
        if found is None or not _is_view(found[0]):
            return None
        self.uses.setdefault(ast.unparse(node), ViewUse(base.id, path, -1))
        return found[0]

    @staticmethod
    def array_of(view: ast.expr) -> ast.expr:
        return ast.copy_location(ast.Attribute(view, ARRAY, ast.Load()), view)


def _is_no_index(node: ast.expr) -> bool:
    is_word = isinstance(node, ast.Constant) and not isinstance(node.value, int)
    return is_word or isinstance(node, (ast.Slice, ast.Starred, ast.Tuple))


def _is_view(value: Any) -> bool:
    """Whether it is a view, of PyKokkos' classes or one of the program's that is no different."""
    base: Any = sys.modules["frit.pykokkos._views"].ViewType
    kind = type(value)
    if not issubclass(kind, base) or hasattr(kind, "__getattr__"):
        return False
    return all(getattr(kind, name) is getattr(base, name) for name in _USED)
