"""What identity disclosure is made of: numbers of key combinations and of their records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._tables.keyed_pair import KeyedPair

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class IdentityCounts:
    """Numbers of key combinations that count; adds up over disjoint sets of them.

    Parameters
    ----------
    unique
        Combinations of one original record.
    unique_synthetic, found, both : (m,) int64
        Per release, combinations of one synthetic record; those of one original record that the release has; and of
        one record in both.
    met : (m,) int64
        Per release, combinations that it has.
    times_found, times_both : (m + 1,) int64
        Combinations of one original record by the number of releases that have it, and that have one record of it.
    any_found, any_both
        Combinations that some release has, and of which some release has one record.
    left_out : (m + 1,) int64
        Records of the original and of each release whose combination does not count.
    """

    unique: int
    unique_synthetic: Counts
    found: Counts
    both: Counts
    met: Counts
    times_found: Counts
    times_both: Counts
    any_found: int
    any_both: int
    left_out: Counts

    @classmethod
    def of(cls, keys: KeyedPair) -> IdentityCounts:
        """Count the combinations of some keys."""
        d, by_release = keys.combinations.counts()
        counted, excluded = keys.counted, keys.excluded
        alone = (d == 1) & counted
        in_release = [(s > 0) & counted for s in by_release]
        once = [(s == 1) & counted for s in by_release]
        m = len(by_release)
        times_found, times_both = (_times(flags) for flags in (in_release, once))
        return cls(
            unique=_number(alone),
            unique_synthetic=_numbers(once),
            found=_numbers([alone & flags for flags in in_release]),
            both=_numbers([alone & flags for flags in once]),
            met=_numbers(in_release),
            times_found=np.bincount(times_found[alone], minlength=m + 1),
            times_both=np.bincount(times_both[alone], minlength=m + 1),
            any_found=_number(times_found > 0),
            any_both=_number(times_both > 0),
            left_out=np.array([0 if excluded is None else one[excluded].sum() for one in (d, *by_release)], np.int64),
        )

    def __add__(self, other: IdentityCounts) -> IdentityCounts:
        return IdentityCounts(
            **{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__}
        )


def _times(each: list[NDArray[np.bool_]]) -> NDArray[np.int32]:
    """In how many of some files each combination is."""
    times = np.zeros(len(each[0]), np.int32)
    for flags in each:
        times += flags
    return times


def _number(flags: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(flags))


def _numbers(each: list[NDArray[np.bool_]]) -> Counts:
    return np.array([_number(flags) for flags in each], dtype=np.int64)
