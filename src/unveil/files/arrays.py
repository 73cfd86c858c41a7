"""Bring Arrow columns of any origin to the few types that the rest of the package knows.

Every column that leaves this folder is one of: null, bool, int64, double, date32, timestamp, time, duration,
or a dictionary in one chunk (int32 indices) over text or over one of those types.

Nothing here calls ``pa.array``, ``pa.scalar`` or ``to_numpy``: they import pandas where it is installed,
which costs more than reading a small file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import DataError

TEXT = pa.dictionary(pa.int32(), pa.string())
_DIGITS_OF_A_DOUBLE = 15
_BYTES_OF_A_UUID = 16
_Number = TypeVar("_Number", bound=np.generic)


def text_array(values: Sequence[str]) -> pa.Array:
    """A text array from Python text, without gaps."""
    encoded = [value.encode() for value in values]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int32)
    np.cumsum([len(value) for value in encoded], out=offsets[1:])
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


def buffer_view(array: pa.Array, dtype: type[_Number]) -> NDArray[_Number]:
    """View a primitive Arrow array without gaps as numpy, without the detour over pandas."""
    if len(array) == 0:
        return np.empty(0, dtype=dtype)
    return np.frombuffer(array.buffers()[1], dtype=dtype, count=len(array) + array.offset)[array.offset :]


def flags(array: pa.Array) -> NDArray[np.bool_]:
    """A boolean Arrow array without gaps as numpy."""
    return buffer_view(array.cast(pa.uint8()), np.uint8).astype(bool)


def from_numpy(values: NDArray[Any]) -> pa.Array:
    """An Arrow array of the same numbers or truth values, without gaps."""
    values = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    data = np.packbits(values, bitorder="little") if values.dtype == bool else values
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


def quoted_list(values: Iterable[object], limit: int = 5) -> str:
    """Return values for a message: quoted, with commas, cut after ``limit``."""
    shown = [repr(value) for value in values]
    rest = f" and {len(shown) - limit} more" if len(shown) > limit else ""
    return ", ".join(shown[:limit]) + rest


def is_broken(value: object) -> bool:
    """Whether a text holds half a character (a lone surrogate), which no file can keep."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return True
    return False


def check_names(names: Sequence[str], label: str) -> tuple[str, ...]:
    """Return column names as a tuple; an error names the first that are repeated, broken or blank."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"{label}: the column name {quoted_list(repeated)} occurs more than once; rename or drop the repeats"
        )
    broken = [position for position, name in enumerate(names, start=1) if is_broken(name)]
    if broken:
        raise DataError(f"{label}: column {broken[0]}: its name {names[broken[0] - 1]!r} is not text; rename it")
    blank = [position for position, name in enumerate(names, start=1) if not name.strip()]
    if blank:
        raise DataError(f"{label}: column {blank[0]} has no name; give every column a name")
    return tuple(names)


def dictionary_levels(column: pa.ChunkedArray) -> tuple[Any, ...]:
    """The dictionary's values in their order, as Python values."""
    return tuple(column.chunk(0).dictionary.to_pylist()) if column.num_chunks else ()


def with_levels(column: pa.ChunkedArray, names: Mapping[str, str]) -> pa.ChunkedArray:
    """A dictionary of text with some of its levels renamed."""
    if not column.num_chunks:
        return column
    chunk = column.chunk(0)
    levels = [names.get(level, level) for level in chunk.dictionary.to_pylist()]
    return pa.chunked_array([pa.DictionaryArray.from_arrays(chunk.indices, text_array(levels))])


def declare_an_order(levels: Sequence[Any], codes: NDArray[np.integer[Any]]) -> bool:
    """Whether the order of a list of levels was declared.

    pandas lists the levels of any text in ascending order, and takes a list in the order of the records from Arrow.

    Parameters
    ----------
    levels
        The levels in their order.
    codes : (n,) integer
        Level of every record, -1 for a gap.
    """
    present, first = np.unique(codes[codes >= 0], return_index=True)
    if present.size == len(levels) and (np.diff(first) > 0).all():
        return False
    try:
        return list(levels) != sorted(levels)
    except TypeError:
        return True


def normalise(column: pa.ChunkedArray, name: str, label: str) -> pa.ChunkedArray:
    """Return the column in one of the types listed at the head of this module.

    Raises
    ------
    DataError
        If the column holds lists, records or anything else that is not one value per record.
    """
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    if pa.types.is_dictionary(column.type):
        return _plain_dictionary(column, name, label)
    return _plain(column, name, label)


def _plain_dictionary(column: pa.ChunkedArray, name: str, label: str) -> pa.ChunkedArray:
    """Return a dictionary column with int32 indices, distinct values, gaps only in the indices, and one dictionary."""
    if column.num_chunks == 1 and column.type == TEXT and not column.chunk(0).dictionary.null_count:
        dictionary = column.chunk(0).dictionary
        if len(dictionary.unique()) == len(dictionary):
            return column
    value_type = _plain(pa.chunked_array([], column.type.value_type), name, label).type
    if pa.types.is_dictionary(value_type):
        value_type = value_type.value_type
    chunks: list[pa.DictionaryArray] = []
    seen: pa.Array | None = None
    values: Any = None
    for chunk in column.chunks:
        if seen is None or not chunk.dictionary.equals(seen):
            seen, values = chunk.dictionary, _encoded(chunk.dictionary, name, label)
        if chunk.indices.type == pa.int32() and values.dictionary.equals(chunk.dictionary):
            indices = chunk.indices
        else:
            # Two values can become one (1.0 and 1), so the indices go through the values' own dictionary.
            indices = pc.take(values.indices, chunk.indices).cast(pa.int32())
        chunks.append(pa.DictionaryArray.from_arrays(indices, values.dictionary))
    return unified(pa.chunked_array(chunks, pa.dictionary(pa.int32(), value_type)))


def _encoded(values: pa.Array, name: str, label: str) -> pa.DictionaryArray:
    plain = _plain(pa.chunked_array([values]), name, label)
    if not pa.types.is_dictionary(plain.type):
        plain = plain.dictionary_encode()
    return plain.chunk(0) if plain.num_chunks else pa.nulls(0, plain.type)


def unified(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the dictionary column in one chunk, so that its codes are comparable.

    Arrow's own unification hashes every value once per chunk; where the dictionaries are already equal, as
    they mostly are, only the indices need to be joined.
    """
    if column.num_chunks < 2:
        return column
    first = column.chunk(0).dictionary
    if not all(chunk.dictionary.equals(first) for chunk in column.chunks[1:]):
        column = column.unify_dictionaries()
        first = column.chunk(0).dictionary
    indices = pa.concat_arrays([chunk.indices for chunk in column.chunks])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, first)])


def _plain(column: pa.ChunkedArray, name: str, label: str) -> pa.ChunkedArray:
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(pa.chunked_array([c.storage for c in column.chunks], kind.storage_type), name, label)
    if pa.types.is_run_end_encoded(kind):
        return _plain(pc.run_end_decode(column), name, label)
    if is_text(kind):
        return unified(column.cast(pa.string()).dictionary_encode())
    if _is_bytes(kind):
        return _bytes_as_text(column)
    if pa.types.is_decimal(kind):
        return _plain_decimal(column)
    if pa.types.is_float32(kind):
        return _widen(column)
    if pa.types.is_uint64(kind):
        return _integers_or_text(column)
    if pa.types.is_integer(kind):
        return column.cast(pa.int64())
    if pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if pa.types.is_date(kind):
        return _days(column)
    if pa.types.is_temporal(kind) and kind != pa.month_day_nano_interval():
        return column
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return column
    raise DataError(f"{label}: column {name!r} holds {kind} values, not one value per record; leave it out")


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _days(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dates as days; dates in milliseconds become times if one is not midnight or is too far away."""
    try:
        return column.cast(pa.date32())
    except pa.ArrowInvalid:
        return column.cast(pa.int64()).cast(pa.timestamp("ms"))


def _is_bytes(kind: pa.DataType) -> bool:
    is_fixed = pa.types.is_fixed_size_binary(kind)
    return bool(is_fixed or pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind))


def _bytes_as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return bytes as text: UUIDs (if all have 16 bytes) in their usual form, others as hexadecimal digits."""
    encoded = unified(column.cast(pa.binary()).dictionary_encode())
    is_uuid = all(len(one) == _BYTES_OF_A_UUID for chunk in encoded.chunks for one in chunk.dictionary.to_pylist())
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices,
            text_array([str(UUID(bytes=one)) if is_uuid else one.hex() for one in chunk.dictionary.to_pylist()]),
        )
        for chunk in encoded.chunks
    ]
    return pa.chunked_array(chunks, TEXT)


def _plain_decimal(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return decimals as integers if they are whole, else as doubles; as text if doubles would merge two of them."""
    if column.type.scale <= 0:
        return _integers_or_text(column)
    numbers = column.cast(pa.float64())
    if column.type.precision > _DIGITS_OF_A_DOUBLE and len(numbers.unique()) < len(column.unique()):
        return column.cast(pa.string()).dictionary_encode()
    return numbers


def _integers_or_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        # A number beyond 64 bits is a serial number: it keeps its digits, so that two numbers stay two.
        return unified(column.cast(pa.string()).dictionary_encode())


def _widen(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return single precision as doubles of the shortest decimals, so that 0.1 equals the 0.1 of a text file."""
    encoded = column.dictionary_encode()
    chunks = [
        pc.take(pc.cast(pc.cast(chunk.dictionary, pa.string()), pa.float64()), chunk.indices)
        for chunk in encoded.chunks
    ]
    return pa.chunked_array(chunks, pa.float64())


def whole_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return doubles as integers if all are whole: statistical packages store every number as a double."""
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def tidy_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text of fixed width without its padding; a blank text is a gap."""
    trimmed = pc.utf8_rtrim(column.cast(pa.string()), characters=" \0")
    blank = pc.equal(pc.binary_length(trimmed), pc.binary_length(text_array([""]))[0])
    gaps = pa.nulls(len(trimmed), pa.string())
    return pa.chunked_array([pc.if_else(blank.combine_chunks(), gaps, trimmed.combine_chunks())])
