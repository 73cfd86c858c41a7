"""How far the figures of a document for publication are rounded."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

FEWEST_STEPS = 5
"""A percentage is only given where it has this many steps from 0 to 100; with fewer it would say nothing."""
_MANTISSAS = (1, 2, 5, 10)
_SLACK = 1e-9
"""In steps: a figure that lies on a multiple but for what computers leave over is on it."""


def readable_step(least: Fraction) -> tuple[int, int]:
    """The smallest of 1, 2 and 5 times a power of ten that is not below a number: mantissa and exponent.

    Examples
    --------
    >>> readable_step(Fraction(10, 3)), readable_step(Fraction(1, 5)), readable_step(Fraction(100, 6))
    ((5, 0), (2, -1), (2, 1))
    """
    exponent = math.floor(math.log10(least))
    # The logarithm may be wrong by one in the last place.
    exponent -= Fraction(10) ** exponent > least
    mantissa = next(m for m in _MANTISSAS if m * Fraction(10) ** exponent >= least)
    return (1, exponent + 1) if mantissa == _MANTISSAS[-1] else (mantissa, exponent)


def significant(value: float, digits: int = 2) -> float:
    """A number with so many digits.

    Examples
    --------
    >>> significant(1.4377), significant(-0.01234), significant(3021.0)
    (1.4, -0.012, 3000.0)
    """
    return float(f"{value:.{digits - 1}e}") if math.isfinite(value) else value


@dataclass(frozen=True)
class Rounding:
    """Rounding to the share that the minimum count is of the persons behind a figure.

    A percentage of few persons is a count: 2.33 % of 300 persons are 7. Multiples of a step that stands for at least
    the minimum count tell no smaller number, and neither does the difference of two of them.

    Parameters
    ----------
    persons
        Original records behind the figure.
    minimum_count
        Fewest persons that may be told of.

    Examples
    --------
    >>> survey = Rounding(persons=300, minimum_count=10)
    >>> survey.step, survey.percent(12.33), survey.percent(0.33), survey.percent(0.0), survey.count(7), survey.count(18)
    (5.0, 10.0, 5.0, 0.0, None, 20)
    """

    persons: int
    minimum_count: int

    @cached_property
    def _step(self) -> tuple[int, int] | None:
        if self.persons < FEWEST_STEPS * self.minimum_count:
            return None
        return readable_step(Fraction(100 * self.minimum_count, self.persons))

    @property
    def step(self) -> float | None:
        """Percentages are multiples of it; None where the persons are too few for one."""
        return None if self._step is None else self._multiple(1, 0)

    def _multiple(self, times: int, power: int) -> float:
        """So many steps, times a power of ten; exact to the last digit that is written."""
        assert self._step is not None
        mantissa, exponent = self._step
        return float(f"{times * mantissa}e{exponent + power}")

    def _steps(self, value: float, power: int) -> float:
        assert self._step is not None
        mantissa, exponent = self._step
        return value / float(f"{mantissa}e{exponent + power}")

    def percent(self, value: float, *, power: int = 0) -> float | None:
        """The nearest multiple; not 0, nor 100, unless the figure is just that.

        That nobody is concerned, or everybody, is told of fewer persons too, but of no fewer than the minimum count.
        """
        if self.persons >= self.minimum_count and value in (0, 100 * 10.0**power):
            return float(value)
        if self._step is None or not math.isfinite(value):
            return None
        steps, end = self._steps(value, power), self._steps(100 * 10.0**power, power)
        times = math.floor(abs(steps) + 0.5 + _SLACK)
        if times == 0:
            times = 1
        elif abs(steps) < end - _SLACK and times >= round(end):
            times = round(end) - 1
        return self._multiple(times if steps > 0 else -times, power)

    def share(self, value: float) -> float | None:
        """The same for a figure from 0 to 1."""
        return self.percent(value, power=-2)

    def expected(self, value: float) -> float | None:
        """A prior, or a share that a model expects, which count no persons: below one step they have one digit."""
        found = self.share(value)
        return significant(value, 1) if self._step and found and abs(value) < self._multiple(1, -2) else found

    def outward(self, value: float, *, up: bool, power: int = 0) -> float | None:
        """An end of an interval, away from the middle, so that the interval covers as much as before."""
        if self._step is None or not math.isfinite(value):
            return None
        steps = self._steps(value, power)
        times = math.ceil(steps - _SLACK) if up else math.floor(steps + _SLACK)
        return self._multiple(times, power)

    def nearest(self, value: float, *, power: int = 0) -> float | None:
        """The nearest multiple, 0 as well: for differences and correlations."""
        if self._step is None or not math.isfinite(value):
            return None
        return self._multiple(math.floor(self._steps(value, power) + 0.5 + _SLACK), power)

    def at_random(self, percent: float, draw: Callable[[], float]) -> float:
        """The multiple below or above, so that the mean over draws is the figure itself.

        Parameters
        ----------
        percent
            The figure.
        draw
            Gives a random number from 0 to 1.
        """
        steps = self._steps(percent, 0)
        below = math.floor(steps + _SLACK)
        up = draw() < steps - below
        return self._multiple(below + up, 0)

    def count(self, n: float) -> int | None:
        """The nearest multiple of the minimum count; 0 stays 0, and what is between is not told."""
        if n == 0:
            return 0
        if n < self.minimum_count:
            return None
        return self.minimum_count * math.floor(n / self.minimum_count + 0.5)
