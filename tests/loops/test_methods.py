"""test_methods.py: methods of plain objects in a nest do what Python does, or stay Python's."""

from __future__ import annotations

import abc
import functools
import gc
import math
import sys

import numpy as np
import pytest

import frit
from frit import _activity
from frit.loops import report
from frit.loops.find import implicit
from frit.loops.run import place

from .test_attributes import equal
from .written import code_of

LIMIT = 0.25


def triple(x):
    return 3 * x


class Shape(abc.ABC):
    def __init__(self, n=12):
        self.n = n
        self.x, self.out = np.linspace(-1, 1, n), np.zeros(n)
        self.c, self.total, self.count = 2.5, 0.0, 0
        self.table = np.arange(12.0).reshape(3, 4)

    @abc.abstractmethod
    def weight(self, x): ...

    def inherited(self, x):
        return x * self.c


class Model(Shape):
    offset = 0.5

    def weight(self, x, p=2, *, q=1.0):
        if x > LIMIT:
            return self.c * x + q
        return x**2 + self.inherited(x) * p

    def convolved(self, i):
        s = 0.0
        for k in range(3):
            for m in range(4):
                s += self.table[k, m] * self.x[i]
        return s

    def put(self, i, x):
        self.out[i] += x

    def pair(self, x):
        return x + self.offset, x - self.offset

    def so_far(self, x):
        return x if self.total > 2 else 0.5

    def quotient(self, x):
        return 1 / (x - self.c)

    def root(self, x):
        return math.sqrt(x + self.c - 3)

    @staticmethod
    def clipped(x):
        return min(max(x, -0.5), LIMIT)

    def outside(self, x):
        return triple(x)

    # Not as plain.
    def counts(self, x):
        self.count += 1
        return x

    def passes(self, x):
        return helper_of(self) * x

    def down(self, x):
        return x if x < 0 else self.down(x - 1)

    def __own(self, x):
        return x + 1

    def private(self, x):
        return self.__own(x)

    @classmethod
    def of_class(cls, x):
        return x + cls.offset

    @property
    def prop(self):
        return triple

    @functools.wraps(triple)
    def wrapped(self, *args):
        return triple(*args)

    def hides(self, x):
        self = HIDDEN
        return self.c * x


class Measured(Shape):
    def weight(self, x):
        return x * self.area

    @property
    def area(self):
        return self.c * self.half

    @property
    def half(self):
        return self.n // 2

    @property
    def inner(self):
        return self.x

    @property
    def counted(self):
        self.count += 1
        return self.n

    @property
    def below(self):
        return 1 / (self.c - self.total)

    @property
    def owner(self):
        return self

    @functools.cached_property
    def kept(self):
        return self.n * 2


class WithSetter(Measured):
    @property
    def level(self):
        return self.total + 1

    @level.setter
    def level(self, value):
        self.total = value * 2


def helper_of(model):
    return model.c


class Slotted:
    __slots__ = ("c", "x")

    def __init__(self):
        self.c, self.x = 0.5, np.arange(9.0)

    def f(self, x):
        return x * self.c


class Owner:
    def __init__(self):
        self.model = Model()
        self.out = np.zeros(12)

    def both(self, i):
        return self.model.weight(self.model.x[i]) + self.out[i]


class WithGetattr(Model):
    def __getattr__(self, name):
        raise AttributeError(name)


class WithGetattribute(Model):
    def __getattribute__(self, name):
        value = object.__getattribute__(self, name)
        return value + 1 if name == "c" else value


class Asked(type):
    def __getattribute__(cls, name):
        return type.__getattribute__(cls, name)


class WithMeta(Model, metaclass=type("Both", (abc.ABCMeta, Asked), {})):
    pass


HIDDEN = Model()


def calls(name):
    """A function whose loop calls the method."""
    space: dict = {}
    exec(f"def f(s):\n    for i in range(s.n):\n        s.out[i] = s.{name}(s.x[i])\n", space)
    return space["f"]


def weights(s):
    for i in range(s.n):
        s.out[i] = s.weight(s.x[i], q=2.0) - s.weight(s.x[i], 3)


def inherits(s):
    for i in range(s.n):
        s.out[i] = s.inherited(s.x[i])


def convolves(s):
    for i in range(s.n):
        s.out[i] = s.convolved(i)


def puts(s):
    for i in range(s.n):
        for k in range(3):
            s.put(i, s.x[k])


def pairs(s):
    for i in range(s.n):
        a, b = s.pair(s.x[i])
        s.out[i] = a * b


def reads_what_changes(s):
    for _i in range(s.n):
        s.total += s.so_far(1.0)


def quotients(s):
    for i in range(s.n):
        s.out[i] = s.quotient(i / 2)


def roots(s):
    for i in range(s.n):
        s.out[i] = s.root(s.x[i])


def clips(s):
    for i in range(s.n):
        s.out[i] = s.clipped(s.x[i])


def outside(s):
    for i in range(s.n):
        s.out[i] = s.outside(s.x[i])


def of_slots(s):
    for i in range(len(s.x)):
        s.x[i] = s.f(s.x[i])


def deep(o):
    for i in range(o.model.n):
        o.out[i] = o.both(i) + o.model.clipped(0.1)


def areas(s):
    for i in range(s.half):
        s.out[i] = s.weight(s.x[i]) + s.area


def of_a_propertys_array(s):
    for i in range(s.inner.shape[0]):
        s.out[i] = s.x[i] + s.half


def elements_of_a_property(s):
    for i in range(s.n):
        s.out[i] = s.inner[i] + 1


def counted(s):
    for i in range(s.counted):
        s.out[i] = s.x[i]


def divides_late(s):
    for i in range(s.n):
        s.total += 0.5
        s.out[i] = s.below


def through_a_property(s):
    for i in range(s.n):
        s.out[i] = s.owner.c


def kept(s):
    for i in range(s.n):
        s.out[i] = s.kept


def levels(s):
    for i in range(s.n):
        s.out[i] = s.level
        s.level = i


def reads_the_level(s):
    for i in range(s.n):
        s.out[i] = s.level * i


def only_its_method(s, x):
    for i in range(len(x)):
        x[i] = s.clipped(x[i])


class Mover(Model):
    """One whose methods assign numbers and small arrays of the object."""

    def __init__(self):
        super().__init__()
        self.r, self.v = np.array([1.0, 0.0]), np.array([0.0, 1.0])
        self.t = 0
        self.largest = self.r

    def force(self):
        return -self.r / (self.r @ self.r)

    def step(self, dt):
        self.v = self.v + self.force() * dt
        self.r = self.r + self.v * dt
        self.t += dt
        self.note()

    def note(self):
        if self.r[0] > self.largest[0]:
            self.largest = self.r


def steps(s):
    xs = []
    for _ in range(40):
        s.step(0.25)
        xs.append(s.r[0])
    return xs, s.largest is s.r, s.t


def steps_until(s):
    for i in range(40):
        s.step(0.25)
        if s.r[1] < 0:
            return i
    return -1


def counts(s):
    for i in range(s.n):
        s.out[i] = s.counts(s.x[i])


def counts_in_choices(s):
    for i in range(s.n):
        s.out[i] = s.counts(s.x[i]) if s.counts(s.x[i]) > -0.5 else s.counts(1.0) * 2
        s.out[i] += s.counts(0.5)


def counts_in_conditions(s):
    for i in range(s.n):
        if s.counts(s.x[i]) > -0.5 and s.counts(s.x[i]) > 0.25 or s.counts(0.5) > 1e9:
            s.out[i] = s.count
        s.out[i] += s.counts(0.5)


def counts_in_whiles(s):
    for i in range(s.n):
        k = 0
        while k < i and s.counts(s.x[k]) < 2.5:
            k += 1
        s.out[i] = s.count + k


def counts_in_a_chain(s):
    for i in range(s.n):
        if s.x[i] < s.x[0] + 0.5 < s.counts(2.0):
            s.out[i] = s.count


def passes(s):
    for i in range(s.n):
        s.out[i] = s.passes(s.x[i])


def down(s):
    for i in range(s.n):
        s.out[i] = s.down(s.x[i])


def private(s):
    for i in range(s.n):
        s.out[i] = s.private(s.x[i])


def of_class(s):
    for i in range(s.n):
        s.out[i] = s.of_class(s.x[i])


def prop(s):
    for i in range(s.n):
        s.out[i] = s.prop(s.x[i])


def wrapped(s):
    for i in range(s.n):
        s.out[i] = s.wrapped(s.x[i])


def hides(s):
    for i in range(s.n):
        s.out[i] = s.hides(s.x[i])


def missing(s):
    for i in range(s.n):
        s.out[i] = s.x[i]
        s.no_such(1)


def assigns_the_method(s):
    for i in range(s.n):
        s.out[i] = s.inherited(s.x[i])
        s.inherited = triple


TAKEN = [
    (weights, Model),
    (inherits, Model),
    (convolves, Model),
    (puts, Model),
    (pairs, Model),
    (reads_what_changes, Model),
    (clips, Model),
    (outside, Model),
    (private, Model),
    (of_slots, Slotted),
    (areas, Measured),
    (divides_late, Measured),
    (of_a_propertys_array, Measured),
    (elements_of_a_property, Measured),
    (reads_the_level, WithSetter),
    (deep, Owner),
    (counts, Model),
    (counts_in_choices, Model),
    (counts_in_conditions, Model),
    (counts_in_whiles, Model),
    (counted, Measured),
    (steps, Mover),
    (steps_until, Mover),
]
LEFT = [
    (quotients, Model),  # by 0
    (roots, Model),  # of a negative number
    (through_a_property, Measured),
    (levels, WithSetter),
    (passes, Model),
    (counts_in_a_chain, Model),
    (down, Model),
    (of_class, Model),
    (prop, Model),
    (wrapped, Model),
    (hides, Model),
    (missing, Model),
    (assigns_the_method, Model),
    (weights, WithGetattr),
    (weights, WithGetattribute),
    (weights, WithMeta),
]


def state(x):
    if isinstance(x, Slotted):
        return [x.c, x.x]
    if isinstance(x, (Shape, Owner)):
        return [type(x).__name__, *((k, state(v)) for k, v in sorted(vars(x).items()))]
    return x


def outcome(function, *given):
    try:
        result = function(*given)
    except Exception as error:
        result = [type(error).__name__, str(error)]
    return [result, *map(state, given)]


def is_taken(function):
    return any(site.calls for site in frit.loops.state_of(function).sites)


@pytest.mark.parametrize(
    "function, make, taken",
    [(*case, True) for case in TAKEN] + [(*case, False) for case in LEFT],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_methods_do_what_python_does(function, make, taken):
    ours = frit.parallelize(function)
    plain, given = make(), make()
    for _ in range(3):
        assert equal(outcome(function, plain), outcome(ours, given))
    assert is_taken(ours) == taken


PRIVATE = """
class __Cell:
    def __init__(self):
        self.__x = np.arange(9.0)
        self.__k = 2

    def __twice(self, v):
        return v * self.__k

    def go(self, n):
        for __i in range(n):
            self.__x[__i] = self.__twice(self.__x[__i]) + __i
        return self.__x.sum(), __i

    def inner(self, n):
        def __deep(a):
            for i in range(len(a)):
                a[i] += n
            return a
        return __deep(self.__x).sum()

    def of_inner(self, n):
        class Other:
            def go(self, x):
                for i in range(n):
                    x.__x[i] = i
        try:
            Other().go(self)
        except AttributeError as error:
            return str(error)


class Box(__Cell):
    def __init__(self):
        super().__init__()
        self.__x = np.zeros(4)

    def own(self):
        for i in range(4):
            self.__x[i] += self._Cell__k + i
        return self.__x

    __k = 5


def outside(cell):
    for i in range(4):
        cell.__x[i] = i


cell = Box()
found = [cell.go(9), cell.go(9), cell.inner(3), cell.of_inner(3), cell.own(), sorted(vars(cell))]
try:
    outside(cell)
except AttributeError as error:
    found.append(str(error))
"""


def test_private_names_are_those_of_their_class(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "SHORT", -1.0)
    monkeypatch.setattr(place, "WORTH", -1.0)
    file = "<private>"
    plain = code_of(PRIVATE, file)
    spaces = [{"np": np}, {"np": np}]
    exec(plain, spaces[0])
    exec(implicit.code_of(PRIVATE, plain), spaces[1])
    assert equal(spaces[0]["found"], spaces[1]["found"])
    taken = {p.node.lineno for p in place.places if p.file == file and p.has_plans()}
    assert taken == {11, 39}
    # Decorated: the method is compiled outside of its class.
    one, other = spaces[0]["Box"](), spaces[0]["Box"]()
    ours = frit.parallelize(spaces[0]["Box"].go)
    assert equal([ours(one, 9)], [other.go(9)]) and is_taken(ours)


def test_an_object_may_be_there_for_its_method_alone():
    ours = frit.parallelize(only_its_method)
    x, y = np.linspace(-1, 1, 9), np.linspace(-1, 1, 9)
    only_its_method(Model(), x)
    ours(Model(), y)
    assert equal(x, y) and is_taken(ours)


def test_a_cached_property_is_no_plain_one_until_it_is_kept():
    ours = frit.parallelize(kept)
    plain, given = Measured(), Measured()
    for _ in range(3):
        assert equal(outcome(kept, plain), outcome(ours, given))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="every object has a dict of its own")
def test_an_object_gets_no_dict_that_would_make_it_slower():
    for function in (inherits, reads_what_changes, private):
        given = Model()
        frit.parallelize(function)(given)
        assert not any(type(x) is dict for x in gc.get_referents(given))


def test_an_exception_comes_at_its_iteration():
    ours = frit.parallelize(quotients)
    for c in (0.0, 1.5, 2.5, 100.0):
        plain, given = Model(), Model()
        plain.c = given.c = c
        assert equal(outcome(quotients, plain), outcome(ours, given))


def test_what_a_method_is_found_as_may_change(monkeypatch):
    class Own(Model):
        pass

    class Other(Own):
        def inherited(self, x):
            return x - 100

    ours = frit.parallelize(inherits)

    def compare(given, change=lambda s: None):
        plain, mine = given(), given()
        change(plain), change(mine)
        assert equal(outcome(inherits, plain), outcome(ours, mine))
        return mine.out.tolist()

    found = [compare(Own), compare(Other), compare(Own)]
    assert found[0] == found[2] != found[1]
    assert compare(Own, lambda s: setattr(s, "inherited", triple)) != found[0]
    monkeypatch.setattr(Own, "inherited", lambda self, x: x + self.offset, raising=False)
    assert compare(Own) != found[0]
    monkeypatch.setattr(Own, "inherited", property(lambda self: triple), raising=False)
    compare(Own)
    monkeypatch.delattr(Own, "inherited")
    assert compare(Own) == found[0]
    asked = []

    def logged(self, name):
        asked.append(name)
        return object.__getattribute__(self, name)

    monkeypatch.setattr(Own, "__getattribute__", logged, raising=False)
    assert compare(Own) == found[0]
    assert asked.count("inherited") == 2 * Model().n


def test_what_a_method_reads_and_is_may_change(monkeypatch):
    ours = frit.parallelize(weights)

    def compare():
        plain, mine = Model(), Model()
        assert equal(outcome(weights, plain), outcome(ours, mine))
        return mine.out.tolist()

    found = [compare()]
    monkeypatch.setitem(globals(), "LIMIT", -0.5)
    found.append(compare())
    monkeypatch.setattr(Model.weight, "__defaults__", (7,))
    found.append(compare())
    monkeypatch.setattr(Model.weight, "__code__", (lambda self, x, p=2, *, q=1.0: x + q).__code__)
    found.append(compare())
    assert len(set(map(tuple, found))) == len(found)


class Explained:
    @property
    @frit.parallelize
    def in_property(self):
        for i in range(9):
            self.a[i] = i

    @functools.cached_property
    @frit.parallelize
    def in_cached(self):
        for i in range(9):
            self.a[i] = i

    @staticmethod
    @frit.parallelize
    def in_static(a):
        for i in range(9):
            a[i] = i

    @classmethod
    @frit.parallelize
    def in_class(cls, a):
        for i in range(9):
            a[i] = i


@pytest.mark.parametrize("name", ["in_property", "in_cached", "in_static", "in_class"])
def test_explain_shows_the_loop_behind_each_kind_of_method(name):
    member = vars(Explained)[name]
    for x in (member, getattr(Explained, name)):
        text = str(frit.explain(x))
        assert f"def {name}" in text and "for i in range(9):    # Python: " in text
    assert text in str(frit.explain(Explained))
    function = report.function_in(member)
    assert str(frit.explain(functools.partial(function, []))) == text
