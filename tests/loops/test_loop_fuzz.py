"""test_loop_fuzz.py: random loops do under frit.parallelize what they do as Python.

FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED: how many programs, and the first.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import frit
from frit.loops.nest import reductions

from .fuzz import (
    ComplexProgram,
    ObjectProgram,
    Program,
    WindowProgram,
    as_near_to_exact,
    calls_of,
    outcome,
    same_outcome,
    widened,
)

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "500"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
CALLS = 3
pytestmark = pytest.mark.timeout(max(900, PROGRAMS))


def with_other_elements(arguments):
    """The same sizes, with the array of indices turned round, and one of them larger."""
    made = dict(arguments)
    if "idx" in made and made["idx"].size:
        made["idx"] = made["idx"][::-1].copy()
        made["idx"][0] += 1
    return made


@pytest.mark.parametrize("kind", [Program, ComplexProgram, ObjectProgram, WindowProgram])
def test_random_loops_do_what_python_does(kind, monkeypatch, tuning):
    compiled = python = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        program = kind(seed)
        # Sums of few floats in a row as those of many, too.
        monkeypatch.setattr(reductions, "LEAF", 128 if seed % 2 else -1)
        is_large = seed % 3 == 0
        tuning[:] = [2_000.0, 1 + seed % 3, seed % 4, 2 + 6 * (seed % 2)] if is_large else []
        plain = program.function()
        parallel = frit.parallelize(program.function())
        arguments: dict[str, object] = {}
        for call in range(CALLS + 1):
            # The last one again: what is known of its sizes, and not of its elements, holds.
            arguments = program.arguments(call) if call < CALLS else with_other_elements(arguments)
            expected = outcome(plain, arguments)
            got = outcome(parallel, arguments)
            # Functions of complex64 differ in the last bits, and may end in other types.
            single = "np.exp" in program.source and any(
                isinstance(x, np.ndarray) and x.dtype == np.complex64 for x in arguments.values()
            )
            is_same = same_outcome(expected, got, single)
            if not is_same and single:
                is_same = as_near_to_exact(expected, got, outcome(plain, widened(arguments)))
            assert is_same, (
                f"seed {seed}, call {call}\n{program.source}\n{arguments}\n"
                f"Python: {expected}\nFrit: {got}"
            )
        as_kernels, as_python = calls_of(parallel, f"seed {seed}")
        compiled, python = compiled + as_kernels, python + as_python
    print(f"{compiled} nests ran compiled, {python} as Python")
    assert compiled > PROGRAMS // 4  # else nothing was tested
