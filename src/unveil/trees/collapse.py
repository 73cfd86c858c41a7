"""Collapse: remove subtrees that do not pay for their splits (cost-complexity pruning).

With R the risk of a node, a subtree of s splits below node t is removed unless its decrease
``R(t) - sum of R over its leaves`` exceeds ``s * cp * R(root)``, weaker subtrees within it being removed
first (Breiman, Friedman, Olshen & Stone 1984, chapter 3). What is left is the smallest subtree with the least
``sum of R + cp * R(root) * number of splits``.

For a categorical response R is the number of records outside the majority class: a subtree that tells apart
nodes with the same majority class has no decrease and goes, however small ``cp`` is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating

__all__ = ["collapse_nodes", "complexities"]


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
