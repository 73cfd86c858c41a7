"""Two-way tables of one variable with many others, counted together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._utility.cells import Counts, Floats, Places, figures_of_tables, joint_cells, v_of_tables
from unveil.columns.column import CodedColumn

_DENSE, _ALWAYS_DENSE = 4, 1024
"""Tables of up to so many cells per record, and so many more, are counted directly."""


@dataclass(frozen=True, eq=False)
class JointTables:
    """The cells of the tables, as far as they are not empty in the original and in a release.

    Parameters
    ----------
    first
        The variable that all tables have.
    others
        The other variable of each table.
    release
        Number of the release.
    counts : two of (k,) int64
        Records of each cell in the original, and in the release.
    table, row, column : (k,) intp
        Number of the cell's table, and its code in either variable.
    """

    first: CodedColumn
    others: Sequence[CodedColumn]
    release: int
    counts: tuple[Counts, Counts]
    table: Places
    row: Places
    column: Places

    @classmethod
    def of(cls, first: CodedColumn, others: Sequence[CodedColumn], release: int) -> JointTables:
        """Count one variable with each of the others."""
        files = (0, release + 1)
        n = sum(len(_codes(first, file)) for file in files)
        few = [first.n_levels * other.n_levels <= _DENSE * n + _ALWAYS_DENSE for other in others]
        parts = [_dense(first, others, np.flatnonzero(few), files)]
        parts += [
            _sparse(first, others[place], place, release) for place in np.flatnonzero(np.logical_not(few)).tolist()
        ]
        d, s, table, row, column = (np.concatenate(same) for same in zip(*parts, strict=True))
        return cls(first, others, release, (d, s), table, row, column)

    def figures(self, corrected: bool) -> list[dict[str, float]]:
        """Per table the distances of the two files, and Cramér's V in either."""
        d, s = (counts.astype(np.float64) for counts in self.counts)
        figures = figures_of_tables(d, s, self.table)
        before, after = self._v(d, 0, corrected), self._v(s, self.release + 1, corrected)
        figures |= {"V_original": before, "V_release": after, "V_difference": after - before}
        names = tuple(figures)
        return [dict(zip(names, of_table, strict=True)) for of_table in np.column_stack([*figures.values()]).tolist()]

    def _v(self, counts: Floats, file: int, corrected: bool) -> Floats:
        """Cramér's V of the tables of one file."""
        held = counts > 0
        if not held.any():
            return np.full(len(self.others), np.nan)
        own, of_others = self.first.counts[file], [other.counts[file] for other in self.others]
        table = self.table[held]
        start = np.cumsum([0, *map(len, of_others)])[:-1]
        columns = np.concatenate(of_others)[start[table] + self.column[held]]
        sides = (
            np.full(len(of_others), np.count_nonzero(own)),
            np.array([np.count_nonzero(margin) for margin in of_others]),
        )
        margins = own[self.row[held]].astype(np.float64), columns.astype(np.float64)
        return v_of_tables(counts[held], margins, sides, table, corrected=corrected)


def _codes(column: CodedColumn, file: int) -> NDArray[np.int32]:
    """Codes of the original (0) or of a release (from 1)."""
    return column.releases[file - 1] if file else column.original


def _dense(
    first: CodedColumn, others: Sequence[CodedColumn], chosen: Places, files: tuple[int, int]
) -> tuple[Counts, Counts, Places, Places, Places]:
    """Counts, tables and codes of the cells of tables that are counted with a place for every cell."""
    levels = np.array([others[place].n_levels for place in chosen], dtype=np.intp)
    width, start = int(levels.sum()), np.cumsum(levels) - levels
    kind = np.int32 if first.n_levels * width <= np.iinfo(np.int32).max else np.intp
    counts = []
    for file in files:
        # sums of numbers of one type take a tenth of the time
        own = (_codes(first, file) * np.intp(width)).astype(kind)
        cell = np.empty((len(chosen), len(own)), dtype=kind)
        for row, place, at in zip(cell, chosen, start.astype(kind), strict=True):
            np.add(own, _codes(others[place], file), out=row)
            row += at
        counts.append(np.bincount(cell.ravel(), minlength=first.n_levels * width))
    held = np.flatnonzero(counts[0] + counts[1])
    row, place = np.divmod(held, max(width, 1))
    table = np.repeat(np.arange(len(chosen)), levels)[place]
    return counts[0][held], counts[1][held], chosen[table], row, place - start[table]


def _sparse(
    first: CodedColumn, other: CodedColumn, place: int, release: int
) -> tuple[Counts, Counts, Places, Places, Places]:
    """The same of one table with many more cells than records."""
    cells, d, s = joint_cells(
        (first.original, first.releases[release]), (other.original, other.releases[release]), first.n_levels,
        other.n_levels,
    )  # fmt: skip
    row, column = np.divmod(cells, other.n_levels)
    return d, s, np.full(len(cells), place), row, column
