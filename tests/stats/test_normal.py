"""Quantiles and tails of the normal distribution, against scipy."""

from __future__ import annotations

import pytest
from scipy import special, stats

from unveil.stats import log_normal_tail, normal_quantile


@pytest.mark.parametrize("z", [-40.0, -3.0, 0.0, 1.0, 5.0, 29.999, 30.0, 37.5, 100.0, 1e4])
def test_the_tail_is_that_of_scipy(z):
    assert log_normal_tail(z) == pytest.approx(special.log_ndtr(-z), rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("level", [1e-9, 0.5, 0.9, 0.95, 0.999999])
def test_the_quantile_is_that_of_scipy(level):
    # The upper tail itself: 1 + level is rounded.
    assert normal_quantile(level) == pytest.approx(stats.norm.isf((1 - level) / 2), rel=1e-13)


def test_a_level_next_to_1_has_a_quantile():
    assert 8 < normal_quantile(0.9999999999999999) < 9
