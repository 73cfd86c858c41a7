"""What an engine delivers: the counts of whole key combinations, in all files at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unveil.core import loop
from unveil.errors import CallError

Counts = NDArray[np.int64]
MOST_NUMBERED = 1 << 62
"""From so many cells on they have no numbers of 64 bits."""
_HALF = 1 << 30
"""Codes of the first of the two keys that a hash is kept as."""
_RANGE = 1 << 20
"""About how many cells are measured at a time."""
_take_apart = loop(
    "take_apart", int, np.int64, np.int64, int, int, int, np.int64, np.int64, np.int64, np.int64, np.int32, np.int64,
    result=int,
)  # fmt: skip


@dataclass(frozen=True)
class CodedValues:
    """One column of all files: what code each raw value has, in the codes that all files share.

    Parameters
    ----------
    name
        The column's name.
    n_levels
        Number of codes, that of the gap included.
    tables
        Per file the code (n_raw,) int64 of each raw value.
    """

    name: str
    n_levels: int
    tables: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True)
class Layout:
    """How the codes of some keys, and of what stands beside them, make one whole number.

    Parameters
    ----------
    n_levels
        Number of codes of each key.
    n_beside
        Number of codes of each column beside the keys: of the target, and of a column to group by.
    n_files
        Number of files.
    n_hashed
        Number of columns whose codes together are hashed to a place among the keys; 0 where keys have their own.
    """

    n_levels: tuple[int, ...]
    n_beside: tuple[int, ...]
    n_files: int
    n_hashed: int = 0

    @classmethod
    def of(cls, keys: Sequence[CodedValues], beside: Sequence[CodedValues], n_files: int) -> Layout:
        """The layout of some columns.

        Raises
        ------
        CallError
            If there are too many combinations to number.
        """
        found = cls(tuple(key.n_levels for key in keys), tuple(one.n_levels for one in beside), n_files)
        if not found.can_be_numbered:
            raise CallError(
                f"the keys {', '.join(key.name for key in keys)} have {found.size:.3g} combinations, more than can be "
                "counted out of memory; name fewer keys, cut numeric ones into groups (ngroups_keys), or take "
                "engine='memory'"
            )
        return found

    @classmethod
    def hashed(cls, columns: Sequence[CodedValues], n_files: int) -> Layout:
        """A layout for columns of any number, in which records that are alike share a cell.

        Of cells that differ two may meet by chance: for two of them with a probability of about one in 10^17, for
        any of 10^8 of one in a few.
        """
        return cls((_HALF, MOST_NUMBERED // _HALF // n_files // 2), (), n_files, len(columns))

    @property
    def n_keys(self) -> int:
        """Number of columns that make the key combination."""
        return self.n_hashed or len(self.n_levels)

    def worths(self, codes: Sequence[Counts], strides: Sequence[int]) -> list[Counts]:
        """What each code of each column adds to a number: its hash, or the code times the stride of the column."""
        if not self.n_hashed:
            return [one * stride for one, stride in zip(codes, strides, strict=False)]
        from unveil.stats.hashes import mixed

        room = np.uint64(self.size // self.n_hashed)
        return [
            (mixed(mixed(one.astype(np.uint64)) ^ np.uint64(number)) % room).astype(np.int64)
            for number, one in enumerate(codes, start=1)
        ]

    @property
    def can_be_numbered(self) -> bool:
        """Whether the codes of all cells fit into whole numbers of 64 bits."""
        return self.size * self.width < MOST_NUMBERED

    @property
    def size(self) -> int:
        """Number of key combinations that there could be."""
        return math.prod(self.n_levels)

    @property
    def n_target(self) -> int:
        """Number of codes of what stands beside the keys; 1 where nothing does."""
        return math.prod(self.n_beside)

    @property
    def strides(self) -> tuple[int, ...]:
        """What one more in the code of each key adds to the number of the combination."""
        return strides_of(self.n_levels)

    @property
    def cell_strides(self) -> tuple[int, ...]:
        """What one more in the code of each key, and of each column beside them, adds to the code of a cell."""
        return strides_of((*self.n_levels, *self.n_beside))

    def in_file(self, cells: Counts, number: int) -> Counts:
        """Codes of cells in one of the files, from the codes of the cells."""
        return cells * self.n_files + number

    @property
    def width(self) -> int:
        """Number of codes, in single files, of one key combination."""
        return self.n_target * self.n_files


@dataclass(frozen=True)
class KeyRange:
    """Counts of some key combinations, each of them whole.

    Parameters
    ----------
    levels : per key (size,) int32
        The code of each key in each combination.
    q, t : (n_cells,) int64
        Place of the combination, and code of the target, of each cell; ascending.
    counts : per file (n_cells,) int64
        Number of records.
    """

    levels: tuple[NDArray[np.int32], ...]
    q: Counts
    t: Counts
    counts: tuple[Counts, ...]

    @classmethod
    def of(cls, layout: Layout, codes: Counts, records: Counts) -> KeyRange:
        """Bring together the cells of all files.

        Parameters
        ----------
        layout
            How the codes of the cells are made.
        codes : (k,) int64
            Codes of cells in single files (:meth:`Layout.in_file`), ascending and different.
        records : (k,) int64
            Their numbers of records.
        """
        n, keys = len(codes), len(layout.n_levels)
        q, t, size = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(1, np.int64)
        counts = np.zeros((layout.n_files, n), np.int64)
        levels = np.empty((keys, n), np.int32)
        cells = _take_apart(
            n, np.ascontiguousarray(codes), np.ascontiguousarray(records), layout.n_files, layout.n_target, keys,
            np.array(layout.n_levels, np.int64), q, t, counts, levels, size,
        )  # fmt: skip
        return cls(tuple(levels[:, : int(size[0])]), q[:cells], t[:cells], tuple(counts[:, :cells]))

    @property
    def size(self) -> int:
        """Number of combinations."""
        return len(self.levels[0])

    def codes(self, layout: Layout, cells: NDArray[np.intp]) -> Counts:
        """Codes (k,) of some cells, in any file."""
        found = self.t[cells].copy()
        for levels, stride in zip(self.levels, layout.cell_strides, strict=False):
            found += levels[self.q[cells]].astype(np.int64) * stride
        return found

    def split(self, n_levels: int) -> tuple[KeyRange, Counts]:
        """The cells without the last column beside the keys, which has so many codes; and its code in each cell.

        The cells of the second are those that there were.
        """
        t, last = np.divmod(self.t, n_levels)
        starts = np.flatnonzero(_begins(self.q) | _begins(t))
        counts = tuple(np.add.reduceat(one, starts) if len(one) else one for one in self.counts)
        return KeyRange(self.levels, self.q[starts], t[starts], counts), last

    @cached_property
    def tallies(self) -> tuple[Counts, ...]:
        """Per file the number of records (size,) of each combination."""
        starts = np.flatnonzero(_begins(self.q))
        return tuple(np.add.reduceat(one, starts) if len(one) else one for one in self.counts)


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """What one more in the code of each variable adds to the number of a place."""
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


def in_ranges(layout: Layout, codes: Counts, records: Counts) -> Iterator[KeyRange]:
    """Whole key combinations in ranges of about as many cells; one range without any cell where there is none."""
    start = 0
    while start < max(len(codes), 1):
        end = start + _RANGE
        if end < len(codes):
            following = (int(codes[end]) // layout.width + 1) * layout.width
            end = int(np.searchsorted(codes, following))
        yield KeyRange.of(layout, codes[start:end], records[start:end])
        start = end


def _begins(ascending: Counts) -> NDArray[np.bool_]:
    """Where another value begins."""
    new = np.empty(len(ascending), bool)
    new[:1] = True
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    return new
