"""Intervals of a share of records: Wilson's, Clopper and Pearson's, and both where records are no plain sample."""

from __future__ import annotations

import math

from unveil.checks import check_shares
from unveil.errors import CallError
from unveil.stats.normal import normal_quantile

Ends = tuple[float, float]
_ROUNDING = 1e-12


def _checked(k: float, n: float, level: float) -> None:
    check_shares(level=level)
    if not 0 <= k <= n or n < 1:
        raise CallError(f"{k!r} of {n!r} is no share of records")


def wilson(k: float, n: int, level: float = 0.95) -> Ends:
    """Score interval of k out of n.

    ``(p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)`` with ``p = k/n``.

    Parameters
    ----------
    k, n
        Records at risk, and records; where each counts by a share, k is the sum of these.
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
    return _wilson(k / n, n, level)


def _wilson(p: float, n: float, level: float) -> Ends:
    z = normal_quantile(level)
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max((centre - half) / scale, 0.0), min((centre + half) / scale, 1.0)


def clopper_pearson(k: float, n: float, level: float = 0.95) -> Ends:
    """Exact interval of k out of n, from quantiles of the beta distribution.

    Parameters
    ----------
    k, n
        Records at risk, and records; need not be whole where a share was estimated as well as by so many records.
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
    from scipy.special import betaincinv

    _checked(k, n, level)
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail))
    return low, high


def score_interval(share: float, variance: float, n: int, level: float = 0.95) -> Ends:
    """Wilson's interval of a share whose variance is not that of n independent records that count in full or not.

    It is that of ``n* = share (1 - share) / variance`` records. Where all records count alike there is no variance to
    see; some kind of record that is a part u of the population may then be missing among n by chance, with a
    probability of ``(1 - u)^n``, and could count for nothing or in full. The ends are those of the u of which that
    probability is ``(1 - level) / 2``; where nobody counts, or everybody does, Clopper and Pearson's.

    Parameters
    ----------
    share
        What was found, from 0 to 1; NaN where it is not defined.
    variance
        Its estimated variance.
    n
        Number of records.
    level
        Coverage, between 0 and 1.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24, 193-201.

    Examples
    --------
    >>> [round(end, 4) for end in score_interval(1 / 3, 2 / 27, 3)]
    [0.0615, 0.7923]
    >>> round(score_interval(0.0, 0.0, 10)[1], 9) == round(clopper_pearson(0, 10)[1], 9)
    True
    """
    check_shares(level=level)
    if math.isnan(share) or n < 1:
        return math.nan, math.nan
    plain = share * (1 - share)
    if plain > _ROUNDING and variance > plain * _ROUNDING:
        return _wilson(share, plain / variance, level)
    unseen = 1 - ((1 - level) / 2) ** (1 / n)
    return share * (1 - unseen), share + (1 - share) * unseen
