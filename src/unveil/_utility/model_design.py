"""The design of a user's regression model: reference levels, amounts in their own unit, complete records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unveil._utility.compared import Compared
from unveil._utility.formula import RegressionModel
from unveil.errors import CallError, DataError

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
    centre, scale : (k,) float64
        What was taken off each column, and what it was divided by; 0 and 1 of indicators.
    y : (n,) float64
        Outcome; 0 or 1 of a logistic model.
    left_out
        Number of records with a gap, a special code, or a level that the original's complete records lack.
    """

    x: sparse.csr_matrix
    centre: Floats
    scale: Floats
    y: Floats
    left_out: int

    def in_own_units(self, estimate: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """Coefficients of the design, as coefficients of the amounts as they are."""
        back = np.diag(1 / self.scale)
        back[0] -= self.centre / self.scale
        return back @ estimate, back @ covariance @ back.T


@dataclass(frozen=True, eq=False)
class ModelDesign:
    """How records become a design, settled on the original's complete records.

    Parameters
    ----------
    model
        The model, its kind settled.
    variables
        Outcome and predictors.
    tables : tuple of (n_levels, k_j) float64
        Per predictor its columns of the design for every level.
    usable : tuple of (n_levels,) bool
        Per variable, whether a level can be used.
    outcome : (n_levels,) float64
        The outcome's number for every level.
    terms
        Names of the coefficients.
    event
        Logistic: the level that counts as 1.
    """

    model: RegressionModel
    variables: tuple[Compared, ...]
    tables: tuple[Floats, ...]
    usable: tuple[NDArray[np.bool_], ...]
    outcome: Floats
    terms: tuple[str, ...]
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
        usable = [_no_gaps(variable) for variable in variables]
        complete = np.ones(len(variables[0].column.original), dtype=bool)
        for variable, good in zip(variables, usable, strict=True):
            complete &= good[variable.column.original]
        if not complete.any():
            raise DataError(f"model {model}: the original has no record in which all of its variables have a value")
        for i, variable in enumerate(variables):
            if not variable.is_amount:
                codes = variable.column.original[complete]
                usable[i] = usable[i] & (np.bincount(codes, minlength=variable.column.n_levels) > 0)
        kind, outcome, event = _outcome(model, variables[0], usable[0], complete)
        tables, terms = [], [INTERCEPT]
        for variable, good in zip(variables[1:], usable[1:], strict=True):
            table, names = _columns(variable, good)
            tables.append(table)
            terms += names
        settled = RegressionModel(model.outcome, model.predictors, kind)
        return cls(settled, tuple(variables), tuple(tables), tuple(usable), outcome, tuple(terms), event)

    def rows(self, release: int | None) -> Rows:
        """The complete records of a release, or of the original (None)."""
        codes = [v.column.original if release is None else v.column.releases[release] for v in self.variables]
        kept = np.ones(len(codes[0]), dtype=bool)
        for good, c in zip(self.usable, codes, strict=True):
            kept &= good[c]
        n = int(kept.sum())
        parts = [sparse.csr_matrix(np.ones((n, 1)))]
        centres, scales = [np.zeros(1)], [np.ones(1)]
        for variable, table, c in zip(self.variables[1:], self.tables, codes[1:], strict=True):
            centre, scale = np.zeros(table.shape[1]), np.ones(table.shape[1])
            if variable.is_amount and n:
                table, centre[0], scale[0] = _standardised(table, c[kept])
            parts.append(sparse.csr_matrix(table)[c[kept]])
            centres.append(centre)
            scales.append(scale)
        x = sparse.hstack(parts, format="csr")
        return Rows(x, np.concatenate(centres), np.concatenate(scales), self.outcome[codes[0][kept]], len(kept) - n)

    @property
    def is_amount(self) -> NDArray[np.bool_]:
        """Per coefficient, whether it belongs to an amount."""
        widths = [(v.is_amount, t.shape[1]) for v, t in zip(self.variables[1:], self.tables, strict=True)]
        return np.array([False, *(amount for amount, width in widths for _ in range(width))])


def _standardised(table: Floats, codes: NDArray[np.int32]) -> tuple[Floats, float, float]:
    """The levels' amounts less the mean of some records, over their standard deviation; all 0 where that is 0."""
    values = table[codes, 0]
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.zeros_like(table), low, 1.0
    unit = max(abs(low), abs(high))
    centre, scale = float(np.mean(values / unit)) * unit, float(np.std(values / unit)) * unit
    return (table - centre) / scale, centre, scale


def _no_gaps(variable: Compared) -> NDArray[np.bool_]:
    column = variable.column
    if variable.is_amount:
        return column.is_amount.copy()
    good = ~column.is_special
    if column.gap is not None:
        good[column.gap] = False
    return good


def _outcome(
    model: RegressionModel, variable: Compared, usable: NDArray[np.bool_], complete: NDArray[np.bool_]
) -> tuple[str, Floats, str | None]:
    held = np.unique(variable.column.original[complete])
    two = [code for code in held if usable[code]]
    kind = model.kind or ("linear" if variable.is_amount and len(two) > 2 else "logistic")
    if kind == "linear":
        if not variable.is_amount:
            raise CallError(f"model {model}: {model.outcome!r} has no amounts; a linear model needs them")
        return kind, variable.column.amounts, None
    if len(two) != 2:
        labels = ", ".join(variable.column.label(int(code)) for code in two[:5])
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
    return kind, outcome, variable.column.label(int(two[1]))


def _columns(variable: Compared, usable: NDArray[np.bool_]) -> tuple[Floats, list[str]]:
    if variable.is_amount:
        return np.where(usable, variable.column.amounts, 0.0)[:, None], [variable.name]
    levels = np.flatnonzero(usable)[1:]
    table = np.zeros((variable.column.n_levels, len(levels)))
    table[levels, np.arange(len(levels))] = 1.0
    return table, [f"{variable.name}: {variable.column.label(int(level))}" for level in levels]
