"""test_together.py: NumPy's calls, loops and kernels of one program are one piece of work."""

from __future__ import annotations

import re
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "together" / "pulse.py"


def test_the_three_doors_share_a_kernel(python):
    done = python("-m", "frit", EXAMPLE, "30000", FRIT_DUMP="graph")
    step = re.split(r"^(?:pending|evaluated)", done.stderr, flags=re.MULTILINE)[-1]
    [_, first, last] = re.split(r"^kernel \d", step, flags=re.MULTILINE)
    for name in ("loop nest", "user kernel", "cos", "multiply", "add.reduce", "maximum.reduce"):
        assert name in first
    assert "divide" in last  # of the mean, a number


def test_it_prints_the_same_fused_and_unfused(python):
    fused = python("-m", "frit", EXAMPLE, "8000", FRIT_FUSION="on").stdout
    assert fused.count("energy") == 6
    for mode in ("off", "trace"):
        assert python("-m", "frit", EXAMPLE, "8000", FRIT_FUSION=mode).stdout == fused
    assert python("-m", "frit", EXAMPLE, "8000", FRIT_LOOPS="0").stdout == fused
