"""The best division of a predictor in two, by the two-sample permutation statistic.

For a set ``A`` of records Hothorn, Hornik & Zeileis (2006, equations 7 and 8) maximise the statistic of the
indicator of ``A`` against the response. With ``n_A`` records in ``A``, ``n_B`` others and ``pi_k`` the share of
class ``k`` it is, up to a factor that is the same for all ``A``,

* scores:  ``(sum_A h - n_A mean(h))^2 / (n_A n_B)``,
* classes: ``(sum_k n_Ak^2 / pi_k - n_A^2) / (n_A n_B)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.synthesis.methods.association import Coding

EXHAUSTIVE = 1_000_000
"""All sets of levels are tried while ``2^(levels - 1) * classes`` is at most this."""

_BLOCK = 1 << 14
_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class Division:
    """A binary split.

    Parameters
    ----------
    low, high : int
        Ordered predictors: codes next to the cut; -1 for sets of levels.
    left : (n_levels,) bool or None
        Sets of levels: whether a level goes left.
    statistic : float
        The largest statistic.
    """

    low: int
    high: int
    left: NDArray[np.bool_] | None
    statistic: float


def divide(predictor: Coding, response: Coding, rows: NDArray[np.integer], minbucket: int) -> Division | None:
    """Return the best split.

    Parameters
    ----------
    predictor, response : Coding
        The variables. Predictors with scores are cut at a threshold, others are divided into two sets of levels: the
        best of all sets for scores, for two classes and for few levels, else the best cut along the first principal
        component of the levels' class shares.
    rows : (m,) int
        Records of the node.
    minbucket : int
        Smallest number of records on either side.

    Returns
    -------
    Division or None
        None if no split leaves enough records on both sides. Of equal cuts the first is taken.

    References
    ----------
    Coppersmith, D., Hong, S. J. & Hosking, J. R. M. (1999). Partitioning nominal attributes in decision trees.
    Data Mining and Knowledge Discovery 3, 197-217. doi:10.1023/A:1009869804967
    """
    codes = predictor.codes[rows]
    if predictor.scores is not None:
        return _cut(codes, response, rows, minbucket)
    levels, position = np.unique(codes, return_inverse=True)
    if response.scores is not None:
        size = np.bincount(position)
        order = np.argsort(np.bincount(position, weights=response.scores[rows]) / size, kind="stable")
    else:
        classes, which = np.unique(response.codes[rows], return_inverse=True)
        table = np.zeros((levels.size, classes.size))
        np.add.at(table, (position, which), 1.0)
        if classes.size > 2 and levels.size - 1 <= 40 and 2 ** (levels.size - 1) * classes.size <= EXHAUSTIVE:
            return _best_set(table, levels, predictor.n_levels, minbucket)
        order = _principal_order(table)
    rank = np.empty(levels.size, dtype=np.int32)
    rank[order] = np.arange(levels.size)
    found = _cut(rank[position], response, rows, minbucket)
    if found is None:
        return None
    left = np.zeros(predictor.n_levels, dtype=np.bool_)
    left[levels[rank <= found.low]] = True
    return Division(-1, -1, left, found.statistic)


def _cut(codes: NDArray[np.int32], response: Coding, rows: NDArray[np.integer], minbucket: int) -> Division | None:
    """Return the best threshold between codes."""
    n = rows.size
    order = np.argsort(codes, kind="stable")
    ordered, rows = codes[order], rows[order]
    n_left = np.arange(1, n)
    between = np.flatnonzero((ordered[1:] > ordered[:-1]) & (n_left >= minbucket) & (n - n_left >= minbucket))
    if between.size == 0:
        return None
    if response.scores is not None:
        deviation = response.scores[rows] - response.scores[rows].mean()
        explained = np.cumsum(deviation)[:-1][between] ** 2
    else:
        explained = _classes_left(response.codes[rows])[:-1][between] - n_left[between].astype(np.float64) ** 2
    statistic = explained / (n_left[between].astype(np.float64) * (n - n_left[between]))
    best = int(np.argmax(statistic))
    i = between[best]
    return Division(int(ordered[i]), int(ordered[i + 1]), None, float(statistic[best]))


def _classes_left(classes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return ``sum_k n_Ak^2 / pi_k`` after every record, without a table of records by classes.

    A record of a class that has ``c`` records so far adds ``(2 c + 1) / pi_k``.
    """
    n = classes.size
    by_class = np.argsort(classes, kind="stable")
    count = np.bincount(classes)
    first = np.repeat(np.cumsum(count) - count, count)
    so_far = np.empty(n, dtype=np.int64)
    so_far[by_class] = np.arange(n) - first
    added: NDArray[np.float64] = np.cumsum((2 * so_far + 1) * (n / count[classes]))
    return added


def _best_set(table: NDArray[np.float64], levels: NDArray[np.int32], n_levels: int, minbucket: int) -> Division | None:
    """Return the best of all sets of levels; the last level is always on the right."""
    n = table.sum()
    share = table.sum(axis=0) / n
    free = levels.size - 1
    best, chosen = -np.inf, 0
    for start in range(1, 1 << free, _BLOCK):
        sets = np.arange(start, min(start + _BLOCK, 1 << free))
        inside = (sets[:, np.newaxis] >> np.arange(free)) & 1
        counts = inside @ table[:free]
        n_left = counts.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = ((counts * counts / share).sum(axis=1) - n_left**2) / (n_left * (n - n_left))
        statistic[(n_left < minbucket) | (n - n_left < minbucket)] = -np.inf
        i = int(np.argmax(statistic))
        if statistic[i] > best:
            best, chosen = float(statistic[i]), int(sets[i])
    if best == -np.inf:
        return None
    left = np.zeros(n_levels, dtype=np.bool_)
    left[levels[:free][(chosen >> np.arange(free)) & 1 == 1]] = True
    return Division(-1, -1, left, best)


def _principal_order(table: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the levels in the order of the first principal component of their class shares, weighted by records.

    Shares of class ``k`` count by ``1 / sqrt(pi_k)``, as in the statistic that is maximised.
    """
    size = table.sum(axis=1)
    overall = table.sum(axis=0) / table.sum()
    shares = (table / size[:, np.newaxis] - overall) / np.sqrt(overall)
    weighted = np.sqrt(size)[:, np.newaxis] * shares
    # power iteration from the class that varies most: only the first direction is needed, of tables that may be large
    direction = np.zeros(table.shape[1])
    direction[np.argmax((weighted * weighted).sum(axis=0))] = 1.0
    for _ in range(_ITERATIONS):
        before = direction
        direction = (weighted @ before) @ weighted
        length = float(np.sqrt(direction @ direction))
        if length == 0:
            break
        direction /= length
        if float(np.abs(direction - before).max()) < 1e-10:
            break
    # rounded, so that levels with equal shares stay in the order of their codes
    return np.argsort(np.round(shares @ direction, 9), kind="stable")
