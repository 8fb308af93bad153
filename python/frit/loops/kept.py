"""kept.py: a module's code with its places <-> what marshal can write (frit/_kept.py keeps it).

The loops themselves, as trees, are needed only of a place that is bound: all of a module's are one
pickle, so that a loop in a loop stays a part of it, and are read when the first of them is.
"""

from __future__ import annotations

import ast
import functools
import pickle
import types
from typing import Any

from frit.loops.place import Place, module_place
from frit.loops.rewrite import codes_in, with_places


def content_of(made: types.CodeType, places: list[Place], original: types.CodeType) -> Any:
    """made: the code, in which places are numbers."""
    if not places:
        return ()
    numbers = {id(place): number for number, place in enumerate(places)}
    codes = {id(code): number for number, code in enumerate(_all_codes(original))}
    rows = []
    for place in places:
        names = place.passed, place.outputs, place.outside
        inner = [numbers[id(p)] for p in place.inner]
        rows.append((names, inner, codes.get(id(place.original), -1), place.peel is not None))
    trees = pickle.dumps([place.node for place in places], protocol=5)
    return made, sorted(places[0].shared), rows, trees, _sizes(original)


def code_of(content: Any, original: types.CodeType) -> types.CodeType | None:
    """None: it was made of other code."""
    made, shared, rows, pickled, sizes = content
    if sizes != _sizes(original):
        return None
    codes = _all_codes(original)
    trees = Trees(pickled)
    places = [_place(row, codes, functools.partial(trees.get, k)) for k, row in enumerate(rows)]
    for place, row in zip(places, rows, strict=True):
        place.inner = [places[number] for number in row[1]]
        place.file = original.co_filename
        place.shared = frozenset(shared)
    return with_places(made, places, original)


def _place(row: Any, codes: list[types.CodeType], get_node: Any) -> Place:
    (passed, outputs, outside), _, code, is_peeled = row
    if code < 0:
        return module_place(get_node(), set(), is_peeled)
    place = Place(None, passed=passed, outputs=outputs, outside=outside)
    place.original, place.get_node = codes[code], get_node
    return place


class Trees:
    """The loops of a module."""

    def __init__(self, pickled: bytes) -> None:
        self.pickled = pickled
        self.nodes: list[ast.For] = []

    def get(self, number: int) -> ast.For:
        if not self.nodes:
            self.nodes = pickle.loads(self.pickled)
            self.pickled = b""
        return self.nodes[number]


def _all_codes(code: types.CodeType) -> list[types.CodeType]:
    """It and all in it."""
    found = [code]
    for part in found:
        found += codes_in(part)
    return found


def _sizes(code: types.CodeType) -> list[int]:
    return [len(part.co_code) for part in _all_codes(code)]
