"""Logistic regression, two classes or several."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.checks import check_whole_numbers
from unveil.columns.combinations import fold
from unveil.errors import CallError
from unveil.models.design import Coded, Design
from unveil.models.multinomial import penalised
from unveil.notes import warn
from unveil.synthesis.donors import known_codes, require_records
from unveil.trees import Column

_BLOCK = 1 << 22


@dataclass(frozen=True)
class _Penalised:
    """The settings of both regressions, and how they are fitted."""

    method: ClassVar[str]
    most_classes: ClassVar[float] = math.inf
    draws_in_fit: ClassVar[bool] = False

    prior_scale: float = 2.5
    max_iter: int = 500

    def __post_init__(self) -> None:
        if not self.prior_scale > 0:
            raise CallError(f"prior_scale must be above 0, got {self.prior_scale}")
        check_whole_numbers(1, max_iter=self.max_iter)

    def fit(self, response: Column, predictors: Sequence[Column], rng: np.random.Generator) -> FittedLogistic:
        """Fit the regression; see :class:`unveil.synthesis.protocol.VariableMethod`.

        Raises
        ------
        CallError
            If the variable is numeric, or more than two classes occur (a gap counts as one) and the method is logreg.
        DataError
            If there are no records, or a numeric predictor holds infinite values.
        """
        require_records(response, ("categorical", "ordered"), self.method, "norm, ctree or cart")
        name = response.name or "response"
        classes, which, count = np.unique(response.codes, return_inverse=True, return_counts=True)
        if classes.size > self.most_classes:
            raise CallError(
                f"{name}: logreg needs two classes, {classes.size} occur (a gap counts as one); use polyreg"
            )
        n, variables = which.size, [*map(Coded.of, predictors)]
        design = Design.of(variables)
        coefficients = np.zeros((1 + len(design.columns), classes.size))
        # shares, where there is nothing to regress on
        coefficients[0] = np.log(count / n)
        if classes.size > 1 and len(coefficients) > 1:
            # records with equal predictors are counted
            _, folded = fold((p.codes for p in predictors), [p.n_levels for p in predictors])
            _, first, place = np.unique(folded, return_index=True, return_inverse=True)
            counts = scipy.sparse.csr_matrix((np.ones(n), (place, which)))
            matrix = design.matrix(variables, n, constant=True)[first]
            ridge = 1 / (n * self.prior_scale**2)
            fitted = penalised(matrix, counts, ridge=ridge, max_iter=self.max_iter, tolerance=1e-4)
            coefficients = fitted.coefficients
            if not fitted.converged:
                warn(
                    f"{name}: logistic regression has not converged after {self.max_iter} iterations; raise max_iter "
                    "or use fewer predictors"
                )
        return FittedLogistic(response.without_records(), classes, design, coefficients[0], coefficients[1:])


@dataclass(frozen=True)
class Polyreg(_Penalised):
    """Multinomial logistic regression.

    ``P(y = k | x) = exp(a_k + x b_k) / sum_l exp(a_l + x b_l)``, fitted by the penalised likelihood with
    ``b_k ~ N(0, prior_scale^2)`` on standardised numeric predictors and indicators of levels; the constants
    ``a_k`` are free. The penalty keeps estimates finite where classes are separated by the predictors or have one
    record, and is negligible otherwise. Classes that do not occur are never drawn. Time and memory grow with
    records times classes: variables with hundreds of classes are better served by trees.

    Parameters
    ----------
    prior_scale : float
        Standard deviation of a coefficient before the data are seen.
    max_iter : int
        Most iterations of the solver.

    Raises
    ------
    CallError
        If a setting is out of range.

    Warns
    -----
    UnveilWarning
        If the solver stops before it has converged; what it has then is used.

    References
    ----------
    Gelman, A., Jakulin, A., Pittau, M. G. & Su, Y.-S. (2008). A weakly informative default prior distribution for
    logistic and other regression models. Annals of Applied Statistics 2, 1360-1383. doi:10.1214/08-AOAS191
    (the scale 2.5).

    Examples
    --------
    >>> import numpy as np
    >>> from unveil.synthesis.methods import Polyreg
    >>> from unveil.trees import Column
    >>> region = Column(np.repeat([0, 1], 300), "categorical", 2)
    >>> opinion = Column(np.repeat([0, 1, 2, 0, 1, 2], [30, 90, 180, 150, 120, 30]), "categorical", 3)
    >>> fitted = Polyreg().fit(opinion, [region], np.random.default_rng(1))
    >>> one = Column(np.zeros(3, dtype=np.int32), "categorical", 2)
    >>> np.exp(fitted.log_prob(Column(np.arange(3), "categorical", 3), [one])).round(1).tolist()
    [0.1, 0.3, 0.6]
    """

    method: ClassVar[str] = "polyreg"


@dataclass(frozen=True)
class Logreg(_Penalised):
    """Logistic regression of a variable with two classes; as :class:`Polyreg` otherwise.

    Parameters
    ----------
    prior_scale : float
        Standard deviation of a coefficient before the data are seen.
    max_iter : int
        Most iterations of the solver.

    Raises
    ------
    CallError
        If a setting is out of range.

    Warns
    -----
    UnveilWarning
        If the solver stops before it has converged; what it has then is used.

    References
    ----------
    Gelman, A., Jakulin, A., Pittau, M. G. & Su, Y.-S. (2008). A weakly informative default prior distribution for
    logistic and other regression models. Annals of Applied Statistics 2, 1360-1383. doi:10.1214/08-AOAS191

    Examples
    --------
    >>> import numpy as np
    >>> from unveil.synthesis.methods import Logreg
    >>> from unveil.trees import Column
    >>> age = Column.from_values(np.tile(np.arange(20, 80), 10))
    >>> ill = Column((np.arange(600) % 60 > 30).astype(np.int32), "categorical", 2)
    >>> fitted = Logreg().fit(ill, [age], np.random.default_rng(1))
    >>> fitted.draw([Column.from_values([20, 79])], np.random.default_rng(2)).codes.tolist()
    [0, 1]
    """

    method: ClassVar[str] = "logreg"
    most_classes: ClassVar[float] = 2


@dataclass(frozen=True, eq=False)
class FittedLogistic:
    """A fitted logistic regression.

    Parameters
    ----------
    response : Column
        The variable, without its records.
    classes : (k,) int32
        Classes that occur.
    design : Design
        Columns of the regression.
    constant : (k,) float64
        ``a_k``.
    coefficients : (n_columns, k) float64
        ``b_k``.
    """

    response: Column
    classes: NDArray[np.int32]
    design: Design
    constant: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    has_likelihood: bool = True

    def draw(self, predictors: Sequence[Column], rng: np.random.Generator) -> Column:
        """Classes; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        n = predictors[0].codes.size
        uniform = rng.random(n)
        codes = np.empty(n, dtype=np.int32)
        for rows, log_prob in self._blocks(predictors, n):
            reached = np.cumsum(np.exp(log_prob), axis=1)
            # divided by the last, which rounding may leave below 1
            drawn = (reached / reached[:, -1:] <= uniform[rows, np.newaxis]).sum(axis=1)
            codes[rows] = self.classes[drawn]
        return Column(codes, self.response.kind, self.response.n_levels, name=self.response.name)

    def log_prob(self, response: Column, predictors: Sequence[Column]) -> NDArray[np.float64]:
        """Logarithm of the class probability; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        codes = known_codes(self.response, response)
        place = np.minimum(np.searchsorted(self.classes, codes), self.classes.size - 1)
        result = np.empty(codes.size)
        for rows, log_prob in self._blocks(predictors, codes.size):
            result[rows] = log_prob[np.arange(log_prob.shape[0]), place[rows]]
        result[self.classes[place] != codes] = -np.inf
        return result

    def _blocks(self, predictors: Sequence[Column], n: int) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Logarithms of all class probabilities, some records at a time: a table of all may not fit in memory."""
        matrix = self.design.matrix([*map(Coded.of, predictors)], n)
        size = max(_BLOCK // self.classes.size, 1)
        for start in range(0, n, size):
            rows = slice(start, min(start + size, n))
            yield rows, scipy.special.log_softmax(matrix[rows] @ self.coefficients + self.constant, axis=1)
