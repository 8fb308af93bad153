"""_random.py: pools of random numbers, and pk.rand in kernels.

A launch takes one number from its pool; with the index of the point it seeds a xorshift64* of the
point's own. So results do not depend on threads, tiers or fusion, and pools of one seed repeat.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy

from frit.pykokkos import _intrinsics
from frit.translate.environment import KEYWORD, SELF
from frit.translate.values import Number, Place

_STEP = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio
_MASK = (1 << 64) - 1


def _mixed(x: int) -> int:
    """splitmix64's last step: all bits depend on all bits."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _MASK
    return x ^ (x >> 31)


class RandomPool:
    """Random numbers for kernels: pass it to a launch, or keep it as an attribute of self."""

    def __init__(self, seed: int, num_states: int = 0) -> None:
        self.seed = int(seed)
        self.num_states = int(num_states)
        self._launches = 0

    @property
    def _launch_seed(self) -> numpy.uint64:
        """Another number at each launch, which reads it as one of its arguments."""
        self._launches += 1
        return numpy.uint64(
            _mixed((self.seed * 0xD1342543DE82EF95 + self._launches * _STEP) & _MASK)
        )


class Random_XorShift64_Pool(RandomPool):
    """RandomPool by its Kokkos name."""


class Random_XorShift1024_Pool(RandomPool):
    """RandomPool by its Kokkos name."""


_generator = numpy.random.Generator(numpy.random.PCG64(0))
# By type character: how many of the 64 bits are kept.
_BITS = {"b": 7, "B": 8, "h": 15, "H": 16, "i": 31, "I": 32, "l": 63, "L": 64, "f": 24, "d": 53}


def rand(dtype: Any) -> Any:
    """A number of this type: floats from [0, 1), integers of all that are not negative."""
    from frit.pykokkos import _types

    kind = _types.numpy_type(dtype)
    if kind.kind == "f":
        return kind.type(_generator.random(dtype=kind))
    return _generator.integers(0, numpy.iinfo(kind).max, dtype=kind, endpoint=True)


# ---- in kernels ---------------------------------------------------------------------------------


class _Words:
    """Arithmetic on 64-bit words of a kernel."""

    def __init__(self, walker: Any) -> None:
        self.walker = walker

    def word(self, x: int) -> Number:
        return self.walker.constant(x, "L")

    def op(self, name: str, x: Number, y: Number | int) -> Number:
        return self.walker.apply(name, x, self.word(y) if isinstance(y, int) else y)

    def shifted(self, x: Number, name: str, bits: int) -> Number:
        """x ^ (x >> bits), or << ."""
        return self.op("BitwiseXor", x, self.op(name, x, bits))

    def mixed(self, x: Number) -> Number:
        x = self.op("Multiply", self.shifted(x, "RightShift", 30), 0xBF58476D1CE4E5B9)
        x = self.op("Multiply", self.shifted(x, "RightShift", 27), 0x94D049BB133111EB)
        return self.shifted(x, "RightShift", 31)


def _pool(environment: Any, names: list[str]) -> tuple[tuple[Any, ...], RandomPool] | None:
    """The pool among the keyword arguments and the attributes of self; None: not exactly one."""
    found = [
        ((KEYWORD, row[1]), value)
        for row, value in zip(environment.rows, environment.values, strict=False)
        if isinstance(value, RandomPool) and row[0] == KEYWORD and row[1] in names and len(row) == 2
    ]
    if environment.owner is not None:
        found += [
            ((SELF, "self", name), value)
            for name, value in vars(environment.owner).items()
            if isinstance(value, RandomPool)
        ]
    return found[0] if len(found) == 1 else None


def has_pool(environment: Any, names: list[str]) -> bool:
    return _pool(environment, names) is not None


def begin(walker: Any, names: list[str], indices: list[Number]) -> None:
    """Seeds the state of the point with these indices, where the launch has a pool."""
    found = _pool(walker.environment, names)
    walker.random_state = None
    if found is None:
        return
    root, pool = found
    words = _Words(walker)
    slot = walker.environment.slot((*root, "_launch_seed"), pool._launch_seed)
    state = walker.environment.argument(walker, slot, "L")
    for index in indices:
        place = words.op("Multiply", walker.convert(index, "L"), _STEP)
        state = words.mixed(words.op("Add", words.op("Add", state, place), _STEP))
    if not indices:
        state = words.mixed(state)
    walker.random_state = Place(walker.writer.local("L"), "L")
    walker.write(walker.random_state, words.op("BitwiseOr", state, 1))


@_intrinsics.intrinsic(rand)
def _rand(walker: Any, node: ast.Call) -> Number:
    if walker.random_state is None:
        raise walker.refuse(
            node,
            "rand() without a pool, or with several",
            "give the launch one pk.Random_XorShift64_Pool, or set it as an attribute of self",
        )
    if len(node.args) != 1 or node.keywords:
        raise walker.refuse(node, f"rand() with {len(node.args)} arguments", "give it a type")
    dtype = walker.annotated_type(node.args[0])
    if dtype not in _BITS:
        raise walker.refuse(node, "rand() of this type", "use pk.double, pk.int32 or another")
    words = _Words(walker)
    x = walker.read(walker.random_state)
    x = words.shifted(x, "RightShift", 12)
    x = words.shifted(x, "LeftShift", 25)
    x = words.shifted(x, "RightShift", 27)
    walker.write(walker.random_state, x)
    x = words.op("Multiply", x, 0x2545F4914F6CDD1D)
    bits = _BITS[dtype]
    if bits < 64:
        x = words.op("RightShift", x, 64 - bits)
    if dtype not in "fd":
        return walker.convert(x, dtype)
    whole = walker.convert(walker.convert(x, "l"), dtype)
    return walker.apply("Multiply", whole, walker.constant(0.5**bits, dtype))
