"""Permutation tests of association between two variables, by their asymptotic distribution.

Notation of Hothorn, Hornik & Zeileis (2006): the linear statistic of predictor ``X`` (transformed by ``g``) and
response ``Y`` (influence function ``h``) is ``T = vec(sum_i g(X_i) h(Y_i)')``; over all permutations of the
responses it has mean ``mu`` and covariance ``Sigma = V(h) (x) A`` (equation 2, after Strasser & Weber 1999), and
``c = (T - mu)' Sigma^+ (T - mu)`` is asymptotically chi-square with ``rank(Sigma)`` degrees of freedom. Numeric
and ordered variables enter as one score (value, position), all others as one indicator per level. As Sigma is a
Kronecker product, ``c`` then needs no inverse: it is ``n - 1`` times

* the squared correlation (two scores),
* the share of the score's sum of squares between levels (a score and a categorical variable),
* Pearson's chi-square divided by ``n`` (two categorical variables).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.models.scale import Scale, numbers
from unveil.trees import Column

_SMALLEST = 1e-290


@dataclass(frozen=True)
class Association:
    """Test of independence.

    Parameters
    ----------
    statistic : float
        Quadratic form ``c``.
    df : int
        Degrees of freedom; 0 if one of the variables is constant.
    log_p_value : float
        Natural logarithm of the p-value, which may be too small for a double.
    """

    statistic: float
    df: int
    log_p_value: float

    @property
    def p_value(self) -> float:
        """Probability of a statistic at least as large under independence."""
        return float(np.exp(self.log_p_value))


@dataclass(frozen=True, eq=False)
class Coding:
    """A variable in the statistic: as scores or as levels.

    Parameters
    ----------
    codes : (n,) int32
        Level of every record, in the order of the variable.
    n_levels : int
        Number of levels.
    scores : (n,) float64 or None
        Score of every record; None for categorical variables.
    """

    codes: NDArray[np.int32]
    n_levels: int
    scores: NDArray[np.float64] | None


def coding(column: Column) -> Coding:
    """Return scores of numeric and ordered variables, levels of others.

    Parameters
    ----------
    column : Column
        The variable.

    Returns
    -------
    Coding
        Numeric scores are standardised, which changes no statistic.

    Raises
    ------
    DataError
        If a numeric variable holds infinite values.
    """
    if column.kind == "categorical":
        return Coding(column.codes, column.n_levels, None)
    scores = numbers(column) if column.kind == "numeric" else column.codes.astype(np.float64)
    if scores.size:
        scores = Scale.of(scores).standardised(scores)
    return Coding(column.codes, column.n_levels, scores)


def associate(predictor: Coding, response: Coding, rows: NDArray[np.integer]) -> Association:
    """Test on some of the records whether two variables are independent.

    Parameters
    ----------
    predictor, response : Coding
        The variables, of the same records. The statistic is symmetric in them.
    rows : (m,) int
        Records of the test.

    Returns
    -------
    Association
        Statistic, degrees of freedom and p-value.

    References
    ----------
    Hothorn, T., Hornik, K. & Zeileis, A. (2006). Unbiased recursive partitioning: a conditional inference
    framework. Journal of Computational and Graphical Statistics 15, 651-674. doi:10.1198/106186006X133933
    Strasser, H. & Weber, C. (1999). On the asymptotic theory of permutation statistics. Mathematical Methods of
    Statistics 8, 220-250.

    Examples
    --------
    >>> x = coding(Column.from_values([1, 2, 3, 4, 5]))
    >>> y = coding(Column.from_values([1, 3, 2, 5, 4]))
    >>> test = associate(x, y, np.arange(5))
    >>> round(test.statistic, 2), test.df, round(test.p_value, 3)
    (2.56, 1, 0.11)
    """
    share, df = _explained(predictor, response, rows)
    statistic = max(rows.size - 1, 0) * share
    return Association(statistic, df, _log_survival(statistic, df) if df else 0.0)


def _explained(one: Coding, other: Coding, rows: NDArray[np.integer]) -> tuple[float, int]:
    """Return the statistic divided by ``n - 1``, and its degrees of freedom."""
    if rows.size < 2:
        return 0.0, 0
    if one.scores is None and other.scores is None:
        return _between_levels(one.codes[rows], other.codes[rows], other.n_levels)
    if one.scores is None:
        assert other.scores is not None
        return _between_groups(other.scores[rows], one.codes[rows], one.n_levels)
    if other.scores is None:
        return _between_groups(one.scores[rows], other.codes[rows], other.n_levels)
    x, y = _centred(one.scores[rows]), _centred(other.scores[rows])
    squares = float(x @ x) * float(y @ y)
    return (float(x @ y) ** 2 / squares, 1) if squares > 0 else (0.0, 0)


def _centred(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return deviations from the mean, scaled to a largest of 1; zeros for a constant."""
    deviations = scores - scores.mean() if scores.min() < scores.max() else np.zeros(scores.size)
    largest = np.abs(deviations).max()
    return deviations / largest if largest > 0 else deviations


def _between_groups(scores: NDArray[np.float64], codes: NDArray[np.int32], n_levels: int) -> tuple[float, int]:
    """Return the share of the sum of squares between levels, and the degrees of freedom."""
    deviations = _centred(scores)
    squares = float(deviations @ deviations)
    size = np.bincount(codes, minlength=n_levels)
    present = np.flatnonzero(size)
    if squares == 0 or present.size < 2:
        return 0.0, 0
    total = np.bincount(codes, weights=deviations, minlength=n_levels)[present]
    return float((total * total / size[present]).sum()) / squares, present.size - 1


def _between_levels(one: NDArray[np.int32], other: NDArray[np.int32], n_levels: int) -> tuple[float, int]:
    """Return Pearson's chi-square divided by ``n``, from the cells that occur, and the degrees of freedom."""
    cell, count = np.unique(one.astype(np.int64) * n_levels + other, return_counts=True)
    rows, columns = np.bincount(one), np.bincount(other)
    df = (int((rows > 0).sum()) - 1) * (int((columns > 0).sum()) - 1)
    if df == 0:
        return 0.0, 0
    expected = rows[cell // n_levels].astype(np.float64) * columns[cell % n_levels]
    return max(float((count.astype(np.float64) ** 2 / expected).sum()) - 1.0, 0.0), df


def _log_survival(statistic: float, df: int) -> float:
    """Return the logarithm of the chi-square distribution's upper tail.

    A tail that is too small for a double is computed by the continued fraction of the incomplete gamma function
    (Abramowitz & Stegun 6.5.31, by the recurrence of Lentz), so that tests can be ranked there too.
    """
    a, x = df / 2, statistic / 2
    tail = float(scipy.special.gammaincc(a, x))
    if tail > _SMALLEST:
        return float(np.log(tail))
    b = x + 1 - a
    c, d = 1e300, 1 / b
    fraction = d
    for i in range(1, 10_000):
        step = -i * (i - a)
        b += 2
        d = 1 / (step * d + b)
        c = b + step / c
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return float(a * np.log(x) - x - scipy.special.gammaln(a) + np.log(fraction))
