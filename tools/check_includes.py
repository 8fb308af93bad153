#!/usr/bin/env python3
"""check_includes.py: checks who includes whom, and that each file's first line names it.

The layers, from STYLE: ops <- ir <- schedule; ir <- codegen <- backend/*; schedule and
backend/backend.h <- engine <- front <- python. A layer may include itself and all below it.
Backends never include one another; from above, a backend is known by backend/backend.h and by the
one header of its folder that has the folder's name (it holds the function that makes the backend).

Usage: check_includes.py [ROOT]        check the tree at ROOT (default: this tree)
       check_includes.py --self-test   check this checker
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# What each layer may include besides itself. "public" is include/frit; "backend" is
# backend/backend.h; "backends" are the headers that make one backend each.
BELOW = {
    "ops": set(),
    "ir": {"ops", "public"},
    "schedule": {"ops", "ir", "public"},
    "codegen": {"ops", "ir"},
    "backend": {"ops", "ir"},
    "backend/*": {"ops", "ir", "codegen", "backend"},
    "engine": {"ops", "ir", "schedule", "backend", "backends", "public"},
    "front": {"ops", "ir", "schedule", "engine", "public"},
    "python": {"ops", "ir", "schedule", "engine", "front", "public"},
    "public": {"ops", "ir"},
}
# The public headers lean on these alone, and they are installed with them.
PUBLIC_BELOW = {"ops/ops.h", "ops/op.def", "ops/dtype.def", "ir/error.h"}
# Numbers that CMake writes; whoever stores something for a later run depends on them.
KNOWN_TO_ALL = {"frit/version.h"}
# Who may include a library that not every machine has, or that the public headers must not show.
LIBRARIES = {
    # check_formulas.cpp and permute_tables.cpp are tools that run when Frit is built, and are part
    # of no library; permutation.h is codegen's too.
    "LLVM": (
        re.compile(r"(llvm|clang)(-c)?/"),
        re.compile(r"src/(codegen/|ops/(check_formulas|permute_tables)\.cpp|ops/permutation\.h)"),
    ),
    "Python": (re.compile(r"(Python\.h|nanobind/|numpy/)"), re.compile(r"src/python/")),
    "isl": (re.compile(r"isl/"), re.compile(r"src/schedule/isl/")),
}
CPP_SUFFIXES = {".h", ".hpp", ".cpp", ".c", ".def", ".inc"}
NAMED_SUFFIXES = CPP_SUFFIXES | {".py", ".pyi", ".sh", ".cmake"}
FOLDERS = ("src", "include", "python", "tests", "tools", "bench", "examples", "cmake")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def layer_of_file(path: str) -> str:
    """The layer a file of the tree belongs to, given its path from the root."""
    if path.startswith("include/frit/"):
        return "public"
    parts = path.split("/")[1:]
    if parts[0] == "backend":
        return "backend" if len(parts) == 2 else f"backend/{parts[1]}"
    return parts[0]


def layer_of_include(name: str) -> str | None:
    """The layer that an included name belongs to; None for headers that are not ours."""
    parts = name.split("/")
    if parts[0] == "frit":
        return "public"
    if parts[0] == "backend":
        return "backend" if len(parts) == 2 else f"backend/{parts[1]}"
    return parts[0] if parts[0] in BELOW and len(parts) > 1 else None


def makes_a_backend(name: str) -> bool:
    """Whether name is backend/X/X.h."""
    parts = name.split("/")
    return len(parts) == 3 and parts[0] == "backend" and parts[2] == f"{parts[1]}.h"


def may_include(path: str, name: str) -> bool:
    """Whether the file at path may include our header called name."""
    source, target = layer_of_file(path), layer_of_include(name)
    if target is None or source == target or name in KNOWN_TO_ALL:
        return True
    if source == "public":
        return name in PUBLIC_BELOW
    below = BELOW.get("backend/*" if source.startswith("backend/") else source)
    if below is None:
        return False
    if target in below:
        return True
    return "backends" in below and makes_a_backend(name)


def includes_of(text: str) -> Iterator[tuple[int, bool, str]]:
    """Line number, whether quoted, and name of each include in a source text."""
    for number, line in enumerate(text.splitlines(), start=1):
        found = INCLUDE.match(line)
        if found:
            yield number, found[1] == '"', found[2]


def is_test(path: str) -> bool:
    """Whether the file is for tests only: a unit's test, or what the tests of a folder share."""
    return path.endswith("_test.cpp") or path.rsplit("/", 1)[-1].startswith("testing")


def check_includes(root: Path, path: str, text: str) -> Iterator[str]:
    """Complaints about the includes of one file of src/ or include/."""
    for number, quoted, name in includes_of(text):
        where = f"{path}:{number}"
        for library, (header, allowed) in LIBRARIES.items():
            if header.match(name) and not allowed.match(path):
                yield f"{where}: {name}: {library} is only for {allowed.pattern}"
        if "../" in name:
            yield f"{where}: {name}: name the file from src/, without .."
        elif (
            quoted
            and layer_of_include(name) is None
            and (root / path).parent.joinpath(name).exists()
        ):
            yield f"{where}: {name}: name the file from src/, with its folder"
        # A test may use any layer to make its input; it is part of no library.
        if is_test(path):
            continue
        if is_test(name):
            yield f"{where}: {name}: only tests may include it"
        elif not may_include(path, name):
            yield f"{where}: {layer_of_file(path)} may not include {name}"


def names_of(path: str) -> set[str]:
    """What the first line of a file may call it: its name, its path's end, or its module."""
    parts = path.split("/")
    names = {"/".join(parts[start:]) for start in range(len(parts))}
    if path.endswith((".py", ".pyi")):
        modules = [part.removesuffix(".pyi").removesuffix(".py") for part in parts]
        if modules[-1] == "__init__":
            modules.pop()
        names |= {".".join(modules[start:]) for start in range(len(modules))}
    return names


def check_first_line(path: str, text: str) -> Iterator[str]:
    """A complaint when the first line (after #!) is no comment `name: purpose`."""
    lines = text.splitlines()
    if not lines:
        return  # an empty __init__.py says enough
    first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
    found = re.match(r'(?://|#|/\*|r?""")\s*([^:\s]+):\s+\S', first)
    if not found or found[1] not in names_of(path):
        name = path.rsplit("/", 1)[1]
        yield f"{path}:1: the first line must be a comment `{name}: what it is for`"


def check_cycles(texts: dict[str, str]) -> Iterator[str]:
    """Complaints about headers that include one another in a circle."""
    by_name = {path.removeprefix("src/").removeprefix("include/"): path for path in texts}
    edges = {
        path: [by_name[name] for _, _, name in includes_of(text) if name in by_name]
        for path, text in texts.items()
    }
    done: set[str] = set()
    for start in sorted(edges):
        stack = [(start, iter(edges[start]))] if start not in done else []
        on_path = [start]
        while stack:
            following = next(stack[-1][1], None)
            if following is None:
                done.add(on_path.pop())
                stack.pop()
            elif following in on_path:
                circle = on_path[on_path.index(following) :] + [following]
                yield f"{following}:1: headers in a circle: {' -> '.join(circle)}"
            elif following not in done:
                on_path.append(following)
                stack.append((following, iter(edges[following])))


def files_of(root: Path) -> Iterator[str]:
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root)
            built = any(part.startswith((".", "__pycache__", "build")) for part in path.parts[:-1])
            if file.is_file() and not built and file.suffix in NAMED_SUFFIXES:
                yield path.as_posix()


def check_tree(root: Path) -> list[str]:
    """All complaints about the tree at root."""
    complaints: list[str] = []
    texts: dict[str, str] = {}
    for path in files_of(root):
        text = (root / path).read_text(encoding="utf-8")
        complaints += check_first_line(path, text)
        if path.startswith(("src/", "include/frit/")) and Path(path).suffix in CPP_SUFFIXES:
            texts[path] = text
            complaints += check_includes(root, path, text)
    return complaints + list(check_cycles(texts))


def self_test() -> None:
    """Each rule complains about a file that breaks it, and about no other."""
    cases = [  # path, text, part of the complaint (None: none)
        ("src/ir/a.cpp", '#include "ops/ops.h"', None),
        ("src/ops/a.h", '#include "ir/kernel.h"', "ops may not include"),
        ("src/schedule/a.cpp", '#include "codegen/emit.h"', "schedule may not include"),
        ("src/codegen/a.cpp", '#include "schedule/fuse.h"', "codegen may not include"),
        ("src/codegen/a.cpp", "#include <llvm/IR/Module.h>", None),
        ("src/engine/a.cpp", "#include <llvm/IR/Module.h>", "LLVM is only for"),
        ("src/backend/cpu/a.cpp", "#include <llvm/IR/Module.h>", "LLVM is only for"),
        ("src/ops/check_formulas.cpp", "#include <llvm/IR/Module.h>", None),
        ("src/ops/permutation.h", "#include <llvm/IR/IRBuilder.h>", None),
        ("src/ops/a.cpp", "#include <llvm/IR/Module.h>", "LLVM is only for"),
        ("src/backend/cpu/a.cpp", '#include "codegen/emit.h"', None),
        ("src/backend/cpu/a.cpp", '#include "backend/backend.h"', None),
        ("src/backend/cpu/a.cpp", '#include "backend/interp/interp.h"', "may not include"),
        ("src/backend/cpu/a.cpp", '#include "schedule/fuse.h"', "may not include"),
        ("src/backend/cpu/a.cpp", '#include "frit/array.h"', "may not include"),
        ("src/backend/cpu/a.cpp", '#include "frit/version.h"', None),
        ("src/backend/backend.h", '#include "backend/cpu/cpu.h"', "may not include"),
        ("src/engine/a.cpp", '#include "backend/cpu/cpu.h"', None),
        ("src/engine/a.cpp", '#include "backend/cpu/pool.h"', "engine may not include"),
        ("src/engine/a.cpp", '#include "front/view.h"', "engine may not include"),
        ("src/front/a.cpp", '#include "engine/engine.h"', None),
        ("src/front/a.cpp", '#include "backend/cpu/cpu.h"', "front may not include"),
        ("src/front/a.cpp", "#include <Python.h>", "Python is only for"),
        ("src/python/a.cpp", "#include <nanobind/nanobind.h>", None),
        ("src/ir/a_test.cpp", '#include "schedule/fuse.h"', None),
        ("src/ir/testing.h", '#include "backend/backend.h"', None),
        ("src/ir/testing_cases.h", '#include "ir/testing.h"', None),
        ("src/ir/a_test.cpp", '#include "ir/testing.h"', None),
        ("src/ir/a.cpp", '#include "ir/testing.h"', "only tests may include"),
        ("src/strange/a.cpp", '#include "ops/ops.h"', "strange may not include"),
        ("include/frit/a.h", '#include "ir/error.h"', None),
        ("include/frit/a.h", '#include "ir/kernel.h"', "public may not include"),
        ("include/frit/a.h", "#include <numpy/arrayobject.h>", "Python is only for"),
        ("src/ir/a.cpp", '#include "../ops/ops.h"', "without .."),
        ("src/ir/a.h", '#include "ir/a.h"', "in a circle: src/ir/a.h -> src/ir/a.h"),
    ]
    for path, text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_text(f"// {file.name}: a file.\n{text}\n")
            found = check_tree(Path(folder))
            as_expected = (
                not found if expected is None else len(found) == 1 and expected in found[0]
            )
            assert as_expected, f"{path}: {text}: expected {expected!r}, found {found}"

    first_lines = [  # path, first line, whether it is good
        ("src/ir/a.h", "// a.h: what it is.", True),
        ("src/ir/a.h", "// ir/a.h: what it is.", True),
        ("src/ir/a.h", "// b.h: what it is.", False),
        ("src/ir/a.h", "// a.h:", False),
        ("src/ir/a.h", "#pragma once", False),
        ("python/frit/numpy/__init__.py", '"""frit.numpy: the door."""', True),
        ("python/frit/demo.py", '"""frit.demo: the demo."""', True),
        ("python/frit/demo.py", "import sys", False),
        ("tools/a.sh", "#!/bin/bash\n# a.sh: sets up.", True),
        ("tools/a.sh", "#!/bin/bash\nset -e", False),
    ]
    for path, line, good in first_lines:
        assert bool(list(check_first_line(path, line + "\n"))) != good, (path, line)
    print(f"check_includes: self-test passed ({len(cases) + len(first_lines)} cases)")


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        self_test()
        return 0
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    complaints = check_tree(root)
    print("\n".join(complaints) or "check_includes: nothing to complain about")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
