"""test_first_call.py: what makes a first call short: records, and reading only the function."""

from __future__ import annotations

import pytest

from frit.translate import source
from frit.translate.record import field, record, replace

from .kernels import KERNELS


@record(frozen=True)
class Point:
    x: int
    y: int = 2


@record
class Basket:
    owner: str
    things: list[int] = field(default_factory=list)


def test_records_are_compared_by_their_values():
    assert Point(1) == Point(1, 2) == Point(y=2, x=1)
    assert Point(1) != Point(2)
    assert Point(1) != (1, 2)
    assert len({Point(1), Point(1, 2), Point(3)}) == 2
    assert repr(Point(1)) == "Point(x=1, y=2)"
    with pytest.raises(TypeError):
        hash(Basket("a"))


def test_records_share_no_defaults():
    one, other = Basket("a"), Basket("b")
    one.things.append(1)
    assert other.things == []
    assert replace(one, owner="c") == Basket("c", [1])


@pytest.mark.parametrize("arguments", [(), (1, 2, 3)])
def test_records_need_their_values_and_no_others(arguments):
    with pytest.raises(TypeError, match="Point"):
        Point(*arguments)
    with pytest.raises(TypeError, match="Point"):
        Point(1, z=3)


@pytest.mark.parametrize("name", KERNELS)
def test_a_function_is_found_without_reading_its_file(monkeypatch, name):
    def read(*_):
        raise AssertionError("the whole file is read")

    monkeypatch.setattr(source._File, "read", read)
    monkeypatch.setattr(source._file, "text", "")
    assert source.source_of(KERNELS[name]).node.name == name
