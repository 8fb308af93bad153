# test_sink.py: steps that move to the later kernel which reads them, and what keeps them back.
import re

import numpy
import pytest

import frit
import frit.numpy as np

N = 300


@pytest.fixture(autouse=True)
def float_errors_may_come_late():
    """Under pytest's filters they are told at once: nothing would be fused."""
    with np.errstate(all="ignore"):
        yield


def heat(np, u, rounds):
    for _ in range(rounds):
        u[1:-1, 1:-1] += 0.2 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
    return u


def scaled_first(np, u, rounds):
    """The scaled center is asked for before its neighbours are."""
    for _ in range(rounds):
        center = 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] - 0.5 * center)
    return u


def chain(np, u, rounds):
    """Three steps that only the next round reads."""
    for _ in range(rounds):
        bent = np.sqrt(np.abs(u[1:-1, 1:-1]) + 1.0) * 0.125
        u[1:-1, 1:-1] = 0.5 * (u[2:, 1:-1] + u[:-2, 1:-1]) + bent
    return u


def kept(np, u, rounds):
    """What somebody keeps stays where it was made."""
    held = []
    for _ in range(rounds):
        center = 4.0 * u[1:-1, 1:-1]
        held.append(center)
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] - 0.5 * center)
    return sum(held[1:], held[0])


def overwritten(np, u, rounds):
    """What is read is overwritten before the reader's turn."""
    for _ in range(rounds):
        center = 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1]
        u[1:-1, 1:-1] += 0.1 * u[1:-1, 2:] - center
    return u


def shifted_write(np, u, rounds):
    """The reader's kernel writes other elements of what is read."""
    v = u.copy()
    for _ in range(rounds):
        center = 4.0 * u[1:-1, 1:-1]
        v[1:-1, 1:-1] = v[:-2, 1:-1] + v[2:, 1:-1]
        u[2:, 2:] = 0.25 * v[2:, 2:] + 0.01 * center
    return u + v


def into_sums(np, u, rounds):
    total = 0.0
    for _ in range(rounds):
        center = 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] - u[1:-1, 1:-1])
        total = total + (center - u[:-2, 1:-1]).max()
    return np.asarray(total) + u


def swapped(np, u, rounds):
    """Two fields that each read the other."""
    v = u[::-1].copy()
    for _ in range(rounds):
        a, b = 0.5 * u[1:-1, 1:-1], 0.25 * v[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.1 * (v[2:, 1:-1] - b)
        v[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] - a)
    return u - v


def reacting(np, u, rounds):
    """Many operands, and boundaries that are copied between the rounds."""
    v = u[::-1].copy()

    def spread(z):
        return z[:-2, 1:-1] + z[1:-1, :-2] - 4 * z[1:-1, 1:-1] + z[1:-1, 2:] + z[2:, 1:-1]

    def wrap(z):
        z[0, :], z[-1, :] = z[-2, :], z[1, :]
        z[:, 0], z[:, -1] = z[:, -2], z[:, 1]

    x, y = u[1:-1, 1:-1], v[1:-1, 1:-1]
    for _ in range(rounds):
        reaction = x * y * y
        x += 0.16 * spread(u) - reaction + 0.06 * (1 - x)
        y += 0.08 * spread(v) + reaction - 0.122 * y
        wrap(u)
        wrap(v)
    return u + v


PROGRAMS = [
    reacting,
    heat,
    scaled_first,
    chain,
    kept,
    overwritten,
    shifted_write,
    into_sums,
    swapped,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("rounds", [1, 2, 3, 9])
def test_gives_the_bits_of_numpy(program, rounds, tier):
    start = numpy.random.default_rng(1).random((N, N))
    expected = program(numpy, start.copy(), rounds)
    for _ in range(3):  # planned, known
        assert numpy.array_equal(numpy.asarray(program(np, np.array(start), rounds)), expected)


@pytest.mark.parametrize("program", [heat, scaled_first, chain], ids=lambda f: f.__name__)
def test_stores_no_temporary(program, tier):
    if tier == "eager":
        pytest.skip("runs step by step")
    for _ in range(2):
        u = np.array(numpy.random.default_rng(1).random((N, N)))  # memory that NumPy made
        frit.eval()
        program(np, u, 4)
        frit.eval()
    text = str(frit.explain(u))
    operations, kernels = map(int, re.search(r"(\d+) operations in (\d+) kernel", text).groups())
    assert kernels == 4, text
    # Each round stores the field alone.
    assert f"{operations - 4} temporaries never stored" in text, text


def test_many_steps_behind_short_rows_are_a_kernel_of_their_own(tier):
    """One after another for each row they took seven times as long in the interpreter."""
    if tier == "eager":
        pytest.skip("runs step by step")

    def run(np):
        x = np.asarray(numpy.random.default_rng(3).random((40, 50, 9)))
        total = np.sum(x * 2.0, axis=2)
        out = np.zeros((40, 50, 9))
        part = total * 0.25
        for _ in range(9):
            part = part * part / 300.0 - part * 0.5 + total
        out[:, :, 3] = part
        return x + out

    for _ in range(2):
        ours = run(np)
        frit.eval(ours)
    explanation = str(frit.explain())
    numpy.testing.assert_array_equal(numpy.asarray(ours), run(numpy))
    assert "more steps behind a row than the row is worth" in explanation
