"""What every engine does, and the measure of a range of keys that it runs where the counts are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.engines.key_range import CodedValues, KeyRange

S = TypeVar("S")
Measure = Callable[[KeyRange], S]


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
        self, keys: Sequence[CodedValues], targets: Sequence[CodedValues | None], measures: Sequence[Measure[S]]
    ) -> list[S]:  # fmt: skip
        """For each target the sum, over all ranges of keys, of what its measure finds there.

        Parameters
        ----------
        keys
            The keys.
        targets
            The targets; None for the keys alone.
        measures
            Per target a function from a range to something that adds up.
        """
