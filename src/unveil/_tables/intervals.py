"""Both kinds of intervals of repU, DiSCO and DCAPd, for one release or the mean of several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.identity_counts import IdentityCounts
from unveil._tables.keyed_pair import KeyedPair
from unveil._tables.process import process_interval, sampling_variance
from unveil._tables.sums import AttributeSums, percent
from unveil._tables.target_cells import TargetCells
from unveil.columns.pair import Pair
from unveil.stats import (
    ONE_RELEASE,
    Ends,
    Interval,
    Moments,
    mean_interval,
    percent_interval,
    resampled_means,
)

Floats = NDArray[np.float64]
Halves = Sequence[tuple[Pair, Pair]]
_ATTRIBUTE = ("DiSCO", "DCAPd")
_RIGHT, _CERTAIN = np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0])


def identity_release(
    counts: IdentityCounts, n_records: int, release: int | None = None, *, level: float
) -> dict[str, Ends]:
    """Release intervals of UiO, UiOiS and repU, of one release or of the mean over all.

    Parameters
    ----------
    counts
        What the measures are made of.
    n_records
        Number of original records.
    release
        Position of the release; None for the mean.
    level
        Coverage, between 0 and 1.
    """
    # A mean of flags: these are the moments of so many ones.
    ones = Moments.of(np.ones(1), np.array([counts.unique]))
    found = {"UiO": mean_interval(percent(counts.unique, n_records), ones, n_records, level)}
    if release is None:
        parts = np.arange(len(counts.found) + 1) / len(counts.found)
        of = {"UiOiS": (counts.times_found, counts.any_found), "repU": (counts.times_both, counts.any_both)}
    else:
        parts = np.ones(1)
        one, two = counts.found[release : release + 1], counts.both[release : release + 1]
        of = {"UiOiS": (one, int(counts.met[release])), "repU": (two, int(counts.unique_synthetic[release]))}
    for name, (combinations, trials) in of.items():
        found[name] = replicated_interval(Moments.of(parts, combinations), trials, n_records, level=level)
    return found


def replicated_interval(met: Moments, trials: int, n_records: int, *, level: float) -> Ends:
    """Interval of the percentage of records that are replicated uniques, or are unique and in the release.

    Who is unique depends on the other records, so a count in resamples would be wrong: a record drawn twice is still
    one person. A release has M combinations that are unique in it, and each is met by exactly one original record or
    not: repU is a number out of M, and these are the sample. Their probabilities differ, which makes the variance
    smaller than that of M equal ones: the interval is on the safe side.

    Parameters
    ----------
    met
        Of the combinations with which an original record is alone, in which part of the releases they count.
    trials
        Number of combinations that could count in some release, were one original record alone with them.
    n_records
        Number of original records.
    level
        Coverage, between 0 and 1.
    """
    if not trials:
        # with these releases nobody could ever count
        return 0.0, 0.0
    low, high = mean_interval(100 * met.mean(trials), met, trials, level)
    return low * trials / n_records, min(high * trials / n_records, 100.0)


def identity_process(study: KeyedPair, counts: IdentityCounts, halves: Halves | None, level: float) -> Interval:
    """Process interval of the mean repU of all releases.

    From several releases, records are counted with the variance of their mean flag over the releases. It holds chance
    of the releases, which makes up for what is left out: that a release follows its original.
    """
    n, m = study.pair.n_original, study.pair.n_releases
    if m == 1 and halves is None:
        return Interval.missing("process", percent(int(counts.both[0]), n), level, ONE_RELEASE)

    def of_half(part: Pair) -> float:
        found = IdentityCounts.of(study.over(part)).both
        return percent(int(found.sum()), part.n_original * len(found))

    return process_interval(
        [percent(int(one), n) for one in counts.both],
        None if halves is None else [[of_half(half) for half in two] for two in halves],
        Moments.of(np.arange(m + 1) / m, counts.times_both).variance(n) / n,
        n,
        level,
    )


def attribute_release(source: TargetCells, sums: Mapping[int, AttributeSums], *, level: float) -> dict[str, Ends]:
    """Release intervals of DiSCO and DCAPd, of the mean over some releases.

    Parameters
    ----------
    source
        Where the cells come from, if several releases have to be seen together.
    sums
        The sums of each of these releases, by its position.
    level
        Coverage, between 0 and 1.
    """
    n = source.study.pair.n_original
    means = _means(tuple(sums.values()), n)
    moments = _moments_of_one(*sums.values()) if len(sums) == 1 else _moments_of_mean(source, tuple(sums))
    return {name: mean_interval(means[name], moments[name], n, level) for name in _ATTRIBUTE}


def each_release(
    figures: Mapping[str, float], sums: AttributeSums, n_original: int, *, n: int, seed: int, level: float
) -> dict[str, Ends]:
    """Release intervals of all measures of original records, of one release.

    Parameters
    ----------
    figures, sums
        The measures of the release, and what they are made of.
    n_original
        Number of original records.
    n, seed
        Of the bootstrap of TCAP, which is no mean.
    level
        Coverage, between 0 and 1.
    """
    flags = {name: getattr(sums, name) for name in ("Dorig", "iS", "DiS", "DiSCO", "DiSDiO")}
    moments = {name: Moments.of(np.ones(1), np.array([records])) for name, records in flags.items()}
    moments |= {"CAPd": sums.of_CAPd, "DCAPd": sums.of_DCAPd}
    found = {name: mean_interval(figures[name], one, n_original, level) for name, one in moments.items()}
    # Three kinds of records: certain and right, certain and wrong, neither.
    kinds = np.array([sums.DiSCO, sums.DiS - sums.DiSCO, n_original - sums.DiS])
    drawn = resampled_means({"right": _RIGHT, "certain": _CERTAIN}, kinds, n=n, seed=seed)
    with np.errstate(invalid="ignore"):
        shares = 100 * drawn["right"] / drawn["certain"]
    # TCAP is a share of the persons for whom the release is certain.
    return found | {"TCAP": percent_interval(figures["TCAP"], shares, level, sums.DiS)}


def _means(sums: Sequence[AttributeSums], n: int) -> dict[str, float]:
    """DiSCO and DCAPd in percent of n original records, mean over releases."""
    each: dict[str, list[float]] = {"DiSCO": [one.DiSCO for one in sums], "DCAPd": [one.DCAP.total() for one in sums]}
    return {name: math.fsum(percent(total, n) for total in totals) / len(sums) for name, totals in each.items()}


def _moments_of_one(sums: AttributeSums) -> dict[str, Moments]:
    """What the records contribute to the measures of one release."""
    return {"DiSCO": Moments.of(np.ones(1), np.array([sums.DiSCO])), "DCAPd": sums.of_DCAPd}


def _moments_of_mean(source: TargetCells, releases: Sequence[int]) -> dict[str, Moments]:
    """What the records contribute to the means over several releases."""
    added, weights = source.contributions(releases[0])
    for release in releases[1:]:
        more, _ = source.contributions(release)
        for name in _ATTRIBUTE:
            added[name] += more[name]
    return {name: Moments.of(added[name] / len(releases), weights) for name in _ATTRIBUTE}


def attribute_process(
    source: TargetCells, sums: Sequence[AttributeSums], options: Mapping[str, Any], halves: Halves | None, level: float
) -> dict[str, Interval]:
    """Process intervals of the mean DiSCO and DCAPd of all releases."""
    pair = source.study.pair
    releases = range(pair.n_releases)
    if pair.n_releases == 1 and halves is None:
        values = {
            "DiSCO": percent(sums[0].DiSCO, pair.n_original),
            "DCAPd": percent(sums[0].DCAP.total(), pair.n_original),
        }
        return {name: Interval.missing("process", values[name], level, ONE_RELEASE) for name in _ATTRIBUTE}
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
