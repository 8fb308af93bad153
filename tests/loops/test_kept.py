"""test_kept.py: what the loop door keeps of modules on the disk is what it would make again."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

from frit import _activity, _kept
from frit.loops.find import implicit, trees
from frit.loops.run import place
from frit.loops.run.traits import as_row

from . import kernels

MODULE = textwrap.dedent("""
    import numpy as np

    def scaled(x, y, n):
        factor = 3.0
        for i in range(n):
            for j in range(n):
                y[i, j] = factor * x[i, j] + OFFSET
        last = i
        return y, last

    class Grid:
        def __init__(self, values):
            self.__values = values

        def twice(self):
            total = 0.0
            for i in range(len(self.__values)):
                self.__values[i] *= 2
                total += self.__values[i]
            return total

    OFFSET = 0.5
    table = np.zeros(50)
    for k in range(50):
        table[k] = k * OFFSET
    left, at = scaled(np.ones((9, 9)), np.zeros((9, 9)), 9)
    sum_of_grid = Grid(np.arange(40.0)).twice()
""")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where files are kept."""
    monkeypatch.setenv("FRIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("FRIT_CACHE", raising=False)
    monkeypatch.setattr(_kept, "_made_room", False)
    return tmp_path / "cache" / "nests"


@pytest.fixture
def eager(monkeypatch):
    """Every nest is taken at its first call, as if it were long, under install()."""
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "SHORT", -1.0)
    monkeypatch.setattr(place, "WORTH", -1.0)


def plain(text: str, file: str = "/some/module.py") -> types.CodeType:
    return compile(text, file, "exec", dont_inherit=True)


def code_of(text: str, file: str = "/some/module.py") -> types.CodeType:
    return _kept.code_of(text.encode(), plain(text, file))


def made_anew(monkeypatch) -> list[bytes]:
    """The texts that are rewritten from now on."""
    texts: list[bytes] = []
    make = implicit.code_and_content

    def noted(text, *others):
        texts.append(text)
        return make(text, *others)

    monkeypatch.setattr(implicit, "code_and_content", noted)
    return texts


def codes_in(code: types.CodeType) -> list[types.CodeType]:
    found = [code]
    for part in found:
        found += [c for c in part.co_consts if isinstance(c, types.CodeType)]
    return found


def places_in(code: types.CodeType) -> list[place.Place]:
    return [c for part in codes_in(code) for c in part.co_consts if isinstance(c, place.Place)]


def description(p: place.Place) -> object:
    return (
        ast.dump(p.node, include_attributes=True),
        (p.passed, p.outputs, p.outside, p.is_module, p.file, p.shared),
        p.original and (p.original.co_name, p.original.co_code),
        p.is_peeled and p.peel.variables(set()),
        as_row(p.traits),
        [description(q) for q in p.inner],
    )


def run(code: types.CodeType) -> dict[str, object]:
    space: dict[str, object] = {"__name__": "module"}
    exec(code, space)
    return space


def assert_same(first: types.CodeType, second: types.CodeType) -> None:
    assert [c.co_code for c in codes_in(first)] == [c.co_code for c in codes_in(second)]
    assert [*map(description, places_in(first))] == [*map(description, places_in(second))]


def test_what_was_kept_is_what_was_made(folder, monkeypatch, eager):
    first = code_of(MODULE)
    texts = made_anew(monkeypatch)
    second = code_of(MODULE)
    assert not texts and len(places_in(first)) == 4
    assert_same(first, second)
    expected = run(plain(MODULE))
    for code in (first, second):
        got = run(code)
        for name in ("table", "left", "at", "sum_of_grid", "k"):
            np.testing.assert_array_equal(got[name], expected[name])
        taken = [p for p in places_in(code) if p.binding is not None and p.binding.site is not None]
        assert len(taken) >= 3


def test_a_loop_in_a_loop_stays_a_part_of_it(folder):
    code_of(MODULE)
    outer, *_ = (p for p in places_in(code_of(MODULE)) if p.inner)
    assert outer.inner[0].node is outer.node.body[0]


def test_the_kernels_of_the_loop_tests_are_kept(folder, monkeypatch):
    text = inspect.getsource(kernels)
    first = code_of(text)
    texts = made_anew(monkeypatch)
    assert_same(first, code_of(text))
    assert not texts


def test_a_module_without_nests_is_kept_as_that(folder, monkeypatch):
    text = "x = [i for i in range(3)]\nfor line in open(__file__):\n    print(line)\n"
    original = plain(text)
    assert _kept.code_of(text.encode(), original) is original
    texts = made_anew(monkeypatch)
    assert _kept.code_of(text.encode(), original) is original
    assert not texts and len([*folder.iterdir()]) == 1


def test_a_changed_text_takes_the_place_of_the_old_one(folder, monkeypatch):
    code_of(MODULE)
    texts = made_anew(monkeypatch)
    changed = MODULE.replace("3.0", "4.0")
    assert run(code_of(changed))["left"][0, 0] == 4.5
    assert len(texts) == 1 and len([*folder.iterdir()]) == 1
    code_of(changed)
    assert len(texts) == 1


def test_another_path_is_another_module(folder, monkeypatch):
    code_of(MODULE)
    texts = made_anew(monkeypatch)
    assert {c.co_filename for c in codes_in(code_of(MODULE, "/b.py"))} == {"/b.py"}
    assert len(texts) == 1 and len([*folder.iterdir()]) == 2


@pytest.mark.parametrize("part", ["_identity", "_head"])
def test_what_another_frit_or_python_made_is_not_taken(folder, monkeypatch, part):
    code_of(MODULE)
    texts = made_anew(monkeypatch)
    other = [b"another"] if part == "_identity" else b"another"
    with monkeypatch.context() as patch:
        patch.setattr(_kept, part, lambda *_: other)
        code_of(MODULE)
    assert len(texts) == 1


def test_all_that_makes_nests_is_this_build_of_frit():
    home = Path(_kept.__file__).parent
    files = [*home.glob("loops/**/*.py"), *home.glob("translate/**/*.py")]
    assert {str(f.parent.relative_to(home)) for f in files} <= {*_kept._PARTS}


def test_a_damaged_file_is_made_anew(folder, monkeypatch):
    first = code_of(MODULE)
    (file,) = folder.iterdir()
    good = file.read_bytes()
    texts = made_anew(monkeypatch)
    places = [*range(0, len(good), 97), len(good) - 1]
    for at in places:
        file.write_bytes(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1 :])
        assert_same(first, code_of(MODULE))
        assert file.read_bytes() == good
    assert len(texts) == len(places)
    for length in (0, 1, 15, 16, 40, len(good) // 2, len(good) - 1):
        file.write_bytes(good[:length])
        assert_same(first, code_of(MODULE))
    assert len(texts) == len(places) + 7


def test_what_fits_other_code_is_not_taken(folder, monkeypatch):
    code_of(MODULE)
    texts = made_anew(monkeypatch)
    other = plain(MODULE.replace("factor = 3.0", "factor = 3.0; print(n)"))
    _kept.code_of(MODULE.encode(), other)
    assert len(texts) == 1


def test_a_link_is_not_followed(folder, monkeypatch, tmp_path):
    code_of(MODULE)
    (file,) = folder.iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    texts = made_anew(monkeypatch)
    code_of(MODULE)
    assert len(texts) == 1 and not file.is_symlink()


def test_a_folder_that_others_may_write_to_is_closed_to_them(folder):
    code_of(MODULE)
    folder.chmod(0o777)
    code_of(MODULE)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_another_users_folder_is_left_alone(folder, monkeypatch):
    code_of(MODULE)
    (file,) = folder.iterdir()
    texts = made_anew(monkeypatch)
    monkeypatch.setattr(_kept, "_is_mine", lambda status: False)
    before = file.stat().st_mtime_ns
    code_of(MODULE)
    assert len(texts) == 1 and file.stat().st_mtime_ns == before


def test_without_a_folder_nothing_is_kept(folder, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    for setting in (str(tmp_path / "file"), "relative", "/proc/nowhere"):
        monkeypatch.setenv("FRIT_CACHE_DIR", setting)
        assert len(places_in(code_of(MODULE))) == 4
    monkeypatch.setenv("FRIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FRIT_CACHE", "0")
    assert len(places_in(code_of(MODULE))) == 4
    assert not folder.exists() and not Path("relative").exists()


def test_without_the_loop_door_nothing_is_read_or_kept(folder, monkeypatch):
    code_of(MODULE)
    monkeypatch.setenv("FRIT_LOOPS", "0")
    original = plain(MODULE)
    assert _kept.code_of(MODULE.encode(), original) is original


def test_the_oldest_files_go(folder, monkeypatch):
    for number in range(6):
        code_of(MODULE, f"/{number}.py")
    for number, file in enumerate(files := sorted(folder.iterdir())):
        os.utime(file, (1000 + number, 1000 + number))
    size = files[0].stat().st_size
    monkeypatch.setattr(_kept, "LIMIT", 3 * size + size // 2)
    monkeypatch.setattr(_kept, "_made_room", False)
    code_of(MODULE, "/another.py")
    left = {*folder.iterdir()}
    assert left & {*files} == {*files[3:]} and len(left) == 4


PROGRAM = """
import numpy as np
import part
x, y = np.arange(400.0), np.zeros(400)
print(part.scaled(x, y, 400).sum())
"""
PART = """
def scaled(x, y, n):
    for i in range(n):
        y[i] = 2 * x[i]
    return y
"""


def outputs_of_runs(tmp_path, runs):
    """What main.py prints."""
    settings = os.environ | {"FRIT_CACHE_DIR": str(tmp_path / "cache")}
    for name in ("FRIT_CACHE", "FRIT_LOOPS"):
        settings.pop(name, None)
    words = [sys.executable, "-m", "frit", "main.py"]
    for _ in range(runs):
        done = subprocess.run(words, cwd=tmp_path, env=settings, capture_output=True, text=True)
        assert done.stderr == ""
        yield done.stdout


def test_programs_keep_their_modules(tmp_path):
    (tmp_path / "main.py").write_text(PROGRAM)
    (tmp_path / "part.py").write_text(PART)
    assert [*outputs_of_runs(tmp_path, 2)] == ["159600.0\n"] * 2
    # The module's, and that of what was asked of its loop.
    assert len([*(tmp_path / "cache" / "nests").iterdir()]) == 2


def test_a_kept_program_starts_without_what_reads_texts(tmp_path):
    (tmp_path / "main.py").write_text(f"""
import sys
print(*sorted({{"ast", "pickle", "typing", "frit.loops.run.place"}} & sys.modules.keys()))
{MODULE}
""")
    first, second = outputs_of_runs(tmp_path, 2)
    assert first == "ast frit.loops.run.place typing\n"
    assert second == "frit.loops.run.place\n"


def test_a_kept_program_asks_its_places_without_what_reads_texts(tmp_path):
    (tmp_path / "main.py").write_text("""
import sys
import numpy
import part
x, y = [1.0] * 4, [0.0] * 4
readers = {"frit.loops.names", "frit.loops.find.rewrite", "frit.loops.run.work"}
print(part.scaled(x, y, 4)[3], len(readers & sys.modules.keys()))
""")
    (tmp_path / "part.py").write_text(PART)
    assert [*outputs_of_runs(tmp_path, 2)] == ["2.0 3\n", "2.0 0\n"]


def test_what_a_binding_asks_of_the_text_is_kept(folder, monkeypatch, eager):
    first = code_of(MODULE)
    run(first)
    trees.keep_rows()  # as the end of the program does
    second = code_of(MODULE)
    monkeypatch.setattr(place, "traits_of", None)
    asked = [p for p in places_in(first) if p._traits is not None]
    found = {p.at: p for p in places_in(second)}
    assert len(asked) >= 3
    for p in asked:
        assert as_row(found[p.at].traits) == as_row(p.traits)
