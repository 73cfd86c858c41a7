"""Plots of an assessment and of a map of risk and utility; matplotlib is only needed here."""

from __future__ import annotations

from typing import Any

from unveil.assessment.result import Assessment
from unveil.errors import CallError
from unveil.show.plots.axes import (
    CEILING_MARK,
    MARGIN_MARK,
    NULL_MARK,
    axes_for,
    finished,
    rows,
    span,
)
from unveil.show.plots.axes import (
    PERCENT as PERCENT_LIMITS,
)
from unveil.stats import NAMES

_MARKS = (("null_mean", "null", NULL_MARK), ("margin", "margin", MARGIN_MARK), ("ceiling", "ceiling", CEILING_MARK))
_ABOVE: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}


def plot_figures(found: Assessment, ax: Any = None) -> Any:
    """Draw every figure with its interval beside null, margin and ceiling, in percent."""
    shown = [figure for figure in found.content["figures"] if figure["value"] is not None]
    if not shown:
        raise CallError("no figure is defined; there is nothing to draw")
    ax = axes_for(ax, height=0.32 * len(shown) + 1.4)
    for y, figure in enumerate(reversed(shown)):
        scale = 1 if figure["unit"] == "percent" else 100
        if figure["low"] is not None and figure["high"] is not None:
            ends = (scale * figure["low"], scale * figure["high"])
            span(ax, y, ends, "tab:blue", linestyle=_line(figure["over"]), linewidth=2)
        ax.plot(scale * figure["value"], y, "o", color="tab:blue", label="value")
        for name, _, mark in _MARKS:
            if figure[name] is not None:
                ax.plot(scale * figure[name], y, mark, color="0.35", fillstyle=_fill(mark), markersize=7, zorder=3)
    rows(ax, [f"{f['measure']} {f['target'] or ''}".strip() for f in reversed(shown)])
    for _, label, mark in _MARKS:
        ax.plot([], [], mark, color="0.35", fillstyle=_fill(mark), label=label)
    for over in dict.fromkeys(figure["over"] for figure in shown if figure["low"] is not None):
        ax.plot([], [], color="tab:blue", linestyle=_line(over), linewidth=2, label=f"interval, {over}")
    ax.set_xlim(*PERCENT_LIMITS)
    # Half a row beyond the outermost rows, so that no mark is cut.
    ax.set_ylim(-0.6, len(shown) - 0.4)
    ax.grid(axis="x", alpha=0.3)
    return finished(ax, "percent of records (AUC in percent: 50 is chance)", legend={**_ABOVE, "ncols": 3})


def _fill(mark: str) -> str:
    """Only the null is filled, as in the report."""
    return "full" if mark == NULL_MARK else "none"


def _line(over: str) -> str:
    """Dots for an interval that is not over other records, with the release kept."""
    return "-" if over == NAMES["release"] else ":"
