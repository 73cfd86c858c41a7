"""Utility: how close results from the release are to results from the original."""

from __future__ import annotations

from unveil._utility.cells import cell_figures, cramers_v
from unveil._utility.distances import amount_figures
from unveil._utility.measures import UtilityMeasures
from unveil._utility.propensity import score_figures
from unveil._utility.regression import interval_overlap
from unveil._utility.result import Utility
from unveil._utility.run import utility

__all__ = [
    "Utility",
    "UtilityMeasures",
    "amount_figures",
    "cell_figures",
    "cramers_v",
    "interval_overlap",
    "score_figures",
    "utility",
]
