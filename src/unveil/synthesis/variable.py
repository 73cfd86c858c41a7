"""One variable of the original: its levels, its parts, and the way between them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.columns.harmonise import as_kind, harmonise
from unveil.columns.labels import by_labels
from unveil.core import loop
from unveil.errors import CallError
from unveil.files import read
from unveil.files.arrays import buffer_view
from unveil.files.distinct import Distinct, classified, distinct_of, level_text, python_values
from unveil.files.form import TextForm
from unveil.files.nearest import near_matches
from unveil.files.source import Kind, Source, Variable
from unveil.files.value_labels import Naming
from unveil.trees import Column

_first_records = loop("first_records", int, np.int32, np.int64)

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModelledPart:
    """What one tree models of a variable.

    Parameters
    ----------
    name
        The variable's name, with ``_part`` behind it for "which special value, or observed".
    column : Column
        The original records.
    of_level : (l,) int32
        Code of the part by level of the variable.
    level_of : (c,) int32
        Level of the variable by code of the part; -1 where the code stands for no single level. The same array as
        ``of_level`` where both are the same codes.
    rows : (r,) int64 or None
        Records that it is fitted on; None for all.
    """

    name: str
    column: Column
    of_level: Codes
    level_of: Codes
    rows: NDArray[np.int64] | None = None

    def codes(self, levels: Codes) -> Codes:
        """Codes of the part of records given by their levels."""
        return levels if self.of_level is self.level_of else self.of_level.take(levels)

    def levels(self, codes: Codes) -> Codes:
        """The opposite of :meth:`codes`."""
        return codes if self.of_level is self.level_of else self.level_of.take(codes)


@dataclass(frozen=True, eq=False)
class Levels:
    """Values of a variable in records that need not be original ones.

    Parameters
    ----------
    codes : (n,) int32
        Level of every record; where ``new`` has a number, that of the nearest observed one.
    new : (n,) float64 or None
        Numbers that were not observed, nan elsewhere; None where there are none.
    """

    codes: Codes
    new: Floats | None = None


@dataclass(frozen=True, eq=False)
class EncodedVariable:
    """One column of the original.

    Parameters
    ----------
    name, kind
        Name, and what the values are.
    values : pa.Array
        Distinct values in ascending order; those of an ordered variable in declared order.
    codes : (n,) int32
        Level of every record; ``len(values)`` is the gap.
    n_levels : int
        Number of levels, the gap included if a record has one.
    parts : tuple of Part
        One or two.
    plain : bool
        Whether the numeric part holds the numbers as they are, so that new ones can be written.
    label : str
        What the file is called.
    declared : Variable
        What the file declares of the column.
    """

    name: str
    kind: Kind
    values: pa.Array
    codes: Codes
    n_levels: int
    parts: tuple[ModelledPart, ...]
    plain: bool
    label: str
    declared: Variable

    @property
    def gap(self) -> int | None:
        """Level of the gap, None where no record has one."""
        return len(self.values) if self.n_levels > len(self.values) else None

    @property
    def numeric(self) -> ModelledPart | None:
        """The numeric part, if there is one."""
        return self.parts[-1] if self.parts[-1].column.kind == "numeric" else None

    @cached_property
    def distinct(self) -> Distinct:
        """One record per value, to read releases."""
        places = np.arange(len(self.values), dtype=np.int32)
        return classified(Distinct(self.label, self.name, "empty", self.values, places))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(l,) number of original records by level."""
        return np.bincount(self.codes, minlength=self.n_levels)

    @cached_property
    def examples(self) -> NDArray[np.int64]:
        """(l,) first record of each level."""
        first = np.zeros(self.n_levels, dtype=np.int64)
        _first_records(self.codes.size, np.ascontiguousarray(self.codes), first)
        return first

    @cached_property
    def python_values(self) -> list[object]:
        """Levels as Python values, None for the gap."""
        values: list[object] = python_values(self.values)
        return values if self.gap is None else [*values, None]

    @cached_property
    def decimals(self) -> int | None:
        """Decimals that all observed numbers have at most; None beyond nine."""
        part = self.numeric
        if part is None or part.column.values is None:
            return None
        numbers = part.column.values[part.level_of >= 0]
        with np.errstate(over="ignore", invalid="ignore"):
            return next((d for d in range(10) if (np.round(numbers, d) == numbers).all()), None)

    @cached_property
    def code_numbers(self) -> Floats:
        """(l,) numbers of the levels that are special codes; nan for all others."""
        found = np.full(self.n_levels, np.nan)
        if self.plain and len(self.parts) > 1:
            numbers = np.append(buffer_view(self.values.cast(pa.float64()), np.float64), np.nan)[: self.n_levels]
            special = self.parts[0].level_of[:-1]
            found[special] = np.where(np.isfinite(numbers[special]), numbers[special], np.nan)
        return found

    def level(self, value: object) -> int:
        """Level of a value.

        Raises
        ------
        CallError
            If no record has it.
        """
        if value is None or (isinstance(value, float) and np.isnan(value)):
            if self.gap is None:
                raise CallError(f"column {self.name!r} has no gaps")
            return self.gap
        texts = [level_text(known) for known in self.values.to_pylist()]
        text = value if isinstance(value, str) else level_text(value)
        if text not in texts:
            text = self._naming.of(value) or text
        if text not in texts:
            raise CallError(f"column {self.name!r} has no value {value!r}{near_matches(str(value), texts)}")
        return texts.index(text)

    @cached_property
    def _naming(self) -> Naming:
        """Codes of labels, and labels of codes."""
        return by_labels([self.distinct], [self.declared], self.kind)[1]

    def columns(self, levels: Levels) -> tuple[Column, ...]:
        """The parts of records given by their levels."""
        columns = []
        for part in self.parts:
            codes, column = part.codes(levels.codes), part.column
            if column.kind == "numeric" and levels.new is not None and column.values is not None:
                numbers = np.where(np.isnan(levels.new), column.values[codes], levels.new)
                columns.append(Column.from_values(numbers, name=part.name))
            else:
                columns.append(column.with_codes(codes))
        return tuple(columns)

    def levels(self, columns: tuple[Column, ...]) -> Levels:
        """Levels of records given by their parts; the opposite of :meth:`columns`.

        A new number that reads like a special code is one: nobody could tell them apart.
        """
        first = self.parts[0]
        if first.column.kind != "numeric":
            codes = first.levels(columns[0].codes)
            if len(self.parts) == 1:
                return Levels(codes)
            observed = codes < 0
            number = self._number_levels(columns[1])
            codes = np.where(observed, number.codes, codes)
            if number.new is None:
                return Levels(codes)
            new = np.where(observed, number.new, np.nan)
            for level in np.flatnonzero(np.isfinite(self.code_numbers)):
                alike = new == self.code_numbers[level]
                codes[alike], new[alike] = level, np.nan
            return Levels(codes, new)
        return self._number_levels(columns[0])

    def _number_levels(self, column: Column) -> Levels:
        part = self.parts[-1]
        own, values = part.column.values, column.values
        if own is None or values is None or values is own:
            return Levels(part.levels(column.codes))
        numbers = values if not self.plain or self.decimals is None else np.round(values, self.decimals)
        position = _nearest(own, numbers, part.level_of >= 0)
        codes = part.level_of[position][column.codes]
        new = np.where(own[position] == numbers, np.nan, numbers)[column.codes]
        return Levels(codes, new if self.plain and not np.isnan(new).all() else None)

    def read(self, source: Source) -> tuple[Levels, NDArray[np.bool_]]:
        """Levels of the records of a release, and which records hold something no tree can draw.

        Raises
        ------
        DataError
            If the release's values cannot be compared with the original's.
        """
        found = distinct_of(source, self.name)
        both, _, _ = by_labels([self.distinct, found], [self.declared, source.variable(self.name)], self.kind)
        (known, found), _ = harmonise([as_kind(one, self.kind) for one in both], self.kind)
        position = buffer_view(pc.index_in(found.values, known.values).fill_null(-1), np.int32)
        level = np.full(len(known.values) + 1, -1, dtype=np.int32)  # the last entry stands for unknown values
        level[known.codes] = np.arange(known.codes.size)
        gap = -1 if self.gap is None else self.gap
        table = np.append(level[position], gap).astype(np.int32)
        codes = table[found.codes]
        return self.placed(codes, found.values, found.codes)

    def placed(self, codes: Codes, values: pa.Array, places: Codes) -> tuple[Levels, NDArray[np.bool_]]:
        """Levels of records some of whose values the original does not have; see :meth:`read`.

        Parameters
        ----------
        codes : (n,) int32
            Level of every record; -1 where there is none.
        values
            The distinct values of the records.
        places : (n,) int32
            Place of every record's value among them; their number stands for the gap.
        """
        unknown = codes < 0
        if not unknown.any():
            return Levels(codes), unknown
        codes = np.where(unknown, np.int32(self.counts.argmax()), codes)
        own = self.numeric.column.values if self.numeric and self.plain else None
        if self.numeric is None or own is None:
            return Levels(codes), unknown
        numbers = np.append(buffer_view(values.cast(pa.float64()), np.float64), np.nan)[places]
        new = np.where(unknown & np.isfinite(numbers), numbers, np.nan)
        rows = np.flatnonzero(~np.isnan(new))
        codes[rows] = self.numeric.level_of[_nearest(own, new[rows], self.numeric.level_of >= 0)]
        return Levels(codes, new), unknown & np.isnan(new)


def open_release(release: Any, variables: Sequence[EncodedVariable]) -> Source:
    """A release as a source.

    Delimited text does not say what is text: a column that was text in the original is read as such, so that no digit
    of a value that reads like a number is lost.
    """
    named = isinstance(release, str | os.PathLike)
    source = read(release, label=None if named or isinstance(release, Source) else "the release")
    if not named or not isinstance(source.form, TextForm):
        return source
    texts = {
        variable.name: Variable(variable.name, kind="categorical")
        for variable in variables
        if variable.distinct.family == "text"
        and variable.name in source
        and not pa.types.is_dictionary(source.column(variable.name).type)
    }
    return read(release, schema=texts) if texts else source


def _nearest(known: Floats, wanted: Floats, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Position of the nearest allowed known number."""
    positions = np.flatnonzero(allowed)
    numbers = known[positions]
    right = np.searchsorted(numbers, wanted).clip(1, max(numbers.size - 1, 1)).clip(max=numbers.size - 1)
    left = (right - 1).clip(0)
    return positions[np.where(wanted - numbers[left] <= numbers[right] - wanted, left, right)]
