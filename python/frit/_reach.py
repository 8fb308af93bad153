"""_reach.py: whether a program can come to have arrays, from the import statements of its text.

One that imports nothing but the standard library, and files beside it that do the same, has none.
Its loops are then left alone: to look at them takes longer than a small program runs. A doubt
counts as yes, and a mistake costs only time.
"""

from __future__ import annotations

import os
import sys

# Modules that import what no import statement of the program names.
_IMPORTERS = frozenset(
    "_pickle code imp importlib pickle pkgutil runpy shelve unittest zipimport".split()
)


def may_have_arrays(text: bytes, folder: str) -> bool:
    """folder: where the program's own modules are."""
    texts: list[bytes] = [text]
    seen: set[str] = set()
    for part in texts:
        named = imported_names(part)
        if named is None or not _IMPORTERS.isdisjoint(named):
            return True
        for name in named - seen:
            seen.add(name)
            path = os.path.join(folder, name)
            try:
                with open(path + ".py", "rb") as source:
                    texts.append(source.read())
            except OSError:
                if name not in sys.stdlib_module_names or os.path.isdir(path):
                    return True
    return False


def imported_names(text: bytes) -> set[str] | None:
    """The modules that its import statements name, less what is inside them; None: who knows."""
    found: set[str] = set()
    for line in text.removeprefix(b"\xef\xbb\xbf").splitlines():
        if b"import" not in line:
            continue
        words = line.decode("latin-1").strip()
        first, _, rest = words.partition(" ")
        if ";" in words or words.endswith("\\"):
            return None
        if first == "from":
            found.add(rest.split()[0].partition(".")[0])
        elif first == "import":
            parts = rest.partition("#")[0].split(",")
            found.update(part.split()[0].partition(".")[0] for part in parts if part.strip())
        elif not first.startswith("#") and _may_import(words):
            return None
    return found


def _may_import(line: str) -> bool:
    return "__import__" in line or "import" in line.replace(":", " ").split()
