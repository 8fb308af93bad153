"""explain.py: what was fused into which kernels and why not more, as text and as a picture."""

from __future__ import annotations

import html
import shutil
import subprocess
from typing import Any


class Explanation:
    """Prints as text; notebooks draw it when Graphviz (`dot`) is installed."""

    def __init__(self, x: Any = None) -> None:
        from frit import _core

        self.text: str = _core.explain() if x is None else _core.explain(x)
        self.dot: str = _core.explain_dot()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def svg(self) -> str | None:
        """The graph as SVG, or None where Graphviz is not installed or cannot draw it."""
        program = shutil.which("dot")
        if program is None:
            return None
        drawn = subprocess.run(
            [program, "-Tsvg"], input=self.dot, capture_output=True, text=True, check=False
        )
        return drawn.stdout if drawn.returncode == 0 else None

    def _repr_svg_(self) -> str | None:
        return self.svg()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"
