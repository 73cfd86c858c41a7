"""Members, held-out records and releases as codes, in an order of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unveil._membership.distance import GowerAxes, Scale
from unveil.columns.pair import Pair

Codes = NDArray[np.int32]
MOST_RECORDS, LEAST_RECORDS = 20_000, 2_000
"""Records of either kind that are attacked at most unless another number is asked for, and in large files at least."""
_DISTANCES = 20_000_000_000
"""Distances to members, and as many to held-out records, that are taken without being asked for."""


@dataclass(frozen=True)
class Group:
    """The records of one file that are attacked.

    Parameters
    ----------
    codes : (n, p) int32
        Their codes, ascending, so that nothing depends on the order in the file.
    numbers : (n,)
        Their numbers in the file, from 0.
    apart : (n,) bool
        A random half: members that train the classifier, held-out records that also stand for the population.
    """

    codes: Codes
    numbers: NDArray[np.intp]
    apart: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True)
class AttackedRecords:
    """What an attack works on.

    Parameters
    ----------
    columns
        Names of the columns, in alphabetical order.
    space
        Where distances are taken.
    members, others
        Records of the original and held-out records that are attacked.
    releases
        Codes (n_r, p) of each release.
    """

    columns: tuple[str, ...]
    space: GowerAxes
    members: Group
    others: Group
    releases: tuple[Codes, ...]

    @cached_property
    def everyone(self) -> Codes:
        """Codes of members, then of others."""
        return np.concatenate([self.members.codes, self.others.codes])

    @cached_property
    def apart(self) -> NDArray[np.bool_]:
        """Which of everyone are set apart."""
        return np.concatenate([self.members.apart, self.others.apart])

    @cached_property
    def in_reference(self) -> NDArray[np.bool_]:
        """Which of everyone stand for the population."""
        return self.apart & ~self.is_member

    @cached_property
    def is_member(self) -> NDArray[np.bool_]:
        """Whether each of everyone is a member."""
        return np.arange(len(self.everyone)) < len(self.members)

    @cached_property
    def reference(self) -> Codes:
        """Codes of the held-out records that stand for the population."""
        codes: Codes = self.others.codes[self.others.apart]
        return codes

    def found_in(self, release: Codes) -> NDArray[np.bool_]:
        """Whether each of everyone is in the release, equal in all columns."""
        _, row = np.unique(np.concatenate([self.everyone, release]), axis=0, return_inverse=True)
        row = row.ravel()
        n = len(self.everyone)
        return np.isin(row[:n], row[n:])


def collect(everybody: Pair, names: Sequence[str], *, scale: Scale, most: int, seed: int) -> AttackedRecords:
    """Code the records, and draw those that are attacked.

    Parameters
    ----------
    everybody
        The original, the releases, and the held-out records as the last of them.
    names
        Columns to compare.
    scale
        What differences of numbers are divided by.
    most
        Records of either file that are attacked at most; drawn where there are more.
    seed
        Seed of the draws.
    """
    ordered = sorted(names)
    columns = [everybody.column(name) for name in ordered]
    *releases, held_out = (np.column_stack([c.releases[r] for c in columns]) for r in range(everybody.n_releases))
    original = np.column_stack([c.original for c in columns])
    streams = np.random.SeedSequence(seed).spawn(2)
    return AttackedRecords(
        columns=tuple(ordered),
        space=GowerAxes.of(columns, scale),
        members=_group(original, most, np.random.default_rng(streams[0])),
        others=_group(held_out, most, np.random.default_rng(streams[1])),
        releases=tuple(_ascending(release)[0] for release in releases),
    )


def most_attacked(n_released: int) -> int:
    """Return how many records are attacked at most: fewer where each has to be compared with very many.

    A sample of persons costs length of the interval; a sample of the release would make every attack weaker.

    Examples
    --------
    >>> [most_attacked(n) for n in (5_000, 1_000_000, 4_000_000, 100_000_000)]
    [20000, 20000, 5000, 2000]
    """
    return min(MOST_RECORDS, max(_DISTANCES // max(n_released, 1), LEAST_RECORDS))


def _group(codes: Codes, most: int, rng: np.random.Generator) -> Group:
    """Draw the records of a file that are attacked, and the half of them that is set apart."""
    codes, numbers = _ascending(codes)
    if len(codes) > most:
        chosen = np.sort(rng.choice(len(codes), most, replace=False))
        codes, numbers = codes[chosen], numbers[chosen]
    return Group(codes, numbers, rng.permutation(np.arange(len(codes)) < len(codes) // 2))


def _ascending(codes: Codes) -> tuple[Codes, NDArray[np.intp]]:
    order = np.lexsort(codes.T[::-1])
    return codes[order], order
