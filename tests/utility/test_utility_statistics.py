"""Releases of a correct model have ratios near 1, independent columns far above, and a copy is perfect."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._utility.null import relative_sd

DRAWS = 40


def people(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    sex = rng.integers(2, size=n)
    age = np.clip(np.round(45 + 15 * rng.standard_normal(n)), 18, 90)
    trade = np.where(rng.random(n) < 0.2 + 0.5 * sex, "field", np.where(rng.random(n) < 0.5, "office", "shop"))
    income = np.round(1000 + 400 * sex + 10 * age + 150 * rng.standard_normal(n), -1)
    return pa.table({"sex": np.where(sex, "m", "f").tolist(), "age": age, "trade": trade.tolist(), "income": income})


ORIGINAL = people(500, 1)


def drawn(n: int, seed: int) -> pa.Table:
    """Records with replacement: what the saturated model fitted to the original gives."""
    return ORIGINAL.take(pa.array(np.random.default_rng(seed).integers(ORIGINAL.num_rows, size=n)))


def shuffled(seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table({n: ORIGINAL[n].take(pa.array(rng.permutation(ORIGINAL.num_rows))) for n in ORIGINAL.column_names})


def redrawn_alone(seed: int) -> pa.Table:
    """Every column drawn by itself."""
    rng = np.random.default_rng(seed)
    n = ORIGINAL.num_rows
    return pa.table({name: ORIGINAL[name].take(pa.array(rng.integers(n, size=n))) for name in ORIGINAL.column_names})


@pytest.mark.parametrize("n", [500, 1500])
def test_ratios_are_near_one_for_a_correct_model(n: int) -> None:
    pair = unveil.Pair(ORIGINAL, [drawn(n, seed) for seed in range(DRAWS)])
    found = unveil.utility(pair, measures=["propensity", "marginals", "pairs"], permutations=2 * DRAWS)
    for c in found.propensity:
        ratios = np.array([r["S_pMSE"] for r in c.releases])
        null_error = c.mean["S_sd"] / math.sqrt(2 * DRAWS) if c.subject["model"] == "cart" else 0.0
        error = math.hypot(ratios.std(ddof=1) / math.sqrt(DRAWS), null_error)
        # a tree's ratio is near 1, not equal to it: its cells follow the draws
        slack = 0.06 if c.subject["model"] == "cart" else 0.0
        assert abs(ratios.mean() - 1) < 4 * error + slack, (c.subject, ratios.mean(), error)
    for c in found.variables:
        ratios = np.array([r["S_pMSE"] for r in c.releases])
        assert abs(ratios.mean() - 1) < 4 * c.mean["S_sd"] / math.sqrt(DRAWS), c.subject
    ratios = np.array([[r["S_pMSE"] for r in c.releases] for c in found.pairs])
    assert abs(ratios.mean() - 1) < 0.1


def test_the_spread_of_the_ratio_is_as_stated() -> None:
    pair = unveil.Pair(ORIGINAL, [drawn(500, seed) for seed in range(200)])
    found = unveil.utility(pair, measures="propensity", propensity=["logistic"])
    stated = found.propensity[0].mean["S_sd"]
    # a sample variance of 200 chi-squares with 5 degrees of freedom is known to about 15 %
    assert found.propensity[0].sd["S_pMSE"] == pytest.approx(stated, rel=0.3)


@pytest.mark.parametrize("independent", [shuffled, redrawn_alone])
def test_ratios_are_far_above_one_for_independent_columns(independent: object) -> None:
    release = independent(3)  # type: ignore[operator]
    found = unveil.utility(unveil.Pair(ORIGINAL, release), measures=["propensity", "marginals", "pairs"])
    assert found.mean["S_pMSE_cart"] > 2.5
    assert found.mean["S_pMSE_pairs_max"] > 20
    related = [{"first": "sex", "second": "trade"}, {"first": "sex", "second": "income"}]
    assert [c.subject for c in found.worst("pairs", n=2)] in (related, related[::-1])
    # each variable by itself is as in the original, and a model without interactions sees no more
    assert found.mean["S_pMSE_logistic"] < 4
    assert found.mean["S_pMSE_max"] < 5


def test_independent_columns_lose_predictions() -> None:
    found = unveil.utility(unveil.Pair(ORIGINAL, redrawn_alone(3)), measures=["prediction", "models"],
                           models="income ~ age + sex")  # fmt: skip
    income = next(c for c in found.prediction if c.subject["target"] == "income" and c.subject["score"] == "R2")
    assert income.mean["TRTR"] > 0.5
    assert income.mean["TSTR"] < 0.2
    age = next(c for c in found.models if c.subject["term"] == "age")
    assert age.mean["overlap"] < 0
    assert age.mean["std_difference"] < -5


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_a_copy_is_perfect() -> None:
    copy = ORIGINAL.take(pa.array(np.random.default_rng(1).permutation(ORIGINAL.num_rows)))
    found = unveil.utility(unveil.Pair(ORIGINAL, [copy, copy]), models=["income ~ age + sex", "sex ~ income + trade"])
    assert found.mean["pMSE_logistic"] == pytest.approx(0, abs=1e-12)
    assert found.mean["pMSE_cart"] == 0
    assert found.mean["SPECKS_logistic"] < 1e-6
    for c in (*found.variables, *found.pairs):
        assert c.mean["TVD"] == 0
        assert c.mean["VW"] == 0
        assert c.mean["FT"] == 0
        for name in ("KS", "wasserstein", "V_difference", "pearson_difference"):
            assert c.mean.get(name, 0) == pytest.approx(0, abs=1e-9)
    for c in found.models:
        assert c.mean["overlap"] == pytest.approx(1, abs=1e-8), c.subject
        assert c.mean["std_difference"] == pytest.approx(0, abs=1e-6)
    for c in found.prediction:
        # trained on the very records that it is tested on
        if c.subject["score"] in ("accuracy", "R2"):
            assert c.mean["TSTR"] >= c.mean["TRTR"]


def test_prediction_from_a_fresh_sample_is_as_good_as_from_real_records() -> None:
    original, fresh = people(2000, 21), people(2000, 22)
    found = unveil.utility(unveil.Pair(original, fresh), measures="prediction", targets=["sex"])
    by_score = {c.subject["score"]: c.mean for c in found.prediction}
    assert set(by_score) == {"accuracy", "macro_F1", "log_loss", "AUC"}
    accuracy = by_score["accuracy"]
    assert accuracy["TRTR"] > 0.75
    assert abs(accuracy["difference"]) < 4 * accuracy["se"] + 0.01
    assert accuracy["difference"] == pytest.approx(accuracy["TSTR"] - accuracy["TRTR"])


@pytest.mark.parametrize("m", [3, 5, 8])
def test_the_spread_over_pairs_is_that_of_single_draws(m: int) -> None:
    """Squares of differences with one end in common are correlated; the spread is known of chi-squares."""
    rng, k = np.random.default_rng(m), 60
    stated = []
    for _ in range(3000):
        x = rng.normal(size=(m, k))
        drawn = [float(((x[a] - x[b]) ** 2).sum()) for a in range(m) for b in range(a)]
        stated.append(relative_sd(drawn, (m + 1) / m))
    assert np.mean(stated) == pytest.approx(math.sqrt(2 / k), rel=0.03 if m > 3 else 0.05)


def test_the_spread_of_few_draws_is_not_short() -> None:
    rng = np.random.default_rng(0)
    found = np.mean([relative_sd(1 + 0.1 * rng.normal(size=4), 1) for _ in range(6000)])
    assert found == pytest.approx(0.1, rel=0.02)
    assert np.mean([np.std(1 + 0.1 * rng.normal(size=4), ddof=1) for _ in range(6000)]) < 0.095


def test_the_spread_of_a_tree_s_ratio_is_as_stated() -> None:
    """Triples of correct releases, each compared by pairs, and the same releases against the original."""
    files = [drawn(500, 5000 + seed) for seed in range(90)]
    ratios = unveil.utility(
        unveil.Pair(ORIGINAL, files), measures="propensity", propensity="cart", permutations=90
    ).propensity[0]
    actual = np.std([r["pMSE"] for r in ratios.releases], ddof=1) / np.mean([r["pMSE"] for r in ratios.releases])
    triples = [
        unveil.utility(
            unveil.Pair(ORIGINAL, files[i : i + 3]), measures="propensity", propensity="cart", null="pairs"
        ).propensity[0].mean["S_sd"]
        for i in range(0, 90, 3)
    ]  # fmt: skip
    # a spread of 90 draws is known to 8 %, the mean of 30 triples to about 10 %
    assert np.mean(triples) == pytest.approx(actual, rel=0.3)
    assert ratios.mean["S_sd"] == pytest.approx(actual, rel=0.25)


def normal_amounts(n: int, columns: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """An original of independent normal amounts, and a release of the normal distribution fitted to it."""
    rng = np.random.default_rng(seed)
    original = rng.normal(size=(n, columns))
    release = rng.normal(size=(n, columns)) * original.std(axis=0) + original.mean(axis=0)
    first, second = (pa.table({f"x{i}": values[:, i] for i in range(columns)}) for values in (original, release))
    return first, second


def test_a_logistic_model_with_few_records_per_parameter_has_no_ratio() -> None:
    # 121 parameters, 400 records: a release of the true model would have a ratio of 1.2; with more it is told apart
    pair = unveil.Pair(*normal_amounts(200, 120, 1))
    found = unveil.utility(pair, measures=["propensity"], permutations=2)
    logistic = found.propensity[0]
    assert logistic.subject["model"] == "logistic"
    assert all(math.isnan(logistic.mean[name]) for name in ("S_pMSE", "S_sd", "expected"))
    assert logistic.mean["pMSE"] > 0
    assert "fewer than 5 records per parameter" in logistic.undefined["S_pMSE"]
    text = " ".join(str(found).split())
    assert "S_pMSE (logistic) is not defined: fewer than 5 records per parameter" in text
    assert "(logistic) and" not in text
    assert "(logistic) times" not in text


def test_a_logistic_model_with_fewer_than_two_records_per_parameter_is_not_fitted() -> None:
    # 60 amounts: 100 records are told apart whatever the files are, 140 need not be
    apart = unveil.utility(unveil.Pair(*normal_amounts(50, 60, 1)), measures=["propensity"], propensity="logistic")
    assert all(math.isnan(apart.propensity[0].mean[name]) for name in ("pMSE", "SPECKS", "PO50", "S_pMSE"))
    assert "fewer than 2 records per parameter" in apart.propensity[0].undefined["pMSE"]
    assert "fewer than 5 records per parameter" in apart.propensity[0].undefined["S_pMSE"]
    assert "S_pMSE (logistic) is not defined" in " ".join(str(apart).split())
    fitted = unveil.utility(unveil.Pair(*normal_amounts(70, 60, 1)), measures=["propensity"], propensity="logistic")
    assert 0 < fitted.propensity[0].mean["pMSE"] <= 0.25


def test_a_logistic_model_with_five_records_per_parameter_has_one() -> None:
    ratios = []
    for seed in range(12):
        found = unveil.utility(
            unveil.Pair(*normal_amounts(100, 39, seed)), measures=["propensity"], propensity=["logistic"]
        )
        ratios.append(found.propensity[0].mean["S_pMSE"])
    error = np.std(ratios, ddof=1) / math.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1) < 4 * error + 0.1


def test_a_tree_of_too_few_records_has_not_found_the_files_alike() -> None:
    original = pa.table({"sex": list("mfmfmfmf"), "age": [1, 2, 3, 4, 5, 6, 7, 8]})
    release = pa.table({"sex": list("mmmm"), "age": [21, 22, 29, 24]})
    found = unveil.utility(unveil.Pair(original, release), measures=["propensity"])
    tree = found.propensity[1]
    assert tree.subject["model"] == "cart"
    assert all(math.isnan(tree.mean[name]) for name in ("pMSE", "S_pMSE", "SPECKS", "PO50"))
    assert "too few records" in tree.undefined["SPECKS"]
    assert "S_pMSE (cart) is not defined" in " ".join(str(found).split())
