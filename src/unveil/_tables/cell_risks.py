"""How many persons of the population share the cell of a sampled record: two models of what the sample leaves open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.stats.normal import normal_quantile

Floats = NDArray[np.float64]

_TERMS = 60
_MANY = 30
"""From this cell size on the series converges for every sampled share."""


def inverse_size(f: NDArray[np.integer], p: Floats) -> Floats:
    """E(1/F | f), where the population size F of a cell has the negative binomial posterior of f sampled records.

    Parameters
    ----------
    f : (k,) integer
        Sampled records of each cell, from 1.
    p : (k,) float64
        Sampled share of each cell, above 0 and up to 1.

    Returns
    -------
    (k,) float64
        Expected share of the cell that one record is; 1/f where all of the cell is sampled.

    Notes
    -----
    ``Pr(F = h | f) = C(h-1, f-1) p^f (1-p)^(h-f)`` for ``h >= f``, so that ``E(1/F | f)`` is
    ``p^f / f * 2F1(f, f; f+1; 1-p) = p / f * 2F1(1, 1; f+1; 1-p)``, a series of positive terms. It is
    ``p I_f`` with ``I_f = int_0^1 u^(f-1) / (p + (1-p) u) du`` and ``(1-p) I_(f+1) + p I_f = 1/f``, which is used where
    the series converges slowly: for few records of which less than half are sampled.

    Examples
    --------
    >>> inverse_size(np.array([1, 2]), np.array([0.5, 1.0])).round(4).tolist()
    [0.6931, 0.5]
    """
    q = 1 - p
    term = 1 / f
    total = term.copy()
    for n in range(1, _TERMS):
        term = term * (q * n / (f + n))
        total += term
    slow = np.flatnonzero((f < _MANY) & (q > 0.5))
    of, among = f[slow], p[slow]
    integral = -np.log(among) / (1 - among)
    for size in range(1, int(of.max(initial=0)) + 1):
        total[slow[of == size]] = integral[of == size]
        integral = (1 / size - among * integral) / (1 - among)
    found: Floats = p * total
    return found


def alone(more: Floats) -> Floats:
    """Probability that nobody else is in the cell of a person, where others are a Poisson number with this mean."""
    found: Floats = np.exp(-more)
    return found


def match(more: Floats) -> Floats:
    """E(1/F) of a cell of one sampled record and a Poisson number of others with this mean.

    Examples
    --------
    >>> match(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 0.6321]
    """
    some = np.maximum(more, 1e-300)
    found: Floats = -np.expm1(-some) / some
    return found


def slope_of_match(more: Floats) -> Floats:
    """The derivative of :func:`match`."""
    some = np.maximum(more, 1e-8)
    slope: Floats = (np.exp(-some) - match(some)) / some
    return np.where(more < 1e-4, more / 3 - 0.5, slope)


def curvature_of_match(more: Floats) -> Floats:
    """The second derivative of :func:`match`."""
    some = np.maximum(more, 1e-8)
    curvature: Floats = -(np.exp(-some) + 2 * slope_of_match(some)) / some
    return np.where(more < 1e-3, 1 / 3 - more / 4, curvature)


@dataclass(frozen=True)
class Expected:
    """An expected number of records among some, with the interval of the number itself.

    Parameters
    ----------
    value
        The sum of the records' probabilities.
    low, high
        Where the number lies with the probability of the level.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, probabilities: Floats, variance: float = 0.0, *, level: float) -> Expected:
        """Add up the probabilities of records.

        Parameters
        ----------
        probabilities : (m,) float64
            One per record.
        variance
            Of their sum, for what they were estimated from; a squared error counts like a variance.
        level
            Coverage of the interval.

        Notes
        -----
        Given the probabilities p_k the number has the variance ``sum p_k (1 - p_k)``; the other variance adds to it.
        The interval is that of a normal distribution, cut at 0 and at the number of records.

        Examples
        --------
        >>> found = Expected.of(np.full(100, 0.5), level=0.95)
        >>> found.value, round(found.low, 2), round(found.high, 2)
        (50.0, 40.2, 59.8)
        """
        value = float(probabilities.sum())
        margin = normal_quantile(level) * np.sqrt((probabilities * (1 - probabilities)).sum() + variance)
        return cls(value, max(0.0, float(value - margin)), min(float(len(probabilities)), float(value + margin)))
