"""frit.loops: plain Python loops over arrays, run as parallel kernels.

    @frit.parallelize
    def saxpy(a, x, y):
        for i in range(x.shape[0]):
            y[i] = a * x[i] + y[i]

The function means what it meant. A nest of loops that Frit can translate, and of which it knows
before the first store that Python would raise no error in it, runs compiled; anything else runs as
the Python it is. frit.explain(saxpy) says which, and why.

find/ looks for nests in a text and gives each a place; run/ is a place at work; nest/ translates.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import types
import weakref
from collections.abc import Callable

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = ["Parallelized", "parallelize", "state_of"]


class Parallelized:
    """What is known of a decorated function.

    shown: what the program has instead. It gets the rewritten code at its first call, if that has
    the same closure: one that called the rewritten function would double what a short call takes.
    """

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.run: Callable[..., Any] = self.first
        # Its code holds this object, and is not seen by the collector.
        self.shown: Callable[[], types.FunctionType | None] = lambda: None
        self.code = function.__code__
        self.places: list[Any] = []
        self.get_refused: Callable[[], list[Any]] = list
        self.reason = "it has not been called"

    def first(self, *args: Any, **kwargs: Any) -> Any:
        try:
            self.prepare()
            return self.run(*args, **kwargs)
        except BaseException:
            self.leave_out()
            raise

    def leave_out(self) -> None:
        """Tracebacks do not show who has called the function; a bare `raise` adds no frame."""
        error = sys.exc_info()[1]
        if error is not None and error.__traceback__ is not None:
            error.__traceback__ = error.__traceback__.tb_next

    def prepare(self) -> None:
        from frit._quiet import without_collections
        from frit.translate.errors import TranslationError

        if self.run != self.first:
            return
        try:
            with without_collections():
                self.run_from_now_on(self.rewritten())
        except TranslationError as error:
            self.run_from_now_on(self.function)
            self.reason = str(error)

    def __reduce__(self) -> Any:
        return Parallelized, (self.function,)

    def run_from_now_on(self, function: types.FunctionType) -> None:
        self.run, shown = function, self.shown()
        names = self.function.__code__.co_freevars
        if shown is not None and function.__code__.co_freevars == names:
            from frit._quiet import without_warnings

            with without_warnings():  # of a generator's code in place of a function's
                shown.__code__ = function.__code__

    def rewritten(self) -> types.FunctionType:
        from frit import _kept
        from frit.loops.find import kept
        from frit.loops.find.codes import function_with, with_places

        function, cells = self.function, filled_cells(self.function)
        origin = kept.origin_of(function, cells)
        found = kept.load(function, origin)
        if found is not None:
            made, self.places = found.made, found.places
            self.get_refused = lambda: found.trees()[1]
        else:
            made = self.made_anew(cells)
            if self.places and origin is not None:
                with contextlib.suppress(RecursionError):  # a tree that is too deep for pickle
                    content = kept.content_of_function(made, self.places, self.code, self.refused)
                    _kept.store(*origin, content)
                kept.note_origin(self.places, origin)
        if not self.places:
            return function
        self.reason = ""
        for place in self.places:
            place.is_eager = True
            place.file = self.code.co_filename
            place.note_hopeless = weakref.WeakMethod(self.note_hopeless)
        return function_with(with_places(made, self.places), function)

    def made_anew(self, cells: set[str], *, looks_inside: bool = False) -> types.CodeType:
        """The function's code, in which places are numbers.

        looks_inside: functions in it get places, too.
        """
        import ast

        from frit.loops.find.codes import codes_by_place, compiled_function
        from frit.loops.find.rewrite import Rewriter, Scope
        from frit.loops.find.trees import trees_of
        from frit.loops.names import copied, owner_of
        from frit.translate.source import source_of

        function = self.function
        source = source_of(function)
        self.code = source.code
        if not isinstance(source.node, ast.FunctionDef):
            self.reason = "it is no function with statements"
            return self.code
        node = copied(source.node)
        codes = codes_by_place(source.code) if looks_inside else None
        rewriter = Rewriter(trees_of(source.node), codes)
        rewriter.owner = owner_of(function)
        rewriter.function(node, Scope(source.code, cells=cells))
        self.get_refused = lambda: rewriter.refused
        if not rewriter.places:
            self.reason = "no loop of it can be translated"
            return self.code
        self.places = rewriter.places
        return compiled_function(self.code, node)

    @property
    def refused(self) -> list[Any]:
        """Loops that are no nests: loop, what in it, why."""
        return self.get_refused()

    @property
    def sites(self) -> list[Any]:
        """Of its nests that were called."""
        bindings = [b for place in self.places for b in (place.binding, *place.others)]
        return [b.site for b in bindings if b is not None and b.site is not None]

    def note_hopeless(self) -> None:
        if not any(place.on for place in self.places):
            self.run_from_now_on(self.function)


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
    given = state_of(function)
    if given is not None and given.shown() is function:  # a wrapper has the attribute, too
        return function
    state = Parallelized(function)
    constants = [state if value == _STATE else value for value in _until_called.__code__.co_consts]
    code = _until_called.__code__.replace(
        co_consts=tuple(constants), co_freevars=function.__code__.co_freevars
    )
    shown = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    shown.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(shown, function)
    shown.__frit__ = state  # type: ignore[attr-defined]
    state.shown = weakref.ref(shown)
    return shown  # type: ignore[return-value]


_STATE = "state"


def _until_called(*args: Any, **kwargs: Any) -> Any:
    try:
        return "state".run(*args, **kwargs)  # type: ignore[attr-defined]
    except:  # noqa: E722  # the program's names are read here
        "state".leave_out()  # type: ignore[attr-defined]
        raise


def state_of(function: Any) -> Parallelized | None:
    """What is known of a function that parallelize() gave."""
    found = getattr(function, "__frit__", None)
    return found if isinstance(found, Parallelized) else None
