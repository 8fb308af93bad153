"""test_tables.py: tables of dynamic programming, whose elements wait for those beside and above.

FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED: how many random ones, and the first.
"""

from __future__ import annotations

import os
import random
import warnings

import numpy as np
import pytest

import frit

from .written import function_of

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "200"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
pytestmark = pytest.mark.timeout(max(900, PROGRAMS))


def longest_common(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            if a[i - 1] == b[j - 1]:
                t[i, j] = t[i - 1, j - 1] + 1
            else:
                t[i, j] = max(t[i - 1, j], t[i, j - 1])


def edited(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            t[i, j] = min(t[i - 1, j] + 1, t[i, j - 1] + 1, t[i - 1, j - 1] + cost)


def paths(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            t[i, j] = t[i - 1, j] + t[i, j - 1]


def paths_from_the_end(a, b, t):
    for i in range(t.shape[0] - 2, -1, -1):
        for j in range(t.shape[1] - 2, -1, -1):
            t[i, j] = t[i + 1, j] - t[i, j + 1]


def paths_by_knights(a, b, t):
    for i in range(2, t.shape[0]):
        for j in range(1, t.shape[1] - 2):
            t[i, j] = t[i - 1, j + 2] + t[i - 2, j + 1] + t[i, j - 1] - t[i, j + 1]


def warped(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            t[i, j] = abs(a[i - 1] - b[j - 1]) + min(t[i - 1, j], t[i, j - 1], t[i - 1, j - 1])


def skipping(a, b, t):
    for i in range(1, t.shape[0]):
        weight = a[i - 1]
        for j in range(1, t.shape[1]):
            if b[j - 1] > 0:
                t[i, j] = t[i, j - 1] + t[i - 1, j] + weight


TABLES = [longest_common, edited, paths, paths_from_the_end, paths_by_knights, warped, skipping]


def arguments(kind: str, rows: int, columns: int) -> list:
    make = np.random.default_rng(rows * 1000 + columns)
    a, b = (make.integers(-2, 3, n).astype(kind) for n in (rows, columns))
    return [a, b, make.integers(-9, 9, (rows + 1, columns + 1)).astype(kind)]


@pytest.mark.parametrize("tile", [None, 3, 16])
@pytest.mark.parametrize("kind", ["l", "i", "d"])
@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_what_python_makes_of_it(table, kind, tile, tuning):
    if tile:
        tuning[:] = [20000, 2, tile, 0]
    compiled = frit.parallelize(table)
    for rows, columns in [(0, 0), (1, 5), (17, 16), (33, 20), (90, 130)]:
        with np.errstate(all="ignore"):
            expected = arguments(kind, rows, columns)
            table(*expected)
            for _ in range(2):
                found = arguments(kind, rows, columns)
                compiled(*found)
                assert found[2].tobytes() == expected[2].tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_a_large_table_runs_in_tiles_row_by_row(threads):
    before, cost = frit._core.threads(), frit._core.set_part_cost(1e-3)
    frit._core.set_threads(threads)
    try:
        compiled = frit.parallelize(longest_common)
        expected, found = arguments("l", 500, 700), arguments("l", 500, 700)
        longest_common(*expected)
        compiled(*found)
        assert found[2].tobytes() == expected[2].tobytes()
        assert str(frit.explain(compiled)).count("# wavefront: ") == 2
    finally:
        frit._core.set_part_cost(cost)
        frit._core.set_threads(before)


NEAR = ["t[i - 1, j]", "t[i, j - 1]", "t[i - 1, j - 1]"]
FAR = ["t[i - 1, j + 1]", "t[i, j + 1]", "t[i + 1, j]", "t[i - 2, j]", "t[i, j - 2]", "t[i, j]"]
OTHERS = ["a[i]", "b[j]", "2", "a[i] * b[j]", "i", "j", "t[1, 1]"]
OPERATIONS = ["{} + {}", "{} - {}", "max({}, {})", "min({}, {})", "({} if {} > 0 else 1)"]


def random_table(seed: int):
    """A function of a, b and t that fills t from its own elements."""
    pick = random.Random(seed).choice
    one_in = random.Random(seed + 1).randrange

    def value() -> str:
        made = pick(NEAR)
        for _ in range(pick([1, 1, 2, 3])):
            made = pick(OPERATIONS).format(*pick([(made, other()), (other(), made)]))
        return made

    def other() -> str:
        return pick(NEAR + NEAR + OTHERS + (FAR if one_in(3) == 0 else []))

    rows = pick(["range(2, m - 1)", "range(2, m - 1)", "range(m - 3, 1, -1)", "range(2, m - 1, 2)"])
    columns = pick(
        ["range(2, n - 2)", "range(2, n - 2)", "range(n - 4, 1, -1)", "range(2, n // 2)"]
    )
    lines = ["def f(a, b, t):", "    m, n = t.shape", f"    for i in {rows}:"]
    if one_in(4) == 0:
        lines.append(f"        w = {pick(['a[i]', 'b[i % 3]', 't[i, 0]'])}")
        weight = "w"
    else:
        weight = "1"
    lines.append(f"        for j in {columns}:")
    kind = one_in(5)
    if kind == 0:
        lines += [f"            if {other()} > {other()}:", f"                t[i, j] = {value()}"]
        lines += ["            else:", f"                t[i, j] = {value()} + {weight}"]
    elif kind == 1:
        lines += [f"            if {other()} > {other()}:", f"                t[i, j] = {value()}"]
    elif kind == 2:
        lines += [f"            c = {value()}", f"            t[i, j] = max(c, {other()})"]
    elif kind == 3:
        lines.append(f"            t[i, j] += {value()} - {weight}")
    else:
        lines.append(f"            t[i, j] = {value()} + {weight}")
    text = "\n".join(lines) + "\n"
    return function_of(text, f"<table {seed}>"), text


@pytest.mark.parametrize("seed", range(FIRST, FIRST + PROGRAMS))
def test_a_random_table_is_what_python_makes_of_it(seed, tuning):
    function, text = random_table(seed)
    chosen = random.Random(seed)
    tuning[:] = [20000, 2, chosen.choice([0, 1, 3, 16]), 0] if chosen.random() < 0.7 else []
    compiled = frit.parallelize(function)
    for kind in chosen.sample(["l", "l", "d", "i", "b", "f", "e"], 2):
        for rows, columns in [(2, 3), (6, 7), (chosen.randrange(20, 60), chosen.randrange(20, 60))]:
            outcomes = []
            for run in (function, compiled):
                a, b, t = arguments(kind, rows, columns)
                a, b = np.resize(a, rows + columns + 2), np.resize(b, rows + columns + 2)
                if chosen.randrange(4) == seed % 4:
                    t = np.asfortranarray(t)
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    try:
                        run(a, b, t)
                        error = None
                    except Exception as raised:
                        error = type(raised), str(raised)
                outcomes.append((error, t.tobytes()))
            assert outcomes[0] == outcomes[1], f"{text}\n{kind} {rows} {columns} {tuning}"
