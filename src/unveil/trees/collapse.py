"""Collapse: remove subtrees that do not pay for their splits (cost-complexity pruning).

With R the risk of a node, a subtree of s splits below node t is removed unless its decrease
``R(t) - sum of R over its leaves`` exceeds ``s * cp * R(root)``, weaker subtrees within it being removed
first (Breiman, Friedman, Olshen & Stone 1984, chapter 3). What is left is the smallest subtree with the least
``sum of R + cp * R(root) * number of splits``.

For a categorical response R is the number of records outside the majority class: a subtree that tells apart
nodes with the same majority class has no decrease and goes, however small ``cp`` is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating


class Settled(NamedTuple):
    """Where records stop; see :class:`unveil.trees.Tree`. ``end`` is that of every record, -1: not fitted."""

    right: NDArray[np.int32]
    decrease: NDArray[np.float64]
    collapsed: NDArray[np.bool_]
    leaf: NDArray[np.int32]
    leaf_node: NDArray[np.int32]
    leaf_start: NDArray[np.int64]
    end: NDArray[np.int32]


@allocating
def collapse_nodes(right: NDArray[np.int32], decrease: NDArray[np.float64], price: float) -> NDArray[np.bool_]:
    """Mark the inner nodes whose subtrees are removed.

    Parameters
    ----------
    right : (t,) int32
        Right child, -1 in leaves; the left child is the next node.
    decrease : (t,) float64
        Decrease of risk by a node's own split; 0 in leaves.
    price : float
        ``cp * R(root)``.

    Returns
    -------
    (t,) bool
        True where the node becomes a leaf; also true for inner nodes below such a node whose own subtree
        would go.
    """
    t = right.size
    gone = np.zeros(t, np.bool_)
    paid = np.zeros(t, np.float64)
    splits = np.zeros(t, np.int64)
    for node in range(t - 1, -1, -1):
        if right[node] < 0:
            continue
        total = decrease[node] + paid[node + 1] + paid[right[node]]
        count = 1 + splits[node + 1] + splits[right[node]]
        if total > price * count:
            paid[node] = total
            splits[node] = count
        else:
            gone[node] = True
    return gone


@allocating
def complexities(right: NDArray[np.int32], decrease: NDArray[np.float64]) -> NDArray[np.float64]:
    """The price at which each node becomes a leaf.

    A node is a leaf for every ``price`` at or above its complexity: the largest decrease per split over all
    subtrees that keep the node's own split. Found by raising the price to the decrease per split of what is
    left of the subtree until nothing changes.

    Parameters
    ----------
    right : (t,) int32
        Right child, -1 in leaves; the left child is the next node.
    decrease : (t,) float64
        Decrease of risk by a node's own split.

    Returns
    -------
    (t,) float64
        Complexity in units of risk; 0 in leaves.
    """
    t = right.size
    result = np.zeros(t, np.float64)
    last = np.zeros(t, np.int64)
    paid = np.zeros(t, np.float64)
    splits = np.zeros(t, np.int64)
    for node in range(t - 1, -1, -1):
        last[node] = node if right[node] < 0 else last[right[node]]
        if right[node] < 0:
            continue
        price = -np.inf
        while True:
            for below in range(last[node], node - 1, -1):
                kept = right[below] >= 0 and (below == node or result[below] > price)
                paid[below] = decrease[below] + paid[below + 1] + paid[right[below]] if kept else 0.0
                splits[below] = 1 + splits[below + 1] + splits[right[below]] if kept else 0
            raised = paid[node] / splits[node]
            if raised <= price:
                break
            price = raised
        result[node] = price
    return result


@allocating
def settle(
    places: NDArray[np.int64],
    figures: NDArray[np.float64],
    order: NDArray[np.int32],
    n: int,
    cp: float,
    misclassified: bool,
) -> Settled:
    """Collapse a tree and number its leaves from left to right.

    Parameters
    ----------
    places : (t, 8) int64
        Nodes, see :class:`unveil.trees.nodes.Grown`.
    figures : (t, 3) float64
        See there.
    order : (m,) int32
        See there.
    n : int
        Number of records, fitted or not.
    cp : float
        Complexity, as a share of the root's risk.
    misclassified : bool
        Whether the risk is the number of misclassified records, and not what splits are chosen by.

    Returns
    -------
    Settled
        The leaves.
    """
    t = places.shape[0]
    right = np.empty(t, np.int32)
    decrease = np.empty(t, np.float64)
    for node in range(t):
        right[node] = places[node, 3]
        decrease[node] = figures[node, 1]
        if misclassified and right[node] >= 0:
            decrease[node] = figures[node, 0] - figures[node + 1, 0] - figures[right[node], 0]
    collapsed = collapse_nodes(right, decrease, cp * figures[0, 0])
    leaf = np.full(t, -1, np.int32)
    reach, leaves = np.int64(0), 0
    for node in range(t):
        if right[node] >= 0 and not collapsed[node]:
            continue
        # a node lies below an earlier stop exactly if its records end at or before that stop's end
        if places[node, 0] >= reach:
            leaf[node] = leaves
            leaves += 1
        reach = max(reach, places[node, 1])
    leaf_node = np.empty(leaves, np.int32)
    leaf_start = np.empty(leaves + 1, np.int64)
    leaf_start[leaves] = places[0, 1]
    for node in range(t):
        if leaf[node] >= 0:
            leaf_node[leaf[node]] = node
            leaf_start[leaf[node]] = places[node, 0]
    end = np.full(n, -1, np.int32)
    ends = 0
    for node in range(t):
        if right[node] < 0:
            for i in range(places[node, 0], places[node, 1]):
                end[np.uint32(order[i])] = ends
            ends += 1
    return Settled(right, decrease, collapsed, leaf, leaf_node, leaf_start, end)
