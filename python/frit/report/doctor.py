"""doctor.py: `python -m frit --doctor`: versions, processor, threads, tiers, kernel cache."""

from __future__ import annotations

import ctypes
import os
import platform
import stat
import sys
from pathlib import Path

from frit import _kept


def text() -> str:
    """What this installation is and can do, a line for each fact."""
    rows = [*_versions(), *_processor(), *_tiers(), *_cache()]
    width = max(len(name) for name, _ in rows)
    return "".join(f"{name:<{width}}  {value}\n" for name, value in rows)


def _versions() -> list[tuple[str, str]]:
    import frit

    rows = [("frit", frit.__version__), ("python", f"{sys.version.split()[0]} {sys.executable}")]
    try:
        import numpy

        rows.append(("numpy", f"{numpy.__version__} {os.path.dirname(numpy.__file__)}"))
    except ImportError as error:
        rows.append(("numpy", f"missing: {error}"))
    rows.append(("FRIT", os.environ.get("FRIT", "not set (on)")))
    return rows


def _processor() -> list[tuple[str, str]]:
    model = platform.processor() or platform.machine()
    flags: set[str] = set()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                model = value.strip()
            elif name.strip() in ("flags", "Features"):
                flags.update(value.split())
    except OSError:
        pass
    known = ("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512dq", "asimd", "sve")
    rows = [("processor", model), ("vectors", " ".join(k for k in known if k in flags) or "?")]
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    rows.append(("cores", f"{allowed} of {os.cpu_count()} may be used"))
    try:
        from frit import _core

        rows.append(("threads", str(_core.threads())))
    except ImportError as error:
        rows.append(("engine", f"does not load: {error}"))
    return rows


def _tiers() -> list[tuple[str, str]]:
    compiler, analysis = _failure_to_open("libfrit_jit.so"), _failure_to_open("libfrit_isl.so")
    return [
        ("tiers", f"interpreter; no compiler: {compiler}" if compiler else "interpreter, compiler"),
        ("loops", f"not analysed, so serial: {analysis}" if analysis else "analysed with isl"),
        ("devices", _devices()),
    ]


def _devices() -> str:
    """The processor, and a GPU or why there is none; and which of them kernels run on."""
    try:
        from frit import _core
    except ImportError:
        return "cpu"
    used = _core.device()
    try:
        _core.set_device("cuda")
        gpu = f"cuda: {_core.device_description()}"
        _core.set_device(used)
    except RuntimeError as error:
        gpu = f"no GPU: {error}"
    return f"cpu; {gpu} (used: {used})"


def _failure_to_open(library: str) -> str:
    """Why a library of the package, or what it needs, can't be opened; empty: it can."""
    import frit

    try:
        ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(frit.__file__)), library))
    except OSError as error:
        return str(error)
    return ""


def _cache() -> list[tuple[str, str]]:
    if not (named := _kept.cache_folder()):
        return [("cache", "none: nothing is kept")]
    folder = Path(named)
    try:
        status = folder.stat()
    except FileNotFoundError:
        return [("cache", f"{folder} (not made yet)")]
    except OSError as error:
        return [("cache", f"{folder}: {error.strerror}")]
    files = [f for f in folder.rglob("*") if f.is_file()]
    size = sum(f.stat().st_size for f in files)
    mode = stat.S_IMODE(status.st_mode)
    state = f"{len(files)} files, {size / 2**20:.1f} MiB, mode {mode:04o}"
    if status.st_uid != os.getuid():
        state += "; belongs to somebody else: not used"
    elif mode & 0o077:
        state += "; open to others: should be 0700"
    return [("cache", f"{folder} ({state})")]
