"""Process intervals of RAPID: over samples and releases, from several releases or from resampled originals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.attack import Attack, Runner, null_rates
from unveil._rapid.resampling import Resampled
from unveil._rapid.threshold import Distribution
from unveil.stats import ONE_RELEASE, Interval, excess_interval, from_releases, from_resamples, student_half

Floats = NDArray[np.float64]
_DRAWS = 200
"""Most resamples: each moves all models and compares all persons anew."""


def process_intervals(
    runs: Sequence[Attack], runner: Runner, thresholds: Sequence[float], again: Sequence[Sequence[Attack]] | None, *,
    n: int, seed: int, level: float,
) -> list[Interval]:  # fmt: skip
    """Per threshold the interval of the rate, mean over the attackers and releases.

    With several releases alone the variance is that of resampled persons with one release kept, mean over the releases,
    plus the variance between releases over their number. The first also holds how one release happens to treat these
    persons, which makes up for what releases cannot show: how closely they follow their original.

    Where the rate jumps at a threshold, variances say too little. So the interval is no shorter than the percentiles of
    the rates of resampled originals or, without them, of the rate with models moved as they differ among the releases
    (:meth:`unveil._rapid.resampling.Resampled.moved`). And releases that all have few persons at risk, or none, do
    not show how often another would have many: where the permutation test does not tell the rate from its null, as that
    of releases that have nothing to do with the keys, the interval of the null's mean is in the interval too.

    Parameters
    ----------
    runs
        Attacks of one or more attackers on every release.
    runner
        What was asked for.
    thresholds
        Thresholds (t,).
    again
        The same attacks on resampled originals and their releases, if there are any.
    n, seed
        Number and seed of bootstrap replicates.
    level
        Coverage.
    """
    persons = len(runner.problem.truth)
    rates = _rates(runs, runner, thresholds)
    if again is not None:
        drawn = np.array([_rates(one, runner, thresholds).mean(axis=0) for one in again])
        found = [from_resamples(float(r), d, persons, level) for r, d in zip(rates.mean(axis=0), drawn.T, strict=True)]
    elif len(rates) > 1:
        resampled = Resampled.of(runs, runner)
        kept = resampled.rates(thresholds, n=n, seed=seed)[0].sum(axis=2) / persons
        sampling = np.mean([kept[:, places].mean(axis=1).var(axis=0) for places in _by_release(runs)], axis=0)
        found = [
            from_releases(r, float(s), persons, level, cautious=True) for r, s in zip(rates.T, sampling, strict=True)
        ]
        drawn = resampled.moved(thresholds, _by_attacker(runs), n=min(n, _DRAWS), seed=seed)
    else:
        return [Interval.missing("process", float(rate), level, ONE_RELEASE) for rate in rates[0]]
    nulls = null_rates(runs, thresholds, runner.rule)
    return [_widened(one, d, null) for one, d, null in zip(found, drawn.T, nulls.T, strict=True)]


def _widened(found: Interval, drawn: Floats, null: Floats) -> Interval:
    """No shorter than the percentiles of drawn rates (b,), and with the null's mean where the test does not reject."""
    ends = np.quantile(drawn, [(1 - found.level) / 2, (1 + found.level) / 2])
    within = [found.low, found.high, *map(float, ends), *_not_rejected(found, null)]
    return replace(found, low=min(within), high=max(within))


def _not_rejected(found: Interval, null: Floats) -> list[float]:
    """The interval of the null's mean, from its own shuffles, where the test does not tell the rate from the null."""
    low, high = excess_interval(found.value, null, (found.low, found.high), found.level)
    if not low <= 0 <= high:
        return []
    mean, half = math.fsum(null) / len(null), student_half(null, found.level)
    return [max(mean - half, 0.0), min(mean + half, 1.0)]


def _by_attacker(runs: Sequence[Attack]) -> list[list[int]]:
    """Positions of the attacks of each attacker, in the order of the releases."""
    names = dict.fromkeys(run.attacker for run in runs)
    return [
        sorted((i for i, run in enumerate(runs) if run.attacker == name), key=lambda i: runs[i].release)
        for name in names
    ]


def _by_release(runs: Sequence[Attack]) -> list[list[int]]:
    """Positions of the attacks on each release."""
    releases = dict.fromkeys(run.release for run in runs)
    return [[i for i, run in enumerate(runs) if run.release == release] for release in releases]


def _rates(runs: Sequence[Attack], runner: Runner, thresholds: Sequence[float]) -> Floats:
    """Rate (m, t) of every release at every threshold, mean over the attackers."""
    each = np.array([Distribution.of(run.score).rates(thresholds, runner.rule) for run in runs])
    result: Floats = np.array([each[places].mean(axis=0) for places in _by_release(runs)])
    return result
