"""test_libraries.py: a program may put its own functions into Python's and NumPy's libraries."""

from __future__ import annotations

import pytest

from .programs import assert_same_under_frit, output_of

SETUP = """
import builtins, cmath, math
import numpy as np
from unittest import mock

a = np.arange(100_000.0)

def root(a):
    most = 0.0
    for i in range(len(a)):
        most = max(most, math.sqrt(a[i]))
    return most

def exponential(a):
    most = 0.0
    for i in range(len(a)):
        most = max(most, np.exp(-a[i]))
    return most

def size(a):
    total = 0.0
    for i in range(len(a)):
        total += abs(a[i])
    return total

def turned(a):
    most = 0.0
    for i in range(len(a)):
        most = max(most, abs(cmath.exp(a[i] * 1j)))
    return round(most, 9)

def warm(*functions):
    for function in functions:
        print(function.__name__, [function(a) for _ in range(5)])
"""

PROGRAMS = {
    "math, and back": """
        warm(root)
        real, math.sqrt = math.sqrt, lambda x: x + 3
        print(root(a), root(a))
        math.sqrt = real
        print(root(a), root(a))
    """,
    "a mock's": """
        warm(root, exponential)
        with mock.patch("math.sqrt", side_effect=lambda x: 7.0) as patched:
            print(root(a), patched.call_count)
        with mock.patch("numpy.exp", return_value=5.0) as patched:
            print(exponential(a), root(a), patched.call_count)
        print(exponential(a), root(a))
    """,
    "a builtin": """
        warm(size)
        real, builtins.abs = builtins.abs, lambda x: 1.0
        print(size(a))
        builtins.abs = real
        print(size(a))
    """,
    "before the first call": """
        np.exp = lambda x: x + 1
        warm(exponential)
        most = 0.0
        for i in range(len(a)):
            most = max(most, np.exp(a[i]))
        print(most)
    """,
    "cmath": """
        warm(turned)
        cmath.exp = lambda x: 3.0
        print(turned(a))
    """,
    "what no nest calls": """
        load = np.load
        np.load = lambda *a, **k: load(*a, allow_pickle=True, **k)
        np.float = float
        builtins.print = print
        warm(root, exponential)
    """,
}


def text_of(program: str) -> str:
    return SETUP + "\n".join(line[8:] for line in program.splitlines())


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_of_libraries_may_change(name):
    assert_same_under_frit(text_of(PROGRAMS[name]))


def test_what_no_nest_calls_stops_none():
    program = PROGRAMS["what no nest calls"] + (
        "\n        from frit.loops.run.place import calls"
        "\n        print('compiled', calls()[0] > 0)"
    )
    assert "compiled True" in output_of(text_of(program), "-m", "frit")


def test_what_frit_puts_there_itself_stops_none(tmp_path):
    """A program first draws random numbers when others have loaded numpy.random long since."""
    (tmp_path / "sizes.py").write_text(SETUP)
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import frit, frit.numpy, numpy.random, sizes
from frit.loops.run.place import calls

size = frit.parallelize(sizes.size)
sizes.warm(size)
frit.numpy.random.seed(1)
before = calls()[0]
sizes.warm(size)
print("compiled", calls()[0] > before)
"""
    assert "compiled True" in output_of(program)


def test_threads_may_find_names_of_a_library_that_is_looked_at():
    program = """
import types
from frit.loops import libraries

class Name(str):
    def __hash__(self):
        if due:  # as another thread does, whose program asks for a name
            name = due.pop()
            setattr(module, name, 1)
            libraries.adopt(module, name)
        return super().__hash__()

due = []
module = types.ModuleType("library")
vars(module)[Name("first")] = len
libraries.watch(module)
library = libraries._libraries["library"]
due.append("second")
print(library.holds(), "second" in library.known, due)
"""
    assert output_of(program) == "True True []\n"
