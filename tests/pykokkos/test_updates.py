"""test_updates.py: points that update shared elements: in parts, the same ones each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import frit
import frit.pykokkos as pk
from frit import _core

ROWS, COLUMNS, BINS = 3000, 40, 37
POINTS = ROWS * COLUMNS
ROW, COLUMN = numpy.meshgrid(numpy.arange(ROWS), numpy.arange(COLUMNS), indexing="ij")
PLACES = numpy.random.RandomState(3).randint(0, BINS, (ROWS, COLUMNS))

pytestmark = pytest.mark.usefixtures("tier")


@pytest.fixture(params=[1, 2, 5])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = _core.threads()
    frit.set_num_threads(request.param)
    yield request.param
    frit.set_num_threads(before)


def launches() -> int:
    frit.eval()
    s = _core.statistics()
    return s["interpreted_launches"] + s["compiled_launches"] + s["device_launches"]


def view(values: Any, dtype: Any = pk.int64) -> pk.View:
    made = pk.View(list(numpy.shape(values)), dtype)
    made[:] = numpy.asarray(values)
    return made


@pk.workunit
def look_up(i, places, found):
    found[i] = places[places[i]]


@pk.workunit
def look_up_row(i, places, found):
    found[i] = places[places[i, 0], 0]


def launched(policy: Any, kernel: Any, **arguments: Any) -> int:
    """How many launches became of it."""
    places = arguments["places"]
    # The range of the places is found once, by launches that are not to be counted.
    look = look_up if len(places.shape) == 1 else look_up_row
    pk.parallel_for(1, look, places=places, found=view([0]))
    before = launches()
    pk.parallel_for(policy, kernel, **arguments)
    return launches() - before


GRID = pk.MDRangePolicy([0, 0], [ROWS, COLUMNS])


@pk.workunit
def statistics(i, j, places, sums, least, largest, bits, count, own):
    pk.atomic_add(sums, [places[i, j], j % 4], i + 1)
    pk.atomic_fetch_min(least, [places[i, j]], i * 7 % 1000 - j)
    pk.atomic_fetch_max(largest, [places[i, j]], i * 13 % 1000 + j)
    pk.atomic_fetch_xor(bits, [places[i, j]], i * j)
    pk.atomic_increment(count, [1])
    own[i, j] = places[i, j] + 1


def test_updates_of_integers_run_in_parts(threads: int) -> None:
    places, own = view(PLACES), view(0 * PLACES)
    sums = view(numpy.full((BINS, 4), 5), pk.int32)
    least, largest, bits = (view(numpy.zeros(BINS)) for _ in range(3))
    count = view(numpy.zeros(3))
    arrays = {"sums": sums, "least": least, "largest": largest, "bits": bits, "count": count}
    # One for the parts, and one for each array that they update.
    assert launched(GRID, statistics, places=places, own=own, **arrays) == 6
    expected = numpy.full((BINS, 4), 5)
    numpy.add.at(expected, (PLACES, COLUMN % 4), ROW + 1)
    assert numpy.asarray(sums).tolist() == expected.tolist()
    for ufunc, found, values in (
        (numpy.minimum, least, ROW * 7 % 1000 - COLUMN),
        (numpy.maximum, largest, ROW * 13 % 1000 + COLUMN),
        (numpy.bitwise_xor, bits, ROW * COLUMN),
    ):
        expected = numpy.zeros(BINS, int)
        ufunc.at(expected, PLACES, values)
        assert numpy.asarray(found).tolist() == expected.tolist(), ufunc
    assert list(count) == [0, POINTS, 0]
    assert numpy.array_equal(numpy.asarray(own), PLACES + 1)


def test_parts_of_a_subview_leave_the_rest_alone(threads: int) -> None:
    @pk.workunit
    def take(i, places, sums):
        pk.atomic_fetch_sub(sums, [places[i]], i)

    places, whole = view(PLACES.ravel()), view(numpy.ones((3, BINS)))
    assert launched(POINTS, take, places=places, sums=whole[1]) == 2
    expected = numpy.ones((3, BINS), int)
    numpy.subtract.at(expected[1], PLACES.ravel(), numpy.arange(POINTS))
    assert numpy.asarray(whole).tolist() == expected.tolist()


def test_every_other_element_is_updated_in_order(threads: int) -> None:
    @pk.workunit
    def add(i, places, sums):
        pk.atomic_add(sums, [places[i]], i)

    places, whole = view(PLACES.ravel()), view(numpy.ones(2 * BINS))
    assert launched(POINTS, add, places=places, sums=whole[::2]) == 1
    expected = numpy.ones(2 * BINS, int)
    numpy.add.at(expected[::2], PLACES.ravel(), numpy.arange(POINTS))
    assert numpy.asarray(whole).tolist() == expected.tolist()


def test_values_from_before_are_those_of_the_points_in_order(threads: int) -> None:
    @pk.workunit
    def rank(i, places, count, out):
        out[i] = pk.atomic_fetch_add(count, [places[i]], 1)

    places, count, out = view(PLACES.ravel()), view(numpy.zeros(BINS)), view(numpy.zeros(POINTS))
    assert launched(POINTS, rank, places=places, count=count, out=out) == 1
    seen = [0] * BINS
    for place, before in zip(PLACES.ravel().tolist(), numpy.asarray(out).tolist(), strict=True):
        assert before == seen[place]
        seen[place] += 1
    assert list(count) == seen


def test_updates_of_two_kinds_stay_in_order(threads: int) -> None:
    @pk.workunit
    def both(i, places, sums):
        pk.atomic_add(sums, [places[i]], i)
        pk.atomic_fetch_mul(sums, [places[i]], 3)

    @pk.workunit
    def look(i, places, sums, out):
        pk.atomic_add(sums, [places[i]], 1)
        out[i] = sums[0]

    places, sums, out = view(PLACES.ravel()), view(numpy.zeros(BINS)), view(numpy.zeros(POINTS))
    assert launched(POINTS, both, places=places, sums=sums) == 1
    expected = [0] * BINS
    for i, place in enumerate(PLACES.ravel().tolist()):
        expected[place] = (expected[place] + i) * 3 % 2**64
    assert [int(x) % 2**64 for x in sums] == expected
    sums.fill(0)
    assert launched(POINTS, look, places=places, sums=sums, out=out) == 1
    assert numpy.array_equal(numpy.asarray(out), numpy.cumsum(PLACES.ravel() == 0))


def test_an_update_that_another_view_sees_stays_in_order(threads: int) -> None:
    @pk.workunit
    def follow(i, places, sums, other, out):
        sums[places[i]] += 1
        out[i] = other[0]

    places, whole, out = view(PLACES.ravel()), view(numpy.zeros(BINS)), view(numpy.zeros(POINTS))
    arrays = {"sums": whole[0:30], "other": whole[5:], "out": out}
    places[:] = PLACES.ravel() % 30
    assert launched(POINTS, follow, places=places, **arrays) == 1
    assert numpy.array_equal(numpy.asarray(out), numpy.cumsum(PLACES.ravel() % 30 == 5))


@pk.workunit
def deposit(i, places, sums, x):
    pk.atomic_add(sums, [places[i]], x[i])


def sums_of_floats(values: Any, dtype: Any, before: Any) -> bytes:
    places, sums, x = view(PLACES.ravel()), view(before, dtype), view(values, dtype)
    assert launched(POINTS, deposit, places=places, sums=sums, x=x) == 2
    return numpy.asarray(sums).tobytes()


@pytest.mark.parametrize("dtype", [pk.double, pk.float])
def test_sums_of_floats_have_the_same_bits_with_any_number_of_threads(
    tier: str, dtype: Any
) -> None:
    values = numpy.random.RandomState(4).random(POINTS) - 0.3
    before = _core.threads()
    found = set()
    for threads in (1, 2, 3, 7):
        for fusion in ("on", "trace", "off"):
            frit.set_num_threads(threads)
            _core.set_fusion(fusion)
            try:
                found.add(sums_of_floats(values, dtype, numpy.ones(BINS)))
            finally:
                _core.set_fusion("on")
                frit.set_num_threads(before)
    assert len(found) == 1
    item = numpy.float64 if dtype is pk.double else numpy.float32
    expected = numpy.ones(BINS)
    numpy.add.at(expected, PLACES.ravel(), values.astype(item).astype(float))
    sums = numpy.frombuffer(found.pop(), item)
    # The error of a sum in any order: points of a bin times the unit of rounding times magnitudes.
    bound = numpy.bincount(PLACES.ravel()) ** 2 * numpy.finfo(item).eps
    assert (numpy.abs(sums - expected) <= bound).all()


def test_explain_says_in_how_many_parts(threads: int) -> None:
    places, sums, x = view(PLACES.ravel()), pk.View([BINS]), view(numpy.ones(POINTS), pk.double)
    pk.parallel_for(POINTS, deposit, places=places, sums=sums, x=x)
    frit.eval()
    assert "in 64 parts with arrays of their own" in str(frit.explain())
    pk.parallel_for(100, deposit, places=places, sums=sums, x=x)
    frit.eval()
    assert "point after point, on one thread" in str(frit.explain())


def test_both_tiers_give_the_same_sums_of_floats(tier: str) -> None:
    values = numpy.random.RandomState(4).random(POINTS)
    found = sums_of_floats(values, pk.double, numpy.zeros(BINS))
    _core.set_tier("interpreter" if tier == "compiled" else "compiled")
    assert found == sums_of_floats(values, pk.double, numpy.zeros(BINS))


def test_floats_that_no_point_touches_keep_their_bits(threads: int) -> None:
    special = numpy.array([-0.0, 0.0, numpy.nan, numpy.inf, -numpy.inf, 5e-324])

    @pk.workunit
    def update(i, places, sums, products, least, largest):
        pk.atomic_fetch_sub(sums, [6 + places[i]], 1.0)
        pk.atomic_fetch_mul(products, [6 + places[i]], 1.0)
        pk.atomic_fetch_min(least, [6 + places[i]], -1.0 * i)
        pk.atomic_fetch_max(largest, [6 + places[i]], 1.0 * i)

    start = numpy.concatenate([special, numpy.full(BINS, 2.0)])
    arrays = {name: view(start, pk.double) for name in ("sums", "products", "least", "largest")}
    assert launched(POINTS, update, places=view(PLACES.ravel()), **arrays) == 5
    found = {name: numpy.asarray(array) for name, array in arrays.items()}
    for name, array in found.items():
        assert array[:6].tobytes() == special.tobytes(), name
    points = numpy.arange(POINTS)
    last = [points[PLACES.ravel() == place].max() for place in range(BINS)]
    assert found["sums"][6:].tolist() == (2 - numpy.bincount(PLACES.ravel())).tolist()
    assert found["products"][6:].tolist() == [2.0] * BINS
    assert found["least"][6:].tolist() == [min(2, -k) for k in last]
    assert found["largest"][6:].tolist() == [max(2, k) for k in last]


def test_extremes_of_floats_are_those_of_the_points_in_order(threads: int) -> None:
    @pk.workunit
    def extremes(i, places, least, largest, x):
        pk.atomic_fetch_min(least, [places[i]], x[i])
        pk.atomic_fetch_max(largest, [places[i]], x[i])

    values = numpy.random.RandomState(5).choice([-0.0, 0.0, numpy.nan, 1.0, -1.0], POINTS)
    values[PLACES.ravel() < 9] *= 0  # zeros of both signs, and NaN
    start = numpy.where(numpy.arange(BINS) % 4 == 0, numpy.nan, 0.5)
    places, x = view(PLACES.ravel()), view(values, pk.double)
    least, largest = view(start, pk.double), view(start, pk.double)
    arrays = {"least": least, "largest": largest, "x": x}
    assert launched(POINTS, extremes, places=places, **arrays) == 3
    low, high = start.tolist(), start.tolist()
    for place, value in zip(PLACES.ravel().tolist(), values.tolist(), strict=True):
        low[place] = min(low[place], value)
        high[place] = max(high[place], value)
    assert numpy.asarray(least).tobytes() == numpy.array(low).tobytes()
    assert numpy.asarray(largest).tobytes() == numpy.array(high).tobytes()


def test_forces_on_both_of_a_pair_run_in_parts(threads: int) -> None:
    atoms, near = 500, 12

    @pk.workunit
    def force(i, places, forces, x):
        for k in range(1, near):
            j: int = places[(i * near + k) % POINTS]
            d: float = x[j] - x[i % atoms]
            pk.atomic_add(forces, [i % atoms], d)
            pk.atomic_fetch_sub(forces, [j], d)

    neighbours = numpy.random.RandomState(6).randint(0, atoms, POINTS)
    x = numpy.random.RandomState(7).randint(-9, 9, atoms).astype(float)
    arrays = {"places": view(neighbours), "forces": pk.View([atoms]), "x": view(x, pk.double)}
    pk.parallel_for(20000, force, **arrays)  # its indices have been looked at now
    arrays["forces"].fill(0)
    assert launched(20000, force, **arrays) == 2
    expected, i = numpy.zeros(atoms), numpy.arange(20000)
    for k in range(1, near):
        j = neighbours[(i * near + k) % POINTS]
        numpy.add.at(expected, i % atoms, x[j] - x[i % atoms])
        numpy.subtract.at(expected, j, x[j] - x[i % atoms])
    assert numpy.asarray(arrays["forces"]).tolist() == expected.tolist()


def test_few_points_and_many_elements_stay_in_order(threads: int) -> None:
    @pk.workunit
    def add(i, places, sums):
        pk.atomic_add(sums, [places[i] * 1000], 1)

    places, sums = view(PLACES.ravel()), view(numpy.zeros(1000 * BINS))
    assert launched(POINTS, add, places=places, sums=sums) == 1
    assert launched(100, add, places=places, sums=sums) == 1
    expected = numpy.zeros(1000 * BINS, int)
    numpy.add.at(expected, PLACES.ravel() * 1000, 1)
    numpy.add.at(expected, PLACES.ravel()[:100] * 1000, 1)
    assert numpy.array_equal(numpy.asarray(sums), expected)


def test_unsigned_products_wrap_in_parts_as_in_order(threads: int) -> None:
    @pk.workunit
    def multiply(i, places, products):
        pk.atomic_fetch_mul(products, [places[i]], 2 * i + 1)

    places, products = view(PLACES.ravel()), view(numpy.ones(BINS), pk.uint64)
    pk.parallel_for(POINTS, multiply, places=places, products=products)
    expected = [1] * BINS
    for i, place in enumerate(PLACES.ravel().tolist()):
        expected[place] = expected[place] * (2 * i + 1) % 2**64
    assert [int(x) for x in products] == expected
