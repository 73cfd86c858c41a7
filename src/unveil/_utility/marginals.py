"""Single variables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unveil._utility.cells import cell_figures
from unveil._utility.compared import Compared
from unveil._utility.distances import AMOUNT_FIGURES, amount_figures
from unveil._utility.measures import UtilityMeasures


def compare_marginals(variables: Sequence[Compared]) -> tuple[UtilityMeasures, ...]:
    """Distances of each variable's distribution: of its cells, and of its amounts.

    Parameters
    ----------
    variables
        The variables of all files.

    Returns
    -------
    tuple of UtilityMeasures
        Subject: ``variable``, ``kind``, ``cells``. Figures: those of :func:`unveil._utility.cells.cell_figures` and of
        :func:`unveil._utility.distances.amount_figures`, and the shares of records without an amount.
    """
    return tuple(_one(variable) for variable in variables)


def _one(variable: Compared) -> UtilityMeasures:
    cells, column = variable.cells, variable.column
    d = np.bincount(cells.original, minlength=cells.n_levels)
    all_d = np.bincount(column.original, minlength=column.n_levels)
    releases = []
    for cut, codes in zip(cells.releases, column.releases, strict=True):
        figures = cell_figures(d, np.bincount(cut, minlength=cells.n_levels))
        all_s = np.bincount(codes, minlength=column.n_levels)
        if variable.column.has_amounts:
            amount = column.is_amount
            figures |= amount_figures(column.amounts[amount], all_d[amount], all_s[amount])
            for name, counts in (("no_amount_original", all_d), ("no_amount_release", all_s)):
                figures[name] = float(counts[~amount].sum() / counts.sum()) if counts.sum() else math.nan
        releases.append(figures)
    subject = {"variable": variable.name, "kind": column.kind, "cells": cells.n_levels}
    return UtilityMeasures.of(subject, releases, undefined=_reasons(variable, releases))


def _reasons(variable: Compared, releases: Sequence[dict[str, float]]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for name in releases[0]:
        if not any(math.isnan(figures[name]) for figures in releases):
            continue
        if any(len(codes) == 0 for codes in variable.column.releases):
            reasons[name] = "a release has no records"
        elif name in AMOUNT_FIGURES:
            without = any(math.isnan(figures["KS"]) for figures in releases)
            reasons[name] = "a file has no amounts" if without else "the original has a single amount"
        else:
            reasons[name] = "the variable has a single cell"
    return reasons
