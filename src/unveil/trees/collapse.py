"""Collapse: remove subtrees that lower the risk too little for their number of splits (cost-complexity pruning).

With R the risk of a node, a subtree of s splits below node t is removed unless its decrease
``R(t) - sum of R over its leaves`` exceeds ``s * cp * R(root)``, weaker subtrees within it being removed
first (Breiman, Friedman, Olshen & Stone 1984, chapter 3). What is left is the smallest subtree with the least
``sum of R + cp * R(root) * number of splits``.

For a categorical response R is the number of records outside the majority class: a subtree that tells apart
nodes with the same majority class has no decrease and goes, however small ``cp`` is.

The loops are in ``core/leaves.c``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.core import STRUCTS, loop

_settle_tree = loop(
    "settle_tree", int, None, np.int32, float, int, float, None, int, STRUCTS["Settled"], np.float64, np.int64,
    result=int,
)  # fmt: skip
_complexities = loop("complexities", int, np.int32, np.float64, np.float64, np.int64, np.float64, np.int64)


class Settled(NamedTuple):
    """The nodes and leaves of a collapsed tree; see :class:`unveil.trees.Tree`. ``end`` is that of every record."""

    feature: NDArray[np.int32]
    right: NDArray[np.int32]
    depth: NDArray[np.int32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    side_start: NDArray[np.int64]
    risk: NDArray[np.float64]
    gain: NDArray[np.float64]
    rival_gain: NDArray[np.float64]
    decrease: NDArray[np.float64]
    collapsed: NDArray[np.bool_]
    leaf: NDArray[np.int32]
    leaf_node: NDArray[np.int32]
    leaf_start: NDArray[np.int64]
    end: NDArray[np.unsignedinteger]


def complexities(right: NDArray[np.int32], decrease: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the price at which each node becomes a leaf.

    A node is a leaf for every ``price`` at or above its complexity: the largest decrease per split over all
    subtrees that keep the node's own split.

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
    result, whole = np.zeros(t), np.zeros((2, t), dtype=np.int64)
    _complexities(t, right, decrease, result, whole[0], np.zeros(t), whole[1])
    return result


def leaves_of(
    stops: NDArray[np.bool_], start: NDArray[np.int64], stop: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number the nodes at which records stop from left to right.

    Parameters
    ----------
    stops : (t,) bool
        Nodes that are not split; a leaf is one that is not below another.
    start, stop : (t,) int64
        Stretch of records of each node.

    Returns
    -------
    leaf : (t,) int32
        Leaf of each node, -1 where there is none.
    leaf_node : (l,) int32
        Node of each leaf.
    """
    found = np.flatnonzero(stops)
    # a node lies below an earlier stop exactly if its records end at or before that stop's end
    reach = np.append(0, np.maximum.accumulate(stop[found])[:-1])
    leaf_node = found[start[found] >= reach].astype(np.int32)
    leaf = np.full(stops.size, -1, dtype=np.int32)
    leaf[leaf_node] = np.arange(leaf_node.size)
    return leaf, leaf_node


def settle(
    nodes: NDArray[Any], order: NDArray[np.int32], n: int, cp: float, misclassified: bool, unit: float
) -> Settled:
    """Collapse a tree and number its leaves from left to right.

    Parameters
    ----------
    nodes : (t,) NODE
        See :class:`unveil.trees.nodes.Grown`.
    order : (m,) int32
        See there.
    n : int
        Number of records, fitted or not.
    cp : float
        Complexity, as a share of the root's risk.
    misclassified : bool
        Whether the risk is the number of misclassified records.
    unit : float
        Size of the steps that the response was fitted in.

    Returns
    -------
    Settled
        Nodes and leaves.
    """
    t = nodes.size
    feature, right, depth, leaf, leaf_node = np.empty((5, t), dtype=np.int32)
    start, stop, side_start = np.empty((3, t), dtype=np.int64)
    risk, gain, rival_gain, decrease = np.empty((4, t))
    end = np.empty(n, dtype=np.min_scalar_type(t // 2))
    settled = Settled(
        feature, right, depth, start, stop, side_start, risk, gain, rival_gain, decrease,
        np.zeros(t, dtype=np.bool_), leaf, leaf_node, np.empty(t + 1, dtype=np.int64), end,
    )  # fmt: skip
    fields = settled._asdict()
    del fields["end"]
    n_leaves = _settle_tree(
        t, nodes, order, cp, misclassified, unit, end, end.itemsize, STRUCTS["Settled"](**fields), np.zeros(t),
        np.zeros(t, dtype=np.int64),
    )  # fmt: skip
    return settled._replace(leaf_node=leaf_node[:n_leaves].copy(), leaf_start=settled.leaf_start[: n_leaves + 1].copy())
