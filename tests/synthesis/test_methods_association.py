"""Permutation tests and two-sample splits against their definition and against all permutations."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from unveil.errors import DataError
from unveil.synthesis.methods import two_sample
from unveil.synthesis.methods.association import Association, associate, coding
from unveil.synthesis.methods.two_sample import divide
from unveil.trees import Column


def categorical(codes: object, n_levels: int | None = None) -> Column:
    array = np.asarray(codes, dtype=np.int32)
    return Column(array, "categorical", int(array.max()) + 1 if n_levels is None else n_levels)


def association(response: Column, predictor: Column) -> Association:
    return associate(coding(predictor), coding(response), np.arange(response.codes.size))


def matrix(column: Column) -> np.ndarray:
    """Scores or indicators, one row per record."""
    if column.kind == "categorical":
        return np.eye(column.n_levels)[column.codes]
    return (column.codes if column.values is None else column.values[column.codes])[:, np.newaxis].astype(float)


def by_definition(response: Column, predictor: Column) -> tuple[float, int]:
    """The quadratic form with the full covariance matrix (Hothorn, Hornik & Zeileis 2006, equations 1 to 4)."""
    g, h = matrix(predictor), matrix(response)
    n = len(g)
    mean_h = h.mean(axis=0)
    v = (h - mean_h).T @ (h - mean_h) / n
    total = g.sum(axis=0)
    sigma = n / (n - 1) * np.kron(v, g.T @ g) - np.kron(v, np.outer(total, total)) / (n - 1)
    distance = (g.T @ h - np.outer(total, mean_h)).ravel(order="F")
    inverse = np.linalg.pinv(sigma, rcond=1e-10, hermitian=True)
    return float(distance @ inverse @ distance), int(np.linalg.matrix_rank(sigma, tol=1e-8, hermitian=True))


def some_columns(rng: np.random.Generator, n: int) -> list[Column]:
    return [
        Column.from_values(rng.normal(size=n).round(1)),
        Column(rng.integers(4, size=n), "ordered", 5),
        categorical(rng.integers(2, size=n), 2),
        categorical(rng.integers(4, size=n), 6),
    ]


def test_statistic_is_its_definition() -> None:
    rng = np.random.default_rng(1)
    for response, predictor in product(some_columns(rng, 40), some_columns(rng, 40)):
        test = association(response, predictor)
        statistic, rank = by_definition(response, predictor)
        assert test.statistic == pytest.approx(statistic, rel=1e-8)
        assert test.df == rank
        assert test.p_value == pytest.approx(stats.chi2.sf(statistic, rank), rel=1e-8)


def test_known_forms() -> None:
    rng = np.random.default_rng(2)
    n = 60
    x, y = rng.normal(size=n), rng.normal(size=n)
    group, other = rng.integers(3, size=n), rng.integers(4, size=n)
    r = np.corrcoef(x, y)[0, 1]
    assert association(Column.from_values(y), Column.from_values(x)).statistic == pytest.approx((n - 1) * r**2)
    between = sum((group == k).sum() * (y[group == k].mean() - y.mean()) ** 2 for k in range(3))
    share = between / ((y - y.mean()) ** 2).sum()
    assert association(Column.from_values(y), categorical(group)).statistic == pytest.approx((n - 1) * share)
    table = np.zeros((3, 4))
    np.add.at(table, (group, other), 1)
    pearson = stats.chi2_contingency(table, correction=False).statistic
    assert association(categorical(other), categorical(group)).statistic == pytest.approx((n - 1) / n * pearson)


def test_mean_over_all_permutations_is_the_degrees_of_freedom() -> None:
    """The covariance is the exact one over permutations, so the quadratic form has its rank as mean."""
    values = np.array([1.0, 2.0, 2.0, 5.0, 7.0, 11.0])
    for response in (Column.from_values(values), categorical([0, 0, 1, 1, 2, 2])):
        for predictor in (Column.from_values([3, 1, 4, 1, 5, 9]), categorical([0, 1, 1, 2, 2, 2])):
            order = np.array(list(permutations(range(6))))
            found = [
                association(Column(response.codes[o], response.kind, response.n_levels, response.values), predictor)
                for o in order
            ]
            assert np.mean([test.statistic for test in found]) == pytest.approx(found[0].df, rel=1e-9)


@pytest.mark.parametrize("kinds", ["numbers", "classes", "mixed"])
def test_p_value_against_random_permutations(kinds: str) -> None:
    """Asymptotic p-values lie within the error of 4000 permutations, and a little for the approximation."""
    rng = np.random.default_rng(3)
    n = 150
    x = rng.normal(size=n)
    y = 0.15 * x + rng.normal(size=n)
    group = np.digitize(x + rng.normal(size=n) * 2, [-1, 1])
    one = categorical(group) if kinds == "classes" else Column.from_values(x)
    other = Column.from_values(y) if kinds == "numbers" else categorical(np.digitize(y, [-0.5, 0.5]))
    test = association(other, one)
    assert 0.01 < test.p_value < 0.9
    exceeding = [
        association(Column(rng.permutation(other.codes), other.kind, other.n_levels, other.values), one).statistic
        >= test.statistic
        for _ in range(4000)
    ]
    error = np.sqrt(test.p_value * (1 - test.p_value) / 4000)
    assert np.mean(exceeding) == pytest.approx(test.p_value, abs=3.5 * error + 0.01)


def test_tail_far_below_the_smallest_number() -> None:
    """Closed forms of the chi-square tail with 1, 2 and 4 degrees of freedom."""
    n = 20_001
    x = np.arange(n, dtype=float)
    same = association(Column.from_values(x), Column.from_values(2 * x))
    assert same.statistic == pytest.approx(n - 1)
    assert same.log_p_value == pytest.approx(np.log(2) + special.log_ndtr(-np.sqrt(n - 1)), rel=1e-12)
    assert same.p_value == 0
    groups = np.arange(20_000) % 3
    c = 19_999.0
    test = association(Column.from_values((groups == 1).astype(float)), categorical(groups))
    assert (test.df, test.statistic) == (2, pytest.approx(c))
    assert test.log_p_value == pytest.approx(-c / 2, rel=1e-12)
    test = association(categorical(groups), categorical(groups))
    assert (test.df, test.statistic) == (4, pytest.approx(2 * c))
    assert test.log_p_value == pytest.approx(-c + np.log1p(c), rel=1e-12)


def test_constants_and_short_files_are_no_evidence() -> None:
    x = Column.from_values([1, 2, 3])
    for constant in (categorical([1, 1, 1]), Column.from_values([1e15, 1e15, 1e15])):
        assert association(constant, x).p_value == 1
        assert association(x, constant).p_value == 1
    assert association(Column.from_values([1.0]), Column.from_values([2.0])).p_value == 1
    with pytest.raises(DataError, match="infinite"):
        association(x, Column.from_values([1, 2, np.inf]))


@pytest.mark.parametrize("factor", [1e-300, 1.0, 1e300])
def test_scale_does_not_matter(factor: float) -> None:
    x, y = np.array([1.0, 2.0, 3.0, 4.0, 7.0]), Column.from_values([2, 1, 4, 3, 9])
    expected = association(y, Column.from_values(x)).statistic
    assert association(y, Column.from_values(x * factor)).statistic == pytest.approx(expected, rel=1e-9)
    assert association(y, Column.from_values(x + 2**40)).statistic == pytest.approx(expected, rel=1e-9)


def best_by_definition(response: Column, predictor: Column, minbucket: int) -> float:
    """Largest two-sample statistic of all admissible sets of records."""
    codes = predictor.codes
    present = np.unique(codes)
    if predictor.kind == "categorical":
        sets = [present[[bool(mask >> i & 1) for i in range(present.size)]] for mask in range(1, 2**present.size - 1)]
    else:
        sets = [present[:i] for i in range(1, present.size)]
    best = -np.inf
    for levels in sets:
        inside = np.isin(codes, levels)
        if minbucket <= inside.sum() <= codes.size - minbucket:
            best = max(best, by_definition(response, Column.from_values(inside.astype(float)))[0])
    return best


@pytest.mark.parametrize("seed", range(6))
def test_best_division_is_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = some_columns(rng, 30)
    rows = np.arange(30)
    for response, predictor in product(columns, some_columns(rng, 30)):
        # ordered by mean, the best of all sets is only sure to be found where all sets are admissible
        minbucket = 1 if predictor.kind == "categorical" and response.kind != "categorical" else 4
        found = divide(coding(predictor), coding(response), rows, minbucket)
        assert found is not None
        inside = predictor.codes <= found.low if found.left is None else found.left[predictor.codes]
        assert minbucket <= inside.sum() <= 30 - minbucket
        statistic = by_definition(response, Column.from_values(inside.astype(float)))[0]
        if predictor.kind == "categorical" and response.n_levels == 2:
            minbucket = 4
        assert statistic == pytest.approx(best_by_definition(response, predictor, minbucket), rel=1e-8)


def test_no_division_leaves_enough_records() -> None:
    x = Column.from_values([0, 0, 0, 0, 1])
    y = Column.from_values([1, 2, 3, 4, 9])
    assert divide(coding(x), coding(y), np.arange(5), 2) is None
    assert divide(coding(categorical(x.codes)), coding(y), np.arange(5), 2) is None
    three = categorical([0, 0, 1, 1, 2])
    assert divide(coding(categorical(x.codes)), coding(three), np.arange(5), 2) is None


def test_principal_component_order_is_close_to_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the exhaustive search: at least 0.97 of the best statistic in each of 20 tables."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        predictor = rng.integers(9, size=400)
        shares = rng.dirichlet(np.ones(4), size=9)
        response = categorical([rng.choice(4, p=shares[level]) for level in predictor], 4)
        x = coding(categorical(predictor, 9))
        exact = divide(x, coding(response), np.arange(400), 5)
        with monkeypatch.context() as patch:
            patch.setattr(two_sample, "EXHAUSTIVE", 0)
            ordered = divide(x, coding(response), np.arange(400), 5)
        assert exact is not None
        assert ordered is not None
        assert 0.97 * exact.statistic <= ordered.statistic <= exact.statistic * (1 + 1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(2, 25))
def test_never_a_crash(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [
        *some_columns(rng, n),
        categorical(np.zeros(n), 1),
        Column.from_values(rng.choice([-1e-320, 0.0, 1e-320, 1e308], n)),
    ]
    for response, predictor in product(columns, columns):
        test = association(response, predictor)
        assert 0 <= test.p_value <= 1
        assert not np.isnan(test.statistic)
        divide(coding(predictor), coding(response), np.arange(n), 2)
