"""Intervals for a share of persons: percentile bootstrap, Wilson, Clopper-Pearson."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from unveil.errors import CallError

__all__ = ["bootstrap_rates", "clopper_pearson", "percentile_band", "wilson"]

Floats = NDArray[np.float64]
Interval = tuple[float, float]


def _checked(k: float, n: int, level: float) -> None:
    if not 0 < level < 1:
        raise CallError(f"the level of an interval lies between 0 and 1, not at {level!r}")
    if not 0 <= k <= n or n < 1:
        raise CallError(f"{k!r} of {n!r} is no share of persons")


def wilson(k: float, n: int, level: float = 0.95) -> Interval:
    """Score interval of k out of n.

    ``(p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)`` with ``p = k/n``.

    Parameters
    ----------
    k, n
        Persons at risk, and persons; where each counts by a share, k is the sum of these.
    level
        Coverage, between 0 and 1.

    Raises
    ------
    CallError
        If the numbers make no share.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22, 209-212.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(1, 3)]
    [0.0615, 0.7923]
    """
    _checked(k, n, level)
    z = float(ndtri((1 + level) / 2))
    p = k / n
    centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(float((centre - half) / scale), 0.0), min(float((centre + half) / scale), 1.0)


def clopper_pearson(k: int, n: int, level: float = 0.95) -> Interval:
    """Exact interval of k out of n, from quantiles of the beta distribution.

    Parameters
    ----------
    k, n
        Persons at risk, and persons.
    level
        Coverage, between 0 and 1.

    Raises
    ------
    CallError
        If the numbers make no share.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> [round(end, 4) for end in clopper_pearson(1, 3)]
    [0.0084, 0.9057]
    """
    _checked(k, n, level)
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail))
    return low, high


def bootstrap_rates(counts: NDArray[np.integer], *, n: int, seed: int) -> NDArray[np.int64]:
    """Draw persons with replacement, grouped by what they contribute; the model is not refitted.

    Parameters
    ----------
    counts : (k,)
        Number of persons of each kind.
    n
        Number of replicates.
    seed
        Seed of the draws.

    Returns
    -------
    (n, k) int64
        Number of persons of each kind, per replicate.

    References
    ----------
    Efron & Tibshirani (1993), An introduction to the bootstrap, chapter 13.

    Examples
    --------
    >>> bootstrap_rates(np.array([5, 5]), n=2, seed=1).sum(axis=1).tolist()
    [10, 10]
    """
    if isinstance(n, bool) or n < 2:
        raise CallError(f"a bootstrap needs at least 2 replicates, not {n!r}")
    total = int(counts.sum())
    drawn: NDArray[np.int64] = np.random.default_rng(seed).multinomial(total, counts / total, size=n)
    return drawn


def percentile_band(replicates: Floats, level: float) -> tuple[Floats, Floats]:
    """The central part of the replicates (n, k): lower and upper end (k,)."""
    if not 0 < level < 1:
        raise CallError(f"the level of an interval lies between 0 and 1, not at {level!r}")
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high
