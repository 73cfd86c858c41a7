"""Percentile intervals by resampling original records.

A record's contribution to a measure (its flag, or the share ps of its true target) is taken from the whole file
and held; records are drawn with replacement and their contributions averaged anew. Recounting who is unique in
each resample would be wrong: a record drawn twice is still one person. Records with equal contributions are
drawn together, so the work depends on the number of different contributions, not of records.
Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError

__all__ = ["percentile_interval", "resample"]

Floats = NDArray[np.float64]


def resample(
    contributions: Mapping[str, Floats], weights: NDArray[np.int64], *, n: int, seed: int
) -> dict[str, Floats]:
    """Draw bootstrap replicates of the mean contribution.

    Parameters
    ----------
    contributions
        Per measure the contribution (k,) of each kind of record.
    weights : (k,) int64
        Number of records of each kind.
    n
        Number of replicates.
    seed
        Seed of the draws.

    Returns
    -------
    dict
        Per measure the replicates (n,), in percent.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise CallError(f"a bootstrap takes a whole number of at least 2 replicates, not {n!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise CallError(f"a seed is a whole number of at least 0, not {seed!r}")
    patterns, position = np.unique(np.column_stack(list(contributions.values())), axis=0, return_inverse=True)
    counts = np.bincount(position.ravel(), weights=weights, minlength=len(patterns))
    n_records = int(counts.sum())
    draws = np.random.default_rng(seed).multinomial(n_records, counts / n_records, size=n)
    means = 100 * (draws @ patterns) / n_records
    return dict(zip(contributions, means.T, strict=True))


def percentile_interval(replicates: Floats, level: float, n_records: int) -> tuple[float, float]:
    """The central interval of the replicates that are defined, in percent.

    Where no record contributes, or every one does in full, resampling cannot show anything else; the interval then
    ends where that outcome has a probability of (1 - level) / 2, as Clopper & Pearson (1934) set it.
    """
    if not 0 < level < 1:
        raise CallError(f"the level of an interval lies between 0 and 1, not at {level!r}")
    defined = np.sort(replicates[np.isfinite(replicates)])
    if not len(defined):
        return float("nan"), float("nan")
    unseen = 100 * (1 - ((1 - level) / 2) ** (1 / n_records))
    if defined[-1] == 0:
        return 0.0, unseen
    if defined[0] == 100:
        return 100 - unseen, 100.0
    last = len(defined) - 1
    low, high = np.interp([last * (1 - level) / 2, last * (1 + level) / 2], np.arange(last + 1), defined)
    return float(low), float(high)
