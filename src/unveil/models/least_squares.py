"""Linear regression by least squares, of designs that may be collinear."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.models.logit import gram
from unveil.threads import one_blas_thread

Floats = NDArray[np.float64]
_NEGLIGIBLE = 1e-11
"""Directions with a smaller share of the largest sum of squares count as collinear."""
_ROUNDING = 1e-9
"""Residuals of a perfect fit are rounding errors, not noise."""


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """A fitted linear regression ``y = X b + e``, ``e ~ N(0, sigma^2)``.

    Parameters
    ----------
    coefficients : (k,) float64
        The solution of smallest norm.
    root : (k, r) float64
        ``root @ root.T`` is the pseudo-inverse of ``X'X``, ``r`` its rank.
    squares : float
        Residual sum of squares.
    df : int
        Records minus rank.
    """

    coefficients: Floats
    root: Floats
    squares: float
    df: int

    @property
    def sigma(self) -> float:
        """Residual standard deviation; 0 where no degree of freedom is left."""
        return math.sqrt(self.squares / self.df) if self.df > 0 else 0.0

    @property
    def covariance(self) -> Floats:
        """Covariance of the coefficients; 0 where no degree of freedom is left."""
        result: Floats = self.root @ self.root.T * self.sigma**2
        return result

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
        sigma = math.sqrt(self.squares / rng.chisquare(self.df)) if self.df > 0 else 0.0
        drawn = self.coefficients + sigma * (self.root @ rng.standard_normal(self.root.shape[1]))
        return replace(self, coefficients=drawn), sigma


@one_blas_thread()
def fit_least_squares(x: scipy.sparse.csr_matrix, y: Floats, *, rank: int | None = None) -> LeastSquares:
    """Fit a linear regression.

    Parameters
    ----------
    x : (n, k) csr_matrix
        Design whose first column is ones.
    y : (n,)
        Response, with values of about 1.
    rank
        Number of free parameters, if it is known.

    Returns
    -------
    LeastSquares
        The fit.

    Examples
    --------
    >>> x = scipy.sparse.csr_matrix([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> fit_least_squares(x, np.array([1.0, 3.0, 5.0])).coefficients.round(9).tolist()
    [1.0, 2.0]
    """
    values, vectors = np.linalg.eigh(gram(x, np.ones(y.size)))
    first = len(values) - rank if rank else int((values <= values[-1] * _NEGLIGIBLE).sum())
    kept = vectors[:, first:]
    root = kept / np.sqrt(values[first:])
    # a large common part would hide small differences
    centre = float(y.mean())
    slopes = root @ (root.T @ (x.T @ (y - centre)))
    residuals = y - centre - x @ slopes
    residuals[np.abs(residuals) < _ROUNDING] = 0.0
    return LeastSquares(slopes + centre * (kept @ kept[0]), root, float(residuals @ residuals), y.size - kept.shape[1])
