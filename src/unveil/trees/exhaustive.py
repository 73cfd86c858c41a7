"""Search through all subsets of the levels of an unordered predictor, three or more classes.

With C(S) the class counts of a set S of levels and ``q(S) = |C(S)|^2 / n(S)``, the score of a split is
``q(left) + q(right)``. Two facts make the search short:

* ``|C(S)|^2`` is a quadratic form in the levels. A subset made of one part in a block of eight levels and one
  part outside costs a few additions: the parts' own sums, stored once, and the product of the two, which is
  extended level by level. Blocks are scored at a time.
* ``q(S + T) <= q(S) + q(T)``. Hence no split whose levels outside the block fall into H and H' can score more
  than ``q(H) + q(H')`` plus the best score of the block alone. Blocks are visited by falling bound until none
  can matter (branch and bound as in Koontz, Narendra & Fukunaga 1975; the Gini split is their two-group
  problem). The levels with the smallest scatter form the block, which makes the bounds tight.

References
----------
Koontz, W. L. G., Narendra, P. M. & Fukunaga, K. (1975). A branch and bound clustering algorithm. IEEE
Transactions on Computers C-24, 908-915. doi:10.1109/T-C.1975.224336
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import compiled
from unveil.trees.best import NEAR, Best, offer_counts
from unveil.trees.scratch import BLOCK_BITS, MOST_LEVELS, Node, Search

FEW = 5
"""Up to this many levels, all their subsets are scored one after the other."""

_NODE, _OUTSIDE, _RECORDS, _SCATTER = MOST_LEVELS, MOST_LEVELS + 1, MOST_LEVELS + 2, MOST_LEVELS + 3


@compiled
def search_all(
    best: Best,
    search: Search,
    node: Node,
    feature: int,
    number: NDArray[np.int64],
    cells: NDArray[np.int64],
    classes: NDArray[np.int64],
    present: NDArray[np.int64],
    n_present: int,
) -> None:
    """Offer every split into two sets of levels.

    The last present level is on the right. Among equally good subsets the first in the order of the reflected Gray
    code is taken, whose bit ``i`` says whether the ``i``-th present level is on the left; ``best.split[1]`` is its
    place in this order.

    Parameters
    ----------
    best : Best
        Best split so far, updated.
    search : Search
        Buffers.
    node : Node
        The node.
    feature : int
        Index of the predictor.
    number : (l,) int64
        Records by level.
    cells : (l, k) int64
        Class counts by level.
    classes : (3, k) int64
        Class counts of the node in the first row.
    present : (l,) int64
        Levels that occur in the node.
    n_present : int
        Their number.
    """
    n = node.stop - node.start
    total = float(node.total)
    inside = min(n_present - 1, BLOCK_BITS)
    n_outside = n_present - inside
    parts = 1 << (n_outside - 1)
    _fill_gram(search, node, number, cells, classes, present, n_present)
    _rank_levels(search, n, total, n_present, n_outside)
    _fill_block(search, n_outside, inside)
    _fill_outside(search, n_outside, inside)
    block, outside = search.block, search.outside
    size = 1 << inside
    while True:
        part = 0
        for other in range(1, parts):
            if outside[other, 4] > outside[part, 4]:
                part = other
        bar = best.score[1] * (1.0 - NEAR)
        if outside[part, 4] <= bar:
            return
        outside[part, 4] = -1.0
        out_n, out_squares, out_product = outside[part, 0], outside[part, 1], outside[part, 2]
        for bit in range(inside):
            half = 1 << bit
            extra = 2.0 * outside[part, 5 + bit]
            for s in range(half):
                block[3, half + s] = block[3, s] + extra
        top = _score_block(block, size, out_n, out_squares, out_product, float(n), total, float(node.minbucket))
        if top <= bar:
            continue
        for s in range(size):
            if block[4, s] > bar:
                n_left = np.int64(block[0, s] + out_n)
                left = np.int64(block[1, s] + out_squares + block[3, s])
                right = node.total - 2 * np.int64(block[2, s] + out_product) + left
                subset = _place(search.rank, n_present, n_outside, part, s)
                offer_counts(best, n_left, left, n - n_left, right, block[4, s], feature, subset, -1)
                bar = best.score[1] * (1.0 - NEAR)


@compiled
def most_possible(
    number: NDArray[np.int64], cells: NDArray[np.int64], k: int, present: NDArray[np.int64], n_present: int
) -> float:
    """Score of a split into all levels, which no split into two sets of them exceeds: ``sum_v q(v)``."""
    most = 0.0
    for v in range(n_present):
        level = present[v]
        squares = np.int64(0)
        for c in range(k):
            squares += cells[level, c] * cells[level, c]
        most += squares / number[level]
    return most


@compiled
def search_few(
    best: Best,
    node: Node,
    feature: int,
    number: NDArray[np.int64],
    cells: NDArray[np.int64],
    classes: NDArray[np.int64],
    present: NDArray[np.int64],
    n_present: int,
) -> None:
    """Offer every split of a few levels into two sets, as :func:`search_all` does, in the order of the Gray code."""
    n, k = node.stop - node.start, node.n_classes
    bar = best.score[1] * (1.0 - NEAR)
    for c in range(k):
        classes[1, c] = 0
    n_left = np.int64(0)
    for place in range(1, 1 << (n_present - 1)):
        moved = 0
        while not (place >> moved) & 1:
            moved += 1
        sign = np.int64(1) if ((place ^ (place >> 1)) >> moved) & 1 else np.int64(-1)
        level = present[moved]
        n_left += sign * number[level]
        left, right = np.int64(0), np.int64(0)
        for c in range(k):
            held = classes[1, c] + sign * cells[level, c]
            rest = classes[0, c] - held
            classes[1, c] = held
            left += held * held
            right += rest * rest
        n_right = n - n_left
        if n_left < node.minbucket or n_right < node.minbucket:
            continue
        score = (float(left) * n_right + float(right) * n_left) / (float(n_left) * n_right)
        if score > bar:
            offer_counts(best, n_left, left, n_right, right, score, feature, place, -1)
            bar = best.score[1] * (1.0 - NEAR)


@compiled
def _place(rank: NDArray[np.int64], n_present: int, n_outside: int, part: int, s: int) -> int:
    """Place of a subset of the present levels in the order of the reflected Gray code."""
    subset = np.int64(0)
    for bit in range(1, n_outside):
        subset |= ((part >> (bit - 1)) & 1) << rank[bit]
    for bit in range(n_present - n_outside):
        subset |= ((s >> bit) & 1) << rank[n_outside + bit]
    if (subset >> (n_present - 1)) & 1:
        subset = (np.int64(1) << n_present) - 1 - subset
    for shift in (1, 2, 4, 8, 16):
        subset ^= subset >> shift
    return int(subset)


@compiled
def _score_block(
    block: NDArray[np.float64],
    size: int,
    out_n: float,
    out_squares: float,
    out_product: float,
    n: float,
    total: float,
    minbucket: float,
) -> float:
    """Scores of the subsets of a block, -1 where a child is too small; returns the largest."""
    for s in range(size):
        n_left = block[0, s] + out_n
        n_right = n - n_left
        left = block[1, s] + out_squares + block[3, s]
        right = total - 2.0 * (block[2, s] + out_product) + left
        score = (left * n_right + right * n_left) / (n_left * n_right)
        block[4, s] = score if (n_left >= minbucket) & (n_right >= minbucket) else -1.0
    top = -1.0
    for s in range(size):
        top = max(top, block[4, s])
    return top


@compiled
def _fill_gram(
    search: Search,
    node: Node,
    number: NDArray[np.int64],
    cells: NDArray[np.int64],
    classes: NDArray[np.int64],
    present: NDArray[np.int64],
    n_present: int,
) -> None:
    """Products of the class counts of levels with each other and with the node."""
    k = node.n_classes
    gram, table = search.gram, search.table
    for v in range(n_present):
        for w in range(n_present):
            gram[v, w] = 0.0
        gram[v, _NODE] = 0.0
        gram[v, _RECORDS] = float(number[present[v]])
    for c in range(k):
        if classes[0, c] == 0:
            continue
        for v in range(n_present):
            table[c, v] = float(cells[present[v], c])
        for v in range(n_present):
            held = table[c, v]
            if held == 0.0:
                continue
            gram[v, _NODE] += held * classes[0, c]
            for w in range(n_present):
                gram[v, w] += held * table[c, w]


@compiled
def _rank_levels(search: Search, n: int, total: float, n_present: int, n_outside: int) -> None:
    """Sort levels by falling scatter ``n_v |p_v - p|^2``."""
    gram, rank = search.gram, search.rank
    for v in range(n_present):
        records = gram[v, _RECORDS]
        scatter = gram[v, v] / records - 2.0 * gram[v, _NODE] / n + records * total / (float(n) * float(n))
        gram[v, _SCATTER] = scatter
        i = v
        while i > 0 and gram[rank[i - 1], _SCATTER] < scatter:
            rank[i] = rank[i - 1]
            i -= 1
        rank[i] = v
    for v in range(n_present):
        product = 0.0
        for i in range(n_outside):
            product += gram[v, rank[i]]
        gram[v, _OUTSIDE] = product


@compiled
def _fill_block(search: Search, n_outside: int, inside: int) -> None:
    """Records, squares and products with the node of the subsets of the block."""
    block, gram, rank = search.block, search.gram, search.rank
    for row in range(4):
        block[row, 0] = 0.0
    for bit in range(inside):
        level = rank[n_outside + bit]
        for lower in range(bit):
            step = 1 << lower
            extra = 2.0 * gram[level, rank[n_outside + lower]]
            for s in range(step):
                block[3, step + s] = block[3, s] + extra
        half = 1 << bit
        for s in range(half):
            block[0, half + s] = block[0, s] + gram[level, _RECORDS]
            block[1, half + s] = block[1, s] + gram[level, level] + block[3, s]
            block[2, half + s] = block[2, s] + gram[level, _NODE]


@compiled
def _fill_outside(search: Search, n_outside: int, inside: int) -> None:
    """Sums and bounds of the sets of levels outside the block; the first level is always on the right."""
    outside, gram, rank = search.outside, search.gram, search.rank
    for column in range(5 + BLOCK_BITS):
        outside[0, column] = 0.0
    for bit in range(n_outside - 1):
        level = rank[bit + 1]
        half = 1 << bit
        for part in range(half):
            product = 0.0
            for lower in range(bit):
                if (part >> lower) & 1:
                    product += gram[level, rank[lower + 1]]
            outside[half + part, 0] = outside[part, 0] + gram[level, _RECORDS]
            outside[half + part, 1] = outside[part, 1] + gram[level, level] + 2.0 * product
            outside[half + part, 2] = outside[part, 2] + gram[level, _NODE]
            outside[half + part, 3] = outside[part, 3] + gram[level, _OUTSIDE]
            for v in range(inside):
                outside[half + part, 5 + v] = outside[part, 5 + v] + gram[level, rank[n_outside + v]]
    if n_outside == 1:
        outside[0, 4] = np.inf
        return
    records, squares = 0.0, 0.0
    for i in range(n_outside):
        records += gram[rank[i], _RECORDS]
        squares += gram[rank[i], _OUTSIDE]
    alone = _best_alone(search, inside)
    for part in range(1 << (n_outside - 1)):
        held, own, product = outside[part, 0], outside[part, 1], outside[part, 3]
        bound = alone + (squares - 2.0 * product + own) / (records - held)
        outside[part, 4] = bound + own / held if held > 0.0 else bound


@compiled
def _best_alone(search: Search, inside: int) -> float:
    """Best score of the block alone, one side may be empty."""
    block = search.block
    last = (1 << inside) - 1
    records, squares = block[0, last], block[1, last]
    best = squares / records
    for s in range(1, last):
        best = max(best, block[1, s] / block[0, s] + block[1, last - s] / block[0, last - s])
    return float(best)
