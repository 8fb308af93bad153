"""_views.py: View: an array that kernels read and write, and its parts.

A View stands for a Frit array. What kernels do to it is recorded; whoever looks at it (an element,
`data`, iteration, str, NumPy) gets what has been computed by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy

from frit import _core
from frit import numpy as lazy
from frit.pykokkos import _types
from frit.pykokkos._spaces import Layout, MemorySpace, Trait, get_default_layout

T = TypeVar("T")


class ViewTypeInfo:
    """What a decorator may say of a view; views know it themselves."""

    def __init__(
        self,
        *,
        space: MemorySpace | None = None,
        layout: Layout | None = None,
        trait: Trait | None = None,
    ) -> None:
        self.space = space
        self.layout = layout
        self.trait = trait


def bare(value: Any) -> Any:
    """The array behind a view; anything else as it is."""
    return value._array if isinstance(value, _core.ViewBase) else value


class ViewType(_core.ViewBase):
    """What View and Subview have in common."""

    dtype: Any
    space: MemorySpace
    layout: Layout
    trait: Trait

    # ---- what it is -----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self._array.shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._array.size

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def rank(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def extent(self, dimension: int) -> int:
        """The length of a dimension. ValueError where there is none of that number."""
        shape = self._array.shape
        if dimension == 0 and not shape:
            return 0
        if not 0 <= dimension < len(shape):
            raise ValueError(f"extent({dimension}) of a view with {len(shape)} dimensions")
        return shape[dimension]

    # ---- what it holds --------------------------------------------------------------------------

    @property
    def data(self) -> numpy.ndarray[Any, Any]:
        """The elements, computed, as an ndarray on the view's own memory."""
        return numpy.asarray(self._array)

    @data.setter
    def data(self, values: Any) -> None:
        """The view shows these elements from now on, in their memory. `view.data += 1` sets what
        was there already.
        """
        given, mine = numpy.asarray(values), self.data
        if given.dtype != mine.dtype or given.ndim != mine.ndim:
            raise TypeError(
                f"data: an array of {given.ndim} dimensions and {given.dtype} for a view of "
                f"{mine.ndim} and {mine.dtype}"
            )
        if given.__array_interface__ != mine.__array_interface__:
            _core.ViewBase.__init__(self, lazy.asarray(given))

    @property
    def array(self) -> Any:
        """The Frit array behind the view: lazy, on the same memory."""
        return self._array

    xp_array = data

    def fill(self, value: Any) -> None:
        """Sets all elements to a value."""
        self._array.fill(value)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) or key is Ellipsis:
            keys: tuple[Any, ...] = (key,)
        elif isinstance(key, tuple):
            keys = key
        elif self._array.ndim > 1:
            return self.data[key]
        elif self._array.ndim == 0:
            return self.data[()] if key == 0 else self.data[key]
        else:
            return self._array[key]
        if Ellipsis not in keys and len(keys) != self._array.ndim:
            raise ValueError("Please include slices for all dimensions")
        if all(isinstance(k, (int, numpy.integer)) for k in keys):
            return self._array[keys]
        return Subview(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._array.ndim == 0 and key == 0:
            key = ()
        self._array[key] = bare(value)

    def __len__(self) -> int:
        shape = self._array.shape
        return shape[0] if shape else int(bool(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data) if self._array.ndim else iter(())

    def __str__(self) -> str:
        return str(self.data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.data!r})"

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise ValueError("the truth of a view of more than one element: look at its elements")
        return bool(self.data.reshape(-1)[0])

    def _only(self) -> Any:
        if self._array.size != 1:
            raise TypeError("only single element arrays can be converted to Python scalars.")
        return self.data.reshape(-1)[0]

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def __index__(self) -> int:
        return int(self.data.reshape(-1)[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy:
            return numpy.array(self.data, dtype=dtype)
        return numpy.asarray(self.data, dtype=dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()

    def __deepcopy__(self, memo: Any) -> ViewType:
        return self  # as PyKokkos: a handle

    def __copy__(self) -> ViewType:
        return self

    def __eq__(self, other: Any) -> Any:
        try:
            return wrap(lazy.equal(self._array, bare(other)))
        except TypeError:
            return NotImplemented

    def __ne__(self, other: Any) -> Any:
        try:
            return wrap(lazy.not_equal(self._array, bare(other)))
        except TypeError:
            return NotImplemented

    __hash__ = object.__hash__

    def __pos__(self) -> Any:
        return wrap(lazy.positive(self._array))

    def __neg__(self) -> Any:
        return wrap(lazy.negative(self._array))

    def __add__(self, other: Any) -> Any:
        return wrap(self._array + bare(other))

    def __sub__(self, other: Any) -> Any:
        return wrap(self._array - bare(other))

    def __mul__(self, other: Any) -> Any:
        return wrap(self._array * bare(other))

    def __truediv__(self, other: Any) -> Any:
        return wrap(self._array / bare(other))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Any:
        return wrap(bare(other) - self._array)

    def __rtruediv__(self, other: Any) -> Any:
        return wrap(bare(other) / self._array)


class View(ViewType):
    """View(shape, dtype=pk.real, space=, layout=, trait=, array=): zeros, or an existing array.

    `array` (an ndarray, with trait=Unmanaged) gives the memory. ValueError and TypeError for a
    shape or dtype that cannot be.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Any = _types.real,
        space: MemorySpace = MemorySpace.MemorySpaceDefault,
        layout: Layout = Layout.LayoutDefault,
        trait: Trait = Trait.TraitDefault,
        array: Any = None,
        cp_array: Any = None,
    ) -> None:
        if isinstance(shape, _core.ViewBase):  # PyKokkos passes views through
            super().__init__(bare(shape))
            self.dtype, self.space = shape.dtype, shape.space
            self.layout, self.trait = shape.layout, shape.trait
            return
        self._set_up(shape, dtype, space, layout, trait, array)

    def _set_up(
        self, shape: Any, dtype: Any, space: Any, layout: Any, trait: Any, array: Any
    ) -> None:
        extents = (shape,) if isinstance(shape, (int, numpy.integer)) else tuple(shape)
        kind = _types.numpy_type(dtype)
        if layout is Layout.LayoutDefault:
            layout = get_default_layout(MemorySpace.HostSpace)
        if array is not None:
            memory = lazy.asarray(array)
            if memory.dtype == numpy.bool_:
                memory = memory.view(numpy.uint8)
            if memory.shape != extents or memory.dtype != kind:
                raise ValueError(
                    f"View: an array of shape {memory.shape} and {memory.dtype} for a view of "
                    f"shape {extents} and {kind}"
                )
        else:
            memory = lazy.zeros(extents, kind, order="F" if layout is Layout.LayoutLeft else "C")
        _core.ViewBase.__init__(self, memory)
        self.dtype = _types.class_of(dtype)
        self.space = MemorySpace.HostSpace
        self.layout = layout
        self.trait = trait

    def resize(self, dimension: int, size: int) -> None:
        """Changes one extent; elements that are in both keep their values, new ones are 0."""
        if not 0 <= dimension < max(self.ndim, 1):
            raise ValueError(f"Cannot resize dimension {dimension} since rank = {self.rank()}")
        shape = list(self.shape) or [1]
        if self.shape and shape[dimension] == size:
            return
        before = self._array
        shape[dimension] = size
        order = "F" if self.layout is Layout.LayoutLeft else "C"
        _core.ViewBase.__init__(self, lazy.zeros(tuple(shape), before.dtype, order=order))
        common = tuple(slice(0, min(a, b)) for a, b in zip(before.shape, shape, strict=False))
        self._array[common] = before[common]

    def set_precision(self, dtype: Any) -> None:
        """Changes the element type, in new memory."""
        before = self._array
        self._set_up(before.shape, dtype, self.space, self.layout, self.trait, None)
        lazy.copyto(self._array, before, casting="unsafe")


class Subview(ViewType):
    """A part of a view, on the same memory. Made by slicing a view."""

    def __init__(self, parent_view: ViewType, data_slice: Any) -> None:
        super().__init__(parent_view._array[data_slice])
        self.parent_view = parent_view
        self.base_view = getattr(parent_view, "base_view", parent_view)
        self.dtype = parent_view.dtype
        self.space = parent_view.space
        self.layout = parent_view.layout
        self.trait = parent_view.trait
        keys = data_slice if isinstance(data_slice, tuple) else (data_slice,)
        self.parent_slice = [
            slice(k.start or 0, parent_view.extent(n) if k.stop is None else k.stop, None)
            if isinstance(k, slice)
            else k
            for n, k in enumerate(keys)
        ]


def wrap(array: Any) -> Any:
    """A View on a Frit or NumPy array, without a copy; a number as it is."""
    if not hasattr(array, "ndim") or isinstance(array, numpy.generic):
        return array
    if type(array) is not _core.Array:  # isinstance would take real ndarrays too
        array = lazy.asarray(array)
        if type(array) is not _core.Array:
            raise TypeError(f"a view of {array.dtype} is not supported")
    if array.dtype == numpy.bool_:
        array = array.view(numpy.uint8)
    view = View.__new__(View)
    _core.ViewBase.__init__(view, array)
    view.dtype = _types.class_of(array.dtype)
    view.space = MemorySpace.HostSpace
    left = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
    view.layout = Layout.LayoutLeft if left else Layout.LayoutRight
    view.trait = Trait.Unmanaged
    return view


def from_numpy(
    array: Any, space: MemorySpace | None = None, layout: Layout | None = None, cp_array: Any = None
) -> View:
    """A View on an ndarray's own memory."""
    view = wrap(array if type(array) is _core.Array else numpy.asarray(array))
    if layout is not None:
        view.layout = layout
    return view


def array(array: Any, space: MemorySpace | None = None, layout: Layout | None = None) -> View:
    """A View on the memory of an ndarray, Frit array or tensor; of anything else, on a copy."""
    if isinstance(array, _core.ViewBase):
        return array
    if type(array) is _core.Array:
        return wrap(array)
    if hasattr(array, "__dlpack__") and not isinstance(array, numpy.ndarray):
        return from_numpy(numpy.from_dlpack(array), space, layout)
    return from_numpy(array, space, layout)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> View:
    """A View of a number, list or array, of the given type."""
    kind = None if dtype is None else _types.numpy_type(dtype)
    if isinstance(obj, float):
        view = View([1], _types.float64 if dtype is None else dtype)
        view[:] = obj
        return view
    obj = bare(obj)
    if type(obj) is _core.Array:
        return wrap(lazy.asarray(obj, dtype=kind))
    return from_numpy(numpy.asarray(obj, dtype=kind))


def astype(view: ViewType, dtype: Any) -> View:
    """A new View with the elements converted."""
    result = View(view.shape, dtype)
    lazy.copyto(result._array, view._array, casting="unsafe")
    return result


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The larger of two types of one kind. NotImplementedError for others, as in PyKokkos."""
    kinds = set()
    for dtype in arrays_and_dtypes:
        if isinstance(dtype, ViewType):
            raise NotImplementedError("type promotion not yet implemented for Views")
        kinds.add(numpy.dtype(dtype.np_equiv).kind)
    if len(kinds) != 1:
        raise NotImplementedError("Casting rules not implemented for the input.")
    return max(arrays_and_dtypes, key=lambda d: numpy.dtype(d.np_equiv).itemsize)


def deep_copy(target: Any, source: Any) -> None:
    """target[...] = source: a view of the same shape, or a number."""
    if isinstance(source, ViewType) and source.shape != target.shape:
        raise ValueError(f"deep_copy: shapes {target.shape} and {source.shape}")
    lazy.copyto(bare(target), bare(source), casting="unsafe")


def create_mirror_view(view: ViewType) -> ViewType:
    """A view of the host with this one's elements: all views are, so it is the view itself."""
    return view


def create_mirror(view: ViewType) -> View:
    """A new view of the host with this one's shape."""
    return View(view.shape, view.dtype, layout=view.layout)


def create_mirror_view_and_copy(space: MemorySpace, view: ViewType) -> ViewType:
    """A view of the host with this one's elements."""
    return view


def _annotation(name: str, base: type = object) -> type:
    bases: tuple[Any, ...] = (Generic[T],) if base is object else (base, Generic[T])
    return type(name, (), {}) if False else _generic(name, bases)


def _generic(name: str, bases: tuple[Any, ...]) -> type:
    import types

    return types.new_class(name, bases, {}, lambda body: body.update(__module__="frit.pykokkos"))


class ScratchView:
    """The base of scratch views: memory of a team while it runs."""

    np_type: Any = numpy.float64

    def __new__(cls, scratch: Any, *extents: int) -> Any:
        """In the Debug space: the memory itself."""
        return scratch.view(extents)

    @classmethod
    def shmem_size(cls, *extents: int) -> int:
        """Bytes that a scratch view of these extents takes."""
        return int(numpy.prod(extents, dtype=numpy.int64)) * 8


View1D, View2D, View3D, View4D, View5D, View6D, View7D, View8D = (
    _annotation(f"View{n}D") for n in range(1, 9)
)
(
    ScratchView1D,
    ScratchView2D,
    ScratchView3D,
    ScratchView4D,
    ScratchView5D,
    ScratchView6D,
    ScratchView7D,
    ScratchView8D,
) = (_annotation(f"ScratchView{n}D", ScratchView) for n in range(1, 9))
SCRATCH_VIEWS = {
    ScratchView1D: 1,
    ScratchView2D: 2,
    ScratchView3D: 3,
    ScratchView4D: 4,
    ScratchView5D: 5,
    ScratchView6D: 6,
    ScratchView7D: 7,
    ScratchView8D: 8,
}
