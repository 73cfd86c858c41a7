"""Synthetic records in the kind of frame, and with the exact types, of the original.

One original value per level of every column is stored. Synthetic columns are taken from these values, so that type,
categories and spelling are those of the original without any conversion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.errors import DataError
from unveil.files.form import ArrowForm, carried
from unveil.files.source import Flavour, Source
from unveil.synthesis.arrow_values import declared, of_kind, one_each, only_drawn, plain, taken
from unveil.synthesis.compact_columns import own_pandas, own_polars
from unveil.synthesis.memory import give_back
from unveil.synthesis.new_numbers import arrow_with, pandas_with, polars_with
from unveil.synthesis.variable import EncodedVariable, Levels


@dataclass(frozen=True, eq=False)
class Palette:
    """One value per level of every column, in the original's kind of frame.

    Parameters
    ----------
    library
        Kind of frame.
    frame
        The original frame without its records.
    columns
        By name, the values of the levels.
    flavour
        Kind of frame of the results, if the library is Arrow: that of the frame that a source was opened from.
    declared
        Columns whose dictionaries or categories hold only declared levels.
    """

    library: Literal["pandas", "polars", "arrow"]
    frame: Any
    columns: Mapping[str, Any]
    flavour: Flavour = "arrow"
    declared: frozenset[str] = frozenset()

    def paint(self, levels: dict[str, Levels]) -> Any:
        """Return a frame of the records whose levels are given by column.

        Used levels are removed from the dict, so that memory does not hold the records of a large file twice.
        """
        column = {"pandas": _pandas_column, "polars": _polars_column, "arrow": _arrow_column}[self.library]
        columns = {}
        for name in list(levels):
            columns[name] = column(self, name, levels.pop(name))
            give_back(len(columns[name]))
        if self.library == "pandas":
            return _pandas_frame(self.frame, list(columns.values()))
        if self.library == "polars":
            return type(self.frame)(list(columns.values()))
        return in_flavour(pa.Table.from_arrays(list(columns.values()), schema=self.frame), self.flavour)


def in_flavour(table: pa.Table, flavour: Flavour) -> Any:
    """Return the table as a frame of the kind."""
    if flavour == "arrow":
        return table
    import narwhals as nw

    return nw.from_arrow(table, backend=flavour).to_native()


def make_palette(data: Any, source: Source, variables: Sequence[EncodedVariable]) -> Palette:
    """Return one value per level of every column.

    Parameters
    ----------
    data
        The user's original: a frame, a path or a source.
    source
        The original, opened.
    variables
        The original, encoded.

    Returns
    -------
    Palette
        Values by column.
    """
    native = data.to_native() if type(data).__module__.startswith("narwhals") else data
    root = type(native).__module__.split(".")[0]
    if root == "pandas" and hasattr(native, "iloc"):
        columns = {
            v.name: _pandas_values(native[title].array, v.examples)
            for title, v in zip(native.columns, variables, strict=True)
        }
        ordered = frozenset(name for name in columns if source.variable(name).levels)
        return Palette("pandas", native.iloc[:0], columns, declared=ordered)
    if root == "polars" and hasattr(native, "get_column"):
        columns = {v.name: own_polars(native.get_column(v.name).gather(v.examples)) for v in variables}
        return Palette("polars", native.clear(), columns)
    table = native if isinstance(native, pa.Table) else None
    if isinstance(native, pa.RecordBatch):
        table = pa.Table.from_batches([native])
    columns, with_levels = {}, set()
    for variable in variables:
        name = variable.name
        column = table.column(name) if table is not None else (source.native or source.column)(name)
        values = _taken_of(column, variable.examples, name)
        if table is None:
            levels = declared(values, source.variable(name))
            with_levels |= {name} if levels is not None else set()
            values = _as_in(source, name, values) if levels is None else levels
        if name not in with_levels:
            values = only_drawn(values) if variable.kind == "ordered" else one_each(values, variable.values)
        columns[name] = values
    schema = carried(table.schema) if table is not None else _schema(source, columns)
    flavour = source.flavour if isinstance(data, Source) else "arrow"
    return Palette("arrow", schema, columns, flavour, frozenset(with_levels))


def _taken_of(column: pa.ChunkedArray, rows: NDArray[np.int64], name: str) -> pa.Array:
    try:
        return taken(column, rows)
    except pa.ArrowInvalid:  # the index type is too small for one dictionary of all chunks
        raise DataError(
            f"column {name!r} has more values than one dictionary of type {column.type} can hold; cast it to text, or "
            "to int32 indices"
        ) from None


def _as_in(source: Source, name: str, values: pa.Array) -> pa.Array:
    """Return values without declared levels: in a dictionary only if the file or frame has one."""
    has_own = source.native is not None or (source.flavour != "arrow" and source.variable(name).kind == "categorical")
    return values if has_own or not pa.types.is_dictionary(values.type) else plain(values)


def _schema(source: Source, columns: Mapping[str, pa.Array]) -> pa.Schema:
    """Return the types of the file, if it has types, with the marks of polars; else those of the columns."""
    if isinstance(source.form, ArrowForm):
        return source.form.schema.remove_metadata()
    return pa.schema([(name, column.type) for name, column in columns.items()])


def _all_drawn(n_levels: int, chosen: Levels) -> bool:
    """Whether every level was drawn, so that none has to be left out of a dictionary."""
    return chosen.new is None and bool(np.bincount(chosen.codes, minlength=n_levels).all())


def _written(levels: Levels) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the records with a new number, and the numbers."""
    assert levels.new is not None
    rows = np.flatnonzero(~np.isnan(levels.new))
    return rows, levels.new[rows]


def _pandas_values(array: Any, rows: NDArray[np.int64]) -> Any:
    """Return one value per level; a pandas column in Arrow memory as an Arrow array."""
    if type(array.dtype).__name__ == "ArrowDtype":
        return only_drawn(taken(array.__arrow_array__(), rows))
    return array.take(rows)


def _pandas_column(palette: Palette, name: str, chosen: Levels) -> Any:
    values = palette.columns[name]
    if isinstance(values, pa.Array):
        return _arrow_column(palette, name, chosen)
    drawn = values.take(chosen.codes)
    if chosen.new is not None:
        drawn = pandas_with(drawn, *_written(chosen), name)
    return own_pandas(drawn, declared=name in palette.declared)


def _pandas_frame(frame: Any, arrays: Sequence[Any]) -> Any:
    """Return columns as a frame like the given one; by position, because pandas allows equal names."""
    series = type(frame.iloc[:, 0])
    columns, index = {}, None
    for i, values in enumerate(arrays):
        array = type(frame.iloc[:, i].array)(values) if isinstance(values, pa.Array) else values
        columns[i] = series(array, index=index, dtype=array.dtype, copy=False)
        index = columns[i].index
    made = type(frame)(columns, copy=False)
    made.columns = frame.columns
    return made


def _polars_column(palette: Palette, name: str, chosen: Levels) -> Any:
    values = palette.columns[name]
    drawn = values.gather(chosen.codes)
    if chosen.new is not None:
        drawn = polars_with(drawn, *_written(chosen))
    is_whole = str(values.dtype) in ("String", "Utf8") and _all_drawn(len(values), chosen)
    return drawn if is_whole else own_polars(drawn)


def _arrow_column(palette: Palette, name: str, chosen: Levels) -> pa.Array:
    values, codes = palette.columns[name], chosen.codes
    kind = values.type
    if chosen.new is not None:
        rows, numbers = _written(chosen)
        values, codes = arrow_with(values, numbers, name), codes.astype(np.int64)
        codes[rows] = len(values) - rows.size + np.arange(rows.size)
    drawn = taken(values, codes)
    if name in palette.declared or not pa.types.is_dictionary(kind) or _all_drawn(len(values), chosen):
        return drawn
    return of_kind(only_drawn(drawn), kind)
