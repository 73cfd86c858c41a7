"""Grow part of a tree again, with one record moved, and take the likelihood of the release below it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.walk_tree import Floats, Ints, KnownTree
from unveil.trees._compiled import allocating, compiled
from unveil.trees.best import Best, new_best, reset
from unveil.trees.histogram import Histograms, count_predictor
from unveil.trees.impurity import MISCLASSIFIED, summarise
from unveil.trees.nodes import _LARGEST_EXACT, _SPARSE
from unveil.trees.ordered import sort_by_level, thresholds_of_levels, thresholds_of_sorted_classes
from unveil.trees.records import Data, divide
from unveil.trees.scratch import Node, Scratch, Search, new_scratch, new_search
from unveil.trees.subsets import split_levels


class Workspace(NamedTuple):
    """Buffers of one thread.

    Parameters
    ----------
    codes : (p, m) int32
        Predictors of the node's records.
    y : (m,) int64
        Their response in integers.
    response : (m,) int32
        Their response.
    rows, spare : (m,) int32
        Records by node.
    recoded : (v,) int64
        Response in integers by code, where classes come or go.
    n_levels, wide : (p,) int64
        As in :class:`unveil.trees.records.Data`; no predictor is read in sorted order.
    sorted_rows : (0, m) int32
        As there.
    scratch, search, best, histograms
        Buffers of the search for splits.
    z_rows, z_spare : (z,) int32
        Synthetic records by node.
    places : (t, 7) int64
        Regrown nodes: start, stop, right child, splits, start and stop in ``z_rows``, last node below.
    amounts : (t, 3) float64
        Regrown nodes: risk, decrease, paid.
    waiting : (d, 6) int64
        Regrown nodes in waiting: start, stop, depth, parent, start and stop in ``z_rows``.
    donors : (v,) int64
        Zero between uses.
    path : (e, 9) int64
        Nodes of a walk: node, whether the record leaves and comes, kind, entries of the children, splits,
        impossible values; records.
    path_amounts : (e, 4) float64
        Risk, decrease, paid, log-likelihood.
    found : (2,) float64
        Paid and log-likelihood of what was regrown.
    found_counts : (2,) int64
        Splits and impossible values of it.
    """

    codes: NDArray[np.int32]
    y: Ints
    response: NDArray[np.int32]
    rows: NDArray[np.int32]
    spare: NDArray[np.int32]
    goes_right: NDArray[np.uint8]
    recoded: Ints
    wide: Ints
    sorted_rows: NDArray[np.int32]
    scratch: Scratch
    search: Search
    best: Best
    histograms: Histograms
    z_rows: NDArray[np.int32]
    z_spare: NDArray[np.int32]
    places: Ints
    amounts: Floats
    waiting: Ints
    donors: Ints
    path: Ints
    path_amounts: Floats
    found: Floats
    found_counts: Ints


@allocating
def new_workspace(tree: KnownTree) -> Workspace:
    """Buffers for walks in a tree."""
    records = tree.records
    p = records.n_levels.size
    m = records.response.size + 1
    v = records.y_of.size
    z = records.z_response.size
    k = v if records.n_classes > 0 else 1
    widest = np.int64(1)
    for f in range(p):
        widest = max(widest, records.n_levels[f])
    depth = min(np.int64(tree.limits.max_depth), np.int64(m))
    capacity = 2 * (m // tree.limits.minbucket) + 1
    cells = np.zeros((1, widest, k), np.int64)
    return Workspace(
        np.empty((p, m), np.int32),
        np.empty(m, np.int64),
        np.empty(m, np.int32),
        np.empty(m, np.int32),
        np.empty(m, np.int32),
        np.empty(m, np.uint8),
        np.empty(v, np.int64),
        np.full(p, -1, np.int64),
        np.empty((0, m), np.int32),
        new_scratch(m, widest, k),
        new_search(k),
        new_best(),
        Histograms(
            np.zeros((1, widest), np.int64), cells, cells.reshape(1, widest * k), np.zeros(p + 1, np.int64),
            np.zeros(1, np.int64), m + 1,
        ),
        np.empty(z, np.int32),
        np.empty(z, np.int32),
        np.empty((capacity, 7), np.int64),
        np.empty((capacity, 3), np.float64),
        np.empty((depth + 2, 6), np.int64),
        np.zeros(v, np.int64),
        np.empty((2 * depth + 4, 9), np.int64),
        np.empty((2 * depth + 4, 4), np.float64),
        np.zeros(2, np.float64),
        np.zeros(2, np.int64),
    )  # fmt: skip


@compiled
def gather_node(
    tree: KnownTree, work: Workspace, node: int, leaves: int, comes: int, codes: NDArray[np.int32], response: int
) -> int:
    """Copy a node's records, without the one that leaves (-1: none) and with the one that comes.

    Returns
    -------
    int
        Number of records.
    """
    records, order = tree.records, tree.nodes.order
    start, stop = tree.nodes.places[node, 0], tree.nodes.places[node, 1]
    m = 0
    for i in range(start, stop):
        row = order[i]
        if row != leaves:
            work.rows[m] = row
            m += 1
    for f in range(records.n_levels.size):
        source, target = records.codes[f], work.codes[f]
        for i in range(m):
            target[i] = source[work.rows[i]]
    for i in range(m):
        code = records.response[work.rows[i]]
        work.response[i] = code
        work.y[i] = records.y_of[code]
        work.rows[i] = i
    if comes:
        for f in range(records.n_levels.size):
            work.codes[f, m] = codes[f]
        work.response[m] = response
        work.y[m] = records.y_of[response]
        work.rows[m] = m
        m += 1
    return m


@compiled
def recode_classes(work: Workspace, m: int) -> int:
    """Number the classes that occur among the gathered records anew; returns their number."""
    recoded = work.recoded
    for c in range(recoded.size):
        recoded[c] = 0
    for i in range(m):
        recoded[work.response[i]] = 1
    n_classes = 0
    for c in range(recoded.size):
        if recoded[c]:
            recoded[c] = n_classes
            n_classes += 1
    for i in range(m):
        work.y[i] = recoded[work.response[i]]
    return n_classes


@compiled
def find_best(tree: KnownTree, work: Workspace, node: Node, n_classes: int, skip: NDArray[np.bool_]) -> None:
    """Best split of gathered records over the predictors that are not skipped."""
    records = tree.records
    start, stop, counted = node.start, node.stop, node.n_classes
    k = max(counted, 1)
    if counted:
        reset(work.best, node.total, stop - start)
    else:
        reset(work.best, 0, 1)
    for f in range(records.n_levels.size):
        if skip[f]:
            continue
        codes = work.codes[f]
        levels = records.n_levels[f]
        number = work.histograms.number[0, :levels]
        cells = work.histograms.cells[0, :levels]
        if counted and not records.unordered[f] and levels * k > _SPARSE * (stop - start):
            sort_by_level(node, number, codes, work.y, work.rows, work.scratch.ordered)
            thresholds_of_sorted_classes(work.best, node, f, work.scratch.ordered, work.scratch.classes)
            continue
        count_predictor(number, cells, codes, work.y, work.rows, start, stop, counted)
        if records.unordered[f]:
            split_levels(work.best, work.scratch, work.search, node, f, number, cells)
        else:
            thresholds_of_levels(work.best, node, f, number, cells, work.scratch.classes)
        for level in range(levels):
            if number[level]:
                number[level] = 0
                for c in range(k):
                    cells[level, c] = 0


@compiled
def cut_between(tree: KnownTree, feature: int, low: int, high: int) -> int:
    """Cut of an ordered predictor: smaller codes go left; as in :func:`unveil.trees.grow`."""
    first, end = tree.records.value_start[feature], tree.records.value_start[feature + 1]
    if first == end:
        return int((low + high + 1) // 2)
    values = tree.records.values[first:end]
    below, above = values[low], values[high]
    middle = 0.5 * below + 0.5 * above
    if not middle > below:
        middle = above
    cut = low + 1
    while values[cut] < middle:
        cut += 1
    return int(cut)


@compiled
def _divide_release(
    tree: KnownTree, work: Workspace, start: int, stop: int, feature: int, cut: int, unordered: bool
) -> int:
    """Send synthetic records to the children; returns where the right child's begin."""
    codes = tree.records.z_codes[feature]
    side = work.scratch.levels[2]
    left, right = np.int64(start), np.int64(0)
    for i in range(start, stop):
        row = work.z_rows[i]
        code = codes[row]
        to_right = side[code] & 1 if unordered else np.int64(code >= cut)
        work.z_rows[left] = row
        work.z_spare[right] = row
        left += 1 - to_right
        right += to_right
    for i in range(right):
        work.z_rows[left + i] = work.z_spare[i]
    return int(left)


@compiled
def _leaf_likelihood(tree: KnownTree, work: Workspace, at: int) -> tuple[int, float]:
    """Impossible values and log-likelihood of a regrown leaf."""
    places, donors, logs = work.places, work.donors, tree.records.logs
    start, stop = places[at, 0], places[at, 1]
    for i in range(start, stop):
        donors[work.response[work.rows[i]]] += 1
    impossible, possible, total = 0, 0, 0.0
    for i in range(places[at, 4], places[at, 5]):
        count = donors[tree.records.z_response[work.z_rows[i]]]
        if count:
            possible += 1
            total += logs[count]
        else:
            impossible += 1
    for i in range(start, stop):
        donors[work.response[work.rows[i]]] = 0
    return impossible, total - possible * logs[stop - start]


@compiled
def _wait(work: Workspace, at: int, start: int, stop: int, depth: int, parent: int, z_start: int, z_stop: int) -> None:
    waiting = work.waiting
    waiting[at, 0], waiting[at, 1], waiting[at, 2] = start, stop, depth
    waiting[at, 3], waiting[at, 4], waiting[at, 5] = parent, z_start, z_stop


@compiled
def regrow(
    tree: KnownTree,
    work: Workspace,
    node: int,
    m: int,
    n_classes: int,
    least: float,
    keep: NDArray[np.bool_],
) -> None:
    """Grow the gathered records of a node anew, collapse, and take the likelihood; see ``Workspace.found``.

    Parameters
    ----------
    tree : KnownTree
        The tree.
    work : Workspace
        Holds the gathered records; receives what is found.
    node : int
        The node, for its depth and its synthetic records.
    m : int
        Number of gathered records.
    n_classes : int
        Number of classes, 0: numeric.
    least : float
        Risk at or below which nodes are not split, and the price of a split.
    keep : (p,) bool
        All false: no predictor is skipped.
    """
    limits, records = tree.limits, tree.records
    data = Data(
        work.codes, records.n_levels, records.unordered, work.wide, work.sorted_rows, work.y, n_classes, records.span,
        work.rows, work.rows,
    )  # fmt: skip
    places, amounts, scratch = work.places, work.amounts, work.scratch
    z_first, z_end = tree.nodes.z_places[node, 0], tree.nodes.z_places[node, 1]
    z = z_end - z_first
    for i in range(z):
        work.z_rows[i] = tree.nodes.z_order[z_first + i]
    counted = n_classes if n_classes > 2 else 0
    # Plain numbers would be types of their own, and everything compiled for them once more.
    zero, nobody = np.int64(0), np.int64(-1)
    _wait(work, zero, zero, np.int64(m), tree.nodes.places[node, 2], nobody, zero, z)
    left_waiting = 1
    t = 0
    while left_waiting:
        left_waiting -= 1
        start, stop = work.waiting[left_waiting, 0], work.waiting[left_waiting, 1]
        depth, parent = work.waiting[left_waiting, 2], work.waiting[left_waiting, 3]
        z_start, z_stop = work.waiting[left_waiting, 4], work.waiting[left_waiting, 5]
        at = t
        t += 1
        if parent >= 0:
            places[parent, 2] = at
        n = stop - start
        total, risk = summarise(data, scratch.classes, start, stop, counted, limits.risk)
        places[at, 0], places[at, 1], places[at, 2], places[at, 3] = start, stop, -1, 0
        places[at, 4], places[at, 5] = z_start, z_stop
        amounts[at, 0], amounts[at, 1], amounts[at, 2] = risk, 0.0, 0.0
        if not (n >= limits.minsplit and n >= 2 * limits.minbucket and depth < limits.max_depth and risk > least):
            continue
        exact = float(n) * float(n) * float(records.span) <= _LARGEST_EXACT
        find_best(tree, work, Node(start, stop, exact, total, limits.minbucket, counted), n_classes, keep)
        feature = work.best.split[0]
        if feature < 0:
            continue
        base = total / n if counted else 0.0
        unit = 1.0 if counted else (2.0 / n if n_classes else 1.0 / n)
        amounts[at, 1] = (work.best.score[0] - base) * unit
        unordered = records.unordered[feature]
        cut = 0 if unordered else cut_between(tree, feature, work.best.split[1], work.best.split[2])
        z_middle = _divide_release(tree, work, z_start, z_stop, feature, cut, unordered)
        middle = divide(
            data, scratch.levels[2], work.spare, work.goes_right, start, stop, feature, work.best.split[1],
            limits.minsplit,
        )  # fmt: skip
        places[at, 2] = 0
        _wait(work, left_waiting, middle, stop, depth + 1, at, z_middle, z_stop)
        _wait(work, left_waiting + 1, start, middle, depth + 1, nobody, z_start, z_middle)
        left_waiting += 2
    _collapse(tree, work, t, least)


@compiled
def _collapse(tree: KnownTree, work: Workspace, t: int, price: float) -> None:
    """Collapse the regrown nodes, and sum up the likelihood of the leaves that are left."""
    places, amounts = work.places, work.amounts
    for at in range(t - 1, -1, -1):
        right = places[at, 2]
        places[at, 6] = at if right < 0 else places[right, 6]
        if right < 0:
            continue
        if tree.limits.risk == MISCLASSIFIED:
            amounts[at, 1] = amounts[at, 0] - amounts[at + 1, 0] - amounts[right, 0]
        total = amounts[at, 1] + amounts[at + 1, 2] + amounts[right, 2]
        count = 1 + places[at + 1, 3] + places[right, 3]
        if total > price * count:
            amounts[at, 2], places[at, 3] = total, count
    impossible, log = 0, 0.0
    here = np.int64(0)
    while here < t:
        if places[here, 3] > 0:
            here += 1
            continue
        more, own = _leaf_likelihood(tree, work, here)
        impossible += more
        log += own
        here = places[here, 6] + 1
    work.found[0], work.found[1] = amounts[0, 2], log
    work.found_counts[0], work.found_counts[1] = places[0, 3], impossible
