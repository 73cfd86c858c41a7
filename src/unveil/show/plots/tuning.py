"""Plot of a search for settings; matplotlib is only needed here."""

from __future__ import annotations

import math
from typing import Any

from unveil.errors import CallError
from unveil.show.plots.axes import BLUE, PALE, VERMILION, as_written, axes_for, finished
from unveil.tuning import Tried, Tuning

_FARTHEST = 3.0
"""Limits used that are drawn as they are; more are drawn at the upper edge."""


def plot_tuning(found: Tuning, ax: Any = None) -> Any:
    """Draw the share of the limits that each setting uses against its utility: frontier and winner are marked."""
    shown = [one for one in found.tried if math.isfinite(one.utility)]
    if not shown:
        raise CallError(f"no setting has a {found.utility}; there is nothing to draw")
    ax = axes_for(ax, height=5.0)
    top = min(_FARTHEST, 1.15 * max(1.0, *(one.limit_used for one in shown)))
    for one in shown:
        mark = "^" if one.limit_used > top else "o"
        style = {"color": BLUE, "markersize": 6, "zorder": 3} if one.frontier else {"color": PALE, "markersize": 4}
        ax.plot(one.utility, min(one.limit_used, top), mark, clip_on=False, **style)
    best = sorted((one.utility, one.limit_used) for one in shown if one.frontier and one.limit_used <= top)
    if best:
        ax.plot(*zip(*best, strict=True), color=BLUE, linewidth=0.8, linestyle="--", label="frontier")
    ax.plot([], [], "o", color=PALE, markersize=4, label="other settings")
    if any(one.limit_used > top for one in shown):
        ax.plot([], [], "^", color=PALE, label=f"above {top:.2g}, or not measured")
    ax.axhline(1.0, color="0.3", linewidth=1, label="policy: at most 1")
    if found.winner is not None:
        _mark(ax, found, found.winner)
    ax.set_ylim(0, top)
    ax.grid(alpha=0.3)
    legend = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 3}
    across = f"{found.utility} (0: as useful as the original)"
    return finished(ax, across, "largest share of a limit that is used", legend=legend)


def _mark(ax: Any, found: Tuning, winner: Tried) -> None:
    """Mark the winner by its fresh figures, and write its settings beside it, where there is room."""
    names = [name for name, values in found.space.items() if len(values) > 1] or list(found.space)
    ax.plot(winner.utility, winner.limit_used, "*", color=VERMILION, markersize=13, zorder=4,
            label="winner, fresh releases")  # fmt: skip
    left = winner.utility > sum(ax.get_xlim()) / 2
    ax.annotate(
        as_written(winner.setting.in_words(names)), (winner.utility, winner.limit_used),
        xytext=(-9 if left else 9, -12), textcoords="offset points", ha="right" if left else "left", fontsize="small",
    )  # fmt: skip
