"""From one Arrow column to small integer codes and the distinct values they stand for.

Work per record is one dictionary encoding; everything that needs thought (types, gaps, equal numbers) is
decided on the distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from unveil.errors import DataError
from unveil.microdata.arrays import unified

__all__ = ["Distinct", "Family", "buffer_view", "distinct_values", "level_text"]

Codes = NDArray[np.int32]
_T = TypeVar("_T", bound=np.generic)
Family = str
"""What the values are: "number", "logical", "text", "date", "datetime", or "empty" when all are gaps."""

_SMALL_RANGE = 1 << 16


@dataclass(frozen=True)
class Distinct:
    """One column of one file: a code per record and the distinct values behind the codes.

    Parameters
    ----------
    label, column
        Names of file and column, for messages.
    family
        See :data:`Family`.
    values
        Distinct values, each held by at least one record; no gaps.
    codes : (n,) int32
        Index into ``values``; ``len(values)`` marks a gap.
    """

    label: str
    column: str
    family: Family
    values: pa.Array
    codes: Codes

    def recoded(self, family: Family, values: pa.Array, table: NDArray[np.integer]) -> Distinct:
        """The same records with old code ``k`` replaced by ``table[k]``."""
        return replace(self, family=family, values=values, codes=table.astype(np.int32)[self.codes])


def buffer_view(array: pa.Array, dtype: type[_T]) -> NDArray[_T]:
    """View a primitive Arrow array without gaps as numpy, without the detour over pandas."""
    if len(array) == 0:
        return np.empty(0, dtype=dtype)
    return np.frombuffer(array.buffers()[1], dtype=dtype, count=len(array) + array.offset)[array.offset :]


def distinct_values(column: pa.ChunkedArray, *, label: str, name: str) -> Distinct:
    """Find the distinct values of a column and code its records by them.

    Parameters
    ----------
    column
        The values of one column, of any Arrow type that holds scalars.
    label, name
        Names of file and column, for messages.

    Returns
    -------
    Distinct
        Values in order of first occurrence or of size; the order carries no meaning.

    Raises
    ------
    DataError
        If the column holds nested values (lists, structs) or bytes that are not text.
    """
    if pt.is_dictionary(column.type):
        values, codes = _decode_dictionary(column)
    elif pt.is_integer(column.type):
        values, codes = _encode_integers(column)
    elif pt.is_null(column.type):
        values, codes = pa.array([], pa.string()), np.zeros(len(column), dtype=np.int32)
    else:
        values, codes = _encode(column, label, name)
    found = Distinct(label, name, "empty", values, codes)
    return _without_unused(_classified(_without_nan(found)))


def level_text(value: object) -> str:
    """How a value is written where levels are listed, and how a number is compared with a text.

    Examples
    --------
    >>> level_text(1.0), level_text(0.1 + 0.2), level_text(True)
    ('1', '0.3', 'TRUE')
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value)


def _encode(column: pa.ChunkedArray, label: str, name: str) -> tuple[pa.Array, Codes]:
    if pt.is_nested(column.type):
        raise DataError(f"{label}: column {name!r} holds {column.type} values; only single values can be measured")
    if pt.is_float16(column.type):
        column = column.cast(pa.float32())
    try:
        if pt.is_binary(column.type) or pt.is_large_binary(column.type) or pt.is_fixed_size_binary(column.type):
            column = column.cast(pa.binary()).cast(pa.string())
        return _decode_dictionary(column.dictionary_encode())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{label}: column {name!r} of type {column.type} cannot be read as values: {error}") from None


def _decode_dictionary(column: pa.ChunkedArray) -> tuple[pa.Array, Codes]:
    array = _combined(unified(column))
    values = array.dictionary
    indices = array.indices
    if indices.null_count:
        indices = indices.fill_null(len(values))
    codes = buffer_view(indices.cast(pa.int32()), np.int32)
    if values.null_count:
        table = np.full(len(values) + 1, len(values) - values.null_count)
        table[:-1][_mask(values.is_valid())] = np.arange(len(values) - values.null_count)
        values, codes = values.drop_null(), table.astype(np.int32)[codes]
    if len(values.unique()) < len(values):
        unique = values.unique()
        table = np.append(buffer_view(pc.index_in(values, unique), np.int32), len(unique))
        values, codes = unique, table.astype(np.int32)[codes]
    return values, codes


def _encode_integers(column: pa.ChunkedArray) -> tuple[pa.Array, Codes]:
    """Integers of a small range need no hashing: the offset from the smallest is the code."""
    ends = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None:
        return pa.array([], column.type), np.zeros(len(column), dtype=np.int32)
    span = high - low + 1
    if span > max(_SMALL_RANGE, len(column) // 4):
        return _decode_dictionary(column.dictionary_encode())
    filled = column.fill_null(high + 1) if column.null_count and high + 1 < 2**31 else column
    if filled.null_count:
        return _decode_dictionary(column.dictionary_encode())
    dtype = np.dtype(column.type.to_pandas_dtype()).type
    codes = np.empty(len(column), dtype=np.int32)
    start = 0
    for chunk in filled.chunks:
        part = buffer_view(chunk, dtype)
        np.subtract(part, dtype(low), out=codes[start : start + len(part)], casting="unsafe")
        start += len(part)
    return pa.array(np.arange(low, high + 1, dtype=dtype)), codes


def _combined(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        return pa.concat_arrays(combined.chunks) if combined.num_chunks else pa.array([], column.type)
    return combined


def _mask(array: pa.Array) -> NDArray[np.bool_]:
    return buffer_view(array.cast(pa.uint8()), np.uint8).astype(bool)


def _without_nan(found: Distinct) -> Distinct:
    if not pt.is_floating(found.values.type):
        return found
    present = ~_mask(pc.is_nan(found.values))
    return found if present.all() else _keep(found, present)


def _without_unused(found: Distinct) -> Distinct:
    """Drop values that no record has: declared levels, or numbers skipped within a range."""
    used = np.zeros(len(found.values) + 1, dtype=bool)
    used[found.codes] = True
    return found if used[:-1].all() else _keep(found, used[:-1])


def _keep(found: Distinct, present: NDArray[np.bool_]) -> Distinct:
    n_kept = int(present.sum())
    table = np.full(len(present) + 1, n_kept)
    table[:-1][present] = np.arange(n_kept)
    return found.recoded(found.family, found.values.filter(pa.array(present)), table)


def _classified(found: Distinct) -> Distinct:
    kind = found.values.type
    if len(found.values) == 0:
        return replace(found, family="empty", values=pa.array([], pa.string()))
    if pt.is_boolean(kind):
        return replace(found, family="logical")
    if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind):
        return replace(found, family="number")
    if pt.is_date(kind):
        return replace(found, family="date", values=found.values.cast(pa.date32()))
    if pt.is_timestamp(kind):
        return replace(found, family="datetime")
    if pt.is_duration(kind):
        return replace(found, family="number", values=found.values.cast(pa.int64()))
    try:
        return replace(found, family="text", values=found.values.cast(pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"{found.label}: column {found.column!r} of type {kind} cannot be measured; convert it to text or numbers"
        ) from None
