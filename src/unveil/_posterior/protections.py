"""Protections of one target that are applied before synthesis: merged levels, top coding, and noise.

The posterior stays exact. The trees are fitted to protected values y', the posterior of these is computed as ever, and
the true value follows from it: with a uniform prior over K values,

- merged: ``p(y | Z) = p(group of y | Z) / size of the group``, a group having the prior ``size / K``;
- noise: each value was replaced with probability r by a random one, ``p(y | Z) = (1 - r) p(y' = y | Z) + r / K``.

The intruder is taken to know the protected values of all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.columns import CodedColumn, Pair
from unveil.files.distinct import python_values
from unveil.files.source import DerivedColumns, Source
from unveil.limits import reaches

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Protection:
    """What is done to the target before synthesis.

    Parameters
    ----------
    setting, value
        What it is called.
    group : (k,) int64
        By level, the level that stands for it.
    levels : (n,) int64
        Protected level of every original record.
    replaced
        Probability that a value was replaced by a random one.
    merges
        Whether levels are merged.
    """

    setting: str
    value: str
    group: Ints
    levels: Ints
    replaced: float = 0.0
    merges: bool = False

    def n_groups(self, column: CodedColumn) -> int:
        """Number of levels, gaps and special codes apart, that the original is left with."""
        counted = np.bincount(self.group[column.original], minlength=self.group.size)
        return int(np.count_nonzero(counted[: len(column.levels)])) - len(
            {int(code) for code in column.special if counted[code]}
        )

    @property
    def changes(self) -> bool:
        """Whether anything is protected at all."""
        return self.replaced > 0 or bool((self.group != np.arange(self.group.size)).any())

    def source(self, pair: Pair, column: CodedColumn) -> Source:
        """The original with the target protected."""
        original = pair.original
        values = column.levels.take(pa.array(self.levels, mask=self.levels == len(column.levels)))
        columns = DerivedColumns(original, columns={column.name: pa.chunked_array([values])})
        return Source(original.label, original.names, original.num_rows, columns, original.variables, "arrow")


def merged(column: CodedColumn, smallest: int, alone: Sequence[object]) -> Protection:
    """Merge levels until each has at least ``smallest`` records.

    Ordered levels are merged with their neighbours, and take the level of their middle record; otherwise all rare
    levels are merged, and the next one if they are too few together. Gaps and special codes stay as they are.
    """
    count = np.bincount(column.original, minlength=column.n_levels)
    free = _free(column, alone)
    group = np.arange(column.n_levels)
    if column.kind == "categorical":
        order = free[np.argsort(count[free], kind="stable")]
        rare = int((count[order] < smallest).sum())
        while 0 < rare < order.size and count[order[:rare]].sum() < smallest:
            rare += 1
        if rare > 1:
            group[order[:rare]] = order[rare - 1]
    else:
        start = 0
        for end in range(1, free.size + 1):
            inside = free[start:end]
            rest = count[free[end:]].sum()
            if count[inside].sum() >= smallest and (rest >= smallest or rest == 0 or end == free.size):
                group[inside] = inside[np.searchsorted(np.cumsum(count[inside]), count[inside].sum() / 2)]
                start = end
    return Protection("merged levels", f"of {smallest} records", group, group[column.original], merges=True)


def top_coded(column: CodedColumn, share: float, alone: Sequence[object]) -> Protection:
    """Replace the largest values by the smallest of them: about ``share`` of the records."""
    count = np.bincount(column.original, minlength=column.n_levels)
    free = _free(column, alone)
    group = np.arange(column.n_levels)
    if column.kind not in ("categorical", "logical") and count[free].any():
        above = np.cumsum(count[free][::-1])[::-1]
        first = int(np.flatnonzero(reaches(above / above[0], share))[-1])
        group[free[first:]] = free[first]
    return Protection("top coding", f"the largest {100 * share:g} %", group, group[column.original])


def noised(column: CodedColumn, replaced: float, seed: int) -> Protection:
    """Replace values at random by any level, each as likely as the other.

    Draws go by the order of the records.
    """
    rng = np.random.default_rng([seed, 5])
    levels = column.original.astype(np.int64)
    hit = rng.random(levels.size) < replaced
    levels[hit] = rng.integers(column.n_levels, size=int(hit.sum()))
    return Protection("noise", f"{100 * replaced:g} % replaced", np.arange(column.n_levels), levels, replaced)


def _free(column: CodedColumn, alone: Sequence[object]) -> Ints:
    """Levels that may be merged."""
    kept = set(alone)
    free = [i for i, value in enumerate(python_values(column.levels)) if value not in kept]
    return np.array(free, dtype=np.int64)


def posterior_of_truth(protection: Protection, truth: Ints, levels: Ints, probabilities: Floats) -> Floats:
    """Posterior of the unprotected values of some records, with a uniform prior.

    Parameters
    ----------
    protection
        What was done.
    truth : (r,) int64
        Level of every record before it.
    levels : (v,) int64
        Levels that the probabilities are of.
    probabilities : (r, v) float64
        Posterior of the protected values, with a uniform prior over them.

    Returns
    -------
    (r,) float64
        Probability of the truth.
    """
    size = np.bincount(protection.group, minlength=protection.group.size)
    weighted = probabilities * size[levels]
    weighted /= weighted.sum(axis=1, keepdims=True)
    own = protection.group[truth]
    place = np.argsort(levels)[np.searchsorted(np.sort(levels), own)]
    found = weighted[np.arange(truth.size), place] / size[own]
    r = protection.replaced
    return np.asarray((1 - r) * found + r / protection.group.size, dtype=np.float64)
