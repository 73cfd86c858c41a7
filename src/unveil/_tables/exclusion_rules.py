"""From the options of a call to tests on codes: which cells do not count."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from unveil._tables.exclusion_texts import Triple, pair_readings
from unveil._tables.exclusions import CellRules
from unveil._tables.keyed_pair import KeyedPair
from unveil.columns.column import CodedColumn
from unveil.columns.pair import Pair
from unveil.errors import CallError
from unveil.files.distinct import level_text
from unveil.files.nearest import near_or_all

ExcludedPair = str | Triple

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
        The exclusions by name, checked; a level in ``not_target_levels``, or of a pair, that the target does not have
        leaves nothing out.
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
    """The key, its code and the code of the target, of each checked pair whose level the target has."""
    by_name = {column.name: column for column in study.columns}
    pairs = []
    for name, key_level, level in exclude_pairs:
        with suppress(CallError):
            code, key = target.code_of(level), by_name[str(name)]
            pairs += [(key, key_code, code) for key_code in _codes_of(key, key_level)]
    return pairs


def checked_pairs(
    study: KeyedPair, targets: Sequence[CodedColumn], exclude_pairs: str | Sequence[ExcludedPair]
) -> list[Triple]:
    """Each pair to leave out as a triple (key, key level, target level); the key and some target have its levels.

    A text with several readings is the first of them that names levels of both.

    Raises
    ------
    CallError
        If a pair to leave out is none, or has unknown levels.
    """
    by_name = {column.name: column for column in study.columns}
    given = [exclude_pairs] if isinstance(exclude_pairs, str) else exclude_pairs
    return [_first_known(by_name, targets, one) for one in given]


def _first_known(by_name: Mapping[str, CodedColumn], targets: Sequence[CodedColumn], given: ExcludedPair) -> Triple:
    wrong: list[CallError] = []
    for reading in pair_readings(given, list(by_name)) if isinstance(given, str) else [tuple(given)]:
        if len(reading) != 3 or reading[0] not in by_name:
            hint = near_or_all(str(reading[0]), by_name, "the keys are") if len(reading) == 3 else ""
            raise CallError(
                f"exclude_pairs takes triples (key, key level, target level) of a key, not {reading!r}{hint}"
            )
        try:
            _codes_of(by_name[str(reading[0])], reading[1])
            _check_some_target(targets, reading[2])
        except CallError as error:
            wrong.append(error)
        else:
            return str(reading[0]), reading[1], reading[2]
    raise wrong[0]


def _check_some_target(targets: Sequence[CodedColumn], level: object) -> None:
    """Check that a level is one of some target.

    Raises
    ------
    CallError
        If it is a level of none.
    """
    wrong: list[CallError] = []
    for target in targets:
        try:
            target.code_of(level)
        except CallError as error:
            wrong.append(error)
        else:
            return
    if len(targets) == 1:
        raise wrong[0]
    known = dict.fromkeys(label for target in targets for label in target.labels)
    raise CallError(
        f"exclude_pairs: no target has the level {level!r}{near_or_all(str(level), known, 'their levels are')}"
    )


def check_levels(
    pair: Pair, columns: Mapping[str, CodedColumn], levels: Mapping[str, Sequence[object]], *, each: bool
) -> None:
    """Every level to leave out must be one of its target; where it is given for all targets at once, of one of them.

    Raises
    ------
    CallError
        If a level is unknown.
    """
    for name, given in levels.items():
        for level in given:
            asked = [name] if each else columns
            missing = [error for other in asked if (error := _missing_level(pair, columns[other], level)) is not None]
            if len(missing) == len(asked):
                raise CallError(f"not_target_levels: {missing[0]}")


def _missing_level(pair: Pair, column: CodedColumn, level: object) -> CallError | None:
    """What is wrong with a level that no file holds or declares; a gap is never mistyped."""
    if level is None or level != level:
        return None
    try:
        column.code_of(level)
    except CallError as error:
        files = (pair.original, *pair.releases)
        declared = {level_text(one) for file in files for one in file.variable(column.name).levels or ()}
        return None if level_text(level) in declared else error
    return None


def is_comparison(level: object) -> bool:
    """Whether the level of a pair is a comparison, such as ``<20``."""
    return isinstance(level, str) and _COMPARISON.fullmatch(level) is not None


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
