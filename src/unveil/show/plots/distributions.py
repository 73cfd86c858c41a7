"""Every variable in the original and in the releases, side by side."""

from __future__ import annotations

import math
from typing import Any

from unveil._utility.distributions import Distribution
from unveil._utility.result import Utility
from unveil.errors import CallError
from unveil.files.nearest import near_or_all
from unveil.show.plots import axes

ACROSS = 3
"""Small multiples in a row."""
MOST = 60
"""Largest number of variables that are drawn together."""


def plot_distributions(utility: Utility, variable: str | None, ax: Any) -> Any:
    """Small multiples, one per variable, as an array of axes; or one variable on its own axes.

    Raises
    ------
    CallError
        If there is no such variable, or axes were given for several.
    """
    by_name = {one.variable: one for one in utility.distributions}
    if variable is not None or len(by_name) == 1:
        name = variable or next(iter(by_name))
        if name not in by_name:
            raise CallError(f"measure: {name!r} was not compared{near_or_all(name, by_name, 'the variables are')}")
        one = by_name[name]
        return _one(utility, one, axes.axes_for(ax, height=1.4 + 0.3 * len(one.bars)), with_legend=True)
    if ax is not None:
        raise CallError(f"axes have room for one variable, and there are {len(by_name)}: name one by measure")
    shown = list(by_name.values())[:MOST]
    n_rows = math.ceil(len(shown) / ACROSS)
    most = [max(len(one.bars) for one in shown[i * ACROSS : (i + 1) * ACROSS]) for i in range(n_rows)]
    figure, grid = axes.pyplot().subplots(
        n_rows, ACROSS, squeeze=False, layout="constrained", figsize=(11.0, sum(0.8 + 0.2 * n for n in most)),
        gridspec_kw={"height_ratios": [0.8 + 0.2 * n for n in most]},
    )  # fmt: skip
    for place, one in zip(grid.flat, shown, strict=False):
        _one(utility, one, place, with_legend=False)
    for place in grid.flat[len(shown) :]:
        place.set_axis_off()
    marks = dict(zip(*reversed(grid[0, 0].get_legend_handles_labels()), strict=True))
    figure.legend(marks.values(), marks.keys(), loc="outside upper center", ncols=len(marks), frameon=False)
    return grid


def _one(utility: Utility, found: Distribution, ax: Any, *, with_legend: bool) -> Any:
    """A bar per level for the original, and a dot per release, the first level on top."""
    bars = found.bars[::-1]
    places = range(len(bars))
    ax.barh(places, [100 * bar.original for bar in bars], color=axes.ORIGINAL, alpha=0.35, label="original")
    for y, bar in zip(places, bars, strict=True):
        several = len(utility.labels) > 1
        label = "a dot per release" if several else utility.labels[0]
        axes.dots(
            ax, y, [100 * one for one in bar.releases], axes.RELEASE, s=14, alpha=0.7, label=axes.as_written(label)
        )
    axes.rows(ax, [_short(bar.level) for bar in bars], fontsize="small")
    ax.set_ylim(-0.7, len(bars) - 0.3)
    ax.set_xlim(left=0)
    legend = {"fontsize": "small", "loc": "best"} if with_legend else None
    return axes.finished(ax, "percent of records" if with_legend else "", title=found.variable, legend=legend)


def _short(level: str, most: int = 24) -> str:
    """A level that leaves room for the bars."""
    return level if len(level) <= most else f"{level[: most - 1]}…"
