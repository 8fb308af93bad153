"""conftest.py: the devices that tests can have, one after another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import frit


@pytest.fixture(params=["emulated", "cuda"])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs the test with all kernels on the device, as far as there is one."""
    from frit import _core

    before, tier = frit.get_device(), _core.tier()
    try:
        frit.set_device(request.param)
    except RuntimeError as error:
        pytest.skip(str(error))
    cost = _core.set_device_cost(0)
    _core.set_tier("compiled")  # waits for the device's code, too
    yield request.param
    _core.set_tier(tier)
    _core.set_device_cost(cost)
    frit.set_device(before)
