"""Drawing of the risk in the population."""

from __future__ import annotations

from typing import Any

from unveil._tables.population import PopulationRisk
from unveil._tables.sample_risks import MODELS, SAMPLE
from unveil.show.plots import axes

_COLOURS = dict(zip(MODELS, (axes.RELEASE, axes.GREEN), strict=True))
_APART = 0.18
"""Distance of the marks of two models in a row."""


def plot_population(risk: PopulationRisk, *, ax: Any = None) -> Any:
    """Per group of records a circle for their number, and per model the population uniques with their interval."""
    groups = (SAMPLE, *risk.labels)
    ax = axes.axes_for(ax, height=2.0 + 0.6 * len(groups))
    for one in risk.figures:
        y = len(groups) - 1 - groups.index(one["who"])
        height = y + (_APART if one["model"] == MODELS[0] else -_APART) / 2
        value, colour = one["population_uniques"], _COLOURS[one["model"]]
        ends = (one["population_uniques_low"], one["population_uniques_high"])
        axes.link(ax, y, value, one["records"])
        axes.circle(ax, y, one["records"], 3, "unique in the sample")
        axes.span(ax, height, ends, colour, linewidth=5, alpha=0.35, zorder=2)
        axes.dots(ax, height, [value], colour, marker="D", s=22, zorder=4, label=f"in the population ({one['model']})")
    names = [SAMPLE if who == SAMPLE else f"sample and {who}" for who in groups]
    axes.rows(ax, [f"unique in {name}" for name in reversed(names)])
    ax.set_xlim(left=-0.02 * max(1, risk.sample_uniques))
    ax.set_ylim(-0.6, len(groups) + 0.1)
    axes.legend_above(ax)
    return axes.finished(ax, "number of records", title=f"keys: {', '.join(risk.keys)}")
