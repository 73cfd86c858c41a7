"""Take records from Arrow columns: in one chunk, and in dictionaries without values that were not drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.files.arrays import from_numpy
from unveil.files.source import Variable


def taken(column: pa.Array | pa.ChunkedArray, rows: NDArray[np.integer[Any]]) -> pa.Array:
    """Return some records of a column in one chunk, also for types from which Arrow itself cannot take records."""
    kind = column.type
    if str(kind) == "string_view":
        return taken(column.cast(pa.string()), rows).cast(kind)
    if pa.types.is_run_end_encoded(kind):
        return of_kind(taken(pc.run_end_decode(column), rows), kind)
    if pa.types.is_dictionary(kind) and isinstance(column, pa.ChunkedArray) and column.num_chunks > 1:
        column = _one_dictionary(column)
    found = column.take(from_numpy(rows))
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks() if found.num_chunks else pa.nulls(0, kind)
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found


def of_kind(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the same values in a type that differs only in its storage."""
    if values.type == kind:
        return values
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(values, run_end_type=kind.run_end_type)
    return pa.DictionaryArray.from_arrays(
        values.indices.cast(kind.index_type), values.dictionary.cast(kind.value_type), ordered=kind.ordered
    )


def plain(values: pa.Array) -> pa.Array:
    """Return the values of a dictionary column without the dictionary."""
    return _plain_dictionary(values).take(values.indices)


def _plain_dictionary(values: pa.Array) -> pa.Array:
    """Return the dictionary in a type that Arrow can search."""
    text = pa.string() if str(values.type.value_type) == "string_view" else values.type.value_type
    return values.dictionary.cast(text)


def _one_dictionary(column: pa.ChunkedArray) -> pa.Array:
    """Return the chunks as one, with one dictionary; Arrow cannot unify dictionaries that hold a gap."""
    dictionaries = [_plain_dictionary(chunk) for chunk in column.chunks]
    levels = pa.concat_arrays(dictionaries).drop_null().unique()
    indices = [
        pc.index_in(dictionary, levels).take(chunk.indices)
        for dictionary, chunk in zip(dictionaries, column.chunks, strict=True)
    ]
    return of_kind(pa.DictionaryArray.from_arrays(pa.concat_arrays(indices), levels), column.type)


def declared(values: pa.Array, variable: Variable) -> pa.Array | None:
    """Return values in a dictionary of the declared levels; None if there are none, or a value is not among them.

    The dictionary of a file lists all its values in the order of the records. It must not be part of a release, because
    it holds values that no synthetic record has.
    """
    if not pa.types.is_dictionary(values.type) or not variable.levels:
        return None
    found = plain(values)
    try:
        levels = pa.array(variable.levels, found.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None
    if not pc.all(pc.is_in(found.drop_null(), levels)).as_py():
        return None
    return of_kind(pa.DictionaryArray.from_arrays(pc.index_in(found, levels), levels), values.type)


def one_each(values: pa.Array, levels: pa.Array) -> pa.Array:
    """Return :func:`only_drawn` of one value per level, the gap last; faster, because the levels are known."""
    if not pa.types.is_dictionary(values.type) or values.type.ordered:
        return values
    known = plain(values)[: len(levels)]
    if known.type != levels.type or not known.equals(levels):
        return only_drawn(values)
    gaps = pa.nulls(len(values) - len(known), pa.int32())
    places = pa.concat_arrays([from_numpy(np.arange(len(known), dtype=np.int32)), gaps])
    return pa.DictionaryArray.from_arrays(places.cast(values.type.index_type), known.cast(values.type.value_type))


def only_drawn(values: pa.Array) -> pa.Array:
    """Return values in a dictionary of those that were drawn, ascending; ordered dictionaries do not change."""
    if not pa.types.is_dictionary(values.type) or values.type.ordered:
        return values
    dictionary = _plain_dictionary(values)
    drawn = dictionary.take(values.indices.unique().drop_null()).drop_null().unique()
    drawn = drawn.take(pc.sort_indices(drawn))
    place = pc.index_in(dictionary, drawn).cast(values.type.index_type)
    return pa.DictionaryArray.from_arrays(place.take(values.indices), drawn.cast(values.type.value_type))
