"""Which cells count: the exclusions, and the tables that remain after them.

Which cells are disclosive is settled on all records. Then the excluded cells are set to zero in every table.
Source: Raab, Nowok & Dibben 2026, section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cells import Cells, Counts

TABLES = ("original", "synthetic", "Dorig", "Dsyn", "iS", "DiS", "DiSCO", "DiSDiO")
RULES = ("not_target_levels", "use_target_na", "use_keys_na", "exclude_pairs", "denom_limit")
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class CellRules:
    """The exclusions as tests on codes.

    Parameters
    ----------
    target_levels : (n_levels,) bool
        Target levels that do not count.
    target_gap
        Code of the target's gap if it does not count.
    keys : (size,) bool or None
        Key combinations that do not count, because a key is missing.
    pairs
        For each pair to leave out: which combinations hold the key level (size,) bool, and the target level.
    denom_limit
        Cells of a table whose own count is above it do not count in that table.
    """

    target_levels: Flags | None = None
    target_gap: int | None = None
    keys: Flags | None = None
    pairs: tuple[tuple[Flags, int], ...] = ()
    denom_limit: int | None = None

    @property
    def leave_all(self) -> bool:
        """Whether no rule is in force."""
        rules = (self.target_levels, self.target_gap, self.keys, self.denom_limit)
        return not self.pairs and all(rule is None for rule in rules)

    def masks(self, cells: Cells) -> dict[str, Flags]:
        """Per rule that is in force and names cells, the cells it names."""
        named: dict[str, Flags] = {}
        if self.target_levels is not None:
            named["not_target_levels"] = self.target_levels[cells.t]
        if self.target_gap is not None:
            named["use_target_na"] = cells.t == self.target_gap
        if self.keys is not None:
            named["use_keys_na"] = self.keys[cells.q]
        if self.pairs:
            named["exclude_pairs"] = np.logical_or.reduce(
                [holds[cells.q] & (cells.t == level) for holds, level in self.pairs]
            )
        return named


@dataclass(frozen=True)
class Tables:
    """Counts per cell that enter the measures, after exclusions.

    Parameters
    ----------
    counts
        Per name of :data:`TABLES` the records (n_cells,) int64 of each cell.
    removed
        Per table and rule the number of records taken out, and under "remaining" what was left.
    """

    counts: Mapping[str, Counts]
    removed: Mapping[str, Mapping[str, int]]


def add_removed(
    first: Mapping[str, Mapping[str, int]], second: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Records taken out of two disjoint sets of key combinations."""
    return {table: {rule: n + second[table][rule] for rule, n in rules.items()} for table, rules in first.items()}


def times_removed(removed: Mapping[str, Mapping[str, int]], n: int) -> dict[str, dict[str, int]]:
    """Records taken out of n equal blocks."""
    return {table: {rule: n * records for rule, records in rules.items()} for table, rules in removed.items()}


def tabulate(cells: Cells, rules: CellRules) -> Tables:
    """Build the eight tables of counts and take the excluded cells out of them.

    Parameters
    ----------
    cells
        Counts of one original and one release.
    rules
        What does not count.
    """
    settled = _tables(cells)
    if rules.leave_all:
        untouched = {
            name: dict.fromkeys(RULES, 0) | {"remaining": int(counts.sum())} for name, counts in settled.items()
        }
        return Tables(settled, untouched)
    masks = rules.masks(cells)
    counts: dict[str, Counts] = {}
    removed: dict[str, dict[str, int]] = {}
    for name, table in settled.items():
        counts[name], removed[name] = _exclude(table, masks, rules.denom_limit)
    return Tables(counts, removed)


def _tables(cells: Cells) -> dict[str, Counts]:
    in_original = (cells.d == cells.d_q) & (cells.d > 0)
    in_release = (cells.s == cells.s_q) & (cells.s > 0)
    disclosive = cells.over_keys(in_release) > 0
    return {
        "original": cells.d,
        "synthetic": cells.s,
        "Dorig": cells.d * in_original,
        "Dsyn": cells.s * in_release,
        "iS": cells.d * (cells.s_q > 0),
        "DiS": cells.d * disclosive,
        "DiSCO": cells.d * in_release,
        "DiSDiO": cells.d * (in_release & in_original),
    }


def _exclude(table: Counts, masks: Mapping[str, Flags], denom_limit: int | None) -> tuple[Counts, dict[str, int]]:
    left = table.copy()
    removed = dict.fromkeys(RULES, 0)
    for rule, mask in masks.items():
        removed[rule] = int(left[mask].sum())
        left[mask] = 0
    if denom_limit is not None:
        over = left > denom_limit
        removed["denom_limit"] = int(left[over].sum())
        left[over] = 0
    return left, removed | {"remaining": int(left.sum())}
