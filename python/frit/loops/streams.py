"""streams.py: the streams of random numbers that a nest draws from, as arrays that it changes.

Python's `random` and NumPy's `np.random` are Mersenne Twisters: 624 words, and how many of them are
drawn. A nest works on a copy. When it has ended the generator gets what is left of it, unless
somebody else has drawn meanwhile: another thread, or a signal's handler.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy

WORDS = 624
_PYTHONS = frozenset("random uniform randint randrange choice".split())
_NUMPYS = frozenset(
    "rand random random_sample uniform randint choice randn standard_normal normal".split()
)


class Stream:
    """What a nest is given of it: arrays, by the names and kinds (as loop_key has them)."""

    names: tuple[str, ...]
    kinds: str
    functions: frozenset[str]

    def owner(self) -> Any:
        """The object whose methods draw from it; None: nobody has loaded it."""
        raise NotImplementedError

    def take(self) -> tuple[numpy.ndarray[Any, Any], ...] | None:
        """Copies of its state; None: it is in use, or another generator."""
        raise NotImplementedError

    def give(self, was: Any, arrays: tuple[numpy.ndarray[Any, Any], ...]) -> bool:
        """Leaves off where the arrays do. False: it is no longer as it `was`."""
        now = self.take()
        if now is None or not all(map(numpy.array_equal, now, was)):
            return False
        self.put(arrays)
        return True

    def put(self, arrays: tuple[numpy.ndarray[Any, Any], ...]) -> None:
        raise NotImplementedError


class PythonsStream(Stream):
    names, kinds, functions = ("random's state",), "AI1", _PYTHONS

    def owner(self) -> Any:
        return getattr(sys.modules.get("random"), "_inst", None)

    def take(self) -> tuple[numpy.ndarray[Any, Any], ...] | None:
        version, words, _ = self.owner().getstate()
        is_known = version == 3 and len(words) == WORDS + 1
        return (numpy.array(words, numpy.uint32),) if is_known else None

    def put(self, arrays: tuple[numpy.ndarray[Any, Any], ...]) -> None:
        owner = self.owner()
        owner.setstate((3, tuple(arrays[0].tolist()), owner.getstate()[2]))


class NumpysStream(Stream):
    """The second array: whether a normal number was made before its turn, and which."""

    names = "np.random's state", "np.random's next normal number"
    kinds, functions = "AI1Ad1", _NUMPYS

    def owner(self) -> Any:
        return numpy.random.mtrand._rand

    def take(self) -> tuple[numpy.ndarray[Any, Any], ...] | None:
        owner = self.owner()
        generator = owner._bit_generator
        if type(generator) is not numpy.random.MT19937:
            return None
        if not generator.lock.acquire(blocking=False):
            return None
        generator.lock.release()
        state = owner.get_state(legacy=False)
        words = numpy.append(state["state"]["key"], numpy.uint32(state["state"]["pos"]))
        return words, numpy.array([state["has_gauss"], state["gauss"]], float)

    def put(self, arrays: tuple[numpy.ndarray[Any, Any], ...]) -> None:
        words, normal = arrays
        state = {
            "bit_generator": "MT19937",
            "state": {"key": words[:WORDS], "pos": int(words[WORDS])},
            "has_gauss": int(normal[0]),
            "gauss": float(normal[1]),
        }
        self.owner().set_state(state)


_STREAMS = (PythonsStream(), NumpysStream())


class StreamNeeded(Exception):
    """A translation must begin anew, with this stream's arrays."""

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self.stream = stream


def stream_of(function: Any) -> tuple[Stream, str] | None:
    """What a call of it draws from, and which function it is; None: something else."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if owner is None:
        return None
    for stream in _STREAMS:
        if owner is stream.owner() and name in stream.functions:
            return stream, name
    return None
