"""From one Arrow column to small integer codes and the distinct values they stand for.

Work per record is one dictionary encoding; everything that needs thought (types, gaps, equal numbers) is
decided on the distinct values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from unveil.errors import DataError
from unveil.files.arrays import buffer_view, flags, from_numpy, text_array, unified
from unveil.files.counts import held_codes
from unveil.files.form import TextForm
from unveil.files.notation import AmountNotation, DayNotation
from unveil.files.source import DerivedColumns, Kind, Source

Codes = NDArray[np.int32]
Family = str
"""What the values are: "number", "logical", "text", "date", "datetime", or "empty" when all are gaps."""
KIND_OF_FAMILY: dict[Family, Kind] = {
    "number": "numeric",
    "text": "categorical",
    "logical": "logical",
    "date": "date",
    "datetime": "datetime",
    "empty": "categorical",
}
"""Kind of a column by the family of its values, if no kind is declared."""

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""Number of units in a second, by unit; durations are numbers of seconds in this package."""

_SMALL_RANGE = 1 << 16
_WIDEST = 2
"""Number of whole numbers per record up to which a range is counted directly."""


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
    was_duration
        Whether the file holds durations; the values are numbers of seconds.
    notation
        How amounts or days are written in the file, if not as programs write them.
    written
        Function that reads the column again as text; None unless the file is delimited text.
    of_records
        Whether there is a code per record of the file, and not per value that some have.
    places : (n,) intp or None
        Where the records of a part stand in the whole file, for messages; None for a whole file.
    """

    label: str
    column: str
    family: Family
    values: pa.Array
    codes: Codes
    was_duration: bool = False
    notation: AmountNotation | DayNotation | None = None
    written: Callable[[], Distinct] | None = field(default=None, repr=False, compare=False)
    of_records: bool = True
    places: NDArray[np.intp] | None = field(default=None, repr=False, compare=False)

    def recoded(self, family: Family, values: pa.Array, table: NDArray[np.integer]) -> Distinct:
        """Return the same records with old code ``k`` replaced by ``table[k]``."""
        return replace(self, family=family, values=values, codes=table.astype(np.int32).take(self.codes))

    def where(self, code: int) -> str:
        """Column, and where it is known the first record, with a value; for messages."""
        if not self.of_records:
            return f"column {self.column!r}"
        holding = np.flatnonzero(self.codes == code)
        record = int(holding[0] if self.places is None else self.places[holding].min())
        return f"column {self.column!r}, record {record + 1}"

    def part(self, records: NDArray[np.intp]) -> Distinct:
        """The column of some records."""
        whole = self.written
        text = None if whole is None else lambda: whole().part(records)
        places = records if self.places is None else self.places[records]
        return classified(_without_unused(replace(self, codes=self.codes[records], written=text, places=places)))


def distinct_values(column: pa.ChunkedArray, *, label: str, name: str) -> Distinct:
    """Return the distinct values of a column, and its records coded by them.

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
        values, codes = pa.nulls(0, pa.string()), np.zeros(len(column), dtype=np.int32)
    else:
        values, codes = _encode(column, label, name)
    found = Distinct(label, name, "empty", values, codes)
    return _without_unused(classified(_without_nan(found)))


def distinct_of(source: Source, name: str) -> Distinct:
    """Return the distinct values of a column of a file, with their notation.

    They are found once, and kept with the file. What a file has from another one is taken from there.

    Raises
    ------
    DataError
        As :func:`distinct_values`.
    """
    _, kept = source.coded
    if name not in kept:
        kept[name] = _coded(source, name)
    found: Distinct = kept[name]
    return found if found.label == source.label else replace(found, label=source.label)


def _coded(source: Source, name: str) -> Distinct:
    made = source.fetch
    if not isinstance(made, DerivedColumns) or name in made.columns:
        return _read(source, name)
    found = distinct_of(made.source, name)
    return found if made.records is None else found.part(made.records)


def _read(source: Source, name: str) -> Distinct:
    found = distinct_values(source.column(name), label=source.label, name=name)
    form = source.form
    if found.family == "text" or source.written is None or not isinstance(form, TextForm):
        return found
    spelling, read = form.columns.get(name), source.written

    @cache
    def written() -> Distinct:
        return distinct_values(read(name), label=source.label, name=name)

    notation = None if spelling is None else spelling.amounts or spelling.days
    return replace(found, notation=notation, written=written)


def level_text(value: object) -> str:
    """Return the text of a value in lists of levels; it also serves to compare a number with text.

    Examples
    --------
    >>> level_text(1.0), level_text(0.1 + 0.2), level_text(-0.0), level_text(True)
    ('1', '0.3', '0', 'TRUE')
    """
    if isinstance(value, bool | np.bool_):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float | np.floating):
        real = float(value)
        return str(int(real)) if real.is_integer() and abs(real) <= 2**53 else f"{real:.15g}"
    if isinstance(value, datetime):
        zone = "" if value.tzinfo is None else "Z"
        value = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return _plain_time(value.isoformat(" ")) + zone
    return str(value)


def python_values(levels: pa.Array) -> list[Any]:
    """Return levels as Python values; a date or time that Python cannot hold as text.

    Examples
    --------
    >>> python_values(pa.array([0, 10**8], pa.int32()).cast(pa.date32()))
    [datetime.date(1970, 1, 1), '<value out of range: 100000000>']
    """
    try:
        values: list[Any] = levels.to_pylist()
    except (OverflowError, ValueError):
        values = []
        for one in (levels.slice(i, 1) for i in range(len(levels))):
            try:
                values += one.to_pylist()
            except (OverflowError, ValueError):
                values += level_texts(one)
    return values


def level_texts(levels: pa.Array) -> list[str]:
    """Return the text of each level; that of a time does not depend on the unit that it is stored in.

    Examples
    --------
    >>> level_texts(pa.array([0, 86_400_500], pa.timestamp("ms")))
    ['1970-01-01 00:00:00', '1970-01-02 00:00:00.500']
    """
    if pt.is_timestamp(levels.type) or pt.is_time(levels.type):
        return [_plain_time(text) for text in levels.cast(pa.string()).to_pylist()]
    if pt.is_temporal(levels.type):
        return [str(text) for text in levels.cast(pa.string()).to_pylist()]
    return [level_text(value) for value in levels.to_pylist()]


def _plain_time(text: str) -> str:
    """Return a time without trailing zeros of its fraction, in groups of three digits."""
    clock, zone = (text[:-1], "Z") if text.endswith("Z") else (text, "")
    whole, _, fraction = clock.partition(".")
    while fraction.endswith("000"):
        fraction = fraction[:-3]
    return whole + ("." + fraction if fraction else "") + zone


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
    codes = buffer_view(indices.cast(pa.int32()), np.int32)
    if indices.null_count:
        codes = np.where(flags(indices.is_null()), np.int32(len(values)), codes)
    if values.null_count:
        values, codes = values.drop_null(), _places(flags(values.is_valid()))[codes]
    if len(values.unique()) < len(values):
        unique = values.unique()
        table = np.append(buffer_view(pc.index_in(values, unique), np.int32), len(unique))
        values, codes = unique, table.astype(np.int32)[codes]
    return values, codes


def _encode_integers(column: pa.ChunkedArray) -> tuple[pa.Array, Codes]:
    """Code integers; a small range needs no hashing, the offset from the smallest is the code."""
    if column.null_count == len(column):
        return pa.nulls(0, column.type), np.zeros(len(column), dtype=np.int32)
    dtype = np.dtype(column.type.to_pandas_dtype()).type
    low, high = _ends(column, dtype)
    span = high - low + 1
    if span > max(_SMALL_RANGE, _WIDEST * len(column)):
        return _decode_dictionary(column.dictionary_encode())
    codes = np.empty(len(column), dtype=np.int32)
    start = 0
    for chunk in column.chunks:
        part = codes[start : start + len(chunk)]
        np.subtract(buffer_view(chunk, dtype), dtype(low), out=part, casting="unsafe")
        if chunk.null_count:
            part[flags(chunk.is_null())] = span
        start += len(chunk)
    return from_numpy(np.arange(low, high + 1, dtype=dtype)), codes


def _ends(column: pa.ChunkedArray, dtype: type[np.integer]) -> tuple[int, int]:
    """Return the smallest and the largest integer; NumPy tells sooner than Arrow where there are no gaps."""
    if column.null_count:
        ends = pc.min_max(column)
        return ends["min"].as_py(), ends["max"].as_py()
    parts = [buffer_view(chunk, dtype) for chunk in column.chunks if len(chunk)]
    return min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)


def _combined(column: pa.ChunkedArray) -> pa.Array:
    if not column.num_chunks:  # Arrow cannot combine zero chunks of some dictionaries
        return pa.nulls(0, column.type)
    if column.num_chunks == 1:  # which Arrow would copy
        return column.chunk(0)
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def _without_nan(found: Distinct) -> Distinct:
    if not pt.is_floating(found.values.type):
        return found
    present = ~flags(pc.is_nan(found.values))
    return found if present.all() else _keep(found, present)


def _without_unused(found: Distinct) -> Distinct:
    """Drop values that no record has: declared levels, or numbers left out within a range."""
    used = held_codes(found.codes, len(found.values) + 1)[:-1]
    return found if used.all() else _keep(found, used)


def _keep(found: Distinct, present: NDArray[np.bool_]) -> Distinct:
    return found.recoded(found.family, found.values.filter(from_numpy(present)), _places(present))


def _places(kept: NDArray[np.bool_]) -> Codes:
    """Return by value (v + 1,), the gap last, its new code; a value that is not kept becomes a gap."""
    n_kept = np.count_nonzero(kept)
    return np.append(np.where(kept, np.cumsum(kept) - 1, n_kept), n_kept).astype(np.int32)


def classified(found: Distinct) -> Distinct:
    """Return the same column with the family of its values."""
    kind = found.values.type
    if len(found.values) == 0:
        return replace(found, family="empty", values=pa.nulls(0, pa.string()))
    if pt.is_boolean(kind):
        return replace(found, family="logical")
    if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind):
        return replace(found, family="number")
    if pt.is_date(kind):
        return replace(found, family="date", values=found.values.cast(pa.date32()))
    if pt.is_timestamp(kind):
        return replace(found, family="datetime")
    if pt.is_duration(kind):
        seconds = buffer_view(found.values.cast(pa.int64()), np.int64) / PER_SECOND[kind.unit]
        return replace(found, family="number", values=from_numpy(seconds), was_duration=True)
    if pt.is_time(kind):
        return replace(found, family="text", values=text_array(level_texts(found.values)))
    try:
        return replace(found, family="text", values=found.values.cast(pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"{found.label}: column {found.column!r} of type {kind} cannot be measured; convert it to text or numbers"
        ) from None
