"""Surrogate splits: where a record goes whose level was not in the node when it was split.

A surrogate is a split of another variable that sends the node's records the same way as the node's own split
as often as possible, and more often than sending all of them with the majority does. Surrogates are tried by
falling agreement; one whose own level was not in the node either is passed over. Without a usable surrogate
the record goes with the majority (Breiman, Friedman, Olshen & Stone 1984, section 5.3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating


class Surrogates(NamedTuple):
    """Surrogate splits by node.

    Parameters
    ----------
    start : (t + 1,) int64
        First surrogate of each node.
    feature, low, high : (s,) int64
        Variable; last code below and first code above the threshold (-1 for sets of levels).
    flip : (s,) bool
        Whether codes below the threshold go right.
    side_start : (s,) int64
        Where the levels' sides begin in ``sides``, -1 for thresholds.
    sides : (b,) uint8
        Sides of levels: 0 left, 1 right, 2 unseen.
    agreement : (s,) int64
        Records that are sent the same way.
    """

    start: NDArray[np.int64]
    feature: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    flip: NDArray[np.bool_]
    side_start: NDArray[np.int64]
    sides: NDArray[np.uint8]
    agreement: NDArray[np.int64]


def no_surrogates(nodes: int) -> Surrogates:
    """Surrogates of a tree that has none."""
    none = np.zeros(0, np.int64)
    return Surrogates(
        np.zeros(nodes + 1, np.int64),
        none,
        none,
        none,
        none.astype(np.bool_),
        none,
        none.astype(np.uint8),
        none,
    )


@allocating
def find_surrogates(
    codes: NDArray[np.int32],
    n_levels: NDArray[np.int64],
    unordered: NDArray[np.bool_],
    order: NDArray[np.int32],
    places: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    most: int,
) -> Surrogates:
    """Find the surrogates of some nodes.

    Parameters
    ----------
    codes : (p, n) int32
        Predictors.
    n_levels : (p,) int64
        Their numbers of levels.
    unordered : (p,) bool
        Whether levels are split into sets.
    order : (m,) int32
        Records by node.
    places : (t, 8) int64
        Nodes, see :class:`unveil.trees.nodes.Grown`.
    wanted : (t,) bool
        Nodes that get surrogates.
    most : int
        Largest number of surrogates of a node.

    Returns
    -------
    Surrogates
        By falling agreement, equal ones by variable.
    """
    t, p = places.shape[0], n_levels.size
    room = np.int64(0)
    for node in range(t):
        room += min(most, p - 1) if wanted[node] else 0
    widest = np.int64(1)
    for f in range(p):
        widest = max(widest, n_levels[f])
    found = Surrogates(
        np.zeros(t + 1, np.int64),
        np.zeros(room, np.int64),
        np.full(room, -1, np.int64),
        np.full(room, -1, np.int64),
        np.zeros(room, np.bool_),
        np.full(room, -1, np.int64),
        np.zeros(room * widest, np.uint8),
        np.zeros(room, np.int64),
    )
    table = np.zeros((widest, 2), np.int64)
    rules = np.zeros((p, 4), np.int64)
    n_found, n_sides = 0, 0
    for node in range(t):
        found.start[node] = n_found
        if not wanted[node]:
            continue
        start, stop, middle = places[node, 0], places[node, 1], places[places[node, 3], 0]
        blind = max(middle - start, stop - middle)
        for f in range(p):
            rules[f, 0] = 0
            if f != places[node, 4]:
                _count_sides(table, codes[f], n_levels[f], order, start, middle, stop)
                _best_rule(rules[f], table, n_levels[f], unordered[f], middle - start, stop - middle)
        for _ in range(most):
            f = 0
            for other in range(1, p):
                if rules[other, 0] > rules[f, 0]:
                    f = other
            if rules[f, 0] <= blind:
                break
            found.feature[n_found], found.agreement[n_found] = f, rules[f, 0]
            if unordered[f]:
                _count_sides(table, codes[f], n_levels[f], order, start, middle, stop)
                found.side_start[n_found] = n_sides
                for level in range(n_levels[f]):
                    here, there = table[level, 0], table[level, 1]
                    found.sides[n_sides + level] = 2 if here + there == 0 else (0 if here >= there else 1)
                n_sides += n_levels[f]
            else:
                found.low[n_found], found.high[n_found] = rules[f, 1], rules[f, 2]
                found.flip[n_found] = rules[f, 3] == 1
            rules[f, 0] = 0
            n_found += 1
    found.start[t] = n_found
    return Surrogates(
        found.start,
        found.feature[:n_found],
        found.low[:n_found],
        found.high[:n_found],
        found.flip[:n_found],
        found.side_start[:n_found],
        found.sides[:n_sides],
        found.agreement[:n_found],
    )


@allocating
def _count_sides(
    table: NDArray[np.int64],
    codes: NDArray[np.int32],
    n_levels: int,
    order: NDArray[np.int32],
    start: int,
    middle: int,
    stop: int,
) -> None:
    """Count the records of each level that the node's own split sends left and right."""
    for level in range(n_levels):
        table[level, 0] = 0
        table[level, 1] = 0
    for i in range(start, stop):
        table[codes[order[i]], 0 if i < middle else 1] += 1


@allocating
def _best_rule(
    rule: NDArray[np.int64],
    table: NDArray[np.int64],
    n_levels: int,
    unordered: bool,
    n_left: int,
    n_right: int,
) -> None:
    """Agreement, last code below, first code above and exchange of sides of a variable's best surrogate."""
    if unordered:
        agreement, to_left, to_right = np.int64(0), False, False
        for level in range(n_levels):
            here, there = table[level, 0], table[level, 1]
            agreement += max(here, there)
            if here + there:
                to_left |= here >= there
                to_right |= here < there
        rule[0] = agreement if to_left and to_right else np.int64(0)
        return
    left, right, low = np.int64(0), np.int64(0), np.int64(-1)
    for level in range(n_levels):
        if table[level, 0] + table[level, 1] == 0:
            continue
        if low >= 0:
            agreement = left + n_right - right
            exchanged = right + n_left - left
            if max(agreement, exchanged) > rule[0]:
                rule[0] = max(agreement, exchanged)
                rule[1], rule[2] = low, level
                rule[3] = 1 if exchanged > agreement else 0
        left += table[level, 0]
        right += table[level, 1]
        low = np.int64(level)
