"""Columns that conditions and formulas can name, and what records have in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unveil.limits import as_written


class CodedValues(Protocol):
    """What records have in a column."""

    @property
    def codes(self) -> NDArray[np.int32]:
        """Level (n,) of every record."""
        ...

    @property
    def new(self) -> NDArray[np.float64] | None:
        """Numbers (n,) that are no level, nan elsewhere; None where there are none."""
        ...


Records = Mapping[str, CodedValues]


@dataclass(frozen=True)
class KnownColumn:
    """A column that conditions can name.

    Parameters
    ----------
    name
        Its name.
    values
        A Python value per level; None for the gap.
    special
        Levels that are no amounts though they are numbers.
    observed
        Levels that say how many decimals the column has; None for all.
    """

    name: str
    values: Sequence[object]
    special: Collection[int] = ()
    observed: Collection[int] | None = None

    @cached_property
    def sizes(self) -> list[object]:
        """What every level is in orders and arithmetic; None where it has no size."""
        return [None if code in self.special else size_of(value) for code, value in enumerate(self.values)]


def size_of(value: object) -> object:
    """Return a value as it is compared and calculated with: a number as the decimal that is written for it.

    Examples
    --------
    >>> size_of(0.1 + 0.2), size_of(3), size_of(float("inf")), size_of("north")
    (Fraction(3, 10), Fraction(3, 1), None, 'north')
    """
    if isinstance(value, bool | str | date | time | timedelta) or value is None:
        return value
    if isinstance(value, int | np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating):
        return Fraction(repr(as_written(float(value)))) if isfinite(value) else None
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    return value
