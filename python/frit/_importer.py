"""_importer.py: `import numpy` gives frit.numpy to the user's own code, and real NumPy to all else.

User code is what is neither installed (a folder named site-packages or dist-packages), nor the
standard library, nor Frit, nor NumPy, nor a library that has an adapter: the main program, its
folder, the working folder, editable installs. FRIT_INCLUDE and FRIT_EXCLUDE change that: names of
modules (with * and ?) or folders, separated by commas.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.machinery
import os
import sys
import types
from _weakref import ref
from collections.abc import Iterator, Mapping, Sequence

from frit import _activity

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

_INSTALLED = tuple(os.sep + name + os.sep for name in ("site-packages", "dist-packages"))
_MAIN = frozenset(["__main__", "__mp_main__"])
# They look up what a test names in a text: `mock.patch("numpy.sum")`.
_TESTERS = frozenset(["unittest.mock", "mock.mock", "_pytest.monkeypatch"])
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_FRIT = os.path.dirname(os.path.abspath(__file__)) + os.sep

_import = builtins.__import__
_import_module = importlib.import_module
_has_arrays = True  # whether the program may come to have some
_user_files: dict[str, bool] = {}


class _Patterns:
    """FRIT_INCLUDE or FRIT_EXCLUDE: what it names."""

    def __init__(self, text: str) -> None:
        words = [word.strip() for word in text.split(",") if word.strip()]
        self.modules = [word for word in words if os.sep not in word]
        self.folders = tuple(
            os.path.join(os.path.abspath(os.path.expanduser(word)), "")
            for word in words
            if os.sep in word
        )
        if self.modules:
            from fnmatch import fnmatchcase

            self.fits_pattern = fnmatchcase

    def match(self, module: str, file: str) -> bool:
        if self.folders and file.startswith(self.folders):
            return True
        return any(
            module == pattern
            or module.startswith(pattern + ".")
            or self.fits_pattern(module, pattern)
            for pattern in self.modules
        )


_include = _exclude = _Patterns("")


def _is_user_file(file: str) -> bool:
    known = _user_files.get(file)
    if known is None:
        path = os.path.abspath(file)
        known = _user_files[file] = not (
            _is_installed_file(path) or path.startswith((_STANDARD, _FRIT, _numpy_folder()))
        )
    return known


def _is_installed_file(path: str) -> bool:
    return any(folder in path for folder in _INSTALLED)


def _numpy_folder() -> str:
    file = getattr(sys.modules.get("numpy"), "__file__", None)
    return os.path.dirname(os.path.abspath(file)) + os.sep if file else _FRIT


def is_user_code(scope: Mapping[str, Any] | None, frame: types.FrameType | None = None) -> bool:
    """Whether the module whose globals these are is the user's own."""
    if scope is None and frame is not None:
        scope = frame.f_globals
    # Code made by exec() has no file: whoever called it decides, also by way of the standard
    # library (timeit).
    made = False
    while scope is None or _is_nobodys(scope) or made and _is_standard(scope):
        if frame is None or frame.f_back is None:
            return False
        made = True
        frame = frame.f_back
        scope = frame.f_globals
    name, file = _name_and_file(scope)
    if name == "pkgutil" and frame is not None:  # resolve_name, for whoever called it
        return is_user_code(None, frame.f_back)
    if name in _TESTERS:
        return True
    if name == "frit" or name.startswith("frit."):
        return False
    if _exclude.modules or _exclude.folders or _include.modules or _include.folders:
        path = os.path.abspath(file) if file else ""
        if _exclude.match(name, path):
            return False
        if _include.match(name, path):
            return True
    return name in _MAIN or name.partition(".")[0] not in _libraries and _is_user_file(file)


def _name_and_file(scope: Mapping[str, Any]) -> tuple[str, str]:
    """Of a module; "" for what is no text."""
    name, file = scope.get("__name__"), scope.get("__file__")
    if not isinstance(file, str) and isinstance(file, os.PathLike):
        file = os.fspath(file)
    return name if isinstance(name, str) else "", file if isinstance(file, str) else ""


def _is_nobodys(scope: Mapping[str, Any]) -> bool:
    return "__file__" not in scope and _name_and_file(scope)[0] not in _MAIN


def _is_standard(scope: Mapping[str, Any]) -> bool:
    name, file = _name_and_file(scope)
    path = os.path.abspath(file)
    return path.startswith(_STANDARD) and not _is_installed_file(path) and name not in _MAIN


def _reads_dictionaries(code: types.CodeType) -> bool:
    """Whether it may look at a module's dictionary, which can't be filled while it is read."""
    return not _DICTIONARY.isdisjoint(code.co_names) or any(
        _reads_dictionaries(part) for part in code.co_consts if isinstance(part, types.CodeType)
    )


_DICTIONARY = frozenset(["__dict__", "vars"])
_complete: set[str] = set()  # NumPy's modules of which ours has every name by now


def unseen(function: types.FunctionType) -> types.FunctionType:
    """Its frames pass for the import machinery's: warnings name the line beneath them."""
    function.__code__ = function.__code__.replace(
        co_filename=importlib.machinery.SourceFileLoader.exec_module.__code__.co_filename
    )
    return function


@unseen
def _ours(name: str, fromlist: Sequence[str] | None, importing: types.CodeType) -> types.ModuleType:
    """What an import statement for numpy or one of its submodules gives."""
    try:
        # Also imports what is named in `fromlist` and is a submodule.
        module = _import("frit." + name, None, None, fromlist or (), 0)
    except ModuleNotFoundError as error:
        if not _is_missing_in_numpy(error):
            raise
        module = None
    if module is None:
        return _import(name, None, None, fromlist, 0)  # the error in NumPy's words
    for wanted in fromlist or ():
        if wanted != "*" and wanted not in vars(module) and not hasattr(module, wanted):
            # The same, from the statement that raises it.
            exec(f"from {name} import {wanted}", globals(), {})
    if name not in _complete and _reads_dictionaries(importing):
        from frit.numpy import _namespace

        _namespace.complete(name)
        _complete.add(name)
    return module if fromlist else sys.modules["frit.numpy"]


def _is_missing_in_numpy(error: ModuleNotFoundError) -> bool:
    return (error.name or "").startswith("frit.numpy.")


def _leave_out(error: BaseException) -> None:
    """Its traceback begins below our frames. A bare `raise` behind this adds none again."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_globals is globals():
        traceback = traceback.tb_next
    error.__traceback__ = traceback


def _known_import(
    name: str, asker: tuple[str, str], fromlist: Sequence[str] | None, importing: types.CodeType
) -> types.ModuleType | None:
    """What it gave the last time: pickle imports NumPy's modules for each array.

    None where nobody knows, or somebody may read the module's dictionary.
    """
    module = _known.get((name, asker))
    if module is None:
        return None
    code = _without_reads.get(id(importing))
    if name not in _complete and (code is None or code() is not importing):
        return None
    if not fromlist:
        return sys.modules.get("frit.numpy")
    return module if all(map(vars(module).__contains__, fromlist)) else None


def _note_import(name: str, asker: tuple[str, str], importing: types.CodeType) -> None:
    if not asker[1]:
        return  # the frames around it decide whose it is
    if len(_without_reads) > _MOST_KNOWN:
        _without_reads.clear()
    if not _reads_dictionaries(importing):
        _without_reads[id(importing)] = ref(importing)
    _known[name, asker] = sys.modules["frit." + name]


@unseen
def frit_import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> types.ModuleType:
    """Stands for builtins.__import__."""
    try:
        if level == 0 and name not in _plain_names:
            is_numpy = name == "numpy" or name.startswith("numpy.")
            if is_numpy:
                asker = _name_and_file(globals or {})
                if asker not in _others and not _activity.suspended:
                    frame = sys._getframe(1)
                    known = _known_import(name, asker, fromlist, frame.f_code)
                    if known is not None:
                        return known
                    if is_user_code(globals, frame):
                        module = _ours(name, fromlist, frame.f_code)
                        _note_import(name, asker, frame.f_code)
                        return module
                    if asker[1] and asker[0] != "pkgutil":
                        _others.add(asker)
            if due := _due(name):
                module = _import(name, globals, locals, fromlist, level)
                for library in due:
                    _adapt(library, sys._getframe(1) if fromlist else None)
                return module
            if not is_numpy:
                _plain_names.add(name)
        return _import(name, globals, locals, fromlist, level)
    except BaseException as error:
        _leave_out(error)
        raise


@unseen
def frit_import_module(name: str, package: str | None = None) -> types.ModuleType:
    """Stands for importlib.import_module."""
    try:
        if name == "numpy" or name.startswith("numpy."):
            frame = sys._getframe(1)
            if not _activity.suspended and is_user_code(frame.f_globals, frame):
                try:
                    return _import_module("frit." + name)
                except ModuleNotFoundError as error:
                    if not _is_missing_in_numpy(error):
                        raise
        module = _import_module(name, package)
        for library in _due(name):
            _adapt(library)
        return module
    except BaseException as error:
        _leave_out(error)
        raise


frit_import_module.__name__ = frit_import_module.__qualname__ = "import_module"
frit_import_module.__doc__ = _import_module.__doc__


class _PyKokkosFinder:
    """`import pykokkos` gives frit.pykokkos, also by the names of PyKokkos' own submodules."""

    NAMES = (
        "pykokkos",
        "pykokkos.interface",
        "pykokkos.interface.data_types",
        "pykokkos.linalg",
        "pykokkos.linalg.l3_blas",
    )

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> Any:
        if name in cls.NAMES and not _activity.suspended:
            return importlib.machinery.ModuleSpec(name, cls, is_package=True)
        return None

    @staticmethod
    def create_module(spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        return module

    @staticmethod
    def exec_module(module: types.ModuleType) -> None:
        # The door itself, under this name as well.
        sys.modules[module.__name__] = _import_module("frit.pykokkos")


_get_code = importlib.machinery.SourceFileLoader.get_code


@unseen
def _code_with_nests(self: Any, fullname: str) -> types.CodeType | None:
    """Stands for SourceFileLoader.get_code: the loops of the user's own modules are looked at."""
    try:
        code = _get_code(self, fullname)
    except BaseException as error:
        _leave_out(error)
        raise
    if (
        code is None
        or type(self) is not importlib.machinery.SourceFileLoader
        or _activity.suspended
    ):
        return code
    if not is_user_code({"__name__": fullname, "__file__": self.path}):
        return code
    if not _has_arrays and "numpy" not in sys.modules and not _has_nested_loops(code):
        return code
    from frit import _kept

    try:
        text = self.get_data(self.path)
    except OSError:
        return code
    return _kept.code_of(text, code)


_exec_extension = importlib.machinery.ExtensionFileLoader.exec_module


@unseen
def _execute_extension(self: Any, module: types.ModuleType) -> None:
    """Stands for ExtensionFileLoader.exec_module: some functions are called by way of us."""
    try:
        _exec_extension(self, module)
    except BaseException as error:
        _leave_out(error)
        raise
    if _activity.installed:
        from frit import _adapters

        _adapters.compiled(module)


def _notebook() -> Any:
    """IPython's shell, where there is one."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None else None


def _treat_cells(shell: Any) -> None:
    from frit.loops.find import implicit

    _ignore_cells(shell)
    shell.ast_transformers.append(implicit.CellTransformer(shell.user_ns))


def _ignore_cells(shell: Any) -> None:
    shell.ast_transformers[:] = [
        t for t in shell.ast_transformers if type(t).__module__ != "frit.loops.find.implicit"
    ]


# Packages that have adapters: given real arrays, they want real NumPy, wherever they lie.
_libraries: frozenset[str] = frozenset()
# Libraries that must be told about Frit as soon as they are imported.
_adapters_due: set[str] = set()
_packages_due: set[str] = set()  # theirs
# Modules that were imported and are nothing to us: functions import them again at each call.
_plain_names: set[str] = set()
# Modules that are not the user's and have imported NumPy, by name and file: their functions do so
# at each call.
_others: set[tuple[str, str]] = set()
# What imports give the user's own modules, by name, and whose they are.
_known: dict[tuple[str, tuple[str, str]], types.ModuleType] = {}
_MOST_KNOWN = 1000
_without_reads: dict[int, ref[types.CodeType]] = {}  # which read no dictionaries, by their id()


def _due(name: str) -> list[str]:
    """The libraries in a module's package that wait for their adapter."""
    package = name.partition(".")[0]
    if package not in _packages_due:
        return []
    return [library for library in [*_adapters_due] if library.partition(".")[0] == package]


def _is_loaded(name: str) -> bool:
    """Whether it is there, whole: what NumPy imports, the engine imports while it is made."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return spec is not None and not getattr(spec, "_initializing", False)


def _adapt(library: str, taker: types.FrameType | None = None) -> None:
    """Runs the library's adapter, once, and not in the middle of the library's own import.

    taker: whose names are functions of the library by now.
    """
    module = sys.modules.get(library)
    if (
        library not in _adapters_due
        or module is None
        or getattr(module.__spec__, "_initializing", False)
    ):
        return
    from frit import _adapters

    if library in _adapters.LIBRARIES_WITH_ENGINE and not _is_loaded("frit._core"):
        can_wait = taker is None or library in _adapters.STANDARD
        if can_wait or not is_user_code(taker.f_globals, taker):  # type: ignore[union-attr]
            return
    _adapters_due.discard(library)
    if not _due(library):
        _packages_due.discard(library.partition(".")[0])
    _adapters.apply(library)


def adapt_libraries() -> None:
    """Runs the adapters that have waited for frit.numpy."""
    from frit import _adapters

    _adapters.compiled_waiting()
    for library in [*_adapters_due]:
        _adapt(library)


def enabled() -> bool:
    """False under FRIT=0."""
    return os.environ.get("FRIT", "1") != "0"


def install() -> None:
    """From now on user code that imports numpy gets frit.numpy. No effect under FRIT=0."""
    global _include, _exclude, _libraries
    if _activity.installed or not enabled():
        return
    from frit import _adapters

    _include = _Patterns(os.environ.get("FRIT_INCLUDE", ""))
    _exclude = _Patterns(os.environ.get("FRIT_EXCLUDE", ""))
    _activity.installed = True
    builtins.__import__ = frit_import
    importlib.import_module = frit_import_module
    sys.meta_path.insert(0, _PyKokkosFinder)
    importlib.machinery.SourceFileLoader.get_code = _code_with_nests  # type: ignore[method-assign]
    importlib.machinery.ExtensionFileLoader.exec_module = (  # type: ignore[method-assign]
        _execute_extension
    )
    for module in [*sys.modules.values()]:
        if isinstance(module, types.ModuleType):
            _adapters.compiled(module)
    shell = _notebook()
    if shell is not None:
        _treat_cells(shell)
    if "frit.numpy" in sys.modules:
        from frit.numpy import _namespace

        _namespace.watch()
    _adapters_due.update(_adapters.LIBRARIES)
    packages = {library.partition(".")[0] for library in _adapters.LIBRARIES}
    _packages_due.update(packages)
    _libraries = frozenset(packages - sys.stdlib_module_names)
    _plain_names.clear()
    _others.clear()
    _known.clear()
    for library in _adapters.LIBRARIES:
        if library in sys.modules:
            _adapt(library)


def uninstall() -> None:
    """Gives every importer real NumPy again; modules keep what they have imported."""
    if not _activity.installed:
        return
    _activity.installed = False
    if builtins.__import__ is frit_import:
        builtins.__import__ = _import
    if importlib.import_module is frit_import_module:
        importlib.import_module = _import_module
    if _PyKokkosFinder in sys.meta_path:
        sys.meta_path.remove(_PyKokkosFinder)
    if importlib.machinery.SourceFileLoader.get_code is _code_with_nests:
        importlib.machinery.SourceFileLoader.get_code = _get_code  # type: ignore[method-assign]
    loader = importlib.machinery.ExtensionFileLoader
    if loader.exec_module is _execute_extension:
        loader.exec_module = _exec_extension  # type: ignore[method-assign]
    shell = _notebook()
    if shell is not None:
        _ignore_cells(shell)
    for name in _PyKokkosFinder.NAMES:
        if sys.modules.get(name) is sys.modules.get("frit.pykokkos", False):
            del sys.modules[name]
    _adapters_due.clear()
    _packages_due.clear()
    from frit import _adapters

    _adapters.undo()
    if "frit.numpy" in sys.modules:
        from frit.numpy import _namespace

        sys.modules["frit._core"].eval()
        _namespace.unwatch()


@contextlib.contextmanager
def suspended() -> Iterator[None]:
    """Within this block imports give real NumPy, and recorded work is done at once."""
    core = sys.modules.get("frit._core")
    if core is not None:
        core.eval()
        core.set_lazy(False)
    _activity.suspended += 1
    try:
        yield
    finally:
        _activity.suspended -= 1
        core = sys.modules.get("frit._core")
        if core is not None and not _activity.suspended:
            core.eval()
            core.set_lazy(True)


def looks_at_loops(program: bytes, code: types.CodeType) -> bool:
    """Whether the loops of a program's text, and of its modules, may run as kernels."""
    global _has_arrays
    if not _activity.is_active():
        return False
    from frit import _reach

    _has_arrays = _reach.may_have_arrays(program, sys.path[0])
    return _has_arrays or _has_nested_loops(code)


def may_have_arrays() -> bool:
    """Whether the program may come to have some, by its imports."""
    return _has_arrays


def _has_nested_loops(code: types.CodeType) -> bool:
    from frit import _reach

    return _reach.has_nested_loops(code)
