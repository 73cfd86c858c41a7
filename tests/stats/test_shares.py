"""Intervals of shares whose variance is not that of independent persons who count in full or not."""

from __future__ import annotations

import math

import pytest

from unveil.errors import CallError
from unveil.stats import OVER, Interval, clopper_pearson, is_process, kinds_in_words, score_interval, wilson


def test_the_variance_of_a_plain_share_gives_wilson() -> None:
    for k, n in ((1, 3), (40, 300), (299, 300)):
        p = k / n
        assert score_interval(p, p * (1 - p) / n, n) == pytest.approx(wilson(k, n))


def test_twice_the_variance_is_half_the_persons() -> None:
    assert score_interval(0.25, 2 * 0.25 * 0.75 / 80, 80) == pytest.approx(wilson(10, 40))


def test_where_nobody_or_everybody_counts_it_is_clopper_and_pearson() -> None:
    for n in (1, 2, 5, 300):
        assert score_interval(0.0, 0.0, n) == pytest.approx(clopper_pearson(0, n))
        assert score_interval(1.0, 0.0, n) == pytest.approx(clopper_pearson(n, n))
        # rounding is no variance
        assert score_interval(1.0, 1e-33, n) == pytest.approx(clopper_pearson(n, n))


def test_where_all_count_alike_some_kind_of_person_may_be_missing() -> None:
    # four persons of 0.5 each: (1 - u) ** 4 = 0.025 for the part u of persons of another kind, who count 0 or 1
    unseen = 1 - 0.025**0.25
    assert score_interval(0.5, 0.0, 4) == pytest.approx((0.5 * (1 - unseen), 0.5 + 0.5 * unseen))


def test_what_is_not_defined_has_no_interval() -> None:
    assert all(map(math.isnan, score_interval(math.nan, 0.0, 10)))
    assert all(map(math.isnan, score_interval(0.0, 0.0, 0)))


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 2.0])
def test_levels_are_checked(level: float) -> None:
    with pytest.raises(CallError, match="between 0 and 1"):
        score_interval(0.5, 0.1, 3, level)


def test_an_interval_says_what_it_is_over() -> None:
    found = Interval("release", 0.2, 0.1, 0.4, 0.95).scaled(100)
    assert found.to_dict() == {
        "kind": "release", "over": OVER["release"], "value": 20.0, "low": 10.0, "high": 40.0, "level": 0.95,
        "undefined": None,
    }  # fmt: skip
    missing = Interval.missing("process", 0.2, 0.95, "why not")
    assert math.isnan(missing.low)
    assert missing.to_dict()["undefined"] == "why not"
    assert kinds_in_words("", "why not")[1].endswith("the process (other records, and a release made from each): not "
                                                     "defined, why not.")  # fmt: skip
    assert "90 % interval, this release" in kinds_in_words("", "why not", 0.9)[0]
    with pytest.raises(CallError, match="'release' or 'process', not 'both'"):
        is_process("both", 0.95)
