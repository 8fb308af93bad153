"""compare.py: `python -m frit --compare`: a program under Python and under Frit, side by side."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Run:
    """One run of the program."""

    output: str
    errors: str
    code: int
    seconds: float


def main(request: Any) -> int:
    """Runs the program both ways, prints the comparison; 0 when output and exit code agree."""
    program = _words(request)
    plain = _run([sys.executable, *program], {"FRIT": "0"})
    frit = _run([sys.executable, "-m", "frit", *program], {})
    same = plain.output == frit.output and plain.code == frit.code
    print(f"output     {'identical' if plain.output == frit.output else 'differs'}")
    if plain.output != frit.output:
        _print_difference(plain.output, frit.output)
    if plain.code != frit.code:
        print(f"exit code  {plain.code} under Python, {frit.code} under Frit")
    if frit.code and frit.code != plain.code:
        print(frit.errors, end="", file=sys.stderr)
    print(
        f"time       {plain.seconds:.2f} s under Python, {frit.seconds:.2f} s under Frit: "
        f"{plain.seconds / frit.seconds:.2f}x"
    )
    return 0 if same else 1


def _words(request: Any) -> list[str]:
    flag = {"module": ["-m"], "command": ["-c"], "file": []}.get(request.kind)
    if flag is None:
        raise SystemExit("--compare needs a program, -m module or -c code")
    return [*flag, request.what, *request.arguments]


def _run(command: list[str], settings: dict[str, str]) -> Run:
    environment = {**os.environ, **settings}
    if not settings:
        environment.pop("FRIT", None)
    start = time.perf_counter()
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    return Run(done.stdout, done.stderr, done.returncode, time.perf_counter() - start)


def _print_difference(plain: str, frit: str, most: int = 40) -> None:
    lines = difflib.unified_diff(
        plain.splitlines(), frit.splitlines(), "python", "frit", lineterm="", n=1
    )
    for count, line in enumerate(lines):
        if count == most:
            print("  ...")
            return
        print(f"  {line}")
