"""_timer.py: Timer: reads of it compute what is pending, so that a lazy kernel's time counts."""

from __future__ import annotations

import time

from frit import _core


class Timer:
    """Seconds since it was made, or reset."""

    def __init__(self) -> None:
        self.reset()

    def seconds(self) -> float:
        """Seconds since then, with all work that was asked for."""
        _core.eval()
        return time.perf_counter() - self.start_time

    def reset(self) -> None:
        """Begins again. What was asked for before does not count."""
        _core.eval()
        self.start_time = time.perf_counter()
