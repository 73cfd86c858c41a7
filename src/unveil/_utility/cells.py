"""Distances between two tables of counts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Counts = NDArray[np.int64]

CELL_FIGURES = ("TVD", "pMSE", "S_pMSE", "VW", "FT", "S_FT", "df", "S_sd")


def cell_figures(original: ArrayLike, release: ArrayLike) -> dict[str, float]:
    """Distances between the counts of the same cells in two files.

    With counts ``d`` and ``s``, ``n1`` and ``n2`` records, ``c = n2 / (n1 + n2)``, ``d' = d n2 / n1``, sums over the
    cells that are not empty in both files, and ``df`` their number less one::

        TVD    = 1/2 sum |d/n1 - s/n2|
        pMSE   = 1/(n1 + n2) sum (d + s) (s/(d + s) - c)^2
        VW     = sum (s - d')^2 / (c (d + s))              Voas-Williamson
        FT     = 4 sum (sqrt(s) - sqrt(d'))^2              Freeman-Tukey
        S_pMSE = VW / df,   S_FT = FT / df,   S_sd = sqrt(2 / df)

    ``VW = (n1 + n2) pMSE / (c (1 - c)^2)``: the two ratios to the expectation are one. Ratios are near 1 where the
    release is drawn from a correct model fitted to the original, and ``S_sd`` is their standard deviation then.

    Parameters
    ----------
    original, release : (k,)
        Counts.

    Returns
    -------
    dict
        Figures by name; ratios are NaN with fewer than two cells, all are NaN if a file has no records.

    References
    ----------
    Voas & Williamson (2001), Evaluating goodness-of-fit measures for synthetic microdata, Geographical and
    Environmental Modelling 5, 177-200. Raab, Nowok & Dibben (2021), Assessing, visualizing and improving the utility
    of synthetic data, arXiv:2109.12717.

    Examples
    --------
    >>> found = cell_figures([60, 40], [50, 50])
    >>> round(found["TVD"], 3), round(found["VW"], 3), round(found["S_pMSE"], 3)
    (0.1, 4.04, 4.04)
    """
    d, s = np.asarray(original, dtype=np.float64), np.asarray(release, dtype=np.float64)
    held = d + s > 0
    d, s = d[held], s[held]
    n1, n2 = d.sum(), s.sum()
    if n1 == 0 or n2 == 0:
        return dict.fromkeys(CELL_FIGURES, math.nan)
    c = n2 / (n1 + n2)
    scaled = d * (n2 / n1)
    df = len(d) - 1
    vw = float(np.sum((s - scaled) ** 2 / (c * (d + s))))
    ft = float(4 * np.sum((np.sqrt(s) - np.sqrt(scaled)) ** 2))
    return {
        "TVD": float(np.abs(d / n1 - s / n2).sum() / 2),
        "pMSE": vw * c * (1 - c) ** 2 / (n1 + n2),
        "S_pMSE": vw / df if df else math.nan,
        "VW": vw,
        "FT": ft,
        "S_FT": ft / df if df else math.nan,
        "df": float(df),
        "S_sd": math.sqrt(2 / df) if df else math.nan,
    }


def joint_cells(
    first: tuple[NDArray[np.int32], NDArray[np.int32]], second: tuple[NDArray[np.int32], NDArray[np.int32]],
    n_first: int, n_second: int,
) -> tuple[NDArray[np.int64], Counts, Counts]:  # fmt: skip
    """Count the cells of two variables in the original and in a release.

    Parameters
    ----------
    first, second
        Codes of the one and of the other variable, in the original (n,) and in the release (n_r,).
    n_first, n_second
        Numbers of codes.

    Returns
    -------
    cells : (k,) int64
        Cells that are not empty in both files, ``first code * n_second + second code``, ascending.
    original, release : (k,) int64
        Their counts.
    """
    folded = [a.astype(np.int64) * n_second + b for a, b in zip(first, second, strict=True)]
    n_cells = n_first * n_second
    if n_cells <= 4 * (len(folded[0]) + len(folded[1])) + 1024:
        counts = [np.bincount(codes, minlength=n_cells) for codes in folded]
        cells = np.flatnonzero(counts[0] + counts[1])
        return cells, counts[0][cells], counts[1][cells]
    cells, position = np.unique(np.concatenate(folded), return_inverse=True)
    place = position.ravel()
    n = len(folded[0])
    return cells, np.bincount(place[:n], minlength=len(cells)), np.bincount(place[n:], minlength=len(cells))


def cramers_v(cells: NDArray[np.int64], counts: Counts, n_second: int, *, corrected: bool = False) -> float:
    """Cramér's V of two variables, from the cells of their table that are not empty.

    ``V = sqrt(phi2 / min(r - 1, k - 1))`` with ``phi2 = chi-square / n`` and the numbers r and k of levels that occur;
    corrected, each of the three without its bias under independence (Bergsma 2013, equations 2 to 4).

    Parameters
    ----------
    cells : (k,) int64
        ``first code * n_second + second code``.
    counts : (k,)
        Records of each cell.
    n_second
        Number of codes of the second variable.
    corrected
        Whether the bias is removed.

    Returns
    -------
    float
        From 0 to 1; NaN where one of the variables has a single level, or corrected none is left.

    References
    ----------
    Bergsma (2013), A bias-correction for Cramér's V and Tschuprow's T, Journal of the Korean Statistical Society 42,
    323-328.

    Examples
    --------
    >>> cramers_v(np.array([0, 3]), np.array([5, 5]), 2), cramers_v(np.arange(4), np.array([4, 4, 4, 4]), 2)
    (1.0, 0.0)
    """
    held = counts > 0
    o = counts[held].astype(np.float64)
    _, rows = np.unique(cells[held] // n_second, return_inverse=True)
    _, columns = np.unique(cells[held] % n_second, return_inverse=True)
    if not len(o):
        return math.nan
    n = o.sum()
    row, column = np.bincount(rows.ravel(), weights=o), np.bincount(columns.ravel(), weights=o)
    r, k = float(len(row)), float(len(column))
    phi2 = max(float(np.sum(o * o / (row[rows.ravel()] * column[columns.ravel()]))) - 1, 0.0)
    if min(r, k) < 2:
        return math.nan
    if corrected:
        if n < 2:
            return math.nan
        phi2 = max(phi2 - (r - 1) * (k - 1) / (n - 1), 0.0)
        r, k = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
    least = min(r - 1, k - 1)
    # rounding alone may lift it above 1
    return min(math.sqrt(phi2 / least), 1.0) if least > 1e-12 else math.nan
