"""conftest.py: what all tests share: comparison bit for bit, both tiers, processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy
import pytest


def pytest_configure(config: pytest.Config) -> None:
    # Tests neither read nor fill the user's cache of compiled kernels.
    os.environ.setdefault(
        "FRIT_CACHE_DIR", str(Path(config.rootpath) / ".pytest_cache" / "kernels")
    )


@pytest.fixture(params=["eager", "interpreter", "compiled"])
def tier(request: pytest.FixtureRequest) -> Any:
    """Runs the test once with each tier: `compiled` waits for the compiler before each launch."""
    from frit import _core

    _core.set_tier(request.param)
    yield request.param
    _core.set_tier("automatic")


@pytest.fixture(scope="session", autouse=True)
def each_kernel_compiles() -> Any:
    """One that does not would stay interpreted: right, but slow."""
    yield
    if "frit._core" in sys.modules:
        statistics = sys.modules["frit._core"].statistics()
        assert not statistics["kernels_failed"], statistics["compile_failure"]


# What `make nightly` sets: all tests with small arrays recorded as large ones are.
RECORDED = os.environ.get("FRIT_TEST_RECORDED", "") not in ("", "0")


# All tests with kernels on a device: FRIT_DEVICE=emulated, or cuda with FRIT_DEVICE_COST=0.
ON_DEVICE = os.environ.get("FRIT_DEVICE", "cpu") != "cpu"


@pytest.fixture(autouse=RECORDED)
def recorded() -> Any:
    """Small arrays are recorded as large ones are."""
    from frit import _core

    before = _core.set_immediate_bytes(0)
    yield
    _core.set_immediate_bytes(before)


def assert_same(got: Any, expected: Any, what: str = "") -> None:
    """Type, dtype, shape and bits (NaN equals NaN) of a value and NumPy's."""
    if isinstance(expected, (tuple, list)):
        assert type(got) is type(expected) and len(got) == len(expected), what
        for k, (a, b) in enumerate(zip(got, expected, strict=True)):
            assert_same(a, b, f"{what}[{k}]")
        return
    if not isinstance(expected, (numpy.ndarray, numpy.generic)):
        assert type(got) is type(expected) and (got == expected or got != got), (
            f"{what}: {got!r} for {expected!r}"
        )
        return
    real = numpy.asarray(got)
    assert got.dtype == expected.dtype and got.shape == expected.shape, what
    assert isinstance(expected, numpy.ndarray) == isinstance(
        got, __import__("frit.numpy").numpy.ndarray
    ), what
    if real.dtype.kind in "fc":
        both_nan = (real != real) & (expected != expected)
        parts = (
            [(real, expected)]
            if real.dtype.kind == "f"
            else [(real.real, expected.real), (real.imag, expected.imag)]
        )
        signs = numpy.logical_and.reduce([numpy.signbit(a) == numpy.signbit(b) for a, b in parts])
        equal = both_nan | ((real == expected) & signs)
    else:
        equal = numpy.asarray(real == expected)
    wrong = numpy.flatnonzero(~equal.reshape(-1))
    assert wrong.size == 0, (
        f"{what}: {wrong.size} of {equal.size} elements differ, the first at {wrong[0]}: "
        f"{real.reshape(-1)[wrong[0]]!r} for {expected.reshape(-1)[wrong[0]]!r}"
    )


@pytest.fixture
def same() -> Any:
    return assert_same


@pytest.fixture
def process(tmp_path: Path) -> Any:
    """Runs a program's text in a fresh Python: process("print(1)", FRIT_TIER="compiled")."""

    def run(
        program: str, *words: str, timeout: float = 300, check: bool = True, **settings: str
    ) -> Any:
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(program))
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", str(path), *words],
            cwd=tmp_path,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        if check and done.returncode:
            raise AssertionError(
                f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
            )
        return done

    return run


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the open defects of known_failures.txt, so that a new failure stands out."""
    lines = (Path(__file__).parent / "known_failures.txt").read_text().splitlines()
    known = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    exact = {line.lstrip("!") for line in known if not line.endswith("*")}
    prefixes = tuple(line[:-1] for line in known if line.endswith("*"))
    for item in items:
        if RECORDED and item.get_closest_marker("at_once"):
            item.add_marker(pytest.mark.skip(reason="is about what is computed at once"))
        if ON_DEVICE and item.get_closest_marker("on_host"):
            item.add_marker(pytest.mark.skip(reason="is about how the CPU does it"))
        if item.nodeid in exact or item.nodeid.startswith(prefixes):
            runs = "!" + item.nodeid not in known
            item.add_marker(
                pytest.mark.xfail(strict=False, run=runs, reason="in known_failures.txt")
            )
