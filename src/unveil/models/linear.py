"""Linear attackers: logistic regression by maximum likelihood, its l1 form, and least squares."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, softmax

Floats = NDArray[np.float64]
_RIDGE = 1e-8
_MOST = 500
_MOST_STEPS = 3000
_MOST_COEFFICIENTS = 600
_MOST_WORK = 2e9
_EXACT = 1e-12
_SHORTEST = 1e-6


class NotConverged(UserWarning):
    """A fit was ended before it was done; results say so by :class:`unveil.inference.Rapid.warnings`."""


def _not_converged(steps: int) -> None:
    warnings.warn(f"not converged after {steps} iterations", NotConverged, stacklevel=3)


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
    else:
        _not_converged(most)
    return beta


def _deviance(y: Floats, mean: Floats) -> float:
    return float(-2 * np.sum(np.log(np.where(y > 0, mean, 1 - mean))))


def multinomial_logistic(x: Floats, y: NDArray[np.integer], n_classes: int) -> Floats:
    """Maximum likelihood of three or more classes, with a ridge too small to matter where a maximum exists.

    By Newton's method where the Hessian is small enough, so that shares are met to the last digits; else by a limited
    memory.

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

    start = np.zeros(k * n_classes)
    if start.size <= _MOST_COEFFICIENTS and n * float(start.size) ** 2 <= _MOST_WORK:
        return _newton(x, n_classes, loss, start).reshape(k, n_classes)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _MOST})
    if not found.success:
        _not_converged(int(found.nit))
    result: Floats = found.x.reshape(k, n_classes)
    return result


def _newton(x: Floats, n_classes: int, loss: Callable[[Floats], tuple[float, Floats]], beta: Floats) -> Floats:
    """Newton steps, halved until the loss falls; done when the gradient, or what a step gains, is all rounding."""
    value, gradient = loss(beta)
    for _ in range(_MOST):
        step = np.linalg.solve(_hessian(x, beta, n_classes), gradient)
        size, gain = 1.0, float(gradient @ step)
        if np.abs(gradient).max() < _EXACT or gain < _EXACT**2:
            return beta
        while (found := loss(beta - size * step))[0] > value and size > _SHORTEST:
            size /= 2
        if size <= _SHORTEST:
            return beta
        beta, (value, gradient) = beta - size * step, found
    _not_converged(_MOST)
    return beta


def _hessian(x: Floats, beta: Floats, n_classes: int) -> Floats:
    """Second derivatives (k c, k c) of the mean loss of coefficients (k, c)."""
    n, k = x.shape
    p = softmax(x @ beta.reshape(k, n_classes), axis=1)
    found = np.empty((k, n_classes, k, n_classes))
    for a in range(n_classes):
        for b in range(a, n_classes):
            weight = p[:, a] * ((a == b) - p[:, b]) / n
            found[:, a, :, b] = found[:, b, :, a] = (x * weight[:, None]).T @ x
    square = found.reshape(k * n_classes, -1)
    square[np.diag_indices(len(square))] += _RIDGE
    return square


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
    Beck & Teboulle (2009), A fast iterative shrinkage-thresholding algorithm, SIAM J. Imaging Sciences 2, 183-202; with
    restarts as in O'Donoghue & Candès (2015), Foundations of Computational Mathematics 15, 715-732.
    """
    n, k = x.shape
    strength = 1 / n if penalty is None else penalty
    onehot = np.eye(n_classes)[y]
    step = 2 * n / np.linalg.norm(x, 2) ** 2
    beta = np.zeros((k, n_classes))
    ahead, momentum = beta, 1.0
    for _ in range(_MOST_STEPS):
        gradient = x.T @ (softmax(x @ ahead, axis=1) - onehot) / n
        moved = ahead - step * gradient
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - step * strength, 0)
        shrunk[0] = moved[0]
        if ((ahead - shrunk) * (shrunk - beta)).sum() > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = shrunk + (momentum - 1) / following * (shrunk - beta)
        change = float(np.abs(shrunk - beta).max())
        beta, momentum = shrunk, following
        if change < 1e-6:
            break
    else:
        _not_converged(_MOST_STEPS)
    return beta
