"""_verify.py: FRIT_VERIFY=1: NumPy does every operation too; the first that differs is named.

Operators, methods, ufuncs and native functions are computed at once, and by NumPy on copies of the
operands; results and written operands are compared: exactly, but for what may differ in its last
digits by the promises of the documentation (transcendental functions, products through BLAS).
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from frit import _core

_Array = _core.Array
_to_numpy = _core.to_numpy_deep

# Elementwise functions that are within a few units in the last place of the true value, not equal.
_ULPS = 8
_APPROXIMATE = frozenset(
    """
    arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt cos cosh exp exp2 expm1 float_power
    hypot log log10 log1p log2 logaddexp logaddexp2 pow power sin sinh tan tanh
    acos acosh asin asinh atan atan2 atanh absolute abs __abs__ __pow__ __rpow__ __ipow__
    """.split()
)
# What goes through BLAS, or is composed of approximate functions: compared relative to its size.
_COMPOSED = frozenset(
    """
    __matmul__ __rmatmul__ __imatmul__ angle corrcoef cov dot geomspace inner logspace matmul
    matrix_norm matrix_power matvec multi_dot norm sinc tensordot vdot vecdot vecmat vector_norm
    """.split()
)

_inside = False
_found: list[str] = []


def first_difference() -> str | None:
    """The line and operation whose result differed first, or None."""
    return _found[0] if _found else None


def _copied(x: Any) -> Any:
    if isinstance(x, _Array) and not isinstance(x, numpy.generic):
        return numpy.array(_core.to_numpy(x), copy=True, subok=True)
    if type(x) in (list, tuple):
        return type(x)(_copied(item) for item in x)
    if type(x) is dict:
        return {key: _copied(item) for key, item in x.items()}
    return _core.to_numpy(x)


def verified(name: str, ours: Callable[..., Any], twin: Callable[..., Any]) -> Callable[..., Any]:
    """`ours`, which is compared with NumPy's `twin` at each call of the program's."""

    @functools.wraps(ours)
    def checked(*args: Any, **kwargs: Any) -> Any:
        global _inside
        if _inside:
            return ours(*args, **kwargs)
        _inside = True
        try:
            real_args, real_kwargs = _copied(args), _copied(kwargs)
            result = ours(*args, **kwargs)
            _core.eval()
            expected = _quietly(twin, real_args, real_kwargs)
            pairs = [("the result", result, expected)]
            pairs += [("an operand", a, b) for a, b in zip(args, real_args, strict=True)]
            pairs += [(f"{key}=", kwargs[key], real_kwargs[key]) for key in kwargs]
            for what, a, b in pairs:
                difference = _difference(name, a, b)
                if difference:
                    _tell(name, what, difference)
                    break
            return result
        finally:
            _inside = False

    return checked


def _quietly(twin: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
    # Into a large operand that only `args` holds NumPy's operators would write their result.
    held = [*args]  # noqa: F841
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return twin(*args, **kwargs)
        except Exception as error:
            return error


def _tell(name: str, what: str, difference: str) -> None:
    file, line = _core.current_source()[:2]
    text = f"FRIT_VERIFY: {file}:{line}: {name}: {what} differs from NumPy's: {difference}"
    if not _found:
        print(text, file=sys.stderr)
    _found.append(text)


def _difference(name: str, ours: Any, real: Any) -> str | None:
    """How two results differ, or None."""
    if isinstance(ours, tuple | list) and isinstance(real, tuple | list):
        if len(ours) != len(real):
            return f"{len(ours)} results, NumPy gives {len(real)}"
        found = (_difference(name, a, b) for a, b in zip(ours, real, strict=True))
        return next((text for text in found if text), None)
    ours = _to_numpy(ours)
    if isinstance(real, Exception):
        return f"NumPy raises {type(real).__name__}: {real}"
    if not isinstance(real, numpy.ndarray | numpy.generic):
        return None
    if not isinstance(ours, numpy.ndarray | numpy.generic):
        return f"a {type(ours).__name__}, NumPy gives a {type(real).__name__}"
    if ours.dtype != real.dtype or ours.shape != real.shape:
        return f"{ours.dtype}{ours.shape}, NumPy gives {real.dtype}{real.shape}"
    wrong = numpy.atleast_1d(_unequal(name, numpy.asarray(ours), numpy.asarray(real)))
    if not wrong.any():
        return None
    where = tuple(int(i) for i in numpy.argwhere(wrong)[0])
    a, b = numpy.atleast_1d(ours)[where], numpy.atleast_1d(real)[where]
    return f"at {where} of {ours.shape}: {a!r}, NumPy gives {b!r} ({int(wrong.sum())} elements)"


def _unequal(name: str, ours: numpy.ndarray, real: numpy.ndarray) -> Any:
    if real.dtype.kind not in "fc":
        return ours != real
    both_nan = (ours != ours) & (real != real)
    with numpy.errstate(all="ignore"):
        if name in _COMPOSED:
            finite = numpy.abs(real[numpy.isfinite(real)])
            size = finite.max() if finite.size else 1
            allowed = 64 * numpy.finfo(real.dtype).eps * size * max(real.size, 16) ** 0.5
            close = numpy.abs(ours - real) <= allowed
        elif name in _APPROXIMATE:
            close = numpy.abs(ours - real) <= _ULPS * numpy.spacing(numpy.abs(real))
        else:
            close = ours == real
    return ~((ours == real) | both_nan | close)


# ---- where the program's calls come in -----------------------------------------------------------


class _VerifiedUFunc:
    """A ufunc whose calls and methods are compared."""

    def __init__(self, ours: Any, real: numpy.ufunc) -> None:
        self._ours = ours
        self.__doc__ = real.__doc__
        self.__name__ = real.__name__
        self._call = verified(real.__name__, ours, real)
        for method in ("reduce", "accumulate", "outer", "reduceat", "at"):
            twin = getattr(real, method)
            name = real.__name__ if method in ("outer", "at") else f"{real.__name__}.{method}"
            setattr(self, method, verified(name, getattr(ours, method), twin))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ours, name)


_OPERATORS = [
    f"__{prefix}{name}__"
    for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
    for prefix in ("", "r", "i")
] + [f"__{name}__" for name in "neg pos abs invert lt le eq ne gt ge getitem setitem".split()]
_METHODS = """
    all any argmax argmin astype clip copy cumprod cumsum diagonal dot flatten max mean min prod
    ravel repeat reshape round squeeze std sum swapaxes take trace transpose var
    """.split()


def activate(namespace: dict[str, Any]) -> None:
    """Puts the comparison around operators, methods and ufuncs (_native.guard: functions)."""
    for name in (*_OPERATORS, *_METHODS):
        ours = getattr(_Array, name, None)
        if ours is not None:
            setattr(_Array, name, verified(name, ours, getattr(numpy.ndarray, name)))
    for name, value in list(namespace.items()):
        if isinstance(value, _core.UFunc):
            namespace[name] = _VerifiedUFunc(value, _core.to_numpy(value))
