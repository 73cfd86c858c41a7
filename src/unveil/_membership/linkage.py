"""Record linkage: how many persons are found by the nearest record of a release that has one record of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil._membership.correspondence import ROWS, corresponding
from unveil._membership.distance import Scale
from unveil._membership.linkage_result import Linkage
from unveil._membership.linked_records import link, searched_persons
from unveil._membership.places import Distance
from unveil._tables.keyed_pair import as_names
from unveil.checks import check_choice, check_shares, check_whole_numbers
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first, refuse_units
from unveil.errors import CallError, enough_memory

_DISTANCES = 20_000_000_000
"""Distances that are taken without being asked for."""
_LEAST_RECORDS = 2000


@enough_memory()
@pair_first
def linkage(
    pair: Pair, keys: str | Sequence[str] | None = None, *, linked_by: str = ROWS, distance: Distance = "gower",
    scale: Scale = "range", most_records: int | None = None, permutations: int = 199, level: float = 0.95,
    seed: int = 0, n_jobs: int | None = None,
) -> Linkage:  # fmt: skip
    """Measure how many persons are found who are looked for by the nearest record of an anonymised release.

    It is for releases that have one record of each person: recoded, perturbed, swapped, microaggregated or partially
    synthetic files. The intruder knows the keys of a person, and takes the record of the release that is nearest for
    the person's. A synthetic release has no record of a person: see :func:`unveil.identity` and
    :func:`unveil.membership`.

    Parameters
    ----------
    pair
        The original, and releases of as many records.
    keys
        What the intruder knows; by default all columns that every file has, without identifiers.
    linked_by
        Which record is whose: "rows", the record at the same place; or a column whose values name the persons in every
        file. It is compared with nothing.
    distance : {"gower", "rank"}
        "gower": amounts differ by their difference over the original's range, at most 1; any other levels by 0 or 1.
        "rank": amounts and ordered levels differ by their mean ranks, each in its own file, from 0 to 1; any other
        levels by 0 or 1. A gap or special code is 0 from itself and 1 from all else. Distances add up over keys.
    scale : {"range", "iqr"}
        What a difference of amounts is divided by with "gower".
    most_records
        Number of persons who are looked for at most; where there are more they are drawn. By default all, in files of
        more than about 140 000 records so many that 2e10 distances are taken, but at least 2000.
    permutations
        Number of times that records are dealt to persons at random, for the null.
    level
        Coverage of the intervals.
    seed
        Seed of all draws.
    n_jobs
        Number of threads; all by default. Results do not depend on it.

    Returns
    -------
    Linkage
        A row per release: percent of persons found, the interval, the null and the ceiling.

    Raises
    ------
    CallError
        If a release has another number of records, a column is unknown, or an option is out of its range.
    DataError
        If a release lacks a column, or ``linked_by`` does not name one record of each person.

    Notes
    -----
    With d the distance of original record i to record j of the release, which has n, and ``own(i)`` the place of the
    person's own record, ``T_i = #{j: d(i, j) = min_k d(i, k)}`` records tie. The share found is
    ``mean_i [d(i, own(i)) = min_k d(i, k)] / T_i``. Where records are dealt to persons at random, its expectation is
    exactly ``1 / n``: one person. The ceiling is the share in the original itself, the number of distinct keys over n.

    References
    ----------
    Domingo-Ferrer, J. & Torra, V. (2003). Disclosure risk assessment in statistical microdata protection via advanced
    record linkage. Statistics and Computing 13, 343-354. Muralidhar, K. & Domingo-Ferrer, J. (2016). Rank-based record
    linkage for re-identification risk assessment. Privacy in Statistical Databases, LNCS 9867, 225-236. Gower, J. C.
    (1971). A general coefficient of similarity and some of its properties. Biometrics 27, 857-871.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> original = pa.table({"sex": ["f", "f", "m", "m"], "age": [30, 40, 50, 60]})
    >>> release = pa.table({"sex": ["f", "f", "m", "m"], "age": [34, 38, 55, 55]})
    >>> found = unveil.linkage(unveil.Pair(original, release), ["sex", "age"])
    >>> found.share, found.null_mean, found.ceiling
    (75.0, 25.0, 100.0)
    """
    refuse_units(pair, "linkage")
    check_whole_numbers(0, permutations=permutations, seed=seed)
    if most_records is not None:
        check_whole_numbers(1, most_records=most_records)
    check_shares(level=level)
    check_choice("distance", distance, ("gower", "rank"))
    check_choice("scale", scale, ("range", "iqr"))
    if keys is None:
        names, said = pair.roles.default_columns([] if linked_by == ROWS else [linked_by])
    else:
        names, said = as_names(keys, "key"), ()
    if linked_by in names:
        raise CallError(f"{linked_by!r} says whose record is whose and is no key; leave it out of the keys")
    if not names:
        raise CallError("; ".join(["the files have no column in common that can be compared", *said]))
    pair.require([*names, *([] if linked_by == ROWS else [linked_by])])
    owns = corresponding(pair, linked_by)
    # Sums of distances are the same in any order of the columns.
    columns = [pair.column(name, by_amount=True) for name in sorted(names)]
    most = max(_DISTANCES // pair.n_original, _LEAST_RECORDS) if most_records is None else most_records
    persons = searched_persons(columns, owns, most, seed)
    streams = np.random.SeedSequence(seed).spawn(pair.n_releases + 1)
    itself, *found = (
        link(columns, persons, own[persons], number, distance=distance, scale=scale,
             permutations=permutations if number else 0, seed=streams[number], n_jobs=n_jobs)
        for number, own in enumerate((np.arange(pair.n_original), *owns))
    )  # fmt: skip
    return Linkage(
        keys=tuple(names),
        linked_by=linked_by,
        distance=distance,
        ceiling=100 * itself.share,
        n_original=pair.n_original,
        n_searched=len(persons),
        labels=pair.labels,
        label_original=pair.original.label,
        level=level,
        seed=seed,
        warnings=(*said, *pair.notes(columns, by_amount=True)),
        flavour=pair.flavour,
        _found=tuple(found),
        _persons=persons,
        _owns=tuple(own[persons] for own in owns),
    )
