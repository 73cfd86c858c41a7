"""What stands above a null: one rule for all measures that are compared with shuffled releases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.limits import reaches

Floats = NDArray[np.float64]
NAN = math.nan
_FULL = 1 - 1e-11
"""A null beyond it leaves nothing to be in excess of."""


@dataclass(frozen=True)
class Excess:
    """A share of records among its null; NaN where there is no null.

    Attributes
    ----------
    null_mean, null_95
        Mean and 95th percentile of the shares of shuffled releases.
    p_value
        ``(1 + number of shuffles that reach the share) / (1 + number of shuffles)``.
    excess, interval
        ``(share - null_mean) / (1 - null_mean)`` and :func:`excess_interval`.
    """

    null_mean: float = NAN
    null_95: float = NAN
    p_value: float = NAN
    excess: float = NAN
    interval: tuple[float, float] = (NAN, NAN)

    def flat(self) -> dict[str, Any]:
        """The figures by name, with the ends of the interval as figures of their own."""
        low, high = self.interval
        own = {name: value for name, value in vars(self).items() if name != "interval"}
        return own | {"excess_low": low, "excess_high": high}


def over_null(
    share: float, null: Floats, sampling: tuple[float, float], level: float, *,
    tested: tuple[float, Floats] | None = None,
) -> Excess:  # fmt: skip
    """A share of records among the same shares (P,) of shuffled releases; ``sampling`` is its release interval.

    Where the null is that of smaller models, carried to the size of the share's model, ``tested`` is what the p-value
    compares instead: the share of a model of that size, and those (P,) of the shuffled releases.

    Examples
    --------
    >>> found = over_null(0.6, np.array([0.2] * 20 + [0.3] * 20), (0.55, 0.65), 0.9)
    >>> found.null_mean, round(found.p_value, 3), round(found.excess, 3)
    (0.25, 0.024, 0.467)
    """
    if not len(null) or math.isnan(share):
        return Excess()
    mean = math.fsum(null) / len(null)
    # Means over releases are rounded: what differs by that alone is a tie.
    compared, draws = (share, null) if tested is None else tested
    reached = int(np.count_nonzero(reaches(draws, compared)))
    return Excess(
        null_mean=mean,
        null_95=float(np.quantile(null, 0.95)),
        p_value=(1 + reached) / (1 + len(null)),
        excess=excess(share, mean),
        interval=excess_interval(share, null, sampling, level),
    )


def excess(attack: float, baseline: float) -> float:
    """``(attack - baseline) / (1 - baseline)``: the share of what the baseline leaves; NaN where it leaves nothing.

    Examples
    --------
    >>> excess(0.5, 0.25), excess(0.25, 0.25)
    (0.3333333333333333, 0.0)
    """
    return (attack - baseline) / (1 - baseline) if baseline < _FULL else NAN


def excess_interval(
    share: float, null: Floats, sampling: tuple[float, float], level: float = 0.95
) -> tuple[float, float]:
    """Interval of the excess of a share over its null, from the null's own draws.

    A release whose target has nothing to do with the keys is exchangeable with its shuffles: the distance of its share
    from the null's mean is one more draw of the distances of the null's shares, each from the mean of the others. With
    h the distance that a part ``level`` of all P + 1 does not exceed, the interval is ``(share -+ h - mean) / (1 -
    mean)`` and covers 0 for a part ``level`` of such releases. Distances that tie count half: with few different ones
    plain quantiles would cover too often. With fewer than ``level / (1 - level)`` shuffles h is that of a normal null,
    by Student's t. Where 0 is not covered, the interval is no narrower than that over records.

    Parameters
    ----------
    share
        Share of records.
    null : (P,)
        The same of the shuffled releases.
    sampling
        Interval of the share over records, with the release kept.
    level
        Coverage, between 0 and 1.

    Returns
    -------
    tuple of float
        The ends; NaN where a single shuffle says nothing of the spread, or the null leaves no room.

    References
    ----------
    Lehmann & Romano (2005), Testing statistical hypotheses, section 15.2; Barber, Candès, Ramdas & Tibshirani (2021),
    Predictive inference with the jackknife+, Annals of Statistics 49, 486-507; Ma, Genton & Parzen (2011), Asymptotic
    properties of sample quantiles of discrete distributions, Annals of the Institute of Statistical Mathematics 63,
    227-243.

    Examples
    --------
    >>> null = np.linspace(0.08, 0.12, 39)
    >>> [round(end, 3) for end in excess_interval(0.11, null, (0.08, 0.14))]
    [-0.012, 0.034]
    >>> [round(end, 3) for end in excess_interval(0.55, null, (0.5, 0.6))]
    [0.444, 0.556]
    """
    draws = len(null)
    mean = math.fsum(null) / draws if draws else NAN
    if draws < 2 or mean >= _FULL or math.isnan(share):
        return NAN, NAN
    part = level * (draws + 1) / draws
    if part <= 1 + 1e-9:
        # rounded: what is equal but for rounding is a tie
        distance = mid_quantile(np.abs(null - mean).round(12), part) * draws / (draws - 1)
    else:
        from scipy.special import stdtrit

        quantile = float(stdtrit(draws - 1, (1 + level) / 2))
        distance = quantile * float(np.std(null, ddof=1)) * math.sqrt(1 + 1 / draws)
    distance += 1e-12
    low, high = share - distance, share + distance
    if low > mean:
        low, high = (min(low, sampling[0]) if sampling[0] > mean else low), max(high, sampling[1])
    elif high < mean:
        low, high = min(low, sampling[0]), (max(high, sampling[1]) if sampling[1] < mean else high)
    return excess(max(low, 0.0), mean), excess(min(high, 1.0), mean)


def mid_quantile(values: Floats, part: float) -> float:
    """Quantile of the mid-distribution: between distinct values, linear in P(below) + P(equal) / 2.

    Examples
    --------
    >>> [mid_quantile(np.array([1.0, 1.0, 2.0, 2.0]), part) for part in (0.25, 0.5, 0.9)]
    [1.0, 1.5, 2.0]
    """
    distinct, counts = np.unique(values, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(values)
    return float(np.interp(part, middle, distinct))
