"""test_attributes.py: loops over attributes of objects do what Python does, and leave the same."""

from __future__ import annotations

import dataclasses
import functools
import textwrap

import numpy as np
import pytest

import frit
from frit import _activity
from frit.loops.find import implicit
from frit.loops.run import place

from .fuzz import same
from .written import code_of


class Grid:
    step = 2.0

    def __init__(self, n=12):
        numbers = np.random.default_rng(3)
        self.n = n
        self.u, self.v = numbers.random((n, n)), np.zeros((n, n))
        self.w = numbers.random(n)
        self.places = numbers.integers(0, n, n)
        self.total, self.count, self.last = 0.0, 0, None


class Slotted:
    __slots__ = ("n", "u")

    def __init__(self, n=12):
        self.n, self.u = n, np.arange(float(n))


class Owner:
    def __init__(self, n=12):
        self.grid = Grid(n)
        self.out = np.zeros(n)


@dataclasses.dataclass
class Settings:
    n: int = 9
    factor: float = 0.5


def smooth(g, dt):
    for i in range(1, g.n - 1):
        for j in range(1, g.n - 1):
            g.v[i, j] = g.u[i, j] + dt * g.step * (g.u[i - 1, j] + g.u[i, j + 1] - g.u[i, j])


def adds_up(g):
    for i in range(g.n):
        for j in range(g.n):
            g.count += 1
            if g.u[i, j] > 0.5:
                g.total += g.u[i, j]


def leaves_last(g):
    g.last = -1
    for i in range(g.n):
        g.w[i] = g.w[i] * 2
        g.last = i


def stores_now_and_then(g):
    for i in range(g.n):
        if g.w[i] > 2:
            g.total = g.w[i]


def bound_that_changes(g):
    for i in range(g.n):
        g.n = g.n - 1
        g.w[i] = g.n


def scatters(g):
    for i in range(g.n):
        g.v[g.places[i], 0] += g.w[i]


def deep(o):
    for i in range(o.grid.u.shape[0]):
        o.out[i] = o.grid.u[i, 0] * o.grid.step + len(o.grid.w)


def elements(g):
    for i, x in enumerate(g.w):
        g.v[i, i] = x


def rows(g):
    for i in range(g.n):
        g.v[i, :] = g.u[i, :] * g.step


def of_settings(s, x):
    for i in range(s.n):
        x[i] = s.factor * i


def of_slots(s):
    for i in range(s.n):
        s.u[i] += s.n


def too_far(g):
    for i in range(g.n + 1):
        g.count = i
        g.w[i] = i


def index_is_an_attribute(g):
    for g.last in range(g.n):  # noqa: B020
        g.w[g.last] = g.last


FUNCTIONS = [
    (smooth, lambda: (Grid(), 0.1)),
    (adds_up, lambda: (Grid(),)),
    (leaves_last, lambda: (Grid(),)),
    (stores_now_and_then, lambda: (Grid(),)),
    (bound_that_changes, lambda: (Grid(),)),
    (scatters, lambda: (Grid(),)),
    (deep, lambda: (Owner(),)),
    (elements, lambda: (Grid(),)),
    (rows, lambda: (Grid(),)),
    (of_settings, lambda: (Settings(), np.zeros(9))),
    (of_slots, lambda: (Slotted(),)),
    (too_far, lambda: (Grid(),)),
    (index_is_an_attribute, lambda: (Grid(),)),
]


def looked_at(x):
    """An object and what it holds, as something that can be compared."""
    if isinstance(x, (Grid, Owner, Settings, Base)):
        return [type(x).__name__, *((k, looked_at(v)) for k, v in sorted(vars(x).items()))]
    if isinstance(x, Slotted):
        return [x.n, x.u]
    return x


def equal(x, y):
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return len(x) == len(y) and all(map(equal, x, y))
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return x.dtype == y.dtype and np.allclose(x, y, rtol=1e-12, atol=0)
    return same(x, y)


def outcome(function, given):
    """What it gives or raises, and what has become of its arguments."""
    try:
        result = function(*given)
    except Exception as error:
        result = [type(error).__name__, str(error)]
    return [result, *map(looked_at, given)]


def is_taken(function):
    return any(site.calls for site in frit.loops.state_of(function).sites)


def check(function, make, calls=2):
    """Both do the same, call after call on the same object. Whether ours ran compiled."""
    ours = frit.parallelize(function)
    plain_given, given = make(), make()
    for _ in range(calls):
        assert equal(outcome(function, plain_given), outcome(ours, given))
    return is_taken(ours)


@pytest.mark.parametrize("function, make", FUNCTIONS, ids=lambda x: getattr(x, "__name__", ""))
def test_loops_over_attributes_do_what_python_does(function, make):
    assert check(function, make) == (function is not too_far)


def from_another(g, settings):
    for i in range(settings.n):
        g.total += settings.n * g.w[i]
        g.n += 1


def test_one_object_is_changed_and_others_are_read():
    ours = frit.parallelize(from_another)
    for make in (
        lambda: (Grid(), Settings()),
        lambda: [Grid(6)] * 2,  # what the loop adds to is what it reads
        lambda: (Grid(3), Grid(4)),
    ):
        plain, given = make(), make()
        for _ in range(2):
            assert equal(outcome(from_another, plain), outcome(ours, given))
    assert is_taken(ours)


def test_no_rounds_leave_the_objects_dict_alone():
    given = Grid(0)
    before = dict(vars(given))
    frit.parallelize(adds_up)(given)
    assert vars(given) == before and vars(given).keys() == before.keys()


def test_attributes_may_change_from_call_to_call():
    ours = frit.parallelize(smooth)
    plain, given = Grid(), Grid()
    for change in (
        {"n": 7},
        {"step": 3.0},  # the object's own, in front of the class's
        {"u": np.ones((7, 9), np.float32)},
        {"u": np.ones((20, 20))[::2, ::2]},
        {"n": 7.0},  # TypeError of range
        {"n": np.int64(6)},
        {"u": None},
        {"u": [[1.0] * 9] * 9},
        {"u": np.ones((6, 6))},
    ):
        for g in (plain, given):
            vars(g).update(change)
        assert equal(outcome(smooth, (plain, 0.5)), outcome(ours, (given, 0.5))), change
    assert is_taken(ours)


class Base:
    def __init__(self, n=10):
        self.k, self.x = n, np.arange(float(n))


class WithProperty(Base):
    reads = 0

    @property
    def n(self):
        self.reads += 1
        return self.k - self.reads


class WithGetattr(Base):
    def __getattr__(self, name):
        vars(self)["asked"] = vars(self).get("asked", 0) + 1
        return 4 if name == "n" else 1


class WithGetattribute(Base):
    n = 8

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        return found - 1 if name == "n" else found


class WithSetattr(Base):
    n, total = 6, 0.0

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value + 1 if name == "total" else value)


class WithCached(Base):
    @functools.cached_property
    def n(self):
        vars(self)["made"] = vars(self).get("made", 0) + 1
        return self.k


class Twice:
    """Stores twice of what it is given."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, it, owner=None):
        return getattr(it, self.name, 0.0)

    def __set__(self, it, value):
        setattr(it, self.name, 2 * value)


class WithDescriptor(Base):
    n, total = 5, Twice()


class Missing(Base):
    pass


class OnlyInClass(Base):
    n, total = 5, 0.0


def add_all(it):
    for i in range(it.n):
        it.total = it.total + it.x[i]


def read_all(it):
    for i in range(10):
        if i < it.n:
            it.x[i] += 1


@pytest.mark.parametrize(
    "kind", [WithProperty, WithGetattr, WithGetattribute, WithDescriptor, Missing]
)
@pytest.mark.parametrize("function", [add_all, read_all])
def test_attributes_with_code_of_the_class_are_read_by_python(kind, function):
    taken = check(function, lambda: (kind(),))
    assert not taken or (kind in (WithDescriptor, WithProperty) and function is read_all)


@pytest.mark.parametrize("kind", [WithSetattr, OnlyInClass])
def test_attributes_are_stored_by_python_where_that_does_more(kind):
    ours = frit.parallelize(add_all)
    plain, given = kind(), kind()
    for _ in range(2):
        assert equal(outcome(add_all, (plain,)), outcome(ours, (given,)))
    # In the class alone: the first call makes the object's own, which the second one uses.
    assert is_taken(ours) == (kind is OnlyInClass)


def test_a_cached_property_is_read_when_it_is_cached():
    ours = frit.parallelize(read_all)
    plain, given = WithCached(), WithCached()
    for _ in range(3):
        assert equal(outcome(read_all, (plain,)), outcome(ours, (given,)))
    assert is_taken(ours)


def test_a_class_that_gets_a_property_later_is_asked_for_it():
    class Late(Base):
        n = 7

    ours = frit.parallelize(read_all)
    given = Late()
    ours(given)
    assert is_taken(ours)
    Late.n = property(lambda self: 2)
    given.x[:] = 0
    ours(given)
    assert given.x.sum() == 2


def moves(a, b):
    for i in range(6):
        a.total = a.total + b.total
        a.x[i] = b.total


def test_two_names_of_one_object():
    def one():
        it = Base()
        it.total = 1.0
        return it, it

    def two():
        return (*one()[:1], *one()[:1])

    assert not check(moves, one)
    assert check(moves, two)


SETTINGS = Settings(n=7, factor=1.5)


def of_the_module(x):
    for i in range(SETTINGS.n):
        x[i] = SETTINGS.factor * i


def test_an_object_of_the_module(monkeypatch):
    def make():
        return (np.zeros(9),)

    assert check(of_the_module, make)
    ours = frit.parallelize(of_the_module)
    for settings in (SETTINGS, Settings(3, 2.0), WithProperty(), None):
        monkeypatch.setitem(globals(), "SETTINGS", settings)
        assert equal(outcome(of_the_module, make()), outcome(ours, make()))


def no_arguments():
    for i in range(SETTINGS.n):
        SETTINGS.factor += i


def test_a_function_without_arguments():
    ours = frit.parallelize(no_arguments)
    for function in (no_arguments, ours, ours):
        SETTINGS.factor = 0.5
        function()
        assert SETTINGS.factor == 21.5
    assert is_taken(ours)


def through_itself(o):
    for i in range(6):
        o.me.k = o.k + 1
        o.x[i] = o.me.k


def test_an_object_that_holds_itself():
    plain, given = Base(), Base()
    for it, f in ((plain, through_itself), (given, frit.parallelize(through_itself))):
        it.me = it
        f(it)
        del it.me
    assert equal(looked_at(plain), looked_at(given))


def shared_memory(g, view):
    for i in range(1, g.n):
        g.w[i] = view[i - 1] + 1


def test_an_attribute_and_an_argument_that_share_memory():
    def make():
        g = Grid()
        return g, g.w

    assert check(shared_memory, make)


def bare(g, out):
    for i in range(g.n):
        out[i] = g.w[i]
        if g == 0:
            out[i] = 0


def maybe_there(g, out):
    for i in range(len(out)):
        out[i] = i if g is None else g.w[i] * g.n


def test_an_object_that_is_more_than_its_attributes_stays_python():
    assert not check(bare, lambda: (Grid(), np.zeros(12)))


def test_an_object_may_be_none():
    ours = frit.parallelize(maybe_there)
    for make in (Grid, lambda: None, Grid, lambda: None, Settings):
        plain_given, given = ((make(), np.zeros(12)) for _ in "12")
        for _ in range(2):
            assert equal(outcome(maybe_there, plain_given), outcome(ours, given))
    assert check(maybe_there, lambda: (Grid(), np.zeros(12)))
    assert check(maybe_there, lambda: (None, np.zeros(12)))


PROGRAM = """
    {first}
    class Field:
        def __init__(self, n):
            self.n, self.x, self.total = n, np.arange(float(n)), 0.0
        def scale(self, f):
            for i in range(self.n):
                self.x[i] = self.x[i] * f
        def add(self):
            for i in range(self.n):
                self.total += self.x[i]
            return self.total
        def resize(self, n):
            self.{resized} = n

    field = Field(50)
    field.scale(0.5)
    total = field.add(), type(field.total)
    field.resize(20)
    x, kept = field.x, sorted(vars(field))
"""


@pytest.mark.parametrize("first, resized, count", [
    ("", "n", 2),
    ("import threading", "n", 0),
    ("import threading", "m", 1),  # total is assigned in a method
])  # fmt: skip
def test_methods_of_a_program(monkeypatch, first, resized, count):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "SHORT", -1.0)
    monkeypatch.setattr(place, "WORTH", -1.0)
    name = f"<attributes {first} {resized}>"
    text = textwrap.dedent(PROGRAM.format(first=first, resized=resized))
    plain = code_of(text, name)
    found = []
    for code in (plain, implicit.code_of(text, plain)):
        space = {"__name__": "program", "np": np}
        exec(code, space)
        found.append([space["total"], space["x"], space["kept"]])
    assert same(found[0][0][0], found[1][0][0]) and found[0][0][1] is found[1][0][1]
    assert equal(found[0][1], found[1][1]) and found[0][2] == found[1][2]
    bindings = [p.binding for p in place.places if p.file == name]
    taken = [b for b in bindings if b is not None and b.site is not None and b.site.calls]
    assert len(taken) == count


MODULE = """
    import types
    p = types.SimpleNamespace(n=30, m=20, u=np.arange(600.0).reshape(30, 20), total=0.0, last=None)
    q = types.SimpleNamespace(p=p, scale=0.5)
    out = np.zeros((30, 20))
    for i in range(p.n):
        for j in range(p.m):
            out[i, j] = p.u[i, j] * q.scale + i
    for i in range(1, p.n):
        p.total += p.u[i, 0]
        p.last = i
        t = p.total
    for i in range(q.p.n):
        q.p.u[i, 1] = q.p.total
    for i in range(p.n - 1):
        p.m -= 1
        p.u[i, p.m] = i
    kept = [p.n, p.m, p.total, type(p.total), p.last, i, j, t]
    u = p.u
"""


def test_attributes_in_loops_of_a_module(monkeypatch):
    monkeypatch.setattr(_activity, "is_active", lambda: True)
    monkeypatch.setattr(place, "SHORT", -1.0)
    monkeypatch.setattr(place, "WORTH", -1.0)
    name = "<attributes of a module>"
    text = textwrap.dedent(MODULE)
    plain = code_of(text, name)
    found = []
    for code in (plain, implicit.code_of(text, plain)):
        space = {"__name__": "program", "np": np}
        try:
            exec(code, space)
        except IndexError as error:  # p.m leaves the rows
            space["kept"] = [str(error), vars(space["p"]).copy(), space["i"], space["t"]]
            space["kept"][1].pop("u")
            space["kept"][1] = [*space["kept"][1].values()]
        found.append([space["kept"], space["p"].u, space["out"]])
    assert equal(*found)
    bindings = [p.binding for p in place.places if p.file == name]
    assert sum(b.site is not None and b.site.calls > 0 for b in bindings if b is not None) >= 3


def test_explain_names_what_is_no_plain_attribute():
    ours = frit.parallelize(read_all)
    ours(WithGetattr())
    assert "Python: it.n is no plain attribute" in str(frit.explain(ours))
    ours = frit.parallelize(smooth)
    ours(Grid(), 0.1)
    assert "# parallel" in str(frit.explain(ours))


def gather(x, idx, out):
    for i in range(len(idx)):
        out[i] = x[idx[i]]


def test_a_guard_that_reads_elements_is_asked_at_each_call():
    ours = frit.parallelize(gather)
    x, idx, out = np.arange(5.0), np.array([1, 4, 0]), np.zeros(3)
    for _ in range(3):
        ours(x, idx, out)
    assert out.tolist() == [1, 4, 0] and is_taken(ours)
    idx[1] = 5
    out[:] = 0
    with pytest.raises(IndexError):
        ours(x, idx, out)
    assert out.tolist() == [1, 0, 0]


def stretched(n, f, x):
    for i in range(n):
        x[i] = f * i


def test_what_a_call_may_do_follows_from_its_own_numbers():
    ours = frit.parallelize(stretched)
    for n, f, size in ((4, 1.0, 4), (4, 2.0, 4), (3, 2.0, 4), (4, 2.0, 5), (4, 3, 4), (5, 2.0, 4)):
        plain, given = np.zeros(size), np.zeros(size)
        assert equal(outcome(stretched, (n, f, plain)), outcome(ours, (n, f, given)))
    assert is_taken(ours)


def test_a_call_that_no_nest_has_is_seen_before_objects_are_looked_at(monkeypatch):
    class Box:
        number = 2.0

    def f(box, n):
        for _ in range(n):
            total = list([box.number])
        return total

    from frit.loops.run.binding import Binding

    def looked_at(*_):
        raise AssertionError

    monkeypatch.setattr(Binding, "find_attributes", looked_at)
    parallel = frit.parallelize(f)
    assert parallel(Box(), 3) == [2.0]
    assert "a call of list()" in str(frit.explain(parallel))
