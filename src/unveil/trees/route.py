"""Send records down a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import compiled

__all__ = ["fill_donors", "route"]


@compiled
def route(
    codes: NDArray[np.int32],
    feature: NDArray[np.int32],
    right: NDArray[np.int32],
    cut: NDArray[np.int32],
    side_start: NDArray[np.int64],
    sides: NDArray[np.uint8],
    leaf: NDArray[np.int32],
    flip: NDArray[np.bool_],
    surrogate_start: NDArray[np.int64],
    result: NDArray[np.int32],
) -> None:
    """Leaf of every record.

    Splits are those of the nodes, followed by surrogates.

    Parameters
    ----------
    codes : (p, n) int32
        Records.
    feature : (s,) int32
        Variable of a split.
    right : (t,) int32
        Right child of a node; the left child is the next node.
    cut : (s,) int32
        Smaller codes go left.
    side_start : (s,) int64
        Where the levels' sides of a split begin, -1 for thresholds.
    sides : (b,) uint8
        0 left, 1 right, 2 (3) unseen, hence with the majority to the left (right).
    leaf : (t,) int32
        Leaf where a record stops, -1: it goes on.
    flip : (s,) bool
        Whether left and right are exchanged.
    surrogate_start : (t + 1,) int64
        First surrogate of each node, as index of a split.
    result : (n,) int32
        Receives the leaves.
    """
    for i in range(codes.shape[1]):
        node = np.int64(0)
        while leaf[node] < 0:
            if side_start[node] < 0:
                to_right = codes[feature[node], i] >= cut[node]
            else:
                side = sides[side_start[node] + codes[feature[node], i]]
                to_right = side & 1 == 1
                if side >= 2:
                    for split in range(surrogate_start[node], surrogate_start[node + 1]):
                        code = codes[feature[split], i]
                        if side_start[split] < 0:
                            to_right = (code >= cut[split]) != flip[split]
                            break
                        other = sides[side_start[split] + code]
                        if other < 2:
                            to_right = other == 1
                            break
            node = np.int64(right[node]) if to_right else node + 1
        result[i] = leaf[node]


@compiled
def fill_donors(
    order: NDArray[np.int32],
    first: NDArray[np.int64],
    rows: NDArray[np.int32],
    leaf_of: NDArray[np.int32],
    following: NDArray[np.int64],
    donors: NDArray[np.int32],
) -> None:
    """List the records of every leaf, in the order of the call.

    Parameters
    ----------
    order : (m,) int32
        Records by leaf, in any order within a leaf.
    first : (l + 1,) int64
        Where a leaf begins in ``order`` and in ``donors``.
    rows : (m,) int32
        The same records in the order of the call.
    leaf_of : (n,) int32
        Buffer: leaf of each record.
    following : (l,) int64
        Buffer: where the next record of a leaf goes; a copy of ``first``.
    donors : (m,) int32
        Receives the records by leaf.
    """
    for leaf in range(first.size - 1):
        for i in range(first[leaf], first[leaf + 1]):
            leaf_of[order[i]] = leaf
    for i in range(rows.size):
        leaf = leaf_of[rows[i]]
        donors[following[leaf]] = rows[i]
        following[leaf] += 1
