"""Which record of a release is whose: by the order of rows, or by a column that numbers the persons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.columns.pair import Pair
from unveil.errors import CallError, DataError

ROWS = "rows"
"""The order of rows, in the place of the name of a column."""
Positions = NDArray[np.intp]


def corresponding(pair: Pair, linked_by: str) -> tuple[Positions, ...]:
    """Per release, the position (n,) of the record of each original record.

    Parameters
    ----------
    pair
        The files.
    linked_by
        "rows", or the column whose values name the persons in every file.

    Raises
    ------
    CallError
        If the original lacks the column, or a release has another number of records.
    DataError
        If a release lacks the column, a value of it is missing or names two records, or files name other persons.
    """
    for label, n in zip(pair.labels, pair.n_synthetic, strict=True):
        if n != pair.n_original:
            raise CallError(
                f"{label} has {n} records and {pair.original.label} {pair.n_original}; the release must "
                "have one record of each person: leave out persons whose records were removed from both files"
            )
    if linked_by == ROWS:
        return (np.arange(pair.n_original),) * pair.n_releases
    column = pair.column(linked_by)
    files = (pair.original.label, *pair.labels)
    everybody = [np.argsort(codes, kind="stable") for codes in (column.original, *column.releases)]
    for label, codes, order in zip(files, (column.original, *column.releases), everybody, strict=True):
        ascending = codes[order]
        if column.gap is not None and ascending[-1] == column.gap:
            raise DataError(
                f"{label}: row {int(order[-1]) + 1} has no {linked_by!r}; every record needs the name of its person"
            )
        again = np.flatnonzero(ascending[1:] == ascending[:-1])
        if len(again):
            first, second = (int(row) + 1 for row in order[again[0] : again[0] + 2])
            raise DataError(
                f"{label}: rows {first} and {second} both have {linked_by!r} {column.label(int(ascending[again[0]]))}; "
                "name a column whose values name one record each"
            )
        strange = np.setdiff1d(codes, column.original)
        if len(strange):
            raise DataError(
                f"{label}: {linked_by!r} {column.label(int(strange[0]))} is nobody of {pair.original.label}; name a "
                "column that names the same persons in both files"
            )
    found = []
    for order in everybody[1:]:
        own = np.empty(pair.n_original, dtype=np.intp)
        own[everybody[0]] = order
        found.append(own)
    return tuple(found)
