"""What each column of the files was taken for, in a form that can be read and corrected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unveil.columns import Pair
from unveil.columns.column import CodedColumn
from unveil.errors import CallError, UnveilError
from unveil.files.schema import suspected_special_codes
from unveil.files.texts_among_numbers import texts_among_numbers
from unveil.printable import one_line

SHOWN = 12
"""Levels of a column that are listed; the others are counted."""


@dataclass(frozen=True)
class Level:
    """A value of a column, and how many records of the original and of all releases have it."""

    label: str
    original: int
    releases: int


@dataclass(frozen=True)
class ColumnView:
    """A column as a person sees it who decides whether it was read well.

    Parameters
    ----------
    name
        Its name.
    kind
        What its values were taken for.
    n_levels
        Number of different values in all files, without the gap.
    uniques
        Number of values that one original record has.
    gaps
        Number of original records without a value.
    span
        The smallest and the largest amount, in words; empty where there are none.
    levels
        The values that most original records have.
    codes
        Special codes, as they are typed.
    suspected
        Values that look like special codes.
    notes
        What deserves a look.
    error
        Why it cannot be measured.
    identifier
        Whether it looks like an identifier.
    """

    name: str
    kind: str = ""
    n_levels: int = 0
    uniques: int = 0
    gaps: int = 0
    span: str = ""
    levels: tuple[Level, ...] = ()
    codes: str = ""
    suspected: str = ""
    notes: tuple[str, ...] = ()
    error: str = ""
    identifier: bool = False


def columns_of(pair: Pair) -> tuple[ColumnView, ...]:
    """All columns that every file has, in the order of the original."""
    of_files = frozenset(pair.notes([]))
    return tuple(_view(pair, name, of_files) for name in pair.names if name not in pair.left_out)


def _view(pair: Pair, name: str, of_files: frozenset[str]) -> ColumnView:
    try:
        column = pair.compared(name)
        original = column.counts[0]
        notes = tuple(note for note in _notes(pair, column) if note not in of_files)
        uniques, gaps = int((original[: len(column.levels)] == 1).sum()), int(original[-1])
        return ColumnView(
            name, pair.kind_of(name), len(column.levels), uniques, gaps, _span(column),
            tuple(_levels(column)), codes=", ".join(column.label(code) for code in column.special),
            suspected=_suspected(pair, column), notes=notes,
            identifier=pair.roles.identifier(name) is not None,
        )  # fmt: skip
    except UnveilError as error:
        return ColumnView(name, error=str(error))


def _levels(column: CodedColumn) -> Iterator[Level]:
    original, *releases = column.counts
    most = np.argsort(-original[: column.n_levels], kind="stable")[:SHOWN]
    for code in most.tolist():
        yield Level(one_line(column.label(code)), int(original[code]), int(sum(one[code] for one in releases)))


def _span(column: CodedColumn) -> str:
    if not column.has_amounts:
        return ""
    known = np.flatnonzero(column.is_amount)
    amounts = column.amounts[known]
    ends = known[[int(amounts.argmin()), int(amounts.argmax())]]
    return " to ".join(one_line(column.label(int(code))) for code in ends)


def _suspected(pair: Pair, column: CodedColumn) -> str:
    if column.kind != "numeric" or column.special or pair.original.distributed is not None:
        return ""
    return ", ".join(str(code) for code in suspected_special_codes(pair.original.column(column.name)))


def _notes(pair: Pair, column: CodedColumn) -> Iterator[str]:
    yield from pair.notes([column])
    if pair.original.distributed is None and (texts := texts_among_numbers(pair.original.column(column.name))):
        yield f"all values but {', '.join(map(repr, texts))} are numbers; if this stands for a gap, name it as a gap"


def typed_codes(text: str) -> list[int | float]:
    """Special codes as they are typed, separated by commas or blanks.

    Raises
    ------
    CallError
        If one is no number.

    Examples
    --------
    >>> typed_codes("-8, 99.5")
    [-8, 99.5]
    """
    return [typed_number(one) for one in text.replace(",", " ").split()]


def typed_number(text: str) -> int | float:
    """A number as it is typed.

    Raises
    ------
    CallError
        If the text is no number.
    """
    try:
        value = float(text)
        return int(text) if value.is_integer() and text.lstrip("+-").isdigit() else value
    except ValueError:
        raise CallError(f"{text!r:.40} is not a number") from None
