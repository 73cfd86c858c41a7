"""What is said of single records: each cell says one of a few things, and each record looks its cell up."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.engines.spill import not_written
from unveil.files.arrays import from_numpy
from unveil.files.source import BATCH

Counts = NDArray[np.int64]
Said = Mapping[str, NDArray[Any]]
NOWHERE = 0
"""Row of a record whose cell was not found yet."""


class Rows:
    """Different rows of some columns; each has a number, from 1.

    Examples
    --------
    >>> rows = Rows()
    >>> rows.numbers_of({"d": np.array([3, 1, 3]), "unique": np.array([False, True, False])}).tolist()
    [2, 1, 2]
    >>> rows.numbers_of({"d": np.array([1]), "unique": np.array([True])}).tolist()
    [3]
    >>> rows.taken(np.array([2, 3]))["unique"].tolist()
    [False, True]
    """

    def __init__(self) -> None:
        self._size = NOWHERE
        self._parts: list[Said] = []

    def numbers_of(self, said: Said) -> NDArray[np.int32]:
        """The number of each row; rows that are equal have one number."""
        code, first = np.zeros(len(next(iter(said.values()))), np.int64), np.zeros(0, np.intp)
        for column in said.values():
            values, place = np.unique(column, return_inverse=True)
            _, first, code = np.unique(code * len(values) + place, return_index=True, return_inverse=True)
        self._parts.append({name: column[first] for name, column in said.items()})
        found = (code + (self._size + 1)).astype(np.int32)
        self._size += len(first)
        return found

    def taken(self, numbers: NDArray[np.integer]) -> dict[str, NDArray[Any]]:
        """The columns of the rows with some numbers."""
        self._parts = [{name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}]
        return {name: column[numbers - 1] for name, column in self._parts[0].items()}


class RowOfRecord:
    """The number of the row of each record, in memory or, where there are many records, in a file without a name.

    Parameters
    ----------
    n
        Number of records.
    most
        Most bytes in memory.
    folder
        Where the file is; by default where the system keeps temporary files.
    """

    def __init__(self, n: int, most: int, folder: str | None) -> None:
        self._n, self._folder = n, folder
        self._file = tempfile.SpooledTemporaryFile(most, dir=folder)  # noqa: SIM115 (open until close)

    def __enter__(self) -> RowOfRecord:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        self._file.close()

    def read(self, start: int, n: int) -> NDArray[np.int32]:
        """The rows of some records, one after the other; :data:`NOWHERE` where none was written."""
        self._file.seek(4 * start)
        found = np.full(n, NOWHERE, np.int32)
        written = np.frombuffer(self._file.read(4 * n), np.int32)
        found[: len(written)] = written
        return found

    def write(self, start: int, rows: NDArray[np.int32]) -> None:
        """Keep the rows of some records."""
        try:
            self._file.seek(4 * start)
            self._file.write(rows.tobytes())
        except OSError as error:
            raise not_written(self._folder, error) from None

    def blocks(self) -> Iterator[tuple[int, NDArray[np.int32]]]:
        """The first record of each block, and the rows of its records."""
        for start in range(0, self._n, BATCH):
            yield start, self.read(start, min(BATCH, self._n - start))


def numbered(start: int, said: Said) -> pa.Table:
    """What is said of some records that follow one another, with their numbers."""
    columns = {name: from_numpy(column) for name, column in said.items()}
    n = len(next(iter(columns.values())))
    return pa.table({"record": from_numpy(np.arange(start, start + n)), **columns})
