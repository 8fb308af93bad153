"""_spaces.py: execution and memory spaces, layouts and traits, and the defaults."""

from __future__ import annotations

import os
from enum import Enum

from frit import _core


class ExecutionSpace(Enum):
    """Where kernels run: OpenMP, Threads and Serial are Frit's CPU backend; Debug is Python."""

    Cuda = "Cuda"
    HIP = "HIP"
    OpenMP = "OpenMP"
    Threads = "Threads"
    Serial = "Serial"
    Debug = "Debug"
    Default = "Default"


class MemorySpace(Enum):
    """Where views are; all of them are the host's."""

    CudaUVMSpace = "CudaUVMSpace"
    CudaSpace = "CudaSpace"
    OpenMPTargetSpace = "OpenMPTargetSpace"
    HostSpace = "HostSpace"
    HIPSpace = "HIPSpace"
    HIPManagedSpace = "HIPManagedSpace"
    MemorySpaceDefault = None


class Layout(Enum):
    """The order of a view's elements: Right is C's, Left is Fortran's."""

    LayoutDefault = None
    LayoutLeft = "LayoutLeft"
    LayoutRight = "LayoutRight"


class Trait(Enum):
    """Memory traits. Atomic: updates of single elements in kernels are atomic."""

    Atomic = "Atomic"
    TraitDefault = None
    RandomAccess = "RandomAccess"
    Restrict = "Restrict"
    Unmanaged = "Unmanaged"


HOST_SPACES = frozenset([ExecutionSpace.OpenMP, ExecutionSpace.Threads, ExecutionSpace.Serial])
GPU_SPACES = frozenset([ExecutionSpace.Cuda, ExecutionSpace.HIP])
_default = ExecutionSpace.OpenMP


class ExecutionSpaceInstance:
    """One instance of a space. Instances of the CPU share one queue: launches keep their order."""

    def __init__(self, space: ExecutionSpace, stream: object = None) -> None:
        self.space = resolve(space)
        if stream is not None:
            raise ValueError(f"space {self.space.value} has no streams")


def is_debug() -> bool:
    return get_default_space() is ExecutionSpace.Debug


def get_default_space() -> ExecutionSpace:
    """The space of policies that name none."""
    return ExecutionSpace.Debug if os.environ.get("DEBUG") else _default


def set_default_space(space: ExecutionSpace) -> None:
    """Sets the space of policies that name none. RuntimeError for a GPU's, as there is none."""
    global _default
    if not isinstance(space, ExecutionSpace):
        raise TypeError(f"set_default_space: {space!r} is no ExecutionSpace")
    _default = ExecutionSpace.OpenMP if space is ExecutionSpace.Default else resolve(space)
    _core.set_plain_default_space(not is_debug())


def resolve(space: ExecutionSpace | ExecutionSpaceInstance) -> ExecutionSpace:
    """The space itself; RuntimeError for a GPU's."""
    if isinstance(space, ExecutionSpaceInstance):
        space = space.space
    if not isinstance(space, ExecutionSpace):
        raise TypeError(f"{space!r} is no execution space")
    if space is ExecutionSpace.Default:
        space = get_default_space()
    if space in GPU_SPACES:
        raise RuntimeError(
            f"execution space {space.value} needs a GPU backend, and there is none here: use "
            "OpenMP or Default"
        )
    return space


def is_host_execution_space(space: ExecutionSpace) -> bool:
    """Whether the space runs on the host."""
    if space is ExecutionSpace.Default:
        space = get_default_space()
    return space in HOST_SPACES


def get_default_memory_space(space: ExecutionSpace) -> MemorySpace:
    """The memory space of an execution space."""
    return MemorySpace.HostSpace


def get_default_layout(space: MemorySpace) -> Layout:
    """The layout of views in a memory space."""
    return Layout.LayoutRight if space is MemorySpace.HostSpace else Layout.LayoutLeft


_core.set_plain_default_space(not is_debug())
