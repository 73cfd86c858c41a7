"""Distances between two tables of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Places = NDArray[np.intp]

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
    if not held.any():
        return dict.fromkeys(CELL_FIGURES, math.nan)
    return {
        name: float(value[0])
        for name, value in figures_of_tables(d[held], s[held], np.zeros(held.sum(), np.intp)).items()
    }


def figures_of_tables(d: Floats, s: Floats, table: Places) -> dict[str, Floats]:
    """The figures of :func:`cell_figures` of many tables at once.

    Parameters
    ----------
    d, s : (k,) float64
        Counts of the original and of the release in cells that are not empty in both.
    table : (k,) intp
        The table that each cell belongs to, from 0; each table has a cell.

    Returns
    -------
    dict
        By name the figure (t,) of each table.
    """

    def total(values: Floats) -> Floats:
        return np.bincount(table, weights=values).astype(np.float64, copy=False)

    def each(values: Floats) -> Floats:
        return values[table]

    n1, n2 = total(d), total(s)
    df = np.bincount(table) - 1.0
    # where a file has no records, and where a table has one cell, what is not a number stands for what is not defined
    with np.errstate(divide="ignore", invalid="ignore"):
        c = n2 / (n1 + n2)
        scaled = d * each(n2 / n1)
        vw = total((s - scaled) ** 2 / (each(c) * (d + s)))
        ft = 4 * total((np.sqrt(s) - np.sqrt(scaled)) ** 2)
        figures = {
            "TVD": total(np.abs(d / each(n1) - s / each(n2))) / 2,
            "pMSE": vw * c * (1 - c) ** 2 / (n1 + n2),
            "S_pMSE": np.where(df > 0, vw / df, np.nan),
            "VW": vw,
            "FT": ft,
            "S_FT": np.where(df > 0, ft / df, np.nan),
            "df": df,
            "S_sd": np.where(df > 0, np.sqrt(2 / df), np.nan),
        }
    both = (n1 > 0) & (n2 > 0)
    return {name: np.where(both, values, np.nan) for name, values in figures.items()}


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
    if not held.any():
        return math.nan
    row, column = (
        np.unique(codes, return_inverse=True)[1].ravel() for codes in (cells[held] // n_second, cells[held] % n_second)
    )
    o = counts[held].astype(np.float64)
    margins = [np.bincount(codes, weights=o).astype(np.float64, copy=False) for codes in (row, column)]
    sides = [np.array([len(margin)]) for margin in margins]
    of_cells = margins[0][row], margins[1][column]
    return float(v_of_tables(o, of_cells, sides, np.zeros(len(o), np.intp), corrected=corrected)[0])


def v_of_tables(
    o: Floats, margins: tuple[Floats, Floats], sides: Sequence[Places], table: Places, *, corrected: bool,
) -> Floats:  # fmt: skip
    """Cramér's V of many tables at once; see :func:`cramers_v`.

    Parameters
    ----------
    o : (k,) float64
        Counts of the cells that are not empty.
    margins : two of (k,) float64
        Per cell the records of its row, and of its column.
    sides : two of (t,)
        Per table the numbers of rows and of columns with records.
    table : (k,) intp
        The table that each cell belongs to, from 0; each table has a cell.
    corrected
        Whether the bias is removed.

    Returns
    -------
    (t,) float64
        V of each table.
    """
    phi2 = np.maximum(np.bincount(table, weights=o * o / (margins[0] * margins[1])) - 1, 0.0)
    r, k = (side.astype(np.float64) for side in sides)
    defined = np.minimum(r, k) >= 2
    with np.errstate(divide="ignore", invalid="ignore"):
        if corrected:
            n = np.bincount(table, weights=o)
            phi2 = np.maximum(phi2 - (r - 1) * (k - 1) / (n - 1), 0.0)
            r, k = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
            defined &= n >= 2
        least = np.minimum(r - 1, k - 1)
        # rounding alone may lift it above 1
        v = np.minimum(np.sqrt(phi2 / least), 1.0)
    result: Floats = np.where(defined & (least > 1e-12), v, np.nan)
    return result
