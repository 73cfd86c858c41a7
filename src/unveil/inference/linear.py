"""Linear attackers: logistic regression by maximum likelihood, its l1 form, and least squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, softmax

__all__ = ["binary_logistic", "lasso_logistic", "least_squares", "multinomial_logistic"]

Floats = NDArray[np.float64]
_RIDGE = 1e-8


def least_squares(x: Floats, y: Floats) -> Floats:
    """Coefficients (k,) of the smallest norm that minimise the sum of squared errors."""
    result: Floats = np.linalg.lstsq(x, y, rcond=None)[0].astype(np.float64)
    return result


def binary_logistic(x: Floats, y: Floats, *, most: int = 25, tolerance: float = 1e-8) -> Floats:
    """Maximum likelihood by iteratively reweighted least squares.

    Ends when the deviance D changes by less than ``tolerance * (D + 0.1)``, or after ``most`` steps: where classes are
    separated the likelihood has no maximum, and the probabilities are then close to 0 and 1.

    Parameters
    ----------
    x : (n, k)
        Design with a column of ones.
    y : (n,)
        0 or 1.

    Returns
    -------
    (k,) float64
        Coefficients.

    References
    ----------
    McCullagh & Nelder (1989), Generalized linear models, section 2.5.

    Examples
    --------
    >>> x = np.column_stack([np.ones(4), [0, 0, 1, 1]])
    >>> round(float(binary_logistic(x, np.array([0.0, 1.0, 1.0, 1.0]))[0]), 6) + 0.0
    0.0
    """
    mean = (y + 0.5) / 2
    eta = np.log(mean / (1 - mean))
    mean = expit(eta)
    deviance = _deviance(y, mean)
    beta = np.zeros(x.shape[1])
    for _ in range(most):
        weight = np.maximum(mean * (1 - mean), np.finfo(float).eps)
        good = weight > np.finfo(float).eps
        if not good.any():
            break
        root = np.sqrt(weight[good])
        working = eta[good] + (y[good] - mean[good]) / weight[good]
        beta = least_squares(x[good] * root[:, None], working * root)
        eta = x @ beta
        mean = np.clip(expit(eta), np.finfo(float).eps, 1 - np.finfo(float).eps)
        before, deviance = deviance, _deviance(y, mean)
        if abs(deviance - before) < tolerance * (abs(deviance) + 0.1):
            break
    return beta


def _deviance(y: Floats, mean: Floats) -> float:
    return float(-2 * np.sum(np.log(np.where(y > 0, mean, 1 - mean))))


def multinomial_logistic(x: Floats, y: NDArray[np.integer], n_classes: int) -> Floats:
    """Maximum likelihood of three or more classes, with a ridge too small to matter where a maximum exists.

    Parameters
    ----------
    x : (n, k)
        Design with a column of ones.
    y : (n,)
        Class codes, all of which occur.
    n_classes
        Number of classes c.

    Returns
    -------
    (k, c) float64
        Coefficients.
    """
    n, k = x.shape
    onehot = np.eye(n_classes)[y]

    def loss(flat: Floats) -> tuple[float, Floats]:
        beta = flat.reshape(k, n_classes)
        eta = x @ beta
        eta -= eta.max(axis=1, keepdims=True)
        total = np.exp(eta).sum(axis=1)
        value = float(np.mean(np.log(total) - eta[np.arange(n), y]) + 0.5 * _RIDGE * np.sum(beta**2))
        gradient = x.T @ (np.exp(eta) / total[:, None] - onehot) / n + _RIDGE * beta
        return value, gradient.ravel()

    found = minimize(loss, np.zeros(k * n_classes), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    result: Floats = found.x.reshape(k, n_classes)
    return result


def lasso_logistic(x: Floats, y: NDArray[np.integer], n_classes: int, *, penalty: float | None = None) -> Floats:
    """Multinomial logistic regression with an l1 penalty on all but the intercept, by accelerated proximal steps.

    Parameters
    ----------
    x : (n, k)
        Design whose first column is ones.
    y : (n,)
        Class codes.
    n_classes
        Number of classes c.
    penalty
        Times the sum of absolute coefficients, added to the mean negative log-likelihood; 1/n by default.

    Returns
    -------
    (k, c) float64
        Coefficients.

    References
    ----------
    Beck & Teboulle (2009), A fast iterative shrinkage-thresholding algorithm, SIAM J. Imaging Sciences 2, 183-202.
    """
    n, k = x.shape
    strength = 1 / n if penalty is None else penalty
    onehot = np.eye(n_classes)[y]
    step = 2 * n / np.linalg.norm(x, 2) ** 2
    beta = np.zeros((k, n_classes))
    ahead, momentum = beta, 1.0
    for _ in range(1000):
        gradient = x.T @ (softmax(x @ ahead, axis=1) - onehot) / n
        moved = ahead - step * gradient
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - step * strength, 0)
        shrunk[0] = moved[0]
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = shrunk + (momentum - 1) / following * (shrunk - beta)
        change = float(np.abs(shrunk - beta).max())
        beta, momentum = shrunk, following
        if change < 1e-6:
            break
    return beta
