"""Logistic regression of several classes: by maximum likelihood, or with a penalty on the coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.threads import one_blas_thread

Floats = NDArray[np.float64]
_RIDGE = 1e-8
_MOST = 500
_MOST_COEFFICIENTS = 1000
_MOST_WORK = 4e9
_BLOCK = 1 << 21
_EXACT = 1e-12
_SHORTEST = 1e-6
_NEARLY = 10
"""A gradient this many times the tolerance is near enough."""


@dataclass(frozen=True, eq=False)
class Multinomial:
    """A fitted regression.

    Parameters
    ----------
    coefficients : (k, c) float64
        Log odds per column of the design and class; with two classes those of the first are 0.
    steps
        Number of iterations.
    converged
        Whether the fit was ended because it was done.
    """

    coefficients: Floats
    steps: int
    converged: bool


class _Likelihood:
    """The mean negative log-likelihood of records that are counted by row of the design and class."""

    def __init__(self, x: scipy.sparse.csr_matrix, counts: scipy.sparse.csr_matrix) -> None:
        n, each = counts.sum(), np.asarray(counts.sum(axis=1)).ravel()
        found = counts.tocoo()
        self.x, self.place, self.share = x, (found.row, found.col), found.data / each[found.row]
        self.weight = each / n
        self.of_classes = np.asarray(counts.sum(axis=0)).ravel() / n
        self.shape = (x.shape[1], counts.shape[1])
        self._observed = found.data / n
        self._weighted = x.T.multiply(self.weight).tocsr()

    def at(self, beta: Floats) -> tuple[float, Floats]:
        """The value at coefficients (k, c), and its gradient (k, c)."""
        # classes in rows: numpy reduces short rows slowly
        eta = np.ascontiguousarray((self.x @ beta).T)
        eta -= eta.max(axis=0)
        exponentials = np.exp(eta)
        total = exponentials.sum(axis=0)
        value = -float(self._observed @ (eta - np.log(total)).T[self.place])
        residual = np.ascontiguousarray((exponentials / total).T)
        residual[self.place] -= self.share
        return value, self._weighted @ residual

    def hessian(self, beta: Floats) -> Floats:
        """The second derivatives (k c, k c)."""
        k, c = self.shape
        total = np.zeros((k * c, k * c))
        of_class = np.einsum("iaja->aij", total.reshape(k, c, k, c))
        size = max(_BLOCK // (k * c), 1)
        for start in range(0, len(self.weight), size):
            x = self.x[start : start + size].toarray() * np.sqrt(self.weight[start : start + size, None])
            p = scipy.special.softmax(self.x[start : start + size] @ beta, axis=1)
            products = (x[:, :, None] * p[:, None, :]).reshape(len(x), -1)
            total -= products.T @ products
            for a in range(c):
                of_class[a] += (x * p[:, a, None]).T @ x
        return total


@one_blas_thread()
def maximum_likelihood(x: scipy.sparse.csr_matrix, counts: scipy.sparse.csr_matrix) -> Multinomial:
    """Maximum likelihood of three or more classes, with a ridge too small to matter where a maximum exists.

    By Newton's method where the Hessian is small enough, so that shares are met to the last digits; else by a limited
    memory.

    Parameters
    ----------
    x : (m, k) csr_matrix
        Rows of a design whose first column is ones.
    counts : (m, c) csr_matrix
        Number of records of each row and class; all rows and classes have some.

    Returns
    -------
    Multinomial
        The fit.
    """
    likelihood = _Likelihood(x, counts)
    size = x.shape[1] * counts.shape[1]
    if size > _MOST_COEFFICIENTS or x.shape[0] * float(size) ** 2 > _MOST_WORK:
        return penalised(x, counts, ridge=_RIDGE, max_iter=_MOST, tolerance=1e-5)
    beta = np.zeros(likelihood.shape)

    def loss(beta: Floats) -> tuple[float, Floats]:
        value, slope = likelihood.at(beta)
        return value + _RIDGE / 2 * float((beta**2).sum()), slope + _RIDGE * beta

    value, gradient = loss(beta)
    for done in range(_MOST):
        hessian = likelihood.hessian(beta)
        hessian[np.diag_indices(size)] += _RIDGE
        step = np.linalg.solve(hessian, gradient.ravel()).reshape(beta.shape)
        scale, gain = 1.0, float((gradient * step).sum())
        # done when the gradient, or what a step gains, is all rounding
        if np.abs(gradient).max() < _EXACT or gain < _EXACT**2:
            return Multinomial(beta, done, True)
        while (moved := loss(beta - scale * step))[0] > value and scale > _SHORTEST:
            scale /= 2
        if scale <= _SHORTEST:
            return Multinomial(beta, done, True)
        beta, (value, gradient) = beta - scale * step, moved
    return Multinomial(beta, _MOST, False)


def penalised(
    x: scipy.sparse.csr_matrix, counts: scipy.sparse.csr_matrix, *, ridge: float = 0.0, lasso: float = 0.0,
    max_iter: int = 3000, tolerance: float = 1e-6,
) -> Multinomial:  # fmt: skip
    """Minimise ``-sum log P(class) / n + ridge / 2 sum b^2 + lasso sum |b|``, without a penalty on the constant.

    By a limited memory (L-BFGS-B). With ``lasso`` a coefficient is a difference of two that are not negative.

    Parameters
    ----------
    x : (m, k) csr_matrix
        Rows of a design whose first column is ones.
    counts : (m, c) csr_matrix
        Number of records of each row and class; all rows and classes have some.
    ridge, lasso
        The penalties.
    max_iter
        Most iterations.
    tolerance
        Largest absolute gradient at the end, in parameters of about unit curvature.

    Returns
    -------
    Multinomial
        The fit.

    References
    ----------
    Byrd, Lu, Nocedal & Zhu (1995), A limited memory algorithm for bound constrained optimization, SIAM Journal on
    Scientific Computing 16, 1190-1208.
    """
    likelihood = _Likelihood(x, counts)
    k, c = likelihood.shape
    free = c if c > 2 else 1
    penalty = np.append(0.0, np.ones(k - 1))[:, None]
    # the solver sees parameters of like curvature: indicators of rare levels would take it hundreds of iterations
    squares = np.asarray(x.multiply(x).T @ likelihood.weight)[:, None]
    step = 1 / np.sqrt(squares / 4 + ridge * penalty)
    price = lasso * step * penalty

    def coefficients(parameters: Floats) -> Floats:
        beta = np.zeros((k, c))
        halves = parameters.reshape(-1, k, free)
        beta[:, c - free :] = (halves[0] - halves[1] if lasso else halves[0]) * step
        return beta

    def loss(parameters: Floats) -> tuple[float, Floats]:
        beta = coefficients(parameters)
        value, slope = likelihood.at(beta)
        value += ridge / 2 * float((penalty * beta**2).sum())
        scaled = ((slope + ridge * penalty * beta) * step)[:, c - free :]
        if not lasso:
            return value, scaled.ravel()
        value += float((price * parameters.reshape(-1, k, free)).sum())
        return value, np.stack([price + scaled, price - scaled]).ravel()

    start = np.zeros((k, free))
    shares = np.log(likelihood.of_classes)
    start[0] = (shares if free > 1 else shares[1] - shares[0]) / step[0]
    lowest = 0.0 if lasso else -np.inf
    reached = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)]).ravel() if lasso else start.ravel()
    steps = 0
    # loaded first: it brings a library with threads of its own
    minimize = scipy.optimize.minimize
    with one_blas_thread():
        while True:
            found = minimize(
                loss, reached, jac=True, method="L-BFGS-B", bounds=[(lowest, None)] * reached.size if lasso else None,
                options={"maxiter": max_iter - steps, "maxfun": 2 * (max_iter - steps), "gtol": tolerance,
                         "ftol": 1e-7 * tolerance},
            )  # fmt: skip
            reached, steps = found.x, steps + int(found.nit)
            left = float(np.abs(reached - np.maximum(reached - found.jac, lowest)).max())
            # a step that gains nothing because it ends at a bound ends a run; the next one forgets it
            if left <= _NEARLY * tolerance or found.nit == 0 or found.status == 1:
                return Multinomial(coefficients(reached), steps, left <= _NEARLY * tolerance)
