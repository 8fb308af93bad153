"""test_reach.py: which programs may come to have arrays, so that their loops are looked at."""

import pytest

from frit._reach import imported_names, may_have_arrays


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", set()),
        ("x = 'important'\nimportant = 1", set()),
        ("import os, sys as s, os.path  # paths", {"os", "sys"}),
        ("def f():\n    from math import (\n        sin,\n    )", {"math"}),
        ("from numpy.linalg import norm as n", {"numpy"}),
        ("from . import other", {""}),
        ("\ufeffimport os\r\n# import this\r\n", {"os"}),
        ("import os; import numpy", None),
        ("from os import path; import numpy", None),
        ("print(1);import numpy", None),
        ("if path: import numpy", None),
        ("try:import numpy\nexcept ImportError: pass", None),
        ("import os, \\\n    numpy", None),
        ("x = __import__('num' + 'py')", None),
        ("'''\nhow to import it\n'''", None),
    ],
)
def test_names_of_imports_are_found_or_doubted(text, names):
    assert imported_names(text.encode()) == names


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("import math, random\nfrom collections import deque", False),
        ("import beside", False),
        ("import numpy", True),
        ("import pickle", True),
        ("from importlib import import_module", True),
        ("import with_arrays", True),
        ("import leads_there", True),
        ("import package", True),
        ("import nobody_knows", True),
    ],
)
def test_a_program_without_arrays_is_told_by_its_imports(file, tmp_path, text, may):
    file("beside.py", "import beside, math\n")
    file("with_arrays.py", "from numpy import sin\n")
    file("leads_there.py", "import with_arrays\n")
    file("package/__init__.py", "")
    assert may_have_arrays(text.encode(), str(tmp_path)) is may


def test_a_program_without_arrays_loads_no_loop_door(python, file):
    file(
        "beside.py",
        "def total(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s",
    )
    path = file("program.py", "import beside\nfor i in range(3):\n    print(beside.total(i))\n")
    done = python("-X", "importtime", "-m", "frit", path)
    assert done.stdout == "0\n0\n1\n"
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not loaded & {"ast", "frit.loops", "re", "typing"}


def test_modules_of_a_program_with_arrays_are_looked_at(frit, file):
    # The module imports nothing: the program's import decides.
    file("beside.py", "def add(a):\n    for i in range(len(a)):\n        a[i] += i\n")
    out = frit(
        """
        import beside
        import numpy as np
        from frit.loops.run import place
        print(len(place.places))
        """
    )
    assert out == "1\n"
