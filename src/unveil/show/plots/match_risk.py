"""Matches with partially synthetic files on axes."""

from __future__ import annotations

from typing import Any

from unveil._membership.partial_matches import MatchRisk
from unveil.show.plots import axes


def plot_match_risk(found: MatchRisk, *, ax: Any = None) -> Any:
    """Per file the percent of persons whom an intruder expects to match, those matched alone, and chance."""
    *copies, (_, original) = found.rows
    ax = axes.axes_for(ax, height=1.8 + 0.4 * len(copies))
    share = 100 / found.n_original
    for y, (_, one) in enumerate(reversed(copies)):
        axes.link(ax, y, share * one["expected_by_chance"], share * original["expected"])
        axes.dots(ax, y, [share * one["expected"]], axes.RELEASE, label="expected matches")
        axes.dots(ax, y, [share * one["expected_by_chance"]], axes.OTHER, marker=axes.NULL_MARK, label="by chance")
        axes.circle(ax, y, share * original["expected"], 2, "in the original itself")
    axes.rows(ax, [name for name, _ in copies][::-1])
    ax.set_xlim(*axes.PERCENT)
    ax.set_ylim(-0.6, len(copies) + 0.2)
    axes.legend_above(ax)
    title = f"keys {', '.join(found.keys)}" if len(found.keys) <= 8 else f"{len(found.keys)} keys"
    return axes.finished(ax, "percent of persons matched with their own record, expected", title=title)
