"""kept.py: code with its places <-> what marshal can write (frit/_kept.py keeps it).

The loops themselves, as trees, are needed only where a nest is translated or explained: all of them
are one pickle, so that a loop in a loop stays a part of it, and are read when the first of them is.
"""

from __future__ import annotations

import functools
import marshal
import os
import types

from frit import _kept
from frit.loops.codes import codes_in, with_places
from frit.loops.place import Origin, Place
from frit.loops.traits import as_row

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any


def content_of(
    made: types.CodeType, places: list[Place], original: types.CodeType, others: Any = ()
) -> Any:
    """made: the code, in which places are numbers; others: what is kept with the loops."""
    if not places:
        return ()
    import pickle

    numbers = {id(place): number for number, place in enumerate(places)}
    codes = {id(code): number for number, code in enumerate(_all_codes(original))}
    rows = []
    for place in places:
        names = place.passed, place.outputs, place.outside
        inner = [numbers[id(p)] for p in place.inner]
        code = codes.get(id(place.original), -1)
        rows.append((names, inner, code, place.is_peeled, as_row(place.traits)))
    trees = pickle.dumps(([place.node for place in places], others), protocol=5)
    return made, sorted(places[0].shared), rows, trees, _sizes(original)


class Kept:
    """What content_of has written."""

    def __init__(self, content: Any, original: types.CodeType) -> None:
        """Raises ValueError: it was made of other code."""
        self.made, shared, rows, self.pickled, sizes = content
        if sizes != _sizes(original):
            raise ValueError
        codes = _all_codes(original)
        self.read: tuple[list[Any], Any] | None = None
        self.places = [self.place(row, codes, k) for k, row in enumerate(rows)]
        for place, row in zip(self.places, rows, strict=True):
            place.inner = [self.places[number] for number in row[1]]
            place.file = original.co_filename
            place.shared = frozenset(shared)

    def place(self, row: Any, codes: list[types.CodeType], number: int) -> Place:
        (passed, outputs, outside), _, code, is_peeled, traits = row
        place = Place(
            None,
            passed=passed,
            outputs=outputs,
            outside=outside,
            is_module=code < 0,
            is_peeled=is_peeled,
        )
        place.original = codes[code] if code >= 0 else None
        place.get_node = functools.partial(self.node, number)
        place.kept_traits = traits
        return place

    def trees(self) -> tuple[list[Any], Any]:
        """The loops, and what was kept with them."""
        if self.read is None:
            import pickle

            self.read = pickle.loads(self.pickled)
            self.pickled = b""
        return self.read

    def node(self, number: int) -> Any:
        return self.trees()[0][number]


def code_of(content: Any, original: types.CodeType, origin: Origin) -> types.CodeType | None:
    """Of a module. None: it was made of other code."""
    try:
        kept = Kept(content, original)
    except ValueError:
        return None
    note_origin(kept.places, origin)
    return with_places(kept.made, kept.places, original)


def note_origin(places: list[Place], origin: Origin) -> None:
    name, facts = origin
    for number, place in enumerate(places):
        place.origin = b"%d of %s" % (number, name), facts


def origin_of(function: types.FunctionType, cells: set[str]) -> Origin | None:
    """None: no other process has this function. cells: the variables around it with values."""
    code = function.__code__
    try:
        facts = marshal.dumps((code, function.__qualname__, sorted(cells)), 2)
    except ValueError:  # it has places already
        return None
    if code.co_filename.startswith("<"):
        return None
    return b"%s %s" % (function.__qualname__.encode(), os.fsencode(code.co_filename)), facts


def load(function: types.FunctionType, origin: Origin | None) -> Kept | None:
    content = _kept.load(*origin) if origin is not None else None
    if not content:
        return None
    kept = Kept(content, function.__code__)
    assert origin is not None
    note_origin(kept.places, origin)
    return kept


def _all_codes(code: types.CodeType) -> list[types.CodeType]:
    """It and all in it."""
    found = [code]
    for part in found:
        found += codes_in(part)
    return found


def _sizes(code: types.CodeType) -> list[int]:
    return [len(part.co_code) for part in _all_codes(code)]
