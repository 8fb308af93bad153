"""frit.report: `frit.report()` shows what was recorded and run, and what fell back to NumPy."""

from __future__ import annotations

import sys
import types
from typing import Any


class _Report(types.ModuleType):
    """This package, which may also be called."""

    def __call__(self, reset: bool = False) -> Any:
        """The report so far, as an object that prints as text; with reset, counting starts anew."""
        from frit.report import profile

        made = profile.Report.now()
        if reset:
            profile.reset()
        return made


sys.modules[__name__].__class__ = _Report
