"""Columns of delimited text that hold plain whole numbers only, which a parser reads sooner than their text.

A number does not tell how it was written: ``007`` and ``7`` are different codes. Whether all were written in the
one plain way follows from the size of the file. Any other notation of a number below 10^9 (zeros or blanks before it,
-0, hexadecimal) is longer, so the lengths of all fields, written plainly, add up to the file only if they are written
so.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.core import loop
from unveil.files.arrays import buffer_view, flags, from_numpy
from unveil.files.dialect import Dialect
from unveil.files.quotes import CheckedText

_PLAIN = re.compile(r"-?[1-9][0-9]{0,8}|0|")
_LARGEST = 10**9
_FEW = 1000
"""Records from which on it is worth trying."""
_MANY_DISTINCT = 0.5
_SMALL_RANGE = 1 << 16
_tally_places = loop("tally_places", int, np.int32, int, np.int64)


class OtherThanNumbersError(Exception):
    """A column that looked like whole numbers holds something else."""


def whole_number_columns(form: Dialect) -> list[str]:
    """Names of the columns that hold plain whole numbers or nothing in the first records.

    None where the size of the file could not tell how they are written.
    """
    sample = [record for record in form.sample if len(record) == form.width]
    if len(sample) < _FEW or form.row_names or form.width < 2 or set(form.missing) != {""}:
        return []
    return [
        name for name, values in zip(form.names, zip(*sample, strict=True), strict=True)
        if any(values) and all(map(_PLAIN.fullmatch, set(values)))
    ]  # fmt: skip


def with_texts(table: pa.Table, numbers: Collection[str]) -> pa.Table:
    """The table with whole numbers as their plain texts.

    Raises
    ------
    OtherThanNumbersError
        If a number is too large for the file's size to tell how it was written.
    """
    for name in numbers:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, _as_text(table.column(at)))
    return table


def has_nothing_else(table: pa.Table, text: CheckedText, form: Dialect) -> bool:
    """Whether the fields of a table, written plainly, fill the file from which it was read."""
    if not text.obeys or text.lines != len(table) + 1:
        return False
    delimiters = len(table) * (form.width - 1)
    return text.in_records == delimiters + sum(map(_n_bytes, table.columns))


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers as text: a dictionary, or plain text where most of them differ."""
    ends = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is not None and max(-low, high) >= _LARGEST:
        raise OtherThanNumbersError
    if low is None or high - low > max(_SMALL_RANGE, 2 * len(column)):
        return column.cast(pa.string())
    held = np.zeros(high - low + 2, bool)
    codes = np.empty(len(column), np.int32)
    start = 0
    for chunk in column.chunks:
        part = codes[start : start + len(chunk)]
        np.subtract(buffer_view(chunk, np.int64), low, out=part, casting="unsafe")
        if chunk.null_count:
            part[flags(chunk.is_null())] = len(held) - 1
        start += len(chunk)
    held[codes] = True
    values = np.flatnonzero(held[:-1])
    if len(values) > _MANY_DISTINCT * len(column):
        return column.cast(pa.string())
    place = np.zeros(len(held), np.int32)
    place[values] = np.arange(len(values))
    gaps = codes == len(held) - 1 if column.null_count else None
    indices = pa.array(place[codes], mask=gaps)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, from_numpy(values + low).cast(pa.string()))])


def _n_bytes(column: pa.ChunkedArray) -> int:
    """Bytes of all texts of a column, quotes left out."""
    total = 0
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):
            lengths = buffer_view(_lengths(chunk.dictionary), np.int32).astype(np.int64)
            total += int(_records(chunk.indices, len(lengths)) @ lengths)
        else:
            total += pc.sum(_lengths(chunk)).as_py() or 0
    return total


def _lengths(texts: pa.Array) -> pa.Array:
    return pc.subtract(pc.binary_length(texts), pc.count_substring(texts, '"'))


def _records(indices: pa.Array, size: int) -> NDArray[np.int64]:
    """Number of records of each value."""
    held = indices.drop_null() if indices.null_count else indices
    records = np.zeros(size, np.int64)
    _tally_places(len(held), buffer_view(held, np.int32), size, records)
    return records
