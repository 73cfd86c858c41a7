"""The size of the CART attacker: cost-complexity pruning as the reference outputs have it.

A node's price per split is what its splits gain on average. Splits below it that are worth less than that would go
before it and do not count, neither for the node nor for the nodes above it. A node is a leaf if its price is at most
``cp`` times the root's risk. (Where a split far below is worth more than the ones between, the smallest of all best
subtrees of Breiman et al. may keep a node that goes here; the attackers of the paper are pruned this way.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unveil.trees import Tree


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
    split = _kept(tree.right, tree.risk, cp * float(tree.risk[0]))
    nodes = len(split)
    leaf = np.full(nodes, -1, dtype=np.int32)
    leaf_node: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        if split[node]:
            stack.extend((int(tree.right[node]), node + 1))
            continue
        leaf[node] = len(leaf_node)
        leaf_node.append(node)
    found = np.array(leaf_node, dtype=np.int32)
    return replace(
        tree,
        leaf=leaf,
        leaf_node=found,
        leaf_start=np.append(tree.start[found], tree.n_records),
    )


def _kept(right: NDArray[np.int32], risk: NDArray[np.float64], price: float) -> NDArray[np.bool_]:
    """Per node, whether it stays split."""
    nodes = len(right)
    below, splits, worth = risk.copy(), np.zeros(nodes, dtype=np.int64), np.zeros(nodes)
    split = np.zeros(nodes, dtype=bool)
    for node in range(nodes - 1, -1, -1):
        if right[node] < 0:
            continue
        children = sorted((node + 1, int(right[node])), key=lambda child: worth[child])
        rest = {child: (float(below[child]), int(splits[child])) for child in children}

        def average(rest: dict[int, tuple[float, int]] = rest, node: int = node) -> float:
            return (float(risk[node]) - sum(r for r, _ in rest.values())) / (1 + sum(s for _, s in rest.values()))

        for child in children:
            if average() <= worth[child]:
                break
            rest[child] = (float(risk[child]), 0)
        if average() > price:
            split[node] = True
            worth[node] = average()
            below[node] = sum(r for r, _ in rest.values())
            splits[node] = 1 + sum(s for _, s in rest.values())
    return split
