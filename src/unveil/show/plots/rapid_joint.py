"""RAPID of several targets at once on axes."""

from __future__ import annotations

from typing import Any

from unveil._rapid.joint import JointRapid
from unveil.show.plots import axes


def plot_joint(found: JointRapid, *, ax: Any = None) -> Any:
    """Per attack the joint rate with its interval, the product of the rates, and the null."""
    ax = axes.axes_for(ax, height=1.8 + 0.4 * len(found.rows))
    for y, row in enumerate(reversed(found.rows)):
        axes.span(ax, y, (row["low"], row["high"]), axes.RELEASE, linewidth=5, alpha=0.35, zorder=2)
        axes.dots(ax, y, [row["rate"]], axes.RELEASE, label="all targets")
        axes.dots(ax, y, [row["independent"]], axes.BLUE, marker="|", s=80, label="product of the rates")
        axes.dots(ax, y, [row["null_mean"]], axes.OTHER, marker=axes.NULL_MARK, label="null")
    axes.rows(ax, [f"{row['attacker']}, {row['release']}" for row in reversed(found.rows)])
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.6, len(found.rows) + 0.2)
    axes.legend_above(ax)
    return axes.finished(ax, "share of records", title=f"at risk for all of {', '.join(found.targets)}")
