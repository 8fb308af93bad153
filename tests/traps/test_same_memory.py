"""test_same_memory.py: memory of ours that a library hands back as a view which doesn't say so.

Two arrays of ours then name it as if it were apart; what reads the one and writes the other has to
see that it is not. NumPy goes by addresses.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy.lib.stride_tricks import as_strided

import frit.numpy as np


class Interface:
    """An object that has an array's memory, and no hold on it."""

    def __init__(self, array: Any) -> None:
        self.__array_interface__ = array.__array_interface__


def by_windows(a: Any) -> Any:
    return np.lib.stride_tricks.sliding_window_view(a, 1, writeable=True)[:, 0]


def by_strides(a: Any) -> Any:
    return np.asarray(as_strided(numpy.asarray(a)))


def by_interface(a: Any) -> Any:
    return np.asarray(Interface(numpy.asarray(a)))


def by_pointer(a: Any) -> Any:
    ndarray = numpy.asarray(a)
    pointer = ndarray.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    return np.asarray(numpy.ctypeslib.as_array(pointer, shape=ndarray.shape))


def shifted(a: Any, twin: Any, module: Any) -> None:
    a[1:] = twin[:-1]


def added(a: Any, twin: Any, module: Any) -> None:
    a[1:] += twin[:-1]


def added_to_the_twin(a: Any, twin: Any, module: Any) -> None:
    twin[1:] += a[:-1]


def turned(a: Any, twin: Any, module: Any) -> None:
    a[::-1] = twin


def into(a: Any, twin: Any, module: Any) -> None:
    module.add(a[1:], twin[:-1], out=a[1:])


def summed(a: Any, twin: Any, module: Any) -> None:
    module.cumsum(twin[:-1], out=a[1:])


def by_mask(a: Any, twin: Any, module: Any) -> None:
    a[a > 2.0] = twin[a > 2.0][::-1]
    a[1:][a[1:] > 1.0] = twin[:-1][a[1:] > 1.0]


def by_index(a: Any, twin: Any, module: Any) -> None:
    a[module.arange(1, a.size)] = twin[:-1]


def joined(a: Any, twin: Any, module: Any) -> None:
    module.concatenate([twin[3:], twin[:3]], out=a)


@pytest.mark.parametrize("size", [8, 3_000, 200_000])
@pytest.mark.parametrize("twin_of", [by_windows, by_strides, by_interface, by_pointer])
@pytest.mark.parametrize(
    "change",
    [shifted, added, added_to_the_twin, turned, into, summed, by_mask, by_index, joined],
)
def test_who_reads_and_writes_it_sees_that_it_is_one(
    change: Callable[[Any, Any, Any], None], twin_of: Callable[[Any], Any], size: int
) -> None:
    expected = numpy.arange(float(size)) % 1000.0
    ours = np.array(expected)
    change(expected, expected[:], numpy)
    change(ours, twin_of(ours), np)
    assert numpy.array_equal(numpy.asarray(ours), expected)
