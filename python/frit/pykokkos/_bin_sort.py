"""_bin_sort.py: BinSort: sorts by bins of equal width: kernels count and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from frit import _core
from frit import numpy as lazy
from frit.pykokkos import _types
from frit.pykokkos._views import View, ViewType, bare, wrap


class BinOp:
    """Which bin a key is in."""

    keys: ViewType
    max_bins: int | list[int]

    def bins(self, keys: Any) -> Any:
        """The number of each key's bin, int32."""
        raise NotImplementedError

    def count(self) -> int:
        """How many bins there are."""
        raise NotImplementedError


def _scale(bins: int, least: float, largest: float) -> float:
    if not largest > least:
        raise ValueError(f"BinOp: the largest value {largest} is not above the least {least}")
    if bins < 1:
        raise ValueError(f"BinOp: {bins} bins")
    return bins / (float(largest) - float(least))


class BinOp1D(BinOp):
    """max_bins bins from min_value to max_value, and one for max_value itself."""

    def __init__(self, keys: Any, max_bins: int, min_value: float, max_value: float) -> None:
        if len(keys.shape) != 1:
            raise ValueError(f"BinOp1D: keys of shape {keys.shape}")
        self.keys = keys
        self.max_bins = int(max_bins)
        self.min_value, self.max_value = min_value, max_value
        self._scale = _scale(self.max_bins, min_value, max_value)

    def bins(self, keys: Any) -> Any:
        return ((keys - self.min_value) * self._scale).astype(numpy.int32)

    def count(self) -> int:
        return self.max_bins + 1


class BinOp3D(BinOp):
    """A grid of max_bins[0] x max_bins[1] x max_bins[2] bins; keys are rows of three."""

    def __init__(
        self,
        keys: Any,
        max_bins: Sequence[int],
        min_value: Sequence[float],
        max_value: Sequence[float],
    ) -> None:
        if len(keys.shape) != 2 or keys.shape[1] != 3:
            raise ValueError(f"BinOp3D: keys of shape {keys.shape}, not (n, 3)")
        self.keys = keys
        self.max_bins = [int(n) for n in max_bins]
        self.min_value, self.max_value = list(min_value), list(max_value)
        sides = zip(self.max_bins, self.min_value, self.max_value, strict=True)
        self._scales = [_scale(*side) for side in sides]

    def bins(self, keys: Any) -> Any:
        inside = None
        bins: Any = 0
        for axis, (scale, least, most) in enumerate(
            zip(self._scales, self.min_value, self.max_bins, strict=True)
        ):
            place = ((keys[:, axis] - least) * scale).astype(numpy.int32)
            fits = (place >= 0) & (place < most)
            inside = fits if inside is None else inside & fits
            bins = bins * most + place
        return lazy.where(inside, bins, -1).astype(numpy.int32)

    def count(self) -> int:
        return int(numpy.prod(self.max_bins))


def _count(i, bins, counts):  # type: ignore[no-untyped-def]
    counts[bins[i]] += 1


def _place(i, bins, next_place, order):  # type: ignore[no-untyped-def]
    order[next_place[bins[i]]] = i
    next_place[bins[i]] += 1


class BinSort:
    """BinSort(keys, bin_op, sort_within_bins=False): create_permute_vector(), then sort(values).

    Elements of one bin keep their order, or are ordered by their keys.
    """

    def __init__(self, keys: Any, bin_op: BinOp, sort_within_bins: bool = False) -> None:
        self.keys = keys
        self.bin_op = bin_op
        self.sort_within_bins = sort_within_bins
        self._order: View | None = None

    def create_permute_vector(self) -> None:
        """Finds the bins and the order. ValueError for a key that is in no bin."""
        keys, count = bare(self.keys), self.bin_op.count()
        bins = self.bin_op.bins(lazy.asarray(keys))
        n = len(bins)
        if n and not 0 <= int(bins.min()) <= int(bins.max()) < count:
            where = int(lazy.argmax((bins < 0) | (bins >= count)))
            raise ValueError(f"BinSort: the key {numpy.asarray(keys)[where]} is in no bin")
        view = wrap(bins)
        counts = View([count], _types.int32)
        _core.parallel_for(n, _count, bins=view, counts=counts)
        ends = lazy.cumsum(counts._array, dtype=numpy.int32)
        self._counts, self._offsets = counts, wrap(ends - counts._array)
        if self.sort_within_bins:
            columns = [keys] if keys.ndim == 1 else [keys[:, k] for k in (2, 1, 0)]
            order = numpy.lexsort([*map(numpy.asarray, columns), numpy.asarray(bins)])
            self._order = wrap(lazy.asarray(order.astype(numpy.int32)))
        else:
            self._order = View([n], _types.int32)
            next_place = wrap(lazy.array(self._offsets._array))
            _core.parallel_for(n, _place, bins=view, next_place=next_place, order=self._order)

    def _made(self) -> View:
        if self._order is None:
            raise ValueError("BinSort: call create_permute_vector() first")
        return self._order

    def sort(self, values: Any) -> None:
        """Puts the elements (of a matrix: the rows) in the order of the bins. Those behind as many
        as there are keys stay where they are, as in Kokkos.
        """
        order, array = self._made()._array, bare(values)
        if len(array) < len(order):
            raise ValueError(f"BinSort.sort: {len(array)} values for {len(order)} keys")
        array[: len(order)] = array[order]

    def get_bin_count(self) -> View:
        """How many keys each bin has."""
        self._made()
        return self._counts

    def get_bin_offsets(self) -> View:
        """Where each bin begins in the order."""
        self._made()
        return self._offsets

    def get_permute_vector(self) -> View:
        """For each place in the order, the element that goes there."""
        return self._made()
