"""Each person's nearest records of a release: how many there are, and whether the person's own is among them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._membership.distance import Scale
from unveil._membership.places import Distance, Places, distances_between, places_of
from unveil.columns.column import CodedColumn
from unveil.core import loop
from unveil.threads import n_threads

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

TOLERANCE = 1e-9
"""Distances, of which a column adds at most 1, that differ by no more are the same."""
_CHUNK = 256

_count_nearest = loop("count_nearest", int, int, int, np.float64, np.float64, np.int64, float, np.float64, np.int64)


@dataclass(frozen=True)
class LinkedRecords:
    """What an intruder finds who takes the nearest record of a release for a person's.

    Parameters
    ----------
    own, nearest : (k,) float64
        Distance of each person to the own record, and to the nearest.
    ties : (k,) int64
        Number of records that are as near as the nearest.
    null : (permutations,) float64
        Shares of persons found where records are dealt to persons at random.
    """

    own: Floats
    nearest: Floats
    ties: NDArray[np.int64]
    null: Floats

    @property
    def probability(self) -> Floats:
        """Probability (k,) that the record is the person's own that is drawn from the nearest."""
        return _found(self.own, self.nearest, self.ties)

    @property
    def share(self) -> float:
        """Share of persons found."""
        return float(self.probability.mean())


def _found(own: Floats, nearest: Floats, ties: NDArray[np.int64]) -> Floats:
    found: Floats = np.where(own <= nearest + TOLERANCE, 1 / ties, 0.0)
    return found


def link(
    columns: Sequence[CodedColumn], persons: NDArray[np.intp], own: NDArray[np.intp], release: int, *,
    distance: Distance, scale: Scale, permutations: int, seed: np.random.SeedSequence, n_jobs: int | None = None,
) -> LinkedRecords:  # fmt: skip
    """Look for the nearest records of some persons in one release.

    Parameters
    ----------
    columns
        The columns that are compared.
    persons : (k,)
        Positions of the persons' records in the original.
    own : (k,)
        Positions of their records in the release.
    release
        Number of the release from 1; 0 is the original itself.
    distance, scale
        See :func:`unveil._membership.places.places_of`.
    permutations
        How often records are dealt to persons at random.
    seed
        Where these draws come from.
    n_jobs
        Number of threads.
    """
    searched = np.column_stack([(c.original, *c.releases)[release] for c in columns])
    known = np.column_stack([c.original[persons] for c in columns])
    records, which, counts = np.unique(searched, axis=0, return_inverse=True, return_counts=True)
    targets, who = np.unique(known, axis=0, return_inverse=True)
    which, who = which.ravel(), who.ravel()
    there = _placed(columns, records, release, distance, scale)
    here = _placed(columns, targets, 0, distance, scale)
    nearest, ties = _nearest(here, there, counts.astype(np.int64), n_jobs)

    def found_by(dealt: NDArray[np.intp]) -> tuple[Floats, Floats]:
        apart = distances_between(here[who], there[dealt])
        return apart, _found(apart, nearest[who], ties[who])

    # In the order of their content, not of the file: the draws are the same in any order of rows.
    rng, content = np.random.default_rng(seed), np.sort(which)
    null = [found_by(rng.permutation(content)[: len(who)])[1].mean() for _ in range(permutations)]
    return LinkedRecords(found_by(which[own])[0], nearest[who], ties[who], np.array(null))


def _placed(columns: Sequence[CodedColumn], codes: Codes, file: int, distance: Distance, scale: Scale) -> Places:
    each = [places_of(c, distance, scale, file)[codes[:, j]] for j, c in enumerate(columns)]
    return np.ascontiguousarray(np.column_stack(each))


def _nearest(
    here: Places, there: Places, counts: NDArray[np.int64], n_jobs: int | None
) -> tuple[Floats, NDArray[np.int64]]:
    """Distance of each target (t,) to the nearest records, and their number (t,)."""
    columns = np.ascontiguousarray(there.T)
    distances, ties = np.empty(len(here)), np.empty(len(here), dtype=np.int64)

    def search(start: int) -> None:
        part = slice(start, start + _CHUNK)
        _count_nearest(len(here[part]), *there.shape, here[part], columns, counts, TOLERANCE, distances[part],
                       ties[part])  # fmt: skip

    with ThreadPoolExecutor(n_threads(n_jobs)) as pool:
        list(pool.map(search, range(0, len(here), _CHUNK)))
    return distances, ties


def searched_persons(
    columns: Sequence[CodedColumn], owns: Sequence[NDArray[np.intp]], most: int, seed: int
) -> NDArray[np.intp]:
    """Positions of the persons who are looked for: all, or where they are more than ``most`` as many, drawn.

    They are drawn, and given back, in the order of what all files hold of them, so that the order of rows is the same.
    """
    held = [
        codes
        for column in columns
        for codes in (column.original, *(codes[own] for codes, own in zip(column.releases, owns, strict=True)))
    ]
    order = np.lexsort(held[::-1])
    if len(order) <= most:
        return order
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    chosen: NDArray[np.intp] = order[np.sort(rng.choice(len(order), most, replace=False))]
    return chosen
