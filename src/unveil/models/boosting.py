"""Gradient boosting of small trees, for attackers: of probabilities of classes and of numbers, on a few key columns.

Records with the same keys have the same prediction at every step. So they are one row: slopes and curvatures of the
loss follow from the number of its records and of those in each class, or from the sum of its numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.core import STRUCTS, loop
from unveil.models.features import KeyTable

Floats = NDArray[np.float64]
ROUNDS = 100
RATE = 0.1
LEAST = 20
"""Fewest records of a leaf."""
_MOST_BINS = 255
_SPLITS, _LEAVES = 7, 8

_Tree = STRUCTS["BoostedTree"]
_grow_tree = loop("grow_boosted_tree", STRUCTS["Boosting"], np.float64, np.float64, _Tree, np.float64, result=bool)
_add_tree = loop("add_boosted_tree", int, int, np.int32, _Tree, np.float64)


@dataclass(frozen=True, eq=False)
class Bins:
    """Intervals of the values of every key; a gap is in none of them.

    Parameters
    ----------
    bounds
        Per key the upper bounds of all its bins but the last.
    """

    bounds: tuple[Floats, ...]

    @classmethod
    def of(cls, values: Floats, records: Floats) -> Bins:
        """Bins of values (p, m) of rows that stand for so many records: one per value, or of as many records each."""
        return cls(tuple(_bounds(row[np.isfinite(row)], records[np.isfinite(row)]) for row in values))

    def codes(self, values: Floats) -> NDArray[np.int32]:
        """The bins (n, p) of values (p, n); -1 is a gap."""
        found = np.empty(values.shape[::-1], dtype=np.int32)
        for f, (row, bounds) in enumerate(zip(values, self.bounds, strict=True)):
            found[:, f] = np.where(np.isfinite(row), np.searchsorted(bounds, row), -1)
        return found


def _bounds(values: Floats, records: Floats) -> Floats:
    distinct, position = np.unique(values, return_inverse=True)
    if len(distinct) <= _MOST_BINS:
        # halves first: the sum of two very large numbers is out of range
        return distinct[:-1] / 2 + distinct[1:] / 2
    reached = np.cumsum(np.bincount(position.ravel(), weights=records))
    wanted = reached[-1] * np.arange(1, _MOST_BINS) / _MOST_BINS
    # the quantile, or the middle of two where the share of the records is met exactly
    low, high = (np.minimum(np.searchsorted(reached, wanted, side), len(distinct) - 1) for side in ("left", "right"))
    return np.unique(distinct[low] / 2 + distinct[high] / 2)


@dataclass(frozen=True, eq=False)
class Boosted:
    """Boosted trees.

    Parameters
    ----------
    bins
        How values become codes.
    start : (o,) float64
        Prediction before the first tree, per output: a class, the second of two classes, or the number.
    trees
        In the order in which they were grown, for one output after the other.
    scale
        Numbers are fitted as shares of it; 1 for classes.
    continuous
        Whether numbers are predicted.
    """

    bins: Bins
    start: Floats
    trees: tuple[Any, ...]
    scale: float
    continuous: bool

    def predict(self, table: KeyTable) -> Floats:
        """Probabilities of the classes (n, classes), or numbers (n,)."""
        codes = self.bins.codes(table.values())
        sums = np.zeros((len(self.start), len(table)))
        for number, tree in enumerate(self.trees):
            _add_tree(*codes.shape, codes, tree, sums[number % len(sums)])
        raw = sums + self.start[:, None]
        if self.continuous:
            numbers: Floats = raw[0] * self.scale
            return numbers
        found = _probabilities(raw)
        return np.ascontiguousarray((found if len(found) > 1 else np.concatenate([1 - found, found])).T)


def _probabilities(raw: Floats) -> Floats:
    """Of all classes (c, n) from their log odds; of the second one of two (1, n)."""
    if len(raw) == 1:
        return np.asarray(scipy.special.expit(raw), dtype=np.float64)
    exponentials = np.exp(raw - raw.max(axis=0))
    return np.asarray(exponentials / exponentials.sum(axis=0), dtype=np.float64)


def fit_boosted(table: KeyTable, y: NDArray[Any], n_classes: int | None) -> Boosted:
    """Fit trees of depth 3, each to the slopes of the loss that the trees before it leave.

    The loss is the negative log-likelihood of the classes, with a tree per class and round (for two classes one), or
    half the squared error. Splits gain most by ``sum(slope)^2 / sum(curvature)``; a leaf adds a tenth of Newton's step.
    Gaps go to the side where they gain more.

    Parameters
    ----------
    table
        The keys of the training records.
    y : (n,)
        Class codes below ``n_classes``, all of which occur, or numbers.
    n_classes
        Number of classes, at least 2, or None.

    Returns
    -------
    Boosted
        The fit.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of Statistics 29, 1189-1232;
    Chen & Guestrin (2016), XGBoost: a scalable tree boosting system, KDD 2016 (gain, gaps); Ke et al. (2017),
    LightGBM, NeurIPS 30 (histograms).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unveil.columns.column import CodedColumn
    >>> from unveil.models.features import Key
    >>> codes = np.repeat(np.int32([0, 1]), 40)
    >>> sex = Key(CodedColumn("sex", "categorical", pa.array(["f", "m"]), False, codes, ()))
    >>> table = KeyTable((sex,), codes[None])
    >>> fit_boosted(table, np.repeat([0, 1], 40), 2).predict(table)[[0, -1]].round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    first, position = table.distinct()
    records = np.bincount(position).astype(np.float64)
    values = table.take(first).values()
    bins = Bins.of(values, records)
    start, held, scale = _response(y, n_classes, position, len(first))
    data, raw = _data(bins, values, records), np.repeat(start[:, None], len(first), axis=1)
    trees = []
    for _ in range(ROUNDS):
        if n_classes is None:
            slope, curvature = records * (raw - start) - held, records[None]
        else:
            p = _probabilities(raw)
            slope, curvature = records * p - held, records * (p * (1 - p))
        for output in range(len(raw)):
            trees.append(_empty_tree())
            _grow_tree(data, slope[output], curvature[output], trees[-1], raw[output])
    return Boosted(bins, start, tuple(trees), scale, n_classes is None)


def _response(
    y: NDArray[Any], n_classes: int | None, position: NDArray[np.intp], rows: int
) -> tuple[Floats, Floats, float]:
    """The start (o,), what each row holds of every output (o, m), numbers beyond the start, and their scale."""
    if n_classes is None:
        # squares of very large numbers are out of range
        scale = float(np.abs(y).max()) or 1.0
        shares: Floats = y / scale
        mean = float(shares.mean())
        beyond = np.bincount(position, weights=shares - mean, minlength=rows).astype(np.float64)
        return np.array([mean]), beyond[None], scale
    held = (
        np.bincount(y.astype(np.intp) * rows + position, minlength=n_classes * rows)
        .reshape(n_classes, rows)
        .astype(np.float64)
    )
    logs = np.log(held.sum(axis=1))
    return (logs[1:] - logs[0], held[1:], 1.0) if n_classes == 2 else (logs - logs.mean(), held, 1.0)


def _data(bins: Bins, values: Floats, records: Floats) -> Any:
    codes = bins.codes(values)
    # after the bins of a key there is a slot for its gaps
    sizes = [len(bounds) + 2 for bounds in bins.bounds]
    starts = np.cumsum([0, *sizes])
    slots = (np.where(codes < 0, starts[1:] - 1, starts[:-1] + codes)).astype(np.int32)
    gaps = (codes < 0).any(axis=0)
    return STRUCTS["Boosting"](
        slots=slots, starts=starts.astype(np.int64), gaps=gaps, records=records, m=len(slots), p=len(sizes),
        least=LEAST, rate=RATE,
    )  # fmt: skip


def _empty_tree() -> Any:
    return _Tree(
        feature=np.full(_SPLITS, -1, dtype=np.int32), cut=np.zeros(_SPLITS, dtype=np.int32),
        gaps_left=np.zeros(_SPLITS, dtype=np.bool_), value=np.zeros(_LEAVES),
    )  # fmt: skip
