"""Running attacks: on a release, on a release whose target is shuffled, and on the original by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.kept_scores import KeptScores, Scores
from unveil._rapid.null import SIZES, Shuffled, is_large, rates_of_shuffles
from unveil._rapid.problem import AttackRecords, Inferred, Problem, infer
from unveil._rapid.scores import categorical_score, class_shares, prediction_error
from unveil._rapid.threshold import Distribution, RiskThreshold
from unveil.models.learners import Attacker, Predictor, fit_attacker, fold_of

Floats = NDArray[np.float64]
_ATTACK, _SHUFFLE, _NULL, _CEILING, _SAMPLE, _SAMPLED, _PERSONS, _JOINT = range(8)
SAMPLES = 5
"""Samples of a large release that an attack is trained on: the first gives the figures, all of them its error."""


@dataclass(frozen=True, eq=False)
class Attack:
    """One attacker trained on one release, applied to all persons.

    Attributes
    ----------
    attacker
        Its name.
    release
        Number of the release, from 0.
    inferred
        Predictions, and probabilities of the true class.
    score : (k,)
        r (or another scoring) or the error, of every record that counts.
    at_risk : (k,) bool
        Whether the score is beyond the threshold.
    null
        The same attack after shuffling the release's target, per permutation.
    tested
        Scores of the attack at the size of the null: those of the first trees of a forest; None where all trees count.
    ceiling
        Scores of the same attack trained on the original, cross-fitted.
    predict
        The trained attacker.
    samples
        Scores of the attack trained on several samples of the release, its own first, all at the size of the null;
        none where it is trained on the whole release.
    """

    attacker: str
    release: int
    inferred: Inferred
    score: Floats
    at_risk: NDArray[np.bool_]
    null: tuple[Shuffled, ...]
    tested: Distribution | None
    ceiling: Distribution | None
    predict: Predictor = field(repr=False)
    samples: tuple[Distribution, ...] = ()

    @property
    def rate(self) -> float:
        """Share of persons at risk."""
        return int(self.at_risk.sum()) / len(self.at_risk)


def null_rates(runs: Sequence[Attack], thresholds: Sequence[float], rule: RiskThreshold) -> Floats:
    """Rate (b, t) of every shuffle at every threshold, mean over the attacks; b is 0 where nothing was shuffled."""
    each = [rates_of_shuffles(run.null, thresholds, rule) for run in runs if run.null]
    return np.mean(each, axis=0) if each else np.empty((0, len(thresholds)))


def compared_rates(runs: Sequence[Attack], threshold: float, rule: RiskThreshold) -> tuple[float, Floats]:
    """What the permutation test compares, means over the attacks: the rate, and those (b,) of the shuffles."""
    observed = [run.rate if run.tested is None else float(run.tested.rates((threshold,), rule)[0]) for run in runs]
    each = [[null.scores.rates((threshold,), rule)[0] for null in run.null] for run in runs]
    return sum(observed) / len(observed), np.mean(each, axis=0)


@dataclass
class Fits:
    """What was heard of the models of an attacker, one by one: why a model was not fitted to the end, or nothing."""

    heard: list[str] = field(default_factory=list)

    @property
    def trained(self) -> int:
        """How many models were trained."""
        return len(self.heard)

    @property
    def reasons(self) -> list[str]:
        """Why models were not fitted to the end, one for each of them."""
        return [text for text in self.heard if text]


@dataclass(frozen=True, eq=False)
class Runner:
    """A problem, and how it is scored.

    Parameters
    ----------
    problem
        The problem.
    rule
        Scoring and threshold.
    delta
        Of the relative errors.
    seed
        All random numbers derive from it and the place of their use.
    threads
        Number of threads; no figure depends on it.
    most_records
        Records of a file that an attacker is trained on at most.
    kept
        Scores of an earlier call, where a folder was named.
    fits
        Per attacker, what was heard of the models that were trained so far.
    """

    problem: Problem
    rule: RiskThreshold
    delta: float
    seed: int
    threads: int
    most_records: int
    kept: KeptScores | None = field(default=None, compare=False, repr=False)
    fits: dict[str, Fits] = field(default_factory=dict, compare=False, repr=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What deserves a look in the files, and which models were not fitted to the end."""
        unfinished = (
            f"{name} did not converge in {len(fits.reasons)} of {fits.trained} models ({fits.reasons[0]}): the figures "
            "are those of models that were not fitted to the end"
            for name, fits in self.fits.items()
            if fits.reasons
        )
        return (*self.problem.warnings, *unfinished)

    def score(self, inferred: Inferred, attacked: AttackRecords | None = None) -> Floats:
        """The scores of all persons, in the order of the original or of these records."""
        problem = self.problem
        truth = (attacked or problem.original).target.y
        if problem.classes is None or inferred.probability is None:
            return prediction_error(truth, inferred.predicted, self.rule.scoring, delta=self.delta)
        return categorical_score(inferred.probability, truth, len(problem.classes), self.rule.scoring)

    def margin(self) -> Inferred:
        """What is inferred without the release and without keys: shares of classes, or the median."""
        problem = self.problem
        if problem.classes is None:
            return Inferred(np.full(len(problem.truth), float(np.median(problem.truth))), None)
        shares = class_shares(problem.truth, len(problem.classes))
        return Inferred(np.full(len(problem.truth), int(shares.argmax()), dtype=np.int32), shares[problem.truth])

    def attack(
        self, attacker: Attacker, number: int, release: int, *, permutations: int, ceiling: Distribution | None,
        tick: Callable[[str], None],
    ) -> Attack:  # fmt: skip
        """Train on a release, and on the release with its target shuffled."""
        problem = self.problem
        evidence = self._sample(release, 0)
        predict = self._fit(attacker, evidence, _ATTACK, release, number)
        sampled, place = self.is_sampled(release), (release, number)
        inferred, tested = self._with_tested(predict) if permutations or sampled else (problem.infer(predict), None)
        tick(f"{attacker.name}, {problem.pair.labels[release]}")
        score = self.score(inferred)
        samples = [tested or Distribution.of(score)] if sampled else []
        for j in range(1, SAMPLES if sampled else 0):
            samples += self._kept(attacker, partial(self._of_sample, attacker, place, j), _SAMPLED, *place, j)
            tick(f"{attacker.name}, {problem.pair.labels[release]}, sample {j + 1} of {SAMPLES}")
        null = []
        n_trees = predict.forest.n_trees if is_large(predict) else SIZES[-1]
        for b in range(permutations):
            found = self._kept(attacker, partial(self._of_shuffle, attacker, evidence, place, b), _NULL, *place, b)
            null.append(Shuffled(found[0], found[1] if len(found) > 1 else None, n_trees))
            tick(f"{attacker.name}, {problem.pair.labels[release]}, null {b + 1} of {permutations}")
        return Attack(
            attacker.name, release, inferred, score, self.rule.at_risk(score), tuple(null), tested, ceiling, predict,
            tuple(samples),
        )  # fmt: skip

    def is_sampled(self, release: int) -> bool:
        """Whether a release has more records than an attacker is trained on."""
        return len(self.problem.releases[release]) > self.most_records

    def _sample(self, release: int, number: int) -> AttackRecords:
        """The records of a release that an attacker is trained on: all of a small one."""
        return self._drawn(self.problem.releases[release], _SAMPLE, release, number)

    def _drawn(self, records: AttackRecords, *place: int) -> AttackRecords:
        """All records, or as many as are used at most; the draw does not depend on the order in which they came."""
        rows = self._rows(records, *place)
        return records if rows is None else records.take(rows)

    def _rows(self, records: AttackRecords, *place: int) -> NDArray[np.intp] | None:
        if len(records) <= self.most_records:
            return None
        rng = np.random.default_rng(self._stream(*place))
        return records.ordering()[rng.choice(len(records), self.most_records, replace=False)]

    def persons(self) -> NDArray[np.intp]:
        """The persons who stand for all where each is attacked many times: all, or as many as are drawn at most."""
        rows = self._rows(self.problem.original, _PERSONS)
        return np.arange(len(self.problem.original)) if rows is None else rows

    def _of_first(self, predict: Predictor) -> Distribution:
        """The scores of an attack at the size of the null."""
        if not is_large(predict):
            return Distribution.of(self.score(self.problem.infer(predict)))
        return Distribution.of(self.score(self.problem.infer_by_first(predict, SIZES[-1:])[0]))

    def _with_tested(self, predict: Predictor) -> tuple[Inferred, Distribution | None]:
        """What is inferred of all persons, and the scores at the size of the null, where that is another."""
        if not is_large(predict):
            return self.problem.infer(predict), None
        first, inferred = self.problem.infer_by_first(predict, (SIZES[-1], predict.forest.n_trees))
        return inferred, Distribution.of(self.score(first))

    def _of_sample(self, attacker: Attacker, place: tuple[int, int], number: int) -> Scores:
        """The scores of an attack on another sample of a release."""
        return (self._of_first(self._fit(attacker, self._sample(place[0], number), _SAMPLED, *place, number)),)

    def _of_shuffle(
        self, attacker: Attacker, evidence: AttackRecords, place: tuple[int, int], permutation: int
    ) -> Scores:
        """The scores of an attack on a shuffled release, and those of its first half where it is large."""
        shuffled = self._shuffled(evidence, place[0], permutation)
        predict = self._fit(attacker, shuffled, _NULL, *place, permutation)
        if not is_large(predict):
            return (Distribution.of(self.score(self.problem.infer(predict))),)
        half, whole = (Distribution.of(self.score(one)) for one in self.problem.infer_by_first(predict, SIZES))
        return whole, half

    def at_risk_shuffled(self, attacker: Attacker, release: int, permutation: int, target: int) -> NDArray[np.bool_]:
        """Who is at risk where the target is shuffled over the records of a release, apart from other targets.

        Parameters
        ----------
        attacker
            What is trained, at its full size.
        release, permutation
            Numbers of the release and of the shuffle.
        target
            Number of the target among those that are shuffled.
        """
        place = (_JOINT, release, permutation, target)
        ordered = self._sample(release, 0).ordered()
        rng = np.random.default_rng(self._stream(*place, 0))
        shuffled = AttackRecords(ordered.table, ordered.target.take(rng.permutation(len(ordered))))
        return self.rule.at_risk(self.score(self.problem.infer(self._fit(attacker, shuffled, *place, 1))))

    def ceiling(self, attacker: Attacker, number: int, folds: int, tick: Callable[[str], None]) -> Distribution:
        """Scores of the attack trained on the original: every person is predicted by a model fitted without them."""
        trained: list[str] = []

        def told(what: str) -> None:
            trained.append(what)
            tick(what)

        found = self._kept(attacker, partial(self._of_folds, attacker, number, folds, told), _CEILING, number, folds)
        for _ in range(0 if trained else folds):
            tick(f"{attacker.name}, original by itself")
        return found[0]

    def _of_folds(self, attacker: Attacker, number: int, folds: int, tick: Callable[[str], None]) -> Scores:
        problem = self.problem
        everybody = self._drawn(problem.original, _PERSONS).ordered()
        n = len(everybody)
        fold = fold_of(everybody.target, folds, self._stream(_CEILING, number))
        predicted: NDArray[Any] = np.zeros(n, dtype=np.float64 if problem.classes is None else np.int32)
        probability = None if problem.classes is None else np.zeros(n)
        for f in range(folds):
            inside, outside = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            if not len(outside):
                continue
            # with a single record there is nobody else to learn from
            train = everybody.take(inside) if len(inside) else everybody
            predict = self._fit(attacker, train, _CEILING, number, f)
            held_out = everybody.take(outside)
            found = infer(predict, held_out, *held_out.table.distinct())
            predicted[outside] = found.predicted
            if probability is not None and found.probability is not None:
                probability[outside] = found.probability
            tick(f"{attacker.name}, original by itself, fold {f + 1} of {folds}")
        return (Distribution.of(self.score(Inferred(predicted, probability), everybody)),)

    def _fit(self, attacker: Attacker, evidence: AttackRecords, *place: int) -> Predictor:
        train = evidence.joined(self.problem.side)
        heard: list[str] = []
        predict = fit_attacker(attacker, train.table, train.target, self._stream(*place), self.threads, heard.append)
        self._heard(attacker).append(heard[0] if heard else "")
        return predict

    def _heard(self, attacker: Attacker) -> list[str]:
        return self.fits.setdefault(attacker.name, Fits()).heard

    def _kept(self, attacker: Attacker, work: Callable[[], Scores], *place: int) -> Scores:
        """Scores of the models of a place, from an earlier call if there was one."""
        return self.kept.of(attacker, place, work, self._heard(attacker)) if self.kept else work()

    def _shuffled(self, evidence: AttackRecords, release: int, permutation: int) -> AttackRecords:
        rng = np.random.default_rng(self._stream(_SHUFFLE, release, permutation))
        ordered = evidence.ordered()
        return AttackRecords(ordered.table, ordered.target.take(rng.permutation(len(ordered))))

    def _stream(self, *place: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=place)
