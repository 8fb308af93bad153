"""conftest.py: nothing recorded goes from one test to the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import frit
from frit import _core


@pytest.fixture(autouse=True)
def settled() -> Iterator[None]:
    yield
    frit.eval()
    _core.set_tier("automatic")


@pytest.fixture(params=["interpreter", "compiled"])
def tier(request: pytest.FixtureRequest) -> str:
    _core.set_tier(request.param)
    return request.param
