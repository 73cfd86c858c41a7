"""Single variables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil._utility.cells import cell_figures
from unveil._utility.compared import Compared
from unveil._utility.distances import AMOUNT_FIGURES, amount_figures
from unveil._utility.measures import UtilityMeasures

Floats = NDArray[np.float64]
FileWeights = tuple[Floats, tuple[Floats, ...]]
"""What the records of the original stand for, and those of each release."""


def compare_marginals(variables: Sequence[Compared], weights: FileWeights | None = None) -> tuple[UtilityMeasures, ...]:
    """Distances of each variable's distribution: of its cells, and of its amounts.

    Parameters
    ----------
    variables
        The variables of all files.
    weights
        Design weights, where the original is a sample.

    Returns
    -------
    tuple of UtilityMeasures
        Subject: ``variable``, ``kind``, ``cells``. Figures: those of :func:`unveil._utility.cells.cell_figures` and of
        :func:`unveil._utility.distances.amount_figures`, and the shares of records without an amount. With weights also
        ``TVD_weighted`` and ``mean_difference_weighted``, those of the sums of weights in the place of counts.
    """
    return tuple(_one(variable, weights) for variable in variables)


def _one(variable: Compared, weights: FileWeights | None) -> UtilityMeasures:
    cells, column = variable.cells, variable.column
    d, *of_releases = (counts[: cells.n_levels] for counts in cells.counts)
    all_d, *all_of_releases = (counts[: column.n_levels] for counts in column.counts)
    releases = []
    for release, (s, all_s) in enumerate(zip(of_releases, all_of_releases, strict=True)):
        figures = cell_figures(d, s)
        if variable.column.has_amounts:
            amount = column.is_amount
            figures |= amount_figures(column.amounts[amount], all_d[amount], all_s[amount])
            for name, counts in (("no_amount_original", all_d), ("no_amount_release", all_s)):
                figures[name] = float(counts[~amount].sum() / counts.sum()) if counts.sum() else math.nan
        if weights is not None:
            figures |= _weighted(variable, release, weights[0], weights[1][release])
        releases.append(figures)
    subject = {"variable": variable.name, "kind": column.kind, "cells": cells.n_levels}
    return UtilityMeasures.of(subject, releases, undefined=_reasons(variable, releases))


def _weighted(variable: Compared, release: int, original: Floats, released: Floats) -> dict[str, float]:
    """Distances between the sums of weights of the original and of one release."""
    cells, column = variable.cells, variable.column
    figures = {
        "TVD_weighted": cell_figures(
            np.bincount(cells.original, original, cells.n_levels),
            np.bincount(cells.releases[release], released, cells.n_levels),
        )["TVD"]
    }
    if column.has_amounts:
        amount = column.is_amount
        sums = [
            np.bincount(codes, each, column.n_levels)[amount]
            for codes, each in ((column.original, original), (column.releases[release], released))
        ]
        figures["mean_difference_weighted"] = amount_figures(column.amounts[amount], *sums)["mean_difference"]
    return figures


def _reasons(variable: Compared, releases: Sequence[dict[str, float]]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for name in releases[0]:
        if not any(math.isnan(figures[name]) for figures in releases):
            continue
        if any(len(codes) == 0 for codes in variable.column.releases):
            reasons[name] = "a release has no records"
        elif name.removesuffix("_weighted") in AMOUNT_FIGURES:
            without = any(math.isnan(figures["KS"]) for figures in releases)
            reasons[name] = "a file has no amounts" if without else "the original has a single amount"
        else:
            reasons[name] = "the variable has a single cell"
    return reasons
