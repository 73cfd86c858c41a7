"""Whose records the games are about: members of the original, and persons whom the synthesizer never used.

All files come in the order of the values of their records, so that no figure depends on the order of a file.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.candidate_records import LABEL, are_records, candidate_records
from unveil.columns import Pair
from unveil.errors import CallError, DataError, UnveilWarning
from unveil.files import Source
from unveil.files.opening import open_source
from unveil.synthesis.any_synthesizer import as_synthesizer, fitted_anew
from unveil.synthesis.record_order import value_order

Places = NDArray[np.intp]

HALVES = "halves"


@dataclass(frozen=True, eq=False)
class Persons:
    """Files of a set of games.

    Parameters
    ----------
    pair
        The original and its releases, sorted.
    numbers : (n,) intp
        Where its original records stand in the user's file.
    others
        Records that were not used, sorted.
    other_numbers : (k,) intp
        Where they stand in their file.
    source
        Where they come from: "holdout", "halves" or "candidates".
    synthesizer
        What made the releases.
    """

    pair: Pair
    numbers: Places
    others: Source
    other_numbers: Places
    source: str
    synthesizer: Any

    def places_of(self, records: Any, option: str) -> NDArray[np.int64]:
        """(q,) where records of the user's file stand among the sorted ones, ascending.

        Parameters
        ----------
        records
            Their numbers, from 0.
        option
            Name of the option, for messages.

        Raises
        ------
        CallError
            If they are no numbers of records, or some are not there.
        """
        asked, n = np.asarray(records), self.numbers.size
        if asked.ndim != 1 or not asked.size or not np.issubdtype(asked.dtype, np.integer):
            raise CallError(f"{option}: give a list of record numbers, from 0")
        asked = np.unique(asked)
        outside = asked[(asked < 0) | (asked >= self.numbers.max(initial=-1) + 1)]
        if outside.size:
            label = self.pair.original.label
            raise CallError(f"{option}: there is no record {outside[0]} among the {n} of {label}")
        place = np.full(self.numbers.max() + 1, -1, dtype=np.int64)
        place[self.numbers] = np.arange(n)
        found: NDArray[np.int64] = np.sort(place[asked])
        found = found[found >= 0]
        if not found.size:
            raise CallError(f"{option}: none of these records is in {self.pair.original.label}")
        return found


def persons_of(pair: Pair, synthesizer: Any, candidates: Any, seed: int) -> Persons:
    """Return the files of the games.

    Parameters
    ----------
    pair
        The user's files.
    synthesizer
        What made the releases.
    candidates
        Records that were not used: None for the held-out records of the pair, "halves", a frame, a file, or mappings.
    seed
        Of the halves and their releases.

    Raises
    ------
    CallError
        If there are no such records, or they lack a column.
    """
    if isinstance(candidates, str) and candidates == HALVES:
        return _from_halves(pair, synthesizer, seed)
    if candidates is None:
        if pair.holdout is None:
            raise CallError(
                "name persons whom the synthesizer never used: held-out records of the pair (holdout), candidates, or "
                "candidates='halves' to fit it to a random half of the original"
            )
        others, source = pair.held_out.releases[-1], "holdout"
    else:
        listed = isinstance(candidates, list | tuple) and are_records(candidates)
        given = candidate_records(candidates, pair) if listed else candidates
        others, source = pair.with_files([given], LABEL).releases[-1], "candidates"
    if not others.num_rows:
        raise CallError(f"there are no records in {others.label}")
    for name in pair.original.names:
        if name not in others:
            raise CallError(
                f"there is no column {name!r} in {others.label}: a person needs all columns of the original"
            )
    others = replace(others, names=pair.original.names)
    other_order = value_order(others)
    in_order, order = sorted_pair(pair)
    return Persons(in_order, order, others.part(other_order), other_order, source, synthesizer)


def _from_halves(pair: Pair, synthesizer: Any, seed: int) -> Persons:
    """Fit the synthesizer to a random half of the original, and draw as many releases of it as the pair has."""
    n, order = pair.n_original, value_order(pair.original)
    if n < 4:
        raise DataError(f"two halves need at least 4 records, and {pair.original.label} has {n}; give more")
    shuffled = np.random.default_rng([seed, 29]).permutation(n)
    used, left = np.sort(shuffled[: n // 2]), np.sort(shuffled[n // 2 :])
    half = pair.original.part(order[used], "the half that was used")
    fitted = fitted_anew(as_synthesizer(synthesizer), half, seed=seed)
    releases = []
    for r in range(pair.n_releases):
        made = open_source(
            fitted.sample(len(used), seed=seed * pair.n_releases + r), label=f"release {r + 1} of the half"
        )
        releases.append(made.part(value_order(made)))
    others = pair.original.part(order[left], "the half that was not")
    return Persons(quiet_pair(pair, half, releases), order[used], others, order[left], HALVES, fitted)


def sorted_pair(pair: Pair) -> tuple[Pair, Places]:
    """The pair with all files in the order of the values of their records, and where its original records stood."""
    order = value_order(pair.original)
    releases = [release.part(value_order(release)) for release in pair.releases]
    return quiet_pair(pair, pair.original.part(order), releases), order


def quiet_pair(pair: Pair, original: Source, releases: Sequence[Source]) -> Pair:
    """A pair of other files that is coded like the user's; what is to be said of the files was said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return Pair(original, list(releases), kinds=pair.kinds, special_codes=pair.special_codes)
