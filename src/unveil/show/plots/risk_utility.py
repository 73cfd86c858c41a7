"""Plots of a map of risk and utility: two measures, or every risk against every utility."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unveil.assessment.figure import PERCENT, SHARES_OF_RECORDS
from unveil.assessment.risk_utility_map import VIEWS, Point, RiskUtilityMap
from unveil.checks import check_choice
from unveil.errors import CallError
from unveil.show.plots.axes import as_written, axes_for, finished, in_percent, pyplot, span

_EDGE = 0.75
"""Share of the axis from which on a label stands on the left of its point."""
_LINE, _NEAR = 14.0, 150.0
"""Height of a label, and how far labels beside each other begin apart, in points."""
_ABOVE: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
_INTERVALS = "intervals: of risk, this release; of utility, other releases"

Ends = tuple[float, float, float]


def plot_map(found: RiskUtilityMap, kind: str, ax: Any = None) -> Any:
    """Draw risk against utility, both absolute, with intervals; or small multiples, as an array of axes.

    Raises
    ------
    CallError
        If there is no such view or nothing to draw, or axes were given for several maps.
    """
    check_choice("kind", kind, VIEWS)
    if kind == "map":
        return _one_map(found, ax)
    if ax is not None:
        raise CallError("axes have room for one map: leave them out, or draw kind='map'")
    return _every_map(found)


def _one_map(found: RiskUtilityMap, ax: Any) -> Any:
    points = _with_both(found, found.risk, found.utility)
    if not points:
        raise CallError(f"no point has both {found.risk} and {found.utility}; there is nothing to draw")
    ax = axes_for(ax, height=5.0)
    farthest = max(x[0] for _, x, _ in points)
    names: list[tuple[float, float, str, bool, float]] = []
    for point, across, up in points:
        _draw(ax, across, up, is_best=point.pareto)
        x, y = across[0], up[0]
        # Labels of the best points stand below and on the left, where no line and no better point can be, but inside
        # the axes.
        below = point.pareto and x > (1 - _EDGE) * farthest
        on_left = below or x > _EDGE * farthest
        names.append((x, y, as_written(point.label), on_left, -11.0 if below else 5.0))
    best = sorted((x[0], y[0]) for point, x, y in points if point.pareto)
    ax.plot(*zip(*best, strict=True), color="tab:blue", linewidth=0.8, linestyle="--", label="none is better in both")
    ax.plot([], [], color="0.35", linewidth=1, label=_INTERVALS)
    _scale(ax, found.utility)
    _write_names(ax, names)
    across_title = f"{found.utility} (0: as useful as the original)"
    return finished(ax, across_title, f"{found.risk}{_unit(found.risk)} (0: nothing found)", legend=_ABOVE)


def _every_map(found: RiskUtilityMap) -> Any:
    """A row per risk, a column per utility; the marks are those of the points that none betters in all of them."""
    risks, utilities = found.measures
    if not (risks and utilities):
        raise CallError("no point has a risk and a utility; there is nothing to draw")
    figure, grid = pyplot().subplots(
        len(risks), len(utilities), squeeze=False, layout="constrained", sharex="col", sharey="row",
        figsize=(1.0 + 2.8 * len(utilities), 1.0 + 2.4 * len(risks)),
    )  # fmt: skip
    for row, risk in enumerate(risks):
        for column, utility in enumerate(utilities):
            ax = grid[row, column]
            for number, (point, is_best) in enumerate(zip(found.points, found.pareto_of_all, strict=True), start=1):
                if utility in point.utilities and risk in point.risks:
                    across, up = point.utilities[utility], point.risks[risk]
                    _draw(ax, across, up, is_best=is_best)
                    ax.annotate(str(number), (across[0], up[0]), xytext=(4, 4), textcoords="offset points",
                                fontsize="x-small")  # fmt: skip
            # So that no point or number is cut.
            ax.margins(0.12)
            _scale(ax, utility)
            if column == 0:
                ax.set_ylabel(f"{risk}{_unit(risk)}")
            if row == len(risks) - 1:
                ax.set_xlabel(utility)
    names = [
        f"{number} {as_written(point.label)}{' (none is better in all)' if is_best else ''}"
        for number, (point, is_best) in enumerate(zip(found.points, found.pareto_of_all, strict=True), start=1)
    ]
    marks = [
        pyplot().Line2D([], [], linestyle="", marker="o" if is_best else "s", color=_colour(is_best))
        for is_best in found.pareto_of_all
    ]
    figure.legend(marks, names, loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    return grid


def _with_both(found: RiskUtilityMap, risk: str, utility: str) -> list[tuple[Point, Ends, Ends]]:
    return [
        (point, point.utilities[utility], point.risks[risk])
        for point in found.points
        if utility in point.utilities and risk in point.risks
    ]


def _draw(ax: Any, across: Ends, up: Ends, *, is_best: bool) -> None:
    """A point with its intervals."""
    (x, x_low, x_high), (y, y_low, y_high), colour = across, up, _colour(is_best)
    if not math.isnan(x_low):
        span(ax, y, (x_low, x_high), colour, linewidth=1)
    if not math.isnan(y_low):
        ax.plot([x, x], [y_low, y_high], color=colour, linewidth=1)
    ax.plot(x, y, "o" if is_best else "s", color=colour, zorder=3)


def _colour(is_best: bool) -> str:
    return "tab:blue" if is_best else "0.55"


def _scale(ax: Any, utility: str) -> None:
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.3)
    if utility in SHARES_OF_RECORDS:
        in_percent(ax.xaxis)


def _unit(risk: str) -> str:
    return ", percent of records" if risk in PERCENT else ""


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
