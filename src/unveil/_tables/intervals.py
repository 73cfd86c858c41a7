"""Both kinds of intervals of repU, DiSCO and DCAPd, for one release or the mean of several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.bootstrap import replicated_interval, resample, share_interval
from unveil._tables.keyed_pair import KeyedPair
from unveil._tables.process import process_interval, sampling_variance
from unveil._tables.sums import percent
from unveil._tables.target_cells import TargetCells
from unveil.columns.pair import Pair
from unveil.stats import Interval

Halves = Sequence[tuple[Pair, Pair]]
_ATTRIBUTE = ("DiSCO", "DCAPd")


def replicated_uniques(study: KeyedPair, release: int) -> NDArray[np.bool_]:
    """Which original records (n,) are alone with their keys in the original and in one release."""
    d, by_release = study.combinations.counts()
    q = study.combinations.original
    counted = np.ones(len(d), dtype=bool) if study.excluded is None else ~study.excluded
    found: NDArray[np.bool_] = ((d == 1) & (by_release[release] == 1) & counted)[q]
    return found


def identity_release(
    study: KeyedPair, releases: Sequence[int], *, n: int, seed: int, level: float
) -> dict[str, tuple[float, float]]:
    """Release intervals of UiO, UiOiS and repU, of the mean over some releases."""
    n_records = len(study.combinations.original)
    d, by_release = study.combinations.counts()
    counted = np.ones(len(d), dtype=bool) if study.excluded is None else ~study.excluded
    alone = (d == 1) & counted
    draws = resample({"UiO": alone.astype(float)}, d.astype(np.int64), n=n, seed=seed)["UiO"]
    found = {"UiO": share_interval(percent(int(alone.sum()), n_records), draws, level, n_records)}
    for name, most in (("UiOiS", math.inf), ("repU", 1)):
        met = np.mean([(by_release[r] >= 1) & (by_release[r] <= most) & counted for r in releases], axis=0)
        found[name] = replicated_interval(met * alone, met > 0, n_records, n=n, seed=seed, level=level)
    return found


def identity_process(study: KeyedPair, halves: Halves | None, level: float) -> Interval:
    """Process interval of the mean repU of all releases.

    From several releases, records are counted with the variance of their mean flag over the releases. It holds chance
    of the releases, which makes up for what is left out: that a release follows its original.
    """
    flags = [replicated_uniques(study, release) for release in range(study.pair.n_releases)]
    n = len(flags[0])

    def of_half(part: Pair) -> float:
        taken = study.over(part)
        found = [int(replicated_uniques(taken, release).sum()) for release in range(part.n_releases)]
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
    draws = resample(means, weights, n=n, seed=seed)
    n_records = int(weights.sum())
    return {
        name: share_interval(100 * math.fsum(weights * means[name]) / n_records, draws[name], level, n_records)
        for name in _ATTRIBUTE
    }


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
