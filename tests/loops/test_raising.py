"""test_raising.py: nests with `raise` and `assert`, and functions with these that a nest calls."""

from __future__ import annotations

import copy
import math
import types

import numpy as np
import pytest

import frit

from .written import function_of


class Unfit(Exception):
    def __init__(self, where: int, owner: object) -> None:
        super().__init__(f"unfit at {where} of {owner}")


def raises_behind_stores(x, y):
    for i in range(len(x)):
        y[i] += 1.0
        if x[i] < 0:
            raise ValueError(f"negative: {x[i]} at {i}") from None
        y[i] = math.sqrt(x[i])


ASSERTS = """\
def asserts(x, y):
    t = 0.0
    for i in range(len(x)):
        assert x[i] >= 0 or y[i] > 9, (
            "the words of an error may be long "
            f"and read {t} and {i}"
        )
        t += x[i]
        y[i] = t
    return t
"""


def cubic(q):
    """A function with a check, as libraries have them."""
    if q < 0:
        raise ValueError("q must not be negative")
    elif q < 1:
        return 1 - 1.5 * q * q
    elif q < 2:
        return 0.25 * (2 - q) ** 3
    elif q >= 2:
        return 0.0
    raise ArithmeticError(q)


def calls_what_raises(x, y):
    for i in range(len(x)):
        for j in range(3):
            y[i] += cubic(x[i] + j)


def no_convergence(x, y):
    for k in range(len(x)):
        guess, rounds = x[k], 0
        while abs(guess * guess - x[k]) > 1e-9:
            guess = 0.5 * (guess + x[k] / guess)
            rounds += 1
            if rounds > 60:
                raise RuntimeError("no convergence", k, x[k], y.tolist())
        y[k] = guess


def both_ways(x, y):
    for i in range(len(x)):
        if x[i] >= 0:
            sign = 1.0
        else:
            raise LookupError(i)
        y[i] = sign * x[i]


def behind_a_loop(x, y):
    for i in range(len(x)):
        for j in range(len(y)):
            if y[j] == x[i]:
                break
        else:
            raise KeyError(i)
        y[j] = -1.0 - i


asserts = function_of(ASSERTS, "<asserts>")  # Python's, not those of the tests


def stale_index(x, y):
    for i in range(len(x)):
        for _ in range(2):
            if x[i] > 30:
                k = 1
            elif x[i] > 0:
                k = 2
            else:
                raise IndexError(k)
        y[k] += 1.0


def kind_of(value):
    if value > 30:
        return 1
    elif value > 0:
        return -2
    raise IndexError("no kind")


def index_from_a_call(x, y):
    for i in range(len(x)):
        y[kind_of(x[i])] += 1.0


def pair_of(value, n):
    for k in range(n):
        if k * 5 > value:
            return k, value
        assert_positive(value)
    raise LookupError(value)


def assert_positive(value):
    if not value > 0:
        raise ValueError(value)


def pairs(x, y):
    for i in range(len(x)):
        k, v = pair_of(x[i], 10)
        y[k] += v


def at_the_end(x, y):
    for i in range(len(x)):
        if x[i] < 0:
            break
        y[i] = x[i] * 2
    else:
        if y[0] != 7:
            y[0] = 7
            raise EOFError(i, y[0])
        y[0] = 3


def outcome(function, *given):
    given = copy.deepcopy(given)
    try:
        found = function(*given)
    except Exception as error:
        at = error.__traceback__
        while at.tb_next is not None:
            at = at.tb_next
        found = type(error), str(error), at.tb_lineno, error.__cause__
    return repr(found), [x.tolist() for x in given if isinstance(x, np.ndarray)]


@pytest.mark.parametrize(
    "function, calls",  # those without an error
    [
        (raises_behind_stores, 6),
        (asserts, 6),
        (calls_what_raises, 6),
        (no_convergence, 6),
        (both_ways, 6),
        (behind_a_loop, 6),
        (stale_index, 0),  # an index that may have no value
        (index_from_a_call, 4),
        (pairs, 6),
        (at_the_end, 2),
    ],
    ids=lambda x: getattr(x, "__name__", str(x)),
)
def test_errors_come_where_python_raises_them(function, calls):
    ours = frit.parallelize(function)
    good = np.arange(1.0, 41.0)
    bad = good.copy()
    bad[23] = -8.0
    for x in (good, bad, good[::-1], good[:0]):
        y = good * 1.0 if function is behind_a_loop else np.zeros(len(x))
        for _ in range(2):
            assert outcome(function, x, y) == outcome(ours, x, y)
    assert max(site.calls for site in ours.__frit__.sites) >= calls


def test_what_an_error_reads_is_no_part_of_the_nest():
    class Solver:
        def __init__(self):
            self.values, self.name, self.parent = np.arange(50.0), "a solver", self

        def run(self, most, owner):
            for i in range(len(self.values)):
                if self.values[i] > most:
                    raise Unfit(i, (self.name, owner, self.parent.name))
                self.values[i] += 1

    ours = frit.parallelize(Solver.run)
    owner = types.SimpleNamespace(name="x")
    for most in (100, 20):
        one, other = Solver(), Solver()
        assert outcome(Solver.run, one, most, owner) == outcome(ours, other, most, owner)
        assert np.array_equal(one.values, other.values)
    (site,) = ours.__frit__.sites
    assert site.calls == 1


def test_asserts_are_as_the_interpreter_is_told(python, file):
    path = file(
        "program.py",
        """
        import numpy, frit

        @frit.parallelize
        def f(x):
            for i in range(len(x)):
                assert x[i] < 7, i
                x[i] = -1

        x = numpy.arange(9.0)
        try:
            f(x)
        except AssertionError as error:
            print(error)
        print(*x)
        """,
    )
    assert python(path).stdout.split() == ["7", *["-1.0"] * 7, "7.0", "8.0"]
    assert python("-O", path).stdout.split() == ["-1.0"] * 9


def test_a_module_with_errors_in_its_loops(python, file):
    path = file(
        "program.py",
        """
        import sys

        import numpy as np

        x, total = np.arange(20_000) % 1000, 0
        try:
            for k in range(int(sys.argv[1])):
                for i in range(len(x)):
                    if x[i] + k > 1100:
                        raise ValueError(f"{x[i]} in round {k}, {total} at {i}")
                    total += int(x[i])
        except ValueError as error:
            print(error)
        print(k, i, total)
        """,
    )
    for rounds in ("50", "150"):
        assert python("-m", "frit", path, rounds).stdout == python(path, rounds).stdout


def checks_each(x, y):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(i)
        y[i] = 2.0 * x[i]


def checks_and_sums(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(i)
        total += x[i]
    return total


@pytest.mark.parametrize(
    ("function", "arrays", "kind"),
    [(checks_each, 2, "parallel"), (checks_and_sums, 1, "reduction")],
)
def test_a_loop_that_only_counts_its_failures_is_parallel(function, arrays, kind):
    parallel = frit.parallelize(function)
    parallel(*(np.ones(50_000) for _ in range(arrays)))
    assert f"# {kind}" in str(frit.explain(parallel))
