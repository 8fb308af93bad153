"""choices.py: what the variables of a nest choose of it, and which of them may be None.

texts.py says which variables choose, and nones.py what a nest is whose variables become None.
"""

from __future__ import annotations

from collections.abc import Iterable

from frit.loops.run.given import is_surrounding
from frit.loops.run.methods import PlainMethod
from frit.loops.run.texts import (
    NONE,
    SOME,
    compared_names,
    names_that_may_be_none,
    settled,
)
from frit.translate.record import replace

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    import ast
    from typing import Any

    from frit.loops.run.attributes import Attributes
    from frit.loops.run.texts import Tree
    from frit.loops.run.traits import Traits


class Choices:
    """Of one binding of a place, as its first call finds the variables."""

    def __init__(self, traits: Traits) -> None:
        self.traits = traits
        self.of_variables: dict[str, Any] = {}  # texts, None or SOME
        self.of_attributes: dict[str, Any] = {}
        self.fixed: dict[int, str | None] = {}  # attributes that are no values, by number
        self.optional: dict[str, bool] = {}  # those that the nest assigns: whether they are None
        self.some: list[int] = []  # numbers of values that may be None another time
        self._loop: ast.For | ast.While | None = None
        self._node: tuple[ast.AST, Any] | None = None

    def is_value(self, name: str, value: Any) -> bool:
        """Whether a variable is one of the nest's values; else None, a text or a surrounding."""
        traits = self.traits
        is_compared = name in traits.nones
        if name in traits.plain and (is_compared or value is None):
            self.optional[name] = value is None
            if value is None:
                return False
        is_chosen = is_compared and name not in traits.assigned
        is_text = type(value) is str and name in traits.texts
        if is_text or is_chosen:
            self.of_variables[name] = value if is_text or value is None else SOME
        return not (is_text or is_surrounding(value) or is_chosen and value is None)

    def is_none_at_first(self, name: str) -> bool:
        return self.optional.get(name, False)

    def add_own(self, given: Iterable[str]) -> None:
        """Variables that only the nest assigns."""
        own = {*self.traits.plain} & {*self.traits.nones} - {*self.optional, *given}
        self.optional.update((name, False) for name in sorted(own))

    def loop(self, loop: ast.For | ast.While) -> ast.For | ast.While:
        """For what its variables choose."""
        if not self.of_variables:
            return loop
        if self._loop is None:
            self._loop = settled(loop, self.of_variables)
        return self._loop

    def node(self, node: ast.For | ast.While) -> ast.For | ast.While:
        """The loop with variables for attributes, for what these choose."""
        if not self.of_attributes and not self.optional:
            return node
        if self._node is None or self._node[0] is not node:
            self._node = node, self.prepared(node)
        made: ast.For | ast.While = self._node[1]
        return made

    def prepared(self, tree: Tree) -> Tree:
        """For what attributes choose, and with flags of variables that may be None."""
        made = settled(tree, self.of_attributes)
        if not self.optional:
            return made
        from frit.loops.run.nones import with_flags

        return with_flags(made, {*self.optional})

    def add_attributes(self, found: Attributes, values: Iterable[Any]) -> dict[str, Any]:
        """Those that are only compared with texts, and those that may be None.

        The result: surroundings that follow from them.
        """
        from frit.loops.names import nodes_in
        from frit.loops.run.nones import plainly_assigned

        methods = {n: m for n, m in found.methods.items() if isinstance(m, PlainMethod)}
        nodes = nodes_in([found.node, *(m.definition for m in methods.values())])
        texts, compared = compared_names(nodes), names_that_may_be_none(nodes)
        stored = {*found.stored}
        optional = plainly_assigned(nodes) & stored
        texts, nones = texts - stored, compared - stored
        self.of_attributes = {name: SOME for name in nones & found.methods.keys()}
        surroundings: dict[str, Any] = {}
        for number, (name, value) in enumerate(zip(found.names, values, strict=False)):
            is_text = name in texts and type(value) is str
            if name in optional and (name in compared or value is None):
                self.optional[name] = value is None
                if value is None:
                    self.fixed[number] = None
            if is_text or name in nones:
                self.of_attributes[name] = value if is_text or value is None else SOME
            if is_text or name in nones and value is None:
                self.fixed[number] = surroundings[name] = value
        for name, method in methods.items() if self.of_attributes or self.optional else ():
            stores = method.stores.union(n + NONE for n in method.stores & self.optional.keys())
            definition = self.prepared(method.definition)
            surroundings[name] = replace(method, definition=definition, stores=stores)
        return surroundings

    def number(self, names: list[str]) -> None:
        """The values are these."""
        some = {name for name, is_none in self.optional.items() if not is_none}
        for chosen in (self.of_variables, self.of_attributes):
            some |= {name for name, value in chosen.items() if value is SOME}
        self.some = [k for k, name in enumerate(names) if name in some]

    def flags(self, outputs: Iterable[str]) -> list[str]:
        """What says of the outputs whether they are None."""
        return [name + NONE for name in outputs if name in self.optional]

    def changed(self, attributes: tuple[Any, ...]) -> int | None:
        """The number of an attribute that is not what it was."""
        for number, known in self.fixed.items():
            if type(attributes[number]) is not type(known) or attributes[number] != known:
                return number
        return None

    def without_fixed(self, attributes: tuple[Any, ...]) -> tuple[Any, ...]:
        if not self.fixed:
            return attributes
        return tuple(x for k, x in enumerate(attributes) if k not in self.fixed)
