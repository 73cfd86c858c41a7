"""Verdicts on readings made by hand: what is a failure, and what is chance."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil._conformance import REQUIREMENTS
from unveil._conformance.judge import Finding, judge, margin_of

T_999_9 = 4.297
"""Student's t with 9 degrees of freedom, .999 quantile, from printed tables."""


def judged(requirement: str, values: object, maximum: float = 1.0, gains: object = None) -> Finding:
    read = np.asarray(values, dtype=float)
    return judge(requirement, read, maximum, np.zeros_like(read) if gains is None else np.asarray(gains, dtype=float))


def test_margin_is_students_t() -> None:
    ten = np.array([1.0] * 5 + [-1.0] * 5)
    assert margin_of(ten) == pytest.approx(T_999_9 * np.sqrt(10 / 9) / np.sqrt(10), rel=1e-3)
    assert margin_of(np.full(4, 0.3)) == pytest.approx(0.0, abs=1e-12)


def test_maximum_has_to_be_reached_in_every_drawing() -> None:
    assert judged("maximum", [[1.0], [1.0], [1.0]]).verdict == "pass"
    found = judged("maximum", [[1.0], [0.98], [1.0]])
    assert (found.verdict, found.figures) == ("fail", (0.98, 1.0))
    assert judged("maximum", [[100.0]] * 3, maximum=100.0).verdict == "pass"
    assert judged("maximum", [[1.0]] * 3, maximum=100.0).verdict == "fail"
    assert judged("maximum", [[1.0 - 1e-9]] * 3).verdict == "pass"


def test_a_rise_has_to_exceed_chance() -> None:
    base = np.linspace(0, 1, 10)
    noise = np.array([0.1, -0.1] * 5)
    limit = T_999_9 * noise.std(ddof=1) / np.sqrt(10)
    for factor, verdict in ((0.97, "pass"), (1.03, "fail")):
        values = np.column_stack([base, base + noise + factor * limit])
        found = judged("not rising", values)
        assert found.verdict == verdict
        assert found.margin == pytest.approx(limit, rel=1e-3)
        # Turned round, the same rise is a fall.
        assert judged("not falling", values[:, ::-1]).verdict == verdict
    assert judged("not rising", np.column_stack([base, base])).verdict == "pass"
    assert judged("not falling", np.column_stack([base, base])).verdict == "pass"


def test_a_slow_rise_over_several_worlds_is_seen() -> None:
    """No step exceeds chance, the whole way does; the worlds named are the two ends."""
    first, second, third = np.random.default_rng(0).normal(0, 0.1, (3, 10))
    noises = [one - one.mean() for one in (first, second, third)]
    step = 0.7 * min(margin_of(b - a) for a, b in pairwise(noises))
    assert 2 * step > margin_of(noises[2] - noises[0])
    values = np.column_stack([one + i * step for i, one in enumerate(noises)])
    assert judged("not rising", values[:, :2]).verdict == judged("not rising", values[:, 1:]).verdict == "pass"
    found = judged("not rising", values)
    assert (found.verdict, found.worlds) == ("fail", (0, 2))


def test_rises_name_their_worlds_and_figures() -> None:
    found = judged("not rising", [[0.5, 0.2, 0.7]] * 3)
    assert (found.verdict, found.worlds, found.figures) == ("fail", (1, 2), pytest.approx((0.2, 0.7)))
    fallen = judged("not falling", [[0.5, 0.7, 0.2]] * 3)
    assert (fallen.verdict, fallen.worlds, fallen.figures) == ("fail", (1, 2), pytest.approx((0.7, 0.2)))


def test_telling_apart_has_to_exceed_chance_and_equal_readings_fail() -> None:
    assert judged("first above second", [[0.8, 0.1], [0.7, 0.2], [0.75, 0.15]] * 3).verdict == "pass"
    assert judged("first above second", [[0.4, 0.4], [0.7, 0.7], [0.1, 0.1]]).verdict == "fail"
    assert judged("first above second", [[0.1, 0.8], [0.2, 0.7], [0.15, 0.75]] * 3).verdict == "fail"
    assert judged("first above second", [[0.8, 0.1], [0.1, 0.7], [0.5, 0.4]] * 3).verdict == "undecided"


def test_equal_to_within_chance() -> None:
    assert judged("equal", [[0.4, 0.5], [0.5, 0.4], [0.45, 0.45]]).verdict == "pass"
    assert judged("equal", [[0.4, 0.5], [0.3, 0.4], [0.45, 0.55]]).verdict == "fail"
    assert judged("equal", [[0.5, 0.4], [0.4, 0.3], [0.55, 0.45]]).verdict == "fail"


def test_low_is_less_than_half_of_what_is_learnt_above_the_floor() -> None:
    gains = [[0.0, 0.8]] * 3
    # Floor .2, maximum 1: of the .8 above it half of .8 has to show, that is .2 + .5 * .8 * .8 = .52.
    low, enough = judged("not low", [[0.2, 0.51]] * 3, gains=gains), judged("not low", [[0.2, 0.53]] * 3, gains=gains)
    assert (low.verdict, enough.verdict) == ("fail", "pass")
    assert low.figures == pytest.approx((0.51, 0.52))
    assert judged("not low", [[1.0, 1.0]] * 3, gains=gains).verdict == "pass"
    # In percent, the same.
    assert judged("not low", [[20, 51]] * 3, maximum=100, gains=gains).verdict == "fail"
    # Chance: a reading that is short in the mean, and not beyond its spread.
    assert judged("not low", [[0.2, 0.2], [0.2, 0.8], [0.2, 0.5]], gains=gains).verdict == "pass"


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_no_reading_is_no_verdict(requirement: str) -> None:
    found = judged(requirement, [[0.5, 0.5], [0.5, float("nan")], [0.5, 0.5]])
    assert found.verdict == "not applicable"
    assert np.isnan(found.figures).all()


READINGS = st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=3, max_size=8)


@given(READINGS)
def test_order_of_drawings_does_not_count(values: list[list[float]]) -> None:
    for requirement in ("not rising", "not falling", "maximum"):
        assert judged(requirement, values).verdict == judged(requirement, values[::-1]).verdict


@given(READINGS)
def test_falling_readings_never_rise(values: list[list[float]]) -> None:
    ordered = np.sort(np.array(values), axis=1)
    assert judged("not falling", ordered).verdict == "pass"
    assert judged("not rising", ordered[:, ::-1]).verdict == "pass"
