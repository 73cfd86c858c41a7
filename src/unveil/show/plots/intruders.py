"""The ROC curve of the exact likelihood ratio. Each function returns the axes it drew on."""

from __future__ import annotations

from typing import Any

from unveil._intruders.result import ExactMembership
from unveil.show.plots.axes import BLUE, axes_for
from unveil.show.plots.membership import curve, finished_roc


def plot_exact_membership(found: ExactMembership, *, ax: Any = None) -> Any:
    """The curve on logarithmic axes, where few false alarms can be seen."""
    ax = axes_for(ax, height=5.0)
    games = found._games
    members = games.log_ratio[games.member]
    others = -members if found.game == "swap" else games.log_ratio[~games.member]
    floor = 0.5 / max(members.size, others.size)
    label = f"likelihood ratio: AUC {found.auc:.3f}, {100 * found.share_certain:.0f} % certain"
    curve(ax, members, others, floor, color=BLUE, label=label)
    game = "which of two persons was used" if found.game == "swap" else "whether a person was used"
    return finished_roc(ax, floor, f"{game}: {members.size} members, {others.size} others")
