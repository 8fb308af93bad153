"""translation.py: what a nest is translated from, and what is made of it."""

from __future__ import annotations

import ast
import itertools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy

from frit import _core
from frit.loops.nest.asked import FUNCTIONS, Kept
from frit.loops.run.list_runs import ListFacts
from frit.loops.run.surroundings import Surroundings
from frit.translate.record import field, record


@record
class Inputs:
    """A nest, and what a call gives it."""

    node: ast.For | None  # None: it is not read yet
    names: list[str]  # of the values
    values: tuple[Any, ...]
    key: str
    outputs: list[str]  # variables that are read behind the nest
    surroundings: dict[str, Any]  # names of modules, functions and types
    is_unbound: frozenset[str]  # outputs that may have no value before the nest
    logs: frozenset[str] = frozenset()  # lists that are only appended to: empty ones stand for them
    left: int = 0  # last rounds that are not run; the guard holds for them too. Below 0: only they
    # By the id() of a function, and a name in its closure or a default's: a name of the nest.
    varied: dict[tuple[int, str], str] = field(default_factory=dict)
    # Variables that may be None, and whether they are before the nest: then they are no values.
    optional: dict[str, bool] = field(default_factory=dict)


# What a variable's counter says instead, where it may have become one of Python's kinds again. Of
# an int and a float the larger is what their sum is (doubt.py).
TOLD = {"float": -1, "int": -2, "complex": -3, "bool": -4}
ARRAY = "A"  # a variable that is changed in place: it remains what it is, and is no result


@record
class Output:
    name: str
    kind: str  # as LoopNest wants it, or ARRAY
    # Result that counts assignments of NumPy's kind, or says the kind (TOLD); -1: there was one.
    counter: int = -1
    # Of a new array: its elements are as many results, and one more says which array it is, as far
    # as somebody asks: of several with one number, and -1 - k is value k of the call. None: it is
    # one number.
    shape: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        """How many results."""
        if self.kind == ARRAY:
            return 0
        return 1 if self.shape is None else math.prod(self.shape) + 1


@record
class Returned:
    """Results: a flag, whether the function has returned, and what it gives."""

    flag: int
    values: list[int]  # the first result of each
    shapes: list[tuple[int, ...] | None]  # as of an output's
    is_tuple: bool


@record
class Text:
    """What the parts of the kernel are in the program."""

    positions: list[tuple[int, int, ast.AST]]  # of the accesses: line, column, text
    loops: list[ast.AST]


@record
class Translation:
    kernel: Any
    parameters: list[int]  # of the kernel: numbers of values, those of the results behind them
    results: list[str]
    outputs: list[Output]
    returned: Returned | None
    guard: types.FunctionType
    has_signature: bool  # the guard follows from loop_signature
    written: list[int]  # values that are stored to
    lists: list[ListFacts]  # those of them that are lists
    capacities: types.FunctionType | None  # how long lists get that are appended to, at most
    failures: int  # the result that counts failures, or -1
    failing: int  # the local that it does so in, or -1
    numpy_floats: bool
    numpy_integers: bool  # of which one may overflow
    text: Callable[[], Text]
    taken: Surroundings | None  # from the program
    paused: int = -1  # the result that says whether it is to go on, with more room in lists, or -1
    # Results, or -1: the exit at which it was left (find/exits.py), and how many rounds were begun.
    exit: int = -1
    rounds: int = -1
    # What was asked of the call: one that answers the same gets the same translation. None: nobody
    # knows, or elements of arrays.
    asked: Kept | None = None
    is_wary: bool = False  # a call with other answers may have fewer checks

    @property
    def gives_arrays(self) -> bool:
        """New ones."""
        returned = self.returned.shapes if self.returned is not None else []
        shapes = [x.shape for x in (*self.outputs, *self.lists)]
        return any(shape is not None for shape in (*shapes, *returned))


def names_of(inputs: Inputs, results: list[str]) -> list[str]:
    """Of the kernel's values."""
    return [*inputs.names, *(f"result {k}" for k in range(len(results)))]


def guard_of(code: types.CodeType) -> types.FunctionType:
    """The function of a call's values that has this code."""
    return types.FunctionType(code, _GUARD)


def is_plain(array: Any) -> bool:
    """Whether no two elements of the array share memory."""
    reach = array.itemsize
    for stride, extent in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if extent > 1:
            if stride < reach:
                return False
            reach += stride * (extent - 1)
    return True


def is_c_ordered(array: Any) -> bool:
    """Whether the strides of the axes fall, and none is below 0."""
    strides = [s for s, n in zip(array.strides, array.shape, strict=True) if n > 1]
    return all(x > y for x, y in itertools.pairwise([*strides, 0]))


_GUARD = {
    **FUNCTIONS,
    "overlap": numpy.may_share_memory,
    "index_range": _core.index_range,
    "is_c_ordered": is_c_ordered,
    "is_plain": is_plain,
    "float32": numpy.float32,
}
