"""What simulated privacy losses say: delta by epsilon, its Monte-Carlo interval, and the epsilon of a delta."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.stats import Ends, clopper_pearson, score_interval

Floats = NDArray[np.float64]

GRID = 200
"""Epsilons between which a curve is searched for the last one above a delta."""
STEPS = 40
"""Halvings of the cell of the grid."""


@dataclass(frozen=True, eq=False)
class Losses:
    """Privacy losses of one person and one neighbour, over releases made from both.

    With losses ``L`` that are exact, ``delta(epsilon)`` is the mean of ``(1 - exp(epsilon - L))`` where that is above
    0, over releases of the original, or over those of its neighbour with the loss in their direction; the larger one.
    Where losses are only estimated, they choose the releases that count, and a share is compared with a share:
    ``P(L > epsilon | original) - exp(epsilon) P(L > epsilon | neighbour)``. No choice gives more than the true delta.

    Parameters
    ----------
    of_original : (b,) float64
        ``log p(Z | original) - log p(Z | neighbour)`` of releases made from the original.
    of_neighbour : (b,) float64
        ``log p(Z | neighbour) - log p(Z | original)`` of releases made from the neighbour.
    exact
        Whether the likelihoods are exact.

    Examples
    --------
    >>> losses = Losses(np.log([3.0, 3.0, 3.0, 1 / 3]), np.log([3.0, 3.0, 1 / 3, 3.0]), exact=True)
    >>> round(losses.delta(0.0), 3), losses.delta(2.0), round(losses.epsilon(0.0), 3)
    (0.5, 0.0, 1.099)
    """

    of_original: Floats
    of_neighbour: Floats
    exact: bool

    @property
    def largest(self) -> float:
        """An epsilon from which on no finite loss counts."""
        both = np.concatenate([self.of_original, self.of_neighbour])
        finite = float(both[np.isfinite(both)].max(initial=0.0))
        return max(finite, 0.0 if self.exact else math.log(both.size) + 2.0)

    def delta(self, epsilon: float) -> float:
        """The larger delta of both directions, at least 0."""
        return max(0.0, *(self._mean(*pair, epsilon) for pair in self._directions()))

    def delta_interval(self, epsilon: float, level: float) -> Ends:
        """Its Monte-Carlo interval."""
        ends = [self._ends(*pair, epsilon, level) for pair in self._directions()]
        return max(low for low, _ in ends), max(high for _, high in ends)

    @property
    def delta_infinity(self) -> float:
        """Share of releases that are impossible in the other world; NaN where losses are estimated."""
        return self.delta(math.inf) if self.exact else math.nan

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon from which on delta(epsilon) is not above a delta; infinity where there is none."""
        return self._first_below(self.delta, delta)

    def epsilon_interval(self, delta: float, level: float) -> Ends:
        """The same for both ends of the interval of delta(epsilon)."""
        low, high = (
            self._first_below(lambda epsilon, end=end: self.delta_interval(epsilon, level)[end], delta)  # type: ignore[misc]
            for end in (0, 1)
        )
        return low, high

    def _directions(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        return (self.of_original, self.of_neighbour), (self.of_neighbour, self.of_original)

    def _values(self, losses: Floats, epsilon: float) -> Floats:
        beyond = losses > epsilon
        # What is infinitely likelier counts in full, at every epsilon.
        values = np.isposinf(losses).astype(np.float64)
        finite = beyond & ~np.isposinf(losses)
        values[finite] = -np.expm1(epsilon - losses[finite])
        return values

    def _mean(self, losses: Floats, others: Floats, epsilon: float) -> float:
        if self.exact:
            return float(self._values(losses, epsilon).mean())
        share, other = float((losses > epsilon).mean()), float((-others > epsilon).mean())
        return share - (math.exp(epsilon) * other if other else 0.0)

    def _ends(self, losses: Floats, others: Floats, epsilon: float, level: float) -> Ends:
        n = losses.size
        if self.exact:
            values = self._values(losses, epsilon)
            return score_interval(float(values.mean()), float(values.var()) / n, n, level)
        each = 1 - (1 - level) / 2
        low, high = clopper_pearson(int((losses > epsilon).sum()), n, each)
        other_low, other_high = clopper_pearson(int((-others > epsilon).sum()), others.size, each)
        weight = math.exp(epsilon)
        return max(low - weight * other_high, 0.0), max(high - weight * other_low, 0.0)

    def _first_below(self, curve: Callable[[float], float], delta: float) -> float:
        grid = np.linspace(0.0, self.largest, GRID)
        above = np.flatnonzero([curve(epsilon) > delta for epsilon in grid.tolist()])
        if not above.size:
            return 0.0
        last = int(above[-1])
        if last == GRID - 1:
            return math.inf
        low, high = float(grid[last]), float(grid[last + 1])
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if curve(middle) > delta else (low, middle)
        return high
