"""_runner.py: runs a program, module or command as `python` would, with Frit for its numpy."""

from __future__ import annotations

import builtins
import functools
import gc
import importlib.machinery
import operator
import os
import runpy
import sys
import types
from collections.abc import Callable

from frit._importer import looks_at_loops

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any, NoReturn

USAGE = """\
usage: python -m frit [--report] [program.py | -m module | -c code | -] [arguments ...]
       python -m frit [--report]
       python -m frit --compare [program.py | -m module | -c code] [arguments ...]
       python -m frit --doctor

Runs a NumPy program, unchanged, with lazy, fused and compiled array operations; without one, what
the standard input holds, or an interactive session.

  --report   when the program ends: what was recorded, what fell back to NumPy, and where
  --compare  runs the program under plain Python and under Frit; compares output and time
  --doctor   shows versions, processor, threads, tiers and the kernel cache
"""


class Request:
    """What the command line asks for."""

    def __init__(self) -> None:
        self.kind = ""  # "file", "module", "command", "input" or "session"
        self.what = ""  # the path, module name or code
        self.arguments: list[str] = []
        self.options: set[str] = set()


def parse(words: list[str]) -> Request:
    """Reads the command line; options after the program are the program's."""
    request = Request()
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word in ("--report", "--compare", "--doctor", "--help", "-h"):
            request.options.add("--help" if word == "-h" else word)
            continue
        if word[:2] in ("-m", "-c"):
            request.kind = "module" if word[1] == "m" else "command"
            if len(word) == 2:
                if position == len(words):
                    _refuse(f"argument expected for the {word} option")
                word = "  " + words[position]
                position += 1
            request.what = word[2:]
        elif word == "-":
            request.kind, request.what = "input", word
        elif word.startswith("-"):
            _refuse(f"unknown option {word}")
        else:
            request.kind, request.what = "file", word
        request.arguments = words[position:]
        break
    return request


def _refuse(message: str) -> NoReturn:
    print(f"{message}\n{USAGE}", file=sys.stderr, end="")
    raise SystemExit(2)


def main(words: list[str]) -> None:
    """The command line `python -m frit ...`."""
    request = parse(words)
    if "--help" in request.options:
        print(USAGE, end="")
        return
    if "--doctor" in request.options:
        from frit.report import doctor

        print(doctor.text(), end="")
        return
    if "--compare" in request.options:
        if not request.kind:
            _refuse("a program is needed")
        from frit.report import compare

        raise SystemExit(compare.main(request))
    if not request.kind:
        request.kind = "session" if sys.stdin is not None and sys.stdin.isatty() else "input"
    run(request)


def run(request: Request) -> None:
    """Runs the program as __main__; its exit code, output and tracebacks are plain Python's."""
    import frit

    if "--report" in request.options:
        import atexit

        import frit.loops.run.place  # lets its places go when the report has counted them
        from frit.report import profile

        atexit.register(profile.print_at_exit)
    frit.install()
    gc.freeze()  # searches for garbage go through what the program makes
    start = _STARTS[request.kind]
    try:
        _as_plain_python(lambda: start(request))
    finally:
        _finish()


def _finish() -> None:
    """Does the work that others may see: memory that is not ours."""
    core = sys.modules.get("frit._core")
    if core is not None:
        core.finish()


def _as_plain_python(start: Callable[[], None]) -> None:
    """Runs start(); an exception that nobody catches is shown without our own frames."""
    try:
        start()
    except SystemExit as error:
        if error.code is not None and not isinstance(error.code, (int, str)):
            error.code = str(error.code)  # Python shows it when arrays have ended
        raise
    except BaseException as error:
        error.__traceback__ = _user_part(error.__traceback__)
        _trim_chain(error)
        sys.excepthook(type(error), error, error.__traceback__)
        # The interpreter ends with the right status, but must not show it twice.
        sys.excepthook = lambda *_: None
        raise


# Python keeps frames in chunks of 16 KiB, mapped when a call needs one and unmapped when it ends: a
# call that is repeated just where a chunk is full takes microseconds instead of 50 ns. Some 700 of
# NumPy's own import did, for our frames below them: 3 ms. Behind a frame of half a MiB is a chunk
# of one MiB for all of the program's, of which only the pages in use are ever touched.
_as_plain_python.__code__ = _as_plain_python.__code__.replace(co_stacksize=1 << 16)


# Python has no frame below a program's: what looks for one, as a warning does, says "sys", line 1,
# and since 3.13 "<sys>", line 0.
_BELOW = ("sys", 1) if sys.version_info < (3, 13) else ("<sys>", 0)
_RUN = compile("exec(code, space)", _BELOW[0], "exec").replace(co_firstlineno=_BELOW[1])


def _user_part(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback without the frames of this file."""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename != __file__ and code is not _RUN:
            break
        traceback = traceback.tb_next
    return traceback


def _trim_chain(error: BaseException) -> None:
    seen = {id(error)}
    while True:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
        if error is None or id(error) in seen:
            return
        seen.add(id(error))
        error.__traceback__ = _user_part(error.__traceback__)


def _fresh_main(**attributes: Any) -> types.ModuleType:
    """A new __main__ as the interpreter makes it."""
    module = types.ModuleType("__main__")
    module.__dict__.update(
        __builtins__=builtins,
        __package__=None,
        __spec__=None,
        __doc__=None,
        __annotations__={},
    )
    module.__dict__.update(attributes)
    _kept.append(sys.modules.get("__main__"))  # its globals live on while we run
    sys.modules["__main__"] = module
    return module


_kept: list[Any] = []


def _file(request: Request) -> None:
    path = request.what
    sys.argv = [path, *request.arguments]
    if os.path.isdir(path) or _is_archive(path):
        sys.path[:1] = [_absolute(path)]
        return _run_as_main("__main__", False)
    _look_first_in(os.path.dirname(os.path.realpath(path)))
    try:
        with open(path, "rb") as source:
            text = source.read()
    except OSError as error:
        print(
            f"{sys.orig_argv[0]}: can't open file {_absolute(path)!r}: "
            f"[Errno {error.errno}] {error.strerror}",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    path = _absolute(path)
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    module = _fresh_main(__file__=path, __cached__=None, __loader__=loader)
    _execute(text, path, module)


def _absolute(path: str) -> str:
    """As Python does: `..` stays, for behind a link to a folder it leads elsewhere."""
    if os.path.isabs(path):
        return path
    return os.getcwd() if path == "." else os.path.join(os.getcwd(), path)


def _is_archive(path: str) -> bool:
    if not os.path.isfile(path):  # a pipe is read once
        return False
    try:
        with open(path, "rb") as source:
            if source.read(2) != b"PK":
                return False
    except OSError:
        return False
    import zipfile

    return zipfile.is_zipfile(path)


def _look_first_in(folder: str) -> None:
    """Puts the program's folder where `python -m frit` has put the working folder."""
    if not sys.flags.isolated and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def _module(request: Request) -> None:
    sys.argv = ["-m", *request.arguments]
    _look_first_in(os.getcwd())
    _fresh_main()
    _run_as_main(request.what)


def _run_as_main(*module: Any) -> None:
    """What `python -m` itself runs: __main__ gets the module's own spec, name and file."""
    _let_recur(sys._getframe(), calls=1)
    runpy._run_module_as_main(*module)  # type: ignore[attr-defined]


def _command(request: Request) -> None:
    sys.argv = ["-c", *request.arguments]
    _look_first_in("")
    module = _fresh_main(__loader__=importlib.machinery.BuiltinImporter)
    _execute(request.what, "<string>", module)


def _input(request: Request) -> None:
    sys.argv = ["-" if request.what else "", *request.arguments]
    _look_first_in("")
    module = _fresh_main(
        __file__="<stdin>", __cached__=None, __loader__=importlib.machinery.BuiltinImporter
    )
    _execute(sys.stdin.read() if sys.stdin is not None else "", "<stdin>", module)


def _session(_: Request) -> None:
    """Leaves its lines to the interpreter, which goes on with them when we are done."""
    sys.argv = [""]
    _look_first_in("")
    module = _fresh_main(__loader__=importlib.machinery.BuiltinImporter)
    print(f"Python {sys.version} on {sys.platform}, with Frit for its numpy", file=sys.stderr)
    _run_startup(module)
    _keep_from_startup()
    os.environ["PYTHONINSPECT"] = "1"
    set_up = getattr(sys, "__interactivehook__", None)

    def begin() -> None:
        os.environ.pop("PYTHONINSPECT", None)  # not for the processes that the session starts
        if set_up is not None:
            set_up()

    sys.__interactivehook__ = begin  # type: ignore[attr-defined]


def _run_startup(module: types.ModuleType) -> None:
    file = "" if sys.flags.ignore_environment else os.environ.get("PYTHONSTARTUP", "")
    if not file:
        return
    try:
        with open(file, "rb") as source:
            exec(compile(source.read(), file, "exec", dont_inherit=True), module.__dict__)
    except Exception as error:  # a session begins without it, as in Python
        error.__traceback__ = _user_part(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)


def _keep_from_startup() -> None:
    """The editor of lines that Python has since 3.13 may run the file of PYTHONSTARTUP again."""
    try:
        import _pyrepl.main as editor  # type: ignore[import-not-found]
    except ImportError:
        return
    begin = editor.interactive_console
    editor.interactive_console = lambda *given, pythonstartup=False, **named: begin(*given, **named)


_STARTS = {
    "file": _file,
    "module": _module,
    "command": _command,
    "input": _input,
    "session": _session,
}


def _execute(text: str | bytes, file: str, module: types.ModuleType) -> None:
    """Runs the program, whose loops may run as kernels."""
    code = compile(text, file, "exec", dont_inherit=True)
    if looks_at_loops(text if isinstance(text, bytes) else text.encode(errors="replace"), code):
        from frit import _kept

        code = _kept.code_of(text, code, is_program=True)
    if file == "<string>":
        _show_lines_of(code, text)
    _let_recur(sys._getframe(), frames=1, calls=3)
    exec(_RUN, {"__name__": "sys", "code": code, "space": module.__dict__})


def _show_lines_of(code: types.CodeType, text: str | bytes) -> None:
    """Tracebacks have the lines of what -c was given, as since Python 3.13."""
    if sys.version_info < (3, 13):
        return
    import linecache

    key = code if sys.version_info >= (3, 14) else code.co_filename
    linecache._register_code(key, text, code.co_filename)  # type: ignore[attr-defined]


def _let_recur(frame: types.FrameType | None, frames: int = 0, calls: int = 0) -> None:
    """A program may call as deep as without the frames below it.

    frames, calls: to come, of Python functions and of C's, which counted until Python 3.12.
    """
    extra = frames + calls * (sys.version_info < (3, 12))
    while frame is not None:
        frame, extra = frame.f_back, extra + 1
    limit, set_limit = sys.getrecursionlimit, sys.setrecursionlimit
    set_limit(limit() + extra)

    @functools.wraps(limit)
    def getrecursionlimit() -> int:
        return limit() - extra

    @functools.wraps(set_limit)
    def setrecursionlimit(limit: int, /) -> None:
        number = operator.index(limit)
        set_limit(number + extra if number > 0 else number)

    sys.getrecursionlimit, sys.setrecursionlimit = getrecursionlimit, setrecursionlimit
