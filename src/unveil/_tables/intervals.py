"""Both kinds of intervals of repU, DiSCO and DCAPd, for one release or the mean of several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.keyed_pair import KeyedPair
from unveil._tables.process import process_interval, sampling_variance
from unveil._tables.sums import percent
from unveil._tables.target_cells import TargetCells
from unveil.columns.pair import Pair
from unveil.stats import Interval, mean_intervals, percent_interval, resampled_means

Floats = NDArray[np.float64]
Halves = Sequence[tuple[Pair, Pair]]
_ATTRIBUTE = ("DiSCO", "DCAPd")


def identity_release(
    study: KeyedPair, releases: Sequence[int], *, n: int, seed: int, level: float
) -> dict[str, tuple[float, float]]:
    """Release intervals of UiO, UiOiS and repU, of the mean over some releases."""
    n_records = len(study.combinations.original)
    d, by_release = study.combinations.counts()
    alone = (d == 1) & study.counted
    found = mean_intervals({"UiO": alone.astype(float)}, d.astype(np.int64), n=n, seed=seed, level=level)
    for name, most in (("UiOiS", math.inf), ("repU", 1)):
        met = np.mean([(by_release[r] >= 1) & (by_release[r] <= most) & study.counted for r in releases], axis=0)
        found[name] = replicated_interval(met * alone, met > 0, n_records, n=n, seed=seed, level=level)
    return found


def replicated_interval(
    met: Floats, possible: NDArray[np.bool_], n_records: int, *, n: int, seed: int, level: float
) -> tuple[float, float]:
    """Interval of the percentage of records that are replicated uniques, or are unique and in the release.

    Who is unique depends on the other records, so a count in resamples would be wrong: a record drawn twice is still
    one person. A release has M combinations that are unique in it, and each is met by exactly one original record or
    not: repU is a number out of M, and these are drawn. Their probabilities differ, which makes the variance smaller
    than that of M equal ones: the interval is on the safe side.

    Parameters
    ----------
    met : (size,)
        Per key combination the part of the releases in which an original record that is alone with it counts; 0 where
        no original record is.
    possible : (size,) bool
        Whether the combination could count in some release, were one original record alone with it.
    n_records
        Number of original records.
    n, seed, level
        Of the bootstrap.
    """
    trials = int(possible.sum())
    if not trials:
        # with these releases nobody could ever count
        return 0.0, 0.0
    hits = met[possible]
    drawn = resampled_means({"met": hits}, np.ones(trials, dtype=np.int64), n=n, seed=seed)["met"]
    low, high = percent_interval(100 * float(np.sort(hits).sum()) / trials, drawn, level, trials)
    return low * trials / n_records, min(high * trials / n_records, 100.0)


def identity_process(study: KeyedPair, halves: Halves | None, level: float) -> Interval:
    """Process interval of the mean repU of all releases.

    From several releases, records are counted with the variance of their mean flag over the releases. It holds chance
    of the releases, which makes up for what is left out: that a release follows its original.
    """
    flags = [study.records(release)["replicated_unique"] for release in range(study.pair.n_releases)]
    n = len(flags[0])

    def of_half(part: Pair) -> float:
        taken = study.over(part)
        found = [int(taken.records(release)["replicated_unique"].sum()) for release in range(part.n_releases)]
        return percent(sum(found), part.n_original * len(found))

    return process_interval(
        [percent(int(one.sum()), n) for one in flags],
        None if halves is None else [[of_half(half) for half in two] for two in halves],
        float(np.mean(flags, axis=0).var()) / n,
        n,
        level,
    )


def attribute_release(
    source: TargetCells, releases: Sequence[int], *, n: int, seed: int, level: float
) -> dict[str, tuple[float, float]]:
    """Release intervals of DiSCO and DCAPd, of the mean over some releases."""
    parts = [source.contributions(release) for release in releases]
    weights = parts[0][1]
    means = {name: np.mean([part[name] for part, _ in parts], axis=0) for name in _ATTRIBUTE}
    return mean_intervals(means, weights, n=n, seed=seed, level=level)


def attribute_process(
    source: TargetCells, options: Mapping[str, Any], halves: Halves | None, level: float
) -> dict[str, Interval]:
    """Process intervals of the mean DiSCO and DCAPd of all releases."""
    pair = source.study.pair
    releases = range(pair.n_releases)
    parts = [source.contributions(release) for release in releases]
    weights = parts[0][1]
    n = int(weights.sum())
    copied = [source.copied(release) for release in releases]
    found = None if halves is None else [[_of_part(source.over(h, options)) for h in two] for two in halves]
    result = {}
    for name in _ATTRIBUTE:
        direct = [part[name] for part, _ in parts]
        followed = [f + a[name] * s / n for f, a, s in zip(direct, copied, pair.n_synthetic, strict=True)]
        result[name] = process_interval(
            [100 * math.fsum(weights * one) / n for one in direct],
            None if found is None else [[half[name] for half in two] for two in found],
            sampling_variance(direct, followed, weights) if len(releases) > 1 else 0.0,
            n,
            level,
        )
    return result


def _of_part(source: TargetCells) -> dict[str, float]:
    """DiSCO and DCAPd of a part of the records, mean over its releases; in percent."""
    each = [source.contributions(release) for release in range(source.study.pair.n_releases)]
    n = len(source.target.original)
    return {
        name: 100 * math.fsum(math.fsum(weights * part[name]) / n for part, weights in each) / len(each)
        for name in _ATTRIBUTE
    }
