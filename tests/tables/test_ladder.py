"""The ladder: every rung by hand or by brute force, and an excess interval that covers what it says."""

from __future__ import annotations

import json
import math
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import oracle
import unveil
from unveil._tables.compared_measure import above_null

ORIGINAL = {"k": ["a", "a", "a", "b", "b", "c", "d"], "t": [1, 1, 2, 1, 1, 2, 3]}
RELEASE = {"k": ["a", "a", "b", "c", "e"], "t": [1, 2, 1, 1, 3]}
HELD_OUT = {"k": ["a", "b", "b", "c", "f"], "t": [2, 1, 2, 1, 9]}


def ladder_of(original: Any, release: Any, keys: list[str], target: str, **options: Any) -> Any:
    asked = {name: options.pop(name) for name in ("permutations", "holdout", "level", "seed") if name in options}
    releases = release if isinstance(release, list) else [release]
    pair = unveil.Pair(pa.table(original), [pa.table(one) for one in releases])
    return unveil.attribute(pair, keys, target=target, **options).ladder(**asked)


def test_every_rung_by_hand() -> None:
    rungs = ladder_of(ORIGINAL, RELEASE, ["k"], "t", permutations=10, holdout=pa.table(HELD_OUT)).mean
    # b (1, 1 in the original) and c (2) are disclosive in the release, for level 1.
    assert rungs["DiSCO"].value == pytest.approx(100 * 2 / 7)
    assert rungs["DiSCO"].margin == pytest.approx(100 * 4 / 7)
    assert rungs["DiSCO"].ceiling == pytest.approx(100 * 4 / 7)
    assert rungs["DiSCO"].held_out == pytest.approx(100 * 2 / 5)
    # a: half for each of three persons; b: 1 for two; c, d: 0.
    assert rungs["DCAPd"].value == pytest.approx(100 * 3.5 / 7)
    assert rungs["DCAPd"].margin == pytest.approx(100 * (16 + 4 + 1) / 49)
    # Without the own record: a 1/2, 1/2 and 0; b 1 and 1; c and d have nobody else.
    assert rungs["DCAPd"].ceiling == pytest.approx(100 * 3 / 7)
    assert rungs["DCAPd"].held_out == pytest.approx(100 * 2.5 / 5)
    assert rungs["repU"].value == pytest.approx(100 * 1 / 7)
    assert rungs["repU"].ceiling == pytest.approx(100 * 2 / 7)
    assert math.isnan(rungs["repU"].null_mean)
    assert math.isnan(rungs["repU"].held_out)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"not_target_levels": [1]},
        {"use_target_na": False, "use_keys_na": False},
        {"exclude_pairs": [("k", "a", 1)]},
        {"denom_limit": 1, "exclude_over_denom_limit": True},
    ],
    ids=["all", "not_target_levels", "gaps", "exclude_pairs", "denom_limit"],
)
@pytest.mark.parametrize("many", [0, 2_000_000], ids=["counts", "records"])
def test_null_is_that_of_all_shuffles(many: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether records are shuffled, or as many counts are drawn as their shuffle would give."""
    monkeypatch.setattr("unveil._tables.shuffled._has_places", lambda inside, n, levels: n > many)
    original = {"k": ["a", "a", "a", "b", "b", "c", None], "t": [1, 1, 2, 1, None, 2, 1]}
    keys, levels = ["a", "a", "b", "b", None, "e"], [1, 1, 2, 1, None, 2]
    exact: dict[str, list[float]] = {"DiSCO": [], "DCAPd": []}
    rules = oracle.Options(**options)
    for shuffled in permutations(levels):
        found = oracle.attribute(original, {"k": keys, "t": list(shuffled)}, ["k"], "t", rules)
        for name, values in exact.items():
            values.append(found.measures[name])
    rungs = ladder_of(original, {"k": keys, "t": levels}, ["k"], "t", permutations=2000, **options).mean
    for name, values in exact.items():
        error = np.std(values) / math.sqrt(2000)
        assert rungs[name].null_mean == pytest.approx(np.mean(values), abs=5 * error + 1e-9), name
        reached = np.mean(np.array(values) >= rungs[name].value - 1e-9)
        assert rungs[name].p_value == pytest.approx(reached, abs=5 * 0.5 / math.sqrt(2000)), name


@pytest.mark.parametrize(
    "options",
    [{}, {"not_target_levels": [1]}, {"use_keys_na": False}, {"exclude_pairs": [("k", "b", 1)]}],
    ids=["all", "not_target_levels", "gaps", "exclude_pairs"],
)
def test_held_out_records_take_the_place_of_the_original(options: dict[str, Any]) -> None:
    held_out = {"k": ["a", "b", None, "b", "z"], "t": [1, 1, 2, None, 5]}
    release = {"k": ["a", "b", "b", None, "c"], "t": [1, 1, 1, 2, 1]}
    rungs = ladder_of(ORIGINAL, release, ["k"], "t", permutations=0, holdout=pa.table(held_out), **options).mean
    found = oracle.attribute(held_out, release, ["k"], "t", oracle.Options(**options))
    for name in ("DiSCO", "DCAPd"):
        assert rungs[name].held_out == pytest.approx(found.measures[name]), name


def test_held_out_records_move_no_break() -> None:
    rng = np.random.default_rng(1)
    original, release = (pa.table({"k": rng.normal(size=n).round(1), "t": rng.integers(0, 3, n)}) for n in (60, 50))
    far = pa.table({"k": (rng.normal(size=40) * 10).round(1), "t": rng.integers(0, 3, 40)})
    risk = unveil.attribute(unveil.Pair(original, release), "k", target="t", ngroups_keys=5)
    with_holdout, without = risk.ladder(holdout=far, permutations=9), risk.ladder(permutations=9)
    assert with_holdout.mean["DCAPd"].value == without.mean["DCAPd"].value == risk.DCAPd
    assert with_holdout.mean["DCAPd"].null_mean == without.mean["DCAPd"].null_mean
    breaks = risk.grouping["k"]["breaks"]
    group = {
        i: np.clip(np.searchsorted(breaks, f["k"].to_numpy(), "right") - 1, 0, 4) for i, f in enumerate((release, far))
    }
    by_hand = np.mean(
        [
            np.mean(release["t"].to_numpy()[group[0] == g] == t)
            for g, t in zip(group[1], far["t"].to_pylist(), strict=True)
        ]
    )
    assert with_holdout.mean["DCAPd"].held_out == pytest.approx(100 * by_hand)


def test_records_of_the_original_are_no_holdout() -> None:
    people = unveil.simulate.demo_population(400, seed=1)
    fresh = unveil.simulate.demo_population(200, seed=2)
    risk = unveil.attribute(unveil.Pair(people, people.slice(0, 300)), ["sex", "age"], target="marital")
    with pytest.raises(unveil.DataError, match=r"not held out; .*measures nothing"):
        risk.ladder(holdout=people.slice(300))
    with pytest.raises(unveil.DataError, match="given as held-out records too"):
        risk.ladder(holdout=risk._source.study.pair.original)
    assert risk.ladder(holdout=fresh, permutations=0).n_held_out == 200


def test_several_releases_and_what_is_kept() -> None:
    other = {"k": ["a", "b", "c", "c"], "t": [2, 1, 2, 2]}
    result = ladder_of(ORIGINAL, [RELEASE, other], ["k"], "t", permutations=30, seed=3)
    for name in ("DiSCO", "DCAPd", "repU"):
        assert result.mean[name].value == pytest.approx(np.mean([r[name].value for r in result.releases]))
    assert result.mean["DCAPd"].null_mean == pytest.approx(np.mean([r["DCAPd"].null_mean for r in result.releases]))
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["mean"]["DiSCO"]["interval"] == list(result.mean["DiSCO"].interval)
    rows = pa.table(result.to_frame()).to_pylist()
    assert [row["release"] for row in rows[::3]] == ["release 1", "release 2", "mean"]
    text = str(result)
    assert "mean of the releases" in text
    assert "does NOT show" in text


def test_order_of_records_does_not_matter() -> None:
    turned = [{name: values[::-1] for name, values in data.items()} for data in (ORIGINAL, RELEASE)]
    first, second = (ladder_of(*files, ["k"], "t", permutations=50, seed=5) for files in ((ORIGINAL, RELEASE), turned))
    assert str(first) == str(second)
    assert first.to_dict()["mean"]["DiSCO"] == second.to_dict()["mean"]["DiSCO"]


def test_what_is_not_defined_says_why() -> None:
    constant = {"k": ["a", "b"], "t": [1, 1]}
    result = ladder_of(constant, constant, ["k"], "t", permutations=5)
    assert math.isnan(result.mean["DiSCO"].excess)
    assert result.undefined["DiSCO.excess"] == "a shuffled release gets everybody right"
    assert "DiSCO.excess is not defined" in str(result)
    apart = ladder_of({"k": ["a", "b"], "t": [1, 2]}, {"k": ["b"], "t": [1]}, ["k"], "t", permutations=5)
    assert apart.mean["DiSCO"].value == apart.mean["DiSCO"].excess == 0
    assert apart.mean["DiSCO"].p_value == 1


def test_the_ceiling_of_identity_follows_the_rule_for_gaps() -> None:
    """Of a, b, None, None alone in their keys: three with all, two without the gap of k."""
    people = {"k": ["a", "b", None, "c", "c"], "t": [1, 2, 1, 2, 1]}
    for used, unique in ((True, 3), (False, 2)):
        rungs = ladder_of(people, people, ["k"], "t", permutations=0, use_keys_na=used).mean
        assert rungs["repU"].ceiling == pytest.approx(100 * unique / 5)
        assert rungs["repU"].value == pytest.approx(100 * unique / 5)


def test_every_target_has_its_ladder() -> None:
    people = pa.table({"k": ["a", "a", "b", "b"], "t": [1, 1, 2, 1], "u": [1, 2, 2, 2]})
    risks = unveil.attribute(unveil.Pair(people, people.slice(0)), "k", targets=["t", "u"])
    found = risks.ladders(permutations=5, level=0.8, seed=7)
    assert [one.target for one in found] == ["t", "u"]
    assert [(one.permutations, one.level, one.seed) for one in found] == [(5, 0.8, 7)] * 2
    assert [str(one) for one in found] == [str(risk.ladder(permutations=5, level=0.8, seed=7)) for risk in risks]
    plain = risks.ladders(holdout=pa.table({"k": ["a"], "t": [5], "u": [5]}))
    assert [(one.permutations, one.level, one.seed, one.n_held_out) for one in plain] == [(199, 0.95, 0, 1)] * 2


def test_held_out_amounts_fall_into_the_groups_of_the_target() -> None:
    """Three equal groups of 1 to 9; of the held-out 2, 5 and 90 the release names the groups of the first two."""
    people = {"k": list("aaabbbccc"), "pay": [float(i) for i in range(1, 10)]}
    held_out = pa.table({"k": ["a", "b", "a"], "pay": [2.0, 5.0, 90.0]})
    pair = unveil.Pair(pa.table(people), pa.table(people).slice(0))
    risk = unveil.attribute(pair, "k", target="pay", ngroups_target=3)
    assert list(risk.grouping) == ["pay"]
    assert "Measured with pay in 3 groups" in " ".join(str(risk).split())
    rung = risk.ladder(permutations=0, holdout=held_out).mean["DiSCO"]
    assert (rung.value, rung.held_out) == (pytest.approx(100), pytest.approx(100 * 2 / 3))


def test_what_was_not_asked_for_says_so() -> None:
    alone = ladder_of(ORIGINAL, RELEASE, ["k"], "t", permutations=0)
    beside = ladder_of(ORIGINAL, RELEASE, ["k"], "t", permutations=1, holdout=pa.table(HELD_OUT))
    for name in ("DiSCO", "DCAPd"):
        for figure in ("null_mean", "null_95", "p_value", "excess", "excess_interval"):
            assert alone.undefined[f"{name}.{figure}"] == "no shuffles were asked for"
            assert f"{name}.{figure}" not in beside.undefined
        assert "held" in alone.undefined[f"{name}.held_out"]
        assert f"{name}.held_out" not in beside.undefined
    # Keys alone: no target to guess or shuffle, and whoever is held out cannot be replicated.
    for found in (alone, beside):
        for figure in ("margin", "null_mean", "null_95", "p_value", "excess", "excess_interval", "held_out"):
            assert f"repU.{figure}" in found.undefined
    assert (alone.n_held_out, beside.n_held_out) == (None, 5)


@pytest.mark.parametrize("wrong", [{"permutations": -1}, {"permutations": 1.5}, {"level": 1.0}, {"seed": True}])
def test_wrong_calls(wrong: dict[str, Any]) -> None:
    with pytest.raises(unveil.CallError):
        ladder_of(ORIGINAL, RELEASE, ["k"], "t", **wrong)


def test_excess_by_hand() -> None:
    found = above_null(50.0, np.array([10.0, 20.0, 30.0]), (49.0, 52.0), 0.5)
    assert found["null_mean"] == 20
    assert found["p_value"] == 1 / 4
    assert found["excess"] == pytest.approx(100 * 30 / 80)
    # Distances from the mean: 0, 10, 10; of 4 draws 2 are within h, of 3 shuffles that is 2/3. In the mid-distribution
    # 0 stands at 1/6 and 10 at 2/3; each is taken from the mean of the two others: h = 10 * 3/2.
    assert found["excess_interval"] == pytest.approx((100 * (35 - 20) / 80, 100 * (65 - 20) / 80))
    # the release interval is wider
    wide = above_null(50.0, np.array([10.0, 20.0, 30.0]), (24.0, 76.0), 0.5)
    assert wide["excess_interval"] == pytest.approx((100 * (24 - 20) / 80, 100 * (76 - 20) / 80))


def test_a_release_that_tells_stands_above_the_null() -> None:
    rng = np.random.default_rng(1)
    keys = rng.integers(0, 40, 600)
    people = {"k": keys, "t": keys % 5}
    rungs = ladder_of(people, {name: values[:300] for name, values in people.items()}, ["k"], "t").mean
    for name in ("DiSCO", "DCAPd"):
        assert rungs[name].p_value == 1 / 200
        assert rungs[name].excess_interval[0] > 50


@pytest.mark.slow
def test_excess_interval_covers_zero_where_the_target_is_independent() -> None:
    """Of 400 releases with an independent target 93 to 97 percent; the standard error of the share is 1.1.

    Of a value and its 79 shuffles, 80 that are exchangeable, 4 lie outside: exactly 5 percent, as with 199.
    """
    n, covered = 300, {"DiSCO": 0, "DCAPd": 0}
    for i in range(400):
        rng = np.random.default_rng([2011, i])
        keys = rng.integers(0, 12, (2, 2, n))
        target = (keys[0, 0] + rng.integers(0, 3, n)) % 6
        original = {"a": keys[0, 0], "b": keys[0, 1], "t": target}
        release = {"a": keys[1, 0], "b": keys[1, 1], "t": rng.choice(target, n)}
        rungs = ladder_of(original, release, ["a", "b"], "t", permutations=79, seed=i).mean
        for name in covered:
            low, high = rungs[name].excess_interval
            covered[name] += low <= 0 <= high
    for name, times in covered.items():
        assert 0.93 * 400 <= times <= 0.97 * 400, (name, times)


def test_plot_has_a_row_per_measure() -> None:
    pytest.importorskip("matplotlib")
    axes = ladder_of(ORIGINAL, RELEASE, ["k"], "t", permutations=10, holdout=pa.table(HELD_OUT)).plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["repU", "DCAPd", "DiSCO"]
    assert {"margin", "held out", "original itself", "release"} <= set(axes.get_legend_handles_labels()[1])
