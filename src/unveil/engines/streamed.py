"""The engine of files: records pass by in batches, and only counts stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.engines.engine import Beside, CountedValues, Flag, Measure, OfRecords, S
from unveil.engines.key_range import CodedValues, KeyRange, Layout, in_ranges
from unveil.engines.raw_values import Encoded, RawValues
from unveil.engines.record_rows import NOWHERE, RowOfRecord, Rows, numbered
from unveil.engines.spill import Spill, added_up, run_lengths
from unveil.engines.tally import Tally, count, summed
from unveil.errors import DataError, enough_memory
from unveil.files.batches import batches_of
from unveil.files.source import Source

Counts = NDArray[np.int64]
_BYTES = 8
_FEWEST_PLACES = 1 << 16
_PART_OF_MEMORY = 8
"""A tally takes at most one such part of the memory limit."""
MEMORY = 2 << 30


@dataclass
class _File:
    """What is known of one file so far.

    Parameters
    ----------
    source
        The file.
    raw, records
        The values of each column that was read, and their numbers of records.
    tallies
        By keys and target the raw codes of each cell, and its records.
    room
        Number of values that may be kept in memory.
    kept
        Batches that are.
    """

    source: Source
    raw: dict[str, RawValues] = field(default_factory=dict)
    records: dict[str, Counts] = field(default_factory=dict)
    tallies: dict[tuple[tuple[str, ...], str | None], tuple[Counts, ...]] = field(default_factory=dict)
    room: int = 0
    kept: list[dict[str, Encoded]] = field(default_factory=list)

    def cells(self, keys: tuple[str, ...], beside: Sequence[str]) -> tuple[Counts, ...] | None:
        """Raw codes of the cells of keys and a target, and their records; None where they were not counted."""
        if len(beside) > 1:
            return None
        found = self.tallies.get((keys, beside[0] if beside else None))
        if found is None and not beside:
            # Records that were counted beside any target are counted by the keys too.
            found = next((cells for (names, _), cells in self.tallies.items() if names == keys), None)
        return found

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Encoded]]:
        """The columns batch by batch, as raw codes; kept for the next time where there is room."""
        if self.kept and all(name in self.kept[0] for name in names):
            yield from self.kept
            return
        read = []
        has_room = self.source.num_rows * len(names) <= self.room
        for encoded in self._read(names):
            if has_room:
                read.append(encoded)
            yield encoded
        self.kept = read or self.kept

    def _read(self, names: Sequence[str]) -> Iterator[dict[str, Encoded]]:
        for batch in batches_of(self.source, names):
            encoded = {}
            for name, column in batch.items():
                raw = self.raw.get(name)
                if raw is None:
                    raw = self.raw[name] = RawValues(column.type)
                encoded[name] = raw.encode(column)
                if name in self.records and len(raw) > len(self.records[name]):
                    raise DataError(
                        f"{self.source.label}: column {name!r} holds other values than when it was first read; leave "
                        "the data alone while they are measured"
                    )
            yield encoded

    def counted(self, names: Sequence[str], new: Sequence[str]) -> Iterator[dict[str, Encoded]]:
        """The columns batch by batch, while the records of new ones are counted by the raw codes of each."""
        found = {name: np.zeros(1, np.int64) for name in new}
        for batch in self.batches(names):
            for name in new:
                counts = batch[name].counts(len(self.raw[name]))
                counts[: len(found[name])] += found[name]
                found[name] = counts
            yield batch
        # What an interrupted reading has counted is not all, and must not be taken for it.
        self.records |= found


class Streamed:
    """Counts the records of files batch by batch.

    Parameters
    ----------
    sources
        The original, then its releases.
    memory_limit
        Bytes that counting may take about.
    temp_dir
        Folder for what does not fit; by default that of the system.
    """

    def __init__(self, sources: Sequence[Source], memory_limit: int = MEMORY, temp_dir: str | None = None) -> None:
        self._most = max(memory_limit // _PART_OF_MEMORY // _BYTES, _FEWEST_PLACES)
        self._files = [_File(source, room=self._most // len(sources)) for source in sources]
        self._temp_dir = temp_dir

    def prepare(self, keys: Sequence[str], targets: Sequence[str]) -> None:
        """Find the values of the columns that are not known yet, and count combinations meanwhile."""
        names = [*keys, *targets]
        for file in self._files:
            new = [name for name in names if name not in file.records]
            if not new:
                continue
            # Places of all targets together stay within the limit.
            tally = Tally(len(targets), self._most // max(len(targets), 1))
            for batch in file.counted(names, new):
                if not tally.given_up:
                    tally.add(
                        [batch[name] for name in keys], [len(file.raw[name]) for name in keys],
                        [batch[name] for name in targets], [len(file.raw[name]) for name in targets],
                    )  # fmt: skip
            for number, target in enumerate(targets or [None]):
                cells = tally.cells(number)
                if cells is not None:
                    by_key, beside, records = cells
                    file.tallies[tuple(keys), target] = (*by_key, beside, records)

    def values_of(self, file: int, name: str) -> CountedValues:
        """The values of one column of one file, by its position: the original, then its releases."""
        one = self._files[file]
        if name not in one.records:
            for _ in one.counted([name], [name]):
                pass
        # A file without records has no batches, and nothing is known of its types.
        raw = one.raw.get(name) or RawValues(pa.null())
        return CountedValues(raw.values(), one.records[name])

    @enough_memory()
    def total(
        self, keys: Sequence[CodedValues], beside: Sequence[Beside], measures: Sequence[Measure[S]], *,
        hashed: bool = False,
    ) -> list[S]:  # fmt: skip
        """For each measure the sum, over all ranges of keys, of what it finds there."""
        found = []
        for columns, measure in zip(beside, measures, strict=True):
            total: S | None = None
            for part in self.ranges(keys, columns, hashed=hashed):
                one = measure(part)
                total = one if total is None else total + one  # type: ignore[operator]
            assert total is not None
            found.append(total)
        return found

    @enough_memory()
    def of_records(self, file: int, columns: Sequence[CodedValues], measure: OfRecords[S]) -> S:
        """The sum, over batches of records of one file, of what a measure finds in their codes."""
        tables = [column.tables[file].astype(np.int32) for column in columns]
        total = measure(np.zeros((len(columns), 0), np.int32))
        for batch in self._files[file].batches(list(dict.fromkeys(column.name for column in columns))):
            codes = [table[batch[column.name].raw_codes] for column, table in zip(columns, tables, strict=True)]
            total = total + measure(np.array(codes))  # type: ignore[operator]
        return total

    def flags(self, keys: Sequence[CodedValues], beside: Beside, flag: Flag) -> Iterator[pa.Table]:
        """What is said of each original record, in parts; with the number of the record, from 0.

        The original is read once for as many cells as fit in memory.
        """
        layout, columns, rows = Layout.of(keys, beside, len(self._files)), [*keys, *beside], Rows()
        source = self._files[0].source
        with RowOfRecord(source.num_rows, self._most, self._temp_dir) as of_record:
            for known, numbers in self._told(layout, self.ranges(keys, beside), flag, rows):
                start = 0
                for cells in self._cells(layout, columns, 0):
                    at = np.minimum(np.searchsorted(known, cells), len(known) - 1)
                    here = of_record.read(start, len(cells))
                    of_record.write(start, np.where(known[at] == cells, numbers[at], here))
                    start += len(cells)
            for start, found in of_record.blocks():
                if (found == NOWHERE).any():
                    raise DataError(
                        f"{source.label}: the records are not those that were counted; leave the data alone while they "
                        "are measured"
                    )
                yield numbered(start, rows.taken(found))

    def write_flags(
        self, keys: Sequence[CodedValues], beside: Beside, flag: Flag, path: str, *, overwrite: bool
    ) -> None:  # fmt: skip
        """Write the same as Parquet, part by part."""
        from unveil.files.write import write_blocks

        write_blocks(self.flags(keys, beside, flag), path, overwrite=overwrite, confidential=True)

    def _told(
        self, layout: Layout, ranges: Iterator[KeyRange], flag: Flag, rows: Rows
    ) -> Iterator[tuple[Counts, NDArray[np.int32]]]:
        """Codes of the cells that the original has, ascending, and their rows: as many at a time as fit in memory."""
        found: list[tuple[Counts, NDArray[np.int32]]] = []
        for part in ranges:
            held = np.flatnonzero(part.counts[0])
            if len(held):
                found.append((part.codes(layout, held), rows.numbers_of(flag(part))))
            if sum(len(codes) for codes, _ in found) > self._most // 2:
                yield np.concatenate([codes for codes, _ in found]), np.concatenate([row for _, row in found])
                found = []
        if found:
            yield np.concatenate([codes for codes, _ in found]), np.concatenate([row for _, row in found])

    def ranges(self, keys: Sequence[CodedValues], beside: Beside, *, hashed: bool = False) -> Iterator[KeyRange]:
        """Counts of all key combinations, range by range; at least one range."""
        n = len(self._files)
        layout = Layout.hashed(keys, n) if hashed else Layout.of(keys, beside, n)
        columns = [*keys, *beside]
        names = tuple(key.name for key in keys)
        known = [None if hashed else file.cells(names, [one.name for one in beside]) for file in self._files]
        if all(cells is not None for cells in known):
            yield from self._of_tallies(layout, columns, [cells for cells in known if cells is not None])
        elif layout.size * layout.width <= self._most:
            yield from self._of_counts(layout, columns)
        elif sum(file.source.num_rows for file in self._files) <= self._most:
            every = np.concatenate(list(self._codes(layout, columns)))
            every.sort()
            yield from in_ranges(layout, *run_lengths(every))
        else:
            yield from self._of_spill(layout, columns)

    def _of_tallies(
        self, layout: Layout, columns: Sequence[CodedValues], tallies: Sequence[tuple[Counts, ...]]
    ) -> Iterator[KeyRange]:
        cells = []
        for number, (*codes, records) in enumerate(tallies):
            code = np.zeros(len(records), np.int64)
            for column, stride, raw in zip(columns, layout.cell_strides, codes, strict=False):
                code += column.tables[number][raw] * stride
            cells.append((layout.in_file(code, number), records))
        yield from in_ranges(layout, *added_up(*map(np.concatenate, zip(*cells, strict=True))))

    def _of_counts(self, layout: Layout, columns: Sequence[CodedValues]) -> Iterator[KeyRange]:
        """Count the codes of all files directly."""
        counts = np.zeros(layout.size * layout.width, np.int64)
        for code in self._codes(layout, columns):
            count(code, counts)
        found = np.flatnonzero(counts)
        yield from in_ranges(layout, found, counts[found])

    def _of_spill(self, layout: Layout, columns: Sequence[CodedValues]) -> Iterator[KeyRange]:
        with Spill(layout.width, self._temp_dir) as spill:
            for code in self._codes(layout, columns):
                spill.add(code)
            for codes, records in spill.by_range():
                yield KeyRange.of(layout, codes, records)

    def _codes(self, layout: Layout, columns: Sequence[CodedValues]) -> Iterator[Counts]:
        """The code of each record's cell in its file."""
        for number in range(len(self._files)):
            for cells in self._cells(layout, columns, number):
                yield layout.in_file(cells, number)

    def _cells(self, layout: Layout, columns: Sequence[CodedValues], number: int) -> Iterator[Counts]:
        """The code of the cell of each record of a file."""
        worths = layout.worths([column.tables[number] for column in columns], layout.cell_strides)
        for batch in self._files[number].batches(list(dict.fromkeys(column.name for column in columns))):
            yield summed([batch[column.name] for column in columns], worths)
