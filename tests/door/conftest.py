"""conftest.py: what the tests of the NumPy door share."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


@pytest.fixture
def python(tmp_path):
    """Runs a Python command line in an empty folder: python("-m", "frit", "prog.py", FRIT="0")."""

    def run(*words, input=None, check=True, **settings):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FRIT")}
        environment.update(settings)
        done = subprocess.run(
            [sys.executable, *map(str, words)],
            cwd=tmp_path,
            env=environment,
            input=input,
            capture_output=True,
            text=True,
            timeout=300,
        )
        if check and done.returncode:
            raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    return run


@pytest.fixture
def file(tmp_path):
    """Writes a file into the test's folder and gives its path."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    return write


@pytest.fixture
def frit(python, file):
    """Runs a program under Frit and gives its output."""

    def run(program: str, *words, **settings):
        path = file("program.py", program)
        return python("-m", "frit", path, *words, **settings).stdout

    return run
