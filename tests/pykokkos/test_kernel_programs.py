"""test_kernel_programs.py: fused = delayed = at once = plain Python, on random programs.

FRIT_FUZZ_PROGRAMS: how many. FRIT_FUZZ_SEED: the first one's seed; a failure prints its own.
"""

from __future__ import annotations

import os
from pathlib import Path

import kernel_programs
import pytest

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "500"))
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "1"))
PARTS = 10
PROGRAMS_OF_A_MODULE = 25
pytestmark = pytest.mark.timeout(max(900, PROGRAMS // PARTS))
MODES = [("on", "interpreter"), ("trace", "interpreter"), ("off", "interpreter")]


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_give_what_python_gives(part: int, tmp_path: Path) -> None:
    module, loaded = None, -1
    for seed in range(FIRST + part, FIRST + PROGRAMS, PARTS):
        library = (seed // PARTS // PROGRAMS_OF_A_MODULE) * PARTS + part
        if library != loaded:
            module, loaded = kernel_programs.workunits(library, tmp_path), library
        drawn = kernel_programs.program(seed)
        modes = MODES + ([("on", "compiled")] if seed // PARTS % 4 == 0 else [])
        wrong = kernel_programs.differs(module, drawn, modes)
        if wrong:
            steps = kernel_programs.shrunk(module, drawn, wrong)
            source = (tmp_path / f"workunits_{library}.py").read_text()
            pytest.fail(
                f"program {seed} (workunits {library}) differs under fusion={wrong[0]}, "
                f"tier={wrong[1]}: n={drawn[0]}, {drawn[1]}\n"
                + "\n".join(map(str, steps))
                + "\n\n"
                + source
            )
