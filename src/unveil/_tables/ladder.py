"""The ladder of baselines: what a measure of attribute disclosure has to be compared with.

A figure alone says little. From below: guessing without a release (margin), a release whose target says nothing (null),
persons whom the synthesizer never saw (held out). From above: the original attacked with itself (ceiling).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.compared_measure import ComparedMeasure, above_null
from unveil._tables.identity_counts import IdentityCounts
from unveil._tables.intervals import (
    Halves,
    attribute_process,
    attribute_release,
    identity_process,
    identity_release,
)
from unveil._tables.keyed_pair import KeyedPair
from unveil._tables.shuffled import shuffled_measures
from unveil._tables.sums import AttributeSums, percent
from unveil._tables.target_cells import TargetCells
from unveil.checks import check_shares, check_whole_numbers
from unveil.columns.pair import Pair
from unveil.files.source import Flavour
from unveil.result import Result, columns_of
from unveil.stats import Ends, Interval, Moments, mean_interval

Floats = NDArray[np.float64]
_EVERYBODY = 100 - 1e-9
_NAMES = ("repU", "DiSCO", "DCAPd")
NO_TARGET = "repU concerns the keys alone; there is no target to guess or to shuffle"
NO_HOLDOUT = "no held-out records were given"
ONLY_ORIGINAL = "a replicated unique is a record of the original; held-out records cannot be one"


@dataclass(frozen=True, repr=False)
class Ladder(Result):
    """repU, DiSCO and DCAPd among their baselines, per release and on average; in percent of persons.

    Attributes
    ----------
    keys, target
        The key variables and the target variable.
    releases
        Per release, :class:`unveil._tables.compared_measure.Rung` by measure.
    mean
        The same of the measures' means over the releases; a shuffle of the mean shuffles every release.
    undefined
        Per measure and figure that is not defined, the reason.
    n_original, n_synthetic, n_held_out
        Number of records of the original, of each release, and of the held-out file (None without one).
    labels
        What the releases are called.
    permutations, level, seed
        Number of shuffles, coverage of the intervals, and where the shuffles come from.
    flavour
        Kind of frame that results are given back in.
    warnings
        Those of the measures, and what deserves a look in the held-out file.
    """

    _words = "words.tables.ladder"
    _drawing = "plots.tables.plot_ladder"

    keys: tuple[str, ...]
    target: str
    releases: tuple[Mapping[str, ComparedMeasure], ...]
    mean: Mapping[str, ComparedMeasure]
    undefined: Mapping[str, str]
    n_original: int
    n_synthetic: tuple[int, ...]
    n_held_out: int | None
    labels: tuple[str, ...]
    permutations: int
    level: float
    seed: int
    flavour: Flavour
    unit: tuple[str, ...] = field(default=(), kw_only=True)
    warnings: tuple[str, ...]

    def _columns(self) -> dict[str, Any]:
        """A row per release and measure, and with several releases of their mean."""
        named = [*zip(self.labels, self.releases, strict=True), *([("mean", self.mean)] * (len(self.releases) > 1))]
        return columns_of(
            [{"release": label, "measure": name, **one.flat()} for label, of in named for name, one in of.items()]
        )


def ladder(
    source: TargetCells, sums: Sequence[AttributeSums], releases: Sequence[Mapping[str, float]],
    options: Mapping[str, Any], warnings: Sequence[str], *, permutations: int, holdout: Any, halves: Halves | None,
    level: float, seed: int,
) -> Ladder:  # fmt: skip
    """Put the measures of a target among their baselines.

    Parameters
    ----------
    source
        Where the cells of the target come from.
    sums
        What the measures of each release are made of.
    releases, options, warnings
        The measures per release, the exclusions that were asked for, and what was warned of.
    permutations, holdout, halves, level, seed
        See :meth:`unveil.tables.AttributeRisk.ladder`.
    """
    check_whole_numbers(0, permutations=permutations, seed=seed)
    check_shares(level=level)
    keys, target = source.study.keys, source.target.name
    pair = source.study.pair.with_holdout(holdout)
    everybody = None if pair.holdout is None else pair.held_out
    held_out = None if everybody is None else _held_out(source, options, everybody)
    of_others = () if everybody is None else everybody.notes(map(everybody.column, (*keys, target)))
    numbers = range(pair.n_releases)
    seeds = np.random.SeedSequence(seed).spawn(pair.n_releases)
    nulls = [shuffled_measures(source, release, permutations, seeds[release]) for release in numbers]
    outside = [] if held_out is None else [_contributions(held_out, release) for release in numbers]
    (counts,) = source.study.total([None], [IdentityCounts.of])
    fixed = _fixed(source, counts.unique, releases[0]["baseCAPd"])
    uniques = [percent(int(both), pair.n_original) for both in counts.both]

    def rungs(chosen: Sequence[int]) -> dict[str, ComparedMeasure]:
        spans = attribute_release(source, {release: sums[release] for release in chosen}, level=level)
        one = chosen[0] if len(chosen) == 1 else None
        spans["repU"] = identity_release(counts, pair.n_original, one, level=level)["repU"]
        others = _mean(outside, chosen)
        null = _mean(nulls, chosen)
        values = {"repU": math.fsum(uniques[r] for r in chosen) / len(chosen)}
        values |= {name: math.fsum(releases[r][name] for r in chosen) / len(chosen) for name in null}
        found = {name: replace(ComparedMeasure(values[name], spans[name]), **fixed[name]) for name in _NAMES}
        for name in null:
            found[name] = replace(found[name], **above_null(values[name], null[name], spans[name], level))
            if others:
                held, span = _mean_of_persons(others[name], level)
                found[name] = replace(found[name], held_out=held, held_out_interval=span)
        return found

    process = attribute_process(source, sums, options, halves, level)
    process["repU"] = identity_process(source.study, counts, halves, level)
    mean = rungs(numbers)
    return Ladder(
        keys=keys,
        target=target,
        releases=tuple(rungs([release]) for release in numbers),
        mean={name: replace(mean[name], process_interval=(process[name].low, process[name].high)) for name in mean},
        undefined=_undefined(nulls, held_out is not None) | _without(process),
        n_original=pair.n_original,
        n_synthetic=pair.n_synthetic,
        n_held_out=None if held_out is None else len(held_out.target.original),
        labels=pair.labels,
        permutations=int(permutations),
        level=level,
        seed=int(seed),
        flavour=pair.flavour,
        unit=pair.unit,
        warnings=tuple(dict.fromkeys([*warnings, *of_others])),
    )


def _without(process: Mapping[str, Interval]) -> dict[str, str]:
    """Why there is no process interval, by measure."""
    return {f"{name}.process_interval": one.undefined for name, one in process.items() if one.undefined is not None}


def _held_out(source: TargetCells, options: Mapping[str, Any], everybody: Pair) -> TargetCells:
    """The same study with held-out records in the place of the original ones."""
    *keys, target = (everybody.as_cut(c).last_as_original() for c in (*source.study.columns, source.target))
    study = KeyedPair(source.study.pair, source.study.keys, tuple(keys), source.study.use_keys_na)
    return TargetCells(study, target, options)


def _mean(figures: Sequence[Mapping[str, Floats]], chosen: Sequence[int]) -> dict[str, Floats]:
    """Mean over the chosen releases, element by element; nothing where there are no figures."""
    return {name: np.mean([figures[r][name] for r in chosen], axis=0) for name in figures[0]} if figures else {}


def _contributions(source: TargetCells, release: int) -> dict[str, Floats]:
    """Per person, what they add to each measure."""
    records = source.records(release)
    return {"DiSCO": records["disco"].astype(float), "DCAPd": records["ps"]}


def _fixed(source: TargetCells, unique: int, margin: float) -> dict[str, dict[str, Any]]:
    """What does not depend on the release: margins and ceilings."""
    cells, tables = source.counted(0)
    d = tables.counts["original"]
    d_q = cells.over_keys(d)
    n = source.study.pair.n_original
    level = np.bincount(cells.t, weights=d, minlength=source.target.n_levels)
    others = np.divide(d * (d - 1), d_q - 1, out=np.zeros(len(d)), where=d_q > 1)
    return {
        "repU": {"ceiling": percent(unique, n)},
        "DiSCO": {"ceiling": percent(tables.removed["Dorig"]["remaining"], n), "margin": percent(int(level.max()), n)},
        "DCAPd": {"ceiling": percent(math.fsum(others), n), "margin": margin},
    }


def _mean_of_persons(contributions: Floats, level: float) -> tuple[float, Ends]:
    """The mean over persons in percent, and its release interval."""
    n = len(contributions)
    mean = percent(math.fsum(contributions), n)
    return mean, mean_interval(mean, Moments.of(contributions, np.ones(n, dtype=np.int64)), n, level)


def _undefined(nulls: Sequence[Mapping[str, Floats]], held_out: bool) -> dict[str, str]:
    excess = ("excess", "excess_interval")
    from_null = ("null_mean", "null_95", "p_value", *excess)
    reasons = {f"repU.{figure}": NO_TARGET for figure in ("margin", *from_null)}
    reasons["repU.held_out"] = ONLY_ORIGINAL
    for name in ("DiSCO", "DCAPd"):
        if not len(nulls[0][name]):
            reasons |= {f"{name}.{figure}": "no shuffles were asked for" for figure in from_null}
        elif any(null[name].max() >= _EVERYBODY for null in nulls):
            reasons |= {f"{name}.{figure}": "a shuffled release gets everybody right" for figure in excess}
        if not held_out:
            reasons[f"{name}.held_out"] = NO_HOLDOUT
    return reasons
