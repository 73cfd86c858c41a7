"""Record linkage on axes."""

from __future__ import annotations

from typing import Any

from unveil._membership.linkage_result import Linkage
from unveil.show.plots import axes
from unveil.stats import called


def plot_linkage(found: Linkage, *, ax: Any = None) -> Any:
    """Per release the percent of persons found, its interval, what chance finds, and what the original itself does."""
    ax = axes.axes_for(ax, height=1.8 + 0.4 * len(found.labels))
    for y, one in enumerate(reversed(found.releases)):
        axes.link(ax, y, one["null_mean"], found.ceiling)
        axes.span(ax, y, (one["low"], one["high"]), axes.RELEASE, linewidth=5, alpha=0.35, zorder=2,
                  label=called("release", found.level))  # fmt: skip
        axes.dots(ax, y, [one["share"]], axes.RELEASE, label="found")
        axes.dots(ax, y, [one["null_mean"]], axes.OTHER, marker=axes.NULL_MARK, label="by chance")
        axes.circle(ax, y, found.ceiling, 2, "in the original itself")
    axes.rows(ax, found.labels[::-1])
    ax.set_xlim(*axes.PERCENT)
    ax.set_ylim(-0.6, len(found.labels) + 0.2)
    axes.legend_above(ax)
    title = f"keys {', '.join(found.keys)}" if len(found.keys) <= 8 else f"{len(found.keys)} keys"
    return axes.finished(ax, "percent of persons found by the nearest record", title=title)
