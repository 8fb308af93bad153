"""_core.pyi: Frit's arrays, scalars and ufuncs, and the switches of its engine."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Literal

import numpy as np

class Array(np.ndarray[Any, Any]):
    """The user's ndarray: lazy, with NumPy's methods, attributes and operators.

    isinstance(real_ndarray, Array) holds; a class statement with this base makes a subclass of the
    real numpy.ndarray; calling it constructs as numpy.ndarray does.
    """

class Scalar(np.generic):
    """A 0-d result, computed when its value is wanted; then it behaves as the NumPy scalar."""

class UFunc(np.ufunc):
    """A ufunc that records where it can, and asks NumPy's own of the same name where it can't."""

class Fallback:
    """A callable that has NumPy do a call: operands evaluated, results wrapped, place counted."""

    __wrapped__: Callable[..., Any]
    def __init__(
        self,
        name: str,
        numpy_function: Callable[..., Any],
        counted: bool = True,
        through: str = ...,
        foreign: bool = False,
        method: bool = False,
        in_place: bool = False,
        draw: str = ...,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

ufuncs: dict[str, UFunc]
shortcuts: Any  # functions of one array of ours, which may answer NotImplemented

# ---- functions with NumPy's meaning --------------------------------------------------------------

def array(
    object: Any,
    dtype: Any = None,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
    device: Any = None,
) -> Any: ...
def asarray(a: Any, dtype: Any = None, order: str | None = None, **kwargs: Any) -> Any: ...
def asanyarray(a: Any, dtype: Any = None, order: str | None = None, **kwargs: Any) -> Any: ...
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any: ...
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any: ...
def empty(shape: Any, dtype: Any = float, order: str = "C", **kwargs: Any) -> Array: ...
def zeros(shape: Any, dtype: Any = float, order: str = "C", **kwargs: Any) -> Array: ...
def ones(shape: Any, dtype: Any = float, order: str = "C", **kwargs: Any) -> Array: ...
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **kwargs: Any
) -> Array: ...
def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Array: ...
def linspace(first: float, step: float, last: float, n: int) -> Array:
    """i * step + first for i below n, and `last` at the end: float64."""

def where(condition: Any, x: Any = ..., y: Any = ..., /) -> Any: ...
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None: ...
def concatenate(
    arrays: Sequence[Any],
    axis: int | None = 0,
    out: Any = None,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Array: ...
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Array: ...
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any: ...
def nonzero(a: Any, /) -> tuple[Array, ...]: ...
def may_share_memory(a: Any, b: Any, /) -> bool: ...

# ---- to and from NumPy ---------------------------------------------------------------------------

def to_numpy(x: Any, /) -> Any:
    """The real ndarray on an Array's memory, the NumPy scalar of a Scalar; else the object."""

def to_numpy_deep(x: Any, /) -> Any:
    """The same, inside lists, tuples and dicts as well."""

def own(x: Any, /) -> Any:
    """An Array of x, on its own memory where it has any; of a subclass of ndarray, x itself."""

def wrap_result(x: Any, /) -> Any:
    """Ours for a result of NumPy, inside tuples, lists and dicts as well."""

def taking_ours(kind: type, /) -> Any:
    """A __call__ for a library's type: arguments of ours become real, and then its results ours."""

def call_with_real(callee: Any, on: bool, /) -> None:
    """Whether a function that Cython has made, or objects of a type in C, get real arrays."""

def set_generators(kinds: tuple[type, ...], /) -> None:
    """The classes of ours that hold a real generator, as `_numpy`."""

def construct_with_real(kind: type, on: bool, /) -> None:
    """Whether objects of a type in C are made of real arrays."""

def operators_take_real_arrays(kind: type, /) -> None:
    """From now on [] and == of one type, which is torch's, get real arrays."""

def constructed_from_values(kind: type, /) -> None:
    """From now on a type in C gets the values of lazy numbers that it is constructed from."""

def find_names(module: ModuleType, function: Callable[[str], Any], /) -> None: ...
def set_in_type(kind: type, name: str, value: Any, /) -> None:
    """setattr, also for types that forbid it."""

def hold_engine() -> None: ...
def let_engine_go() -> None: ...
def watch_classes(dress: Callable[[type], object], /) -> None: ...
def compute_held(array: Any, items: bool = False, /) -> Any:
    """The array; where it is one of objects, NumPy's numbers have taken the lazy ones' places."""

def call_numpy(name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """One call by NumPy, counted as a fallback under this name."""

# ---- the engine ----------------------------------------------------------------------------------

def eval(*arrays: Any) -> None: ...
def is_pending(array: Any) -> bool: ...
def is_exported(array: Any) -> bool: ...
def has_pending() -> bool: ...
def run_pending() -> None: ...
def finish() -> None: ...
def explain(array: Any = None) -> str: ...
def explain_dot() -> str: ...
def statistics() -> dict[str, Any]: ...
def reset_statistics() -> None: ...
def threads() -> int: ...
def set_threads(n: int) -> None: ...
def set_lazy(lazy: bool) -> None: ...
def set_fusion(fusion: Literal["on", "trace", "off"]) -> None: ...
def set_device(name: Literal["cpu", "cuda", "emulated"]) -> None: ...
def device() -> Literal["cpu", "cuda", "emulated"]: ...
def device_description() -> str: ...
def set_device_cost(nanoseconds: float) -> float: ...
def synchronize() -> None: ...
def set_check(check: Literal["auto", "bounds"]) -> None: ...
def tier() -> Literal["automatic", "eager", "interpreter", "compiled"]: ...
def set_tier(tier: Literal["automatic", "eager", "interpreter", "compiled"]) -> None: ...
def wait_for_compiler() -> None: ...
def flush_caches() -> None: ...
def drain_released() -> None: ...

# ---- for the door --------------------------------------------------------------------------------

def fallbacks() -> list[tuple[str, str, int, int, str]]:
    """The fallbacks so far: (name, filename, line, count, reason)."""

def reset_fallbacks() -> None: ...
def set_fallback_mode(
    mode: Literal["silent", "warn", "error"],
    error_class: type[BaseException] | None = None,
    warning_class: type[Warning] | None = None,
) -> None: ...
def forget_float_state() -> None:
    """NumPy's errstate or the warning filters may have changed in this thread."""

class StateChange:
    """A function that changes them: pending work is computed first."""

    def __init__(self, original: Callable[..., Any], leaving: bool = False) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

def set_hooks(
    *,
    functions: dict[Callable[..., Any], Callable[..., Any]] | None = None,
    namespace: ModuleType | None = None,
    float_handler: Callable[[str, str, int, str, int], None] | None = None,
    stand_in: Callable[[Any], Any] | None = None,
) -> None: ...
def set_package_folders(folders: Sequence[str]) -> None:
    """Folders whose code is never "the user's line"."""

def current_source() -> tuple[str, int, str]:
    """Filename, line and function of the user's code that is running."""

# ---- for tests -----------------------------------------------------------------------------------

def fail_allocation(n: int) -> None:
    """Lets the n-th allocation of an array's memory from now on fail; 0: none; below 0: all."""

def let_float_errors_come_late() -> None:
    """NumPy's default errstate in this thread, as if no warning filter might act."""

def set_immediate_bytes(n: int) -> int:
    """Results of up to n bytes are computed at once where their inputs are ready.

    Gives back what it was.
    """

def set_unread_bytes(n: int) -> int:
    """What nobody is foreseen to read is not stored, from n bytes on. Gives back what it was."""

def set_postponed_bytes(n: int) -> int:
    """What is made of numbers alone is stored when it is read twice, from n bytes on.

    Gives back what it was.
    """

def kernel_folder() -> str: ...
def set_part_cost(nanoseconds: float) -> float:
    """Work that is worth handing to another thread, for bench/loops.py. Gives back what it was."""
