"""From scores to a share of persons at risk, at one threshold or at many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil.limits import lower_edge, upper_edge

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RiskThreshold:
    """When a person is at risk.

    Parameters
    ----------
    scoring
        Name of the score or of the error.
    threshold
        tau: at risk if the score is above it; or epsilon: at risk if the error is below it.
    above
        Whether it is tau.
    slack
        Rounding error of the scores beyond that of :mod:`unveil.limits`: errors of large numbers have it.
    """

    scoring: str
    threshold: float
    above: bool
    slack: float = 0.0

    @property
    def symbol(self) -> str:
        """How the threshold is called."""
        return "tau" if self.above else "epsilon"

    def at_risk(self, score: Floats) -> NDArray[np.bool_]:
        """Per person, whether at risk; both comparisons are strict, and what is equal on paper is equal."""
        edge = self.edges(self.threshold)
        result: NDArray[np.bool_] = score > edge if self.above else score < edge
        return result

    def edges(self, thresholds: ArrayLike) -> Floats:
        """Per threshold the number that a score must be above, or below, to be above or below the threshold itself."""
        if self.above:
            # scores are made of shares: their rounding error is one of 1, however small tau is
            return upper_edge(thresholds, unit=1.0, slack=self.slack)
        return lower_edge(thresholds, unit=0.0, slack=self.slack)

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

    def rates(self, thresholds: Sequence[float], rule: RiskThreshold) -> Floats:
        """Share of persons at risk by the rule at each of these thresholds instead of its own."""
        total = np.concatenate([[0], np.cumsum(self.counts)])
        edges = rule.edges(thresholds)
        if rule.above:
            above_it: Floats = (total[-1] - total[np.searchsorted(self.scores, edges, side="right")]) / total[-1]
            return above_it
        result: Floats = total[np.searchsorted(self.scores, edges, side="left")] / total[-1]
        return result
