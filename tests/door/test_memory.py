"""test_memory.py: memory of others is held only as long as it is used."""

# ruff: noqa: E501

from __future__ import annotations

import weakref

import numpy
import pytest

import frit
import frit.numpy as np


@pytest.mark.parametrize(
    "expression",
    [
        "x + a", "a * x", "np.add(x, a, out=x)", "x.__setitem__(slice(None), a)", "x[a]", "x[a > 2]",
        "x.__setitem__(a, 1.0)", "np.where(a > 2, x, a)", "np.add(x, 1, out=x, where=a > 2)",
        "x.sum(where=a > 1)", "np.concatenate([x, a])", "x @ a", "np.add.at(x, a, 1.0)", "np.sort(a)",
        "np.interp(x, a, a)", "np.maximum(a[::2], x[::2])", "np.asarray(a).sum()", "np.multiply.outer(a[:9], x)",
    ],
)  # fmt: skip
def test_ndarrays_are_let_go_behind_their_use(expression):
    x = np.zeros(20_000)
    held = []
    for k in range(20):
        a = numpy.arange(20_000) % (k + 2)
        held.append(weakref.ref(a))
        eval(expression, {"np": np, "x": x, "a": a})
    del a
    frit.eval()
    # The last one may be held until something else is looked at.
    assert sum(ref() is not None for ref in held) <= 1
