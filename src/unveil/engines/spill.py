"""Cells that do not fit in memory: sorted in blocks, written aside by ranges of keys, and brought together by range.

The file has no name: nobody else can open it, and the system takes it away with the process, however that ends.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from unveil.core import loop
from unveil.errors import DataError

Counts = NDArray[np.int64]
RANGES = 64
_run_lengths = loop("run_lengths", int, np.int64, np.int64, result=int)


class Spill:
    """Counts by code, put aside until all of a range are there.

    Parameters
    ----------
    width
        Number of codes of a combination: all of them are in one range.
    folder
        Where the file is; by default where the system keeps temporary files.
    ranges
        Number of ranges.

    Examples
    --------
    >>> with Spill(width=10, ranges=2) as spill:
    ...     spill.add(np.array([31, 5, 31]))
    ...     spill.add(np.array([5, 44]))
    ...     [(codes.tolist(), records.tolist()) for codes, records in spill.by_range()]
    [([5], [2]), ([31, 44], [2, 1])]
    """

    def __init__(self, width: int, folder: str | None = None, ranges: int = RANGES) -> None:
        self._width, self._ranges, self._folder = width, ranges, folder
        self._bounds: Counts | None = None
        self._single, self._several = (_Aside(folder, ranges) for _ in range(2))

    def __enter__(self) -> Spill:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        self._single.close()
        self._several.close()

    def add(self, codes: Counts) -> None:
        """Put the codes of some records aside; the array is sorted in place."""
        codes.sort()
        if self._bounds is None:
            # The codes that come first tell where the others will be.
            picked = codes[(np.arange(1, self._ranges) * len(codes)) // self._ranges] if len(codes) else codes
            self._bounds = np.unique(picked // self._width * self._width)
        found, records = run_lengths(codes)
        single = records == 1
        self._single.write(found[single], self._bounds)
        self._several.write(found[~single], self._bounds, records[~single])

    def by_range(self) -> Iterator[tuple[Counts, Counts]]:
        """Codes, ascending and different, and their records, range by range."""
        for number in range(0 if self._bounds is None else len(self._bounds) + 1):
            single = self._single.read(number)[0]
            single.sort()
            codes, records = run_lengths(single)
            more_codes, more_records = self._several.read(number)
            if len(more_codes):
                codes, records = added_up(
                    np.concatenate([codes, more_codes]), np.concatenate([records, more_records])
                )  # fmt: skip
            if len(codes):
                yield codes, records


class _Aside:
    """A file without a name that holds the parts of all ranges, in the order in which they came."""

    def __init__(self, folder: str | None, ranges: int) -> None:
        try:
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 (open until close)
        except OSError as error:
            raise not_written(folder, error) from None
        self._folder, self._end = folder, 0
        self._parts: list[list[tuple[int, int, int]]] = [[] for _ in range(ranges)]

    def write(self, codes: Counts, bounds: Counts, records: Counts | None = None) -> None:
        """Put a block aside: its codes, and their records if these differ."""
        ends = [0, *np.searchsorted(codes, bounds).tolist(), len(codes)]
        start_of_records = self._end + codes.nbytes
        for parts, start, end in zip(self._parts, ends[:-1], ends[1:], strict=False):
            if end > start:
                behind = -1 if records is None else start_of_records + 8 * start
                parts.append((self._end + 8 * start, behind, end - start))
        try:
            for block in (codes, records):
                if block is not None:
                    rest = memoryview(np.ascontiguousarray(block).view(np.uint8).data)
                    while rest:
                        written = self._file.write(rest)
                        rest = rest[written:]
                        self._end += written
        except OSError as error:
            raise not_written(self._folder, error) from None

    def read(self, number: int) -> tuple[Counts, Counts]:
        """Codes and records of one range."""
        parts = self._parts[number]
        n = sum(length for _, _, length in parts)
        codes, records = np.empty(n, np.int64), np.empty(n, np.int64)
        at = 0
        for start, behind, length in parts:
            self._into(codes[at : at + length], start)
            if behind >= 0:
                self._into(records[at : at + length], behind)
            at += length
        return codes, records

    def _into(self, part: Counts, start: int) -> None:
        self._file.seek(start)
        rest = memoryview(part.view(np.uint8).data)
        while rest:
            rest = rest[self._file.readinto(rest) :]

    def close(self) -> None:
        """Give the space back."""
        self._file.close()


def run_lengths(codes: Counts) -> tuple[Counts, Counts]:
    """The different codes of an ascending array, which is changed, and how often each occurs."""
    records = np.empty(len(codes), np.int64)
    left = _run_lengths(len(codes), codes, records)
    return codes[:left], records[:left]


def added_up(codes: Counts, records: Counts) -> tuple[Counts, Counts]:
    """The different codes, ascending, and the sum of their records."""
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    new = np.empty(len(codes), bool)
    new[:1] = True
    np.not_equal(codes[1:], codes[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    return codes[starts], np.add.reduceat(records[order], starts)


def not_written(folder: str | None, error: OSError) -> DataError:
    """The error where counts cannot be put aside."""
    where = folder or tempfile.gettempdir()
    return DataError(
        f"counts could not be put aside in {where} ({os.strerror(error.errno or 0)}); make room there, or name another "
        "folder (temp_dir)"
    )
