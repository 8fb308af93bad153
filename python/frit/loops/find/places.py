"""places.py: makes the places of a program's loops (run/place.py)."""

from __future__ import annotations

import ast
from typing import Any

from frit.loops.find.flow import is_over_range
from frit.loops.find.peel import Peel
from frit.loops.find.tuples import parts_of_all, with_parts
from frit.loops.names import copied
from frit.loops.run.place import Place
from frit.loops.run.turn_place import new_place
from frit.loops.run.turns import Turns
from frit.translate.flow import may_leave


def module_place(
    node: ast.For | ast.While,
    private: set[str],
    assigned: set[str],
    needed: set[str],
    turns: Turns | None,
    tuples: dict[str, int],
) -> Place:
    """A nest of a module's own code: every variable of it is left, and may be read later.

    needed: variables whose values before the loop matter; tuples: as of a Place.
    """
    nest: Any = node
    parts: set[str] = set()
    if tuples:
        nest, parts = with_parts(copied(node), tuples), {*parts_of_all(tuples)}
    # The last rounds are Python's only where every round is run, and nothing is run behind them.
    if turns is None and (peel := _peel_of(nest)) is not None:
        outputs, outside = peel.variables(private)
        outside = [name for name in outside if name not in parts]
        place = Place(passed=[], outputs=outputs, outside=outside, is_module=True, is_peeled=True)
    else:
        due = turns.due if turns is not None else []
        place = new_place(
            passed=[*due],
            outputs=sorted(assigned - tuples.keys() | parts),
            outside=sorted(needed - {*due} - tuples.keys()),
            is_module=True,
            turns=turns,
        )
    place.tuples = tuples
    return place


def _peel_of(node: Any) -> Peel | None:
    if node.orelse or not is_over_range(node) or any(may_leave(s, (ast.Break,)) for s in node.body):
        return None
    return Peel(node)
