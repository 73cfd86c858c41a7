"""One rung of the ladder: a measure among what it has to be compared with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rung", "excess_over", "mid_quantiles"]

Floats = NDArray[np.float64]
_NOWHERE = (math.nan, math.nan)


@dataclass(frozen=True)
class Rung:
    """A measure and its baselines; all in percent of persons but ``p_value``. NaN where not defined.

    Attributes
    ----------
    value, interval
        The measure, and its bootstrap interval over original records.
    margin
        What guessing without any release achieves.
    null_mean, null_95, p_value
        The measure with the release's target shuffled: mean, 95th percentile, and
        ``(1 + number of shuffles that reach the value) / (1 + number of shuffles)``.
    ceiling
        The original attacked with itself.
    held_out, held_out_interval
        The measure of real records that the synthesizer never saw, and its bootstrap interval.
    excess, excess_interval
        ``100 (value - null_mean) / (100 - null_mean)``, and what shuffling leaves open of it.
    """

    value: float
    interval: tuple[float, float]
    margin: float = math.nan
    null_mean: float = math.nan
    null_95: float = math.nan
    p_value: float = math.nan
    ceiling: float = math.nan
    held_out: float = math.nan
    held_out_interval: tuple[float, float] = _NOWHERE
    excess: float = math.nan
    excess_interval: tuple[float, float] = _NOWHERE

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values; an interval is a list of its two ends."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def flat(self) -> dict[str, float]:
        """The figures with the ends of intervals as figures of their own."""
        row: dict[str, float] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, tuple):
                row |= {f"{field.name}_low": value[0], f"{field.name}_high": value[1]}
            else:
                row[field.name] = value
        return row


def excess_over(value: float, null: Floats, level: float) -> Mapping[str, Any]:
    """What stands above a null: mean, 95th percentile, p-value, excess and its interval.

    Under independence the value and its shuffles are exchangeable. The interval holds the excess over every null value
    between the central quantiles of all of them, so that it covers 0 exactly where the value itself lies between these
    quantiles. Quantiles are those of the mid-distribution, in which the records that tie count half: with few distinct
    values plain quantiles would cover too often.

    Parameters
    ----------
    value
        The measure, in percent.
    null : (b,)
        The measure of shuffled releases.
    level
        Coverage, between 0 and 1.

    References
    ----------
    Ernst (2004), Permutation methods: a basis for exact inference, Statistical Science 19, 676-685. Ma, Genton & Parzen
    (2011), Asymptotic properties of sample quantiles of discrete distributions, Annals of the Institute of Statistical
    Mathematics 63, 227-243.

    Examples
    --------
    >>> found = excess_over(60.0, np.array([20.0] * 20 + [30.0] * 20), 0.9)
    >>> found["null_mean"], round(found["p_value"], 3), round(found["excess"], 1)
    (25.0, 0.024, 46.7)
    """
    if not len(null) or math.isnan(value):
        return {}
    mean = math.fsum(null) / len(null)
    # Means over releases are rounded: what differs by that alone is a tie.
    reached = int(np.count_nonzero(null >= value - 1e-9))
    low, high = mid_quantiles(np.append(null, value).round(9), ((1 - level) / 2, (1 + level) / 2))
    return {
        "null_mean": mean,
        "null_95": float(np.quantile(null, 0.95)),
        "p_value": (1 + reached) / (1 + len(null)),
        "excess": _excess(value, mean),
        "excess_interval": (_excess(value, high), _excess(value, low)),
    }


def _excess(value: float, null: float) -> float:
    return float(100 * (value - null) / (100 - null)) if null < 100 - 1e-9 else math.nan


def mid_quantiles(values: Floats, probabilities: tuple[float, ...]) -> Floats:
    """Quantiles of the mid-distribution: between distinct values, linear in P(below) + P(equal) / 2.

    Examples
    --------
    >>> mid_quantiles(np.array([1.0, 1.0, 2.0, 2.0]), (0.25, 0.5, 0.9)).tolist()
    [1.0, 1.5, 2.0]
    """
    distinct, counts = np.unique(values, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(values)
    quantiles: Floats = np.interp(probabilities, middle, distinct)
    return quantiles
