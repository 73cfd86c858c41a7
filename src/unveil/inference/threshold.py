"""From scores to a share of persons at risk, at one threshold or at many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Distribution", "Rule"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rule:
    """When a person is at risk.

    Parameters
    ----------
    scoring
        Name of the score or of the error.
    threshold
        tau: at risk if the score is above it; or epsilon: at risk if the error is below it.
    above
        Whether it is tau.
    """

    scoring: str
    threshold: float
    above: bool

    @property
    def symbol(self) -> str:
        """How the threshold is called."""
        return "tau" if self.above else "epsilon"

    def at_risk(self, score: Floats) -> NDArray[np.bool_]:
        """Per person, whether at risk; both comparisons are strict."""
        result: NDArray[np.bool_] = score > self.threshold if self.above else score < self.threshold
        return result

    def grid(self) -> tuple[float, ...]:
        """Thresholds of a curve, where none are asked for; the rule's own is among them."""
        if self.above and self.scoring != "conditional":
            steps = np.round(np.arange(0, 0.96, 0.05), 2)
        elif self.above:
            steps = np.round(np.arange(0.5, 2.51, 0.1), 2)
        else:
            steps = self.threshold * np.round(np.arange(0, 5.01, 0.25), 2)
        return tuple(sorted({*map(float, steps), self.threshold}))


@dataclass(frozen=True, eq=False)
class Distribution:
    """Scores of many persons, held as the different scores and the number of persons with each."""

    scores: Floats
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, scores: Floats) -> Distribution:
        """Count the scores."""
        values, counts = np.unique(scores, return_counts=True)
        return cls(values, counts.astype(np.int64))

    def rates(self, thresholds: tuple[float, ...], above: bool) -> Floats:
        """Share of persons at risk at each threshold."""
        total = np.concatenate([[0], np.cumsum(self.counts)])
        if above:
            above_it: Floats = (total[-1] - total[np.searchsorted(self.scores, thresholds, side="right")]) / total[-1]
            return above_it
        result: Floats = total[np.searchsorted(self.scores, thresholds, side="left")] / total[-1]
        return result
