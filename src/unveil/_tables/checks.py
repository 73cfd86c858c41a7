"""Checks that a high DiSCO is not just what everybody knows: one common level, or a key that implies it.

Source: Raab, Nowok & Dibben 2026, section 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cell_sums import CellSums
from unveil._tables.cells import Cells, Counts
from unveil._tables.keyed_pair import KeyedPair
from unveil.columns.column import CodedColumn
from unveil.limits import exceeds


@dataclass(frozen=True)
class DiscoRecords:
    """The records that make up DiSCO; adds up over disjoint sets of key combinations.

    Parameters
    ----------
    by_level : (n_levels,) int64
        Their number, by target level.
    large : per key and then of the target (k,) int
        The codes of each cell of more than a number of records.
    records : (k,) int64
        Number of records of each of these cells.
    """

    by_level: Counts
    large: tuple[NDArray[np.integer], ...]
    records: Counts

    @classmethod
    def of(cls, keys: KeyedPair, cells: Cells, found: CellSums) -> DiscoRecords:
        """Those of one block of cells, from what was found there."""
        large = found.large
        levels = keys.levels_of(cells.q[large]) if len(large) else tuple(cells.q[large] for _ in keys.columns)
        return cls(found.disco, (*levels, cells.t[large]), found.large_records)

    def __add__(self, other: DiscoRecords) -> DiscoRecords:
        large = tuple(map(np.concatenate, zip(self.large, other.large, strict=True)))
        return DiscoRecords(self.by_level + other.by_level, large, np.concatenate([self.records, other.records]))


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


def one_way(disco: DiscoRecords, original_t: Counts, target: CodedColumn, n: float, pct: float) -> OneWay | None:
    """Flag the target level with most DiSCO records if it has more than ``n`` and more than ``pct`` percent of them.

    Parameters
    ----------
    disco
        Disclosive and correct records of one release, after exclusions.
    original_t : (n_levels,) int64
        Original records per target level, after exclusions.
    target
        The target variable.
    n, pct
        Thresholds.
    """
    total = int(disco.by_level.sum())
    if total == 0:
        return None
    level = int(disco.by_level.argmax())
    of_level = int(disco.by_level[level])
    if of_level <= n or not exceeds(100 * of_level / total, pct):
        return None
    return OneWay(
        level=target.label(level),
        share=100 * int(original_t[level]) / int(original_t.sum()),
        disclosive=total,
        of_level=of_level,
        percent=100 * of_level / total,
    )


def two_way(
    study: KeyedPair,
    disco: DiscoRecords,
    target: CodedColumn,
    pct: float,
    original: Sequence[NDArray[np.int64] | None],
) -> list[TwoWay]:
    """Among large DiSCO cells, flag (target level, key level) pairs above ``pct`` percent.

    The percentage is the share, among original records with the key level, of those with the target level.

    Parameters
    ----------
    study
        The keys.
    disco
        Disclosive and correct records of one release, after exclusions.
    target
        The target variable.
    pct
        Threshold.
    original
        What :meth:`KeyedPair.original_pairs` gives.

    Returns
    -------
    list
        By falling number of DiSCO records, then by key, key level and target level.
    """
    if not len(disco.records):
        return []
    flagged = [
        pair for key in range(len(study.columns)) for pair in _flagged(study, key, target, disco, pct, original[key])
    ]
    return sorted(flagged, key=lambda pair: -pair["records"])


def _flagged(
    study: KeyedPair, number: int, target: CodedColumn, disco: DiscoRecords, pct: float,
    original: NDArray[np.int64] | None,
) -> list[TwoWay]:  # fmt: skip
    key = study.columns[number]
    code = disco.large[number].astype(np.int64) * target.n_levels + disco.large[-1]
    pairs, position = np.unique(code, return_inverse=True)
    records = np.bincount(position, weights=disco.records).astype(np.int64)
    with_pair = study.original_by_pair(number, target, pairs) if original is None else original[pairs]
    with_key = key.counts[0][pairs // target.n_levels]
    percent = 100 * with_pair / with_key
    return [
        TwoWay(
            target_level=target.label(int(pairs[i] % target.n_levels)),
            key=key.name,
            key_level=key.label(int(pairs[i] // target.n_levels)),
            records=int(records[i]),
            original_with_pair=int(with_pair[i]),
            original_with_key=int(with_key[i]),
            percent=float(percent[i]),
        )
        for i in np.flatnonzero(exceeds(percent, pct))
    ]
