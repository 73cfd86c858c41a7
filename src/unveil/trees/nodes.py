"""Grow a tree: split nodes until they are small, pure or deep.

Nodes are visited depth first, left before right, so that a node's records stay one stretch of ``rows`` and a
node's left child is the node after it. Records keep their order within a node.

What makes it fast: counts by level of a large node's larger child are its own minus the smaller child's
(:mod:`unveil.trees.histogram`), and the records of a node that has become much smaller are copied together in
memory (:mod:`unveil.trees.records`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating, compiled
from unveil.trees.best import Best, new_best, reset
from unveil.trees.histogram import Histograms, count_node, count_predictor, give_back, new_histograms, pass_on, take
from unveil.trees.impurity import add_up, judge
from unveil.trees.ordered import (
    sort_by_level,
    thresholds_of_levels,
    thresholds_of_sorted_classes,
    thresholds_of_sorted_sums,
)
from unveil.trees.records import SHRUNK, Data, divide, gather, room_for_copies
from unveil.trees.scratch import SUMS, Node, Scratch, Search, new_scratch, new_search
from unveil.trees.subsets import split_levels

_LARGEST_EXACT = 2.0**62
_SPARSE = 4
"""Classes are sorted by level, not counted, when there are more than this many cells per record."""


_WAITING, _NODES, _SIDES = 0, 1, 2


class Limits(NamedTuple):
    """When a node is split, and which risk decides.

    Parameters
    ----------
    minbucket, minsplit, max_depth : int
        Smallest leaf, smallest node that is split, depth of the deepest leaf (0: the root).
    cp : float
        A node with risk of at most ``cp`` times the root's is not split.
    risk : int
        One of the codes of :mod:`unveil.trees.impurity`.
    """

    minbucket: int
    minsplit: int
    max_depth: int
    cp: float
    risk: int


class Grown(NamedTuple):
    """Nodes in the order of visit, left child first.

    Parameters
    ----------
    places : (t, 8) int64
        Start and stop in ``order``, depth, right child (-1 in leaves), variable (-1 in leaves), last code to
        the left, first code to the right, and start of the levels' sides in ``sides`` (-1 for thresholds).
    figures : (t, 3) float64
        Risk; gain of the split and of the runner-up (in squared steps, or n times Gini).
    sides : (s,) uint8
        Sides of levels, see :class:`unveil.trees.scratch.Scratch`.
    order : (m,) int32
        Records of the call by node.
    """

    places: NDArray[np.int64]
    figures: NDArray[np.float64]
    sides: NDArray[np.uint8]
    order: NDArray[np.int32]


@allocating
def grow_nodes(data: Data, limits: Limits) -> Grown:
    """Grow a tree.

    Parameters
    ----------
    data : Data
        Predictors and response; ``rows`` becomes the order of the result, ``sorted_rows`` is used up.
    limits : Limits
        Limits of the growth.

    Returns
    -------
    Grown
        The nodes.
    """
    m = data.rows.size
    counted = data.n_classes if data.n_classes > 2 else 0
    widest = np.int64(1)
    for f in range(data.n_levels.size):
        widest = max(widest, data.n_levels[f])
    scratch = new_scratch(m, widest, max(counted, 1))
    copies = room_for_copies(data)
    search = new_search(max(counted, 1))
    histograms = new_histograms(data, max(counted, 1), limits.max_depth)
    best = new_best()
    capacity = 2 * (m // limits.minbucket) + 1
    places = np.empty((capacity, 8), np.int64)
    figures = np.empty((capacity, 3), np.float64)
    sides = np.empty(max(np.int64(1024), widest), np.uint8)
    stack = np.empty((limits.max_depth + 2, 7), np.int64)
    held = np.zeros((limits.max_depth + 2, max(counted, SUMS)), np.int64)
    add_up(data, held[0], np.int64(0), np.int64(m), counted)
    _push(stack, 0, 0, m, 0, -1, -1, m, 0)
    so_far = np.array([1, 0, 0], np.int64)
    # Passing arrays on counts references here, but not in functions that create none: all nodes are visited there.
    _visit(data, copies, limits, scratch, search, histograms, best, places, figures, sides, stack, held, so_far)
    while so_far[_WAITING]:
        longer = np.empty(2 * sides.size + widest, np.uint8)
        longer[: sides.size] = sides
        sides = longer
        _visit(data, copies, limits, scratch, search, histograms, best, places, figures, sides, stack, held, so_far)
    n_nodes = so_far[_NODES]
    return Grown(places[:n_nodes], figures[:n_nodes], sides[: so_far[_SIDES]], data.rows)


@compiled
def _visit(
    data: Data,
    copies: Data,
    limits: Limits,
    scratch: Scratch,
    search: Search,
    histograms: Histograms,
    best: Best,
    places: NDArray[np.int64],
    figures: NDArray[np.float64],
    sides: NDArray[np.uint8],
    stack: NDArray[np.int64],
    held: NDArray[np.int64],
    so_far: NDArray[np.int64],
) -> None:
    """Visit nodes until none waits, or until ``sides`` is too short for the next one.

    Parameters
    ----------
    data, copies : Data
        Records, and room for copies of them.
    limits : Limits
        Limits of the growth.
    scratch, search, histograms, best
        Buffers.
    places, figures, sides
        See :class:`Grown`; filled.
    stack : (d, 7) int64
        Nodes that wait, see :func:`_push`.
    held : (d, k) int64
        Their class counts or sums.
    so_far : (3,) int64
        Numbers of waiting nodes, of visited nodes and of entries of ``sides``.
    """
    m = data.rows.size
    counted = data.n_classes if data.n_classes > 2 else 0
    widest = scratch.key.size
    waiting, n_nodes, n_sides = so_far[_WAITING], so_far[_NODES], so_far[_SIDES]
    least = limits.cp * figures[0, 0] if n_nodes else 0.0
    while waiting and n_sides + widest <= sides.size:
        waiting -= 1
        start, stop, depth = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        parent, slot, gathered, free = stack[waiting, 3], stack[waiting, 4], stack[waiting, 5], stack[waiting, 6]
        at = n_nodes
        n_nodes += 1
        if parent >= 0:
            places[parent, 3] = at
        n = stop - start
        for c in range(held.shape[1]):
            scratch.classes[0, c] = held[waiting, c]
        total, risk = judge(data.n_classes, held[waiting], n, counted, limits.risk)
        if at == 0:
            least = limits.cp * risk
        places[at, 0], places[at, 1], places[at, 2] = start, stop, depth
        for column in range(3, 8):
            places[at, column] = -1
        figures[at, 0], figures[at, 1], figures[at, 2] = risk, 0.0, 0.0
        feature = np.int64(-1)
        here = copies if gathered < m else data
        exact = float(n) * float(n) * float(data.span) <= _LARGEST_EXACT
        node = Node(start, stop, exact, total, limits.minbucket, counted)
        if n >= limits.minsplit and n >= 2 * limits.minbucket and depth < limits.max_depth and risk > least:
            if n * SHRUNK <= gathered:
                gather(here, copies, scratch.place, start, stop, free)
                here = copies
                gathered = n
                free += n
            if slot < 0 and n >= histograms.smallest:
                slot = take(histograms.free)
                count_node(histograms, slot, here, start, stop, counted)
            _find(best, scratch, search, node, here, histograms, slot)
            feature = best.split[0]
        if feature < 0:
            give_back(histograms.free, slot)
            if here.origin.size:
                for i in range(start, stop):
                    here.rows[i] = here.origin[np.uint32(here.rows[i])]
            continue
        side, cut = scratch.levels[2], best.split[1]
        n_sides = _note_split(places[at], figures[at], sides, n_sides, best, node, side, data)
        middle = divide(here, side, scratch.spare, scratch.goes_right, start, stop, feature, cut, limits.minsplit)
        _share(here, held[waiting + 1], held[waiting], start, middle, stop, counted)
        left_slot, right_slot = pass_on(histograms, slot, here, start, middle, stop, counted)
        _push(stack, waiting, middle, stop, depth + 1, at, right_slot, gathered, free)
        _push(stack, waiting + 1, start, middle, depth + 1, -1, left_slot, gathered, free)
        waiting += 2
    so_far[_WAITING], so_far[_NODES], so_far[_SIDES] = waiting, n_nodes, n_sides


@compiled
def _note_split(
    place: NDArray[np.int64],
    figure: NDArray[np.float64],
    sides: NDArray[np.uint8],
    n_sides: int,
    best: Best,
    node: Node,
    side: NDArray[np.int64],
    data: Data,
) -> int:
    """Write down the best split of a node; returns the new number of entries of ``sides``."""
    n, feature = node.stop - node.start, best.split[0]
    place[4] = feature
    if data.unordered[feature]:
        place[7] = n_sides
        for level in range(data.n_levels[feature]):
            sides[n_sides + level] = side[level]
        n_sides += data.n_levels[feature]
    else:
        place[5], place[6] = best.split[1], best.split[2]
    base = node.total / n if node.n_classes else 0.0
    unit = 1.0 if node.n_classes else (2.0 / n if data.n_classes else 1.0 / n)
    figure[1] = (best.score[0] - base) * unit
    figure[2] = (best.score[1] - base) * unit
    return n_sides


@compiled
def _push(
    stack: NDArray[np.int64],
    at: int,
    start: int,
    stop: int,
    depth: int,
    parent: int,
    slot: int,
    gathered: int,
    free: int,
) -> None:
    """Let a node wait; ``parent`` is that of a right child."""
    stack[at, 0], stack[at, 1], stack[at, 2] = start, stop, depth
    stack[at, 3], stack[at, 4], stack[at, 5] = parent, slot, gathered
    stack[at, 6] = free


@compiled
def _share(
    data: Data,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    start: int,
    middle: int,
    stop: int,
    counted: int,
) -> None:
    """What is known of the children's classes or sums; ``right`` holds what is known of their parent.

    Only the smaller child is added up; the rest is the larger one's.
    """
    if middle - start < stop - middle:
        add_up(data, left, start, middle, counted)
        for c in range(left.size):
            right[c] -= left[c]
        return
    add_up(data, left, middle, stop, counted)
    for c in range(left.size):
        smaller = left[c]
        left[c] = right[c] - smaller
        right[c] = smaller


@compiled
def _find(
    best: Best,
    scratch: Scratch,
    search: Search,
    node: Node,
    data: Data,
    histograms: Histograms,
    slot: int,
) -> None:
    """Best split of a node over all predictors; its counts are in a slot, or (-1) are made one by one."""
    start, stop, counted = node.start, node.stop, node.n_classes
    k = max(counted, 1)
    if counted:
        reset(best, node.total, stop - start)
    else:
        reset(best, np.int64(0), np.int64(1))
    buffer = histograms.number.shape[0] - 1
    for f in range(data.n_levels.size):
        codes = data.codes[f]
        if data.wide[f] >= 0:
            ordered = data.sorted_rows[data.wide[f]]
            if counted:
                for i in range(stop - start):
                    row = np.uint32(ordered[start + i])
                    scratch.ordered[0, i] = codes[row]
                    scratch.ordered[1, i] = data.y[row]
                thresholds_of_sorted_classes(best, node, f, scratch.ordered, scratch.classes)
            else:
                thresholds_of_sorted_sums(best, node, f, codes, data.y, ordered)
            continue
        levels = data.n_levels[f]
        at = slot if slot >= 0 else buffer
        first = histograms.offset[f] if slot >= 0 else np.int64(0)
        number = histograms.number[at, first : first + levels]
        cells = histograms.cells[at, first : first + levels]
        if slot < 0 and counted and not data.unordered[f] and levels * k > _SPARSE * (stop - start):
            sort_by_level(node, number, codes, data.y, data.rows, scratch.ordered)
            thresholds_of_sorted_classes(best, node, f, scratch.ordered, scratch.classes)
            continue
        if slot < 0:
            count_predictor(number, cells, codes, data.y, data.rows, start, stop, counted)
        if data.unordered[f]:
            split_levels(best, scratch, search, node, f, number, cells)
        else:
            thresholds_of_levels(best, node, f, number, cells, scratch.classes)
        if slot < 0:
            number[:] = 0
            histograms.flat[at, first * k : (first + levels) * k] = 0
