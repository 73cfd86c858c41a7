"""Bayesian disclosure risk: what an intruder learns of a record who knows all others and the synthesizer."""

from __future__ import annotations

from unveil._posterior.advice import Advice, AdviceRow
from unveil._posterior.call import posterior
from unveil._posterior.checked_options import Prior
from unveil._posterior.cross_table import CrossTable
from unveil._posterior.result import PosteriorRisk
from unveil._posterior.selection import Selection
from unveil._posterior.settings_check import SettingsCheck

__all__ = ["Advice", "AdviceRow", "CrossTable", "PosteriorRisk", "Prior", "Selection", "SettingsCheck", "posterior"]
