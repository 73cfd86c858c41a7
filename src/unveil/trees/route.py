"""Send records down a tree, and what this takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating, compiled


@allocating
def route(
    codes: NDArray[np.int32],
    feature: NDArray[np.int32],
    right: NDArray[np.int32],
    cut: NDArray[np.int32],
    side_start: NDArray[np.int64],
    sides: NDArray[np.uint8],
    leaf: NDArray[np.int32],
    flip: NDArray[np.bool_],
    surrogate_start: NDArray[np.int64],
    result: NDArray[np.int32],
) -> None:
    """Leaf of every record.

    All records go down together, divided at every node as in the fit: which way a single record turns cannot be
    foreseen by a processor, how many records turn right does not matter to it.

    Splits are those of the nodes, followed by surrogates.

    Parameters
    ----------
    codes : (p, at least n) int32
        Records.
    feature : (s,) int32
        Variable of a split.
    right : (t,) int32
        Right child of a node; the left child is the next node.
    cut : (s,) int32
        Smaller codes go left.
    side_start : (s,) int64
        Where the levels' sides of a split begin, -1 for thresholds.
    sides : (b,) uint8
        0 left, 1 right, 2 (3) unseen, hence with the majority to the left (right).
    leaf : (t,) int32
        Leaf where a record stops, -1: it goes on.
    flip : (s,) bool
        Whether left and right are exchanged.
    surrogate_start : (t + 1,) int64
        First surrogate of each node, as index of a split.
    result : (n,) int32
        Receives the leaves.
    """
    n = result.size
    rows = np.arange(n).astype(np.uint32)
    spare = np.empty(n, np.uint32)
    stack = np.empty((right.size // 2 + 2, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, n
    waiting = 1
    while waiting:
        waiting -= 1
        node, start, stop = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        while start < stop and leaf[node] < 0:
            column = codes[feature[node]]
            if side_start[node] < 0:
                middle = _below_cut(column, cut[node], rows, spare, start, stop)
            else:
                own = sides[side_start[node] :]
                least = 2 if surrogate_start[node] < surrogate_start[node + 1] else 255
                middle = _on_side(column, own, least, rows, spare, start, stop)
                if middle < 0:
                    middle = _with_surrogates(
                        codes, feature, cut, side_start, sides, flip, surrogate_start, node, rows, spare, start, stop
                    )
            if middle < stop:
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = right[node], middle, stop
                waiting += 1
            node, stop = node + 1, middle
        for i in range(start, stop):
            result[rows[i]] = leaf[node]


@compiled
def _below_cut(
    column: NDArray[np.int32],
    cut: int,
    rows: NDArray[np.uint32],
    spare: NDArray[np.uint32],
    start: int,
    stop: int,
) -> int:
    """Divide records by a threshold; returns where the right ones start."""
    one = np.uint64(1)
    left, right = np.uint64(start), np.uint64(0)
    for i in range(np.uint64(start), np.uint64(stop)):
        row = rows[i]
        to_right = np.uint64(column[row] >= cut)
        rows[left] = row
        spare[right] = row
        left += one - to_right
        right += to_right
    for i in range(right):
        rows[left + i] = spare[i]
    return int(np.int64(left))


@compiled
def _on_side(
    column: NDArray[np.int32],
    sides: NDArray[np.uint8],
    least: int,
    rows: NDArray[np.uint32],
    spare: NDArray[np.uint32],
    start: int,
    stop: int,
) -> int:
    """Divide records by the sides of their levels; -1, and nothing is moved, if a side is ``least`` or more."""
    one = np.uint64(1)
    if least < 4:
        for i in range(np.uint64(start), np.uint64(stop)):
            if sides[np.uint32(column[rows[i]])] >= least:
                return -1
    left, right = np.uint64(start), np.uint64(0)
    for i in range(np.uint64(start), np.uint64(stop)):
        row = rows[i]
        to_right = np.uint64(sides[np.uint32(column[row])]) & one
        rows[left] = row
        spare[right] = row
        left += one - to_right
        right += to_right
    for i in range(right):
        rows[left + i] = spare[i]
    return int(np.int64(left))


@compiled
def _with_surrogates(
    codes: NDArray[np.int32],
    feature: NDArray[np.int32],
    cut: NDArray[np.int32],
    side_start: NDArray[np.int64],
    sides: NDArray[np.uint8],
    flip: NDArray[np.bool_],
    surrogate_start: NDArray[np.int64],
    node: int,
    rows: NDArray[np.uint32],
    spare: NDArray[np.uint32],
    start: int,
    stop: int,
) -> int:
    """Divide records some of whose levels were not in the node; returns where the right ones start."""
    left, right = start, 0
    for i in range(start, stop):
        row = rows[i]
        side = sides[side_start[node] + codes[feature[node], row]]
        to_right = side & 1 == 1
        if side >= 2:
            for split in range(surrogate_start[node], surrogate_start[node + 1]):
                code = codes[feature[split], row]
                if side_start[split] < 0:
                    to_right = (code >= cut[split]) != flip[split]
                    break
                other = sides[side_start[split] + code]
                if other < 2:
                    to_right = other == 1
                    break
        if to_right:
            spare[right] = row
            right += 1
        else:
            rows[left] = row
            left += 1
    for i in range(right):
        rows[left + i] = spare[i]
    return int(np.int64(left))


@compiled
def fill_cuts(
    feature: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    first: NDArray[np.int64],
    values: NDArray[np.float64],
    cut: NDArray[np.int32],
    threshold: NDArray[np.float64],
) -> None:
    """Cut and threshold halfway between the codes next to the cut.

    Parameters
    ----------
    feature, low, high : (s,) int64
        Variable of a split, last code below and first code above its threshold (-1: none).
    first : (p + 1,) int64
        Where the values of a variable begin in ``values``.
    values : (l,) float64
        Values of the codes, ascending within a variable.
    cut : (s,) int32
        Receives the first code at or above the threshold.
    threshold : (s,) float64
        Receives the threshold.
    """
    for split in range(feature.size):
        if low[split] < 0:
            continue
        start = first[feature[split]]
        below, above = values[start + low[split]], values[start + high[split]]
        middle = 0.5 * below + 0.5 * above
        # neighbouring floating-point numbers and infinities have no middle of their own
        middle = middle if middle > below else above
        threshold[split] = middle
        least, most = low[split] + 1, high[split]
        while least < most:
            between = (least + most) // 2
            if values[start + between] < middle:
                least = between + 1
            else:
                most = between
        cut[split] = least
