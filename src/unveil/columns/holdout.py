"""Whether records can be held out: records that a synthesizer has never seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.errors import DataError
from unveil.files.source import Source

WHY = (
    "records set aside afterwards, from data that the synthesizer was fitted to, are members like all the others: "
    "comparing members with members measures nothing, whatever the risk is"
)
_BY_CHANCE = 1e-4
_SAME_BY_CHANCE = -6.0
"""Power of ten of the probability from which on two files are not equal record by record by chance."""
_TOLERATED = 0.1
"""Share of held-out records that may be found in the original beyond what twins explain."""


def check_held_out(
    files: Sequence[Source], names: Sequence[str], compared: Sequence[str], column: Callable[[str], CodedColumn]
) -> None:
    """Refuse held-out records that cannot be that.

    Parameters
    ----------
    files
        The original, its releases and the held-out records.
    names, compared
        Columns that all files have, and those that tell a person from another.
    column
        Function from a name to the column of all files.

    Raises
    ------
    DataError
        If there are no records, a column is missing, or they are records of the original or of a release.
    """
    original, *_, holdout = files
    if not holdout.num_rows:
        raise DataError(f"{holdout.label} has no records; there is nothing to compare with")
    for other in files[:-1]:
        if holdout.is_file_of(other):
            raise DataError(f"{other.label} is given as held-out records too; {WHY}")
    _refuse_same_records(files, [column(name) for name in names])
    found, twins, pairs = _overlap([column(name) for name in compared])
    n, n_held_out = original.num_rows, holdout.num_rows
    if _is_beyond_twins(found, n_held_out, twins, pairs, n):
        raise DataError(
            f"{holdout.label}: {found} of {n_held_out} records are records of "
            f"{original.label} in all {len(compared)} columns (by chance about "
            f"{n_held_out * twins / n:.1f}), so they were not held out; {WHY}. "
            "Give records that the synthesizer never saw"
        )


def _refuse_same_records(files: Sequence[Source], columns: Sequence[CodedColumn]) -> None:
    """Refuse a file or frame that holds the same records in the same order, where that is no chance."""
    *others, holdout = files
    held = [column.releases[-1] for column in columns]
    for number, other in enumerate(others):
        codes = [(column.original, *column.releases)[number] for column in columns]
        if other.num_rows != holdout.num_rows or any((a != b).any() for a, b in zip(codes, held, strict=True)):
            continue
        shares = (np.bincount(one)[one] / len(one) for one in codes)
        if min((float(np.log10(share).sum()) for share in shares), default=0.0) < _SAME_BY_CHANCE:
            raise DataError(
                f"{holdout.label} has the records of {other.label} in the same order, so they were not held "
                f"out; {WHY}. Give records that the synthesizer never saw"
            )


def _overlap(columns: Sequence[CodedColumn]) -> tuple[int, int, int]:
    """Held-out records, the last file of the columns, that the original has too; its twins; values of just two of it.

    Records are equal where they are in all columns; twins are original records that are equal to another one.
    """
    files = (np.column_stack(codes) for codes in zip(*((c.original, c.releases[-1]) for c in columns), strict=True))
    n = len(columns[0].original)
    _, row = np.unique(np.concatenate(list(files)), axis=0, return_inverse=True)
    row = row.ravel()
    count: NDArray[np.intp] = np.bincount(row[:n], minlength=int(row.max()) + 1)
    return int((count[row[n:]] > 0).sum()), int((count[row[:n]] > 1).sum()), int((count == 2).sum())


def _is_beyond_twins(found: int, n_held_out: int, twins: int, pairs: int, n: int) -> bool:
    """Whether more of the held-out records are found in the original than its twins explain.

    A fresh record is found with the share C of the population whose values the original has. Its estimate is the share
    of twins among the n (Good 1953), with variance ``C(1 - C)/n + 2 pairs/n^2`` (Esty 1983), where pairs are the values
    that exactly two share. The number found is then beta-binomial; too large is a number that is reached with a
    probability below 0.0001 and exceeds the expected one by a tenth of the held-out records.
    """
    # It takes longer to import than the table measures take to compute.
    from scipy.stats import betabinom

    share = (twins + 0.5) / (n + 1)
    variance = share * (1 - share) / (n + 1) + 2 * pairs / n**2
    size = max(share * (1 - share) / variance - 1, 1.0)
    chance = betabinom.sf(found - 1, n_held_out, share * size, (1 - share) * size)
    return bool(chance < _BY_CHANCE and found / n_held_out > twins / n + _TOLERATED)
