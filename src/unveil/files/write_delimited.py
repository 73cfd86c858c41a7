"""Write delimited text in the spelling of the original."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
import pyarrow.compute as pc

from unveil.files.arrays import text_array, unified
from unveil.files.distinct import PER_SECOND
from unveil.files.form import Spelling, TextForm
from unveil.files.notation import AmountNotation, with_day_notation, with_thousands

BLOCK = 1 << 16
ZONE = re.compile(r"(Z|[+-][0-9]{2}:?[0-9]{2})$")
WIDTH_OF_DATE = len("2020-01-05")
# As values of Arrow: for text of Python it would load pandas, where there is one.
_QUOTE, _NOTHING = text_array(['"', ""])


def write_delimited(table: pa.Table, path: Path, form: TextForm) -> None:
    """Write a table as delimited text; text in quotes, so that an empty one is not a gap.

    Parameters
    ----------
    table
        The records, one value each.
    path
        Path of the file; compressed with gzip if it ends with .gz.
    form
        Delimiter, decimal sign, encoding and spelling.
    """
    fields = [_fields(table.column(name), form, form.columns.get(name, Spelling())) for name in table.column_names]
    header = form.delimiter.join(_quoted(text_array(table.column_names)).to_pylist())
    with (
        path.open("wb") as raw,
        io.TextIOWrapper(_packed(raw) if path.suffix == ".gz" else raw, form.encoding, newline="") as text,
    ):
        text.write(f"{header}\n")
        for start in range(0, table.num_rows, BLOCK):
            block = [field.slice(start, BLOCK) for field in fields]
            text.write(
                "\n".join([*pc.binary_join_element_wise(*block, text_array([form.delimiter])[0]).to_pylist(), ""])
            )


def _packed(raw: IO[bytes]) -> IO[bytes]:
    """A stream that packs what is written to it; without name and time inside, the same records give the same file."""
    import gzip

    return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=raw, mtime=0))


def _fields(column: pa.ChunkedArray, form: TextForm, spelling: Spelling) -> pa.Array:
    """Return the column as text of the file; gaps are text too."""
    if pa.types.is_null(column.type):
        return pa.array([spelling.gap] * len(column), pa.string())
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    coded = unified(column if pa.types.is_dictionary(column.type) else column.dictionary_encode())
    if not coded.num_chunks:
        return pa.nulls(0, pa.string())
    chunk = coded.chunk(0)
    return pc.fill_null(pc.take(_texts(chunk.dictionary, form, spelling), chunk.indices), text_array([spelling.gap])[0])


def _texts(values: pa.Array, form: TextForm, spelling: Spelling) -> pa.Array:
    """Return distinct values as they are written."""
    kind = values.type
    if pa.types.is_floating(kind):
        return _numbers(pc.if_else(pc.is_nan(values), None, values), form, spelling, spelling.decimals)
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return _numbers(values, form, spelling, 0)
    if pa.types.is_boolean(kind):
        return pc.if_else(values, *spelling.truths)
    if pa.types.is_timestamp(kind):
        return _days(_moments(values, spelling.moment), spelling)
    if pa.types.is_duration(kind):
        return _numbers(_seconds(values), form, spelling, 0)
    texts = values.cast(pa.string())
    return _days(texts, spelling) if pa.types.is_date(kind) else _quoted(texts)


def _days(texts: pa.Array, spelling: Spelling) -> pa.Array:
    """Return ISO days in the notation of the file."""
    days = spelling.days
    if days is None:
        return texts
    return _each(texts, lambda text: with_day_notation(text, days))


def _quoted(texts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(_QUOTE, pc.replace_substring(texts, '"', '""'), _QUOTE, _NOTHING)


def _numbers(values: pa.Array, form: TextForm, spelling: Spelling, decimals: int) -> pa.Array:
    texts = values.cast(pa.string())
    if decimals:
        texts = _each(texts, lambda text: _padded(text, decimals))
    if spelling.plus:
        texts = pc.replace_substring_regex(texts, r"^([0-9.]*[1-9])", r"+\1")
    amounts = spelling.amounts or AmountNotation(form.decimal, "")
    if amounts.thousands or amounts.decimal != ".":
        texts = _each(texts, lambda text: _in_notation(text, amounts))
    return _quoted(texts) if form.delimiter in (amounts.decimal, amounts.thousands) else texts


def _each(texts: pa.Array, written: Callable[[str], str]) -> pa.Array:
    """Return the texts, each as a function writes it; gaps stay."""
    return pa.array([None if text is None else written(text) for text in texts.to_pylist()], pa.string())


def _in_notation(text: str, amounts: AmountNotation) -> str:
    """Return a number with the signs of decimals and thousands; numbers with an exponent get no thousands."""
    whole, point, fraction = text.partition(".")
    if amounts.thousands and "e" not in text:
        whole = with_thousands(whole, amounts.thousands)
    return whole + (amounts.decimal if point else "") + fraction


def _seconds(values: pa.Array) -> pa.Array:
    """Return durations as numbers of seconds, as they are read."""
    each = PER_SECOND[values.type.unit]
    counts = values.cast(pa.int64()).to_pylist()
    return pa.array([None if n is None else n / each if n % each else n // each for n in counts], pa.float64())


def _padded(text: str, decimals: int) -> str:
    """Return a number with zeros added up to the decimals; infinities and numbers with an exponent stay."""
    if not text[-1:].isdigit() or "e" in text:
        return text
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction.ljust(decimals, '0')}"


def _moments(values: pa.Array, like: str | None) -> pa.Array:
    if like is None:
        return _in_the_coarsest_unit(values).cast(pa.string())
    zone = ZONE.search(like[WIDTH_OF_DATE:])
    length = len(like) - (len(zone[0]) if zone else 0)
    texts = values.cast(pa.timestamp("us", values.type.tz)).cast(pa.timestamp("us")).cast(pa.string())
    texts = pc.utf8_slice_codeunits(texts, 0, length)
    if "T" in like:
        texts = pc.replace_substring(texts, " ", "T")
    return pc.binary_join_element_wise(texts, "Z", "") if zone else texts


def _in_the_coarsest_unit(values: pa.Array) -> pa.Array:
    """Return times in the coarsest unit that holds them, so that no extra zeros are written."""
    for unit in ("s", "ms", "us"):
        with suppress(pa.ArrowInvalid):
            return values.cast(pa.timestamp(unit, values.type.tz))
    return values
