"""The records of a fit, and how they move."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating, compiled


class Data(NamedTuple):
    """What is fitted: ``m`` records in ``c`` columns, ``p`` predictors.

    A record is a column of ``codes``. The fit changes ``rows`` and ``sorted_rows`` only; its copies of records that
    lie close together are columns of another ``Data``, with the same ``rows`` and ``sorted_rows``.

    Parameters
    ----------
    codes : (p, c) int32
        Predictors; may be part of what other fits read.
    n_levels : (p,) int64
        Their numbers of levels.
    unordered : (p,) bool
        Whether levels are split into sets.
    wide : (p,) int64
        Row of ``sorted_rows`` that belongs to the predictor; -1: none.
    sorted_rows : (w, m) int32
        Columns sorted by a predictor with many levels.
    y : (c,) int64
        Response in integers.
    n_classes : int
        0 for a numeric response, else its number of classes.
    span : int
        Largest ``y`` where it is summed.
    rows : (m,) int32
        Columns by node.
    origin : (c,) int32
        Which record of the call each column is; empty where it is the record of the same number.
    """

    codes: NDArray[np.int32]
    n_levels: NDArray[np.int64]
    unordered: NDArray[np.bool_]
    wide: NDArray[np.int64]
    sorted_rows: NDArray[np.int32]
    y: NDArray[np.int64]
    n_classes: int
    span: int
    rows: NDArray[np.int32]
    origin: NDArray[np.int32]


SHRUNK = 8
"""Records are copied together when a node has this many times fewer than when they were copied last."""


@allocating
def room_for_copies(data: Data) -> Data:
    """Columns for copies of nodes, each ``SHRUNK`` times smaller than the last."""
    columns, copied = 0, data.rows.size // SHRUNK
    while copied:
        columns += copied
        copied //= SHRUNK
    return Data(
        np.empty((data.codes.shape[0], columns), np.int32),
        data.n_levels,
        data.unordered,
        data.wide,
        data.sorted_rows,
        np.empty(columns, np.int64),
        data.n_classes,
        data.span,
        data.rows,
        np.empty(columns, np.int32),
    )


@allocating
def sort_by_code(codes: NDArray[np.int32], n_levels: int) -> NDArray[np.int32]:
    """Columns sorted by code, equal codes in their order: by counting.

    Parameters
    ----------
    codes : (m,) int32
        Codes.
    n_levels : int
        Number of codes.

    Returns
    -------
    (m,) int32
        The order.
    """
    following = np.zeros(n_levels + 1, np.int64)
    for i in range(codes.size):
        following[np.uint32(codes[i]) + np.uint32(1)] += 1
    for level in range(n_levels):
        following[level + 1] += following[level]
    order = np.empty(codes.size, np.int32)
    for i in range(codes.size):
        code = np.uint32(codes[i])
        order[np.uint64(following[code])] = i
        following[code] += 1
    return order


@allocating
def arranged(
    values: NDArray[Any], group: NDArray[np.unsignedinteger], stretch: NDArray[np.int64], start: NDArray[np.int64]
) -> NDArray[Any]:
    """Values by stretch, within a stretch in their order.

    Parameters
    ----------
    values : (m,) array
        Values.
    group : (m,) unsigned
        Groups of the values.
    stretch : (g,) int64
        Stretch of each group.
    start : (at least s,) int64
        Where each stretch starts.

    Returns
    -------
    (m,) array
        The same values.
    """
    result, following = np.empty_like(values), start.copy()
    for i in range(values.size):
        here = stretch[group[i]]
        result[following[here]] = values[i]
        following[here] += 1
    return result


@compiled
def divide(
    data: Data,
    side: NDArray[np.int64],
    spare: NDArray[np.int32],
    goes_right: NDArray[np.uint8],
    start: int,
    stop: int,
    feature: int,
    cut: int,
    minsplit: int,
) -> int:
    """Move a node's records to its children.

    Parameters
    ----------
    data : Data
        Records; ``rows`` and, where a child may be split, ``sorted_rows`` are divided, each part in its old
        order.
    side : (l,) int64
        Side of the levels of an unordered predictor.
    spare : (m,) int32
        Buffer.
    goes_right : (m,) uint8
        Buffer.
    start, stop : int
        The node's records.
    feature, cut : int
        The split, and the last code to the left of an ordered predictor.
    minsplit : int
        Smallest node that is split.

    Returns
    -------
    int
        Where the right child starts.
    """
    codes, rows, unordered = data.codes[feature], data.rows, data.unordered[feature]
    first, end, one = np.uint64(start), np.uint64(stop), np.uint64(1)
    left, right = first, np.uint64(0)
    for i in range(first, end):
        row = np.uint32(rows[i])
        code = codes[row]
        to_right = np.uint64(side[np.uint32(code)]) if unordered else np.uint64(code > cut)
        goes_right[row] = to_right
        rows[left] = row
        spare[right] = row
        left += one - to_right
        right += to_right
    for i in range(right):
        rows[left + i] = spare[i]
    middle = np.int64(left)
    if middle - start < minsplit and stop - middle < minsplit:
        return int(middle)
    for w in range(data.sorted_rows.shape[0]):
        rows = data.sorted_rows[w]
        left, right = first, np.uint64(0)
        for i in range(first, end):
            row = np.uint32(rows[i])
            to_right = np.uint64(goes_right[row])
            rows[left] = row
            spare[right] = row
            left += one - to_right
            right += to_right
        for i in range(right):
            rows[left + i] = spare[i]
    return int(middle)


@compiled
def gather(data: Data, copies: Data, place: NDArray[np.int32], start: int, stop: int, free: int) -> None:
    """Copy the records of a node to neighbouring columns, without changing what the node is.

    Parameters
    ----------
    data : Data
        Records; they may be copies already.
    copies : Data
        Where they are copied to.
    place : (m,) int32
        Buffer.
    start, stop : int
        The node's records.
    free : int
        First of the free columns of ``copies``.
    """
    rows = data.rows
    first, end, shift = np.uint64(start), np.uint64(stop), np.uint64(free - start)
    for f in range(data.codes.shape[0]):
        codes, close = data.codes[f], copies.codes[f]
        for i in range(first, end):
            close[i + shift] = codes[np.uint32(rows[i])]
    for i in range(first, end):
        row = np.uint32(rows[i])
        copies.origin[i + shift] = data.origin[row] if data.origin.size else row
        copies.y[i + shift] = data.y[row]
        place[row] = i + shift
        rows[i] = i + shift
    for w in range(data.sorted_rows.shape[0]):
        ordered = data.sorted_rows[w]
        for i in range(first, end):
            ordered[i] = place[np.uint32(ordered[i])]
