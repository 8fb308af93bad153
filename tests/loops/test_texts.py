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
from .written import code_of


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
        assert calls_of(parallel) > 2


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
    plain = code_of(text, "<texts of a module>")
    ours = implicit.code_of(text, plain)
    found = []
    for code in (plain, ours):
        space = {"__name__": "program", "modes": ["sum", "none", "sum", "x", 3, None, "sum"]}
        exec(code, space)
        found.append((space["log"], space["total"], space["i"], space["k"], space["mode"]))
    assert found[0] == found[1]


def filtered(a, weights=None, log=None, change=None, most=None):
    s = 0.0
    for i in range(len(a)):
        x = a[i]
        if weights is not None:
            x = x * weights[i]
        if most is not None and x > most:
            x = most
        if change is not None:
            x = change(x)
        s = s * 0.5 + x
        if log is not None:
            log.append(s)
    return s if most is None else s + most


class Filter:
    def __init__(self, most=None, change=None, weights=None):
        self.most = most
        self.change = change
        self.weights = weights

    def of(self, x):
        if self.most is not None and x > self.most:
            x = self.most
        return x if self.change is None else self.change(x)

    def run(self, a):
        s = 0.0
        for i in range(len(a)):
            s = s * 0.5 + self.of(a[i])
            if self.weights is not None:
                s += self.weights[i]
        return s


class Equal:
    def __eq__(self, other):
        return True

    __hash__ = None


A = np.random.default_rng(1).random(60)
OPTIONS = [
    {},
    {"most": 0.5},
    {"most": np.float32(0.25)},
    {"most": "x"},
    {"most": Equal()},
    {"weights": A},
    {"weights": A[::-1]},
    {"weights": 3},
    {"change": abs},
    {"change": np.cos},
    {"change": lambda x: x * x},
    {"change": Filter(0.3).of},
    {"change": 1.0},
    {"weights": A, "change": np.sin, "most": 0.75},
]


def result(function, *given, **named):
    try:
        return repr(function(*given, **named))
    except Exception as error:
        return repr(error)


def test_variables_may_be_none():
    parallel = frit.parallelize(filtered)
    for named in OPTIONS * 2:
        logs = [], []
        found = [
            result(function, A, **named, log=log)
            for function, log in zip((filtered, parallel), logs, strict=True)
        ]
        assert found[0] == found[1] and logs[0] == logs[1]
        assert result(parallel, A, **named) == result(filtered, A, **named)
    assert calls_of(parallel) > 2
    assert result(parallel, A, log=3) == result(filtered, A, log=3)


def test_attributes_may_be_none():
    class Fast(Filter):
        run = frit.parallelize(Filter.run)

    one, two = Filter(), Fast()
    for named in OPTIONS * 2:
        assert result(Filter(**named).run, A) == result(Fast(**named).run, A)
        for filter_ in (one, two):
            vars(filter_).update(named)
        assert result(one.run, A) == result(two.run, A)
    assert calls_of(Fast.run) > 4


def test_a_variable_that_the_loop_assigns_may_be_none_too():
    def smallest(a, least=None):
        for x in a:
            if least is None or x < least:
                least = x
        return least

    parallel = frit.parallelize(smallest)
    for least in (None, 0.5, np.float64(0.001), None, 3, "x"):
        assert result(parallel, A, least) == result(smallest, A, least)
        assert result(parallel, A.tolist(), least) == result(smallest, A.tolist(), least)
