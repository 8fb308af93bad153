"""test_examples.py: the programs of examples/loops print under Frit what they print without it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "loops"
ARGUMENTS = {
    "alignment": ["--length", "2000"],
    "attractor": ["--steps", "30000"],
    "controller": ["--steps", "16000"],
    "edges": ["--size", "150"],
    "ising": ["--size", "32", "--steps", "20"],
    "perceptron": ["--steps", "150000"],
    "pulse": ["--size", "150", "--steps", "12"],
    "sweep": ["--steps", "40000"],
}


def test_all_examples_are_run() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(ARGUMENTS)


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_example_prints_what_it_prints_without_frit(name: str, tmp_path: Path) -> None:
    outputs = []
    for words in ([], ["-m", "frit", "--report"]):
        done = subprocess.run(
            [sys.executable, *words, str(EXAMPLES / f"{name}.py"), *ARGUMENTS[name]],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "FRIT_CACHE_DIR": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        outputs.append(re.sub(r"seconds: .*\n", "", done.stdout))
    assert outputs[0] == outputs[1]
    assert re.search(r"loops +[1-9]\d* nests ran compiled", done.stderr)
