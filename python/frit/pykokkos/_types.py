"""_types.py: element types, as classes and as the enum DataType; the default precision."""

from __future__ import annotations

import builtins
from enum import Enum
from typing import Any

import numpy


class DataTypeClass:
    """The base of all element types; `np_equiv` is NumPy's type."""

    value: Any = None
    np_equiv: Any = None


def _type(name: str, numpy_type: Any) -> type[DataTypeClass]:
    fields = {"value": numpy.dtype(numpy_type).name, "np_equiv": numpy_type}
    return type(name, (DataTypeClass,), {**fields, "__module__": "frit.pykokkos"})


int8 = _type("int8", numpy.int8)
int16 = _type("int16", numpy.int16)
int32 = _type("int32", numpy.int32)
int64 = _type("int64", numpy.int64)
uint8 = _type("uint8", numpy.uint8)
uint16 = _type("uint16", numpy.uint16)
uint32 = _type("uint32", numpy.uint32)
uint64 = _type("uint64", numpy.uint64)
float = _type("float", numpy.float32)  # noqa: A001
float32 = _type("float32", numpy.float32)
double = _type("double", numpy.float64)
float64 = _type("float64", numpy.float64)
complex64 = _type("complex64", numpy.complex64)
complex128 = _type("complex128", numpy.complex128)
# Views of bool are of uint8, as PyKokkos stores them.
bool = type(  # noqa: A001
    "bool",
    (DataTypeClass,),
    {"value": "uint8", "np_equiv": numpy.bool_, "__module__": "frit.pykokkos"},
)
int = int32  # noqa: A001


class _Real(type):
    @property
    def np_equiv(cls) -> Any:
        return _precision.np_equiv


class real(DataTypeClass, metaclass=_Real):
    """The default precision, whatever it is when it is asked for."""

    value = None


del DataTypeClass.np_equiv  # real's comes from its metaclass


class DataType(Enum):
    """The element types as an enum."""

    int8 = "int8"
    int16 = "int16"
    int32 = "int32"
    int64 = "int64"
    uint8 = "uint8"
    uint16 = "uint16"
    uint32 = "uint32"
    uint64 = "uint64"
    float = "float32"
    double = "float64"
    float32 = "float32"
    float64 = "float64"
    real = None
    bool = "bool"
    complex64 = "complex64"
    complex128 = "complex128"

    @property
    def np_equiv(self) -> Any:
        if self is DataType.real:
            return _precision.np_equiv
        return numpy.dtype(self.value).type


_precision: Any = double
CLASSES = {
    numpy.dtype(cls.np_equiv): cls
    for cls in (
        int8,
        int16,
        int32,
        int64,
        uint8,
        uint16,
        uint32,
        uint64,
        float32,
        float64,
        complex64,
        complex128,
    )
}


def get_default_precision() -> type[DataTypeClass]:
    """What pk.real is."""
    return _precision


def set_default_precision(precision: type[DataTypeClass]) -> None:
    """Sets what pk.real is, for views made from now on."""
    global _precision
    if not (isinstance(precision, type) and issubclass(precision, DataTypeClass)):
        raise TypeError(f"set_default_precision: {precision!r} is no data type")
    _precision = precision


def numpy_type(dtype: Any) -> numpy.dtype[Any]:
    """NumPy's dtype for anything that a program may give as a View's dtype."""
    if dtype is builtins.int:
        return numpy.dtype(numpy.int32)
    if dtype is builtins.float:
        return numpy.dtype(numpy.float64)
    if dtype is bool:
        return numpy.dtype(numpy.uint8)
    equivalent = getattr(dtype, "np_equiv", None)
    if equivalent is not None:
        return numpy.dtype(equivalent)
    try:
        found = numpy.dtype(dtype)
    except TypeError:
        raise TypeError(f"{dtype!r} is no element type") from None
    if found == numpy.bool_:
        return numpy.dtype(numpy.uint8)
    if found not in CLASSES:
        raise TypeError(f"views of {found} are not supported")
    return found


def class_of(dtype: Any) -> Any:
    """The class or enum member that a view of this dtype shows."""
    if isinstance(dtype, DataType) and dtype is not DataType.real:
        return dtype
    if dtype is real or dtype is DataType.real:
        return DataType[_precision.__name__]
    return CLASSES[numpy_type(dtype)]
