"""Random forests for attackers: probability forests of classes and forests of means, on a few key columns.

Keys have few distinct values: records with the same keys and target are one cell with a weight. Every tree has its own
stream of random numbers: a fit does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from unveil.core import STRUCTS, loop, taken
from unveil.errors import CallError
from unveil.models.features import KeyTable
from unveil.threads import in_threads

Floats = NDArray[np.float64]

_Tree = STRUCTS["ForestTree"]
_grow_forest_tree = loop("grow_forest_tree", STRUCTS["Training"], int, _Tree, result=bool)
_free_forest_tree = loop("free_forest_tree", _Tree)
_add_leaves = loop("add_leaves", _Tree, np.float64, int, int, np.float64)

_BLOCK = 8192
_BYTES_PER_CELL = 9
"""What a tree takes per different training record, at the default size of its leaves."""
_MOST_BYTES = 400_000_000


@dataclass(frozen=True, eq=False)
class ForestTree:
    """One tree: nodes in the order of visit, the left child next; leaves hold shares of classes, or a mean.

    ``feature`` is -1 in leaves, where ``right`` is the leaf's number.
    """

    feature: NDArray[np.int32]
    threshold: Floats
    right: NDArray[np.int32]
    leaf_start: NDArray[np.int32]
    leaf_class: NDArray[np.int32]
    leaf_value: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Forest:
    """A fitted forest.

    Parameters
    ----------
    grow
        Gives one of the trees by its number.
    n_trees
        Number of trees.
    kept
        The trees, or None where they would fill the memory: they are then grown again for every prediction.
    n_outputs
        Number of classes, or 1 for a mean.
    centre, scale
        Numbers are fitted as ``(number - centre) / scale``: leaves hold few digits. 0 and 1 for classes.
    threads
        Number of threads.
    """

    grow: Callable[[int], ForestTree]
    n_trees: int
    kept: tuple[ForestTree, ...] | None
    n_outputs: int
    centre: float
    scale: float
    threads: int

    def predict(self, table: KeyTable) -> Floats:
        """Mean over the trees of the class shares (n, classes), or of the leaf means (n, 1)."""
        values = table.values()
        result = np.zeros((len(table), self.n_outputs))
        if self.kept is not None:
            self._add(self.kept, values, result)
        else:
            # as many at a time as there are threads; always added in the order of their numbers
            for first in range(0, self.n_trees, self.threads):
                numbers = range(first, min(first + self.threads, self.n_trees))
                self._add(in_threads(self.grow, numbers, self.threads), values, result)
        result *= self.scale / self.n_trees
        result += self.centre
        return result

    def _add(self, trees: Sequence[ForestTree], values: Floats, result: Floats) -> None:
        def block(start: int) -> None:
            rows = slice(start, start + _BLOCK)
            x, out = np.ascontiguousarray(values[:, rows]), result[rows]
            for tree in trees:
                _add_leaves(_Tree(**vars(tree)), x, x.shape[1], self.n_outputs, out)

        in_threads(block, range(0, len(result), _BLOCK), self.threads)


def grow_forest(
    table: KeyTable,
    y: NDArray[np.generic],
    n_classes: int | None,
    *,
    n_trees: int = 500,
    min_node_size: int | None = None,
    seed: np.random.SeedSequence,
    threads: int = 1,
) -> Forest:
    """Fit a random forest.

    Every tree is grown on as many records drawn with replacement, looks at ``floor(sqrt(p))`` of the p keys in each
    node, and splits nodes of more than ``min_node_size`` records by the Gini index, or by least squares. Levels of
    categorical keys are taken in their order.

    Parameters
    ----------
    table
        The keys of the training records.
    y : (n,)
        Class codes, or numbers where ``n_classes`` is None.
    n_classes
        Number of classes of all files, or None.
    n_trees
        Number of trees.
    min_node_size
        Nodes up to this size are not split; by default 10 for classes and 5 for numbers.
    seed
        Of the draws.
    threads
        Number of threads; the fit does not depend on it.

    Returns
    -------
    Forest
        The fitted forest.

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45, 5-32. Malley, Kruppa, Dasgupta, Malley & Ziegler (2012),
    Probability machines, Methods of Information in Medicine 51, 74-81.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unveil.columns.column import CodedColumn
    >>> from unveil.models.features import Key, KeyTable
    >>> codes = np.repeat(np.int32([0, 1]), 20)
    >>> sex = Key(CodedColumn("sex", "categorical", pa.array(["f", "m"]), False, codes, ()))
    >>> table = KeyTable((sex,), codes[None])
    >>> forest = grow_forest(table, np.repeat([0, 1], 20), 2, n_trees=10, seed=np.random.SeedSequence(1))
    >>> forest.predict(table)[[0, -1]].round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    order = table.ordering(y)
    table, y = table.take(order), y[order]
    new = np.ones(len(y), dtype=bool)
    new[1:] = (table.codes[:, 1:] != table.codes[:, :-1]).any(axis=0) | (y[1:] != y[:-1])
    cell = (np.cumsum(new) - 1).astype(np.int32)
    table, y = table.take(new), y[new]
    values = table.values()
    p, n = values.shape
    codes = np.empty((p, n), dtype=np.int32)
    levels = []
    for f in range(p):
        distinct, position = np.unique(values[f], return_inverse=True)
        codes[f] = position.ravel()
        levels.append(distinct)
    starts = np.cumsum([0, *(len(d) for d in levels)]).astype(np.int64)
    distinct_values = np.concatenate(levels)
    least = min_node_size if min_node_size is not None else (5 if n_classes is None else 10)
    mtry = max(int(np.sqrt(p)), 1)
    if n_classes is not None and (y.min() < 0 or y.max() >= n_classes):
        raise CallError(f"class codes of a forest must lie between 0 and {n_classes - 1}")
    classes = np.zeros(n, dtype=np.int32) if n_classes is None else y.astype(np.int32)
    numbers = y.astype(np.float64) if n_classes is None else np.zeros(0)
    # sums of squares of numbers far from 0 lose digits
    centre = float(numbers[cell].mean()) if n_classes is None else 0.0
    numbers = numbers - centre
    # a power of two changes no digit
    scale = 2.0 ** int(np.frexp(np.abs(numbers).max())[1]) if numbers.any() else 1.0
    numbers = numbers / scale
    seeds = seed.generate_state(n_trees)

    training = STRUCTS["Training"](
        codes=codes,
        starts=starts,
        values=distinct_values,
        cell=cell,
        classes=classes,
        numbers=numbers,
        p=p,
        n=n,
        m=cell.size,
        n_classes=n_classes or 0,
        mtry=mtry,
        min_node_size=least,
    )

    def one(t: int) -> ForestTree:
        made = _Tree()
        try:
            _grow_forest_tree(training, int(seeds[t]), made)
            sizes = (made.n_nodes,) * 3 + (made.n_leaves + 1,) + (made.n_entries,) * 2
            parts = [
                taken(getattr(made, field.name), _Tree.arrays[field.name], size)
                for field, size in zip(fields(ForestTree), sizes, strict=True)
            ]
        finally:
            _free_forest_tree(made)
        return ForestTree(*parts)

    small = n_trees * n * _BYTES_PER_CELL <= _MOST_BYTES
    kept = tuple(in_threads(one, range(n_trees), threads)) if small else None
    return Forest(one, n_trees, kept, n_classes or 1, centre, scale, threads)
