"""Ranks from 1; values that are equal have the mean of their ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mean_ranks(values: NDArray[Any]) -> Floats:
    """Rank of every value.

    Parameters
    ----------
    values : (n,)
        Numbers.

    Examples
    --------
    >>> mean_ranks(np.array([0.5, 0.1, 0.5])).tolist()
    [2.5, 1.0, 2.5]
    """
    # scipy.stats has the same, and takes a second to import
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return ranks_of_levels(counts)[place.ravel()]


def ranks_of_levels(counts: NDArray[np.integer]) -> Floats:
    """Rank of the records of every level.

    Parameters
    ----------
    counts : (k,)
        Number of records of each level, of levels in ascending order.

    Examples
    --------
    >>> ranks_of_levels(np.array([1, 2])).tolist()
    [1.0, 2.5]
    """
    ranks: Floats = np.cumsum(counts) - (counts - 1) / 2
    return ranks
