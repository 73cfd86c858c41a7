"""The posterior under linear regression, against normal probabilities from NumPy and SciPy alone."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm

import unveil
from posterior.brute_force import fitted
from unveil._posterior import posterior
from unveil.errors import UnveilWarning

WHOLE = [3.0, 4.0, 7.0, 90.0]


def decimals_of(values):
    return next((d for d in range(13) if (np.round(values, d) == values).all()), None)


def log_by_hand(x, y, z_x, z_y):
    """Logarithm of the probability of a release: x from all values, y by group means and one spread."""
    groups = np.unique(x)
    mean = {g: y[x == g].mean() for g in groups}
    residuals = y - np.array([mean[g] for g in x])
    sigma = np.sqrt((residuals**2).sum() / (y.size - groups.size))
    decimals = decimals_of(y)
    half = np.spacing(np.abs(z_y)) / 2 if decimals is None else np.full(z_y.size, 10.0**-decimals / 2)
    middle = np.array([mean[g] for g in z_x])
    width = 2 * half
    with np.errstate(divide="ignore"):
        log = np.log(norm.cdf(z_y + half, middle, sigma) - norm.cdf(z_y - half, middle, sigma))
    if decimals is None:
        log = norm.logpdf(z_y, middle, sigma) + np.log(width)
    elif not (np.round(z_y, decimals) == z_y).all():
        return -np.inf
    return log.sum() + sum(np.log((x == g).mean()) for g in z_x)


def made(decimals, n=60):
    rng = np.random.default_rng(2)
    x = rng.choice(["p", "q"], n)
    y = np.round(5 + 2.0 * (x == "p") + rng.normal(size=n), decimals or 0)
    if decimals is None:
        y[7] = 4.5
    table = pa.table({"x": x, "y": y})
    settings = {"methods": {"y": "norm"}}
    return table, settings, fitted(settings, table).sample(seed=3)


@pytest.mark.parametrize("decimals", [None, 0, 1, 15])
@pytest.mark.parametrize("target", ["x", "y"])
def test_posterior_of_a_group_and_of_a_number(decimals, target):
    """Numbers in question change mean, spread and decimals; None: one record alone has a decimal, and the release."""
    table, settings, release = made(decimals)
    x, y = (table.column(name).to_numpy(zero_copy_only=False) for name in "xy")
    z = [release.column(name).to_numpy(zero_copy_only=False) for name in "xy"]
    asked = None if target == "x" else WHOLE if decimals == 0 else [*WHOLE, 4.25, 1 / 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        risk = posterior(
            unveil.Pair(table, release), unveil.CartSynthesizer(**settings), target=target, candidates=asked,
            records=[0, 7],
        )  # fmt: skip
    for record in (0, 7):
        log = {}
        for value in [*(asked or ["p", "q"]), table.column(target)[record].as_py()]:
            other = {"x": x.copy(), "y": y.copy()}
            other[target][record] = value
            log[value] = log_by_hand(other["x"], other["y"], *z)
        top = max(log.values())
        total = sum(np.exp(one - top) for one in log.values())
        wanted = {value: float(np.exp(one - top) / total) for value, one in log.items()}
        found = {value: share for value, share in risk.distribution(record).items() if value in wanted or share > 0}
        assert found == pytest.approx(wanted, abs=1e-8)
        certain = decimals is None and target == "y" and record == 7
        assert (wanted[table.column(target)[record].as_py()] > 0.999999) == certain
