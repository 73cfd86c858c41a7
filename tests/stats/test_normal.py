"""Quantiles and tails of the normal distribution, against scipy."""

from __future__ import annotations

import pytest
from scipy import special, stats

from unveil.stats import log_normal_tail, normal_quantile


@pytest.mark.parametrize("z", [-40.0, -3.0, 0.0, 1.0, 5.0, 29.999, 30.0, 37.5, 100.0, 1e4])
def test_the_tail_is_that_of_scipy(z):
    assert log_normal_tail(z) == pytest.approx(special.log_ndtr(-z), rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999999])
def test_the_quantile_is_that_of_scipy(level):
    assert normal_quantile(level) == pytest.approx(stats.norm.ppf((1 + level) / 2), rel=1e-13)
