"""Columns of delimited text: the type that their values have, their gaps, and how the values are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import DataError
from unveil.files.arrays import quoted_list, text_array, unified
from unveil.files.dialect import Dialect, read_records
from unveil.files.form import Spelling
from unveil.files.notation import (
    AmountNotation,
    DayNotation,
    amount_notation,
    day_notation,
    iso_days,
    mostly_in_a_notation,
    plain_amounts,
)
from unveil.files.source import Kind, Scalar
from unveil.files.text_types import (
    TRUTHS,
    decimal_commas,
    decimals_written,
    force,
    infer,
    infer_notation,
    is_usual_gap,
)
from unveil.files.value_labels import codes_of_labels
from unveil.notes import Note, warn


@dataclass(frozen=True)
class TextColumn:
    """A column as text, and the type that its values have.

    Parameters
    ----------
    name
        Name of the column.
    text
        Text by record: a dictionary in one chunk, or plain text.
    tokens
        Usual gap tokens among the values, as they are written.
    typed
        The values in their type; None where they are text.
    only_tokens
        Whether all values are usual gap tokens or gaps, and no kind is declared.
    notation
        How amounts or days are written, if not as programs write them.
    """

    name: str
    text: pa.ChunkedArray
    tokens: tuple[str, ...]
    typed: pa.ChunkedArray | None = None
    only_tokens: bool = False
    notation: AmountNotation | DayNotation | None = None

    @classmethod
    def of(cls, name: str, text: pa.ChunkedArray) -> TextColumn:
        """Return the column with its usual gap tokens."""
        text = unified(text) if pa.types.is_dictionary(text.type) else text
        values = _distinct(text)
        return cls(name, text, tuple(pc.unique(pc.filter(values, is_usual_gap(values))).to_pylist()))

    @property
    def values(self) -> pa.ChunkedArray:
        """The distinct values of a dictionary, or all values of plain text; usual gap tokens are gaps."""
        values = _distinct(self.text)
        if not self.tokens:
            return values
        masked = [pc.if_else(is_usual_gap(chunk), pa.nulls(len(chunk), pa.string()), chunk) for chunk in values.chunks]
        return pa.chunked_array(masked, pa.string())

    def with_values(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return the records with others in the place of :attr:`values`."""
        if not pa.types.is_dictionary(self.text.type):
            return values
        whole = values.combine_chunks()
        return pa.chunked_array([pc.take(whole, chunk.indices) for chunk in self.text.chunks], whole.type)


def _distinct(text: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_dictionary(text.type):
        return text
    return pa.chunked_array([text.chunk(0).dictionary] if text.num_chunks else [], pa.string())


# Types


def decimal_sign(columns: Sequence[TextColumn], form: Dialect) -> str:
    """Return "," if the delimiter is another character and some column holds decimals with commas, else "."."""
    if form.delimiter == ",":
        return "."
    commas = [decimal_commas(column.values) for column in columns]
    if "decimal" in commas:
        return ","
    has_grouped = any(
        comma is None and amount_notation(column.values) == AmountNotation(",", ".")
        for comma, column in zip(commas, columns, strict=True)
    )
    return "," if has_grouped and not any(_has_points(column) for column in columns) else "."


def _has_points(column: TextColumn) -> bool:
    """Whether the values are numbers, some with a decimal point."""
    typed = infer(column.values)
    return typed is not None and pa.types.is_floating(typed.type)


def typed_column(
    column: TextColumn,
    kind: Kind | None,
    decimal: tuple[str | None, str],
    form: Dialect,
    labels: Mapping[Scalar, str],
) -> TextColumn:
    """Return the column with its values in the type of its kind, or of the values where no kind is declared.

    Parameters
    ----------
    column
        The column as text.
    kind
        The declared kind.
    decimal
        Decimal sign that the user gave, and the one of the file.
    form
        How the file is written.
    labels
        Declared label by code.

    Raises
    ------
    DataError
        If a value is not of the declared kind.
    """
    given, sign = decimal
    notation: AmountNotation | DayNotation | None = None
    values = column.values
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
            typed, wrong, notation = force(_in_codes(values, labels, form.label, column.name), kind, sign)
        if typed is None:
            place = form.names.index(column.name) + form.row_names
            line = next(line for line, record in read_records(form) if wrong in record[place : place + 1])
            raise DataError(
                f"{form.label}: line {line}, column {column.name!r}: {wrong!r} is not a {kind} value; "
                "correct the value or the schema; if it stands for a gap, name it by the option missing"
            )
    typed = None if typed is None else column.with_values(typed)
    return replace(column, typed=typed, only_tokens=only_tokens and kind is None, notation=notation)


def _in_codes(values: pa.ChunkedArray, labels: Mapping[Scalar, str], label: str, name: str) -> pa.ChunkedArray:
    """Return the values with labels replaced by the codes that they stand for."""
    codes = codes_of_labels(pc.unique(values).drop_null().to_pylist(), labels)
    if not codes:
        return values
    _warn(f"{label}: column {name!r} holds labels of codes: they were replaced by their codes", [name])
    place = pc.index_in(values, value_set=text_array(list(codes)))
    return pc.coalesce(pc.take(text_array(list(codes.values())), place), values)


# Gaps


def settle_gaps(
    columns: Sequence[TextColumn], quoted: Mapping[str, frozenset[str]], label: str
) -> dict[str, pa.ChunkedArray]:
    """Return the final columns by name, after a decision whether usual gap tokens are gaps or levels.

    They are gaps if the other values are no text; else they stay levels, and one warning says so.

    Parameters
    ----------
    columns
        The columns with their types.
    quoted
        By column, the tokens that stand in quotes somewhere.
    label
        Name of the file in messages.
    """
    final: dict[str, pa.ChunkedArray] = {}
    levels: dict[str, list[str]] = {}
    for column in columns:
        inside = quoted.get(column.name, frozenset())
        in_text = bool(inside) if column.only_tokens else bool(inside - {""})
        if column.typed is not None and not in_text:
            final[column.name] = column.typed
            if column.tokens:
                _warn(f"{label}: column {column.name!r}: {quoted_list(column.tokens)} read as a gap", [column.name])
            continue
        is_dictionary = pa.types.is_dictionary(column.text.type)
        final[column.name] = column.text if is_dictionary else unified(column.text.dictionary_encode())
        if column.typed is not None and not column.only_tokens:
            found = quoted_list(sorted(inside))
            text = f"{label}: column {column.name!r} would hold no text but for {found} in quotes; kept as text"
            _warn(text, [column.name])
        unquoted = [token for token in column.tokens if token not in inside and token.strip()]
        if unquoted:
            levels[column.name] = unquoted
    if levels:
        tokens = sorted({token for found in levels.values() for token in found})
        text = (
            f"{label}: column {quoted_list(levels)}: {quoted_list(tokens)} kept as a level of its own; if it is a gap, "
            "add it to the texts that stand for a missing value (missing)"
        )
        _warn(text, levels)
    return final


# Spelling


def spelling_of(column: TextColumn, final: pa.ChunkedArray, decimal: str) -> Spelling:
    """Return how the values are written, where their type leaves it open."""
    gap = column.tokens[0] if column.tokens and not column.text.null_count else ""
    if column.typed is None or pa.types.is_dictionary(final.type) or pa.types.is_null(final.type):
        return Spelling()
    values = pc.ascii_trim_whitespace(column.values).drop_null()
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
    moment = None
    if pa.types.is_timestamp(final.type):
        longest = pc.max(pc.utf8_length(values)).as_py()
        moment = next(v for v in values.to_pylist() if len(v) == longest)
    return Spelling(moment=moment, gap=gap, days=days)


def _truths(texts: Sequence[str]) -> tuple[str, str]:
    """Return the words for true and false, in the letter case of the first text."""
    pairs = (("true", "false"), *TRUTHS)
    pair = next(pair for pair in pairs if texts[0].lower() in pair)
    alike = next(change for change in (str.upper, str.title, str.lower) if change(texts[0]) == texts[0])
    return alike(pair[0]), alike(pair[1])


# Warnings


def warn_points(columns: Sequence[TextColumn], label: str) -> None:
    """Warn of text that would be numbers with a point: in a file of decimal commas it may be a thousands sign."""
    for column in columns:
        if column.typed is None and infer(column.values) is not None:
            text = (
                f"{label}: column {column.name!r} holds numbers with a point where other columns have "
                "decimal commas; kept as text, give decimal= or a schema"
            )
            _warn(text, [column.name])


def warn_unsettled(columns: Sequence[TextColumn], label: str, sign: str) -> None:
    """Warn of text that looks like amounts or days, in no notation or in more than one."""
    for column in columns:
        if column.typed is not None:
            continue
        values = column.values
        if not (sign == "," and infer(values) is not None) and (unsettled := _unsettled(values)):
            _warn(f"{label}: column {column.name!r} holds {unsettled}", [column.name])


def _unsettled(values: pa.ChunkedArray) -> str | None:
    amounts = amount_notation(values)
    if amounts == "unsure":
        return (
            "numbers whose comma may be a decimal or a thousands sign; kept as text, give decimal=',' if they are "
            "decimals"
        )
    if amounts == AmountNotation(",", ""):
        return (
            "numbers with a decimal comma, the sign between the columns of this file; kept as text, give "
            "decimal=',' if they are decimals"
        )
    if day_notation(values) == "unsure":
        return "days that may have the day or the month first; kept as text, write them as YYYY-MM-DD"
    if most := mostly_in_a_notation(values):
        return (
            f"what looks like {most}, but for values in no or another notation; kept as text, declare those that are "
            "no value as missing, or correct them"
        )
    return None


def _warn(message: str, columns: Iterable[str]) -> None:
    # It may be published: a usual gap token is nobody's level, and nothing else of the file is quoted.
    warn(Note(message), columns)
