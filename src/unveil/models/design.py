"""Predictors as the columns of a regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unveil.models.scale import Scale, numbers
from unveil.trees import Column


@dataclass(frozen=True, eq=False)
class Design:
    """How predictors become regression columns.

    Numeric predictors are standardised by the fitted records. Categorical and ordered ones have an indicator for
    every level that was fitted, without a reference level: the fits are of smallest norm or penalised, so they
    need none, and a level that was not fitted counts as average. Predictors that are constant have no column.

    Parameters
    ----------
    scales : tuple of Scale or None
        Per predictor; None where it is not numeric.
    columns : tuple of (n_levels,) int64 or None
        Per predictor the column of every level, -1 where it has none; None where it is numeric.
    first : tuple of int
        Column of a numeric predictor, -1 where it has none.
    n_columns : int
        Number of columns.

    Examples
    --------
    >>> sex = Column(np.array([0, 1, 1]), "categorical", 2)
    >>> age = Column.from_values([20, 40, 60])
    >>> Design.of([sex, age]).matrix([sex, age], 3).toarray().round(2).tolist()
    [[1.0, 0.0, -1.22], [0.0, 1.0, 0.0], [0.0, 1.0, 1.22]]
    """

    scales: tuple[Scale | None, ...]
    columns: tuple[NDArray[np.int64] | None, ...]
    first: tuple[int, ...]
    n_columns: int

    @classmethod
    def of(cls, predictors: Sequence[Column]) -> Design:
        """Learn the columns from the records to be fitted.

        Parameters
        ----------
        predictors : sequence of Column
            Fitted records, at least one.

        Returns
        -------
        Design
            The columns.

        Raises
        ------
        DataError
            If a numeric predictor holds infinite values.
        """
        scales: list[Scale | None] = []
        columns: list[NDArray[np.int64] | None] = []
        first: list[int] = []
        n_columns = 0
        for predictor in predictors:
            first.append(n_columns)
            if predictor.kind == "numeric":
                scale = Scale.of(numbers(predictor))
                scales.append(scale)
                columns.append(None)
                n_columns += not scale.constant
                continue
            present = np.bincount(predictor.codes, minlength=predictor.n_levels) > 0
            present &= present.sum() > 1
            scales.append(None)
            columns.append(np.where(present, n_columns + np.cumsum(present) - 1, -1))
            n_columns += int(present.sum())
        return cls(tuple(scales), tuple(columns), tuple(first), n_columns)

    def matrix(self, predictors: Sequence[Column], n: int) -> sparse.csr_matrix:
        """The regression columns of some records.

        Parameters
        ----------
        predictors : sequence of Column
            As in the fit; levels that were not fitted have 0 in all columns.
        n : int
            Number of records.

        Returns
        -------
        (n, n_columns) csr_matrix of float64
            At most one entry per record and predictor.
        """
        index = np.full((n, len(self.scales)), -1, dtype=np.int64)
        entry = np.ones((n, len(self.scales)))
        for j, (scale, columns) in enumerate(zip(self.scales, self.columns, strict=True)):
            if columns is not None:
                index[:, j] = np.append(columns, -1)[np.minimum(predictors[j].codes, columns.size)]
            elif scale is not None and not scale.constant:
                index[:, j] = self.first[j]
                entry[:, j] = scale.standardised(numbers(predictors[j]))
        kept = index >= 0
        indptr = np.append(0, np.cumsum(kept.sum(axis=1)))
        # 32-bit indices, which is what solvers for sparse matrices take
        parts = (entry[kept], index[kept].astype(np.int32), indptr.astype(np.int32))
        return sparse.csr_matrix(parts, shape=(n, self.n_columns))
