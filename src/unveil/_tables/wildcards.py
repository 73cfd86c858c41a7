"""Suppressed values as wildcards: a released record matches every person whom its remaining keys fit.

A file that was anonymised by local suppression holds a sign such as ``*`` in place of some values. Taken as a level of
its own, such a record matches nobody, and what it tells is not measured. As a wildcard it matches every value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._tables.keyed_pair import KeyedPair
from unveil._tables.sums import percent
from unveil.columns.column import CodedColumn
from unveil.columns.combinations import fold
from unveil.errors import CallError

Codes = NDArray[np.integer]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Matches:
    """What each original record meets in a release, with suppressed keys as wildcards.

    Parameters
    ----------
    found : (n,) int64
        Released records that match its keys.
    telling : (n,) int64
        Those of them whose target is not suppressed.
    right : (n,) int64
        Those of them that have its target level.
    lowest, highest : (n,) int64
        The smallest and the largest code of the target among those that tell; equal where there is one level.
    """

    found: Counts
    telling: Counts
    right: Counts
    lowest: Counts
    highest: Counts


def identity_as_wildcards(study: KeyedPair, suppressed: str) -> tuple[dict[str, float], ...]:
    """UiOiS and repU per release, in percent, where a suppressed key matches every value.

    Parameters
    ----------
    study
        The keys.
    suppressed
        The level that stands for a suppressed value.

    Raises
    ------
    CallError
        If records are counted batch by batch, or no release holds the level in a key.
    """
    _check(study, suppressed)
    q, n = study.combinations.original, study.pair.n_original
    unique = (np.bincount(q, minlength=study.combinations.size)[q] == 1) & _counted(study)
    found = [_matches(study, None, release, suppressed).found for release in range(study.pair.n_releases)]
    return tuple(
        {"UiOiS": percent(int((unique & (one > 0)).sum()), n), "repU": percent(int((unique & (one == 1)).sum()), n)}
        for one in found
    )


def attribute_as_wildcards(study: KeyedPair, target: CodedColumn, suppressed: str) -> tuple[dict[str, float], ...]:
    """The measures iS, DiS, DiSCO and DCAPd per release, in percent, where a suppressed key matches every value.

    A released record whose target is suppressed tells nothing of the target: it counts for iS alone.

    Parameters
    ----------
    study, suppressed
        As for :func:`identity_as_wildcards`.
    target
        The target.

    Raises
    ------
    CallError
        As for :func:`identity_as_wildcards`.
    """
    _check(study, suppressed)
    n, counted = study.pair.n_original, _counted(study)
    releases = []
    for release in range(study.pair.n_releases):
        met = _matches(study, target, release, suppressed)
        one_level = counted & (met.telling > 0) & (met.lowest == met.highest)
        shares = np.divide(met.right, met.telling, out=np.zeros(n), where=counted & (met.telling > 0))
        releases.append(
            {
                "iS": percent(int((counted & (met.found > 0)).sum()), n),
                "DiS": percent(int(one_level.sum()), n),
                "DiSCO": percent(int((one_level & (met.right > 0)).sum()), n),
                "DCAPd": percent(math.fsum(shares), n),
            }
        )
    return tuple(releases)


def _check(study: KeyedPair, suppressed: str) -> None:
    if study.pair.engine is not None:
        raise CallError("suppressed values are matched in memory: leave out engine")
    check_suppressed(study.columns, suppressed)


def check_suppressed(keys: Sequence[CodedColumn], suppressed: str) -> None:
    """Check that some release holds the sign of suppressed values in a key.

    Raises
    ------
    CallError
        If none does.
    """
    held = [
        bool((codes == code).any())
        for column in keys
        if (code := _code(column, suppressed)) is not None
        for codes in column.releases
    ]
    if not any(held):
        raise CallError(f"suppressed: no release holds {suppressed!r} in a key; name the sign that stands there")


def _code(column: CodedColumn, level: str) -> int | None:
    return column.labels.index(level) if level in column.labels else None


def _counted(study: KeyedPair) -> NDArray[np.bool_]:
    """Whether the keys of each original record count."""
    if study.excluded is None:
        return np.ones(study.pair.n_original, dtype=bool)
    counted: NDArray[np.bool_] = ~study.excluded[study.combinations.original]
    return counted


def _matches(study: KeyedPair, target: CodedColumn | None, release: int, suppressed: str) -> Matches:
    n = study.pair.n_original
    own = np.zeros(n, np.int64) if target is None else target.original.astype(np.int64)
    levels = 1 if target is None else target.n_levels
    nothing = None if target is None else _code(target, suppressed)
    found, telling, right = np.zeros((3, n), np.int64)
    lowest, highest = np.full(n, levels), np.full(n, -1)
    for chosen, codes, n_codes, released in _patterns(study, release, suppressed):
        found += np.bincount(released, minlength=n_codes)[codes]
        told = np.zeros(len(chosen), np.int64) if target is None else target.releases[release][chosen].astype(np.int64)
        tells = np.ones(len(chosen), bool) if nothing is None else told != nothing
        released, told = released[tells], told[tells]
        telling += np.bincount(released, minlength=n_codes)[codes]
        least, most = np.full(n_codes, levels), np.full(n_codes, -1)
        np.minimum.at(least, released, told)
        np.maximum.at(most, released, told)
        lowest, highest = np.minimum(lowest, least[codes]), np.maximum(highest, most[codes])
        pairs, counts = np.unique(released * levels + told, return_counts=True)
        if len(pairs):
            wanted = codes * levels + own
            at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
            right += np.where(pairs[at] == wanted, counts[at], 0)
    return Matches(found, telling, right, lowest, highest)


def _patterns(
    study: KeyedPair, release: int, suppressed: str
) -> Iterator[tuple[NDArray[np.intp], Counts, int, Counts]]:
    """Per set of suppressed keys the released records that have it, and the remaining keys of both files as codes.

    Yields the positions of the released records, the code of each original record, the number of codes, and the code of
    each of these released records.
    """
    wild = np.array(
        [column.releases[release] == (-1 if (code := _code(column, suppressed)) is None else code)
         for column in study.columns]
    )  # fmt: skip
    patterns, which = np.unique(wild, axis=1, return_inverse=True)
    n = study.pair.n_original
    for number, pattern in enumerate(patterns.T):
        chosen = np.flatnonzero(which.ravel() == number)
        rest = [column for column, is_wild in zip(study.columns, pattern, strict=True) if not is_wild]
        joint = np.zeros(n + len(chosen), np.int64)
        if rest:
            both = (np.concatenate([column.original, column.releases[release][chosen]]) for column in rest)
            joint = fold(both, [column.n_levels for column in rest])[1]
        _, codes = np.unique(joint, return_inverse=True)
        codes = codes.ravel().astype(np.int64)
        yield chosen, codes[:n], int(codes.max()) + 1, codes[n:]
