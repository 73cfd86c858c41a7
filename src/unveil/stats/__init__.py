"""Statistics that know no measure: intervals of both kinds, and what stands above a null."""

from unveil.stats.bootstrap import (
    check_draws,
    mean_interval,
    percent_interval,
    rate_interval,
    resampled_means,
    resamples,
)
from unveil.stats.excess import Excess, excess, excess_interval, over_null
from unveil.stats.groups import Groups
from unveil.stats.interval import NAMES, ONE_RELEASE, OVER, Interval, Kind, called, is_process, kinds_in_words
from unveil.stats.moments import Moments
from unveil.stats.normal import log_normal_tail, normal_quantile
from unveil.stats.process import from_halves, from_releases, from_resamples, student_half
from unveil.stats.ranks import mean_ranks, ranks_of_levels
from unveil.stats.shares import Ends, clopper_pearson, score_interval, wilson

__all__ = [
    "NAMES",
    "ONE_RELEASE",
    "OVER",
    "Ends",
    "Excess",
    "Groups",
    "Interval",
    "Kind",
    "Moments",
    "called",
    "check_draws",
    "clopper_pearson",
    "excess",
    "excess_interval",
    "from_halves",
    "from_releases",
    "from_resamples",
    "is_process",
    "kinds_in_words",
    "log_normal_tail",
    "mean_interval",
    "mean_ranks",
    "normal_quantile",
    "over_null",
    "percent_interval",
    "ranks_of_levels",
    "rate_interval",
    "resampled_means",
    "resamples",
    "score_interval",
    "student_half",
    "wilson",
]
