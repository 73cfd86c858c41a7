"""Bayesian disclosure risk: what an intruder learns of a record who knows all others and the synthesizer.

The room is named like its function, and can be called like it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from unveil.posterior.advice import Advice, AdviceRow
from unveil.posterior.call import posterior
from unveil.posterior.cross import CrossTable
from unveil.posterior.priors import Prior
from unveil.posterior.risk import PosteriorRisk
from unveil.posterior.selection import Selection
from unveil.posterior.settings_check import SettingsCheck

__all__ = ["Advice", "AdviceRow", "CrossTable", "PosteriorRisk", "Prior", "Selection", "SettingsCheck", "posterior"]


class _Room(ModuleType):
    """``unveil.posterior`` is this module as soon as anything of it is imported, whatever the package says."""

    def __call__(self, *args: Any, **kwargs: Any) -> PosteriorRisk:
        return posterior(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
