"""Data frames: pandas column by column, everything else through the Arrow C stream."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import CallError, DataError
from unveil.files.arrays import check_names, declare_an_order, dictionary_levels, is_broken, normalise, text_array
from unveil.files.arrow_checks import valid
from unveil.files.columnar import declared_by_arrow
from unveil.files.duckdb_relations import is_relation, open_relation
from unveil.files.path_checks import reason_of
from unveil.files.source import Flavour, Kind, Source, Variable
from unveil.notes import Note, warn


def is_frame(data: object) -> bool:
    """Whether the object is a table that can be read."""
    return hasattr(data, "__arrow_c_stream__") or isinstance(data, pa.RecordBatch)


def open_frame(data: Any, label: str) -> Source:
    """Return a data frame as a source; values are copied only when their column is read.

    Raises
    ------
    CallError
        If the object is one column and not a table.
    DataError
        If column names are repeated or blank.
    """
    root = type(data).__module__.split(".")[0]
    if root == "narwhals":
        return open_frame(data.to_native(), label)
    if root == "pandas" and hasattr(data, "columns"):
        return open_pandas(data, label)
    if is_relation(data):
        return open_relation(data, label)
    table = _arrow_table(data, label, root)
    check_names(table.column_names, label)

    def fetch(name: str) -> pa.ChunkedArray:
        return normalise(valid(table.column(name), name, label), name, label)

    variables = declared_by_arrow(table.schema, lambda name: dictionary_levels(fetch(name)), fetch, label)
    flavour: Flavour = "polars" if root == "polars" else "arrow"
    like = data.clear() if flavour == "polars" else table.schema
    return Source(label, tuple(table.column_names), table.num_rows, fetch, variables, flavour, like=like)


def _arrow_table(data: Any, label: str, root: str) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if root == "polars":
        _refuse_objects(data, label)
    try:
        return pa.RecordBatchReader.from_stream(data).read_all()
    except pa.ArrowException as error:
        if "non-struct" in str(error):
            raise CallError(f"{label}: a table is needed, not one column; give a data frame") from None
        raise DataError(
            f"{label}: the {root} table cannot be read ({reason_of(error)}); convert the column first"
        ) from None


def _refuse_objects(frame: Any, label: str) -> None:
    """Raise an error for a column of Python objects: older versions of polars crash when they export it."""
    for name, dtype in zip(getattr(frame, "columns", ()), getattr(frame, "dtypes", ()), strict=False):
        if str(dtype) == "Object":
            raise DataError(f"{label}: column {name!r} holds Python objects; convert or drop it")


# pandas


def open_pandas(frame: Any, label: str, *, flavour: Flavour = "pandas") -> Source:
    """Return a pandas frame as a source; row labels are ignored, names that are not text become text."""
    names = check_names([str(name) for name in frame.columns], label)
    position = {name: i for i, name in enumerate(names)}

    def fetch(name: str) -> pa.ChunkedArray:
        return _pandas_column(frame.iloc[:, position[name]], name, label)

    variables = {}
    for name, dtype in zip(names, frame.dtypes, strict=True):
        if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
            levels = dictionary_levels(_categories(dtype.categories, name, label))
            codes = frame.iloc[:, position[name]].array.codes
            is_declared = dtype.ordered or declare_an_order(levels, codes)
            kind: Kind = "ordered" if dtype.ordered else "categorical"
            variables[name] = Variable(name, kind=kind, levels=levels if is_declared else None)
    like = frame.iloc[:0] if flavour == "pandas" else None
    return Source(label, names, len(frame), fetch, variables, flavour, like=like)


def _pandas_column(series: Any, name: str, label: str) -> pa.ChunkedArray:
    dtype = series.dtype
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        return _pandas_categorical(series, name, label)
    if type(dtype).__name__ == "SparseDtype":
        series = series.sparse.to_dense()
    if type(dtype).__name__ in ("PeriodDtype", "IntervalDtype"):
        return _texts(series.array, name, label)
    try:
        return normalise(_chunked(series), name, label)
    except UnicodeEncodeError:
        raise _broken(series.array, name, label) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        # Only a column of Python objects can hold values of several types.
        if str(dtype) == "object":
            return _mixed(series, name, label)
        raise DataError(f"{label}: column {name!r} of type {dtype} cannot be read; convert it first") from None
    except pa.ArrowNotImplementedError:
        raise DataError(f"{label}: column {name!r} holds {dtype} values; convert or drop it") from None


def _chunked(series: Any) -> pa.ChunkedArray:
    array = pa.array(series, from_pandas=True)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _pandas_categorical(series: Any, name: str, label: str) -> pa.ChunkedArray:
    """Return codes and categories; categories without a type in Arrow (intervals) become text."""
    levels = _categories(series.dtype.categories, name, label).chunk(0)
    codes = pa.array(series.cat.codes.to_numpy(), mask=series.cat.codes.to_numpy() < 0)
    indices = pc.take(levels.indices, codes.cast(pa.int32()))
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, levels.dictionary)])


def _categories(categories: Any, name: str, label: str) -> pa.ChunkedArray:
    """Return the categories as a dictionary column with one record for each."""
    try:
        column = _pandas_column(categories.to_series(), name, label)
    except UnicodeEncodeError:
        raise _broken(categories, name, label, "category") from None
    if not pa.types.is_dictionary(column.type):
        column = column.combine_chunks().dictionary_encode()
        column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    return column if column.num_chunks else pa.chunked_array([pa.array([], pa.string()).dictionary_encode()])


def _mixed(series: Any, name: str, label: str) -> pa.ChunkedArray:
    # Not every version of Arrow knows UUIDs; their text is the same everywhere.
    if all(isinstance(value, UUID) for value in series.dropna().array):
        return _texts(series.array, name, label)
    text = (
        f"{label}: column {name!r} holds values of several types, or integers beyond 64 bits; all are compared as text"
    )
    warn(Note(text))
    return _texts(series.array, name, label)


def _texts(values: Iterable[Any], name: str, label: str) -> pa.ChunkedArray:
    """Return every value as text, whatever its type; whole numbers without a decimal point."""
    levels: dict[str, int] = {}
    known: dict[tuple[type, Any], int | None] = {}
    codes: list[int | None] = []
    for value in values:
        try:
            key = (type(value), value)
            if key not in known:
                text = _text(value)
                known[key] = None if text is None else levels.setdefault(text, len(levels))
        except TypeError:
            raise DataError(
                f"{label}: column {name!r} holds {type(value).__name__} values, not one value per record; leave it out"
            ) from None
        codes.append(known[key])
    indices = pa.array(codes, pa.int32())
    try:
        return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, text_array(list(levels)))])
    except UnicodeEncodeError:
        raise _broken(values, name, label) from None


def _broken(values: Iterable[Any], name: str, label: str, unit: str = "record") -> DataError:
    """Return an error that names the first text with half a character."""
    row, value = next((row, value) for row, value in enumerate(values, start=1) if is_broken(value))
    return DataError(
        f"{label}: column {name!r}, {unit} {row}: {value!r} is not text, it holds half a character; correct it"
    )


def _text(value: Any) -> str | None:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, list | dict | set | tuple | bytes | bytearray | complex):
        raise TypeError
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(sep=" ")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value)
    if math.isnan(number):
        return None
    return str(int(value)) if math.isfinite(number) and value == int(value) else str(value)
