"""Arrow columns of which records are taken: in one chunk, and in dictionaries without what was not drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.files.arrays import from_numpy
from unveil.files.source import Variable


def taken(column: pa.Array | pa.ChunkedArray, rows: NDArray[np.integer[Any]]) -> pa.Array:
    """Some records of a column in one chunk; of types that Arrow takes none of, by way of one that it does."""
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
    """The same values in a type that only their storage differs from."""
    if values.type == kind:
        return values
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(values, run_end_type=kind.run_end_type)
    return pa.DictionaryArray.from_arrays(
        values.indices.cast(kind.index_type), values.dictionary.cast(kind.value_type), ordered=kind.ordered
    )


def plain(values: pa.Array) -> pa.Array:
    """The values of a dictionary one by one."""
    return _plain_dictionary(values).take(values.indices)


def _plain_dictionary(values: pa.Array) -> pa.Array:
    """The dictionary, of a type that Arrow can look values up in."""
    text = pa.string() if str(values.type.value_type) == "string_view" else values.type.value_type
    return values.dictionary.cast(text)


def _one_dictionary(column: pa.ChunkedArray) -> pa.Array:
    """The chunks with one dictionary for all; Arrow itself brings none together that list a gap."""
    dictionaries = [_plain_dictionary(chunk) for chunk in column.chunks]
    levels = pa.concat_arrays(dictionaries).drop_null().unique()
    indices = [
        pc.index_in(dictionary, levels).take(chunk.indices)
        for dictionary, chunk in zip(dictionaries, column.chunks, strict=True)
    ]
    return of_kind(pa.DictionaryArray.from_arrays(pa.concat_arrays(indices), levels), column.type)


def declared(values: pa.Array, variable: Variable) -> pa.Array | None:
    """Declared levels as a dictionary of just these; None where none are declared, or a value is not among them.

    The dictionary that a file is read into lists all its values in the order of the records. It must not reach a
    release: it would hold values that no synthetic record has.
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
    """:func:`only_drawn` of one value per level, the gap last, where the distinct values are known in their order."""
    if not pa.types.is_dictionary(values.type) or values.type.ordered:
        return values
    known = plain(values)[: len(levels)]
    if known.type != levels.type or not known.equals(levels):
        return only_drawn(values)
    gaps = pa.nulls(len(values) - len(known), pa.int32())
    places = pa.concat_arrays([from_numpy(np.arange(len(known), dtype=np.int32)), gaps])
    return pa.DictionaryArray.from_arrays(places.cast(values.type.index_type), known.cast(values.type.value_type))


def only_drawn(values: pa.Array) -> pa.Array:
    """A dictionary of the values that were drawn, in ascending order; one whose order is declared stays whole."""
    if not pa.types.is_dictionary(values.type) or values.type.ordered:
        return values
    dictionary = _plain_dictionary(values)
    drawn = dictionary.take(values.indices.unique().drop_null()).drop_null().unique()
    drawn = drawn.take(pc.sort_indices(drawn))
    place = pc.index_in(dictionary, drawn).cast(values.type.index_type)
    return pa.DictionaryArray.from_arrays(place.take(values.indices), drawn.cast(values.type.value_type))
