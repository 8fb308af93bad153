"""_kept.py: what the loop door made of the user's modules, on the disk: no start makes it again.

A file a module, named by the module's path, beside the folder of kernels. It holds all that its
content depends on (the text, the interpreter, Frit), which is compared, and a checksum. What is
damaged, of another text or another user's is not there; without a usable folder nothing is kept.
FRIT_CACHE=0 turns it off.
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

_MAGIC = b"FRITNEST"
_HEAD = len(_MAGIC) + 8  # and the checksum
_SEED = 0x66726974
LEAST_TEXT = 2000  # bytes: shorter modules are read again as fast
LIMIT = 64 << 20  # bytes of all files; beyond, the oldest go
_EXTENSION = ".nests"

_made_room = False


def code_of(text: bytes, original: types.CodeType) -> types.CodeType:
    """As implicit.code_of, of a module that is imported."""
    if b"for" not in text or os.environ.get("FRIT_LOOPS", "1") == "0":
        return original
    folder = _folder() if len(text) >= LEAST_TEXT else ""
    key = _key(text, original.co_filename) if folder else b""
    content = _load(folder, key) if folder else None
    if content is not None and not content:
        return original
    if content is not None:
        from frit.loops import kept

        if (found := kept.code_of(content, original)) is not None:
            return found
    from frit.loops import implicit

    code, content = implicit.code_and_content(text, original)
    if folder and content is not None:
        _store(folder, key, content)
    return code


def _folder() -> str:
    """As disk_store.cpp chooses it; "": there is none."""
    if os.environ.get("FRIT_CACHE") == "0":
        return ""
    folder = os.environ.get("FRIT_CACHE_DIR", "")
    if not folder and (base := os.environ.get("XDG_CACHE_HOME")):
        folder = os.path.join(base, "frit")
    if not folder and os.access(os.environ.get("HOME", ""), os.X_OK):
        folder = os.path.join(os.environ["HOME"], ".cache", "frit")
    return os.path.join(folder, "nests") if os.path.isabs(folder) else ""


def _key(text: bytes, file: str) -> bytes:
    """The file's path, and all that its code with places depends on."""
    head = os.fsencode(file), *_identity()
    return b"\0".join([*head, b"%d" % len(text), source_hash(_SEED, text)])


def _identity() -> list[bytes]:
    """The interpreter, and this build of what rewrites loops."""
    global _known_identity
    if not _known_identity:
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loops")
        with os.scandir(folder) as found:
            times = [(f.name, f.stat().st_mtime_ns) for f in found if f.name.endswith(".py")]
        options = sys.flags.optimize, sys.flags.dev_mode
        _known_identity = [sys.version.encode(), repr((options, sorted(times))).encode()]
    return _known_identity


_known_identity: list[bytes] = []


def _name(key: bytes) -> str:
    return source_hash(_SEED, key.partition(b"\0")[0]).hex() + _EXTENSION


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


def _load(folder: str, key: bytes) -> Any:
    try:
        if not _is_private(folder):
            return None
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        file = os.open(os.path.join(folder, _name(key)), flags)
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


def _store(folder: str, key: bytes, content: Any) -> None:
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        if not _is_private(folder):
            return
        _make_room(folder)
        text = dumps(content)
        path = os.path.join(folder, _name(key))
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
