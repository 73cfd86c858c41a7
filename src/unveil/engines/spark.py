"""The engine of Spark: records are counted in its workers, and only distinct values and sums come to this process.

Nothing is compared, cast or sorted by Spark: its workers code values as this process does, and Spark sees whole
numbers. So neither its types, its time zone, its collations nor its ANSI mode decide what is equal.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.engines.engine import Beside, CountedValues, Flag, Measure, OfRecords, S
from unveil.engines.key_range import CodedValues, KeyRange, Layout
from unveil.engines.raw_values import RawValues
from unveil.engines.spark_flags import CELL, PARTS, RECORDS, CellOfRecord, FlagCells, RecordsOfPart, firsts_of, rows_of
from unveil.engines.spark_tasks import (
    CELLS,
    SUMS,
    VALUES,
    CombineCells,
    CountValues,
    MeasureCells,
    MeasureRecords,
    sum_of,
    unpacked,
)
from unveil.errors import DataError
from unveil.files.arrays import buffer_view
from unveil.files.source import Source
from unveil.files.spark_frames import asking_spark, by_position

Counts = NDArray[np.int64]
_SINGLE = {
    "boolean", "byte", "short", "integer", "long", "float", "double", "decimal", "string", "char", "varchar", "binary",
    "date", "timestamp", "timestamp_ntz", "time", "daytimeinterval", "void",
}  # fmt: skip
"""Types of Spark that hold one value per record."""


class Spark:
    """Counts the records of Spark DataFrames where they are.

    Parameters
    ----------
    sources
        The original, then its releases; all of one Spark session.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)
        self._label = ", ".join(source.label for source in sources)
        self._values: list[dict[str, CountedValues]] = [{} for _ in sources]

    def prepare(self, keys: Sequence[str], targets: Sequence[str]) -> None:
        """Find the values of all columns that are not known yet, in one job."""
        wanted = [
            [name for name in dict.fromkeys([*keys, *targets]) if name not in known and _holds_one(source, name)]
            for source, known in zip(self._sources, self._values, strict=True)
        ]
        asked = [(file, names) for file, names in enumerate(wanted) if names]
        if not asked:
            return
        parts = [self._mapped(file, names, CountValues(file), VALUES) for file, names in asked]
        found: dict[tuple[int, int], list[pa.Table]] = {}
        for file, position, payload in _rows(self._collected(_union(parts))):
            found.setdefault((file, position), []).append(unpacked(payload))
        for file, names in asked:
            for position, name in enumerate(names):
                self._values[file][name] = _brought_together(found.get((file, position), []))

    def values_of(self, file: int, name: str) -> CountedValues:
        """The values of one column of one file, by its position: the original, then its releases.

        Raises
        ------
        DataError
            If the column does not hold one value per record, or Spark cannot read it.
        """
        source = self._sources[file]
        if not _holds_one(source, name):
            kind = source.distributed.schema.fields[source.names.index(name)].dataType.simpleString()
            raise DataError(
                f"{source.label}: column {name!r} holds {kind} values, not one value per record; leave it out"
            )
        if name not in self._values[file]:
            self.prepare([name], [])
        return self._values[file][name]

    def total(
        self, keys: Sequence[CodedValues], beside: Sequence[Beside], measures: Sequence[Measure[S]], *,
        hashed: bool = False,
    ) -> list[S]:  # fmt: skip
        """For each measure the sum, over all ranges of keys, of what it finds there."""
        n = len(self._sources)
        layouts = tuple(Layout.hashed(keys, n) if hashed else Layout.of(keys, columns, n) for columns in beside)
        found: list[list[tuple[int, bytes]]] = [[] for _ in beside]
        task = _function(MeasureCells(layouts, tuple(measures)))
        sums = self._exchanged(keys, beside, layouts).mapInArrow(task, SUMS)
        for target, first, payload in _rows(self._collected(sums)):
            found[target].append((first, payload))
        none = np.zeros(0, np.int64)
        return [
            # The first combination of a part tells where it belongs, however Spark has ordered the parts.
            sum_of([payload for _, payload in sorted(parts)]) if parts else measure(KeyRange.of(layout, none, none))
            for parts, layout, measure in zip(found, layouts, measures, strict=True)
        ]

    def of_records(self, file: int, columns: Sequence[CodedValues], measure: OfRecords[S]) -> S:
        """The sum, over batches of records of one table, of what a measure finds in their codes."""
        values = tuple(self.values_of(file, column.name).values for column in columns)
        task = MeasureRecords(self._sources[file].label, values, tuple(one.tables[file] for one in columns), measure)
        found = self._collected(self._mapped(file, [column.name for column in columns], task, SUMS))
        nothing = pickle.dumps(measure(np.zeros((len(columns), 0), np.int32)))
        total: S = sum_of([nothing, *(payload for *_, payload in _rows(found))])
        return total

    def flags(self, keys: Sequence[CodedValues], beside: Beside, flag: Flag) -> Iterator[pa.Table]:
        """What is said of each original record, with the number of the record in the order in which Spark gives them.

        All of it comes here.
        """
        yield self._collected(self._flags(keys, beside, flag)).sort_by("record")

    def write_flags(
        self, keys: Sequence[CodedValues], beside: Beside, flag: Flag, path: str, *, overwrite: bool
    ) -> None:  # fmt: skip
        """Write the same as a folder of Parquet files, by the workers."""
        with asking_spark(path):
            writer = self._flags(keys, beside, flag).write.mode("overwrite" if overwrite else "error")
            # Only the owner can read the files, where the file system knows owners.
            writer.option("fs.permissions.umask-mode", "077").option("fs.file.impl.disable.cache", "true").parquet(path)

    def _flags(self, keys: Sequence[CodedValues], beside: Beside, flag: Flag) -> Any:
        """The frame of the flags: of each cell, and joined by the number of its cell to each original record."""
        layout, columns = Layout.of(keys, beside, len(self._sources)), [*keys, *beside]
        task = FlagCells(layout, flag)
        flags = self._exchanged(keys, [beside], (layout,)).mapInArrow(_function(task), rows_of(task.nothing))
        names = [column.name for column in columns]
        counted = self._collected(self._mapped(0, names, RecordsOfPart(), PARTS))
        each = CellOfRecord(self._combining(0, columns, (layout,), _places(keys, [beside])), firsts_of(counted))
        with asking_spark(self._label):
            return self._mapped(0, names, each, RECORDS).join(flags, CELL).drop(CELL)

    def _exchanged(self, keys: Sequence[CodedValues], beside: Sequence[Beside], layouts: tuple[Layout, ...]) -> Any:
        """The frame of the cells, combined in each part and exchanged once, by their combination."""
        columns = [*keys, *(column for one in beside for column in one)]
        names, at = [column.name for column in columns], _places(keys, beside)
        cells = [
            self._mapped(file, names, self._combining(file, columns, layouts, at), CELLS)
            for file in range(len(self._sources))
        ]
        return _union(cells).repartition("combination")

    def _combining(
        self, file: int, columns: Sequence[CodedValues], layouts: tuple[Layout, ...], at: tuple[tuple[int, ...], ...]
    ) -> CombineCells:
        values = tuple(self.values_of(file, column.name).values for column in columns)
        codes = tuple(column.tables[file] for column in columns)
        return CombineCells(self._sources[file].label, file, layouts, values, codes, at)

    def _mapped(self, file: int, names: Sequence[str], task: Callable[[Any], Iterator[Any]], rows: str) -> Any:
        """What a task makes of some columns of a table."""
        source = self._sources[file]
        with asking_spark(source.label):
            # A column can be wanted more than once, and rows that go to Python have no two columns of one name.
            columns = by_position(source.distributed).select(*(f"c{source.names.index(name)}" for name in names))
            return by_position(columns).mapInArrow(_function(task), rows)

    def _collected(self, frame: Any) -> pa.Table:
        with asking_spark(self._label):
            return frame.toArrow()


def _places(keys: Beside, beside: Sequence[Beside]) -> tuple[tuple[int, ...], ...]:
    """Where the columns beside the keys are, behind the keys."""
    ends = np.cumsum([len(keys), *map(len, beside)]).tolist()
    return tuple(tuple(range(start, end)) for start, end in pairwise(ends))


def _holds_one(source: Source, name: str) -> bool:
    with asking_spark(source.label):
        kind = source.distributed.schema.fields[source.names.index(name)].dataType
    return kind.typeName() in _SINGLE


def _function(task: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    """A task as the plain function that Spark wants."""
    return lambda batches: task(batches)


def _union(frames: Sequence[Any]) -> Any:
    """All rows; they hold whole numbers and bytes alone, whose types no union widens."""
    return reduce(lambda one, other: one.union(other), frames)


def _rows(table: pa.Table) -> Iterator[list[Any]]:
    for batch in table.to_batches():
        yield from (list(row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _brought_together(parts: Sequence[pa.Table]) -> CountedValues:
    """The values of a column from those of the parts of its table."""
    if not parts:
        # A table without records has no batches, and nothing is known of its types.
        return CountedValues(RawValues(pa.null()).values(), np.zeros(1, np.int64))
    raw = RawValues(parts[0].column("value").type)
    found = []
    for part in parts:
        for batch in part.to_batches():
            found.append((raw.encode(batch.column(0)).raw_codes, buffer_view(batch.column(1), np.int64)))
    records = np.zeros(len(raw), np.int64)
    for codes, n in found:
        np.add.at(records, codes, n)
    return CountedValues(raw.values(), records)
