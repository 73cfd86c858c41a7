"""Units of several rows: the persons of a panel, households of persons; a column of rows as a column of units.

A column whose values are the same in all rows of every original unit is that of the units as it is. Of any other, the
level of a unit is the multiset of its rows' levels, or their sequence where a time orders them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.columns.combinations import fold, fold_keys
from unveil.errors import DataError
from unveil.files.arrays import from_numpy, text_array
from unveil.files.distinct import distinct_of
from unveil.files.source import Source
from unveil.notes import Note

Ints = NDArray[np.intp]
MOST_ROWS = 12
"""Rows of a unit that a model sees."""


@dataclass(frozen=True, eq=False)
class UnitRows:
    """Which rows of a file are of which unit.

    Parameters
    ----------
    rows : (n,) intp
        The rows, unit by unit; in time where a time orders them.
    starts : (n_units + 1,) intp
        Where each unit begins in ``rows``; the last is their number.
    in_time
        Whether the order of a unit's rows matters.
    """

    rows: Ints
    starts: Ints
    in_time: bool = False

    @classmethod
    def of(
        cls, source: Source, unit: Sequence[str], time: CodedColumn | None, codes: NDArray[np.int32] | None
    ) -> UnitRows:  # fmt: skip
        """The units of a file, numbered in the order of their first rows.

        Parameters
        ----------
        source
            The file.
        unit
            The columns that name the unit together.
        time
            The column that orders the rows of a unit; None without an order.
        codes
            Its codes in the file; None without it.

        Raises
        ------
        DataError
            If a row has no unit or time, or two rows of a unit have the same time.
        """
        found = [distinct_of(source, name) for name in unit]
        for name, one in zip(unit, found, strict=True):
            _refuse_gaps(source, name, one.codes == len(one.values), "unit")
        _, folded = fold([one.codes for one in found], [len(one.values) + 1 for one in found])
        _, first, number = np.unique(folded, return_index=True, return_inverse=True)
        place = np.empty(len(first), np.intp)
        place[np.argsort(first)] = np.arange(len(first))
        number = place[number.ravel()]
        if time is None or codes is None:
            rows = np.argsort(number, kind="stable")
        else:
            _refuse_gaps(source, time.name, codes == len(time.levels), "time")
            rows = np.lexsort((codes, number))
            _refuse_twins(source, unit, time.name, rows, number, codes)
        starts = np.searchsorted(number[rows], np.arange(len(first) + 1))
        return cls(rows, starts, time is not None)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> Ints:
        """Number of rows of each unit."""
        return np.diff(self.starts)

    @property
    def first(self) -> Ints:
        """A row of each unit."""
        return self.rows[self.starts[:-1]]

    def take(self, units: Ints) -> UnitRows:
        """Some of the units; one may occur more than once."""
        sizes = self.sizes[units]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        inside = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        return UnitRows(self.rows[np.repeat(self.starts[units], sizes) + inside], starts, self.in_time)

    def codes(self, codes: NDArray[np.integer], n_levels: int) -> NDArray[np.int64]:
        """The codes of the rows, unit by unit; ascending in each, unless a time orders them."""
        found = codes[self.rows].astype(np.int64)
        if self.in_time:
            return found
        found += np.repeat(np.arange(len(self)), self.sizes) * n_levels
        found.sort()
        return found % max(n_levels, 1)

    def in_order(self, codes: NDArray[np.integer]) -> UnitRows:
        """The same with the rows of each unit in the order of their codes, unless a time orders them."""
        if self.in_time:
            return self
        number = np.repeat(np.arange(len(self)), self.sizes)
        return UnitRows(self.rows[np.lexsort((codes[self.rows], number))], self.starts)

    def nth(self, codes: NDArray[np.int32], n: int, none: int) -> NDArray[np.int32]:
        """The code of the n-th row (n_units,) of each unit, from 0; ``none`` where it has fewer."""
        found = np.full(len(self), none, np.int32)
        held = self.sizes > n
        found[held] = codes[self.rows[self.starts[:-1][held] + n]]
        return found

    def are_alike(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Whether all rows of each unit (n_units,) have the same code."""
        differ = codes[self.rows] != np.repeat(codes[self.first], self.sizes)
        alike = np.ones(len(self), dtype=bool)
        alike[np.repeat(np.arange(len(self)), self.sizes)[differ]] = False
        return alike


def _refuse_gaps(source: Source, name: str, gaps: NDArray[np.bool_], role: str) -> None:
    if gaps.any():
        raise DataError(
            f"{source.label}: column {name!r} is the {role} and has gaps (their number: {np.count_nonzero(gaps)}), "
            f"such as in row {np.flatnonzero(gaps)[0] + 1}; fill them in, or leave these rows out"
        )


def _refuse_twins(
    source: Source, unit: Sequence[str], time: str, rows: Ints, number: Ints, codes: NDArray[np.int32]
) -> None:  # fmt: skip
    same = np.flatnonzero((np.diff(number[rows]) == 0) & (np.diff(codes[rows]) == 0))
    if len(same):
        one, other = sorted((rows[same[0] : same[0] + 2] + 1).tolist())
        raise DataError(
            f"{source.label}: rows {one} and {other} are of one unit ({', '.join(unit)}) and have the same time "
            f"({time}); leave one of them out, or measure without time"
        )


@dataclass(frozen=True)
class UnitColumn(CodedColumn):
    """A variable whose values differ within units: the level of a unit is all that its rows have.

    Parameters
    ----------
    of_rows
        The variable of the rows.
    units
        Per file, which rows are of which unit.
    missing
        Codes of the levels in which some row has no value.
    """

    of_rows: CodedColumn = field(kw_only=True)
    units: tuple[UnitRows, ...] = field(kw_only=True)
    missing: tuple[int, ...] = ()

    @property
    def without_value(self) -> tuple[int, ...]:
        """Codes of the levels in which some row has no value."""
        return self.missing

    def part(self, records: Ints, releases: Sequence[int]) -> UnitColumn:
        """Some original units and some releases."""
        own, *others = self.units
        return replace(
            self,
            original=self.original[records],
            releases=tuple(self.releases[i] for i in releases),
            of_rows=replace(self.of_rows, releases=tuple(self.of_rows.releases[i] for i in releases)),
            units=(own.take(records), *(others[i] for i in releases)),
        )

    def last_as_original(self) -> UnitColumn:
        """The same column with the units of its last file in the place of the original ones."""
        return replace(
            self,
            original=self.releases[-1],
            releases=self.releases[:-1],
            of_rows=self.of_rows.last_as_original(),
            units=(self.units[-1], *self.units[1:-1]),
        )


@dataclass(frozen=True)
class MixedColumn(CodedColumn):
    """A variable that is the same in all rows of each original unit, and not in those of each released one.

    Parameters
    ----------
    of_rows
        The variable of the rows; its levels come first.
    """

    of_rows: CodedColumn = field(kw_only=True)

    @cached_property
    def amounts(self) -> NDArray[np.float64]:
        """The amount that each level is; NaN where a released unit has several."""
        amounts = np.full(self.n_levels, np.nan)
        n = len(self.of_rows.levels)
        amounts[:n] = self.of_rows.amounts[:n]
        return amounts


def in_units(column: CodedColumn, units: Sequence[UnitRows], labels: Sequence[str]) -> CodedColumn:
    """A column of rows as a column of units.

    Parameters
    ----------
    column
        The column of rows, cut into groups or not.
    units
        Per file, which rows are of which unit.
    labels
        What the files are called.
    """
    files = (column.original, *column.releases)
    alike = [one.are_alike(codes) for one, codes in zip(units, files, strict=True)]
    first = [codes[one.first] for one, codes in zip(units, files, strict=True)]
    if alike[0].all():
        return _of_units(column, units, first, alike, labels)
    found, texts, missing = _sequences(column, units)
    return UnitColumn(
        name=column.name,
        kind="categorical",
        levels=text_array(texts),
        has_gap=False,
        original=found[0],
        releases=tuple(found[1:]),
        notes=column.notes,
        grouping=column.grouping,
        of_rows=column,
        units=tuple(units),
        missing=missing,
    )


def _of_units(
    column: CodedColumn, units: Sequence[UnitRows], first: Sequence[NDArray[np.int32]],
    alike: Sequence[NDArray[np.bool_]], labels: Sequence[str],
) -> CodedColumn:  # fmt: skip
    """A column whose values are the same in all rows of every original unit; a release may have units of several."""
    if all(one.all() for one in alike):
        return replace(column, original=first[0], releases=tuple(first[1:]))
    mixed = [one.take(np.flatnonzero(~same)) for one, same in zip(units, alike, strict=True)]
    found, texts, _ = _sequences(column, mixed)
    n, gap = len(column.levels), len(column.levels) + len(texts)
    codes = []
    for own, same, several in zip(first, alike, found, strict=True):
        one = np.where(own == n, gap, own).astype(np.int32)
        one[~same] = n + several
        codes.append(one)
    start = f"column {column.name!r} is the same in all rows of a unit of {labels[0]}"
    notes = [
        Note(
            f"{start}, and differs within {np.count_nonzero(~same)} of {len(same)} units of {label}: none of these can "
            "be met",
            f"{start}, and differs within units of {label}: none of these can be met",
        )
        for label, same in zip(labels[1:], alike[1:], strict=True)
        if not same.all()
    ]
    kept = {name: getattr(column, name) for name in ("name", "kind", "has_gap", "special", "naming", "grouping")}
    return MixedColumn(
        **kept,
        levels=text_array([*column.labels[:n], *(f"several: {text}" for text in texts)]),
        original=codes[0],
        releases=tuple(codes[1:]),
        notes=(*column.notes, *notes),
        of_rows=column,
    )


def _sequences(
    column: CodedColumn, units: Sequence[UnitRows]
) -> tuple[list[NDArray[np.int32]], list[str], tuple[int, ...]]:
    """Per file the code of each unit, the text of each code, and the codes of those with a gap."""
    codes, held = _numbered((column.original, *column.releases), units, column.n_levels)
    labels, joint = column.labels, " > " if units[0].in_time else " + "
    shown = [repr(label) if joint.strip() in label else label for label in labels]
    texts = [joint.join([shown[level] for level in one.tolist()]) for one in held]
    return codes, texts, tuple(i for i, one in enumerate(held) if column.gap is not None and column.gap in one)


def _numbered(
    files: Sequence[NDArray[np.integer]], units: Sequence[UnitRows], n_levels: int
) -> tuple[list[NDArray[np.int32]], list[NDArray[np.int64]]]:
    """Number what the units of all files hold: per file the number of each unit, and what each number stands for.

    Numbers ascend by the number of rows, and then by their codes.
    """
    values = np.concatenate([one.codes(codes, n_levels) for one, codes in zip(units, files, strict=True)])
    sizes = np.concatenate([one.sizes for one in units])
    starts = np.cumsum(sizes) - sizes
    numbers = np.empty(len(sizes), np.int32)
    held: list[NDArray[np.int64]] = []
    for size in np.unique(sizes):
        members = np.flatnonzero(sizes == size)
        _, folded = fold((values[starts[members] + i] for i in range(size)), [n_levels] * size)
        _, first, number = np.unique(folded, return_index=True, return_inverse=True)
        numbers[members] = len(held) + number.ravel()
        held += [values[start : start + size] for start in starts[members[first]]]
    return np.split(numbers, np.cumsum([len(one) for one in units])[:-1]), held


def jointly(columns: Sequence[CodedColumn]) -> Sequence[CodedColumn]:
    """Key columns of which every combination is one of the units.

    Rows that a time orders are told by the columns one by one. Without it, several columns that differ within units
    stand together in one: which value of one is in the same row as which of another tells units apart too.
    """
    within = [column for column in columns if isinstance(column, UnitColumn)]
    if len(within) < 2 or within[0].units[0].in_time:
        return columns
    rows = fold_keys([column.of_rows for column in within])
    codes, held = _numbered((rows.original, *rows.releases), within[0].units, rows.size)
    joint = replace(
        within[0],
        name=" and ".join(column.name for column in within),
        levels=from_numpy(np.arange(len(held))),
        original=codes[0],
        releases=tuple(codes[1:]),
        missing=(),
    )
    return [*(column for column in columns if not isinstance(column, UnitColumn)), joint]


def row_by_row(columns: Sequence[CodedColumn]) -> list[list[CodedColumn]]:
    """Keys as a model sees them: one for each row of a unit in the place of one that differs within units.

    Rows are in time, or in the order of their values of all these keys. A unit of fewer rows has gaps in the others; of
    more than :data:`MOST_ROWS` rows the model sees the first.

    Parameters
    ----------
    columns
        The keys of the units.

    Returns
    -------
    list of list
        Per key what is seen of it.
    """
    within = [column for column in columns if isinstance(column, UnitColumn)]
    if not within:
        return [[column] for column in columns]
    rows = fold_keys([column.of_rows for column in within])
    units = [one.in_order(q) for one, q in zip(within[0].units, (rows.original, *rows.releases), strict=True)]
    n_rows = min(max(int(one.sizes.max(initial=1)) for one in units), MOST_ROWS)
    return [
        [_row(column, units, n) for n in range(n_rows)] if isinstance(column, UnitColumn) else [column]
        for column in columns
    ]


def _row(column: UnitColumn, units: Sequence[UnitRows], n: int) -> CodedColumn:
    """The n-th rows of all units."""
    own = column.of_rows
    gap = len(own.levels)
    codes = [one.nth(held, n, gap) for one, held in zip(units, (own.original, *own.releases), strict=True)]
    has_gap = any((one == gap).any() for one in codes)
    name = f"{own.name} (row {n + 1})"
    return replace(own, name=name, has_gap=has_gap, original=codes[0], releases=tuple(codes[1:]))
