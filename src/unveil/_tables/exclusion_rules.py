"""From the options of a call to tests on codes: which cells do not count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from unveil._tables.exclusions import CellRules
from unveil._tables.keyed_pair import KeyedPair
from unveil.columns.column import CodedColumn
from unveil.errors import CallError
from unveil.files.nearest import near_matches


def rules_of(study: KeyedPair, target: CodedColumn, options: Mapping[str, Any]) -> CellRules:
    """Turn the exclusions of :func:`unveil.attribute` into tests on the codes of a study.

    Parameters
    ----------
    study
        The keys.
    target
        The target, coded like the keys.
    options
        The exclusions by name, checked; a level in ``not_target_levels`` that the target does not have leaves
        nothing out.

    Raises
    ------
    CallError
        If a pair to leave out is none, or has unknown levels.
    """
    levels = None
    if len(options["not_target_levels"]):
        levels = np.zeros(target.n_levels, dtype=bool)
        for level in options["not_target_levels"]:
            with suppress(CallError):
                levels[target.code_of(level)] = True
    return CellRules(
        target_levels=levels,
        target_gap=None if options["use_target_na"] else target.gap,
        keys=study.excluded,
        pairs=tuple(
            (study.holding(key, key_code), code)
            for key, key_code, code in pairs_of(study, target, options["exclude_pairs"])
        ),
        denom_limit=int(options["denom_limit"]) if options["exclude_over_denom_limit"] else None,
    )


def pairs_of(
    study: KeyedPair, target: CodedColumn, exclude_pairs: Sequence[Sequence[object]]
) -> list[tuple[CodedColumn, int, int]]:
    """The key, its code and the code of the target, of each pair to leave out.

    Raises
    ------
    CallError
        If a pair to leave out is none, or has unknown levels.
    """
    by_name = {column.name: column for column in study.columns}
    pairs = []
    for triple in exclude_pairs:
        if len(triple) != 3 or triple[0] not in by_name:
            hint = near_matches(str(triple[0]), by_name) if len(triple) == 3 else ""
            raise CallError(
                f"exclude_pairs takes triples (key, key level, target level) of a key, not {tuple(triple)!r}{hint}"
            )
        key = by_name[str(triple[0])]
        pairs.append((key, key.code_of(triple[1]), target.code_of(triple[2])))
    return pairs
