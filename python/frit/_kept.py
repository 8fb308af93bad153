"""_kept.py: what the loop door made of the user's programs, on the disk: no start makes it again.

A file a module, a decorated function and a nest, beside the folder of kernels. It is named by what
it is of, and holds all that its content depends on (the text, the interpreter, Frit), which is
compared, and a checksum. What is damaged, of another text or another user's is not there; without
a usable folder nothing is kept. FRIT_CACHE=0 turns it off.
"""

from __future__ import annotations

import os
import stat
import sys
import types
from _imp import source_hash  # what Python's own .pyc files use
from marshal import dumps, loads

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

_MAGIC = b"FRITNES4"
_HEAD = len(_MAGIC) + 8  # and the checksum
_SEED = 0x66726974
LIMIT = 64 << 20  # bytes of all files; beyond, the oldest go
_EXTENSION = ".nests"

_made_room = False
program: tuple[bytes, bytes] | None = None  # the program's file: what it is of, and its facts


def code_of(
    text: str | bytes, original: types.CodeType, *, is_program: bool = False
) -> types.CodeType:
    """As implicit.code_of, of a file."""
    if isinstance(text, str):
        text = text.encode(errors="surrogatepass")
    if (b"for" not in text and b"while" not in text) or os.environ.get("FRIT_LOOPS", "1") == "0":
        return original
    if original.co_filename.startswith("<"):
        from frit.loops.find import implicit

        return implicit.code_of(text, original, is_program=is_program)
    from frit.loops.find.codes import has_loops

    if not has_loops(original):
        return original
    origin = b"program " * is_program + os.fsencode(original.co_filename)
    facts = b"%d " % len(text) + source_hash(_SEED, text)
    if is_program:
        global program
        program = origin, facts
    if (found := _loaded(origin, facts, text, original)) is not None:
        return found
    from frit.loops.find import implicit

    code, content = implicit.code_and_content(text, original, (origin, facts), is_program)
    if content is not None:
        store(origin, facts, content)
    return code


def _loaded(
    origin: bytes, facts: bytes, text: bytes, original: types.CodeType
) -> types.CodeType | None:
    """What code_of has stored; None: nothing of this text."""
    from frit._quiet import without_collections

    with without_collections():
        content = load(origin, facts)
        if content is None:
            return None
        if not content:
            return original
        from frit.loops.find import kept

        return kept.module_of(content, text, original, (origin, facts))


def cache_folder() -> str:
    """Of all that is kept, as disk_store.cpp chooses it; "": there is none."""
    if os.environ.get("FRIT_CACHE") == "0":
        return ""
    folder = os.environ.get("FRIT_CACHE_DIR", "")
    if not folder and (base := os.environ.get("XDG_CACHE_HOME")):
        folder = os.path.join(base, "frit")
    if not folder and os.access(os.environ.get("HOME", ""), os.X_OK):
        folder = os.path.join(os.environ["HOME"], ".cache", "frit")
    return folder if os.path.isabs(folder) else ""


def load(origin: bytes, facts: bytes) -> Any:
    """What store() has kept of the origin, if the facts are the same; else None."""
    folder = cache_folder()
    return _load(os.path.join(folder, "nests"), origin, _key(origin, facts)) if folder else None


def is_there(origin: bytes) -> bool:
    """Whether something is kept of the origin: of these facts or of others."""
    folder = cache_folder()
    return bool(folder) and os.path.exists(os.path.join(folder, "nests", _name(origin)))


def store(origin: bytes, facts: bytes, content: Any) -> None:
    """Keeps what marshal can write in the place of what was kept of the origin."""
    if folder := cache_folder():
        _store(os.path.join(folder, "nests"), origin, _key(origin, facts), content)


def _key(origin: bytes, facts: bytes) -> bytes:
    return b"\0".join([origin, *_identity(), b"%d" % len(facts), facts])


def _identity() -> list[bytes]:
    """The interpreter, and this build of Frit."""
    global _known_identity
    if not _known_identity:
        home = os.path.dirname(os.path.abspath(__file__))
        times = []
        for part in _PARTS:
            with os.scandir(os.path.join(home, part)) as found:
                files = [f for f in found if f.name.endswith((".py", ".so"))]
            times += sorted((f.name, f.stat().st_mtime_ns) for f in files)
        flags = sys.flags
        options = flags.optimize, flags.dev_mode, flags.interactive, flags.inspect
        _known_identity = [sys.version.encode(), repr((options, _has_no_columns(), times)).encode()]
    return _known_identity


def _has_no_columns() -> bool:
    """Whether code says nothing of columns, which tracebacks show."""
    is_set = not sys.flags.ignore_environment and os.environ.get("PYTHONNODEBUGRANGES")
    return bool(is_set) or "no_debug_ranges" in sys._xoptions


# Folders of what nests are made by.
_PARTS = ("", "loops", "loops/find", "loops/nest", "loops/run", "translate")
_known_identity: list[bytes] = []


def _name(origin: bytes) -> str:
    return source_hash(_SEED, origin).hex() + _EXTENSION


def _is_mine(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid()


def _is_private(folder: str) -> bool:
    """Whether the folder is there, and nobody else may write to it."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or not _is_mine(status):
        return False
    if status.st_mode & 0o077:
        os.chmod(folder, 0o700)
    return True


def _load(folder: str, origin: bytes, key: bytes) -> Any:
    try:
        if not _is_private(folder):
            return None
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        file = os.open(os.path.join(folder, _name(origin)), flags)
        with open(file, "rb") as source:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or not _is_mine(status):
                return None
            found = source.read()
        content = found[_HEAD + len(key) :]
        if found[_HEAD : _HEAD + len(key)] != key or found[:_HEAD] != _head(key, content):
            return None
        return loads(content)
    except (OSError, ValueError, EOFError, TypeError):
        return None


def _head(key: bytes, content: bytes) -> bytes:
    return _MAGIC + source_hash(_SEED, key + content)


def _store(folder: str, origin: bytes, key: bytes, content: Any) -> None:
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        if not _is_private(folder):
            return
        _make_room(folder)
        text = dumps(content)
        path = os.path.join(folder, _name(origin))
        unfinished = f"{path}.new-{os.getpid()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(unfinished, flags, 0o600)
    except (OSError, ValueError):
        return
    try:
        with open(file, "wb") as target:
            target.write(_head(key, text) + key + text)
        os.replace(unfinished, path)
    except OSError:  # a full disk
        os.unlink(unfinished)


def _make_room(folder: str) -> None:
    """Once a process, before its first file."""
    global _made_room
    if _made_room:
        return
    _made_room = True
    with os.scandir(folder) as entries:
        files = [(status.st_mtime, status.st_size, e.path) for e in entries if (status := e.stat())]
    used = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if used <= LIMIT:
            break
        os.unlink(path)
        used -= size
