"""Comparisons with a limit that a reader types: a threshold of risk, a share, a number of an institution's policy.

A limit is a decimal, 0.3 say, and a figure is a ratio that was rounded on its way. Compared bit by bit, (0.65 - 0.5) /
(1 - 0.5) is above 0.3. Here a figure equals a limit where the two differ by no more than a billionth part of the limit
(:data:`TOLERANCE`), or of ``unit`` where the limit is smaller. Whoever compares a figure with a limit, for a threshold
or a table or a sentence, does it by these functions.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

TOLERANCE = 1e-9
"""Share of the limit by which a figure may differ from it and still equals it."""
UNIT = 1e-3
"""The smallest limit of which that share is taken; below it rounding errors do not shrink with the limit."""
_DENOMINATOR = 10**9
_NEAR = 1e-13
"""Share of a number that no other number that is written as it with 15 digits differs by."""

Floats = NDArray[np.float64]


def as_typed(limit: float) -> Fraction:
    """The number that was meant, for comparisons of whole numbers: the simplest fraction next to the limit.

    Examples
    --------
    >>> as_typed(0.3), as_typed(2 / 3), as_typed(1)
    (Fraction(3, 10), Fraction(2, 3), Fraction(1, 1))
    """
    return Fraction(limit).limit_denominator(_DENOMINATOR)


def as_written(value: float) -> float:
    """The number as it is written with 15 digits, by which values of a file are one level and as which they are shown.

    Examples
    --------
    >>> as_written(0.1 + 0.2), as_written(7)
    (0.3, 7)
    """
    written = float(f"{value:.15g}") if math.isfinite(value) else value
    return written if isinstance(value, float) and math.isfinite(written) else value


def is_written_as(values: ArrayLike, limit: float) -> NDArray[np.bool_]:
    """Which values of a file are the limit: the same number where both are written with 15 digits.

    Values of a file were not worked out, so the tolerance of figures would be too wide for them: next to an amount of a
    thousand million it is a whole unit.

    Examples
    --------
    >>> is_written_as([0.1 + 0.2, 0.3, 0.30000000000001], 0.3).tolist()
    [True, True, False]
    """
    given = np.asarray(values)
    same: NDArray[np.bool_] = given == limit
    if given.dtype.kind == "f":
        # Whole numbers are exact.
        with np.errstate(invalid="ignore"):
            near = np.unique(given[(np.abs(given - limit) <= _NEAR * abs(limit)) & (given % 1 != 0)])
        same |= np.isin(given, [value for value in near.tolist() if as_written(value) == as_written(float(limit))])
    return same


def upper_edge(limit: ArrayLike, *, unit: float = UNIT, slack: float = 0.0) -> Floats:
    """The largest number that still equals the limit.

    Parameters
    ----------
    limit
        What was typed.
    unit
        Scale of the figures: limits below it have its tolerance.
    slack
        Further rounding error that the figures are known to have.
    """
    typed = np.asarray(limit, dtype=np.float64)
    edge: Floats = typed + (TOLERANCE * np.maximum(np.abs(typed), unit) + slack)
    return edge


def lower_edge(limit: ArrayLike, *, unit: float = UNIT, slack: float = 0.0) -> Floats:
    """The smallest number that still equals the limit; see :func:`upper_edge`."""
    edge: Floats = -upper_edge(-np.asarray(limit, dtype=np.float64), unit=unit, slack=slack)
    return edge


def exceeds(figure: ArrayLike, limit: ArrayLike, *, unit: float = UNIT, slack: float = 0.0) -> NDArray[np.bool_]:
    """Whether a figure is above the limit; what is not defined is not.

    Examples
    --------
    >>> r = (0.65 - 0.5) / (1 - 0.5)
    >>> r > 0.3, bool(exceeds(r, 0.3)), exceeds([0.3, 0.300001, float("nan")], 0.3).tolist()
    (True, False, [False, True, False])
    """
    return np.asarray(np.asarray(figure) > upper_edge(limit, unit=unit, slack=slack))


def within(figure: ArrayLike, limit: ArrayLike, *, unit: float = UNIT, slack: float = 0.0) -> NDArray[np.bool_]:
    """Whether a figure is at most the limit; what is not defined is not.

    Examples
    --------
    >>> 0.1 + 0.2 <= 0.3, bool(within(0.1 + 0.2, 0.3))
    (False, True)
    """
    return np.asarray(np.asarray(figure) <= upper_edge(limit, unit=unit, slack=slack))


def falls_below(figure: ArrayLike, limit: ArrayLike, *, unit: float = UNIT, slack: float = 0.0) -> NDArray[np.bool_]:
    """Whether a figure is below the limit; what is not defined is not.

    Examples
    --------
    >>> 0.3 - 0.2 < 0.1, bool(falls_below(0.3 - 0.2, 0.1))
    (True, False)
    """
    return np.asarray(np.asarray(figure) < lower_edge(limit, unit=unit, slack=slack))


def reaches(figure: ArrayLike, limit: ArrayLike, *, unit: float = UNIT, slack: float = 0.0) -> NDArray[np.bool_]:
    """Whether a figure is at least the limit; what is not defined is not.

    Examples
    --------
    >>> 0.1 + 0.7 >= 0.8, bool(reaches(0.1 + 0.7, 0.8))
    (False, True)
    """
    return np.asarray(np.asarray(figure) >= lower_edge(limit, unit=unit, slack=slack))
