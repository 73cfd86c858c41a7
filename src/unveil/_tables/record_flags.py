"""What is said of every original record: in a frame, or written to a file. It is confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from numpy.typing import NDArray

from unveil._tables.counted_keys import CountedKeys
from unveil._tables.keyed_pair import KeyedPair
from unveil._tables.target_cells import TargetCells
from unveil.columns.column import CodedColumn
from unveil.errors import enough_memory
from unveil.files.arrays import from_numpy
from unveil.files.folders import PARQUET

Said = Mapping[str, NDArray[Any]]


class RecordFlags(Protocol):
    """What is said of original records; a function from keys, for where an engine counts."""

    @property
    def target(self) -> CodedColumn | None:
        """The target; None for the keys alone."""

    def __call__(self, keys: KeyedPair) -> Said:
        """What is said of each cell that the original has, ascending."""

    def of_records(self, keys: KeyedPair) -> Said:
        """What is said of each original record (n,)."""


@dataclass(frozen=True)
class IdentityFlags:
    """Number of records with the same keys, and in which way the record is unique.

    Parameters
    ----------
    release
        Position of the release.
    """

    release: int
    target: None = None

    def __call__(self, keys: KeyedPair) -> Said:
        """What is said of each key combination that the original has."""
        held = keys.combinations.tallies[0] > 0
        return {name: flag[held] for name, flag in keys.flags(self.release).items()}

    def of_records(self, keys: KeyedPair) -> Said:
        """What is said of each original record (n,)."""
        return {name: flag[keys.combinations.original] for name, flag in keys.flags(self.release).items()}


@dataclass(frozen=True)
class AttributeFlags:
    """What the cell of a record says about its target.

    Parameters
    ----------
    release
        Position of the release.
    target, options
        The target, and the options of :func:`unveil.attribute`.
    """

    release: int
    target: CodedColumn
    options: Mapping[str, Any]

    def __call__(self, keys: KeyedPair) -> Said:
        """What is said of each cell that the original has."""
        cells, flags = TargetCells(keys, self.target, self.options).flags(self.release)
        return {name: flag[cells.d > 0] for name, flag in flags.items()}

    def of_records(self, keys: KeyedPair) -> Said:
        """What is said of each original record (n,)."""
        return TargetCells(keys, self.target, self.options).records(self.release)


@enough_memory()
def records_of(study: KeyedPair, flags: RecordFlags) -> pa.Table:
    """A row per original record: its number, from 0, or the unit by its name, and what is said of it."""
    if isinstance(study, CountedKeys):
        return study.told(flags.target, flags)
    columns = {name: from_numpy(column) for name, column in flags.of_records(study).items()}
    return pa.table({**study.pair.record_names(), **columns})


@enough_memory()
def write_records(study: KeyedPair, flags: RecordFlags, path: str | Path, *, overwrite: bool) -> None:
    """Write the same to a file; as Parquet, and where an engine counts, without having all of it in memory."""
    if isinstance(study, CountedKeys) and str(path).lower().endswith(PARQUET):
        study.write_told(flags.target, flags, str(path), overwrite=overwrite)
        return
    from unveil.files.write import write_table

    write_table(records_of(study, flags), path, overwrite=overwrite, confidential=True)
