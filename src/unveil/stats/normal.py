"""Quantiles and far tails of the normal distribution, for calls that need no more of a large library."""

from __future__ import annotations

import math
from statistics import NormalDist

_FAR = 30.0
"""Standard errors beyond which the tail is taken from its series, whose error is then below 1e-9 of it."""


def normal_quantile(level: float) -> float:
    """Number of standard errors from the middle to the ends of a normal interval.

    Examples
    --------
    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    # From below: near 1 the upper end of the interval would be rounded to 1.
    return -NormalDist().inv_cdf((1 - level) / 2)


def log_normal_tail(z: float) -> float:
    """Natural logarithm of the probability that a standard normal value is above z, however far out.

    Notes
    -----
    ``erfc(z / sqrt 2) / 2``, and far out ``exp(-z^2/2) / (z sqrt(2 pi)) (1 - 1/z^2 + 3/z^4 - 15/z^6)``.

    References
    ----------
    Abramowitz & Stegun (1964), Handbook of Mathematical Functions, 26.2.12.

    Examples
    --------
    >>> round(math.exp(log_normal_tail(1.96)), 4)
    0.025
    >>> round(log_normal_tail(1000.0))
    -500008
    """
    if z < _FAR:
        return math.log(math.erfc(z / math.sqrt(2)) / 2)
    inverse = 1 / (z * z)
    series = -inverse * (1 - 3 * inverse * (1 - 5 * inverse))
    return -z * z / 2 - math.log(z) - math.log(2 * math.pi) / 2 + math.log1p(series)
