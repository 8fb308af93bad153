"""test_flow.py: one walk finds what walks of each loop would, and takes no more for deep nests."""

from __future__ import annotations

import ast
import random
import sys

import pytest

from frit.loops.find import flow, implicit
from frit.loops.names import assigned_names, nodes_in


class Reference:
    """What may be read behind each statement, by going round each loop until nothing is new."""

    def __init__(self) -> None:
        self.behind: dict[int, set[str]] = {}
        self.leaving: list[tuple[set[str], set[str]]] = []  # where break and continue lead to

    def body(self, statements, live):
        for node in reversed(statements):
            live = self.statement(node, live)
        return live

    def statement(self, node, live):
        if isinstance(node, (ast.For, ast.While)):
            return self.loop(node, live)
        if isinstance(node, ast.If):
            return self.body(node.body, live) | self.body(node.orelse, live) | reads(node.test)
        if isinstance(node, ast.Return):
            return reads(node)
        if isinstance(node, (ast.Break, ast.Continue)):
            return set(self.leaving[-1][isinstance(node, ast.Continue)])
        if isinstance(node, ast.Try):
            for part in (node.body, node.handlers[0].body, node.orelse, node.finalbody):
                for child in part:
                    self.statement(child, live | reads(node))
            return live | reads(node)
        assigned = set()
        if isinstance(node, ast.Assign):
            assigned = {n.id for t in node.targets for n in ast.walk(t) if is_stored(n)}
        return (live - assigned) | reads(node)

    def loop(self, node, live):
        after = self.body(node.orelse, live)
        is_for = isinstance(node, ast.For)
        target = assigned_names([node.target]) if is_for else set()
        head = reads(node.iter if is_for else node.test)
        again = set(after)
        while True:
            self.leaving.append((live, again))
            grown = again | (self.body(node.body, again) - target) | (set() if is_for else head)
            self.leaving.pop()
            if grown == again:
                break
            again = grown
        self.behind[id(node)] = self.behind.get(id(node), set()) | live
        return again | head


def is_stored(node):
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def reads(node):
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not is_stored(n)}
    added = {n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign)}
    return found | added


class Writer:
    """Random statements over a few variables."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def name(self):
        return self.random.choice("abcdefg")

    def body(self, depth, in_loop):
        lines = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(depth, in_loop)
        return ["    " + line for line in lines]

    def statement(self, depth, in_loop):
        kind = self.random.choice("=+=+if for while try leave return".split()[depth == 0 :])
        if depth == 0 or kind[0] in "=+":
            return [f"{self.name()} {self.random.choice(['=', '+='])} {self.name()}"]
        if kind == "leave":
            word = self.random.choice(["break", "continue"]) if in_loop else "pass"
            return [f"if {self.name()}:", f"    {word}"]
        if kind == "return":
            return [f"if {self.name()}:", f"    return {self.name()}"]
        if kind == "if":
            inner = self.body(depth - 1, in_loop), self.body(depth - 1, in_loop)
            return [f"if {self.name()}:", *inner[0], "else:", *inner[1]]
        if kind == "try":
            inner = self.body(depth - 1, in_loop), self.body(depth - 1, in_loop)
            return ["try:", *inner[0], "except OSError:", *inner[1]]
        head = f"for {self.name()} in {self.name()}:" if kind == "for" else f"while {self.name()}:"
        lines = [head, *self.body(depth - 1, True)]
        if self.random.random() < 0.3:
            lines += ["else:", *self.body(depth - 1, in_loop)]
        return lines


@pytest.mark.parametrize("seed", range(200))
def test_what_is_read_behind_loops_is_what_going_round_them_finds(seed):
    text = "def f():\n" + "\n".join(Writer(seed).body(4, False))
    body = ast.parse(text).body[0].body
    reference, found = Reference(), flow.Flow(body)
    needed = reference.body(body, {"a", "g"})
    behind = found.set_of(["a", "g"])
    assert found.names(found.whole.needed(behind, 0, 0)) == needed, text
    behind_loops = found.behind_loops(body, behind)
    loops = [n for n in nodes_in(body) if isinstance(n, (ast.For, ast.While))]
    assert behind_loops.keys() == {id(n) for n in loops}
    for node in loops:
        assert found.names(behind_loops[id(node)]) == reference.behind[id(node)], text
        assert found.names(found.of[id(node)].assigns) == assigned_names([node])
        outputs = assigned_names([node])
        if isinstance(node, ast.For) and not node.orelse:
            assert flow.needed_names(node, outputs) == Reference().loop(node, outputs), text


def test_loops_that_go_round_pass_nothing_by():
    (loop,) = ast.parse("for i in r:\n    t = i\n    for j in s:\n        u = t\n").body
    certain = {id(loop), id(loop.body[1])}
    assert flow.needed_names(loop, {"t", "u", "v"}) == {"r", "s", "t", "u", "v"}
    assert flow.needed_names(loop, {"t", "u", "v"}, certain) == {"r", "s", "v"}


def calls_of(text: str) -> int:
    """How many functions are called where a module is rewritten, built-in ones too."""
    code = compile(text, "<deep>", "exec", dont_inherit=True)
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        _, places = implicit.rewritten(text.encode(), code, False)
    finally:
        sys.setprofile(None)
    assert len(places) == text.count("for ")
    return count


def nest(depth: int, innermost: str) -> str:
    lines = ["def f(x, n):", "    s = 0.0"]
    lines += ["    " * (k + 1) + f"for i{k} in range(n):" for k in range(depth)]
    return "\n".join([*lines, "    " * (depth + 1) + innermost, "    return s", ""])


@pytest.mark.parametrize("innermost", ["s = s + x[0] * 2", "if s > 9: continue"])
def test_the_work_grows_as_the_depth_of_a_nest(innermost):
    calls_of(nest(2, innermost))  # loads modules
    few, some, many = (calls_of(nest(depth, innermost)) for depth in (4, 8, 16))
    assert many - some <= 1.2 * 8 * (some - few) / 4


def test_the_work_grows_as_the_length_of_a_function():
    calls_of(nest(2, "pass"))
    few, many = (
        calls_of("def f(x, n):\n" + "    for i in range(n):\n        x[i] = 1.0\n" * count)
        for count in (10, 40)
    )
    assert many <= 4.2 * few


def test_a_chain_of_many_elifs_keeps_no_loop_from_its_place():
    chain = "    if n == 0: pass\n" + "".join(f"    elif n == {k}: s = {k}\n" for k in range(600))
    calls_of(nest(1, "pass") + "def g(x, n):\n" + chain + "    for i in range(n): x[i] = 1\n")
