"""Intervals over samples and releases: how far a figure would move if the whole procedure were repeated.

All of them work on the scale of ``arcsin(sqrt(share))``, on which the variance of a share hardly depends on the share.
That carries variances over from halves of the original, where shares are others, and keeps ends between 0 and 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from unveil.stats.interval import Interval
from unveil.stats.shares import clopper_pearson

Floats = NDArray[np.float64]
_NORMAL = 1e9
"""Degrees of freedom of which Student's distribution is the normal one."""


def from_halves(share: float, halves: Floats, n: int, level: float) -> Interval:
    """From random halves of the original, and as many releases made from each half as the figure is the mean of.

    The figures of two halves are those of independent samples of half the size. With D_k their difference in the k-th
    of K divisions, the variance of the figure is ``sum D_k^2 / 4K``, with K degrees of freedom.

    Parameters
    ----------
    share
        The figure, from 0 to 1.
    halves : (K, 2)
        The figures of both halves.
    n
        Number of original records.
    level
        Coverage, between 0 and 1.

    References
    ----------
    McCarthy (1969), Pseudo-replication: half samples, Review of the International Statistical Institute 37, 239-264;
    Wolter (2007), Introduction to variance estimation, chapter 3.

    Examples
    --------
    >>> found = from_halves(0.3, np.array([[0.28, 0.33], [0.31, 0.30], [0.27, 0.31]]), 100, 0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.242, 0.361)
    """
    scaled = _scale(halves)
    variance = float(np.mean((scaled[:, 0] - scaled[:, 1]) ** 2)) / 4
    return _interval(share, variance, len(halves), n, level)


def from_resamples(share: float, replicates: Floats, n: int, level: float) -> Interval:
    """From originals drawn with replacement from the original, and releases made from each.

    Parameters
    ----------
    share
        The figure, from 0 to 1.
    replicates : (K,)
        The same of each resample.
    n
        Number of original records.
    level
        Coverage, between 0 and 1.

    References
    ----------
    Efron & Tibshirani (1993), An introduction to the bootstrap, chapter 6.
    """
    return _interval(share, float(np.var(_scale(replicates), ddof=1)), len(replicates) - 1, n, level)


def from_releases(per_release: Floats, sampling: float, n: int, level: float, *, cautious: bool = False) -> Interval:
    """From several releases of one original: ``T = sampling + B / m``.

    B is the variance between the m releases, with m - 1 degrees of freedom; ``sampling`` is what the choice of records
    adds. The degrees of freedom of T are Satterthwaite's. They ask for releases that scatter evenly. ``cautious`` is
    for figures that jump: the part of B alone takes Student's quantile with m - 1 degrees of freedom.

    Parameters
    ----------
    per_release : (m,)
        The figure of each release, from 0 to 1; at least two.
    sampling
        Variance of the expected figure over samples of records.
    n
        Number of original records.
    level
        Coverage, between 0 and 1.
    cautious
        Whether releases may differ by jumps, so that a few of them show little.

    References
    ----------
    Satterthwaite (1946), Biometrics Bulletin 2, 110-114; Reiter (2003), Inference for partially synthetic, public use
    microdata sets, Survey Methodology 29, 181-188.
    """
    from scipy.special import stdtrit

    m = len(per_release)
    share = math.fsum(per_release) / m
    between = float(np.var(per_release, ddof=1)) / m
    total = sampling + between
    freedom = (m - 1) * (total / between) ** 2 if between > 0 else math.inf
    if cautious:
        student, normal = (float(stdtrit(nu, (1 + level) / 2)) for nu in (m - 1, _NORMAL))
        total, freedom = sampling + between * (student / normal) ** 2, _NORMAL
    slope = 4 * share * (1 - share)
    return _interval(share, total / slope if slope > 0 else 0.0, freedom, n, level)


def student_half(draws: Floats, level: float) -> float:
    """Half the length of Student's interval of the mean of some draws (b,), at least two.

    Examples
    --------
    >>> round(student_half(np.array([1.0, 2.0, 3.0]), 0.95), 3)
    2.484
    """
    from scipy.special import stdtrit

    return float(stdtrit(len(draws) - 1, (1 + level) / 2)) * float(np.std(draws, ddof=1)) / math.sqrt(len(draws))


def _scale(shares: Floats) -> Floats:
    result: Floats = np.arcsin(np.sqrt(np.clip(shares, 0.0, 1.0)))
    return result


def _interval(share: float, variance: float, freedom: float, n: int, level: float) -> Interval:
    from scipy.special import stdtrit

    quantile = float(stdtrit(min(freedom, _NORMAL), (1 + level) / 2))
    centre, half = float(_scale(np.asarray(share))), quantile * math.sqrt(variance)
    low = math.sin(max(centre - half, 0.0)) ** 2
    high = math.sin(min(centre + half, math.pi / 2)) ** 2
    if not 0 < share < 1:
        # Releases that all agree do not prove that every release would.
        exact = clopper_pearson(round(share) * n, n, level)
        low, high = min(low, exact[0]), max(high, exact[1])
    return Interval("process", share, low, high, level)
