"""Statistics that know no measure: intervals of both kinds, and what stands above a null."""

from unveil.stats.excess import Excess, excess, excess_interval, over_null
from unveil.stats.interval import NAMES, ONE_RELEASE, OVER, Interval, Kind, called, checked_kind, kinds_in_words
from unveil.stats.process import from_halves, from_releases, from_resamples, student_half
from unveil.stats.shares import clopper_pearson, score_interval, wilson

__all__ = [
    "NAMES",
    "ONE_RELEASE",
    "OVER",
    "Excess",
    "Interval",
    "Kind",
    "called",
    "checked_kind",
    "clopper_pearson",
    "excess",
    "excess_interval",
    "from_halves",
    "from_releases",
    "from_resamples",
    "kinds_in_words",
    "over_null",
    "score_interval",
    "student_half",
    "wilson",
]
