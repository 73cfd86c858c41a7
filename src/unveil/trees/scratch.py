"""Working memory of a fit, allocated once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating

BLOCK_BITS = 8
OUTSIDE_BITS = 10
SUMS = 4
"""What is kept of a node whose response is summed."""

MOST_LEVELS = BLOCK_BITS + OUTSIDE_BITS + 1
"""Most levels of an exhaustive search (of its 10^6: 2^18 subsets of 3 classes fit, 2^19 do not)."""


class Node(NamedTuple):
    """The node that is being split.

    Parameters
    ----------
    start, stop : int
        Its records are ``rows[start:stop]``.
    exact : bool
        Whether the scores of its splits fit into 128-bit fractions.
    total : int
        Sum of the response (numeric, two classes); sum of squared class counts (three or more).
    minbucket : int
        Smallest number of records of a child.
    n_classes : int
        Number of classes if they are counted (three or more), else 0.
    """

    start: int
    stop: int
    exact: bool
    total: int
    minbucket: int
    n_classes: int


class Scratch(NamedTuple):
    """Buffers; ``l`` levels of the widest predictor, ``k`` counted classes (at least 1), ``m`` records.

    Parameters
    ----------
    levels : (3, l) int64
        Codes that occur in the node; their positions, sorted; where the levels go: 0 left, 1 right, 2 (3) not
        in the node, hence with the majority to the left (right).
    key : (l,) float64
        What levels are sorted by.
    classes : (3, max(k, SUMS)) int64
        Class counts of the node, of its left and of its right child; or, in the first row, the node's sums (see
        :func:`unveil.trees.impurity.add_up`).
    axis : (2, k) float64
        Direction in the space of classes.
    ordered : (2, m) int32
        Codes in ascending order, and the responses that belong to them.
    spare : (m,) int32
        Records while they are being divided; the same memory as ``ordered``, which is not in use then.
    place : (m,) int32
        Where records went that were copied; the same memory, too.
    goes_right : (m,) uint8
        Side of every record.
    """

    levels: NDArray[np.int64]
    key: NDArray[np.float64]
    classes: NDArray[np.int64]
    axis: NDArray[np.float64]
    ordered: NDArray[np.int32]
    spare: NDArray[np.int32]
    place: NDArray[np.int32]
    goes_right: NDArray[np.uint8]


class Search(NamedTuple):
    """Buffers of an exhaustive search; sums of squared class counts are "squares".

    Parameters
    ----------
    table : (k, MOST_LEVELS) float64
        Records by class and level.
    gram : (MOST_LEVELS, MOST_LEVELS + 4) float64
        Products of the class counts of two levels; then product with the node, with the levels outside the
        block, number of records, and scatter of the level.
    rank : (MOST_LEVELS,) int64
        Levels by falling scatter.
    block : (5, 2**BLOCK_BITS) float64
        Of the subsets of the block: records, squares, product with the node, twice the product with the set
        outside, score.
    outside : (2**OUTSIDE_BITS, 5 + BLOCK_BITS) float64
        Of the sets of levels outside the block: records, squares, product with the node, product with all
        levels outside, bound of the score, and products with the levels of the block.
    """

    table: NDArray[np.float64]
    gram: NDArray[np.float64]
    rank: NDArray[np.int64]
    block: NDArray[np.float64]
    outside: NDArray[np.float64]


@allocating
def new_scratch(m: int, widest: int, k: int) -> Scratch:
    """Buffers for ``m`` records, up to ``widest`` levels and ``k`` classes."""
    ordered = np.empty((2, m), np.int32)
    return Scratch(
        np.zeros((3, widest), np.int64),
        np.zeros(widest, np.float64),
        np.zeros((3, max(k, SUMS)), np.int64),
        np.zeros((2, k), np.float64),
        ordered,
        ordered[0],
        ordered[1],
        np.empty(m, np.uint8),
    )


@allocating
def new_search(k: int) -> Search:
    """Buffers for an exhaustive search with ``k`` classes."""
    return Search(
        np.empty((k, MOST_LEVELS), np.float64),
        np.empty((MOST_LEVELS, MOST_LEVELS + 4), np.float64),
        np.empty(MOST_LEVELS, np.int64),
        np.empty((5, 1 << BLOCK_BITS), np.float64),
        np.empty((1 << OUTSIDE_BITS, 5 + BLOCK_BITS), np.float64),
    )
