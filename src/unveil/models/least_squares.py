"""Linear regression on mixed predictors, collinear or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.models.design import Coded, Design
from unveil.trees import Column

_NEGLIGIBLE = 1e-11
"""Directions with a smaller share of the largest sum of squares count as collinear."""


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """A fitted linear regression ``y = X b + e``, ``e ~ N(0, sigma^2)``.

    Parameters
    ----------
    design : Design
        Columns of ``X`` after the constant.
    coefficients : (p + 1,) float64
        The solution of smallest norm.
    root : (p + 1, r) float64
        ``root @ root.T`` is the pseudo-inverse of ``X'X``, ``r`` its rank.
    squares : float
        Residual sum of squares.
    df : int
        Records minus rank.
    """

    design: Design
    coefficients: NDArray[np.float64]
    root: NDArray[np.float64]
    squares: float
    df: int

    @property
    def sigma(self) -> float:
        """Residual standard deviation; 0 where no degree of freedom is left."""
        return float(np.sqrt(self.squares / self.df)) if self.df > 0 else 0.0

    def predict(self, predictors: Sequence[Column], n: int) -> NDArray[np.float64]:
        """Expected values.

        Parameters
        ----------
        predictors : sequence of Column
            As in the fit.
        n : int
            Number of records.

        Returns
        -------
        (n,) float64
            ``X b``.
        """
        mean: NDArray[np.float64] = (
            self.design.matrix([*map(Coded.of, predictors)], n) @ self.coefficients[1:] + self.coefficients[0]
        )
        return mean

    def redrawn(self, rng: np.random.Generator) -> tuple[LeastSquares, float]:
        """Parameters drawn from their posterior under the usual flat prior.

        ``sigma*^2 = RSS / chi2(df)`` and ``b* ~ N(b, sigma*^2 (X'X)^-)`` (Rubin 1987, example 5.1).

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        LeastSquares
            With the drawn coefficients.
        float
            The drawn residual standard deviation.
        """
        sigma = float(np.sqrt(self.squares / rng.chisquare(self.df))) if self.df > 0 else 0.0
        drawn = self.coefficients + sigma * (self.root @ rng.standard_normal(self.root.shape[1]))
        return LeastSquares(self.design, drawn, self.root, self.squares, self.df), sigma


def fit_least_squares(y: NDArray[np.float64], predictors: Sequence[Column]) -> LeastSquares:
    """Fit a linear regression.

    Parameters
    ----------
    y : (n,) float64
        Standardised response.
    predictors : sequence of Column
        Any kinds, collinear or constant, of the same records.

    Returns
    -------
    LeastSquares
        The fit.

    Raises
    ------
    DataError
        If a numeric predictor holds infinite values.
    """
    variables = [*map(Coded.of, predictors)]
    design = Design.of(variables)
    matrix = design.matrix(variables, y.size, constant=True)
    values, vectors = np.linalg.eigh((matrix.T @ matrix).toarray())
    kept = values > values[-1] * _NEGLIGIBLE
    root = vectors[:, kept] / np.sqrt(values[kept])
    coefficients = root @ (root.T @ (matrix.T @ y))
    residuals = y - matrix @ coefficients
    # residuals of a perfect fit are rounding errors, not noise
    residuals[np.abs(residuals) < 1e-9] = 0.0
    return LeastSquares(design, coefficients, root, float(residuals @ residuals), y.size - int(kept.sum()))
