"""Plots of an assessment and of a map of risk and utility; matplotlib is only needed here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unveil.assessment.figure import PERCENT, SHARES_OF_RECORDS
from unveil.assessment.result import Assessment
from unveil.assessment.risk_utility_map import RiskUtilityMap
from unveil.errors import CallError
from unveil.show.plots.axes import (
    CEILING_MARK,
    MARGIN_MARK,
    NULL_MARK,
    as_written,
    axes_for,
    finished,
    in_percent,
    rows,
    span,
)
from unveil.show.plots.axes import (
    PERCENT as PERCENT_LIMITS,
)
from unveil.stats import NAMES

_EDGE = 0.75
"""Share of the axis from which on a label stands on the left of its point."""
_LINE, _NEAR = 14.0, 150.0
"""Height of a label, and how far labels beside each other begin apart, in points."""
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


def plot_map(found: RiskUtilityMap, ax: Any = None) -> Any:
    """Draw risk against utility, both absolute, with intervals."""
    points = [
        (point, point.utilities[found.utility], point.risks[found.risk])
        for point in found.points
        if found.utility in point.utilities and found.risk in point.risks
    ]
    if not points:
        raise CallError(f"no point has both {found.risk} and {found.utility}; there is nothing to draw")
    ax = axes_for(ax, height=5.0)
    farthest = max(x[0] for _, x, _ in points)
    names: list[tuple[float, float, str, bool, float]] = []
    for point, (x, x_low, x_high), (y, y_low, y_high) in points:
        colour = "tab:blue" if point.pareto else "0.55"
        if not math.isnan(x_low):
            span(ax, y, (x_low, x_high), colour, linewidth=1)
        if not math.isnan(y_low):
            ax.plot([x, x], [y_low, y_high], color=colour, linewidth=1)
        ax.plot(x, y, "o" if point.pareto else "s", color=colour, zorder=3)
        # Labels of the best points stand below and on the left, where no line and no better point can be, but inside
        # the axes.
        below = point.pareto and x > (1 - _EDGE) * farthest
        on_left = below or x > _EDGE * farthest
        names.append((x, y, as_written(point.label), on_left, -11.0 if below else 5.0))
    best = sorted((x[0], y[0]) for point, x, y in points if point.pareto)
    ax.plot(*zip(*best, strict=True), color="tab:blue", linewidth=0.8, linestyle="--", label="none is better in both")
    ax.plot([], [], color="0.35", linewidth=1, label="intervals: of risk, this release; of utility, other releases")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.3)
    _write_names(ax, names)
    across = f"{found.utility} (0: as useful as the original)"
    unit = ", percent of records" if found.risk in PERCENT else ""
    if found.utility in SHARES_OF_RECORDS:
        in_percent(ax.xaxis)
    return finished(ax, across, f"{found.risk}{unit} (0: nothing found)", legend=_ABOVE)


def _write_names(ax: Any, names: Sequence[tuple[float, float, str, bool, float]]) -> None:
    """Write names beside their points, the highest first; where one would cover another it stands lower, with a line.

    Parameters
    ----------
    ax
        The axes, with their limits.
    names
        Place, name, whether it stands on the left, and how many points above.
    """
    taken: list[tuple[float, float]] = []
    for x, y, name, on_left, wanted in sorted(names, key=lambda one: -one[1]):
        across, up = ax.transData.transform((x, y)) * 72 / ax.figure.dpi
        rise = wanted
        while any(abs(up + rise - height) < _LINE and abs(across - place) < _NEAR for place, height in taken):
            rise -= 1.0
        taken.append((across, up + rise))
        moved = rise < wanted
        aside = 18 if moved else 6
        ax.annotate(
            name, (x, y), xytext=(-aside - 1 if on_left else aside, rise), textcoords="offset points",
            ha="right" if on_left else "left", fontsize="small",
            arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.7, "shrinkB": 3} if moved else None,
        )  # fmt: skip
