"""A variable as utility measures see it: a few cells, and amounts where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.columns.grouping import grouped
from unveil.columns.pair import Pair
from unveil.models.features import Key, amounts, key_of


@dataclass(frozen=True, eq=False)
class Compared:
    """One variable of all files.

    Parameters
    ----------
    column
        The variable with all its levels.
    cells
        The same cut into groups, where it has amounts and more of them than groups.
    key
        Its levels as models see them: amounts, or NaN where a level is a gap, a special code or infinite.
    """

    column: CodedColumn
    cells: CodedColumn
    key: Key

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def is_amount(self) -> bool:
        """Whether the variable has amounts, of which means and distances are taken."""
        return self.key.values is not None

    def amounts_of(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """The amount of each record, NaN where it has none."""
        if self.key.values is None:
            return np.full(len(codes), np.nan)
        return self.key.values[codes]


def compared(pair: Pair, names: Sequence[str], n_groups: int) -> tuple[Compared, ...]:
    """Open the columns, and cut those with amounts into groups.

    Parameters
    ----------
    pair
        The original and its releases.
    names
        The columns.
    n_groups
        Number of groups of a variable with amounts, cut at quantiles of all files together; gaps, special codes and
        infinite values are cells of their own.
    """
    return tuple(_one(pair.column(name, by_amount=True), n_groups) for name in names)


def _one(column: CodedColumn, n_groups: int) -> Compared:
    key = key_of(column)
    if key.values is None or int(key.has_amounts.sum()) <= n_groups:
        return Compared(column, column, key)
    numbers = amounts(column.levels)
    apart = tuple(int(code) for code in np.flatnonzero(~key.has_amounts[: len(column.levels)]))
    numeric = replace(column, kind="numeric", levels=pa.array(numbers), special=apart)
    return Compared(column, grouped(numeric, n_groups)[0], key)
