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

from unveil.files.counts import BLOCK, blocks_of

Counts = NDArray[np.int64]
Codes = NDArray[np.integer]

_DENSE = 2
"""Cell spaces of up to this many cells per record are counted directly, larger ones by sorting."""
_ALWAYS_DENSE = 1 << 14


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

    def find(self, q: Codes, t: Codes, n_levels: int) -> NDArray[np.intp]:
        """Index of the cell of each (q, t); every pair must have one."""
        return np.searchsorted(self.q * n_levels + self.t, pair_codes(q, t, n_levels))


@dataclass(frozen=True)
class Members:
    """Original records by their cell and the level of one more column.

    Parameters
    ----------
    q, t, level : (k,) integer
        Key combination, target level (0 without a target), and level of the column.
    n : (k,) int64
        Number of records.
    """

    q: Codes
    t: Codes
    level: Codes
    n: Counts


def count_cells(
    original_q: Codes, original_t: Codes, release_q: Codes, release_t: Codes,
    size: int, n_levels: int, *, block: int = BLOCK,
) -> Iterator[Cells]:  # fmt: skip
    """Count the records of an original and one release per cell, in ranges of key combinations.

    Parameters
    ----------
    original_q, release_q : (n,) integer
        Key combination of each record, below ``size``.
    original_t, release_t : (n,) integer
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
    n, n_cells = len(original_q) + len(release_q), size * n_levels
    if n_cells <= max(_DENSE * n, _ALWAYS_DENSE):
        d, s = (count_pairs(q, t, size, n_levels) for q, t in ((original_q, original_t), (release_q, release_t)))
        step = max(block // n_levels, 1) * n_levels
        for start in range(0, n_cells, step):
            yield _dense(d[start : start + step], s[start : start + step], start, n_levels)
        return
    # The lowest bit says which file the record is from, so one plain sort serves both counts.
    packed = np.empty(n, dtype=np.int64)
    for file, q, t in ((0, original_q, original_t), (1, release_q, release_t)):
        first = file * len(original_q)
        for records in blocks_of(len(q)):
            code = pair_codes(q[records], t[records], n_levels)
            code <<= 1
            code |= file
            packed[first + records.start : first + records.stop] = code
    packed.sort()
    start = 0
    while start < len(packed):
        end = start + block
        if end < len(packed):
            next_combination = (int(packed[end]) // (2 * n_levels) + 1) * 2 * n_levels
            end = int(np.searchsorted(packed, next_combination))
        yield _run_lengths(packed[start:end], n_levels)
        start = end


def count_pairs(q: Codes, t: Codes, size: int, n_levels: int) -> Counts:
    """Number of records (size * n_levels,) of each pair of codes; that of (q, t) stands at ``q * n_levels + t``."""
    n_pairs = size * n_levels
    found = np.zeros(n_pairs, dtype=np.int64)
    for records in blocks_of(len(q), max(BLOCK, 4 * n_pairs)):
        found += np.bincount(pair_codes(q[records], t[records], n_levels), minlength=n_pairs)
    return found


def count_chosen_pairs(q: Codes, t: Codes, n_levels: int, pairs: Counts) -> Counts:
    """Number of records (k,) of each of some pairs of codes, ``q * n_levels + t``, which ascend."""
    chosen = np.zeros(int(pairs[-1]) // n_levels + 1, dtype=bool)
    chosen[pairs // n_levels] = True
    found = np.zeros(len(pairs), dtype=np.int64)
    for records in blocks_of(len(q)):
        kept = q[records]
        inside = np.flatnonzero((kept < len(chosen)) & chosen[np.minimum(kept, len(chosen) - 1)])
        codes = pair_codes(kept[inside], t[records][inside], n_levels)
        at = np.minimum(np.searchsorted(pairs, codes), len(pairs) - 1)
        found += np.bincount(at[pairs[at] == codes], minlength=len(pairs))
    return found


def pair_codes(q: Codes, t: Codes, n_levels: int) -> Counts:
    """One code for each pair, in 64 bits."""
    code = np.multiply(q, n_levels, dtype=np.int64)
    code += t
    return code


def _dense(d: Counts, s: Counts, first: int, n_levels: int) -> Cells:
    found = np.flatnonzero(d | s)
    return _cells(found + first, d[found], s[found], n_levels)


def _run_lengths(packed: Counts, n_levels: int) -> Cells:
    code = packed >> 1
    starts = _starts(code)
    synthetic = _segment_sums(packed & 1, starts)
    return _cells(code[starts], np.diff(np.append(starts, len(code))) - synthetic, synthetic, n_levels)


ONE_ORIGINAL = Cells(*(np.array([count]) for count in (0, 0, 1, 0)))
"""The cell of an original record that is alone with its keys."""
ONE_SYNTHETIC = Cells(*(np.array([count]) for count in (0, 0, 0, 1)))
"""The cell of a synthetic record that is alone with its keys."""


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
