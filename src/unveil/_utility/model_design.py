"""The design of a user's regression model: reference levels, amounts in their own unit, complete records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil._utility.compared import Compared
from unveil._utility.formula import RegressionModel
from unveil.errors import CallError, DataError
from unveil.models.design import Coded, Coding, Design
from unveil.models.scale import Scale

Floats = NDArray[np.float64]
INTERCEPT = "(intercept)"


@dataclass(frozen=True, eq=False)
class Rows:
    """The complete records of one file as a regression sees them.

    Parameters
    ----------
    x : (n, k) csr_matrix
        Design: a constant, indicators, and amounts less their mean in units of their standard deviation, since sums of
        squares of incomes beside ages lose digits.
    scales
        Per coefficient how its amount was standardised; None where it belongs to none.
    y : (n,) float64
        Outcome; 0 or 1 of a logistic model.
    """

    x: scipy.sparse.csr_matrix
    scales: tuple[Scale | None, ...]
    y: Floats

    def in_own_units(self, estimate: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """Coefficients of the design, as coefficients of the amounts in their own unit."""
        centre = np.array([0.0 if scale is None else scale.centre for scale in self.scales])
        spread = np.array([1.0 if scale is None else scale.spread for scale in self.scales])
        back = np.diag(1 / spread)
        back[0] -= centre / spread
        return back @ estimate, back @ covariance @ back.T


@dataclass(frozen=True, eq=False)
class ModelDesign:
    """The rule that makes a design from records, settled on the original's complete records.

    Parameters
    ----------
    model
        The model, its kind settled.
    variables
        Outcome and predictors.
    design
        The columns of the predictors.
    usable : tuple of (n_levels,) bool
        Per variable, whether a level can be used.
    outcome : (n_levels,) float64
        The outcome's number for every level.
    event
        Logistic: the level that counts as 1.
    """

    model: RegressionModel
    variables: tuple[Compared, ...]
    design: Design
    usable: tuple[NDArray[np.bool_], ...]
    outcome: Floats
    event: str | None

    @classmethod
    def of(cls, model: RegressionModel, variables: Sequence[Compared]) -> ModelDesign:
        """Settle reference levels, which are the first that occur, and the kind of the model.

        Raises
        ------
        CallError
            If the outcome does not suit the kind.
        DataError
            If the original has no complete record.
        """
        codes = [variable.column.original for variable in variables]
        usable = [_has_answer(variable) for variable in variables]
        complete = _complete(usable, codes)
        if not complete.any():
            raise DataError(f"model {model}: the original has no record in which all of its variables have a value")
        for variable, good, c in zip(variables, usable, codes, strict=True):
            if not variable.column.has_amounts:
                good &= np.bincount(c[complete], minlength=good.size) > 0
        kind, outcome, event = _outcome(model, variables[0], usable[0], complete)
        design = Design.of(_coded(variables, codes, complete), Coding("first", constants=True))
        settled = RegressionModel(model.outcome, model.predictors, kind)
        return cls(settled, tuple(variables), design, tuple(usable), outcome, event)

    def rows(self, release: int | None) -> Rows:
        """The complete records of a release, or of the original (None)."""
        codes = [v.column.original if release is None else v.column.releases[release] for v in self.variables]
        complete = _complete(self.usable, codes)
        coded = _coded(self.variables, codes, complete)
        design = self.design.rescaled(coded)
        scales = [design.terms[i].scale if level is None else None for i, level in design.columns]
        x = design.matrix(coded, int(complete.sum()), constant=True)
        return Rows(x, (None, *scales), self.outcome[codes[0][complete]])

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        columns = [(self.variables[1 + i], level) for i, level in self.design.columns]
        names = (v.name if level is None else f"{v.name}: {v.column.label(level)}" for v, level in columns)
        return (INTERCEPT, *names)

    @property
    def is_amount(self) -> NDArray[np.bool_]:
        """Per coefficient, whether it belongs to an amount."""
        return np.array([False, *(level is None for _, level in self.design.columns)])


def _complete(usable: Sequence[NDArray[np.bool_]], codes: Sequence[NDArray[np.int32]]) -> NDArray[np.bool_]:
    """Whether a record has levels that can be used in all variables."""
    complete: NDArray[np.bool_] = np.all([good[c] for good, c in zip(usable, codes, strict=True)], axis=0)
    return complete


def _coded(
    variables: Sequence[Compared], codes: Sequence[NDArray[np.int32]], records: NDArray[np.bool_]
) -> list[Coded]:
    """The predictors of some records."""
    return [Coded(c[records], v.column.amounts) for v, c in zip(variables[1:], codes[1:], strict=True)]


def _has_answer(variable: Compared) -> NDArray[np.bool_]:
    column = variable.column
    if variable.column.has_amounts:
        return column.is_amount.copy()
    good = ~column.is_special
    good[len(column.levels) :] = False
    return good


def _outcome(
    model: RegressionModel, variable: Compared, usable: NDArray[np.bool_], complete: NDArray[np.bool_]
) -> tuple[str, Floats, str | None]:
    two = np.unique(variable.column.original[complete]).tolist()
    kind = model.kind or ("linear" if variable.column.has_amounts and len(two) > 2 else "logistic")
    if kind == "linear":
        if not variable.column.has_amounts:
            raise CallError(f"model {model}: {model.outcome!r} has no amounts; a linear model needs them")
        return kind, variable.column.amounts, None
    if len(two) != 2:
        labels = ", ".join(variable.column.label(code) for code in two[:5])
        more = ", ..." if len(two) > 5 else ""
        raise CallError(
            f"model {model}: a logistic model needs an outcome with two levels, "
            f"{model.outcome!r} has {len(two)} in complete records of the original ({labels}{more})"
        )
    # levels that only a release has are no event and no alternative
    usable[:] = False
    usable[two] = True
    outcome = np.zeros(variable.column.n_levels)
    outcome[two[1]] = 1.0
    return kind, outcome, variable.column.label(two[1])
