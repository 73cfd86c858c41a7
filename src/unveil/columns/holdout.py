"""Real records that a synthesizer has never seen, coded like a pair; and whether they can be that at all."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.columns.grouping import regrouped
from unveil.columns.pair import Pair
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


@dataclass(frozen=True)
class Holdout:
    """Real records that were not used for the releases of a pair.

    Parameters
    ----------
    pair
        The original, its releases and the held-out records, which take the place of a last release.
    base
        The pair without them.
    """

    pair: Pair
    base: Pair

    @classmethod
    def of(cls, base: Pair, data: Any) -> Holdout:
        """Open the records and refuse them if they cannot be held out.

        Parameters
        ----------
        base
            The original and its releases.
        data
            A path or a frame, read like the files of the pair.

        Raises
        ------
        DataError
            If there are no records, a column is missing, or they are records of the original.
        """
        found = cls(base.with_file(data, "the held-out records"), base)
        if not found.source.num_rows:
            raise DataError(f"{found.source.label} has no records; there is nothing to compare with")
        found._refuse_same_file()
        found._refuse_same_records()
        # A number that is dealt anew tells a copy from its original, and no person from another.
        names = base.roles.usual()[0] or base.names
        seen = overlap(found, names)
        if seen.suspicious:
            raise DataError(
                f"{found.source.label}: {seen.found} of {seen.n_held_out} records are records of "
                f"{base.original.label} in all {len(names)} columns (by chance about "
                f"{seen.n_held_out * seen.twins / seen.n_original:.1f}), so they were not held out; {WHY}. "
                "Give records that the synthesizer never saw"
            )
        return found

    @property
    def source(self) -> Source:
        """The file of the held-out records."""
        return self.pair.releases[-1]

    @property
    def n_records(self) -> int:
        """Number of held-out records."""
        return self.source.num_rows

    def column(self, name: str, *, cuts: Sequence[float] = ()) -> CodedColumn:
        """One variable with the held-out records in the place of the original ones, cut into groups if any."""
        joint = regrouped(self.pair.column(name), cuts)
        return replace(joint, original=joint.releases[-1], releases=joint.releases[:-1])

    def as_original(self) -> Pair:
        """The releases with the held-out records in the place of the original, read and coded with it all the same."""
        others = copy.copy(self.base)
        others.original = self.source
        others._columns = {name: self.column(name) for name in self.base.names if name in self.source}
        others._grouped = {}
        return others

    def _refuse_same_records(self) -> None:
        """Refuse a file or frame that holds the same records in the same order, where that is no chance."""
        names = [name for name in self.base.names if name in self.source]
        columns = [self.pair.column(name) for name in names]
        others = [column.releases[-1] for column in columns]
        for number, other in enumerate((self.base.original, *self.base.releases)):
            own = [(column.original, *column.releases)[number] for column in columns]
            if other.num_rows != self.n_records or any((a != b).any() for a, b in zip(own, others, strict=True)):
                continue
            shares = (np.bincount(codes)[codes] / len(codes) for codes in own)
            if min((float(np.log10(share).sum()) for share in shares), default=0.0) < _SAME_BY_CHANCE:
                raise DataError(
                    f"{self.source.label} has the records of {other.label} in the same order, so they were not held "
                    f"out; {WHY}. Give records that the synthesizer never saw"
                )

    def _refuse_same_file(self) -> None:
        for other in (self.base.original, *self.base.releases):
            same = self.source is other or bool(
                self.source.path and other.path and os.path.samefile(self.source.path, other.path)
            )
            if same:
                raise DataError(f"{other.label} is given as held-out records too; {WHY}")


def overlap(holdout: Holdout, names: Sequence[str]) -> Overlap:
    """Count held-out records that the original has too, and twins in the original."""
    columns = [holdout.pair.column(name) for name in names]
    n = holdout.pair.n_original
    codes = np.concatenate(
        [np.column_stack([column.original for column in columns]), np.column_stack([c.releases[-1] for c in columns])]
    )
    _, row = np.unique(codes, axis=0, return_inverse=True)
    row = row.ravel()
    count: NDArray[np.intp] = np.bincount(row[:n], minlength=int(row.max()) + 1)
    return Overlap(
        found=int(np.count_nonzero(count[row[n:]])),
        n_held_out=len(row) - n,
        twins=int(np.count_nonzero(count[row[:n]] > 1)),
        pairs=int(np.count_nonzero(count == 2)),
        n_original=n,
    )
