"""Mean and variance of shares, from sums of whole numbers.

The variance of a mean over resamples is known without drawing any: that of the contributions over the number of records
(Efron & Tibshirani 1993, An introduction to the bootstrap, chapter 5). Contributions are rounded to a whole number of
small units, so that the sums are the same to the last bit whatever the order of records and the cut into blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_BITS = 26
_ONE = 1 << _BITS


@dataclass(frozen=True)
class Moments:
    """Sum and sum of squares of what records contribute; adds up over disjoint sets of records.

    Parameters
    ----------
    total, squares
        The sums, in units of ``2^-26`` and of ``2^-52``.
    """

    total: int = 0
    squares: int = 0

    @classmethod
    def of(cls, contributions: NDArray[np.float64], weights: NDArray[np.int64]) -> Moments:
        """Sum the contributions (k,), from 0 to 1, of kinds of records of which there are so many (k,).

        Examples
        --------
        >>> Moments.of(np.array([1.0, 0.0, 0.5]), np.array([1, 1, 2])).variance(4)
        0.125
        """
        units = np.rint(contributions * _ONE).astype(np.int64)
        squares = units * units
        # The halves of the bits are added up for themselves: together they would not fit.
        high, low = squares >> _BITS, squares & (_ONE - 1)
        return cls(int(units @ weights), (int(high @ weights) << _BITS) + int(low @ weights))

    @classmethod
    def of_shares(
        cls, numerators: NDArray[np.int64], denominators: NDArray[np.int64], weights: NDArray[np.int64]
    ) -> Moments:
        """Sum shares ``numerators / denominators`` (k,), where both are 0 also 0, of so many records each (k,)."""
        found = np.flatnonzero((numerators > 0) & (weights > 0))
        numerators, denominators, weights = numerators[found], denominators[found], weights[found]
        certain = numerators == denominators
        n_certain = int(weights[certain].sum())
        others = np.flatnonzero(~certain)
        return cls(n_certain * _ONE, n_certain * _ONE**2) + cls.of(
            numerators[others] / denominators[others], weights[others]
        )

    @classmethod
    def of_halves(cls, certain: int, units: int, high: int, low: int) -> Moments:
        """From whole numbers: records that contribute 1; of the others the units, and the halves of their squares."""
        return cls(certain * _ONE + units, certain * _ONE**2 + (high << _BITS) + low)

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.total + other.total, self.squares + other.squares)

    def times(self, n: int) -> Moments:
        """The sums over n equal sets of records."""
        return Moments(n * self.total, n * self.squares)

    def mean(self, n: int) -> float:
        """Mean of the contributions of n records."""
        return self.total / (n * _ONE)

    def variance(self, n: int) -> float:
        """Variance of the contributions of n records, where the records that were not summed contribute nothing."""
        return (self.squares * n - self.total**2) / (n * _ONE) ** 2
