"""Small parts of an assessment, each with figures worked out by hand."""

from __future__ import annotations

import math
import time
from importlib import metadata
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._membership import ATTACKS
from unveil._posterior.advice import Advice, AdviceRow
from unveil.assessment import advice_part, gate_rules
from unveil.assessment import published_text as publish
from unveil.assessment.comparison import _opened, _said
from unveil.assessment.document import PACKAGES, _intruder, _provenance
from unveil.assessment.gate_rules import (
    GatePosition,
    correlation,
    difference,
    figure,
    high,
    log_odds,
    low,
    p_value,
    two_digits,
)
from unveil.assessment.groups import group_rows
from unveil.assessment.key_tables import _rung
from unveil.assessment.membership_part import membership_part
from unveil.assessment.part import Clock, Context, Skipped
from unveil.assessment.policy import Threshold
from unveil.assessment.posterior_part import _entry, _limit, certain_figure, mean_figure
from unveil.assessment.public_summary import public_summary
from unveil.assessment.risk_utility_map import Point, RiskUtilityMap
from unveil.assessment.rounding import Rounding, significant
from unveil.assessment.scenario import INTRUDERS, Options, Scenario
from unveil.assessment.summary import _capital, _gaps, _use
from unveil.assessment.utility_part import _figure
from unveil.assessment.wording import of_hundred, probability


def entry(measure: str, value: float | None, unit: str = "percent", target: str | None = None, **more: Any) -> Any:
    blank = {"ceiling": None, "null_mean": None, "persons": None}
    return {"measure": measure, "value": value, "unit": unit, "target": target} | blank | more


# The summary for everybody ------------------------------------------------------------------------------------------


def summary_of(figures: list[Any], utility: list[Any], records: int = 1000, draw: float = 0.5) -> list[Any]:
    whole = {
        "data": {"original": {"records": records}}, "scenario": {"minimum_count": 10}, "figures": figures,
        "utility": {"figures": utility},
    }  # fmt: skip
    return public_summary(whole, lambda: draw)["figures"]


def test_the_summary_is_of_a_hundred_and_takes_the_highest_of_several_targets() -> None:
    """Of 1000 persons a step is 1; by the draw of 0.5 what lies more than half a step above goes up."""
    figures = [
        entry("repU", 12.3, ceiling=50.7), entry("DiSCO", 5.2, target="a", null_mean=1.7),
        entry("DiSCO", 7.9, target="b"), entry("DCAP", math.nan, target="a"), entry("DCAP", None, target="b"),
        entry("RAPID", 0.2, "share"),
    ]  # fmt: skip
    utility = [entry("mean TVD", 0.124, "distance"), entry("worst pair TVD", 0.337, "distance"),
               entry("S_pMSE", 3.0, "distance")]  # fmt: skip
    rows = [(one["measure"], one["value"], one["beside"], one["step"]) for one in summary_of(figures, utility)]
    assert rows == [
        ("repU", 12, 51, 1), ("DiSCO", 8, None, 1), ("mean TVD", 12, None, 1), ("worst pair TVD", 34, None, 1),
    ]  # fmt: skip
    repu, disco, *_ = summary_of(figures, utility)
    assert repu["beside_what"] == "alone in the original"
    assert disco["beside_what"] == ""
    assert [one["value"] for one in summary_of(figures, utility, draw=0.0)] == [13, 8, 13, 34]
    assert [one["value"] for one in summary_of(figures, utility, draw=0.99)] == [12, 7, 12, 33]


def test_the_summary_leaves_out_figures_of_few_persons() -> None:
    assert summary_of([entry("repU", 12.3, ceiling=50.7)], [], records=49) == []
    figures = [entry("repU", 12.3), entry("DiSCO", 9.0, persons=49), entry("DCAP", 10.0, persons=50)]
    # Of 50 persons a step is 20, and 10 is half of it; of 49 there is none.
    for draw, value in ((0.4, 20), (0.6, 0)):
        rows = [(one["measure"], one["value"], one["step"]) for one in summary_of(figures, [], draw=draw)]
        assert rows == [("repU", 12, 1), ("DCAP", value, 20)]


# Rounding -----------------------------------------------------------------------------------------------------------


def test_rounding_by_hand() -> None:
    """Of 300 persons and a minimum of 10 a step is 5 percent."""
    survey = Rounding(300, 10)
    assert [survey.nearest(v) for v in (0.0, 2.4, 2.6, -2.4, -2.6, 12.6, -12.4)] == [0, 0, 5, 0, -5, 15, -10]
    assert [survey.nearest(v, power=-2) for v in (0.024, 0.026, -0.51)] == [0, 0.05, -0.5]
    assert [survey.percent(v) for v in (0.0, 0.1, 2.6, 97.4, 99.9, 100.0, -3.0, -12.6)] == [
        0,
        5,
        5,
        95,
        95,
        100,
        -5,
        -15,
    ]
    assert [survey.share(v) for v in (0.0, 0.001, 0.999, 1.0)] == [0, 0.05, 0.95, 1]
    assert [survey.outward(v, up=up) for v, up in ((5.0, True), (5.1, True), (5.0, False), (4.9, False))] == [
        5,
        10,
        5,
        0,
    ]
    assert [survey.expected(v) for v in (0.0, 0.0123, 0.049, 0.06, 0.5)] == [0, 0.01, 0.05, 0.05, 0.5]
    assert [survey.count(n) for n in (0, 9, 10, 14, 15, 16)] == [0, None, 10, 10, 20, 20]
    few = Rounding(49, 10)
    undefined = (few.nearest(3.0), few.percent(3.0), few.outward(3.0, up=True), few.expected(0.3), few.step)
    assert undefined == (None,) * 5
    assert [few.percent(v) for v in (0.0, 100.0)] == [0, 100]
    assert Rounding(9, 10).percent(0.0) is None
    assert [survey.nearest(math.nan), survey.percent(math.inf), survey.outward(-math.inf, up=False)] == [None] * 3
    assert [significant(1234.0), significant(0.0567), significant(1234.0, 1)] == [1200, 0.057, 1000]


def test_rules_of_the_gate_by_hand() -> None:
    def at(**row: Any) -> GatePosition:
        return GatePosition(Rounding(300, 10), row, "value", 0, {}, {})

    percent = at(measure="DiSCO", unit="percent")
    assert [rule(12.6, percent) for rule in (low, figure, high)] == [10, 15, 15]
    assert [rule(0.126, at(measure="RAPID", unit="share")) for rule in (low, figure, high)] == [0.1, 0.15, 0.15]
    assert [rule(0.631, at(measure="membership AUC", unit="auc")) for rule in (low, figure, high)] == [0.6, 0.65, 0.65]
    # A mean posterior tells of few persons who are certain, its prior does not.
    assert figure(0.0123, at(measure="posterior", unit="share")) == 0.05
    assert gate_rules.guess(0.0123, at(measure="posterior", unit="share")) == 0.01
    # Some distances are shares of records, and others are not.
    assert figure(0.126, at(measure="mean TVD", unit="distance")) == 0.15
    assert figure(3.456, at(measure="S_pMSE", unit="distance")) == 3.5
    assert figure(3.0, at(measure="else", unit="unknown")) is None
    assert (correlation(0.126, percent), difference(-12.4, percent)) == (0.15, -10)
    assert (two_digits(3.456, percent), two_digits([1.26, "x", True, None], percent)) == (3.5, [1.3, None, None, None])
    assert [log_odds(v, percent) for v in (0.2, 0.3, -1.3, 2.0)] == [0, 0.5, -1.5, 2]
    assert [p_value(v, percent) for v in (0.001, 0.051, 1.0)] == [0.05, 0.1, 1]
    many = GatePosition(Rounding(10**6, 10), {}, "value", 0, {}, {})
    assert p_value(0.001, many) == 0.01


# Figures ------------------------------------------------------------------------------------------------------------


def test_the_interval_of_a_utility_is_that_of_the_mean_over_releases() -> None:
    found = _figure("mean TVD", [0.1, 0.2, 0.4], 0.95)
    # Mean 7/30; squared deviations sum to 14/300, over 2; by three releases. Of two degrees Student has 4.302653.
    half = 4.302653 * math.sqrt(14 / 300 / 2) / math.sqrt(3)
    assert found.value == pytest.approx(7 / 30)
    assert (found.low, found.high) == (
        pytest.approx(7 / 30 - half, abs=1e-6), pytest.approx(7 / 30 + half, abs=1e-6),
    )  # fmt: skip
    alone = _figure("mean TVD", [0.1], 0.95)
    assert (alone.value, math.isnan(alone.low), math.isnan(alone.high)) == (0.1, True, True)


def test_posteriors_that_are_all_1_leave_room_for_records_that_were_not_drawn() -> None:
    weighed = SimpleNamespace(posterior=np.ones(20), prior=np.full(20, 0.5))
    found = mean_figure(weighed, "ill", "exact", 0.95, 2)
    # 0.025^(1/20): so large a part of the population is in no sample of 20 with a probability of 2.5 %.
    least = 0.025 ** (1 / 20)
    assert (found.low, found.high) == (pytest.approx(least), 1)
    assert (found.excess_low, found.excess_high) == (pytest.approx(2 * least - 1), 1)


def test_the_interval_of_an_excess_follows_posterior_and_prior_together() -> None:
    """Where a release tells nothing the two are equal, record by record: their difference does not vary."""
    prior = np.random.default_rng(1).uniform(0.2, 0.8, 100)
    found = mean_figure(SimpleNamespace(posterior=prior, prior=prior), "ill", "exact", 0.95, 2)
    little_more = prior + 0.001 * (prior > 0.5)
    nearly = mean_figure(SimpleNamespace(posterior=little_more, prior=prior), "ill", "exact", 0.95, 2)
    assert found.excess == 0
    assert found.high - found.low > 0.05
    assert nearly.excess == pytest.approx(0.001, rel=0.5)
    assert 0 < nearly.excess_low < nearly.excess_high < 0.002


@pytest.mark.parametrize(("wrong", "n"), [(0.02, 20), (0.05, 20), (0.05, 50), (0.15, 50), (0.02, 385)])
def test_intervals_of_posteriors_that_are_mostly_1_cover(wrong: float, n: int) -> None:
    """Posteriors of 1, and for a few records 0.05; from normal intervals half of the samples would be left out."""
    rng, trials, hits, gains = np.random.default_rng([3, n]), 1000, 0, 0
    mean, before = 1 - 0.95 * wrong, 0.5 - 0.3 * wrong
    for _ in range(trials):
        low = rng.random(n) < wrong
        weighed = SimpleNamespace(posterior=np.where(low, 0.05, 1.0), prior=np.where(low, 0.2, 0.5))
        found = mean_figure(weighed, "ill", "exact", 0.95, 2)
        hits += found.low <= mean <= found.high
        gains += found.excess_low <= (mean - before) / (1 - before) <= found.excess_high
    assert hits >= 0.9 * trials
    assert gains >= 0.9 * trials


def test_figures_of_a_posterior_by_hand() -> None:
    """Of 0.2, 0.4 and 0.9 the mean is a half, the standard deviation sqrt(0.13); beforehand it was a quarter."""
    weighed = SimpleNamespace(posterior=np.array([0.9, 0.2, 0.4]), prior=np.full(3, 0.25))
    found = mean_figure(weighed, "ill", "exact", 0.5, 2)
    # The variance of the mean is 0.13 / 3, as of 0.25 / (0.13 / 3) records that are 0 or 1; Wilson's half width for a
    # half is z / 2 / sqrt(n + z^2).
    half = 0.6744897501960817 / 2 / math.sqrt(0.75 / 0.13 + 0.6744897501960817**2)
    assert (found.value, found.margin, found.persons) == (pytest.approx(0.5), 0.25, 3)
    assert (found.low, found.high) == (pytest.approx(0.5 - half), pytest.approx(0.5 + half))
    # Gain is (posterior - 1/4) / (3/4).
    assert found.excess == pytest.approx(1 / 3)
    assert found.excess_low == pytest.approx(1 / 3 - half / 0.75)
    assert found.excess_high == pytest.approx(1 / 3 + half / 0.75)
    wide = mean_figure(weighed, "ill", "exact", 0.9999, 2)
    assert 0 < wide.low < 0.1
    assert 0.9 < wide.high < 1
    one = SimpleNamespace(posterior=np.array([0.5]), prior=np.array([1.0]))
    alone = mean_figure(one, "ill", "exact", 0.95, 2)
    assert all(math.isnan(v) for v in (alone.low, alone.excess, alone.excess_low))
    share = certain_figure(0.25, 40, "ill", "exact", 0.95, 10)
    z, p, n = 1.959963984540054, 0.25, 40
    middle, width = (p + z * z / (2 * n)) / (1 + z * z / n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert (share.value, share.persons) == (0.25, 40)
    assert (share.low, share.high) == (
        pytest.approx(middle - width / (1 + z * z / n)), pytest.approx(middle + width / (1 + z * z / n)),
    )  # fmt: skip


@pytest.mark.parametrize(("n", "told"), [(10, True), (9, False)])
def test_figures_of_fewer_persons_than_the_minimum_are_not_kept(n: int, told: bool) -> None:
    names = (
        "mean_prior",
        "mean_posterior",
        "mean_normalised_gain",
        "share_above_half",
        "share_above_90",
        "share_certain",
    )
    figures = dict.fromkeys(names, 0.5) | {"n_records": n, "normalised_gain_histogram": {"counts": [n]}}
    sampled = {
        "strongest": "exact", "releases": [{"exact": figures}], "n_values": 2, "prior": "uniform", "cross": ["row"],
        "subgroups": {"sex": [[{"level": "f", "n": 10}, {"level": "m", "n": 9}]]}, "settings_check": None,
    }  # fmt: skip
    context: Any = SimpleNamespace(scenario=SimpleNamespace(minimum_count=10))
    found = _entry(context, {"sampled": sampled})
    assert found["rows"][0]["mean_posterior"] == (0.5 if told else None)
    assert found["gain_histogram"] == ({"counts": [n]} if told else None)
    assert found["cross"] == (["row"] if told else [])
    assert found["subgroups"] == {"sex": [[{"level": "f", "n": 10}]]}


def test_what_ended_the_work_is_the_budget_or_the_longest_time_of_a_target() -> None:
    def context(left: float, parts: int) -> Any:
        clock = Clock(100.0)
        clock.parts_left, clock._end = parts, time.monotonic() + left
        return SimpleNamespace(clock=clock)

    assert _limit(context(10.0, 1)) == "The budget was 100 seconds; a larger one gets further"
    assert _limit(context(1e6, 1)).startswith("A target gets ")
    # Much time that many parts share is little for each.
    assert _limit(context(1000.0, 1000)).startswith("The budget was 100 seconds")


def test_groups_are_in_percent_or_shares() -> None:
    table = pa.table({"x": ["a"] * 12})
    flags = np.r_[np.ones(3), np.zeros(9)]
    for scale, unit in ((100.0, "percent"), (1.0, "share")):
        (row,) = group_rows(unveil.Pair(table, table.slice(0)), "x", {"m": flags}, least=10, scale=scale)
        assert (row["unit"], row["value"], row["persons"]) == (unit, scale * 0.25, 12)


def test_a_baseline_that_is_not_defined_says_why() -> None:
    people = pa.table({"k": ["a", "b"], "t": [1, 1]})
    ladder = unveil.attribute(unveil.Pair(people, people.slice(0)), "k", target="t").ladder(permutations=3)
    disco = _rung(ladder, "DiSCO", None)
    assert "DiSCO.excess: a shuffled release gets everybody right" in disco["undefined"]
    assert "DCAPd" not in disco["undefined"]
    assert disco["undefined"].public == "some baselines are not defined"
    assert disco["per_release"] == [100]
    holdout = pa.table({"k": ["a"], "t": [2]})
    people = pa.table({"k": ["a", "a", "b", "b"], "t": [1, 2, 1, 2]})
    risk = unveil.attribute(unveil.Pair(people, people.slice(0)), "k", target="t")
    found = risk.ladder(permutations=3, holdout=holdout)
    rung = _rung(found, "DCAPd", None)
    assert rung["undefined"] is None
    assert rung["excess"] == pytest.approx(found.mean["DCAPd"].excess / 100)
    assert rung["excess_low"] == pytest.approx(found.mean["DCAPd"].excess_interval[0] / 100)
    assert rung["excess_high"] == pytest.approx(found.mean["DCAPd"].excess_interval[1] / 100)


# Words --------------------------------------------------------------------------------------------------------------


def test_nearly_0_and_nearly_all_in_words() -> None:
    assert [probability(v) for v in (0.01, 0.0099, 0.00012, 0.994, 0.996, 0.99996)] == [
        "1 %", "0.99 %", "0.012 %", "99 %", "99.6 %", "99.996 %",
    ]  # fmt: skip
    assert [of_hundred(v) for v in (0.0, 0.5, 1.0)] == ["0", "50.0", "100"]


def test_what_all_candidates_say_is_said_once() -> None:
    found: Any = {
        "a": SimpleNamespace(warnings=["of both", "of a"]), "b": SimpleNamespace(warnings=["of both", "of b"]),
        "c": SimpleNamespace(warnings=["of both", "of b"]),
    }  # fmt: skip
    assert _said(["of the files"], found) == ("of the files", "of both", "a: of a", "b, c: of b")


def test_settings_are_not_tried_without_a_synthesizer_or_without_time() -> None:
    table = pa.table({"sex": ["f", "m"] * 6, "ill": ["y", "n", "n"] * 4})
    pair = unveil.Pair(table, table.slice(0, 6))
    scenario = Scenario.of(pair, Options("sex", targets="ill"))
    with pytest.raises(Skipped, match="the synthesizer was not given"):
        advice_part.settings_advice_part(Context(pair, scenario, Clock(100.0)))
    with pytest.raises(Skipped, match="the budget was used up before other settings were tried"):
        advice_part.settings_advice_part(Context(pair, scenario, Clock(0.0), synthesizer=object()))


@pytest.mark.parametrize(
    ("setting", "value", "action"),
    [
        ("m", "2", "Release 2 files instead of all."),
        ("merged levels", "of 9", "Merge the levels of ill into levels of 9 at least, before synthesis."),
        ("top coding", "the largest 5 %", "Top-code the largest 5 % of ill before synthesis."),
        ("noise", "20 % replaced", "Replace 20 % of the values of ill at random before synthesis."),
        ("minbucket", "25", "Set minbucket to 25."),
        ("cp", "0.001", "Set cp to 0.001."),
        ("mix", "0.05", "Draw values from donors of the whole column with probability 0.05 (mix)."),
    ],
)
def test_actions_in_words(setting: str, value: str, action: str) -> None:
    row: Any = SimpleNamespace(setting=setting, value=value)
    assert advice_part._action("ill", row) == action


def test_versions_of_packages_and_sizes_of_files_are_kept() -> None:
    table = pa.table({"sex": ["f", "m"] * 6, "ill": ["y", "n", "n"] * 4})
    pair = unveil.Pair(table, table.slice(0, 6))
    found = _provenance(Context(pair, Scenario.of(pair, Options("sex", targets="ill")), Clock(1.0)), [])
    assert found["packages"]["numpy"] == metadata.version("numpy")
    assert set(found["packages"]) == set(PACKAGES)
    assert [one["role"] for one in found["inputs"]] == ["original", "release"]


# Tables and files of the gate ---------------------------------------------------------------------------------------


def test_outer_bins_of_few_persons_are_cut_off() -> None:
    at = GatePosition(Rounding(300, 10), {}, "histogram", 0, {}, {})
    found = gate_rules.histogram({"edges": [0, 1, 2, 3, 4], "counts": [3, 12, 44, 2]}, at)
    assert found == {"edges": [1, 2, 3], "counts": [10, 40]}
    inside = gate_rules.histogram({"edges": [0, 1, 2, 3], "counts": [12, 3, 44]}, at)
    assert inside == {"edges": [0, 1, 2, 3], "counts": [10, None, 40]}
    for nothing in ({"edges": [0, 1, 2], "counts": [3, 0]}, None, [1, 2]):
        assert gate_rules.histogram(nothing, at) is None


def test_names_of_files_and_variables_at_the_gate() -> None:
    def at(place: int = 0, releases: int = 1, **row: Any) -> GatePosition:
        return GatePosition(
            Rounding(300, 10), row, "value", place, {"data": {"releases": [{}] * releases}}, {"s1.csv": "release 1"}
        )

    assert gate_rules.title("s1.csv", at()) == "The original and one release"
    assert gate_rules.title("s1.csv", at(releases=3)) == "The original and 3 releases"
    assert gate_rules.names_only({"sex": {"kind": "text"}, "age": 1}, at()) == ["sex", "age"]
    assert gate_rules.names_only(["sex"], at()) == []
    assert gate_rules.numbered_release("s1.csv", at(place=1)) == "release 2"
    assert gate_rules.original_or_release("s2.csv", at(place=2, role="release")) == "release 2"
    assert gate_rules.original_or_release("o.csv", at(role="original")) == "original"
    of_size = gate_rules.of_release(gate_rules.count)
    assert (of_size(123, at(role="release")), of_size(123, at(role="original")), of_size(7, at())) == (123, 120, None)
    assert gate_rules.as_it_is(["a", {"b": 1}, ["c"], 2], at()) == ["a", 2]
    assert (gate_rules.as_it_is({"b": 1}, at()), gate_rules.as_it_is("a", at())) == (None, "a")
    assert gate_rules.settings({"a": 1, "b": {"c": 2}}, at()) == {"a": 1, "b": None}
    assert gate_rules.settings([1], at()) is None
    assert at().without_names("of s1.csv, not s1.csvs") == "of release 1, not s1.csvs"


def test_figures_in_sentences_as_they_are_and_as_published() -> None:
    exact, rounded = publish.Exact(), publish.Rounded(Rounding(300, 10))
    for say, percent, share, auc, probability_, prior, count in (
        (exact, "12.6 %", "12.6 %", "0.638", "0.43 %", "0.43 %", "7"),
        (rounded, "15 %", "15 %", "0.65", "5 %", "0.4 %", "fewer than 10"),
    ):
        assert say.amount(12.6, "percent") == percent
        assert say.amount(0.126, "share") == share
        assert say.amount(0.638, "auc") == auc
        assert say.probability(0.0043) == probability_
        assert say.prior(0.0043) == prior
        assert say.count(7) == count
    assert (exact.ratio(1.26), rounded.ratio(1.26), rounded.ratio(math.nan)) == ("1.3", "1.3", "-")
    assert (exact.hundred(math.nan), exact.hundred(0.5), rounded.hundred(0.5)) == ("-", "50.0", "50")
    assert (rounded.count(0), rounded.count(18)) == ("about 0", "about 20")


# Candidates ---------------------------------------------------------------------------------------------------------


def test_a_map_in_words() -> None:
    def point(label: str, risk: float, useful: float, best: bool) -> Point:
        ends = {"DiSCO": (risk, risk - 1, 20 - risk), "repU": (0.5, math.nan, math.nan)}
        return Point(label, 2, ends, {"mean TVD": (useful, useful / 2, 2 * useful)}, best)

    points = (point("b", 9.12345, 0.1, False), point("a", 3.0, 0.2, True))
    found = RiskUtilityMap(("sex",), ("ill",), "DiSCO", "mean TVD", points, {})
    rows = [line.split() for line in str(found).splitlines()]
    best = ["a", "*", "2", "3.00", "2.00", "to", "17.00", "20.00", "10.00", "to", "40.00", "0.50"]
    other = ["b", "2", "9.12", "8.12", "to", "10.88", "10.00", "5.00", "to", "20.00", "0.50"]
    # The one of least risk stands first, wherever its interval ends.
    assert rows.index(best) + 1 == rows.index(other)
    table = found.to_frame("arrow").to_pydict()
    assert (table["label"], table["DiSCO low"], table["mean TVD high"]) == (["b", "a"], [8.12345, 2.0], [0.2, 0.4])
    assert table["pareto"] == [False, True]


def test_files_of_candidates_are_opened_once_and_the_rest_is_left(tmp_path: Any) -> None:
    path = tmp_path / "s.csv"
    path.write_text("sex\nf\n")
    table, synthesizer = pa.table({"sex": ["m"]}), object()
    found = _opened({"file": path, "name": str(path), "several": (path, table), "frame": table, "other": synthesizer})
    assert [found[name].num_rows for name in ("file", "name")] == [1, 1]
    assert found["several"][0].names == ("sex",)
    assert found["several"][1] is table
    assert (found["frame"] is table, found["other"] is synthesizer) == (True, True)


@pytest.mark.parametrize(
    ("now", "tried"), [((50, 0.1), []), ((49, 0.05), [50]), ((20, 0.0), [50, 0.05]), ((19, 1.0), [20, 50])]
)
def test_only_larger_leaves_and_more_mixing_are_tried(
    monkeypatch: pytest.MonkeyPatch, now: tuple[int, float], tried: list[float]
) -> None:
    table = pa.table({"sex": ["f", "m"] * 60, "ill": ["y", "n", "n"] * 40})
    pair = unveil.Pair(table, table.slice(0, 60))
    context = Context(
        pair,
        Scenario.of(pair, Options("sex", targets="ill")),
        Clock(100.0),
        unveil.CartSynthesizer(minbucket=now[0], mix=now[1]),
    )
    monkeypatch.setattr(advice_part, "_measured", lambda *_: {("repU", None): 0.0})
    rows = list(advice_part._other_settings(context, {("repU", None): 1.0}, []))
    assert [row["action"] for row in rows] == [
        f"Raise minbucket to {size}." if size > 1
        else f"Draw values from donors of the whole column with probability {size} (mix)."
        for size in tried
    ]  # fmt: skip
    late = Context(pair, context.scenario, Clock(0.0), context.synthesizer)
    assert list(advice_part._other_settings(late, {}, [])) == []
    assert list(advice_part._other_settings(Context(pair, context.scenario, Clock(9.0), object()), {}, [])) == []


def test_mixing_that_a_method_does_not_allow_is_said() -> None:
    table = pa.table({"sex": ["f", "m"] * 60, "ill": ["y", "n", "n"] * 40})
    pair = unveil.Pair(table, table.slice(0, 60))
    maker = unveil.CartSynthesizer(minbucket=60, methods={"ill": "polyreg"})
    context = Context(pair, Scenario.of(pair, Options("sex", targets="ill")), Clock(100.0), maker)
    cannot: list[str] = []
    assert list(advice_part._other_settings(context, {}, cannot)) == []
    assert "mix: column 'ill' is modelled by 'polyreg', which does not mix" in cannot[0]


def test_files_are_compared_with_files_made_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer files with those at hand, other settings with files drawn anew; all files together are no advice."""
    tried = {("as released", ""): (0.75, 0.5), ("drawn anew", ""): (0.7, 0.4), ("m", "1"): (0.5, 0.0),
             ("m", "2"): (0.75, 0.5), ("minbucket", "20"): (0.6, 0.1)}  # fmt: skip
    rows = tuple(AdviceRow(*one, {"fixed": mean}, 0.25, 1.0, certain) for one, (mean, certain) in tried.items())
    advised = Advice(8, 6, 0.3, rows, ("cp 0.001, as it branches",))

    def asked(pair: Any, synthesizer: Any, *, target: str, **_: Any) -> Any:
        members = SimpleNamespace(members=np.arange(40))
        return SimpleNamespace(walked=target == "ill", advice=lambda **_: advised, posteriors=lambda: members)

    monkeypatch.setattr("unveil._posterior.posterior", asked)
    scenario = SimpleNamespace(measures=("posterior",), targets=("ill", "pay"), seed=1)
    pair = SimpleNamespace(n_original=100, n_releases=2)
    context: Any = SimpleNamespace(scenario=scenario, pair=pair, synthesizer=None, clock=SimpleNamespace(left=100.0))
    cannot: list[str] = []
    found = list(advice_part._posterior_rows(context, cannot))
    effects = [[(one["measure"], one["before"], one["after"]) for one in row["effects"]] for row in found]
    assert effects == [
        [("posterior", 0.75, 0.5), ("posterior certain", 0.5, 0.0)],
        [("posterior", 0.7, 0.6), ("posterior certain", 0.4, 0.1)],
    ]
    assert [row["persons"] for row in found] == [6, 6]
    assert found[0]["because"] == "Of 40 records looked at, 8 are at risk (gain above 0.3)."
    assert cannot == [
        "posterior of ill, not worked out: cp 0.001, as it branches",
        "posterior of pay: every setting would take a fit for each record and value",
    ]


def test_what_a_scenario_does_not_say() -> None:
    table = pa.table({"sex": ["f", "m"] * 60, "pay": [float(i) for i in range(120)]})
    scenario = Scenario.of(unveil.Pair(table, table.slice(0, 60)), Options("sex", targets="pay"))
    # More than fifty amounts are cut into twenty groups.
    assert scenario.ngroups_target == {"pay": 20}
    rule = Threshold("repU", 5)
    assert (rule.least, rule.statistic, rule.target, rule.note) == (False, "value", None, "")


# What is handed on, and what is said of it --------------------------------------------------------------------------


def test_a_synthesizer_is_attacked_with_what_was_declared_of_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several attacks share the chance of an error, so that each has an interval of 1 - 0.1 / their number."""
    asked: dict[str, Any] = {}

    def attacked(original: Any, synthesizer: Any, **options: Any) -> Any:
        asked.update(options)
        raise Skipped("seen")

    monkeypatch.setattr("unveil._membership.membership_synthesizer", attacked)
    monkeypatch.setattr("unveil._posterior.choice.check_maker", lambda *_: None)
    table = pa.table({"age": [1, 2, 3, -8] * 5, "ill": ["y", "n"] * 10})
    declared: dict[str, Any] = {"kinds": {"age": "numeric"}, "special_codes": {"age": [-8]}}
    for options in (declared, {}):
        pair = unveil.Pair(table, table.slice(0, 10), **options)
        context = Context(
            pair, Scenario.of(pair, Options("age", targets="ill", level=0.9, seed=5)), Clock(100.0), object()
        )
        with pytest.raises(Skipped, match="seen"):
            membership_part(context)
        assert (asked["kinds"], asked["special_codes"]) == (pair.kinds or None, pair.special_codes or None)
        assert (asked["kinds"] is None) == (not options)
        assert asked["level"] == pytest.approx(1 - 0.1 / len(ATTACKS))
        assert asked["seed"] == 5
    for lacking, said in (
        (Context(pair, context.scenario, Clock(100.0)), "neither records that the synthesizer never saw"),
        (Context(pair, context.scenario, Clock(0.0), object()), "the budget was used up before membership"),
    ):
        with pytest.raises(Skipped) as caught:
            membership_part(lacking)
        assert said in str(caught.value)


def test_why_an_intruder_has_no_figure() -> None:
    table = pa.table({"sex": ["f", "m"] * 6, "ill": ["y", "n", "n"] * 4})
    pair = unveil.Pair(table, table.slice(0, 6))
    scenario = Scenario.of(pair, Options("sex", targets="ill"))
    without, with_it = Context(pair, scenario, Clock(1.0)), Context(pair, scenario, Clock(1.0), object())
    not_given, not_taken = "the synthesizer and its settings were not given", "no measure of this intruder was taken"
    for name, context, said in (
        (INTRUDERS[0], without, not_taken), (INTRUDERS[1], without, not_given), (INTRUDERS[2], without, not_given),
        (INTRUDERS[0], with_it, not_taken), (INTRUDERS[2], with_it, not_taken),
    ):  # fmt: skip
        found = _intruder(name, context, [{"intruder": "somebody else"}])
        assert (found["applies"], found["reason"].startswith(said)) == (False, True)
    found = _intruder(INTRUDERS[1], without, [{"intruder": INTRUDERS[1]}])
    assert (found["applies"], found["reason"]) == (True, None)


def test_gaps_and_sentences_of_a_summary() -> None:
    ends = {"utility": "done", "rapid: ill": "failed", "posterior: ill": "partial", "posterior: pay": "partial"}
    parts = [{"name": name, "status": status} for name, status in ends.items()]
    assert list(_gaps({"parts": parts})) == [
        "These parts failed: rapid: ill; the list of parts says why.",
        "These parts are not whole: posterior: ill and posterior: pay; the list of parts says why.",
    ]
    assert list(_gaps({"parts": parts[:1]})) == []
    assert [_capital(text) for text in ("guessing", "Guessing", "a")] == ["Guessing", "Guessing", "A"]
    (use,) = _use({"sentence": "exact", "sentence_public": "rounded"})
    assert (use, use.public) == ("exact", "rounded")
    assert [*_use(None), *_use({"sentence": ""})] == []
