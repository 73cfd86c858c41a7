"""Where two figures contradict each other, or one cannot be trusted by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from unveil.assessment.published_text import WriterOf, note_with_figures
from unveil.assessment.rounding import Rounding
from unveil.assessment.wording import listed
from unveil.limits import exceeds, falls_below, within

MUCH_NOVEL = 20.0
"""Percent of a release's key combinations that the original lacks above which repU and DiSCO are doubted."""
NEAR_PRIOR = 0.02
"""A mean posterior that is not further above the prior is read as the prior."""
FEW, MANY = 0.05, 0.20
"""A match measure up to the one, and a certain share from the other on, contradict each other."""


def contradictions(
    figures: Sequence[Mapping[str, Any]], structure: Mapping[str, Any] | None, rounding: Rounding,
    curves: Mapping[str, Mapping[str, Any] | None] = MappingProxyType({}),
) -> list[dict[str, Any]]:  # fmt: skip
    """Read the figures against each other.

    - Where many key combinations of a release are new, repU and DiSCO may read low for that reason alone, whether or
      not anybody is protected (Latner, Neunhoeffer & Drechsler 2026).
    - repU and DiSCO can be near 0 while an intruder who knows all other records is certain (the same, 2025).
    - The curve of fewer records known can fall to the prior while an intruder who knows all of them is certain.
    - A figure no higher than its null is not told apart from chance; that is not to say that it is chance.
    - One above its null may still be no higher than what a guess without the release reaches.
    - RAPID above its ceiling, and above its null, is more than a model learns from the original less the person.

    Parameters
    ----------
    figures
        Figures as plain values.
    structure
        The structure part, where it was taken.
    rounding
        How far figures of all persons are rounded for publication. Compared are the figures as they are.
    curves
        By target, the curve of the strongest intruder who knows fewer records.

    Returns
    -------
    list of dict
        ``part`` and ``text``, which is a :class:`unveil.notes.Note`.
    """
    warn = _Warn(rounding)
    found: list[dict[str, Any]] = []
    if structure is not None and structure["percent_novel"] is not None and structure["percent_novel"] > MUCH_NOVEL:
        found.append(
            warn(
                "structure",
                lambda say: (
                    f"{say().percent(structure['percent_novel'])} % of the key combinations in the release do not "
                    "occur in the original. Records with them match nobody, which may by itself make repU and DiSCO "
                    "low; do not read a low value as protection."
                ),
            )
        )
    for figure in figures:
        found += [*_against_null(figure, warn), *_against_guess(figure, warn)]
    found += _against_ceiling(figures, warn)
    found += _against_certainty(figures, warn)
    found += _against_curves(figures, curves, warn)
    return found


@dataclass(frozen=True)
class _Warn:
    """Makes warnings of sentences that hold figures."""

    rounding: Rounding

    def __call__(self, part: str, words: Callable[[WriterOf], str]) -> dict[str, Any]:
        return {"part": part, "text": note_with_figures(words, self.rounding)}


def _against_null(figure: Mapping[str, Any], warn: _Warn) -> Iterable[dict[str, Any]]:
    value, top = figure["value"], figure["null_95"]
    if _is_chance(figure):
        yield warn(
            figure["measure"],
            lambda say: (
                f"{_name(figure)} is {_amount(say, value, figure)} and no higher than what {_nothing(figure)} reach by "
                f"chance (95th percentile {_amount(say, top, figure)}): this figure cannot be told from chance. Do not "
                "read it as safety: another attack, or more records, may find more."
            ),
        )


def _is_chance(figure: Mapping[str, Any]) -> bool:
    value, top = figure["value"], figure["null_95"]
    return _known(value, top) and bool(within(value, top))


def _nothing(figure: Mapping[str, Any]) -> str:
    """Return in words of what the null of a figure is the mean."""
    if figure["measure"] == "linkage":
        return "records that are dealt to persons at random"
    if figure["target"] is None:
        return "the best of the attacks on persons who cannot be told apart would"
    return "releases whose target is shuffled"


_GUESS = {
    "RAPID": "whom it helps to infer it is offset by whom it misleads",
    "DCAP": "whom the release has no records for counts as missed, so compare it with its null and not with the guess",
}
"""Measures whose margin is a guess of the same kind, and how such a guess can be as good."""


def _against_guess(figure: Mapping[str, Any], warn: _Warn) -> Iterable[dict[str, Any]]:
    value, margin, top = figure["value"], figure["margin"], figure["null_95"]
    if figure["measure"] not in _GUESS or not _known(value, margin) or exceeds(value, margin) or margin == 0:
        return
    if _known(top) and exceeds(value, top):
        yield warn(
            figure["measure"],
            lambda say: (
                f"{_name(figure)} is {_amount(say, value, figure)}, above chance "
                f"({_amount(say, figure['null_mean'], figure)}; 95th percentile {_amount(say, top, figure)}), but no "
                f"higher than a guess without release and keys ({_amount(say, margin, figure)}): "
                f"{_GUESS[figure['measure']]}."
            ),
        )


def _against_ceiling(figures: Sequence[Mapping[str, Any]], warn: _Warn) -> Iterable[dict[str, Any]]:
    """Where the whole interval lies above what the original tells of persons who are left out of it.

    Of RAPID alone: the ceiling of DCAP counts whoever is alone with the keys as missed, and is passed by any release
    with more combinations.
    """
    above = [
        figure
        for figure in figures
        if figure["measure"] == "RAPID"
        and _known(figure["value"], figure["low"], figure["ceiling"])
        and exceeds(figure["low"], figure["ceiling"])
        and not _is_chance(figure)
    ]
    if above:

        def words(say: WriterOf) -> str:
            names = [
                f"{one['target']} ({_amount(say, one['value'], one)} over {_amount(say, one['ceiling'], one)})"
                for one in above
            ]
            return (
                f"RAPID is higher than where the model learns from the original without the record: {listed(names)}. "
                "The records themselves may be behind what goes beyond it, or relations that the synthesizer made "
                "clearer than they are, or a release of more records than the original has."
            )

        yield warn("RAPID", words)


def _against_certainty(figures: Sequence[Mapping[str, Any]], warn: _Warn) -> Iterable[dict[str, Any]]:
    for certain in figures:
        if (
            certain["measure"] != "posterior certain"
            or not _known(certain["value"])
            or falls_below(certain["value"], MANY)
        ):
            continue
        low = [
            figure
            for figure in figures
            if figure["measure"] in ("repU", "DiSCO")
            and figure["target"] in (None, certain["target"])
            and _known(figure["value"])
            and within(figure["value"], 100 * FEW)
        ]
        if low:
            yield warn("posterior", partial(_certain_all_the_same, low, certain))


def _certain_all_the_same(low: Sequence[Mapping[str, Any]], certain: Mapping[str, Any], say: WriterOf) -> str:
    names = [f"{figure['measure']} {say(figure).percent(figure['value'])} %" for figure in low]
    return (
        f"{' and '.join(names)} would read as safe, yet an intruder who has all other records is certain of "
        f"{certain['target']} for {say(certain).hundred(certain['value'], digits=0)} of 100 records."
    )


def _against_curves(
    figures: Sequence[Mapping[str, Any]], curves: Mapping[str, Mapping[str, Any] | None], warn: _Warn
) -> Iterable[dict[str, Any]]:
    for certain in figures:
        curve = curves.get(certain["target"]) if certain["measure"] == "posterior certain" else None
        if curve is None or not _known(certain["value"]) or falls_below(certain["value"], MANY):
            continue
        at_prior = [
            point["share_known"]
            for point in curve["points"]
            if _known(point["mean_posterior"]) and within(point["mean_posterior"] - point["mean_prior"], NEAR_PRIOR)
        ]
        if at_prior:
            yield warn("partial knowledge", partial(_certain_with_all, max(at_prior), certain))


def _certain_with_all(share: float, certain: Mapping[str, Any], say: WriterOf) -> str:
    known = "knows all other records, and looks at the splits alone," if share == 1 else (
        f"knows {100 * share:g} % of the other records"
    )  # fmt: skip
    return (
        f"An intruder who {known} learns next to nothing about {certain['target']}, yet one who has all other records "
        f"and uses all that the release tells is certain of it for {say(certain).hundred(certain['value'], digits=0)} "
        "of 100 records: do not read the curve as protection from somebody who has them."
    )


def _name(figure: Mapping[str, Any]) -> str:
    return str(figure["measure"]) + (f" of {figure['target']}" if figure["target"] is not None else "")


def _amount(say: WriterOf, value: float, figure: Mapping[str, Any]) -> str:
    """The value as the report prints it: shares are percent there."""
    return say(figure).amount(value, figure["unit"])


def _known(*values: float | None) -> bool:
    return all(value is not None and not math.isnan(value) for value in values)
