"""Drawings of the result. Each function draws one view on matplotlib axes and returns them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._utility.result import Utility
from unveil.errors import CallError
from unveil.files.nearest import near_matches
from unveil.show.plots.axes import as_written, axes_for, without_frame

# Okabe & Ito 2008: told apart by readers with any colour vision, and in grey.
_ORIGINAL, _RELEASE, _OTHER = "#0072B2", "#D55E00", "#999999"
_WRITTEN = 14
"""Up to so many variables the cells of the heat map have their figures written in."""
_HEAT = {
    "TVD": "total variation distance",
    "S_pMSE": "S_pMSE (1: a correct model)",
    "V_difference": "Cramér's V, release less original",
    "pearson_difference": "Pearson correlation, release less original",
    "spearman_difference": "Spearman correlation, release less original",
}


def plot(utility: Utility, kind: str | None, measure: str | None, ax: Any) -> Any:
    """Draw one view, if what it shows was computed."""
    if kind is None:
        kind = next((name for name, (needed, _) in _VIEWS.items() if getattr(utility, needed)), "heatmap")
    if kind not in _VIEWS:
        raise CallError(f"unknown plot {kind!r}{near_matches(kind, _VIEWS)}; choose from {', '.join(_VIEWS)}")
    needed, draw = _VIEWS[kind]
    if not getattr(utility, needed):
        raise CallError(f"the {kind} plot needs {needed}, which were not computed: ask for them in the call")
    return draw(utility, measure, ax)


def _heatmap(utility: Utility, measure: str | None, ax: Any) -> Any:
    """A cell per pair below the diagonal, the variables on it where the measure has them."""
    measure = measure or "TVD"
    if measure not in _HEAT:
        raise CallError(f"the heat map has no {measure!r}{near_matches(measure, _HEAT)}; choose from "
                        f"{', '.join(_HEAT)}")  # fmt: skip
    grid = _grid(utility, measure)
    n = len(utility.columns)
    size = 3.0 + 0.42 * n if n <= _WRITTEN else min(3.0 + 0.21 * n, 16.0)
    ax = _square(ax, size)
    signed = measure.endswith("difference")
    held = np.abs(grid[np.isfinite(grid)])
    top = float(held.max()) if held.size and held.max() > 0 else 1.0
    image = ax.imshow(np.ma.masked_invalid(grid), cmap="PuOr" if signed else "viridis_r",
                      vmin=-top if signed else 0.0, vmax=top)  # fmt: skip
    # what is not defined is grey, what is above the diagonal is left white
    missing = np.ma.masked_where(~(np.isnan(grid) & np.tri(n, dtype=bool)), np.ones((n, n)))
    if not measure.startswith(("TVD", "S_pMSE")):
        missing[np.arange(n), np.arange(n)] = np.ma.masked
    ax.imshow(missing, cmap="Greys", vmin=0, vmax=6)
    small = "small" if n <= 40 else "xx-small"
    names = [as_written(name) for name in utility.columns]
    ax.set_xticks(range(n), names, rotation=90, fontsize=small)
    ax.set_yticks(range(n), names, fontsize=small)
    if n <= _WRITTEN:
        _write(ax, grid, top, signed)
    ax.figure.colorbar(image, ax=ax, shrink=0.7, label=_HEAT[measure])
    several = f", mean of {len(utility.labels)} releases" if len(utility.labels) > 1 else ""
    grey = "" if np.ma.getmaskarray(missing).all() else "; grey: not defined"
    ax.set_title(f"pairs of variables{several}{grey}", fontsize="medium")
    ax.tick_params(length=0)
    return without_frame(ax)


def _square(ax: Any, size: float) -> Any:
    if ax is None:
        ax = axes_for(None, height=size)
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
    if measure not in known:
        raise CallError(f"variables have no figure {measure!r}{near_matches(measure, known)}; choose from "
                        f"{', '.join(known)}")  # fmt: skip
    shown = [c for c in utility.worst("variables", by=measure, n=len(utility.variables))
             if not math.isnan(c.mean.get(measure, math.nan))][::-1]  # fmt: skip
    if not shown:
        raise CallError(f"{measure} is not defined for any variable")
    ax = axes_for(ax, height=1.3 + 0.3 * len(shown))
    for y, c in enumerate(shown):
        values = [r[measure] for r in c.releases]
        ax.plot([min(0, *values, c.mean[measure]), max(0, *values, c.mean[measure])], [y, y], color="#DDDDDD", zorder=1)
        ax.scatter(values, [y] * len(values), color=_RELEASE, s=14, alpha=0.6, zorder=2)
        ax.scatter([c.mean[measure]], [y], color=_RELEASE, marker="D", s=26, zorder=3)
    if measure in ("S_pMSE", "S_FT"):
        for y, c in enumerate(shown):
            ax.plot([max(1 - 2 * c.mean["S_sd"], 0), 1 + 2 * c.mean["S_sd"]], [y, y], color=_OTHER, linewidth=5,
                    alpha=0.35, zorder=0, label="a correct model: 1 +- 2 sd" if y == 0 else None)  # fmt: skip
        ax.legend(frameon=False, loc="lower right", fontsize="small")
    ax.set_yticks(range(len(shown)), [as_written(c.subject["variable"]) for c in shown])
    ax.set_xlabel({"TVD": "total variation distance", "KS": "Kolmogorov-Smirnov distance",
                   "wasserstein": "Wasserstein distance, in sd of the original"}.get(measure, measure))  # fmt: skip
    several = (
        "a dot per release, a diamond for their mean" if len(utility.labels) > 1 else as_written(utility.labels[0])
    )
    ax.set_title(f"variables: {several}", fontsize="medium")
    return without_frame(ax)


def _models(utility: Utility, measure: str | None, ax: Any) -> Any:
    """Per coefficient the release's estimate and interval in standard errors of the original."""
    from scipy.special import ndtri

    z = float(ndtri((1 + utility.settings["level"]) / 2))
    shown = [c for c in utility.models if math.isfinite(c.mean["std_difference"])][::-1]
    if not shown:
        raise CallError("no coefficient is defined in all files")
    ax = axes_for(ax, height=1.6 + 0.28 * len(shown))
    ax.axvspan(-z, z, color=_ORIGINAL, alpha=0.15, linewidth=0, label="interval of the original")
    ax.axvline(0, color=_ORIGINAL, linewidth=1)
    for y, c in enumerate(shown):
        width = z * c.mean["se"] / c.mean["se_original"]
        centre = c.mean["std_difference"]
        ax.plot([centre - width, centre + width], [y, y], color=_RELEASE, linewidth=2.5, alpha=0.6,
                label="interval of the release" if y == 0 else None)  # fmt: skip
        ax.scatter([centre], [y], color=_RELEASE, zorder=3, s=20)
    models = list(dict.fromkeys(c.subject["model"] for c in utility.models))
    several = len(models) > 1
    names = [f"{1 + models.index(c.subject['model'])}. {c.subject['model'].split(' ~ ')[0]}: {c.subject['term']}"
             if several else c.subject["term"] for c in shown]  # fmt: skip
    ax.set_yticks(range(len(shown)), [as_written(name) for name in names], fontsize="small")
    ax.set_ylim(-0.7, len(shown) + 0.6)
    ax.set_xlabel("release less original, in standard errors of the original")
    ax.set_title(as_written(shown[0].subject["model"]) if not several else "regression coefficients", fontsize="medium")
    ax.legend(frameon=False, ncols=2, loc="upper center", fontsize="small")
    return without_frame(ax)


def _prediction(utility: Utility, measure: str | None, ax: Any) -> Any:
    """Per target the score of the model trained on real records, and of those trained on the releases."""
    scores = (measure,) if measure else ("accuracy", "R2")
    known = dict.fromkeys(c.subject["score"] for c in utility.prediction)
    if measure and measure not in known:
        raise CallError(f"prediction has no score {measure!r}; choose from {', '.join(known)}")
    shown = [c for c in utility.prediction if c.subject["score"] in scores and math.isfinite(c.mean["TSTR"])]
    if not shown:
        raise CallError("no target could be predicted")
    shown.sort(key=lambda c: (c.subject["score"] == "accuracy", c.mean["TRTR"]))
    ax = axes_for(ax, height=1.6 + 0.32 * len(shown))
    for y, c in enumerate(shown):
        first = y == 0
        ax.plot([c.mean["TRTR"], c.mean["TSTR"]], [y, y], color="#DDDDDD", linewidth=2, zorder=1)
        ax.scatter([c.mean["TRTR"]], [y], facecolors="white", edgecolors=_ORIGINAL, linewidths=1.8, s=60, zorder=2,
                   label="trained on real records" if first else None)  # fmt: skip
        values = [r["TSTR"] for r in c.releases]
        ax.scatter(values, [y] * len(values), color=_RELEASE, marker="D", s=18, alpha=0.7, zorder=3,
                   label="trained on the release" if first else None)  # fmt: skip
    ax.set_yticks(range(len(shown)), [f"{as_written(c.subject['target'])} ({c.subject['score']})" for c in shown])
    ax.set_ylim(-0.7, len(shown) + 0.4)
    ax.set_xlabel("score on real records")
    ax.set_title(f"prediction of each variable from the others ({shown[0].subject['learner']})", fontsize="medium")
    ax.legend(frameon=False, ncols=2, loc="upper center", fontsize="small")
    return without_frame(ax)


_VIEWS: dict[str, tuple[str, Callable[[Utility, str | None, Any], Any]]] = {
    "heatmap": ("pairs", _heatmap),
    "variables": ("variables", _variables),
    "models": ("models", _models),
    "prediction": ("prediction", _prediction),
}
