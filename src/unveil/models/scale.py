"""Numeric predictors as numbers, and the scale that brings them to mean 0 and standard deviation 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.errors import DataError
from unveil.trees import Column

_LARGE = 1e150
"""Squares of larger numbers may be out of range."""


def finite(column: Column) -> NDArray[np.float64]:
    """Values of the levels of a numeric column.

    Raises
    ------
    DataError
        If one of them is infinite.
    """
    assert column.values is not None
    if not np.isfinite(column.values).all():
        raise DataError(
            f"{column.name or 'column'}: infinite values cannot be modelled; use special_codes or drop them"
        )
    return column.values


def numbers(column: Column) -> NDArray[np.float64]:
    """Values of a numeric column, one per record; finite."""
    return finite(column)[column.codes]


@dataclass(frozen=True)
class Scale:
    """How values are brought to mean 0 and standard deviation 1, without loss at either end of the range.

    ``z = (((value / unit) - origin) / step - mean) / deviation``.

    Parameters
    ----------
    unit : float
        Keeps differences of very large numbers in range.
    origin : float
        An observed value: a large common part would hide small differences.
    step : float
        Largest distance from it.
    mean, deviation : float
        Of what then is left; ``deviation`` is 0 for a constant.
    """

    unit: float
    origin: float
    step: float
    mean: float
    deviation: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Scale:
        """Scale of some values, at least one, all finite."""
        largest = float(np.abs(values).max())
        unit = largest if largest > _LARGE else 1.0
        origin = float(values[0]) / unit
        distance = values / unit - origin
        step = float(np.abs(distance).max())
        # Differences this small have hardly a digit, and dividing by them overflows in older versions of numpy.
        if step < np.finfo(np.float64).tiny:
            return cls(unit, origin, 1.0, 0.0, 0.0)
        distance /= step
        return cls(unit, origin, step, float(distance.mean()), float(distance.std()))

    @property
    def constant(self) -> bool:
        """Whether all values are the same."""
        return self.deviation == 0

    @property
    def centre(self) -> float:
        """The value that becomes 0."""
        return (self.mean * self.step + self.origin) * self.unit

    @property
    def spread(self) -> float:
        """How far apart the values are that become 0 and 1; 1 for a constant."""
        return self.deviation * self.step * self.unit or 1.0

    def standardised(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values in standard deviations from the mean; 0 for a constant."""
        if self.constant:
            return np.zeros(values.size)
        return ((values / self.unit - self.origin) / self.step - self.mean) / self.deviation

    def values(self, standardised: NDArray[np.float64]) -> NDArray[np.float64]:
        """The way back; what is out of the range of numbers becomes the largest number."""
        with np.errstate(over="ignore"):
            values = ((standardised * self.deviation + self.mean) * self.step + self.origin) * self.unit
        return np.nan_to_num(values)
