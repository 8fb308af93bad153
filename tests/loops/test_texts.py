"""test_texts.py: nests that compare a variable with texts are translated for each of them."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import frit
from frit import _activity
from frit.loops.find import implicit
from frit.loops.run import place

from .test_exits import calls_of
from .test_whiles import compiled


class Odd(str):
    __slots__ = ()

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return True

    __hash__ = str.__hash__


TEXTS = [
    "euler",
    "heun",
    "".join(["eu", "ler"]),  # an object of its own
    "",
    "é",
    "x",
    Odd("heun"),
    None,
    3,
    np.str_("euler"),
    b"euler",
    ["euler"],
    "euler",
    "heun",
]


def steps(method, n, dt):
    x, v = 1.0, 0.0
    for _ in range(n):
        if method == "euler":
            x, v = x + dt * v, v - dt * x
        elif method == "heun":
            a = x + dt * v
            b = v - dt * x
            x, v = x + dt * 0.5 * (v + b), v - dt * 0.5 * (x + a)
        else:
            x = x * 0.5
    return x, v


def choices(method, n, dt):
    total = 0.0
    for i in range(n):
        k = 2.0 if method == "euler" else 3.0 if method != "heun" else 5.0
        if not (method == "euler") and i % 2 == 0 or method == "x":
            total += k * dt
        if method != "euler" and (i > 3 or method == "heun"):
            continue
        total += 1.0
    return total, k


def with_exits(method, n, dt):
    log, x = [], 0.5
    for i in range(n):
        x = x + dt if method == "euler" else x * 0.5
        if method == "heun" and i % 7 == 0:
            log.append(f"{i} {x}")
        if method == "":
            log.append("nothing")
            break
    return x, log


def whiles(method, n, dt):
    x, k = 0.0, 0
    while k < n:
        k += 1
        if method == "euler":
            x += dt
        elif method != "heun":
            break
    return x, k


def otherwise(method, n, dt):
    total = 0
    for i in range(n):
        if method == "heun":
            total += i
        total += len(method)
    return total


def assigned(method, n, dt):
    total = 0
    for i in range(n):
        if method == "euler":
            total += i
        if i == 5:
            method = "heun"
    return total, method


def outcome(function, *arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("plain", [steps, choices, with_exits, whiles, otherwise, assigned])
def test_texts_choose_what_runs(plain):
    parallel = frit.parallelize(plain)
    for _ in range(2):
        for text in TEXTS:
            for n in (0, 1, 12, 60):
                assert outcome(plain, text, n, 0.25) == outcome(parallel, text, n, 0.25)
    if plain in (steps, choices, with_exits):
        assert calls_of(parallel) > 8


class Solver:
    def __init__(self, scheme) -> None:
        self.scheme, self.x, self.n = scheme, 1.0, 0

    def run(self, n, dt):
        for _ in range(n):
            if self.scheme == "euler":
                self.x -= dt * self.x
            elif self.scheme != "heun":
                self.x = self.x / (1 + dt)
            self.n += 1
        return self.x, self.n


def test_attributes_that_are_texts():
    class Fast(Solver):
        run = frit.parallelize(Solver.run)

    for text in TEXTS:
        one, two = Solver(text), Fast(text)
        for n in (0, 1, 20, 30):
            assert outcome(one.run, n, 0.125) == outcome(two.run, n, 0.125)
        one.scheme = two.scheme = "other"
        assert one.run(9, 0.125) == two.run(9, 0.125)
    assert calls_of(Fast.run) > 20


def test_texts_of_a_module(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "WORTH", 0.0)
    monkeypatch.setattr(place, "KEPT_WORTH", 0.0)
    text = textwrap.dedent("""
        log = []
        for mode in modes:
            total = 0.0
            for i in range(60):
                if mode == "sum":
                    total += i * 0.5
                elif mode != "none":
                    total -= i
            log.append(total)
            for k in range(30):
                if mode == "none" or k > 9:
                    total += 1
            log.append(total)
    """)
    plain = compiled(text, "<texts of a module>")
    ours = implicit.code_of(text, plain)
    found = []
    for code in (plain, ours):
        space = {"__name__": "program", "modes": ["sum", "none", "sum", "x", 3, None, "sum"]}
        exec(code, space)
        found.append((space["log"], space["total"], space["i"], space["k"], space["mode"]))
    assert found[0] == found[1]
