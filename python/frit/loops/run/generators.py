"""generators.py: the objects whose methods draw random numbers, and which of these a nest can draw.

It loads nothing: a program without random numbers asks, too.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

PYTHONS = frozenset("random uniform randint randrange choice".split())
TWISTERS = frozenset(
    "rand random random_sample uniform randint choice randn standard_normal normal binomial".split()
)
PCGS = frozenset("random uniform integers choice binomial".split())
FUNCTIONS = PYTHONS | TWISTERS | PCGS
_TYPES = {
    ("random", "Random"): PYTHONS,
    ("numpy.random.mtrand", "RandomState"): TWISTERS,
    ("numpy.random._generator", "Generator"): PCGS,
}


def is_generator(value: Any) -> bool:
    """Whether it is an object whose methods draw random numbers."""
    kind = type(value)
    return (kind.__module__, kind.__name__) in _TYPES


def is_draw(function: Any) -> bool:
    """Whether a nest can draw the number that a call of it gives."""
    kind = type(getattr(function, "__self__", None))
    return function.__name__ in _TYPES.get((kind.__module__, kind.__name__), ())
