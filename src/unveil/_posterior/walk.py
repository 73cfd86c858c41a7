"""Fit a tree again with one record moved, along the record's path only.

Only nodes on the old and the new path of the record see other data. They are walked from the root: where the chosen
split stays the best, the walk goes on below it; where it does not, what hangs on the node is grown anew. Then the
collapse is redone along the path. Subtrees beside the path keep their figures, unless the price of a split, which
depends on the root's risk, crosses one of the prices that decided something: then the whole tree is grown anew.

The result, impossible values and log-likelihood of the release, equals that of a fit to the changed records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from unveil._posterior.walk_grow import Workspace, cut_between, find_best, gather_node, recode_classes, regrow
from unveil._posterior.walk_tree import LOWER_BITS, Codes, Floats, Ints, KnownTree
from unveil.trees._compiled import compiled
from unveil.trees.best import reset
from unveil.trees.impurity import GINI, MISCLASSIFIED, _within
from unveil.trees.nodes import _LARGEST_EXACT
from unveil.trees.ordered import thresholds_of_levels
from unveil.trees.scratch import Node
from unveil.trees.subsets import split_levels

T = TypeVar("T")

_LEAF, _SPLIT, _REGROWN = 0, 1, 2
_GUARD = 1e-9
"""Prices this close to one that decides something are decided anew."""


def inlined(function: Callable[..., T]) -> Callable[..., T]:
    """A part of the one function that calls it.

    Numba compiles every function together with those it calls. Along a chain of large functions the innermost would be
    compiled again for each of them.
    """
    return cast(Callable[..., T], numba.njit(inline="always", nogil=True, error_model="numpy")(function))


@compiled
def _figures_of(
    tree: KnownTree, node: int, leaves: bool, old: int, comes: bool, new: int, n_classes: int
) -> tuple[int, float]:
    """Total (as in :func:`unveil.trees.impurity.summarise`) and risk of a node with the record moved."""
    figures, records = tree.figures, tree.records
    n = tree.nodes.places[node, 1] - tree.nodes.places[node, 0] - leaves + comes
    if n_classes == 0:
        total, high = figures.sums[node, 0], figures.sums[node, 1]
        mixed, low = figures.sums[node, 2], figures.sums[node, 3]
        lower = (1 << LOWER_BITS) - 1
        for sign in (-1, 1):
            if (sign < 0 and not leaves) or (sign > 0 and not comes):
                continue
            y = records.y_of[old] if sign < 0 else records.y_of[new]
            top, rest = y >> LOWER_BITS, y & lower
            total += sign * y
            high += sign * top * top
            mixed += sign * top * rest
            low += sign * rest * rest
        return int(total), _within(n, total, high, mixed, low)
    donors = figures.donors[node]
    squares = figures.sums[node, 0]
    if leaves:
        squares -= 2 * np.int64(donors[old]) - 1
    if comes:
        squares += 2 * (np.int64(donors[new]) - (leaves and old == new)) + 1
    if n_classes > 2:
        if tree.limits.risk == GINI:
            return int(squares), n - squares / n
        largest = np.int64(0)
        for c in range(donors.size):
            count = np.int64(donors[c]) - (leaves and c == old) + (comes and c == new)
            largest = max(largest, count)
        return int(squares), float(n - largest)
    ones = np.int64(0)
    for c in range(donors.size):
        if records.y_of[c] == 1:
            ones += np.int64(donors[c]) - (leaves and c == old) + (comes and c == new)
    if n_classes == 1:
        return int(ones), 0.0
    if tree.limits.risk == MISCLASSIFIED:
        return int(ones), float(min(ones, n - ones))
    return int(ones), 2.0 * ones * (n - ones) / n


@compiled
def _leaf_of(tree: KnownTree, node: int, leaves: bool, old: int, comes: bool, new: int) -> tuple[int, float]:
    """Impossible values and log-likelihood of a node as a leaf with the record moved."""
    figures, logs = tree.figures, tree.records.logs
    n = tree.nodes.places[node, 1] - tree.nodes.places[node, 0] - leaves + comes
    possible, impossible, total = figures.possible[node], figures.impossible[node], figures.log_sum[node]
    if not (leaves and comes and old == new):
        if leaves:
            count, released = figures.donors[node, old], figures.released[node, old]
            if count == 1:
                possible -= released
                impossible += released
            else:
                total += released * (logs[count - 1] - logs[count])
        if comes:
            count, released = figures.donors[node, new], figures.released[node, new]
            if count == 0:
                possible += released
                impossible -= released
            else:
                total += released * (logs[count + 1] - logs[count])
    return int(impossible), total - possible * logs[n]


@compiled
def _find_counted(
    tree: KnownTree,
    work: Workspace,
    at: int,
    node: Node,
    leaves: int,
    old_y: int,
    comes: bool,
    codes: Codes,
    new_y: int,
    skip: NDArray[np.bool_],
) -> None:
    """Best split of a node whose counts by level are kept."""
    records, nodes = tree.records, tree.nodes
    counted = node.n_classes
    k = max(counted, 1)
    if counted:
        reset(work.best, node.total, node.stop - node.start)
    else:
        reset(work.best, 0, 1)
    for f in range(records.n_levels.size):
        if skip[f]:
            continue
        levels = records.n_levels[f]
        number = work.histograms.number[0, :levels]
        cells = work.histograms.cells[0, :levels]
        first = nodes.offset[f]
        for level in range(levels):
            number[level] = nodes.number[at, first + level]
            for c in range(k):
                cells[level, c] = nodes.cells[at, first + level, c]
        if leaves >= 0:
            level = records.codes[f, leaves]
            number[level] -= 1
            if counted:
                cells[level, old_y] -= 1
            else:
                cells[level, 0] -= old_y
        if comes:
            level = codes[f]
            number[level] += 1
            if counted:
                cells[level, new_y] += 1
            else:
                cells[level, 0] += new_y
        if records.unordered[f]:
            split_levels(work.best, work.scratch, work.search, node, f, number, cells)
        else:
            thresholds_of_levels(work.best, node, f, number, cells, work.scratch.classes)
        for level in range(levels):
            number[level] = 0
            for c in range(k):
                cells[level, c] = 0


@compiled
def _same_split(tree: KnownTree, work: Workspace, node: int) -> bool:
    """Whether the best split sends everything where the node's own split sends it."""
    places, best = tree.nodes.places, work.best
    feature = best.split[0]
    if feature != places[node, 4]:
        return False
    if not tree.records.unordered[feature]:
        if best.split[1] == places[node, 5] and best.split[2] == places[node, 6]:
            return True
        return bool(cut_between(tree, feature, best.split[1], best.split[2]) == places[node, 8])
    first = places[node, 7]
    for level in range(tree.records.n_levels[feature]):
        if (work.scratch.levels[2, level] & 1) != (tree.nodes.sides[first + level] & 1):
            return False
    return True


@compiled
def _goes_right(tree: KnownTree, node: int, code: int) -> bool:
    places = tree.nodes.places
    if places[node, 7] < 0:
        return bool(code >= places[node, 8])
    return bool(tree.nodes.sides[places[node, 7] + code] & 1 == 1)


@compiled
def _classes_change(tree: KnownTree, leaves: bool, old: int, comes: bool, new: int) -> bool:
    """Whether a class comes or goes."""
    if tree.records.n_classes == 0 or (leaves and comes and old == new):
        return False
    donors = tree.figures.donors[0]
    return bool((leaves and donors[old] == 1) or (comes and donors[new] == 0))


@inlined
def _walk(
    tree: KnownTree,
    work: Workspace,
    record: int,
    leaves: bool,
    comes: bool,
    codes: Codes,
    response: int,
    none: NDArray[np.bool_],
) -> tuple[int, float]:
    """Impossible values and log-likelihood of the release under the tree fitted with one record moved.

    Parameters
    ----------
    tree : KnownTree
        The tree as it was fitted.
    work : Workspace
        Buffers.
    record : int
        The record that is moved.
    leaves : bool
        Whether it is among the fitted records.
    comes : bool
        Whether it is among those of the new fit.
    codes : (p,) int32
        Its new predictors.
    response : int
        Its new response.
    none : (p,) bool
        All false.

    Returns
    -------
    impossible : int
        Synthetic values that the new tree cannot produce.
    log : float
        Log-likelihood of the others.
    """
    records, nodes, figures, limits = tree.records, tree.nodes, tree.figures, tree.limits
    old = records.response[record]
    m = nodes.places[0, 1] - leaves + comes
    if m == 0:
        return records.z_response.size, 0.0
    n_classes = records.n_classes
    counted = n_classes if n_classes > 2 else 0
    least = 0.0
    anew = (m == 1 and comes) or nodes.places[0, 1] == 0 or _classes_change(tree, leaves, old, comes, response)
    if not anew:
        least = limits.cp * _figures_of(tree, np.int64(0), leaves, old, comes, response, n_classes)[1]
        bounds = figures.bounds
        kept = bounds[1] * (1 + _GUARD) <= least and least < bounds[2] * (1 - _GUARD)
        anew = least != bounds[0] and not kept
    if anew:
        return _from_root(tree, work, record if leaves else np.int64(-1), comes, codes, response, none)
    path, amounts = work.path, work.path_amounts
    path[0, 0], path[0, 1], path[0, 2] = 0, leaves, comes
    entries = 1
    entry = 0
    while entry < entries:
        node, here_old, here_new = path[entry, 0], path[entry, 1] == 1, path[entry, 2] == 1
        path[entry, 3], path[entry, 4], path[entry, 5] = _LEAF, -1, -1
        path[entry, 6], path[entry, 7] = 0, 0
        amounts[entry, 1], amounts[entry, 2], amounts[entry, 3] = 0.0, 0.0, 0.0
        places = nodes.places[node]
        n = places[1] - places[0] - here_old + here_new
        total, risk = _figures_of(tree, node, here_old, old, here_new, response, n_classes)
        amounts[entry, 0] = risk
        splits = n >= limits.minsplit and n >= 2 * limits.minbucket and places[2] < limits.max_depth and risk > least
        if splits:
            exact = float(n) * float(n) * float(records.span) <= _LARGEST_EXACT
            current = Node(0, n, exact, total, limits.minbucket, counted)
            at = nodes.counted_as[node]
            gone = record if here_old else -1
            if at >= 0:
                if counted:
                    for c in range(records.y_of.size):
                        y = records.y_of[c]
                        if y >= 0:
                            count = np.int64(figures.donors[node, c]) - (here_old and c == old)
                            work.scratch.classes[0, y] = count + (here_new and c == response)
                _find_counted(
                    tree, work, at, current, gone, records.y_of[old], here_new, codes, records.y_of[response], none
                )
            else:
                gather_node(tree, work, node, gone, here_new, codes, response)
                if counted:
                    for c in range(n_classes):
                        work.scratch.classes[0, c] = 0
                    for i in range(n):
                        work.scratch.classes[0, work.y[i]] += 1
                find_best(tree, work, current, n_classes, none)
            if work.best.split[0] >= 0:
                if places[3] >= 0 and _same_split(tree, work, node):
                    base = total / n if counted else 0.0
                    unit = 1.0 if counted else (2.0 / n if n_classes else 1.0 / n)
                    amounts[entry, 1] = (work.best.score[0] - base) * unit
                    path[entry, 3] = _SPLIT
                    old_right = here_old and _goes_right(tree, node, records.codes[places[4], record])
                    new_right = here_new and _goes_right(tree, node, codes[places[4]])
                    old_left, new_left = here_old and not old_right, here_new and not new_right
                    if old_left or new_left:
                        path[entry, 4] = entries
                        path[entries, 0], path[entries, 1], path[entries, 2] = node + 1, old_left, new_left
                        entries += 1
                    if old_right or new_right:
                        path[entry, 5] = entries
                        path[entries, 0], path[entries, 1], path[entries, 2] = places[3], old_right, new_right
                        entries += 1
                else:
                    if at >= 0:
                        gather_node(tree, work, node, gone, here_new, codes, response)
                    regrow(tree, work, node, n, n_classes, least, none)
                    path[entry, 3] = _REGROWN
                    amounts[entry, 2], amounts[entry, 3] = work.found[0], work.found[1]
                    path[entry, 6], path[entry, 7] = work.found_counts[0], work.found_counts[1]
        entry += 1
    for entry in range(entries - 1, -1, -1):
        kind, node = path[entry, 3], path[entry, 0]
        if kind == _REGROWN:
            continue
        if kind == _SPLIT:
            left, right = path[entry, 4], path[entry, 5]
            left_node, right_node = node + 1, nodes.places[node, 3]
            if limits.risk == MISCLASSIFIED:
                left_risk = amounts[left, 0] if left >= 0 else figures.risk[left_node]
                right_risk = amounts[right, 0] if right >= 0 else figures.risk[right_node]
                amounts[entry, 1] = amounts[entry, 0] - left_risk - right_risk
            left_paid = amounts[left, 2] if left >= 0 else figures.paid[left_node]
            right_paid = amounts[right, 2] if right >= 0 else figures.paid[right_node]
            paid = amounts[entry, 1] + left_paid + right_paid
            count = 1
            count += path[left, 6] if left >= 0 else figures.splits[left_node]
            count += path[right, 6] if right >= 0 else figures.splits[right_node]
            if paid > least * count:
                amounts[entry, 2], path[entry, 6] = paid, count
                log = amounts[left, 3] if left >= 0 else figures.below_log[left_node]
                log += amounts[right, 3] if right >= 0 else figures.below_log[right_node]
                more = path[left, 7] if left >= 0 else figures.below_impossible[left_node]
                more += path[right, 7] if right >= 0 else figures.below_impossible[right_node]
                amounts[entry, 3], path[entry, 7] = log, more
                continue
        impossible, log = _leaf_of(tree, node, path[entry, 1] == 1, old, path[entry, 2] == 1, response)
        amounts[entry, 2], path[entry, 6] = 0.0, 0
        amounts[entry, 3], path[entry, 7] = log, impossible
    return int(path[0, 7]), amounts[0, 3]


@inlined
def _from_root(
    tree: KnownTree, work: Workspace, gone: int, comes: bool, codes: Codes, response: int, none: NDArray[np.bool_]
) -> tuple[int, float]:
    """The same by growing the whole tree anew."""
    # A plain 0 would be a type of its own, and everything compiled for it once more.
    root = np.int64(0)
    m = gather_node(tree, work, root, gone, comes, codes, response)
    n_classes = tree.records.n_classes
    if n_classes:
        n_classes = recode_classes(work, m)
    risk = _root_risk(tree, work, m, n_classes)
    regrow(tree, work, root, m, n_classes, tree.limits.cp * risk, none)
    return int(work.found_counts[1]), work.found[1]


@compiled
def _root_risk(tree: KnownTree, work: Workspace, m: int, n_classes: int) -> float:
    """Risk of the gathered records."""
    if n_classes == 0:
        total, high, mixed, low = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        lower = (1 << LOWER_BITS) - 1
        for i in range(m):
            top, rest = work.y[i] >> LOWER_BITS, work.y[i] & lower
            total += work.y[i]
            high += top * top
            mixed += top * rest
            low += rest * rest
        return float(_within(m, total, high, mixed, low))
    donors = work.donors
    for i in range(m):
        donors[work.y[i]] += 1
    largest, squares = np.int64(0), np.int64(0)
    for c in range(n_classes):
        largest = max(largest, donors[c])
        squares += donors[c] * donors[c]
        last = donors[c]
        donors[c] = 0
    if n_classes == 1:
        return 0.0
    if tree.limits.risk == MISCLASSIFIED:
        return float(m - largest)
    if n_classes == 2:
        return float(2.0 * last * (m - last) / m)
    return float(m - squares / m)


@compiled
def walk_many(
    tree: KnownTree,
    work: Workspace,
    members: Ints,
    fitted: NDArray[np.bool_],
    features: Ints,
    feature_codes: Codes,
    own: bool,
    response_codes: Codes,
    included: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
    codes: Codes,
    none: NDArray[np.bool_],
    impossible: Ints,
    log: Floats,
) -> None:
    """Walk for several records and candidates.

    Parameters
    ----------
    tree : KnownTree
        The tree.
    work : Workspace
        Buffers.
    members : (r,) int64
        The records.
    fitted : (n,) bool
        Whether each original record is fitted.
    features : (q,) int64
        Predictors that the candidates change.
    feature_codes : (q, c) int32
        Their codes by candidate.
    own : bool
        Whether the candidates change the response.
    response_codes : (c,) int32
        The response by candidate, if so.
    included : (c,) bool
        Whether a record with this candidate is fitted, if so.
    wanted : (r, c) bool
        What is to be computed.
    codes : (p,) int32
        Buffer.
    none : (p,) bool
        All false.
    impossible : (r, c) int64
        Receives the impossible values.
    log : (r, c) float64
        Receives the log-likelihoods.
    """
    records = tree.records
    for i in range(members.size):
        record = members[i]
        leaves = fitted[record]
        for f in range(codes.size):
            codes[f] = records.codes[f, record]
        for c in range(wanted.shape[1]):
            if not wanted[i, c]:
                continue
            response = response_codes[c] if own else records.response[record]
            comes = included[c] if own else leaves
            same = leaves == comes and (not comes or response == records.response[record])
            for j in range(features.size):
                codes[features[j]] = feature_codes[j, c]
                same = same and feature_codes[j, c] == records.codes[features[j], record]
            if same or not (leaves or comes):
                impossible[i, c], log[i, c] = tree.figures.below_impossible[0], tree.figures.below_log[0]
                continue
            more, total = _walk(tree, work, record, leaves, comes, codes, response, none)
            impossible[i, c] = more
            log[i, c] = total
