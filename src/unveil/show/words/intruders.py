"""Exact membership in words."""

from __future__ import annotations

import math

from unveil._intruders.partial_result import KnowledgePoint, PartialKnowledge
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
            paragraph(
                f"{found.n_alike} of the games are between persons with the same values: nobody can win these."
                if found.game == "swap"
                else f"{found.n_alike} of the persons who were not used have the values of one who was."
            )
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


_METHODS = {"posterior": "all values", "enumeration": "all states", "chains": "chains"}


def partial_knowledge(found: PartialKnowledge) -> str:
    """A row per share of known records, and what the figures mean."""
    columns = [
        "% known", "unknown", "% prior", "% posterior", "+-", "% above 90 %", "% not mixed", "sweeps", "by",
    ]  # fmt: skip
    disclosed = found.structure == "splits"
    lines = [
        paragraph(
            f"Partial knowledge: {', '.join(found.target)} of {found.n_persons} persons among {found.n_original} "
            f"records, {found.n_values} values, prior {found.prior}."
        ),
        "",
        text_table(columns, [_point(point) for point in found.points]),
        "",
        paragraph(
            "The intruder knows some of the other records in full, and of all other persons "
            f"{', '.join(found.known) or 'nothing'}. Posterior: mean probability of the true value. +-: its standard "
            "error, because chains draw the unknown values. Not mixed: persons whose chains do not agree; above 1 % "
            "there is no figure."
        ),
        paragraph(
            "Splits disclosed: the intruder was told the splits of all trees as fitted to the true original. These "
            "tell of the truth beyond what the release shows: this is NOT a calibrated posterior."
            if disclosed
            else "The trees follow the unknown values. The intruder knows the synthesizer and its settings."
        ),
    ]
    return "\n".join([*lines, *warnings_in_words(found.warnings)])


def _point(point: KnowledgePoint) -> Row:
    drawn = point.method == "chains"
    above = "-" if point.refused else number(100 * point.share_above_90, 1)
    return [
        f"{100 * point.share_known:.4g}",
        str(point.n_unknown),
        number(100 * point.mean_prior, 1),
        "-" if point.refused else number(100 * point.mean_posterior, 1),
        number(100 * point.monte_carlo_error, 2) if drawn and not point.refused else "-",
        above,
        number(100 * point.share_not_mixed, 1) if drawn else "-",
        str(point.sweeps) if drawn else "-",
        _METHODS[point.method],
    ]
