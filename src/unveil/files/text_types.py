"""The type of a column of text, decided from its distinct values.

Numbers are exact: if one text would lose something as a number (leading zeros, a plus sign that tells it from another
text, an integer beyond 64 bits), the whole column stays text.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.files.arrays import buffer_view, text_array
from unveil.files.notation import (
    AmountNotation,
    DayNotation,
    all_match,
    amount_notation,
    any_match,
    day_notation,
    iso_days,
    plain_amounts,
)
from unveil.files.source import Kind

USUAL_GAPS = ("NA", "NaN", "nan", "N/A", "NULL", "null", ".", "None", "<NA>", "#N/A")
"""Texts that programs write for a gap. They are gaps only if the column's other values are not text."""

INTEGER = r"^-?(0|[1-9][0-9]*)$"
DECIMAL = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
LENIENT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
COMMA = r"^-?((0|[1-9][0-9]*),[0-9]*|,[0-9]+)([eE][+-]?[0-9]+)?$"
THOUSANDS = r"^-?[1-9][0-9]{0,2}(,[0-9]{3})+$"
INFINITE = r"^-?([iI]nf|INF)(inity|INITY)?$"
LOGICAL = r"^(TRUE|True|true|FALSE|False|false)$"
TRUTHS = (("1", "0"), ("t", "f"), ("yes", "no"), ("y", "n"))
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?)?$"
ZONED = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})$"

_TIMES = {DATE: pa.date32(), MOMENT: pa.timestamp("us"), ZONED: pa.timestamp("us", "UTC")}
EXACT_DOUBLE = 2**53


def is_usual_gap(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return which values read like a gap: a usual token or blank, apart from outer blanks."""
    return pc.is_in(pc.ascii_trim_whitespace(values), value_set=text_array(["", *USUAL_GAPS]))


def infer(values: pa.ChunkedArray, decimal: str = ".") -> pa.ChunkedArray | None:
    """Return the values in the type that all of them share; None if this is text.

    Parameters
    ----------
    values
        Distinct values, or all of them; gaps are ignored and stay gaps.
    decimal
        The decimal sign of the file.
    """
    values = pc.ascii_trim_whitespace(values)
    if all_match(values, LOGICAL):
        return _logicals(values)
    for pattern, target in _TIMES.items():
        if all_match(values, pattern):
            return _cast(values, target)
    return _numbers(values, decimal)


def _cast(values: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return values.cast(target)
    except pa.ArrowInvalid:
        return None


def _logicals(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.equal(pc.utf8_lower(values), text_array(["true"])[0])


def infer_notation(
    values: pa.ChunkedArray, decimal: str | None = None
) -> tuple[pa.ChunkedArray | None, AmountNotation | DayNotation | None]:
    """Return typed amounts with signs of thousands, or days not in the order of ISO 8601, and their notation.

    Parameters
    ----------
    values
        Values for which :func:`infer` finds no type.
    decimal
        The decimal sign, if the user gave it.
    """
    days = day_notation(values)
    if isinstance(days, DayNotation):
        return infer(iso_days(values, days)), days
    amounts = amount_notation(values, decimal)
    if isinstance(amounts, AmountNotation) and amounts.thousands:
        typed = infer(plain_amounts(values, amounts))
        return typed, None if typed is None else amounts
    return None, None


def _without_plus(values: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return the values without plus signs; None if a plus sign tells two values apart."""
    if not pc.any(pc.starts_with(values, "+")).as_py():
        return values
    signed = pc.unique(pc.filter(values, pc.starts_with(values, "+")).combine_chunks())
    bare = pc.replace_substring_regex(signed, r"^[+]", "")
    if pc.any(pc.is_in(bare, value_set=pc.unique(values).drop_null())).as_py() or any_match(values, r"^[+]-"):
        return None
    return pc.replace_substring_regex(values, r"^[+]", "")


def _numbers(values: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray | None:
    unsigned = _without_plus(values)
    if unsigned is None:
        return None
    values = unsigned
    if all_match(values, INTEGER):
        return _cast(values, pa.int64())
    if decimal != ".":
        if any_match(values, r"\."):
            return None
        values = pc.replace_substring(values, decimal, ".")
    if not all_match(values, f"{DECIMAL}|{INFINITE}") or not any_match(values, DECIMAL):
        return None
    numbers = _cast(values, pa.float64())
    if numbers is None or _loses_digits(values, numbers):
        return None
    return numbers


def _loses_digits(values: pa.ChunkedArray, numbers: pa.ChunkedArray) -> bool:
    """Whether a number is too large for a double, or an integer among decimals has too many digits for one."""
    extremes = pc.min_max(numbers)
    if max(-extremes["min"].as_py(), extremes["max"].as_py()) < EXACT_DOUBLE:
        return False
    endless = pc.filter(values, pc.is_inf(numbers))
    if not all_match(endless, INFINITE):
        return True
    long = pc.match_substring_regex(values, r"^-?[0-9]{16,}\.?0*$")
    return any(abs(number) >= EXACT_DOUBLE for number in pc.filter(numbers, long).to_pylist())


def decimal_commas(values: pa.ChunkedArray) -> str | None:
    """Return what commas in the values are: "decimal", "either" (thousands are possible too), or None."""
    values = pc.ascii_trim_whitespace(values)
    if not all_match(values, f"{COMMA}|{INTEGER}|{INFINITE}") or not any_match(values, ","):
        return None
    with_comma = pc.filter(values, pc.match_substring_regex(values, ","))
    return "either" if all_match(with_comma, THOUSANDS) else "decimal"


def decimals_written(values: pa.ChunkedArray, decimal: str) -> int:
    """Return the smallest number of decimals of the written numbers; 0 if one has an exponent.

    Examples
    --------
    >>> decimals_written(pa.chunked_array([["390.0", "12.25"]]), "."), decimals_written(pa.chunked_array([["7"]]), ".")
    (1, 0)
    """
    numbers = values
    if _may_have_letters(values):
        numbers = pc.filter(values, pc.invert(pc.match_substring_regex(values, INFINITE)))
        if pc.any(pc.match_substring(numbers, "e", ignore_case=True)).as_py():
            return 0
    if not len(numbers):
        return 0
    whole = numbers.combine_chunks()
    sign = buffer_view(pc.find_substring(whole, decimal), np.int32)
    behind = buffer_view(pc.binary_length(whole), np.int32) - sign - 1
    return int(np.where(sign < 0, 0, behind).min())


def _may_have_letters(values: pa.ChunkedArray) -> bool:
    """Whether the buffers of the values hold letters; takes a tenth of the time of a pattern."""
    held = (chunk.buffers()[2] for chunk in values.chunks)
    return any(bool((np.frombuffer(bytes_, np.uint8) >= ord("A")).any()) for bytes_ in held if bytes_ is not None)


def force(
    values: pa.ChunkedArray, kind: Kind, decimal: str
) -> tuple[pa.ChunkedArray | None, str | None, AmountNotation | DayNotation | None]:
    """Return the values as the declared kind, or None; the first value that is not of it; the notation."""
    trimmed = pc.ascii_trim_whitespace(values)
    notation: AmountNotation | DayNotation | None = None
    if kind == "numeric" and decimal != ".":
        trimmed = pc.replace_substring(trimmed, decimal, ".")
    if kind == "logical":
        trimmed = _truths(trimmed)
    fits = pc.match_substring_regex(trimmed, _FORCED[kind])
    if pc.all(fits).as_py() is False:
        wrong = pc.filter(values, pc.invert(fits))[0].as_py()
        rewritten, notation = _from_notation(values, kind, decimal)
        if rewritten is None:
            return None, wrong, None
        trimmed = rewritten
    if kind == "numeric":
        trimmed = pc.replace_substring_regex(trimmed, r"^[+]", "")
    for target in _TARGETS[kind]:
        forced = _logicals(trimmed) if kind == "logical" else _cast(trimmed, target)
        if forced is not None:
            return forced, None, notation
    return None, _first_uncast(values, trimmed, _TARGETS[kind][-1]), None


def _from_notation(
    values: pa.ChunkedArray, kind: Kind, decimal: str
) -> tuple[pa.ChunkedArray | None, AmountNotation | DayNotation | None]:
    """Return the values as programs write them and their notation, if all are in one notation of the kind."""
    if kind == "numeric":
        amounts = amount_notation(values, decimal if decimal != "." else None)
        if isinstance(amounts, AmountNotation):
            return plain_amounts(values, amounts), amounts
    elif kind in ("date", "datetime"):
        days = day_notation(values)
        if isinstance(days, DayNotation) and (kind == "datetime" or not any_match(values, ":")):
            return iso_days(values, days), days
    return None, None


def _truths(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return "true" and "false" if every value is one of another pair of words for them; else the values."""
    lower = pc.utf8_lower(values)
    for yes, no in TRUTHS:
        if pc.all(pc.is_in(lower.drop_null(), value_set=text_array([yes, no]))).as_py():
            return pc.if_else(pc.equal(lower, text_array([yes])[0]), "true", "false")
    return values


def _first_uncast(values: pa.ChunkedArray, trimmed: pa.ChunkedArray, target: pa.DataType) -> str | None:
    """Return the first value that looks right but is impossible (2020-02-30)."""
    for start in range(len(values)):
        if _cast(trimmed.slice(start, 1), target) is None:
            return str(values[start].as_py())
    return None


_FORCED: dict[Kind, str] = {
    "numeric": f"{LENIENT}|{INFINITE}",
    "logical": LOGICAL,
    "date": DATE,
    "datetime": f"{MOMENT}|{ZONED}",
}
_TARGETS: dict[Kind, tuple[pa.DataType, ...]] = {
    "numeric": (pa.int64(), pa.float64()),
    "logical": (pa.bool_(),),
    "date": (pa.date32(),),
    "datetime": (pa.timestamp("us"), pa.timestamp("us", "UTC")),
}
