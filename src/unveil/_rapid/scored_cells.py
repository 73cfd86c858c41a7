"""Persons scored where an engine counts them: trained attackers go there, and sums come back.

Persons with the same keys and target are alike for an attacker, so a cell stands for all of its persons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.problem import AttackRecords, Inferred, infer
from unveil._rapid.scores import categorical_score, prediction_error
from unveil._rapid.threshold import RiskThreshold
from unveil.engines.key_range import KeyRange
from unveil.models.features import Key, KeyTable
from unveil.models.learners import Predictor, TrainingTarget
from unveil.stats.exact_sums import exact_mean, exact_sum

Floats = NDArray[np.float64]
Score = Callable[[Inferred, NDArray[Any]], Floats]


@dataclass(frozen=True)
class OneSum:
    """What some persons add up to under one attacker.

    Parameters
    ----------
    persons, at_risk, right
        Number of persons; of those at risk; of those whose class is predicted.
    totals
        Exact sums by the name of their mean.
    """

    persons: int
    at_risk: int
    right: int
    totals: Mapping[str, int]

    def __add__(self, other: OneSum) -> OneSum:
        totals = {name: total + other.totals[name] for name, total in self.totals.items()}
        return OneSum(
            self.persons + other.persons, self.at_risk + other.at_risk, self.right + other.right, totals
        )  # fmt: skip

    @property
    def rate(self) -> float:
        """Share of persons at risk."""
        return self.at_risk / self.persons

    def mean(self, name: str) -> float:
        """A mean over the persons."""
        return exact_mean(self.totals[name], self.persons)


@dataclass(frozen=True)
class Sums:
    """The sums of several attackers."""

    each: tuple[OneSum, ...]

    def __add__(self, other: Sums) -> Sums:
        return Sums(tuple(one + two for one, two in zip(self.each, other.each, strict=True)))


@dataclass(frozen=True)
class Scored:
    """How persons are scored by what all persons together say.

    Parameters
    ----------
    rule, delta
        Scoring and threshold; what keeps relative errors defined.
    shares
        Share of each class among all persons; None where the target is continuous.
    spread
        Standard deviation, or range, of the target among all persons, for errors in such units.
    """

    rule: RiskThreshold
    delta: float
    shares: Floats | None
    spread: float | None

    def score(self, inferred: Inferred, truth: NDArray[Any]) -> Floats:
        """The scores of some persons."""
        if self.shares is None or inferred.probability is None:
            return prediction_error(
                truth, inferred.predicted, self.rule.scoring, delta=self.delta, spread=self.spread
            )  # fmt: skip
        return categorical_score(inferred.probability, truth, len(self.shares), self.rule.scoring, shares=self.shares)


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """A measure that applies trained attackers to the persons of each cell.

    Parameters
    ----------
    keys
        The keys as the attackers know them, without records.
    recoded
        Per key the attackers' code of each code of the files.
    truth : (n_levels,)
        Class, or number, of each code of the target; NaN for no number.
    models
        The trained attackers.
    scored
        How persons are scored.
    """

    keys: tuple[Key, ...]
    recoded: tuple[NDArray[np.int32], ...]
    truth: NDArray[Any]
    models: tuple[Predictor, ...]
    scored: Scored

    def __call__(self, keys: KeyRange) -> Sums:
        """The sums over the persons of a range, per attacker."""
        held, persons = self._persons(keys)
        times = keys.counts[0][held]
        return Sums(tuple(self._sum(one, persons.target.y, times) for one in self._inferred(keys, held, persons)))

    def flags(self, keys: KeyRange) -> dict[str, NDArray[Any]]:
        """What is said of each cell that the original has: the score of the first attacker; NaN for no number."""
        held, persons = self._persons(keys)
        (inferred,) = self._inferred(keys, held, persons)
        score = self.scored.score(inferred, persons.target.y)
        by_cell = np.full(len(keys.t), np.nan)
        at_risk = np.zeros(len(keys.t), dtype=bool)
        by_cell[held], at_risk[held] = score, self.scored.rule.at_risk(score)
        own = keys.counts[0] > 0
        if inferred.probability is None:
            return {"e": by_cell[own], "at_risk": at_risk[own]}
        probability = np.zeros(len(keys.t))
        probability[held] = inferred.probability
        return {"g": probability[own], "r": by_cell[own], "at_risk": at_risk[own]}

    def _persons(self, keys: KeyRange) -> tuple[NDArray[np.intp], AttackRecords]:
        """The cells with persons who count, and one person of each."""
        truth = self.truth[keys.t]
        counts = keys.counts[0] > 0 if self.scored.shares is not None else (keys.counts[0] > 0) & ~np.isnan(truth)
        held = np.flatnonzero(counts)
        codes = [new[levels[keys.q[held]]] for new, levels in zip(self.recoded, keys.levels, strict=True)]
        n_classes = None if self.scored.shares is None else len(self.scored.shares)
        table = KeyTable(self.keys, np.array(codes, dtype=np.int32).reshape(len(self.keys), len(held)))
        return held, AttackRecords(table, TrainingTarget(truth[held], n_classes))

    def _inferred(self, keys: KeyRange, held: NDArray[np.intp], persons: AttackRecords) -> list[Inferred]:
        if not len(held):
            nothing = Inferred(np.zeros(0), None if self.scored.shares is None else np.zeros(0))
            return [nothing for _ in self.models]
        _, first, position = np.unique(keys.q[held], return_index=True, return_inverse=True)
        return [infer(predict, persons, first, position.ravel()) for predict in self.models]

    def _sum(self, inferred: Inferred, truth: NDArray[Any], times: NDArray[np.int64]) -> OneSum:
        score = self.scored.score(inferred, truth)
        at_risk = int(times[self.scored.rule.at_risk(score)].sum())
        if inferred.probability is None:
            error = np.abs(truth - inferred.predicted)
            means, right = {"mean_score": score, "mae": error, "mse": error**2}, 0
        else:
            means = {"mean_score": score, "mean_probability": inferred.probability}
            right = int(times[inferred.predicted == truth].sum())
        totals = {name: exact_sum(values, times) for name, values in means.items()}
        return OneSum(int(times.sum()), at_risk, right, totals)
