"""Linear regression with normal noise, on the values or on their normal scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.models.design import Coded, Design
from unveil.models.least_squares import LeastSquares, fit_least_squares
from unveil.models.scale import Scale, numbers
from unveil.notes import warn
from unveil.synthesis.donors import known_codes, require_records
from unveil.trees import Column

_MOST_DECIMALS = 12


class LinearMethod:
    """A method whose regression has parameters that are drawn once per fit if ``proper`` is set."""

    proper: bool

    @property
    def draws_in_fit(self) -> bool:
        """Whether the parameters are drawn."""
        return self.proper


@dataclass(frozen=True)
class Norm(LinearMethod):
    """Linear regression with normal residuals.

    ``y* = X* b + sigma z``, ``z ~ N(0, 1)``, with the least-squares ``b`` and ``sigma^2 = RSS / (n - rank)``, or
    with both drawn from their posterior (``proper``). Values are rounded to the ``d`` decimals of the data, so that
    ``P(y* = v) = Phi((v + h - X* b) / sigma) - Phi((v - h - X* b) / sigma)`` with ``h = 10^-d / 2``. Data of more than
    12 decimals are not rounded; ``h`` is then half the distance to the next number that a computer holds, and the
    probability is the density times that distance.

    Parameters
    ----------
    proper : bool
        Draw the parameters, once per fit. Without it the probability of every value is known exactly.

    Warns
    -----
    UnveilWarning
        If the regression has as many parameters as records, so that it repeats the original values.

    References
    ----------
    Rubin, D. B. (1987). Multiple imputation for nonresponse in surveys. Wiley. Example 5.1.
    Nowok, B., Raab, G. M. & Dibben, C. (2016). synthpop: Bespoke creation of synthetic data in R. Journal of
    Statistical Software 74 (11). doi:10.18637/jss.v074.i11

    Examples
    --------
    >>> import numpy as np
    >>> from unveil.synthesis.methods import Norm
    >>> from unveil.trees import Column
    >>> x = Column.from_values(np.arange(100))
    >>> y = Column.from_values(3 * np.arange(100) + 7)
    >>> fitted = Norm().fit(y, [x], np.random.default_rng(1))
    >>> drawn = fitted.draw([Column.from_values([10, 200])], np.random.default_rng(2))
    >>> drawn.values.tolist()
    [37.0, 607.0]
    >>> from scipy.stats import norm
    >>> four = Column.from_values([1, 2, 3, 6])
    >>> three = Norm().fit(four, [], np.random.default_rng(1)).log_prob(Column.from_values([3]), [])
    >>> np.exp(three).round(6) == (2 * norm.cdf(0.5 / np.std([1, 2, 3, 6], ddof=1)) - 1).round(6)
    array([ True])
    """

    draws_new_numbers: ClassVar[bool] = True

    proper: bool = False

    def fit(self, response: Column, predictors: Sequence[Column], rng: np.random.Generator) -> FittedNorm:
        """Fit the regression; see :class:`unveil.synthesis.protocol.VariableMethod`.

        Raises
        ------
        CallError
            If the variable is not numeric.
        DataError
            If there are no records, or a numeric variable holds infinite values.
        """
        require_records(response, ("numeric",), "norm", "polyreg, ctree or cart")
        regression = _Regression.of(response, numbers(response), predictors, self.proper, rng)
        return FittedNorm(response.name, regression, _decimals(response), not self.proper)


@dataclass(frozen=True, eq=False)
class FittedNorm:
    """A fitted linear regression.

    Parameters
    ----------
    name : str
        Name of the variable.
    regression : _Regression
        The regression.
    decimals : int or None
        Decimals that drawn values are rounded to; None if they are not.
    has_likelihood : bool
        Whether the parameters were not drawn.
    """

    draws_new_numbers: ClassVar[bool] = True

    name: str
    regression: _Regression
    decimals: int | None
    has_likelihood: bool

    def draw(self, predictors: Sequence[Column], rng: np.random.Generator) -> Column:
        """Draw new numbers; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        drawn = self.regression.draw(predictors, rng)
        if self.decimals is not None:
            drawn = _rounded(drawn, self.decimals)
        return Column.from_values(drawn, name=self.name)

    def log_prob(self, response: Column, predictors: Sequence[Column]) -> NDArray[np.float64]:
        """Return the logarithm of the normal probability of all numbers that are rounded to the value.

        See :class:`unveil.synthesis.protocol.FittedVariable`.

        Raises
        ------
        CallError
            If the parameters were drawn.
        """
        if not self.has_likelihood:
            raise CallError(f"{self.name or 'response'}: no log_prob of a proper fit; set proper=False")
        assert response.values is not None
        value, fitted = response.values[response.codes], self.regression
        mean = fitted.scale.values(fitted.predict(predictors, value.size))
        # Numbers of a computer have gaps, too: what is not rounded, or too large to be, is so to the next one.
        half = np.spacing(np.abs(value)) / 2
        drawn = np.ones(value.size, dtype=np.bool_)
        if self.decimals is not None:
            half = np.maximum(half, 0.5 * 10.0**-self.decimals)
            mean_drawn, drawn = _rounded(mean, self.decimals), _rounded(value, self.decimals) == value
        else:
            mean_drawn = mean
        if fitted.noise > 0:
            with np.errstate(over="ignore"):
                log_prob = _log_normal_mass((value - mean) / fitted.noise, half / fitted.noise)
        else:
            log_prob = np.where(mean_drawn == value, 0.0, -np.inf)
        return np.where(drawn, log_prob, -np.inf)


@dataclass(frozen=True)
class Normrank(LinearMethod):
    """Linear regression on normal scores; synthetic values are observed values of the drawn rank.

    ``z_i = Phi^-1(rank_i / (n + 1))`` (mean ranks of ties) is modelled as by :class:`Norm`; a drawn ``z*`` becomes
    the observed value with rank ``round((n + 1) Phi(z*))``, at least 1 and at most ``n``. The marginal
    distribution is kept whatever its shape, and no value occurs that has not been observed.

    Parameters
    ----------
    proper : bool
        Draw the parameters, once per fit. Without it the probability of every value is known exactly.

    Warns
    -----
    UnveilWarning
        If the regression has as many parameters as records, so that it repeats the original values.

    References
    ----------
    Nowok, B., Raab, G. M. & Dibben, C. (2016). synthpop: Bespoke creation of synthetic data in R. Journal of
    Statistical Software 74 (11). doi:10.18637/jss.v074.i11

    Examples
    --------
    >>> import numpy as np
    >>> from unveil.synthesis.methods import Normrank
    >>> from unveil.trees import Column
    >>> y = Column.from_values([1, 2, 3])
    >>> fitted = Normrank().fit(y, [], np.random.default_rng(1))
    >>> np.exp(fitted.log_prob(y, [])).round(3).tolist()
    [0.318, 0.363, 0.318]
    """

    proper: bool = False

    def fit(self, response: Column, predictors: Sequence[Column], rng: np.random.Generator) -> FittedNormrank:
        """Fit the regression; see :class:`unveil.synthesis.protocol.VariableMethod`.

        Raises
        ------
        CallError
            If the variable is not numeric.
        DataError
            If there are no records, or a numeric predictor holds infinite values.
        """
        require_records(response, ("numeric",), "normrank", "polyreg, ctree or cart")
        scores = scipy.special.ndtri(scipy.stats.rankdata(response.codes) / (response.codes.size + 1))
        regression = _Regression.of(response, scores, predictors, self.proper, rng)
        return FittedNormrank(response.without_records(), regression, np.sort(response.codes), not self.proper)


@dataclass(frozen=True, eq=False)
class FittedNormrank:
    """A fitted linear regression of normal scores."""

    response: Column
    regression: _Regression
    ordered: NDArray[np.int32]
    has_likelihood: bool

    def draw(self, predictors: Sequence[Column], rng: np.random.Generator) -> Column:
        """Draw observed values; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        scores = self.regression.draw(predictors, rng)
        rank = np.floor((self.ordered.size + 1) * scipy.special.ndtr(scores) + 0.5).astype(np.int64)
        codes = self.ordered[np.clip(rank, 1, self.ordered.size) - 1]
        return self.response.with_codes(codes)

    def log_prob(self, response: Column, predictors: Sequence[Column]) -> NDArray[np.float64]:
        """Return the logarithm of the normal probability of the value's ranks.

        See :class:`unveil.synthesis.protocol.FittedVariable`.

        Raises
        ------
        CallError
            If the parameters were drawn.
        """
        if not self.has_likelihood:
            raise CallError(f"{self.response.name or 'response'}: no log_prob of a proper fit; set proper=False")
        codes, n, fitted = known_codes(self.response, response), self.ordered.size, self.regression
        mean = fitted.scale.values(fitted.predict(predictors, codes.size))
        below = np.searchsorted(self.ordered, codes, side="left")
        upto = np.searchsorted(self.ordered, codes, side="right")
        # rank r is drawn where (n + 1) Phi(z) lies in [r - 1/2, r + 1/2); the ends take what is beyond them
        low = np.where(below == 0, -np.inf, scipy.special.ndtri((below + 0.5) / (n + 1)) - mean)
        high = np.where(upto == n, np.inf, scipy.special.ndtri((upto + 0.5) / (n + 1)) - mean)
        sigma = fitted.noise
        if sigma > 0:
            log_prob = _log_normal_interval(low / sigma, high / sigma)
        else:
            log_prob = np.where((low <= 0) & (high > 0), 0.0, -np.inf)
        log_prob[upto == below] = -np.inf
        return log_prob


def _log_normal_interval(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """``log(Phi(high) - Phi(low))`` without loss in either tail."""
    flip = low > 0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    upper, lower = scipy.special.log_ndtr(high), scipy.special.log_ndtr(low)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_prob: NDArray[np.float64] = upper + np.log(-np.expm1(lower - upper))
    return log_prob


def _log_normal_mass(middle: NDArray[np.float64], half: NDArray[np.float64]) -> NDArray[np.float64]:
    """``log(Phi(middle + half) - Phi(middle - half))``, without loss for narrow intervals either."""
    slope = middle * half
    narrow = (half < 1e-3) & (np.abs(slope) < 0.1)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # Integral of exp(-middle t - t^2 / 2) from -half to half, to the fourth order.
        curved = np.log1p(slope**2 / 6 + slope**4 / 120) - half**2 / 6
        density = np.log(2 * half) - np.log(2 * np.pi) / 2 - middle**2 / 2
    log_mass: NDArray[np.float64] = np.where(
        narrow, density + curved, _log_normal_interval(middle - half, middle + half)
    )
    return log_mass


@dataclass(frozen=True, eq=False)
class _Regression:
    """A linear regression of values or scores.

    Parameters
    ----------
    scale : Scale
        How the response is standardised.
    design : Design
        Columns of the regression.
    model : LeastSquares
        The regression of the standardised response.
    sigma : float
        Its residual standard deviation.
    """

    scale: Scale
    design: Design
    model: LeastSquares
    sigma: float

    @classmethod
    def of(
        cls,
        response: Column,
        values: NDArray[np.float64],
        predictors: Sequence[Column],
        proper: bool,
        rng: np.random.Generator,
    ) -> _Regression:
        """Fit the regression of the response's values or scores; with ``proper`` its parameters are drawn."""
        variables = [*map(Coded.of, predictors)]
        scale, design = Scale.of(values), Design.of(variables)
        model = fit_least_squares(design.matrix(variables, values.size, constant=True), scale.standardised(values))
        _warn_of_perfect_fit(response, model)
        return cls(scale, design, *(model.redrawn(rng) if proper else (model, model.sigma)))

    @property
    def noise(self) -> float:
        """Residual standard deviation in the units of the response."""
        return self.sigma * self.scale.deviation * self.scale.step * self.scale.unit

    def predict(self, predictors: Sequence[Column], n: int) -> NDArray[np.float64]:
        """Return (n,) expected values of the standardised response."""
        x = self.design.matrix([*map(Coded.of, predictors)], n, constant=True)
        expected: NDArray[np.float64] = x @ self.model.coefficients
        return expected

    def draw(self, predictors: Sequence[Column], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return (n,) expected values with normal residuals."""
        n = predictors[0].codes.size
        return self.scale.values(self.predict(predictors, n) + self.sigma * rng.standard_normal(n))


def _warn_of_perfect_fit(response: Column, model: LeastSquares) -> None:
    """Warn of a regression without residual degrees of freedom, which repeats the original values."""
    if model.df <= 0 < model.coefficients.size - 1 and response.codes.size > 1:
        name = response.name or "response"
        warn(
            f"{name}: the regression has as many parameters as records ({response.codes.size}) and adds no noise; "
            "use fewer predictors or another method"
        )


def _decimals(response: Column) -> int | None:
    """Return the decimals of the observed values; None if there are more than 12."""
    assert response.values is not None
    observed = response.values[np.unique(response.codes)]
    for decimals in range(_MOST_DECIMALS + 1):
        if (_rounded(observed, decimals) == observed).all():
            return decimals
    return None


def _rounded(numbers: NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    """Return rounded numbers; numbers that are too large to be rounded are whole already."""
    with np.errstate(over="ignore"):
        rounded = np.round(numbers, decimals)
    return np.where(np.isfinite(rounded), rounded, numbers)
