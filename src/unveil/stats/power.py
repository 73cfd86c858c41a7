"""Power of a test of one share: how many records it takes to see that a rate stands above a known one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from unveil.checks import check_shares
from unveil.stats.normal import normal_quantile

Numbers = NDArray[np.int64]
_EXACT_UP_TO = 200_000
_AT_ONCE = 4096


def smallest_n(null: float, rate: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Smallest number of records with which a one-sided test tells a rate from the null.

    Parameters
    ----------
    null, rate
        The rate under the null, and the true one, from 0 to 1.
    alpha
        Largest probability that the test rejects a null that holds.
    power
        Probability that it rejects where the rate is the true one.

    Returns
    -------
    float
        A whole number; NaN where the rate is not above the null.

    Notes
    -----
    The exact binomial test of n records rejects from ``c = min {k: P(Bin(n, null) >= k) <= alpha}`` on; its power is
    ``P(Bin(n, rate) >= c)``. It rises with n in a saw-tooth: a few larger n can have a little less. Above 200 000
    records the number is that of the normal approximation, ``((z_alpha sqrt(null (1 - null)) + z_power sqrt(rate (1 -
    rate))) / (rate - null))^2``, rounded up.

    References
    ----------
    Fleiss, Levin & Paik (2003), Statistical methods for rates and proportions, chapter 2; Chernick & Liu (2002), The
    American Statistician 56, 149-155 (the saw-tooth).

    Examples
    --------
    >>> smallest_n(0.1, 0.3), smallest_n(0.2, 0.1)
    (25.0, nan)
    """
    check_shares(alpha=alpha, power=power)
    if not rate > null or math.isnan(null):
        return math.nan
    about = _by_normal(null, rate, alpha, power)
    if about > _EXACT_UP_TO:
        return float(about)
    for start in range(1, 4 * about + 1000, _AT_ONCE):
        n = np.arange(start, start + _AT_ONCE)
        enough = np.flatnonzero(power_at(n, null, rate, alpha=alpha) >= power)
        if len(enough):
            return float(n[enough[0]])
    return float(about)


def _by_normal(null: float, rate: float, alpha: float, power: float) -> int:
    # A quantile of one tail is that of a two-sided level of twice as much.
    z_alpha, z_power = (math.copysign(normal_quantile(abs(2 * share - 1)), share - 0.5) if share != 0.5 else 0.0
                        for share in (1 - alpha, power))  # fmt: skip
    spread = z_alpha * math.sqrt(null * (1 - null)) + z_power * math.sqrt(rate * (1 - rate))
    return max(1, math.ceil((max(spread, 0.0) / (rate - null)) ** 2))


def power_at(n: Numbers, null: float, rate: float, *, alpha: float = 0.05) -> NDArray[np.float64]:
    """Power (k,) of the exact one-sided test with n (k,) records; see :func:`smallest_n`.

    Examples
    --------
    >>> power_at(np.array([25]), 0.1, 0.3).round(3).tolist()
    [0.807]
    """
    from scipy.special import betainc

    def reached(c: Numbers, share: float) -> NDArray[np.float64]:
        """Probability of at least c of n."""
        inside = (c >= 1) & (c <= n)
        found = betainc(np.where(inside, c, 1), np.where(inside, n - c + 1, 1), share)
        return np.where(c < 1, 1.0, np.where(inside, found, 0.0))

    low, high = np.zeros_like(n), n + 1
    while (low + 1 < high).any():
        middle = (low + high) // 2
        is_enough = reached(middle, null) <= alpha
        high, low = np.where(is_enough, middle, high), np.where(is_enough, low, middle)
    return reached(high, rate)
