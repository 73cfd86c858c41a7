"""Delimited text (CSV and its relatives): read as text, column by column, then typed by its values.

The rules never make one code of two: ``01`` is not ``1``, a quoted ``NA`` is not a gap, an integer of twenty digits is
not rounded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
from pyarrow import csv as arrow_csv

from unveil.errors import FileError, is_of_memory
from unveil.files import dialect
from unveil.files.arrays import TEXT, unified
from unveil.files.delimited_columns import (
    TextColumn,
    decimal_sign,
    settle_gaps,
    spelling_of,
    typed_column,
    warn_points,
    warn_unsettled,
)
from unveil.files.dialect import Dialect
from unveil.files.form import TextForm
from unveil.files.number_columns import OtherThanNumbersError, has_nothing_else, whole_number_columns, with_texts
from unveil.files.path_checks import no_memory
from unveil.files.quotes import CheckedText, RecordsInside
from unveil.files.source import Kind, Scalar, Source
from unveil.files.text_types import USUAL_GAPS
from unveil.notes import Note, warn

BLOCK_BYTES = 4 << 20
LARGEST_BLOCK = 1 << 30
MANY_DISTINCT = 0.9
FEW_RECORDS = 1000


def read_delimited(
    path: Path,
    label: str,
    *,
    missing: Sequence[str] = ("",),
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    labels: Mapping[str, Mapping[Scalar, str]] | None = None,
) -> Source:
    """Read a delimited text file.

    Parameters
    ----------
    path, label
        The file, and its name in messages.
    missing
        Texts that stand for a gap where they are not quoted.
    encoding, delimiter, decimal
        Character encoding, character between fields, decimal sign; by default they follow from the file.
    kinds
        Declared kinds by column: the column is read as that kind, or an error names the value that is not of it.
    labels
        By column, label by code: where numbers are declared, labels are read as their codes.

    Raises
    ------
    FileError
        If the file is not delimited text in the encoding, or a record has too few or too many fields.
    DataError
        If a column name is repeated or blank, or a value is not of the declared kind.
    """
    form = replace(dialect.find_dialect(path, label, encoding, delimiter), missing=tuple(missing))
    form, table = _parse_any(form)
    num_rows, parsed = table.num_rows, dict(zip(form.names, table.columns, strict=True))
    del table
    texts = [TextColumn.of(name, parsed.pop(name)) for name in form.names]
    sign = decimal or decimal_sign(texts, form)
    known = kinds or {}
    declared = labels or {}
    columns = [
        typed_column(text, known.get(text.name), (decimal, sign), form, declared.get(text.name, {})) for text in texts
    ]
    final = settle_gaps(columns, _quoted_tokens(columns, form), label)
    if decimal is None:
        if sign == ",":
            warn_points(columns, label)
        warn_unsettled([column for column in columns if column.name not in known], label, sign)
    written = TextForm(
        form.delimiter,
        sign,
        "utf-8-sig" if form.encoding == "utf-8" and dialect.has_mark(path) else form.encoding,
        {column.name: spelling_of(column, final[column.name], sign) for column in columns},
    )

    def as_text(name: str) -> pa.ChunkedArray:
        """Read again: only a column that meets text in another file is asked for."""
        column = TextColumn.of(name, _parse(form, [name], {name: TEXT})[0].column(name))
        return unified(column.with_values(column.values).dictionary_encode())

    return Source(label, form.names, num_rows, final.__getitem__, path=str(path), form=written, written=as_text)


def _parse_any(form: Dialect) -> tuple[Dialect, pa.Table]:
    """Return the table as text; a file that proves not to be UTF-8 is read again as Windows text."""
    try:
        table, quotes = _parse_with_numbers(form) or _parse(form, form.names, _text_types(form))
    except UnicodeError:
        if form.encoding_given or form.encoding != "utf-8":
            raise dialect.undecodable(form.label, form.encoding, dialect.undecodable_line(form)) from None
        return _parse_any(dialect.as_windows(form))
    _check_quotes(form, quotes, table.num_rows)
    return form, table


def _parse_with_numbers(form: Dialect) -> tuple[pa.Table, CheckedText] | None:
    """The table as text, where whole numbers were read as such to save time; None where they are more than that."""
    numbers = whole_number_columns(form)
    if not numbers:
        return None
    try:
        table, text = _parse(form, form.names, _text_types(form) | dict.fromkeys(numbers, pa.int64()))
        table = with_texts(table, numbers)
    except OtherThanNumbersError:
        return None
    return (table, text) if has_nothing_else(table, text, form) else None


def _text_types(form: Dialect) -> dict[str, pa.DataType]:
    """Return the type of each column: a dictionary of text, or plain text where most values differ, to save time."""
    types = dict.fromkeys(form.names, TEXT)
    if len(form.sample) >= FEW_RECORDS:
        fields = zip(*(record for record in form.sample if len(record) == form.width), strict=True)
        for name, values in zip(("", *form.names)[not form.row_names :], fields, strict=False):
            if len(set(values)) > MANY_DISTINCT * len(values):
                types[name] = pa.string()
    return types


def _parse(
    form: Dialect, names: Sequence[str], types: Mapping[str, pa.DataType], block: int = BLOCK_BYTES
) -> tuple[pa.Table, CheckedText]:
    """Return the named columns as text, and the stream that they were read from."""
    # A name that no column has.
    row_names = [" " * (1 + max(map(len, form.names)))] if form.row_names else []
    read = arrow_csv.ReadOptions(column_names=[*row_names, *form.names], skip_rows_after_names=1, block_size=block)
    # With one column an empty line is a record whose value is a gap.
    parse = arrow_csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True, ignore_empty_lines=form.width > 1)
    convert = arrow_csv.ConvertOptions(
        column_types=types,
        include_columns=list(names),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=list(form.missing),
    )
    try:
        with dialect.open_bytes(form.path) as raw:
            text = CheckedText(raw, form.encoding, form.delimiter, form.label)
            return arrow_csv.read_csv(pa.PythonFile(text, mode="r"), read, parse, convert), text
    except UnicodeError:
        raise
    except MemoryError:
        raise no_memory(form.label) from None
    except pa.ArrowInvalid as error:
        if pa.int64() in types.values() and "conversion error to int64" in str(error):
            raise OtherThanNumbersError from None
        if "UTF8" in str(error):
            raise UnicodeError(str(error)) from None
        if _has_header_only(form):
            return pa.schema([(name, types[name]) for name in names]).empty_table(), text
        if "straddling" in str(error) and block < LARGEST_BLOCK:  # a record is longer than that
            return _parse(form, names, types, 16 * block)
        _raise_malformed(form, error)
    except dialect.UNREADABLE as error:
        raise dialect.unreadable(form.label, error) from None
    except pa.ArrowException as error:
        raise (no_memory(form.label) if is_of_memory(error) else error) from None


def _raise_malformed(form: Dialect, error: Exception) -> NoReturn:
    """Name the line that is wrong; the parser does not know it."""
    for line, record in dialect.read_records(form, strict=True):
        if len(record) not in (form.width, 0):
            raise FileError(
                f"{form.label}: line {line} has {len(record)} fields, the header has {form.width}; "
                "check the delimiter and the quotes"
            ) from None
    raise dialect.unreadable(form.label, error) from None


def _has_header_only(form: Dialect) -> bool:
    return not form.sample and sum(1 for _ in dialect.read_records(form)) == 1


def _check_quotes(form: Dialect, text: CheckedText, num_rows: int) -> None:
    """Warn if a quote may have swallowed records: it is never closed, or closed by the quote of another field.

    A quote inside of a field that does not begin with one is part of its text.
    """
    if text.obeys and text.lines == num_rows + 1:
        return  # no field goes over several lines
    like_records = RecordsInside(form)
    for line, record in dialect.read_records(form, strict=True):
        like_records.look(line, record)
    if like_records.first is not None:
        said = (
            f"{form.label}: line {like_records.first}: a field in quotes goes over several lines, each of which looks "
            "like a record; if a quote was left open there, close it"
        )
        warn(Note(said), ())


def _quoted_tokens(columns: Sequence[TextColumn], form: Dialect) -> dict[str, frozenset[str]]:
    """Return for each column the usual gap tokens that stand in quotes somewhere: those are text, not gaps.

    What is empty without quotes was a gap already, if the empty text stands for one. For the other tokens the file is
    read again, unless none of them stands in quotes anywhere.
    """
    sure = frozenset({""}) & frozenset(form.missing)
    quoted = {column.name: sure & frozenset(column.tokens) for column in columns}
    names = [column.name for column in columns if not sure.issuperset(column.tokens)]
    if not _holds_any(form, {f'"{token}"' for column in columns for token in column.tokens if token not in sure}):
        return quoted
    form = replace(form, missing=(*form.missing, "", *USUAL_GAPS))
    table, _ = _parse(form, names, dict.fromkeys(names, TEXT))
    left = {name: TextColumn.of(name, table.column(name)).tokens for name in names}
    return quoted | {name: frozenset(tokens) & {"", *USUAL_GAPS} for name, tokens in left.items()}


def _holds_any(form: Dialect, texts: Collection[str]) -> bool:
    """Whether the file holds one of some texts anywhere."""
    wanted = [text.encode() for text in texts]
    longest = max(map(len, wanted), default=0)
    with dialect.open_bytes(form.path) as raw:
        text, before = CheckedText(raw, form.encoding, form.delimiter, form.label), b""
        while wanted and (block := text.read(BLOCK_BYTES)):
            together = before + block
            if any(one in together for one in wanted):
                return True
            before = together[1 - longest :]
    return False
