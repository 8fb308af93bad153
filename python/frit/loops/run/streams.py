"""streams.py: the streams of random numbers that a nest draws from, as arrays that it changes.

Python's `random` and NumPy's `np.random` are Mersenne Twisters: 624 words, and how many of them are
drawn. `np.random.default_rng()` is a PCG64: numbers of 128 bits. A nest works on a copy. When it
has ended the generator gets what is left of it, unless somebody else has drawn meanwhile: another
thread, or a signal's handler.
"""

from __future__ import annotations

import contextlib
import itertools
import struct
import sys
from _thread import RLock
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from frit.loops.run.generators import PCGS, PYTHONS, TWISTERS, is_generator

Arrays = tuple[numpy.ndarray[Any, Any], ...]
WORDS = 624
_BY_PYTHON, _BY_C = "uniform randint randrange choice _randbelow".split(), ("random", "getrandbits")


class Stream:
    """Of an object, whose methods draw from it."""

    functions: frozenset[str]
    kinds: str  # of the arrays that a nest gets, as loop_key has them
    samples: Arrays  # like these

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.name = f"{type(self).__name__} {id(owner)}"

    def source(self) -> Any:
        """The object that has the state. Another stream's may be the same."""
        return self.owner

    def lock(self) -> Any:
        """What other threads hold while they draw; None: the interpreter's own alone."""
        return None

    def state(self) -> Any:
        """What can be compared; None: of another generator."""
        raise NotImplementedError

    def arrays(self, state: Any) -> Arrays:
        """Copies."""
        raise NotImplementedError

    def put(self, arrays: Arrays) -> None:
        """Goes on where a nest has left off."""
        raise NotImplementedError


class PythonsStream(Stream):
    functions, kinds = PYTHONS, "AI1"
    samples = (numpy.zeros(WORDS + 1, numpy.uint32),)
    words = struct.Struct(f"{WORDS + 1}I")

    def state(self) -> Any:
        if not _draws_as_pythons(self.owner):
            return None
        state = self.owner.getstate()
        return state if state[0] == 3 and len(state[1]) == WORDS + 1 else None

    def arrays(self, state: Any) -> Arrays:
        return (numpy.frombuffer(bytearray(self.words.pack(*state[1])), numpy.uint32),)

    def put(self, arrays: Arrays) -> None:
        self.owner.setstate((3, self.words.unpack(arrays[0]), self.owner.gauss_next))


class TwisterStream(Stream):
    """NumPy's RandomState."""

    functions, kinds = TWISTERS, "AI1"
    samples = (numpy.zeros(WORDS + 1, numpy.uint32),)

    def __init__(self, owner: Any) -> None:
        super().__init__(owner)
        self.known: tuple[Any, Any] = None, None  # a generator, and its words

    def source(self) -> Any:
        return self.owner._bit_generator

    def lock(self) -> Any:
        return self.owner._bit_generator.lock

    def state(self) -> Any:
        words = self.words()
        return words.tobytes() if words is not None else None

    def words(self) -> Any:
        """Where they lie in memory, and the position behind them."""
        generator = self.owner._bit_generator
        known, words = self.known
        if known is not generator:
            words = _words_of(generator)
            self.known = generator, words
        return words

    def arrays(self, state: Any) -> Arrays:
        return (numpy.frombuffer(bytearray(state), numpy.uint32),)

    def put(self, arrays: Arrays) -> None:
        self.words()[:] = arrays[0]


class NormalsStream(Stream):
    """Whether a RandomState has made a normal number before its turn, and which."""

    functions, kinds = frozenset[str](), "Ad1"
    samples = (numpy.zeros(2),)

    def state(self) -> Any:
        state = self.owner.get_state(legacy=False)
        return (state["has_gauss"], state["gauss"]) if "has_gauss" in state else None

    def arrays(self, state: Any) -> Arrays:
        return (numpy.array(state, float),)

    def put(self, arrays: Arrays) -> None:
        state = self.owner.get_state(legacy=False)
        state["has_gauss"], state["gauss"] = int(arrays[0][0]), float(arrays[0][1])
        self.owner.set_state(state)


class PcgStream(Stream):
    """NumPy's Generator: the state and what is added to it, high words first; whether there is half
    of a word left, and which."""

    functions, kinds = PCGS, "AL1"
    samples = (numpy.zeros(6, numpy.uint64),)

    def source(self) -> Any:
        return self.owner.bit_generator

    def lock(self) -> Any:
        return self.owner.bit_generator.lock

    def state(self) -> Any:
        generator = self.owner.bit_generator
        if type(generator) is not numpy.random.PCG64:
            return None
        state = generator.state
        both = state["state"]
        return both["state"], both["inc"], state["has_uint32"], state["uinteger"]

    def arrays(self, state: Any) -> Arrays:
        number, more, *half = state
        words = [*divmod(number, 2**64), *divmod(more, 2**64), *half]
        return (numpy.array(words, numpy.uint64),)

    def put(self, arrays: Arrays) -> None:
        high, low, more_high, more_low, *half = arrays[0].tolist()
        generator = self.owner.bit_generator
        generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": high << 64 | low, "inc": more_high << 64 | more_low},
            "has_uint32": half[0],
            "uinteger": half[1],
        }


def _draws_as_pythons(owner: Any) -> bool:
    """Whether the program has put nothing in the place of what a random.Random is made of."""
    kind = type(owner)
    replaced = vars(kind).keys() & _BY_C or vars(owner).keys() & {*_BY_PYTHON, *_BY_C}
    space = vars(sys.modules[kind.__module__])
    functions = [getattr(kind, name) for name in _BY_PYTHON]
    return not replaced and all(getattr(f, "__globals__", None) is space for f in functions)


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
        self.states: list[Any] = []
        self.arrays: list[Arrays] = []

    def arguments(self) -> Arrays | None:
        """None: somebody else is drawing, or two of the streams are one."""
        sources = {id(stream.source()) for stream in self.streams}
        with self.held() as is_held:
            if not is_held or len(sources) < len(self.streams):
                return None
            self.states = [stream.state() for stream in self.streams]
        if None in self.states:
            return None
        self.arrays = [s.arrays(state) for s, state in zip(self.streams, self.states, strict=True)]
        return tuple(itertools.chain.from_iterable(self.arrays))

    def end(self) -> bool:
        """The generators go on where the nest has left off; False: somebody else has drawn."""
        with self.held() as is_held:
            if not is_held or [stream.state() for stream in self.streams] != self.states:
                return False
            for stream, arrays in zip(self.streams, self.arrays, strict=True):
                stream.put(arrays)
        return True

    @contextlib.contextmanager
    def held(self) -> Iterator[bool]:
        """No other thread draws from them within this block; False: one does, and nobody waits."""
        with contextlib.ExitStack() as stack:
            for lock in filter(None, (stream.lock() for stream in self.streams)):
                if not lock.acquire(blocking=False):
                    yield False
                    return
                if isinstance(lock, RLock):
                    stack.callback(lock.release)
                else:  # a signal's handler that draws would wait for itself: it is only looked at
                    lock.release()
            yield True


class StreamNeeded(Exception):
    """A translation must begin anew, with this stream's arrays."""

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self.stream = stream


def stream_of(function: Any) -> tuple[Stream, str] | None:
    """What a call of it draws from, and which function it is; None: something else."""
    owner = _numpys_own(getattr(function, "__self__", None))
    name = getattr(function, "__name__", "")
    kind = _kind_of(owner) if is_generator(owner) else None
    return (kind(owner), name) if kind is not None and name in kind.functions else None


def _numpys_own(owner: Any) -> Any:
    """What one of Frit's generators stands for."""
    ours = sys.modules.get("frit.numpy.random")
    if ours is not None and any(type(owner) is kind for kind in (ours.Generator, ours.RandomState)):
        return owner._numpy
    return owner


def _kind_of(owner: Any) -> type[Stream] | None:
    if type(owner) is numpy.random.RandomState:
        return TwisterStream
    if type(owner) is numpy.random.Generator:
        return PcgStream
    module = sys.modules.get("random")
    return PythonsStream if module is not None and type(owner) is module.Random else None
