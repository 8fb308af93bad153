"""test_parts.py: functions that are read alone become what they do in the whole text."""

from __future__ import annotations

import ast
import textwrap
import types

import pytest

from frit.loops.find import implicit, parts
from frit.loops.run.place import Place

FUNCTION = """
    def f(x, n):
        '''for a docstring in it'''
        for i in range(n):
            x[i] = 2 * x[i]
"""
CLASS = """
    import numpy as np
    from os import path as where

    class C:
        '''A class.'''

        @staticmethod
        def first(x, n):
            for i in range(n):
                x[i] = np.sqrt(x[i]) + where.join

        # A comment at the margin of the class,
      # and one further out.

        @property
        def second(
            self,
        ):
            total = 0.0
            for i in range(len(self.__x)):
                total += self.__x[i]
            return total, super().second

        def third(self): return [i for i in self.x]

        def _last(self, x):
            for i in range(len(x)):
                x[i] = self.factor

    class D(C):
        def alone(self, x):
            def inner():
                for i in range(len(x)):
                    x[i] = 1
            for j in range(9):
                x[j] = j
            return inner
"""
ALONE = {
    "a function": FUNCTION,
    "the first line": FUNCTION.lstrip(),
    "classes": CLASS,
    "a class in a class": """
    class A:
        x = 1

        class B:

            def f(self, x):
                for i in range(9):
                    x[i] = self.__y
    """,
    "under a condition": """
    if True:
        def f(x):
            for i in range(9):
                x[i] = 1
    """,
    "lines of other widths": """
    def f(x):
        for i in range(9):
            x[i] = (1 +
    # a sum
                2
    )
    """,
    "asynchronous functions": FUNCTION
    + """
    async def g(x):
        for i in range(9):
            x[i] = 1
    """,
    "other loops": FUNCTION
    + """
    def g(d):
        for key in d.keys():
            d[key] = 1
        for a, \\
            b in d:
            d[a] = b
    """,
    "annotations of the future": "\n    from __future__ import annotations\n"
    + FUNCTION.replace("(x, n)", "(x: list[int], n: no.such.name)"),
    "tabs": textwrap.dedent(FUNCTION).replace("    ", "\t"),
    "other ends of lines": textwrap.dedent(FUNCTION).replace("\n", "\r\n"),
}
WHOLE = {
    "a text that leaves the margin": '''
    def f(x):
        text = """
    def g(): pass
        """
        for i in range(9):
            x[i] = 1
    ''',
    "a line that goes on": """
    def f(x):
        for i in range(9): x[i] = \\
    1
    def g(x):
        for i in range(9): x[i] = 1
    """,
    "a loop of the module's": FUNCTION + "\n    for k in range(3):\n        a = k\n",
    "a module of threads": "\n    import threading\n" + FUNCTION,
    "a decorator of its own": """
    def timed(function):
        def timed_function(*args):
            return function(*args)
        return timed_function

    @timed
    def f(x):
        for i in range(9):
            x[i] = 1
    """,
    "another encoding": "    # coding: latin-1\n" + FUNCTION,
    "one class behind another": """
    class A:
        class B:
            def f(self, x):
                for i in range(9):
                    x[i] = 1
        def g(self, x):
            for i in range(9):
                x[i] = 1
    """,
}


def codes_in(code: types.CodeType) -> list[types.CodeType]:
    found = [code]
    for part in found:
        found += [c for c in part.co_consts if isinstance(c, types.CodeType)]
    return found


def description(code: types.CodeType) -> object:
    places = [c for part in codes_in(code) for c in part.co_consts if isinstance(c, Place)]
    return (
        [(c.co_code, c.co_names, c.co_varnames, [*c.co_lines()]) for c in codes_in(code)],
        [(c.co_name, c.co_freevars, c.co_cellvars, c.co_flags) for c in codes_in(code)],
        [(p.passed, p.outputs, p.outside, p.is_module, p.shared) for p in places],
        [p.original and p.original.co_name for p in places],
        [ast.dump(p.node, include_attributes=True) for p in places],
    )


def rewritten(text: str, monkeypatch, *, alone: bool) -> tuple[object, bool]:
    """What a module becomes, and whether its functions were read alone."""
    plain = compile(text, "<parts>", "exec", dont_inherit=True)
    read = implicit._functions_rewritten
    was_alone = []

    def noted(*given):
        found = read(*given) if alone else None
        was_alone.append(found is not None)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(implicit, "_functions_rewritten", noted)
        made = implicit.code_of(text.encode("latin-1"), plain)
    assert made is not plain
    return description(made), was_alone == [True]


@pytest.mark.parametrize("name", [*ALONE, *WHOLE])
def test_functions_read_alone_become_what_they_do_in_the_whole(name, monkeypatch):
    text = textwrap.dedent({**ALONE, **WHOLE}[name])
    found, was_alone = rewritten(text, monkeypatch, alone=True)
    expected, _ = rewritten(text, monkeypatch, alone=False)
    assert found == expected
    assert was_alone == (name in ALONE)


@pytest.mark.parametrize(
    "header, is_one",
    [
        ("for x in xs:", True),
        ("for x, (y, z) in f(a):", False),
        ("    for x in a.b.items():  # f(x)[0]", False),
        ("for x in f(a)[0]:", True),
        ("for x in f('):')[0]:", False),  # a text is in no nest
        ("for x in np.ndindex(3, 4):", True),
        ("for x in range(n):", True),
        ("for x in f(g(a)):", True),
        ("for (a,", True),
        ("for a, \\", True),
        ("format(x in y)", False),
        ("for the eyes only", False),
    ],
)
def test_loops_over_calls_that_give_no_series_are_passed_over(header, is_one):
    assert parts.headers(b"\n" + header.encode() + b"\n") == ([2] if is_one else [])


@pytest.mark.parametrize(
    "body, is_one",
    [
        ("x[i] = 1", True),
        ("x['ab'] = 1", False),
        ("if x[i] == 'a' or x[i] in ('b', '\\n'): k += 1", True),
        ("if x[i] in 'aeiou': k += 1", True),
        ("k = float('inf')", True),
        ("k = random.choice('ACGT')", True),
        ("k = int('12')", False),
        ('y = f"{x}"', False),
        ("x[i] = 1  # isn't", True),
        ("r'a comment'", True),
        ("x[i] = 1\n    'a comment'\n    x[i] += 1", True),
        ('''"""a comment\n    that isn't one\n    """\n    x[i] = 1''', True),
        ("if x:\n        raise ValueError", True),
        ("if x: raise ValueError('no such x')", True),
        ("assert x[i], f'no {x}'\n    x[i] = 1", True),
        ("raise ValueError(\n        'one'\n        f'two'\n    )", True),
        ("raise ValueError\n    x['ab'] = 1", False),
        ("with x: pass", False),
        ("delta = 1", True),
        ("x[i] = (1 +\n2)\ny = 'behind'", True),
        ("x[i] = 1\ny = 'behind'", True),
        ("for j in y:\n        z = b'c'", False),
    ],
)
def test_loops_with_texts_are_passed_over(body, is_one):
    found = parts.headers(f"\nfor i in range(n):\n    {body}\n".encode())
    assert found == ([2] if is_one else [])


def test_names_that_imports_give_are_known_from_the_code():
    text = (
        "import a, b.c, d.e as f\nfrom g import h as i, j\nk = 1\ndef l(): import m\n"
        + "".join(f"v{n} = {n}\n" for n in range(300))
        + "import n as late\n"
    )
    names = parts.imported_names(compile(text, "<imports>", "exec"))
    assert {*names} == {"a", "b", "f", "i", "j", "late"}


def test_no_tree_is_read_before_a_place_is_asked(monkeypatch):
    text = textwrap.dedent(CLASS)
    code = implicit.code_of(text.encode(), compile(text, "<lazy>", "exec"))
    found = [c for part in codes_in(code) for c in part.co_consts if isinstance(c, Place)]
    assert len(found) == 5 and all(p._node is None and p._traits is None for p in found)
    texts = []
    parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda text, *a: texts.append(text) or parse(text, *a))
    by_line = sorted(found, key=lambda p: p.at)
    lines = text.split("\n")
    assert [lines[p.node.lineno - 1].lstrip()[:5] for p in by_line] == ["for i"] * 4 + ["for j"]
    assert ast.unparse(by_line[1].node.iter) == "range(len(self._C__x))"
    # Of each function no other one is read, and each function only once.
    assert len(texts) == 4 and all(text.count(b"def ") <= 2 for text in texts)


@pytest.mark.parametrize(
    "line, is_one",
    [
        ("import threading", True),
        ("    import os, signal", True),
        ("import os, \\\n    signal", True),
        ("if 1: import threading", True),
        ("x = 1; from concurrent.futures import wait", True),
        ("from asyncio import run", True),
        ("from scipy import signal", False),
        ("import scipy.signal", False),
        ("import signals", False),
    ],
)
def test_a_module_that_imports_what_makes_threads_is_read_as_a_whole(line, is_one):
    text = (
        f"def f(x):\n    for i in range(9):\n        x[i] = 1\nif 1:\n    pass\n{line.lstrip()}\n"
    )
    code = compile(text, "<threads>", "exec")
    tree = ast.parse(text)
    assert any(map(implicit._makes_threads, ast.walk(tree))) == is_one
    assert (parts.units_of(text.encode(), code, [2]) is None) == is_one


def test_a_loop_may_stand_in_the_first_line():
    assert parts.headers(b"for i in r:\n    for j in r: x = j\nfor k in r: pass\n") == [1, 2, 3]
