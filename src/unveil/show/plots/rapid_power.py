"""Power of a rate of RAPID against the number of persons."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil._rapid.power import RapidPower
from unveil.show.plots import axes
from unveil.stats.power import power_at

_COLOURS = (axes.VERMILION, axes.BLUE, axes.GREEN, axes.PINK, axes.ORANGE, axes.SKY)


def plot_power(found: RapidPower, *, ax: Any = None) -> Any:
    """A curve per attack, with a mark at the number of persons of the file."""
    ax = axes.axes_for(ax)
    for number, row in enumerate(one for one in found.rows if one["undefined"] is None):
        colour = _COLOURS[number % len(_COLOURS)]
        last = 3 * max(row["n"], row["n_needed"])
        n = np.unique(np.geomspace(2, last, 200).astype(np.int64))
        label = axes.as_written(f"{row['attacker']}, {row['release']}: {row['rate']:.3f} over {row['null']:.3f}")
        ax.plot(n, 100 * power_at(n, row["null"], row["rate"], alpha=found.alpha), color=colour, label=label)
        ax.scatter([row["n"]], [100 * row["power"]], color=colour, zorder=3)
    ax.axhline(100 * found.power, color=axes.OTHER, linestyle="--", linewidth=1, label="wanted")
    ax.set_xscale("log")
    ax.set_ylim(*axes.PERCENT)
    up = "percent of samples in which the rate is told from the null"
    return axes.finished(ax, "records (log scale)", up, found.target, legend={"fontsize": "small"})
