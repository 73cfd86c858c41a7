"""What Spark runs where the records are, for what is said of single records: it never passes the driver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.engines.engine import Flag
from unveil.engines.key_range import KeyRange, Layout, in_ranges
from unveil.engines.spark_tasks import Batches, CombineCells, batch_of, gathered
from unveil.files.arrays import from_numpy
from unveil.files.spark_frames import changed

CELL = "cell"
PARTS = "part int, records bigint"
RECORDS = f"record bigint, {CELL} bigint"
_KINDS = {"b": "boolean", "i": "bigint", "f": "double"}


@dataclass(frozen=True)
class RecordsOfPart:
    """Counts the records of a part."""

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the number of the part, and of its records."""
        records = sum(batch.num_rows for batch in batches)
        yield batch_of(PARTS, np.array([_part()], np.int32), np.array([records]))


@dataclass(frozen=True)
class CellOfRecord:
    """Numbers the records of a part, and codes the cell of each.

    Parameters
    ----------
    cells
        How records are coded, for one target.
    firsts
        By part its first record, and the first of the next part.
    """

    cells: CombineCells
    firsts: Mapping[int, tuple[int, int]]

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the number of each record, and the code of its cell."""
        start, end = self.firsts.get(_part(), (0, 0))
        for (cells,) in self.cells.cells_of(batches):
            yield batch_of(RECORDS, np.arange(start, start + len(cells)), cells)
            start += len(cells)
        if start != end:
            raise changed(self.cells.label)


@dataclass(frozen=True)
class FlagCells:
    """Says of each cell what its original records are told.

    Parameters
    ----------
    layout
        How cells are numbered.
    flag
        What is said of the cells that the original has.
    """

    layout: Layout
    flag: Flag

    @property
    def nothing(self) -> Mapping[str, NDArray[Any]]:
        """What is said of no cell."""
        none = np.zeros(0, np.int64)
        return self.flag(KeyRange.of(self.layout, none, none))

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the code of each cell of the original, and what is said of it."""
        for codes, records in gathered(batches, (self.layout,))[0]:
            for part in in_ranges(self.layout, codes, records):
                held = np.flatnonzero(part.counts[0])
                columns = {CELL: part.codes(self.layout, held), **self.flag(part)}
                arrays = [from_numpy(column) for column in columns.values()]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))


def rows_of(said: Mapping[str, NDArray[Any]]) -> str:
    """What the rows hold that say something of cells, as Spark declares it.

    Examples
    --------
    >>> rows_of({"d_q": np.zeros(0, np.int64), "unique": np.zeros(0, bool)})
    'cell bigint, d_q bigint, unique boolean'
    """
    return ", ".join([f"{CELL} bigint", *(f"{name} {_KINDS[column.dtype.kind]}" for name, column in said.items())])


def firsts_of(counted: pa.Table) -> dict[int, tuple[int, int]]:
    """By part its first record, and the first of the next part.

    Examples
    --------
    >>> firsts_of(pa.table({"part": [1, 0], "records": [5, 2]}))
    {0: (0, 2), 1: (2, 7)}
    """
    found, start = {}, 0
    for row in counted.sort_by("part").to_pylist():
        found[row["part"]] = start, start + row["records"]
        start += row["records"]
    return found


def _part() -> int:
    """The number of the part that this process of Spark works on."""
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    return int(task.partitionId())
