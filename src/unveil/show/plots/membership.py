"""ROC curves on logarithmic axes, where few false alarms can be seen. Each function returns the axes it drew on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._membership.refit import MembershipOfSynthesizer
from unveil._membership.result import Membership
from unveil.show.plots.axes import BLUE, GREEN, OTHER, VERMILION, axes_for, finished
from unveil.stats.roc import FPRS, roc

_COLOURS = {"dcr": BLUE, "density": VERMILION, "classifier": GREEN}


def plot_roc(found: Membership, scores: Mapping[str, NDArray[np.float64] | None], *, ax: Any = None) -> Any:
    """A curve per attack, with intervals at the shares of false alarms that are reported."""
    ax = axes_for(ax, height=5.0)
    floor = 0.5 / max(found.n_attacked)
    member = found._records.is_member
    figures = found.together if scores is found._scores[-1] else found.releases[_index(found, scores)]
    for name, values in scores.items():
        if values is None:
            continue
        curve(ax, *_split(member, values), floor, color=_COLOURS[name],
               label=f"{name}: AUC {figures[name].auc:.3f}")  # fmt: skip
        for fpr, (low, high) in zip(FPRS, figures[name].tpr_interval, strict=True):
            if low == low:
                shift = 1 + 0.06 * (list(_COLOURS).index(name) - 1)
                ax.plot([fpr * shift] * 2, [max(low, floor), max(high, floor)], color=_COLOURS[name], linewidth=4,
                        alpha=0.35, solid_capstyle="butt")  # fmt: skip
    return finished_roc(ax, floor, f"{found.n_attacked[0]} members, {found.n_attacked[1]} held-out records")


def plot_runs(found: MembershipOfSynthesizer, *, ax: Any = None) -> Any:
    """A thin curve per run and attack."""
    ax = axes_for(ax, height=5.0)
    floor = 0.5 / max(max(run.n_attacked) for run in found.runs)
    for run in found.runs:
        member = run._records.is_member
        for name, values in run._scores[-1].items():
            if values is not None:
                curve(ax, *_split(member, values), floor, color=_COLOURS[name], alpha=0.6, linewidth=1,
                       label=f"{name}: mean AUC {found.auc[name]:.3f}")  # fmt: skip
    return finished_roc(ax, floor, f"{len(found.runs)} releases, each from half of {found.n} records")


def _index(found: Membership, scores: Mapping[str, Any]) -> int:
    return next(i for i, one in enumerate(found._scores) if one is scores)


def _split(member: NDArray[np.bool_], values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of members and of others, without records that were not scored."""
    scored = np.isfinite(values)
    return values[member & scored], values[~member & scored]


def curve(ax: Any, members: NDArray[np.float64], others: NDArray[np.float64], floor: float, **style: Any) -> None:
    """The ROC curve between the corners as well: a straight line is none on logarithmic axes."""
    alarms, hits = roc(members, others)
    grid = np.unique(np.concatenate([alarms, np.geomspace(floor, 1, 200)]))
    last = np.append(alarms[1:] != alarms[:-1], True)
    ax.plot(grid, np.maximum(np.interp(grid, alarms[last], hits[last]), floor), **style)


def finished_roc(ax: Any, floor: float, title: str) -> Any:
    """Axes, the line of guesses, and the title."""
    ax.plot([floor, 1], [floor, 1], color=OTHER, linestyle="--", linewidth=1, label="guess at random: AUC 0.5")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(floor, 1.1)
    ax.set_ylim(floor, 1.1)
    across, up = "share of held-out records taken for members (log scale)", "share of members found (log scale)"
    return finished(ax, across, up, title, legend={"loc": "lower right"})
