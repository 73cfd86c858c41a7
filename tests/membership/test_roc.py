"""ROC figures: by hand, by definition, and intervals that cover what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from unveil.stats.roc import FPRS, auc_interval, delong, figures_of, hits_at, roc

SEED = np.random.SeedSequence(1)
scores = st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=12).map(np.array)


@given(scores, scores)
def test_area_and_variance_by_definition(members: np.ndarray, others: np.ndarray) -> None:
    wins = (members[:, None] > others) + 0.5 * (members[:, None] == others)
    auc, variance = delong(members, others)
    assert auc == pytest.approx(wins.mean())
    expected = wins.mean(axis=1).var(ddof=1) / len(members) + wins.mean(axis=0).var(ddof=1) / len(others)
    assert variance == pytest.approx(expected, abs=1e-12)
    alarms, hits = roc(members, others)
    assert trapezoid(hits, alarms) == pytest.approx(auc)
    low, high = auc_interval(auc, variance, len(members), len(others), 0.95)
    assert 0 <= low <= auc + 1e-9
    assert auc - 1e-9 <= high <= 1


def test_hits_between_corners_are_at_random() -> None:
    members, others = np.array([2.0, 1.0, 1.0, 0.0]), np.array([1.0] * 5 + [0.0] * 5)
    # Above 1: a quarter of the members. At 1, half of either: a tenth of the others is a fifth of them.
    assert hits_at(0.1, members, others, level=0.95, seed=SEED)[0] == pytest.approx(0.25 + 0.5 * 0.2)
    assert math.isnan(hits_at(0.01, members, others, level=0.95, seed=SEED)[0])


def test_groups_apart_have_an_interval() -> None:
    found = figures_of(np.arange(100, 200.0), np.arange(100.0), level=0.95, seed=SEED)
    assert found.auc == 1
    assert 0.95 < found.auc_interval[0] < 1 == found.auc_interval[1]
    assert found.tpr[2] == 1
    assert 0.9 < found.tpr_interval[2][0] < 1


def test_everybody_alike() -> None:
    found = figures_of(np.zeros(50), np.zeros(40), level=0.95, seed=SEED)
    assert found.auc == 0.5
    assert found.auc_interval[0] < 0.45
    assert found.auc_interval[1] > 0.55
    assert found.tpr[2] == pytest.approx(0.1)


def test_newcombe_example() -> None:
    """Newcombe 2006, method 5: the ends are the areas from which the observed one is z standard errors away."""
    low, high = auc_interval(0.5, 0.0, 20, 30, 0.95)
    for end in (low, high):
        rest = (20 + 30) / 2 - 1
        variance = end * (1 - end) * (1 + rest * (1 - end) / (2 - end) + rest * end / (1 + end)) / (20 * 30)
        assert abs(0.5 - end) == pytest.approx(1.959964 * math.sqrt(variance), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_intervals_cover(shift: float) -> None:
    """Of 600 pairs of samples 92.5 to 97.5 percent: within 2.8 standard errors of 95 (0.89)."""
    from scipy.special import ndtr, ndtri

    truth = [float(ndtr(shift / math.sqrt(2))), *(float(ndtr(shift - ndtri(1 - fpr))) for fpr in FPRS[1:])]
    covered = np.zeros(3)
    for i in range(600):
        rng = np.random.default_rng([3, i])
        found = figures_of(
            rng.normal(shift, 1, 500), rng.normal(0, 1, 1000), level=0.95, seed=np.random.SeedSequence(i)
        )
        ends = [found.auc_interval, *found.tpr_interval[1:]]
        covered += [low <= value <= high for value, (low, high) in zip(truth, ends, strict=True)]
    assert (covered >= 0.925 * 600).all(), covered
    assert (covered <= 0.98 * 600).all(), covered


def test_the_order_of_the_records_changes_no_digit() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        members, others = rng.normal(1, 1, 37), rng.normal(0, 1, 23)
        first = delong(members, others)
        assert delong(rng.permutation(members), rng.permutation(others)) == first
