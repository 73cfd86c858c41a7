"""The risk in the population: cases by hand, the distributions term by term, and samples of a known population."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import data_file
from unveil._tables.cell_risks import Expected, alone, curvature_of_match, inverse_size, match, slope_of_match
from unveil._tables.log_linear_risk import SampleTable, UniquesRisk, error_of_risk, models_tried
from unveil.cli import main
from unveil.errors import CallError, DataError

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

# Two sexes and three ages: of 8 records (f, 30), (m, 30), (m, 40) and (m, 50) are unique.
SEX = ["f", "f", "f", "m", "m", "m", "f", "f"]
AGE = [30, 40, 40, 40, 50, 30, 50, 50]
SAMPLE = pa.table({"sex": SEX, "age": AGE, "ill": ["n", "y", "n", "n", "y", "n", "n", "n"], "w": [5.0] * 8})


# ------------------------------------------------------------------------------------------------ the distributions
def by_terms(f: int, p: float) -> float:
    """E(1/F | f), summed over the negative binomial distribution of F."""
    total, log_share = 0.0, f * math.log(p)
    for size in range(f, 20_000):
        share = math.exp(log_share)
        total += share / size
        if share < 1e-16 and size > f / p:
            break
        log_share += math.log(size / (size - f + 1)) + (math.log1p(-p) if p < 1 else -math.inf)
    return total


@settings(max_examples=40)
@given(st.integers(1, 80), st.floats(0.02, 1))
def test_the_inverse_size_is_the_sum_over_the_negative_binomial_distribution(f, p):
    assert inverse_size(np.array([f]), np.array([p]))[0] == pytest.approx(by_terms(f, p), rel=1e-9)


@given(st.integers(1, 20), st.floats(0.01, 0.99))
def test_the_inverse_size_is_the_published_function(f, p):
    from scipy.special import hyp2f1

    published = p**f / f * hyp2f1(f, f, f + 1, 1 - p)
    assert inverse_size(np.array([f]), np.array([p]))[0] == pytest.approx(published, rel=1e-8)


def test_a_sample_unique_has_the_closed_form():
    p = np.array([0.01, 0.3, 0.9])
    np.testing.assert_allclose(inverse_size(np.ones(3, int), p), p / (1 - p) * -np.log(p), rtol=1e-12)


@given(st.floats(0, 50))
def test_the_match_is_the_sum_over_the_poisson_distribution(more):
    share, total = math.exp(-more), 0.0
    for others in range(400):
        total += share / (1 + others)
        share *= more / (others + 1)
    assert match(np.array([more]))[0] == pytest.approx(total, rel=1e-9)
    assert alone(np.array([more]))[0] == pytest.approx(math.exp(-more))


@given(st.floats(0, 50))
def test_the_slope_of_the_match_is_its_difference(more):
    step = 1e-6 * (1 + more)
    around = match(np.array([max(0, more - step), more + step]))
    wanted = (around[1] - around[0]) / (more + step - max(0, more - step))
    assert slope_of_match(np.array([more]))[0] == pytest.approx(wanted, abs=1e-4)
    slopes = slope_of_match(np.array([max(0, more - 1e-3), more + 1e-3]))
    wanted = (slopes[1] - slopes[0]) / (more + 1e-3 - max(0, more - 1e-3))
    assert curvature_of_match(np.array([more]))[0] == pytest.approx(wanted, abs=1e-3)


def test_an_interval_is_that_of_independent_events():
    found = Expected.of(np.full(4, 0.5), 3.0, level=0.95)
    assert (found.low, found.high) == (0, 4)
    found = Expected.of(np.full(400, 0.5), 300.0, level=0.95)
    assert found.high - 200 == pytest.approx(1.959964 * 20)


# ------------------------------------------------------------------------------------------------ the error of a model
def expected_over_poisson(mean: float, function) -> float:
    total, share = 0.0, math.exp(-mean)
    for f in range(200):
        total += share * function(f)
        share *= mean / (f + 1)
    return total


@pytest.mark.parametrize("of_matches", [False, True])
@pytest.mark.parametrize("fraction", [0.02, 0.3])
@pytest.mark.parametrize("expected", [0.05, 0.4, 2.0])
def test_the_error_has_mean_zero_and_the_stated_variance_under_the_model(fraction, expected, of_matches):
    def error(f: int) -> float:
        return error_of_risk(np.array([f]), np.array([expected]), fraction, of_matches=of_matches)[0]

    deviation = error_of_risk(np.array([1]), np.array([expected]), fraction, of_matches=of_matches)[1]
    scale = max(deviation, 1e-12)
    assert expected_over_poisson(expected, error) / scale == pytest.approx(0, abs=1e-9)
    assert expected_over_poisson(expected, lambda f: error(f) ** 2) == pytest.approx(deviation**2, rel=1e-6)


def test_the_error_of_population_uniques_in_its_short_form():
    counts, expected, pi = np.array([0, 1, 3]), np.array([0.2, 0.7, 1.5]), 0.1
    size = expected / pi
    a = size * np.exp(-size) * (1 - pi)
    rest = counts - expected
    wanted = (a * (rest + (1 - pi) * (rest**2 - counts) / (2 * pi))).sum()
    assert error_of_risk(counts, expected, pi)[0] == pytest.approx(wanted)


@pytest.mark.parametrize("of_matches", [False, True])
def test_the_error_is_what_a_small_change_of_the_model_does(of_matches):
    """Cells of one size, modelled a little too small: B is the difference of the expected sums."""
    rng, pi, mean = np.random.default_rng(1), 0.2, 0.6
    counts = rng.poisson(mean, 400_000)
    risk = match if of_matches else alone
    sums = [risk(np.array([m * (1 - pi) / pi]))[0] * len(counts) * mean * np.exp(-mean) for m in (0.95 * mean, mean)]
    error, _ = error_of_risk(counts, np.full(len(counts), 0.95 * mean), pi, of_matches=of_matches)
    assert error == pytest.approx(sums[0] - sums[1], rel=0.2)


def test_the_error_tells_too_simple_a_model():
    """Cells of two sizes, modelled by their mean: the population uniques are overestimated, and B says so."""
    rng, fraction = np.random.default_rng(1), 0.1
    mean = np.repeat([0.02, 0.5], 20_000)
    counts = rng.poisson(mean)
    flat, deviation = error_of_risk(counts, np.full(len(mean), mean.mean()), fraction)
    right, _ = error_of_risk(counts, mean, fraction)
    assert flat / deviation > 5
    assert abs(right) < 3 * error_of_risk(counts, mean, fraction)[1]


def test_interactions_are_added_until_the_model_fits():
    rng = np.random.default_rng(2)
    first = rng.integers(0, 12, 4000)
    second = (first + rng.integers(0, 3, 4000)) % 12
    third = rng.integers(0, 12, 4000)
    table = SampleTable.of((first, second, third), np.full(4000, 20.0))
    tried = models_tried(table, "selected")
    assert tried[0].margins == [(0,), (1,), (2,)]
    assert abs(tried[0].z) > 1.96 > abs(tried[-1].z)
    assert (0, 1) in tried[1].margins
    assert len(models_tried(table, "none")) == 1
    assert models_tried(table, "all")[0].margins == [(0, 1), (0, 2), (1, 2)]


def test_the_variance_of_the_fit_is_that_of_fits_drawn_anew():
    rng = np.random.default_rng(3)
    keys = (rng.choice(6, 800, p=[0.4, 0.3, 0.2, 0.05, 0.03, 0.02]), rng.integers(0, 30, 800))
    table = SampleTable.of(keys, np.full(800, 2.0))
    (model,) = models_tried(table, "none")
    uniques = np.flatnonzero(table.counts.ravel()[table.cell] == 1)
    risk = UniquesRisk.of(table, model, uniques, equal=True)
    every = np.ones(len(uniques), bool)
    cells = table.cell[uniques]
    sums = []
    for _ in range(400):
        drawn = rng.poisson(model.expected).astype(float)
        fitted = drawn.sum(1, keepdims=True) * drawn.sum(0, keepdims=True) / drawn.sum()
        sums.append([one(0.5 * fitted.ravel()[cells] / 0.5).sum() for one in (alone, match)])
    for which, variance in enumerate(np.var(sums, axis=0)):
        assert risk.variance(which, every) == pytest.approx(variance, rel=0.25)


# ------------------------------------------------------------------------------------------------ whole files
def test_a_sample_that_is_its_population_has_the_figures_of_the_sample():
    for options in ({"weights": [1] * 8}, {"population": 8}):
        found = unveil.population_risk(SAMPLE, ["sex", "age"], **options)
        assert (found.sample_uniques, found.population) == (4, 8)
        for one in found.figures:
            assert (one["population_uniques"], one["correct_matches"]) == (4, 4)
            assert (one["population_uniques_low"], one["population_uniques_high"]) == (4, 4)


def test_equal_weights_by_hand():
    found = unveil.population_risk(SAMPLE, ["sex", "age"], weights="w", interactions="none")
    log_linear, weights = found.figures
    assert (found.population, found.weights, found.model) == (40, "w", "log-linear")
    # Each of the four uniques stands for 5 persons: p = 1/5.
    assert weights["population_uniques"] == pytest.approx(4 / 5)
    assert weights["correct_matches"] == pytest.approx(4 * 0.25 * math.log(5))
    # Independence of 5 f and 3 m, 2 of 30, 3 of 40, 3 of 50: cells of 5 * 2 / 8, 3 * 2 / 8, 3 * 3 / 8 and 3 * 3 / 8
    # records, and of 4 unseen persons for each.
    unseen = np.array([5.0, 3.0, 4.5, 4.5])
    assert log_linear["population_uniques"] == pytest.approx(np.exp(-unseen).sum())
    assert log_linear["correct_matches"] == pytest.approx(((1 - np.exp(-unseen)) / unseen).sum())


def test_unequal_weights_by_hand():
    weights = [2, 1, 1, 10, 4, 5, 1, 1]
    found = unveil.population_risk(SAMPLE, ["sex", "age"], weights=weights, interactions="none")
    log_linear, by_weights = found.figures
    assert by_weights["population_uniques"] == pytest.approx(1 / 2 + 1 / 10 + 1 / 4 + 1 / 5)
    # Sums of weights: f 6, m 19; 30: 7, 40: 12, 50: 6; in all 25. A share 1/weight of each cell is seen.
    population = np.array([6 * 7, 19 * 7, 19 * 12, 19 * 6]) / 25
    unseen = population * (1 - 1 / np.array([2, 5, 10, 4]))
    assert log_linear["population_uniques"] == pytest.approx(np.exp(-unseen).sum())


def test_replicated_uniques_of_each_release():
    releases = [pa.table({"sex": ["f", "m", "m", "f"], "age": [30, 40, 40, 60]}), SAMPLE.slice(0, 0)]
    pair = unveil.Pair(SAMPLE, releases, weights="w")
    found = unveil.population_risk(pair, ["sex", "age"], interactions="none")
    rows = [(one["who"], one["model"], one["records"]) for one in found.figures]
    first, second = pair.labels
    assert rows == [(who, model, n) for who, n in (("sample", 4), (first, 1), (second, 0))
                    for model in ("log-linear", "weights")]  # fmt: skip
    assert found.headline(first)["population_uniques"] == pytest.approx(math.exp(-5))
    assert found.headline(second)["population_uniques"] == 0
    assert unveil.identity(pair, ["sex", "age"]).releases[0]["repU"] == 100 / 8
    assert f"1 of them are unique in {first} too" in " ".join(str(found).split())


def test_records_and_levels_add_up_to_the_figures():
    pair = unveil.Pair(SAMPLE, SAMPLE.slice(0, 6), weights=[2, 1, 1, 10, 4, 5, 1, 1])
    found = unveil.population_risk(pair, ["sex", "age"])
    records = found.records(flavour="arrow").to_pydict()
    assert records["sample_count"] == [1, 2, 2, 1, 1, 1, 2, 2]
    assert records["population_count"] == [2, 2, 2, 10, 4, 5, 2, 2]
    assert records["risk_log_linear"][1] is None
    log_linear, weights = found.figures[:2]
    alone_of = [value for value in records["alone_log_linear"] if value is not None]
    assert sum(alone_of) == pytest.approx(log_linear["population_uniques"])
    assert sum(r for r, u in zip(records["risk_weights"], records["unique"], strict=True) if u) == pytest.approx(
        weights["correct_matches"]
    )
    # Both of (f, 40) are sampled, and each is one of the two.
    assert records["risk_weights"][1] == 0.5
    levels = found.by("age", flavour="arrow").to_pydict()
    assert (levels["n"], levels["sample_uniques"]) == ([2, 3, 3], [2, 1, 1])
    assert sum(levels["population_uniques"]) == pytest.approx(found.population_uniques)
    assert found.to_frame("arrow").num_rows == 4
    assert json.dumps(found.to_dict())


def test_the_order_of_records_does_not_matter():
    people = unveil.simulate.demo_population(400, seed=1)
    order = np.random.default_rng(1).permutation(400)
    keys, weights = ["sex", "age", "region"], np.linspace(2, 40, 400)
    one = unveil.population_risk(people, keys, weights=weights)
    other = unveil.population_risk(people.take(pa.array(order)), keys, weights=weights[order])
    for mine, yours in zip(one.figures, other.figures, strict=True):
        assert mine == pytest.approx(yours)


def test_a_missing_key_can_be_left_out():
    table = pa.table({"sex": ["f", "m", None, "m"], "age": [1, 2, 3, 4]})
    found = unveil.population_risk(table, ["sex", "age"], population=100, use_keys_na=False)
    assert found.sample_uniques == 3
    assert unveil.population_risk(table, ["sex", "age"], population=100).sample_uniques == 4


def test_too_many_combinations_leave_the_model_of_weights():
    n = 400
    table = pa.table({name: np.arange(n) for name in "abc"})
    found = unveil.population_risk(table, ["a", "b", "c"], population=4000)
    assert (found.model, found.tried) == ("weights", ())
    assert "ngroups_keys" in found.undefined["log-linear"]
    assert found.population_uniques == pytest.approx(n / 10)
    assert "log-linear model is not defined" in str(found)


def test_one_record_and_constant_keys():
    one = unveil.population_risk(SAMPLE.slice(0, 1), ["sex"], population=10)
    assert one.sample_uniques == 1
    constant = unveil.population_risk(pa.table({"a": ["x"] * 5}), ["a"], population=10)
    assert (constant.sample_uniques, constant.population_uniques) == (0, 0)


def test_every_engine_gives_the_same(tmp_path):
    people = unveil.simulate.demo_population(300, seed=1)
    for name, table in (("o", people), ("s", people.slice(0, 200))):
        pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
    found = [
        unveil.population_risk(
            unveil.Pair(tmp_path / "o.csv", tmp_path / "s.csv", engine=engine, population=6000), ["sex", "age"]
        ).figures
        for engine in ("memory", "files")
    ]
    assert found[0] == found[1]


# ------------------------------------------------------------------------------------------------ samples
def coverage(codes, keys, n: int, repeats: int, seed: int):
    """Of simple random samples of a population: estimates, what is true, and whether the intervals hold it."""
    rng, found = np.random.default_rng(seed), []
    sizes = np.unique(codes, return_inverse=True, return_counts=True)
    size = sizes[2][sizes[1]]
    for _ in range(repeats):
        drawn = rng.choice(len(codes), n, replace=False)
        risk = unveil.population_risk(keys.take(pa.array(drawn)), keys.column_names, population=len(codes))
        unique = risk.records(flavour="arrow").column("unique").to_numpy(zero_copy_only=False)
        truth = (np.sum(size[drawn][unique] == 1), np.sum(1 / size[drawn][unique]))
        for one in risk.figures:
            for name, true in zip(("population_uniques", "correct_matches"), truth, strict=True):
                held = one[f"{name}_low"] <= true <= one[f"{name}_high"]
                found.append((one["model"], name, one[name], true, held))
    return found


def summed(found, model: str, name: str) -> tuple[float, float, float]:
    rows = np.array([row[2:] for row in found if row[:2] == (model, name)])
    return tuple(rows.mean(axis=0))


def of_keys(people: pa.Table, keys: list[str]):
    chosen = people.select(keys)
    return [str(tuple(row.values())) for row in chosen.to_pylist()], chosen


def test_samples_of_a_simulated_survey():
    codes, keys = of_keys(unveil.simulate.demo_population(8000, seed=5), ["sex", "age", "marital"])
    found = coverage(codes, keys, 400, 12, seed=1)
    estimate, true, held = summed(found, "log-linear", "correct_matches")
    assert estimate == pytest.approx(true, rel=0.15)
    assert held >= 0.75


def test_samples_of_a_population_in_which_the_model_holds():
    """Keys that are independent of each other: means agree, and the intervals hold the number as often as they say."""
    rng, found = np.random.default_rng(1), []
    for seed in range(8):
        shares = [rng.dirichlet(np.ones(levels)) for levels in (30, 8, 6, 4)]
        people = pa.table({f"key {i}": rng.choice(len(p), 20_000, p=p) for i, p in enumerate(shares)})
        found += coverage(*of_keys(people, people.column_names), 1000, 4, seed)
    for name in ("population_uniques", "correct_matches"):
        estimate, true, held = summed(found, "log-linear", name)
        assert estimate == pytest.approx(true, rel=0.1)
        # Of 32 intervals of 95 %, 26 or fewer hold the number with a probability of 0.001.
        assert held > 26 / 32


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.01, 0.02, 0.05])
@pytest.mark.parametrize("keys", [
    ["age", "sex", "race", "marital.status"],
    ["age", "sex", "occupation", "race"],
    ["age", "sex", "race", "marital.status", "education"],
])  # fmt: skip
def test_samples_of_adult(shared, fraction, keys):
    """Simple random samples of persons whose keys no model has made: the table of docs/population.md."""
    people = unveil.read(data_file("adult")).to_frame("arrow")
    if keys[2:] != ["race", "marital.status"]:
        groups = np.searchsorted(range(20, 90, 5), people.column("age").to_numpy(), side="right")
        people = people.set_column(people.column_names.index("age"), "age", pa.array(groups))
    codes, chosen = of_keys(people, keys)
    found = coverage(codes, chosen, round(fraction * len(codes)), 500, seed=2026)
    for name in ("population_uniques", "correct_matches"):
        estimate, true, held = summed(found, "log-linear", name)
        assert estimate == pytest.approx(true, rel=0.2)
        assert held > 0.8
        assert summed(found, "weights", name)[0] < true


# ------------------------------------------------------------------------------------------------ pairs with weights
def test_a_pair_leaves_its_weights_out_of_what_is_measured_by_default():
    pair = unveil.Pair(SAMPLE, SAMPLE.slice(0, 6), weights="w")
    assert [risk.target for risk in unveil.attribute(pair, ["sex", "age"])] == ["ill"]
    variables = unveil.utility(pair, measures="marginals").to_frame("variables", flavour="arrow")
    assert variables.column("variable").to_pylist() == ["sex", "age", "ill"]
    assert unveil.attribute(pair, ["sex"], target="w").target == "w"
    other = unveil.Pair(SAMPLE, SAMPLE.slice(0, 6))
    assert other.weights is None
    assert "w" in [risk.target for risk in unveil.attribute(other, ["sex", "age"])]


def test_a_release_need_not_have_the_weights(tmp_path):
    pyarrow.csv.write_csv(SAMPLE, tmp_path / "o.csv")
    pyarrow.csv.write_csv(SAMPLE.drop_columns(["w"]).slice(0, 6), tmp_path / "s.csv")
    (tmp_path / "schema.toml").write_text("[columns.w]\nweight = true\n")
    pair = unveil.Pair(tmp_path / "o.csv", tmp_path / "s.csv", schema=tmp_path / "schema.toml")
    assert (pair.weights.column, pair.weights.population) == ("w", 40)
    assert unveil.population_risk(pair, ["sex"]).weights == "w"
    assert unveil.population_risk(pair, ["sex"], population=80).population == 80


def test_units_of_several_rows_are_persons_of_the_population():
    """A panel with two rows per person gives the figures of a file with one row each."""
    order = np.repeat(np.arange(8), 2)
    rows = SAMPLE.append_column("person", pa.array([f"p{i}" for i in range(8)])).take(pa.array(order))
    pair = unveil.Pair(rows, rows.slice(0, 12), unit="person", weights="w")
    found = unveil.population_risk(pair, ["sex", "age"])
    one_row = unveil.population_risk(unveil.Pair(SAMPLE, SAMPLE.slice(0, 6), weights="w"), ["sex", "age"])
    assert found.population == 40
    assert [one["population_uniques"] for one in found.figures] == pytest.approx(
        [one["population_uniques"] for one in one_row.figures]
    )
    assert found.records(flavour="arrow").column("person").to_pylist() == [f"p{i}" for i in range(8)]


def test_parts_keep_the_population():
    pair = unveil.Pair(SAMPLE, SAMPLE, weights=[2, 1, 1, 10, 4, 5, 1, 1])
    part = pair.part(np.array([0, 0, 3]), (0,))
    np.testing.assert_allclose(part.weights.values, np.array([2, 2, 10]) * 25 / 14)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"weights": "ill"}, DataError, "column 'ill' of the original holds no numbers"),
        ({"weights": "v"}, CallError, "no column 'v'"),
        ({"weights": "gaps"}, DataError, "record 2 has no weight"),
        ({"weights": "signs"}, DataError, "record 3 has the weight -1"),
        ({"weights": [1, 2]}, CallError, "one number for each of the 8 records of the original, not 2 numbers"),
        ({"weights": [[1.0] * 8]}, CallError, "not an array of shape (1, 8)"),
        ({"weights": [0, *[1] * 7]}, DataError, "weights: record 1 has the weight 0"),
        ({"weights": [1, math.nan, *[1] * 6]}, DataError, "record 2 has no weight"),
        ({"weights": [math.inf, *[1] * 7]}, DataError, "record 1 has the weight inf"),
        ({"weights": 3}, CallError, "not an array of shape ()"),
        ({"weights": object()}, CallError, "weights are the name of a column, or one positive number per record"),
        ({"weights": [0.1] * 8}, CallError, "add up to 0.8, which is less than its 8 records"),
        ({"population": 7}, CallError, "at least the number of records of the original, which is 8, not 7"),
        ({"population": 0}, CallError, "population must be a number above 0"),
        ({"population": "many"}, CallError, "population must be a number above 0"),
    ],
)  # fmt: skip
def test_wrong_weights(options, error, said):
    original = SAMPLE.append_column("gaps", pa.array([1.0, None, *[2.0] * 6]))
    original = original.append_column("signs", pa.array([1, 2, -1, *[2] * 5]))
    with pytest.raises(error) as raised:
        unveil.Pair(original, SAMPLE, **options)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_several_columns_of_weights_in_a_schema():
    schema = {"w": {"weight": True}, "age": {"weight": True}}
    with pytest.raises(CallError, match="several columns of weights"):
        unveil.Pair(SAMPLE, SAMPLE, schema=schema)
    with pytest.raises(CallError, match="weight must be true or false"):
        unveil.Pair(SAMPLE, SAMPLE, schema={"w": {"weight": 1}})


def test_a_call_without_weights_and_with_wrong_options():
    with pytest.raises(CallError, match="nothing says what the sample stands for"):
        unveil.population_risk(SAMPLE, ["sex"])
    with pytest.raises(CallError, match="interactions must be"):
        unveil.population_risk(SAMPLE, ["sex"], population=80, interactions="some")
    with pytest.raises(CallError, match="level must lie between"):
        unveil.population_risk(SAMPLE, ["sex"], population=80, level=95)
    with pytest.raises(CallError, match="release must be a whole number from 0 to 0"):
        unveil.population_risk(unveil.Pair(SAMPLE, SAMPLE.slice(1), population=80), ["sex"]).records(1)


def test_what_is_told_of_weights():
    scaled = unveil.population_risk(SAMPLE, ["sex"], weights=[0.5, 1.5] * 4)
    assert any("scaled to the sample" in text for text in scaled.warnings)
    assert any("weights below 1" in text for text in scaled.warnings)
    other = unveil.population_risk(SAMPLE, ["sex"], weights="w", population=80)
    assert any("scaled to the population of 80" in text for text in other.warnings)
    assert unveil.population_risk(SAMPLE, ["sex"], weights="w").warnings == ()


def run(monkeypatch, words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["unveil", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_the_command_line(tmp_path, monkeypatch, capsys):
    pyarrow.csv.write_csv(SAMPLE, tmp_path / "o.csv")
    pyarrow.csv.write_csv(SAMPLE.slice(0, 6), tmp_path / "s.csv")
    monkeypatch.chdir(tmp_path)
    call = "population o.csv s.csv --keys sex,age --weights w --by sex --records r.csv --json p.json"
    assert run(monkeypatch, call) == 0
    assert "population 40, sampled 20 %; weights w" in capsys.readouterr().out
    written = json.loads((tmp_path / "p.json").read_text())
    assert [row["sample_uniques"] for row in written["by"]] == [1, 3]
    assert pyarrow.csv.read_csv(tmp_path / "r.csv").num_rows == 8
    assert run(monkeypatch, "population o.csv --keys sex,age --breaks age=45 --population 40") == 0
    assert "age in 2 groups" in capsys.readouterr().out
    assert run(monkeypatch, "population o.csv --keys sex,age --weights ill") == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "column 'ill' of o.csv holds no numbers" in said
