"""Pairs of variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from unveil._utility.cells import cell_figures, cramers_v, joint_cells
from unveil._utility.compared import Compared
from unveil._utility.measures import UtilityMeasures
from unveil.stats import mean_ranks

Floats = NDArray[np.float64]
_MEASURES = ("pearson", "spearman")


def compare_pairs(variables: Sequence[Compared], *, corrected: bool = False) -> tuple[UtilityMeasures, ...]:
    """Distances of the two-way tables, and of the associations in them.

    Parameters
    ----------
    variables
        The variables of all files.
    corrected
        Whether Cramér's V is corrected for its bias.

    Returns
    -------
    tuple of UtilityMeasures
        Subject: ``first`` and ``second``. Figures: those of :func:`unveil._utility.cells.cell_figures`; Cramér's V of
        the original, of the release, and release less original; of two variables with amounts the correlations by
        Pearson and Spearman, of the records that have both amounts.
    """
    return tuple(_one(first, second, corrected) for first, second in combinations(variables, 2))


def _one(first: Compared, second: Compared, corrected: bool) -> UtilityMeasures:
    a, b = first.cells, second.cells
    both = first.column.has_amounts and second.column.has_amounts
    before = _correlations(first, second, first.column.original, second.column.original) if both else {}
    releases = []
    for release in range(len(a.releases)):
        cells, d, s = joint_cells(
            (a.original, a.releases[release]), (b.original, b.releases[release]), a.n_levels, b.n_levels
        )
        figures = cell_figures(d, s)
        v = [cramers_v(cells, counts, b.n_levels, corrected=corrected) for counts in (d, s)]
        figures |= {"V_original": v[0], "V_release": v[1], "V_difference": v[1] - v[0]}
        if both:
            after = _correlations(first, second, first.column.releases[release], second.column.releases[release])
            for name in _MEASURES:
                figures |= {
                    f"{name}_original": before[name],
                    f"{name}_release": after[name],
                    f"{name}_difference": after[name] - before[name],
                }
        releases.append(figures)
    subject = {"first": first.name, "second": second.name}
    return UtilityMeasures.of(subject, releases, undefined=_reasons(releases, a.releases))


def _correlations(
    first: Compared, second: Compared, codes_a: NDArray[np.int32], codes_b: NDArray[np.int32]
) -> dict[str, float]:
    x, y = first.column.amounts[codes_a], second.column.amounts[codes_b]
    present = ~(np.isnan(x) | np.isnan(y))
    x, y = x[present], y[present]
    return {"pearson": correlation(x, y), "spearman": correlation(mean_ranks(x), mean_ranks(y))}


def correlation(x: Floats, y: Floats) -> float:
    """Product-moment correlation; NaN with fewer than two records or where one of the two is constant.

    Examples
    --------
    >>> round(correlation(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 7.0])), 4)
    0.9934
    """
    if len(x) < 2 or x.min() == x.max() or y.min() == y.max():
        return math.nan
    # brought to size 1 first: squares of very large or very small amounts are out of range
    x, y = (z / np.abs(z).max() for z in (x, y))
    x, y = x - x.mean(), y - y.mean()
    root = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    return max(-1.0, min(1.0, float(x @ y) / root)) if root > 0 else math.nan


def _reasons(releases: Sequence[dict[str, float]], codes: Sequence[NDArray[np.int32]]) -> dict[str, str]:
    reasons = {}
    for name in releases[0]:
        if any(math.isnan(figures[name]) for figures in releases):
            reasons[name] = "in some file one of the two has a single level"
            if name.startswith(_MEASURES):
                reasons[name] = "in some file one of the two has a single amount"
            if any(len(c) == 0 for c in codes):
                reasons[name] = "a release has no records"
    return reasons
