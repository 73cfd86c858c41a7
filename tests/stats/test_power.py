"""Power of the exact binomial test: published numbers, sums by hand, and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unveil.stats.power import power_at, smallest_n


def tail(n: int, c: int, share: float) -> float:
    """Probability of at least c of n, as a sum."""
    return math.fsum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(c, n + 1))


@pytest.mark.parametrize(("null", "rate"), [(0.1, 0.3), (0.3, 0.5), (0.0, 0.05), (0.05, 0.1), (0.5, 0.9), (0.2, 1.0)])
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.9)])
def test_the_smallest_number_is_that_of_sums(null: float, rate: float, alpha: float, power: float):
    def power_by_hand(n: int) -> float:
        c = next(c for c in range(n + 2) if tail(n, c, null) <= alpha)
        return tail(n, c, rate)

    n = int(smallest_n(null, rate, alpha=alpha, power=power))
    assert power_by_hand(n) >= power
    assert all(power_by_hand(fewer) < power for fewer in range(1, min(n, 60)))
    assert n == 1 or power_by_hand(n - 1) < power
    assert power_at(np.array([n]), null, rate, alpha=alpha)[0] == pytest.approx(power_by_hand(n))


def test_a_case_by_hand():
    # a null of 0: one person found rejects it; 1 - 0.95^n reaches 0.8 with 32 persons
    assert smallest_n(0.0, 0.05) == math.ceil(math.log(0.2) / math.log(0.95)) == 32


def test_no_number_where_the_rate_is_not_above():
    assert math.isnan(smallest_n(0.3, 0.3))
    assert math.isnan(smallest_n(math.nan, 0.3))


def test_near_the_limit_the_normal_number_is_that_of_the_exact_test():
    null, rate = 0.3, 0.3025
    n = int(smallest_n(null, rate))
    assert n > 200_000
    assert power_at(np.array([n]), null, rate)[0] == pytest.approx(0.8, abs=0.005)


def test_simulated_samples_are_told_from_the_null_as_often_as_stated():
    rng = np.random.default_rng(1)
    null, rate = 0.12, 0.2
    n = int(smallest_n(null, rate))
    c = next(c for c in range(n + 2) if tail(n, c, null) <= 0.05)
    draws = 40_000
    assert np.mean(rng.binomial(n, null, draws) >= c) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / draws)
    found = np.mean(rng.binomial(n, rate, draws) >= c)
    assert found == pytest.approx(power_at(np.array([n]), null, rate)[0], abs=3 * 0.4 / math.sqrt(draws))
    assert found >= 0.8 - 3 * 0.4 / math.sqrt(draws)
