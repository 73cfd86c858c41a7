"""A fitted tree with everything that is needed to fit it again with one record moved.

The likelihood of a release under a tree is a product of donor shares. Per node, grown or collapsed, the counts of
original and of synthetic records by value of the response are kept, so that a record can be moved along its path and
the subtrees beside the path keep their figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating
from unveil.trees.column import Column
from unveil.trees.grow import _cuts, _data
from unveil.trees.impurity import GINI, MISCLASSIFIED, SQUARES
from unveil.trees.nodes import Limits, grow_nodes
from unveil.trees.response import Response, integer_target
from unveil.trees.tree import Settings

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]

LOWER_BITS = 21
"""Squares of a numeric response are summed in two halves of this many bits, as in :mod:`unveil.trees.impurity`."""
CELLS_PER_RECORD = 16
LARGEST_STORE = 1 << 22
"""Most cells of counts by level that are kept."""


class TreeRecords(NamedTuple):
    """Original and synthetic records of one tree.

    Parameters
    ----------
    codes : (p, n) int32
        Predictors of the original.
    response : (n,) int32
        Code of the response.
    y_of : (v,) int64
        Response in integers by code (:mod:`unveil.trees.response`); -1 for classes that do not occur.
    n_levels : (p,) int64
        Numbers of levels.
    unordered : (p,) bool
        Whether levels are split into sets.
    value_start : (p + 1,) int64
        Where the values of a predictor begin in ``values``; of equal value where codes are positions.
    values : (w,) float64
        Values of numeric predictors.
    n_classes : int
        0 for a numeric response, else the number of classes that occur.
    span : int
        Largest response in integers where it is summed.
    z_codes : (p, z) int32
        Predictors of the release.
    z_response : (z,) int32
        Response of the release.
    logs : (n + 2,) float64
        Natural logarithms of the whole numbers; 0 at 0.
    """

    codes: Codes
    response: Codes
    y_of: Ints
    n_levels: Ints
    unordered: NDArray[np.bool_]
    value_start: Ints
    values: Floats
    n_classes: int
    span: int
    z_codes: Codes
    z_response: Codes
    logs: Floats


class Nodes(NamedTuple):
    """The nodes as they were grown, in the order of visit; ``t`` nodes, left child next.

    Parameters
    ----------
    places : (t, 10) int64
        Start and stop in ``order``, depth, right child, predictor, last code to the left, first to the right, start
        in ``sides``, cut (smaller codes go left), last node below.
    sides : (s,) uint8
        Sides of levels, see :class:`unveil.trees.scratch.Scratch`.
    order : (m,) int32
        Original records by node.
    z_places : (t, 2) int64
        Start and stop in ``z_order``.
    z_order : (z,) int32
        Synthetic records by node.
    counted_as : (t,) int64
        Row of ``number`` and ``cells`` with the node's counts by level, -1: not kept.
    number : (h, l) int64
        Records by level, one predictor after the other.
    cells : (h, l, k) int64
        Sum of the response, or class counts, by level.
    offset : (p + 1,) int64
        First level of each predictor.
    """

    places: Ints
    sides: NDArray[np.uint8]
    order: Codes
    z_places: Ints
    z_order: Codes
    counted_as: Ints
    number: Ints
    cells: Ints
    offset: Ints


class NodeFigures(NamedTuple):
    """Figures of the nodes.

    Parameters
    ----------
    donors : (t, v) int32
        Original records by value of the response.
    released : (t, v) int32
        Synthetic records by value of the response.
    sums : (t, 4) int64
        Sum of the response in integers, and of its squares in three parts; of classes the sum of squared counts.
    risk, decrease, paid : (t,) float64
        Risk, its decrease by the node's split, and by what the collapse leaves of the subtree.
    splits : (t,) int64
        Splits that the collapse leaves.
    possible, impossible : (t,) int64
        Synthetic records that the node as a leaf can produce, and that it cannot.
    log_sum : (t,) float64
        Sum of log(donors with the value) over the possible ones.
    below_log : (t,) float64
        Log-likelihood of the node's synthetic records under what the collapse leaves.
    below_impossible : (t,) int64
        Of these the impossible ones.
    bounds : (3,) float64
        Price of a split; and the lowest and highest price at which every decision of growth and collapse is as it is.
    """

    donors: Codes
    released: Codes
    sums: Ints
    risk: Floats
    decrease: Floats
    paid: Floats
    splits: Ints
    possible: Ints
    impossible: Ints
    log_sum: Floats
    below_log: Floats
    below_impossible: Ints
    bounds: Floats


class KnownTree(NamedTuple):
    """A fitted tree, the release, and the limits of the fit."""

    records: TreeRecords
    nodes: Nodes
    figures: NodeFigures
    limits: Limits


def known_tree(
    response: Column,
    predictors: Sequence[Column],
    rows: NDArray[np.integer],
    settings: Settings,
    z_response: Codes,
    z_predictors: Codes,
) -> KnownTree:
    """Fit a tree and keep what moving one record takes.

    Parameters
    ----------
    response, predictors
        All original records.
    rows : (m,) int
        Those that are fitted; may be none.
    settings : Settings
        As of :func:`unveil.trees.grow`; without surrogates.
    z_response : (z,) int32
        Codes of the release.
    z_predictors : (p, z) int32
        Codes of the release.

    Returns
    -------
    KnownTree
        The tree.
    """
    fitted = np.ascontiguousarray(rows, dtype=np.int32)
    records = _records(response, predictors, fitted, z_response, z_predictors)
    risk = SQUARES if response.kind == "numeric" else (MISCLASSIFIED if settings.collapse else GINI)
    limits = Limits(settings.minbucket, settings.minsplit, settings.max_depth, settings.cp, risk)
    if fitted.size == 0:
        places = np.zeros((1, 10), dtype=np.int64)
        places[0, 3:8] = -1
        grown_order, sides = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint8)
        raw = np.zeros((1, 3))
    else:
        # The copy is grown in place: the records kept here stay as they are.
        target = integer_target(response, fitted)
        grown = grow_nodes(_data(predictors, target, fitted), limits)
        places = np.zeros((grown.places.shape[0], 10), dtype=np.int64)
        places[:, :8] = grown.places
        cut, _ = _cuts(predictors, grown.places[:, 4], grown.places[:, 5], grown.places[:, 6])
        places[:, 8] = cut
        grown_order, sides, raw = grown.order, grown.sides, grown.figures
    z_end = _mark_last(places, records, sides)
    z_order = np.argsort(z_end, kind="stable").astype(np.int32)
    z_sorted = z_end[z_order]
    nodes_range = np.arange(places.shape[0])
    z_places = np.stack(
        [np.searchsorted(z_sorted, nodes_range), np.searchsorted(z_sorted, places[:, 9], side="right")], axis=1
    ).astype(np.int64)
    k = records.n_classes if records.n_classes > 2 else 1
    offset = np.append(0, np.cumsum(records.n_levels)).astype(np.int64)
    counted_as = _choose_counted(places, int(offset[-1]), k)
    number, cells = _count_nodes(records, places, grown_order, counted_as, offset, k)
    nodes = Nodes(places, sides, grown_order, z_places, z_order, counted_as.astype(np.int64), number, cells, offset)
    figures = _figures(records, nodes, limits, raw[:, 0].copy(), raw[:, 1].copy(), max(response.n_levels, 1))
    return KnownTree(records, nodes, figures, limits)


def _records(
    response: Column, predictors: Sequence[Column], fitted: Codes, z_response: Codes, z_predictors: Codes
) -> TreeRecords:
    n, p = response.codes.size, len(predictors)
    codes = np.empty((p, n), dtype=np.int32)
    for f, predictor in enumerate(predictors):
        codes[f] = predictor.codes
    y_of, target = _integers_by_code(response, fitted)
    sizes = [0 if predictor.values is None else predictor.n_levels for predictor in predictors]
    values = [predictor.values for predictor in predictors if predictor.values is not None]
    logs = np.zeros(n + 2)
    logs[1:] = np.log(np.arange(1, n + 2))
    return TreeRecords(
        codes,
        response.codes,
        y_of,
        np.array([predictor.n_levels for predictor in predictors], dtype=np.int64),
        np.array([predictor.kind == "categorical" for predictor in predictors], dtype=np.bool_),
        np.append(0, np.cumsum(sizes)).astype(np.int64),
        np.concatenate(values) if values else np.zeros(0),
        target.n_classes,
        target.span,
        np.ascontiguousarray(z_predictors, dtype=np.int32).reshape(p, -1)
        if p
        else np.zeros((0, z_response.size), dtype=np.int32),
        np.ascontiguousarray(z_response, dtype=np.int32),
        logs,
    )


def _integers_by_code(response: Column, fitted: Codes) -> tuple[Ints, Response]:
    """Response in integers by code, and the target of the fit."""
    everything = Column(
        np.arange(response.n_levels, dtype=np.int32), response.kind, response.n_levels, response.values, response.name
    )
    if response.values is not None:
        # One more record would change the grid only beyond a million of them.
        target = integer_target(everything, fitted)
        return target.y, target
    occurs = np.bincount(response.codes[fitted], minlength=response.n_levels) > 0
    recoded = np.where(occurs, np.cumsum(occurs) - 1, -1).astype(np.int64)
    return recoded, Response(recoded, int(occurs.sum()), 1, 1.0)


def _choose_counted(places: Ints, n_levels: int, k: int) -> Ints:
    """Number the nodes whose counts by level are kept: those that are slow to count again."""
    size = places[:, 1] - places[:, 0]
    least = max(64, n_levels * k // CELLS_PER_RECORD)
    wanted = (size >= least) & (places[:, 2] >= 0)
    most = max(LARGEST_STORE // max(n_levels * k, 1), 0)
    if wanted.sum() > most:
        wanted &= size >= (np.sort(size)[::-1][most - 1] + 1 if most else size.max() + 1)
    return np.where(wanted, np.cumsum(wanted) - 1, -1).astype(np.int64)


@allocating
def _mark_last(places: Ints, records: TreeRecords, sides: NDArray[np.uint8]) -> Codes:
    """Write the last node below each node; the last node of every synthetic record's path."""
    t = places.shape[0]
    for node in range(t - 1, -1, -1):
        places[node, 9] = node if places[node, 3] < 0 else places[places[node, 3], 9]
    z = records.z_response.size
    ends = np.zeros(z, np.int32)
    for i in range(z):
        here = np.int64(0)
        while places[here, 3] >= 0:
            code = records.z_codes[places[here, 4], i]
            side_start = places[here, 7]
            to_right = code >= places[here, 8] if side_start < 0 else sides[side_start + code] & 1 == 1
            here = places[here, 3] if to_right else here + 1
        ends[i] = here
    return ends


@allocating
def _count_nodes(
    records: TreeRecords, places: Ints, order: Codes, counted_as: Ints, offset: Ints, k: int
) -> tuple[Ints, Ints]:
    """Counts by level of the chosen nodes."""
    h = np.int64(0)
    for node in range(places.shape[0]):
        h = max(h, counted_as[node] + 1)
    number = np.zeros((h, offset[-1]), np.int64)
    cells = np.zeros((h, offset[-1], k), np.int64)
    counted = records.n_classes > 2
    for node in range(places.shape[0]):
        at = counted_as[node]
        if at < 0:
            continue
        for f in range(records.n_levels.size):
            for i in range(places[node, 0], places[node, 1]):
                row = order[i]
                level = offset[f] + records.codes[f, row]
                y = records.y_of[records.response[row]]
                number[at, level] += 1
                if counted:
                    cells[at, level, y] += 1
                else:
                    cells[at, level, 0] += y
    return number, cells


@allocating
def _figures(records: TreeRecords, nodes: Nodes, limits: Limits, risk: Floats, gain: Floats, v: int) -> NodeFigures:
    """Figures of all nodes, children before parents."""
    places = nodes.places
    t = places.shape[0]
    donors = np.zeros((t, v), np.int32)
    released = np.zeros((t, v), np.int32)
    sums = np.zeros((t, 4), np.int64)
    decrease = np.zeros(t)
    paid = np.zeros(t)
    splits = np.zeros(t, np.int64)
    possible = np.zeros(t, np.int64)
    impossible = np.zeros(t, np.int64)
    log_sum = np.zeros(t)
    below_log = np.zeros(t)
    below_impossible = np.zeros(t, np.int64)
    price = limits.cp * risk[0]
    lowest, highest = -1.0, np.inf
    lower = (1 << LOWER_BITS) - 1
    for node in range(t - 1, -1, -1):
        start, stop, right = places[node, 0], places[node, 1], places[node, 3]
        if right < 0:
            for i in range(start, stop):
                code = records.response[nodes.order[i]]
                donors[node, code] += 1
                if records.n_classes == 0:
                    y = records.y_of[code]
                    upper, low = y >> LOWER_BITS, y & lower
                    sums[node, 0] += y
                    sums[node, 1] += upper * upper
                    sums[node, 2] += upper * low
                    sums[node, 3] += low * low
            for i in range(nodes.z_places[node, 0], nodes.z_places[node, 1]):
                released[node, records.z_response[nodes.z_order[i]]] += 1
        else:
            for c in range(v):
                donors[node, c] = donors[node + 1, c] + donors[right, c]
                released[node, c] = released[node + 1, c] + released[right, c]
            for c in range(4):
                sums[node, c] = sums[node + 1, c] + sums[right, c]
        if records.n_classes > 0:
            squares = np.int64(0)
            for c in range(v):
                squares += np.int64(donors[node, c]) * np.int64(donors[node, c])
            sums[node, 0] = squares
        for c in range(v):
            if donors[node, c] > 0:
                possible[node] += released[node, c]
                log_sum[node] += released[node, c] * records.logs[donors[node, c]]
            else:
                impossible[node] += released[node, c]
        if right >= 0:
            decrease[node] = gain[node]
            if limits.risk == MISCLASSIFIED:
                decrease[node] = risk[node] - risk[node + 1] - risk[right]
            highest = min(highest, risk[node])
            total = decrease[node] + paid[node + 1] + paid[right]
            count = 1 + splits[node + 1] + splits[right]
            if total > price * count:
                paid[node], splits[node] = total, count
                highest = min(highest, total / count)
                below_log[node] = below_log[node + 1] + below_log[right]
                below_impossible[node] = below_impossible[node + 1] + below_impossible[right]
            else:
                lowest = max(lowest, total / count)
        else:
            n = stop - start
            waits = n >= limits.minsplit and n >= 2 * limits.minbucket and places[node, 2] < limits.max_depth
            if waits and risk[node] <= price:
                lowest = max(lowest, risk[node])
        if right < 0 or splits[node] == 0:
            below_log[node] = log_sum[node] - possible[node] * records.logs[stop - start]
            below_impossible[node] = impossible[node]
    bounds = np.zeros(3)
    bounds[0], bounds[1], bounds[2] = price, lowest, highest
    return NodeFigures(
        donors, released, sums, risk, decrease, paid, splits, possible, impossible, log_sum, below_log,
        below_impossible, bounds,
    )  # fmt: skip
