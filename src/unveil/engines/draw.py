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

from unveil.engines.engine import Engine
from unveil.engines.key_range import MOST_NUMBERED, CodedValues, Counts, KeyRange, Layout
from unveil.stats.hashes import Hashes, mixed

Codes = NDArray[np.int32]
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


@dataclass(frozen=True)
class Found:
    """Records that were looked for by their cells.

    Parameters
    ----------
    cells : (n,) int64
        Codes of cells; one may come several times.
    codes : (p, n) int32
        The code of each column in records of these cells.
    """

    cells: Counts
    codes: Codes

    def __add__(self, other: Found) -> Found:
        return Found(np.concatenate([self.cells, other.cells]), np.concatenate([self.codes, other.codes], axis=1))

    def first_of_each(self) -> Found:
        """One record of each cell, whatever order they came in."""
        order = np.lexsort((*self.codes[::-1], self.cells))
        cells, first = np.unique(self.cells[order], return_index=True)
        return Found(cells, self.codes[:, order[first]])


@dataclass(frozen=True)
class FindRecords:
    """A measure of records that keeps one of each of some cells.

    Parameters
    ----------
    cells : (n,) int64
        Codes of cells, ascending.
    worths
        Per column what each code adds to the code of the cell.
    """

    cells: Counts
    worths: tuple[Counts, ...]

    def __call__(self, codes: Codes) -> Found:
        """The records among some that are in the cells."""
        own = np.zeros(codes.shape[1], np.int64)
        for worth, one in zip(self.worths, codes, strict=True):
            own += worth[one]
        at = np.minimum(np.searchsorted(self.cells, own), len(self.cells) - 1)
        here = np.flatnonzero(self.cells[at] == own)
        return Found(own[here], codes[:, here]).first_of_each()


def drawn_codes(
    engine: Engine, columns: Sequence[CodedValues], sizes: tuple[int, ...], most: int, seed: int
) -> list[Codes]:
    """Per file the codes (p, n) of records that are drawn, in the random order: the first of them are a draw, too.

    Combinations that are too many to be numbered are told apart by a hash, and the files are read once more for the
    codes of the records that were drawn.

    Parameters
    ----------
    engine
        What counts the records.
    columns
        The columns.
    sizes
        Number of records of each file.
    most
        Number of records that are drawn of a file at most.
    seed
        Seed of the random order.
    """
    keys, beside = (columns[:-1], columns[-1:]) if len(columns) > 1 else (columns, ())
    n = len(sizes)
    if math.prod(column.n_levels for column in columns) * n < MOST_NUMBERED:
        layout = Layout.of(keys, beside, n)
        (found,) = engine.total(keys, [beside], [DrawRecords(layout, sizes, most, seed)])
        return [np.array(columns_of(layout, cells, columns)) for cells in found.first(most)]
    layout = Layout.hashed(columns, n)
    (found,) = engine.total(columns, [()], [DrawRecords(layout, sizes, most, seed)], hashed=True)
    worths = tuple(layout.worths([np.arange(column.n_levels) for column in columns], ()))
    drawn = []
    for file, cells in enumerate(found.first(most)):
        if not len(cells):
            drawn.append(np.zeros((len(columns), 0), np.int32))
            continue
        records = engine.of_records(file, columns, FindRecords(np.unique(cells), worths)).first_of_each()
        drawn.append(records.codes[:, np.searchsorted(records.cells, cells)])
    return drawn


def columns_of(layout: Layout, cells: Counts, columns: Sequence[CodedValues]) -> list[NDArray[np.int32]]:
    """The code of each column, keys and then what stands beside them, in some cells."""
    return [
        (cells // stride % column.n_levels).astype(np.int32)
        for column, stride in zip(columns, layout.cell_strides, strict=True)
    ]
