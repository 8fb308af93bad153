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

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Parallelized", "parallelize", "state_of"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Parallelized:
    """What is known of a decorated function."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.run: Callable[..., Any] = self.first
        self.sites: list[Any] = []
        self.reason = "it has not been called"

    def first(self, *args: Any, **kwargs: Any) -> Any:
        self.prepare()
        return self.run(*args, **kwargs)

    def prepare(self) -> None:
        from frit.loops.rewrite import NothingToDo, Rewriter
        from frit.translate.errors import TranslationError

        if self.run != self.first:
            return
        try:
            rewriter = Rewriter(self.function, self.note_hopeless)
            self.run = rewriter.run()
            self.sites = rewriter.sites
            self.reason = ""
        except NothingToDo:
            self.run = self.function
            self.reason = "no loop of it can be translated"
        except TranslationError as error:
            self.run = self.function
            self.reason = str(error)

    def note_hopeless(self) -> None:
        if all(site.is_hopeless for site in self.sites):
            self.run = self.function


def parallelize(function: Function) -> Function:
    """Runs the function's loops over arrays as parallel kernels, where that means the same.

    Arrays are NumPy's or Frit's, of any numeric dtype but complex, and any strides. Nothing else
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
