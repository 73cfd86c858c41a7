"""A quadratic function with a penalty of size, lowered to its minimum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.core import loop

Floats = NDArray[np.float64]
_ROUNDS = 100
"""Rounds of coordinates between two solutions of all of them."""
_MOST = 200
_descend = loop("descend", int, np.float64, np.float64, float, int, np.float64, np.float64, result=int)


def unbalanced(beta: Floats, slope: Floats, price: Floats) -> Floats:
    """How far each coefficient is from a minimum: the slope that its penalty does not hold."""
    held = np.maximum(np.abs(slope) - price, 0)
    result: Floats = np.where(beta == 0, held, np.abs(slope + price * np.sign(beta)))
    return result


def lasso_minimum(curvature: Floats, slope: Floats, price: Floats, beta: Floats, tolerance: Floats) -> Floats:
    """The minimum of ``slope'd + d'(curvature)d / 2 + sum price |beta + d|``, with d the change of ``beta``.

    Rounds that set one coefficient after the other find which of them are 0, and the signs of the others; these are
    then solved for together, up to the first that changes its sign. By rounds alone it takes thousands of them where
    coefficients can stand for each other, as the indicators of all levels and the constant do.

    Parameters
    ----------
    curvature : (k, k)
        Symmetric and positive definite.
    slope, price, beta : (k,)
        Slopes at the start, penalties, and the start.
    tolerance : (k,)
        Slope at which a coefficient is done. The effort is bounded, so it may not be reached; no step goes up.

    Returns
    -------
    (k,) float64
        The coefficients at the minimum.

    References
    ----------
    Friedman, Hastie & Tibshirani (2010), Regularization paths for generalized linear models via coordinate descent,
    Journal of Statistical Software 33 (1), 1-22.

    Examples
    --------
    >>> lasso_minimum(np.eye(2), np.array([-3.0, 0.5]), np.ones(2), np.zeros(2), np.full(2, 1e-9)).tolist()
    [2.0, 0.0]
    """
    beta, slope = beta.copy(), slope.copy()
    least = float((tolerance**2 / np.diag(curvature)).min())
    for _ in range(_MOST):
        _descend(len(beta), curvature, price, least, _ROUNDS, slope, beta)
        if (unbalanced(beta, slope, price) <= tolerance).all():
            break
        held = np.flatnonzero(beta)
        signs = np.sign(beta[held])
        step = -np.linalg.solve(curvature[np.ix_(held, held)], slope[held] + price[held] * signs)
        # how much of the step each coefficient takes until it is 0
        turning = (step * signs < 0) & (price[held] > 0)
        until = np.divide(-beta[held], step, out=np.full(len(held), np.inf), where=turning)
        size = min(1.0, float(until.min(initial=np.inf)))
        beta[held] = np.where(until <= size, 0.0, beta[held] + size * step)
        slope += size * (curvature[:, held] @ step)
    return beta
