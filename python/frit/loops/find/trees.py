"""trees.py: the loops behind places, as trees: read from the text when somebody asks for one.

A place's loop is looked at where its nest is called, translated or explained, which few are. What
a binding asks of the loops (traits.py) is kept when the program ends, a file a module, so that the
next run reads no text for it.
"""

from __future__ import annotations

import atexit
import types
from collections.abc import Callable

from frit import _kept

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast
    from typing import Any

# Line and column; the class whose private names the loop has ("": none); and the first line of the
# function that it stands in, where a text is read in parts (parts.py; 0: the whole text).
At = tuple[int, int, str, int]


class Trees:
    """Of one text. read: its tree, or that of the function that begins at a line."""

    def __init__(self, read: Callable[[int], ast.AST]) -> None:
        self.read = read
        self.loops: dict[tuple[int, int], ast.For | ast.While] = {}
        self.origin: tuple[bytes, bytes] | None = None  # None: nothing of it is kept
        self.rows: dict[tuple[int, int], Any] | None = None  # of traits, once they are read

    def row(self, at: At) -> Any:
        """The traits of a loop as an earlier process has found them; None: none has."""
        if self.rows is None:
            origin = self.origin
            found = _kept.load(_name_of(origin), origin[1]) if origin is not None else None
            self.rows = found or {}
        return self.rows.get(at[:2])

    def keep_row(self, at: At, row: Any) -> None:
        if self.rows is None or self.origin is None:
            return
        self.rows[at[:2]] = row
        _new_rows[_name_of(self.origin)] = self.origin[1], self.rows

    def loop(self, at: At) -> ast.For | ast.While:
        line, column, owner, unit = at
        if (line, column) not in self.loops:
            self.add(unit)
        from frit.loops.find.raising import RaisedInRound, without_exceptions

        found = self.loops[line, column]
        without_exceptions([found], RaisedInRound)
        if owner:
            from frit.loops.names import mangle, nodes_in

            mangle(nodes_in([found]), owner)
        return found

    def add(self, unit: int) -> None:
        import ast

        from frit.loops.names import nodes_in

        for node in nodes_in([self.read(unit)]):
            if isinstance(node, (ast.For, ast.While)):
                self.loops.setdefault((node.lineno, node.col_offset), node)


# To be kept, by name: of a text that is imported again those that were found the latest.
_new_rows: dict[bytes, tuple[bytes, Any]] = {}


def _name_of(origin: tuple[bytes, bytes]) -> bytes:
    return origin[0] + b" traits"


@atexit.register
def keep_rows() -> None:
    for name in [*_new_rows]:
        _kept.store(name, *_new_rows.pop(name))


def trees_of_text(text: str | bytes, code: types.CodeType) -> Trees:
    """code: the module's, as Python compiles it."""

    def read(unit: int) -> Any:
        import ast

        from frit._quiet import without_collections, without_warnings
        from frit.loops.find import parts

        with without_collections(), without_warnings():  # Python has given them
            if unit and isinstance(text, bytes):
                alone = parts.tree_at(text, code, unit)
                if alone is not None:
                    return alone
            return ast.parse(text, code.co_filename)

    return Trees(read)


def trees_of(node: ast.AST) -> Trees:
    """Of a tree that stays what it is."""
    from frit.loops.names import copied

    return Trees(lambda unit: copied(node))
