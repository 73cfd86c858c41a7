"""Whether Markov chains have mixed: split R-hat and effective draws of values that are rank-normalised.

References
----------
Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021). Rank-normalization, folding, and localization: an improved R-hat
for assessing convergence of MCMC. Bayesian Analysis 16, 667-718. doi:10.1214/20-BA1221
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from unveil.stats.ranks import mean_ranks

Floats = NDArray[np.float64]


def split_r_hat(draws: Floats) -> Floats:
    """R-hat of each quantity: near 1 where all halves of all chains say the same; NaN where all draws are equal.

    Parameters
    ----------
    draws : (chains, n, k) float64
        Draws of k quantities, at least 4 of each chain.

    Returns
    -------
    (k,) float64
        The larger one of R-hat of the rank-normalised draws, and of their distances from the median.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> together, apart = rng.random((4, 100, 1)), rng.random((4, 100, 1)) + np.arange(4)[:, None, None]
    >>> bool(split_r_hat(together)[0] < 1.02), bool(split_r_hat(apart)[0] > 1.5)
    (True, True)
    """
    halves = _halves(draws)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.fmax(_r_hat(_normalised(halves)), _r_hat(_normalised(folded)))


def effective_draws(draws: Floats) -> Floats:
    """Number of independent draws that tell as much of each quantity; NaN where all draws are equal.

    Parameters
    ----------
    draws : (chains, n, k) float64
        Draws of k quantities, at least 8 of each chain.

    Returns
    -------
    (k,) float64
        Effective draws of the rank-normalised values, by the initial monotone sequence of their autocorrelations.

    Examples
    --------
    >>> independent = np.random.default_rng(1).random((4, 250, 1))
    >>> bool(700 < effective_draws(independent)[0] < 1400)
    True
    """
    return _effective(_normalised(_halves(draws)))


def error_of_mean(draws: Floats) -> float:
    """Monte-Carlo standard error of the mean of one quantity; NaN where its draws do not tell it.

    Parameters
    ----------
    draws : (chains, n) float64
        Draws, at least 8 of each chain.

    Examples
    --------
    >>> bool(0.004 < error_of_mean(np.random.default_rng(1).random((4, 1000))) < 0.006)
    True
    """
    found = _effective(_halves(draws[:, :, None]))[0]
    return float(np.sqrt(draws.var(ddof=1) / found))


def _halves(draws: Floats) -> Floats:
    """(2 chains, n // 2, k) the first and the last half of each chain."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _normalised(draws: Floats) -> Floats:
    """Normal scores of the ranks among all draws of a quantity."""
    chains, n, k = draws.shape
    score = np.array(
        [NormalDist().inv_cdf(p) for p in (np.arange(2, 2 * chains * n + 1) / 2 - 0.375) / (chains * n + 0.25)]
    )
    found = np.empty(draws.shape)
    for i in range(k):
        ranks = mean_ranks(draws[:, :, i].reshape(-1))
        # Ranks are whole numbers and halves.
        found[:, :, i] = score[(2 * ranks).astype(np.int64) - 2].reshape(chains, n)
    return found


def _r_hat(draws: Floats) -> Floats:
    n = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.sqrt((n - 1) / n + between / within)
    return found


def _effective(draws: Floats) -> Floats:
    chains, n, _ = draws.shape
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + draws.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1 - (within - covariance) / total
    correlation[0] = 1.0
    even = n - n % 2
    pairs = correlation[0:even:2] + correlation[1:even:2]
    counts = np.logical_and.accumulate(pairs > 0, axis=0)
    falling = np.minimum.accumulate(np.where(counts, pairs, np.inf), axis=0)
    time = -1 + 2 * np.where(counts, falling, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        found: Floats = chains * n / np.maximum(time, 1 / np.log10(chains * n))
    return np.where(total > 0, found, np.nan)
