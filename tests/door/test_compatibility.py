"""test_compatibility.py: docs/compatibility.md says what compatibility.py finds today."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

HERE = Path(__file__).parent


@pytest.mark.on_host
def test_the_page_on_compatibility_is_up_to_date():
    measured = json.loads((HERE / "compatibility.json").read_text())["numpy"]
    if measured != numpy.__version__:
        pytest.skip(f"the page is about NumPy {measured}")
    # In a process of its own: the names are tried out with nothing computed at once.
    program = [sys.executable, str(HERE / "compatibility.py"), "--check"]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0, f"run {' '.join(program[:-1])}\n{done.stdout}{done.stderr}"
