"""Bandwidths of a normal kernel, and noise that hides the exact numbers of donors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BandwidthRule = Literal["sheather-jones", "silverman"]

SPIKE = 0.7
"""A value with a larger share of the records is not an amount but a state ("no income"): it gets no noise."""
FEW = 300
"""Most distinct numbers of which all distances are computed; more are counted in bins."""
BINS = 1000
ROUNDING = 1e-6
FAR = 100.0
QUARTILE_RANGE_OF_NORMAL = 1.34


@dataclass(frozen=True)
class Noise:
    """Normal noise for the numbers of one variable.

    Parameters
    ----------
    bandwidth : float
        Its standard deviation.
    low, high : float
        Range of the observed numbers, to which results are clipped.
    spike : float
        Number that gets no noise; nan if there is none.
    """

    bandwidth: float
    low: float
    high: float
    spike: float

    @classmethod
    def of(cls, numbers: Floats, rule: BandwidthRule) -> Noise:
        """Return the noise for observed numbers, at least one."""
        distinct, counts = np.unique(numbers, return_counts=True)
        most = int(counts.argmax())
        is_spike = bool(counts[most] > SPIKE * numbers.size)
        amounts = numbers[numbers != distinct[most]] if is_spike else numbers
        unit = float(np.abs(amounts).max()) if amounts.any() else 1.0  # squares of numbers may be out of range
        bandwidth = (sheather_jones if rule == "sheather-jones" else rule_of_thumb)(amounts / unit) * unit
        return cls(bandwidth, float(distinct[0]), float(distinct[-1]), float(distinct[most]) if is_spike else np.nan)

    def add(self, numbers: Floats, rng: np.random.Generator) -> Floats:
        """Return the numbers with noise."""
        with np.errstate(over="ignore"):
            noisy = np.clip(numbers + self.bandwidth * rng.standard_normal(numbers.size), self.low, self.high)
        return np.where(numbers == self.spike, numbers, noisy)


def rule_of_thumb(values: NDArray[np.float64]) -> float:
    """Return the bandwidth of a normal kernel by Silverman's rule of thumb; 0 without spread.

    Parameters
    ----------
    values : (n,) float64
        The amounts.

    Examples
    --------
    >>> rule_of_thumb(np.array([5.0, 5.0]))
    0.0
    """
    if values.size < 2:
        return 0.0
    low, high = np.quantile(values, [0.25, 0.75])
    deviation, by_quartiles = float(values.std(ddof=1)), float(high - low) / QUARTILE_RANGE_OF_NORMAL
    # If half of the amounts are equal, the quartiles do not show the spread.
    spread = min(deviation, by_quartiles) if by_quartiles > 0 else deviation
    return float(0.9 * spread * values.size**-0.2)


def sheather_jones(numbers: Floats) -> float:
    """Return the bandwidth of a normal kernel by the equation of Sheather and Jones.

    The bandwidth ``h`` solves ``h = [R(K) / (n S(alpha(h)))]^(1/5)`` with ``R(K) = 1 / (2 sqrt(pi))`` and ``S``
    the estimated roughness of the second derivative of the density. More than 300 distinct numbers are counted in
    1000 bins.

    Parameters
    ----------
    numbers : (n,) float64
        Observed numbers.

    Returns
    -------
    float
        The bandwidth; by Silverman's rule of thumb if the equation has no solution, 0 without spread.

    References
    ----------
    Sheather, S. J. & Jones, M. C. (1991). A reliable data-based bandwidth selection method for kernel density
    estimation. Journal of the Royal Statistical Society B 53, 683-690, equation (12).

    Examples
    --------
    >>> from scipy.stats import norm
    >>> numbers = norm.ppf((np.arange(1000) + 0.5) / 1000)
    >>> round(sheather_jones(numbers), 2), round(1.06 * 1000**-0.2, 2)
    (0.28, 0.27)
    """
    n = numbers.size
    rough = rule_of_thumb(numbers)
    if rough == 0:
        return rough
    low, high = np.quantile(numbers, [0.25, 0.75])
    spread = float(high - low)
    if spread == 0:  # most numbers are equal, and the equation uses the quartiles
        return rough
    distance, pairs, bin_width = _distances(numbers)
    if bin_width > rough / 2:  # an outlier leaves too few bins for the others
        return rough
    # In units of the spread, so that powers stay in range; distances far beyond the kernel's reach are cut.
    with np.errstate(over="ignore"):
        distance = distance / spread

    def squared(width: float) -> Floats:
        with np.errstate(over="ignore"):
            return np.minimum(distance / width, FAR) ** 2

    def roughness(width: float) -> float:
        """Estimated integral of the squared second derivative, by the fourth derivative of the kernel."""
        t = squared(width)
        terms = (t * t - 6 * t + 3) * np.exp(-t / 2)
        return float((2 * terms @ pairs + 3 * n) / (n * (n - 1) * width**5 * np.sqrt(2 * np.pi)))

    def roughness_3(width: float) -> float:
        """Estimated integral of the squared third derivative, by the sixth derivative of the kernel."""
        t = squared(width)
        terms = (t * t * t - 15 * t * t + 45 * t - 15) * np.exp(-t / 2)
        return -float((2 * terms @ pairs - 15 * n) / (n * (n - 1) * width**7 * np.sqrt(2 * np.pi)))

    second = roughness(0.920 * n ** (-1 / 7))
    third = roughness_3(0.912 * n ** (-1 / 9))
    if second <= 0 or third <= 0:
        return rough
    scale = 1.357 * (second / third) ** (1 / 7)
    constant = 1 / (2 * np.sqrt(np.pi) * n)

    def surplus(h: float) -> float:
        estimate = roughness(scale * h ** (5 / 7))
        return h - float((constant / estimate) ** 0.2) if estimate > 0 else -h

    start, stop = rough / spread / 10, 3 * rough / spread
    if surplus(start) >= 0 or surplus(stop) <= 0:
        return rough
    from scipy.optimize import brentq

    return float(brentq(surplus, start, stop, rtol=ROUNDING)) * spread


def _distances(numbers: Floats) -> tuple[Floats, Floats, float]:
    """Return distances between numbers, their numbers of pairs, and the width of the bins (0 without bins)."""
    distinct, counts = np.unique(numbers, return_counts=True)
    weights = counts.astype(np.float64)
    if distinct.size <= FEW:
        first, second = np.triu_indices(distinct.size, 1)
        distance, together = distinct[second] - distinct[first], weights[first] * weights[second]
        equal = (weights * (weights - 1)).sum() / 2
        return np.concatenate([[0.0], distance]), np.concatenate([[equal], together]), 0.0
    low, high = float(distinct[0]), float(distinct[-1])
    weights = np.histogram(numbers, BINS, (low, high))[0].astype(np.float64)
    pairs = np.correlate(weights, weights, mode="full")[BINS - 1 :]
    pairs[0] = float((weights * (weights - 1)).sum()) / 2
    width = (high - low) / BINS
    return np.arange(BINS, dtype=np.float64) * width, pairs, width
