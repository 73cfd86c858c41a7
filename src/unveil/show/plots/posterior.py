"""Drawings of the posterior. Each function draws one result on matplotlib axes and returns them."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil._posterior.advice import Advice
from unveil._posterior.result import PosteriorRisk
from unveil._posterior.summary import gain_edges
from unveil.checks import check_choice
from unveil.errors import CallError
from unveil.show.plots.axes import BLUE, GREEN, OTHER, VERMILION, axes_for, finished, in_percent

_COLOURS = {"fixed": BLUE, "exact": VERMILION, "simulated": GREEN}
MOST_DOTS = 20_000


def plot(risk: PosteriorRisk, kind: str, *, ax: Any = None) -> Any:
    """Posterior against prior per record, or a histogram of the gain."""
    check_choice("kind", kind, tuple(_VIEWS))
    return _VIEWS[kind](risk, axes_for(ax))


def _records(risk: PosteriorRisk, ax: Any) -> Any:
    """Posterior of the truth per record, sorted, with its prior; a line per structure of the first release."""
    for name in risk.structures:
        found = risk.posteriors(0, name)  # type: ignore[arg-type]
        order = np.argsort(-found.posterior, kind="stable")
        x = 100 * (np.arange(order.size) + 0.5) / order.size
        ax.plot(x, found.posterior[order], color=_COLOURS[name], label=f"posterior, {name}", drawstyle="steps-mid")
        if name == risk.structures[-1]:
            step = max(1, order.size // MOST_DOTS)
            ax.scatter(x[::step], found.prior[order][::step], s=2, color=OTHER, label="prior", zorder=1)
    ax.set_ylim(-0.02, 1.02)
    in_percent(ax.yaxis)
    across = "percent of records, the most exposed first"
    return finished(ax, across, "probability of the true value", _title(risk), legend={})


def _gain(risk: PosteriorRisk, ax: Any) -> Any:
    """Histogram of the gain in bits, by structure of the first release."""
    gains = {name: risk.posteriors(0, name).gain_bits for name in risk.structures}  # type: ignore[arg-type]
    edges = gain_edges(np.concatenate(list(gains.values())), bins=40)
    for name, gain in gains.items():
        ax.hist(
            gain[np.isfinite(gain)], bins=edges, histtype="step", color=_COLOURS[name], linewidth=1.5, label=name,
            weights=np.full(int(np.isfinite(gain).sum()), 100 / max(gain.size, 1)),
        )  # fmt: skip
    ax.axvline(0, color=OTHER, linewidth=0.8)
    across = "gain: log2(posterior / prior) of the true value, in bits"
    return finished(ax, across, "percent of records", _title(risk), legend={})


def _title(risk: PosteriorRisk) -> str:
    return f"{', '.join(risk.target)} ({risk.labels[0]})"


_VIEWS = {"records": _records, "gain": _gain}


def plot_advice(advice: Advice, setting: str, *, ax: Any = None) -> Any:
    """Mean posterior of the truth against one setting, by structure."""
    tried = sorted({row.setting for row in advice.rows})
    if setting not in tried:
        raise CallError(f"{setting!r} was not tried; there is {', '.join(tried)}")
    ax = axes_for(ax)
    rows = [row for row in advice.rows if row.setting == setting]
    places = np.arange(len(rows))
    for name in rows[0].mean_posterior:
        ax.plot(places, [row.mean_posterior[name] for row in rows], color=_COLOURS[name], marker="o", label=name)
    ax.axhline(rows[0].mean_prior, color=OTHER, linewidth=0.8, label="prior")
    ax.set_xticks(places, [row.value for row in rows])
    ax.set_ylim(0, 1.02)
    in_percent(ax.yaxis)
    across = {"m": "number of releases"}.get(setting, setting)
    return finished(ax, across, "mean probability of the true value", legend={})
