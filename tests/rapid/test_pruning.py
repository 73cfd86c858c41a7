"""The size of the CART attacker: the compiled loop against the rule as it is told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from unveil.models.pruning import pruned
from unveil.trees import Column, Settings, Tree, grow


@dataclass
class Rest:
    """What is left of a subtree: risk of its leaves, number of splits, what one is worth, and its leaves."""

    risk: float
    splits: int
    worth: float
    leaves: list[int]


def rest_of(tree: Tree, node: int, price: float) -> Rest:
    """Splits below that are worth less than the node's go first, the one that is worth least before the other."""
    leaf = Rest(float(tree.risk[node]), 0, 0.0, [node])
    if tree.right[node] < 0:
        return leaf
    children = [node + 1, int(tree.right[node])]
    found = [rest_of(tree, child, price) for child in children]
    counted = list(found)

    def average() -> float:
        return (leaf.risk - sum(one.risk for one in counted)) / (1 + sum(one.splits for one in counted))

    for i in sorted((0, 1), key=lambda i: found[i].worth):
        if average() <= found[i].worth:
            break
        counted[i] = Rest(float(tree.risk[children[i]]), 0, 0.0, [children[i]])
    if average() <= price:
        return leaf
    # what does not count for a node stays a part of the tree
    return Rest(
        sum(one.risk for one in counted), sum(one.splits for one in counted) + 1, average(),
        [*found[0].leaves, *found[1].leaves],
    )  # fmt: skip


@pytest.mark.parametrize("cp", [0.0, 0.001, 0.01, 0.1, 1.0])
@pytest.mark.parametrize("classes", [None, 2, 5])
def test_splits_that_are_worth_less_go_first(cp: float, classes: int | None) -> None:
    sizes = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 300
        x = [
            Column.from_values(rng.integers(0, 30, n)),
            Column(rng.integers(0, 6, n, dtype=np.int32), "categorical", 6),
        ]
        signal = x[0].codes / 30 + (x[1].codes == 2) + rng.normal(size=n)
        if classes is None:
            y = Column.from_values(signal.round(1))
        else:
            cuts = np.quantile(signal, np.arange(1, classes) / classes)
            y = Column(np.digitize(signal, cuts).astype(np.int32), "categorical", classes)
        tree = grow(y, x, Settings(minbucket=3, minsplit=6, cp=0.0))
        found = pruned(tree, cp)
        wanted = rest_of(tree, 0, cp * float(tree.risk[0])).leaves
        assert found.leaf_node.tolist() == wanted
        assert found.leaf[wanted].tolist() == list(range(len(wanted)))
        assert (np.delete(found.leaf, wanted) == -1).all()
        assert found.leaf_start.tolist() == [*tree.start[wanted].tolist(), n]
        sizes.append((len(wanted), tree.n_leaves))
    # the trees are such that the price matters
    assert cp < 0.01 or any(kept < grown for kept, grown in sizes)
    assert cp > 0.01 or any(kept > 1 for kept, _ in sizes)
