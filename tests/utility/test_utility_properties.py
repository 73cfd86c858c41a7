"""What holds whatever the data: bounds, invariance, and something sensible for hard inputs."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import assert_same
from unveil._utility import cell_figures

COUNTS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=12)


@given(COUNTS)
def test_bounds_of_cells(table: list[tuple[int, int]]) -> None:
    d, s = (list(side) for side in zip(*table, strict=True))
    found = cell_figures(d, s)
    if not sum(d) or not sum(s):
        assert all(math.isnan(value) for value in found.values())
        return
    c = sum(s) / (sum(d) + sum(s))
    assert 0 <= found["TVD"] <= 1 + 1e-12
    assert 0 <= found["pMSE"] <= c * (1 - c) + 1e-12
    assert found["VW"] >= 0
    assert found["FT"] >= 0


@given(COUNTS, st.randoms(use_true_random=False))
def test_order_of_levels_does_not_matter(table: list[tuple[int, int]], random: Any) -> None:
    d, s = (list(side) for side in zip(*table, strict=True))
    place = list(range(len(d)))
    random.shuffle(place)
    assert_same(cell_figures([d[i] for i in place], [s[i] for i in place]), cell_figures(d, s))


def mixed(n: int, seed: int) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    return {
        "a": rng.choice(list("xyz"), n).tolist(),
        "b": [None if gap else float(v) for v, gap in zip(rng.integers(50, size=n), rng.random(n) < 0.1, strict=True)],
        "c": rng.standard_normal(n).round(2).tolist(),
    }


@settings(max_examples=5)
@given(st.integers(0, 1000))
def test_order_of_records_does_not_matter(seed: int) -> None:
    original, release = pa.table(mixed(80, 1)), pa.table(mixed(60, 2))
    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {"models": ["c ~ a + b"], "minbucket": 5, "permutations": 3}
    first = unveil.utility(unveil.Pair(original, release), **options)
    turned = [t.take(pa.array(rng.permutation(t.num_rows))) for t in (original, release)]
    second = unveil.utility(unveil.Pair(*turned), **options)
    assert_same(second.to_dict(), first.to_dict(), tolerance=1e-7)


def test_names_of_levels_do_not_matter() -> None:
    original, release = mixed(80, 1), mixed(60, 2)
    names = {"x": "r", "y": "p", "z": "q"}
    renamed = [{**t, "a": [names[v] for v in t["a"]]} for t in (original, release)]
    found = [
        unveil.utility(
            unveil.Pair(pa.table(a), pa.table(b)), measures=["propensity", "marginals", "pairs"], propensity="logistic"
        )
        for a, b in ((original, release), renamed)
    ]
    assert_same(found[1].to_dict(), found[0].to_dict(), tolerance=1e-7)


def test_same_seed_same_result_and_another_seed_another_null() -> None:
    pair = unveil.Pair(pa.table(mixed(80, 1)), pa.table(mixed(60, 2)))
    options: dict[str, Any] = {"measures": ["propensity", "prediction"], "propensity": "cart", "minbucket": 5}
    first, again, other = (unveil.utility(pair, seed=seed, **options) for seed in (1, 1, 2))
    assert first == again
    assert first.propensity[0].releases[0]["expected"] != other.propensity[0].releases[0]["expected"]
    assert first.propensity[0].releases[0]["pMSE"] == other.propensity[0].releases[0]["pMSE"]
    assert unveil.utility(pair, seed=1, n_jobs=1, **options) == first


# --------------------------------------------------------------------------------------------------- hard inputs
apart = pytest.mark.filterwarnings("ignore:.*nothing can match:unveil.UnveilWarning")
"""Files that share no value of a column are warned of where they are opened."""


def of(original: dict[str, Any], release: dict[str, Any], **options: Any) -> unveil.Utility:
    found = unveil.utility(unveil.Pair(pa.table(original), pa.table(release)), **options)
    assert str(found)
    for table in ("summary", "propensity", "variables", "pairs", "models", "prediction"):
        found.to_frame(table)
    return found


def test_constant_and_empty_columns() -> None:
    gaps = pa.array([None] * 60, pa.float64())
    original = mixed(60, 1) | {"one": ["k"] * 60, "none": gaps, "same": [3.5] * 60}
    found = of(original, mixed(60, 2) | {"one": ["k"] * 60, "none": gaps, "same": [3.5] * 60}, minbucket=5)
    by_name = {c.subject["variable"]: c for c in found.variables}
    for name in ("one", "none", "same"):
        assert by_name[name].mean["TVD"] == 0
        assert math.isnan(by_name[name].mean["S_pMSE"])
        assert by_name[name].undefined["S_pMSE"] == "the variable has a single cell"
    assert math.isnan(by_name["same"].mean["wasserstein"])
    assert by_name["same"].undefined["wasserstein"] == "the original has a single amount"
    pair = next(c for c in found.pairs if c.subject == {"first": "one", "second": "none"})
    assert math.isnan(pair.mean["V_original"])
    one = next(c for c in found.prediction if c.subject["target"] == "one")
    assert one.undefined["TSTR"] == "the original has a single value"


def test_nothing_but_a_constant() -> None:
    found = of({"x": ["k"] * 20}, {"x": ["k"] * 20})
    assert found.mean["pMSE_logistic"] == pytest.approx(0)
    assert math.isnan(found.mean["S_pMSE_logistic"])
    assert math.isnan(found.mean["S_pMSE_cart"])
    assert "nothing to learn" in found.propensity[0].undefined["S_pMSE"]
    assert found.pairs == found.prediction == ()


@apart
def test_disjoint_levels() -> None:
    n = 100
    found = of({"x": ["a", "b"] * n, "y": list(range(2 * n))}, {"x": ["c", "d"] * n, "y": list(range(2 * n))})
    assert found.variables[0].mean["TVD"] == 1
    assert found.mean["SPECKS_logistic"] == 1
    assert found.mean["SPECKS_cart"] == 1
    assert found.mean["pMSE_cart"] == pytest.approx(0.25)
    assert found.mean["pMSE_logistic"] == pytest.approx(0.25, abs=1e-4)
    assert found.mean["S_pMSE_cart"] > 2


def test_five_records() -> None:
    original, release = {"x": list("aabbc"), "y": [1.0, 2, 3, 4, 5]}, {"x": list("abbcc"), "y": [2.0, 2, 3, 3, 9]}
    found = of(original, release, models=["y ~ x"])
    assert found.variables[0].mean["TVD"] == pytest.approx(0.2)
    assert {c.undefined["TSTR"] for c in found.prediction} == {"5 records with a target are too few for 5 folds"}


@apart
def test_five_hundred_levels() -> None:
    rng = np.random.default_rng(1)
    tables = [{"place": [f"p{i}" for i in rng.integers(500, size=1500)], "x": rng.random(1500)} for _ in range(2)]
    found = of(*tables, measures=["propensity", "marginals", "pairs"])
    assert found.propensity[0].mean["parameters"] == 101
    assert found.variables[0].mean["S_pMSE"] == pytest.approx(2, abs=0.5)


@apart
def test_infinite_huge_and_dated_values() -> None:
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(40)]
    original = {"x": [math.inf, *range(39)], "big": [i * 1e300 for i in range(40)], "day": days}
    release = {"x": [-math.inf, *range(39)], "big": [i * 1e300 for i in range(40)], "day": days[::-1]}
    found = of(original, release, minbucket=5, models=["big ~ x + day"])
    x, big, day = found.variables
    assert x.mean["TVD"] == pytest.approx(1 / 40)
    assert x.mean["KS"] == 0
    assert big.mean["wasserstein"] == 0
    assert day.mean["KS"] == 0
    assert day.mean["sd_ratio"] == 1


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_an_empty_release() -> None:
    found = of(
        {"x": list("aab") * 10, "y": list("pqr") * 10}, {"x": pa.array([], pa.string()), "y": pa.array([], pa.string())}
    )
    assert math.isnan(found.variables[0].mean["TVD"])
    assert found.variables[0].undefined["TVD"] == "a release has no records"
    assert found.propensity[0].undefined["pMSE"] == "a release has no records"


# --------------------------------------------------------------------------------------------- models, hard inputs
def terms(found: unveil.Utility) -> dict[str, Any]:
    return {c.subject["term"]: c for c in found.models}


def test_separation_is_told() -> None:
    n = 40
    original = {"y": ["no", "yes"] * n, "x": [0.0, 1.0] * n, "z": list(range(2 * n))}
    found = terms(
        of(original, original | {"x": [0.0, 0.0, 1.0, 1.0] * (n // 2)}, measures="models", models="y ~ x + z")
    )
    assert math.isnan(found["x"].mean["estimate_original"])
    assert found["x"].undefined["overlap"] == "the original: separated, its estimate has no bound"
    assert math.isfinite(found["z"].releases[0]["estimate"])


@pytest.mark.parametrize("sizes", [(60, 60), (60, 7), (22, 7), (7, 60)])
def test_levels_without_events_take_all_that_is_told_against_them(sizes: tuple[int, int]) -> None:
    # the reference and level b have no event: constant and c have no bound, and nothing is known of b against a
    rng = np.random.default_rng(6)
    n = sum(sizes)
    x = ["a"] * sizes[0] + ["b"] * sizes[1] + ["c"] * 200
    data = {"x": x, "y": ["no"] * n + rng.choice(["no", "yes"], 200).tolist(), "z": rng.standard_normal(n + 200)}
    found = terms(of(data, data, measures="models", models="y ~ x + z"))
    for term in ("(intercept)", "x: b", "x: c"):
        assert math.isnan(found[term].mean["estimate_original"]), term
        assert "separated" in found[term].undefined["overlap"]
    assert found["z"].mean["overlap"] == pytest.approx(1)


def test_a_bounded_level_beside_a_level_without_events() -> None:
    rng = np.random.default_rng(6)
    data = {"x": ["a"] * 100 + ["b"] * 100 + ["c"] * 20, "y": rng.choice(["no", "yes"], 200).tolist() + ["no"] * 20}
    found = terms(of(data, data, measures="models", models="y ~ x"))
    a, b = (sum(v == "yes" for v in data["y"][start : start + 100]) / 100 for start in (0, 100))
    assert found["(intercept)"].mean["estimate"] == pytest.approx(math.log(a / (1 - a)))
    assert found["x: b"].mean["estimate"] == pytest.approx(math.log(b / (1 - b)) - math.log(a / (1 - a)))
    assert math.isnan(found["x: c"].mean["estimate"])


@apart
def test_levels_that_a_release_lacks_are_told() -> None:
    rng = np.random.default_rng(4)
    original = {"y": rng.random(60), "x": ["a", "b", "c"] * 20}
    found = terms(of(original, {"y": rng.random(60), "x": ["a", "b"] * 30}, measures="models", models="y ~ x"))
    assert math.isfinite(found["x: b"].mean["overlap"])
    assert math.isnan(found["x: c"].mean["estimate"])
    assert "not estimable" in found["x: c"].undefined["estimate"]


@apart
def test_collinear_predictors_are_told_and_leave_the_others() -> None:
    rng = np.random.default_rng(4)
    x = rng.random(60)
    data = {"y": rng.random(60), "x": x, "twice": 2 * x, "z": rng.random(60)}
    found = terms(of(data, data | {"y": rng.random(60)}, measures="models", models="y ~ x + twice + z"))
    alone = terms(of(data, data | {"y": rng.random(60)}, measures="models", models="y ~ x + z"))
    assert math.isnan(found["x"].mean["estimate_original"])
    assert math.isnan(found["(intercept)"].mean["estimate_original"])
    assert found["z"].mean["estimate_original"] == pytest.approx(alone["z"].mean["estimate_original"])
    assert found["z"].mean["se_original"] == pytest.approx(alone["z"].mean["se_original"])


def test_a_perfect_fit_has_no_interval() -> None:
    data = {"y": [2.0 * i + 1 for i in range(20)], "x": [float(i) for i in range(20)]}
    found = terms(of(data, data | {"x": [float(i) for i in range(20)]}, measures="models", models="y ~ x"))
    assert found["x"].mean["estimate"] == pytest.approx(2)
    assert math.isnan(found["x"].mean["overlap"])
    assert "perfect" in found["x"].undefined["overlap"]


# ------------------------------------------------------------------------------------------------------ wrong calls
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["agge"]}, "no column 'agge'"),
        ({"columns": []}, "at least one column"),
        ({"columns": ["a", "a"]}, "named twice"),
        ({"measures": "pair"}, "measures must be .* not 'pair'"),
        ({"propensity": ["tree"]}, "propensity must be .* not 'tree'"),
        ({"null": "pairs"}, "at least two"),
        ({"null": "bootstrap"}, "null must be"),
        ({"permutations": 1}, "permutations must be a whole number from 2"),
        ({"minbucket": 0}, "minbucket"),
        ({"ngroups": 1.5}, "ngroups"),
        ({"level": 95}, "level must lie between 0 and 1"),
        ({"targets": "d"}, "target 'd' is not among"),
        ({"learner": "forrest"}, "unknown attacker 'forrest'"),
        ({"models": "c = a"}, "write outcome ~ predictor"),
        ({"models": "c ~ d"}, "no column 'd'"),
        ({"models": "c ~ c"}, "named twice"),
        ({"models": "c ~ "}, "no column ''"),
        ({"models": "ridge: c ~ a"}, "kind must be .* not 'ridge'"),
        ({"models": "a ~ c"}, "two levels, 'a' has 3"),
        ({"models": "linear: a ~ c"}, "has no amounts"),
        ({"models": [{"outcome": "c"}]}, "outcome, predictors and kind"),
        ({"models": [7]}, "a formula or a mapping, not int"),
        ({"models": ["c ~ a", "c ~ a"]}, "given twice"),
    ],
)
def test_wrong_calls(options: dict[str, Any], message: str) -> None:
    pair = unveil.Pair(pa.table(mixed(30, 1)), pa.table(mixed(30, 2)))
    with pytest.raises(unveil.CallError, match=message):
        unveil.utility(pair, **options)


def test_a_model_without_complete_records() -> None:
    table = pa.table({"y": [1.0, 2.0, None, None], "x": [None, None, 1.0, 2.0]})
    with pytest.raises(unveil.DataError, match="no record in which all"):
        unveil.utility(unveil.Pair(table, table.slice(0, 3)), measures="models", models="y ~ x")
