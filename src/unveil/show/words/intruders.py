"""Exact membership in words."""

from __future__ import annotations

import math

from unveil._intruders.result import ExactMembership
from unveil.result import Row, ends, number, paragraph, text_table, warnings_in_words
from unveil.stats import called
from unveil.stats.roc import FPRS

_OTHERS = {
    "holdout": "held-out records",
    "halves": "the half of the original that the synthesizer was not fitted to",
    "candidates": "candidates",
}


def exact_membership(found: ExactMembership) -> str:
    """A row per figure, and what the figures mean."""
    rows: list[Row] = [
        ["% of answers right", *_percent(found.share_right, found.share_right_interval), "50"],
        ["% certain", *_percent(found.share_certain, found.share_certain_interval), "0"],
        ["AUC", number(found.roc.auc, 3), ends(found.roc.auc_interval, 3), number(0.5, 3)],
    ]
    for fpr, hits, interval in zip(FPRS, found.roc.tpr, found.roc.tpr_interval, strict=True):
        rows.append([f"% found at {100 * fpr:g} % false alarms", *_percent(hits, interval), f"{100 * fpr:g}"])
    members, others = found.n_games
    asked = (
        f"which of two persons was used ({members} games)"
        if found.game == "swap"
        else f"whether a person was used ({members} who were, {others} who were not)"
    )
    lines = [
        paragraph(
            f"Exact membership: {asked}. In {found.label_original} are {found.n_original} records; persons who were "
            f"not used: {_OTHERS[found.others]}, {found.n_others} records."
        ),
        "",
        text_table(["figure", "value", called("release", found.level), "guess at random"], rows),
        "",
        paragraph(
            "The intruder knows the synthesizer and all other records, and compares the likelihoods of the release "
            "with and without the person. No attack of this intruder finds more. Certain: one of the two answers "
            "makes the release impossible."
        ),
    ]
    if found.n_alike:
        lines.append(
            paragraph(f"{found.n_alike} of the games are between persons with the same values: nobody can win these.")
        )
    if any(math.isnan(hits) for hits in found.roc.tpr):
        lines.append(paragraph("-: there are fewer persons than one false alarm takes."))
    lines.append(
        paragraph("It does NOT show what intruders learn who know fewer records, or not how the release was made.")
    )
    return "\n".join([*lines, *warnings_in_words(found.warnings)])


def _percent(share: float, interval: tuple[float, float]) -> tuple[str, str]:
    if math.isnan(share):
        return "-", "-"
    low, high = interval
    return number(100 * share, 1), ends((100 * low, 100 * high), 1)
