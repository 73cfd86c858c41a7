"""The bootstrap of RAPID: persons are resampled, models are held, and all that a score takes from persons is recounted.

A score depends on the other persons: r on the share b of the person's class, the conditional score on the mean of g in
the class, errors in standard deviations or ranges on the spread of y. With these held fixed intervals are too short (82
to 90 % for the nominal 95 % with 250 persons), since a person near the threshold, and all who are alike with them, are
at risk or not by the value of b. In every resample they are computed anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.attack import Attack, Runner
from unveil._rapid.scores import categorical_score, prediction_error
from unveil.stats import resamples

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Resampled:
    """Kinds of persons, who are alike in truth and in what every attack says of them.

    Parameters
    ----------
    runner
        What was asked for.
    kind : (n,)
        The kind of every person.
    counts : (k,)
        Number of persons of each kind.
    truth : (k,)
        Class, or true value, of each kind.
    raw : (r, k)
        Per attack the figure of each kind that is compared: g, or the score or error that depends on nobody else.
    """

    runner: Runner
    kind: NDArray[np.intp]
    counts: Ints
    truth: NDArray[np.float64]
    raw: Floats

    @classmethod
    def of(cls, runs: Sequence[Attack], runner: Runner) -> Resampled:
        """Gather the persons of some attacks of one problem."""
        raw = np.stack([_raw(run, runner) for run in runs])
        values = np.column_stack([runner.problem.truth.astype(np.float64), *raw])
        kinds, kind, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
        return cls(runner, kind.ravel(), counts, kinds[:, 0], np.ascontiguousarray(kinds[:, 1:].T))

    @property
    def classes(self) -> NDArray[np.intp]:
        """Class (k,) of each kind; one for all where the target is continuous."""
        if self.runner.problem.classes is None:
            return np.zeros(len(self.counts), dtype=np.intp)
        return self.truth.astype(np.intp)

    @property
    def n_classes(self) -> int:
        """Number of classes up to the last that occurs."""
        return int(self.classes.max()) + 1

    def draws(self, n: int, seed: int) -> Iterator[Ints]:
        """Resamples, some at a time: number of persons (b, k) of each kind."""
        return resamples(self.counts, n, seed)

    def rates(self, thresholds: Sequence[float], *, n: int, seed: int) -> tuple[Floats, Floats]:
        """Persons at risk in every resample.

        Parameters
        ----------
        thresholds
            Thresholds (t,).
        n, seed
            Number of resamples, and seed.

        Returns
        -------
        at_risk : (n, r, c, t) float64
            Number of persons of each class at risk, per attack and threshold.
        persons : (n, c)
            Number of persons of each class.
        """
        orders = [np.lexsort((raw, self.classes)) for raw in self.raw]
        ends = np.searchsorted(np.sort(self.classes), np.arange(self.n_classes + 1))
        edges = np.asarray(self.runner.rule.edges(thresholds))
        above = self.runner.rule.above
        at_risk, persons = [], []
        for weights in self.draws(n, seed):
            persons.append(self._by_class(weights))
            block = np.empty((len(weights), len(self.raw), self.n_classes, len(edges)))
            for r, (raw, order) in enumerate(zip(self.raw, orders, strict=True)):
                limits = self.limits(np.broadcast_to(raw, weights.shape), weights, edges)
                for c in range(self.n_classes):
                    inside = order[ends[c] : ends[c + 1]]
                    running = np.zeros((len(weights), len(inside) + 1), dtype=np.int64)
                    np.cumsum(weights[:, inside], axis=1, out=running[:, 1:])
                    place = np.searchsorted(raw[inside], limits[:, c], side="right" if above else "left")
                    below = np.take_along_axis(running, place, axis=1)
                    block[:, r, c] = running[:, -1:] - below if above else below
            at_risk.append(block)
        return np.concatenate(at_risk), np.concatenate(persons)

    def moved(
        self, thresholds: Sequence[float], attackers: Sequence[Sequence[int]], *, n: int, seed: int
    ) -> Floats:  # fmt: skip
        """The rate where persons are drawn anew and models move as if the original and the releases were others.

        How the figures g of the m releases' models differ shows by how much a model moves with its release, and, for a
        release that follows the records it was made from, with the original too. To each are added ``sum_j (z_j + u_j)
        (g_j - mean of g) / sqrt(m - 1)`` with standard normal z that are the same for all releases (another original)
        and u of its own (another release): persons who are alike for the models move together. So a rate that jumps
        where a threshold is crossed takes the values on both sides of it, even if all releases at hand are on one.

        Parameters
        ----------
        thresholds
            Thresholds (t,).
        attackers
            Per attacker the positions of its m attacks, in the order of the releases; m is at least two.
        n, seed
            Number of resamples, and seed.

        Returns
        -------
        (n, t) float64
            Rate, mean over the attackers and releases.
        """
        edges = np.asarray(self.runner.rule.edges(thresholds))
        m, noise = len(attackers[0]), np.random.default_rng([seed, 1])
        apart = [self.raw[list(own)] - self.raw[list(own)].mean(axis=0) for own in attackers]
        rates = []
        for weights in self.draws(n, seed):
            by_release = []
            # the same noise whatever is drawn at a time
            shifts = noise.normal(size=(len(weights), m + 1, m)) / np.sqrt(m - 1)
            for own, deviation in zip(attackers, apart, strict=True):
                for j, place in enumerate(own):
                    raw = self._possible(self.raw[place] + (shifts[:, 0] + shifts[:, 1 + j]) @ deviation)
                    by_release.append(self._rates(raw, weights, edges))
            rates.append(np.mean(by_release, axis=0))
        return np.concatenate(rates)

    def _possible(self, raw: Floats) -> Floats:
        """The nearest figures that a model can give."""
        return np.clip(raw, 0.0, 1.0) if self.runner.rule.scoring in ("marginal", "conditional") else raw

    def _rates(self, raw: Floats, weights: Ints, edges: Floats) -> Floats:
        """The rate (b, t) for figures (b, k) of persons with weights (b, k)."""
        limits, above = self.limits(raw, weights, edges), self.runner.rule.above
        total = weights.sum(axis=1)
        found = np.empty((len(weights), len(edges)))
        for t in range(len(edges)):
            limit = limits[:, self.classes, t]
            found[:, t] = (weights * (raw > limit if above else raw < limit)).sum(axis=1) / total
        return found

    def groups(self, groups: NDArray[np.integer], n_groups: int, *, n: int, seed: int) -> tuple[Floats, Floats]:
        """Persons at risk at the rule's own threshold, mean over the attacks, and persons, by group of persons.

        Parameters
        ----------
        groups : (n_persons,)
            Group of every person; below 0 for none.
        n_groups
            Number of groups.
        n, seed
            Number of resamples, and seed.

        Returns
        -------
        hits, persons : (n, n_groups)
            Per resample and group.
        """
        # kinds within groups, so that both are drawn together
        places = self.kind * (n_groups + 1) + np.where(groups < 0, n_groups, groups)
        found, counts = np.unique(places, return_counts=True)
        kind, group = found // (n_groups + 1), found % (n_groups + 1)
        edges = np.asarray(self.runner.rule.edges([self.runner.rule.threshold]))
        hits, persons = [], []
        for drawn in resamples(counts, n, seed):
            weights = _sums(drawn, kind, len(self.counts))
            flags = np.zeros(drawn.shape)
            for raw in self.raw:
                limit = self.limits(np.broadcast_to(raw, weights.shape), weights, edges)[:, self.classes, 0]
                flags += (raw > limit if self.runner.rule.above else raw < limit)[:, kind] / len(self.raw)
            hits.append(_sums(drawn * flags, group, n_groups + 1)[:, :n_groups])
            persons.append(_sums(drawn, group, n_groups + 1)[:, :n_groups])
        return np.concatenate(hits), np.concatenate(persons)

    def margins(self, *, n: int, seed: int) -> Floats:
        """The rate without release and keys in every resample (n,), with its own class shares or median."""
        rule = self.runner.rule
        edges = np.asarray(rule.edges([rule.threshold]))
        rates = []
        for weights in self.draws(n, seed):
            rates.append(self._rates(self._guess(weights), weights, edges)[:, 0])
        return np.concatenate(rates)

    def _guess(self, weights: Ints) -> Floats:
        """The raw figure (b, k) of who knows neither release nor keys, but the persons with these weights."""
        rule, problem = self.runner.rule, self.runner.problem
        total = int(self.counts.sum())
        if problem.classes is None:
            reached = np.cumsum(weights, axis=1)
            middle = [(reached <= place).sum(axis=1) for place in ((total - 1) // 2, total // 2)]
            median = np.mean([self.truth[places] for places in middle], axis=0)[:, None]
            if rule.scoring in ("sd", "range"):
                distance: Floats = np.abs(self.truth - median)
                return distance
            truth, guessed = np.broadcast_arrays(self.truth, median)
            return prediction_error(truth, guessed, rule.scoring, delta=self.runner.delta)
        share: Floats = (self._by_class(weights) / total)[:, self.classes]
        if rule.scoring == "nce":
            flat = categorical_score(share.ravel(), np.tile(self.classes, len(share)), len(problem.classes), "nce")
            return flat.reshape(share.shape)
        return share

    def limits(self, raw: Floats, weights: NDArray[Any], edges: Floats) -> Floats:
        """What the raw figure (b, k) of a person has to be beyond, per class (b, c, t), among persons with weights."""
        rule = self.runner.rule
        limits: Floats = np.broadcast_to(edges, (len(weights), self.n_classes, len(edges)))
        never = np.where(edges < 0, -np.inf, np.inf)  # where the score is 0 by definition
        if rule.scoring == "marginal":
            share = (self._by_class(weights) / weights.sum(axis=1, keepdims=True))[..., None]
            limits = np.where(share < 1, share + edges * (1 - share), never)
        elif rule.scoring == "conditional":
            persons, sums = self._by_class(weights), self._by_class(weights * raw)
            mean = np.divide(sums, persons, out=np.zeros(sums.shape), where=persons > 0)[..., None]
            limits = np.where(mean > 0, edges * mean, never)
        elif rule.scoring in ("sd", "range"):
            limits = edges * self._spread(weights)[:, None, None]
        return limits

    def _by_class(self, values: NDArray[Any]) -> Floats:
        return _sums(values, self.classes, self.n_classes)

    def _spread(self, weights: NDArray[Any]) -> Floats:
        """Standard deviation or range (b,) of y among persons with these weights."""
        if self.runner.rule.scoring == "range":
            held = weights > 0
            # kinds are in the order of y
            first, last = held.argmax(axis=1), held.shape[1] - 1 - held[:, ::-1].argmax(axis=1)
            width: Floats = self.truth[last] - self.truth[first]
            return width
        total = int(self.counts.sum())
        mean = weights @ self.truth / total
        squares = (weights * (self.truth - mean[:, None]) ** 2).sum(axis=1)
        spread: Floats = np.sqrt(squares / max(total - 1, 1))
        return spread


def _sums(values: NDArray[Any], groups: NDArray[np.intp], n_groups: int) -> Floats:
    """Per row (b, g) the sum of the values (b, k) by group (k,)."""
    rows = np.arange(len(values))[:, None] * n_groups + groups
    sums = np.bincount(rows.ravel(), weights=values.ravel(), minlength=len(values) * n_groups)
    return sums.astype(np.float64, copy=False).reshape(len(values), n_groups)


def _raw(run: Attack, runner: Runner) -> Floats:
    """What is compared with a limit that may depend on the other persons."""
    scoring = runner.rule.scoring
    if scoring in ("marginal", "conditional"):
        assert run.inferred.probability is not None
        return run.inferred.probability
    if scoring in ("sd", "range"):
        result: Floats = np.abs(runner.problem.truth - run.inferred.predicted)
        return result
    return run.score
