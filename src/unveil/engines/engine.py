"""What every engine does, and the measure of a range of keys that it runs where the counts are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.engines.key_range import CodedValues, KeyRange

S = TypeVar("S")
OfRecords = Callable[[NDArray[np.int32]], S]
Measure = Callable[[KeyRange], S]
Flag = Callable[[KeyRange], Mapping[str, NDArray[Any]]]
Beside = Sequence[CodedValues]


@dataclass(frozen=True)
class CountedValues:
    """The raw values of one column of one file.

    Parameters
    ----------
    values
        Distinct values in the type of the file; their raw codes are 1, 2, ...
    records : (n + 1,) int64
        Number of records without a value, and of each value.
    """

    values: pa.Array
    records: NDArray[np.int64]


class Engine(Protocol):
    """Counts records where they are."""

    def prepare(self, keys: Sequence[str], targets: Sequence[str]) -> None:
        """Say which columns will be asked for, so that one reading serves all."""

    def values_of(self, file: int, name: str) -> CountedValues:
        """The values of one column of one file, by its position: the original, then its releases."""

    def total(
        self, keys: Sequence[CodedValues], beside: Sequence[Beside], measures: Sequence[Measure[S]], *,
        hashed: bool = False,
    ) -> list[S]:  # fmt: skip
        """For each measure the sum, over all ranges of keys, of what it finds there.

        Parameters
        ----------
        keys
            The keys.
        beside
            Per measure the columns beside the keys: a target and a column to group by, one of them, or none.
        measures
            Functions from a range to something that adds up.
        hashed
            Whether cells are hashes of the codes of all keys (:meth:`Layout.hashed`), with nothing beside them.
        """

    def of_records(self, file: int, columns: Sequence[CodedValues], measure: OfRecords[S]) -> S:
        """The sum, over batches of records of one file that come in any order, of what a measure finds in them.

        Parameters
        ----------
        file
            The file, by its position.
        columns
            The columns whose codes the measure sees, in this order.
        measure
            Function from codes (p, n) of n records, perhaps none, to something that adds up.
        """

    def flags(self, keys: Sequence[CodedValues], beside: Beside, flag: Flag) -> Iterator[pa.Table]:
        """What is said of each original record, in parts; with the number of the record, from 0.

        Parameters
        ----------
        keys, beside
            The keys, and the columns beside them.
        flag
            Function from a range to what is said of the original records of each cell that they have.
        """

    def write_flags(
        self, keys: Sequence[CodedValues], beside: Beside, flag: Flag, path: str, *, overwrite: bool
    ) -> None:  # fmt: skip
        """Write the same as Parquet, without having all of it here."""
