"""Every measure against a plain re-computation from its formula, and against figures worked out by hand."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from reference import assert_same
from unveil._utility import amount_figures, cell_figures, cramers_v, interval_overlap, score_figures
from unveil._utility.cells import joint_cells
from unveil.models.logit import fit_logistic
from utility import plain_utility as plain

LEVELS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=40)
NUMBERS = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=40)


def counts(values: list[Any], levels: list[Any]) -> list[int]:
    return [values.count(level) for level in levels]


def survey(n: int, seed: int, *, shift: float = 0.0) -> pa.Table:
    """Persons with gaps, a special code, and an income that depends on sex and age."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(2, size=n)
    age = rng.integers(18, 80, size=n)
    income = np.round(800 + 300 * sex + 5 * age + shift + 200 * rng.standard_normal(n), 0)
    ill = rng.random(n) < 1 / (1 + np.exp(3 - 0.05 * age))
    income = np.where(rng.random(n) < 0.1, -8, income)
    region = rng.choice(list("NESW"), size=n, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    return pa.table(
        {
            "sex": np.where(sex, "m", "f").tolist(),
            "age": age,
            "income": income,
            "region": [None if gap else r for r, gap in zip(region, rng.random(n) < 0.05, strict=True)],
            "ill": np.where(ill, "yes", "no").tolist(),
        }
    )


ORIGINAL, RELEASES = survey(300, 1), [survey(250, 2, shift=40.0), survey(300, 3)]


def opened(releases: list[pa.Table] | None = None) -> unveil.Pair:
    return unveil.Pair(ORIGINAL, releases or RELEASES, special_codes={"income": [-8]})


# ------------------------------------------------------------------------------------------------- by hand
def test_two_cells_by_hand() -> None:
    # 60 and 40 against 50 and 50: N = 200, c = 1/2, scores 50/110 and 50/90
    pmse = (110 * (50 / 110 - 0.5) ** 2 + 90 * (50 / 90 - 0.5) ** 2) / 200
    found = cell_figures([60, 40], [50, 50])
    assert found["pMSE"] == pytest.approx(pmse, rel=1e-12)
    assert found["S_pMSE"] == pytest.approx(pmse / (1 * 0.25 * 0.5 / 200), rel=1e-12)
    assert found["VW"] == pytest.approx(100 / 55 + 100 / 45, rel=1e-12)
    assert found["TVD"] == pytest.approx(0.1)
    assert found["FT"] == pytest.approx(4 * ((50**0.5 - 60**0.5) ** 2 + (50**0.5 - 40**0.5) ** 2), rel=1e-12)


def test_unequal_sizes_by_hand() -> None:
    # original 6 and 2, release 1 and 3: c = 1/3, release expected 3 and 1, pooled 7/3 and 5/3
    found = cell_figures([6, 2], [1, 3])
    assert found["TVD"] == pytest.approx(0.5)
    assert found["VW"] == pytest.approx(4 / (7 / 3) + 4 / (5 / 3))
    assert found["pMSE"] == pytest.approx((7 * (1 / 7 - 1 / 3) ** 2 + 5 * (3 / 5 - 1 / 3) ** 2) / 12)
    assert found["S_pMSE"] == pytest.approx(found["VW"])


def test_overlap_by_hand() -> None:
    z = 1.959963984540054
    # intervals of widths 2z and 4z that share a length of 2z
    assert interval_overlap((0.0, 1.0), (z, 2.0)) == pytest.approx((1 + 0.5) / 2, rel=1e-9)
    # disjoint by as much as the narrower is wide
    assert interval_overlap((0.0, 1.0), (4 * z, 1.0)) == pytest.approx(-1.0, rel=1e-9)
    assert interval_overlap((3.0, 0.5), (3.0, 0.5)) == 1.0
    assert math.isnan(interval_overlap((1.0, 0.0), (1.0, 1.0)))


def test_bias_corrected_cramer_by_hand() -> None:
    # 2 x 2, n = 40, 15 on and 5 off the diagonal: phi2 = 0.25; corrected 0.25 - 1/39, sides 2 - 1/39
    cells, table = np.arange(4), np.array([15, 5, 5, 15])
    assert cramers_v(cells, table, 2) == pytest.approx(0.5)
    corrected = math.sqrt((0.25 - 1 / 39) / (1 - 1 / 39))
    assert cramers_v(cells, table, 2, corrected=True) == pytest.approx(corrected)
    independent = np.array([10, 10, 10, 10])
    assert cramers_v(cells, independent, 2, corrected=True) == 0.0


# ---------------------------------------------------------------------------------------- plain recomputation
@given(original=LEVELS, release=LEVELS)
def test_cells_equal_a_plain_recomputation(original: list[str], release: list[str]) -> None:
    found = cell_figures(counts(original, list("abcde")), counts(release, list("abcde")))
    assert_same(found, plain.plain_tables(original, release))


@given(original=NUMBERS, release=NUMBERS)
def test_distances_equal_a_plain_recomputation(original: list[float], release: list[float]) -> None:
    levels = sorted({*original, *release}, reverse=True)
    found = amount_figures(levels, counts(original, levels), counts(release, levels))
    assert_same(found, plain.plain_distances(original, release))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("wxyz")), min_size=1, max_size=40))
def test_cramer_equals_a_plain_recomputation(records: list[tuple[str, str]]) -> None:
    first, second = (np.array([ord(x) % 4 for x in side], dtype=np.int32) for side in zip(*records, strict=True))
    cells, table, _ = joint_cells((first, first[:0]), (second, second[:0]), 4, 4)
    expected = plain.plain_cramer([a for a, _ in records], [b for _, b in records])
    found = cramers_v(cells, table, 4)
    assert math.isnan(found) if math.isnan(expected) else found == pytest.approx(expected, abs=1e-7)


@given(st.lists(st.tuples(st.sampled_from([0.25, 0.5, 0.75, 0.9]), st.booleans()), min_size=2, max_size=30))
def test_scores_equal_a_plain_recomputation(records: list[tuple[float, bool]]) -> None:
    scores, second = [p for p, _ in records], [s for _, s in records]
    if all(second) or not any(second):
        return
    assert_same(score_figures(np.array(scores), np.array(second)), plain.plain_scores(scores, second))


def test_large_tables_are_counted_alike() -> None:
    # few records in a huge table go another way than many in a small one
    rng = np.random.default_rng(5)
    a, b = (rng.integers(3000, size=400).astype(np.int32) for _ in range(2))
    cells, d, s = joint_cells((a, a[:100]), (b, b[:100]), 3000, 3000)
    folded = [int(x) * 3000 + int(y) for x, y in zip(a, b, strict=True)]
    assert cells.tolist() == sorted(set(folded))
    assert d.tolist() == [folded.count(cell) for cell in cells]
    assert s.tolist() == [folded[:100].count(cell) for cell in cells]


def cell_names(pair: unveil.Pair, name: str, n_groups: int = 5) -> list[list[str]]:
    """Every record's cell, of the original and then of each release, with groups cut by hand."""
    column = pair.column(name)
    labels = [[column.labels[code] for code in codes] for codes in (column.original, *column.releases)]
    if column.kind != "numeric":
        return labels
    special = {column.label(code) for code in column.special} | {"Missing"}
    amounts = [float(x) for file in labels for x in file if x not in special]
    breaks = np.quantile(amounts, np.linspace(0, 1, n_groups + 1))
    return [
        [x if x in special else str(int(np.clip(np.searchsorted(breaks, float(x), "right"), 1, n_groups))) for x in f]
        for f in labels
    ]


def test_variables_and_pairs_of_files_equal_a_plain_recomputation() -> None:
    pair = opened()
    found = unveil.utility(pair, measures=["marginals", "pairs"])
    cells = {name: cell_names(pair, name) for name in pair.names}
    for c in found.variables:
        original, *releases = cells[c.subject["variable"]]
        for figures, release in zip(c.releases, releases, strict=True):
            expected = plain.plain_tables(original, release)
            assert_same({name: figures[name] for name in expected}, expected, c.subject["variable"])
    assert len(found.pairs) == 10
    for c in found.pairs:
        first, second = (cells[c.subject[side]] for side in ("first", "second"))
        joint = [list(zip(a, b, strict=True)) for a, b in zip(first, second, strict=True)]
        for r, figures in enumerate(c.releases):
            expected = plain.plain_tables(joint[0], joint[r + 1])
            expected |= {"V_original": plain.plain_cramer(first[0], second[0])}
            expected |= {"V_release": plain.plain_cramer(first[r + 1], second[r + 1])}
            assert_same({name: figures[name] for name in expected}, expected, str(c.subject))


def test_correlations_are_those_of_records_with_both_amounts() -> None:
    pair = opened()
    found = next(c for c in unveil.utility(pair, measures="pairs").pairs if "pearson_original" in c.mean)
    assert (found.subject["first"], found.subject["second"]) == ("age", "income")
    files = [
        [(float(a), float(i)) for a, i in zip(t["age"].to_pylist(), t["income"].to_pylist(), strict=True) if i != -8]
        for t in (ORIGINAL, *RELEASES)
    ]
    for figures, release in zip(found.releases, files[1:], strict=True):
        for file, name in ((files[0], "original"), (release, "release")):
            x, y = [a for a, _ in file], [b for _, b in file]
            assert figures[f"pearson_{name}"] == pytest.approx(plain.plain_correlation(x, y), abs=1e-10)
            ranks = plain.plain_correlation(plain.plain_ranks(x), plain.plain_ranks(y))
            assert figures[f"spearman_{name}"] == pytest.approx(ranks, abs=1e-10)


def test_amounts_of_files_equal_a_plain_recomputation() -> None:
    found = unveil.utility(opened(), measures="marginals")
    income = next(c for c in found.variables if c.subject["variable"] == "income")
    files = [[v for v in t["income"].to_pylist() if v != -8] for t in (ORIGINAL, *RELEASES)]
    for figures, release, table in zip(income.releases, files[1:], RELEASES, strict=True):
        expected = plain.plain_distances(files[0], release)
        assert_same({name: figures[name] for name in expected}, expected)
        assert figures["no_amount_original"] == pytest.approx(1 - len(files[0]) / ORIGINAL.num_rows)
        assert figures["no_amount_release"] == pytest.approx(1 - len(release) / table.num_rows)


def test_logistic_propensity_equals_a_plain_recomputation() -> None:
    pair = opened([RELEASES[0]])
    found = unveil.utility(pair, ["sex", "age", "income"], measures="propensity", propensity="logistic")
    rows, second = [], []
    for table, label in ((ORIGINAL, False), (RELEASES[0], True)):
        for record in table.to_pylist():
            special = record["income"] == -8
            rows.append([1.0, float(record["sex"] == "m"), (record["age"] - 50) / 20,
                         0.0 if special else (record["income"] - 1200) / 300, float(special)])  # fmt: skip
            second.append(label)
    beta = plain.plain_logit(rows, [float(s) for s in second])
    scores = [1 / (1 + math.exp(-sum(b * x for b, x in zip(beta, row, strict=True)))) for row in rows]
    expected = plain.plain_scores(scores, second)
    figures = found.propensity[0].releases[0]
    assert_same({name: figures[name] for name in expected}, expected, tolerance=1e-7)
    c, n = 250 / 550, 550
    assert figures["parameters"] == 5
    assert figures["expected"] == pytest.approx(4 * (1 - c) ** 2 * c / n)
    assert figures["S_pMSE"] == pytest.approx(expected["pMSE"] / (4 * (1 - c) ** 2 * c / n), rel=1e-6)
    assert figures["S_sd"] == pytest.approx(math.sqrt(2 / 4))


def test_a_tree_with_one_variable_has_a_leaf_per_level() -> None:
    pair = opened([RELEASES[0]])
    found = unveil.utility(pair, "region", measures="propensity", propensity="cart", minbucket=1)
    expected = plain.plain_tables(ORIGINAL["region"].to_pylist(), RELEASES[0]["region"].to_pylist())
    assert found.propensity[0].releases[0]["pMSE"] == pytest.approx(expected["pMSE"], rel=1e-9)
    # with a score per level SPECKS is the distance of the level shares
    assert found.propensity[0].releases[0]["SPECKS"] == pytest.approx(expected["TVD"], rel=1e-9)


def test_null_by_permutation_of_a_table_is_that_of_the_formula() -> None:
    # with a leaf per level pMSE N / (c (1 - c)) is chi-square with levels - 1 degrees of freedom
    rng = np.random.default_rng(8)
    tables = [pa.table({"x": rng.choice(list("abcdef"), n).tolist()}) for n in (800, 400)]
    pair = unveil.Pair(*tables)
    n = 2000
    found = unveil.utility(pair, measures="propensity", propensity="cart", minbucket=1, permutations=n)
    figures = found.propensity[0].releases[0]
    c = 400 / 1200
    expected = 5 * (1 - c) ** 2 * c / 1200
    error = math.sqrt(2 / 5 / n)
    assert abs(figures["expected"] / expected - 1) < 4 * error
    assert figures["S_sd"] == pytest.approx(math.sqrt(2 / 5), abs=0.06)


def test_null_by_pairs_of_releases() -> None:
    releases = [survey(250, 2), survey(250, 3), survey(250, 4)]
    found = unveil.utility(opened(releases), "region", measures="propensity", propensity="cart", null="pairs",
                           minbucket=1)  # fmt: skip
    names = [r["region"].to_pylist() for r in releases]
    between = [plain.plain_tables(names[a], names[b])["pMSE"] for a, b in ((0, 1), (0, 2), (1, 2))]
    c, n = 250 / 550, 550
    # from 1/n2 + 1/n2 at c = 1/2 to 1/n2 at c: pMSE = c^2 (1 - c)^2 distance^2
    expected = sum(between) / 3 / (1 / 16) / (2 / 250) * c**2 * (1 - c) ** 2 / 250
    assert found.propensity[0].releases[0]["expected"] == pytest.approx(expected, rel=1e-9)
    assert c * n == pytest.approx(250)


# -------------------------------------------------------------------------------------------------- regressions
def design(table: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    records = [r for r in table.to_pylist() if r["income"] != -8 and r["region"] is not None]
    x = np.array([[1.0, r["age"], r["sex"] == "m", *(r["region"] == k for k in "NSW")] for r in records], dtype=float)
    return x, np.array([r["income"] for r in records], dtype=float), np.array([r["ill"] == "yes" for r in records])


def normal_equations(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    beta = np.linalg.solve(x.T @ x, x.T @ y)
    variance = np.sum((y - x @ beta) ** 2) / (len(y) - x.shape[1])
    return beta, np.sqrt(np.diag(np.linalg.inv(x.T @ x)) * variance)


def by_term(found: unveil.Utility) -> Mapping[str, Any]:
    return {c.subject["term"]: c for c in found.models}


def test_linear_model_equals_the_normal_equations() -> None:
    found = by_term(unveil.utility(opened(), measures="models", models="income ~ age + sex + region"))
    assert list(found) == ["(intercept)", "age", "sex: m", "region: N", "region: S", "region: W"]
    expected = [normal_equations(*design(t)[:2]) for t in (ORIGINAL, *RELEASES)]
    for k, c in enumerate(found.values()):
        (first, se), *after = ((beta[k], errors[k]) for beta, errors in expected)
        for figures, (estimate, error) in zip(c.releases, after, strict=True):
            assert figures["estimate_original"] == pytest.approx(first, rel=1e-8)
            assert figures["se_original"] == pytest.approx(se, rel=1e-8)
            assert figures["estimate"] == pytest.approx(estimate, rel=1e-8)
            assert figures["se"] == pytest.approx(error, rel=1e-8)
            assert figures["std_difference"] == pytest.approx((estimate - first) / se, rel=1e-6)
        # Reiter (2003): mean of the variances, and the variance between over m
        estimates = [estimate for estimate, _ in after]
        total = np.mean([error**2 for _, error in after]) + np.var(estimates, ddof=1) / 2
        assert c.mean["estimate"] == pytest.approx(np.mean(estimates), rel=1e-8)
        assert c.mean["se"] == pytest.approx(math.sqrt(total), rel=1e-8)
        overlap = interval_overlap((first, se), (float(np.mean(estimates)), math.sqrt(total)))
        assert c.mean["overlap"] == pytest.approx(overlap, rel=1e-6)


def test_logistic_model_equals_a_plain_recomputation() -> None:
    found = by_term(
        unveil.utility(opened(), measures="models", models={"outcome": "ill", "predictors": ["age", "sex"]})
    )
    assert next(iter(found.values())).subject["kind"] == "logistic"
    assert next(iter(found.values())).subject["event"] == "yes"
    for place, table in enumerate(RELEASES):
        rows = [[1.0, (r["age"] - 50) / 10, float(r["sex"] == "m")] for r in table.to_pylist()]
        beta = plain.plain_logit(rows, [float(r["ill"] == "yes") for r in table.to_pylist()])
        expected = {"(intercept)": beta[0] - 5 * beta[1], "age": beta[1] / 10, "sex: m": beta[2]}
        x = np.array(rows)
        p = 1 / (1 + np.exp(-x @ np.array(beta)))
        errors = np.sqrt(np.diag(np.linalg.inv(x.T @ (x * (p * (1 - p))[:, None]))))
        for term, value in expected.items():
            assert found[term].releases[place]["estimate"] == pytest.approx(value, rel=1e-6)
        assert found["age"].releases[place]["se"] == pytest.approx(errors[1] / 10, rel=1e-5)
        assert found["sex: m"].releases[place]["se"] == pytest.approx(errors[2], rel=1e-5)


def test_separated_levels_leave_the_others_as_without_them() -> None:
    from scipy import sparse

    rng = np.random.default_rng(3)
    x = np.column_stack([np.ones(200), rng.standard_normal(200), np.repeat([0.0, 1.0], [190, 10])])
    y = (rng.random(200) < 0.5).astype(float)
    y[190:] = 1.0
    found = fit_logistic(sparse.csr_matrix(x), y)
    assert found.diverging.tolist() == [False, False, True]
    beta = plain.plain_logit(x[:190, :2].tolist(), y[:190].tolist())
    assert found.coefficients[:2] == pytest.approx(beta, abs=1e-5)
    assert (found.probabilities[190:] > 1 - 1e-6).all()


def test_tables_counted_together_equal_tables_counted_alone() -> None:
    """Few levels and many, in files of which one may have no records."""
    rng = np.random.default_rng(8)
    levels = (2, 7, 3000, 4)
    columns = [f"v{i}" for i in levels]
    original, release = (
        pa.table({name: rng.integers(k, size=n).astype(str) for name, k in zip(columns, levels, strict=True)})
        for n in (300, 200)
    )
    with warnings.catch_warnings(action="ignore"):
        pair = unveil.Pair(original, [release, release.slice(0, 0)])
    for corrected in (False, True):
        found = unveil.utility(pair, measures="pairs", bias_corrected=corrected)
        for c in found.pairs:
            one, other = (pair.column(c.subject[side]) for side in ("first", "second"))
            for r, figures in enumerate(c.releases):
                cells, d, s = joint_cells(
                    (one.original, one.releases[r]), (other.original, other.releases[r]), one.n_levels, other.n_levels
                )
                expected = cell_figures(d, s)
                for file, counts in (("original", d), ("release", s)):
                    expected[f"V_{file}"] = cramers_v(cells, counts, other.n_levels, corrected=corrected)
                assert_same({name: figures[name] for name in expected}, expected, str(c.subject))
