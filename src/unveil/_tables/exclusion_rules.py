"""From the options of a call to tests on codes: which cells do not count."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from unveil._tables.exclusions import CellRules
from unveil._tables.keyed_pair import KeyedPair
from unveil.columns.column import CodedColumn
from unveil.errors import CallError
from unveil.files.nearest import near_matches

_HOLDS: dict[str, Callable[[Any, float], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_COMPARISON = re.compile(r"(<=|>=|<|>)\s*([-+]?\d+(?:\.\d+)?)")


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
            (study.holding(key, [key_code]), code)
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
        code = target.code_of(triple[2])
        pairs += [(key, key_code, code) for key_code in _codes_of(key, triple[1])]
    return pairs


def _codes_of(key: CodedColumn, level: object) -> list[int]:
    """The codes of a key level, or of all amounts that a comparison such as ``<20`` holds for.

    Raises
    ------
    CallError
        If there is no such level, or a group of the key lies on both sides of the number.
    """
    found = _COMPARISON.fullmatch(level) if isinstance(level, str) and level not in key.labels else None
    # Amounts of dates are days since 1970: a number that is compared with them is a year, and no such day.
    if found is None or not (key.kind == "numeric" or (key.grouping is not None and key.grouping.cuts)):
        return [key.code_of(level)]
    holds, number = _HOLDS[found[1]], float(found[2])
    if key.grouping is None:
        return np.flatnonzero(key.is_amount & holds(key.amounts, number)).tolist()
    cuts = np.array(key.grouping.cuts)
    within = (cuts[:-1] < number) & (number < cuts[1:])
    # A group holds its lower end; the last of those that were computed holds its upper end too.
    on_an_end = number in cuts[:-1] if found[1] in ("<=", ">") else number == cuts[-1]
    if within.any() or on_an_end:
        held = key.labels[min(int(np.searchsorted(cuts, number, side="right")) - 1, len(cuts) - 2)]
        raise CallError(
            f"exclude_pairs: {key.name} {level} holds for a part of the group {held!r} only; cut {key.name!r} there "
            "(breaks), or name groups"
        )
    return np.flatnonzero(holds(cuts[:-1], number)).tolist()
