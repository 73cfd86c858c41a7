"""Search for the best threshold of a numeric or ordered predictor.

Predictors with few levels are counted by level; predictors with many are read in an order sorted once for the
whole tree and kept sorted when records move to the children. Either way a node of m records costs O(m).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import compiled
from unveil.trees.best import NEAR, Best, offer_counts, offer_sums, score_counts, score_sums
from unveil.trees.scratch import Node


@compiled
def thresholds_of_levels(
    best: Best,
    node: Node,
    feature: int,
    number: NDArray[np.int64],
    cells: NDArray[np.int64],
    classes: NDArray[np.int64],
) -> None:
    """Offer the thresholds of a predictor that is counted by level.

    Parameters
    ----------
    best : Best
        Best split so far, updated.
    node : Node
        The node.
    feature : int
        Index of the predictor.
    number : (l,) int64
        Records by level.
    cells : (l, k) int64
        Sum of the response, or class counts, by level.
    classes : (3, k) int64
        Class counts of the node; buffers.
    """
    n = node.stop - node.start
    bar = best.score[1] * (1.0 - NEAR)
    k = node.n_classes
    for c in range(k):
        classes[1, c] = 0
    n_left = np.int64(0)
    left = np.int64(0)
    right = np.int64(node.total)
    code = np.int64(-1)
    for level in range(number.size):
        if number[level] == 0:
            continue
        n_right = n - n_left
        if n_right < node.minbucket:
            break
        if n_left >= node.minbucket:
            if k:
                score = score_counts(n_left, left, n_right, right)
            else:
                score = score_sums(node.exact, n, node.total, n_left, left)
            if score > bar:
                if k:
                    offer_counts(best, n_left, left, n_right, right, score, feature, code, level)
                else:
                    offer_sums(best, node.exact, n, node.total, n_left, left, score, feature, code, level)
                bar = best.score[1] * (1.0 - NEAR)
        n_left += number[level]
        code = np.int64(level)
        if k:
            left = np.int64(0)
            right = np.int64(0)
            for c in range(k):
                held = classes[1, c] + cells[level, c]
                rest = classes[0, c] - held
                classes[1, c] = held
                left += held * held
                right += rest * rest
        else:
            left += cells[level, 0]


@compiled
def thresholds_of_sorted_sums(
    best: Best,
    node: Node,
    feature: int,
    codes: NDArray[np.int32],
    y: NDArray[np.int64],
    rows: NDArray[np.int32],
) -> None:
    """Offer the thresholds of a predictor whose records are sorted by code; summed response."""
    n = node.stop - node.start
    bar = best.score[1] * (1.0 - NEAR)
    left = np.int64(0)
    start = np.uint64(node.start)
    row = np.uint32(rows[start])
    after = codes[row]
    for n_left in range(1, n - node.minbucket + 1):
        left += y[row]
        row = np.uint32(rows[start + np.uint64(n_left)])
        code = after
        after = codes[row]
        if code == after or n_left < node.minbucket:
            continue
        score = score_sums(node.exact, n, node.total, n_left, left)
        if score > bar:
            offer_sums(best, node.exact, n, node.total, n_left, left, score, feature, code, after)
            bar = best.score[1] * (1.0 - NEAR)


@compiled
def thresholds_of_sorted_classes(
    best: Best, node: Node, feature: int, ordered: NDArray[np.int32], classes: NDArray[np.int64]
) -> None:
    """Offer the thresholds of sorted codes; three or more classes.

    Parameters
    ----------
    best : Best
        Best split so far, updated.
    node : Node
        The node.
    feature : int
        Index of the predictor.
    ordered : (2, m) int32
        Codes in ascending order, and classes.
    classes : (3, k) int64
        Class counts of the node; buffers.
    """
    n = node.stop - node.start
    bar = best.score[1] * (1.0 - NEAR)
    for c in range(node.n_classes):
        classes[1, c] = 0
        classes[2, c] = classes[0, c]
    left = np.int64(0)
    right = np.int64(node.total)
    after = np.int64(ordered[0, 0])
    for n_left in range(1, n - node.minbucket + 1):
        y = np.uint32(ordered[1, n_left - 1])
        held, rest = classes[1, y], classes[2, y]
        left += 2 * held + 1
        right -= 2 * rest - 1
        classes[1, y] = held + 1
        classes[2, y] = rest - 1
        code = after
        after = np.int64(ordered[0, n_left])
        if code == after or n_left < node.minbucket:
            continue
        score = score_counts(n_left, left, n - n_left, right)
        if score > bar:
            offer_counts(best, n_left, left, n - n_left, right, score, feature, code, after)
            bar = best.score[1] * (1.0 - NEAR)


@compiled
def sort_by_level(
    node: Node,
    number: NDArray[np.int64],
    codes: NDArray[np.int32],
    y: NDArray[np.int64],
    rows: NDArray[np.int32],
    ordered: NDArray[np.int32],
) -> None:
    """Sort the node's codes and classes into ``ordered`` by counting; ``number`` is zero before and after."""
    first, end = np.uint64(node.start), np.uint64(node.stop)
    for i in range(first, end):
        number[np.uint32(codes[np.uint32(rows[i])])] += 1
    before = np.int64(0)
    for level in range(number.size):
        here = number[level]
        number[level] = before
        before += here
    for i in range(first, end):
        row = np.uint32(rows[i])
        code = np.uint32(codes[row])
        position = np.uint64(number[code])
        number[code] += 1
        ordered[0, position] = code
        ordered[1, position] = y[row]
    for level in range(number.size):
        number[level] = 0
