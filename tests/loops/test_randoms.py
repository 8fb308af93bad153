"""test_randoms.py: loops draw the random numbers that they draw as Python, and no others."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

import frit
from frit import _core
from frit.loops.run import streams

from .test_loops import runs_compiled


def floats(out, n):
    for i in range(len(out)):
        out[i] = random.random() - random.uniform(-2, out[i - 1]) * random.uniform(0.5, n)


def whole_numbers(out, n):
    for i in range(len(out)):
        out[i] = random.randint(-3, i) + random.randrange(7) * random.randrange(2, i + 3)
        out[i] += random.randint(n, n) + random.randrange(2**31 - n)


def choices(out, n):
    for i in range(len(out)):
        out[i] = random.choice([1, 5, 9]) + random.choice((0.5, 0.25)) * random.choice([n * 0 + 1])


def few_choices(out, n):
    for i in range(len(out)):
        out[i] = random.choice([1, 5, 9]) + random.choice((0.5, 0.25)) * random.choice([4])


def characters(out, n):
    for i in range(len(out)):
        d = random.choice(["N", "S", "E", "W"])
        out[i] = 1 if d == "N" else -1 if d in "SE" else n
        if random.choice("ACGT") == random.choice(("A", "G")):
            out[i] += random.random()


def numpys_floats(out, n):
    for i in range(len(out)):
        x = np.random.rand() + np.random.random() - np.random.random_sample()
        out[i] = x * np.random.uniform() + np.random.uniform(-1) * np.random.uniform(i, n)


def numpys_whole_numbers(out, n):
    for i in range(len(out)):
        out[i] = np.random.randint(7) + np.random.randint(-i, i + 1) * np.random.randint(n, n + 1)
        out[i] += np.random.randint(0, 2**31) + np.random.choice([-1, 1])


def normals(out, n):
    for i in range(len(out)):
        out[i] = np.random.randn() + np.random.standard_normal() * np.random.rand()
        if i % 3 == 0:
            out[i] -= np.random.normal() + np.random.normal(n) * np.random.normal(1, 0.5)


def sometimes(out, n):
    for i in range(len(out)):
        if out[i] > 0 or np.random.rand() < 0.5:
            out[i] = 1.0 if i % 2 else np.random.rand()
        while random.random() < 0.7 and n > 2:
            out[i] += 1
        for j in range(5):
            if np.random.rand() < 0.2:
                break
            out[i - j] -= 0.5
        if i > 2 and not (np.random.rand() < 0.1 and random.random() < 0.5):
            continue
        out[i] *= 2


def drawn(low):
    return low + np.random.rand() * random.random()


def by_functions(out, n):
    total = 0.0
    for i in range(len(out)):
        out[i] = drawn(i) if np.random.rand() < drawn(0) else drawn(n)
        total += out[np.random.randint(len(out))]
    return total


FEW, MANY = np.array([3.5, -1.25, 9.0, 2.0]), np.arange(70)[::-3]
CHANCES = np.array([0.1, 0.0, 0.65, 0.25])


def choices_from_rows(out, n):
    for i in range(len(out)):
        out[i] = np.random.choice(FEW) + np.random.choice(MANY) * random.choice(MANY)
        out[i] -= np.random.choice(i + 1) + np.random.choice(n)


def choices_by_chances(out, n):
    for i in range(len(out)):
        out[i] = np.random.choice(4, p=CHANCES) + np.random.choice(FEW, p=CHANCES) / n


def binomials(out, n):
    for i in range(len(out)):
        out[i] = np.random.binomial(1, 0.5) + np.random.binomial(n * 9, 0.8) / 7
        out[i] += np.random.binomial(i % 3, i / len(out)) + np.random.binomial(i, 0.0)


def state():
    words = np.random.get_state(legacy=False)
    return random.getstate(), words["state"]["key"].tolist(), words["state"]["pos"], words["gauss"]


def seeded(function, *given):
    random.seed(5)
    np.random.seed(7)
    np.random.randn()
    random.gauss(0, 1)
    own = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
    results = [function(*own) for _ in range(3)]
    return own[0].tolist(), results, state()


@pytest.mark.parametrize("size", [6, 30, 2000])
@pytest.mark.parametrize(
    "function",
    [
        floats,
        whole_numbers,
        few_choices,
        characters,
        numpys_floats,
        numpys_whole_numbers,
        choices_from_rows,
        choices_by_chances,
        binomials,
        normals,
        sometimes,
        by_functions,
    ],
)
def test_loops_draw_what_python_draws(function, size):
    ours = frit.parallelize(function)
    expected, got = seeded(function, np.zeros(size), 3), seeded(ours, np.zeros(size), 3)
    assert got[2] == expected[2]
    if function is normals:  # whose logarithm may differ in its last bit
        np.testing.assert_allclose(got[0], expected[0], rtol=1e-12, atol=1e-12)
    elif function is by_functions:  # whose sum is a tree
        assert got[0] == expected[0]
        np.testing.assert_allclose(got[1], expected[1], rtol=1e-12)
    else:
        assert got[:2] == expected[:2]
    assert runs_compiled(ours), frit.explain(ours)


def python_generator(out, n, generator):
    for i in range(len(out)):
        out[i] = generator.random() * generator.randint(i, 2 * i) + generator.uniform(n, 2)
        out[i] += generator.choice((2, 3)) - generator.randrange(2**30, 2**31)


def random_state(out, n, generator):
    for i in range(len(out)):
        out[i] = generator.rand() + generator.random_sample() * generator.uniform(n, i)
        out[i] += generator.randint(-i, 2 * i + 1) + generator.choice([1.5, 2.5])


def permuted_congruential(out, n, generator):
    draw = generator.random
    for i in range(len(out)):
        out[i] = draw() * generator.integers(-i, i + 1) + generator.uniform(-n, 2)
        out[i] += generator.integers(3) + generator.choice([-1, 1]) - generator.integers(1)
        if i % 3 == 0:
            out[i] *= generator.integers(0, 3 * 2**29) + generator.integers(2**31)


OWN = [
    (python_generator, random.Random, lambda g: g.getstate()),
    (random_state, np.random.RandomState, lambda g: repr(g.get_state(legacy=False))),
    (permuted_congruential, np.random.default_rng, lambda g: g.bit_generator.state),
]


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("function, kind, state_of", OWN)
def test_generators_of_the_programs_own(function, kind, state_of, seed):
    ours = frit.parallelize(function)
    results = []
    for called in (function, ours):
        generator = kind(seed)
        out = np.zeros((3, 1500))
        for row in out:
            called(row, seed, generator)
        results.append((out.tolist(), state_of(generator), generator.random()))
    assert results[0] == results[1]
    assert runs_compiled(ours), frit.explain(ours)


def test_each_generator_is_the_one_that_is_drawn_from():
    ours = frit.parallelize(permuted_congruential)
    generators, others = ([np.random.default_rng(seed) for seed in range(3)] for _ in range(2))
    expected, got = np.zeros((2, 9, 200))
    for k in range(9):
        permuted_congruential(expected[k], 2, others[k % 3])
        ours(got[k], 2, generators[k % 3])
    assert np.array_equal(expected, got)
    assert [g.random() for g in generators] == [g.random() for g in others]


def two(out, n, generator):
    for i in range(len(out)):
        out[i] = generator.random() + random.random() * np.random.rand()


def test_several_streams_in_one_loop():
    def outcome(called):
        random.seed(1)
        np.random.seed(2)
        generator = np.random.default_rng(3)
        out = np.zeros(700)
        called(out, 2, generator)
        return out.tolist(), state(), generator.random()

    ours = frit.parallelize(two)
    assert outcome(ours) == outcome(two)
    assert runs_compiled(ours)


class Walk:
    def __init__(self):
        self.rng, self.p, self.x = np.random.default_rng(3), 0.3, 0.0
        self.parts = Parts()

    def run(self, out):
        for i in range(len(out)):
            if self.rng.random() < self.p:
                self.x += 1.0
            else:
                self.x -= self.parts.old.random()
            out[i] = self.x + self.draw()

    def draw(self):
        return self.parts.new.rand()


class Parts:
    def __init__(self):
        self.old, self.new = random.Random(2), np.random.RandomState(4)


def test_generators_that_are_attributes():
    plain, walk = Walk(), Walk()
    run = frit.parallelize(Walk.run)
    for _ in range(3):
        expected, got = np.zeros((2, 700))
        plain.run(expected)
        run(walk, got)
        assert np.array_equal(expected, got)
    assert runs_compiled(run)
    for each in (plain, walk):
        each.rng = np.random.default_rng(9)
        each.parts.old = random.Random(5)
    plain.run(expected)
    run(walk, got)
    assert np.array_equal(expected, got)
    assert plain.rng.random() == walk.rng.random()
    assert plain.parts.new.rand() == walk.parts.new.rand()


def in_a_chain(out, n):
    for i in range(len(out)):
        if 0.3 < np.random.rand() < np.random.rand():
            out[i] = 1


def with_a_size(out, n):
    for i in range(len(out)):
        out[i] = np.random.rand(2)[0]


def from_a_list(out, n):
    for i in range(len(out)):
        out[i] = random.choice(["1", "22"]) == "1"


def of_normals(out, n):
    generator = np.random.default_rng(4)
    for i in range(len(out)):
        out[i] = generator.normal()


@pytest.mark.parametrize("function", [choices, in_a_chain, with_a_size, from_a_list, of_normals])
def test_what_is_not_known_stays_python(function):
    ours = frit.parallelize(function)
    assert seeded(ours, np.zeros(20), 3) == seeded(function, np.zeros(20), 3)
    assert not runs_compiled(ours)


def until_it_fails(out, n):
    for i in range(len(out)):
        out[i] = np.random.rand() + random.random()
        out[int(out[i] * n)] += 1


def of_nothing(out, n):
    for i in range(len(out)):
        out[i] = random.randint(i, n)


def negative(out, n):
    for i in range(len(out)):
        out[i] = np.random.normal(0.0, n - i)


def backwards(out, n):
    generator = np.random.default_rng(n)
    for i in range(len(out)):
        out[i] = generator.uniform(0, n - i)


@pytest.mark.parametrize("function", [until_it_fails, of_nothing, negative, backwards])
def test_errors_leave_the_streams_where_python_leaves_them(function):
    def outcome(called):
        random.seed(1)
        np.random.seed(2)
        out = np.zeros(40)
        with pytest.raises((ValueError, IndexError)) as error:
            called(out, 25)
        return out.tolist(), str(error.value), state()

    assert outcome(frit.parallelize(function)) == outcome(function)


def test_a_nest_is_undone_where_somebody_else_has_drawn_meanwhile(monkeypatch):
    ours = frit.parallelize(numpys_floats)
    assert seeded(ours, np.zeros(50), 3) == seeded(numpys_floats, np.zeros(50), 3)
    end = streams.Draws.end
    found = []

    def interrupted(self):
        if not found:
            np.random.rand()
        found.append(end(self))
        return found[-1]

    monkeypatch.setattr(streams.Draws, "end", interrupted)
    random.seed(5)
    np.random.seed(7)
    out = np.zeros(50)
    ours(out, 3)
    monkeypatch.undo()
    assert found[0] is False
    expected = np.zeros(50)
    np.random.seed(7)
    np.random.rand()
    numpys_floats(expected, 3)
    assert out.tolist() == expected.tolist()


def test_a_nest_is_undone_where_another_thread_draws_when_it_ends(monkeypatch):
    ours = frit.parallelize(numpys_floats)
    ours(np.zeros(50), 3)
    end, lock = streams.Draws.end, np.random.mtrand._rand._bit_generator.lock
    found = []

    def held(taken, released):
        with lock:
            taken.set()
            released.wait()

    def meanwhile(self):
        taken, released = threading.Event(), threading.Event()
        thread = threading.Thread(target=held, args=(taken, released))
        thread.start()
        taken.wait()
        found.append(end(self))
        released.set()
        thread.join()
        return found[-1]

    monkeypatch.setattr(streams.Draws, "end", meanwhile)
    expected, got = np.zeros((2, 50))
    np.random.seed(7)
    numpys_floats(expected, 3)
    np.random.seed(7)
    ours(got, 3)
    assert found and not any(found)
    assert np.array_equal(expected, got)


def test_another_generator_of_numpys_stays_python():
    before = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(3))
        ours = frit.parallelize(numpys_floats)
        out = np.zeros(50)
        ours(out, 3)
        assert not runs_compiled(ours)
        np.random.set_bit_generator(np.random.PCG64(3))
        expected = np.zeros(50)
        numpys_floats(expected, 3)
        assert out.tolist() == expected.tolist()
    finally:
        np.random.set_bit_generator(before)


def test_another_mersenne_twister_is_the_one_that_is_drawn_from():
    before = np.random.get_bit_generator()
    ours = frit.parallelize(numpys_floats)
    ours(np.zeros(50), 3)
    try:
        results = []
        for function in (ours, numpys_floats):
            np.random.set_bit_generator(np.random.MT19937(3))
            out = np.zeros(50)
            function(out, 3)
            results.append((out.tolist(), np.random.rand()))
        assert results[0] == results[1]
    finally:
        np.random.set_bit_generator(before)


def has_run(function):
    """Compiled, now and then."""
    return any(site.calls for site in frit.loops.state_of(function).sites)


def replaced_by(object_, name, value):
    def put(monkeypatch):
        monkeypatch.setattr(object_, name, value, raising=False)

    return put


@pytest.mark.parametrize(
    "replace",
    [
        replaced_by(random, "random", lambda: 0.25),
        replaced_by(random, "uniform", np.random.uniform),
        replaced_by(np.random, "rand", lambda: 0.25),
        replaced_by(np.random, "randint", random.randrange),
        replaced_by(random.Random, "randrange", lambda *given: 1),
        replaced_by(random.Random, "random", lambda self: 0.5),
        replaced_by(random.random.__self__, "random", lambda: 0.5),
        replaced_by(random.random.__self__, "getrandbits", lambda count: 0),
    ],
)
def test_functions_that_the_program_has_replaced(monkeypatch, replace):
    def mixed(out):
        for i in range(len(out)):
            out[i] = random.random() + random.uniform(2, 3) + random.randint(0, 9)
            out[i] += np.random.rand() * np.random.randint(1, 9)

    def outcome(called):
        random.seed(1)
        np.random.seed(2)
        out = np.zeros((3, 20))
        called(out[0])
        with monkeypatch.context() as patched:
            replace(patched)
            called(out[1])
        called(out[2])
        return out.tolist(), state()

    ours = frit.parallelize(mixed)
    assert outcome(ours) == outcome(mixed)
    assert has_run(ours)


def test_two_generators_with_one_state():
    def both(out, x, y):
        for i in range(len(out)):
            out[i] = x.random() + 10 * y.random()

    ours = frit.parallelize(both)
    for kind, bits in ((np.random.RandomState, "MT19937"), (np.random.Generator, "PCG64")):
        results = []
        for called in (both, ours):
            generator = getattr(np.random, bits)(3)
            x, y = kind(generator), kind(generator)
            out = np.zeros((2, 20))
            for row in out:
                called(row, x, y)
            results.append((out.tolist(), x.random(), y.random()))
        assert results[0] == results[1]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i8"])
def test_the_end_of_a_range_may_be_the_last_number_of_its_type(dtype):
    def dice(out, ends):
        for i in range(len(out)):
            out[i] = random.randint(0, ends[i])

    def outcome(called, last):
        random.seed(1)
        out = np.zeros(5, "i8")
        with np.errstate(over="ignore"):
            try:
                called(out, np.array([1, 2, 3, 4, last], dtype))
            except ValueError as error:
                return out.tolist(), str(error), random.random()
        return out.tolist(), random.random()

    ours = frit.parallelize(dice)
    for last in (6, np.iinfo(dtype).max - 1, np.iinfo(dtype).max):
        assert outcome(ours, last) == outcome(dice, last)
    assert has_run(ours)


PROGRAM = """
import random
from random import randint

import numpy as np
import numpy.random as npr
from numpy.random import rand

random.seed(1)
np.random.seed(2)
inside = 0
for i in range(300000):
    x, y = random.random(), rand()
    if x * x + y * y <= 1:
        inside += 1
print(inside, i, x, y)
s = np.ones((12, 12), int)
for k in range(60000):
    i, j = npr.randint(0, 12), randint(0, 11)
    d = 2 * s[i, j] * (s[(i + 1) % 12, j] + s[i - 1, j] + s[i, (j + 1) % 12] + s[i, j - 1])
    if d <= 0 or np.random.rand() < 0.1:
        s[i, j] = -s[i, j]
print(s.tolist(), random.random(), np.random.rand())
class Walk:
    def __init__(self):
        self.rng, self.old = np.random.default_rng(5), np.random.RandomState(6)
        self.place = np.zeros(3)
    def go(self, steps):
        for _ in range(steps):
            self.place += self.old.randn() * self.rng.choice([-1.0, 1.0])
            if self.rng.random() < 0.01:
                self.place *= 0.5
walk = Walk()
walk.go(100000)
print(walk.place.round(6).tolist(), walk.rng.random(), walk.old.randn())
import sys
if "frit" in sys.modules:
    import frit
    assert "Python" not in str(frit.explain(Walk.go)), frit.explain(Walk.go)
"""


def test_programs_draw_what_they_draw_without_frit(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    settings = {**os.environ, "FRIT_CACHE_DIR": str(tmp_path / "kept")}
    outputs = []
    for words in (["program.py"], *[["-m", "frit", "program.py"]] * 2):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=settings, capture_output=True, text=True
        )
        assert not done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1] == outputs[2] != ""


def collisions(v, n):
    for _ in range(n):
        i, j = np.random.randint(len(v)), np.random.randint(len(v))
        if abs(v[i] - v[j]) > 0.3 * np.random.random():
            middle, way = 0.5 * (v[i] + v[j]), 2 * np.random.random() - 1
            v[i], v[j] = middle + way, middle - way
        if np.random.rand() < 0.01:
            v[i] = random.choice([-1.0, 1.0])


def test_rounds_with_several_draws_are_one_launch():
    ours = frit.parallelize(collisions)
    v = np.linspace(-1, 1, 1000)
    for n in (1000, 1000, 5000):
        before = _core.statistics()
        ours(v, n)
        after = _core.statistics()
        launches = ("interpreted_launches", "compiled_launches", "device_launches")
        assert sum(after[name] - before[name] for name in launches) == 1
    assert runs_compiled(ours), frit.explain(ours)


def test_explain_says_that_random_numbers_are_drawn_in_turn():
    ours = frit.parallelize(numpys_floats)
    ours(np.zeros(50), 3)
    assert "# serial: random numbers are drawn one after another" in str(frit.explain(ours))


def of_generator(out, n, generator):
    for i in range(len(out)):
        out[i] = generator.choice(n) + generator.choice(FEW) + generator.choice(4, p=CHANCES)
        out[i] += generator.binomial(i % 4, i / len(out)) - generator.choice(FEW, p=CHANCES)


def test_generators_choose_as_numpys():
    ours, out = frit.parallelize(of_generator), [np.zeros(3000), np.zeros(3000)]
    ends = []
    for function, numbers in zip((of_generator, ours), out, strict=True):
        generator = np.random.default_rng(8)
        for _ in range(3):
            function(numbers, 5, generator)
        ends.append(generator.bit_generator.state)
    assert out[0].tolist() == out[1].tolist() and ends[0] == ends[1]
    assert runs_compiled(ours), frit.explain(ours)


def choice_by(out, chances):
    for i in range(len(out)):
        out[i] = np.random.choice(4, p=chances)


def choice_from(out, row):
    for i in range(len(out)):
        out[i] = np.random.choice(row)


def binomial_of(out, n, p):
    for i in range(len(out)):
        out[i] = np.random.binomial(n, p)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        *((choice_by, [np.array(p)]) for p in ([0.5] * 4, [0.5] * 2, [-0.5, 0.5, 0.5, 0.5])),
        (choice_by, [np.array([np.nan, 0.5, 0.5, 0.0])]),
        *((choice_from, [row]) for row in (np.array([]), 0, -3, 1, [1, 2.5], [], [True, False])),
        *((binomial_of, [3, p]) for p in (1.5, -0.1, float("nan"))),
        *((binomial_of, [n, 0.4]) for n in (-1, 0, 1000, 5000, 10**6)),
        *((binomial_of, [3, p]) for p in (1e300, -1e300, 0.0, 1.0)),
    ],
)
def test_what_numpy_refuses_to_choose_from_and_what_it_draws_otherwise(function, given):
    told = []
    for one in (function, frit.parallelize(function)):
        np.random.seed(3)
        out = np.zeros(400)
        for _ in range(4):
            try:
                one(out, *given)
            except Exception as error:
                told.append((type(error), str(error)))
        told.append((out.tolist(), np.random.rand()))
    assert told[: len(told) // 2] == told[len(told) // 2 :]
