"""test_levels.py: processors with fewer instructions (FRIT_CPU) give the same bits.

But for functions where there is no fma: those are the C library's.
"""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "level_program.py"


def run(level: str, tier: str = "compiled") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PROGRAM, tier],
        env={**os.environ, "FRIT_CPU": level},
        capture_output=True,
        text=True,
        timeout=300,
    )


@functools.cache
def bits_of(level: str) -> str:
    done = run(level, "interpreter")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="x86-64's levels")
@pytest.mark.parametrize("tier", ["interpreter", "compiled"])
@pytest.mark.parametrize("level", ["v2", "v3", "v4"])
@pytest.mark.on_host
def test_each_level_gives_the_same_bits(level: str, tier: str) -> None:
    done = run(level, tier)
    assert (done.returncode, done.stderr) == (0, "")
    operations, functions = done.stdout.split()
    assert operations == bits_of("").split()[0]
    assert functions == bits_of("v2" if level == "v2" else "").split()[1]


@pytest.mark.on_host
def test_an_unknown_level_is_told_and_not_used() -> None:
    done = run("avx9")
    assert done.stdout == bits_of("")
    assert done.stderr.startswith("frit: FRIT_CPU must be one of ")
    assert done.stderr.endswith(", not 'avx9'; it is not used\n")
