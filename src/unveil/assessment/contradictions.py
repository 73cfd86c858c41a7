"""Where two figures contradict each other, or one cannot be trusted by itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unveil.assessment.summary import listed
from unveil.assessment.wording import of_hundred

__all__ = ["contradictions"]

MUCH_NOVEL = 20.0
"""Percent of a release's key combinations that the original lacks from which repU and DiSCO are doubted."""
FEW, MANY = 0.05, 0.20
"""A match measure up to the one, and a certain share from the other on, contradict each other."""


def contradictions(figures: Sequence[Mapping[str, Any]], structure: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Read the figures against each other.

    - Where many key combinations of a release are new, repU and DiSCO read low because keys were changed, whether or
      not anybody is protected (Latner, Neunhoeffer & Drechsler 2026).
    - repU and DiSCO can be near 0 while an intruder who knows all other records is certain (the same, 2025).
    - A figure no higher than its null says nothing about this release.
    - One above its null may still be no higher than what a guess without the release reaches.
    - RAPID above its ceiling, and above its null, is more than the original tells of persons who are left out of it.

    Parameters
    ----------
    figures
        Figures as plain values.
    structure
        The structure part, where it was taken.

    Returns
    -------
    list of dict
        ``part`` and ``text``.
    """
    found: list[dict[str, Any]] = []
    if structure is not None and structure["percent_novel"] is not None and structure["percent_novel"] > MUCH_NOVEL:
        found.append(
            _warning(
                "structure",
                f"{structure['percent_novel']:.1f} % of the key combinations in the release do not occur in the "
                "original. repU and DiSCO fall with it by themselves; do not read a low value as protection.",
            )
        )
    for figure in figures:
        found += [*_against_null(figure), *_against_guess(figure)]
    found += _against_ceiling(figures)
    found += _against_certainty(figures)
    return found


def _against_null(figure: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    value, top = figure["value"], figure["null_95"]
    if _is_chance(figure):
        yield _warning(
            figure["measure"],
            f"{_name(figure)} is {_amount(value, figure)} and no higher than what a release without any relation "
            f"between keys and target reaches (95th percentile {_amount(top, figure)}): it is chance. Do not "
            "read it as safety: a stronger attack may find more.",
        )


def _is_chance(figure: Mapping[str, Any]) -> bool:
    value, top = figure["value"], figure["null_95"]
    return _known(value, top) and bool(value <= top)


_GUESS = {
    "RAPID": "whom it helps to infer it is offset by whom it misleads",
    "DCAP": "persons whose keys the release lacks count as missed, so compare it with its null and not with the guess",
}
"""Measures whose margin is a guess of the same kind, and how such a guess can be as good."""


def _against_guess(figure: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    value, margin, top = figure["value"], figure["margin"], figure["null_95"]
    if figure["measure"] not in _GUESS or not _known(value, margin) or value > margin or margin == 0:
        return
    if _known(top) and value > top:
        yield _warning(
            figure["measure"],
            f"{_name(figure)} is {_amount(value, figure)}, above chance ({_amount(figure['null_mean'], figure)}; 95th "
            f"percentile {_amount(top, figure)}), but no higher than a guess without release and keys "
            f"({_amount(margin, figure)}): {_GUESS[figure['measure']]}.",
        )


def _against_ceiling(figures: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    """Where the whole interval lies above what the original tells of persons who are left out of it.

    Of RAPID alone: the ceiling of DCAP counts whoever is alone with the keys as missed, and is passed by any release
    with more combinations.
    """
    above = [
        f"{figure['target']} ({_amount(figure['value'], figure)} over {_amount(figure['ceiling'], figure)})"
        for figure in figures
        if figure["measure"] == "RAPID"
        and _known(figure["value"], figure["low"], figure["ceiling"])
        and figure["low"] > figure["ceiling"]
        and not _is_chance(figure)
    ]
    if above:
        yield _warning(
            "RAPID",
            f"RAPID is higher than where the model learns from the original without the person: {listed(above)}. What "
            "goes beyond it is no knowledge of people in general: these persons' own records may be behind it, or "
            "relations that the synthesizer made clearer than they are.",
        )


def _against_certainty(figures: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    for certain in figures:
        if certain["measure"] != "posterior certain" or not _known(certain["value"]) or certain["value"] < MANY:
            continue
        low = [
            f"{figure['measure']} {figure['value']:.1f} %"
            for figure in figures
            if figure["measure"] in ("repU", "DiSCO")
            and figure["target"] in (None, certain["target"])
            and _known(figure["value"])
            and figure["value"] <= 100 * FEW
        ]
        if low:
            yield _warning(
                "posterior",
                f"{' and '.join(low)} would read as safe, yet an intruder who has all other records is certain of "
                f"{certain['target']} for {of_hundred(certain['value'], 0)} of 100 persons.",
            )


def _name(figure: Mapping[str, Any]) -> str:
    return str(figure["measure"]) + (f" of {figure['target']}" if figure["target"] is not None else "")


def _amount(value: float, figure: Mapping[str, Any]) -> str:
    """The value as the report prints it: shares are percent there."""
    if figure["unit"] == "auc":
        return f"{value:.3g}"
    return f"{100 * value if figure['unit'] == 'share' else value:.3g} %"


def _known(*values: float | None) -> bool:
    return all(value is not None and not math.isnan(value) for value in values)


def _warning(part: str, text: str) -> dict[str, Any]:
    return {"part": part, "text": text}
