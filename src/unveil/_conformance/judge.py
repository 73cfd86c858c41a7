"""Verdicts on a measure from its readings in the worlds of a trial."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.001
"""One-sided error probability of a single comparison."""
EXACT = 1e-6
"""Differences up to here are taken for rounding."""
HALF = 0.5
"""Share of what is learnt that a measure has to show to be no false reassurance."""


@dataclass(frozen=True)
class Finding:
    """Whether a requirement holds, and the comparison that decided it.

    Attributes
    ----------
    verdict
        "pass", "fail", "undecided" or "not applicable".
    worlds
        Positions of the two worlds that were compared; a world that is compared with a number stands twice.
    figures
        The two figures: mean readings, or a reading and the number that was required.
    margin
        How far the mean difference may lie from the truth by chance.
    """

    verdict: str
    worlds: tuple[int, int]
    figures: tuple[float, float]
    margin: float


def margin_of(differences: Floats) -> float:
    """Distance from the mean that chance exceeds to one side once in 1 / ``LEVEL`` times, by Student's t.

    Examples
    --------
    >>> import numpy as np
    >>> round(margin_of(np.array([1.0, 2.0, 3.0])), 2)
    12.89
    """
    from scipy.stats import t

    n = differences.size
    return float(t.ppf(1 - LEVEL, n - 1) * differences.std(ddof=1) / math.sqrt(n))


def judge(requirement: str, values: Floats, maximum: float, gains: Floats) -> Finding:
    """Judge a measure by its values.

    Parameters
    ----------
    requirement
        One of ``REQUIREMENTS``.
    values : (r, w) float64
        By drawing and world.
    maximum
        Of the measure.
    gains : (r, w) float64
        What the intruder learns.
    """
    if np.isnan(values).any():
        return Finding("not applicable", (0, 0), (math.nan, math.nan), math.nan)
    return _JUDGES[requirement](values, maximum, gains)


def _maximum(values: Floats, maximum: float, gains: Floats) -> Finding:
    world = int(values.min(axis=0).argmin())
    lowest = float(values[:, world].min())
    # Certain is certain: one drawing in which the measure misses it is enough.
    return Finding(_passed(lowest >= maximum - EXACT), (world, world), (lowest, maximum), 0.0)


def _not_rising(values: Floats, maximum: float, gains: Floats) -> Finding:
    """Judge by the pair of worlds that differs most."""
    found = []
    for first, second in combinations(range(values.shape[1]), 2):
        rise = values[:, second] - values[:, first]
        margin = margin_of(rise)
        means = (float(values[:, first].mean()), float(values[:, second].mean()))
        found.append((float(rise.mean()) - margin, Finding("fail", (first, second), means, margin)))
    most, worst = max(found, key=lambda one: one[0])
    return worst if most > EXACT else Finding("pass", worst.worlds, worst.figures, worst.margin)


def _not_falling(values: Floats, maximum: float, gains: Floats) -> Finding:
    turned = _not_rising(-values, maximum, gains)
    return Finding(turned.verdict, turned.worlds, (0.0 - turned.figures[0], 0.0 - turned.figures[1]), turned.margin)


def _first_above(values: Floats, maximum: float, gains: Floats) -> Finding:
    lead = values[:, 0] - values[:, 1]
    margin, mean = margin_of(lead), float(lead.mean())
    if mean > margin + EXACT:
        verdict = "pass"
    else:
        verdict = "fail" if np.abs(lead).max() <= EXACT or mean < -margin - EXACT else "undecided"
    return Finding(verdict, (0, 1), _means(values), margin)


def _equal(values: Floats, maximum: float, gains: Floats) -> Finding:
    difference = values[:, 1] - values[:, 0]
    margin = margin_of(difference)
    return Finding(_passed(abs(float(difference.mean())) <= margin + EXACT), (0, 1), _means(values), margin)


def _not_low(values: Floats, maximum: float, gains: Floats) -> Finding:
    """The value in the second world must be at least ``floor + gain (maximum - floor) / 2``."""
    floor = float(values[:, 0].mean())
    least = floor + HALF * gains[:, 1] * (maximum - floor)
    short = least - values[:, 1]
    margin = margin_of(short)
    figures = (float(values[:, 1].mean()), float(least.mean()))
    return Finding(_passed(float(short.mean()) <= margin + EXACT), (1, 1), figures, margin)


def _passed(holds: bool | np.bool_) -> str:
    return "pass" if holds else "fail"


def _means(values: Floats) -> tuple[float, float]:
    return float(values[:, 0].mean()), float(values[:, 1].mean())


_JUDGES: Mapping[str, Callable[[Floats, float, Floats], Finding]] = {
    "maximum": _maximum,
    "not rising": _not_rising,
    "not falling": _not_falling,
    "first above second": _first_above,
    "equal": _equal,
    "not low": _not_low,
}
