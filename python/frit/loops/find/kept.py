"""kept.py: code with its places <-> what marshal can write (frit/_kept.py keeps it).

The loops themselves, as trees, are needed only where a nest is called, translated or explained.
Those of a module are read from its text then, which is that of the code; those of a decorated
function are kept with it, as one pickle.
"""

from __future__ import annotations

import marshal
import os
import types

from frit import _kept
from frit.loops.find.codes import all_codes, replaced, with_places
from frit.loops.find.trees import Trees, trees_of_text
from frit.loops.run.given import Origin
from frit.loops.run.traits import as_row
from frit.loops.run.turn_place import new_place
from frit.loops.run.turns import Turns

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping
    from typing import Any

    from frit.loops.run.place import Place


def content_of_module(
    made: Mapping[int, types.CodeType], places: list[Place], original: types.CodeType
) -> Any:
    """made: the codes, in which places are numbers, by id() of those that they stand for."""
    if not places:
        return ()
    codes = all_codes(original)
    new = [(k, made[id(code)]) for k, code in enumerate(codes) if id(code) in made]
    return new, sorted(places[0].shared), _rows(places, codes), _sizes(codes)


def module_of(
    content: Any, text: bytes, original: types.CodeType, origin: Origin
) -> types.CodeType | None:
    """Its code, with places. None: the content was made of other code."""
    new, shared, rows, sizes = content
    codes = all_codes(original)
    if sizes != _sizes(codes):
        return None
    places = _places(rows, codes, trees_of_text(text, original))
    for place in places:
        place.file = original.co_filename
        place.shared = frozenset(shared)
    note_origin(places, origin)
    made = replaced(original, {id(codes[number]): code for number, code in new})
    return with_places(made, places, original)


def content_of_function(
    made: types.CodeType, places: list[Place], original: types.CodeType, refused: Any
) -> Any:
    """made: the code, in which places are numbers."""
    import pickle

    codes = all_codes(original)
    traits = [as_row(place.traits) for place in places]
    trees = pickle.dumps(([place.loop for place in places], refused), protocol=5)
    return made, _rows(places, codes), traits, trees, _sizes(codes)


class KeptFunction:
    """What content_of_function has written."""

    def __init__(self, content: Any, function: types.FunctionType) -> None:
        """Raises ValueError: it was made of other code."""
        self.made, rows, traits, self.pickled, sizes = content
        codes = all_codes(function.__code__)
        if sizes != _sizes(codes):
            raise ValueError
        self.read: tuple[list[ast.For], Any] | None = None
        self.places = _places(rows, codes, Trees(self.tree))
        for place, row in zip(self.places, traits, strict=True):
            place.kept_traits = row

    def trees(self) -> tuple[list[ast.For], Any]:
        """The loops, and those that are no nests."""
        if self.read is None:
            import pickle

            self.read = pickle.loads(self.pickled)
            self.pickled = b""
        return self.read

    def tree(self, unit: int) -> Any:
        import ast

        loops: list[Any] = self.trees()[0]
        return ast.Module(loops, [])


def _rows(places: list[Place], codes: list[types.CodeType]) -> list[Any]:
    numbers = {id(place): number for number, place in enumerate(places)}
    by_code = {id(code): number for number, code in enumerate(codes)}
    rows = []
    for place in places:
        inner = [numbers[id(p)] for p in place.inner]
        code = by_code.get(id(place.original), -1)
        names = place.passed, place.outputs, place.outside
        rows.append(
            (
                *(*names, inner, code, place.is_peeled, place.at),
                *(_row_of(place.turns), place.fails, place.tuples, place.iterable),
            )
        )
    return rows


def _places(rows: list[Any], codes: list[types.CodeType], trees: Trees) -> list[Place]:
    places = []
    for passed, outputs, outside, _, code, is_peeled, at, turns, *others in rows:
        place = new_place(
            passed=passed,
            outputs=outputs,
            outside=outside,
            is_module=code < 0,
            is_peeled=is_peeled,
            turns=_turns_from(turns),
        )
        place.original = codes[code] if code >= 0 else None
        place.trees, place.at = trees, at
        place.fails, place.tuples, place.iterable = others
        places.append(place)
    for place, row in zip(places, rows, strict=True):
        place.inner = [places[number] for number in row[3]]
    return places


def _row_of(turns: Turns | None) -> Any:
    return (turns.has_loops, turns.appends, turns.exits, turns.due) if turns is not None else None


def _turns_from(row: Any) -> Turns | None:
    if row is None:
        return None
    has_loops, appends, exits, due = row
    return Turns(has_loops=has_loops, appends=appends, exits=exits, due=due)


def note_origin(places: list[Place], origin: Origin) -> None:
    """Whence the places are."""
    name, facts = origin
    for number, place in enumerate(places):
        if place.trees is not None:
            place.trees.origin = origin
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


def load(function: types.FunctionType, origin: Origin | None) -> KeptFunction | None:
    content = _kept.load(*origin) if origin is not None else None
    if not content:
        return None
    kept = KeptFunction(content, function)
    assert origin is not None
    note_origin(kept.places, origin)
    return kept


def _sizes(codes: list[types.CodeType]) -> list[int]:
    return [len(part.co_code) for part in codes]
