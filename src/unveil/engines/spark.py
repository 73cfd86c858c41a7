"""The engine of Spark: records are counted in its workers, and only distinct values and sums come to this process.

Nothing is compared, cast or sorted by Spark: its workers code values as this process does, and Spark sees whole
numbers. So neither its types, its time zone, its collations nor its ANSI mode decide what is equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.engines.engine import CountedValues, Measure, S
from unveil.engines.key_range import CodedValues, KeyRange, Layout
from unveil.engines.raw_values import RawValues
from unveil.engines.spark_tasks import CELLS, SUMS, VALUES, CombineCells, CountValues, MeasureCells, sum_of, unpacked
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
        self, keys: Sequence[CodedValues], targets: Sequence[CodedValues | None], measures: Sequence[Measure[S]]
    ) -> list[S]:
        """For each target the sum, over all ranges of keys, of what its measure finds there."""
        layouts = tuple(Layout.of(keys, target, len(self._sources)) for target in targets)
        found: list[list[tuple[int, bytes]]] = [[] for _ in targets]
        for target, first, payload in _rows(self._collected(self._sums(keys, targets, layouts, measures))):
            found[target].append((first, payload))
        none = np.zeros(0, np.int64)
        return [
            # The first combination of a part tells where it belongs, however Spark has ordered the parts.
            sum_of([payload for _, payload in sorted(parts)]) if parts else measure(KeyRange.of(layout, none, none))
            for parts, layout, measure in zip(found, layouts, measures, strict=True)
        ]

    def _sums(
        self, keys: Sequence[CodedValues], targets: Sequence[CodedValues | None], layouts: tuple[Layout, ...],
        measures: Sequence[Measure[S]],
    ) -> Any:  # fmt: skip
        """The frame of the sums of all parts: cells are combined, exchanged once by their combination, and measured."""
        beside = list({target.name: target for target in targets if target is not None}.values())
        columns = [*keys, *beside]
        places = {target.name: len(keys) + place for place, target in enumerate(beside)}
        at = tuple(None if target is None else places[target.name] for target in targets)
        names = [column.name for column in columns]
        cells = []
        for file, source in enumerate(self._sources):
            values = tuple(self.values_of(file, name).values for name in names)
            codes = tuple(column.tables[file] for column in columns)
            task = CombineCells(source.label, file, layouts, values, codes, at)
            cells.append(self._mapped(file, names, task, CELLS))
        exchanged = _union(cells).repartition("combination")
        return exchanged.mapInArrow(_function(MeasureCells(layouts, tuple(measures))), SUMS)

    def _mapped(self, file: int, names: Sequence[str], task: Callable[[Any], Iterator[Any]], rows: str) -> Any:
        """What a task makes of some columns of a table."""
        source = self._sources[file]
        with asking_spark(source.label):
            columns = [f"c{source.names.index(name)}" for name in names]
            return by_position(source.distributed).select(*columns).mapInArrow(_function(task), rows)

    def _collected(self, frame: Any) -> pa.Table:
        with asking_spark(self._label):
            return frame.toArrow()


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
