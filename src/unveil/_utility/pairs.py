"""Pairs of variables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil._utility.compared import Compared
from unveil._utility.joint import JointTables
from unveil._utility.measures import UtilityMeasures
from unveil.stats import ranks_of_levels

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
_RECORDS = 1 << 22
"""Records of tables that are compared at once, which bounds their cells."""
_MEASURES = ("pearson", "spearman")


def compare_pairs(
    variables: Sequence[Compared], *, corrected: bool = False, step: Callable[[str], None] | None = None
) -> tuple[UtilityMeasures, ...]:
    """Distances of the two-way tables, and of the associations in them.

    Parameters
    ----------
    variables
        The variables of all files.
    corrected
        Whether Cramér's V is corrected for its bias.
    step
        Called with the name of each variable whose pairs with those behind it are done.

    Returns
    -------
    tuple of UtilityMeasures
        Subject: ``first`` and ``second``. Figures: those of :func:`unveil._utility.cells.cell_figures`; Cramér's V of
        the original, of the release, and release less original; of two variables with amounts the correlations by
        Pearson and Spearman, of the records that have both amounts.
    """
    found: list[UtilityMeasures] = []
    for place, first in enumerate(variables[:-1], start=1):
        column = first.column
        at_once = max(_RECORDS // (len(column.original) + max(map(len, column.releases))), 1)
        for start in range(place, len(variables), at_once):
            found.extend(_with_each(first, variables[start : start + at_once], corrected))
        if step:
            step(first.name)
    return tuple(found)


def _with_each(first: Compared, others: Sequence[Compared], corrected: bool) -> list[UtilityMeasures]:
    """One variable with each of the others."""
    cells = [other.cells for other in others]
    releases = [
        JointTables.of(first.cells, cells, release).figures(corrected) for release in range(len(first.column.releases))
    ]
    found = []
    for place, second in enumerate(others):
        figures = [of_release[place] for of_release in releases]
        if first.column.has_amounts and second.column.has_amounts:
            before = _correlations(first, second, first.column.original, second.column.original)
            for of_release, a, b in zip(figures, first.column.releases, second.column.releases, strict=True):
                after = _correlations(first, second, a, b)
                for name in _MEASURES:
                    of_release |= {
                        f"{name}_original": before[name],
                        f"{name}_release": after[name],
                        f"{name}_difference": after[name] - before[name],
                    }
        found.append(pair_measures(first, second, figures))
    return found


def pair_measures(first: Compared, second: Compared, figures: Sequence[dict[str, float]]) -> UtilityMeasures:
    """The figures of a pair of variables in all releases, with reasons for those that are not defined."""
    subject = {"first": first.name, "second": second.name}
    return UtilityMeasures.of(subject, figures, undefined=_reasons(figures, first.column.releases))


def _correlations(
    first: Compared, second: Compared, codes_a: NDArray[np.int32], codes_b: NDArray[np.int32]
) -> dict[str, float]:
    present = first.column.is_amount[codes_a] & second.column.is_amount[codes_b]
    both = [(first, codes_a[present]), (second, codes_b[present])]
    return {
        "pearson": correlation(*(variable.column.amounts[codes] for variable, codes in both)),
        "spearman": correlation(*(_ranks(variable.place_of_amount[codes]) for variable, codes in both)),
    }


def _ranks(places: Places) -> Floats:
    """Ranks of records from the places of their amounts among all amounts."""
    return ranks_of_levels(np.bincount(places))[places]


def correlation(x: Floats, y: Floats) -> float:
    """Product-moment correlation; NaN with fewer than two records or where one of the two is constant.

    Examples
    --------
    >>> round(correlation(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 7.0])), 4)
    0.9934
    """
    if len(x) < 2:
        return math.nan
    ends = [(float(z.min()), float(z.max())) for z in (x, y)]
    if any(low == high for low, high in ends):
        return math.nan
    # brought to size 1 first: squares of very large or very small amounts are out of range
    x, y = (z / max(-low, high) for z, (low, high) in zip((x, y), ends, strict=True))
    x, y = x - x.mean(), y - y.mean()
    root = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    return max(-1.0, min(1.0, float(x @ y) / root)) if root > 0 else math.nan


def _reasons(releases: Sequence[dict[str, float]], codes: Sequence[NDArray[np.int32]]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    if not any(math.isnan(sum(figures.values())) for figures in releases):
        return reasons
    for name in releases[0]:
        if any(math.isnan(figures[name]) for figures in releases):
            reasons[name] = "in some file one of the two has a single level"
            if name.startswith(_MEASURES):
                reasons[name] = "in some file one of the two has a single amount"
            if any(len(c) == 0 for c in codes):
                reasons[name] = "a release has no records"
    return reasons
