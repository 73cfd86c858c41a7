"""Logistic regression by Newton's method, for designs that may be collinear and classes that may be separated."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.core import loop
from unveil.errors import UnveilWarning
from unveil.threads import one_blas_thread

Floats = NDArray[np.float64]
_NEGLIGIBLE = 1e-10
"""Directions with a smaller share of the largest sum of squares count as collinear."""
_FLAT = 1e-13
"""Directions with a smaller share of the information are not followed: the likelihood is flat."""
_MOST = 40
_UNKNOWN = 100.0
"""Standard errors of log odds above this are those of levels without any events."""
_BLOCK = 1 << 20
_SPARSE_PAYS = 100
"""Dense sums of products are this many times faster, per product."""
_ROWS_PAY = 8
"""Products of dense blocks are this many times faster than those of single entries in the loop."""
_TOLERANCE = 1e-9
_FIRST_OF_GLM = (np.log(3) + 4 / 3) / 2
"""R's glm starts at probabilities of 1/4 and 3/4: its first step from 0 is this many times as long."""

_row_products = loop("row_products", int, int, np.int64, np.int64, np.float64, np.float64, np.float64, np.float64)


class NotConverged(UnveilWarning):
    """A fit was ended before it was done; RAPID says so in :class:`unveil.inference.Rapid.warnings`."""

    @classmethod
    def warn(cls, steps: int) -> None:
        """Say after how many steps it was ended."""
        warnings.warn(f"not converged after {steps} iterations", cls, stacklevel=3)


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fitted logistic regression.

    Parameters
    ----------
    coefficients : (k,) float64
        Where the design is collinear, one of many solutions with the same probabilities.
    covariance : (k, k) float64
        Inverse (pseudo-inverse) of the information.
    probabilities : (n,) float64
        Fitted probabilities of 1.
    diverging : (k,) bool
        Coefficients that have no finite or no single estimate: they still grow while the likelihood stands still, or
        nothing is known of them.
    """

    coefficients: Floats
    covariance: Floats
    probabilities: Floats
    diverging: NDArray[np.bool_]


@one_blas_thread()
def fit_logistic(
    x: scipy.sparse.csr_matrix, y: Floats, *, weight: Floats | None = None, precision: Floats | float = 0.0,
    tolerance: float = _TOLERANCE, as_glm: bool = False,
) -> Logistic:  # fmt: skip
    """Maximum likelihood, or with a normal prior the largest posterior.

    Directions in which the likelihood is flat take no step, so a separated class leaves probabilities near 0 or 1 and
    all else as it should be.

    Parameters
    ----------
    x : (n, k) csr_matrix
        Design with a column of ones.
    y : (n,)
        0 or 1, or the share of ones among the records that a row stands for.
    weight : (n,)
        How many records each row stands for; one where it is not said.
    precision : (k,)
        Inverse variances of the prior, whose means are 0.
    tolerance
        The fit ends when the mean loss falls by a smaller share.
    as_glm
        Start and end where R's glm does, which gives the same probabilities where classes are separated.

    Returns
    -------
    Logistic
        The fit.

    Warns
    -----
    NotConverged
        If it is ended after 40 steps.

    References
    ----------
    McCullagh & Nelder (1989), Generalized linear models, section 2.5.

    Examples
    --------
    >>> x = scipy.sparse.csr_matrix(np.column_stack([np.ones(4), [0.0, 0.0, 1.0, 1.0]]))
    >>> fit_logistic(x, np.array([0.0, 1.0, 0.0, 1.0])).probabilities.round(3).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    beta, eta = np.zeros(x.shape[1]), np.zeros(x.shape[0])
    prior = np.broadcast_to(np.asarray(precision, dtype=np.float64), beta.shape)
    weight = np.ones(len(y)) if weight is None else weight
    loss = _loss(eta, y, weight, beta, prior)
    first, least = (_FIRST_OF_GLM, 0.05 / weight.sum()) if as_glm else (1.0, 1e-3)
    for done in range(_MOST):
        step = _step(x, y, weight, eta, beta, prior)[0]
        along, size = x @ step, 1.0 if done else first
        while (
            found := _loss(eta + size * along, y, weight, beta + size * step, prior)
        ) > loss + tolerance and size >= 1e-4:
            size /= 2
        beta, eta = beta + size * step, eta + size * along
        before, loss = loss, found
        if before - loss < tolerance * (loss + least):
            break
    else:
        NotConverged.warn(_MOST)
    step, covariance, flat = _step(x, y, weight, eta, beta, prior)
    reach = np.asarray(abs(x).max(axis=0).todense()).ravel()
    unknown = np.sqrt(np.diag(covariance)) > _UNKNOWN
    return Logistic(beta, covariance, scipy.special.expit(eta), flat | unknown | (np.abs(step) * reach > 0.1))


def _loss(eta: Floats, y: Floats, weight: Floats, beta: Floats, prior: Floats) -> float:
    """Mean negative log-likelihood, and the prior's share of it."""
    n = float(weight.sum())
    return float((weight * (np.logaddexp(0, eta) - y * eta)).sum()) / n + float(prior @ beta**2) / (2 * n)


def _step(
    x: scipy.sparse.csr_matrix, y: Floats, weight: Floats, eta: Floats, beta: Floats, prior: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Newton's step, the covariance, and which coefficients take part in directions that are flat."""
    mean = scipy.special.expit(eta)
    information = _products(x, weight * mean * (1 - mean)) + np.diag(prior)
    # columns differ in size by orders of magnitude: scaled, one bound for rounding serves them all
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    kept = values > max(values[-1], 0.0) * _FLAT
    root = vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None]
    covariance = root @ root.T
    flat = (np.abs(vectors[:, ~kept]) > 1e-6).any(axis=1)
    return covariance @ (x.T @ (weight * (y - mean)) - prior * beta), covariance, flat


def _products(x: scipy.sparse.csr_matrix, weight: Floats) -> Floats:
    """What :func:`gram` gives but for rounding, row by row where most entries of a row are 0."""
    n, k = x.shape
    if _ROWS_PAY * (x.nnz / max(n, 1)) ** 2 > k * k:
        return gram(x, weight)
    x, total = x.sorted_indices(), np.zeros((k, k))
    rows, columns = x.indptr.astype(np.int64), x.indices.astype(np.int64)
    _row_products(n, k, rows, columns, x.data.astype(np.float64), weight, np.empty((k, k)), total)
    upper: Floats = np.triu(total)
    return upper + np.triu(total, 1).T


def gram(x: scipy.sparse.csr_matrix, weight: Floats) -> Floats:
    """``X' diag(weight) X``, by blocks of records: a whole dense design may not fit in memory.

    Parameters
    ----------
    x : (n, k) csr_matrix
        The design.
    weight : (n,)
        A weight per record.

    Returns
    -------
    (k, k) float64
        The weighted sums of products.
    """
    n, k = x.shape
    if _SPARSE_PAYS * (x.nnz / max(n, 1)) ** 2 < k * k:
        result: Floats = (x.T @ x.multiply(weight[:, None]).tocsr()).toarray()
        return result
    total = np.zeros((k, k))
    size = max(_BLOCK // max(k, 1), 1)
    for start in range(0, n, size):
        block = x[start : start + size].toarray()
        total += block.T @ (block * weight[start : start + size, None])
    return total


@one_blas_thread()
def rank_and_gaps(x: scipy.sparse.csr_matrix) -> tuple[int, NDArray[np.bool_]]:
    """Rank of a design, and which of its coefficients cannot be told from others.

    Parameters
    ----------
    x : (n, k) csr_matrix
        The design.

    Returns
    -------
    rank : int
        Number of free parameters.
    gaps : (k,) bool
        Coefficients that are not estimable.

    Examples
    --------
    >>> rank_and_gaps(scipy.sparse.csr_matrix([[1.0, 1.0, 0.0], [1.0, 1.0, 2.0]]))
    (2, array([ True,  True, False]))
    """
    squares = _products(x, np.ones(x.shape[0]))
    scale = np.sqrt(np.diag(squares))
    empty = scale == 0
    scale[empty] = 1.0
    values, vectors = np.linalg.eigh(squares / np.outer(scale, scale))
    kept = values > values[-1] * _NEGLIGIBLE
    gaps = (np.abs(vectors[:, ~kept]) > 1e-6).any(axis=1) | empty
    return int(kept.sum()), gaps
