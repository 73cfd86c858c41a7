"""Methods for one variable: by hand, by simulation with a stated error, and that nothing crashes."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from unveil.errors import CallError, DataError, UnveilWarning
from unveil.models.design import Coded
from unveil.models.scale import Scale
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.methods import METHODS, Ctree, Logreg, Norm, Normrank, Pmm, Polyreg, RandomForest, Sample
from unveil.synthesis.methods.ctree import FittedCtree
from unveil.synthesis.methods.norm import _log_normal_mass
from unveil.trees import Column

NUMERIC = ("norm", "normrank", "pmm")
CLASSES = ("logreg", "polyreg")


def categorical(codes: object, n_levels: int | None = None) -> Column:
    array = np.asarray(codes, dtype=np.int32)
    return Column(array, "categorical", int(array.max()) + 1 if n_levels is None else n_levels)


def values(column: Column) -> np.ndarray:
    assert column.values is not None
    return column.values[column.codes]


def repeated(column: Column, times: int) -> Column:
    """The column's first record, many times."""
    return Column(np.full(times, column.codes[0]), column.kind, column.n_levels, column.values)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def assert_draws_follow_log_prob(method: object, response: Column, predictors: Sequence[Column]) -> None:
    """Chi-square test of 20 000 draws at one point against the stated probabilities, which sum to 1."""
    fitted = method.fit(response, predictors, rng())  # type: ignore[attr-defined]
    n = 20_000
    here = [repeated(column, n) for column in predictors]
    drawn = fitted.draw(here or [categorical(np.zeros(n))], rng(2))
    levels = Column(np.arange(response.n_levels), response.kind, response.n_levels, response.values)
    probability = np.exp(fitted.log_prob(levels, [repeated(column, response.n_levels) for column in predictors]))
    assert probability.sum() == pytest.approx(1)
    counts = np.bincount(drawn.codes, minlength=response.n_levels)
    assert (counts[probability == 0] == 0).all()
    possible = probability > 0
    if possible.sum() > 1:
        assert stats.chisquare(counts[possible], n * probability[possible]).pvalue > 0.001


MIXED = rng(7)
N = 300
X = [
    Column.from_values(MIXED.normal(size=N).round(1)),
    categorical(MIXED.integers(4, size=N)),
    Column(MIXED.integers(3, size=N), "ordered", 3),
]
NUMBER = Column.from_values(np.round(values(X[0]) * 2 + X[1].codes + MIXED.normal(size=N)))
CLASS = categorical((X[1].codes + MIXED.integers(2, size=N)) % 4, 5)
BINARY = categorical(X[1].codes > MIXED.integers(4, size=N), 2)


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"norm"}))
@pytest.mark.parametrize("with_predictors", [True, False])
def test_draws_follow_the_stated_probabilities(name: str, with_predictors: bool) -> None:
    response = NUMBER if name in NUMERIC else BINARY if name == "logreg" else CLASS
    predictors = X if with_predictors else []
    fitted = METHODS[name]().fit(response, predictors, rng())
    if fitted.has_likelihood:
        assert_draws_follow_log_prob(METHODS[name](), response, predictors)
    else:
        with pytest.raises(CallError):
            fitted.log_prob(response, predictors)


def test_likelihood_is_offered_where_it_is_exact() -> None:
    known = {
        name for name in METHODS if METHODS[name]().fit(NUMBER if name in NUMERIC else BINARY, X, rng()).has_likelihood
    }
    assert known == {"sample", "ctree", "norm", "normrank", "pmm", "logreg", "polyreg"}
    for method in (Norm(proper=True), Normrank(proper=True), Pmm(proper=True)):
        fitted = method.fit(NUMBER, X, rng())
        assert not fitted.has_likelihood
        with pytest.raises(CallError, match="proper"):
            fitted.log_prob(NUMBER, X)


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"norm"}))
def test_observed_values_keep_their_array_and_unknown_ones_are_impossible(name: str) -> None:
    response = NUMBER if name not in CLASSES else BINARY
    fitted = METHODS[name]().fit(response, X, rng())
    drawn = fitted.draw(X, rng())
    assert drawn.values is response.values
    assert (drawn.kind, drawn.n_levels) == (response.kind, response.n_levels)
    if fitted.has_likelihood:
        three = [Column(x.codes[:3], x.kind, x.n_levels, x.values) for x in X]
        unknown = Column.from_values([0.25, 1e9, -1e9]) if response is NUMBER else categorical([2, 2, 2], 3)
        assert np.isneginf(fitted.log_prob(unknown, three)).all()


@pytest.mark.parametrize("name", sorted(METHODS))
def test_same_seed_same_draws_and_no_records_no_draws(name: str) -> None:
    response = NUMBER if name in NUMERIC else BINARY
    one, other = (METHODS[name]().fit(response, X, rng()).draw(X, rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one.codes, other.codes)
    empty = [x.without_records() for x in X]
    assert METHODS[name]().fit(response, X, rng()).draw(empty, rng()).codes.size == 0


@pytest.mark.parametrize("name", sorted(METHODS))
def test_wrong_variables(name: str) -> None:
    method = METHODS[name]()
    if name in NUMERIC:
        with pytest.raises(CallError, match="cannot model categorical"):
            method.fit(CLASS, X, rng())
    if name in CLASSES:
        with pytest.raises(CallError, match="cannot model numeric"):
            method.fit(NUMBER, X, rng())
    response = NUMBER if name in NUMERIC else BINARY
    with pytest.raises(DataError, match="no records"):
        method.fit(response.without_records(), [x.without_records() for x in X], rng())


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Ctree(mincriterion=1.1), "mincriterion"),
        (lambda: Ctree(minbucket=0), "minbucket"),
        (lambda: Pmm(n_donors=0), "n_donors"),
        (lambda: Polyreg(prior_scale=0), "prior_scale"),
        (lambda: Logreg(max_iter=0), "max_iter"),
        (lambda: RandomForest(n_trees=0), "n_trees"),
        (lambda: RandomForest(n_predictors=0), "n_predictors"),
    ],
)
def test_settings_out_of_range(make: object, word: str) -> None:
    with pytest.raises(CallError, match=word):
        make()  # type: ignore[operator]


# sample


def test_sample_shares() -> None:
    y = categorical([0, 0, 0, 2], 3)
    fitted = Sample().fit(y, X, rng())
    assert np.exp(fitted.log_prob(categorical([0, 1, 2], 3), [])).tolist() == pytest.approx([0.75, 0, 0.25])


# ctree


def test_ctree_without_dependence_is_one_leaf_in_nine_of_ten_files() -> None:
    """mincriterion 0.9: standard error of 600 files 0.0122, three of them and 0.01 for the approximation."""
    draws = rng(11)
    single = 0
    for _ in range(600):
        x = [
            Column.from_values(draws.normal(size=120)),
            categorical(draws.integers(2, size=120)),
            categorical(draws.integers(3, size=120)),
        ]
        single += Ctree().fit(Column.from_values(draws.normal(size=120)), x, rng()).n_leaves == 1
    assert single / 600 == pytest.approx(0.9, abs=3 * 0.0122 + 0.01)


def test_ctree_finds_the_split_by_hand() -> None:
    x = Column.from_values(np.arange(40))
    noise = categorical(np.arange(40) % 2)
    y = categorical(np.arange(40) >= 25)
    tree = Ctree().fit(y, [noise, x], rng())
    assert tree.n_leaves == 2
    assert tree.nodes[0].feature == 1
    assert tree.nodes[0].threshold == 24.5
    assert np.exp(
        tree.log_prob(categorical([0, 0], 2), [categorical([0, 0], 2), Column.from_values([24.4, 24.6])])
    ).tolist() == [1, 0]


def test_ctree_leaves_hold_minbucket_records() -> None:
    draws = rng(4)
    x = [Column.from_values(draws.normal(size=500)), categorical(draws.integers(8, size=500))]
    y = Column.from_values(values(x[0]) * 3 + x[1].codes + draws.normal(size=500))
    for minbucket in (5, 20):
        tree = Ctree(minbucket=minbucket).fit(y, x, rng())
        assert tree.n_leaves > 5
        leaves = np.bincount(tree.apply(x), minlength=tree.n_leaves)
        assert leaves.min() >= minbucket
        np.testing.assert_array_equal(leaves, tree.donors.size)


def test_ctree_tries_the_next_predictor_if_the_first_leaves_too_few_records() -> None:
    rare = np.zeros(60)
    rare[:3] = 1
    weak = np.repeat([0.0, 1.0], 30)
    y = Column.from_values(8 * rare + 3 * weak + np.tile([0.0, 0.1], 30))
    tree = Ctree().fit(y, [Column.from_values(rare), categorical(weak)], rng())
    assert tree.nodes[0].feature == 1


def test_ctree_sends_levels_it_has_not_seen_with_the_majority() -> None:
    x = categorical(np.repeat([0, 1], [30, 10]), 4)
    y = categorical(np.repeat([0, 1], [30, 10]))
    tree = Ctree().fit(y, [x], rng())
    assert tree.draw([Column(np.array([0, 1, 2, 3, 4]), "categorical", 5)], rng()).codes.tolist() == [0, 1, 0, 0, 0]


def test_ctree_is_a_function_of_the_data() -> None:
    order = rng(5).permutation(N)
    shuffled = [Column(x.codes[order], x.kind, x.n_levels, x.values) for x in X]
    y = Column(CLASS.codes[order], "categorical", CLASS.n_levels)
    one, other = Ctree().fit(CLASS, X, rng()), Ctree().fit(y, shuffled, rng(9))
    np.testing.assert_array_equal(one.apply(X)[order], other.apply(shuffled))


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
def test_ctree_of_the_16_cells(shared: Path, kind: str) -> None:
    """The reference's mean counts over 100 seeds; the error of a difference of two means of 100."""
    with (shared / "golden" / "cart" / "latner_counts_100seeds.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["config"] == "ctree_default"]
    reference = np.array([[int(row[f"n{cell:04b}"]) for cell in range(16)] for row in rows])
    assert reference[:, 15].mean() == pytest.approx(1.03)
    original = pyarrow.csv.read_csv(shared / "data" / "latner_original.csv")
    kinds = dict.fromkeys(original.column_names, kind)
    fitted = CartSynthesizer(methods="ctree", kinds=kinds).fit(original)  # type: ignore[arg-type]
    trees = [step.fitted for plan in fitted.plans for step in plan.steps]
    assert [tree.n_leaves if isinstance(tree, FittedCtree) else 1 for tree in trees] == [1, 2, 3, 4]
    counts = []
    for release in fitted.sample(m=100, seed=1):
        bits = [np.asarray(release.column(name)) for name in original.column_names]
        counts.append(np.bincount(bits[0] * 8 + bits[1] * 4 + bits[2] * 2 + bits[3], minlength=16))
    error = np.sqrt((np.var(counts, axis=0, ddof=1) + reference.var(axis=0, ddof=1)) / 100)
    z = (np.mean(counts, axis=0) - reference.mean(axis=0)) / error
    assert np.abs(z).max() < 3.5
    assert np.mean(counts, axis=0)[15] == pytest.approx(1.03, abs=0.3)


# norm, normrank, pmm


def test_norm_recovers_a_linear_model() -> None:
    """Slope, level and residual spread of 20 000 draws from 20 000 records: each within four standard errors."""
    draws, n = rng(6), 20_000
    x, g = draws.normal(size=n), draws.integers(3, size=n)
    y = 5 + 2 * x + np.array([0, 1, -1])[g] + 0.5 * draws.normal(size=n)
    predictors = [Column.from_values(x), categorical(g)]
    drawn = values(Norm().fit(Column.from_values(y), predictors, rng()).draw(predictors, rng(8)))
    residual = drawn - (5 + 2 * x + np.array([0, 1, -1])[g])
    error = 0.5 * np.sqrt(2 / n)
    assert residual.mean() == pytest.approx(0, abs=4 * error * np.sqrt(3))
    assert np.cov(residual, x)[0, 1] == pytest.approx(0, abs=4 * error)
    assert residual.std() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(n))


def test_norm_proper_draws_parameters_from_their_posterior() -> None:
    """Variance of the drawn mean of 25 values: sigma^2 / n times df / (df - 2); 4000 draws, error 2.5 percent."""
    y = Column.from_values(rng(2).normal(size=25))
    variance = values(y).var(ddof=1)
    source = rng(3)
    fitted = Norm().fit(y, [], rng())
    constant = np.array([fitted.regression.model.redrawn(source)[0].coefficients[0] for _ in range(4000)])
    means = fitted.regression.scale.values(constant)
    assert np.var(means) == pytest.approx(variance / 25 * 24 / 22, rel=0.1)
    assert np.mean(means) == pytest.approx(values(y).mean(), abs=4 * np.sqrt(variance / 25 / 4000))
    first, other = (Norm(proper=True).fit(y, [], rng(seed)) for seed in (1, 2))
    assert first.regression.sigma != other.regression.sigma != fitted.regression.sigma


def test_norm_rounds_to_the_decimals_of_the_data() -> None:
    for decimals in (0, 2):
        y = Column.from_values(np.round(rng().normal(size=200) * 10, decimals))
        drawn = values(Norm().fit(y, [], rng()).draw([categorical(np.zeros(100))], rng()))
        np.testing.assert_array_equal(drawn, np.round(drawn, decimals))


@pytest.mark.parametrize("decimals", [0, 1, 3])
@pytest.mark.parametrize("with_predictors", [True, False])
def test_norm_draws_rounded_numbers_with_the_stated_probabilities(decimals: int, with_predictors: bool) -> None:
    """Chi-square test of 20 000 draws at one point over all numbers that are drawn, and scipy's normal distribution."""
    predictors = X if with_predictors else []
    noise = rng(3).normal(size=N) * 10.0**-decimals
    y = Column.from_values(np.round(values(X[0]) * 2 * 10.0**-decimals + noise, decimals))
    fitted = Norm().fit(y, predictors, rng())
    n = 20_000
    here = [repeated(column, n) for column in predictors]
    drawn = values(fitted.draw(here or [categorical(np.zeros(n))], rng(2)))
    seen = np.unique(drawn)
    grid = np.round(
        np.arange(round(seen[0] * 10**decimals) - 40, round(seen[-1] * 10**decimals) + 41) / 10**decimals, 9
    )
    at = [repeated(column, grid.size) for column in predictors]
    probability = np.exp(fitted.log_prob(Column.from_values(grid), at))
    assert probability.sum() == pytest.approx(1)
    counts = np.array([(np.abs(drawn - value) < 1e-9).sum() for value in grid])
    assert counts.sum() == n
    often = n * probability > 5
    assert (
        stats.chisquare(counts[often], counts[often].sum() * probability[often] / probability[often].sum()).pvalue
        > 0.001
    )
    design = np.ones((N, 1))
    if with_predictors:
        dummies = [np.eye(column.n_levels)[column.codes][:, 1:] for column in X[1:]]
        design = np.column_stack([design, values(X[0]), *dummies])
    b, squares, rank, _ = np.linalg.lstsq(design, values(y), rcond=None)
    normal = stats.norm(design[0] @ b, np.sqrt(squares[0] / (N - rank)))
    wanted = normal.cdf(grid + 0.5 * 10.0**-decimals) - normal.cdf(grid - 0.5 * 10.0**-decimals)
    np.testing.assert_allclose(probability, wanted, atol=1e-12)
    between = Column.from_values(grid[:5] + 0.3 * 10.0**-decimals)
    assert np.isneginf(fitted.log_prob(between, [repeated(column, 5) for column in predictors])).all()


def test_norm_without_decimals_has_a_density() -> None:
    """Per distance to the next number that a computer holds, so that worlds with and without decimals compare."""
    y = Column.from_values(rng(4).normal(size=200))
    fitted = Norm().fit(y, [], rng())
    density = stats.norm(values(y).mean(), values(y).std(ddof=1)).logpdf(values(y))
    found = fitted.log_prob(y, [])
    np.testing.assert_allclose(found, density + np.log(np.spacing(np.abs(values(y)))), atol=1e-9)


def test_norm_in_the_tails_and_without_noise() -> None:
    """Far from the mean the probability is that of Mills' ratio; without noise one value is certain."""
    y = Column.from_values([-1.0, 0.0, 1.0])
    log = Norm().fit(y, [], rng()).log_prob(Column.from_values([-60.0, 60.0]), [])
    assert log == pytest.approx(np.full(2, stats.norm.logsf(59.5)), abs=1e-9)
    x = Column.from_values(np.arange(9.0))
    exact = Norm().fit(Column.from_values(np.arange(9.0) * 3), [x], rng())
    here = Column.from_values([2.0, 2.1, 2.1])
    assert exact.log_prob(Column.from_values([6.0, 6.0, 7.0]), [here]).tolist() == [0.0, 0.0, -np.inf]


@given(st.floats(-40, 40), st.floats(-14, 1))
def test_normal_mass_of_any_interval(middle: float, log10_half: float) -> None:
    """Against the survival function of the side where nothing is lost, or the density where the interval is narrow."""
    half = 10.0**log10_half
    found = _log_normal_mass(np.array([middle]), np.array([half]))[0]
    if half > 1e-2:
        near, far = abs(middle) - half, abs(middle) + half
        wanted = stats.norm.logsf(near) + np.log1p(-np.exp(stats.norm.logsf(far) - stats.norm.logsf(near)))
    else:
        steps = np.linspace(-half, half, 2001)
        slope = np.exp(-middle * steps - steps**2 / 2)
        wanted = stats.norm.logpdf(middle) + np.log(integrate.simpson(slope, x=steps))
    assert found == pytest.approx(wanted, abs=1e-8)


def test_collinear_and_constant_predictors_change_nothing() -> None:
    x = Column.from_values(rng().normal(size=100))
    y = Column.from_values(values(x) + rng(2).normal(size=100))
    g = categorical(rng(3).integers(3, size=100))
    plain = Norm().fit(y, [x, g], rng())
    more = [
        x,
        g,
        Column.from_values(-3 * values(x) + 8),
        g,
        categorical(np.zeros(100)),
        Column.from_values(np.ones(100)),
    ]
    fitted = Norm().fit(y, more, rng())
    assert fitted.regression.sigma == pytest.approx(plain.regression.sigma)
    expected = plain.regression.predict([x, g], 100)
    np.testing.assert_allclose(fitted.regression.predict(more, 100), expected, atol=1e-8)


def test_as_many_parameters_as_records_are_told() -> None:
    y = Column.from_values([1, 2, 3, 4, 5])
    for method in (Norm(), Normrank()):
        with pytest.warns(UnveilWarning, match="as many parameters as records"):
            method.fit(y, [categorical(np.arange(5))], rng())


def test_normrank_keeps_the_margin() -> None:
    """Ranks of the drawn values are uniform but for the rounding: a Kolmogorov-Smirnov test."""
    y = Column.from_values(np.exp(rng().normal(size=2000)))
    drawn = Normrank().fit(y, [], rng()).draw([categorical(np.zeros(2000))], rng(2))
    assert stats.ks_2samp(values(y), values(drawn)).pvalue > 0.01


def test_pmm_donors_by_hand() -> None:
    x = Column.from_values([0, 1, 2, 3, 4, 5])
    y = Column.from_values([10, 11, 12, 13, 14, 15])
    fitted = Pmm(n_donors=3).fit(y, [x], rng())
    probability = [np.exp(fitted.log_prob(y, [Column.from_values(np.full(6, place))])) for place in (-9.0, 2.1, 99.0)]
    np.testing.assert_allclose(probability, np.array([[1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1]]) / 3)


def test_pmm_ties_are_all_donors() -> None:
    """With one binary predictor every record of the group is as near as the nearest."""
    g = categorical(np.repeat([0, 1], [40, 60]))
    y = Column.from_values(np.concatenate([np.arange(40), 100 + np.arange(60)]))
    fitted = Pmm().fit(y, [g], rng())
    np.testing.assert_allclose(np.exp(fitted.log_prob(y, [g])), np.repeat([1 / 40, 1 / 60], [40, 60]))


def test_pmm_pools_against_a_search_of_all_records() -> None:
    y = Column.from_values(rng(3).normal(size=50))
    x = Column.from_values(rng(4).normal(size=50))
    fitted = Pmm(n_donors=4).fit(y, [x], rng())

    def predicted(column: Column, n: int) -> np.ndarray:
        return np.round(fitted.design.matrix([Coded.of(column)], n, constant=True) @ fitted.model.coefficients, 9)

    expected = predicted(x, 50)
    for place in rng(5).normal(size=30):
        here = Column.from_values([place])
        distance = np.abs(expected - predicted(here, 1))
        donors = np.argsort(distance)[:4]
        share = np.exp(fitted.log_prob(y, [repeated(here, 50)]))
        np.testing.assert_allclose(share, np.isin(np.arange(50), donors) / 4)


# logreg, polyreg


def shares(method: object, response: Column, predictors: Sequence[Column], here: Sequence[Column]) -> np.ndarray:
    fitted = method.fit(response, predictors, rng())  # type: ignore[attr-defined]
    k = response.n_levels
    return np.exp(fitted.log_prob(Column(np.arange(k), response.kind, k), [repeated(column, k) for column in here]))


def test_polyreg_of_one_group_variable_gives_its_shares() -> None:
    """Saturated, so that the fit is the table but for the penalty."""
    region = categorical(np.repeat([0, 1], 6000))
    opinion = categorical(
        np.concatenate([np.repeat([0, 1, 3], [600, 1800, 3600]), np.repeat([0, 1, 3], [3000, 2400, 600])]), 4
    )
    np.testing.assert_allclose(
        shares(Polyreg(), opinion, [region], [categorical([0], 2)]), [0.1, 0.3, 0, 0.6], atol=0.003
    )
    np.testing.assert_allclose(
        shares(Polyreg(), opinion, [region], [categorical([1], 2)]), [0.5, 0.4, 0, 0.1], atol=0.003
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_penalised_fit_is_the_minimum(n_classes: int) -> None:
    """Against a general minimiser on the penalised likelihood, written out for one numeric predictor."""
    x = rng(1).normal(size=60)
    codes = np.clip(np.digitize(x + rng(2).normal(size=60), [-0.3, 0.6]), 0, n_classes - 1)
    y = categorical(codes, n_classes)
    fitted = Polyreg(prior_scale=0.7).fit(y, [Column.from_values(x)], rng())
    z = (x - x.mean()) / x.std()
    free = n_classes if n_classes > 2 else 1

    def loss(parameters: np.ndarray) -> float:
        a, b = np.zeros(n_classes), np.zeros(n_classes)
        a[n_classes - free :], b[n_classes - free :] = parameters[:free], parameters[free:]
        linear = a + np.outer(z, b)
        likelihood = linear[np.arange(60), codes] - np.log(np.exp(linear).sum(axis=1))
        return float(-likelihood.sum() + (b**2).sum() / (2 * 0.7**2))

    best = optimize.minimize(loss, np.zeros(2 * free), method="BFGS")
    found = np.concatenate([fitted.constant[n_classes - free :], fitted.coefficients[0, n_classes - free :]])
    assert loss(found) == pytest.approx(best.fun, abs=1e-5)
    np.testing.assert_allclose(found[free:], best.x[free:], atol=2e-3)


def test_separated_classes_and_single_records_have_finite_estimates() -> None:
    x = Column.from_values(np.arange(50))
    separated = categorical(np.arange(50) >= 25)
    fitted = Logreg().fit(separated, [x], rng())
    assert np.isfinite(fitted.coefficients).all()
    assert (fitted.draw([Column.from_values([0.0, 49.0])], rng()).codes == [0, 1]).all()
    single = categorical([0] * 49 + [1])
    assert np.isfinite(Polyreg().fit(single, [x, categorical(np.arange(50) % 3)], rng()).coefficients).all()


def test_one_class_and_absent_classes() -> None:
    only = categorical(np.full(20, 2), 4)
    for method in (Logreg(), Polyreg()):
        assert shares(method, only, [Column.from_values(np.arange(20))], [Column.from_values([3.0])]).tolist() == [
            0,
            0,
            1,
            0,
        ]


def test_logreg_wants_two_classes() -> None:
    with pytest.raises(CallError, match="use polyreg"):
        Logreg().fit(CLASS, X, rng())


def test_logistic_tells_that_it_has_not_converged() -> None:
    with pytest.warns(UnveilWarning, match="not converged after 1 iterations"):
        Polyreg(max_iter=1).fit(CLASS, X, rng())


def test_classes_are_drawn_in_blocks_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = Polyreg().fit(CLASS, X, rng())
    drawn, log_prob = fitted.draw(X, rng()).codes, fitted.log_prob(CLASS, X)
    monkeypatch.setattr("unveil.synthesis.methods.logistic._BLOCK", 28)
    np.testing.assert_array_equal(fitted.draw(X, rng()).codes, drawn)
    np.testing.assert_allclose(fitted.log_prob(CLASS, X), log_prob)


# rf


def test_rf_pools_the_donors_of_all_trees() -> None:
    """Shares of 40 000 draws at one point against the pooled donors, counted tree by tree."""
    fitted = RandomForest(n_trees=4).fit(CLASS, X, rng())
    here = [repeated(x, 40_000) for x in X]
    counts = np.zeros(CLASS.n_levels)
    for part, _ in fitted.trees:
        leaf = part.tree.apply([x.codes for x in here])[0]
        donors = part.tree.donors[part.tree.leaf_start[leaf] : part.tree.leaf_start[leaf + 1]]
        counts += np.bincount(CLASS.codes[donors], minlength=CLASS.n_levels)
    drawn = np.bincount(fitted.draw(here, rng()).codes, minlength=CLASS.n_levels)
    assert (drawn[counts == 0] == 0).all()
    assert stats.chisquare(drawn[counts > 0], 40_000 * counts[counts > 0] / counts.sum()).pvalue > 0.001


@pytest.mark.parametrize("n_predictors", [None, 1])
@pytest.mark.parametrize("response", [CLASS, NUMBER])
def test_rf_has_probabilities_given_its_bootstrap_only(response: Column, n_predictors: int | None) -> None:
    """The shares among the donors of all trees; told to nobody who does not say that the samples are known."""
    method = RandomForest(n_trees=3, n_predictors=n_predictors, bootstrap_known=True)
    assert_draws_follow_log_prob(method, response, X)
    assert_draws_follow_log_prob(method, response, [])
    known, secret = (RandomForest(3, 5, n_predictors, flag).fit(response, X, rng()) for flag in (True, False))
    np.testing.assert_array_equal(known.draw(X, rng(2)).codes, secret.draw(X, rng(2)).codes)
    with pytest.raises(CallError, match="bootstrap_known=True"):
        secret.log_prob(response, X)
    with pytest.raises(CallError, match="bootstrap_known must be True or False"):
        RandomForest(bootstrap_known=1)  # type: ignore[arg-type]


def test_rf_uses_some_predictors_per_tree() -> None:
    fitted = RandomForest(n_trees=20, n_predictors=1).fit(NUMBER, X, rng())
    assert {len(used) for _, used in fitted.trees} == {1}
    assert {used[0] for _, used in fitted.trees} == {0, 1, 2}


# all


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.sampled_from(sorted(METHODS)))
def test_never_a_crash(seed: int, n: int, name: str) -> None:
    """Constants, duplicates, many levels, one record: drawn values are values of the right kind."""
    source = rng(seed)
    many = categorical(source.integers(500, size=n), 500)
    numbers = Column.from_values(source.choice([0, 1, 1e-300, 1e300, -7.5], size=n))
    every = [
        many,
        numbers,
        numbers,
        categorical(np.zeros(n), 3),
        Column(source.integers(3, size=n), "ordered", 9),
        categorical(source.integers(2, size=n), 2),
    ]
    predictors = [every[i] for i in source.integers(len(every), size=source.integers(4))]
    kinds = {"logreg": [3, 5], "polyreg": [0, 3, 4, 5]}.get(name, [1] if name in NUMERIC else range(6))
    response = every[source.choice(list(kinds))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        fitted = METHODS[name]().fit(response, predictors, source)
        again = [Column(source.integers(p.n_levels, size=7), p.kind, p.n_levels, p.values) for p in predictors]
        drawn = fitted.draw(again or [categorical(np.zeros(7))], source)
    assert drawn.codes.size == 7
    assert drawn.kind == response.kind
    if fitted.has_likelihood:
        log_prob = fitted.log_prob(drawn, again)
        assert (log_prob > -np.inf).all()
        assert (log_prob <= 1e-12).all()


@pytest.mark.parametrize("name", sorted(METHODS))
def test_many_levels(name: str) -> None:
    """500 levels among the predictors, and in the response where that is possible."""
    source = rng(3)
    many = categorical(source.integers(500, size=1500), 500)
    response = (
        Column.from_values(source.normal(size=1500))
        if name in NUMERIC
        else categorical(many.codes % 2 if name == "logreg" else (many.codes * 7) % 500, 500)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        method = METHODS[name](**{"polyreg": {"max_iter": 10}, "rf": {"n_trees": 2}}.get(name, {}))
        assert method.fit(response, [many, many], source).draw([many, many], source).codes.size == 1500


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_scale_there_and_back(given_values: list[float]) -> None:
    array = np.array(given_values)
    if np.ptp(array / 2) > 1e307:
        array = array / 4
    scale = Scale.of(array)
    back = scale.values(scale.standardised(array))
    assert np.isfinite(scale.standardised(array)).all()
    if not scale.constant:
        np.testing.assert_allclose(back, array, atol=1e-9 * float(np.ptp(array)) + 1e-300)
