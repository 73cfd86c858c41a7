"""Drawings of intruders who ask about whole persons. Each function returns the axes it drew on."""

from __future__ import annotations

from typing import Any

from unveil._intruders.partial_result import PartialKnowledge
from unveil._intruders.result import ExactMembership
from unveil.show.plots.axes import BLUE, OTHER, PERCENT, VERMILION, axes_for, finished, in_percent
from unveil.show.plots.membership import curve, finished_roc


def plot_exact_membership(found: ExactMembership, *, ax: Any = None) -> Any:
    """The ROC curve of the exact likelihood ratio on logarithmic axes, where few false alarms can be seen."""
    ax = axes_for(ax, height=5.0)
    games = found._games
    members = games.log_ratio[games.member]
    others = -members if found.game == "swap" else games.log_ratio[~games.member]
    floor = 0.5 / max(members.size, others.size)
    label = f"likelihood ratio: AUC {found.auc:.3f}, {100 * found.share_certain:.0f} % certain"
    curve(ax, members, others, floor, color=BLUE, label=label)
    game = "which of two persons was used" if found.game == "swap" else "whether a person was used"
    return finished_roc(ax, floor, f"{game}: {members.size} members, {others.size} others")


def plot_partial_knowledge(found: PartialKnowledge, *, ax: Any = None) -> Any:
    """Mean posterior of the truth, and the share of persons above .9, against the share of other records known."""
    ax = axes_for(ax)
    shown = [point for point in found.points if not point.refused]
    known = [100 * point.share_known for point in shown]
    for name, colour, label in (
        ("mean_posterior", BLUE, "mean posterior of the truth"),
        ("share_above_90", VERMILION, "persons above 90 %"),
    ):
        ax.plot(known, [getattr(point, name) for point in shown], color=colour, marker="o", label=label)
    ax.plot(
        [100 * point.share_known for point in found.points], [point.mean_prior for point in found.points],
        color=OTHER, linestyle="--", label="mean prior",
    )  # fmt: skip
    for point in found.points:
        if point.refused:
            ax.text(100 * point.share_known, 0.5, "not mixed", rotation=90, color=OTHER, ha="center", va="center")
    ax.set_xlim(*PERCENT[::-1])
    ax.set_ylim(-0.02, 1.02)
    in_percent(ax.yaxis)
    title = ", ".join(found.target) + (", splits disclosed" if found.structure == "splits" else ", trees follow")
    return finished(ax, "percent of other records known", "probability, or part of the persons", title, legend={})
