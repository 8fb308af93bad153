"""compare.py: runs a piece of a NumPy program under NumPy and under frit.numpy and compares all of it."""

# ruff: noqa: E501

from __future__ import annotations

import warnings
from typing import Any

import numpy

import frit.numpy

# What the pieces may use; each run gets fresh copies.
INPUTS = """
v = np.array([3.0, -1.5, 0.0, 2.25, 8.0])
w = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
m = np.arange(12.0).reshape(3, 4)
n = np.arange(12, dtype=np.int32).reshape(3, 4)[::-1]
t = np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)
f = np.asfortranarray(np.arange(6.0).reshape(2, 3))
g = np.arange(8, dtype=np.float32)[::2]
c = np.array([1 + 2j, 3 - 1j, 0.5j])
b = np.array([True, False, True, True, False])
u = np.array([0, 1, 255, 7], dtype=np.uint8)
h = np.array([1.5, 2.5, -0.5], dtype=np.float16)
e = np.zeros((0, 3))
z = np.array(2.5)
nan = np.array([1.0, np.nan, 3.0, -np.inf, np.nan, 2.0])
s = np.array(["b", "a", "c"])
o = np.array([1, None, "x"], dtype=object)
d = np.array(["2020-01-01", "2021-06-05"], dtype="M8[D]")
"""


def outcome(
    program: str, module: Any, names: dict[str, Any] | None = None
) -> tuple[Any, list[tuple], dict]:
    """The value of `r` (or the exception), the warnings, and the inputs after the program, which
    may use `names` besides."""
    scope: dict[str, Any] = {"np": module, **(names or {})}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(INPUTS, scope)
        try:
            try:
                code = compile(program, "<piece>", "eval")
            except SyntaxError:
                exec(program, scope)
                value = scope["r"]
            else:
                value = eval(code, scope)
            value = described(value)
        except Exception as error:
            value = ("raised", type(error).__name__, str(error))
    after = {
        name: described(x)
        for name, x in scope.items()
        if len(name) <= 3 and name != "np" and name != "r"
    }
    return value, [(w.category.__name__, str(w.message)) for w in caught], after


def described(value: Any) -> Any:
    """A value in terms that are equal exactly when NumPy's user could see no difference."""
    core = frit._core
    if isinstance(value, core.Scalar):
        value = core.to_numpy(value)
    if type(value) in (numpy.ndarray, core.Array):
        return ("ndarray", *_array(value))
    if isinstance(value, numpy.ndarray):
        return (type(value).__name__, *_array(numpy.asarray(value)))
    if isinstance(value, numpy.generic):
        return (type(value).__name__, str(value.dtype), _bits(numpy.asarray(value)))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, [described(x) for x in value])
    if isinstance(value, dict):
        return ("dict", {key: described(x) for key, x in value.items()})
    if isinstance(value, float) and value != value:
        return ("float", "nan")
    if isinstance(value, (int, float, complex, str, bytes, bool, type(None), slice, range)):
        return (type(value).__name__, value)
    return (type(value).__name__,)


def _array(array: Any) -> tuple:
    strides = array.strides
    if any(n <= 1 for n in array.shape):
        strides = tuple(s if n > 1 else None for s, n in zip(strides, array.shape, strict=True))
    if 0 in array.shape:
        strides = None
    flags = (array.flags.c_contiguous, array.flags.f_contiguous, array.flags.writeable)
    return (array.dtype.str, array.shape, strides, flags, _bits(array))


def _bits(array: Any) -> Any:
    array = numpy.asarray(array)
    if array.dtype.hasobject:
        return repr(array.tolist())
    if array.dtype.kind in "fc":
        # A NaN equals a NaN; zeros keep their signs.
        parts = array.ravel().view(array.real.dtype)
        canonical = numpy.where(numpy.isnan(parts), numpy.array(numpy.nan, parts.dtype), parts)
        return canonical.tobytes()
    return array.tobytes()


def check(program: str) -> None:
    """Asserts that the program means the same under Frit as under NumPy."""
    expected = outcome(program, numpy)
    actual = outcome(program, frit.numpy)
    assert actual[0] == expected[0], f"value of: {program}"
    assert actual[1] == expected[1], f"warnings of: {program}"
    for name, value in expected[2].items():
        assert actual[2].get(name) == value, f"{name} after: {program}"
