"""test_examples.py: the programs of examples/pykokkos print the same fused, delayed and at once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "pykokkos"
ARGUMENTS = {
    "chain": ["--size", "30000", "--steps", "5"],
    "molecular_dynamics": ["--size", "6", "--steps", "60"],
    "nstream": ["--size", "30000", "--steps", "5"],
    "particle_push": ["--size", "20000", "--steps", "5"],
    "stencil": ["--size", "60", "--steps", "30"],
}


def output(name: str, fusion: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "frit", str(EXAMPLES / f"{name}.py"), *ARGUMENTS[name]],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "FRIT_FUSION": fusion},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return re.sub(r"seconds: .*\n", "", done.stdout)


def test_all_examples_are_run() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(ARGUMENTS)


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_example_prints_the_same_fused_and_unfused(name: str) -> None:
    fused = output(name, "on")
    assert len(fused.splitlines()) >= 1
    assert output(name, "off") == fused
    assert output(name, "trace") == fused


def test_energy_is_conserved() -> None:
    last = output("molecular_dynamics", "on").splitlines()[-1]
    drift, total = map(float, re.fullmatch(r"drift: (.*) of (.*)", last).groups())
    assert 0 < drift < 5e-4 * total


def test_nstream_gives_the_sum_that_it_expects() -> None:
    found, expected = re.findall(r"[\d.]+", output("nstream", "on"))[:2]
    assert found == expected
