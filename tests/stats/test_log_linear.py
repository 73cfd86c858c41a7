"""Log-linear models: closed forms, Newton's method on the design matrix, and properties of the fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.stats.log_linear import fitted_counts, forward, main_effects, margin_of, projected, two_way

SHAPES = st.sampled_from([(2, 3), (3, 2, 2), (4, 3, 2)])


def tables(draw_zeros: bool = False):
    least = 0 if draw_zeros else 1
    return SHAPES.flatmap(
        lambda shape: st.lists(st.integers(least, 9), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))).map(
            lambda counts: np.array(counts, float).reshape(shape)
        )
    )


def design(shape, margins):
    """The columns of a model: an indicator of each level of each margin."""
    cells = np.indices(shape).reshape(len(shape), -1)
    columns = []
    for axes in margins:
        code = np.ravel_multi_index(cells[list(axes)], [shape[axis] for axis in axes])
        columns += [(code == level).astype(float) for level in range(code.max() + 1)]
    return np.array(columns).T


def by_newton(counts, margins):
    """The Poisson maximum likelihood fit by iteratively reweighted least squares."""
    x, y = design(counts.shape, margins), counts.ravel()
    mean = y + 0.5
    for _ in range(200):
        working = np.log(mean) + (y - mean) / mean
        root = np.sqrt(mean)
        mean = np.exp(x @ np.linalg.lstsq(x * root[:, None], working * root, rcond=None)[0])
    return mean.reshape(counts.shape)


@given(tables())
def test_independence_is_the_product_of_the_margins(counts):
    n = counts.sum()
    expected = n * np.ones(counts.shape)
    for axis in range(counts.ndim):
        expected *= margin_of(counts, (axis,)) / n
    np.testing.assert_allclose(fitted_counts(counts, main_effects(counts.ndim)), expected, rtol=1e-6)


@pytest.mark.parametrize("margins", [[(0, 1), (2,)], [(0, 1), (1, 2)], two_way(3)])
def test_the_fit_is_that_of_newton(margins):
    counts = np.random.default_rng(1).integers(1, 30, (3, 4, 2)).astype(float)
    np.testing.assert_allclose(fitted_counts(counts, margins), by_newton(counts, margins), rtol=2e-3)


@given(tables(draw_zeros=True))
def test_margins_are_kept(counts):
    if counts.sum() == 0:
        return
    fitted = fitted_counts(counts, two_way(counts.ndim))
    for axes in two_way(counts.ndim):
        np.testing.assert_allclose(margin_of(fitted, axes), margin_of(counts, axes), atol=1e-2 * counts.sum())


def test_a_start_from_a_smaller_model_ends_at_the_same_fit():
    counts = np.random.default_rng(2).integers(1, 30, (3, 4, 2)).astype(float)
    start = fitted_counts(counts, main_effects(3))
    np.testing.assert_allclose(fitted_counts(counts, two_way(3), start), fitted_counts(counts, two_way(3)), rtol=1e-3)


@pytest.mark.parametrize("margins", [main_effects(3), [(0, 1), (2,)], two_way(3)])
def test_the_projection_is_weighted_least_squares(margins):
    rng = np.random.default_rng(3)
    weights, values = rng.uniform(0.5, 3, (3, 4, 2)), rng.normal(size=(3, 4, 2))
    root = np.sqrt(weights.ravel())
    x = design(values.shape, margins)
    wanted = x @ np.linalg.lstsq(x * root[:, None], values.ravel() * root, rcond=None)[0]
    np.testing.assert_allclose(projected(values, weights, margins).ravel(), wanted, atol=1e-3)


def test_each_model_ahead_has_one_interaction_more():
    assert list(forward(main_effects(2), 2)) == [[(0, 1)]]
    assert list(forward([(0, 1)], 2)) == []
    assert [len([m for m in model if len(m) == 2]) for model in forward(main_effects(4), 4)] == [1] * 6
