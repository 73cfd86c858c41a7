"""Counts by the raw codes of keys and a target, while the codes are still being found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unveil.core import address_of, loop
from unveil.engines.key_range import strides_of
from unveil.engines.raw_values import Encoded

Counts = NDArray[np.int64]
_add_worths = loop("add_worths", int, int, np.int64, np.int64, np.int64)
_tally = loop("tally", int, np.int64, np.int64)
_tally_beside = loop("tally_beside", int, np.int64, int, np.int32, np.int64, np.int64)


class Tally:
    """Counts of the records of one file by their keys and each of some targets.

    There is a place for each combination of codes; more codes make more places.

    Parameters
    ----------
    n_targets
        Number of targets; without any, records are counted by their keys.
    most
        Most places for each target: where there would be more, the target is given up.
    """

    def __init__(self, n_targets: int, most: int) -> None:
        self._most = most
        self._shape: tuple[int, ...] = ()
        self._counts: list[Counts | None] = [np.zeros(0, np.int64)] * max(n_targets, 1)
        self._targets = [0] * max(n_targets, 1)

    @property
    def given_up(self) -> bool:
        """Whether nothing is counted any more."""
        return all(one is None for one in self._counts)

    def add(
        self, keys: Sequence[Encoded], sizes: Sequence[int], targets: Sequence[Encoded], beside: Sequence[int]
    ) -> None:
        """Count some records.

        Parameters
        ----------
        keys, targets
            The columns of the records.
        sizes, beside
            Number of codes that are known of each key and of each target.
        """
        self._make_room(sizes, beside or [1])
        if self.given_up:
            return
        code = folded(keys, [np.arange(n) for n in sizes], strides_of(self._shape))
        if not targets:
            _tally(len(code), code, self._counts[0])
        for number, target in enumerate(targets):
            counts = self._counts[number]
            if counts is not None:
                levels = self._targets[number]
                _tally_beside(len(code), code, levels, target.index, target.worth(np.arange(levels)), counts)

    def cells(self, number: int) -> tuple[tuple[Counts, ...], Counts, Counts] | None:
        """Codes of the keys and of a target, and records, of each cell; None where the target was given up."""
        counts = self._counts[number]
        if counts is None:
            return None
        found = np.flatnonzero(counts)
        *keys, target = (
            np.unravel_index(found, (*self._shape, self._targets[number]))
            if len(found)
            else [found for _ in range(len(self._shape) + 1)]
        )
        return tuple(keys), target, counts[found]

    def _make_room(self, sizes: Sequence[int], beside: Sequence[int]) -> None:
        before, shape = self._shape, self._shape or (0,) * len(sizes)
        if any(size > room for size, room in zip(sizes, shape, strict=True)):
            self._shape = tuple(_spacious(size, room) for size, room in zip(sizes, shape, strict=True))
        for number, (size, counts) in enumerate(zip(beside, self._counts, strict=True)):
            if counts is None:
                continue
            levels = self._targets[number]
            more = _spacious(size, levels) if size > levels or not before else levels
            if math.prod(self._shape) * more > self._most:
                self._counts[number] = None
            elif (self._shape, more) != (before, levels) or not len(counts):
                self._counts[number] = _moved(counts, (*before, levels) if before else None, (*self._shape, more))
                self._targets[number] = more


def folded(keys: Sequence[Encoded], by_code: Sequence[Counts], strides: Sequence[int]) -> Counts:
    """One whole number for the keys of each record.

    Parameters
    ----------
    keys
        The keys of the records.
    by_code
        Per key the code that each raw code stands for.
    strides
        What one more in the code of each key adds.
    """
    return summed(keys, [codes * stride for codes, stride in zip(by_code, strides, strict=False)])


def summed(keys: Sequence[Encoded], worths: Sequence[Counts]) -> Counts:
    """One whole number for the keys of each record.

    Parameters
    ----------
    keys
        The keys of the records.
    worths
        Per key what each raw code adds.
    """
    code = np.empty(len(keys[0].index), np.int64)
    indices = [key.index for key in keys]
    by_place = [np.ascontiguousarray(key.worth(worth), np.int64) for key, worth in zip(keys, worths, strict=False)]
    _add_worths(len(code), len(by_place), _addresses(indices, np.int32), _addresses(by_place, np.int64), code)
    return code


def _addresses(arrays: Sequence[NDArray[Any]], kind: DTypeLike) -> Counts:
    """Where arrays begin; they have to be kept while a loop reads them."""
    return np.array([address_of(array, np.dtype(kind)) for array in arrays], np.int64)


def count(code: Counts, counts: Counts) -> None:
    """Add each record to the count of its code."""
    _tally(len(code), code, counts)


def _spacious(size: int, room: int) -> int:
    """Room for the codes that are known, as it was where it is enough; more of it once new codes have come later."""
    if size <= room:
        return room
    return size + size // 8 + (size > 2) if room else size


def _moved(counts: Counts, before: tuple[int, ...] | None, after: tuple[int, ...]) -> Counts:
    larger = np.zeros(after, np.int64)
    if before is not None:
        larger[tuple(slice(n) for n in before)] = counts.reshape(before)
    return larger.reshape(-1)
