"""Distances between the distributions of amounts in two files."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

AMOUNT_FIGURES = ("KS", "wasserstein", "mean_difference", "sd_ratio")


def amount_figures(values: ArrayLike, original: ArrayLike, release: ArrayLike) -> dict[str, float]:
    """Kolmogorov-Smirnov and Wasserstein distance, and the difference of means, from counts by value.

    With the distribution functions F of the original and G of the release::

        KS              = max |F(x) - G(x)|
        wasserstein     = integral |F(x) - G(x)| dx / sd
        mean_difference = (mean of the release - mean of the original) / sd
        sd_ratio        = sd of the release / sd

    sd is the original's standard deviation: figures have no unit and tell no amount.

    Parameters
    ----------
    values : (k,)
        The amounts, in any order.
    original, release : (k,)
        Records of each file with that amount.

    Returns
    -------
    dict
        Figures by name; NaN where a file has no amounts; all but KS also where the original has a single amount.

    Examples
    --------
    >>> amount_figures([0.0, 2.0], [1, 1], [0, 2])
    {'KS': 0.5, 'wasserstein': 1.0, 'mean_difference': 1.0, 'sd_ratio': 0.0}
    """
    x = np.asarray(values, dtype=np.float64)
    d, s = np.asarray(original, dtype=np.float64), np.asarray(release, dtype=np.float64)
    if d.sum() == 0 or s.sum() == 0:
        return dict.fromkeys(AMOUNT_FIGURES, math.nan)
    order = np.argsort(x, kind="stable")
    x, d, s = x[order], d[order] / d.sum(), s[order] / s.sum()
    gap = np.abs(np.cumsum(d - s))
    # amounts near the largest float: their squares are out of range
    unit = float(np.abs(x).max()) or 1.0
    x = x / unit
    means = float(d @ x), float(s @ x)
    sds = [math.sqrt(float(p @ (x - mean) ** 2)) for p, mean in zip((d, s), means, strict=True)]
    # a distribution function ends at 1 up to rounding
    figures = {"KS": float(gap[:-1].max(initial=0.0))}
    if np.count_nonzero(d) < 2 or sds[0] == 0:
        return figures | dict.fromkeys(AMOUNT_FIGURES[1:], math.nan)
    return figures | {
        "wasserstein": float(gap[:-1] @ np.diff(x)) / sds[0],
        "mean_difference": (means[1] - means[0]) / sds[0],
        "sd_ratio": sds[1] / sds[0],
    }
