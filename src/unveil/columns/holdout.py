"""Whether records can be held out: records that a synthesizer has never seen."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True)
class Overlap:
    """How many records of one file are found, in all columns, in another.

    Parameters
    ----------
    found, n_held_out
        Held-out records that are equal to an original record, and held-out records.
    twins, pairs, n_original
        Original records that are equal to another original record, values that exactly two of them share, and original
        records: what a fresh record of the same population is found with.
    """

    found: int
    n_held_out: int
    twins: int
    pairs: int
    n_original: int

    @property
    def suspicious(self) -> bool:
        """Whether more are found than twins explain.

        A fresh record is found with the share C of the population whose values the original has. Its estimate is the
        share of twins (Good 1953), with variance ``C(1 - C)/n + 2 pairs/n^2`` (Esty 1983). The number found is then
        beta-binomial; suspicious is a number that is reached with a probability below 0.0001 and exceeds the expected
        one by a tenth of the held-out records.
        """
        if not self.n_held_out:
            return False
        # It takes longer to import than the table measures take to compute.
        from scipy.stats import betabinom

        expected = self.twins / self.n_original
        n = self.n_original
        share = (self.twins + 0.5) / (n + 1)
        variance = share * (1 - share) / (n + 1) + 2 * self.pairs / n**2
        size = max(share * (1 - share) / variance - 1, 1.0)
        chance = betabinom.sf(self.found - 1, self.n_held_out, share * size, (1 - share) * size)
        return bool(chance < _BY_CHANCE and self.found / self.n_held_out > expected + _TOLERATED)


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
    _refuse_same_file(holdout, files[:-1])
    _refuse_same_records(files, [column(name) for name in names])
    seen = overlap([column(name) for name in compared])
    if seen.suspicious:
        raise DataError(
            f"{holdout.label}: {seen.found} of {seen.n_held_out} records are records of "
            f"{original.label} in all {len(compared)} columns (by chance about "
            f"{seen.n_held_out * seen.twins / seen.n_original:.1f}), so they were not held out; {WHY}. "
            "Give records that the synthesizer never saw"
        )


def _refuse_same_file(holdout: Source, others: Sequence[Source]) -> None:
    for other in others:
        same_path = holdout.path and other.path and os.path.samefile(holdout.path, other.path)
        if holdout is other or same_path:
            raise DataError(f"{other.label} is given as held-out records too; {WHY}")


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


def overlap(columns: Sequence[CodedColumn]) -> Overlap:
    """Count held-out records, the last file of the columns, that the original has too, and twins in the original."""
    files = (np.column_stack(codes) for codes in zip(*((c.original, c.releases[-1]) for c in columns), strict=True))
    n = len(columns[0].original)
    _, row = np.unique(np.concatenate(list(files)), axis=0, return_inverse=True)
    row = row.ravel()
    count: NDArray[np.intp] = np.bincount(row[:n], minlength=int(row.max()) + 1)
    return Overlap(
        found=int(np.count_nonzero(count[row[n:]])),
        n_held_out=len(row) - n,
        twins=int(np.count_nonzero(count[row[:n]] > 1)),
        pairs=int(np.count_nonzero(count == 2)),
        n_original=n,
    )


def in_place_of_original(column: CodedColumn) -> CodedColumn:
    """The same column with the records of its last file in the place of the original ones."""
    return replace(column, original=column.releases[-1], releases=column.releases[:-1])
