"""__main__.py: `python -m frit program.py` runs a NumPy program, unchanged, under Frit."""

from __future__ import annotations

import sys

from frit import _runner

if __name__ == "__main__":
    _runner.main(sys.argv[1:])
