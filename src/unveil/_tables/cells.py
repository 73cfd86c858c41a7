"""The kernel: counts of original and synthetic records per cell (key combination, target level).

Every measure of this room is a ratio of sums over cells, and the sums are additive over disjoint sets of key
combinations. Whatever yields :class:`Cells` for such sets (one block in memory, ranges of keys, partitions of a
cluster) can be measured with the same few lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

_DENSE = 2
"""Cell spaces of up to this many cells per record are counted directly, larger ones by sorting."""
_ALWAYS_DENSE = 1 << 14
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Cells:
    """The non-empty cells of a disjoint set of key combinations, ascending by (q, t).

    Parameters
    ----------
    q, t : (n_cells,) int64
        Key combination and target level of each cell.
    d, s : (n_cells,) int64
        Number of original records d_tq and of synthetic records s_tq.
    """

    q: Counts
    t: Counts
    d: Counts
    s: Counts

    def __len__(self) -> int:
        return len(self.q)

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Index of the first cell of each key combination."""
        return _starts(self.q)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Number of cells of each key combination."""
        return np.diff(self.starts, append=len(self.q))

    @cached_property
    def d_q(self) -> Counts:
        """Original records of the whole key combination, per cell."""
        return self.over_keys(self.d)

    @cached_property
    def s_q(self) -> Counts:
        """Synthetic records of the whole key combination, per cell."""
        return self.over_keys(self.s)

    def over_keys(self, values: Counts | NDArray[np.bool_]) -> Counts:
        """Per cell the sum of the values over its key combination."""
        return np.repeat(_segment_sums(values, self.starts), self.sizes)

    def find(self, q: Counts, t: Counts, n_levels: int) -> NDArray[np.intp]:
        """Index of the cell of each (q, t); every pair must have one."""
        return np.searchsorted(self.q * n_levels + self.t, q * n_levels + t)


def count_cells(
    original_q: Counts, original_t: NDArray[np.int32], release_q: Counts, release_t: NDArray[np.int32],
    size: int, n_levels: int, *, block: int = _BLOCK,
) -> Iterator[Cells]:  # fmt: skip
    """Count the records of an original and one release per cell, in ranges of key combinations.

    Parameters
    ----------
    original_q, release_q : (n,) int64
        Key combination of each record, below ``size``.
    original_t, release_t : (n,) int32
        Target level of each record, below ``n_levels``.
    size, n_levels
        Number of key combinations and of target levels.
    block
        About how many cells to yield at once; the default keeps the work on them in the processor's cache.

    Yields
    ------
    Cells
        Whole key combinations, ascending.
    """
    original = original_q * n_levels
    original += original_t
    release = release_q * n_levels
    release += release_t
    n_cells = size * n_levels
    if n_cells <= max(_DENSE * (len(original) + len(release)), _ALWAYS_DENSE):
        d, s = np.bincount(original, minlength=n_cells), np.bincount(release, minlength=n_cells)
        del original, release
        step = max(block // n_levels, 1) * n_levels
        for start in range(0, n_cells, step):
            yield _dense(d[start : start + step], s[start : start + step], start, n_levels)
        return
    # The lowest bit says which file the record is from, so one plain sort serves both counts.
    packed = np.concatenate([original, release])
    packed <<= 1
    packed[len(original) :] |= 1
    del original, release
    packed.sort()
    start = 0
    while start < len(packed):
        end = start + block
        if end < len(packed):
            next_combination = (int(packed[end]) // (2 * n_levels) + 1) * 2 * n_levels
            end = int(np.searchsorted(packed, next_combination))
        yield _run_lengths(packed[start:end], n_levels)
        start = end


def _dense(d: Counts, s: Counts, first: int, n_levels: int) -> Cells:
    found = np.flatnonzero(d | s)
    return _cells(found + first, d[found], s[found], n_levels)


def _run_lengths(packed: Counts, n_levels: int) -> Cells:
    code = packed >> 1
    starts = _starts(code)
    synthetic = _segment_sums(packed & 1, starts)
    return _cells(code[starts], np.diff(np.append(starts, len(code))) - synthetic, synthetic, n_levels)


def join_cells(blocks: Iterable[Cells]) -> Cells:
    """All blocks as one."""
    listed = list(blocks)
    return Cells(*(np.concatenate([getattr(b, name) for b in listed]) for name in Cells.__dataclass_fields__))


def merge_cells(cells: Cells, q: Counts, size: int, n_levels: int) -> Cells:
    """Regroup cells under coarser key combinations.

    Parameters
    ----------
    cells
        Cells of some keys.
    q : (n_cells,) int64
        Combination of fewer keys that each cell belongs to, below ``size``.
    size, n_levels
        Number of such combinations and of target levels.
    """
    code = q * n_levels + cells.t
    if size * n_levels <= max(_DENSE * len(cells), _ALWAYS_DENSE):
        d = np.bincount(code, weights=cells.d, minlength=size * n_levels).astype(np.int64)
        s = np.bincount(code, weights=cells.s, minlength=size * n_levels).astype(np.int64)
        return _dense(d, s, 0, n_levels)
    order = np.argsort(code, kind="stable")
    code = code[order]
    starts = _starts(code)
    d, s = (np.add.reduceat(counts[order], starts) for counts in (cells.d, cells.s))
    return _cells(code[starts], d, s, n_levels)


def _cells(code: Counts, d: Counts, s: Counts, n_levels: int) -> Cells:
    q = code // n_levels
    return Cells(q, code - q * n_levels, d, s)


def _segment_sums(values: Counts | NDArray[np.bool_], starts: NDArray[np.intp]) -> Counts:
    """Sum of each stretch that begins at one of the starts; for short stretches faster than a reduction of each."""
    running = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=running[1:])
    return np.diff(running[starts], append=running[-1])


def _starts(ordered: Counts) -> NDArray[np.intp]:
    """Positions where a new value begins in an ascending array."""
    new = np.empty(len(ordered), dtype=bool)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return np.flatnonzero(new)
