"""The design of a regression: how the levels of variables become the columns of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.models.scale import Scale, finite
from unveil.trees import Column

Floats = NDArray[np.float64]
Levels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Coded:
    """One variable of some records.

    Parameters
    ----------
    codes : (n,) int32
        Level of each record.
    amounts : (n_levels,) float64
        The amount that each level is; NaN where it is none.
    """

    codes: NDArray[np.int32]
    amounts: Floats

    @classmethod
    def of(cls, column: Column) -> Coded:
        """A column of a tree.

        Raises
        ------
        DataError
            If it is numeric and holds infinite values.
        """
        return cls(column.codes, finite(column) if column.kind == "numeric" else np.full(column.n_levels, np.nan))


@dataclass(frozen=True)
class Coding:
    """Which columns the levels get.

    Parameters
    ----------
    reference
        Which level of a variable without amounts has no indicator: none, the first that occurs, or the one with most
        records.
    average
        Whether a level that the fitted records lack is read as their average; else it has 0 in all columns.
    constants
        Whether variables that do not vary have columns.
    """

    reference: Literal["none", "first", "largest"] = "none"
    average: bool = False
    constants: bool = False


INDICATORS = Coding()
"""An indicator of every level that occurs: for fits that are penalised or of smallest norm, which need no reference."""


@dataclass(frozen=True, eq=False)
class Term:
    """The columns of one variable: its amount, then an indicator of each level that is none.

    Parameters
    ----------
    scale
        How amounts are standardised; None where they have no column.
    levels : (k,) intp
        Levels that have an indicator, ascending.
    reference
        The level that the others are compared with.
    unseen : (u,) intp
        Levels that are read as the average of the fitted records.
    average : (k,) float64
        Share of the fitted records that have each of ``levels``.
    """

    scale: Scale | None
    levels: Levels
    reference: int | None
    unseen: Levels
    average: Floats

    @classmethod
    def of(cls, variable: Coded, coding: Coding) -> Term:
        """Settle the columns on the records to be fitted."""
        counts = np.bincount(variable.codes, minlength=variable.amounts.size)
        other = np.isnan(variable.amounts)
        levels, unseen = np.flatnonzero((counts > 0) & other), np.flatnonzero((counts == 0) & other & coding.average)
        scale, reference = _scale(variable), None
        if scale is None and levels.size and coding.reference != "none":
            reference = int(levels[np.argmax(counts[levels]) if coding.reference == "largest" else 0])
            levels = levels[levels != reference]
        if not coding.constants:
            levels = levels[: 0 if scale is None and levels.size == 1 else None]
            scale = None if scale is not None and scale.constant else scale
        return cls(scale, levels, reference, unseen, counts[levels] / max(len(variable.codes), 1))

    @property
    def amount(self) -> tuple[None, ...]:
        """The amount's column, None, if it has one."""
        return () if self.scale is None else (None,)

    @property
    def columns(self) -> tuple[int | None, ...]:
        """Per column its level; None for the amount."""
        return (*self.amount, *self.levels.tolist())

    def table(self, amounts: Floats) -> scipy.sparse.csr_matrix:
        """The columns (n_levels, k) of each level, whose amounts may be others than those of the fitted records."""
        k, u = self.levels.size, self.unseen.size
        entries = np.append(np.ones(k), np.tile(self.average, u))
        rows = np.append(self.levels, np.repeat(self.unseen, k))
        shape = (max(amounts.size, int(rows.max(initial=-1)) + 1), k)
        indicators = scipy.sparse.csr_matrix((entries, (rows, np.tile(np.arange(k), 1 + u))), shape=shape)
        if self.scale is None:
            return indicators
        amount = np.nan_to_num(self.scale.standardised(amounts))
        return scipy.sparse.hstack([scipy.sparse.csr_matrix(amount[:, None]), indicators], format="csr")


def _scale(variable: Coded) -> Scale | None:
    amounts = variable.amounts[variable.codes]
    amounts = amounts[~np.isnan(amounts)]
    return Scale.of(amounts) if amounts.size else None


@dataclass(frozen=True, eq=False)
class Design:
    """How variables become the columns of a matrix, settled on the records to be fitted.

    Amounts are standardised. All other levels, which include gaps and special codes of numeric variables, have an
    indicator.

    Parameters
    ----------
    terms
        Per variable its columns.

    Examples
    --------
    >>> sex = Column(np.array([0, 1, 1]), "categorical", 2)
    >>> age = Column.from_values([20, 40, 60])
    >>> variables = [Coded.of(sex), Coded.of(age)]
    >>> Design.of(variables).matrix(variables, 3).toarray().round(2).tolist()
    [[1.0, 0.0, -1.22], [0.0, 1.0, 0.0], [0.0, 1.0, 1.22]]
    """

    terms: tuple[Term, ...]

    @classmethod
    def of(cls, variables: Sequence[Coded], coding: Coding = INDICATORS) -> Design:
        """Settle the columns on the records to be fitted, at least one."""
        return cls(tuple(Term.of(variable, coding) for variable in variables))

    def rescaled(self, variables: Sequence[Coded]) -> Design:
        """The same columns, with amounts standardised by other records."""
        pairs = zip(self.terms, variables, strict=True)
        return Design(
            tuple(replace(term, scale=term.scale and (_scale(variable) or term.scale)) for term, variable in pairs)
        )

    @property
    def columns(self) -> list[tuple[int, int | None]]:
        """Per column the number of its variable, and its level; None for the amount."""
        return [(number, level) for number, term in enumerate(self.terms) for level in term.columns]

    def matrix(self, variables: Sequence[Coded], n: int, *, constant: bool = False) -> scipy.sparse.csr_matrix:
        """The columns (n, k) of n records, behind a column of ones if asked for."""
        parts = [scipy.sparse.csr_matrix(np.ones((n, int(constant))))]
        # a fit without predictors has no terms, and is given records all the same
        pairs = zip(self.terms, variables, strict=False)
        parts += [term.table(variable.amounts)[variable.codes] for term, variable in pairs]
        return scipy.sparse.hstack(parts, format="csr")
