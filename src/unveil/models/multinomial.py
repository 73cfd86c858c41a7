"""Logistic regression of several classes: by maximum likelihood, or with a penalty on the coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.core import loop
from unveil.models.lasso import lasso_minimum, unbalanced
from unveil.threads import one_blas_thread

Floats = NDArray[np.float64]
_RIDGE = 1e-8
_MOST = 500
_MOST_COEFFICIENTS = 1000
_MOST_WORK = 4e9
_EXACT = 1e-12
_SHORTEST = 1e-6
_NEARLY = 10
"""A gradient this many times the tolerance is near enough."""
_INEXACT = 0.01
"""A step of Newton's method is as exact as this share of what is left asks for."""
_class_curvature = loop(
    "class_curvature", int, int, int, np.int64, np.int64, np.float64, np.float64, np.float64, np.float64
)


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

    def start(self) -> Floats:
        """Coefficients (k, c) whose probabilities are the shares of the classes."""
        beta = np.zeros(self.shape)
        beta[0] = np.log(self.of_classes)
        return beta

    def hessian(self, beta: Floats, free: int) -> Floats:
        """The second derivatives (k free, k free) by the coefficients of the last ``free`` classes."""
        k, c = self.shape
        eta = (self.x @ beta).T
        exponentials = np.exp(eta - eta.max(axis=0))
        p = np.ascontiguousarray((exponentials / exponentials.sum(axis=0))[c - free :].T)
        total = np.zeros((k * free, k * free))
        _class_curvature(len(p), k, free, *self._rows, self.weight, p, total)
        upper: Floats = np.triu(total)
        return upper + np.triu(total, 1).T

    @cached_property
    def _rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """The design by rows, as the loop takes it."""
        x = self.x.sorted_indices()
        return x.indptr.astype(np.int64), x.indices.astype(np.int64), x.data.astype(np.float64)

    def fits_newton(self, free: int) -> bool:
        """Whether second derivatives are worth their time and memory."""
        size = self.shape[0] * free
        work = float(self.x.nnz) ** 2 / len(self.weight) * free**2
        return bool(size <= _MOST_COEFFICIENTS and work <= _MOST_WORK)


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
    if not likelihood.fits_newton(counts.shape[1]):
        return penalised(x, counts, ridge=_RIDGE, max_iter=_MOST, tolerance=1e-5)
    beta = likelihood.start()

    def loss(beta: Floats) -> tuple[float, Floats]:
        value, slope = likelihood.at(beta)
        return value + _RIDGE / 2 * float((beta**2).sum()), slope + _RIDGE * beta

    value, gradient = loss(beta)
    for done in range(_MOST):
        hessian = likelihood.hessian(beta, counts.shape[1])
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


@dataclass(frozen=True, eq=False)
class _Penalised:
    """A likelihood with a penalty on all coefficients but the constants; those of two classes are of the second."""

    likelihood: _Likelihood
    ridge: float
    lasso: float

    @cached_property
    def free(self) -> int:
        """Number of classes that have coefficients."""
        c = self.likelihood.shape[1]
        return c if c > 2 else 1

    @cached_property
    def penalty(self) -> Floats:
        """Which coefficients (k, 1) have a penalty."""
        return np.append(0.0, np.ones(self.likelihood.shape[0] - 1))[:, None]

    @cached_property
    def step(self) -> Floats:
        """Sizes (k, 1) of coefficients that change the loss alike."""
        x = self.likelihood.x
        curvature = np.asarray(x.multiply(x).T @ self.likelihood.weight)[:, None] / 4 + self.ridge * self.penalty
        # the column of a number that does not vary is 0
        result: Floats = 1 / np.sqrt(np.where(curvature > 0, curvature, 1.0))
        return result

    def start(self) -> Floats:
        """Coefficients (k, free) whose probabilities are the shares of the classes."""
        beta = self.likelihood.start()
        return beta if self.free > 1 else beta[:, 1:] - beta[:, :1]

    def whole(self, beta: Floats) -> Floats:
        """The coefficients of all classes."""
        return np.pad(beta, ((0, 0), (self.likelihood.shape[1] - self.free, 0)))

    def smooth(self, beta: Floats) -> tuple[float, Floats]:
        """The value without the lasso, and its gradient (k, free)."""
        value, slope = self.likelihood.at(self.whole(beta))
        held = self.ridge * self.penalty * beta
        return value + float((held * beta).sum()) / 2, slope[:, -self.free :] + held

    def change(self, beta: Floats, slope: Floats, left: float) -> Floats:
        """Newton's step from coefficients of this slope, exact to a hundredth of the slope that is left."""
        curvature = self.likelihood.hessian(self.whole(beta), self.free)
        ridge = np.repeat(self.ridge * self.penalty, self.free)
        curvature[np.diag_indices(beta.size)] += ridge + _RIDGE
        if not self.lasso:
            return np.asarray(-np.linalg.solve(curvature, slope.ravel()).reshape(beta.shape), dtype=np.float64)
        price = np.repeat(self.lasso * self.penalty, self.free)
        near = np.repeat(_INEXACT * left / self.step, self.free)
        return lasso_minimum(curvature, slope.ravel(), price, beta.ravel(), near).reshape(beta.shape) - beta


def penalised(
    x: scipy.sparse.csr_matrix, counts: scipy.sparse.csr_matrix, *, ridge: float = 0.0, lasso: float = 0.0,
    max_iter: int = 3000, tolerance: float = 1e-6,
) -> Multinomial:  # fmt: skip
    """Minimise ``-sum log P(class) / n + ridge / 2 sum b^2 + lasso sum |b|``, without a penalty on the constant.

    By Newton's method where the Hessian is small enough: every step lowers the quadratic approximation of the
    likelihood, with the penalty as it is. Else by a limited memory (L-BFGS-B), where with ``lasso`` a coefficient is a
    difference of two that are not negative.

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
        Largest absolute gradient at the end, in parameters of about unit curvature; of a coefficient with a lasso,
        what the penalty does not hold.

    Returns
    -------
    Multinomial
        The fit.

    References
    ----------
    Lee, Sun & Saunders (2014), Proximal Newton-type methods for minimizing composite functions, SIAM Journal on
    Optimization 24, 1420-1443; Byrd, Lu, Nocedal & Zhu (1995), A limited memory algorithm for bound constrained
    optimization, SIAM Journal on Scientific Computing 16, 1190-1208.
    """
    problem = _Penalised(_Likelihood(x, counts), ridge, lasso)
    fit = _by_newton if problem.likelihood.fits_newton(problem.free) else _by_limited_memory
    return fit(problem, max_iter, tolerance)


@one_blas_thread()
def _by_newton(problem: _Penalised, max_iter: int, tolerance: float) -> Multinomial:
    beta, price = problem.start(), problem.lasso * problem.penalty

    def at(beta: Floats) -> tuple[float, Floats]:
        value, slope = problem.smooth(beta)
        return value + float((price * np.abs(beta)).sum()), slope

    value, slope = at(beta)
    for done in range(max_iter + 1):
        left = float((unbalanced(beta, slope, price) * problem.step).max())
        if left <= tolerance or done == max_iter:
            break
        change, size = problem.change(beta, slope, left), 1.0
        while (moved := at(beta + size * change))[0] > value and size > _SHORTEST:
            size /= 2
        # what is left is rounding
        if size <= _SHORTEST:
            break
        beta, (value, slope) = beta + size * change, moved
    return Multinomial(problem.whole(beta), done, left <= _NEARLY * tolerance)


def _by_limited_memory(problem: _Penalised, max_iter: int, tolerance: float) -> Multinomial:
    # the solver sees parameters of like curvature: indicators of rare levels would take it hundreds of iterations
    lasso, step, shape = problem.lasso, problem.step, (-1, problem.likelihood.shape[0], problem.free)
    price = lasso * step * problem.penalty

    def coefficients(parameters: Floats) -> Floats:
        halves = parameters.reshape(shape)
        result: Floats = (halves[0] - halves[1] if lasso else halves[0]) * step
        return result

    def loss(parameters: Floats) -> tuple[float, Floats]:
        value, slope = problem.smooth(coefficients(parameters))
        scaled = slope * step
        if not lasso:
            return value, scaled.ravel()
        return value + float((price * parameters.reshape(shape)).sum()), np.stack(
            [price + scaled, price - scaled]
        ).ravel()

    start = problem.start() / step
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
                whole = problem.whole(coefficients(reached))
                return Multinomial(whole, steps, left <= _NEARLY * tolerance)
