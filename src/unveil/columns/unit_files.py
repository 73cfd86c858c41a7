"""Files of units: which columns name the units, which rows are of which, and a file of rows as a file of units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa

from unveil.columns.column import CodedColumn
from unveil.columns.units import UnitRows
from unveil.errors import CallError, DataError
from unveil.files.arrays import quoted_list
from unveil.files.source import Source


def named_unit(
    source: Source, unit: str | Sequence[str] | None, time: str | None
) -> tuple[tuple[str, ...], str | None]:
    """The columns that name units, none where rows are records, and the column that orders their rows.

    Parameters
    ----------
    source
        The original, whose schema may declare them.
    unit, time
        What is asked for; None for what is declared.

    Raises
    ------
    CallError
        If they are not named by texts, one is named twice, or rows have an order and no unit.
    """
    declared = [name for name in source.names if source.variable(name).unit]
    times = [name for name in source.names if source.variable(name).time]
    if time is None and len(times) > 1:
        raise CallError(f"the schema declares several columns of time: {quoted_list(times)}; keep one of them")
    time = times[0] if time is None and times else time
    if unit is None and not declared:
        if time is not None:
            raise CallError("time orders the rows of a unit: name the unit too, such as unit='person_id'")
        return (), None
    return checked_unit(declared if unit is None else unit, time), time


def checked_unit(unit: str | Sequence[str], time: str | None) -> tuple[str, ...]:
    """The columns that name the unit.

    Raises
    ------
    CallError
        If they or the time are not named by texts, or one is named twice.
    """
    names = (unit,) if isinstance(unit, str) else unit
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise CallError(f"unit is the name of a column, or a list of names, not {unit!r}")
    if not (time is None or isinstance(time, str)):
        raise CallError(f"time is the name of a column, not {time!r}")
    named = [*names, *([] if time is None else [time])]
    for name in named:
        if named.count(name) > 1:
            raise CallError(f"unit and time name {name!r} twice; name each column once")
    return tuple(names)


def units_of(
    sources: Sequence[Source], unit: Sequence[str], time: str | None, coded: Callable[[str], CodedColumn]
) -> tuple[UnitRows, ...]:
    """Which rows of each file are of which unit.

    Parameters
    ----------
    sources
        The files, the original first.
    unit, time
        The columns that name a unit together, and the one that orders its rows.
    coded
        Function from the name of a column of all files to the column.

    Raises
    ------
    CallError
        If the original has no such column.
    DataError
        If another file has none, a row has no unit or time, or two rows of a unit have the same time.
    """
    for name in unit if time is None else (*unit, time):
        sources[0].require(name)
        for source in sources[1:]:
            if name not in source:
                raise DataError(
                    f"{source.label} has no column {name!r}, which tells which of its rows are of one unit; add it: "
                    "its values need not be those of the original"
                )
    column = None if time is None else coded(time)
    codes = [None] * len(sources) if column is None else [column.original, *column.releases]
    return tuple(UnitRows.of(source, unit, column, own) for source, own in zip(sources, codes, strict=True))


def source_of_units(rows: Source, n: int, left_out: Sequence[str], coded: Callable[[str], pa.ChunkedArray]) -> Source:
    """A file of rows as a file of units, which has a value of each column for each of them.

    Parameters
    ----------
    rows
        The file.
    n
        Number of units.
    left_out
        The columns that name units and order rows.
    coded
        Function from a name to the column of the units.
    """
    return replace(
        rows, names=tuple(name for name in rows.names if name not in left_out), num_rows=n, fetch=coded,
        batches=None, native=None, written=None, form=None, like=None,
    )  # fmt: skip
