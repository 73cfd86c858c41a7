"""Checks that a high DiSCO is not just what everybody knows: one common level, or a key that implies it.

Source: Raab, Nowok & Dibben 2026, section 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cells import Cells, Counts, count_pairs, pair_codes
from unveil._tables.exclusions import Tables
from unveil._tables.keyed_pair import KeyedPair
from unveil.columns.column import CodedColumn
from unveil.limits import exceeds

_DENSE = 2
"""Up to so many cells per record are counted directly."""
_ALWAYS_DENSE = 1 << 16
"""So many cells are counted directly, however few records there are."""


@dataclass(frozen=True)
class DiscoCells:
    """The cells that make up DiSCO: key combination, target level and original records, each (k,) int64."""

    q: Counts
    t: Counts
    records: Counts

    @classmethod
    def of(cls, cells: Cells, tables: Tables) -> DiscoCells:
        """Pick them from one block of cells."""
        records = tables.counts["DiSCO"]
        found = np.flatnonzero(records)
        return cls(cells.q[found], cells.t[found], records[found])

    @classmethod
    def join(cls, blocks: Sequence[DiscoCells]) -> DiscoCells:
        """All blocks as one."""
        return cls(*(np.concatenate([getattr(b, name) for b in blocks]) for name in ("q", "t", "records")))


@dataclass(frozen=True)
class OriginalCells:
    """The cells of the original, each (k,): a record that shows the key levels, target level and number of records."""

    record: Counts
    t: NDArray[np.integer]
    n: NDArray[np.integer]

    @classmethod
    def of(cls, study: KeyedPair, target: CodedColumn) -> OriginalCells:
        """Count them; where that takes as long as looking at the records, each record is a cell."""
        q = study.combinations
        if q.size * target.n_levels > max(_DENSE * len(q.original), _ALWAYS_DENSE):
            every = np.arange(len(q.original))
            return cls(every, target.original, np.ones(len(every), dtype=np.uint8))
        counts = count_pairs(q.original, target.original, q.size, target.n_levels)
        found = np.flatnonzero(counts)
        return cls(study.examples[found // target.n_levels], found % target.n_levels, counts[found])

    def count(self, pairs: Counts, key: CodedColumn, target: CodedColumn) -> Counts:
        """Number of records of each of the pairs (key level, target level), which ascend."""
        levels, n_levels = key.original[self.record], target.n_levels
        if key.n_levels * n_levels <= max(len(levels), _ALWAYS_DENSE):
            codes = pair_codes(levels, self.t, n_levels)
            return np.bincount(codes, weights=self.n, minlength=key.n_levels * n_levels)[pairs].astype(np.int64)
        asked = np.zeros(key.n_levels, dtype=bool)
        asked[pairs // n_levels] = True
        kept = np.flatnonzero(asked[levels])
        codes = pair_codes(levels[kept], self.t[kept], n_levels)
        nearest = np.minimum(np.searchsorted(pairs, codes), len(pairs) - 1)
        hit = pairs[nearest] == codes
        return np.bincount(nearest[hit], weights=self.n[kept][hit], minlength=len(pairs)).astype(np.int64)


class OneWay(TypedDict):
    """The target level that makes up most of DiSCO.

    ``level``; ``share``, percent of the original records left by the exclusions that have it; ``disclosive``,
    DiSCO records in all; ``of_level``, those with the level; ``percent``, the one of the other.
    """

    level: str
    share: float
    disclosive: int
    of_level: int
    percent: float


class TwoWay(TypedDict):
    """A pair of target level and key level that is close to a rule in the original.

    ``records``, DiSCO records of large cells with the pair; ``original_with_pair`` and ``original_with_key``,
    original records with the pair and with the key level; ``percent``, the one of the other.
    """

    target_level: str
    key: str
    key_level: str
    records: int
    original_with_pair: int
    original_with_key: int
    percent: float


def one_way(disco: DiscoCells, original_t: Counts, target: CodedColumn, n: float, pct: float) -> OneWay | None:
    """Flag the target level with most DiSCO records if it has more than ``n`` and more than ``pct`` percent of them.

    Parameters
    ----------
    disco
        Disclosive and correct cells of one release, after exclusions.
    original_t : (n_levels,) int64
        Original records per target level, after exclusions.
    target
        The target variable.
    n, pct
        Thresholds.
    """
    total = int(disco.records.sum())
    if total == 0:
        return None
    by_level = np.bincount(disco.t, weights=disco.records, minlength=target.n_levels).astype(np.int64)
    level = int(by_level.argmax())
    of_level = int(by_level[level])
    if of_level <= n or not exceeds(100 * of_level / total, pct):
        return None
    return OneWay(
        level=target.label(level),
        share=100 * int(original_t[level]) / int(original_t.sum()),
        disclosive=total,
        of_level=of_level,
        percent=100 * of_level / total,
    )


def two_way(study: KeyedPair, disco: DiscoCells, target: CodedColumn, n: float, pct: float) -> list[TwoWay]:
    """Among DiSCO cells of more than ``n`` records, flag (target level, key level) pairs above ``pct`` percent.

    The percentage is the share, among original records with the key level, of those with the target level.

    Returns
    -------
    list
        By falling number of DiSCO records, then by key, key level and target level.
    """
    large = np.flatnonzero(disco.records > n)
    if not len(large):
        return []
    records = study.examples[disco.q[large]]
    original = OriginalCells.of(study, target)
    flagged = [
        pair
        for key in study.columns
        for pair in _pairs(key, target, key.original[records], disco.t[large], disco.records[large], original)
        if exceeds(pair["percent"], pct)
    ]
    return sorted(flagged, key=lambda pair: -pair["records"])


def _pairs(
    key: CodedColumn, target: CodedColumn, levels: NDArray[np.int32], t: Counts, disco: Counts, original: OriginalCells
) -> list[TwoWay]:
    code = levels.astype(np.int64) * target.n_levels + t
    pairs, position = np.unique(code, return_inverse=True)
    records = np.bincount(position, weights=disco).astype(np.int64)
    in_original = original.count(pairs, key, target)
    with_level = key.counts[0]
    result = []
    for pair, n_records, n_with_pair in zip(pairs, records, in_original, strict=True):
        level, t_level = divmod(int(pair), target.n_levels)
        with_pair, with_key = int(n_with_pair), int(with_level[level])
        result.append(
            TwoWay(
                target_level=target.label(t_level),
                key=key.name,
                key_level=key.label(level),
                records=int(n_records),
                original_with_pair=with_pair,
                original_with_key=with_key,
                percent=100 * with_pair / with_key,
            )
        )
    return result
