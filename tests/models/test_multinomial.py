"""Regressions of several classes: the way by second derivatives is exact, and no worse than a limited memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from unveil.models import logit, multinomial
from unveil.models.lasso import lasso_minimum, unbalanced
from unveil.models.multinomial import Multinomial, _Likelihood, penalised

CLASSES = [2, 3, 5]


def keys(n: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """A constant, a number, and an indicator of every level of three keys, so that columns stand for each other."""
    levels = [np.eye(k)[rng.choice(k, n, p=rng.dirichlet(np.ones(k)))] for k in (2, 4, 9)]
    return sparse.csr_matrix(np.column_stack([np.ones(n), rng.normal(size=n), *levels]))


def counts_of(x: sparse.csr_matrix, n_classes: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Records of each row and class; every row and class has some."""
    chance = softmax(x @ rng.normal(size=(x.shape[1], n_classes)), axis=1)
    drawn = np.stack(
        [rng.multinomial(size, p) for size, p in zip(rng.integers(1, 6, len(chance)), chance, strict=True)]
    )
    drawn[:n_classes] += np.eye(n_classes, dtype=drawn.dtype)
    return sparse.csr_matrix(drawn.astype(float))


def objective(x: sparse.csr_matrix, counts: sparse.csr_matrix, found: Multinomial, ridge: float, lasso: float) -> float:
    log = np.log(softmax(x @ found.coefficients, axis=1))
    b = found.coefficients[1:]
    return float(-counts.multiply(log).sum() / counts.sum() + ridge / 2 * (b**2).sum() + lasso * np.abs(b).sum())


@pytest.mark.parametrize("n_classes", CLASSES)
def test_second_derivatives_are_those_of_the_gradient(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    x = keys(60, rng)
    likelihood = _Likelihood(x, counts_of(x, n_classes, rng))
    beta, small = rng.normal(size=likelihood.shape), 1e-6
    expected = []
    for place in range(beta.size):
        moved = np.zeros(beta.size)
        moved[place] = small
        up, down = (likelihood.at(beta + side * moved.reshape(beta.shape))[1] for side in (1, -1))
        expected.append(((up - down) / (2 * small)).ravel())
    found = likelihood.hessian(beta, n_classes)
    assert found == pytest.approx(np.array(expected), abs=1e-8)
    free = np.arange(beta.size) % n_classes == n_classes - 1
    assert (likelihood.hessian(beta, 1) == found[np.ix_(free, free)]).all()


@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize(("ridge", "lasso"), [(0.0, 0.002), (0.001, 0.0), (0.001, 0.002)])
def test_newton_is_no_worse_than_a_limited_memory(
    n_classes: int, ridge: float, lasso: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(n_classes)
    x = keys(400, rng)
    counts = counts_of(x, n_classes, rng)
    found = penalised(x, counts, ridge=ridge, lasso=lasso)
    assert found.converged
    assert found.steps < 20
    monkeypatch.setattr(multinomial, "_MOST_COEFFICIENTS", 0)
    other = penalised(x, counts, ridge=ridge, lasso=lasso)
    assert other.steps > 20
    best, rival = (objective(x, counts, one, ridge, lasso) for one in (found, other))
    assert best <= rival + 1e-14
    assert best == pytest.approx(rival, rel=1e-8)
    chances = [softmax(x @ one.coefficients, axis=1) for one in (found, other)]
    assert chances[0] == pytest.approx(chances[1], abs=1e-3)
    # what the penalty does not hold, worked out anew
    first = int(n_classes == 2)  # of two classes the first has no coefficients
    b = found.coefficients[:, first:]
    each = np.asarray(counts.sum(axis=1))
    slope = (x.T @ (chances[0] * each - counts.toarray()) / counts.sum())[:, first:]
    penalty = np.append(0.0, np.ones(len(b) - 1))[:, None]
    assert unbalanced(b, slope + ridge * penalty * b, lasso * penalty).max() < 1e-6


def test_a_column_of_zeros_has_no_coefficient() -> None:
    """The column of a number that does not vary in the release."""
    rng = np.random.default_rng(3)
    x = sparse.csr_matrix(np.column_stack([np.ones(50), np.zeros(50), rng.integers(0, 2, 50)]))
    for penalty in ({"lasso": 0.01}, {"ridge": 0.01}):
        found = penalised(x, counts_of(x, 3, rng), **penalty)
        assert found.converged
        assert (found.coefficients[1] == 0).all()


def test_the_minimum_of_a_quadratic_with_a_lasso() -> None:
    """Of columns that nearly stand for each other too; what is 0 is exactly 0."""
    rng = np.random.default_rng(4)
    for seed in range(20):
        root = rng.normal(size=(12, 12)) * np.append(np.ones(8), np.full(4, 1e-3))
        curvature, slope, start = root.T @ root + 1e-9 * np.eye(12), rng.normal(size=12) * 0.3, rng.normal(size=12)
        price = np.append(0.0, rng.uniform(0.2, 0.6, 11))
        # a quadratic that is bounded below: its slope lies in the range of the curvature
        slope = curvature @ slope
        found = lasso_minimum(curvature, slope, price, start, np.full(12, 1e-10))
        assert unbalanced(found, slope + curvature @ (found - start), price).max() < 1e-9, seed
        assert (found == 0).any()
        assert found[0] != 0


def test_products_of_rows_are_those_of_dense_matrices() -> None:
    rng = np.random.default_rng(5)
    x = keys(3000, rng)
    shuffled = x[:, rng.permutation(x.shape[1])]  # rows whose columns are not in order
    for design in (x, shuffled, sparse.csr_matrix(rng.normal(size=(30, 4)))):
        weight = rng.random(design.shape[0])
        dense = design.toarray()
        assert logit._products(design, weight) == pytest.approx(
            dense.T @ (dense * weight[:, None]), rel=1e-12, abs=1e-12
        )
    # sums of ones are exact, so columns that add up to another are seen to do so
    ones = logit._products(x[:, [0, *range(2, 17)]], np.ones(3000))
    assert (ones[0, 1:3].sum(), ones[0, 3:7].sum()) == (3000, 3000)
