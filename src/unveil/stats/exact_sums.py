"""Sums of numbers without rounding: they do not depend on how the numbers are cut into parts, nor on their order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_DIGITS, _HALF = 53, 27
"""Binary digits of a number, and of its lower half."""
_UNIT = 1126
"""Sums are in units of 2 to minus this power: no number has smaller digits."""


def exact_sum(values: NDArray[np.float64], times: NDArray[np.int64]) -> int:
    """Add up numbers, each so many times; in the unit that :func:`exact_mean` knows.

    Parameters
    ----------
    values : (n,)
        The numbers.
    times : (n,)
        How often each counts; all together at most 2^33 times.

    Examples
    --------
    >>> numbers, once = np.array([0.1, 1e16, -1e16]), np.ones(3, np.int64)
    >>> exact_mean(exact_sum(numbers, once), 1), float(numbers.sum())
    (0.1, 0.0)
    """
    mantissa, power = np.frexp(values)
    digits = np.ldexp(mantissa, _DIGITS).astype(np.int64)
    powers, place = np.unique(power, return_inverse=True)
    total = 0
    for half, shift in ((digits >> _HALF, _HALF), (digits & ((1 << _HALF) - 1), 0)):
        sums = np.zeros(len(powers), np.int64)
        np.add.at(sums, place.ravel(), half * times)
        for one, exponent in zip(sums.tolist(), powers.tolist(), strict=True):
            total += one << (exponent - _DIGITS + shift + _UNIT)
    return total


def exact_mean(total: int, n: int) -> float:
    """The number nearest to the mean of n numbers with this exact sum."""
    return total / (n << _UNIT)
