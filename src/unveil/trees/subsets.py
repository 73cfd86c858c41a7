"""Search for the best two sets of levels of an unordered predictor.

Numeric response and two classes: with the levels sorted by mean (share of the second class) the best split is
one of the cuts of this order (Fisher 1958; Breiman, Friedman, Olshen & Stone 1984, theorem 4.5). Three or
more classes: all subsets while ``2^(levels - 1) * classes <= 10^6`` (:mod:`unveil.trees.exhaustive`), else
the cuts of the order along the first principal component of the class shares (Coppersmith, Hong & Hosking
1999).

References
----------
Breiman, L., Friedman, J. H., Olshen, R. A. & Stone, C. J. (1984). Classification and regression trees.
Coppersmith, D., Hong, S. J. & Hosking, J. R. M. (1999). Partitioning nominal attributes in decision trees.
Data Mining and Knowledge Discovery 3, 197-217. doi:10.1023/A:1009869804967
Fisher, W. D. (1958). On grouping for maximum homogeneity. JASA 53, 789-798.
doi:10.1080/01621459.1958.10501479
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import compiled
from unveil.trees.best import NEAR, Best, offer_counts, offer_sums, score_counts, score_sums
from unveil.trees.exhaustive import FEW, most_possible, search_all, search_few
from unveil.trees.scratch import MOST_LEVELS, Node, Scratch, Search

LARGEST_SEARCH = 1_000_000
_ITERATIONS = 50
_STEADY = 1e-10
_SAFETY = 1000.0
"""Rounding stays far below this many times ``NEAR``."""


@compiled
def split_levels(
    best: Best,
    scratch: Scratch,
    search: Search,
    node: Node,
    feature: int,
    number: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> None:
    """Offer splits of an unordered predictor; ``scratch.levels[2]`` says where levels go if one is best.

    Parameters
    ----------
    best : Best
        Best split so far, updated.
    scratch : Scratch
        Buffers.
    search : Search
        Buffers.
    node : Node
        The node.
    feature : int
        Index of the predictor.
    number : (l,) int64
        Records by level.
    cells : (l, k) int64
        Sum of the response, or class counts, by level.
    """
    k = node.n_classes
    present = scratch.levels[0]
    n_present = 0
    for level in range(number.size):
        if number[level]:
            present[n_present] = level
            n_present += 1
    if n_present < 2:
        return
    by_order = True
    if k == 0:
        for v in range(n_present):
            scratch.key[v] = cells[present[v], 0] / number[present[v]]
        _sort_levels(scratch.levels[1], scratch.key, n_present)
    elif n_present <= MOST_LEVELS and (1 << (n_present - 1)) * k <= LARGEST_SEARCH:
        by_order = False
        most = most_possible(number, cells, k, present, n_present)
        if most * (1.0 + NEAR * _SAFETY) <= best.score[1] * (1.0 - NEAR):
            return
        if n_present <= FEW:
            search_few(best, node, feature, number, cells, scratch.classes, present, n_present)
        else:
            search_all(best, search, node, feature, number, cells, scratch.classes, present, n_present)
    else:
        _principal_order(scratch, node, number, cells, n_present)
        _sort_levels(scratch.levels[1], scratch.key, n_present)
    if by_order:
        _cuts(best, scratch, node, feature, number, cells, n_present)
    if best.split[0] == feature:
        _write_sides(best, scratch, number, n_present, by_order)


@compiled
def _sort_levels(order: NDArray[np.int64], key: NDArray[np.float64], n_present: int) -> None:
    """Sort positions by key, equal keys by position (Shell sort: no memory, no recursion)."""
    for v in range(n_present):
        order[v] = v
    gap = 1
    while gap < n_present // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for v in range(gap, n_present):
            moved = order[v]
            i = v
            while i >= gap:
                other = order[i - gap]
                if key[other] < key[moved] or (key[other] == key[moved] and other < moved):
                    break
                order[i] = other
                i -= gap
            order[i] = moved
        gap //= 3


@compiled
def _cuts(
    best: Best,
    scratch: Scratch,
    node: Node,
    feature: int,
    number: NDArray[np.int64],
    cells: NDArray[np.int64],
    n_present: int,
) -> None:
    """Offer the cuts of the sorted levels."""
    n = node.stop - node.start
    k = node.n_classes
    classes = scratch.classes
    bar = best.score[1] * (1.0 - NEAR)
    for c in range(k):
        classes[1, c] = 0
    n_left = np.int64(0)
    left = np.int64(0)
    right = np.int64(0)
    for v in range(n_present - 1):
        level = scratch.levels[0, scratch.levels[1, v]]
        n_left += number[level]
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
        if n_left < node.minbucket or n - n_left < node.minbucket:
            continue
        if k:
            score = score_counts(n_left, left, n - n_left, right)
        else:
            score = score_sums(node.exact, n, node.total, n_left, left)
        if score > bar:
            if k:
                offer_counts(best, n_left, left, n - n_left, right, score, feature, v, -1)
            else:
                offer_sums(best, node.exact, n, node.total, n_left, left, score, feature, v, -1)
            bar = best.score[1] * (1.0 - NEAR)


@compiled
def _principal_order(
    scratch: Scratch, node: Node, number: NDArray[np.int64], cells: NDArray[np.int64], n_present: int
) -> None:
    """Key of a level: its place on the first principal component of the levels' class shares.

    Power iteration from the level that differs most from the node; ``axis <- sum_v n_v (p_v - p) (p_v - p)'
    axis``.
    """
    n = node.stop - node.start
    k = node.n_classes
    axis, following, counts = scratch.axis[0], scratch.axis[1], scratch.classes[0]
    farthest = -1.0
    for v in range(n_present):
        level = scratch.levels[0, v]
        distance = 0.0
        for c in range(k):
            gap = cells[level, c] / number[level] - counts[c] / n
            distance += gap * gap
        distance *= number[level]
        if distance > farthest:
            farthest = distance
            for c in range(k):
                axis[c] = cells[level, c] / number[level] - counts[c] / n
    for _ in range(_ITERATIONS):
        middle = 0.0
        for c in range(k):
            middle += axis[c] * counts[c] / n
            following[c] = 0.0
        for v in range(n_present):
            level = scratch.levels[0, v]
            place = 0.0
            for c in range(k):
                place += axis[c] * cells[level, c]
            place = place / number[level] - middle
            scratch.key[v] = place
            for c in range(k):
                following[c] += place * cells[level, c]
        length = 0.0
        for c in range(k):
            length += following[c] * following[c]
        if length == 0.0:
            return
        length = np.sqrt(length)
        change = 0.0
        for c in range(k):
            turned = following[c] / length
            change = max(change, abs(turned - axis[c]))
            axis[c] = turned
        if change < _STEADY:
            return


@compiled
def _write_sides(best: Best, scratch: Scratch, number: NDArray[np.int64], n_present: int, by_order: bool) -> None:
    """Write where each level goes; levels that are not in the node follow the larger child."""
    side = scratch.levels[2]
    gray = best.split[1] ^ (best.split[1] >> 1)
    for level in range(number.size):
        side[level] = 2
    balance = np.int64(0)
    for i in range(n_present):
        v = scratch.levels[1, i] if by_order else np.int64(i)
        level = scratch.levels[0, v]
        to_left = i <= best.split[1] if by_order else (gray >> i) & 1 == 1
        side[level] = 0 if to_left else 1
        balance += number[level] if to_left else -number[level]
    if balance < 0:
        for level in range(number.size):
            if side[level] == 2:
                side[level] = 3
