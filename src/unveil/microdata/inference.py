"""The type of a column of text, decided from its distinct values.

Numbers are taken exactly or not at all: a text that would lose something as a number (leading zeros, a plus
sign, an integer beyond 64 bits) keeps its whole column text.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.microdata.arrays import buffer_view, text_array
from unveil.microdata.source import Kind

__all__ = ["USUAL_GAPS", "decimal_commas", "decimals_written", "force", "infer", "is_usual_gap"]

USUAL_GAPS = ("NA", "NaN", "nan", "N/A", "NULL", "null", ".", "None", "<NA>", "#N/A")
"""What programs write for a gap. They count only where the column's other values are not text."""

INTEGER = r"^-?(0|[1-9][0-9]*)$"
DECIMAL = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
LENIENT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
COMMA = r"^-?((0|[1-9][0-9]*),[0-9]*|,[0-9]+)([eE][+-]?[0-9]+)?$"
THOUSANDS = r"^-?[1-9][0-9]{0,2}(,[0-9]{3})+$"
INFINITE = r"^-?([iI]nf|INF)(inity|INITY)?$"
LOGICAL = r"^(TRUE|True|true|FALSE|False|false)$"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?)?$"
ZONED = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})$"

EXACT_DOUBLE = 2**53
HEAD = 64


def _all(values: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every value that is there matches; the first few are looked at before the rest."""
    head = pc.all(pc.match_substring_regex(values.slice(0, HEAD), pattern)).as_py()
    if head is False:
        return False
    return pc.all(pc.match_substring_regex(values, pattern)).as_py() is not False


def _any(values: pa.ChunkedArray, pattern: str) -> bool:
    head = pc.any(pc.match_substring_regex(values.slice(0, HEAD), pattern)).as_py()
    if head:
        return True
    return bool(pc.any(pc.match_substring_regex(values, pattern)).as_py())


def is_usual_gap(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which values read like a gap: a usual token or blank, outer blanks aside."""
    return pc.is_in(pc.ascii_trim_whitespace(values), value_set=text_array(["", *USUAL_GAPS]))


def infer(values: pa.ChunkedArray, decimal: str = ".") -> pa.ChunkedArray | None:
    """The values in the type that all of them share, or None where that is text.

    Parameters
    ----------
    values
        Distinct values, or all of them; gaps are left out of the decision and stay gaps.
    decimal
        The decimal sign of the file.
    """
    values = pc.ascii_trim_whitespace(values)
    if _all(values, LOGICAL):
        return _logicals(values)
    if _all(values, DATE):
        return _cast(values, pa.date32())
    if _all(values, MOMENT):
        return _cast(values, pa.timestamp("us"))
    if _all(values, ZONED):
        return _cast(values, pa.timestamp("us", "UTC"))
    return _numbers(values, decimal)


def _cast(values: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return values.cast(target)
    except pa.ArrowInvalid:
        return None


def _logicals(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.equal(pc.utf8_lower(values), text_array(["true"])[0])


def _numbers(values: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray | None:
    if _all(values, INTEGER):
        return _cast(values, pa.int64())
    if decimal != ".":
        if _any(values, r"\."):
            return None
        values = pc.replace_substring(values, decimal, ".")
    if not _all(values, f"{DECIMAL}|{INFINITE}") or not _any(values, DECIMAL):
        return None
    numbers = _cast(values, pa.float64())
    if numbers is None or _loses_digits(values, numbers):
        return None
    return numbers


def _loses_digits(values: pa.ChunkedArray, numbers: pa.ChunkedArray) -> bool:
    """Whether a number is too large, or an integer among decimals too long, for two of them to stay two."""
    extremes = pc.min_max(numbers)
    if max(-extremes["min"].as_py(), extremes["max"].as_py()) < EXACT_DOUBLE:
        return False
    endless = pc.filter(values, pc.is_inf(numbers))
    if not _all(endless, INFINITE):
        return True
    long = pc.match_substring_regex(values, r"^-?[0-9]{16,}\.?0*$")
    return any(abs(number) >= EXACT_DOUBLE for number in pc.filter(numbers, long).to_pylist())


def decimal_commas(values: pa.ChunkedArray) -> str | None:
    """What commas in the values are: "decimal", "either" (thousands are possible too), or None."""
    values = pc.ascii_trim_whitespace(values)
    if not _all(values, f"{COMMA}|{INTEGER}|{INFINITE}") or not _any(values, ","):
        return None
    with_comma = pc.filter(values, pc.match_substring_regex(values, ","))
    return "either" if _all(with_comma, THOUSANDS) else "decimal"


def decimals_written(values: pa.ChunkedArray, decimal: str) -> int:
    """Smallest number of decimals that a number is written with; 0 where one has an exponent.

    Examples
    --------
    >>> decimals_written(pa.chunked_array([["390.0", "12.25"]]), "."), decimals_written(pa.chunked_array([["7"]]), ".")
    (1, 0)
    """
    numbers = pc.filter(values, pc.invert(pc.match_substring_regex(values, INFINITE)))
    if not len(numbers) or pc.any(pc.match_substring(numbers, "e", ignore_case=True)).as_py():
        return 0
    whole = numbers.combine_chunks()
    sign = buffer_view(pc.find_substring(whole, decimal), np.int32)
    behind = buffer_view(pc.binary_length(whole), np.int32) - sign - 1
    return int(np.where(sign < 0, 0, behind).min())


def force(values: pa.ChunkedArray, kind: Kind, decimal: str) -> tuple[pa.ChunkedArray | None, str | None]:
    """The values as the declared kind; else None and the first value that is not of that kind."""
    trimmed = pc.ascii_trim_whitespace(values)
    if kind == "numeric" and decimal != ".":
        trimmed = pc.replace_substring(trimmed, decimal, ".")
    fits = pc.match_substring_regex(trimmed, _FORCED[kind])
    if pc.all(fits).as_py() is False:
        return None, pc.filter(values, pc.invert(fits))[0].as_py()
    for target in _TARGETS[kind]:
        forced = _logicals(trimmed) if kind == "logical" else _cast(trimmed, target)
        if forced is not None:
            return forced, None
    return None, _first_uncast(values, trimmed, _TARGETS[kind][-1])


def _first_uncast(values: pa.ChunkedArray, trimmed: pa.ChunkedArray, target: pa.DataType) -> str | None:
    """The first value that looks right and is not (2020-02-30)."""
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
