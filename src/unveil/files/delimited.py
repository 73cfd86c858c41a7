"""Delimited text (CSV and its relatives) read column by column as text, then typed by what the values are.

The rules are chosen so that no two different codes ever become one: ``01`` is not ``1``, a quoted ``NA`` is
not a gap, an integer of twenty digits is not rounded.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from unveil.errors import DataError, FileError, UnveilWarning
from unveil.files import dialect
from unveil.files.arrays import TEXT, quoted_list, text_array, unified
from unveil.files.dialect import Dialect
from unveil.files.form import Spelling, TextForm
from unveil.files.notation import (
    AmountNotation,
    DayNotation,
    amount_notation,
    day_notation,
    iso_days,
    mostly_in_a_notation,
    plain_amounts,
)
from unveil.files.path_checks import is_of_memory, no_memory
from unveil.files.quotes import CheckedText, RecordsInside
from unveil.files.source import Kind, Scalar, Source
from unveil.files.text_types import (
    TRUTHS,
    USUAL_GAPS,
    decimal_commas,
    decimals_written,
    force,
    infer,
    infer_notation,
    is_usual_gap,
)
from unveil.files.value_labels import codes_of_labels
from unveil.notes import Note

BLOCK_BYTES = 4 << 20
LARGEST_BLOCK = 1 << 30
MANY_DISTINCT = 0.9
FEW_RECORDS = 1000


@dataclass(frozen=True)
class _Column:
    """A column as text, the type its values would have, and the usual gap tokens among them."""

    name: str
    text: pa.ChunkedArray
    typed: pa.ChunkedArray | None
    tokens: tuple[str, ...]
    only_tokens: bool
    notation: AmountNotation | DayNotation | None = None


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
        What stands for a gap where it is not quoted.
    encoding, delimiter, decimal
        Found in the file where not given.
    kinds
        Declared kinds by column: the column is read as that kind, or an error says which value is not.
    labels
        By column, label by code: where numbers are declared, labels are read as their codes.

    Raises
    ------
    FileError
        If the file is not delimited text in the encoding, or a record has too few or too many fields.
    DataError
        If a column name is repeated or blank, or a value is not of the declared kind.
    """
    form = dialect.find_dialect(path, label, encoding, delimiter)
    form, table = _parse_any(form, tuple(missing))
    columns = {name: table.column(name) for name in form.names}
    num_rows = table.num_rows
    del table
    sign = decimal or _decimal_sign(columns, form)
    known = kinds or {}
    declared = labels or {}
    settled = [
        _type_column(name, columns.pop(name), known.get(name), (decimal, sign), form, declared.get(name, {}))
        for name in form.names
    ]
    second = _unquoted_gaps([c for c in settled if c.tokens], form, tuple(missing))
    final = _settle_gaps(settled, second, label)
    if sign == "," and decimal is None:
        _warn_points(settled, label)
    if decimal is None:
        _warn_unsettled([column for column in settled if column.name not in known], form, sign)
    written = TextForm(
        form.delimiter,
        sign,
        "utf-8-sig" if form.encoding == "utf-8" and dialect.has_mark(path) else form.encoding,
        {column.name: _spelling(column, final[column.name], sign) for column in settled},
    )

    def as_text(name: str) -> pa.ChunkedArray:
        """Read again: only a column that meets text in another file is asked for."""
        column = _unified(_parse(form, tuple(missing), [name], {name: TEXT}).column(name))
        return unified(_with_values(column, _without_gaps(_distinct(column))[0]).dictionary_encode())

    return Source(label, form.names, num_rows, final.__getitem__, path=str(path), form=written, written=as_text)


# Reading as text


def _parse_any(form: Dialect, missing: tuple[str, ...]) -> tuple[Dialect, pa.Table]:
    """The table as text; a file that proves not to be UTF-8 is read again as Windows text."""
    try:
        table, quotes = _parse_checked(form, missing, form.names, _text_types(form))
    except UnicodeError:
        if form.encoding_given or form.encoding != "utf-8":
            raise dialect.undecodable(form.label, form.encoding, dialect.undecodable_line(form)) from None
        return _parse_any(dialect.as_windows(form), missing)
    _check_quotes(form, quotes, table.num_rows)
    return form, table


def _text_types(form: Dialect) -> dict[str, pa.DataType]:
    """Text as a dictionary, but plain where most values differ: a dictionary of them would only cost time."""
    types = dict.fromkeys(form.names, TEXT)
    if len(form.sample) >= FEW_RECORDS:
        fields = zip(*(record for record in form.sample if len(record) == form.width), strict=True)
        for name, values in zip(("", *form.names)[not form.row_names :], fields, strict=False):
            if len(set(values)) > MANY_DISTINCT * len(values):
                types[name] = pa.string()
    return types


def _parse(form: Dialect, missing: tuple[str, ...], names: Sequence[str], types: Mapping[str, pa.DataType]) -> pa.Table:
    return _parse_checked(form, missing, names, types)[0]


def _parse_checked(
    form: Dialect,
    missing: tuple[str, ...],
    names: Sequence[str],
    types: Mapping[str, pa.DataType],
    block: int = BLOCK_BYTES,
) -> tuple[pa.Table, CheckedText]:
    row_names = (_free_name(form.names),) if form.row_names else ()
    try:
        with dialect.open_bytes(form.path) as raw:
            text = CheckedText(raw, form.encoding, form.delimiter, form.label)
            return arrow_csv.read_csv(
                pa.PythonFile(text, mode="r"),
                read_options=arrow_csv.ReadOptions(
                    column_names=[*row_names, *form.names],
                    skip_rows_after_names=1,
                    block_size=block,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=form.delimiter,
                    newlines_in_values=True,
                    # With one column an empty line is a record whose value is a gap.
                    ignore_empty_lines=form.width > 1,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(names),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    null_values=list(missing),
                ),
            ), text
    except UnicodeError:
        raise
    except MemoryError:
        raise no_memory(form.label) from None
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):
            raise UnicodeError(str(error)) from None
        if _has_header_only(form):
            return pa.schema([(name, types[name]) for name in names]).empty_table(), text
        if "straddling" in str(error) and block < LARGEST_BLOCK:  # a record is longer than that
            return _parse_checked(form, missing, names, types, 16 * block)
        _raise_malformed(form, error)
    except dialect.UNREADABLE as error:
        raise dialect.unreadable(form.label, error) from None
    except pa.ArrowException as error:
        raise (no_memory(form.label) if is_of_memory(error) else error) from None


def _free_name(names: Sequence[str]) -> str:
    """A name that no column has."""
    return " " * (1 + max(len(name) for name in names))


def _raise_malformed(form: Dialect, error: Exception) -> NoReturn:
    """Say which line is wrong; the parser does not know."""
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
    """See that no quote has swallowed records: one that is never closed, or closed by the quote of another field.

    A quote inside of a field that does not begin with one is part of its text.
    """
    if text.obeys and text.lines == num_rows + 1:
        return  # no field goes over several lines
    like_records = RecordsInside(form)
    for line, record in dialect.read_records(form, strict=True):
        like_records.look(line, record)
    if like_records.first is not None:
        _warn(
            f"{form.label}: line {like_records.first}: a field in quotes goes over several lines, each of which looks "
            "like a record; if a quote was left open there, close it",
            (),
        )


# Typing


def _distinct(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The distinct values of a dictionary column; of a plain one, all its values."""
    if not pa.types.is_dictionary(column.type):
        return column
    return pa.chunked_array([column.chunk(0).dictionary] if column.num_chunks else [], pa.string())


def _unified(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return unified(column) if pa.types.is_dictionary(column.type) else column


def _with_values(column: pa.ChunkedArray, values: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column with each distinct value replaced."""
    if not pa.types.is_dictionary(column.type):
        return values
    whole = values.combine_chunks()
    return pa.chunked_array([pc.take(whole, chunk.indices) for chunk in column.chunks], whole.type)


def _without_gaps(values: pa.ChunkedArray) -> tuple[pa.ChunkedArray, tuple[str, ...]]:
    """The values with usual gap tokens made gaps, and which tokens those were."""
    is_gap = is_usual_gap(values)
    if not pc.any(is_gap).as_py():
        return values, ()
    tokens = pc.unique(pc.filter(values, is_gap)).to_pylist()
    masked = [
        pc.if_else(gap, pa.nulls(len(chunk), pa.string()), chunk)
        for gap, chunk in zip(is_gap.chunks, values.chunks, strict=True)
    ]
    return pa.chunked_array(masked, pa.string()), tuple(tokens)


def _decimal_sign(columns: Mapping[str, pa.ChunkedArray], form: Dialect) -> str:
    """A comma where the delimiter is another character and some column holds decimals with commas."""
    if form.delimiter == ",":
        return "."
    found = {}
    for name, column in columns.items():
        values, _ = _without_gaps(_distinct(_unified(column)))
        found[name] = decimal_commas(values)
    if "decimal" in found.values():
        return ","
    grouped = [column for name, column in columns.items() if found[name] is None and _has_decimal_comma(column)]
    return "," if grouped and not any(_has_points(column) for column in columns.values()) else "."


def _has_decimal_comma(column: pa.ChunkedArray) -> bool:
    """Whether the values are amounts with a point between thousands and a comma before decimals."""
    values, _ = _without_gaps(_distinct(_unified(column)))
    return amount_notation(values) == AmountNotation(",", ".")


def _has_points(column: pa.ChunkedArray) -> bool:
    """Whether the values are numbers, some with a decimal point."""
    typed = infer(_without_gaps(_distinct(_unified(column)))[0])
    return typed is not None and pa.types.is_floating(typed.type)


def _type_column(
    name: str,
    column: pa.ChunkedArray,
    kind: Kind | None,
    decimal: tuple[str | None, str],
    form: Dialect,
    labels: Mapping[Scalar, str],
) -> _Column:
    """The column as its kind or, without one, as what its values are; ``decimal`` is the sign given, and that used."""
    given, sign = decimal
    column = _unified(column)
    notation: AmountNotation | DayNotation | None = None
    values, tokens = _without_gaps(_distinct(column))
    only_tokens = values.null_count == len(values)
    if kind in ("categorical", "ordered"):
        typed = None
    elif only_tokens:
        typed = pa.chunked_array([pa.nulls(len(values))])
    elif kind is None:
        typed = infer(values, sign)
        if typed is None:
            typed, notation = infer_notation(values, given)
    else:
        typed, wrong, notation = force(values, kind, sign)
        if typed is None and labels and kind in ("numeric", "logical"):
            values = _in_codes(values, labels, form.label, name)
            typed, wrong, notation = force(values, kind, sign)
        if typed is None:
            line = next(line for line, record in dialect.read_records(form) if wrong in record[_place(name, form)])
            raise DataError(
                f"{form.label}: line {line}, column {name!r}: {wrong!r} is not a {kind} value; "
                "correct the value or the schema"
            )
    typed = None if typed is None else _with_values(column, typed)
    return _Column(name, column, typed, tokens, only_tokens and kind is None, notation)


def _in_codes(values: pa.ChunkedArray, labels: Mapping[Scalar, str], label: str, name: str) -> pa.ChunkedArray:
    """The values with labels replaced by the codes that they stand for."""
    codes = codes_of_labels(pc.unique(values).drop_null().to_pylist(), labels)
    if not codes:
        return values
    _warn(Note(f"{label}: column {name!r} holds labels of codes: they were replaced by their codes"), [name])
    place = pc.index_in(values, value_set=text_array(list(codes)))
    return pc.coalesce(pc.take(text_array(list(codes.values())), place), values)


def _place(name: str, form: Dialect) -> slice:
    start = form.names.index(name) + form.row_names
    return slice(start, start + 1)


# Gaps


def _unquoted_gaps(doubtful: Sequence[_Column], form: Dialect, missing: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """For each column, the tokens that stand in quotes somewhere: those are text, not gaps."""
    if not doubtful:
        return {}
    names = [column.name for column in doubtful]
    table = _parse(form, (*missing, "", *USUAL_GAPS), names, dict.fromkeys(names, TEXT))
    quoted = {}
    for column in doubtful:
        left = _distinct(_unified(table.column(column.name)))
        quoted[column.name] = frozenset(_without_gaps(left)[1]) & {"", *USUAL_GAPS}
    return quoted


def _settle_gaps(
    columns: Sequence[_Column], quoted: Mapping[str, frozenset[str]], label: str
) -> dict[str, pa.ChunkedArray]:
    """Gaps where the other values are no text; else the token stays a level, and one warning says so."""
    final: dict[str, pa.ChunkedArray] = {}
    levels: dict[str, list[str]] = {}
    for column in columns:
        inside = quoted.get(column.name, frozenset())
        in_text = bool(inside) if column.only_tokens else bool(inside - {""})
        if column.typed is not None and not in_text:
            final[column.name] = column.typed
            if column.tokens:
                start = f"{label}: column {column.name!r}:"
                text = Note(f"{start} {quoted_list(column.tokens)} read as a gap", f"{start} a text read as a gap")
                _warn(text, [column.name])
            continue
        final[column.name] = _as_text(column.text)
        if column.typed is not None and not column.only_tokens:
            start = f"{label}: column {column.name!r} would hold no text but for"
            found = quoted_list(sorted(inside))
            text = Note(f"{start} {found} in quotes; kept as text", f"{start} texts in quotes; kept as text")
            _warn(text, [column.name])
        unquoted = [token for token in column.tokens if token not in inside and token.strip()]
        if unquoted:
            levels[column.name] = unquoted
    if levels:
        tokens = sorted({token for found in levels.values() for token in found})
        start = f"{label}: column {quoted_list(levels)}:"
        kept = (
            "kept as a level of its own; if it is a gap, add it to the texts that stand for a missing value (missing)"
        )
        _warn(Note(f"{start} {quoted_list(tokens)} {kept}", f"{start} what looks like a gap {kept}"), levels)
    return final


def _spelling(column: _Column, final: pa.ChunkedArray, decimal: str) -> Spelling:
    """How the values are written, as far as their type leaves it open."""
    gap = column.tokens[0] if column.tokens and not column.text.null_count else ""
    if column.typed is None or pa.types.is_dictionary(final.type) or pa.types.is_null(final.type):
        return Spelling()
    values = pc.ascii_trim_whitespace(_plain_values(column)).drop_null()
    amounts = column.notation if isinstance(column.notation, AmountNotation) else None
    days = column.notation if isinstance(column.notation, DayNotation) else None
    if pa.types.is_floating(final.type) or pa.types.is_integer(final.type):
        plus = bool(pc.any(pc.starts_with(values, "+")).as_py())
        if amounts is not None:
            values, decimal = plain_amounts(values, amounts), "."
        decimals = decimals_written(values, decimal) if pa.types.is_floating(final.type) else 0
        return Spelling(decimals, gap=gap, amounts=amounts, plus=plus)
    if pa.types.is_boolean(final.type):
        return Spelling(truths=_truths(pc.unique(values).to_pylist()), gap=gap)
    if days is not None:
        values = iso_days(values, days)
    if pa.types.is_timestamp(final.type):
        longest = pc.max(pc.utf8_length(values)).as_py()
        moment = next(v for v in values.to_pylist() if len(v) == longest)
        return Spelling(moment=moment, gap=gap, days=days)
    return Spelling(gap=gap, days=days)


def _truths(texts: Sequence[str]) -> tuple[str, str]:
    """What is written for true and false, in the letter case of the first."""
    pairs = (("true", "false"), *TRUTHS)
    pair = next(pair for pair in pairs if texts[0].lower() in pair)
    alike = next(change for change in (str.upper, str.title, str.lower) if change(texts[0]) == texts[0])
    return alike(pair[0]), alike(pair[1])


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return column
    return unified(column.dictionary_encode())


def _warn_points(columns: Sequence[_Column], label: str) -> None:
    """In a file of decimal commas a point may be a thousands sign: such a column is not guessed at."""
    for column in columns:
        if column.typed is None and infer(_plain_values(column)) is not None:
            text = Note(
                f"{label}: column {column.name!r} holds numbers with a point where other columns have "
                "decimal commas; kept as text, give decimal= or a schema"
            )
            _warn(text, [column.name])


_UNSETTLED = {
    "comma": "numbers whose comma may be a decimal or a thousands sign; kept as text, give decimal=',' if they are "
    "decimals",
    "delimiter": "numbers with a decimal comma, the sign between the columns of this file; kept as text, give "
    "decimal=',' if they are decimals",
    "days": "days that may have the day or the month first; kept as text, write them as YYYY-MM-DD",
    "mostly": "what looks like {}, but for values in no or another notation; kept as text, declare those that are no "
    "value as missing, or correct them",
}


def _warn_unsettled(columns: Sequence[_Column], form: Dialect, sign: str) -> None:
    """Text that looks like amounts or days, in no notation or in more than one."""
    for column in columns:
        if column.typed is not None:
            continue
        values = _plain_values(column)
        if not (sign == "," and infer(values) is not None) and (unsettled := _unsettled(values)):
            _warn(Note(f"{form.label}: column {column.name!r} holds {unsettled}"), [column.name])


def _unsettled(values: pa.ChunkedArray) -> str | None:
    amounts = amount_notation(values)
    if amounts == "unsure":
        return _UNSETTLED["comma"]
    if amounts == AmountNotation(",", ""):
        return _UNSETTLED["delimiter"]
    if day_notation(values) == "unsure":
        return _UNSETTLED["days"]
    most = mostly_in_a_notation(values)
    return _UNSETTLED["mostly"].format(most) if most else None


def _plain_values(column: _Column) -> pa.ChunkedArray:
    values = _distinct(column.text)
    return _without_gaps(values)[0] if column.tokens else values


def _warn(message: str, columns: Iterable[str]) -> None:
    # A token that usually means a gap is no level of anybody, and nothing else of the file is quoted.
    warnings.warn(UnveilWarning(Note(message), columns), stacklevel=4)
