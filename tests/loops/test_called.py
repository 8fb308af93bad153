"""test_called.py: nests that are given methods of objects, objects to call, and partial()s."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import frit

from .test_exits import calls_of


def total(f, n):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + f(i)
    return s


def called_inside(f, n):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + call(f, i) + called_in_loop(f, i)
    return s


def call(f, x):
    return f(x)


def applied(f, x):
    return f(x)


def called_in_loop(f, x):
    s = 0.0
    for k in range(3):
        s += f(x + k)
    return s


class Line:
    def __init__(self, k):
        self.k = k
        self.calls = 0
        self.table = np.arange(5.0) * k
        self.function = math.cos

    def at(self, x):
        return self.k * x + 1

    def with_default(self, x, y=2, *, z=3):
        return x * y + z * self.k

    def of_others(self, x):
        return self.at(x) - self.twice * 0.25

    @property
    def twice(self):
        return 2 * self.k

    def of_attribute(self, x):
        return self.function(x)

    @staticmethod
    def of_none(x):
        return x * 3

    def __call__(self, x):
        return self.at(x) - 1

    def counted(self, x):
        self.calls += 1
        return self.k * x + self.calls

    def read(self, x):
        return self.table[int(x) % 5] + x

    def changed(self, x):
        self.table[int(x) % 5] += 1.0
        return self.table[0] + x

    def checked(self, x):
        if x > 30:
            raise ValueError(f"{x} is too large")
        return x * self.k

    @classmethod
    def of_class(cls, x):
        return x * 4

    def of_super(self, x):
        return super().__hash__() * 0 + x


class Steep(Line):
    def at(self, x):
        return self.k * x * 10


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    def __call__(self, x, y=1):
        return x + y * self.k


class Computed:
    def __getattr__(self, name):
        return 5.0

    def at(self, x):
        return self.anything * x


def state(f):
    names = getattr(getattr(f, "__self__", f), "__dict__", {})
    return {name: repr(value) for name, value in names.items()}


def outcome(function, f, n):
    try:
        return repr(function(f, n)), state(f)
    except Exception as error:
        return repr(error), state(f)


def same(parallel, function, make, n=50):
    expected = outcome(function, make(), n)
    assert outcome(parallel, make(), n) == expected


@pytest.mark.parametrize("function", [total, called_inside])
@pytest.mark.parametrize("name", ["at", "with_default", "of_others", "of_attribute", "of_none"])
def test_methods_are_compiled(function, name):
    parallel = frit.parallelize(function)
    for k in (1, 2, 1.5):
        same(parallel, function, lambda k=k: getattr(Line(k), name))
    assert calls_of(parallel) == 3


@pytest.mark.parametrize("function", [total, called_inside])
@pytest.mark.parametrize("name", ["counted", "read", "changed", "checked", "of_class", "of_super"])
def test_methods_do_what_they_do_as_python(function, name):
    parallel = frit.parallelize(function)
    for k in (1, 2, 1.5):
        same(parallel, function, lambda k=k: getattr(Line(k), name))


def test_a_method_may_assign_attributes():
    parallel = frit.parallelize(total)
    line = Line(2)
    same(parallel, total, lambda: Line(2).counted)
    for _ in range(3):
        parallel(line.counted, 10)
    assert line.calls == 30 and calls_of(parallel) == 4


def test_the_object_of_the_method_may_be_given_too():
    def both(f, line, n):
        s = 0
        for i in range(n):
            s += f(i) + line.calls
        return s

    one, other = Line(2), Line(2)
    assert frit.parallelize(both)(one.counted, one, 10) == both(other.counted, other, 10)
    assert one.calls == other.calls == 10


@pytest.mark.parametrize("function", [total, called_inside])
@pytest.mark.parametrize("make", [Line, Steep, Slotted])
def test_objects_are_called(function, make):
    parallel = frit.parallelize(function)
    for k in (1, 2, 1.5):
        same(parallel, function, lambda k=k: make(k))
    assert calls_of(parallel) == 3


def test_all_of_them_by_turns():
    parallel = frit.parallelize(total)
    made = [
        lambda: Line(1).at,
        lambda: Steep(2).at,
        lambda: math.sqrt,
        lambda: Slotted(3),
        lambda: Line(4),
        lambda: functools.partial(applied, math.sin),
        lambda: abs,
    ]
    for _ in range(3):
        for make in made:
            same(parallel, total, make)
    assert calls_of(parallel) > 12


def test_what_is_called_may_change():
    class Growing(Line):
        pass

    parallel = frit.parallelize(total)
    same(parallel, total, lambda: Growing(3).at)
    same(parallel, total, lambda: Growing(3))
    Growing.at = lambda self, x: self.k + x
    same(parallel, total, lambda: Growing(3).at)
    same(parallel, total, lambda: Growing(3))
    Growing.__call__ = lambda self, x: self.k - x
    same(parallel, total, lambda: Growing(3))
    same(parallel, total, lambda: Computed().at)

    line = Line(3)
    for function in (math.sin, math.cos, line.at, Steep(2), lambda x: x + 1):
        line.function = function
        assert outcome(parallel, line.of_attribute, 40) == outcome(total, line.of_attribute, 40)


def scaled(x, k, y=2):
    return x * k + y


@pytest.mark.parametrize("function", [total, called_inside])
@pytest.mark.parametrize(
    "make",
    [
        lambda k: functools.partial(scaled, k=k),
        lambda k: functools.partial(scaled, y=k * 0.5, k=3),
        lambda k: functools.partial(scaled, 2, k),
        lambda k: functools.partial(math.pow, 1.01),
        lambda k: functools.partial(applied, [math.sin, math.cos, math.tan][k]),
        lambda k: functools.partial(functools.partial(scaled, y=k), k=1.5),
    ],
)
def test_partials_are_compiled(function, make):
    parallel = frit.parallelize(function)
    for k in (0, 1, 2):
        same(parallel, function, lambda k=k: make(k))
    assert calls_of(parallel) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: functools.partial(scaled, 2),
        lambda: functools.partial(scaled, k=1, unknown=3),
        lambda: functools.partial(Line(2).at),
        lambda: functools.partial(Line.at, Line(2)),
        lambda: functools.partial(scaled, k=None),
        lambda: functools.partial(scaled, k=np.arange(2.0)),
    ],
)
def test_partials_do_what_they_do_as_python(make):
    parallel = frit.parallelize(total)
    for _ in range(2):
        same(parallel, total, make)


def test_arguments_of_a_partial_may_change():
    function = functools.partial(scaled, k=2)
    parallel = frit.parallelize(total)
    for k in (2, 3, 2.5, np.float32(3), "x", None, 4):
        function.keywords["k"] = k
        assert outcome(parallel, function, 20) == outcome(total, function, 20)


class Constants:
    def __init__(self, c):
        self.c = c


class Slope:
    def __init__(self, constants):
        self.constants = constants
        self.calls = 0

    def __call__(self, x):
        return x * 0.5 + self.constants.c

    def of_local(self, x):
        constants = self.constants
        return x - constants.c * 0.25

    def counted(self, x):
        self.calls += 1
        return x * 0.5 + self.calls


class Stepper:
    def __init__(self, slope):
        self.slope = slope
        self.steps = 0
        self.c = 1.0
        self.constants = None

    def step(self, x):
        self.steps += 1
        return self.slope(x) * 0.5 + self.c

    def run(self, x, n):
        for _ in range(n):
            x = self.step(x)
        return x

    def run_changing(self, x, n):
        for _ in range(n):
            self.c += 0.25
            x = self.slope(x) * 0.5 + self.constants.c
        return x


def cubed(x):
    return x * x * x * 0.01


SLOPES = [
    lambda: Slope(Constants(2.0)),
    lambda: Slope(Constants(3.0)).of_local,
    lambda: Slope(Constants(3.0)).counted,
    lambda: math.sin,
    lambda: cubed,
    lambda: lambda x: x - 1,
    lambda: None,
]


@pytest.mark.parametrize("run", [Stepper.run, Stepper.run_changing])
@pytest.mark.parametrize("constants", ["own", "other", "slope's"])
def test_what_attributes_are_is_called(run, constants):
    def made(make):
        stepper = Stepper(make())
        slope = getattr(stepper.slope, "__self__", stepper.slope)
        stepper.constants = stepper if constants == "own" else Constants(1.5)
        if constants == "slope's" and isinstance(slope, Slope):
            slope.constants = stepper  # which is what the loop changes
        return stepper

    def result(function, stepper):
        slope = getattr(stepper.slope, "__self__", stepper.slope)
        try:
            found = repr(function(stepper, 1.5, 30))
        except TypeError as error:
            found = str(error)
        return found, stepper.steps, stepper.c, getattr(slope, "calls", 0)

    parallel = frit.parallelize(run)
    for make in SLOPES * 2:
        assert result(parallel, made(make)) == result(run, made(make))
    if run is Stepper.run and constants == "other":
        for make in SLOPES[:1] + SLOPES[1:2] + SLOPES[3:6]:
            parallel = frit.parallelize(run)
            for _ in range(2):
                result(parallel, made(make))
            assert calls_of(parallel) == 2


def test_partials_that_are_attributes():
    class Holder:
        def __init__(self, function):
            self.function = function

        def at(self, x):
            return self.function(x) + 1

        def run(self, n):
            s = 0.0
            for i in range(n):
                s = s * 0.5 + self.at(i)
            return s

    run = frit.parallelize(Holder.run)
    function = functools.partial(scaled, k=2)
    holder = Holder(function)
    for k in (2, 2, 3.5, np.float32(3), "x", np.arange(2.0), 4):
        function.keywords["k"] = k
        for n in (0, 20):
            expected, got = outcome(Holder.run, holder, n), outcome(run, holder, n)
            assert expected[0] == got[0]
    holder.function = functools.partial(math.pow, 1.01)
    assert run(holder, 20) == Holder.run(holder, 20)
    assert calls_of(run) > 4
