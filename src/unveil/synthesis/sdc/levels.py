"""Merge levels that few records have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.checks import check_whole_numbers
from unveil.columns.harmonise import levels_of
from unveil.errors import CallError
from unveil.files.arrays import quoted_list
from unveil.files.distinct import Distinct, distinct_of, level_text, level_texts
from unveil.files.source import Scalar
from unveil.notes import warn
from unveil.synthesis.sdc.amounts import SpecialCodes, codes_of
from unveil.synthesis.sdc.records import GivenFile
from unveil.synthesis.sdc.report import SdcReport


def merge_rare_levels(
    data: Any, column: str, minimum: int, into: Scalar = "other", *, special_codes: SpecialCodes = None
) -> tuple[Any, SdcReport]:
    """Merge the levels of a categorical column that have fewer records than a minimum.

    Parameters
    ----------
    data
        A frame or file.
    column
        A column of text, categories, or numbers that stand for categories.
    minimum
        Levels with fewer records are merged. As in the measures, texts that differ only in outer blanks or Unicode form
        are one level, and so are numbers that are equal to 15 digits.
    into
        The new level, of the type of the column's levels; it may exist. In an ordered column it must exist, because a
        new level has no place in the order.
    special_codes
        By column, values that are kept even if they are rare; by default those that the file declares. Gaps are not
        levels here.

    Returns
    -------
    frame
        The data in the same kind of frame and types. Types that list their levels (pandas and Arrow categories, polars
        Enum) list the new level in place of the merged levels.
    SdcReport
        Report of the changes.

    Raises
    ------
    CallError
        If the column is unknown, logical or a date, ``minimum`` is not a positive whole number, or ``into`` is
        not a possible level.

    Warns
    -----
    UnveilWarning
        If the merged level still has fewer records than the minimum.

    Examples
    --------
    >>> import pyarrow as pa
    >>> region = pa.table({"region": ["n", "n", "n", "s", "s", "e", "w", None]})
    >>> merged, report = merge_rare_levels(region, "region", 2)
    >>> merged.column("region").to_pylist()
    ['n', 'n', 'n', 's', 's', 'other', 'other', None]
    >>> report.figures["merged"]
    2
    """
    check_whole_numbers(1, **{f"column {column!r}: minimum": minimum})
    records = GivenFile.of(data)
    records.source.require(column)
    found = _levels(records, column)
    _check_into(records, column, found, into)
    # Several values may be one level: spellings of a text, numbers that differ in the last place.
    levels = levels_of(records.source, column)
    n_levels, n_values = len(levels.values), len(found.values)
    counts = np.bincount(levels.codes, minlength=n_levels + 1)[:-1]
    level_of = np.zeros(n_values + 1, dtype=np.int64)
    level_of[found.codes] = levels.codes
    texts = level_texts(found.values)

    def that_are(chosen: Iterable[Scalar]) -> NDArray[np.bool_]:
        named = {level_text(value) for value in chosen}
        return np.isin(np.arange(n_levels), level_of[:-1][[text in named for text in texts]])

    kept = (*codes_of(special_codes, column, records), *records.source.variable(column).special_codes)
    rare = (counts < minimum) & ~that_are([into, *kept])
    change = np.append(rare, False)[levels.codes]
    n_into = int(change.sum()) + int(counts[that_are([into])].sum())
    where = f"{records.source.label}: column {column!r}"
    if rare.any() and n_into < minimum:
        warn(
            f"{where}: the merged level {into!r} has {n_into} records, fewer than {minimum}; "
            "merge it into a frequent level"
        )
    merged = [v for v, level in zip(found.values.to_pylist(), level_of, strict=False) if rare[level]]
    frame = records.native
    if merged and pa.types.is_dictionary(records.source.column(column).type):
        frame = records.with_levels(column, change, into, merged)
    elif merged:
        frame = records.with_values(column, change, into)
    n, n_changed, n_merged = records.source.num_rows, int(change.sum()), int(rare.sum())
    n_gaps = int((found.codes == n_values).sum())
    report = records.report(
        "merge_rare_levels",
        (column,),
        n_changed,
        {"minimum": minimum, "into": into, "merged": n_merged, "n_into": n_into, "n_gaps": n_gaps},
        f"{n_merged} of {n_levels} levels had fewer than {minimum} records and are merged into {into!r}: "
        f"{n_changed} of {n} records changed, {n_into} have that level now.",
        "Gaps and special codes stay as they are.",
    )
    return frame, report


def _levels(records: GivenFile, column: str) -> Distinct:
    source = records.source
    found = distinct_of(source, column)
    if found.family not in ("text", "number", "empty"):
        raise CallError(f"{source.label}: column {column!r} is {found.family} and has no levels to merge")
    return found


def _check_into(records: GivenFile, column: str, found: Distinct, into: Scalar) -> None:
    source = records.source
    declared = source.variable(column)
    where = f"{source.label}: column {column!r}"
    is_number = isinstance(into, int | float) and not isinstance(into, bool)
    if not is_number and not isinstance(into, str):
        raise CallError(f"{where}: into must be a level, not {into!r}")
    if found.family != "empty" and is_number != (found.family == "number"):
        what = "numbers" if found.family == "number" else "text"
        raise CallError(f"{where} holds {what}; into must be of the same type, not {into!r}")
    known = declared.levels or found.values.to_pylist()
    if declared.kind == "ordered" and into not in known:
        raise CallError(
            f"{where} is ordered, and {into!r} has no place in its order; give into= one of {quoted_list(known)}"
        )
