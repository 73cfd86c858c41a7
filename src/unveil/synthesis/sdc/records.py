"""A frame in which only values change: types, order and row labels stay."""

from __future__ import annotations

import importlib
import os
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.files.arrays import dictionary_levels
from unveil.files.columnar import metadata_for, own_declarations
from unveil.files.frames import is_frame
from unveil.files.opening import open_source
from unveil.files.source import Scalar, Source
from unveil.synthesis.arrow_values import only_drawn, taken
from unveil.synthesis.compact_columns import own_pandas, own_polars
from unveil.synthesis.sdc.report import SdcReport

REASON = 100
"""Longest text of another package's error in a message: some errors list all values."""


@dataclass(frozen=True)
class GivenFile:
    """The user's file or frame, and its source.

    Parameters
    ----------
    source
        The columns by name, in the types of this package.
    native
        A pandas or polars frame, or an Arrow table, in the user's types.
    """

    source: Source
    native: Any

    @classmethod
    def of(cls, data: Any) -> GivenFile:
        """Open a file, frame or source; data other than pandas and polars frames become an Arrow table."""
        if isinstance(data, Source | str | os.PathLike):
            source = open_source(data)
            return cls(source, _in_flavour(source))
        native = data.to_native() if type(data).__module__.startswith("narwhals") else data
        if type(native).__module__.split(".")[0] not in ("pandas", "polars") and is_frame(native):
            # Read once: a query may return its records in another order the next time, a stream can be read once.
            with suppress(pa.ArrowException):
                native = pa.table(native)
        return cls(open_source(native), native)

    def report(
        self, action: str, columns: tuple[str, ...], n_changed: int, figures: Mapping[str, Any], *sentences: str
    ) -> SdcReport:
        """Return the report of what was done to the records."""
        return SdcReport(action, self.source.label, columns, self.source.num_rows, n_changed, figures, sentences)

    def kept(self, keep: NDArray[np.bool_]) -> Any:
        """Return the frame with only some of the records (n,), and only their text in memory."""
        if self.source.flavour == "polars":
            frame = self.native.filter(_polars().Series(keep))
            return frame.with_columns([own_polars(column) for column in frame.get_columns()])
        is_declared = [bool(self.source.variable(name).levels) for name in self.source.names]
        if self.source.flavour == "pandas":
            frame = self.native.loc[keep].copy()
            for i, declared in enumerate(is_declared):
                array = frame.iloc[:, i].array
                own = own_pandas(array, declared=declared)
                if own is not array:
                    frame.isetitem(i, own)
            return frame
        rows = np.flatnonzero(keep)
        columns = [taken(column, rows) for column in self.native.columns]
        columns = [c if declared else only_drawn(c) for c, declared in zip(columns, is_declared, strict=True)]
        return pa.Table.from_arrays(columns, schema=self.native.schema)

    def with_values(self, column: str, change: NDArray[np.bool_], values: Any) -> Any:
        """Return the frame with new values of one column in some records.

        Parameters
        ----------
        column
            Name of the column.
        change : (n,) bool
            The records.
        values
            One value, or an array with one for each changed record.

        Raises
        ------
        CallError
            If the column's type cannot hold a value.
        """
        function = {"pandas": _replaced_pandas, "polars": _replaced_polars, "arrow": _replaced_arrow}
        try:
            return function[self.source.flavour](self, column, change, values)
        except Exception as error:
            reason = textwrap.shorten(str(error), REASON) or type(error).__name__
            raise CallError(
                f"{self.source.label}: column {column!r} cannot take the new values in its own type ({reason}); "
                "convert the column first"
            ) from None

    def with_levels(self, column: str, change: NDArray[np.bool_], into: Scalar, dropped: Sequence[Scalar]) -> Any:
        """Return the frame with some records of a text or categorical column moved to one level.

        Parameters
        ----------
        column
            Name of the column.
        change : (n,) bool
            The records that move.
        into
            Their new level.
        dropped
            Levels that no record has any more; they are removed from types that list their levels.
        """
        relevel = {"pandas": _relevelled_pandas, "polars": _relevelled_polars, "arrow": _relevelled_arrow}
        return relevel[self.source.flavour](self, column, change, into, dropped)

    def with_text(self, column: str, text: str) -> Any:
        """Return the frame with another column that holds the same text in every record."""
        if self.source.flavour == "pandas":
            return self.native.assign(**{column: text})
        if self.source.flavour == "polars":
            return self.native.with_columns(_polars().lit(text).alias(column))
        return self.native.append_column(column, pa.array([text] * self.native.num_rows, pa.string()))

    def position(self, column: str) -> int:
        """Return the position of a column."""
        return self.source.names.index(column)


def table_of(source: Source) -> pa.Table:
    """Return a source as an Arrow table with its declarations; text without declared levels is plain text."""
    columns = [source.column(name) for name in source.names]
    plain = [
        c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) and name not in source.variables else c
        for name, c in zip(source.names, columns, strict=True)
    ]
    table = pa.Table.from_arrays(plain, list(source.names))
    return table.replace_schema_metadata(metadata_for(source.variables)) if source.variables else table


def _in_flavour(source: Source) -> Any:
    table = table_of(source)
    if source.flavour == "arrow":
        return table
    if source.flavour == "polars":
        return _polars().from_arrow(table.replace_schema_metadata(None))
    pandas = importlib.import_module("pandas")
    # Arrow would turn whole numbers with gaps into decimals.
    frame = table.replace_schema_metadata(None).to_pandas(
        types_mapper=lambda kind: pandas.Int64Dtype() if kind == pa.int64() else None
    )
    whole = [n for n in table.column_names if table.column(n).type == pa.int64() and not table.column(n).null_count]
    return frame.astype(dict.fromkeys(whole, "int64"))


def _polars() -> Any:
    return importlib.import_module("polars")


# New values


def _replaced_pandas(records: GivenFile, column: str, change: NDArray[np.bool_], values: Any) -> Any:
    position = records.position(column)
    series = records.native.iloc[:, position].copy()
    if str(series.dtype) == "object":
        raise TypeError("it holds Python objects")
    given = np.broadcast_to(np.asarray(values), int(change.sum()))
    new = type(series)(given).astype(series.dtype)
    # A number beyond the range of an integer type would wrap around.
    if series.dtype.kind in "iu" and not (new.to_numpy() == given).all():
        raise OverflowError(f"beyond the range of {series.dtype}")
    series.iloc[np.flatnonzero(change)] = new.array
    return _set_pandas(records, position, series)


def _set_pandas(records: GivenFile, position: int, series: Any) -> Any:
    frame = records.native.copy()
    frame.isetitem(position, series)
    return frame


def _replaced_polars(records: GivenFile, column: str, change: NDArray[np.bool_], values: Any) -> Any:
    pl = _polars()
    series = records.native.get_column(column)
    given = np.broadcast_to(np.asarray(values), int(change.sum()))
    new = pl.Series(given.copy()).cast(series.dtype, strict=True)
    return records.native.with_columns(series.clone().scatter(np.flatnonzero(change), new).alias(column))


def _replaced_arrow(records: GivenFile, column: str, change: NDArray[np.bool_], values: Any) -> Any:
    position = records.position(column)
    old = records.native.column(position)
    given = pa.array(np.broadcast_to(np.asarray(values), int(change.sum())).copy()).cast(old.type)
    place = np.zeros(len(change), dtype=np.int64)
    place[change] = np.arange(len(given))
    new = given.take(pa.array(place, mask=~change))
    return records.native.set_column(position, records.native.field(position), pc.if_else(change, new, old))


# Levels


def _relevelled_pandas(
    records: GivenFile, column: str, change: NDArray[np.bool_], into: Scalar, dropped: Sequence[Scalar]
) -> Any:
    position = records.position(column)
    series = records.native.iloc[:, position].copy()
    if not hasattr(series.dtype, "categories"):
        series.iloc[np.flatnonzero(change)] = into
        return _set_pandas(records, position, series)
    levels = list(series.cat.categories)
    if into not in levels:
        series = series.cat.add_categories([into])
    series.iloc[np.flatnonzero(change)] = into
    return _set_pandas(records, position, series.cat.set_categories(_levels_after(levels, into, dropped)))


def _relevelled_polars(
    records: GivenFile, column: str, change: NDArray[np.bool_], into: Scalar, dropped: Sequence[Scalar]
) -> Any:
    pl = _polars()
    series = records.native.get_column(column)
    dtype = series.dtype
    if isinstance(dtype, pl.Enum):
        dtype = pl.Enum(_levels_after(dtype.categories.to_list(), into, dropped))
    texts = pl.when(pl.Series(change)).then(pl.lit(into)).otherwise(series.cast(pl.String))
    return records.native.with_columns(texts.cast(dtype).alias(column))


def _relevelled_arrow(
    records: GivenFile, column: str, change: NDArray[np.bool_], into: Scalar, dropped: Sequence[Scalar]
) -> Any:
    table, position = records.native, records.position(column)
    field = table.field(position)
    is_listed = pa.types.is_dictionary(field.type)
    value_type = field.type.value_type if is_listed else pa.string()
    values = pc.if_else(change, pa.scalar(into, value_type), table.column(position).cast(value_type))
    if not is_listed:
        return table.set_column(position, field, values.cast(field.type))
    levels = _levels_after(dictionary_levels(records.source.column(column)), into, dropped)
    listed = pa.array(levels, value_type)
    chunks = [
        pa.DictionaryArray.from_arrays(
            pc.index_in(chunk, listed).cast(field.type.index_type), listed, ordered=field.type.ordered
        )
        for chunk in values.chunks
    ]
    return _redeclared(table, column, levels).set_column(position, field, pa.chunked_array(chunks, field.type))


def _levels_after(levels: Sequence[Scalar], into: Scalar, dropped: Sequence[Scalar]) -> list[Scalar]:
    left = [level for level in levels if level not in dropped]
    return left if into in left else [*left, into]


def _redeclared(table: pa.Table, column: str, levels: Sequence[Scalar]) -> pa.Table:
    """Return the table with new declared levels of a column, if its metadata declare levels."""
    variables = own_declarations(table.schema.metadata, "the table")
    if not variables:
        return table
    if column in variables:
        variables[column] = replace(variables[column], levels=tuple(levels), labels={})
    return table.replace_schema_metadata({**table.schema.metadata, **metadata_for(variables)})
