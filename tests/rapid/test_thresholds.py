"""Who is at risk where a score lies on the threshold: what is equal on paper is neither above nor below.

Expectations are counted in whole numbers and fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._rapid import categorical_score, prediction_error, rapid
from unveil._rapid.scores import rounding_error
from unveil._rapid.threshold import Distribution, RiskThreshold

PLAIN: Mapping[str, Any] = {"permutations": 0, "ceiling": False, "attacker": "cart"}


def cells(counts: Mapping[tuple[str, str], int]) -> pa.Table:
    rows = [cell for cell, n in counts.items() for _ in range(n)]
    return pa.table({"k": [k for k, _ in rows], "t": [t for _, t in rows]})


def copy_of(table: pa.Table, **options: Any) -> unveil.inference.Rapid:
    return rapid(unveil.Pair(table, table), "k", target="t", **(PLAIN | options))


TWO_KEYS = cells({("x", "A"): 13, ("x", "B"): 7, ("y", "A"): 7, ("y", "B"): 13})


@pytest.mark.parametrize("attacker", ["cart", "logit"])
def test_a_gain_that_is_tau_on_paper_is_not_above_it(attacker: str) -> None:
    # g is 13/20, b is 1/2, so r is 3/10 for 26 of 40 records, and -3/10 for the others
    assert copy_of(TWO_KEYS, tau=0.3, attacker=attacker).rate == 0
    assert copy_of(TWO_KEYS, tau=0.29, attacker=attacker).rate == 0.65
    assert copy_of(TWO_KEYS, tau=0.31, attacker=attacker).rate == 0


def test_curves_and_classes_and_the_record_level_agree_with_the_rate() -> None:
    found = copy_of(TWO_KEYS, tau=0.3)
    curve = found.curve([0.25, 0.3, 0.35])
    assert curve.lines[0].rate.tolist() == [0.65, 0, 0]
    # nobody is at risk by a hair: with class shares a little lower, as in half of all samples, most of a class are
    assert curve.lines[0].low[1] == 0
    assert curve.lines[0].high[1] > 0.3
    assert found.intervals()[0]["bootstrap"] == (0, curve.lines[0].high[1])
    assert sum(found.records(flavour="arrow")["at_risk"].to_pylist()) == 0
    assert found.by_class(flavour="arrow")["n_at_risk"].to_pylist() == [0, 0]


@pytest.mark.parametrize("n_a", [50, 70, 71, 73, 97])
def test_a_record_that_is_as_likely_as_its_class_on_average_is_not_above_it(n_a: int) -> None:
    # one level of the key: g is the same for the whole class, and g / mean(g) is 1
    table = cells({("x", "a"): n_a, ("x", "b"): 100 - n_a})
    assert copy_of(table, scoring="conditional").rate == 0


def test_normalised_cross_entropy_on_the_threshold() -> None:
    # four classes of which the true one has probability 1/2: 1 + ln(1/2) / ln(4) is 1/2
    table = cells({("x", "a"): 8, ("x", "b"): 4, ("x", "c"): 2, ("x", "d"): 2})
    assert copy_of(table, scoring="nce", tau=0.5).rate == 0
    assert copy_of(table, scoring="nce", tau=0.49).rate == 0.5


def test_the_margin_does_not_count_whom_it_tells_nothing_about() -> None:
    # three classes of which one key level tells nothing: g = b for everybody, and tau is 0
    for n in (7, 11, 13, 49):
        table = cells({("x", "a"): n, ("x", "b"): 2 * n + 1, ("x", "c"): n // 2})
        assert copy_of(table, tau=0).rate == 0


@pytest.mark.parametrize("tau", ["0.1", "0.2", "0.3", "0.4", "0.55", "0.6", "0.7", "0.85"])
def test_rates_of_one_tree_are_those_of_whole_numbers(tau: str) -> None:
    """Two key levels that a tree tells apart, of 100 records each: exact shares for every mixture."""
    typed = Fraction(tau)
    for n_a in range(51, 100):
        counts = {("x", "A"): n_a, ("x", "B"): 100 - n_a, ("y", "A"): 100 - n_a, ("y", "B"): n_a}
        at_risk = sum(n for n in counts.values() if (Fraction(n, 100) - Fraction(1, 2)) * 2 > typed)
        found = copy_of(cells({cell: n for cell, n in counts.items() if n}), tau=float(tau))
        assert found.attacks[0]["n_at_risk"] == at_risk, (n_a, tau)


# --------------------------------------------------------------------------------------- continuous
def numbers(known: list[float], true: list[float], **options: Any) -> unveil.inference.Rapid:
    """One key level in the release for each true value, so that one tree predicts the known value exactly."""
    n = 30
    release = pa.table({"k": [f"l{i:02d}" for i in range(len(known)) for _ in range(n)], "t": np.repeat(known, n)})
    original = pa.table({"k": [f"l{i:02d}" for i in range(len(true))], "t": true})
    pair = unveil.Pair(original, release)
    return rapid(pair, "k", target="t", kind="continuous", **(PLAIN | options))


@pytest.mark.parametrize("shift", [0.0, 1.0, 10.0, 1000.0, 1e6, 1e8])
def test_an_error_that_is_epsilon_on_paper_is_not_below_it(shift: float) -> None:
    known = [shift + value for value in (0.2, 1.3, 2.9)]
    true = [shift + value for value in (0.3, 1.2, 3.0)]
    assert numbers(known, true, metric="absolute", epsilon=0.1).rate == 0
    assert numbers(known, true, metric="absolute", epsilon=0.11).rate == 1


def test_relative_errors_on_the_threshold() -> None:
    # |y - p| / (|y| + delta) with delta .01: 1 of 10, 2 of 20 and 3 of 30
    true, known = [9.99, 19.99, 29.99], [8.99, 17.99, 26.99]
    assert numbers(known, true).rate == 0
    assert numbers(known, true, epsilon=0.1001).rate == 1
    assert numbers([9.0, 18.01, 27.0], true).rate == 1


def test_errors_in_parts_of_the_range_on_the_threshold() -> None:
    true, known = [0.1, 0.4, 1.1], [0.2, 0.3, 1.0]
    assert numbers(known, true, metric="range", epsilon=0.1).rate == 0
    assert numbers(known, true, metric="range", epsilon=0.11).rate == 1


def test_a_mean_of_a_leaf_that_is_epsilon_away_is_not_below_it() -> None:
    # the leaf holds 0.1, 0.2 and 0.6 in equal parts, and its mean 0.3 is rounded: 0.2 and 0.4 are 0.1 away from it
    release = pa.table({"k": ["x"] * 30, "t": [0.1, 0.2, 0.6] * 10})
    original = pa.table({"k": ["x"] * 3, "t": [0.2, 0.4, 0.3]})
    found = rapid(unveil.Pair(original, release), "k", target="t", kind="continuous", metric="absolute", epsilon=0.1,
                  **PLAIN)  # fmt: skip
    assert found.attacks[0]["n_at_risk"] == 1


# ---------------------------------------------------------------------------------------- the rule itself
def test_all_that_is_counted_by_a_rule_is_counted_alike() -> None:
    """The flag of a person, and the share at many thresholds, for scores that are thresholds on paper."""
    grid = [i / 20 for i in range(20)]
    scores = np.array([(0.5 + t / 2 - 0.5) / 0.5 for t in grid for _ in range(3)])
    for rule in (RiskThreshold("marginal", 0.3, above=True), RiskThreshold("relative", 0.3, above=False)):
        rates = Distribution.of(scores).rates(grid, rule)
        exact = [sum(3 for other in range(20) if (other > i if rule.above else other < i)) / 60 for i in range(20)]
        assert rates.tolist() == exact
        for threshold, rate in zip(grid, rates, strict=True):
            assert RiskThreshold(rule.scoring, threshold, above=rule.above).at_risk(scores).mean() == rate


def test_scores_of_two_hundred_thousand_records_are_close_enough_to_their_fractions() -> None:
    """What rounding does to a score stays far below the tolerance."""
    n = Counter({0: 199_000, 1: 900, 2: 100})
    truth = np.repeat(list(n), list(n.values()))
    g = np.where(truth == 0, 0.9985, 0.7)
    r = categorical_score(g, truth, 3)
    expected = (Fraction(9985, 10000) - Fraction(199, 200)) / (1 - Fraction(199, 200))
    assert abs(Fraction(float(r[0])) - expected) < Fraction(1, 10**12)
    assert not RiskThreshold("marginal", 0.7, above=True).at_risk(r[:1]).any()


def test_rounding_of_errors_is_known_by_metric() -> None:
    y = np.array([1e8, 1e8 + 1, 1e8 + 2])
    for metric in ("absolute", "sd", "range"):
        error = prediction_error(y, y + 0.1, metric)
        exact = 0.1 / (1 if metric in ("absolute", "sd") else 2)
        assert np.abs(error - exact).max() < rounding_error(y, metric) < 1e-3
