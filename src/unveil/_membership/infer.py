"""Membership inference with records that were truly held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._membership.attacks import ATTACKS, Attempt, attack
from unveil._membership.distance import Scale
from unveil._membership.largest import contributions, largest_of
from unveil._membership.records import AttackedRecords, collect, most_attacked
from unveil._membership.refusal import check_provenance, require_statement
from unveil._membership.result import Copies, Membership
from unveil._tables.keyed_pair import as_names
from unveil.checks import check_choice, check_shares, check_whole_numbers, some_of
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first, refuse_units
from unveil.errors import CallError
from unveil.stats import clopper_pearson
from unveil.stats.roc import RocFigures, figures_of


@pair_first
def membership(
    pair: Pair, holdout: Any = None, *, holdout_unseen: bool = False, columns: str | Sequence[str] | None = None,
    attacks: str | Sequence[str] = ATTACKS, scale: Scale = "range", neighbours: int = 5,
    most_records: int | None = None, level: float = 0.95, seed: int = 0, n_jobs: int | None = None,
) -> Membership:  # fmt: skip
    """Measure how well it can be told from a release which persons it was made from.

    Members are the original's records, and are told from real records that the synthesizer never saw. With ``d`` the
    distance to the closest record (Gower's), the scores are

    - ``dcr``: ``-d(release)``;
    - ``density``: ``log d(reference) - log d(release)``, an estimate, by nearest neighbours, of how much denser the
      release is at the record than the population; half of the held-out records, drawn, are the reference;
    - ``classifier``: log odds of gradient boosting fitted to the reference and half of the members, from the distances
      of the nearest synthetic records, how many are near, and the density ratio.

    ``density`` does not score the reference, ``classifier`` nobody it was fitted to.

    Parameters
    ----------
    pair
        The records that the synthesizer was fitted to, and its releases.
    holdout
        Records of the same population that the synthesizer never saw: a path or a frame; by default those of the pair.
    holdout_unseen
        True to state that this is so. Records set aside afterwards, from data that the synthesizer was fitted to, are
        members too; they are refused where that can be seen: when they are among the original's records, and when a
        provenance file beside the release says that it was made from other records than the original's.
    columns
        Columns to compare; by default all that every file has.
    attacks
        Which attacks to make.
    scale : {"range", "iqr"}
        What a difference of numbers is divided by, before it is cut at 1: the original's range or interquartile range.
    neighbours
        Number of nearest synthetic records that the classifier sees.
    most_records
        Members, and held-out records, that are attacked at most; where there are more they are drawn. By default
        20 000, of releases with more than a million records together so many fewer that as many distances are taken,
        but at least 2000. Releases are always searched in full.
    level
        Coverage of the intervals.
    seed
        Seed of draws and classifier.
    n_jobs
        Number of threads; all by default. Results do not depend on it.

    Returns
    -------
    Membership
        Figures per release and for all releases together, where the closest record of any counts.

    Raises
    ------
    CallError
        If ``holdout_unseen`` is not stated, there are no held-out records, a column is unknown, or an option is out of
        its range.
    DataError
        If the held-out records are not that, lack a column, or cannot be compared.

    References
    ----------
    Shokri, Stronati, Song & Shmatikov (2017), Membership inference attacks against machine learning models, IEEE S&P.
    Chen, Yu, Zhang & Fritz (2020), GAN-Leaks, ACM CCS (distance to the closest record). van Breugel, Sun, Qian & van
    der Schaar (2023), Membership inference attacks against synthetic data through overfitting detection, AISTATS
    (density ratio). Carlini et al. (2022), Membership inference attacks from first principles, IEEE S&P (hits at few
    false alarms).

    Examples
    --------
    >>> import unveil
    >>> people, others = (unveil.simulate.demo_population(300, seed=seed) for seed in (1, 2))
    >>> copy = unveil.Pair(people, people.slice(0, 300))
    >>> found = unveil.membership(copy, others, holdout_unseen=True, attacks="dcr")
    >>> found.together["dcr"].auc > 0.9, round(found.copies_together.members)
    (True, 100)
    """
    refuse_units(pair, "membership")
    require_statement(holdout_unseen)
    chosen = _checked(attacks, scale, neighbours, most_records, level, seed)
    most = most_attacked(sum(pair.n_synthetic)) if most_records is None else most_records
    names, said = pair.roles.default_columns() if columns is None else (as_names(columns, "column"), ())
    if not names:
        raise CallError("; ".join(["the files have no column in common that can be compared", *said]))
    pair.require(names)
    pair = pair.with_holdout(holdout)
    everybody = pair.held_out
    everybody.require(names)
    confirmed = check_provenance(pair)
    records = collect(everybody, names, scale=scale, most=most, seed=seed)
    targets = list(records.releases)
    if len(targets) > 1:
        targets.append(np.concatenate(targets))
    attempts = [attack(records, r, chosen, neighbours=neighbours, seed=seed, n_jobs=n_jobs) for r in targets]
    figures = [_figures(records, one, level, seed) for one in attempts]
    copied = [records.found_in(release) for release in targets]
    copies = [_copies(records, one, level) for one in copied]
    m = len(records.releases)
    return Membership(
        columns=tuple(names),
        attacks=chosen,
        releases=tuple(figures[:m]),
        together=figures[-1],
        copies=tuple(copies[:m]),
        copies_together=copies[-1],
        largest=largest_of({name: one.auc for name, one in figures[-1].items()}, _weights(records, attempts[-1]), seed),
        n_members=pair.n_original,
        n_held_out=everybody.n_synthetic[-1],
        n_attacked=(len(records.members), len(records.others)),
        n_synthetic=pair.n_synthetic,
        labels=pair.labels,
        label_original=pair.original.label,
        label_held_out=everybody.labels[-1],
        confirmed=confirmed,
        level=level,
        seed=seed,
        unmatched=pair.unmatched(map(pair.column, names)),
        warnings=(*said, *everybody.notes(map(everybody.column, names))),
        flavour=pair.flavour,
        _records=records,
        _scores=tuple({name: one.scores for name, one in made.items()} for made in attempts),
        _copied=tuple(copied),
    )


def _checked(
    attacks: str | Sequence[str], scale: str, neighbours: int, most_records: int | None, level: float, seed: int
) -> tuple[str, ...]:
    check_whole_numbers(1, neighbours=neighbours)
    if most_records is not None:
        check_whole_numbers(1, most_records=most_records)
    check_whole_numbers(0, seed=seed)
    check_shares(level=level)
    check_choice("scale", scale, ("range", "iqr"))
    return some_of("attacks", attacks, ATTACKS)


def _figures(records: AttackedRecords, attempts: dict[str, Attempt], level: float, seed: int) -> dict[str, RocFigures]:
    figures = {}
    for position, (name, one) in enumerate(attempts.items()):
        if one.scores is None:
            figures[name] = RocFigures.none(one.undefined)
            continue
        stream = np.random.SeedSequence(seed, spawn_key=(position,))
        member, scored = records.is_member, np.isfinite(one.scores)
        figures[name] = figures_of(one.scores[member & scored], one.scores[~member & scored], level=level, seed=stream)
    return figures


def _weights(records: AttackedRecords, attempts: dict[str, Attempt]) -> dict[str, NDArray[np.float64]]:
    """What each attacked record adds to the area of each attack that was made."""
    return {
        name: contributions(one.scores, records.is_member) for name, one in attempts.items() if one.scores is not None
    }


def _copies(records: AttackedRecords, copied: NDArray[np.bool_], level: float) -> Copies:
    ends = []
    for group in (records.is_member, ~records.is_member):
        found, n = int(copied[group].sum()), int(group.sum())
        low, high = clopper_pearson(found, n, level)
        ends.append((100 * found / n, (100 * low, 100 * high)))
    return Copies(ends[0][0], ends[0][1], ends[1][0], ends[1][1])
