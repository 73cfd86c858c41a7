"""The size of the CART attacker: cost-complexity pruning as the reference outputs have it.

A node's price per split is what its splits gain on average. Splits below it that are worth less than that would go
before it and do not count, neither for the node nor for the nodes above it. A node is a leaf if its price is at most
``cp`` times the root's risk. (Where a split far below is worth more than the ones between, the smallest of all best
subtrees of Breiman et al. may keep a node that goes here; the attackers of the paper are pruned this way.)

The loop is in ``core/leaves.c``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unveil.core import loop
from unveil.trees import Tree
from unveil.trees.collapse import leaves_of

_keep_splits = loop("keep_splits", int, np.int32, np.float64, float, np.bool_, np.float64, np.float64, np.int64)


def pruned(tree: Tree, cp: float) -> Tree:
    """The same tree with fewer splits.

    Parameters
    ----------
    tree
        A tree as grown, with ``collapse=True`` where its response is categorical.
    cp
        Price of a split, in units of the root's risk.

    Returns
    -------
    Tree
        The tree with other leaves.

    Examples
    --------
    >>> from unveil.trees import Column, grow
    >>> x = Column.from_values(np.arange(40.0))
    >>> tree = grow(Column.from_values(np.repeat([1.0, 2.0, 9.0, 9.1], 10)), [x])
    >>> tree.n_leaves, pruned(tree, 0.01).n_leaves
    (4, 2)
    """
    nodes = len(tree.right)
    split = np.zeros(nodes, dtype=np.bool_)
    price = cp * float(tree.risk[0])
    splits = np.zeros(nodes, dtype=np.int64)
    _keep_splits(nodes, tree.right, tree.risk, price, split, tree.risk.copy(), np.zeros(nodes), splits)
    leaf, found = leaves_of(~split, tree.start, tree.stop)
    return replace(
        tree,
        leaf=leaf,
        leaf_node=found,
        leaf_start=np.append(tree.start[found], tree.n_records),
    )
