"""Drawings of inference results. Each function draws one result on matplotlib axes and returns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil._rapid.attack import Attack, Runner
from unveil._rapid.attribution import Attribution
from unveil._rapid.cross_validation import RapidCV
from unveil._rapid.curves import RapidCurve
from unveil._rapid.result import Rapid
from unveil.show.plots import axes
from unveil.stats import called

_COLOURS = (axes.VERMILION, axes.BLUE, axes.GREEN, axes.PINK, axes.ORANGE, axes.SKY, axes.BLACK)
_NULL, _CEILING = axes.OTHER, axes.BLACK
_DRAWN = 5000


def plot_curve(curve: RapidCurve, *, ax: Any = None) -> Any:
    """Rates with bands of their kind; the null from mean to 95th percentile in grey, the ceiling dashed."""
    ax = axes.axes_for(ax)
    grid = curve.thresholds
    names = sorted({(line.attacker, line.group) for line in curve.lines})
    for line in curve.lines:
        shade = _COLOURS[names.index((line.attacker, line.group)) % len(_COLOURS)]
        band = called(curve.kind, curve.level) if curve.undefined is None else None
        ax.fill_between(grid, line.low, line.high, color=shade, alpha=0.15, linewidth=0, label=band)
        ax.plot(
            grid, line.rate, color=shade, label=axes.as_written(" ".join(filter(None, (line.attacker, line.group))))
        )
        if line.null_mean is not None and line.null_95 is not None:
            label = "null: target shuffled (mean to 95 %)"
            ax.fill_between(grid, line.null_mean, line.null_95, color=_NULL, alpha=0.35, linewidth=0, label=label)
        if line.ceiling is not None:
            ax.plot(grid, line.ceiling, color=_CEILING, linestyle="--", linewidth=1, label="ceiling: from the original")
    ax.axvline(curve.threshold, color=axes.PALE, linewidth=1, zorder=0)
    ax.set_ylim(0, 1)
    axes.in_percent(ax.yaxis)
    across = f"{curve.symbol}: a record is at risk {'above' if curve.symbol == 'tau' else 'below'} it"
    title = f"inference of {curve.target}"
    return axes.finished(ax, across, "records at risk", title, legend={"fontsize": "small"})


def plot_attribution(attribution: Attribution, *, ax: Any = None) -> Any:
    """Log odds of being at risk per level of each key, with intervals."""
    shown = attribution.coefficients[::-1]
    ax = axes.axes_for(ax, height=1.4 + 0.26 * max(len(shown), 1))
    keys = list(dict.fromkeys(c.key for c in attribution.coefficients))
    for y, c in enumerate(shown):
        shade = _COLOURS[keys.index(c.key) % len(_COLOURS)]
        axes.span(ax, y, (c.low, c.high), shade, linewidth=3, alpha=0.4)
        axes.dots(ax, y, [c.estimate], shade, s=18)
    axes.rows(ax, [f"{c.key}: {c.level or 'per sd'}" for c in shown], fontsize="small")
    ax.axvline(0, color=axes.PALE, linewidth=1, zorder=0)
    reach = min(max([1.0, *(abs(c.estimate) for c in shown)]) * 1.5, 10.0)
    ax.set_xlim(-reach, reach)
    title = f"{attribution.n_at_risk} of {attribution.n} at risk: {attribution.target} ({attribution.attacker})"
    return axes.finished(ax, "log odds of being at risk, against the reference level", title=title)


def plot_predictions(run: Attack, runner: Runner, *, ax: Any = None) -> Any:
    """Predicted against true values; persons at risk in colour."""
    ax = axes.axes_for(ax, height=5.0)
    truth, predicted, rule = runner.problem.truth, run.inferred.predicted, runner.rule
    shown = np.unique(np.linspace(0, len(truth) - 1, min(len(truth), _DRAWN)).astype(np.intp))
    for flag, shade, label in ((False, _NULL, "not at risk"), (True, _COLOURS[0], "at risk")):
        chosen = shown[run.at_risk[shown] == flag]
        ax.scatter(truth[chosen], predicted[chosen], color=shade, s=8, alpha=0.5, label=label, linewidths=0)
    ends = [float(truth.min()), float(truth.max())]
    ax.plot(ends, ends, color=axes.BLACK, linewidth=0.8)
    title = f"{int(run.at_risk.sum())} of {len(truth)} with {rule.scoring} error below {rule.threshold:g}"
    return axes.finished(ax, f"true {runner.problem.target}", f"predicted by {run.attacker}", title, legend={})


def plot_targets(results: Sequence[Rapid], *, ax: Any = None) -> Any:
    """Per target the rate, its null and its ceiling."""
    ordered = sorted(results, key=lambda r: r.rate)
    ax = axes.axes_for(ax, height=1.4 + 0.35 * len(ordered))
    for y, result in enumerate(ordered):
        null, ceiling = (float(np.mean([a[name] for a in result.attacks])) for name in ("null_mean", "ceiling"))
        axes.link(ax, y, null, result.rate)
        axes.dots(ax, y, [null], _NULL, marker=axes.NULL_MARK, label="null")
        ax.scatter([ceiling], [y], facecolors="none", edgecolors=_CEILING, marker=axes.CEILING_MARK, label="ceiling")
        axes.dots(ax, y, [result.rate], _COLOURS[0], marker="o", label="rate")
    axes.rows(ax, [r.target for r in ordered])
    # Room for marks at the ends, and for half a row beyond the outermost ones.
    ax.set_xlim(-0.02, 1.02)
    axes.in_percent(ax.xaxis)
    ax.set_ylim(-0.6, len(ordered) - 0.4)
    title = f"inference from {', '.join(ordered[0].keys)}"
    return axes.finished(ax, "records at risk", title=title, legend={"loc": "lower right"})


def plot_cross_validation(cv: RapidCV, *, ax: Any = None) -> Any:
    """Per fold the rate of persons left out, joined to that of persons used."""
    ax = axes.axes_for(ax, height=3.0)
    for y, (out, inside) in enumerate(zip(cv.held_out, cv.in_sample, strict=True)):
        axes.link(ax, y, out, inside)
        axes.dots(ax, y, [out], _COLOURS[1], label="held out")
        axes.dots(ax, y, [inside], _COLOURS[0], marker="D", label="in sample")
    ax.axvspan(*cv.interval, color=_COLOURS[1], alpha=0.1, linewidth=0)
    axes.in_percent(ax.xaxis)
    axes.rows(ax, [f"fold {i + 1}" for i in range(len(cv.held_out))])
    return axes.finished(ax, "records at risk", title=f"{cv.target} from {', '.join(cv.keys)}", legend={})
