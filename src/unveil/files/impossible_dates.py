"""Dates and times that do not exist in the calendar: the rest of the file is read all the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from unveil.notes import Note, warn

_DATE_LIKE = re.compile(r"%-?[td]|date|time|day|yy|mm|qtr|wk|moyr|month|year|jul|hour|tod", re.IGNORECASE)
_MOST_CELLS = 100


def say_impossible(label: str, name: str, what: str, rows: Iterable[int]) -> None:
    """Warn of cells that hold an impossible value and were read as gaps.

    Parameters
    ----------
    label, name
        File and column.
    what
        "date", "time" or "duration".
    rows
        The records, counted from 0; without any there is no warning.
    """
    rows = list(rows)
    if not rows:
        return
    first = ", ".join(str(row + 1) for row in rows[:5])
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    records = "record" if len(rows) == 1 else "records"
    note = Note(
        f"{label}: column {name!r}, {records} {first}{more}: no calendar has the {what}; "
        f"{'it was' if len(rows) == 1 else 'they were'} read as missing",
        f"column {name!r} holds a {what} that no calendar has, read as missing",
    )
    warn(note, [name])


def read_around_impossible(read: Callable[..., tuple[Any, Any]], label: str, options: dict[str, Any]) -> Any:
    """Read a file of a statistical package in which some dates cannot be converted; these become gaps.

    Parameters
    ----------
    read
        Function of pyreadstat's options that reads the file, or a part of it.
    label
        The file's name in messages.
    options
        Options for every call.

    Returns
    -------
    tuple of dict and metadata
        Results of ``read``. An impossible date is None; a warning names its column and record. A column with more than
        100 impossible dates is read as numbers, with a warning.

    Raises
    ------
    Exception
        An error of ``read`` that has another reason.
    """
    data, meta = read(disable_datetime_conversion=True, **options)
    dated = [name for name, kind in meta.original_variable_types.items() if kind and _DATE_LIKE.search(kind)]
    for name in dated:
        n_records = len(data[name])
        values: list[Any] = []
        impossible: list[int] = []

        def converted(first: int, beyond: int, name: str = name) -> list[Any]:
            part, _ = read(usecols=[name], row_offset=first, row_limit=beyond - first, **options)
            return list(part[name])

        _convert(converted, 0, n_records, values, impossible)
        if len(impossible) > _MOST_CELLS:
            note = Note(
                f"{label}: column {name!r} is declared to hold dates, and many of its values are dates of no "
                "calendar; it was read as numbers"
            )
            warn(note, [name])
            continue
        data[name] = values
        say_impossible(label, name, "date", impossible)
    return data, meta


def _convert(
    converted: Callable[[int, int], list[Any]], first: int, beyond: int, values: list[Any], impossible: list[int]
) -> None:
    """Convert the records, in halves of halves, until each part is converted or is one impossible cell."""
    if first == beyond or len(impossible) > _MOST_CELLS:
        return
    try:
        values.extend(converted(first, beyond))
    except (OverflowError, ValueError):
        if beyond - first == 1:
            values.append(None)
            impossible.append(first)
            return
        middle = (first + beyond) // 2
        _convert(converted, first, middle, values, impossible)
        _convert(converted, middle, beyond, values, impossible)
