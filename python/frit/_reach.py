"""_reach.py: whether a program can come to have arrays, from the import statements of its text.

One that imports nothing but the standard library, and files beside it that do the same, has none.
Its loops are then left alone, but for those in one another, which may be over lists: to look at
loops takes longer than a small program runs. A doubt counts as yes, and a mistake costs only time.
"""

from __future__ import annotations

import os
import sys
import types

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


def has_nested_loops(code: types.CodeType) -> bool:
    """Whether a loop has another one in it, or functions have loops that may be in one another."""
    with_loops = 0
    due = [code]
    for one in due:
        due += [part for part in one.co_consts if isinstance(part, types.CodeType)]
        loops = _loops_of(one)
        if any(x < y and last < end for x, end in loops.items() for y, last in loops.items()):
            return True
        with_loops += bool(loops) and not one.co_name.startswith("<") or one is code and bool(loops)
    return with_loops > 1


def _loops_of(code: types.CodeType) -> dict[int, int]:
    """Where they begin and end: the body of a `while`, in newer versions."""
    from opcode import opmap, opname

    for_iter, extended = opmap["FOR_ITER"], opmap["EXTENDED_ARG"]
    back = {
        k for k, name in enumerate(opname) if "JUMP_BACKWARD" in name and name[-9:] != "INTERRUPT"
    }
    found: dict[int, int] = {}
    text, more = code.co_code, 0
    for at in range(0, len(text), 2):
        op, argument = text[at], text[at + 1] | more
        more = argument << 8 if op == extended else 0
        if op == for_iter:
            found[at] = max(found.get(at, 0), at + 2 * argument)
        elif op in back:
            begin = at + 2 - 2 * argument
            found[begin] = max(found.get(begin, 0), at)
    return found
