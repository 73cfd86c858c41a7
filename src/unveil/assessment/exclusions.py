"""What does not count for DiSCO and DCAP: how much it is, and what would better not count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unveil._tables.attribute_risk import AttributeRisk
from unveil._tables.exclusion_rules import is_comparison
from unveil._tables.exclusion_texts import level_option, pair_option, pair_text
from unveil.assessment.part import Context
from unveil.assessment.published_text import Exact, public_note
from unveil.errors import CallError
from unveil.notes import Note

_MEASURES = {"DiSCO": "DiSCO", "DCAP": "DCAPd"}


def exclusions(context: Context, target: str) -> dict[str, Any] | None:
    """What does not count for a target: its records, and the figures with and without them; None if all count."""
    everybody = context.attribute_of_all.get(target)
    if everybody is None:
        return None
    excluded, risk = context.excluded[target], context.attribute[target]

    def words(say: Exact) -> str:
        figures = "; ".join(
            f"{name} is {say.percent(risk.mean[own])} % so, and {say.percent(everybody.mean[own])} % if all count"
            for name, own in _MEASURES.items()
        )
        return (
            f"{target}: {say.count(excluded.records)} original records do not count for DiSCO and DCAP, as was asked "
            f"(exclude_pairs, not_target_levels). {figures}."
        )

    return {
        "sentence": public_note(words, context.rounding),
        "records": excluded.records,
        **{f"{name}_of_all": everybody.mean[own] for name, own in _MEASURES.items()},
        "rows": [
            {"what": _named(context, one.text, one.levels, one.records), "records": one.records}
            for one in (*excluded.pairs, *excluded.levels)
        ],
    }


def without_them(context: Context, target: str, say: Exact) -> str:
    """What a sentence on DiSCO or DCAP adds where records do not count; it begins with a blank."""
    if target not in context.attribute_of_all:
        return ""
    return f" Of the original records, {say.count(context.excluded[target].records)} do not count, as was asked."


def _named(context: Context, text: str, levels: Mapping[str, object], records: int) -> str:
    """A text that names levels: a :class:`Note`, if it may be published."""
    enough = records >= context.scenario.minimum_count
    return Note(text) if enough and all(is_inside(context, *one) for one in levels.items()) else text


def is_inside(context: Context, name: str, level: object) -> bool:
    """Whether a level is no end of a number's range, nor a group, whose ends are values of persons."""
    if is_comparison(level):
        return True
    column = context.pair.column(name)
    try:
        amount = column.amounts[column.code_of(level)]
    except CallError:
        return False
    known = column.amounts[column.is_amount]
    return bool(np.isnan(amount) or known.min() < amount < known.max())


@dataclass(frozen=True)
class AdvisedExclusion:
    """What a check of DiSCO says would better not count.

    Parameters
    ----------
    action
        With the options of the command line, to be pasted.
    because
        Why.
    how
        What the effect is one of.
    pairs, levels
        The same as options of :func:`unveil.attribute`.
    """

    action: Note
    because: Note
    how: str
    pairs: tuple[str, ...] = ()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_NOT_THE_RELEASE = "This changes what counts, not the release."
_PAIRS = "Do not count pairs that are known without the release"
_LEVEL = "Do not count the level of {} that most DiSCO records have"


def advised_exclusions(context: Context) -> Iterator[AdvisedExclusion]:
    """What the checks of every target flag, of all releases together."""
    for target, risk in context.attribute.items():
        pairs = {pair_text(pair): pair for found in risk.check_2way for pair in found}
        if pairs:
            options = [
                _named(context, pair_option(pair), {pair["key"]: pair["key_level"], target: pair["target_level"]},
                       pair["original_with_pair"])
                for pair in pairs.values()
            ]  # fmt: skip
            yield AdvisedExclusion(
                _with_options(_PAIRS, options), _why_pairs(risk), "the same releases; these pairs do not count",
                pairs=tuple(pairs),
            )  # fmt: skip
        levels = {one["level"]: one for one in risk.check_1way if one is not None}
        if levels:
            options = [
                _named(context, level_option(target, level), {target: level}, one["of_level"])
                for level, one in levels.items()
            ]
            yield AdvisedExclusion(
                _with_options(_LEVEL.format(target), options), _WHY_LEVEL,
                "the same releases; this level does not count", levels={target: tuple(levels)},
            )  # fmt: skip


def _with_options(words: str, options: list[str]) -> Note:
    """The advice and its options; for publication those that may be named."""
    public = [option for option in options if isinstance(option, Note)]
    rest = "" if len(public) == len(options) else " (and others, which are not named here)" if public else ""
    return Note(f"{words}: {' '.join(options)}", f"{words}{rest}: {' '.join(public)}" if public else f"{words}.")


def _why_pairs(risk: AttributeRisk) -> Note:
    return Note(
        f"More than {risk.options['check_2way'][1]:g} % of the original records with the level of the key have the "
        f"level of {risk.target}: whoever knows the one guesses the other without the release. {_NOT_THE_RELEASE}"
    )


_WHY_LEVEL = Note(f"Where most records have a level, to learn it is no disclosure. {_NOT_THE_RELEASE}")
