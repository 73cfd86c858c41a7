"""One rung of the ladder: a measure among what it has to be compared with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.plain import Plain
from unveil.stats import over_null

Floats = NDArray[np.float64]
_NOWHERE = (math.nan, math.nan)


@dataclass(frozen=True)
class ComparedMeasure(Plain):
    """A measure and its baselines; all in percent of persons but ``p_value``. NaN where not defined.

    Attributes
    ----------
    value, interval
        The measure, and its release interval: over records, with the release kept.
    process_interval
        Over persons and releases; of the mean over the releases only.
    margin
        What guessing without any release achieves.
    null_mean, null_95, p_value
        The measure with the release's target shuffled: mean, 95th percentile, and
        ``(1 + number of shuffles that reach the value) / (1 + number of shuffles)``.
    ceiling
        The original attacked with itself.
    held_out, held_out_interval
        The measure of real records that the synthesizer never saw, and its release interval.
    excess, excess_interval
        ``100 (value - null_mean) / (100 - null_mean)``, and :func:`unveil.stats.excess_interval`.
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
    process_interval: tuple[float, float] = _NOWHERE

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


def above_null(value: float, null: Floats, interval: tuple[float, float], level: float) -> Mapping[str, Any]:
    """What stands above a null, by the names of a rung; in percent, p-value excepted.

    Parameters
    ----------
    value, interval
        The measure and its release interval.
    null : (b,)
        The measure of shuffled releases.
    level
        Coverage, between 0 and 1.

    Examples
    --------
    >>> found = above_null(60.0, np.array([20.0] * 20 + [30.0] * 20), (55.0, 65.0), 0.9)
    >>> found["null_mean"], round(found["p_value"], 3), round(found["excess"], 1)
    (25.0, 0.024, 46.7)
    """
    found = over_null(value / 100, null / 100, (interval[0] / 100, interval[1] / 100), level)
    return {
        "null_mean": 100 * found.null_mean,
        "null_95": 100 * found.null_95,
        "p_value": found.p_value,
        "excess": 100 * found.excess,
        "excess_interval": (100 * found.interval[0], 100 * found.interval[1]),
    }
