"""_adapters.py: libraries that need more than `__array__` to work with Frit, one function for each.

An adapter runs once, right after the library was imported under install(); undo() takes all back.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.machinery
import operator
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

_undo: list[Callable[[], None]] = []
_missing = object()


def replace(owner: Any, name: str, value: Any) -> None:
    """setattr, until undo()."""
    before = vars(owner).get(name, _missing)
    setattr(owner, name, value)
    if before is _missing:
        _undo.append(functools.partial(delattr, owner, name))
    else:
        _undo.append(functools.partial(setattr, owner, name, before))


def undo() -> None:
    """Takes back what the adapters changed."""
    _compiled.clear()
    while _undo:
        _undo.pop()()


def real_of(value: Any) -> Any:
    """NumPy's own object for one of frit.numpy's modules, functions, ufuncs or classes."""
    ours = sys.modules.get("frit.numpy")
    core = sys.modules.get("frit._core")
    if ours is None or core is None:
        return value
    if isinstance(value, types.ModuleType):
        name = value.__name__
        return sys.modules[name[5:]] if name.startswith("frit.numpy") else value
    if isinstance(value, core.Array | core.Scalar):
        return core.to_numpy(value)
    if value is core.Array:
        return sys.modules["numpy"].ndarray
    if isinstance(value, core.UFunc):
        return core.to_numpy(value)
    if isinstance(value, core.Native | core.Fallback) and "_path" in vars(value):
        return operator.attrgetter(vars(value)["_path"])(sys.modules["numpy"])
    module = getattr(value, "__module__", None)
    if isinstance(module, str) and module.startswith("frit.numpy"):
        owner = sys.modules.get(module[5:])
        return getattr(owner, getattr(value, "__name__", ""), value)
    return value


def _numba() -> None:
    """Functions that numba compiles see real NumPy."""
    from numba.core import bytecode, dispatcher
    from numba.core.interpreter import Interpreter

    def real_globals(name: str) -> None:
        original = getattr(Interpreter, name)

        def get_value(self: Any, key: Any) -> Any:
            return real_of(original(self, key))

        replace(Interpreter, name, get_value)

    real_globals("get_global_value")
    real_globals("get_closure_value")
    code_of = bytecode.get_code_object

    def get_code_object(function: Any) -> Any:
        """The code that Python made, where the loop door has rewritten it."""
        place = sys.modules.get("frit.loops.run.place")
        if place is None or not isinstance(function, types.FunctionType):
            return code_of(function)
        return place.original_code(function)

    for module in (bytecode, dispatcher):
        replace(module, "get_code_object", get_code_object)
    interpret = Interpreter.interpret

    @functools.wraps(interpret)
    def interpret_original(self: Any, bytecode: Any) -> Any:
        """The names of variables and cells, too, are those that the code's instructions mean."""
        given = self.func_id.func
        original = get_code_object(given)
        if original is getattr(given, "__code__", original):
            return interpret(self, bytecode)
        from frit.loops.find import codes

        self.func_id.func = codes.function_with(original, given)
        try:
            return interpret(self, bytecode)
        finally:
            self.func_id.func = given

    replace(Interpreter, "interpret", interpret_original)


def _numba_dispatcher() -> None:
    """Compiled functions take and give our arrays."""
    from numba.core.dispatcher import Dispatcher

    from frit import _core

    replace(Dispatcher, "__call__", _core.taking_ours(Dispatcher))
    _numba_defaults()
    for name in ("compile", "get_overload"):
        replace(Dispatcher, name, _entry_for_programs(getattr(Dispatcher, name)))


def _entry_for_programs(entry_of: Callable[..., Any]) -> Callable[..., Any]:
    """What it gives is called by C code of numba, which insists on it as it is, or by a program."""
    from frit._importer import is_user_code

    @functools.wraps(entry_of)
    def entry(dispatcher: Any, signature: Any) -> Any:
        found = entry_of(dispatcher, signature)
        is_asked_by_program = found is not None and is_user_code(sys._getframe(1).f_globals)
        return _with_real_arguments(found) if is_asked_by_program else found

    return entry


def _pytest() -> None:
    """`np = pytest.importorskip("numpy")` of the program is its import of numpy."""
    from _pytest import outcomes

    from frit import _importer

    imported = outcomes.importorskip

    @functools.wraps(imported)
    def importorskip(modname: str, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        module = imported(modname, *args, **kwargs)
        if modname.partition(".")[0] == "numpy":
            frame = sys._getframe(1)
            if _importer.is_user_code(frame.f_globals, frame):
                return importlib.import_module(f"frit.{modname}")
        return module

    replace(outcomes, "importorskip", importorskip)


def _numba_defaults() -> None:
    """Default values are typed when a function is compiled, and handed to it as they are."""
    from numba.core import dispatcher, types

    for owner in (dispatcher.OmittedArg, types.Omitted):
        replace(owner, "__init__", _with_real_arguments(owner.__init__))


def _numba_typeof() -> None:
    """Arrays of ours are buffers to it, of another type than what functions are given."""
    from numba.misc import special

    typeof = special.typeof
    for module in (special, sys.modules["numba"]):
        if vars(module).get("typeof") is typeof:
            replace(module, "typeof", _with_real_arguments(typeof))


def _numba_stencils() -> None:
    """Stencils ask whether their arguments are arrays."""
    from numba.stencils.stencil import StencilFunc

    replace(StencilFunc, "__call__", _with_real_arguments(StencilFunc.__call__))


def _numpy_random() -> None:
    """Real generators write to our arrays, too."""
    importlib.import_module("frit.numpy.random")


def _module_in_c(name: str) -> None:
    """Its functions know arrays by a C type: what results are written to, or what is made text."""
    _with_real_operands(sys.modules[name])


def _cloudpickle(name: str) -> None:
    """The classes that stand for NumPy's are pickled by name, as NumPy's own are."""
    module = sys.modules[f"{name}.cloudpickle"]
    reduce_class = module._class_reduce

    def _class_reduce(kind: type) -> Any:
        pickles = sys.modules.get("frit.numpy._pickles")
        ours = pickles is not None and pickles.is_named(kind)
        return pickles.reduced(kind) if ours else reduce_class(kind)

    replace(module, "_class_reduce", _class_reduce)


def _dill() -> None:
    """The classes and ufuncs that stand for NumPy's are pickled as NumPy's own are: by name."""
    from dill import _dill

    from frit import _core

    save_type = _dill.save_type

    @functools.wraps(save_type)
    def save(pickler: Any, kind: type, *args: Any, **kwargs: Any) -> None:
        pickles = sys.modules.get("frit.numpy._pickles")
        if pickles is not None and pickles.is_named(kind):
            pickler.save_reduce(*pickles.reduced(kind), obj=kind)
        else:
            save_type(pickler, kind, *args, **kwargs)

    def save_ufunc(pickler: Any, ufunc: Any) -> None:
        if type(ufunc) is _core.UFunc:
            pickler.save_reduce(*ufunc.__reduce__(), obj=ufunc)
        else:
            _dill.StockPickler.save_global(pickler, ufunc, ufunc.__name__)

    is_builtin = _dill._is_builtin_module

    def _is_builtin_module(module: types.ModuleType) -> bool:
        """Of modules that lie elsewhere it pickles all that they have."""
        return module.__name__.partition(".")[0] == "frit" or is_builtin(module)

    replace(_dill, "_is_builtin_module", _is_builtin_module)
    replace(_dill, "save_type", save)  # for classes whose own class is another than type
    _replace_item(_dill.Pickler.dispatch, type, save)
    _replace_item(_dill.Pickler.dispatch, _core.UFunc, save_ufunc)


def _replace_item(table: dict[Any, Any], key: Any, value: Any) -> None:
    """table[key] = value, until undo()."""
    _undo.append(
        functools.partial(table.__setitem__, key, table[key])
        if key in table
        else functools.partial(table.pop, key, None)
    )
    table[key] = value


def _jax() -> None:
    """What it takes for an array or a number is known by its class."""
    from jax._src import core, dtypes
    from jax._src.interpreters import pxla

    from frit import _core

    # As they are without us: the class of our arrays is the same key as NumPy's.
    shapes = dict(core.pytype_aval_mappings)
    shards = dict(pxla.shard_arg_handlers)
    handlers = dtypes.canonicalize_value_handlers
    canonicals = dict(handlers) if isinstance(handlers, dict) else {}  # since 0.10 no dictionary

    def shape_of(value: Any) -> Any:
        real = _core.to_numpy(value)
        return shapes[type(real)](real)

    def canonical(value: Any) -> Any:
        real = _core.to_numpy(value)
        return canonicals.get(type(real), dtypes.canonicalize_value)(real)

    def on_devices(values: list[Any], *args: Any) -> Any:
        real = [_core.to_numpy(value) for value in values]
        return shards[type(real[0])](real, *args)

    for kind in (_core.Array, *_core.Scalar.__subclasses__()):
        _replace_item(core.pytype_aval_mappings, kind, shape_of)
        _replace_item(pxla.shard_arg_handlers, kind, on_devices)
        handlers[kind] = canonical


def _with_real_operands(*owners: Any, also: frozenset[str] = frozenset()) -> None:
    """Public functions of modules and methods of classes get real arrays; so do those in `also`."""
    for owner in owners:
        for name, member in list(vars(owner).items()):
            if name.startswith("_") and name not in _ENTRIES and name not in also:
                continue
            with contextlib.suppress(TypeError):  # of classes that can't be changed
                if isinstance(member, staticmethod | classmethod):
                    wrapped = _with_real_arguments(member.__func__)
                    replace(owner, name, type(member)(wrapped))
                elif type(member).__name__ in _FUNCTIONS and name != "__new__":
                    wrapped = _with_real_arguments(member)
                    replace(owner, name, wrapped)
                    if isinstance(owner, types.ModuleType):
                        _replace_at_home(member, wrapped)


def _replace_at_home(function: Any, wrapped: Any) -> None:
    """In the module that defines it too: by that name it is pickled."""
    home = sys.modules.get(getattr(function, "__module__", None) or "")
    name = getattr(function, "__name__", "")
    if home is not None and vars(home).get(name) is function:
        replace(home, name, wrapped)


# Where users' arrays come in, besides the public methods.
_ENTRIES = frozenset(["__init__", "__new__", "__getitem__", "__setitem__"])
_FUNCTIONS = frozenset(
    """function builtin_function_or_method method_descriptor wrapper_descriptor
    cython_function_or_method""".split()
)


def _bases_in(library: str, *kinds: type) -> list[type]:
    """The classes and those of the library that they derive from."""
    bases = dict.fromkeys(base for kind in kinds for base in kind.__mro__)
    return [base for base in bases if base.__module__.partition(".")[0] == library]


def _is_a(value: Any, kind: type) -> bool:
    return isinstance(value, type) and issubclass(value, kind)


def _pandas() -> None:
    """pandas knows masks, keys and groupings by their class: its methods get real arrays."""
    import pandas
    from pandas.core import frame, generic, indexing, series

    indexes = [kind for kind in [*vars(pandas).values()] if _is_a(kind, pandas.Index)]
    kinds = (
        pandas.DataFrame,
        pandas.Series,
        *indexes,
        indexing._LocIndexer,
        indexing._iLocIndexer,
        indexing._AtIndexer,
    )
    modules = pandas, pandas.api.types, pandas.api.indexers
    _with_real_operands(*modules, *_bases_in("pandas", *kinds))
    arrays = [kind for kind in [*vars(pandas.arrays).values()] if isinstance(kind, type)]
    for kind in _bases_in("pandas", *arrays):
        for name in _ENTRIES & vars(kind).keys() - {"__new__"}:
            if type(method := vars(kind)[name]) is types.FunctionType:
                replace(kind, name, _with_real_arguments(method))
    _pandas_results()
    for module in (frame, generic, series):
        # Of its object a method in front of which we are sees one reference more.
        replace(module, "REF_COUNT_METHOD", module.REF_COUNT_METHOD + 1)


def _pandas_results() -> None:
    """What users' functions give pandas becomes a column of a type: floats are known in C."""
    from pandas._libs import lib

    from frit import _core

    convert_objects = lib.maybe_convert_objects

    def maybe_convert_objects(objects: Any, *args: Any, **kwargs: Any) -> Any:
        return convert_objects(_core.compute_held(objects), *args, **kwargs)

    def converting(mapping: Callable[..., Any]) -> Callable[..., Any]:
        def mapped(*args: Any, convert: bool = True, **kwargs: Any) -> Any:
            found = _core.compute_held(mapping(*args, convert=False, **kwargs), True)
            return convert_objects(found) if convert else found

        return functools.wraps(mapping)(mapped)

    replace(lib, "maybe_convert_objects", functools.wraps(convert_objects)(maybe_convert_objects))
    for name in ("map_infer", "map_infer_mask"):
        replace(lib, name, converting(getattr(lib, name)))


def _cv2() -> None:
    """OpenCV's functions and methods insist on real arrays, which some write to."""
    import cv2

    parts = [m for m in [*vars(cv2).values()] if isinstance(m, types.ModuleType)]
    modules = [cv2, *(m for m in parts if m.__name__.startswith("cv2."))]
    kinds = [k for m in modules for k in [*vars(m).values()] if isinstance(k, type)]
    _with_real_operands(*modules, *_bases_in("cv2", *kinds))


def _matplotlib() -> None:
    """What it draws is known by its class: the columns of an array are data sets, of a list rows.

    So are widths and colours that differ from point to point, and markers.
    """
    from matplotlib import colors, markers
    from matplotlib.axes import Axes

    drawing = [name for name in vars(Axes) if not name.startswith(_PROPERTIES)]
    for owner, names in (
        (Axes, drawing),
        (colors, ["to_rgba", "to_rgba_array"]),
        (markers.MarkerStyle, ["__init__"]),
    ):
        for name in names:
            if type(function := vars(owner)[name]) is types.FunctionType:
                replace(owner, name, _with_real_arguments(function))


_PROPERTIES = ("_", "get_", "set_")  # of these matplotlib reads the code


def _polars() -> None:
    """polars knows NumPy's arrays by their class."""
    import polars

    kinds = polars.DataFrame, polars.LazyFrame, polars.Series, polars.Expr
    _with_real_operands(polars, *_bases_in("polars", *kinds), also=_OPERATIONS)


def _pyarrow() -> None:
    """Masks and arrays in lists are known by their class."""
    import pyarrow

    _with_real_operands(pyarrow)


def _h5py() -> None:
    """Masks are known by their class, and what is read into has to be a real array."""
    import h5py

    _with_real_operands(*_bases_in("h5py", h5py.Dataset, h5py.File, h5py.AttributeManager))


def _netcdf4() -> None:
    """Variables insist on real arrays."""
    import netCDF4

    _with_real_operands(netCDF4.Dataset, netCDF4.Variable)


def _xarray() -> None:
    """Indices and coordinates are known by their class."""
    import xarray

    kinds = xarray.DataArray, xarray.Dataset, xarray.Variable
    _with_real_operands(xarray, *_bases_in("xarray", *kinds))


def _astropy_table() -> None:
    """Tables know masks by their class."""
    from astropy import table

    _with_real_operands(*_bases_in("astropy", table.Table))


def _pint() -> None:
    """Quantities print and convert real arrays by rules of their own."""
    import pint

    _with_real_operands(*_bases_in("pint", pint.Quantity))


def _cvxpy() -> None:
    """The values of parameters and variables are checked by their class."""
    from cvxpy.expressions.leaf import Leaf

    replace(Leaf, "_validate_value", _with_real_arguments(Leaf._validate_value))


def _skimage_hough() -> None:
    """These functions hand their operands on to code in C."""
    from skimage.transform import hough_transform

    _with_real_operands(hough_transform)


def _joblib() -> None:
    """The hash of an array is that of a real one, so that what is cached is found again."""
    from joblib import hashing

    hash_of_real = _with_real_arguments(hashing.hash)
    for owner in (hashing, sys.modules["joblib"]):
        replace(owner, "hash", hash_of_real)
    _joblib_files()
    _joblib_workers()


def _joblib_files() -> None:
    """A file holds arrays as NumPy's, so that they may be mapped into memory."""
    from joblib import numpy_pickle

    save_any = numpy_pickle.NumpyPickler.save

    def save(pickler: Any, value: Any) -> None:
        save_any(pickler, real_of(value) if _is_array(value) else value)

    replace(numpy_pickle.NumpyPickler, "save", save)


class LargeAsFiles:
    """joblib's reducer for real arrays, taking ours. Workers get one of their own."""

    def __init__(self, reduce_real: Any) -> None:
        self.reduce_real = reduce_real

    def __call__(self, array: Any) -> Any:
        if not _is_array(array):  # NumPy's own, whose class is the same key
            return self.reduce_real(array)
        if array.nbytes > self.reduce_real._max_nbytes:
            return self.reduce_real(self._real_array(array))
        return array.__reduce_ex__(4)

    def __reduce__(self) -> Any:
        return LargeAsFiles, (self.reduce_real,)

    _known: dict[int, tuple[Any, Any]] = {}

    def _real_array(self, array: Any) -> Any:
        """The same one for the same array: joblib knows it again."""
        import weakref

        number, known = id(array), self._known
        if number not in known:
            known[number] = weakref.ref(array, lambda _: known.pop(number, None)), real_of(array)
        return known[number][1]


def _joblib_workers() -> None:
    """Workers get large arrays as maps of files, each of which is written once."""
    from joblib import _memmapping_reducer, executor, pool

    reducers_of = _memmapping_reducer.get_memmapping_reducers

    def get_memmapping_reducers(*args: Any, **kwargs: Any) -> Any:
        forward, backward = reducers_of(*args, **kwargs)
        core: Any = sys.modules.get("frit._core")
        reduce_real = forward.get(sys.modules["numpy"].ndarray)
        if core is not None and hasattr(reduce_real, "_max_nbytes"):
            forward[core.Array] = LargeAsFiles(reduce_real)
        return forward, backward

    for owner in (_memmapping_reducer, executor, pool):
        replace(owner, "get_memmapping_reducers", get_memmapping_reducers)


def _is_array(value: Any) -> bool:
    core = sys.modules.get("frit._core")
    return core is not None and isinstance(value, core.Array)


def _autograd() -> None:
    """What it traces is known by its class: arrays and numbers of ours are taken as real ones."""
    from autograd import core, tracer

    class Makers(dict):
        def __getitem__(self, kind: type) -> Callable[..., Any]:
            engine = sys.modules.get("frit._core")
            if engine is None or kind is not engine.Array and kind.__base__ is not engine.Scalar:
                return super().__getitem__(kind)

            def make(value: Any, *rest: Any) -> Any:
                real = engine.to_numpy(value)
                return self[type(real)](real, *rest)

            return make

    boxes = Makers(tracer.box_type_mappings)
    replace(tracer, "box_type_mappings", boxes)
    replace(tracer.Box, "type_mappings", boxes)  # where classes of the program's are registered
    replace(core.VSpace, "mappings", Makers(core.VSpace.mappings))


def _with_real_arguments(original: Callable[..., Any]) -> Callable[..., Any]:
    """Without a frame of its own: libraries look for the frame of their caller.

    pandas' query(), eval() and warnings do, and its writes to copies count references.
    """
    from frit import _core

    converted = _core.Fallback(original.__name__, original, foreign=True)
    vars(converted).update(getattr(original, "__dict__", ()))
    return converted


def _torch() -> None:
    """from_numpy, asarray, and T[x] and T == x of tensors insist on real arrays."""
    import torch

    from frit import _core

    original = torch.from_numpy

    def from_numpy(array: Any) -> Any:
        return original(_core.to_numpy(array))

    from_numpy.__doc__ = original.__doc__
    replace(torch, "from_numpy", from_numpy)
    replace(torch, "asarray", _with_real_arguments(torch.asarray))
    # (An array with a __torch_function__ would be no data for torch.Tensor(x).)
    _core.operators_take_real_arrays(torch.Tensor)


def _multiprocessing() -> None:
    """Processes started by spawn or forkserver run the user's program under Frit too."""
    from multiprocessing import util

    original = util.spawnv_passfds

    def spawnv_passfds(path: Any, args: Any, passfds: Any) -> Any:
        return original(path, _with_frit(list(args)), passfds)

    replace(util, "spawnv_passfds", spawnv_passfds)


def _with_frit(args: list[Any]) -> list[Any]:
    """The command line of a child, with install() before multiprocessing's own start."""
    for position, word in enumerate(args[:-1]):
        start = args[position + 1]
        if word == "-c" and "multiprocessing" in start and "resource_tracker" not in start:
            folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            install = (
                f"import sys; sys.path.append({folder!r}); import frit; sys.path.pop(); "
                "frit.install(); "
            )
            args[position + 1] = install + start
            break
    return args


def _class_methods_with_values(kind: type, *names: str) -> None:
    """Those of a type in C that know floats, as np.float64 is one, by their C type."""
    from frit import _core

    for name in names:
        before = vars(kind)[name]
        _core.set_in_type(kind, name, classmethod(_with_real_arguments(before)))
        _undo.append(functools.partial(_core.set_in_type, kind, name, before))


def _datetime() -> None:
    """Spans and moments know floats by a C type that no lazy number has."""
    import datetime

    from frit import _core

    _core.constructed_from_values(datetime.timedelta)
    _class_methods_with_values(datetime.date, "fromtimestamp")
    _class_methods_with_values(datetime.datetime, "fromtimestamp", "utcfromtimestamp")


def _decimal() -> None:
    """As `datetime`."""
    import decimal

    from frit import _core

    _core.constructed_from_values(decimal.Decimal)
    _class_methods_with_values(decimal.Decimal, "from_float")


def _sqlite3() -> None:
    """Parameters are floats by a C type that no lazy number has."""
    import sqlite3

    from frit import _core

    for kind in _core.Scalar.__subclasses__():
        if kind.__name__ == "float64":
            key = kind, sqlite3.PrepareProtocol
            sqlite3.adapters[key] = float
            _undo.append(functools.partial(sqlite3.adapters.pop, key))


def _time() -> None:
    """As `datetime`."""
    import time

    for name in ("sleep", "gmtime", "localtime", "ctime"):
        replace(time, name, _with_real_arguments(getattr(time, name)))


def _json() -> None:
    """Encoders know floats, as np.float64 is one, by a C type that no lazy number has."""
    from json import encoder

    def plain(value: Any) -> Any:
        core = sys.modules.get("frit._core")
        if core is None or not isinstance(value, core.Scalar):
            return value
        number = core.to_numpy(value)
        return float(number) if isinstance(number, float) else value

    def with_numbers(default: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def encoded(value: Any) -> Any:
            number = plain(value)
            return default(value) if number is value else number

        return encoded

    in_c, in_python = encoder.c_make_encoder, encoder._make_iterencode  # type: ignore[attr-defined]

    def make_in_c(markers: Any, default: Any, *rest: Any) -> Any:
        return in_c(markers, with_numbers(default), *rest)

    def make_in_python(
        markers: Any, default: Any, text: Any, indent: Any, number: Any, *rest: Any
    ) -> Any:
        def of_number(value: Any) -> str:
            return number(plain(value))

        return in_python(markers, with_numbers(default), text, indent, of_number, *rest)

    if in_c is not None:
        replace(encoder, "c_make_encoder", make_in_c)
    replace(encoder, "_make_iterencode", make_in_python)


def compiled(module: types.ModuleType) -> None:
    """Extension modules whose functions want real arrays: what f2py and Cython make, the program's.

    Where the engine is not there yet, they wait for it.
    """
    from frit import _importer

    content = object.__getattribute__(module, "__dict__")  # which loads no module that waits to be
    name, loader = content.get("__name__"), getattr(content.get("__spec__"), "loader", None)
    if not isinstance(name, str) or name.startswith("numpy."):
        return
    is_extension = isinstance(loader, importlib.machinery.ExtensionFileLoader)
    found: set[Any] = set()
    # They take what is no real array for a copy of their own, to write to.
    if "__f2py_numpy_version__" in content:
        found.update(type(f) for f in [*content.values()] if type(f).__name__ == "fortran")
    elif is_extension and "__test__" in content:
        found.update(_made_by_cython(module))
    # What one that the program brings asks for nobody knows.
    if is_extension and _importer.is_user_code({"__name__": name, "__file__": loader.path}):
        found.add(module)
    if "frit._core" in sys.modules or module in found and "numpy" in sys.modules:
        _called_with_real_arrays(found)
    else:
        _compiled.update(found)


def _made_by_cython(module: types.ModuleType) -> Iterator[Any]:
    """`np.ndarray` in Cython's text is asked for by its C type, or not at all."""
    for owner in (module, *_types_of(module)):
        for member in [*vars(owner).values()]:
            if isinstance(member, staticmethod | classmethod):
                member = member.__func__
            kind = type(member).__name__
            if kind == "cython_function_or_method":
                yield member
            elif kind == "fused_cython_function":
                yield type(member)


def _types_of(module: types.ModuleType) -> list[type]:
    """Bases before what derives from them."""
    kinds = [kind for kind in [*vars(module).values()] if isinstance(kind, type)]
    own = [kind for kind in kinds if kind.__module__ == module.__name__]
    return sorted(own, key=lambda kind: len(kind.__mro__))


def _modules_in(module: types.ModuleType) -> list[types.ModuleType]:
    """The module, and those that its code has made in it."""
    found = [module]
    for part in found:
        for name, member in list(vars(part).items()):
            is_made_here = (
                isinstance(member, types.ModuleType)
                and member.__name__ == f"{part.__name__}.{name}"
                and member.__spec__ is None
            )
            if is_made_here and member not in found:
                found.append(member)
    return found


_compiled: set[Any] = set()  # types, functions and modules that have waited for the engine


def compiled_waiting() -> None:
    """What compiled() has left to the engine, one by one: other threads add to it meanwhile."""
    while True:
        try:
            found = _compiled.pop()
        except KeyError:  # none is left
            return
        _called_with_real_arrays([found])


def _called_with_real_arrays(found: Iterable[Any]) -> None:
    from frit import _core

    for callee in found:
        if isinstance(callee, types.ModuleType):
            _own_extension(callee)
            continue
        _core.call_with_real(callee, True)
        _undo.append(functools.partial(_core.call_with_real, callee, False))


def _own_extension(module: types.ModuleType) -> None:
    """Functions, methods and constructors in C are given real arrays."""
    from frit import _core

    parts = _modules_in(module)
    kinds = [kind for part in parts for kind in _types_of(part)]
    for owner in (*parts, *kinds):
        for name, member in list(vars(owner).items()):
            if type(member).__name__ in ("instancemethod", "staticmethod"):
                member = member.__func__
            if type(member).__name__ == "builtin_function_or_method":
                if owner in parts and member.__module__ not in (owner.__name__, None):
                    continue  # another module's
                _core.call_with_real(member, True)
                _undo.append(functools.partial(_core.call_with_real, member, False))
            elif type(member).__name__ == "method_descriptor":
                method = _core.Fallback(name, member, method=True, in_place=True)
                _core.set_in_type(owner, name, method)
                _undo.append(functools.partial(_core.set_in_type, owner, name, member))
    for kind in kinds:
        _core.construct_with_real(kind, True)
        _undo.append(functools.partial(_core.construct_with_real, kind, False))


def _array_api_compat(name: str) -> None:
    """Namespaces are found by the array's class: ours are NumPy's."""
    import numpy

    from frit import _core

    helpers = sys.modules[name]
    is_subclass = helpers._issubclass_fast
    standing_for = {_core.Array: numpy.ndarray, _core.Scalar: numpy.generic}

    def _issubclass_fast(cls: type, modname: str, clsname: str) -> bool:
        return is_subclass(standing_for.get(cls, cls), modname, clsname)

    replace(helpers, "_issubclass_fast", functools.wraps(is_subclass)(_issubclass_fast))


_API_HELPERS = "array_api_compat.common._helpers"


def _scipy_sparse() -> None:
    """Sparse matrices know dense operands by their class."""
    from scipy import sparse

    formats = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    kinds = [getattr(sparse, f"{name}_{kind}") for name in formats for kind in ("array", "matrix")]
    for owner in dict.fromkeys(base for kind in kinds for base in kind.__mro__):
        if owner.__module__.startswith("scipy"):
            for name in (_OPERATIONS | _SPARSE_ENTRIES) & vars(owner).keys():
                if type(method := vars(owner)[name]) is types.FunctionType:
                    replace(owner, name, _with_real_arguments(method))


_SPARSE_ENTRIES = frozenset(["__getitem__", "__setitem__", "maximum", "minimum"])


def _scipy_sparse_linalg() -> None:
    """The factors of SuperLU insist on real arrays; a matrix is an operator by its class."""
    from scipy.sparse import linalg

    _with_real_operands(linalg)

    class SuperLU:
        def __init__(self, factors: Any) -> None:
            self._factors = factors
            self.solve = _with_real_arguments(factors.solve)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._factors, name)

    for name in ("splu", "spilu"):
        factorize = getattr(linalg, name)

        def with_factors(*args: Any, factorize: Any = factorize, **kwargs: Any) -> SuperLU:
            return SuperLU(factorize(*args, **kwargs))

        replace(linalg, name, functools.wraps(factorize)(with_factors))
    factorized = linalg.factorized

    def solving(*args: Any, **kwargs: Any) -> Any:
        return _with_real_arguments(factorized(*args, **kwargs))

    replace(linalg, "factorized", functools.wraps(factorized)(solving))


_OPERATIONS = frozenset(
    f"__{before}{name}__"
    for name in ("add", "sub", "mul", "matmul", "truediv", "eq", "ne", "lt", "le", "gt", "ge")
    for before in ("", "r", "i")
)


def _sklearn() -> None:
    """Grids of parameters are lists or real arrays."""
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    for kind in (ParameterGrid, ParameterSampler):
        replace(kind, "__init__", _with_real_arguments(kind.__init__))


def _sklearn_estimators() -> None:
    """What an estimator was made with is known by its class when it is fitted."""
    from sklearn.base import BaseEstimator

    from frit import _core

    validate = BaseEstimator._validate_params

    def _validate_params(self: Any) -> None:
        for name, value in vars(self).items():
            if isinstance(value, _core.Array | _core.Scalar):
                setattr(self, name, _core.to_numpy(value))
        validate(self)

    replace(BaseEstimator, "_validate_params", functools.wraps(validate)(_validate_params))


def _sklearn_parameters() -> None:
    """Parameters are checked by their class."""
    from sklearn.utils import _param_validation

    name = "validate_parameter_constraints"
    replace(_param_validation, name, _with_real_arguments(getattr(_param_validation, name)))


_ADAPTERS: dict[str, Callable[[], None]] = {
    "autograd": _autograd,
    "cloudpickle": functools.partial(_cloudpickle, "cloudpickle"),
    "joblib.externals.cloudpickle": functools.partial(_cloudpickle, "joblib.externals.cloudpickle"),
    "json": _json,
    "_pytest.outcomes": _pytest,
    "multiprocessing": _multiprocessing,
    "numba": _numba,
    "torch": _torch,
}
# These load the engine: not before the program has its NumPy, or takes names out of the library.
_WITH_ENGINE: dict[str, Callable[[], None]] = {
    "astropy.table": _astropy_table,
    **{
        name: functools.partial(_array_api_compat, name)
        for name in (
            _API_HELPERS,
            f"scipy._external.{_API_HELPERS}",
            f"scipy._lib.{_API_HELPERS}",  # before SciPy 1.18
            f"sklearn.externals.{_API_HELPERS}",
        )
    },
    **{
        name: functools.partial(_module_in_c, name)
        for name in (
            "bottleneck",
            "numexpr",
            "orjson",
            "scipy.spatial.distance",
        )
    },
    "cv2": _cv2,
    "cvxpy": _cvxpy,
    "dill": _dill,
    "h5py": _h5py,
    "jax": _jax,
    "joblib": _joblib,
    "matplotlib.axes": _matplotlib,
    "netCDF4": _netcdf4,
    "numba.core.dispatcher": _numba_dispatcher,
    "numba.misc.special": _numba_typeof,
    "numba.stencils.stencil": _numba_stencils,
    "numpy.random": _numpy_random,
    "pandas": _pandas,
    "pint": _pint,
    "polars": _polars,
    "pyarrow": _pyarrow,
    "scipy.sparse": _scipy_sparse,
    "scipy.sparse.linalg": _scipy_sparse_linalg,
    "skimage.transform.hough_transform": _skimage_hough,
    "sklearn.base": _sklearn_estimators,
    "sklearn.model_selection": _sklearn,
    "sklearn.utils._param_validation": _sklearn_parameters,
    "xarray": _xarray,
}
# Python's own, which programs without arrays import too: never before the engine is there.
_STANDARD: dict[str, Callable[[], None]] = {
    "datetime": _datetime,
    "decimal": _decimal,
    "sqlite3": _sqlite3,
    "time": _time,
}
_WITH_ENGINE |= _STANDARD
_ADAPTERS |= _WITH_ENGINE
STANDARD = frozenset(_STANDARD)
LIBRARIES = frozenset(_ADAPTERS)
LIBRARIES_WITH_ENGINE = frozenset(_WITH_ENGINE)


def apply(library: str) -> None:
    """Runs the adapter of a library that was just imported.

    It may be another version than those known, or a module of the program's that has its name: what
    is not found there stays as it is.
    """
    with contextlib.suppress(AttributeError, ImportError, KeyError):
        _ADAPTERS[library]()
