"""core_compare.py: one piece of program on real arrays and on ours, compared to the last word."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from frit import _core


def ours(x: Any) -> Any:
    """A private Array (no memory that others see) with the same elements and layout as x."""
    return _core.array(_core.own(x)) if isinstance(x, numpy.ndarray) else x


def described(x: Any) -> Any:
    """A value in terms that are equal for ours and NumPy's if a user sees no difference."""
    if isinstance(x, (tuple, list)):
        return (type(x).__name__, [described(y) for y in x])
    real = _core.to_numpy(x)
    if isinstance(real, numpy.ndarray):
        strides = (
            None
            if real.size == 0
            else tuple(s for s, n in zip(real.strides, real.shape, strict=True) if n > 1)
        )
        return ("array", real.dtype.str, real.shape, strides, real.flags.writeable, bits(real))
    if isinstance(real, numpy.generic):
        return (type(real).__name__, bits(numpy.asarray(real)))
    return (type(real).__name__, repr(real))


def bits(x: numpy.ndarray) -> Any:
    """The bytes, with one NaN for all."""
    if x.dtype.hasobject:
        return repr(x.tolist())
    if x.dtype.kind == "c":
        return bits(x.real), bits(x.imag)
    if x.dtype.kind == "f":
        x = numpy.where(x != x, numpy.array(numpy.nan, x.dtype), x)
    return x.tobytes()


def outcome(action: Callable[..., Any], arguments: tuple) -> Any:
    """Result, arguments afterwards, exception and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result: Any = described(action(*arguments))
        except Exception as error:
            result = (type(error).__name__, str(error))
        after = [described(a) for a in arguments]
    return result, after, [(w.category.__name__, str(w.message)) for w in caught]


def same(name: str, *arguments: Any, **options: Any) -> None:
    """The function of this name gives the same on ours: result or exception, and warnings."""
    expected = outcome(lambda *x: getattr(numpy, name)(*x, **options), arguments)
    given = {key: ours(value) for key, value in options.items()}
    function = getattr(importlib.import_module("frit.numpy"), name)
    found = outcome(lambda *x: function(*x, **given), tuple(ours(a) for a in arguments))
    assert (found[0], found[2]) == (expected[0], expected[2]), (name, arguments, options)


def in_steps(a: Any, b: Any) -> int:
    """How many floats two described results lie apart, at the most; all else must be equal."""
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
        if len(a) == 6 and a[0] == "array" and a[:5] == b[:5] and a[1][1] in "fc":
            real = numpy.dtype("f" + str(int(a[1][2:]) // (2 if a[1][1] == "c" else 1)))
            return max(
                steps_between(x, y, real) for x, y in zip(parts(a[5]), parts(b[5]), strict=True)
            )
        return max((in_steps(x, y) for x, y in zip(a, b, strict=True)), default=0)
    return 0 if a == b else 2**63


def parts(raw: Any) -> tuple:
    return raw if isinstance(raw, tuple) else (raw,)


def steps_between(a: bytes, b: bytes, dtype: numpy.dtype) -> int:
    if len(a) != len(b):
        return 2**63
    whole = numpy.dtype(f"i{dtype.itemsize}")
    x, y = numpy.frombuffer(a, whole).astype(object), numpy.frombuffer(b, whole).astype(object)
    return int(abs(x - y).max(initial=0))


def check_within(steps: int, action: Callable[..., Any], *arguments: Any) -> None:
    """As check(), for mathematics: results within so many steps of NumPy's."""
    real = tuple(a.copy(order="K") if isinstance(a, numpy.ndarray) else a for a in arguments)
    expected = outcome(action, real)
    actual = outcome(action, tuple(ours(a) for a in arguments))
    assert in_steps(actual, expected) <= steps, f"{actual}\n   for {expected}"


def check(action: Callable[..., Any], *arguments: Any) -> None:
    """Asserts that action(*arguments) means the same for real arrays and for ours."""
    real = tuple(a.copy(order="K") if isinstance(a, numpy.ndarray) else a for a in arguments)
    expected = outcome(action, real)
    actual = outcome(action, tuple(ours(a) for a in arguments))
    assert actual == expected, f"{actual}\n   for {expected}"
