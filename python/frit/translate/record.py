"""record.py: dataclasses whose methods are shared, for what a first call of a kernel or loop loads.

A dataclass writes and compiles methods of its own, which takes a third of a millisecond a class; a
translation makes a few hundred records, so that shared methods cost nothing. To a type checker
these are dataclasses.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from dataclasses import astuple as values_of
    from dataclasses import dataclass as record
    from dataclasses import field, replace
    from typing import Any
else:

    class _Field:
        def __init__(self, default_factory):
            self.make = default_factory

    def field(*, default_factory):
        return _Field(default_factory)

    def replace(one, **changes):
        """A copy with other values."""
        return type(one)(**{**vars(one), **changes})

    def record(cls=None, *, frozen=False, eq=True):
        """frozen: may be a key; nothing but a type checker keeps others from changing it."""
        if cls is None:
            return lambda cls: record(cls, frozen=frozen, eq=eq)
        own = {name: cls.__dict__.get(name, _missing) for name in cls.__annotations__}
        cls._names = tuple(own)
        cls._made = {n: f.make for n, f in own.items() if isinstance(f, _Field)}
        cls._given = {n: v for n, v in own.items() if v is not _missing and n not in cls._made}
        cls.__init__ = _init
        cls.__repr__ = _repr
        if eq:
            cls.__eq__ = _eq
            cls.__hash__ = _hash if frozen else None
        return cls

    _missing = object()

    def _init(self, *values, **named):
        cls, own = type(self), self.__dict__
        own |= cls._given
        own.update(zip(cls._names, values, strict=False))
        own |= named
        for name, make in cls._made.items():
            if name not in own:
                own[name] = make()
        if len(own) != len(cls._names) or len(values) > len(cls._names):
            raise TypeError(f"{cls.__name__}: has {cls._names}, got {values} and {named}")

    def _repr(self):
        parts = [f"{name}={getattr(self, name)!r}" for name in self._names]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _eq(self, other: Any) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return values_of(self) == values_of(other)

    def _hash(self):
        return hash(values_of(self))

    def values_of(one):
        """In the order of its fields."""
        own = one.__dict__
        return tuple([own[name] for name in one._names])


__all__ = ["field", "record", "replace", "values_of"]
