"""Grow the nodes of a tree: the loop is ``core/grow.c``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.core import STRUCTS, Struct, loop, taken

NODE = np.dtype(STRUCTS["Node"])
"""A node; ``core/layouts.h`` says what its fields are."""
SQUARES, MISCLASSIFIED, GINI = 0, 1, 2
"""Within sum of squares, records outside the majority class, or n times the Gini index."""

Records = STRUCTS["Records"]
"""The records of a fit; ``core/layouts.h`` says what its fields are."""
Limits = STRUCTS["Limits"]
"""When a node is split, and which risk decides."""

_grow_tree = loop("grow_tree", Records, Limits, STRUCTS["Grown"], result=bool)
_free_grown = loop("free_grown", STRUCTS["Grown"])


class Grown(NamedTuple):
    """Nodes in the order of visit, left child first.

    Parameters
    ----------
    nodes : (t,) NODE
        The nodes.
    sides : (s,) uint8
        Sides of levels: 0 left, 1 right, 2 (3) not in the node, hence with the majority to the left (right).
    order : (m,) int32
        Records of the call by node.
    """

    nodes: NDArray[Any]
    sides: NDArray[np.uint8]
    order: NDArray[np.int32]


def grow_nodes(records: Struct, limits: Struct) -> Grown:
    """Grow a tree.

    Parameters
    ----------
    records
        A ``Records``; its ``rows`` become the order of the result, its ``sorted_rows`` are used up.
    limits
        A ``Limits``.

    Raises
    ------
    MemoryError
        If the tree needs more memory than there is.
    """
    made = STRUCTS["Grown"]()
    try:
        _grow_tree(records, limits, made)
        nodes, sides = taken(made.nodes, NODE, made.n_nodes), taken(made.sides, np.uint8, made.n_sides)
    finally:
        _free_grown(made)
    return Grown(nodes, sides, records.kept["rows"])
