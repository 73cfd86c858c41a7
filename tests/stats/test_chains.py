"""R-hat and effective draws beside their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from unveil.stats.chains import effective_draws, error_of_mean, split_r_hat


def plain_r_hat(draws):
    """Formulas 1 to 4 and 13 to 14 of Vehtari et al. (2021), one quantity."""
    n = draws.shape[1]
    halves = np.concatenate([draws[:, : n // 2], draws[:, n - n // 2 :]])
    found = []
    for values in (halves, np.abs(halves - np.median(halves))):
        z = norm.ppf((rankdata(values).reshape(values.shape) - 3 / 8) / (values.size + 1 / 4))
        size = z.shape[1]
        between = size * z.mean(axis=1).var(ddof=1)
        within = z.var(axis=1, ddof=1).mean()
        found.append(np.sqrt(((size - 1) / size * within + between / size) / within))
    return max(found)


def autoregressive(rho, chains, n, seed):
    rng = np.random.default_rng(seed)
    draws = np.empty((chains, n))
    draws[:, 0] = rng.normal(size=chains)
    for i in range(1, n):
        draws[:, i] = rho * draws[:, i - 1] + np.sqrt(1 - rho**2) * rng.normal(size=chains)
    return draws


@pytest.mark.parametrize("n", [20, 51])
def test_r_hat_is_that_of_its_formulas(n):
    rng = np.random.default_rng(n)
    draws = np.round(rng.normal(size=(4, n, 5)) + np.arange(4)[:, None, None] * np.arange(5) / 5, 1)
    assert split_r_hat(draws) == pytest.approx([plain_r_hat(draws[:, :, k]) for k in range(5)])


def test_chains_that_differ_in_scale_alone():
    draws = np.random.default_rng(0).normal(size=(4, 200, 1)) * np.array([1, 1, 1, 6])[:, None, None]
    assert split_r_hat(draws)[0] > 1.1


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, -0.4])
def test_effective_draws_of_an_autoregression(rho):
    """N (1 - rho) / (1 + rho) for a normal autoregression of order one."""
    draws = np.stack([autoregressive(rho, 4, 2000, seed) for seed in range(10)], axis=2)
    expected = 8000 * (1 - rho) / (1 + rho)
    assert np.median(effective_draws(draws)) == pytest.approx(expected, rel=0.15)
    error = np.sqrt((1 + rho) / (1 - rho) / 8000)
    assert error_of_mean(draws[:, :, 0]) == pytest.approx(error, rel=0.25)


def test_equal_draws_have_no_figure():
    draws = np.full((4, 20, 1), 0.3)
    assert np.isnan(split_r_hat(draws)).all()
    assert np.isnan(effective_draws(draws)).all()
