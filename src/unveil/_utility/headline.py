"""The headline figures of a release."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from unveil._utility.measures import UtilityMeasures

_OF_VARIABLES = {"TVD": "TVD", "TVD_weighted": "TVD_weighted", "S_pMSE": "S_pMSE"}
_OF_PAIRS = {
    "TVD_pairs": "TVD", "S_pMSE_pairs": "S_pMSE", "V_difference": "V_difference",
    "pearson_difference": "pearson_difference", "spearman_difference": "spearman_difference",
}  # fmt: skip


def headline(
    release: int, propensity: Sequence[UtilityMeasures], variables: Sequence[UtilityMeasures],
    pairs: Sequence[UtilityMeasures], models: Sequence[UtilityMeasures], prediction: Sequence[UtilityMeasures],
) -> dict[str, float]:  # fmt: skip
    """Figures of one release by name.

    ``pMSE_logistic``, ``S_pMSE_logistic``, ``SPECKS_logistic``, ``PO50_logistic`` and the same of other propensity
    models; ``TVD_mean``, ``TVD_max``, ``S_pMSE_mean``, ``S_pMSE_max`` over the variables, of a sample with weights
    ``TVD_weighted_mean`` and ``TVD_weighted_max`` too, and ``TVD_pairs_mean``, ...
    over the pairs; ``V_difference_mean``, ... of absolute differences; ``overlap_mean``, ``overlap_min``,
    ``std_difference_max`` (absolute) over the coefficients; ``accuracy_TRTR``, ``accuracy_TSTR`` over the categorical
    targets and ``R2_TRTR``, ``R2_TSTR`` over the continuous ones.
    """
    figures: dict[str, float] = {}
    for comparison in propensity:
        for name in ("pMSE", "S_pMSE", "SPECKS", "PO50"):
            figures[f"{name}_{comparison.subject['model']}"] = comparison.releases[release][name]
    for names, comparisons in ((_OF_VARIABLES, variables), (_OF_PAIRS, pairs)):
        for ours, name in names.items():
            if any(name in c.mean for c in comparisons):
                values = [abs(c.releases[release].get(name, math.nan)) for c in comparisons]
                figures |= {f"{ours}_mean": _over(values, np.mean), f"{ours}_max": _over(values, np.max)}
    if models:
        overlap = [c.releases[release]["overlap"] for c in models]
        apart = [abs(c.releases[release]["std_difference"]) for c in models]
        figures |= {"overlap_mean": _over(overlap, np.mean), "overlap_min": _over(overlap, np.min)}
        figures["std_difference_max"] = _over(apart, np.max)
    for score in ("accuracy", "R2"):
        chosen = [c for c in prediction if c.subject["score"] == score]
        if chosen:
            for name in ("TRTR", "TSTR"):
                figures[f"{score}_{name}"] = _over([c.releases[release][name] for c in chosen], np.mean)
    return figures


def _over(values: Sequence[float], combine: Callable[[list[float]], np.floating]) -> float:
    held = [value for value in values if not math.isnan(value)]
    return float(combine(held)) if held else math.nan
