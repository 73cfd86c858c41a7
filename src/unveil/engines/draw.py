"""Records drawn at random where an engine counts: each with the same probability, none of them twice.

Records of one cell are alike, so that a cell and a number within it stand for a record. The hash of both and of a seed
gives each record a place in a random order, and the first records of that order are drawn. So the draw depends neither
on the order in which records came nor on how an engine cuts them into parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.engines.key_range import CodedValues, Counts, KeyRange, Layout
from unveil.stats.hashes import Hashes, mixed

_AT_A_TIME = 1 << 20
_SPARE = 10
"""Standard deviations of the number of records before a place, by which more are kept than are drawn."""


@dataclass(frozen=True)
class Drawn:
    """Records that may be among the first.

    Parameters
    ----------
    places : per file (n,) uint64
        Place of each record in the random order.
    cells : per file (n,) int64
        Code of its cell.
    """

    places: tuple[Hashes, ...]
    cells: tuple[Counts, ...]

    def __add__(self, other: Drawn) -> Drawn:
        places = zip(self.places, other.places, strict=True)
        cells = zip(self.cells, other.cells, strict=True)
        return Drawn(tuple(map(np.concatenate, places)), tuple(map(np.concatenate, cells)))

    def first(self, most: int) -> tuple[Counts, ...]:
        """Per file the cells of the first records, at most so many, in the random order."""
        return tuple(
            cells[np.lexsort((cells, places))[:most]] for places, cells in zip(self.places, self.cells, strict=True)
        )


@dataclass(frozen=True)
class DrawRecords:
    """A measure that draws records of every file.

    Parameters
    ----------
    layout
        How cells are numbered.
    sizes
        Number of records of each file.
    most
        Number of records that are drawn of a file at most.
    seed
        Seed of the random order.
    """

    layout: Layout
    sizes: tuple[int, ...]
    most: int
    seed: int

    def __call__(self, keys: KeyRange) -> Drawn:
        """The records of a range that may be drawn."""
        found = [self._of_file(keys, number) for number in range(len(self.sizes))]
        return Drawn(tuple(places for places, _ in found), tuple(cells for _, cells in found))

    def _of_file(self, keys: KeyRange, number: int) -> tuple[Hashes, Counts]:
        held = np.flatnonzero(keys.counts[number])
        cells, ends = keys.codes(self.layout, held), np.cumsum(keys.counts[number][held])
        stream = np.random.SeedSequence(self.seed, spawn_key=(number,)).generate_state(1, np.uint64)
        hashes = mixed(mixed(cells.astype(np.uint64)) ^ stream)
        last = self._last(self.sizes[number])
        places, drawn = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
        for start in range(0, int(ends[-1]) if len(ends) else 0, _AT_A_TIME):
            records = np.arange(start, min(start + _AT_A_TIME, int(ends[-1])))
            at = np.searchsorted(ends, records, side="right")
            # numbered from the end of their cell: where it begins need not be known
            place = mixed(hashes[at] + (ends[at] - records).astype(np.uint64))
            early = place <= last
            places.append(place[early])
            drawn.append(cells[at[early]])
        return np.concatenate(places), np.concatenate(drawn)

    def _last(self, size: int) -> np.uint64:
        """A place before which there are nearly certainly as many records as are drawn, and not many more."""
        kept = self.most + _SPARE * math.sqrt(self.most) + _SPARE**2
        return np.uint64(0xFFFFFFFFFFFFFFFF if kept >= size else int(kept / size * 2.0**64))


def columns_of(layout: Layout, cells: Counts, columns: Sequence[CodedValues]) -> list[NDArray[np.int32]]:
    """The code of each column, keys and then what stands beside them, in some cells."""
    return [
        (cells // stride % column.n_levels).astype(np.int32)
        for column, stride in zip(columns, layout.cell_strides, strict=True)
    ]
