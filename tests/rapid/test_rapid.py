"""Scores by hand, the properties of RAPID, and awkward inputs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil._rapid import (
    categorical_score,
    clopper_pearson,
    normalised_gain,
    prediction_error,
    rapid,
    rapid_synthesizer_cv,
    true_class_probability,
    wilson,
)
from unveil._rapid.attribution import flag_regression
from unveil.stats import excess

PLAIN: Mapping[str, Any] = {"permutations": 0, "ceiling": False}
KEYS = ["gender", "age", "education", "income", "health_score"]


def people(n: int = 400, kappa: float = 10, seed: int = 1) -> pa.Table:
    return unveil.simulate.rapid_population(n, kappa=kappa, seed=seed)


def shuffled(table: pa.Table, seed: int = 0) -> pa.Table:
    return table.take(pa.array(np.random.default_rng(seed).permutation(table.num_rows)))


# ----------------------------------------------------------------------------------------- by hand
def test_toy_example_of_a_categorical_target() -> None:
    r = normalised_gain([0.70, 0.85, 0.55], 0.6)
    assert r == pytest.approx([0.25, 0.625, -0.125], abs=1e-15)
    assert (r > 0.3).tolist() == [False, True, False]


def test_toy_example_of_a_continuous_target() -> None:
    e = prediction_error([50000, 35000, 80000], [47000, 39000, 90000])
    assert e == pytest.approx([0.06, 4 / 35, 0.125], rel=1e-6)
    assert (e < 0.10).mean() == pytest.approx(1 / 3)


def test_columns_of_probabilities_are_matched_by_label() -> None:
    y, classes = ["A"] * 2 + ["B"] * 3 + ["C"] * 5, ["C", "A"]
    matrix = [[0.6, 0.4], [0.1, 0.9], [1, 0], [0.5, 0.5], [0.2, 0.8], [0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.66, 0.34],
              [0.3, 0.7]]  # fmt: skip
    g = true_class_probability(matrix, classes, y)
    codes = np.array(["ABC".index(label) for label in y])
    r = categorical_score(g, codes, 3)
    assert r == pytest.approx([0.25, 0.875, -3 / 7, -3 / 7, -3 / 7, 0.8, 0, 0.2, 0.32, -0.4])
    assert (r > 0.3).tolist() == [False, True, False, False, False, True, False, False, True, False]


def test_the_baseline_is_that_of_the_original() -> None:
    r = categorical_score(np.full(10, 0.5), np.array([0] + [1] * 9), 2)
    assert r == pytest.approx([4 / 9] + [-4.0] * 9)
    original = pa.table({"k": ["a"] * 10, "t": ["yes"] + ["no"] * 9})
    release = pa.table({"k": ["a"] * 10, "t": ["yes"] * 5 + ["no"] * 5})
    result = rapid(unveil.Pair(original, release), "k", target="t", attacker="cart", **PLAIN)
    assert result.rate == pytest.approx(0.1)
    assert result.baseline == pytest.approx({"no": 0.9, "yes": 0.1})


def test_errors_of_negative_and_zero_values() -> None:
    y, predicted = [-100.0, -100.0, 0.0, 0.0, 50.0, -2.0], [-97.0, -10.0, 0.0004, 0.02, 53.0, -1.95]
    e = prediction_error(y, predicted, delta=0.01)
    assert e == pytest.approx([3 / 100.01, 90 / 100.01, 0.04, 2.0, 3 / 50.01, 0.05 / 2.01])
    assert (e < 0.05).tolist() == [True, False, True, False, False, True]


def test_metrics_by_hand() -> None:
    y, predicted = [0.0, 4.0], [1.0, 2.0]
    assert prediction_error(y, predicted, "absolute") == pytest.approx([1, 2])
    assert prediction_error(y, predicted, "range") == pytest.approx([0.25, 0.5])
    assert prediction_error(y, predicted, "sd") == pytest.approx(np.array([1, 2]) / math.sqrt(8))
    assert prediction_error(y, predicted, "symmetric") == pytest.approx([2 / 1.02, 4 / 6.02])


def test_scorings_by_hand() -> None:
    g, truth = np.array([0.8, 0.4, 0.0]), np.array([0, 0, 1])
    assert categorical_score(g, truth, 2, "conditional") == pytest.approx([4 / 3, 2 / 3, 0])
    assert categorical_score(g, truth, 4, "nce")[0] == pytest.approx(1 + math.log(0.8) / math.log(4))
    assert categorical_score(g, truth, 4, "nce")[2] == pytest.approx(1 + math.log(1e-10) / math.log(4))


def test_intervals_by_hand() -> None:
    # Newcombe 1998, table I: 81 of 263 and 0 of 20
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert clopper_pearson(81, 263) == pytest.approx((0.2527, 0.3676), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0, 0.1611), abs=5e-5)
    assert clopper_pearson(0, 20) == pytest.approx((0, 0.1684), abs=5e-5)


def test_excess() -> None:
    assert excess(0.7, 0.4) == pytest.approx(0.5)
    assert math.isnan(excess(1.0, 1.0))


def test_regression_of_the_flag_is_the_maximum_of_the_likelihood() -> None:
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(500), rng.normal(size=(500, 2))])
    flag = rng.random(500) < 1 / (1 + np.exp(-(x @ [0.2, 1.0, -0.5])))
    beta, error, separated = flag_regression(x, flag)
    gradient = x.T @ (flag - 1 / (1 + np.exp(-x @ beta)))
    assert np.abs(gradient).max() < 1e-3
    assert not separated
    assert (np.abs(beta - [0.2, 1.0, -0.5]) < 3.5 * error).all()
    _, _, separated = flag_regression(
        np.column_stack([np.ones(40), np.repeat([0.0, 1.0], 20)]), np.repeat([0, 1], 20) > 0
    )
    assert separated


def test_persons_who_are_alike_are_one_row_of_the_regression() -> None:
    rng = np.random.default_rng(3)
    x = np.column_stack([np.ones(5), rng.normal(size=(5, 2))])
    row = rng.integers(0, 5, 200)
    flag = rng.random(200) < 0.2 + 0.1 * row
    beta, error, _ = flag_regression(x[row], flag)
    persons = np.bincount(row)
    together, error_together, _ = flag_regression(x, np.bincount(row, weights=flag) / persons, persons)
    assert together == pytest.approx(beta, abs=1e-9)
    assert error_together == pytest.approx(error, abs=1e-9)


# -------------------------------------------------------------------------------------- properties
@given(st.lists(st.integers(0, 1000).map(lambda i: i / 1000), min_size=2, max_size=40))
@settings(max_examples=30)
def test_curves_are_monotone(g: list[float]) -> None:
    from unveil._rapid.threshold import Distribution, RiskThreshold

    grid = tuple(np.linspace(0, 1, 11).tolist())
    scores = Distribution.of(np.array(g))
    above, below = (scores.rates(grid, RiskThreshold("", 0.5, above)) for above in (True, False))
    assert (np.diff(above) <= 0).all()
    assert (np.diff(below) >= 0).all()
    for t, a, b in zip(grid, above, below, strict=True):
        assert a == pytest.approx(np.mean(np.round(np.array(g), 3) > round(t, 3)))
        assert b == pytest.approx(np.mean(np.round(np.array(g), 3) < round(t, 3)))


@pytest.mark.parametrize("attacker", ["rf", "cart", "gbm", "logit", "logit_l1"])
def test_order_of_records_does_not_matter(attacker: str) -> None:
    original, release = people(200), people(200, seed=2)
    options = {"target": "disease_status", "attacker": attacker, "permutations": 1}
    one = rapid(unveil.Pair(original, release), KEYS, **options)
    two = rapid(unveil.Pair(original, shuffled(release)), KEYS, **options)
    three = rapid(unveil.Pair(shuffled(original), release), KEYS, **options)
    for other in (two, three):
        assert other.attacks == one.attacks


def test_threads_do_not_matter() -> None:
    pair = unveil.Pair(people(200), people(200, seed=2))
    keys = ["age", "education", "gender"]
    rates = [rapid(pair, keys, target="income", n_jobs=n, **PLAIN).records().to_pydict()["e"] for n in (1, 3)]
    assert rates[0] == rates[1]


@pytest.mark.parametrize("attacker", ["cart", "logit_l1"])
def test_names_of_levels_and_classes_do_not_matter(attacker: str) -> None:
    rng = np.random.default_rng(3)

    def renamed(table: pa.Table, keys: Mapping[str, str], classes: Mapping[str, str]) -> pa.Table:
        return pa.table({"k": [keys[v] for v in table["k"].to_pylist()], "x": table["x"],
                         "t": [classes[v] for v in table["t"].to_pylist()]})  # fmt: skip

    def drawn() -> pa.Table:
        k, x = rng.integers(0, 3, 300), rng.normal(size=300)
        t = (k + (x > 0.3) + (rng.random(300) < 0.2)) % 3
        return pa.table({"k": np.array(list("abc"))[k], "x": x, "t": np.array(list("uvw"))[t]})

    original, release = drawn(), drawn()
    names: tuple[dict[str, str], dict[str, str]] = ({"a": "z", "b": "m", "c": "b"}, {"u": "q", "v": "d", "w": "g"})
    rates = []
    for change in (lambda f: f, lambda f: renamed(f, *names)):
        result = rapid(
            unveil.Pair(change(original), change(release)), ["k", "x"], target="t", attacker=attacker, **PLAIN
        )
        rates.append(result.rate)
    assert rates[0] == rates[1]


@pytest.mark.parametrize(
    ("target", "attacker"), [("disease_status", "rf"), ("income", "cart"), ("disease_status", "cart")]
)
def test_a_release_that_says_nothing_has_no_excess(target: str, attacker: str) -> None:
    keys = [k for k in KEYS if k != target]
    original = people(400, kappa=10, seed=6)
    release = people(400, kappa=10, seed=106)
    target_alone = shuffled(release).column(target)
    release = release.set_column(release.column_names.index(target), target, target_alone)
    result = rapid(unveil.Pair(original, release), keys, target=target, attacker=attacker, ceiling=False)
    low, high = result.intervals()[0]["excess"]
    assert low <= 0 <= high
    assert result.attacks[0]["p_value"] > 0.05


def test_a_copy_of_the_original_is_the_worst_case() -> None:
    original = people(400)
    rates = [
        rapid(unveil.Pair(original, release), KEYS, target="disease_status", **PLAIN).rate
        for release in (original, people(400, seed=2), people(400, kappa=0, seed=3))
    ]
    assert rates[0] > rates[1] > rates[2]


def test_many_attackers_and_releases() -> None:
    releases = [people(300, seed=s) for s in (2, 3)]
    result = rapid(
        unveil.Pair(people(300), releases), KEYS, target="disease_status", attacker=["cart", "logit"], **PLAIN
    )
    rates = np.array([a["rate"] for a in result.attacks]).reshape(2, 2)
    assert [r["rate"] for r in result.releases] == pytest.approx(rates.mean(axis=1).tolist())
    assert [r["envelope"] for r in result.releases] == pytest.approx(rates.max(axis=1).tolist())
    assert result.rate == pytest.approx(rates.mean())
    assert result.envelope == rates.max()
    assert result.sd["rate"] == pytest.approx(np.std(rates.mean(axis=1), ddof=1))
    assert result.to_frame().num_rows == 4
    assert json.loads(json.dumps(result.to_dict()))["attackers"] == ["cart", "logit"]
    assert "release 2" in str(result)


def test_ladder() -> None:
    result = rapid(unveil.Pair(people(500), people(500, seed=2)), KEYS, target="disease_status", attacker="cart")
    figures = result.attacks[0]
    assert figures["margin"] == 0
    assert figures["null_mean"] <= figures["null_95"] < figures["rate"]
    assert 0.6 < figures["ceiling"] <= 1
    assert figures["excess"] == pytest.approx((figures["rate"] - figures["null_mean"]) / (1 - figures["null_mean"]))
    assert figures["p_value"] == pytest.approx(0.05)
    assert figures["suggested_threshold"] < 0.3
    # a model of the original that memorised would be right for nearly all, whatever the keys say
    noise = people(300, kappa=0, seed=1)
    alone = rapid(unveil.Pair(noise, noise), KEYS, target="disease_status", permutations=0)
    assert alone.attacks[0]["rate"] > 0.5 > alone.attacks[0]["ceiling"]


def test_suite_and_stack() -> None:
    pair = unveil.Pair(people(250), people(250, seed=2))
    result = rapid(pair, KEYS, target="disease_status", attacker="suite", **PLAIN)
    by_name = {a["attacker"]: a for a in result.attacks}
    assert set(by_name) == {"rf", "cart", "gbm", "logit_l1", "stack"}
    best = max(a["mean_probability"] for name, a in by_name.items() if name != "stack")
    assert by_name["stack"]["mean_probability"] > best - 0.05
    numbers = rapid(pair, ["gender", "age", "education"], target="income", attacker="suite", **PLAIN)
    assert {a["attacker"] for a in numbers.attacks} == {"rf", "cart", "gbm", "lm", "stack"}


def test_side_information_helps_and_its_weight_counts() -> None:
    original, noise = people(300), people(300, kappa=0, seed=9)
    sample = people(300, seed=7)
    pair = unveil.Pair(original, noise)
    options = {"target": "disease_status", "attacker": "cart", **PLAIN}
    rates = [rapid(pair, KEYS, side_information=sample, side_weight=w, **options).rate for w in (0.0, 0.5, 20.0)]
    assert rates[0] == rapid(pair, KEYS, **options).rate
    assert rates[0] < rates[2]
    with pytest.raises(unveil.CallError, match="side_weight"):
        rapid(pair, KEYS, side_information=sample, side_weight=-1, **options)


class _Memory:
    """An estimator of our own: its classes are reported in falling order."""

    def fit(self, x: np.ndarray, y: np.ndarray) -> _Memory:
        self.classes_ = np.unique(y)[::-1]
        self.shares = np.array([(y == c).mean() for c in self.classes_])
        return self

    def predict_proba(self, x: np.ndarray) -> np.ndarray:
        return np.tile(self.shares, (len(x), 1))


def test_any_estimator() -> None:
    original = people(200)
    result = rapid(unveil.Pair(original, original), KEYS, target="disease_status", attacker=_Memory(), **PLAIN)
    assert result.attackers == ("_Memory",)
    records = result.records(flavour="arrow").to_pydict()
    assert records["g"] == pytest.approx(records["b"])
    neighbours = pytest.importorskip("sklearn.neighbors")
    near = rapid(
        unveil.Pair(original, original), KEYS, target="disease_status",
        attacker=neighbours.KNeighborsClassifier(n_neighbors=1), **PLAIN,
    )  # fmt: skip
    assert near.rate == 1.0


# ---------------------------------------------------------------------------------- awkward inputs
@pytest.mark.parametrize("attacker", ["rf", "cart", "gbm", "logit", "logit_l1"])
def test_gaps_and_unseen_levels_of_keys(attacker: str) -> None:
    original = pa.table(
        {"k": ["a", "b", None, "new"] * 10, "x": [1.0, None, 3.0, math.inf] * 10, "t": list("uvuv") * 10}
    )
    release = pa.table({"k": ["a", "b", "a", None] * 10, "x": [1.0, 2.0, None, 3.0] * 10, "t": list("uvuv") * 10})
    result = rapid(unveil.Pair(original, release), ["k", "x"], target="t", attacker=attacker, **PLAIN)
    assert result.n_counted == 40
    records = result.records(flavour="arrow").to_pydict()
    assert all(0 <= g <= 1 for g in records["g"])


@pytest.mark.parametrize("attacker", ["rf", "cart", "gbm", "lm"])
def test_gaps_of_keys_with_a_continuous_target(attacker: str) -> None:
    columns = {"k": ["a", "b", None, "b"] * 10, "x": [1.0, None, 3.0, -8.0] * 10, "t": [1.0, 20.0, None, 4.0] * 10}
    pair = unveil.Pair(pa.table(columns), pa.table(columns), special_codes={"x": [-8]})
    result = rapid(pair, ["k", "x"], target="t", attacker=attacker, **PLAIN)
    assert result.n_counted == 30
    assert any("without an amount" in note for note in result.notes)
    assert result.records(flavour="arrow").to_pydict()["truth"][:4] == [1.0, 20.0, None, 4.0]


def test_classes_that_one_file_lacks() -> None:
    original = pa.table({"k": list("aabb") * 5, "t": list("uuvw") * 5})
    release = pa.table({"k": list("aabb") * 5, "t": list("uuvx") * 5})
    result = rapid(unveil.Pair(original, release), "k", target="t", attacker="cart", **PLAIN)
    records = result.records(flavour="arrow").to_pydict()
    assert [g for g, t in zip(records["g"], records["truth"], strict=True) if t == "w"] == [0.0] * 5
    # the class that only the release has keeps its half of the probability
    assert [g for g, t in zip(records["g"], records["truth"], strict=True) if t == "v"] == [0.5] * 5
    assert any("lacks 1 class" in note for note in result.notes)


@pytest.mark.parametrize("values", [["ok"] * 8, [3.0] * 8])
def test_a_constant_target(values: list[Any]) -> None:
    table = pa.table({"k": list("abababab"), "t": values})
    result = rapid(unveil.Pair(table, table), "k", target="t", permutations=2, kind=None)
    assert result.rate == 0
    assert any("nothing can be learnt" in note for note in result.notes)
    numbers = pa.table({"k": list("abababab"), "t": [3.0] * 8})
    with pytest.raises(unveil.DataError, match="one value only"):
        rapid(unveil.Pair(numbers, numbers), "k", target="t", kind="continuous", metric="sd", **PLAIN)


def test_many_classes_and_few_records() -> None:
    rng = np.random.default_rng(1)
    table = pa.table({"k": rng.integers(0, 50, 900).astype(str), "t": [f"c{i % 300}" for i in range(900)]})
    result = rapid(unveil.Pair(table, table), "k", target="t", permutations=1)
    assert len(result.baseline) == 300
    five = people(5)
    for attacker in ("rf", "cart", "gbm", "logit", "stack"):
        small = rapid(unveil.Pair(five, five), KEYS, target="disease_status", attacker=attacker, permutations=1)
        assert 0 <= small.rate <= 1
    one = people(2).slice(0, 1)
    assert rapid(unveil.Pair(one, one), KEYS, target="disease_status", permutations=1).n_counted == 1


def test_many_level_key_does_not_hang() -> None:
    i = np.arange(3000)
    school = (i * 37) % 300
    table = pa.table({"school": [f"S{v:03d}" for v in school], "grade": [f"g{v % 4}" for v in school]})
    result = rapid(unveil.Pair(table, table), "school", target="grade", attacker=["cart", "rf"], **PLAIN)
    assert min(a["accuracy"] for a in result.attacks) > 0.5


def test_clear_errors() -> None:
    table = people(50)
    pair = unveil.Pair(table, table)

    def call(**options: Any) -> None:
        rapid(pair, ["age", "income"], **({"target": "disease_status"} | PLAIN | options))

    for options, words in (
        ({"attacker": "lm"}, "predicts numbers"), ({"attacker": "rg"}, "unknown attacker"), ({"attacker": 3}, "fit"),
        ({"scoring": "x"}, "scoring"), ({"metric": "x"}, "metric"), ({"kind": "continuous"}, "no numbers"),
        ({"target": "age"}, "is a key"), ({"target": "agee"}, "agee"), ({"permutations": -1}, "permutations"),
        ({"tau": math.nan}, "tau"), ({"delta": 0}, "delta"), ({"n_jobs": 0}, "n_jobs"),
        ({"attacker": ["rf", "rf"]}, "twice"),
    ):  # fmt: skip
        with pytest.raises(unveil.CallError, match=words):
            call(**options)
    with pytest.raises(unveil.CallError, match="epsilon"):
        rapid(pair, ["age"], target="income", metric="absolute", **PLAIN)
    with pytest.raises(unveil.CallError, match="classes"):
        rapid(pair, ["age"], target="income", attacker="logit", **PLAIN)
    infinite = pa.table({"k": ["a", "b", "a"], "t": [1.0, 2.0, math.inf]})
    with pytest.raises(unveil.DataError, match="'t' is inf in row 3"):
        rapid(unveil.Pair(infinite, infinite), "k", target="t", **PLAIN)
    declared = unveil.Pair(infinite, infinite, special_codes={"t": [math.inf]})
    assert any(
        "1 record of" in note and "is left out" in note
        for note in rapid(declared, "k", target="t", kind="continuous", **PLAIN).notes
    )
    with pytest.raises(unveil.DataError, match="nothing to train on"):
        rapid(unveil.Pair(table, table.slice(0, 0)), "age", target="disease_status", **PLAIN)


# ------------------------------------------------------------------------------- results as shown
def test_results_in_every_flavour(make_frame: Callable[..., Any], flavour: str) -> None:
    original, release = make_frame(people(150)), make_frame(people(150, seed=2))
    pair = unveil.Pair(original, release)
    result = rapid(pair, KEYS, target="disease_status", attacker="cart", permutations=2)
    attribution = result.attribution()
    for table in (
        result.to_frame(), result.records(), result.by("education"), result.by_class(), result.worst_subgroups(least=5),
        result.curve(by_class=True).to_frame(), attribution.to_frame(), attribution.importance_frame(),
        attribution.dependence_frame(),
    ):  # fmt: skip
        assert type(table).__module__.split(".")[0] == {"arrow": "pyarrow"}.get(flavour, flavour)
        assert len(table) > 0
    assert sum(result.records(flavour="arrow").to_pydict()["at_risk"]) == result.attacks[0]["n_at_risk"]
    by = result.by("education", flavour="arrow").to_pydict()
    assert sum(n * r for n, r in zip(by["n"], by["rate"], strict=True)) == pytest.approx(result.attacks[0]["n_at_risk"])
    assert "null" in str(result)
    assert f"{100 * result.attacks[0]['rate']:.2f}" in str(result)
    assert "log odds" in str(attribution)
    assert json.dumps(attribution.to_dict())
    several = rapid(pair, ["age", "education"], attacker="cart", permutations=1, ceiling=False)
    assert [r.target for r in several] == ["gender", "income", "health_score", "disease_status"]
    assert len(several.to_frame()) == 4
    assert "disease_status" in str(several)


def test_attribution_finds_the_key_that_matters() -> None:
    rng = np.random.default_rng(2)

    def drawn() -> pa.Table:
        k = rng.integers(0, 2, 600)
        t = np.where(k == 1, 1, rng.integers(0, 2, 600))
        return pa.table({"k": np.array(["no", "yes"])[k], "z": rng.integers(0, 3, 600).astype(str), "t": t.astype(str)})

    result = rapid(unveil.Pair(drawn(), drawn()), ["k", "z"], target="t", attacker="cart", **PLAIN)
    found = result.attribution()
    importance = {i["key"]: i["score"] for i in found.importance}
    assert importance["k"] > 0.1 > abs(importance["z"])
    by_level = {(c.key, c.level): c for c in found.coefficients}
    strongest = max(by_level.values(), key=lambda c: abs(c.estimate))
    assert strongest.key == "k"
    assert result.worst_subgroups(flavour="arrow").to_pydict()["group"][0].startswith("k yes")
    dependence = [d for d in found.dependence if d["key"] == "k" and d["class"] == "1"]
    assert {d["level"]: d["mean"] > 0.8 for d in dependence} == {"no": False, "yes": True}


def test_plots() -> None:
    pytest.importorskip("matplotlib")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pair = unveil.Pair(people(150), people(150, seed=2))
    result = rapid(pair, KEYS, target="disease_status", attacker="cart", permutations=2)
    numbers = rapid(pair, ["age", "education"], target="income", attacker="cart", permutations=2)
    several = rapid(pair, ["age"], targets=["income", "disease_status"], attacker="cart", permutations=1)
    cv = rapid_synthesizer_cv(people(60), lambda f: f, ["age"], target="disease_status", attacker="cart", folds=2)
    for axes in (
        result.plot(), result.attribution().plot(), result.curve(by_class=True).plot(), numbers.plot(),
        numbers.plot_predictions(), several.plot(), cv.plot(),
    ):  # fmt: skip
        axes.figure.canvas.draw()
        pyplot.close(axes.figure)
    with pytest.raises(unveil.CallError, match="categorical"):
        result.plot_predictions()


class _Resampler:
    """A synthesizer as an object: it draws whole records again."""

    def fit(self, frame: Any) -> _Resampler:
        self.frame = frame
        return self

    def sample(self, n: int, seed: int) -> Any:
        return self.frame.take(pa.array(np.random.default_rng(seed).integers(0, self.frame.num_rows, n)))


def test_cross_validation_shows_what_inclusion_adds() -> None:
    noise = people(240, kappa=0, seed=1)
    cv = rapid_synthesizer_cv(noise, _Resampler(), KEYS, target="disease_status", folds=4)
    # a resampler gives its own records away and says nothing of anybody else
    assert cv.inclusion > 0.15
    assert len(cv.held_out) == len(cv.in_sample) == 4
    assert cv.mean == pytest.approx(np.mean(cv.held_out))
    assert cv.se == pytest.approx(np.std(cv.held_out, ddof=1) / 2)
    low, high = cv.interval
    assert low <= cv.mean <= high
    assert "held out" in str(cv)
    assert json.dumps(cv.to_dict())
    with pytest.raises(unveil.CallError, match="folds"):
        rapid_synthesizer_cv(people(3), _Resampler(), KEYS, target="disease_status", folds=5)
    with pytest.raises(unveil.CallError, match="synthesizer"):
        rapid_synthesizer_cv(people(30), 3, KEYS, target="disease_status")


def test_cross_validation_in_every_flavour(make_frame: Callable[..., Any], flavour: str) -> None:
    seen = []

    def keep(frame: Any) -> Any:
        seen.append(type(frame).__module__.split(".")[0])
        return frame

    table = people(60).append_column("code", pa.array(["a", "b"] * 30).dictionary_encode())
    cv = rapid_synthesizer_cv(make_frame(table), keep, ["age", "code"], target="income", attacker="lm", folds=2)
    assert set(seen) == {{"arrow": "pyarrow"}.get(flavour, flavour)}
    assert len(cv.to_frame()) == 2
