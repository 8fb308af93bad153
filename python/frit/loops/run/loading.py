"""loading.py: whether a program without NumPy loads the engine for its loops."""

from __future__ import annotations

import _signal
import atexit
import sys

from frit import _kept
from frit.loops.run.turns import now

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

    from frit.loops.run.place import Place

# Seconds that loops must take, by guesses, to load NumPy and the engine; which part of these
# seconds loops over lists take. Short loops gain little: they count as much less.
ENGINE_WORTH, LISTS_TAKE = 1.0, 0.33
SHORT_LOOP = 20e-6
BRIEF_LOOP, STOPPING = 2e-6, 3e-7  # one that gains nothing; and what it takes to stop the clock
IN_VAIN = 10  # times that, measured, where an earlier run of the program has it loaded for nothing
ENOUGH_LOOPS = 100  # measured ones: then what they were guessed to take doesn't matter


class Lost:
    """Seconds that the loops of a program without NumPy take as Python; a clock of a place."""

    def __init__(self) -> None:
        self.guessed = self.measured = self.began = self.since = 0.0
        self.loops = 0  # that were measured
        self.place: Place | None = None
        self.was_in_vain: bool | None = None  # None: nobody has looked yet
        self.has_run = False  # a nest, compiled

    def is_worth_engine(self) -> bool:
        worth = ENGINE_WORTH * (LISTS_TAKE if self.measured > self.loops * SHORT_LOOP else 1.0)
        is_guessed = self.loops < ENOUGH_LOOPS and self.guessed > ENGINE_WORTH
        if not is_guessed and self.measured <= worth:
            return False
        return not self._is_known_in_vain() or self.measured > IN_VAIN * worth

    def _is_known_in_vain(self) -> bool:
        if self.was_in_vain is None:
            program = _kept.program
            self.was_in_vain = program is not None and _kept.load(*_in_vain(*program)) is True
        return self.was_in_vain

    def note_use(self) -> None:
        """The program ends: was it worth to load the engine?"""
        is_in_vain = not self.has_run
        if _kept.program is not None and is_in_vain != self._is_known_in_vain():
            _kept.store(*_in_vain(*_kept.program), is_in_vain)

    def measure(self, seconds: float, loops: int = 1) -> None:
        self.measured += seconds
        self.loops += loops

    def follow(self, place: Place) -> None:
        """The loop of the place is measured, once it starts: for all since the latest one."""
        self.place, self.since = place, place.since
        place.clock = self

    def start(self) -> None:
        self.began = now()

    def stop(self) -> None:
        place = self.place
        if place is None:
            return
        ended, calls = now(), 1 + place.skipped
        seconds = max(ended - self.began - STOPPING, 0.0)
        place.brief = place.brief + 1 if seconds < BRIEF_LOOP else 0
        self.measure(min(seconds * calls, ended - self.since), calls)
        place.clock = self.place = None


def _in_vain(origin: bytes, facts: bytes) -> tuple[bytes, bytes]:
    return b"in vain " + origin, facts


lost = Lost()


def engine(is_asked_for: bool = False) -> Any:
    """The engine, for a program that has NumPy, or whose loops are worth it."""
    numpy = sys.modules.get("numpy")
    has_numpy = numpy is not None
    if getattr(getattr(numpy, "__spec__", None), "_initializing", False):
        return None  # it is being imported, and has no C API yet
    if not has_numpy and not is_asked_for and not lost.is_worth_engine():
        return None
    # A program's handler that raises would leave NumPy half imported, for good.
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
    try:
        from frit import _core
    except ImportError:
        return None
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
    if not has_numpy:
        atexit.register(lost.note_use)
    return _core
