"""conftest.py: what the fuzzers of lazily run programs share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from frit import _core


@pytest.fixture(params=["eager", "interpreter", "compiled"])
def lazy_tier(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each tier, with arrays of all sizes recorded and, where large ones are, not stored."""
    before = _core.set_immediate_bytes(0), _core.set_unread_bytes(1), _core.set_postponed_bytes(1)
    _core.set_tier(request.param)
    _core.let_float_errors_come_late()
    yield
    _core.forget_float_state()
    _core.set_tier("automatic")
    _core.set_immediate_bytes(before[0])
    _core.set_unread_bytes(before[1])
    _core.set_postponed_bytes(before[2])


@pytest.fixture
def outcome() -> Callable[..., str]:
    """outcome(text, module, **names): what a program with that `np` leaves in its list `seen`."""

    def outcome(text: str, module: object, **names: object) -> str:
        space: dict[str, Any] = {"np": module, **names}
        try:
            exec(text, space)
        except Exception as error:
            return f"{type(error).__name__}: {error} {space['seen']}"
        return repr(space["seen"])  # a float's has all of its digits

    return outcome
