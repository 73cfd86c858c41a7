"""Notations of amounts and days that programs do not write: "3.007,83", "1 234,5", "13.04.1942".

A notation is accepted only if every value of a column fits it and no other notation fits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

HEAD = 64
MOSTLY = 0.75
FEW = 8

THIN_BLANKS = "[\u00a0\u2009\u202f]"
APOSTROPHES = "[\u2019\u02bc]"
SIGNS = ((".", ","), (",", "."), (" ", ","), (" ", "."), ("'", "."), ("'", ","))
"""Signs of thousands and of decimals that go together."""

CLOCK = r"([T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,6})?)?)?"
DAYS_SHAPE = rf"^[0-9]{{1,4}}[-./][0-9]{{1,2}}[-./][0-9]{{1,4}}{CLOCK}$"
AMOUNT_SHAPE = r"^[+-]?([0-9]+|[0-9]{1,3}([.,' ][0-9]{3})*)([.,][0-9]*)?$"
Order = Literal["dmy", "mdy", "ymd"]


@dataclass(frozen=True)
class AmountNotation:
    """Signs of decimals and of thousands ("" where there is none)."""

    decimal: str
    thousands: str


@dataclass(frozen=True)
class DayNotation:
    """Order of day, month and year, the sign between them, and whether days and months have two digits."""

    order: Order
    sign: str
    padded: bool = True

    def __str__(self) -> str:
        names = {"d": "day", "m": "month", "y": "year"}
        return self.sign.join(names[part] for part in self.order)


def all_match(values: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every value but gaps matches; the first values are checked first, to save time."""
    parts = (values.slice(0, HEAD), values)
    return all(pc.all(pc.match_substring_regex(part, pattern)).as_py() is not False for part in parts)


def any_match(values: pa.ChunkedArray, pattern: str) -> bool:
    """Whether some value matches."""
    parts = (values.slice(0, HEAD), values)
    return any(pc.any(pc.match_substring_regex(part, pattern)).as_py() for part in parts)


# Amounts


def _evened(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values without outer blanks, and with plain blanks and apostrophes between digits."""
    values = pc.utf8_trim_whitespace(values)
    head = values.slice(0, HEAD)
    if pc.all(pc.string_is_ascii(head)).as_py() is False or not pc.all(pc.string_is_ascii(values)).as_py():
        values = pc.replace_substring_regex(values, THIN_BLANKS, " ")
        values = pc.replace_substring_regex(values, APOSTROPHES, "'")
    return values


def _pattern(thousands: str, decimal: str) -> str:
    group = re.escape(thousands)
    return rf"^[+-]?((0|[1-9][0-9]*)|[1-9][0-9]{{0,2}}({group}[0-9]{{3}})+)([{decimal}][0-9]*)?$"


def amount_notation(values: pa.ChunkedArray, decimal: str | None = None) -> AmountNotation | Literal["unsure"] | None:
    """Return the only notation of amounts that every value fits.

    Parameters
    ----------
    values
        Text; gaps are ignored.
    decimal
        The decimal sign, if it is known.

    Returns
    -------
    AmountNotation, "unsure" or None
        "unsure" if a sign may stand before decimals or between thousands; None if the values are not amounts, or are
        plain whole numbers.

    Examples
    --------
    >>> def of(*texts): return amount_notation(pa.chunked_array([texts]))
    >>> of("3.007,83", "12"), of("1,234", "5,678"), of("1.5", "a")
    (AmountNotation(decimal=',', thousands='.'), 'unsure', None)
    """
    values = _evened(values)
    if not any_match(values, r"[0-9][.,' ][0-9]"):
        return None
    fitting = [
        AmountNotation(point, group)
        for group, point in SIGNS
        if decimal in (None, point) and all_match(values, _pattern(group, point))
    ]
    grouped = [one for one in fitting if any_match(values, rf"[0-9]{re.escape(one.thousands)}[0-9]{{3}}")]
    if not fitting:
        return None
    if any(one.thousands in " '" for one in grouped):
        return _of_blanks(values, [one for one in grouped if one.thousands in " '"])
    signs = {one.decimal for one in fitting}
    if len(signs) > 1:
        return "unsure"
    return grouped[0] if grouped else AmountNotation(fitting[0].decimal, "")


def _of_blanks(values: pa.ChunkedArray, fitting: Sequence[AmountNotation]) -> AmountNotation | None:
    """Return the notation with blanks or apostrophes between thousands; None if texts of one length may be codes."""
    one = fitting[0] if len(fitting) == 1 else AmountNotation(".", fitting[0].thousands)
    lengths = pc.utf8_length(values)
    same_length = pc.min(lengths).as_py() == pc.max(lengths).as_py()
    return None if len(fitting) > 1 and one.thousands == " " and same_length else one


def plain_amounts(values: pa.ChunkedArray, notation: AmountNotation) -> pa.ChunkedArray:
    """Return the values as programs write them: "3007.83"."""
    values = _evened(values)
    if notation.thousands:
        values = pc.replace_substring(values, notation.thousands, "")
    return values if notation.decimal == "." else pc.replace_substring(values, notation.decimal, ".")


def with_thousands(text: str, sign: str) -> str:
    """Return a plain number with a sign between its thousands.

    Examples
    --------
    >>> with_thousands("-1234567.5", " "), with_thousands("999", ".")
    ('-1 234 567.5', '999')
    """
    whole, point, fraction = text.partition(".")
    return re.sub(r"(?<=\d)(?=(\d{3})+$)", lambda _: sign, whole) + point + fraction


# Days


def day_notation(values: pa.ChunkedArray) -> DayNotation | Literal["unsure"] | None:
    """Return the only order of day, month and year, other than that of ISO 8601, in which every value is a day.

    Examples
    --------
    >>> def of(*texts): return day_notation(pa.chunked_array([texts]))
    >>> str(of("13.04.1942", "01.12.1950")), of("01/02/2020", "03/04/2020"), str(of("13/04/1942")), of("30.02.2020")
    ('day.month.year', 'unsure', 'day/month/year', None)
    """
    values = pc.ascii_trim_whitespace(values)
    if not all_match(values, DAYS_SHAPE):
        return None
    fitting = [one for one in _notations() if all_match(values, _day_pattern(one)) and _are_days(iso_days(values, one))]
    if not fitting:
        return None
    if len(fitting) > 1:
        return "unsure"
    one = fitting[0]
    padded = all_match(values, {"ymd": r"^.{4}.[0-9]{2}.[0-9]{2}"}.get(one.order, r"^[0-9]{2}.[0-9]{2}.[0-9]{4}"))
    return DayNotation(one.order, one.sign, padded)


def _notations() -> list[DayNotation]:
    """Return all notations of days; a point never stands in one with the month first."""
    first = [DayNotation("dmy", sign) for sign in "./-"] + [DayNotation("mdy", sign) for sign in "/-"]
    return first + [DayNotation("ymd", sign) for sign in "./-"]


def _day_pattern(notation: DayNotation) -> str:
    sign = re.escape(notation.sign)
    parts = {"d": "[0-9]{1,2}", "m": "[0-9]{1,2}", "y": "[0-9]{4}"}
    return "^" + sign.join(f"({parts[part]})" for part in notation.order) + CLOCK + "$"


def iso_days(values: pa.ChunkedArray, notation: DayNotation) -> pa.ChunkedArray:
    """Return the values in the order of ISO 8601; a time of day stays behind the day."""
    place = {part: rf"\{i}" for i, part in enumerate(notation.order, start=1)}
    turned = pc.replace_substring_regex(
        pc.ascii_trim_whitespace(values), _day_pattern(notation), f"{place['y']}-{place['m']}-{place['d']}\\4"
    )
    for pattern, padded in ((r"^([0-9]{4})-([0-9])-", r"\1-0\2-"), (r"^(.{8})([0-9])([T ]|$)", r"\g<1>0\2\3")):
        turned = pc.replace_substring_regex(turned, pattern, padded.replace(r"\g<1>", r"\1"))
    return pc.replace_substring_regex(turned, r"^(.{10}[T ])([0-9]):", r"\g<1>0\2:".replace(r"\g<1>", r"\1"))


def _are_days(values: pa.ChunkedArray) -> bool:
    try:
        values.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return False
    return True


def with_day_notation(text: str, notation: DayNotation) -> str:
    """Return an ISO day, with or without a time of day behind it, in the notation.

    Examples
    --------
    >>> with_day_notation("1942-04-03 10:00", DayNotation("dmy", ".")), with_day_notation("1942-04-03", DayNotation(
    ...     "mdy", "/", padded=False))
    ('03.04.1942 10:00', '4/3/1942')
    """
    year, month, day = text[:4], text[5:7], text[8:10]
    if not notation.padded:
        month, day = month.lstrip("0"), day.lstrip("0")
    parts = {"y": year, "m": month, "d": day}
    return notation.sign.join(parts[part] for part in notation.order) + text[10:]


def mostly_in_a_notation(values: pa.ChunkedArray) -> str | None:
    """Return what most of the values look like: "amounts", "days", or None."""
    values = pc.drop_null(_evened(values))
    if len(values) < FEW:
        return None
    for what, pattern, sign in (
        ("days", DAYS_SHAPE, r"."),
        ("amounts", AMOUNT_SHAPE, r"[0-9][,' ][0-9]|[0-9][.][0-9]{3}[.,]"),
    ):
        share = [_share(part, pattern) for part in (values.slice(0, HEAD), values)]
        if min(share) >= MOSTLY and any_match(values, sign):
            return what
    return None


def _share(values: pa.ChunkedArray, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(values, pattern).cast(pa.int8())).as_py())
