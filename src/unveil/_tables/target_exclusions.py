"""What each of several targets leaves out: the pairs and levels that concern it, and how many records they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._tables.exclusion_rules import check_levels, checked_pairs, pairs_of
from unveil._tables.exclusion_texts import Triple
from unveil._tables.keyed_pair import Groups, KeyedPair, coded
from unveil._tables.study import study_of
from unveil.columns.column import CodedColumn
from unveil.columns.pair import Pair
from unveil.errors import CallError, DataError


@dataclass(frozen=True)
class LeftOut:
    """A pair or a level that does not count.

    Parameters
    ----------
    text
        As an option says it: ``age=19:SINGLE``, or ``marital=SINGLE``.
    levels
        By column its level, or a comparison.
    records
        Number of original records that have it.
    """

    text: str
    levels: Mapping[str, object]
    records: int


@dataclass(frozen=True)
class TargetExclusions:
    """What does not count for one target.

    Parameters
    ----------
    pairs
        Those pairs whose level the target has.
    levels
        Levels of the target.
    records
        Number of original records that have any of them.
    """

    pairs: tuple[LeftOut, ...] = ()
    levels: tuple[LeftOut, ...] = ()
    records: int = 0


def exclusions_by_target(
    pair: Pair, keys: Sequence[str], targets: Sequence[str], exclude_pairs: Sequence[str],
    not_target_levels: Mapping[str, Sequence[object]], *, ngroups_keys: Groups = None, ngroups_target: Groups = None,
) -> dict[str, TargetExclusions]:  # fmt: skip
    """Check the exclusions of several targets, and say what of them concerns each.

    Columns that cannot be coded have none: a measure of them fails for that reason.

    Parameters
    ----------
    pair, keys, ngroups_keys, ngroups_target
        See :func:`unveil.attribute`.
    targets
        The targets.
    exclude_pairs
        Pairs as texts.
    not_target_levels
        Levels by target.

    Raises
    ------
    CallError
        If a level is unknown: of a pair, for all targets.
    """
    if not exclude_pairs and not not_target_levels:
        return dict.fromkeys(targets, TargetExclusions())
    columns: dict[str, CodedColumn] = {}
    with suppress(DataError):
        study = study_of(pair, keys, targets, ngroups_keys=ngroups_keys)
        for name in targets:
            with suppress(DataError):
                columns[name] = coded(pair, name, ngroups_target)
    if not columns:
        return dict.fromkeys(targets, TargetExclusions())
    levels = {name: given for name, given in not_target_levels.items() if name in columns}
    check_levels(pair, columns, levels, each=True)
    triples = dict(zip(exclude_pairs, checked_pairs(study, list(columns.values()), exclude_pairs), strict=True))
    return {
        name: _of(study, columns[name], triples, levels.get(name, ())) if name in columns else TargetExclusions()
        for name in targets
    }


def _of(
    study: KeyedPair, target: CodedColumn, triples: Mapping[str, Triple], levels: Sequence[object]
) -> TargetExclusions:
    anything = np.zeros(len(target.original), dtype=bool)

    def left_out(text: str, levels: Mapping[str, object], held: NDArray[np.bool_]) -> LeftOut:
        anything[held] = True
        return LeftOut(text, levels, int(held.sum()))

    pairs = []
    for text, triple in triples.items():
        found = pairs_of(study, target, [triple])
        if found:
            key, _, code = found[0]
            held = np.isin(key.original, [key_code for _, key_code, _ in found]) & (target.original == code)
            pairs.append(left_out(text, {key.name: triple[1], target.name: triple[2]}, held))
    alone = []
    for level in levels:
        code = -1
        with suppress(CallError):
            code = target.code_of(level)
        alone.append(left_out(f"{target.name}={level}", {target.name: level}, target.original == code))
    return TargetExclusions(tuple(pairs), tuple(alone), int(anything.sum()))
