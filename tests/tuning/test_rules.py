"""Rules held against the unfavourable end of intervals."""

from __future__ import annotations

import math

import pytest

from unveil.assessment.policy import Policy, Threshold
from unveil.tuning.rules import held, most_used, over_sets


def figure(measure, value, low, high, target=None, unit="percent", **more):
    return {"measure": measure, "target": target, "unit": unit, "value": value, "low": low, "high": high, **more}


FIGURES = [
    figure("repU", 3.0, 2.0, 4.0),
    figure("DiSCO", 5.0, 4.0, 6.5, "ill", excess=0.02, excess_low=0.01, excess_high=0.04),
    figure("DiSCO", 9.0, 8.0, 10.0, "income", excess=0.2, excess_low=0.1, excess_high=0.3),
    figure("mean TVD", 0.03, None, None, unit="distance"),
]


def one(rule, figures=FIGURES):
    return held(Policy("p", "", (rule,)), figures)


@pytest.mark.parametrize(
    ("rule", "end", "used", "verdict"),
    [
        (Threshold("repU", 4.0), 4.0, 1.0, "within"),
        (Threshold("repU", 3.5), 4.0, 4 / 3.5, "above"),
        (Threshold("repU", 3.5, statistic="low"), 2.0, 2 / 3.5, "within"),
        (Threshold("DiSCO", 0.05, target="ill", statistic="excess"), 0.04, 0.8, "within"),
        (Threshold("repU", 2.5, least=True), 2.0, 1.25, "below"),
        (Threshold("repU", 1.0, least=True), 2.0, 0.5, "within"),
        (Threshold("repU", 0.0), 4.0, math.inf, "above"),
        # A single release has no interval of utility.
        (Threshold("mean TVD", 0.06), 0.03, 0.5, "within"),
        (Threshold("RAPID", 0.1), math.nan, math.inf, "not measured"),
    ],
)
def test_ends_and_shares_of_limits(rule, end, used, verdict):
    (found,) = one(rule)
    assert (found.end, found.limit_used) == (pytest.approx(end, nan_ok=True), pytest.approx(used))
    assert found.verdict == verdict
    assert (found.limit_used <= 1) == (verdict == "within")


def test_a_rule_for_all_targets_has_a_row_for_each():
    found = one(Threshold("DiSCO", 8.0))
    assert [(row.target, row.value, row.verdict) for row in found] == [("ill", 5.0, "within"), ("income", 9.0, "above")]
    assert most_used(found) == pytest.approx(10 / 8)


def test_over_sets_the_worst_end_counts():
    better = [figure("repU", 1.0, 0.5, 2.0)]
    rule = Threshold("repU", 3.5)
    (found,) = over_sets([one(rule), one(rule, better)])
    assert (found.value, found.end, found.verdict) == (2.0, 4.0, "above")
    (unknown,) = over_sets([one(rule, []), one(rule, better)])
    assert math.isnan(unknown.value)
    assert unknown.verdict == "not measured"
