"""_verify.py: FRIT_VERIFY=1: NumPy does every operation too; the first that differs is named.

Operators, methods, ufuncs and native functions are computed at once, and by NumPy on copies of the
operands; results and written operands are compared: exactly, but for what may differ in its last
digits by the promises of the documentation (transcendental functions, products through BLAS).
"""

from __future__ import annotations

import ctypes
import functools
import sys
import types
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
    __matmul__ __rmatmul__ __imatmul__ angle blackman corrcoef cov dot einsum geomspace hamming
    hanning inner logspace matmul matrix_norm matrix_power matvec multi_dot norm sinc tensordot vdot
    vecdot vecmat vector_norm
    """.split()
)

_inside = False
_found: list[str] = []


def first_difference() -> str | None:
    """The line and operation whose result differed first, or None."""
    return _found[0] if _found else None


def _arrays_in(x: Any) -> list[numpy.ndarray]:
    """Real arrays for ours, in the order in which _Copies meets them."""
    if isinstance(x, _Array) and not isinstance(x, numpy.generic):
        return [_core.to_numpy(x)]
    items = x if type(x) in (list, tuple) else x.values() if type(x) is dict else ()
    return [array for item in items for array in _arrays_in(item)]


def _decides_itself(x: Any) -> bool:
    """Holds it an object of a class that NumPy asks, and that a second call may change?"""
    if isinstance(x, _Array | _core.Scalar | numpy.ndarray | numpy.generic):
        return False
    if type(x) in (list, tuple, dict):
        return any(_decides_itself(item) for item in (x.values() if type(x) is dict else x))
    return hasattr(type(x), "__array_ufunc__") or hasattr(type(x), "__array_function__")


class _Copies:
    """Copies of operands for NumPy; those that share memory do so, too."""

    def __init__(self, operands: Any) -> None:
        arrays = [a for a in _arrays_in(operands) if a.size and not a.dtype.hasobject]
        spans: list[list[int]] = []  # first byte, end, how many arrays lie there
        for low, high in sorted(numpy.lib.array_utils.byte_bounds(a) for a in arrays):
            if spans and low < spans[-1][1]:
                spans[-1] = [spans[-1][0], max(spans[-1][1], high), spans[-1][2] + 1]
            else:
                spans.append([low, high, 1])
        self._spans = [
            (low, high, bytearray(ctypes.string_at(low, high - low)))
            for low, high, count in spans
            if count > 1
        ]

    def of(self, x: Any) -> Any:
        if isinstance(x, _Array) and not isinstance(x, numpy.generic):
            return self._of_array(_core.to_numpy(x))
        if type(x) in (list, tuple):
            return type(x)(self.of(item) for item in x)
        if type(x) is dict:
            return {key: self.of(item) for key, item in x.items()}
        return _core.to_numpy(x)

    def _of_array(self, real: numpy.ndarray) -> numpy.ndarray:
        place = real.__array_interface__["data"][0]
        for low, high, memory in self._spans:
            if low <= place < high and real.size:
                return numpy.ndarray(real.shape, real.dtype, memory, place - low, real.strides)
        return numpy.array(real, copy=True, subok=True)


def verified(name: str, ours: Callable[..., Any], twin: Callable[..., Any]) -> Callable[..., Any]:
    """`ours`, which is compared with NumPy's `twin` at each call of the program's."""

    @functools.wraps(ours)
    def checked(*args: Any, **kwargs: Any) -> Any:
        global _inside
        if _inside or _decides_itself((args, kwargs)):
            return ours(*args, **kwargs)
        _inside = True
        try:
            copies = _Copies((args, kwargs))
            real_args, real_kwargs = copies.of(args), copies.of(kwargs)
            with _Heard():
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
    shown, warnings.showwarning = warnings.showwarning, lambda *words, **more: None
    try:
        with numpy.errstate(all="ignore"):
            return twin(*args, **kwargs)
    except Exception as error:
        return error
    finally:
        warnings.showwarning = shown
        globals().pop("__warningregistry__", None)


class _Heard:
    """Warnings that name a line of this file name the program's instead, as they do without it.

    (warnings.catch_warnings() would make Python forget which it has shown.)
    """

    def __enter__(self) -> None:
        frame: types.FrameType | None = sys._getframe(1)
        while frame and frame.f_back and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        self._frame = frame
        self._shown, warnings.showwarning = warnings.showwarning, self._show

    def __exit__(self, *error: Any) -> None:
        if warnings.showwarning == self._show:
            warnings.showwarning = self._shown

    def _show(self, message: Any, category: Any, filename: str, lineno: int, *more: Any) -> None:
        if filename != __file__ or self._frame is None:
            return self._shown(message, category, filename, lineno, *more)
        globals().pop("__warningregistry__", None)
        names = self._frame.f_globals
        warnings.showwarning = self._shown
        try:
            warnings.warn_explicit(
                message,
                category,
                self._frame.f_code.co_filename,
                self._frame.f_lineno,
                names.get("__name__"),
                names.setdefault("__warningregistry__", {}),
            )
        finally:
            warnings.showwarning = self._show


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
    if real.dtype.kind in "mM":
        return (ours != real) & ~(numpy.isnat(ours) & numpy.isnat(real))
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


class VerifiedFunction:
    """A function whose calls are compared. It equals NumPy's, as ours does."""

    def __init__(self, name: str, ours: Any, real: Any) -> None:
        self._ours = ours
        self._call = verified(name, ours, real)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ours, name)

    def __eq__(self, other: object) -> bool:
        return bool(self._ours == (other._ours if type(other) is type(self) else other))

    def __hash__(self) -> int:
        return hash(self._ours)


class _VerifiedUFunc(VerifiedFunction):
    """A ufunc whose calls and methods are compared."""

    def __init__(self, ours: Any, real: numpy.ufunc) -> None:
        super().__init__(real.__name__, ours, real)
        self.__doc__ = real.__doc__
        self.__name__ = real.__name__
        for method in ("reduce", "accumulate", "outer", "reduceat", "at"):
            twin = getattr(real, method)
            name = real.__name__ if method in ("outer", "at") else f"{real.__name__}.{method}"
            setattr(self, method, verified(name, getattr(ours, method), twin))


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
