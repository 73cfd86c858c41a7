"""Scores of predictions in several samples of large files: their means, and what the draw of a sample adds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unveil._utility.measures import Figures, UtilityMeasures


def over_draws(draws: Sequence[Sequence[UtilityMeasures]], share: float) -> list[UtilityMeasures]:
    """The scores of one target in several samples as one: means, and their standard error.

    A sample decides which records are predicted and which the models learn from, those of the release and those of the
    original. So the differences ``d_1, ..., d_R`` of R independent samples, with models of their own, are independent
    draws, and with the standard errors ``se_j`` over the records of each::

        difference = mean d_j
        se^2       = 1/R * 1/(R - 1) sum (d_j - difference)^2 + share * mean se_j^2

    The first term is the draw of samples; it has R - 1 degrees of freedom. The second is what remains where all records
    are predicted: the original is itself one of many.

    Parameters
    ----------
    draws
        Per sample the scores of a target.
    share
        Share of the original that a sample is.
    """
    named = [{one.subject["score"]: one for one in draw} for draw in draws]
    # a sample in which a target has a single value, or too few records, has no scores
    most = max(named, key=len)
    defined = [found for found in named if found.keys() == most.keys() and not _is_undefined(found)]
    if not defined:
        return list(named[0].values())
    return [_one([found[score] for found in defined], share) for score in most]


def _is_undefined(found: dict[str, UtilityMeasures]) -> bool:
    return all("TRTR" in one.undefined for one in found.values())


def _one(same: Sequence[UtilityMeasures], share: float) -> UtilityMeasures:
    first = same[0]
    releases = [_release([one.releases[r] for one in same], share) for r in range(len(first.releases))]
    undefined = dict(first.undefined)
    if len(same) == 1:
        undefined["se"] = "a single sample has scores"
    return UtilityMeasures.of(first.subject, releases, undefined=undefined)


def _release(figures: Sequence[Figures], share: float) -> dict[str, float]:
    found = {name: float(np.mean([one[name] for one in figures])) for name in ("difference", "TRTR", "TSTR")}
    between = float(np.var([one["difference"] for one in figures], ddof=1)) if len(figures) > 1 else math.nan
    within = float(np.mean([one["se"] ** 2 for one in figures]))
    found["se"] = math.sqrt(between / len(figures) + share * within)
    # one object for what is not defined, so that results that agree are equal
    return {name: math.nan if math.isnan(value) else value for name, value in found.items()}
