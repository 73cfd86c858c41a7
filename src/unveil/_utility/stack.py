"""The original and a release in one file, with the file that each record is from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil._utility.compared import Compared
from unveil.columns.column import CodedColumn
from unveil.files.arrays import text_array
from unveil.models.design import Design
from unveil.models.features import KeyTable, stacked
from unveil.models.logit import rank_and_gaps
from unveil.trees import Column

_MOST_LEVELS = 100
_OTHERS = "(others)"


@dataclass(frozen=True, eq=False)
class StackedRecords:
    """The records of two files as models use them, made once for all shuffles of the files.

    Parameters
    ----------
    table
        The variables.
    """

    table: KeyTable

    @cached_property
    def columns(self) -> list[Column]:
        """Their columns for trees."""
        return self.table.columns()

    @cached_property
    def design(self) -> scipy.sparse.csr_matrix:
        """Their design (n, k) for regression: a constant, and main effects of all variables."""
        n = len(self.table)
        return Design.of(self.table.coded).matrix(self.table.coded, n, constant=True)

    @property
    def least_parameters(self) -> int:
        """Number of columns of the design but one for each variable of levels alone, which add up to the constant."""
        return int(self.design.shape[1]) - sum(not key.column.has_amounts for key in self.table.keys)

    @cached_property
    def rank(self) -> int:
        """Number of free parameters of the design."""
        return rank_and_gaps(self.design)[0]

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """An order that does not depend on the order in which the records came."""
        return self.table.ordering(np.zeros(len(self.table), dtype=np.int8))


@dataclass(frozen=True, eq=False)
class Stack:
    """Two files, one below the other.

    Parameters
    ----------
    records
        All records.
    second : (n,) bool
        Whether a record is from the second file.
    """

    records: StackedRecords
    second: NDArray[np.bool_]

    @property
    def share(self) -> float:
        """c: the second file's share of the records."""
        return float(self.second.mean())

    def shuffled(self, rng: np.random.Generator) -> Stack:
        """The same records with the files drawn anew; the draw does not depend on the records' order."""
        drawn = np.empty_like(self.second)
        drawn[self.records.order] = rng.permutation(np.sort(self.second))
        return replace(self, second=drawn)


def stack_of(variables: Sequence[Compared], first: int | None, second: int) -> Stack:
    """Put two files together.

    A variable without amounts keeps its 99 most frequent levels of all files, the others become one: models with more
    parameters learn names instead of differences.

    Parameters
    ----------
    variables
        The variables of all files.
    first
        Number of the first release, or None for the original.
    second
        Number of the second release.
    """
    columns = [_frequent(variable.column) for variable in variables]
    codes = [[c.original if first is None else c.releases[first], c.releases[second]] for c in columns]
    table = stacked(columns, [np.concatenate(two) for two in codes])
    return Stack(StackedRecords(table), np.arange(len(table)) >= len(codes[0][0]))


def _frequent(column: CodedColumn) -> CodedColumn:
    """A column without amounts, with the rarer of its levels as one."""
    if column.has_amounts or column.n_levels <= _MOST_LEVELS:
        return column
    counts = np.sum(column.counts, axis=0)[: column.n_levels]
    most = np.sort(np.argsort(-counts, kind="stable")[: _MOST_LEVELS - 1])
    table = np.full(column.n_levels, _MOST_LEVELS - 1, dtype=np.int32)
    table[most] = np.arange(_MOST_LEVELS - 1)
    levels = text_array([*map(column.label, most.tolist()), _OTHERS])
    releases = tuple(table[codes] for codes in column.releases)
    return CodedColumn(column.name, "categorical", levels, False, table[column.original], releases)
