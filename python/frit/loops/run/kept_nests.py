"""kept_nests.py: translations on the disk: the next process needs no translator (frit/_kept.py).

A file a nest and kind of its values. It holds for the text and the surroundings that it was made
of, and for the calls that its guard lets pass, as in one process.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Iterable

import numpy

from frit import _core, _kept
from frit.loops.nest.asked import Asked, is_same_call
from frit.loops.nest.translation import (
    Inputs,
    Output,
    Returned,
    Translation,
    guard_of,
    names_of,
)
from frit.loops.run.given import Origin, name_of
from frit.loops.run.list_runs import ListFacts
from frit.loops.run.surroundings import Description, Unlike, text_of_tree
from frit.translate.record import values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast


class Question:
    """What a nest becomes with these inputs."""

    def __init__(
        self, origin: Origin, inputs: Inputs, attributes: Iterable[str], node: ast.AST | None
    ) -> None:
        """Raises Unlike."""
        self.inputs = inputs
        described = Description(inputs.surroundings, attributes, inputs.varied)
        self.taken = described.taken.check()
        self.name = name_of(origin, inputs.key, inputs.left)
        names = inputs.names, inputs.outputs, sorted(inputs.is_unbound), inputs.optional
        text = text_of_tree(node) if node is not None else ""
        self.facts = origin[1] + repr((numpy.__version__, names, described.words, text)).encode()

    def answer(self) -> Translation | None:
        found = _kept.load(self.name, self.facts)
        if found is None:
            return None
        kernel, parameters, results, outputs, returned, guard, lists, others, text = found
        if others["is_wary"] and not is_same_call(self.inputs.values, others["asked"]):
            return None
        try:
            made = _core.Kernel.from_bytes(kernel, parameters, names_of(self.inputs, results))
        except ValueError:
            return None
        return Translation(
            kernel=made,
            parameters=parameters,
            results=results,
            outputs=[Output(*output) for output in outputs],
            returned=Returned(*returned) if returned is not None else None,
            guard=guard_of(guard),
            lists=[ListFacts(*fact) for fact in lists[0]],
            capacities=guard_of(lists[1]) if lists[1] is not None else None,
            text=functools.partial(pickle.loads, text),
            taken=self.taken,
            **others,
        )

    def refusal(self) -> tuple[str, int] | None:
        """Why a nest stays Python in calls like this one, and at which line."""
        kept = _kept.load(self.name + _REFUSED, self.facts)
        if kept is None:
            return None
        reason, line, answers = kept
        return (reason, line) if is_same_call(self.inputs.values, answers) else None

    def keep_refusal(self, reason: str, line: int, asked: Asked) -> None:
        _kept.store(self.name + _REFUSED, self.facts, (reason, line, asked.as_kept()))

    def keep(self, t: Translation) -> None:
        try:
            text = pickle.dumps(t.text(), protocol=5)
        except RecursionError:
            return
        content = (
            t.kernel.as_bytes(),
            t.parameters,
            t.results,
            [values_of(output) for output in t.outputs],
            values_of(t.returned) if t.returned is not None else None,
            t.guard.__code__,
            (
                [values_of(fact) for fact in t.lists],
                t.capacities.__code__ if t.capacities is not None else None,
            ),
            {name: getattr(t, name) for name in _OTHERS},
            text,
        )
        _kept.store(self.name, self.facts, content)


_REFUSED = b" refused"
_OTHERS = (
    "has_signature written failures failing numpy_floats numpy_integers paused exit rounds"
    " asked is_wary".split()
)


def question_of(
    origin: Origin | None, inputs: Inputs, attributes: Iterable[str], node: ast.AST | None
) -> Question | None:
    """None: its answer can't be kept. node: the nest, where its text alone does not tell it."""
    try:
        return Question(origin, inputs, attributes, node) if origin is not None else None
    except Unlike:
        return None
