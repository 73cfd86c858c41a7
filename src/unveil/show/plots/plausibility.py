"""Plausibility of a release on axes."""

from __future__ import annotations

from typing import Any

from unveil._tables.plausibility import Plausibility
from unveil.show.plots import axes


def plot_plausibility(found: Plausibility, *, ax: Any = None) -> Any:
    """Per rule and set of columns, percent of records of each release, and of the original."""
    rows = [*found.rules.items(), *((names, ({"share": 0.0}, *files)) for names, files in found.combinations.items())]
    ax = axes.axes_for(ax, height=1.8 + 0.4 * len(rows))
    for y, (_, (original, *releases)) in enumerate(reversed(rows)):
        axes.dots(ax, y, [one["share"] for one in releases], axes.RELEASE, label="releases")
        axes.circle(ax, y, original["share"], 2, "original")
    axes.rows(ax, [text if len(text) <= 40 else f"{text[:37]}..." for text, _ in rows][::-1])
    ax.set_xlim(*axes.PERCENT)
    ax.set_ylim(-0.6, len(rows) + 0.4)
    # Two short entries have room beside the axis, however long the rules are.
    axes.legend_of(ax, loc="upper right", ncols=2, fontsize="small", borderpad=0, frameon=False)
    return axes.finished(ax, "percent of records that break the rule, or are new", title="plausibility")
