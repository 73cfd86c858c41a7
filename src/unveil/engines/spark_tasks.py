"""What Spark runs where the records are: functions from Arrow batches to Arrow batches.

They see one part of a table at a time. Whatever Spark does to the order of records, to a task that is lost, or to the
number of parts changes no count.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.engines.engine import Measure, OfRecords
from unveil.engines.key_range import Layout, in_ranges, strides_of
from unveil.engines.raw_values import GAP, Encoded, RawValues
from unveil.engines.spill import added_up, run_lengths
from unveil.engines.tally import count, summed
from unveil.files.arrays import buffer_view, from_numpy
from unveil.files.spark_frames import changed, in_utc

Counts = NDArray[np.int64]
Batches = Iterable[pa.RecordBatch]
VALUES = "file int, position int, payload binary"
CELLS = "target int, combination bigint, place bigint, records bigint"
SUMS = "target int, first bigint, payload binary"
"""What the rows hold that each function yields."""
_ROWS = 1 << 17
"""Number of rows of a batch that is yielded."""
_RECORDS = 1 << 17
"""Number of records that are coded at a time: each time costs something for each distinct text."""
_PLACES = 1 << 21
"""Most cells that are counted directly, all targets together."""
_SORTED = 1 << 18
"""Number of records that are sorted at a time."""
_MOST = 1 << 21
"""Most cells of a target that wait for more records of theirs; then they go on as they are."""


@dataclass(frozen=True)
class CountValues:
    """Counts the records of a part by each distinct value of each column.

    Parameters
    ----------
    file
        Number of the table.
    """

    file: int

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the values of the columns, each with its number of records; the gap comes first."""
        found: dict[int, tuple[RawValues, Counts]] = {}
        for batch in _joined(batches):
            for position, column in enumerate(map(in_utc, batch.columns)):
                raw, records = found.get(position) or (RawValues(column.type), np.zeros(1, np.int64))
                encoded = raw.encode(column)
                counts = encoded.counts(len(raw))
                counts[: len(records)] += records
                found[position] = raw, counts
        for position, (raw, records) in found.items():
            values = pa.concat_arrays([pa.nulls(1, raw.kind), raw.values()])
            for start in range(0, len(values), _ROWS):
                part = slice(start, start + _ROWS)
                told = pa.RecordBatch.from_arrays(
                    [values[part], from_numpy(records[part])], names=["value", "records"]
                )  # fmt: skip
                yield _row(VALUES, np.int32(self.file), np.int32(position), _packed(told))


@dataclass(frozen=True)
class CombineCells:
    """Counts the records of a part by their cell, for each target.

    Parameters
    ----------
    label
        What messages call the table.
    file
        Its number.
    layouts
        Per target how the codes of keys and target make one number.
    values, codes
        Per column, keys before targets, the values that were found, and the codes of the gap and of each.
    columns
        Per target the positions of the columns beside the keys.
    """

    label: str
    file: int
    layouts: tuple[Layout, ...]
    values: tuple[pa.Array, ...]
    codes: tuple[Counts, ...]
    columns: tuple[tuple[int, ...], ...]

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the number of records of each cell; a cell may come more than once."""
        waiting = [_Waiting(layout, len(self.layouts)) for layout in self.layouts]
        for cells in self.cells_of(batches):
            for target, (some, one) in enumerate(zip(cells, waiting, strict=True)):
                for full in one.add(some):
                    yield from self._rows(target, *full)
        for target, one in enumerate(waiting):
            for rest in one.rest():
                yield from self._rows(target, *rest)

    def cells_of(self, batches: Batches) -> Iterator[list[Counts]]:
        """Per target the code of each record's cell, batch by batch."""
        first = self.layouts[0]
        n_keys = first.n_keys
        by_code = [*first.worths(self.codes[:n_keys], first.strides), *self.codes[n_keys:]]
        known: list[_Known] = []
        for batch in _joined(batches):
            known = known or [
                _Known.of(column.type, values, worths)
                for column, values, worths in zip(batch.columns, self.values, by_code, strict=True)
            ]
            encoded = [one.encode(column, self.label) for one, column in zip(known, batch.columns, strict=True)]
            worths = [one.worths for one in known]
            combination = summed(encoded[:n_keys], worths[:n_keys])
            found = []
            for beside, layout in zip(self.columns, self.layouts, strict=True):
                cells = combination * layout.n_target
                for column, stride in zip(beside, strides_of(layout.n_beside), strict=True):
                    cells += summed([encoded[column]], [worths[column] * stride])
                found.append(cells)
            yield found

    def _rows(self, target: int, cells: Counts, records: Counts) -> Iterator[pa.RecordBatch]:
        layout = self.layouts[target]
        for start in range(0, len(cells), _ROWS):
            some = cells[start : start + _ROWS]
            combination, level = np.divmod(some, layout.n_target)
            yield batch_of(
                CELLS, np.full(len(some), target, np.int32), combination, layout.in_file(level, self.file),
                records[start : start + _ROWS],
            )  # fmt: skip


@dataclass(frozen=True)
class MeasureCells:
    """Measures whole key combinations, of which all rows are in this part.

    Parameters
    ----------
    layouts, measures
        Per target how its cells are numbered, and what is measured.
    """

    layouts: tuple[Layout, ...]
    measures: tuple[Measure[Any], ...]

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield per target what its measure finds, and the first combination for an order of the parts."""
        whole = gathered(batches, self.layouts)
        for target, (layout, measure) in enumerate(zip(self.layouts, self.measures, strict=True)):
            for codes, records in whole[target]:
                total = _sum(measure(one) for one in in_ranges(layout, codes, records))
                yield _row(SUMS, np.int32(target), np.int64(codes[0] // layout.width), pickle.dumps(total))


@dataclass(frozen=True)
class MeasureRecords:
    """Measures records of a part in the codes that all tables share.

    Parameters
    ----------
    label
        What messages call the table.
    values, codes
        Per column the values that were found, and the codes of the gap and of each.
    measure
        Function from codes (p, n) to something that adds up.
    """

    label: str
    values: tuple[pa.Array, ...]
    codes: tuple[Counts, ...]
    measure: OfRecords[Any]

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield what the measure finds in all records of the part."""
        known: list[_Known] = []
        total: Any = None
        for batch in _joined(batches):
            known = known or [
                _Known.of(column.type, values, codes)
                for column, values, codes in zip(batch.columns, self.values, self.codes, strict=True)
            ]
            encoded = [one.encode(column, self.label) for one, column in zip(known, batch.columns, strict=True)]
            codes = [one.worths[own.raw_codes].astype(np.int32) for one, own in zip(known, encoded, strict=True)]
            found = self.measure(np.array(codes))
            total = found if total is None else total + found
        if total is not None:
            yield _row(SUMS, np.int32(0), np.int64(0), pickle.dumps(total))


def gathered(batches: Batches, layouts: Sequence[Layout]) -> list[Iterator[tuple[Counts, Counts]]]:
    """Per target the codes of all cells, ascending and different, and their records; nothing where there are none."""
    found: list[list[tuple[Counts, Counts]]] = [[] for _ in layouts]
    for batch in batches:
        which = buffer_view(batch.column(0), np.int32)
        combination, place, records = (buffer_view(batch.column(i), np.int64) for i in (1, 2, 3))
        for target, layout in enumerate(layouts):
            mine = np.flatnonzero(which == target)
            if len(mine):
                found[target].append((combination[mine] * layout.width + place[mine], records[mine]))
    return [_added_up(parts) for parts in found]


def _added_up(parts: list[tuple[Counts, Counts]]) -> Iterator[tuple[Counts, Counts]]:
    if parts:
        together = tuple(map(np.concatenate, zip(*parts, strict=True)))
        parts.clear()
        yield added_up(*together)


@dataclass(frozen=True)
class _Known:
    """The values of a column that were found before, and what each adds to the number of a cell.

    Parameters
    ----------
    raw
        The values.
    worths
        What each raw code adds.
    """

    raw: RawValues
    worths: Counts

    @classmethod
    def of(cls, kind: pa.DataType, values: pa.Array, worths: Counts) -> _Known:
        raw = RawValues(kind)
        places = raw.encode(values).raw_codes
        by_raw = np.zeros(len(raw), np.int64)
        by_raw[GAP], by_raw[places] = worths[GAP], worths[1:]
        return cls(raw, by_raw)

    def encode(self, column: pa.Array, label: str) -> Encoded:
        encoded = self.raw.encode(column)
        if len(self.raw) > len(self.worths):
            raise changed(label)
        return encoded


class _Waiting:
    """Cells of one target whose records are brought together before they go on."""

    def __init__(self, layout: Layout, n_targets: int) -> None:
        self.layout = layout
        size = layout.size * layout.n_target
        self._counts = np.zeros(size, np.int64) if size * n_targets <= _PLACES else None
        self._unsorted: list[Counts] = []
        self._n_unsorted = 0
        self._cells: list[tuple[Counts, Counts]] = []

    def add(self, cells: Counts) -> Iterator[tuple[Counts, Counts]]:
        """Take the cells of some records; yield those that are too many to wait."""
        if self._counts is not None:
            count(cells, self._counts)
            return
        self._unsorted.append(cells)
        self._n_unsorted += len(cells)
        if self._n_unsorted >= _SORTED:
            self._sort()
            if sum(len(one) for one, _ in self._cells) > _MOST:
                together = self._together()
                if 2 * len(together[0]) > _MOST:
                    self._cells = []
                    yield together

    def rest(self) -> Iterator[tuple[Counts, Counts]]:
        """Yield what still waits."""
        if self._counts is not None:
            found = np.flatnonzero(self._counts)
            yield found, self._counts[found]
            return
        self._sort()
        if self._cells:
            yield self._together()

    def _sort(self) -> None:
        if self._unsorted:
            joined = np.concatenate(self._unsorted)
            joined.sort()
            self._cells.append(run_lengths(joined))
            self._unsorted, self._n_unsorted = [], 0

    def _together(self) -> tuple[Counts, Counts]:
        self._cells = [added_up(*map(np.concatenate, zip(*self._cells, strict=True)))]
        return self._cells[0]


def _joined(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The same records in larger batches."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= _RECORDS:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
            waiting = []
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


def unpacked(payload: bytes) -> pa.Table:
    """The values and records that :class:`CountValues` has packed."""
    return pa.ipc.open_stream(payload).read_all()


def _packed(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _sum(parts: Iterator[Any]) -> Any:
    total = next(parts)
    for part in parts:
        total = total + part
    return total


def _names(declared: str) -> list[str]:
    return [one.split()[0] for one in declared.split(", ")]


def batch_of(declared: str, *columns: NDArray[Any]) -> pa.RecordBatch:
    """Columns as the rows that are declared."""
    return pa.RecordBatch.from_arrays([from_numpy(one) for one in columns], names=_names(declared))


def _row(declared: str, *fields: Any) -> pa.RecordBatch:
    *numbers, payload = fields
    ends = np.array([0, len(payload)], np.int32)
    binary = pa.Array.from_buffers(pa.binary(), 1, [None, pa.py_buffer(ends), pa.py_buffer(payload)])
    columns = [from_numpy(np.array([number])) for number in numbers]
    return pa.RecordBatch.from_arrays([*columns, binary], names=_names(declared))


def sum_of(parts: Sequence[bytes]) -> Any:
    """What all parts together have found."""
    return _sum(pickle.loads(part) for part in parts)
