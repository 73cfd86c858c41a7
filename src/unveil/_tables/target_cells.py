"""From the cells of a study to sums, to records, and to what each record contributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cell_sums import sum_cells
from unveil._tables.cells import ONE_ORIGINAL, ONE_SYNTHETIC, Cells, join_cells
from unveil._tables.checks import DiscoRecords
from unveil._tables.exclusion_rules import rules_of
from unveil._tables.exclusions import CellRules, Tables, add_removed, tabulate, times_removed
from unveil._tables.keyed_pair import KeyedPair
from unveil._tables.process import copied
from unveil._tables.sums import AttributeSums
from unveil.columns.column import CodedColumn
from unveil.columns.pair import Pair


@dataclass(frozen=True)
class MeasureSums:
    """What the measures of one release are made of; adds up over disjoint sets of key combinations.

    Parameters
    ----------
    sums
        Sums over all cells.
    removed
        Records that the exclusions took out, per table and rule.
    disco
        The records that make up DiSCO.
    original_t : (n_levels,) int64
        Original records per target level, after exclusions.
    mode_records
        DiSCO records if the release carried its most frequent target level only.
    """

    sums: AttributeSums
    removed: Mapping[str, Mapping[str, int]]
    disco: DiscoRecords
    original_t: NDArray[np.int64]
    mode_records: int

    def __add__(self, other: MeasureSums) -> MeasureSums:
        return MeasureSums(
            self.sums + other.sums,
            add_removed(self.removed, other.removed),
            self.disco + other.disco,
            self.original_t + other.original_t,
            self.mode_records + other.mode_records,
        )


@dataclass(frozen=True)
class SumsOfReleases:
    """The sums of each release, and of the original.

    Parameters
    ----------
    releases
        Per release its sums.
    pairs
        What :meth:`KeyedPair.original_pairs` gives.
    """

    releases: tuple[MeasureSums, ...]
    pairs: tuple[NDArray[np.int64] | None, ...]

    def __add__(self, other: SumsOfReleases) -> SumsOfReleases:
        return SumsOfReleases(
            tuple(one + more for one, more in zip(self.releases, other.releases, strict=True)),
            tuple(
                None if one is None or more is None else one + more
                for one, more in zip(self.pairs, other.pairs, strict=True)
            ),
        )


@dataclass(frozen=True)
class MeasuredTarget:
    """The sums of a target, as a measure of keys (:meth:`KeyedPair.total`).

    Parameters
    ----------
    target, options
        The target, and the options of :func:`unveil.attribute`.
    """

    target: CodedColumn
    options: Mapping[str, Any]

    def __call__(self, keys: KeyedPair) -> SumsOfReleases:
        """Sum over the combinations of the keys."""
        source = TargetCells(keys, self.target, self.options)
        n_large = self.options["check_2way"][0]
        releases = range(len(self.target.releases))
        return SumsOfReleases(tuple(source.summed(r, n_large) for r in releases), keys.original_pairs(self.target))


@dataclass(frozen=True)
class TargetCells:
    """Where the cells of a target come from: counted for the measures, and again for records, groups and intervals.

    Parameters
    ----------
    study, target, options
        Keys, target, and the options of :func:`unveil.attribute`, checked.
    """

    study: KeyedPair
    target: CodedColumn
    options: Mapping[str, Any]

    @cached_property
    def rules(self) -> CellRules:
        """What does not count."""
        return rules_of(self.study, self.target, self.options)

    def counted(self, release: int) -> tuple[Cells, Tables]:
        """All cells of one release, before and after exclusions."""
        cells = join_cells(self.study.blocks(self.target, release))
        return cells, tabulate(cells, self.rules)

    def summed(self, release: int, n_large: float) -> MeasureSums:
        """Sums over all key combinations, block by block.

        Parameters
        ----------
        release
            Position of the release.
        n_large
            DiSCO cells of more records are looked at one by one.
        """
        synthetic = self.target.counts[1 + release]
        mode = int(synthetic.argmax()) if synthetic.any() else None
        total = None
        for cells, times in self._blocks(release):
            found = sum_cells(cells, self.rules, self.target.n_levels, mode=mode, n_large=n_large)
            one = MeasureSums(
                found.sums.times(times),
                times_removed(found.removed, times),
                DiscoRecords.of(self.study, cells, found),
                found.original,
                times * found.mode_records,
            )
            total = one if total is None else total + one
        assert total is not None
        left_out = self.rules.leave_all and any(self.study.alone(release))
        return replace(total, original_t=self.study.original_by_level(self.target)) if left_out else total

    def _blocks(self, release: int) -> Iterator[tuple[Cells, int]]:
        """Blocks of cells, and how often each occurs.

        What a record alone with its keys adds to the sums does not depend on its target level, unless a rule does.
        """
        if not self.rules.leave_all:
            yield from ((cells, 1) for cells in self.study.blocks(self.target, release))
            return
        for cells, times in zip((ONE_ORIGINAL, ONE_SYNTHETIC), self.study.alone(release), strict=True):
            if times:
                yield cells, times
        yield from ((cells, 1) for cells in self.study.shared_blocks(self.target, release))

    def flags(self, release: int) -> tuple[Cells, dict[str, NDArray[Any]]]:
        """All cells of one release, and what each says about its original records."""
        cells, tables = self.counted(release)
        of_keys = self.study.flags(release)
        return cells, {
            "d_q": of_keys["d_q"][cells.q],
            "s_q": of_keys["s_q"][cells.q],
            "ps": _shares(cells, tables) * (tables.counts["original"] > 0),
            "replicated_unique": of_keys["replicated_unique"][cells.q],
            "in_synthetic": tables.counts["iS"] > 0,
            "disclosive": tables.counts["DiS"] > 0,
            "disco": tables.counts["DiSCO"] > 0,
        }

    def records(self, release: int) -> dict[str, NDArray[Any]]:
        """Per original record (n,) what its cell says about it; where records are coded in memory."""
        cells, flags = self.flags(release)
        at = cells.find(self.study.combinations.original, self.target.original, self.target.n_levels)
        return {name: flag[at] for name, flag in flags.items()}

    def copied(self, release: int) -> dict[str, NDArray[np.float64]]:
        """Per kind of original record what a release record like it would change for the others.

        The kinds are those of :meth:`contributions`; see :func:`unveil._tables.process.copied`.
        """
        cells, tables = self.counted(release)
        return {name: change[cells.d > 0] for name, change in copied(cells, tables).items()}

    def over(self, part: Pair, options: Mapping[str, Any]) -> TargetCells:
        """The same target of some of the records and releases, cut as it was."""
        study = self.study.over(part)
        target = part.as_cut(self.target)
        return TargetCells(study, target, options)

    def contributions(self, release: int) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int64]]:
        """What each original record of a cell adds to DiSCO and DCAPd, and the number of such records.

        The cells are those that original records have, in the same order whatever the release.
        """
        cells, tables = self.counted(release)
        held = cells.d > 0
        kept = tables.counts["original"][held] > 0
        disco = (tables.counts["DiSCO"][held] > 0).astype(float)
        return {"DiSCO": disco, "DCAPd": _shares(cells, tables)[held] * kept}, cells.d[held]


def _shares(cells: Cells, tables: Tables) -> NDArray[np.float64]:
    """ps per cell, from the synthetic table after exclusions."""
    s = tables.counts["synthetic"]
    s_q = cells.over_keys(s)
    return np.divide(s, s_q, out=np.zeros(len(s)), where=s_q > 0)
