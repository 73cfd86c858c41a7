"""Frames of columns that were read: in a library that the user knows, in the types of the user's frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Literal

import pyarrow as pa

Flavour = Literal["pandas", "polars", "arrow"]


def installed_flavour() -> Flavour:
    """Kind of frame of what has no frame: pandas if it is installed, else polars, else pyarrow."""
    found: tuple[Flavour, ...] = ("pandas", "polars")
    return next((library for library in found if find_spec(library) is not None), "arrow")


def make_frame(columns: Mapping[str, pa.ChunkedArray], like: Any, flavour: Flavour) -> Any:
    """Return columns as a frame.

    Parameters
    ----------
    columns
        Values by name.
    like
        A frame of this flavour whose types the columns get; None for text that is text (no categories), dates and times
        that are dates and times, and numbers in the types of ``pandas.read_csv``.
    flavour
        Kind of frame.

    Examples
    --------
    >>> like = pa.schema({"age": pa.int16()})
    >>> make_frame({"age": pa.chunked_array([[31, None]])}, like, "arrow").schema.types
    [DataType(int16)]
    """
    make = {"pandas": _pandas_frame, "polars": _polars_frame, "arrow": _arrow_table}[flavour]
    return make({name: _plain(column) for name, column in columns.items()}, like)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column without the dictionary in which this package stores text."""
    if not pa.types.is_dictionary(column.type):
        return column
    chunks = [chunk.dictionary.take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, column.type.value_type)


def _kept(values: Any, changed: Callable[[], Any], gaps: Callable[[Any], int]) -> Any:
    """Return the values in another type if it can hold them all, else unchanged."""
    try:
        other = changed()
    except Exception:
        # Libraries raise many kinds of errors for values that do not fit.
        return values
    return other if gaps(other) == gaps(values) else values


def _arrow_table(columns: dict[str, pa.ChunkedArray], like: Any) -> pa.Table:
    if like is not None:
        kinds = dict(zip(like.names, like.types, strict=True))
        columns = {name: _arrow_column(column, kinds[name]) for name, column in columns.items()}
    return pa.table(columns)


def _arrow_column(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    def changed() -> pa.ChunkedArray:
        if pa.types.is_dictionary(kind):
            return column.cast(kind.value_type).dictionary_encode().cast(kind)
        return column.cast(kind, safe=not pa.types.is_floating(kind))

    return column if column.type == kind else _kept(column, changed, lambda one: one.null_count)


def _polars_frame(columns: dict[str, pa.ChunkedArray], like: Any) -> Any:
    import polars

    frame: Any = polars.from_arrow(pa.table(columns))
    if like is None:
        return frame
    return polars.DataFrame([_polars_series(values, like.schema[values.name]) for values in frame.get_columns()])


def _polars_series(values: Any, dtype: Any) -> Any:
    return values if values.dtype == dtype else _kept(values, lambda: values.cast(dtype), lambda one: one.null_count())


def _pandas_frame(columns: dict[str, pa.ChunkedArray], like: Any) -> Any:
    import pandas

    own = {} if like is None else {str(name): i for i, name in enumerate(like.columns)}
    made = {}
    for name, column in columns.items():
        dtype = like.iloc[:, own[name]].dtype if own else None
        made[name] = _pandas_series(column, dtype)
    # A copy, which the synthesizer may change.
    frame = pandas.DataFrame(made, copy=True)
    if own:
        frame.columns = [like.columns[own[name]] for name in columns]
    return frame


def _pandas_series(column: pa.ChunkedArray, dtype: Any) -> Any:
    is_object = str(dtype) == "object"
    # Whole numbers with gaps must not become floating-point numbers on the way to a type that holds both.
    exact = dtype is not None and getattr(dtype, "kind", "O") not in "f"
    series = column.to_pandas(date_as_object=is_object, integer_object_nulls=exact)
    if dtype is None or series.dtype == dtype:
        return series
    return _kept(series, lambda: series.astype(dtype), lambda one: int(one.isna().sum()))
