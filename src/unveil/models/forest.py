"""Random forests for attackers: probability forests of classes and forests of means, on a few key columns.

Keys have few distinct values: records with the same keys and target are one cell with a weight. Every tree has its own
stream of random numbers: a fit does not depend on the number of threads. Trees are not kept: records are led to the
leaves while a tree grows, which takes less time than to keep the tree and to walk through it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.core import STRUCTS, Struct, loop, taken
from unveil.errors import CallError
from unveil.models.features import KeyTable
from unveil.threads import in_threads

Floats = NDArray[np.float64]

_Leaves = STRUCTS["ForestLeaves"]
_grow_forest_tree = loop("grow_forest_tree", STRUCTS["Training"], int, STRUCTS["Attacked"], _Leaves, result=bool)
_free_forest_leaves = loop("free_forest_leaves", _Leaves)
_add_leaves = loop("add_leaves", np.int32, np.int32, np.int32, np.float32, int, int, np.float64)

_BLOCK = 8192
_MOST_LED = 2_000_000
"""Records times trees whose leaves are held before they are added."""


@dataclass(frozen=True, eq=False)
class LedRecords:
    """Records at the leaves of one tree.

    Parameters
    ----------
    leaf : (n,) int32
        Leaf of each record.
    start : (l + 1,) int32
        Where the entries of each leaf begin.
    of_class : (e,) int32
        Class of each entry; 0 for a mean.
    value : (e,) float32
        Share of the class, or the mean.
    """

    leaf: NDArray[np.int32]
    start: NDArray[np.int32]
    of_class: NDArray[np.int32]
    value: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Forest:
    """A forest, whose trees are grown for every prediction.

    Parameters
    ----------
    grow
        Grows one of the trees by its number, and leads records, given by the numbers (p, n) that their keys are, to its
        leaves.
    n_trees
        Number of trees.
    n_outputs
        Number of classes, or 1 for a mean.
    centre, scale
        Numbers are fitted as ``(number - centre) / scale``: leaves hold few digits. 0 and 1 for classes.
    threads
        Number of threads.
    """

    grow: Callable[[int, Floats], LedRecords]
    n_trees: int
    n_outputs: int
    centre: float
    scale: float
    threads: int

    def predict(self, table: KeyTable) -> Floats:
        """Mean over the trees of the class shares (n, classes), or of the leaf means (n, 1)."""
        return self.predict_by_first(table, (self.n_trees,))[0]

    def predict_by_first(self, table: KeyTable, sizes: Sequence[int]) -> list[Floats]:
        """The predictions of the forests that have only the first trees.

        Parameters
        ----------
        table
            The records.
        sizes
            Numbers of trees, ascending; those after the last are not grown.

        Returns
        -------
        list of (n, classes) or (n, 1) float64
            Per size the mean over so many trees.
        """
        values, sums, found = table.values(), np.zeros((len(table), self.n_outputs)), []
        at_a_time = max(_MOST_LED // max(len(table), 1), self.threads)
        for before, size in zip((0, *sizes), sizes, strict=False):
            # always added in the order of their numbers
            for first in range(before, size, at_a_time):
                numbers = range(first, min(first + at_a_time, size))
                self._add(in_threads(lambda number: self.grow(number, values), numbers, self.threads), sums)
            found.append(sums * (self.scale / size) + self.centre)
        return found

    def _add(self, trees: Sequence[LedRecords], sums: Floats) -> None:
        def block(start: int) -> None:
            rows = slice(start, start + _BLOCK)
            out = sums[rows]
            for tree in trees:
                _add_leaves(tree.leaf[rows], tree.start, tree.of_class, tree.value, len(out), self.n_outputs, out)

        in_threads(block, range(0, len(sums), _BLOCK), self.threads)


@dataclass(frozen=True, eq=False)
class Grower:
    """Grows one of the trees by its number, and leads records to its leaves.

    Parameters
    ----------
    training
        The records that it is grown on.
    seeds : (n_trees,)
        Of the draws of each tree.
    """

    training: Struct
    seeds: NDArray[np.unsignedinteger]

    def __call__(self, number: int, values: Floats) -> LedRecords:
        """The leaves of one tree, of records given by the numbers (p, n) that their keys are."""
        made, leaf = _Leaves(), np.empty(values.shape[1], dtype=np.int32)
        try:
            attacked = STRUCTS["Attacked"](values=values, leaf=leaf, n=leaf.size)
            _grow_forest_tree(self.training, int(self.seeds[number]), attacked, made)
            sizes = {"start": made.n_leaves + 1, "of_class": made.n_entries, "value": made.n_entries}
            parts = {name: taken(getattr(made, name), _Leaves.arrays[name], size) for name, size in sizes.items()}
        finally:
            _free_forest_leaves(made)
        return LedRecords(leaf, **parts)


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
    return Forest(Grower(training, seeds), n_trees, n_classes or 1, centre, scale, threads)
