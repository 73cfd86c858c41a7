"""Measures against the number of released records, a panel for the keys and for each target."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.assessment.sweep_result import SizeSweep
from unveil.show.plots import axes

_COLOURS = {
    "repU": axes.VERMILION, "DiSCO": axes.VERMILION, "DCAPd": axes.BLUE, "iS": axes.BLACK, "DiS": axes.ORANGE,
    "TCAP": axes.PINK,
}  # fmt: skip
_MOST_ACROSS = 3


def plot_sizes(found: SizeSweep, *, ax: Any = None) -> Any:
    """Per measure a line with its release interval, and dashed what the original itself gives.

    With axes that are given only the identity panel is drawn on them; else all panels, as an array of axes.
    """
    if ax is not None:
        return _panel(ax, found, None)
    panels = [None, *found.targets]
    across = min(len(panels), _MOST_ACROSS)
    down = -(-len(panels) // across)
    _, grid = axes.pyplot().subplots(
        down, across, figsize=(3.6 * across, 3.2 * down), layout="constrained", sharey=True, squeeze=False
    )
    each = np.ravel(grid)
    for one, target in zip(each, panels, strict=False):
        _panel(one, found, target)
    for empty in each[len(panels) :]:
        empty.set_axis_off()
    return each[: len(panels)]


def _panel(ax: Any, found: SizeSweep, target: str | None) -> Any:
    rows = [row for row in found.rows if row["target"] == target]
    for name in dict.fromkeys(row["measure"] for row in rows):
        own = sorted((row for row in rows if row["measure"] == name), key=lambda row: row["size"])
        x, colour = [row["size"] for row in own], _COLOURS[name]
        ax.plot(x, [row["value"] for row in own], color=colour, marker="o", markersize=4, label=name)
        if "low" in own[0]:
            ax.fill_between(x, [row["low"] for row in own], [row["high"] for row in own], color=colour, alpha=0.2,
                            linewidth=0)  # fmt: skip
        if name in ("repU", "DiSCO"):
            ax.axhline(own[0]["ceiling"], color=axes.ORIGINAL if name == "repU" else colour, linestyle="--",
                       linewidth=1, label=f"{name} of the original")  # fmt: skip
    ax.set_xscale("log")
    ax.set_xticks(found.sizes, [str(size) for size in found.sizes])
    ax.minorticks_off()
    ax.set_ylim(*axes.PERCENT)
    title = "identity" if target is None else target
    return axes.finished(ax, "records released (log scale)", "percent", title, legend={"fontsize": "small"})
