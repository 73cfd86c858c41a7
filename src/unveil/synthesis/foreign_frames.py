"""Frames that are handed to code of others: of a kind that they know, with the types that the user's own frame has."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from unveil.files.source import Flavour, Source


def flavour_for_others(source: Source) -> Flavour:
    """The kind of frame that the records are handed out in: the user's own, and of a file what is installed."""
    if source.like is not None:
        return source.flavour
    found: tuple[Flavour, ...] = ("pandas", "polars")
    return next((library for library in found if find_spec(library) is not None), "arrow")


def as_frame(source: Source, flavour: Flavour | None = None) -> Any:
    """The records as a frame.

    Parameters
    ----------
    source : Source
        A file, a frame, or some records of one.
    flavour : {"pandas", "polars", "arrow"}, optional
        Kind of frame; by default that which the records came in. Of a file it is pandas where that is installed, else
        polars, else pyarrow.

    Returns
    -------
    frame
        Column names and types are those of the frame that the records came in. Of a file text is text (no
        categories), dates and times are dates and times, and numbers are as ``pandas.read_csv`` gives them.

    Examples
    --------
    >>> from unveil.files import read
    >>> as_frame(read(pa.table({"age": pa.array([31, None], pa.int16()), "sex": ["f", "m"]}))).schema.types
    [DataType(int16), DataType(string)]
    """
    flavour = flavour_for_others(source) if flavour is None else flavour
    columns = {name: _plain(source.column(name)) for name in source.names}
    like = source.like if source.like is not None and source.flavour == flavour else None
    make = {"pandas": _pandas_frame, "polars": _polars_frame, "arrow": _arrow_table}[flavour]
    return make(columns, like)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without a dictionary, which is how this package keeps text."""
    if not pa.types.is_dictionary(column.type):
        return column
    chunks = [chunk.dictionary.take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, column.type.value_type)


def _kept(values: Any, changed: Callable[[], Any], gaps: Callable[[Any], int]) -> Any:
    """Values in another type, unless that cannot hold them all."""
    try:
        other = changed()
    except Exception:
        # Libraries name what does not fit by errors of many kinds; all mean that the values stay as they are.
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
    # A copy, which whoever gets it may change.
    frame = pandas.DataFrame(made, copy=True)
    if own:
        frame.columns = [like.columns[own[name]] for name in columns]
    return frame


def _pandas_series(column: pa.ChunkedArray, dtype: Any) -> Any:
    is_object = str(dtype) == "object"
    # Whole numbers with gaps, in a type that can hold both, must not pass through floating-point numbers.
    exact = dtype is not None and getattr(dtype, "kind", "O") not in "f"
    series = column.to_pandas(date_as_object=is_object, integer_object_nulls=exact)
    if dtype is None or series.dtype == dtype:
        return series
    return _kept(series, lambda: series.astype(dtype), lambda one: int(one.isna().sum()))
