"""A variable as utility measures use it: a few cells, and its amounts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.columns.grouping import grouped
from unveil.columns.pair import Pair
from unveil.models.features import Key


@dataclass(frozen=True, eq=False)
class Compared:
    """One variable of all files.

    Parameters
    ----------
    column
        The variable with all its levels.
    cells
        The same cut into groups, where it has amounts and more of them than groups.
    """

    column: CodedColumn
    cells: CodedColumn

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @cached_property
    def key(self) -> Key:
        """The variable as models see it."""
        return Key(self.column)

    @cached_property
    def place_of_amount(self) -> NDArray[np.intp]:
        """Per level (n_levels,), the place of its amount among the distinct amounts in ascending order."""
        place: NDArray[np.intp] = np.unique(self.column.amounts, return_inverse=True)[1].ravel()
        return place


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
    return tuple(in_groups(pair.column(name, by_amount=True), n_groups) for name in names)


def in_groups(column: CodedColumn, n_groups: int) -> Compared:
    """A variable, with its amounts cut into groups."""
    if int(column.is_amount.sum()) <= n_groups:
        return Compared(column, column)
    apart = sorted((*column.special, *column.infinite))
    return Compared(column, grouped(replace(column, kind="numeric", special=tuple(apart)), n_groups)[0])
