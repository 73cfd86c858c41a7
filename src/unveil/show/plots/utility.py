"""Drawings of the result. Each function draws one view on matplotlib axes and returns them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._utility.result import Utility
from unveil.checks import check_choice
from unveil.errors import CallError
from unveil.show.plots import axes
from unveil.show.plots.distributions import plot_distributions

_WRITTEN = 14
"""Largest number of variables with which the cells of the heat map show their figures."""
_HEAT = {
    "TVD": "total variation distance",
    "S_pMSE": "S_pMSE (1: a correct model)",
    "V_difference": "Cramér's V, release less original",
    "pearson_difference": "Pearson correlation, release less original",
    "spearman_difference": "Spearman correlation, release less original",
}
_DISTANCES = {
    "TVD": "total variation distance",
    "KS": "Kolmogorov-Smirnov distance",
    "wasserstein": "Wasserstein distance, in sd of the original",
}
_SHARES = ("TVD", "TVD_weighted", "KS", "no_amount_original", "no_amount_release")
"""Figures that are shares of records; they are written as percent."""
_ABOVE = {"ncols": 2, "loc": "upper center", "fontsize": "small"}


def plot(utility: Utility, kind: str | None, measure: str | None, ax: Any) -> Any:
    """Draw one view, if what it shows was computed."""
    if kind is None:
        kind = next((name for name, (needed, _) in _VIEWS.items() if getattr(utility, needed)), "heatmap")
    check_choice("kind", kind, _VIEWS)
    needed, draw = _VIEWS[kind]
    if not getattr(utility, needed):
        raise CallError(f"the {kind} plot needs {needed}, which were not computed: ask for them in the call")
    return draw(utility, measure, ax)


def _heatmap(utility: Utility, measure: str | None, ax: Any) -> Any:
    """A cell per pair below the diagonal, the variables on it where the measure has them."""
    measure = measure or "TVD"
    check_choice("measure", measure, _HEAT)
    grid = _grid(utility, measure)
    n = len(utility.columns)
    size = 3.0 + 0.42 * n if n <= _WRITTEN else min(3.0 + 0.21 * n, 16.0)
    ax = _square(ax, size)
    signed = measure.endswith("difference")
    held = np.abs(grid[np.isfinite(grid)])
    top = float(held.max()) if held.size and held.max() > 0 else 1.0
    image = ax.imshow(np.ma.masked_invalid(grid), cmap="PuOr" if signed else "viridis_r",
                      vmin=-top if signed else 0.0, vmax=top)  # fmt: skip
    # What is not defined is grey; what is above the diagonal stays white.
    missing = np.ma.masked_where(~(np.isnan(grid) & np.tri(n, dtype=bool)), np.ones((n, n)))
    if not measure.startswith(("TVD", "S_pMSE")):
        missing[np.arange(n), np.arange(n)] = np.ma.masked
    ax.imshow(missing, cmap="Greys", vmin=0, vmax=6)
    small = "small" if n <= 40 else "xx-small"
    names = [axes.as_written(name) for name in utility.columns]
    ax.set_xticks(range(n), names, rotation=90, fontsize=small)
    ax.set_yticks(range(n), names, fontsize=small)
    if n <= _WRITTEN:
        scale = 100.0 if measure in _SHARES else 1.0
        _write(ax, scale * grid, scale * top, signed)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.7, label=_HEAT[measure])
    if measure in _SHARES:
        axes.in_percent(bar.ax.yaxis)
    several = f", mean of {len(utility.labels)} releases" if len(utility.labels) > 1 else ""
    grey = "" if np.ma.getmaskarray(missing).all() else "; grey: not defined"
    ax.tick_params(length=0)
    return axes.finished(ax, "", title=f"pairs of variables{several}{grey}")


def _square(ax: Any, size: float) -> Any:
    if ax is None:
        ax = axes.axes_for(None, height=size)
        ax.figure.set_size_inches(size + 1.2, size)
    return ax


def _grid(utility: Utility, measure: str) -> NDArray[np.float64]:
    place = {name: i for i, name in enumerate(utility.columns)}
    grid = np.full((len(place), len(place)), np.nan)
    for c in utility.pairs:
        i, j = sorted((place[c.subject["first"]], place[c.subject["second"]]))
        grid[j, i] = c.mean.get(measure, math.nan)
    for c in utility.variables:
        i = place[c.subject["variable"]]
        grid[i, i] = c.mean.get(measure, math.nan)
    return grid


def _write(ax: Any, grid: NDArray[np.float64], top: float, signed: bool) -> None:
    digits = 1 if top >= 10 else (2 if top >= 1 else 3)
    for i, j in zip(*np.nonzero(np.isfinite(grid)), strict=True):
        value = grid[i, j]
        dark = abs(value) > (0.6 if signed else 0.5) * top
        text = f"{value:.{digits}f}".replace("0.", ".") if top < 1 else f"{value:.{digits}f}"
        ax.text(j, i, text, ha="center", va="center", fontsize="x-small", color="white" if dark else "black")


def _variables(utility: Utility, measure: str | None, ax: Any) -> Any:
    """A dot per variable and release, the worst on top."""
    measure = measure or "TVD"
    known = dict.fromkeys(name for c in utility.variables for name in c.mean)
    check_choice("measure", measure, known)
    shown = [c for c in utility.worst("variables", by=measure, n=len(utility.variables))
             if not math.isnan(c.mean.get(measure, math.nan))][::-1]  # fmt: skip
    if not shown:
        raise CallError(f"{measure} is not defined for any variable")
    ax = axes.axes_for(ax, height=1.3 + 0.3 * len(shown))
    for y, c in enumerate(shown):
        values = [r[measure] for r in c.releases]
        axes.span(ax, y, (min(0, *values, c.mean[measure]), max(0, *values, c.mean[measure])), "#DDDDDD", zorder=1)
        axes.dots(ax, y, values, axes.RELEASE, s=14, alpha=0.6, zorder=2)
        axes.dots(ax, y, [c.mean[measure]], axes.RELEASE, marker="D", s=26)
    compared = measure in ("S_pMSE", "S_FT")
    if compared:
        for y, c in enumerate(shown):
            ends = (max(1 - 2 * c.mean["S_sd"], 0), 1 + 2 * c.mean["S_sd"])
            label = "a correct model: 1 +- 2 sd"
            axes.span(ax, y, ends, axes.OTHER, linewidth=5, alpha=0.35, zorder=0, label=label)
    axes.rows(ax, [c.subject["variable"] for c in shown])
    if measure in _SHARES:
        axes.in_percent(ax.xaxis)
    several = "a dot per release, a diamond for their mean" if len(utility.labels) > 1 else utility.labels[0]
    legend = {"loc": "lower right", "fontsize": "small"} if compared else None
    return axes.finished(ax, _DISTANCES.get(measure, measure), title=f"variables: {several}", legend=legend)


def _models(utility: Utility, measure: str | None, ax: Any) -> Any:
    """Per coefficient the release's estimate and interval in standard errors of the original."""
    from scipy.special import ndtri

    z = float(ndtri((1 + utility.settings["level"]) / 2))
    shown = [c for c in utility.models if math.isfinite(c.mean["std_difference"])][::-1]
    if not shown:
        raise CallError("no coefficient is defined in all files")
    ax = axes.axes_for(ax, height=1.6 + 0.28 * len(shown))
    ax.axvspan(-z, z, color=axes.ORIGINAL, alpha=0.15, linewidth=0, label="interval of the original")
    ax.axvline(0, color=axes.ORIGINAL, linewidth=1)
    for y, c in enumerate(shown):
        width, centre = z * c.mean["se"] / c.mean["se_original"], c.mean["std_difference"]
        axes.span(
            ax,
            y,
            (centre - width, centre + width),
            axes.RELEASE,
            linewidth=2.5,
            alpha=0.6,
            label="interval of the release",
        )
        axes.dots(ax, y, [centre], axes.RELEASE, s=20)
    models = list(dict.fromkeys(c.subject["model"] for c in utility.models))
    several = len(models) > 1
    names = [f"{1 + models.index(c.subject['model'])}. {c.subject['model'].split(' ~ ')[0]}: {c.subject['term']}"
             if several else c.subject["term"] for c in shown]  # fmt: skip
    axes.rows(ax, names, fontsize="small")
    ax.set_ylim(-0.7, len(shown) + 0.6)
    title = "regression coefficients" if several else shown[0].subject["model"]
    return axes.finished(ax, "release less original, in standard errors of the original", title=title, legend=_ABOVE)


def _prediction(utility: Utility, measure: str | None, ax: Any) -> Any:
    """Per target the score of the model trained on real records, and of those trained on the releases."""
    scores = (measure,) if measure else ("accuracy", "R2")
    known = dict.fromkeys(c.subject["score"] for c in utility.prediction)
    if measure:
        check_choice("measure", measure, known)
    shown = [c for c in utility.prediction if c.subject["score"] in scores and math.isfinite(c.mean["TSTR"])]
    if not shown:
        raise CallError("no target could be predicted")
    shown.sort(key=lambda c: (c.subject["score"] == "accuracy", c.mean["TRTR"]))
    ax = axes.axes_for(ax, height=1.6 + 0.32 * len(shown))
    for y, c in enumerate(shown):
        axes.link(ax, y, c.mean["TRTR"], c.mean["TSTR"])
        axes.circle(ax, y, c.mean["TRTR"], 2, "trained on real records")
        values = [r["TSTR"] for r in c.releases]
        axes.dots(ax, y, values, axes.RELEASE, marker="D", s=18, alpha=0.7, label="trained on the release")
    axes.rows(ax, [f"{c.subject['target']} ({c.subject['score']})" for c in shown])
    ax.set_ylim(-0.7, len(shown) + 0.4)
    title = f"prediction of each variable from the others ({shown[0].subject['learner']})"
    return axes.finished(ax, "score on real records", title=title, legend=_ABOVE)


_VIEWS: dict[str, tuple[str, Callable[[Utility, str | None, Any], Any]]] = {
    "heatmap": ("pairs", _heatmap),
    "variables": ("variables", _variables),
    "models": ("models", _models),
    "prediction": ("prediction", _prediction),
    "distributions": ("distributions", plot_distributions),
}
