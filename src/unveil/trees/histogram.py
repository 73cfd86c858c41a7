"""Counts by level of large nodes, kept so that they need not be counted twice.

A node's counts are the sum of its children's. When a large node is divided only the smaller child is counted;
the larger one's counts are what is left. The counts of nodes that wait for their turn are kept in slots.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating, compiled
from unveil.trees.records import Data

_SMALLEST = 128
_CELLS_PER_RECORD = 8


class Histograms(NamedTuple):
    """Counts by level of several nodes.

    Parameters
    ----------
    number : (slots, l) int64
        Records by level, one predictor after the other; the last slot is a buffer for a single predictor.
    cells : (slots, l, k) int64
        Sum of the response, or class counts, by level.
    flat : (slots, l * k) int64
        The same memory: loops over all cells are faster in one go than level by level.
    offset : (p + 1,) int64
        First level of each predictor; predictors that are read in sorted order take no room.
    free : (slots,) int64
        Number of free slots, and which they are.
    smallest : int
        Smallest node whose counts are kept.
    """

    number: NDArray[np.int64]
    cells: NDArray[np.int64]
    flat: NDArray[np.int64]
    offset: NDArray[np.int64]
    free: NDArray[np.int64]
    smallest: int


@allocating
def new_histograms(data: Data, k: int, max_depth: int) -> Histograms:
    """Return buffers for the counts of all nodes that can wait at the same time; ``k`` cells per level."""
    p = data.n_levels.size
    offset = np.zeros(p + 1, np.int64)
    single = np.int64(1)
    for f in range(p):
        held = data.n_levels[f] if data.wide[f] < 0 else np.int64(0)
        offset[f + 1] = offset[f] + held
        single = max(single, held)
    levels = max(offset[p], single)
    m = data.rows.size
    smallest = max(np.int64(_SMALLEST), levels * k // _CELLS_PER_RECORD)
    slots = min(np.int64(max_depth + 2), m // smallest + 1) if m >= smallest else np.int64(0)
    free = np.empty(slots + 1, np.int64)
    free[0] = slots
    for slot in range(slots):
        free[slot + 1] = slots - 1 - slot
    number = np.empty((slots + 1, levels), np.int64)
    flat = np.empty((slots + 1, levels * k), np.int64)
    number[slots], flat[slots] = 0, 0
    return Histograms(number, flat.reshape(slots + 1, levels, k), flat, offset, free, smallest)


@compiled
def take(free: NDArray[np.int64]) -> int:
    """Take a free slot."""
    slot = free[free[0]]
    free[0] -= 1
    return int(slot)


@compiled
def give_back(free: NDArray[np.int64], slot: int) -> None:
    """Give a slot back; -1 is none."""
    if slot >= 0:
        free[0] += 1
        free[free[0]] = slot


@compiled
def count_predictor(
    number: NDArray[np.int64],
    cells: NDArray[np.int64],
    codes: NDArray[np.int32],
    y: NDArray[np.int64],
    rows: NDArray[np.int32],
    start: int,
    stop: int,
    counted: int,
) -> None:
    """Add a node's records to the counts of one predictor; ``counted`` classes, 0: sum of the response."""
    # unsigned, because numba looks at the sign of every signed index
    if counted:
        for i in range(np.uint64(start), np.uint64(stop)):
            row = np.uint32(rows[i])
            code = np.uint32(codes[row])
            number[code] += 1
            cells[code, np.uint32(y[row])] += 1
    else:
        for i in range(np.uint64(start), np.uint64(stop)):
            row = np.uint32(rows[i])
            code = np.uint32(codes[row])
            number[code] += 1
            cells[code, 0] += y[row]


@compiled
def count_node(histograms: Histograms, slot: int, data: Data, start: int, stop: int, counted: int) -> None:
    """Count a node by level of every predictor into a slot."""
    number, cells, offset = histograms.number[slot], histograms.cells[slot], histograms.offset
    number[:] = 0
    histograms.flat[slot, :] = 0
    for f in range(data.n_levels.size):
        first, end = offset[f], offset[f + 1]
        if end > first:
            _count_large(number[first:end], cells[first:end], data.codes[f], data.y, data.rows, start, stop, counted)


@compiled
def _count_large(
    number: NDArray[np.int64],
    cells: NDArray[np.int64],
    codes: NDArray[np.int32],
    y: NDArray[np.int64],
    rows: NDArray[np.int32],
    start: int,
    stop: int,
    counted: int,
) -> None:
    """Count as :func:`count_predictor` does; numbers of records are added up from those by class."""
    if not counted:
        count_predictor(number, cells, codes, y, rows, start, stop, counted)
        return
    for i in range(np.uint64(start), np.uint64(stop)):
        row = np.uint32(rows[i])
        cells[np.uint32(codes[row]), np.uint32(y[row])] += 1
    for level in range(number.size):
        for c in range(cells.shape[1]):
            number[level] += cells[level, c]


@compiled
def pass_on(
    histograms: Histograms, slot: int, data: Data, start: int, middle: int, stop: int, counted: int
) -> tuple[int, int]:
    """Turn a divided node's counts into those of its children.

    Parameters
    ----------
    histograms : Histograms
        Counts.
    slot : int
        Slot of the divided node, -1: none.
    data : Data
        Records, already divided.
    start, middle, stop : int
        Bounds of the children's records.
    counted : int
        Number of counted classes, 0: sum of the response.

    Returns
    -------
    left, right : int
        Slots of the children, -1 where they have none.
    """
    if slot < 0:
        return -1, -1
    left_smaller = middle - start < stop - middle
    smaller = middle - start if left_smaller else stop - middle
    if stop - start - smaller < histograms.smallest:
        give_back(histograms.free, slot)
        return -1, -1
    other = take(histograms.free)
    if left_smaller:
        count_node(histograms, other, data, start, middle, counted)
    else:
        count_node(histograms, other, data, middle, stop, counted)
    _subtract(histograms.number[slot], histograms.number[other])
    _subtract(histograms.flat[slot], histograms.flat[other])
    if smaller < histograms.smallest:
        give_back(histograms.free, other)
        other = -1
    return (other, slot) if left_smaller else (slot, other)


@compiled
def _subtract(counts: NDArray[np.int64], part: NDArray[np.int64]) -> None:
    """Subtract the counts of a part, in place."""
    for i in range(counts.size):
        counts[i] -= part[i]
