"""_touch.py: runs each stage of the engine once, at import.

The first run of a stage takes some fifty microseconds for pages of code, tables and linkage, which
would be those of the program's first operation. They are a twentieth of what the import takes.
"""

from __future__ import annotations

import os
from typing import Any

import numpy

from frit import _core


def _steps(np: Any) -> None:
    x = np.array([1.0, 2.0])
    y = 3.0 * x + x * x - x / 2.0
    y[1:] += 1.0
    total = y.sum() + y.max()
    y = np.where(y > 1.0, np.exp(y), y)
    float(total)
    points = np.ones((200, 3))  # rows too short for a loop each are packed
    squares = ((points[:, None, :] - points[:8]) ** 2).sum(axis=2)
    squares /= squares.max(axis=1, keepdims=True) + 1.0
    squares[squares > 1.0] = 0.0
    y = squares.argmin(axis=1).astype(np.float32)
    numpy.asarray(y)


def _calls(np: Any) -> None:
    x, places = np.array([1.0, 2.0]), np.array([0, 1])
    x.dot(x)  # finds the BLAS
    x[places] = numpy.float64(2.0) * x[places]
    x[x == 2.0] = 1.0
    x[x > 1.0]  # noqa: B018
    points = np.zeros((3, 3)) + np.arange(3.0)
    points.T.copy(), x.reshape(2, 1), x[:1].base  # noqa: B018


def _fall_back(np: Any) -> None:
    def halves(x: Any) -> tuple[Any, Any]:
        return x[:1], x[1:].copy()

    _core.call_numpy("touch", halves, np.ones(2))
    _core.reset_fallbacks()


def touch(np: Any) -> None:
    """np: frit.numpy. Leaves nothing behind: no plan, no memory, no count."""
    if os.environ.get("FRIT_DUMP"):  # which would show these plans
        return
    tier, immediate_bytes = _core.tier(), _core.set_immediate_bytes(0)
    try:
        for stage, at_once in (("eager", immediate_bytes), ("eager", 0), ("interpreter", 0)):
            _core.set_tier(stage)
            _core.set_immediate_bytes(at_once)
            _steps(np)
    finally:
        _core.set_tier(tier)
        _core.set_immediate_bytes(immediate_bytes)
    _calls(np)
    if os.environ.get("FRIT_FALLBACK", "silent") == "silent":
        _fall_back(np)
    _core.flush_caches()
    _core.reset_statistics()
