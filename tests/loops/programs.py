"""programs.py: whole programs, run by Python and by `python -m frit`."""

from __future__ import annotations

import subprocess
import sys


def output_of(text: str, *options: str) -> str:
    ended = subprocess.run(
        [sys.executable, *options, "-c", text], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def assert_same_under_frit(text: str) -> None:
    assert output_of(text, "-m", "frit") == output_of(text)
