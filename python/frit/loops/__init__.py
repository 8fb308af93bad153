"""frit.loops: plain Python loops over arrays, run as parallel kernels.

    @frit.parallelize
    def saxpy(a, x, y):
        for i in range(x.shape[0]):
            y[i] = a * x[i] + y[i]

The function means what it meant. A nest of loops that Frit can translate, and of which it knows
before the first store that Python would raise no error in it, runs compiled; anything else runs as
the Python it is. frit.explain(saxpy) says which, and why.
"""

from __future__ import annotations

import ast
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Parallelized", "parallelize", "state_of"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Parallelized:
    """What is known of a decorated function."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.run: Callable[..., Any] = self.first
        self.code = function.__code__
        self.places: list[Any] = []
        self.refused: list[Any] = []  # loops that are no nests: loop, what in it, why
        self.reason = "it has not been called"

    def first(self, *args: Any, **kwargs: Any) -> Any:
        self.prepare()
        return self.run(*args, **kwargs)

    def prepare(self) -> None:
        from frit.loops.quiet import without_collections
        from frit.translate.errors import TranslationError

        if self.run != self.first:
            return
        try:
            with without_collections():
                self.run = self.rewritten()
        except TranslationError as error:
            self.run = self.function
            self.reason = str(error)

    def rewritten(self) -> Callable[..., Any]:
        from frit.loops.names import copied, owner_of
        from frit.loops.rewrite import Rewriter, Scope, function_of
        from frit.translate.source import source_of

        function = self.function
        source = source_of(function)
        self.code = source.code
        if not isinstance(source.node, ast.FunctionDef):
            self.reason = "it is no function with statements"
            return function
        node = copied(source.node)
        rewriter = Rewriter()
        rewriter.owner = owner_of(function)
        rewriter.function(node, Scope(source.code, cells=filled_cells(function)))
        self.refused = rewriter.refused
        if not rewriter.places:
            self.reason = "no loop of it can be translated"
            return function
        self.reason = ""
        self.places = rewriter.places
        for place in self.places:
            place.is_eager = True
            place.file = source.file
            place.note_hopeless = weakref.WeakMethod(self.note_hopeless)
        return function_of(function, source.code, node, self.places)

    @property
    def sites(self) -> list[Any]:
        """Of its nests that were called."""
        bindings = [place.binding for place in self.places]
        return [b.site for b in bindings if b is not None and b.site is not None]

    def note_hopeless(self) -> None:
        if not any(place.on for place in self.places):
            self.run = self.function


def filled_cells(function: types.FunctionType) -> set[str]:
    """The variables of functions around it that have a value."""
    found = set()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            _ = cell.cell_contents
        except ValueError:
            continue
        found.add(name)
    return found


def parallelize(function: Function) -> Function:
    """Runs the function's loops over arrays as parallel kernels, where that means the same.

    Arrays are NumPy's or Frit's, of any numeric dtype and any strides. Nothing else
    about the function changes, errors and their partial effects included.
    """
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"parallelize: needs a Python function, got {type(function).__name__}")
    state = Parallelized(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return state.run(*args, **kwargs)

    call.__frit__ = state  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def state_of(function: Any) -> Parallelized | None:
    """What is known of a function that parallelize() gave."""
    found = getattr(function, "__frit__", None)
    return found if isinstance(found, Parallelized) else None
