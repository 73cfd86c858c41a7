"""Process intervals by hand: the arithmetic of halves, resamples and releases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from unveil.stats import clopper_pearson, from_halves, from_releases, from_resamples


def scaled(share: float) -> float:
    return math.asin(math.sqrt(share))


def ends(share: float, half: float) -> tuple[float, float]:
    return math.sin(max(scaled(share) - half, 0)) ** 2, math.sin(min(scaled(share) + half, math.pi / 2)) ** 2


def test_halves_by_hand() -> None:
    found = from_halves(0.3, np.array([[0.25, 0.36], [0.3, 0.3]]), 100, 0.95)
    variance = (scaled(0.25) - scaled(0.36)) ** 2 / 2 / 4
    assert (found.low, found.high) == pytest.approx(ends(0.3, student.ppf(0.975, 2) * math.sqrt(variance)))
    assert (found.kind, found.value, found.undefined) == ("process", 0.3, None)


def test_halves_of_independent_records_give_the_variance_of_a_share() -> None:
    """A share of n = 400 independent records, from 2000 divisions: 1/(4n) on the scale of the arcsine."""
    rng = np.random.default_rng(1)
    records = rng.random(400) < 0.3
    halves = []
    for _ in range(2000):
        mixed = rng.permutation(records)
        halves.append([mixed[:200].mean(), mixed[200:].mean()])
    found = from_halves(records.mean(), np.array(halves), 400, 0.95)
    half = (scaled(found.high) - scaled(found.low)) / 2
    # a standard error of 1/sqrt(4000) of the variance, half as much of its root
    assert half == pytest.approx(1.96 / math.sqrt(1600), rel=0.03)


def test_resamples_by_hand() -> None:
    replicates = np.array([0.2, 0.3, 0.4])
    found = from_resamples(0.25, replicates, 100, 0.9)
    spread = np.std([scaled(r) for r in replicates], ddof=1)
    assert (found.low, found.high) == pytest.approx(ends(0.25, student.ppf(0.95, 2) * spread))


def test_releases_by_hand() -> None:
    """Satterthwaite: (m - 1) (T / (B / m))^2 degrees of freedom."""
    rates, sampling = np.array([0.2, 0.3, 0.25]), 0.001
    between = np.var(rates, ddof=1) / 3
    total = sampling + between
    freedom = 2 * (total / between) ** 2
    width = math.sqrt(total / (4 * 0.25 * 0.75))
    found = from_releases(rates, sampling, 100, 0.95)
    assert (found.low, found.high) == pytest.approx(ends(0.25, student.ppf(0.975, freedom) * width))
    cautious = from_releases(rates, sampling, 100, 0.95, cautious=True)
    squared = (norm.ppf(0.975) ** 2 * sampling + student.ppf(0.975, 2) ** 2 * between) / (4 * 0.25 * 0.75)
    assert (cautious.low, cautious.high) == pytest.approx(ends(0.25, math.sqrt(squared)))
    assert cautious.high > found.high


def test_releases_that_are_equal_leave_the_persons() -> None:
    found = from_releases(np.array([0.25, 0.25]), 0.001, 100, 0.95)
    assert (found.low, found.high) == pytest.approx(ends(0.25, norm.ppf(0.975) * math.sqrt(0.001 / 0.75)))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_agreement_on_none_or_all_is_not_certainty(share: float) -> None:
    exact = clopper_pearson(round(share) * 50, 50)
    same = np.full((4, 2), share)
    for found in (
        from_halves(share, same, 50, 0.95),
        from_resamples(share, same[:, 0], 50, 0.95),
        from_releases(same[0], 0.0, 50, 0.95),
    ):
        assert (found.low, found.high) == pytest.approx(exact)
    # halves that do not agree reach further
    other = from_halves(share, np.array([[share, 0.5], [0.5, share]]), 50, 0.95)
    assert other.low <= exact[0]
    assert other.high >= exact[1]
    assert other.high - other.low > exact[1] - exact[0]
