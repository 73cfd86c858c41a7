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
from unveil.show.plots.axes import as_written, axes_for, without_frame
from unveil.stats import called

# Okabe & Ito 2008: told apart by readers with any colour vision, and in grey.
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_NULL, _CEILING = "#999999", "#000000"
_DRAWN = 5000


def plot_curve(curve: RapidCurve, *, ax: Any = None) -> Any:
    """Rates with bands of their kind; the null from mean to 95th percentile in grey, the ceiling dashed."""
    ax = axes_for(ax)
    grid = curve.thresholds
    names = {(line.attacker, line.group) for line in curve.lines}
    colour = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(sorted(names))}
    seen: set[Any] = set()

    def once(label: str) -> str | None:
        new = label not in seen
        seen.add(label)
        return label if new else None

    for line in curve.lines:
        shade = colour[line.attacker, line.group]
        name = as_written(" ".join(filter(None, (line.attacker, line.group))))
        ax.fill_between(grid, line.low, line.high, color=shade, alpha=0.15, linewidth=0,
                        label=once(called(curve.kind, curve.level)) if curve.undefined is None else None)  # fmt: skip
        ax.plot(grid, line.rate, color=shade, label=once(name))
        if line.null_mean is not None and line.null_95 is not None:
            ax.fill_between(grid, line.null_mean, line.null_95, color=_NULL, alpha=0.35, linewidth=0,
                            label=once("null: target shuffled (mean to 95 %)"))  # fmt: skip
        if line.ceiling is not None:
            ax.plot(
                grid,
                line.ceiling,
                color=_CEILING,
                linestyle="--",
                linewidth=1,
                label=once("ceiling: from the original"),
            )
    ax.axvline(curve.threshold, color="#BBBBBB", linewidth=1, zorder=0)
    ax.set_ylim(0, 1)
    ax.set_xlabel(f"{curve.symbol}: a record is at risk {'above' if curve.symbol == 'tau' else 'below'} it")
    ax.set_ylabel("share of records at risk")
    ax.set_title(f"inference of {as_written(curve.target)}", fontsize="medium")
    ax.legend(frameon=False, fontsize="small")
    return without_frame(ax)


def plot_attribution(attribution: Attribution, *, ax: Any = None) -> Any:
    """Log odds of being at risk per level of each key, with intervals."""
    shown = attribution.coefficients[::-1]
    ax = axes_for(ax, height=1.4 + 0.26 * max(len(shown), 1))
    keys = list(dict.fromkeys(c.key for c in attribution.coefficients))
    for y, c in enumerate(shown):
        shade = _COLOURS[keys.index(c.key) % len(_COLOURS)]
        ax.plot([c.low, c.high], [y, y], color=shade, linewidth=3, alpha=0.4)
        ax.scatter([c.estimate], [y], color=shade, zorder=3, s=18)
    ax.set_yticks(range(len(shown)), [as_written(f"{c.key}: {c.level or 'per sd'}") for c in shown], fontsize="small")
    ax.axvline(0, color="#BBBBBB", linewidth=1, zorder=0)
    estimates = [abs(c.estimate) for c in shown] or [1.0]
    reach = min(max(*estimates, 1.0) * 1.5, 10.0)
    ax.set_xlim(-reach, reach)
    ax.set_xlabel("log odds of being at risk, against the reference level")
    title = f"{attribution.n_at_risk} of {attribution.n} at risk: {attribution.target} ({attribution.attacker})"
    ax.set_title(as_written(title), fontsize="medium")
    return without_frame(ax)


def plot_predictions(run: Attack, runner: Runner, *, ax: Any = None) -> Any:
    """Predicted against true values; persons at risk in colour."""
    ax = axes_for(ax, height=5.0)
    truth, predicted = runner.problem.truth, run.inferred.predicted
    shown = np.unique(np.linspace(0, len(truth) - 1, min(len(truth), _DRAWN)).astype(np.intp))
    for flag, shade, label in ((False, _NULL, "not at risk"), (True, _COLOURS[0], "at risk")):
        chosen = shown[run.at_risk[shown] == flag]
        ax.scatter(truth[chosen], predicted[chosen], color=shade, s=8, alpha=0.5, label=label, linewidths=0)
    ends = [float(truth.min()), float(truth.max())]
    ax.plot(ends, ends, color="#000000", linewidth=0.8)
    ax.set_xlabel(f"true {as_written(runner.problem.target)}")
    ax.set_ylabel(f"predicted by {run.attacker}")
    rule = runner.rule
    ax.set_title(f"{int(run.at_risk.sum())} of {len(truth)} with {rule.scoring} error below {rule.threshold:g}",
                 fontsize="medium")  # fmt: skip
    ax.legend(frameon=False)
    return without_frame(ax)


def plot_targets(results: Sequence[Rapid], *, ax: Any = None) -> Any:
    """Per target the rate, its null and its ceiling."""
    ordered = sorted(results, key=lambda r: r.rate)
    ax = axes_for(ax, height=1.4 + 0.35 * len(ordered))
    for y, result in enumerate(ordered):
        means = {name: float(np.mean([a[name] for a in result.attacks])) for name in ("null_mean", "ceiling")}
        ax.plot([means["null_mean"], result.rate], [y, y], color="#DDDDDD", linewidth=2, zorder=1)
        for value, shade, marker, label in (
            (means["null_mean"], _NULL, "|", "null"), (means["ceiling"], _CEILING, "o", "ceiling"),
            (result.rate, _COLOURS[0], "D", "rate"),
        ):  # fmt: skip
            ax.scatter([value], [y], color=shade, marker=marker, zorder=3, label=label if y == 0 else None)
    ax.set_yticks(range(len(ordered)), [as_written(r.target) for r in ordered])
    ax.set_xlim(0, 1)
    ax.set_xlabel("share of records at risk")
    ax.set_title(f"inference from {as_written(', '.join(ordered[0].keys))}", fontsize="medium")
    ax.legend(frameon=False, loc="lower right")
    return without_frame(ax)


def plot_cross_validation(cv: RapidCV, *, ax: Any = None) -> Any:
    """Per fold the rate of persons left out, joined to that of persons used."""
    ax = axes_for(ax, height=3.0)
    for y, (out, inside) in enumerate(zip(cv.held_out, cv.in_sample, strict=True)):
        ax.plot([out, inside], [y, y], color="#DDDDDD", linewidth=2, zorder=1)
        ax.scatter([out], [y], color=_COLOURS[1], zorder=3, label="held out" if y == 0 else None)
        ax.scatter([inside], [y], color=_COLOURS[0], marker="D", zorder=3, label="in sample" if y == 0 else None)
    ax.axvspan(*cv.interval, color=_COLOURS[1], alpha=0.1, linewidth=0)
    ax.set_yticks(range(len(cv.held_out)), [f"fold {i + 1}" for i in range(len(cv.held_out))])
    ax.set_xlabel("share of records at risk")
    ax.set_title(as_written(f"{cv.target} from {', '.join(cv.keys)}"), fontsize="medium")
    ax.legend(frameon=False)
    return without_frame(ax)
