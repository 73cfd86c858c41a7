"""Measures of original records, for each level of a column."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cells import Counts
from unveil._tables.keyed_pair import KeyedPair
from unveil._tables.target_cells import TargetCells
from unveil.columns.column import CodedColumn
from unveil.errors import CallError, enough_memory
from unveil.files.source import Flavour
from unveil.result import frame

IDENTITY_FLAGS = {"UiO": "unique", "UiOiS": "unique_in_synthetic", "repU": "replicated_unique"}
ATTRIBUTE_FLAGS = {"iS": "in_synthetic", "DiS": "disclosive", "DiSCO": "disco"}
"""Per measure of original records, the flag that it counts."""


@dataclass(frozen=True)
class SharesByLevel:
    """Sums of shares a / b for each level of a column, as whole numerators by level and denominator.

    Parameters
    ----------
    levels, denominators : (k,) int64
        Ascending by level, then by denominator; no pair twice.
    numerators : (k,) int64
        Sum of the numerators that stand over each denominator.
    """

    levels: Counts
    denominators: Counts
    numerators: Counts

    @classmethod
    def of(cls, levels: NDArray[np.integer], numerators: Counts, denominators: Counts) -> SharesByLevel:
        """Collect numerators by level and denominator; shares of nothing are left out."""
        held = np.flatnonzero(numerators)
        order = held[np.lexsort((denominators[held], levels[held]))]
        level, below, above = levels[order].astype(np.int64), denominators[order], numerators[order]
        new = np.ones(len(order), bool)
        new[1:] = (level[1:] != level[:-1]) | (below[1:] != below[:-1])
        starts = np.flatnonzero(new)
        return cls(level[starts], below[starts], np.add.reduceat(above, starts) if len(starts) else above)

    def __add__(self, other: SharesByLevel) -> SharesByLevel:
        names = ("levels", "numerators", "denominators")
        return SharesByLevel.of(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    def totals(self, n_levels: int) -> NDArray[np.float64]:
        """The sum (n_levels,) of each level, correctly rounded once per denominator."""
        ends = np.searchsorted(self.levels, np.arange(n_levels + 1)).tolist()
        shares = (self.numerators / self.denominators).tolist()
        return np.array([math.fsum(shares[start:end]) for start, end in pairwise(ends)])


@dataclass(frozen=True)
class SumsByLevel:
    """What measures by level are made of; adds up over disjoint sets of key combinations.

    Parameters
    ----------
    records : (n_levels,) int64
        Number of original records of each level.
    flags
        Per measure the number of those (n_levels,) that it counts.
    shares
        Per measure the sums of what they contribute.
    """

    records: Counts
    flags: Mapping[str, Counts]
    shares: Mapping[str, SharesByLevel]

    def __add__(self, other: SumsByLevel) -> SumsByLevel:
        return SumsByLevel(
            self.records + other.records,
            {name: one + other.flags[name] for name, one in self.flags.items()},
            {name: one + other.shares[name] for name, one in self.shares.items()},
        )

    def percent(self) -> dict[str, NDArray[np.float64]]:
        """Each measure in percent of the records of each level that has one."""
        held = self.records > 0
        sums: dict[str, NDArray[Any]] = {**self.flags}
        sums |= {name: one.totals(len(held)) for name, one in self.shares.items()}
        return {name: 100 * one[held] / self.records[held] for name, one in sums.items()}


@dataclass(frozen=True)
class IdentityByLevel:
    """Flags of original records by level, as a measure of keys.

    Parameters
    ----------
    release
        Position of the release.
    by
        The column.
    """

    release: int
    by: CodedColumn

    def __call__(self, keys: KeyedPair) -> SumsByLevel:
        """Sum over the combinations of the keys."""
        flags, found = keys.flags(self.release), keys.members(None, self.by)
        counted = {name: flags[flag][found.q] for name, flag in IDENTITY_FLAGS.items()}
        return _summed(self.by, found.level, found.n, counted, {})


@dataclass(frozen=True)
class AttributeByLevel:
    """Flags and shares of original records by level, as a measure of keys.

    Parameters
    ----------
    release
        Position of the release.
    by
        The column.
    target, options
        The target, and the options of :func:`unveil.attribute`.
    """

    release: int
    by: CodedColumn
    target: CodedColumn
    options: Mapping[str, Any]

    def __call__(self, keys: KeyedPair) -> SumsByLevel:
        """Sum over the combinations of the keys."""
        cells, tables = TargetCells(keys, self.target, self.options).counted(self.release)
        found = keys.members(self.target, self.by)
        at = cells.find(found.q, found.t, self.target.n_levels)
        counted = {name: tables.counts[name][at] > 0 for name in ATTRIBUTE_FLAGS}
        s = tables.counts["synthetic"]
        right = (s * (tables.counts["original"] > 0))[at] * found.n
        shares = SharesByLevel.of(found.level, right, cells.over_keys(s)[at])
        return _summed(self.by, found.level, found.n, counted, {"DCAPd": shares})


def _summed(
    by: CodedColumn, level: NDArray[np.integer], n: Counts, counted: Mapping[str, NDArray[np.bool_]],
    shares: Mapping[str, SharesByLevel],
) -> SumsByLevel:  # fmt: skip
    def sums(weights: Counts) -> Counts:
        return np.bincount(level, weights, by.n_levels).astype(np.int64)

    return SumsByLevel(sums(n), {name: sums(n * flag) for name, flag in counted.items()}, shares)


@enough_memory()
def by_level(
    study: KeyedPair,
    target: CodedColumn | None,
    column: str,
    measure: Callable[[CodedColumn], Callable[[KeyedPair], SumsByLevel]],
    flavour: Flavour | None,
) -> Any:
    """Average what original records contribute to each measure over those with the same level.

    Parameters
    ----------
    study, target
        The keys, and the target if there is one.
    column
        A column that all files have.
    measure
        Function from that column, coded, to a measure of keys.
    flavour
        Kind of frame; by default that of the original.

    Returns
    -------
    frame
        One row per level that an original record has: the level, its number of records ``n``, and the measures in
        percent of these records.
    """
    if not isinstance(column, str):
        raise CallError(f"one column is named to group by, not {column!r}")
    groups = study.pair.compared(column)
    (sums,) = study.total([target], [measure(groups)], by=groups)
    figures, present = sums.percent(), np.flatnonzero(sums.records)
    level = column if column not in ("n", *figures) else f"{column} (level)"
    columns: dict[str, Any] = {level: [groups.labels[i] for i in present], "n": sums.records[present]}
    return frame(columns | figures, flavour or study.pair.flavour)
