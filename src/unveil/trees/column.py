"""A variable as trees see it: integer codes, and how they may be split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil.checks import check_whole_numbers
from unveil.errors import CallError, DataError

ColumnKind = Literal["numeric", "ordered", "categorical"]


@dataclass(frozen=True, eq=False)
class Column:
    """A variable in integer codes, as predictor or as response.

    Parameters
    ----------
    codes : (n,) int32
        Code of every record, 0 to ``n_levels - 1``. For ``"numeric"`` the rank of the record's value among
        the distinct values, for ``"ordered"`` the position in the declared order. A gap of a categorical
        variable is a level like any other; numeric variables have no gaps here.
    kind : {"numeric", "ordered", "categorical"}
        As predictor: numeric and ordered variables are cut at a threshold, categorical ones into two sets of
        levels. As response: numeric is fitted by least squares, everything else by Gini.
    n_levels : int
        Number of codes, whether or not all of them occur.
    values : (n_levels,) float64, optional
        Values of the codes, strictly increasing; required for ``"numeric"``, not allowed otherwise.
    name : str
        Used in messages and in the printed tree.

    Raises
    ------
    CallError
        If the parts do not fit together.

    Examples
    --------
    >>> Column.from_values([1.5, 0.0, 1.5]).codes.tolist()
    [1, 0, 1]
    >>> Column(np.array([0, 2, 1]), "categorical", 3).n_levels
    3
    """

    codes: NDArray[np.int32]
    kind: ColumnKind
    n_levels: int
    values: NDArray[np.float64] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        label = self.name or "column"
        check_whole_numbers(0, n_levels=self.n_levels)
        codes = np.asarray(self.codes)
        if codes.ndim != 1:
            raise CallError(f"{label}: codes must be one-dimensional, got {codes.ndim} dimensions")
        if codes.size and codes.dtype.kind not in "iu":
            raise CallError(f"{label}: codes must be an array of integers, not of {codes.dtype}")
        if codes.size and (codes.min() < 0 or codes.max() >= self.n_levels):
            raise CallError(f"{label}: codes must lie between 0 and {self.n_levels - 1}")
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        if self.kind not in ("numeric", "ordered", "categorical"):
            raise CallError(f"{label}: kind must be numeric, ordered or categorical, got {self.kind!r}")
        object.__setattr__(self, "codes", codes)
        if (self.values is not None) != (self.kind == "numeric"):
            raise CallError(f"{label}: values of the codes are needed for numeric columns and only for them")
        if self.values is not None:
            values = np.ascontiguousarray(self.values, dtype=np.float64)
            if values.shape != (self.n_levels,) or not (values[1:] > values[:-1]).all() or np.isnan(values).any():
                raise CallError(f"{label}: values must be {self.n_levels} strictly increasing numbers")
            object.__setattr__(self, "values", values)

    @classmethod
    def from_values(cls, values: ArrayLike, *, name: str = "") -> Column:
        """Code a numeric variable by the ranks of its distinct values.

        Parameters
        ----------
        values : (n,) array_like of numbers
            No gaps; infinities are allowed in predictors.
        name : str
            Used in messages and in the printed tree.

        Returns
        -------
        Column
            Numeric column.

        Raises
        ------
        DataError
            If a value is missing.

        Examples
        --------
        >>> Column.from_values([3, 1, 3], name="rooms").values
        array([1., 3.])
        """
        given = np.asarray(values, dtype=np.float64)
        if np.isnan(given).any():
            row = int(np.flatnonzero(np.isnan(given))[0])
            raise DataError(f"{name or 'column'}: no value in row {row}; split gaps off before fitting a tree")
        levels, codes = np.unique(given, return_inverse=True)
        return cls(codes.reshape(given.shape).astype(np.int32), "numeric", levels.size, levels, name)

    def without_records(self) -> Column:
        """Return the variable without its records.

        Returns
        -------
        Column
            Kind, number of levels, values and name.
        """
        return self._bare

    @cached_property
    def _bare(self) -> Column:
        return self.with_codes(np.zeros(0, dtype=np.int32))

    def with_codes(self, codes: NDArray[np.int32]) -> Column:
        """Return the variable with other records.

        Parameters
        ----------
        codes : (k,) int32
            Codes in the range of this column. They are not checked, because they come from such columns.

        Returns
        -------
        Column
            Kind, number of levels, values and name are those of this column.
        """
        column = object.__new__(Column)
        parts = (("kind", self.kind), ("n_levels", self.n_levels), ("values", self.values), ("name", self.name))
        for name, part in (("codes", np.ascontiguousarray(codes, dtype=np.int32)), *parts):
            object.__setattr__(column, name, part)
        return column


def shared_block(columns: Sequence[Column]) -> NDArray[np.int32] | None:
    """Return the codes of columns that are neighbouring rows of one array, without a copy.

    Parameters
    ----------
    columns : sequence of Column
        Some columns.

    Returns
    -------
    (p, n) int32 or None
        The rows; None unless the columns are neighbouring rows in their order.

    Examples
    --------
    >>> block = np.zeros((3, 4), dtype=np.int32)
    >>> columns = [Column(row, "categorical", 1) for row in block]
    >>> shared_block(columns[1:]).shape, shared_block([columns[2], columns[0]])
    ((2, 4), None)
    """
    block = columns[0].codes.base if columns else None
    if not isinstance(block, np.ndarray) or block.ndim != 2 or block.dtype != np.int32 or not block.flags.c_contiguous:
        return None
    if any(column.codes.base is not block or column.codes.size != block.shape[1] for column in columns):
        return None
    step, origin = block.strides[0], block.ctypes.data
    places = [column.codes.ctypes.data - origin for column in columns]
    if not step or any(place != places[0] + i * step for i, place in enumerate(places)) or places[0] % step:
        return None
    first = places[0] // step
    return block[first : first + len(columns)]
