"""streams.py: the streams of random numbers that a nest draws from, as arrays that it changes.

Python's `random` and NumPy's `np.random` are Mersenne Twisters: 624 words, and how many of them are
drawn. A nest works on a copy. When it has ended the generator gets what is left of it, unless
somebody else has drawn meanwhile: another thread, or a signal's handler.
"""

from __future__ import annotations

import itertools
import struct
import sys
from collections.abc import Sequence
from typing import Any

import numpy

Arrays = tuple[numpy.ndarray[Any, Any], ...]
WORDS = 624
_PYTHONS = frozenset("random uniform randint randrange choice".split())
_NUMPYS = frozenset(
    "rand random random_sample uniform randint choice randn standard_normal normal".split()
)
FUNCTIONS = _PYTHONS | _NUMPYS


class Stream:
    """names and kinds (as loop_key has them): of the arrays that a nest gets of it."""

    names: tuple[str, ...]
    kinds: str
    functions: frozenset[str]
    samples: Arrays  # like those that a nest gets

    def owner(self) -> Any:
        """The object whose methods draw from it; None: nobody has loaded it."""
        raise NotImplementedError

    def state(self) -> Any:
        """What can be compared; None: it is in use, or another generator."""
        raise NotImplementedError

    def arrays(self, state: Any) -> Arrays:
        """Copies."""
        raise NotImplementedError

    def put(self, arrays: Arrays) -> None:
        """Goes on where a nest has left off."""
        raise NotImplementedError


class PythonsStream(Stream):
    names, kinds, functions = ("random's state",), "AI1", _PYTHONS
    samples = (numpy.zeros(WORDS + 1, numpy.uint32),)
    words = struct.Struct(f"{WORDS + 1}I")

    def owner(self) -> Any:
        return getattr(sys.modules.get("random"), "_inst", None)

    def state(self) -> Any:
        state = self.owner().getstate()
        return state if state[0] == 3 and len(state[1]) == WORDS + 1 else None

    def arrays(self, state: Any) -> Arrays:
        return (numpy.frombuffer(bytearray(self.words.pack(*state[1])), numpy.uint32),)

    def put(self, arrays: Arrays) -> None:
        owner = self.owner()
        owner.setstate((3, self.words.unpack(arrays[0]), owner.gauss_next))


class NumpysStream(Stream):
    names, kinds, functions = ("np.random's state",), "AI1", _NUMPYS
    samples = (numpy.zeros(WORDS + 1, numpy.uint32),)

    def __init__(self) -> None:
        self.known: tuple[Any, Any] = None, None  # a generator, and its words

    def owner(self) -> Any:
        return numpy.random.mtrand._rand

    def state(self) -> Any:
        words = self.words()
        return words.tobytes() if words is not None else None

    def words(self) -> Any:
        """Where they lie in memory, and the position behind them."""
        generator = self.owner()._bit_generator
        if not _is_free(generator):
            return None
        known, words = self.known
        if known is not generator:
            words = _words_of(generator)
            self.known = generator, words
        return words

    def arrays(self, state: Any) -> Arrays:
        return (numpy.frombuffer(bytearray(state), numpy.uint32),)

    def put(self, arrays: Arrays) -> None:
        self.words()[:] = arrays[0]


class NormalsStream(NumpysStream):
    """Whether NumPy has made a normal number before its turn, and which."""

    names, kinds, functions = ("np.random's next normal number",), "Ad1", frozenset()
    samples = (numpy.zeros(2),)

    def state(self) -> Any:
        state = self.owner().get_state(legacy=False)
        return (state["has_gauss"], state["gauss"]) if "has_gauss" in state else None

    def arrays(self, state: Any) -> Arrays:
        return (numpy.array(state, float),)

    def put(self, arrays: Arrays) -> None:
        state = self.owner().get_state(legacy=False)
        state["has_gauss"], state["gauss"] = int(arrays[0][0]), float(arrays[0][1])
        self.owner().set_state(state)


def _is_free(generator: Any) -> bool:
    """Whether no other thread draws from it now."""
    is_free: bool = generator.lock.acquire(blocking=False)
    if is_free:
        generator.lock.release()
    return is_free


def _words_of(generator: Any) -> Any:
    """None: not those of a Mersenne Twister, where they are expected."""
    if type(generator) is not numpy.random.MT19937:
        return None
    import ctypes

    kind = ctypes.c_uint32 * (WORDS + 1)
    words = numpy.frombuffer(kind.from_address(generator.ctypes.state_address), numpy.uint32)
    state = generator.state["state"]
    is_it = numpy.array_equal(words[:WORDS], state["key"]) and words[WORDS] == state["pos"]
    return words if is_it else None


class Draws:
    """What one run of a nest draws."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        self.streams = streams
        self.states = [stream.state() for stream in streams]
        self.arrays: list[Arrays] = []

    def arguments(self) -> Arrays | None:
        """None: somebody else is drawing."""
        if None in self.states:
            return None
        self.arrays = [s.arrays(state) for s, state in zip(self.streams, self.states, strict=True)]
        return tuple(itertools.chain.from_iterable(self.arrays))

    def end(self) -> bool:
        """The generators go on where the nest has left off; False: somebody else has drawn."""
        if [stream.state() for stream in self.streams] != self.states:
            return False
        for stream, arrays in zip(self.streams, self.arrays, strict=True):
            stream.put(arrays)
        return True


NORMALS = NormalsStream()
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
