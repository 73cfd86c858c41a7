"""Utility: how far what is learnt from a release is what would be learnt from the original.

The room is named like its function, and can be called like it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from unveil.utility.cells import cell_figures, cramers_v
from unveil.utility.distances import amount_figures
from unveil.utility.measures import UtilityMeasures
from unveil.utility.propensity import score_figures
from unveil.utility.regression import interval_overlap
from unveil.utility.result import Utility
from unveil.utility.study import utility

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


class _Room(ModuleType):
    """``unveil.utility`` is this module as soon as anything of it is imported, whatever the package says."""

    def __call__(self, *args: Any, **kwargs: Any) -> Utility:
        return utility(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
